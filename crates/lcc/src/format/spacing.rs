//! Spaces between the tokens of a line.

use super::{is_close, is_open};
use crate::lexer::{Token, Tokens};

/// The text of a token in ASCII.
pub(super) fn written<'t>(tokens: &Tokens<'t>, at: usize) -> &'t str {
    let source = tokens.text(at);
    match (tokens.kind(at), source) {
        (Token::Sends, _) => "=>",
        (Token::Receives, _) => "<=",
        (Token::If, _) => "<-",
        (Token::To, _) => "->",
        (Token::And, "∧") => "and",
        (Token::Or, "∨") => "\\/",
        (Token::Not, "¬") => "not",
        (Token::Minus, _) => "-",
        _ => source,
    }
}

/// Whether a space precedes a token that does not begin a line.
pub(super) fn is_spaced(tokens: &Tokens<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    let word = |at: usize| written(tokens, at);
    let (last, next) = (tokens.kind(before), tokens.kind(at));
    let is_wanted = match (last, next) {
        (_, Token::Comma | Token::Stop | Token::Colon) => false,
        (last, next) if is_open(last) || is_close(next) => false,
        (Token::Word, Token::Open) => is_operator(word(before)),
        (Token::Variable | Token::Quoted | Token::Dotted, Token::Open) => false,
        (Token::Not, _) => word(before) == "not",
        (Token::Bar | Token::At | Token::Hash, _) | (_, Token::Bar | Token::At) => false,
        // `p/2` in a choice; `X / 2` is arithmetic.
        (Token::Word | Token::Quoted | Token::Dotted, Token::Slash) => false,
        (Token::Slash, Token::Number) if before > 0 => {
            !matches!(tokens.kind(before - 1), Token::Word | Token::Quoted | Token::Dotted)
        }
        (Token::Plus | Token::Minus, _) => before > 0 && ends_operand(tokens.kind(before - 1)),
        _ => true,
    };
    is_wanted || clash(word(before), word(at))
}

/// Whether two tokens would be read differently without a space between them, as `:` and `:`.
fn clash(first: &str, second: &str) -> bool {
    let both = [first, second].concat();
    let tokens = Tokens::new(&both, 0);
    tokens.len() != 2 || tokens.span(0).end as usize != first.len()
}

/// Whether an operand ends with this token, so that a following sign is an infix operator.
fn ends_operand(token: Token) -> bool {
    matches!(token, Token::Word | Token::Variable | Token::Number | Token::Quoted | Token::Dotted)
        || is_close(token)
}

/// Words after which a bracket does not open arguments.
fn is_operator(word: &str) -> bool {
    matches!(word, "then" | "or" | "par" | "and" | "not" | "is" | "mod" | "after" | "until")
}
