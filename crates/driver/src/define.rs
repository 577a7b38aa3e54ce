//! `-D NAME=VALUE`: parameters from the command line, kept as a source so that a wrong one can be
//! pointed at; for `bench` also `-D NAME=VALUE,VALUE,..`, a row for each value.

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

/// The sizes that `bench` goes through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// The parameter with several values, if there is one.
    pub name: Option<String>,
    /// For each row the value of that parameter, and all definitions as `-D` takes them.
    pub rows: Vec<(Option<i64>, Vec<String>)>,
}

/// What is wrong with a text of the user that is not a model, and the text itself.
#[derive(Debug)]
pub struct Refused {
    /// The texts that the diagnostics point at.
    pub sources: Sources,
    /// At least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads definitions of which one may have several values, separated by commas.
///
/// ```
/// let sweep = masque_driver::sweep(&["N=2,3".to_string(), "M=7".to_string()]).unwrap();
/// assert_eq!(sweep.name.as_deref(), Some("N"));
/// assert_eq!(sweep.rows[1], (Some(3), vec!["N=3".to_string(), "M=7".to_string()]));
/// assert!(masque_driver::sweep(&["N=2,".to_string()]).is_err());
/// ```
pub fn sweep(texts: &[String]) -> Result<Sweep, Box<Refused>> {
    let mut sources = Sources::default();
    let Ok(file) = sources.add(NAME, texts.join("\n")) else {
        let message = "the texts of the option `-D` are too large".to_string();
        let diagnostics = vec![crate::file::error("file/too-large", message)];
        return Err(Refused { sources, diagnostics }.into());
    };
    let (mut lists, mut diagnostics) = (Vec::<(Define, Vec<i64>)>::new(), Vec::new());
    let mut start = 0;
    for text in texts {
        let span = sources.span(file).slice(start, start + text.len() as u32);
        start += text.len() as u32 + 1;
        match list(text, span) {
            Err(diagnostic) => diagnostics.push(*diagnostic),
            Ok((define, values)) => {
                let several = lists.iter().find(|(_, values)| values.len() > 1).filter(|_| values.len() > 1);
                match lists.iter().find(|(d, _)| d.name == define.name) {
                    Some((first, _)) => diagnostics.push(twice(first, &define)),
                    None if several.is_some() => {
                        let message = "two parameters have several values; one may".to_string();
                        let first = several.map_or(span, |(d, _)| d.span);
                        diagnostics.push(
                            Diagnostic::error("cli/bad-define", span, message).also(first, "the first"),
                        );
                    }
                    None => lists.push((define, values)),
                }
            }
        }
    }
    if !diagnostics.is_empty() {
        return Err(Refused { sources, diagnostics }.into());
    }
    let varied = lists.iter().position(|(_, values)| values.len() > 1);
    // A single value is a size, too, if it is the only one.
    let varied = varied.or((lists.len() == 1).then_some(0));
    let row = |value: Option<i64>| {
        let define = |(i, (define, values)): (usize, &(Define, Vec<i64>))| match value {
            Some(value) if varied == Some(i) => format!("{}={value}", define.name),
            _ => format!("{}={}", define.name, values[0]),
        };
        (value, lists.iter().enumerate().map(define).collect())
    };
    Ok(match varied {
        None => Sweep { name: None, rows: vec![row(None)] },
        Some(i) => {
            let (define, values) = &lists[i];
            Sweep { name: Some(define.name.clone()), rows: values.iter().map(|&v| row(Some(v))).collect() }
        }
    })
}

/// One definition with at least one value; the definition has the first.
fn list(text: &str, span: Span) -> Result<(Define, Vec<i64>), Box<Diagnostic>> {
    let Some((name, values)) = text.split_once('=').filter(|(_, values)| values.contains(',')) else {
        let define = one(text, span)?;
        let value = define.value;
        return Ok((define, vec![value]));
    };
    let (name, name_span) = trimmed(name, span, 0);
    if !is_name(name) {
        return Err(not_a_name(name, name_span));
    }
    let mut numbers = Vec::new();
    let mut offset = text.len() - values.len();
    for part in values.split(',') {
        let (value, value_span) = trimmed(part, span, offset);
        numbers.push(integer(name, value, value_span)?);
        offset += part.len() + 1;
    }
    Ok((Define { name: name.to_string(), value: numbers[0], span }, numbers))
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
        return Err(not_a_name(name, name_span));
    }
    let value = integer(name, value, value_span)?;
    Ok(Define { name: name.to_string(), value, span })
}

fn not_a_name(name: &str, span: Span) -> Box<Diagnostic> {
    let message = format!("`{name}` is not the name of a parameter");
    let diagnostic = Diagnostic::error("cli/bad-define", span, message);
    diagnostic.label("expected a letter, then letters, digits and `_`").into()
}

fn integer(name: &str, value: &str, span: Span) -> Result<i64, Box<Diagnostic>> {
    value.parse().map_err(|e: ParseIntError| {
        let message = match e.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                format!("the value of `{name}` does not fit 64 bits")
            }
            _ => format!("`{value}` is not an integer, and `{name}` needs one"),
        };
        Diagnostic::error("cli/bad-define", span, message).label("expected an integer").into()
    })
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

    fn check_sweep(texts: &[&str], expected: Result<&[&str], &str>) {
        let texts: Vec<String> = texts.iter().map(|t| t.to_string()).collect();
        let found = match sweep(&texts) {
            Ok(sweep) => Ok(sweep.rows.into_iter().map(|(_, defines)| defines.join(" ")).collect::<Vec<_>>()),
            Err(refused) => {
                let primary = refused.diagnostics[0].primary.as_ref().unwrap();
                Err(format!("{} @ {}", refused.diagnostics[0].message, refused.sources.slice(primary.span)))
            }
        };
        let expected =
            expected.map(|rows| rows.iter().map(|r| r.to_string()).collect()).map_err(str::to_string);
        assert_eq!(found, expected, "{texts:?}");
    }

    #[rustfmt::skip]
    #[test]
    fn sweeps() {
        check_sweep(&[],                     Ok(&[""]));
        check_sweep(&["N=3"],                Ok(&["N=3"]));
        check_sweep(&["M=2", "N= 3, 4 ,-5"], Ok(&["M=2 N=3", "M=2 N=4", "M=2 N=-5"]));
        check_sweep(&["M=2", "N=3"],         Ok(&["M=2 N=3"]));
        check_sweep(&["N=3,x"],              Err("`x` is not an integer, and `N` needs one @ x"));
        check_sweep(&["N=3,,4"],             Err("`` is not an integer, and `N` needs one @ "));
        check_sweep(&["N=3..5"],             Err("`3..5` is not an integer, and `N` needs one @ 3..5"));
        check_sweep(&["N"],                  Err("`N` gives no value @ N"));
        check_sweep(&["=1,2"],               Err("`` is not the name of a parameter @ "));
        check_sweep(&["N=1,2", "M=1,2"],     Err("two parameters have several values; one may @ M=1,2"));
        check_sweep(&["N=1,2", "N=3"],       Err("`N` is given twice @ N=3"));
    }
}
