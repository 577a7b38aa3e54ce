//! The format `masque.certificate/1`: lines of text, documented in `docs/certificates.md`.

use std::fmt::{self, Write};

use rustc_hash::FxHashMap;

/// The first line of every certificate.
pub const FORMAT: &str = "masque.certificate/1";

/// A set in the table of nodes: 0 is everything, 1 nothing, `2 n` the function of node `n`, counted from 1, and
/// `2 n + 1` its complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref(pub u32);

impl Ref {
    /// All states.
    pub const ALL: Ref = Ref(0);
    /// No state.
    pub const NONE: Ref = Ref(1);

    /// The complement.
    pub fn complement(self) -> Ref {
        Ref(self.0 ^ 1)
    }

    fn is_valid(self, n_nodes: usize) -> bool {
        self.0 as usize >> 1 <= n_nodes
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 >> 1, self.0 & 1) {
            (0, 0) => f.write_str("t"),
            (0, _) => f.write_str("f"),
            (n, 0) => write!(f, "{n}"),
            (n, _) => write!(f, "-{n}"),
        }
    }
}

/// A node: a test of one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Place of the bit in [`Certificate::order`].
    pub bit: u32,
    /// The set where the bit is 0.
    pub low: Ref,
    /// The set where the bit is 1.
    pub high: Ref,
}

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

/// One place of the order: a bit of a variable's code or of the number of an agent's action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whether the bit belongs to an agent's action.
    pub is_action: bool,
    /// The full name of the variable, or the name of the agent.
    pub name: String,
    /// The exponent of the bit's weight.
    pub power: u32,
}

/// Sets that are claimed to lie inside the set of one formula, with claims about its operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Claims about the operands, in the order of `docs/certificates.md`; `None` where none is needed.
    pub of: Vec<Option<usize>>,
    /// The set of the row.
    pub set: Option<Ref>,
    /// Layers, the first one first.
    pub layers: Vec<Ref>,
    /// For each fairness constraint the layers that lead to it.
    pub recur: Vec<Vec<Ref>>,
    /// Stages: the number of a fairness constraint, and two sets.
    pub stages: Vec<(usize, Ref, Ref)>,
    /// Pieces of a uniform strategy.
    pub pieces: Vec<Piece>,
}

/// A uniform strategy and the states from which it wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Choices: the place of a member in its group, one of its actions, and the states in which it is chosen.
    pub choices: Vec<(usize, u32, Ref)>,
    /// The winning states, unless they are layers.
    pub set: Option<Ref>,
    /// The winning states as layers.
    pub layers: Vec<Ref>,
    /// The states for which the strategy is given.
    pub part: Option<Ref>,
}

/// A certificate as it is written in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Digest of the texts of the model, in hexadecimal.
    pub model: String,
    /// Parameters that differ from the text: `name=value`.
    pub parameters: Vec<String>,
    /// Options that change the meaning, by name: `at`, `deadlock`, `overflow`, `strategies`.
    pub options: [String; 4],
    /// Whether the property is claimed to hold.
    pub holds: bool,
    /// Title of the property.
    pub title: String,
    /// The formula.
    pub formula: String,
    /// The order of the bits.
    pub order: Vec<Place>,
    /// The parts of the transition relation in the order for successors.
    pub forward: Vec<String>,
    /// The parts in the order for predecessors.
    pub backward: Vec<String>,
    /// All nodes, children first.
    pub nodes: Vec<Node>,
    /// A set that contains all reachable states.
    pub inv: Option<Ref>,
    /// Layers of states that are reachable.
    pub reached: Vec<Ref>,
    /// The states with a fair path and those without, if there are fairness constraints.
    pub fair: Option<Claim>,
    /// All claims, those about operands first.
    pub claims: Vec<Claim>,
    /// The claim about the formula.
    pub root: Option<usize>,
}

/// The names of [`Certificate::options`].
pub const OPTIONS: [&str; 4] = ["at", "deadlock", "overflow", "strategies"];

/// A mistake in a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl Certificate {
    /// Writes the certificate.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let mut line = |key: &str, value: &str| {
            out.push_str(key);
            out.push(' ');
            out.push_str(value);
            out.push('\n');
        };
        line(FORMAT, "");
        line("model", &self.model);
        self.parameters.iter().for_each(|parameter| line("parameter", parameter));
        OPTIONS.iter().zip(&self.options).for_each(|(name, value)| line(name, value));
        line("verdict", if self.holds { "holds" } else { "fails" });
        line("title", &self.title);
        line("formula", &self.formula);
        for Place { is_action, name, power } in &self.order {
            line(if *is_action { "action" } else { "bit" }, &format!("{power} {name}"));
        }
        self.forward.iter().for_each(|part| line("forward", part));
        self.backward.iter().for_each(|part| line("backward", part));
        line("nodes", &self.nodes.len().to_string());
        for (index, Node { bit, low, high }) in self.nodes.iter().enumerate() {
            let text = |child: Ref| match child.0 >> 1 {
                0 => child.to_string(),
                // Children are often the last nodes before, so distances are shorter than numbers.
                n => format!("{}{}", if child.0 & 1 == 1 { "-" } else { "" }, index as u32 + 1 - n),
            };
            _ = writeln!(out, "{bit} {} {}", text(*low), text(*high));
        }
        _ = writeln!(out, "inv {}", self.inv.unwrap_or(Ref::ALL));
        _ = writeln!(out, "reached {}", refs(&self.reached));
        if let Some(fair) = &self.fair {
            _ = writeln!(out, "fair {}", claim_text(fair));
        }
        _ = writeln!(out, "claims {}", self.claims.len());
        for claim in &self.claims {
            _ = writeln!(out, "{}", claim_text(claim));
        }
        _ = writeln!(out, "root {}", number(self.root));
        out.push_str("end\n");
        out
    }

    /// Reads a certificate. Every reference in it is valid: to a node or claim before the one that uses it.
    pub fn parse(text: &str) -> Result<Certificate, Mistake> {
        let mut lines = Lines { lines: text.lines(), line: 0 };
        lines.parse().map_err(|what| Mistake { line: lines.line, what })
    }
}

fn number(claim: Option<usize>) -> String {
    claim.map_or("-".to_string(), |claim| claim.to_string())
}

fn refs(list: &[Ref]) -> String {
    list.iter().map(Ref::to_string).collect::<Vec<_>>().join(",")
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
            _ = write!(out, " set={set}");
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
        _ = write!(out, " stage={constraint},{p},{v}");
    }
    for Piece { choices, set, layers, part } in pieces {
        out.push_str(" piece");
        for (member, action, states) in choices {
            _ = write!(out, " choice={member},{action},{states}");
        }
        sets(&mut out, set, layers);
        if let Some(part) = part {
            _ = write!(out, " part={part}");
        }
    }
    out
}

type Read<T> = Result<T, String>;

struct Lines<'t> {
    lines: std::str::Lines<'t>,
    line: usize,
}

impl<'t> Lines<'t> {
    fn next(&mut self) -> Read<&'t str> {
        self.line += 1;
        self.lines.next().ok_or("the file ends too early".to_string())
    }

    /// Returns the key and the value of the next line.
    fn pair(&mut self) -> Read<(&'t str, &'t str)> {
        let line = self.next()?;
        Ok(line.split_once(' ').unwrap_or((line, "")))
    }

    fn value(&mut self, key: &str) -> Read<String> {
        match self.pair()? {
            (found, value) if found == key => Ok(value.to_string()),
            _ => Err(format!("expected a line `{key} ..`")),
        }
    }

    fn parse(&mut self) -> Read<Certificate> {
        if self.next()?.trim_end() != FORMAT {
            return Err(format!("this is not a certificate: the first line should be `{FORMAT}`"));
        }
        let mut certificate = Certificate { model: self.value("model")?, ..Certificate::default() };
        let mut pair = self.pair()?;
        while pair.0 == "parameter" {
            certificate.parameters.push(pair.1.to_string());
            pair = self.pair()?;
        }
        for (index, name) in OPTIONS.iter().enumerate() {
            if pair.0 != *name {
                return Err(format!("expected a line `{name} ..`"));
            }
            certificate.options[index] = pair.1.to_string();
            pair = self.pair()?;
        }
        certificate.holds = match pair {
            ("verdict", "holds") => true,
            ("verdict", "fails") => false,
            _ => return Err("expected `verdict holds` or `verdict fails`".to_string()),
        };
        certificate.title = self.value("title")?;
        certificate.formula = self.value("formula")?;
        pair = self.pair()?;
        while let "bit" | "action" = pair.0 {
            let (power, name) = pair.1.split_once(' ').ok_or("expected a power and a name")?;
            let power = power.parse().map_err(|_| "the power of a bit is a number".to_string())?;
            certificate.order.push(Place { is_action: pair.0 == "action", name: name.to_string(), power });
            pair = self.pair()?;
        }
        for (key, list) in [("forward", &mut certificate.forward), ("backward", &mut certificate.backward)] {
            while pair.0 == key {
                list.push(pair.1.to_string());
                pair = self.pair()?;
            }
        }
        if pair.0 != "nodes" {
            return Err("expected a line `nodes ..`".to_string());
        }
        let n_nodes: usize = pair.1.parse().map_err(|_| "expected a number of nodes".to_string())?;
        for _ in 0..n_nodes {
            let node = self.node(&certificate)?;
            certificate.nodes.push(node);
        }
        self.rest(&mut certificate)?;
        Ok(certificate)
    }

    fn node(&mut self, certificate: &Certificate) -> Read<Node> {
        let number = certificate.nodes.len() + 1;
        let mut words = self.next()?.split(' ');
        let bit: u32 = words.next().and_then(|w| w.parse().ok()).ok_or("expected a place in the order")?;
        match certificate.order.get(bit as usize) {
            Some(place) if !place.is_action => {}
            _ => return Err("a node tests a bit of a variable in the order".to_string()),
        }
        let mut child = || -> Read<Ref> {
            let Ref(distance) = parse_ref(words.next().ok_or("expected two children")?)?;
            if distance >> 1 == 0 {
                return Ok(Ref(distance));
            }
            let child = number.checked_sub(distance as usize >> 1).filter(|child| *child > 0);
            let child = child.ok_or("a node refers to nodes before it")?;
            if certificate.nodes[child - 1].bit <= bit {
                return Err("a child tests a later bit".to_string());
            }
            Ok(Ref((child as u32) << 1 | distance & 1))
        };
        let (low, high) = (child()?, child()?);
        if words.next().is_some() {
            return Err("a node has two children".to_string());
        }
        Ok(Node { bit, low, high })
    }

    fn rest(&mut self, certificate: &mut Certificate) -> Read<()> {
        let n_nodes = certificate.nodes.len();
        certificate.inv = Some(root_ref(&self.value("inv")?, n_nodes)?);
        certificate.reached = ref_list(&self.value("reached")?, n_nodes)?;
        let mut pair = self.pair()?;
        if pair.0 == "fair" {
            certificate.fair = Some(parse_claim(pair.1, n_nodes, usize::MAX)?);
            pair = self.pair()?;
        }
        let n_claims: usize = match pair {
            ("claims", n) => n.parse().map_err(|_| "expected a number of claims".to_string())?,
            _ => return Err("expected a line `claims ..`".to_string()),
        };
        for index in 0..n_claims {
            certificate.claims.push(parse_claim(self.next()?, n_nodes, index)?);
        }
        let fair_claims = certificate.fair.iter().flat_map(|fair| fair.of.iter().flatten());
        certificate.root = claim_number(&self.value("root")?)?;
        if fair_claims.chain(&certificate.root).any(|claim| *claim >= n_claims) {
            return Err("a claim is missing".to_string());
        }
        if self.next()? != "end" || self.next().is_ok() {
            return Err("expected `end` and nothing after it".to_string());
        }
        Ok(())
    }
}

fn parse_ref(text: &str) -> Read<Ref> {
    match text {
        "t" => return Ok(Ref::ALL),
        "f" => return Ok(Ref::NONE),
        _ => {}
    }
    let (sign, digits) = text.strip_prefix('-').map_or((0, text), |digits| (1, digits));
    let number: u32 = digits.parse().ok().filter(|n: &u32| *n > 0 && *n < 1 << 30).ok_or("expected a set")?;
    Ok(Ref(number << 1 | sign))
}

fn root_ref(text: &str, n_nodes: usize) -> Read<Ref> {
    let set = parse_ref(text)?;
    if set.is_valid(n_nodes) { Ok(set) } else { Err("there is no such node".to_string()) }
}

fn ref_list(text: &str, n_nodes: usize) -> Read<Vec<Ref>> {
    text.split(',').filter(|word| !word.is_empty()).map(|word| root_ref(word, n_nodes)).collect()
}

fn claim_number(text: &str) -> Read<Option<usize>> {
    match text {
        "-" => Ok(None),
        _ => text.parse().map(Some).map_err(|_| "expected the number of a claim, or `-`".to_string()),
    }
}

/// Reads a claim that may refer to the claims before `limit`.
fn parse_claim(text: &str, n_nodes: usize, limit: usize) -> Read<Claim> {
    let mut words = text.split(' ');
    if words.next() != Some("claim") {
        return Err("expected a line `claim ..`".to_string());
    }
    let mut claim = Claim::default();
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let mut numbers = value.split(',');
        let mut number = || numbers.next().and_then(|n| n.parse::<u32>().ok()).ok_or("expected a number");
        let piece = claim.pieces.last_mut();
        match (key, piece) {
            ("piece", _) => claim.pieces.push(Piece::default()),
            ("set", Some(piece)) => piece.set = Some(root_ref(value, n_nodes)?),
            ("set", None) => claim.set = Some(root_ref(value, n_nodes)?),
            ("layers", Some(piece)) => piece.layers = ref_list(value, n_nodes)?,
            ("layers", None) => claim.layers = ref_list(value, n_nodes)?,
            ("part", Some(piece)) => piece.part = Some(root_ref(value, n_nodes)?),
            ("choice", Some(piece)) => {
                let (member, action) = (number()? as usize, number()?);
                let states = root_ref(numbers.next().unwrap_or(""), n_nodes)?;
                piece.choices.push((member, action, states));
            }
            ("of", None) => claim.of = value.split(',').map(claim_number).collect::<Read<_>>()?,
            ("recur", None) => claim.recur.push(ref_list(value, n_nodes)?),
            ("stage", None) => {
                let constraint = number()? as usize;
                let (p, v) = (numbers.next().unwrap_or(""), numbers.next().unwrap_or(""));
                claim.stages.push((constraint, root_ref(p, n_nodes)?, root_ref(v, n_nodes)?));
            }
            _ => return Err(format!("a claim has no `{key}` here")),
        }
    }
    if claim.of.iter().flatten().any(|operand| *operand >= limit) {
        return Err("a claim refers to claims before it".to_string());
    }
    Ok(claim)
}
