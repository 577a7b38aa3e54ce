//! What tests outside the crate need to see of its inside. No part of the interface.

use crate::lexer::Tokens;

/// The tokens and comments of a text, in order; comments without the white space at their end.
/// This is what the formatter must not change.
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
