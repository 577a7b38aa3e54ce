//! The system of all agents: an on-the-fly transition system.
//!
//! A state is one process per agent and the bag of messages under way, as a row of numbers. What
//! an agent can do depends on its own process and the message it is offered, so it is computed
//! once per local situation; a global state only combines what is known. That is where the time
//! goes that a direct reading would take: policies and constraints are evaluated hundreds of
//! times, not millions.

use masque_mu::{AtomId, Completeness, LabelId, Lts, PatternId, StateId};
use rustc_hash::FxHashMap;

use crate::entry::Entry;
use crate::options::{Comm, Options};
use crate::program::Program;
use crate::resolve::{Consulted, Findings};
use crate::step::{Situation, Steps, steps, why_stuck};
use crate::store::Rows;
use crate::symbol::Symbol;
use crate::term::{TermId, Terms};
use crate::vocabulary::{Atom, Pattern};

/// A label: one agent's, or in synchronous communication those of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LabelTerm {
    Own(TermId),
    Tau(TermId, TermId),
}

/// A step of an agent in numbers.
#[derive(Clone, Copy, Debug)]
struct Move {
    label: LabelTerm,
    rest: TermId,
    sent: Option<TermId>,
}

/// The moves of an agent in one local situation: a part of [`System::moves`].
#[derive(Clone, Copy, Debug)]
struct MoveSet {
    start: u32,
    end: u32,
    cut: Option<&'static str>,
    is_waiting: bool,
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
    pub(crate) findings: Findings,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) atoms: Vec<Atom>,
    states: Rows,
    labels: Vec<LabelTerm>,
    label_ids: FxHashMap<LabelTerm, LabelId>,
    moves: Vec<Move>,
    sets: Vec<MoveSet>,
    /// What each set of moves depends on.
    consulted: Vec<Box<[Consulted]>>,
    own: FxHashMap<(u32, TermId), u32>,
    taken: FxHashMap<(u32, TermId, TermId), u32>,
    in_role: FxHashMap<(TermId, TermId), bool>,
    initial: StateId,
    /// The states that were asked for their successors: beyond the bound no others are.
    expanded: Vec<bool>,
    /// The row being built.
    row: Vec<u32>,
}

impl System {
    pub(crate) fn new(program: Program, terms: Terms) -> System {
        let mut mail: Vec<u32> = program.mail.iter().map(|message| message.0).collect();
        mail.sort_unstable();
        let mut row: Vec<u32> = program.agents.iter().map(|agent| agent.now.0).collect();
        row.extend(mail);
        let mut states = Rows::default();
        let initial = StateId(states.insert(&row));
        System {
            program,
            terms,
            findings: Findings::default(),
            patterns: Vec::new(),
            atoms: Vec::new(),
            states,
            labels: Vec::new(),
            label_ids: FxHashMap::default(),
            moves: Vec::new(),
            sets: Vec::new(),
            consulted: Vec::new(),
            own: FxHashMap::default(),
            taken: FxHashMap::default(),
            in_role: FxHashMap::default(),
            initial,
            expanded: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Forgets everything but the state it is in.
    pub(crate) fn forget(&mut self) {
        let row = self.states.row(self.initial.0).to_vec();
        self.states = Rows::default();
        self.initial = StateId(self.states.insert(&row));
        self.labels.clear();
        self.label_ids.clear();
        self.moves.clear();
        self.sets.clear();
        self.consulted.clear();
        self.own.clear();
        self.taken.clear();
        self.expanded.clear();
        self.findings = Findings::default();
    }

    /// Goes on with other rules and facts, which differ in these statements: how many local
    /// situations depend on them.
    pub(crate) fn change(&mut self, program: Program, entries: &[Entry]) -> usize {
        let is_touched = |on: &Consulted| entries.iter().any(|entry| entry.touches(*on));
        let n_touched = self.consulted.iter().filter(|consulted| consulted.iter().any(is_touched)).count();
        self.program = program;
        self.forget();
        n_touched
    }

    /// Goes to a state.
    pub(crate) fn go(&mut self, state: StateId) {
        self.initial = state;
    }

    /// Goes to the state with these processes and this mail.
    pub(crate) fn go_to(&mut self, processes: &[TermId], mail: &[TermId]) {
        let mut row: Vec<u32> = mail.iter().map(|message| message.0).collect();
        row.sort_unstable();
        row.splice(0..0, processes.iter().map(|process| process.0));
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
        self.sets.len()
    }

    /// What was both permitted and forbidden, as `(subject,object,±action)`, in what has been
    /// explored.
    pub fn conflicts(&self) -> Vec<String> {
        self.findings.conflicts.iter().cloned().collect()
    }

    /// The constraints that were tried where nobody could tell, as `agent: name/arity`, in what
    /// has been explored.
    pub fn unknown_constraints(&self) -> Vec<String> {
        self.findings.unknown.iter().cloned().collect()
    }

    /// How many of the local situations looked into depend on what anybody knows of a predicate, or
    /// on the rules for an action of that name: a change of either leaves all others as they are.
    pub fn n_depending(&self, name: &str, arity: u32) -> usize {
        let is_it = |consulted: &Consulted| {
            let (Consulted::Known(_, functor) | Consulted::Policy(functor)) = consulted;
            functor.arity == arity && self.terms.symbols.name(functor.name) == name
        };
        self.consulted.iter().filter(|consulted| consulted.iter().any(is_it)).count()
    }

    /// The bytes this takes, roughly.
    pub fn bytes(&self) -> u64 {
        self.states.bytes()
            + self.terms.bytes()
            + (self.moves.capacity() * size_of::<Move>()
                + self.labels.capacity() * 2 * size_of::<LabelTerm>()
                + (self.own.capacity() + self.taken.capacity()) * 20) as u64
    }

    pub(crate) fn label_term(&self, label: LabelId) -> LabelTerm {
        self.labels[label.index()]
    }

    /// The processes of a state, agent by agent, and the messages under way.
    pub(crate) fn parts(&self, state: StateId) -> (&[u32], &[u32]) {
        self.states.row(state.0).split_at(self.program.agents.len())
    }

    /// The place of an agent in the team.
    pub(crate) fn agent_index(&self, id: TermId) -> Option<u32> {
        self.program.agents.iter().position(|agent| agent.id == id).map(|at| at as u32)
    }

    fn label_id(&mut self, label: LabelTerm) -> LabelId {
        let next = LabelId(self.labels.len() as u32);
        let id = *self.label_ids.entry(label).or_insert(next);
        if id == next {
            self.labels.push(label);
        }
        id
    }

    fn add_set(&mut self, found: Steps) -> u32 {
        let start = self.moves.len() as u32;
        for step in found.steps {
            self.moves.push(Move { label: LabelTerm::Own(step.label), rest: step.rest, sent: step.sent });
        }
        self.sets.push(MoveSet {
            start,
            end: self.moves.len() as u32,
            cut: found.cut,
            is_waiting: found.is_waiting,
        });
        self.consulted.push(found.consulted);
        self.sets.len() as u32 - 1
    }

    /// What an agent can do by itself.
    fn own_moves(&mut self, agent: u32, process: TermId) -> MoveSet {
        if let Some(set) = self.own.get(&(agent, process)) {
            return self.sets[*set as usize];
        }
        let at = Situation { actor: self.program.agents[agent as usize].owner, process, message: None };
        let found = steps(&self.program, &mut self.terms, &mut self.findings, at);
        let set = self.add_set(found);
        self.own.insert((agent, process), set);
        self.sets[set as usize]
    }

    /// What an agent can do with a message.
    fn taking_moves(&mut self, agent: u32, process: TermId, message: TermId) -> MoveSet {
        if let Some(set) = self.taken.get(&(agent, process, message)) {
            return self.sets[*set as usize];
        }
        let actor = self.program.agents[agent as usize].owner;
        let at = Situation { actor, process, message: Some(message) };
        let found = steps(&self.program, &mut self.terms, &mut self.findings, at);
        let set = self.add_set(found);
        self.taken.insert((agent, process, message), set);
        self.sets[set as usize]
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
            let set = self.own_moves(agent as u32, TermId(row[agent]));
            cut = cut.or(set.cut);
            for at in set.start..set.end {
                let Move { label, rest, sent } = self.moves[at as usize];
                next.clear();
                next.extend_from_slice(&row);
                next[agent] = rest.0;
                if let Some(message) = sent {
                    if row.len() - n_agents >= self.program.options.cap as usize {
                        cut = cut.or(Some("cap"));
                        continue;
                    }
                    let at = n_agents + row[n_agents..].partition_point(|other| *other < message.0);
                    next.insert(at, message.0);
                }
                let target = StateId(self.states.insert(&next));
                step(self.label_id(label), target);
            }
        }
        for at in n_agents..row.len() {
            if at > n_agents && row[at] == row[at - 1] {
                continue;
            }
            let message = TermId(row[at]);
            for agent in self.receivers(message) {
                let set = self.taking_moves(agent, TermId(row[agent as usize]), message);
                cut = cut.or(set.cut);
                for taking in set.start..set.end {
                    let Move { label, rest, .. } = self.moves[taking as usize];
                    next.clear();
                    next.extend_from_slice(&row);
                    next[agent as usize] = rest.0;
                    next.remove(at);
                    let target = StateId(self.states.insert(&next));
                    step(self.label_id(label), target);
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
        let set = self.own_moves(agent as u32, process);
        if set.is_waiting || set.cut.is_some() || set.end - set.start != 1 {
            return None;
        }
        let Move { label, rest, sent } = self.moves[set.start as usize];
        let mut row = self.states.row(state.0).to_vec();
        row[agent] = rest.0;
        if let Some(message) = sent {
            if row.len() - n_agents >= self.program.options.cap as usize {
                return None;
            }
            let at = n_agents + row[n_agents..].partition_point(|other| *other < message.0);
            row.insert(at, message.0);
        }
        let target = StateId(self.states.insert(&row));
        Some(OnlyStep { label: self.label_id(label), target, is_sending: sent.is_some() })
    }

    fn sync_successors(
        &mut self,
        state: StateId,
        step: &mut dyn FnMut(LabelId, StateId),
    ) -> Option<&'static str> {
        let n_agents = self.program.agents.len();
        let row = self.states.row(state.0).to_vec();
        let mut cut = None;
        for agent in 0..n_agents {
            let set = self.own_moves(agent as u32, TermId(row[agent]));
            cut = cut.or(set.cut);
            for at in set.start..set.end {
                let Move { label, rest, sent } = self.moves[at as usize];
                let mut next = row.clone();
                next[agent] = rest.0;
                let Some(message) = sent else {
                    let target = StateId(self.states.insert(&next));
                    step(self.label_id(label), target);
                    continue;
                };
                for other in self.receivers(message).filter(|other| *other as usize != agent) {
                    let other_process = TermId(row[other as usize]);
                    let set = self.taking_moves(other, other_process, message);
                    cut = cut.or(set.cut);
                    for taking in set.start..set.end {
                        let Move { label: taken, rest, .. } = self.moves[taking as usize];
                        next[other as usize] = rest.0;
                        let (LabelTerm::Own(label), LabelTerm::Own(taken)) = (label, taken) else { continue };
                        let target = StateId(self.states.insert(&next));
                        step(self.label_id(LabelTerm::Tau(label, taken)), target);
                        next[other as usize] = other_process.0;
                    }
                }
            }
        }
        cut
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

impl Lts for System {
    fn initial(&mut self) -> StateId {
        self.initial
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        if self.expanded.len() <= state.index() {
            self.expanded.resize(self.states.len(), false);
        }
        if !self.expanded[state.index()] && self.states.len() >= self.program.options.states as usize {
            return Completeness::Cut("states");
        }
        self.expanded[state.index()] = true;
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
}
