//! Sessions with a small monitor: when they end, what is remembered, and what is bounded.

use std::cell::Cell;
use std::rc::Rc;

use super::*;
use crate::{Preview, Violation};

/// A session of three events: `a`, `b`, `c` in this order. It counts the monitors that exist.
struct Letters(Rc<Cell<usize>>);

struct Letter {
    next: u8,
    n_monitors: Rc<Cell<usize>>,
}

impl Watched for Letters {
    type Monitor = Letter;

    const FORM: RecordForm = RecordForm::Event;

    fn open(&mut self, _: &Budget) -> Result<Letter, Stop> {
        self.0.set(self.0.get() + 1);
        Ok(Letter { next: b'a', n_monitors: Rc::clone(&self.0) })
    }

    fn observation(&mut self, event: &ObservedEvent) -> Result<u8, String> {
        event.message.as_ref().map(|text| text.as_bytes()[0]).ok_or_else(|| "no letter".to_string())
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        self.n_monitors.set(self.n_monitors.get() - 1);
    }
}

impl Letter {
    fn judge(&self, letter: u8) -> Judgement {
        let event = match letter {
            b'?' => EventVerdict::Unknown("bound".to_string()),
            letter if letter == self.next && letter <= b'c' => EventVerdict::Possible,
            _ => EventVerdict::Violated(Violation::default()),
        };
        Judgement { event, goals: Vec::new(), facts: Vec::new(), obligations: Vec::new(), n_states: 1 }
    }
}

impl Monitor for Letter {
    type Observation = u8;

    fn observe(&mut self, letter: &u8, budget: &Budget) -> Result<Judgement, Stop> {
        budget.check()?;
        let judgement = self.judge(*letter);
        self.next += u8::from(judgement.event == EventVerdict::Possible);
        Ok(judgement)
    }

    fn preview(&mut self, letter: &u8, budget: &Budget) -> Result<Preview, Stop> {
        budget.check()?;
        Ok(Preview { judgement: self.judge(*letter), goals: Vec::new() })
    }

    fn status(&mut self, _: &Budget) -> Result<Status, Stop> {
        Ok(Status::default())
    }

    fn is_over(&mut self, _: &Budget) -> Result<bool, Stop> {
        Ok(self.next > b'c')
    }

    fn close(&mut self, _: &Budget) -> Result<Closing, Stop> {
        Ok(Closing::default())
    }
}

fn seen(time: Option<i128>) -> Seen {
    Seen { time: time.map(Time), arrival: Instant::now() }
}

struct Test {
    sessions: Sessions<Letters>,
    n_monitors: Rc<Cell<usize>>,
}

impl Test {
    fn new(limits: SessionLimits, enforcement: Option<Enforcement>) -> Test {
        let n_monitors = Rc::new(Cell::new(0));
        Test { sessions: Sessions::new(Letters(Rc::clone(&n_monitors)), limits, enforcement), n_monitors }
    }

    /// Observes a letter, and returns the outcome and why the session was closed in short.
    fn observe(&mut self, key: &str, letter: &str, budget: &Budget) -> (&'static str, Option<CloseReason>) {
        let event = ObservedEvent { message: Some(letter.to_string()), ..ObservedEvent::default() };
        let step = self.sessions.observe(&Some(key.to_string()), &event, seen(None), budget);
        let outcome = match step.outcome {
            StepOutcome::Judged(judgement) => match judgement.event {
                EventVerdict::Possible => "possible",
                EventVerdict::Violated(_) => "violated",
                EventVerdict::Unknown(_) => "unknown",
            },
            StepOutcome::AfterEnd => "after end",
            StepOutcome::AfterViolation => "after violation",
            StepOutcome::AfterStop(_) => "after stop",
            StepOutcome::Stopped(_) => "stopped",
            StepOutcome::Unreadable(_) => "unreadable",
            StepOutcome::Ended => "ended",
        };
        (outcome, step.closed.map(|closed| closed.reason))
    }

    fn letters(&mut self, key: &str, letters: &str) -> Vec<&'static str> {
        let unlimited = Budget::unlimited();
        letters.chars().map(|letter| self.observe(key, &letter.to_string(), &unlimited).0).collect()
    }
}

#[test]
fn sessions_end_and_are_remembered() {
    let mut test = Test::new(SessionLimits::default(), None);
    assert_eq!(test.letters("x", "abc"), ["possible"; 3]);
    assert_eq!(test.letters("x", "aa"), ["after end", "after violation"]);
    assert_eq!(test.letters("y", "aab"), ["possible", "violated", "after violation"]);
    assert_eq!((test.sessions.n_open(), test.sessions.n_opened(), test.n_monitors.get()), (0, 2, 0));
    // The log may end a session, whose key is then free.
    assert_eq!(test.letters("z", "a"), ["possible"]);
    let ended = test.sessions.end(&Some("z".to_string()), &Budget::unlimited());
    assert_eq!(ended.closed.map(|closed| closed.reason), Some(CloseReason::Ended));
    assert_eq!(test.letters("z", "a"), ["possible"]);
}

#[test]
fn what_is_denied_has_not_happened() {
    let enforcement = |allows_unknown| Some(Enforcement { allows_unknown });
    let mut test = Test::new(SessionLimits::default(), enforcement(false));
    assert_eq!(test.letters("x", "ba?bc"), ["violated", "possible", "unknown", "possible", "possible"]);
    let mut test = Test::new(SessionLimits::default(), enforcement(true));
    let stopped = Budget::unlimited().with_timeout(std::time::Duration::ZERO);
    assert_eq!(test.observe("x", "a", &stopped), ("stopped", Some(CloseReason::Stopped)));
    assert_eq!(test.letters("x", "a"), ["after stop"]);
}

/// After a limit, an event is missing in the log of the session.
#[test]
fn a_limit_ends_a_session() {
    let mut test = Test::new(SessionLimits::default(), None);
    let stopped = Budget::unlimited().with_timeout(std::time::Duration::ZERO);
    assert_eq!(test.letters("x", "a"), ["possible"]);
    assert_eq!(test.observe("x", "b", &stopped), ("stopped", Some(CloseReason::Stopped)));
    assert_eq!(test.letters("x", "c"), ["after stop"]);
}

/// A session that was dropped does not begin again, so that its next event is no violation.
#[test]
fn a_dropped_session_stays_closed() {
    let limits = SessionLimits { open: 1, remembered: 1, ..SessionLimits::default() };
    let (mut test, unlimited) = (Test::new(limits, None), Budget::unlimited());
    assert_eq!((test.letters("x", "a"), test.letters("y", "a")), (vec!["possible"], vec!["possible"]));
    let dropped = test.sessions.close_excess(&unlimited).unwrap();
    assert_eq!((dropped.key.as_deref(), dropped.reason), (Some("x"), CloseReason::TooMany));
    assert_eq!((test.letters("x", "b"), test.letters("y", "b")), (vec!["after stop"], vec!["possible"]));
    // What is not remembered any more is said.
    assert_eq!(test.sessions.remark(), None);
    test.letters("z", "a");
    assert!(test.sessions.close_excess(&unlimited).is_some());
    assert!(test.sessions.remark().unwrap().starts_with("only the last 1 closed sessions are remembered"));
}

/// A record that cannot be read neither opens a session nor drops one.
#[test]
fn an_unreadable_record_opens_no_session() {
    let mut test = Test::new(SessionLimits::default(), None);
    let seen = seen(None);
    let step = test.sessions.observe(&None, &ObservedEvent::default(), seen, &Budget::unlimited());
    assert!(matches!(step.outcome, StepOutcome::Unreadable(_)));
    assert_eq!((test.sessions.n_open(), test.sessions.n_opened()), (0, 0));
}

/// Neither monitors nor keys grow with the number of sessions.
#[test]
fn memory_does_not_grow_with_sessions() {
    let limits = SessionLimits { open: 50, remembered: 20, history: 4, ..SessionLimits::default() };
    let mut test = Test::new(limits, None);
    let unlimited = Budget::unlimited();
    for index in 0..20_000 {
        let letters = if index % 3 == 0 { "abc" } else { "ab" };
        test.letters(&index.to_string(), letters);
        while let Some(closed) = test.sessions.close_excess(&unlimited) {
            assert_eq!((closed.reason, closed.n_events), (CloseReason::TooMany, 2));
        }
        assert!(test.n_monitors.get() <= 50 && test.sessions.open.len() <= 50);
        assert!(test.sessions.closed.len() <= 20 && test.sessions.closed_order.len() <= 20);
        assert_eq!(test.sessions.by_use.len(), test.sessions.open.len());
    }
    assert_eq!(test.sessions.n_opened(), 20_000);
    while test.sessions.close_next(&unlimited).is_some() {}
    assert_eq!(test.n_monitors.get(), 0);
}

#[test]
fn idle_sessions_are_closed() {
    let mut test = Test::new(SessionLimits::default(), None);
    let (unlimited, event) = (Budget::unlimited(), |letter: &str| ObservedEvent {
        message: Some(letter.to_string()),
        ..ObservedEvent::default()
    });
    let steps = [("w", "a", None), ("x", "a", Some(1)), ("y", "a", Some(2)), ("x", "b", Some(5))];
    for (key, letter, time) in steps {
        test.sessions.observe(&Some(key.to_string()), &event(letter), seen(time), &unlimited);
    }
    let key = |closed: Option<ClosedSession>| closed.map(|closed| closed.key.unwrap_or_default());
    // The times of records are compared with each other only.
    assert_eq!(key(test.sessions.close_before(Time(4), &unlimited)).as_deref(), Some("y"));
    assert_eq!(key(test.sessions.close_before(Time(4), &unlimited)), None);
    let before_all = Instant::now() - std::time::Duration::from_secs(1);
    assert_eq!(key(test.sessions.close_quiet(before_all, &unlimited)), None);
    for expected in ["w", "x"] {
        let now = Instant::now() + std::time::Duration::from_secs(1);
        assert_eq!(key(test.sessions.close_quiet(now, &unlimited)).as_deref(), Some(expected));
    }
    assert!(test.sessions.by_time.is_empty() && test.sessions.by_use.is_empty());
}

/// A preview and the end so far change nothing, also in sessions that do not exist.
#[test]
fn questions_change_nothing() {
    let mut test = Test::new(SessionLimits { history: 4, ..SessionLimits::default() }, None);
    let (unlimited, key) = (Budget::unlimited(), Some("x".to_string()));
    let event =
        |letter: &str| ObservedEvent { message: Some(letter.to_string()), ..ObservedEvent::default() };
    let is_possible = |outcome: StepOutcome| match outcome {
        StepOutcome::Judged(judgement) => judgement.event == EventVerdict::Possible,
        _ => false,
    };
    assert!(is_possible(test.sessions.preview(&key, &event("a"), &unlimited)));
    assert!(test.sessions.so_far(&key, &unlimited).is_none());
    assert_eq!((test.sessions.n_opened(), test.n_monitors.get()), (0, 0));
    assert_eq!(test.letters("x", "a"), ["possible"]);
    assert!(!is_possible(test.sessions.preview(&key, &event("a"), &unlimited)));
    assert!(is_possible(test.sessions.preview(&key, &event("b"), &unlimited)));
    let so_far = test.sessions.so_far(&key, &unlimited).unwrap();
    assert_eq!((so_far.reason, so_far.n_events, so_far.history.events.len()), (CloseReason::LogEnd, 1, 1));
    assert_eq!(test.sessions.open_keys().collect::<Vec<_>>(), [&key]);
    assert!(test.sessions.status(&key, &unlimited).unwrap().is_some());
    assert_eq!(test.letters("x", "bc"), ["possible"; 2]);
    // The session is over.
    assert!(matches!(test.sessions.preview(&key, &event("a"), &unlimited), StepOutcome::AfterEnd));
    assert!(test.sessions.status(&key, &unlimited).unwrap().is_none());
    assert_eq!(test.letters("x", "a"), ["after end"]);
}

#[test]
fn a_session_goes_on_after_an_interrupt_if_the_caller_repeats_the_observation() {
    for keeps_interrupted in [false, true] {
        let mut test = Test::new(SessionLimits { keeps_interrupted, ..SessionLimits::default() }, None);
        let interrupted = Budget::unlimited();
        interrupted.cancel();
        assert_eq!(test.letters("x", "a"), ["possible"]);
        let closed = (!keeps_interrupted).then_some(CloseReason::Stopped);
        assert_eq!(test.observe("x", "b", &interrupted), ("stopped", closed));
        let expected = if keeps_interrupted { "possible" } else { "after stop" };
        assert_eq!(test.letters("x", "b"), [expected]);
    }
}
