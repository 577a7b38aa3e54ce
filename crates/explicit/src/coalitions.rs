//! ATL: from a formula to a game.

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
const FEWEST_GAMES: usize = 2;
/// Bytes that the games kept beyond these may take in all.
const GAME_BYTES: u64 = 64 << 20;

impl Labeller<'_> {
    /// States at which a group has a strategy.
    pub(crate) fn enforced(&mut self, question: &Enforcement<'_>, budget: &Budget) -> Result<Bitset, Stop> {
        let Enforcement { group, strategies, goal, scope, asked } = question;
        let game = self.game(*group, budget)?;
        // Counters of moves and numbers of states, a few of each.
        self.check_memory((game.n_moves() * 5 + game.n_states() * 12) as u64, budget)?;
        let Scope { domain, constraints } = scope;
        let arena = Arena { game: &game, allowed: None, domain, constraints, budget };
        match strategies {
            Strategies::Perfect => Ok(arena.solve(goal)?.win),
            _ => self.enforces_uniformly(*strategies, &arena, goal, *asked),
        }
    }

    fn game(&mut self, group: GroupId, budget: &Budget) -> Result<Rc<Game>, Stop> {
        if let Some(position) = self.games.iter().position(|(known, _)| *known == group) {
            let game = self.games.remove(position);
            self.games.push(game);
        } else {
            self.forget_games(budget);
            let members = &self.system.groups[group.index()].agents;
            let states = CountedStore { store: &self.space.store, held: self.space.bytes() };
            let game = Game::new(self.system, &self.steps, states, members, budget)?;
            self.games.push((group, Rc::new(game)));
            self.check_memory(0, budget)?;
        }
        Ok(Rc::clone(&self.games[self.games.len() - 1].1))
    }

    /// Makes room for one more game, those first that were asked for longest ago.
    fn forget_games(&mut self, budget: &Budget) {
        let most = budget.memory().map_or(GAME_BYTES, |memory| GAME_BYTES.min(memory / 16));
        let mut bytes: u64 = self.games.iter().map(|(_, game)| game.bytes()).sum();
        while self.games.len() >= FEWEST_GAMES && bytes > most {
            bytes -= self.games.remove(0).1.bytes();
        }
    }
}
