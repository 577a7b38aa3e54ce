//! What a claim needs: the runs a temporal operator is about, the operands that decide a
//! connective.

use std::collections::HashSet;

use masque_model::{AgentId, Formula, FormulaId, Formulas, GroupId, Paths, System};

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
pub(crate) struct Goal {
    /// After one step all of these are so.
    pub(crate) next: Option<Vec<Literal>>,
    /// All of the first are so until all of the second are.
    pub(crate) until: Option<(Vec<Literal>, Vec<Literal>)>,
    /// All of these are so for ever, on an infinite run, fair if there are constraints.
    pub(crate) forever: Option<Vec<Literal>>,
    /// Whether the formula is true where some run does it (`E`), or false there (`A`).
    pub(crate) holds: bool,
}

impl Goal {
    /// The goal of a path quantifier of CTL; none for any other formula.
    pub(crate) fn of(formulas: &Formulas, formula: FormulaId) -> Option<Goal> {
        let (path, holds) = match formulas.get(formula) {
            Formula::Exists(Paths::Ctl, path) => (path, true),
            Formula::Forall(Paths::Ctl, path) => (path, false),
            _ => return None,
        };
        let is = |formula| vec![Literal { formula, holds }];
        let both = |f, g| vec![Literal { formula: f, holds }, Literal { formula: g, holds }];
        let goal = Goal { holds, ..Goal::default() };
        Some(match (formulas.get(path), holds) {
            (Formula::Next(f), _) => Goal { next: Some(is(f)), ..goal },
            (Formula::Finally(f), true) | (Formula::Globally(f), false) => {
                Goal { until: Some((Vec::new(), is(f))), ..goal }
            }
            (Formula::Globally(f), true) | (Formula::Finally(f), false) => {
                Goal { forever: Some(is(f)), ..goal }
            }
            (Formula::Until(f, g), true) | (Formula::Release(f, g), false) => {
                Goal { until: Some((is(f), is(g))), ..goal }
            }
            (Formula::WeakUntil(f, g), true) => {
                Goal { until: Some((is(f), is(g))), forever: Some(is(f)), ..goal }
            }
            (Formula::WeakUntil(f, g), false) => Goal { until: Some((is(g), both(f, g))), ..goal },
            (Formula::Release(f, g), true) | (Formula::Until(f, g), false) => {
                Goal { until: Some((is(g), both(f, g))), forever: Some(is(g)), ..goal }
            }
            _ => return None,
        })
    }

    /// All literals the goal speaks of.
    pub(crate) fn literals(&self) -> impl Iterator<Item = Literal> + '_ {
        let until = self.until.iter().flat_map(|(through, to)| through.iter().chain(to));
        self.next.iter().chain(&self.forever).flatten().chain(until).copied()
    }

    /// Lists of literals such that no run does what the goal says if of each list one literal is
    /// false at the state where it would begin; none if that cannot tell.
    ///
    /// At a dead end there is no next state and no infinite run, and a run of one state only may
    /// lead to what must be met at last.
    pub(crate) fn refuted_by(&self, is_dead_end: bool) -> Option<Vec<&[Literal]>> {
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
    pub(crate) fn is_refuted_by(&self, claims: &[Literal], is_dead_end: bool) -> bool {
        let negates = |literal: &Literal| claims.contains(&literal.negated());
        self.refuted_by(is_dead_end).is_some_and(|lists| lists.iter().all(|list| list.iter().any(negates)))
    }
}

/// The operands that decide a connective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// All of these together.
    All(Vec<Literal>),
    /// Any one of these.
    One(Vec<Literal>),
    /// Both operands, with the same truth value (true) or different ones.
    Same(FormulaId, FormulaId, bool),
}

impl Needs {
    /// What makes a connective true or false; none for any other formula. No literal stands twice
    /// in a list.
    pub(crate) fn of(formulas: &Formulas, literal: Literal) -> Option<Needs> {
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
    pub(crate) fn are_met_by(&self, claims: &[Literal]) -> bool {
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

/// What a formula about knowledge or norms is about: the operand, who looks, who must be green.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// False iff the operand is false at some state that one of the views cannot tell from this
    /// one and where these agents are green.
    Views {
        /// Each by itself: its agents put together what they see.
        views: Vec<Vec<AgentId>>,
        green: Vec<AgentId>,
    },
    /// False iff a chain of confusions leads to a state where the operand is false.
    Chain(GroupId),
}

impl Scope {
    /// The scope of a formula about knowledge or norms and its operand; none for any other.
    pub(crate) fn of(system: &System, formula: FormulaId) -> Option<(Scope, FormulaId)> {
        let members = |group: GroupId| system.groups[group.index()].agents.clone();
        let views = |views, green| Scope::Views { views, green };
        Some(match system.formulas.get(formula) {
            Formula::Knows(i, f) => (views(vec![vec![i]], vec![]), f),
            Formula::EveryoneKnows(g, f) => {
                (views(members(g).into_iter().map(|i| vec![i]).collect(), vec![]), f)
            }
            Formula::DistributedKnowledge(g, f) => (views(vec![members(g)], vec![]), f),
            Formula::KnowsUnder(i, g, f) => (views(vec![vec![i]], members(g)), f),
            Formula::Correct(i, f) => (views(vec![vec![]], vec![i]), f),
            Formula::CommonKnowledge(g, f) => (Scope::Chain(g), f),
            _ => return None,
        })
    }
}
