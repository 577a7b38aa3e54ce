//! Games: the moves of a group. Each move is stored by the worker that keeps its state.

use std::rc::Rc;

use masque_explicit::parts::{Bitset, Enforcement, Machine, Scope, StoredStates};
use masque_model::{GroupId, Strategies};
use masque_verdict::{Stop, Why};

use crate::edges::find_edges;
use crate::graph::Graph;
use crate::net::Net;
use crate::shard::Shard;
use crate::store::Store;
use crate::strategic::Arena;

/// The moves of a group at the states of a worker.
#[derive(Debug)]
pub(crate) struct Game {
    /// The state of each move, in increasing order.
    pub(crate) owners: Vec<u32>,
    /// Number of states to which each move may lead.
    pub(crate) n_targets: Vec<u32>,
    /// The moves that have a successor for every choice of the other agents.
    pub(crate) total: Bitset,
    /// The moves, of all workers, that may lead into each state.
    pub(crate) into: Graph,
}

impl Game {
    /// Finds the moves. `held` is the number of bytes that the worker holds already.
    fn new(
        net: &mut Net,
        machine: &Machine<'_>,
        store: &Store,
        group: GroupId,
        held: u64,
    ) -> Result<Game, Stop> {
        let budget = net.budget.clone();
        let mut mover = machine.moves(group, &budget);
        let (mut owners, mut n_targets, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        let into = find_edges(net, store, held, |state, sink| {
            mover.each_move(store.row(state as usize), |found| {
                let index = u32::try_from(owners.len()).map_err(|_| Stop::from(Why::Memory))?;
                let mut targets: Vec<&[u64]> = found.targets.chunks_exact(store.width()).collect();
                targets.sort_unstable();
                targets.dedup();
                targets.iter().try_for_each(|row| sink.add(index, row))?;
                owners.push(state);
                n_targets.push(targets.len() as u32);
                totals.push(found.is_total);
                Ok(())
            })?;
            sink.set_source_bytes(
                (owners.capacity() + n_targets.capacity()) as u64 * 4 + totals.capacity() as u64,
            );
            Ok(())
        })?;
        let total = Bitset::full(totals.len()).filter(|at| totals[at]);
        Ok(Game { owners, n_targets, total, into })
    }

    pub(crate) fn n_moves(&self) -> usize {
        self.owners.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        let moves = (self.owners.capacity() + self.n_targets.capacity()) as u64 * 4;
        moves + self.total.bytes() + self.into.bytes()
    }
}

impl Shard<'_> {
    /// Computes the states at which a group has a strategy.
    pub(crate) fn enforced(&mut self, question: Enforcement<'_>) -> Result<Bitset, Stop> {
        let game = self.game(question.group)?;
        // Counters of moves and of states, a few sets of each.
        self.check_bytes((game.n_moves() * 5 + self.n_states() * 5) as u64)?;
        let Scope { domain, constraints } = &question.scope;
        let win = Arena { net: &mut self.net, game: &game, domain, constraints }.solve(&question.goal)?;
        match question.strategies {
            Strategies::Perfect => Ok(win),
            _ => self.enforced_uniformly(question, win),
        }
    }

    /// Returns the game of a group. Only the last one is kept, to save memory.
    fn game(&mut self, group: GroupId) -> Result<Rc<Game>, Stop> {
        if let Some((_, game)) = self.game.as_ref().filter(|(known, _)| *known == group) {
            return Ok(Rc::clone(game));
        }
        self.game = None;
        let held = self.bytes();
        let game = Rc::new(Game::new(&mut self.net, self.machine, &self.space.store, group, held)?);
        self.game = Some((group, Rc::clone(&game)));
        self.check_bytes(0)?;
        Ok(game)
    }
}
