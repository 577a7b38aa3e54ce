//! The transition relation, as the union of its events.

use std::cell::OnceCell;
use std::sync::Arc;

use masque_model::AgentId;

use crate::chain::Chain;
use crate::clusters::clusters;
use crate::encode::Encoder;
use crate::merge::STEPS_PER_NODE;
use crate::space::{Limited, Set};
use crate::stages::Event;

/// Maximum ratio of the nodes of a merged relation to the nodes of the sets it is applied to.
const MAX_SIZE_RATIO: usize = 2;

/// The transition relation, ready for images: the union of its events.
pub(crate) struct Relation {
    /// One event that changes all variables, or one for each action of the scheduler or group of lines.
    pub(crate) events: Arc<Vec<Event>>,
    /// Several events united into few relations, once a single image is needed.
    united: OnceCell<Vec<Event>>,
    /// A single event as one cluster, once that has few enough nodes.
    whole: OnceCell<Event>,
    /// The reachable states in which every agent has an action, once they are known.
    pub(crate) states: Option<Set>,
    /// The agent that chooses who moves, if there is one.
    pub(crate) scheduler: Option<AgentId>,
    /// The states in which every agent has an action.
    pub(crate) alive: Set,
}

impl Relation {
    pub(crate) fn new(encoder: &mut Encoder<'_>) -> Limited<Relation> {
        let alive = encoder.alive()?;
        if let Some(events) = encoder.by_lines()? {
            return Ok(Relation::from_events(events, None, alive));
        }
        let parts = encoder.parts()?;
        encoder.limit_exploration();
        if let Some((scheduler, events)) = encoder.scheduled(&parts)? {
            return Ok(Relation::from_events(events, Some(scheduler), alive));
        }
        let mut clusters = encoder.merge(parts, &[])?;
        if clusters.len() > 1 && encoder.sift_split_relation() {
            clusters = encoder.merge(clusters, &[])?;
        }
        Ok(Relation::from_events(vec![Event::of_clusters(encoder, clusters, &[])?], None, alive))
    }

    fn from_events(events: Vec<Event>, scheduler: Option<AgentId>, alive: Set) -> Relation {
        Relation {
            events: Arc::new(events),
            united: OnceCell::new(),
            whole: OnceCell::new(),
            states: None,
            scheduler,
            alive,
        }
    }

    /// Merges the clusters if the result has few enough nodes, compared with the `size` nodes of the sets
    /// that the relation is applied to. On sets with many nodes, an image with one relation is far faster
    /// than one with several clusters after each other.
    pub(crate) fn merge_clusters(&self, encoder: &Encoder<'_>, size: usize) -> Limited<()> {
        if let [event] = &self.events[..]
            && self.whole.get().is_none()
        {
            let max_nodes = size * MAX_SIZE_RATIO;
            let whole = event.at(encoder, &encoder.space.all(), max_nodes as u64 * STEPS_PER_NODE)?;
            if let Some(whole) = whole
                && whole.size(encoder) <= max_nodes
            {
                self.whole.get_or_init(|| whole);
            }
        }
        Ok(())
    }

    /// Restricts the relation to the reachable states, once they are known. Backward images through
    /// clusters may have many nodes because of unreachable states; restricted to the reachable states,
    /// the clusters can usually be merged. That may take as many steps as all operations before.
    pub(crate) fn restrict_to_reachable(&mut self, encoder: &Encoder<'_>, reachable: &Set) -> Limited<()> {
        if let [event] = &self.events[..] {
            let states = encoder.space.and(reachable, &self.alive)?;
            if self.whole.get().is_none()
                && let Some(whole) = event.at(encoder, &states, encoder.space.steps())?
            {
                self.whole.get_or_init(|| whole);
            }
            self.states = Some(states);
        }
        Ok(())
    }

    /// Returns the events for a single image.
    fn united(&self, encoder: &Encoder<'_>) -> Limited<Vec<&Event>> {
        if self.events.len() == 1 {
            return Ok(self.in_use().iter().collect());
        }
        let united = match self.united.get() {
            Some(united) => united,
            None => {
                let united = clusters(encoder, &self.events)?;
                self.united.get_or_init(|| united)
            }
        };
        Ok(united.iter().chain(self.events.iter().filter(|event| event.whole().is_none())).collect())
    }

    /// Returns the events; a single event as one cluster if it has been merged.
    pub(crate) fn in_use(&self) -> &[Event] {
        self.whole.get().map_or(&self.events[..], std::slice::from_ref)
    }

    /// Returns whether the relation is one event of one cluster.
    pub(crate) fn is_one_cluster(&self) -> bool {
        matches!(self.in_use(), [event] if event.n_clusters() == 1)
    }

    /// Returns the number of nodes of all events.
    pub(crate) fn size(&self, encoder: &Encoder<'_>) -> usize {
        self.in_use().iter().map(|event| event.size(encoder)).sum()
    }

    /// Returns the number of nodes of the largest event.
    pub(crate) fn largest(&self, encoder: &Encoder<'_>) -> usize {
        self.in_use().iter().map(|event| event.size(encoder)).max().unwrap_or(0)
    }

    /// Computes the successors of a set.
    pub(crate) fn post(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let states = encoder.space.and(states, &self.alive)?;
        let images = self.united(encoder)?.into_iter().map(|event| event.post(encoder, &states));
        encoder.balanced(images.collect::<Limited<Vec<_>>>()?, false)
    }

    /// Computes the predecessors of a set.
    pub(crate) fn pre(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let images = self.united(encoder)?.into_iter().map(|event| event.pre(encoder, states));
        let union = encoder.balanced(images.collect::<Limited<Vec<_>>>()?, false)?;
        encoder.space.and(&union, &self.alive)
    }

    /// Computes the states with a successor.
    pub(crate) fn live(&self, encoder: &Encoder<'_>) -> Limited<Set> {
        let sets = self.events.iter().map(|event| event.live(encoder));
        let union = encoder.balanced(sets.collect::<Limited<Vec<_>>>()?, false)?;
        encoder.space.and(&union, &self.alive)
    }

    /// Computes all states reachable from a set. Each of several events is applied to the set that the
    /// events before have enlarged; without this chaining, events cost far more than one relation.
    pub(crate) fn chain_forward(
        &self,
        encoder: &Encoder<'_>,
        from: &Set,
        on_round: impl FnMut(&Set) -> Limited<()>,
    ) -> Limited<(Set, u32)> {
        let step = |event: &Event, reached: &Set| {
            let states = encoder.space.and(reached, &self.alive)?;
            event.post(encoder, &states)
        };
        self.chain(encoder, from, step, on_round)
    }

    /// Computes all states from which a set can be reached inside `inside`.
    pub(crate) fn chain_backward(&self, encoder: &Encoder<'_>, from: &Set, inside: &Set) -> Limited<Set> {
        let inside = encoder.space.and(inside, &self.alive)?;
        let step = |event: &Event, reached: &Set| {
            let before = event.pre(encoder, reached)?;
            encoder.space.and(&before, &inside)
        };
        let (reached, _) = self.chain(encoder, from, step, |_| Ok(()))?;
        Ok(reached)
    }

    fn chain(
        &self,
        encoder: &Encoder<'_>,
        from: &Set,
        step: impl Fn(&Event, &Set) -> Limited<Set>,
        on_round: impl FnMut(&Set) -> Limited<()>,
    ) -> Limited<(Set, u32)> {
        Chain::new(encoder, &self.events).run(from, step, on_round)
    }
}
