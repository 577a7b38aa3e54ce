//! LTL, CTL*, ATL and the mu-calculus against the truth definition on random systems.

use std::ops::Range;

use masque_model::semantics::{Truth, explore, holds_in};
use masque_model::{Deadlock, Formula, Paths, System};
use masque_symbolic::{Reorder, Symbolic};
use masque_testkit::{
    Deadlocks, Generator, Tally, differential, encode, load, random_determined_model, random_fixpoint_model,
    random_game_model, random_path_model, random_recurring_model, seeds,
};
use masque_verdict::{Branching, Budget, Engine, Show, Verdict};

/// Maximum number of states of a compared system, because the definition is slow.
const MAX_STATES: usize = 200;

#[test]
fn paths() {
    let tally = run(random_path_model, 0..3_300);
    tally.assert_at_least(&[("systems", 3_000), ("fair", tally.get("systems") / 4)]);
}

/// Path formulas that CTL can express. For long tests:
/// `SEEDS=FROM..TO cargo test --release -p masque-symbolic determined`.
#[test]
fn determined() {
    let seeds = seeds("0..1500");
    for seed in seeds.clone().take(1500) {
        let system = load(&random_determined_model(seed), Deadlock::Finite).expect("a valid model");
        for property in &system.properties {
            let (path, holds) = match system.formulas.get(property.formula) {
                Formula::Forall(Paths::Infinite, path) => (path, false),
                Formula::Exists(Paths::Infinite, path) => (path, true),
                _ => continue,
            };
            let text = system.formula_text(property.formula);
            assert!(Branching::of(&system.formulas, path, holds).is_some(), "{text} is not recognised");
        }
    }
    let n_seeds = seeds.clone().count();
    let tally = run(random_determined_model, seeds);
    tally.assert_at_least(&[("systems", n_seeds * 9 / 10), ("fair", tally.get("systems") / 4)]);
}

/// Path formulas about what is always true and what recurs, which need no tableau.
#[test]
fn recurring() {
    let tally = run(random_recurring_model, 0..1_200);
    tally.assert_at_least(&[("systems", 1_000), ("fair", tally.get("systems") / 4)]);
}

#[test]
fn games() {
    let tally = run(random_game_model, 0..3_300);
    tally.assert_at_least(&[("systems", 3_000), ("fair", tally.get("systems") / 4)]);
}

#[test]
fn fixpoints() {
    run(random_fixpoint_model, 0..1_200).assert_at_least(&[("systems", 1_000)]);
}

/// Compares on the models of these seeds. At least a fifth of the verdicts must be `holds`, and a fifth
/// `fails`.
fn run(generator: Generator, seeds: Range<u64>) -> Tally {
    let tally = differential(&[generator], seeds, Deadlocks::StutterEvery(3), |system, seed, tally| {
        let reorder = if seed % 4 == 0 { Reorder::Eager } else { Reorder::Auto };
        let engine = Symbolic { reorder, evidence: Show::None, ..Symbolic::default() };
        compare(&engine, &system, tally)
    });
    let fifth = (tally.get("holds") + tally.get("fails")) / 5;
    tally.assert_at_least(&[("holds", fifth), ("fails", fifth)]);
    tally
}

/// Returns where the engine differs from the definition, if it does.
fn compare(engine: &Symbolic, system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    tally.count("systems");
    tally.add("fair", usize::from(!system.fairness.is_empty()));
    let budget = Budget::unlimited();
    let mut symbolic = encode(engine, system)?;
    for property in &system.properties {
        if engine.supports(system, property).is_err() {
            continue;
        }
        let truth = holds_in(&structure, system, property);
        if truth == Truth::Unsupported {
            continue;
        }
        let (found, expected) = (symbolic.decide(property, &budget).verdict, Verdict::from(truth));
        if found != expected {
            let text = system.formula_text(property.formula);
            return Err(format!("{text}: {found}, should be {expected}"));
        }
        tally.count(found.word());
    }
    Ok(())
}
