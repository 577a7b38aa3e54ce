//! Lines of text, wrapped and optionally coloured.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

/// Default width of a line, in columns.
pub const WIDTH: usize = 100;

/// Style of claims and of variables of the property.
pub(crate) const STRONG: Style = Style::new().bold();
/// Style of the number of a state.
pub(crate) const STATE: Style = AnsiColor::Cyan.on_default();
/// Style of actions.
pub(crate) const ACTION: Style = Style::new().dimmed();
/// Style of equal values that an agent sees.
pub(crate) const EQUAL: Style = AnsiColor::Green.on_default();
/// Style of a difference that occurs in the formula.
pub(crate) const DIFFERENCE: Style = AnsiColor::Red.on_default().bold();
/// No style.
pub(crate) const PLAIN: Style = Style::new();

/// Text that is not broken between lines, and its style.
pub(crate) type Piece = (Style, String);

/// A writer of lines.
pub(crate) struct Lines<'a> {
    pub(crate) out: &'a mut dyn Write,
    /// Width of a line, in columns.
    pub(crate) width: usize,
    /// Whether styles are written as escape sequences.
    pub(crate) color: bool,
}

impl Lines<'_> {
    /// Writes pieces on one line, without trailing spaces.
    pub(crate) fn line(&mut self, pieces: &[Piece]) -> io::Result<()> {
        let end = pieces.iter().rposition(|(_, text)| !text.trim_end().is_empty()).map_or(0, |p| p + 1);
        for (position, (style, text)) in pieces[..end].iter().enumerate() {
            let text = if position + 1 == end { text.trim_end() } else { text };
            self.styled(*style, text)?;
        }
        writeln!(self.out)
    }

    pub(crate) fn empty(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Writes `head`, then the pieces with `separator` between them; further lines begin with `next`.
    pub(crate) fn flow(
        &mut self,
        head: &[Piece],
        next: &str,
        pieces: &[Piece],
        separator: &str,
    ) -> io::Result<()> {
        let mut line = head.to_vec();
        let mut column = head.iter().map(|(_, text)| columns(text)).sum::<usize>();
        let mut is_fresh = true;
        for (position, (style, text)) in pieces.iter().enumerate() {
            let is_last = position + 1 == pieces.len();
            let after = if is_last { "" } else { separator };
            let needed = columns(text) + columns(after.trim_end());
            if !is_fresh && column + needed > self.width {
                self.line(&line)?;
                line = vec![(PLAIN, next.to_string())];
                column = columns(next);
            }
            line.push((*style, text.clone()));
            line.push((PLAIN, after.to_string()));
            column += columns(text) + columns(after);
            is_fresh = false;
        }
        self.line(&line)
    }

    /// Writes a sentence, broken between words.
    pub(crate) fn sentence(&mut self, style: Style, indent: &str, text: &str) -> io::Result<()> {
        let words: Vec<Piece> = text.split(' ').map(|word| (style, word.to_string())).collect();
        self.flow(&[(PLAIN, indent.to_string())], &format!("{indent}  "), &words, " ")
    }

    fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        if self.color && style != PLAIN {
            write!(self.out, "{style}{text}{style:#}")
        } else {
            self.out.write_all(text.as_bytes())
        }
    }
}

/// Number of columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(width: usize, items: &[&str], color: bool) -> String {
        let mut out = Vec::new();
        let mut lines = Lines { out: &mut out, width, color };
        let pieces: Vec<Piece> = items.iter().map(|item| (STATE, item.to_string())).collect();
        lines.flow(&[(PLAIN, "> ".to_string())], "  ", &pieces, ", ").unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_wrapped() {
        assert_eq!(flow(20, &["one", "two", "three", "four"], false), "> one, two, three,\n  four\n");
        assert_eq!(flow(19, &["one", "two", "three", "four"], false), "> one, two, three,\n  four\n");
        assert_eq!(flow(17, &["one", "two", "three", "four"], false), "> one, two,\n  three, four\n");
        assert_eq!(
            flow(4, &["longer", "than"], false),
            "> longer,\n  than\n",
            "a word that is too long is not broken"
        );
        assert_eq!(flow(20, &[], false), ">\n");
    }

    #[test]
    fn colours_do_not_change_the_wrapping() {
        let (plain, colour) =
            (flow(17, &["one", "two", "three"], false), flow(17, &["one", "two", "three"], true));
        assert_ne!(plain, colour);
        assert_eq!(plain, colour.replace("\u{1b}[36m", "").replace("\u{1b}[0m", ""));
    }
}
