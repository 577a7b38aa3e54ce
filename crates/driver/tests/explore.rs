//! What looking into a model finds, against the definition, on random systems.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use masque_driver::trace::TraceAction;
use masque_driver::warm::{Asked, PageRange, Unanswered, WarmModel};
use masque_driver::{
    EngineChoice, EngineOptions, Limits, Request, Simulation, Why, diagram, graph, load_text, subformulas,
    truth_at,
};
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

/// A warm model of a text, with the system that it keeps.
fn warm(text: &str, deadlock: Deadlock) -> Option<(WarmModel, Arc<System>)> {
    let request = Request { deadlock: Some(deadlock), ..Request::default() };
    let loaded = Rc::new(load_text("random.ispl", text, &request));
    let system = Arc::clone(loaded.system()?);
    Some((WarmModel::new(loaded, 0, &Limits::default()).unwrap()?, system))
}

const ALL: PageRange = PageRange { offset: 0, limit: 10_000 };

/// The state with a number, as a row, found through its named values.
fn row(model: &WarmModel, system: &System, state: usize) -> Vec<i64> {
    let values = model.values(state);
    let value = |(id, (name, text)): (masque_model::VarId, &(String, String))| {
        assert_eq!(*name, system.full_name(id));
        let domain = &system.variable(id).domain;
        let mut codes = (0..u64::try_from(domain.size()).unwrap()).map(|code| domain.value(code));
        codes.find(|&value| system.value_text(id, value) == *text).unwrap()
    };
    system.variable_ids().zip(&values).map(value).collect()
}

#[test]
fn a_warm_model_answers_as_the_definition_does() {
    let limits = Limits::default();
    let (mut n_steps, mut n_truths, mut n_alike, mut n_paths) = (0, 0, 0, 0);
    for seed in 0..90 {
        let (text, deadlock) = match seed % 3 {
            0 => (random_old_model(seed), Deadlock::Finite),
            1 => (random_model(seed), Deadlock::Finite),
            _ => (random_model(seed), Deadlock::Stutter),
        };
        let Some((mut model, system)) = warm(&text, deadlock) else { continue };
        let Some(structure) = explore(&system, 60) else { continue };
        let Some(domain) = domain(&structure, &system) else { continue };
        let initial = model.initial(ALL, &limits).unwrap();
        let mut rows: Vec<_> = initial.items.iter().map(|&state| row(&model, &system, state)).collect();
        rows.sort();
        let mut expected = initial_states(&system, MAX_STATES).unwrap();
        expected.sort();
        assert_eq!((rows, initial.has_more), (expected, false), "seed {seed}");
        // A walk through all states that steps reach.
        let mut open = initial.items;
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(state) = open.pop() {
            let here = row(&model, &system, state);
            let mut expected: Vec<_> = joint_actions(&system, &here)
                .iter()
                .flat_map(|joint| step(&system, &here, joint).successors)
                .collect();
            let found = model.steps(state, &[], ALL).unwrap();
            let mut rows: Vec<_> =
                found.steps.items.iter().map(|step| row(&model, &system, step.to)).collect();
            rows.sort();
            expected.sort();
            assert_eq!(rows, expected, "seed {seed}");
            assert_eq!(found.end.is_empty(), !expected.is_empty(), "seed {seed}");
            n_steps += expected.len();
            open.extend(found.steps.items.iter().map(|step| step.to).filter(|to| seen.insert(*to)));
        }
        assert_eq!(seen.len(), structure.n_states(), "seed {seed}");
        for &state in seen.iter().take(8) {
            let index = structure.index_of(&row(&model, &system, state)).unwrap();
            for (number, property) in system.properties.iter().enumerate().take(4) {
                let asked = Asked::Property(number);
                let parts = model.truth(&asked, state, 1000, &limits).unwrap();
                let (expected, _) = subformulas(&system.formulas, property.formula, 1000);
                assert_eq!(parts.len(), expected.len(), "seed {seed}");
                for (part, of) in parts.iter().zip(&expected) {
                    n_truths += 1;
                    let truth = truth_set(&structure, &system, of.formula).filter(|_| domain[index]);
                    assert_eq!(part.holds, truth.map(|set| set[index]), "seed {seed}: {part:?}");
                }
            }
            for agent in system.agent_ids().filter(|_| domain[index]) {
                n_alike += 1;
                let name = system.agent(agent).name.clone();
                let found = model.alike(&[name], state, ALL, &limits).unwrap();
                let sees = |state: &[i64]| -> Vec<i64> {
                    system.agent(agent).sees.iter().map(|v| state[v.index()]).collect()
                };
                let same = |other: usize| sees(&structure.states[other]) == sees(&structure.states[index]);
                let expected =
                    (0..structure.n_states()).filter(|&other| domain[other] && same(other)).count();
                assert_eq!(
                    (found.items.len(), found.count),
                    (expected, Some(expected.to_string())),
                    "seed {seed}"
                );
            }
        }
        for (number, property) in system.properties.iter().enumerate().take(3) {
            let Some(truth) = truth_set(&structure, &system, property.formula) else { continue };
            let found = model.path_to(&Asked::Property(number), None, &limits).unwrap();
            n_paths += 1;
            let is_goal = |index: usize| truth[index] && domain[index];
            let distance = shortest(&structure, &domain, is_goal);
            assert_eq!(found.as_ref().map(|walk| walk.steps.len()), distance, "seed {seed}");
            let Some(walk) = found else { continue };
            let last = structure.index_of(&row(&model, &system, walk.last())).unwrap();
            assert!(is_goal(last), "seed {seed}");
            // The walk, as a run, is followed to its end.
            let run = model.run(&walk);
            let is_plain = walk.steps.iter().all(|step| step.action != TraceAction::Stutter);
            if is_plain {
                assert_eq!(model.follow(&run).unwrap(), Some((walk.clone(), None)), "seed {seed}");
                let (asked, truth) = model.explain(&Asked::Property(number), &walk, &limits).unwrap();
                assert!(truth.holds && truth.withheld.is_none(), "seed {seed}: {:?}", truth.withheld);
                assert_eq!(asked.properties.len(), system.properties.len());
            }
        }
    }
    assert!(
        n_steps > 500 && n_truths > 500 && n_alike > 200 && n_paths > 50,
        "{n_steps} {n_truths} {n_alike} {n_paths}"
    );
}

/// The number of steps of a shortest path, through the domain, from an initial state to a goal.
fn shortest(structure: &Structure, domain: &[bool], is_goal: impl Fn(usize) -> bool) -> Option<usize> {
    let mut layer: BTreeSet<usize> =
        (0..structure.n_states()).filter(|&s| structure.initial[s] && domain[s]).collect();
    let mut seen = layer.clone();
    let mut n_steps = 0;
    while !layer.is_empty() {
        if layer.iter().any(|&state| is_goal(state)) {
            return Some(n_steps);
        }
        let next = layer.iter().flat_map(|&state| structure.successors[state].iter().copied());
        layer = next.filter(|&to| domain[to]).collect::<BTreeSet<_>>().difference(&seen).copied().collect();
        seen.extend(&layer);
        n_steps += 1;
    }
    None
}

/// A formula that is asked for is decided as the same formula among the properties is, and mistakes in it are
/// diagnostics about it alone.
#[test]
fn a_warm_model_decides_new_formulas() {
    let text = "Agent Light Vars: on : boolean; level : 0..3; end Vars Actions = {switch, wait};
        Protocol: Other : {switch, wait}; end Protocol
        Evolution: on = ~on and level = level + 1 if Action = switch and level < 3; end Evolution end Agent
        InitStates !Light.on and Light.level = 0; end InitStates Formulae EF Light.on; end Formulae";
    let limits = Limits::default();
    let (mut model, _) = warm(text, Deadlock::Finite).unwrap();
    let start = model.initial(ALL, &limits).unwrap().items[0];
    let asked = |text: &str| Asked::Formula(text.to_string());
    let mut check = |text: &str, expected: &[(&str, bool)]| {
        let parts = model.truth(&asked(text), start, 1000, &limits).unwrap();
        let found: Vec<_> = parts.iter().map(|part| (part.text.as_str(), part.holds.unwrap())).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("EF Light.level = 3", &[("EF Light.level = 3", true), ("Light.level = 3", false)]);
    check("AX Light.on", &[("AX Light.on", false), ("Light.on", false)]);
    check("EF Light.level = 3", &[("EF Light.level = 3", true), ("Light.level = 3", false)]);
    let Err(Unanswered::Refused(refused)) = model.truth(&asked("EF Light.of"), start, 1000, &limits) else {
        panic!("the formula has an error");
    };
    assert_eq!(refused.diagnostics.iter().filter(|d| d.is_error()).count(), 1);
    let walk = model.path_to(&asked("Light.level = 3"), None, &limits).unwrap().unwrap();
    assert_eq!(walk.steps.len(), 3);
    let fixed = [("Light".to_string(), "wait".to_string())];
    assert_eq!(model.steps(start, &fixed, ALL).unwrap().steps.items.len(), 1);
    assert!(matches!(model.steps(99, &[], ALL), Err(Unanswered::Impossible(_))));
    let mut roll = |n: usize| n - 1;
    let values = model.values(start);
    assert_eq!(model.find(&values).unwrap(), Some(start));
    assert_eq!(model.find(&values[1..]).unwrap(), None);
    let step = model.random_step(start, &mut roll).unwrap().unwrap();
    assert_eq!(step.to, start, "`wait` is the last action");
    let graph = model.graph(3, &limits).unwrap();
    assert_eq!((graph.states.len(), graph.n_initial, graph.cut.is_some()), (3, 1, true));
}

/// In the other languages a warm model answers as a walk of the command line does.
#[test]
fn a_warm_model_answers_as_explorers_do() {
    let models = [
        (
            "news.bdi",
            "agent a is loop p := any endloop property possible initially: EF p; property never: AG !p;",
        ),
        (
            "farm.lcc",
            "a(hen, H) :: egg(H) => a(boy, B) <- own(B). a(boy, B) :: egg(X) <= a(hen, H). common own(b).
            agent a(hen, h). agent a(boy, b). property ends : AF final ;",
        ),
        ("ring.aut", "des (0, 4, 3)\n(0, \"go\", 1)\n(1, \"go\", 2)\n(2, \"back\", 0)\n(2, \"stop\", 2)\n"),
    ];
    let limits = Limits::default();
    for (name, text) in models {
        let loaded = Rc::new(load_text(name, text, &Request::default()));
        assert!(loaded.model.is_some(), "{name}: {:?}", loaded.diagnostics);
        let mut explorer = loaded.explorer(100, &limits).unwrap().unwrap();
        let mut model = WarmModel::new(Rc::clone(&loaded), 100, &limits).unwrap().unwrap();
        let mut open = model.initial(ALL, &limits).unwrap().items;
        assert_eq!(open, explorer.initial(), "{name}");
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        let formulas: &[&str] = match name {
            "news.bdi" => &["p", "EF p", "AG !p"],
            "farm.lcc" => &["EF final", "AF final", "final"],
            _ => &["<\"stop\"> true", "EF <\"stop\"> true", "AG <true> true"],
        };
        while let Some(state) = open.pop() {
            assert_eq!(model.values(state), explorer.values(state), "{name}");
            let found = model.steps(state, &[], ALL).unwrap();
            let expected = explorer.steps(state);
            let labels: Vec<_> = found.steps.items.iter().map(|step| (step.text.clone(), step.to)).collect();
            let wanted: Vec<_> = expected.steps.iter().map(|step| (step.label.clone(), step.to)).collect();
            assert_eq!(labels, wanted, "{name}");
            for formula in formulas {
                let found = model.truth(&Asked::Formula(formula.to_string()), state, 1, &limits).unwrap();
                let expected = explorer.ask(state, formula, &limits).unwrap().verdict;
                assert_eq!(
                    found[0].holds,
                    Some(expected == masque_verdict::Verdict::Holds),
                    "{name}: {formula}"
                );
            }
            open.extend(found.steps.items.iter().map(|step| step.to).filter(|to| seen.insert(*to)));
        }
        let goal = Asked::Formula(formulas[0].to_string());
        let walk = model.path_to(&goal, None, &limits).unwrap().unwrap();
        let run = model.run(&walk);
        assert_eq!(model.follow(&run).unwrap(), Some((walk, None)), "{name}");
        let graph = model.graph(100, &limits).unwrap();
        assert_eq!(graph.states.iter().copied().collect::<BTreeSet<_>>(), seen, "{name}");
    }
}
