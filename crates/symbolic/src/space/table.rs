//! Diagrams as plain tables of nodes, which belong to no space.

use oxidd_core::function::BooleanFunction;
use rustc_hash::FxHashMap;

use super::{Bit, Limited, Set, Space, top_bit};
use crate::kernel::Diagram;

/// A diagram as a table of nodes, each after its children.
pub(crate) struct Table {
    /// The bit that each inner node tests, and the indices of its children for 1 and for 0.
    pub(crate) nodes: Vec<(Bit, [usize; 2])>,
    /// For each bit, up to the largest one that occurs, whether some node tests it.
    bits: Vec<bool>,
    /// Index of the terminal that is the whole diagram if there are no inner nodes.
    constant: usize,
}

/// Indices of the terminals in a [`Table`]; inner node `i` of `nodes` has index `i + 2`.
pub(crate) const FALSE: usize = 0;
pub(crate) const TRUE: usize = 1;

impl Table {
    pub(crate) fn new(a: &Set) -> Table {
        let constant = if a.is_all() { TRUE } else { FALSE };
        let mut table = Table { nodes: Vec::new(), bits: Vec::new(), constant };
        let mut indices: FxHashMap<Diagram, usize> = FxHashMap::default();
        let mut open = vec![a.0.clone()];
        while let Some(f) = open.last() {
            let (Some((high, low)), Some(bit)) = (f.cofactors(), top_bit(f)) else {
                indices.insert(f.clone(), if f.valid() { TRUE } else { FALSE });
                open.pop();
                continue;
            };
            match (indices.get(&high), indices.get(&low)) {
                (Some(&high), Some(&low)) => {
                    let index = table.nodes.len() + 2;
                    if let Some(f) = open.pop()
                        && !indices.contains_key(&f)
                    {
                        indices.insert(f, index);
                        table.nodes.push((bit, [high, low]));
                        table.bits.resize(table.bits.len().max(bit as usize + 1), false);
                        table.bits[bit as usize] = true;
                    }
                }
                (known_high, known_low) => {
                    let (needs_high, needs_low) = (known_high.is_none(), known_low.is_none());
                    open.extend(needs_high.then_some(high));
                    open.extend(needs_low.then_some(low));
                }
            }
        }
        table
    }

    /// Returns the index of the root.
    fn root(&self) -> usize {
        match self.nodes.len() {
            0 => self.constant,
            n => n + 1,
        }
    }

    /// Follows the fixed bits from a node, down to a node that tests a bit that is not fixed, or to a
    /// terminal.
    fn follow(&self, mut index: usize, fixed: &[Option<bool>]) -> usize {
        while let Some((bit, [high, low])) = index.checked_sub(2).map(|i| self.nodes[i]) {
            index = match fixed[bit as usize] {
                Some(true) => high,
                Some(false) => low,
                None => break,
            };
        }
        index
    }

    /// Returns whether a valuation is in the set. All bits that some node tests must be fixed.
    pub(crate) fn contains(&self, fixed: &[Option<bool>]) -> bool {
        self.follow(self.root(), fixed) == TRUE
    }

    /// Returns the values of the free bits for which a valuation is in the set, in lexicographic order;
    /// `None` if there are more than `max`. All other bits that some node tests must be fixed, and the
    /// free bits are sorted by level.
    pub(crate) fn valuations(
        &self,
        fixed: &[Option<bool>],
        free: &[Bit],
        max: usize,
    ) -> Option<Vec<Vec<bool>>> {
        let mut found = Vec::new();
        let mut open: Vec<(usize, Vec<bool>)> = vec![(self.root(), Vec::new())];
        while let Some((index, values)) = open.pop() {
            let index = self.follow(index, fixed);
            if index == FALSE {
                continue;
            }
            let Some(&bit) = free.get(values.len()) else {
                if found.len() == max {
                    return None;
                }
                found.push(values);
                continue;
            };
            let [high, low] = match index.checked_sub(2).map(|i| self.nodes[i]) {
                Some((tested, children)) if tested == bit => children,
                // The set does not depend on the bit here.
                _ => [index, index],
            };
            for (next, value) in [(high, true), (low, false)] {
                if next != FALSE {
                    open.push((next, [&values[..], &[value]].concat()));
                }
            }
        }
        Some(found)
    }

    /// Returns whether some node tests a bit.
    pub(super) fn depends_on(&self, bit: Bit) -> bool {
        self.bits.get(bit as usize).copied().unwrap_or(false)
    }

    /// Returns whether the root leads to true when some bits are fixed.
    pub(super) fn is_satisfiable(&self, fixed: &[Option<bool>]) -> bool {
        let mut leads_to_true = vec![false; self.nodes.len() + 2];
        leads_to_true[TRUE] = true;
        for (index, (bit, [high, low])) in (2..).zip(&self.nodes) {
            leads_to_true[index] = match fixed[*bit as usize] {
                Some(true) => leads_to_true[*high],
                Some(false) => leads_to_true[*low],
                None => leads_to_true[*high] || leads_to_true[*low],
            };
        }
        leads_to_true.last().copied().unwrap_or(false)
    }
}

impl Space {
    /// Makes the set that a table of this space's bits stands for. Nodes are made from the bottom up: if
    /// the bits have the same order here, each node takes a step or two.
    pub(super) fn read(&self, table: &Table) -> Limited<Set> {
        let mut sets = vec![self.none(), self.all()];
        for &(bit, [high, low]) in &table.nodes {
            sets.push(self.ite(&self.bit(bit, true)?, &sets[high], &sets[low])?);
        }
        Ok(sets.swap_remove(table.root()))
    }
}
