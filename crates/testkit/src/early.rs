//! Verdicts that an engine reports during exploration, checked against the truth definition.

use std::ops::Range;

use masque_model::System;
use masque_model::semantics::{explore, holds_in};
use masque_replay::replay;
use masque_verdict::{Budget, Early, Engine, Outcome, Verdict};

use crate::{
    Deadlocks, Tally, at_initial_and_reachable, differential, random_model, random_old_model, state_formulas,
};

/// Maximum number of states of a system, because the reference is slow.
const MAX_STATES: usize = 400;

/// Asks every state formula of random systems, at the initial and at all reachable states. Each system is
/// explored once in quick mode and once for each of `limits` on the number of states that it exceeds.
/// Counts systems, verdicts reported during exploration (`early`) and pieces of `evidence` replayed.
///
/// # Panics
///
/// If a verdict is wrong or its evidence does not replay.
pub fn check_early_verdicts(engine: &dyn Engine, limits: &[u64], seeds: Range<u64>) -> Tally {
    let generators = [random_model, random_old_model];
    differential(&generators, seeds, Deadlocks::Both, |system, _, tally| {
        compare(engine, system, limits, tally)
    })
}

fn compare(engine: &dyn Engine, mut system: System, limits: &[u64], tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(&system, MAX_STATES) else { return Ok(()) };
    tally.count("systems");
    system.properties = state_formulas(&system).into_iter().flat_map(at_initial_and_reachable).collect();
    let expected: Vec<Verdict> =
        system.properties.iter().map(|p| Verdict::from(holds_in(&structure, &system, p))).collect();
    let limits = limits.iter().filter(|&&limit| limit < structure.n_states() as u64);
    for limit in limits.copied().map(Some).chain([None]) {
        let mut reported: Vec<Option<Outcome>> = vec![None; system.properties.len()];
        let mut report = |index: usize, _: &str, outcome| reported[index] = Some(outcome);
        let early = Early::new(&system, 0..expected.len(), &mut report);
        let (mut early, budget) = match limit {
            Some(limit) => (early, Budget::default().with_states(limit)),
            None => (early.quick(), Budget::default()),
        };
        let is_finished = engine.explore(&system, &mut early, &budget).is_ok();
        match limit {
            Some(limit) if is_finished => return Err(format!("the limit of {limit} states was exceeded")),
            None if !is_finished && early.is_listening() => {
                return Err("exploration stopped although a verdict was still missing".to_string());
            }
            _ => {}
        }
        for ((property, outcome), expected) in system.properties.iter().zip(&reported).zip(&expected) {
            let Some(outcome) = outcome else { continue };
            tally.count("early");
            let text = system.formula_text(property.formula);
            if outcome.verdict != *expected {
                let at = property.at.name();
                return Err(format!("{limit:?}: {text} at {at}: {}, not {expected}", outcome.verdict));
            }
            if let Some(evidence) = &outcome.evidence {
                tally.count("evidence");
                replay(&system, property, outcome.verdict == Verdict::Holds, evidence)
                    .map_err(|error| format!("{limit:?}: {text}: {error}"))?;
            }
        }
    }
    Ok(())
}
