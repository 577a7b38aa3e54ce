//! Checks properties of random protocols under a low bound on states: each has the verdict that it has alone,
//! in any order of the properties in the file.

use fastrand::Rng;
use masque_lcc::{InstanceInput, Reduced, open};
use masque_mu::{Space, check};
use masque_testkit::seeds;
use masque_text::Sources;
use masque_verdict::{Budget, Verdict, Why};

/// Number of properties per protocol.
const N_PROPERTIES: usize = 5;

#[derive(Debug, Default)]
struct Tally {
    protocols: usize,
    decided: usize,
    stopped: usize,
    /// Number of verdicts compared with those of other orders.
    compared: usize,
}

/// Computes the verdicts of an instance by the names of its properties: with reductions, and in the whole
/// system. All properties share one system and one space, as when a file is checked.
fn verdicts(text: &str) -> Option<Vec<(String, [Option<Verdict>; 2])>> {
    let mut sources = Sources::default();
    let file = sources.add("random.lcc", text).unwrap();
    let opened = open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() });
    let (mut system, budget) = (opened.system?, Budget::unlimited());
    let mut space = Space::new(&mut system);
    let answers = opened.properties.iter().map(|property| {
        let formula = &property.formula;
        let reduced = Reduced::new(space.lts(), formula)
            .map(|mut reduced| check(&mut Space::new(&mut reduced), formula, &budget).verdict);
        let whole = check(&mut space, formula, &budget).verdict;
        (property.source.name.text.clone(), [reduced, Some(whole)])
    });
    Some(answers.collect())
}

fn compare_orders(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let kinds = [crate::random::instance, crate::random::talkers, crate::random::twins];
        let protocol = kinds[(seed % 3) as usize](seed);
        let states = rng.u32(1..5);
        let mut properties: Vec<String> = (0..N_PROPERTIES as u64)
            .map(|n| {
                let formula = if rng.bool() { crate::random::formula } else { crate::random::insensitive };
                format!("property p{n} : {} ;", formula(seed * 10 + n))
            })
            .collect();
        let file = |properties: &[String]| {
            format!("{protocol}\noption states = {states}.\n{}", properties.join("\n"))
        };
        let mut alone = Vec::new();
        for property in &properties {
            alone.extend(verdicts(&file(std::slice::from_ref(property))).unwrap_or_default());
        }
        if alone.len() < N_PROPERTIES {
            continue;
        }
        tally.protocols += 1;
        let is_stopped = |(_, [_, whole]): &&(String, [Option<Verdict>; 2])| {
            matches!(whole, Some(Verdict::Unknown(Why::Bound("states"))))
        };
        let n_stopped = alone.iter().filter(is_stopped).count();
        tally.stopped += n_stopped;
        tally.decided += N_PROPERTIES - n_stopped;
        for _ in 0..3 {
            rng.shuffle(&mut properties);
            let text = file(&properties);
            for answer in verdicts(&text).unwrap() {
                assert!(alone.contains(&answer), "seed {seed}: {answer:?}\nalone: {alone:?}\n{text}");
                tally.compared += 1;
            }
        }
    }
    tally
}

#[test]
fn the_order_of_properties_changes_no_verdict() {
    let tally = compare_orders(0..400);
    assert!(tally.protocols >= 300, "{tally:?}");
    assert!(tally.stopped * 3 >= tally.decided && tally.decided * 3 >= tally.stopped, "{tally:?}");
}

/// Compares more protocols: `SEEDS=FROM..TO cargo test --release -p masque-lcc --test all order::more_seeds`.
#[test]
fn more_seeds() {
    println!("{:?}", compare_orders(seeds("100000..100010")));
}

/// The property `warm` finds messages in another order than `win` does alone.
#[test]
fn the_order_of_messages_does_not_depend_on_earlier_properties() {
    let protocol = "a(p, P) :: null <- true then ping => a(r, z).
        a(q, Q) :: null <- true then pong => a(r, z).
        a(r, R) :: (ping <= a(p, _) then null <- won) or (pong <= a(q, _) then null).
        agent a(p, x). agent a(q, y). agent a(r, z). know z: won.";
    let (warm, win) = ("property warm : <#@y><out(pong)>tt ;", "property win : EF <#(won)>tt ;");
    let mut n_decided = 0;
    for states in 1..20 {
        let file =
            |properties: &[&str]| format!("{protocol} option states = {states}. {}", properties.concat());
        let alone = verdicts(&file(&[win])).unwrap();
        n_decided += usize::from(alone[0].1[1] == Some(Verdict::Holds));
        assert_eq!(verdicts(&file(&[warm, win])).unwrap()[1], alone[0], "{states} states");
    }
    assert!(n_decided > 0 && n_decided < 19);
}
