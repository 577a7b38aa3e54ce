//! What an editor asks while a file is being written: completions, operators with their meanings, coloured words. All
//! work on half-typed lines, from the index of names and the tokens around a position.

mod complete;
mod operators;

use masque_text::{FileId, Highlight, HighlightKind, NameIndex, Sources, Span};

use crate::lexer::{Token, Tokens};

pub use complete::completions;
pub use operators::{OPERATORS, operator_at, signature};

/// Words that may be keywords. In other places they are names.
const KEYWORDS: [&str; 38] = [
    "Agent",
    "end",
    "Vars",
    "Obsvars",
    "Lobsvars",
    "RedStates",
    "Actions",
    "Action",
    "Protocol",
    "Evolution",
    "Lstate",
    "Lgreen",
    "Ev",
    "Evaluation",
    "InitStates",
    "Groups",
    "Fairness",
    "Formulae",
    "Semantics",
    "MultiAssignment",
    "MA",
    "SingleAssignment",
    "SA",
    "param",
    "import",
    "for",
    "in",
    "where",
    "if",
    "boolean",
    "true",
    "false",
    "Other",
    "GreenStates",
    "perfect",
    "uniform",
    "joint",
    "objective",
];

/// The empty span at a position.
fn at(position: u32) -> Span {
    Span { start: position, end: position }
}

/// The text before a position.
struct Before<'t> {
    tokens: Tokens<'t>,
    /// Whether the position lies in a comment.
    is_comment: bool,
}

impl<'t> Before<'t> {
    fn new(sources: &'t Sources, position: u32) -> Self {
        let file = sources.file_of(at(position));
        let tokens = Tokens::before(sources, file, position);
        let is_comment = tokens.comments().last().is_some_and(|comment| comment.span.end == position);
        Before { tokens, is_comment }
    }
}

/// Returns the coloured parts of a file, in the order of the text: names by their kinds, keywords, operators, numbers,
/// paths of imports and comments.
pub fn highlights(index: &NameIndex, sources: &Sources, file: FileId) -> Vec<Highlight> {
    let tokens = Tokens::new(sources.text(file), sources.span(file).start);
    let mut names = index.highlights(sources.span(file)).peekable();
    let mut found: Vec<Highlight> = tokens
        .comments()
        .iter()
        .map(|comment| Highlight::plain(comment.span, HighlightKind::Comment))
        .collect();
    for token in 0..tokens.len() {
        let span = tokens.span(token);
        while names.next_if(|name| name.span.start < span.start).is_some() {}
        if let Some(name) = names.next_if(|name| name.span == span) {
            found.push(name);
            continue;
        }
        let kind = match tokens.kind(token) {
            Token::Number => HighlightKind::Number,
            Token::Quoted => HighlightKind::Text,
            Token::Word if KEYWORDS.contains(&tokens.text(token)) => HighlightKind::Keyword,
            Token::Word if operators::find(tokens.text(token)).is_some() => HighlightKind::Operator,
            Token::Equal | Token::AtMost | Token::AtLeast | Token::Greater => HighlightKind::Operator,
            _ if operators::find(tokens.text(token)).is_some() => HighlightKind::Operator,
            _ => continue,
        };
        found.push(Highlight::plain(span, kind));
    }
    found.sort_by_key(|highlight| highlight.span);
    found
}
