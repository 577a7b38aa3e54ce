//! The engine against the truth definition, and against the explicit engine, on random systems.
//!
//! Verdicts are compared with the definition; facts and evidence must equal those of the explicit engine,
//! and evidence must replay.

use std::ops::Range;

use masque_explicit::Explicit;
use masque_model::System;
use masque_model::semantics::{explore, holds_in};
use masque_symbolic::{Order, Reorder, Symbolic};
use masque_testkit::{
    Deadlocks, Generator, Reference, Tally, compare_facts, compare_outcomes, differential, encode,
    random_model, random_old_model, random_parameterised_model,
};
use masque_verdict::{Show, Verdict};

/// Maximum number of states of a compared system, because the reference is slow.
const MAX_STATES: usize = 600;

#[test]
fn random_models() {
    let tally = run(random_model, 0..2600);
    let fair = tally.get("systems") / 4;
    tally.assert_at_least(&[("systems", 2_500), ("evidence", 12_000), ("fair", fair)]);
}

#[test]
fn random_models_with_parameters() {
    let tally = run(random_parameterised_model, 0..2600);
    let fair = (tally.get("systems") - 300) / 3;
    tally.assert_at_least(&[("systems", 2_400), ("evidence", 12_000), ("fair", fair)]);
}

#[test]
fn random_old_models() {
    run(random_old_model, 0..300).assert_at_least(&[("systems", 290)]);
}

fn run(generator: Generator, seeds: Range<u64>) -> Tally {
    differential(&[generator], seeds, Deadlocks::StutterEvery(3), |system, seed, tally| {
        let order = if seed % 5 == 0 { Order::Declared } else { Order::Automatic };
        let reorder = if seed % 4 == 0 { Reorder::Eager } else { Reorder::Auto };
        let engine = Symbolic { order, reorder, evidence: Show::All, ..Symbolic::default() };
        compare(&engine, &system, tally)
    })
}

/// Returns where the engine differs from the reference or from the explicit engine, if it does.
fn compare(engine: &Symbolic, system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    tally.count("systems");
    tally.add("fair", usize::from(!system.fairness.is_empty()));
    let mut symbolic = encode(engine, system)?;
    let mut explicit = encode(&Explicit { evidence: Show::All, jobs: None }, system)?;
    compare_facts(&mut *symbolic, &mut *explicit)?;
    let mut reference = Reference::new(&structure, system);
    for property in &system.properties {
        tally.count("formulas");
        let outcome = compare_outcomes(system, property, &mut *symbolic, &mut *explicit)?;
        let expected = Verdict::from(holds_in(&structure, system, property));
        if outcome.verdict != expected {
            let text = system.formula_text(property.formula);
            return Err(format!("{text}: {}, should be {expected}", outcome.verdict));
        }
        let evidence = outcome.evidence.as_ref();
        tally.add("evidence", usize::from(reference.check(property, expected, evidence)?));
    }
    Ok(())
}
