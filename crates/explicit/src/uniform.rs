//! Imperfect information: uniform strategies, found by search. [Schobbens04; Prosser93 §3]
//!
//! A uniform strategy chooses an action for each *view*: a member of the group and what it sees. The
//! question for a state is whether one strategy wins from all states in question at once. In order:
//!
//! 1. With perfect information the group wins wherever it wins at all: an upper bound.
//! 2. Strategies already found win from many states besides the one they were looked for: a lower
//!    bound. The first one follows, at each view, what most of its winning states advise.
//! 3. A search fixes the action of one view after the other. At each node the game is solved with
//!    perfect information but the actions fixed so far. If the group wins, a walk from the states in
//!    question follows winning moves; if it never wants two actions of one view, that is a strategy,
//!    and otherwise that view is fixed next. If the group does not win, the views to blame are
//!    collected, and all that was fixed after the last of them is undone at once; and what they were
//!    fixed to is remembered, never to be tried together again.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use masque_model::{AgentId, Strategies};
use masque_verdict::Stop;

use crate::bitset::Bitset;
use crate::jobs::Jobs;
use crate::knowledge::Classes;
use crate::label::Labeller;
use crate::labelling::StoredStates;
use crate::moves::ANY;
use crate::strategic::{Arena, Goal, Solved};
use crate::temporal::Clock;

/// The number of a view: a member and what it sees.
type View = u32;

impl Labeller<'_> {
    /// The states for which one tuple of uniform strategies reaches the goal from all states in
    /// question; of those not `asked` for, some may be missing.
    pub(crate) fn enforces_uniformly(
        &mut self,
        strategies: Strategies,
        arena: &Arena<'_>,
        goal: &Goal,
        asked: Option<&Bitset>,
    ) -> Result<Bitset, Stop> {
        let members = &arena.game.members;
        let sight = Sight::new(members, strategies, |agents| self.view(agents, arena.budget))?;
        self.check_memory(arena.game.n_states() as u64 * 4 * members.len() as u64, arena.budget)?;
        sight.decide(arena, goal, asked, &self.jobs)
    }
}

/// Who confuses what.
pub(crate) struct Sight {
    /// For each member the states that look alike to it.
    members: Vec<Rc<Classes>>,
    /// States in one class of any of these must be won together; every state by itself if there is
    /// none.
    together: Vec<Rc<Classes>>,
}

impl Sight {
    /// `view` returns the classes of states that look alike to agents who combine what they see.
    pub(crate) fn new(
        members: &[AgentId],
        strategies: Strategies,
        mut view: impl FnMut(&[AgentId]) -> Result<Rc<Classes>, Stop>,
    ) -> Result<Sight, Stop> {
        let mut classes = Vec::new();
        for &member in members {
            classes.push(view(&[member])?);
        }
        let together = match strategies {
            Strategies::Uniform => classes.clone(),
            Strategies::UniformJoint => vec![view(members)?],
            Strategies::UniformObjective | Strategies::Perfect => Vec::new(),
        };
        Ok(Sight { members: classes, together })
    }

    /// Where the group has a strategy; of states not `asked` for, some may be missing.
    pub(crate) fn decide(
        &self,
        arena: &Arena<'_>,
        goal: &Goal,
        asked: Option<&Bitset>,
        jobs: &Jobs,
    ) -> Result<Bitset, Stop> {
        let views = Views::new(arena, &self.members);
        let questions = Questions { classes: &self.together, domain: arena.domain, jobs };
        decide(arena, goal, &views, &questions, asked)
    }
}

/// Which states must be won together.
struct Questions<'a> {
    /// States in one class of any of these; every state by itself if there is none.
    classes: &'a [Rc<Classes>],
    domain: &'a Bitset,
    jobs: &'a Jobs,
}

impl Questions<'_> {
    /// The states all of whose questions are inside a set.
    fn answered(&self, win: &Bitset) -> Result<Bitset, Stop> {
        let lost = self.domain.clone().minus(win);
        let mut won = self.domain.clone().and(win);
        for classes in self.classes {
            won = won.and(&classes.untouched(self.domain, &lost, self.jobs)?);
        }
        Ok(won)
    }

    /// The states in question for a state.
    fn of(&self, state: usize) -> Bitset {
        if self.classes.is_empty() {
            return self.domain.filter(|other| other == state);
        }
        let is_alike = |other| self.classes.iter().any(|classes| classes.of(other) == classes.of(state));
        self.domain.filter(is_alike)
    }
}

fn decide(
    arena: &Arena<'_>,
    goal: &Goal,
    views: &Views,
    questions: &Questions<'_>,
    asked: Option<&Bitset>,
) -> Result<Bitset, Stop> {
    let upper = arena.solve(goal)?;
    let mut open = questions.answered(&upper.win)?;
    if let Some(asked) = asked {
        open = open.and(asked);
    }
    let mut truth = Bitset::empty(arena.game.n_states());
    let mut search = Search::new(arena, goal, views);
    if !open.is_empty() {
        let advised = search.advised(&upper);
        truth = truth.or(&questions.answered(&search.wins(&advised)?)?);
    }
    // What was asked for in vain: a larger question has no better answer.
    let mut failed: Vec<Bitset> = Vec::new();
    for state in open.iter() {
        if truth.contains(state) {
            continue;
        }
        let question = questions.of(state);
        if failed.iter().any(|smaller| smaller.is_subset(&question)) {
            continue;
        }
        match search.strategy(&question)? {
            Some(strategy) => truth = truth.or(&questions.answered(&search.wins(&strategy)?)?),
            None => failed.push(question),
        }
    }
    Ok(truth)
}

/// The views of all members.
struct Views {
    /// For each member and state its view.
    of: Vec<Vec<View>>,
    /// For each view the actions among which there is a choice, in increasing order.
    options: Vec<Vec<u32>>,
}

impl Views {
    fn new(arena: &Arena<'_>, classes: &[Rc<Classes>]) -> Views {
        let game = arena.game;
        let mut options: Vec<Vec<u32>> = Vec::new();
        let mut of = Vec::new();
        for (member, classes) in classes.iter().enumerate() {
            let mut numbers: BTreeMap<u32, View> = BTreeMap::new();
            let mut views = Vec::with_capacity(game.n_states());
            for state in 0..game.n_states() {
                let view = *numbers.entry(classes.of(state)).or_insert_with(|| {
                    options.push(Vec::new());
                    options.len() as u32 - 1
                });
                views.push(view);
                // Where another agent has no action there is no move to tell of this one's.
                let own = &mut options[view as usize];
                if own.is_empty() && arena.domain.contains(state) {
                    own.extend(game.moves(state).map(|at| game.actions(at)[member]).filter(|&a| a != ANY));
                    own.sort_unstable();
                    own.dedup();
                }
            }
            of.push(views);
        }
        Views { of, options }
    }

    /// The views from which a state is seen, one per member.
    fn at(&self, state: usize) -> impl Iterator<Item = View> + '_ {
        self.of.iter().map(move |views| views[state])
    }
}

/// An action for some views.
type Fixed = Vec<Option<u32>>;

/// One view that the search has fixed.
struct Level {
    view: View,
    /// The actions to try, and the one being tried.
    options: Vec<u32>,
    current: usize,
    /// The views before this one to blame for the actions tried so far.
    blamed: BTreeSet<View>,
}

struct Search<'a> {
    arena: &'a Arena<'a>,
    goal: &'a Goal,
    views: &'a Views,
    clock: Clock<'a>,
}

impl<'a> Search<'a> {
    fn new(arena: &'a Arena<'a>, goal: &'a Goal, views: &'a Views) -> Search<'a> {
        Search { arena, goal, views, clock: Clock::new(arena.budget) }
    }

    /// A strategy that wins from all of these states, if there is one.
    fn strategy(&mut self, from: &Bitset) -> Result<Option<Fixed>, Stop> {
        let mut fixed: Fixed = vec![None; self.views.options.len()];
        let mut levels: Vec<Level> = Vec::new();
        let mut learnt = Learnt::default();
        loop {
            self.arena.budget.check()?;
            let mut blamed = match learnt.forbids(&fixed, levels.last().map(|level| level.view)) {
                Some(blamed) => blamed,
                None => {
                    let solved = self.solve(&fixed)?;
                    match from.iter().find(|&state| !solved.win.contains(state)) {
                        None => match self.walk(from, &fixed, &solved)? {
                            Walk::Strategy(strategy) => return Ok(Some(strategy)),
                            Walk::Undecided(view, first) => {
                                let mut options = self.views.options[view as usize].clone();
                                options.sort_by_key(|&action| action != first);
                                fixed[view as usize] = options.first().copied();
                                levels.push(Level { view, options, current: 0, blamed: BTreeSet::new() });
                                continue;
                            }
                        },
                        Some(lost) => {
                            let blamed = self.blame(lost, &fixed, &solved)?;
                            learnt.add(&fixed, &blamed);
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
                    learnt.add(&fixed, &blamed);
                } else {
                    fixed[level.view as usize] = None;
                }
                levels.pop();
            }
        }
    }

    /// Whether a move follows what is fixed.
    fn follows(&self, at: u32, fixed: &Fixed) -> bool {
        let state = self.arena.game.owner(at) as usize;
        let actions = self.arena.game.actions(at);
        self.views.at(state).zip(actions).all(|(view, &action)| agrees(fixed[view as usize], action))
    }

    /// The game with perfect information, with only the moves that follow what is fixed.
    fn solve(&mut self, fixed: &Fixed) -> Result<Solved, Stop> {
        let allowed = Bitset::full(self.arena.game.n_moves()).filter(|at| self.follows(at as u32, fixed));
        Arena { allowed: Some(&allowed), ..*self.arena }.solve(self.goal)
    }

    /// Where a strategy wins; views that it leaves open get their first action.
    fn wins(&mut self, strategy: &Fixed) -> Result<Bitset, Stop> {
        let first = |(fixed, options): (&Option<u32>, &Vec<u32>)| fixed.or(options.first().copied());
        let whole: Fixed = strategy.iter().zip(&self.views.options).map(first).collect();
        Ok(self.solve(&whole)?.win)
    }

    /// For each view the action that most winning moves have at the states seen so.
    fn advised(&mut self, upper: &Solved) -> Fixed {
        let mut votes: Vec<BTreeMap<u32, usize>> = vec![BTreeMap::new(); self.views.options.len()];
        for state in upper.win.iter().filter(|&state| !self.is_done(state)) {
            let Some(at) = self.winning_move(state, upper, |_| true) else { continue };
            for (view, &action) in self.views.at(state).zip(self.arena.game.actions(at)) {
                if action != ANY {
                    *votes[view as usize].entry(action).or_default() += 1;
                }
            }
        }
        let most = |votes: BTreeMap<u32, usize>| {
            votes
                .into_iter()
                .max_by_key(|&(action, n)| (n, std::cmp::Reverse(action)))
                .map(|(action, _)| action)
        };
        votes.into_iter().map(most).collect()
    }

    /// Whether nothing is left to do at a winning state.
    fn is_done(&self, state: usize) -> bool {
        match self.goal {
            Goal::Next(_) => false,
            Goal::Reach(_, to) => to.contains(state),
            Goal::Stay(_, until) => until.contains(state),
        }
    }

    /// A move that keeps winning at a winning state, of those that may be made. Without fairness.
    fn winning_move(&self, state: usize, solved: &Solved, may: impl Fn(u32) -> bool) -> Option<u32> {
        let game = self.arena.game;
        let keeps = |target: u32| match self.goal {
            Goal::Next(phi) => phi.contains(target as usize),
            Goal::Reach(..) => {
                solved.win.contains(target as usize)
                    && solved.order.get(target as usize) < solved.order.get(state)
            }
            Goal::Stay(..) => solved.win.contains(target as usize),
        };
        let wins = |at: &u32| game.is_total(*at) && may(*at) && game.targets(*at).iter().all(|&t| keeps(t));
        game.moves(state).find(wins)
    }
}

fn agrees(fixed: Option<u32>, action: u32) -> bool {
    action == ANY || fixed.is_none_or(|fixed| fixed == action)
}

/// What a walk along winning moves finds.
enum Walk {
    /// It needs no two actions of one view.
    Strategy(Fixed),
    /// It needs a second action at a view that is not fixed; this one is advised.
    Undecided(View, u32),
}

impl Search<'_> {
    /// Follows winning moves from these states, where the group wins with what is fixed.
    fn walk(&mut self, from: &Bitset, fixed: &Fixed, solved: &Solved) -> Result<Walk, Stop> {
        if !self.arena.constraints.is_empty() {
            return self.walk_fair(from, fixed);
        }
        let game = self.arena.game;
        let mut chosen = fixed.clone();
        let mut seen = from.clone();
        let mut open: Vec<u32> = from.iter().map(|state| state as u32).collect();
        let mut next = 0;
        while let Some(&state) = open.get(next) {
            next += 1;
            self.clock.tick()?;
            let state = state as usize;
            if self.is_done(state) {
                continue;
            }
            let Some(at) = self.winning_move(state, solved, |at| self.follows(at, &chosen)) else {
                return Ok(self.undecided(state, fixed, &chosen, solved));
            };
            for (view, &action) in self.views.at(state).zip(game.actions(at)) {
                if action != ANY {
                    chosen[view as usize] = Some(action);
                }
            }
            if !matches!(self.goal, Goal::Next(_)) {
                open.extend(game.targets(at).iter().filter(|&&target| seen.insert(target as usize)));
            }
        }
        Ok(Walk::Strategy(chosen))
    }

    /// A view that is not fixed and at which the walk has chosen another action than the move that
    /// wins at this state.
    fn undecided(&self, state: usize, fixed: &Fixed, chosen: &Fixed, solved: &Solved) -> Walk {
        let winning = self.winning_move(state, solved, |at| self.follows(at, fixed));
        let actions = winning.map(|at| self.arena.game.actions(at)).unwrap_or_default();
        let clash =
            self.views.at(state).zip(actions).find(|&(view, &action)| !agrees(chosen[view as usize], action));
        match clash {
            Some((view, &action)) => Walk::Undecided(view, action),
            // A winning state has a winning move, and only what the walk chose can forbid it.
            None => Walk::Strategy(chosen.clone()),
        }
    }

    /// With fairness: the first view on the way with a choice left; a strategy if there is none, since
    /// then the game that was solved is the strategy's own.
    fn walk_fair(&mut self, from: &Bitset, fixed: &Fixed) -> Result<Walk, Stop> {
        let game = self.arena.game;
        let mut seen = from.clone();
        let mut open: Vec<u32> = from.iter().map(|state| state as u32).collect();
        let mut next = 0;
        while let Some(&state) = open.get(next) {
            next += 1;
            self.clock.tick()?;
            for view in self.views.at(state as usize) {
                if let (None, [first, _, ..]) = (fixed[view as usize], &self.views.options[view as usize][..])
                {
                    return Ok(Walk::Undecided(view, *first));
                }
            }
            for at in game.moves(state as usize).filter(|&at| self.follows(at, fixed)) {
                open.extend(game.targets(at).iter().filter(|&&target| seen.insert(target as usize)));
            }
        }
        Ok(Walk::Strategy(fixed.clone()))
    }

    /// Views such that what they are fixed to makes the group lose at a state.
    ///
    /// Every move from a losing state must be accounted for: it leads to a losing state that is
    /// accounted for as well, or it is forbidden by a view that is then to blame. For
    /// [`Goal::Stay`] the losing state must have been lost before this one.
    fn blame(&mut self, lost: usize, fixed: &Fixed, solved: &Solved) -> Result<BTreeSet<View>, Stop> {
        let all = || (0..).zip(fixed).filter(|(_, fixed)| fixed.is_some()).map(|(view, _)| view).collect();
        if !self.arena.constraints.is_empty() {
            return Ok(all());
        }
        let game = self.arena.game;
        let mut blamed: BTreeSet<View> = BTreeSet::new();
        let mut seen = Bitset::empty(game.n_states());
        seen.insert(lost);
        let mut open = vec![lost];
        while let Some(state) = open.pop() {
            self.clock.tick()?;
            if self.is_outside(state) {
                continue;
            }
            let accounts = |target: usize| match self.goal {
                Goal::Next(phi) => !phi.contains(target),
                Goal::Reach(..) => !solved.win.contains(target),
                Goal::Stay(..) => !solved.win.contains(target) && solved.order[target] < solved.order[state],
            };
            for at in game.moves(state).filter(|&at| game.is_total(at)) {
                let targets = || game.targets(at).iter().map(|&t| t as usize).filter(|&t| accounts(t));
                let forbidding = || {
                    let pairs = self.views.at(state).zip(game.actions(at));
                    pairs
                        .filter(|&(view, &action)| !agrees(fixed[view as usize], action))
                        .map(|(view, _)| view)
                };
                let is_accounted = forbidding().any(|view| blamed.contains(&view))
                    || targets().any(|target| seen.contains(target) || self.is_outside(target));
                if is_accounted {
                    continue;
                }
                if let Some(target) = targets().next() {
                    if !matches!(self.goal, Goal::Next(_)) && seen.insert(target) {
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

    /// Whether a state is lost whatever anybody does.
    fn is_outside(&self, state: usize) -> bool {
        match self.goal {
            Goal::Next(_) => false,
            Goal::Reach(through, to) => !through.contains(state) && !to.contains(state),
            Goal::Stay(inside, until) => !inside.contains(state) && !until.contains(state),
        }
    }
}

/// What must not be fixed together.
#[derive(Default)]
struct Learnt {
    /// By the last view of each, in the order of numbers.
    clauses: Vec<Vec<(View, u32)>>,
}

/// So many are remembered.
const MOST_LEARNT: usize = 10_000;

impl Learnt {
    fn add(&mut self, fixed: &Fixed, blamed: &BTreeSet<View>) {
        let clause: Vec<(View, u32)> =
            blamed.iter().filter_map(|&view| Some((view, fixed[view as usize]?))).collect();
        if clause.len() == blamed.len() && clause.len() > 1 && self.clauses.len() < MOST_LEARNT {
            self.clauses.push(clause);
        }
    }

    /// The views of something learnt that is fixed now, the last one fixed among them.
    fn forbids(&self, fixed: &Fixed, last: Option<View>) -> Option<BTreeSet<View>> {
        let last = last?;
        let is_fixed = |&(view, action): &(View, u32)| fixed[view as usize] == Some(action);
        let clause = self
            .clauses
            .iter()
            .find(|clause| clause.iter().any(|(view, _)| *view == last) && clause.iter().all(is_fixed))?;
        Some(clause.iter().map(|(view, _)| *view).collect())
    }
}
