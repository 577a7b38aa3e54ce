//! The five questions that evidence and simulation ask an engine, each with one correct answer.
//!
//! `masque_evidence::explain` walks a formula and asks these questions; an engine answers them without
//! knowing their purpose. Each answer is determined by the checked system alone (shortest first, then
//! least), so all engines give the same evidence.

use masque_model::{AgentId, Count, FormulaId, GroupId};
use serde::{Deserialize, Serialize};

use crate::{Budget, State, Stop};

/// Answers questions about single states and paths of an encoded system.
///
/// `D`, the domain, is the set of reachable states, or with fairness constraints those at which a
/// fair path starts. All regions are subsets of it. The states that callers pass belong to `D`,
/// and the formulas are state formulas of the engine's fragment.
pub trait Oracle {
    /// Whether a formula is true at a state.
    fn is_true(&mut self, formula: FormulaId, state: &State, budget: &Budget) -> Result<bool, Stop>;

    /// Whether a state has no successor in the system itself, for every deadlock mode.
    fn is_dead_end(&mut self, state: &State, budget: &Budget) -> Result<bool, Stop>;

    /// The least state of a region, in the order of [`compare_states`](crate::compare_states).
    fn least(&mut self, region: &[RegionPart], budget: &Budget) -> Result<Option<State>, Stop>;

    /// The first `limit` states of a region in that order, and the number of all its states.
    fn first(
        &mut self,
        region: &[RegionPart],
        limit: usize,
        budget: &Budget,
    ) -> Result<(Vec<State>, Count), Stop>;

    /// The states of the canonical path: the shortest that the route admits, and among these the one whose
    /// sequence of states is least. `None` if the route admits no path.
    fn path(&mut self, route: &Route, budget: &Budget) -> Result<Option<Vec<State>>, Stop>;
}

/// A formula and the truth value it is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Literal {
    /// State formula.
    pub formula: FormulaId,
    /// Truth value.
    pub holds: bool,
}

impl Literal {
    /// Returns the same formula with the opposite truth value.
    pub fn negated(self) -> Literal {
        Literal { holds: !self.holds, ..self }
    }
}

/// One condition on states. A region is a slice of these: the states of `D` that meet all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RegionPart {
    /// The state is initial.
    Initial,
    /// The state is this one.
    Is(State),
    /// A formula has a truth value.
    Literal(Literal),
    /// The agent is green.
    Green(AgentId),
    /// The agents, who combine what they see, cannot distinguish the state from this one. True of every
    /// state if there are no agents.
    Alike(Vec<AgentId>, State),
    /// The fairness constraint with this index is true.
    Constraint(usize),
    /// An infinite path starts at the state, fair if there are fairness constraints, on which all of these
    /// literals are always true.
    ///
    /// ```text
    /// Forever(φ) = ⟦EG φ⟧
    /// ```
    Forever(Vec<Literal>),
    /// The state lies on a cycle of the region, or is reachable from one inside the region: it has an
    /// infinite backward path there.
    ///
    /// ```text
    /// Recurrent(R) = νZ. R ∩ post(Z)
    /// ```
    Recurrent(Vec<RegionPart>),
}

/// A set of paths: from a state of `from` to a state of `to`, with all states before the last in
/// `through`. The last state need not be in `through`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Region of the first state.
    pub from: Vec<RegionPart>,
    /// Region of all states but the last.
    pub through: Vec<RegionPart>,
    /// Region of the last state.
    pub to: Vec<RegionPart>,
    /// Relation between consecutive states.
    pub by: StepKind,
    /// Number of steps.
    pub length: PathLength,
}

/// Number of steps of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathLength {
    /// Any number, including 0.
    Any,
    /// At least one.
    Some,
    /// Exactly one.
    One,
}

/// Relation between consecutive states of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepKind {
    /// A transition; under `stutter` a dead end leads to itself.
    Steps,
    /// Some agent of the group cannot distinguish the two states.
    Confusion(GroupId),
}
