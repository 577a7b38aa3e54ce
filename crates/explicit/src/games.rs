//! A game: the moves of a group at all states, and their targets.

use masque_model::{AgentId, System};
use masque_verdict::{Budget, Stop, Why};

use crate::bitset::Bitset;
use crate::moves::{Move, Mover};
use crate::steps::Steps;
use crate::store::Store;
use crate::successors::sort_and_dedup_from;

/// Stored states, and the memory that is held while a game is built.
pub(crate) struct CountedStore<'a> {
    pub(crate) store: &'a Store,
    /// Number of bytes held, including the store.
    pub(crate) held: u64,
}

/// The moves of a group at all states.
#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) members: Vec<AgentId>,
    /// First move of each state, then the number of moves.
    begins: Vec<u32>,
    /// The state of each move.
    owners: Vec<u32>,
    /// The actions of each move, one per member; [`ANY_ACTION`](masque_verdict::ANY_ACTION) if the move does not depend on them.
    actions: Vec<u32>,
    /// Start of each move's targets in `targets`, then the number of all.
    target_begins: Vec<u32>,
    targets: Vec<u32>,
    /// The moves that have a successor for every choice of the other agents.
    total: Bitset,
    /// Start of the moves into each state in `into`, then the number of all.
    into_begins: Vec<u32>,
    into: Vec<u32>,
}

impl Game {
    /// Creates the game of these members on the states of a store. The memory limit includes the store.
    pub(crate) fn new(
        system: &System,
        steps: &Steps<'_>,
        states: CountedStore<'_>,
        members: &[AgentId],
        budget: &Budget,
    ) -> Result<Game, Stop> {
        let CountedStore { store, held } = states;
        let mut builder = Builder {
            members,
            begins: vec![0],
            owners: Vec::new(),
            actions: Vec::new(),
            target_begins: vec![0],
            targets: Vec::new(),
            totals: Vec::new(),
        };
        let mut mover = Mover::new(system, steps, members, budget);
        for state in 0..store.len() {
            if state % 1024 == 0 {
                budget.check()?;
                budget.check_memory(held + builder.bytes())?;
            }
            mover.each_move(store.row(state), |found| builder.add(state, found, store))?;
            builder.begins.push(builder.owners.len() as u32);
        }
        budget.check_memory(held + builder.bytes() + builder.targets.len() as u64 * 4)?;
        Ok(builder.finish())
    }

    pub(crate) fn n_states(&self) -> usize {
        self.begins.len() - 1
    }

    pub(crate) fn n_moves(&self) -> usize {
        self.owners.len()
    }

    /// Returns the moves of a state.
    pub(crate) fn moves(&self, state: usize) -> std::ops::Range<u32> {
        self.begins[state]..self.begins[state + 1]
    }

    /// Returns the state of a move.
    pub(crate) fn owner(&self, index: u32) -> u32 {
        self.owners[index as usize]
    }

    /// Returns the actions of a move, one per member.
    pub(crate) fn actions(&self, index: u32) -> &[u32] {
        &self.actions[index as usize * self.members.len()..][..self.members.len()]
    }

    /// Returns the states to which a move may lead, in increasing order.
    pub(crate) fn targets(&self, index: u32) -> &[u32] {
        let (begin, end) = (self.target_begins[index as usize], self.target_begins[index as usize + 1]);
        &self.targets[begin as usize..end as usize]
    }

    /// Whether a move has a successor for every choice of the other agents.
    pub(crate) fn is_total(&self, index: u32) -> bool {
        self.total.contains(index as usize)
    }

    /// Returns the moves that may lead into a state, in increasing order.
    pub(crate) fn into(&self, state: usize) -> &[u32] {
        &self.into[self.into_begins[state] as usize..self.into_begins[state + 1] as usize]
    }

    pub(crate) fn bytes(&self) -> u64 {
        let words = self.begins.len() + self.owners.len() + self.actions.len() + self.target_begins.len();
        (words + self.targets.len() * 2 + self.into_begins.len()) as u64 * 4 + self.total.bytes()
    }
}

/// A game that is being built.
struct Builder<'a> {
    members: &'a [AgentId],
    begins: Vec<u32>,
    owners: Vec<u32>,
    actions: Vec<u32>,
    target_begins: Vec<u32>,
    targets: Vec<u32>,
    totals: Vec<bool>,
}

impl Builder<'_> {
    /// Adds a move of the current state.
    fn add(&mut self, state: usize, found: Move<'_>, store: &Store) -> Result<(), Stop> {
        let begin = self.targets.len();
        for row in found.targets.chunks_exact(store.row_width()) {
            self.targets.push(store.find(row).ok_or(Stop::from(Why::Unsupported))?);
        }
        sort_and_dedup_from(&mut self.targets, begin);
        self.actions.extend(found.actions);
        self.owners.push(state as u32);
        self.totals.push(found.is_total);
        let end = u32::try_from(self.targets.len()).map_err(|_| Stop::from(Why::Memory))?;
        self.target_begins.push(end);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let words = self.begins.capacity()
            + self.owners.capacity()
            + self.actions.capacity()
            + self.targets.capacity();
        (words + self.target_begins.capacity()) as u64 * 4 + self.totals.capacity() as u64
    }

    fn finish(self) -> Game {
        let n_states = self.begins.len() - 1;
        let mut into_begins = vec![0_u32; n_states + 1];
        for &target in &self.targets {
            into_begins[target as usize + 1] += 1;
        }
        for state in 0..n_states {
            into_begins[state + 1] += into_begins[state];
        }
        let mut into = vec![0_u32; self.targets.len()];
        for index in 0..self.owners.len() {
            let range = self.target_begins[index] as usize..self.target_begins[index + 1] as usize;
            for &target in &self.targets[range] {
                let begin = &mut into_begins[target as usize];
                into[*begin as usize] = index as u32;
                *begin += 1;
            }
        }
        // Each begin is now the begin of the next state.
        into_begins.rotate_right(1);
        into_begins[0] = 0;
        let total = Bitset::full(self.totals.len()).filter(|index| self.totals[index]);
        Game {
            members: self.members.to_vec(),
            begins: self.begins,
            owners: self.owners,
            actions: self.actions,
            target_begins: self.target_begins,
            targets: self.targets,
            total,
            into_begins,
            into,
        }
    }
}
