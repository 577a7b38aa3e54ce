//! Search for a uniform strategy, with conflict-driven backjumping. [Prosser93 §3]
//!
//! A uniform strategy chooses an action for each *view*: a member of the group and what it sees. The
//! search fixes the action of one view after the other. At each node the game is solved with perfect
//! information, except that the actions fixed so far are followed.
//!
//! - If the group wins, a walk from the given states follows winning moves. If it never needs
//!   two actions at one view, it is a strategy. Otherwise the search fixes that view next.
//! - If the group does not win, the views to blame are collected. The search undoes everything that
//!   was fixed after the last of them, and records the actions of these views, so that it does not try
//!   them together again.
//!
//! Every engine that lists the states of a game uses this search. It is tested against
//! `masque_model::semantics`, which tries all strategies.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::Stop;

/// Number of a view: a member of the group and what it sees.
pub type View = u32;

/// Action of each view, none for a view that is not fixed.
pub type FixedActions = Vec<Option<u32>>;

/// Stands for every action of a member that has no choice, or whose choice makes no difference.
pub const ANY_ACTION: u32 = u32::MAX;

/// Maximum number of conflicts that the search records.
const MAX_CONFLICTS: usize = 10_000;

/// What the group has to enforce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniformAim {
    /// One step leads to the goal.
    Next,
    /// The goal is reached in the end.
    Reach,
    /// The goal is reached, or no play ever leaves the allowed states.
    Stay,
}

/// A game of a group on listed states.
///
/// A *move* is a choice of one action for each member. Moves are numbered, and the moves of a state
/// are consecutive.
pub trait UniformGame {
    /// Where the group wins with perfect information.
    type Solution;

    /// Number of states.
    fn n_states(&self) -> usize;

    /// What the group has to enforce.
    fn aim(&self) -> UniformAim;

    /// Whether only fair plays count.
    fn has_fairness(&self) -> bool {
        false
    }

    /// For each view the actions that its member can choose from, in increasing order.
    fn options(&self) -> &[Vec<u32>];

    /// Views from which a state is seen, one per member.
    fn views(&self, state: usize) -> impl Iterator<Item = View>;

    /// Moves of a state.
    fn moves(&self, state: usize) -> Range<u32>;

    /// State of a move.
    fn owner(&self, at: u32) -> usize;

    /// Actions of a move, one per member; [`ANY_ACTION`] where they make no difference.
    fn actions(&self, at: u32) -> &[u32];

    /// States that a move may lead to.
    fn targets(&self, at: u32) -> &[u32];

    /// Whether a step follows a move for all actions of the other agents.
    fn is_total(&self, _: u32) -> bool {
        true
    }

    /// Whether the goal is reached at a state.
    fn is_goal(&self, state: usize) -> bool;

    /// Whether a state is lost for all actions of the agents.
    fn is_outside(&self, state: usize) -> bool;

    /// Solves the game with perfect information, with only the moves that follow the fixed actions.
    fn solve(&mut self, fixed: &[Option<u32>]) -> Result<Self::Solution, Stop>;

    /// Whether the group wins at a state.
    fn is_won(&self, solution: &Self::Solution, state: usize) -> bool;

    /// Order in which states were won ([`UniformAim::Reach`]) or lost ([`UniformAim::Stay`]). A won
    /// state of the former has a move all of whose targets come earlier. Every move of a lost state of
    /// the latter has a target that comes earlier.
    fn order(&self, solution: &Self::Solution, state: usize) -> u32;

    /// Checks the budget. Called once for each node of the search.
    fn check(&mut self) -> Result<(), Stop>;

    /// Counts a state that the search looks at.
    fn tick(&mut self) -> Result<(), Stop> {
        Ok(())
    }

    /// Whether the group has nothing left to do at a winning state.
    fn is_done(&self, state: usize) -> bool {
        self.aim() != UniformAim::Next && self.is_goal(state)
    }

    /// Whether a move follows the fixed actions.
    fn follows(&self, at: u32, fixed: &[Option<u32>]) -> bool {
        let mut pairs = self.views(self.owner(at)).zip(self.actions(at));
        pairs.all(|(view, &action)| agrees(fixed[view as usize], action))
    }

    /// First move of a winning state that keeps winning and follows the fixed actions. Without fairness.
    fn winning_move(&self, state: usize, fixed: &[Option<u32>], solution: &Self::Solution) -> Option<u32> {
        let keeps_winning = |&target: &u32| {
            let target = target as usize;
            match self.aim() {
                UniformAim::Next => self.is_goal(target),
                UniformAim::Reach => {
                    self.is_won(solution, target)
                        && self.order(solution, target) < self.order(solution, state)
                }
                UniformAim::Stay => self.is_won(solution, target),
            }
        };
        self.moves(state).find(|&at| {
            self.is_total(at) && self.follows(at, fixed) && self.targets(at).iter().all(keeps_winning)
        })
    }

    /// A strategy in which every view has an action: its first one if none is fixed.
    fn completed(&self, strategy: &[Option<u32>]) -> FixedActions {
        let options = self.options().iter();
        strategy.iter().zip(options).map(|(fixed, options)| fixed.or(options.first().copied())).collect()
    }
}

/// Finds a uniform strategy that wins from all states of `from`, if there is one. The states are given in
/// increasing order.
pub fn find_uniform_strategy(
    game: &mut impl UniformGame,
    from: &[u32],
) -> Result<Option<FixedActions>, Stop> {
    let mut fixed: FixedActions = vec![None; game.options().len()];
    let mut levels: Vec<Level> = Vec::new();
    let mut conflicts = Conflicts::default();
    loop {
        game.check()?;
        let mut blamed = match conflicts.forbids(&fixed, levels.last().map(|level| level.view)) {
            Some(blamed) => blamed,
            None => match visit(game, from, &fixed)? {
                Visit::GroupStrategy(strategy) => return Ok(Some(strategy)),
                Visit::Undecided { view, advised } => {
                    let mut options = game.options()[view as usize].clone();
                    options.sort_by_key(|&action| action != advised);
                    fixed[view as usize] = options.first().copied();
                    levels.push(Level { view, options, current: 0, blamed: BTreeSet::new() });
                    continue;
                }
                Visit::Lost(blamed) => {
                    conflicts.add(&fixed, &blamed);
                    blamed
                }
            },
        };
        // Return to the last view to blame, and continue with its next action.
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
                conflicts.add(&fixed, &blamed);
            } else {
                fixed[level.view as usize] = None;
            }
            levels.pop();
        }
    }
}

/// A view that the search has fixed.
struct Level {
    view: View,
    /// Actions to try.
    options: Vec<u32>,
    /// Index of the action that is being tried.
    current: usize,
    /// Views fixed before this one that are to blame for the actions tried so far.
    blamed: BTreeSet<View>,
}

/// Result of one node of the search.
enum Visit {
    /// A walk along winning moves needs at most one action per view.
    GroupStrategy(FixedActions),
    /// The walk needs a second action at a view that is not fixed.
    Undecided {
        view: View,
        /// Action to try first.
        advised: u32,
    },
    /// The group does not win. These views are to blame.
    Lost(BTreeSet<View>),
}

fn visit<G: UniformGame>(game: &mut G, from: &[u32], fixed: &FixedActions) -> Result<Visit, Stop> {
    let solution = game.solve(fixed)?;
    let lost = from.iter().map(|&state| state as usize).find(|&state| !game.is_won(&solution, state));
    match lost {
        Some(lost) => blame(game, lost, fixed, &solution).map(Visit::Lost),
        None if game.has_fairness() => walk_fairly(game, from, fixed),
        None => walk(game, from, fixed, &solution),
    }
}

/// Follows winning moves from these states, where the group wins with the fixed actions.
fn walk<G: UniformGame>(
    game: &mut G,
    from: &[u32],
    fixed: &FixedActions,
    solution: &G::Solution,
) -> Result<Visit, Stop> {
    let mut chosen = fixed.clone();
    let mut queue = StateQueue::new(game.n_states(), from);
    while let Some(state) = queue.next() {
        game.tick()?;
        if game.is_done(state) {
            continue;
        }
        let Some(at) = game.winning_move(state, &chosen, solution) else {
            return Ok(undecided(game, state, fixed, chosen, solution));
        };
        for (view, &action) in game.views(state).zip(game.actions(at)) {
            if action != ANY_ACTION {
                chosen[view as usize] = Some(action);
            }
        }
        if game.aim() != UniformAim::Next {
            game.targets(at).iter().for_each(|&target| queue.add(target));
        }
    }
    Ok(Visit::GroupStrategy(chosen))
}

/// Finds a view that is not fixed and at which the walk has chosen another action than the move that
/// wins at this state.
fn undecided<G: UniformGame>(
    game: &G,
    state: usize,
    fixed: &FixedActions,
    chosen: FixedActions,
    solution: &G::Solution,
) -> Visit {
    let winning = game.winning_move(state, fixed, solution);
    let actions = winning.map(|at| game.actions(at)).unwrap_or_default();
    let mut pairs = game.views(state).zip(actions);
    let clash = pairs.find(|&(view, &action)| !agrees(chosen[view as usize], action));
    match clash {
        Some((view, &advised)) => Visit::Undecided { view, advised },
        // A winning state has a winning move, and only what the walk chose can forbid it.
        None => Visit::GroupStrategy(chosen),
    }
}

/// With fairness: finds the first visited view that has a choice left. If there is none, the fixed actions
/// are a strategy, because the solved game allows no other actions.
fn walk_fairly(game: &mut impl UniformGame, from: &[u32], fixed: &FixedActions) -> Result<Visit, Stop> {
    let mut queue = StateQueue::new(game.n_states(), from);
    while let Some(state) = queue.next() {
        game.tick()?;
        for view in game.views(state) {
            if let (None, [first, _, ..]) = (fixed[view as usize], &game.options()[view as usize][..]) {
                return Ok(Visit::Undecided { view, advised: *first });
            }
        }
        for at in game.moves(state).filter(|&at| game.follows(at, fixed)) {
            game.targets(at).iter().for_each(|&target| queue.add(target));
        }
    }
    Ok(Visit::GroupStrategy(fixed.clone()))
}

/// Views whose fixed actions make the group lose at a state.
///
/// Every move from a losing state must be accounted for: it leads to a losing state that is accounted
/// for as well, or it is forbidden by a view that is then to blame. For [`UniformAim::Stay`] the other
/// losing state must have been lost before this one.
fn blame<G: UniformGame>(
    game: &mut G,
    lost: usize,
    fixed: &FixedActions,
    solution: &G::Solution,
) -> Result<BTreeSet<View>, Stop> {
    let all = || (0..).zip(fixed).filter(|(_, fixed)| fixed.is_some()).map(|(view, _)| view).collect();
    if game.has_fairness() {
        return Ok(all());
    }
    let mut blamed: BTreeSet<View> = BTreeSet::new();
    let mut seen = vec![false; game.n_states()];
    seen[lost] = true;
    let mut open = vec![lost];
    while let Some(state) = open.pop() {
        game.tick()?;
        if game.is_outside(state) {
            continue;
        }
        let accounts = |&target: &usize| match game.aim() {
            UniformAim::Next => !game.is_goal(target),
            UniformAim::Reach => !game.is_won(solution, target),
            UniformAim::Stay => {
                !game.is_won(solution, target) && game.order(solution, target) < game.order(solution, state)
            }
        };
        for at in game.moves(state).filter(|&at| game.is_total(at)) {
            let targets = || game.targets(at).iter().map(|&target| target as usize).filter(accounts);
            let forbidding = || {
                let pairs = game.views(state).zip(game.actions(at));
                pairs.filter(|&(view, &action)| !agrees(fixed[view as usize], action)).map(|(view, _)| view)
            };
            let is_accounted = forbidding().any(|view| blamed.contains(&view))
                || targets().any(|target| seen[target] || game.is_outside(target));
            if is_accounted {
                continue;
            }
            if let Some(target) = targets().next() {
                seen[target] = true;
                if game.aim() != UniformAim::Next {
                    open.push(target);
                }
            } else if let Some(view) = forbidding().next() {
                blamed.insert(view);
            } else {
                debug_assert!(false, "a move from a losing state that is not accounted for");
                return Ok(all());
            }
        }
    }
    Ok(blamed)
}

/// Whether an action is the one that is fixed, or none is fixed.
fn agrees(fixed: Option<u32>, action: u32) -> bool {
    action == ANY_ACTION || fixed.is_none_or(|fixed| fixed == action)
}

/// States in the order in which they were added, each once.
struct StateQueue {
    states: Vec<u32>,
    next: usize,
    is_known: Vec<bool>,
}

impl StateQueue {
    fn new(n_states: usize, from: &[u32]) -> StateQueue {
        let mut queue = StateQueue { states: Vec::new(), next: 0, is_known: vec![false; n_states] };
        from.iter().for_each(|&state| queue.add(state));
        queue
    }

    fn add(&mut self, state: u32) {
        if !std::mem::replace(&mut self.is_known[state as usize], true) {
            self.states.push(state);
        }
    }

    fn next(&mut self) -> Option<usize> {
        let state = self.states.get(self.next)?;
        self.next += 1;
        Some(*state as usize)
    }
}

/// Actions that must not be fixed together.
#[derive(Default)]
struct Conflicts {
    /// Each as views, in increasing order, with their actions.
    clauses: Vec<Vec<(View, u32)>>,
}

impl Conflicts {
    fn add(&mut self, fixed: &FixedActions, blamed: &BTreeSet<View>) {
        let clause: Vec<(View, u32)> =
            blamed.iter().filter_map(|&view| Some((view, fixed[view as usize]?))).collect();
        if clause.len() == blamed.len() && clause.len() > 1 && self.clauses.len() < MAX_CONFLICTS {
            self.clauses.push(clause);
        }
    }

    /// Views of a conflict whose actions are all fixed now, if the view fixed last is one of them.
    fn forbids(&self, fixed: &FixedActions, last: Option<View>) -> Option<BTreeSet<View>> {
        let last = last?;
        let is_fixed = |&(view, action): &(View, u32)| fixed[view as usize] == Some(action);
        let mut clauses = self.clauses.iter();
        let clause = clauses
            .find(|clause| clause.iter().any(|(view, _)| *view == last) && clause.iter().all(is_fixed))?;
        Some(clause.iter().map(|(view, _)| *view).collect())
    }
}
