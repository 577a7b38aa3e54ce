//! A domain with the truths found in it, and submodels: domains that are parts of another.

use masque_model::{Formula, FormulaId, GroupId, System};
use rustc_hash::FxHashMap;

use crate::check::Checker;
use crate::encode::Encoder;
use crate::knowledge::Projections;
use crate::space::{Set, exact};

/// A domain with the truths found in it.
pub(crate) struct World {
    pub(crate) domain: Set,
    pub(crate) constraints: Vec<Set>,
    pub(crate) known: Vec<Option<Set>>,
    /// Of some formulas whose sets were dropped: whether they are true anywhere.
    pub(crate) occurs: FxHashMap<FormulaId, bool>,
    pub(crate) projections: Projections,
    /// What groups enforce with perfect information, by group and path formula.
    pub(crate) enforced: FxHashMap<(GroupId, FormulaId), Set>,
}

impl World {
    pub(crate) fn new(system: &System, domain: Set, constraints: Vec<Set>) -> Self {
        World {
            domain,
            constraints,
            known: vec![None; system.formulas.len()],
            occurs: FxHashMap::default(),
            projections: Projections::default(),
            enforced: FxHashMap::default(),
        }
    }
}

/// Some initial states and all that is reachable from them, in a system without fairness: the
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

/// Whether a set has just one state.
pub(crate) fn has_one(encoder: &Encoder<'_>, states: &Set) -> bool {
    exact(&encoder.space.count(states, encoder.layout.n_current())).is_one()
}

impl Checker<'_> {
    /// Changes places with a submodel: from now on that is all there is, until the two change
    /// places again.
    pub(crate) fn swap(&mut self, submodel: &mut Submodel) {
        std::mem::swap(&mut self.initial, &mut submodel.initial);
        std::mem::swap(&mut self.reachable, &mut submodel.reachable);
        std::mem::swap(&mut self.has_one_initial, &mut submodel.has_one_initial);
        std::mem::swap(&mut self.world, &mut submodel.world);
    }

    /// A property is to be decided: sets of no further use are dropped. Of the left side of an
    /// implication it is remembered whether it is true anywhere, which is asked when all properties
    /// are decided.
    pub(crate) fn turn_to(&mut self, property: FormulaId) {
        let Checker { system, encoder, ahead, world, .. } = self;
        let mut dropped = Vec::new();
        ahead.turn_to(&system.formulas, property, |part| dropped.push(part));
        for &part in &dropped {
            if let Formula::Implies(f, _) = system.formulas.get(part)
                && let Some(states) = &world.known[f.index()]
                // A limit costs no more than that it must be found again.
                && let Ok(occurs) = encoder.space.intersects(&world.domain, states)
            {
                world.occurs.insert(f, occurs);
            }
        }
        dropped.iter().for_each(|part| world.known[part.index()] = None);
    }

    /// From now on a formula is known to be true in just these states of the domain.
    pub(crate) fn learn(&mut self, formula: FormulaId, truth: Set) {
        self.world.known[formula.index()] = Some(truth);
    }
}
