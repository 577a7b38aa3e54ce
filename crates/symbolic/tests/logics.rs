//! LTL, CTL*, ATL and the mu-calculus against the truth definition on random systems.
//!
//! A model on which they differ is shrunk and printed.

use std::ops::Range;

use masque_model::semantics::{Truth, explore, holds_in};
use masque_model::{Deadlock, Formula, Paths, System};
use masque_symbolic::{Reorder, Symbolic};
use masque_testkit::{
    load, random_determined_model, random_fixpoint_model, random_game_model, random_path_model, shrink,
};
use masque_verdict::{Branching, Budget, Engine, Show, Verdict};

/// Systems with more states are left to others: the definition is slow.
const MAX_STATES: usize = 200;

#[test]
fn paths() {
    let tally = run(random_path_model, 0..3_300);
    assert!(tally.systems >= 3_000 && tally.fair * 4 >= tally.systems, "{tally:?}");
    assert!(tally.holds.min(tally.fails) * 5 >= tally.holds + tally.fails, "{tally:?}");
}

/// Path formulas that CTL can say. `SEEDS=FROM..TO cargo test --release -p masque-symbolic determined` asks
/// for more.
#[test]
fn determined() {
    let seeds = std::env::var("SEEDS").unwrap_or("0..1500".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    let seeds = from.parse().expect("a number")..to.parse().expect("a number");
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
    assert!(tally.systems * 10 >= n_seeds * 9 && tally.fair * 4 >= tally.systems, "{tally:?}");
    assert!(tally.holds.min(tally.fails) * 5 >= tally.holds + tally.fails, "{tally:?}");
}

#[test]
fn games() {
    let tally = run(random_game_model, 0..3_300);
    assert!(tally.systems >= 3_000 && tally.fair * 4 >= tally.systems, "{tally:?}");
    assert!(tally.holds.min(tally.fails) * 5 >= tally.holds + tally.fails, "{tally:?}");
}

#[test]
fn fixpoints() {
    let tally = run(random_fixpoint_model, 0..1_200);
    assert!(tally.systems >= 1_000, "{tally:?}");
    assert!(tally.holds.min(tally.fails) * 5 >= tally.holds + tally.fails, "{tally:?}");
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    fair: usize,
    holds: usize,
    fails: usize,
}

fn run(model: fn(u64) -> String, seeds: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = model(seed);
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let reorder = if seed % 4 == 0 { Reorder::Eager } else { Reorder::Auto };
        let engine = Symbolic { reorder, evidence: Show::None, ..Symbolic::default() };
        let system = load(&text, deadlock).unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
        let Err(difference) = compare(&engine, &system, &mut tally) else { continue };
        let differs = |text: &str| compare(&engine, &load(text, deadlock)?, &mut Tally::default()).err();
        let small = shrink(&text, |text| differs(text).is_some());
        let difference = differs(&small).unwrap_or(difference);
        panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{small}");
    }
    println!("{tally:?}");
    tally
}

/// Says where the engine differs from the definition, if it does.
fn compare(engine: &Symbolic, system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES) else { return Ok(()) };
    if structure.n_states() == 0 {
        return Ok(());
    }
    tally.systems += 1;
    tally.fair += usize::from(!system.fairness.is_empty());
    let budget = Budget::unlimited();
    let mut symbolic = engine.encode(system, &budget).map_err(|stop| stop.to_string())?;
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
        tally.holds += usize::from(found == Verdict::Holds);
        tally.fails += usize::from(found == Verdict::Fails);
    }
    Ok(())
}
