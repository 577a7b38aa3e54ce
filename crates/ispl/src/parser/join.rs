//! A model of several files: each imported file stands in the place of its first import.
//!
//! All files share one tree, because names mean the same everywhere. Sections of one kind are joined:
//! definitions, groups, fairness conditions and formulas are listed one after the other, and the conditions of
//! all `InitStates` must be true.

use masque_model::Assignment;
use masque_text::{
    Diagnostic, FileId, FollowedImports, ImportRules, JoinedFiles, Library, Sources, follow_imports,
    in_text_order,
};

use super::Parser;
use crate::tree::{Dialect, Expr, ExprId, Item, Kind, List, Op, Section, Sections, Tree};

const RULES: ImportRules = ImportRules {
    not_found: "ispl/import-not-found",
    cycle: "ispl/import-cycle",
    too_many_files: "ispl/too-many-files",
    wrong_language: "ispl/import-language",
    whole: "a model",
    language: "ISPL",
    foreign_endings: &["bdi", "lcc", "pol", "mu", "aut"],
};

/// A model, parsed with all imported files.
pub type Model = JoinedFiles<Tree>;

/// Parses a file and all files that it imports, each once.
///
/// ```
/// use masque_text::{NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let file = sources.add("main.ispl", "import \"agents.ispl\";").unwrap();
/// let model = masque_ispl::parse_model(&mut sources, file, &NoFiles);
/// assert_eq!(model.diagnostics[0].code, "ispl/import-not-found");
/// ```
pub fn parse_model(sources: &mut Sources, file: FileId, library: &dyn Library) -> Model {
    read_model(sources, file, library, false)
}

/// Parses a file and its imports as [`parse_model`] does. With `reads_all`, each file is read to its end, whatever
/// the number of errors.
pub(crate) fn read_model(
    sources: &mut Sources,
    file: FileId,
    library: &dyn Library,
    reads_all: bool,
) -> Model {
    let mut shared = Tree::new(sources.span(file));
    let parse = |sources: &Sources, file: FileId, _| {
        let tree = std::mem::replace(&mut shared, Tree::new(sources.span(file)));
        let mut parser = Parser::new(sources, file, tree);
        if reads_all {
            parser.read_all();
        }
        parser.file(sources.limits());
        let Parser { tree, pieces, sections, cursor, .. } = parser;
        shared = tree;
        let (mut pieces, imports): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
        pieces.push(sections);
        (pieces, imports.into_iter().map(|import| import.path).collect(), cursor.into_diagnostics())
    };
    let followed = follow_imports(sources, &[file], library, &RULES, parse);
    let FollowedImports { files, parsed, targets, paths, mut diagnostics } = followed;
    diagnostics.extend(shared.join(in_text_order(parsed, &targets).into_iter()));
    Model { tree: shared, files, imports: paths, diagnostics }
}

impl Tree {
    /// Whether this is only a part of a model: agents, initial states or formulas are missing.
    pub fn is_part(&self) -> bool {
        let has_formulas = self.sections.formulae.as_ref().is_some_and(|section| !section.items.is_empty());
        self.sections.agents.is_empty() || self.sections.init_states.is_none() || !has_formulas
    }

    /// Makes the sections of all pieces the sections of the tree. Returns the conflicts between them.
    pub(super) fn join(&mut self, pieces: impl Iterator<Item = Sections>) -> Vec<Diagnostic> {
        let (mut conflicts, mut initial) = (Vec::new(), Vec::new());
        let all = &mut self.sections;
        for piece in pieces {
            all.params.extend(piece.params);
            all.agents.extend(piece.agents);
            append(&mut all.evaluation, piece.evaluation);
            append(&mut all.groups, piece.groups);
            append(&mut all.fairness, piece.fairness);
            append(&mut all.formulae, piece.formulae);
            initial.extend(piece.init_states);
            if let Some(semantics) = piece.semantics {
                conflicts.extend(all.semantics.as_ref().and_then(|first| conflict(first, &semantics)));
                all.semantics.get_or_insert(semantics);
            }
        }
        self.sections.init_states = self.conjunction(initial);
        let has_lstate = self.sections.agents.iter().any(|agent| agent.lstate.is_some());
        self.dialect = if has_lstate { Dialect::Papers } else { Dialect::Modern };
        conflicts
    }

    /// One section with the conditions of all; the last section is the one that messages point at.
    fn conjunction(&mut self, sections: Vec<Section<Option<ExprId>>>) -> Option<Section<Option<ExprId>>> {
        // A section without a condition is an error, which is reported at its heading.
        if let Some(empty) = sections.iter().position(|section| section.items.is_none()) {
            self.broken.extend(sections.iter().map(|section| section.span));
            return sections.into_iter().nth(empty);
        }
        let conditions: Vec<ExprId> = sections.iter().filter_map(|section| section.items).collect();
        let mut last = sections.into_iter().next_back()?;
        if conditions.len() > 1 {
            let (first_op, start) = (self.ops.len() as u32, self.lists.len() as u32);
            self.ops.extend(std::iter::repeat_n(Op::And, conditions.len() - 1));
            self.lists.extend_from_slice(&conditions);
            let operands = List { start, len: conditions.len() as u32 };
            let kind = Kind::Chain { operands, ops: first_op };
            self.exprs.push(Expr { kind, span: last.span });
            last.items = Some(ExprId(self.exprs.len() as u32 - 1));
        }
        Some(last)
    }
}

/// Adds the items of a further section of the same kind.
fn append<T>(all: &mut Option<Section<Vec<Item<T>>>>, more: Option<Section<Vec<Item<T>>>>) {
    match (all, more) {
        (Some(all), Some(more)) => all.items.extend(more.items),
        (all, Some(more)) => *all = Some(more),
        (_, None) => {}
    }
}

/// The error about two files with different `Semantics`.
fn conflict(first: &Section<Assignment>, second: &Section<Assignment>) -> Option<Diagnostic> {
    let message = "the files of a model have one `Semantics`, and this one differs";
    (first.items != second.items).then(|| {
        Diagnostic::error("ispl/different-semantics", second.span, message)
            .also(first.span, "the first one is here")
            .hint("declare `Semantics` in one file; it applies to the agents of all files")
    })
}
