//! What agents know: states grouped by what is seen of them.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Budget, Stop};

use crate::bitset::Bitset;
use crate::store::{Store, hash_masked};
use crate::temporal::Clock;

/// An equivalence of states: each state's class, named by one of its members.
#[derive(Debug)]
pub(crate) struct Classes {
    class: Vec<u32>,
}

impl Classes {
    /// Two states are equivalent iff they agree on the bits of `mask`. Equal hashes are not taken
    /// for equal states: the bits are compared.
    pub(crate) fn by_view(store: &Store, mask: &[u64], budget: &Budget) -> Result<Classes, Stop> {
        let mut class = Vec::with_capacity(store.len());
        each_representative(store, mask, None, budget, |_, representative| class.push(representative))?;
        Ok(Classes { class })
    }

    /// The finest equivalence on `domain` in which states that agree on some of the `masks` are
    /// equivalent: the transitive closure of the union, by union-find.
    pub(crate) fn connected(
        store: &Store,
        masks: &[Vec<u64>],
        domain: &Bitset,
        budget: &Budget,
    ) -> Result<Classes, Stop> {
        let mut class: Vec<u32> = (0..store.len() as u32).collect();
        for mask in masks {
            each_representative(store, mask, Some(domain), budget, |state, representative| {
                let (a, b) = (root(&mut class, state), root(&mut class, representative));
                // The smaller number becomes the root, so the result does not depend on the order.
                let (low, high) = (a.min(b), a.max(b));
                class[high as usize] = low;
            })?;
        }
        for state in 0..class.len() as u32 {
            class[state as usize] = root(&mut class, state);
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
    pub(crate) fn untouched(&self, domain: &Bitset, bad: &Bitset) -> Bitset {
        let mut is_bad = Bitset::empty(self.class.len());
        for state in bad.iter() {
            is_bad.insert(self.class[state] as usize);
        }
        domain.filter(|state| !is_bad.contains(self.class[state] as usize))
    }

    /// The class of a state: the number of one of its members.
    pub(crate) fn of(&self, state: usize) -> u32 {
        self.class[state]
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.class.capacity() as u64 * 4
    }
}

/// Calls `found` for each state, in increasing order, with the first state that looks the same.
/// States outside the domain, if one is given, are passed over.
fn each_representative(
    store: &Store,
    mask: &[u64],
    domain: Option<&Bitset>,
    budget: &Budget,
    mut found: impl FnMut(u32, u32),
) -> Result<(), Stop> {
    let view = |state: u32| store.row(state as usize);
    let looks_same =
        |a: u32, b: u32| view(a).iter().zip(view(b)).zip(mask).all(|((a, b), m)| (a ^ b) & m == 0);
    let mut first: HashTable<u32> = HashTable::new();
    let mut clock = Clock::new(budget);
    for state in 0..store.len() as u32 {
        clock.tick()?;
        if domain.is_some_and(|domain| !domain.contains(state as usize)) {
            continue;
        }
        let hash = hash_masked(view(state), mask);
        match first.entry(hash, |&other| looks_same(state, other), |&other| hash_masked(view(other), mask)) {
            Entry::Occupied(entry) => found(state, *entry.get()),
            Entry::Vacant(entry) => {
                entry.insert(state);
                found(state, state);
            }
        }
    }
    Ok(())
}

/// The root of a state's tree, which is flattened on the way.
fn root(parents: &mut [u32], state: u32) -> u32 {
    let mut at = state;
    while parents[at as usize] != at {
        let grandparent = parents[parents[at as usize] as usize];
        parents[at as usize] = grandparent;
        at = grandparent;
    }
    at
}
