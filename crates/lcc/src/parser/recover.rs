//! Syntax errors, and recovery from them.

use masque_text::{Codes, Cursor, Diagnostic, Language, Span};

use super::{NESTING_LIMIT, Parser};
use crate::lexer::Token;

/// Words that begin a statement.
pub(crate) const STATEMENTS: [&str; 13] = [
    "agent", "server", "common", "know", "rule", "enforced", "choice", "option", "now", "mail", "property",
    "import", "r",
];

/// The kinds of roles in role declarations.
pub(crate) const ROLE_KINDS: [&str; 6] =
    ["initial", "necessary", "optional", "auxiliary", "cyclic", "uncommitted"];

/// Words that cannot be constants.
pub(crate) const RESERVED: [&str; 5] = ["then", "or", "par", "and", "not"];

/// Maximum number of tokens inspected to recognise the head of a statement.
const MAX_HEAD_TOKENS: usize = 2000;

/// Codes and hints of LCC.
#[derive(Debug)]
pub(crate) struct Lcc;

impl Language for Lcc {
    type Token = Token;

    const CODES: Codes = Codes {
        unexpected_token: "lcc/syntax",
        unexpected_character: "lcc/unknown-text",
        name_too_long: Some("lcc/unknown-text"),
        too_deep: "lcc/too-deep",
        too_many_errors: "lcc/too-many-errors",
    };
    const WHOLE: &'static str = "text";
    const NESTING_LIMIT: u32 = NESTING_LIMIT;
    const FLATTER: &'static str = "chains may be of any length; a clause of its own may do a part of this";

    fn guess(cursor: &Cursor<'_, Self>) -> Option<String> {
        let at = cursor.position;
        let before = at.checked_sub(1).and_then(|first| cursor.tokens.pair(first));
        match (before, cursor.kind_ahead(1)) {
            (Some((Token::Variable | Token::Word, Token::Stop)), Token::Number) => {
                let text = cursor.text_of(cursor.last_span().to(cursor.tokens.span(at + 1)));
                Some(format!("a name with a full stop and a space in it is written in quotes: '{text}'"))
            }
            _ if cursor.kind() == Token::Receives => {
                Some("`<=` receives a message; less or equal is written `=<`".to_string())
            }
            _ if cursor.kind() == Token::Unknown => Some(
                "names consist of ASCII letters, digits, `_` and `$`; other text goes in quotes".to_string(),
            ),
            _ => None,
        }
    }

    fn instead(cursor: &Cursor<'_, Self>, what: &str) -> Option<Diagnostic> {
        let span = cursor.span();
        let open = innermost_open(cursor);
        match (cursor.kind(), open) {
            (Token::Unclosed, _) => Some(unclosed_text(cursor)),
            (Token::Unknown, _) => None,
            (Token::Close | Token::CloseBracket | Token::CloseBrace, None) => {
                let message = format!("this `{}` closes nothing", cursor.text_here());
                let diagnostic = Diagnostic::error("lcc/unbalanced", span, message)
                    .label("no bracket is open here")
                    .hint(format!("remove it, or open a bracket before; expected {what}"));
                Some(diagnostic)
            }
            (_, Some(opened)) if at_boundary(cursor) => {
                let bracket = cursor.text_of(opened);
                let closing = match bracket {
                    "(" => ")",
                    "[" => "]",
                    _ => "}",
                };
                let all = missing_brackets(cursor);
                let message = format!("this `{bracket}` is not closed");
                let diagnostic = Diagnostic::error("lcc/unbalanced", opened, message)
                    .label("opened here")
                    .also(span, format!("`{closing}` is missing before this"))
                    .fix(format!("insert `{all}`"), cursor.last_span().after(), all);
                Some(diagnostic)
            }
            _ => None,
        }
    }
}

/// The last bracket that the statement has opened and not closed before the cursor.
pub(super) fn innermost_open(cursor: &Cursor<'_, Lcc>) -> Option<Span> {
    open_brackets(cursor).last().map(|at| cursor.tokens.span(*at))
}

/// The brackets that close those that the statement has opened before the cursor.
fn missing_brackets(cursor: &Cursor<'_, Lcc>) -> String {
    let closing = |at: &usize| match cursor.tokens.kind(*at) {
        Token::Open => ')',
        Token::OpenBracket => ']',
        _ => '}',
    };
    open_brackets(cursor).iter().rev().map(closing).collect()
}

/// The brackets that the statement has opened and not closed before the cursor, the outermost first.
fn open_brackets(cursor: &Cursor<'_, Lcc>) -> Vec<usize> {
    let mut open = Vec::new();
    for at in cursor.start..cursor.position {
        match cursor.tokens.kind(at) {
            Token::Open | Token::OpenBracket | Token::OpenBrace => open.push(at),
            Token::Close | Token::CloseBracket | Token::CloseBrace => drop(open.pop()),
            _ => {}
        }
    }
    open
}

/// A quote or a comment without an end.
fn unclosed_text(cursor: &Cursor<'_, Lcc>) -> Diagnostic {
    let span = cursor.span();
    match cursor.text_here() {
        "'" | "\"" => Diagnostic::error("lcc/unclosed", span, "this quote does not end on its line")
            .hint("a quoted constant is written 'X.509' or \"r0\""),
        _ => Diagnostic::error("lcc/unclosed", span.slice(0, 2), "this comment does not end")
            .hint("close it with `*/`")
            .fix("close the comment", cursor.end_of_line(), " */"),
    }
}

impl Parser<'_> {
    /// Skips to the next statement: after a full stop, or to its first word. A statement that was read as part of
    /// the broken one, as the clause in `m => a(r, a(s, J) :: null.`, is the next.
    pub(super) fn recover(&mut self) {
        self.depth = 0;
        let first = self.start + 1 + n_first_words(self);
        if let Some(next) = (first..self.position).find(|at| at_nested_statement(self, *at)) {
            self.position = next;
            return;
        }
        if self.position == self.start {
            self.advance();
        }
        while self.kind() != Token::End {
            if at_statement(self, self.position) {
                return;
            }
            // In `X.509` the full stop ends nothing.
            let is_number = self.tokens.pair(self.position) == Some((Token::Stop, Token::Number));
            let is_stop = self.kind() == Token::Stop && !is_number;
            self.advance();
            if is_stop {
                return;
            }
        }
    }
}

/// Whether the current statement ends here: at a full stop, the next statement or the end of the text.
pub(super) fn at_boundary(cursor: &Cursor<'_, Lcc>) -> bool {
    cursor.kind() == Token::End || cursor.kind() == Token::Stop || at_statement(cursor, cursor.position)
}

/// Whether a statement begins at a token: a clause, or a keyword with the tokens that must follow it.
pub(super) fn at_statement(cursor: &Cursor<'_, Lcc>, at: usize) -> bool {
    use Token::{Colon, Dotted, Open, Quoted, Variable, Word};
    let (next, second) = (cursor.tokens.kind(at + 1), cursor.tokens.kind(at + 2));
    match cursor.word_at(at) {
        "a" => next == Open && is_clause_head(cursor, at),
        "agent" | "server" | "now" | "mail" => cursor.word_at(at + 1) == "a" && second == Open,
        "common" => matches!(next, Word | Quoted | Dotted),
        "choice" => matches!(next, Word | Quoted | Dotted),
        "know" | "rule" => matches!(next, Word | Quoted | Dotted | Variable) && second == Colon,
        "enforced" => cursor.word_at(at + 1) == "by",
        "property" => matches!(next, Word | Variable | Token::Number) && second == Colon,
        "option" => next == Word && second == Token::Equal,
        "import" => next == Quoted,
        "r" => next == Open && is_role_declaration(cursor, at),
        // A rule with its enforcer in front.
        _ => begins_rule(cursor, at),
    }
}

/// The number of words before the place where another statement seems to begin: `now a(..) ::`, `rule hd: (`,
/// `enforced by hd: (`.
fn n_first_words(cursor: &Cursor<'_, Lcc>) -> usize {
    match cursor.word_at(cursor.start) {
        "enforced" => 2,
        "now" | "rule" => 1,
        _ => 0,
    }
}

/// Whether a statement begins at a token that may be inside another one. The rest of a role in a state,
/// `{a(role, id) :: rest}`, is part of its statement.
fn at_nested_statement(cursor: &Cursor<'_, Lcc>, at: usize) -> bool {
    cursor.tokens.kind(at - 1) != Token::OpenBrace && at_statement(cursor, at)
}

/// The first word of the statement that begins at a token, if one does; `clause` for a clause.
pub(crate) fn begins_statement(cursor: &Cursor<'_, Lcc>, at: usize) -> Option<&'static str> {
    if !at_statement(cursor, at) {
        return None;
    }
    match cursor.word_at(at) {
        "a" => Some("clause"),
        word => Some(STATEMENTS.into_iter().find(|one| *one == word).unwrap_or("rule")),
    }
}

/// Whether `enforcer: (` begins here.
pub(crate) fn begins_rule(cursor: &Cursor<'_, Lcc>, at: usize) -> bool {
    matches!(cursor.tokens.kind(at), Token::Word | Token::Quoted | Token::Dotted)
        && cursor.tokens.kind(at + 1) == Token::Colon
        && cursor.tokens.kind(at + 2) == Token::Open
}

/// Whether `a( .. ) ::` begins here. Only the head is inspected.
fn is_clause_head(cursor: &Cursor<'_, Lcc>, at: usize) -> bool {
    after_brackets(cursor, at + 1).is_some_and(|after| cursor.tokens.kind(after) == Token::Defines)
}

/// Whether `r( .. )` stands before a statement, not before an operator of a process.
fn is_role_declaration(cursor: &Cursor<'_, Lcc>, at: usize) -> bool {
    let Some(after) = after_brackets(cursor, at + 1) else { return false };
    let is_operator = RESERVED.contains(&cursor.word_at(after));
    matches!(cursor.tokens.kind(after), Token::Stop | Token::End | Token::Word) && !is_operator
}

/// Index of the token after the bracket that closes the one at `open`, searching
/// [`MAX_HEAD_TOKENS`] tokens.
fn after_brackets(cursor: &Cursor<'_, Lcc>, open: usize) -> Option<usize> {
    let mut depth = 0;
    for at in open..open + MAX_HEAD_TOKENS {
        match cursor.tokens.kind(at) {
            Token::Open | Token::OpenBracket => depth += 1,
            Token::Close | Token::CloseBracket => depth -= 1,
            Token::End | Token::Stop | Token::Defines => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}
