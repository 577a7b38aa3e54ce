//! What agents know: states grouped by what is seen of them.

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
    /// Two states are equivalent iff they agree on the bits of `mask`. Equal hashes are not taken
    /// for equal states: the bits are compared.
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

    /// The finest equivalence on `domain` in which states that agree on some of the `masks` are
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
        // A parent has a smaller number than its child, and is at its root already.
        for state in 0..class.len() {
            class[state] = class[class[state] as usize];
        }
        Ok(Classes { class })
    }

    /// The states of `domain` all of whose equivalents are outside `bad`, where `bad ⊆ domain`.
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

    /// The class of a state: the number of one of its members.
    pub(crate) fn of(&self, state: usize) -> u32 {
        self.class[state]
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.class.capacity() as u64 * 4
    }
}

/// Calls `found` for each state with the first state that looks the same. States outside the domain,
/// if one is given, are passed over.
///
/// Several threads look at all states, each at the views in a share of its own, so that what looks
/// the same is found by the same thread.
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

/// Joins the trees of two states, whatever other threads do.
///
/// The greater root gets the smaller one as its parent, so every parent is smaller than its child
/// and the roots are the least of their trees, in whatever order trees are joined. A root that
/// another thread has joined in the meantime is no root any more: then both are looked for again.
/// After [JT16], where the order of the roots is random; here it is the order of the states, so that
/// a class has the same name on every run.
#[inline]
fn unite(parents: &[AtomicU32], a: u32, b: u32) {
    let parent = |state: u32| parents[state as usize].load(Ordering::Relaxed);
    // Mostly they are joined already, and both right below the root.
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

/// The root of a state's tree, which is flattened on the way. What has a parent keeps one, and its
/// grandparent stays above it: so writing needs no care.
fn root(parents: &[AtomicU32], state: u32) -> u32 {
    let parent = |state: u32| parents[state as usize].load(Ordering::Relaxed);
    let mut at = state;
    loop {
        let above = parent(at);
        if above == at {
            return at;
        }
        let grandparent = parent(above);
        if grandparent != above {
            parents[at as usize].store(grandparent, Ordering::Relaxed);
        }
        at = grandparent;
    }
}
