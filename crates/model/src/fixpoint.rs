//! Finds formulas with free fixpoint variables, and fixpoints that may not exist.

use std::collections::BTreeSet;

use crate::{FixpointId, Formula, FormulaId, Formulas};

/// Facts about the fixpoints inside each formula of a pool, derived from its syntax.
///
/// ```
/// use masque_model::{Formula, Formulas};
/// let mut formulas = Formulas::default();
/// let z = formulas.fixpoint("Z");
/// let bound = formulas.add(Formula::Bound(z));
/// let not = formulas.add(Formula::Not(bound));
/// let (good, bad) = (formulas.add(Formula::Least(z, bound)), formulas.add(Formula::Least(z, not)));
/// let fixpoints = formulas.fixpoints();
/// assert!(fixpoints.is_open(not) && !fixpoints.is_open(good));
/// assert!(fixpoints.is_sound(good) && !fixpoints.is_sound(bad));
/// ```
#[derive(Clone, Debug)]
pub struct Fixpoints {
    /// Facts by formula; empty if no formula has a fixpoint.
    of: Vec<Inside>,
}

/// Facts about the fixpoints inside one formula.
#[derive(Clone, Debug, Default)]
struct Inside {
    /// The free variables that occur under an even number of negations, and those under an odd number.
    free: [BTreeSet<FixpointId>; 2],
    /// The variables that fixpoints inside bind.
    binds: BTreeSet<FixpointId>,
    /// Whether some fixpoint inside has its variable under an odd number of negations, or binds a
    /// variable that is bound again inside it.
    is_unsound: bool,
}

impl Fixpoints {
    /// Returns whether the truth of a formula depends on a variable that it does not bind.
    pub fn is_open(&self, formula: FormulaId) -> bool {
        let inside = self.of.get(formula.index());
        inside.is_some_and(|inside| inside.free.iter().any(|free| !free.is_empty()))
    }

    /// Returns whether all fixpoints inside a formula are of monotone functions, so that they exist, and
    /// no variable is bound again where it is bound already.
    pub fn is_sound(&self, formula: FormulaId) -> bool {
        self.of.get(formula.index()).is_none_or(|inside| !inside.is_unsound)
    }

    /// Returns whether a formula has the variable free under an even number of negations, and whether
    /// under an odd number.
    pub fn occurs(&self, variable: FixpointId, formula: FormulaId) -> [bool; 2] {
        let has = |parity: usize| {
            let inside = self.of.get(formula.index());
            inside.is_some_and(|inside| inside.free[parity].contains(&variable))
        };
        [has(0), has(1)]
    }
}

impl Formulas {
    /// Collects the facts about the fixpoints inside each formula.
    ///
    /// A variable occurs negatively under an odd number of negations, where the left side of `->`
    /// and both sides of `<->` count; every other operator is monotone in its operands.
    pub fn fixpoints(&self) -> Fixpoints {
        let mut of: Vec<Inside> = Vec::new();
        if self.n_fixpoints() == 0 {
            return Fixpoints { of };
        }
        for id in self.ids() {
            let mut inside = Inside::default();
            let mut add = |operand: FormulaId, parities: &[usize]| {
                let part: &Inside = &of[operand.index()];
                for (parity, flip) in [0, 1].into_iter().flat_map(|p| parities.iter().map(move |f| (p, f))) {
                    inside.free[parity ^ flip].extend(&part.free[parity]);
                }
                inside.binds.extend(&part.binds);
                inside.is_unsound |= part.is_unsound;
            };
            match self.get(id) {
                Formula::Not(f) => add(f, &[1]),
                Formula::Implies(f, g) => {
                    add(f, &[1]);
                    add(g, &[0]);
                }
                Formula::Iff(f, g) => {
                    add(f, &[0, 1]);
                    add(g, &[0, 1]);
                }
                _ => self.each_operand(id, |operand| add(operand, &[0])),
            }
            match self.get(id) {
                Formula::Bound(z) => _ = inside.free[0].insert(z),
                Formula::Least(z, _) | Formula::Greatest(z, _) => {
                    let is_negative = inside.free[1].remove(&z);
                    inside.free[0].remove(&z);
                    inside.is_unsound |= is_negative | !inside.binds.insert(z);
                }
                _ => {}
            }
            of.push(inside);
        }
        Fixpoints { of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `mu Z. f(Z)` is sound, for several forms of `f`.
    #[test]
    fn soundness_by_form() {
        type Make = fn(&mut Formulas, FormulaId) -> FormulaId;
        fn not(pool: &mut Formulas, f: FormulaId) -> FormulaId {
            pool.add(Formula::Not(f))
        }
        let rows: [(Make, bool, &str); 7] = [
            (|_, z| z, true, "the variable itself"),
            (not, false, "under one negation"),
            (
                |pool, z| {
                    let f = not(pool, z);
                    not(pool, f)
                },
                true,
                "under two",
            ),
            (|pool, z| pool.add(Formula::Implies(z, z)), false, "left of an implication"),
            (
                |pool, z| {
                    let f = not(pool, z);
                    pool.add(Formula::Implies(f, z))
                },
                true,
                "negated there",
            ),
            (
                |pool, z| {
                    let t = pool.add(Formula::Bool(true));
                    pool.add(Formula::Iff(z, t))
                },
                false,
                "in an equivalence",
            ),
            (
                |pool, z| {
                    let id = pool.fixpoint("Z");
                    pool.add(Formula::Greatest(id, z))
                },
                false,
                "bound again",
            ),
        ];
        for (make, expected, because) in rows {
            let mut pool = Formulas::default();
            let id = pool.fixpoint("Z");
            let z = pool.add(Formula::Bound(id));
            let body = make(&mut pool, z);
            let fixpoint = pool.add(Formula::Least(id, body));
            assert_eq!(pool.fixpoints().is_sound(fixpoint), expected, "{because}");
            assert!(!pool.fixpoints().is_open(fixpoint), "{because}");
        }
    }
}
