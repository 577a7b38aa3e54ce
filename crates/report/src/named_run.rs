//! The runs of evidence in the names of the model, from which traces in other formats are made.

use masque_driver::trace::{
    LeftOut, Replayed, TraceAction, TraceRun, TraceVariable, evidence_runs, replay_run, trace_variables,
};
use masque_driver::{Decision, Limits, Model, PropertyText, Shown, Trace};

use crate::{AnyEvidence, Subject};

/// A run of evidence.
#[derive(Clone, Debug)]
pub(crate) struct NamedRun {
    /// Name of the model's file.
    pub(crate) file: String,
    /// Parameters of the model.
    pub(crate) parameters: Vec<(String, i64)>,
    /// Unique name of the property.
    pub(crate) property: String,
    /// Formula of the property.
    pub(crate) formula: String,
    /// Verdict as a word.
    pub(crate) verdict: &'static str,
    /// Number of this run among those of the property, from 1.
    pub(crate) number: usize,
    /// Number of runs of the property.
    pub(crate) n_runs: usize,
    /// For BDI: world of the run.
    pub(crate) world: Option<String>,
    /// Variables.
    pub(crate) variables: Vec<TraceVariable>,
    /// For each state the values of the variables, as the language writes them; `None` if not known.
    pub(crate) states: Vec<Vec<Option<String>>>,
    /// The step from each state.
    pub(crate) steps: Vec<TraceAction>,
    /// For an infinite run: index of the state that follows the last.
    pub(crate) back_to: Option<usize>,
    /// For LCC: the trace, with senders, receivers and messages.
    pub(crate) trace: Option<Box<Trace>>,
}

/// The runs of the evidence for one property.
pub(crate) struct PropertyRuns {
    pub(crate) runs: Vec<NamedRun>,
    /// The message about what these runs do not show, if there is anything.
    pub(crate) note: Option<String>,
}

/// The runs of all evidence of a check, property by property.
pub(crate) fn named_runs(subject: Subject<'_>, limits: &Limits) -> Vec<PropertyRuns> {
    let Some(model) = &subject.loaded.model else { return Vec::new() };
    let answers = subject.answers();
    let shown = answers.iter().filter_map(|(p, decision)| Some((p, decision, decision.evidence.as_ref()?)));
    shown.map(|(p, decision, shown)| property_runs(subject, model, (p, decision, shown), limits)).collect()
}

fn property_runs(
    subject: Subject<'_>,
    model: &Model,
    (property, decision, shown): (&PropertyText, &Decision, &Shown),
    limits: &Limits,
) -> PropertyRuns {
    let (file, title) = (subject.loaded.name(), &property.title);
    let note = |text: String| Some(format!("{file}: {title}: {text}"));
    let evidence = AnyEvidence::new(model, shown).and_then(|evidence| serde_json::to_value(evidence).ok());
    let found = match evidence_runs(&evidence.unwrap_or_default()) {
        Ok(found) => found,
        Err(message) => {
            return PropertyRuns {
                runs: Vec::new(),
                note: note(format!("no run can be written: {message}")),
            };
        }
    };
    let n_runs = found.runs.len();
    let mut missing = Vec::new();
    let named = found.runs.into_iter().enumerate().map(|(index, run)| {
        let variables = trace_variables(model, run.world.as_deref());
        let (states, trace) = match shown {
            Shown::Trace(trace) => {
                let states = reached_states(model, &run, &variables, limits);
                missing.extend(states.as_ref().err().cloned());
                (states.unwrap_or_else(|_| unknown_states(&run, &variables)), Some(trace.clone()))
            }
            _ => (given_states(&run, &variables), None),
        };
        NamedRun {
            file: subject.loaded.names.join(", "),
            parameters: subject.loaded.parameters.clone(),
            property: title.clone(),
            formula: property.formula.clone(),
            verdict: decision.verdict.word(),
            number: index + 1,
            n_runs,
            world: run.world,
            variables,
            states,
            steps: run.steps.into_iter().map(|step| in_order(model, step.action)).collect(),
            back_to: run.back_to,
            trace,
        }
    });
    let runs = named.collect();
    let note = left_out(n_runs, &found.left_out, missing).and_then(note);
    PropertyRuns { runs, note }
}

/// The actions of a step in the order of the model's agents.
pub(crate) fn in_order(model: &Model, action: TraceAction) -> TraceAction {
    let (TraceAction::Joint(mut actions), Model::Ispl(system)) = (action.clone(), model) else {
        return action;
    };
    actions.sort_by_key(|(agent, _)| system.agents.iter().position(|known| known.name == *agent));
    TraceAction::Joint(actions)
}

/// The message about what is left out.
fn left_out(n_runs: usize, left_out: &LeftOut, mut missing: Vec<String>) -> Option<String> {
    let words = left_out.words();
    if !words.is_empty() {
        let runs = masque_text::counted(n_runs, "run", "runs");
        let left = words.join(", ");
        missing.push(format!("{runs}; left out: {left} (`--evidence-format json` has everything)"));
    }
    (!missing.is_empty()).then(|| missing.join("; "))
}

/// The values that a run gives.
pub(crate) fn given_states(run: &TraceRun, variables: &[TraceVariable]) -> Vec<Vec<Option<String>>> {
    let row = |state: &masque_driver::trace::TraceState| {
        let value = |variable: &TraceVariable| {
            let (_, value) = state.values.iter().find(|(name, _)| *name == variable.name)?;
            Some(value.text())
        };
        variables.iter().map(value).collect()
    };
    run.states.iter().map(row).collect()
}

fn unknown_states(run: &TraceRun, variables: &[TraceVariable]) -> Vec<Vec<Option<String>>> {
    vec![vec![None; variables.len()]; run.states.len()]
}

/// The states of a protocol along a run that gives only labels, found by a replay.
fn reached_states(
    model: &Model,
    run: &TraceRun,
    variables: &[TraceVariable],
    limits: &Limits,
) -> Result<Vec<Vec<Option<String>>>, String> {
    match replay_run(model, run, limits)? {
        Replayed::Confirmed(states) => {
            let row =
                |state: Vec<(String, String)>| state.into_iter().map(|(_, value)| Some(value)).collect();
            let states: Vec<Vec<Option<String>>> = states.into_iter().map(row).collect();
            debug_assert!(states.iter().all(|row| row.len() == variables.len()));
            Ok(states)
        }
        Replayed::Refused(departure) => Err(format!("the run leaves the model at step {}", departure.step)),
        Replayed::Stopped { why, .. } => Err(format!("the states of the run are not known: {}", why.word())),
    }
}

impl NamedRun {
    /// What happens in the step from a state, in words; empty at the end of the run.
    pub(crate) fn step_text(&self, state: usize) -> String {
        match self.steps.get(state) {
            None | Some(TraceAction::NotGiven) => String::new(),
            Some(TraceAction::Stutter) => "no action".to_string(),
            Some(TraceAction::Label(label)) => label.clone(),
            Some(TraceAction::Joint(actions)) => actions
                .iter()
                .map(|(agent, action)| format!("{agent}: {action}"))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }
}
