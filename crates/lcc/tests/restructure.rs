//! Agents join and leave, and clauses change, in an open session. The definition is carried out beside it: the new
//! texts are opened, and the old state is placed, without the agents that leave.

use std::collections::BTreeSet;

use masque_lcc::{EventSelector, Question, Session, Setup, Text, Update};
use masque_verdict::Budget;

/// Maximum number of states of an instance; larger ones are skipped.
const MAX_STATES: u64 = 150;

fn setup(text: &str) -> Setup {
    Setup { files: vec![Text::new("random.lcc", text)], ..Setup::default() }
}

fn is_member(line: &str) -> bool {
    line.starts_with("agent ") || line.starts_with("server ")
}

/// The id in `agent a(role, id).` or `now a(role, id) :: ..`.
fn id(line: &str) -> &str {
    let head = line.split(" ::").next().unwrap();
    head.rsplit(", ").next().unwrap().trim_end_matches(['.', ')'])
}

/// A random update: lines that are removed, and lines that are added.
fn changes(lines: &[String], seed: u64) -> (Vec<String>, Vec<String>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let other: Vec<String> = crate::random::instance(seed + 5_000_000).lines().map(str::to_string).collect();
    let is_changeable = |line: &&String| !line.starts_with("option");
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for _ in 0..rng.usize(0..3) {
        let candidates: Vec<&String> = lines.iter().filter(is_changeable).collect();
        if !candidates.is_empty() {
            removed.push(candidates[rng.usize(0..candidates.len())].clone());
        }
    }
    for _ in 0..rng.usize(0..3) {
        let candidates: Vec<&String> = other.iter().filter(is_changeable).collect();
        added.push(candidates[rng.usize(0..candidates.len())].clone());
    }
    if rng.u32(0..3) == 0 {
        let (kind, role) =
            (["agent", "server"][rng.usize(0..2)], ["p0", "p1(c)", "q0", "q1(d)"][rng.usize(0..4)]);
        added.push(format!("{kind} a({role}, {}).", ["u", "v", "x", "z"][rng.usize(0..4)]));
    }
    // An agent that leaves may join again.
    if let Some(line) = removed.iter().find(|line| is_member(line)).filter(|_| rng.bool()) {
        added.push(format!("agent a({}, {}).", ["p0", "q0"][rng.usize(0..2)], id(line)));
    }
    removed.sort();
    removed.dedup();
    added.sort();
    added.dedup();
    added.retain(|line| !removed.contains(line));
    (removed, added)
}

/// What a session shows, apart from work.
fn seen(session: &mut Session, formulas: &[String]) -> Vec<String> {
    let mut seen = vec![
        format!("{:?}", session.team()),
        format!("{:#?}", session.state()),
        format!("{:#?}", session.possible_events()),
        format!("{} {:?}", session.is_final(), session.blame()),
        session.tuple("i"),
    ];
    for formula in formulas {
        let reply = session.check(&Question::Formula(formula.clone()), true, &Budget::unlimited());
        seen.push(match reply {
            Ok(reply) => format!(
                "{} {:?}",
                reply.checked.verdict,
                reply.checked.trace.map(|trace| trace
                    .events
                    .iter()
                    .map(|e| e.label.clone())
                    .collect::<Vec<_>>())
            ),
            Err(found) => found[0].message.clone(),
        });
    }
    let counts = session.explore(&Budget::unlimited().with_states(MAX_STATES));
    if let Ok(counts) = counts {
        seen.push(format!("{counts:?} {:?} {:?}", session.conflicts(), session.unknown_constraints()));
    }
    seen
}

/// The agents that leave by an update of lines, and whether one of them has work or mail.
fn leaving(session: &mut Session, lines: &[String], removed: &[String]) -> (BTreeSet<String>, bool) {
    let gone: BTreeSet<String> =
        removed.iter().filter(|line| is_member(line)).map(|line| id(line).to_string()).collect();
    let state = session.state();
    let mut first = Session::open(setup(&lines.join("\n"))).unwrap();
    let first: Vec<String> = first.state();
    let of = |state: &[String], who: &str| -> Vec<String> {
        state.iter().filter(|line| line.starts_with("now ") && id(line) == who).cloned().collect()
    };
    let is_busy = |who: &String| {
        let is_server = lines
            .iter()
            .filter(|line| is_member(line) && id(line) == who)
            .all(|line| line.starts_with("server"));
        let now = of(&state, who);
        let is_done = now.iter().all(|line| line.ends_with(":: nil."));
        let is_idle = is_server && now == of(&first, who);
        let has_mail = state.iter().any(|line| {
            line.starts_with("mail ")
                && line
                    .split(" -> ")
                    .nth(1)
                    .unwrap()
                    .split(" : ")
                    .next()
                    .unwrap()
                    .ends_with(&format!(", {who})"))
        });
        !(is_done || is_idle) || has_mail
    };
    let busy = gone.iter().any(is_busy);
    (gone, busy)
}

#[derive(Debug, Default)]
struct Tally {
    made: usize,
    busy: usize,
    present: usize,
    refused: usize,
    left: usize,
    joined: usize,
    clauses: usize,
}

/// Makes one update and compares it with the definition. Returns the new lines.
fn update(session: &mut Session, lines: &[String], seed: u64, tally: &mut Tally) -> Option<Vec<String>> {
    let (removed, added) = changes(lines, seed);
    let is_structural = |line: &String| is_member(line) || line.starts_with("a(");
    if !removed.iter().chain(&added).any(is_structural) {
        return None;
    }
    let new: Vec<String> = added.iter().filter(|line| !lines.contains(line)).cloned().collect();
    let mut wanted: Vec<String> = lines.iter().filter(|line| !removed.contains(line)).cloned().collect();
    wanted.extend(new.iter().cloned());
    let show = |session: &mut Session| {
        format!(
            "seed {seed}\n{}\nremoved {removed:#?}\nadded {added:#?}\n{:#?}",
            lines.join("\n"),
            session.state()
        )
    };
    let (gone, is_busy) = leaving(session, lines, &removed);
    let joins_twice = new.iter().any(|line| {
        is_member(line)
            && !gone.contains(id(line))
            && lines.iter().any(|other| is_member(other) && id(other) == id(line))
    });
    let state: Vec<String> = session
        .state()
        .into_iter()
        .filter(|line| !line.starts_with("now ") || !gone.contains(id(line)))
        .collect();
    let before = seen(session, &[]);
    let expected = Session::open(setup(&wanted.join("\n")));
    let done = session.update(&Update { add: added.clone(), remove: removed.clone() });
    match (done, expected) {
        (Ok(done), Ok(mut expected)) => {
            assert!(!is_busy && !joins_twice, "{}", show(session));
            expected.place(&state.join("\n")).unwrap_or_else(|found| panic!("{}\n{found:#?}", show(session)));
            let formulas: Vec<String> = (0..2).map(|n| crate::random::formula(seed * 2 + n)).collect();
            assert_eq!(seen(session, &formulas), seen(&mut expected, &formulas), "{}", show(session));
            assert_eq!((done.added, done.removed), (new.len(), removed.len()), "{}", show(session));
            tally.made += 1;
            tally.left += gone.len();
            tally.joined += new.iter().filter(|line| is_member(line)).count();
            tally.clauses += removed.iter().chain(&new).filter(|line| line.starts_with("a(")).count();
            Some(wanted)
        }
        (Err(found), expected) => {
            let codes: Vec<&str> = found.iter().map(|one| one.code).collect();
            let is_expected = match &expected {
                Err(_) => true,
                Ok(_) => is_busy || joins_twice || codes.contains(&"lcc/unknown-agent"),
            };
            assert!(is_expected, "{}\n{found:#?}", show(session));
            found.iter().for_each(|one| drop(masque_text::render(session.sources(), one, false)));
            assert_eq!(seen(session, &[]), before, "{}", show(session));
            tally.busy += usize::from(codes.contains(&"lcc/busy-agent"));
            tally.present += usize::from(codes.contains(&"lcc/present-agent"));
            tally.refused += 1;
            None
        }
        (Ok(_), Err(refused)) => panic!("{}\n{:#?}", show(session), refused.diagnostics),
    }
}

#[test]
fn an_update_is_an_opening_of_the_new_texts_and_a_placing_of_the_old_state() {
    let range = std::env::var("SEEDS").ok();
    let range = range.as_deref().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    let mut tally = Tally::default();
    for seed in range.clone().unwrap_or(0..700) {
        let text = crate::random::instance(seed + 3_000_000);
        let Ok(mut session) = Session::open(setup(&text)) else { continue };
        if session.explore(&Budget::unlimited().with_states(MAX_STATES)).is_err() {
            continue;
        }
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        let mut rng = fastrand::Rng::with_seed(seed);
        for n in 0..6 {
            if let Some(new) = update(&mut session, &lines, seed * 10 + n, &mut tally) {
                lines = new;
            }
            for _ in 0..rng.usize(0..4) {
                let n_events = session.possible_events().next.len();
                if n_events > 0 {
                    session.advance(&EventSelector::Index(rng.usize(0..n_events))).unwrap();
                }
            }
            // A restored session is the same, and can be changed further.
            if rng.u32(0..3) == 0
                && let Some(snapshot) = session.snapshot()
            {
                let mut other = Session::open(setup(&text)).unwrap();
                other
                    .restore(&snapshot)
                    .unwrap_or_else(|found| panic!("seed {seed}\n{text}\n{snapshot:#?}\n{found:#?}"));
                assert_eq!(
                    seen(&mut other, &[]),
                    seen(&mut session, &[]),
                    "seed {seed}\n{text}\n{snapshot:#?}"
                );
                assert_eq!(other.snapshot(), Some(snapshot), "seed {seed}\n{text}");
                session = other;
            }
        }
    }
    println!("{tally:?}");
    if range.is_none() {
        assert!(tally.made > 1_000 && tally.busy > 50 && tally.left > 20 && tally.joined > 100, "{tally:?}");
    }
}

/// An agent in the middle of a clause continues with the body that it has entered; new unfoldings take the new one.
#[test]
fn running_clauses_keep_their_body() {
    let text = "a(hen, H) :: egg(1) => a(farmer, f) then egg(2) => a(farmer, f) then a(hen, H).
        a(farmer, F) :: egg(_) <= a(hen, H) then a(farmer, F).
        agent a(hen, h). server a(farmer, f).";
    let mut session = Session::open(setup(text)).unwrap();
    session.advance(&EventSelector::Pattern("out(egg(1))".to_string())).unwrap();
    let change = Update {
        remove: vec![
            "a(hen, X) :: egg(1) => a(farmer, f) then egg(2) => a(farmer, f) then a(hen, X).".to_string(),
        ],
        add: vec!["a(hen, H) :: egg(3) => a(farmer, f).  know h: layer.".to_string()],
    };
    let done = session.update(&change).unwrap();
    assert_eq!((done.added, done.removed), (2, 1));
    session.advance(&EventSelector::Pattern("out(egg(2))".to_string())).unwrap();
    session.advance(&EventSelector::Pattern("out(egg(3))".to_string())).unwrap();
    assert_eq!(session.state()[0], "now a(_, h) :: nil.");
    // What an agent leaves behind is still delivered, and then it can leave.
    let leave = |id: &str, role: &str, kind: &str| Update {
        remove: vec![format!("{kind} a({role}, {id}).")],
        add: Vec::new(),
    };
    let refused = session.update(&leave("f", "farmer", "server")).unwrap_err();
    let mail = "`f` cannot leave the team: it has mail: `mail a(hen, h) -> a(farmer, f) : egg(1).`";
    assert_eq!(refused[0].message, mail);
    session.update(&leave("h", "hen", "agent")).unwrap();
    assert_eq!(session.team(), ["f"]);
    for _ in 0..3 {
        session
            .advance(&EventSelector::Pattern("in(egg(_))".to_string()).clone())
            .or_else(|_| session.advance(&EventSelector::Index(0)))
            .unwrap();
    }
    assert!(session.is_final());
}
