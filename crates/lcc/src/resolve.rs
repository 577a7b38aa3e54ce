//! The resolver: finds the solutions of a constraint, for one agent, under the policies: sat(C) of Figure 9, with
//! constraints as a window to the deontic rules. [ORW06 §2 Table 1, §8.1, §8.2]
//!
//! SLD resolution with an explicit stack of goals and one of choice points, so the length of a proof is not
//! limited by the call stack. Negation as failure and "no rule forbids it" start a nested search; because
//! instances are stratified, nested searches terminate. A search that exceeds a bound reports that: the
//! solutions it found are valid, but "no solution" is then unknown, and so is everything that depends on it.

use std::collections::BTreeSet;

use crate::arith::evaluate;
use crate::options::Conflict;
use crate::program::{Owner, Program};
use crate::symbol::Symbol;
use crate::term::{Bindings, Functor, Head, Mark, TermId, Terms};

/// Maximum number of inference steps of one resolver, which works on one local situation.
const MAX_INFERENCE_STEPS: u32 = 200_000;
/// Maximum number of searches nested in each other.
const MAX_NESTED_SEARCHES: u32 = 100;
/// Index that marks the end of a list of goals.
const NO_GOALS: u32 = u32::MAX;

/// A part of the program that a search consulted. A change elsewhere cannot change the outcome of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Consulted {
    /// The facts and choices about a predicate, or their absence: those of an owner and common ones.
    Known(Owner, Functor),
    /// The rules for an action, or their absence.
    Policy(Functor),
}

/// Findings of a search that are reported beside verdicts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Actions that are both permitted and forbidden, as `(subject,object,±action)`.
    pub(crate) conflicts: BTreeSet<String>,
    /// Constraints about which the acting agent has no facts, choices or rules, as `agent: name/arity`.
    pub(crate) unknown: BTreeSet<String>,
}

impl Findings {
    pub(crate) fn is_empty(&self) -> bool {
        self.conflicts.is_empty() && self.unknown.is_empty()
    }

    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.conflicts.iter().chain(&self.unknown);
        size_of::<Findings>() + texts.map(|text| text.capacity() + 2 * size_of::<String>()).sum::<usize>()
    }

    /// Merges findings.
    pub(crate) fn all<'f>(parts: impl Iterator<Item = &'f Findings>) -> Findings {
        let mut all = Findings::default();
        for part in parts {
            all.conflicts.extend(part.conflicts.iter().cloned());
            all.unknown.extend(part.unknown.iter().cloned());
        }
        all
    }
}

/// A goal of resolution.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// A constraint of the acting agent. Its literals are recorded, and the policies must allow them.
    Guard(TermId),
    /// A constraint in the body of an owner's fact or rule.
    Body(TermId, Owner),
    /// A literal that must follow from the facts of an owner.
    Known(TermId, Owner),
    /// The acting agent is allowed to perform an action (second) towards an object (first).
    Allowed(TermId, TermId),
    /// A rule permits the triple (subject, object, action), and [`Goal::NotForbidden`] holds.
    Permitted([TermId; 3]),
    /// No rule forbids the triple, or permissions take precedence.
    NotForbidden([TermId; 3]),
    /// A rule permits (`true`) or forbids (`false`) the triple.
    RuleApplies(bool, [TermId; 3]),
}

/// An element of a linked list of goals.
#[derive(Clone, Copy, Debug)]
struct PendingGoal {
    goal: Goal,
    /// Number of facts and rules applied to reach the goal.
    depth: u32,
    /// Index of the next goal, or [`NO_GOALS`].
    next: u32,
}

/// An untried alternative of a choice point.
#[derive(Clone, Copy, Debug)]
enum Alternative {
    /// Another list of goals, by the index of the first.
    Goals(u32),
    /// The facts for a literal, from index `from` on.
    Facts { literal: TermId, owner: Owner, from: u32, depth: u32, next: u32 },
    /// The rules for an action, from index `from` on.
    Rules { permits: bool, triple: [TermId; 3], from: u32, depth: u32, next: u32 },
}

/// A point to which the search backtracks: an alternative, and the sizes of the stacks to restore.
#[derive(Clone, Copy, Debug)]
struct ChoicePoint {
    alternative: Alternative,
    mark: Mark,
    n_pending: u32,
    n_used: u32,
}

/// A solution: the payload with its variables replaced, and the literals of guards that it used.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub(crate) payload: TermId,
    pub(crate) used: Vec<TermId>,
}

/// Whether a search found a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Yes,
    No,
    /// No solution was found, but a bound was exceeded.
    Unknown,
}

/// The state of resolution for one agent.
pub(crate) struct Resolver<'a> {
    pub(crate) program: &'a Program,
    pub(crate) terms: &'a mut Terms,
    pub(crate) findings: &'a mut Findings,
    pub(crate) bindings: Bindings,
    pub(crate) consulted: BTreeSet<Consulted>,
    /// The acting agent.
    pub(crate) actor: Owner,
    pending: Vec<PendingGoal>,
    choices: Vec<ChoicePoint>,
    /// Literals of guards used so far.
    used: Vec<TermId>,
    /// Indices of the rules that the last explanation of a failure names.
    pub(crate) named_rules: Vec<u32>,
    /// Whether decisions count as made. Below an odd number of negations they count as refused, so that both
    /// `p` and `not p` have solutions for a decision `p`.
    positive: bool,
    /// Number of searches in progress, nested in each other.
    n_nested: u32,
    /// Number of inference steps left.
    steps_left: u32,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        program: &'a Program,
        terms: &'a mut Terms,
        findings: &'a mut Findings,
        actor: Owner,
    ) -> Resolver<'a> {
        Resolver {
            program,
            terms,
            findings,
            bindings: Bindings::default(),
            consulted: BTreeSet::new(),
            actor,
            pending: Vec::new(),
            choices: Vec::new(),
            used: Vec::new(),
            named_rules: Vec::new(),
            positive: true,
            n_nested: 0,
            steps_left: MAX_INFERENCE_STEPS,
        }
    }

    /// Returns the solutions of the goals in the order in which resolution finds them, and whether these are
    /// all. The bindings are restored.
    pub(crate) fn solutions(&mut self, goals: &[Goal], payload: TermId) -> (Vec<Solution>, bool) {
        let list = self.list(goals, 0, NO_GOALS);
        let mut solutions = Vec::new();
        let is_complete = self.search(list, |resolver| {
            let payload = resolver.terms.resolve(payload, &resolver.bindings);
            let used = std::mem::take(&mut resolver.used);
            let resolved =
                used.iter().map(|literal| resolver.terms.resolve(*literal, &resolver.bindings)).collect();
            resolver.used = used;
            solutions.push(Solution { payload, used: resolved });
            false
        });
        (solutions, is_complete)
    }

    /// Whether the goals have a solution.
    pub(crate) fn find(&mut self, goals: &[Goal]) -> Found {
        self.find_at(goals, 0)
    }

    fn find_at(&mut self, goals: &[Goal], depth: u32) -> Found {
        if self.n_nested >= MAX_NESTED_SEARCHES {
            return Found::Unknown;
        }
        self.n_nested += 1;
        let list = self.list(goals, depth, NO_GOALS);
        let mut is_found = false;
        let is_complete = self.search(list, |_| {
            is_found = true;
            true
        });
        self.n_nested -= 1;
        match (is_found, is_complete) {
            (true, _) => Found::Yes,
            (false, true) => Found::No,
            (false, false) => Found::Unknown,
        }
    }

    /// Whether the goals have a solution when the meaning of decisions is inverted, as below a negation.
    fn find_negated(&mut self, goals: &[Goal], depth: u32) -> Found {
        self.positive = !self.positive;
        let found = self.find_at(goals, depth);
        self.positive = !self.positive;
        found
    }

    /// Prepends goals to a list. Returns the index of the first goal.
    fn list(&mut self, goals: &[Goal], depth: u32, next: u32) -> u32 {
        goals.iter().rev().fold(next, |next, goal| {
            self.pending.push(PendingGoal { goal: *goal, depth, next });
            self.pending.len() as u32 - 1
        })
    }

    /// Enumerates solutions until `found` returns `true`. Returns whether no bound was exceeded.
    fn search(&mut self, goals: u32, mut found: impl FnMut(&mut Self) -> bool) -> bool {
        let (base, mark) = (self.choices.len(), self.bindings.mark());
        let (n_pending, n_used) = (self.pending.len(), self.used.len());
        let mut is_complete = true;
        let mut current = Some(goals);
        while let Some(index) = current {
            current = match index {
                NO_GOALS if found(self) => None,
                NO_GOALS => self.backtrack(base),
                _ if self.steps_left == 0 => {
                    is_complete = false;
                    None
                }
                _ => {
                    self.steps_left -= 1;
                    match self.step(index) {
                        Ok(Some(next)) => Some(next),
                        Ok(None) => self.backtrack(base),
                        Err(BoundExceeded) => {
                            is_complete = false;
                            self.backtrack(base)
                        }
                    }
                }
            };
        }
        self.choices.truncate(base);
        self.bindings.undo(mark);
        self.pending.truncate(n_pending);
        self.used.truncate(n_used);
        is_complete
    }

    /// Goes back to the most recent choice point with an alternative left, and returns its goals.
    fn backtrack(&mut self, base: usize) -> Option<u32> {
        while self.choices.len() > base {
            let choice = self.choices.pop()?;
            self.bindings.undo(choice.mark);
            self.pending.truncate(choice.n_pending as usize);
            self.used.truncate(choice.n_used as usize);
            let next = match choice.alternative {
                Alternative::Goals(goals) => Some(goals),
                Alternative::Facts { literal, owner, from, depth, next } => {
                    self.try_facts(literal, owner, from, depth, next)
                }
                Alternative::Rules { permits, triple, from, depth, next } => {
                    self.try_rules(permits, triple, from, depth, next)
                }
            };
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Adds a choice point.
    fn choose(&mut self, alternative: Alternative) {
        let choice = ChoicePoint {
            alternative,
            mark: self.bindings.mark(),
            n_pending: self.pending.len() as u32,
            n_used: self.used.len() as u32,
        };
        self.choices.push(choice);
    }

    /// Resolves the first goal of a list. Returns the remaining goals, or `None` if the goal fails.
    fn step(&mut self, index: u32) -> Result<Option<u32>, BoundExceeded> {
        let PendingGoal { goal, depth, next } = self.pending[index as usize];
        match goal {
            Goal::Guard(constraint) => self.constraint(constraint, None, depth, next),
            Goal::Body(constraint, owner) => self.constraint(constraint, Some(owner), depth, next),
            Goal::Known(literal, owner) => {
                self.check_depth(depth)?;
                Ok(self.try_facts(literal, owner, 0, depth, next))
            }
            Goal::Allowed(object, action) => self.gate(object, action, depth, next),
            Goal::Permitted(triple) => Ok(Some(self.list(
                &[Goal::RuleApplies(true, triple), Goal::NotForbidden(triple)],
                depth,
                next,
            ))),
            Goal::NotForbidden(triple) => match self.find_negated(&[Goal::RuleApplies(false, triple)], depth)
            {
                Found::Yes => {
                    self.record_conflict(triple);
                    Ok((self.program.options.conflict == Conflict::Permit).then_some(next))
                }
                Found::No => Ok(Some(next)),
                Found::Unknown => Err(BoundExceeded),
            },
            Goal::RuleApplies(permits, triple) => {
                self.check_depth(depth)?;
                Ok(self.try_rules(permits, triple, 0, depth, next))
            }
        }
    }

    fn check_depth(&self, depth: u32) -> Result<(), BoundExceeded> {
        if depth > self.program.options.sld { Err(BoundExceeded) } else { Ok(()) }
    }

    /// Resolves a constraint: a guard, or part of the body of an owner's fact or rule.
    fn constraint(
        &mut self,
        constraint: TermId,
        owner: Option<Owner>,
        depth: u32,
        next: u32,
    ) -> Result<Option<u32>, BoundExceeded> {
        let constraint = self.terms.walk(constraint, &self.bindings);
        let goal = |term: TermId| match owner {
            Some(owner) => Goal::Body(term, owner),
            None => Goal::Guard(term),
        };
        let Some(functor) = self.terms.functor(constraint) else { return Ok(None) };
        let args: [TermId; 3] = {
            let args = self.terms.args(constraint);
            std::array::from_fn(|index| args.get(index).copied().unwrap_or(constraint))
        };
        let [first, second, _] = args;
        match functor.name {
            Symbol::AND => return Ok(Some(self.list(&[goal(first), goal(second)], depth, next))),
            Symbol::OR => {
                let right = self.list(&[goal(second)], depth, next);
                self.choose(Alternative::Goals(right));
                return Ok(Some(self.list(&[goal(first)], depth, next)));
            }
            _ => {}
        }
        if owner.is_none() {
            self.used.push(constraint);
        }
        match functor.name {
            Symbol::NOT => match self.find_negated(&[goal(first)], depth) {
                Found::Yes => Ok(None),
                Found::No => Ok(Some(next)),
                Found::Unknown => Err(BoundExceeded),
            },
            Symbol::PERMIT => Ok(Some(self.list(&[Goal::Permitted(args)], depth, next))),
            Symbol::FORBID => Ok(Some(self.list(&[Goal::RuleApplies(false, args)], depth, next))),
            name if name.is_built_in() => Ok(self.compare(name, first, second).then_some(next)),
            name => match (self.terms.symbols.name(name), functor.arity) {
                ("true", 0) => Ok(Some(next)),
                ("fail" | "false", 0) => Ok(None),
                _ => Ok(self.literal(constraint, functor, owner, depth, next)),
            },
        }
    }

    /// Resolves `p(..)` from facts; without facts as a decision; for a guard, also because a rule permits it.
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
        let gate = Goal::Allowed(self.terms.var(object), literal);
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

    /// Evaluates a comparison.
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

    /// Applies the first fact that unifies with a literal, from index `from` on.
    fn try_facts(&mut self, literal: TermId, owner: Owner, from: u32, depth: u32, next: u32) -> Option<u32> {
        let program = self.program;
        let functor = self.terms.functor(literal)?;
        let mut facts = program.facts(owner, functor).enumerate().skip(from as usize).peekable();
        while let Some((index, fact)) = facts.next() {
            let mark = self.bindings.mark();
            let offset = self.bindings.fresh(fact.n_vars);
            let head = self.terms.shift(fact.head, offset);
            if !self.terms.unify(literal, head, &mut self.bindings) {
                self.bindings.undo(mark);
                continue;
            }
            if facts.peek().is_some() {
                let from = index as u32 + 1;
                self.choose_before(Alternative::Facts { literal, owner, from, depth, next }, mark);
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

    /// Adds a choice point that also undoes the bindings since `mark`.
    fn choose_before(&mut self, alternative: Alternative, mark: Mark) {
        self.choose(alternative);
        if let Some(choice) = self.choices.last_mut() {
            choice.mark = mark;
        }
    }

    /// Applies the first rule that permits, or forbids, a triple, from index `from` on.
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
        for (index, rule_index) in rules.iter().enumerate().skip(from as usize) {
            let rule = &program.rules[*rule_index as usize];
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
            if index + 1 < rules.len() {
                let from = index as u32 + 1;
                self.choose_before(Alternative::Rules { permits, triple, from, depth, next }, mark);
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

    /// Whether some rule permits the actor an action of this name. Such an action is allowed only where a
    /// rule permits it.
    pub(crate) fn is_regulated(&mut self, functor: Functor) -> bool {
        self.consulted.insert(Consulted::Policy(functor));
        let program = self.program;
        let id = program.ids[self.actor.0 as usize];
        program.rules_for(functor, true).iter().any(|rule_index| {
            let rule = &program.rules[*rule_index as usize];
            let mark = self.bindings.mark();
            let offset = self.bindings.fresh(rule.n_vars);
            let subject = self.terms.shift(rule.subject, offset);
            let fits = self.terms.unify(subject, id, &mut self.bindings);
            self.bindings.undo(mark);
            fits
        })
    }

    /// Resolves the condition that the actor is allowed to perform an action: a regulated action must be
    /// permitted, any other must not be forbidden.
    fn gate(
        &mut self,
        object: TermId,
        action: TermId,
        depth: u32,
        next: u32,
    ) -> Result<Option<u32>, BoundExceeded> {
        let action = self.terms.walk(action, &self.bindings);
        let Some(functor) = self.terms.functor(action) else { return Ok(Some(next)) };
        let subject = self.program.ids[self.actor.0 as usize];
        let triple = [subject, object, action];
        if self.is_regulated(functor) {
            return Ok(Some(self.list(&[Goal::Permitted(triple)], depth, next)));
        }
        match self.find_negated(&[Goal::RuleApplies(false, triple)], depth) {
            Found::Yes => Ok(None),
            Found::No => Ok(Some(next)),
            Found::Unknown => Err(BoundExceeded),
        }
    }

    fn record_conflict(&mut self, triple: [TermId; 3]) {
        let tuple = self.terms.app(Symbol::PERMIT, &triple);
        let tuple = self.terms.resolve(tuple, &self.bindings);
        let tuple = self.terms.canonical(tuple);
        let [subject, object, action] = [0, 1, 2].map(|index| self.terms.text(self.terms.arg(tuple, index)));
        self.findings.conflicts.insert(format!("({subject},{object},±{action})"));
    }

    /// Matches the role that a message is addressed to with the role of the receiver, or likewise for the
    /// sender.
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

/// A bound was exceeded.
struct BoundExceeded;
