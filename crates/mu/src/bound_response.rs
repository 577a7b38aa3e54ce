//! Responses whose patterns share variables: `resp(P(x), Q(x))` for all values x with which a label matches P.
//!
//! The formula is decided in a larger system. Its states are those of the system, alone or with a binding of
//! the variables that is *owed*:
//!
//! ```text
//! s ─a─▶ t              s        ─a─▶ t              and, if a matches P with x,   s ─start─▶ (t, x)
//!                       (s, x)   ─a─▶ (t, x)         or, if a matches Q(x),        (s, x) ─end─▶ t
//!
//! resp(P(x), Q(x))  =  nu Z. [-start]Z && [start] mu Y. <->tt && [-end]Y
//! ```
//!
//! So each binding is followed separately, and only where a label has made it. Without shared variables this is
//! the property `resp(P, Q)`. The evidence is that of the larger system, with its states and labels replaced by
//! those of the system itself.

use masque_text::Diagnostic;
use masque_verdict::{Budget, Stop, Verdict, Why};
use rustc_hash::FxHashMap;

use crate::check::{Outcome, run};
use crate::evidence::Evidence;
use crate::formula::{Action, Builder, Formula};
use crate::game::Game;
use crate::tree::{Modality, Pattern, Sign};
use crate::{AtomId, BindingId, Completeness, LabelId, LabelSet, Lts, PatternId, Space, StateId, Vocabulary};

/// The sets of labels of a response whose patterns share variables.
#[derive(Clone, Debug)]
pub(crate) struct BoundResponse {
    /// P: the labels that bind the variables.
    pub(crate) first: LabelSet,
    /// Q: the labels that must follow.
    pub(crate) second: LabelSet,
}

/// Resolves `resp(P, Q)`, where the variables that both patterns share have the values with which a label matched P.
pub fn resolve_bound_response(
    first: &Pattern,
    second: &Pattern,
    words: &mut dyn Vocabulary,
) -> Result<Formula, Diagnostic> {
    let (first, second) = (LabelSet::read(first, words)?, LabelSet::read(second, words)?);
    let mut builder = Builder::new();
    let [start, end] = [Mark::Start, Mark::End].map(|mark| builder.action(Action::Is(mark.pattern())));
    let [no_start, no_end] = [start, end].map(|action| builder.action(Action::Not(action)));
    let (always, z) = builder.open(Sign::Nu, "resp");
    let (eventually, y) = builder.open(Sign::Mu, "inev");
    let end = builder.constant(true);
    let step = builder.after_any(Modality::Diamond, end);
    let next = builder.modal(Modality::Box, no_end, y);
    let body = builder.and(vec![step, next]);
    builder.close(eventually, body);
    let next = builder.modal(Modality::Box, no_start, z);
    let owed = builder.modal(Modality::Box, start, y);
    let body = builder.and(vec![next, owed]);
    builder.close(always, body);
    Ok(builder.finish(z).with_response(BoundResponse { first, second }))
}

/// Decides such a formula in the initial state.
pub(crate) fn check_bound_response<L: Lts>(
    space: &mut Space<L>,
    formula: &Formula,
    response: &BoundResponse,
    budget: &Budget,
    wants_evidence: bool,
) -> Outcome {
    let was_empty = space.n_expanded() == 0;
    let answer = check_once(space, formula, response, budget, wants_evidence);
    if was_empty || answer.verdict != Verdict::Unknown(Why::Memory) {
        return answer;
    }
    space.drop_states();
    check_once(space, formula, response, budget, wants_evidence)
}

fn check_once<L: Lts>(
    space: &mut Space<L>,
    formula: &Formula,
    response: &BoundResponse,
    budget: &Budget,
    wants_evidence: bool,
) -> Outcome {
    let (states, labels) = (Numbered::default(), Numbered::default());
    let mut owing = Space::new(Owing { space, response, states, labels, stopped: None });
    let mut outcome = run(&mut Game::new(formula), &mut owing, budget, wants_evidence);
    if let Some(evidence) = &mut outcome.evidence {
        owing.system().translate(evidence);
    }
    outcome
}

/// What a transition does to a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mark {
    /// A binding becomes owed.
    Start,
    /// A binding is owed no more.
    End,
    /// Neither.
    None,
}

impl Mark {
    /// The pattern that labels with this mark match.
    fn pattern(self) -> PatternId {
        PatternId(self as u32)
    }
}

/// A state of the system, and the binding that it owes.
type Owed = (StateId, Option<BindingId>);

/// A system whose states may owe a binding.
struct Owing<'s, L> {
    space: &'s mut Space<L>,
    response: &'s BoundResponse,
    states: Numbered<Owed>,
    labels: Numbered<(LabelId, Mark)>,
    /// Why the system listed only a part of the transitions of the last state.
    stopped: Option<Stop>,
}

impl<L: Lts> Owing<'_, L> {
    /// Replaces states and labels by those of the system.
    fn translate(&self, evidence: &mut Evidence) {
        let state = |state: &mut StateId| *state = self.states.items[state.index()].0;
        let label = |label: &mut LabelId| *label = self.labels.items[label.index()].0;
        for position in &mut evidence.positions {
            state(&mut position.state);
            position.moves.iter_mut().flat_map(|one| &mut one.label).for_each(label);
        }
        state(&mut evidence.play.start);
        for step in &mut evidence.play.steps {
            label(&mut step.label);
            state(&mut step.to);
        }
    }

    /// Lists the transitions of a state of the system that owes a binding or none.
    fn transitions(&mut self, (state, owed): Owed) -> Vec<((LabelId, Mark), Owed)> {
        let BoundResponse { first, second } = self.response;
        let mut found = Vec::new();
        for (label, to) in self.space.transitions(state).to_vec() {
            match owed {
                Some(binding) if second.contains_bound(self.space.lts(), label, binding) => {
                    found.push(((label, Mark::End), (to, None)));
                }
                _ => found.push(((label, Mark::None), (to, owed))),
            }
            if owed.is_none() {
                let bindings = first.bindings(self.space.lts(), label).into_iter();
                found.extend(bindings.map(|binding| ((label, Mark::Start), (to, Some(binding)))));
            }
        }
        found
    }
}

impl<L: Lts> Lts for Owing<'_, L> {
    fn initial(&mut self) -> StateId {
        let initial = self.space.initial();
        StateId(self.states.number((initial, None)))
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        let (state, owed) = self.states.items[state.index()];
        self.stopped = self.space.expand(state).err();
        if self.stopped.is_some() {
            return Completeness::Cut("stopped");
        }
        for (label, to) in self.transitions((state, owed)) {
            step(LabelId(self.labels.number(label)), StateId(self.states.number(to)));
        }
        self.space.cut(state).map_or(Completeness::Complete, Completeness::Cut)
    }

    fn holds(&mut self, _: StateId, _: AtomId) -> bool {
        // The formula of a response has no atoms.
        false
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.labels.items[label.index()].1.pattern() == pattern
    }

    fn max_states(&self) -> u64 {
        self.space.system().max_states()
    }

    fn bytes(&self) -> u64 {
        self.space.bytes() + self.space.system().bytes() + self.states.bytes() + self.labels.bytes()
    }

    fn stopped(&self) -> Option<Stop> {
        self.stopped
    }
}

/// Items that are numbered in the order in which they are found.
#[derive(Debug)]
struct Numbered<T> {
    items: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered { items: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, item: T) -> u32 {
        let next = self.items.len() as u32;
        let number = *self.numbers.entry(item).or_insert(next);
        if number == next {
            self.items.push(item);
        }
        number
    }

    fn bytes(&self) -> u64 {
        let entry = std::mem::size_of::<(T, u32)>() + 1;
        (self.items.capacity() * std::mem::size_of::<T>() + self.numbers.capacity() * entry) as u64
    }
}
