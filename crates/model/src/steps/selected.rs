//! Steps by some of the joint actions.

use crate::{ActionId, AgentId, ExprId};

/// Steps by some of the joint actions.
///
/// The loop that `stutter` adds to a dead end has no actions: it is selected only if all steps are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectedSteps {
    /// Steps in which each of these agents performs this action; all steps if there are none.
    By(Vec<(AgentId, ActionId)>),
    /// Steps with this condition on the state before the step and on the joint action.
    With(ExprId),
}
