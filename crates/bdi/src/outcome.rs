//! Results of a check: the worlds with their sizes, and a verdict for each property.

use masque_model::Count;
use masque_text::Span;
use masque_verdict::{Stop, Verdict};

use crate::explanation::{Explanation, Removal};
use crate::model::{Edge, VarId};
use crate::plan::WorldId;

/// Result of building a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The world has initial states, and every state has a successor.
    Ok,
    /// Synthesis removed all initial states.
    NoInitialState,
    /// With `totality = strict`: some state has no successor.
    NotTotal,
}

impl Status {
    /// Returns the words used in reports.
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
    /// Whether the world was removed, and why.
    pub status: Status,
    /// States that the program reaches.
    pub built: Count,
    /// States that Condition 2 (or consistency) removes.
    pub bad: Count,
    /// Other states that start no infinite path through states that are not bad.
    pub dead: Count,
    /// Other states that are not kept: reachable only through removed states, or in a removed world.
    pub unreachable: Count,
    /// States that remain.
    pub kept: Count,
    /// Initial states that remain.
    pub initial: Count,
    /// Whether some initial state was removed.
    pub lost_initial: bool,
    /// Edges on which no state is accessible from some kept states, with the number of these states.
    pub inconsistent: Vec<(Edge, Count)>,
    /// Whether explicit attitudes are labels only, because the nesting bound is reached in this world.
    pub is_opaque: bool,
    /// Whether no initial state starts a fair path.
    pub is_unfair: bool,
    /// Reasons why states are bad; [`run()`](crate::run()) fills them in.
    pub removed: Vec<Removal>,
    /// Other worlds that this world is a sub-world of; `None` if they were not asked for or could not be found within the
    /// limits.
    pub subworld_of: Option<Vec<WorldId>>,
}

/// Result of deciding a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyResult {
    /// The verdict.
    pub verdict: Verdict,
    /// Number of states of the world in which the property is true, and number of all its states; `None` if
    /// the property was not decided.
    pub satisfied: Option<(Count, Count)>,
    /// Whether the property is an implication that holds because its antecedent is never true.
    pub is_vacuous: bool,
    /// Explanation of a failure; [`run()`](crate::run()) fills it in.
    pub evidence: Option<Explanation>,
    /// Reason why the explanation is withheld: it does not replay. That is a bug in Masque.
    pub withheld: Option<String>,
}

impl PropertyResult {
    /// Returns a result with a verdict and nothing else.
    pub fn undecided(verdict: Verdict) -> Self {
        PropertyResult { verdict, satisfied: None, is_vacuous: false, evidence: None, withheld: None }
    }
}

/// Reason why the worlds could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A limit of the budget was reached.
    Stop(Stop),
    /// A reachable assignment leaves the range of its variable.
    OutOfRange {
        /// World in which the assignment is reached.
        world: WorldId,
        /// Variable that is assigned.
        var: VarId,
        /// Span of the assignment.
        span: Span,
    },
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        Failure::Stop(stop)
    }
}
