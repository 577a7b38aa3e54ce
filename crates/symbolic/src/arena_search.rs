//! The search for uniform strategies in an [arena](crate::arena), and the games with perfect information
//! that it solves.

use masque_verdict::{FixedActions, UniformAim, UniformGame, View, find_uniform_strategy};

use crate::arena::{Arena, LOST};
use crate::space::{Limited, Space};

/// The solution of a game with perfect information.
pub(crate) struct Solved {
    /// For each state, whether the group wins.
    wins: Vec<bool>,
    /// A rank for each state. With [`UniformAim::Reach`], a won state outside the goal has a move all of
    /// whose targets have smaller ranks. With [`UniformAim::Stay`], every move of a lost state has a target
    /// with a smaller rank.
    order: Vec<u32>,
}

/// A search in an arena. A goal after one step is handled as a goal to reach: the arena ends there.
pub(crate) struct ArenaSearch<'a> {
    pub(crate) arena: &'a Arena,
    pub(crate) aim: UniformAim,
    pub(crate) space: &'a Space,
}

impl ArenaSearch<'_> {
    /// Finds a strategy that wins from all states in `from`, and returns it, and for each state whether it
    /// wins there; `None` if there is no such strategy.
    pub(crate) fn run(&mut self, from: &[u32]) -> Limited<Option<(FixedActions, Vec<bool>)>> {
        let Some(strategy) = find_uniform_strategy(self, from)? else { return Ok(None) };
        let whole = self.completed(&strategy);
        let wins = self.solve(&whole)?.wins;
        Ok(Some((whole, wins)))
    }

    /// `μZ. done ∨ pre(Z)`: each move counts its targets that are not yet in `Z`.
    fn reach(&self, fixed: &[Option<u32>]) -> Solved {
        let arena = self.arena;
        let mut missing: Vec<usize> = arena.moves.iter().map(|at| at.targets.len()).collect();
        let mut wins = arena.is_done.clone();
        let mut order = vec![0; wins.len()];
        let mut queue: Vec<u32> = (0..wins.len() as u32).filter(|&state| wins[state as usize]).collect();
        let mut next = 0;
        while let Some(&state) = queue.get(next) {
            order[state as usize] = next as u32;
            next += 1;
            for &at in &arena.into[state as usize] {
                let at = at as usize;
                missing[at] -= 1;
                let owner = arena.moves[at].owner;
                if missing[at] == 0 && !wins[owner as usize] && self.follows(at as u32, fixed) {
                    wins[owner as usize] = true;
                    queue.push(owner);
                }
            }
        }
        Solved { wins, order }
    }

    /// `νZ. done ∨ pre(Z)`: each state counts its moves all of whose targets are still in `Z`.
    fn stay(&self, fixed: &[Option<u32>]) -> Solved {
        let arena = self.arena;
        let n_states = arena.is_done.len();
        let mut wins = vec![true; n_states];
        wins[LOST as usize] = false;
        let mut order = vec![0; n_states];
        let mut is_left: Vec<bool> =
            (0..arena.moves.len() as u32).map(|at| self.follows(at, fixed)).collect();
        let count = |state: usize| arena.moves(state).filter(|&at| is_left[at as usize]).count();
        let mut left: Vec<usize> = (0..n_states).map(count).collect();
        let mut removed = vec![LOST];
        for state in 1..n_states {
            if left[state] == 0 && !arena.is_done[state] {
                wins[state] = false;
                removed.push(state as u32);
            }
        }
        let mut next = 0;
        while let Some(&state) = removed.get(next) {
            order[state as usize] = next as u32;
            next += 1;
            for &at in &arena.into[state as usize] {
                if !std::mem::take(&mut is_left[at as usize]) {
                    continue;
                }
                let owner = arena.moves[at as usize].owner as usize;
                left[owner] -= 1;
                if left[owner] == 0 && wins[owner] && !arena.is_done[owner] {
                    wins[owner] = false;
                    removed.push(owner as u32);
                }
            }
        }
        Solved { wins, order }
    }
}

impl UniformGame for ArenaSearch<'_> {
    type Solution = Solved;

    fn n_states(&self) -> usize {
        self.arena.is_done.len()
    }

    fn aim(&self) -> UniformAim {
        self.aim
    }

    fn options(&self) -> &[Vec<u32>] {
        &self.arena.options
    }

    fn views(&self, state: usize) -> impl Iterator<Item = View> {
        self.arena.views[state].iter().copied()
    }

    fn moves(&self, state: usize) -> std::ops::Range<u32> {
        self.arena.moves(state)
    }

    fn owner(&self, at: u32) -> usize {
        self.arena.moves[at as usize].owner as usize
    }

    fn actions(&self, at: u32) -> &[u32] {
        &self.arena.moves[at as usize].actions
    }

    fn targets(&self, at: u32) -> &[u32] {
        &self.arena.moves[at as usize].targets
    }

    fn is_goal(&self, state: usize) -> bool {
        self.arena.is_done[state]
    }

    fn is_outside(&self, state: usize) -> bool {
        state == LOST as usize
    }

    fn solve(&mut self, fixed: &[Option<u32>]) -> Limited<Solved> {
        Ok(match self.aim {
            UniformAim::Stay => self.stay(fixed),
            UniformAim::Reach | UniformAim::Next => self.reach(fixed),
        })
    }

    fn is_won(&self, solved: &Solved, state: usize) -> bool {
        solved.wins[state]
    }

    fn order(&self, solved: &Solved, state: usize) -> u32 {
        solved.order[state]
    }

    fn check(&mut self) -> Limited<()> {
        self.space.check()
    }
}
