//! Both implementations of the possible states against the transcription of the definition, on random systems and logs.

use std::ops::Range;

use fastrand::Rng;
use masque_model::{ActionId, AgentId, System};
use masque_monitor::ispl::{IsplModel, IsplMonitor, IsplObservation, IsplOptions, NotOpened, StateStore};
use masque_monitor::{EventVerdict, FactChange, GoalChange, GoalStatus, Judgement, Monitor, Status};
use masque_symbolic::{Reorder, Symbolic};
use masque_testkit::{Deadlocks, GENERATORS, Tally, differential, seeds};
use masque_verdict::{Budget, Why};

use super::logs::{add_goals, random_log, step_condition};
use super::transcription::{Reference, Runs};

/// Maximum number of states of a compared system, because the reference is slow.
const MAX_STATES: usize = 250;

/// Number of logs of each system.
const LOGS: usize = 3;

#[test]
fn random_systems_and_logs() {
    let tally = run(0..60);
    tally.assert_at_least(&[
        ("logs", 500),
        ("records", 1500),
        ("violated", 150),
        ("unseen logs", 100),
        ("fair logs", 100),
        ("reached", 50),
        ("at risk", 20),
        ("lost", 50),
    ]);
}

/// For long tests: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn random_systems_and_logs_at_length() {
    run(seeds("100000..100003"));
}

fn run(seeds: Range<u64>) -> Tally {
    differential(&GENERATORS, seeds, Deadlocks::StutterEvery(3), |system, seed, tally| {
        compare(system, &mut Rng::with_seed(seed), tally)
    })
}

/// Compares on random logs of one system.
fn compare(mut system: System, rng: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    add_goals(&mut system);
    let unseen = rng.bool().then(|| step_condition(&mut system, rng));
    let Some(reference) = Reference::new(&system, unseen, MAX_STATES) else { return Ok(()) };
    let open = |store, reorder| {
        let symbolic = Symbolic { reorder, ..Symbolic::default() };
        let options = IsplOptions { unseen, store, symbolic, ..IsplOptions::default() };
        IsplModel::open(&system, &options, &Budget::unlimited())
    };
    let reorder = if rng.u8(..4) == 0 { Reorder::Eager } else { Reorder::Auto };
    let models = [
        open(StateStore::Stored, Reorder::Auto),
        open(StateStore::Diagrams, reorder),
        open(StateStore::Auto { max_stored: rng.u64(1..20) }, reorder),
    ];
    if reference.initial().is_empty() {
        let is_refused = |model: &Result<IsplModel<'_>, NotOpened>| match model {
            Ok(_) => false,
            Err(NotOpened::Refused(_)) => system.fairness.is_empty(),
            Err(NotOpened::Stopped(stop)) => stop.why == Why::NoFairPath,
        };
        tally.count("without runs");
        return if models.iter().all(is_refused) { Ok(()) } else { Err("opened without a run".to_string()) };
    }
    let mut opened = Vec::new();
    for model in models {
        opened.push(model.map_err(|error| format!("{error:?}"))?);
    }
    tally.count("systems");
    for _ in 0..LOGS {
        let records = random_log(&system, &reference, rng);
        tally.count("logs");
        tally.add("unseen logs", usize::from(unseen.is_some()));
        tally.add("fair logs", usize::from(!system.fairness.is_empty()));
        let mut log = Followed::new(&system, &reference, &opened);
        for (index, record) in records.iter().enumerate() {
            log.add(record, tally).map_err(|error| format!("record {index} of {records:?}: {error}"))?;
        }
    }
    Ok(())
}

/// One log, followed by the reference and by the monitors.
struct Followed<'a, 's> {
    system: &'s System,
    reference: &'a Reference<'s>,
    /// The runs that match the log after each record so far that is possible.
    history: Vec<Runs>,
    monitors: Vec<IsplMonitor<'s>>,
}

impl<'a, 's> Followed<'a, 's> {
    fn new(system: &'s System, reference: &'a Reference<'s>, models: &[IsplModel<'s>]) -> Followed<'a, 's> {
        let monitors = models.iter().map(IsplModel::monitor).collect();
        Followed { system, reference, history: vec![reference.start()], monitors }
    }

    /// Adds a record.
    fn add(&mut self, record: &IsplObservation, tally: &mut Tally) -> Result<(), String> {
        let budget = Budget::unlimited();
        let now = &self.history[self.history.len() - 1];
        let runs = self.reference.extend(now, self.history.len() == 1, record);
        tally.count("records");
        tally.add("violated", usize::from(runs.is_empty()));
        let mut judgements = Vec::new();
        for monitor in &mut self.monitors {
            let before = monitor.status(&budget).map_err(|stop| stop.to_string())?;
            let preview = monitor.preview(record, &budget).map_err(|stop| stop.to_string())?;
            if monitor.status(&budget) != Ok(before.clone()) {
                return Err("a preview changes the log".to_string());
            }
            let judgement = monitor.observe(record, &budget).map_err(|stop| stop.to_string())?;
            let after = monitor.status(&budget).map_err(|stop| stop.to_string())?;
            if preview.judgement != judgement {
                return Err(format!("preview {:?}, then {judgement:?}", preview.judgement));
            }
            check_changes(&before, &judgement, &after)?;
            judgements.push(judgement);
        }
        for judgement in &judgements[1..] {
            if *judgement != judgements[0] {
                return Err(format!("{:?}, but {judgement:?}", judgements[0]));
            }
        }
        match (&judgements[0].event, runs.is_empty()) {
            (EventVerdict::Possible, false) => {
                self.history.push(runs);
                // What is true before the first record has been counted with it.
                for (_, status) in self.reference.goals(&self.history) {
                    match status {
                        Some(GoalStatus::Reached) => tally.count("reached"),
                        Some(GoalStatus::AtRisk) => tally.count("at risk"),
                        Some(GoalStatus::Lost) => tally.count("lost"),
                        _ => {}
                    }
                }
            }
            (EventVerdict::Violated(violation), true) => {
                self.check_other_actions(record, &violation.instead, tally)?;
                if violation.because.is_empty() {
                    return Err("a violation without a reason".to_string());
                }
            }
            (event, is_violated) => return Err(format!("{event:?}, violated should be {is_violated}")),
        }
        self.check_now()
    }

    /// Compares the possible states and what is true in them.
    fn check_now(&mut self) -> Result<(), String> {
        let budget = Budget::unlimited();
        let now = &self.history[self.history.len() - 1];
        let states = self.reference.possible_states(now);
        let is_over = now.iter().all(|(state, _)| self.reference.steps(*state).next().is_none());
        for monitor in &mut self.monitors {
            let found = monitor.possible_states(usize::MAX, &budget).map_err(|stop| stop.to_string())?;
            if found != states {
                return Err(format!("possible states {found:?}, should be {states:?}"));
            }
            let Status { n_states, goals, facts, .. } =
                monitor.status(&budget).map_err(|stop| stop.to_string())?;
            if n_states != states.len() as u64 {
                return Err(format!("{n_states} states, should be {}", states.len()));
            }
            // The definition is not applied where it would have to try too many strategies.
            let expected = self.reference.goals(&self.history);
            for (GoalChange { goal, status }, (name, expected)) in goals.into_iter().zip(expected) {
                let is_right = expected.is_none_or(|expected| status == expected);
                if goal != name || !is_right {
                    return Err(format!(
                        "{goal}: {status:?}, should be {:?}",
                        self.reference.goals(&self.history)
                    ));
                }
            }
            for (FactChange { property, truth }, (name, expected)) in
                facts.into_iter().zip(self.reference.facts(now))
            {
                let is_right = expected.as_ref().is_none_or(|expected| truth == *expected);
                if property != name || !is_right {
                    return Err(format!("{property}: {truth:?}, should be {expected:?}"));
                }
            }
            if monitor.is_over(&budget) != Ok(is_over) {
                return Err(format!("over should be {is_over}"));
            }
        }
        Ok(())
    }

    /// Compares what one agent may do instead, if no step has its action.
    fn check_other_actions(
        &self,
        record: &IsplObservation,
        instead: &[String],
        tally: &mut Tally,
    ) -> Result<(), String> {
        let [(agent, action)] = record.actions[..] else { return Ok(()) };
        let now = &self.history[self.history.len() - 1];
        let performed = |state: usize| self.reference.steps(state).filter_map(|(joint, _)| joint);
        let possible: Vec<ActionId> = actions(self.system, agent)
            .filter(|&a| now.iter().any(|&(s, _)| performed(s).any(|joint| joint[agent.index()] == a)))
            .collect();
        if possible.contains(&action) || possible.len() > 8 {
            return Ok(());
        }
        tally.count("other actions");
        let owner = self.system.agent(agent);
        let text = |a: &ActionId| format!("{}.Action = {}", owner.name, owner.actions[a.index()].name);
        let expected: Vec<String> = possible.iter().map(text).collect();
        if instead != expected {
            return Err(format!("possible instead: {instead:?}, should be {expected:?}"));
        }
        Ok(())
    }
}

fn actions(system: &System, agent: AgentId) -> impl Iterator<Item = ActionId> {
    (0..system.agent(agent).actions.len() as u32).map(ActionId)
}

/// Checks that a judgement lists exactly what has changed.
fn check_changes(before: &Status, judgement: &Judgement, after: &Status) -> Result<(), String> {
    let goals: Vec<GoalChange> =
        after.goals.iter().zip(&before.goals).filter(|(a, b)| a != b).map(|(a, _)| a.clone()).collect();
    let facts: Vec<FactChange> =
        after.facts.iter().zip(&before.facts).filter(|(a, b)| a != b).map(|(a, _)| a.clone()).collect();
    if judgement.goals != goals || judgement.facts != facts || judgement.n_states != after.n_states {
        return Err(format!("{judgement:?} does not list the changes from {before:?} to {after:?}"));
    }
    Ok(())
}
