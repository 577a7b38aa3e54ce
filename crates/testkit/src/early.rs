//! Verdicts that an engine reports during exploration, checked against the truth definition.

use std::ops::Range;

use masque_model::semantics::{explore, holds_in};
use masque_model::{At, Deadlock, Property, System};
use masque_replay::replay;
use masque_text::Span;
use masque_verdict::{Budget, Early, Engine, Outcome, Verdict};

use crate::{load, random_model, random_old_model};

/// Maximum number of states of a system, because the reference is slow.
const MAX_STATES: usize = 400;

/// Number of systems and verdicts compared.
#[derive(Debug, Default)]
pub struct EarlyTally {
    /// Systems.
    pub systems: usize,
    /// Verdicts reported during exploration.
    pub early: usize,
    /// Pieces of evidence replayed.
    pub evidence: usize,
}

/// Asks every state formula of random systems, at the initial and at all reachable states. Each system is
/// explored once in quick mode and once for each of `limits` on the number of states that it exceeds.
///
/// # Panics
///
/// If a verdict is wrong or its evidence does not replay.
pub fn check_early_verdicts(engine: &dyn Engine, limits: &[u64], seeds: Range<u64>) -> EarlyTally {
    let mut tally = EarlyTally::default();
    for seed in seeds {
        for (model, deadlock) in [random_model, random_old_model]
            .into_iter()
            .flat_map(|model| [Deadlock::Finite, Deadlock::Stutter].map(|deadlock| (model, deadlock)))
        {
            let text = model(seed);
            let Some(system) = load(&text, deadlock) else { continue };
            if let Err(difference) = compare(engine, system, limits, &mut tally) {
                panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{text}");
            }
        }
    }
    println!("{tally:?}");
    tally
}

fn compare(
    engine: &dyn Engine,
    mut system: System,
    limits: &[u64],
    tally: &mut EarlyTally,
) -> Result<(), String> {
    let Some(structure) = explore(&system, MAX_STATES) else { return Ok(()) };
    tally.systems += 1;
    let is_path = system.formulas.path_formulas();
    let formulas = system.formulas.ids().filter(|f| !is_path[f.index()]);
    system.properties = formulas
        .flat_map(|f| [At::Initial, At::Reachable].map(|at| Property::new("", f, at, Span::default())))
        .collect();
    let expected: Vec<Verdict> =
        system.properties.iter().map(|p| Verdict::from(holds_in(&structure, &system, p))).collect();
    let limits = limits.iter().filter(|&&most| most < structure.n_states() as u64);
    for most_states in limits.copied().map(Some).chain([None]) {
        let mut told: Vec<Option<Outcome>> = vec![None; system.properties.len()];
        let mut tell = |position: usize, _: &str, outcome| told[position] = Some(outcome);
        let early = Early::new(&system, 0..expected.len(), &mut tell);
        let (mut early, budget) = match most_states {
            Some(most) => (early, Budget::default().with_states(most)),
            None => (early.quick(), Budget::default()),
        };
        let is_finished = engine.explore(&system, &mut early, &budget).is_ok();
        match most_states {
            Some(most) if is_finished => return Err(format!("the limit of {most} states was not obeyed")),
            None if !is_finished && early.is_listening() => return Err("it stopped too early".to_string()),
            _ => {}
        }
        for ((property, outcome), expected) in system.properties.iter().zip(&told).zip(&expected) {
            let Some(outcome) = outcome else { continue };
            tally.early += 1;
            let text = system.formula_text(property.formula);
            if outcome.verdict != *expected {
                let at = property.at.name();
                return Err(format!("{most_states:?}: {text} at {at}: {}, not {expected}", outcome.verdict));
            }
            if let Some(evidence) = &outcome.evidence {
                tally.evidence += 1;
                replay(&system, property, outcome.verdict == Verdict::Holds, evidence)
                    .map_err(|error| format!("{most_states:?}: {text}: {error}"))?;
            }
        }
    }
    Ok(())
}
