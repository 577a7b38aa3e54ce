//! Finite paths from an initial state.

use serde::{Deserialize, Serialize};

use crate::{JointAction, State};

/// A finite path from an initial state.
///
/// The paths in evidence and facts are canonical, so all engines give the same ones. Among the paths to
/// any of the target states, the canonical path is a shortest one; among the shortest it has the least
/// sequence of states, in the order of [`compare_states`]; and each of its steps has the least joint action
/// that leads to the next state, in lexicographic order of action ids.
///
/// [`compare_states`]: crate::compare_states
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// States, at least one; the first is initial.
    pub states: Vec<State>,
    /// Joint actions, one fewer than states: `actions[k]` leads from `states[k]` to `states[k + 1]`.
    pub actions: Vec<JointAction>,
}

impl Path {
    /// Returns a placeholder without states, for a path that failed replay and is not shown.
    pub fn withheld() -> Path {
        Path { states: Vec::new(), actions: Vec::new() }
    }

    /// Whether this is the placeholder for a path that is not shown.
    pub fn is_withheld(&self) -> bool {
        self.states.is_empty()
    }
}
