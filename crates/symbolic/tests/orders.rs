//! The order of declarations in a model changes the work by at most a factor of three, and sifting repairs
//! a bad order of the variables.
//!
//! Work is counted in steps of operations on diagrams, which do not depend on the machine.

use std::fs;

use masque_model::{Deadlock, System};
use masque_symbolic::{Order, Reorder, Symbolic};
use masque_testkit::{load, shuffle};
use masque_verdict::{Budget, Engine, Verdict};

/// The result of checking a model, and the work in diagram steps.
struct Checked {
    states: masque_model::Count,
    verdicts: Vec<Verdict>,
    work: u64,
}

impl Checked {
    /// Returns the number of states, and a letter for each verdict.
    fn summary(&self) -> (u64, String) {
        let letter = |verdict: &Verdict| match verdict {
            Verdict::Holds => 'H',
            Verdict::Fails => 'F',
            Verdict::Unknown(_) => 'U',
        };
        (self.states.to_u64().unwrap(), self.verdicts.iter().map(letter).collect())
    }
}

fn text(model: &str) -> String {
    fs::read_to_string(format!("tests/models/{model}.ispl")).unwrap()
}

fn system(text: &str) -> System {
    load(text, Deadlock::Finite).expect("the model is valid")
}

fn check(engine: &Symbolic, system: &System) -> Checked {
    let budget = Budget::unlimited();
    let mut encoded = engine.encode(system, &budget).unwrap();
    let states = encoded.facts(&budget).unwrap().states;
    let verdicts = system.properties.iter().map(|property| encoded.decide(property, &budget).verdict);
    let verdicts = verdicts.collect();
    let stats = encoded.stats();
    // Trial orders are built in other diagram managers, whose steps would be missing here.
    assert!(stats.phases.iter().all(|phase| phase.name != "trials"), "the first order is good enough");
    let work = stats.figures.iter().find(|(name, _)| *name == "diagram steps").unwrap().1;
    Checked { states, verdicts, work }
}

/// Asserts that a model has the same states and verdicts after its declarations are shuffled, with at
/// most three times the work. Verdicts are `H`, `F` and `U`.
fn check_shuffled(model: &str, states: u64, verdicts: &str) {
    let text = text(model);
    let engine = Symbolic::default();
    let written = check(&engine, &system(&text));
    assert_eq!(written.summary(), (states, verdicts.to_string()), "{model}");
    for seed in [1, 2, 3] {
        let shuffled = check(&engine, &system(&shuffle(&text, seed)));
        let ratio = shuffled.work as f64 / written.work as f64;
        println!("{model}, seed {seed}: {} steps, {ratio:.2} times {}", shuffled.work, written.work);
        assert_eq!(shuffled.summary(), written.summary(), "{model}, seed {seed}");
        assert!(shuffled.work <= 3 * written.work, "{model}, seed {seed}: {ratio:.1} times the work");
    }
}

/// 30 coins, who has paid (31 possibilities), and four stages.
#[test]
fn cryptographers_shuffled() {
    check_shuffled("dc_30_sum", (4 * 31) << 30, "HH");
}

/// The subset of muddy children, and how many times the question was asked.
#[test]
fn children_shuffled() {
    check_shuffled("muddy_20", 21 << 20, &"H".repeat(20));
}

/// Each train is away or waiting, or one train is in the tunnel.
#[test]
fn trains_shuffled() {
    check_shuffled("trains_30", (1 << 30) + (30 << 29), "HHHFFHH");
}

/// All channels are synchronised: 16 bits, and nine states of the rest.
#[test]
fn bits_shuffled() {
    check_shuffled("btp_16", 9 << 16, "HH");
}

/// 45 states for one session, 1625 for two: 5^(2n-1) (4n+5).
#[test]
fn sessions_shuffled() {
    check_shuffled("nspk_3_nspk", 5_u64.pow(5) * 17, "HFFH");
}

/// Cryptographers in the order of a shuffled text: with sifting it takes about 1.5 million steps,
/// with the automatic order 80 thousand.
#[test]
fn sifting_repairs_a_bad_order() {
    let system = system(&shuffle(&text("dc_12_sum"), 1));
    let declared = Symbolic {
        order: Order::Declared,
        reorder: Reorder::Auto,
        evidence: masque_verdict::Show::None,
        ..Symbolic::default()
    };
    let [bad, good] = [declared, Symbolic::default()].map(|engine| check(&engine, &system));
    println!("declared: {} steps, automatic: {} steps", bad.work, good.work);
    assert_eq!(bad.summary(), ((4 * 13) << 12, "HH".to_string()));
    assert_eq!(good.summary(), bad.summary());
    assert!(bad.work < 5_000_000, "{} steps", bad.work);
    assert!(good.work * 5 < bad.work, "{} of {} steps", good.work, bad.work);
}
