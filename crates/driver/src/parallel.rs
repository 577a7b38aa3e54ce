//! `--parallel` and its options: how the symbolic engine splits the initial states.

use masque_ispl::SplitClasses;
use masque_symbolic::{Parallel, SplitBy, SplitStrategy};
use masque_text::{Diagnostic, Severity};

use crate::engines::{EngineChoice, SYMBOLIC};

/// The value of `--split` with which bits are chosen automatically, whatever form InitStates has.
const CHOSEN_BITS: &str = "bits";

/// The values of `--parallel`, `--parts`, `--split` and `--shared`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParallelChoice {
    /// How the work is divided among the workers.
    pub strategy: SplitStrategy,
    /// Number of parts; the engine chooses if there is none.
    pub parts: Option<usize>,
    /// Lists of what to split by, each with variables and formulas separated by commas or semicolons; or
    /// the word `bits`.
    pub split: Vec<String>,
    /// Whether the workers share one store of decision diagrams.
    pub shared: bool,
}

impl ParallelChoice {
    /// Returns the texts of `--split` that give variables and formulas.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &str> {
        self.split.iter().map(String::as_str).filter(|text| text.trim() != CHOSEN_BITS)
    }
}

/// Determines how the initial states of a system are split, for the chosen engine.
pub(crate) fn resolve(
    choice: Option<&ParallelChoice>,
    engine: EngineChoice,
    classes: SplitClasses,
) -> Result<Option<Parallel>, Box<Diagnostic>> {
    let Some(choice) = choice else { return Ok(None) };
    if !matches!(engine, EngineChoice::Auto | EngineChoice::Named(SYMBOLIC)) {
        let message = format!("`--parallel` cannot be combined with `--engine {}`", engine.name());
        let diagnostic = Diagnostic::nowhere(Severity::Error, "cli/parallel-engine", message)
            .hint("only the symbolic engine splits its work; use `--engine symbolic` or `--engine auto`");
        return Err(Box::new(diagnostic));
    }
    let SplitClasses { formulas, variables } = classes;
    let split = if !formulas.is_empty() || !variables.is_empty() {
        SplitBy::Classes { formulas, variables }
    } else if choice.split.iter().any(|text| text.trim() == CHOSEN_BITS) {
        SplitBy::ChosenBits
    } else {
        SplitBy::Automatic
    };
    let ParallelChoice { strategy, parts, shared, .. } = *choice;
    Ok(Some(Parallel { parts, split, shared, ..Parallel::new(strategy, 1) }))
}
