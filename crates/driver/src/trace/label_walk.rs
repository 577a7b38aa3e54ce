//! Runs of protocols and transition systems, whose steps have labels.

use masque_verdict::{Budget, Stop, Why};

use super::json_node::Fault;
use super::replay::{TraceVariable, VariableKind, value_code};
use super::system_walk::unknown_variable;
use super::track::{Alternative, Departure, Difference, Walk};
use super::{MAIL_VARIABLE, STATE_VARIABLE, TraceAction, TraceRun, TraceValue};
use crate::explorer::{Explorer, Steps};

/// Maximum number of labels that are listed when a run leaves the model.
const MAX_LISTED_LABELS: usize = 12;

/// A run, with the names resolved.
#[derive(Clone, Debug)]
pub(super) struct LabelRun {
    /// Names of the variables.
    names: Vec<String>,
    /// For each state of the run, the values that it gives.
    states: Vec<Vec<Option<String>>>,
    /// For each step of the run, its label if it is given.
    labels: Vec<Option<String>>,
}

/// The variables of a protocol: the process of each agent, and the messages under way.
pub(super) fn protocol_variables(team: Vec<String>) -> Vec<TraceVariable> {
    let mut names = team;
    names.push(MAIL_VARIABLE.to_string());
    names.into_iter().map(|name| TraceVariable { name, kind: VariableKind::Text }).collect()
}

/// The variable of a transition system: the number of the state.
pub(super) fn graph_variables() -> Vec<TraceVariable> {
    vec![TraceVariable { name: STATE_VARIABLE.to_string(), kind: VariableKind::Integer }]
}

impl LabelRun {
    /// Resolves the names of a run.
    pub(super) fn new(variables: &[TraceVariable], run: &TraceRun) -> Result<LabelRun, Fault> {
        let row = |state: &super::TraceState| {
            let mut row = vec![None; variables.len()];
            for (name, value) in &state.values {
                let Some(index) = variables.iter().position(|variable| variable.name == *name) else {
                    return Err(unknown_variable(state.place.field(name), name, variables));
                };
                value_code(&state.place, &variables[index], value, |_| Some(0))?;
                row[index] = Some(in_order(value).text());
            }
            Ok(row)
        };
        let label = |step: &super::TraceStep| match &step.action {
            TraceAction::NotGiven => Ok(None),
            TraceAction::Label(label) => Ok(Some(label.clone())),
            TraceAction::Stutter | TraceAction::Joint(_) => {
                Err(Fault::new(step.place.clone(), "a step of this model has a label, which is a string"))
            }
        };
        Ok(LabelRun {
            names: variables.iter().map(|variable| variable.name.clone()).collect(),
            states: run.states.iter().map(row).collect::<Result<_, Fault>>()?,
            labels: run.steps.iter().map(label).collect::<Result<_, Fault>>()?,
        })
    }
}

/// A list of messages in the order of their texts, as the model writes them.
fn in_order(value: &TraceValue) -> TraceValue {
    match value {
        TraceValue::List(items) => {
            let mut items = items.clone();
            items.sort_unstable();
            TraceValue::List(items)
        }
        value => value.clone(),
    }
}

/// A run on a model with labelled steps.
pub(super) struct LabelWalk<'e> {
    pub(super) explorer: &'e mut dyn Explorer,
    pub(super) run: &'e LabelRun,
    pub(super) budget: &'e Budget,
}

impl LabelWalk<'_> {
    /// The values of all variables, in their order. A protocol names messages only if some are under way.
    fn texts(&self, state: usize) -> Vec<String> {
        let values = self.explorer.values(state);
        let value =
            |name: &String| values.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone());
        self.run.names.iter().map(|name| value(name).unwrap_or_default()).collect()
    }

    fn fits(&self, state: usize, to: usize) -> bool {
        let given = &self.run.states[to];
        if given.iter().all(Option::is_none) {
            return true;
        }
        self.texts(state)
            .iter()
            .zip(given)
            .all(|(text, given)| given.as_ref().is_none_or(|given| given == text))
    }

    fn differences(&self, state: usize, to: usize) -> Vec<Difference> {
        let pairs = self.run.names.iter().zip(self.texts(state)).zip(&self.run.states[to]);
        let difference = |((variable, possible), given): ((&String, String), &Option<String>)| {
            let given = given.clone().filter(|given| *given != possible)?;
            Some(Difference { variable: variable.clone(), possible, given })
        };
        pairs.filter_map(difference).collect()
    }
}

impl Walk for LabelWalk<'_> {
    type State = usize;

    fn start(&mut self) -> Result<Vec<usize>, Stop> {
        let initial = self.explorer.initial();
        Ok(initial.into_iter().filter(|&state| self.fits(state, 0)).collect())
    }

    fn follow(&mut self, from: &usize, step: usize, to: usize) -> Result<Vec<usize>, Stop> {
        self.budget.check()?;
        let Steps { steps, cut } = self.explorer.steps(*from);
        let label = self.run.labels[step].clone();
        let is_taken = |step: &&crate::Step| label.as_ref().is_none_or(|label| *label == step.label);
        let found: Vec<usize> =
            steps.iter().filter(is_taken).map(|step| step.to).filter(|&next| self.fits(next, to)).collect();
        match cut {
            // The step may be among those that a bound of the model cut off.
            Some(bound) if found.is_empty() => Err(Why::Bound(bound).into()),
            _ => Ok(found),
        }
    }

    fn possible(&mut self, from: &[usize], step: usize, to: usize) -> Result<Departure, Stop> {
        let mut departure = Departure::default();
        if from.is_empty() {
            for state in self.explorer.initial() {
                let differences = self.differences(state, to);
                departure.alternatives.push(Alternative { differences, action: String::new() });
            }
            return Ok(departure);
        }
        let label = self.run.labels[step].clone();
        for &state in from {
            self.budget.check()?;
            for possible in self.explorer.steps(state).steps {
                let differences = self.differences(possible.to, to);
                departure.alternatives.push(Alternative { differences, action: possible.label.clone() });
                departure.enabled.push(possible.label);
            }
        }
        departure.enabled.sort();
        departure.enabled.dedup();
        if let Some(label) = label.filter(|label| !departure.enabled.contains(label)) {
            departure.reason = Some(format!("there is no step `{label}` here"));
        }
        let n_more = departure.enabled.len().saturating_sub(MAX_LISTED_LABELS);
        departure.enabled.truncate(MAX_LISTED_LABELS);
        departure.enabled.extend((n_more > 0).then(|| format!("and {n_more} more")));
        Ok(departure)
    }

    fn values(&self, state: &usize) -> Vec<(String, String)> {
        self.run.names.iter().cloned().zip(self.texts(*state)).collect()
    }
}
