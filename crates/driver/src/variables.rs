//! Variables by the names that a user gives them, as `Agent.variable`.

use std::collections::HashMap;

use masque_model::{System, VarId};
use masque_text::{Diagnostic, Span, did_you_mean};

/// The variables of a system by name; blanks do not count.
pub(crate) struct Variables<'s> {
    system: &'s System,
    known: HashMap<String, VarId>,
}

impl<'s> Variables<'s> {
    pub(crate) fn new(system: &'s System) -> Variables<'s> {
        let known = system.variable_ids().map(|v| (squeezed(&system.full_name(v)), v)).collect();
        Variables { system, known }
    }

    /// The variable of this name; if there is none, what to say of the name at its place.
    pub(crate) fn find(&self, name: &str, span: Span) -> Result<VarId, Diagnostic> {
        self.known.get(&squeezed(name)).copied().ok_or_else(|| {
            let names = self.system.variable_ids().map(|v| self.system.full_name(v));
            let message = format!("there is no variable `{name}`");
            Diagnostic::error("cli/unknown-variable", span, message)
                .label("expected `Agent.variable`")
                .help(did_you_mean(name, names))
        })
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}
