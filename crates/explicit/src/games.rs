//! A game: the moves of a group at all states, and where they lead.

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
    /// Bytes held, the store included.
    pub(crate) held: u64,
}

/// The moves of a group at all states.
#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) members: Vec<AgentId>,
    /// Where each state's moves begin, and at last their number.
    begins: Vec<u32>,
    /// The state of each move.
    owners: Vec<u32>,
    /// The actions of each move, one per member; [`ANY_ACTION`](masque_verdict::ANY_ACTION) if the move does not depend on them.
    actions: Vec<u32>,
    /// Where each move's targets begin, and at last their number.
    target_begins: Vec<u32>,
    targets: Vec<u32>,
    /// The moves to which every completion by the others has a successor.
    total: Bitset,
    /// Where the moves into each state begin, and at last their number.
    into_begins: Vec<u32>,
    into: Vec<u32>,
}

impl Game {
    /// The game of these members on the states of a store. Memory limits count the store, too.
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

    /// The moves of a state.
    pub(crate) fn moves(&self, state: usize) -> std::ops::Range<u32> {
        self.begins[state]..self.begins[state + 1]
    }

    /// The state of a move.
    pub(crate) fn owner(&self, at: u32) -> u32 {
        self.owners[at as usize]
    }

    /// The actions of a move, one per member.
    pub(crate) fn actions(&self, at: u32) -> &[u32] {
        &self.actions[at as usize * self.members.len()..][..self.members.len()]
    }

    /// Where a move may lead, in increasing order.
    pub(crate) fn targets(&self, at: u32) -> &[u32] {
        let (begin, end) = (self.target_begins[at as usize], self.target_begins[at as usize + 1]);
        &self.targets[begin as usize..end as usize]
    }

    /// Whether a step follows, whatever the others do.
    pub(crate) fn is_total(&self, at: u32) -> bool {
        self.total.contains(at as usize)
    }

    /// The moves that may lead into a state, in increasing order.
    pub(crate) fn into(&self, state: usize) -> &[u32] {
        &self.into[self.into_begins[state] as usize..self.into_begins[state + 1] as usize]
    }

    pub(crate) fn bytes(&self) -> u64 {
        let words = self.begins.len() + self.owners.len() + self.actions.len() + self.target_begins.len();
        (words + self.targets.len() * 2 + self.into_begins.len()) as u64 * 4 + self.total.bytes()
    }
}

/// A game in the making.
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
    /// Adds a move of the state that is looked at.
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
        for at in 0..self.owners.len() {
            let range = self.target_begins[at] as usize..self.target_begins[at + 1] as usize;
            for &target in &self.targets[range] {
                let place = &mut into_begins[target as usize];
                into[*place as usize] = at as u32;
                *place += 1;
            }
        }
        // Each begin has moved to the next one's place.
        into_begins.rotate_right(1);
        into_begins[0] = 0;
        let total = Bitset::full(self.totals.len()).filter(|at| self.totals[at]);
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
