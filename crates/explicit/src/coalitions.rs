//! ATL: the games of groups, cached, and the choice of the algorithm for a formula.

use std::rc::Rc;

use masque_model::{GroupId, Strategies};
use masque_verdict::{Budget, Stop};

use crate::bitset::Bitset;
use crate::games::{CountedStore, Game};
use crate::label::Labeller;
use crate::labelling::{Enforcement, StoredStates};
use crate::labels::Scope;
use crate::strategic::Arena;

/// Number of games that are always kept: a formula often compares two groups.
const MIN_KEPT_GAMES: usize = 2;
/// Maximum total size, in bytes, of all games while more than [`MIN_KEPT_GAMES`] are kept.
const MAX_GAME_BYTES: u64 = 64 << 20;

impl Labeller<'_> {
    /// Computes the states at which a group has a strategy.
    pub(crate) fn enforced(&mut self, question: &Enforcement<'_>, budget: &Budget) -> Result<Bitset, Stop> {
        let Enforcement { group, strategies, goal, scope, asked } = question;
        let game = self.game(*group, budget)?;
        // Several counters per move and per state.
        self.check_memory((game.n_moves() * 5 + game.n_states() * 12) as u64, budget)?;
        let Scope { domain, constraints } = scope;
        let arena = Arena { game: &game, allowed: None, domain, constraints, budget };
        match strategies {
            Strategies::Perfect => Ok(arena.solve(goal)?.win),
            _ => self.enforces_uniformly(*strategies, &arena, goal, *asked),
        }
    }

    pub(crate) fn game(&mut self, group: GroupId, budget: &Budget) -> Result<Rc<Game>, Stop> {
        if let Some(index) = self.games.iter().position(|(known, _)| *known == group) {
            let game = self.games.remove(index);
            self.games.push(game);
        } else {
            self.evict_games(budget);
            let members = &self.system.groups[group.index()].agents;
            let states = CountedStore { store: &self.space.store, held: self.space.bytes() };
            let game = Game::new(self.system, &self.steps, states, members, budget)?;
            self.games.push((group, Rc::new(game)));
            self.check_memory(0, budget)?;
        }
        Ok(Rc::clone(&self.games[self.games.len() - 1].1))
    }

    /// Makes room for one more game by removing the least recently used ones.
    fn evict_games(&mut self, budget: &Budget) {
        let max_bytes = budget.memory().map_or(MAX_GAME_BYTES, |memory| MAX_GAME_BYTES.min(memory / 16));
        let mut bytes: u64 = self.games.iter().map(|(_, game)| game.bytes()).sum();
        while self.games.len() >= MIN_KEPT_GAMES && bytes > max_bytes {
            bytes -= self.games.remove(0).1.bytes();
        }
    }
}
