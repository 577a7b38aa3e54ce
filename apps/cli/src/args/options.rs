//! Options that several commands have: the question, the model, engines and limits.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use masque_driver::{
    At, Deadlock, EngineChoice, Limits, OrderChoice, Overflow, ParallelChoice, Reorder, Request,
    SplitStrategy, Strategies, Work,
};

use crate::values::{bytes, duration, jobs, parts, word};

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
    /// Number of parts [default: one per disjunct, or four per worker].
    #[arg(long, value_name = "NUMBER", value_parser = parts, requires = "parallel", help_heading = "Engines and limits")]
    pub parts: Option<NonZeroUsize>,
    /// Split by variables (`A.x`, `A[*].x`) and formulas, separated by `;`.
    #[arg(long, value_name = "CLASSES", requires = "parallel", help_heading = "Engines and limits")]
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

    /// The limits of work that begins now.
    pub fn limits(&self, interrupt: &Arc<AtomicBool>) -> Limits {
        Limits::new(self.timeout, self.memory, interrupt)
    }
}

/// The words of an option, each with its value and help.
pub(super) type Words<T> = &'static [(&'static str, T, &'static str)];

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

fn order(text: &str) -> Result<OrderChoice, std::convert::Infallible> {
    Ok(text.into())
}

/// The engines by name.
pub(super) fn engine() -> impl TypedValueParser<Value = EngineChoice> {
    PossibleValuesParser::new(EngineChoice::names())
        .map(|name| EngineChoice::from_name(&name).unwrap_or_default())
}
