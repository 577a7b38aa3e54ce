//! The engine against the truth definition, and against the explicit engine, on random systems.
//!
//! Verdicts are compared with the definition; facts and evidence must be the explicit engine's to
//! the last path, and evidence must replay. A model on which they differ is shrunk and printed.

use masque_explicit::Explicit;
use masque_model::semantics::{explore, holds_in};
use masque_model::{Deadlock, System};
use masque_symbolic::{Order, Reorder, Symbolic};
use masque_testkit::{Reference, load, random_model, random_old_model, random_parameterised_model, shrink};
use masque_verdict::{Budget, Engine, Show, Verdict};

/// Systems with more states are left to others: the reference is slow.
const MAX_STATES: usize = 600;

#[test]
fn random_models() {
    let tally = run(random_model, 0..2600);
    assert!(tally.systems >= 2_500 && tally.pieces >= 12_000 && tally.fair * 4 >= tally.systems, "{tally:?}");
}

#[test]
fn random_models_with_parameters() {
    let tally = run(random_parameterised_model, 0..2600);
    assert!(
        tally.systems >= 2_400 && tally.pieces >= 12_000 && tally.fair * 3 >= tally.systems - 300,
        "{tally:?}"
    );
}

#[test]
fn random_old_models() {
    let tally = run(random_old_model, 0..300);
    assert!(tally.systems >= 290, "{tally:?}");
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    fair: usize,
    formulas: usize,
    /// Properties with evidence.
    pieces: usize,
}

fn run(model: fn(u64) -> String, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = model(seed);
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let order = if seed % 5 == 0 { Order::Declared } else { Order::Automatic };
        let reorder = if seed % 4 == 0 { Reorder::Eager } else { Reorder::Auto };
        let engine = Symbolic { order, reorder, evidence: Show::All, ..Symbolic::default() };
        let system = load(&text, deadlock).unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
        let Err(difference) = compare(&engine, &system, &mut tally) else { continue };
        let small = shrink(&text, |text| {
            load(text, deadlock).is_some_and(|s| compare(&engine, &s, &mut Tally::default()).is_err())
        });
        let difference = load(&small, deadlock)
            .and_then(|s| compare(&engine, &s, &mut Tally::default()).err())
            .unwrap_or(difference);
        panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{small}");
    }
    println!("{tally:?}");
    tally
}

/// Says where the engine differs from the reference or from the explicit engine, if it does.
fn compare(engine: &Symbolic, system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES) else { return Ok(()) };
    if structure.n_states() == 0 {
        return Ok(());
    }
    tally.systems += 1;
    tally.fair += usize::from(!system.fairness.is_empty());
    let budget = Budget::unlimited();
    let mut symbolic = engine.encode(system, &budget).map_err(|stop| stop.to_string())?;
    let mut explicit = Explicit { evidence: Show::All, jobs: None }
        .encode(system, &budget)
        .map_err(|stop| stop.to_string())?;
    let facts = symbolic.facts(&budget).map_err(|stop| stop.to_string())?;
    let expected = explicit.facts(&budget).map_err(|stop| stop.to_string())?;
    if facts != expected {
        return Err(format!("facts: {facts:?}, should be {expected:?}"));
    }
    let mut reference = Reference::new(&structure, system);
    for property in &system.properties {
        tally.formulas += 1;
        let text = system.formula_text(property.formula);
        let outcome = symbolic.decide(property, &budget);
        let expected = Verdict::from(holds_in(&structure, system, property));
        if outcome.verdict != expected {
            return Err(format!("{text}: {}, should be {expected}", outcome.verdict));
        }
        let other = explicit.decide(property, &budget);
        if outcome != other {
            return Err(format!("{text}: {outcome:?}, explicit says {other:?}"));
        }
        tally.pieces += usize::from(reference.check(property, expected, outcome.evidence.as_ref())?);
    }
    Ok(())
}
