//! The interface for the distributed engine: the compiled system, and the labeller.
//!
//! [`Machine`] packs states into words, finds initial states and successors, and evaluates conditions.
//! The caller stores the states and implements [`StoredStates`] for them; [`Labelling`] then decides
//! formulas.

use std::num::NonZeroUsize;
use std::rc::Rc;

use masque_model::{AgentId, ExprId, GroupId, Strategies, System};
use masque_verdict::{Budget, State, Stop};

pub use crate::atoms::Reader;
pub use crate::bitset::Bitset;
pub use crate::fragment::needs_transitions;
pub use crate::labelling::{Enforcement, Labelling, StoredStates};
pub use crate::labels::{Domain, Labels, Scope};
pub use crate::moves::{Move, Mover};
pub use crate::mu::StepsWith;
pub use crate::region::is_same;
pub use crate::store::{hash, hash_masked};
pub use crate::strategic::{Goal, Opponents, spoiled};
pub use crate::successors::Expansion;

use crate::atoms::{Atoms, Rows};
use crate::games::{CountedStore, Game};
use crate::initial::each_initial_state;
use crate::jobs::Jobs;
use crate::knowledge::Classes;
use crate::steps::{Steps, Tuning};
use crate::store::Store;
use crate::strategic::Arena;
use crate::successors::Stepper;
use crate::uniform::{Observations, forget};

/// A compiled system.
///
/// A packed state is a row of [`Machine::width`] words, and the order of rows is that of
/// [`masque_verdict::compare_states`].
pub struct Machine<'s> {
    system: &'s System,
    steps: Steps<'s>,
    atoms: Atoms<'s>,
    /// A single thread, because there is a worker for each processor.
    jobs: Jobs,
}

impl<'s> Machine<'s> {
    /// Compiles a system.
    pub fn new(system: &'s System) -> Machine<'s> {
        let steps = Steps::new(system, Tuning::default());
        let atoms = Atoms::new(system, &steps.layout);
        Machine { system, steps, atoms, jobs: Jobs::new(Some(NonZeroUsize::MIN)) }
    }

    /// Returns the number of words of a packed state, at least one.
    pub fn width(&self) -> usize {
        self.steps.layout.n_words
    }

    /// Packs a state; returns `None` if some value lies outside its variable's domain.
    pub fn pack(&self, state: &State) -> Option<Vec<u64>> {
        self.steps.layout.pack(self.system, state)
    }

    /// Decodes a packed state.
    pub fn unpack(&self, row: &[u64]) -> State {
        self.steps.layout.unpack(self.system, row)
    }

    /// Returns the bits that agents see together, word by word.
    pub fn seen_by(&self, agents: &[AgentId]) -> Vec<u64> {
        self.steps.layout.seen_by(self.system, agents)
    }

    /// Calls `found` for each initial state, each once.
    pub fn each_initial_state(
        &self,
        budget: &Budget,
        found: impl FnMut(&[u64]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        each_initial_state(self.system, &self.steps.layout, budget, found)
    }

    /// Returns an object that finds successors within a budget.
    pub fn successors<'a>(&'a self, budget: &'a Budget) -> Successors<'a> {
        Successors(Stepper::new(&self.steps, budget))
    }

    /// Returns an object that finds successors by joint actions that satisfy a condition, within a budget.
    pub fn steps_with<'a>(&'a self, condition: ExprId, budget: &'a Budget) -> StepsWith<'a> {
        StepsWith::new(self.system, &self.steps, condition, budget)
    }

    /// Returns an object that lists the moves of a group within a budget.
    pub fn moves<'a>(&'a self, group: GroupId, budget: &'a Budget) -> Mover<'a> {
        Mover::new(self.system, &self.steps, &self.system.groups[group.index()].agents, budget)
    }

    /// Creates the game of a group on all states, given their rows, concatenated.
    pub fn whole_game(&self, group: GroupId, rows: Vec<u64>, budget: &Budget) -> Result<WholeGame<'_>, Stop> {
        let mut store = Store::new(self.width());
        for row in rows.chunks_exact(self.width()) {
            store.insert(row)?;
        }
        drop(rows);
        let members = &self.system.groups[group.index()].agents;
        let states = CountedStore { store: &store, held: store.bytes() };
        let game = Game::new(self.system, &self.steps, states, members, budget)?;
        Ok(WholeGame { machine: self, store, game })
    }

    /// Returns an object that evaluates conditions on one state after the other.
    pub fn reader(&self) -> Reader<'_, 's> {
        Reader::new(&self.atoms, &self.steps.layout)
    }

    /// Returns the members of `domain` where a condition of the system's formulas, propositions or red
    /// states is true; `row` returns the packed state of a member.
    pub fn where_true<'r>(
        &self,
        condition: ExprId,
        domain: &Bitset,
        row: impl Fn(usize) -> &'r [u64] + Sync,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        self.atoms.where_true(condition, Rows { layout: &self.steps.layout, row }, domain, &self.jobs, budget)
    }
}

/// Finds the successors of one state after the other, with caches that are shared between states.
pub struct Successors<'a>(Stepper<'a>);

impl Successors<'_> {
    /// Calls `found` for each successor of a packed state. A successor may be found twice.
    pub fn expand(
        &mut self,
        state: &[u64],
        found: impl FnMut(&[u64]) -> Result<(), Stop>,
    ) -> Result<Expansion, Stop> {
        self.0.expand(state, found)
    }
}

/// A game with the states of all workers, which are indexed in the order of their rows.
pub struct WholeGame<'m> {
    machine: &'m Machine<'m>,
    store: Store,
    game: Game,
}

impl WholeGame<'_> {
    /// Returns the states at which the group has uniform strategies. States outside `asked` may be missing.
    pub fn enforces_uniformly(&self, search: &UniformSearch, budget: &Budget) -> Result<Bitset, Stop> {
        let WholeGame { machine, store, game } = self;
        let (n_states, n_members) = (store.len() as u64, game.members.len() as u64);
        // Classes and views of each member, and counters per move and per state.
        let counters = game.n_moves() as u64 * 5 + n_states * (26 + 8 * n_members);
        budget.check_memory(self.bytes() + counters)?;
        let observations = Observations::new(&game.members, search.strategies, |agents| {
            let mask = machine.seen_by(agents);
            Ok(Rc::new(Classes::by_view(store, &mask, &machine.jobs, budget)?))
        })?;
        let UniformSearch { domain, constraints, .. } = search;
        let arena = Arena { game, allowed: None, domain, constraints, budget };
        observations.decide(&arena, &search.goal, Some(&search.asked), &machine.jobs, &mut forget)
    }

    /// Returns the number of bytes that the game holds.
    pub fn bytes(&self) -> u64 {
        self.store.bytes() + self.game.bytes()
    }
}

/// The parameters of a search for uniform strategies.
#[derive(Debug)]
pub struct UniformSearch {
    /// Kind of strategies; not [`Strategies::Perfect`].
    pub strategies: Strategies,
    /// Goal that the group has to enforce.
    pub goal: Goal,
    /// `D`: the reachable states, or with fairness those at which a fair path starts.
    pub domain: Bitset,
    /// States where each fairness constraint is true.
    pub constraints: Vec<Bitset>,
    /// States at which the result has to be right.
    pub asked: Bitset,
}
