//! Evidence in words: a line for each reason, those it rests on below it.

use std::io::{self, Write};

use crate::why::short;
use crate::{
    AnswerReport, BecauseReport, Entries, EvidenceReport, ReasonReport, RowReport, RunPath, SupportReport,
};

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
        BecauseReport::Answers { rows, play, .. } if rows.is_empty() && play.back_to.is_none() => {
            ", and no choice of the group can mend it".to_string()
        }
        BecauseReport::Answers { rows, play, .. } => {
            let words = |entries: &Entries<String>| {
                let words: Vec<String> =
                    entries.0.iter().map(|(who, what)| format!("{who} {what}")).collect();
                words.join(" and ")
            };
            let answered = |row: &AnswerReport| {
                let then = row.next.map_or("nothing follows".to_string(), |next| format!("s{next} follows"));
                let answer = words(&row.answer);
                let by = if answer.is_empty() { String::new() } else { format!(" by {answer}") };
                format!("{} in s{} is answered{by}: {then}", words(&row.choice), row.state)
            };
            let rows: Vec<String> = rows.iter().take(2 * ENDS).map(answered).collect();
            format!(": {}; put off as long as possible {}", rows.join(", "), run(play))
        }
        BecauseReport::Unfolded { nodes } => {
            let mut states: Vec<String> = Vec::new();
            for node in nodes {
                let name = format!("s{}", node.state);
                if !states.contains(&name) {
                    states.push(name);
                }
            }
            states.truncate(2 * ENDS);
            format!(": unfolded by {} claims about {}, and by these", nodes.len(), states.join(", "))
        }
        BecauseReport::NotShown { missing: "strategies" } => {
            ": no uniform strategy does; with perfect information there is one".to_string()
        }
        BecauseReport::NotShown { missing: "fairness" } => {
            ": a fairness constraint speaks of more than one state".to_string()
        }
        BecauseReport::NotShown { missing: "fixpoint" } => {
            ": a variable stands under an operator that is not unfolded".to_string()
        }
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
        BecauseReport::Answers { from, rows, play, .. } => {
            visit(*from);
            rows.iter().flat_map(|row| [Some(row.state), row.next]).flatten().for_each(&mut visit);
            play.states.iter().copied().for_each(visit);
        }
        BecauseReport::Unfolded { nodes } => nodes.iter().for_each(|node| visit(node.state)),
        _ => {}
    }
}

fn each_reason(because: &BecauseReport, mut visit: impl FnMut(usize)) {
    match because {
        BecauseReport::Here | BecauseReport::NotShown { .. } => {}
        BecauseReport::Operands { reasons }
        | BecauseReport::DeadEnd { reasons }
        | BecauseReport::Strategy { reasons, .. }
        | BecauseReport::Answers { reasons, .. } => {
            reasons.iter().copied().for_each(visit);
        }
        BecauseReport::Unfolded { nodes } => nodes.iter().for_each(|node| {
            if let SupportReport::Reason { reason } = node.by {
                visit(reason);
            }
        }),
        BecauseReport::Run { claims, .. } => claims.iter().for_each(|claim| visit(claim.reason)),
        BecauseReport::Possible { reason, .. } | BecauseReport::Chain { reason, .. } => visit(*reason),
    }
}
