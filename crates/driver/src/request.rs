//! The request of a user, in the user's words: what is asked of a model, and how the work is done.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use masque_model::{At, Deadlock, Overflow, Strategies};
use masque_verdict::Show;
use serde::{Deserialize, Serialize};

use crate::cluster::Plan;
use crate::engines::{EngineChoice, Reorder};
use crate::log_conditions::LogConditions;
use crate::order::OrderChoice;
use crate::parallel::ParallelChoice;

/// Everything that the user gives besides the text of the model. The default is empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Request {
    /// `NAME=VALUE` texts that give parameters of an ISPL file their values.
    pub defines: Vec<String>,
    /// `NAME=VALUE` texts that override options in BDI and LCC files.
    pub options: Vec<String>,
    /// Formulas to decide in addition to those of the model, in its language.
    pub properties: Vec<String>,
    /// Files of properties: in the mu-calculus for LCC protocols and transition systems, otherwise in the language
    /// of the model.
    pub property_files: Vec<PathBuf>,
    /// Folders that imports are read from; the whole disk if there are none.
    pub import_roots: Vec<PathBuf>,
    /// Names, patterns or positions of the properties to decide; all if there are none.
    pub only: Vec<String>,
    /// Names, patterns or positions of properties that are not decided, even if `only` selects them.
    #[serde(default)]
    pub skip: Vec<String>,
    /// Whether the request is for several models, so that a name in `only` or `skip` must exist in one of them
    /// only.
    #[serde(default)]
    pub is_for_several: bool,
    /// States at which properties of an ISPL file must be true; the dialect's default if there is none.
    pub at: Option<At>,
    /// What a state without successors means.
    pub deadlock: Option<Deadlock>,
    /// What an assignment outside a variable's range means.
    pub overflow: Option<Overflow>,
    /// Strategies for coalition operators that do not name theirs.
    pub strategies: Option<Strategies>,
    /// Conditions of an ISPL model that the records of a log refer to.
    #[serde(default)]
    pub log: LogConditions,
    /// How the work is done.
    #[serde(skip)]
    pub work: Work,
}

/// How a check is done. This changes time, memory and what is shown, but never a verdict.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Which engine decides.
    pub engine: EngineChoice,
    /// Variable order of the symbolic engine.
    pub order: OrderChoice,
    /// Whether the symbolic engine may change that order.
    pub reorder: Reorder,
    /// How the symbolic engine splits the initial states, if it does.
    pub parallel: Option<ParallelChoice>,
    /// Number of threads; one per processor if there is none.
    pub jobs: Option<NonZeroUsize>,
    /// Whether every engine decides the properties it supports, and all results are compared.
    pub cross_check: bool,
    /// Whether certificates of the verdicts are wanted.
    pub certify: bool,
    /// Whether a check ends as soon as all verdicts are known.
    pub quick: bool,
    /// Which verdicts get evidence.
    pub evidence: Show,
    /// Whether to count in how many states the properties and their subformulas are true.
    pub extents: bool,
    /// Whether to count all states and transitions of a protocol.
    pub explore: bool,
    /// Whether to find out which worlds of a BDI file are sub-worlds of which.
    pub lists_subworlds: bool,
    /// How the workers of the distributed engine are started, if it is used.
    pub cluster: Option<Plan>,
    /// The `masque` executable that races start for each engine; the executable of this process if there is
    /// none.
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
