//! The grammar of the command line, and its help texts.

mod bench;
mod broker;
mod cluster;
mod explore;
mod formats;
mod new;
mod replay;
mod select;
mod test;
mod view;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use masque_driver::cluster::Plan;
use masque_driver::{
    At, Deadlock, EngineChoice, Limits, OrderChoice, Overflow, ParallelChoice, Reorder, Request, Show,
    SplitStrategy, Strategies, Work,
};

pub use bench::{BenchArgs, BenchFormat};
pub use broker::{BrokerArgs, LogFormat};
pub(crate) use cluster::MAX_WORKERS;
pub use cluster::{ClusterArgs, WorkerArgs};
pub use explore::{ExportArgs, ExportFormat, SimulateArgs, WhyArgs};
pub use formats::CheckFormat;
pub use new::NewArgs;
pub use replay::ReplayArgs;
pub use select::SelectArgs;
pub use test::TestArgs;
pub use view::{ViewArgs, ViewAs};
pub use watch::WatchArgs;

use crate::values::{bytes, duration, jobs, parts, word};

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
  masque simulate model.ispl           walk through a model step by step
  masque export model.ispl             write the state graph: | dot -Tsvg
  masque replay model.ispl trace.json  confirm a trace on a model
  masque bench model.ispl -D N=4,8,16  measure how cost grows with size
  masque worlds model.bdi              show the possible worlds of a BDI file
  masque broker                        serve programs by JSON-RPC
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

impl Command {
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
            Command::Why(args) => Some(&args.work),
            Command::Simulate(args) => Some(&args.work),
            Command::Export(args) => Some(&args.work),
            Command::Replay(args) => Some(&args.work),
            Command::Bench(args) => Some(&args.work),
            Command::Worlds(args) => Some(&args.work),
            Command::Broker(_)
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

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CHECK_EXAMPLES, override_usage = "masque check [OPTIONS] <FILE>...")]
pub struct CheckArgs {
    /// Model files; `-` is standard input. All LCC files (.lcc, .pol, .mu) together form one model,
    /// unless `--each` is given.
    #[arg(required_unless_present_any = ["only", "skip"], value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only read the model: report errors and its size, but do not decide properties.
    #[arg(long)]
    pub parse_only: bool,
    /// End the process when standard input ends.
    #[arg(long, hide = true)]
    pub end_with_input: bool,
    /// Temporary folder of the service that started this process, to be removed when standard input
    /// ends.
    #[arg(long, hide = true, value_name = "DIR", requires = "end_with_input")]
    pub remove_folder: Option<PathBuf>,

    /// The properties to decide.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Which properties are decided.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Check each LCC file that declares a team separately, with its imports. Property files (.mu)
    /// apply to each of them. Other files without a team are left out, and a note names them.
    #[arg(long, help_heading = "Properties")]
    pub each: bool,
    /// Also count all states and transitions of LCC files.
    #[arg(long, help_heading = "Properties")]
    pub explore: bool,

    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Decide each property with every engine that supports it, and compare the results. This is a
    /// test of Masque itself; it is slow.
    #[arg(long, help_heading = "Engines and limits")]
    pub cross_check: bool,
    /// Stop as soon as every property is decided. States are not counted, and deadlocks, overflows
    /// and vacuous properties are not reported.
    #[arg(long, help_heading = "Engines and limits")]
    pub quick: bool,

    /// Several processes.
    #[command(flatten)]
    pub cluster: Box<ClusterArgs>,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: CheckFormat,
    /// Also report times, memory and sizes of decision diagrams.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Verdicts for which evidence is shown: counterexamples or witnesses.
    #[arg(long, value_name = "WHICH", value_parser = word(SHOW), default_value = "failed", help_heading = "Output")]
    pub evidence: Show,
    /// Format of the evidence. Text is part of the report unless --evidence-out is given. Other
    /// formats are written to the file of --evidence-out; without it, they are written to standard
    /// output, and the report is written to standard error.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub evidence_format: EvidenceAs,
    /// Write the evidence of all files to this file, not into the report.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub evidence_out: Option<PathBuf>,
    /// How evidence is written as text.
    #[command(flatten)]
    pub view: ViewArgs,
    /// Messages to treat as errors: exit with 2 if there are any.
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub deny: Option<Deny>,
}

/// The properties to decide, and their meaning.
#[derive(Clone, Debug, Args)]
pub struct QuestionArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Decide an additional formula. ISPL: as in the Formulae section. BDI: in the top world, or
    /// written as PATH : FORMULA. LCC and AUT: in the mu-calculus.
    #[arg(long = "property", value_name = "FORMULA", help_heading = "Properties")]
    pub properties: Vec<String>,
    /// States at which a formula must be true to hold in the model [default: depends on the dialect
    /// of the file].
    #[arg(long, value_name = "WHERE", value_parser = word(AT), help_heading = "Properties")]
    pub at: Option<At>,
    /// Strategies of `<group>` operators that do not name theirs [default: perfect].
    #[arg(long, value_name = "MODE", value_parser = word(STRATEGIES), help_heading = "Properties")]
    pub strategies: Option<Strategies>,
}

/// The model, besides its text.
#[derive(Clone, Debug, Args)]
pub struct ModelArgs {
    /// Set a parameter of the model.
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", help_heading = "Model")]
    pub defines: Vec<String>,
    /// Meaning of a state without successors [default: finite].
    #[arg(long, value_name = "MODE", value_parser = word(DEADLOCK), help_heading = "Model")]
    pub deadlock: Option<Deadlock>,
    /// Meaning of an assignment of a value outside the variable's range [default: drop].
    #[arg(long, value_name = "MODE", value_parser = word(OVERFLOW), help_heading = "Model")]
    pub overflow: Option<Overflow>,
    /// Set an option of BDI or LCC files; this overrides the option in the files.
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "Model")]
    pub options: Vec<String>,
    /// File with further properties, with any extension. ISPL: lines as in the Formulae section. BDI:
    /// `property` and `check` items. LCC and AUT: in the mu-calculus.
    #[arg(long = "properties", value_name = "FILE", help_heading = "Model")]
    pub property_files: Vec<PathBuf>,
    /// Read imports only from below this folder; used by `masque broker`.
    #[arg(long = "import-root", value_name = "DIR", hide = true)]
    pub import_roots: Vec<PathBuf>,
}

/// Options that change time and memory, but never a verdict.
#[derive(Clone, Debug, Args)]
pub struct WorkArgs {
    /// Engine for ISPL files. It changes time and memory, never a verdict. `race`, for `check` only,
    /// runs the engines in parallel, each in its own process, and uses the first complete result.
    #[arg(long, value_name = "NAME", value_parser = engine(), default_value = "auto", help_heading = "Engines and limits")]
    pub engine: EngineChoice,
    /// Variable order of the symbolic engine: auto, declared, or a file with one `Agent.variable` per
    /// line.
    #[arg(long, value_name = "ORDER", value_parser = order, default_value = "auto", help_heading = "Engines and limits")]
    pub order: OrderChoice,
    /// Whether the symbolic engine may change the variable order when decision diagrams grow.
    #[arg(long, value_name = "WHEN", value_parser = word(REORDER), default_value = "auto", help_heading = "Engines and limits")]
    pub reorder: Reorder,
    /// Maximum number of threads [default: the number of processors].
    #[arg(long, value_name = "NUMBER", value_parser = jobs, help_heading = "Engines and limits")]
    pub jobs: Option<NonZeroUsize>,
    /// Let the symbolic engine split the initial states into parts, which workers explore and check
    /// in parallel. --jobs sets the number of workers.
    #[arg(long, value_name = "STRATEGY", value_parser = word(PARALLEL), help_heading = "Engines and limits")]
    pub parallel: Option<SplitStrategy>,
    /// Number of parts [default: one per worker for simple and semi, otherwise four per worker].
    #[arg(long, value_name = "NUMBER", value_parser = parts, requires = "parallel", help_heading = "Engines and limits")]
    pub parts: Option<NonZeroUsize>,
    /// Split by the values of these variables, each given as `Agent.variable`.
    #[arg(long, value_name = "NAME,..", requires = "parallel", help_heading = "Engines and limits")]
    pub split: Vec<String>,
    /// Let the workers share one store of decision diagrams.
    #[arg(long, requires = "parallel", help_heading = "Engines and limits")]
    pub shared: bool,
    /// Time limit per file, such as 500ms, 1s or 2m. Properties that are not decided by then are
    /// unknown. After the exploration, the remaining time is divided equally among the properties.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Engines and limits")]
    pub timeout: Option<Duration>,
    /// Memory limit for the data of the engine, with a unit, such as 100M or 2G. Each property may use
    /// all of it.
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Engines and limits")]
    pub memory: Option<u64>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  masque check dc.ispl
  masque check dc.ispl -D N=10 --timeout 1m
  masque check protocol.lcc team.lcc rules.pol --properties travel.mu
  masque check --each *.lcc
  masque check dc.ispl --property 'AG(odd -> GK({Crypt1, Crypt2}, odd))'
  masque check dc.ispl --only anonymous 'safe*' --skip safe_for_now
  masque check *.ispl --format json > report.json
  masque check *.ispl --format sarif > masque.sarif
  masque check huge.ispl --quick
  masque check big.ispl --processes 3
  masque check big.ispl --cluster hosts.txt --checkpoint /scratch/big
  masque check dc.ispl --full --view table
  masque check dc.ispl --evidence all --evidence-format html --evidence-out dc.html
  masque check travel.lcc team.lcc --evidence-format html --evidence-out charts.html

Exit codes, the most severe of all files:
  2  a file cannot be read or has errors
  1  some property fails
  3  some property is unknown: a limit was hit, or no engine decides it
  0  all properties hold";

impl CheckArgs {
    /// The request for each run. `plan` says how workers of the distributed engine are started.
    pub fn request(&self, plan: Option<Plan>) -> Request {
        let request = self.select.select(self.question.request(&self.work));
        let engine = if plan.is_some() { EngineChoice::Named("cluster") } else { request.work.engine };
        let work = Work {
            engine,
            cross_check: self.cross_check,
            quick: self.quick,
            evidence: self.evidence,
            explore: self.explore,
            cluster: plan,
            ..request.work
        };
        Request { work, ..request }
    }
}

impl QuestionArgs {
    /// The request for each run.
    pub fn request(&self, work: &WorkArgs) -> Request {
        Request {
            properties: self.properties.clone(),
            at: self.at,
            strategies: self.strategies,
            ..self.model.request(work)
        }
    }
}

impl ModelArgs {
    /// The request for a command without formulas.
    pub fn request(&self, work: &WorkArgs) -> Request {
        Request {
            defines: self.defines.clone(),
            deadlock: self.deadlock,
            overflow: self.overflow,
            options: self.options.clone(),
            property_files: self.property_files.clone(),
            import_roots: self.import_roots.clone(),
            work: work.work(),
            ..Request::default()
        }
    }
}

impl WorkArgs {
    /// The options of the engines.
    pub fn work(&self) -> Work {
        Work {
            engine: self.engine,
            order: self.order.clone(),
            reorder: self.reorder,
            parallel: self.parallel_choice(),
            jobs: self.jobs,
            ..Work::default()
        }
    }

    fn parallel_choice(&self) -> Option<ParallelChoice> {
        Some(ParallelChoice {
            strategy: self.parallel?,
            parts: self.parts.map(NonZeroUsize::get),
            split: self.split.clone(),
            shared: self.shared,
        })
    }

    /// The value of `--parallel` as a word, if it is given.
    pub(crate) fn parallel_word(&self) -> Option<&'static str> {
        let strategy = self.parallel?;
        PARALLEL.iter().find(|(_, value, _)| *value == strategy).map(|(word, ..)| *word)
    }

    /// The limits of work that began at `start`.
    pub fn limits(&self, start: Instant, interrupt: &Arc<AtomicBool>) -> Limits {
        Limits {
            deadline: self.timeout.and_then(|timeout| start.checked_add(timeout)),
            memory: self.memory,
            interrupt: Arc::clone(interrupt),
            ..Limits::default()
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

type Words<T> = &'static [(&'static str, T, &'static str)];

const AT: Words<At> = &[
    ("initial", At::Initial, "At all initial states"),
    ("reachable", At::Reachable, "At all reachable states"),
];
const DEADLOCK: Words<Deadlock> = &[
    ("finite", Deadlock::Finite, "Paths end there, with a warning"),
    ("stutter", Deadlock::Stutter, "The state gets a step to itself"),
    ("error", Deadlock::Error, "An error of the model, with a path to the state and exit code 2"),
];
const OVERFLOW: Words<Overflow> = &[
    ("drop", Overflow::Drop, "The step is removed, with a warning"),
    ("error", Overflow::Error, "An error of the model, with a path to the step and exit code 2"),
];
const STRATEGIES: Words<Strategies> = &[
    ("perfect", Strategies::Perfect, "Agents see the whole state"),
    (
        "uniform",
        Strategies::Uniform,
        "Agents act on what they see, and each member knows that the strategy succeeds",
    ),
    (
        "uniform-joint",
        Strategies::UniformJoint,
        "Agents act on what they see, and the group together knows that the strategy succeeds",
    ),
    (
        "uniform-objective",
        Strategies::UniformObjective,
        "Agents act on what they see, and the strategy succeeds",
    ),
];

const REORDER: Words<Reorder> =
    &[("never", Reorder::Never, "Keep the order"), ("auto", Reorder::Auto, "If diagrams grow too fast")];

const PARALLEL: Words<SplitStrategy> = &[
    ("simple", SplitStrategy::Simple, "Each worker explores and checks one part"),
    ("merge", SplitStrategy::Merge, "Each worker explores several parts and checks them together"),
    ("full", SplitStrategy::Full, "Each worker explores several parts and checks each separately"),
    ("semi", SplitStrategy::Semi, "Each worker explores one part, and one worker checks everything"),
    ("auto", SplitStrategy::Auto, "Like merge if the measured sizes promise a gain, otherwise do not split"),
];

const SHOW: Words<Show> = &[
    ("all", Show::All, "Counterexamples, and witnesses of properties that hold if a path or state shows it"),
    ("failed", Show::Failed, "Counterexamples of properties that fail"),
    ("none", Show::None, "None"),
];

fn order(text: &str) -> Result<OrderChoice, std::convert::Infallible> {
    Ok(text.into())
}

fn engine() -> impl TypedValueParser<Value = EngineChoice> {
    PossibleValuesParser::new(EngineChoice::names())
        .map(|name| EngineChoice::from_name(&name).unwrap_or_default())
}

/// Formats of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Text,
    /// One JSON object; see `masque schema`.
    Json,
}

/// Formats of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvidenceAs {
    /// For reading; long paths are abridged.
    Text,
    /// The report of `--format json`, with the complete evidence.
    Json,
    /// A graph for Graphviz.
    Dot,
    /// A page with drawings, for a browser.
    Html,
    /// Runs in the Informal Trace Format of Apalache and Quint, one per file.
    Itf,
    /// Runs as Mermaid diagrams, one per file.
    Mermaid,
    /// Runs as a table: states by variables.
    Csv,
}

/// Messages to treat as errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// All warnings.
    Warnings,
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
