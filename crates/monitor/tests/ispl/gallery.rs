//! Stored states against diagrams, on the models of the gallery: these have schedulers, lines that change few variables,
//! and relations of many clusters, which random systems have not.

use std::path::Path;

use fastrand::Rng;
use masque_model::steps::{Moves, first_initial_states, joint_choices};
use masque_model::{ActionId, AgentId, Deadlock, System, VarId};
use masque_monitor::ispl::{IsplModel, IsplObservation, IsplOptions, StateStore};
use masque_monitor::{EventVerdict, Monitor};
use masque_testkit::{Tally, files_below, load, seeds};
use masque_verdict::{Budget, State};

use super::logs::{change, step_condition};

/// Maximum number of states of a compared model.
const MAX_STATES: u64 = 20_000;

/// Maximum number of steps of a run.
const MAX_STEPS: usize = 8;

/// Number of initial states among which a run begins.
const MAX_STARTS: usize = 16;

#[test]
fn gallery_models() {
    let mut tally = Tally::default();
    for seed in seeds("0..2") {
        for path in files_below(Path::new("../../models"), &["ispl"]) {
            let text = std::fs::read_to_string(&path).unwrap();
            let Some(mut system) = load(&text, Deadlock::Finite) else { continue };
            let mut rng = Rng::with_seed(seed);
            compare(&mut system, &mut rng, &mut tally)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
    println!("{tally:?}");
    tally.assert_at_least(&[("models", 30), ("records", 150), ("violated", 30)]);
}

fn compare(system: &mut System, rng: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let unseen = rng.bool().then(|| step_condition(system, rng));
    let system = &*system;
    let budget = Budget::unlimited();
    let open = |store, budget: &Budget| {
        IsplModel::open(system, &IsplOptions { unseen, store, ..IsplOptions::default() }, budget)
    };
    let Ok(stored) = open(StateStore::Stored, &budget.clone().with_states(MAX_STATES)) else { return Ok(()) };
    let diagrams = open(StateStore::Diagrams, &budget).map_err(|error| format!("{error:?}"))?;
    tally.count("models");
    for _ in 0..3 {
        let records = random_log(system, rng);
        let (mut one, mut other) = (stored.monitor(), diagrams.monitor());
        for record in &records {
            let stop = |stop: masque_verdict::Stop| stop.to_string();
            let judged = one.observe(record, &budget).map_err(stop)?;
            let also = other.observe(record, &budget).map_err(stop)?;
            tally.count("records");
            tally.add("violated", usize::from(judged.event != EventVerdict::Possible));
            if judged != also {
                return Err(format!("{records:?}: {judged:?}, but diagrams: {also:?}"));
            }
            let (states, same) = (
                one.possible_states(3, &budget).map_err(stop)?,
                other.possible_states(3, &budget).map_err(stop)?,
            );
            if states != same || one.is_over(&budget) != other.is_over(&budget) {
                return Err(format!("{records:?}: {states:?}, but diagrams: {same:?}"));
            }
        }
    }
    Ok(())
}

/// Returns the records of a random run: some of its columns, then changed.
fn random_log(system: &System, rng: &mut Rng) -> Vec<IsplObservation> {
    let agents: Vec<AgentId> = system.agent_ids().filter(|_| rng.u8(..3) == 0).collect();
    let variables: Vec<VarId> = system.variable_ids().filter(|_| rng.u8(..4) == 0).collect();
    let (starts, _) = first_initial_states(system, MAX_STARTS);
    let Some(mut state) = rng.choice(&starts).cloned() else { return Vec::new() };
    let record = |joint: Option<&[ActionId]>, state: &State| IsplObservation {
        actions: joint
            .map(|joint| agents.iter().map(|a| (*a, joint[a.index()])).collect())
            .unwrap_or_default(),
        values: variables.iter().map(|v| (*v, state[v.index()])).collect(),
        propositions: Vec::new(),
    };
    let mut records = vec![record(None, &state)];
    let moves = Moves::new(system);
    for _ in 0..MAX_STEPS {
        let choices = joint_choices(system, &state);
        if choices.is_empty() {
            break;
        }
        let joint: Vec<ActionId> =
            choices.lists.iter().filter_map(|list| rng.choice(list).copied()).collect();
        let Some(next) = moves.successors(&state, &joint).pick(|n| rng.usize(..n)) else { break };
        state = next;
        records.push(record(Some(&joint), &state));
    }
    change(system, &mut records, rng);
    records
}
