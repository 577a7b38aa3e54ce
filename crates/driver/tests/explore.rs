//! What looking into a model finds, against the definition, on random systems.

use std::collections::BTreeSet;
use std::sync::Arc;

use masque_driver::{EngineChoice, EngineOptions, Limits, Simulation, Why, diagram, graph, truth_at};
use masque_model::semantics::{Structure, domain, explore, initial_states, joint_actions, step, truth_set};
use masque_model::steps::{More, Moves, first_initial_states, joint_choices};
use masque_model::{Deadlock, System};
use masque_testkit::{load, random_model, random_old_model};
use masque_verdict::Budget;

/// Systems with more states are left to others: the reference is slow.
const MAX_STATES: usize = 300;

/// The systems of these seeds that the reference can explore, with their seeds.
fn systems(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Arc<System>, Structure)> {
    seeds.filter_map(|seed| {
        let (text, deadlock) = match seed % 3 {
            0 => (random_old_model(seed), Deadlock::Finite),
            1 => (random_model(seed), Deadlock::Finite),
            _ => (random_model(seed), Deadlock::Stutter),
        };
        let system = load(&text, deadlock)?;
        let structure = explore(&system, MAX_STATES)?;
        Some((seed, Arc::new(system), structure))
    })
}

#[test]
fn choices_are_those_of_the_definition() {
    let mut n_steps = 0;
    for (seed, system, structure) in systems(0..150) {
        let initial = initial_states(&system, MAX_STATES).unwrap();
        let n_initial = initial.len();
        assert_eq!(first_initial_states(&system, MAX_STATES), (initial.clone(), More::No), "seed {seed}");
        if n_initial > 1 {
            let first = initial[..n_initial - 1].to_vec();
            assert_eq!(first_initial_states(&system, n_initial - 1), (first, More::Yes), "seed {seed}");
        }
        let moves = Moves::new(&system);
        for state in structure.states.iter().take(20) {
            let choices = joint_choices(&system, state);
            let joints: Vec<_> = choices.iter().collect();
            assert_eq!(joints, joint_actions(&system, state), "seed {seed}");
            assert_eq!(choices.count(), joints.len().into(), "seed {seed}");
            for joint in joints.iter().take(20) {
                n_steps += 1;
                let successors = moves.successors(state, joint);
                let mut found: Vec<_> = successors.iter().collect();
                let mut expected = step(&system, state, joint).successors;
                assert_eq!(successors.count(), expected.len().into(), "seed {seed}");
                let picked = successors.pick(|n| n.saturating_sub(1));
                assert_eq!(picked.is_some(), !expected.is_empty(), "seed {seed}");
                assert!(picked.is_none_or(|picked| expected.contains(&picked)), "seed {seed}");
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "seed {seed}");
            }
        }
    }
    assert!(n_steps > 5000, "{n_steps}");
}

#[test]
fn graphs_are_those_of_the_definition() {
    let (options, limits) = (EngineOptions::default(), Limits::default());
    let mut n_systems = 0;
    for (seed, system, structure) in systems(0..150) {
        n_systems += 1;
        let found = graph(&system, MAX_STATES, &options, &limits).unwrap();
        assert!(found.cut.is_none() && found.expanded == vec![true; found.states.len()], "seed {seed}");
        let number = |n: usize| structure.index_of(&found.states[n]).unwrap();
        let edges: BTreeSet<_> = found.edges.keys().map(|&(from, to)| (number(from), number(to))).collect();
        let expected: BTreeSet<_> = (structure.successors.iter().enumerate())
            .flat_map(|(from, successors)| successors.iter().map(move |&to| (from, to)))
            .collect();
        assert_eq!((found.states.len(), edges), (structure.n_states(), expected), "seed {seed}");
        for agent in system.agent_ids() {
            let view = found.view(&system, agent);
            assert_eq!(view.sizes.iter().sum::<usize>(), structure.n_states(), "seed {seed}");
            let sees = &system.agent(agent).sees;
            let classes: BTreeSet<Vec<i64>> =
                structure.states.iter().map(|s| sees.iter().map(|v| s[v.index()]).collect()).collect();
            assert_eq!(view.states.len(), classes.len(), "seed {seed}");
        }
        if found.states.len() > 1 {
            let part = graph(&system, found.states.len() - 1, &options, &limits).unwrap();
            assert!(
                part.cut.is_some() && part.states[..] == found.states[..part.states.len()],
                "seed {seed}"
            );
        }
    }
    assert!(n_systems > 80, "{n_systems}");
}

#[test]
fn diagrams_hold_the_reachable_states_only() {
    let mut n_valuations = 0;
    for (seed, system, structure) in systems(0..60) {
        let found = diagram(&system, &EngineOptions::default(), &Limits::default()).unwrap();
        if found.bits.len() > 11 {
            continue;
        }
        for node in &found.nodes {
            assert!(node.high > 0 && node.high != node.low, "seed {seed}: {node:?}");
        }
        for valuation in 0..1_u32 << found.bits.len() {
            n_valuations += 1;
            let valuation: Vec<bool> = (0..found.bits.len()).map(|bit| valuation >> bit & 1 == 1).collect();
            let mut codes = vec![0_u64; system.variables.len()];
            for (bit, &value) in found.bits.iter().zip(&valuation) {
                codes[bit.variable.index()] |= u64::from(value) << bit.power;
            }
            let is_valid = |(v, &code): (&masque_model::Variable, &u64)| u128::from(code) < v.domain.size();
            let is_reachable = system.variables.iter().zip(&codes).all(is_valid) && {
                let values = system.variables.iter().zip(&codes).map(|(v, &code)| v.domain.value(code));
                structure.index_of(&values.collect::<Vec<i64>>()).is_some()
            };
            assert_eq!(found.contains(&valuation), is_reachable, "seed {seed}: {codes:?}");
        }
    }
    assert!(n_valuations > 3000, "{n_valuations}");
}

#[test]
fn extents_are_those_of_the_definition() {
    let budget = Budget::unlimited();
    let mut n_formulas = 0;
    for (seed, system, structure) in systems(0..120) {
        let Some(domain) = domain(&structure, &system) else { continue };
        let count = |set: &mut dyn Iterator<Item = bool>| set.filter(|b| *b).count().to_string();
        let is_path = system.formulas.path_formulas();
        for engine in masque_driver::engines() {
            let mut encoded = engine.encode(&system, &budget).unwrap();
            for formula in system.formulas.ids().filter(|f| !is_path[f.index()]) {
                let Some(truths) = truth_set(&structure, &system, formula) else {
                    let stop = encoded.extent(formula, &budget).unwrap_err();
                    assert_eq!(stop.why, Why::Unsupported, "seed {seed}");
                    continue;
                };
                n_formulas += 1;
                let extent = encoded.extent(formula, &budget).unwrap();
                let initially =
                    |set: &[bool]| count(&mut set.iter().zip(&structure.initial).map(|(a, b)| *a && *b));
                let expected = [
                    count(&mut truths.iter().copied()),
                    count(&mut domain.iter().copied()),
                    initially(&truths),
                    initially(&domain),
                ];
                let found = [extent.states, extent.of_states, extent.initial, extent.of_initial]
                    .map(|n| n.to_string());
                let text = system.formula_text(formula);
                assert_eq!(found, expected, "seed {seed}, {}: {text}", engine.name());
            }
        }
    }
    assert!(n_formulas > 1500, "{n_formulas}");
}

#[test]
fn answers_along_a_walk_are_those_of_the_definition() {
    let limits = Limits::default();
    let mut n_answers = 0;
    for (seed, system, structure) in systems(0..80) {
        let engine = EngineChoice::from_name(if seed % 2 == 0 { "explicit" } else { "symbolic" }).unwrap();
        let options = EngineOptions::from(engine);
        let mut simulation = Simulation::new(&system, &options, &limits).unwrap();
        let mut dice = dice_of(seed);
        for _ in 0..3 {
            if !simulation.random_step(&mut dice) {
                break;
            }
        }
        let Some(state) = simulation.state() else { continue };
        let number = structure.index_of(state).unwrap();
        let (Some(domain), Some(property)) = (domain(&structure, &system), system.properties.last()) else {
            continue;
        };
        let Some(truths) = truth_set(&structure, &system, property.formula) else { continue };
        let found = truth_at(&system, simulation.path(), &options, &limits);
        let expected = if domain[number] { Ok(truths[number]) } else { Err(Why::NoFairPath) };
        assert_eq!(found.map(|truth| truth.holds), expected, "seed {seed}");
        n_answers += 1;
    }
    assert!(n_answers > 30, "{n_answers}");
}

/// A few numbers that depend on a seed.
fn dice_of(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed | 1;
    move |n| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n.max(1)
    }
}
