//! LTL, CTL*, ATL and the mu-calculus: the engine against the truth definition, on random systems.
//!
//! Every closed state formula of every model is asked where it is true, not only the properties. A
//! model on which the two disagree is shrunk and printed.

use std::collections::BTreeMap;

use masque_explicit::Explicit;
use masque_model::semantics::{Structure, domain, explore, holds_in, truth_sets};
use masque_model::{Deadlock, Formula, Strategies, System};
use masque_testkit::{
    Reference, load, random_determined_model, random_fixpoint_model, random_game_model, random_path_model,
    shrink,
};
use masque_verdict::{Budget, Engine, Show, Verdict, Why};

/// Systems with more states are left to others: the reference is slow.
const MAX_STATES: usize = 64;

#[test]
fn paths() {
    let tally = run(random_path_model, 0..3200);
    assert!(tally.systems >= 3000 && tally.fair >= 700 && tally.verdicts >= 12_000, "{tally:?}");
}

#[test]
fn determined_paths() {
    let tally = run(random_determined_model, 0..1200);
    assert!(tally.systems >= 1000 && tally.fair >= 200 && tally.verdicts >= 4_000, "{tally:?}");
}

#[test]
fn strategies() {
    let tally = run(random_game_model, 0..3200);
    assert!(tally.systems >= 3000 && tally.fair >= 700 && tally.verdicts >= 12_000, "{tally:?}");
    assert!(tally.uniform.iter().all(|&n| n >= 400), "{tally:?}");
}

#[test]
fn fixpoints() {
    let tally = run(random_fixpoint_model, 0..1200);
    assert!(tally.systems >= 1000 && tally.fair >= 200 && tally.verdicts >= 4_000, "{tally:?}");
}

/// As long as one cares to wait: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn at_length() {
    let seeds = std::env::var("SEEDS").unwrap_or("100000..100020".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    let seeds = || from.parse().expect("a number")..to.parse().expect("a number");
    for model in [random_path_model, random_determined_model, random_game_model, random_fixpoint_model] {
        run(model, seeds());
    }
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    fair: usize,
    /// Properties decided by both.
    verdicts: usize,
    /// Of these: hold, fail.
    holds: [usize; 2],
    /// Of these with evidence, which was replayed and held against the definition.
    pieces: usize,
    /// Claims that are not shown, by what is missing.
    not_shown: BTreeMap<String, usize>,
    /// Sets of states compared.
    formulas: usize,
    /// Of these with uniform strategies of each kind on top.
    uniform: [usize; 3],
}

fn run(model: fn(u64) -> String, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = model(seed);
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let system = load(&text, deadlock).unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
        let Err(difference) = compare(&system, &mut tally) else { continue };
        let differs =
            |text: &str| load(text, deadlock).and_then(|s| compare(&s, &mut Tally::default()).err());
        let small = shrink(&text, |text| differs(text).is_some());
        let difference = differs(&small).unwrap_or(difference);
        panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{small}");
    }
    println!("{tally:?}");
    tally
}

/// Says where the engine and the reference differ, if they do.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES) else { return Ok(()) };
    tally.systems += 1;
    tally.fair += usize::from(!system.fairness.is_empty());
    let budget = Budget::unlimited();
    let mut encoded = Explicit { evidence: Show::All, jobs: None }
        .encode(system, &budget)
        .map_err(|stop| stop.to_string())?;
    let is_path = system.formulas.path_formulas();
    let sets = truth_sets(&structure, system, system.formulas.ids());
    let everywhere = domain(&structure, system);
    let mut reference = Reference::new(&structure, system);
    for property in &system.properties {
        let outcome = encoded.decide(property, &budget);
        let (Some(set), Some(everywhere)) = (&sets[property.formula.index()], &everywhere) else {
            continue; // Too much for the definition.
        };
        let expected = verdict(&structure, system, everywhere, set);
        // The definition once more, as others ask for it.
        if tally.verdicts.is_multiple_of(16) {
            assert_eq!(Verdict::from(holds_in(&structure, system, property)), expected);
        }
        tally.verdicts += 1;
        tally.holds[usize::from(expected == Verdict::Fails)] += 1;
        for (_, missing) in outcome.evidence.iter().flat_map(|evidence| evidence.not_shown()) {
            *tally.not_shown.entry(format!("{missing:?}")).or_default() += 1;
        }
        tally.pieces += usize::from(reference.check(property, expected, outcome.evidence.as_ref())?);
        if outcome.verdict != expected {
            let text = system.formula_text(property.formula);
            return Err(format!("{text}: {}, should be {expected}", outcome.verdict));
        }
    }
    let fixpoints = system.formulas.fixpoints();
    for formula in system.formulas.ids().filter(|f| !is_path[f.index()] && !fixpoints.is_open(*f)) {
        let Some(expected) = &sets[formula.index()] else { continue };
        let oracle = encoded.oracle().ok_or("no oracle")?;
        for (state, &expected) in structure.states.iter().zip(expected) {
            let found = oracle.is_true(formula, state, &budget).map_err(|stop| stop.to_string())?;
            if found != expected {
                let text = system.formula_text(formula);
                return Err(format!("{text} at {state:?}: {found}, should be {expected}"));
            }
        }
        tally.formulas += 1;
        if let Formula::Enforces(_, strategies, _) = system.formulas.get(formula) {
            match strategies {
                Strategies::Perfect => {}
                Strategies::Uniform => tally.uniform[0] += 1,
                Strategies::UniformJoint => tally.uniform[1] += 1,
                Strategies::UniformObjective => tally.uniform[2] += 1,
            }
        }
    }
    Ok(())
}

/// The verdict at the initial states, given where a formula is true.
fn verdict(structure: &Structure, system: &System, everywhere: &[bool], set: &[bool]) -> Verdict {
    let mut asked = (0..structure.n_states()).filter(|&s| structure.initial[s] && everywhere[s]).peekable();
    match asked.peek() {
        None if !system.fairness.is_empty() => Verdict::Unknown(Why::NoFairPath),
        _ => asked.all(|state| set[state]).into(),
    }
}
