//! Synchronous communication: what formulas, runs, sessions and counts see of a handshake.

mod support;

use masque_lcc::{Happened, Session, Setup, Text, explore};
use masque_mu::{Space, check};
use masque_verdict::{Budget, Verdict};

/// Sender s and receiver r, whose bodies are these.
fn protocol(sends: &str, takes: &str) -> String {
    format!(
        "a(s, A) :: {sends}.  a(r, B) :: {takes}.  agent a(s, sue). agent a(r, roy).
        common p(_). common q(2). option comm = sync."
    )
}

#[track_caller]
fn holds(text: &str, formula: &str, expected: bool) {
    let (mut system, formulas) = support::read(text, &[formula]);
    let answer = check(&mut Space::new(&mut system), &formulas[0], &Budget::unlimited());
    assert_eq!(answer.verdict, Verdict::from(expected), "{formula}\n{text}");
}

#[rustfmt::skip]
#[test]
fn patterns_see_what_was_exchanged() {
    let anycast = protocol("m => a(_, B)", "m <= a(s, A)");
    holds(&anycast, "<out(m, a(zz, nobody))>tt",           false);
    holds(&anycast, "<out(m, a(r, roy))@a(s, sue)>tt",     true);
    holds(&anycast, "<in(m, a(s, sue))@a(r, roy)>tt",      true);
    holds(&anycast, "<tau(m, a(s, sue), a(r, roy))>tt",    true);
    holds(&anycast, "<tau(m, a(_, W), a(_, W))>tt",        false);

    // The receiver says what it is.
    let asked = protocol("n(Z) => a(r, B)", "n(2) <= a(s, A)");
    holds(&asked, "<out(n(7))>tt",  false);
    holds(&asked, "<out(n(2))>tt",  true);
    holds(&asked, "<in(n(7))>tt",   false);
    holds(&asked, "<tau(n(7))>tt",  false);

    // What the receipt's constraint binds belongs to the exchange.
    let bound = protocol("n(Z) => a(r, B)", "n(X) <= a(s, A) <- q(X)");
    holds(&bound, "<out(n(7))>tt",  false);
    holds(&bound, "<out(n(2))>tt",  true);

    // Nobody says what it is: then it is anything, on both sides.
    let open = protocol("n(Z) => a(r, B)", "n(X) <= a(s, A)");
    holds(&open, "<out(n(7))>tt",  true);
    holds(&open, "<in(n(7))>tt",   true);

    // The sender's constraint speaks of what was exchanged.
    let allowed = protocol("n(Z) => a(r, B) <- p(Z)", "n(2) <= a(s, A)");
    holds(&allowed, "<#(p(7))@sue>tt",  false);
    holds(&allowed, "<#(p(2))@sue>tt",  true);
}

/// Messages are copies: what the receiver makes of one binds nothing of the sender's.
#[test]
fn the_sender_learns_nothing() {
    let text = protocol("n(Z) => a(r, B) then n(Z) => a(r, B)", "n(2) <= a(s, A) then n(3) <= a(s, A)");
    holds(&text, "<out(n(2)) . out(n(3))>tt", true);
    holds(&text, "<out(n(2)) . out(n(2))>tt", false);
}

/// Roles of different arities match without binding; the label has the roles that the agents are in.
#[test]
fn roles_are_those_of_the_agents() {
    let text = "a(s(V), A) :: m => a(r(_, _), B).  a(r(W), B) :: m <= a(s(3), A).
        agent a(s(_), sue). agent a(r(5), roy). option comm = sync.";
    holds(text, "<out(m, a(r(5), _))@a(s(3), _)>tt", true);
    holds(text, "<out(m, a(r(_, _), _))>tt", false);
    holds(text, "<out(m)@a(s(4), _)>tt", false);
    holds(text, "<in(m, a(s(4), _))>tt", false);
}

#[test]
fn one_exchange_is_one_transition() {
    let text = protocol("(n(Z) => a(r, B) or n(2) => a(r, B))", "n(2) <= a(s, A)");
    let (mut system, _) = support::read(&text, &[]);
    let counts = explore(&mut system, &Budget::unlimited()).unwrap();
    assert_eq!((counts.states, counts.transitions), (2, 1));
}

#[test]
fn a_session_follows_what_was_exchanged() {
    let text = protocol("n(Z) => a(_, B)", "n(2) <= a(s, A)");
    let setup = || Setup { files: vec![Text::new("sync.lcc", text.clone())], ..Setup::default() };
    let mut session = Session::open(setup()).unwrap();
    let label = "out(n(2), a(r,roy))@a(s,sue) {} / in(n(2), a(s,sue))@a(r,roy) {}";
    let labels: Vec<String> = session.moves().next.into_iter().map(|next| next.event.label).collect();
    assert_eq!(labels, [label]);
    assert!(session.advance(&Happened::Pattern("out(n(7))".to_string())).is_err());
    session.advance(&Happened::Label(label.to_string())).unwrap();
    assert!(session.is_final());
}
