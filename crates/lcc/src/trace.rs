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
    /// Of a message that is taken: the event that sent it, unless it was under way at the start.
    pub sent: Option<usize>,
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

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everybody has finished, and no message is under way.
    Final,
    /// Nothing can happen, and that is not final.
    Stuck,
    /// It does not: it goes round for ever.
    Loop,
    /// The last step decides, however the run goes on.
    Decided,
    /// From here on several runs together decide.
    Open,
}

impl End {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            End::Final => "final",
            End::Stuck => "stuck",
            End::Loop => "loop",
            End::Decided => "decided",
            End::Open => "open",
        }
    }
}

/// A run, as evidence for a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The agents, in the order of the team.
    pub agents: Vec<String>,
    /// The role in which each agent begins; several are set apart by `par`.
    pub roles: Vec<String>,
    /// Whether each agent has finished, or rests, where the run ends.
    pub rests: Vec<bool>,
    /// What happens.
    pub events: Vec<Event>,
    /// For a run that goes on for ever: the events from this one on are repeated.
    pub loop_at: Option<usize>,
    /// How it ends.
    pub end: End,
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
        let mut events: Vec<Event> = play.steps.iter().map(|step| self.event(step.label)).collect();
        self.find_sendings(play, &mut events);
        let last = play.end();
        let end = match play.loop_at {
            Some(_) => End::Loop,
            None if self.is_final(last) => End::Final,
            None if self.is_stuck(last) => End::Stuck,
            None if play.is_closed => End::Decided,
            None => End::Open,
        };
        let blame = if end == End::Stuck { self.blame(last) } else { Vec::new() };
        let n_agents = self.program.agents.len();
        let rests = (0..n_agents).map(|agent| self.is_done(last, agent) || self.is_idle(last, agent));
        Trace {
            agents: self.team(),
            roles: self.first_roles(),
            rests: rests.collect(),
            events,
            loop_at: play.loop_at,
            end,
            blame,
        }
    }

    fn first_roles(&self) -> Vec<String> {
        let text = |process: TermId| {
            let roles: Vec<String> =
                self.roles_of(process).into_iter().map(|role| self.terms.shape(role)).collect();
            roles.join(" par ")
        };
        self.program.agents.iter().map(|agent| text(agent.now)).collect()
    }

    /// Finds the event that sent each message that is taken. Equal messages are taken in the order
    /// in which they were sent.
    fn find_sendings(&self, play: &Play, events: &mut [Event]) {
        let mut under_way: Vec<(u32, usize)> = Vec::new();
        let mut before = play.start;
        for (at, step) in play.steps.iter().enumerate() {
            let (old, new) = (self.parts(before).1, self.parts(step.to).1);
            if let Some(message) = extra(new, old) {
                under_way.push((message, at));
            } else if let Some(message) = extra(old, new)
                && let Some(place) = under_way.iter().position(|(other, _)| *other == message)
            {
                events[at].sent = Some(under_way.remove(place).1);
            }
            before = step.to;
        }
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
        Event { deed, because: reasons, sent: None, label: self.label_text(label) }
    }
}

/// What the longer of two sorted lists has more, if it is longer.
fn extra(longer: &[u32], shorter: &[u32]) -> Option<u32> {
    let at = longer.iter().zip(shorter).take_while(|(one, other)| one == other).count();
    longer.get(at).copied().filter(|_| longer.len() > shorter.len())
}
