//! The moves of a game, forwards and backwards, stored compactly.
//!
//! Moves are added list by list and never change. A move is identified by its index. The position that
//! makes it is found by a search from a hint, which is stored for every few moves.

use std::mem::size_of;

use crate::game::{NONE, Position};

/// Number of moves per hint.
const MOVES_PER_HINT: usize = 8;

/// Index of a list of moves; [`NONE`] for an empty list.
pub(crate) type List = u32;

/// All moves of a game.
#[derive(Debug)]
pub(crate) struct Moves {
    targets: Vec<Position>,
    /// For each move, the index of the next one that leads to the same position.
    next: Vec<u32>,
    /// For each list, the position that makes its moves and the index of the first; then [`NONE`] and the
    /// number of all moves.
    lists: Vec<(Position, u32)>,
    /// List of every [`MOVES_PER_HINT`]th move.
    hints: Vec<List>,
}

impl Default for Moves {
    fn default() -> Self {
        Moves { targets: Vec::new(), next: Vec::new(), lists: vec![(NONE, 0)], hints: Vec::new() }
    }
}

impl Moves {
    pub(crate) fn new() -> Self {
        Moves::default()
    }

    /// Adds the moves of a position. `back` stores a new move as the last that leads to a target, and returns
    /// the one before. Returns `None` if there are too many moves for 32-bit indices.
    pub(crate) fn push(
        &mut self,
        from: Position,
        targets: &[Position],
        mut back: impl FnMut(Position, u32) -> u32,
    ) -> Option<List> {
        let end = u32::try_from(self.targets.len() + targets.len()).ok().filter(|&end| end != NONE)?;
        if targets.is_empty() {
            return Some(NONE);
        }
        let list = self.lists.len() as u32 - 1;
        for &target in targets {
            let index = self.targets.len();
            if index.is_multiple_of(MOVES_PER_HINT) {
                self.hints.push(list);
            }
            self.targets.push(target);
            self.next.push(back(target, index as u32));
        }
        if let Some(last) = self.lists.last_mut() {
            last.0 = from;
        }
        self.lists.push((NONE, end));
        Some(list)
    }

    /// Returns the targets of a list.
    pub(crate) fn targets(&self, list: List) -> &[Position] {
        match list {
            NONE => &[],
            list => {
                let (begin, end) = (self.lists[list as usize].1, self.lists[list as usize + 1].1);
                &self.targets[begin as usize..end as usize]
            }
        }
    }

    /// Returns the position that makes a move, and the next move that leads to the same position; `None` after
    /// the last.
    pub(crate) fn back(&self, index: u32) -> Option<(Position, u32)> {
        let next = *self.next.get(index as usize)?;
        let mut list = self.hints[index as usize / MOVES_PER_HINT] as usize;
        while self.lists[list + 1].1 <= index {
            list += 1;
        }
        Some((self.lists[list].0, next))
    }

    /// Returns the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let indices = self.targets.capacity() + self.next.capacity() + self.hints.capacity();
        indices * size_of::<u32>() + self.lists.capacity() * size_of::<(Position, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backward_lists_give_the_position_of_every_move() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut moves = Moves::new();
        let (mut last, mut entered) = (vec![NONE; 50], Vec::new());
        for from in 0..400 {
            let targets: Vec<Position> = (0..random.usize(0..9)).map(|_| random.u32(0..50)).collect();
            let list = moves.push(from, &targets, |to, new| std::mem::replace(&mut last[to as usize], new));
            entered.push((from, list.unwrap(), targets));
        }
        for (_, list, targets) in &entered {
            assert_eq!(moves.targets(*list), targets);
        }
        for to in 0..50_u32 {
            let mut found = Vec::new();
            let mut next = last[to as usize];
            while let Some((from, following)) = moves.back(next) {
                found.push(from);
                next = following;
            }
            let of = |(from, _, targets): &(u32, u32, Vec<u32>)| {
                vec![*from; targets.iter().filter(|target| **target == to).count()]
            };
            let expected: Vec<u32> = entered.iter().rev().flat_map(of).collect();
            assert_eq!(found, expected, "to {to}");
        }
    }
}
