//! The engine against the explicit one, on random systems: facts, verdicts, evidence and counts.
//!
//! Every state formula of every model is asked, at the initial and at the reachable states, not only
//! the properties.

use std::ops::Range;

use masque_cluster::{Cluster, Workers};
use masque_explicit::Explicit;
use masque_model::{Formula, FormulaId, Strategies, System};
use masque_testkit::{
    Deadlocks, GENERATORS, Generator, Tally, at_initial_and_reachable, differential, encode, one_agent,
    random_determined_model, random_fixpoint_model, random_game_model, random_model, random_old_model,
    random_parameterised_model, random_path_model, seeds, state_formulas, system,
};
use masque_verdict::{Budget, Encoded, Engine, Show, Stop};

#[test]
fn random_models() {
    run(&[random_model], 0..80).assert_at_least(&[("systems", 150), ("evidence", 5000)]);
}

#[test]
fn random_old_models() {
    run(&[random_old_model], 0..40).assert_at_least(&[("systems", 70)]);
}

#[test]
fn random_parameterised_models() {
    run(&[random_parameterised_model], 0..20).assert_at_least(&[("systems", 20)]);
}

#[test]
fn random_path_models() {
    let tally = run(&[random_path_model], 0..70);
    tally.assert_at_least(&[("systems", 120), ("fair", 25), ("evidence", 1000)]);
}

#[test]
fn random_determined_models() {
    let tally = run(&[random_determined_model], 0..70);
    tally.assert_at_least(&[("systems", 120), ("fair", 25), ("evidence", 500)]);
}

#[test]
fn random_game_models() {
    let tally = run(&[random_game_model], 0..70);
    tally.assert_at_least(&[("systems", 120), ("fair", 25), ("evidence", 1000), ("uniform", 60)]);
}

#[test]
fn random_fixpoint_models() {
    let tally = run(&[random_fixpoint_model], 0..70);
    tally.assert_at_least(&[("systems", 120), ("fair", 25), ("evidence", 1000)]);
}

/// Models that distinguish the logics, which few random ones do: those of the page on logics; games in
/// which it matters what a member sees; and a path that meets `p` once, but not infinitely often.
#[test]
fn models_that_distinguish_logics() {
    let guide = include_str!("../../../docs/logics.md").split("\n```ispl\n").skip(1);
    let mut texts: Vec<String> =
        guide.map(|block| block.split("```").next().unwrap_or_default().to_string()).collect();
    assert!(texts.len() >= 5, "{}", texts.len());
    texts.push(include_str!("../../../models/ispl/card_game.ispl").to_string());
    texts.push(include_str!("../../../models/ispl/horse_race.ispl").to_string());
    let evolution = "n = 1 if n = 0 and Action = a; n = 2 if n = 1;";
    let once = one_agent("MultiAssignment", "n : 0..2;", "", evolution, "A.n = 0");
    let once = once.replace("Evaluation end", "Evaluation p if A.n = 1; end");
    texts.push(once.replace("Formulae end", "Formulae nu Z. mu Y. EX(p and Z or Y); end"));
    let mut tally = Tally::default();
    for text in texts {
        if let Err(difference) = compare(&system(&text), &mut tally) {
            panic!("{difference}\n{text}");
        }
    }
    tally.assert_at_least(&[("uniform", 8)]);
}

/// For long tests: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn random_models_at_length() {
    run(&GENERATORS, seeds("100000..100005"));
}

/// Compares on the models of these seeds, under both semantics of deadlock.
fn run(generators: &[Generator], seeds: Range<u64>) -> Tally {
    differential(generators, seeds, Deadlocks::Both, |system, _, tally| compare(&system, tally))
}

/// Returns where the engines differ, if they do, with one, two and three workers.
///
/// Counts systems, those with fairness (`fair`), formulas with uniform strategies on top (`uniform`) and
/// verdicts with evidence (`evidence`).
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    // Few random models are larger; those are skipped.
    let limit = Budget::unlimited().with_states(3000);
    let Ok(mut explicit) = (Explicit { evidence: Show::All, ..Explicit::default() }).encode(system, &limit)
    else {
        return Ok(());
    };
    let expected = responses(system, &mut *explicit);
    tally.count("systems");
    tally.add("fair", usize::from(!system.fairness.is_empty()));
    tally.add("uniform", system.formulas.ids().filter(|&formula| is_uniform(system, formula)).count());
    tally.add("evidence", expected.iter().filter(|(_, response)| response.contains("Evidence")).count());
    for workers in 1..=3 {
        let mut cluster = Cluster::new(Workers::Threads(workers));
        cluster.evidence = Show::All;
        let found = responses(system, &mut *encode(&cluster, system)?);
        for ((question, expected), (_, found)) in expected.iter().zip(found) {
            if *expected != found {
                return Err(format!("{workers} workers, {question}: {found}\nshould be {expected}"));
            }
        }
    }
    Ok(())
}

fn is_uniform(system: &System, formula: FormulaId) -> bool {
    let formula = system.formulas.get(formula);
    matches!(formula, Formula::Enforces(_, strategies, _) if strategies != Strategies::Perfect)
}

/// Asks an engine every question about a system; returns each question with its response.
fn responses(system: &System, encoded: &mut dyn Encoded) -> Vec<(String, String)> {
    let budget = Budget::unlimited();
    let mut responses = vec![("facts".to_string(), format!("{:?}", encoded.facts(&budget)))];
    for formula in state_formulas(system) {
        let text = system.formula_text(formula);
        let why = |stop: Stop| stop.why;
        let extent = encoded.extent(formula, &budget).map_err(why);
        responses.push((format!("extent of {text}"), format!("{extent:?}")));
        let somewhere = encoded.is_true_somewhere(formula, &budget).map_err(why);
        responses.push((format!("{text} somewhere"), format!("{somewhere:?}")));
        for property in at_initial_and_reachable(formula) {
            let outcome = encoded.decide(&property, &budget);
            responses.push((format!("{text} at {}", property.at.name()), format!("{outcome:?}")));
        }
    }
    responses
}
