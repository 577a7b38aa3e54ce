//! Sets of states, one bit each.

use masque_verdict::Stop;

use crate::jobs::Jobs;

/// A subset of `0..len`.
///
/// Bits beyond `len` in the last word are zero, so that sets can be counted and compared word by word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitset {
    words: Vec<u64>,
    len: usize,
}

impl Bitset {
    /// Creates the empty set.
    pub fn empty(len: usize) -> Bitset {
        Bitset { words: vec![0; len.div_ceil(64)], len }
    }

    /// Creates the set `0..len`.
    pub fn full(len: usize) -> Bitset {
        let mut set = Bitset { words: vec![u64::MAX; len.div_ceil(64)], len };
        if !len.is_multiple_of(64)
            && let Some(last) = set.words.last_mut()
        {
            *last = (1 << (len % 64)) - 1;
        }
        set
    }

    /// Creates the set `{0, .., n - 1}`.
    pub fn first(n: usize, len: usize) -> Bitset {
        let mut set = Bitset::full(n);
        set.words.resize(len.div_ceil(64), 0);
        set.len = len;
        set
    }

    /// Returns the members for which `test` is true; it is called in increasing order.
    pub fn filter(&self, mut test: impl FnMut(usize) -> bool) -> Bitset {
        let mut set = Bitset::empty(self.len);
        for (index, &word) in self.words.iter().enumerate() {
            let (mut rest, mut kept) = (word, 0);
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                kept |= u64::from(test(index * 64 + bit as usize)) << bit;
            }
            set.words[index] = kept;
        }
        set
    }

    /// Returns the members for which `test` is true. Several threads call it if the set is large enough
    /// ([`Jobs::labelling`]); each passes its own value, created by `start`.
    pub(crate) fn filter_shared<T>(
        &self,
        jobs: &Jobs,
        start: impl Fn() -> T + Sync,
        test: impl Fn(&mut T, usize) -> Result<bool, Stop> + Sync,
    ) -> Result<Bitset, Stop> {
        let mut set = Bitset::empty(self.len);
        // Blocks of equal length may have different numbers of members, so each thread gets several.
        let block =
            if jobs.labelling(self.len).is_some() { jobs.block(self.words.len()) } else { self.words.len() };
        let mut blocks: Vec<&mut [u64]> = set.words.chunks_mut(block.max(1)).collect();
        jobs.each(self.len, &mut blocks, |block_index, kept| {
            let mut own = start();
            for (index, kept) in (block_index * block..).zip(kept.iter_mut()) {
                let mut rest = self.words[index];
                while rest != 0 {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    *kept |= u64::from(test(&mut own, index * 64 + bit as usize)?) << bit;
                }
            }
            Ok(())
        })?;
        Ok(set)
    }

    /// Returns the maximum number of members.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether `member` is in the set.
    #[inline]
    pub fn contains(&self, member: usize) -> bool {
        self.words[member / 64] >> (member % 64) & 1 == 1
    }

    /// Adds a member; returns whether it is new.
    #[inline]
    pub fn insert(&mut self, member: usize) -> bool {
        let (word, bit) = (&mut self.words[member / 64], 1 << (member % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Removes a member.
    #[inline]
    pub fn remove(&mut self, member: usize) {
        self.words[member / 64] &= !(1 << (member % 64));
    }

    /// Whether the set has no member.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// Returns the number of members.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether all members are in the other set.
    pub fn is_subset(&self, other: &Bitset) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Returns the members in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)))
                .take_while(|&w| w != 0)
                .map(move |w| index * 64 + w.trailing_zeros() as usize)
        })
    }

    /// `self ∩ other`
    pub fn and(mut self, other: &Bitset) -> Bitset {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
        self
    }

    /// `self ∪ other`
    pub fn or(mut self, other: &Bitset) -> Bitset {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
        self
    }

    /// `self ∖ other`
    pub fn minus(mut self, other: &Bitset) -> Bitset {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= !b);
        self
    }

    /// Returns the members of exactly one of both sets.
    pub fn xor(mut self, other: &Bitset) -> Bitset {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a ^= b);
        self
    }

    /// Returns the members as bits, 64 per word, the least first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Creates a set from the result of [`Bitset::words`]; `None` if its length is not `len`.
    pub fn from_words(words: Vec<u64>, len: usize) -> Option<Bitset> {
        let set = Bitset { words, len };
        let is_sound = set.words.len() == len.div_ceil(64) && set.is_subset(&Bitset::full(len));
        is_sound.then_some(set)
    }

    /// Returns the memory of the set, in bytes.
    pub fn bytes(&self) -> u64 {
        self.words.capacity() as u64 * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_awkward_sizes() {
        for len in [0, 1, 63, 64, 65, 200] {
            let full = Bitset::full(len);
            assert_eq!(full.count(), len);
            assert_eq!(full.iter().collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
            assert_eq!(full.clone().minus(&full), Bitset::empty(len));
            let thirds = full.filter(|i| i % 3 == 0);
            assert!(thirds.is_subset(&full) && (0..len).all(|i| thirds.contains(i) == (i % 3 == 0)));
            assert_eq!(
                Bitset::first(len / 2, len).iter().collect::<Vec<_>>(),
                (0..len / 2).collect::<Vec<_>>()
            );
        }
    }
}
