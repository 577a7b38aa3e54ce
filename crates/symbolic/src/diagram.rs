//! The set of reachable states as a diagram of plain nodes, independent of the library.
//!
//! Edges may be complemented, as in most packages: a reference is a node's number, negative for the
//! complement of the node's function. The edge for 1 is never complemented and no two nodes are
//! equal, so the form is unique for an order of the bits [BRB90].

use masque_model::{System, VarId};
use masque_verdict::{Budget, Early, Stats, Stop};
use rustc_hash::FxHashMap;

use crate::engine::Symbolic;
use crate::space::{FALSE, TRUE, Table};

/// The reference to the constant true; `-ONE` is the constant false.
pub const ONE: i64 = 1;

/// A set of states as a decision diagram with complemented edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// The bits of a state, from the top of the order.
    pub bits: Vec<DiagramBit>,
    /// The inner nodes, numbered 2, 3, .. in this order, each after its children.
    pub nodes: Vec<DiagramNode>,
    /// The reference to the function of the whole set.
    pub root: i64,
}

/// One bit of a variable's code: the index of its value in its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagramBit {
    /// The variable.
    pub variable: VarId,
    /// The exponent of the bit's weight, which is 2 to this power.
    pub power: u32,
}

/// An inner node, which tests a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiagramNode {
    /// Index of the bit in [`Diagram::bits`].
    pub bit: usize,
    /// The reference for a bit that is 1; always positive.
    pub high: i64,
    /// The reference for a bit that is 0.
    pub low: i64,
}

impl Symbolic {
    /// Computes the reachable states of a system.
    pub fn reachable_diagram(&self, system: &System, budget: &Budget) -> Result<Diagram, Stop> {
        let built = self.build(system, &mut Early::deaf(), budget, &mut Stats::default())?;
        let (layout, space) = (&built.encoder.layout, &built.encoder.space);
        let mut bits = Vec::new();
        for variable in system.variable_ids() {
            let own = &layout.variables[variable.index()].current;
            for (power, &bit) in (0..own.len() as u32).rev().zip(own) {
                bits.push((space.level(bit), bit, DiagramBit { variable, power }));
            }
        }
        bits.sort_unstable_by_key(|(level, ..)| *level);
        let indices = bits.iter().enumerate().map(|(index, (_, bit, _))| (*bit, index));
        let indices: FxHashMap<u32, usize> = indices.collect();
        let mut diagram =
            Diagram { bits: bits.iter().map(|(.., bit)| *bit).collect(), nodes: Vec::new(), root: -ONE };
        let mut numbers: FxHashMap<DiagramNode, i64> = FxHashMap::default();
        // In the table a function and its complement have two nodes; here they have one.
        let mut references = vec![0; 2];
        (references[FALSE], references[TRUE]) = (-ONE, ONE);
        for (bit, [high, low]) in Table::new(&built.reachable).nodes {
            let sign = references[high].signum();
            let node = DiagramNode {
                bit: indices[&bit],
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
    /// Returns whether a valuation of the bits, in their order, is in the set.
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
