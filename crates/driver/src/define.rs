//! `-D NAME=VALUE`: parameters from the command line, and for `bench` also `-D NAME=VALUE,VALUE,..`, with a row
//! for each value. The texts are added to the sources, so that diagnostics can point into them.

use std::num::{IntErrorKind, ParseIntError};

use masque_ispl::Define;
use masque_text::{Diagnostic, Sources, Span, TooLarge};

/// The name of the source that holds the definitions, one per line.
const NAME: &str = "<-D>";

/// A definition with its values; the definition has the first value.
type DefineList = (Define, Vec<i64>);

/// Reads all definitions and adds them to the sources.
pub(crate) fn read(
    texts: &[String],
    sources: &mut Sources,
) -> Result<(Vec<Define>, Vec<Diagnostic>), TooLarge> {
    if texts.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let (lists, diagnostics) = read_lists(texts, false, sources)?;
    Ok((lists.into_iter().map(|(define, _)| define).collect(), diagnostics))
}

/// Reads definitions, each with its values. A definition may have several values only if `may_vary`, and then
/// only one definition may.
fn read_lists(
    texts: &[String],
    may_vary: bool,
    sources: &mut Sources,
) -> Result<(Vec<DefineList>, Vec<Diagnostic>), TooLarge> {
    let (mut lists, mut diagnostics) = (Vec::<DefineList>::new(), Vec::new());
    let file = sources.add(NAME, texts.join("\n"))?;
    let mut start = 0;
    for text in texts {
        let span = sources.span(file).slice(start, start + text.len() as u32);
        start += text.len() as u32 + 1;
        let (define, values) = match list(text, may_vary, span) {
            Ok(list) => list,
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                continue;
            }
        };
        let varied = lists.iter().find(|(_, values)| values.len() > 1);
        if let Some((first, _)) = lists.iter().find(|(d, _)| d.name == define.name) {
            diagnostics.push(twice(first, &define));
        } else if let (Some((first, _)), 2..) = (varied, values.len()) {
            let message = "two parameters have several values; only one may".to_string();
            let diagnostic = Diagnostic::error("cli/bad-define", span, message);
            diagnostics.push(diagnostic.also(first.span, "the first"));
        } else {
            lists.push((define, values));
        }
    }
    Ok((lists, diagnostics))
}

/// The rows of a `bench` table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Name of the parameter with several values, if there is one.
    pub name: Option<String>,
    /// For each row, the value of that parameter, and all definitions in the form of `-D`.
    pub rows: Vec<(Option<i64>, Vec<String>)>,
}

/// The errors in a text of the user that is not a model, such as an option, and the text itself.
#[derive(Debug)]
pub struct Refused {
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    /// The errors, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads definitions; one of them may have several values, separated by commas.
///
/// ```
/// let sweep = masque_driver::sweep(&["N=2,3".to_string(), "M=7".to_string()]).unwrap();
/// assert_eq!(sweep.name.as_deref(), Some("N"));
/// assert_eq!(sweep.rows[1], (Some(3), vec!["N=3".to_string(), "M=7".to_string()]));
/// assert!(masque_driver::sweep(&["N=2,".to_string()]).is_err());
/// ```
pub fn sweep(texts: &[String]) -> Result<Sweep, Box<Refused>> {
    let mut sources = Sources::default();
    let (lists, diagnostics) = read_lists(texts, true, &mut sources).unwrap_or_else(|_| {
        let message = "the texts of the option `-D` are too large".to_string();
        (Vec::new(), vec![crate::file::error("file/too-large", message)])
    });
    if !diagnostics.is_empty() {
        return Err(Refused { sources, diagnostics }.into());
    }
    let varied = lists.iter().position(|(_, values)| values.len() > 1);
    // If only one parameter is given, its value is the size of the row.
    let varied = varied.or((lists.len() == 1).then_some(0));
    let row = |value: Option<i64>| {
        let define = |(i, (define, values)): (usize, &DefineList)| match value {
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

/// Reads one definition: a name, `=`, and an integer, or with `may_vary` integers separated by commas. Blanks
/// may surround them.
fn list(text: &str, may_vary: bool, span: Span) -> Result<(Define, Vec<i64>), Box<Diagnostic>> {
    let bad = |span, message| Diagnostic::error("cli/bad-define", span, message);
    let Some((before, after)) = text.split_once('=') else {
        let name = if is_name(text) { text } else { "N" };
        return Err(bad(span, format!("`{text}` gives no value"))
            .label("expected `NAME=VALUE`")
            .hint(format!("write `-D {name}=3`"))
            .into());
    };
    let (name, name_span) = trimmed(before, span, 0);
    if !is_name(name) {
        let diagnostic = bad(name_span, format!("`{name}` is not the name of a parameter"));
        return Err(diagnostic.label("expected a letter, then letters, digits and `_`").into());
    }
    let mut numbers = Vec::new();
    let mut offset = before.len() + 1;
    for part in after.split(|c| may_vary && c == ',') {
        let (value, value_span) = trimmed(part, span, offset);
        numbers.push(integer(name, value, value_span)?);
        offset += part.len() + 1;
    }
    Ok((Define { name: name.to_string(), value: numbers[0], span }, numbers))
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

/// A part of the definition at `span` that begins at byte `offset`, without the blanks around it.
fn trimmed(part: &str, span: Span, offset: usize) -> (&str, Span) {
    let inner = part.trim();
    let start = offset + part.len() - part.trim_start().len();
    // If the part is blank, the span is empty and lies just before or after the `=`.
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
        check_sweep(&["N=1,2", "M=1,2"],     Err("two parameters have several values; only one may @ M=1,2"));
        check_sweep(&["N=1,2", "N=3"],       Err("`N` is given twice @ N=3"));
    }
}
