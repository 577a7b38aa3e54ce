//! Parts of a JSON text, with their places.
//!
//! A part is found again in the text only when a message points at it, so that reading stays fast.

use std::fmt;
use std::ops::Range;

use serde_json::Value;

/// The way from the root of a JSON text to a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place(Vec<PlacePart>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PlacePart {
    Field(String),
    Item(usize),
}

impl Place {
    /// The place of a field of this object.
    pub fn field(&self, name: &str) -> Place {
        self.with(PlacePart::Field(name.to_string()))
    }

    /// The place of an item of this array.
    pub fn item(&self, index: usize) -> Place {
        self.with(PlacePart::Item(index))
    }

    fn with(&self, part: PlacePart) -> Place {
        Place(self.0.iter().cloned().chain([part]).collect())
    }

    /// The bytes of the part in a valid JSON text; the whole text if it has no such part.
    pub(crate) fn range(&self, text: &str) -> Range<usize> {
        let mut scanner = Scanner { text: text.as_bytes(), at: 0 };
        scanner.find(&self.0).unwrap_or(0..text.len())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            match part {
                PlacePart::Item(item) => write!(f, "[{item}]")?,
                PlacePart::Field(name) if index == 0 => write!(f, "{name}")?,
                PlacePart::Field(name) => write!(f, ".{name}")?,
            }
        }
        Ok(())
    }
}

/// A mistake in a trace file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Fault {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Fault {
        Fault { place, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: Option<String>) -> Fault {
        self.help = help;
        self
    }
}

/// A part of a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Node<'v> {
    pub(crate) value: &'v Value,
    pub(crate) place: Place,
}

impl<'v> Node<'v> {
    pub(crate) fn root(value: &'v Value) -> Node<'v> {
        Node { value, place: Place::default() }
    }

    /// A field that is present and not null.
    pub(crate) fn field(&self, name: &str) -> Option<Node<'v>> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Node { value, place: self.place.field(name) })
    }

    /// A field that must be present.
    pub(crate) fn need(&self, name: &str) -> Result<Node<'v>, Fault> {
        if !self.value.is_object() {
            return Err(self.expected("an object"));
        }
        self.field(name).ok_or_else(|| Fault::new(self.place.clone(), format!("`{name}` is missing here")))
    }

    /// The items of an array.
    pub(crate) fn items(&self) -> Result<Vec<Node<'v>>, Fault> {
        let items = self.value.as_array().ok_or_else(|| self.expected("an array"))?;
        let node = |(index, value)| Node { value, place: self.place.item(index) };
        Ok(items.iter().enumerate().map(node).collect())
    }

    /// The number of items of an array.
    pub(crate) fn len(&self) -> Result<usize, Fault> {
        self.value.as_array().map(Vec::len).ok_or_else(|| self.expected("an array"))
    }

    /// An item of an array.
    pub(crate) fn item(&self, index: usize) -> Option<Node<'v>> {
        Some(Node { value: self.value.get(index)?, place: self.place.item(index) })
    }

    /// The fields of an object.
    pub(crate) fn fields(&self) -> Result<Vec<(&'v str, &'v Value)>, Fault> {
        let fields = self.value.as_object().ok_or_else(|| self.expected("an object"))?;
        Ok(fields.iter().map(|(name, value)| (name.as_str(), value)).collect())
    }

    /// The fields of an object whose values are strings.
    pub(crate) fn texts(&self) -> Result<Vec<(String, String)>, Fault> {
        let fields = self.fields()?.into_iter();
        let text = |(name, value): (&str, &'v Value)| {
            let node = Node { value, place: self.place.field(name) };
            Ok((name.to_string(), node.text()?.to_string()))
        };
        fields.map(text).collect()
    }

    pub(crate) fn text(&self) -> Result<&'v str, Fault> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    /// An index below `n`.
    pub(crate) fn index(&self, n: usize) -> Result<usize, Fault> {
        let index = self.value.as_u64().and_then(|index| usize::try_from(index).ok());
        match index.ok_or_else(|| self.expected("an index"))? {
            index if index < n => Ok(index),
            index => {
                let message = format!("the index {index} is too large: there are {n} entries");
                Err(Fault::new(self.place.clone(), message))
            }
        }
    }

    /// The fault that this part is of the wrong type.
    pub(crate) fn expected(&self, what: &str) -> Fault {
        Fault::new(self.place.clone(), format!("expected {what}, found {}", type_name(self.value)))
    }
}

/// The type of a JSON value, with an article.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Reads through a valid JSON text.
struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scanner<'_> {
    /// The bytes of the part to which these names and indices lead. Of equal names the last counts.
    fn find(&mut self, parts: &[PlacePart]) -> Option<Range<usize>> {
        self.blanks();
        let Some((first, rest)) = parts.split_first() else {
            let start = self.at;
            self.skip()?;
            return Some(start..self.at);
        };
        let is_object = self.text.get(self.at)? == &b'{';
        self.at += 1;
        let mut found = None;
        for index in 0.. {
            self.blanks();
            if matches!(self.text.get(self.at)?, b'}' | b']') {
                break;
            }
            let is_wanted = match first {
                PlacePart::Field(name) if is_object => self.key()? == *name,
                PlacePart::Item(item) if !is_object => index == *item,
                _ => return None,
            };
            if is_wanted {
                let start = self.at;
                found = self.find(rest);
                self.at = start;
            }
            self.skip()?;
            self.blanks();
            if self.text.get(self.at)? == &b',' {
                self.at += 1;
            }
        }
        found
    }

    /// Reads a key and the colon after it.
    fn key(&mut self) -> Option<String> {
        let start = self.at;
        self.skip()?;
        let key = serde_json::from_slice(&self.text[start..self.at]).ok()?;
        self.blanks();
        self.at += 1;
        self.blanks();
        Some(key)
    }

    /// Skips one value.
    fn skip(&mut self) -> Option<()> {
        self.blanks();
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at)? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                _ => {
                    let is_inside = |byte: &&u8| !b",:]}[{\" \t\n\r".contains(byte);
                    self.at += self.text[self.at..].iter().take_while(is_inside).count();
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Skips a string.
    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.text.get(self.at)? {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                _ => self.at += 1,
            }
        }
    }

    fn blanks(&mut self) {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.text.get(self.at..).map_or(0, |rest| rest.iter().take_while(is_blank).count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn parts_are_found_in_the_text() {
        let text = r#" {"a": [1, {"b\u0041": "x,]\""}, -2.5e3 ], "a\"": null, "c": {"d": true}, "c": {"d": [ ]}} "#;
        let root = Place::default();
        let check = |place: Place, expected: &str| assert_eq!(&text[place.range(text)], expected, "{place}");
        check(root.field("a").item(0),             "1");
        check(root.field("a").item(1).field("bA"), r#""x,]\"""#);
        check(root.field("a").item(2),             "-2.5e3");
        check(root.field("a\""),                   "null");
        check(root.field("c").field("d"),          "[ ]");
        check(root.field("a").item(3),             text);
        check(root.field("a").field("x"),          text);
        check(root.field("zz"),                    text);
        check(root.clone(),                        text.trim());
    }
}
