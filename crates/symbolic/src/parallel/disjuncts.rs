//! The disjuncts of InitStates, by which the paper splits. [KLQ10 §5]
//!
//! ```text
//! InitStates = e_s ∧ (e_1 ∨ .. ∨ e_m)      I_k = the initial states with e_k
//! ```
//!
//! The form is read from the checked condition: parameters and families are expanded, `exists(i in ..)` is
//! a disjunction, and nested conjunctions and disjunctions are flattened. `a -> b` is the disjunction of
//! `!a` and `b`. If several conjuncts are disjunctions, the one with most disjuncts is used, the first of
//! these if several have the same number.

use masque_model::{Expr, ExprId, System, VarId};

/// Returns `e_1 .. e_m` with `m >= 2`, without repetitions, if InitStates has this form.
pub(super) fn disjuncts(system: &System) -> Option<Vec<ExprId>> {
    let conjuncts = flattened(system, system.initial, |expr| match expr {
        Expr::And(operands) => Some(operands),
        _ => None,
    });
    let mut best: Option<Vec<ExprId>> = None;
    for conjunct in conjuncts {
        let disjuncts = flattened(system, conjunct, |expr| match expr {
            Expr::Or(operands) => Some(operands),
            _ => None,
        });
        if disjuncts.len() > best.as_ref().map_or(1, Vec::len) {
            best = Some(disjuncts);
        }
    }
    best
}

/// Returns the operands of nested connectives of one kind, from left to right, each once.
fn flattened<'s>(
    system: &'s System,
    root: ExprId,
    operands: impl Fn(Expr<'s>) -> Option<&'s [ExprId]>,
) -> Vec<ExprId> {
    let (mut found, mut stack) = (Vec::new(), vec![root]);
    let mut seen = vec![false; system.exprs.len()];
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match operands(system.exprs.get(id)) {
            Some(operands) => stack.extend(operands.iter().rev()),
            None => found.push(id),
        }
    }
    found
}

/// Returns the variables that occur in some of the conditions, in increasing order.
pub(super) fn variables_in(system: &System, conditions: &[ExprId]) -> Vec<VarId> {
    let (mut variables, mut stack) = (Vec::new(), conditions.to_vec());
    let mut seen = vec![false; system.exprs.len()];
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        if let Expr::Variable(variable) = system.exprs.get(id) {
            variables.push(variable);
        }
        system.exprs.each_operand(id, |operand| stack.push(operand));
    }
    variables.sort_unstable();
    variables
}

#[cfg(test)]
mod tests {
    use masque_testkit::system;

    use super::*;

    /// Returns the disjuncts of a condition on `A.a .. A.f`, as text.
    fn texts(initial: &str) -> Vec<String> {
        let system = system(&format!(
            "param N = 3;
             Agent A
               Vars: a : boolean; b : boolean; c : boolean; d : boolean; x : 0..9; y[i in 1..N] : boolean; end Vars
               Actions = {{go}}; Protocol: Other : {{go}}; end Protocol
               Evolution: a = true if Action = go; end Evolution
             end Agent
             Evaluation p if A.a; end Evaluation
             InitStates {initial}; end InitStates
             Formulae AG p; end Formulae"
        ));
        let found = disjuncts(&system).unwrap_or_default();
        found.into_iter().map(|disjunct| system.expr_text(disjunct)).collect()
    }

    #[rustfmt::skip]
    #[test]
    fn disjuncts_of_conditions() {
        let check = |initial: &str, expected: &[&str]| assert_eq!(texts(initial), expected, "{initial}");
        check("A.a",                                                 &[]);
        check("A.a and A.b",                                         &[]);
        check("A.a or A.b",                                          &["A.a", "A.b"]);
        check("A.a and (A.b or A.c)",                                &["A.b", "A.c"]);
        check("A.a and (A.d and ((A.b or A.c) or A.x = 1))",         &["A.b", "A.c", "A.x = 1"]);
        check("(A.a or A.b) and (A.x = 1 or A.x = 2 or A.x = 3)",    &["A.x = 1", "A.x = 2", "A.x = 3"]);
        check("(A.a or A.b) and (A.c or A.d)",                       &["A.a", "A.b"]);
        check("A.a and exists(i in 1..N : A.y[i])",                  &["A.y[1]", "A.y[2]", "A.y[3]"]);
        check("A.a and exists(i in 2..2 : A.y[i])",                  &[]);
        check("A.a or A.b or A.a",                                   &["A.a", "A.b"]);
        check("A.a or A.b and (A.c or A.d)",                         &["A.a", "(A.b and (A.c or A.d))"]);
        check("A.a -> A.b",                                          &["!(A.a)", "A.b"]);
        check("!(A.a and A.b)",                                      &[]);
    }

    #[test]
    fn variables_of_conditions() {
        let system = system(
            "Agent A Vars: a : boolean; b : boolean; x : 0..9; end Vars
               Actions = {go}; Protocol: Other : {go}; end Protocol
               Evolution: a = true if Action = go; end Evolution
             end Agent
             InitStates A.b or A.x + 1 = 2 or A.b; end InitStates",
        );
        let variables = variables_in(&system, &[system.initial]).into_iter();
        assert_eq!(variables.map(|v| system.full_name(v)).collect::<Vec<_>>(), ["A.b", "A.x"]);
    }
}
