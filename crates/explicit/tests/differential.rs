//! The engine against the truth definition, on random systems.
//!
//! Every state formula of every model is asked, at the initial and at the reachable states, not
//! only the properties: a labelled set that is wrong anywhere then likely changes a verdict.

use std::cmp::Ordering;
use std::ops::Range;

use masque_explicit::Explicit;
use masque_model::semantics::{Structure, domain, explore, holds_in};
use masque_model::{Formula, FormulaId, System};
use masque_replay::replay_path;
use masque_testkit::{
    Deadlocks, Generator, Reference, Tally, at_initial_and_reachable, differential, encode, random_model,
    random_old_model, random_parameterised_model, seeds, state_formulas,
};
use masque_verdict::{Because, Budget, Encoded, Evidence, FairInitial, Path, Show, Verdict, compare_states};

/// Maximum number of states of a compared system, because the reference is slow.
const MAX_STATES: usize = 600;

#[test]
fn random_models() {
    let tally = run(&[random_model], 0..1700);
    tally.assert_at_least(&[("systems", 3000), ("formulas", 20_000), ("evidence", 20_000)]);
}

#[test]
fn random_old_models() {
    run(&[random_old_model], 0..400).assert_at_least(&[("systems", 700)]);
}

#[test]
fn random_parameterised_models() {
    run(&[random_parameterised_model], 0..300).assert_at_least(&[("systems", 200)]);
}

/// For long tests: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn random_models_at_length() {
    run(&[random_model, random_old_model, random_parameterised_model], seeds("100000..100020"));
}

/// Compares on the models of these seeds, under both semantics of deadlock.
fn run(generators: &[Generator], seeds: Range<u64>) -> Tally {
    differential(generators, seeds, Deadlocks::Both, |system, _, tally| compare(&system, tally))
}

/// Returns where the engine and the reference differ, if they do.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES) else { return Ok(()) };
    tally.count("systems");
    let budget = Budget::unlimited();
    let mut encoded = encode(&Explicit { evidence: Show::All, jobs: None }, system)?;
    compare_facts(system, &structure, &mut *encoded)?;
    let mut reference = Reference::new(&structure, system);
    for formula in state_formulas(system) {
        tally.count("formulas");
        let text = system.formula_text(formula);
        let expected = reference.truth(formula).map(|set| set.contains(&true));
        let found = encoded.is_true_somewhere(formula, &budget).ok();
        if found != expected {
            return Err(format!("{text} somewhere: {found:?}, should be {expected:?}"));
        }
        for property in at_initial_and_reachable(formula) {
            let expected = Verdict::from(holds_in(&structure, system, &property));
            let outcome = encoded.decide(&property, &budget);
            if outcome.verdict != expected {
                let at = property.at.name();
                return Err(format!("{text} at {at}: {}, should be {expected}", outcome.verdict));
            }
            let evidence = outcome.evidence.as_ref();
            tally.add("evidence", usize::from(reference.check(&property, expected, evidence)?));
            if let Some(evidence) = evidence {
                compare_trace(&mut reference, formula, evidence)?;
            }
        }
    }
    Ok(())
}

/// Compares the trace that shows an `EF` to be true, or an `AG` to be false, with the canonical one.
fn compare_trace(
    reference: &mut Reference<'_>,
    formula: FormulaId,
    evidence: &Evidence,
) -> Result<(), String> {
    let (structure, system) = (reference.structure, reference.system);
    let (operand, holds) = match system.formulas.get(formula) {
        Formula::Exists(_, path) | Formula::Forall(_, path) => match system.formulas.get(path) {
            Formula::Finally(f) => (f, true),
            Formula::Globally(f) => (f, false),
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    let Because::Path(showing) = &evidence.root().because else { return Ok(()) };
    if showing.run.back_to.is_some() {
        return Ok(());
    }
    let everywhere = domain(structure, system).ok_or("no domain")?;
    let truth = reference.truth(operand).ok_or("no truth")?;
    let targets: Vec<bool> = truth.iter().zip(&everywhere).map(|(t, d)| *d && *t == holds).collect();
    let expected = canonical_states(system, structure, &targets);
    let found: Vec<Vec<i64>> = showing.run.states.iter().map(|&s| evidence.state(s).clone()).collect();
    if Some(&found) != expected.as_ref() {
        return Err(format!("{}: {found:?}, should be {expected:?}", system.formula_text(formula)));
    }
    Ok(())
}

fn compare_facts(system: &System, structure: &Structure, encoded: &mut dyn Encoded) -> Result<(), String> {
    let facts = encoded.facts(&Budget::unlimited()).map_err(|stop| stop.to_string())?;
    let n_states = structure.n_states().into();
    if facts.states != n_states {
        return Err(format!("{} states, should be {n_states}", facts.states));
    }
    if facts.no_initial_state == structure.initial.contains(&true) {
        return Err(format!("no initial state: {}", facts.no_initial_state));
    }
    compare_path(system, structure, "deadlock", facts.deadlock.as_ref(), &structure.deadlocked)?;
    let overflow = facts.overflow.as_ref();
    compare_path(system, structure, "overflow", overflow.map(|o| &o.path), &structure.overflowing)?;
    if let Some(overflow) = overflow {
        let state = overflow.path.states.last().ok_or("an empty path")?;
        let joint_actions = masque_model::semantics::joint_actions(system, state);
        let overflows = |joint: &&Vec<_>| masque_model::semantics::step(system, state, joint).overflow;
        if joint_actions.iter().find(overflows) != Some(&overflow.joint_action) {
            return Err(format!("overflow of another joint action: {:?}", overflow.joint_action));
        }
    }
    let fair = domain(structure, system);
    let expected = fair.map_or(FairInitial::Unsupported, |fair| {
        let initial: Vec<bool> = structure
            .initial
            .iter()
            .zip(&fair)
            .filter(|(initial, _)| **initial)
            .map(|(_, fair)| *fair)
            .collect();
        match (initial.contains(&true), initial.contains(&false)) {
            (_, false) => FairInitial::All,
            (true, true) => FairInitial::Some,
            (false, true) => FairInitial::None,
        }
    });
    if facts.fair_initial != expected {
        return Err(format!("fair initial states: {:?}, should be {expected:?}", facts.fair_initial));
    }
    Ok(())
}

/// Compares a path with the canonical one to the targets, which is found by trying all shortest paths.
fn compare_path(
    system: &System,
    structure: &Structure,
    what: &str,
    found: Option<&Path>,
    targets: &[bool],
) -> Result<(), String> {
    let expected = canonical_states(system, structure, targets);
    let states = found.map(|path| &path.states);
    if states != expected.as_ref() {
        return Err(format!("path to {what}: {states:?}, should be {expected:?}"));
    }
    let Some(path) = found else { return Ok(()) };
    replay_path(system, path).map_err(|error| format!("path to {what}: {error}"))?;
    for (step, joint) in path.states.windows(2).zip(&path.actions) {
        let leads = |candidate: &&Vec<_>| {
            masque_model::semantics::step(system, &step[0], candidate).successors.contains(&step[1])
        };
        let least = masque_model::semantics::joint_actions(system, &step[0]).into_iter().find(|j| leads(&j));
        if least.as_ref() != Some(joint) {
            return Err(format!("path to {what}: {joint:?}, should be {least:?}"));
        }
    }
    Ok(())
}

/// Returns the states of the least shortest path, by breadth-first search over whole paths: each layer
/// keeps for every state the least path that leads to it.
fn canonical_states(system: &System, structure: &Structure, targets: &[bool]) -> Option<Vec<Vec<i64>>> {
    let mut seen = structure.initial.clone();
    let initial = (0..structure.n_states()).filter(|&s| structure.initial[s]);
    let mut paths: Vec<Vec<usize>> = initial.map(|s| vec![s]).collect();
    let order = |a: &Vec<usize>, b: &Vec<usize>| -> Ordering {
        let pairs = a.iter().zip(b);
        let mut orders =
            pairs.map(|(&a, &b)| compare_states(system, &structure.states[a], &structure.states[b]));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    while !paths.is_empty() {
        paths.sort_by(order);
        if let Some(path) = paths.iter().find(|path| targets[path[path.len() - 1]]) {
            return Some(path.iter().map(|&s| structure.states[s].clone()).collect());
        }
        let mut longer = Vec::new();
        let mut found = Vec::new();
        // In this order the first path to reach a state is the least.
        for path in &paths {
            for &successor in &structure.successors[path[path.len() - 1]] {
                if !seen[successor] && !found.contains(&successor) {
                    found.push(successor);
                    longer.push(path.iter().copied().chain([successor]).collect());
                }
            }
        }
        found.into_iter().for_each(|s| seen[s] = true);
        paths = longer;
    }
    None
}
