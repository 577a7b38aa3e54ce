//! Evidence and runs in forms that interactive pages use: the drawing of one property, its runs, and walks as files.

use std::collections::HashMap;
use std::io;

use masque_driver::trace::{
    ACTION_VARIABLE, POINT_VARIABLE, TraceAction, TraceRun, evidence_runs, trace_variables,
};
use masque_driver::{End, Event, Loaded, Model, Shown, Trace};

use crate::bdi::{ExplanationReport, StateReport};
use crate::chart_layout::{self, Chart, EVENTS_AT_EACH_END};
use crate::chart_svg::write_chart;
use crate::evidence_context::EvidenceContext;
use crate::evidence_page::{property_section, runs};
use crate::html::Page;
use crate::itf::write_itf;
use crate::named_run::{NamedRun, given_states, in_order};
use crate::page_style::STYLE;
use crate::path::{doing, values};
use crate::summary::{size, summary};
use crate::text::Text;
use crate::{AnyEvidence, Subject, run_report};

/// The style sheet that drawings and tables of evidence need.
pub const EVIDENCE_STYLE: &str = STYLE;

/// The evidence of one property.
#[derive(Clone, Debug, Default)]
pub struct EvidenceView {
    /// Drawings, tables and words as HTML without scripts.
    pub html: String,
    /// Meaning of the colours and symbols in the drawings, as HTML.
    pub legend: Vec<String>,
    /// States by their numbers in the drawings: named values.
    pub states: Vec<Vec<(String, String)>>,
    /// Runs.
    pub runs: Vec<RunView>,
}

/// A run of the evidence.
#[derive(Clone, Debug, Default)]
pub struct RunView {
    /// What the run is.
    pub name: String,
    /// Numbers of its states in [`EvidenceView::states`].
    pub states: Vec<usize>,
    /// What happens in the step from each state.
    pub steps: Vec<String>,
    /// For an infinite run: index in `states` of the state that follows the last.
    pub back_to: Option<usize>,
    /// The run itself.
    pub run: TraceRun,
}

/// Writes the evidence of the property with an index; none if there is no such property or the model was not
/// checked.
///
/// # Errors
///
/// If the evidence cannot be written, which does not happen in memory.
pub fn evidence_view(subject: Subject<'_>, index: usize) -> io::Result<Option<EvidenceView>> {
    let (Some(model), Some((property, decision))) =
        (&subject.loaded.model, subject.answers().into_iter().nth(index))
    else {
        return Ok(None);
    };
    let text = Text { evidence: true, full: true, ..Text::default() };
    let mut view = EvidenceView::default();
    view.html = property_section(
        &mut Page::default(),
        &mut view.legend,
        text,
        (model, &subject.loaded.name()),
        (&property, decision),
    )?;
    match (decision.evidence.as_ref(), model) {
        (Some(Shown::Reasons(evidence)), Model::Ispl(system)) => {
            view.states = evidence.states.iter().map(|state| values(system, state).0).collect();
            let mut all = runs(&EvidenceContext::new(system, evidence));
            if all.is_empty() {
                all.push(("The state".to_string(), evidence.start.clone()));
            }
            for (name, path) in all {
                let actions: Vec<TraceAction> = path
                    .actions
                    .iter()
                    .map(|joint| match joint {
                        Some(joint) => TraceAction::Joint(doing(system, joint).0),
                        None => TraceAction::Stutter,
                    })
                    .collect();
                let states = path.states.iter().map(|state| state.index()).collect();
                view.add_run(name, states, actions, path.back_to);
            }
        }
        (Some(Shown::Worlds(explanation)), Model::Bdi(worlds)) => {
            let names =
                worlds.plan.paths.iter().map(|path| (path.text.as_str(), worlds.plan.name(path.world)));
            let part = ExplanationReport::new(worlds, explanation);
            view.add_part(&names.collect(), &part, &[]);
        }
        (Some(shown), _) => {
            let evidence =
                AnyEvidence::new(model, shown).and_then(|evidence| serde_json::to_value(evidence).ok());
            let found = evidence_runs(&evidence.unwrap_or_default()).map(|found| found.runs);
            for run in found.unwrap_or_default() {
                view.add_trace(run);
            }
        }
        (None, _) => {}
    }
    Ok(Some(view))
}

impl EvidenceView {
    fn add_run(
        &mut self,
        name: String,
        states: Vec<usize>,
        actions: Vec<TraceAction>,
        back_to: Option<usize>,
    ) {
        let given = |&state: &usize| trace_state(&self.states[state]);
        let run = TraceRun {
            world: None,
            states: states.iter().map(given).collect(),
            steps: actions.iter().map(|action| trace_step(action.clone())).collect(),
            back_to,
        };
        let steps = actions.iter().map(action_text).collect();
        self.runs.push(RunView { name, states, steps, back_to, run });
    }

    /// Adds the run through a part of an explanation, and those of the parts below. `before` leads to the first
    /// state of the part if it is in the same world. States are numbered as in the drawing. `names` has the shortest
    /// name of each world, because several paths may lead to one.
    fn add_part(&mut self, names: &HashMap<&str, &str>, part: &ExplanationReport, before: &[usize]) {
        let before = if part.edge.is_some() { &[] } else { before };
        let n_known = usize::from(!before.is_empty());
        let first = self.states.len();
        let world = names.get(part.world.as_str()).copied().unwrap_or(&part.world);
        let own = part.states.iter().skip(n_known).map(|state| world_state(world, state));
        self.states.extend(own);
        let mut states = before.to_vec();
        states.extend(first..self.states.len());
        let offset = before.len() - n_known;
        let back_to = part.back_to.map(|back| back + offset);
        // Parts below explain the last state; those of a lasso the first.
        let n_explained = if part.back_to.is_some() { offset + 1 } else { states.len() };
        let prefix: Vec<usize> = states.iter().copied().take(n_explained).collect();
        let n_steps = states.len().saturating_sub(usize::from(back_to.is_none()));
        let known = self.runs.len();
        self.add_run(
            format!("Run in the world {}", part.world),
            states,
            vec![TraceAction::NotGiven; n_steps],
            back_to,
        );
        self.drop_beginning(known);
        part.next.iter().for_each(|next| self.add_part(names, next, &prefix));
    }

    /// Keeps one of the last run and an earlier one if one is the beginning of the other.
    fn drop_beginning(&mut self, last: usize) {
        let (earlier, [run]) = self.runs.split_at_mut(last) else { return };
        let is_beginning =
            |one: &RunView, other: &RunView| one.back_to.is_none() && other.states.starts_with(&one.states);
        if let Some(beginning) = earlier.iter_mut().find(|known| is_beginning(known, run)) {
            std::mem::swap(beginning, run);
            self.runs.truncate(last);
        } else if earlier.iter().any(|known| is_beginning(run, known)) {
            self.runs.truncate(last);
        }
    }

    /// Adds a run whose states are not in the list yet.
    fn add_trace(&mut self, run: TraceRun) {
        let first = self.states.len();
        for state in &run.states {
            let values = state.values.iter().map(|(name, value)| (name.clone(), value.text()));
            self.states.push(values.collect());
        }
        let name = match (&run.world, run.back_to) {
            (Some(world), _) => format!("Run in the world {world}"),
            (None, Some(_)) => "Infinite run".to_string(),
            (None, None) => "Run".to_string(),
        };
        let steps = run.steps.iter().map(|step| action_text(&step.action)).collect();
        let states = (first..self.states.len()).collect();
        self.runs.push(RunView { name, states, steps, back_to: run.back_to, run });
    }
}

/// The values of a state of a BDI world, with the names that traces use.
fn world_state(world: &str, state: &StateReport) -> Vec<(String, String)> {
    let named = [
        ("world", world.to_string()),
        (POINT_VARIABLE, state.point.to_string()),
        (ACTION_VARIABLE, state.action.clone().unwrap_or_default()),
    ];
    let named = named.map(|(name, value)| (name.to_string(), value));
    named.into_iter().chain(state.values.0.iter().cloned()).collect()
}

fn trace_state(values: &[(String, String)]) -> masque_driver::trace::TraceState {
    let written = |value: &String| masque_driver::trace::TraceValue::Written(value.clone());
    masque_driver::trace::TraceState {
        values: values.iter().map(|(name, value)| (name.clone(), written(value))).collect(),
        ..Default::default()
    }
}

fn trace_step(action: TraceAction) -> masque_driver::trace::TraceStep {
    masque_driver::trace::TraceStep { place: Default::default(), action }
}

/// What happens in a step, in words.
pub fn action_text(action: &TraceAction) -> String {
    match action {
        TraceAction::NotGiven => String::new(),
        TraceAction::Stutter => "no action".to_string(),
        TraceAction::Label(label) => label.clone(),
        TraceAction::Joint(actions) => {
            let named = actions.iter().map(|(agent, action)| format!("{agent}: {action}"));
            named.collect::<Vec<_>>().join(", ")
        }
    }
}

/// An event of a protocol in words.
pub fn event_text(event: &Event) -> String {
    chart_layout::event_text(event)
}

/// Draws a trace of a protocol as a message chart, in SVG. A long trace is cut in the middle.
pub fn message_chart(trace: &Trace, title: &str) -> String {
    observed_chart(trace, title, None)
}

/// Draws events as [`message_chart`] does, and frames the one that is not possible.
pub(crate) fn observed_chart(trace: &Trace, title: &str, violated: Option<usize>) -> String {
    let mut svg = String::new();
    // A walk that goes on decides nothing, so nothing is written below it.
    let end = if trace.end == End::Open { End::Loop } else { trace.end };
    let trace = &Trace { end, ..trace.clone() };
    let chart = Chart::with_violation(trace, EVENTS_AT_EACH_END, violated);
    // Writing to a string does not fail.
    _ = write_chart(&mut svg, &chart, title, title);
    svg
}

/// The size of a model in words.
pub fn model_size(model: &Model) -> String {
    size(model)
}

/// The summary of a check in one line.
pub fn check_summary(subject: Subject<'_>) -> String {
    summary(&run_report(subject, false), subject.loaded)
}

/// Writes a run, such as a walk, in the Informal Trace Format, which `masque replay` reads.
///
/// # Errors
///
/// If the output cannot be written.
pub fn write_walk(out: &mut dyn io::Write, loaded: &Loaded, run: TraceRun) -> io::Result<()> {
    let Some(model) = &loaded.model else { return Ok(()) };
    let variables = trace_variables(model, run.world.as_deref());
    let named = NamedRun {
        file: loaded.names.join(", "),
        parameters: loaded.parameters.clone(),
        property: "walk".to_string(),
        formula: "true".to_string(),
        verdict: "holds",
        number: 1,
        n_runs: 1,
        states: given_states(&run, &variables),
        world: run.world,
        variables,
        steps: run.steps.into_iter().map(|step| in_order(model, step.action)).collect(),
        back_to: run.back_to,
        trace: None,
    };
    write_itf(out, &named)
}
