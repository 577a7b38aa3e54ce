//! Diagnostics as data.

use crate::{Sources, Span, did_you_mean};

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

/// A change of the text that removes the reason for a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Short description in the imperative, such as "replace by `Alice`".
    pub title: String,
    /// Spans and the texts that replace them, in the order of the text and without overlaps.
    pub edits: Vec<(Span, String)>,
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
    /// Change of the text that the help line suggests, for editors.
    pub fix: Option<Fix>,
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
        Self {
            code,
            severity,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            help: None,
            fix: None,
        }
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

    /// Adds a help line, if `help` is one. A line that begins with "did you mean `NAME`?" also becomes a fix that
    /// replaces the primary span by the name, unless there is a fix.
    pub fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into().or(self.help);
        if let (None, Some(primary), Some(meant)) =
            (&self.fix, &self.primary, self.help.as_deref().and_then(meant))
        {
            self.fix = Some(Fix {
                title: format!("replace by `{meant}`"),
                edits: vec![(primary.span, meant.to_string())],
            });
        }
        self
    }

    /// Adds a fix that changes the text at one place. An empty span inserts text.
    pub fn fix(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { title: title.into(), edits: vec![(span, text.into())] });
        self
    }

    /// Removes the fix, where the primary span is not the text that the help line replaces.
    pub fn without_fix(mut self) -> Self {
        self.fix = None;
        self
    }

    /// Returns the fix for editors. The primary span may cover more than a misspelt name, as in `Agent.name`: then only
    /// that name is replaced, and there is no fix if no name resembles the suggestion.
    pub fn fix_in(&self, sources: &Sources) -> Option<Fix> {
        let mut fix = self.fix.clone()?;
        let suggested = self.help.as_deref().and_then(meant);
        if let ([(span, text)], Some(suggested)) = (fix.edits.as_mut_slice(), suggested)
            && suggested == text
        {
            let (from, to) = misspelt(sources.slice(*span), suggested)?;
            *span = span.slice(from as u32, to as u32);
        }
        Some(fix)
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

/// The name in a help line of [`did_you_mean`](crate::did_you_mean).
fn meant(help: &str) -> Option<&str> {
    help.strip_prefix("did you mean `")?.split_once("`?").map(|(name, _)| name)
}

/// The place of the name in a text that a suggestion replaces: the whole text, or its last word outside brackets that
/// resembles the suggestion.
fn misspelt(text: &str, suggested: &str) -> Option<(usize, usize)> {
    let shares_prefix = |a: &str, b: &str| a.len() >= 3 && b.starts_with(a);
    let resembles = |word: &str| {
        did_you_mean(word, [suggested]).is_some()
            || shares_prefix(word, suggested)
            || shares_prefix(suggested, word)
    };
    if did_you_mean(text, [suggested]).is_some() {
        return Some((0, text.len()));
    }
    let outside = &text[..text.find('(').unwrap_or(text.len())];
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut found = None;
    let mut from = 0;
    for word in outside.split_inclusive(|c| !is_part(c)) {
        let name = word.trim_end_matches(|c| !is_part(c));
        if resembles(name) {
            found = Some((from, from + name.len()));
        }
        from += word.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_name_becomes_a_fix() {
        let span = Span { start: 3, end: 8 };
        let error =
            |help: &str| Diagnostic::error("ispl/unknown-agent", span, "there is no agent").hint(help);
        let fix = error("did you mean `Alice`?").fix.unwrap();
        assert_eq!(
            (fix.title.as_str(), fix.edits),
            ("replace by `Alice`", vec![(span, "Alice".to_string())])
        );
        assert_eq!(error("the agents are `Alice` and `Bob`").fix, None);
        assert_eq!(error("did you mean `Alice`?").without_fix().fix, None);
    }

    #[test]
    fn only_a_similar_name_is_replaced() {
        let replaced = |text: &str| {
            let mut sources = Sources::default();
            let file = sources.add("a.ispl", text).unwrap();
            let found = Diagnostic::error("ispl/unknown-variable", sources.span(file), "unknown")
                .hint("did you mean `light`?");
            found.fix_in(&sources).map(|fix| sources.slice(fix.edits[0].0).to_string())
        };
        let check = |text: &str, word: Option<&str>| assert_eq!(replaced(text).as_deref(), word, "{text}");
        check("Bob.lihgt", Some("lihgt"));
        check("lihgt", Some("lihgt"));
        check("lihgt = 3", Some("lihgt"));
        check("lihgt(lamp, lihgt)", Some("lihgt"));
        check("light_of(lamp)", Some("light_of"));
        check("a < b", None);
    }
}
