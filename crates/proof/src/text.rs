//! The text of a certificate, and the table of its nodes.

use std::fmt::Write;

use masque_certificate::Certificate;
use masque_certificate::format::{Claim, FORMAT, Node, OPTIONS, Piece, Place, Ref};
use rustc_hash::FxHashMap;

/// The nodes of a certificate that is being written, each stored once.
#[derive(Clone, Debug, Default)]
pub struct NodeTable {
    /// The nodes, children first.
    pub nodes: Vec<Node>,
    index: FxHashMap<Node, u32>,
}

impl NodeTable {
    /// Returns the set that tests a bit; adds a node if it is new.
    pub fn node(&mut self, bit: u32, low: Ref, high: Ref) -> Ref {
        if low == high {
            return low;
        }
        let sign = high.0 & 1;
        let node = Node { bit, low: Ref(low.0 ^ sign), high: Ref(high.0 ^ sign) };
        let number = *self.index.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32
        });
        Ref(number << 1 | sign)
    }
}

/// Returns the text of a certificate, which `Certificate::parse` reads.
pub fn to_text(certificate: &Certificate) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: &str| {
        out.push_str(key);
        out.push(' ');
        out.push_str(value);
        out.push('\n');
    };
    line(FORMAT, "");
    line("model", &certificate.model);
    certificate.parameters.iter().for_each(|parameter| line("parameter", parameter));
    OPTIONS.iter().zip(&certificate.options).for_each(|(name, value)| line(name, value));
    line("verdict", if certificate.holds { "holds" } else { "fails" });
    line("title", &certificate.title);
    line("formula", &certificate.formula);
    for Place { is_action, name, power } in &certificate.order {
        line(if *is_action { "action" } else { "bit" }, &format!("{power} {name}"));
    }
    certificate.forward.iter().for_each(|part| line("forward", part));
    certificate.backward.iter().for_each(|part| line("backward", part));
    line("nodes", &certificate.nodes.len().to_string());
    for (index, Node { bit, low, high }) in certificate.nodes.iter().enumerate() {
        let text = |child: Ref| match child.0 >> 1 {
            0 => ref_text(child),
            // Children are often the last nodes before, so distances are shorter than numbers.
            n => format!("{}{}", if child.0 & 1 == 1 { "-" } else { "" }, index as u32 + 1 - n),
        };
        _ = writeln!(out, "{bit} {} {}", text(*low), text(*high));
    }
    _ = writeln!(out, "inv {}", ref_text(certificate.inv.unwrap_or(Ref::ALL)));
    _ = writeln!(out, "reached {}", refs(&certificate.reached));
    if let Some(fair) = &certificate.fair {
        _ = writeln!(out, "fair {}", claim_text(fair));
    }
    _ = writeln!(out, "claims {}", certificate.claims.len());
    for claim in &certificate.claims {
        _ = writeln!(out, "{}", claim_text(claim));
    }
    _ = writeln!(out, "root {}", number(certificate.root));
    out.push_str("end\n");
    out
}

fn ref_text(set: Ref) -> String {
    match (set.0 >> 1, set.0 & 1) {
        (0, 0) => "t".to_string(),
        (0, _) => "f".to_string(),
        (n, 0) => n.to_string(),
        (n, _) => format!("-{n}"),
    }
}

fn number(claim: Option<usize>) -> String {
    claim.map_or("-".to_string(), |claim| claim.to_string())
}

fn refs(list: &[Ref]) -> String {
    list.iter().copied().map(ref_text).collect::<Vec<_>>().join(",")
}

fn claim_text(claim: &Claim) -> String {
    let mut out = String::from("claim");
    let Claim { of, set, layers, recur, stages, pieces } = claim;
    if !of.is_empty() {
        let numbers: Vec<String> = of.iter().map(|claim| number(*claim)).collect();
        _ = write!(out, " of={}", numbers.join(","));
    }
    let sets = |out: &mut String, set: &Option<Ref>, layers: &[Ref]| {
        if let Some(set) = set {
            _ = write!(out, " set={}", ref_text(*set));
        }
        if !layers.is_empty() {
            _ = write!(out, " layers={}", refs(layers));
        }
    };
    sets(&mut out, set, layers);
    for layers in recur {
        _ = write!(out, " recur={}", refs(layers));
    }
    for (constraint, p, v) in stages {
        _ = write!(out, " stage={constraint},{},{}", ref_text(*p), ref_text(*v));
    }
    for Piece { choices, set, layers, part } in pieces {
        out.push_str(" piece");
        for (member, action, states) in choices {
            _ = write!(out, " choice={member},{action},{}", ref_text(*states));
        }
        sets(&mut out, set, layers);
        if let Some(part) = part {
            _ = write!(out, " part={}", ref_text(*part));
        }
    }
    out
}
