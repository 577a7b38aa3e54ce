//! Compares sessions with checks from scratch, on random sequences of updates and events.

use masque_lcc::{EventSelector, InstanceInput, Question, Session, Setup, Text, Update, Work, explore, open};
use masque_mu::{Space, check, read_formula};
use masque_text::Sources;
use masque_verdict::{Budget, Verdict};

/// Maximum number of states of an instance; larger ones are skipped.
const MAX_STATES: u64 = 150;

/// A call of a session.
#[derive(Clone, Debug)]
enum Step {
    Add(Vec<String>),
    /// Removes the statement with this index, modulo their number, and adds others.
    Replace(usize, Vec<String>),
    /// Advances by the event with this index, modulo their number.
    Advance(usize),
    /// Reads the state and sets it again.
    Place,
    Explore,
    /// Checks a formula, with evidence or without.
    Check(String, bool),
}

/// Makes a random sequence of calls.
fn sequence(seed: u64, n_agents: usize) -> Vec<Step> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let formulas: Vec<String> = (0..3).map(|n| crate::random::formula(seed * 3 + n)).collect();
    let mut steps = Vec::new();
    for n in 0..rng.u64(4..12) {
        steps.push(match rng.u32(0..10) {
            0..=1 => Step::Add(crate::random::statements(seed * 100 + n, n_agents)),
            2..=3 => {
                let added =
                    if rng.bool() { crate::random::statements(seed * 100 + n, n_agents) } else { Vec::new() };
                Step::Replace(rng.usize(0..100), added)
            }
            4..=5 => Step::Advance(rng.usize(0..100)),
            6 => Step::Place,
            7 => Step::Explore,
            _ => Step::Check(formulas[rng.usize(0..3)].clone(), rng.bool()),
        });
        // One of the formulas is checked after each call.
        let asked = rng.usize(0..3);
        steps.push(Step::Check(formulas[asked].clone(), rng.u32(0..4) == 0));
    }
    steps
}

/// Whether a statement can be updated.
fn is_changeable(line: &str) -> bool {
    ["common", "know", "rule", "choice"].iter().any(|word| line.starts_with(word))
}

/// The instance that a session should be equivalent to.
struct Expected {
    lines: Vec<String>,
    /// `now` and `mail` statements, once the interaction has moved on.
    state: Vec<String>,
}

/// Computes the verdict of a check from scratch.
fn verdict(expected: &Expected, formula: &str) -> Option<Verdict> {
    let (mut sources, text) = (Sources::default(), expected.text());
    let file = sources.add("scratch.lcc", text).unwrap();
    let mut system =
        open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() }).system?;
    let file = sources.add("scratch.mu", formula).unwrap();
    let formula = read_formula(&sources, sources.span(file), &mut system).0?;
    Some(check(&mut Space::new(&mut system), &formula, &Budget::unlimited()).verdict)
}

impl Expected {
    fn text(&self) -> String {
        format!("{}\n{}", self.lines.join("\n"), self.state.join("\n"))
    }

    /// Computes counts, conflicts and unknown constraints from scratch; `None` if the space is too large.
    fn explored(&self) -> Option<(masque_lcc::Counts, Vec<String>, Vec<String>)> {
        let mut sources = Sources::default();
        let file = sources.add("scratch.lcc", self.text()).unwrap();
        let mut system =
            open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() }).system?;
        let counts = explore(&mut system, &Budget::unlimited().with_states(MAX_STATES)).ok()?;
        Some((counts, system.conflicts(), system.unknown_constraints()))
    }
}

/// Numbers of comparisons.
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

/// Executes a sequence. Differences are errors; `None` if the instance has errors or is too large.
fn run(text: &str, steps: &[Step], tally: &mut Tally) -> Option<Result<(), String>> {
    let mut expected = Expected { lines: text.lines().map(str::to_string).collect(), state: Vec::new() };
    expected.explored()?;
    let setup = Setup { files: vec![Text::new("random.lcc", text)], ..Setup::default() };
    let mut session = Session::open(setup).ok()?;
    for step in steps {
        if let Err(what) = execute(&mut session, &mut expected, step, tally)? {
            return Some(Err(format!("{what}\nat {step:?}\n{}", expected.text())));
        }
    }
    Some(Ok(()))
}

fn execute(
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
            if let Step::Replace(index, _) = step {
                let changeable: Vec<String> =
                    lines.iter().filter(|line| is_changeable(line)).cloned().collect();
                let Some(line) = changeable.get(index % changeable.len().max(1)) else { return Some(Ok(())) };
                lines.retain(|other| other != line);
                update.remove.push(line.clone());
            }
            let (Step::Add(added) | Step::Replace(_, added)) = step else { return None };
            for line in added {
                // A statement is added once, and not if the same update removes it.
                if !lines.contains(line) && !update.remove.contains(line) {
                    lines.push(line.clone());
                    update.add.push(line.clone());
                }
            }
            let other = Expected { lines, state: expected.state.clone() };
            let before = session.state();
            match session.update(&update) {
                Ok(_) => {
                    // Under other rules the space may be too large.
                    other.explored()?;
                    *expected = other;
                    tally.updates += 1;
                }
                Err(_) => {
                    let mut sources = Sources::default();
                    let file = sources.add("scratch.lcc", other.text()).unwrap();
                    let opened =
                        open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() });
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
        Step::Advance(index) => {
            let moves = session.possible_events();
            let Some(next) = moves.next.get(index % moves.next.len().max(1)) else { return Some(Ok(())) };
            let label = EventSelector::Label(next.event.label.clone());
            if session.advance(&label).is_err() {
                // The event is possible, so the label must be ambiguous.
                session.advance(&EventSelector::Index(next.number)).unwrap();
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
            // The solver replays new evidence. A cached run must also be possible in the current instance.
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

/// Checks that a run with these labels is possible. Where a label is ambiguous, all its events are tried.
fn follow(session: &mut Session, labels: &[String]) -> Result<(), String> {
    let mut states = vec![session.state()];
    for label in labels {
        let mut next = Vec::new();
        for state in &states {
            session.place(&state.join("\n")).unwrap();
            let moves = session.possible_events().next;
            for one in moves.iter().filter(|one| one.event.label == *label) {
                session.place(&state.join("\n")).unwrap();
                session.advance(&EventSelector::Index(one.number)).unwrap();
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

/// Removes steps, then lines, as long as the case still fails.
fn shrink(text: &str, steps: &[Step]) -> (String, Vec<Step>) {
    let fails = |text: &str, steps: &[Step]| matches!(run(text, steps, &mut Tally::default()), Some(Err(_)));
    let mut steps = steps.to_vec();
    let mut index = 0;
    while index < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(index);
        if fails(text, &fewer) {
            steps = fewer;
        } else {
            index += 1;
        }
    }
    (crate::random::shrink(text, &|text| fails(text, &steps)), steps)
}

#[test]
fn answers_are_those_of_a_check_from_scratch_after_every_step() {
    let mut tally = Tally::default();
    let mut n_sequences = 0;
    let mut seed = 0;
    while n_sequences < 1_000 {
        seed += 1;
        let text = crate::random::instance(seed + 200_000);
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

/// The work that updates of the travel example cause.
/// Statements that are replaced for a long time: the session keeps the texts of its statements only, and behaves like
/// one that was opened with them.
#[test]
fn replaced_statements_leave_no_texts() {
    let text = "a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
        a(clerk, C) :: opened(F) <= a(reader, R).
        agent a(reader, rita).  agent a(clerk, carl).  know rita: open(diary).
        rule archive: (S, _, +open(_)) <- member(S).  know archive: member(rita).
        property ends : AF final ;";
    let setup = || Setup { files: vec![Text::new("archive.lcc", text)], ..Setup::default() };
    let mut session = Session::open(setup()).unwrap();
    let (budget, ends) = (Budget::unlimited(), Question::Property("ends".to_string()));
    let member = "know archive: member(rita).".to_string();
    // Two statements that stay, and one that has a warning.
    let first = ["common kept(1).", "rule archive: (S, _, +pay(_)) <- member(S).", "know rita: unasked(1)."];
    session.update(&Update { add: first.map(String::from).to_vec(), remove: Vec::new() }).unwrap();
    let (mut most_texts, mut most_bytes) = (0, 0);
    for n in 0..600 {
        let at = |n: u32| format!("  know rita:\n at(place{n}).");
        let remove = if n == 0 { Vec::new() } else { vec![at(n - 1)] };
        session.update(&Update { add: vec![at(n)], remove }).unwrap();
        let toggled = vec![member.clone()];
        let update = |is_added: bool| match is_added {
            true => Update { add: toggled.clone(), remove: Vec::new() },
            false => Update { add: Vec::new(), remove: toggled.clone() },
        };
        session.update(&update(n % 2 == 1)).unwrap();
        if n % 50 == 0 {
            let expected = Verdict::from(n % 2 == 1);
            assert_eq!(session.check(&ends, true, &budget).unwrap().checked.verdict, expected);
            // A clause is added and removed: the session is made again from its texts.
            let clause = vec![format!("a(guest{n}, G) :: hello => a(clerk, C).")];
            session.update(&Update { add: clause.clone(), remove: Vec::new() }).unwrap();
            session.update(&Update { add: Vec::new(), remove: clause }).unwrap();
        }
        if n >= 100 {
            most_texts = session.sources().len().max(most_texts);
            most_bytes = session.sources().bytes().max(most_bytes);
        }
        let refused = session.update(&Update { add: vec!["common broken(".to_string()], remove: Vec::new() });
        assert!(refused.is_err());
    }
    assert!(most_texts < 40 && most_bytes < 3_000, "{most_texts} texts, {most_bytes} bytes");
    let mut other = Session::open(setup()).unwrap();
    other.restore(&session.snapshot().unwrap()).unwrap();
    assert_eq!(other.state(), session.state());
    assert_eq!(other.snapshot(), session.snapshot());
}

#[test]
fn an_update_recomputes_what_it_touches_and_no_more() {
    let mut session = Session::open(crate::support::travel_setup(2)).unwrap();
    let budget = Budget::unlimited();
    assert_eq!(session.explore(&budget).unwrap().states, 160);
    let blacklist = "rule hd: (A, self, -access) <- blacklisted(A).  know hd: blacklisted(ta).";
    let member = "know hd: member(ta, syta).";
    // Added, removed; situations recomputed, lists of successors recomputed, deadlocks.
    let rows: [(&str, &str, u64, u64, u64); 9] = [
        ("rule hd: (A, _, -nothing(A)) <- unheard_of(A).", "", 0, 0, 0),
        ("know hd: blacklisted(ta).", "", 0, 0, 0),
        ("", "know hd: blacklisted(ta).", 0, 0, 0),
        (blacklist, "", 2, 2, 2),
        // Earlier outcomes are restored.
        ("", blacklist, 0, 2, 0),
        ("", member, 2, 2, 2),
        (member, "", 0, 2, 0),
        // Another rule for something that is permitted already: the outcomes stay the same.
        ("rule br: (ta, D, +query(D, _, _)) <- (ta, D, +access).", "", 2, 0, 0),
        // The rule exists already, with other names of variables.
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

/// Answers that a change cannot affect are reused without further work.
#[test]
fn an_answer_is_kept_until_something_changes_that_it_depends_on() {
    let mut session = Session::open(crate::support::travel_setup(2)).unwrap();
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
    // After the customer has paid, the hotel directory is not consulted any more.
    let paid = "in(payment(_))@ta";
    let mut n_steps = 0;
    while session.advance(&EventSelector::Pattern(paid.to_string())).is_err() {
        session.advance(&EventSelector::Index(0)).unwrap();
        n_steps += 1;
    }
    assert!(n_steps > 20, "{n_steps}");
    let reply = session.check(&deadlock_free, false, &budget).unwrap();
    // The first answer has solved this state already.
    assert_eq!((reply.checked.verdict, reply.checked.positions), (Verdict::Holds, positions));
    assert_eq!(reply.work, Work::default());
    let leave = Update { remove: vec!["know hd: member(ta, syta).".to_string()], ..Update::default() };
    assert_eq!(session.update(&leave).unwrap().situations, 2);
    let reply = session.check(&deadlock_free, false, &budget).unwrap();
    assert_eq!((reply.checked.verdict, reply.work.is_kept, reply.work.lists), (Verdict::Holds, true, 0));
}
