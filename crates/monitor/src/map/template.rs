//! Templates: texts in which `{path}` stands for a value of the record.
//!
//! In a *text template* the result is one text, which is never parsed: `agent-{name}`. In a *term template* the rest
//! is a term of LCC, and `{path}` stands for the term of the value: `call({params.name}, {params.arguments})`. Inside
//! quotes a term template is a text, so `'tool:{name}'` is one constant. `{path?}` may be missing.

use super::path::Path;
use super::reader::{Mistake, Reader, mistake};
use super::values::Values;
use crate::record::text_constant;

/// A text with places for values.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct TextTemplate {
    parts: Vec<TextPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TextPart {
    /// Text that is copied.
    Text(String),
    /// A value.
    Value(Hole),
}

/// A term of LCC with places for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TermTemplate {
    parts: Vec<TermPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TermPart {
    /// Text that is copied.
    Text(String),
    /// The term of a value.
    Value(Hole),
    /// A quoted constant.
    Quoted(TextTemplate),
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

impl TextTemplate {
    /// Parses a text template.
    pub(super) fn parse(text: &str) -> Result<TextTemplate, Mistake> {
        let mut reader = Reader { text, at: 0 };
        let (template, _) = TextTemplate::read(&mut reader, None)?;
        Ok(template)
    }

    /// Reads a text up to a quote, or to the end of the text. Returns whether the quote was found.
    fn read(reader: &mut Reader<'_>, quote: Option<char>) -> Result<(TextTemplate, bool), Mistake> {
        let signs: Vec<char> = ['{', '}'].into_iter().chain(quote).collect();
        let mut parts = Vec::new();
        loop {
            let (text, sign) = reader.up_to(&signs);
            if !text.is_empty() {
                parts.push(TextPart::Text(text));
            }
            match sign {
                Some('{') => parts.push(TextPart::Value(reader.hole()?)),
                Some('}') => return Err(reader.mistake(ALONE)),
                found => {
                    found.into_iter().for_each(|quote| _ = reader.eat(quote));
                    return Ok((TextTemplate { parts }, found.is_some()));
                }
            }
        }
    }

    /// Fills the template.
    pub(super) fn fill(&self, values: &Values<'_>) -> Result<String, Unfilled> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                TextPart::Text(text) => out.push_str(text),
                TextPart::Value(hole) => out.push_str(&hole.text(values)?),
            }
        }
        Ok(out)
    }
}

impl TermTemplate {
    /// Parses a term template.
    pub(super) fn parse(text: &str) -> Result<TermTemplate, Mistake> {
        let mut reader = Reader { text, at: 0 };
        let mut parts = Vec::new();
        loop {
            let (copied, sign) = reader.up_to(&['{', '}', '\'', '"']);
            if !copied.is_empty() {
                parts.push(TermPart::Text(copied));
            }
            let start = reader.at;
            match sign {
                Some('{') => {
                    let hole = reader.hole()?;
                    reader.check_neighbours(start)?;
                    parts.push(TermPart::Value(hole));
                }
                Some('}') => return Err(reader.mistake(ALONE)),
                Some(quote) => {
                    reader.eat(quote);
                    match TextTemplate::read(&mut reader, Some(quote))? {
                        (constant, true) => parts.push(TermPart::Quoted(constant)),
                        (_, false) => return Err(mistake(start, "this quote is not closed")),
                    }
                }
                None => return Ok(TermTemplate { parts }),
            }
        }
    }

    /// A term of this shape, in which constants stand for the values, to check the syntax of a term template.
    pub(super) fn sample(&self) -> String {
        let sample = |part: &TermPart| match part {
            TermPart::Text(text) => text.clone(),
            TermPart::Value(_) => "value".to_string(),
            TermPart::Quoted(_) => text_constant("Value"),
        };
        self.parts.iter().map(sample).collect()
    }

    /// Fills the template: the result is a term in which nothing of the record is parsed.
    pub(super) fn fill(&self, values: &Values<'_>) -> Result<String, Unfilled> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                TermPart::Text(text) => out.push_str(text),
                TermPart::Value(hole) => out.push_str(&hole.term(values)?),
                TermPart::Quoted(constant) => out.push_str(&text_constant(&constant.fill(values)?)),
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

/// The message about a `}` without a `{`.
const ALONE: &str = "this `}` has no `{`; `}}` is the character itself";

/// The parts of templates.
impl Reader<'_> {
    /// Reads text up to the next of these signs, and returns both; the position is at the sign. `{{` and `}}` are the
    /// signs themselves.
    fn up_to(&mut self, signs: &[char]) -> (String, Option<char>) {
        let mut text = String::new();
        loop {
            text.push_str(self.take_while(|c| !signs.contains(&c)));
            let rest = self.rest();
            let Some(doubled) = ["{{", "}}"].iter().find(|doubled| rest.starts_with(**doubled)) else {
                return (text, rest.chars().next());
            };
            text.push_str(&doubled[1..]);
            self.at += 2;
        }
    }

    /// Reads `{path}` or `{path?}`.
    fn hole(&mut self) -> Result<Hole, Mistake> {
        self.eat('{');
        let start = self.at;
        let path = Path::read(self)?;
        let text = self.text[start..self.at].to_string();
        let is_optional = self.eat('?');
        self.expect('}')?;
        Ok(Hole { path, text, is_optional })
    }

    /// Checks that the value between a position and the current one is a term of its own: beside other characters, it
    /// could become a part of another name.
    fn check_neighbours(&self, start: usize) -> Result<(), Mistake> {
        let before = self.text[..start].chars().next_back();
        let after = self.text[self.at..].chars().next();
        if after == Some('(') {
            return Err(self.mistake("a value before a bracket must be in quotes, as in `'{name}'(..)`"));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Json;

    fn filled(template: &str, record: &str) -> Result<String, Unfilled> {
        let record = Json::parse(record).unwrap();
        TermTemplate::parse(template).unwrap().fill(&Values::of(&record, &[]))
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
        let text = |template: &str| TextTemplate::parse(template).unwrap().fill(&values);
        assert_eq!(text("agent-{name}/{n}'"), Ok("agent-A b/7'".to_string()));
        assert_eq!(text("{missing?}"), Err(Unfilled::Absent));
        assert!(matches!(text("{o}"), Err(Unfilled::Unusable(..))));
    }

    #[rustfmt::skip]
    #[test]
    fn mistakes_have_their_place() {
        let check = |template: &str, at: usize, message: &str| {
            assert_eq!(TermTemplate::parse(template), Err(mistake(at, message)), "{template}");
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
