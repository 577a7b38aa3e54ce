//! What happens on a play, event by event, in the words of the protocol.

use masque_mu::{LabelId, Play, StateId};

use crate::symbol::Symbol;
use crate::system::{LabelTerm, System};
use crate::term::TermId;

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub deed: Deed,
    /// The constraints that allowed it.
    pub because: Vec<String>,
    /// The whole label, as a formula's patterns see it.
    pub label: String,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// An agent makes an internal step.
    Internal {
        /// Which agent.
        by: String,
    },
    /// A message is sent; `to` is empty if it is addressed to whoever is in the role.
    Sent {
        /// By whom.
        by: String,
        /// To whom.
        to: String,
        /// What.
        message: String,
    },
    /// A message is taken from those under way.
    Taken {
        /// By whom.
        by: String,
        /// From whom.
        from: String,
        /// What.
        message: String,
    },
    /// A message is sent and taken in one step.
    Exchanged {
        /// From whom.
        from: String,
        /// To whom.
        to: String,
        /// What.
        message: String,
    },
}

/// A run, as evidence for a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The agents, in the order of the team.
    pub agents: Vec<String>,
    /// What happens.
    pub events: Vec<Event>,
    /// For a run that goes on for ever: the events from this one on are repeated.
    pub loop_at: Option<usize>,
    /// If the run ends in a deadlock: why each agent is stuck.
    pub blame: Vec<String>,
}

impl System {
    /// The ids of the team.
    pub fn team(&self) -> Vec<String> {
        self.program.agents.iter().map(|agent| self.terms.text(agent.id)).collect()
    }

    /// A play as a trace.
    pub fn trace(&mut self, play: &Play) -> Trace {
        let end = play.steps.last().map_or(play.start, |step| step.to);
        let events = play.steps.iter().map(|step| self.event(step.label)).collect();
        let blame = match play.loop_at.is_none() && self.is_stuck(end) {
            true => self.blame(end),
            false => Vec::new(),
        };
        Trace { agents: self.team(), events, loop_at: play.loop_at, blame }
    }

    /// Whether nothing can happen in a state that is not final.
    pub fn is_stuck(&mut self, state: StateId) -> bool {
        let mut n_steps = 0;
        let complete = masque_mu::Lts::successors(self, state, &mut |_, _| n_steps += 1);
        n_steps == 0 && complete == masque_mu::Completeness::Complete && !self.is_final(state)
    }

    /// A label as an event.
    pub fn event(&self, label: LabelId) -> Event {
        let text = |term: TermId| self.terms.shape(term);
        let arg = |label: TermId, at: usize| self.terms.arg(label, at);
        let because = |label: TermId| self.terms.args(arg(label, 5)).iter().map(|term| text(*term));
        let known = |id: TermId| if self.terms.is_ground(id) { text(id) } else { String::new() };
        let (deed, reasons) = match self.label_term(label) {
            LabelTerm::Own(own) => {
                let by = text(arg(own, 4));
                let (message, peer) = (text(arg(own, 0)), known(arg(own, 2)));
                let deed = match self.terms.symbol(own) {
                    Some(Symbol::SENT) => Deed::Sent { by, to: peer, message },
                    Some(Symbol::TAKEN) => Deed::Taken { by, from: peer, message },
                    _ => Deed::Internal { by },
                };
                (deed, because(own).collect())
            }
            LabelTerm::Tau(sent, taken) => {
                let (from, to) = (text(arg(sent, 4)), text(arg(taken, 4)));
                let deed = Deed::Exchanged { from, to, message: text(arg(taken, 0)) };
                (deed, because(sent).chain(because(taken)).collect())
            }
        };
        Event { deed, because: reasons, label: self.label_text(label) }
    }
}
