//! TOML tables with the places of their keys, and messages about them.

use std::collections::BTreeSet;
use std::ops::Range;

use masque_text::{Diagnostic, Span, did_you_mean};
use toml::de::{DeTable, DeValue};

/// A value of a TOML file with its place.
pub(super) type Value<'t> = toml::Spanned<DeValue<'t>>;

/// The file that is read, and the messages about it.
#[derive(Debug)]
pub(super) struct File<'s> {
    pub(super) text: &'s str,
    /// Where the text begins among the sources.
    pub(super) base: u32,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A table whose keys are read one after the other. Keys that nothing reads are errors.
pub(super) struct Table<'v, 't> {
    table: &'v DeTable<'t>,
    /// What the table is, for messages: `a map`.
    what: &'static str,
    /// Place of the table.
    span: Span,
    known: BTreeSet<&'static str>,
}

impl File<'_> {
    /// A place in the file as a span among the sources.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        Span { start: self.base + range.start as u32, end: self.base + range.end as u32 }
    }

    /// Reports that a value is not what is expected.
    pub(super) fn unexpected(&mut self, value: &Value<'_>, what: &str, expected: &str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a decimal",
            DeValue::Boolean(_) => "a truth value",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let message = format!("{what} is {found}; expected {expected}");
        let span = self.span(value.span());
        self.diagnostics.push(Diagnostic::error("monitor/map-type", span, message));
    }

    /// Reports a mistake inside a string. `at` is a byte of its value.
    pub(super) fn mistake(&mut self, value: &Value<'_>, at: usize, message: &str) {
        let (range, text) = (value.span(), value.get_ref().as_str().unwrap_or_default());
        let written = self.text.get(range.clone()).unwrap_or_default();
        // A text with escapes is written otherwise than it is; then the whole string is underlined.
        let is_quote =
            |quote: &usize| written.get(*quote..written.len().saturating_sub(*quote)) == Some(text);
        let span = match [1, 3].into_iter().find(is_quote) {
            Some(quote) => {
                let start = range.start + quote + at;
                let n_bytes = text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                self.span(start..start + n_bytes)
            }
            None => self.span(range),
        };
        self.diagnostics.push(Diagnostic::error("monitor/map-value", span, message));
    }
}

impl<'v, 't> Table<'v, 't> {
    pub(super) fn new(table: &'v DeTable<'t>, what: &'static str, span: Span) -> Table<'v, 't> {
        Table { table, what, span, known: BTreeSet::new() }
    }

    /// Place of the table.
    pub(super) fn span(&self) -> Span {
        self.span
    }

    /// The value of a key.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'v Value<'t>> {
        self.known.insert(key);
        self.table.get(key)
    }

    /// The string of a key.
    pub(super) fn string(&mut self, key: &'static str, file: &mut File<'_>) -> Option<&'v Value<'t>> {
        let value = self.take(key)?;
        if value.get_ref().as_str().is_none() {
            file.unexpected(value, &format!("`{key}`"), "a string");
            return None;
        }
        Some(value)
    }

    /// The truth value of a key; false if there is none.
    pub(super) fn flag(&mut self, key: &'static str, file: &mut File<'_>) -> bool {
        match self.take(key).map(|value| (value, value.get_ref().as_bool())) {
            Some((_, Some(flag))) => flag,
            Some((value, None)) => {
                file.unexpected(value, &format!("`{key}`"), "`true` or `false`");
                false
            }
            None => false,
        }
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        file: &mut File<'_>,
    ) -> Option<T> {
        let value = self.string(key, file)?;
        let text = value.get_ref().as_str().unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let all: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let message = format!("`{key}` is `{text}`; expected {}", all.join(", "));
            let help = did_you_mean(text, words.iter().map(|(word, _)| *word));
            let span = file.span(value.span());
            file.diagnostics
                .push(Diagnostic::error("monitor/map-value", span, message).help(help).without_fix());
        }
        found
    }

    /// Reports keys that nothing has read.
    pub(super) fn finish(self, file: &mut File<'_>) {
        for key in self.table.keys().filter(|key| !self.known.contains(key.get_ref().as_ref())) {
            let name = key.get_ref();
            let message = format!("{} has no key `{name}`", self.what);
            let help = did_you_mean(name, self.known.iter().copied()).unwrap_or_else(|| {
                let known: Vec<&str> = self.known.iter().copied().collect();
                format!("its keys are {}", known.join(", "))
            });
            let span = file.span(key.span());
            file.diagnostics.push(Diagnostic::error("monitor/map-key", span, message).hint(help));
        }
    }
}
