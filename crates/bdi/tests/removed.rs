//! Compares the removed states of worlds with the reference on random systems.
//!
//! `SEEDS=0..10000 cargo test --release -p masque-bdi --test all removed` compares more of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Slow, random};
use masque_bdi::explanation::RemovalReason;
use masque_bdi::model::{Condition2, State};
use masque_bdi::outcome::Status;
use masque_bdi::plan::WorldId;
use masque_bdi::symbolic::{Engine, RemovedStates, WhyRemoved, WorldGraph};
use masque_verdict::Budget;

/// Maximum number of states; systems with more are skipped because the reference is slow.
const MAX_STATES: usize = 3000;

impl Slow<'_> {
    /// Returns the reasons why a state is incoherent, straight from Condition 2 and consistency.
    fn reasons(&mut self, world: WorldId, state: &State) -> Vec<RemovalReason> {
        let planned = &self.plan.worlds[world.index()];
        let mut reasons = Vec::new();
        for (edge, vars) in self.model.edges(planned.program) {
            if planned.is_leaf {
                continue;
            }
            let is_empty = !self.reference.accessible(world, state, edge).contains(&true);
            if self.model.options.consistency && is_empty {
                reasons.push(RemovalReason::NothingAccessible(edge));
            }
            for var in vars {
                let Some(attitude) = self.model.var(var).attitude else { continue };
                if self.model.options.condition2 == Condition2::Remove
                    && !self.reference.label(world, state, var)
                    && self.reference.holds_in_accessible(world, state, edge, attitude.arg)
                {
                    reasons.push(RemovalReason::Lacks(var));
                }
            }
        }
        reasons
    }

    /// Returns why each state of a world was removed; `None` for kept states.
    fn removed(&mut self, world: WorldId) -> Vec<Option<WhyRemoved>> {
        let built = self.reference.world(world).clone();
        // Number of steps within which all paths through coherent states end, for states on no infinite one.
        let mut rank: Vec<Option<usize>> = vec![None; built.states.len()];
        for n_steps in 1..=built.states.len() {
            let known = rank.clone();
            for at in (0..built.states.len()).filter(|at| !built.bad[*at] && known[*at].is_none()) {
                let ends = |to: &usize| built.bad[*to] || known[*to].is_some();
                if built.next[at].iter().all(ends) {
                    rank[at] = Some(n_steps);
                }
            }
        }
        let mut removed = Vec::new();
        for (at, state) in built.states.iter().enumerate() {
            removed.push(match (built.kept[at], built.bad[at], rank[at], built.status) {
                (true, ..) => None,
                (_, true, ..) => Some(WhyRemoved::Incoherent(self.reasons(world, state))),
                (.., Some(n_steps), _) => Some(WhyRemoved::NoFuture { n_steps }),
                (.., Status::Ok) => Some(WhyRemoved::Unreachable),
                (.., status) => Some(WhyRemoved::World(status)),
            });
        }
        removed
    }

    /// Returns a world and the worlds below it.
    fn below(&self, top: WorldId) -> BTreeSet<WorldId> {
        let (mut found, mut open) = (BTreeSet::new(), vec![top]);
        while let Some(world) = open.pop() {
            if found.insert(world) {
                open.extend(self.plan.worlds[world.index()].children.values());
            }
        }
        found
    }
}

/// Compares what the engine lists with the reference. Returns the reasons.
fn compare(slow: &mut Slow<'_>, top: WorldId, graph: &WorldGraph, found: &RemovedStates) -> Vec<WhyRemoved> {
    let number = |world: WorldId, state: &State| {
        let kept = graph.states.iter().position(|(w, s)| *w == world && s == state);
        let removed = || found.states.iter().position(|r| r.world == world && r.state == *state);
        kept.or_else(|| Some(graph.states.len() + removed()?))
    };
    let listed: BTreeMap<_, _> =
        found.states.iter().map(|r| ((r.world, r.state.clone()), (r.is_initial, r.why.clone()))).collect();
    assert_eq!(listed.len(), found.states.len());
    let (mut expected, mut steps, mut worlds) = (BTreeMap::new(), Vec::new(), Vec::new());
    for world in slow.below(top) {
        let built = slow.reference.world(world).clone();
        let (states, removed) = (slow.states(world), slow.removed(world));
        let n_removed = removed.iter().flatten().count();
        if n_removed > 0 {
            worlds.push((world, n_removed.to_string(), states.len().to_string()));
        }
        for (at, why) in removed.iter().enumerate() {
            if let Some(why) = why {
                expected.insert((world, states[at].clone()), (built.initial[at], why.clone()));
            }
            for &to in built.next[at].iter().filter(|to| why.is_some() || removed[**to].is_some()) {
                let ends = (number(world, &states[at]), number(world, &states[to]));
                if let (Some(from), Some(number)) = ends {
                    steps.push((from, states[to].action, number));
                }
            }
        }
    }
    assert_eq!(listed, expected);
    steps.sort_unstable();
    steps.dedup();
    assert_eq!(found.steps, steps);
    let mut counted: Vec<_> = found
        .worlds
        .iter()
        .map(|lossy| (lossy.world, lossy.n_removed.to_string(), lossy.n_built.to_string()))
        .collect();
    counted.sort_unstable();
    assert_eq!(counted, worlds);
    listed.into_values().map(|(_, why)| why).collect()
}

#[test]
fn removed_states_agree_with_the_reference() {
    let (mut n_systems, mut n_reasons) = (0, [0; 5]);
    for seed in masque_testkit::seeds("0..500") {
        // Every third system has attitudes of agents about themselves.
        let (text, options) = if seed % 3 == 0 { random::self_system(seed) } else { random::system(seed) };
        let Some(read) = crate::support::read(&text, &options).model else { continue };
        let (model, plan) = &read;
        let Some(mut slow) = Slow::new(&read) else { continue };
        let Some(top) = plan.paths.first().map(|path| path.world) else { continue };
        let mut engine = Engine::with_all_values(model, plan, &Budget::default()).unwrap();
        let graph = engine.graph(top, MAX_STATES, &Budget::default()).unwrap();
        let found = engine.removed_states(top, &graph, MAX_STATES, &Budget::default()).unwrap();
        if graph.states.len() == MAX_STATES || found.states.len() == MAX_STATES {
            continue;
        }
        println!("seed {seed}, options {options:?}\n{text}");
        for why in compare(&mut slow, top, &graph, &found) {
            n_reasons[match why {
                WhyRemoved::Incoherent(_) => 0,
                WhyRemoved::NoFuture { n_steps: 1 } => 1,
                WhyRemoved::NoFuture { .. } => 2,
                WhyRemoved::Unreachable => 3,
                WhyRemoved::World(_) => 4,
            }] += 1;
        }
        n_systems += 1;
    }
    println!("{n_systems} systems, removed states by reason: {n_reasons:?}");
    let is_default = std::env::var_os("SEEDS").is_none();
    assert!(
        !is_default || n_systems >= 300 && n_reasons.iter().all(|n| *n >= 20),
        "{n_systems} {n_reasons:?}"
    );
}

#[test]
fn a_limit_leaves_removed_states_out() {
    let text = "agent a is loop { B(b, p) := true; B(b, p | q) := true; B(b, p) := false, B(b, p | q) := false } endloop
        agent b is init p := any, q := any; loop skip endloop";
    let (model, plan) = crate::support::model(text, &[]);
    let mut engine = Engine::with_all_values(&model, &plan, &Budget::default()).unwrap();
    let top = plan.paths[0].world;
    let graph = engine.graph(top, 100, &Budget::default()).unwrap();
    let all = engine.removed_states(top, &graph, 100, &Budget::default()).unwrap();
    assert!(all.states.len() >= 2, "{all:?}");
    let some = engine.removed_states(top, &graph, 1, &Budget::default()).unwrap();
    assert_eq!((some.states.len(), &some.worlds), (1, &all.worlds));
    let none = engine.removed_states(top, &graph, 0, &Budget::default()).unwrap();
    assert!(none.states.is_empty() && none.steps.is_empty());
    assert_eq!(none.worlds, all.worlds);
}
