//! The system of all agents: section 6.2 and the bounds of 6.3.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::instance::Instance;
use super::label::Act;
use super::sat::{Bounded, Knowledge};
use super::step::{Actor, Kind, Message, Step};
use super::term::{Canon, Process, Subst, Term, process_text, text};
use crate::options::Comm;
use crate::tree::Tree;

/// An instance, executed by the definition.
pub struct Reference {
    knowledge: Knowledge,
}

/// One process per agent, and the messages under way in the order of their text.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    processes: Vec<Process>,
    mail: Vec<Message>,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The label as text.
    pub label: String,
    /// The sides of the label: one, or two for a handshake.
    pub acts: Vec<Act>,
    /// The state after the transition.
    pub target: State,
}

/// A message, and the constraints that allowed its sender to send it.
struct Offer {
    message: Message,
    used: Vec<Term>,
}

/// A step with its substitution applied and its variables numbered.
struct FinishedStep {
    act: Act,
    /// For a receipt, or an exchange of two parts of the agent, the sender's side of the label of a handshake.
    sending: Option<Act>,
    rest: Process,
    sent: Option<Offer>,
}

impl Reference {
    /// Makes the instance of trees that have no errors. `now` and `mail` statements are ignored.
    pub fn new(trees: &[Tree]) -> Reference {
        let knowledge = Knowledge {
            instance: Instance::new(trees),
            conflicts: RefCell::new(BTreeSet::new()),
            unknown: RefCell::new(BTreeSet::new()),
            next: Cell::new(0),
            n_entered: Cell::new(0),
        };
        Reference { knowledge }
    }

    /// Returns the initial state.
    pub fn initial(&self) -> State {
        let members = &self.knowledge.instance.members;
        State { processes: members.iter().map(|member| canonical(&member.start)).collect(), mail: Vec::new() }
    }

    /// Returns a state as text. Texts are equal if and only if the states are equal up to the names of
    /// variables.
    pub fn text(&self, state: &State) -> String {
        let processes: Vec<String> = state.processes.iter().map(process_text).collect();
        let mail: Vec<String> = state.mail.iter().map(message_text).collect();
        format!("{} | {}", processes.join(" ; "), mail.join(" ; "))
    }

    /// Whether a state is final: section 6.2, Ends.
    pub fn is_final(&self, state: &State) -> bool {
        let members = self.knowledge.instance.members.iter().zip(&state.processes);
        state.mail.is_empty()
            && members.into_iter().all(|(member, process)| {
                *process == Process::Nil || (member.is_server && *process == canonical(&member.start))
            })
    }

    /// Whether an agent has finished; `None` if it is not in the team.
    pub fn is_done(&self, state: &State, id: &str) -> Option<bool> {
        let index = self.knowledge.instance.members.iter().position(|member| member.id == id)?;
        Some(state.processes[index] == Process::Nil)
    }

    /// Returns the actions found so far that are both permitted and forbidden.
    pub fn conflicts(&self) -> Vec<String> {
        self.knowledge.conflicts.borrow().iter().cloned().collect()
    }

    /// Returns the constraints tried so far about which the acting agent has no facts, choices or rules.
    pub fn unknown_constraints(&self) -> Vec<String> {
        self.knowledge.unknown.borrow().iter().cloned().collect()
    }

    /// Returns all transitions, each once, and whether a bound of section 6.3 hides some.
    pub fn successors(&self, state: &State) -> Bounded<(Vec<Transition>, bool)> {
        let mut found: BTreeMap<(String, String), Transition> = BTreeMap::new();
        let mut is_cut = false;
        let mut add = |acts: Vec<Act>, target: State| {
            let label = acts.iter().map(Act::text).collect::<Vec<_>>().join(" / ");
            let key = (label.clone(), self.text(&target));
            found.entry(key).or_insert(Transition { label, acts, target });
        };
        let members = &self.knowledge.instance.members;
        for (index, process) in state.processes.iter().enumerate() {
            let (steps, hidden) = self.finished_steps(index, process, None)?;
            is_cut |= hidden;
            for done in steps {
                let mut target = state.clone();
                target.processes[index] = done.rest.clone();
                match (&done.sent, self.knowledge.instance.options.comm) {
                    (None, _) => add(done.sending.into_iter().chain([done.act]).collect(), target),
                    (Some(_), Comm::Mailbox)
                        if state.mail.len() >= self.knowledge.instance.options.cap as usize =>
                    {
                        is_cut = true;
                    }
                    (Some(offer), Comm::Mailbox) => {
                        target.mail.push(offer.message.clone());
                        target.mail.sort_by_key(message_text);
                        add(vec![done.act], target);
                    }
                    (Some(offer), Comm::Sync) => {
                        for other in (0..members.len()).filter(|other| *other != index) {
                            let (taken, hidden) =
                                self.finished_steps(other, &state.processes[other], Some(offer))?;
                            is_cut |= hidden && reaches(&offer.message, &members[other].id);
                            for taken in taken {
                                let mut target = target.clone();
                                target.processes[other] = taken.rest;
                                add(taken.sending.into_iter().chain([taken.act]).collect(), target);
                            }
                        }
                    }
                }
            }
        }
        if self.knowledge.instance.options.comm == Comm::Mailbox {
            for (mail_index, message) in state.mail.iter().enumerate() {
                let offer = Offer { message: message.clone(), used: Vec::new() };
                for (index, process) in state.processes.iter().enumerate() {
                    let (steps, hidden) = self.finished_steps(index, process, Some(&offer))?;
                    is_cut |= hidden && reaches(message, &members[index].id);
                    for done in steps {
                        let mut target = state.clone();
                        target.processes[index] = done.rest;
                        target.mail.remove(mail_index);
                        add(vec![done.act], target);
                    }
                }
            }
        }
        Ok((found.into_values().collect(), is_cut))
    }

    /// Returns the steps of one agent, and whether a bound hides some.
    fn finished_steps(
        &self,
        index: usize,
        process: &Process,
        offered: Option<&Offer>,
    ) -> Bounded<(Vec<FinishedStep>, bool)> {
        let member = &self.knowledge.instance.members[index];
        // The variables of a process are numbered from 0; renamed variables start above them.
        self.knowledge.next.set(10_000);
        self.knowledge.n_entered.set(0);
        let (mut message, mut used) = (None, Vec::new());
        if let Some(offer) = offered {
            let mut renamed =
                self.knowledge.rename(&offer.message.iter().chain(&offer.used).collect::<Vec<_>>());
            used = renamed.split_off(5);
            message = Message::try_from(renamed).ok();
        }
        let actor = Actor { id: &member.id, offered: message.as_ref() };
        let no_role = Term::op("nil", Vec::new());
        let steps = self.knowledge.steps(actor, process, &no_role, &Subst::new(), &[])?;
        let mut is_cut = false;
        let mut done = Vec::new();
        for step in steps {
            match self.finish(&member.id, step, &used) {
                Some(step) => done.push(step),
                None => is_cut = true,
            }
        }
        Ok((done, is_cut))
    }

    /// Applies the substitution and numbers the variables; `None` if a bound is exceeded. For a receipt,
    /// `sender_used` are the constraints that allowed the sender to send the message.
    fn finish(&self, id: &str, step: Step, sender_used: &[Term]) -> Option<FinishedStep> {
        let theta = &step.theta;
        let all = |terms: &[Term]| -> Vec<Term> { terms.iter().map(|term| term.apply(theta)).collect() };
        let rest = canonical(&step.rest.map(&mut |term| term.apply(theta)));
        let id = Term::App(id.to_string(), Vec::new());
        let options = &self.knowledge.instance.options;
        // An exchange of two parts of the agent has a receipt and, below, the sending.
        let kind = if step.kind == Kind::Exchanged { Kind::Taken } else { step.kind };
        let act = Act::new(kind, all(&step.what), step.role.apply(theta), id, all(&step.used));
        let sender_used = if step.kind == Kind::Exchanged { &step.sender_used } else { sender_used };
        let (mut sent, mut sending) = (None, None);
        match (kind, act.what.as_slice()) {
            (Kind::Sent, [m, r, j]) => {
                let mut canon = Canon::default();
                let message = [&act.role, &act.id, r, j, m].map(|term| canon.term(term));
                sent = Some(Offer { message, used: act.used.iter().map(|term| canon.term(term)).collect() });
            }
            // Both sides of a handshake have the message as received, and the actual roles and ids.
            (Kind::Taken, [m, from_role, from]) => {
                let what = vec![m.clone(), act.role.clone(), act.id.clone()];
                sending = Some(Act::new(Kind::Sent, what, from_role.clone(), from.clone(), all(sender_used)));
            }
            _ => {}
        }
        let is_bounded = matches!(step.kind, Kind::Sent | Kind::Exchanged);
        let is_deep = is_bounded && act.what[0].depth() > options.depth;
        if rest.size() > options.psize || is_deep {
            return None;
        }
        Some(FinishedStep { act, sending, rest, sent })
    }
}

/// Whether a message may reach an agent by its address.
fn reaches(message: &Message, id: &str) -> bool {
    matches!(&message[3], Term::Var(_)) || text(&message[3]) == id
}

fn canonical(process: &Process) -> Process {
    let mut canon = Canon::default();
    process.map(&mut |term| canon.term(term))
}

fn message_text(message: &Message) -> String {
    let [from_role, from, to_role, to, content] = message;
    let agent = |role: &Term, id: &Term| format!("a({},{})", text(role), text(id));
    format!("{} -> {} : {}", agent(from_role, from), agent(to_role, to), text(content))
}
