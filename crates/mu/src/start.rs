//! A transition system with another initial state.

use masque_verdict::Stop;

use crate::{AtomId, BindingId, Completeness, LabelId, Lts, PatternId, StateId};

/// The same transition system, checked from another state.
///
/// ```
/// use masque_mu::{Graph, Space, StartingAt, check, read_formula};
/// use masque_text::Sources;
/// use masque_verdict::{Budget, Verdict};
///
/// let mut graph = Graph::new();
/// let (off, on) = (graph.state(), graph.state());
/// graph.transition(off, "press", on);
/// let mut sources = Sources::default();
/// let text = sources.add("formula", "<press>tt").unwrap();
/// let formula = read_formula(&sources, sources.span(text), &mut graph).0.unwrap();
/// for (start, verdict) in [(off, Verdict::Holds), (on, Verdict::Fails)] {
///     let lts = StartingAt { lts: &mut graph, start };
///     assert_eq!(check(&mut Space::new(lts), &formula, &Budget::unlimited()).verdict, verdict);
/// }
/// ```
#[derive(Debug)]
pub struct StartingAt<L> {
    /// Transition system.
    pub lts: L,
    /// State in which checks begin.
    pub start: StateId,
}

impl<L: Lts> Lts for StartingAt<L> {
    fn initial(&mut self) -> StateId {
        self.start
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        self.lts.successors(state, step)
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        self.lts.holds(state, atom)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.lts.matches(label, pattern)
    }

    fn bindings(&mut self, label: LabelId, pattern: PatternId) -> Vec<BindingId> {
        self.lts.bindings(label, pattern)
    }

    fn matches_bound(&mut self, label: LabelId, pattern: PatternId, binding: BindingId) -> bool {
        self.lts.matches_bound(label, pattern, binding)
    }

    fn max_states(&self) -> u64 {
        self.lts.max_states()
    }

    fn bytes(&self) -> u64 {
        self.lts.bytes()
    }

    fn stopped(&self) -> Option<Stop> {
        self.lts.stopped()
    }
}
