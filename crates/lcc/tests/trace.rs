//! Traces: which event sent a message that is received, how a run ends, and which agents are done at its end.

use masque_lcc::{EventAction, InstanceInput, Trace, check_all, open};
use masque_text::{Sources, render};
use masque_verdict::{Budget, Show};

/// Returns the run that shows the verdict of a formula.
fn trace(protocol: &str, formula: &str) -> Trace {
    let mut sources = Sources::default();
    let file = sources.add("a.lcc", format!("{protocol}\nproperty p : {formula} ;")).unwrap();
    let opened = open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() });
    let drawn: String = opened.diagnostics.iter().map(|d| render(&sources, d, false)).collect();
    let mut system = opened.system.unwrap_or_else(|| panic!("{drawn}"));
    let mut checked =
        check_all(&mut system, &opened.properties, Show::All, &Budget::unlimited(), &mut |_, _| {});
    checked.remove(0).trace.unwrap()
}

/// Writes the events of a trace: `s` for a sending, `#` for an internal step, `x` for a handshake, the index
/// of the sending for a receipt, and `?` for the receipt of a message that was in transit at the start.
fn events(trace: &Trace) -> String {
    let word = |event: &masque_lcc::Event| match (&event.action, event.sent) {
        (EventAction::Sent { .. }, _) => "s".to_string(),
        (EventAction::Taken { .. }, Some(sent)) => sent.to_string(),
        (EventAction::Taken { .. }, None) => "?".to_string(),
        (EventAction::Exchanged { .. }, _) => "x".to_string(),
        (EventAction::Internal { .. }, _) => "#".to_string(),
    };
    trace.events.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Two equal messages, and a different one between them, which the receiver takes first.
const BAG: &str = "a(s, S) :: m => a(r, R) then n => a(r, R) then m => a(r, R).
    a(r, R) :: n <= a(s, S) then m <= a(s, S) then m <= a(s, S).
    agent a(s, one). agent a(r, two).";
/// A message with an unbound variable, which the receiver binds.
const OPEN: &str = "a(s, S) :: pair(X, Y) => a(r, R). a(r, R) :: pair(1, Z) <= a(s, S) then null <- never.
    agent a(s, one). agent a(r, two).";
const RING: &str = "a(left, L) :: ball <= a(right, R) then ball => a(right, R) then a(left, L).
    a(right, R) :: ball <= a(left, L) then ball => a(left, L) then a(right, R).
    agent a(left, lea). agent a(right, ron). mail a(right, ron) -> a(left, lea) : ball.";

#[rustfmt::skip]
#[test]
fn sendings_and_ends_of_runs() {
    let sync = format!("{BAG} option comm = sync.");
    let rows = [
        // protocol  formula                            events             end
        (BAG,        "AG !final",                       "s s s 1 0 2",     "final"),
        (OPEN,       "AG !deadlock",                    "s 0",             "stuck"),
        (RING,       "AF final",                        "? s 1 s",         "loop"),
        (BAG,        "[-* . in(n)]ff",                  "s s 1",           "decided"),
        (BAG,        "EF <in(n)><in(n)>tt",             "s s",             "open"),
        (&sync,      "AF <out(n)>tt",                   "",                "stuck"),
    ];
    for (protocol, formula, expected, end) in rows {
        let trace = trace(protocol, formula);
        assert_eq!((events(&trace).as_str(), trace.end.word()), (expected, end), "{protocol} {formula}");
    }
}

#[test]
fn first_roles_and_agents_at_rest() {
    let protocol = "a(s(N), S) :: m(N) => a(r, R). a(r, R) :: m(N) <= a(s(_), S) then null <- never.
        a(idle, I) :: x <= a(s(_), S). agent a(s(1), one). agent a(r, two). agent a(idle, two).
        server a(idle, three).";
    let trace = trace(protocol, "AG !deadlock");
    assert_eq!(trace.agents, ["one", "two", "three"]);
    assert_eq!(trace.roles, ["s(1)", "r par idle", "idle"]);
    assert_eq!(trace.rests, [true, false, true]);
}
