//! The sets of an engine, from which certificates are made.

use masque_certificate::format::{Place, Ref};
use masque_model::{AgentId, ExprId, FormulaId, GroupId, Strategies, System};
use masque_verdict::Stop;

use crate::text::NodeTable;

/// A question to an engine: the uniform strategies of a group.
#[derive(Debug)]
pub struct UniformGoal<'g, Set> {
    /// The group.
    pub group: GroupId,
    /// What counts as a strategy; not [`Strategies::Perfect`].
    pub strategies: Strategies,
    /// The path formula that the group enforces.
    pub path: FormulaId,
    /// The states in which its first operand is true.
    pub phi: &'g Set,
    /// The states in which its second operand is true; equal to `phi` if there is one operand.
    pub psi: &'g Set,
    /// The states for which strategies are needed; all states if `None`.
    pub asked: Option<&'g Set>,
}

/// What one member of a group does in some states: a part of a uniform strategy.
#[derive(Clone, Debug)]
pub struct Choice<Set> {
    /// The place of the member in the group.
    pub member: usize,
    /// The number of the action.
    pub action: u32,
    /// The reachable states in which the member performs it: with each state all those that the member confuses
    /// with it.
    pub states: Set,
}

/// A tuple of uniform strategies, one for each member. A member may lack a choice where none is needed.
pub type GroupStrategy<Set> = Vec<Choice<Set>>;

/// Sets of reachable states, with the operators on them. Every set that is passed in or returned lies inside the
/// reachable states.
pub trait ProofSets<'s> {
    /// A set.
    type Set: Clone;

    /// The system that the states belong to.
    fn system(&self) -> &'s System;

    /// The initial states.
    fn initial(&mut self) -> Result<Self::Set, Stop>;

    /// The reachable states.
    fn reachable(&mut self) -> Result<Self::Set, Stop>;

    /// The empty set.
    fn nothing(&mut self) -> Self::Set;

    /// Intersection.
    fn and(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Stop>;

    /// Union.
    fn or(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Stop>;

    /// Difference.
    fn minus(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Stop>;

    /// Whether a set is empty.
    fn is_empty(&self, a: &Self::Set) -> bool;

    /// The reachable states at which a condition is true.
    fn condition(&mut self, condition: ExprId) -> Result<Self::Set, Stop>;

    /// The reachable states with a successor in a set. Under `--deadlock stutter` the loop of a dead end counts.
    fn before(&mut self, set: &Self::Set) -> Result<Self::Set, Stop>;

    /// The reachable states with a successor in a set by a joint action that satisfies a condition.
    fn before_by(&mut self, condition: ExprId, set: &Self::Set) -> Result<Self::Set, Stop>;

    /// The successors of a set.
    fn after(&mut self, set: &Self::Set) -> Result<Self::Set, Stop>;

    /// The reachable states that agents together confuse with some state of a set.
    fn alike(&mut self, agents: &[AgentId], set: &Self::Set) -> Result<Self::Set, Stop>;

    /// The states from which a group can enforce that the next state is in a set: with any choice, or with those
    /// of a strategy.
    fn forced(
        &mut self,
        group: GroupId,
        strategy: Option<&[Choice<Self::Set>]>,
        set: &Self::Set,
    ) -> Result<Self::Set, Stop>;

    /// Finds uniform strategies of a group: at each state that the goal asks about and at which the group has a
    /// strategy, one of them wins from all states that must be won together.
    fn uniform(&mut self, goal: &UniformGoal<'_, Self::Set>) -> Result<Vec<GroupStrategy<Self::Set>>, Stop>;

    /// The order of the bits in certificates.
    fn places(&mut self) -> Vec<Place>;

    /// Adds a set to a table of nodes. If `care` is given, states outside it may be added to the set or
    /// taken from it.
    fn write(
        &mut self,
        set: &Self::Set,
        care: Option<&Self::Set>,
        nodes: &mut NodeTable,
    ) -> Result<Ref, Stop>;

    /// Adds the valuations to a table of nodes that an agent confuses with some state of a set.
    fn write_view(&mut self, agent: AgentId, set: &Self::Set, nodes: &mut NodeTable) -> Result<Ref, Stop>;
}
