//! Strategies of a group with perfect information: games solved by worklists over moves.
//! [AHK02 §4; GTW02 §2]
//!
//! | | the group wins if |
//! |---|---|
//! | without fairness | each of its moves has a successor, and the goal is met |
//! | with fairness | the goal is met on every fair path: the others cannot enforce one that violates it |
//!
//! The equations are those of the explicit engine. A state that is won or lost is propagated to the moves
//! that may lead to it, at any worker; a move is kept with its state.

use masque_explicit::parts::{Bitset, Goal, Opponents, spoiled};
use masque_verdict::Stop;

use crate::backwards::{backwards, each_source};
use crate::games::Game;
use crate::net::Net;

/// A game on the states of a domain.
pub(crate) struct Arena<'a> {
    pub(crate) net: &'a mut Net,
    pub(crate) game: &'a Game,
    /// `D`, which contains all sets.
    pub(crate) domain: &'a Bitset,
    /// The states at which each fairness constraint is true.
    pub(crate) constraints: &'a [Bitset],
}

impl Arena<'_> {
    /// Returns the states at which the group wins.
    pub(crate) fn solve(&mut self, goal: &Goal) -> Result<Bitset, Stop> {
        if !self.constraints.is_empty() {
            return Ok(self.domain.clone().minus(&spoiled(self, goal)?));
        }
        match goal {
            Goal::Next(phi) => self.enforce_next(phi),
            Goal::Reach(through, to) => self.reach(through, to),
            Goal::Stay(inside, until) => self.stay(inside, until),
        }
    }

    fn nowhere(&self) -> Bitset {
        Bitset::empty(self.game.into.n_states())
    }

    /// Returns the number of moves of each state that `is_counted` accepts.
    fn count_moves(&self, is_counted: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut n_moves = vec![0_u32; self.game.into.n_states()];
        for (index, &owner) in self.game.owners.iter().enumerate() {
            n_moves[owner as usize] += u32::from(is_counted(index));
        }
        n_moves
    }

    /// Searches backwards from states: `take` gets each move that may lead to a visited state, and the
    /// move's own state; it returns whether to visit that state.
    fn search(&mut self, from: &Bitset, mut take: impl FnMut(usize, usize) -> bool) -> Result<(), Stop> {
        let game = self.game;
        let seeds = from.iter().map(|state| state as u32);
        backwards(self.net, &game.into, seeds, |index: u32, open| {
            let owner = game.owners[index as usize];
            if take(index as usize, owner as usize) {
                open.push(owner);
            }
        })
    }

    /// `pre(φ)`: some move has a successor for every choice of the others, and all of them are in `φ`.
    fn enforce_next(&mut self, phi: &Bitset) -> Result<Bitset, Stop> {
        let game = self.game;
        let mut missing = game.n_targets.clone();
        each_source(self.net, &game.into, phi, |index| missing[index] -= 1)?;
        let mut found = self.nowhere();
        for index in game.total.iter().filter(|&index| missing[index] == 0) {
            found.insert(game.owners[index] as usize);
        }
        Ok(found.and(self.domain))
    }

    /// `μZ. to ∨ (through ∧ pre(Z))`: each move counts its targets that are not yet in `Z`.
    fn reach(&mut self, through: &Bitset, to: &Bitset) -> Result<Bitset, Stop> {
        let game = self.game;
        let mut missing = game.n_targets.clone();
        let mut win = to.clone();
        self.search(to, |index, owner| {
            missing[index] -= 1;
            missing[index] == 0 && game.total.contains(index) && through.contains(owner) && win.insert(owner)
        })?;
        Ok(win)
    }

    /// `νZ. until ∨ (inside ∧ pre(Z))`: each state counts its moves that lead only into `Z`.
    fn stay(&mut self, inside: &Bitset, until: &Bitset) -> Result<Bitset, Stop> {
        let game = self.game;
        let mut left = self.count_moves(|index| game.total.contains(index));
        let stuck = inside.filter(|state| left[state] == 0 && !until.contains(state));
        let mut win = inside.clone().minus(&stuck).or(until);
        let removed = self.domain.clone().minus(&win);
        let mut broken = Bitset::empty(game.n_moves());
        self.search(&removed, |index, owner| {
            if !game.total.contains(index) || !broken.insert(index) {
                return false;
            }
            left[owner] -= 1;
            let is_removed = left[owner] == 0 && win.contains(owner) && !until.contains(owner);
            if is_removed {
                win.remove(owner);
            }
            is_removed
        })?;
        Ok(win)
    }
}

impl Opponents for Arena<'_> {
    fn domain(&self) -> &Bitset {
        self.domain
    }

    fn constraints(&self) -> &[Bitset] {
        self.constraints
    }

    fn any(&mut self, is_true_here: bool) -> Result<bool, Stop> {
        self.net.any(is_true_here)
    }

    fn spoil_next(&mut self, z: &Bitset) -> Result<Bitset, Stop> {
        let game = self.game;
        let mut hit = Bitset::empty(game.n_moves());
        each_source(self.net, &game.into, z, |index| _ = hit.insert(index))?;
        let (mut moving, mut escaping) = (self.nowhere(), self.nowhere());
        for (index, &owner) in game.owners.iter().enumerate() {
            moving.insert(owner as usize);
            if !hit.contains(index) {
                escaping.insert(owner as usize);
            }
        }
        Ok(moving.minus(&escaping).and(self.domain))
    }

    /// Each state counts its moves that do not yet lead into `Y`.
    fn spoil_until(&mut self, through: &Bitset, now: Bitset) -> Result<Bitset, Stop> {
        let mut left = self.count_moves(|_| true);
        let mut hit = Bitset::empty(self.game.n_moves());
        let mut reached = now.clone();
        self.search(&now, |index, owner| {
            if !hit.insert(index) {
                return false;
            }
            left[owner] -= 1;
            left[owner] == 0 && through.contains(owner) && reached.insert(owner)
        })?;
        Ok(reached)
    }
}
