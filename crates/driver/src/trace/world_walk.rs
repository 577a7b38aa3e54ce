//! Runs in one world of a BDI file, followed on the states that the world keeps.

use masque_bdi::model::{ActionId, Domain, PointId, State, VarId};
use masque_bdi::plan::WorldId;
use masque_bdi::symbolic::{Engine, StatePattern};
use masque_verdict::{Stop, Why};

use super::json_node::Fault;
use super::replay::{TraceVariable, VariableKind, value_code};
use super::system_walk::unknown_variable;
use super::track::{Alternative, Departure, Difference, Walk};
use super::{ACTION_VARIABLE, POINT_VARIABLE, TraceAction, TraceRun};
use crate::languages::bdi::Worlds;

/// Maximum number of states that fit one state of a run.
const MAX_FITTING_STATES: usize = 1 << 12;
/// Maximum number of states that are compared to list alternatives.
const MAX_COMPARED: usize = 1 << 8;

/// A run in a world, with the names resolved.
#[derive(Clone, Debug)]
pub(super) struct WorldRun {
    world: WorldId,
    states: Vec<StatePattern>,
}

/// The variables of a world: the point of its program, the last action, and those of the program.
pub(super) fn variables(worlds: &Worlds, world: WorldId) -> Vec<TraceVariable> {
    let Worlds { programs, plan } = worlds;
    let own = programs.program(plan.program(world)).vars.iter().map(|&id| {
        let var = programs.var(id);
        let kind = match var.domain {
            Domain::Bool => VariableKind::Boolean,
            Domain::Range(..) => VariableKind::Integer,
            Domain::Enum(_) => VariableKind::Text,
        };
        TraceVariable { name: var.name.clone(), kind }
    });
    let point = TraceVariable { name: POINT_VARIABLE.to_string(), kind: VariableKind::Integer };
    let action = TraceVariable { name: ACTION_VARIABLE.to_string(), kind: VariableKind::Text };
    [point, action].into_iter().chain(own).collect()
}

/// The world with a name; the top world without one.
pub(super) fn find_world(worlds: &Worlds, name: Option<&str>) -> Option<WorldId> {
    let mut paths = worlds.plan.paths.iter();
    match name {
        None => paths.next().map(|path| path.world),
        Some(name) => paths.find(|path| path.text == name).map(|path| path.world),
    }
}

impl WorldRun {
    /// Resolves the names of a run.
    pub(super) fn new(worlds: &Worlds, run: &TraceRun) -> Result<WorldRun, Fault> {
        let Some(world) = find_world(worlds, run.world.as_deref()) else {
            let name = run.world.as_deref().unwrap_or_default();
            return Err(Fault::new(run.states[0].place.clone(), format!("the model has no world `{name}`")));
        };
        if let Some(step) = run.steps.iter().find(|step| step.action != TraceAction::NotGiven) {
            let message = format!(
                "a step of a BDI world has no action; it is the `{ACTION_VARIABLE}` of the next state"
            );
            return Err(Fault::new(step.place.clone(), message));
        }
        let Worlds { programs, plan } = worlds;
        let program = programs.program(plan.program(world));
        let known = variables(worlds, world);
        let pattern = |state: &super::TraceState| {
            let mut pattern =
                StatePattern { values: vec![None; program.vars.len()], ..StatePattern::default() };
            for (name, value) in &state.values {
                let Some(index) = known.iter().position(|variable| variable.name == *name) else {
                    return Err(unknown_variable(state.place.field(name), name, &known));
                };
                let code = |text: &str| match index {
                    0 => text.parse().ok().filter(|point| (0..program.points.len() as i64).contains(point)),
                    1 if text.is_empty() => Some(-1),
                    1 => program
                        .actions
                        .iter()
                        .find(|id| programs.actions[id.index()].name == text)
                        .map(|id| i64::from(id.0)),
                    _ => parse_value(&programs.var(program.vars[index - 2]).domain, text),
                };
                let code = value_code(&state.place, &known[index], value, code)?;
                match index {
                    0 => pattern.point = Some(PointId(code as u32)),
                    1 => pattern.action = Some((code >= 0).then_some(ActionId(code as u32))),
                    _ => pattern.values[index - 2] = Some(code),
                }
            }
            Ok(pattern)
        };
        let states = run.states.iter().map(pattern).collect::<Result<_, Fault>>()?;
        Ok(WorldRun { world, states })
    }
}

/// Reads a value as the language writes it.
fn parse_value(domain: &Domain, text: &str) -> Option<i64> {
    let value = match domain {
        Domain::Bool => i64::from(text.parse::<bool>().ok()?),
        Domain::Range(..) => text.parse().ok()?,
        Domain::Enum(names) => names.iter().position(|name| name == text)? as i64,
    };
    let (low, high) = domain.bounds();
    (low..=high).contains(&value).then_some(value)
}

/// A run in a world of an engine.
pub(super) struct WorldWalk<'e, 'm> {
    pub(super) engine: &'e mut Engine<'m>,
    pub(super) worlds: &'m Worlds,
    pub(super) run: &'e WorldRun,
}

impl WorldWalk<'_, '_> {
    fn differences(&self, state: &State, to: usize) -> Vec<Difference> {
        let given = &self.run.states[to];
        let values = self.values(state);
        let texts = self.pattern_texts(given);
        let pairs = values.into_iter().zip(texts);
        let difference = |((variable, possible), given): ((String, String), Option<String>)| {
            let given = given.filter(|given| *given != possible)?;
            Some(Difference { variable, possible, given })
        };
        pairs.filter_map(difference).collect()
    }

    /// The given values of a pattern, in the order of the world's variables.
    fn pattern_texts(&self, pattern: &StatePattern) -> Vec<Option<String>> {
        let Worlds { programs, plan } = self.worlds;
        let vars = &programs.program(plan.program(self.run.world)).vars;
        let text =
            |(id, value): (&VarId, &Option<i64>)| value.map(|value| programs.var(*id).domain.text(value));
        let point = pattern.point.map(|point| point.0.to_string());
        let action = pattern.action.map(|action| self.action_text(action));
        [point, action].into_iter().chain(vars.iter().zip(&pattern.values).map(text)).collect()
    }

    fn action_text(&self, action: Option<ActionId>) -> String {
        action.map_or(String::new(), |id| self.worlds.programs.actions[id.index()].name.clone())
    }

    /// Fails if not all states were found.
    fn all((states, is_all): (Vec<State>, bool)) -> Result<Vec<State>, Stop> {
        if is_all { Ok(states) } else { Err(Why::States.into()) }
    }
}

impl Walk for WorldWalk<'_, '_> {
    type State = State;

    fn start(&mut self) -> Result<Vec<State>, Stop> {
        Self::all(self.engine.initial_states(self.run.world, &self.run.states[0], MAX_FITTING_STATES)?)
    }

    fn follow(&mut self, from: &State, _: usize, to: usize) -> Result<Vec<State>, Stop> {
        Self::all(self.engine.next_states(self.run.world, from, &self.run.states[to], MAX_FITTING_STATES)?)
    }

    fn possible(&mut self, from: &[State], _: usize, to: usize) -> Result<Departure, Stop> {
        let any = StatePattern::default();
        let mut found = Vec::new();
        for state in from {
            found.extend(self.engine.next_states(self.run.world, state, &any, MAX_COMPARED)?.0);
        }
        if from.is_empty() {
            found = self.engine.initial_states(self.run.world, &any, MAX_COMPARED)?.0;
        }
        let mut enabled: Vec<String> = if from.is_empty() {
            Vec::new()
        } else {
            let label = |state: &State| match self.action_text(state.action) {
                text if text.is_empty() => "no action".to_string(),
                text => text,
            };
            found.iter().map(label).collect()
        };
        enabled.sort();
        enabled.dedup();
        let alternative = |state: &State| Alternative {
            differences: self.differences(state, to),
            action: self.action_text(state.action),
        };
        let mut alternatives: Vec<Alternative> = found.iter().map(alternative).collect();
        alternatives.sort_by_key(|alternative| alternative.differences.len());
        Ok(Departure { enabled, alternatives, ..Departure::default() })
    }

    fn values(&self, state: &State) -> Vec<(String, String)> {
        let names = variables(self.worlds, self.run.world).into_iter().map(|variable| variable.name);
        let texts = self.pattern_texts(&StatePattern::of(state)).into_iter().flatten();
        names.zip(texts).collect()
    }
}
