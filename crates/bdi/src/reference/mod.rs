//! The semantics of BDI files, transcribed: explicit and slow, the reference for tests.
//!
//! Every world is a list of states, and every set of states a list of booleans. Tests compare the symbolic
//! engine with this module on thousands of random systems. It follows sections 3 (programs) and 4
//! (synthesis) of \[BB04\], as read in `docs/bdi.md`.
//!
//! | file | defines |
//! |---|---|
//! | `steps` | the states of a program and its steps |
//! | `subworld` | sub-worlds |
//! | `synthesis` | accessibility, Condition 2, totality |
//! | `truth` | formulas, properties |

mod steps;
mod subworld;
mod synthesis;
mod truth;

use masque_model::Count;
use rustc_hash::FxHashMap;

use crate::model::{FormulaId, Model};
use crate::outcome::{Failure, PropertyResult, Status, WorldResult};
use crate::plan::{Plan, WorldId};

pub use crate::model::State;

/// A world after synthesis. Sets are lists of booleans, one for each state in `states`.
#[derive(Clone, Debug)]
pub struct World {
    /// States that the program reaches.
    pub states: Vec<State>,
    /// Initial states.
    pub initial: Vec<bool>,
    /// Successors of each state, by index.
    pub next: Vec<Vec<usize>>,
    /// Incoherent states.
    pub bad: Vec<bool>,
    /// Other states that start no infinite path through coherent states.
    pub dead: Vec<bool>,
    /// States that remain.
    pub kept: Vec<bool>,
    /// Whether the world was removed, and why.
    pub status: Status,
}

/// The worlds of a model, with the truth of formulas computed so far.
pub struct Reference<'m> {
    pub(crate) model: &'m Model,
    pub(crate) plan: &'m Plan,
    pub(crate) worlds: FxHashMap<WorldId, World>,
    pub(crate) known: FxHashMap<(WorldId, FormulaId), Vec<bool>>,
}

impl<'m> Reference<'m> {
    /// Builds all worlds, each after those it is built from.
    pub fn new(model: &'m Model, plan: &'m Plan) -> Result<Self, Failure> {
        let mut reference =
            Reference { model, plan, worlds: FxHashMap::default(), known: FxHashMap::default() };
        for &world in &plan.order {
            let built = reference.build(world)?;
            reference.worlds.insert(world, built);
        }
        Ok(reference)
    }

    /// Returns a world that has been built.
    pub fn world(&self, world: WorldId) -> &World {
        &self.worlds[&world]
    }

    /// Returns the status and the numbers of states of a world.
    pub fn world_result(&mut self, world: WorldId) -> WorldResult {
        let built = self.world(world).clone();
        let kept = &built.kept;
        let n_states = built.states.len();
        let unreachable: Vec<bool> =
            (0..n_states).map(|s| !built.bad[s] && !built.dead[s] && !kept[s]).collect();
        let initial: Vec<bool> = (0..n_states).map(|s| built.initial[s] && kept[s]).collect();
        let lost_initial = (0..n_states).any(|s| built.initial[s] && !kept[s]);
        let planned = &self.plan.worlds[world.index()];
        let edges = self.model.edges(planned.program);
        let mut inconsistent = Vec::new();
        // In a leaf no states below are looked up, so nothing can be missing.
        let looked_up = if planned.is_leaf { &[][..] } else { &edges };
        for &(edge, _) in looked_up {
            let is_empty = |s: &usize| !self.accessible(world, &built.states[*s], edge).contains(&true);
            let n_empty = (0..n_states).filter(|&s| kept[s]).filter(is_empty).count();
            if n_empty > 0 {
                inconsistent.push((edge, Count::from(n_empty)));
            }
        }
        let fair = self.fair(world);
        let has_fairness = !self.model.program(planned.program).fair.is_empty();
        WorldResult {
            status: built.status,
            built: Count::from(n_states),
            bad: count(&built.bad),
            dead: count(&built.dead),
            unreachable: count(&unreachable),
            kept: count(kept),
            initial: count(&initial),
            lost_initial,
            inconsistent,
            is_opaque: planned.is_leaf && !edges.is_empty(),
            removed: Vec::new(),
            subworld_of: None,
            is_unfair: has_fairness
                && built.status == Status::Ok
                && !(0..n_states).any(|s| initial[s] && fair[s]),
        }
    }

    /// Decides a property.
    pub fn property(&mut self, index: usize) -> PropertyResult {
        truth::property(self, index)
    }
}

/// Returns the number of states in a set.
fn count(set: &[bool]) -> Count {
    Count::from(set.iter().filter(|&&is_in| is_in).count())
}
