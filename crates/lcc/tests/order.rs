//! Properties of random protocols under a low bound on states: each has the verdict that it has alone,
//! in whatever order they stand in the file.

mod random;

use fastrand::Rng;
use masque_lcc::{Parts, Reduced, open};
use masque_mu::{Space, check};
use masque_text::Sources;
use masque_verdict::{Budget, Verdict, Why};

/// Properties of one protocol.
const PROPERTIES: usize = 5;

#[derive(Debug, Default)]
struct Tally {
    protocols: usize,
    decided: usize,
    stopped: usize,
    /// Verdicts that were compared with those of other orders.
    compared: usize,
}

/// The verdicts of an instance by the names of its properties: with reductions, and in the whole system.
/// All properties share one system and one space, as in a check of a file.
fn verdicts(text: &str) -> Option<Vec<(String, [Option<Verdict>; 2])>> {
    let mut sources = Sources::default();
    let file = sources.add("random.lcc", text).unwrap();
    let opened = open(&mut sources, &Parts { files: vec![file], ..Parts::default() });
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

fn run(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let kinds = [random::instance, random::talkers, random::workers];
        let protocol = kinds[(seed % 3) as usize](seed);
        let states = rng.u32(1..12);
        let mut properties: Vec<String> = (0..PROPERTIES as u64)
            .map(|n| {
                let formula = if rng.bool() { random::formula } else { random::insensitive };
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
        if alone.len() < PROPERTIES {
            continue;
        }
        tally.protocols += 1;
        let is_stopped = |(_, [_, whole]): &&(String, [Option<Verdict>; 2])| {
            matches!(whole, Some(Verdict::Unknown(Why::Bound("states"))))
        };
        let n_stopped = alone.iter().filter(is_stopped).count();
        tally.stopped += n_stopped;
        tally.decided += PROPERTIES - n_stopped;
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
    let tally = run(0..300);
    assert!(tally.protocols >= 250, "{tally:?}");
    assert!(tally.stopped * 4 >= tally.decided && tally.decided * 4 >= tally.stopped, "{tally:?}");
}

/// As long as one cares to wait: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn at_length() {
    let seeds = std::env::var("SEEDS").unwrap_or("100000..100010".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    println!("{:?}", run(from.parse().expect("a number")..to.parse().expect("a number")));
}
