//! The reachable states, and least shortest paths to some of them.

use masque_model::{System, VarId};
use masque_verdict::{Budget, Path, State, least_joint_action};

use crate::encode::Encoder;
use crate::fixpoint::{PathSearch, Steps};
use crate::relation::Relation;
use crate::space::{Bit, Limited, Set};

/// Number of nodes of the reached states at which clusters are first merged if possible; later whenever
/// the nodes have doubled.
const NODES_AT_FIRST_MERGE: usize = if cfg!(test) { 16 } else { 10_000 };

/// Computes all states reachable from `initial`, breadth first. [JAL05 §3, the fixpoint of τ]
///
/// ```text
/// G = μQ. I ∪ post(Q)
/// ```
///
/// Each step computes the image of the new states or of all states, whichever has the smaller diagram.
/// Each choice may be several times faster than the other. Once the reached states have many nodes,
/// clusters are merged if the result has not many more.
///
/// Calls `on_step` after each step. Returns the states and the number of steps.
pub(crate) fn reachable(
    encoder: &Encoder<'_>,
    relation: &Relation,
    initial: &Set,
    mut on_step: impl FnMut(&Reached<'_>) -> Limited<()>,
) -> Limited<(Set, u32)> {
    let space = &encoder.space;
    let mut relation_size = relation.size(encoder);
    if relation.events.len() > 1 {
        return relation.chain_forward(encoder, initial, |states| {
            on_step(&Reached {
                states,
                new: states,
                is_layer: false,
                size: space.size(states) + relation_size,
            })
        });
    }
    let mut reached = initial.clone();
    let mut frontier = initial.clone();
    let mut n_steps = 0;
    let mut merge_at = NODES_AT_FIRST_MERGE;
    while !frontier.is_empty() {
        let from = if space.size(&frontier) <= space.size(&reached) { &frontier } else { &reached };
        let image = relation.post(encoder, from)?;
        frontier = space.minus(&image, &reached)?;
        reached = space.or(&reached, &frontier)?;
        n_steps += 1;
        let size = space.size(&reached);
        if size >= merge_at {
            relation.merge_clusters(encoder, size)?;
            relation_size = relation.size(encoder);
            merge_at = 2 * size;
        }
        let size = size + space.size(&frontier) + relation_size;
        on_step(&Reached { states: &reached, new: &frontier, is_layer: true, size })?;
    }
    Ok((reached, n_steps))
}

/// The state of the exploration after a step.
pub(crate) struct Reached<'r> {
    /// All states reached so far.
    pub(crate) states: &'r Set,
    /// A set that contains all new states.
    pub(crate) new: &'r Set,
    /// Whether `new` is one breadth-first layer: all successors of the other states have been reached.
    pub(crate) is_layer: bool,
    /// Number of nodes of the states and the relation.
    pub(crate) size: usize,
}

/// Returns the canonical path to one of `targets`: shortest, then least.
pub(crate) fn path_to(
    encoder: &Encoder<'_>,
    relation: &Relation,
    initial: &Set,
    targets: &Set,
    budget: &Budget,
) -> Limited<Option<Path>> {
    let steps = Steps {
        space: &encoder.space,
        after: |set: &Set| relation.post(encoder, set),
        before: |set: &Set| relation.pre(encoder, set),
        least: |set: &Set| least_and_singleton(encoder, set),
    };
    let through = &encoder.space.all();
    let search = PathSearch { from: initial, through, to: targets, n_steps: 0..=usize::MAX };
    let Some(path) = steps.shortest_path(&search)? else { return Ok(None) };
    let states: Vec<State> = path.into_iter().map(|(state, _)| state).collect();
    let mut actions = Vec::new();
    for step in states.windows(2) {
        match least_joint_action(encoder.system, &step[0], &step[1], budget)? {
            Some(action) => actions.push(action),
            None => return Ok(None),
        }
    }
    Ok(Some(Path { states, actions }))
}

/// Returns the least state of a non-empty set.
pub(crate) fn least(encoder: &Encoder<'_>, set: &Set) -> Limited<State> {
    let order: Vec<Bit> = encoder.layout.current_bits().collect();
    let mut valuation = encoder.space.least(set, &order)?.into_iter();
    let mut code = |n_bits| valuation.by_ref().take(n_bits).fold(0, |code, bit| code << 1 | u64::from(bit));
    let variables = encoder.system.variables.iter().zip(&encoder.layout.variables);
    Ok(variables.map(|(variable, bits)| variable.domain.value(code(bits.current.len()))).collect())
}

/// Returns the least state of a non-empty set, and the set of that state alone.
pub(crate) fn least_and_singleton(encoder: &Encoder<'_>, set: &Set) -> Limited<(State, Set)> {
    let state = least(encoder, set)?;
    let singleton = singleton(encoder, &state)?;
    Ok((state, singleton))
}

/// Returns the set of one state.
pub(crate) fn singleton(encoder: &Encoder<'_>, state: &State) -> Limited<Set> {
    let sets = encoder
        .system
        .variable_ids()
        .map(|v: VarId| encoder.has_value(v, &encoder.layout.variables[v.index()].current, state[v.index()]));
    let sets = sets.collect::<Limited<Vec<_>>>()?;
    encoder.balanced(sets, true)
}

/// Computes the initial states: InitStates is true and every code stands for a value.
pub(crate) fn initial(encoder: &mut Encoder<'_>) -> Limited<Set> {
    let system: &System = encoder.system;
    let mut sets = vec![encoder.condition(system.initial)?];
    for v in system.variable_ids() {
        sets.push(encoder.valid_code(v, &encoder.layout.variables[v.index()].current)?);
    }
    sets.retain(|set| !set.is_all());
    encoder.balanced(sets, true)
}
