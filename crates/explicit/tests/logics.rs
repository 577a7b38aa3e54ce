//! LTL, CTL*, ATL and the mu-calculus: the engine against the truth definition, on random systems.
//!
//! Every closed state formula of every model is compared at every state, not only the properties.

use std::ops::Range;

use masque_explicit::Explicit;
use masque_model::semantics::{Structure, domain, explore, holds_in, truth_sets};
use masque_model::{Formula, Strategies, System};
use masque_testkit::{
    Deadlocks, Generator, Reference, Tally, differential, encode, random_determined_model,
    random_fixpoint_model, random_game_model, random_path_model, seeds,
};
use masque_verdict::{Budget, Show, Verdict, Why};

/// Maximum number of states of a compared system, because the reference is slow.
const MAX_STATES: usize = 64;

#[test]
fn paths() {
    let tally = run(&[random_path_model], 0..3200);
    tally.assert_at_least(&[("systems", 3000), ("fair", 700), ("verdicts", 12_000)]);
}

#[test]
fn determined_paths() {
    let tally = run(&[random_determined_model], 0..1200);
    tally.assert_at_least(&[("systems", 1000), ("fair", 200), ("verdicts", 4_000)]);
}

#[test]
fn strategies() {
    let tally = run(&[random_game_model], 0..3200);
    tally.assert_at_least(&[("systems", 3000), ("fair", 700), ("verdicts", 12_000)]);
    tally.assert_at_least(&[("Uniform", 400), ("UniformJoint", 400), ("UniformObjective", 400)]);
}

#[test]
fn fixpoints() {
    let tally = run(&[random_fixpoint_model], 0..1200);
    tally.assert_at_least(&[("systems", 1000), ("fair", 200), ("verdicts", 4_000)]);
}

/// For long tests: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn at_length() {
    let generators = [random_path_model, random_determined_model, random_game_model, random_fixpoint_model];
    run(&generators, seeds("100000..100020"));
}

fn run(generators: &[Generator], seeds: Range<u64>) -> Tally {
    differential(generators, seeds, Deadlocks::StutterEvery(3), |system, _, tally| compare(&system, tally))
}

/// Returns where the engine and the reference differ, if they do.
///
/// Counts systems, those with fairness (`fair`), properties decided by both (`verdicts`) and how many of
/// them hold and fail, `evidence`, claims that are not shown by what is missing, formulas compared at
/// every state (`formulas`), and those with uniform strategies on top by kind.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES) else { return Ok(()) };
    tally.count("systems");
    tally.add("fair", usize::from(!system.fairness.is_empty()));
    let budget = Budget::unlimited();
    let mut encoded = encode(&Explicit { evidence: Show::All, jobs: None }, system)?;
    let is_path = system.formulas.path_formulas();
    let sets = truth_sets(&structure, system, system.formulas.ids());
    let everywhere = domain(&structure, system);
    let mut reference = Reference::new(&structure, system);
    for property in &system.properties {
        let outcome = encoded.decide(property, &budget);
        let (Some(set), Some(everywhere)) = (&sets[property.formula.index()], &everywhere) else {
            continue; // The definition would take too long.
        };
        let expected = verdict(&structure, system, everywhere, set);
        // The single question must agree with the truth sets.
        if tally.get("verdicts").is_multiple_of(16) {
            assert_eq!(Verdict::from(holds_in(&structure, system, property)), expected);
        }
        tally.count("verdicts");
        tally.count(expected.word());
        for (_, missing) in outcome.evidence.iter().flat_map(|evidence| evidence.not_shown()) {
            tally.count(format!("{missing:?}"));
        }
        let evidence = outcome.evidence.as_ref();
        tally.add("evidence", usize::from(reference.check(property, expected, evidence)?));
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
        tally.count("formulas");
        if let Formula::Enforces(_, strategies, _) = system.formulas.get(formula)
            && strategies != Strategies::Perfect
        {
            tally.count(format!("{strategies:?}"));
        }
    }
    Ok(())
}

/// Returns the verdict at the initial states, given the states at which a formula is true.
fn verdict(structure: &Structure, system: &System, everywhere: &[bool], set: &[bool]) -> Verdict {
    let mut asked = (0..structure.n_states()).filter(|&s| structure.initial[s] && everywhere[s]).peekable();
    match asked.peek() {
        None if !system.fairness.is_empty() => Verdict::Unknown(Why::NoFairPath),
        _ => asked.all(|state| set[state]).into(),
    }
}
