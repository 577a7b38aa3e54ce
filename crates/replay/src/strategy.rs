//! Replay of strategies: visits every state to which a strategy may lead.

use std::collections::{HashMap, HashSet};

use masque_graph::has_cycle_meeting;
use masque_model::steps::{Neighbourhood, Step};
use masque_model::{ActionId, AgentId, Strategies, System};
use masque_verdict::claims::{CoalitionGoal, GoalKind, chosen_in, constraints_at, group_choices, looks_same};
use masque_verdict::{Evidence, GroupStrategy, Literal, Reason, ReasonId, State, StateId};

use crate::fault::Fault;

/// The actions of each view: agents and the values they see.
type Decided = HashMap<(Vec<AgentId>, Vec<i64>), Vec<ActionId>>;

/// Returns why a strategy does not enforce a goal, or `None` if it does.
///
/// Every state to which it may lead is visited. The claims must say that the state is an end, or that
/// everything required before the end is true there; then the strategy must choose enabled actions for which
/// a step follows for all actions of the others. If the end must come, no cycle may avoid it. Each view has
/// one choice of actions, so the strategy is uniform.
///
/// With fairness, paths may end, they may contain cycles that do not meet all constraints, and they may lead
/// to states without claims. Everything reachable from such a state is visited, and no cycle there may meet
/// all constraints. The strategy need not choose actions there; then all actions are considered.
pub(crate) fn confirm(
    system: &System,
    evidence: &Evidence,
    reason: &Reason,
    strategy: &GroupStrategy,
    goal: &CoalitionGoal,
) -> Option<Fault> {
    if !is_in_question(system, evidence, reason, &strategy.from, goal) {
        return Some(Fault::Seen);
    }
    let Some(decided) = decided(system, evidence, strategy, goal) else { return Some(Fault::NoStrategy) };
    let claimed = Claimed::new(evidence, &strategy.claims);
    let mut visit = Visit {
        system,
        goal,
        decided: &decided,
        claimed: &claimed,
        members: goal.members(system),
        nearby: Neighbourhood::new(system),
        nodes: Vec::new(),
        numbers: HashMap::new(),
    };
    for &id in &strategy.from {
        let number = visit.nearby.number(evidence.state(id).clone());
        visit.node(number, false);
    }
    if let Some(fault) = visit.all() {
        return Some(fault);
    }
    visit.play(evidence, reason, strategy)
}

/// Claims about states.
pub(crate) struct Claimed<'e>(HashSet<(&'e State, Literal)>);

impl<'e> Claimed<'e> {
    pub(crate) fn new(evidence: &'e Evidence, ids: &[ReasonId]) -> Claimed<'e> {
        let claims = ids.iter().map(|&id| evidence.reason(id)).map(|claim| {
            let literal = Literal { formula: claim.formula, holds: claim.holds };
            (evidence.state(claim.state), literal)
        });
        Claimed(claims.collect())
    }

    /// Whether all of these literals are claimed to be true.
    pub(crate) fn all(&self, literals: &[Literal], state: &State) -> bool {
        literals.iter().all(|literal| self.0.contains(&(state, *literal)))
    }

    /// Whether one of these literals is claimed to be false.
    pub(crate) fn not_all(&self, literals: &[Literal], state: &State) -> bool {
        literals.iter().any(|literal| self.0.contains(&(state, literal.negated())))
    }
}

/// The number of a state, and whether the goal was violated on the way to it.
type Position = (u32, bool);

struct Visit<'a> {
    system: &'a System,
    goal: &'a CoalitionGoal,
    decided: &'a Decided,
    claimed: &'a Claimed<'a>,
    members: Vec<AgentId>,
    nearby: Neighbourhood<'a>,
    nodes: Vec<Position>,
    numbers: HashMap<Position, usize>,
}

impl Visit<'_> {
    fn node(&mut self, state: u32, violated: bool) -> usize {
        let next = self.nodes.len();
        *self.numbers.entry((state, violated)).or_insert_with(|| {
            self.nodes.push((state, violated));
            next
        })
    }

    fn is_end(&self, state: &State) -> bool {
        self.goal.end.as_ref().is_some_and(|end| self.claimed.all(end, state))
    }

    /// Visits all nodes, and checks their cycles.
    fn all(&mut self) -> Option<Fault> {
        let is_fair = !self.system.fairness.is_empty();
        let mut edges: Vec<Vec<usize>> = Vec::new();
        let mut meets: Vec<Vec<bool>> = vec![Vec::new(); self.system.fairness.len()];
        let mut at = 0;
        while let Some(&(number, violated)) = self.nodes.get(at) {
            at += 1;
            let state = self.nearby.state(number).clone();
            let Some(met) = constraints_at(self.system, &state) else { return Some(Fault::NotEnforced) };
            meets.iter_mut().zip(met).for_each(|(meets, is_met)| meets.push(is_met));
            if !violated && self.goal.kind != GoalKind::Next && self.is_end(&state) {
                edges.push(Vec::new());
                continue;
            }
            let Some(steps) = self.nearby.steps(number) else { return Some(Fault::NotEnforced) };
            let chosen = self.chosen(&state);
            let is_claimed = self.claimed.all(&self.goal.before, &state);
            let says_nothing = chosen.is_none() && steps.iter().any(|step| step.joint.is_some());
            let violated = violated || is_fair && (!is_claimed || says_nothing);
            if !violated && !is_claimed {
                return Some(Fault::Claims);
            }
            let mut choices = group_choices(&self.members, &steps);
            if chosen.is_some() || !violated {
                choices.retain(|choice| choice.actions.is_none() || choice.actions == chosen);
                if choices.is_empty() && !(is_fair && steps.is_empty()) {
                    return Some(Fault::NoStrategy);
                }
            }
            if !is_fair && choices.iter().any(|choice| !choice.is_total) {
                return Some(Fault::NotEnforced);
            }
            let mut follow = Vec::new();
            for &target in choices.iter().flat_map(|choice| &choice.targets) {
                if self.goal.kind == GoalKind::Next && !violated {
                    let is_end = self.is_end(self.nearby.state(target));
                    match (is_end, is_fair) {
                        (true, _) => continue,
                        (false, false) => return Some(Fault::Claims),
                        (false, true) => follow.push(self.node(target, true)),
                    }
                } else {
                    follow.push(self.node(target, violated));
                }
            }
            // Everything after this node counts as violated.
            if violated && !self.nodes[at - 1].1 {
                self.nodes[at - 1].1 = true;
            }
            edges.push(follow);
        }
        if self.goal.kind == GoalKind::Stay {
            // Infinite paths are allowed while the goal is not violated.
            for (node, edges) in self.nodes.iter().zip(&mut edges) {
                edges.retain(|_| node.1);
            }
        }
        has_cycle_meeting(&edges, &meets).then_some(Fault::NotEnforced)
    }

    /// The members' actions at a state, if the strategy defines them.
    fn chosen(&self, state: &State) -> Option<Vec<ActionId>> {
        let parts =
            self.goal.views(self.system, state).into_iter().map(|view| self.decided.get(&view).cloned());
        Some(parts.collect::<Option<Vec<_>>>()?.concat())
    }

    /// Checks that the play follows the strategy until it may end.
    fn play(&mut self, evidence: &Evidence, reason: &Reason, strategy: &GroupStrategy) -> Option<Fault> {
        let play = &strategy.play;
        if play.states.first() != Some(&reason.state) {
            return Some(Fault::Ends);
        }
        let state_at = |position: usize| evidence.state(play.states[position]);
        for (position, joint) in play.actions.iter().enumerate() {
            let Some(joint) = joint else { continue };
            let actions: Vec<ActionId> = self.members.iter().map(|i| joint[i.index()]).collect();
            if self.chosen(state_at(position)) != Some(actions) {
                return Some(Fault::NoStrategy);
            }
        }
        let is_fair = !self.system.fairness.is_empty();
        let are_claimed = |states: &[StateId]| {
            states.iter().all(|&id| self.claimed.all(&self.goal.before, evidence.state(id)))
        };
        let ends = match (play.back_to, strategy.unmet) {
            (Some(begin), Some(unmet)) => {
                let meets = |&id: &StateId| {
                    let met = constraints_at(self.system, evidence.state(id));
                    met.and_then(|met| met.get(unmet).copied()).unwrap_or(true)
                };
                !play.states[begin..].iter().any(meets)
            }
            (Some(_), None) => self.goal.kind == GoalKind::Stay && are_claimed(&play.states),
            (None, Some(_)) => false,
            (None, None) => {
                let last = state_at(play.states.len() - 1).clone();
                self.is_end(&last) || is_fair && self.is_over(&last)
            }
        };
        (!ends).then_some(Fault::Ends)
    }

    /// Whether the play may end at a state before the goal is met: the strategy allows no step there, or no
    /// fair path starts there for any actions.
    ///
    /// It does not matter whether the strategy defines actions at the state: a member may see the same values
    /// at another state where the strategy needs an action of that member.
    fn is_over(&mut self, state: &State) -> bool {
        let number = self.nearby.number(state.clone());
        let Some(steps) = self.nearby.steps(number) else { return false };
        let chosen = self.chosen(state);
        let follows = |step: &Step| {
            let actions = chosen_in(&self.members, step);
            (actions.is_none() || actions == chosen) && !step.targets.is_empty()
        };
        !steps.iter().any(follows) || self.starts_fair_run(number) == Some(false)
    }

    /// Whether a fair path starts at a state; `None` if there are too many states to visit.
    fn starts_fair_run(&mut self, start: u32) -> Option<bool> {
        let mut numbers = vec![start];
        let mut indices = HashMap::from([(start, 0)]);
        let mut edges: Vec<Vec<usize>> = Vec::new();
        let mut meets: Vec<Vec<bool>> = vec![Vec::new(); self.system.fairness.len()];
        while let Some(&number) = numbers.get(edges.len()) {
            let met = constraints_at(self.system, self.nearby.state(number))?;
            meets.iter_mut().zip(met).for_each(|(meets, is_met)| meets.push(is_met));
            let targets = self.nearby.successors(number)?.into_iter().map(|target| {
                *indices.entry(target).or_insert_with(|| {
                    numbers.push(target);
                    numbers.len() - 1
                })
            });
            let targets = targets.collect();
            edges.push(targets);
        }
        Some(has_cycle_meeting(&edges, &meets))
    }
}

/// Whether these states are the state of the claim and states that must be won together with it.
pub(crate) fn is_in_question(
    system: &System,
    evidence: &Evidence,
    reason: &Reason,
    from: &[StateId],
    goal: &CoalitionGoal,
) -> bool {
    from.first() == Some(&reason.state)
        && from.iter().all(|&id| is_asked(system, evidence.state(reason.state), evidence.state(id), goal))
}

/// Whether a state must be won together with `here`.
pub(crate) fn is_asked(system: &System, here: &State, state: &State, goal: &CoalitionGoal) -> bool {
    let members = goal.members(system);
    let mut alike = members.iter().map(|&i| looks_same(system, i, here, state));
    match goal.strategies {
        Strategies::Perfect | Strategies::UniformObjective => state == here,
        Strategies::UniformJoint => alike.all(|same| same),
        Strategies::Uniform => alike.any(|same| same),
    }
}

/// The actions of each view; `None` if a view occurs twice, or if a row does not fit the group.
fn decided(
    system: &System,
    evidence: &Evidence,
    strategy: &GroupStrategy,
    goal: &CoalitionGoal,
) -> Option<Decided> {
    let mut decided = Decided::new();
    for row in &strategy.rows {
        let views = goal.views(system, evidence.state(row.state));
        let view = views.into_iter().find(|(agents, _)| *agents == row.agents)?;
        let is_sound = row.actions.len() == row.agents.len() && row.sees == goal.sees(system, &row.agents);
        if !is_sound || decided.insert(view, row.actions.clone()).is_some() {
            return None;
        }
    }
    Some(decided)
}
