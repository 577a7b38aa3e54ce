//! Labels: for each formula the set of states where it is true, as far as it has been computed.
//!
//! Formulas are hash-consed, so equal subformulas, also of different properties, are labelled once.
//! Every set is a subset of the domain `D`, and a complement is taken inside it.

use std::rc::Rc;

use masque_model::{Fixpoints, FormulaId, System};
use masque_verdict::{PendingProperties, RegionPart};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bitset::Bitset;

/// Labels of the stored states of one system.
pub struct Labels {
    /// Labels over all reachable states. Under fairness these are the labels of the constraints.
    pub plain: Domain,
    /// Labels over the states at which a fair path starts, once these states are known.
    pub fair: Option<Domain>,
    /// Closed and open formulas of the system.
    pub(crate) fixpoints: Fixpoints,
    /// Labels inside the fixpoint that is being computed.
    pub(crate) open: OpenLabels,
    /// Properties that are yet to be decided.
    ahead: PendingProperties,
    /// Formulas whose labels have decided properties and are kept after that.
    pub(crate) decisive: FxHashSet<FormulaId>,
    /// For each formula whose label was dropped: whether it was true at any stored state.
    pub(crate) occurs: FxHashMap<FormulaId, bool>,
    /// Regions of infinite paths that were requested last.
    pub(crate) path_regions: Vec<(RegionPart, Rc<Bitset>)>,
}

/// A domain `D` and the labels over it.
pub struct Domain {
    /// States of the domain.
    pub states: Rc<Bitset>,
    /// States where each fairness constraint is true. Empty if fairness does not matter here.
    pub constraints: Rc<[Bitset]>,
    /// Labels of closed formulas.
    pub known: FxHashMap<FormulaId, Rc<Bitset>>,
    /// Labels of formulas that were evaluated at some states only.
    pub(crate) partly: FxHashMap<FormulaId, PartialLabel>,
}

/// Label of a formula that was evaluated at some states only.
pub(crate) struct PartialLabel {
    /// States at which the formula was evaluated.
    pub(crate) asked: Bitset,
    /// States where it is true.
    pub(crate) truth: Bitset,
}

/// Labels of open formulas. They are never stored, and are of no use outside the closed fixpoint that
/// contains the formulas.
#[derive(Default)]
pub(crate) struct OpenLabels {
    /// Labels of the formulas inside the fixpoints being computed, including their variables.
    pub(crate) sets: FxHashMap<FormulaId, Rc<Bitset>>,
    /// Last value of each inner fixpoint, from which its iteration continues.
    pub(crate) reached: FxHashMap<FormulaId, Rc<Bitset>>,
}

/// The states that operators range over.
#[derive(Clone)]
pub struct Scope {
    /// `D`: the reachable states, or with fairness constraints those at which a fair path starts.
    pub domain: Rc<Bitset>,
    /// States where each fairness constraint is true.
    pub constraints: Rc<[Bitset]>,
}

impl Domain {
    /// Creates a domain without labels.
    pub fn new(states: Rc<Bitset>, constraints: Rc<[Bitset]>) -> Domain {
        Domain { states, constraints, known: FxHashMap::default(), partly: FxHashMap::default() }
    }

    fn bytes(&self) -> u64 {
        let known: u64 = self.known.values().map(|set| set.bytes()).sum();
        let partly: u64 = self.partly.values().map(|label| label.asked.bytes() + label.truth.bytes()).sum();
        known + partly
    }
}

impl Labels {
    /// Creates empty labels for this number of states.
    pub fn new(system: &System, n_states: usize) -> Labels {
        Labels {
            plain: Domain::new(Rc::new(Bitset::full(n_states)), Rc::new([])),
            fair: None,
            fixpoints: system.formulas.fixpoints(),
            open: OpenLabels::default(),
            ahead: PendingProperties::new(system),
            decisive: FxHashSet::default(),
            occurs: FxHashMap::default(),
            path_regions: Vec::new(),
        }
    }

    /// Removes all labels, because the states are replaced by this number of other states. The
    /// formulas whose labels are decisive stay the same.
    pub fn replace_states(&mut self, system: &System, n_states: usize) {
        let decisive = std::mem::take(&mut self.decisive);
        *self = Labels { decisive, ..Labels::new(system, n_states) };
    }

    /// Removes everything but complete labels of closed formulas.
    pub fn forget_temporary(&mut self, system: &System) {
        self.open = OpenLabels::default();
        self.ahead = PendingProperties::new(system);
        self.occurs.clear();
        self.path_regions.clear();
        self.plain.partly.clear();
        self.fair.iter_mut().for_each(|fair| fair.partly.clear());
    }

    /// Drops the labels that no later property needs; called before a property is decided. Records
    /// whether each of them was empty, because that may be asked after all properties are decided.
    pub fn turn_to(&mut self, system: &System, property: FormulaId) {
        let Labels { ahead, decisive, occurs, plain, fair, .. } = self;
        let domain = match fair {
            Some(fair) => fair,
            None if system.fairness.is_empty() => plain,
            // Only constraints are labelled so far.
            None => return ahead.turn_to(&system.formulas, property, |_| {}),
        };
        ahead.turn_to(&system.formulas, property, |part| {
            if !decisive.contains(&part) {
                domain.partly.remove(&part);
                if let Some(states) = domain.known.remove(&part) {
                    occurs.insert(part, !states.is_empty());
                }
            }
        });
    }

    /// Keeps the labels of the current property until it is asked again; called when a limit stopped it.
    pub(crate) fn put_off(&mut self) {
        self.ahead.put_off();
    }

    /// Returns the domain that formulas are labelled over now: the fair one once it is known. Before that,
    /// under fairness, only the constraints are labelled, over all states.
    pub(crate) fn domain(&mut self) -> &mut Domain {
        self.fair.as_mut().unwrap_or(&mut self.plain)
    }

    /// Returns the scope of the operators that are labelled now.
    pub(crate) fn scope(&mut self) -> Scope {
        let Domain { states, constraints, .. } = self.domain();
        Scope { domain: Rc::clone(states), constraints: Rc::clone(constraints) }
    }

    /// Returns the label of a formula, open or closed.
    pub(crate) fn known(&mut self, formula: FormulaId) -> Option<Rc<Bitset>> {
        let open = self.open.sets.get(&formula).map(Rc::clone);
        open.or_else(|| self.domain().known.get(&formula).map(Rc::clone))
    }

    /// Returns the memory of all labels, in bytes.
    pub fn bytes(&self) -> u64 {
        let domains = self.plain.bytes() + self.fair.as_ref().map_or(0, Domain::bytes);
        let open: u64 = self.open.sets.values().map(|set| set.bytes()).sum();
        let path_regions: u64 = self.path_regions.iter().map(|(_, states)| states.bytes()).sum();
        domains + open + path_regions
    }
}
