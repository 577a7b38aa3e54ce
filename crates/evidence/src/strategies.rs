//! Strategies that show what a group can enforce, found near the states in question.
//!
//! The actions of views are fixed one after the other, as they are needed: a *view* is what decides
//! an action, the whole state with perfect information, a member and what it sees with uniform
//! strategies. With the actions fixed so far the game is solved as if all were seen (`rounds`); a
//! walk along winning moves either needs no two actions of one view, and is a strategy, or names the
//! view to be fixed next. Everything is taken in order, so the strategy is canonical. The search is
//! limited by counts.

use masque_model::steps::Step;
use masque_model::{ActionId, AgentId, Strategies};
use masque_verdict::claims::{CoalitionGoal, GoalKind, chosen_in};
use masque_verdict::{Budget, JointAction, Part, State, Stop};

use crate::explain::Explainer;
use crate::game::{Fixed, Game};
use crate::rounds::{Means, Solved};

/// So many states may occur in a strategy.
pub(crate) const MOST_VISITED: usize = 200;
/// So many games are solved, and so many states in all of them together.
const MOST_SOLVED: usize = 300;
const MOST_STATES_SOLVED: usize = 200_000;
/// So many states are looked at from which no fair run starts.
const MOST_OUTSIDE: usize = 2000;

/// The states and joint actions of a play, and where it goes on for ever.
pub(crate) type Play = (Vec<State>, Vec<Option<JointAction>>, Option<usize>);

/// A strategy that was found.
pub(crate) struct Plan {
    /// For each view with what it sees, a state seen so and the actions of its members.
    pub(crate) rows: Vec<(Vec<AgentId>, State, Vec<ActionId>)>,
    /// The states that it may lead to while the goal is not violated, those in question first, and
    /// whether each is an end.
    pub(crate) visited: Vec<(State, bool)>,
    /// A play against the worst opponents.
    pub(crate) play: Play,
    /// A fairness constraint that is not met on the loop of the play.
    pub(crate) unmet: Option<usize>,
}

impl Explainer<'_> {
    /// The states from which one strategy must do, if it is to do for a state, which comes first;
    /// none if there are too many.
    pub(crate) fn in_question(
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
            let region = [Part::Alike(agents, state.clone())];
            let (states, _) = self.oracle.first(&region, MOST_VISITED + 1, self.budget)?;
            for other in states {
                if !all.contains(&other) {
                    all.push(other);
                }
            }
            if all.len() > MOST_VISITED {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// A strategy for all of these states; none if it is too much to look for, or too long.
    pub(crate) fn strategy(&mut self, goal: &CoalitionGoal, from: &[State]) -> Result<Option<Plan>, Stop> {
        let Some(game) = Game::new(self, goal, from, false)? else { return Ok(None) };
        let mut search = Search { game };
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

/// A place in the game, and whether the goal has been violated on the way to it.
type Node = (usize, bool);

struct Search<'s> {
    game: Game<'s>,
}

impl Search<'_> {
    /// What to fix so that all states in question are won.
    fn search(&self, means: Means, budget: &Budget) -> Result<Option<Fixed>, Stop> {
        // Each level has a view and the choices still to be tried for it.
        let mut levels: Vec<(u32, Vec<Vec<ActionId>>)> = Vec::new();
        let mut fixed = Fixed::new();
        for _ in 0..MOST_SOLVED.min(MOST_STATES_SOLVED / self.game.n_states()) {
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

    /// Follows winning choices from the states in question; the view that would need two choices if
    /// there is one.
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

    fn start(&self) -> Vec<Node> {
        (0..self.game.n_from).map(|at| (at, self.is_violated(at))).collect()
    }

    /// Whether a state violates the goal, if it was not met before. Of a goal about the next state
    /// only that state can.
    fn is_violated(&self, at: usize) -> bool {
        self.game.goal.kind != GoalKind::Next && self.game.is_inside[at] && !self.game.is_good[at]
    }

    /// Adds where a choice may lead from a node.
    fn visit(&self, nodes: &mut Vec<Node>, (_, violated): Node, target: u32) {
        let at = target as usize;
        let violated = match self.game.goal.kind {
            // Behind the next state nothing is left but to be unfair.
            GoalKind::Next if violated || !self.game.is_end[at] => true,
            GoalKind::Next => return,
            GoalKind::Reach | GoalKind::Stay => violated || self.is_violated(at),
        };
        if !nodes.contains(&(at, violated)) {
            nodes.push((at, violated));
        }
    }

    /// Whether nothing is left to do at a node.
    fn is_over(&self, (at, violated): Node) -> bool {
        let game = &self.game;
        let is_done = !violated && game.goal.kind != GoalKind::Next && game.is_end[at];
        is_done || !game.is_inside[at] || game.is_fair() && game.choices[at].is_empty()
    }

    /// What a strategy does where it leads, and how it is played; none if that is too long.
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
            if nodes.len() > MOST_VISITED {
                return None;
            }
        }
        self.look_outside(&nodes)?;
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

    /// Explores what lies behind states from which no fair run starts, as replay will; none if that
    /// is too much.
    fn look_outside(&mut self, nodes: &[Node]) -> Option<()> {
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
            if numbers.len() > MOST_OUTSIDE {
                return None;
            }
        }
        Some(())
    }

    fn states_of(&self, nodes: &[Node]) -> Vec<State> {
        nodes.iter().map(|node| self.game.state(node.0).clone()).collect()
    }

    /// The play from the first state in question in which the others put off the end as long as they
    /// can; of several ways the least. If it goes on for ever and is not fair, a constraint that it
    /// does not meet.
    fn play(&mut self, fixed: &Fixed, solved: &Solved) -> Option<(Play, Option<usize>)> {
        let mut nodes: Vec<Node> = vec![self.start()[0]];
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
                // An end that is to come next.
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
