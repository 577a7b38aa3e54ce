//! The encoding against `model::semantics`, on all pairs of states of small systems.

use std::collections::{BTreeMap, BTreeSet};

use masque_model::semantics::{State, is_green, is_true, joint_actions, step};
use masque_model::{Deadlock, Formula, System};
use masque_testkit::{Deadlocks, GENERATORS, Tally, differential, seeds};

use crate::encode::Encoded;
use crate::format::{Certificate, Place};
use crate::kernel::Set;

/// Maximum number of valuations of a compared system.
const MAX_STATES: usize = 150;

#[test]
fn the_encoding_is_the_definition() {
    let tally = differential(&GENERATORS, seeds("0..60"), Deadlocks::StutterEvery(3), compare);
    tally.assert_at_least(&[
        ("systems", 60),
        ("pairs", 100_000),
        ("overflowing", 100),
        ("dead", 500),
        ("domains that are no power of two", 30),
        ("forced", 100),
    ]);
}

/// An order in which bits are shuffled, actions among them.
fn order(system: &System, seed: u64) -> Vec<Place> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut places = Vec::new();
    for v in system.variable_ids() {
        let name = system.full_name(v);
        let bits = 0..system.variable(v).domain.bits();
        places.extend(bits.map(|power| Place { is_action: false, name: name.clone(), power }));
    }
    for agent in &system.agents {
        let bits = 0..usize::BITS - (agent.actions.len() - 1).leading_zeros();
        places.extend(bits.map(|power| Place { is_action: true, name: agent.name.clone(), power }));
    }
    random.shuffle(&mut places);
    places
}

/// All valuations of the variables; `None` if there are too many.
fn valuations(system: &System) -> Option<Vec<State>> {
    let mut states = vec![State::new()];
    for variable in &system.variables {
        if states.len() as u128 * variable.domain.size() > MAX_STATES as u128 {
            return None;
        }
        let codes = 0..variable.domain.size() as u64;
        let longer = |state: &State, code| {
            let mut state = state.clone();
            state.push(variable.domain.value(code));
            state
        };
        states = states.iter().flat_map(|s| codes.clone().map(move |code| longer(s, code))).collect();
    }
    Some(states)
}

struct Comparison<'s> {
    encoded: Encoded<'s>,
    system: &'s System,
}

impl Comparison<'_> {
    /// The levels of current values with the bits of a state.
    fn bits(&self, state: &State) -> BTreeMap<u32, bool> {
        let bits = self.system.variable_ids().zip(state).flat_map(|(v, value)| {
            let code = self.system.variable(v).domain.code(*value).unwrap();
            let levels = self.encoded.values.levels.variables[v.index()].iter().enumerate();
            levels.map(move |(power, level)| (*level, code >> power & 1 == 1))
        });
        bits.collect()
    }

    fn singleton(&self, state: &State) -> Set {
        self.encoded.values.diagrams.literals(self.bits(state))
    }

    fn contains(&self, set: &Set, state: &State) -> bool {
        let bits = self.bits(state);
        set.contains(|level| bits[&level])
    }

    fn same(
        &self,
        what: &str,
        set: &Set,
        states: &[State],
        expected: impl Fn(&State) -> bool,
    ) -> Result<(), String> {
        match states.iter().find(|state| self.contains(set, state) != expected(state)) {
            Some(state) => Err(format!("{what} at {state:?}: should be {}", expected(state))),
            None => Ok(()),
        }
    }
}

fn compare(system: System, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let Some(states) = valuations(&system) else { return Ok(()) };
    let certificate = Certificate { order: order(&system, seed), ..Certificate::default() };
    let encoded = Encoded::new(&system, &certificate, 1 << 30, None).map_err(|e| format!("{e:?}"))?;
    let comparison = Comparison { encoded, system: &system };
    tally.count("systems");
    let is_odd = system.variables.iter().any(|v| !v.domain.size().is_power_of_two());
    tally.add("domains that are no power of two", usize::from(is_odd));
    let initial = comparison.encoded.initial.clone();
    comparison.same("initial", &initial, &states, |s| is_true(&system, system.initial, s, &[]))?;
    let count = comparison.encoded.valid.clone();
    comparison.same("valid", &count, &states, |_| true)?;
    let dead = comparison.encoded.dead();
    let overflowing = comparison.encoded.overflowing();
    for state in &states {
        let single = comparison.singleton(state);
        let steps: Vec<_> =
            joint_actions(&system, state).iter().map(|joint| step(&system, state, joint)).collect();
        let successors: BTreeSet<&State> = steps.iter().flat_map(|step| &step.successors).collect();
        let after = comparison.encoded.post(&single);
        comparison.same(&format!("after {state:?}"), &after, &states, |s| successors.contains(s))?;
        tally.add("pairs", states.len());
        let is_dead = comparison.contains(&dead, state);
        tally.add("dead", usize::from(is_dead));
        if is_dead != successors.is_empty() {
            return Err(format!("dead end {state:?}: {is_dead}"));
        }
        let overflows = steps.iter().any(|step| step.overflow);
        tally.add("overflowing", usize::from(overflows));
        if comparison.contains(&overflowing, state) != overflows {
            return Err(format!("overflow at {state:?}: should be {overflows}"));
        }
        for agent in system.agent_ids() {
            let alike = comparison.encoded.alike(&[&[agent]], &single);
            let sees = |s: &State| system.agent(agent).sees.iter().all(|v| s[v.index()] == state[v.index()]);
            comparison.same(&format!("view of {state:?}"), &alike, &states, sees)?;
        }
    }
    for agent in system.agent_ids() {
        let green = comparison.encoded.green(&[agent]);
        comparison.same("green", &green, &states, |s| is_green(&system, agent, s))?;
    }
    backwards(&comparison, &states, seed, tally)
}

/// Pre-images, with conditions on steps, and the sets that groups can enforce, of random sets.
fn backwards(c: &Comparison<'_>, states: &[State], seed: u64, tally: &mut Tally) -> Result<(), String> {
    let system = c.system;
    let mut random = fastrand::Rng::with_seed(seed);
    let target: BTreeSet<&State> = states.iter().filter(|_| random.u8(..) < 150).collect();
    let set = c.encoded.values.diagrams.union(target.iter().map(|state| c.singleton(state)));
    let dead = c.encoded.dead();
    let before = c.encoded.before(&set, None);
    let leads = |joint: &Vec<masque_model::ActionId>, s: &State| {
        step(system, s, joint).successors.iter().any(|next| target.contains(next))
    };
    c.same("before", &before, states, |s| joint_actions(system, s).iter().any(|joint| leads(joint, s)))?;
    for formula in system.formulas.ids() {
        if let Formula::ExistsStep(condition, _) | Formula::ForallStep(condition, _) =
            system.formulas.get(formula)
        {
            let may = c.encoded.values.condition(condition);
            let before = c.encoded.before(&set, Some(&may));
            tally.count("conditions on steps");
            c.same("before by a condition", &before, states, |s| {
                let may = |joint: &&Vec<_>| is_true(system, condition, s, joint);
                joint_actions(system, s).iter().filter(may).any(|joint| leads(joint, s))
            })?;
        }
    }
    let outside = c.encoded.valid.minus(&set);
    let any = c.encoded.values.diagrams.constant(true);
    for group in &system.groups {
        let forced = c.encoded.forced(&group.agents, &any, &outside, &dead);
        tally.count("forced");
        c.same(&format!("forced by {}", group.name), &forced, states, |s| {
            let joint = joint_actions(system, s);
            let is_dead = joint.iter().all(|joint| step(system, s, joint).successors.is_empty());
            if is_dead && system.meaning.deadlock == Deadlock::Stutter {
                return target.contains(s);
            }
            let choice = |joint: &[masque_model::ActionId]| -> Vec<masque_model::ActionId> {
                group.agents.iter().map(|agent| joint[agent.index()]).collect()
            };
            let wins = |chosen: &Vec<_>| {
                joint.iter().filter(|other| choice(other) == *chosen).all(|other| {
                    let next = step(system, s, other).successors;
                    !next.is_empty() && next.iter().all(|next| target.contains(next))
                })
            };
            joint.iter().map(|joint| choice(joint)).any(|chosen| wins(&chosen))
        })?;
    }
    Ok(())
}
