//! The grammar of the command line, and its help texts.

mod agent;
mod bench;
mod broker;
mod certify;
mod check;
mod cluster;
mod explore;
mod explore_page;
mod formats;
mod import;
mod lsp;
mod mcp;
mod monitor;
mod new;
mod options;
mod replay;
mod select;
mod teams;
mod test;
mod view;
mod watch;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use agent::{AgentArgs, StateArgs, StateFormat};
pub use bench::{BenchArgs, BenchFormat};
pub use broker::{BrokerArgs, LogFormat};
pub use certify::CertifyArgs;
pub use check::{CheckArgs, Deny, EvidenceAs};
pub(crate) use cluster::MAX_WORKERS;
pub use cluster::{ClusterArgs, WorkerArgs};
pub use explore::{ExportArgs, ExportFormat, SimulateArgs, WhyArgs};
pub use explore_page::ExploreArgs;
pub use formats::CheckFormat;
pub use import::{ImportArgs, ImportFrom};
pub use lsp::LspArgs;
pub use mcp::McpArgs;
pub use monitor::{MonitorArgs, OnUnknown};
pub use new::NewArgs;
pub use options::{ModelArgs, QuestionArgs, WorkArgs};
pub use replay::ReplayArgs;
pub use select::SelectArgs;
pub use teams::{TeamsArgs, TeamsFormat};
pub use test::TestArgs;
pub use view::{ViewArgs, ViewAs};
pub use watch::WatchArgs;

/// A model checker for multi-agent systems.
///
/// Masque reads a model of agents that act and observe, and decides properties of it: what agents
/// know, what can or must happen, and what groups can enforce. Each property holds, fails, or is
/// unknown if a limit is hit. A property that fails is explained by a counterexample.
#[derive(Clone, Debug, Parser)]
#[command(name = "masque", version, max_term_width = 100, subcommand_required = true)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    /// Options of all commands.
    #[command(flatten)]
    pub global: Global,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  masque check model.ispl              decide every property of a model
  masque check model.ispl -D N=10      the same with another parameter value
  masque check --parse-only *.ispl     only report errors in files
  masque new lamp                      write a small model to begin with
  masque test models/                  compare models with the expectations in their comments
  masque watch model.ispl              check again whenever the file changes
  masque why model.ispl 2              explain why property 2 holds or fails
  masque explore model.ispl            see and question a model in the browser
  masque simulate model.ispl           walk through a model step by step
  masque import langgraph graph.json   write a protocol from a graph of agents
  masque export model.ispl             write the state graph: | dot -Tsvg
  masque replay model.ispl trace.json  confirm a trace on a model
  masque monitor team.lcc --input log  compare a log of agents at work with a model
  masque certify model.ispl proofs/*   confirm certificates of verdicts
  masque bench model.ispl -D N=4,8,16  measure how cost grows with size
  masque worlds model.bdi              show the possible worlds of a BDI file
  masque teams shop.lcc --role seller=sam.lcc,sue.lcc   find agents that work together
  masque broker                        serve programs by JSON-RPC
  masque mcp                           serve a coding agent
  masque agent --id sue shop.lcc       play one agent of a protocol
  masque fmt model.ispl                format a file
  masque explain ispl/deadlock         explain a diagnostic

Exit codes: 0 all hold, 1 some fail, 2 bad input, 3 some unknown.";

/// Options of all commands.
#[derive(Clone, Debug, Args)]
#[command(next_display_order = 100)]
pub struct Global {
    /// When to use colours. The environment variable NO_COLOR is respected.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    pub color: ColorChoice,
    /// Print only verdicts and errors.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub quiet: bool,
    /// Print more: all warnings, all variables, and the language of each file.
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub verbose: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// If the output is a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Decide the properties of models.
    ///
    /// The report has a line for each property: its verdict, its name or position, and its formula.
    /// Counterexamples of the properties that fail follow, then warnings about the model, and a
    /// summary. If a file has errors, they are reported, and the other files are checked.
    Check(CheckArgs),
    /// Find candidates for the roles of a protocol that work together.
    ///
    /// Each combination of one candidate per role is a team. The report has a line for each team that was
    /// checked, what fails and who is stuck at which rule, and the team that was chosen. A candidate is a
    /// file with its `agent` or `server` statement, facts, choices and rules.
    Teams(TeamsArgs),
    /// Compare the results of models with the expectations in their comments.
    ///
    /// Models say in comments what is expected of them: `expect: holds` beside a property,
    /// `expect states: 160`, `expect error: CODE`. Every model below the paths is checked, and the report
    /// has what differs, with its place, and a summary. Properties without an expectation are not
    /// decided. An LCC file is a model if it has a team and no other file imports it.
    Test(TestArgs),
    /// Write a small model to begin with.
    ///
    /// The model is commented, its properties have expected verdicts, and `masque test` passes.
    New(NewArgs),
    /// Check files again whenever they change.
    ///
    /// The files are checked as by `masque check`, with the same options. When one of them or of their
    /// imports changes, they are checked again, and the report ends with what changed since the last
    /// check: verdicts, new properties, and diagnostics that came or went. An edit during a check stops
    /// it and starts it again. Ctrl-C ends the command.
    Watch(WatchArgs),
    /// Explain why properties hold or fail.
    ///
    /// For each property and each of its subformulas, the report has the number of states in which
    /// it is true, and whether it is true at the initial states. The evidence for the verdict
    /// follows, in words and as paths: counterexamples, and witnesses of properties that hold.
    Why(WhyArgs),
    /// See, step through and question a model in the browser.
    ///
    /// The model is checked, and a page on this machine shows its properties, their evidence, a
    /// simulator and the state graph. The page follows when a file of the model is saved. Only this
    /// machine can open it, and nothing is sent elsewhere. Ctrl-C ends the command.
    Explore(ExploreArgs),
    /// Walk through a model step by step.
    ///
    /// Choose an initial state and steps by their numbers, go back, ask whether a formula is true at
    /// the current state and why, and list the states that an agent cannot distinguish from it.
    /// Commands are read from the terminal, from standard input or from a script; the command `help`
    /// lists them.
    Simulate(SimulateArgs),
    /// Confirm a trace on a model.
    ///
    /// The trace is followed through the model: its first state must be initial, each step must be
    /// possible, and a loop must close. If it leaves the model, the report names the step and what
    /// was possible there. Traces are read from reports of `check --format json` and from files in
    /// the Informal Trace Format (ITF).
    Replay(ReplayArgs),
    /// Compare a log with a model: what is impossible, lost, or still owed?
    ///
    /// The log has one JSON record per line, of agents at work: which messages went where, which tools were
    /// called. Some steps may be invisible. The report has a line for each record that no run of the model
    /// continues with, and for each goal that can no longer be reached, then the obligations that are open at
    /// the end, and a summary. A map says what other records mean; maps for OpenTelemetry, MCP, A2A and the
    /// hooks of coding agents are included.
    Monitor(Box<MonitorArgs>),
    /// Confirm certificates.
    ///
    /// A certificate is a file that `check --certify` has written. It gives sets of states from which a
    /// verdict follows. They are checked on the model by a small program that contains no engine
    /// (docs/certificates.md); `masque-certify` is the same program alone.
    Certify(CertifyArgs),
    /// Write a protocol from a description of agents by another program.
    ///
    /// The result is a skeleton in LCC: a role for each agent, a choice wherever the description leaves
    /// one open, and what was assumed as comments. It is checked like any other protocol. Descriptions
    /// are graphs that the langgraph package exports, and agent cards of the Agent2Agent protocol.
    Import(ImportArgs),
    /// Export the reachable states for other programs.
    ///
    /// The output is a graph of at most `--max-states` states (DOT, Aldebaran or JSON), or a decision
    /// diagram of all reachable states (DDDMP). If a graph is incomplete, a message on standard error
    /// says so, and the graph itself where the format allows it.
    Export(ExportArgs),
    /// Measure how the cost of checking grows with the size of a model.
    ///
    /// Each row of the table is checked in its own process, so that its memory can be measured and a
    /// timeout ends only this row. The columns are the time of each phase, the total time, states,
    /// diagram nodes, memory, and growth: the total time relative to the row with the previous value
    /// of a parameter, and the exponent k for which the time grew like value^k. Only rows that the
    /// same engine decided are compared.
    Bench(BenchArgs),
    /// Show the possible worlds of a BDI file.
    ///
    /// The output is the tree of worlds, with the number of states of each: how many its program
    /// generates, how many were removed and why, and how many remain. `--format dot` draws the tree.
    Worlds(WorldsArgs),
    /// Run a worker of a distributed check.
    ///
    /// `masque check --processes` and `--cluster` start their workers themselves. With
    /// `--await-workers`, you or a job system start them. A worker ends when its check ends.
    Worker(WorkerArgs),
    /// Serve programs that check protocols while agents interact.
    ///
    /// A client opens a session with a protocol, a team and rules, and checks properties. It then
    /// reports what has happened and which rules have changed, and checks again. The service uses
    /// JSON-RPC 2.0, with one message per line of standard input or over HTTP. The protocol is
    /// described in docs/broker.md.
    Broker(BrokerArgs),
    /// Serve an editor: diagnostics, names, completion, formatting and checks.
    ///
    /// The editor starts the server and speaks the Language Server Protocol with it on standard input
    /// and output, for ISPL, BDI and LCC files and for property files.
    Lsp(LspArgs),
    /// Serve coding agents and agent platforms by the Model Context Protocol.
    ///
    /// The client starts the server and speaks the protocol with it on standard input and output. It
    /// offers tools that check, explain, format, simulate and replay models and find teams, the pages
    /// about the languages, and the models of the gallery. docs/mcp.md has set-ups of clients.
    Mcp(McpArgs),
    /// Play one agent of a protocol.
    ///
    /// The agent receives tuples (interaction, message, receiver, role, protocol), one per line of
    /// standard input. It expands its clause, makes the steps that its knowledge and its rules allow,
    /// and writes a tuple for each message that it sends to standard output. Agents in several
    /// processes so play a protocol to its end without a common service. Tuples are described in
    /// docs/lcc.md.
    Agent(AgentArgs),
    /// Write the state of an interaction.
    ///
    /// The output is the first state of a protocol and its team, or the state after some events, as
    /// statements or as the tuple that agents pass on.
    State(StateArgs),
    /// Format files.
    ///
    /// Files in all languages but AUT (.ispl, .bdi, .lcc, .pol, .mu) are rewritten in place, in the
    /// standard layout. Comments and the meaning of the model are kept. A file with syntax errors is
    /// reported and not changed.
    Fmt(FmtArgs),
    /// Explain a diagnostic.
    ///
    /// Every diagnostic has a code, as in `error[ispl/unknown-action]`. The page of a code describes
    /// the diagnostic, with an example and a way to resolve it.
    Explain(ExplainArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print a manual page.
    Man(ManArgs),
    /// Print the JSON schema of `check --format json`, or of another command.
    Schema(SchemaArgs),
    /// One engine of a race, as `check --engine race` starts it.
    #[command(hide = true)]
    Contender,
}

/// Adds the arguments of a command to its grammar.
pub(crate) type AddArguments = fn(clap::Command) -> clap::Command;

impl Command {
    /// The name of a command for users, and the function that adds its arguments; none for any other word.
    pub(crate) fn grammar(name: &str) -> Option<(&'static str, AddArguments)> {
        const COMMANDS: [(&str, AddArguments); 26] = [
            ("check", CheckArgs::augment_args),
            ("teams", TeamsArgs::augment_args),
            ("test", TestArgs::augment_args),
            ("new", NewArgs::augment_args),
            ("watch", WatchArgs::augment_args),
            ("why", WhyArgs::augment_args),
            ("explore", ExploreArgs::augment_args),
            ("simulate", SimulateArgs::augment_args),
            ("replay", ReplayArgs::augment_args),
            ("monitor", MonitorArgs::augment_args),
            ("certify", CertifyArgs::augment_args),
            ("import", ImportArgs::augment_args),
            ("export", ExportArgs::augment_args),
            ("bench", BenchArgs::augment_args),
            ("worlds", WorldsArgs::augment_args),
            ("worker", WorkerArgs::augment_args),
            ("broker", BrokerArgs::augment_args),
            ("lsp", LspArgs::augment_args),
            ("mcp", McpArgs::augment_args),
            ("agent", AgentArgs::augment_args),
            ("state", StateArgs::augment_args),
            ("fmt", FmtArgs::augment_args),
            ("explain", ExplainArgs::augment_args),
            ("completions", CompletionsArgs::augment_args),
            ("man", ManArgs::augment_args),
            ("schema", SchemaArgs::augment_args),
        ];
        COMMANDS.into_iter().find(|(command, _)| *command == name)
    }

    /// The options of evidence as text, if the command has any.
    pub fn view(&self) -> Option<ViewArgs> {
        match self {
            Command::Check(args) => Some(args.view),
            Command::Why(args) => Some(args.view),
            Command::Simulate(args) => Some(args.view),
            _ => None,
        }
    }

    /// The engine options of the command, if it has any.
    pub fn work(&self) -> Option<&WorkArgs> {
        match self {
            Command::Check(args) => Some(&args.work),
            Command::Watch(args) => Some(&args.check.work),
            Command::Explore(args) => Some(&args.check.work),
            Command::Why(args) => Some(&args.work),
            Command::Simulate(args) => Some(&args.work),
            Command::Export(args) => Some(&args.work),
            Command::Replay(args) => Some(&args.work),
            Command::Bench(args) => Some(&args.work),
            Command::Worlds(args) => Some(&args.work),
            Command::Broker(_)
            | Command::Certify(_)
            | Command::Lsp(_)
            | Command::Mcp(_)
            | Command::Import(_)
            | Command::Teams(_)
            | Command::Monitor(_)
            | Command::Agent(_)
            | Command::State(_)
            | Command::Test(_)
            | Command::New(_)
            | Command::Fmt(_)
            | Command::Explain(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Schema(_)
            | Command::Worker(_)
            | Command::Contender => None,
        }
    }
}

/// Arguments of `worlds`.
#[derive(Clone, Debug, Args)]
#[command(after_help = WORLDS_EXAMPLES)]
pub struct WorldsArgs {
    /// A BDI file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Set an option of the file; this overrides the option in the file.
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "Model")]
    pub options: Vec<String>,
    /// Limits.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Format of the output.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: WorldsFormat,
}

/// Formats of the tree of worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorldsFormat {
    /// For reading.
    Text,
    /// One JSON object, as `check` writes it.
    Json,
    /// A drawing for Graphviz.
    Dot,
}

const WORLDS_EXAMPLES: &str = "\
Examples:
  masque worlds news.bdi
  masque worlds news.bdi --option condition2=infer
  masque worlds news.bdi --format dot | dot -Tsvg > worlds.svg";

/// Formats of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Text,
    /// One JSON object; see `masque schema`.
    Json,
}

/// Arguments of `fmt`.
#[derive(Clone, Debug, Args)]
#[command(after_help = FMT_EXAMPLES)]
pub struct FmtArgs {
    /// Files to format; `-` reads standard input and writes standard output.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Do not change files: print the names of those that would change, and exit with 1 if there are
    /// any.
    #[arg(long)]
    pub check: bool,
}

const FMT_EXAMPLES: &str = "\
Examples:
  masque fmt model.ispl
  masque fmt --check models/*.ispl     for a commit hook
  masque fmt travel.lcc travel.mu      the file extension gives the language
  masque fmt - < model.ispl            for an editor";

/// Arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct ExplainArgs {
    /// Code of a diagnostic; without it, all codes are listed.
    pub code: Option<String>,
}

/// Arguments of `schema`.
#[derive(Clone, Debug, Args)]
pub struct SchemaArgs {
    /// Command whose output the schema describes.
    #[arg(default_value = "check")]
    pub command: SchemaOf,
}

/// The commands that write JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// `masque.check/1`
    Check,
    /// `masque.bench/1`
    Bench,
    /// `masque.test/1`
    Test,
    /// `masque.why/1`
    Why,
    /// `masque.teams/1`
    Teams,
    /// `masque.monitor/1`, for each line
    Monitor,
    /// `masque.graph/1`
    Export,
    /// `masque.broker/1`
    Broker,
}

/// Arguments of `completions`.
#[derive(Clone, Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// Shell that the script is for.
    pub shell: clap_complete::Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  masque completions bash > ~/.local/share/bash-completion/completions/masque
  masque completions zsh > ~/.zfunc/_masque
  masque completions fish > ~/.config/fish/completions/masque.fish";

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// Command whose page is printed; without it, the page of masque itself.
    pub command: Option<String>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  masque man | man -l -
  masque man check > masque-check.1";
