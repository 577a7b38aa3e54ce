//! Findings of a check besides verdicts, as diagnostics.

use masque_model::semantics::enabled_actions;
use masque_model::{AgentId, Deadlock, Overflow, System};
use masque_text::{Diagnostic, Severity};
use masque_verdict::{Facts, FairInitial, JointAction, OverflowAt, Path, Unsupported, Vacuous, Why};

/// Maximum number of characters of a formula in a message. The report has the whole formula.
const MAX_FORMULA_CHARS: usize = 100;

/// A diagnostic about the behaviour of a model, with the path that shows it if there is one.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The message about it.
    pub diagnostic: Diagnostic,
    /// A path to the state at which it occurs.
    pub path: Option<Path>,
    /// The joint action after the path at which it occurs, if it occurs in a step.
    pub then: Option<JointAction>,
}

impl From<Diagnostic> for Finding {
    fn from(diagnostic: Diagnostic) -> Finding {
        Finding { diagnostic, path: None, then: None }
    }
}

/// Findings about deadlocks, overflows, and initial states that are missing or not fair.
pub(crate) fn of_facts(system: &System, facts: &Facts) -> Vec<Finding> {
    if facts.no_initial_state {
        let message = "no state satisfies InitStates, so there is nothing to check";
        return vec![Diagnostic::error("ispl/no-initial-state", system.initial_span, message).into()];
    }
    let deadlock = facts.deadlock.as_ref().map(|path| deadlock(system, path, facts.overflow.as_ref()));
    let overflow = facts.overflow.as_ref().map(|at| overflow(system, at));
    let fairness = fairness(facts.fair_initial).map(Finding::from);
    deadlock.into_iter().chain(overflow).chain(fairness).collect()
}

fn deadlock(system: &System, path: &Path, overflow: Option<&OverflowAt>) -> Finding {
    let mut message = match path.actions.len() {
        _ if path.is_withheld() => "a state without successors can be reached".to_string(),
        0 => "an initial state has no successors".to_string(),
        1 => "a state without successors can be reached in one step".to_string(),
        n => format!("a state without successors can be reached in {n} steps"),
    };
    let severity = match system.meaning.deadlock {
        Deadlock::Finite => Severity::Warning,
        Deadlock::Error => Severity::Error,
        Deadlock::Stutter => {
            message += "; it gets a step to itself";
            Severity::Note
        }
    };
    let last = path.states.last().map_or(&[][..], Vec::as_slice);
    let is_idle = |i: &AgentId| !last.is_empty() && enabled_actions(system, *i, last).is_empty();
    let idle = system.agent_ids().find(is_idle).map(|i| system.agent(i));
    let mut diagnostic = match (idle, overflow) {
        (Some(agent), _) => Diagnostic::error("ispl/deadlock", agent.span, message)
            .label(format!("`{}` has no action there", agent.name)),
        (None, Some(at)) if !path.is_withheld() && at.path.states.last() == path.states.last() => {
            let line = &system.agent(at.agent).evolution[at.line];
            Diagnostic::error("ispl/deadlock", line.span, message)
                .label("every step there assigns a value outside its range")
        }
        _ => Diagnostic::nowhere(severity, "ispl/deadlock", message),
    };
    diagnostic.severity = severity;
    if system.meaning.deadlock == Deadlock::Finite {
        diagnostic = diagnostic.hint("there AX and AF hold of everything; see `--deadlock`");
    }
    Finding { diagnostic, path: (!path.is_withheld()).then(|| path.clone()), then: None }
}

fn overflow(system: &System, at: &OverflowAt) -> Finding {
    let variable = system.full_name(at.variable);
    let line = &system.agent(at.agent).evolution[at.line];
    let when = match at.path.actions.len() {
        _ if at.path.is_withheld() => String::new(),
        0 => " in the first step".to_string(),
        1 => " after one step".to_string(),
        n => format!(" after {n} steps"),
    };
    let message = format!("`{variable}` can be assigned a value outside its range{when}");
    let diagnostic = match system.meaning.overflow {
        Overflow::Error => Diagnostic::error("ispl/overflow", line.span, message),
        Overflow::Drop => Diagnostic::warning("ispl/overflow", line.span, message)
            .hint("this step is removed from the model; see `--overflow`"),
    };
    let diagnostic = diagnostic.also(system.variable(at.variable).span, "its range");
    let path = (!at.path.is_withheld()).then(|| at.path.clone());
    let then = path.as_ref().map(|_| at.joint_action.clone());
    Finding { diagnostic, path, then }
}

fn fairness(initial: FairInitial) -> Option<Diagnostic> {
    let warning = |code, message| Diagnostic::nowhere(Severity::Warning, code, message);
    match initial {
        FairInitial::All | FairInitial::Unsupported => None,
        FairInitial::Some => Some(
            warning("ispl/partly-fair", "some initial states start no fair path")
                .hint("properties are decided only at the others"),
        ),
        FairInitial::None => Some(
            warning("ispl/no-fair-path", "no path meets the Fairness constraints")
                .hint("so no property can be decided"),
        ),
    }
}

/// The note that states were not counted, and why.
pub(crate) fn of_not_counted(why: Option<Why>) -> Finding {
    let because = match why {
        None => "`--quick` stops when every property is decided".to_string(),
        Some(why) => format!("every property was decided before the search ended ({})", why.word()),
    };
    let message = format!("states were not counted: {because}");
    Diagnostic::nowhere(Severity::Note, "ispl/not-counted", message)
        .hint("deadlocks, overflows and vacuous implications were not searched for")
        .into()
}

/// Notes about operators that the engine does not support: each once, at the first property that has it.
pub(crate) fn of_unsupported(system: &System, unsupported: &[(usize, Unsupported)]) -> Vec<Finding> {
    let mut reported: Vec<&str> = Vec::new();
    let mut findings = Vec::new();
    for (index, Unsupported { formula, what }) in unsupported {
        if reported.contains(what) {
            continue;
        }
        reported.push(what);
        let property = &system.properties[*index];
        let written = system.wording.parts(property.written);
        let part = shortened(system.part_text(&written, *formula));
        let message = format!("the chosen engine does not decide {what}");
        let diagnostic = Diagnostic::note("ispl/unsupported", property.span, message)
            .label(format!("because of `{part}`"))
            .hint(
                "without `--engine` and `--processes`, an engine that decides them is used if there is one",
            );
        findings.push(diagnostic.into());
    }
    findings
}

/// Notes about implications that hold because their antecedent is never true.
pub(crate) fn of_vacuity(system: &System, vacuous: &[(usize, Vec<Vacuous>)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, vacuous) in vacuous {
        let property = &system.properties[*index];
        let written = system.wording.parts(property.written);
        for Vacuous { antecedent, .. } in vacuous {
            let antecedent = shortened(system.part_text(&written, *antecedent));
            let message = format!(
                "property {} holds vacuously: `{antecedent}` is true in no reachable state",
                property.title
            );
            let diagnostic = Diagnostic::note("ispl/vacuous", property.span, message)
                .label("an implication here never applies");
            findings.push(diagnostic.into());
        }
    }
    findings
}

/// The beginning of a formula.
fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_FORMULA_CHARS) {
        None => text,
        Some((end, _)) => format!("{} ..", &text[..end]),
    }
}
