//! Domains, with the sets in which formulas are true, and submodels: domains that are part of another.

use masque_model::{Formula, FormulaId, GroupId, System};
use rustc_hash::FxHashMap;

use crate::check::Checker;
use crate::encode::Encoder;
use crate::knowledge::Projections;
use crate::space::{Set, exact};

/// A domain with the sets in which formulas are true.
pub(crate) struct World {
    pub(crate) domain: Set,
    /// The set of each fairness constraint.
    pub(crate) constraints: Vec<Set>,
    /// Whether there are constraints and each state of the domain begins a fair path.
    pub(crate) is_fair: bool,
    /// For each formula, the set in which it is true, once computed.
    pub(crate) known: Vec<Option<Set>>,
    /// For some formulas whose sets were dropped, whether they are true in some state.
    pub(crate) occurs: FxHashMap<FormulaId, bool>,
    pub(crate) projections: Projections,
    /// The states in which groups enforce goals with perfect information, by group and path formula.
    pub(crate) enforced: FxHashMap<(GroupId, FormulaId), Set>,
}

impl World {
    pub(crate) fn new(system: &System, domain: Set, constraints: Vec<Set>) -> Self {
        World {
            domain,
            constraints,
            is_fair: false,
            known: vec![None; system.formulas.len()],
            occurs: FxHashMap::default(),
            projections: Projections::default(),
            enforced: FxHashMap::default(),
        }
    }
}

/// Some initial states and all states reachable from them, in a system without fairness: the
/// submodel `M_k` of [KLQ10 §4].
pub(crate) struct Submodel {
    pub(crate) initial: Set,
    pub(crate) reachable: Set,
    has_one_initial: bool,
    world: World,
}

impl Submodel {
    pub(crate) fn new(encoder: &Encoder<'_>, initial: Set, reachable: Set) -> Submodel {
        let has_one_initial = has_one(encoder, &initial);
        let world = World::new(encoder.system, reachable.clone(), Vec::new());
        Submodel { initial, reachable, has_one_initial, world }
    }
}

/// Returns whether a set has exactly one state.
pub(crate) fn has_one(encoder: &Encoder<'_>, states: &Set) -> bool {
    exact(&encoder.space.count(states, encoder.layout.n_current())).is_one()
}

impl Checker<'_> {
    /// Swaps the checked model with a submodel: the checker works on the submodel until the two are
    /// swapped again.
    pub(crate) fn swap(&mut self, submodel: &mut Submodel) {
        std::mem::swap(&mut self.initial, &mut submodel.initial);
        std::mem::swap(&mut self.reachable, &mut submodel.reachable);
        std::mem::swap(&mut self.has_one_initial, &mut submodel.has_one_initial);
        std::mem::swap(&mut self.world, &mut submodel.world);
    }

    /// Drops the sets that neither this nor a later property needs. For the left side of an implication,
    /// notes whether it is true in some state, which is needed when all properties are decided.
    pub(crate) fn begin_property(&mut self, property: FormulaId) {
        let Checker { system, encoder, ahead, world, .. } = self;
        let mut dropped = Vec::new();
        ahead.turn_to(&system.formulas, property, |part| dropped.push(part));
        for &part in &dropped {
            if let Formula::Implies(f, _) = system.formulas.get(part)
                && let Some(states) = &world.known[f.index()]
                // If a limit is hit, it is computed again when needed.
                && let Ok(occurs) = encoder.space.intersects(&world.domain, states)
            {
                world.occurs.insert(f, occurs);
            }
        }
        dropped.iter().for_each(|part| world.known[part.index()] = None);
    }

    /// Stores the set of states of the domain in which a formula is true.
    pub(crate) fn learn(&mut self, formula: FormulaId, truth: Set) {
        self.world.known[formula.index()] = Some(truth);
    }
}
