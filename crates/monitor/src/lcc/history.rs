//! What is remembered of a run: the goals that it reached, and the obligation instances that it made due.

use masque_mu::BindingId;

/// Whether a run has reached a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Reached {
    No,
    /// A bound hides whether a state of the run satisfies the goal.
    Maybe,
    Yes,
}

/// An instance of an obligation: the index of the obligation, and the values of its shared variables.
pub(super) type Instance = (u32, BindingId);

/// Status of an instance on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Due {
    Owed,
    /// The act was performed.
    Met,
    /// `until` has ended it.
    Discharged,
}

/// What is remembered of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct History {
    /// For each goal, whether it was reached.
    pub(super) reached: Box<[Reached]>,
    /// The instances that the run has made due and that some possible run still owes, sorted.
    pub(super) dues: Box<[(Instance, Due)]>,
}

impl History {
    pub(super) fn heap_bytes(&self) -> usize {
        self.reached.len() + self.dues.len() * size_of::<(Instance, Due)>()
    }
}
