//! The interface to a language: a labelled transition system, and the patterns and atoms of its formulas.

use masque_text::{Diagnostic, Span};
use masque_verdict::Stop;

masque_text::ids! {
    /// A state of a transition system.
    StateId,
    /// A label of a transition.
    LabelId,
    /// A primitive action pattern, such as `in(offer(_))`.
    PatternId,
    /// A proposition about states, such as `final`.
    AtomId,
    /// Values of the variables that patterns share.
    BindingId,
}

impl BindingId {
    /// The binding of no variable.
    pub const NONE: BindingId = BindingId(0);
}

/// A labelled transition system that is explored while it is checked.
///
/// The implementor numbers states and labels from 0 without gaps, in the order in which it finds them. A
/// method that is called twice with the same arguments returns the same result.
pub trait Lts {
    /// Returns the state in which a check begins.
    fn initial(&mut self) -> StateId;

    /// Calls `step` with each transition of `state`, in a fixed order, and returns whether these are all its
    /// transitions. A transition given twice counts once.
    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness;

    /// Whether an atom holds in a state. A [`Vocabulary`] creates atoms when a formula is read.
    fn holds(&mut self, state: StateId, atom: AtomId) -> bool;

    /// Whether a label matches a primitive pattern. Called once for each pair; the result is stored.
    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool;

    /// Returns the values of shared variables with which a label matches a pattern; none if it does not match.
    /// Without shared variables, the only result is [`BindingId::NONE`].
    fn bindings(&mut self, label: LabelId, pattern: PatternId) -> Vec<BindingId> {
        if self.matches(label, pattern) { vec![BindingId::NONE] } else { Vec::new() }
    }

    /// Whether a label matches a pattern whose shared variables have the values of a binding.
    fn matches_bound(&mut self, label: LabelId, pattern: PatternId, _binding: BindingId) -> bool {
        self.matches(label, pattern)
    }

    /// Returns the maximum number of states that one check expands; the transitions of any other state lie
    /// beyond the bound `states`. Each check counts its own states, whether or not another check has
    /// explored them.
    fn max_states(&self) -> u64 {
        u64::MAX
    }

    /// Returns the memory of the system in bytes, as far as it grows while states are found.
    fn bytes(&self) -> u64 {
        0
    }

    /// Returns why the last call of [`Lts::successors`] ended early, if it did. Its transitions are then
    /// incomplete, and the state must not count as expanded.
    fn stopped(&self) -> Option<Stop> {
        None
    }
}

impl<L: Lts + ?Sized> Lts for &mut L {
    fn initial(&mut self) -> StateId {
        (**self).initial()
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        (**self).successors(state, step)
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        (**self).holds(state, atom)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        (**self).matches(label, pattern)
    }

    fn bindings(&mut self, label: LabelId, pattern: PatternId) -> Vec<BindingId> {
        (**self).bindings(label, pattern)
    }

    fn matches_bound(&mut self, label: LabelId, pattern: PatternId, binding: BindingId) -> bool {
        (**self).matches_bound(label, pattern, binding)
    }

    fn max_states(&self) -> u64 {
        (**self).max_states()
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn stopped(&self) -> Option<Stop> {
        (**self).stopped()
    }
}

/// Whether all transitions of a state are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completeness {
    /// All transitions were given.
    Complete,
    /// Some transitions lie beyond a bound and are not known. The report shows the name of the bound after
    /// `bound:`, such as `cap`, `depth` or `psize`.
    Cut(&'static str),
}

/// Parses the parts of a formula that depend on the language: primitive action patterns and state atoms.
///
/// The parser of this crate finds where a pattern or an atom begins and ends: a word or `#`, then
/// an argument in balanced brackets if one follows directly, then, for a pattern, `@` and the actor
/// (again a word with an optional argument). A quoted text, `'..'` or `".."`, may stand where a
/// pattern may. The text is passed as written, so a term parser can read it with
/// `span.start` as the position of its first byte.
///
/// This crate handles everything else: `-`, `-P` and `{P, Q}` of patterns, `tt`, `ff`, variables, and the atom
/// `deadlock`, which is `[-]ff && !final` and asks the vocabulary for `final` only.
pub trait Vocabulary {
    /// Returns the pattern written as `text` at `span`, such as `in(offer(X), a(seller, _))@c1`, `#(pay)`,
    /// `#` or `tau`, or an error. Equal patterns should get equal ids.
    fn pattern(&mut self, text: &str, span: Span) -> Result<PatternId, Diagnostic>;

    /// Returns the atom written as `text` at `span`, such as `final`, `done(c1)` or `at(c1, buyer(_))`, or an
    /// error. For `deadlock` the text is `final` and the span is that of the word `deadlock`.
    fn atom(&mut self, text: &str, span: Span) -> Result<AtomId, Diagnostic>;
}
