//! Tables for what reads only a few bits of a row.
//!
//! Most protocols and most units read a handful of bits: an agent's own variables, one or two
//! actions. These are gathered into a small number, and what was once computed for that number is
//! looked up ever after. On `dc 14 sum` that leaves one unit of thirty to be evaluated.
//!
//! Up to ten bits index an array. More bits, up to 32, index a hash table of limited size; that pays only
//! where evaluation is slow, as in games whose lines list dozens of moves.

use rustc_hash::FxHashMap;

use crate::layout::Field;

/// Maximum number of bits that index an array.
const MAX_ARRAY_BITS: u32 = 10;
/// Maximum number of entries in a hash table.
const MAX_HASHED: usize = if cfg!(test) { 8 } else { 1 << 14 };

/// Which bits of a row to gather, in runs of neighbours.
#[derive(Debug)]
pub(crate) struct Gather {
    runs: Box<[Run]>,
    n_bits: u32,
}

#[derive(Debug)]
struct Run {
    word: u32,
    shift: u32,
    mask: u64,
    place: u32,
}

impl Gather {
    /// Gathers these fields; none if they have more than `max_bits` bits.
    pub(crate) fn new(fields: impl IntoIterator<Item = Field>, max_bits: u32) -> Option<Gather> {
        let mut fields: Vec<Field> = fields.into_iter().filter(|field| field.mask != 0).collect();
        fields.sort_unstable();
        fields.dedup();
        let mut runs: Vec<Run> = Vec::new();
        let mut n_bits = 0;
        for field in fields {
            let width = field.mask.count_ones();
            match runs.last_mut() {
                Some(run) if run.word == field.word && run.shift + run.mask.count_ones() == field.shift => {
                    run.mask |= field.mask << run.mask.count_ones();
                }
                _ => runs.push(Run { word: field.word, shift: field.shift, mask: field.mask, place: n_bits }),
            }
            n_bits += width;
            if n_bits > max_bits {
                return None;
            }
        }
        Some(Gather { runs: runs.into(), n_bits })
    }

    #[inline]
    fn index(&self, row: &[u64]) -> usize {
        let mut index = 0;
        for run in &self.runs {
            index |= ((row[run.word as usize] >> run.shift) & run.mask) << run.place;
        }
        index as usize
    }
}

/// What is known by the gathered bits; zero is not known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    entries: Vec<u32>,
    hashed: FxHashMap<u32, u32>,
}

impl Table {
    /// Where the entry for a row is, and the entry; none if there is no table.
    #[inline]
    pub(crate) fn look_up(&self, gather: Option<&Gather>, row: &[u64]) -> Option<(usize, u32)> {
        let gather = gather?;
        let index = gather.index(row);
        let entry = match gather.n_bits <= MAX_ARRAY_BITS {
            true => self.entries.get(index),
            false => self.hashed.get(&(index as u32)),
        };
        Some((index, entry.copied().unwrap_or(0)))
    }

    pub(crate) fn set(&mut self, gather: &Gather, index: usize, entry: u32) {
        if gather.n_bits > MAX_ARRAY_BITS {
            if self.hashed.len() < MAX_HASHED {
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
    fn neighbours_make_one_run() {
        let gather =
            Gather::new([field(0, 60, 2), field(0, 62, 2), field(1, 5, 3), field(0, 60, 2)], 10).unwrap();
        assert_eq!((gather.runs.len(), gather.n_bits), (2, 7));
        assert_eq!(gather.index(&[0b1101 << 60, 0b110 << 5]), 0b110_1101);
        assert!(Gather::new([field(0, 0, 6), field(1, 0, 6)], 10).is_none());
        assert_eq!(Gather::new([], 10).map(|gather| gather.index(&[7])), Some(0));
    }
}
