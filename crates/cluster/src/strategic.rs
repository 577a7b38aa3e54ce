//! What a group can enforce: games solved by worklists over moves. [AHK02 §4; GTW02 §2]
//!
//! | | the group wins if |
//! |---|---|
//! | without fairness | each of its moves is answered by a step, and the goal is met |
//! | with fairness | the goal is met on every fair path: the others cannot keep one that violates it |
//!
//! The equations are those of the engine on one machine. A state that is won or lost tells the moves
//! that may lead to it, wherever they are kept; a move is kept with its state.

use masque_explicit::parts::{Bitset, Goal, Opponents, spoiled};
use masque_verdict::Stop;

use crate::backwards::{backwards, each_source};
use crate::games::Game;
use crate::net::Net;

/// A game, seen from a domain.
pub(crate) struct Arena<'a> {
    pub(crate) net: &'a mut Net,
    pub(crate) game: &'a Game,
    /// `D`, inside which all sets are.
    pub(crate) domain: &'a Bitset,
    /// Where each fairness constraint is true.
    pub(crate) constraints: &'a [Bitset],
}

impl Arena<'_> {
    /// Where the group wins.
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

    /// For each state how many of its moves are of interest.
    fn count_moves(&self, is_counted: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut n_moves = vec![0_u32; self.game.into.n_states()];
        for (at, &owner) in self.game.owners.iter().enumerate() {
            n_moves[owner as usize] += u32::from(is_counted(at));
        }
        n_moves
    }

    /// Searches backwards from states: `take` says, of each move that may lead to one gone on from,
    /// whether to go on from the move's state, which it is told too.
    fn search(&mut self, from: &Bitset, mut take: impl FnMut(usize, usize) -> bool) -> Result<(), Stop> {
        let game = self.game;
        let seeds = from.iter().map(|state| state as u32);
        backwards(self.net, &game.into, seeds, |at: u32, open| {
            let owner = game.owners[at as usize];
            if take(at as usize, owner as usize) {
                open.push(owner);
            }
        })
    }

    /// `pre(φ)`: some move leads somewhere, whatever the others do, and only into `φ`.
    fn enforce_next(&mut self, phi: &Bitset) -> Result<Bitset, Stop> {
        let game = self.game;
        let mut missing = game.n_targets.clone();
        each_source(self.net, &game.into, phi, |at| missing[at] -= 1)?;
        let mut found = self.nowhere();
        for at in game.total.iter().filter(|&at| missing[at] == 0) {
            found.insert(game.owners[at] as usize);
        }
        Ok(found.and(self.domain))
    }

    /// `μZ. to ∨ (through ∧ pre(Z))`: each move counts its targets that are not yet in `Z`.
    fn reach(&mut self, through: &Bitset, to: &Bitset) -> Result<Bitset, Stop> {
        let game = self.game;
        let mut missing = game.n_targets.clone();
        let mut win = to.clone();
        self.search(to, |at, owner| {
            missing[at] -= 1;
            missing[at] == 0 && game.total.contains(at) && through.contains(owner) && win.insert(owner)
        })?;
        Ok(win)
    }

    /// `νZ. until ∨ (inside ∧ pre(Z))`: each state counts its moves that may still lead nowhere else
    /// than into `Z`.
    fn stay(&mut self, inside: &Bitset, until: &Bitset) -> Result<Bitset, Stop> {
        let game = self.game;
        let mut left = self.count_moves(|at| game.total.contains(at));
        let stuck = inside.filter(|state| left[state] == 0 && !until.contains(state));
        let mut win = inside.clone().minus(&stuck).or(until);
        let removed = self.domain.clone().minus(&win);
        let mut broken = Bitset::empty(game.n_moves());
        self.search(&removed, |at, owner| {
            if !game.total.contains(at) || !broken.insert(at) {
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
        each_source(self.net, &game.into, z, |at| _ = hit.insert(at))?;
        let (mut moving, mut escaping) = (self.nowhere(), self.nowhere());
        for (at, &owner) in game.owners.iter().enumerate() {
            moving.insert(owner as usize);
            if !hit.contains(at) {
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
        self.search(&now, |at, owner| {
            if !hit.insert(at) {
                return false;
            }
            left[owner] -= 1;
            left[owner] == 0 && through.contains(owner) && reached.insert(owner)
        })?;
        Ok(reached)
    }
}
