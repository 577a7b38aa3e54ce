//! Evidence about coalitions under fairness: on random systems, it replays, all of its
//! claims are true, and both engines give the same.

use masque_explicit::Explicit;
use masque_model::semantics::explore;
use masque_model::{Formula, Property, System};
use masque_symbolic::Symbolic;
use masque_testkit::{
    Deadlocks, Reference, Tally, compare_outcomes, differential, encode, random_fair_game_model, seeds,
};
use masque_verdict::{Because, Evidence, Show, Verdict};

/// Maximum number of states of a compared system, because the truth definition is slow.
const MAX_STATES: usize = 64;

/// For long tests: `SEEDS=FROM..TO cargo test --release -p masque-symbolic --test all fair_games`; 24 000 seeds
/// are about 100 000 formulas.
#[test]
fn evidence_replays() {
    let deadlocks = Deadlocks::StutterEvery(3);
    let tally =
        differential(&[random_fair_game_model], seeds("0..500"), deadlocks, |mut system, _, tally| {
            add_negations(&mut system);
            compare(&system, tally)
        });
    tally.assert_at_least(&[("formulas", 2000), ("strategies", 500), ("answers", 250)]);
    tally.assert_at_least(&[("plays that end early", 30)]);
}

/// Counts the coalition's strategies and the opponents' answers in a piece of evidence, and the strategies
/// with a play that ends before the goal is reached.
fn count(tally: &mut Tally, evidence: &Evidence) {
    for reason in &evidence.reasons {
        match &reason.because {
            Because::Responses(_) => tally.count("answers"),
            Because::Strategy(strategy) => {
                tally.count("strategies");
                let last = strategy.play.states.last();
                let is_end = strategy.claims.iter().any(|&id| last == Some(&evidence.reason(id).state));
                if strategy.play.back_to.is_none() && !is_end {
                    tally.count("plays that end early");
                }
            }
            _ => {}
        }
    }
}

/// Adds the negation of every property.
fn add_negations(system: &mut System) {
    for property in system.properties.clone() {
        let formula = system.formulas.add(Formula::Not(property.formula));
        system.properties.push(Property { name: format!("not {}", property.name), formula, ..property });
    }
}

/// Returns what is wrong with the evidence for some property, if anything is.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    let mut explicit = encode(&Explicit { evidence: Show::All, jobs: None }, system)?;
    let mut symbolic = encode(&Symbolic { evidence: Show::All, ..Symbolic::default() }, system)?;
    let mut reference = Reference::new(&structure, system);
    for property in &system.properties {
        let outcome = compare_outcomes(system, property, &mut *symbolic, &mut *explicit)?;
        if matches!(outcome.verdict, Verdict::Unknown(_)) || reference.truth(property.formula).is_none() {
            continue; // There is no fair path, or the definition would take too long.
        }
        tally.count("formulas");
        reference.check(property, outcome.verdict, outcome.evidence.as_ref())?;
        outcome.evidence.iter().for_each(|evidence| count(tally, evidence));
    }
    Ok(())
}
