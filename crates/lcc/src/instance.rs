//! Several files as one instance.

use masque_text::{Diagnostic, FileId, Sources, Span};

use crate::lint::lint;
use crate::lower::{Lowered, lower};
use crate::parser::parse;
use crate::stratify::stratify;
use crate::system::System;
use crate::tree::Tree;

/// An option given beside the files: name, value, and where it was written.
#[derive(Clone, Debug)]
pub struct Given {
    /// Which option.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where it stands, for messages about it.
    pub span: Span,
}

/// What could be made of the files.
#[derive(Debug)]
pub struct Opened {
    /// The files as trees.
    pub trees: Vec<Tree>,
    /// The system, if there are no errors.
    pub system: Option<System>,
    /// All that is to be said of the files.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads protocol, team, knowledge and policies from several files, which are one instance.
pub fn open(sources: &Sources, files: &[FileId], options: &[Given]) -> Opened {
    let mut diagnostics = Vec::new();
    let mut trees = Vec::new();
    for file in files {
        let (tree, found) = parse(sources, *file);
        trees.push(tree);
        diagnostics.extend(found);
    }
    // What could not be read would be missed everywhere else: one mistake would look like ten.
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Opened { trees, system: None, diagnostics };
    }
    let given: Vec<(String, String, Span)> =
        options.iter().map(|given| (given.name.clone(), given.value.clone(), given.span)).collect();
    let Lowered { program, terms, diagnostics: found } = lower(&trees, &given);
    diagnostics.extend(found);
    diagnostics.extend(stratify(&program, &terms));
    diagnostics.extend(lint(&trees));
    let is_good = !diagnostics.iter().any(Diagnostic::is_error);
    Opened { trees, system: is_good.then(|| System::new(program, terms)), diagnostics }
}
