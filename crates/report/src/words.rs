//! Evidence in words: a line for each reason, those it rests on below it.

use std::io::{self, Write};

use crate::why::short;
use crate::{BecauseReport, EvidenceReport, ReasonReport, RowReport, RunPath};

/// So many lines are written.
const MOST_LINES: usize = 60;
/// Reasons that stand deeper are shown no further to the right.
const DEEP: usize = 12;
/// Of the states of a run so many are named at each end.
const ENDS: usize = 4;

/// Writes the reasons as a tree. States are called `s0`, `s1`, .. by their place in the evidence.
pub(crate) fn write_words(out: &mut dyn Write, evidence: &EvidenceReport) -> io::Result<()> {
    if evidence.start.states.len() > 1 {
        writeln!(out, "  the run {} leads to s{}", run(&evidence.start), evidence.reasons[0].state)?;
    }
    let mut met = vec![false; evidence.reasons.len()];
    let mut open = vec![(0, 0)];
    let mut n_lines = 0;
    while let Some((position, depth)) = open.pop() {
        if std::mem::replace(&mut met[position], true) {
            continue;
        }
        if n_lines == MOST_LINES {
            return writeln!(out, "  and more; the JSON report has them all");
        }
        n_lines += 1;
        let reason = &evidence.reasons[position];
        let indent = "  ".repeat(depth.min(DEEP) + 1);
        writeln!(out, "{indent}{}{}", claim(evidence, reason), because(&reason.because))?;
        let begin = open.len();
        each_reason(&reason.because, |child| open.push((child, depth + 1)));
        open[begin..].reverse();
    }
    Ok(())
}

fn claim(evidence: &EvidenceReport, reason: &ReasonReport) -> String {
    let truth = if reason.holds { "true" } else { "false" };
    format!("{} is {truth} in s{}", short(&evidence.formulas[reason.formula]), reason.state)
}

fn because(because: &BecauseReport) -> String {
    match because {
        BecauseReport::Here => String::new(),
        BecauseReport::Operands { .. } => ", because".to_string(),
        BecauseReport::DeadEnd { .. } => ": nothing follows on it".to_string(),
        BecauseReport::Run { run: path, .. } => match path.back_to {
            None if path.states.len() == 1 => ": at once".to_string(),
            None => format!(": the run {}", run(path)),
            Some(back) => format!(": the run {} and again from s{}", run(path), path.states[back]),
        },
        BecauseReport::Possible { view, green, state, .. } => {
            let who = view.join(" and ");
            let where_green = match green.join(" and ") {
                agents if agents.is_empty() => String::new(),
                agents => format!(", where {agents} behave correctly"),
            };
            match who.is_empty() {
                true => format!(": there is s{state}{where_green}"),
                false => format!(": to {who} it may be s{state}{where_green}"),
            }
        }
        BecauseReport::Chain { links, .. } if links.is_empty() => ", because".to_string(),
        BecauseReport::Chain { links, .. } => {
            let links: Vec<String> =
                links.iter().map(|link| format!("to {} it may be s{}", link.agent, link.state)).collect();
            format!(": {}", links.join(", there "))
        }
        BecauseReport::Strategy { rows, play, .. } => {
            let doing = |row: &RowReport| {
                let actions: Vec<String> =
                    row.actions.0.iter().map(|(agent, action)| format!("{agent} {action}")).collect();
                format!("{} as in s{}", actions.join(" and "), row.state)
            };
            let rows: Vec<String> = rows.iter().take(2 * ENDS).map(doing).collect();
            format!(": the strategy {}; played against all odds {}", rows.join(", "), run(play))
        }
        BecauseReport::NotShown { missing: "strategies" } => ": that is about strategies".to_string(),
        BecauseReport::NotShown { missing: "fixpoint" } => ": that is about a fixpoint".to_string(),
        BecauseReport::NotShown { missing: "all-paths" } => ": that is about all runs".to_string(),
        BecauseReport::NotShown { missing: "all-states" } => {
            ": that is about all states that may be meant".to_string()
        }
        BecauseReport::NotShown { .. } => ": that would be too much to show".to_string(),
    }
}

/// The states of a run; of a long one its ends.
fn run(path: &RunPath) -> String {
    let name = |state: &usize| format!("s{state}");
    let states = &path.states;
    let names: Vec<String> = match states.len() > 2 * ENDS + 1 {
        false => states.iter().map(name).collect(),
        true => {
            let (first, last) = (&states[..ENDS], &states[states.len() - ENDS..]);
            let between = std::iter::once("..".to_string());
            first.iter().map(name).chain(between).chain(last.iter().map(name)).collect()
        }
    };
    names.join(", ")
}

/// The states that a reason names besides its own.
pub(crate) fn each_state(because: &BecauseReport, mut visit: impl FnMut(usize)) {
    match because {
        BecauseReport::Run { run, .. } => run.states.iter().copied().for_each(visit),
        BecauseReport::Possible { state, .. } => visit(*state),
        BecauseReport::Chain { links, .. } => links.iter().for_each(|link| visit(link.state)),
        BecauseReport::Strategy { rows, play, .. } => {
            rows.iter().map(|row| row.state).chain(play.states.iter().copied()).for_each(visit);
        }
        _ => {}
    }
}

fn each_reason(because: &BecauseReport, mut visit: impl FnMut(usize)) {
    match because {
        BecauseReport::Here | BecauseReport::NotShown { .. } => {}
        BecauseReport::Operands { reasons }
        | BecauseReport::DeadEnd { reasons }
        | BecauseReport::Strategy { reasons, .. } => {
            reasons.iter().copied().for_each(visit);
        }
        BecauseReport::Run { claims, .. } => claims.iter().for_each(|claim| visit(claim.reason)),
        BecauseReport::Possible { reason, .. } | BecauseReport::Chain { reason, .. } => visit(*reason),
    }
}
