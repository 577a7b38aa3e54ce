//! Formulas as their author wrote them.
//!
//! A checked formula has lost the text it comes from: aggregates are expanded, definitions inserted, and
//! equal parts are stored once. [`Wording`] remembers, for each part of each property, the text that it was
//! read from and the values that index variables had there. Reports print `count(i in 1..N : on[i]) >= 2`
//! again, and `K(Station[2], on[2])` for an instance of `K(Station[i], on[i])`.

use std::ops::Range;

use masque_text::{OneLine, Piece, Span};
use rustc_hash::FxHashMap;

/// Splits a text of the source language into tokens, and calls a function with each.
pub type Splitter = for<'t> fn(&'t str, &mut dyn FnMut(Piece<'t>));

/// The text of a formula, and the index variables in its scope.
#[derive(Clone, Copy, Debug)]
struct Phrase {
    /// The formula, as an index in the list of all formulas.
    formula: u32,
    span: Span,
    /// Index in [`Wording::scopes`].
    scope: u32,
}

/// The text of a property, in [`Wording`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentenceId(u32);

/// The text of one property, with the phrases of its parts.
#[derive(Clone, Debug)]
struct Sentence {
    /// Span of the whole formula, with the prefix that names its logic.
    span: Span,
    /// The text of `span`, as a range of [`Wording::texts`]. Instances of one formula in a loop share it.
    text: Range<usize>,
    /// Index in [`Wording::scopes`].
    scope: u32,
    /// The parts, as a range of [`Wording::phrases`].
    phrases: Range<usize>,
}

/// The texts of all properties. Parts of formulas are given as indices in the list of all formulas.
#[derive(Clone, Debug, Default)]
pub struct Wording {
    splitter: Option<Splitter>,
    texts: String,
    sentences: Vec<Sentence>,
    phrases: Vec<Phrase>,
    /// Values of index variables, as ranges of `bindings`.
    scopes: Vec<Range<usize>>,
    bindings: Vec<(Box<str>, i64)>,
    /// Number of phrases that belong to a finished sentence.
    n_spoken: usize,
}

impl Wording {
    /// No texts yet, in the language that `splitter` reads.
    pub fn new(splitter: Splitter) -> Wording {
        Wording { splitter: Some(splitter), ..Wording::default() }
    }

    /// Adds a part of the property that is being read. The first text of a formula in a property is used.
    pub fn add_part<'n>(
        &mut self,
        formula: usize,
        span: Span,
        bindings: impl ExactSizeIterator<Item = (&'n str, i64)> + Clone,
    ) {
        let scope = self.scope(bindings);
        self.phrases.push(Phrase { formula: formula as u32, span, scope });
    }

    /// Ends a property, which was read from `text` at `span`: the parts added since the last one are its parts.
    pub fn add_property<'n>(
        &mut self,
        text: &str,
        span: Span,
        bindings: impl ExactSizeIterator<Item = (&'n str, i64)> + Clone,
    ) -> SentenceId {
        let text = match self.sentences.last() {
            Some(last) if last.span == span => last.text.clone(),
            _ => {
                let start = self.texts.len();
                self.texts.push_str(text);
                start..self.texts.len()
            }
        };
        let (scope, phrases) = (self.scope(bindings), self.n_spoken..self.phrases.len());
        self.n_spoken = phrases.end;
        self.sentences.push(Sentence { span, text, scope, phrases });
        SentenceId(self.sentences.len() as u32 - 1)
    }

    /// Returns the scope with these values: the last one, or a new one.
    fn scope<'n>(&mut self, bindings: impl ExactSizeIterator<Item = (&'n str, i64)> + Clone) -> u32 {
        let is_last = self.scopes.last().is_some_and(|last| {
            let same =
                |(name, value): (&str, i64), last: &(Box<str>, i64)| *name == *last.0 && value == last.1;
            last.len() == bindings.len()
                && bindings.clone().zip(&self.bindings[last.clone()]).all(|(new, last)| same(new, last))
        });
        if !is_last {
            let start = self.bindings.len();
            self.bindings.extend(bindings.map(|(name, value)| (name.into(), value)));
            self.scopes.push(start..self.bindings.len());
        }
        self.scopes.len() as u32 - 1
    }

    /// Returns the text of a property.
    pub fn property(&self, id: SentenceId) -> Option<String> {
        let sentence = self.sentences.get(id.0 as usize)?;
        self.text(sentence, sentence.span, sentence.scope)
    }

    /// Returns the texts of the parts of a property; none if it has no text.
    pub fn parts(&self, id: Option<SentenceId>) -> Parts<'_> {
        let Some(sentence) = id.and_then(|id| self.sentences.get(id.0 as usize)) else {
            return Parts::default();
        };
        let mut parts = Parts { source: Some((self, sentence)), by_formula: FxHashMap::default() };
        for phrase in &self.phrases[sentence.phrases.clone()] {
            parts.by_formula.entry(phrase.formula).or_insert(*phrase);
        }
        parts
    }

    /// Returns the text at `span` inside a sentence, with index variables replaced by their values.
    fn text(&self, sentence: &Sentence, span: Span, scope: u32) -> Option<String> {
        let start = span.start.checked_sub(sentence.span.start)? as usize;
        let len = span.end.checked_sub(span.start)? as usize;
        let text = self.texts[sentence.text.clone()].get(start..start + len)?;
        let bindings = &self.bindings[self.scopes[scope as usize].clone()];
        let values: Vec<String> = bindings.iter().map(|(_, value)| value.to_string()).collect();
        let mut line = OneLine::default();
        let mut follows_dot = false;
        self.splitter?(text, &mut |piece| {
            let is_member = std::mem::replace(&mut follows_dot, piece.text == ".");
            let index = || bindings.iter().rposition(|(name, _)| **name == *piece.text);
            match (piece.is_word && !is_member).then(index).flatten() {
                Some(index) => line.push(Piece { text: &values[index], ..piece }),
                None => line.push(piece),
            }
        });
        Some(line.text)
    }
}

/// The texts of the parts of one property.
#[derive(Clone, Debug, Default)]
pub struct Parts<'w> {
    /// The text of the property, if it has one.
    source: Option<(&'w Wording, &'w Sentence)>,
    by_formula: FxHashMap<u32, Phrase>,
}

impl Parts<'_> {
    /// Returns the text of a part, unless the formula does not occur in the text of the property.
    pub fn text(&self, formula: usize) -> Option<String> {
        let (wording, sentence) = self.source?;
        let phrase = self.by_formula.get(&(formula as u32))?;
        wording.text(sentence, phrase.span, phrase.scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits at spaces.
    fn words<'t>(text: &'t str, receive: &mut dyn FnMut(Piece<'t>)) {
        text.split_whitespace().for_each(|text| receive(Piece { text, is_word: true, follows_gap: true }));
    }

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    #[test]
    fn instances_of_one_text_differ_in_their_indexes() {
        let mut wording = Wording::new(words);
        let none = || std::iter::empty::<(&str, i64)>();
        wording.add_part(7, span(104, 111), none());
        let first = wording.add_property("not    lamp i", span(100, 113), [("i", 1)].into_iter());
        wording.add_part(8, span(107, 113), [("i", 2)].into_iter());
        wording.add_part(8, span(100, 103), none());
        let second = wording.add_property("not    lamp i", span(100, 113), [("i", 2)].into_iter());
        assert_eq!(wording.property(first).as_deref(), Some("not lamp 1"));
        assert_eq!(wording.property(second).as_deref(), Some("not lamp 2"));
        let (of_first, of_second) = (wording.parts(Some(first)), wording.parts(Some(second)));
        assert_eq!(of_first.text(7).as_deref(), Some("lamp"));
        assert_eq!(of_first.text(8), None, "a part of the other property");
        assert_eq!(of_second.text(8).as_deref(), Some("lamp 2"), "the first text is used");
        assert_eq!(wording.texts.len(), 13, "the text is stored once");
        assert_eq!(wording.parts(None).text(7), None);
    }

    #[test]
    fn a_member_is_not_an_index() {
        let mut wording = Wording::new(words);
        let id = wording.add_property("Lamp . i = i", span(0, 12), [("i", 3)].into_iter());
        assert_eq!(wording.property(id).as_deref(), Some("Lamp . i = 3"));
    }

    #[test]
    fn a_part_outside_the_text_has_no_text() {
        let mut wording = Wording::new(words);
        wording.add_part(1, span(5, 9), std::iter::empty::<(&str, i64)>());
        wording.add_part(2, span(10, 99), std::iter::empty::<(&str, i64)>());
        let id = wording.add_property("on", span(10, 12), std::iter::empty::<(&str, i64)>());
        let parts = wording.parts(Some(id));
        assert_eq!((parts.text(1), parts.text(2)), (None, None));
    }
}
