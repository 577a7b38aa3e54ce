//! Infinite systems, and checks that are stopped by a limit.

use std::time::Duration;

use crate::support::read;
use masque_mu::{AtomId, Completeness, LabelId, Lts, PatternId, Space, StateId, Vocabulary, check, explain};
use masque_text::{Diagnostic, Span};
use masque_verdict::{Budget, Verdict, Why};

/// Counts up without end, and may halt at any time: state 2n is the number n, and state 2n + 1 is the halted
/// counter. With a bound, transitions to larger numbers are cut off.
struct Counter {
    bound: Option<u32>,
}

impl Lts for Counter {
    fn initial(&mut self) -> StateId {
        StateId(0)
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        let n = state.0 / 2;
        if state.0 % 2 == 1 {
            return Completeness::Complete;
        }
        step(LabelId(1), StateId(state.0 + 1));
        if self.bound == Some(n) {
            return Completeness::Cut("depth");
        }
        step(LabelId(0), StateId(state.0 + 2));
        Completeness::Complete
    }

    /// Atom 2n + 1: the counter has halted; atom 2n: it shows n.
    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        if atom.0 % 2 == 1 { state.0 % 2 == 1 } else { state.0 / 2 == atom.0 / 2 }
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        label.0 == pattern.0
    }
}

impl Vocabulary for Counter {
    fn pattern(&mut self, text: &str, _: Span) -> Result<PatternId, Diagnostic> {
        Ok(PatternId(u32::from(text == "halt")))
    }

    fn atom(&mut self, text: &str, _: Span) -> Result<AtomId, Diagnostic> {
        let number = text.strip_prefix('n').and_then(|number| number.parse::<u32>().ok());
        Ok(AtomId(number.map_or(1, |n| 2 * n)))
    }
}

fn verdict(counter: &mut Counter, text: &str, budget: &Budget) -> Verdict {
    let (_, formula) = read(text, counter);
    check(&mut Space::new(counter), &formula, budget).verdict
}

#[rustfmt::skip]
#[test]
fn an_infinite_system_is_decided_if_a_finite_part_decides() {
    let table = [
        ("EF n500",                       Verdict::Holds),
        ("AG !n500",                      Verdict::Fails),
        ("AF (n40 || final)",             Verdict::Holds),
        ("<tick . tick>tt && AX AX AX (final || n3 || deadlock || [-]ff)", Verdict::Holds),
        ("[-* . halt . tick]ff || EF n9", Verdict::Holds),
        ("AG EF final -> EF n100",        Verdict::Holds),
    ];
    for (text, expected) in table {
        let budget = Budget::unlimited().with_timeout(Duration::from_secs(10));
        assert_eq!(verdict(&mut Counter { bound: None }, text, &budget), expected, "{text}");
    }
}

#[rustfmt::skip]
#[test]
fn a_bound_is_named_where_it_matters() {
    let unknown = Verdict::Unknown(Why::Bound("depth"));
    let table = [
        ("EF n5",              Verdict::Holds),
        ("AG EF final",        unknown),
        ("EF n500",            unknown),
        ("AG !n500",           unknown),
        ("AG !deadlock",       unknown),
        ("inev(halt)",         unknown),
        ("[halt]final",        Verdict::Holds),
        ("nu X. <tick>X",      unknown),
        ("nu X. mu Y. <tick>X || <halt>Y", unknown),
        ("AX AX (n2 || final)", Verdict::Holds),
    ];
    for (text, expected) in table {
        let found = verdict(&mut Counter { bound: Some(20) }, text, &Budget::unlimited());
        assert_eq!(found, expected, "{text}");
    }
    assert_eq!(unknown.reason(), Some("bound:depth"));
}

#[test]
fn limits_give_unknown_with_a_reason() {
    let endless = "AG EF final";
    let mut counter = Counter { bound: None };
    let mut why = |budget: &Budget| verdict(&mut counter, endless, budget);
    let unlimited = Budget::unlimited;
    assert_eq!(why(&unlimited().with_timeout(Duration::from_millis(50))), Verdict::Unknown(Why::Timeout));
    assert_eq!(why(&unlimited().with_states(1000)), Verdict::Unknown(Why::States));
    assert_eq!(why(&unlimited().with_memory(1 << 20)), Verdict::Unknown(Why::Memory));
    let cancelled = unlimited();
    cancelled.cancel();
    assert_eq!(why(&cancelled), Verdict::Unknown(Why::Interrupted));
}

#[test]
fn the_explored_part_is_solved_before_a_limit_is_reported() {
    // Ten states are enough to decide the formula, because `halt` is possible in the first.
    let budget = Budget::unlimited().with_states(10);
    let mut counter = Counter { bound: None };
    assert_eq!(verdict(&mut counter, "nu X. <halt>tt || <tick>X", &budget), Verdict::Holds);
    assert_eq!(verdict(&mut counter, "EF n50", &budget), Verdict::Unknown(Why::States));
}

/// The number of visited states is close to what the shortest evidence needs.
#[test]
fn a_check_stops_early() {
    let mut counter = Counter { bound: None };
    let (_, formula) = read("EF n30", &mut counter);
    let answer = explain(&mut Space::new(&mut counter), &formula, &Budget::unlimited());
    assert_eq!(answer.verdict, Verdict::Holds);
    assert!(answer.states <= 64, "{}", answer.states);
    assert_eq!(answer.evidence.unwrap().play.steps.len(), 30);
}

/// A long chain of states that counts the calls of its methods, and cancels the check at a given number.
struct Watched {
    asked: usize,
    cancel_at: usize,
    budget: Budget,
}

const CHAIN_LENGTH: u32 = 60_000;

impl Watched {
    fn ask(&mut self) {
        self.asked += 1;
        if self.asked == self.cancel_at {
            self.budget.cancel();
        }
    }
}

impl Lts for Watched {
    fn initial(&mut self) -> StateId {
        StateId(0)
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        self.ask();
        step(LabelId(0), StateId((state.0 + 1).min(CHAIN_LENGTH)));
        Completeness::Complete
    }

    fn holds(&mut self, _: StateId, _: AtomId) -> bool {
        self.ask();
        true
    }

    fn matches(&mut self, _: LabelId, _: PatternId) -> bool {
        true
    }
}

/// Limits also apply while evidence is made and replayed; then the verdict is reported without evidence.
#[test]
fn limits_apply_while_evidence_is_made() {
    let run = |cancel_at: usize, wants_evidence: bool| {
        let mut watched = Watched { asked: 0, cancel_at, budget: Budget::unlimited() };
        let (_, formula) = read("AG final", &mut Counter { bound: None });
        let budget = watched.budget.clone();
        let mut space = Space::new(&mut watched);
        let decide = if wants_evidence { explain } else { check };
        let answer = decide(&mut space, &formula, &budget);
        drop(space);
        assert_eq!(answer.verdict, Verdict::Holds);
        (watched.asked, answer.evidence.is_some())
    };
    let (to_decide, _) = run(0, false);
    let (in_all, is_shown) = run(0, true);
    assert!(is_shown && in_all > to_decide + 2 * CHAIN_LENGTH as usize, "{to_decide} of {in_all}");
    for part in [1, 25, 50, 75] {
        let cancel_at = to_decide + 10 + (in_all - to_decide) * part / 100;
        let (asked, is_shown) = run(cancel_at, true);
        assert!(!is_shown && asked < cancel_at + 20_000, "{part} %: {asked} after {cancel_at}");
    }
}
