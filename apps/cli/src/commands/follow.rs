//! `simulate --from TRACE`: a walk that begins with a run of a trace file, such as a counterexample.

use std::path::Path;

use masque_driver::trace::{TraceAction, TraceRun, TraceState, UnreadTrace, read_traces};
use masque_driver::{ActionId, AgentId, Limits, Simulation, State, Step, StepPath, System};

use crate::Exit;

/// Maximum number of successors of one joint action that are compared with a state of the run.
const MAX_COMPARED_SUCCESSORS: usize = 100_000;

/// How far a walk has followed a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Followed {
    /// Number of steps taken.
    pub(super) n_steps: usize,
    /// Why it stopped before the end of the run, if it did.
    pub(super) stopped: Option<String>,
}

/// The first run of a trace file.
///
/// # Errors
///
/// A message and the exit code, if the file has none or cannot be read.
pub(super) fn first_run(path: &Path, limits: &Limits) -> Result<TraceRun, (String, Exit)> {
    let traces = read_traces(path, limits).map_err(|unread| match unread {
        UnreadTrace::Stopped(why) => {
            (format!("`{}` could not be read: {}", path.display(), why.word()), Exit::Inconclusive)
        }
        UnreadTrace::Refused(refused) => {
            let first =
                refused.diagnostics.first().map_or("it is not a trace", |found| found.message.as_str());
            (format!("`{}` cannot be used: {first}", path.display()), Exit::BadInput)
        }
    })?;
    let runs =
        traces.models.into_iter().flat_map(|model| model.properties).flat_map(|property| property.runs);
    let none = || {
        let path = path.display();
        (format!("`{path}` has no run: no property in it has a counterexample or witness"), Exit::BadInput)
    };
    runs.into_iter().next().ok_or_else(none)
}

/// Whether named values are those that a state of a run gives. Names that the model does not have are ignored.
fn fits(values: &[(String, String)], given: &TraceState) -> bool {
    given.values.iter().all(|(name, value)| {
        values.iter().find(|(other, _)| other == name).is_none_or(|(_, found)| *found == value.text())
    })
}

fn values(system: &System, state: &State) -> Vec<(String, String)> {
    let named = system.variable_ids().zip(state);
    named.map(|(id, value)| (system.full_name(id), system.value_text(id, *value))).collect()
}

/// Follows a run through an interpreted system.
pub(super) fn follow_system(simulation: &mut Simulation, run: &TraceRun) -> Followed {
    let system = simulation.system.clone();
    let stop = |n_steps: usize, reason: &str| Followed { n_steps, stopped: Some(reason.to_string()) };
    simulation.back(simulation.path().states.len());
    let first = run
        .states
        .first()
        .and_then(|given| simulation.initial.iter().position(|state| fits(&values(&system, state), given)));
    if !first.is_some_and(|first| simulation.begin(first)) {
        return stop(0, "its first state is not among the listed initial states");
    }
    for (index, (step, given)) in run.steps.iter().zip(run.states.iter().skip(1)).enumerate() {
        let Some(fixed) = fixed_actions(&system, &step.action) else {
            return stop(index, "the model has no such agent or action");
        };
        simulation.fix(fixed);
        let listed = simulation.choices().map(|choices| choices.listed).unwrap_or_default();
        let found = listed.into_iter().find_map(|(joint, successors)| {
            let mut states = successors.iter().take(MAX_COMPARED_SUCCESSORS);
            states.find(|state| fits(&values(&system, state), given)).map(|state| (joint, state))
        });
        match found {
            Some((joint, state)) => simulation.step(joint, state),
            None => {
                simulation.fix(Vec::new());
                return stop(index, "no listed step leads to its next state");
            }
        }
    }
    Followed { n_steps: run.states.len().saturating_sub(1), stopped: None }
}

/// The actions of a step; none if the model does not have them.
fn fixed_actions(system: &System, action: &TraceAction) -> Option<Vec<(AgentId, ActionId)>> {
    let TraceAction::Joint(joint) = action else { return Some(Vec::new()) };
    let resolve = |(agent, action): &(String, String)| {
        let agent = system.agent_ids().find(|id| system.agent(*id).name == *agent)?;
        let index = system.agent(agent).actions.iter().position(|known| known.name == *action)?;
        Some((agent, ActionId(index as u32)))
    };
    joint.iter().map(resolve).collect()
}

/// Follows a run along labelled steps.
pub(super) fn follow_steps(path: &mut StepPath, run: &TraceRun) -> Followed {
    let describe = |values: Vec<(String, String)>| {
        values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    };
    for (index, (step, given)) in run.steps.iter().zip(run.states.iter().skip(1)).enumerate() {
        let is_given = |found: &Step| match &step.action {
            TraceAction::Label(label) => found.label == *label,
            _ => true,
        };
        let steps: Vec<Step> = path.steps(describe).steps.into_iter().filter(is_given).collect();
        let fitting = steps.iter().find(|found| fits(&path.values(found.to), given));
        // A report writes some labels without the states around them.
        match fitting.or(steps.first().filter(|_| steps.len() == 1)).cloned() {
            Some(found) => path.take(found),
            None => {
                let stopped = Some("no listed step leads to its next state".to_string());
                return Followed { n_steps: index, stopped };
            }
        }
    }
    Followed { n_steps: run.states.len().saturating_sub(1), stopped: None }
}
