//! The truth definition, transcribed: computes the set of states in which a formula is true.
//!
//! All states are enumerated, and each operator is computed on sets by its definition: fixpoints by
//! iteration from the empty set or from all states until the set stays the same \[Tarski55\], negation by
//! complement, regular modalities and abbreviations by their equations. It is slow, and the reference
//! that tests compare the solver with; the two share only the parser.

use masque_text::Diagnostic;

use crate::tree::{FormulaKind, Modality, PathOperator, Pattern, Phi, Regular, Sign};
use crate::{AtomId, Completeness, LabelId, Lts, PatternId, StateId, Vocabulary};

/// A set of states.
type Set = Vec<bool>;

/// Whether the initial state satisfies a closed formula.
///
/// `cut` says whether obligations beyond a bound are assumed to be met. A formula is decided if the result
/// is the same for both values. All reachable states are visited, without a limit.
pub fn holds<L: Lts + Vocabulary>(lts: &mut L, phi: &Phi, cut: bool) -> Result<bool, Diagnostic> {
    let initial = lts.initial();
    let (transitions, is_cut) = explore(lts, initial);
    let mut naive = Naive { lts, transitions, is_cut, cut, scope: Vec::new() };
    let set = naive.states(phi, true)?;
    Ok(set[initial.index()])
}

/// Returns the transitions of all reachable states, and which states have more beyond a bound.
fn explore<L: Lts>(lts: &mut L, initial: StateId) -> (Vec<Vec<(LabelId, StateId)>>, Set) {
    let (mut transitions, mut is_cut) = (Vec::new(), Vec::new());
    let mut seen: Set = Vec::new();
    let mut todo = vec![initial];
    while let Some(state) = todo.pop() {
        let grow = |n: usize, len: usize| (n + 1).max(len);
        seen.resize(grow(state.index(), seen.len()), false);
        if std::mem::replace(&mut seen[state.index()], true) {
            continue;
        }
        let mut found = Vec::new();
        let complete = lts.successors(state, &mut |label, to| found.push((label, to)));
        todo.extend(found.iter().map(|&(_, to)| to));
        transitions.resize(grow(state.index(), transitions.len()), Vec::new());
        is_cut.resize(grow(state.index(), is_cut.len()), false);
        is_cut[state.index()] = complete != Completeness::Complete;
        transitions[state.index()] = found;
    }
    (transitions, is_cut)
}

struct Naive<'l, L> {
    lts: &'l mut L,
    transitions: Vec<Vec<(LabelId, StateId)>>,
    is_cut: Set,
    cut: bool,
    scope: Vec<(String, Set)>,
}

impl<L: Lts + Vocabulary> Naive<'_, L> {
    /// Returns the states that satisfy `phi`. `positive` is false under an odd number of negations; then
    /// obligations beyond a bound have the opposite value.
    fn states(&mut self, phi: &Phi, positive: bool) -> Result<Set, Diagnostic> {
        let n = self.transitions.len();
        Ok(match &phi.kind {
            FormulaKind::True => vec![true; n],
            FormulaKind::False => vec![false; n],
            FormulaKind::Variable(name) => {
                let bound = self.scope.iter().rev().find(|(other, _)| other == name);
                bound.map_or_else(|| vec![false; n], |(_, set)| set.clone())
            }
            FormulaKind::Atom(text) => {
                let atom = self.lts.atom(text, phi.span)?;
                self.marked(atom)
            }
            FormulaKind::Deadlock => {
                let atom = self.lts.atom("final", phi.span)?;
                let is_final = self.marked(atom);
                let stuck = self.after(Modality::Box, &|_| true, &vec![false; n], positive);
                zip(&stuck, &complement(&is_final), |a, b| a && b)
            }
            FormulaKind::Not(inner) => complement(&self.states(inner, !positive)?),
            FormulaKind::And(chain) => {
                let mut set = vec![true; n];
                for phi in chain {
                    set = zip(&set, &self.states(phi, positive)?, |a, b| a && b);
                }
                set
            }
            FormulaKind::Or(chain) => {
                let mut set = vec![false; n];
                for phi in chain {
                    set = zip(&set, &self.states(phi, positive)?, |a, b| a || b);
                }
                set
            }
            FormulaKind::Implies(chain) => {
                let Some((last, before)) = chain.split_last() else { return Ok(vec![true; n]) };
                let mut set = self.states(last, positive)?;
                for phi in before.iter().rev() {
                    set = zip(&self.states(phi, !positive)?, &set, |a, b| !a || b);
                }
                set
            }
            FormulaKind::Modal(kind, regular, inner) => {
                let set = self.states(inner, positive)?;
                self.regular(*kind, regular, &set, positive)?
            }
            FormulaKind::Fixpoint(sign, name, body) => {
                let mut set = vec![*sign == Sign::Nu; n];
                loop {
                    self.scope.push((name.text.clone(), set.clone()));
                    let next = self.states(body, positive);
                    self.scope.pop();
                    let next = next?;
                    if next == set {
                        break set;
                    }
                    set = next;
                }
            }
            FormulaKind::Path(operator, inner) => {
                let set = self.states(inner, positive)?;
                self.path(*operator, &set, positive)
            }
            FormulaKind::Inevitable(pattern) => {
                let matches = self.labels(pattern)?;
                self.inevitable(&matches, positive)
            }
            FormulaKind::Response(first, second) => {
                let (first, second) = (self.labels(first)?, self.labels(second)?);
                let answered = self.inevitable(&second, positive);
                let asked = self.after(Modality::Box, &|label| first[label], &answered, positive);
                self.fixpoint(Sign::Nu, |naive, z| {
                    let next = naive.after(Modality::Box, &|_| true, z, positive);
                    zip(&next, &asked, |a, b| a && b)
                })
            }
        })
    }

    fn marked(&mut self, atom: AtomId) -> Set {
        (0..self.transitions.len()).map(|s| self.lts.holds(StateId(s as u32), atom)).collect()
    }

    /// Returns `<A>set` or `[A]set`.
    fn after(&self, kind: Modality, action: &dyn Fn(usize) -> bool, set: &Set, positive: bool) -> Set {
        let state = |s: usize| {
            let mut steps = self.transitions[s].iter().filter(|(label, _)| action(label.index()));
            let beyond = self.cut == positive;
            match kind {
                Modality::Diamond => steps.any(|(_, to)| set[to.index()]) || (self.is_cut[s] && beyond),
                Modality::Box => steps.all(|(_, to)| set[to.index()]) && (!self.is_cut[s] || beyond),
            }
        };
        (0..self.transitions.len()).map(state).collect()
    }

    fn fixpoint(&self, sign: Sign, step: impl Fn(&Self, &Set) -> Set) -> Set {
        let mut set = vec![sign == Sign::Nu; self.transitions.len()];
        loop {
            let next = step(self, &set);
            if next == set {
                return set;
            }
            set = next;
        }
    }

    fn path(&self, operator: PathOperator, f: &Set, positive: bool) -> Set {
        let any = |_: usize| true;
        let all_next = |naive: &Self, z: &Set| naive.after(Modality::Box, &any, z, positive);
        let some_next = |naive: &Self, z: &Set| naive.after(Modality::Diamond, &any, z, positive);
        let n = f.len();
        match operator {
            PathOperator::AX => all_next(self, f),
            PathOperator::EX => some_next(self, f),
            PathOperator::AG => self.fixpoint(Sign::Nu, |me, z| zip(f, &all_next(me, z), |a, b| a && b)),
            PathOperator::EF => self.fixpoint(Sign::Mu, |me, z| zip(f, &some_next(me, z), |a, b| a || b)),
            PathOperator::AF => {
                let can = some_next(self, &vec![true; n]);
                self.fixpoint(Sign::Mu, |me, z| {
                    zip(f, &zip(&can, &all_next(me, z), |a, b| a && b), |a, b| a || b)
                })
            }
            PathOperator::EG => {
                let stuck = all_next(self, &vec![false; n]);
                self.fixpoint(Sign::Nu, |me, z| {
                    zip(f, &zip(&stuck, &some_next(me, z), |a, b| a || b), |a, b| a && b)
                })
            }
        }
    }

    fn inevitable(&self, matches: &[bool], positive: bool) -> Set {
        let can = self.after(Modality::Diamond, &|_| true, &vec![true; self.transitions.len()], positive);
        self.fixpoint(Sign::Mu, |naive, z| {
            let others = naive.after(Modality::Box, &|label| !matches[label], z, positive);
            zip(&can, &others, |a, b| a && b)
        })
    }

    fn regular(
        &mut self,
        kind: Modality,
        regular: &Regular,
        set: &Set,
        positive: bool,
    ) -> Result<Set, Diagnostic> {
        Ok(match regular {
            Regular::Step(pattern) => {
                let matches = self.labels(pattern)?;
                self.after(kind, &|label| matches[label], set, positive)
            }
            Regular::Sequence(chain) => {
                let mut set = set.clone();
                for regular in chain.iter().rev() {
                    set = self.regular(kind, regular, &set, positive)?;
                }
                set
            }
            Regular::Choice(chain) => {
                let mut union = vec![kind == Modality::Box; set.len()];
                for regular in chain {
                    let one = self.regular(kind, regular, set, positive)?;
                    union = zip(&union, &one, |a, b| either(kind, a, b));
                }
                union
            }
            Regular::Star(inner) => {
                let mut z = vec![kind == Modality::Box; set.len()];
                loop {
                    let again = self.regular(kind, inner, &z, positive)?;
                    let next = zip(set, &again, |a, b| either(kind, a, b));
                    if next == z {
                        break z;
                    }
                    z = next;
                }
            }
            // `R+` is `R` followed by `R*`.
            Regular::Plus(inner) => {
                let star = Regular::Star(inner.clone());
                let rest = self.regular(kind, &star, set, positive)?;
                self.regular(kind, inner, &rest, positive)?
            }
        })
    }

    /// Returns, for each label, whether a pattern matches it.
    fn labels(&mut self, pattern: &Pattern) -> Result<Vec<bool>, Diagnostic> {
        let n = self.transitions.iter().flatten().map(|(label, _)| label.index() + 1).max().unwrap_or(0);
        Ok(match pattern {
            Pattern::Any => vec![true; n],
            Pattern::Not(inner) => complement(&self.labels(inner)?),
            Pattern::Set(patterns) => {
                let mut union = vec![false; n];
                for pattern in patterns {
                    union = zip(&union, &self.labels(pattern)?, |a, b| a || b);
                }
                union
            }
            Pattern::Is(text, span) => {
                let pattern: PatternId = self.lts.pattern(text, *span)?;
                (0..n).map(|label| self.lts.matches(LabelId(label as u32), pattern)).collect()
            }
        })
    }
}

fn either(kind: Modality, a: bool, b: bool) -> bool {
    if kind == Modality::Diamond { a || b } else { a && b }
}

fn complement(set: &[bool]) -> Set {
    set.iter().map(|member| !member).collect()
}

fn zip(a: &[bool], b: &[bool], f: impl Fn(bool, bool) -> bool) -> Set {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}
