//! Conditions of an ISPL model that the records of a log refer to.

use masque_ispl::{ConditionScope, Tree, parse_condition};
use masque_model::{ExprId, Proposition, System};
use masque_text::{Diagnostic, FileId, TooLarge};
use serde::{Deserialize, Serialize};

use crate::load::Loaded;

/// Name of the source that contains the condition on unseen steps.
const UNSEEN: &str = "<unseen>";

/// Conditions that a log refers to, as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogConditions {
    /// Steps that may happen without a record: a condition on the state before the step and on the joint action.
    pub unseen: Option<String>,
    /// Names of conditions on states, which records use as propositions.
    pub named: Vec<(String, String)>,
}

impl LogConditions {
    /// Parses the conditions for a parsed model. Returns the file of each named condition.
    pub(crate) fn parse(&self, loaded: &mut Loaded, tree: &mut Tree) -> Result<Vec<FileId>, TooLarge> {
        let mut parse = |source: String, text: &str, scope| {
            let file = loaded.sources.add(source, text)?;
            loaded.diagnostics.extend(parse_condition(&loaded.sources, file, tree, scope));
            Ok(file)
        };
        if let Some(unseen) = &self.unseen {
            parse(UNSEEN.to_string(), unseen, ConditionScope::Steps)?;
        }
        let named = self.named.iter();
        named.map(|(name, text)| parse(format!("<{name}>"), text, ConditionScope::States)).collect()
    }

    /// Makes the named conditions propositions of a system, and keeps the condition on unseen steps. `conditions` are
    /// all conditions with their names resolved, in the order in which they were parsed.
    pub(crate) fn apply(
        &self,
        loaded: &mut Loaded,
        system: &mut System,
        conditions: &[ExprId],
        files: &[FileId],
    ) {
        let mut conditions = conditions.iter().copied();
        if self.unseen.is_some() {
            loaded.unseen = conditions.next();
        }
        for (((name, _), file), condition) in self.named.iter().zip(files).zip(conditions) {
            let span = loaded.sources.span(*file);
            if let Some(known) = system.propositions.iter().find(|proposition| proposition.name == *name) {
                let message = format!("the proposition `{name}` is declared already");
                let diagnostic = Diagnostic::error("ispl/duplicate-proposition", span, message)
                    .also(known.span, "it is declared here")
                    .hint("give the condition another name");
                loaded.diagnostics.push(diagnostic);
                continue;
            }
            system.propositions.push(Proposition { name: name.clone(), condition, span });
        }
    }
}
