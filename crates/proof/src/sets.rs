//! The sets of an engine, from which certificates are made.

use masque_certificate::format::{Place, Ref};
use masque_model::{AgentId, ExprId, GroupId, System};
use masque_verdict::Stop;

use crate::text::NodeTable;

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

    /// The states from which a group can enforce that the next state is in a set.
    fn forced(&mut self, group: GroupId, set: &Self::Set) -> Result<Self::Set, Stop>;

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
}
