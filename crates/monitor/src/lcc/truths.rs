//! The truth of formulas in states, each decided once.

use masque_lcc::System;
use masque_mu::{Formula, PausedGame, Space, StateId, recheck};
use masque_verdict::{Budget, Stop, Verdict, Why};

/// Maximum size, in bytes, of the game that is kept for one formula.
const MAX_GAME_BYTES: u64 = 1 << 26;

/// The truth of a formula in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    True,
    False,
    /// It depends on what lies beyond this bound.
    Unknown(&'static str),
}

/// A formula, and the states in which its truth is known.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) formula: Formula,
    game: PausedGame,
    /// For each state: 0 if it is not known, 1 true, 2 false, 3 plus the index of a bound in `bounds`.
    answers: Vec<u8>,
    bounds: Vec<&'static str>,
}

impl Question {
    pub(super) fn new(formula: Formula) -> Question {
        Question { formula, game: PausedGame::default(), answers: Vec::new(), bounds: Vec::new() }
    }

    /// Returns the truth of the formula in a state.
    pub(super) fn answer(
        &mut self,
        space: &mut Space<System>,
        state: StateId,
        budget: &Budget,
    ) -> Result<Answer, Stop> {
        match self.answers.get(state.index()) {
            Some(1) => return Ok(Answer::True),
            Some(2) => return Ok(Answer::False),
            Some(&code) if code > 2 => return Ok(Answer::Unknown(self.bounds[usize::from(code) - 3])),
            _ => {}
        }
        let answer = match self.game.value(&self.formula, state) {
            Some(true) => Answer::True,
            Some(false) => Answer::False,
            None => self.decide(space, state, budget)?,
        };
        self.store(state, answer);
        Ok(answer)
    }

    fn decide(&mut self, space: &mut Space<System>, state: StateId, budget: &Budget) -> Result<Answer, Stop> {
        space.lts().start_at(state);
        space.lts().set_budget(budget);
        let outcome = recheck(space, &self.formula, &mut self.game, false, budget);
        space.lts().set_budget(&Budget::unlimited());
        if self.game.bytes() > MAX_GAME_BYTES {
            self.game = PausedGame::default();
        }
        match outcome.verdict {
            Verdict::Holds => Ok(Answer::True),
            Verdict::Fails => Ok(Answer::False),
            Verdict::Unknown(Why::Bound(bound)) => Ok(Answer::Unknown(bound)),
            Verdict::Unknown(why) => Err(Stop::from(why)),
        }
    }

    fn store(&mut self, state: StateId, answer: Answer) {
        let code = match answer {
            Answer::True => 1,
            Answer::False => 2,
            Answer::Unknown(bound) => {
                let known = self.bounds.iter().position(|other| *other == bound);
                let index = known.unwrap_or_else(|| {
                    self.bounds.push(bound);
                    self.bounds.len() - 1
                });
                // There are fewer bounds than codes; an answer without a code is decided again.
                u8::try_from(index + 3).unwrap_or(0)
            }
        };
        if self.answers.len() <= state.index() {
            self.answers.resize(state.index() + 1, 0);
        }
        self.answers[state.index()] = code;
    }

    /// Forgets all answers: the system has other states now.
    pub(super) fn forget(&mut self) {
        (self.game, self.answers) = (PausedGame::default(), Vec::new());
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.game.bytes() + self.answers.capacity() as u64
    }
}
