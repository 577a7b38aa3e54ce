//! Explicit transition systems: all states and transitions are given in advance.

use masque_text::{Diagnostic, Span, did_you_mean};
use rustc_hash::FxHashMap;

use crate::{AtomId, Completeness, LabelId, Lts, PatternId, StateId, Vocabulary};

/// A transition system given state by state, whose labels are texts.
///
/// In formulas about it a pattern is a text that a label must be equal to; `*` in it stands for any
/// text, and in quotes it may contain anything: `send`, `send(*)`, `"SEND !1 *"`. White space counts
/// in quotes only. `tau` matches the labels `i` and `tau`. Atoms are the names that states were
/// marked with, and `final`.
///
/// ```
/// use masque_mu::{Graph, Space, check, read_formula};
/// use masque_text::Sources;
/// use masque_verdict::{Budget, Verdict};
///
/// let mut graph = Graph::new();
/// let (off, on) = (graph.state(), graph.state());
/// graph.transition(off, "press", on);
/// graph.transition(on, "press", off);
/// graph.mark(on, "lit");
///
/// let mut sources = Sources::default();
/// let text = sources.add("formula", "[press]lit && AG EF lit").unwrap();
/// let (formula, diagnostics) = read_formula(&sources, sources.span(text), &mut graph);
/// assert!(diagnostics.is_empty());
/// let answer = check(&mut Space::new(&mut graph), &formula.unwrap(), &Budget::unlimited());
/// assert_eq!(answer.verdict, Verdict::Holds);
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    initial: StateId,
    states: Vec<State>,
    labels: Vec<String>,
    label_ids: FxHashMap<String, LabelId>,
    /// Names of atoms, `final` first.
    atoms: Vec<String>,
    patterns: Vec<Glob>,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// Number of the state in the source file.
    number: u64,
    transitions: Vec<(LabelId, StateId)>,
    marks: Vec<AtomId>,
    cut: Option<&'static str>,
}

impl Default for Graph {
    fn default() -> Self {
        Graph::new()
    }
}

impl Graph {
    /// Returns a graph without states.
    pub fn new() -> Graph {
        Graph {
            initial: StateId(0),
            states: Vec::new(),
            labels: Vec::new(),
            label_ids: FxHashMap::default(),
            atoms: vec!["final".to_string()],
            patterns: Vec::new(),
        }
    }

    /// Adds a state. The first one is the initial state, unless [`Graph::start_at`] selects another.
    pub fn state(&mut self) -> StateId {
        self.state_numbered(self.states.len() as u64)
    }

    /// Adds a state that has this number in the source file.
    pub fn state_numbered(&mut self, number: u64) -> StateId {
        self.states.push(State { number, ..State::default() });
        StateId(self.states.len() as u32 - 1)
    }

    /// Returns the number of a state in the source file.
    pub fn number(&self, state: StateId) -> u64 {
        self.states[state.index()].number
    }

    /// Makes a state the initial one.
    pub fn start_at(&mut self, state: StateId) {
        self.initial = state;
    }

    /// Adds a transition between two states of this graph.
    ///
    /// # Panics
    /// If `from` is not a state of this graph. `to` must be one too, which is not checked.
    pub fn transition(&mut self, from: StateId, label: &str, to: StateId) {
        let label = self.label_id(label);
        self.states[from.index()].transitions.push((label, to));
    }

    fn label_id(&mut self, label: &str) -> LabelId {
        if let Some(&id) = self.label_ids.get(label) {
            return id;
        }
        let id = LabelId(self.labels.len() as u32);
        self.labels.push(label.to_string());
        self.label_ids.insert(label.to_string(), id);
        id
    }

    /// Makes an atom hold in a state.
    pub fn mark(&mut self, state: StateId, atom: &str) {
        let found = self.atoms.iter().position(|name| name == atom);
        let id = found.unwrap_or_else(|| {
            self.atoms.push(atom.to_string());
            self.atoms.len() - 1
        });
        self.states[state.index()].marks.push(AtomId(id as u32));
    }

    /// Marks a state as having more transitions, which lie beyond a bound.
    pub fn cut(&mut self, state: StateId, bound: &'static str) {
        self.states[state.index()].cut = Some(bound);
    }

    /// Returns the number of states.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// Returns the number of transitions.
    pub fn n_transitions(&self) -> usize {
        self.states.iter().map(|state| state.transitions.len()).sum()
    }

    /// Returns the number of reachable states and the number of their transitions.
    pub fn reachable(&self) -> (usize, usize) {
        let mut is_seen = vec![false; self.states.len()];
        let mut open = vec![self.initial];
        let (mut n_states, mut n_transitions) = (0, 0);
        while let Some(state) = open.pop() {
            if is_seen.get_mut(state.index()).is_none_or(|seen| std::mem::replace(seen, true)) {
                continue;
            }
            let transitions = &self.states[state.index()].transitions;
            n_states += 1;
            n_transitions += transitions.len();
            open.extend(transitions.iter().map(|(_, to)| *to));
        }
        (n_states, n_transitions)
    }

    /// Whether a state has no transitions.
    pub fn is_stuck(&self, state: StateId) -> bool {
        self.states[state.index()].transitions.is_empty()
    }

    /// Returns a label as it was given.
    pub fn label(&self, label: LabelId) -> &str {
        &self.labels[label.index()]
    }
}

impl Lts for Graph {
    fn initial(&mut self) -> StateId {
        self.initial
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        let state = &self.states[state.index()];
        state.transitions.iter().for_each(|&(label, to)| step(label, to));
        state.cut.map_or(Completeness::Complete, Completeness::Cut)
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        self.states[state.index()].marks.contains(&atom)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.patterns[pattern.index()].matches(&self.labels[label.index()])
    }
}

impl Vocabulary for Graph {
    fn pattern(&mut self, text: &str, _: Span) -> Result<PatternId, Diagnostic> {
        let glob = Glob::new(text);
        let found = self.patterns.iter().position(|other| *other == glob);
        let id = found.unwrap_or_else(|| {
            self.patterns.push(glob);
            self.patterns.len() - 1
        });
        Ok(PatternId(id as u32))
    }

    fn atom(&mut self, text: &str, span: Span) -> Result<AtomId, Diagnostic> {
        match self.atoms.iter().position(|name| name == text) {
            Some(id) => Ok(AtomId(id as u32)),
            None => {
                let message = format!("no state is marked with `{text}`");
                let names = self.atoms.iter().map(String::as_str).chain(["deadlock"]);
                let help = did_you_mean(text, names.clone())
                    .unwrap_or_else(|| format!("the atoms are: {}", names.collect::<Vec<_>>().join(", ")));
                Err(Diagnostic::error("mu/unknown-atom", span, message).hint(help))
            }
        }
    }
}

/// A text in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Glob {
    text: String,
    is_quoted: bool,
}

impl Glob {
    fn new(text: &str) -> Glob {
        let inner = ['"', '\''].iter().find_map(|&q| text.strip_prefix(q)?.strip_suffix(q));
        match inner {
            Some(inner) => Glob { text: inner.to_string(), is_quoted: true },
            None if text == "τ" => Glob { text: "tau".to_string(), is_quoted: false },
            None => Glob { text: text.split_whitespace().collect(), is_quoted: false },
        }
    }

    fn matches(&self, label: &str) -> bool {
        if self.is_quoted {
            return glob(self.text.as_bytes(), label.as_bytes());
        }
        let label: String = label.split_whitespace().collect();
        glob(self.text.as_bytes(), label.as_bytes()) || (self.text == "tau" && label == "i")
    }
}

/// Whether `text` is `pattern` with a text for each `*`. On a mismatch the last `*` matches one byte more;
/// earlier ones need not be reconsidered.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            last = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((star, taken)) = last {
            last = Some((star, taken + 1));
            (p, t) = (star + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&b| b == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_texts() {
        let table = [
            ("send", "send", true),
            ("send", "send(1)", false),
            ("send(*)", "send(1, 2)", true),
            ("send(1,2)", "send(1, 2)", true),
            ("\"SEND !1 *\"", "SEND !1 !2", true),
            ("\"SEND !1\"", "SEND  !1", false),
            ("'*a*b'", "xaab", true),
            ("'*a*b'", "xaba", false),
            ("tau", "i", true),
            ("i", "tau", false),
            ("\"\"", "", true),
        ];
        for (pattern, label, expected) in table {
            assert_eq!(Glob::new(pattern).matches(label), expected, "{pattern} on {label}");
        }
    }
}
