//! Replay of responses: for every choice of the group, the others have one that prevents the goal.

use std::collections::HashMap;

use masque_graph::has_cycle_meeting;
use masque_model::steps::{Neighbourhood, Step};
use masque_model::{ActionId, System};
use masque_verdict::claims::{CoalitionGoal, GoalKind, constraints_at, group_choices};
use masque_verdict::{Evidence, Reason, Response, Responses, Stage};

use crate::fault::Fault;
use crate::knowledge::leads_to;
use crate::strategy::{Claimed, is_asked};

/// The number of a state, and the progress of the others.
type Position = (u32, Stage);

/// Returns why the responses do not prevent a goal, or `None` if they do.
///
/// Every state to which they may lead is visited, and every choice of the group is tried. There must be a
/// response to it: a step of the system with that choice, or without fairness a joint action without
/// successor. Until the claims say that the goal is violated, they must say that the end has not come. If the
/// goal does not require an end, a violation must come: no cycle may avoid it. With fairness every path must
/// be infinite and meet each constraint infinitely often: no cycle may avoid a constraint.
pub(crate) fn confirm(
    system: &System,
    evidence: &Evidence,
    reason: &Reason,
    answers: &Responses,
    goal: &CoalitionGoal,
) -> Option<Fault> {
    let (here, from) = (evidence.state(reason.state), evidence.state(answers.from));
    if !is_asked(system, here, from, goal) {
        return Some(Fault::Seen);
    }
    if !leads_to(answers.path.as_ref(), reason.state, answers.from) {
        return Some(Fault::Ends);
    }
    let claimed = Claimed::new(evidence, &answers.claims);
    let mut rows: HashMap<(u32, Stage, &[ActionId]), &Response> = HashMap::new();
    let mut nearby = Neighbourhood::new(system);
    for row in &answers.rows {
        let number = nearby.number(evidence.state(row.state).clone());
        if rows.insert((number, row.stage, &row.actions), row).is_some() {
            return Some(Fault::NoAnswer);
        }
    }
    let start = nearby.number(from.clone());
    let mut visit = Visit { system, goal, claimed: &claimed, rows, nearby, nodes: Vec::new() };
    let seeks = (visit.is_fair() && goal.kind == GoalKind::Reach).then_some(0);
    let stage = Stage { violated: false, seeks };
    let first = match goal.kind {
        GoalKind::Next => (start, stage),
        GoalKind::Reach | GoalKind::Stay => visit.arrive(start, stage),
    };
    visit.nodes.push(first);
    visit.all(evidence).or_else(|| visit.play(evidence, answers))
}

struct Visit<'a> {
    system: &'a System,
    goal: &'a CoalitionGoal,
    claimed: &'a Claimed<'a>,
    rows: HashMap<(u32, Stage, &'a [ActionId]), &'a Response>,
    nearby: Neighbourhood<'a>,
    nodes: Vec<Position>,
}

impl Visit<'_> {
    fn is_fair(&self) -> bool {
        !self.system.fairness.is_empty()
    }

    /// The node at a state that is reached in this stage.
    fn arrive(&self, number: u32, stage: Stage) -> Position {
        let state = self.nearby.state(number);
        let is_bad = self.goal.violated_by().iter().all(|list| self.claimed.not_all(list, state));
        match (stage.violated || !is_bad, self.is_fair()) {
            (true, _) => (number, stage),
            (false, false) => (number, Stage { violated: true, seeks: None }),
            (false, true) => (number, Stage { violated: true, seeks: stage.seeks.or(Some(0)) }),
        }
    }

    /// Visits all nodes, and checks their cycles.
    fn all(&mut self, evidence: &Evidence) -> Option<Fault> {
        let mut edges: Vec<Vec<usize>> = Vec::new();
        let mut meets: Vec<Vec<bool>> = vec![Vec::new(); self.system.fairness.len()];
        let mut at = 0;
        while let Some(&(number, stage)) = self.nodes.get(at) {
            at += 1;
            let state = self.nearby.state(number).clone();
            let Some(met) = constraints_at(self.system, &state) else { return Some(Fault::NotSpoiled) };
            meets.iter_mut().zip(&met).for_each(|(meets, is_met)| meets.push(*is_met));
            let mut follow = Vec::new();
            if stage.violated && !self.is_fair() {
                edges.push(follow);
                continue;
            }
            let is_first = self.goal.kind == GoalKind::Next && at == 1;
            let may_go_on = self.goal.end.as_ref().is_none_or(|end| self.claimed.not_all(end, &state));
            if !stage.violated && !is_first && (self.goal.kind == GoalKind::Next || !may_go_on) {
                return Some(Fault::Claims);
            }
            let next = self.next_stage(stage, &met);
            for target in match self.answers(evidence, number, stage) {
                Ok(targets) => targets,
                Err(fault) => return Some(fault),
            } {
                let node = self.arrive(target, next);
                let index = self.nodes.iter().position(|known| *known == node);
                follow.push(index.unwrap_or_else(|| {
                    self.nodes.push(node);
                    self.nodes.len() - 1
                }));
            }
            if follow.is_empty() && self.is_fair() {
                return Some(Fault::NotSpoiled);
            }
            edges.push(follow);
        }
        // Whether a cycle consists of nodes that all satisfy `keep`.
        let has_cycle = |keep: &dyn Fn(usize) -> bool| {
            let part = edges.iter().enumerate().map(|(node, targets)| {
                let kept = |&&target: &&usize| keep(node) && keep(target);
                targets.iter().filter(kept).copied().collect::<Vec<usize>>()
            });
            has_cycle_meeting(&part.collect::<Vec<_>>(), &[])
        };
        let is_unfair = meets.iter().any(|meets| has_cycle(&|node| !meets[node]));
        let is_waiting = self.goal.kind == GoalKind::Stay && has_cycle(&|node| !self.nodes[node].1.violated);
        (is_unfair || is_waiting).then_some(Fault::NotSpoiled)
    }

    fn next_stage(&self, stage: Stage, met: &[bool]) -> Stage {
        let seeks = stage.seeks.map(|seeks| if met[seeks] { (seeks + 1) % met.len() } else { seeks });
        Stage { seeks, ..stage }
    }

    /// The states to which the responses to all choices at a node lead.
    fn answers(&mut self, evidence: &Evidence, number: u32, stage: Stage) -> Result<Vec<u32>, Fault> {
        let members = self.goal.members(self.system);
        let steps = self.nearby.steps(number).ok_or(Fault::NotSpoiled)?;
        let mut targets = Vec::new();
        for choice in group_choices(&members, &steps) {
            let Some(actions) = choice.actions else {
                targets.extend(choice.targets);
                continue;
            };
            let row = self.rows.get(&(number, stage, actions.as_slice())).ok_or(Fault::NoAnswer)?;
            let keeps_to = members.iter().zip(&actions).all(|(i, a)| row.joint.get(i.index()) == Some(a));
            let step = steps.iter().find(|step| step.joint.as_ref() == Some(&row.joint));
            let Some(step) = step else { return Err(Fault::NoAnswer) };
            if !keeps_to {
                return Err(Fault::NoAnswer);
            }
            match row.next {
                None if step.targets.is_empty() && !self.is_fair() => {}
                None => return Err(Fault::NoAnswer),
                Some(next) => {
                    let next = self.nearby.number(evidence.state(next).clone());
                    if !step.targets.contains(&next) {
                        return Err(Fault::NoAnswer);
                    }
                    targets.push(next);
                }
            }
        }
        Ok(targets)
    }

    /// Checks that the play follows the responses until the goal is violated for good.
    fn play(&mut self, evidence: &Evidence, answers: &Responses) -> Option<Fault> {
        let Responses { play, fair, from, .. } = answers;
        if play.states.first() != Some(from) {
            return Some(Fault::Ends);
        }
        let members = self.goal.members(self.system);
        let mut node = self.nodes[0];
        let mut passed = vec![node];
        for (position, joint) in play.actions.iter().enumerate() {
            let id = play.states.get(position + 1).or(play.back_to.map(|begin| &play.states[begin]))?;
            let next = self.nearby.number(evidence.state(*id).clone());
            if let Some(joint) = joint {
                let actions: Vec<ActionId> = members.iter().map(|i| joint[i.index()]).collect();
                let row = self.rows.get(&(node.0, node.1, actions.as_slice()));
                if row.is_none_or(|row| row.joint != *joint || row.next.is_none()) {
                    return Some(Fault::NoAnswer);
                }
            }
            let met = constraints_at(self.system, self.nearby.state(node.0))?;
            node = self.arrive(next, self.next_stage(node.1, &met));
            passed.push(node);
        }
        let is_over = |visit: &mut Self, (number, stage): Position| {
            let ends = |steps: &[Step]| group_choices(&members, steps).iter().all(|choice| !choice.is_total);
            stage.violated || visit.nearby.steps(number).is_some_and(|steps| ends(&steps))
        };
        let ends = match play.back_to {
            // The play repeats from there on.
            Some(begin) => passed.last() == passed.get(begin),
            None => !self.is_fair() && is_over(self, node),
        };
        let is_met = |(constraint, &position): (usize, &usize)| {
            let met =
                play.states.get(position).and_then(|&id| constraints_at(self.system, evidence.state(id)));
            play.back_to.is_some_and(|begin| position >= begin) && met.is_some_and(|met| met[constraint])
        };
        let n_needed = if play.back_to.is_some() { self.system.fairness.len() } else { 0 };
        if fair.len() != n_needed || !fair.iter().enumerate().all(is_met) {
            return Some(Fault::Unfair);
        }
        (!ends).then_some(Fault::Ends)
    }
}
