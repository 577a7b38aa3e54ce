//! The transition system of all agents, explored on the fly.
//!
//! A state is a row of term ids: one process per agent, then the messages under way. What an agent can do
//! depends on its own process and on the message it is offered, so it is computed once per local situation,
//! and a global state only combines these results. So policies and constraints are evaluated hundreds of
//! times where a direct implementation would evaluate them millions of times.
//!
//! The order of a state's transitions does not depend on what was explored before: agents come in the order
//! of the team, messages in that of [`MailOrder`]. So a property that is stopped by a bound has visited the
//! same states, no matter which properties were checked before it.

use masque_mu::{AtomId, BindingId, Completeness, LabelId, Lts, PatternId, StateId};
use masque_text::ReadLimits;
use masque_verdict::{Budget, Stop};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bound_values::BoundValues;
use crate::entry::Entry;
use crate::handshake::as_exchanged;
use crate::mail_order::MailOrder;
use crate::options::{Comm, Options};
use crate::program::Program;
use crate::resolve::{Consulted, Findings};
use crate::rows::Rows;
use crate::situations::{Move, Outcome, Situations};
use crate::step::{Situation, steps};
use crate::symbol::Symbol;
use crate::term::{TermId, Terms};
use crate::vocabulary::{Atom, Pattern};
use crate::watch::{STEPS_PER_SITUATION, Watch};

/// Number of words of a state's row that are as much work to copy as one step.
const WORDS_PER_STEP: usize = 32;

/// A label: one side, or the sides of sender and receiver of a handshake, which have the same message and
/// name the same two agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LabelTerm {
    Own(TermId),
    Tau(TermId, TermId),
}

/// The only step of an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleStep {
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
    /// The values of the variables that the patterns of obligations share.
    pub(crate) bound_values: BoundValues,
    states: Rows,
    pub(crate) labels: Vec<LabelTerm>,
    pub(crate) label_ids: FxHashMap<LabelTerm, LabelId>,
    /// The label of a handshake, by the labels of the sending and of the receipt.
    handshakes: FxHashMap<(LabelId, LabelId), LabelId>,
    pub(crate) situations: Situations,
    /// For each process and role, whether the process is in the role.
    in_role: FxHashMap<(TermId, TermId), bool>,
    /// The initial state of a check: the current state of a session.
    initial: StateId,
    /// A buffer for the row of a state.
    row: Vec<u32>,
    /// The budget of the running check.
    watch: Watch,
    /// Limits on reading formulas.
    pub(crate) reading: ReadLimits,
    /// Estimated size of the program in bytes.
    program_bytes: u64,
}

impl System {
    pub(crate) fn new(program: Program, terms: Terms) -> System {
        let mut states = Rows::default();
        let order = MailOrder::new(&program);
        let initial = StateId(states.insert(&first_row(&program, &terms, &order)));
        System {
            program_bytes: program.bytes(),
            order,
            program,
            terms,
            patterns: Vec::new(),
            atoms: Vec::new(),
            bound_values: BoundValues::default(),
            states,
            labels: Vec::new(),
            label_ids: FxHashMap::default(),
            handshakes: FxHashMap::default(),
            situations: Situations::default(),
            in_role: FxHashMap::default(),
            initial,
            row: Vec::new(),
            watch: Watch::default(),
            reading: ReadLimits::default(),
        }
    }

    /// Sets the budget of the checks that follow. When it is over, [`Lts::successors`] lists no more
    /// transitions, and [`Lts::stopped`] gives the reason.
    pub fn set_budget(&mut self, budget: &Budget) {
        self.watch = Watch::new(budget);
    }

    /// Counts steps of work. Returns whether it may continue.
    #[inline]
    pub(crate) fn may_continue(&mut self, steps: usize) -> bool {
        if self.watch.is_due(steps) {
            self.watch.check(self.bytes());
        }
        self.watch.stopped().is_none()
    }

    /// Discards all states, labels and situations except the initial state.
    pub fn forget(&mut self) {
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

    /// Replaces the program by one that differs in these statements. Returns the number of local situations
    /// that depend on them.
    pub(crate) fn set_program(&mut self, program: Program, entries: &[Entry]) -> usize {
        self.program_bytes = program.bytes();
        self.program = program;
        self.situations.mark_stale(entries)
    }

    /// Replaces the program by one with another team, and starts in its initial state.
    pub(crate) fn set_team(&mut self, program: Program) {
        self.order = MailOrder::new(&program);
        self.program_bytes = program.bytes();
        self.program = program;
        self.forget_states();
        let row = first_row(&self.program, &self.terms, &self.order);
        self.initial = StateId(self.states.insert(&row));
        self.situations.mark_all_stale();
    }

    /// Returns the initial state.
    pub(crate) fn current(&self) -> StateId {
        self.initial
    }

    /// Makes this state the one in which checks begin.
    pub fn start_at(&mut self, state: StateId) {
        self.initial = state;
    }

    /// Sets the initial state to the one with these processes and messages.
    pub(crate) fn set_initial_parts(&mut self, processes: &[TermId], mail: &[TermId]) {
        let mut mail: Vec<u32> = mail.iter().map(|message| message.0).collect();
        self.order.sort(&self.terms, &mut mail);
        let row: Vec<u32> = processes.iter().map(|process| process.0).chain(mail).collect();
        self.initial = StateId(self.states.insert(&row));
    }

    /// Makes the state with these processes and messages the only one.
    pub(crate) fn start_in(&mut self, processes: &[TermId], mail: &[TermId]) {
        self.forget_states();
        self.set_initial_parts(processes, mail);
    }

    /// Returns the options of the instance.
    pub fn options(&self) -> &Options {
        &self.program.options
    }

    /// Number of states found so far.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// Number of labels found so far.
    pub fn n_labels(&self) -> usize {
        self.labels.len()
    }

    /// Number of local situations computed so far.
    pub fn n_situations(&self) -> usize {
        self.situations.len()
    }

    /// Returns the actions that are both permitted and forbidden, as `(subject,object,±action)`, in the
    /// explored states.
    pub fn conflicts(&self) -> Vec<String> {
        Findings::all(self.situations.findings()).conflicts.into_iter().collect()
    }

    /// Returns the constraints about which the acting agent has no facts, choices or rules, as
    /// `agent: name/arity`, in the explored states.
    pub fn unknown_constraints(&self) -> Vec<String> {
        Findings::all(self.situations.findings()).unknown.into_iter().collect()
    }

    /// Number of computed local situations that depend on facts about a predicate, or on rules for an action,
    /// of this name. A change of these does not affect any other situation.
    pub fn n_dependent_situations(&self, name: &str, arity: u32) -> usize {
        let is_it = |consulted: Consulted| {
            let (Consulted::Known(_, functor) | Consulted::Policy(functor)) = consulted;
            functor.arity == arity && self.terms.symbols.name(functor.name) == name
        };
        self.situations.consulted().filter_map(|mut consulted| consulted.find(|on| is_it(*on))).count()
    }

    /// Estimated size in bytes.
    pub fn bytes(&self) -> u64 {
        let labels = self.labels.capacity() * size_of::<LabelTerm>() + self.label_ids.capacity() * 20;
        let tables = self.handshakes.capacity() * 16 + self.in_role.capacity() * 16;
        let states = self.states.bytes() + self.situations.bytes() + (labels + tables) as u64;
        states + self.terms.bytes() + self.bound_values.bytes() + self.program_bytes
    }

    pub(crate) fn label_term(&self, label: LabelId) -> LabelTerm {
        self.labels[label.index()]
    }

    /// Returns the processes of a state, in the order of the team, and the messages under way.
    pub(crate) fn parts(&self, state: StateId) -> (&[u32], &[u32]) {
        self.states.row(state.0).split_at(self.program.agents.len())
    }

    /// Returns the state with this row: a process for each agent, then the messages under way, sorted.
    pub(crate) fn state(&mut self, row: &[u32]) -> StateId {
        StateId(self.states.insert(row))
    }

    /// Returns the index of an agent in the team.
    pub(crate) fn agent_index(&self, id: TermId) -> Option<u32> {
        self.program.agents.iter().position(|agent| agent.id == id).map(|index| index as u32)
    }

    /// Returns the index of a situation, after computing its outcome if necessary.
    fn situation(&mut self, agent: u32, process: TermId, message: Option<TermId>) -> u32 {
        let actor = self.program.agents[agent as usize].owner;
        let situation = Situation { actor, process, message };
        match self.situations.find(situation) {
            Some(index) if !self.situations.is_stale(index) => index,
            Some(index) => {
                self.update_outcome(index);
                index
            }
            None => {
                self.may_continue(STEPS_PER_SITUATION);
                let outcome = self.compute_outcome(situation);
                self.situations.insert(situation, outcome)
            }
        }
    }

    /// Computes the steps of an agent in a situation.
    fn compute_outcome(&mut self, situation: Situation) -> Outcome {
        let mut findings = Findings::default();
        let found = steps(&self.program, &mut self.terms, &mut findings, situation);
        let (labels, label_ids) = (&mut self.labels, &mut self.label_ids);
        let label = |label| label_id(labels, label_ids, label);
        self.situations.record(&self.program, found, findings, label)
    }

    /// Recomputes the outcome of a stale situation, or restores an earlier one.
    fn update_outcome(&mut self, index: u32) {
        if !self.situations.restore(&self.program, index) {
            let outcome = self.compute_outcome(self.situations.situation(index));
            self.situations.replace(index, outcome);
        }
    }

    /// Updates all stale situations. Returns those whose outcome has changed.
    pub(crate) fn refresh(&mut self, budget: &Budget) -> Result<Vec<u32>, Stop> {
        while let Some(index) = self.situations.next_stale() {
            budget.check()?;
            self.update_outcome(index);
        }
        Ok(self.situations.take_changed())
    }

    /// Returns the states in which one of these situations may occur.
    pub(crate) fn states_with(&self, situations: &[u32]) -> Vec<StateId> {
        let mut is_process: Vec<bool> = Vec::new();
        let mut messages: FxHashMap<(u32, u32), Vec<Option<u32>>> = FxHashMap::default();
        for index in situations {
            let Situation { actor, process, message } = self.situations.situation(*index);
            let Some(agent) = self.program.agents.iter().position(|agent| agent.owner == actor) else {
                continue;
            };
            let index = process.0 as usize;
            is_process.resize(is_process.len().max(index + 1), false);
            is_process[index] = true;
            // With synchronous communication, offered messages are not part of the state.
            let message = if self.program.options.comm == Comm::Mailbox { message } else { None };
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

    /// Merges the findings of the situations of these states.
    pub(crate) fn findings_of(&self, states: &[StateId]) -> Findings {
        let mut seen = FxHashSet::default();
        for state in states {
            let (processes, mail) = self.parts(*state);
            let own = |agent: usize, message: Option<TermId>| {
                let (actor, process) = (self.program.agents[agent].owner, TermId(processes[agent]));
                self.situations.find(Situation { actor, process, message })
            };
            let mut offered: Vec<TermId> = mail.iter().map(|message| TermId(*message)).collect();
            for index in (0..processes.len()).filter_map(|agent| own(agent, None)) {
                seen.insert(index);
                if self.program.options.comm == Comm::Sync {
                    offered.extend(self.situations.outcome(index).moves.iter().filter_map(|one| one.sent));
                }
            }
            for message in offered {
                let takers = self.receivers(message).filter_map(|agent| own(agent as usize, Some(message)));
                seen.extend(takers);
            }
        }
        Findings::all(seen.iter().filter_map(|index| self.situations.outcome(*index).findings.as_deref()))
    }

    /// Returns the situation with the internal steps and sendings of an agent.
    fn own_moves(&mut self, agent: u32, process: TermId) -> u32 {
        self.situation(agent, process, None)
    }

    /// Returns the situation with the receipts of a message by an agent.
    fn taking_moves(&mut self, agent: u32, process: TermId, message: TermId) -> u32 {
        self.situation(agent, process, Some(message))
    }

    /// Returns the agents that may receive a message: one, or all if it is addressed to no particular agent.
    fn receivers(&self, message: TermId) -> std::ops::Range<u32> {
        let to = self.terms.arg(message, 3);
        if self.terms.is_ground(to) {
            self.agent_index(to).map_or(0..0, |agent| agent..agent + 1)
        } else {
            0..self.program.agents.len() as u32
        }
    }

    /// Calls `visit` for each move of a situation in a state of `n_words` words, while the budget lasts. Returns the
    /// first bound that was exceeded, by the situation or by a visit.
    fn each_move(
        &mut self,
        situation: u32,
        n_words: usize,
        mut visit: impl FnMut(&mut Self, Move) -> Option<&'static str>,
    ) -> Option<&'static str> {
        let mut cut = self.situations.outcome(situation).cut;
        for index in 0..self.situations.outcome(situation).moves.len() {
            if !self.may_continue(1 + n_words / WORDS_PER_STEP) {
                break;
            }
            let one = self.situations.outcome(situation).moves[index];
            cut = cut.or(visit(self, one));
        }
        cut
    }

    /// Adds a message to the mailbox of a state. Returns false if it is full.
    fn put_into_mailbox(&self, row: &mut Vec<u32>, message: TermId) -> bool {
        let n_agents = self.program.agents.len();
        if row.len() - n_agents >= self.program.options.cap as usize {
            return false;
        }
        let index = self.order.index(&self.terms, &row[n_agents..], message);
        row.insert(n_agents + index, message.0);
        true
    }

    /// Lists the transitions of a state with mailbox communication. Returns the bound that was exceeded, if
    /// any.
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
            if !self.may_continue(1) {
                break;
            }
            let situation = self.own_moves(agent as u32, TermId(row[agent]));
            let bound = self.each_move(situation, row.len(), |system, Move { label, rest, sent }| {
                next.clear();
                next.extend_from_slice(&row);
                next[agent] = rest.0;
                if sent.is_some_and(|message| !system.put_into_mailbox(&mut next, message)) {
                    return Some("cap");
                }
                step(label, StateId(system.states.insert(&next)));
                None
            });
            cut = cut.or(bound);
        }
        for mail_index in n_agents..row.len() {
            if mail_index > n_agents && row[mail_index] == row[mail_index - 1] {
                continue;
            }
            let message = TermId(row[mail_index]);
            for agent in self.receivers(message) {
                if !self.may_continue(1 + row.len() / WORDS_PER_STEP) {
                    break;
                }
                let situation = self.taking_moves(agent, TermId(row[agent as usize]), message);
                let bound = self.each_move(situation, row.len(), |system, Move { label, rest, .. }| {
                    next.clear();
                    next.extend_from_slice(&row);
                    next[agent as usize] = rest.0;
                    next.remove(mail_index);
                    step(label, StateId(system.states.insert(&next)));
                    None
                });
                cut = cut.or(bound);
            }
        }
        self.row = row;
        cut
    }

    /// Returns the only step of an agent that has no other step and no receipt, unless a bound is exceeded.
    pub(crate) fn single_step(&mut self, state: StateId, agent: usize) -> Option<SingleStep> {
        let process = TermId(self.states.row(state.0)[agent]);
        let situation = self.own_moves(agent as u32, process);
        let outcome = self.situations.outcome(situation);
        let &[Move { label, rest, sent }] = &*outcome.moves else { return None };
        if outcome.is_waiting || outcome.cut.is_some() {
            return None;
        }
        let mut row = self.states.row(state.0).to_vec();
        row[agent] = rest.0;
        if sent.is_some_and(|message| !self.put_into_mailbox(&mut row, message)) {
            return None;
        }
        let target = StateId(self.states.insert(&row));
        Some(SingleStep { label, target, is_sending: sent.is_some() })
    }

    /// Returns the labels of the internal steps and sendings of an agent; `None` if a bound hides some.
    pub(crate) fn own_labels(&mut self, agent: usize, process: TermId) -> Option<Vec<LabelId>> {
        let situation = self.own_moves(agent as u32, process);
        let outcome = self.situations.outcome(situation);
        outcome.cut.is_none().then(|| outcome.moves.iter().map(|one| one.label).collect())
    }

    /// Lists the transitions of a state with synchronous communication. Returns the bound that was exceeded,
    /// if any.
    fn sync_successors(
        &mut self,
        state: StateId,
        step: &mut dyn FnMut(LabelId, StateId),
    ) -> Option<&'static str> {
        let n_agents = self.program.agents.len();
        let row = self.states.row(state.0).to_vec();
        let mut cut = None;
        // Handshakes of two parts of one agent are among its own moves: they need no other agent.
        // Different sendings may be received as the same message: that is one transition.
        let mut exchanged: FxHashSet<(LabelId, StateId)> = FxHashSet::default();
        for agent in 0..n_agents {
            if !self.may_continue(1) {
                break;
            }
            let situation = self.own_moves(agent as u32, TermId(row[agent]));
            let bound = self.each_move(situation, row.len(), |system, Move { label, rest, sent }| {
                let mut next = row.clone();
                next[agent] = rest.0;
                let Some(message) = sent else {
                    step(label, StateId(system.states.insert(&next)));
                    return None;
                };
                let mut cut = None;
                for other in system.receivers(message).filter(|other| *other as usize != agent) {
                    if !system.may_continue(1) {
                        break;
                    }
                    let other_process = TermId(row[other as usize]);
                    let situation = system.taking_moves(other, other_process, message);
                    let bound = system.each_move(situation, row.len(), |system, receipt| {
                        next[other as usize] = receipt.rest.0;
                        let target = StateId(system.states.insert(&next));
                        next[other as usize] = other_process.0;
                        let both = system.handshake(label, receipt.label);
                        if exchanged.insert((both, target)) {
                            step(both, target);
                        }
                        None
                    });
                    cut = cut.or(bound);
                }
                cut
            });
            cut = cut.or(bound);
        }
        cut
    }

    /// Returns the label of the handshake of a sending and a receipt.
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

    /// Whether an agent is a server in its first process.
    pub(crate) fn is_idle(&self, state: StateId, agent: usize) -> bool {
        let def = &self.program.agents[agent];
        def.is_server && self.parts(state).0[agent] == def.start.0
    }

    /// Whether an agent has finished.
    pub(crate) fn is_done(&self, state: StateId, agent: usize) -> bool {
        self.terms.symbol(TermId(self.parts(state).0[agent])) == Some(Symbol::NIL)
    }

    /// Whether a state is final: no message is under way, and each agent has finished or is an idle server.
    pub fn is_final(&self, state: StateId) -> bool {
        let n_agents = self.program.agents.len();
        self.parts(state).1.is_empty()
            && (0..n_agents).all(|agent| self.is_done(state, agent) || self.is_idle(state, agent))
    }
}

/// Returns the row of the initial state.
fn first_row(program: &Program, terms: &Terms, order: &MailOrder) -> Vec<u32> {
    let mut mail: Vec<u32> = program.mail.iter().map(|message| message.0).collect();
    order.sort(terms, &mut mail);
    program.agents.iter().map(|agent| agent.now.0).chain(mail).collect()
}

/// Returns the id of a label, which is added if it is new.
pub(crate) fn label_id(
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
        match cut.or(self.watch.stopped().map(|_| "stopped")) {
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
        self.label_matches(self.label_term(label), &pattern, &[])
    }

    fn bindings(&mut self, label: LabelId, pattern: PatternId) -> Vec<BindingId> {
        let pattern = self.patterns[pattern.index()].clone();
        self.label_bindings(self.label_term(label), &pattern)
    }

    fn matches_bound(&mut self, label: LabelId, pattern: PatternId, binding: BindingId) -> bool {
        let pattern = self.patterns[pattern.index()].clone();
        let values = self.bound_values.values(&self.terms, binding).to_vec();
        self.label_matches(self.label_term(label), &pattern, &values)
    }

    fn max_states(&self) -> u64 {
        u64::from(self.program.options.states)
    }

    fn bytes(&self) -> u64 {
        System::bytes(self)
    }

    fn stopped(&self) -> Option<Stop> {
        self.watch.stopped()
    }
}
