//! A validator for the parts of JSON Schema that the schema of SARIF (draft 7) and our own (2020-12) use. It fails on a
//! keyword that it does not know, so that nothing the schema demands is overlooked.

use serde_json::{Map, Value};

/// The places where a value breaks a schema, and how.
pub(crate) fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    Validator { root: schema, errors: &mut errors }.check(schema, value, "");
    errors
}

struct Validator<'s, 'e> {
    root: &'s Value,
    errors: &'e mut Vec<String>,
}

impl<'s> Validator<'s, '_> {
    fn check(&mut self, schema: &'s Value, value: &Value, at: &str) {
        match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return self.errors.push(format!("{at} is not allowed")),
            _ => {}
        }
        let keywords = schema.as_object().unwrap_or_else(|| panic!("no schema: {schema}"));
        for (keyword, wanted) in keywords {
            let problem = match keyword.as_str() {
                "$schema" | "$id" | "title" | "description" | "default" | "definitions" | "$defs" => None,
                "$ref" => {
                    let place = wanted.as_str().and_then(|place| place.strip_prefix('#')).unwrap();
                    let root = self.root;
                    self.check(root.pointer(place).unwrap(), value, at);
                    None
                }
                "type" => (!has_types(value, wanted)).then(|| format!("is no {wanted}")),
                "const" => (wanted != value).then(|| format!("is not {wanted}")),
                "enum" => (!wanted.as_array().unwrap().contains(value))
                    .then(|| format!("{value} is not in {wanted}")),
                "format" => self.format(wanted.as_str().unwrap(), value),
                "pattern" => pattern(wanted.as_str().unwrap(), value),
                "minimum" => value
                    .as_f64()
                    .filter(|n| *n < wanted.as_f64().unwrap())
                    .map(|n| format!("{n} is too small")),
                "maximum" => value
                    .as_f64()
                    .filter(|n| *n > wanted.as_f64().unwrap())
                    .map(|n| format!("{n} is too large")),
                "minItems" => {
                    let n_items = value.as_array().map(|items| items.len() as u64);
                    n_items.filter(|n| *n < wanted.as_u64().unwrap()).map(|n| format!("has {n} items"))
                }
                "uniqueItems" => {
                    repeated(value).filter(|_| wanted == true).map(|item| format!("repeats {item}"))
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}/{index}"));
                    }
                    None
                }
                "required" => {
                    let is_missing =
                        |name: &&Value| value.is_object() && value.get(name.as_str().unwrap()).is_none();
                    wanted.as_array().unwrap().iter().find(is_missing).map(|name| format!("lacks {name}"))
                }
                "properties" => {
                    for (name, member) in value.as_object().into_iter().flatten() {
                        if let Some(schema) = wanted.get(name) {
                            self.check(schema, member, &format!("{at}/{name}"));
                        }
                    }
                    None
                }
                "additionalProperties" => self.others(keywords, wanted, value, at),
                "anyOf" => (self.n_valid(wanted, value) == 0).then(|| "matches no alternative".to_string()),
                "oneOf" => {
                    (self.n_valid(wanted, value) != 1).then(|| "matches not one alternative".to_string())
                }
                unknown => panic!("the validator does not know `{unknown}`"),
            };
            self.errors.extend(problem.map(|problem| format!("{at} {problem}")));
        }
    }

    /// Checks members that `properties` does not name.
    fn others(
        &mut self,
        keywords: &'s Map<String, Value>,
        wanted: &'s Value,
        value: &Value,
        at: &str,
    ) -> Option<String> {
        let named = keywords.get("properties");
        let is_named = |name: &str| named.is_some_and(|named| named.get(name).is_some());
        for (name, member) in value.as_object()?.iter().filter(|(name, _)| !is_named(name)) {
            match wanted {
                Value::Bool(true) => {}
                Value::Bool(false) => return Some(format!("has the member {name}")),
                schema => self.check(schema, member, &format!("{at}/{name}")),
            }
        }
        None
    }

    /// The number of alternatives that a value matches.
    fn n_valid(&self, alternatives: &Value, value: &Value) -> usize {
        let is_valid = |schema: &&Value| {
            let mut errors = Vec::new();
            Validator { root: self.root, errors: &mut errors }.check(schema, value, "");
            errors.is_empty()
        };
        alternatives.as_array().unwrap().iter().filter(is_valid).count()
    }

    fn format(&self, format: &str, value: &Value) -> Option<String> {
        // The formats of numbers say nothing about values of other types.
        match format {
            "uint" | "uint8" | "uint16" | "uint32" | "uint64" => {
                return (value.is_number() && !value.is_u64()).then(|| format!("{value} is no {format}"));
            }
            "int64" => {
                return (value.is_number() && !value.is_i64()).then(|| format!("{value} is no {format}"));
            }
            "double" => return None,
            _ => {}
        }
        let text = value.as_str()?;
        let is_valid = match format {
            "uri" => is_uri(text) && text.contains(':'),
            "uri-reference" => is_uri(text),
            "date-time" => text.len() >= 20 && text.as_bytes()[10] == b'T',
            unknown => panic!("the validator does not know the format `{unknown}`"),
        };
        (!is_valid).then(|| format!("{text:?} is no {format}"))
    }
}

/// Whether a value has a type, or one of several.
fn has_types(value: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Array(kinds) => kinds.iter().any(|kind| has_type(value, kind.as_str().unwrap())),
        kind => has_type(value, kind.as_str().unwrap()),
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        unknown => panic!("the validator does not know the type `{unknown}`"),
    }
}

fn pattern(pattern: &str, value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let is_match = match pattern {
        "[^/]+/.+" => text.split_once('/').is_some_and(|(group, name)| !group.is_empty() && !name.is_empty()),
        unknown => panic!("the validator does not know the pattern `{unknown}`"),
    };
    (!is_match).then(|| format!("{text:?} does not match {pattern}"))
}

fn repeated(value: &Value) -> Option<&Value> {
    let items = value.as_array()?;
    items.iter().enumerate().find(|(index, item)| items[..*index].contains(item)).map(|(_, item)| item)
}

/// Whether a text has only characters of URIs, and percent signs only before two hexadecimal digits.
fn is_uri(text: &str) -> bool {
    let is_allowed = |c: u8| c.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&c);
    let is_escape =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    text.bytes().all(is_allowed) && text.split('%').skip(1).all(is_escape)
}
