//! The statements of a file as sections, for folding and completion. They begin where the parser would continue
//! after an error, so a half-typed statement is a section too.

use masque_text::{Cursor, FileId, NameIndex, NameKind, Section, Sources};

use crate::lexer::Token;
use crate::parser::{Lcc, begins_statement};

/// Returns the sections of files.
pub(super) fn sections(sources: &Sources, files: &[FileId], index: &NameIndex) -> Vec<Section> {
    let mut sections = Vec::new();
    for file in files {
        let cursor: Cursor<'_, Lcc> = Cursor::of(sources, sources.span(*file));
        let mut begin: Option<(usize, &'static str)> = None;
        let mut at = 0;
        loop {
            let is_end = cursor.tokens.kind(at) == Token::End;
            // The rest of a role in a state is in braces, and some statements have two beginnings.
            let is_inside = at > 0 && cursor.tokens.kind(at - 1) == Token::OpenBrace
                || begin.is_some_and(|(first, heading)| at <= first + n_first_words(heading));
            let next = if is_inside { None } else { begins_statement(&cursor, at) };
            if is_end || next.is_some() {
                if let Some((first, heading)) = begin {
                    let span = cursor.tokens.span(first).to(cursor.tokens.span(at - 1));
                    let owner = owner(index, heading, span);
                    sections.push(Section { heading, span, owner });
                }
                begin = next.map(|heading| (at, heading));
            }
            if is_end {
                break;
            }
            at += 1;
        }
    }
    sections
}

/// The number of words before the place where another statement seems to begin: `now a(..) ::`, `rule hd: (`,
/// `enforced by hd: (`.
fn n_first_words(heading: &str) -> usize {
    if heading == "enforced" { 2 } else { 1 }
}

/// The declaration that a statement belongs to: the first name of the kind that it is about.
fn owner(index: &NameIndex, heading: &str, span: masque_text::Span) -> Option<u32> {
    let kind = match heading {
        "clause" | "now" | "r" => NameKind::Role,
        "agent" | "server" | "know" | "rule" | "enforced" => NameKind::Agent,
        "common" | "choice" => NameKind::Predicate,
        "property" => NameKind::Property,
        _ => return None,
    };
    let first = index.uses.partition_point(|name| name.span.start < span.start);
    let inside = index.uses[first..].iter().take_while(|name| name.span.end <= span.end);
    inside.map(|name| name.declaration).find(|number| index.declarations[*number as usize].kind == kind)
}
