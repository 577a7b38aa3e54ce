//! `--cross-check`: comparison of the results of several engines.
//!
//! All engines agree on facts, verdicts, evidence and vacuity, because each of these is defined by the model
//! alone (evidence is canonical). Where two differ, one of them is wrong, which is a bug in Masque. An engine
//! that hit a limit has no result to compare.

use std::fmt::{self, Write};

use masque_model::System;
use masque_verdict::{Because, Evidence, EvidencePath, Facts, Outcome, Path, Response, State, Verdict, Why};

/// The result of comparing several engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrossCheck {
    /// Names of the engines; the results of the first one are reported.
    pub engines: Vec<&'static str>,
    /// Whether they agree on the states, deadlocks, overflows and fair initial states.
    pub facts: bool,
    /// Number of properties on which they agree.
    pub agreed: usize,
    /// Number of properties that at least two engines support.
    pub comparable: usize,
    /// The questions on which they disagree.
    pub disagreements: Vec<Disagreement>,
}

impl CrossCheck {
    /// Whether everything that can be compared was compared and agrees.
    pub fn is_complete(&self) -> bool {
        self.facts && self.agreed == self.comparable && self.disagreements.is_empty()
    }
}

impl fmt::Display for CrossCheck {
    /// `explicit and symbolic agree on the states and on 3 of 3 properties`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engines = self.engines.join(" and ");
        let CrossCheck { agreed, comparable, .. } = self;
        match (self.facts, self.disagreements.len()) {
            (_, 1..) => write!(f, "{engines} disagree"),
            (false, _) => write!(f, "{engines} were not compared: a limit was hit"),
            (true, _) => {
                write!(f, "{engines} agree on the states and on {agreed} of {comparable} properties")
            }
        }
    }
}

/// Different answers of two engines to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The index of the property; none if the question is about the system.
    pub property: Option<usize>,
    /// The question, such as `the number of reachable states` or `the verdict`.
    pub question: &'static str,
    /// The names of the two engines and their answers.
    pub answers: [(&'static str, String); 2],
}

/// The questions about the facts of a system, each with an engine's answer.
pub(crate) fn facts(system: &System, facts: &Facts) -> [(&'static str, String); 5] {
    let deadlock = facts.deadlock.as_ref().map_or("none".to_string(), |path| path_text(system, path));
    let overflow = match &facts.overflow {
        None => "none".to_string(),
        Some(at) => format!(
            "{}; then {}, in line {} of {}, on {}",
            path_text(system, &at.path),
            actions_text(system, &at.joint_action),
            at.line + 1,
            system.agent(at.agent).name,
            system.full_name(at.variable)
        ),
    };
    [
        ("the number of reachable states", facts.states.to_string()),
        ("whether there is no initial state", facts.no_initial_state.to_string()),
        ("a shortest path to a deadlock", deadlock),
        ("a shortest path to an overflow", overflow),
        ("which initial states are fair", format!("{:?}", facts.fair_initial).to_lowercase()),
    ]
}

/// The questions about the outcome of a property, each with the answers of two engines; none if one of them
/// hit a limit. If `is_limited`, a limit may have cost one of them the evidence.
pub(crate) fn outcomes(
    system: &System,
    one: &Outcome,
    other: &Outcome,
    is_limited: bool,
) -> Option<Vec<(&'static str, [String; 2])>> {
    if hit_a_limit(one.verdict) || hit_a_limit(other.verdict) {
        return None;
    }
    let mut questions = vec![("the verdict", [one, other].map(|outcome| outcome.verdict.to_string()))];
    if one.verdict == other.verdict && !(is_limited && one.evidence.is_some() != other.evidence.is_some()) {
        let text = |outcome: &Outcome| match &outcome.evidence {
            None => "none".to_string(),
            Some(evidence) => evidence_text(system, evidence),
        };
        questions.push(("the evidence", [one, other].map(text)));
    }
    Some(questions)
}

/// A list of texts in one line.
pub(crate) fn list(texts: &[String]) -> String {
    if texts.is_empty() { "none".to_string() } else { texts.join("; ") }
}

/// Whether the engine hit a limit instead of deciding.
fn hit_a_limit(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Holds
        | Verdict::Fails
        | Verdict::Unknown(Why::NoFairPath | Why::NoModel | Why::Unsupported) => false,
        Verdict::Unknown(
            Why::Timeout | Why::Memory | Why::States | Why::Interrupted | Why::Workers | Why::Bound(_),
        ) => true,
    }
}

/// All states and actions of a path in one line.
fn path_text(system: &System, path: &Path) -> String {
    let mut text = String::new();
    for (index, state) in path.states.iter().enumerate() {
        text += &state_text(system, state);
        if let Some(actions) = path.actions.get(index) {
            _ = write!(text, " -[{}]-> ", actions_text(system, actions));
        }
    }
    text
}

/// The evidence in one line: the states are listed first, and then referred to by number.
fn evidence_text(system: &System, evidence: &Evidence) -> String {
    let states = evidence.states.iter().enumerate();
    let mut parts: Vec<String> =
        states.map(|(n, state)| format!("state {n} is {}", state_text(system, state))).collect();
    parts.push(format!("it starts with {}", run_text(system, &evidence.start)));
    for reason in &evidence.reasons {
        let mut text =
            format!("{} is {} at {}", system.formula_text(reason.formula), reason.holds, reason.state.0);
        match &reason.because {
            Because::Path(showing) => {
                _ = write!(text, " along {}, met at {:?}", run_text(system, &showing.run), showing.fair);
            }
            Because::Possible(possibility) => {
                _ = write!(text, " because of state {}", possibility.state.0);
                if let Some(path) = &possibility.path {
                    _ = write!(text, ", reached by {}", run_text(system, path));
                }
            }
            Because::Chain(chain) => {
                for link in &chain.links {
                    let name = &system.agent(link.agent).name;
                    _ = write!(text, " ~{name}~ {}, {}", link.state.0, run_text(system, &link.path));
                }
            }
            Because::Strategy(strategy) => {
                let rows = strategy.rows.iter().map(|row| format!("{}: {:?}", row.state.0, row.actions));
                let rows = rows.collect::<Vec<_>>().join(", ");
                _ = write!(text, " by {rows}, played {}", run_text(system, &strategy.play));
            }
            Because::Responses(answers) => {
                let next = |row: &Response| row.next.map_or("nothing".to_string(), |next| next.0.to_string());
                let row = |row: &Response| {
                    format!("{} -[{}]-> {}", row.state.0, actions_text(system, &row.joint), next(row))
                };
                let rows = answers.rows.iter().map(row).collect::<Vec<_>>().join(", ");
                _ = write!(text, " by answers {rows}, played {}", run_text(system, &answers.play));
            }
            other => _ = write!(text, " by {other:?}"),
        }
        parts.push(text);
    }
    parts.join("; ")
}

fn run_text(system: &System, run: &EvidencePath) -> String {
    let mut text = String::new();
    for (index, state) in run.states.iter().enumerate() {
        _ = write!(text, "{}", state.0);
        if let Some(actions) = run.actions.get(index) {
            let actions = actions.as_ref().map_or("nothing".to_string(), |a| actions_text(system, a));
            _ = write!(text, " -[{actions}]-> ");
        }
    }
    if let Some(index) = run.back_to {
        _ = write!(text, "{} again", run.states[index].0);
    }
    text
}

fn state_text(system: &System, state: &State) -> String {
    let values: Vec<String> = (system.variable_ids().zip(state))
        .map(|(v, &value)| format!("{} = {}", system.full_name(v), system.value_text(v, value)))
        .collect();
    format!("({})", values.join(", "))
}

fn actions_text(system: &System, joint_action: &masque_verdict::JointAction) -> String {
    let doing = system.agents.iter().zip(joint_action);
    let doing =
        doing.map(|(agent, action)| format!("{}: {}", agent.name, agent.actions[action.index()].name));
    doing.collect::<Vec<_>>().join(", ")
}
