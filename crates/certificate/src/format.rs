//! The format `masque.certificate/1`: lines of text, documented in `docs/certificates.md`.

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
    /// Reads a certificate. Every reference in it is valid: to a node or claim before the one that uses it.
    pub fn parse(text: &str) -> Result<Certificate, Mistake> {
        let mut lines = Lines { lines: text.lines(), line: 0 };
        lines.certificate().map_err(|what| Mistake { line: lines.line, what })
    }
}

type Read<T> = Result<T, String>;

struct Lines<'t> {
    lines: std::str::Lines<'t>,
    /// Number of the last line that was read.
    line: usize,
}

impl<'t> Lines<'t> {
    fn next(&mut self) -> Read<&'t str> {
        self.line += 1;
        self.lines.next().ok_or("the file ends too early".to_string())
    }

    /// Reads the value of the next line if that has a certain key.
    fn optional(&mut self, key: &str) -> Option<&'t str> {
        let line = self.lines.clone().next()?;
        let (found, value) = line.split_once(' ').unwrap_or((line, ""));
        if found != key {
            return None;
        }
        _ = self.next();
        Some(value)
    }

    fn value(&mut self, key: &str) -> Read<&'t str> {
        self.optional(key).ok_or_else(|| {
            self.line += 1;
            format!("expected a line `{key} ..`")
        })
    }

    fn number(&mut self, key: &str) -> Read<usize> {
        self.value(key)?.parse().map_err(|_| "expected a number".to_string())
    }

    /// Reads the values of all following lines with a key.
    fn all(&mut self, key: &str) -> Vec<String> {
        std::iter::from_fn(|| self.optional(key)).map(str::to_string).collect()
    }

    fn certificate(&mut self) -> Read<Certificate> {
        self.value(FORMAT)?;
        let mut certificate = Certificate {
            model: self.value("model")?.to_string(),
            parameters: self.all("parameter"),
            ..Certificate::default()
        };
        for (name, option) in OPTIONS.iter().zip(&mut certificate.options) {
            *option = self.value(name)?.to_string();
        }
        certificate.holds = match self.value("verdict")? {
            "holds" => true,
            "fails" => false,
            _ => return Err("expected `verdict holds` or `verdict fails`".to_string()),
        };
        certificate.title = self.value("title")?.to_string();
        certificate.formula = self.value("formula")?.to_string();
        while let Some(place) = self.place()? {
            certificate.order.push(place);
        }
        certificate.forward = self.all("forward");
        certificate.backward = self.all("backward");
        let n_nodes = self.number("nodes")?;
        for _ in 0..n_nodes {
            let node = node(self.next()?, &certificate.order, &certificate.nodes)?;
            certificate.nodes.push(node);
        }
        certificate.inv = Some(set(self.value("inv")?, n_nodes)?);
        certificate.reached = sets(self.value("reached")?, n_nodes)?;
        let fair = self.optional("fair");
        let n_claims = self.number("claims")?;
        certificate.fair = fair.map(|text| claim(text, n_nodes, n_claims)).transpose()?;
        for index in 0..n_claims {
            certificate.claims.push(claim(self.next()?, n_nodes, index)?);
        }
        certificate.root = claim_number(self.value("root")?, n_claims)?;
        if self.next()? != "end" || self.lines.next().is_some() {
            return Err("expected `end` and nothing after it".to_string());
        }
        Ok(certificate)
    }

    fn place(&mut self) -> Read<Option<Place>> {
        let bit = self.optional("bit").map(|text| (false, text));
        let Some((is_action, text)) = bit.or_else(|| Some((true, self.optional("action")?))) else {
            return Ok(None);
        };
        let (power, name) = text.split_once(' ').ok_or("expected a power and a name")?;
        let power = power.parse().map_err(|_| "the power of a bit is a number".to_string())?;
        Ok(Some(Place { is_action, name: name.to_string(), power }))
    }
}

fn node(line: &str, order: &[Place], before: &[Node]) -> Read<Node> {
    let mut words = line.split(' ');
    let bit: u32 = words.next().and_then(|w| w.parse().ok()).ok_or("expected a place in the order")?;
    if order.get(bit as usize).is_none_or(|place| place.is_action) {
        return Err("a node tests a bit of a variable in the order".to_string());
    }
    let mut child = || -> Read<Ref> {
        let Ref(distance) = set(words.next().ok_or("expected two children")?, before.len())?;
        if distance >> 1 == 0 {
            return Ok(Ref(distance));
        }
        let child = before.len() as u32 + 1 - (distance >> 1);
        if before[child as usize - 1].bit <= bit {
            return Err("a child tests a later bit".to_string());
        }
        Ok(Ref(child << 1 | distance & 1))
    };
    let (low, high) = (child()?, child()?);
    if words.next().is_some() {
        Err("a node has two children".to_string())
    } else {
        Ok(Node { bit, low, high })
    }
}

/// Reads a set. `n` is the largest number that it may have.
fn set(text: &str, n: usize) -> Read<Ref> {
    let (sign, digits) = text.strip_prefix('-').map_or((0, text), |digits| (1, digits));
    match text {
        "t" => Ok(Ref::ALL),
        "f" => Ok(Ref::NONE),
        _ => match digits.parse::<u32>() {
            Ok(number) if (1..=n.min(1 << 30)).contains(&(number as usize)) => Ok(Ref(number << 1 | sign)),
            _ => Err("expected a set: `t`, `f`, or the number of a node before".to_string()),
        },
    }
}

fn sets(text: &str, n_nodes: usize) -> Read<Vec<Ref>> {
    text.split(',').filter(|word| !word.is_empty()).map(|word| set(word, n_nodes)).collect()
}

/// Reads the number of a claim before `limit`, or none.
fn claim_number(text: &str, limit: usize) -> Read<Option<usize>> {
    match text.parse() {
        _ if text == "-" => Ok(None),
        Ok(number) if number < limit => Ok(Some(number)),
        _ => Err("expected the number of a claim before, or `-`".to_string()),
    }
}

/// Reads a claim that may refer to the claims before `limit`.
fn claim(text: &str, n_nodes: usize, limit: usize) -> Read<Claim> {
    let mut words = text.split(' ');
    if words.next() != Some("claim") {
        return Err("expected a line `claim ..`".to_string());
    }
    let mut claim = Claim::default();
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let mut list = value.split(',');
        let mut number = || list.next().and_then(|n| n.parse::<u32>().ok()).ok_or("expected a number");
        match (key, claim.pieces.last_mut()) {
            ("piece", _) => claim.pieces.push(Piece::default()),
            ("set", Some(piece)) => piece.set = Some(set(value, n_nodes)?),
            ("set", None) => claim.set = Some(set(value, n_nodes)?),
            ("layers", Some(piece)) => piece.layers = sets(value, n_nodes)?,
            ("layers", None) => claim.layers = sets(value, n_nodes)?,
            ("part", Some(piece)) => piece.part = Some(set(value, n_nodes)?),
            ("choice", Some(piece)) => {
                let (member, action) = (number()? as usize, number()?);
                piece.choices.push((member, action, set(list.next().unwrap_or(""), n_nodes)?));
            }
            ("of", None) => claim.of = list.map(|word| claim_number(word, limit)).collect::<Read<_>>()?,
            ("recur", None) => claim.recur.push(sets(value, n_nodes)?),
            ("stage", None) => {
                let constraint = number()? as usize;
                let mut next = || set(list.next().unwrap_or(""), n_nodes);
                claim.stages.push((constraint, next()?, next()?));
            }
            _ => return Err(format!("a claim has no `{key}` here")),
        }
    }
    Ok(claim)
}
