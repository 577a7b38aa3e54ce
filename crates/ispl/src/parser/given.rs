//! Conditions given outside the file.

use masque_text::{Diagnostic, FileId, Sources};

use super::Parser;
use crate::lexer::Token;
use crate::tree::{GivenCondition, Tree};

/// What a condition that is given outside the file is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionScope {
    /// States: all variables, and propositions.
    States,
    /// Steps: the state before a step, and the actions of all agents, as in `EX{condition}`.
    Steps,
}

/// Parses a condition for a parsed model. [`check()`](crate::check()) resolves its names, and returns all conditions
/// that were given in [`Checked::conditions`](crate::Checked::conditions).
///
/// ```
/// use masque_ispl::{ConditionScope, parse_condition};
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let file = sources.add("tiny.ispl", "Formulae AG p; end Formulae").unwrap();
/// let (mut tree, _) = masque_ispl::parse(&sources, file);
/// let unseen = sources.add("<unseen>", "Alice.Action = wait and A.x = 2").unwrap();
/// assert!(parse_condition(&sources, unseen, &mut tree, ConditionScope::Steps).is_empty());
/// ```
pub fn parse_condition(
    sources: &Sources,
    file: FileId,
    tree: &mut Tree,
    scope: ConditionScope,
) -> Vec<Diagnostic> {
    let empty = Tree::new(sources.span(file));
    let mut parser = Parser::new(sources, file, std::mem::replace(tree, empty));
    if let Ok(condition) = parser.condition() {
        if parser.kind() == Token::End {
            parser.tree.given.push(GivenCondition { condition, scope });
        } else {
            // The error is recorded by the cursor.
            _ = parser.expected("an operator or the end");
        }
    }
    *tree = parser.tree;
    parser.cursor.into_diagnostics()
}
