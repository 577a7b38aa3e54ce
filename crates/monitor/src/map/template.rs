//! Templates: texts in which `{path}` stands for a value of the record.
//!
//! In a *text template* the result is one text, which is never parsed: `agent-{name}`. In a *term template* the rest
//! is a term of LCC, and `{path}` stands for the term of the value: `call({params.name}, {params.arguments})`. Inside
//! quotes a term template is a text, so `'tool:{name}'` is one constant. `{path?}` may be missing.

use super::path::{Mistake, Path, mistake};
use super::values::Values;
use crate::record::text_constant;

/// A text with places for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Text that is copied.
    Text(String),
    /// A value.
    Value(Hole),
    /// A quoted constant of a term template.
    Quoted(Vec<QuotedPart>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum QuotedPart {
    Text(String),
    Value(Hole),
}

/// A place for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hole {
    path: Path,
    /// The path as the map writes it.
    text: String,
    is_optional: bool,
}

/// Why a template cannot be filled from a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfilled {
    /// The record has no value at this path.
    Missing(String),
    /// The value at this path cannot be used: what it is, and what would be accepted.
    Unusable(String, &'static str, &'static str),
    /// An optional value that is missing makes the whole text missing.
    Absent,
}

impl Template {
    /// Parses a text template.
    pub(super) fn text(text: &str) -> Result<Template, Mistake> {
        let mut reader = Reader { text, at: 0, pieces: Vec::new() };
        while reader.at < text.len() {
            match reader.next_sign(&['{', '}'])? {
                Some('{') => {
                    let hole = reader.hole()?;
                    reader.pieces.push(Piece::Value(hole));
                }
                Some(_) => {
                    return Err(mistake(reader.at, "this `}` has no `{`; `}}` is the character itself"));
                }
                None => break,
            }
        }
        Ok(Template { pieces: reader.pieces })
    }

    /// Parses a term template.
    pub(super) fn term(text: &str) -> Result<Template, Mistake> {
        let mut reader = Reader { text, at: 0, pieces: Vec::new() };
        while reader.at < text.len() {
            match reader.next_sign(&['{', '}', '\'', '"'])? {
                Some('{') => {
                    let start = reader.at;
                    let hole = reader.hole()?;
                    reader.check_neighbours(start)?;
                    reader.pieces.push(Piece::Value(hole));
                }
                Some('}') => {
                    return Err(mistake(reader.at, "this `}` has no `{`; `}}` is the character itself"));
                }
                Some(quote) => reader.quoted(quote)?,
                None => break,
            }
        }
        Ok(Template { pieces: reader.pieces })
    }

    /// A term of this shape, in which constants stand for the values, to check the syntax of a term template.
    pub(super) fn sample(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(_) => "value".to_string(),
            Piece::Quoted(_) => text_constant("Value"),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Fills a text template.
    pub(super) fn fill_text(&self, values: &Values<'_>) -> Result<String, Unfilled> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value(hole) => out.push_str(&hole.text(values)?),
                Piece::Quoted(_) => {}
            }
        }
        Ok(out)
    }

    /// Fills a term template: the result is a term in which nothing of the record is parsed.
    pub(super) fn fill_term(&self, values: &Values<'_>) -> Result<String, Unfilled> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value(hole) => out.push_str(&hole.term(values)?),
                Piece::Quoted(parts) => {
                    let mut name = String::new();
                    for part in parts {
                        match part {
                            QuotedPart::Text(text) => name.push_str(text),
                            QuotedPart::Value(hole) => name.push_str(&hole.text(values)?),
                        }
                    }
                    out.push_str(&text_constant(&name));
                }
            }
        }
        Ok(out)
    }
}

impl Hole {
    fn text(&self, values: &Values<'_>) -> Result<String, Unfilled> {
        match values.find(&self.path) {
            Some(value) => value.scalar_text().ok_or_else(|| {
                let accepted = "a string, a number or a truth value is accepted in a text";
                Unfilled::Unusable(self.text.clone(), value.kind(), accepted)
            }),
            None if self.is_optional => Err(Unfilled::Absent),
            None => Err(Unfilled::Missing(self.text.clone())),
        }
    }

    fn term(&self, values: &Values<'_>) -> Result<String, Unfilled> {
        match values.find(&self.path) {
            Some(value) => value.term().map_err(|_| {
                let accepted =
                    "integers of 64 bits and decimals are accepted; write larger numbers as strings";
                Unfilled::Unusable(self.text.clone(), "a number that is too large", accepted)
            }),
            None if self.is_optional => Ok("_".to_string()),
            None => Err(Unfilled::Missing(self.text.clone())),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    pieces: Vec<Piece>,
}

impl Reader<'_> {
    /// Copies text up to the next of these signs, and returns it; the position is at the sign. `{{` and `}}` are the
    /// signs themselves.
    fn next_sign(&mut self, signs: &[char]) -> Result<Option<char>, Mistake> {
        let mut text = String::new();
        let found = loop {
            let rest = &self.text[self.at..];
            let Some(offset) = rest.find(signs) else {
                text.push_str(rest);
                self.at = self.text.len();
                break None;
            };
            text.push_str(&rest[..offset]);
            self.at += offset;
            let rest = &rest[offset..];
            let Some(doubled) = ["{{", "}}"].iter().find(|doubled| rest.starts_with(**doubled)) else {
                break rest.chars().next();
            };
            text.push_str(&doubled[1..]);
            self.at += 2;
        };
        if !text.is_empty() {
            self.pieces.push(Piece::Text(text));
        }
        Ok(found)
    }

    /// Reads `{path}` or `{path?}`.
    fn hole(&mut self) -> Result<Hole, Mistake> {
        let start = self.at + 1;
        let (path, mut end) = Path::parse_start(self.text, start)?;
        let text = self.text[start..end].to_string();
        let is_optional = self.text[end..].starts_with('?');
        end += usize::from(is_optional);
        if !self.text[end..].starts_with('}') {
            return Err(mistake(end, "expected `}`"));
        }
        if path.has_every() {
            return Err(mistake(start, "`[*]` is possible in `records` and `each` only"));
        }
        self.at = end + 1;
        Ok(Hole { path, text, is_optional })
    }

    /// Checks that the value between a position and the current one is a term of its own: beside other characters, it
    /// could become a part of another name.
    fn check_neighbours(&self, start: usize) -> Result<(), Mistake> {
        let before = self.text[..start].chars().next_back();
        let after = self.text[self.at..].chars().next();
        if after == Some('(') {
            return Err(mistake(self.at, "a value before a bracket must be in quotes, as in `'{name}'(..)`"));
        }
        let is_free = |c: Option<char>, signs: &str| c.is_none_or(|c| c.is_whitespace() || signs.contains(c));
        if is_free(before, "([,|") && is_free(after, ")],|") {
            return Ok(());
        }
        Err(mistake(
            start,
            "a value is a whole term; in quotes it can be a part of a constant, as in `'tool-{name}'`",
        ))
    }

    /// Reads a quoted constant of a term template.
    fn quoted(&mut self, quote: char) -> Result<(), Mistake> {
        let start = self.at;
        self.at += 1;
        let mut parts = Vec::new();
        loop {
            let n_before = self.pieces.len();
            let sign = self.next_sign(&['{', '}', quote])?;
            if let Some(Piece::Text(text)) = self.pieces.drain(n_before..).next() {
                parts.push(QuotedPart::Text(text));
            }
            match sign {
                Some('{') => parts.push(QuotedPart::Value(self.hole()?)),
                Some('}') => {
                    return Err(mistake(self.at, "this `}` has no `{`; `}}` is the character itself"));
                }
                Some(_) => break,
                None => return Err(mistake(start, "this quote is not closed")),
            }
        }
        self.at += 1;
        self.pieces.push(Piece::Quoted(parts));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Json;

    fn filled(template: &str, record: &str) -> Result<String, Unfilled> {
        let record = Json::parse(record).unwrap();
        Template::term(template).unwrap().fill_term(&Values::of(&record, &[]))
    }

    #[rustfmt::skip]
    #[test]
    fn terms_are_filled() {
        let record = r#"{"name": "f(X)", "n": [1, "It's"], "q": "'\""}"#;
        let check = |template: &str, term: &str| assert_eq!(filled(template, record).as_deref(), Ok(term), "{template}");
        check("call({name}, {n}, _, Y)",     "call('f(X)', [1, \"It's\"], _, Y)");
        check("'tool:{name}'({n[0]})",       "'tool:f(X)'(1)");
        check("'{name}'",                    "'f(X)'");
        check("\"{q}\"",                     r#""'\u{22}""#);
        check("p({missing?})",               "p(_)");
        check("p('{{x}}')",                  "p('{x}')");
        assert_eq!(filled("p({missing})", record), Err(Unfilled::Missing("missing".to_string())));
        assert!(matches!(filled("'{n}'", record), Err(Unfilled::Unusable(..))));
    }

    #[test]
    fn texts_are_filled() {
        let record = Json::parse(r#"{"name": "A b", "n": 7, "o": {}}"#).unwrap();
        let values = Values::of(&record, &[]);
        let text = |template: &str| Template::text(template).unwrap().fill_text(&values);
        assert_eq!(text("agent-{name}/{n}'"), Ok("agent-A b/7'".to_string()));
        assert_eq!(text("{missing?}"), Err(Unfilled::Absent));
        assert!(matches!(text("{o}"), Err(Unfilled::Unusable(..))));
    }

    #[rustfmt::skip]
    #[test]
    fn mistakes_have_their_place() {
        let check = |template: &str, at: usize, message: &str| {
            assert_eq!(Template::term(template), Err(mistake(at, message)), "{template}");
        };
        check("p({)",          3, "expected a key: a word, or a text in double quotes");
        check("p({a",          4, "expected `}`");
        check("p({a b})",      4, "expected `}`");
        check("p(})",          2, "this `}` has no `{`; `}}` is the character itself");
        check("p('a{b}",       2, "this quote is not closed");
        check("{a}(x)",        3, "a value before a bracket must be in quotes, as in `'{name}'(..)`");
        check("p(x{a})",       3, "a value is a whole term; in quotes it can be a part of a constant, as in `'tool-{name}'`");
        check("p({a}{b})",     2, "a value is a whole term; in quotes it can be a part of a constant, as in `'tool-{name}'`");
        check("p({a[*]})",     3, "`[*]` is possible in `records` and `each` only");
    }
}
