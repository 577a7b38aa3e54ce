//! Finds the responses with which the other agents prevent a group from enforcing its goal.
//!
//! The others move knowing the group's choice. `opp(Z)` are the positions at which they can respond to every
//! choice such that the play leads into `Z`, or without fairness such that there is no successor. They
//! prevent the goal by violating it; with fairness a fair path must follow. See `spoiled` in
//! `model::semantics`:
//!
//! ```text
//! W = νZ. ⋀_c μY. now ∨ (through ∧ ((c ∧ opp(Z)) ∨ opp(Y)))
//! ```
//!
//! The rounds of the inner fixpoint for each constraint give the responses: move to a `c₁` through smaller
//! and smaller rounds, from there to a `c₂`, and so on. The only memory needed is the next constraint.

use masque_model::steps::Step;
use masque_model::{ActionId, Strategies};
use masque_verdict::claims::{CoalitionGoal, GoalKind, GroupChoice, chosen_in, group_choices};
use masque_verdict::{JointAction, Stage, State, Stop};

use crate::explain::Explainer;
use crate::game::Game;
use crate::strategies::{MAX_VISITED, Play};

/// Maximum number of responses in the evidence.
const MAX_RESPONSES: usize = 400;

/// Responses that were found.
pub(crate) struct Responses {
    /// Index of the given state from which the others win.
    pub(crate) from: usize,
    pub(crate) rows: Vec<Row>,
    /// States to which the responses lead while the goal is not violated before, and whether it is violated
    /// there.
    pub(crate) visited: Vec<(State, bool)>,
    pub(crate) play: Play,
    /// For each constraint, a position on the loop of the play at which it is true.
    pub(crate) fair: Vec<usize>,
}

/// A response: the state and the stage, the group's actions, the actions of all agents, and the next state.
pub(crate) struct Row {
    pub(crate) state: State,
    pub(crate) stage: Stage,
    pub(crate) actions: Vec<ActionId>,
    pub(crate) joint: JointAction,
    pub(crate) next: Option<State>,
}

/// Why there are no responses.
pub(crate) enum NoResponse {
    /// The group can enforce the goal from each of the states.
    Won,
    /// The search or the evidence exceeds a limit.
    TooMuch,
}

impl Explainer<'_> {
    /// Finds how the others prevent the goal from the first of these states from which they can, against a
    /// group with perfect information.
    pub(crate) fn responses(
        &mut self,
        goal: &CoalitionGoal,
        from: &[State],
    ) -> Result<Result<Responses, NoResponse>, Stop> {
        let goal = CoalitionGoal { strategies: Strategies::Perfect, ..goal.clone() };
        let goes_on = !self.system.fairness.is_empty();
        let Some(mut game) = Game::new(self, &goal, from, goes_on)? else {
            return Ok(Err(NoResponse::TooMuch));
        };
        let solution = Solution::new(&game);
        let Some(from) = (0..game.n_from).find(|&at| solution.wins(at)) else {
            return Ok(Err(NoResponse::Won));
        };
        Ok(solution.collect(&mut game, from).ok_or(NoResponse::TooMuch))
    }
}

/// For each constraint and position, the round in which the others win it; 0 if they do not.
type Rounds = Vec<Vec<usize>>;

/// A position of the game, and the progress of the others.
type Visited = (usize, Stage);

/// Solution of the game for the others.
struct Solution {
    /// Positions at which the others can keep the path fair; `None` without fairness.
    fair: Option<Rounds>,
    /// Positions at which the others can prevent the goal while it is not violated yet.
    goal: Rounds,
}

/// The result of a response.
enum Then {
    /// A joint action without successor.
    NoSuccessor(JointAction),
    /// The loop of a dead end.
    Loop(Visited),
    Step(JointAction, Visited),
}

impl Then {
    fn node(&self) -> Option<Visited> {
        match self {
            Then::NoSuccessor(_) => None,
            Then::Loop(node) | Then::Step(_, node) => Some(*node),
        }
    }
}

impl Solution {
    fn new(game: &Game<'_>) -> Solution {
        let n = game.n_states();
        let inside = game.is_inside.clone();
        let none = vec![false; n];
        let fair = game.is_fair().then(|| recurring(game, &inside, &none, &game.meets));
        let keeps = |at: usize| match &fair {
            Some(fair) => fair[0][at] > 0,
            None => true,
        };
        let now: Vec<bool> = (0..n).map(|at| is_violated(game, at) && keeps(at)).collect();
        let through: Vec<bool> = (0..n).map(|at| inside[at] && !game.is_end[at]).collect();
        let goal = match (game.goal.kind, game.is_fair()) {
            (GoalKind::Next, _) => {
                let bad: Vec<bool> = (0..n).map(|at| inside[at] && !game.is_end[at] && keeps(at)).collect();
                vec![(0..n).map(|at| usize::from(opp(game, at, |target| bad[target]))).collect()]
            }
            (GoalKind::Reach, true) => recurring(game, &through, &now, &game.meets),
            (GoalKind::Reach, false) => recurring(game, &through, &now, &[vec![true; n]]),
            (GoalKind::Stay, _) => vec![nearing(game, &through, &now, &none)],
        };
        Solution { fair, goal }
    }

    /// Whether the others prevent the goal from a position.
    fn wins(&self, at: usize) -> bool {
        self.goal.iter().all(|rounds| rounds[at] > 0)
    }

    /// The remaining rounds at a node; 0 if the others do not win there.
    fn rounds(&self, (at, stage): Visited) -> usize {
        let rounds = match (&self.fair, stage.violated) {
            (Some(fair), true) => fair,
            _ => &self.goal,
        };
        rounds[stage.seeks.unwrap_or(0)][at]
    }

    /// The node at a position that is reached in this stage.
    fn arrive(&self, game: &Game<'_>, at: usize, stage: Stage) -> Visited {
        let is_bad = match game.goal.kind {
            GoalKind::Next => !game.is_end[at],
            GoalKind::Reach | GoalKind::Stay => is_violated(game, at),
        };
        if stage.violated || !is_bad {
            return (at, stage);
        }
        let seeks = if self.fair.is_some() { stage.seeks.or(Some(0)) } else { None };
        (at, Stage { violated: true, seeks })
    }

    fn start(&self, game: &Game<'_>, from: usize) -> Visited {
        let seeks = (self.fair.is_some() && game.goal.kind == GoalKind::Reach).then_some(0);
        let stage = Stage { violated: false, seeks };
        match game.goal.kind {
            GoalKind::Next => (from, stage),
            GoalKind::Reach | GoalKind::Stay => self.arrive(game, from, stage),
        }
    }

    /// Whether the others have nothing left to do in a stage.
    fn is_over(&self, stage: Stage) -> bool {
        stage.violated && self.fair.is_none()
    }

    /// The choices of the group at a node, each with the response; `None` if there are too many steps.
    fn responses(
        &self,
        game: &mut Game<'_>,
        (at, stage): Visited,
    ) -> Option<Vec<(Option<Vec<ActionId>>, Then)>> {
        let steps = game.nearby.steps(game.numbers[at])?;
        let n_constraints = game.meets.len();
        // After a constraint is met, the next one is sought.
        let seeks =
            stage.seeks.map(|seeks| if game.meets[seeks][at] { (seeks + 1) % n_constraints } else { seeks });
        let stage = Stage { seeks, ..stage };
        let mut all = Vec::new();
        for GroupChoice { actions, targets, is_total } in group_choices(&game.members, &steps) {
            let same = |step: &&Step| chosen_in(&game.members, step) == actions;
            if !is_total && self.fair.is_none() {
                let ends = steps.iter().filter(same).find(|step| step.targets.is_empty())?;
                all.push((actions, Then::NoSuccessor(ends.joint.clone()?)));
                continue;
            }
            let best = *targets
                .iter()
                .filter(|target| self.remaining_rounds(game, **target, stage).is_some())
                .min_by_key(|target| self.remaining_rounds(game, **target, stage))?;
            let best = self.arrive(game, game.position_of(best)?, stage);
            let number = game.numbers[best.0];
            let step = steps.iter().filter(same).find(|step| step.targets.contains(&number))?;
            all.push((
                actions,
                match &step.joint {
                    Some(joint) => Then::Step(joint.clone(), best),
                    None => Then::Loop(best),
                },
            ));
        }
        Some(all)
    }

    /// The remaining rounds if the play continues at a state in this stage; `None` if the others do not win
    /// there.
    fn remaining_rounds(&self, game: &Game<'_>, number: u32, stage: Stage) -> Option<usize> {
        let at = game.position_of(number).filter(|&at| game.is_inside[at])?;
        let rounds = match (game.goal.kind, stage.violated, &self.fair) {
            (GoalKind::Next, false, _) if game.is_end[at] => 0,
            (GoalKind::Next, false, None) => 1,
            (GoalKind::Next, false, Some(fair)) => fair[0][at],
            _ => self.rounds((at, stage)),
        };
        (rounds > 0).then_some(rounds)
    }

    /// Collects the responses from a position on, and a play. Returns `None` if there are too many.
    fn collect(&self, game: &mut Game<'_>, from: usize) -> Option<Responses> {
        let start = self.start(game, from);
        let mut nodes = vec![start];
        let mut rows = Vec::new();
        let mut visited: Vec<(State, bool)> = Vec::new();
        let mut visit = |game: &Game<'_>, (at, stage): Visited| {
            let item = (game.state(at).clone(), stage.violated);
            if !visited.contains(&item) {
                visited.push(item);
            }
        };
        if game.goal.kind != GoalKind::Next {
            visit(game, start);
        }
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            if self.is_over(node.1) {
                continue;
            }
            for (actions, then) in self.responses(game, node)? {
                let target = then.node();
                // After a violation only fairness matters, so there are no further claims.
                if let Some(target) = target
                    && !node.1.violated
                {
                    visit(game, target);
                }
                if let Some(node) = target.filter(|node| !nodes.contains(node)) {
                    nodes.push(node);
                }
                let state = game.state(node.0).clone();
                let next = target.map(|node| game.state(node.0).clone());
                let (Some(actions), Then::NoSuccessor(joint) | Then::Step(joint, _)) = (actions, then) else {
                    continue;
                };
                rows.push(Row { state, stage: node.1, actions, joint, next });
            }
            if nodes.len() > MAX_VISITED || rows.len() > MAX_RESPONSES {
                return None;
            }
        }
        let (play, fair) = self.play(game, start)?;
        Some(Responses { from, rows, visited, play, fair })
    }

    /// The first play in which the group delays its defeat as long as it can.
    fn play(&self, game: &mut Game<'_>, start: Visited) -> Option<(Play, Vec<usize>)> {
        let mut nodes = vec![start];
        let mut joints = Vec::new();
        let back_to = loop {
            let node = nodes[nodes.len() - 1];
            if self.is_over(node.1) {
                break None;
            }
            let mut responses = self.responses(game, node)?;
            let lasts = |then: &Then| then.node().map_or(0, |node| 1 + self.rounds(node));
            let longest = responses.iter().map(|(_, then)| lasts(then)).max().unwrap_or(0);
            let Some(position) = responses.iter().position(|(_, then)| lasts(then) == longest) else {
                break None;
            };
            let (joint, next) = match responses.swap_remove(position).1 {
                Then::NoSuccessor(_) => break None,
                Then::Loop(next) => (None, next),
                Then::Step(joint, next) => (Some(joint), next),
            };
            joints.push(joint);
            if let Some(back_to) = nodes.iter().position(|node| *node == next) {
                break Some(back_to);
            }
            nodes.push(next);
        };
        let mut fair = Vec::new();
        if let Some(back_to) = back_to {
            for meets in &game.meets {
                fair.push((back_to..nodes.len()).find(|&position| meets[nodes[position].0])?);
            }
        }
        let states = nodes.iter().map(|node| game.state(node.0).clone()).collect();
        Some(((states, joints, back_to), fair))
    }
}

/// Whether the goal is violated at a position, if it was not met before.
fn is_violated(game: &Game<'_>, at: usize) -> bool {
    game.is_inside[at] && !game.is_good[at]
}

/// Whether the others can respond to every choice of the group such that the play leads to `is_good`.
fn opp(game: &Game<'_>, at: usize, is_good: impl Fn(usize) -> bool) -> bool {
    let is_good = |target: &u32| game.is_inside[*target as usize] && is_good(*target as usize);
    let goes_on = !game.is_fair() || !game.choices[at].is_empty();
    goes_on && game.choices[at].iter().all(|choice| choice.targets.iter().any(is_good))
}

/// `νZ. ⋀_c μY. now ∨ (through ∧ ((c ∧ opp(Z)) ∨ opp(Y)))`, with the rounds of the inner fixpoints.
fn recurring(game: &Game<'_>, through: &[bool], now: &[bool], constraints: &[Vec<bool>]) -> Rounds {
    let n = game.n_states();
    let mut z = vec![true; n];
    loop {
        let again: Vec<bool> = (0..n).map(|at| opp(game, at, |target| z[target])).collect();
        let rounds: Rounds = constraints
            .iter()
            .map(|c| {
                let there: Vec<bool> = (0..n).map(|at| through[at] && c[at] && again[at]).collect();
                nearing(game, through, now, &there)
            })
            .collect();
        let next: Vec<bool> = (0..n).map(|at| rounds.iter().all(|rounds| rounds[at] > 0)).collect();
        if next == z {
            return rounds;
        }
        z = next;
    }
}

/// `μY. now ∨ there ∨ (through ∧ opp(Y))`, as the round of each position.
fn nearing(game: &Game<'_>, through: &[bool], now: &[bool], there: &[bool]) -> Vec<usize> {
    let n = game.n_states();
    let mut rounds: Vec<usize> = (0..n).map(|at| usize::from(now[at] || there[at])).collect();
    for round in 2.. {
        let leads = |at: usize| opp(game, at, |target| rounds[target] > 0);
        let new: Vec<usize> = (0..n).filter(|&at| rounds[at] == 0 && through[at] && leads(at)).collect();
        if new.is_empty() {
            break;
        }
        new.into_iter().for_each(|at| rounds[at] = round);
    }
    rounds
}
