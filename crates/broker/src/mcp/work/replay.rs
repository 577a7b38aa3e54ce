//! `replay`: confirms that a model has the runs of a trace, or says where they leave it.

use std::io;
use std::path::Path;

use masque_driver::trace::{
    Alternative, Departure, PropertyRuns, Replayed, TraceFile, TraceRun, TracedModel, UnreadTrace,
    read_traces,
};
use masque_driver::{Limits, Loaded, Model};
use masque_text::{did_you_mean, first_names};

use super::super::answers::{Marked, ReplayAnswer, ReplayedRun};
use super::super::parameters::Replay;
use super::{Answer, Job, answer, refused};
use crate::fault::brief;

/// Name of the file with the trace. Files of models cannot have it.
pub(crate) const TRACE_FILE: &str = ".trace.json";

/// Maximum number of names of properties in a message.
const MAX_LISTED_NAMES: usize = 20;
/// Maximum number of runs in an answer.
const MAX_RUNS: usize = 1_000;

/// Replays the runs of a trace.
pub(super) fn replay(job: &Job, asked: Replay) -> io::Result<Answer> {
    let limits = job.limits();
    let loaded = job.load(&asked.files, asked.settings.request(), &limits);
    let mut result = ReplayAnswer {
        used: job.used(&asked.files, &asked.settings, Some(&loaded)),
        diagnostics: Marked::all(&loaded.sources, &loaded.diagnostics),
        runs: Vec::new(),
        runs_left_out: 0,
    };
    if loaded.model.is_none() {
        let text = refused(&loaded, &result.diagnostics);
        return answer(&result, text, loaded.has_errors());
    }
    let limits = limits.after_loading(&loaded);
    let file = match read_traces(Path::new(TRACE_FILE), &limits) {
        Ok(file) => file,
        Err(UnreadTrace::Stopped(why)) => {
            return answer(&result, format!("The trace was not read: {}.\n", why.word()), false);
        }
        Err(UnreadTrace::Refused(unread)) => {
            result.diagnostics = Marked::all(&unread.sources, &unread.diagnostics);
            let text = result.diagnostics.iter().map(|found| format!("{}\n", found.excerpt)).collect();
            return answer(&result, text, true);
        }
    };
    match runs(&file, &loaded, asked.property.as_deref(), &limits) {
        Ok((runs, n_left_out)) => (result.runs, result.runs_left_out) = (runs, n_left_out),
        Err(Unfit::Message(message)) => return answer(&result, format!("{message}\n"), true),
        Err(Unfit::Diagnostic(marked)) => {
            result.diagnostics = marked;
            let text = result.diagnostics.iter().map(|found| format!("{}\n", found.excerpt)).collect();
            return answer(&result, text, true);
        }
    }
    let mut text: String = result.runs.iter().map(line).collect();
    if result.runs_left_out > 0 {
        text.push_str(&format!(
            "{} not replayed: an answer has at most {MAX_RUNS}. Ask for one `property`.\n",
            masque_text::counted(result.runs_left_out, "run was", "runs were")
        ));
    }
    answer(&result, text, false)
}

/// Why a trace does not fit a model.
enum Unfit {
    Message(String),
    Diagnostic(Vec<Marked>),
}

/// Replays the first runs of the properties that are asked for, and counts the others.
fn runs(
    file: &TraceFile,
    loaded: &Loaded,
    property: Option<&str>,
    limits: &Limits,
) -> Result<(Vec<ReplayedRun>, usize), Unfit> {
    let message = |text: String| Unfit::Message(text);
    let [traced] = &file.models[..] else {
        return Err(message(format!("the trace must be about one model, not {}", file.models.len())));
    };
    fits(traced, loaded).map_err(message)?;
    let Some(model) = &loaded.model else { return Ok((Vec::new(), 0)) };
    let selected = selected(traced, model, property).map_err(message)?;
    let mut replayed = Vec::new();
    for (own, run) in selected.iter().take(MAX_RUNS) {
        let one = file.replay(model, run, limits);
        let one = one.map_err(|found| Unfit::Diagnostic(Marked::all(&file.sources, &[*found])))?;
        replayed.push(outcome(own.title.clone(), run, one));
    }
    Ok((replayed, selected.len().saturating_sub(MAX_RUNS)))
}

/// The runs of a property, or of all; or why there is none.
fn selected<'t>(
    traced: &'t TracedModel,
    model: &Model,
    property: Option<&str>,
) -> Result<Vec<(&'t PropertyRuns, &'t TraceRun)>, String> {
    let is_selected = |own: &&PropertyRuns| property.is_none_or(|name| own.name == name || own.title == name);
    let selected: Vec<&PropertyRuns> = traced.properties.iter().filter(is_selected).collect();
    let of_model = model.properties();
    if let (Some(name), true) = (property, selected.is_empty())
        && !of_model.iter().any(|own| own.name == name || own.title == name)
    {
        let titles = || of_model.iter().map(|own| own.title.as_str());
        let hint = did_you_mean(name, titles()).map_or(String::new(), |hint| format!("; {hint}"));
        return Err(format!(
            "neither the trace nor the model has a property `{}`; the properties are {}{hint}",
            brief(name),
            first_names(titles(), MAX_LISTED_NAMES)
        ));
    }
    let runs = selected.into_iter().flat_map(|own| own.runs.iter().map(move |run| (own, run)));
    let runs: Vec<_> = runs.collect();
    if runs.is_empty() {
        return Err("the trace has no run to replay: ask `check` for `evidence`: `all`".to_string());
    }
    Ok(runs)
}

/// Refuses a trace that was made with other values of the parameters.
fn fits(traced: &TracedModel, loaded: &Loaded) -> Result<(), String> {
    for (name, value) in &traced.parameters {
        let own = loaded.parameters.iter().find(|(own, _)| own == name).map(|(_, own)| own);
        if own != Some(value) {
            let own = own.map_or("no such parameter".to_string(), |own| format!("{name} = {own}"));
            return Err(format!(
                "the trace was made with {name} = {value}, and the model has {own}: set it in `settings.define`"
            ));
        }
    }
    Ok(())
}

fn outcome(property: String, run: &TraceRun, replayed: Replayed) -> ReplayedRun {
    let states = run.states.len();
    let (verdict, reason, possible) = match replayed {
        Replayed::Confirmed(_) => ("confirmed", None, Vec::new()),
        Replayed::Stopped { why, n_followed } => {
            ("unknown", Some(format!("{} after {n_followed} states", why.word())), Vec::new())
        }
        Replayed::Refused(departure) => {
            let reason = departure_text(&departure);
            let alternatives = departure.alternatives.iter().map(alternative_text);
            let possible = departure.enabled.iter().cloned().chain(alternatives).collect();
            ("leaves", Some(reason), possible)
        }
    };
    ReplayedRun { property, verdict, states, reason, possible }
}

/// Where a run leaves the model, in words.
fn departure_text(Departure { step, back_to, reason, .. }: &Departure) -> String {
    let place = match (step, back_to) {
        (0, _) => "state 0 is not an initial state".to_string(),
        (step, Some(start)) => format!("no step leads from state {} back to state {start}", step - 1),
        (step, None) => format!("no step leads from state {} to state {step}", step - 1),
    };
    reason.as_ref().map_or(place.clone(), |reason| format!("{place}: {reason}"))
}

fn alternative_text(Alternative { differences, action }: &Alternative) -> String {
    let differences =
        differences.iter().map(|d| format!("{} = {} (the trace has {})", d.variable, d.possible, d.given));
    format!("{action} -> {}", differences.collect::<Vec<_>>().join(", "))
}

/// A run in one line or a few.
fn line(run: &ReplayedRun) -> String {
    let name = if run.property.is_empty() { "trace" } else { &run.property };
    let states = masque_text::counted(run.states, "state", "states");
    let reason = run.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let mut text = format!("{name}: {}, {states}{reason}\n", run.verdict);
    run.possible.iter().for_each(|possible| text.push_str(&format!("  possible: {possible}\n")));
    text
}
