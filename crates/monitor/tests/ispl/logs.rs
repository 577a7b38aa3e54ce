//! Random logs: runs of a system, projected to some columns, then changed.

use fastrand::Rng;
use masque_model::{
    ActionId, AgentId, Exprs, Formula, Paths, Property, PropositionId, Relation, System, VarId,
};
use masque_model::{At, Domain, ExprId};
use masque_monitor::ispl::IsplObservation;

use super::transcription::Reference;

/// Maximum number of steps of a random run.
const MAX_STEPS: usize = 7;

/// Columns that a log has.
struct Columns {
    actions: Vec<AgentId>,
    values: Vec<VarId>,
    propositions: Vec<PropositionId>,
}

/// A state on a random run, with the joint action of the step that led to it.
pub(super) type Visited = (Option<Vec<ActionId>>, usize);

/// Adds goals to a system: each proposition can be reached, will be reached, and can be left.
pub(super) fn add_goals(system: &mut System) {
    for index in 0..system.propositions.len().min(2) {
        let formulas = &mut system.formulas;
        let p = formulas.add(Formula::Proposition(PropositionId(index as u32)));
        let (finally, globally) = (formulas.add(Formula::Finally(p)), formulas.add(Formula::Globally(p)));
        let (ef, af) = (
            formulas.add(Formula::Exists(Paths::Ctl, finally)),
            formulas.add(Formula::Forall(Paths::Ctl, finally)),
        );
        let (eg, ag) = (
            formulas.add(Formula::Exists(Paths::Ctl, globally)),
            formulas.add(Formula::Forall(Paths::Ctl, globally)),
        );
        let (not_eg, not_ag) = (formulas.add(Formula::Not(eg)), formulas.add(Formula::Not(ag)));
        for (number, goal) in [ef, af, not_eg, not_ag].into_iter().enumerate() {
            let name = format!("goal {index}.{number}");
            system.properties.push(Property::new(name, goal, At::Initial, Default::default()));
        }
    }
}

/// Returns a random condition on steps.
pub(super) fn step_condition(system: &mut System, rng: &mut Rng) -> ExprId {
    let n_agents = system.agents.len();
    let agent = AgentId(rng.u32(..n_agents as u32));
    let action = ActionId(rng.u32(..system.agent(agent).actions.len() as u32));
    let acts = system.exprs.action_is(agent, action);
    if system.variables.is_empty() {
        return acts;
    }
    let variable = VarId(rng.u32(..system.variables.len() as u32));
    let value = random_value(system, variable, rng);
    let exprs: &mut Exprs = &mut system.exprs;
    let state = match &system.variables[variable.index()].domain {
        Domain::Boolean if value == 0 => {
            let on = exprs.variable(variable);
            exprs.not(on)
        }
        Domain::Boolean => exprs.variable(variable),
        Domain::Integers(..) => {
            let (variable, number) = (exprs.variable(variable), exprs.number(value));
            exprs.compare(Relation::Equal, variable, number)
        }
        Domain::Values(_) => {
            let (variable, symbol) =
                (exprs.variable(variable), exprs.symbol(masque_model::SymbolId(value as u32)));
            exprs.compare(Relation::Equal, variable, symbol)
        }
    };
    match rng.u8(..6) {
        0 => exprs.bool(true),
        1 => acts,
        2 => exprs.not(acts),
        3 => state,
        4 => exprs.and(vec![acts, state]),
        _ => exprs.or(vec![acts, state]),
    }
}

/// Returns a random value of a variable.
fn random_value(system: &System, variable: VarId, rng: &mut Rng) -> i64 {
    let domain = &system.variable(variable).domain;
    domain.value(rng.u64(..domain.size() as u64))
}

/// Returns a random run in the domain, if there is one: its first state, then the steps.
pub(super) fn random_run(reference: &Reference<'_>, rng: &mut Rng) -> Option<Vec<Visited>> {
    let starts: Vec<usize> = reference.initial().into_iter().map(|(state, _)| state).collect();
    let mut run: Vec<Visited> = vec![(None, *rng.choice(&starts)?)];
    for _ in 0..rng.usize(..=MAX_STEPS) {
        let steps: Vec<_> = reference.steps(run[run.len() - 1].1).collect();
        let Some((joint, next)) = rng.choice(&steps) else { break };
        run.push((joint.map(<[ActionId]>::to_vec), *next));
    }
    Some(run)
}

/// Returns the records of a run: some columns of it, without some of its unseen steps, and then perhaps changed.
pub(super) fn random_log(system: &System, reference: &Reference<'_>, rng: &mut Rng) -> Vec<IsplObservation> {
    let Some(run) = random_run(reference, rng) else { return Vec::new() };
    let share = rng.f64();
    let columns = Columns {
        actions: system.agent_ids().filter(|_| rng.f64() < share).collect(),
        values: system.variable_ids().filter(|_| rng.f64() < share).collect(),
        propositions: (0..system.propositions.len() as u32)
            .map(PropositionId)
            .filter(|_| rng.f64() < share / 2.0)
            .collect(),
    };
    let mut records = Vec::new();
    if rng.bool() {
        records.push(columns.record(system, reference, &run[0], rng));
    }
    for (index, step) in run.iter().enumerate().skip(1) {
        if reference.may_be_unseen(run[index - 1].1, step.0.as_deref()) && rng.bool() {
            continue;
        }
        records.push(columns.record(system, reference, step, rng));
    }
    change(system, &mut records, rng);
    records
}

impl Columns {
    fn record(
        &self,
        system: &System,
        reference: &Reference<'_>,
        (joint, state): &Visited,
        rng: &mut Rng,
    ) -> IsplObservation {
        let state = &reference.states()[*state];
        // A field of a record may be missing.
        let mut is_there = || rng.u8(..5) > 0;
        let mut record = IsplObservation::default();
        if let Some(joint) = joint {
            let actions = self.actions.iter().filter(|_| is_there());
            record.actions = actions.map(|&agent| (agent, joint[agent.index()])).collect();
        }
        let values = self.values.iter().filter(|_| is_there());
        record.values = values.map(|&variable| (variable, state[variable.index()])).collect();
        let propositions = self.propositions.iter().filter(|_| is_there());
        let holds = |p: PropositionId| {
            let condition = system.propositions[p.index()].condition;
            masque_model::semantics::is_true(system, condition, state, &[])
        };
        record.propositions = propositions.map(|&p| (p, holds(p))).collect();
        record
    }
}

/// Changes one record, drops one, swaps two, or adds one; sometimes leaves a log as it is.
pub(super) fn change(system: &System, records: &mut Vec<IsplObservation>, rng: &mut Rng) {
    if records.is_empty() {
        return;
    }
    let index = rng.usize(..records.len());
    match rng.u8(..6) {
        0 => _ = records.remove(index),
        1 => {
            let other = rng.usize(..records.len());
            records.swap(index, other);
        }
        2 => {
            let copy = records[rng.usize(..records.len())].clone();
            records.insert(index, copy);
        }
        3 | 4 => change_record(system, &mut records[index], rng),
        _ => {}
    }
}

fn change_record(system: &System, record: &mut IsplObservation, rng: &mut Rng) {
    let kinds = [record.actions.len(), record.values.len(), record.propositions.len()];
    let n_entries: usize = kinds.iter().sum();
    if n_entries == 0 && !system.variables.is_empty() {
        let variable = VarId(rng.u32(..system.variables.len() as u32));
        record.values.push((variable, random_value(system, variable, rng)));
        return;
    }
    let Some(entry) = (n_entries > 0).then(|| rng.usize(..n_entries)) else { return };
    if let Some((agent, action)) = record.actions.get_mut(entry) {
        *action = ActionId(rng.u32(..system.agent(*agent).actions.len() as u32));
    } else if let Some((variable, value)) = record.values.get_mut(entry - kinds[0]) {
        *value = random_value(system, *variable, rng);
    } else {
        let (_, holds) = &mut record.propositions[entry - kinds[0] - kinds[1]];
        *holds = !*holds;
    }
}
