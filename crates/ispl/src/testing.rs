//! Internals that tests outside the crate need. Not part of the public interface.

use crate::lexer::Tokens;

/// Returns the tokens and comments of a text, in order; comments without trailing white space. The
/// formatter must not change them.
pub fn pieces(text: &str) -> Vec<&str> {
    let tokens = Tokens::new(text, 0);
    let mut comments = tokens.comments().iter().peekable();
    let mut pieces = Vec::with_capacity(tokens.len() + tokens.comments().len());
    for index in 0..=tokens.len() {
        while let Some(comment) = comments.next_if(|comment| comment.before as usize <= index) {
            pieces.push(text[comment.span.start as usize..comment.span.end as usize].trim_end());
        }
        if index < tokens.len() {
            let span = tokens.span(index);
            pieces.push(&text[span.start as usize..span.end as usize]);
        }
    }
    pieces
}
