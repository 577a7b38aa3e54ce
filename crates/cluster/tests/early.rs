//! Verdicts given while workers are still exploring: true of the whole, with the evidence that one
//! process gives.

use masque_cluster::{Cluster, Workers};
use masque_explicit::Explicit;
use masque_model::{Deadlock, Property, System};
use masque_testkit::{load, random_model};
use masque_text::Span;
use masque_verdict::{Budget, Early, Engine, Outcome, Show};

/// What an engine tells on the way, and what it says in the end.
fn outcomes(engine: &dyn Engine, system: &System) -> (Vec<Option<Outcome>>, Vec<Outcome>) {
    let budget = Budget::default();
    let mut told = vec![None; system.properties.len()];
    let mut tell = |position: usize, _: &str, outcome| told[position] = Some(outcome);
    let mut early = Early::new(system, 0..system.properties.len(), &mut tell);
    let mut encoded = engine.explore(system, &mut early, &budget).unwrap();
    let decided = system.properties.iter().map(|property| encoded.decide(property, &budget)).collect();
    (told, decided)
}

#[test]
fn what_is_told_early_is_what_one_process_says() {
    let mut n_told = 0;
    for seed in 0..40 {
        let Some(mut system) = load(&random_model(seed), Deadlock::Finite) else { continue };
        let is_path = system.formulas.path_formulas();
        let formulas: Vec<_> = system.formulas.ids().filter(|f| !is_path[f.index()]).collect();
        let at = |f| [masque_model::At::Initial, masque_model::At::Reachable].map(|at| (f, at));
        system.properties = formulas
            .into_iter()
            .flat_map(at)
            .map(|(f, at)| Property::new("", f, at, Span::default()))
            .collect();
        let one_process = Explicit { evidence: Show::All, jobs: None };
        let (_, expected) = outcomes(&one_process, &system);
        let mut cluster = Cluster::new(Workers::Threads(2));
        cluster.evidence = Show::All;
        let (told, decided) = outcomes(&cluster, &system);
        assert_eq!(decided, expected, "seed {seed}");
        for (position, (told, expected)) in told.iter().zip(&expected).enumerate() {
            let Some(told) = told else { continue };
            n_told += 1;
            let text = system.formula_text(system.properties[position].formula);
            assert_eq!(told.verdict, expected.verdict, "seed {seed}: {text}");
            assert!(told.evidence.is_none() || told.evidence == expected.evidence, "seed {seed}: {text}");
        }
    }
    assert!(n_told >= 30, "{n_told}");
}
