//! Compares explicit graphs of worlds with the reference on random systems.

use std::collections::BTreeSet;

use crate::support::{Slow, random};
use masque_bdi::model::{Question, State};
use masque_bdi::plan::WorldId;
use masque_bdi::symbolic::{Engine, Link};
use masque_verdict::Budget;

/// Maximum number of states of a graph; systems with larger graphs are skipped because the reference is slow.
const MAX_STATES: usize = 3000;

#[test]
fn graphs_agree_with_the_reference() {
    let (mut n_states, mut n_accesses, mut n_truths) = (0, 0, 0);
    for seed in 0..400 {
        let (text, options) = random::system(seed);
        let Some(read) = crate::support::read(&text, &options).model else { continue };
        let (model, plan) = &read;
        let Some(mut slow) = Slow::new(&read) else { continue };
        let mut engine = Engine::with_all_values(model, plan, &Budget::default()).unwrap();
        let Some(top) = plan.paths.first() else { continue };
        let graph = engine.graph(top.world, MAX_STATES, &Budget::default()).unwrap();
        if graph.states.len() == MAX_STATES {
            continue;
        }
        let built = slow.reference.world(top.world).clone();
        let states: Vec<Vec<State>> =
            (0..plan.worlds.len() as u32).map(|world| slow.states(WorldId(world))).collect();
        let reference = &mut slow.reference;
        let is_initial = |at: &usize| built.initial[*at] && built.kept[*at];
        let initial: BTreeSet<State> = (0..built.states.len())
            .filter(is_initial)
            .map(|at| states[top.world.index()][at].clone())
            .collect();
        let found: BTreeSet<State> = graph.states[..graph.n_initial].iter().map(|(_, s)| s.clone()).collect();
        assert_eq!(found, initial, "seed {seed}\n{text}");
        for (index, (world, state)) in graph.states.iter().enumerate() {
            n_states += 1;
            assert!(graph.is_expanded[index]);
            let built = reference.world(*world).clone();
            let at = states[world.index()].iter().position(|other| other == state).unwrap();
            assert!(built.kept[at], "seed {seed}: {state:?}\n{text}");
            let targets = |wanted: &dyn Fn(&Link) -> bool| -> BTreeSet<(WorldId, State)> {
                let links = graph.links[index].iter().filter(|(link, _)| wanted(link));
                links.map(|(_, to)| graph.states[*to].clone()).collect()
            };
            let next = built.next[at].iter().filter(|to| built.kept[**to]);
            let next: BTreeSet<(WorldId, State)> =
                next.map(|to| (*world, states[world.index()][*to].clone())).collect();
            assert_eq!(targets(&|link| matches!(link, Link::Step(_))), next, "seed {seed}\n{text}");
            for (&edge, &child) in &plan.worlds[world.index()].children {
                let accessible = reference.accessible(*world, &built.states[at], edge);
                let expected: BTreeSet<(WorldId, State)> = (0..accessible.len())
                    .filter(|at| accessible[*at])
                    .map(|at| (child, states[child.index()][at].clone()))
                    .collect();
                n_accesses += expected.len();
                assert_eq!(targets(&|link| *link == Link::Access(edge)), expected, "seed {seed}\n{text}");
            }
            for (property_index, property) in model.properties.iter().enumerate() {
                if let (true, &Question::Formula(formula)) =
                    (plan.properties[property_index] == *world, &property.question)
                {
                    let expected = reference.sat(*world, formula)[at];
                    assert_eq!(
                        engine.truth_at(property_index, state).unwrap(),
                        expected,
                        "seed {seed}\n{text}"
                    );
                    n_truths += 1;
                }
            }
        }
    }
    assert!(n_states > 2000 && n_accesses > 2000 && n_truths > 2000, "{n_states} {n_accesses} {n_truths}");
}

#[test]
fn a_truncated_graph_marks_states_without_all_links() {
    let text = "agent a is var n : 0..99; loop if n < 99 then n := n + 1 endloop";
    let (model, plan) = crate::support::model(text, &[]);
    let mut engine = Engine::with_all_values(&model, &plan, &Budget::default()).unwrap();
    let graph = engine.graph(plan.paths[0].world, 3, &Budget::default()).unwrap();
    assert_eq!(graph.states.len(), 3);
    assert!(graph.is_expanded.contains(&false));
}
