//! Sessions against checks from scratch, on random sequences of changes and steps.

mod random;
mod support;

use masque_lcc::{Happened, Parts, Question, Session, Setup, Text, Update, Work, explore, open};
use masque_mu::{Space, check, read_formula};
use masque_text::Sources;
use masque_verdict::{Budget, Verdict};

/// Spaces larger than this are left out.
const STATES: u64 = 150;

/// What changes in a session, and what is asked of it.
#[derive(Clone, Debug)]
enum Step {
    Add(Vec<String>),
    /// The statement at this place, counted round and round, and perhaps others in its stead.
    Replace(usize, Vec<String>),
    /// What can happen, by its place, counted round and round.
    Advance(usize),
    /// Reads the state and goes there again.
    Place,
    Explore,
    Check(String, bool),
}

/// A random sequence.
fn sequence(seed: u64, n_agents: usize) -> Vec<Step> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let formulas: Vec<String> = (0..3).map(|n| random::formula(seed * 3 + n)).collect();
    let mut steps = Vec::new();
    for n in 0..rng.u64(4..12) {
        steps.push(match rng.u32(0..10) {
            0..=1 => Step::Add(random::statements(seed * 100 + n, n_agents)),
            2..=3 => {
                let added =
                    if rng.bool() { random::statements(seed * 100 + n, n_agents) } else { Vec::new() };
                Step::Replace(rng.usize(0..100), added)
            }
            4..=5 => Step::Advance(rng.usize(0..100)),
            6 => Step::Place,
            7 => Step::Explore,
            _ => Step::Check(formulas[rng.usize(0..3)].clone(), rng.bool()),
        });
        // What is asked last is asked again most often.
        let asked = rng.usize(0..3);
        steps.push(Step::Check(formulas[asked].clone(), rng.u32(0..4) == 0));
    }
    steps
}

/// Whether a statement may come and go.
fn is_changeable(line: &str) -> bool {
    ["common", "know", "rule", "choice"].iter().any(|word| line.starts_with(word))
}

/// An instance as it should be by now.
struct Expected {
    lines: Vec<String>,
    /// `now` and `mail`, once the interaction has moved on.
    state: Vec<String>,
}

/// What a check from scratch says: the verdict.
fn verdict(expected: &Expected, formula: &str) -> Option<Verdict> {
    let (mut sources, text) = (Sources::default(), expected.text());
    let file = sources.add("scratch.lcc", text).unwrap();
    let mut system = open(&mut sources, &Parts { files: vec![file], ..Parts::default() }).system?;
    let file = sources.add("scratch.mu", formula).unwrap();
    let formula = read_formula(&sources, sources.span(file), &mut system).0?;
    Some(check(&mut Space::new(&mut system), &formula, &Budget::unlimited()).verdict)
}

impl Expected {
    fn text(&self) -> String {
        format!("{}\n{}", self.lines.join("\n"), self.state.join("\n"))
    }

    /// Counts, conflicts and unknown constraints from scratch; none if the space is too large.
    fn explored(&self) -> Option<(masque_lcc::Counts, Vec<String>, Vec<String>)> {
        let mut sources = Sources::default();
        let file = sources.add("scratch.lcc", self.text()).unwrap();
        let mut system = open(&mut sources, &Parts { files: vec![file], ..Parts::default() }).system?;
        let counts = explore(&mut system, &Budget::unlimited().with_states(STATES)).ok()?;
        Some((counts, system.conflicts(), system.unknown_constraints()))
    }
}

/// What a run of a sequence came to: how often things were compared.
#[derive(Debug, Default)]
struct Tally {
    verdicts: usize,
    kept: usize,
    spaces: usize,
    updates: usize,
    refused: usize,
    advances: usize,
    traces: usize,
}

/// Runs a sequence; what differs is an error. `None` if the instance is no good.
fn run(text: &str, steps: &[Step], tally: &mut Tally) -> Option<Result<(), String>> {
    let mut expected = Expected { lines: text.lines().map(str::to_string).collect(), state: Vec::new() };
    expected.explored()?;
    let setup = Setup { files: vec![Text::new("random.lcc", text)], ..Setup::default() };
    let mut session = Session::open(setup).ok()?;
    for step in steps {
        if let Err(what) = take(&mut session, &mut expected, step, tally)? {
            return Some(Err(format!("{what}\nat {step:?}\n{}", expected.text())));
        }
    }
    Some(Ok(()))
}

fn take(
    session: &mut Session,
    expected: &mut Expected,
    step: &Step,
    tally: &mut Tally,
) -> Option<Result<(), String>> {
    let differ =
        |what: &str, mine: String, other: String| Err(format!("{what}: {mine}, from scratch {other}"));
    match step {
        Step::Add(_) | Step::Replace(..) => {
            let mut lines = expected.lines.clone();
            let mut update = Update::default();
            if let Step::Replace(at, _) = step {
                let changeable: Vec<String> =
                    lines.iter().filter(|line| is_changeable(line)).cloned().collect();
                let Some(line) = changeable.get(at % changeable.len().max(1)) else { return Some(Ok(())) };
                lines.retain(|other| other != line);
                update.remove.push(line.clone());
            }
            let (Step::Add(added) | Step::Replace(_, added)) = step else { return None };
            for line in added {
                // Once is enough; and what is removed is not added at once.
                if !lines.contains(line) && !update.remove.contains(line) {
                    lines.push(line.clone());
                    update.add.push(line.clone());
                }
            }
            let other = Expected { lines, state: expected.state.clone() };
            let before = session.state();
            match session.update(&update) {
                Ok(_) => {
                    // A protocol may grow without end under other rules.
                    other.explored()?;
                    *expected = other;
                    tally.updates += 1;
                }
                Err(_) => {
                    let mut sources = Sources::default();
                    let file = sources.add("scratch.lcc", other.text()).unwrap();
                    let opened = open(&mut sources, &Parts { files: vec![file], ..Parts::default() });
                    let knows = |line: &String| line.contains("boss");
                    if opened.system.is_some() && !update.add.iter().any(knows) {
                        return Some(Err(format!("{update:?} is refused")));
                    }
                    if session.state() != before {
                        return Some(Err("a refused update changed the state".to_string()));
                    }
                    tally.refused += 1;
                }
            }
            Some(Ok(()))
        }
        Step::Advance(at) => {
            let moves = session.moves();
            let Some(next) = moves.next.get(at % moves.next.len().max(1)) else { return Some(Ok(())) };
            let label = Happened::Label(next.event.label.clone());
            if session.advance(&label).is_err() {
                // Ambiguous, since it can happen.
                session.advance(&Happened::Number(next.number)).unwrap();
            }
            expected.state = session.state();
            expected.explored()?;
            tally.advances += 1;
            Some(Ok(()))
        }
        Step::Place => {
            let state = session.state();
            if let Err(diagnostics) = session.place(&state.join("\n")) {
                return Some(Err(format!("{state:?} cannot be read: {diagnostics:?}")));
            }
            Some(if session.state() == state { Ok(()) } else { Err(format!("{state:?} is another state")) })
        }
        Step::Explore => {
            let counts = session.explore(&Budget::unlimited()).unwrap();
            let found = (counts, session.conflicts(), session.unknown_constraints());
            let wanted = expected.explored()?;
            tally.spaces += 1;
            Some(if found == wanted {
                Ok(())
            } else {
                differ("space", format!("{found:?}"), format!("{wanted:?}"))
            })
        }
        Step::Check(formula, evidence) => {
            let wanted = verdict(expected, formula)?;
            let reply = session.check(&Question::Formula(formula.clone()), *evidence, &Budget::unlimited());
            let reply = reply.unwrap();
            tally.verdicts += 1;
            tally.kept += usize::from(reply.work.is_kept);
            let found = reply.checked.verdict;
            if std::mem::discriminant(&found) != std::mem::discriminant(&wanted) {
                return Some(differ(formula, found.to_string(), wanted.to_string()));
            }
            // The solver replays all evidence when it makes it; a run that is kept must still be one.
            if let Some(trace) = reply.checked.trace {
                tally.traces += 1;
                let mut other = Session::open(Setup {
                    files: vec![Text::new("scratch.lcc", expected.text())],
                    ..Setup::default()
                })
                .ok()?;
                return Some(follow(
                    &mut other,
                    &trace.events.iter().map(|e| e.label.clone()).collect::<Vec<_>>(),
                ));
            }
            Some(Ok(()))
        }
    }
}

/// Whether these labels can follow each other: where one is ambiguous, some way must do.
fn follow(session: &mut Session, labels: &[String]) -> Result<(), String> {
    let mut states = vec![session.state()];
    for label in labels {
        let mut next = Vec::new();
        for state in &states {
            session.place(&state.join("\n")).unwrap();
            let moves = session.moves().next;
            for one in moves.iter().filter(|one| one.event.label == *label) {
                session.place(&state.join("\n")).unwrap();
                session.advance(&Happened::Number(one.number)).unwrap();
                let after = session.state();
                if !next.contains(&after) {
                    next.push(after);
                }
            }
        }
        if next.is_empty() {
            return Err(format!("the run {labels:#?} cannot go on with {label}"));
        }
        states = next;
    }
    Ok(())
}

/// As few steps, then as few lines, as still fail.
fn shrink(text: &str, steps: &[Step]) -> (String, Vec<Step>) {
    let fails = |text: &str, steps: &[Step]| matches!(run(text, steps, &mut Tally::default()), Some(Err(_)));
    let mut steps = steps.to_vec();
    let mut at = 0;
    while at < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(at);
        if fails(text, &fewer) {
            steps = fewer;
        } else {
            at += 1;
        }
    }
    (random::shrink(text, &|text| fails(text, &steps)), steps)
}

#[test]
fn answers_are_those_of_a_check_from_scratch_after_every_step() {
    let mut tally = Tally::default();
    let mut n_sequences = 0;
    let mut seed = 0;
    while n_sequences < 1_000 {
        seed += 1;
        let text = random::instance(seed + 200_000);
        let n_agents =
            text.lines().filter(|line| line.starts_with("agent") || line.starts_with("server")).count();
        let steps = sequence(seed, n_agents);
        match run(&text, &steps, &mut tally) {
            None => {}
            Some(Ok(())) => n_sequences += 1,
            Some(Err(_)) => {
                let (text, steps) = shrink(&text, &steps);
                let what = run(&text, &steps, &mut Tally::default()).unwrap().unwrap_err();
                panic!("seed {seed}\n{text}\n{steps:#?}\n{what}");
            }
        }
    }
    assert!(seed < 4_000, "{seed}");
    assert!(tally.updates > 1_000 && tally.advances > 500 && tally.spaces > 300, "{tally:?}");
    assert!(tally.verdicts > 5_000 && tally.kept > 500 && tally.traces > 300, "{tally:?}");
}

/// What an update of the travel example costs.
#[test]
fn an_update_recomputes_what_it_touches_and_no_more() {
    let mut session = Session::open(support::travel_setup(2)).unwrap();
    let budget = Budget::unlimited();
    assert_eq!(session.explore(&budget).unwrap().states, 160);
    let blacklist = "rule hd: (A, self, -access) <- blacklisted(A).  know hd: blacklisted(ta).";
    let member = "know hd: member(ta, syta).";
    // Added, removed; situations looked into again, lists of successors recomputed, deadlocks.
    let rows: [(&str, &str, u64, u64, u64); 9] = [
        ("rule hd: (A, _, -nothing(A)) <- unheard_of(A).", "", 0, 0, 0),
        ("know hd: blacklisted(ta).", "", 0, 0, 0),
        ("", "know hd: blacklisted(ta).", 0, 0, 0),
        (blacklist, "", 2, 2, 2),
        // What was found before is found again.
        ("", blacklist, 0, 2, 0),
        ("", member, 2, 2, 2),
        (member, "", 0, 2, 0),
        // One reason more for what is permitted already: the situations are the same.
        ("rule br: (ta, D, +query(D, _, _)) <- (ta, D, +access).", "", 2, 0, 0),
        // It is there, whatever its variables are called.
        ("rule br: (X, Y, +query(Y, _, _)) <- (X, Y, +access).", "", 0, 0, 0),
    ];
    for (added, removed, situations, lists, deadlocks) in rows {
        let text = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_string()] };
        session.update(&Update { add: text(added), remove: text(removed) }).unwrap();
        let before = session.effort();
        let counts = session.explore(&budget).unwrap();
        let after = session.effort();
        let work = (after.situations - before.situations, after.lists - before.lists);
        assert_eq!((work, counts.deadlocks), ((situations, lists), deadlocks), "+{added} -{removed}");
    }
}

/// Answers that no change can reach are given again, without looking.
#[test]
fn an_answer_stands_until_something_changes_that_it_depends_on() {
    let mut session = Session::open(support::travel_setup(2)).unwrap();
    let budget = Budget::unlimited();
    let verdicts = |session: &mut Session| -> Vec<(String, Verdict, bool)> {
        let replies = session.check_all(false, &budget);
        replies.into_iter().map(|r| (r.name, r.checked.verdict, r.work.is_kept)).collect()
    };
    let first = verdicts(&mut session);
    let deadlock_free = Question::Property("deadlock_free".to_string());
    let positions = session.check(&deadlock_free, false, &budget).unwrap().checked.positions;
    assert_eq!(first.len(), 11);
    assert!(first.iter().all(|(_, _, is_kept)| !is_kept));
    let nothing = Update { add: vec!["common weather(fine).".to_string()], ..Update::default() };
    session.update(&nothing).unwrap();
    let again = verdicts(&mut session);
    assert!(again.iter().zip(&first).all(|(a, b)| a.2 && (&a.0, a.1) == (&b.0, b.1)), "{again:?}");
    // The customer has paid, so the hotel directory is behind us.
    let paid = "in(payment(_))@ta";
    let mut n_steps = 0;
    while session.advance(&Happened::Pattern(paid.to_string())).is_err() {
        session.advance(&Happened::Number(0)).unwrap();
        n_steps += 1;
    }
    assert!(n_steps > 20, "{n_steps}");
    let reply = session.check(&deadlock_free, false, &budget).unwrap();
    // Solved on the way to the first answer: nothing is left to do.
    assert_eq!((reply.checked.verdict, reply.checked.positions), (Verdict::Holds, positions));
    assert_eq!(reply.work, Work::default());
    let leave = Update { remove: vec!["know hd: member(ta, syta).".to_string()], ..Update::default() };
    assert_eq!(session.update(&leave).unwrap().situations, 2);
    let reply = session.check(&deadlock_free, false, &budget).unwrap();
    assert_eq!((reply.checked.verdict, reply.work.is_kept, reply.work.lists), (Verdict::Holds, true, 0));
}
