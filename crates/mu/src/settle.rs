//! Decides the positions whose value does not depend on the unexplored part of the game.
//!
//! The explored part is solved twice: with everything unexplored false, and with everything unexplored
//! true. Truth is monotone in these assumptions, so positions that are true in the first case or false in
//! the second are decided. This makes verdicts three-valued under bounds, and lets a check stop before
//! everything is explored.
//!
//! Each time the levels of the formula are solved from the lowest up. On an acyclic level values come from
//! lower levels. On a level of one sign, a play can stay forever among the positions without a value: they
//! are false under `mu` and true under `nu`. On a mixed level they form a parity game.

use masque_graph::{ParityGame, solve};
use masque_verdict::{Budget, Stop};

use crate::game::{Game, NONE, Position};
use crate::levels::Level;
use crate::ticker::Ticker;
use crate::tree::Sign;

/// The undecided positions that the root depends on, with their values under an assumption.
struct ExploredPart<'g, 'f> {
    game: &'g Game<'f>,
    /// Sorted by level.
    positions: &'g [Position],
    /// Index of each position in `positions`, or [`NONE`].
    index_of: Vec<u32>,
    value: Vec<Option<bool>>,
    /// Number of open moves; once a position has a value, the move that gave it.
    open_or_witness: Vec<u32>,
    /// Positions whose value was not propagated yet.
    unpropagated: Vec<u32>,
}

/// Values under an assumption and the moves that gave them, in the order of the positions.
struct SolvedPart {
    /// Value assumed of everything unexplored.
    assumed: bool,
    value: Vec<Option<bool>>,
    witness: Vec<Position>,
}

/// Decides what the explored part decides, and drops unexplored positions on which the root no longer
/// depends.
pub(crate) fn settle(game: &mut Game<'_>, root: Position, budget: &Budget) -> Result<(), Stop> {
    if game.value(root).is_some() {
        return Ok(());
    }
    let positions = by_level(game, reach(game, root));
    let is_known = |&position: &Position| game.at(position).is_expanded() && !game.at(position).is_cut();
    let is_explored = positions.iter().all(is_known);
    let mut solved = Vec::new();
    for assumed in [false, true] {
        // If everything is explored, solving once is enough. Otherwise a value that was not assumed can only
        // come from a loop: of greatest fixpoints for `true`, of least ones for `false`. All other values were
        // propagated before.
        let sign = if assumed { Sign::Mu } else { Sign::Nu };
        let levels = game.formula.levels();
        let has_loops = levels.iter().any(|&level| level == Level::Mixed || level == Level::Uniform(sign));
        let can_skip = if is_explored { assumed } else { !has_loops };
        if can_skip || (!is_explored && is_assumption_forced(game, &positions, assumed)) {
            continue;
        }
        let mut part = ExploredPart::new(game, &positions);
        part.assume(assumed, budget)?;
        part.solve(budget)?;
        solved.push(SolvedPart { assumed, value: part.value, witness: part.open_or_witness });
    }
    let mut is_same = true;
    // Set all values before propagating: a position must keep the move that the solution gave it.
    for SolvedPart { assumed, value, witness } in solved {
        for (i, &position) in positions.iter().enumerate() {
            // Unexplored positions have the assumed value, so they are not decided here.
            if let Some(value) = value[i].filter(|&value| is_explored || value != assumed) {
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

/// Whether the assumed value reaches the root in any case, because no position of the player who could
/// prevent it has a choice. Then solving decides nothing that would save exploration.
fn is_assumption_forced(game: &Game<'_>, positions: &[Position], assumed: bool) -> bool {
    positions.iter().all(|&position| {
        let entry = game.at(position);
        entry.is_any == assumed || !entry.is_expanded() || (entry.open() <= 1 && !entry.is_cut())
    })
}

/// Returns the undecided positions that the root depends on through undecided ones, nearest first.
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

/// Sorts positions by level; the order within a level stays.
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

/// Drops positions that the root no longer depends on; [`Game::mark_live`] brings them back if necessary.
fn prune(game: &mut Game<'_>, reached: &[Position]) {
    game.positions.iter_mut().for_each(|entry| entry.is_live = false);
    reached.iter().for_each(|&position| game.positions[position as usize].is_live = true);
    let mut queue = std::mem::take(&mut game.queue);
    queue.retain(|&position| game.at(position).is_live);
    game.queue = queue;
}

impl<'g, 'f> ExploredPart<'g, 'f> {
    fn new(game: &'g Game<'f>, positions: &'g [Position]) -> Self {
        let mut index_of = vec![NONE; game.positions.len()];
        for (i, &position) in positions.iter().enumerate() {
            index_of[position as usize] = i as u32;
        }
        let is_open = |position: &Position| game.at(*position).open();
        let open_or_witness = positions.iter().map(is_open).collect();
        ExploredPart {
            game,
            positions,
            index_of,
            value: vec![None; positions.len()],
            open_or_witness,
            unpropagated: Vec::new(),
        }
    }

    /// Assigns a value to everything unexplored.
    fn assume(&mut self, assumed: bool, budget: &Budget) -> Result<(), Stop> {
        for i in 0..self.positions.len() {
            let entry = self.game.at(self.positions[i]);
            if !entry.is_expanded() || (entry.is_cut() && entry.is_any == assumed) {
                self.assign(i, assumed, NONE);
            } else if entry.open() == 0 {
                // Only moves beyond a bound are open, and they are assumed not to help.
                self.assign(i, !entry.is_any, NONE);
            }
        }
        self.propagate(budget)
    }

    /// Sets the value of a position; [`ExploredPart::propagate`] passes it to the predecessors.
    fn assign(&mut self, i: usize, value: bool, witness: Position) {
        (self.value[i], self.open_or_witness[i]) = (Some(value), witness);
        self.unpropagated.push(i as u32);
    }

    fn propagate(&mut self, budget: &Budget) -> Result<(), Stop> {
        let mut ticker = Ticker::new(budget);
        while let Some(i) = self.unpropagated.pop() {
            ticker.tick()?;
            let (target, value) = (self.positions[i as usize], self.value[i as usize]);
            for from in self.game.predecessors(target) {
                let index = self.index_of[from as usize];
                if index == NONE || self.value[index as usize].is_some() {
                    continue;
                }
                let (i, is_any) = (index as usize, self.game.at(from).is_any);
                if value == Some(is_any) {
                    self.assign(i, is_any, target);
                } else {
                    self.open_or_witness[i] -= 1;
                    if self.open_or_witness[i] == 0 {
                        self.assign(i, !is_any, NONE);
                    }
                }
            }
        }
        Ok(())
    }

    /// Assigns a value to every position, level by level.
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
                Level::Uniform(sign) => self.solve_uniform(&rest, sign == Sign::Nu),
                Level::Mixed => self.solve_mixed(&rest, budget)?,
            }
            self.propagate(budget)?;
            begin = end;
        }
        Ok(())
    }

    fn level(&self, i: usize) -> u32 {
        self.game.formula.level_of(self.game.at(self.positions[i]).node)
    }

    /// Returns the moves of a position to undecided ones, which are all on its level.
    fn inner_moves(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let indices = self.game.moves(self.positions[i]).iter().map(|&t| self.index_of[t as usize]);
        indices
            .filter(|&index| index != NONE && self.value[index as usize].is_none())
            .map(|index| index as usize)
    }

    /// Decides the rest of a uniform level: a play that stays on it forever has the value of its sign.
    fn solve_uniform(&mut self, rest: &[usize], value: bool) {
        let witness = |i: &usize| {
            if self.game.at(self.positions[*i]).is_any == value {
                self.inner_moves(*i).next().map_or(NONE, |next| self.positions[next])
            } else {
                NONE
            }
        };
        let witnesses: Vec<Position> = rest.iter().map(witness).collect();
        for (&i, witness) in rest.iter().zip(witnesses) {
            self.assign(i, value, witness);
        }
    }

    /// Decides the rest of a mixed level as a parity game.
    fn solve_mixed(&mut self, rest: &[usize], budget: &Budget) -> Result<(), Stop> {
        // `rest` is sorted.
        let vertex = |next: usize| rest.binary_search(&next).ok().map(|index| index as u32);
        let mut parity = ParityGame::default();
        for &i in rest {
            let entry = self.game.at(self.positions[i]);
            let priority = self.game.formula.priority(entry.node);
            parity.push(entry.is_any, priority, self.inner_moves(i).filter_map(vertex));
        }
        let won = solve(&parity, || budget.check())?;
        for (vertex, &i) in rest.iter().enumerate() {
            let value = won.by_even[vertex];
            let chosen = rest.get(won.strategy[vertex] as usize).map_or(NONE, |&next| self.positions[next]);
            let moves = self.game.at(self.positions[i]).is_any == value;
            self.assign(i, value, if moves { chosen } else { NONE });
        }
        Ok(())
    }
}
