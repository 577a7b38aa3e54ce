//! `E path` for any path formula: fair paths of the product with a tableau. [CGH97 §4]
//!
//! In a path formula in positive normal form, each temporal operator is a promise about the rest of the
//! path, represented by one bit. The product relates a state with its promises to a successor that keeps
//! them, and the promise of an eventuality is a fairness constraint. The bits have two copies, `now` and
//! `then`, but the relation of the system has neither: they are added and quantified at the target of
//! a step.
//!
//! A path formula that CTL can express needs no tableau ([`Branching`]), and no bits. Nor does a conjunction
//! of what is always true and what recurs ([`recurring`](crate::recurring)).

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

/// The outermost operator of a literal, with the negation moved inwards.
pub(crate) enum Shape {
    /// A state formula or its negation.
    State,
    And(Vec<Literal>),
    Or(Vec<Literal>),
    /// `X a`
    Next(Literal),
    /// `a W b`: `a` until `b`, or always. `b` is a conjunction; `None` for `G a`.
    Weak(Literal, Option<Vec<Literal>>),
    /// `a U b`: `a` is `None` for `F b`, and `b` is a conjunction.
    Until(Option<Literal>, Vec<Literal>),
    /// Two formulas have the same truth value, or different ones if the flag is false.
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

    /// Returns whether a formula is a path formula: some temporal operator in it is under no quantifier.
    pub(crate) fn is_path(&self, formula: FormulaId) -> bool {
        self.is_path[formula.index()]
    }

    /// Moves the negation of a literal inwards and reduces its operator to a [`Shape`].
    ///
    /// ```text
    /// ¬X a = X ¬a       ¬F a = G ¬a      ¬(a U b) = ¬b W (¬a ∧ ¬b)      ¬(a R b) = ¬a U ¬b
    /// a R b = b W (a ∧ b)                ¬(a W b) = ¬b U (¬a ∧ ¬b)
    /// ```
    pub(crate) fn shape(&self, literal: Literal) -> Shape {
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

    /// Returns the operands of a literal.
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

    pub(crate) fn is_state(&self, literal: Literal) -> bool {
        matches!(self.shape(literal), Shape::State)
    }

    fn is_temporal(&self, literal: Literal) -> bool {
        matches!(self.shape(literal), Shape::Next(_) | Shape::Weak(..) | Shape::Until(..))
    }

    /// Returns the temporal literals in a conjunction: each is a promise.
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

    /// Returns the number of promises in the largest tableau that [`Checker::exists_path`] needs.
    fn n_promises(&self, path: Literal) -> usize {
        if path.branching(self.formulas).is_some() {
            return 0;
        }
        let paths = match self.shape(path) {
            Shape::Or(parts) => {
                return parts.into_iter().map(|part| self.n_promises(part)).max().unwrap_or(0);
            }
            Shape::And(parts) => parts,
            _ => vec![path],
        };
        let rest: Vec<Literal> = paths.into_iter().filter(|path| !self.is_state(*path)).collect();
        if self.recurring(&rest).is_some() { 0 } else { self.promises(&rest).len() }
    }
}

/// Returns the largest number of promises in a tableau of a system's formulas.
pub(crate) fn max_promises(system: &System) -> usize {
    let (formulas, paths) = (&system.formulas, PathFormulas::new(&system.formulas));
    let roots = formulas.ids().filter_map(|id| match formulas.get(id) {
        Formula::Exists(Paths::Infinite, path) => Some(Literal::new(path, true)),
        Formula::Forall(Paths::Infinite, path) => Some(Literal::new(path, false)),
        _ => None,
    });
    roots.map(|root| paths.n_promises(root)).max().unwrap_or(0)
}

/// The tableau of a conjunction of path formulas over the states of one system.
struct Tableau {
    /// The states and promises for which the conjunction is true.
    root: Set,
    /// The relation in which the promises in the `now` bits are kept by the target of the step with its
    /// promises in the `then` bits.
    kept: Set,
    /// The fairness constraints: each must be true infinitely often.
    constraints: Vec<Set>,
    now: Cube,
    then: Cube,
    to_then: Renaming,
}

impl Checker<'_> {
    /// Computes `E path` on infinite paths, and on fair paths if there are constraints.
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

    /// Computes `E ⋀ paths`. State formulas among them need no path.
    fn exists_all(&mut self, paths: &[Literal]) -> Limited<Set> {
        let (now, rest): (Vec<Literal>, Vec<Literal>) =
            paths.iter().partition(|path| self.paths.is_state(**path));
        let mut sets = now.into_iter().map(|state| self.state(state)).collect::<Limited<Vec<_>>>()?;
        sets.push(match rest[..] {
            [] => self.endless()?,
            _ => match self.paths.recurring(&rest) {
                Some(recurring) => self.exists_recurring(&recurring)?,
                None => self.exists_in_product(&rest)?,
            },
        });
        self.encoder.balanced(sets, true)
    }

    pub(crate) fn state(&mut self, literal: Literal) -> Limited<Set> {
        let phi = self.truth(literal.formula)?;
        if literal.is_true { Ok(phi) } else { self.encoder.space.not(&phi) }
    }

    /// Computes the states that start an infinite path, or a fair path if there are constraints.
    pub(crate) fn endless(&mut self) -> Limited<Set> {
        if self.system.fairness.is_empty() {
            let all = self.encoder.space.all();
            self.exists_globally(&all)
        } else {
            Ok(self.domain().clone())
        }
    }

    /// Computes `E path` for a path formula that CTL can express.
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
    /// A promise is kept if its formula is true at the next state, possibly by a promise there:
    ///
    /// ```text
    /// X a promises a         a U b = b ∨ (a ∧ promise of a U b)         a W b likewise
    /// ```
    ///
    /// That `b` becomes true for `a U b` is a constraint: infinitely often, `b` is true or there is no
    /// promise. If the promise is always present, `b` becomes true; if it disappears, `b` was true then.
    fn tableau(&mut self, paths: &[Literal]) -> Limited<Tableau> {
        let promises = self.paths.promises(paths);
        let bits: Vec<(Bit, Bit)> = self.encoder.layout.promises[..promises.len()].to_vec();
        let space = &self.encoder.space;
        let now = space.cube(bits.iter().map(|(now, _)| *now))?;
        let then = space.cube(bits.iter().map(|(_, then)| *then))?;
        let to_then = space.renaming(bits.iter().copied());
        let mut promise_sets = FxHashMap::default();
        for (&literal, &(now, _)) in promises.iter().zip(&bits) {
            promise_sets.insert(literal, space.bit(now, true)?);
        }
        let mut constraints = self.constraints().to_vec();
        let mut kept = Vec::new();
        for literal in &promises {
            let made = promise_sets[literal].clone();
            let promised = match self.paths.shape(*literal) {
                Shape::Next(a) => self.truth_by_promises(a, &promise_sets)?,
                shape => {
                    if let Shape::Until(_, goal) = shape {
                        let goal = self.all_true_by_promises(&goal, &promise_sets)?;
                        constraints.push(self.encoder.space.or(&self.encoder.space.not(&made)?, &goal)?);
                    }
                    self.truth_by_promises(*literal, &promise_sets)?
                }
            };
            let space = &self.encoder.space;
            let promised = space.rename(&promised, &to_then)?;
            kept.push(space.or(&space.not(&made)?, &promised)?);
        }
        let kept = self.encoder.balanced(kept, true)?;
        let root = self.all_true_by_promises(paths, &promise_sets)?;
        Ok(Tableau { root, kept, constraints, now, then, to_then })
    }

    /// Returns the states and promises for which a path formula is true if all promises are kept.
    /// `promise_sets` has the set of each promise.
    fn truth_by_promises(&mut self, path: Literal, promise_sets: &FxHashMap<Literal, Set>) -> Limited<Set> {
        let ongoing = |checker: &mut Self, a: Option<Literal>, goal: Option<Vec<Literal>>| {
            let a = match a {
                Some(a) => checker.truth_by_promises(a, promise_sets)?,
                None => checker.encoder.space.all(),
            };
            let goal = match goal {
                Some(goal) => checker.all_true_by_promises(&goal, promise_sets)?,
                None => checker.encoder.space.none(),
            };
            let space = &checker.encoder.space;
            space.or(&goal, &space.and(&a, &promise_sets[&path])?)
        };
        match self.paths.shape(path) {
            Shape::State => self.state(path),
            Shape::And(parts) => self.all_true_by_promises(&parts, promise_sets),
            Shape::Or(parts) => {
                let sets = parts.iter().map(|&part| self.truth_by_promises(part, promise_sets));
                let sets = sets.collect::<Limited<Vec<_>>>()?;
                self.encoder.balanced(sets, false)
            }
            Shape::Next(_) => Ok(promise_sets[&path].clone()),
            Shape::Weak(a, goal) => ongoing(self, Some(a), goal),
            Shape::Until(a, goal) => ongoing(self, a, Some(goal)),
            Shape::Equal(f, g, is_equal) => {
                let both = |a, b| [Literal::new(f, a), Literal::new(g, b)];
                let first_true = self.all_true_by_promises(&both(true, is_equal), promise_sets)?;
                let first_false = self.all_true_by_promises(&both(false, !is_equal), promise_sets)?;
                self.encoder.space.or(&first_true, &first_false)
            }
        }
    }

    fn all_true_by_promises(
        &mut self,
        paths: &[Literal],
        promise_sets: &FxHashMap<Literal, Set>,
    ) -> Limited<Set> {
        let sets = paths
            .iter()
            .map(|&path| self.truth_by_promises(path, promise_sets))
            .collect::<Limited<Vec<_>>>()?;
        self.encoder.balanced(sets, true)
    }
}
