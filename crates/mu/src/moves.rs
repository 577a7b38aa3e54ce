//! The moves of a game, forwards and backwards, in little room.
//!
//! Moves are entered list by list and never change. A move is known by its number; whose it is
//! is found from a hint for every few moves, since lists follow each other.

use std::mem::size_of;

use crate::game::{NONE, Position};

/// There is a hint for every so many moves.
const HINT: usize = 8;

/// A list of moves, by number; [`NONE`] for none.
pub(crate) type List = u32;

/// All moves of a game.
#[derive(Debug)]
pub(crate) struct Moves {
    targets: Vec<Position>,
    /// For each move, the next one that leads to the same position.
    next: Vec<u32>,
    /// Who makes the moves of each list, and where they begin; then nobody, and the end.
    lists: Vec<(Position, u32)>,
    /// The list that every so manieth move is in.
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

    /// Enters the moves of a position. `back` has, for each target, the last move that leads there
    /// and is told the new one. Says nothing if there is no room for more numbers.
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
            let number = self.targets.len();
            if number.is_multiple_of(HINT) {
                self.hints.push(list);
            }
            self.targets.push(target);
            self.next.push(back(target, number as u32));
        }
        if let Some(last) = self.lists.last_mut() {
            last.0 = from;
        }
        self.lists.push((NONE, end));
        Some(list)
    }

    /// The targets of a list.
    pub(crate) fn targets(&self, list: List) -> &[Position] {
        match list {
            NONE => &[],
            list => {
                let (begin, end) = (self.lists[list as usize].1, self.lists[list as usize + 1].1);
                &self.targets[begin as usize..end as usize]
            }
        }
    }

    /// Who makes a move, and the next move that leads to the same position; none after the last.
    pub(crate) fn back(&self, number: u32) -> Option<(Position, u32)> {
        let next = *self.next.get(number as usize)?;
        let mut list = self.hints[number as usize / HINT] as usize;
        while self.lists[list + 1].1 <= number {
            list += 1;
        }
        Some((self.lists[list].0, next))
    }

    /// The bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = self.targets.capacity() + self.next.capacity() + self.hints.capacity();
        numbers * size_of::<u32>() + self.lists.capacity() * size_of::<(Position, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_knows_its_owner() {
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
