//! The command line's grammar, and its help.

mod broker;
mod cluster;
mod explore;

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
    Strategies, Strategy, Work,
};

pub use broker::BrokerArgs;
pub use cluster::{ClusterArgs, WorkerArgs};
pub use explore::{ExportArgs, ExportFormat, SimulateArgs, WhyArgs};

use crate::values::{bytes, duration, jobs, parts, word};

/// A model checker for multi-agent systems.
///
/// Masque reads a model of agents that act and observe, and decides what they know, what must
/// happen, and who behaves correctly. Each property of the model holds, fails, or stays unknown
/// when a limit is hit; what fails comes with a path that shows it.
#[derive(Clone, Debug, Parser)]
#[command(name = "masque", version, max_term_width = 100, subcommand_required = true)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    /// Options of all commands.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  masque check model.ispl              decide every property of a model
  masque check model.ispl -D N=10      the same at another size
  masque check --parse-only *.ispl     only look for mistakes
  masque why model.ispl 2              why does property 2 hold or fail?
  masque simulate model.ispl           walk through it step by step
  masque export model.ispl             draw its states: | dot -Tsvg
  masque bench model.ispl -D N=4,8,16  how cost grows with size
  masque worlds model.bdi              the possible worlds of a BDI file
  masque broker                        a service for programs, by JSON-RPC
  masque fmt model.ispl                put it into the usual layout
  masque explain ispl/deadlock         what does this message mean?

Exit codes: 0 all hold, 1 some fail, 2 bad input, 3 some unknown.";

/// Options of all commands.
#[derive(Clone, Debug, Args)]
#[command(next_display_order = 100)]
pub struct Global {
    /// When to use colours; NO_COLOR is respected.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    pub color: ColorChoice,
    /// Tell verdicts and errors only.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub quiet: bool,
    /// Tell more: every warning, every variable, what a file was taken to be.
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub verbose: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Decide the properties of models.
    ///
    /// Every formula in a file's Formulae section gets a line: its verdict, its name or position,
    /// and the formula as it was read. Then come paths that show what fails, warnings about the
    /// model, and a summary. A file with errors is reported, and the other files are checked.
    Check(CheckArgs),
    /// Tell why properties hold or fail.
    ///
    /// Each property is taken apart: for every formula inside it, in how many states it is true and
    /// at which initial ones. Then comes what shows the verdict, in words and as runs; also for
    /// properties that hold, where a run or a state can show it.
    Why(WhyArgs),
    /// Walk through a model step by step.
    ///
    /// Choose an initial state and joint actions by their numbers, go back, ask whether a formula is
    /// true here and why, and which states an agent cannot tell from this one. Commands come from
    /// the terminal, from standard input or from a script; `help` lists them.
    Simulate(SimulateArgs),
    /// Write the reachable states for other programs.
    ///
    /// As a graph (DOT, Aldebaran, JSON), state by state, as far as `--max-states` admits; or the
    /// whole set as a decision diagram (DDDMP). A graph that is cut says so in itself, where the
    /// format has room for it, and on standard error.
    Export(ExportArgs),
    /// Measure how cost grows with the size of a model.
    ///
    /// Each size is checked in a process of its own, so that its memory is its own and a timeout
    /// ends that row only. The table has the time of each phase, the total, states, nodes, memory,
    /// and growth: the total over that of the row before, and the exponent k for which cost grew
    /// like size^k.
    Bench(BenchArgs),
    /// Show the possible worlds of a BDI file.
    ///
    /// The tree of worlds, each with its states: how many the program makes, how many were removed
    /// and why, how many remain. `--format dot` draws it.
    Worlds(WorldsArgs),
    /// Do a part of a check that is spread over processes.
    ///
    /// `masque check --processes` and `--cluster` start these by themselves; with `--await-workers`
    /// you do, or a job system does. A worker ends when its check does.
    Worker(WorkerArgs),
    /// Serve programs that check while agents interact.
    ///
    /// A program opens a session with a protocol, a team and rules, asks whether properties hold,
    /// tells what has happened and which rules have changed, and asks again. It speaks JSON-RPC 2.0,
    /// a message in a line, or over HTTP. docs/broker.md has the protocol.
    Broker(BrokerArgs),
    /// Put files into the usual layout.
    ///
    /// Models, protocols, rules and properties have one (.ispl, .bdi, .lcc, .pol, .mu). The files are
    /// rewritten in place, each at one stroke. No comment is lost, and the model
    /// stays the same. A file with syntax errors is reported and left alone.
    Fmt(FmtArgs),
    /// Tell what a diagnostic means.
    ///
    /// Every message has a code, as in `error[ispl/unknown-action]`. Its page says what the message
    /// means, shows an example and says what to do.
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
    /// How the work is done, for commands that ask an engine.
    pub fn work(&self) -> Option<&WorkArgs> {
        match self {
            Command::Check(args) => Some(&args.work),
            Command::Why(args) => Some(&args.work),
            Command::Simulate(args) => Some(&args.work),
            Command::Export(args) => Some(&args.work),
            Command::Bench(args) => Some(&args.work),
            Command::Worlds(args) => Some(&args.work),
            Command::Broker(_)
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
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Model files; `-` is standard input. All LCC files (.lcc, .pol, .mu) together are one model,
    /// unless `--each` is given.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only read the model: report mistakes and its size, decide nothing.
    #[arg(long)]
    pub parse_only: bool,

    /// The question.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Check every LCC file that declares a team by itself, with its imports. Files of properties
    /// apply to each of them; other files without a team are left out, and a note names them.
    #[arg(long, help_heading = "The question")]
    pub each: bool,
    /// Count all states and transitions of LCC files, too.
    #[arg(long, help_heading = "The question")]
    pub explore: bool,

    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Let every engine decide what it can, and compare all answers; slow, and never needed unless
    /// you doubt us.
    #[arg(long, help_heading = "Engines and limits")]
    pub cross_check: bool,
    /// Stop when every property is decided. States are not counted then, and deadlocks, overflows
    /// and vacuous properties are not looked for.
    #[arg(long, help_heading = "Engines and limits")]
    pub quick: bool,

    /// Several processes.
    #[command(flatten)]
    pub cluster: Box<ClusterArgs>,

    /// How to write the report.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: Format,
    /// Tell times, memory and the sizes of diagrams, too.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Which verdicts are shown to be right, by runs and states.
    #[arg(long, value_name = "WHICH", value_parser = word(SHOW), default_value = "failed", help_heading = "Output")]
    pub evidence: Show,
    /// How to write that. Text is part of the report, unless --evidence-out is given. The other
    /// formats go to the file of --evidence-out, or else to standard output, and then the report
    /// goes to standard error.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub evidence_format: EvidenceAs,
    /// Write the evidence of all files there, not into the report.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub evidence_out: Option<PathBuf>,
    /// Treat these as errors: exit with 2 if there are any.
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub deny: Option<Deny>,
}

/// What is asked of a model, and what it means.
#[derive(Clone, Debug, Args)]
pub struct QuestionArgs {
    /// What the model is.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Decide one more formula, written as in the Formulae section; for a BDI file, in the top world
    /// or as PATH : FORMULA; for LCC files, of the mu-calculus.
    #[arg(long = "property", value_name = "FORMULA", help_heading = "The question")]
    pub properties: Vec<String>,
    /// Where a formula must be true to hold in the model [default: what the language says].
    #[arg(long, value_name = "WHERE", value_parser = word(AT), help_heading = "The question")]
    pub at: Option<At>,
    /// Which strategies `<group>` may use where a formula does not say [default: perfect].
    #[arg(long, value_name = "MODE", value_parser = word(STRATEGIES), help_heading = "The question")]
    pub strategies: Option<Strategies>,
}

/// What a model is, besides its text.
#[derive(Clone, Debug, Args)]
pub struct ModelArgs {
    /// Give a parameter of the model a value.
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", help_heading = "The model")]
    pub defines: Vec<String>,
    /// What a state without successors means [default: finite].
    #[arg(long, value_name = "MODE", value_parser = word(DEADLOCK), help_heading = "The model")]
    pub deadlock: Option<Deadlock>,
    /// What assigning a value outside a variable's range means [default: drop].
    #[arg(long, value_name = "MODE", value_parser = word(OVERFLOW), help_heading = "The model")]
    pub overflow: Option<Overflow>,
    /// Set an option of BDI or LCC files, in place of what the files say.
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "The model")]
    pub options: Vec<String>,
    /// A file of mu-calculus properties of LCC or AUT files, as those that end in .mu.
    #[arg(long = "properties", value_name = "FILE", help_heading = "The model")]
    pub property_files: Vec<PathBuf>,
    /// Read imports of LCC files only below this folder; used by `masque broker`.
    #[arg(long = "import-root", value_name = "DIR", hide = true)]
    pub import_roots: Vec<PathBuf>,
}

/// How the work is done: options that change time and memory, never a verdict.
#[derive(Clone, Debug, Args)]
pub struct WorkArgs {
    /// Which engine decides; it changes time and memory, never a verdict. With `race`, for `check`,
    /// all decide side by side in processes of their own, and the first answer is taken.
    #[arg(long, value_name = "NAME", value_parser = engine(), default_value = "auto", help_heading = "Engines and limits")]
    pub engine: EngineChoice,
    /// The order of variables in the symbolic engine's diagrams: auto, declared, or a file with one
    /// `Agent.variable` in a line.
    #[arg(long, value_name = "ORDER", value_parser = order, default_value = "auto", help_heading = "Engines and limits")]
    pub order: OrderChoice,
    /// Whether the symbolic engine may change that order when diagrams grow.
    #[arg(long, value_name = "WHEN", value_parser = word(REORDER), default_value = "auto", help_heading = "Engines and limits")]
    pub reorder: Reorder,
    /// How many threads may work at once, where there is work for several [default: as many as
    /// there are processors].
    #[arg(long, value_name = "NUMBER", value_parser = jobs, help_heading = "Engines and limits")]
    pub jobs: Option<NonZeroUsize>,
    /// Split the initial states into parts that workers explore and check, in the symbolic engine;
    /// --jobs says how many workers.
    #[arg(long, value_name = "STRATEGY", value_parser = word(PARALLEL), help_heading = "Engines and limits")]
    pub parallel: Option<Strategy>,
    /// How many parts there are to be [default: one for each worker, or four where workers take them
    /// as they come].
    #[arg(long, value_name = "NUMBER", value_parser = parts, requires = "parallel", help_heading = "Engines and limits")]
    pub parts: Option<NonZeroUsize>,
    /// Split by the values of these variables, `Agent.variable`.
    #[arg(long, value_name = "NAME,..", requires = "parallel", help_heading = "Engines and limits")]
    pub split: Vec<String>,
    /// Let the workers share one store of diagrams.
    #[arg(long, requires = "parallel", help_heading = "Engines and limits")]
    pub shared: bool,
    /// Stop after this time for each file and print what is decided: 500ms, 1s, 2m. Once the states are
    /// explored, the properties of a file share the time that is left equally.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Engines and limits")]
    pub timeout: Option<Duration>,
    /// Stop when the engine's data take this much memory: 100M, 2G. Each property may use all of it.
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
  masque check *.ispl --format json > report.json
  masque check huge.ispl --quick
  masque check big.ispl --processes 3
  masque check big.ispl --cluster hosts.txt --checkpoint /scratch/big
  masque check dc.ispl --evidence all --evidence-format html --evidence-out dc.html
  masque check travel.lcc team.lcc --evidence-format html --evidence-out charts.html

Exit codes, the gravest of all files:
  2  a file cannot be read or has errors
  1  some property fails
  3  some property is unknown: a limit was hit, or no engine decides it
  0  all properties hold";

impl CheckArgs {
    /// What is asked of each run. `plan` says how processes of the distributed engine are started.
    pub fn request(&self, plan: Option<Plan>) -> Request {
        let request = self.question.request(&self.work);
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
    /// What is asked of each run.
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
    /// What is asked of a model where no formula is.
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
    /// How the engines are to work.
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

    /// The word for the strategy of `--parallel`, if there is one.
    pub(crate) fn parallel_word(&self) -> Option<&'static str> {
        let strategy = self.parallel?;
        PARALLEL.iter().find(|(_, value, _)| *value == strategy).map(|(word, ..)| *word)
    }

    /// What work that began at an instant may use.
    pub fn limits(&self, start: Instant, interrupt: &Arc<AtomicBool>) -> Limits {
        Limits {
            deadline: self.timeout.and_then(|timeout| start.checked_add(timeout)),
            memory: self.memory,
            interrupt: Arc::clone(interrupt),
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
    /// Set an option of the file, in place of what it says.
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "The question")]
    pub options: Vec<String>,
    /// Limits.
    #[command(flatten)]
    pub work: WorkArgs,
    /// How to write it.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: WorldsFormat,
}

/// How to write the tree of worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorldsFormat {
    /// For people.
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

/// Arguments of `bench`.
#[derive(Clone, Debug, Args)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArgs {
    /// Model files, a row each.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Give a parameter a value, or one parameter several: a row for each.
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE,..")]
    pub defines: Vec<String>,
    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,
    /// How to write the table.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: Format,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  masque bench dc.ispl -D N=10,20,40
  masque bench dc.ispl -D N=10,20,40 --engine explicit --timeout 10s
  masque bench dc10.ispl dc20.ispl --format json

Exit codes: 0 every row came to its end, whatever the verdicts; 2 bad input; 3 some row hit a limit.";

type Words<T> = &'static [(&'static str, T, &'static str)];

const AT: Words<At> = &[
    ("initial", At::Initial, "At all initial states"),
    ("reachable", At::Reachable, "At all reachable states"),
];
const DEADLOCK: Words<Deadlock> = &[
    ("finite", Deadlock::Finite, "The path ends there, and a warning says so"),
    ("stutter", Deadlock::Stutter, "The state gets a step to itself"),
    ("error", Deadlock::Error, "The model is wrong: exit with 2 and a path"),
];
const OVERFLOW: Words<Overflow> = &[
    ("drop", Overflow::Drop, "The choice is removed, and a warning says so"),
    ("error", Overflow::Error, "The model is wrong: exit with 2 and a path"),
];
const STRATEGIES: Words<Strategies> = &[
    ("perfect", Strategies::Perfect, "Agents see the whole state"),
    (
        "uniform",
        Strategies::Uniform,
        "Agents act on what they see, and each member must be sure that it works",
    ),
    ("uniform-joint", Strategies::UniformJoint, "Agents act on what they see, and together know it works"),
    ("uniform-objective", Strategies::UniformObjective, "Agents act on what they see, and it works"),
];

const REORDER: Words<Reorder> =
    &[("never", Reorder::Never, "The order stays"), ("auto", Reorder::Auto, "If diagrams grow too fast")];

const PARALLEL: Words<Strategy> = &[
    ("simple", Strategy::Simple, "Each worker explores and checks one part"),
    ("merge", Strategy::Merge, "Workers explore part after part, and check theirs as one"),
    ("full", Strategy::Full, "Workers explore part after part, and check each by itself"),
    ("semi", Strategy::Semi, "Each worker explores one part, and one checks everything"),
    ("auto", Strategy::Auto, "Like merge where measured sizes say that it pays, else nothing is split"),
];

const SHOW: Words<Show> = &[
    ("all", Show::All, "Those that fail, and those that hold where one run or state shows it"),
    ("failed", Show::Failed, "Those that fail"),
    ("none", Show::None, "None"),
];

fn order(text: &str) -> Result<OrderChoice, std::convert::Infallible> {
    Ok(text.into())
}

fn engine() -> impl TypedValueParser<Value = EngineChoice> {
    PossibleValuesParser::new(EngineChoice::names())
        .map(|name| EngineChoice::from_name(&name).unwrap_or_default())
}

/// How to write the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object; see `masque schema`.
    Json,
}

/// How to write evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvidenceAs {
    /// For people; long runs are abridged.
    Text,
    /// The report of `--format json`, which has everything.
    Json,
    /// A graph for Graphviz.
    Dot,
    /// One page with drawings, for a browser.
    Html,
}

/// What to treat as an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// All warnings.
    Warnings,
}

/// Arguments of `fmt`.
#[derive(Clone, Debug, Args)]
#[command(after_help = FMT_EXAMPLES)]
pub struct FmtArgs {
    /// Files; `-` reads standard input and writes standard output.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing: print the names of files that would change, and exit with 1 if there are any.
    #[arg(long)]
    pub check: bool,
}

const FMT_EXAMPLES: &str = "\
Examples:
  masque fmt model.ispl
  masque fmt --check models/*.ispl     for a commit hook
  masque fmt travel.lcc travel.mu      languages are told apart by the names of files
  masque fmt - < model.ispl            for an editor";

/// Arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct ExplainArgs {
    /// The code; without one, all codes are listed.
    pub code: Option<String>,
}

/// Arguments of `schema`.
#[derive(Clone, Debug, Args)]
pub struct SchemaArgs {
    /// The command whose output it describes.
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
    /// The shell.
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
    /// The command whose page to print; without one, the page of masque itself.
    pub command: Option<String>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  masque man | man -l -
  masque man check > masque-check.1";
