//! Variables by the names that a user gives them, as `Agent.variable`.

use std::collections::HashMap;
use std::ops::Range;

use masque_model::{System, VarId};
use masque_text::{Diagnostic, FileId, Sources, did_you_mean};

/// Finds the variables that are named at these byte ranges of a file. Blanks in names are ignored. A name that
/// is no variable becomes a diagnostic.
pub(crate) fn find_variables(
    system: &System,
    sources: &Sources,
    file: FileId,
    names: impl IntoIterator<Item = Range<usize>>,
) -> Result<Vec<VarId>, Vec<Diagnostic>> {
    let known: HashMap<String, VarId> =
        system.variable_ids().map(|v| (without_blanks(&system.full_name(v)), v)).collect();
    let (mut variables, mut diagnostics) = (Vec::new(), Vec::new());
    for range in names {
        let span = sources.span(file).slice(range.start as u32, range.end as u32);
        let name = &sources.text(file)[range];
        match known.get(&without_blanks(name)) {
            Some(&variable) => variables.push(variable),
            None => {
                let names = system.variable_ids().map(|v| system.full_name(v));
                let message = format!("there is no variable `{name}`");
                let diagnostic = Diagnostic::error("cli/unknown-variable", span, message);
                diagnostics
                    .push(diagnostic.label("expected `Agent.variable`").help(did_you_mean(name, names)));
            }
        }
    }
    if diagnostics.is_empty() { Ok(variables) } else { Err(diagnostics) }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}
