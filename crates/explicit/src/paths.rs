//! The canonical path to a set of states: shortest, then least.

use masque_model::System;
use masque_verdict::{Budget, JointAction, Moves, Path, State, Stop, Why};

use crate::bitset::Bitset;
use crate::explore::Space;
use crate::steps::Steps;
use crate::successors::Stepper;

/// Returns the least of the shortest paths from an initial state to a state of `targets`; `None` if there
/// is no target.
pub(crate) fn least_shortest_path(
    system: &System,
    steps: &Steps<'_>,
    space: &Space,
    targets: &Bitset,
    budget: &Budget,
) -> Result<Option<Path>, Stop> {
    let Some(chosen) = least_shortest(steps, space, targets, budget)? else { return Ok(None) };
    let states: Vec<State> =
        chosen.iter().map(|&state| steps.layout.unpack(system, space.store.row(state as usize))).collect();
    let moves = Moves::new(system);
    let mut actions: Vec<JointAction> = Vec::new();
    for step in states.windows(2) {
        let joint = moves.least_joint_action(&step[0], &step[1], budget)?;
        actions.push(joint.expect("a step of the engine is a step of the system"));
    }
    Ok(Some(Path { states, actions }))
}

/// Returns the states of the path of [`least_shortest_path`].
///
/// A state in layer `k` is `k` steps away, so the targets with the smallest indices are nearest. In
/// the layers before theirs, backwards, the states with a successor that is a marked state of the next
/// layer are marked; every walk from marked to marked state is a shortest path, and the least
/// is found by taking the least state at each step.
pub(crate) fn least_shortest(
    steps: &Steps<'_>,
    space: &Space,
    targets: &Bitset,
    budget: &Budget,
) -> Result<Option<Vec<u32>>, Stop> {
    let Some(nearest) = targets.iter().next() else { return Ok(None) };
    let last = space.layer_of(nearest as u32);
    let marked = mark_layers(steps, space, targets, last, budget)?;
    let least = |candidates: &mut dyn Iterator<Item = u32>| {
        candidates.min_by_key(|&state| space.store.row(state as usize)).ok_or(Stop::from(Why::Unsupported))
    };
    let first_layer = 0..space.layers[1];
    let mut chosen = vec![least(&mut first_layer.filter(|&state| marked.contains(state as usize)))?];
    let mut stepper = Stepper::new(steps, budget);
    for layer in 1..=last {
        let range = space.layers[layer]..space.layers[layer + 1];
        let from = space.store.row(chosen[layer - 1] as usize);
        let mut candidates = Vec::new();
        stepper.expand(from, |row| {
            let state = space.store.find(row);
            candidates.extend(state.filter(|s| range.contains(s) && marked.contains(*s as usize)));
            Ok(())
        })?;
        chosen.push(least(&mut candidates.into_iter())?);
    }
    Ok(Some(chosen))
}

/// Returns the states on shortest paths to the targets in layer `last`.
fn mark_layers(
    steps: &Steps<'_>,
    space: &Space,
    targets: &Bitset,
    last: usize,
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let range = |layer: usize| space.layers[layer] as usize..space.layers[layer + 1] as usize;
    let mut marked = Bitset::empty(space.n_states());
    range(last).filter(|&state| targets.contains(state)).for_each(|state| _ = marked.insert(state));
    let mut stepper = Stepper::new(steps, budget);
    for layer in (0..last).rev() {
        budget.check()?;
        if let Some(graph) = &space.graph {
            for state in range(layer + 1).filter(|&state| marked.contains(state)).collect::<Vec<_>>() {
                for &source in graph.predecessors(state) {
                    if range(layer).contains(&(source as usize)) {
                        marked.insert(source as usize);
                    }
                }
            }
            continue;
        }
        for state in range(layer) {
            if state % 4096 == 0 {
                budget.check()?;
            }
            let mut has_marked_successor = false;
            stepper.expand(space.store.row(state), |row| {
                let next = space.store.find(row).filter(|&n| range(layer + 1).contains(&(n as usize)));
                has_marked_successor |= next.is_some_and(|n| marked.contains(n as usize));
                Ok(())
            })?;
            if has_marked_successor {
                marked.insert(state);
            }
        }
    }
    Ok(marked)
}
