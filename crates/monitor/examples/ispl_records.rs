//! Follows a random run of an ISPL model and prints the records per second, with all properties and without:
//! `ispl_records MODEL [RECORDS]`. Every second variable and action is logged.

use std::time::Instant;

use masque_model::steps::{Moves, first_initial_states, joint_choices};
use masque_model::{ActionId, System};
use masque_monitor::Monitor;
use masque_monitor::ispl::{IsplModel, IsplObservation, IsplOptions, StateStore};
use masque_testkit::system;
use masque_verdict::Budget;

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("ispl_records MODEL [RECORDS]");
    let n_records = args.next().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let system = system(&std::fs::read_to_string(&path).expect("a readable file"));
    let records = random_records(&system, n_records);
    let budget = Budget::unlimited();
    for store in [StateStore::Stored, StateStore::Diagrams] {
        for properties in [Some(Vec::new()), None] {
            let n_properties = properties.as_ref().map_or(system.properties.len(), Vec::len);
            let start = Instant::now();
            let options = IsplOptions { store, properties, ..IsplOptions::default() };
            let model = IsplModel::open(&system, &options, &budget).expect("a model with runs");
            let (opened, start) = (start.elapsed(), Instant::now());
            let mut log = model.monitor();
            let mut most = 0;
            for record in &records {
                most = most.max(log.observe(record, &budget).expect("no limit").n_states);
            }
            let per_second = records.len() as f64 / start.elapsed().as_secs_f64();
            println!(
                "{store:?}, {n_properties} properties: opened in {opened:.1?}, {per_second:.0} records/s, at most {most} possible states"
            );
        }
    }
}

/// Returns the records of a random run, which begins again when it ends.
fn random_records(system: &System, n_records: usize) -> Vec<IsplObservation> {
    let mut rng = fastrand::Rng::with_seed(1);
    let moves = Moves::new(system);
    let (starts, _) = first_initial_states(system, 16);
    let mut state = rng.choice(&starts).expect("an initial state").clone();
    let mut records = Vec::with_capacity(n_records);
    while records.len() < n_records {
        let choices = joint_choices(system, &state);
        let joint: Vec<ActionId> =
            choices.lists.iter().filter_map(|list| rng.choice(list).copied()).collect();
        let next = (!choices.is_empty()).then(|| moves.successors(&state, &joint).pick(|n| rng.usize(..n)));
        let Some(Some(next)) = next else { break };
        state = next;
        records.push(IsplObservation {
            actions: system.agent_ids().step_by(2).map(|agent| (agent, joint[agent.index()])).collect(),
            values: system.variable_ids().step_by(2).map(|v| (v, state[v.index()])).collect(),
            propositions: Vec::new(),
        });
    }
    records
}
