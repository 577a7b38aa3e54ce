//! A diagram as plain nodes, which belong to no space.

use oxidd_core::function::BooleanFunction;
use rustc_hash::FxHashMap;

use super::{Bit, Limited, Set, Space, top_bit};
use crate::kernel::Diagram;

/// A diagram as a table of nodes, each after those it leads to.
pub(crate) struct Table {
    /// The bit a node asks for, and where it leads if that is 1 and if it is 0.
    pub(crate) nodes: Vec<(Bit, [usize; 2])>,
    /// Which bits some node asks for, as far as there are any.
    bits: Vec<bool>,
    /// What it is if there are no nodes.
    constant: usize,
}

/// Places of the terminals in a [`Table`]; inner nodes come after them.
pub(crate) const FALSE: usize = 0;
pub(crate) const TRUE: usize = 1;

impl Table {
    pub(crate) fn new(a: &Set) -> Table {
        let constant = if a.is_all() { TRUE } else { FALSE };
        let mut table = Table { nodes: Vec::new(), bits: Vec::new(), constant };
        let mut places: FxHashMap<Diagram, usize> = FxHashMap::default();
        let mut open = vec![a.0.clone()];
        while let Some(f) = open.last() {
            let (Some((high, low)), Some(bit)) = (f.cofactors(), top_bit(f)) else {
                let place = if f.valid() { TRUE } else { FALSE };
                places.insert(f.clone(), place);
                open.pop();
                continue;
            };
            match (places.get(&high), places.get(&low)) {
                (Some(&high), Some(&low)) => {
                    let place = table.nodes.len() + 2;
                    if let Some(f) = open.pop()
                        && !places.contains_key(&f)
                    {
                        places.insert(f, place);
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

    /// Where the whole begins.
    fn root(&self) -> usize {
        match self.nodes.len() {
            0 => self.constant,
            n => n + 1,
        }
    }

    /// Where a node leads with these bits: to one that asks for a bit that is not fixed, or to a
    /// terminal.
    fn follow(&self, mut place: usize, fixed: &[Option<bool>]) -> usize {
        while let Some((bit, [high, low])) = place.checked_sub(2).map(|i| self.nodes[i]) {
            place = match fixed[bit as usize] {
                Some(true) => high,
                Some(false) => low,
                None => break,
            };
        }
        place
    }

    /// Whether a valuation is inside; all bits that some node asks for are fixed.
    pub(crate) fn contains(&self, fixed: &[Option<bool>]) -> bool {
        self.follow(self.root(), fixed) == TRUE
    }

    /// The values of the free bits for which a valuation is inside, false before true; none if there
    /// are more than so many. All other bits that some node asks for are fixed, and the free ones
    /// stand in the order of the levels.
    pub(crate) fn valuations(
        &self,
        fixed: &[Option<bool>],
        free: &[Bit],
        most: usize,
    ) -> Option<Vec<Vec<bool>>> {
        let mut found = Vec::new();
        let mut open: Vec<(usize, Vec<bool>)> = vec![(self.root(), Vec::new())];
        while let Some((place, values)) = open.pop() {
            let place = self.follow(place, fixed);
            if place == FALSE {
                continue;
            }
            let Some(&bit) = free.get(values.len()) else {
                if found.len() == most {
                    return None;
                }
                found.push(values);
                continue;
            };
            let [high, low] = match place.checked_sub(2).map(|i| self.nodes[i]) {
                Some((asked, next)) if asked == bit => next,
                // Whatever the bit is.
                _ => [place, place],
            };
            for (next, value) in [(high, true), (low, false)] {
                if next != FALSE {
                    open.push((next, [&values[..], &[value]].concat()));
                }
            }
        }
        Some(found)
    }

    pub(super) fn asks_for(&self, bit: Bit) -> bool {
        self.bits.get(bit as usize).copied().unwrap_or(false)
    }

    /// Whether the last node, the root, leads to true when some bits are fixed.
    pub(super) fn is_satisfiable(&self, fixed: &[Option<bool>]) -> bool {
        let mut leads_to_true = vec![false; self.nodes.len() + 2];
        leads_to_true[TRUE] = true;
        for (place, (bit, [high, low])) in (2..).zip(&self.nodes) {
            leads_to_true[place] = match fixed[*bit as usize] {
                Some(true) => leads_to_true[*high],
                Some(false) => leads_to_true[*low],
                None => leads_to_true[*high] || leads_to_true[*low],
            };
        }
        leads_to_true.last().copied().unwrap_or(false)
    }
}

impl Space {
    /// The set that a table of this space's bits stands for. Nodes are made from the bottom up: if
    /// the bits have the same order here, each takes a step or two.
    pub(super) fn read(&self, table: &Table) -> Limited<Set> {
        let mut sets = vec![self.none(), self.all()];
        for &(bit, [high, low]) in &table.nodes {
            sets.push(self.ite(&self.bit(bit, true)?, &sets[high], &sets[low])?);
        }
        Ok(sets.swap_remove(table.root()))
    }
}
