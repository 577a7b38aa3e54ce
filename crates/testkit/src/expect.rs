//! The verdicts that a model file announces for its formulas.

use std::ops::Range;

/// What a file says about one formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The verdict.
    pub verdict: Expected,
    /// Where it comes from, or why: `[FHMV95 §1.1]`, or a few words.
    pub source: Option<String>,
}

/// An expected verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// `holds`
    Holds,
    /// `fails`
    Fails,
    /// `unknown(reason)`
    Unknown(String),
}

/// For each formula, the expectation that stands beside it, if there is a well-formed one.
///
/// It is a comment `-- expect: holds, SOURCE` (or `fails`, or `unknown(reason)`; the source may be
/// missing) behind the formula on the line where it ends, or alone on the line before the one where
/// it begins. Of several formulas on a line, the last owns the comment behind and the first the
/// line before. Formulas with the same span, made by one `for`, share an expectation.
///
/// ```
/// use masque_testkit::{Expected, expectations};
/// let text = "Formulae\n  AG p; -- expect: holds, [FHMV95 §1.1]\n  EF q;\nend Formulae\n";
/// let (ag, ef) = (text.find("AG p").unwrap(), text.find("EF q").unwrap());
/// let found = expectations(text, &[ag..ag + 4, ef..ef + 4]);
/// let first = found[0].as_ref().unwrap();
/// assert_eq!(first.verdict, Expected::Holds);
/// assert_eq!(first.source.as_deref(), Some("[FHMV95 §1.1]"));
/// assert_eq!(found[1], None);
/// ```
pub fn expectations(text: &str, formula_spans: &[Range<usize>]) -> Vec<Option<Expectation>> {
    formula_spans
        .iter()
        .map(|span| behind(text, span, formula_spans).or_else(|| before(text, span, formula_spans)))
        .collect()
}

/// The expectation between the formula and the end of its last line.
fn behind(text: &str, span: &Range<usize>, all: &[Range<usize>]) -> Option<Expectation> {
    let rest = text.get(span.end..)?;
    let rest = rest.lines().next()?;
    let line_end = span.end + rest.len();
    let is_last = !all.iter().any(|other| (span.end..line_end).contains(&other.start));
    let (_, comment) = rest.split_once("--").filter(|_| is_last)?;
    read(comment)
}

/// The expectation alone on the line before the formula's first.
fn before(text: &str, span: &Range<usize>, all: &[Range<usize>]) -> Option<Expectation> {
    let above = text.get(..span.start)?;
    let line_start = above.rfind('\n')?;
    let is_first = !all.iter().any(|other| other != span && (line_start..span.start).contains(&other.end));
    let comment = above[..line_start].rsplit('\n').next()?.trim_start().strip_prefix("--");
    read(comment.filter(|_| is_first)?)
}

/// Reads a comment without its dashes: ` expect: VERDICT` or ` expect: VERDICT, SOURCE`.
fn read(comment: &str) -> Option<Expectation> {
    let claim = comment.trim().strip_prefix("expect:")?.trim();
    let (verdict, source) = match claim.split_once(',') {
        Some((verdict, source)) => (verdict.trim(), Some(source.trim().to_string())),
        None => (claim, None),
    };
    let verdict = match verdict {
        "holds" => Expected::Holds,
        "fails" => Expected::Fails,
        other => Expected::Unknown(other.strip_prefix("unknown(")?.strip_suffix(')')?.trim().to_string()),
    };
    Some(Expectation { verdict, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expectations of the formulas `f1`, `f2`, .. of a text, as text.
    fn check(text: &str, formulas: &[&str], expected: &[&str]) {
        let spans: Vec<_> = formulas
            .iter()
            .map(|f| {
                let start = text.find(f).expect("the formula is in the text");
                start..start + f.len()
            })
            .collect();
        let show = |found: &Option<Expectation>| match found {
            None => "none".to_string(),
            Some(Expectation { verdict, source }) => {
                let source = source.as_deref().unwrap_or("-");
                match verdict {
                    Expected::Holds => format!("holds {source}"),
                    Expected::Fails => format!("fails {source}"),
                    Expected::Unknown(reason) => format!("unknown {reason} {source}"),
                }
            }
        };
        let found: Vec<_> = expectations(text, &spans).iter().map(show).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[rustfmt::skip]
    #[test]
    fn places_and_forms() {
        //    text                                                         formulas           expected
        check("AG p; -- expect: holds, [X §1]",                            &["AG p"],         &["holds [X §1]"]);
        check("AG p;-- expect:fails",                                      &["AG p"],         &["fails -"]);
        check("AG p; -- expect: unknown(no-fair-path), [us]",              &["AG p"],         &["unknown no-fair-path [us]"]);
        check("AG p; -- expect: hold",                                     &["AG p"],         &["none"]);
        check("AG p; -- so we expect: holds",                              &["AG p"],         &["none"]);
        check("AG p; -- expect: holds [X]",                                &["AG p"],         &["none"]);
        check("AG p;",                                                     &["AG p"],         &["none"]);
        check("-- expect: holds\n  AG p;\n",                               &["AG p"],         &["holds -"]);
        check("-- expect: holds\r\n  AG p; -- expect: fails\r\n",          &["AG p"],         &["fails -"]);
        check("-- expect: holds\n\nAG p;",                                 &["AG p"],         &["none"]);
        check("EF q; -- expect: holds\nAG p;",                             &["EF q", "AG p"], &["holds -", "none"]);
        check("EF q; -- expect: holds\n-- expect: fails\nAG p;",           &["EF q", "AG p"], &["holds -", "fails -"]);
        check("EF q; AG p; -- expect: holds",                              &["EF q", "AG p"], &["none", "holds -"]);
        check("-- expect: holds\nEF q; AG p; -- expect: fails",            &["EF q", "AG p"], &["holds -", "fails -"]);
        check("-- expect: holds\nEF q; AG p;",                             &["EF q", "AG p"], &["holds -", "none"]);
        check("EF q\n  or AG p; -- expect: holds",                         &["EF q\n  or AG p"], &["holds -"]);
        check("for i in 1..2 { AG p[i]; } -- expect: holds",               &["AG p[i]", "AG p[i]"], &["holds -", "holds -"]);
    }
}
