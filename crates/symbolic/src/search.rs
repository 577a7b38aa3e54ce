//! A search for a uniform strategy that learns from its failures. [Prosser93 §3]
//!
//! It fixes the action of one view after the other. At each node the game is solved with perfect
//! information but the actions fixed so far. If the group wins, a walk from the states in question
//! follows winning moves; if it never wants two actions of one view, that is a strategy, and
//! otherwise that view is fixed next. If the group does not win, the views to blame are collected,
//! all that was fixed after the last of them is undone at once, and what they were fixed to is
//! remembered, never to be tried together again.

use std::collections::BTreeSet;

use crate::arena::{ANY, Arena, LOST, View};
use crate::space::{Limited, Space};

/// So many failures are remembered.
const MOST_LEARNT: usize = 10_000;

/// An action for some views.
type Fixed = Vec<Option<u32>>;

/// What the group is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// Get done.
    Reach,
    /// Get done, or never lose.
    Stay,
}

/// Where the group wins.
struct Solved {
    wins: Vec<bool>,
    /// Of a state that is won by [`Aim::Reach`]: greater than that of all targets of some move. Of a
    /// state that is lost by [`Aim::Stay`]: every move has a target whose number is smaller.
    order: Vec<u32>,
}

/// A view that the search has fixed.
struct Level {
    view: View,
    /// The actions to try, and the one being tried.
    options: Vec<u32>,
    current: usize,
    /// The views before this one to blame for the actions tried so far.
    blamed: BTreeSet<View>,
}

/// What a walk along winning moves finds.
enum Walk {
    /// It needs no two actions of one view.
    Strategy(Fixed),
    /// It needs a second action at a view that is not fixed; this one is advised.
    Undecided(View, u32),
}

/// A search in an arena.
pub(crate) struct Search<'a> {
    arena: &'a Arena,
    aim: Aim,
    /// The states in question.
    from: &'a [u32],
    space: &'a Space,
    /// What must not be fixed together.
    learnt: Vec<Vec<(View, u32)>>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(arena: &'a Arena, aim: Aim, from: &'a [u32], space: &'a Space) -> Search<'a> {
        Search { arena, aim, from, space, learnt: Vec::new() }
    }

    /// The states from which a strategy wins that wins from all states in question, if there is one.
    pub(crate) fn run(&mut self) -> Limited<Option<Vec<bool>>> {
        let mut fixed: Fixed = vec![None; self.arena.options.len()];
        let mut levels: Vec<Level> = Vec::new();
        loop {
            self.space.check()?;
            let mut blamed = match self.forbidden(&fixed, levels.last().map(|level| level.view)) {
                Some(blamed) => blamed,
                None => {
                    let solved = self.solve(&fixed);
                    let lost =
                        self.from.iter().map(|&state| state as usize).find(|&state| !solved.wins[state]);
                    match lost {
                        None => match self.walk(&fixed, &solved) {
                            Walk::Strategy(strategy) => return Ok(Some(self.wins(strategy))),
                            Walk::Undecided(view, first) => {
                                let mut options = self.arena.options[view as usize].clone();
                                options.sort_by_key(|&action| action != first);
                                fixed[view as usize] = options.first().copied();
                                levels.push(Level { view, options, current: 0, blamed: BTreeSet::new() });
                                continue;
                            }
                        },
                        Some(lost) => {
                            let blamed = self.blame(lost, &fixed, &solved);
                            self.learn(&fixed, &blamed);
                            blamed
                        }
                    }
                }
            };
            // Back to the last view to blame, and on with its next action.
            loop {
                let Some(level) = levels.last_mut() else { return Ok(None) };
                if blamed.remove(&level.view) {
                    level.blamed.append(&mut blamed);
                    level.current += 1;
                    if let Some(&action) = level.options.get(level.current) {
                        fixed[level.view as usize] = Some(action);
                        break;
                    }
                    blamed = std::mem::take(&mut level.blamed);
                    fixed[level.view as usize] = None;
                    self.learn(&fixed, &blamed);
                } else {
                    fixed[level.view as usize] = None;
                }
                levels.pop();
            }
        }
    }

    /// Where a strategy wins; views that it leaves open get their first action.
    fn wins(&self, strategy: Fixed) -> Vec<bool> {
        let options = &self.arena.options;
        let whole = strategy.iter().zip(options).map(|(fixed, options)| fixed.or(options.first().copied()));
        self.solve(&whole.collect()).wins
    }

    /// Whether a move follows what is fixed.
    fn follows(&self, at: usize, fixed: &Fixed) -> bool {
        self.forbidding(at, fixed).next().is_none()
    }

    /// The views that forbid a move.
    fn forbidding<'f>(&'f self, at: usize, fixed: &'f Fixed) -> impl Iterator<Item = View> + 'f {
        let at = &self.arena.moves[at];
        let pairs = self.arena.views[at.owner as usize].iter().zip(&at.actions);
        pairs.filter(|&(&view, &action)| !agrees(fixed[view as usize], action)).map(|(&view, _)| view)
    }

    /// The game with perfect information, with only the moves that follow what is fixed.
    fn solve(&self, fixed: &Fixed) -> Solved {
        match self.aim {
            Aim::Reach => self.reach(fixed),
            Aim::Stay => self.stay(fixed),
        }
    }

    /// `μZ. done ∨ pre(Z)`: each move counts its targets that are not yet in `Z`.
    fn reach(&self, fixed: &Fixed) -> Solved {
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
                if missing[at] == 0 && !wins[owner as usize] && self.follows(at, fixed) {
                    wins[owner as usize] = true;
                    queue.push(owner);
                }
            }
        }
        Solved { wins, order }
    }

    /// `νZ. done ∨ pre(Z)`: each state counts its moves that may still lead nowhere else than into
    /// `Z`.
    fn stay(&self, fixed: &Fixed) -> Solved {
        let arena = self.arena;
        let n_states = arena.is_done.len();
        let mut wins = vec![true; n_states];
        wins[LOST as usize] = false;
        let mut order = vec![0; n_states];
        let mut is_left: Vec<bool> = (0..arena.moves.len()).map(|at| self.follows(at, fixed)).collect();
        let count = |state: usize| arena.moves(state).filter(|&at| is_left[at]).count();
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

    /// A move that keeps winning at a winning state, of those that follow what is fixed.
    fn winning_move(&self, state: usize, fixed: &Fixed, solved: &Solved) -> Option<usize> {
        let keeps = |&target: &u32| {
            let target = target as usize;
            solved.wins[target] && (self.aim == Aim::Stay || solved.order[target] < solved.order[state])
        };
        self.arena
            .moves(state)
            .find(|&at| self.arena.moves[at].targets.iter().all(keeps) && self.follows(at, fixed))
    }

    /// Follows winning moves from the states in question, where the group wins with what is fixed.
    fn walk(&self, fixed: &Fixed, solved: &Solved) -> Walk {
        let arena = self.arena;
        let mut chosen = fixed.clone();
        let mut seen = vec![false; arena.is_done.len()];
        let mut open: Vec<u32> = self.from.to_vec();
        open.iter().for_each(|&state| seen[state as usize] = true);
        let mut next = 0;
        while let Some(&state) = open.get(next) {
            next += 1;
            let state = state as usize;
            if arena.is_done[state] {
                continue;
            }
            let Some(at) = self.winning_move(state, &chosen, solved) else {
                return self.undecided(state, fixed, chosen, solved);
            };
            let at = &arena.moves[at];
            for (&view, &action) in arena.views[state].iter().zip(&at.actions) {
                if action != ANY {
                    chosen[view as usize] = Some(action);
                }
            }
            for &target in &at.targets {
                if !std::mem::replace(&mut seen[target as usize], true) {
                    open.push(target);
                }
            }
        }
        Walk::Strategy(chosen)
    }

    /// A view that is not fixed and at which the walk has chosen another action than the move that
    /// wins at this state.
    fn undecided(&self, state: usize, fixed: &Fixed, chosen: Fixed, solved: &Solved) -> Walk {
        let winning = self.winning_move(state, fixed, solved);
        let actions = winning.map_or(&[][..], |at| &self.arena.moves[at].actions);
        let mut pairs = self.arena.views[state].iter().zip(actions);
        match pairs.find(|&(&view, &action)| !agrees(chosen[view as usize], action)) {
            Some((&view, &action)) => Walk::Undecided(view, action),
            // A winning state has a winning move, and only what the walk chose can forbid it.
            None => Walk::Strategy(chosen),
        }
    }

    /// Views such that what they are fixed to makes the group lose at a state.
    ///
    /// Every move from a losing state must be accounted for: it leads to a losing state that is
    /// accounted for as well, or it is forbidden by a view that is then to blame. For [`Aim::Stay`]
    /// the losing state must have been lost before this one.
    fn blame(&self, lost: usize, fixed: &Fixed, solved: &Solved) -> BTreeSet<View> {
        let arena = self.arena;
        let mut blamed = BTreeSet::new();
        let mut seen = vec![false; arena.is_done.len()];
        seen[LOST as usize] = true;
        seen[lost] = true;
        let mut open = vec![lost];
        while let Some(state) = open.pop() {
            let accounts = |target: usize| {
                !solved.wins[target] && (self.aim == Aim::Reach || solved.order[target] < solved.order[state])
            };
            for at in arena.moves(state) {
                let targets = || arena.moves[at].targets.iter().map(|&t| t as usize).filter(|&t| accounts(t));
                let is_accounted = targets().any(|target| seen[target])
                    || self.forbidding(at, fixed).any(|view| blamed.contains(&view));
                if is_accounted {
                    continue;
                }
                if let Some(target) = targets().next() {
                    seen[target] = true;
                    open.push(target);
                } else {
                    // A losing state's move that leads to winning ones only is forbidden.
                    blamed.extend(self.forbidding(at, fixed).next());
                }
            }
        }
        blamed
    }

    fn learn(&mut self, fixed: &Fixed, blamed: &BTreeSet<View>) {
        let clause: Vec<(View, u32)> =
            blamed.iter().filter_map(|&view| Some((view, fixed[view as usize]?))).collect();
        if clause.len() == blamed.len() && clause.len() > 1 && self.learnt.len() < MOST_LEARNT {
            self.learnt.push(clause);
        }
    }

    /// The views of something learnt that is fixed now, the last one fixed among them.
    fn forbidden(&self, fixed: &Fixed, last: Option<View>) -> Option<BTreeSet<View>> {
        let last = last?;
        let is_fixed = |&(view, action): &(View, u32)| fixed[view as usize] == Some(action);
        let mut learnt = self.learnt.iter();
        let clause = learnt
            .find(|clause| clause.iter().any(|(view, _)| *view == last) && clause.iter().all(is_fixed))?;
        Some(clause.iter().map(|(view, _)| *view).collect())
    }
}

fn agrees(fixed: Option<u32>, action: u32) -> bool {
    action == ANY || fixed.is_none_or(|fixed| fixed == action)
}
