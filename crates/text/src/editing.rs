//! Data for editors beside the names: completions, operators with their meanings, and coloured words. The functions
//! that compute them are in the crate of each language.

use crate::{Declaration, Kind, NameIndex, NameKind, Sources, Span, Tokens};

/// What a completion inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompletionKind {
    /// A word of the language.
    Keyword,
    /// A name of the model.
    Name(NameKind),
    /// A text with places to fill in, `${1:agent}` each, as the language server protocol writes them.
    Snippet,
}

/// A text that an editor offers to insert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// What it is.
    pub kind: CompletionKind,
    /// One line about it: the declaration of a name, or the meaning of an operator.
    pub detail: String,
}

impl Completion {
    /// A word of the language.
    pub fn keyword(text: &str, detail: &str) -> Completion {
        Completion { text: text.to_string(), kind: CompletionKind::Keyword, detail: detail.to_string() }
    }

    /// A text with places to fill in.
    pub fn snippet(text: impl Into<String>, detail: &str) -> Completion {
        Completion { text: text.into(), kind: CompletionKind::Snippet, detail: detail.to_string() }
    }

    /// A name of the model.
    pub fn name(declaration: &Declaration) -> Completion {
        Completion {
            text: declaration.name.clone(),
            kind: CompletionKind::Name(declaration.kind),
            detail: declaration.text.clone(),
        }
    }
}

/// The tokens of a file before a position, for an editor's question about that position.
#[derive(Debug)]
pub struct TextBefore<'t, K> {
    /// The tokens. The last one may be half typed.
    pub tokens: Tokens<'t, K>,
    /// Number of tokens without a word that ends at the position, which may be half typed.
    pub n_complete: usize,
    /// Whether the position lies in a comment.
    pub is_comment: bool,
}

impl<'t, K: Kind> TextBefore<'t, K> {
    /// Splits the text before a position, from the beginning of the file or of a line shortly before.
    pub fn new(sources: &'t Sources, position: u32) -> Self {
        let file = sources.file_of(Span { start: position, end: position });
        let tokens: Tokens<'t, K> = Tokens::before(sources, file, position);
        let is_comment = tokens.comments().last().is_some_and(|comment| {
            comment.span.end == position && !tokens.slice(comment.span).ends_with("*/")
        });
        let is_half_typed = tokens.len().checked_sub(1).is_some_and(|last| {
            let kind = tokens.kind(last);
            (kind == K::WORD || kind.is_name()) && tokens.span(last).end == position
        });
        let n_complete = tokens.len() - usize::from(is_half_typed);
        TextBefore { tokens, n_complete, is_comment }
    }

    /// Returns the kind of a complete token, counted from the position: 1 is the last one.
    pub fn kind_back(&self, back: usize) -> K {
        self.n_complete.checked_sub(back).map_or(K::END, |token| self.tokens.kind(token))
    }

    /// Returns a complete word, counted from the position; no text if the token is no word.
    pub fn word_back(&self, back: usize) -> &'t str {
        self.n_complete.checked_sub(back).map_or("", |token| self.word(token))
    }

    /// Returns the word at an index; no text if the token is no word.
    pub fn word(&self, token: usize) -> &'t str {
        if token < self.n_complete && self.tokens.kind(token) == K::WORD {
            self.tokens.text(token)
        } else {
            ""
        }
    }

    /// Returns the end of the last complete token.
    pub fn last_end(&self) -> Option<u32> {
        self.n_complete.checked_sub(1).map(|last| self.tokens.span(last).end)
    }
}

/// An operator or a function of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The word or sign.
    pub word: &'static str,
    /// How it is written, such as `K(agent, phi)`.
    pub form: &'static str,
    /// The parts of `form` that the author fills in, in the order of the text.
    pub parameters: &'static [&'static str],
    /// Its meaning on one line.
    pub meaning: &'static str,
}

impl Operator {
    /// An operator, for the tables of the languages.
    pub const fn new(
        word: &'static str,
        form: &'static str,
        parameters: &'static [&'static str],
        meaning: &'static str,
    ) -> Operator {
        Operator { word, form, parameters, meaning }
    }
}

/// An operator around a position, for signature help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorCall {
    /// The operator.
    pub operator: &'static Operator,
    /// Index of the parameter at the position. It may be too large, where there are too many commas.
    pub parameter: usize,
}

/// What a coloured part of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HighlightKind {
    /// A word of the language.
    Keyword,
    /// A sign or an operator that is a word.
    Operator,
    /// A number.
    Number,
    /// A text in quotes.
    Text,
    /// A comment.
    Comment,
    /// A name of the model.
    Name(NameKind),
}

/// A coloured part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Location. A comment may have several lines.
    pub span: Span,
    /// What it is.
    pub kind: HighlightKind,
    /// Whether this is the place at which the name is declared.
    pub is_declaration: bool,
}

impl Highlight {
    /// A part of a text that is no name.
    pub fn plain(span: Span, kind: HighlightKind) -> Highlight {
        Highlight { span, kind, is_declaration: false }
    }
}

impl NameIndex {
    /// Returns the coloured names in a span, in the order of the text.
    pub fn highlights(&self, within: Span) -> impl Iterator<Item = Highlight> + '_ {
        let first = self.uses.partition_point(|name| name.span.start < within.start);
        let names = self.uses[first..].iter().take_while(move |name| name.span.end <= within.end);
        names.map(|name| {
            let declaration = self.declaration(*name);
            let kind = HighlightKind::Name(declaration.kind);
            Highlight { span: name.span, kind, is_declaration: declaration.span == name.span }
        })
    }

    /// Returns completions for all names of some kinds, each text once.
    pub fn completions(&self, kinds: &[NameKind]) -> Vec<Completion> {
        let mut known = rustc_hash::FxHashSet::default();
        let wanted = self.declarations.iter().filter(|one| kinds.contains(&one.kind));
        wanted.filter(|one| known.insert((one.kind, one.name.as_str()))).map(Completion::name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NameUse;

    #[test]
    fn names_are_coloured_by_kind_and_offered_once() {
        let declaration = |start, kind| Declaration {
            name: "x".to_string(),
            kind,
            span: Span { start, end: start + 1 },
            whole: Span { start, end: start + 1 },
            parent: None,
            text: "x : boolean".to_string(),
            details: Vec::new(),
        };
        let index = NameIndex {
            declarations: vec![declaration(0, NameKind::Variable), declaration(4, NameKind::Variable)],
            uses: [(0, 0), (2, 0), (4, 1)]
                .map(|(start, declaration)| NameUse { span: Span { start, end: start + 1 }, declaration })
                .to_vec(),
            sections: Vec::new(),
        };
        let found: Vec<Highlight> = index.highlights(Span { start: 2, end: 5 }).collect();
        assert_eq!(found.iter().map(|one| one.is_declaration).collect::<Vec<_>>(), [false, true]);
        assert_eq!(index.completions(&[NameKind::Variable]).len(), 1);
        assert!(index.completions(&[NameKind::Agent]).is_empty());
    }
}
