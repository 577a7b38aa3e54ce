//! Unites events into few relations, for single images.
//!
//! A fixpoint applies one event after the other, each to what the others have found. A single image
//! has nothing to chain, and each event would traverse the whole diagram of the set: with 400 trains
//! 400 times. Hence events that are neighbours in the order are united pairwise, as long as the union
//! has not many more nodes than its events; usually one relation is left. A variable that only some
//! events of a cluster change gets the constraint that it keeps its value in the others.

use masque_model::VarId;

use crate::encode::Encoder;
use crate::space::{Limited, Set};
use crate::stages::Event;

/// Maximum ratio of a cluster's nodes to those of its events and of the bits that they keep.
const MAX_GROWTH_FACTOR: usize = 8;
/// Nodes of the constraint that a bit keeps its value.
const NODES_PER_KEPT_BIT: usize = 3;

/// The union of some events.
struct Cluster {
    relation: Set,
    variables: Vec<VarId>,
    /// Number of nodes of its events together.
    size: usize,
}

/// Unites those events that are one relation each into few relations with the same union.
pub(crate) fn clusters(encoder: &Encoder<'_>, events: &[Event]) -> Limited<Vec<Event>> {
    let mut events: Vec<(&Event, &Set)> =
        events.iter().filter_map(|event| Some((event, event.whole()?))).collect();
    events.sort_by_cached_key(|(event, _)| mean_level(encoder, &event.variables));
    let mut clusters: Vec<Cluster> =
        events.into_iter().map(|(event, relation)| Cluster::new(encoder, event, relation)).collect();
    loop {
        let n_before = clusters.len();
        let mut merged = Vec::with_capacity(n_before.div_ceil(2));
        let mut rest = clusters.into_iter();
        while let Some(a) = rest.next() {
            let Some(b) = rest.next() else {
                merged.push(a);
                break;
            };
            match a.united(encoder, &b)? {
                Some(union) => merged.push(union),
                None => merged.extend([a, b]),
            }
        }
        clusters = merged;
        if clusters.len() == n_before {
            break;
        }
    }
    let made =
        clusters.iter().map(|cluster| Event::new(encoder, cluster.relation.clone(), &cluster.variables));
    made.collect()
}

/// Returns the mean level of the bits of an event's variables, times 1000. Variables that all events
/// change shift all of them alike.
pub(crate) fn mean_level(encoder: &Encoder<'_>, variables: &[VarId]) -> u64 {
    let bits = variables.iter().flat_map(|v| &encoder.layout.variables[v.index()].current);
    let (n_bits, sum) =
        bits.fold((0, 0), |(n, sum), &bit| (n + 1, sum + u64::from(encoder.space.level(bit).0)));
    sum * 1_000 / n_bits.max(1)
}

impl Cluster {
    fn new(encoder: &Encoder<'_>, event: &Event, relation: &Set) -> Cluster {
        let mut variables = event.variables.clone();
        variables.sort_unstable();
        Cluster { relation: relation.clone(), variables, size: encoder.space.size(relation) }
    }

    /// Unites two clusters; returns `None` if the union has too many nodes.
    fn united(&self, encoder: &Encoder<'_>, other: &Cluster) -> Limited<Option<Cluster>> {
        let a = self.keeping(encoder, other)?;
        let b = other.keeping(encoder, self)?;
        let relation = encoder.space.or(&a, &b)?;
        let mut variables = [&self.variables[..], &other.variables[..]].concat();
        variables.sort_unstable();
        variables.dedup();
        let size = self.size + other.size;
        let bits = variables.iter().map(|v| encoder.layout.variables[v.index()].current.len());
        let max_size = MAX_GROWTH_FACTOR * (size + NODES_PER_KEPT_BIT * bits.sum::<usize>());
        let fits = encoder.space.size(&relation) <= max_size;
        Ok(fits.then_some(Cluster { relation, variables, size }))
    }

    /// Returns the relation with the constraint that the other cluster's further variables keep their
    /// values.
    fn keeping(&self, encoder: &Encoder<'_>, other: &Cluster) -> Limited<Set> {
        let foreign = other.variables.iter().filter(|v| self.variables.binary_search(v).is_err());
        let mut sets = foreign.map(|&v| encoder.keeps(v)).collect::<Limited<Vec<_>>>()?;
        sets.push(self.relation.clone());
        encoder.balanced(sets, true)
    }
}
