//! The statements that a session may add and remove while agents interact: facts, rules, choices, clauses and
//! members of the team.

use rustc_hash::FxHashSet;

use crate::program::{ClauseDef, FactDef, Known, Owner, Program, RuleDef};
use crate::resolve::Consulted;
use crate::term::{Functor, TermId};

/// A statement that can be added to a program and removed from it.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A fact about a predicate: known to one owner, or common knowledge if `None`.
    Fact(Option<Owner>, Functor, FactDef),
    /// A rule for an action.
    Rule(Functor, RuleDef),
    /// A predicate whose outcome is the decision of one owner, or of each agent if `None`.
    Choice(Option<Owner>, Functor),
    /// A clause of the protocol, as it is written.
    Clause(ClauseDef),
    /// A member of the team.
    Member(MemberDef),
}

/// An `agent` or `server` statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemberDef {
    pub(crate) role: TermId,
    pub(crate) id: TermId,
    pub(crate) is_server: bool,
}

impl Entry {
    /// Whether two statements are equal up to the names of their variables, which are numbered in the
    /// order of the text.
    pub(crate) fn is_same(&self, other: &Entry) -> bool {
        match (self, other) {
            (Entry::Fact(owner, _, fact), Entry::Fact(of_other, _, other)) => {
                owner == of_other && is_same_fact(fact, other)
            }
            (Entry::Rule(_, rule), Entry::Rule(_, other)) => is_same_rule(rule, other),
            (Entry::Choice(owner, functor), Entry::Choice(of_other, other)) => {
                owner == of_other && functor == other
            }
            (Entry::Clause(clause), Entry::Clause(other)) => {
                (clause.role, clause.id, clause.body) == (other.role, other.id, other.body)
            }
            (Entry::Member(member), Entry::Member(other)) => member == other,
            _ => false,
        }
    }

    /// Whether the statement has conditions, so that adding it could make something depend on its own
    /// absence.
    pub(crate) fn has_body(&self) -> bool {
        match self {
            Entry::Fact(_, _, fact) => fact.body.is_some(),
            Entry::Rule(_, rule) => rule.body.is_some(),
            Entry::Choice(..) | Entry::Clause(_) | Entry::Member(_) => false,
        }
    }
}

/// The names that some statements are about.
pub(crate) struct ChangedNames {
    /// Predicates of facts and choices, each with its owner; no owner means every owner.
    predicates: FxHashSet<(Option<Owner>, Functor)>,
    /// Actions of rules.
    actions: FxHashSet<Functor>,
}

impl ChangedNames {
    pub(crate) fn new(entries: &[Entry]) -> ChangedNames {
        let mut names = ChangedNames { predicates: FxHashSet::default(), actions: FxHashSet::default() };
        for entry in entries {
            match entry {
                Entry::Fact(owner, functor, _) | Entry::Choice(owner, functor) => {
                    names.predicates.insert((*owner, *functor));
                }
                Entry::Rule(functor, _) => _ = names.actions.insert(*functor),
                // These are not changed in place.
                Entry::Clause(_) | Entry::Member(_) => {}
            }
        }
        names
    }

    /// Whether adding or removing the statements may change the outcome of a search that consulted this.
    pub(crate) fn affect(&self, consulted: Consulted) -> bool {
        match consulted {
            Consulted::Known(by, of) => {
                [Some(by), None].iter().any(|by| self.predicates.contains(&(*by, of)))
            }
            Consulted::Policy(of) => self.actions.contains(&of),
        }
    }
}

fn is_same_fact(left: &FactDef, right: &FactDef) -> bool {
    (left.head, left.body) == (right.head, right.body)
}

fn is_same_rule(left: &RuleDef, right: &RuleDef) -> bool {
    let content =
        |rule: &RuleDef| (rule.enforcer, rule.permits, rule.subject, rule.object, rule.action, rule.body);
    content(left) == content(right)
}

impl Program {
    /// Facts of an owner, or common knowledge if `None`.
    fn known_to(&mut self, owner: Option<Owner>) -> &mut Known {
        match owner {
            Some(owner) => &mut self.known[owner.0 as usize],
            None => &mut self.common,
        }
    }

    /// Whether the program has an equal statement.
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Fact(owner, functor, fact) => {
                let known = owner.map_or(&self.common, |owner| &self.known[owner.0 as usize]);
                known.get(functor).into_iter().flatten().any(|other| is_same_fact(fact, other))
            }
            Entry::Rule(functor, rule) => {
                let mut rule_indices = self.rules_for(*functor, rule.permits).iter();
                rule_indices.any(|rule_index| is_same_rule(rule, &self.rules[*rule_index as usize]))
            }
            Entry::Choice(owner, functor) => self.choices.contains(&(*owner, *functor)),
            Entry::Clause(_) | Entry::Member(_) => false,
        }
    }

    /// Number of statements with which an equal statement is searched for.
    pub(crate) fn n_like(&self, entry: &Entry) -> usize {
        match entry {
            Entry::Fact(owner, functor, _) => {
                let known = owner.map_or(&self.common, |owner| &self.known[owner.0 as usize]);
                known.get(functor).map_or(0, Vec::len)
            }
            // Later rules are renumbered when one is removed.
            Entry::Rule(..) => self.rules.len() + self.by_action.len(),
            Entry::Choice(..) | Entry::Clause(_) | Entry::Member(_) => 0,
        }
    }

    /// Adds a statement after all others.
    pub(crate) fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Fact(owner, functor, fact) => {
                self.known_to(owner).entry(functor).or_default().push(fact);
            }
            Entry::Rule(functor, mut rule) => {
                let rule_index = self.rules.len() as u32;
                rule.number = rule_index + 1;
                self.by_action.entry((functor, rule.permits)).or_default().push(rule_index);
                self.rules.push(rule);
            }
            Entry::Choice(owner, functor) => {
                self.choices.insert((owner, functor));
            }
            Entry::Clause(_) | Entry::Member(_) => {}
        }
    }

    /// Removes all statements that are equal to this one.
    pub(crate) fn remove(&mut self, entry: &Entry) {
        match entry {
            Entry::Fact(owner, functor, fact) => {
                if let Some(facts) = self.known_to(*owner).get_mut(functor) {
                    facts.retain(|other| !is_same_fact(fact, other));
                }
            }
            Entry::Rule(_, rule) => {
                while let Some(index) = self.rules.iter().position(|other| is_same_rule(rule, other)) {
                    self.remove_rule(index);
                }
            }
            Entry::Choice(owner, functor) => {
                self.choices.remove(&(*owner, *functor));
            }
            Entry::Clause(_) | Entry::Member(_) => {}
        }
    }

    /// Removes a rule and renumbers the later ones, because a rule's number follows from its index.
    fn remove_rule(&mut self, index: usize) {
        self.rules.remove(index);
        self.rules[index..].iter_mut().for_each(|rule| rule.number -= 1);
        for rule_indices in self.by_action.values_mut() {
            rule_indices.retain(|rule_index| *rule_index != index as u32);
            rule_indices
                .iter_mut()
                .filter(|rule_index| **rule_index > index as u32)
                .for_each(|rule_index| *rule_index -= 1);
        }
    }
}
