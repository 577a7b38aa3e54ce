//! Agents that can stand in for each other. [ES96]
//!
//! Two agents are *interchangeable* if the whole instance stays the same when their ids change places
//! everywhere: in clauses, in what everybody knows, in rules and choices, in the first state. They
//! may then change places in any state, too: what can happen is the same up to the ids. If, besides,
//! the formula names neither of them, it has the same truth in both states, and one will do.
//!
//! ```text
//! representative(s) = π(s), where π sorts interchangeable agents by what s says of each
//! ```
//!
//! What a state says of an agent is its process, the messages and the processes of others that mention
//! it, all with its own id as "me" and other interchangeable ids as "somebody". This does not tell
//! everything apart: two agents may look the same and not be so, and then some states of an orbit
//! keep representatives of their own. That is less of a reduction and no less sound: π(s) is as good as
//! s whatever π is.
//!
//! The first state is its own representative, so all representatives can be reached.

use std::cmp::Ordering;

use masque_mu::{Action, Formula, StateId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::store::Rows;
use crate::symbol::Symbol;
use crate::system::System;
use crate::term::{Head, TermId, Terms};
use crate::vocabulary::Atom;

/// Ids with a meaning of their own as constraints.
const RESERVED: [&str; 3] = ["true", "fail", "false"];

/// Ids changing places in terms. Results are kept: the same terms come again and again.
#[derive(Debug)]
struct Exchange {
    /// The place of each id in the team.
    agent_of: FxHashMap<TermId, u32>,
    ids: Vec<TermId>,
    /// For each term, the agents it mentions, as a row of `rows`.
    mentioned: FxHashMap<TermId, u32>,
    /// For each term and the images of those it mentions, as a row of `rows`, the new term.
    changed: FxHashMap<(TermId, u32), TermId>,
    rows: Rows,
}

impl Exchange {
    fn new(system: &System) -> Exchange {
        let ids: Vec<TermId> = system.program.agents.iter().map(|agent| agent.id).collect();
        let agent_of = ids.iter().enumerate().map(|(agent, id)| (*id, agent as u32)).collect();
        let (mentioned, changed) = (FxHashMap::default(), FxHashMap::default());
        Exchange { agent_of, ids, mentioned, changed, rows: Rows::default() }
    }

    /// The agents that a term mentions, in order.
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

    /// The term with the ids of agents replaced.
    fn change(&mut self, terms: &mut Terms, term: TermId, image: impl Fn(u32) -> TermId) -> TermId {
        let agents = self.mentions(terms, term).to_vec();
        let images: Vec<u32> = agents.iter().map(|agent| image(*agent).0).collect();
        if agents.iter().zip(&images).all(|(agent, image)| self.ids[*agent as usize].0 == *image) {
            return term;
        }
        let row = self.rows.insert(&images);
        if let Some(known) = self.changed.get(&(term, row)) {
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
        self.changed.insert((term, row), result);
        result
    }

    /// The term with two agents in each other's place.
    fn swap(&mut self, terms: &mut Terms, term: TermId, one: u32, two: u32) -> TermId {
        let (of_one, of_two) = (self.ids[one as usize], self.ids[two as usize]);
        let ids = self.ids.clone();
        self.change(terms, term, |agent| match agent {
            agent if agent == one => of_two,
            agent if agent == two => of_one,
            agent => ids[agent as usize],
        })
    }
}

/// A statement of an instance: its kind, and all terms in it.
type Statement = (&'static str, Vec<TermId>);

/// All that an instance says, but for the order in which it says it.
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
        let said = [enforcer, rule.subject, rule.object, rule.action];
        all.insert((kind, said.into_iter().chain(rule.body).collect()));
    }
    for (owner, functor) in &program.choices {
        // Its shape is a term; without arguments it may be somebody's id.
        let args: Vec<TermId> = (0..functor.arity).map(|number| terms.var(number)).collect();
        let shape = terms.app(functor.name, &args);
        let owner = owner.map(|owner| program.ids[owner.0 as usize]);
        all.insert(("choice", [shape].into_iter().chain(owner).collect()));
    }
    all
}

/// The agents that a formula names.
fn named(system: &System, exchange: &mut Exchange, formula: &Formula) -> FxHashSet<u32> {
    let mut named = FxHashSet::default();
    for action in formula.actions() {
        let Action::Is(pattern) = action else { continue };
        for term in system.patterns[pattern.index()].all_terms() {
            named.extend(exchange.mentions(&system.terms, term));
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
                named.extend(exchange.mentions(&system.terms, role));
            }
        }
    }
    named
}

/// Which agents are interchangeable, and the representatives of states.
#[derive(Debug)]
pub(crate) struct Symmetry {
    exchange: Exchange,
    /// Two or more agents each, in the order of the team.
    classes: Vec<Vec<u32>>,
    /// For each agent whether it is in a class.
    is_member: Vec<bool>,
    known: FxHashMap<StateId, StateId>,
    me: TermId,
    somebody: TermId,
}

/// What a state says of an agent.
struct Said {
    /// Its process.
    own: TermId,
    /// The messages that mention it, in the order of their terms.
    messages: Vec<TermId>,
    /// The processes of others that mention it, and whose they are, in this order.
    by_others: Vec<(u32, TermId)>,
}

impl Said {
    /// Orders by what the terms are, not by their numbers: those depend on what was explored before.
    fn compare(&self, terms: &Terms, other: &Said) -> Ordering {
        let messages = || compare_all(&self.messages, &other.messages, |a, b| terms.compare(*a, *b));
        let by_others = || {
            let compare =
                |a: &(u32, TermId), b: &(u32, TermId)| a.0.cmp(&b.0).then_with(|| terms.compare(a.1, b.1));
            compare_all(&self.by_others, &other.by_others, compare)
        };
        terms.compare(self.own, other.own).then_with(messages).then_with(by_others)
    }
}

/// Orders two lists by their first difference, or by their length.
fn compare_all<T>(left: &[T], right: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    let mut pairs = left.iter().zip(right).map(|(left, right)| compare(left, right));
    pairs.find(|order| order.is_ne()).unwrap_or_else(|| left.len().cmp(&right.len()))
}

impl Symmetry {
    /// The symmetry of an instance and a formula, if there is any.
    pub(crate) fn new(system: &mut System, formula: &Formula) -> Option<Symmetry> {
        let n_agents = system.program.agents.len();
        let mut exchange = Exchange::new(system);
        let named = named(system, &mut exchange, formula);
        let is_plain = |agent: &u32| {
            let id = system.program.agents[*agent as usize].id;
            let is_name = matches!(system.terms.head(id), Head::App(_)) && system.terms.args(id).is_empty();
            is_name && !named.contains(agent) && !RESERVED.contains(&system.terms.text(id).as_str())
        };
        let candidates: Vec<u32> = (0..n_agents as u32).filter(is_plain).collect();
        if candidates.len() < 2 {
            return None;
        }
        let all = statements(system);
        let mut mail = system.program.mail.clone();
        mail.sort_unstable();
        let mut is_same = |one: u32, two: u32| {
            let mut swapped = |terms: &mut Terms, said: &[TermId]| -> Vec<TermId> {
                said.iter().map(|term| exchange.swap(terms, *term, one, two)).collect()
            };
            let terms = &mut system.terms;
            let mut new_mail = swapped(terms, &mail);
            new_mail.sort_unstable();
            new_mail == mail && all.iter().all(|(kind, said)| all.contains(&(*kind, swapped(terms, said))))
        };
        let mut classes: Vec<Vec<u32>> = Vec::new();
        for agent in candidates {
            // If one and two may change places, and two and three, so may one and three.
            match classes.iter_mut().find(|class| is_same(class[0], agent)) {
                Some(class) => class.push(agent),
                None => classes.push(vec![agent]),
            }
        }
        classes.retain(|class| class.len() > 1);
        let mut is_member = vec![false; n_agents];
        classes.iter().flatten().for_each(|agent| is_member[*agent as usize] = true);
        let me = system.terms.app(Symbol::MESSAGE, &[]);
        let somebody = system.terms.app(Symbol::SET, &[]);
        let known = FxHashMap::default();
        (!classes.is_empty()).then(|| Symmetry { exchange, classes, is_member, known, me, somebody })
    }

    /// The state that stands for a state.
    pub(crate) fn representative(&mut self, system: &mut System, state: StateId) -> StateId {
        if let Some(known) = self.known.get(&state) {
            return *known;
        }
        let (processes, mail) = system.parts(state);
        let (processes, mail) = (processes.to_vec(), mail.to_vec());
        let mut place: Vec<u32> = (0..processes.len() as u32).collect();
        for class in self.classes.clone() {
            let key = |agent: &u32| (self.says_of(&mut system.terms, &processes, &mail, *agent), *agent);
            let mut keyed: Vec<_> = class.iter().map(key).collect();
            keyed.sort_by(|(left, _), (right, _)| left.compare(&system.terms, right));
            for ((_, agent), to) in keyed.into_iter().zip(class) {
                place[agent as usize] = to;
            }
        }
        let is_sorted = place.iter().enumerate().all(|(agent, to)| agent as u32 == *to);
        let chosen = if is_sorted { state } else { self.placed(system, &processes, &mail, &place) };
        self.known.insert(state, chosen);
        chosen
    }

    /// What a state says of an agent, as a key to sort by.
    fn says_of(&mut self, terms: &mut Terms, processes: &[u32], mail: &[u32], agent: u32) -> Said {
        let own = self.seen_by(terms, TermId(processes[agent as usize]), agent);
        let mut messages: Vec<TermId> = Vec::new();
        for message in mail {
            if self.exchange.mentions(terms, TermId(*message)).contains(&agent) {
                messages.push(self.seen_by(terms, TermId(*message), agent));
            }
        }
        messages.sort_by(|left, right| terms.compare(*left, *right));
        let mut by_others: Vec<(u32, TermId)> = Vec::new();
        for (other, process) in processes.iter().enumerate() {
            let process = TermId(*process);
            if other as u32 != agent && self.exchange.mentions(terms, process).contains(&agent) {
                // Which one of a class says it, nobody can tell.
                let who = if self.is_member[other] { u32::MAX } else { other as u32 };
                by_others.push((who, self.seen_by(terms, process, agent)));
            }
        }
        by_others.sort_by(|left, right| left.0.cmp(&right.0).then_with(|| terms.compare(left.1, right.1)));
        Said { own, messages, by_others }
    }

    /// A term as an agent sees it: with itself as "me", and those like it as "somebody".
    fn seen_by(&mut self, terms: &mut Terms, term: TermId, agent: u32) -> TermId {
        let Symmetry { exchange, is_member, me, somebody, .. } = self;
        let ids = exchange.ids.clone();
        exchange.change(terms, term, |other| match other {
            other if other == agent => *me,
            other if is_member[other as usize] => *somebody,
            other => ids[other as usize],
        })
    }

    /// A state with each agent in the place of another.
    fn placed(&mut self, system: &mut System, processes: &[u32], mail: &[u32], place: &[u32]) -> StateId {
        let ids = self.exchange.ids.clone();
        let mut moved = |term: u32| {
            self.exchange.change(&mut system.terms, TermId(term), |a| ids[place[a as usize] as usize]).0
        };
        let mut row = vec![0; processes.len()];
        for (agent, process) in processes.iter().enumerate() {
            row[place[agent] as usize] = moved(*process);
        }
        let mut new_mail: Vec<u32> = mail.iter().map(|message| moved(*message)).collect();
        system.order.sort(&system.terms, &mut new_mail);
        row.extend(new_mail);
        system.state(&row)
    }
}
