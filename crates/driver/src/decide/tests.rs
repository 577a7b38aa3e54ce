//! Random systems with limits on budget steps. A property that an engine decides alone within its share of the
//! steps is also decided together with others, in any order.

use std::sync::Arc;
use std::sync::mpsc::channel;

use fastrand::Rng;
use masque_explicit::Explicit;
use masque_symbolic::Symbolic;
use masque_testkit::{load, random_fixpoint_model, random_game_model, random_model, random_path_model};
use masque_verdict::{Early, Show};

use super::*;

/// Additional steps for the early verdicts during exploration, whose cost depends on the order of properties.
const EXTRA_STEPS: u64 = 8;

/// More steps than any test takes.
const UNLIMITED_STEPS: u64 = 1 << 40;

#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    decided: usize,
    stopped: usize,
    /// Properties that are stopped alone, but decided together with others: by steps that others left over, or
    /// in a second round.
    gained: usize,
}

/// Explores a system. Returns the steps until the facts are known, and the encoded system.
fn prepared<'s>(engine: &AnyEngine, system: &'s System) -> (u64, Box<dyn Encoded + 's>) {
    let budget = Budget::default().with_steps(UNLIMITED_STEPS);
    let mut on_verdict = |_: usize, _: &str, _: Outcome| {};
    let mut early = Early::new(system, 0..system.properties.len(), &mut on_verdict);
    let mut encoded = engine.explore(system, &mut early, &budget).unwrap();
    encoded.facts(&budget).unwrap();
    (UNLIMITED_STEPS - budget.steps_left().unwrap(), encoded)
}

/// The verdict on a property that is decided first, and the steps that it takes.
fn alone(engine: &AnyEngine, system: &System, property: &Property, steps: u64) -> (Verdict, u64) {
    let budget = Budget::default().with_steps(steps);
    let verdict = prepared(engine, system).1.decide(property, &budget).verdict;
    (verdict, steps - budget.steps_left().unwrap())
}

/// The verdicts on all properties by a check with this many steps.
fn together(engine: &AnyEngine, system: &System, steps: u64) -> Vec<Option<Verdict>> {
    let (sender, messages) = channel();
    let candidates = vec![Arc::clone(engine)];
    let (mode, evidence) = (Mode::Plain, Show::None);
    let setup = CheckSetup { candidates, portfolio: None, mode, is_quick: false, evidence, certify: None };
    work(system, &setup, &Budget::default().with_steps(steps), &sender);
    drop(sender);
    let mut verdicts = vec![None; system.properties.len()];
    for message in messages {
        // A verdict from the exploration is not replaced by `unknown`.
        if let Message::Decided(index, decided) = message
            && (is_decided(&decided.outcome) || verdicts[index].is_none_or(is_stopped))
        {
            verdicts[index] = Some(decided.outcome.verdict);
        }
    }
    verdicts
}

fn is_stopped(verdict: Verdict) -> bool {
    verdict == Verdict::Unknown(Why::Timeout)
}

/// Compares checks of single properties with checks of all. The first engine gives evidence; the second is the
/// same engine without evidence, and measures the cost of verdicts.
fn run([engine, plain]: &[AnyEngine; 2], seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    let models = [random_model, random_path_model, random_game_model, random_fixpoint_model];
    for seed in seeds {
        let text = models[(seed % 4) as usize](seed);
        let Some(mut system) = load(&text, Deadlock::Finite) else { continue };
        let n_properties = system.properties.len();
        let (facts, _) = prepared(engine, &system);
        let costs: Vec<u64> = system
            .properties
            .iter()
            .map(|property| alone(plain, &system, property, UNLIMITED_STEPS).1)
            .collect();
        // The share with which about half of the properties are stopped.
        let n_stopped = |share: &u64| costs.iter().filter(|cost| *cost > share).count();
        let shares = costs.iter().flat_map(|&cost| [cost, cost.saturating_sub(1)]);
        let Some(share) = shares.min_by_key(|share| (2 * n_stopped(share)).abs_diff(costs.len())) else {
            continue;
        };
        tally.systems += 1;
        let mut rng = Rng::with_seed(seed);
        for _ in 0..3 {
            rng.shuffle(&mut system.properties);
            let found = together(engine, &system, facts + EXTRA_STEPS + share * n_properties as u64);
            for (property, verdict) in system.properties.iter().zip(found) {
                let (expected, _) = alone(engine, &system, property, share);
                let verdict = verdict.expect("every property has a result");
                if is_stopped(expected) {
                    tally.stopped += 1;
                    tally.gained += usize::from(!is_stopped(verdict));
                } else {
                    tally.decided += 1;
                    assert_eq!(verdict, expected, "seed {seed}, property {}\n{text}", property.name);
                }
            }
        }
    }
    tally
}

fn engines() -> [[AnyEngine; 2]; 2] {
    let jobs = std::num::NonZeroUsize::new(1);
    let explicit = |evidence| -> AnyEngine { Arc::new(Explicit { jobs, evidence }) };
    let symbolic = |evidence| -> AnyEngine { Arc::new(Symbolic { evidence, ..Symbolic::default() }) };
    [[Show::All, Show::None].map(explicit), [Show::All, Show::None].map(symbolic)]
}

#[test]
fn no_order_of_properties_loses_a_verdict() {
    for engines in engines() {
        let tally = run(&engines, 0..160);
        let name = engines[0].name();
        assert!(tally.systems >= 100, "{name}: {tally:?}");
        let (decided, stopped) = (tally.decided, tally.stopped);
        assert!(stopped * 4 >= decided && decided * 4 >= stopped, "{name}: {tally:?}");
    }
}

/// Runs for as many seeds as requested: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn at_length() {
    let seeds = std::env::var("SEEDS").unwrap_or("100000..100005".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    for engines in engines() {
        let tally = run(&engines, from.parse().expect("a number")..to.parse().expect("a number"));
        println!("{}: {tally:?}", engines[0].name());
    }
}
