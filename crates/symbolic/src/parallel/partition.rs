//! Splitting the initial states into parts. [KLQ10 §4, step 1, §5]
//!
//! A class is a set of initial states. The classes are, in this order of preference:
//!
//! * those that the user gives, by formulas and by the values of variables;
//! * the disjuncts of InitStates, as in the paper ([`disjuncts`](super::disjuncts));
//! * sets of initial states that agree on some bits, which are chosen as follows:
//!   * bits of *frozen* variables first, which no step changes: no state is then reachable from two
//!     classes, each part's diagrams depend on fewer bits, and counts add up;
//!   * then bits that minimise the largest class, so that no worker waits for another;
//!   * then bits nearest the top of the order, where fixing a bit removes most of a diagram.
//!
//! A part is a class, or several neighbouring classes if there are more classes than parts. Formulas may
//! overlap: class `k` is `e_k` without the classes before it, so the parts are a partition.

use std::cmp::Ordering;

use masque_model::{ExprId, VarId};

use super::disjuncts::variables_in;
use crate::encode::Encoder;
use crate::space::{Bit, Limited, Natural, Set};

/// Maximum number of bits that are considered, the most promising first: for each, every class is counted.
const MAX_CANDIDATES: usize = 64;
/// Maximum number of classes, however many formulas or values there are.
const MAX_CLASSES: usize = 4096;

/// The initial states, divided into classes and later into parts.
#[derive(Clone)]
pub(crate) struct Partition {
    /// At least one part; their union is the set of initial states, and no two overlap. No part is empty
    /// if there is an initial state.
    pub(crate) parts: Vec<Set>,
    /// Whether no state is reachable from two parts.
    pub(crate) is_disjoint: bool,
}

impl Partition {
    /// Makes the partition with one part.
    pub(crate) fn whole(initial: &Set) -> Partition {
        Partition { parts: vec![initial.clone()], is_disjoint: true }
    }

    /// Splits the only part into a class for each formula, each without those before it, and a class for
    /// the remaining states. There is no class without states.
    ///
    /// ```text
    /// I_k = I ∩ e_k ∖ (e_1 ∪ .. ∪ e_{k-1})
    /// ```
    ///
    /// The paper does not subtract: its classes may overlap, and then a state is explored and checked
    /// twice. The result is the same.
    pub(crate) fn by_formulas(
        mut self,
        encoder: &mut Encoder<'_>,
        formulas: &[ExprId],
    ) -> Limited<Partition> {
        let Some(mut rest) = self.parts.pop() else { return Ok(self) };
        for &formula in formulas {
            if rest.is_empty() || self.parts.len() + 1 >= MAX_CLASSES {
                break;
            }
            let states = encoder.condition(formula)?;
            let class = encoder.space.and(&rest, &states)?;
            if !class.is_empty() {
                rest = encoder.space.minus(&rest, &class)?;
                self.parts.push(class);
            }
        }
        if !rest.is_empty() || self.parts.is_empty() {
            self.parts.push(rest);
        }
        let mut variables = variables_in(encoder.system, formulas).into_iter();
        self.is_disjoint &= variables.all(|v| encoder.layout.is_frozen(v));
        Ok(self)
    }

    /// Splits each part by the values of some variables.
    pub(crate) fn by_variables(mut self, encoder: &Encoder<'_>, variables: &[VarId]) -> Limited<Partition> {
        let bits = variables.iter().flat_map(|v| encoder.layout.variables[v.index()].current.iter());
        for &bit in bits {
            if self.parts.len() * 2 > MAX_CLASSES {
                break;
            }
            self.parts = split_by_bit(encoder, &self.parts, bit)?;
        }
        self.is_disjoint &= variables.iter().all(|&v| encoder.layout.is_frozen(v));
        Ok(self)
    }

    /// Splits the parts by automatically chosen bits until there are at least `n_parts`, or as many as
    /// there are initial states.
    pub(crate) fn by_chosen_bits(
        mut self,
        encoder: &Encoder<'_>,
        initial: &Set,
        n_parts: usize,
    ) -> Limited<Partition> {
        let n_parts = n_parts.min(MAX_CLASSES);
        if self.parts.len() >= n_parts {
            return Ok(self);
        }
        let mut candidates = candidates(encoder, initial)?;
        while self.parts.len() < n_parts {
            let mut best: Option<(Split, usize)> = None;
            for (index, &(is_changing, bit)) in candidates.iter().enumerate() {
                let split = Split::new(encoder, split_by_bit(encoder, &self.parts, bit)?, is_changing);
                let is_better = best.as_ref().is_none_or(|(best, _)| split.is_better(best));
                if split.classes.len() > self.parts.len() && is_better {
                    best = Some((split, index));
                }
            }
            let Some((split, index)) = best else { break };
            candidates.remove(index);
            self.is_disjoint &= !split.is_changing;
            self.parts = split.classes;
        }
        Ok(self)
    }

    /// Merges neighbouring parts into at most `n_parts` whose numbers of former parts differ by at most
    /// one. [KLQ10 §5]
    ///
    /// ```text
    /// of m classes, δ1 = m mod n parts get δ2 + 1 of them, the others δ2 = ⌊m / n⌋
    /// ```
    pub(crate) fn merged(mut self, encoder: &Encoder<'_>, n_parts: usize) -> Limited<Partition> {
        let n_parts = n_parts.clamp(1, self.parts.len().max(1));
        let (delta1, delta2) = (self.parts.len() % n_parts, self.parts.len() / n_parts);
        let mut rest = &self.parts[..];
        let mut parts = Vec::with_capacity(n_parts);
        for k in 0..n_parts {
            let (part, others) = rest.split_at(delta2 + usize::from(k < delta1));
            parts.push(encoder.balanced(part.to_vec(), false)?);
            rest = others;
        }
        self.parts = parts;
        Ok(self)
    }
}

/// The classes after splitting by one more bit.
struct Split {
    classes: Vec<Set>,
    /// Whether a step may change the bit.
    is_changing: bool,
    /// Number of states in the largest class.
    largest: Natural,
}

impl Split {
    fn new(encoder: &Encoder<'_>, classes: Vec<Set>, is_changing: bool) -> Split {
        let counts = classes.iter().map(|class| encoder.space.count(class, encoder.layout.n_current()));
        let largest = counts.fold(Natural::from(0u32), |a, b| if a < b { b } else { a });
        Split { classes, is_changing, largest }
    }

    fn is_better(&self, other: &Split) -> bool {
        let by_kind = other.is_changing.cmp(&self.is_changing);
        let by_balance = other.largest.partial_cmp(&self.largest).unwrap_or(Ordering::Equal);
        by_kind.then(by_balance) == Ordering::Greater
    }
}

/// Returns the bits that differ among the initial states, those of frozen variables first, then from the
/// top of the order; each with whether a step may change it.
fn candidates(encoder: &Encoder<'_>, initial: &Set) -> Limited<Vec<(bool, Bit)>> {
    let mut bits: Vec<(bool, Bit)> = Vec::new();
    for v in encoder.system.variable_ids() {
        let is_changing = !encoder.layout.is_frozen(v);
        bits.extend(encoder.layout.variables[v.index()].current.iter().map(|&bit| (is_changing, bit)));
    }
    bits.sort_unstable_by_key(|&(is_changing, bit)| (is_changing, encoder.space.level(bit)));
    let mut candidates = Vec::new();
    for (is_changing, bit) in bits {
        if candidates.len() == MAX_CANDIDATES {
            break;
        }
        if split_by_bit(encoder, std::slice::from_ref(initial), bit)?.len() > 1 {
            candidates.push((is_changing, bit));
        }
    }
    Ok(candidates)
}

/// Splits each class into the states where a bit is 0 and those where it is 1; drops empty classes.
fn split_by_bit(encoder: &Encoder<'_>, classes: &[Set], bit: Bit) -> Limited<Vec<Set>> {
    let space = &encoder.space;
    let (zero, one) = (space.bit(bit, false)?, space.bit(bit, true)?);
    let mut split_by_bit = Vec::with_capacity(2 * classes.len());
    for class in classes {
        for half in [&zero, &one] {
            let part = space.and(class, half)?;
            if !part.is_empty() {
                split_by_bit.push(part);
            }
        }
    }
    Ok(split_by_bit)
}

#[cfg(test)]
mod tests {
    use masque_model::{Deadlock, System};
    use masque_testkit::{load, random_model};
    use masque_verdict::Budget;

    use super::*;
    use crate::encode::GrowthPolicy;
    use crate::engine::{OrderedSystem, encoder};
    use crate::order;
    use crate::reach;

    /// An encoder of a system, and its initial states.
    fn initial(system: &System) -> (Encoder<'_>, Set) {
        let budget = Budget::unlimited();
        let items = order::declared(system);
        let ordered = OrderedSystem { system, items: &items, policy: GrowthPolicy::Ignore };
        let mut encoder = encoder(ordered, 1, &budget).unwrap();
        let initial = reach::initial(&mut encoder).unwrap();
        (encoder, initial)
    }

    /// Splits by chosen bits into at most `n_parts` parts.
    fn chosen(encoder: &Encoder<'_>, initial: &Set, n_parts: usize) -> Partition {
        let classes = Partition::whole(initial).by_chosen_bits(encoder, initial, n_parts).unwrap();
        classes.merged(encoder, n_parts).unwrap()
    }

    /// Checks that no part is empty, no two overlap, and their union is the set of initial states.
    fn check(encoder: &Encoder<'_>, initial: &Set, parts: &[Set]) {
        let space = &encoder.space;
        let mut union = space.none();
        for part in parts {
            assert!(!part.is_empty() || initial.is_empty());
            assert!(!space.intersects(&union, part).unwrap());
            union = space.or(&union, part).unwrap();
        }
        assert!(union == *initial);
    }

    #[test]
    fn parts_of_random_systems() {
        let mut n_split = 0;
        for seed in 0..150 {
            let system = load(&random_model(seed), Deadlock::Finite).unwrap();
            let (mut encoder, initial) = initial(&system);
            for n_parts in 1..6 {
                let partition = chosen(&encoder, &initial, n_parts);
                check(&encoder, &initial, &partition.parts);
                let n_initial = encoder.space.count(&initial, encoder.layout.n_current());
                let is_enough = n_initial >= Natural::from(n_parts as u32);
                assert_eq!(partition.parts.len() == n_parts, is_enough || n_parts == 1, "seed {seed}");
                n_split += usize::from(partition.parts.len() > 1);
            }
            let all: Vec<VarId> = system.variable_ids().collect();
            let classes = Partition::whole(&initial).by_variables(&encoder, &all).unwrap();
            check(&encoder, &initial, &classes.parts);
            check(&encoder, &initial, &classes.merged(&encoder, 3).unwrap().parts);
            let conditions: Vec<ExprId> = system.propositions.iter().map(|p| p.condition).collect();
            let classes = Partition::whole(&initial).by_formulas(&mut encoder, &conditions).unwrap();
            check(&encoder, &initial, &classes.parts);
            let classes = classes.by_variables(&encoder, &all[..1]).unwrap();
            check(&encoder, &initial, &classes.parts);
            let classes = classes.by_chosen_bits(&encoder, &initial, 12).unwrap();
            check(&encoder, &initial, &classes.parts);
        }
        assert!(n_split > 100, "{n_split}");
    }

    /// `fixed` never changes, `moving` does, `small` is true in one initial state of eight.
    const MODEL: &str = "
        Agent A
          Vars: moving : boolean; fixed : boolean; other : boolean; small : boolean; end Vars
          Actions = {go};
          Protocol: Other : {go}; end Protocol
          Evolution: moving = !moving if Action = go; end Evolution
        end Agent
        Evaluation p if A.moving; end Evaluation
        InitStates !A.small or A.moving and A.fixed and A.other; end InitStates
        Formulae AG p; end Formulae";

    #[test]
    fn bits_that_never_change_come_first_then_those_that_balance() {
        let system = load(MODEL, Deadlock::Finite).unwrap();
        let (encoder, initial) = initial(&system);
        let count = |part: &Set| encoder.space.count(part, encoder.layout.n_current()).to_string();
        let counts = |n_parts| {
            let partition = chosen(&encoder, &initial, n_parts);
            (partition.parts.iter().map(count).collect::<Vec<_>>(), partition.is_disjoint)
        };
        assert_eq!(counts(2), (vec!["4".to_string(), "5".to_string()], true));
        assert_eq!(counts(4), (["2", "2", "2", "3"].map(str::to_string).to_vec(), true));
        assert!(!counts(8).1, "now the bit of `moving` is needed too");
        assert_eq!(counts(100).0.len(), 9, "no more parts than states");
    }

    #[rustfmt::skip]
    #[test]
    fn classes_are_merged_into_even_parts() {
        let system = load(MODEL, Deadlock::Finite).unwrap();
        let (encoder, initial) = initial(&system);
        let classes = chosen(&encoder, &initial, 9);
        let sizes = |n_parts| {
            let Partition { parts, .. } = classes.clone().merged(&encoder, n_parts).unwrap();
            check(&encoder, &initial, &parts);
            parts.iter().map(|part| classes.parts.iter().filter(|class| encoder.space.is_subset(class, part).unwrap()).count())
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(1), [9]);
        assert_eq!(sizes(2), [5, 4]);
        assert_eq!(sizes(4), [3, 2, 2, 2]);
        assert_eq!(sizes(9), [1; 9]);
        assert_eq!(sizes(20), [1; 9], "no more parts than classes");
        assert_eq!(sizes(0), [9], "at least one part");
    }

    /// `e1` and `e2` overlap, `e3` adds nothing, and one initial state is in no class.
    #[test]
    fn overlapping_formulas() {
        let system = load(MODEL, Deadlock::Finite).unwrap();
        let variable = |name: &str| system.variable_ids().find(|&v| system.variable(v).name == name).unwrap();
        let mut changed = system.clone();
        let [fixed, other] = ["fixed", "other"].map(|name| changed.exprs.variable(variable(name)));
        let both = changed.exprs.and(vec![fixed, other]);
        let moving = changed.exprs.variable(variable("moving"));
        let sizes = |formulas: &[ExprId]| {
            let (mut encoder, initial) = initial(&changed);
            let classes = Partition::whole(&initial).by_formulas(&mut encoder, formulas).unwrap();
            check(&encoder, &initial, &classes.parts);
            let count = |part: &Set| encoder.space.count(part, encoder.layout.n_current()).to_string();
            (classes.parts.iter().map(count).collect::<Vec<_>>().join(" "), classes.is_disjoint)
        };
        assert_eq!(sizes(&[fixed, other, both]), ("5 2 2".to_string(), true));
        assert_eq!(sizes(&[both, fixed, other]), ("3 2 2 2".to_string(), true));
        assert_eq!(sizes(&[fixed, moving]), ("5 2 2".to_string(), false));
        assert_eq!(sizes(&[]), ("9".to_string(), true));
    }
}
