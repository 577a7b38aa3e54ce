//! Logs in the view of one agent: the possible states are its information set with perfect recall.
//!
//! The set is computed by its definition, from all runs one by one: the last states of those that look the same to the
//! agent after each step.

use std::collections::BTreeSet;
use std::ops::Range;

use fastrand::Rng;
use masque_model::{AgentId, System};
use masque_monitor::ispl::{IsplModel, IsplObservation, IsplOptions, StateStore, Vocabulary};
use masque_monitor::{EventVerdict, Monitor, Truth};
use masque_testkit::{Deadlocks, GENERATORS, Tally, differential, seeds};
use masque_verdict::Budget;

use super::logs::{Visited, random_run};
use super::transcription::{Reference, Runs};

/// Maximum number of states of a compared system.
const MAX_STATES: usize = 120;

/// Maximum number of runs of the same length that are listed.
const MAX_RUNS: usize = 20_000;

#[test]
fn random_views() {
    let tally = run(0..60);
    tally.assert_at_least(&[
        ("systems", 150),
        ("records", 400),
        ("certain", 500),
        ("recall matters", 50),
        ("changed", 40),
    ]);
}

/// For long tests: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn random_views_at_length() {
    run(seeds("100000..100003"));
}

fn run(seeds: Range<u64>) -> Tally {
    differential(&GENERATORS, seeds, Deadlocks::StutterEvery(3), |system, seed, tally| {
        compare(&system, &mut Rng::with_seed(seed), tally)
    })
}

/// Compares on one log in the view of a random agent.
fn compare(system: &System, rng: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let viewer = AgentId(rng.u32(..system.agents.len() as u32));
    let shows_actions = rng.bool();
    let Some(reference) = Reference::new(system, None, MAX_STATES) else { return Ok(()) };
    let Some(run) = random_run(&reference, rng) else { return Ok(()) };
    let mut records: Vec<_> =
        run.iter().map(|visited| view(system, &reference, viewer, shows_actions, visited)).collect();
    // Sometimes the agent sees something that no run shows.
    if rng.u8(..3) == 0 && records.len() > 2 {
        let index = rng.usize(1..records.len());
        let other = records[rng.usize(..records.len())].clone();
        if other.actions.len() == records[index].actions.len() {
            records[index] = other;
            tally.count("changed");
        }
    }
    let options = |store| IsplOptions { viewer: Some(viewer), store, ..IsplOptions::default() };
    let budget = Budget::unlimited();
    let mut monitors = Vec::new();
    for store in [StateStore::Stored, StateStore::Diagrams] {
        let model =
            IsplModel::open(system, &options(store), &budget).map_err(|error| format!("{error:?}"))?;
        monitors.push(model.monitor());
    }
    tally.count("systems");
    let vocabulary = Vocabulary::new(system, Some(viewer));
    let mut alike: Vec<Vec<Visited>> = starts(&reference);
    for (index, record) in records.iter().enumerate() {
        check_columns(system, viewer, &vocabulary, record)?;
        if index > 0 {
            alike = longer(&reference, &alike);
        }
        if alike.len() > MAX_RUNS {
            return Ok(());
        }
        let last = |run: &Vec<Visited>| run[run.len() - 1].clone();
        alike.retain(|run| {
            // The loop of a dead end has no action, and a log cannot say that there was none.
            let is_shown = !record.actions.is_empty();
            view(system, &reference, viewer, is_shown, &last(run)) == *record
        });
        let ends: BTreeSet<usize> = alike.iter().map(|run| last(run).1).collect();
        let ends: Runs = ends.into_iter().map(|state| (state, Vec::new())).collect();
        tally.count("records");
        let look_alike = |state: &usize| *record == view(system, &reference, viewer, false, &(None, *state));
        let n_alike = (0..reference.states().len())
            .filter(|state| reference.is_inside(*state))
            .filter(look_alike)
            .count();
        tally.add("recall matters", usize::from(!shows_actions && ends.len() < n_alike));
        for monitor in &mut monitors {
            let judgement = monitor.observe(record, &budget).map_err(|stop| stop.to_string())?;
            if (judgement.event == EventVerdict::Possible) == ends.is_empty() {
                return Err(format!("record {index} of {records:?}: {:?}", judgement.event));
            }
            if ends.is_empty() {
                continue;
            }
            let (found, expected) = (
                monitor.possible_states(usize::MAX, &budget).map_err(|stop| stop.to_string())?,
                reference.possible_states(&ends),
            );
            if found != expected {
                return Err(format!("record {index} of {records:?}: {found:?}, should be {expected:?}"));
            }
            let known = monitor.status(&budget).map_err(|stop| stop.to_string())?.facts;
            for (fact, (name, expected)) in known.iter().zip(reference.facts(&ends)) {
                if fact.property != name || expected.is_some_and(|expected| expected != fact.truth) {
                    return Err(format!("record {index} of {records:?}: {fact:?}"));
                }
                tally.add("certain", usize::from(fact.truth == Truth::Certain));
            }
        }
        if ends.is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

/// Checks that the agent may mention what it sees, and that nothing is missing.
fn check_columns(
    system: &System,
    viewer: AgentId,
    vocabulary: &Vocabulary<'_>,
    record: &IsplObservation,
) -> Result<(), String> {
    let gaps = vocabulary.gaps(record);
    if !gaps.is_empty() {
        return Err(format!("the view lacks {gaps:?}"));
    }
    let sees = &system.agent(viewer).sees;
    for variable in system.variable_ids() {
        let is_seen = vocabulary.column(&system.full_name(variable)).is_ok();
        if is_seen != sees.contains(&variable) {
            return Err(format!("{} is seen: {is_seen}", system.full_name(variable)));
        }
    }
    Ok(())
}

/// Returns what the agent sees of a state, and its own action if the log shows it.
fn view(
    system: &System,
    reference: &Reference<'_>,
    viewer: AgentId,
    shows_actions: bool,
    (joint, state): &Visited,
) -> IsplObservation {
    let state = &reference.states()[*state];
    let mut record = IsplObservation::default();
    if shows_actions && let Some(joint) = joint {
        record.actions.push((viewer, joint[viewer.index()]));
    }
    record.values = system.agent(viewer).sees.iter().map(|&v| (v, state[v.index()])).collect();
    record
}

/// Returns all runs of no steps.
fn starts(reference: &Reference<'_>) -> Vec<Vec<Visited>> {
    reference.initial().into_iter().map(|(state, _)| vec![(None, state)]).collect()
}

/// Returns all runs that continue these by one step.
fn longer(reference: &Reference<'_>, runs: &[Vec<Visited>]) -> Vec<Vec<Visited>> {
    let mut longer = Vec::new();
    for run in runs {
        for (joint, next) in reference.steps(run[run.len() - 1].1) {
            longer.push([&run[..], &[(joint.map(<[_]>::to_vec), next)]].concat());
        }
        if longer.len() > MAX_RUNS {
            break;
        }
    }
    longer
}
