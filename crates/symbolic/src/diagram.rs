//! The reachable set as a diagram that others can read: plain nodes, nothing of the library.
//!
//! Edges may be complemented, as in most packages: a reference is a node's number, negative for the
//! complement of what the node stands for. The edge for 1 is never complemented and no two nodes are
//! equal, so the form is unique for an order of the bits [BRB90].

use masque_model::{System, VarId};
use masque_verdict::{Budget, Early, Stats, Stop};
use rustc_hash::FxHashMap;

use crate::engine::Symbolic;
use crate::space::{FALSE, TRUE, Table};

/// The reference to the node that is always true; its complement is never true.
pub const ONE: i64 = 1;

/// A set of states as a decision diagram with complemented edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// The bits of a state, from the top of the order.
    pub bits: Vec<DiagramBit>,
    /// The nodes below which nothing is left out: number 2, 3, .. in this order, each after those it
    /// leads to.
    pub nodes: Vec<DiagramNode>,
    /// What the whole stands for.
    pub root: i64,
}

/// One bit of a variable's code: the position of its value in its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagramBit {
    /// The variable.
    pub variable: VarId,
    /// The bit's weight is 2 to this power.
    pub power: u32,
}

/// A node: where a bit leads if it is 1 and if it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiagramNode {
    /// The bit's position in [`Diagram::bits`].
    pub bit: usize,
    /// If it is 1; positive.
    pub high: i64,
    /// If it is 0.
    pub low: i64,
}

impl Symbolic {
    /// The reachable states of a system.
    pub fn reachable_diagram(&self, system: &System, budget: &Budget) -> Result<Diagram, Stop> {
        let built = self.built(system, &mut Early::deaf(), budget, &mut Stats::default())?;
        let (layout, space) = (&built.encoder.layout, &built.encoder.space);
        let mut placed = Vec::new();
        for variable in system.variable_ids() {
            let bits = &layout.variables[variable.index()].current;
            for (power, &bit) in (0..bits.len() as u32).rev().zip(bits) {
                placed.push((space.level(bit), bit, DiagramBit { variable, power }));
            }
        }
        placed.sort_unstable_by_key(|(level, ..)| *level);
        let positions = placed.iter().enumerate().map(|(position, (_, bit, _))| (*bit, position));
        let positions: FxHashMap<u32, usize> = positions.collect();
        let mut diagram =
            Diagram { bits: placed.iter().map(|(.., bit)| *bit).collect(), nodes: Vec::new(), root: -ONE };
        let mut numbers: FxHashMap<DiagramNode, i64> = FxHashMap::default();
        // The table has a place for a function and one for its complement: here they are one node.
        let mut references = vec![0; 2];
        (references[FALSE], references[TRUE]) = (-ONE, ONE);
        for (bit, [high, low]) in Table::new(&built.reachable).nodes {
            let sign = references[high].signum();
            let node = DiagramNode {
                bit: positions[&bit],
                high: references[high] * sign,
                low: references[low] * sign,
            };
            let number = *numbers.entry(node).or_insert_with(|| {
                diagram.nodes.push(node);
                diagram.nodes.len() as i64 + ONE
            });
            references.push(number * sign);
        }
        diagram.root = match references.len() {
            2 if built.reachable.is_all() => ONE,
            2 => -ONE,
            n => references[n - 1],
        };
        Ok(diagram)
    }
}

impl Diagram {
    /// Whether a valuation of the bits, in their order, is in the set.
    pub fn contains(&self, valuation: &[bool]) -> bool {
        let mut reference = self.root;
        while reference.abs() != ONE {
            let node = self.nodes[reference.unsigned_abs() as usize - 2];
            let next = if valuation[node.bit] { node.high } else { node.low };
            reference = next * reference.signum();
        }
        reference == ONE
    }
}
