//! Compares sessions with sessions that are restored from their snapshots.

use masque_lcc::{EventSelector, Question, Session, Setup, Text, Update};
use masque_verdict::Budget;

fn setup(text: &str) -> Setup {
    Setup { files: vec![Text::new("random.lcc", text)], ..Setup::default() }
}

fn restored(session: &mut Session, text: &str) -> Session {
    let snapshot = session.snapshot().expect("the session can be written");
    let mut other = Session::open(setup(text)).unwrap();
    other.restore(&snapshot).unwrap_or_else(|found| panic!("{snapshot:#?}\n{found:#?}"));
    assert_eq!(other.snapshot(), Some(snapshot));
    other
}

/// Everything that a client can see of a session but the work that was spent.
fn seen(session: &mut Session, formulas: &[String]) -> Vec<String> {
    let mut seen = vec![format!("{:?}", session.state()), format!("{:#?}", session.possible_events())];
    for formula in formulas {
        let budget = Budget::unlimited().with_states(2_000);
        let reply = session.check(&Question::Formula(formula.clone()), true, &budget);
        seen.push(match reply {
            Ok(reply) => {
                let events = reply
                    .checked
                    .trace
                    .map(|trace| trace.events.iter().map(|event| event.label.clone()).collect::<Vec<_>>());
                format!("{} {:?} {} {events:?}", reply.checked.verdict, reply.remarks, reply.warnings.len())
            }
            Err(diagnostics) => diagnostics[0].message.clone(),
        });
    }
    seen.push(format!("{:?}", session.blame()));
    seen
}

/// The diagnostics of an update, with the lines and columns that they name.
fn refused(session: &mut Session, text: &str) -> Vec<String> {
    let update = Update { add: vec![text.to_string()], remove: Vec::new() };
    let diagnostics = match session.update(&update) {
        Ok(done) => done.warnings,
        Err(diagnostics) => diagnostics,
    };
    let shown = diagnostics.iter().map(|diagnostic| {
        let spans: Vec<_> = diagnostic
            .primary
            .iter()
            .chain(&diagnostic.secondary)
            .map(|label| session.sources().locate(label.span))
            .collect();
        format!("{} {spans:?}", diagnostic.message)
    });
    shown.collect()
}

/// Changes a session at random: added and removed statements, events, states. Questions change nothing.
fn change(session: &mut Session, rng: &mut fastrand::Rng, lines: &mut Vec<String>, seed: u64) {
    match rng.u32(0..5) {
        4 => {
            let (question, evidence) =
                (Question::Formula(crate::random::formula(seed / 100 * 2)), rng.bool());
            _ = session.check(&question, evidence, &Budget::unlimited().with_states(2_000));
        }
        0 => {
            let texts = crate::random::statements(seed, 2);
            let update = Update { add: vec![texts.join(" ")], remove: Vec::new() };
            if session.update(&update).is_ok() {
                lines.extend(texts);
            }
        }
        1 if !lines.is_empty() => {
            let line = lines.swap_remove(rng.usize(0..lines.len()));
            _ = session.update(&Update { remove: vec![line], add: Vec::new() });
        }
        2 => {
            let n_events = session.possible_events().next.len();
            if n_events > 0 {
                session.advance(&EventSelector::Index(rng.usize(0..n_events))).unwrap();
            }
        }
        _ => {
            let state = session.state().join("\n");
            let message = format!("mail a(r{0}, x) -> a(q0, y) : news{0}.", rng.u32(0..3));
            session.place(&if rng.bool() { state } else { format!("{state} {message}") }).unwrap();
        }
    }
}

#[test]
fn a_restored_session_is_the_same_session() {
    let (mut n_sessions, mut n_changed, mut seed) = (0, 0, 0);
    while n_sessions < 300 {
        seed += 1;
        let text = crate::random::instance(seed + 700_000);
        let Ok(mut session) = Session::open(setup(&text)) else { continue };
        n_sessions += 1;
        let mut rng = fastrand::Rng::with_seed(seed);
        let is_statement =
            |line: &&str| ["common", "know", "rule", "choice"].iter().any(|w| line.starts_with(w));
        let mut lines: Vec<String> = text.lines().filter(is_statement).map(str::to_string).collect();
        let formulas: Vec<String> = (0..2).map(|n| crate::random::formula(seed * 2 + n)).collect();
        for n in 0..rng.u64(1..25) {
            change(&mut session, &mut rng, &mut lines, seed * 100 + n);
            if rng.u32(0..8) == 0 {
                session = restored(&mut session, &text);
            }
        }
        let mut other = restored(&mut session, &text);
        n_changed += usize::from(session.snapshot() != Session::open(setup(&text)).unwrap().snapshot());
        assert_eq!(seen(&mut other, &formulas), seen(&mut session, &formulas), "seed {seed}\n{text}");
        let update =
            crate::random::statements(seed * 7, 3).join(" ") + " know x: nosuch(news1). know absent: f.";
        assert_eq!(refused(&mut other, &update), refused(&mut session, &update), "seed {seed}\n{text}");
    }
    assert!(n_changed > 200, "{n_changed}");
}

/// A snapshot does not grow with the number of updates, and keeps the locations of statements.
#[test]
fn a_snapshot_has_only_what_remains() {
    let text = "a(hen, H) :: egg => a(farmer, F) <- p(X). a(farmer, F) :: egg <= a(hen, H).
        agent a(hen, h). agent a(farmer, f). know h: p(1).";
    let mut session = Session::open(setup(text)).unwrap();
    let mut update = |add: &[&str], remove: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect();
        session.update(&Update { add: texts(add), remove: texts(remove) }).unwrap();
        session.snapshot().unwrap()
    };
    for _ in 0..3 {
        assert_eq!(update(&[], &["know h: p(1)."]).removed, ["know h: p(1)."]);
        let snapshot = update(&["know h: p(1)."], &[]);
        assert_eq!(
            (snapshot.removed.len(), snapshot.added.as_slice()),
            (1, &["know h: p(1).".to_string()][..])
        );
    }
    let added = update(&["know h: p(2).\nknow h: p(X) <- p(2). know h: p(4)."], &["know h: p(1)."]).added;
    assert_eq!(added, ["know h: p(2).\nknow h: p(X) <- p(2). know h: p(4)."]);
    let added = update(&[], &["know h: p(2).", "know h: p(Y) <- p(2)."]).added;
    assert_eq!(added, ["             \n                      know h: p(4)."]);
}

/// A state whose text the parser cannot read has no snapshot.
#[test]
fn a_state_that_cannot_be_parsed() {
    let text = "a(c(N), C) :: null <- true then a(c(s(N)), C). agent a(c(0), c).
        option psize = 100000.";
    let mut session = Session::open(setup(text)).unwrap();
    for n in 0..2_000 {
        session.advance(&EventSelector::Index(0)).unwrap();
        if n < 50 {
            assert!(session.snapshot().is_some(), "{n}");
        }
    }
    let state = session.state();
    assert!(session.snapshot().is_none());
    assert_eq!(session.state(), state);
}

/// A warning that mentions a name of an earlier state shows where that state used it, also after a restart.
#[test]
fn warnings_show_the_text_of_an_earlier_state() {
    let text = "a(hen, H) :: egg => a(farmer, F). a(farmer, F) :: egg <= a(hen, H).
        agent a(hen, h). agent a(farmer, f).";
    let mut session = Session::open(setup(text)).unwrap();
    session.place("now a(hen, h) :: nil.\nmail a(hen, h) -> a(farmer, f) : parcel.").unwrap();
    session.place("").unwrap();
    let mut other = restored(&mut session, text);
    for session in [&mut session, &mut other] {
        let question = Question::Formula("<out(parcel(1))>tt".to_string());
        let reply = session.check(&question, false, &Budget::unlimited()).unwrap();
        let label = &reply.warnings[0].secondary[0];
        assert_eq!(
            (session.sources().slice(label.span), session.sources().locate(label.span).0.line),
            ("parcel", 2)
        );
    }
}

/// The run that shows a verdict does not depend on the questions that were asked before.
#[test]
fn evidence_does_not_depend_on_earlier_questions() {
    let text = "a(buyer, B) :: ask(X) => a(seller, S) <- wants(X) then
            (yes(X, P) <= a(seller, S) then a(buyer, B) or no(X) <= a(seller, S) then a(buyer, B)).
        a(seller, S) :: ask(X) <= a(buyer, B) then
            (yes(X, P) => a(buyer, B) <- price(X, P) then a(seller, S)
             or no(X) => a(buyer, B) <- not price(X, _) then a(seller, S)).
        agent a(buyer, ben). agent a(buyer, bea). agent a(seller, sam).
        know ben: wants(tea). know bea: wants(salt). know sam: price(tea, 3). option cap = 2.";
    let statements = ["know ben: wants(salt).", "know bea: wants(tea).", "know sam: price(salt, 5)."];
    let question = Question::Formula("EF <in(yes(_, _))>tt".to_string());
    let run = |session: &mut Session| {
        let trace = session.check(&question, true, &Budget::unlimited()).unwrap().checked.trace;
        trace.map(|trace| trace.events.iter().map(|event| event.label.clone()).collect::<Vec<_>>())
    };
    for seed in 0..20 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut session = Session::open(setup(text)).unwrap();
        for _ in 0..30 {
            let statement = vec![statements[rng.usize(0..statements.len())].to_string()];
            match rng.u32(0..4) {
                0 => _ = session.update(&Update { add: statement, remove: Vec::new() }),
                1 => _ = session.update(&Update { remove: statement, add: Vec::new() }),
                2 => _ = session.advance(&EventSelector::Index(rng.usize(0..3))),
                _ => _ = session.check(&question, false, &Budget::unlimited()),
            }
        }
        let mut other = restored(&mut session, text);
        assert_eq!(run(&mut session), run(&mut other), "seed {seed}");
    }
}
