//! Symmetry reduction: agents that are interchangeable. [ES96]
//!
//! Two agents are *interchangeable* if the whole instance stays the same when their ids are swapped
//! everywhere: in clauses, facts, rules and choices, and in the initial state. They can then be swapped in
//! any state, too: the possible events are the same up to the ids. If, in addition, the formula names neither
//! of them, it has the same truth value in both states, and it suffices to explore one of them.
//!
//! ```text
//! representative(s) = π(s), where π sorts interchangeable agents by their views in s
//! ```
//!
//! The view of an agent consists of its process and of the messages and processes of other agents that
//! mention it, all with its own id replaced by `me` and other interchangeable ids by `other_agent`. Views do
//! not distinguish all agents: two agents may have the same view although they are in different situations,
//! and then some states of an orbit keep separate representatives. That makes the reduction weaker but not
//! unsound, because π(s) is equivalent to s for every permutation π of interchangeable agents.
//!
//! The initial state is its own representative, so all representatives are reachable.

use std::cmp::Ordering;

use masque_mu::{Action, Formula, StateId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rows::Rows;
use crate::symbol::Symbol;
use crate::system::System;
use crate::term::{Head, TermId, Terms};
use crate::vocabulary::Atom;

/// Ids that are also built-in constraints and therefore not interchangeable.
const RESERVED: [&str; 3] = ["true", "fail", "false"];

/// Replaces the ids of agents in terms. Results are cached, because the same terms occur repeatedly.
#[derive(Debug)]
struct IdRenaming {
    /// Index in the team of each id.
    agent_of: FxHashMap<TermId, u32>,
    ids: Vec<TermId>,
    /// For each term, the agents that it mentions, as an index into `rows`.
    mentioned: FxHashMap<TermId, u32>,
    /// The result for each term and the images of the agents that it mentions, as an index into `rows`.
    renamed: FxHashMap<(TermId, u32), TermId>,
    rows: Rows,
}

impl IdRenaming {
    fn new(system: &System) -> IdRenaming {
        let ids: Vec<TermId> = system.program.agents.iter().map(|agent| agent.id).collect();
        let agent_of = ids.iter().enumerate().map(|(agent, id)| (*id, agent as u32)).collect();
        let (mentioned, renamed) = (FxHashMap::default(), FxHashMap::default());
        IdRenaming { agent_of, ids, mentioned, renamed, rows: Rows::default() }
    }

    /// Returns the agents that a term mentions, in the order of the team.
    fn mentions(&mut self, terms: &Terms, term: TermId) -> &[u32] {
        let row = match self.mentioned.get(&term) {
            Some(row) => *row,
            None => {
                let mut found: Vec<u32> = Vec::new();
                let (mut seen, mut todo) = (FxHashSet::default(), vec![term]);
                while let Some(part) = todo.pop() {
                    if seen.insert(part) {
                        found.extend(self.agent_of.get(&part));
                        todo.extend_from_slice(terms.args(part));
                    }
                }
                found.sort_unstable();
                let row = self.rows.insert(&found);
                self.mentioned.insert(term, row);
                row
            }
        };
        self.rows.row(row)
    }

    /// Replaces the id of each agent by its image.
    fn rename(&mut self, terms: &mut Terms, term: TermId, image: impl Fn(u32) -> TermId) -> TermId {
        let agents = self.mentions(terms, term).to_vec();
        let images: Vec<u32> = agents.iter().map(|agent| image(*agent).0).collect();
        if agents.iter().zip(&images).all(|(agent, image)| self.ids[*agent as usize].0 == *image) {
            return term;
        }
        let row = self.rows.insert(&images);
        if let Some(known) = self.renamed.get(&(term, row)) {
            return *known;
        }
        let mut done: FxHashMap<TermId, TermId> =
            agents.iter().zip(&images).map(|(agent, to)| (self.ids[*agent as usize], TermId(*to))).collect();
        let (mut todo, mut args) = (vec![(term, false)], Vec::new());
        while let Some((part, is_ready)) = todo.pop() {
            if done.contains_key(&part) {
                continue;
            }
            if !is_ready {
                todo.push((part, true));
                todo.extend(terms.args(part).iter().map(|arg| (*arg, false)));
                continue;
            }
            args.clear();
            args.extend(terms.args(part).iter().map(|arg| *done.get(arg).unwrap_or(arg)));
            let built = terms.make(terms.head(part), &args);
            done.insert(part, built);
        }
        let result = *done.get(&term).unwrap_or(&term);
        self.renamed.insert((term, row), result);
        result
    }

    /// Swaps the ids of two agents.
    fn swap(&mut self, terms: &mut Terms, term: TermId, one: u32, two: u32) -> TermId {
        let (of_one, of_two) = (self.ids[one as usize], self.ids[two as usize]);
        let ids = self.ids.clone();
        self.rename(terms, term, |agent| match agent {
            agent if agent == one => of_two,
            agent if agent == two => of_one,
            agent => ids[agent as usize],
        })
    }
}

/// A statement of an instance: its kind and its terms.
type Statement = (&'static str, Vec<TermId>);

/// Returns the statements of an instance as a set.
fn statements(system: &mut System) -> FxHashSet<Statement> {
    let System { program, terms, .. } = system;
    let mut all: FxHashSet<Statement> = FxHashSet::default();
    for clause in &program.clauses {
        all.insert(("clause", vec![clause.role, clause.id, clause.body]));
    }
    for agent in &program.agents {
        all.insert((if agent.is_server { "server" } else { "agent" }, vec![agent.id, agent.now]));
        if agent.is_server {
            all.insert(("start", vec![agent.id, agent.start]));
        }
    }
    for fact in program.common.values().flatten() {
        all.insert(("common", [fact.head].into_iter().chain(fact.body).collect()));
    }
    for (id, known) in program.ids.iter().zip(&program.known) {
        for fact in known.values().flatten() {
            all.insert(("know", [*id, fact.head].into_iter().chain(fact.body).collect()));
        }
    }
    for rule in &program.rules {
        let kind = if rule.permits { "permit" } else { "forbid" };
        let enforcer = program.ids[rule.enforcer.0 as usize];
        let terms_of_rule = [enforcer, rule.subject, rule.object, rule.action];
        all.insert((kind, terms_of_rule.into_iter().chain(rule.body).collect()));
    }
    for (owner, functor) in &program.choices {
        // The predicate is represented by a term. Without arguments, that term may be the id of an agent.
        let args: Vec<TermId> = (0..functor.arity).map(|number| terms.var(number)).collect();
        let shape = terms.app(functor.name, &args);
        let owner = owner.map(|owner| program.ids[owner.0 as usize]);
        all.insert(("choice", [shape].into_iter().chain(owner).collect()));
    }
    all
}

/// Returns the agents that a formula names.
fn named(system: &System, renaming: &mut IdRenaming, formula: &Formula) -> FxHashSet<u32> {
    let mut named = FxHashSet::default();
    for action in formula.actions() {
        let Action::Is(pattern) = action else { continue };
        for term in system.patterns[pattern.index()].all_terms() {
            named.extend(renaming.mentions(&system.terms, term));
        }
    }
    for atom in formula.atoms() {
        match system.atoms[atom.index()] {
            Atom::Final => {}
            Atom::Done(agent) | Atom::Idle(agent) => {
                named.insert(agent);
            }
            Atom::At(agent, role) => {
                named.insert(agent);
                named.extend(renaming.mentions(&system.terms, role));
            }
        }
    }
    named
}

/// The interchangeable agents, and the representatives of states.
#[derive(Debug)]
pub(crate) struct Symmetry {
    renaming: IdRenaming,
    /// Classes of interchangeable agents: two or more each, in the order of the team.
    classes: Vec<Vec<u32>>,
    /// For each agent, whether it is in a class.
    is_member: Vec<bool>,
    /// Representatives computed so far.
    known: FxHashMap<StateId, StateId>,
    /// Replaces the id of the agent whose view is computed.
    me: TermId,
    /// Replaces the ids of other interchangeable agents in a view.
    other_agent: TermId,
}

/// The view of an agent in a state.
struct AgentView {
    /// Process of the agent.
    own: TermId,
    /// Messages that mention the agent, in the order of terms.
    messages: Vec<TermId>,
    /// Processes of other agents that mention the agent, each with the index of its agent, sorted.
    others: Vec<(u32, TermId)>,
}

impl AgentView {
    /// Compares views by content, not by the ids of terms, which depend on what was explored before.
    fn compare(&self, terms: &Terms, other: &AgentView) -> Ordering {
        let messages = || compare_all(&self.messages, &other.messages, |a, b| terms.compare(*a, *b));
        let others = || {
            let compare =
                |a: &(u32, TermId), b: &(u32, TermId)| a.0.cmp(&b.0).then_with(|| terms.compare(a.1, b.1));
            compare_all(&self.others, &other.others, compare)
        };
        terms.compare(self.own, other.own).then_with(messages).then_with(others)
    }
}

/// Compares two lists by their first difference, then by length.
fn compare_all<T>(left: &[T], right: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    let mut pairs = left.iter().zip(right).map(|(left, right)| compare(left, right));
    pairs.find(|order| order.is_ne()).unwrap_or_else(|| left.len().cmp(&right.len()))
}

impl Symmetry {
    /// Finds the symmetry of an instance and a formula; `None` if no two agents are interchangeable.
    pub(crate) fn new(system: &mut System, formula: &Formula) -> Option<Symmetry> {
        let n_agents = system.program.agents.len();
        let mut renaming = IdRenaming::new(system);
        let named = named(system, &mut renaming, formula);
        let is_candidate = |agent: &u32| {
            let id = system.program.agents[*agent as usize].id;
            let is_name = matches!(system.terms.head(id), Head::App(_)) && system.terms.args(id).is_empty();
            is_name && !named.contains(agent) && !RESERVED.contains(&system.terms.text(id).as_str())
        };
        let candidates: Vec<u32> = (0..n_agents as u32).filter(is_candidate).collect();
        if candidates.len() < 2 {
            return None;
        }
        let all = statements(system);
        let mut mail = system.program.mail.clone();
        mail.sort_unstable();
        let mut is_same = |one: u32, two: u32| {
            let mut swapped = |terms: &mut Terms, statement_terms: &[TermId]| -> Vec<TermId> {
                statement_terms.iter().map(|term| renaming.swap(terms, *term, one, two)).collect()
            };
            let terms = &mut system.terms;
            let mut new_mail = swapped(terms, &mail);
            new_mail.sort_unstable();
            new_mail == mail
                && all
                    .iter()
                    .all(|(kind, statement_terms)| all.contains(&(*kind, swapped(terms, statement_terms))))
        };
        let mut classes: Vec<Vec<u32>> = Vec::new();
        for agent in candidates {
            // Interchangeability is transitive, so comparing with one agent of a class suffices.
            match classes.iter_mut().find(|class| is_same(class[0], agent)) {
                Some(class) => class.push(agent),
                None => classes.push(vec![agent]),
            }
        }
        classes.retain(|class| class.len() > 1);
        if classes.is_empty() {
            return None;
        }
        let mut is_member = vec![false; n_agents];
        classes.iter().flatten().for_each(|agent| is_member[*agent as usize] = true);
        let me = system.terms.app(Symbol::MESSAGE, &[]);
        let other_agent = system.terms.app(Symbol::SET, &[]);
        let known = FxHashMap::default();
        Some(Symmetry { renaming, classes, is_member, known, me, other_agent })
    }

    /// Returns the representative of a state.
    pub(crate) fn representative(&mut self, system: &mut System, state: StateId) -> StateId {
        if let Some(known) = self.known.get(&state) {
            return *known;
        }
        let (processes, mail) = system.parts(state);
        let (processes, mail) = (processes.to_vec(), mail.to_vec());
        let mut image: Vec<u32> = (0..processes.len() as u32).collect();
        for class in self.classes.clone() {
            let key = |agent: &u32| (self.view_of(&mut system.terms, &processes, &mail, *agent), *agent);
            let mut keyed: Vec<_> = class.iter().map(key).collect();
            keyed.sort_by(|(left, _), (right, _)| left.compare(&system.terms, right));
            for ((_, agent), to) in keyed.into_iter().zip(class) {
                image[agent as usize] = to;
            }
        }
        let is_sorted = image.iter().enumerate().all(|(agent, to)| agent as u32 == *to);
        let chosen = if is_sorted { state } else { self.permuted(system, &processes, &mail, &image) };
        self.known.insert(state, chosen);
        chosen
    }

    /// Returns the view of an agent in a state, by which agents are sorted.
    fn view_of(&mut self, terms: &mut Terms, processes: &[u32], mail: &[u32], agent: u32) -> AgentView {
        let own = self.as_seen_by(terms, TermId(processes[agent as usize]), agent);
        let mut messages: Vec<TermId> = Vec::new();
        for message in mail {
            if self.renaming.mentions(terms, TermId(*message)).contains(&agent) {
                messages.push(self.as_seen_by(terms, TermId(*message), agent));
            }
        }
        messages.sort_by(|left, right| terms.compare(*left, *right));
        let mut others: Vec<(u32, TermId)> = Vec::new();
        for (other, process) in processes.iter().enumerate() {
            let process = TermId(*process);
            if other as u32 != agent && self.renaming.mentions(terms, process).contains(&agent) {
                // Interchangeable agents are not distinguished.
                let who = if self.is_member[other] { u32::MAX } else { other as u32 };
                others.push((who, self.as_seen_by(terms, process, agent)));
            }
        }
        others.sort_by(|left, right| left.0.cmp(&right.0).then_with(|| terms.compare(left.1, right.1)));
        AgentView { own, messages, others }
    }

    /// Replaces the id of an agent by `me`, and the ids of other interchangeable agents by `other_agent`.
    fn as_seen_by(&mut self, terms: &mut Terms, term: TermId, agent: u32) -> TermId {
        let Symmetry { renaming, is_member, me, other_agent, .. } = self;
        let ids = renaming.ids.clone();
        renaming.rename(terms, term, |other| match other {
            other if other == agent => *me,
            other if is_member[other as usize] => *other_agent,
            other => ids[other as usize],
        })
    }

    /// Applies a permutation of agents to a state.
    fn permuted(&mut self, system: &mut System, processes: &[u32], mail: &[u32], image: &[u32]) -> StateId {
        let ids = self.renaming.ids.clone();
        let mut moved = |term: u32| {
            self.renaming.rename(&mut system.terms, TermId(term), |a| ids[image[a as usize] as usize]).0
        };
        let mut row = vec![0; processes.len()];
        for (agent, process) in processes.iter().enumerate() {
            row[image[agent] as usize] = moved(*process);
        }
        let mut new_mail: Vec<u32> = mail.iter().map(|message| moved(*message)).collect();
        system.order.sort(&system.terms, &mut new_mail);
        row.extend(new_mail);
        system.state(&row)
    }
}
