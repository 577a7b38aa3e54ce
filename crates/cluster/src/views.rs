//! What agents know: states that look alike, wherever they are kept.
//!
//! What an agent sees of a state, its *view*, is the state's row with all other bits zero. Each view
//! has an owner among the workers, told by the view itself. A worker with states where `φ` is false
//! tells their views to the owners; then every worker asks the owners of all its other states' views
//! whether they have been told of them. Both travel as exact rows: equal hashes are never taken for
//! equal views.
//!
//! Nothing but the views that were told is kept, and only while it is used: memory is what several
//! machines are for. Classes of states, as the engine on one machine has them, would be split over
//! the workers, each of which would need its own table of them.

use masque_explicit::parts::{Bitset, StoredStates};
use masque_model::GroupId;
use masque_verdict::{Budget, Stop};

use crate::graph::Place;
use crate::net::{Net, Outbox, STATES_PER_ROUND, STATES_PER_STRIDE, Task};
use crate::shard::Shard;
use crate::store::{Store, owner};

impl Shard<'_> {
    /// What is known by those who see the bits of a mask, given where `φ` is false.
    pub(crate) fn known_through(
        &mut self,
        mask: &[u64],
        domain: &Bitset,
        not_phi: &Bitset,
    ) -> Result<Bitset, Stop> {
        let mut told = Told::new(mask);
        told.tell(&mut self.net, &self.space.store, not_phi)?;
        let others = domain.clone().minus(not_phi);
        let confused = told.ask(&mut self.net, &self.space.store, &others)?;
        Ok(others.minus(&confused))
    }

    /// `C_Γ φ = νZ. E_Γ(φ ∧ Z)`, given where `φ` is false.
    ///
    /// Computed from outside: what some member confuses with a bad state is bad, until nothing more
    /// becomes so. Each member is told of a state once.
    pub(crate) fn known_by_chains(
        &mut self,
        group: GroupId,
        domain: &Bitset,
        not_phi: &Bitset,
    ) -> Result<Bitset, Stop> {
        let mut bad = not_phi.clone();
        let nothing = Bitset::empty(self.n_states());
        let mut members: Vec<(Told, Bitset)> =
            self.masks(group).iter().map(|mask| (Told::new(mask), nothing.clone())).collect();
        loop {
            let n_before = bad.count();
            for (told, seen) in &mut members {
                let new = bad.clone().minus(seen);
                *seen = bad.clone();
                if !self.net.any(!new.is_empty())? {
                    continue;
                }
                told.tell(&mut self.net, &self.space.store, &new)?;
                let others = domain.clone().minus(&bad);
                bad = bad.or(&told.ask(&mut self.net, &self.space.store, &others)?);
            }
            if !self.net.any(bad.count() != n_before)? {
                return Ok(domain.clone().minus(&bad));
            }
        }
    }

    /// What each member of a group sees.
    pub(crate) fn masks(&self, group: GroupId) -> Vec<Vec<u64>> {
        let agents = &self.system.groups[group.index()].agents;
        agents.iter().map(|&agent| self.machine.seen_by(&[agent])).collect()
    }

    /// The states that look, through some of the masks, like a state of a set; those of the set too.
    pub(crate) fn confused(&mut self, masks: &[Vec<u64>], states: &Bitset) -> Result<Bitset, Stop> {
        let mut confused = states.clone();
        for mask in masks {
            let mut told = Told::new(mask);
            told.tell(&mut self.net, &self.space.store, states)?;
            let others = Bitset::full(self.n_states()).minus(&confused);
            confused = confused.or(&told.ask(&mut self.net, &self.space.store, &others)?);
        }
        Ok(confused)
    }
}

/// The views that this worker owns and has been told of.
struct Told {
    /// The words of a row that are seen, and which of their bits.
    seen: Vec<(usize, u64)>,
    views: Store,
}

impl Told {
    fn new(mask: &[u64]) -> Told {
        let mut seen: Vec<(usize, u64)> =
            mask.iter().copied().enumerate().filter(|(_, bits)| *bits != 0).collect();
        if seen.is_empty() {
            // Who sees nothing has one view.
            seen.push((0, 0));
        }
        Told { views: Store::new(seen.len()), seen }
    }

    /// Tells the owners of the views of these states.
    fn tell(&mut self, net: &mut Net, states: &Store, about: &Bitset) -> Result<(), Stop> {
        let budget = net.budget.clone();
        let (me, peers) = (net.index(), net.peers());
        let view = Vec::new();
        net.work_off(&mut Telling { me, peers, states, about, told: self, view, next: 0, until: 0, budget })
    }

    /// Which of these states have a view that its owner was told of.
    fn ask(&self, net: &mut Net, states: &Store, about: &Bitset) -> Result<Bitset, Stop> {
        let mut task = Asking {
            me: net.index(),
            peers: net.peers(),
            states,
            about,
            told: self,
            view: Vec::new(),
            next: 0,
            until: 0,
            answers: Vec::new(),
            found: Bitset::empty(states.len()),
        };
        net.run(&mut task)?;
        Ok(task.found)
    }
}

/// Puts the view of a row into `view`.
#[inline]
fn look(seen: &[(usize, u64)], row: &[u64], view: &mut Vec<u64>) {
    view.clear();
    view.extend(seen.iter().map(|&(word, bits)| row[word] & bits));
}

struct Telling<'a> {
    me: usize,
    peers: usize,
    states: &'a Store,
    about: &'a Bitset,
    told: &'a mut Told,
    view: Vec<u64>,
    next: usize,
    until: usize,
    budget: Budget,
}

impl Task for Telling<'_> {
    fn begin(&mut self) {
        self.until = self.states.len().min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let end = self.until.min(self.next + STATES_PER_STRIDE);
        for state in (self.next..end).filter(|&state| self.about.contains(state)) {
            look(&self.told.seen, self.states.row(state), &mut self.view);
            match owner(&self.view, self.peers) {
                to if to == self.me => _ = self.told.views.insert(&self.view)?,
                to => out.send(to, &self.view),
            }
        }
        self.next = end;
        self.budget.check_memory(self.states.bytes() + self.told.views.bytes_soon())?;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        for view in words.chunks_exact(self.told.seen.len()) {
            self.told.views.insert(view)?;
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.states.len() - self.next) as u64]
    }
}

struct Asking<'a> {
    me: usize,
    peers: usize,
    states: &'a Store,
    about: &'a Bitset,
    told: &'a Told,
    view: Vec<u64>,
    next: usize,
    until: usize,
    /// States of others whose views are told of.
    answers: Vec<Place>,
    found: Bitset,
}

/// In the last word of a record: a state of yours has a view that I was told of.
const ANSWER: u64 = 1 << 32;

impl Task for Asking<'_> {
    fn begin(&mut self) {
        self.until = self.states.len().min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        // An answer has the length of a question, so that records need no tags: its view is of no use.
        self.view.clear();
        self.view.resize(self.told.seen.len(), 0);
        for place in self.answers.drain(..) {
            out.send_two(place.worker(), &self.view, &[ANSWER | u64::from(place.number())]);
        }
        let end = self.until.min(self.next + STATES_PER_STRIDE);
        for state in (self.next..end).filter(|&state| self.about.contains(state)) {
            look(&self.told.seen, self.states.row(state), &mut self.view);
            match owner(&self.view, self.peers) {
                to if to != self.me => out.send_two(to, &self.view, &[state as u64]),
                _ if self.told.views.find(&self.view).is_some() => _ = self.found.insert(state),
                _ => {}
            }
        }
        self.next = end;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        let width = self.told.seen.len();
        for record in words.chunks_exact(width + 1) {
            let (view, number) = (&record[..width], record[width]);
            if number & ANSWER != 0 {
                self.found.insert(number as u32 as usize);
            } else if self.told.views.find(view).is_some() {
                self.answers.push(Place::new(from, number as u32));
            }
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.states.len() - self.next + self.answers.len()) as u64]
    }
}
