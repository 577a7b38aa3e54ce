//! The operands that decide a connective.

use std::collections::HashSet;

use masque_model::{Formula, FormulaId, Formulas};

use crate::Literal;

/// The operands that decide a connective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// All of these together.
    All(Vec<Literal>),
    /// Any one of these.
    One(Vec<Literal>),
    /// Both operands: with the same truth value (`true`), or with different ones.
    Same(FormulaId, FormulaId, bool),
}

impl Needs {
    /// Returns what makes a connective true or false; `None` for any other formula. The lists have no
    /// duplicates.
    pub fn of(formulas: &Formulas, literal: Literal) -> Option<Needs> {
        let holds = literal.holds;
        let is = |formula, holds| Literal { formula, holds };
        let all = |list: &[FormulaId]| {
            let mut seen = HashSet::new();
            list.iter().filter(|f| seen.insert(**f)).map(|&f| is(f, holds)).collect::<Vec<_>>()
        };
        Some(match (formulas.get(literal.formula), holds) {
            (Formula::Not(f), _) => Needs::All(vec![is(f, !holds)]),
            (Formula::And(list), true) | (Formula::Or(list), false) => Needs::All(all(list)),
            (Formula::And(list), false) | (Formula::Or(list), true) => Needs::One(all(list)),
            (Formula::Implies(f, g), true) => Needs::One(vec![is(f, false), is(g, true)]),
            (Formula::Implies(f, g), false) => Needs::All(vec![is(f, true), is(g, false)]),
            (Formula::Iff(f, g), _) => Needs::Same(f, g, holds),
            _ => return None,
        })
    }

    /// Whether these claims decide the connective.
    pub fn are_met_by(&self, claims: &[Literal]) -> bool {
        let claims: HashSet<Literal> = claims.iter().copied().collect();
        match self {
            Needs::All(list) => list.iter().all(|literal| claims.contains(literal)),
            Needs::One(list) => list.iter().any(|literal| claims.contains(literal)),
            Needs::Same(f, g, same) => [false, true].into_iter().any(|holds| {
                let (left, right) =
                    (Literal { formula: *f, holds }, Literal { formula: *g, holds: holds == *same });
                claims.contains(&left) && claims.contains(&right)
            }),
        }
    }
}
