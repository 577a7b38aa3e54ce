//! A note about a check that a limit or an interrupt has stopped: how far it came, and what to try.

use masque_text::{Diagnostic, Severity};
use masque_verdict::{DiagramPhase, DiagramProgress, Found, Reached, Verdict, Why};

use crate::check::Run;
use crate::load::{Loaded, Model};
use crate::{EngineChoice, Language};

/// Adds the note to a run, if it was stopped before everything was decided.
pub(crate) fn report(loaded: &Loaded, run: &mut Run) {
    let stop = |verdict: Verdict| match verdict {
        Verdict::Unknown(why @ (Why::Timeout | Why::Memory | Why::Interrupted)) => Some(why),
        _ => None,
    };
    let whys: Vec<Why> = run.decisions.iter().filter_map(|decision| stop(decision.verdict)).collect();
    let Some(&why) = whys.first() else { return };
    let reason = match why {
        Why::Timeout => "the time limit was reached",
        Why::Memory => "the memory limit was reached",
        _ => "the check was interrupted",
    };
    let undecided = match whys.len() {
        1 => "one property is".to_string(),
        n => format!("{n} properties are"),
    };
    let place = run.reached.map(|reached| format!(" {}", place(reached))).unwrap_or_default();
    let message = format!("{reason}{place}; {undecided} not decided");
    let note = Diagnostic::nowhere(Severity::Note, "check/stopped", message).hint(what_to_try(loaded, why));
    run.findings.push(note.into());
}

/// What an engine was doing, and how far it had come.
fn place(reached: Reached) -> String {
    match reached {
        Reached::States(Found { states, layer: 0, .. }) => {
            format!("after {} were found", plural(states, "state"))
        }
        Reached::States(Found { states, layer, .. }) => {
            format!("after {} in {} were found", plural(states, "state"), plural(layer, "layer"))
        }
        Reached::Diagrams(DiagramProgress { phase, rounds, nodes, .. }) => {
            let rounds = plural(rounds, "round");
            let doing = match phase {
                DiagramPhase::Encoding => "while the model was encoded".to_string(),
                DiagramPhase::Ordering => "while variable orders were tried".to_string(),
                DiagramPhase::Exploring => format!("in the search for reachable states, after {rounds}"),
                DiagramPhase::Deciding => "after all reachable states were found".to_string(),
            };
            format!("{doing}, with {}", plural(nodes, "diagram node"))
        }
    }
}

/// Advice that applies to this check, the most promising first.
fn what_to_try(loaded: &Loaded, why: Why) -> String {
    let work = &loaded.request.work;
    let is_ispl = loaded.language == Some(Language::Ispl);
    let mut advice: Vec<String> = Vec::new();
    if let Some((name, value)) = loaded.parameters.iter().find(|(_, value)| *value > 1) {
        advice.push(format!("`-D {name}={}` (a smaller parameter)", value - 1));
    }
    if is_ispl && !work.quick {
        advice.push("`--quick` (states are not counted)".to_string());
    }
    if is_ispl && work.engine != EngineChoice::Auto && work.cluster.is_none() {
        advice.push("`--engine auto`".to_string());
    } else if is_ispl && work.cluster.is_none() {
        advice.push("`--engine race`".to_string());
    }
    if matches!(&loaded.model, Some(Model::Ispl(system)) if system.properties.len() > 1) {
        advice.push("`--only NAME` (fewer properties)".to_string());
    }
    match why {
        Why::Timeout => advice.push("a longer `--timeout`".to_string()),
        Why::Memory => advice.push("more `--memory`".to_string()),
        _ => {}
    }
    match advice.pop() {
        None => "check a smaller model".to_string(),
        Some(last) if advice.is_empty() => format!("try {last}"),
        Some(last) => format!("try {}, or {last}", advice.join(", ")),
    }
}

/// A number with its noun.
fn plural(n: u64, noun: &str) -> String {
    if n == 1 { format!("one {noun}") } else { format!("{n} {noun}s") }
}
