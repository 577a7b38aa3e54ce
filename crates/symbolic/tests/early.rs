//! Verdicts given while diagrams are still growing, against the truth definition on all states.
//!
//! Every state formula of random systems is asked, and exploring stops when all are decided, or at the
//! end: what was told on the way must be true of the whole, and its evidence must replay.

use masque_model::semantics::{explore, holds_in};
use masque_model::{At, Deadlock, Property, System};
use masque_symbolic::Symbolic;
use masque_testkit::{load, random_model, random_old_model};
use masque_text::Span;
use masque_verdict::{Budget, Early, Engine, Outcome, Show, Verdict, replay};

/// Systems with more states are left to others: the reference is slow.
const MAX_STATES: usize = 300;

#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    early: usize,
    evidence: usize,
}

#[test]
fn what_is_told_early_is_so() {
    let tally = run(0..60);
    assert!(tally.systems >= 200 && tally.early >= 500 && tally.evidence >= 100, "{tally:?}");
}

/// As long as one cares to wait: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn what_is_told_early_is_so_at_length() {
    let seeds = std::env::var("SEEDS").unwrap_or("100000..100003".to_string());
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
    let mut told: Vec<Option<Outcome>> = vec![None; system.properties.len()];
    let mut tell = |position: usize, _: &str, outcome| told[position] = Some(outcome);
    let mut early = Early::new(&system, 0..system.properties.len(), &mut tell).quick();
    let engine = Symbolic { evidence: Show::All, ..Symbolic::default() };
    let explored = engine.explore(&system, &mut early, &Budget::default());
    if explored.is_err() && early.is_listening() {
        return Err("it stopped for no reason".to_string());
    }
    for (property, outcome) in system.properties.iter().zip(&told) {
        let Some(outcome) = outcome else { continue };
        tally.early += 1;
        let expected = Verdict::from(holds_in(&structure, &system, property));
        let text = system.formula_text(property.formula);
        if outcome.verdict != expected {
            return Err(format!("{text} at {}: {}, not {expected}", property.at.name(), outcome.verdict));
        }
        if let Some(evidence) = &outcome.evidence {
            tally.evidence += 1;
            let holds = outcome.verdict == Verdict::Holds;
            replay(&system, property, holds, evidence).map_err(|error| format!("{text}: {error}"))?;
        }
    }
    Ok(())
}
