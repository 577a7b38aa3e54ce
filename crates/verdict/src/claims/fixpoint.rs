//! Parts of fixpoints: how a claim about one is unfolded, and which fixpoints its variables stand for.

use masque_model::{AgentId, ExprId, FixpointId, Fixpoints, Formula, FormulaId, Paths, System};

use super::{KnowledgeScope, Needs};
use crate::Literal;

/// How a claim about a part of a fixpoint is unfolded, if the part depends on variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfolds {
    /// A variable or a fixpoint: it leads to one claim at the same state.
    Once,
    /// A connective.
    Operands(Needs),
    /// Steps that satisfy a condition (all steps if there is none) to the operand, and whether one step is
    /// enough (`EX`).
    Steps(Option<ExprId>, FormulaId, bool),
    /// Knowledge or norms: the views, each considered separately, the agents that must be green, and the
    /// operand.
    Views(Vec<Vec<AgentId>>, Vec<AgentId>, FormulaId),
}

impl Unfolds {
    /// Returns how a claim about an open formula is unfolded; `None` if it cannot be.
    pub fn of(system: &System, literal: Literal) -> Option<Unfolds> {
        let formulas = &system.formulas;
        let next = |path: FormulaId| match formulas.get(path) {
            Formula::Next(f) => Some(f),
            _ => None,
        };
        Some(match formulas.get(literal.formula) {
            Formula::Bound(_) | Formula::Least(..) | Formula::Greatest(..) => Unfolds::Once,
            Formula::Exists(Paths::Ctl, path) => Unfolds::Steps(None, next(path)?, true),
            Formula::Forall(Paths::Ctl, path) => Unfolds::Steps(None, next(path)?, false),
            Formula::ExistsStep(condition, f) => Unfolds::Steps(Some(condition), f, true),
            Formula::ForallStep(condition, f) => Unfolds::Steps(Some(condition), f, false),
            _ => match (Needs::of(formulas, literal), KnowledgeScope::of(system, literal.formula)) {
                (Some(needs @ (Needs::All(_) | Needs::One(_))), _) => Unfolds::Operands(needs),
                (_, Some((KnowledgeScope::Views { views, green }, f))) => Unfolds::Views(views, green, f),
                _ => return None,
            },
        })
    }
}

/// Whether all parts of a fixpoint that depend on variables can be unfolded.
pub fn can_unfold(system: &System, root: FormulaId) -> bool {
    let fixpoints = system.formulas.fixpoints();
    let mut open = vec![root];
    let mut seen = std::collections::HashSet::new();
    while let Some(formula) = open.pop() {
        if !seen.insert(formula) || formula != root && !fixpoints.is_open(formula) {
            continue;
        }
        if Unfolds::of(system, Literal { formula, holds: true }).is_none() {
            return false;
        }
        match system.formulas.get(formula) {
            Formula::Exists(_, path) | Formula::Forall(_, path) => {
                system.formulas.each_operand(path, |operand| open.push(operand));
            }
            _ => system.formulas.each_operand(formula, |operand| open.push(operand)),
        }
    }
    true
}

/// Returns the fixpoints of `scope` on whose variables a part depends, directly or through the others, the
/// outermost first.
pub fn scope_of(
    system: &System,
    fixpoints: &Fixpoints,
    scope: &[FormulaId],
    formula: FormulaId,
) -> Vec<FormulaId> {
    let depends = |on: FormulaId, part: FormulaId| {
        variable(system, on).is_some_and(|z| fixpoints.occurs(z, part).contains(&true))
    };
    let mut kept: Vec<FormulaId> = Vec::new();
    for &binder in scope.iter().rev() {
        if depends(binder, formula) || kept.iter().any(|&inner| depends(binder, inner)) {
            kept.push(binder);
        }
    }
    kept.reverse();
    kept
}

/// The variable that a fixpoint binds.
fn variable(system: &System, formula: FormulaId) -> Option<FixpointId> {
    match system.formulas.get(formula) {
        Formula::Least(z, _) | Formula::Greatest(z, _) => Some(z),
        _ => None,
    }
}

/// Unfolds a variable to its fixpoint, or a fixpoint to its body. Returns the result and its scope.
pub fn unfolded_once(
    system: &System,
    fixpoints: &Fixpoints,
    scope: &[FormulaId],
    formula: FormulaId,
) -> Option<(FormulaId, Vec<FormulaId>)> {
    match system.formulas.get(formula) {
        Formula::Bound(z) => {
            let binder = *scope.iter().rev().find(|&&binder| variable(system, binder) == Some(z))?;
            Some((binder, scope_of(system, fixpoints, scope, binder)))
        }
        Formula::Least(_, body) | Formula::Greatest(_, body) => {
            let mut inner = scope.to_vec();
            inner.push(formula);
            Some((body, scope_of(system, fixpoints, &inner, body)))
        }
        _ => None,
    }
}
