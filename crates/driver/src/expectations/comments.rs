//! The comments of a file that hold expectations, and the code around them.

use std::ops::Range;

use masque_text::{Diagnostic, FileId, Sources, Span};

use super::claim::{self, Claim};
use crate::Language;
use crate::language::is_properties;
use crate::load::Loaded;

/// The place of a comment among the code of its file.
#[derive(Clone, Debug)]
pub(super) struct CommentPlace {
    /// Span of the comment, with its comment sign.
    pub(super) span: Span,
    /// Whether there is code before the comment on its first line.
    pub(super) is_after_code: bool,
    /// Span from the beginning of the line to the comment.
    pub(super) before: Span,
}

/// The expectations in the comments of a file, with the errors in them.
pub(super) fn claims(loaded: &Loaded, file: FileId) -> Vec<Result<Claim, Box<Diagnostic>>> {
    let sources = &loaded.sources;
    let text = sources.text(file);
    let mut found = Vec::new();
    // Splitting a large file into tokens takes time, and most have no expectation.
    if !["xp", "XP"].iter().any(|part| text.contains(part)) {
        return found;
    }
    let comments = comment_spans(loaded, file);
    let code = code_only(sources, file, &comments);
    for span in comments {
        let place = place(sources, file, &code, span);
        let claims = lines(sources, span).filter_map(|line| claim::read(sources, line, &place));
        found.extend(claims);
    }
    found
}

/// The expectations of a separate file: one per line, without a comment sign. Empty lines, and lines that begin
/// with `#`, `//` or `--`, are skipped.
pub(super) fn separate_claims(sources: &Sources, file: FileId) -> Vec<Result<Claim, Box<Diagnostic>>> {
    let is_comment = |line: &Span| {
        let text = sources.slice(*line);
        text.is_empty() || ["#", "//", "--"].iter().any(|sign| text.starts_with(sign))
    };
    let lines = split_lines(sources, sources.span(file)).filter(|line| !is_comment(line));
    lines.map(|line| claim::read_separate(sources, line)).collect()
}

/// The spans of the comments of a file, by the lexer of its language.
pub(super) fn comment_spans(loaded: &Loaded, file: FileId) -> Vec<Span> {
    let sources = &loaded.sources;
    let name = std::path::Path::new(sources.name(file));
    if is_properties(name) || loaded.language == Some(Language::Aut) {
        // A file of properties may have any name, if `--properties` gives it. AUT files have no comments.
        let is_model = loaded.names.first().is_some_and(|first| first == sources.name(file));
        return if is_model { Vec::new() } else { masque_mu::comments(sources, file) };
    }
    match loaded.language.unwrap_or(Language::Ispl) {
        Language::Ispl => masque_ispl::comments(sources, file),
        Language::Bdi => masque_bdi::comments(sources, file),
        Language::Lcc | Language::Aut => masque_lcc::comments(sources, file),
    }
}

/// The text of a file in which every byte of a comment is a space, but for the ends of lines.
pub(super) fn code_only(sources: &Sources, file: FileId, comments: &[Span]) -> Vec<u8> {
    let base = sources.span(file).start;
    let mut code = sources.text(file).as_bytes().to_vec();
    for span in comments {
        for byte in &mut code[(span.start - base) as usize..(span.end - base) as usize] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    code
}

fn place(sources: &Sources, file: FileId, code: &[u8], span: Span) -> CommentPlace {
    let base = sources.span(file).start;
    let start = (span.start - base) as usize;
    let line = code[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let is_after_code = !code[line..start].trim_ascii().is_empty();
    CommentPlace { span, is_after_code, before: Span { start: base + line as u32, end: span.start } }
}

/// The lines of a comment, without comment signs and white space.
fn lines(sources: &Sources, comment: Span) -> impl Iterator<Item = Span> + '_ {
    let text = sources.slice(comment);
    let is_block = text.starts_with("/*");
    let sign = if text.starts_with('%') { 1 } else { 2 };
    let end = if is_block && text.ends_with("*/") && text.len() >= 4 { 2 } else { 0 };
    let inside = comment.slice(sign.min(text.len()) as u32, (text.len() - end) as u32);
    split_lines(sources, inside)
        .map(move |line| trimmed(sources, line, if is_block { "* \t" } else { "-/% \t" }))
}

/// The lines of a span, without white space around them.
fn split_lines(sources: &Sources, span: Span) -> impl Iterator<Item = Span> + '_ {
    let mut start = 0;
    sources.slice(span).split('\n').map(move |line| {
        let found = span.slice(start, start + line.len() as u32);
        start += line.len() as u32 + 1;
        trimmed(sources, found, " \t")
    })
}

/// A span without leading characters of a set, and without white space at its end.
fn trimmed(sources: &Sources, span: Span, leading: &str) -> Span {
    let text = sources.slice(span);
    let start = text.len() - text.trim_start_matches(|c| leading.contains(c)).len();
    let end = text.trim_end().len().max(start);
    span.slice(start as u32, end as u32)
}

/// Byte range of a span in the text of its file.
pub(super) fn in_file(sources: &Sources, span: Span) -> Range<usize> {
    let base = sources.span(sources.file_of(span)).start;
    (span.start - base) as usize..(span.end - base) as usize
}
