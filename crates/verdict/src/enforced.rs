//! Replay of strategies: all that may come of one, looked up step by step.

use std::collections::{HashMap, HashSet};

use masque_model::{ActionId, AgentId, Strategies, System};

use crate::explain::looks_same;
use crate::nearby::Nearby;
use crate::strategies::{Aim, Kind, choices};
use crate::{Evidence, Fault, Literal, Reason, State, Strategy};

/// What a view decides: what its agents do where they see what they see.
type Decided = HashMap<(Vec<AgentId>, Vec<i64>), Vec<ActionId>>;

/// Says why a strategy does not enforce an aim, if it does not.
///
/// Every state to which it may lead is visited. There the claims must say that it is an end, or all
/// that must be so before the end; then the strategy must choose enabled actions for which a step
/// follows whatever the others do. If the end must come, no way may lead round in a circle. Each view
/// has one choice of actions: so the strategy is uniform.
pub(crate) fn confirm(
    system: &System,
    evidence: &Evidence,
    reason: &Reason,
    strategy: &Strategy,
    aim: &Aim,
) -> Option<Fault> {
    if !is_in_question(system, evidence, reason, strategy, aim) {
        return Some(Fault::Seen);
    }
    let Some(decided) = decided(system, evidence, strategy, aim) else { return Some(Fault::NoStrategy) };
    let claimed: HashSet<(&State, Literal)> = strategy
        .claims
        .iter()
        .map(|&id| evidence.reason(id))
        .map(|claim| {
            let literal = Literal { formula: claim.formula, holds: claim.holds };
            (evidence.state(claim.state), literal)
        })
        .collect();
    let are_claimed =
        |literals: &[Literal], state: &State| literals.iter().all(|l| claimed.contains(&(state, *l)));
    let is_end = |state: &State| aim.end.as_ref().is_some_and(|end| are_claimed(end, state));
    let members = aim.members(system);
    let mut nearby = Nearby::new(system);
    let from: Vec<u32> = strategy.from.iter().map(|&id| nearby.number(evidence.state(id).clone())).collect();
    let mut visited: Vec<u32> = Vec::new();
    let mut seen: HashSet<u32> = HashSet::new();
    from.iter().for_each(|&state| {
        if seen.insert(state) {
            visited.push(state)
        }
    });
    let n_from = visited.len();
    let mut edges: Vec<Vec<u32>> = Vec::new();
    let mut at = 0;
    while let Some(&number) = visited.get(at) {
        at += 1;
        let state = nearby.state(number).clone();
        let is_done = match aim.kind {
            Kind::Next => at > n_from,
            Kind::Reach | Kind::Stay => is_end(&state),
        };
        if is_done {
            edges.push(Vec::new());
            continue;
        }
        if !are_claimed(&aim.before, &state) {
            return Some(Fault::Claims);
        }
        let Some(steps) = nearby.steps(number) else { return Some(Fault::NotEnforced) };
        let chosen = chosen(system, aim, &decided, &state);
        let choice =
            choices(&members, &steps).into_iter().find(|c| c.actions.is_none() || c.actions == chosen);
        let Some(choice) = choice else { return Some(Fault::NoStrategy) };
        if !choice.is_total {
            return Some(Fault::NotEnforced);
        }
        for &target in &choice.targets {
            if aim.kind == Kind::Next && !is_end(nearby.state(target)) {
                return Some(Fault::Claims);
            }
            if seen.insert(target) {
                visited.push(target);
            }
        }
        edges.push(choice.targets);
    }
    if aim.kind == Kind::Reach && has_circle(&visited, &edges) {
        return Some(Fault::NotEnforced);
    }
    let play = &strategy.play;
    if play.states.first() != Some(&reason.state) {
        return Some(Fault::Ends);
    }
    for (position, joint) in play.actions.iter().enumerate() {
        let Some(joint) = joint else { continue };
        let actions = members.iter().map(|i| joint[i.index()]).collect();
        if chosen(system, aim, &decided, evidence.state(play.states[position])) != Some(actions) {
            return Some(Fault::NoStrategy);
        }
    }
    let last = play.last().map(|last| evidence.state(last));
    let ends = play.back_to.is_some() && aim.kind == Kind::Stay || last.is_some_and(is_end);
    (!ends).then_some(Fault::Ends)
}

/// Whether the states from which the strategy is said to win are such as must be won together.
fn is_in_question(
    system: &System,
    evidence: &Evidence,
    reason: &Reason,
    strategy: &Strategy,
    aim: &Aim,
) -> bool {
    let here = evidence.state(reason.state);
    let members = aim.members(system);
    let is_asked = |state: &State| {
        let mut alike = members.iter().map(|&i| looks_same(system, i, here, state));
        match aim.strategies {
            Strategies::Perfect | Strategies::UniformObjective => state == here,
            Strategies::UniformJoint => alike.all(|same| same),
            Strategies::Uniform => alike.any(|same| same),
        }
    };
    strategy.from.first() == Some(&reason.state)
        && strategy.from.iter().all(|&id| is_asked(evidence.state(id)))
}

/// What each view decides; none if one decides twice, or rows are about somebody else.
fn decided(system: &System, evidence: &Evidence, strategy: &Strategy, aim: &Aim) -> Option<Decided> {
    let mut decided = Decided::new();
    for row in &strategy.rows {
        let views = aim.views(system, evidence.state(row.state));
        let view = views.into_iter().find(|(agents, _)| *agents == row.agents)?;
        let is_sound = row.actions.len() == row.agents.len() && row.sees == aim.sees(system, &row.agents);
        if !is_sound || decided.insert(view, row.actions.clone()).is_some() {
            return None;
        }
    }
    Some(decided)
}

/// What the members do at a state, if the strategy says it.
fn chosen(system: &System, aim: &Aim, decided: &Decided, state: &State) -> Option<Vec<ActionId>> {
    let parts = aim.views(system, state).into_iter().map(|view| decided.get(&view).cloned());
    Some(parts.collect::<Option<Vec<_>>>()?.concat())
}

/// Whether the edges from some of the nodes lead round in a circle.
fn has_circle(nodes: &[u32], edges: &[Vec<u32>]) -> bool {
    let places: HashMap<u32, usize> = nodes.iter().copied().zip(0..).collect();
    let mut n_into = vec![0_usize; nodes.len()];
    edges.iter().flatten().for_each(|target| n_into[places[target]] += 1);
    // Take away what nothing leads to, again and again: a circle stays.
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&place| n_into[place] == 0).collect();
    let mut n_left = nodes.len();
    while let Some(place) = open.pop() {
        n_left -= 1;
        for target in &edges[place] {
            let into = &mut n_into[places[target]];
            *into -= 1;
            if *into == 0 {
                open.push(places[target]);
            }
        }
    }
    n_left > 0
}
