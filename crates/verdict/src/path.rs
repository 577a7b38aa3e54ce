//! Paths.

use serde::{Deserialize, Serialize};

use crate::{JointAction, State};

/// A finite path from an initial state.
///
/// The paths in evidence and facts are canonical, so that all engines show the same: of the paths
/// to any of the states in question first the shortest; of these the one whose sequence of states
/// is least, in the order of [`compare_states`]; and each step with the least joint action that
/// makes it, in lexicographic order of action ids.
///
/// [`compare_states`]: crate::compare_states
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// At least one; the first is initial.
    pub states: Vec<State>,
    /// One fewer: `actions[k]` leads from `states[k]` to `states[k + 1]`.
    pub actions: Vec<JointAction>,
}

impl Path {
    /// What stands for a path that does not replay and is not shown: it has no states.
    pub fn withheld() -> Path {
        Path { states: Vec::new(), actions: Vec::new() }
    }

    /// Whether this stands for a path that is not shown.
    pub fn is_withheld(&self) -> bool {
        self.states.is_empty()
    }
}
