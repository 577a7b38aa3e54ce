//! What the others do so that a group cannot enforce its goal, found near the state.
//!
//! The others move knowing the group's choice. `opp(Z)` is where they can answer every choice so that
//! the play leads into `Z`; without fairness also so that no step follows at all. They have spoiled
//! the goal where it is violated, and with fairness a fair run must follow. See `spoiled` in
//! `model::semantics`:
//!
//! ```text
//! W = νZ. ⋀_c μY. now ∨ (through ∧ ((c ∧ opp(Z)) ∨ opp(Y)))
//! ```
//!
//! With the rounds of the inner fixpoint for each constraint the answers are at hand: walk to a `c₁`
//! in fewer and fewer rounds, from there to a `c₂`, and so on. That needs to remember which
//! constraint is next, and no more.

use masque_model::steps::Step;
use masque_model::{ActionId, Strategies};
use masque_verdict::claims::{CoalitionGoal, GoalKind, GroupChoice, chosen_in, group_choices};
use masque_verdict::{JointAction, Stage, State, Stop};

use crate::explain::Explainer;
use crate::game::Game;
use crate::strategies::{MOST_VISITED, Play};

/// So many answers are shown.
const MOST_ROWS: usize = 400;

/// What was found.
pub(crate) struct Reply {
    /// Which of the states in question the others win from.
    pub(crate) from: usize,
    pub(crate) rows: Vec<Row>,
    /// The states that the answers lead to while the goal is not violated before, and whether it is
    /// violated there.
    pub(crate) visited: Vec<(State, bool)>,
    pub(crate) play: Play,
    /// On the loop of the play, where each constraint is met.
    pub(crate) fair: Vec<usize>,
}

/// An answer: where and when, to what, what all do, and where it leads.
pub(crate) struct Row {
    pub(crate) state: State,
    pub(crate) stage: Stage,
    pub(crate) actions: Vec<ActionId>,
    pub(crate) joint: JointAction,
    pub(crate) next: Option<State>,
}

/// Why there are no answers.
pub(crate) enum NoReply {
    /// The group can enforce the goal from each of the states.
    Won,
    /// It is too much to look for, or too long.
    TooMuch,
}

impl Explainer<'_> {
    /// How the others spoil the goal from the first of these states from which they can, if the group
    /// sees all.
    pub(crate) fn answers(
        &mut self,
        goal: &CoalitionGoal,
        from: &[State],
    ) -> Result<Result<Reply, NoReply>, Stop> {
        let goal = CoalitionGoal { strategies: Strategies::Perfect, ..goal.clone() };
        let goes_on = !self.system.fairness.is_empty();
        let Some(mut game) = Game::new(self, &goal, from, goes_on)? else { return Ok(Err(NoReply::TooMuch)) };
        let spoils = Spoils::new(&game);
        let Some(from) = (0..game.n_from).find(|&at| spoils.wins(at)) else {
            return Ok(Err(NoReply::Won));
        };
        Ok(spoils.reply(&mut game, from).ok_or(NoReply::TooMuch))
    }
}

/// For each constraint and state the round in which it is won for the others; 0 if it is not.
type Rounds = Vec<Vec<usize>>;

/// A place in the game, and how far the others are.
type Node = (usize, Stage);

struct Spoils {
    /// Where a fair run can be kept; none without fairness.
    fair: Option<Rounds>,
    /// Where the goal can be spoiled while it is not violated yet.
    goal: Rounds,
}

/// What the others do at a node after a choice.
enum Then {
    /// A joint action that has no successor.
    Nothing(JointAction),
    /// The loop of a dead end.
    Loop(Node),
    Step(JointAction, Node),
}

impl Then {
    fn node(&self) -> Option<Node> {
        match self {
            Then::Nothing(_) => None,
            Then::Loop(node) | Then::Step(_, node) => Some(*node),
        }
    }
}

impl Spoils {
    fn new(game: &Game<'_>) -> Spoils {
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
        Spoils { fair, goal }
    }

    /// Whether the others spoil the goal from a state in question.
    fn wins(&self, at: usize) -> bool {
        self.goal.iter().all(|rounds| rounds[at] > 0)
    }

    /// The rounds that are left at a node; 0 if the others do not win there.
    fn rounds(&self, (at, stage): Node) -> usize {
        let rounds = match (&self.fair, stage.violated) {
            (Some(fair), true) => fair,
            _ => &self.goal,
        };
        rounds[stage.seeks.unwrap_or(0)][at]
    }

    /// The node at a state, after a node of this stage.
    fn arrive(&self, game: &Game<'_>, at: usize, stage: Stage) -> Node {
        let is_bad = match game.goal.kind {
            GoalKind::Next => !game.is_end[at],
            GoalKind::Reach | GoalKind::Stay => is_violated(game, at),
        };
        match stage.violated || !is_bad {
            true => (at, stage),
            false if self.fair.is_none() => (at, Stage { violated: true, seeks: None }),
            false => (at, Stage { violated: true, seeks: stage.seeks.or(Some(0)) }),
        }
    }

    fn start(&self, game: &Game<'_>, from: usize) -> Node {
        let seeks = (self.fair.is_some() && game.goal.kind == GoalKind::Reach).then_some(0);
        let stage = Stage { violated: false, seeks };
        match game.goal.kind {
            GoalKind::Next => (from, stage),
            GoalKind::Reach | GoalKind::Stay => self.arrive(game, from, stage),
        }
    }

    /// Whether nothing is left to do at a node.
    fn is_over(&self, stage: Stage) -> bool {
        stage.violated && self.fair.is_none()
    }

    /// The choices of the group at a node, each with its answer; none if that is too much.
    fn answers(&self, game: &mut Game<'_>, (at, stage): Node) -> Option<Vec<(Option<Vec<ActionId>>, Then)>> {
        let steps = game.nearby.steps(game.numbers[at])?;
        let n_constraints = game.meets.len();
        // A constraint that is met makes way for the next.
        let seeks = stage.seeks.map(|seeks| match game.meets[seeks][at] {
            true => (seeks + 1) % n_constraints,
            false => seeks,
        });
        let stage = Stage { seeks, ..stage };
        let mut all = Vec::new();
        for GroupChoice { actions, targets, is_total } in group_choices(&game.members, &steps) {
            let same = |step: &&Step| chosen_in(&game.members, step) == actions;
            if !is_total && self.fair.is_none() {
                let ends = steps.iter().filter(same).find(|step| step.targets.is_empty())?;
                all.push((actions, Then::Nothing(ends.joint.clone()?)));
                continue;
            }
            let best = *targets
                .iter()
                .filter(|target| self.left(game, **target, stage).is_some())
                .min_by_key(|target| self.left(game, **target, stage))?;
            let best = self.arrive(game, game.place_of(best)?, stage);
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

    /// The rounds that are left if the play goes on at a state in this stage; none if the others do
    /// not win so.
    fn left(&self, game: &Game<'_>, number: u32, stage: Stage) -> Option<usize> {
        let at = game.place_of(number).filter(|&at| game.is_inside[at])?;
        let rounds = match (game.goal.kind, stage.violated, &self.fair) {
            (GoalKind::Next, false, _) if game.is_end[at] => 0,
            (GoalKind::Next, false, None) => 1,
            (GoalKind::Next, false, Some(fair)) => fair[0][at],
            _ => self.rounds((at, stage)),
        };
        (rounds > 0).then_some(rounds)
    }

    fn reply(&self, game: &mut Game<'_>, from: usize) -> Option<Reply> {
        let start = self.start(game, from);
        let mut nodes = vec![start];
        let mut rows = Vec::new();
        let mut visited: Vec<(State, bool)> = Vec::new();
        let mut visit = |game: &Game<'_>, (at, stage): Node| {
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
            for (actions, then) in self.answers(game, node)? {
                let target = then.node();
                // Behind a violation nothing matters but that the run is fair.
                if let Some(target) = target.filter(|_| !node.1.violated) {
                    visit(game, target);
                }
                if let Some(node) = target.filter(|node| !nodes.contains(node)) {
                    nodes.push(node);
                }
                let state = game.state(node.0).clone();
                let next = target.map(|node| game.state(node.0).clone());
                let (Some(actions), Then::Nothing(joint) | Then::Step(joint, _)) = (actions, then) else {
                    continue;
                };
                rows.push(Row { state, stage: node.1, actions, joint, next });
            }
            if nodes.len() > MOST_VISITED || rows.len() > MOST_ROWS {
                return None;
            }
        }
        let (play, fair) = self.play(game, start)?;
        Some(Reply { from, rows, visited, play, fair })
    }

    /// The play in which the group puts off its defeat as long as it can; of several ways the first.
    fn play(&self, game: &mut Game<'_>, start: Node) -> Option<(Play, Vec<usize>)> {
        let mut nodes = vec![start];
        let mut joints = Vec::new();
        let back_to = loop {
            let node = nodes[nodes.len() - 1];
            if self.is_over(node.1) {
                break None;
            }
            let mut answers = self.answers(game, node)?;
            let lasts = |then: &Then| then.node().map_or(0, |node| 1 + self.rounds(node));
            let longest = answers.iter().map(|(_, then)| lasts(then)).max().unwrap_or(0);
            let Some(position) = answers.iter().position(|(_, then)| lasts(then) == longest) else {
                break None;
            };
            let (joint, next) = match answers.swap_remove(position).1 {
                Then::Nothing(_) => break None,
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

/// Whether the goal is violated at a state, if it was not met before.
fn is_violated(game: &Game<'_>, at: usize) -> bool {
    game.is_inside[at] && !game.is_good[at]
}

/// Whether the others can answer every choice of the group so that the play leads to such states.
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

/// `μY. now ∨ there ∨ (through ∧ opp(Y))`, with its rounds.
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
