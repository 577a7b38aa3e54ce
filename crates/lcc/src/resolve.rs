//! The resolver: which answers a constraint has, for an agent, under the policies.
//!
//! SLD resolution with a stack of goals and one of choices, so a proof of any length takes no
//! stack of the machine's. Negation as failure and "no rule forbids it" run a search of their own
//! in the middle of another; such searches nest, and stratification sees to it that they end. A
//! search that meets a bound says so: an answer it gives is an answer, but "there is none" is then
//! unknown, and so is whatever was to follow from it.

use std::collections::BTreeSet;

use crate::arith::evaluate;
use crate::options::Conflict;
use crate::program::{Owner, Program};
use crate::symbol::Symbol;
use crate::term::{Bindings, Functor, Head, Mark, TermId, Terms};

/// Steps of inference in one search.
const FUEL: u32 = 200_000;
/// Searches inside searches.
const NESTED: u32 = 100;
/// The end of a list of goals.
const DONE: u32 = u32::MAX;

/// What a search looked at; a change elsewhere cannot change its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Consulted {
    /// What an owner and everybody know, or do not know, of a predicate.
    Known(Owner, Functor),
    /// The rules, or the absence of rules, for an action.
    Policy(Functor),
}

/// What is found by the way and reported at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// `(subject,object,±action)`, both permitted and forbidden.
    pub(crate) conflicts: BTreeSet<String>,
    /// `agent: name/arity`, tried and known to nobody who could tell.
    pub(crate) unknown: BTreeSet<String>,
}

impl Findings {
    pub(crate) fn is_empty(&self) -> bool {
        self.conflicts.is_empty() && self.unknown.is_empty()
    }

    /// All of these together.
    pub(crate) fn all<'f>(parts: impl Iterator<Item = &'f Findings>) -> Findings {
        let mut all = Findings::default();
        for part in parts {
            all.conflicts.extend(part.conflicts.iter().cloned());
            all.unknown.extend(part.unknown.iter().cloned());
        }
        all
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// A constraint of the acting agent: literals are recorded and pass the gate.
    Guard(TermId),
    /// A constraint in the body of somebody's clause.
    Body(TermId, Owner),
    /// A literal, from what somebody knows.
    Known(TermId, Owner),
    /// The acting agent may do this, towards this object.
    Gate(TermId, TermId),
    /// A subject may do this towards an object: closed world.
    Permitted([TermId; 3]),
    /// No rule forbids it, or permission counts more.
    Undenied([TermId; 3]),
    /// A rule of a sign says so.
    Derived(bool, [TermId; 3]),
}

#[derive(Clone, Copy, Debug)]
struct Node {
    goal: Goal,
    depth: u32,
    next: u32,
}

/// What else could be tried.
#[derive(Clone, Copy, Debug)]
enum Other {
    /// These goals instead.
    Goals(u32),
    /// The clauses for a literal, from this one on.
    Facts { literal: TermId, owner: Owner, from: u32, depth: u32, next: u32 },
    /// The rules for an action, from this one on.
    Rules { permits: bool, triple: [TermId; 3], from: u32, depth: u32, next: u32 },
}

#[derive(Clone, Copy, Debug)]
struct ChoicePoint {
    other: Other,
    mark: Mark,
    n_nodes: u32,
    n_used: u32,
}

/// One answer: the payload with its variables replaced, and the literals of the guard.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) payload: TermId,
    pub(crate) used: Vec<TermId>,
}

/// Whether a search found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Yes,
    No,
    /// Not within the bounds.
    Unknown,
}

/// A resolver at work for one agent.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) terms: &'a mut Terms,
    pub(crate) findings: &'a mut Findings,
    pub(crate) bindings: Bindings,
    pub(crate) consulted: BTreeSet<Consulted>,
    /// Who acts.
    pub(crate) actor: Owner,
    nodes: Vec<Node>,
    choices: Vec<ChoicePoint>,
    used: Vec<TermId>,
    /// Whether a decision counts as made: not so below an odd number of negations, where it counts
    /// as refused. So `p` and `not p` both have answers for a decision `p`.
    positive: bool,
    nested: u32,
    fuel: u32,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(
        program: &'a Program,
        terms: &'a mut Terms,
        findings: &'a mut Findings,
        actor: Owner,
    ) -> Machine<'a> {
        Machine {
            program,
            terms,
            findings,
            bindings: Bindings::default(),
            consulted: BTreeSet::new(),
            actor,
            nodes: Vec::new(),
            choices: Vec::new(),
            used: Vec::new(),
            positive: true,
            nested: 0,
            fuel: FUEL,
        }
    }

    /// All answers to the goals, in the order in which resolution finds them; whether these are
    /// all. The bindings are as before when this returns.
    pub(crate) fn answers(&mut self, goals: &[Goal], payload: TermId) -> (Vec<Answer>, bool) {
        let list = self.list(goals, 0, DONE);
        let mut answers = Vec::new();
        let is_complete = self.search(list, |machine| {
            let payload = machine.terms.resolve(payload, &machine.bindings);
            let used = std::mem::take(&mut machine.used);
            let resolved =
                used.iter().map(|literal| machine.terms.resolve(*literal, &machine.bindings)).collect();
            machine.used = used;
            answers.push(Answer { payload, used: resolved });
            false
        });
        (answers, is_complete)
    }

    /// Whether the goals have an answer.
    pub(crate) fn find(&mut self, goals: &[Goal]) -> Found {
        self.find_at(goals, 0)
    }

    fn find_at(&mut self, goals: &[Goal], depth: u32) -> Found {
        if self.nested >= NESTED {
            return Found::Unknown;
        }
        self.nested += 1;
        let list = self.list(goals, depth, DONE);
        let mut is_found = false;
        let is_complete = self.search(list, |_| {
            is_found = true;
            true
        });
        self.nested -= 1;
        match (is_found, is_complete) {
            (true, _) => Found::Yes,
            (false, true) => Found::No,
            (false, false) => Found::Unknown,
        }
    }

    /// Whether there is no answer, decisions counting the other way.
    fn find_against(&mut self, goals: &[Goal], depth: u32) -> Found {
        self.positive = !self.positive;
        let found = self.find_at(goals, depth);
        self.positive = !self.positive;
        found
    }

    fn list(&mut self, goals: &[Goal], depth: u32, next: u32) -> u32 {
        goals.iter().rev().fold(next, |next, goal| {
            self.nodes.push(Node { goal: *goal, depth, next });
            self.nodes.len() as u32 - 1
        })
    }

    /// Goes through all answers until `found` says it is enough; whether no bound was met.
    fn search(&mut self, goals: u32, mut found: impl FnMut(&mut Self) -> bool) -> bool {
        let (base, mark) = (self.choices.len(), self.bindings.mark());
        let (n_nodes, n_used) = (self.nodes.len(), self.used.len());
        let mut is_complete = true;
        let mut current = Some(goals);
        while let Some(at) = current {
            current = match at {
                DONE if found(self) => None,
                DONE => self.backtrack(base),
                _ if self.fuel == 0 => {
                    is_complete = false;
                    None
                }
                _ => {
                    self.fuel -= 1;
                    match self.step(at) {
                        Ok(Some(next)) => Some(next),
                        Ok(None) => self.backtrack(base),
                        Err(Bound) => {
                            is_complete = false;
                            self.backtrack(base)
                        }
                    }
                }
            };
        }
        self.choices.truncate(base);
        self.bindings.undo(mark);
        self.nodes.truncate(n_nodes);
        self.used.truncate(n_used);
        is_complete
    }

    /// The goals of the most recent choice that has something left to try.
    fn backtrack(&mut self, base: usize) -> Option<u32> {
        while self.choices.len() > base {
            let choice = self.choices.pop()?;
            self.bindings.undo(choice.mark);
            self.nodes.truncate(choice.n_nodes as usize);
            self.used.truncate(choice.n_used as usize);
            let next = match choice.other {
                Other::Goals(goals) => Some(goals),
                Other::Facts { literal, owner, from, depth, next } => {
                    self.try_facts(literal, owner, from, depth, next)
                }
                Other::Rules { permits, triple, from, depth, next } => {
                    self.try_rules(permits, triple, from, depth, next)
                }
            };
            if next.is_some() {
                return next;
            }
        }
        None
    }

    fn choose(&mut self, other: Other) {
        let choice = ChoicePoint {
            other,
            mark: self.bindings.mark(),
            n_nodes: self.nodes.len() as u32,
            n_used: self.used.len() as u32,
        };
        self.choices.push(choice);
    }

    /// Works on the first goal of a list: the goals that remain, or `None` if it fails.
    fn step(&mut self, at: u32) -> Result<Option<u32>, Bound> {
        let Node { goal, depth, next } = self.nodes[at as usize];
        match goal {
            Goal::Guard(constraint) => self.constraint(constraint, None, depth, next),
            Goal::Body(constraint, owner) => self.constraint(constraint, Some(owner), depth, next),
            Goal::Known(literal, owner) => {
                self.too_deep(depth)?;
                Ok(self.try_facts(literal, owner, 0, depth, next))
            }
            Goal::Gate(object, action) => self.gate(object, action, depth, next),
            Goal::Permitted(triple) => {
                Ok(Some(self.list(&[Goal::Derived(true, triple), Goal::Undenied(triple)], depth, next)))
            }
            Goal::Undenied(triple) => match self.find_against(&[Goal::Derived(false, triple)], depth) {
                Found::Yes => {
                    self.note_conflict(triple);
                    Ok((self.program.options.conflict == Conflict::Permit).then_some(next))
                }
                Found::No => Ok(Some(next)),
                Found::Unknown => Err(Bound),
            },
            Goal::Derived(permits, triple) => {
                self.too_deep(depth)?;
                Ok(self.try_rules(permits, triple, 0, depth, next))
            }
        }
    }

    fn too_deep(&self, depth: u32) -> Result<(), Bound> {
        if depth > self.program.options.sld { Err(Bound) } else { Ok(()) }
    }

    /// A constraint, as a guard or in the body of an owner's clause.
    fn constraint(
        &mut self,
        constraint: TermId,
        owner: Option<Owner>,
        depth: u32,
        next: u32,
    ) -> Result<Option<u32>, Bound> {
        let constraint = self.terms.walk(constraint, &self.bindings);
        let goal = |term: TermId| match owner {
            Some(owner) => Goal::Body(term, owner),
            None => Goal::Guard(term),
        };
        let Some(functor) = self.terms.functor(constraint) else { return Ok(None) };
        let args: [TermId; 3] = {
            let args = self.terms.args(constraint);
            std::array::from_fn(|at| args.get(at).copied().unwrap_or(constraint))
        };
        let [first, second, _] = args;
        match functor.name {
            Symbol::AND => return Ok(Some(self.list(&[goal(first), goal(second)], depth, next))),
            Symbol::OR => {
                let right = self.list(&[goal(second)], depth, next);
                self.choose(Other::Goals(right));
                return Ok(Some(self.list(&[goal(first)], depth, next)));
            }
            _ => {}
        }
        if owner.is_none() {
            self.used.push(constraint);
        }
        match functor.name {
            Symbol::NOT => match self.find_against(&[goal(first)], depth) {
                Found::Yes => Ok(None),
                Found::No => Ok(Some(next)),
                Found::Unknown => Err(Bound),
            },
            Symbol::PERMIT => Ok(Some(self.list(&[Goal::Permitted(args)], depth, next))),
            Symbol::FORBID => Ok(Some(self.list(&[Goal::Derived(false, args)], depth, next))),
            name if name.is_built_in() => Ok(self.compare(name, first, second).then_some(next)),
            name => match (self.terms.symbols.name(name), functor.arity) {
                ("true", 0) => Ok(Some(next)),
                ("fail" | "false", 0) => Ok(None),
                _ => Ok(self.literal(constraint, functor, owner, depth, next)),
            },
        }
    }

    /// `p(..)`: from knowledge; else a decision; else, for a guard, what the policies allow.
    fn literal(
        &mut self,
        literal: TermId,
        functor: Functor,
        owner: Option<Owner>,
        depth: u32,
        next: u32,
    ) -> Option<u32> {
        let knower = owner.unwrap_or(self.actor);
        self.consulted.insert(Consulted::Known(knower, functor));
        let is_known = self.program.facts(knower, functor).next().is_some();
        let is_choice = !is_known && self.program.is_choice(knower, functor);
        if owner.is_some() {
            return match (is_known, is_choice) {
                (true, _) => Some(self.list(&[Goal::Known(literal, knower)], depth, next)),
                (_, true) => self.positive.then_some(next),
                _ => None,
            };
        }
        let object = self.bindings.fresh(1);
        let gate = Goal::Gate(self.terms.var(object), literal);
        if is_known {
            return Some(self.list(&[Goal::Known(literal, knower), gate], depth, next));
        }
        if is_choice {
            return if self.positive { Some(self.list(&[gate], depth, next)) } else { None };
        }
        if self.is_regulated(functor) {
            return Some(self.list(&[gate], depth, next));
        }
        let (who, what) = (self.program.name(self.terms, knower), self.terms.symbols.name(functor.name));
        self.findings.unknown.insert(format!("{who}: {what}/{}", functor.arity));
        None
    }

    fn compare(&mut self, name: Symbol, left: TermId, right: TermId) -> bool {
        match name {
            Symbol::UNIFY => self.terms.unify(left, right, &mut self.bindings),
            Symbol::DIFFER => {
                let mark = self.bindings.mark();
                let is_equal = self.terms.unify(left, right, &mut self.bindings);
                self.bindings.undo(mark);
                !is_equal
            }
            Symbol::SAME | Symbol::NOT_SAME => {
                let left = self.terms.resolve(left, &self.bindings);
                let right = self.terms.resolve(right, &self.bindings);
                (left == right) == (name == Symbol::SAME)
            }
            Symbol::IS => {
                let value = evaluate(self.terms, &self.bindings, right);
                let value = value.and_then(|value| value.term(self.terms));
                value.is_some_and(|value| self.terms.unify(left, value, &mut self.bindings))
            }
            _ => {
                let left = evaluate(self.terms, &self.bindings, left);
                let right = evaluate(self.terms, &self.bindings, right);
                let Some(order) = left.zip(right).and_then(|(left, right)| left.compare(right)) else {
                    return false;
                };
                match name {
                    Symbol::LESS => order.is_lt(),
                    Symbol::GREATER => order.is_gt(),
                    Symbol::AT_MOST => order.is_le(),
                    Symbol::AT_LEAST => order.is_ge(),
                    _ => false,
                }
            }
        }
    }

    /// The first clause for a literal that fits, from one on.
    fn try_facts(&mut self, literal: TermId, owner: Owner, from: u32, depth: u32, next: u32) -> Option<u32> {
        let program = self.program;
        let functor = self.terms.functor(literal)?;
        let mut facts = program.facts(owner, functor).enumerate().skip(from as usize).peekable();
        while let Some((at, fact)) = facts.next() {
            let mark = self.bindings.mark();
            let offset = self.bindings.fresh(fact.n_vars);
            let head = self.terms.shift(fact.head, offset);
            if !self.terms.unify(literal, head, &mut self.bindings) {
                self.bindings.undo(mark);
                continue;
            }
            if facts.peek().is_some() {
                let from = at as u32 + 1;
                self.choose_at(Other::Facts { literal, owner, from, depth, next }, mark);
            }
            return Some(match fact.body {
                Some(body) => {
                    let body = self.terms.shift(body, offset);
                    self.list(&[Goal::Body(body, owner)], depth + 1, next)
                }
                None => next,
            });
        }
        None
    }

    /// A choice to go back to a point before the bindings just made.
    fn choose_at(&mut self, other: Other, mark: Mark) {
        self.choose(other);
        if let Some(choice) = self.choices.last_mut() {
            choice.mark = mark;
        }
    }

    /// The first rule of a sign that fits, from one on.
    fn try_rules(
        &mut self,
        permits: bool,
        triple: [TermId; 3],
        from: u32,
        depth: u32,
        next: u32,
    ) -> Option<u32> {
        let program = self.program;
        let action = self.terms.walk(triple[2], &self.bindings);
        let functor = self.terms.functor(action)?;
        self.consulted.insert(Consulted::Policy(functor));
        let rules = program.rules_for(functor, permits);
        for (at, number) in rules.iter().enumerate().skip(from as usize) {
            let rule = &program.rules[*number as usize];
            let mark = self.bindings.mark();
            let offset = self.bindings.fresh(rule.n_vars);
            let head = [rule.subject, rule.object, rule.action].map(|term| self.terms.shift(term, offset));
            if !triple
                .iter()
                .zip(head)
                .all(|(term, of_rule)| self.terms.unify(*term, of_rule, &mut self.bindings))
            {
                self.bindings.undo(mark);
                continue;
            }
            if at + 1 < rules.len() {
                let from = at as u32 + 1;
                self.choose_at(Other::Rules { permits, triple, from, depth, next }, mark);
            }
            return Some(match rule.body {
                Some(body) => {
                    let body = self.terms.shift(body, offset);
                    self.list(&[Goal::Body(body, rule.enforcer)], depth + 1, next)
                }
                None => next,
            });
        }
        None
    }

    /// Whether some rule permits an action by this name to the actor: then only what is permitted
    /// is allowed.
    pub(crate) fn is_regulated(&mut self, functor: Functor) -> bool {
        self.consulted.insert(Consulted::Policy(functor));
        let program = self.program;
        let id = program.ids[self.actor.0 as usize];
        program.rules_for(functor, true).iter().any(|number| {
            let rule = &program.rules[*number as usize];
            let mark = self.bindings.mark();
            let offset = self.bindings.fresh(rule.n_vars);
            let subject = self.terms.shift(rule.subject, offset);
            let fits = self.terms.unify(subject, id, &mut self.bindings);
            self.bindings.undo(mark);
            fits
        })
    }

    /// The actor may do it: it is permitted if the action is regulated, and else not forbidden.
    fn gate(&mut self, object: TermId, action: TermId, depth: u32, next: u32) -> Result<Option<u32>, Bound> {
        let action = self.terms.walk(action, &self.bindings);
        let Some(functor) = self.terms.functor(action) else { return Ok(Some(next)) };
        let subject = self.program.ids[self.actor.0 as usize];
        let triple = [subject, object, action];
        if self.is_regulated(functor) {
            return Ok(Some(self.list(&[Goal::Permitted(triple)], depth, next)));
        }
        match self.find_against(&[Goal::Derived(false, triple)], depth) {
            Found::Yes => Ok(None),
            Found::No => Ok(Some(next)),
            Found::Unknown => Err(Bound),
        }
    }

    fn note_conflict(&mut self, triple: [TermId; 3]) {
        let tuple = self.terms.app(Symbol::PERMIT, &triple);
        let tuple = self.terms.resolve(tuple, &self.bindings);
        let tuple = self.terms.canonical(tuple);
        let [subject, object, action] = [0, 1, 2].map(|at| self.terms.text(self.terms.arg(tuple, at)));
        self.findings.conflicts.insert(format!("({subject},{object},±{action})"));
    }

    /// Whether two terms are the same role to the one who sends and the one who receives.
    pub(crate) fn match_roles(&mut self, left: TermId, right: TermId) -> bool {
        let (left, right) = (self.terms.walk(left, &self.bindings), self.terms.walk(right, &self.bindings));
        let is_lenient = self.program.options.roles == crate::options::Roles::Lenient;
        match (self.terms.head(left), self.terms.head(right)) {
            (Head::App(a), Head::App(b)) if is_lenient && a == b => {
                self.terms.args(left).len() != self.terms.args(right).len()
                    || self.terms.unify(left, right, &mut self.bindings)
            }
            _ => self.terms.unify(left, right, &mut self.bindings),
        }
    }
}

/// A bound was met.
struct Bound;
