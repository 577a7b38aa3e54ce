//! A system of several files: each imported file stands in the place of its first import.

use masque_text::{
    FileId, FollowedImports, ImportRules, JoinedFiles, Library, Sources, follow_imports, in_text_order,
};

use super::parse_pieces;
use crate::tree::Tree;

const RULES: ImportRules = ImportRules {
    not_found: "bdi/import-not-found",
    cycle: "bdi/import-cycle",
    too_many_files: "bdi/too-many-files",
    wrong_language: "bdi/import-language",
    whole: "a system",
    language: "BDI",
    foreign_endings: &["ispl", "lcc", "pol", "mu", "aut"],
};

/// A system, parsed with all imported files.
pub type System = JoinedFiles<Tree>;

impl Tree {
    /// Whether this is only a part of a system: agents or properties are missing.
    pub fn is_part(&self) -> bool {
        self.agents.is_empty() || self.properties.is_empty()
    }
}

/// Parses a file and all files that it imports, each once.
///
/// ```
/// use masque_text::{NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let file = sources.add("main.bdi", "import \"agents.bdi\";").unwrap();
/// let system = masque_bdi::parse_system(&mut sources, file, &NoFiles);
/// assert_eq!(system.diagnostics[0].code, "bdi/import-not-found");
/// ```
pub fn parse_system(sources: &mut Sources, file: FileId, library: &dyn Library) -> System {
    let parse = |sources: &Sources, file, _| parse_pieces(sources, file);
    let followed = follow_imports(sources, &[file], library, &RULES, parse);
    let FollowedImports { files, parsed, targets, paths, diagnostics } = followed;
    let mut tree = Tree { span: sources.span(file), ..Tree::default() };
    in_text_order(parsed, &targets).into_iter().for_each(|piece| tree.append(piece));
    super::subscripts::resolve(&mut tree);
    System { tree, files, imports: paths, diagnostics }
}
