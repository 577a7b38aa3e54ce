//! Paths into records, as maps write them.
//!
//! | written | meaning |
//! |---|---|
//! | `params.name` | the value of `name` in the object that is the value of `params` |
//! | `attributes."gen_ai.tool.name"` | a key with other characters, in quotes |
//! | `content[0]` | an item of a list, from 0 |
//! | `attributes[key="gen_ai.tool.name"]` | the first object in a list whose `key` is this text |
//! | `spans[*]` | every item of a list; only in `records` and `each` |

use super::reader::{Mistake, Reader, mistake};
use crate::record::Json;

/// A path into a record.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Path(pub(super) Vec<Part>);

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The value of a key.
    Key(String),
    /// An item of a list.
    Index(usize),
    /// The first object of a list in which a key has this text.
    With(String, String),
    /// Every item of a list.
    Every,
}

impl Path {
    /// Parses a path to one value, which is the whole text.
    pub(super) fn parse(text: &str) -> Result<Path, Mistake> {
        let mut reader = Reader { text, at: 0 };
        let path = Path::read(&mut reader)?;
        path.ends_at(&reader)
    }

    /// Parses a path to the items of lists, which is the whole text.
    pub(super) fn parse_items(text: &str) -> Result<Path, Mistake> {
        let mut reader = Reader { text, at: 0 };
        let path = Path::read_any(&mut reader)?.ends_at(&reader)?;
        if !path.0.contains(&Part::Every) {
            let message = format!("it names no items; `{text}[*]` stands for every item of a list");
            return Err(reader.mistake(&message));
        }
        Ok(path)
    }

    /// Reads a path to one value.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Path, Mistake> {
        let start = reader.at;
        let path = Path::read_any(reader)?;
        if path.0.contains(&Part::Every) {
            return Err(mistake(start, "`[*]` is possible in `records` and `each` only"));
        }
        Ok(path)
    }

    /// Reads a path that may have `[*]`.
    fn read_any(reader: &mut Reader<'_>) -> Result<Path, Mistake> {
        let mut parts = Vec::new();
        if reader.rest().starts_with('[') {
            parts.push(reader.in_brackets()?);
        } else {
            parts.push(Part::Key(reader.key()?));
        }
        loop {
            if reader.eat('.') {
                parts.push(Part::Key(reader.key()?));
            } else if reader.rest().starts_with('[') {
                parts.push(reader.in_brackets()?);
            } else {
                return Ok(Path(parts));
            }
        }
    }

    /// The path, if the text ends behind it.
    fn ends_at(self, reader: &Reader<'_>) -> Result<Path, Mistake> {
        if reader.rest().is_empty() {
            return Ok(self);
        }
        Err(reader.mistake("expected `.`, `[` or the end of the path"))
    }

    /// The value at the path, which has no `[*]`. It may be null.
    pub(super) fn find<'r>(&self, record: &'r Json) -> Option<&'r Json> {
        self.find_after(0, record)
    }

    /// The value that the parts after the first few find.
    pub(super) fn find_after<'r>(&self, n_parts: usize, record: &'r Json) -> Option<&'r Json> {
        self.0.iter().skip(n_parts).try_fold(record, |value, part| part.values(value).next())
    }

    /// All values at the path, in the order of the record.
    pub(super) fn find_all<'r>(&self, record: &'r Json) -> Vec<&'r Json> {
        self.find_all_after(0, record)
    }

    /// All values that the parts after the first few find.
    pub(super) fn find_all_after<'r>(&self, n_parts: usize, record: &'r Json) -> Vec<&'r Json> {
        let mut values = vec![record];
        for part in self.0.iter().skip(n_parts) {
            values = values.into_iter().flat_map(|value| part.values(value)).collect();
        }
        values
    }

    /// The first key of the path.
    pub(super) fn first_key(&self) -> Option<&str> {
        match self.0.first() {
            Some(Part::Key(key)) => Some(key),
            _ => None,
        }
    }
}

impl Part {
    fn values<'r>(&self, value: &'r Json) -> Box<dyn Iterator<Item = &'r Json> + 'r> {
        let items = |value: &'r Json| match value {
            Json::List(items) => items.as_slice(),
            _ => &[],
        };
        match self {
            Part::Key(key) => Box::new(value.get(key).into_iter()),
            Part::Index(index) => Box::new(items(value).get(*index).into_iter()),
            Part::With(key, text) => {
                let has_text =
                    |item: &&Json| matches!(item.get(key), Some(Json::Text(found)) if found == text);
                Box::new(items(value).iter().find(has_text).into_iter())
            }
            Part::Every => Box::new(items(value).iter()),
        }
    }
}

/// The parts of paths.
impl Reader<'_> {
    /// A word, or a text in double quotes.
    fn key(&mut self) -> Result<String, Mistake> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@');
        match self.take_while(is_part) {
            "" => Err(self.mistake("expected a key: a word, or a text in double quotes")),
            word => Ok(word.to_string()),
        }
    }

    fn quoted(&mut self) -> Result<String, Mistake> {
        let start = self.at;
        if !self.eat('"') {
            return Err(mistake(start, "expected a text in double quotes"));
        }
        let Some(length) = self.rest().find('"') else {
            return Err(mistake(start, "this quote is not closed"));
        };
        let text = self.rest()[..length].to_string();
        self.at += length + 1;
        Ok(text)
    }

    fn in_brackets(&mut self) -> Result<Part, Mistake> {
        self.eat('[');
        let start = self.at;
        let part = if self.eat('*') {
            Part::Every
        } else if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let digits = self.take_while(|c| c.is_ascii_digit());
            Part::Index(digits.parse().map_err(|_| mistake(start, "this number is too large"))?)
        } else {
            let key = self.key().map_err(|_| mistake(start, "expected a number, `*`, or `key=\"text\"`"))?;
            if !self.eat('=') {
                return Err(self.mistake("expected `=\"text\"`"));
            }
            Part::With(key, self.quoted()?)
        };
        self.expect(']')?;
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn paths_find_values() {
        let record = Json::parse(r#"{"a": {"b.c": [10, {"key": "x", "v": 1}, {"key": "x", "v": 2}]}, "n": null}"#).unwrap();
        let check = |path: &str, expected: Option<&str>| {
            let found = Path::parse(path).unwrap().find(&record).map(|value| value.term().unwrap());
            assert_eq!(found.as_deref(), expected, "{path}");
        };
        check(r#"a."b.c"[0]"#,               Some("10"));
        check(r#"a."b.c"[key="x"].v"#,       Some("1"));
        check(r#"a."b.c"[key="y"].v"#,       None);
        check(r#"a."b.c"[7]"#,               None);
        check("n",                           Some("null"));
        check("a.b.c",                       None);
        check("n.x",                         None);
        let all = Path::parse_items(r#"a."b.c"[*].v"#).unwrap();
        assert_eq!(all.find_all(&record), [&Json::Int(1), &Json::Int(2)]);
    }

    #[rustfmt::skip]
    #[test]
    fn mistakes_have_their_place() {
        let check = |path: &str, at: usize, message: &str| {
            assert_eq!(Path::parse(path), Err(mistake(at, message)), "{path}");
        };
        check("",            0, "expected a key: a word, or a text in double quotes");
        check("a..b",        2, "expected a key: a word, or a text in double quotes");
        check("a b",         1, "expected `.`, `[` or the end of the path");
        check("a.\"b",       2, "this quote is not closed");
        check("a[x]",        3, "expected `=\"text\"`");
        check("a[]",         2, "expected a number, `*`, or `key=\"text\"`");
        check("a[1",         3, "expected `]`");
        check("a[99999999999999999999]", 2, "this number is too large");
        check("a[*].b",      0, "`[*]` is possible in `records` and `each` only");
        let without = "it names no items; `a.b[*]` stands for every item of a list";
        assert_eq!(Path::parse_items("a.b"), Err(mistake(3, without)));
    }
}
