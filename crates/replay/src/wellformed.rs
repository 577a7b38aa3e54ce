//! Well-formed evidence: every reference is valid.

use std::ops::Deref;

use masque_verdict::{
    Because, DecidedBy, Evidence, EvidencePath, GroupStrategy, Literal, PathReason, Possibility, ReasonId,
    Response, Responses, State, StateId, UnfoldedClaim, Unfolding,
};

use crate::fault::ReplayError;

/// Evidence whose references are valid, and in which reasons refer only to smaller formulas.
#[derive(Clone, Copy)]
pub(crate) struct WellFormed<'e>(&'e Evidence);

impl<'e> WellFormed<'e> {
    pub(crate) fn new(evidence: &'e Evidence) -> Result<WellFormed<'e>, ReplayError> {
        let Evidence { states, start, reasons } = evidence;
        let references = References { n_states: states.len() };
        let mut is_mentioned = vec![false; reasons.len()];
        let mut is_sound = references.is_run(start) && !reasons.is_empty();
        for reason in reasons {
            reason.because.each_reason(|id| match reasons.get(id.index()) {
                Some(child) if child.formula < reason.formula => is_mentioned[id.index()] = true,
                _ => is_sound = false,
            });
            is_sound &= references.is_state(&reason.state) && references.are_in(&reason.because);
        }
        let all_mentioned = is_mentioned.iter().skip(1).all(|&mentioned| mentioned);
        if is_sound && all_mentioned { Ok(WellFormed(evidence)) } else { Err(ReplayError::Shape) }
    }

    /// The states of a path; if it has a loop, the first state of the loop is repeated at the end.
    pub(crate) fn states(self, run: &EvidencePath) -> Vec<&'e State> {
        run.states.iter().chain(run.back_to.map(|at| &run.states[at])).map(|id| self.0.state(*id)).collect()
    }

    /// The claim of a reason, and its state.
    pub(crate) fn claim(self, id: ReasonId) -> (Literal, StateId) {
        let reason = self.0.reason(id);
        (Literal { formula: reason.formula, holds: reason.holds }, reason.state)
    }

    /// The claims of these reasons; `None` unless all are about `state`.
    pub(crate) fn claims_at(self, ids: &[ReasonId], state: StateId) -> Option<Vec<Literal>> {
        let claim_at = |&id: &ReasonId| {
            let (literal, at) = self.claim(id);
            (at == state).then_some(literal)
        };
        ids.iter().map(claim_at).collect()
    }
}

impl Deref for WellFormed<'_> {
    type Target = Evidence;

    fn deref(&self) -> &Evidence {
        self.0
    }
}

/// Checks references.
struct References {
    n_states: usize,
}

impl References {
    fn is_state(&self, id: &StateId) -> bool {
        id.index() < self.n_states
    }

    /// Whether a path has states and one action per step, and its loop starts at one of its states.
    fn is_run(&self, run: &EvidencePath) -> bool {
        let n_steps = run.states.len() - usize::from(run.back_to.is_none() && !run.states.is_empty());
        !run.states.is_empty()
            && run.states.iter().all(|id| self.is_state(id))
            && run.actions.len() == n_steps
            && run.back_to.is_none_or(|position| position < run.states.len())
    }

    /// Whether all states, positions and nodes in a reason exist.
    fn are_in(&self, because: &Because) -> bool {
        let is_state = |id: &StateId| self.is_state(id);
        let is_run = |run: &EvidencePath| self.is_run(run);
        match because {
            Because::Here | Because::Operands(_) | Because::DeadEnd(_) | Because::NotShown(_) => true,
            Because::Path(PathReason { run, claims, fair }) => {
                let n = run.states.len();
                is_run(run) && claims.iter().all(|(at, _)| *at < n) && fair.iter().all(|at| *at < n)
            }
            Because::Possible(Possibility { state, path, .. }) => is_state(state) && path.iter().all(is_run),
            Because::Chain(chain) => {
                chain.links.iter().all(|link| is_state(&link.state) && is_run(&link.path))
            }
            Because::Strategy(GroupStrategy { from, rows, play, .. }) => {
                from.iter().all(is_state) && rows.iter().all(|row| is_state(&row.state)) && is_run(play)
            }
            Because::Responses(Responses { from, path, rows, play, .. }) => {
                let is_row = |row: &Response| is_state(&row.state) && row.next.iter().all(is_state);
                is_state(from) && path.iter().all(is_run) && rows.iter().all(is_row) && is_run(play)
            }
            Because::Unfolded(Unfolding { nodes }) => {
                nodes.iter().all(|node| is_state(&node.state) && self.are_in_support(node, nodes))
            }
        }
    }

    fn are_in_support(&self, node: &UnfoldedClaim, nodes: &[UnfoldedClaim]) -> bool {
        let is_node = |position: &usize| *position < nodes.len();
        match &node.by {
            DecidedBy::Reason(_) => true,
            DecidedBy::Nodes(list) | DecidedBy::Alike(list) => list.iter().all(is_node),
            DecidedBy::Steps(list) => list.iter().all(|(_, position)| is_node(position)),
            DecidedBy::Possible { path, node, .. } => {
                path.iter().all(|run| self.is_run(run)) && is_node(node)
            }
        }
    }
}
