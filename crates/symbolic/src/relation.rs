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

/// One relation may have this many times the nodes of the sets it is used on.
const IN_PROPORTION: usize = 2;

/// The transition relation, ready for images: the union of its events.
pub(crate) struct Relation {
    /// One that changes everything, or one for each action of the scheduler.
    pub(crate) events: Arc<Vec<Event>>,
    /// Several events put together, once an image is asked for.
    united: OnceCell<Vec<Event>>,
    /// The one event as one cluster, once that pays.
    whole: OnceCell<Event>,
    /// All states that matter, once they are known.
    pub(crate) states: Option<Set>,
    /// The agent that chooses who moves.
    pub(crate) scheduler: Option<AgentId>,
    /// Where every agent has an action.
    pub(crate) alive: Set,
}

impl Relation {
    pub(crate) fn new(encoder: &mut Encoder<'_>) -> Limited<Relation> {
        let alive = encoder.alive()?;
        if let Some(events) = encoder.by_lines()? {
            return Ok(Relation::from_events(events, None, alive));
        }
        let parts = encoder.parts()?;
        encoder.is_encoded();
        if let Some((scheduler, events)) = encoder.scheduled(&parts)? {
            return Ok(Relation::from_events(events, Some(scheduler), alive));
        }
        let mut clusters = encoder.merge(parts, &[])?;
        if clusters.len() > 1 && encoder.mind_clusters() {
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

    /// Puts the clusters together if that makes a diagram in proportion to the sets it is used on, which
    /// have this many nodes. On large sets, one image with one relation is far faster than one with
    /// several clusters after each other.
    pub(crate) fn put_together(&self, encoder: &Encoder<'_>, size: usize) -> Limited<()> {
        if let [event] = &self.events[..]
            && self.whole.get().is_none()
        {
            let most = size * IN_PROPORTION;
            let whole = event.at(encoder, &encoder.space.all(), most as u64 * STEPS_PER_NODE)?;
            if let Some(whole) = whole.filter(|whole| whole.size(encoder) <= most) {
                self.whole.get_or_init(|| whole);
            }
        }
        Ok(())
    }

    /// From now on only these states matter, all that are reachable. Backward images from clusters may
    /// get lost among states that are not; at those that are, the relation is mostly small enough to
    /// be put together. That may take as many steps as all before.
    pub(crate) fn settle(&mut self, encoder: &Encoder<'_>, reachable: &Set) -> Limited<()> {
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

    /// What to take an image with.
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

    /// The events, the one as one cluster if it has been put together.
    pub(crate) fn in_use(&self) -> &[Event] {
        self.whole.get().map_or(&self.events[..], std::slice::from_ref)
    }

    /// The nodes of all events' diagrams.
    pub(crate) fn size(&self, encoder: &Encoder<'_>) -> usize {
        self.in_use().iter().map(|event| event.size(encoder)).sum()
    }

    /// The nodes of the largest event's diagram.
    pub(crate) fn largest(&self, encoder: &Encoder<'_>) -> usize {
        self.in_use().iter().map(|event| event.size(encoder)).max().unwrap_or(0)
    }

    /// The successors of a set.
    pub(crate) fn post(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let states = encoder.space.and(states, &self.alive)?;
        let images = self.united(encoder)?.into_iter().map(|event| event.post(encoder, &states));
        encoder.balanced(images.collect::<Limited<Vec<_>>>()?, false)
    }

    /// The predecessors of a set.
    pub(crate) fn pre(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let images = self.united(encoder)?.into_iter().map(|event| event.pre(encoder, states));
        let union = encoder.balanced(images.collect::<Limited<Vec<_>>>()?, false)?;
        encoder.space.and(&union, &self.alive)
    }

    /// The states with a successor.
    pub(crate) fn live(&self, encoder: &Encoder<'_>) -> Limited<Set> {
        let sets = self.events.iter().map(|event| event.live(encoder));
        let union = encoder.balanced(sets.collect::<Limited<Vec<_>>>()?, false)?;
        encoder.space.and(&union, &self.alive)
    }

    /// All that can be reached from a set: with several events each is applied to what the others
    /// have just found. Without this chaining, events cost far more than one whole relation.
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

    /// All from which a set can be reached inside `inside`.
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
