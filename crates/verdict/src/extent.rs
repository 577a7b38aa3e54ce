//! The number of states at which a formula is true, and its subformulas.

use masque_model::{Count, Formula, FormulaId, Formulas};

/// Numbers of states at which a formula is true.
///
/// `D`, the domain, is the set of reachable states, or with fairness constraints those at which a
/// fair path starts; `I` are the initial states in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// `|⟦φ⟧ ∩ D|`
    pub states: Count,
    /// `|D|`
    pub of_states: Count,
    /// `|⟦φ⟧ ∩ I|`
    pub initial: Count,
    /// `|I|`
    pub of_initial: Count,
}

/// At which initial states a formula is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initially {
    /// At every one; also if there are no initial states.
    All,
    /// At some, but not at all.
    Some,
    /// At none, and there is at least one initial state.
    None,
}

impl Initially {
    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Initially::All => "all",
            Initially::Some => "some",
            Initially::None => "none",
        }
    }
}

impl Extent {
    /// At which initial states the formula is true.
    ///
    /// ```
    /// use masque_verdict::{Extent, Initially};
    /// let n = masque_model::Count::from;
    /// let extent = Extent { states: n(7_u64), of_states: n(9), initial: n(2), of_initial: n(3) };
    /// assert_eq!(extent.initially(), Initially::Some);
    /// ```
    pub fn initially(&self) -> Initially {
        match &self.initial {
            all if *all == self.of_initial => Initially::All,
            none if none.is_zero() => Initially::None,
            _ => Initially::Some,
        }
    }
}

/// A state formula inside another, as found by a walk from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subformula {
    /// State formula.
    pub formula: FormulaId,
    /// Number of state formulas that contain this occurrence.
    pub depth: usize,
    /// Whether the walk found the same formula before; then its operands are not listed again. False for
    /// atoms.
    pub is_repeated: bool,
}

/// Returns the state formulas inside `root`, starting with `root`, each before its operands. Returns at
/// most `limit` of them, and whether these are all. Path formulas are skipped: `AG φ` has the operand `φ`.
pub fn subformulas(formulas: &Formulas, root: FormulaId, limit: usize) -> (Vec<Subformula>, bool) {
    let is_path = formulas.path_formulas();
    let mut is_found = vec![false; formulas.len()];
    let mut found = Vec::new();
    let mut open = vec![(root, 0)];
    while let Some((formula, depth)) = open.pop() {
        let inside = if is_path[formula.index()] {
            depth
        } else {
            if found.len() == limit {
                return (found, false);
            }
            let is_repeated = std::mem::replace(&mut is_found[formula.index()], true);
            let is_atom = is_atom(formulas, formula);
            found.push(Subformula { formula, depth, is_repeated: is_repeated && !is_atom });
            if is_repeated {
                continue;
            }
            depth + 1
        };
        let begin = open.len();
        formulas.each_operand(formula, |operand| open.push((operand, inside)));
        open[begin..].reverse();
    }
    (found, true)
}

fn is_atom(formulas: &Formulas, formula: FormulaId) -> bool {
    matches!(
        formulas.get(formula),
        Formula::Bool(_)
            | Formula::Proposition(_)
            | Formula::Condition(_)
            | Formula::Green(_)
            | Formula::Red(_)
    )
}

#[cfg(test)]
mod tests {
    use masque_model::{Paths, PropositionId};

    use super::*;

    #[test]
    fn subformulas_skip_path_formulas_and_repetitions() {
        let mut formulas = Formulas::default();
        let p = formulas.add(Formula::Proposition(PropositionId(0)));
        let not_p = formulas.add(Formula::Not(p));
        let finally = formulas.add(Formula::Finally(not_p));
        let ef = formulas.add(Formula::Exists(Paths::Ctl, finally));
        let both = formulas.add(Formula::And(&[ef, not_p, p]));
        let (found, is_all) = subformulas(&formulas, both, 100);
        let found: Vec<_> = found.iter().map(|f| (f.formula, f.depth, f.is_repeated)).collect();
        let expected = [
            (both, 0, false),
            (ef, 1, false),
            (not_p, 2, false),
            (p, 3, false),
            (not_p, 1, true),
            (p, 1, false),
        ];
        assert_eq!((found, is_all), (expected.to_vec(), true));
        let (found, is_all) = subformulas(&formulas, both, 2);
        assert_eq!((found.len(), is_all), (2, false));
    }
}
