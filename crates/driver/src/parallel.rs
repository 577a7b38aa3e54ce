//! `--parallel` and its options: how the symbolic engine splits the initial states.

use std::ops::Range;

use masque_model::{System, VarId};
use masque_symbolic::{Parallel, SplitStrategy};
use masque_text::{Diagnostic, Severity, Sources};

use crate::engines::{EngineChoice, SYMBOLIC};
use crate::file;
use crate::variables::find_variables;

/// The values of `--parallel`, `--parts`, `--split` and `--shared`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParallelChoice {
    /// How the work is divided among the workers.
    pub strategy: SplitStrategy,
    /// Number of parts; the engine chooses if there is none.
    pub parts: Option<usize>,
    /// Lists of variables to split by, each with names separated by commas.
    pub split: Vec<String>,
    /// Whether the workers share one store of decision diagrams.
    pub shared: bool,
}

/// Determines how the initial states of a system are split, for the chosen engine. Errors are diagnostics that
/// point into the sources.
pub(crate) fn resolve(
    choice: Option<&ParallelChoice>,
    engine: EngineChoice,
    system: &System,
    sources: &mut Sources,
) -> Result<Option<Parallel>, Vec<Diagnostic>> {
    let Some(choice) = choice else { return Ok(None) };
    if !matches!(engine, EngineChoice::Auto | EngineChoice::Named(SYMBOLIC)) {
        let message = format!("`--parallel` cannot be combined with `--engine {}`", engine.name());
        let diagnostic = Diagnostic::nowhere(Severity::Error, "cli/parallel-engine", message)
            .hint("only the symbolic engine splits its work; use `--engine symbolic` or `--engine auto`");
        return Err(vec![diagnostic]);
    }
    let split = split(system, &choice.split.join(","), sources)?;
    let ParallelChoice { strategy, parts, shared, .. } = *choice;
    Ok(Some(Parallel { parts, split, shared, ..Parallel::new(strategy, 1) }))
}

/// The variables in a list of names that are separated by commas.
fn split(system: &System, names: &str, sources: &mut Sources) -> Result<Vec<VarId>, Vec<Diagnostic>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let file = sources.add("<--split>", names).map_err(|_| vec![file::too_large("<--split>")])?;
    find_variables(system, sources, file, name_ranges(names))
}

/// The byte ranges of the names in a list. Commas inside brackets are part of a name.
fn name_ranges(text: &str) -> Vec<Range<usize>> {
    let (mut ends, mut depth) = (Vec::new(), 0);
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b',' if depth <= 0 => ends.push(offset),
            _ => {}
        }
    }
    ends.push(text.len());
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    let trimmed = |(start, end): (usize, usize)| {
        let name = &text[start..end];
        let from = start + name.len() - name.trim_start().len();
        from..from + name.trim().len()
    };
    starts.zip(ends.iter().copied()).map(trimmed).filter(|range| !range.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn names_in_a_list() {
        let check = |text: &str, expected: &[&str]| {
            let names: Vec<&str> = name_ranges(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(names, expected, "{text}");
        };
        check("",                       &[]);
        check(" , ,",                   &[]);
        check("A.x",                    &["A.x"]);
        check("A.x, B.y ,C.z",          &["A.x", "B.y", "C.z"]);
        check("A[1,2].x[3, 4],B.y",     &["A[1,2].x[3, 4]", "B.y"]);
        check("A.x],B.y",               &["A.x]", "B.y"]);
        check("A.x[1,B.y",              &["A.x[1,B.y"]);
    }
}
