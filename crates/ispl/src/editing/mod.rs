//! What an editor asks while a file is being written: completions, operators with their meanings, coloured words. All
//! work on half-typed lines, from the index of names and the tokens around a position.

mod complete;
mod operators;
mod other_line;

use masque_text::{FileId, Highlight, HighlightKind, NameIndex, Sources, TextBefore};

use crate::lexer::{Token, Tokens};

pub use complete::completions;
pub use operators::{OPERATORS, operator_at, signature};
pub use other_line::other_line;

/// Words that may be keywords. In other places they are names.
pub const KEYWORDS: [&str; 38] = [
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

/// The text before a position.
type Before<'t> = TextBefore<'t, Token>;

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
