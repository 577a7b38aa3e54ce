//! The results that the comments of a model expect: verdicts of properties, numbers of states and transitions, and
//! diagnostics.
//!
//! | file | does |
//! |---|---|
//! | `comments` | finds the comments of a file, and the code around them |
//! | `claim` | reads the text of one expectation |
//! | `attach` | finds the property that an expectation belongs to |
//! | `reader` | collects the expectations of all files, and chooses among several for one property |
//!
//! `docs/testing.md` describes the form of expectations for users.

mod attach;
mod claim;
mod comments;
mod reader;

use std::fmt;

use masque_text::{Diagnostic, FileId, Severity, Span};
use masque_verdict::{Verdict, Why};

use crate::load::Loaded;
use reader::Reader;

/// An expected verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVerdict {
    /// `holds`.
    Holds,
    /// `fails`.
    Fails,
    /// `unknown`, or `unknown(REASON)` for one reason only.
    Unknown(Option<Why>),
}

impl ExpectedVerdict {
    /// Whether a verdict is as expected.
    pub fn accepts(self, verdict: Verdict) -> bool {
        match (self, verdict) {
            (ExpectedVerdict::Holds, Verdict::Holds) | (ExpectedVerdict::Fails, Verdict::Fails) => true,
            (ExpectedVerdict::Unknown(expected), Verdict::Unknown(why)) => {
                expected.is_none_or(|expected| expected == why)
            }
            _ => false,
        }
    }

    /// Whether a verdict neither confirms nor refutes this one: a limit stopped the check.
    pub fn is_left_open_by(self, verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Unknown(why) if why.is_limit()) && !self.accepts(verdict)
    }
}

impl fmt::Display for ExpectedVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpectedVerdict::Holds => f.write_str("holds"),
            ExpectedVerdict::Fails => f.write_str("fails"),
            ExpectedVerdict::Unknown(None) => f.write_str("unknown"),
            ExpectedVerdict::Unknown(Some(why)) => write!(f, "unknown({why})"),
        }
    }
}

/// Something that is expected, and the place of the comment that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation<T> {
    /// The expected result.
    pub value: T,
    /// Source of the result, or its reason: `[FHMV95 §1.1]`, or a few words.
    pub source: Option<String>,
    /// The comment, without its comment sign.
    pub span: Span,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The reachable states of the model.
    States,
    /// The states of a world of a BDI file, by its path.
    WorldStates(String),
    /// The transitions between reachable states.
    Transitions,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::States => f.write_str("states"),
            Quantity::WorldStates(world) => write!(f, "states[{world}]"),
            Quantity::Transitions => f.write_str("transitions"),
        }
    }
}

/// An expected number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedCount {
    /// What is counted.
    pub quantity: Quantity,
    /// The number in decimal, without leading zeros.
    pub number: String,
}

/// A diagnostic that is expected at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedCode {
    /// Severity of the diagnostic.
    pub severity: Severity,
    /// Code of the diagnostic.
    pub code: String,
}

/// All that the comments of a model expect.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// The expected verdict of each property, in the order of the model. Empty if there is no model.
    pub verdicts: Vec<Option<Expectation<ExpectedVerdict>>>,
    /// The expected numbers of states and transitions.
    pub counts: Vec<Expectation<ExpectedCount>>,
    /// The expected diagnostics.
    pub codes: Vec<Expectation<ExpectedCode>>,
    /// Errors in the expectations themselves.
    pub diagnostics: Vec<Diagnostic>,
}

impl Expectations {
    /// Whether nothing is expected, and no expectation has an error.
    pub fn is_empty(&self) -> bool {
        self.verdicts.iter().all(Option::is_none)
            && self.counts.is_empty()
            && self.codes.is_empty()
            && self.diagnostics.is_empty()
    }

    /// Whether an error with this code is expected.
    pub fn expects_error(&self, code: &str) -> bool {
        let is_meant =
            |expected: &ExpectedCode| expected.severity == Severity::Error && expected.code == code;
        self.codes.iter().any(|expected| is_meant(&expected.value))
    }
}

/// Reads the expectations in the comments of a model's files.
///
/// ```
/// use masque_driver::{ExpectedVerdict, expectations, load_text};
/// let text = "a(hen, H) :: null. agent a(hen, h).\n// expect: holds, nothing is sent\nproperty ends : AF final ;";
/// let found = expectations(&load_text("farm.lcc", text, &Default::default()));
/// let first = found.verdicts[0].as_ref().unwrap();
/// assert_eq!((first.value, first.source.as_deref()), (ExpectedVerdict::Holds, Some("nothing is sent")));
/// ```
pub fn expectations(loaded: &Loaded) -> Expectations {
    Reader::new(loaded).read(None)
}

/// Reads the expectations of a model, and those of a separate file, which have priority. The file has been added
/// to the sources of the model.
pub(crate) fn expectations_with(loaded: &Loaded, separate: Option<FileId>) -> Expectations {
    Reader::new(loaded).read(separate)
}

#[cfg(test)]
mod tests;
