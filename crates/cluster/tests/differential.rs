//! The engine against the explicit one, on random systems: facts, verdicts, evidence and counts.
//!
//! Every state formula of every model is asked, at the initial and at the reachable states, not only
//! the properties. A model on which the two disagree is shrunk and printed.

mod support;

use masque_cluster::{Cluster, Workers};
use masque_explicit::Explicit;
use masque_model::{At, Deadlock, Property, System};
use masque_testkit::{random_model, random_old_model, random_parameterised_model, shrink};
use masque_text::Span;
use masque_verdict::{Budget, Encoded, Engine, Show, Stop};
use support::load;

#[test]
fn random_models() {
    let tally = run(random_model, 0..110);
    assert!(tally.systems >= 200 && tally.pieces >= 1000, "{tally:?}");
}

#[test]
fn random_old_models() {
    let tally = run(random_old_model, 0..40);
    assert!(tally.systems >= 70, "{tally:?}");
}

#[test]
fn random_parameterised_models() {
    let tally = run(random_parameterised_model, 0..40);
    assert!(tally.systems >= 30, "{tally:?}");
}

/// As long as one cares to wait: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn random_models_at_length() {
    let seeds = std::env::var("SEEDS").unwrap_or("100000..100005".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    let seeds = || from.parse().expect("a number")..to.parse().expect("a number");
    for model in [random_model, random_old_model, random_parameterised_model] {
        run(model, seeds());
    }
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    formulas: usize,
    /// Verdicts with evidence.
    pieces: usize,
}

/// Compares on the models of these seeds, under both readings of deadlock, with one, two or three
/// workers in turn.
fn run(model: fn(u64) -> String, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = model(seed);
        for deadlock in [Deadlock::Finite, Deadlock::Stutter] {
            let workers = 1 + (seed as usize + usize::from(deadlock == Deadlock::Stutter)) % 3;
            let Some(system) = load(&text, deadlock) else { continue };
            if let Err(difference) = compare(&system, workers, &mut tally) {
                let small = shrink(&text, |text| {
                    load(text, deadlock)
                        .is_some_and(|system| compare(&system, workers, &mut Tally::default()).is_err())
                });
                let difference = load(&small, deadlock)
                    .and_then(|system| compare(&system, workers, &mut Tally::default()).err())
                    .unwrap_or(difference);
                panic!("seed {seed}, deadlock {deadlock:?}, {workers} workers: {difference}\n{small}");
            }
        }
    }
    println!("{tally:?}");
    tally
}

/// Says where the engines differ, if they do.
fn compare(system: &System, workers: usize, tally: &mut Tally) -> Result<(), String> {
    let budget = Budget::unlimited();
    let evidence = Show::All;
    let explicit = Explicit { evidence };
    let mut cluster = Cluster::new(Workers::Threads(workers));
    cluster.evidence = evidence;
    let small = Budget::unlimited().with_states(3000);
    let mut expected = match explicit.encode(system, &small) {
        Ok(encoded) => encoded,
        // The random models are small; a rare large one is left to others.
        Err(_) => return Ok(()),
    };
    let mut found = cluster.encode(system, &budget).map_err(|stop| stop.to_string())?;
    tally.systems += 1;
    let same = |what: &str, found: String, expected: String| match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found}\nshould be {expected}")),
    };
    let facts = |encoded: &mut dyn Encoded| format!("{:?}", encoded.facts(&budget));
    same("facts", facts(&mut *found), facts(&mut *expected))?;
    let is_path = system.formulas.path_formulas();
    for formula in system.formulas.ids().filter(|f| !is_path[f.index()]) {
        tally.formulas += 1;
        let text = system.formula_text(formula);
        let why = |result: Result<String, Stop>| result.unwrap_or_else(|stop| stop.why.to_string());
        let extent = |encoded: &mut dyn Encoded| {
            why(encoded.extent(formula, &budget).map(|extent| format!("{extent:?}")))
        };
        same(&format!("extent of {text}"), extent(&mut *found), extent(&mut *expected))?;
        for at in [At::Initial, At::Reachable] {
            let property = Property { name: String::new(), formula, at, span: Span::default() };
            let expected = expected.decide(&property, &budget);
            let found = found.decide(&property, &budget);
            tally.pieces += usize::from(found.evidence.is_some());
            same(&format!("{text} at {}", at.name()), format!("{found:?}"), format!("{expected:?}"))?;
        }
    }
    Ok(())
}
