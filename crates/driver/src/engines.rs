//! The engines for interpreted systems, the choice among them, and their options.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use masque_cluster::{Cluster, Workers};
use masque_explicit::Explicit;
use masque_model::{Property, System};
use masque_symbolic::Symbolic;
use masque_verdict::{Budget, Early, Encoded, Engine, Show, Stop, Unsupported};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::decide::{CheckSetup, Mode};
use crate::portfolio::Portfolio;

pub use masque_symbolic::{Order, Parallel, Reorder, SplitStrategy};

/// Names of the engines that work in one process.
pub(crate) const NAMES: [&str; 2] = [EXPLICIT, SYMBOLIC];

/// Name of the engine that stores every state.
pub(crate) const EXPLICIT: &str = "explicit";

/// Name of the engine that works on decision diagrams.
pub(crate) const SYMBOLIC: &str = "symbolic";

/// Name of the distributed engine, which is used only if the user names it.
pub(crate) const CLUSTER: &str = "cluster";

/// An engine that may run on a helper thread.
pub type AnyEngine = Arc<dyn Engine + Send>;

/// The engines that work in one process, with default options.
pub fn engines() -> Vec<AnyEngine> {
    EngineOptions::default().engines()
}

/// Which engine decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The explicit and the symbolic engine in turns, until one of them has explored the whole system.
    /// Properties with uniform strategies go to the explicit engine unless there are too many states.
    #[default]
    Auto,
    /// The engine with this name.
    Named(&'static str),
    /// All engines side by side, each in its own process; the first complete result is used.
    Race,
}

impl EngineChoice {
    /// The names of all choices, as `--engine` accepts them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once("auto").chain(NAMES).chain([CLUSTER, "race"])
    }

    /// The choice with this name.
    pub fn from_name(name: &str) -> Option<EngineChoice> {
        match name {
            "auto" => Some(EngineChoice::Auto),
            "race" => Some(EngineChoice::Race),
            CLUSTER => Some(EngineChoice::Named(CLUSTER)),
            _ => NAMES.into_iter().find(|n| *n == name).map(EngineChoice::Named),
        }
    }

    /// The name used by `--engine` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            EngineChoice::Auto => "auto",
            EngineChoice::Named(name) => name,
            EngineChoice::Race => "race",
        }
    }
}

impl Serialize for EngineChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for EngineChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EngineChoice, D::Error> {
        let name = String::deserialize(deserializer)?;
        EngineChoice::from_name(&name).ok_or_else(|| D::Error::custom(format!("there is no engine `{name}`")))
    }
}

/// Which engine decides, and how. The options change time and memory, but not the report, except for
/// `evidence`, `extents` and `quick`, which say what the report contains.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EngineOptions {
    /// Which engine decides.
    pub choice: EngineChoice,
    /// Variable order of the symbolic engine.
    pub order: Order,
    /// Whether the symbolic engine may change that order during the check.
    pub reorder: Reorder,
    /// How the symbolic engine splits the initial states among workers, if it does; there is one worker per
    /// thread.
    pub parallel: Option<Parallel>,
    /// Number of threads; one per processor if there is none.
    pub jobs: Option<NonZeroUsize>,
    /// Whether every engine decides the properties it supports, and all results are compared.
    pub cross_check: bool,
    /// Which verdicts get evidence.
    pub evidence: Show,
    /// Whether to count the states in which the properties and their subformulas are true. Then the results
    /// of engines are not compared.
    pub extents: bool,
    /// Whether only verdicts are wanted: a check ends when they are known, and states are not counted.
    pub quick: bool,
    /// What certificates say about the texts of the model, if certificates are wanted.
    #[serde(skip)]
    pub certify: Option<CertificateHeader>,
    /// The distributed engine, if it is used; by default it has one worker, a thread of this process.
    #[serde(skip)]
    pub cluster: Option<Cluster>,
}

/// What a certificate says about the texts of its model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateHeader {
    /// Digest of the texts.
    pub model: String,
    /// Values of parameters that were given outside the texts: `NAME=VALUE`.
    pub parameters: Vec<String>,
}

impl From<EngineChoice> for EngineOptions {
    fn from(choice: EngineChoice) -> EngineOptions {
        EngineOptions { choice, ..EngineOptions::default() }
    }
}

impl EngineOptions {
    /// The engines with these options; the distributed engine only if it is named.
    pub fn engines(&self) -> Vec<AnyEngine> {
        let evidence = self.evidence;
        let (order, reorder, parallel) = (self.order.clone(), self.reorder, self.parallel.clone());
        let options = Symbolic { order, reorder, evidence, parallel, jobs: 0 };
        let symbolic = SymbolicOnThreads { options, jobs: self.jobs };
        let explicit = Explicit { evidence, jobs: self.jobs };
        let mut engines: Vec<AnyEngine> = vec![Arc::new(explicit), Arc::new(symbolic)];
        if self.choice == EngineChoice::Named(CLUSTER) {
            let mut cluster = self.cluster.clone().unwrap_or(Cluster::new(Workers::Threads(1)));
            cluster.evidence = evidence;
            engines.push(Arc::new(cluster));
        }
        engines
    }

    /// Whether the initial states are split, which only the symbolic engine does.
    fn is_split(&self) -> bool {
        self.parallel.as_ref().is_some_and(|parallel| parallel.strategy != SplitStrategy::Auto)
    }

    /// Why only the symbolic engine is used although the user did not choose one.
    pub(crate) fn reason(&self) -> Option<String> {
        let is_forced = self.choice == EngineChoice::Auto && self.is_split();
        is_forced.then(|| "symbolic: it works in parts".to_string())
    }

    /// The engines to choose from, best first.
    pub(crate) fn candidates(&self) -> Vec<AnyEngine> {
        let mut candidates = self.engines();
        match self.choice {
            EngineChoice::Auto | EngineChoice::Race => candidates.reverse(),
            // The results of the others are compared with those of the named engine.
            EngineChoice::Named(name) if self.cross_check => candidates.sort_by_key(|e| e.name() != name),
            EngineChoice::Named(name) => candidates.retain(|e| e.name() == name),
        }
        candidates
    }

    /// The engines that take turns, if the user did not choose an engine.
    pub(crate) fn portfolio(&self) -> Option<Portfolio> {
        let is_free = self.choice == EngineChoice::Auto && !self.is_split() && !self.cross_check;
        let diagrams = self.engines().into_iter().find(|engine| engine.name() == SYMBOLIC)?;
        is_free.then_some(Portfolio { evidence: self.evidence, jobs: self.jobs, diagrams })
    }

    /// The engines of a check and what they compute.
    pub(crate) fn setup(&self) -> CheckSetup {
        let mode = match self {
            EngineOptions { extents: true, .. } => Mode::Survey,
            EngineOptions { cross_check: true, .. } => Mode::CrossCheck,
            _ => Mode::Plain,
        };
        let (candidates, portfolio) = (self.candidates(), self.portfolio());
        let certify = self.certify.clone();
        CheckSetup { candidates, portfolio, mode, is_quick: self.quick, evidence: self.evidence, certify }
    }
}

/// The symbolic engine with a default number of threads. Asking the operating system for the number of
/// processors takes longer than exploring a tiny model, so this happens only when the engine runs.
struct SymbolicOnThreads {
    options: Symbolic,
    /// Number of threads; one per processor if there is none.
    jobs: Option<NonZeroUsize>,
}

impl Engine for SymbolicOnThreads {
    fn name(&self) -> &'static str {
        self.options.name()
    }

    fn supports(&self, system: &System, property: &Property) -> Result<(), Unsupported> {
        self.options.supports(system, property)
    }

    fn explore<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        let jobs = self.jobs.or(available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let parallel = self.options.parallel.clone().map(|parallel| Parallel { jobs, ..parallel });
        Symbolic { parallel, jobs, ..self.options.clone() }.explore(system, early, budget)
    }
}

/// Returns the index of the first engine that supports a property, or what the last engine lacks if none does.
pub(crate) fn choose(
    candidates: &[AnyEngine],
    system: &System,
    property: &Property,
) -> Result<usize, Option<Unsupported>> {
    let mut lacking = None;
    for (index, engine) in candidates.iter().enumerate() {
        match engine.supports(system, property) {
            Ok(()) => return Ok(index),
            Err(unsupported) => lacking = Some(unsupported),
        }
    }
    Err(lacking)
}
