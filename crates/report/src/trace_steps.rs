//! The steps of a path as sentences and values, for formats that show a path as a list of places.

use crate::path::{action_text, assignment, changed};
use crate::{
    AnyEvidence, BecauseReport, Entries, EvidenceReport, ExplanationReport, LabelledRunReport, PathReport,
    RunPath, TraceReport,
};

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceStep {
    /// What happens, and what changes.
    pub(crate) text: String,
    /// All variables of the state that is reached; empty if the language has none.
    pub(crate) values: Vec<(String, String)>,
}

impl TraceStep {
    fn new(text: impl Into<String>) -> TraceStep {
        TraceStep { text: text.into(), values: Vec::new() }
    }
}

/// The steps of the path on which evidence rests; empty if it is not about a path.
pub(crate) fn of_evidence(evidence: &AnyEvidence) -> Vec<TraceStep> {
    match evidence {
        AnyEvidence::Reasons(reasons) => of_reasons(reasons),
        AnyEvidence::Worlds(explanation) => of_worlds(explanation),
        AnyEvidence::Trace(trace) => of_trace(trace),
        AnyEvidence::Run(run) => of_run(run),
    }
}

/// The steps of a path to a finding.
pub(crate) fn of_path(path: &PathReport) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    for (position, state) in path.states.iter().enumerate() {
        let actions = position.checked_sub(1).and_then(|last| path.actions.get(last));
        let before = position.checked_sub(1).map(|last| &path.states[last]);
        steps.push(state_step(position, actions, state, before));
    }
    if let Some(actions) = last_action(path) {
        steps.push(TraceStep::new(format!("then {}", joined(actions, action_text))));
    }
    steps
}

/// The joint action at the last state, if the path has one.
fn last_action(path: &PathReport) -> Option<&Entries<String>> {
    path.actions.last().filter(|_| path.actions.len() == path.states.len())
}

/// The path to the state at which the property is evaluated, then the path or the play that decides.
fn of_reasons(evidence: &EvidenceReport) -> Vec<TraceStep> {
    let mut steps = run_steps(evidence, &evidence.start, 0);
    let further = match evidence.reasons.first().map(|reason| &reason.because) {
        Some(BecauseReport::Run { run, .. }) => run,
        Some(BecauseReport::Strategy { play, .. } | BecauseReport::Answers { play, .. }) => play,
        _ => return steps,
    };
    // The first state of the second path is the last state of the first.
    let n_before = steps.len().saturating_sub(1);
    let is_continued = evidence.start.states.last() == further.states.first();
    let more = run_steps(evidence, further, if is_continued { n_before } else { 0 });
    steps.extend(more.into_iter().skip(usize::from(is_continued)));
    steps
}

/// The steps of a path; its first state has the number `offset`.
fn run_steps(evidence: &EvidenceReport, run: &RunPath, offset: usize) -> Vec<TraceStep> {
    let state = |position: usize| run.states.get(position).and_then(|&index| evidence.states.get(index));
    let mut steps = Vec::new();
    for position in 0..run.states.len() {
        let Some(now) = state(position) else { break };
        let before = position.checked_sub(1);
        let actions = before.and_then(|last| run.actions.get(last)?.as_ref());
        steps.push(state_step(position + offset, actions, now, before.and_then(state)));
    }
    if let Some(back_to) = run.back_to {
        let actions = run.actions.last().and_then(|actions| actions.as_ref());
        let doing = actions.map_or_else(String::new, |actions| format!("{}; ", joined(actions, action_text)));
        steps.push(TraceStep::new(format!("{doing}the path repeats from #{}", back_to + offset)));
    }
    steps
}

fn state_step(
    number: usize,
    actions: Option<&Entries<String>>,
    state: &Entries<String>,
    before: Option<&Entries<String>>,
) -> TraceStep {
    let differences: Vec<String> = match before {
        None => state.0.iter().map(assignment).collect(),
        Some(before) => changed(&state.0, &before.0).map(assignment).collect(),
    };
    let reached = if differences.is_empty() { "nothing changes".to_string() } else { differences.join(", ") };
    let doing = actions.map_or_else(String::new, |actions| format!("{}; ", joined(actions, action_text)));
    TraceStep { text: format!("#{number}: {doing}{reached}"), values: state.0.clone() }
}

fn joined(entries: &Entries<String>, text: impl Fn(&(String, String)) -> String) -> String {
    entries.0.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The states of an explanation and of its parts, in the order of the text.
fn of_worlds(explanation: &ExplanationReport) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    let mut parts = vec![explanation];
    while let Some(part) = parts.pop() {
        for (position, state) in part.states.iter().enumerate() {
            let action = state.action.as_ref().filter(|_| position > 0);
            let doing = action.map_or_else(String::new, |action| format!("{action}; "));
            let text = format!("{} #{position}: {doing}{}", part.world, joined(&state.values, assignment));
            steps.push(TraceStep { text, values: state.values.0.clone() });
        }
        if let Some(back_to) = part.back_to {
            steps.push(TraceStep::new(format!("{}: the path repeats from #{back_to}", part.world)));
        }
        parts.extend(part.next.iter().rev());
    }
    steps
}

fn of_trace(trace: &TraceReport) -> Vec<TraceStep> {
    let mut steps: Vec<TraceStep> =
        trace.events.iter().map(|event| TraceStep::new(event.label.clone())).collect();
    if let Some(back_to) = trace.back_to {
        steps.push(TraceStep::new(format!("the trace repeats from event {}", back_to + 1)));
    }
    steps.extend(trace.blame.iter().map(|blame| TraceStep::new(blame.clone())));
    steps
}

fn of_run(run: &LabelledRunReport) -> Vec<TraceStep> {
    let after_loop = run.back_to.and_then(|at| run.states.get(at));
    let targets = run.states.iter().skip(1).chain(after_loop);
    let steps = run.states.iter().zip(&run.labels).zip(targets);
    let mut steps: Vec<TraceStep> =
        steps.map(|((from, label), to)| TraceStep::new(format!("{from} --{label}--> {to}"))).collect();
    if let (true, Some(last)) = (run.deadlock, run.states.last()) {
        steps.push(TraceStep::new(format!("state {last} has no transitions")));
    }
    steps
}
