//! What checking a file finds: worlds with their sizes, and a verdict for each property.

use masque_model::Count;
use masque_text::Span;
use masque_verdict::{Stop, Verdict};

use crate::explanation::{Explanation, Removal};
use crate::model::{Edge, VarId};
use crate::plan::WorldId;

/// What became of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It has states.
    Ok,
    /// No initial state was left.
    NoInitialState,
    /// With `totality = strict`: some state has no successor.
    NotTotal,
}

impl Status {
    /// The words used in reports.
    pub fn text(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::NoInitialState => "removed (no initial state)",
            Status::NotTotal => "removed (not total)",
        }
    }
}

/// A world after synthesis, with exact numbers of states: `built = bad + dead + unreachable + kept`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldResult {
    /// Whether it was removed.
    pub status: Status,
    /// States reached by the program.
    pub built: Count,
    /// States that Condition 2 (or consistency) removes.
    pub bad: Count,
    /// Other states without a future.
    pub dead: Count,
    /// States that can no longer be reached.
    pub unreachable: Count,
    /// States that remain.
    pub kept: Count,
    /// Initial states that remain.
    pub initial: Count,
    /// Whether some initial state was removed.
    pub lost_initial: bool,
    /// Edges on which some states have nothing accessible, and how many.
    pub inconsistent: Vec<(Edge, Count)>,
    /// Whether explicit attitudes are labels only, as nesting ends here.
    pub is_opaque: bool,
    /// Whether no initial state starts a fair path.
    pub is_unfair: bool,
    /// Why states are bad; [`run()`](crate::run()) fills it in.
    pub removed: Vec<Removal>,
}

/// The answer to a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyResult {
    /// The verdict.
    pub verdict: Verdict,
    /// In how many of the world's states it is true, and how many there are; `None` if it was not decided.
    pub satisfied: Option<(Count, Count)>,
    /// Whether an implication holds because its antecedent is never true where it is asked.
    pub is_vacuous: bool,
    /// Why it fails; [`run()`](crate::run()) fills it in.
    pub evidence: Option<Explanation>,
    /// Why an explanation is withheld: it does not replay. That is a bug of ours.
    pub withheld: Option<String>,
}

impl PropertyResult {
    /// A property that was not decided.
    pub fn undecided(verdict: Verdict) -> Self {
        PropertyResult { verdict, satisfied: None, is_vacuous: false, evidence: None, withheld: None }
    }
}

/// Why no worlds could be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A limit.
    Stop(Stop),
    /// A reachable assignment leaves the range of its variable.
    OutOfRange {
        /// In which world.
        world: WorldId,
        /// Which variable.
        var: VarId,
        /// The assignment.
        span: Span,
    },
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        Failure::Stop(stop)
    }
}
