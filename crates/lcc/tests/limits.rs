//! Loading and updating obey limits on time and memory, and cancellation.

use std::time::Duration;

use masque_lcc::{EventSelector, Question, Refused, Session, Setup, Text, Update};
use masque_verdict::{Budget, Verdict, Why};

fn setup(text: impl Into<String>) -> Setup {
    Setup { files: vec![Text::new("test.lcc", text)], ..Setup::default() }
}

/// Texts of about a megabyte, each with another part of loading that takes long or needs memory.
fn large_texts() -> Vec<String> {
    let team = "a(x, A) :: null. agent a(x, a1). ";
    let many = |one: &dyn Fn(usize) -> String| (0..40_000).map(one).collect::<String>();
    vec![
        format!("{team}{}", many(&|i| format!("common p{i} <- not p{}. ", i + 1))),
        format!("{team}{}", many(&|i| format!("know o{i}: f. common q <- not q. "))),
        format!("{team}{}", many(&|i| format!("agent a(x, b{i}). "))),
        format!("{team}{}", many(&|_| "agent a(x, a1). ".to_string())),
        format!("{team}{}", many(&|i| format!("rule a1: (X, Y, +act{i}) <- permit(X, Y, other). "))),
        format!("{team}{}", many(&|i| format!("a(y{i}, A) :: m{i} => a(z{i}, B). "))),
        format!("{team}{}", many(&|i| format!("property p{i} : AF <out(m{i})>tt ; "))),
        format!("{team}property p : {} ;", many(&|i| format!("<out(m{i})>tt && ")) + "tt"),
        format!("{team}{}", many(&|i| format!("mail a(x, a1) -> a(x, a1) : m{i}. now a(x, c{i}) :: null. "))),
    ]
}

fn stopped(setup: &Setup, budget: &Budget) -> Option<Why> {
    Session::open_within(setup, budget).err().and_then(|refused| refused.stopped).map(|stop| stop.why)
}

#[test]
fn opening_obeys_every_limit() {
    for text in large_texts() {
        let setup = setup(text);
        let begin = &setup.files[0].text[..80];
        let cancelled = Budget::default();
        cancelled.cancel();
        assert_eq!(stopped(&setup, &cancelled), Some(Why::Interrupted), "{begin}");
        let late = Budget::default().with_timeout(Duration::ZERO);
        assert_eq!(stopped(&setup, &late), Some(Why::Timeout), "{begin}");
        let small = Budget::default().with_memory(4 << 20);
        assert_eq!(stopped(&setup, &small), Some(Why::Memory), "{begin}");
    }
}

/// Wherever an update is stopped, the session is as before.
#[test]
fn a_stopped_update_changes_nothing() {
    let text = "a(r, R) :: null <- open(F). agent a(r, rita). know rita: open(1). property ends : AF final ;";
    let mut session = Session::open(setup(text)).unwrap();
    let ends = Question::Property("ends".to_string());
    let budget = Budget::unlimited();
    assert_eq!(session.check(&ends, false, &budget).unwrap().checked.verdict, Verdict::Holds);
    let facts: String = (0..40_000).map(|i| format!("know rita: open({i}) <- key{i}. ")).collect();
    let update = Update { add: vec![facts], ..Update::default() };
    let state = (session.state(), session.possible_events());
    for memory in [2 << 20, 6 << 20, 10 << 20, 14 << 20, 18 << 20] {
        let before = session.bytes();
        let stopped = session.update_within(&update, &budget.clone().with_memory(memory + before));
        assert!(matches!(stopped, Err(Refused::Stopped(stop)) if stop.why == Why::Memory), "{stopped:?}");
        assert!(session.bytes() < before + (1 << 16), "{} is more than {before}", session.bytes());
        assert_eq!((session.state(), session.possible_events()), state);
    }
    let added = session.update(&Update { add: vec!["know rita: open(2).".to_string()], ..Update::default() });
    assert_eq!(added.unwrap().added, 1);
    assert_eq!(session.possible_events().next.len(), 2);
}

/// A change of the team or of the protocol obeys time, memory and cancellation, and changes nothing if it is
/// stopped: neither the state nor what a session answers.
#[test]
fn a_stopped_change_of_the_structure_changes_nothing() {
    let text = "a(r, R) :: null <- open(F). agent a(r, rita). know rita: open(1). property ends : AF final ;";
    let many = |one: &dyn Fn(usize) -> String| (0..20_000).map(one).collect::<String>();
    let changes = [
        many(&|i| format!("agent a(r, r{i}). know r{i}: open(1). ")),
        many(&|i| format!("a(s{i}, S) :: m{i} => a(s{}, T). ", i + 1)),
        format!(
            "a(s, S) :: null. agent a(s, sam). {}",
            many(&|i| format!("know sam: p{i} <- not p{}. ", i + 1))
        ),
    ];
    let ends = Question::Property("ends".to_string());
    let unlimited = Budget::unlimited();
    for change in changes {
        let mut session = Session::open(setup(text)).unwrap();
        let state = (session.state(), session.possible_events(), session.team(), session.snapshot());
        let update = Update { add: vec![change.clone()], ..Update::default() };
        let cancelled = Budget::default();
        cancelled.cancel();
        let mut budgets = vec![
            (cancelled, Why::Interrupted),
            (Budget::default().with_timeout(Duration::ZERO), Why::Timeout),
            (Budget::default().with_timeout(Duration::from_millis(2)), Why::Timeout),
        ];
        for megabytes in [1, 2, 4, 8] {
            budgets.push((Budget::default().with_memory((megabytes << 20) + session.bytes()), Why::Memory));
        }
        for (budget, why) in budgets {
            let before = session.bytes();
            let stopped = session.update_within(&update, &budget);
            assert!(
                matches!(&stopped, Err(Refused::Stopped(stop)) if stop.why == why),
                "{why:?} {stopped:?}"
            );
            assert!(session.bytes() < before + (1 << 16), "{} is more than {before}", session.bytes());
            let now = (session.state(), session.possible_events(), session.team(), session.snapshot());
            assert_eq!(now, state, "{why:?}");
            let checked = session.check(&ends, false, &unlimited).unwrap().checked;
            assert_eq!(checked.verdict, Verdict::Holds);
        }
        let few = Update { add: vec!["agent a(r, ron).".to_string()], ..Update::default() };
        assert_eq!(session.update(&few).unwrap().added, 1);
        assert_eq!(session.team(), ["rita", "ron"]);
    }
}

/// One state with very many transitions to states with very many agents.
#[test]
fn listing_transitions_obeys_the_budget() {
    let agents: String = (0..3_000).map(|i| format!("agent a(r, b{i}). ")).collect();
    let mut session =
        Session::open(setup(format!("a(r, R) :: null <- open(F). common open(1). {agents}"))).unwrap();
    let cancelled = Budget::default();
    cancelled.cancel();
    assert_eq!(session.possible_events_within(&cancelled).unwrap_err().why, Why::Interrupted);
    let small = Budget::default().with_memory(session.bytes() + (4 << 20));
    assert_eq!(session.possible_events_within(&small).unwrap_err().why, Why::Memory);
    let formula = Question::Formula("EF final".to_string());
    let reply = session.check(&formula, false, &small).unwrap();
    assert_eq!(reply.checked.verdict, Verdict::Unknown(Why::Memory));
    assert!(session.advance(&EventSelector::Index(7)).is_ok());
}
