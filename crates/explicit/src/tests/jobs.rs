//! Several threads against one: the same states with the same numbers, the same transitions, facts,
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

/// Work for several threads, however little there is of it.
const FINE: Grain = Grain { batch: 1, batches: 2, least: 1, least_labelled: 0, most_found: 3 };
const UNEVEN: Grain = Grain { batch: 3, batches: 5, least: 2, least_labelled: 70, most_found: 40 };

fn jobs(n_threads: usize, grain: Grain) -> Jobs {
    let mut jobs = Jobs::new(NonZeroUsize::new(n_threads));
    jobs.grain = grain;
    jobs
}

/// All that one exploration finds.
fn space(system: &System, jobs: &Jobs) -> Space {
    let steps = Rc::new(Steps::new(system, Tuning::default()));
    explore_all(system, &steps, fragment::needs_transitions(system), jobs, &Budget::unlimited()).unwrap()
}

/// Facts, and the outcome of each state formula where it may be asked; of the properties only, if
/// there are many.
fn answers(system: &System, jobs: Jobs) -> (Facts, Vec<Outcome>) {
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

/// Says in what several threads differ from one, if they do.
fn difference(system: &System, grains: &[(usize, Grain)]) -> Result<(), String> {
    let alone = space(system, &jobs(1, FINE));
    let answered = answers(system, jobs(1, FINE));
    for &(n_threads, grain) in grains {
        let threads = jobs(n_threads, grain);
        let mut together = space(system, &threads);
        let name = format!("{n_threads} threads, {grain:?}");
        for number in 0..alone.n_states().max(together.n_states()) {
            if alone.n_states() != together.n_states()
                || alone.store.row(number) != together.store.row(number)
            {
                return Err(format!("{name}: state {number} differs"));
            }
            if together.store.find(together.store.row(number)) != Some(number as u32) {
                return Err(format!("{name}: state {number} is not found"));
            }
        }
        if alone.layers != together.layers {
            return Err(format!("{name}: layers {:?}, not {:?}", together.layers, alone.layers));
        }
        if alone.nearest_deadlocks != together.nearest_deadlocks {
            return Err(format!("{name}: the nearest deadlocks differ"));
        }
        if alone.nearest_overflows != together.nearest_overflows {
            return Err(format!("{name}: the nearest overflows differ"));
        }
        if alone.graph != together.graph {
            return Err(format!("{name}: the transitions differ"));
        }
        let steps = Steps::new(system, Tuning::default());
        let later = transitions(&mut together, system, &steps, &threads, &Budget::unlimited());
        if alone.graph.is_some() && alone.graph != later.ok() {
            return Err(format!("{name}: transitions found later differ"));
        }
        let (facts, outcomes) = answers(system, threads);
        if facts != answered.0 {
            return Err(format!("{name}: facts {facts:?}, not {:?}", answered.0));
        }
        if let Some(place) = outcomes.iter().zip(&answered.1).position(|(a, b)| a != b) {
            return Err(format!(
                "{name}: answer {place} is {:?}, not {:?}",
                outcomes[place], answered.1[place]
            ));
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
            difference(&system, &[(2, UNEVEN), (4, FINE)])
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
        if let Err(found) = difference(&system, &grains) {
            panic!("{}: {found}", path.display());
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

/// A counter with two ways up: layers of many states, and many ways to each.
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

/// As many runs as fit into a few seconds; `examples/stress.rs` does ten thousand and more.
#[test]
fn many_runs_with_four_threads_come_to_their_end() {
    let system = grid(7);
    let expected = answers(&system, jobs(1, FINE));
    let start = Instant::now();
    let mut n_runs = 0;
    while n_runs < 10_000 && start.elapsed() < Duration::from_secs(4) {
        assert!(answers(&system, jobs(4, FINE)) == expected, "run {n_runs}");
        n_runs += 1;
    }
    assert!(n_runs > 10, "{n_runs}");
}

/// Limits are noticed while several threads work, and by all of them.
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
