//! A set of states in the text format DDDMP-2.0, which CUDD and OxiDD load.
//!
//! Variables are the bits of the model's variables, named `Agent.variable`, and with `.k` for the bit
//! of weight 2^k where there are several. The code of a value is its index in the domain.

use std::io::{self, Write};

use masque_driver::{Diagram, DiagramBit, ONE, System};

/// Writes a diagram; `name` is its name in the file.
pub fn dddmp(out: &mut dyn Write, system: &System, diagram: &Diagram, name: &str) -> io::Result<()> {
    let Diagram { bits, nodes, root } = diagram;
    let mut is_used = vec![false; bits.len()];
    nodes.iter().for_each(|node| is_used[node.bit] = true);
    let support: Vec<usize> = (0..bits.len()).filter(|&bit| is_used[bit]).collect();
    let names: Vec<String> = bits.iter().map(|bit| bit_name(system, bit)).collect();
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(" ");
    writeln!(out, ".ver DDDMP-2.0\n.mode A\n.varinfo 0")?;
    writeln!(out, ".dd {}", name.replace(char::is_whitespace, "_"))?;
    writeln!(out, ".nnodes {}\n.nvars {}\n.nsuppvars {}", nodes.len() + 1, bits.len(), support.len())?;
    if !support.is_empty() {
        writeln!(out, ".suppvarnames {}", list(&mut support.iter().map(|&bit| names[bit].clone())))?;
    }
    writeln!(out, ".orderedvarnames {}", names.join(" "))?;
    // Bits are numbered in the variable order, so ids and positions in the order are equal.
    let ids = list(&mut support.iter().map(usize::to_string));
    writeln!(out, ".ids {ids}\n.permids {ids}\n.nroots 1\n.rootids {root}\n.nodes")?;
    writeln!(out, "{ONE} T 1 0 0")?;
    for (number, node) in (ONE + 1..).zip(nodes) {
        let index = support.partition_point(|&bit| bit < node.bit);
        writeln!(out, "{number} {} {index} {} {}", node.bit, node.high, node.low)?;
    }
    writeln!(out, ".end")
}

fn bit_name(system: &System, bit: &DiagramBit) -> String {
    let name = system.full_name(bit.variable);
    match system.variable(bit.variable).domain.bits() {
        1 => name,
        _ => format!("{name}.{}", bit.power),
    }
}
