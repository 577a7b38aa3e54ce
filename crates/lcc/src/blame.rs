//! Why an agent is stuck: which constraint failed, at whose rule, for want of what.
//!
//! The same walk that finds an agent's steps asks here about each step that has none: which
//! literal of its constraint is the first without an answer, and, if that was known but not
//! allowed, which rule stands in the way and what it requires.

use crate::resolve::{Found, Goal, Machine};
use crate::symbol::Symbol;
use crate::term::TermId;

/// Rules are followed through other rules this deep.
const DEEPEST: u32 = 8;

/// Why these goals have no answer, in words; empty if they have one.
pub(crate) fn why_not(machine: &mut Machine<'_>, goals: &[Goal]) -> Option<String> {
    let mut before: Vec<Goal> = Vec::new();
    for goal in goals {
        for part in parts(machine, *goal) {
            let mut so_far = before.clone();
            so_far.push(part);
            if machine.find(&so_far) == Found::No {
                return Some(failing(machine, &before, part));
            }
            before = so_far;
        }
    }
    None
}

/// A conjunction as its parts.
fn parts(machine: &Machine<'_>, goal: Goal) -> Vec<Goal> {
    let (make, mut rest): (fn(TermId, crate::program::Owner) -> Goal, TermId) = match goal {
        Goal::Guard(constraint) => (|term, _| Goal::Guard(term), constraint),
        Goal::Body(constraint, _) => (Goal::Body, constraint),
        other => return vec![other],
    };
    let owner = if let Goal::Body(_, owner) = goal { owner } else { machine.actor };
    let mut parts = Vec::new();
    while machine.terms.symbol(rest) == Some(Symbol::AND) {
        parts.push(make(machine.terms.arg(rest, 0), owner));
        rest = machine.terms.arg(rest, 1);
    }
    parts.push(make(rest, owner));
    parts
}

/// What the first answer to the goals before makes of a term.
fn instance(machine: &mut Machine<'_>, before: &[Goal], term: TermId) -> TermId {
    let (answers, _) = machine.answers(before, term);
    answers.first().map_or(term, |answer| answer.payload)
}

fn failing(machine: &mut Machine<'_>, before: &[Goal], goal: Goal) -> String {
    let who = machine.program.name(machine.terms, machine.actor);
    match goal {
        Goal::Guard(constraint) => {
            let literal = instance(machine, before, constraint);
            let text = machine.terms.shape(literal);
            let Some(functor) = machine.terms.functor(literal) else { return format!("{who} needs {text}") };
            match functor.name {
                Symbol::PERMIT => {
                    let triple = [0, 1, 2].map(|at| machine.terms.arg(literal, at));
                    format!("{who} needs {text}: {}", not_permitted(machine, triple, 0))
                }
                name if name.is_built_in() => format!("{who} needs {text}"),
                _ => unmet_literal(machine, &who, literal),
            }
        }
        Goal::Gate(object, action) => {
            let triple = machine.terms.app(Symbol::SET, &[object, action]);
            let found = instance(machine, before, triple);
            let (object, action) = (machine.terms.arg(found, 0), machine.terms.arg(found, 1));
            blocked(machine, &who, object, action)
        }
        _ => format!("{who} is not allowed to go on"),
    }
}

/// A literal of a guard: nobody knows it, or it is not allowed.
fn unmet_literal(machine: &mut Machine<'_>, who: &str, literal: TermId) -> String {
    let text = machine.terms.shape(literal);
    let Some(functor) = machine.terms.functor(literal) else { return format!("{who} needs {text}") };
    let actor = machine.actor;
    let has_facts = machine.program.facts(actor, functor).next().is_some();
    let is_known = has_facts && machine.find(&[Goal::Known(literal, actor)]) == Found::Yes;
    if is_known || (!has_facts && machine.is_regulated(functor)) {
        let known = match is_known {
            true => instance(machine, &[Goal::Known(literal, actor)], literal),
            false => literal,
        };
        let object = machine.bindings.fresh(1);
        let object = machine.terms.var(object);
        return blocked(machine, who, object, known);
    }
    let name = machine.terms.symbols.name(functor.name);
    match has_facts {
        true => format!("{who} needs {text}, which does not follow from what {who} knows"),
        false => format!("{who} needs {text}, but knows nothing of {name}/{}", functor.arity),
    }
}

/// An action that the policies do not let pass.
fn blocked(machine: &mut Machine<'_>, who: &str, object: TermId, action: TermId) -> String {
    let subject = machine.program.ids[machine.actor.0 as usize];
    let triple = [subject, object, action];
    let reason = match machine.terms.functor(action) {
        Some(functor) if machine.is_regulated(functor) => not_permitted(machine, triple, 0),
        _ => forbidden(machine, triple),
    };
    format!("{who} could not {}: {reason}", deed(machine, triple))
}

/// `query hd` where the rules name the object, else the action as it is.
fn deed(machine: &mut Machine<'_>, triple: [TermId; 3]) -> String {
    let program = machine.program;
    let Some(functor) = machine.terms.functor(triple[2]) else { return machine.terms.shape(triple[2]) };
    let name = machine.terms.symbols.name(functor.name).to_string();
    for number in program.rules_for(functor, true) {
        let mark = machine.bindings.mark();
        let object =
            enter(machine, *number, triple).map(|_| machine.terms.resolve(triple[1], &machine.bindings));
        machine.bindings.undo(mark);
        if let Some(object) = object.filter(|object| machine.terms.is_ground(*object)) {
            return format!("{name} {}", machine.terms.text(object));
        }
    }
    machine.terms.shape(triple[2])
}

/// Unifies a rule with what is asked of it: its body, if it has one and if it fits.
fn enter(machine: &mut Machine<'_>, number: u32, triple: [TermId; 3]) -> Option<Option<TermId>> {
    let program = machine.program;
    let rule = &program.rules[number as usize];
    let offset = machine.bindings.fresh(rule.n_vars);
    let head = [rule.subject, rule.object, rule.action].map(|term| machine.terms.shift(term, offset));
    let fits =
        triple.iter().zip(head).all(|(term, own)| machine.terms.unify(*term, own, &mut machine.bindings));
    fits.then(|| rule.body.map(|body| machine.terms.shift(body, offset)))
}

/// Why nothing permits it, or what forbids it all the same.
fn not_permitted(machine: &mut Machine<'_>, triple: [TermId; 3], depth: u32) -> String {
    if machine.find(&[Goal::Derived(true, triple)]) == Found::Yes {
        return forbidden(machine, triple);
    }
    let program = machine.program;
    let rules = match machine.terms.functor(triple[2]) {
        Some(functor) => program.rules_for(functor, true),
        None => &[],
    };
    let mut reasons: Vec<String> = Vec::new();
    for number in rules {
        let mark = machine.bindings.mark();
        if let Some(Some(body)) = enter(machine, *number, triple) {
            let reason = requires(machine, *number, body, depth);
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        machine.bindings.undo(mark);
    }
    match reasons.is_empty() {
        true => "no rule permits it".to_string(),
        false => reasons.join("; "),
    }
}

/// What a rule requires and does not get; through other rules, down to the fact that is missing.
fn requires(machine: &mut Machine<'_>, number: u32, body: TermId, depth: u32) -> String {
    let rule = &machine.program.rules[number as usize];
    let enforcer = machine.program.name(machine.terms, rule.enforcer);
    let mut before = Vec::new();
    for part in parts(machine, Goal::Body(body, rule.enforcer)) {
        let mut so_far: Vec<Goal> = before.clone();
        so_far.push(part);
        let Goal::Body(literal, _) = part else { continue };
        if machine.find(&so_far) == Found::No {
            let literal = instance(machine, &before, literal);
            if machine.terms.symbol(literal) == Some(Symbol::PERMIT) && depth < DEEPEST {
                let triple = [0, 1, 2].map(|at| machine.terms.arg(literal, at));
                return not_permitted(machine, triple, depth + 1);
            }
            return format!("rule {} of {enforcer} requires {}", rule.number, machine.terms.shape(literal));
        }
        before = so_far;
    }
    format!("rule {} of {enforcer} does not apply", rule.number)
}

/// The rule that forbids it.
fn forbidden(machine: &mut Machine<'_>, triple: [TermId; 3]) -> String {
    let program = machine.program;
    let rules = match machine.terms.functor(triple[2]) {
        Some(functor) => program.rules_for(functor, false),
        None => &[],
    };
    for number in rules {
        let rule = &program.rules[*number as usize];
        let mark = machine.bindings.mark();
        let applies = match enter(machine, *number, triple) {
            Some(Some(body)) => machine.find(&[Goal::Body(body, rule.enforcer)]) == Found::Yes,
            Some(None) => true,
            None => false,
        };
        machine.bindings.undo(mark);
        if applies {
            return format!(
                "rule {} of {} forbids it",
                rule.number,
                program.name(machine.terms, rule.enforcer)
            );
        }
    }
    "no rule permits it".to_string()
}
