//! Explains why an agent is stuck: the paper drops counterexamples [ORW06 §3], but a broker needs to know which
//! agent and which rule prevent the interaction. That is, which constraint failed, which rule prevents the step, and which fact
//! that rule requires.
//!
//! The traversal that finds an agent's steps (`step.rs`) calls this module for each step that has no
//! solution. The explanation names the first literal of the constraint without a solution. If the agent
//! knows that literal but is not allowed to perform it, the explanation names the rule that prevents it
//! and what the rule requires.

use crate::resolve::{Found, Goal, Resolver};
use crate::symbol::Symbol;
use crate::term::TermId;

/// Maximum number of rules that an explanation follows from one to the next.
const MAX_RULE_DEPTH: u32 = 8;

/// Explains in words why these goals have no solution, with the index of the first goal that has none;
/// `None` if they have one.
///
/// The rules that the explanation names are stored in the resolver.
pub(crate) fn explain_failure(resolver: &mut Resolver<'_>, goals: &[Goal]) -> Option<(usize, String)> {
    resolver.named_rules.clear();
    let mut before: Vec<Goal> = Vec::new();
    for (index, goal) in goals.iter().enumerate() {
        for part in conjuncts(resolver, *goal) {
            let mut so_far = before.clone();
            so_far.push(part);
            if resolver.find(&so_far) == Found::No {
                return Some((index, describe_failure(resolver, &before, part)));
            }
            before = so_far;
        }
    }
    None
}

/// Splits a conjunction into its conjuncts.
fn conjuncts(resolver: &Resolver<'_>, goal: Goal) -> Vec<Goal> {
    let (make, mut rest): (fn(TermId, crate::program::Owner) -> Goal, TermId) = match goal {
        Goal::Guard(constraint) => (|term, _| Goal::Guard(term), constraint),
        Goal::Body(constraint, _) => (Goal::Body, constraint),
        other => return vec![other],
    };
    let owner = if let Goal::Body(_, owner) = goal { owner } else { resolver.actor };
    let mut conjuncts = Vec::new();
    while resolver.terms.symbol(rest) == Some(Symbol::AND) {
        conjuncts.push(make(resolver.terms.arg(rest, 0), owner));
        rest = resolver.terms.arg(rest, 1);
    }
    conjuncts.push(make(rest, owner));
    conjuncts
}

/// Returns a term under the first solution of the goals before it. Its variables are declared, also those of facts
/// that the solution used.
fn instance(resolver: &mut Resolver<'_>, before: &[Goal], term: TermId) -> TermId {
    let (solutions, _) = resolver.solutions(before, term);
    let found = solutions.first().map_or(term, |solution| solution.payload);
    resolver.bindings.declare(resolver.terms.n_vars(found));
    found
}

/// Describes why `goal` fails after the goals `before` have succeeded.
fn describe_failure(resolver: &mut Resolver<'_>, before: &[Goal], goal: Goal) -> String {
    let who = resolver.program.name(resolver.terms, resolver.actor);
    match goal {
        Goal::Guard(constraint) => {
            let literal = instance(resolver, before, constraint);
            let text = resolver.terms.shape(literal);
            let Some(functor) = resolver.terms.functor(literal) else { return format!("{who} needs {text}") };
            match functor.name {
                Symbol::PERMIT => {
                    let triple = [0, 1, 2].map(|index| resolver.terms.arg(literal, index));
                    format!("{who} needs {text}: {}", not_permitted(resolver, triple, 0))
                }
                name if name.is_built_in() => format!("{who} needs {text}"),
                _ => unmet_literal(resolver, &who, literal),
            }
        }
        Goal::Allowed(object, action) => {
            let triple = resolver.terms.app(Symbol::SET, &[object, action]);
            let found = instance(resolver, before, triple);
            let (object, action) = (resolver.terms.arg(found, 0), resolver.terms.arg(found, 1));
            describe_blocked(resolver, &who, object, action)
        }
        _ => format!("{who} is not allowed to go on"),
    }
}

/// Describes why a literal of a guard fails: the agent does not know it, or the policies do not allow it.
fn unmet_literal(resolver: &mut Resolver<'_>, who: &str, literal: TermId) -> String {
    let text = resolver.terms.shape(literal);
    let Some(functor) = resolver.terms.functor(literal) else { return format!("{who} needs {text}") };
    let actor = resolver.actor;
    let has_facts = resolver.program.facts(actor, functor).next().is_some();
    let is_known = has_facts && resolver.find(&[Goal::Known(literal, actor)]) == Found::Yes;
    if is_known || (!has_facts && resolver.is_regulated(functor)) {
        let known =
            if is_known { instance(resolver, &[Goal::Known(literal, actor)], literal) } else { literal };
        let object = resolver.bindings.fresh(1);
        let object = resolver.terms.var(object);
        return describe_blocked(resolver, who, object, known);
    }
    let name = resolver.terms.symbols.name(functor.name);
    if has_facts {
        format!("{who} needs {text}, which does not follow from what {who} knows")
    } else {
        format!("{who} needs {text}, but has no facts about {name}/{}", functor.arity)
    }
}

/// Describes an action that the policies do not allow.
fn describe_blocked(resolver: &mut Resolver<'_>, who: &str, object: TermId, action: TermId) -> String {
    let subject = resolver.program.ids[resolver.actor.0 as usize];
    let triple = [subject, object, action];
    let reason = match resolver.terms.functor(action) {
        Some(functor) if resolver.is_regulated(functor) => not_permitted(resolver, triple, 0),
        _ => forbidden(resolver, triple),
    };
    format!("{who} could not {}: {reason}", describe_action(resolver, triple))
}

/// Names an action: `query hd` where a rule determines the object `hd`, otherwise the action with its
/// arguments.
fn describe_action(resolver: &mut Resolver<'_>, triple: [TermId; 3]) -> String {
    let program = resolver.program;
    let Some(functor) = resolver.terms.functor(triple[2]) else { return resolver.terms.shape(triple[2]) };
    let name = resolver.terms.symbols.name(functor.name).to_string();
    for index in program.rules_for(functor, true) {
        let mark = resolver.bindings.mark();
        let object = unify_rule(resolver, *index, triple)
            .map(|_| resolver.terms.resolve(triple[1], &resolver.bindings));
        resolver.bindings.undo(mark);
        if let Some(object) = object.filter(|object| resolver.terms.is_ground(*object)) {
            return format!("{name} {}", resolver.terms.text(object));
        }
    }
    resolver.terms.shape(triple[2])
}

/// Unifies the head of a rule with a triple. `None` if they do not unify, otherwise the body of the rule,
/// if it has one.
fn unify_rule(resolver: &mut Resolver<'_>, index: u32, triple: [TermId; 3]) -> Option<Option<TermId>> {
    let program = resolver.program;
    let rule = &program.rules[index as usize];
    let offset = resolver.bindings.fresh(rule.n_vars);
    let head = [rule.subject, rule.object, rule.action].map(|term| resolver.terms.shift(term, offset));
    let fits =
        triple.iter().zip(head).all(|(term, own)| resolver.terms.unify(*term, own, &mut resolver.bindings));
    fits.then(|| rule.body.map(|body| resolver.terms.shift(body, offset)))
}

/// Explains why no rule permits an action, or names the rule that forbids it although one permits it.
fn not_permitted(resolver: &mut Resolver<'_>, triple: [TermId; 3], depth: u32) -> String {
    if resolver.find(&[Goal::RuleApplies(true, triple)]) == Found::Yes {
        return forbidden(resolver, triple);
    }
    let program = resolver.program;
    let rules = match resolver.terms.functor(triple[2]) {
        Some(functor) => program.rules_for(functor, true),
        None => &[],
    };
    let mut reasons: Vec<String> = Vec::new();
    for index in rules {
        let mark = resolver.bindings.mark();
        if let Some(Some(body)) = unify_rule(resolver, *index, triple) {
            let reason = unmet_requirement(resolver, *index, body, depth);
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        resolver.bindings.undo(mark);
    }
    if reasons.is_empty() { "no rule permits it".to_string() } else { reasons.join("; ") }
}

/// Names the first requirement of a rule that is not met. A permission that the rule requires is followed
/// through other rules down to the missing fact.
fn unmet_requirement(resolver: &mut Resolver<'_>, index: u32, body: TermId, depth: u32) -> String {
    let rule = &resolver.program.rules[index as usize];
    let enforcer = resolver.program.name(resolver.terms, rule.enforcer);
    let mut before = Vec::new();
    for part in conjuncts(resolver, Goal::Body(body, rule.enforcer)) {
        let mut so_far: Vec<Goal> = before.clone();
        so_far.push(part);
        let Goal::Body(literal, _) = part else { continue };
        if resolver.find(&so_far) == Found::No {
            let literal = instance(resolver, &before, literal);
            if resolver.terms.symbol(literal) == Some(Symbol::PERMIT) && depth < MAX_RULE_DEPTH {
                let triple = [0, 1, 2].map(|index| resolver.terms.arg(literal, index));
                return not_permitted(resolver, triple, depth + 1);
            }
            resolver.named_rules.push(index);
            return format!("rule {} of {enforcer} requires {}", rule.number, resolver.terms.shape(literal));
        }
        before = so_far;
    }
    resolver.named_rules.push(index);
    format!("rule {} of {enforcer} does not apply", rule.number)
}

/// Names the rule that forbids an action.
fn forbidden(resolver: &mut Resolver<'_>, triple: [TermId; 3]) -> String {
    let program = resolver.program;
    let rules = match resolver.terms.functor(triple[2]) {
        Some(functor) => program.rules_for(functor, false),
        None => &[],
    };
    for index in rules {
        let rule = &program.rules[*index as usize];
        let mark = resolver.bindings.mark();
        let applies = match unify_rule(resolver, *index, triple) {
            Some(Some(body)) => resolver.find(&[Goal::Body(body, rule.enforcer)]) == Found::Yes,
            Some(None) => true,
            None => false,
        };
        resolver.bindings.undo(mark);
        if applies {
            resolver.named_rules.push(*index);
            return format!(
                "rule {} of {} forbids it",
                rule.number,
                program.name(resolver.terms, rule.enforcer)
            );
        }
    }
    "no rule permits it".to_string()
}
