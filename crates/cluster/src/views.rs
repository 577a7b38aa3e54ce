//! Knowledge: states that an agent cannot distinguish, at any worker.
//!
//! What an agent sees of a state, its *view*, is the state's row with all other bits zero. Each view
//! has an owner among the workers, computed from the view. A worker with states where `φ` is false
//! sends their views to the owners, which mark them; then every worker asks the owners of the views of its
//! other states whether these are marked. Views are sent as exact rows: equal hashes are never taken for
//! equal views.
//!
//! Only the marked views are stored, and only while they are used, to save memory. Classes of states, as
//! the explicit engine has them, would be split over the workers, and each worker would need its own table
//! of classes.

use masque_explicit::parts::{Bitset, StoredStates};
use masque_model::GroupId;
use masque_verdict::{Budget, Stop};

use crate::graph::StateRef;
use crate::net::{ANSWER_FLAG, Net, Outbox, STATES_PER_ROUND, STATES_PER_STRIDE, Task};
use crate::shard::Shard;
use crate::store::{Store, owner};

impl Shard<'_> {
    /// Computes the states at which agents who together see the bits of a mask know `φ`, given the states
    /// where `φ` is false.
    pub(crate) fn known_through(
        &mut self,
        mask: &[u64],
        domain: &Bitset,
        not_phi: &Bitset,
    ) -> Result<Bitset, Stop> {
        let mut marked = MarkedViews::new(mask);
        marked.mark(&mut self.net, &self.space.store, not_phi)?;
        let others = domain.clone().minus(not_phi);
        let confused = marked.query(&mut self.net, &self.space.store, &others)?;
        Ok(others.minus(&confused))
    }

    /// Computes `C_Γ φ = νZ. E_Γ(φ ∧ Z)`, given the states where `φ` is false.
    ///
    /// Computes the complement: starting with the states where `φ` is false, adds the states that some
    /// member cannot distinguish from an added one, until nothing changes. Each state is marked once per
    /// member.
    pub(crate) fn known_by_chains(
        &mut self,
        group: GroupId,
        domain: &Bitset,
        not_phi: &Bitset,
    ) -> Result<Bitset, Stop> {
        let mut bad = not_phi.clone();
        let nothing = Bitset::empty(self.n_states());
        let mut members: Vec<(MarkedViews, Bitset)> =
            self.masks(group).iter().map(|mask| (MarkedViews::new(mask), nothing.clone())).collect();
        loop {
            let n_before = bad.count();
            for (marked, done) in &mut members {
                let new = bad.clone().minus(done);
                *done = bad.clone();
                if !self.net.any(!new.is_empty())? {
                    continue;
                }
                marked.mark(&mut self.net, &self.space.store, &new)?;
                let others = domain.clone().minus(&bad);
                bad = bad.or(&marked.query(&mut self.net, &self.space.store, &others)?);
            }
            if !self.net.any(bad.count() != n_before)? {
                return Ok(domain.clone().minus(&bad));
            }
        }
    }

    /// Returns the mask of visible bits of each member of a group.
    pub(crate) fn masks(&self, group: GroupId) -> Vec<Vec<u64>> {
        let agents = &self.system.groups[group.index()].agents;
        agents.iter().map(|&agent| self.machine.seen_by(&[agent])).collect()
    }

    /// Returns the states that equal a state of a set under some mask, including those of the set.
    pub(crate) fn confused(&mut self, masks: &[Vec<u64>], states: &Bitset) -> Result<Bitset, Stop> {
        let mut confused = states.clone();
        for mask in masks {
            let mut marked = MarkedViews::new(mask);
            marked.mark(&mut self.net, &self.space.store, states)?;
            let others = Bitset::full(self.n_states()).minus(&confused);
            confused = confused.or(&marked.query(&mut self.net, &self.space.store, &others)?);
        }
        Ok(confused)
    }
}

/// The marked views that this worker owns.
struct MarkedViews {
    /// Index of each word of a row with visible bits, and the mask of these bits.
    seen: Vec<(usize, u64)>,
    views: Store,
}

impl MarkedViews {
    fn new(mask: &[u64]) -> MarkedViews {
        let mut seen: Vec<(usize, u64)> =
            mask.iter().copied().enumerate().filter(|(_, bits)| *bits != 0).collect();
        if seen.is_empty() {
            // An agent that sees nothing has a single view.
            seen.push((0, 0));
        }
        MarkedViews { views: Store::new(seen.len()), seen }
    }

    /// Marks the views of a set of states, at their owners.
    fn mark(&mut self, net: &mut Net, states: &Store, set: &Bitset) -> Result<(), Stop> {
        let budget = net.budget.clone();
        let (me, peers) = (net.index(), net.peers());
        let view = Vec::new();
        let mut task = Marking { me, peers, states, set, marked: self, view, next: 0, until: 0, budget };
        net.run_until_done(&mut task)
    }

    /// Returns the states of a set whose view is marked.
    fn query(&self, net: &mut Net, states: &Store, set: &Bitset) -> Result<Bitset, Stop> {
        let mut task = Querying {
            me: net.index(),
            peers: net.peers(),
            states,
            set,
            marked: self,
            view: Vec::new(),
            next: 0,
            until: 0,
            answers: Vec::new(),
            found: Bitset::empty(states.len()),
        };
        net.run_until_quiet(&mut task)?;
        Ok(task.found)
    }
}

/// Writes the view of a row into `view`.
#[inline]
fn write_view(seen: &[(usize, u64)], row: &[u64], view: &mut Vec<u64>) {
    view.clear();
    view.extend(seen.iter().map(|&(word, bits)| row[word] & bits));
}

struct Marking<'a> {
    me: usize,
    peers: usize,
    states: &'a Store,
    set: &'a Bitset,
    marked: &'a mut MarkedViews,
    view: Vec<u64>,
    next: usize,
    until: usize,
    budget: Budget,
}

impl Task for Marking<'_> {
    fn begin(&mut self) {
        self.until = self.states.len().min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let end = self.until.min(self.next + STATES_PER_STRIDE);
        for state in (self.next..end).filter(|&state| self.set.contains(state)) {
            write_view(&self.marked.seen, self.states.row(state), &mut self.view);
            match owner(&self.view, self.peers) {
                to if to == self.me => _ = self.marked.views.insert(&self.view)?,
                to => out.send(to, &self.view),
            }
        }
        self.next = end;
        self.budget.check_memory(self.states.bytes() + self.marked.views.bytes_soon())?;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        for view in words.chunks_exact(self.marked.seen.len()) {
            self.marked.views.insert(view)?;
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.states.len() - self.next) as u64]
    }
}

struct Querying<'a> {
    me: usize,
    peers: usize,
    states: &'a Store,
    set: &'a Bitset,
    marked: &'a MarkedViews,
    view: Vec<u64>,
    next: usize,
    until: usize,
    /// States of other workers whose views are marked.
    answers: Vec<StateRef>,
    found: Bitset,
}

impl Task for Querying<'_> {
    fn begin(&mut self) {
        self.until = self.states.len().min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        self.view.clear();
        self.view.resize(self.marked.seen.len(), 0);
        for state in self.answers.drain(..) {
            out.send_two(state.worker(), &self.view, &[ANSWER_FLAG | u64::from(state.index())]);
        }
        let end = self.until.min(self.next + STATES_PER_STRIDE);
        for state in (self.next..end).filter(|&state| self.set.contains(state)) {
            write_view(&self.marked.seen, self.states.row(state), &mut self.view);
            match owner(&self.view, self.peers) {
                to if to != self.me => out.send_two(to, &self.view, &[state as u64]),
                _ if self.marked.views.find(&self.view).is_some() => _ = self.found.insert(state),
                _ => {}
            }
        }
        self.next = end;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        let width = self.marked.seen.len();
        for record in words.chunks_exact(width + 1) {
            let (view, state) = (&record[..width], record[width]);
            if state & ANSWER_FLAG != 0 {
                self.found.insert(state as u32 as usize);
            } else if self.marked.views.find(view).is_some() {
                self.answers.push(StateRef::new(from, state as u32));
            }
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.states.len() - self.next + self.answers.len()) as u64]
    }
}
