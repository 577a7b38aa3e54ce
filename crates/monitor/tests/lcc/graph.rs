//! The transition system of the definition (`masque_lcc::reference`), all states of it, for `masque_mu::naive`.

use std::collections::BTreeMap;

use masque_lcc::reference::{Act, Reference, State, label_text, matches};
use masque_mu::tree::{Pattern, Phi};
use masque_mu::{AtomId, Completeness, LabelId, Lts, PatternId, StateId, Vocabulary, naive};
use masque_text::{Diagnostic, Span};

/// All reachable states of a protocol.
pub(crate) struct Graph {
    reference: Reference,
    pub(crate) states: Vec<State>,
    pub(crate) texts: Vec<String>,
    /// For each state, its transitions as labels and states.
    pub(crate) transitions: Vec<Vec<(usize, usize)>>,
    /// Whether a bound hides transitions of a state.
    pub(crate) is_cut: Vec<bool>,
    pub(crate) labels: Vec<Vec<Act>>,
    initial: usize,
    patterns: Vec<Pattern>,
    pattern_texts: Vec<String>,
    atoms: Vec<String>,
    known: BTreeMap<(usize, usize), bool>,
}

impl Graph {
    /// Explores a protocol; `None` if it has more than `max_states` states or a proof exceeds its bound.
    pub(crate) fn explore(reference: Reference, max_states: usize) -> Option<Graph> {
        let first = reference.initial();
        let mut graph = Graph {
            texts: vec![reference.text(&first)],
            states: vec![first],
            transitions: Vec::new(),
            is_cut: Vec::new(),
            labels: Vec::new(),
            initial: 0,
            patterns: Vec::new(),
            pattern_texts: Vec::new(),
            atoms: Vec::new(),
            known: BTreeMap::new(),
            reference,
        };
        let mut labels: BTreeMap<String, usize> = BTreeMap::new();
        while graph.transitions.len() < graph.states.len() {
            let state = graph.states[graph.transitions.len()].clone();
            let (found, is_cut) = graph.reference.successors(&state).ok()?;
            let mut transitions = Vec::new();
            for transition in found {
                let text = graph.reference.text(&transition.target);
                let target = match graph.texts.iter().position(|other| *other == text) {
                    Some(target) => target,
                    None => {
                        graph.texts.push(text);
                        graph.states.push(transition.target);
                        graph.states.len() - 1
                    }
                };
                let next = graph.labels.len();
                let label = *labels.entry(label_text(&transition.acts)).or_insert(next);
                if label == next {
                    graph.labels.push(transition.acts);
                }
                transitions.push((label, target));
            }
            if graph.states.len() > max_states {
                return None;
            }
            graph.transitions.push(transitions);
            graph.is_cut.push(is_cut);
        }
        Some(graph)
    }

    /// Whether a formula is true in a state: for all, or for some assumption about what a bound hides.
    pub(crate) fn truth(&mut self, phi: &Phi, state: usize) -> [bool; 2] {
        self.initial = state;
        [false, true].map(|cut| naive::holds(self, phi, cut).unwrap())
    }
}

impl Lts for Graph {
    fn initial(&mut self) -> StateId {
        StateId(self.initial as u32)
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        for (label, target) in &self.transitions[state.index()] {
            step(LabelId(*label as u32), StateId(*target as u32));
        }
        if self.is_cut[state.index()] { Completeness::Cut("bound") } else { Completeness::Complete }
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        // The set of states of a formula has a place for each state, also for those that were not reached.
        let Some(state) = self.states.get(state.index()) else { return false };
        let atom = &self.atoms[atom.index()];
        match atom.strip_prefix("done(").and_then(|rest| rest.strip_suffix(')')) {
            Some(id) => self.reference.is_done(state, id).unwrap(),
            None => self.reference.is_final(state),
        }
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        let key = (label.index(), pattern.index());
        let Graph { labels, patterns, known, .. } = self;
        *known
            .entry(key)
            .or_insert_with(|| labels.get(key.0).is_some_and(|label| matches(label, &patterns[key.1])))
    }
}

impl Vocabulary for Graph {
    fn pattern(&mut self, text: &str, span: Span) -> Result<PatternId, Diagnostic> {
        let index = self.pattern_texts.iter().position(|other| other == text).unwrap_or_else(|| {
            self.pattern_texts.push(text.to_string());
            self.patterns.push(Pattern::Is(text.to_string(), span));
            self.patterns.len() - 1
        });
        Ok(PatternId(index as u32))
    }

    fn atom(&mut self, text: &str, _: Span) -> Result<AtomId, Diagnostic> {
        assert!(text == "final" || text.starts_with("done("), "{text}");
        let index = self.atoms.iter().position(|other| other == text).unwrap_or_else(|| {
            self.atoms.push(text.to_string());
            self.atoms.len() - 1
        });
        Ok(AtomId(index as u32))
    }
}
