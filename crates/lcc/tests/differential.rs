//! Compares the implementation with the definition (`masque_lcc::reference`) on random protocols.

use std::collections::{BTreeSet, VecDeque};

use masque_lcc::reference::Reference;
use masque_lcc::{InstanceInput, Reduced, Reductions, System, explore, open};
use masque_mu::{
    Completeness, Formula, Lts, Space, StateId, check, explain, naive, parse_formula, read_formula, resolve,
};
use masque_testkit::seeds;
use masque_text::Sources;
use masque_verdict::{Budget, Verdict};

/// Partial-order reduction only.
const EAGER: Reductions = Reductions { eager: true, symmetry: false };

/// Symmetry reduction only.
const SYMMETRY: Reductions = Reductions { eager: false, symmetry: true };

/// Maximum number of states compared per protocol.
const MAX_STATES: usize = 30;

/// Opens a text as a system and as its reference; `None` if it has errors.
fn both(text: &str) -> Option<(System, Reference)> {
    let mut sources = Sources::default();
    let file = sources.add("random.lcc", text).unwrap();
    let opened = open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() });
    Some((opened.system?, Reference::new(&opened.trees)))
}

/// Compares a system with its reference. Returns the number of states compared, or a difference.
fn compare(text: &str) -> Result<usize, String> {
    let Some((mut system, reference)) = both(text) else { return Ok(0) };
    let first = (system.initial(), reference.initial());
    let mut seen = BTreeSet::from([first.0]);
    let mut queue = VecDeque::from([first]);
    let (mut n_states, mut is_whole) = (0, true);
    while let Some((state, by_definition)) = queue.pop_front() {
        let here = system.state_text(state);
        if here != reference.text(&by_definition) {
            return Err(format!("state {here}\n  is {}", reference.text(&by_definition)));
        }
        if system.is_final(state) != reference.is_final(&by_definition) {
            return Err(format!("final: {here}"));
        }
        let mut found: Vec<(String, String, StateId)> = Vec::new();
        let mut steps = Vec::new();
        let complete = system.successors(state, &mut |label, target| steps.push((label, target)));
        for (label, target) in steps {
            found.push((system.label_text(label), system.state_text(target), target));
        }
        found.sort();
        // Bounds on proofs and role changes differ between the two.
        if matches!(complete, Completeness::Cut("sld" | "unfold")) {
            return Ok(n_states);
        }
        let Ok((expected, is_cut)) = reference.successors(&by_definition) else {
            return match complete {
                Completeness::Cut(_) => Ok(n_states),
                Completeness::Complete => Err(format!("out of bounds by definition only: {here}")),
            };
        };
        let mut expected: Vec<_> =
            expected.into_iter().map(|t| (t.label, reference.text(&t.target), t.target)).collect();
        expected.sort_by(|left, right| (&left.0, &left.1).cmp(&(&right.0, &right.1)));
        let transition = |(label, target): (&String, &String)| format!("{label}\n    to {target}");
        let fast: Vec<String> = found.iter().map(|(label, target, _)| transition((label, target))).collect();
        let slow: Vec<String> =
            expected.iter().map(|(label, target, _)| transition((label, target))).collect();
        if fast != slow || (complete != Completeness::Complete) != is_cut {
            return Err(format!("from {here}\n{complete:?}\n{fast:#?}\nby definition {is_cut}\n{slow:#?}"));
        }
        n_states += 1;
        is_whole &= !is_cut;
        for ((_, _, state), (_, _, by_definition)) in found.into_iter().zip(expected) {
            if seen.len() < MAX_STATES && seen.insert(state) {
                queue.push_back((state, by_definition));
            }
        }
    }
    if is_whole && seen.len() < MAX_STATES {
        let fast = (system.conflicts(), system.unknown_constraints());
        let slow = (reference.conflicts(), reference.unknown_constraints());
        if fast != slow {
            return Err(format!("findings {fast:?}\nby definition {slow:?}"));
        }
    }
    Ok(n_states)
}

/// Compares one protocol per seed. Returns the numbers of protocols and states that were compared.
fn compare_all(seeds: std::ops::Range<u64>, text_of: impl Fn(u64) -> String) -> (usize, usize) {
    let (mut n_protocols, mut n_states) = (0, 0);
    for seed in seeds {
        let text = text_of(seed);
        match compare(&text) {
            Ok(0) => {}
            Ok(n) => {
                n_protocols += 1;
                n_states += n;
            }
            Err(_) => {
                let shrunk = crate::random::shrink(&text, &|text| compare(text).is_err());
                panic!("seed {seed}\n{shrunk}\n{}", compare(&shrunk).unwrap_err());
            }
        }
    }
    (n_protocols, n_states)
}

#[test]
fn transition_systems_are_those_of_the_definition() {
    let (n_protocols, n_states) = compare_all(0..4_000, crate::random::instance);
    assert!(n_protocols >= 3_000 && n_states > 15_000, "{n_protocols} protocols, {n_states} states");
}

/// The label of a handshake has the exchanged message, even if the sender left variables of it unbound.
#[test]
fn handshakes_are_those_of_the_definition() {
    let (n_protocols, n_states) = compare_all(0..3_000, |seed| {
        let text = match seed % 3 {
            0 => crate::random::instance(seed + 400_000),
            1 => crate::exchanges::protocol(seed),
            _ => crate::exchanges::dialogue(seed),
        };
        crate::exchanges::with_comm(&text, "sync")
    });
    assert!(n_protocols >= 2_500 && n_states > 5_000, "{n_protocols} protocols, {n_states} states");
}

/// With `comm = sync`, the parallel parts of one agent exchange messages with each other, too. A large run:
/// `SEEDS=0..100000 cargo test --release -p masque-lcc --test all differential::within_one_agent -- --nocapture`.
#[test]
fn handshakes_within_one_agent_are_those_of_the_definition() {
    let seeds = seeds("0..1000");
    let (n_protocols, n_states) = compare_all(seeds.clone(), crate::exchanges::parallel_parts);
    let has_one = |seed: &u64| has_inner_exchange(&crate::exchanges::parallel_parts(*seed));
    let n_exchanging = seeds.clone().filter(has_one).count();
    println!("{n_protocols} protocols, {n_states} states, {n_exchanging} with an exchange within one agent");
    let n_least = seeds.count() / 4;
    assert!(n_protocols >= 3 * n_least && n_exchanging >= n_least, "{n_protocols}, {n_exchanging}");
}

/// Whether some agent of a protocol can receive a message from itself.
fn has_inner_exchange(text: &str) -> bool {
    opened(text, "<-* . {tau(_, a(_, x), a(_, x)), tau(_, a(_, y), a(_, y)), tau(_, a(_, z), a(_, z))}>tt")
        .is_some_and(|(mut system, solved)| {
            let budget = Budget::unlimited().with_states(300);
            check(&mut Space::new(&mut system), &solved, &budget).verdict == Verdict::Holds
        })
}

/// Compares the verdict of the solver with the truth definition; `None` if the formula has errors or the
/// space is too large.
fn verdicts(text: &str, formula: &str) -> Option<Result<(), String>> {
    let (mut system, _) = both(text)?;
    explore(&mut system, &Budget::unlimited().with_states(60)).ok()?;
    let mut sources = Sources::default();
    let file = sources.add("random.mu", formula).unwrap();
    let phi = parse_formula(&sources, sources.span(file)).0?;
    let solved = resolve(&phi, &mut system).0?;
    let answer = explain(&mut Space::new(&mut system), &solved, &Budget::unlimited());
    let if_true = naive::holds(&mut system, &phi, true).unwrap();
    let if_false = naive::holds(&mut system, &phi, false).unwrap();
    let agrees = match answer.verdict {
        Verdict::Holds => if_true && if_false,
        Verdict::Fails => !if_true && !if_false,
        Verdict::Unknown(_) => if_true != if_false,
    };
    Some(if agrees {
        Ok(())
    } else {
        Err(format!("{:?}, by definition {if_true} {if_false}", answer.verdict))
    })
}

/// Opens a system and resolves a formula; `None` if one of them has errors.
fn opened(text: &str, formula: &str) -> Option<(System, Formula)> {
    let (mut system, _) = both(text)?;
    let mut sources = Sources::default();
    let file = sources.add("random.mu", formula).unwrap();
    let solved = read_formula(&sources, sources.span(file), &mut system).0?;
    Some((system, solved))
}

/// Compares the verdicts of the whole system and of a reduced one. Returns whether the reduced one has fewer
/// states, or a difference.
fn reduced(reductions: Reductions, text: &str, formula: &str) -> Option<Result<bool, String>> {
    let (mut system, solved) = opened(text, formula)?;
    explore(&mut system, &Budget::unlimited().with_states(300)).ok()?;
    let whole_states = system.n_states() as u64;
    let whole = check(&mut Space::new(&mut system), &solved, &Budget::unlimited());
    // The reduced system starts from a new system, so that its number of states does not include those above.
    let (mut system, solved) = opened(text, formula)?;
    let mut reduced = Reduced::with(reductions, &mut system, &solved)?;
    let answer = check(&mut Space::new(&mut reduced), &solved, &Budget::unlimited());
    Some(match (whole.verdict, answer.verdict) {
        (_, Verdict::Unknown(_)) => Ok(false),
        (Verdict::Unknown(_), _) => Ok(false),
        (whole, other) if whole == other => Ok(answer.states < whole_states),
        (whole, other) => Err(format!("{whole}, reduced {other}")),
    })
}

/// The solver replays evidence before returning it, so this test covers evidence as well.
#[test]
fn verdicts_are_those_of_the_definition() {
    let mut n_pairs = 0;
    for seed in 0..2_600_u64 {
        let text = crate::random::instance(seed + 10_000);
        for number in 0..3 {
            let formula = crate::random::formula(seed * 3 + number);
            match verdicts(&text, &formula) {
                None => {}
                Some(Ok(())) => n_pairs += 1,
                Some(Err(_)) => {
                    let fails = |text: &str| matches!(verdicts(text, &formula), Some(Err(_)));
                    let shrunk = crate::random::shrink(&text, &fails);
                    panic!("seed {seed}\n{shrunk}\n{formula}\n{:?}", verdicts(&shrunk, &formula));
                }
            }
        }
    }
    assert!(n_pairs >= 5_000, "{n_pairs}");
}

/// Compares verdicts of whole and reduced systems. Returns the number of pairs of a protocol and a formula,
/// and of those in which the reduced system is smaller.
fn compare_reduced(
    reductions: Reductions,
    seeds: std::ops::Range<u64>,
    instance: fn(u64) -> String,
    formula: fn(u64) -> String,
) -> (usize, usize) {
    let (mut n_pairs, mut n_smaller) = (0, 0);
    for seed in seeds {
        let text = instance(seed);
        for number in 0..6 {
            let formula = formula(seed * 6 + number);
            match reduced(reductions, &text, &formula) {
                None => {}
                Some(Ok(is_smaller)) => {
                    n_pairs += 1;
                    n_smaller += usize::from(is_smaller);
                }
                Some(Err(_)) => {
                    let fails = |text: &str| matches!(reduced(reductions, text, &formula), Some(Err(_)));
                    let shrunk = crate::random::shrink(&text, &fails);
                    panic!("seed {seed}\n{shrunk}\n{formula}\n{:?}", reduced(reductions, &shrunk, &formula));
                }
            }
        }
    }
    (n_pairs, n_smaller)
}

/// The formulas have shapes that the reduction accepts; their patterns and atoms are random.
#[test]
fn sending_at_once_changes_no_verdict() {
    let (n_pairs, n_smaller) =
        compare_reduced(EAGER, 0..2_500, crate::random::talkers, crate::random::insensitive);
    assert!(n_pairs >= 3_000 && n_smaller >= 300, "{n_pairs} pairs, {n_smaller} smaller");
}

#[test]
fn merging_interchangeable_agents_changes_no_verdict() {
    let (n_pairs, n_smaller) =
        compare_reduced(SYMMETRY, 0..1_500, crate::random::twins, crate::random::insensitive);
    assert!(n_pairs >= 3_000 && n_smaller >= 300, "{n_pairs} pairs, {n_smaller} smaller");
}

#[test]
fn both_reductions_together_change_no_verdict() {
    let (n_pairs, n_smaller) = compare_reduced(
        Reductions::default(),
        7_000..8_500,
        crate::random::twins,
        crate::random::insensitive,
    );
    assert!(n_pairs >= 3_000 && n_smaller >= 300, "{n_pairs} pairs, {n_smaller} smaller");
}

/// In each of these protocols, a reduction that ignored what the formula observes would change the verdict.
#[rustfmt::skip]
#[test]
fn observed_steps_are_not_reduced() {
    // Until y sends, the state is not stuck, no matter what x does.
    let pending = "a(p, x) :: null then a(q, x).  a(q, x) :: never <= a(_, _).
        a(r, y) :: m => a(_, z).  agent a(p, x). agent a(r, y).";
    // Until y sends, z has no step, and x can make steps without waiting for y.
    let idle = "a(p, x) :: null then a(p, x).  a(r, y) :: m => a(s, z).
        a(s, z) :: m <= a(r, y) then null <- w.  choice w/0.
        agent a(p, x). agent a(r, y). agent a(s, z).";
    // x can make steps without waiting for y to reach its choice.
    let later = "a(p, x) :: null then a(p, x).  a(r, y) :: null then null <- w.  choice w/0.
        agent a(p, x). agent a(r, y).";
    let table = [
        (later, "AF <#(w)>tt", Verdict::Fails),
        (later, "EF <#(w)>tt", Verdict::Holds),
        (pending, "EF (at(x, q) && <->tt)", Verdict::Holds),
        (pending, "AG (!at(x, q) || [-]ff)", Verdict::Fails),
        (pending, "AG !deadlock", Verdict::Fails),
        (idle, "AF <#(w)>tt", Verdict::Fails),
        (idle, "AF <in(m)>tt", Verdict::Fails),
        (idle, "EF <in(m)>tt", Verdict::Holds),
        (idle, "inev(in(m))", Verdict::Fails),
    ];
    for (text, formula, expected) in table {
        let (mut system, solved) = opened(text, formula).unwrap();
        let whole = check(&mut Space::new(&mut system), &solved, &Budget::unlimited());
        assert_eq!(whole.verdict, expected, "{formula}");
        let (mut system, solved) = opened(text, formula).unwrap();
        if let Some(mut reduced) = Reduced::new(&mut system, &solved) {
            let answer = check(&mut Space::new(&mut reduced), &solved, &Budget::unlimited());
            assert_eq!(answer.verdict, expected, "reduced, {formula}");
        }
    }
}

/// Two agents k1 and k2 that finish if they are lucky. The last column says whether they are interchangeable,
/// given one more statement and the formula.
#[rustfmt::skip]
#[test]
fn statements_and_formulas_that_distinguish_agents_prevent_merging() {
    let pair = "agent a(k, k1). agent a(k, k2). a(k, I) :: null then null <- lucky.";
    let boss = "agent a(p, x). a(p, I) :: null.";
    let table = [
        ("know k1: lucky.",                                     "<# . #(lucky)>tt", false),
        ("know k2: lucky.",                                     "<# . #(lucky)>tt", false),
        ("know k1: lucky. know k2: lucky.",                     "<# . #(lucky)>tt", true),
        ("common lucky. know k1: me(k1). know k2: me(k2).",     "<# . #(lucky)>tt", true),
        ("common lucky. know k1: me(k1). know k2: me(k1).",     "<# . #(lucky)>tt", false),
        ("common lucky. common first(k1).",                     "<# . #(lucky)>tt", false),
        ("common lucky. rule x: (k1, _, -lucky).",              "<# . #(lucky)>tt", false),
        ("common lucky. rule k1: (_, _, -other).",              "<# . #(lucky)>tt", false),
        ("choice k1: lucky/0.",                                 "<# . #(lucky)>tt", false),
        ("choice lucky/0.",                                     "<# . #(lucky)>tt", true),
        ("common lucky. mail a(p, x) -> a(k, k1) : m.",         "<# . #(lucky)>tt", false),
        ("common lucky. now a(k, k1) :: null <- lucky.",        "<# . #(lucky)>tt", false),
        ("common lucky. a(k, k1) :: null <- lucky then null.",  "<# . #(lucky)>tt", false),
        ("common lucky.",                                       "<#@k1 . #(lucky)@k1>tt", false),
        ("common lucky.",                                       "<#>at(k1, k)", false),
        ("common lucky.",                                       "EF (done(k1) && !done(x))", false),
        ("common lucky.",                                       "AF final", true),
    ];
    for (line, formula, is_interchangeable) in table {
        let text = format!("{pair} {boss} {line}");
        let (mut system, solved) = opened(&text, formula).unwrap();
        let whole = check(&mut Space::new(&mut system), &solved, &Budget::unlimited());
        let (mut system, solved) = opened(&text, formula).unwrap();
        let reduced = Reduced::with(SYMMETRY, &mut system, &solved);
        assert_eq!(reduced.is_some(), is_interchangeable, "{line} {formula}");
        if let Some(mut reduced) = reduced {
            let answer = check(&mut Space::new(&mut reduced), &solved, &Budget::unlimited());
            assert_eq!(answer.verdict, whole.verdict, "{line} {formula}");
        }
    }
}

/// Counts the whole space of a text; `None` if it has more than 300 states or errors.
fn counted(text: &str) -> Option<masque_lcc::Counts> {
    let (mut system, _) = both(text)?;
    explore(&mut system, &Budget::unlimited().with_states(300)).ok()
}

/// The counts do not change with the order of statements, with a rule about an unused action, or with a step
/// that is written twice.
#[test]
fn harmless_changes_keep_the_counts() {
    let mut n_protocols = 0;
    for seed in 0..800 {
        let text = crate::random::instance(seed + 90_000);
        // A body written twice is larger, so bounds might be exceeded earlier.
        let Some(counts) = counted(&text).filter(|counts| counts.cut.is_none()) else { continue };
        n_protocols += 1;
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut lines: Vec<&str> = text.lines().collect();
        rng.shuffle(&mut lines);
        let twice = |line: &&str| match line.split_once(" :: ") {
            Some((head, body)) => {
                let body = body.trim_end_matches('.');
                format!("{head} :: ({body} or {body}).")
            }
            None => line.to_string(),
        };
        let changed = [
            lines.join("\n"),
            format!("{text}\nrule judge: (A, _, -nothing(A)) <- unheard_of(A)."),
            text.lines().collect::<Vec<_>>().iter().map(twice).collect::<Vec<_>>().join("\n"),
        ];
        for other in changed {
            assert_eq!(counted(&other), Some(counts.clone()), "seed {seed}\n{text}\n--\n{other}");
        }
    }
    assert!(n_protocols > 300, "{n_protocols}");
}
