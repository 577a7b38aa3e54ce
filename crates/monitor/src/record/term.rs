//! JSON values as terms of LCC.
//!
//! | JSON | term |
//! |---|---|
//! | a string | the constant with that text, in quotes unless it is a plain word |
//! | an integer of 64 bits | the number |
//! | a number with a fraction or exponent | the decimal |
//! | `true`, `false`, `null` | the constants `true`, `false`, `null` |
//! | a list | the list |
//! | an object | `object([field(key, value), ..])`, by key |
//!
//! A string is always one constant. Brackets, commas, a capital letter or quotes in it never become a variable or a
//! compound term, so a record cannot say more than its map lets it say.

use masque_lcc::{constant, decimal};

use super::Json;

/// Why a value has no term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTerm;

impl Json {
    /// The term for a value, as text.
    ///
    /// # Errors
    ///
    /// If the value has a number that cannot be represented exactly.
    pub fn term(&self) -> Result<String, NoTerm> {
        let mut out = String::new();
        self.write_term(&mut out)?;
        Ok(out)
    }

    fn write_term(&self, out: &mut String) -> Result<(), NoTerm> {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Int(number) => out.push_str(&number.to_string()),
            Json::Decimal(number) => out.push_str(&decimal(*number)),
            Json::TooLarge => return Err(NoTerm),
            Json::Text(text) => out.push_str(&text_constant(text)),
            Json::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    item.write_term(out)?;
                }
                out.push(']');
            }
            Json::Object(fields) => {
                let mut fields: Vec<&(String, Json)> = fields.iter().collect();
                fields.sort_unstable_by_key(|(key, _)| key);
                out.push_str("object([");
                for (index, (key, value)) in fields.into_iter().enumerate() {
                    out.push_str(if index > 0 { ", field(" } else { "field(" });
                    out.push_str(&text_constant(key));
                    out.push_str(", ");
                    value.write_term(out)?;
                    out.push(')');
                }
                out.push_str("])");
            }
        }
        Ok(())
    }
}

/// The constant with a text. Before a bracket it is the name of a compound term.
pub fn text_constant(text: &str) -> String {
    // An escaped text is a possible name. If it were not, the empty text would be refused as a term.
    constant(&escaped(text)).unwrap_or_default()
}

/// A text that LCC can quote. A constant cannot have a line break or both kinds of quotes; so a text with one of
/// these, or with a backslash, is written with backslashes, and different texts remain different.
fn escaped(text: &str) -> String {
    let has_both = text.contains('\'') && text.contains('"');
    if !has_both && !text.contains(['\n', '\r', '\\']) {
        return text.to_string();
    }
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '"' if has_both => out.push_str("\\u{22}"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[rustfmt::skip]
    #[test]
    fn terms_of_values() {
        let check = |json: &str, term: &str| assert_eq!(Json::parse(json).unwrap().term().as_deref(), Ok(term));
        check(r#""main""#,                  "main");
        check(r#""Main""#,                  "'Main'");
        check(r#""_""#,                     "'_'");
        check(r#""f(X), g""#,               "'f(X), g'");
        check(r#""it's""#,                  "\"it's\"");
        check(r#""then""#,                  "'then'");
        check(r#""""#,                      "''");
        check("-7",                         "-7");
        check("1.0",                        "1.0");
        check("1e-7",                       "0.0000001");
        check("[1, [], \"A\"]",             "[1, [], 'A']");
        check(r#"{"b": null, "a": true}"#,  "object([field(a, true), field(b, null)])");
        check(r#""a\nb""#,                  r"'a\nb'");
        check(r#""a\\nb""#,                 r"'a\\nb'");
        check(r#""'\"\\""#,                 r#""'\u{22}\\""#);
        assert_eq!(Json::parse("18446744073709551616").unwrap().term(), Err(NoTerm));
        // A name without quotes has at most 255 characters.
        let (short, long) = ("a".repeat(255), "a".repeat(256));
        check(&format!("[\"{short}\", \"{long}\"]"), &format!("[{short}, '{long}']"));
    }

    /// Strings of awkward characters are different constants, and each is one quoted token.
    #[test]
    fn different_strings_are_different_constants() {
        let pieces = ["'", "\"", "\\", "\n", "\r", "n", "r", "u{22}", "A", "(", ""];
        let mut known = HashMap::new();
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    let text = format!("{a}{b}{c}");
                    let term = text_constant(&text);
                    let quote = term.chars().next().filter(|c| "'\"".contains(*c));
                    if let Some(quote) = quote {
                        assert!(
                            !term[1..term.len() - 1].contains([quote, '\n']) && term.ends_with(quote),
                            "{term}"
                        );
                    }
                    let other = known.insert(term.clone(), text.clone());
                    assert!(other.is_none_or(|other| other == text), "{term}");
                }
            }
        }
    }
}
