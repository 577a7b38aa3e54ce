//! Which of many lines apply: guards, indexed by the values they ask for.
//!
//! The lines of an agent often differ only in the constants they compare the same variables and
//! actions with (`cards = c7 and player.Action = swap`, for ten thousand values of 7). So lines are
//! grouped by *what* they compare, and within a group found by *the values*, in one search.

use masque_model::ExprId;

use crate::code::{Code, Memory, Program, TRUE};
use crate::compile::Compiler;
use crate::emit::Guard;
use crate::layout::{Field, Layout};

/// Numbered lines, each with a condition.
#[derive(Debug)]
pub(crate) struct Guards {
    groups: Vec<Group>,
}

/// The lines that compare the same bits.
#[derive(Debug)]
struct Group {
    /// The words compared and which of their bits.
    bits: Box<[(u32, u64)]>,
    /// For each line, in increasing order: the values of those bits, one per word.
    values: Vec<u64>,
    /// For each line, its number and what else must be true.
    lines: Vec<(u32, Program)>,
}

/// Groups up to this size are searched line by line.
const SHORT: usize = 8;

impl Guards {
    /// Lines that are never enabled are left out.
    pub(crate) fn new(compiler: &mut Compiler<'_, '_>, conditions: impl Iterator<Item = ExprId>) -> Guards {
        let mut guards: Vec<(u32, Guard)> =
            (0..).zip(conditions).filter_map(|(line, c)| Some((line, compiler.guard(c)?))).collect();
        let bits =
            |guard: &Guard| guard.key.iter().map(|&(word, mask, _)| (word, mask)).collect::<Box<[_]>>();
        let values = |guard: &Guard| guard.key.iter().map(|&(_, _, value)| value).collect::<Box<[_]>>();
        guards.sort_by_cached_key(|(line, guard)| (bits(guard), values(guard), *line));
        let mut groups: Vec<Group> = Vec::new();
        for (line, guard) in guards {
            let bits = bits(&guard);
            if groups.last().is_none_or(|group| group.bits != bits) {
                groups.push(Group { bits, values: Vec::new(), lines: Vec::new() });
            }
            if let Some(group) = groups.last_mut() {
                group.values.extend(values(&guard));
                group.lines.push((line, guard.rest));
            }
        }
        Guards { groups }
    }

    /// Calls `found` with the number of each line whose condition is true in a row.
    #[inline]
    pub(crate) fn each_enabled(
        &self,
        code: &Code<'_>,
        layout: &Layout,
        row: &[u64],
        memory: &mut Memory,
        mut found: impl FnMut(u32, &mut Memory),
    ) {
        for group in &self.groups {
            let width = group.bits.len();
            let (first, last) =
                if group.lines.len() > SHORT { group.range(row) } else { (0, group.lines.len()) };
            for position in first..last {
                let values = &group.values[position * width..][..width];
                let (line, rest) = &group.lines[position];
                let matches =
                    group.bits.iter().zip(values).all(|((word, mask), v)| row[*word as usize] & mask == *v);
                if matches && (rest.start == TRUE || code.is_true(rest, layout, row, memory)) {
                    found(*line, memory);
                }
            }
        }
    }
}

impl Guards {
    /// Appends the values of a field for which some line may still be enabled, given the bits of the row
    /// that are `known`. Returns false if other values may matter too.
    pub(crate) fn possible_values(
        &self,
        row: &[u64],
        known: &[u64],
        field: Field,
        values: &mut Vec<u32>,
    ) -> bool {
        for group in &self.groups {
            let width = group.bits.len();
            let position =
                group.bits.iter().position(|(word, mask)| *word == field.word && mask & field.bits() != 0);
            for (number, (_, rest)) in group.lines.iter().enumerate() {
                let keys = &group.values[number * width..][..width];
                let is_possible = group.bits.iter().zip(keys).all(|((word, mask), value)| {
                    (row[*word as usize] ^ value) & mask & known[*word as usize] == 0
                });
                if !is_possible {
                    continue;
                }
                match position {
                    Some(position)
                        if rest.start == TRUE && group.bits[position].1 & field.bits() == field.bits() =>
                    {
                        values.push(((keys[position] >> field.shift) & field.mask) as u32);
                    }
                    None if rest.start == TRUE => {}
                    _ => return false,
                }
            }
        }
        true
    }
}

impl Group {
    /// The lines whose values are those in the row: from, and up to but not including.
    fn range(&self, row: &[u64]) -> (usize, usize) {
        let width = self.bits.len();
        let order = |position: usize| {
            let values = &self.values[position * width..][..width];
            let wanted = self.bits.iter().map(|(word, mask)| row[*word as usize] & mask);
            values.iter().copied().cmp(wanted)
        };
        let bound = |is_before: fn(std::cmp::Ordering) -> bool| {
            let (mut low, mut high) = (0, self.lines.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if is_before(order(middle)) { low = middle + 1 } else { high = middle }
            }
            low
        };
        (bound(std::cmp::Ordering::is_lt), bound(std::cmp::Ordering::is_le))
    }
}
