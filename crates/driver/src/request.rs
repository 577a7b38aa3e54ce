//! Everything a user may ask of a model, in the user's words: what is asked, and how the work is done.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use masque_model::{At, Deadlock, Overflow, Strategies};
use masque_verdict::Show;
use serde::{Deserialize, Serialize};

use crate::cluster::Plan;
use crate::engines::{EngineChoice, Reorder};
use crate::order::OrderChoice;
use crate::parallel::ParallelChoice;

/// What is asked of a model besides its text. The default asks nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Request {
    /// `NAME=VALUE` texts that give parameters of an ISPL file their values.
    pub defines: Vec<String>,
    /// `NAME=VALUE` texts that take the place of options in BDI and LCC files.
    pub options: Vec<String>,
    /// Formulas to decide besides those of the model, in its language.
    pub properties: Vec<String>,
    /// Files of mu-calculus properties, for LCC protocols and transition systems.
    pub property_files: Vec<PathBuf>,
    /// Folders that imports of LCC files are read from, if not from the whole disk.
    pub import_roots: Vec<PathBuf>,
    /// Names or positions of the properties to keep; all if there are none.
    pub only: Vec<String>,
    /// Where properties of an ISPL file must be true, if not where the language says.
    pub at: Option<At>,
    /// What a state without successors means.
    pub deadlock: Option<Deadlock>,
    /// What an assignment outside a variable's range means.
    pub overflow: Option<Overflow>,
    /// Strategies of coalitions that do not name theirs.
    pub strategies: Option<Strategies>,
    /// How the work is done.
    #[serde(skip)]
    pub work: Work,
}

/// How a check is done. It changes time and memory and what is shown, never a verdict.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Which engine decides.
    pub engine: EngineChoice,
    /// The order of variables in the symbolic engine's diagrams.
    pub order: OrderChoice,
    /// Whether the symbolic engine may change that order.
    pub reorder: Reorder,
    /// How the symbolic engine splits the initial states, if it does.
    pub parallel: Option<ParallelChoice>,
    /// Number of threads; one per processor if there is none.
    pub jobs: Option<NonZeroUsize>,
    /// Whether every engine decides what it can, and all answers are compared.
    pub cross_check: bool,
    /// Whether a check ends as soon as all verdicts are known.
    pub quick: bool,
    /// Which verdicts are shown to be right.
    pub evidence: Show,
    /// Whether to count in how many states the properties and their subformulas are true.
    pub extents: bool,
    /// Whether to count all states and transitions of a protocol.
    pub explore: bool,
    /// How the processes of the distributed engine are started, if it is asked for.
    pub cluster: Option<Plan>,
    /// The `masque` executable that races start for each engine; this process's if there is none.
    pub program: Option<PathBuf>,
}

impl Request {
    /// The options given that change the meaning of an ISPL file, by name, as reports show them.
    pub fn meaning(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("at", self.at.map(At::name)),
            ("deadlock", self.deadlock.map(Deadlock::name)),
            ("overflow", self.overflow.map(Overflow::name)),
            ("strategies", self.strategies.map(Strategies::name)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?.to_string()))).collect()
    }
}
