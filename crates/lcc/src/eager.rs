//! Sending at once: partial-order reduction for mailbox communication. [GKPP99]
//!
//! Where an agent can do nothing but send one message, or make one internal step, nobody can change
//! that: others only add messages or take their own. If the formula does not see the step, the state
//! may as well have that one successor; the rest happens after it, as it would have before. N agents
//! that answer a request then answer in one order instead of N!.
//!
//! The four conditions of [GKPP99] for branching time:
//!
//! ```text
//! C0  the ample set is not empty                   it has one step
//! C1  nothing that depends on it happens first     the agent has no other step and no receipt
//! C2  its step is invisible                        checked for the formula and the step, below
//! C3  no cycle leaves a step out for ever          a sending adds to the mail, and an internal step
//!                                                  leads to a state that the reduced system has not
//!                                                  led to before; so a cycle has a state that is
//!                                                  fully expanded
//! C4  it is a single step                          it is
//! ```
//!
//! The formula must not see how many steps there are: [`Observed`] says which do not, and what they
//! see. For any other formula nothing is reduced. A bound is no obstacle: where a sending would cross
//! it, nothing is reduced.
//!
//! What is *offered*, as in `<B>φ`, is a fact about a state like any other, and a step is invisible if
//! it never changes it. A step does not take an offer away: whatever others could do they still can.
//! It adds one if its agent can do B next, or if the message allows somebody a receipt in B; the
//! second cannot be seen from the step, so B must be such that no receipt is ever in it. And where
//! B is offered, all steps count, since the one step that stands for all is not in B.

use masque_mu::{Action, ActionId, Formula, LabelId, Lts, StateId};
use rustc_hash::FxHashMap;

use crate::observed::Observed;
use crate::options::Comm;
use crate::symmetry::Symmetry;
use crate::system::System;
use crate::term::TermId;

/// Finds the steps that agents take at once, because the formula does not see them.
#[derive(Debug)]
pub(crate) struct Eager<'f> {
    formula: &'f Formula,
    observed: Observed,
    visible: FxHashMap<LabelId, bool>,
    /// Whether an agent with this process can do by itself what the formula sees being offered.
    offering: FxHashMap<(usize, TermId), bool>,
    /// What was decided for each state: asking twice gives the same answer.
    chosen: FxHashMap<StateId, Option<(LabelId, StateId)>>,
    /// For each state, whether this reduced system has led to it. What other formulas have explored
    /// does not count: a formula gets the same reduced system alone and after others.
    met: Vec<bool>,
}

impl<'f> Eager<'f> {
    /// For a formula that cannot see the difference.
    pub(crate) fn new(system: &System, formula: &'f Formula) -> Option<Eager<'f>> {
        let observed = Observed::new(formula, system)?;
        let is_mailbox = system.program.options.comm == Comm::Mailbox;
        is_mailbox.then(|| Eager {
            formula,
            observed,
            visible: FxHashMap::default(),
            offering: FxHashMap::default(),
            chosen: FxHashMap::default(),
            met: Vec::new(),
        })
    }

    /// Records that the reduced system leads to a state.
    pub(crate) fn meet(&mut self, state: StateId) {
        if self.met.len() <= state.index() {
            self.met.resize(state.index() + 1, false);
        }
        self.met[state.index()] = true;
    }

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

    /// Whether an agent can do by itself what the formula sees being offered, as far as is known.
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
        // What is not known may be offered.
        let is_offering = labels.is_none_or(|labels| labels.into_iter().any(&mut is_offered));
        self.offering.insert((agent, process), is_offering);
        is_offering
    }

    /// The one step that stands for all, if there is one.
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
        let only = system.only_step(state, agent)?;
        let target = match symmetry {
            Some(symmetry) => symmetry.representative(system, only.target),
            None => only.target,
        };
        let is_new = self.met.get(target.index()) != Some(&true);
        let next = process(system, only.target, agent);
        let is_seen = self.observed.is_final_seen && system.is_final(only.target)
            || self.is_offering(system, agent, next);
        let is_good = (only.is_sending || is_new) && !is_seen && !self.is_visible(system, only.label);
        is_good.then(|| {
            self.meet(target);
            (only.label, target)
        })
    }
}

fn process(system: &System, state: StateId, agent: usize) -> TermId {
    TermId(system.parts(state).0[agent])
}
