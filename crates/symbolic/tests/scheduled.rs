//! Systems in which one agent schedules the others, against the truth definition: the transition relation
//! then has one event per scheduled agent.

use fastrand::Rng;
use masque_model::System;
use masque_model::semantics::{Truth, explore, holds_in};
use masque_symbolic::Symbolic;
use masque_testkit::{Deadlocks, Tally, differential, encode};
use masque_verdict::{Budget, Show, Verdict};

/// Maximum number of states of a compared system, because the definition is slow.
const MAX_STATES: usize = 200;

#[test]
fn turns() {
    let tally = differential(&[scheduled_model], 0..700, Deadlocks::StutterEvery(3), |system, _, tally| {
        compare(&system, tally)
    });
    let fifth = (tally.get("holds") + tally.get("fails")) / 5;
    tally.assert_at_least(&[("several events", 450), ("holds", fifth), ("fails", fifth)]);
}

/// Returns where the engine differs from the definition, if it does. Counts the verdicts, and the systems
/// whose transition relation has several events.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES) else { return Ok(()) };
    let mut encoded = encode(&Symbolic { evidence: Show::None, ..Symbolic::default() }, system)?;
    if encoded.stats().figures.iter().any(|(name, n)| *name == "events" && *n > 1) {
        tally.count("several events");
    }
    for property in &system.properties {
        let expected = match holds_in(&structure, system, property) {
            Truth::Holds => Verdict::Holds,
            Truth::Fails => Verdict::Fails,
            _ => continue,
        };
        let verdict = encoded.decide(property, &Budget::unlimited()).verdict;
        if verdict != expected {
            return Err(format!("{} is {verdict}, not {expected}", property.name));
        }
        tally.count(verdict.word());
    }
    Ok(())
}

/// Returns a random model with three or four agents `W1`, `W2`, .. and a lock. The Environment schedules one
/// agent per step; that agent may move or rest, and may need the lock. Values may overflow, and in some
/// states the Environment cannot schedule every agent.
fn scheduled_model(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let n = rng.usize(3..=4);
    let mut text = String::new();
    let turns = list(n, |i| format!("t{i}"));
    let is_lazy = rng.bool();
    text += &format!(
        "Agent Environment\n Vars: spare : boolean; end Vars\n Actions = {{{turns}}};\n Protocol:\n"
    );
    if is_lazy {
        text += " spare : {t1, t2};\n";
    }
    text += &format!(" Other : {{{turns}}};\n");
    let flips = if is_lazy { "Action = t1" } else { "spare" };
    text += &format!(" end Protocol\n Evolution: spare = ~spare if {flips}; end Evolution\nend Agent\n");
    let keeper = if rng.bool() { "allow, deny" } else { "allow" };
    text += &format!(
        "Agent Lock\n Vars: free : boolean; end Vars\n Actions = {{allow, deny}};\n \
         Protocol: free : {{{keeper}}}; Other : {{deny}}; end Protocol\n Evolution:\n"
    );
    for i in 1..=n {
        text +=
            &format!(" free = false if Action = allow and Environment.Action = t{i} and W{i}.Action = go;\n");
        text += &format!(" free = true if Environment.Action = t{i} and W{i}.Action = rest;\n");
    }
    text += " end Evolution\nend Agent\n";
    for i in 1..=n {
        let top = if n == 3 { rng.usize(1..=2) } else { 1 };
        text +=
            &format!("Agent W{i}\n Vars: at : 0..{top}; end Vars\n Actions = {{go, rest}};\n Protocol:\n");
        text += &match rng.u8(0..4) {
            0 => " at = 0 : {go};\n Other : {go, rest};\n".to_string(),
            1 => " at = 0 : {go, rest};\n Other : {rest};\n".to_string(),
            // No action is enabled at the top: a deadlock.
            2 if rng.u8(0..3) == 0 => format!(" at < {top} : {{go, rest}};\n"),
            _ => " Other : {go, rest};\n".to_string(),
        };
        let needs = if rng.bool() { " and Lock.Action = allow" } else { "" };
        let up = if rng.u8(0..4) == 0 { "at = at + 1" } else { "at = 1" };
        text += " end Protocol\n Evolution:\n";
        text += &format!(" {up} if Environment.Action = t{i} and Action = go{needs};\n");
        text +=
            &format!(" at = 0 if Environment.Action = t{i} and Action = rest;\n end Evolution\nend Agent\n");
    }
    let atoms = list(n, |i| format!("W{i}.at = 0"));
    let initial = atoms.replace(", ", " and ");
    text += "Evaluation\n free if Lock.free;\n";
    for i in 1..=n {
        text += &format!(" up{i} if W{i}.at > 0;\n");
    }
    text += &format!(
        "end Evaluation\nInitStates\n !Environment.spare and Lock.free and {initial};\nend InitStates\n\
         Groups\n turns = {{Environment, Lock}}; some = {{W1, Lock}}; most = {{Environment, W1, W2}};\nend Groups\n"
    );
    if rng.u8(0..4) == 0 {
        text += "Fairness\n up1;\nend Fairness\n";
    }
    text += "Formulae\n";
    for _ in 0..5 {
        text += &format!(" {};\n", formula(&mut rng, n));
    }
    text + "end Formulae\n"
}

fn formula(rng: &mut Rng, n: usize) -> String {
    let goal = |rng: &mut Rng| match rng.u8(0..4) {
        0 => "free".to_string(),
        1 => format!("!up{}", rng.usize(1..=n)),
        2 => format!("(up{} or up{})", rng.usize(1..=n), rng.usize(1..=n)),
        _ => format!("up{}", rng.usize(1..=n)),
    };
    let (phi, psi) = (goal(rng), goal(rng));
    let group = *rng.choice(&["turns", "some", "most", "W1", "W2", "Lock", "Environment"]).unwrap_or(&"some");
    let path = match rng.u8(0..7) {
        0 => format!("X {phi}"),
        1 | 2 => format!("F {phi}"),
        3 => format!("G {phi}"),
        4 => format!("({phi} U {psi})"),
        5 => format!("({phi} W {psi})"),
        _ => format!("({phi} R {psi})"),
    };
    match rng.u8(0..10) {
        0 => format!("EX{{Environment.Action = t1 and W2.Action = go}} {phi}"),
        1 => format!("mu Z . {phi} or EX{{W1.Action = rest or Lock.Action = deny}} Z"),
        2 | 3 => format!("AG({psi} -> <{group}>{path})"),
        _ => format!("<{group}>{path}"),
    }
}

/// Formats each of `1..=n` and joins the texts with commas.
fn list(n: usize, format: impl Fn(usize) -> String) -> String {
    (1..=n).map(format).collect::<Vec<_>>().join(", ")
}
