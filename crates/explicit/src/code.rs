//! Compiled conditions and numbers, and their evaluation on packed rows.
//!
//! A condition is a program of tests, each with a jump for true and one for false; so evaluation needs no
//! stack and skips tests that do not matter. A number is a sum
//! of multiples: of whole groups of one-bit fields at once (a population count), of other fields,
//! and of *cells*. A cell holds a value that several programs share, or one that is not such a sum; it
//! is computed at most once per state, or once per choice of actions if it depends on them.

use std::cmp::Ordering;

use masque_model::Relation;

use crate::exact::Exact;
use crate::layout::{Field, Layout};

/// One test of a row.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// Some bits of a word have this value: any number of `field = code` at once.
    Masked { word: u32, mask: u64, value: u64 },
    /// Some bits of a word have one of these values.
    MaskedIn { word: u32, mask: u64, values: Box<[u64]> },
    /// The masked bits of several words are those of one of these rows, in increasing order.
    RowsIn { bits: Box<[(u32, u64)]>, rows: Box<[u64]> },
    /// The code of a field is in a set of codes below 64.
    Small { field: Field, codes: u64 },
    /// The code of a field is in a set.
    Bitmap { field: Field, bits: Box<[u64]> },
    /// Two fields have the same code.
    SameCode { left: Field, right: Field },
    /// The code on the right is the image of the code on the left.
    Image { left: Field, right: Field, image: Box<[u32]> },
    /// A comparison of a number with a constant.
    Compare { linear: u32, relation: Relation, constant: i64 },
    /// A number is one of these, in increasing order.
    OneOf { linear: u32, constants: Box<[i64]> },
    /// A number is odd.
    Odd { linear: u32 },
    /// A cell is not zero.
    Cell(u32),
    /// A condition that is evaluated with exact rationals.
    Exact(u32),
}

/// A test and its two jumps.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) test: Test,
    pub(crate) yes: u32,
    pub(crate) no: u32,
}

/// The end of a program: the condition is true.
pub(crate) const TRUE: u32 = u32::MAX;
/// The end of a program: the condition is false.
pub(crate) const FALSE: u32 = u32::MAX - 1;
/// Entry of a table of codes for a value that overflows.
pub(crate) const NO_CODE: u32 = u32::MAX;

/// A condition.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) start: u32,
    /// The cells it reads and those they read, operands before users.
    pub(crate) cells: Box<[u32]>,
}

/// `constant + Σ popcount + Σ factor · code + Σ factor · cell`, known to fit 64 bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    pub(crate) constant: i64,
    pub(crate) counts: Box<[(u32, u64)]>,
    pub(crate) fields: Box<[(Field, i64)]>,
    pub(crate) cells: Box<[(u32, i64)]>,
}

/// Computation of a cell.
#[derive(Clone, Debug)]
pub(crate) enum CellKind {
    /// 1 if the program that starts here ends in `TRUE`, else 0.
    Truth(u32),
    Linear(u32),
    Product(Box<[u32]>),
    /// Euclidean remainder; the divisor is never zero.
    Modulo(u32, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) kind: CellKind,
    pub(crate) reads_actions: bool,
}

/// Computation of an assigned value. The result is a code of the target variable, or `None` if the value
/// overflows.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A constant.
    Fixed(Option<u64>),
    /// The code of another field.
    Copy(Field),
    /// A function of the code of another field; `NO_CODE` where it overflows.
    Table { field: Field, codes: Box<[u32]> },
    /// A number in the range `lo..=hi`, minus `lo`.
    Linear { linear: u32, lo: i64, hi: i64, cells: Box<[u32]> },
    /// A condition.
    Truth(Program),
    /// An expression that is evaluated with exact rationals, for this variable.
    Exact { exact: u32, target: masque_model::VarId },
}

/// Compiled conditions and numbers that share cells.
#[derive(Debug, Default)]
pub(crate) struct Code<'s> {
    pub(crate) branches: Vec<Branch>,
    pub(crate) linears: Vec<Linear>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) exacts: Vec<Exact<'s>>,
}

/// The values of the cells, with logical timestamps that say which are current.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    values: Vec<i64>,
    /// Time at which each cell was computed. A cell is current if that is not before the last change.
    computed: Vec<u64>,
    now: u64,
    state_changed: u64,
    actions_changed: u64,
}

impl Memory {
    pub(crate) fn new(code: &Code<'_>) -> Memory {
        let n_cells = code.cells.len();
        Memory {
            values: vec![0; n_cells],
            computed: vec![0; n_cells],
            now: 1,
            state_changed: 1,
            actions_changed: 1,
        }
    }

    /// Invalidates all cells, because the row holds another state.
    #[inline]
    pub(crate) fn change_state(&mut self) {
        self.now += 1;
        (self.state_changed, self.actions_changed) = (self.now, self.now);
    }

    /// Invalidates the cells that depend on actions, because the row holds other actions.
    #[inline]
    pub(crate) fn change_actions(&mut self) {
        self.now += 1;
        self.actions_changed = self.now;
    }
}

impl Code<'_> {
    /// Whether a condition is true in a row.
    #[inline]
    pub(crate) fn is_true(
        &self,
        program: &Program,
        layout: &Layout,
        row: &[u64],
        memory: &mut Memory,
    ) -> bool {
        self.compute(&program.cells, layout, row, memory);
        self.run(program.start, layout, row, memory)
    }

    /// Returns the code that a source gives in a row; `None` if the value overflows.
    #[inline]
    pub(crate) fn assigned(
        &self,
        source: &Source,
        layout: &Layout,
        row: &[u64],
        memory: &mut Memory,
    ) -> Option<u64> {
        match source {
            Source::Fixed(code) => *code,
            Source::Copy(field) => Some(field.get(row)),
            Source::Table { field, codes } => {
                let code = codes[field.get(row) as usize];
                (code != NO_CODE).then_some(u64::from(code))
            }
            Source::Linear { linear, lo, hi, cells } => {
                self.compute(cells, layout, row, memory);
                let value = self.number(*linear, row, memory);
                (*lo..=*hi).contains(&value).then(|| value.wrapping_sub(*lo) as u64)
            }
            Source::Truth(program) => Some(u64::from(self.is_true(program, layout, row, memory))),
            Source::Exact { exact, target } => self.exacts[*exact as usize].code(layout, row, *target),
        }
    }

    /// Computes those of these cells that are not current.
    #[inline]
    fn compute(&self, cells: &[u32], layout: &Layout, row: &[u64], memory: &mut Memory) {
        for &cell in cells {
            let index = cell as usize;
            let Cell { kind, reads_actions } = &self.cells[index];
            let changed = if *reads_actions { memory.actions_changed } else { memory.state_changed };
            if memory.computed[index] >= changed {
                continue;
            }
            memory.computed[index] = memory.now;
            memory.values[index] = match kind {
                CellKind::Truth(start) => i64::from(self.run(*start, layout, row, memory)),
                CellKind::Linear(linear) => self.number(*linear, row, memory),
                CellKind::Product(factors) => factors.iter().map(|&f| self.number(f, row, memory)).product(),
                CellKind::Modulo(a, b) => {
                    self.number(*a, row, memory).rem_euclid(self.number(*b, row, memory))
                }
            };
        }
    }

    #[inline]
    fn run(&self, start: u32, layout: &Layout, row: &[u64], memory: &Memory) -> bool {
        let mut index = start;
        while index < FALSE {
            let Branch { test, yes, no } = &self.branches[index as usize];
            index = if self.test(test, layout, row, memory) { *yes } else { *no };
        }
        index == TRUE
    }

    #[inline]
    fn test(&self, test: &Test, layout: &Layout, row: &[u64], memory: &Memory) -> bool {
        match test {
            Test::Masked { word, mask, value } => row[*word as usize] & mask == *value,
            Test::MaskedIn { word, mask, values } => {
                values.binary_search(&(row[*word as usize] & mask)).is_ok()
            }
            Test::RowsIn { bits, rows } => contains_row(bits, rows, row),
            Test::Small { field, codes } => codes >> field.get(row) & 1 == 1,
            Test::Bitmap { field, bits } => {
                let code = field.get(row);
                bits[(code / 64) as usize] >> (code % 64) & 1 == 1
            }
            Test::SameCode { left, right } => left.get(row) == right.get(row),
            Test::Image { left, right, image } => u64::from(image[left.get(row) as usize]) == right.get(row),
            Test::Compare { linear, relation, constant } => {
                relation.admits(self.number(*linear, row, memory).cmp(constant))
            }
            Test::OneOf { linear, constants } => {
                constants.binary_search(&self.number(*linear, row, memory)).is_ok()
            }
            Test::Odd { linear } => self.number(*linear, row, memory) & 1 == 1,
            Test::Cell(cell) => memory.values[*cell as usize] != 0,
            Test::Exact(exact) => self.exacts[*exact as usize].is_true(layout, row),
        }
    }

    #[inline]
    fn number(&self, linear: u32, row: &[u64], memory: &Memory) -> i64 {
        let Linear { constant, counts, fields, cells } = &self.linears[linear as usize];
        let mut sum = *constant;
        for (word, mask) in counts {
            sum += i64::from((row[*word as usize] & mask).count_ones());
        }
        for (field, factor) in fields {
            sum += factor * field.get(row) as i64;
        }
        for (cell, factor) in cells {
            sum += factor * memory.values[*cell as usize];
        }
        sum
    }
}

/// Whether the masked bits of `row` are one of `rows`, which are in increasing order.
fn contains_row(bits: &[(u32, u64)], rows: &[u64], row: &[u64]) -> bool {
    let width = bits.len();
    let (mut low, mut high) = (0, rows.len() / width);
    while low < high {
        let middle = low + (high - low) / 2;
        let wanted = bits.iter().map(|(word, mask)| row[*word as usize] & mask);
        match rows[middle * width..][..width].iter().copied().cmp(wanted) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return true,
            Ordering::Greater => high = middle,
        }
    }
    false
}
