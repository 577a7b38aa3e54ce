//! `E path` for any path formula: fair paths of the product with a tableau. [CGH97 §4]
//!
//! A path formula in positive normal form says of a step what it promises for the rest of the path.
//! For each temporal operator in it one bit stands for such a promise; the product relates a state
//! with its promises to a successor that keeps them, and a promise of something to come at last is
//! a fairness constraint. The bits have two copies, `now` and `then`, but the relation of the
//! system has none of them: they are put in and taken out at the target's side of a step.
//!
//! A path formula that CTL can say needs no tableau ([`Branching`]), and no bits.

use masque_model::{Formula, FormulaId, Formulas, Paths, System};
use masque_verdict::{Branch, Branching};
use rustc_hash::FxHashMap;

use crate::check::Checker;
use crate::fixpoint::{globally, reach};
use crate::space::{Bit, Cube, Limited, Renaming, Set};

/// A path formula, or its negation if `is_true` is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Literal {
    formula: FormulaId,
    is_true: bool,
}

impl Literal {
    pub(crate) fn new(formula: FormulaId, is_true: bool) -> Literal {
        Literal { formula, is_true }
    }

    fn branching(self, formulas: &Formulas) -> Option<Branching> {
        Branching::of(formulas, self.formula, self.is_true)
    }
}

/// A literal taken apart, negations inside.
pub(crate) enum Shape {
    /// A state formula or its negation.
    State,
    And(Vec<Literal>),
    Or(Vec<Literal>),
    /// `X a`
    Next(Literal),
    /// `a W b`: `a` until `b`, or for ever. The second is `None` for `G a`.
    Weak(Literal, Option<Vec<Literal>>),
    /// `a U b`: the first is `None` for `F b`. Of `b` all must be true at once.
    Until(Option<Literal>, Vec<Literal>),
    /// Two formulas are both true or both false, or else one of them only.
    Equal(FormulaId, FormulaId, bool),
}

/// The path formulas of a system.
pub(crate) struct PathFormulas<'s> {
    formulas: &'s Formulas,
    is_path: Vec<bool>,
}

impl<'s> PathFormulas<'s> {
    pub(crate) fn new(formulas: &'s Formulas) -> Self {
        PathFormulas { formulas, is_path: formulas.path_formulas() }
    }

    /// Whether a formula speaks of paths: a temporal operator stands in it under no quantifier.
    pub(crate) fn is_path(&self, formula: FormulaId) -> bool {
        self.is_path[formula.index()]
    }

    /// Negation moved inwards, and every operator as one of few.
    ///
    /// ```text
    /// ¬X a = X ¬a       ¬F a = G ¬a      ¬(a U b) = ¬b W (¬a ∧ ¬b)      ¬(a R b) = ¬a U ¬b
    /// a R b = b W (a ∧ b)                ¬(a W b) = ¬b U (¬a ∧ ¬b)
    /// ```
    fn shape(&self, literal: Literal) -> Shape {
        let Literal { formula, is_true } = literal;
        if !self.is_path(formula) {
            return Shape::State;
        }
        let same = |f| Literal::new(f, is_true);
        let flip = |f| Literal::new(f, !is_true);
        match (self.formulas.get(formula), is_true) {
            (Formula::Not(f), _) => self.shape(flip(f)),
            (Formula::And(list), true) | (Formula::Or(list), false) => {
                Shape::And(list.iter().map(|&f| same(f)).collect())
            }
            (Formula::And(list), false) | (Formula::Or(list), true) => {
                Shape::Or(list.iter().map(|&f| same(f)).collect())
            }
            (Formula::Implies(f, g), true) => Shape::Or(vec![flip(f), same(g)]),
            (Formula::Implies(f, g), false) => Shape::And(vec![flip(f), same(g)]),
            (Formula::Next(f), _) => Shape::Next(same(f)),
            (Formula::Finally(f), true) | (Formula::Globally(f), false) => Shape::Until(None, vec![same(f)]),
            (Formula::Finally(f), false) | (Formula::Globally(f), true) => Shape::Weak(same(f), None),
            (Formula::Until(f, g), true) => Shape::Until(Some(same(f)), vec![same(g)]),
            (Formula::Until(f, g), false) => Shape::Weak(same(g), Some(vec![same(f), same(g)])),
            (Formula::WeakUntil(f, g), true) => Shape::Weak(same(f), Some(vec![same(g)])),
            (Formula::WeakUntil(f, g), false) => Shape::Until(Some(same(g)), vec![same(f), same(g)]),
            (Formula::Release(f, g), true) => Shape::Weak(same(g), Some(vec![same(f), same(g)])),
            (Formula::Release(f, g), false) => Shape::Until(Some(same(f)), vec![same(g)]),
            (Formula::Iff(f, g), _) => Shape::Equal(f, g, is_true),
            _ => Shape::State,
        }
    }

    /// What is said of the same or the next step.
    fn parts(&self, literal: Literal) -> Vec<Literal> {
        match self.shape(literal) {
            Shape::State => Vec::new(),
            Shape::And(parts) | Shape::Or(parts) => parts,
            Shape::Next(a) | Shape::Weak(a, None) => vec![a],
            Shape::Until(None, goal) => goal,
            Shape::Weak(a, Some(goal)) | Shape::Until(Some(a), goal) => [vec![a], goal].concat(),
            Shape::Equal(f, g, _) => {
                let both = |f| [true, false].map(|is_true| Literal::new(f, is_true));
                [f, g].into_iter().flat_map(both).collect()
            }
        }
    }

    fn is_state(&self, literal: Literal) -> bool {
        matches!(self.shape(literal), Shape::State)
    }

    fn is_temporal(&self, literal: Literal) -> bool {
        matches!(self.shape(literal), Shape::Next(_) | Shape::Weak(..) | Shape::Until(..))
    }

    /// The temporal literals in a conjunction: each makes a promise.
    fn promises(&self, roots: &[Literal]) -> Vec<Literal> {
        let mut found = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = roots.to_vec();
        while let Some(literal) = open.pop() {
            if seen.insert(literal) {
                found.extend(self.is_temporal(literal).then_some(literal));
                open.extend(self.parts(literal));
            }
        }
        found
    }
}

/// How many bits the largest tableau of a system's formulas needs.
pub(crate) fn most_promises(system: &System) -> usize {
    let (formulas, paths) = (&system.formulas, PathFormulas::new(&system.formulas));
    let roots = formulas.ids().filter_map(|id| match formulas.get(id) {
        Formula::Exists(Paths::Infinite, path) => Some(Literal::new(path, true)),
        Formula::Forall(Paths::Infinite, path) => Some(Literal::new(path, false)),
        _ => None,
    });
    let in_product = roots.filter(|root| root.branching(formulas).is_none());
    in_product.map(|root| paths.promises(&[root]).len()).max().unwrap_or(0)
}

/// The tableau of a conjunction of path formulas over the states of one system.
struct Tableau {
    /// Where the conjunction is promised.
    root: Set,
    /// That the promises of a step, on its `now` bits, are kept by the state it leads to, on its
    /// `then` bits.
    kept: Set,
    /// Each to be true infinitely often.
    constraints: Vec<Set>,
    now: Cube,
    then: Cube,
    to_then: Renaming,
}

impl Checker<'_> {
    /// `E path`: on some infinite path, fair if there are constraints.
    pub(crate) fn exists_path(&mut self, path: Literal) -> Limited<Set> {
        if let Some(branching) = path.branching(&self.system.formulas) {
            return self.some_branch(&branching);
        }
        match self.paths.shape(path) {
            Shape::Or(parts) => {
                let sets = parts.into_iter().map(|part| self.exists_path(part));
                let sets = sets.collect::<Limited<Vec<_>>>()?;
                self.encoder.balanced(sets, false)
            }
            Shape::And(parts) => self.exists_all(&parts),
            _ => self.exists_all(&[path]),
        }
    }

    /// `E ⋀ paths`. What is said of the first state only needs no path.
    fn exists_all(&mut self, paths: &[Literal]) -> Limited<Set> {
        let (now, rest): (Vec<Literal>, Vec<Literal>) =
            paths.iter().partition(|path| self.paths.is_state(**path));
        let mut sets = now.into_iter().map(|state| self.state(state)).collect::<Limited<Vec<_>>>()?;
        sets.push(match rest[..] {
            [] => self.endless()?,
            _ => self.exists_in_product(&rest)?,
        });
        self.encoder.balanced(sets, true)
    }

    fn state(&mut self, literal: Literal) -> Limited<Set> {
        let phi = self.truth(literal.formula)?;
        if literal.is_true { Ok(phi) } else { self.encoder.space.not(&phi) }
    }

    /// Where an infinite path starts, fair if there are constraints.
    pub(crate) fn endless(&mut self) -> Limited<Set> {
        if self.system.fairness.is_empty() {
            let all = self.encoder.space.all();
            self.exists_globally(&all)
        } else {
            Ok(self.domain().clone())
        }
    }

    /// `E path` of a path formula that CTL can say.
    fn some_branch(&mut self, branching: &Branching) -> Limited<Set> {
        let endless = self.endless()?;
        let mut sets: Vec<Set> = Vec::with_capacity(branching.steps.len());
        for step in &branching.steps {
            let set = match step {
                Branch::State(literal) => self.state(Literal::new(literal.formula, literal.holds))?,
                Branch::And(parts) => {
                    self.encoder.balanced(parts.iter().map(|&part| sets[part].clone()).collect(), true)?
                }
                Branch::Or(parts) => {
                    self.encoder.balanced(parts.iter().map(|&part| sets[part].clone()).collect(), false)?
                }
                Branch::Next(a) => {
                    let phi = self.encoder.space.and(&sets[*a], &endless)?;
                    self.exists_next(&phi)?
                }
                Branch::Until(kept, goal) => {
                    let goal = self.encoder.space.and(&sets[*goal], &endless)?;
                    self.exists_until(&sets[*kept], &goal)?
                }
                Branch::Weak(kept, goal) => {
                    let goal = self.encoder.space.and(&sets[*goal], &endless)?;
                    let until = self.exists_until(&sets[*kept], &goal)?;
                    let globally = self.exists_globally(&sets[*kept])?;
                    self.encoder.space.or(&until, &globally)?
                }
            };
            sets.push(set);
        }
        let found = sets.pop().unwrap_or_else(|| self.encoder.space.all());
        self.encoder.space.and(&found, &endless)
    }

    /// `E ⋀ paths = ∃ promises. (⋀ paths as promised ∧ E_fair G true)`, in the product.
    fn exists_in_product(&mut self, paths: &[Literal]) -> Limited<Set> {
        let tableau = self.tableau(paths)?;
        let space = &self.encoder.space;
        let before = |set: &Set| self.before_kept(&tableau, set);
        let until = |inside: &Set, goal: &Set| reach(space, goal, inside, before);
        let z = globally(space, self.domain(), &tableau.constraints, before, until)?;
        space.and_exists(&z, &tableau.root, &tableau.now)
    }

    /// `EX set` in the product.
    ///
    /// ```text
    /// (s, now) is in it   iff   s → t, the promises `now` are kept by (t, then), and (t, then) ∈ set
    /// ```
    fn before_kept(&self, tableau: &Tableau, set: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let then = space.rename(set, &tableau.to_then)?;
        let kept = space.and_exists(&then, &tableau.kept, &tableau.then)?;
        self.exists_next(&kept)
    }

    /// The tableau of a conjunction.
    ///
    /// A promise is kept if what it promises is true, or promised on:
    ///
    /// ```text
    /// X a promises a         a U b = b ∨ (a ∧ promise of a U b)         a W b likewise
    /// ```
    ///
    /// That `b` must come for `a U b` is a constraint: infinitely often `b`, or no promise. If the
    /// promise stands for ever, `b` comes; if it is dropped, `b` was true then.
    fn tableau(&mut self, paths: &[Literal]) -> Limited<Tableau> {
        let promises = self.paths.promises(paths);
        let bits: Vec<(Bit, Bit)> = self.encoder.layout.promises[..promises.len()].to_vec();
        let space = &self.encoder.space;
        let now = space.cube(bits.iter().map(|(now, _)| *now))?;
        let then = space.cube(bits.iter().map(|(_, then)| *then))?;
        let to_then = space.renaming(bits.iter().copied())?;
        let mut is_made = FxHashMap::default();
        for (&literal, &(now, _)) in promises.iter().zip(&bits) {
            is_made.insert(literal, space.bit(now, true)?);
        }
        let mut constraints = self.constraints().to_vec();
        let mut kept = Vec::new();
        for literal in &promises {
            let made = is_made[literal].clone();
            let promised = match self.paths.shape(*literal) {
                Shape::Next(a) => self.said(a, &is_made)?,
                shape => {
                    if let Shape::Until(_, goal) = shape {
                        let goal = self.all_said(&goal, &is_made)?;
                        constraints.push(self.encoder.space.or(&self.encoder.space.not(&made)?, &goal)?);
                    }
                    self.said(*literal, &is_made)?
                }
            };
            let space = &self.encoder.space;
            let promised = space.rename(&promised, &to_then)?;
            kept.push(space.or(&space.not(&made)?, &promised)?);
        }
        let kept = self.encoder.balanced(kept, true)?;
        let root = self.all_said(paths, &is_made)?;
        Ok(Tableau { root, kept, constraints, now, then, to_then })
    }

    /// Where a path formula is true if all promises are kept.
    fn said(&mut self, path: Literal, is_made: &FxHashMap<Literal, Set>) -> Limited<Set> {
        let ongoing = |checker: &mut Self, a: Option<Literal>, goal: Option<Vec<Literal>>| {
            let a = match a {
                Some(a) => checker.said(a, is_made)?,
                None => checker.encoder.space.all(),
            };
            let goal = match goal {
                Some(goal) => checker.all_said(&goal, is_made)?,
                None => checker.encoder.space.none(),
            };
            let space = &checker.encoder.space;
            space.or(&goal, &space.and(&a, &is_made[&path])?)
        };
        match self.paths.shape(path) {
            Shape::State => self.state(path),
            Shape::And(parts) => self.all_said(&parts, is_made),
            Shape::Or(parts) => {
                let sets = parts.iter().map(|&part| self.said(part, is_made));
                let sets = sets.collect::<Limited<Vec<_>>>()?;
                self.encoder.balanced(sets, false)
            }
            Shape::Next(_) => Ok(is_made[&path].clone()),
            Shape::Weak(a, goal) => ongoing(self, Some(a), goal),
            Shape::Until(a, goal) => ongoing(self, a, Some(goal)),
            Shape::Equal(f, g, is_equal) => {
                let both = |a, b| [Literal::new(f, a), Literal::new(g, b)];
                let either = self.all_said(&both(true, is_equal), is_made)?;
                let or = self.all_said(&both(false, !is_equal), is_made)?;
                self.encoder.space.or(&either, &or)
            }
        }
    }

    fn all_said(&mut self, paths: &[Literal], is_made: &FxHashMap<Literal, Set>) -> Limited<Set> {
        let sets = paths.iter().map(|&path| self.said(path, is_made)).collect::<Limited<Vec<_>>>()?;
        self.encoder.balanced(sets, true)
    }
}
