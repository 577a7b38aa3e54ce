//! Runs of interpreted systems, followed by the definition of a step.

use std::collections::HashMap;

use masque_model::semantics::{enabled_actions, is_true};
use masque_model::steps::{
    JointAction, More, Moves, Product, State, first_initial_states, first_initial_states_with, joint_choices,
};
use masque_model::{ActionId, AgentId, Deadlock, System, VarId};
use masque_text::did_you_mean;
use masque_verdict::{Budget, Stop, Why};

use super::json_node::Fault;
use super::replay::{TraceVariable, VariableKind, value_code};
use super::track::{Alternative, Departure, Difference, MAX_ALTERNATIVES, Walk};
use super::{TraceAction, TraceRun};

/// Maximum number of joint actions and successors that the replay of one run tries.
const MAX_TRIED: u64 = 1 << 22;
/// Maximum number of initial states that fit the first state of a run.
const MAX_FITTING_INITIAL_STATES: usize = 1 << 16;
/// Maximum number of joint actions or initial states that are compared to list alternatives.
const MAX_COMPARED: usize = 1 << 12;

/// A step of a run, with the names resolved.
enum Given {
    /// The actions of some or all agents.
    Actions(Vec<Option<ActionId>>),
    /// The step of a dead end to itself.
    Stutter,
}

/// A run of an interpreted system.
pub(super) struct SystemWalk<'s> {
    system: &'s System,
    moves: Moves<'s>,
    budget: &'s Budget,
    /// For each state of the run, the values that it gives.
    states: Vec<Vec<Option<i64>>>,
    steps: Vec<Given>,
    n_tried: u64,
}

/// The variables of a system by their full names.
pub(super) fn variables(system: &System) -> Vec<TraceVariable> {
    let variable = |id: VarId| TraceVariable {
        name: system.full_name(id),
        kind: match system.variable(id).domain {
            masque_model::Domain::Boolean => VariableKind::Boolean,
            masque_model::Domain::Integers(..) => VariableKind::Integer,
            masque_model::Domain::Values(_) => VariableKind::Text,
        },
    };
    system.variable_ids().map(variable).collect()
}

impl<'s> SystemWalk<'s> {
    /// Resolves the names of a run.
    pub(super) fn new(system: &'s System, run: &TraceRun, budget: &'s Budget) -> Result<Self, Fault> {
        let variables = variables(system);
        let ids: HashMap<&str, usize> =
            variables.iter().enumerate().map(|(index, v)| (v.name.as_str(), index)).collect();
        let mut states = Vec::new();
        for state in &run.states {
            let mut row = vec![None; variables.len()];
            for (name, value) in &state.values {
                let Some(&index) = ids.get(name.as_str()) else {
                    return Err(unknown_variable(state.place.field(name), name, &variables));
                };
                let code = |text: &str| parse_value(system, VarId(index as u32), text);
                row[index] = Some(value_code(&state.place, &variables[index], value, code)?);
            }
            states.push(row);
        }
        let steps = run.steps.iter().map(|step| match &step.action {
            TraceAction::NotGiven => Ok(Given::Actions(vec![None; system.agents.len()])),
            TraceAction::Stutter => Ok(Given::Stutter),
            TraceAction::Joint(actions) => Ok(Given::Actions(joint(system, actions, &step.place)?)),
            TraceAction::Label(_) => {
                let message = "a step of an ISPL model is an object with the action of each agent";
                Err(Fault::new(step.place.clone(), message))
            }
        });
        let steps = steps.collect::<Result<_, Fault>>()?;
        Ok(SystemWalk { system, moves: Moves::new(system), budget, states, steps, n_tried: 0 })
    }

    /// Counts joint actions and successors that are tried.
    fn count(&mut self) -> Result<(), Stop> {
        self.n_tried += 1;
        if self.n_tried.is_multiple_of(64) {
            self.budget.check()?;
        }
        if self.n_tried > MAX_TRIED { Err(Why::States.into()) } else { Ok(()) }
    }

    /// The enabled joint actions in which these agents perform these actions.
    fn choices(&self, state: &State, given: &[Option<ActionId>]) -> Product<ActionId> {
        let mut all = joint_choices(self.system, state);
        for (enabled, action) in all.lists.iter_mut().zip(given) {
            enabled.retain(|enabled| action.is_none_or(|action| action == *enabled));
        }
        all
    }

    /// Whether the state stays as it is because it is a dead end and `--deadlock stutter` is in force.
    fn stutters(&self, state: &State, to: usize) -> Result<bool, Stop> {
        let may_stutter = self.system.meaning.deadlock == Deadlock::Stutter && fits(state, &self.states[to]);
        match may_stutter.then(|| self.moves.has_successor(state)) {
            None => Ok(false),
            Some(Some(has_successor)) => Ok(!has_successor),
            Some(None) => Err(Why::States.into()),
        }
    }

    fn successors(
        &mut self,
        state: &State,
        given: &[Option<ActionId>],
        to: usize,
    ) -> Result<Vec<State>, Stop> {
        let row = self.states[to].clone();
        let complete: Option<State> = row.iter().copied().collect();
        let is_free = given.iter().all(Option::is_none);
        if let (Some(next), true) = (&complete, is_free) {
            let found = self.moves.least_joint_action(state, next, self.budget)?;
            return Ok(found.map(|_| next.clone()).into_iter().collect());
        }
        let mut found = Vec::new();
        for joint in self.choices(state, given).iter() {
            self.count()?;
            if let Some(next) = &complete {
                if self.moves.leads_to(state, &joint, next) {
                    return Ok(vec![next.clone()]);
                }
                continue;
            }
            let mut successors = self.moves.successors(state, &joint);
            successors.restrict(&row);
            for next in successors.iter() {
                self.count()?;
                found.push(next);
            }
        }
        Ok(found)
    }

    fn differences(&self, state: &State, to: usize) -> Vec<Difference> {
        let pairs = self.system.variable_ids().zip(state.iter().zip(&self.states[to]));
        let difference = |(id, (&value, &given)): (VarId, (&i64, &Option<i64>))| {
            let given = given.filter(|given| *given != value)?;
            Some(Difference {
                variable: self.system.full_name(id),
                possible: self.system.value_text(id, value),
                given: self.system.value_text(id, given),
            })
        };
        pairs.filter_map(difference).collect()
    }

    fn initial_alternatives(&mut self) -> Departure {
        let (initial, _) = first_initial_states(self.system, MAX_COMPARED);
        let alternative =
            |state: &State| Alternative { differences: self.differences(state, 0), action: String::new() };
        let mut alternatives: Vec<Alternative> = initial.iter().map(alternative).collect();
        alternatives.sort_by_key(|alternative| alternative.differences.len());
        alternatives.truncate(MAX_ALTERNATIVES);
        let reason = initial.is_empty().then(|| "no initial state was found".to_string());
        Departure { alternatives, reason, ..Departure::default() }
    }

    /// The possible next state nearest to the run, for each joint action.
    fn nearest(&mut self, from: &[State], to: usize) -> Result<Vec<Alternative>, Stop> {
        let mut alternatives = Vec::new();
        for state in from {
            for joint in joint_choices(self.system, state).iter().take(MAX_COMPARED) {
                self.budget.check()?;
                let nearest = self.moves.successors(state, &joint).nearest(&self.states[to]);
                alternatives.extend(nearest.map(|next| Alternative {
                    differences: self.differences(&next, to),
                    action: self.joint_text(&joint),
                }));
            }
        }
        alternatives.sort_by_key(|alternative| alternative.differences.len());
        alternatives.truncate(MAX_ALTERNATIVES);
        Ok(alternatives)
    }

    fn joint_text(&self, joint: &JointAction) -> String {
        let named = self.system.agents.iter().zip(joint).filter_map(|(agent, action)| {
            let action = agent.actions.get(action.index())?;
            (!action.name.is_empty()).then(|| format!("{}: {}", agent.name, action.name))
        });
        named.collect::<Vec<_>>().join(", ")
    }

    /// The enabled actions of each agent.
    fn enabled(&self, state: &State) -> Vec<String> {
        let agents = self.system.agent_ids().zip(&self.system.agents);
        let of_agent = |(id, agent): (AgentId, &masque_model::Agent)| {
            let enabled = enabled_actions(self.system, id, state);
            let names: Vec<&str> = enabled.iter().map(|a| agent.actions[a.index()].name.as_str()).collect();
            match names[..] {
                [] => Some(format!("{}: none", agent.name)),
                [""] => None,
                _ => Some(format!("{}: {}", agent.name, names.join(" or "))),
            }
        };
        agents.filter_map(of_agent).collect()
    }

    /// Why a step is not possible in these states, apart from its next state.
    fn reason(&self, from: &[State], step: usize) -> Option<String> {
        let state = from.first()?;
        match &self.steps[step] {
            Given::Stutter if self.system.meaning.deadlock != Deadlock::Stutter => {
                Some("only with `--deadlock stutter` does a state have a step without actions".to_string())
            }
            Given::Stutter => Some("only a dead end has a step without actions".to_string()),
            Given::Actions(actions) => {
                let agents = self.system.agent_ids().zip(&self.system.agents).zip(actions);
                let disabled = agents.filter_map(|((id, agent), action)| {
                    let action = (*action)?;
                    let is_enabled =
                        |state: &State| enabled_actions(self.system, id, state).contains(&action);
                    let name = &agent.actions[action.index()].name;
                    (!from.iter().any(is_enabled)).then(|| format!("`{}.Action = {name}`", agent.name))
                });
                let disabled: Vec<String> = disabled.collect();
                match disabled.len() {
                    0 if joint_choices(self.system, state).is_empty() => {
                        Some("some agent has no enabled action".to_string())
                    }
                    0 => (actions.iter().any(Option::is_some))
                        .then(|| "the given actions do not lead to this state".to_string()),
                    1 => Some(format!("{} is not enabled", disabled[0])),
                    _ => Some(format!("{} are not enabled", disabled.join(" and "))),
                }
            }
        }
    }
}

impl Walk for SystemWalk<'_> {
    type State = State;

    fn start(&mut self) -> Result<Vec<State>, Stop> {
        let row = &self.states[0];
        if let Some(state) = row.iter().copied().collect::<Option<State>>() {
            let is_initial = is_true(self.system, self.system.initial, &state, &[]);
            return Ok(if is_initial { vec![state] } else { Vec::new() });
        }
        match first_initial_states_with(self.system, row, MAX_FITTING_INITIAL_STATES) {
            (states, More::No) => Ok(states),
            _ => Err(Why::States.into()),
        }
    }

    fn follow(&mut self, from: &State, step: usize, to: usize) -> Result<Vec<State>, Stop> {
        self.budget.check()?;
        let (mut found, may_stutter) = match &self.steps[step] {
            Given::Stutter => (Vec::new(), true),
            Given::Actions(given) => {
                let given = given.clone();
                (self.successors(from, &given, to)?, given.iter().all(Option::is_none))
            }
        };
        if may_stutter && found.is_empty() && self.stutters(from, to)? {
            found.push(from.clone());
        }
        Ok(found)
    }

    fn possible(&mut self, from: &[State], step: usize, to: usize) -> Result<Departure, Stop> {
        let Some(first) = from.first() else { return Ok(self.initial_alternatives()) };
        let (enabled, reason) = (self.enabled(first), self.reason(from, step));
        let mut alternatives = self.nearest(from, to)?;
        if alternatives.is_empty() && self.system.meaning.deadlock == Deadlock::Stutter {
            let differences = self.differences(first, to);
            alternatives.push(Alternative { differences, action: "no action: a dead end".to_string() });
        }
        Ok(Departure { reason, enabled, alternatives, ..Departure::default() })
    }

    fn values(&self, state: &State) -> Vec<(String, String)> {
        let named = self.system.variable_ids().zip(state);
        named.map(|(id, value)| (self.system.full_name(id), self.system.value_text(id, *value))).collect()
    }
}

/// Whether a state has the values that a state of a run gives.
fn fits(state: &[i64], row: &[Option<i64>]) -> bool {
    state.iter().zip(row).all(|(value, given)| given.is_none_or(|given| given == *value))
}

/// Reads a value of a variable as the language writes it.
fn parse_value(system: &System, id: VarId, text: &str) -> Option<i64> {
    let domain = &system.variable(id).domain;
    let value = match domain {
        masque_model::Domain::Boolean => i64::from(text.parse::<bool>().ok()?),
        masque_model::Domain::Integers(..) => text.parse().ok()?,
        masque_model::Domain::Values(values) => {
            let is_named = |symbol: &&masque_model::SymbolId| system.symbols[symbol.index()] == text;
            i64::from(values.iter().find(is_named)?.0)
        }
    };
    domain.contains(value).then_some(value)
}

/// Resolves the actions of a step.
fn joint(
    system: &System,
    actions: &[(String, String)],
    place: &super::Place,
) -> Result<Vec<Option<ActionId>>, Fault> {
    let mut joint = vec![None; system.agents.len()];
    for (name, action) in actions {
        let Some(agent) = system.agents.iter().position(|agent| agent.name == *name) else {
            let help = did_you_mean(name, system.agents.iter().map(|agent| &agent.name));
            return Err(Fault::new(place.field(name), format!("the model has no agent `{name}`")).help(help));
        };
        let known = &system.agents[agent].actions;
        let Some(index) = known.iter().position(|known| known.name == *action) else {
            let help = did_you_mean(action, known.iter().map(|known| &known.name));
            let message = format!("agent `{name}` has no action `{action}`");
            return Err(Fault::new(place.field(name), message).help(help));
        };
        joint[agent] = Some(ActionId(index as u32));
    }
    Ok(joint)
}

/// The fault that the model has no such variable.
pub(super) fn unknown_variable(place: super::Place, name: &str, known: &[TraceVariable]) -> Fault {
    let help = did_you_mean(name, known.iter().map(|variable| &variable.name));
    Fault::new(place, format!("the model has no variable `{name}`")).help(help)
}
