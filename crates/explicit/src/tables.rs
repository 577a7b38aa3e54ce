//! Lookup tables for units and protocols that read only a few bits of a row.
//!
//! Most protocols and most units read only a few bits: an agent's own variables, one or two
//! actions. These bits are gathered into an index, and the result that was computed for that index is
//! looked up later. On `dc 14 sum` that leaves one unit of thirty to be evaluated.
//!
//! Up to 14 bits index an array. More bits, up to 32, index a hash table of limited size. More than ten
//! bits pay only where evaluation is slow, as in games whose lines list dozens of moves.

use rustc_hash::FxHashMap;

use crate::layout::Field;

/// Maximum number of bits that index an array.
const MAX_ARRAY_BITS: u32 = if cfg!(test) { 10 } else { 14 };
/// Maximum number of entries in a hash table.
const MAX_HASH_ENTRIES: usize = if cfg!(test) { 8 } else { 1 << 14 };

/// The bits of a row to gather, in stretches of adjacent bits.
#[derive(Debug)]
pub(crate) struct Gather {
    stretches: Box<[Stretch]>,
    n_bits: u32,
}

/// Adjacent bits of a word.
#[derive(Debug)]
struct Stretch {
    word: u32,
    shift: u32,
    mask: u64,
    /// Lowest bit of the stretch in the gathered index.
    target: u32,
}

impl Gather {
    /// Creates a gatherer of these fields; `None` if they have more than `max_bits` bits.
    pub(crate) fn new(fields: impl IntoIterator<Item = Field>, max_bits: u32) -> Option<Gather> {
        let mut fields: Vec<Field> = fields.into_iter().filter(|field| field.mask != 0).collect();
        fields.sort_unstable();
        fields.dedup();
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut n_bits = 0;
        for field in fields {
            let width = field.mask.count_ones();
            match stretches.last_mut() {
                Some(last)
                    if last.word == field.word && last.shift + last.mask.count_ones() == field.shift =>
                {
                    last.mask |= field.mask << last.mask.count_ones();
                }
                _ => {
                    let Field { word, shift, mask } = field;
                    stretches.push(Stretch { word, shift, mask, target: n_bits });
                }
            }
            n_bits += width;
            if n_bits > max_bits {
                return None;
            }
        }
        Some(Gather { stretches: stretches.into(), n_bits })
    }

    #[inline]
    fn index(&self, row: &[u64]) -> usize {
        let mut index = 0;
        for Stretch { word, shift, mask, target } in &self.stretches {
            index |= ((row[*word as usize] >> shift) & mask) << target;
        }
        index as usize
    }
}

/// Results by gathered bits. An entry of 0 means that the result is not known yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    entries: Vec<u32>,
    hashed: FxHashMap<u32, u32>,
}

impl Table {
    /// Returns the index of the entry for a row, and the entry; `None` if there is no table.
    #[inline]
    pub(crate) fn look_up(&self, gather: Option<&Gather>, row: &[u64]) -> Option<(usize, u32)> {
        let gather = gather?;
        let index = gather.index(row);
        let entry = if gather.n_bits <= MAX_ARRAY_BITS {
            self.entries.get(index)
        } else {
            self.hashed.get(&(index as u32))
        };
        Some((index, entry.copied().unwrap_or(0)))
    }

    pub(crate) fn set(&mut self, gather: &Gather, index: usize, entry: u32) {
        if gather.n_bits > MAX_ARRAY_BITS {
            if self.hashed.len() < MAX_HASH_ENTRIES {
                self.hashed.insert(index as u32, entry);
            }
            return;
        }
        if self.entries.is_empty() {
            self.entries = vec![0; 1 << gather.n_bits];
        }
        self.entries[index] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(word: u32, shift: u32, width: u32) -> Field {
        Field { word, shift, mask: (1 << width) - 1 }
    }

    #[test]
    fn adjacent_fields_make_one_stretch() {
        let gather =
            Gather::new([field(0, 60, 2), field(0, 62, 2), field(1, 5, 3), field(0, 60, 2)], 10).unwrap();
        assert_eq!((gather.stretches.len(), gather.n_bits), (2, 7));
        assert_eq!(gather.index(&[0b1101 << 60, 0b110 << 5]), 0b110_1101);
        assert!(Gather::new([field(0, 0, 6), field(1, 0, 6)], 10).is_none());
        assert_eq!(Gather::new([], 10).map(|gather| gather.index(&[7])), Some(0));
    }
}
