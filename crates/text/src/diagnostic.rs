//! Diagnostics as data.

use crate::Span;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input means something its author may not have meant.
    Warning,
    /// Information that needs no action.
    Note,
}

impl Severity {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A span, and the text shown beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Span that is underlined.
    pub span: Span,
    /// Text beside the underline. May be empty.
    pub text: String,
}

/// One message about the user's input.
///
/// `code` is stable and has a page (`masque explain CODE`). The message says what is wrong and
/// what would be accepted; `help` guesses what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `language/kebab-name`.
    pub code: &'static str,
    /// Whether the input is refused.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// Main location. `None` where there is no text to point at, as for a file that does not exist.
    pub primary: Option<Label>,
    /// Further locations that explain the first one.
    pub secondary: Vec<Label>,
    /// Help line: what the author may have meant.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::at(Severity::Error, code, span, message)
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::at(Severity::Warning, code, span, message)
    }

    /// A note at `span`.
    pub fn note(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::at(Severity::Note, code, span, message)
    }

    /// A diagnostic that has no text to point at.
    pub fn nowhere(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), primary: None, secondary: Vec::new(), help: None }
    }

    fn at(severity: Severity, code: &'static str, span: Span, message: impl Into<String>) -> Self {
        let primary = Some(Label { span, text: String::new() });
        Self { primary, ..Self::nowhere(severity, code, message) }
    }

    /// Writes `text` beside the primary span.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(primary) = &mut self.primary {
            primary.text = text.into();
        }
        self
    }

    /// Adds a secondary location.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a help line, if `help` is one.
    pub fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into().or(self.help);
        self
    }

    /// Adds a help line.
    pub fn hint(self, help: impl Into<String>) -> Self {
        self.help(Some(help.into()))
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns the errors among the diagnostics as an error, if there are any.
    pub fn no_errors(all: Vec<Diagnostic>) -> Result<(), Vec<Diagnostic>> {
        let errors: Vec<_> = all.into_iter().filter(Diagnostic::is_error).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}
