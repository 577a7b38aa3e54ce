//! Traces: the events of a run, as text.

use masque_mu::{LabelId, Play, StateId};

use crate::symbol::Symbol;
use crate::system::{LabelTerm, System};
use crate::term::TermId;

/// An event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The action, with the agents and the message.
    pub action: EventAction,
    /// The constraints that allowed the event.
    pub because: Vec<String>,
    /// For a receipt, the index of the event that sent the message; `None` if it was in transit at the start.
    pub sent: Option<usize>,
    /// The label, which action patterns match.
    pub label: String,
}

impl Event {
    /// Returns the constraints that allowed the event, without equations of equal terms, as in `none = none`.
    pub fn informative_reasons(&self) -> Vec<&str> {
        let says_something =
            |literal: &&str| literal.split_once(" = ").is_none_or(|(one, other)| one != other);
        self.because.iter().map(String::as_str).filter(says_something).collect()
    }
}

/// The action of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventAction {
    /// An agent makes an internal step.
    Internal {
        /// Id of the agent.
        by: String,
    },
    /// A message is sent.
    Sent {
        /// Id of the sender.
        by: String,
        /// Id of the receiver; empty if the message is addressed to no particular agent.
        to: String,
        /// The message.
        message: String,
    },
    /// A message under way is received.
    Taken {
        /// Id of the receiver.
        by: String,
        /// Id of the sender.
        from: String,
        /// The message.
        message: String,
    },
    /// A message is sent and received in one step.
    Exchanged {
        /// Id of the sender.
        from: String,
        /// Id of the receiver.
        to: String,
        /// The message.
        message: String,
    },
}

/// The way in which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In a final state: each agent has finished or is an idle server, and no message is under way.
    Final,
    /// In a deadlock: no event is possible, and the state is not final.
    Stuck,
    /// The run does not end: it repeats its loop forever.
    Loop,
    /// After a step that decides the verdict, however the run continues.
    Decided,
    /// In a state from which several runs together decide the verdict.
    Open,
}

impl End {
    /// Returns the word that reports use.
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

/// A run that is evidence for a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The agents, in the order of the team.
    pub agents: Vec<String>,
    /// The role in which each agent starts; several roles are joined by `par`.
    pub roles: Vec<String>,
    /// For each agent, whether it has finished or is an idle server at the end of the run.
    pub rests: Vec<bool>,
    /// The events of the run.
    pub events: Vec<Event>,
    /// For an infinite run, the index of the first event of its loop.
    pub loop_at: Option<usize>,
    /// How the run ends.
    pub end: End,
    /// If the run ends in a deadlock, why each agent is stuck.
    pub blame: Vec<String>,
}

impl System {
    /// Returns the ids of the team.
    pub fn team(&self) -> Vec<String> {
        self.program.agents.iter().map(|agent| self.terms.text(agent.id)).collect()
    }

    /// Returns the trace of a play.
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

    /// Finds the event that sent each message that is received. Equal messages are received in the order in
    /// which they were sent.
    fn find_sendings(&self, play: &Play, events: &mut [Event]) {
        let mut under_way: Vec<(u32, usize)> = Vec::new();
        let mut before = play.start;
        for (index, step) in play.steps.iter().enumerate() {
            let (old, new) = (self.parts(before).1, self.parts(step.to).1);
            if let Some(message) = extra(new, old) {
                under_way.push((message, index));
            } else if let Some(message) = extra(old, new)
                && let Some(found) = under_way.iter().position(|(other, _)| *other == message)
            {
                events[index].sent = Some(under_way.remove(found).1);
            }
            before = step.to;
        }
    }

    /// Whether a state is a deadlock: it has no transitions and is not final.
    pub fn is_stuck(&mut self, state: StateId) -> bool {
        let mut n_steps = 0;
        let complete = masque_mu::Lts::successors(self, state, &mut |_, _| n_steps += 1);
        n_steps == 0 && complete == masque_mu::Completeness::Complete && !self.is_final(state)
    }

    /// Returns the event of a label.
    pub fn event(&self, label: LabelId) -> Event {
        let text = |term: TermId| self.terms.shape(term);
        let arg = |label: TermId, index: usize| self.terms.arg(label, index);
        let because = |label: TermId| self.terms.args(arg(label, 5)).iter().map(|term| text(*term));
        let known = |id: TermId| if self.terms.is_ground(id) { text(id) } else { String::new() };
        let (action, reasons) = match self.label_term(label) {
            LabelTerm::Own(own) => {
                let by = text(arg(own, 4));
                let (message, peer) = (text(arg(own, 0)), known(arg(own, 2)));
                let action = match self.terms.symbol(own) {
                    Some(Symbol::SENT) => EventAction::Sent { by, to: peer, message },
                    Some(Symbol::TAKEN) => EventAction::Taken { by, from: peer, message },
                    _ => EventAction::Internal { by },
                };
                (action, because(own).collect())
            }
            LabelTerm::Tau(sent, taken) => {
                let (from, to) = (text(arg(sent, 4)), text(arg(taken, 4)));
                let action = EventAction::Exchanged { from, to, message: text(arg(taken, 0)) };
                (action, because(sent).chain(because(taken)).collect())
            }
        };
        Event { action, because: reasons, sent: None, label: self.label_text(label) }
    }
}

/// Returns the element that the first of two sorted lists has and the second has not; `None` if the first is
/// not longer.
fn extra(longer: &[u32], shorter: &[u32]) -> Option<u32> {
    if longer.len() <= shorter.len() {
        return None;
    }
    let n_equal = longer.iter().zip(shorter).take_while(|(one, other)| one == other).count();
    longer.get(n_equal).copied()
}
