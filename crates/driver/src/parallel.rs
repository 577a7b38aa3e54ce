//! `--parallel` and what goes with it: how the symbolic engine splits the initial states.

use masque_model::{System, VarId};
use masque_symbolic::{Parallel, Strategy};
use masque_text::{Diagnostic, Severity, Sources};

use crate::engines::{EngineChoice, SYMBOLIC};
use crate::file;
use crate::variables::Variables;

/// What `--parallel`, `--parts`, `--split` and `--shared` ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParallelChoice {
    /// What the workers do.
    pub strategy: Strategy,
    /// How many parts there are to be.
    pub parts: Option<usize>,
    /// Names of variables to split by, separated by commas.
    pub split: Vec<String>,
    /// Whether the workers share one store of diagrams.
    pub shared: bool,
}

/// How the initial states of a system are split, for an engine that was asked for. What is wrong with
/// that is said in diagnostics, which point into the sources.
pub(crate) fn resolve(
    choice: Option<&ParallelChoice>,
    engine: EngineChoice,
    system: &System,
    sources: &mut Sources,
) -> Result<Option<Parallel>, Vec<Diagnostic>> {
    let Some(choice) = choice else { return Ok(None) };
    if !matches!(engine, EngineChoice::Auto | EngineChoice::Named(SYMBOLIC)) {
        let message = format!("`--parallel` is not for `--engine {}`", engine.name());
        let diagnostic = Diagnostic::nowhere(Severity::Error, "cli/parallel-engine", message)
            .hint("the symbolic engine works in parts, with `--engine symbolic` or `--engine auto`");
        return Err(vec![diagnostic]);
    }
    let split = split(system, &choice.split.join(","), sources)?;
    let ParallelChoice { strategy, parts, shared, .. } = *choice;
    Ok(Some(Parallel { parts, split, shared, ..Parallel::new(strategy, 1) }))
}

/// The variables in a list of names.
fn split(system: &System, names: &str, sources: &mut Sources) -> Result<Vec<VarId>, Vec<Diagnostic>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let file = sources.add("<--split>", names).map_err(|_| vec![file::too_large("<--split>")])?;
    let known = Variables::new(system);
    let (mut variables, mut diagnostics) = (Vec::new(), Vec::new());
    for (from, to) in places(names) {
        let span = sources.span(file).slice(from as u32, to as u32);
        match known.find(&names[from..to], span) {
            Ok(variable) => variables.push(variable),
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    if diagnostics.is_empty() { Ok(variables) } else { Err(diagnostics) }
}

/// Where the names in a list are; an index may have commas of its own.
fn places(text: &str) -> Vec<(usize, usize)> {
    let (mut ends, mut depth) = (Vec::new(), 0);
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b',' if depth <= 0 => ends.push(position),
            _ => {}
        }
    }
    ends.push(text.len());
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    let trimmed = |(start, end): (usize, usize)| {
        let name = &text[start..end];
        let from = start + name.len() - name.trim_start().len();
        (from, from + name.trim().len())
    };
    starts.zip(ends.iter().copied()).map(trimmed).filter(|(from, to)| from < to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn names_in_a_list() {
        let check = |text: &str, expected: &[&str]| {
            let names: Vec<&str> = places(text).into_iter().map(|(from, to)| &text[from..to]).collect();
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
