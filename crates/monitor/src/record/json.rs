//! Records as JSON values, without what a JSON reader could lose: keys that occur twice are refused, and so are
//! numbers that the reader cannot represent.

use std::fmt;

use masque_text::without_place;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

/// Maximum nesting of lists and objects in a record.
pub const MAX_RECORD_DEPTH: usize = 64;
/// Integers of a larger absolute value are not exact as floating-point numbers.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A number with a fraction or an exponent.
    Decimal(f64),
    /// A number that neither an integer of 64 bits nor a decimal represents exactly.
    TooLarge,
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object, in the order of the text.
    Object(Vec<(String, Json)>),
}

/// Why a text is not a JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadJson {
    /// Column of the mistake in characters, from 1; 0 if the mistake has no column.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Json {
    /// Parses one value.
    pub fn parse(text: &str) -> Result<Json, BadJson> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let parsed = Value { depth: 0 }.deserialize(&mut deserializer);
        parsed.and_then(|value| deserializer.end().map(|()| value)).map_err(|error| {
            // The line is always the first, so only the column is of interest. It counts bytes, and may be inside the
            // character at which the mistake is.
            let column = error.column();
            let message = without_place(&error.to_string(), error.line(), column).to_string();
            let before = &text[..text.ceil_char_boundary(column)];
            BadJson { column: before.chars().count(), message }
        })
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a truth value",
            Json::Int(_) | Json::Decimal(_) => "a number",
            Json::TooLarge => "a number that is too large (integers have 64 bits, decimals are below 2^53)",
            Json::Text(_) => "a string",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
        }
    }

    /// A string, a number or a truth value as text; `None` for other values and for numbers that are not exact.
    pub fn scalar_text(&self) -> Option<String> {
        match self {
            Json::Text(text) => Some(text.clone()),
            Json::Int(number) => Some(number.to_string()),
            Json::Decimal(number) => Some(number.to_string()),
            Json::Bool(value) => Some(value.to_string()),
            Json::Null | Json::TooLarge | Json::List(_) | Json::Object(_) => None,
        }
    }
}

/// Reads a value inside this many lists and objects.
#[derive(Clone, Copy)]
struct Value {
    depth: usize,
}

impl Value {
    fn inside<E: Error>(self) -> Result<Value, E> {
        if self.depth >= MAX_RECORD_DEPTH {
            return Err(E::custom(format!("lists and objects are nested deeper than {MAX_RECORD_DEPTH}")));
        }
        Ok(Value { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Json;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::TooLarge, Json::Int))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(if value.abs() < MAX_EXACT { Json::Decimal(value) } else { Json::TooLarge })
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_string()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let (inside, mut items) = (self.inside()?, Vec::new());
        while let Some(item) = list.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let (inside, mut fields) = (self.inside()?, Vec::<(String, Json)>::new());
        let mut known = std::collections::HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if !known.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key `{key}` occurs twice in one object")));
            }
            fields.push((key, object.next_value_seed(inside)?));
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_without_losses() {
        let value = Json::parse(r#"{"a": [1, -2, 1.5, true, null, "x"], "b": {}}"#).unwrap();
        assert_eq!(value.get("b"), Some(&Json::Object(Vec::new())));
        let Some(Json::List(items)) = value.get("a") else { panic!("{value:?}") };
        let expected = [
            Json::Int(1),
            Json::Int(-2),
            Json::Decimal(1.5),
            Json::Bool(true),
            Json::Null,
            Json::Text("x".into()),
        ];
        assert_eq!(items[..], expected);
        for number in ["18446744073709551615", "18446744073709551616", "-1e300", "9007199254740993.0"] {
            assert_eq!(Json::parse(number), Ok(Json::TooLarge), "{number}");
        }
    }

    #[rustfmt::skip]
    #[test]
    fn bad_values_are_refused_with_their_column() {
        let deep = "[".repeat(MAX_RECORD_DEPTH + 1);
        let check = |text: &str, column: usize, message: &str| {
            let bad = Json::parse(text).unwrap_err();
            assert_eq!((bad.column, bad.message.as_str()), (column, message), "{text}");
        };
        check("",                  0,  "EOF while parsing a value");
        check("{\"a\": 1",         7,  "EOF while parsing an object");
        check("{\"a\": 1} x",      10, "trailing characters");
        check("{'a': 1}",          2,  "key must be a string");
        check("{\"ä\": 1, \"ä\": 2}", 12, "the key `ä` occurs twice in one object");
        check("[\u{e9}]",          2,  "expected value");
        check("{\"at line 7 at line 8\": 1, \"at line 7 at line 8\": 2}", 48,
            "the key `at line 7 at line 8` occurs twice in one object");
        check(&deep,               65, "lists and objects are nested deeper than 64");
    }
}
