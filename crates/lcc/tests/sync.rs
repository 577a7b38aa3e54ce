//! Synchronous communication: handshakes in formulas, sessions and counts.

use masque_lcc::{EventSelector, Session, Setup, Text, explore};
use masque_mu::{Space, check};
use masque_verdict::{Budget, Verdict};

/// Makes a protocol of a sender sue in role s and a receiver roy in role r with these bodies.
fn protocol(sends: &str, takes: &str) -> String {
    format!(
        "a(s, A) :: {sends}.  a(r, B) :: {takes}.  agent a(s, sue). agent a(r, roy).
        common p(_). common q(2). option comm = sync."
    )
}

#[track_caller]
fn holds(text: &str, formula: &str, expected: bool) {
    let (mut system, formulas) = crate::support::read(text, &[formula]);
    let answer = check(&mut Space::new(&mut system), &formulas[0], &Budget::unlimited());
    assert_eq!(answer.verdict, Verdict::from(expected), "{formula}\n{text}");
}

#[rustfmt::skip]
#[test]
fn patterns_see_what_was_exchanged() {
    let anycast = protocol("m => a(_, B)", "m <= a(s, A)");
    holds(&anycast, "<out(m, a(zz, unknown))>tt",          false);
    holds(&anycast, "<out(m, a(r, roy))@a(s, sue)>tt",     true);
    holds(&anycast, "<in(m, a(s, sue))@a(r, roy)>tt",      true);
    holds(&anycast, "<tau(m, a(s, sue), a(r, roy))>tt",    true);
    holds(&anycast, "<tau(m, a(_, W), a(_, W))>tt",        false);

    // The receiver determines the argument.
    let asked = protocol("n(Z) => a(r, B)", "n(2) <= a(s, A)");
    holds(&asked, "<out(n(7))>tt",  false);
    holds(&asked, "<out(n(2))>tt",  true);
    holds(&asked, "<in(n(7))>tt",   false);
    holds(&asked, "<tau(n(7))>tt",  false);

    // Bindings by the constraint of the receipt are part of the exchange.
    let bound = protocol("n(Z) => a(r, B)", "n(X) <= a(s, A) <- q(X)");
    holds(&bound, "<out(n(7))>tt",  false);
    holds(&bound, "<out(n(2))>tt",  true);

    // Neither side determines the argument, so any value matches.
    let open = protocol("n(Z) => a(r, B)", "n(X) <= a(s, A)");
    holds(&open, "<out(n(7))>tt",  true);
    holds(&open, "<in(n(7))>tt",   true);

    // The sender's constraint is shown with the exchanged message.
    let allowed = protocol("n(Z) => a(r, B) <- p(Z)", "n(2) <= a(s, A)");
    holds(&allowed, "<#(p(7))@sue>tt",  false);
    holds(&allowed, "<#(p(2))@sue>tt",  true);
}

/// Messages are copies: bindings by the receiver do not bind variables of the sender.
#[test]
fn bindings_do_not_flow_back_to_the_sender() {
    let text = protocol("n(Z) => a(r, B) then n(Z) => a(r, B)", "n(2) <= a(s, A) then n(3) <= a(s, A)");
    holds(&text, "<out(n(2)) . out(n(3))>tt", true);
    holds(&text, "<out(n(2)) . out(n(2))>tt", false);
}

/// Roles with different numbers of arguments match without binding. The label has the actual roles of the
/// agents.
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
    let (mut system, _) = crate::support::read(&text, &[]);
    let counts = explore(&mut system, &Budget::unlimited()).unwrap();
    assert_eq!((counts.states, counts.transitions), (2, 1));
}

#[test]
fn a_session_advances_by_handshakes() {
    let text = protocol("n(Z) => a(_, B)", "n(2) <= a(s, A)");
    let setup = || Setup { files: vec![Text::new("sync.lcc", text.clone())], ..Setup::default() };
    let mut session = Session::open(setup()).unwrap();
    let label = "out(n(2), a(r,roy))@a(s,sue) {} / in(n(2), a(s,sue))@a(r,roy) {}";
    let labels: Vec<String> =
        session.possible_events().next.into_iter().map(|next| next.event.label).collect();
    assert_eq!(labels, [label]);
    assert!(session.advance(&EventSelector::Pattern("out(n(7))".to_string())).is_err());
    session.advance(&EventSelector::Label(label.to_string())).unwrap();
    assert!(session.is_final());
}

/// Makes a protocol of one agent me in role r with this body.
fn alone(body: &str) -> String {
    format!(
        "a(r, I) :: {body}.  a(q(X), I) :: n(X) <= a(r, I).  agent a(r, me).
        common p(_). common q(2). option comm = sync."
    )
}

/// Parallel parts of one agent exchange messages and share its variables. [ORW06 Fig. 9]
#[rustfmt::skip]
#[test]
fn parts_of_one_agent_exchange_messages() {
    let ping = alone("(ping => a(r, I) par ping <= a(r, I))");
    holds(&ping, "<tau(ping, a(r, me), a(r, me))>final", true);
    holds(&ping, "<out(ping, a(r, me))@me>tt",           true);
    holds(&ping, "<in(ping, a(r, me))@me>tt",            true);
    holds(&ping, "<#>tt",                                false);
    // The message and what the receipt awaits unify, and both parts have the result.
    let both = alone("((k(U, 2) => a(r, I) then n(U) => a(r, I)) par (k(3, V) <= a(r, I) then n(W) <= a(r, I) <- p(V)))");
    holds(&both, "<tau(k(3, 2)) . tau(n(3))>final", true);
    holds(&both, "<-><#(p(2))>final",               true);
    // The receiving part may be in another role, and an unbound receiver may be the agent itself.
    let role = alone("(n(2) => a(q(_), J) par a(q(U), I))");
    holds(&role, "<tau(n(2), a(r, me), a(q(2), me))>final", true);
    // The constraint of the sending is solved before, that of the receipt after the exchange.
    let late = alone("(n(U) => a(r, I) <- q(U) par n(V) <= a(r, I) <- V = 2)");
    holds(&late, "<{#(q(2))@me}>final", true);
    // Parts that are joined by `then` or `or` do not exchange messages.
    holds(&alone("(ping => a(r, I) then ping <= a(r, I))"), "<->tt", false);
    holds(&alone("(ping => a(r, I) or ping <= a(r, I))"),   "<->tt", false);
}

/// The rules apply to the agent as the sender and as the receiver.
#[test]
fn rules_apply_to_exchanges_within_one_agent() {
    let ping = alone("(ping => a(r, I) par ping <= a(r, I))");
    for action in ["send(ping)", "receive(ping)"] {
        let text = format!("{ping} rule boss: (me, me, -{action}).");
        holds(&text, "<->tt", false);
        let (mut system, _) = crate::support::read(&text, &[]);
        let initial = masque_mu::Lts::initial(&mut system);
        let reasons = system.blame(initial);
        let expected = format!("me could not {action}");
        assert!(reasons.iter().any(|reason| reason.contains(&expected)), "{reasons:?}");
    }
}

/// A sending that no agent receives is named, with what prevents the receipt if an agent waits for it.
#[test]
fn blame_for_messages_that_are_not_received() {
    let base = "a(s, I) :: m(1) => a(r, J). a(r, I) :: TAKES <= a(s, J). agent a(s, x). agent a(r, y). \
                agent a(r, z). option comm = sync.";
    let blame = |takes: &str, rules: &str| {
        let (mut system, _) = crate::support::read(&format!("{} {rules}", base.replace("TAKES", takes)), &[]);
        let initial = masque_mu::Lts::initial(&mut system);
        system.blame(initial)
    };
    assert_eq!(
        blame("k", ""),
        [
            "x could not send m(1) to a(r, _): no agent receives it",
            "y waits for k from a(s, _)",
            "z waits for k from a(s, _)"
        ]
    );
    let forbidden = blame("m(N)", "rule boss: (_, x, -receive(_)).");
    assert_eq!(
        forbidden[0],
        "x could not send m(1) to a(r, _): y could not receive(m(1)): rule 1 of boss forbids it; \
         z could not receive(m(1)): rule 1 of boss forbids it"
    );
    // A message to itself.
    let (mut system, _) = crate::support::read(&alone("(ping => a(r, I) then null)"), &[]);
    let initial = masque_mu::Lts::initial(&mut system);
    assert_eq!(system.blame(initial), ["me could not send ping to a(r, me): no agent receives it"]);
}
