//! The reachable states, and least shortest paths to some of them.

use masque_model::{System, VarId};
use masque_verdict::{Budget, Path, State, least_joint_action};

use crate::encode::Encoder;
use crate::fixpoint::{PathSearch, Steps};
use crate::relation::Relation;
use crate::space::{Bit, Limited, Set};

/// From this many nodes of the states reached on, it is worth an attempt to put clusters together, and
/// again whenever they have doubled.
const LARGE: usize = if cfg!(test) { 16 } else { 10_000 };

/// All states reachable from `initial`, breadth first. [RL05 §3, the fixpoint of τ]
///
/// ```text
/// G = μQ. I ∪ post(Q)
/// ```
///
/// A step takes the image of the new states or of all states, whichever has the smaller diagram.
/// Each may be several times better than the other. Once the states reached have a large diagram, clusters
/// are put together if the result is no larger than that by much.
///
/// After each step `on_step` is told what is reached, what of it is new, and the nodes of what is kept.
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
    let mut large = LARGE;
    while !frontier.is_empty() {
        let from = if space.size(&frontier) <= space.size(&reached) { &frontier } else { &reached };
        let image = relation.post(encoder, from)?;
        frontier = space.minus(&image, &reached)?;
        reached = space.or(&reached, &frontier)?;
        n_steps += 1;
        let size = space.size(&reached);
        if size >= large {
            relation.put_together(encoder, size)?;
            relation_size = relation.size(encoder);
            large = 2 * size;
        }
        let size = size + space.size(&frontier) + relation_size;
        on_step(&Reached { states: &reached, new: &frontier, is_layer: true, size })?;
    }
    Ok((reached, n_steps))
}

/// What is reached after a step.
pub(crate) struct Reached<'r> {
    /// All states so far.
    pub(crate) states: &'r Set,
    /// Those among which the new ones are.
    pub(crate) new: &'r Set,
    /// Whether these are one step away from the others, and all others have their successors here.
    pub(crate) is_layer: bool,
    /// Nodes of what is kept.
    pub(crate) size: usize,
}

/// The canonical path to one of `targets`, which are reachable: shortest, then least.
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

/// The least state of a set that is not empty.
pub(crate) fn least(encoder: &Encoder<'_>, set: &Set) -> Limited<State> {
    let order: Vec<Bit> = encoder.layout.current_bits().collect();
    let mut valuation = encoder.space.least(set, &order)?.into_iter();
    let mut code = |n_bits| valuation.by_ref().take(n_bits).fold(0, |code, bit| code << 1 | u64::from(bit));
    let variables = encoder.system.variables.iter().zip(&encoder.layout.variables);
    Ok(variables.map(|(variable, bits)| variable.domain.value(code(bits.current.len()))).collect())
}

/// The least state of a set that is not empty, and the set of that state alone.
pub(crate) fn least_and_singleton(encoder: &Encoder<'_>, set: &Set) -> Limited<(State, Set)> {
    let state = least(encoder, set)?;
    let singleton = singleton(encoder, &state)?;
    Ok((state, singleton))
}

/// The set of one state.
pub(crate) fn singleton(encoder: &Encoder<'_>, state: &State) -> Limited<Set> {
    let sets = encoder
        .system
        .variable_ids()
        .map(|v: VarId| encoder.has_value(v, &encoder.layout.variables[v.index()].current, state[v.index()]));
    let sets = sets.collect::<Limited<Vec<_>>>()?;
    encoder.balanced(sets, true)
}

/// Where InitStates is true and every code stands for a value.
pub(crate) fn initial(encoder: &mut Encoder<'_>) -> Limited<Set> {
    let system: &System = encoder.system;
    let mut sets = vec![encoder.condition(system.initial)?];
    for v in system.variable_ids() {
        sets.push(encoder.valid_code(v, &encoder.layout.variables[v.index()].current)?);
    }
    sets.retain(|set| !set.is_all());
    encoder.balanced(sets, true)
}
