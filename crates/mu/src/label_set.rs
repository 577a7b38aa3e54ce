//! Sets of labels: the patterns of formulas whose parts the language has read.

use masque_text::Diagnostic;

use crate::tree::Pattern;
use crate::{BindingId, LabelId, Lts, PatternId, Vocabulary};

/// A set of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelSet {
    /// All labels.
    Any,
    /// Labels that match a pattern of the language.
    Is(PatternId),
    /// Labels that are not in a set.
    Not(Box<LabelSet>),
    /// The union of sets.
    Either(Vec<LabelSet>),
}

impl LabelSet {
    /// Reads a pattern.
    pub fn read(pattern: &Pattern, words: &mut dyn Vocabulary) -> Result<LabelSet, Diagnostic> {
        Ok(match pattern {
            Pattern::Any => LabelSet::Any,
            Pattern::Not(inner) => LabelSet::Not(Box::new(LabelSet::read(inner, words)?)),
            Pattern::Set(parts) => {
                let parts = parts.iter().map(|part| LabelSet::read(part, words));
                LabelSet::Either(parts.collect::<Result<_, _>>()?)
            }
            Pattern::Is(text, span) => LabelSet::Is(words.pattern(text, *span)?),
        })
    }

    /// Whether a label is in the set.
    pub fn contains(&self, lts: &mut dyn Lts, label: LabelId) -> bool {
        self.contains_bound(lts, label, BindingId::NONE)
    }

    /// Whether a label is in the set when the shared variables have the values of a binding.
    pub fn contains_bound(&self, lts: &mut dyn Lts, label: LabelId, binding: BindingId) -> bool {
        match self {
            LabelSet::Any => true,
            LabelSet::Is(pattern) if binding == BindingId::NONE => lts.matches(label, *pattern),
            LabelSet::Is(pattern) => lts.matches_bound(label, *pattern, binding),
            LabelSet::Not(inner) => !inner.contains_bound(lts, label, binding),
            LabelSet::Either(parts) => parts.iter().any(|part| part.contains_bound(lts, label, binding)),
        }
    }

    /// Returns the bindings with which a label is in the set, without duplicates. A complement binds nothing.
    pub fn bindings(&self, lts: &mut dyn Lts, label: LabelId) -> Vec<BindingId> {
        let mut found = match self {
            LabelSet::Any => vec![BindingId::NONE],
            LabelSet::Is(pattern) => lts.bindings(label, *pattern),
            LabelSet::Not(inner) if inner.contains(lts, label) => Vec::new(),
            LabelSet::Not(_) => vec![BindingId::NONE],
            LabelSet::Either(parts) => parts.iter().flat_map(|part| part.bindings(lts, label)).collect(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Adds the patterns of the language in the set.
    pub(crate) fn patterns(&self, found: &mut Vec<PatternId>) {
        match self {
            LabelSet::Any => {}
            LabelSet::Is(pattern) => found.push(*pattern),
            LabelSet::Not(inner) => inner.patterns(found),
            LabelSet::Either(parts) => parts.iter().for_each(|part| part.patterns(found)),
        }
    }
}
