//! Valid and invalid calls of sessions, one kind after the other.

use masque_lcc::{
    CannotAdvance, EventDescription, EventKind, EventSelector, Limits, Question, Session, Setup, Text, Update,
};
use masque_verdict::{Budget, Verdict, Why};

fn session(text: &str) -> Session {
    let setup = Setup { files: vec![Text::new("text.lcc", text)], ..Setup::default() };
    Session::open(setup).unwrap_or_else(|refused| panic!("{:?}", refused.diagnostics))
}

const SHOP: &str = "
    a(buyer, B) :: ask(X) => a(seller, sue) <- wants(X) then (yes <= a(seller, S) or no <= a(seller, S)).
    a(seller, S) :: ask(X) <= a(buyer, B) then (yes => a(buyer, B) <- has(X) or no => a(buyer, B) <- not has(X)).
    agent a(buyer, ben).  agent a(seller, sue).
    know ben: wants(tea).  know ben: wants(jam).  know sue: has(tea).
    rule guild: (S, _, +has(X)) <- legal(X).  know guild: legal(tea).
    property ends : AF final ;  property sold : inev(in(yes)) ;";

#[test]
fn a_refused_update_changes_nothing() {
    // Added, removed, code of the diagnostic.
    let rows = [
        ("", "know sue: has(jam).", "lcc/not-there"),
        ("", "common has(tea).", "lcc/not-there"),
        ("know sue: has(jam).", "know sue: has(jam).", "lcc/contradictory-update"),
        ("know guild: bad(X) <- not bad(X).", "", "lcc/not-stratified"),
        (
            "rule guild: (S, _, -sell) <- (S, _, +sell).  rule guild: (S, _, +sell) <- (S, _, -sell).",
            "",
            "lcc/not-stratified",
        ),
        ("know sam: has(tea).", "", "lcc/unknown-agent"),
        ("rule gild: (_, _, +has(_)).", "", "lcc/unknown-agent"),
        ("choice sam: has/1.", "", "lcc/unknown-agent"),
        ("", "a(buyer, B) :: null.", "lcc/not-there"),
        ("", "agent a(buyer, bob).", "lcc/not-there"),
        ("agent a(buyr, bob).", "", "lcc/no-clause"),
        ("agent a(buyer, Bob).", "", "lcc/no-id"),
        ("a(X, B) :: null.", "", "lcc/no-role"),
        ("agent a(buyer, bob).", "agent a(buyer, bob).", "lcc/contradictory-update"),
        ("agent a(seller, ben).", "", "lcc/present-agent"),
        ("", "agent a(buyer, ben).", "lcc/busy-agent"),
        ("agent a(buyer, bob).  know bab: wants(tea).", "", "lcc/unknown-agent"),
        ("agent a(buyer, bob).  know bob: bad(X) <- not bad(X).", "", "lcc/not-stratified"),
        ("agent a(buyer, bob).  option cap = 2.", "", "lcc/fixed"),
        ("r(buyer, initial)", "", "lcc/fixed"),
        ("option cap = 2.", "", "lcc/fixed"),
        ("property p : tt ;", "", "lcc/fixed"),
        ("rule guild: (sue, _, !has(tea)) after in(ask(_)).", "", "lcc/fixed"),
        ("now a(buyer, ben) :: nil.", "", "lcc/fixed"),
        ("know sue has(tea).", "", "lcc/syntax"),
        ("know sue: X.", "", "lcc/no-fact"),
        // A valid change is not applied if another change of the update is invalid.
        ("know sue: has(jam).", "know sue: has(milk).", "lcc/not-there"),
    ];
    for (added, removed, code) in rows {
        let mut session = session(SHOP);
        let before = (session.explore(&Budget::unlimited()).unwrap(), session.state(), session.effort());
        let text = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_string()] };
        let diagnostics = session.update(&Update { add: text(added), remove: text(removed) }).unwrap_err();
        assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [code], "+{added} -{removed}");
        // The session still has the texts that the diagnostics refer to.
        diagnostics.iter().for_each(|d| drop(masque_text::render(session.sources(), d, false)));
        let after = (session.explore(&Budget::unlimited()).unwrap(), session.state(), session.effort());
        assert_eq!(before, after, "+{added} -{removed}");
    }
}

#[test]
fn a_session_advances_by_events() {
    let like = |kind, message: &str, from: &str, to: &str| {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_string());
        EventSelector::Description(EventDescription {
            kind,
            message: text(message),
            from: text(from),
            to: text(to),
        })
    };
    let pattern = |text: &str| EventSelector::Pattern(text.to_string());
    let tea = "out(ask(tea), a(seller,sue))@a(buyer,ben) {wants(tea)}";
    let rows = [
        EventSelector::Label(tea.to_string()),
        EventSelector::Index(0),
        pattern("out(ask(tea))"),
        pattern("#(wants(tea))@ben"),
        like(Some(EventKind::Sent), "ask(tea)", "ben", "sue"),
        like(None, "ask(tea)", "", ""),
    ];
    for happened in rows {
        let mut session = session(SHOP);
        let event = session.advance(&happened).unwrap();
        assert_eq!(event.label, tea, "{happened:?}");
        let taken = session.advance(&like(Some(EventKind::Taken), "ask(_)", "ben", "sue")).unwrap();
        assert_eq!(taken.label, "in(ask(tea), a(buyer,ben))@a(seller,sue) {}");
    }
    // Impossible events, then ambiguous ones; the state is unchanged.
    for happened in [
        EventSelector::Index(7),
        EventSelector::Label("in(yes)".to_string()),
        pattern("in(ask(_))"),
        like(Some(EventKind::Internal), "", "ben", ""),
        like(None, "ask(milk)", "", ""),
    ] {
        let mut session = session(SHOP);
        let Err(CannotAdvance::Impossible(moves)) = session.advance(&happened) else {
            panic!("{happened:?}")
        };
        assert_eq!(
            (moves.next.len(), moves.cut, session.possible_events()),
            (2, None, moves),
            "{happened:?}"
        );
    }
    for happened in [pattern("out(ask(_))"), like(None, "", "ben", ""), pattern("-")] {
        let mut session = session(SHOP);
        match session.advance(&happened) {
            Err(CannotAdvance::Ambiguous(next)) => assert_eq!(next.len(), 2, "{happened:?}"),
            Err(CannotAdvance::Unreadable(diagnostics)) => assert_eq!(diagnostics.len(), 1, "{happened:?}"),
            other => panic!("{happened:?}: {other:?}"),
        }
    }
    let mut session = session(SHOP);
    let Err(unknown) = session.advance(&pattern("in(yes)@bob")) else { panic!() };
    assert!(unknown.to_string().contains("no member of the team is called `bob`"), "{unknown}");
}

/// One label leads to two states, because the label does not show the choice of the agent.
#[test]
fn an_ambiguous_event_is_selected_by_its_index() {
    let mut session = session(
        "a(thinker, T) :: null then ((null then tea => a(cup, C)) or (null then jam => a(cup, C))).
         a(cup, C) :: tea <= a(thinker, T) or jam <= a(thinker, T).
         agent a(thinker, t).  agent a(cup, c).",
    );
    session.advance(&EventSelector::Pattern("#".to_string())).unwrap();
    let label = session.possible_events().next[0].event.label.clone();
    let Err(CannotAdvance::Ambiguous(next)) = session.advance(&EventSelector::Label(label)) else { panic!() };
    let then: Vec<&str> = next.iter().map(|one| one.then[0].as_str()).collect();
    assert_eq!(then, ["now a(thinker, t) :: tea => a(cup, V0).", "now a(thinker, t) :: jam => a(cup, V0)."]);
    session.advance(&EventSelector::Index(next[1].number)).unwrap();
    assert_eq!(session.possible_events().next[0].event.label, "out(jam, a(cup,_0))@a(thinker,t) {}");
}

/// Written states parse as the same states, for all kinds of processes and terms.
#[test]
fn a_written_state_parses_as_the_same_state() {
    let mut session = session(
        "a(r, X) :: a(s([1, -2 | T], 0.5, 'It', \"it's\", 'then'), X) par null.
         a(s(A, B, C, D, E), X) :: (null <- (p(A) or A = B) and not (q(B) and C \\= D) then
             ((m(A, B + 1 * 2) => a(r, Y) <- (X, _, +go(A)) and Z is 2 - (3 - 4) then n <= a(_, Y))
              or (null then (null par (null then a(r, X))))) then null)
             or ((null then null) then null).
         agent a(r, x).  agent a(r, x).  server a(r, y).
         common p(_).  common q(never).  common go(_).  rule boss: (_, _, +go(_)).",
    );
    let mut seen = std::collections::BTreeSet::new();
    for n in 0..400_usize {
        let state = session.state();
        seen.insert(state.clone());
        session.place(&state.join("\n")).unwrap_or_else(|found| panic!("{state:#?}\n{found:?}"));
        assert_eq!(session.state(), state);
        let next = session.possible_events().next;
        if next.is_empty() {
            session.place("").unwrap()
        } else {
            drop(session.advance(&EventSelector::Index((n * 7) % next.len())).unwrap())
        }
    }
    assert!(seen.len() > 50, "{}", seen.len());
    let n_states = session.n_states();
    for state in &seen {
        session.place(&state.join("\n")).unwrap();
    }
    // The states themselves are equal, not only their texts, so no new state is added.
    assert_eq!(session.n_states(), n_states);
}

#[test]
fn an_invalid_state_is_refused() {
    for (text, code) in [
        ("now a(buyer, bob) :: nil.", "lcc/unknown-agent"),
        ("know sue: has(jam).", "lcc/no-state"),
        ("now a(buyer, ben) :: nil", "lcc/missing-stop"),
        ("now a(buyer, ben) :: nil then null.", "lcc/syntax"),
    ] {
        let mut session = session(SHOP);
        let before = session.state();
        let found = session.place(text).unwrap_err();
        assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [code], "{text}");
        assert_eq!(session.state(), before);
    }
}

#[test]
fn deadlocks_are_distinguished_from_final_states() {
    let mut session = session(SHOP);
    assert!(!session.is_final() && session.blame().is_empty());
    session.place("now a(buyer, ben) :: nil.  now a(seller, sue) :: nil.").unwrap();
    assert!(session.is_final() && session.blame().is_empty());
    session.place("now a(buyer, ben) :: nil.").unwrap();
    assert_eq!(session.blame(), ["sue waits for ask(_) from a(buyer, _)"]);
}

/// A session with many updates stays within its limits, and its answers are correct.
#[test]
fn a_session_stays_within_its_limits() {
    let setup = |limits| Setup { limits, ..crate::support::travel_setup(2) };
    let budget = Budget::unlimited();
    let question = Question::Property("deadlock_free".to_string());
    let mut session = Session::open(setup(Limits { states: Some(300), memory: None })).unwrap();
    for round in 0..20 {
        // Each round uses another name, so that its states are new.
        let card = |n: usize| vec![format!("know c1: get_payment_details(visa, card{n}).")];
        session.update(&Update { add: card(round), remove: Vec::new() }).unwrap();
        let reply = session.check(&question, false, &budget).unwrap();
        assert_eq!(reply.checked.verdict, Verdict::Holds, "{round}");
        session.update(&Update { add: Vec::new(), remove: card(round) }).unwrap();
    }
    assert!(session.n_states() <= 600, "{}", session.n_states());
    let mut session = Session::open(setup(Limits { states: Some(20), memory: None })).unwrap();
    let reply = session.check(&question, false, &budget).unwrap();
    assert_eq!(reply.checked.verdict, Verdict::Unknown(Why::States));
    let mut session = Session::open(setup(Limits { states: None, memory: Some(1000) })).unwrap();
    let reply = session.check(&question, false, &budget).unwrap();
    assert_eq!(reply.checked.verdict, Verdict::Unknown(Why::Memory));
    // A question that was interrupted can be asked again.
    let mut session = Session::open(setup(Limits::default())).unwrap();
    budget.cancel();
    let reply = session.check(&question, true, &budget).unwrap();
    assert_eq!(reply.checked.verdict, Verdict::Unknown(Why::Interrupted));
    let reply = session.check(&question, true, &Budget::unlimited()).unwrap();
    assert_eq!((reply.checked.verdict, reply.work.is_kept), (Verdict::Holds, false));
}

/// The bound on states counts reachable states only, not those of the past.
#[test]
fn the_past_does_not_count_against_a_bound() {
    let mut setup = crate::support::travel_setup(2);
    setup.options.push(("states".to_string(), "170".to_string()));
    let mut session = Session::open(setup).unwrap();
    let question = Question::Formula("AG EF final".to_string());
    // In each round the states are new, because another message is under way that no agent takes.
    for n in 0..5 {
        session.place(&format!("mail a(x, unknown) -> a(y, unknown) : late({n}).")).unwrap();
        let counts = session.explore(&Budget::unlimited()).unwrap();
        assert_eq!((counts.states, counts.cut), (160, None), "{n}");
        session.place(&format!("mail a(x, unknown) -> a(y, unknown) : later({n}).")).unwrap();
        let reply = session.check(&question, false, &Budget::unlimited()).unwrap();
        assert_eq!(reply.checked.verdict, Verdict::Fails, "{n}");
    }
}
