//! Pages of diagnostics for terminals: Markdown without its markup.
//!
//! The pages use a small part of Markdown: paragraphs, lists, tables, blocks of code in fences, headings, and inside
//! a line code, links, strong words and escapes. Other markup would be printed as it is.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::Text;
use crate::lines::{Lines, PLAIN, Piece, STRONG};

/// Style of code.
const CODE: Style = AnsiColor::Cyan.on_default();
/// Indentation of blocks of code.
const CODE_INDENT: &str = "    ";

impl Text {
    /// Writes the page of a code, after a heading.
    pub fn page(self, out: &mut dyn Write, heading: &str, page: &str) -> io::Result<()> {
        let mut lines = Lines { out, width: self.width, color: self.color };
        lines.line(&[(STRONG, heading.to_string())])?;
        for block in blocks(page) {
            lines.empty()?;
            block.write(&mut lines)?;
        }
        Ok(())
    }

    /// Returns a page without its heading, as plain text.
    pub fn page_text(self, page: &str) -> String {
        let mut out = Vec::new();
        let mut lines = Lines { out: &mut out, width: self.width, color: false };
        for (position, block) in blocks(page).iter().enumerate() {
            // Writing to a vector cannot fail.
            _ = if position > 0 { lines.empty() } else { Ok(()) };
            _ = block.write(&mut lines);
        }
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// A part of a page, between empty lines.
#[derive(Debug, PartialEq, Eq)]
enum Block<'p> {
    Paragraph(String),
    Heading(&'p str),
    /// The items of a list, with their marks.
    List(Vec<(&'p str, String)>),
    Code(Vec<&'p str>),
    /// The cells of a table, with the heading first.
    Table(Vec<Vec<&'p str>>),
}

/// Splits a page into its blocks.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if trimmed.starts_with("```") {
            blocks.push(Block::Code(
                lines.by_ref().take_while(|line| !line.trim().starts_with("```")).collect(),
            ));
        } else if let Some(heading) = trimmed.strip_prefix("###") {
            blocks.push(Block::Heading(heading.trim_start_matches('#').trim()));
        } else if trimmed.starts_with('|') {
            let mut rows = vec![cells(trimmed)];
            while let Some(row) = lines.next_if(|line| line.trim().starts_with('|')) {
                rows.push(cells(row.trim()));
            }
            rows.retain(|row| !row.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':'))));
            blocks.push(Block::Table(rows));
        } else if let Some((mark, text)) = list_item(trimmed) {
            let mut items = vec![(mark, text.to_string())];
            while let Some(line) = lines.next_if(|line| !is_end(line)) {
                match (list_item(line.trim()), items.last_mut()) {
                    (Some((mark, text)), _) => items.push((mark, text.to_string())),
                    (None, Some((_, item))) => *item += &format!(" {}", line.trim()),
                    (None, None) => {}
                }
            }
            blocks.push(Block::List(items));
        } else {
            let mut paragraph = trimmed.to_string();
            while let Some(line) = lines.next_if(|line| !is_end(line) && list_item(line.trim()).is_none()) {
                paragraph += &format!(" {}", line.trim());
            }
            blocks.push(Block::Paragraph(paragraph));
        }
    }
    blocks
}

/// Whether a line ends a paragraph or a list.
fn is_end(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with("```") || line.starts_with('|')
}

/// The mark and the text of an item of a list.
fn list_item(line: &str) -> Option<(&str, &str)> {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length = match line.as_bytes().get(digits) {
        Some(b'.') if digits > 0 => digits + 1,
        Some(b'*' | b'-') if digits == 0 => 1,
        _ => return None,
    };
    let text = line[length..].strip_prefix(' ')?;
    Some((&line[..length], text.trim_start()))
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

impl Block<'_> {
    fn write(&self, lines: &mut Lines<'_>) -> io::Result<()> {
        match self {
            Block::Paragraph(text) => lines.flow(&[], "", &words(text), " "),
            Block::Heading(text) => lines.line(&[(STRONG, plain(text))]),
            Block::List(items) => items.iter().try_for_each(|(mark, text)| {
                let head = format!("{mark} ");
                let next = " ".repeat(head.len());
                lines.flow(&[(PLAIN, head)], &next, &words(text), " ")
            }),
            Block::Code(code) => code.iter().try_for_each(|line| {
                lines.line(&[(PLAIN, CODE_INDENT.to_string()), (CODE, line.to_string())])
            }),
            Block::Table(rows) => write_table(lines, rows),
        }
    }
}

fn write_table(lines: &mut Lines<'_>, rows: &[Vec<&str>]) -> io::Result<()> {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| rows.iter().filter_map(|row| Some(row.get(column)?.chars().count())).max().unwrap_or(0))
        .collect();
    for (position, row) in rows.iter().enumerate() {
        let style = if position == 0 { STRONG } else { PLAIN };
        let cells = row.iter().zip(&widths).map(|(cell, width)| (style, format!("  {cell:width$}")));
        lines.line(&cells.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The text of a line, without its markup.
fn plain(text: &str) -> String {
    let pieces = words(text);
    pieces.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ")
}

/// The words of a text, without its markup. Code stays between backticks and is not broken at its spaces, as long
/// as it is short.
fn words(text: &str) -> Vec<Piece> {
    let mut words = Words::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((code, behind)) = enclosed(rest, "`", "`") {
            words.add(CODE, &format!("`{code}`"), code.chars().count() <= MAX_UNBROKEN_CODE);
            rest = behind;
        } else if let Some((strong, behind)) = enclosed(rest, "**", "**") {
            words.add(STRONG, &unescaped(strong), false);
            rest = behind;
        } else if let Some((label, target, behind)) = link(rest) {
            words.add(PLAIN, &link_text(label, target), false);
            rest = behind;
        } else if let Some(escape) = escape(rest) {
            words.add(PLAIN, &escape.to_string(), false);
            rest = &rest[1 + escape.len_utf8()..];
        } else {
            words.add(PLAIN, c.encode_utf8(&mut [0; 4]), false);
            rest = &rest[c.len_utf8()..];
        }
    }
    words.pieces
}

/// Maximum number of characters of code that is not broken between lines.
const MAX_UNBROKEN_CODE: usize = 40;

/// Words that are being collected.
#[derive(Default)]
struct Words {
    pieces: Vec<Piece>,
    /// Whether the next text begins a word.
    is_between: bool,
}

impl Words {
    /// Adds a text. Its parts between spaces are words, unless it is one whole.
    fn add(&mut self, style: Style, text: &str, is_whole: bool) {
        let parts: Vec<&str> = if is_whole { vec![text] } else { text.split(' ').collect() };
        for (position, part) in parts.iter().enumerate() {
            self.is_between |= position > 0;
            if part.is_empty() {
                continue;
            }
            match self.pieces.last_mut() {
                // A piece has one style: that of its first part.
                Some((_, word)) if !self.is_between => word.push_str(part),
                _ => self.pieces.push((style, part.to_string())),
            }
            self.is_between = false;
        }
    }
}

/// The text between two marks at the beginning of a text, and what follows.
fn enclosed<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, &'t str)> {
    let (inside, behind) = text.strip_prefix(open)?.split_once(close)?;
    (!inside.is_empty()).then_some((inside, behind))
}

/// The label and the target of a link at the beginning of a text, and what follows.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (label, behind) = text.strip_prefix('[')?.split_once("](")?;
    let (target, behind) = behind.split_once(')')?;
    (!label.contains(']')).then_some((label, target, behind))
}

/// The label, and the target if it says more: links to sections of the same page name codes in their labels.
fn link_text(label: &str, target: &str) -> String {
    let label = unescaped(label);
    if target.starts_with('#') || target == label { label } else { format!("{label} ({target})") }
}

/// The character that a backslash escapes at the beginning of a text.
fn escape(text: &str) -> Option<char> {
    text.strip_prefix('\\')?.chars().next().filter(char::is_ascii_punctuation)
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (kept, length) =
            escape(rest).map_or((c, c.len_utf8()), |escaped| (escaped, 1 + escaped.len_utf8()));
        plain.push(kept);
        rest = &rest[length..];
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(page: &str, width: usize) -> String {
        Text { width, ..Text::default() }.page_text(page)
    }

    #[rustfmt::skip]
    #[test]
    fn markup_is_removed() {
        for (page, expected) in [
            ("In CTL\\* and `ATL\\*`.",                   "In CTL* and `ATL\\*`.\n"),
            ("See [mu.md](mu.md), [logics](l.md#x).",      "See mu.md, logics (l.md#x).\n"),
            ("Only [noted](#isplno-evaluation).",          "Only noted.\n"),
            ("**Strong** words (**b**).",                  "Strong words (b).\n"),
            ("a\nb\n\n```ispl-good\n  x = 1;\n\ny\n```\nc", "a b\n\n      x = 1;\n\n    y\n\nc\n"),
            ("* one\n  more\n* two\n\n1. x\n2. y",         "* one more\n* two\n\n1. x\n2. y\n"),
            ("| a | b |\n|---|---|\n| `x` | long |",       "  a    b\n  `x`  long\n"),
            ("[-]X || 2 * 3 * 4, a_b_c, p -> q",           "[-]X || 2 * 3 * 4, a_b_c, p -> q\n"),
        ] {
            assert_eq!(text(page, 80), expected, "{page}");
        }
    }

    #[test]
    fn long_lines_are_wrapped_and_code_is_not() {
        let page = "one two `a b c d` three four\n\n```text\na line of code that is long\n```";
        assert_eq!(text(page, 16), "one two\n`a b c d` three\nfour\n\n    a line of code that is long\n");
    }

    /// No page of the program keeps markup outside code.
    #[test]
    fn all_pages_are_plain() {
        for (code, _) in masque_driver::codes() {
            let page = text(masque_driver::explain(code).unwrap(), 100);
            let prose = page.lines().filter(|line| !line.starts_with(CODE_INDENT));
            let outside: String =
                prose.flat_map(|line| line.split('`').step_by(2)).collect::<Vec<_>>().join(" ");
            for markup in ["](", "**", "\\*", "```", "|---"] {
                assert!(!outside.contains(markup), "{code}: {markup}\n{page}");
            }
        }
    }
}
