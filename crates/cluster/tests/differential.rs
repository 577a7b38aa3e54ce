//! The engine against the explicit one, on random systems: facts, verdicts, evidence and counts.
//!
//! Every state formula of every model is asked, at the initial and at the reachable states, not only
//! the properties. A model on which the two disagree is shrunk and printed.

use masque_cluster::{Cluster, Workers};
use masque_explicit::Explicit;
use masque_model::{At, Deadlock, Formula, FormulaId, Property, Strategies, System};
use masque_testkit::{
    load, one_agent, random_determined_model, random_fixpoint_model, random_game_model, random_model,
    random_old_model, random_parameterised_model, random_path_model, shrink, system,
};
use masque_text::Span;
use masque_verdict::{Budget, Encoded, Engine, Show, Stop, outside_logic};

#[test]
fn random_models() {
    let tally = run(random_model, 0..80);
    assert!(tally.systems >= 150 && tally.pieces >= 5000, "{tally:?}");
}

#[test]
fn random_old_models() {
    let tally = run(random_old_model, 0..40);
    assert!(tally.systems >= 70, "{tally:?}");
}

#[test]
fn random_parameterised_models() {
    let tally = run(random_parameterised_model, 0..20);
    assert!(tally.systems >= 20, "{tally:?}");
}

#[test]
fn random_path_models() {
    let tally = run(random_path_model, 0..70);
    assert!(tally.systems >= 120 && tally.fair >= 25 && tally.pieces >= 1000, "{tally:?}");
}

#[test]
fn random_determined_models() {
    let tally = run(random_determined_model, 0..70);
    assert!(tally.systems >= 120 && tally.fair >= 25 && tally.pieces >= 500, "{tally:?}");
}

#[test]
fn random_game_models() {
    let tally = run(random_game_model, 0..70);
    assert!(tally.systems >= 120 && tally.fair >= 25 && tally.pieces >= 1000, "{tally:?}");
    assert!(tally.uniform >= 60, "{tally:?}");
}

#[test]
fn random_fixpoint_models() {
    let tally = run(random_fixpoint_model, 0..70);
    assert!(tally.systems >= 120 && tally.fair >= 25 && tally.pieces >= 1000, "{tally:?}");
}

/// Models that tell logics apart, which few random ones do: those of the page on logics; games in
/// which it matters what a member sees; and a path that meets `p` once, but not again and again.
#[test]
fn telling_models() {
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
    assert!(tally.uniform >= 8, "{tally:?}");
}

/// As long as one cares to wait: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn random_models_at_length() {
    let seeds = std::env::var("SEEDS").unwrap_or("100000..100005".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    let seeds = || from.parse().expect("a number")..to.parse().expect("a number");
    for model in [
        random_model,
        random_old_model,
        random_parameterised_model,
        random_path_model,
        random_game_model,
        random_fixpoint_model,
    ] {
        run(model, seeds());
    }
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    fair: usize,
    /// Formulas with uniform strategies on top.
    uniform: usize,
    /// Verdicts with evidence.
    pieces: usize,
}

/// Compares on the models of these seeds, under both readings of deadlock.
fn run(model: fn(u64) -> String, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = model(seed);
        for deadlock in [Deadlock::Finite, Deadlock::Stutter] {
            let Some(system) = load(&text, deadlock) else { continue };
            if let Err(difference) = compare(&system, &mut tally) {
                let small = shrink(&text, |text| {
                    load(text, deadlock)
                        .is_some_and(|system| compare(&system, &mut Tally::default()).is_err())
                });
                let difference = load(&small, deadlock)
                    .and_then(|system| compare(&system, &mut Tally::default()).err())
                    .unwrap_or(difference);
                panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{small}");
            }
        }
    }
    println!("{tally:?}");
    tally
}

/// Says where the engines differ, if they do: with one, two and three workers.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    // The random models are small; a rare large one is left to others.
    let small = Budget::unlimited().with_states(3000);
    let Ok(mut explicit) = (Explicit { evidence: Show::All, ..Explicit::default() }).encode(system, &small)
    else {
        return Ok(());
    };
    let expected = answers(system, &mut *explicit);
    tally.systems += 1;
    tally.fair += usize::from(!system.fairness.is_empty());
    tally.uniform += system.formulas.ids().filter(|&formula| is_uniform(system, formula)).count();
    tally.pieces += expected.iter().filter(|(_, answer)| answer.contains("Evidence")).count();
    for workers in 1..=3 {
        let mut cluster = Cluster::new(Workers::Threads(workers));
        cluster.evidence = Show::All;
        let encoded = cluster.encode(system, &Budget::unlimited());
        let found = answers(system, &mut *encoded.map_err(|stop| stop.to_string())?);
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

/// All that an engine says of a system, question by question.
fn answers(system: &System, encoded: &mut dyn Encoded) -> Vec<(String, String)> {
    let budget = Budget::unlimited();
    let mut answers = vec![("facts".to_string(), format!("{:?}", encoded.facts(&budget)))];
    let is_path = system.formulas.path_formulas();
    // What is inside a fixpoint has no meaning by itself.
    let is_inside = |f: &FormulaId| !is_path[f.index()] && outside_logic(&system.formulas, *f).is_none();
    for formula in system.formulas.ids().filter(is_inside) {
        let text = system.formula_text(formula);
        let why = |stop: Stop| stop.why;
        let extent = encoded.extent(formula, &budget).map_err(why);
        answers.push((format!("extent of {text}"), format!("{extent:?}")));
        let somewhere = encoded.is_true_somewhere(formula, &budget).map_err(why);
        answers.push((format!("{text} somewhere"), format!("{somewhere:?}")));
        for at in [At::Initial, At::Reachable] {
            let property = Property::new("", formula, at, Span::default());
            let outcome = encoded.decide(&property, &budget);
            answers.push((format!("{text} at {}", at.name()), format!("{outcome:?}")));
        }
    }
    answers
}
