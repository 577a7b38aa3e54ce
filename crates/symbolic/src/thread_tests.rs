//! Tests of operations on several threads: in tests almost all operations count as long.

use std::time::{Duration, Instant};

use masque_model::{Deadlock, System};
use masque_testkit::{load, random_model};
use masque_verdict::{Budget, Engine, Facts, Outcome, Show, Stop, Why};

use crate::engine::{Order, Reorder, Symbolic};
use crate::space::{Set, Space};

/// Returns all results of an engine, and whether some operation used several threads.
fn results(engine: &Symbolic, system: &System) -> Result<(Facts, Vec<Outcome>, bool), Stop> {
    let budget = Budget::unlimited();
    let mut encoded = engine.encode(system, &budget)?;
    let facts = encoded.facts(&budget)?;
    let outcomes = system.properties.iter().map(|property| encoded.decide(property, &budget)).collect();
    let is_spread = encoded.stats().figures.iter().any(|(name, n)| name == "spread" && *n > 0);
    Ok((facts, outcomes, is_spread))
}

#[test]
fn several_threads_give_the_same_results_as_one() {
    let mut n_spread = 0;
    for seed in 0..250 {
        let system = load(&random_model(seed), Deadlock::Finite).unwrap();
        let (order, reorder) = match seed % 3 {
            0 => (Order::Automatic, Reorder::Auto),
            1 => (Order::Declared, Reorder::Never),
            _ => (Order::Declared, Reorder::Eager),
        };
        let one = Symbolic { order, reorder, evidence: Show::All, ..Symbolic::default() };
        let several = Symbolic { jobs: 2 + seed as usize % 3, ..one.clone() };
        let (expected, found) = (results(&one, &system).unwrap(), results(&several, &system).unwrap());
        assert!(!expected.2);
        assert_eq!((found.0, found.1), (expected.0, expected.1), "seed {seed}");
        n_spread += usize::from(found.2);
    }
    assert!(n_spread >= 240, "{n_spread}");
}

/// Returns the set in which each of the first `n` bits with the given parity equals the bit `n` levels
/// below.
fn equalities(space: &Space, n: u32, parity: u32) -> Set {
    let pairs = (0..n).filter(|i| i % 2 == parity);
    pairs.fold(space.all(), |set, i| {
        let [a, b] = [i, n + i].map(|bit| space.bit(bit, true).unwrap());
        space.and(&set, &space.iff(&a, &b).unwrap()).unwrap()
    })
}

/// An operation on several threads that would take minutes is stopped by the time limit, and later
/// operations in the same space are correct.
#[test]
fn several_threads_are_stopped() {
    const N: u32 = 30;
    let space = Space::with_threads(2 * N, &Budget::unlimited(), u64::MAX, 4).unwrap();
    let (even, odd) = (equalities(&space, N, 0), equalities(&space, N, 1));
    for _ in 0..3 {
        let deadline = Instant::now() + Duration::from_millis(200);
        space.set_budget(&Budget::default().with_deadline(deadline));
        assert_eq!(space.and(&even, &odd).err().map(|stop| stop.why), Some(Why::Timeout));
        space.set_budget(&Budget::unlimited());
        let some = space.and(&even, &space.bit(0, true).unwrap()).unwrap();
        assert_eq!(space.count(&some, 2 * N).to_string(), (1_u64 << (2 * N - N / 2 - 1)).to_string());
    }
    assert!(space.n_spread() > 0);
}

/// With a step limit, steps are counted exactly, on one thread.
#[test]
fn limited_steps_are_counted_by_one_thread() {
    const N: u32 = 10;
    let steps = |n_threads| {
        let space = Space::with_threads(2 * N, &Budget::unlimited(), 1 << 40, n_threads).unwrap();
        let (even, odd) = (equalities(&space, N, 0), equalities(&space, N, 1));
        space.and(&even, &odd).unwrap();
        (space.steps(), space.n_spread())
    };
    assert_eq!(steps(4), steps(1));
    assert_eq!(steps(4).1, 0);
}
