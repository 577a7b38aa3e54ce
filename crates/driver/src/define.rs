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

/// Reads definitions, each with its values. A definition may have several values only if `may_vary`.
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
        match list(text, may_vary, span) {
            Err(diagnostic) => diagnostics.push(*diagnostic),
            Ok((define, values)) => match lists.iter().find(|(d, _)| d.name == define.name) {
                Some((first, _)) => diagnostics.push(twice(first, &define)),
                None => lists.push((define, values)),
            },
        }
    }
    Ok((lists, diagnostics))
}

/// Maximum number of rows that the parameters of a `bench` table may give.
pub const MAX_SWEEP_ROWS: usize = 1000;

/// The rows of a `bench` table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Names of the parameters that define the size of a row: those with several values, or the only one.
    pub names: Vec<String>,
    /// The rows: all combinations of values, in which the last parameter changes fastest.
    pub rows: Vec<SweepRow>,
}

/// A row of a `bench` table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepRow {
    /// Values of the parameters in [`Sweep::names`].
    pub sizes: Vec<i64>,
    /// All definitions in the form of `-D`.
    pub defines: Vec<String>,
}

/// The errors in a text of the user that is not a model, such as an option, and the text itself.
#[derive(Debug)]
pub struct Refused {
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    /// The errors, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads definitions, each with values and ranges that are separated by commas.
///
/// ```
/// let sweep = masque_driver::sweep(&["N=2..6..2".to_string(), "M=7".to_string(), "K=1,2".to_string()]).unwrap();
/// assert_eq!(sweep.names, ["N", "K"]);
/// assert_eq!((sweep.rows.len(), &sweep.rows[1].sizes[..]), (6, &[2, 2][..]));
/// assert_eq!(sweep.rows[2].defines, ["N=4", "M=7", "K=1"]);
/// assert!(masque_driver::sweep(&["N=2,".to_string()]).is_err());
/// ```
///
/// # Errors
///
/// If a definition is wrong, or if there are more than [`MAX_SWEEP_ROWS`] rows.
pub fn sweep(texts: &[String]) -> Result<Sweep, Box<Refused>> {
    let mut sources = Sources::default();
    let (lists, mut diagnostics) = read_lists(texts, true, &mut sources).unwrap_or_else(|_| {
        let message = "the texts of the option `-D` are too large".to_string();
        (Vec::new(), vec![crate::file::error("file/too-large", message)])
    });
    let n_rows = lists.iter().fold(1_usize, |n, (_, values)| n.saturating_mul(values.len()));
    if let (MAX_SWEEP_ROWS.., Some((last, _))) = (n_rows.saturating_sub(1), lists.last()) {
        let message = format!("these parameters give {n_rows} rows; at most {MAX_SWEEP_ROWS} are measured");
        let diagnostic = Diagnostic::error("cli/bad-define", last.span, message);
        diagnostics.push(diagnostic.hint("give fewer values, or a larger step: `N=2..100..10`"));
    }
    if !diagnostics.is_empty() {
        return Err(Refused { sources, diagnostics }.into());
    }
    // If only one parameter is given, its value is the size of the row.
    let is_size = |(_, values): &&DefineList| values.len() > 1 || lists.len() == 1;
    let names = lists.iter().filter(is_size).map(|(define, _)| define.name.clone()).collect();
    let mut rows = vec![SweepRow::default()];
    for list in &lists {
        let longer = |row: &SweepRow, value: i64| {
            let mut row = row.clone();
            row.sizes.extend(is_size(&list).then_some(value));
            row.defines.push(format!("{}={value}", list.0.name));
            row
        };
        rows = rows.iter().flat_map(|row| list.1.iter().map(move |&value| longer(row, value))).collect();
    }
    Ok(Sweep { names, rows })
}

/// Reads one definition: a name, `=`, and an integer, or with `may_vary` integers and ranges separated by
/// commas. Blanks may surround them.
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
        match may_vary && value.contains("..") {
            true => numbers.extend(range(name, value, value_span)?),
            false => numbers.push(integer(name, value, value_span)?),
        }
        offset += part.len() + 1;
    }
    Ok((Define { name: name.to_string(), value: numbers[0], span }, numbers))
}

/// Reads `2..10`, both ends included, or `2..10..4`, in steps of 4.
fn range(name: &str, text: &str, span: Span) -> Result<Vec<i64>, Box<Diagnostic>> {
    let bad = |message: String| Diagnostic::error("cli/bad-define", span, message);
    let parts: Vec<&str> = text.split("..").map(str::trim).collect();
    let (&[first, last] | &[first, last, _]) = &parts[..] else {
        let diagnostic = bad(format!("`{text}` is not a range"));
        return Err(diagnostic.label("expected `FIRST..LAST` or `FIRST..LAST..STEP`").into());
    };
    let (first, last) = (integer(name, first, span)?, integer(name, last, span)?);
    let step = parts.get(2).map_or(Ok(1), |step| integer(name, step, span))?;
    let is_empty = if step > 0 { first > last } else { first < last };
    if step == 0 || is_empty {
        let why = if step == 0 { "its step is 0" } else { "it has no values" };
        let hint = format!("write the least value first, or a negative step: `{name}={first}..{last}..-1`");
        let diagnostic = bad(format!("the range `{text}` cannot be used: {why}"));
        return Err(diagnostic.help((step != 0 && first > last).then_some(hint)).into());
    }
    let n_values = (i128::from(last) - i128::from(first)) / i128::from(step) + 1;
    if n_values > MAX_SWEEP_ROWS as i128 {
        return Err(bad(format!(
            "the range `{text}` has {n_values} values; at most {MAX_SWEEP_ROWS} are measured"
        ))
        .hint(format!("give a step: `{name}={first}..{last}..STEP`"))
        .into());
    }
    let value = |index: i128| (i128::from(first) + index * i128::from(step)) as i64;
    Ok((0..n_values).map(value).collect())
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
            Ok(sweep) => Ok(sweep.rows.into_iter().map(|row| row.defines.join(" ")).collect::<Vec<_>>()),
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
        check_sweep(&["N=3..5"],             Ok(&["N=3", "N=4", "N=5"]));
        check_sweep(&["N=1, 8..3..-2 ,0"],   Ok(&["N=1", "N=8", "N=6", "N=4", "N=0"]));
        check_sweep(&["N=-1 .. 1"],          Ok(&["N=-1", "N=0", "N=1"]));
        check_sweep(&["N=5..3"],             Err("the range `5..3` cannot be used: it has no values @ 5..3"));
        check_sweep(&["N=1..3..0"],          Err("the range `1..3..0` cannot be used: its step is 0 @ 1..3..0"));
        check_sweep(&["N=1..2..3..4"],       Err("`1..2..3..4` is not a range @ 1..2..3..4"));
        check_sweep(&["N=1.."],              Err("`` is not an integer, and `N` needs one @ 1.."));
        check_sweep(&["N=0..9223372036854775807"],
            Err("the range `0..9223372036854775807` has 9223372036854775808 values; at most 1000 are measured @ 0..9223372036854775807"));
        check_sweep(&["N=-9223372036854775808..9223372036854775807..9223372036854775807"],
            Ok(&["N=-9223372036854775808", "N=-1", "N=9223372036854775806"]));
        check_sweep(&["N"],                  Err("`N` gives no value @ N"));
        check_sweep(&["=1,2"],               Err("`` is not the name of a parameter @ "));
        check_sweep(&["N=1,2", "M=1..2"],    Ok(&["N=1 M=1", "N=1 M=2", "N=2 M=1", "N=2 M=2"]));
        check_sweep(&["N=1..100", "M=1..11"], Err("these parameters give 1100 rows; at most 1000 are measured @ M=1..11"));
        check_sweep(&["N=1,2", "N=3"],       Err("`N` is given twice @ N=3"));
    }
}
