//! Imperfect information: uniform strategies, found by search. [Schobbens04]
//!
//! A uniform strategy chooses an action for each *view*: a member of the group and what it sees. The
//! question for a state is whether one strategy wins from all states that must be won together with it.
//! In order:
//!
//! 1. The states that the group wins with perfect information are an upper bound.
//! 2. A strategy that was found for one state wins from many others: a lower bound. The first strategy
//!    takes, at each view, the action of the most winning moves.
//! 3. The remaining states are decided by a search with conflict learning
//!    ([`masque_verdict::find_uniform_strategy`]).

use std::collections::BTreeMap;
use std::rc::Rc;

use masque_model::{AgentId, Strategies};
use masque_proof::{Choice, GroupStrategy};
use masque_verdict::{ANY_ACTION, FixedActions, Stop, UniformAim, UniformGame, View, find_uniform_strategy};

use crate::bitset::Bitset;
use crate::jobs::Jobs;
use crate::knowledge::Classes;
use crate::label::Labeller;
use crate::labelling::StoredStates;
use crate::strategic::{Arena, Goal, Solved};
use crate::temporal::Clock;

/// Called with each strategy that is found; it has an action for each view at which one is enabled.
pub(crate) type OnStrategy<'f> = &'f mut dyn FnMut(&Views, &FixedActions) -> Result<(), Stop>;

/// Ignores the strategies that are found.
pub(crate) fn forget(_: &Views, _: &FixedActions) -> Result<(), Stop> {
    Ok(())
}

impl Labeller<'_> {
    /// Computes the states for which one tuple of uniform strategies reaches the goal from all states that
    /// must be won together. States outside `asked` may be missing.
    pub(crate) fn enforces_uniformly(
        &mut self,
        strategies: Strategies,
        arena: &Arena<'_>,
        goal: &Goal,
        asked: Option<&Bitset>,
    ) -> Result<Bitset, Stop> {
        let observations = self.observations(strategies, arena)?;
        observations.decide(arena, goal, asked, &self.jobs, &mut forget)
    }

    /// Finds strategies for all states of `asked` at which the group has one. Each wins from the states that must be
    /// won together with some of them.
    pub(crate) fn uniform_strategies(
        &mut self,
        strategies: Strategies,
        arena: &Arena<'_>,
        goal: &Goal,
        asked: Option<&Bitset>,
    ) -> Result<Vec<GroupStrategy<Rc<Bitset>>>, Stop> {
        let observations = self.observations(strategies, arena)?;
        let (mut kept, mut n_bytes) = (Vec::new(), self.bytes());
        observations.decide(arena, goal, asked, &self.jobs, &mut |views, actions| {
            let strategy = views.choices(actions);
            n_bytes += strategy.iter().map(|choice| choice.states.bytes()).sum::<u64>();
            kept.push(strategy);
            arena.budget.check_memory(n_bytes)
        })?;
        Ok(kept)
    }

    fn observations(&mut self, strategies: Strategies, arena: &Arena<'_>) -> Result<Observations, Stop> {
        let members = &arena.game.members;
        let observations = Observations::new(members, strategies, |agents| self.view(agents, arena.budget))?;
        self.check_memory(arena.game.n_states() as u64 * 4 * members.len() as u64, arena.budget)?;
        Ok(observations)
    }
}

/// The states that the members of a group cannot distinguish.
pub(crate) struct Observations {
    /// Classes of indistinguishable states of each member.
    members: Vec<Rc<Classes>>,
    /// States in one class of any of these must be won together; if empty, each state by itself.
    together: Vec<Rc<Classes>>,
}

impl Observations {
    /// `view` returns the classes of states that agents who combine what they see cannot distinguish.
    pub(crate) fn new(
        members: &[AgentId],
        strategies: Strategies,
        mut view: impl FnMut(&[AgentId]) -> Result<Rc<Classes>, Stop>,
    ) -> Result<Observations, Stop> {
        let mut classes = Vec::new();
        for &member in members {
            classes.push(view(&[member])?);
        }
        let together = match strategies {
            Strategies::Uniform => classes.clone(),
            Strategies::UniformJoint => vec![view(members)?],
            Strategies::UniformObjective | Strategies::Perfect => Vec::new(),
        };
        Ok(Observations { members: classes, together })
    }

    /// Returns the states at which the group has a strategy. States outside `asked` may be missing.
    pub(crate) fn decide(
        &self,
        arena: &Arena<'_>,
        goal: &Goal,
        asked: Option<&Bitset>,
        jobs: &Jobs,
        on_strategy: OnStrategy<'_>,
    ) -> Result<Bitset, Stop> {
        let views = Views::new(arena, &self.members);
        let joint = JointStates { classes: &self.together, domain: arena.domain, jobs };
        let upper = arena.solve(goal)?;
        let mut open = joint.won(&upper.win)?;
        if let Some(asked) = asked {
            open = open.and(asked);
        }
        let mut truth = Bitset::empty(arena.game.n_states());
        let mut search = StrategySearch::new(arena, goal, &views);
        let mut add = |truth: Bitset, search: &mut StrategySearch<'_>, strategy: &FixedActions| {
            let whole = search.completed(strategy);
            on_strategy(&views, &whole)?;
            Ok::<_, Stop>(truth.or(&joint.won(&search.solve(&whole)?.win)?))
        };
        if !open.is_empty() {
            let majority = search.majority_actions(&upper);
            truth = add(truth, &mut search, &majority)?;
        }
        // Sets of states that no strategy wins: no strategy wins a larger one either.
        let mut failed: Vec<Bitset> = Vec::new();
        for state in open.iter() {
            if truth.contains(state) {
                continue;
            }
            let together = joint.of(state);
            if failed.iter().any(|smaller| smaller.is_subset(&together)) {
                continue;
            }
            let from: Vec<u32> = together.iter().map(|state| state as u32).collect();
            match find_uniform_strategy(&mut search, &from)? {
                Some(strategy) => truth = add(truth, &mut search, &strategy)?,
                None => failed.push(together),
            }
        }
        Ok(truth)
    }
}

/// The states that must be won together.
struct JointStates<'a> {
    /// States in one class of any of these must be won together; if empty, each state by itself.
    classes: &'a [Rc<Classes>],
    domain: &'a Bitset,
    jobs: &'a Jobs,
}

impl JointStates<'_> {
    /// Returns the states for which all states that must be won together are in a set.
    fn won(&self, win: &Bitset) -> Result<Bitset, Stop> {
        let lost = self.domain.clone().minus(win);
        let mut won = self.domain.clone().and(win);
        for classes in self.classes {
            won = won.and(&classes.untouched(self.domain, &lost, self.jobs)?);
        }
        Ok(won)
    }

    /// Returns the states that must be won together with a state.
    fn of(&self, state: usize) -> Bitset {
        if self.classes.is_empty() {
            return self.domain.filter(|other| other == state);
        }
        let is_alike = |other| self.classes.iter().any(|classes| classes.of(other) == classes.of(state));
        self.domain.filter(is_alike)
    }
}

/// The views of all members.
pub(crate) struct Views {
    /// View of each member at each state.
    of: Vec<Vec<View>>,
    /// The actions that can be chosen at each view, in increasing order.
    options: Vec<Vec<u32>>,
}

impl Views {
    fn new(arena: &Arena<'_>, classes: &[Rc<Classes>]) -> Views {
        let game = arena.game;
        let mut options: Vec<Vec<u32>> = Vec::new();
        let mut of = Vec::new();
        for (member, classes) in classes.iter().enumerate() {
            let mut view_of_class: BTreeMap<u32, View> = BTreeMap::new();
            let mut views = Vec::with_capacity(game.n_states());
            for state in 0..game.n_states() {
                let view = *view_of_class.entry(classes.of(state)).or_insert_with(|| {
                    options.push(Vec::new());
                    options.len() as u32 - 1
                });
                views.push(view);
                // A state where another agent has no action has no moves, so its options come from another
                // state with the same view.
                let own = &mut options[view as usize];
                if own.is_empty() && arena.domain.contains(state) {
                    own.extend(
                        game.moves(state).map(|m| game.actions(m)[member]).filter(|&a| a != ANY_ACTION),
                    );
                    own.sort_unstable();
                    own.dedup();
                }
            }
            of.push(views);
        }
        Views { of, options }
    }

    /// Returns, for each member and action, the states in which a strategy chooses it.
    fn choices(&self, strategy: &FixedActions) -> GroupStrategy<Rc<Bitset>> {
        let mut choices = GroupStrategy::new();
        for (member, views) in self.of.iter().enumerate() {
            let mut by_action: BTreeMap<u32, Bitset> = BTreeMap::new();
            for (state, &view) in views.iter().enumerate() {
                if let Some(action) = strategy[view as usize] {
                    by_action.entry(action).or_insert_with(|| Bitset::empty(views.len())).insert(state);
                }
            }
            let choice = |(action, states)| Choice { member, action, states: Rc::new(states) };
            choices.extend(by_action.into_iter().map(choice));
        }
        choices
    }

    /// Returns the views at a state, one per member.
    fn at(&self, state: usize) -> impl Iterator<Item = View> + '_ {
        self.of.iter().map(move |views| views[state])
    }
}

/// A search for strategies in an arena.
struct StrategySearch<'a> {
    arena: &'a Arena<'a>,
    goal: &'a Goal,
    views: &'a Views,
    clock: Clock<'a>,
}

impl<'a> StrategySearch<'a> {
    fn new(arena: &'a Arena<'a>, goal: &'a Goal, views: &'a Views) -> StrategySearch<'a> {
        StrategySearch { arena, goal, views, clock: Clock::new(arena.budget) }
    }

    /// Returns for each view the action that most winning moves have at the states with this view.
    fn majority_actions(&mut self, upper: &Solved) -> FixedActions {
        let nothing: FixedActions = vec![None; self.views.options.len()];
        let mut votes: Vec<BTreeMap<u32, usize>> = vec![BTreeMap::new(); self.views.options.len()];
        for state in upper.win.iter().filter(|&state| !self.is_done(state)) {
            let Some(winning) = self.winning_move(state, &nothing, upper) else { continue };
            for (view, &action) in self.views.at(state).zip(self.arena.game.actions(winning)) {
                if action != ANY_ACTION {
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
}

impl UniformGame for StrategySearch<'_> {
    type Solution = Solved;

    fn n_states(&self) -> usize {
        self.arena.game.n_states()
    }

    fn aim(&self) -> UniformAim {
        match self.goal {
            Goal::Next(_) => UniformAim::Next,
            Goal::Reach(..) => UniformAim::Reach,
            Goal::Stay(..) => UniformAim::Stay,
        }
    }

    fn has_fairness(&self) -> bool {
        !self.arena.constraints.is_empty()
    }

    fn options(&self) -> &[Vec<u32>] {
        &self.views.options
    }

    fn views(&self, state: usize) -> impl Iterator<Item = View> {
        self.views.at(state)
    }

    fn moves(&self, state: usize) -> std::ops::Range<u32> {
        self.arena.game.moves(state)
    }

    fn owner(&self, index: u32) -> usize {
        self.arena.game.owner(index) as usize
    }

    fn actions(&self, index: u32) -> &[u32] {
        self.arena.game.actions(index)
    }

    fn targets(&self, index: u32) -> &[u32] {
        self.arena.game.targets(index)
    }

    fn is_total(&self, index: u32) -> bool {
        self.arena.game.is_total(index)
    }

    fn is_goal(&self, state: usize) -> bool {
        match self.goal {
            Goal::Next(goal) | Goal::Reach(_, goal) | Goal::Stay(_, goal) => goal.contains(state),
        }
    }

    fn is_outside(&self, state: usize) -> bool {
        match self.goal {
            Goal::Next(_) => false,
            Goal::Reach(inside, goal) | Goal::Stay(inside, goal) => {
                !inside.contains(state) && !goal.contains(state)
            }
        }
    }

    fn solve(&mut self, fixed: &[Option<u32>]) -> Result<Solved, Stop> {
        let allowed =
            Bitset::full(self.arena.game.n_moves()).filter(|index| self.follows(index as u32, fixed));
        Arena { allowed: Some(&allowed), ..*self.arena }.solve(self.goal)
    }

    fn is_won(&self, solved: &Solved, state: usize) -> bool {
        solved.win.contains(state)
    }

    fn order(&self, solved: &Solved, state: usize) -> u32 {
        solved.order.get(state).copied().unwrap_or_default()
    }

    fn check(&mut self) -> Result<(), Stop> {
        self.arena.budget.check()
    }

    fn tick(&mut self) -> Result<(), Stop> {
        self.clock.tick()
    }
}
