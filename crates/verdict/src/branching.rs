//! Path formulas that CTL can express, and how to decide them without an automaton. [Mai00 §3]
//!
//! `A path` can be read with an `A` before every temporal operator if each state determines which part
//! of the formula the rest of the path has to satisfy. [Mai00] gives the formulas for which this is the
//! case (`p` is a state formula):
//!
//! ```text
//! ψ ::= p | ψ ∧ ψ | (p ∧ ψ) ∨ (¬p ∧ ψ) | X ψ | (p ∧ ψ) U (¬p ∧ ψ) | (p ∧ ψ) W (¬p ∧ ψ)
//! ```
//!
//! Special cases are `p ∨ ψ`, `p -> ψ`, `G ψ`, `F p`, `ψ U p`, `ψ W p` and `p R ψ`. Engines compute
//! `E path`, so this file has the duals, with `b` for the negation of `p U q` and similar formulas:
//!
//! ```text
//! E(φ ∨ ψ) = Eφ ∨ Eψ                      E(p ∧ ψ) = p ∧ Eψ                  E X ψ = EX Eψ
//! E(p U ψ) = E(p U Eψ)                    E(p W ψ) = E(p W Eψ)
//! E((p ∨ φ) ∧ (¬p ∨ ψ)) = (p ∨ Eφ) ∧ (¬p ∨ Eψ)
//! E(b U (a ∧ b)) = E(Eb U (Ea ∧ Eb))      E(b W (a ∧ b)) likewise,      for b = p ∨ φ, a = ¬p ∨ ψ
//! ```
//!
//! In addition, it has conjunctions of `G` formulas with at most one other goal:
//!
//! ```text
//! E(G p ∧ G q) = EG (p ∧ q)               E(G p ∧ (q U r)) = E((p ∧ q) U (r ∧ EG p)), W likewise
//! ```
//!
//! All of these equations hold for the infinite paths of a system, and for its fair paths. They need two
//! facts only: a path stays infinite (or fair) when steps are added or removed at its beginning, and such
//! a path starts at every state considered. [Mai00] proves them for systems in which all paths are
//! infinite.

use std::collections::{BTreeMap, HashSet};

use masque_model::{Formula, FormulaId, Formulas};

use crate::Literal;

/// A computation of the states at which some path satisfies a formula.
///
/// Each step refers to earlier ones; the last one is the result. A set has to be correct only at states
/// where a path starts: a caller removes other states from the targets of steps and from the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branching {
    /// The steps of the computation.
    pub steps: Vec<Branch>,
}

/// One set, computed from earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Branch {
    /// States at which a state formula is true, or false.
    State(Literal),
    /// Intersection; all states if the list is empty.
    And(Vec<usize>),
    /// Union; no states if the list is empty.
    Or(Vec<usize>),
    /// `EX a`
    Next(usize),
    /// `E(a U b)`
    Until(usize, usize),
    /// `E(a W b)`, which is `E(a U b) or EG a`
    Weak(usize, usize),
}

impl Branching {
    /// Returns a computation of `E path`, or of `E !path` if `holds` is false. Returns `None` for a
    /// formula that is not recognised as one of CTL.
    pub fn of(formulas: &Formulas, path: FormulaId, holds: bool) -> Option<Branching> {
        // The parts of the path formula down to its largest state formulas, and for each whether its being false
        // and its being true is needed.
        let enters = |formula: Formula<'_>| {
            matches!(formula, Formula::And(_) | Formula::Or(_)) || formula.is_temporal()
        };
        let needed = formulas.signs(path, [!holds, holds], enters);
        let is_path = path_formulas(formulas, needed.keys().copied());
        let mut builder = Builder { formulas, is_path, steps: Vec::new(), known: BTreeMap::new() };
        for (formula, signs) in needed {
            for holds in [true, false].into_iter().filter(|&holds| signs[usize::from(holds)]) {
                let piece = builder.piece(Literal { formula, holds })?;
                builder.known.insert((formula, holds), piece);
            }
        }
        let last = builder.known[&(path, holds)].step;
        if last + 1 != builder.steps.len() {
            builder.steps.push(Branch::And(vec![last]));
        }
        Some(Branching { steps: builder.steps })
    }
}

/// Returns those of the formulas that are path formulas. Operands come before the formulas that use them.
fn path_formulas(formulas: &Formulas, ids: impl Iterator<Item = FormulaId>) -> HashSet<FormulaId> {
    let mut is_path = HashSet::new();
    for id in ids {
        let formula = formulas.get(id);
        let is_one = match formula {
            Formula::Not(_) | Formula::And(_) | Formula::Or(_) | Formula::Implies(..) | Formula::Iff(..) => {
                let mut is_one = false;
                formulas.each_operand(id, |operand| is_one |= is_path.contains(&operand));
                is_one
            }
            _ => formula.is_temporal(),
        };
        if is_one {
            is_path.insert(id);
        }
    }
    is_path
}

/// A part of the formula, and the step that computes its set.
#[derive(Clone, Debug)]
struct Piece {
    step: usize,
    /// Whether it is a state formula.
    is_state: bool,
    /// State formulas each of which implies it.
    enough: Vec<Literal>,
    /// Its form, if it is one `G`, `U` or `W` of state formulas.
    shape: Option<Shape>,
}

/// A path formula with one temporal operator on state formulas, which are given by the indices of their
/// steps.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// `G kept`
    Always(usize),
    /// `kept U goal`, or `kept W goal`
    Until { kept: usize, goal: usize, is_weak: bool },
}

struct Builder<'f> {
    formulas: &'f Formulas,
    is_path: HashSet<FormulaId>,
    steps: Vec<Branch>,
    known: BTreeMap<(FormulaId, bool), Piece>,
}

impl Builder<'_> {
    /// Adds the steps for a part whose operands are known.
    fn piece(&mut self, literal: Literal) -> Option<Piece> {
        let Literal { formula, holds } = literal;
        if !self.is_path.contains(&formula) {
            let step = self.push(Branch::State(literal));
            return Some(Piece { step, is_state: true, enough: self.enough(literal), shape: None });
        }
        let of = |f: FormulaId| self.known[&(f, holds)].clone();
        let opposite = |f: FormulaId| self.known[&(f, !holds)].clone();
        match self.formulas.get(formula) {
            Formula::Not(f) => Some(opposite(f)),
            Formula::And(list) if holds => self.all(list.iter().map(|&f| of(f)).collect()),
            Formula::Or(list) if !holds => self.all(list.iter().map(|&f| of(f)).collect()),
            Formula::And(list) | Formula::Or(list) => Some(self.some(list.iter().map(|&f| of(f)).collect())),
            Formula::Implies(f, g) => {
                let parts = vec![opposite(f), of(g)];
                if holds { Some(self.some(parts)) } else { self.all(parts) }
            }
            Formula::Iff(f, g) => {
                let same = [(f, true), (g, holds)].map(|part| self.known[&part].clone());
                let other = [(f, false), (g, !holds)].map(|part| self.known[&part].clone());
                let pairs = vec![self.all(same.to_vec())?, self.all(other.to_vec())?];
                Some(self.some(pairs))
            }
            Formula::Next(f) => {
                let next = Branch::Next(of(f).step);
                Some(self.path(next))
            }
            Formula::Finally(f) if holds => self.until(None, vec![of(f)], false),
            Formula::Globally(f) if !holds => self.until(None, vec![of(f)], false),
            // The operand must be a state formula: `EG` of a path formula is not a formula of CTL.
            Formula::Finally(f) | Formula::Globally(f) => self.weak(of(f)),
            Formula::Until(f, g) if holds => self.until(Some(of(f)), vec![of(g)], false),
            Formula::Until(f, g) => self.until(Some(of(g)), vec![of(f), of(g)], true),
            Formula::WeakUntil(f, g) if holds => self.until(Some(of(f)), vec![of(g)], true),
            Formula::WeakUntil(f, g) => self.until(Some(of(g)), vec![of(f), of(g)], false),
            Formula::Release(f, g) if holds => self.until(Some(of(g)), vec![of(f), of(g)], true),
            Formula::Release(f, g) => self.until(Some(of(f)), vec![of(g)], false),
            _ => None,
        }
    }

    /// `E(kept U goal)`, or `E(kept W goal)`, where all of `goal` must be true at once.
    fn until(&mut self, kept: Option<Piece>, goal: Vec<Piece>, is_weak: bool) -> Option<Piece> {
        let is_determined = match (&kept, &goal[..]) {
            (None, _) => true,
            (Some(kept), _) if kept.is_state => true,
            (Some(kept), [other, same]) => same.step == kept.step && excludes(other, kept),
            _ => false,
        };
        if !is_determined {
            return None;
        }
        let is_simple =
            kept.as_ref().is_none_or(|kept| kept.is_state) && goal.iter().all(|goal| goal.is_state);
        let goal = self.all(goal)?.step;
        let kept = kept.map_or_else(|| self.push(Branch::And(Vec::new())), |kept| kept.step);
        let piece = self.keep_until(kept, goal, is_weak);
        let shape = is_simple.then_some(Shape::Until { kept, goal, is_weak });
        Some(Piece { shape, ..piece })
    }

    fn keep_until(&mut self, kept: usize, goal: usize, is_weak: bool) -> Piece {
        self.path(if is_weak { Branch::Weak(kept, goal) } else { Branch::Until(kept, goal) })
    }

    /// `EG kept`
    fn weak(&mut self, kept: Piece) -> Option<Piece> {
        kept.is_state.then(|| self.always(kept.step))
    }

    fn always(&mut self, kept: usize) -> Piece {
        let never = self.push(Branch::Or(Vec::new()));
        let piece = self.path(Branch::Weak(kept, never));
        Piece { shape: Some(Shape::Always(kept)), ..piece }
    }

    /// A conjunction with at most one path formula; with two, if at each state one of them is true by
    /// itself; or with several that [`Self::together`] combines.
    fn all(&mut self, mut parts: Vec<Piece>) -> Option<Piece> {
        let of_paths: Vec<&Piece> = parts.iter().filter(|part| !part.is_state).collect();
        match of_paths[..] {
            [] | [_] => {}
            [a, b] if excludes(a, b) => {}
            _ => {
                let together = self.together(of_paths.iter().map(|part| part.shape).collect())?;
                parts.retain(|part| part.is_state);
                parts.push(together);
            }
        }
        let is_state = parts.iter().all(|part| part.is_state);
        if let [only] = &parts[..] {
            return Some(only.clone());
        }
        let step = self.push(Branch::And(parts.iter().map(|part| part.step).collect()));
        Some(Piece { step, is_state, enough: Vec::new(), shape: None })
    }

    /// `G p ∧ G q ∧ ..` with at most one part that is not a `G`.
    fn together(&mut self, shapes: Vec<Option<Shape>>) -> Option<Piece> {
        let (mut always, mut goals) = (Vec::new(), Vec::new());
        for shape in shapes {
            match shape? {
                Shape::Always(kept) => always.push(kept),
                Shape::Until { kept, goal, is_weak } => goals.push((kept, goal, is_weak)),
            }
        }
        let kept = self.push(Branch::And(always));
        let globally = self.always(kept);
        match goals[..] {
            [] => Some(globally),
            [(before, goal, is_weak)] => {
                let kept = self.push(Branch::And(vec![before, kept]));
                let goal = self.push(Branch::And(vec![goal, globally.step]));
                Some(self.keep_until(kept, goal, is_weak))
            }
            _ => None,
        }
    }

    fn some(&mut self, parts: Vec<Piece>) -> Piece {
        let is_state = parts.iter().all(|part| part.is_state);
        let step = self.push(Branch::Or(parts.iter().map(|part| part.step).collect()));
        let enough = parts.into_iter().filter(|part| part.is_state).flat_map(|part| part.enough).collect();
        Piece { step, is_state, enough, shape: None }
    }

    fn path(&mut self, branch: Branch) -> Piece {
        Piece { step: self.push(branch), is_state: false, enough: Vec::new(), shape: None }
    }

    fn push(&mut self, branch: Branch) -> usize {
        self.steps.push(branch);
        self.steps.len() - 1
    }

    /// A state formula, and its parts if it is a disjunction.
    fn enough(&self, literal: Literal) -> Vec<Literal> {
        let literal = self.plain(literal);
        let Literal { formula, holds } = literal;
        let part = |formula, holds| self.plain(Literal { formula, holds });
        let mut enough = vec![literal];
        match (self.formulas.get(formula), holds) {
            (Formula::Or(list), true) | (Formula::And(list), false) => {
                enough.extend(list.iter().map(|&f| part(f, holds)));
            }
            (Formula::Implies(f, g), true) => enough.extend([part(f, false), part(g, true)]),
            _ => {}
        }
        enough
    }

    /// The literal without negations at its top.
    fn plain(&self, mut literal: Literal) -> Literal {
        while let Formula::Not(f) = self.formulas.get(literal.formula) {
            literal = Literal { formula: f, holds: !literal.holds };
        }
        literal
    }
}

/// Whether the two formulas have the forms `p or ..` and `!p or ..`, so that at every state one of them is
/// true by itself.
fn excludes(a: &Piece, b: &Piece) -> bool {
    let enough: HashSet<Literal> = a.enough.iter().copied().collect();
    b.enough.iter().any(|&Literal { formula, holds }| enough.contains(&Literal { formula, holds: !holds }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of `A path` and `E path` are recognised.
    #[rustfmt::skip]
    #[test]
    fn formulas_that_ctl_can_express() {
        let mut formulas = Formulas::default();
        let [p, q] = [true, false].map(|value| formulas.add(Formula::Bool(value)));
        let mut add = |formula: Formula<'_>| formulas.add(formula);
        let (next, finally, globally) = (add(Formula::Next(p)), add(Formula::Finally(p)), add(Formula::Globally(p)));
        let (finally_q, always_q) = (add(Formula::Finally(q)), add(Formula::Globally(q)));
        let rows = [
            (p,                                       [true, true],   "a state formula"),
            (next,                                    [true, true],   "X p"),
            (finally,                                 [true, true],   "F p"),
            (globally,                                [true, true],   "G p"),
            (add(Formula::Until(p, q)),               [true, true],   "p U q"),
            (add(Formula::Globally(finally)),         [true, false],  "G F p"),
            (add(Formula::Finally(globally)),         [false, true],  "F G p"),
            (add(Formula::And(&[finally, globally])), [true, true],   "F p and G p"),
            (add(Formula::Or(&[finally, globally])),  [true, true],   "F p or G p"),
            (add(Formula::And(&[finally, globally, always_q])), [true, true], "F p and G p and G q"),
            (add(Formula::And(&[finally, finally_q])), [true, false], "F p and F q"),
            (add(Formula::Implies(globally, finally_q)), [true, true], "G p -> F q"),
            (add(Formula::And(&[next, globally])),    [true, false],  "X p and G p"),
            (add(Formula::Implies(q, finally)),       [true, true],   "q -> F p"),
            (add(Formula::Until(next, q)),            [true, false],  "(X p) U q"),
            (add(Formula::Until(q, next)),            [false, true],  "q U X p"),
            (add(Formula::Release(q, finally)),       [true, false],  "q R F p"),
            (add(Formula::Iff(q, finally)),           [true, true],   "q <-> F p"),
        ];
        for (path, recognised, text) in rows {
            let found = [false, true].map(|holds| Branching::of(&formulas, path, holds).is_some());
            assert_eq!(found, recognised, "A and E of {text}");
        }
    }
}
