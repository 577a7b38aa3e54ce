//! Local formulas: those whose truth depends on one state only, evaluated by the definition.

use std::collections::HashMap;

use masque_model::semantics::{is_green, is_true};
use masque_model::{Formula, FormulaId, Formulas, System};

/// For each formula, indexed by id, whether it is local: a proposition, a condition, green, red, or a
/// connective of local formulas.
pub fn local_formulas(formulas: &Formulas) -> Vec<bool> {
    let mut is_local = vec![false; formulas.len()];
    for id in formulas.ids() {
        let mut all = formulas.get(id).is_local_operator();
        formulas.each_operand(id, |operand| all &= is_local[operand.index()]);
        is_local[id.index()] = all;
    }
    is_local
}

/// Whether all fairness constraints are local.
pub fn has_local_fairness(system: &System) -> bool {
    let is_local = local_formulas(&system.formulas);
    system.fairness.iter().all(|constraint| is_local[constraint.index()])
}

/// Evaluates a local formula at a state; `None` if the formula is not local.
///
/// Each part is evaluated once, operands first and without recursion, so deep formulas and shared parts
/// are no problem.
pub fn local_truth(system: &System, root: FormulaId, state: &[i64]) -> Option<bool> {
    let formulas = &system.formulas;
    let mut known: HashMap<FormulaId, bool> = HashMap::new();
    let mut open = vec![root];
    while let Some(&id) = open.last() {
        if known.contains_key(&id) {
            open.pop();
            continue;
        }
        let n_open = open.len();
        formulas.each_operand(id, |operand| {
            if !known.contains_key(&operand) {
                open.push(operand);
            }
        });
        if open.len() > n_open {
            continue;
        }
        let truth = match formulas.get(id) {
            Formula::Bool(b) => b,
            Formula::Proposition(p) => is_true(system, system.propositions[p.index()].condition, state, &[]),
            Formula::Condition(condition) => is_true(system, condition, state, &[]),
            Formula::Green(agent) => is_green(system, agent, state),
            Formula::Red(agent) => !is_green(system, agent, state),
            Formula::Not(f) => !known[&f],
            Formula::And(list) => list.iter().all(|f| known[f]),
            Formula::Or(list) => list.iter().any(|f| known[f]),
            Formula::Implies(f, g) => !known[&f] || known[&g],
            Formula::Iff(f, g) => known[&f] == known[&g],
            _ => return None,
        };
        known.insert(id, truth);
        open.pop();
    }
    known.get(&root).copied()
}

/// Evaluates the fairness constraints at a state; `None` if one of them is not local.
pub fn constraints_at(system: &System, state: &[i64]) -> Option<Vec<bool>> {
    system.fairness.iter().map(|&constraint| local_truth(system, constraint, state)).collect()
}
