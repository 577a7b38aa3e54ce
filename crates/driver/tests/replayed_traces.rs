//! Damaged traces are refused at the right step, and traces that are still runs of the model are confirmed.
//!
//! The expected step comes from a list of all states and transitions of the model, which is made by the reference
//! semantics (ISPL) or by exploring the model completely (other languages), and from a naive search in it. Nothing of
//! this is used by the replay.

use std::collections::BTreeSet;

use fastrand::Rng;
use masque_driver::trace::{Replayed, TraceAction, TraceRun, TraceState, TraceStep, TraceValue, replay_run};
use masque_driver::{Limits, Loaded, Model, Request, load, load_text, state_graph};
use masque_model::semantics::{explore, joint_actions, step};
use masque_testkit::{random_model, random_old_model};

/// Models with more states are left out: the list must be complete.
const MAX_STATES: usize = 300;

/// All states and transitions of a model.
#[derive(Default)]
struct Listed {
    /// Values of the variables of each state.
    states: Vec<Vec<(String, String)>>,
    initial: BTreeSet<usize>,
    /// For each state, the actions and the next states.
    edges: Vec<Vec<(TraceAction, usize)>>,
}

/// Lists an interpreted system by the definition.
fn list_system(loaded: &Loaded) -> Option<Listed> {
    let Some(Model::Ispl(system)) = &loaded.model else { return None };
    let structure = explore(system, MAX_STATES)?;
    let values = |state: &Vec<i64>| {
        let named = system.variable_ids().zip(state);
        named.map(|(id, value)| (system.full_name(id), system.value_text(id, *value))).collect()
    };
    let mut edges = Vec::new();
    for state in &structure.states {
        let mut of_state = Vec::new();
        for joint in joint_actions(system, state) {
            let actions = system.agents.iter().zip(&joint);
            let actions =
                actions.map(|(agent, a)| (agent.name.clone(), agent.actions[a.index()].name.clone()));
            let action = TraceAction::Joint(actions.filter(|(_, name)| !name.is_empty()).collect());
            for next in step(system, state, &joint).successors {
                of_state.push((action.clone(), structure.index_of(&next)?));
            }
        }
        edges.push(of_state);
    }
    let initial = (0..structure.n_states()).filter(|&state| structure.initial[state]).collect();
    Some(Listed { states: structure.states.iter().map(values).collect(), initial, edges })
}

/// Lists a protocol or a transition system, or the top world of a BDI file, by exploring it completely.
fn list_explored(loaded: &Loaded) -> Listed {
    let mut explorer = loaded.explorer(2000, &Limits::default()).unwrap().unwrap();
    let (graph, _) = state_graph(&mut *explorer, 2000, &Limits::default()).unwrap();
    assert!(graph.cut.is_none(), "{} is too large for this test", loaded.name());
    let is_world = matches!(loaded.model, Some(Model::Bdi(_)));
    let top = graph.states[0].iter().find(|(name, _)| name == "world").cloned();
    let rename = |values: &Vec<(String, String)>| -> Vec<(String, String)> {
        if !is_world {
            return values.clone();
        }
        let value = |name: &str| values.iter().find(|(known, _)| known == name).map(|(_, v)| v.clone());
        let own = values.iter().filter(|(name, _)| !["world", "point", "done"].contains(&name.as_str()));
        let mut renamed = vec![
            ("program point".to_string(), value("point").unwrap_or_default()),
            ("last action".to_string(), value("done").unwrap_or_default()),
        ];
        renamed.extend(own.cloned());
        renamed
    };
    let mut listed = Listed {
        states: graph.states.iter().map(rename).collect(),
        initial: (0..graph.n_initial).collect(),
        edges: vec![Vec::new(); graph.states.len()],
    };
    let is_top = |state: usize| !is_world || graph.states[state].first() == top.as_ref();
    for (&(from, to), labels) in graph.edges.iter().filter(|((from, to), _)| is_top(*from) && is_top(*to)) {
        for label in labels {
            let action = if is_world { TraceAction::NotGiven } else { TraceAction::Label(label.clone()) };
            listed.edges[from].push((action, to));
        }
    }
    // Variables of other worlds may have other values.
    (0..graph.states.len()).filter(|&state| !is_top(state)).for_each(|state| listed.states[state].clear());
    listed
}

impl Listed {
    /// A random run, with a loop if it happens to return to one of its states.
    fn walk(&self, rng: &mut Rng) -> TraceRun {
        let initial: Vec<usize> = self.initial.iter().copied().collect();
        let mut path = vec![initial[rng.usize(..initial.len())]];
        let mut steps = Vec::new();
        let mut back_to = None;
        let n_steps = rng.usize(1..10);
        while steps.len() < n_steps {
            let edges = &self.edges[path[path.len() - 1]];
            if edges.is_empty() {
                break;
            }
            let (action, to) = edges[rng.usize(..edges.len())].clone();
            steps.push(TraceStep { place: Default::default(), action });
            back_to = path.iter().position(|&state| state == to).filter(|_| rng.bool());
            if back_to.is_some() {
                break;
            }
            path.push(to);
        }
        let state = |&state: &usize| {
            let values = self.states[state].iter();
            let values = values.map(|(name, value)| (name.clone(), TraceValue::Written(value.clone())));
            TraceState { place: Default::default(), values: values.collect() }
        };
        TraceRun { world: None, states: path.iter().map(state).collect(), steps, back_to }
    }

    fn fits(&self, state: usize, given: &TraceState) -> bool {
        given.values.iter().all(|(name, value)| {
            let known = self.states[state].iter().find(|(known, _)| known == name);
            // A protocol has no value for messages under way if there are none.
            known.map_or("", |(_, text)| text) == value.text()
        })
    }

    fn next(&self, state: usize, action: &TraceAction, to: &TraceState) -> Vec<usize> {
        let is_taken = |taken: &TraceAction| match (action, taken) {
            (TraceAction::NotGiven, _) => true,
            (TraceAction::Joint(given), TraceAction::Joint(taken)) => given.iter().all(|a| taken.contains(a)),
            (given, taken) => given == taken,
        };
        let edges = self.edges[state].iter().filter(|(taken, next)| is_taken(taken) && self.fits(*next, to));
        edges.map(|(_, next)| *next).collect()
    }

    /// The states in which the model may be at each position of a run.
    fn layers(&self, run: &TraceRun) -> Vec<BTreeSet<usize>> {
        let mut layers: Vec<BTreeSet<usize>> =
            vec![self.initial.iter().copied().filter(|&state| self.fits(state, &run.states[0])).collect()];
        for k in 1..run.states.len() {
            let before = &layers[k - 1];
            let next = before.iter().flat_map(|&s| self.next(s, &run.steps[k - 1].action, &run.states[k]));
            let next = next.collect();
            layers.push(next);
        }
        layers
    }

    /// The least number of given values in which a possible next state differs from the run, where the run leaves the
    /// model; `None` if there are too many states to compare, or no next state.
    fn nearest(&self, run: &TraceRun, step: usize) -> Option<usize> {
        let to = if step < run.states.len() { step } else { run.back_to? };
        let given = &run.states[to].values;
        let n_differences = |&state: &usize| {
            let one =
                |pair: &(String, TraceValue)| TraceState { values: vec![pair.clone()], ..Default::default() };
            given.iter().filter(|pair| !self.fits(state, &one(pair))).count()
        };
        let next: Vec<usize> = match step {
            0 => self.initial.iter().copied().collect(),
            step => {
                let from = self.layers(run).swap_remove(step - 1);
                let edges = from.iter().flat_map(|&state| &self.edges[state]).map(|(_, next)| *next);
                if from.len() > 16 { Vec::new() } else { edges.collect() }
            }
        };
        next.iter().map(n_differences).min()
    }

    /// The step at which a run leaves the model; `None` if the model has such a run.
    fn leaves_at(&self, run: &TraceRun) -> Option<usize> {
        let n_states = run.states.len();
        let layers = self.layers(run);
        if let Some(step) = layers.iter().position(BTreeSet::is_empty) {
            return Some(step);
        }
        let start = run.back_to?;
        // Pairs of a position in the loop and a state from which the loop can be followed forever.
        let mut pairs: BTreeSet<(usize, usize)> = (start..n_states)
            .flat_map(|k| (0..self.states.len()).map(move |state| (k, state)))
            .filter(|&(k, state)| self.fits(state, &run.states[k]))
            .collect();
        loop {
            let continues = |&&(k, state): &&(usize, usize)| {
                let to = if k + 1 < n_states { k + 1 } else { start };
                let next = self.next(state, &run.steps[k].action, &run.states[to]);
                next.iter().any(|&next| pairs.contains(&(to, next)))
            };
            let kept: BTreeSet<(usize, usize)> = pairs.iter().filter(continues).copied().collect();
            if kept.len() == pairs.len() {
                break;
            }
            pairs = kept;
        }
        let is_endless = layers[start].iter().any(|&state| pairs.contains(&(start, state)));
        (!is_endless).then_some(n_states)
    }

    /// Damages a run in one of several ways; some leave it a run of the model.
    fn damage(&self, mut run: TraceRun, rng: &mut Rng) -> (&'static str, TraceRun) {
        let n_states = run.states.len();
        let at = rng.usize(..n_states);
        let kind = rng.usize(..8);
        let what = match kind {
            0 if !run.states[at].values.is_empty() => {
                let index = rng.usize(..run.states[at].values.len());
                let name = run.states[at].values[index].0.clone();
                let others: Vec<&String> = (self.states.iter().flatten())
                    .filter(|(known, _)| *known == name)
                    .map(|(_, value)| value)
                    .collect();
                let other = others[rng.usize(..others.len())].clone();
                run.states[at].values[index].1 = TraceValue::Written(other);
                "value"
            }
            1 if n_states > 1 && !run.steps.is_empty() => {
                run.states.remove(at);
                run.steps.remove(at.min(run.steps.len() - 1));
                run.back_to = run.back_to.map(|back| back.min(run.states.len() - 1));
                "dropped state"
            }
            2 if n_states > 1 => {
                let at = rng.usize(..n_states - 1);
                run.states.swap(at, at + 1);
                "swapped states"
            }
            3 if !run.steps.is_empty() && self.edges.iter().any(|edges| !edges.is_empty()) => {
                let step = rng.usize(..run.steps.len());
                let all: Vec<&(TraceAction, usize)> = self.edges.iter().flatten().collect();
                let other = all[rng.usize(..all.len())].0.clone();
                match (&mut run.steps[step].action, other) {
                    (TraceAction::Joint(actions), TraceAction::Joint(others)) if !actions.is_empty() => {
                        let agent = rng.usize(..actions.len());
                        actions[agent] = others[agent].clone();
                    }
                    (action, other) => *action = other,
                }
                "action"
            }
            4 => {
                // A step more or fewer, as the new loop needs.
                let back = rng.usize(..n_states);
                let last = TraceStep { place: Default::default(), action: TraceAction::NotGiven };
                run.steps.resize(n_states, last);
                run.back_to = Some(back);
                "loop"
            }
            5 => {
                // A part of the variables and of the actions, which leaves several possibilities.
                for state in &mut run.states {
                    state.values.retain(|_| rng.bool());
                }
                for step in &mut run.steps {
                    match &mut step.action {
                        TraceAction::Joint(actions) => actions.retain(|_| rng.bool()),
                        action if rng.bool() => *action = TraceAction::NotGiven,
                        _ => {}
                    }
                }
                "partial"
            }
            6 => {
                run.states.iter_mut().for_each(|state| state.values.retain(|_| rng.u8(..3) > 0));
                run.steps.iter_mut().for_each(|step| step.action = TraceAction::NotGiven);
                let other = rng.usize(..n_states);
                run.states.swap(at, other);
                "partial and swapped"
            }
            _ => "none",
        };
        (what, run)
    }
}

/// Compares the replay with the naive search, on random runs that are damaged once or twice. Returns the number of
/// runs that are refused, and of all.
fn compare(loaded: &Loaded, listed: &Listed, n_runs: usize, seed: u64) -> (usize, usize) {
    let (mut rng, mut n_refused) = (Rng::with_seed(seed), 0);
    if listed.initial.is_empty() {
        return (0, 0);
    }
    let model = loaded.model.as_ref().unwrap();
    for _ in 0..n_runs {
        let run = listed.walk(&mut rng);
        let (what, mut damaged) = listed.damage(run, &mut rng);
        if rng.u8(..4) == 0 {
            damaged = listed.damage(damaged, &mut rng).1;
        }
        let expected = listed.leaves_at(&damaged);
        n_refused += usize::from(expected.is_some());
        let found = match replay_run(model, &damaged, &Limits::default()) {
            Ok(Replayed::Confirmed(states)) => {
                assert_eq!(states.len(), damaged.states.len());
                None
            }
            Ok(Replayed::Refused(departure)) => {
                if let Some(nearest) = listed.nearest(&damaged, departure.step) {
                    let found = departure.alternatives.first().map(|first| first.differences.len());
                    assert_eq!(found, Some(nearest), "{}, seed {seed}: {damaged:#?}", loaded.name());
                }
                Some(departure.step)
            }
            other => panic!("{}, seed {seed}, {what}: {other:?}\n{damaged:#?}", loaded.name()),
        };
        assert_eq!(found, expected, "{}, seed {seed}, {what}: {damaged:#?}", loaded.name());
    }
    (n_refused, n_runs)
}

/// The seeds of `SEEDS=FROM..TO`, or these.
fn seeds(usual: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("SEEDS") else { return usual };
    let (from, to) = text.split_once("..").expect("SEEDS=FROM..TO");
    from.parse().unwrap()..to.parse().unwrap()
}

/// For long tests: `SEEDS=0..5000 cargo test --release -p masque-driver --test all replayed_traces`.
#[test]
fn damaged_runs_of_random_systems() {
    let (mut n_refused, mut n_all) = (0, 0);
    for seed in seeds(0..70) {
        let text = if seed % 3 == 0 { random_old_model(seed) } else { random_model(seed) };
        let loaded = load_text("random.ispl", &text, &Request::default());
        let Some(listed) = list_system(&loaded) else { continue };
        let (refused, all) = compare(&loaded, &listed, 12, seed);
        (n_refused, n_all) = (n_refused + refused, n_all + all);
    }
    assert!(n_refused > 200 && n_all - n_refused > 100, "{n_refused} of {n_all} are refused");
}

/// Protocols, transition systems, BDI worlds and gallery models.
#[test]
fn damaged_runs_of_other_models() {
    let path = |name: &str| format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    let (mut n_refused, mut n_all) = (0, 0);
    for name in [
        "models/lcc/m02_or.lcc",
        "models/lcc/m04_recursion.lcc",
        "models/lcc/m06_conflict.lcc",
        "models/lcc/llm_team.lcc",
        "apps/cli/tests/models/lamp.aut",
        "models/bdi/robot.bdi",
        "models/ispl/bit_transmission_faulty2.ispl",
        "models/ispl/card_game.ispl",
    ] {
        let loaded = load(&[path(name)], &Request::default());
        let listed = match &loaded.model {
            Some(Model::Ispl(_)) => list_system(&loaded).unwrap(),
            Some(_) => list_explored(&loaded),
            None => panic!("{name}: {:?}", loaded.diagnostics),
        };
        for seed in seeds(0..1) {
            let (refused, all) = compare(&loaded, &listed, 25, seed);
            (n_refused, n_all) = (n_refused + refused, n_all + all);
        }
    }
    assert!(n_refused > 60 && n_all - n_refused > 30, "{n_refused} of {n_all} are refused");
}
