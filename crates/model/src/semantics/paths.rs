//! LTL and CTL*: path formulas on infinite paths.
//!
//! A path formula is decided by guessing, at every state of a path, which of its temporal operators
//! are true there, and checking that the guesses are consistent. [LP85 §3; CGP99 §6.7]

use super::truth::{States, Truths};
use crate::{Formula, FormulaId};

/// Maximum number of temporal operators in a path formula: there are two to that power guesses.
const MAX_OPERATORS: usize = 10;

impl Truths<'_> {
    /// `E path` in CTL*: some infinite path, fair if there are constraints, satisfies the path
    /// formula. [CGP99 §3.1]
    ///
    /// ```text
    /// π = g₀ g₁ ..,  πⁱ = gᵢ gᵢ₊₁ ..
    /// g ⊨ E φ     iff   π ⊨ φ for some infinite (fair) path π with g₀ = g
    /// π ⊨ p       iff   g₀ ⊨ p                                  p a state formula
    /// π ⊨ X φ     iff   π¹ ⊨ φ
    /// π ⊨ φ U ψ   iff   πⁱ ⊨ ψ for some i, and πʲ ⊨ φ for all j < i
    /// F φ = true U φ     G φ = ¬F ¬φ     φ W ψ = (φ U ψ) ∨ G φ     φ R ψ = ¬(¬φ U ¬ψ)
    /// ```
    ///
    /// Let `T` be the temporal operators inside `φ`. A *guess* `v` assigns a truth value to each of them;
    /// together with the state it determines the truth of every subformula of `φ`. A path of pairs
    /// `(g₀, v₀) (g₁, v₁) ..` is *right* if at each step, for each operator,
    ///
    /// ```text
    /// v(X φ)   = φ'              v(F φ) = φ ∨ v'(F φ)         v(G φ) = φ ∧ v'(G φ)
    /// v(φ U ψ) = ψ ∨ (φ ∧ v')    v(φ W ψ) = ψ ∨ (φ ∧ v')      v(φ R ψ) = ψ ∧ (φ ∨ v')
    /// ```
    ///
    /// where a prime is the value at the next pair, and if infinitely often
    ///
    /// ```text
    /// v(F φ) false or φ true     v(φ U ψ) false or ψ true
    /// v(G φ) true or φ false     v(φ W ψ) true or φ false     v(φ R ψ) true or ψ false
    /// ```
    ///
    /// Why this is the definition. The true values along a path solve the equations, and meet the
    /// recurring conditions: if `φ U ψ` is always true, `ψ` is true infinitely often. And they are
    /// the only solution that does. An operator other than `X` has at most two solutions along a
    /// path, given its operands: where the equation makes every value equal to the next one from some
    /// point on (as `φ ∧ ¬ψ` does for `U`), the value is constant from there on, and the condition picks
    /// the right constant: false for `F` and `U`, true for `G`, `W` and `R`. By induction over the operands
    /// all values are right. So `g ⊨ E φ` iff from some `(g, v)` with `φ` true a right path starts: one
    /// that is infinite and meets each recurring condition, and each fairness constraint, infinitely often.
    pub(super) fn some_path(&mut self, path: FormulaId) -> Option<States> {
        self.some_path_with(path, true)
    }

    /// `E ¬path`: the same guesses show where the path formula is false.
    pub(super) fn some_path_without(&mut self, path: FormulaId) -> Option<States> {
        self.some_path_with(path, false)
    }

    /// Computes the states at which an infinite path starts on which the path formula has this truth value.
    fn some_path_with(&mut self, path: FormulaId, truth: bool) -> Option<States> {
        let tableau = Tableau::new(self, path)?;
        let right = tableau.right_paths();
        let is_right = |g: usize, v: usize| right[tableau.pair(g, v)] && tableau.value(path, g, v) == truth;
        let starts = |g: usize| self.domain[g] && (0..tableau.n_guesses).any(|v| is_right(g, v));
        Some((0..self.structure.n_states()).map(starts).collect())
    }
}

/// The pairs of a state and a guess.
struct Tableau<'t> {
    formulas: &'t crate::Formulas,
    /// The temporal operators; bit `i` of a guess is the value of the `i`-th.
    operators: Vec<FormulaId>,
    n_guesses: usize,
    /// For each formula, the states in which it is true, if it is a state formula in the path formula.
    sets: Vec<Option<States>>,
    /// For each pair, the pairs to which a right step leads.
    steps: Vec<Vec<usize>>,
    /// The sets of pairs that must recur.
    recurring: Vec<Vec<bool>>,
}

impl<'t> Tableau<'t> {
    fn new(truths: &mut Truths<'t>, path: FormulaId) -> Option<Tableau<'t>> {
        let formulas = &truths.system.formulas;
        let is_path = formulas.path_formulas();
        let mut sets = vec![None; formulas.len()];
        let mut operators = Vec::new();
        let mut open = vec![path];
        let mut seen = vec![false; formulas.len()];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            if !is_path[id.index()] {
                sets[id.index()] = Some(truths.of(id)?);
                continue;
            }
            if !matches!(
                formulas.get(id),
                Formula::Not(_) | Formula::And(_) | Formula::Or(_) | Formula::Implies(..) | Formula::Iff(..)
            ) {
                operators.push(id);
            }
            formulas.each_operand(id, |operand| open.push(operand));
        }
        if operators.len() > MAX_OPERATORS {
            return None;
        }
        let n_guesses = 1 << operators.len();
        let mut tableau =
            Tableau { formulas, operators, n_guesses, sets, steps: Vec::new(), recurring: Vec::new() };
        let n_states = truths.structure.n_states();
        for g in 0..n_states {
            for v in 0..n_guesses {
                let mut steps = Vec::new();
                for &next in truths.structure.successors[g].iter().filter(|&&next| truths.domain[next]) {
                    let fits =
                        |w: &usize| tableau.operators.iter().all(|&f| tableau.fits(f, (g, v), (next, *w)));
                    steps.extend((0..n_guesses).filter(fits).map(|w| tableau.pair(next, w)));
                }
                tableau.steps.push(steps);
            }
        }
        let pairs = || (0..n_states).flat_map(|g| (0..n_guesses).map(move |v| (g, v)));
        let recurs = |&f: &FormulaId| {
            let (is_true, operand) = tableau.recurs(f)?;
            let recurs =
                |(g, v)| tableau.value(f, g, v) == is_true || tableau.value(operand, g, v) != is_true;
            Some(pairs().map(recurs).collect())
        };
        let mut recurring: Vec<Vec<bool>> = tableau.operators.iter().filter_map(recurs).collect();
        recurring.extend(truths.constraints.iter().map(|c| pairs().map(|(g, _)| c[g]).collect()));
        tableau.recurring = recurring;
        Some(tableau)
    }

    fn pair(&self, g: usize, v: usize) -> usize {
        g * self.n_guesses + v
    }

    /// Returns the truth of a subformula of the path formula at a state, under a guess.
    fn value(&self, part: FormulaId, g: usize, v: usize) -> bool {
        if let Some(set) = &self.sets[part.index()] {
            return set[g];
        }
        match self.formulas.get(part) {
            Formula::Not(f) => !self.value(f, g, v),
            Formula::And(list) => list.iter().all(|&f| self.value(f, g, v)),
            Formula::Or(list) => list.iter().any(|&f| self.value(f, g, v)),
            Formula::Implies(f, h) => !self.value(f, g, v) || self.value(h, g, v),
            Formula::Iff(f, h) => self.value(f, g, v) == self.value(h, g, v),
            _ => {
                let index = self.operators.iter().position(|&operator| operator == part);
                index.is_some_and(|i| v >> i & 1 == 1)
            }
        }
    }

    /// Returns whether the guesses of a step are consistent for one operator.
    fn fits(&self, operator: FormulaId, now: (usize, usize), next: (usize, usize)) -> bool {
        let at = |f: FormulaId| self.value(f, now.0, now.1);
        let later = |f: FormulaId| self.value(f, next.0, next.1);
        let expected = match self.formulas.get(operator) {
            Formula::Next(f) => later(f),
            Formula::Finally(f) => at(f) || later(operator),
            Formula::Globally(f) => at(f) && later(operator),
            Formula::Until(f, g) | Formula::WeakUntil(f, g) => at(g) || at(f) && later(operator),
            Formula::Release(f, g) => at(g) && (at(f) || later(operator)),
            _ => return false,
        };
        at(operator) == expected
    }

    /// Returns the recurring condition of an operator, `None` for `X`. With a truth value and an operand:
    /// infinitely often the operator has this value, or the operand has the opposite one.
    fn recurs(&self, operator: FormulaId) -> Option<(bool, FormulaId)> {
        match self.formulas.get(operator) {
            Formula::Finally(f) | Formula::Until(_, f) => Some((false, f)),
            Formula::Globally(f) | Formula::WeakUntil(f, _) | Formula::Release(_, f) => Some((true, f)),
            _ => None,
        }
    }

    /// Computes the pairs at which a right path starts, as `EG` in `truth.rs`.
    ///
    /// ```text
    /// νZ. EX Z                             without recurring conditions
    /// νZ. ⋀_c EX E(true U (Z ∧ c))         with recurring conditions c
    /// ```
    fn right_paths(&self) -> Vec<bool> {
        let mut z = vec![true; self.steps.len()];
        loop {
            let mut next = self.before(&z);
            for c in &self.recurring {
                let goal: Vec<bool> = z.iter().zip(c).map(|(&z, &c)| z && c).collect();
                let reaching = self.before(&self.reach(goal));
                next.iter_mut().zip(reaching).for_each(|(next, reaches)| *next &= reaches);
            }
            if next == z {
                return z;
            }
            z = next;
        }
    }

    /// Computes the pairs from which a step leads into a set.
    fn before(&self, set: &[bool]) -> Vec<bool> {
        self.steps.iter().map(|steps| steps.iter().any(|&pair| set[pair])).collect()
    }

    /// Computes the pairs from which a path leads into a set.
    fn reach(&self, mut set: Vec<bool>) -> Vec<bool> {
        loop {
            let before = self.before(&set);
            let larger: Vec<bool> = set.iter().zip(before).map(|(&set, before)| set || before).collect();
            if larger == set {
                return set;
            }
            set = larger;
        }
    }
}
