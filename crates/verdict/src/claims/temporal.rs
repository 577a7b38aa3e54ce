//! The runs that a path quantifier of CTL is about.

use masque_model::{Formula, FormulaId, Formulas, Paths};

use crate::Literal;

/// What a temporal operator says that some run does, or that none does.
///
/// Each operator of CTL says that some run, or no run, has one of these forms; where there are two,
/// either will do.
///
/// ```text
/// EX φ    next φ                              ¬AX φ    next ¬φ
/// EF φ    until (true, φ)                     ¬AG φ    until (true, ¬φ)
/// EG φ    for ever φ                          ¬AF φ    for ever ¬φ
/// E(φ U ψ)  until (φ, ψ)                      ¬A(φ R ψ)  until (¬φ, ¬ψ)
/// E(φ W ψ)  until (φ, ψ), or for ever φ       ¬A(φ W ψ)  until (¬ψ, ¬φ ∧ ¬ψ)
/// E(φ R ψ)  until (ψ, φ ∧ ψ), or for ever ψ   ¬A(φ U ψ)  until (¬ψ, ¬φ ∧ ¬ψ), or for ever ¬ψ
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunGoal {
    /// After one step all of these are so.
    pub next: Option<Vec<Literal>>,
    /// All of the first are so until all of the second are.
    pub until: Option<(Vec<Literal>, Vec<Literal>)>,
    /// All of these are so for ever, on an infinite run, fair if there are constraints.
    pub forever: Option<Vec<Literal>>,
    /// Whether the formula is true where some run does it (`E`), or false there (`A`).
    pub holds: bool,
}

impl RunGoal {
    /// The goal of a path quantifier of CTL; none for any other formula.
    pub fn of(formulas: &Formulas, formula: FormulaId) -> Option<RunGoal> {
        let (path, holds) = match formulas.get(formula) {
            Formula::Exists(Paths::Ctl, path) => (path, true),
            Formula::Forall(Paths::Ctl, path) => (path, false),
            _ => return None,
        };
        let is = |formula| vec![Literal { formula, holds }];
        let both = |f, g| vec![Literal { formula: f, holds }, Literal { formula: g, holds }];
        let goal = RunGoal { holds, ..RunGoal::default() };
        Some(match (formulas.get(path), holds) {
            (Formula::Next(f), _) => RunGoal { next: Some(is(f)), ..goal },
            (Formula::Finally(f), true) | (Formula::Globally(f), false) => {
                RunGoal { until: Some((Vec::new(), is(f))), ..goal }
            }
            (Formula::Globally(f), true) | (Formula::Finally(f), false) => {
                RunGoal { forever: Some(is(f)), ..goal }
            }
            (Formula::Until(f, g), true) | (Formula::Release(f, g), false) => {
                RunGoal { until: Some((is(f), is(g))), ..goal }
            }
            (Formula::WeakUntil(f, g), true) => {
                RunGoal { until: Some((is(f), is(g))), forever: Some(is(f)), ..goal }
            }
            (Formula::WeakUntil(f, g), false) => RunGoal { until: Some((is(g), both(f, g))), ..goal },
            (Formula::Release(f, g), true) | (Formula::Until(f, g), false) => {
                RunGoal { until: Some((is(g), both(f, g))), forever: Some(is(g)), ..goal }
            }
            _ => return None,
        })
    }

    /// All literals the goal speaks of.
    pub fn literals(&self) -> impl Iterator<Item = Literal> + '_ {
        let until = self.until.iter().flat_map(|(through, to)| through.iter().chain(to));
        self.next.iter().chain(&self.forever).flatten().chain(until).copied()
    }

    /// Lists of literals such that no run does what the goal says if of each list one literal is
    /// false at the state where it would begin; none if that cannot tell.
    ///
    /// At a dead end there is no next state and no infinite run, and a run of one state only may
    /// lead to what must be met at last.
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

    /// Whether these claims about a state leave no run from it that does what the goal says.
    pub fn is_refuted_by(&self, claims: &[Literal], is_dead_end: bool) -> bool {
        let negates = |literal: &Literal| claims.contains(&literal.negated());
        self.refuted_by(is_dead_end).is_some_and(|lists| lists.iter().all(|list| list.iter().any(negates)))
    }
}
