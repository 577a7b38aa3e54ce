//! Random logs: runs of random protocols, projected to what is observable, then changed in one event.

use std::collections::BTreeMap;

use fastrand::Rng;
use masque_lcc::reference::{Act, describe, matches};
use masque_lcc::{EventKind, EventPattern, EventText};
use masque_mu::tree::Pattern;

use super::graph::Graph;

/// Patterns of observable steps; the first is the default.
const OBSERVABLE: [&[&str]; 8] = [
    &["out(_)"],
    &["out(_)"],
    &["out(_)", "in(_)"],
    &["in(_)"],
    &["-"],
    &["out(_)@x", "#(w)"],
    &["-in(_)"],
    &["out(_)", "#"],
];

/// Picks what is observable.
pub(crate) fn observable(rng: &mut Rng) -> &'static [&'static str] {
    OBSERVABLE[rng.usize(0..OBSERVABLE.len())]
}

/// Picks the text of a goal.
pub(crate) fn goal(rng: &mut Rng) -> String {
    let target = pick(
        rng,
        &[
            "final",
            "final",
            "done(x)",
            "done(y)",
            "deadlock",
            "<in(m0)>tt",
            "<out(_)@y>tt",
            "(done(x) && !final)",
        ],
    );
    let step = pick(
        rng,
        &[
            "in(m0)",
            "out(_)@x",
            "in(_)@y",
            "in(m1(c))",
            "out(m1(_))",
            "#(w)",
            "out(n(2))",
            "in(k(_, _))",
            "out(m)",
        ],
    );
    match rng.u32(0..5) {
        0 => format!("EF {target}"),
        1 | 2 => format!("AF {target}"),
        3 => format!("inev({step})"),
        _ => format!("<-* . {step}>tt"),
    }
}

/// Picks the text of a property that is not a goal.
pub(crate) fn fact(rng: &mut Rng) -> String {
    pick(
        rng,
        &[
            "AG !deadlock",
            "<out(_)>tt",
            "[in(_)]ff",
            "EG !final",
            "<-><->tt",
            "done(x)",
            "AG EF final",
            "resp(out(_), in(_))",
        ],
    )
    .to_string()
}

/// Picks the text of a goal about the labels of a protocol.
pub(crate) fn goal_about(rng: &mut Rng, graph: &Graph) -> String {
    let act = some_act(rng, graph);
    let step = pattern_of(rng, act, false);
    match rng.u32(0..3) {
        0 => format!("inev({step})"),
        1 => format!("<-* . {step}>tt"),
        _ => format!("EF <{step}>tt"),
    }
}

/// Makes an obligation about the labels of a protocol. It often shares a variable.
pub(crate) fn obligation_about(rng: &mut Rng, graph: &Graph) -> String {
    let (first, second, third) = (some_act(rng, graph), some_act(rng, graph), some_act(rng, graph));
    let (event, constraints) = describe(second);
    let act = match (event.kind, event.message) {
        (Some(EventKind::Sent), Some(message)) => format!("send({})", general(rng, &message, true)),
        (_, Some(message)) => format!("receive({})", general(rng, &message, true)),
        _ => constraints.first().filter(|one| !one.contains([' ', '('])).cloned().unwrap_or("w".to_string()),
    };
    let subject = if rng.u32(0..4) == 0 { "_".to_string() } else { event.by.unwrap_or_default() };
    let after = pattern_of(rng, first, true);
    let until =
        if rng.u32(0..3) == 0 { format!(" until {}", pattern_of(rng, third, true)) } else { String::new() };
    format!("rule boss: ({subject}, _, !{act}) after {after}{until}.")
}

fn some_act<'g>(rng: &mut Rng, graph: &'g Graph) -> &'g Act {
    let acts = &graph.labels[rng.usize(0..graph.labels.len())];
    &acts[rng.usize(0..acts.len())]
}

/// Writes a pattern that matches a side of a label.
fn pattern_of(rng: &mut Rng, act: &Act, shares: bool) -> String {
    let (event, _) = describe(act);
    let by = if rng.bool() { format!("@{}", event.by.unwrap_or_default()) } else { String::new() };
    match (event.kind, event.message) {
        (Some(EventKind::Sent), Some(message)) => format!("out({}){by}", general(rng, &message, shares)),
        (_, Some(message)) => format!("in({}){by}", general(rng, &message, shares)),
        _ => format!("#{by}"),
    }
}

/// Replaces the arguments of a message by variables, or the message by one.
fn general(rng: &mut Rng, message: &str, shares: bool) -> String {
    let Some((name, arguments)) = message.split_once('(') else { return message.to_string() };
    // Commas within arguments only make it a message that does not occur.
    let n_arguments = arguments.split(',').count();
    let variables = if shares { &["X", "X", "_", "c"] } else { &["_", "_", "c", "2"] };
    let arguments: Vec<&str> = (0..n_arguments).map(|_| pick(rng, variables)).collect();
    format!("{name}({})", arguments.join(", "))
}

/// Makes the log of a random run, and changes it. Returns the log and whether it was changed.
pub(crate) fn log(rng: &mut Rng, graph: &Graph, observable: &[Pattern]) -> (Vec<EventText>, bool) {
    let (mut state, mut log) = (0, Vec::new());
    for _ in 0..rng.usize(1..25) {
        let next = &graph.transitions[state];
        if next.is_empty() || log.len() >= 8 {
            break;
        }
        let (label, to) = next[rng.usize(0..next.len())];
        let acts = &graph.labels[label];
        if observable.iter().any(|pattern| matches(acts, pattern)) {
            log.push(event(rng, acts));
        }
        state = to;
    }
    let is_changed = rng.u32(0..3) > 0 && !log.is_empty();
    if is_changed {
        change(rng, graph, &mut log);
    }
    (log, is_changed)
}

/// Describes some parts of a label.
fn event(rng: &mut Rng, acts: &[Act]) -> EventText {
    let (mut event, constraints) = describe(&acts[rng.usize(0..acts.len())]);
    if acts.len() == 2 && rng.u32(0..4) == 0 {
        event.kind = Some(EventKind::Exchanged);
    }
    if rng.bool() {
        event.kind = None;
    }
    if rng.u32(0..4) == 0 && !constraints.is_empty() {
        event.constraint = Some(constraints[rng.usize(0..constraints.len())].clone());
    }
    let EventText { from, to, by, message, constraint, .. } = &mut event;
    // The acting agent is given once.
    if rng.bool() {
        *by = None;
    } else if rng.bool() {
        *from = None;
    }
    for part in [from, to, by] {
        if rng.u32(0..6) == 0 {
            *part = None;
        }
    }
    if let Some(message) = message {
        *message = filled(rng, message);
    }
    if let Some(constraint) = constraint {
        *constraint = filled(rng, constraint);
    }
    if rng.u32(0..12) == 0 {
        *message = None;
    }
    // Parts that cannot be read, such as operations, are left out.
    while let Err(unreadable) = EventPattern::read(&event) {
        let part = match unreadable.part {
            "message" => &mut event.message,
            "constraint" => &mut event.constraint,
            "from" => &mut event.from,
            "to" => &mut event.to,
            _ => &mut event.by,
        };
        *part = None;
    }
    event
}

/// Gives values to the variables of a term.
fn filled(rng: &mut Rng, text: &str) -> String {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    let mut parts = text.split('_');
    let mut filled = parts.next().unwrap_or_default().to_string();
    for part in parts {
        // Only variables begin with an underscore.
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        let value = pick(rng, &["_", "_", "c", "2", "f(c)", "V", "x", "7"]);
        filled += values.entry(number).or_insert(value);
        filled += rest;
    }
    filled
}

/// Changes, drops, swaps or adds one event.
fn change(rng: &mut Rng, graph: &Graph, log: &mut Vec<EventText>) {
    let index = rng.usize(0..log.len());
    let any = |rng: &mut Rng| {
        let acts = &graph.labels[rng.usize(0..graph.labels.len())];
        event(rng, acts)
    };
    match rng.u32(0..5) {
        0 => {
            log.remove(index);
        }
        1 if index + 1 < log.len() => log.swap(index, index + 1),
        2 => {
            let added = any(rng);
            log.insert(index, added);
        }
        3 => log[index] = any(rng),
        _ => {
            let EventText { from, to, message, kind, .. } = &mut log[index];
            match rng.u32(0..4) {
                0 => *from = Some(pick(rng, &["x", "y", "z"]).to_string()),
                1 => *to = Some(pick(rng, &["x", "y", "a(_, x)", "a(p0(_), _)"]).to_string()),
                2 => {
                    *message =
                        Some(pick(rng, &["m0", "m1(c)", "n(2)", "m1(V)", "k(V, V)", "other"]).to_string())
                }
                _ => *kind = [None, Some(EventKind::Taken), Some(EventKind::Sent)][rng.usize(0..3)],
            }
        }
    }
}

fn pick<'a>(rng: &mut Rng, items: &[&'a str]) -> &'a str {
    items[rng.usize(0..items.len())]
}
