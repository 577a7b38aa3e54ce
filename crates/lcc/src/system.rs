//! The system of all agents: an on-the-fly transition system.
//!
//! A state is one process per agent and the bag of messages under way, as a row of numbers. What
//! an agent can do depends on its own process and the message it is offered, so it is computed
//! once per local situation; a global state only combines what is known. That is where the time
//! goes that a direct reading would take: policies and constraints are evaluated hundreds of
//! times, not millions.
//!
//! The order of a state's transitions does not depend on what was explored before: agents come in the
//! order of the team, messages in that of [`MailOrder`]. So a property that is stopped by a bound has
//! looked into the same states, whatever was checked before it.

use masque_mu::{AtomId, Completeness, LabelId, Lts, PatternId, StateId};
use masque_verdict::{Budget, Stop};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::entry::Entry;
use crate::handshake::as_exchanged;
use crate::mail::MailOrder;
use crate::options::{Comm, Options};
use crate::program::Program;
use crate::resolve::{Consulted, Findings};
use crate::situations::{Move, Outcome, Situations};
use crate::step::{Situation, steps, why_stuck};
use crate::store::Rows;
use crate::symbol::Symbol;
use crate::term::{TermId, Terms};
use crate::vocabulary::{Atom, Pattern};

/// A label: one agent's, or in synchronous communication those of the sender and the receiver, which
/// name the same message and the same two agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LabelTerm {
    Own(TermId),
    Tau(TermId, TermId),
}

/// A step that stands alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnlyStep {
    pub(crate) label: LabelId,
    pub(crate) target: StateId,
    pub(crate) is_sending: bool,
}

/// An instance as a transition system.
#[derive(Clone, Debug)]
pub struct System {
    pub(crate) program: Program,
    pub(crate) terms: Terms,
    pub(crate) order: MailOrder,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) atoms: Vec<Atom>,
    states: Rows,
    labels: Vec<LabelTerm>,
    label_ids: FxHashMap<LabelTerm, LabelId>,
    /// The label of a handshake, by the labels of the sending and of the receipt.
    handshakes: FxHashMap<(LabelId, LabelId), LabelId>,
    pub(crate) situations: Situations,
    in_role: FxHashMap<(TermId, TermId), bool>,
    initial: StateId,
    /// The row being built.
    row: Vec<u32>,
}

impl System {
    pub(crate) fn new(program: Program, terms: Terms) -> System {
        let mut states = Rows::default();
        let order = MailOrder::new(&program);
        let initial = StateId(states.insert(&first_row(&program, &terms, &order)));
        System {
            order,
            program,
            terms,
            patterns: Vec::new(),
            atoms: Vec::new(),
            states,
            labels: Vec::new(),
            label_ids: FxHashMap::default(),
            handshakes: FxHashMap::default(),
            situations: Situations::default(),
            in_role: FxHashMap::default(),
            initial,
            row: Vec::new(),
        }
    }

    /// Forgets everything but the state it is in.
    pub(crate) fn forget(&mut self) {
        let row = self.states.row(self.initial.0).to_vec();
        self.forget_states();
        self.initial = StateId(self.states.insert(&row));
        self.labels.clear();
        self.label_ids.clear();
        self.handshakes.clear();
        self.situations.clear();
    }

    fn forget_states(&mut self) {
        self.states.clear();
    }

    /// Goes on with other rules and facts, which differ in these statements: how many local
    /// situations depend on them.
    pub(crate) fn change(&mut self, program: Program, entries: &[Entry]) -> usize {
        self.program = program;
        self.situations.touch(entries)
    }

    /// Goes on with another team, and with its rules and facts: where that begins.
    pub(crate) fn recast(&mut self, program: Program) {
        self.order = MailOrder::new(&program);
        self.program = program;
        self.forget_states();
        let row = first_row(&self.program, &self.terms, &self.order);
        self.initial = StateId(self.states.insert(&row));
        self.situations.touch_all();
    }

    /// Goes to a state.
    pub(crate) fn go(&mut self, state: StateId) {
        self.initial = state;
    }

    /// Goes to the state with these processes and this mail.
    pub(crate) fn go_to(&mut self, processes: &[TermId], mail: &[TermId]) {
        let mut mail: Vec<u32> = mail.iter().map(|message| message.0).collect();
        self.order.sort(&self.terms, &mut mail);
        let row: Vec<u32> = processes.iter().map(|process| process.0).chain(mail).collect();
        self.initial = StateId(self.states.insert(&row));
    }

    /// What changes the meaning of the instance.
    pub fn options(&self) -> &Options {
        &self.program.options
    }

    /// How many states have been met.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// How many labels have been met.
    pub fn n_labels(&self) -> usize {
        self.labels.len()
    }

    /// How many local situations have been looked into.
    pub fn n_situations(&self) -> usize {
        self.situations.len()
    }

    /// What was both permitted and forbidden, as `(subject,object,±action)`, in what has been
    /// explored.
    pub fn conflicts(&self) -> Vec<String> {
        Findings::all(self.situations.findings()).conflicts.into_iter().collect()
    }

    /// The constraints that were tried where nobody could tell, as `agent: name/arity`, in what
    /// has been explored.
    pub fn unknown_constraints(&self) -> Vec<String> {
        Findings::all(self.situations.findings()).unknown.into_iter().collect()
    }

    /// How many of the local situations looked into depend on what anybody knows of a predicate, or
    /// on the rules for an action of that name: a change of either leaves all others as they are.
    pub fn n_depending(&self, name: &str, arity: u32) -> usize {
        let is_it = |consulted: Consulted| {
            let (Consulted::Known(_, functor) | Consulted::Policy(functor)) = consulted;
            functor.arity == arity && self.terms.symbols.name(functor.name) == name
        };
        self.situations.consulted().filter_map(|mut consulted| consulted.find(|on| is_it(*on))).count()
    }

    /// The bytes this takes, roughly.
    pub fn bytes(&self) -> u64 {
        let labels = (self.labels.capacity() * 2 * size_of::<LabelTerm>()) as u64;
        self.states.bytes() + self.terms.bytes() + self.situations.bytes() + labels
    }

    pub(crate) fn label_term(&self, label: LabelId) -> LabelTerm {
        self.labels[label.index()]
    }

    /// The processes of a state, agent by agent, and the messages under way.
    pub(crate) fn parts(&self, state: StateId) -> (&[u32], &[u32]) {
        self.states.row(state.0).split_at(self.program.agents.len())
    }

    /// The state with this row: a process for each agent, and the messages under way in order.
    pub(crate) fn state(&mut self, row: &[u32]) -> StateId {
        StateId(self.states.insert(row))
    }

    /// The place of an agent in the team.
    pub(crate) fn agent_index(&self, id: TermId) -> Option<u32> {
        self.program.agents.iter().position(|agent| agent.id == id).map(|at| at as u32)
    }

    /// The number of a situation, whose outcome is known from now on.
    fn situation(&mut self, agent: u32, process: TermId, message: Option<TermId>) -> u32 {
        let actor = self.program.agents[agent as usize].owner;
        let at = Situation { actor, process, message };
        match self.situations.find(at) {
            Some(number) if !self.situations.is_stale(number) => number,
            Some(number) => {
                self.renew(number);
                number
            }
            None => {
                let outcome = self.look_into(at);
                self.situations.insert(at, outcome)
            }
        }
    }

    /// Finds out what an agent can do.
    fn look_into(&mut self, at: Situation) -> Outcome {
        let mut findings = Findings::default();
        let found = steps(&self.program, &mut self.terms, &mut findings, at);
        let (labels, label_ids) = (&mut self.labels, &mut self.label_ids);
        let label = |label| label_id(labels, label_ids, LabelTerm::Own(label));
        self.situations.record(&self.program, found, findings, label)
    }

    /// Finds out what an agent can do where that may have changed.
    fn renew(&mut self, number: u32) {
        if !self.situations.restore(&self.program, number) {
            let outcome = self.look_into(self.situations.situation(number));
            self.situations.replace(number, outcome);
        }
    }

    /// Looks again into all situations that depend on something that has changed. The answer has
    /// those in which the agents can do something else now.
    pub(crate) fn refresh(&mut self, budget: &Budget) -> Result<Vec<u32>, Stop> {
        while let Some(number) = self.situations.next_stale() {
            budget.check()?;
            self.renew(number);
        }
        Ok(self.situations.take_changed())
    }

    /// The states that may have one of these situations.
    pub(crate) fn states_with(&self, situations: &[u32]) -> Vec<StateId> {
        let mut is_process: Vec<bool> = Vec::new();
        let mut messages: FxHashMap<(u32, u32), Vec<Option<u32>>> = FxHashMap::default();
        for number in situations {
            let Situation { actor, process, message } = self.situations.situation(*number);
            let Some(agent) = self.program.agents.iter().position(|agent| agent.owner == actor) else {
                continue;
            };
            let place = process.0 as usize;
            is_process.resize(is_process.len().max(place + 1), false);
            is_process[place] = true;
            // Where messages are exchanged in one step, a state does not show what is offered.
            let message = message.filter(|_| self.program.options.comm == Comm::Mailbox);
            messages.entry((agent as u32, process.0)).or_default().push(message.map(|message| message.0));
        }
        let has_one = |state: &StateId| {
            let (processes, mail) = self.parts(*state);
            processes.iter().enumerate().any(|(agent, process)| {
                is_process.get(*process as usize) == Some(&true)
                    && messages.get(&(agent as u32, *process)).is_some_and(|messages| {
                        messages.iter().any(|message| message.is_none_or(|message| mail.contains(&message)))
                    })
            })
        };
        (0..self.states.len() as u32).map(StateId).filter(has_one).collect()
    }

    pub(crate) fn has_no_findings(&self) -> bool {
        self.situations.findings().next().is_none()
    }

    /// What is to be reported of the situations of these states.
    pub(crate) fn findings_of(&self, states: &[StateId]) -> Findings {
        let mut seen = FxHashSet::default();
        for state in states {
            let (processes, mail) = self.parts(*state);
            let own = |agent: usize, message: Option<TermId>| {
                let (actor, process) = (self.program.agents[agent].owner, TermId(processes[agent]));
                self.situations.find(Situation { actor, process, message })
            };
            let mut offered: Vec<TermId> = mail.iter().map(|message| TermId(*message)).collect();
            for number in (0..processes.len()).filter_map(|agent| own(agent, None)) {
                seen.insert(number);
                if self.program.options.comm == Comm::Sync {
                    offered.extend(self.situations.outcome(number).moves.iter().filter_map(|one| one.sent));
                }
            }
            for message in offered {
                let takers = self.receivers(message).filter_map(|agent| own(agent as usize, Some(message)));
                seen.extend(takers);
            }
        }
        Findings::all(seen.iter().filter_map(|number| self.situations.outcome(*number).findings.as_deref()))
    }

    /// What an agent can do by itself.
    fn own_moves(&mut self, agent: u32, process: TermId) -> u32 {
        self.situation(agent, process, None)
    }

    /// What an agent can do with a message.
    fn taking_moves(&mut self, agent: u32, process: TermId, message: TermId) -> u32 {
        self.situation(agent, process, Some(message))
    }

    /// The agents that a message may reach: one, or all if it is addressed to nobody by name.
    fn receivers(&self, message: TermId) -> std::ops::Range<u32> {
        let to = self.terms.arg(message, 3);
        match self.terms.is_ground(to) {
            true => self.agent_index(to).map_or(0..0, |agent| agent..agent + 1),
            false => 0..self.program.agents.len() as u32,
        }
    }

    fn mailbox_successors(
        &mut self,
        state: StateId,
        step: &mut dyn FnMut(LabelId, StateId),
    ) -> Option<&'static str> {
        let n_agents = self.program.agents.len();
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend_from_slice(self.states.row(state.0));
        let mut cut = None;
        let mut next: Vec<u32> = Vec::with_capacity(row.len() + 1);
        for agent in 0..n_agents {
            let situation = self.own_moves(agent as u32, TermId(row[agent]));
            cut = cut.or(self.situations.outcome(situation).cut);
            for at in 0..self.situations.outcome(situation).moves.len() {
                let Move { label, rest, sent } = self.situations.outcome(situation).moves[at];
                next.clear();
                next.extend_from_slice(&row);
                next[agent] = rest.0;
                if let Some(message) = sent {
                    if row.len() - n_agents >= self.program.options.cap as usize {
                        cut = cut.or(Some("cap"));
                        continue;
                    }
                    let at = self.order.place(&self.terms, &row[n_agents..], message);
                    next.insert(n_agents + at, message.0);
                }
                step(label, StateId(self.states.insert(&next)));
            }
        }
        for at in n_agents..row.len() {
            if at > n_agents && row[at] == row[at - 1] {
                continue;
            }
            let message = TermId(row[at]);
            for agent in self.receivers(message) {
                let situation = self.taking_moves(agent, TermId(row[agent as usize]), message);
                cut = cut.or(self.situations.outcome(situation).cut);
                for taking in 0..self.situations.outcome(situation).moves.len() {
                    let Move { label, rest, .. } = self.situations.outcome(situation).moves[taking];
                    next.clear();
                    next.extend_from_slice(&row);
                    next[agent as usize] = rest.0;
                    next.remove(at);
                    step(label, StateId(self.states.insert(&next)));
                }
            }
        }
        self.row = row;
        cut
    }

    /// The step of an agent that can do nothing now or later but this, if it crosses no bound.
    pub(crate) fn only_step(&mut self, state: StateId, agent: usize) -> Option<OnlyStep> {
        let n_agents = self.program.agents.len();
        let process = TermId(self.states.row(state.0)[agent]);
        let situation = self.own_moves(agent as u32, process);
        let outcome = self.situations.outcome(situation);
        let &[Move { label, rest, sent }] = &*outcome.moves else { return None };
        if outcome.is_waiting || outcome.cut.is_some() {
            return None;
        }
        let mut row = self.states.row(state.0).to_vec();
        row[agent] = rest.0;
        if let Some(message) = sent {
            if row.len() - n_agents >= self.program.options.cap as usize {
                return None;
            }
            let at = self.order.place(&self.terms, &row[n_agents..], message);
            row.insert(n_agents + at, message.0);
        }
        let target = StateId(self.states.insert(&row));
        Some(OnlyStep { label, target, is_sending: sent.is_some() })
    }

    /// The labels of what an agent can do by itself, if these are all known.
    pub(crate) fn own_labels(&mut self, agent: usize, process: TermId) -> Option<Vec<LabelId>> {
        let situation = self.own_moves(agent as u32, process);
        let outcome = self.situations.outcome(situation);
        outcome.cut.is_none().then(|| outcome.moves.iter().map(|one| one.label).collect())
    }

    fn sync_successors(
        &mut self,
        state: StateId,
        step: &mut dyn FnMut(LabelId, StateId),
    ) -> Option<&'static str> {
        let n_agents = self.program.agents.len();
        let row = self.states.row(state.0).to_vec();
        let mut cut = None;
        // Different sendings may be taken as the same message: that is one transition.
        let mut exchanged: FxHashSet<(LabelId, StateId)> = FxHashSet::default();
        for agent in 0..n_agents {
            let situation = self.own_moves(agent as u32, TermId(row[agent]));
            cut = cut.or(self.situations.outcome(situation).cut);
            for at in 0..self.situations.outcome(situation).moves.len() {
                let Move { label, rest, sent } = self.situations.outcome(situation).moves[at];
                let mut next = row.clone();
                next[agent] = rest.0;
                let Some(message) = sent else {
                    step(label, StateId(self.states.insert(&next)));
                    continue;
                };
                for other in self.receivers(message).filter(|other| *other as usize != agent) {
                    let other_process = TermId(row[other as usize]);
                    let situation = self.taking_moves(other, other_process, message);
                    cut = cut.or(self.situations.outcome(situation).cut);
                    for taking in 0..self.situations.outcome(situation).moves.len() {
                        let Move { label: taken, rest, .. } =
                            self.situations.outcome(situation).moves[taking];
                        next[other as usize] = rest.0;
                        let target = StateId(self.states.insert(&next));
                        next[other as usize] = other_process.0;
                        let both = self.handshake(label, taken);
                        if exchanged.insert((both, target)) {
                            step(both, target);
                        }
                    }
                }
            }
        }
        cut
    }

    /// The label of a handshake between the agents with these labels.
    fn handshake(&mut self, sent: LabelId, taken: LabelId) -> LabelId {
        if let Some(known) = self.handshakes.get(&(sent, taken)) {
            return *known;
        }
        let both = match (self.label_term(sent), self.label_term(taken)) {
            (LabelTerm::Own(sent), LabelTerm::Own(taken)) => {
                LabelTerm::Tau(as_exchanged(&mut self.terms, sent, taken), taken)
            }
            (other, _) => other,
        };
        let both = label_id(&mut self.labels, &mut self.label_ids, both);
        self.handshakes.insert((sent, taken), both);
        both
    }

    /// Why nothing happens in a state: what each agent that has not finished waits for or may not
    /// do, and the messages that nobody takes.
    pub fn blame(&mut self, state: StateId) -> Vec<String> {
        let row = self.states.row(state.0).to_vec();
        let (processes, mail) = row.split_at(self.program.agents.len());
        let mut reasons = Vec::new();
        for (agent, process) in processes.iter().enumerate() {
            if self.is_done(state, agent) || self.is_idle(state, agent) {
                continue;
            }
            let actor = self.program.agents[agent].owner;
            let at = Situation { actor, process: TermId(*process), message: None };
            reasons.extend(why_stuck(&self.program, &mut self.terms, at));
        }
        let mail = mail.iter().map(|message| format!("nobody takes {}", self.terms.text(TermId(*message))));
        reasons.extend(mail);
        reasons
    }

    pub(crate) fn is_idle(&self, state: StateId, agent: usize) -> bool {
        let def = &self.program.agents[agent];
        def.is_server && self.parts(state).0[agent] == def.start.0
    }

    pub(crate) fn is_done(&self, state: StateId, agent: usize) -> bool {
        self.terms.symbol(TermId(self.parts(state).0[agent])) == Some(Symbol::NIL)
    }

    /// No mail, and everybody has finished or rests.
    pub fn is_final(&self, state: StateId) -> bool {
        let n_agents = self.program.agents.len();
        self.parts(state).1.is_empty()
            && (0..n_agents).all(|agent| self.is_done(state, agent) || self.is_idle(state, agent))
    }
}

/// Where a team begins.
fn first_row(program: &Program, terms: &Terms, order: &MailOrder) -> Vec<u32> {
    let mut mail: Vec<u32> = program.mail.iter().map(|message| message.0).collect();
    order.sort(terms, &mut mail);
    program.agents.iter().map(|agent| agent.now.0).chain(mail).collect()
}

/// The number of a label, new or not.
fn label_id(
    labels: &mut Vec<LabelTerm>,
    ids: &mut FxHashMap<LabelTerm, LabelId>,
    label: LabelTerm,
) -> LabelId {
    let next = LabelId(labels.len() as u32);
    let id = *ids.entry(label).or_insert(next);
    if id == next {
        labels.push(label);
    }
    id
}

impl Lts for System {
    fn initial(&mut self) -> StateId {
        self.initial
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        let cut = match self.program.options.comm {
            Comm::Mailbox => self.mailbox_successors(state, step),
            Comm::Sync => self.sync_successors(state, step),
        };
        match cut {
            Some(bound) => Completeness::Cut(bound),
            None => Completeness::Complete,
        }
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        match self.atoms[atom.index()] {
            Atom::Final => self.is_final(state),
            Atom::Done(agent) => self.is_done(state, agent as usize),
            Atom::Idle(agent) => self.is_idle(state, agent as usize),
            Atom::At(agent, role) => {
                let process = TermId(self.parts(state).0[agent as usize]);
                if let Some(known) = self.in_role.get(&(process, role)) {
                    return *known;
                }
                let is_in = self.is_in_role(process, role);
                self.in_role.insert((process, role), is_in);
                is_in
            }
        }
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        let pattern = self.patterns[pattern.index()].clone();
        self.label_matches(self.label_term(label), &pattern)
    }

    fn most_states(&self) -> u64 {
        u64::from(self.program.options.states)
    }
}
