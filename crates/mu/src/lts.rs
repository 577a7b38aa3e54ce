//! The contract with a language: a labelled transition system, and the words its formulas use.

use masque_text::{Diagnostic, Span};

masque_text::ids! {
    /// A state of a transition system.
    StateId,
    /// A label of a transition: what is done, by whom, to whom.
    LabelId,
    /// A primitive action pattern, such as `in(offer(_))`.
    PatternId,
    /// A proposition about states, such as `final`.
    AtomId,
}

/// A labelled transition system that is discovered while it is being checked.
///
/// States and labels are small numbers that the implementor hands out densely from 0, in the order
/// in which it comes across them. Asking twice gives the same answer.
pub trait Lts {
    /// The state a check begins in.
    fn initial(&mut self) -> StateId;

    /// Calls `step` with each transition of `state`, in a fixed order, and says whether these are
    /// all there are. A transition given twice counts once.
    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness;

    /// Whether an atom holds in a state. Atoms come from a [`Vocabulary`], when a formula is read.
    fn holds(&mut self, state: StateId, atom: AtomId) -> bool;

    /// Whether a label matches a primitive pattern. Asked once for each pair; the answer is kept.
    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool;

    /// Maximum number of states that one check looks into; to a check that has looked into as many, any
    /// other state is cut off by the bound `states`. Each check counts its own states, whether or not
    /// another check has explored them.
    fn most_states(&self) -> u64 {
        u64::MAX
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

    fn most_states(&self) -> u64 {
        (**self).most_states()
    }
}

/// Whether the transitions of a state are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completeness {
    /// All were given.
    Complete,
    /// Some lie beyond a bound, and nothing is known of them. The bound's name is what the report
    /// shows after `bound:`, such as `cap`, `depth` or `psize`.
    Cut(&'static str),
}

/// Reads what only the language knows of a formula: primitive action patterns and state atoms.
///
/// The parser of this crate finds where a pattern or an atom begins and ends: a word or `#`, then
/// an argument in balanced brackets if one follows at once, then, for a pattern, `@` and who acts
/// (again a word with an optional argument). A quoted text, `'..'` or `".."`, may stand where a
/// pattern may. The text is handed over as it was written, so a term parser can read it with
/// `span.start` as the position of its first byte.
///
/// All else is done here: `-`, `-P` and `{P, Q}` of patterns, `tt`, `ff`, variables, and the atom
/// `deadlock`, which is `[-]ff && !final` and asks the vocabulary for `final` only.
pub trait Vocabulary {
    /// The pattern written as `text` at `span`, such as `in(offer(X), a(seller, _))@c1`, `#(pay)`,
    /// `#` or `tau`; or what is wrong with it. Equal patterns should get equal ids.
    fn pattern(&mut self, text: &str, span: Span) -> Result<PatternId, Diagnostic>;

    /// The atom written as `text` at `span`, such as `final`, `done(c1)` or `at(c1, buyer(_))`; or
    /// what is wrong with it. The text is `final` and the span that of the word `deadlock` where
    /// that word is used.
    fn atom(&mut self, text: &str, span: Span) -> Result<AtomId, Diagnostic>;
}
