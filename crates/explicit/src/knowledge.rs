//! Knowledge: classes of states that agents cannot distinguish.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Budget, Stop};

use crate::bitset::Bitset;
use crate::jobs::Jobs;
use crate::store::{Store, hash_masked, share};
use crate::temporal::Clock;

/// An equivalence of states: each state's class, named by one of its members.
#[derive(Debug)]
pub(crate) struct Classes {
    class: Vec<u32>,
}

impl Classes {
    /// Creates the equivalence of states that agree on the bits of `mask`. States with equal hashes are
    /// compared.
    pub(crate) fn by_view(
        store: &Store,
        mask: &[u64],
        jobs: &Jobs,
        budget: &Budget,
    ) -> Result<Classes, Stop> {
        let class: Vec<AtomicU32> = (0..store.len()).map(|_| AtomicU32::new(0)).collect();
        each_representative(store, mask, None, jobs, budget, |state, representative| {
            class[state as usize].store(representative, Ordering::Relaxed);
        })?;
        Ok(Classes { class: class.into_iter().map(AtomicU32::into_inner).collect() })
    }

    /// Creates the finest equivalence on `domain` in which states that agree on some of the `masks` are
    /// equivalent: the transitive closure of the union, by union-find.
    pub(crate) fn connected(
        store: &Store,
        masks: &[Vec<u64>],
        domain: &Bitset,
        jobs: &Jobs,
        budget: &Budget,
    ) -> Result<Classes, Stop> {
        let parents: Vec<AtomicU32> = (0..store.len() as u32).map(AtomicU32::new).collect();
        for mask in masks {
            each_representative(store, mask, Some(domain), jobs, budget, |state, representative| {
                unite(&parents, state, representative);
            })?;
        }
        let mut class: Vec<u32> = parents.into_iter().map(AtomicU32::into_inner).collect();
        // A parent has a smaller index than its child, so its root is already known.
        for state in 0..class.len() {
            class[state] = class[class[state] as usize];
        }
        Ok(Classes { class })
    }

    /// Returns the states of `domain` all of whose equivalents are outside `bad`, where `bad ⊆ domain`.
    ///
    /// ```text
    /// {s ∈ D | t ∉ bad for every t ∈ D with t ~ s}
    /// ```
    ///
    /// With `bad = D ∖ ⟦φ⟧` this is `⟦K φ⟧` for the agent whose view made the classes.
    pub(crate) fn untouched(&self, domain: &Bitset, bad: &Bitset, jobs: &Jobs) -> Result<Bitset, Stop> {
        let mut is_bad = Bitset::empty(self.class.len());
        for state in bad.iter() {
            is_bad.insert(self.class[state] as usize);
        }
        domain.filter_shared(jobs, || (), |(), state| Ok(!is_bad.contains(self.class[state] as usize)))
    }

    /// Returns the class of a state: the index of one of its members.
    pub(crate) fn of(&self, state: usize) -> u32 {
        self.class[state]
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.class.capacity() as u64 * 4
    }
}

/// Calls `found` for each state with the first state that has the same view. States outside the domain,
/// if one is given, are skipped.
///
/// Several threads read all states, each for a share of the views, so that states with the same view are
/// found by the same thread.
fn each_representative(
    store: &Store,
    mask: &[u64],
    domain: Option<&Bitset>,
    jobs: &Jobs,
    budget: &Budget,
    found: impl Fn(u32, u32) + Sync,
) -> Result<(), Stop> {
    let view = |state: u32| store.row(state as usize);
    let looks_same =
        |a: u32, b: u32| view(a).iter().zip(view(b)).zip(mask).all(|((a, b), m)| (a ^ b) & m == 0);
    let n_shares = jobs.parts(store.len()).len();
    let mut firsts: Vec<HashTable<u32>> = (0..n_shares).map(|_| HashTable::new()).collect();
    jobs.each(store.len(), &mut firsts, |own_share, first| {
        let mut clock = Clock::new(budget);
        for state in 0..store.len() as u32 {
            clock.tick()?;
            if domain.is_some_and(|domain| !domain.contains(state as usize)) {
                continue;
            }
            let hash = hash_masked(view(state), mask);
            if n_shares > 1 && share(hash, n_shares) != own_share {
                continue;
            }
            let rehash = |&other: &u32| hash_masked(view(other), mask);
            match first.entry(hash, |&other| looks_same(state, other), rehash) {
                Entry::Occupied(entry) => found(state, *entry.get()),
                Entry::Vacant(entry) => {
                    entry.insert(state);
                    found(state, state);
                }
            }
        }
        Ok(())
    })
}

/// Joins the trees of two states; other threads may join trees at the same time.
///
/// The greater root gets the smaller one as its parent, so every parent is smaller than its child
/// and the roots are the least of their trees, independently of the order in which trees are joined. If
/// another thread has joined a root in the meantime, both roots are looked for again.
/// Follows [JT16], where the order of the roots is random; here it is the order of the states, so that
/// a class has the same name on every run.
#[inline]
fn unite(parents: &[AtomicU32], a: u32, b: u32) {
    let parent = |state: u32| parents[state as usize].load(Ordering::Relaxed);
    // Mostly they are joined already, and both are direct children of the root.
    if a == b || parent(a) == parent(b) {
        return;
    }
    loop {
        let (a, b) = (root(parents, a), root(parents, b));
        let (low, high) = (a.min(b), a.max(b));
        let parent = &parents[high as usize];
        if low == high || parent.compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            return;
        }
    }
}

/// Returns the root of a state's tree, and shortens the path to it. A concurrent write is harmless, because
/// an ancestor of a state always stays an ancestor.
fn root(parents: &[AtomicU32], state: u32) -> u32 {
    let parent = |state: u32| parents[state as usize].load(Ordering::Relaxed);
    let mut current = state;
    loop {
        let above = parent(current);
        if above == current {
            return current;
        }
        let grandparent = parent(above);
        if grandparent != above {
            parents[current as usize].store(grandparent, Ordering::Relaxed);
        }
        current = grandparent;
    }
}
