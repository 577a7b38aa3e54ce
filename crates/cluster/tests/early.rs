//! Verdicts that the workers report while they explore: they are correct for the whole system and have the
//! evidence that the explicit engine gives.

use masque_cluster::{Cluster, Workers};
use masque_explicit::Explicit;
use masque_model::{Deadlock, System};
use masque_testkit::{at_initial_and_reachable, load, random_model, state_formulas};
use masque_verdict::{Budget, Early, Engine, Outcome, Show};

/// Returns what an engine reports during exploration, and what it decides afterwards.
fn outcomes(engine: &dyn Engine, system: &System) -> (Vec<Option<Outcome>>, Vec<Outcome>) {
    let budget = Budget::default();
    let mut reported = vec![None; system.properties.len()];
    let mut report = |index: usize, _: &str, outcome| reported[index] = Some(outcome);
    let mut early = Early::new(system, 0..system.properties.len(), &mut report);
    let mut encoded = engine.explore(system, &mut early, &budget).unwrap();
    let decided = system.properties.iter().map(|property| encoded.decide(property, &budget)).collect();
    (reported, decided)
}

#[test]
fn early_verdicts_are_those_of_the_explicit_engine() {
    let mut n_reported = 0;
    for seed in 0..40 {
        let Some(mut system) = load(&random_model(seed), Deadlock::Finite) else { continue };
        system.properties = state_formulas(&system).into_iter().flat_map(at_initial_and_reachable).collect();
        let (_, expected) = outcomes(&Explicit { evidence: Show::All, jobs: None }, &system);
        let mut cluster = Cluster::new(Workers::Threads(2));
        cluster.evidence = Show::All;
        let (reported, decided) = outcomes(&cluster, &system);
        assert_eq!(decided, expected, "seed {seed}");
        for (property, (reported, expected)) in system.properties.iter().zip(reported.iter().zip(&expected)) {
            let Some(reported) = reported else { continue };
            n_reported += 1;
            let text = system.formula_text(property.formula);
            assert_eq!(reported.verdict, expected.verdict, "seed {seed}: {text}");
            let evidence = &reported.evidence;
            assert!(evidence.is_none() || *evidence == expected.evidence, "seed {seed}: {text}");
        }
    }
    assert!(n_reported >= 30, "{n_reported}");
}
