//! Several threads against one: the same states with the same indices, the same transitions, facts,
//! verdicts and evidence.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use masque_model::System;
use masque_testkit::{
    Deadlocks, Generator, at_initial_and_reachable, differential, random_model, random_old_model,
    random_parameterised_model, state_formulas,
};
use masque_verdict::{Budget, Early, Encoded, Facts, Outcome, Show};

use crate::engine::{Explicit, Explored};
use crate::explore::{Space, transitions};
use crate::fragment;
use crate::jobs::{Grain, Jobs};
use crate::steps::{Steps, Tuning};
use crate::tests::explore_all;

/// Granularity at which several threads are used even for a few states.
const FINE: Grain = Grain { batch: 1, batches: 2, least: 1, least_labelled: 0, most_found: 3 };
/// Granularity with which threads get different amounts of work.
const UNEVEN: Grain = Grain { batch: 3, batches: 5, least: 2, least_labelled: 70, most_found: 40 };

fn jobs(n_threads: usize, grain: Grain) -> Jobs {
    let mut jobs = Jobs::new(NonZeroUsize::new(n_threads));
    jobs.grain = grain;
    jobs
}

/// Explores a system.
fn space(system: &System, jobs: &Jobs) -> Space {
    let steps = Rc::new(Steps::new(system, Tuning::default()));
    explore_all(system, &steps, fragment::needs_transitions(system), jobs, &Budget::unlimited()).unwrap()
}

/// Returns the facts and the outcomes of all properties; with fewer than 500 states also of all state
/// formulas at the initial and at all reachable states.
fn facts_and_outcomes(system: &System, jobs: Jobs) -> (Facts, Vec<Outcome>) {
    let budget = Budget::unlimited();
    let engine = Explicit { evidence: Show::All, jobs: None };
    let mut explored =
        Explored::new(engine, system, jobs, &mut Early::deaf(), &budget).map_err(|(stop, _)| stop).unwrap();
    let facts = explored.facts(&budget).unwrap();
    let mut outcomes: Vec<Outcome> = system.properties.iter().map(|p| explored.decide(p, &budget)).collect();
    if explored.n_states() < 500 {
        for formula in state_formulas(system) {
            outcomes.extend(at_initial_and_reachable(formula).map(|p| explored.decide(&p, &budget)));
        }
    }
    (facts, outcomes)
}

/// Returns how several threads differ from one, if they do.
fn compare(system: &System, grains: &[(usize, Grain)]) -> Result<(), String> {
    let expected = space(system, &jobs(1, FINE));
    let (expected_facts, expected_outcomes) = facts_and_outcomes(system, jobs(1, FINE));
    for &(n_threads, grain) in grains {
        let threads = jobs(n_threads, grain);
        let mut found = space(system, &threads);
        let name = format!("{n_threads} threads, {grain:?}");
        for state in 0..expected.n_states().max(found.n_states()) {
            if expected.n_states() != found.n_states() || expected.store.row(state) != found.store.row(state)
            {
                return Err(format!("{name}: state {state} differs"));
            }
            if found.store.find(found.store.row(state)) != Some(state as u32) {
                return Err(format!("{name}: state {state} is not found"));
            }
        }
        if expected.layers != found.layers {
            return Err(format!("{name}: layers {:?}, not {:?}", found.layers, expected.layers));
        }
        if expected.nearest_deadlocks != found.nearest_deadlocks {
            return Err(format!("{name}: the nearest deadlocks differ"));
        }
        if expected.nearest_overflows != found.nearest_overflows {
            return Err(format!("{name}: the nearest overflows differ"));
        }
        if expected.graph != found.graph {
            return Err(format!("{name}: the transitions differ"));
        }
        let steps = Steps::new(system, Tuning::default());
        let later = transitions(&mut found, system, &steps, &threads, &Budget::unlimited());
        if expected.graph.is_some() && expected.graph != later.ok() {
            return Err(format!("{name}: transitions found later differ"));
        }
        let (facts, outcomes) = facts_and_outcomes(system, threads);
        if facts != expected_facts {
            return Err(format!("{name}: facts {facts:?}, not {expected_facts:?}"));
        }
        for (outcome, expected) in outcomes.iter().zip(&expected_outcomes) {
            if outcome != expected {
                return Err(format!("{name}: {outcome:?}, not {expected:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn several_threads_agree_with_one_on_random_systems() {
    let generators: [(Generator, u64); 3] =
        [(random_model, 300), (random_old_model, 100), (random_parameterised_model, 100)];
    for (generator, n_seeds) in generators {
        let seeds = 50_000..50_000 + n_seeds;
        differential(&[generator], seeds, Deadlocks::Both, |system, _, _| {
            compare(&system, &[(2, UNEVEN), (4, FINE)])
        });
    }
}

#[test]
fn several_threads_agree_with_one_on_shipped_models() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut n_models = 0;
    for path in ["ispl", "scale"].iter().flat_map(|folder| files(&models.join(folder))) {
        let system = super::load(&fs::read_to_string(&path).unwrap());
        let grains = [(1, FINE), (2, Grain { least: 64, ..UNEVEN }), (4, Grain { batch: 16, ..UNEVEN })];
        if let Err(difference) = compare(&system, &grains) {
            panic!("{}: {difference}", path.display());
        }
        n_models += 1;
    }
    assert!(n_models >= 25, "{n_models}");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ispl"));
    paths.sort();
    paths
}

/// Returns two counters to `side`: layers of many states, with many paths to each.
fn grid(side: u32) -> System {
    let agent = |name: &str| {
        format!(
            "Agent {name} Vars: x : 0..{side}; end Vars Actions = {{go, stay}};
             Protocol: Other : {{go, stay}}; end Protocol
             Evolution: x = x + 1 if Action = go and x < {side}; end Evolution end Agent "
        )
    };
    super::load(&format!(
        "{} {} Evaluation top if A.x = {side} and B.x = {side}; end Evaluation
         InitStates A.x = 0 and B.x = 0; end InitStates
         Groups both = {{A, B}}; end Groups
         Formulae AG EF top; AG K(A, !top); EG !top; GCK(both, top); end Formulae",
        agent("A"),
        agent("B")
    ))
}

/// Runs for four seconds; `examples/explicit_stress.rs` does ten thousand runs and more.
#[test]
fn many_runs_with_four_threads_terminate() {
    let system = grid(7);
    let expected = facts_and_outcomes(&system, jobs(1, FINE));
    let start = Instant::now();
    let mut n_runs = 0;
    while n_runs < 10_000 && start.elapsed() < Duration::from_secs(4) {
        assert!(facts_and_outcomes(&system, jobs(4, FINE)) == expected, "run {n_runs}");
        n_runs += 1;
    }
    assert!(n_runs > 10, "{n_runs}");
}

/// A limit that is exceeded while several threads work stops all of them.
#[test]
fn limits_stop_all_threads() {
    let system = grid(400);
    let steps = Rc::new(Steps::new(&system, Tuning::default()));
    let grain = Grain { batch: 16, least: 16, ..Grain::default() };
    let stop =
        |budget: &Budget| explore_all(&system, &steps, true, &jobs(4, grain), budget).err().expect("a limit");
    let states = stop(&Budget::unlimited().with_states(50_000));
    assert_eq!(states.why, masque_verdict::Why::States);
    assert!(states.states.is_some_and(|n| (50_001..80_000).contains(&n)), "{states}");
    let memory = stop(&Budget::unlimited().with_memory(1_000_000));
    assert_eq!(memory.why, masque_verdict::Why::Memory);
    assert!(memory.bytes.is_some_and(|bytes| bytes <= 1_000_000), "{memory:?}");
    let timeout = stop(&Budget::unlimited().with_timeout(Duration::from_millis(5)));
    assert_eq!(timeout.why, masque_verdict::Why::Timeout);
    let budget = Budget::unlimited();
    let canceller = budget.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(5));
        canceller.cancel();
    });
    assert_eq!(stop(&budget).why, masque_verdict::Why::Interrupted);
    thread.join().unwrap();
}
