//! Verdicts given while states are still being explored, against the truth definition on all of them.
//!
//! Every state formula of random systems is asked. Limits on the states stop the exploration early, so
//! that few layers are seen; what is told must be true of the whole, and its evidence must replay.

use masque_explicit::Explicit;
use masque_model::semantics::{explore, holds_in};
use masque_model::{At, Deadlock, Property, System};
use masque_testkit::{load, random_model, random_old_model};
use masque_text::Span;
use masque_verdict::{Budget, Early, Engine, Outcome, Show, Verdict, replay};

/// Systems with more states are left to others: the reference is slow.
const MAX_STATES: usize = 400;

#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    asked: usize,
    early: usize,
    evidence: usize,
}

#[test]
fn what_is_told_early_is_so() {
    let tally = run(0..350);
    assert!(tally.systems >= 500 && tally.early >= 20_000 && tally.evidence >= 10_000, "{tally:?}");
}

/// As long as one cares to wait: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn what_is_told_early_is_so_at_length() {
    let seeds = std::env::var("SEEDS").unwrap_or("100000..100010".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    run(from.parse().expect("a number")..to.parse().expect("a number"));
}

fn run(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        for model in [random_model, random_old_model] {
            for deadlock in [Deadlock::Finite, Deadlock::Stutter] {
                let text = model(seed);
                let Some(system) = load(&text, deadlock) else { continue };
                if let Err(difference) = compare(system, &mut tally) {
                    panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{text}");
                }
            }
        }
    }
    println!("{tally:?}");
    tally
}

fn compare(mut system: System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(&system, MAX_STATES) else { return Ok(()) };
    tally.systems += 1;
    let is_path = system.formulas.path_formulas();
    let formulas = system.formulas.ids().filter(|f| !is_path[f.index()]);
    system.properties = formulas
        .flat_map(|f| [At::Initial, At::Reachable].map(|at| Property::new("", f, at, Span::default())))
        .collect();
    let expected: Vec<Verdict> =
        system.properties.iter().map(|p| Verdict::from(holds_in(&structure, &system, p))).collect();
    let n_states = structure.n_states() as u64;
    let limits = [1, 2, 4, 8, 16, 64].into_iter().filter(|&most| most < n_states);
    for most_states in limits.map(Some).chain([None]) {
        let mut told: Vec<Option<Outcome>> = vec![None; system.properties.len()];
        let mut tell = |position: usize, _: &str, outcome| told[position] = Some(outcome);
        let early = Early::new(&system, 0..expected.len(), &mut tell);
        let (mut early, budget) = match most_states {
            Some(most) => (early, Budget::default().with_states(most)),
            None => (early.quick(), Budget::default()),
        };
        let explored = Explicit { evidence: Show::All, jobs: None }.explore(&system, &mut early, &budget);
        if most_states.is_some() && explored.is_ok() {
            return Err("a limit was not obeyed".to_string());
        }
        for ((property, outcome), expected) in system.properties.iter().zip(&told).zip(&expected) {
            tally.asked += 1;
            let Some(outcome) = outcome else { continue };
            tally.early += 1;
            let text = system.formula_text(property.formula);
            if outcome.verdict != *expected {
                let at = property.at.name();
                return Err(format!("{most_states:?}: {text} at {at}: {}, not {expected}", outcome.verdict));
            }
            if let Some(evidence) = &outcome.evidence {
                tally.evidence += 1;
                let holds = outcome.verdict == Verdict::Holds;
                replay(&system, property, holds, evidence)
                    .map_err(|error| format!("{most_states:?}: {text}: {error}"))?;
            }
        }
    }
    Ok(())
}
