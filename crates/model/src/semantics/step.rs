//! One step: protocols, joint actions, evolution and overflow.

use super::{Ratio, State, is_true, value};
use crate::{ActionId, Agent, AgentId, Assignment, ExprId, Protocol, System, VarId};

/// Returns the actions an agent may perform in `state`, in increasing order.
///
/// ```text
/// P_i(g) = ⋃ {actions of l | l a protocol line of i, g ⊨ condition of l}
/// P_i(g) = actions of Other, if there is no such line
/// ```
///
/// If there is no such line and no `Other`, the agent has no action. An unconstrained protocol
/// (that of an Environment without protocol lines) enables all actions in all states.
pub fn enabled_actions(system: &System, agent: AgentId, state: &[i64]) -> Vec<ActionId> {
    let agent = system.agent(agent);
    let mut enabled = match &agent.protocol {
        Protocol::Unconstrained => (0..agent.actions.len() as u32).map(ActionId).collect(),
        Protocol::Lines { lines, other } => {
            let applies: Vec<_> = lines.iter().filter(|l| is_true(system, l.condition, state, &[])).collect();
            if applies.is_empty() {
                other.clone().unwrap_or_default()
            } else {
                applies.into_iter().flat_map(|l| l.actions.clone()).collect()
            }
        }
    };
    enabled.sort();
    enabled.dedup();
    enabled
}

/// Returns the joint actions enabled in `state`: all combinations of one enabled action per agent, in
/// lexicographic order. There is none if some agent has no action.
pub fn joint_actions(system: &System, state: &[i64]) -> Vec<Vec<ActionId>> {
    let mut joint = vec![Vec::new()];
    for agent in system.agent_ids() {
        let enabled = enabled_actions(system, agent, state);
        joint = product(&joint, &enabled, |joint, action| {
            let mut longer = joint.clone();
            longer.push(*action);
            longer
        });
    }
    joint
}

/// The result of one joint action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOutcome {
    /// The successors, in lexicographic order of their codes, each once.
    pub successors: Vec<State>,
    /// Whether a choice was removed because of an overflow.
    pub overflow: bool,
}

/// Computes the successors of `state` under the joint action `joint`, one action per agent.
///
/// All agents evolve at once, reading the old state and the joint action. Each agent (MultiAssignment) or
/// each of its variables (SingleAssignment) chooses one of its lines independently of the others; a
/// successor is a combination of one choice of each.
pub fn step(system: &System, state: &[i64], joint: &[ActionId]) -> StepOutcome {
    let mut outcome = StepOutcome { successors: vec![state.to_vec()], overflow: false };
    for agent in &system.agents {
        for lines in independent_lines(system.meaning.assignment, agent) {
            let enabled: Vec<_> =
                lines.iter().filter(|l| is_true(system, l.condition, state, joint)).collect();
            if enabled.is_empty() {
                continue; // No condition holds: the values are kept.
            }
            let choices: Vec<_> = enabled.iter().filter_map(|l| assigned(system, l, state, joint)).collect();
            outcome.overflow |= choices.len() < enabled.len();
            // If all choices are removed, there is no combination and hence no successor.
            outcome.successors = product(&outcome.successors, &choices, |old, choice| {
                let mut new = old.clone();
                choice.iter().for_each(|&(variable, value)| new[variable.index()] = value);
                new
            });
        }
    }
    outcome.successors.sort_by_key(|successor| codes(system, successor));
    outcome.successors.dedup();
    outcome
}

/// A line as a choice of an agent or of one variable.
struct Choice<'s> {
    condition: ExprId,
    assignments: &'s [(VarId, ExprId)],
}

/// Returns the agent's lines (MultiAssignment), or for each of its variables the lines that assign it
/// (SingleAssignment).
fn independent_lines(assignment: Assignment, agent: &Agent) -> Vec<Vec<Choice<'_>>> {
    let lines = agent.evolution.iter();
    match assignment {
        Assignment::Multi => {
            vec![lines.map(|l| Choice { condition: l.condition, assignments: &l.assignments }).collect()]
        }
        Assignment::Single => {
            let assigning = |variable: &VarId| {
                let lines = lines.clone();
                lines
                    .flat_map(|l| l.assignments.iter().map(|a| (l.condition, a)))
                    .filter(|(_, (target, _))| target == variable)
                    .map(|(condition, a)| Choice { condition, assignments: std::slice::from_ref(a) })
                    .collect()
            };
            agent.variables.iter().map(assigning).collect()
        }
    }
}

/// Returns the values a line assigns; `None` if one of them overflows: it is outside its target's domain,
/// a fraction, or the result of a division by zero.
fn assigned(
    system: &System,
    line: &Choice<'_>,
    state: &[i64],
    joint: &[ActionId],
) -> Option<Vec<(VarId, i64)>> {
    let assignment = |&(target, expr): &(VarId, ExprId)| {
        let value = value(system, expr, state, joint).and_then(Ratio::as_integer)?;
        system.variable(target).domain.contains(value).then_some((target, value))
    };
    line.assignments.iter().map(assignment).collect()
}

/// Returns the codes of a state's values: the order of states is the lexicographic order of these.
pub(super) fn codes(system: &System, state: &[i64]) -> Vec<u64> {
    let code = |(variable, &value): (&crate::Variable, _)| {
        variable.domain.code(value).expect("a state's values belong to their domains")
    };
    system.variables.iter().zip(state).map(code).collect()
}

fn product<A, B, C>(left: &[A], right: &[B], combine: impl Fn(&A, &B) -> C) -> Vec<C> {
    left.iter().flat_map(|a| right.iter().map(|b| combine(a, b)).collect::<Vec<C>>()).collect()
}
