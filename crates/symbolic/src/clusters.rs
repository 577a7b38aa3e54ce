//! Events put together again, for images that are not chained.
//!
//! A fixpoint takes one event after the other, each on what the others have found. A single image
//! has nothing to chain, and event by event each would walk through the whole diagram of the set: on
//! 400 trains 400 times. Hence neighbours in the order are united pairwise, as long as the union
//! stays in proportion to what it is made of; mostly one relation is left in the end. What an event
//! does not change it keeps, as soon as another one of its cluster changes it.

use masque_model::VarId;

use crate::encode::Encoder;
use crate::space::{Limited, Set};
use crate::stages::Event;

/// A cluster may have so many times the nodes of its events and of what they must keep.
const LOOSE: usize = 8;
/// Nodes that say that a bit is kept.
const KEPT_BIT: usize = 3;

/// The union of some events.
struct Cluster {
    relation: Set,
    variables: Vec<VarId>,
    /// The nodes that its events have.
    size: usize,
}

/// As few relations as possible whose union is that of the events that are one relation each.
pub(crate) fn clusters(encoder: &Encoder<'_>, events: &[Event]) -> Limited<Vec<Event>> {
    let mut events: Vec<(&Event, &Set)> =
        events.iter().filter_map(|event| Some((event, event.whole()?))).collect();
    events.sort_by_cached_key(|(event, _)| place(encoder, &event.variables));
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

/// Where an event stands in the order: the mean of its bits' levels. What all events change moves
/// all of them alike.
pub(crate) fn place(encoder: &Encoder<'_>, variables: &[VarId]) -> u64 {
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

    /// The union of two, unless it is out of proportion.
    fn united(&self, encoder: &Encoder<'_>, other: &Cluster) -> Limited<Option<Cluster>> {
        let a = self.keeping(encoder, other)?;
        let b = other.keeping(encoder, self)?;
        let relation = encoder.space.or(&a, &b)?;
        let mut variables = [&self.variables[..], &other.variables[..]].concat();
        variables.sort_unstable();
        variables.dedup();
        let size = self.size + other.size;
        let bits = variables.iter().map(|v| encoder.layout.variables[v.index()].current.len());
        let is_sound = encoder.space.size(&relation) <= LOOSE * (size + KEPT_BIT * bits.sum::<usize>());
        Ok(is_sound.then_some(Cluster { relation, variables, size }))
    }

    /// The relation, which keeps the other's variables that are not its own.
    fn keeping(&self, encoder: &Encoder<'_>, other: &Cluster) -> Limited<Set> {
        let foreign = other.variables.iter().filter(|v| self.variables.binary_search(v).is_err());
        let mut sets = foreign.map(|&v| encoder.keeps(v)).collect::<Limited<Vec<_>>>()?;
        sets.push(self.relation.clone());
        encoder.balanced(sets, true)
    }
}
