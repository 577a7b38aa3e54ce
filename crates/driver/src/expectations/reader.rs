//! The expectations of all files of a model.
//!
//! Several expectations may be about one property: beside it, by its name, or by a pattern such as `safe*`. In one
//! file, a comment beside the property and its name have the same rank, above patterns. An expectation by name or
//! pattern in another file than the property's has priority, so that a file can import properties and expect other
//! verdicts of them.

use masque_text::{Diagnostic, FileId, Severity, Span};

use super::attach::{self, Properties};
use super::claim::{Claim, ClaimKind};
use super::comments::{self, CommentPlace};
use super::{Expectation, Expectations, ExpectedCode, ExpectedCount, ExpectedVerdict};
use crate::load::Loaded;

/// Priority of an expectation about a property. If two of the same priority in one file differ, they contradict
/// each other; otherwise the higher one is used, or the one in the file that comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    /// A pattern such as `expect safe*: holds`, in the file of the property.
    PatternBeside,
    /// A comment beside the property, or its name in the same file.
    Beside,
    /// A pattern in another file.
    Pattern,
    /// The name in another file.
    Name,
    /// A pattern in a file of expectations.
    SeparatePattern,
    /// The name in a file of expectations.
    SeparateName,
}

/// An expectation about one property, with its priority and its file.
#[derive(Clone)]
struct Candidate {
    priority: Priority,
    file: FileId,
    expectation: Expectation<ExpectedVerdict>,
}

/// Collects the expectations about a model.
pub(super) struct Reader<'l> {
    loaded: &'l Loaded,
    properties: Properties<'l>,
    /// For each property, what is expected of it.
    candidates: Vec<Vec<Candidate>>,
    found: Expectations,
}

impl<'l> Reader<'l> {
    pub(super) fn new(loaded: &'l Loaded) -> Reader<'l> {
        let properties = Properties::new(loaded);
        let candidates = properties.texts.iter().map(|_| Vec::new()).collect();
        Reader { loaded, properties, candidates, found: Expectations::default() }
    }

    /// Reads the expectations of a separate file, which come first, and of all files of the model.
    pub(super) fn read(mut self, separate: Option<FileId>) -> Expectations {
        if let Some(file) = separate {
            let claims = comments::separate_claims(&self.loaded.sources, file);
            claims.into_iter().for_each(|claim| self.add(claim, true));
        }
        let sources = &self.loaded.sources;
        // Texts of options are no files of the model.
        let is_named = |file: &FileId| self.loaded.names.iter().any(|name| name == sources.name(*file));
        for file in
            sources.files().filter(|file| Some(*file) != separate).filter(is_named).collect::<Vec<_>>()
        {
            let claims = comments::claims(self.loaded, file);
            claims.into_iter().for_each(|claim| self.add(claim, false));
        }
        self.settle();
        self.refuse_verdicts_of_errors();
        self.found.diagnostics.sort_by_key(|found| found.primary.as_ref().map(|label| label.span));
        self.found
    }

    /// Adds an expectation, or the error in it.
    fn add(&mut self, claim: Result<Claim, Box<Diagnostic>>, is_separate: bool) {
        let claim = match claim {
            Ok(claim) => claim,
            Err(diagnostic) => return self.found.diagnostics.push(*diagnostic),
        };
        let Claim { kind, source, span, comment } = claim;
        let file = self.loaded.sources.file_of(span);
        match kind {
            ClaimKind::Count(value) => self.add_count(Expectation { value, source, span }),
            ClaimKind::Code(severity, code) => {
                self.found.codes.push(Expectation { value: ExpectedCode { severity, code }, source, span });
            }
            // Without a model there are no properties, and the errors of the model are reported.
            ClaimKind::Beside(value) | ClaimKind::Named(_, value) if self.loaded.model.is_none() => {
                self.found.verdicts.push(Some(Expectation { value, source, span }));
            }
            ClaimKind::Beside(value) => {
                let expectation = Expectation { value, source, span };
                self.add_beside(
                    comment.as_ref(),
                    &Candidate { priority: Priority::Beside, file, expectation },
                );
            }
            ClaimKind::Named(name, value) => {
                self.add_named(&name, is_separate, file, &Expectation { value, source, span });
            }
        }
    }

    /// Adds an expectation to the properties beside its comment.
    fn add_beside(&mut self, comment: Option<&CommentPlace>, candidate: &Candidate) {
        match comment.and_then(|comment| self.properties.beside(comment)) {
            Some(indices) => indices.iter().for_each(|index| self.candidates[*index].push(candidate.clone())),
            None => self.found.diagnostics.push(attach::no_property_beside(candidate.expectation.span)),
        }
    }

    /// Adds an expectation to the properties with a name.
    fn add_named(
        &mut self,
        name: &str,
        is_separate: bool,
        file: FileId,
        expectation: &Expectation<ExpectedVerdict>,
    ) {
        let (indices, is_pattern) = self.properties.named(name);
        if indices.is_empty() {
            self.found.diagnostics.push(self.properties.unknown(name, expectation.span));
        }
        for index in indices {
            let is_beside = self.properties.file(index) == Some(file);
            let priority = match (is_separate, is_beside, is_pattern) {
                (true, _, true) => Priority::SeparatePattern,
                (true, _, false) => Priority::SeparateName,
                (false, true, true) => Priority::PatternBeside,
                (false, true, false) => Priority::Beside,
                (false, false, true) => Priority::Pattern,
                (false, false, false) => Priority::Name,
            };
            self.candidates[index].push(Candidate { priority, file, expectation: expectation.clone() });
        }
    }

    /// Adds an expected number, unless a file that comes first has one.
    fn add_count(&mut self, expected: Expectation<ExpectedCount>) {
        let file = |span: Span| self.loaded.sources.file_of(span);
        let is_same = |other: &&Expectation<ExpectedCount>| other.value.quantity == expected.value.quantity;
        match self.found.counts.iter().find(is_same) {
            None => self.found.counts.push(expected),
            Some(other) if other.value == expected.value || file(other.span) != file(expected.span) => {}
            Some(other) => self.found.diagnostics.push(contradiction(other.span, expected.span)),
        }
    }

    /// Chooses one expectation for each property, and reports contradictions.
    fn settle(&mut self) {
        if self.loaded.model.is_none() {
            return;
        }
        let mut reported: Vec<(Span, Span)> = Vec::new();
        for candidates in std::mem::take(&mut self.candidates) {
            let mut chosen: Option<Candidate> = None;
            for candidate in candidates {
                match &chosen {
                    Some(other) if other.priority == candidate.priority && other.file == candidate.file => {
                        let pair = (other.expectation.span, candidate.expectation.span);
                        let is_new = !reported.contains(&pair);
                        if other.expectation.value != candidate.expectation.value && is_new {
                            self.found.diagnostics.push(contradiction(pair.0, pair.1));
                            reported.push(pair);
                        }
                    }
                    Some(other) if other.priority >= candidate.priority => {}
                    _ => chosen = Some(candidate),
                }
            }
            self.found.verdicts.push(chosen.map(|candidate| candidate.expectation));
        }
    }

    /// Reports verdicts and numbers that are expected of a model that is expected to have errors: a model with
    /// errors is not checked.
    fn refuse_verdicts_of_errors(&mut self) {
        let is_error = |expected: &&Expectation<ExpectedCode>| expected.value.severity == Severity::Error;
        let Some(error) = self.found.codes.iter().find(is_error).map(|expected| expected.span) else {
            return;
        };
        let verdict = self.found.verdicts.iter().flatten().map(|expected| expected.span).next();
        let result = verdict.or_else(|| self.found.counts.first().map(|expected| expected.span));
        if let Some(result) = result {
            let message = "this file is expected to have an error, and a file with errors is not checked";
            let diagnostic = Diagnostic::error("test/contradiction", result, message);
            self.found.diagnostics.push(diagnostic.also(error, "the expected error"));
        }
        if self.loaded.model.is_none() {
            self.found.verdicts.clear();
        }
    }
}

fn contradiction(first: Span, second: Span) -> Diagnostic {
    let message = "this expectation contradicts another one";
    Diagnostic::error("test/contradiction", second, message)
        .also(first, "the other one")
        .hint("keep one of the two")
}
