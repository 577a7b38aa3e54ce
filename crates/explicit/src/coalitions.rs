//! ATL: from a formula to a game.

use std::rc::Rc;

use masque_model::{Formula, FormulaId, GroupId, Strategies};
use masque_verdict::{Budget, Stop, Why};

use crate::bitset::Bitset;
use crate::games::Game;
use crate::label::{Labeller, Over};
use crate::strategic::{Arena, Goal};

/// Number of games that are always kept: a formula often compares two groups.
const FEWEST_GAMES: usize = 2;
/// Bytes that the games kept beyond these may take in all.
const GAME_BYTES: u64 = 64 << 20;

impl Labeller<'_> {
    /// `<Γ> path`: where the group has a strategy of the kind asked for. If only some states are of
    /// interest, the set is right there and may lack others.
    pub(crate) fn enforces(
        &mut self,
        formula: FormulaId,
        over: Over,
        asked: Option<&Bitset>,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        let Formula::Enforces(group, strategies, path) = self.system.formulas.get(formula) else {
            return Err(Why::Unsupported.into());
        };
        let (domain, constraints) = self.scope(over);
        let path = self.system.formulas.get(path);
        let (left, right) = self.operands(path, over)?;
        let goal = Goal::new(path, &left, &right, &domain)?;
        let game = self.game(group, budget)?;
        // Counters of moves and numbers of states, a few of each.
        self.check_memory((game.n_moves() * 5 + game.n_states() * 12) as u64, budget)?;
        let arena = Arena { game: &game, allowed: None, domain: &domain, constraints: &constraints, budget };
        match strategies {
            Strategies::Perfect => Ok(arena.solve(&goal)?.win),
            _ => self.enforces_uniformly(strategies, &arena, &goal, asked),
        }
    }

    fn game(&mut self, group: GroupId, budget: &Budget) -> Result<Rc<Game>, Stop> {
        if let Some(position) = self.games.iter().position(|(known, _)| *known == group) {
            let game = self.games.remove(position);
            self.games.push(game);
        } else {
            self.forget_games(budget);
            let members = &self.system.groups[group.index()].agents;
            let game = Game::new(
                self.system,
                &self.steps,
                (&self.space.store, self.space.bytes()),
                members,
                budget,
            )?;
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
