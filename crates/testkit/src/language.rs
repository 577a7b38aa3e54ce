//! What must be true of every language: no text makes its parser panic, diagnostics point into the
//! text, and its formatter changes nothing but white space and formats twice as once.

use std::fmt::Debug;

use masque_text::{Diagnostic, FileId, Sources, render};

use crate::assert_points_into;

/// A language, as its tests see it.
#[derive(Clone, Copy, Debug)]
pub struct LanguageUnderTest {
    /// Prefix of its diagnostic codes, such as `mu/`.
    pub prefix: &'static str,
    /// The formatter.
    pub format: fn(&Sources, FileId) -> Result<String, Vec<Diagnostic>>,
}

impl LanguageUnderTest {
    /// A text after another source, so that its positions do not begin at 0.
    ///
    /// # Panics
    ///
    /// Panics if the text is too large.
    pub fn source(&self, text: &str) -> (Sources, FileId) {
        let mut sources = Sources::default();
        sources.add("before", "another file: é\n").expect("a short text");
        let file = sources.add("test", text).expect("a text below the limit");
        (sources, file)
    }

    /// Formats a text.
    ///
    /// # Panics
    ///
    /// Panics if the text has syntax errors.
    pub fn formatted(&self, text: &str) -> String {
        let (sources, file) = self.source(text);
        (self.format)(&sources, file).unwrap_or_else(|errors| {
            let errors: String = errors.iter().map(|error| render(&sources, error, false)).collect();
            panic!("{errors}\n{text}")
        })
    }

    /// Formats a text and checks the result: `content` is the same before and after, white space is as
    /// it should be, and formatting again changes nothing. Returns the formatted text.
    ///
    /// # Panics
    ///
    /// Panics if one of these does not hold, or if the text has syntax errors.
    pub fn formats_well<C: PartialEq + Debug>(&self, text: &str, content: impl Fn(&str) -> C) -> String {
        let once = self.formatted(text);
        assert_eq!(content(&once), content(text), "the content has changed: {text:?}\n{once}");
        let is_white = |c: char| c.is_ascii_whitespace();
        assert!(once.is_empty() || once.ends_with('\n') && !once.ends_with("\n\n"), "{once:?}");
        assert!(!once.starts_with(is_white), "{once:?}");
        assert!(once.lines().all(|line| !line.ends_with(is_white)), "{once:?}");
        assert_eq!(self.formatted(&once), once, "not idempotent: {text:?}");
        once
    }

    /// Reads and formats any text: nothing panics, every diagnostic can be rendered and points into the
    /// text, the formatter refuses exactly the texts with syntax errors, and formatting twice changes
    /// nothing. Returns whether the text is syntactically correct.
    ///
    /// `read` returns the syntax errors and, separately, further diagnostics of the language.
    ///
    /// # Panics
    ///
    /// Panics if one of these does not hold.
    pub fn survives(
        &self,
        text: &str,
        read: impl FnOnce(&mut Sources, FileId) -> (Vec<Diagnostic>, Vec<Diagnostic>),
    ) -> bool {
        let (mut sources, file) = self.source(text);
        let (syntax, further) = read(&mut sources, file);
        for diagnostics in [&syntax, &further] {
            assert_points_into(&sources, file, self.prefix, diagnostics);
            diagnostics.iter().take(2).for_each(|diagnostic| drop(render(&sources, diagnostic, false)));
        }
        let is_correct = !syntax.iter().any(Diagnostic::is_error);
        match (self.format)(&sources, file) {
            Ok(once) => {
                assert!(is_correct, "formatted despite errors: {text:?}");
                let again = sources.add("again", once.as_str()).expect("a text below the limit");
                assert_eq!((self.format)(&sources, again), Ok(once), "not idempotent: {text:?}");
            }
            Err(errors) => {
                assert!(!is_correct, "not formatted: {text:?}");
                assert!(!errors.is_empty() && errors.iter().all(Diagnostic::is_error));
            }
        }
        is_correct
    }
}

/// The characters of a text that are no white space.
pub fn without_white_space(text: &str) -> String {
    text.split_whitespace().collect()
}
