//! Finds a strategy that shows what a group can enforce, near the states from which it must win.
//!
//! The actions of views are fixed one after the other, as needed. A *view* is that on which an action may
//! depend: the whole state with perfect information, a member and what it sees with uniform strategies. The
//! game is solved with perfect information, except that fixed actions are followed (`rounds`). A walk along
//! winning choices either needs at most one action per view, and is a strategy, or finds the view to be
//! fixed next. Everything is tried in order, so the strategy is canonical. The search is limited by counts
//! of games and states.

use masque_model::steps::Step;
use masque_model::{ActionId, AgentId, Strategies};
use masque_verdict::claims::{CoalitionGoal, GoalKind, chosen_in};
use masque_verdict::{Budget, JointAction, RegionPart, State, Stop};

use crate::explain::Explainer;
use crate::game::{Fixed, Game};
use crate::rounds::{Means, Solved};

/// Maximum number of states that a strategy may visit.
pub(crate) const MAX_VISITED: usize = 200;
/// Maximum number of games that are solved.
const MAX_SOLVED_GAMES: usize = 300;
/// Maximum number of states in all solved games together.
const MAX_SOLVED_STATES: usize = 200_000;
/// Maximum number of explored states at which no fair path starts.
const MAX_UNFAIR_STATES: usize = 2000;

/// The states and joint actions of a play, and the index at which its loop begins, if it has one.
pub(crate) type Play = (Vec<State>, Vec<Option<JointAction>>, Option<usize>);

/// A strategy that was found.
pub(crate) struct Plan {
    /// For each view: its members, a state with the values they see, and their actions.
    pub(crate) rows: Vec<(Vec<AgentId>, State, Vec<ActionId>)>,
    /// States to which the strategy may lead while the goal is not violated, and whether each is an end. The
    /// states from which it must win come first.
    pub(crate) visited: Vec<(State, bool)>,
    /// Play against opponents who delay the end as long as they can.
    pub(crate) play: Play,
    /// Index of a fairness constraint that is not met on the loop of the play.
    pub(crate) unmet: Option<usize>,
}

impl Explainer<'_> {
    /// Returns the states from which a strategy must win together with `state`, which comes first. Returns
    /// `None` if there are too many.
    pub(crate) fn states_to_win(
        &mut self,
        goal: &CoalitionGoal,
        state: &State,
    ) -> Result<Option<Vec<State>>, Stop> {
        let members = goal.members(self.system);
        let regions: Vec<Vec<AgentId>> = match goal.strategies {
            Strategies::Perfect | Strategies::UniformObjective => Vec::new(),
            Strategies::UniformJoint => vec![members],
            Strategies::Uniform => members.into_iter().map(|i| vec![i]).collect(),
        };
        let mut all = vec![state.clone()];
        for agents in regions {
            let region = [RegionPart::Alike(agents, state.clone())];
            let (states, _) = self.oracle.first(&region, MAX_VISITED + 1, self.budget)?;
            for other in states {
                if !all.contains(&other) {
                    all.push(other);
                }
            }
            if all.len() > MAX_VISITED {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// Finds a strategy that wins from all of these states. Returns `None` if the search or the strategy
    /// exceeds a limit.
    pub(crate) fn strategy(&mut self, goal: &CoalitionGoal, from: &[State]) -> Result<Option<Plan>, Stop> {
        let Some(game) = Game::new(self, goal, from, false)? else { return Ok(None) };
        let mut search = StrategySearch { game };
        for &means in search.game.means() {
            if means == Means::Unfairly {
                let Some(game) = Game::new(self, goal, from, true)? else { return Ok(None) };
                search.game = game;
            }
            if let Some(fixed) = search.search(means, self.budget)? {
                return Ok(search.plan(means, &fixed));
            }
        }
        Ok(None)
    }
}

/// A position of the game, and whether the goal was violated on the way to it.
type Visited = (usize, bool);

struct StrategySearch<'s> {
    game: Game<'s>,
}

impl StrategySearch<'_> {
    /// Finds actions to fix such that the group wins from all given states.
    fn search(&self, means: Means, budget: &Budget) -> Result<Option<Fixed>, Stop> {
        // Each level has a view and the choices to be tried for it.
        let mut levels: Vec<(u32, Vec<Vec<ActionId>>)> = Vec::new();
        let mut fixed = Fixed::new();
        for _ in 0..MAX_SOLVED_GAMES.min(MAX_SOLVED_STATES / self.game.n_states()) {
            budget.check()?;
            let solved = self.game.solve(means, &fixed);
            if (0..self.game.n_from).all(|at| solved.wins(at)) {
                match self.walk(&solved, &fixed) {
                    Ok(strategy) => return Ok(Some(strategy)),
                    Err(view) => levels.push((view, self.game.options(view))),
                }
            }
            loop {
                let Some((view, options)) = levels.last_mut() else { return Ok(None) };
                if options.is_empty() {
                    fixed.remove(view);
                    levels.pop();
                    continue;
                }
                fixed.insert(*view, options.remove(0));
                break;
            }
        }
        Ok(None)
    }

    /// Follows winning choices from the given states. Fails with a view that would need two choices.
    fn walk(&self, solved: &Solved, fixed: &Fixed) -> Result<Fixed, u32> {
        let game = &self.game;
        let mut chosen = fixed.clone();
        let mut nodes = self.start();
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            let at = node.0;
            if self.is_over(node) {
                continue;
            }
            let Some(choice) = game.winning(at, solved, &chosen) else {
                let first = game.winning(at, solved, fixed).and_then(|choice| choice.actions.as_ref());
                let clashes = |(position, view): &(usize, &u32)| {
                    let part = first.map(|actions| game.part(actions, *position));
                    chosen.get(view).is_some_and(|chosen| Some(chosen) != part.as_ref())
                };
                let clash = game.views[at].iter().enumerate().find(clashes);
                return Err(clash.map_or(game.views[at][0], |(_, view)| *view));
            };
            if let Some(actions) = &choice.actions {
                for (position, &view) in game.views[at].iter().enumerate() {
                    chosen.insert(view, game.part(actions, position));
                }
            }
            choice.targets.iter().for_each(|&target| self.visit(&mut nodes, node, target));
        }
        Ok(chosen)
    }

    fn start(&self) -> Vec<Visited> {
        (0..self.game.n_from).map(|at| (at, self.is_violated(at))).collect()
    }

    /// Whether a position violates the goal, if the goal was not met before. For `X` only the next state
    /// can, which `visit` checks.
    fn is_violated(&self, at: usize) -> bool {
        self.game.goal.kind != GoalKind::Next && self.game.is_inside[at] && !self.game.is_good[at]
    }

    /// Adds a position to which a choice may lead.
    fn visit(&self, nodes: &mut Vec<Visited>, (_, violated): Visited, target: u32) {
        let at = target as usize;
        let violated = match self.game.goal.kind {
            // After the next state only unfairness can still win.
            GoalKind::Next if violated || !self.game.is_end[at] => true,
            GoalKind::Next => return,
            GoalKind::Reach | GoalKind::Stay => violated || self.is_violated(at),
        };
        if !nodes.contains(&(at, violated)) {
            nodes.push((at, violated));
        }
    }

    /// Whether the group has nothing left to do.
    fn is_over(&self, (at, violated): Visited) -> bool {
        let game = &self.game;
        let is_done = !violated && game.goal.kind != GoalKind::Next && game.is_end[at];
        is_done || !game.is_inside[at] || game.is_fair() && game.choices[at].is_empty()
    }

    /// Collects the choices of a strategy, the states it visits, and a play. Returns `None` if there are too
    /// many states.
    fn plan(&mut self, means: Means, fixed: &Fixed) -> Option<Plan> {
        let solved = self.game.solve(means, fixed);
        let mut rows: Vec<(u32, Vec<AgentId>, State, Vec<ActionId>)> = Vec::new();
        let mut nodes = self.start();
        let mut ends: Vec<usize> = Vec::new();
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            if self.is_over(node) {
                continue;
            }
            let at = node.0;
            let state = self.game.state(at).clone();
            let choice = self.game.winning(at, &solved, fixed)?;
            if let Some(actions) = &choice.actions {
                let agents = self.game.goal.views(self.game.system, &state);
                for (position, (&view, (agents, _))) in self.game.views[at].iter().zip(agents).enumerate() {
                    if rows.iter().all(|row| row.0 != view) {
                        rows.push((view, agents, state.clone(), self.game.part(actions, position)));
                    }
                }
            }
            choice.targets.iter().for_each(|&target| self.visit(&mut nodes, node, target));
            if self.game.goal.kind == GoalKind::Next && !node.1 {
                ends.extend(choice.targets.iter().map(|&t| t as usize).filter(|&t| self.game.is_end[t]));
            }
            if nodes.len() > MAX_VISITED {
                return None;
            }
        }
        self.explore_unfair_states(&nodes)?;
        let mut visited: Vec<(usize, bool)> = Vec::new();
        let is_end = |at: usize| self.game.goal.kind != GoalKind::Next && self.game.is_end[at];
        let met = nodes.iter().filter(|(at, violated)| !violated && self.game.is_inside[*at]);
        let met = met.map(|&(at, _)| (at, is_end(at))).chain(ends.into_iter().map(|at| (at, true)));
        for item in met {
            if !visited.contains(&item) {
                visited.push(item);
            }
        }
        let visited = visited.into_iter().map(|(at, is_end)| (self.game.state(at).clone(), is_end)).collect();
        let rows = rows.into_iter().map(|(_, agents, state, actions)| (agents, state, actions)).collect();
        let (play, unmet) = self.play(fixed, &solved)?;
        Some(Plan { rows, visited, play, unmet })
    }

    /// Explores everything reachable from states at which no fair path starts, because replay will do so too.
    /// Returns `None` if that exceeds the limit.
    fn explore_unfair_states(&mut self, nodes: &[Visited]) -> Option<()> {
        let outside = nodes.iter().map(|node| node.0).filter(|&at| !self.game.is_inside[at]);
        let mut numbers: Vec<u32> = outside.map(|at| self.game.numbers[at]).collect();
        let mut next = 0;
        while let Some(&number) = numbers.get(next) {
            next += 1;
            for target in self.game.nearby.successors(number)? {
                if !numbers.contains(&target) {
                    numbers.push(target);
                }
            }
            if numbers.len() > MAX_UNFAIR_STATES {
                return None;
            }
        }
        Some(())
    }

    fn states_of(&self, nodes: &[Visited]) -> Vec<State> {
        nodes.iter().map(|node| self.game.state(node.0).clone()).collect()
    }

    /// The least play from the first given state in which the others delay the end as long as they can. If it
    /// is infinite and not fair, also the index of a constraint that it does not meet.
    fn play(&mut self, fixed: &Fixed, solved: &Solved) -> Option<(Play, Option<usize>)> {
        let mut nodes: Vec<Visited> = vec![self.start()[0]];
        let mut joints = Vec::new();
        loop {
            let node = nodes[nodes.len() - 1];
            let at = node.0;
            if self.is_over(node) {
                return Some(((self.states_of(&nodes), joints, None), None));
            }
            let choice = self.game.winning(at, solved, fixed)?.clone();
            if choice.targets.is_empty() {
                return Some(((self.states_of(&nodes), joints, None), None));
            }
            let later = |target: &&u32| std::cmp::Reverse(solved.distance(**target as usize));
            let worst = match self.game.goal.kind {
                GoalKind::Stay if !solved.goes_on() => *choice.targets.first()?,
                _ => *choice.targets.iter().min_by_key(later)?,
            };
            let number = self.game.numbers[worst as usize];
            let steps = self.game.nearby.steps(self.game.numbers[at])?;
            let plays = |step: &&Step| {
                chosen_in(&self.game.members, step) == choice.actions && step.targets.contains(&number)
            };
            joints.push(steps.iter().find(plays)?.joint.clone());
            let mut next = Vec::new();
            self.visit(&mut next, node, worst);
            let Some(&next) = next.first() else {
                // The end of an `X` goal.
                nodes.push((worst as usize, false));
                return Some(((self.states_of(&nodes), joints, None), None));
            };
            if let Some(back_to) = nodes.iter().position(|node| *node == next) {
                let round = &nodes[back_to..];
                let is_unmet = |meets: &Vec<bool>| round.iter().all(|node| !meets[node.0]);
                let unmet = self.game.meets.iter().position(is_unmet);
                return Some(((self.states_of(&nodes), joints, Some(back_to)), unmet));
            }
            nodes.push(next);
        }
    }
}
