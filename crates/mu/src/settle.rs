//! What the explored part of a game decides, whatever lies beyond.
//!
//! The part is solved twice: with everything unexplored false, and with everything unexplored true.
//! Truth is monotone in what is assumed, so what is true in the first case and what is false in the
//! second is so for good. This is what makes verdicts three-valued under bounds, and what lets
//! a check stop before everything is explored.
//!
//! Each time the levels of the formula are settled from the lowest up. On an acyclic level values
//! come from below. On a level of one sign, positions that no value reaches may be played for ever:
//! they are false under `mu` and true under `nu`. On a mixed level they are a parity game.

use masque_graph::{ParityGame, solve};
use masque_verdict::{Budget, Stop};

use crate::game::{Game, NONE, Position};
use crate::levels::Level;
use crate::pulse::Pulse;
use crate::tree::Sign;

/// The undecided positions that matter, each with what an assumption makes of it.
struct Part<'g, 'f> {
    game: &'g Game<'f>,
    /// Sorted by level.
    positions: &'g [Position],
    /// The place of a position in `positions`, or [`NONE`].
    place: Vec<u32>,
    value: Vec<Option<bool>>,
    /// How many moves are open; once there is a value, the move that gave it.
    open_or_witness: Vec<u32>,
    fresh: Vec<u32>,
}

/// Values and the moves that gave them, in the order of the positions they were found for.
struct Found {
    beyond: bool,
    value: Vec<Option<bool>>,
    witness: Vec<Position>,
}

/// Decides what can be decided, and forgets unexplored positions that no longer matter.
pub(crate) fn settle(game: &mut Game<'_>, root: Position, budget: &Budget) -> Result<(), Stop> {
    if game.value(root).is_some() {
        return Ok(());
    }
    let positions = by_level(game, reach(game, root));
    let is_known = |&position: &Position| game.at(position).is_expanded() && !game.at(position).is_cut();
    let is_whole = positions.iter().all(is_known);
    let mut solved = Vec::new();
    for beyond in [false, true] {
        // Without anything beyond, once is enough. And a value that is not assumed comes from a loop
        // that is worth it; all others were handed on before.
        let sign = if beyond { Sign::Mu } else { Sign::Nu };
        let levels = game.formula.levels();
        let has_loops = levels.iter().any(|&level| level == Level::Mixed || level == Level::Uniform(sign));
        let is_idle = if is_whole { beyond } else { !has_loops };
        if is_idle || (!is_whole && is_swept(game, &positions, beyond)) {
            continue;
        }
        let mut part = Part::new(game, &positions);
        part.assume(beyond, budget)?;
        part.solve(budget)?;
        solved.push(Found { beyond, value: part.value, witness: part.open_or_witness });
    }
    let mut is_same = true;
    // All values first: a position must keep the move that the solution gave it.
    for Found { beyond, value, witness } in solved {
        for (i, &position) in positions.iter().enumerate() {
            // Unexplored positions have the value that was assumed, so they are not among these.
            if let Some(value) = value[i].filter(|&value| is_whole || value != beyond) {
                game.decide(position, value, witness[i]);
                is_same = false;
            }
        }
    }
    game.propagate();
    if game.value(root).is_none() {
        prune(game, &if is_same { positions } else { reach(game, root) });
    }
    Ok(())
}

/// Whether what is assumed of everything unexplored reaches the root in any case: nobody who might
/// prevent it has a choice. Then nothing is learnt that would spare exploring anything.
fn is_swept(game: &Game<'_>, positions: &[Position], beyond: bool) -> bool {
    positions.iter().all(|&position| {
        let spot = game.at(position);
        spot.is_any == beyond || !spot.is_expanded() || (spot.open() <= 1 && !spot.is_cut())
    })
}

/// The undecided positions that the root depends on through undecided ones, nearest first.
pub(crate) fn reach(game: &Game<'_>, root: Position) -> Vec<Position> {
    let mut seen = vec![false; game.positions.len()];
    let mut reached = vec![root];
    seen[root as usize] = true;
    let mut done = 0;
    while let Some(&position) = reached.get(done) {
        done += 1;
        for &target in game.moves(position) {
            if game.value(target).is_none() && !std::mem::replace(&mut seen[target as usize], true) {
                reached.push(target);
            }
        }
    }
    reached
}

/// Positions sorted by level; on a level, the nearest first.
fn by_level(game: &Game<'_>, positions: Vec<Position>) -> Vec<Position> {
    let level = |position: Position| game.formula.level_of(game.at(position).node) as usize;
    let mut ends = vec![0; game.formula.levels().len() + 1];
    positions.iter().for_each(|&position| ends[level(position) + 1] += 1);
    for i in 1..ends.len() {
        ends[i] += ends[i - 1];
    }
    let mut sorted = vec![NONE; positions.len()];
    for position in positions {
        let end = &mut ends[level(position)];
        sorted[*end] = position;
        *end += 1;
    }
    sorted
}

/// Puts aside all that the root no longer depends on; the game wakes it if it matters again.
fn prune(game: &mut Game<'_>, reached: &[Position]) {
    game.positions.iter_mut().for_each(|spot| spot.is_live = false);
    reached.iter().for_each(|&position| game.positions[position as usize].is_live = true);
    let mut queue = std::mem::take(&mut game.queue);
    queue.retain(|&position| game.at(position).is_live);
    game.queue = queue;
}

impl<'g, 'f> Part<'g, 'f> {
    fn new(game: &'g Game<'f>, positions: &'g [Position]) -> Self {
        let mut place = vec![NONE; game.positions.len()];
        for (i, &position) in positions.iter().enumerate() {
            place[position as usize] = i as u32;
        }
        let is_open = |position: &Position| game.at(*position).open();
        let open_or_witness = positions.iter().map(is_open).collect();
        Part {
            game,
            positions,
            place,
            value: vec![None; positions.len()],
            open_or_witness,
            fresh: Vec::new(),
        }
    }

    /// Gives everything unexplored a value.
    fn assume(&mut self, beyond: bool, budget: &Budget) -> Result<(), Stop> {
        for i in 0..self.positions.len() {
            let entry = self.game.at(self.positions[i]);
            if !entry.is_expanded() || (entry.is_cut() && entry.is_any == beyond) {
                self.give(i, beyond, NONE);
            } else if entry.open() == 0 {
                // Only what was cut off could have helped, and it does not.
                self.give(i, !entry.is_any, NONE);
            }
        }
        self.propagate(budget)
    }

    fn give(&mut self, i: usize, value: bool, witness: Position) {
        (self.value[i], self.open_or_witness[i]) = (Some(value), witness);
        self.fresh.push(i as u32);
    }

    fn propagate(&mut self, budget: &Budget) -> Result<(), Stop> {
        let mut pulse = Pulse::new(budget);
        while let Some(i) = self.fresh.pop() {
            pulse.beat()?;
            let (target, value) = (self.positions[i as usize], self.value[i as usize]);
            for from in self.game.predecessors(target) {
                let place = self.place[from as usize];
                if place == NONE || self.value[place as usize].is_some() {
                    continue;
                }
                let (i, is_any) = (place as usize, self.game.at(from).is_any);
                if value == Some(is_any) {
                    self.give(i, is_any, target);
                } else {
                    self.open_or_witness[i] -= 1;
                    if self.open_or_witness[i] == 0 {
                        self.give(i, !is_any, NONE);
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives every position a value, level by level.
    fn solve(&mut self, budget: &Budget) -> Result<(), Stop> {
        let mut begin = 0;
        while begin < self.positions.len() {
            budget.check()?;
            let level = self.level(begin);
            let end = begin
                + self.positions[begin..].partition_point(|&position| {
                    self.game.formula.level_of(self.game.at(position).node) == level
                });
            let rest: Vec<usize> = (begin..end).filter(|&i| self.value[i].is_none()).collect();
            match self.game.formula.levels()[level as usize] {
                Level::Acyclic => debug_assert!(rest.is_empty(), "values come from below"),
                Level::Uniform(sign) => self.stay(&rest, sign == Sign::Nu),
                Level::Mixed => self.play(&rest, budget)?,
            }
            self.propagate(budget)?;
            begin = end;
        }
        Ok(())
    }

    fn level(&self, i: usize) -> u32 {
        self.game.formula.level_of(self.game.at(self.positions[i]).node)
    }

    /// The moves of a position to undecided ones, which are all on its level.
    fn inner_moves(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let places = self.game.moves(self.positions[i]).iter().map(|&t| self.place[t as usize]);
        places
            .filter(|&place| place != NONE && self.value[place as usize].is_none())
            .map(|place| place as usize)
    }

    /// Who stays on this level for ever wins or loses by its sign.
    fn stay(&mut self, rest: &[usize], value: bool) {
        let witness = |i: &usize| match self.game.at(self.positions[*i]).is_any == value {
            true => self.inner_moves(*i).next().map_or(NONE, |next| self.positions[next]),
            false => NONE,
        };
        let witnesses: Vec<Position> = rest.iter().map(witness).collect();
        for (&i, witness) in rest.iter().zip(witnesses) {
            self.give(i, value, witness);
        }
    }

    /// The rest of a mixed level as a parity game.
    fn play(&mut self, rest: &[usize], budget: &Budget) -> Result<(), Stop> {
        // `rest` is sorted.
        let number = |next: usize| rest.binary_search(&next).ok().map(|vertex| vertex as u32);
        let mut parity = ParityGame::default();
        for &i in rest {
            let entry = self.game.at(self.positions[i]);
            let priority = self.game.formula.priority(entry.node);
            parity.push(entry.is_any, priority, self.inner_moves(i).filter_map(number));
        }
        let won = solve(&parity, || budget.check())?;
        for (vertex, &i) in rest.iter().enumerate() {
            let value = won.by_even[vertex];
            let chosen = rest.get(won.strategy[vertex] as usize).map_or(NONE, |&next| self.positions[next]);
            let moves = self.game.at(self.positions[i]).is_any == value;
            self.give(i, value, if moves { chosen } else { NONE });
        }
        Ok(())
    }
}
