//! The statement and the brackets around a position.

use masque_text::{Cursor, NameIndex, Sources, Span, TextBefore};

use crate::lexer::Token;
use crate::parser::{Lcc, STATEMENTS, begins_rule, begins_statement};

/// The statement before a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begun {
    /// Its first word, as in the headings of sections; `clause` for a clause.
    pub(super) heading: &'static str,
    /// Index of its first token.
    pub(super) first: usize,
    /// Whether the statement is long, and its beginning is not among the tokens.
    pub(super) is_cut: bool,
}

/// A bracket that is open at the position, with the number of commas after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open<'t> {
    /// The arguments of a name.
    Call(&'t str, usize),
    /// Round brackets around parts of a process, a constraint or a rule.
    Group(usize),
    /// A list.
    List,
    /// The rest of a role in a state, `{a(role, id) :: rest}`.
    Frame,
}

/// Finds the statement that the last complete token belongs to; none between statements. A statement may be half typed:
/// it begins where the parser would continue after an error, or after the end of another one.
pub(super) fn statement(
    index: &NameIndex,
    sources: &Sources,
    before: &TextBefore<'_, Token>,
) -> Option<Begun> {
    let base = before.tokens.base();
    let end = before.last_end()?;
    let cursor: Cursor<'_, Lcc> = Cursor::of(sources, Span { start: base, end });
    // The tokens may begin in the middle of a statement.
    let is_cut = base > sources.span(sources.file_of(Span { start: base, end })).start;
    let cut = index.section_at(before.tokens.span(0).start).filter(|_| is_cut);
    let mut begun = cut.map(|section| Begun { heading: section.heading, first: 0, is_cut: true });
    for at in 0..before.n_complete {
        let is_in_frame = at > 0 && cursor.tokens.kind(at - 1) == Token::OpenBrace;
        // `now a(..) ::`, `rule hd: (` and `enforced by hd: (` seem to begin twice.
        let n_first_words = begun.map_or(0, |begun| if begun.heading == "enforced" { 3 } else { 2 });
        let is_inside =
            is_in_frame || begun.is_some_and(|begun| !begun.is_cut && at < begun.first + n_first_words);
        if begun.is_none() {
            begun = Some(Begun { heading: heading(&cursor, at), first: at, is_cut: false });
        } else if !is_inside && let Some(heading) = begins_statement(&cursor, at) {
            begun = Some(Begun { heading, first: at, is_cut: false });
        } else if at + 1 == before.n_complete && before.tokens.gap(at).contains('\n') {
            // A clause needs no full stop before the next statement.
            let word = STATEMENTS.into_iter().find(|word| before.word(at) == *word && *word != "r");
            begun = word.map_or(begun, |heading| Some(Begun { heading, first: at, is_cut: false }));
        }
        let is_property = begun.is_some_and(|begun| begun.heading == "property");
        let is_number = cursor.tokens.pair(at) == Some((Token::Stop, Token::Number));
        match cursor.tokens.kind(at) {
            Token::Stop if !is_property && !is_number => begun = None,
            Token::Semicolon if is_property => begun = None,
            _ => {}
        }
    }
    begun
}

/// The heading of a statement that begins at a token, good or half typed.
fn heading(cursor: &Cursor<'_, Lcc>, at: usize) -> &'static str {
    if let Some(heading) = begins_statement(cursor, at) {
        return heading;
    }
    match cursor.word_at(at) {
        "a" => "clause",
        word => match STATEMENTS.into_iter().find(|one| *one == word) {
            Some(heading) => heading,
            // `hd: (`, or `(` below a heading.
            None if begins_rule(cursor, at) || cursor.tokens.kind(at) == Token::Open => "rule",
            None if cursor.tokens.kind(at + 1) == Token::Colon => "rule",
            None => "",
        },
    }
}

/// Returns the brackets that are open after the tokens of a statement, the outermost first.
pub(super) fn open_brackets<'t>(before: &TextBefore<'t, Token>, first: usize) -> Vec<Open<'t>> {
    let mut open: Vec<Open<'t>> = Vec::new();
    for token in first..before.n_complete {
        match before.tokens.kind(token) {
            Token::Open => {
                let is_name = |token: usize| {
                    let kind = before.tokens.kind(token);
                    let is_word =
                        matches!(kind, Token::Word | Token::Variable | Token::Dotted | Token::Quoted);
                    is_word && !crate::parser::RESERVED.contains(&before.word(token))
                };
                let name = token.checked_sub(1).filter(|name| *name >= first && is_name(*name));
                open.push(name.map_or(Open::Group(0), |name| Open::Call(before.tokens.text(name), 0)));
            }
            Token::OpenBracket => open.push(Open::List),
            Token::OpenBrace => open.push(Open::Frame),
            Token::Close | Token::CloseBracket | Token::CloseBrace => _ = open.pop(),
            Token::Comma => {
                if let Some(Open::Call(_, n_commas) | Open::Group(n_commas)) = open.last_mut() {
                    *n_commas += 1;
                }
            }
            _ => {}
        }
    }
    open
}
