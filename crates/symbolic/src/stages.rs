//! Relations that are applied cluster by cluster.
//!
//! An event whose relation would have too many nodes is a list of clusters. To compute its image, one
//! cluster after the other is applied, and bits that no later cluster mentions are quantified at once.
//! The order of the clusters is chosen beforehand, once for successors and once for predecessors: next
//! comes the cluster that eliminates the most bits compared with those that it adds. [RAPBB95]

use masque_model::{AgentId, VarId};
use rustc_hash::FxHashSet;

use crate::encode::Encoder;
use crate::parts::Part;
use crate::space::{Bit, Cube, Limited, Renaming, Set};

/// A relation on some variables; the others keep their values.
pub(crate) struct Event {
    pub(crate) variables: Vec<VarId>,
    /// The conjuncts of the relation.
    clusters: Vec<Set>,
    /// The stages for successors.
    forward: Vec<Stage>,
    /// The stages for predecessors.
    backward: Vec<Stage>,
    to_current: Renaming,
    to_next: Renaming,
}

/// One cluster and the bits that are quantified when it has been applied.
struct Stage {
    /// Index of the cluster.
    cluster: usize,
    gone: Cube,
    /// The action bits in `gone`.
    actions: Cube,
}

impl Event {
    /// Makes an event of one cluster, in which all actions that should not be kept are quantified.
    pub(crate) fn new(encoder: &Encoder<'_>, relation: Set, variables: &[VarId]) -> Limited<Event> {
        let part = Part { relation, actions: Vec::new(), variables: variables.to_vec(), level: 0 };
        Event::of_clusters(encoder, vec![part], &[])
    }

    /// Makes an event of several clusters, which keeps the actions of some agents.
    pub(crate) fn of_clusters(encoder: &Encoder<'_>, parts: Vec<Part>, kept: &[AgentId]) -> Limited<Event> {
        let variables: Vec<VarId> = parts.iter().flat_map(|part| part.variables.iter().copied()).collect();
        let changing: Vec<(Bit, Bit)> = variables
            .iter()
            .map(|v| &encoder.layout.variables[v.index()])
            .flat_map(|v| v.current.iter().copied().zip(v.next.iter().copied()))
            .collect();
        let actions: FxHashSet<AgentId> = parts
            .iter()
            .flat_map(|part| &part.actions)
            .filter(|agent| !kept.contains(agent))
            .copied()
            .collect();
        let actions: Vec<Bit> =
            actions.iter().flat_map(|agent| encoder.layout.actions[agent.index()].iter().copied()).collect();
        let supports: Vec<Vec<Bit>> = match parts.len() {
            1 => vec![Vec::new()],
            _ => parts.iter().map(|part| encoder.space.support(&part.relation)).collect(),
        };
        let gone =
            |bits: &mut dyn Iterator<Item = Bit>| bits.chain(actions.iter().copied()).collect::<Vec<Bit>>();
        let forward = gone(&mut changing.iter().map(|(current, _)| *current));
        let backward = gone(&mut changing.iter().map(|(_, next)| *next));
        let space = &encoder.space;
        Ok(Event {
            clusters: parts.into_iter().map(|part| part.relation).collect(),
            forward: schedule(encoder, &supports, &forward, &actions)?,
            backward: schedule(encoder, &supports, &backward, &actions)?,
            to_current: space.renaming(changing.iter().map(|&(current, next)| (next, current))),
            to_next: space.renaming(changing.iter().copied()),
            variables,
        })
    }

    /// Returns the relation, if it is one cluster.
    pub(crate) fn whole(&self) -> Option<&Set> {
        match &self.clusters[..] {
            [relation] => Some(relation),
            _ => None,
        }
    }

    /// Computes the relation as one set, however large it is. If there are several clusters, actions are
    /// not quantified.
    pub(crate) fn relation(&self, encoder: &Encoder<'_>) -> Limited<Set> {
        encoder.balanced(self.clusters.clone(), true)
    }

    /// Returns the number of nodes of all clusters.
    pub(crate) fn size(&self, encoder: &Encoder<'_>) -> usize {
        self.clusters.iter().map(|cluster| encoder.space.size(cluster)).sum()
    }

    /// Returns the number of clusters.
    pub(crate) fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Computes the successors of a set.
    pub(crate) fn post(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let next = self.through(encoder, states, &self.forward)?;
        let next = encoder.space.rename(&next, &self.to_current)?;
        #[cfg(feature = "planted-bugs")]
        let next = forget_one(encoder, next)?;
        Ok(next)
    }

    /// Computes the predecessors of a set.
    pub(crate) fn pre(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let next = encoder.space.rename(states, &self.to_next)?;
        self.through(encoder, &next, &self.backward)
    }

    /// Computes the states with a successor.
    pub(crate) fn live(&self, encoder: &Encoder<'_>) -> Limited<Set> {
        self.through(encoder, &encoder.space.all(), &self.backward)
    }

    /// Restricts the event to some states and merges it into one cluster. Returns `None` if it is one
    /// cluster already, if that takes more than `max_steps` steps, or if steps cannot be limited.
    pub(crate) fn at(&self, encoder: &Encoder<'_>, states: &Set, max_steps: u64) -> Limited<Option<Event>> {
        if self.clusters.len() == 1 || encoder.space.is_shared() {
            return Ok(None);
        }
        let relation = encoder.space.within_steps(max_steps, || {
            let mut relation = states.clone();
            for stage in &self.forward {
                relation =
                    encoder.space.and_exists(&self.clusters[stage.cluster], &relation, &stage.actions)?;
            }
            Ok(relation)
        })?;
        relation.map(|relation| Event::new(encoder, relation, &self.variables)).transpose()
    }

    fn through(&self, encoder: &Encoder<'_>, states: &Set, stages: &[Stage]) -> Limited<Set> {
        let mut states = states.clone();
        for stage in stages {
            states = encoder.space.and_exists(&self.clusters[stage.cluster], &states, &stage.gone)?;
        }
        Ok(states)
    }
}

/// The bug that an image lacks one of several states.
#[cfg(feature = "planted-bugs")]
fn forget_one(encoder: &Encoder<'_>, next: Set) -> Limited<Set> {
    if !crate::planted::has(crate::planted::Bug::ForgottenSuccessor) || next.is_empty() {
        return Ok(next);
    }
    let (_, single) = crate::reach::least_and_singleton(encoder, &next)?;
    let rest = encoder.space.minus(&next, &single)?;
    Ok(if rest.is_empty() { next } else { rest })
}

/// Chooses the order in which clusters are applied so that the bits in `gone` are quantified early.
fn schedule(
    encoder: &Encoder<'_>,
    supports: &[Vec<Bit>],
    gone: &[Bit],
    actions: &[Bit],
) -> Limited<Vec<Stage>> {
    let n_bits = encoder.layout.n_bits as usize;
    let mut is_going = vec![false; n_bits];
    gone.iter().for_each(|&bit| is_going[bit as usize] = true);
    let mut uses = vec![0_u32; n_bits];
    supports.iter().flatten().for_each(|&bit| uses[bit as usize] += 1);
    let mut is_here = vec![false; n_bits];
    let mut left: Vec<usize> = (0..supports.len()).collect();
    let mut stages = Vec::with_capacity(left.len());
    // Bits that no cluster mentions are quantified in the first stage.
    let mut going: Vec<Bit> = gone.iter().copied().filter(|&bit| uses[bit as usize] == 0).collect();
    while !left.is_empty() {
        let score = |cluster: usize| {
            let bits = supports[cluster].iter().map(|&bit| bit as usize);
            bits.fold(0, |score: i64, bit| {
                let goes = is_going[bit] && uses[bit] == 1;
                // A bit that is present already and stays costs nothing.
                let comes = !is_going[bit] && !is_here[bit];
                score + 2 * i64::from(goes) - i64::from(comes)
            })
        };
        let best = (0..left.len()).rev().max_by_key(|&i| score(left[i])).unwrap_or(0);
        let cluster = left.remove(best);
        for &bit in &supports[cluster] {
            uses[bit as usize] -= 1;
            is_here[bit as usize] = true;
            if uses[bit as usize] == 0 && is_going[bit as usize] {
                going.push(bit);
            }
        }
        let own = encoder.space.cube(going.iter().copied().filter(|bit| actions.contains(bit)))?;
        stages.push(Stage { cluster, gone: encoder.space.cube(going.drain(..))?, actions: own });
    }
    Ok(stages)
}
