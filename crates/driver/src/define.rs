//! `-D NAME=VALUE`: parameters from the command line, kept as a source so that a wrong one can be
//! pointed at.

use std::num::{IntErrorKind, ParseIntError};

use masque_ispl::Define;
use masque_text::{Diagnostic, Sources, Span, TooLarge};

/// The name of the source that holds the definitions, one per line.
const NAME: &str = "<-D>";

/// Reads all definitions and adds them to the sources.
pub(crate) fn read(
    texts: &[String],
    sources: &mut Sources,
) -> Result<(Vec<Define>, Vec<Diagnostic>), TooLarge> {
    let (mut defines, mut diagnostics) = (Vec::<Define>::new(), Vec::new());
    if texts.is_empty() {
        return Ok((defines, diagnostics));
    }
    let file = sources.add(NAME, texts.join("\n"))?;
    let mut start = 0;
    for text in texts {
        let span = sources.span(file).slice(start, start + text.len() as u32);
        start += text.len() as u32 + 1;
        match one(text, span) {
            Err(diagnostic) => diagnostics.push(*diagnostic),
            Ok(define) => match defines.iter().find(|d| d.name == define.name) {
                Some(first) => diagnostics.push(twice(first, &define)),
                None => defines.push(define),
            },
        }
    }
    Ok((defines, diagnostics))
}

/// One definition: a name, `=`, an integer; blanks around them are fine.
fn one(text: &str, span: Span) -> Result<Define, Box<Diagnostic>> {
    let bad = |span, message| Diagnostic::error("cli/bad-define", span, message);
    let Some((before, after)) = text.split_once('=') else {
        let name = if is_name(text) { text } else { "N" };
        return Err(bad(span, format!("`{text}` gives no value"))
            .label("expected `NAME=VALUE`")
            .hint(format!("write `-D {name}=3`"))
            .into());
    };
    let (name, name_span) = trimmed(before, span, 0);
    let (value, value_span) = trimmed(after, span, before.len() + 1);
    if !is_name(name) {
        return Err(bad(name_span, format!("`{name}` is not the name of a parameter"))
            .label("expected a letter, then letters, digits and `_`")
            .into());
    }
    let value = value.parse().map_err(|e: ParseIntError| {
        let message = match e.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                format!("the value of `{name}` does not fit 64 bits")
            }
            _ => format!("`{value}` is not an integer, and `{name}` needs one"),
        };
        bad(value_span, message).label("expected an integer")
    })?;
    Ok(Define { name: name.to_string(), value, span })
}

/// A part of the definition at `span` that begins at `offset`, without the blanks around it.
fn trimmed(part: &str, span: Span, offset: usize) -> (&str, Span) {
    let inner = part.trim();
    let start = offset + part.len() - part.trim_start().len();
    // All blanks: the place just after the `=`, or before it.
    let start = if inner.is_empty() { offset } else { start };
    (inner, span.slice(start as u32, (start + inner.len()) as u32))
}

fn twice(first: &Define, second: &Define) -> Diagnostic {
    let message = format!("`{}` is given twice", second.name);
    Diagnostic::error("cli/bad-define", second.span, message)
        .label("given again here")
        .also(first.span, "first given here")
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[&str], expected: &[(&str, i64)], messages: &[&str]) {
        let texts: Vec<String> = texts.iter().map(|t| t.to_string()).collect();
        let mut sources = Sources::default();
        let (defines, diagnostics) = read(&texts, &mut sources).unwrap();
        let found: Vec<_> = defines.iter().map(|d| (d.name.as_str(), d.value)).collect();
        assert_eq!(found, expected, "{texts:?}");
        let found: Vec<_> = diagnostics
            .iter()
            .map(|d| format!("{} @ {}", d.message, sources.slice(d.primary.as_ref().unwrap().span)))
            .collect();
        assert_eq!(found, messages, "{texts:?}");
        assert!(diagnostics.iter().all(|d| d.code == "cli/bad-define"));
    }

    #[rustfmt::skip]
    #[test]
    fn definitions() {
        check(&["N=3", "M = -4"],          &[("N", 3), ("M", -4)], &[]);
        check(&["N=9223372036854775807"],  &[("N", i64::MAX)],     &[]);
        check(&["N=9223372036854775808"],  &[], &["the value of `N` does not fit 64 bits @ 9223372036854775808"]);
        check(&["N"],                      &[], &["`N` gives no value @ N"]);
        check(&[""],                       &[], &["`` gives no value @ "]);
        check(&["=3"],                     &[], &["`` is not the name of a parameter @ "]);
        check(&["3=3"],                    &[], &["`3` is not the name of a parameter @ 3"]);
        check(&["N= x "],                  &[], &["`x` is not an integer, and `N` needs one @ x"]);
        check(&["N="],                     &[], &["`` is not an integer, and `N` needs one @ "]);
        check(&["N=1", "M=2", "N=1"],      &[("N", 1), ("M", 2)], &["`N` is given twice @ N=1"]);
    }
}
