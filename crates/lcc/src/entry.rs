//! What may come and go while agents interact: facts, rules and decisions.

use crate::program::{FactDef, Known, Owner, Program, RuleDef};
use crate::resolve::Consulted;
use crate::term::Functor;

/// A statement that a program has or has not.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// What an owner knows, or everybody does, of a predicate.
    Fact(Option<Owner>, Functor, FactDef),
    /// A rule for an action.
    Rule(Functor, RuleDef),
    /// That the outcome of a predicate is an owner's own decision, or everybody's.
    Choice(Option<Owner>, Functor),
}

impl Entry {
    /// Whether two statements say the same; how their variables are called does not matter, since
    /// they are numbered in the order of the text.
    pub(crate) fn is_same(&self, other: &Entry) -> bool {
        match (self, other) {
            (Entry::Fact(owner, _, fact), Entry::Fact(of_other, _, other)) => {
                owner == of_other && is_same_fact(fact, other)
            }
            (Entry::Rule(_, rule), Entry::Rule(_, other)) => is_same_rule(rule, other),
            (Entry::Choice(owner, functor), Entry::Choice(of_other, other)) => {
                owner == of_other && functor == other
            }
            _ => false,
        }
    }

    /// Whether the outcome of a search that looked at this may change with the statement.
    pub(crate) fn touches(&self, consulted: Consulted) -> bool {
        match (self, consulted) {
            (Entry::Fact(owner, functor, _) | Entry::Choice(owner, functor), Consulted::Known(by, of)) => {
                *functor == of && owner.is_none_or(|owner| owner == by)
            }
            (Entry::Rule(functor, _), Consulted::Policy(of)) => *functor == of,
            _ => false,
        }
    }

    /// Whether adding it could make something depend on its own absence.
    pub(crate) fn has_body(&self) -> bool {
        match self {
            Entry::Fact(_, _, fact) => fact.body.is_some(),
            Entry::Rule(_, rule) => rule.body.is_some(),
            Entry::Choice(..) => false,
        }
    }
}

fn is_same_fact(left: &FactDef, right: &FactDef) -> bool {
    (left.head, left.body) == (right.head, right.body)
}

fn is_same_rule(left: &RuleDef, right: &RuleDef) -> bool {
    let said =
        |rule: &RuleDef| (rule.enforcer, rule.permits, rule.subject, rule.object, rule.action, rule.body);
    said(left) == said(right)
}

impl Program {
    fn known_to(&mut self, owner: Option<Owner>) -> &mut Known {
        match owner {
            Some(owner) => &mut self.known[owner.0 as usize],
            None => &mut self.common,
        }
    }

    /// Whether the program has a statement that says the same.
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Fact(owner, functor, fact) => {
                let known = owner.map_or(&self.common, |owner| &self.known[owner.0 as usize]);
                known.get(functor).into_iter().flatten().any(|other| is_same_fact(fact, other))
            }
            Entry::Rule(functor, rule) => {
                let mut numbers = self.rules_for(*functor, rule.permits).iter();
                numbers.any(|number| is_same_rule(rule, &self.rules[*number as usize]))
            }
            Entry::Choice(owner, functor) => self.choices.contains(&(*owner, *functor)),
        }
    }

    /// Adds a statement behind all others.
    pub(crate) fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Fact(owner, functor, fact) => {
                self.known_to(owner).entry(functor).or_default().push(fact);
            }
            Entry::Rule(functor, mut rule) => {
                let number = self.rules.len() as u32;
                rule.number = number + 1;
                self.by_action.entry((functor, rule.permits)).or_default().push(number);
                self.rules.push(rule);
            }
            Entry::Choice(owner, functor) => {
                self.choices.insert((owner, functor));
            }
        }
    }

    /// Removes all statements that say the same.
    pub(crate) fn remove(&mut self, entry: &Entry) {
        match entry {
            Entry::Fact(owner, functor, fact) => {
                if let Some(facts) = self.known_to(*owner).get_mut(functor) {
                    facts.retain(|other| !is_same_fact(fact, other));
                }
            }
            Entry::Rule(_, rule) => {
                while let Some(at) = self.rules.iter().position(|other| is_same_rule(rule, other)) {
                    self.remove_rule(at);
                }
            }
            Entry::Choice(owner, functor) => {
                self.choices.remove(&(*owner, *functor));
            }
        }
    }

    /// Those behind it move up: a rule's number is its place.
    fn remove_rule(&mut self, at: usize) {
        self.rules.remove(at);
        self.rules[at..].iter_mut().for_each(|rule| rule.number -= 1);
        for numbers in self.by_action.values_mut() {
            numbers.retain(|number| *number != at as u32);
            numbers.iter_mut().filter(|number| **number > at as u32).for_each(|number| *number -= 1);
        }
    }
}
