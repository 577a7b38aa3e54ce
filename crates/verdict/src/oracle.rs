//! What evidence and exploring ask of an engine: five questions, each with one right answer.
//!
//! `masque_evidence::explain` walks a formula and asks these; an engine answers them and need not
//! know what they are for. Because each answer is determined by the checked system alone (shortest
//! first, then least), all engines give the same evidence.

use masque_model::{AgentId, Count, FormulaId, GroupId};
use serde::{Deserialize, Serialize};

use crate::{Budget, State, Stop};

/// Answers questions about single states and paths of an encoded system.
///
/// `D`, the domain, is the set of reachable states, or with fairness constraints those at which a
/// fair path starts. All regions are subsets of it. States in questions belong to `D`, and formulas
/// are state formulas of the engine's fragment.
pub trait Oracle {
    /// Whether a formula is true at a state.
    fn is_true(&mut self, formula: FormulaId, state: &State, budget: &Budget) -> Result<bool, Stop>;

    /// Whether a state has no successor in the system itself, whatever deadlock means.
    fn is_dead_end(&mut self, state: &State, budget: &Budget) -> Result<bool, Stop>;

    /// The least state of a region, in the order of [`compare_states`](crate::compare_states).
    fn least(&mut self, region: &[Part], budget: &Budget) -> Result<Option<State>, Stop>;

    /// The first `most` states of a region in that order, and how many there are in all.
    fn first(&mut self, region: &[Part], most: usize, budget: &Budget) -> Result<(Vec<State>, Count), Stop>;

    /// The states of the canonical path: of all that a route admits the shortest, and of these the
    /// one whose sequence of states is least.
    fn path(&mut self, route: &Route, budget: &Budget) -> Result<Option<Vec<State>>, Stop>;
}

/// A formula and the truth value it is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Literal {
    /// A state formula.
    pub formula: FormulaId,
    /// Whether it is to be true or false.
    pub holds: bool,
}

impl Literal {
    /// The same formula with the other truth value.
    pub fn negated(self) -> Literal {
        Literal { holds: !self.holds, ..self }
    }
}

/// One condition on states. A region, a slice of these, is where all are met; an empty one is `D`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Part {
    /// The state is initial.
    Initial,
    /// It is this state.
    Is(State),
    /// A formula has a truth value.
    Literal(Literal),
    /// The agent is green.
    Green(AgentId),
    /// The agents, putting together what they see, cannot tell it from this state. Without agents
    /// nobody looks: every state is alike.
    Alike(Vec<AgentId>, State),
    /// The fairness constraint of this number is true.
    Constraint(usize),
    /// An infinite path starts, fair if there are fairness constraints, on which all of these are
    /// so for ever.
    ///
    /// ```text
    /// Forever(φ) = ⟦EG φ⟧
    /// ```
    Forever(Vec<Literal>),
    /// The state is in a region, and has a past without beginning there: it lies on a cycle of the
    /// region, or behind one.
    ///
    /// ```text
    /// Recurrent(R) = νZ. R ∩ post(Z)
    /// ```
    Recurrent(Vec<Part>),
}

/// Which paths are asked for: from a state of `from`, to a state of `to`, all before the last in
/// `through`. The last need not be in `through`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Where the path begins.
    pub from: Vec<Part>,
    /// Where all states but the last are.
    pub through: Vec<Part>,
    /// Where it ends.
    pub to: Vec<Part>,
    /// What a step is.
    pub by: By,
    /// How many steps it takes.
    pub length: Length,
}

/// How many steps a path takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Length {
    /// Any number; none if it begins where it may end.
    Any,
    /// At least one.
    Some,
    /// Exactly one.
    One,
}

/// What leads from one state to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// A transition; under `stutter` a dead end leads to itself.
    Steps,
    /// Some agent of the group cannot tell the two states apart.
    Confusion(GroupId),
}
