//! Random transition systems and formulas.

pub(crate) mod trees;

use fastrand::Rng;
use masque_mu::tree::Phi;
use masque_mu::{Formula, Graph, StateId, Vocabulary, parse_formula, resolve};
use masque_text::Sources;

pub(crate) const LABELS: [&str; 3] = ["a", "b", "c"];
pub(crate) const ATOMS: [&str; 3] = ["p", "q", "final"];

/// Returns a graph of at most `max_states` states and an unreachable one; with `cuts`, some states have more
/// transitions beyond a bound.
pub(crate) fn graph(random: &mut Rng, max_states: usize, cuts: bool) -> Graph {
    let mut graph = Graph::new();
    let states: Vec<StateId> = (0..random.usize(1..=max_states)).map(|_| graph.state()).collect();
    // Low density gives dead ends, high density gives loops.
    let density = random.usize(1..=3);
    for &from in &states {
        for _ in 0..random.usize(0..=density) {
            graph.transition(from, LABELS[random.usize(0..3)], states[random.usize(0..states.len())]);
        }
        for atom in ATOMS {
            if random.bool() {
                graph.mark(from, atom);
            }
        }
        if cuts && random.u8(0..4) == 0 {
            graph.cut(from, ["cap", "depth", "psize"][random.usize(0..3)]);
        }
    }
    // Mark an unreachable state with all atoms, so that every atom is known.
    let unreachable = graph.state();
    ATOMS.iter().for_each(|atom| graph.mark(unreachable, atom));
    graph
}

/// Returns a closed formula as text. Each variable occurs under an even number of negations.
pub(crate) fn formula(random: &mut Rng) -> String {
    let size = random.u32(1..14);
    Writer { random, scope: Vec::new(), n_bound: 0 }.formula(size, true)
}

/// Returns a formula with two to four alternating fixpoints.
pub(crate) fn alternating(random: &mut Rng) -> String {
    let depth = random.usize(2..=4);
    let first = random.bool();
    let size = random.u32(1..12);
    let mut writer = Writer { random, scope: Vec::new(), n_bound: depth };
    let mut prefix = String::new();
    for i in 0..depth {
        let sign = if (i % 2 == 0) == first { "mu" } else { "nu" };
        prefix += &format!("{sign} X{i}. ");
        writer.scope.push((format!("X{i}"), true));
        // In some cases, a leaf between the fixpoints.
        if i + 1 < depth && writer.random.u8(0..3) == 0 {
            let [side, link] = [writer.leaf(true), ["&&", "||"][writer.random.usize(0..2)].to_string()];
            prefix += &format!("{side} {link} ");
        }
    }
    let mut body = writer.formula(size, true);
    for i in 0..depth {
        let step = ["<", "["][writer.random.usize(0..2)];
        let end = if step == "<" { ">" } else { "]" };
        let link = ["&&", "||"][writer.random.usize(0..2)];
        body = format!("({body}) {link} {step}{}{end}X{i}", writer.pattern());
    }
    prefix + &body
}

struct Writer<'r> {
    random: &'r mut Rng,
    /// Variables, each with whether it may occur under an even number of negations (else an odd number).
    scope: Vec<(String, bool)>,
    n_bound: usize,
}

impl Writer<'_> {
    fn formula(&mut self, size: u32, even: bool) -> String {
        if size <= 1 {
            return self.leaf(even);
        }
        let rest = size - 1;
        match self.random.u32(0..22) {
            0..=2 => self.pair("&&", rest, even),
            3..=5 => self.pair("||", rest, even),
            6 => {
                let left = self.formula(rest / 2, !even);
                format!("({left} -> {})", self.formula(rest - rest / 2, even))
            }
            7 => format!("!{}", self.formula(rest, !even)),
            8..=10 => format!("<{}>{}", self.regular(2), self.formula(rest, even)),
            11..=13 => format!("[{}]{}", self.regular(2), self.formula(rest, even)),
            14..=18 if self.n_bound < 4 => self.fixpoint(rest, even),
            19 => {
                let operator = ["AG", "EF", "AF", "EG", "AX", "EX"][self.random.usize(0..6)];
                format!("{operator} {}", self.formula(rest, even))
            }
            20 => format!("inev({})", self.pattern()),
            _ => format!("resp({}, {})", self.pattern(), self.pattern()),
        }
    }

    fn pair(&mut self, sign: &str, rest: u32, even: bool) -> String {
        let left = self.random.u32(0..=rest);
        format!("({} {sign} {})", self.formula(left, even), self.formula(rest - left, even))
    }

    fn fixpoint(&mut self, rest: u32, even: bool) -> String {
        let name = format!("X{}", self.n_bound);
        self.n_bound += 1;
        let sign = if self.random.bool() { "mu" } else { "nu" };
        self.scope.push((name.clone(), even));
        let body = self.formula(rest.max(2), even);
        self.scope.pop();
        format!("({sign} {name}. {body})")
    }

    fn leaf(&mut self, even: bool) -> String {
        let usable: Vec<String> =
            self.scope.iter().filter(|(_, parity)| *parity == even).map(|(name, _)| name.clone()).collect();
        if !usable.is_empty() && self.random.u8(0..4) > 0 {
            // Mostly behind a modality, as in typical formulas.
            let name = &usable[self.random.usize(0..usable.len())];
            return match self.random.u8(0..5) {
                0 => name.clone(),
                1 | 2 => format!("<{}>{name}", self.pattern()),
                _ => format!("[{}]{name}", self.pattern()),
            };
        }
        ["tt", "ff", "p", "q", "final", "deadlock", "<->tt", "[-]ff"][self.random.usize(0..8)].to_string()
    }

    fn regular(&mut self, size: u32) -> String {
        match self.random.u8(0..9) {
            0 if size > 0 => format!("{} . {}", self.regular(size - 1), self.regular(size - 1)),
            1 if size > 0 => format!("({} | {})", self.regular(size - 1), self.regular(size - 1)),
            2 if size > 0 => format!("({})*", self.regular(size - 1)),
            3 if size > 0 => format!("({})+", self.regular(size - 1)),
            _ => self.pattern(),
        }
    }

    fn pattern(&mut self) -> String {
        let one = LABELS[self.random.usize(0..3)];
        match self.random.u8(0..6) {
            0 => "-".to_string(),
            1 => format!("-{one}"),
            2 => format!("{{{one}, {}}}", LABELS[self.random.usize(0..3)]),
            3 => format!("-{{{one}, -{}}}", LABELS[self.random.usize(0..3)]),
            _ => one.to_string(),
        }
    }
}

/// Parses and resolves a text without errors.
pub(crate) fn read(text: &str, words: &mut dyn Vocabulary) -> (Phi, Formula) {
    let mut sources = Sources::default();
    let file = sources.add("formula", text).unwrap();
    let (phi, diagnostics) = parse_formula(&sources, sources.span(file));
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    let phi = phi.unwrap();
    let (formula, diagnostics) = resolve(&phi, words);
    assert!(diagnostics.iter().all(|d| !d.is_error()), "{text}: {diagnostics:?}");
    (phi, formula.unwrap())
}
