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
        Reached::States(Found { states, layer, .. }) => {
            let layers = if layer == 0 { String::new() } else { format!(" in {}", plural(layer, "layer")) };
            let verb = if states == 1 { "was" } else { "were" };
            format!("after {}{layers} {verb} found", plural(states, "state"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, Work, load_text};

    const MODEL: &str = "param N = 3;
        Agent A Vars: x : 0..N; end Vars Actions = {a}; Protocol: Other : {a}; end Protocol
          Evolution: x = x + 1 if x < N; end Evolution end Agent
        Evaluation p if A.x = N; end Evaluation InitStates A.x = 0; end InitStates
        Formulae EF p; AG !p; end Formulae";

    #[rustfmt::skip]
    #[test]
    fn places() {
        let diagrams = |phase, rounds| {
            place(Reached::Diagrams(DiagramProgress { phase, rounds, nodes: 70, bytes: 2520 }))
        };
        let states = |states, layer| place(Reached::States(Found { states, layer, workers: 1 }));
        assert_eq!(states(1, 0), "after one state was found");
        assert_eq!(states(20, 3), "after 20 states in 3 layers were found");
        assert_eq!(diagrams(DiagramPhase::Encoding, 0), "while the model was encoded, with 70 diagram nodes");
        assert_eq!(diagrams(DiagramPhase::Ordering, 0), "while variable orders were tried, with 70 diagram nodes");
        assert_eq!(diagrams(DiagramPhase::Exploring, 1), "in the search for reachable states, after one round, with 70 diagram nodes");
        assert_eq!(diagrams(DiagramPhase::Deciding, 9), "after all reachable states were found, with 70 diagram nodes");
    }

    #[test]
    fn advice_fits_the_request() {
        let advice = |work: Work, why| {
            what_to_try(&load_text("m.ispl", MODEL, &Request { work, ..Request::default() }), why)
        };
        assert_eq!(
            advice(Work::default(), Why::Timeout),
            "try `-D N=2` (a smaller parameter), `--quick` (states are not counted), `--engine race`, \
             `--only NAME` (fewer properties), or a longer `--timeout`"
        );
        let fixed = Work { engine: EngineChoice::Named("explicit"), quick: true, ..Work::default() };
        assert_eq!(
            advice(fixed, Why::Memory),
            "try `-D N=2` (a smaller parameter), `--engine auto`, `--only NAME` (fewer properties), or more `--memory`"
        );
        let graph = load_text("g.aut", "des (0, 0, 1)\n", &Request::default());
        assert_eq!(what_to_try(&graph, Why::Interrupted), "check a smaller model");
    }
}
