//! Sending at once: partial-order reduction for mailbox communication. [GKPP99]
//!
//! Where an agent can do nothing but send one message, or make one internal step, no other agent can change
//! that: the others only add messages or take their own. If the formula does not see the step, it suffices
//! to give the state that one successor; the other steps happen after it as they would have happened before.
//! N agents that answer a request then answer in one order instead of N!.
//!
//! The conditions of [GKPP99] for branching time:
//!
//! ```text
//! C0  the ample set is not empty                   it has one step
//! C1  nothing that depends on it happens first     the agent has no other step and no receipt
//! C2  its step is invisible                        checked for the formula and the step, below
//! C3  no cycle omits a step forever                a sending adds to the mail, and an internal step
//!                                                  leads to a state that the reduced system has not
//!                                                  led to before; so a cycle has a state that is
//!                                                  fully expanded
//! C4  it is a single step                          it is
//! ```
//!
//! The formula must not be able to count steps: [`Observed`] accepts such formulas and says what they see.
//! For any other formula nothing is reduced. The same holds in a state where a sending would exceed a bound.
//!
//! What is *offered*, as in `<B>φ`, is a fact about a state like any other, and a step is invisible if
//! it never changes that fact. A step does not remove an offer: the other agents can still do everything
//! they could do before. It adds an offer if its agent can do B next, or if its message allows a receipt
//! in B. The second cannot be determined from the step, so B must be an action that no receipt matches. And
//! where B is offered, the state is fully expanded, because the single step would not be in B.

use masque_mu::{Action, ActionId, Formula, LabelId, Lts, StateId};
use rustc_hash::FxHashMap;

use crate::explore::mark_reached;
use crate::observed::Observed;
use crate::options::Comm;
use crate::symmetry::Symmetry;
use crate::system::System;
use crate::term::TermId;

/// Finds the steps that agents take at once because the formula does not see them.
#[derive(Debug)]
pub(crate) struct Eager<'f> {
    formula: &'f Formula,
    observed: Observed,
    /// For each label found so far, whether the formula sees it.
    visible: FxHashMap<LabelId, bool>,
    /// For each agent and process found so far, whether the agent can perform an offered action by itself.
    offering: FxHashMap<(usize, TermId), bool>,
    /// The step chosen for each state, if any, so that repeated calls give the same result.
    chosen: FxHashMap<StateId, Option<(LabelId, StateId)>>,
    /// For each state, whether a step of this reduced system leads to it. States explored for other
    /// formulas do not count, so a formula gets the same reduced system alone and after others.
    reached: Vec<bool>,
}

impl<'f> Eager<'f> {
    /// Prepares the reduction for a formula; `None` if the formula could see the difference, or if
    /// communication is synchronous.
    pub(crate) fn new(system: &System, formula: &'f Formula) -> Option<Eager<'f>> {
        let observed = Observed::new(formula, system)?;
        let is_mailbox = system.program.options.comm == Comm::Mailbox;
        is_mailbox.then(|| Eager {
            formula,
            observed,
            visible: FxHashMap::default(),
            offering: FxHashMap::default(),
            chosen: FxHashMap::default(),
            reached: Vec::new(),
        })
    }

    /// Records that the reduced system leads to a state.
    pub(crate) fn mark_reached(&mut self, state: StateId) {
        mark_reached(&mut self.reached, state);
    }

    /// Whether a label is in an action set.
    fn is_in(&self, system: &mut System, action: ActionId, label: LabelId) -> bool {
        match self.formula.action(action) {
            Action::Any => true,
            Action::Is(pattern) => system.matches(label, *pattern),
            Action::Not(inner) => !self.is_in(system, *inner, label),
            Action::Either(parts) => parts.iter().any(|part| self.is_in(system, *part, label)),
        }
    }

    fn is_visible(&mut self, system: &mut System, label: LabelId) -> bool {
        if let Some(known) = self.visible.get(&label) {
            return *known;
        }
        let Observed { passed, awaited, .. } = &self.observed;
        let is_visible = passed.iter().any(|action| !self.is_in(system, *action, label))
            || awaited.iter().any(|action| self.is_in(system, *action, label));
        self.visible.insert(label, is_visible);
        is_visible
    }

    /// Whether an agent can perform an offered action by itself; also `true` if that is unknown.
    fn is_offering(&mut self, system: &mut System, agent: usize, process: TermId) -> bool {
        if self.observed.offered.is_empty() {
            return false;
        }
        if let Some(known) = self.offering.get(&(agent, process)) {
            return *known;
        }
        let labels = system.own_labels(agent, process);
        let offered = &self.observed.offered;
        let mut is_offered = |label: LabelId| offered.iter().any(|action| self.is_in(system, *action, label));
        // If a bound hides some labels, one of these may be offered.
        let is_offering = labels.is_none_or(|labels| labels.into_iter().any(&mut is_offered));
        self.offering.insert((agent, process), is_offering);
        is_offering
    }

    /// Returns the one step that replaces all steps of a state, if there is one.
    pub(crate) fn ample(
        &mut self,
        system: &mut System,
        mut symmetry: Option<&mut Symmetry>,
        state: StateId,
    ) -> Option<(LabelId, StateId)> {
        if let Some(chosen) = self.chosen.get(&state) {
            return *chosen;
        }
        let n_agents = system.program.agents.len();
        let mut offered = (0..n_agents).filter(|agent| {
            let process = process(system, state, *agent);
            self.is_offering(system, *agent, process)
        });
        let chosen = match offered.next() {
            Some(_) => None,
            None => (0..n_agents).find_map(|agent| self.ample_of(system, &mut symmetry, state, agent)),
        };
        self.chosen.insert(state, chosen);
        chosen
    }

    /// Returns the step of one agent that can replace all steps of a state.
    fn ample_of(
        &mut self,
        system: &mut System,
        symmetry: &mut Option<&mut Symmetry>,
        state: StateId,
        agent: usize,
    ) -> Option<(LabelId, StateId)> {
        // A server that begins by itself leaves a state that may be final.
        if self.observed.agents.contains(&(agent as u32)) || system.is_idle(state, agent) {
            return None;
        }
        let only = system.single_step(state, agent)?;
        let target = match symmetry {
            Some(symmetry) => symmetry.representative(system, only.target),
            None => only.target,
        };
        let is_new = self.reached.get(target.index()) != Some(&true);
        let next = process(system, only.target, agent);
        let is_seen = self.observed.is_final_seen && system.is_final(only.target)
            || self.is_offering(system, agent, next);
        let is_good = (only.is_sending || is_new) && !is_seen && !self.is_visible(system, only.label);
        is_good.then(|| {
            self.mark_reached(target);
            (only.label, target)
        })
    }
}

fn process(system: &System, state: StateId, agent: usize) -> TermId {
    TermId(system.parts(state).0[agent])
}
