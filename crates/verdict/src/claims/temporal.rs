//! The paths that are witnesses or counterexamples for a path quantifier of CTL.

use masque_model::{Formula, FormulaId, Formulas, Paths};

use crate::Literal;

/// The form of a path that makes an `E` formula of CTL true, or an `A` formula false.
///
/// Where the table gives two forms, a path of either form is enough.
///
/// ```text
/// EX φ    next φ                              ¬AX φ    next ¬φ
/// EF φ    until (true, φ)                     ¬AG φ    until (true, ¬φ)
/// EG φ    always φ                            ¬AF φ    always ¬φ
/// E(φ U ψ)  until (φ, ψ)                      ¬A(φ R ψ)  until (¬φ, ¬ψ)
/// E(φ W ψ)  until (φ, ψ), or always φ         ¬A(φ W ψ)  until (¬ψ, ¬φ ∧ ¬ψ)
/// E(φ R ψ)  until (ψ, φ ∧ ψ), or always ψ     ¬A(φ U ψ)  until (¬ψ, ¬φ ∧ ¬ψ), or always ¬ψ
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathGoal {
    /// Literals that are true after one step.
    pub next: Option<Vec<Literal>>,
    /// All literals of the first list are true until all of the second list are.
    pub until: Option<(Vec<Literal>, Vec<Literal>)>,
    /// Literals that are always true on an infinite path, which is fair if there are constraints.
    pub forever: Option<Vec<Literal>>,
    /// Truth value of the formula at a state where such a path starts: true for `E`, false for `A`.
    pub holds: bool,
}

impl PathGoal {
    /// Returns the goal of a path quantifier of CTL; `None` for any other formula.
    pub fn of(formulas: &Formulas, formula: FormulaId) -> Option<PathGoal> {
        let (path, holds) = match formulas.get(formula) {
            Formula::Exists(Paths::Ctl, path) => (path, true),
            Formula::Forall(Paths::Ctl, path) => (path, false),
            _ => return None,
        };
        let is = |formula| vec![Literal { formula, holds }];
        let both = |f, g| vec![Literal { formula: f, holds }, Literal { formula: g, holds }];
        let goal = PathGoal { holds, ..PathGoal::default() };
        Some(match (formulas.get(path), holds) {
            (Formula::Next(f), _) => PathGoal { next: Some(is(f)), ..goal },
            (Formula::Finally(f), true) | (Formula::Globally(f), false) => {
                PathGoal { until: Some((Vec::new(), is(f))), ..goal }
            }
            (Formula::Globally(f), true) | (Formula::Finally(f), false) => {
                PathGoal { forever: Some(is(f)), ..goal }
            }
            (Formula::Until(f, g), true) | (Formula::Release(f, g), false) => {
                PathGoal { until: Some((is(f), is(g))), ..goal }
            }
            (Formula::WeakUntil(f, g), true) => {
                PathGoal { until: Some((is(f), is(g))), forever: Some(is(f)), ..goal }
            }
            (Formula::WeakUntil(f, g), false) => PathGoal { until: Some((is(g), both(f, g))), ..goal },
            (Formula::Release(f, g), true) | (Formula::Until(f, g), false) => {
                PathGoal { until: Some((is(g), both(f, g))), forever: Some(is(g)), ..goal }
            }
            _ => return None,
        })
    }

    /// Returns all literals of the goal.
    pub fn literals(&self) -> impl Iterator<Item = Literal> + '_ {
        let until = self.until.iter().flat_map(|(through, to)| through.iter().chain(to));
        self.next.iter().chain(&self.forever).flatten().chain(until).copied()
    }

    /// Returns lists of literals such that no path of this form starts at a state where each list has a
    /// literal that is false. Returns `None` if the state alone never excludes such a path.
    ///
    /// At a dead end there is no next state and no infinite path; the only path consists of the state
    /// itself, so only the goal of `until` matters.
    pub fn refuted_by(&self, is_dead_end: bool) -> Option<Vec<&[Literal]>> {
        let mut lists: Vec<&[Literal]> = Vec::new();
        if let (Some(_), false) = (&self.next, is_dead_end) {
            return None;
        }
        if let (Some(stay), false) = (&self.forever, is_dead_end) {
            lists.push(stay);
        }
        if let Some((through, to)) = &self.until {
            match (is_dead_end, through.is_empty()) {
                (true, _) => {}
                (false, false) => lists.push(through),
                (false, true) => return None,
            }
            lists.push(to);
        }
        Some(lists)
    }

    /// Whether these claims about a state exclude every path of this form from it.
    pub fn is_refuted_by(&self, claims: &[Literal], is_dead_end: bool) -> bool {
        let negates = |literal: &Literal| claims.contains(&literal.negated());
        self.refuted_by(is_dead_end).is_some_and(|lists| lists.iter().all(|list| list.iter().any(negates)))
    }
}
