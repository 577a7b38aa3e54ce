//! What an engine on many machines needs of this one: the system compiled, state by state.
//!
//! It packs states into words, finds initial states and successors, and evaluates conditions. Where
//! states are kept, and what is made of them, is the caller's business.

use std::num::NonZeroUsize;

use masque_model::{ExprId, System, VarId};
use masque_verdict::{Budget, State, Stop};

pub use crate::ahead::Ahead;
pub use crate::bitset::Bitset;
pub use crate::fragment::{always, needs_transitions, possibly};
pub use crate::store::{hash, hash_masked};
pub use crate::successors::Expansion;

use crate::atoms::Atoms;
use crate::initial::each_initial_state;
use crate::jobs::Jobs;
use crate::steps::{Steps, Tuning};
use crate::successors::Stepper;

/// A system, compiled.
///
/// A packed state is a row of [`Machine::width`] words, and rows compare as
/// [`masque_verdict::compare_states`] compares states.
pub struct Machine<'s> {
    system: &'s System,
    steps: Steps<'s>,
    atoms: Atoms<'s>,
    /// One thread: there is a worker for each processor.
    jobs: Jobs,
}

impl<'s> Machine<'s> {
    /// Compiles a system.
    pub fn new(system: &'s System) -> Machine<'s> {
        let steps = Steps::new(system, Tuning::default());
        let atoms = Atoms::new(system, &steps.layout);
        Machine { system, steps, atoms, jobs: Jobs::new(Some(NonZeroUsize::MIN)) }
    }

    /// The words of a packed state, at least one.
    pub fn width(&self) -> usize {
        self.steps.layout.n_words
    }

    /// A state, packed; none if some value lies outside its variable's domain.
    pub fn pack(&self, state: &State) -> Option<Vec<u64>> {
        let layout = &self.steps.layout;
        let mut row = vec![0; layout.n_words];
        for (variable, &value) in self.system.variable_ids().zip(state) {
            layout.variable(variable).set(&mut row, layout.code(self.system, variable, value)?);
        }
        Some(row)
    }

    /// A packed state as the model writes it.
    pub fn unpack(&self, row: &[u64]) -> State {
        self.steps.layout.unpack(self.system, row)
    }

    /// The bits of these variables, word by word.
    pub fn mask(&self, variables: impl IntoIterator<Item = VarId>) -> Vec<u64> {
        self.steps.layout.mask(variables)
    }

    /// Calls `found` for each initial state, each once.
    pub fn each_initial_state(
        &self,
        budget: &Budget,
        found: impl FnMut(&[u64]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        each_initial_state(self.system, &self.steps.layout, budget, found)
    }

    /// Finds successors, with limits.
    pub fn successors<'a>(&'a self, budget: &'a Budget) -> Successors<'a> {
        Successors(Stepper::new(&self.steps, budget))
    }

    /// The members of `domain` where a condition of the system's formulas, propositions or red states
    /// is true; `row` gives a member's packed state.
    pub fn where_true<'r>(
        &self,
        condition: ExprId,
        domain: &Bitset,
        row: impl Fn(usize) -> &'r [u64] + Sync,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        self.atoms.where_true(condition, (&self.steps.layout, row), domain, &self.jobs, budget)
    }
}

/// Finds the successors of one state after the other, and remembers what helps with the next.
pub struct Successors<'a>(Stepper<'a>);

impl Successors<'_> {
    /// Calls `found` for each successor of a packed state. The same one may be found twice.
    pub fn expand(
        &mut self,
        state: &[u64],
        found: impl FnMut(&[u64]) -> Result<(), Stop>,
    ) -> Result<Expansion, Stop> {
        self.0.expand(state, found)
    }
}
