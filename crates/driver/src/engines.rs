//! The engines there are, which of them is asked, and how they go about it.

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

use crate::decide::{Asked, Mode};
use crate::portfolio::Portfolio;

pub use masque_symbolic::{Order, Parallel, Reorder, Strategy};

/// The names of the engines of one process.
pub(crate) const NAMES: [&str; 2] = [EXPLICIT, SYMBOLIC];

/// The engine that stores every state.
pub(crate) const EXPLICIT: &str = "explicit";

/// The engine on decision diagrams.
pub(crate) const SYMBOLIC: &str = "symbolic";

/// The distributed engine: it is asked only if it is named.
pub(crate) const CLUSTER: &str = "cluster";

/// An engine that may work on a thread of its own.
pub type AnyEngine = Arc<dyn Engine + Send>;

/// All engines, as they come.
pub fn engines() -> Vec<AnyEngine> {
    EngineOptions::default().engines()
}

/// Which engine decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The engine that stores every state and the one on diagrams in turns, until one of them has seen
    /// everything; but the first for uniform strategies, as long as there are not too many states.
    #[default]
    Auto,
    /// This one only.
    Named(&'static str),
    /// All of them side by side, each in a process of its own; the first complete answer is taken.
    Race,
}

impl EngineChoice {
    /// All choices, by the names that `--engine` takes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once("auto").chain(NAMES).chain([CLUSTER, "race"])
    }

    /// The choice of this name.
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

/// Which engine decides, and how. Whatever stands here changes time and memory, never a report, but
/// for `evidence` and `extents`: these say what is shown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EngineOptions {
    /// Which engine decides.
    pub choice: EngineChoice,
    /// How the symbolic engine orders the variables.
    pub order: Order,
    /// Whether the symbolic engine may change that order on the way.
    pub reorder: Reorder,
    /// Whether the symbolic engine splits the initial states among workers, and how; there are as
    /// many workers as threads that may work at once.
    pub parallel: Option<Parallel>,
    /// How many threads may work at once; if nothing is said, as many as there are processors.
    pub jobs: Option<NonZeroUsize>,
    /// Whether every engine decides what it supports, and all answers are compared.
    pub cross_check: bool,
    /// Which verdicts get evidence.
    pub evidence: Show,
    /// Whether to tell in how many states the properties and their parts are true; then one engine
    /// answers.
    pub extents: bool,
    /// Whether only verdicts are wanted: a check ends when they are known, and states are not counted.
    pub quick: bool,
    /// The workers of the distributed engine, if it is asked; without any, a thread is one.
    #[serde(skip)]
    pub cluster: Option<Cluster>,
}

impl From<EngineChoice> for EngineOptions {
    fn from(choice: EngineChoice) -> EngineOptions {
        EngineOptions { choice, ..EngineOptions::default() }
    }
}

impl EngineOptions {
    /// All engines with these options; the distributed one if it is named.
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

    /// Whether the symbolic engine is asked for in all but name: only it works in parts.
    fn is_split(&self) -> bool {
        self.parallel.as_ref().is_some_and(|parallel| parallel.strategy != Strategy::Auto)
    }

    /// Why only one engine is asked, if the choice was left to us.
    pub(crate) fn reason(&self) -> Option<String> {
        let is_forced = self.choice == EngineChoice::Auto && self.is_split();
        is_forced.then(|| "symbolic: it works in parts".to_string())
    }

    /// The engines to choose from, best first.
    pub(crate) fn candidates(&self) -> Vec<AnyEngine> {
        let mut candidates = self.engines();
        match self.choice {
            EngineChoice::Auto | EngineChoice::Race => candidates.reverse(),
            // The others are there to be compared with.
            EngineChoice::Named(name) if self.cross_check => candidates.sort_by_key(|e| e.name() != name),
            EngineChoice::Named(name) => candidates.retain(|e| e.name() == name),
        }
        candidates
    }

    /// The engines that take turns, if the choice is left to us.
    pub(crate) fn portfolio(&self) -> Option<Portfolio> {
        let is_free = self.choice == EngineChoice::Auto && !self.is_split() && !self.cross_check;
        let diagrams = self.engines().into_iter().find(|engine| engine.name() == SYMBOLIC)?;
        is_free.then_some(Portfolio { evidence: self.evidence, jobs: self.jobs, diagrams })
    }

    /// How a check goes about it.
    pub(crate) fn asked(&self) -> Asked {
        let mode = match self {
            EngineOptions { extents: true, .. } => Mode::Survey,
            EngineOptions { cross_check: true, .. } => Mode::CrossCheck,
            _ => Mode::Plain,
        };
        let (candidates, portfolio) = (self.candidates(), self.portfolio());
        Asked { candidates, portfolio, mode, is_quick: self.quick, evidence: self.evidence }
    }
}

/// The symbolic engine. To ask the system how many processors there are takes longer than to explore
/// a tiny model, so it is asked when this engine is needed.
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

/// The first of the engines that supports a property, by position; what the last one lacks if none
/// does.
pub(crate) fn choose(
    candidates: &[AnyEngine],
    system: &System,
    property: &Property,
) -> Result<usize, Option<Unsupported>> {
    let mut lacking = None;
    for (position, engine) in candidates.iter().enumerate() {
        match engine.supports(system, property) {
            Ok(()) => return Ok(position),
            Err(unsupported) => lacking = Some(unsupported),
        }
    }
    Err(lacking)
}
