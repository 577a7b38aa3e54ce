//! Sets of stored states as diagrams.
//!
//! The states are sorted once, by their bits in the order of the certificate. In a sorted list the states that agree
//! on the bits above a place are neighbours, so a diagram is built from the list by halving it at the places where
//! states differ, and bits on which all of them agree cost nothing until the set is written exactly. A set costs
//! time for its own states, not for those of the system.

use std::ops::Range;

use masque_proof::{NodeTable, Ref};
use masque_verdict::{Budget, Stop};

use crate::bitset::Bitset;
use crate::layout::Field;
use crate::store::Store;
use crate::temporal::Clock;

/// The stored states in the order of their bits.
#[derive(Default)]
pub(crate) struct SortedStates {
    /// Number of bits of a state.
    n_places: u32,
    /// The places of variables; the others are those of actions.
    of_states: Vec<u64>,
    /// Number of words of a key.
    n_words: usize,
    /// For each position the bits of its state, the first place in the highest bit of the first word.
    keys: Vec<u64>,
    /// The position of each state.
    position: Vec<u32>,
    /// The state at each position.
    state: Vec<u32>,
}

/// A list of positions is sorted if it is shorter than this share of all states; otherwise it is found by looking at
/// all of them.
const SPARSE_SHARE: usize = 16;

impl SortedStates {
    /// Sorts the states of a store. For each place the field and the power of its bit are given; no field for bits
    /// of actions.
    pub(crate) fn new(
        store: &Store,
        bits: &[(Option<Field>, u32)],
        budget: &Budget,
    ) -> Result<SortedStates, Stop> {
        let n_words = bits.len().div_ceil(64).max(1);
        let n_states = store.len();
        budget.check_memory(SortedStates::bytes(n_states, bits.len()) + store.bytes())?;
        let mut clock = Clock::new(budget);
        let mut unsorted = vec![0_u64; n_words * n_states];
        for (index, key) in unsorted.chunks_exact_mut(n_words).enumerate() {
            clock.tick()?;
            let row = store.row(index);
            for (place, (field, power)) in bits.iter().enumerate() {
                let Some(field) = field else { continue };
                key[place / 64] |= (field.get(row) >> power & 1) << (63 - place % 64);
            }
        }
        let key = |state: u32| &unsorted[state as usize * n_words..][..n_words];
        let mut state: Vec<u32> = (0..n_states as u32).collect();
        state.sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
        budget.check()?;
        let mut position = vec![0; n_states];
        let mut keys = Vec::with_capacity(unsorted.len());
        for (place, index) in (0..).zip(&state) {
            position[*index as usize] = place;
            keys.extend_from_slice(key(*index));
        }
        let mut sorted = SortedStates {
            n_places: bits.len() as u32,
            of_states: Vec::new(),
            n_words,
            keys,
            position,
            state,
        };
        sorted.of_states = sorted.mask(bits.iter().map(|(field, _)| field.is_some()));
        Ok(sorted)
    }

    /// Returns a mask of places.
    pub(crate) fn mask(&self, is_in: impl Iterator<Item = bool>) -> Vec<u64> {
        let mut mask = vec![0; self.n_words];
        is_in
            .enumerate()
            .for_each(|(place, is_in)| mask[place / 64] |= u64::from(is_in) << (63 - place % 64));
        mask
    }

    /// Returns the memory that sorting takes, in bytes.
    fn bytes(n_states: usize, n_places: usize) -> u64 {
        n_states as u64 * (16 * n_places.div_ceil(64).max(1) as u64 + 8)
    }

    fn key(&self, position: usize) -> &[u64] {
        &self.keys[position * self.n_words..][..self.n_words]
    }

    /// Returns the positions of the states of a set, in increasing order.
    pub(crate) fn positions(&self, set: &Bitset) -> Vec<u32> {
        let n_members = set.count();
        if n_members * SPARSE_SHARE < self.state.len() {
            let mut positions: Vec<u32> = set.iter().map(|state| self.position[state]).collect();
            positions.sort_unstable();
            return positions;
        }
        let is_member = |place: &u32| set.contains(self.state[*place as usize] as usize);
        (0..self.state.len() as u32).filter(is_member).collect()
    }

    /// Writes the set of some states; no other valuation is in it.
    pub(crate) fn write_exactly(
        &self,
        positions: &[u32],
        nodes: &mut NodeTable,
        budget: &Budget,
    ) -> Result<Ref, Stop> {
        let keys: Vec<&[u64]> = positions.iter().map(|position| self.key(*position as usize)).collect();
        let seen = &self.of_states;
        ExactSet { n_places: self.n_places, seen, nodes, clock: &mut Clock::new(budget) }.write(&keys, 0)
    }

    /// Writes the set of the valuations that agree with one of some states on the places in a mask.
    pub(crate) fn write_views(
        &self,
        positions: &[u32],
        mask: &[u64],
        nodes: &mut NodeTable,
        budget: &Budget,
    ) -> Result<Ref, Stop> {
        let mut views: Vec<Vec<u64>> = positions
            .iter()
            .map(|position| self.key(*position as usize).iter().zip(mask).map(|(a, b)| a & b).collect())
            .collect();
        views.sort_unstable();
        views.dedup();
        let keys: Vec<&[u64]> = views.iter().map(Vec::as_slice).collect();
        let clock = &mut Clock::new(budget);
        ExactSet { n_places: self.n_places, seen: mask, nodes, clock }.write(&keys, 0)
    }

    /// Writes a set that agrees with the given one on the stored states, or, if `care` is given, on those of them. Other
    /// valuations may be in it or not.
    pub(crate) fn write_roughly(
        &self,
        members: &[u32],
        care: Option<&[u32]>,
        nodes: &mut NodeTable,
        budget: &Budget,
    ) -> Result<Ref, Stop> {
        let mut rough = RoughSet { sorted: self, nodes, clock: &mut Clock::new(budget) };
        let all = 0..self.state.len() as u32;
        Ok(rough.write(all, members, care)?.unwrap_or(Ref::NONE))
    }
}

/// Returns the first place at which two keys differ.
fn first_difference(a: &[u64], b: &[u64]) -> Option<u32> {
    let word = a.iter().zip(b).position(|(a, b)| a != b)?;
    Some(word as u32 * 64 + (a[word] ^ b[word]).leading_zeros())
}

fn bit(key: &[u64], place: u32) -> bool {
    key[place as usize / 64] >> (63 - place % 64) & 1 == 1
}

/// A set that is written without any freedom.
struct ExactSet<'a, 'b> {
    n_places: u32,
    /// The places that the set depends on.
    seen: &'a [u64],
    nodes: &'a mut NodeTable,
    clock: &'a mut Clock<'b>,
}

impl ExactSet<'_, '_> {
    /// Writes the set of sorted keys that agree on the bits above a place.
    fn write(&mut self, keys: &[&[u64]], place: u32) -> Result<Ref, Stop> {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(Ref::NONE) };
        self.clock.tick()?;
        let (mut set, below) = match first_difference(first, last) {
            None => (Ref::ALL, self.n_places),
            Some(split) => {
                let (low, high) = keys.split_at(keys.partition_point(|key| !bit(key, split)));
                let (low, high) = (self.write(low, split + 1)?, self.write(high, split + 1)?);
                (self.nodes.node(split, low, high), split)
            }
        };
        for place in (place..below).rev().filter(|place| bit(self.seen, *place)) {
            let (low, high) = if bit(first, place) { (Ref::NONE, set) } else { (set, Ref::NONE) };
            set = self.nodes.node(place, low, high);
        }
        Ok(set)
    }
}

/// A set of which only the stored states matter.
struct RoughSet<'a, 'b> {
    sorted: &'a SortedStates,
    nodes: &'a mut NodeTable,
    clock: &'a mut Clock<'b>,
}

impl RoughSet<'_, '_> {
    /// Writes the members among the states at some positions; `None` if no state there matters.
    fn write(
        &mut self,
        range: Range<u32>,
        members: &[u32],
        care: Option<&[u32]>,
    ) -> Result<Option<Ref>, Stop> {
        self.clock.tick()?;
        let n_cared = care.map_or(range.len(), <[u32]>::len);
        if n_cared == 0 {
            return Ok(None);
        }
        if members.is_empty() || members.len() == n_cared {
            return Ok(Some(if members.is_empty() { Ref::NONE } else { Ref::ALL }));
        }
        let sorted = self.sorted;
        let (first, last) = (sorted.key(range.start as usize), sorted.key(range.end as usize - 1));
        // Different states have different keys, and there are two of them at least.
        let Some(place) = first_difference(first, last) else { return Ok(Some(Ref::ALL)) };
        let keys = &sorted.keys[range.start as usize * sorted.n_words..range.end as usize * sorted.n_words];
        let middle = range.start + half(keys, sorted.n_words, place) as u32;
        let split = |list: &[u32]| list.partition_point(|position| *position < middle);
        let (low, high) = members.split_at(split(members));
        let (care_low, care_high) = care.map(|care| care.split_at(split(care))).unzip();
        let low = self.write(range.start..middle, low, care_low)?;
        let high = self.write(middle..range.end, high, care_high)?;
        let (low, high) = (low.or(high), high.or(low));
        Ok(low.zip(high).map(|(low, high)| self.nodes.node(place, low, high)))
    }
}

/// Returns the number of sorted keys that have a zero at a place, where they first differ.
fn half(keys: &[u64], n_words: usize, place: u32) -> usize {
    let (mut low, mut high) = (0, keys.len() / n_words);
    while low < high {
        let middle = (low + high) / 2;
        if bit(&keys[middle * n_words..][..n_words], place) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of places, so that keys have three words.
    const N_PLACES: usize = 150;
    /// A place of an action, between those of variables.
    const ACTION: usize = 70;

    /// Whether a set contains a valuation.
    fn contains(nodes: &NodeTable, mut set: Ref, value: impl Fn(usize) -> bool) -> bool {
        let mut sign = false;
        while set.0 > 1 {
            sign ^= set.0 & 1 == 1;
            let node = nodes.nodes[(set.0 as usize >> 1) - 1];
            assert_ne!(node.bit as usize, ACTION, "no set depends on actions");
            set = if value(node.bit as usize) { node.high } else { node.low };
        }
        sign == (set == Ref::NONE)
    }

    /// Random states with few bits that differ, and all kinds of sets of them.
    #[test]
    fn diagrams_of_random_sets() {
        let mut random = fastrand::Rng::with_seed(5);
        let budget = Budget::unlimited();
        let field = |place: usize| Field { word: place as u32 / 64, shift: place as u32 % 64, mask: 1 };
        let bits: Vec<_> = (0..N_PLACES).map(|p| ((p != ACTION).then(|| field(p)), 0)).collect();
        let mut n_outside = 0;
        for n_tried in [0, 1, 2, 3, 20, 300] {
            let usual: Vec<u64> = (0..3).map(|_| random.u64(..)).collect();
            let mut store = Store::new(3);
            for _ in 0..n_tried {
                let mut row = usual.clone();
                row[2] &= (1 << (N_PLACES - 128)) - 1;
                row[1] &= !(1 << (ACTION - 64));
                for _ in 0..random.usize(0..9) {
                    let place = [3, 4, 63, 64, 65, 100, 127, 128, 129, 149][random.usize(0..10)];
                    row[place / 64] ^= 1 << (place % 64);
                }
                store.insert(&row).unwrap();
            }
            let n_states = store.len();
            let sorted = SortedStates::new(&store, &bits, &budget).unwrap();
            let value = |state: usize| {
                let row = store.row(state);
                move |place: usize| row[place / 64] >> (place % 64) & 1 == 1
            };
            for _ in 0..40 {
                let share = random.u8(0..5);
                let some =
                    |random: &mut fastrand::Rng| Bitset::full(n_states).filter(|_| random.u8(0..4) < share);
                let care = some(&mut random);
                let set = some(&mut random).and(&care);
                let (members, cared) = (sorted.positions(&set), sorted.positions(&care));
                let mut nodes = NodeTable::default();
                let exact = sorted.write_exactly(&members, &mut nodes, &budget).unwrap();
                let rough = sorted.write_roughly(&members, None, &mut nodes, &budget).unwrap();
                let rougher = sorted.write_roughly(&members, Some(&cared), &mut nodes, &budget).unwrap();
                let seen = |place: usize| !place.is_multiple_of(3) && place != ACTION;
                let mask = sorted.mask((0..N_PLACES).map(seen));
                let views = sorted.write_views(&members, &mask, &mut nodes, &budget).unwrap();
                let looks_same = |a: usize, b: usize| {
                    (0..N_PLACES).filter(|p| seen(*p)).all(|p| value(a)(p) == value(b)(p))
                };
                for state in 0..n_states {
                    let is_member = set.contains(state);
                    assert_eq!(contains(&nodes, exact, value(state)), is_member);
                    assert_eq!(contains(&nodes, rough, value(state)), is_member);
                    if care.contains(state) {
                        assert_eq!(contains(&nodes, rougher, value(state)), is_member);
                    }
                    let is_seen = set.iter().any(|other| looks_same(state, other));
                    assert_eq!(contains(&nodes, views, value(state)), is_seen);
                    // A valuation that no state has is in no exact set, and in the views of its own state.
                    let changed = [5, 66, 140][state % 3];
                    let other = |place: usize| value(state)(place) ^ (place == changed);
                    assert!(!contains(&nodes, exact, other));
                    n_outside += 1;
                    assert_eq!(contains(&nodes, views, other), is_seen && !seen(changed));
                }
            }
        }
        assert!(n_outside > 1000);
    }
}
