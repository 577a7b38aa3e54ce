//! The enabled lines of a protocol or a unit: guards, indexed by the values that they compare with.
//!
//! The lines of an agent often differ only in the constants they compare the same variables and
//! actions with (`cards = c7 and player.Action = swap`, for ten thousand values of 7). So lines are
//! grouped by the bits that they compare, and within a group found by a hash of the values. The
//! remaining lines are grouped by the bits that most of them compare, for example the action of an agent.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use masque_model::ExprId;

use crate::code::{Code, Memory, Program, TRUE};
use crate::compile::Compiler;
use crate::emit::Guard;
use crate::layout::{Field, Layout};
use crate::store::hash_words;

/// Numbered lines, each with a condition.
#[derive(Debug)]
pub(crate) struct Guards {
    groups: Vec<Group>,
}

/// Lines that compare the same bits.
#[derive(Debug)]
struct Group {
    /// Index of each compared word, and the mask of the compared bits.
    bits: Box<[(u32, u64)]>,
    /// Values of those bits, one per word, for each line, in increasing order.
    values: Vec<u64>,
    /// The first of the lines with the same values, found by these.
    starts: HashTable<u32>,
    lines: Vec<GuardedLine>,
}

#[derive(Debug)]
struct GuardedLine {
    number: u32,
    /// Further bits that it compares: word, mask and value.
    key: Box<[(u32, u64, u64)]>,
    /// The rest of the condition.
    rest: Program,
}

/// Guards with the numbers of their lines.
type Numbered = Vec<(u32, Guard)>;

/// Maximum number of lines of a group that is searched line by line.
const MAX_LINEAR_SEARCH: usize = if cfg!(test) { 2 } else { 8 };

/// Maximum number of groups made of lines that share only some of the bits they compare.
const MAX_SHARED_GROUPS: usize = 16;

impl Guards {
    /// Compiles the conditions of lines. Lines that are never enabled are left out.
    pub(crate) fn new(compiler: &mut Compiler<'_, '_>, conditions: impl Iterator<Item = ExprId>) -> Guards {
        let guards = (0..).zip(conditions).filter_map(|(line, c)| Some((line, compiler.guard(c)?)));
        let mut by_bits: BTreeMap<Box<[(u32, u64)]>, Numbered> = BTreeMap::new();
        for (line, guard) in guards {
            let bits = guard.key.iter().map(|&(word, mask, _)| (word, mask)).collect();
            by_bits.entry(bits).or_default().push((line, guard));
        }
        let mut groups = Vec::new();
        let mut scattered = Vec::new();
        for (bits, lines) in by_bits {
            if lines.len() <= MAX_LINEAR_SEARCH {
                scattered.extend(lines);
            } else {
                groups.push(Group::new(&bits, lines));
            }
        }
        for _ in 0..MAX_SHARED_GROUPS {
            let bits = most_compared(compiler, &scattered);
            let (sharing, others): (Vec<_>, Vec<_>) =
                scattered.into_iter().partition(|(_, guard)| compares(guard, &bits));
            scattered = others;
            if sharing.len() <= MAX_LINEAR_SEARCH || bits.is_empty() {
                scattered.extend(sharing);
                break;
            }
            groups.push(Group::new(&bits, sharing));
        }
        groups.push(Group::new(&[], scattered));
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
            let (first, last) =
                if group.lines.len() > MAX_LINEAR_SEARCH { group.range(row) } else { (0, group.lines.len()) };
            for index in first..last {
                let values = group.values_of(index);
                let GuardedLine { number, key, rest } = &group.lines[index];
                let matches =
                    group.bits.iter().zip(values).all(|((word, mask), v)| row[*word as usize] & mask == *v)
                        && key.iter().all(|(word, mask, value)| row[*word as usize] & mask == *value);
                if matches && (rest.start == TRUE || code.is_true(rest, layout, row, memory)) {
                    found(*number, memory);
                }
            }
        }
    }

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
            let is_known = group.bits.iter().all(|(word, mask)| mask & !known[*word as usize] == 0);
            let (first, last) = if is_known { group.range(row) } else { (0, group.lines.len()) };
            for index in first..last {
                let line = &group.lines[index];
                let shared = group.bits.iter().zip(group.values_of(index));
                let key = shared
                    .map(|((word, mask), value)| (*word, *mask, *value))
                    .chain(line.key.iter().copied());
                let is_possible = |(word, mask, value): (u32, u64, u64)| {
                    (row[word as usize] ^ value) & mask & known[word as usize] == 0
                };
                if !key.clone().all(is_possible) {
                    continue;
                }
                if line.rest.start != TRUE {
                    return false;
                }
                let mut compared = 0;
                let mut code = 0;
                for (_, mask, value) in key.filter(|(word, ..)| *word == field.word) {
                    compared |= mask & field.bits();
                    code |= (value & field.bits()) >> field.shift;
                }
                match compared {
                    0 => {}
                    all if all == field.bits() => values.push(code as u32),
                    _ => return false,
                }
            }
        }
        true
    }
}

impl Group {
    /// Creates a group of lines that all compare these bits.
    fn new(bits: &[(u32, u64)], lines: Numbered) -> Group {
        let shared = |word: u32| bits.iter().find(|(other, _)| *other == word).map_or(0, |(_, mask)| *mask);
        let mut lines: Vec<(Vec<u64>, GuardedLine)> = lines
            .into_iter()
            .map(|(number, guard)| {
                let values = guard.key.iter().filter(|(word, ..)| shared(*word) != 0);
                let values = values.map(|(word, _, value)| value & shared(*word)).collect();
                let key = guard.key.iter().map(|&(word, mask, value)| {
                    let own = mask & !shared(word);
                    (word, own, value & own)
                });
                let key = key.filter(|(_, mask, _)| *mask != 0).collect();
                (values, GuardedLine { number, key, rest: guard.rest })
            })
            .collect();
        lines.sort_by(|a, b| (&a.0, a.1.number).cmp(&(&b.0, b.1.number)));
        let hash_of = |line: usize| hash_words(lines[line].0.iter().copied());
        let mut starts = HashTable::new();
        for start in 0..lines.len() {
            if start == 0 || lines[start - 1].0 != lines[start].0 {
                starts.insert_unique(hash_of(start), start as u32, |&other| hash_of(other as usize));
            }
        }
        Group {
            bits: bits.into(),
            values: lines.iter().flat_map(|(values, _)| values).copied().collect(),
            starts,
            lines: lines.into_iter().map(|(_, line)| line).collect(),
        }
    }

    /// Returns the lines whose values are those in the row, as start and (exclusive) end.
    fn range(&self, row: &[u64]) -> (usize, usize) {
        let wanted = || self.bits.iter().map(|(word, mask)| row[*word as usize] & mask);
        let is_wanted = |line: usize| self.values_of(line).iter().copied().eq(wanted());
        let Some(&start) = self.starts.find(hash_words(wanted()), |&start| is_wanted(start as usize)) else {
            return (0, 0);
        };
        let start = start as usize;
        let n_others = (start + 1..self.lines.len()).take_while(|&line| is_wanted(line)).count();
        (start, start + 1 + n_others)
    }

    fn values_of(&self, line: usize) -> &[u64] {
        let width = self.bits.len();
        &self.values[line * width..][..width]
    }
}

/// Returns the bits that most lines compare, by word; if they include an agent's action, only its bits.
fn most_compared(compiler: &Compiler<'_, '_>, lines: &[(u32, Guard)]) -> Vec<(u32, u64)> {
    let mut counts: BTreeMap<u32, [u32; 64]> = BTreeMap::new();
    for &(word, mask, _) in lines.iter().flat_map(|(_, guard)| &guard.key) {
        let counts = counts.entry(word).or_insert([0; 64]);
        (0..64).filter(|bit| mask >> bit & 1 == 1).for_each(|bit| counts[bit] += 1);
    }
    let most = counts.values().flatten().copied().max().unwrap_or(0);
    let bits = counts.iter().map(|(word, counts)| {
        (*word, (0..64).filter(|bit| counts[*bit] == most).fold(0, |mask, bit| mask | 1 << bit))
    });
    let bits: Vec<(u32, u64)> = bits.filter(|(_, mask)| *mask != 0).collect();
    // One agent's action is chosen before those of others, so comparing it first excludes lines early.
    let mut actions = compiler.system.agent_ids().map(|agent| compiler.layout.action(agent));
    let is_compared = |field: &Field| {
        let has_field = |(word, mask): &(u32, u64)| *word == field.word && field.bits() & !mask == 0;
        field.mask != 0 && bits.iter().any(has_field)
    };
    actions.find(is_compared).map(|field| vec![(field.word, field.bits())]).unwrap_or(bits)
}

/// Whether a guard compares all these bits.
fn compares(guard: &Guard, bits: &[(u32, u64)]) -> bool {
    bits.iter()
        .all(|(word, mask)| guard.key.iter().any(|(other, own, _)| other == word && own & mask == *mask))
}
