//! Reads the files of an instance and the files that they import with `import "rules.pol".`.

use masque_text::{
    Diagnostic, FileId, FollowedImports, ImportPath, ImportRules, Library, Sources, follow_imports,
};

use crate::parser::parse;
use crate::tree::{Import, Item, Tree};

const RULES: ImportRules = ImportRules {
    not_found: "lcc/import-not-found",
    cycle: "lcc/import-cycle",
    too_many_files: "lcc/too-many-files",
    wrong_language: "lcc/import-language",
    whole: "an instance",
    language: "LCC",
    foreign_endings: &["ispl", "bdi", "aut"],
};

/// All files of an instance, parsed.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Files with statements.
    pub(crate) files: Vec<FileId>,
    /// Their trees, in the same order.
    pub(crate) trees: Vec<Tree>,
    /// Files with properties.
    pub(crate) properties: Vec<FileId>,
    /// For each file with statements, the indices of the files with statements that it imports.
    pub(crate) imports: Vec<Vec<usize>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads files with statements, and all files that they import.
pub(crate) fn gather(
    sources: &mut Sources,
    files: &[FileId],
    properties: &[FileId],
    library: &dyn Library,
) -> Gathered {
    let given = [files, properties].concat();
    // A given file is what the caller says; the name of an imported one decides.
    let is_of_properties =
        |sources: &Sources, file: FileId, index: usize| match index.checked_sub(files.len()) {
            None => false,
            Some(rest) => rest < properties.len() || sources.name(file).to_ascii_lowercase().ends_with(".mu"),
        };
    let parse = |sources: &Sources, file: FileId, index: usize| {
        if is_of_properties(sources, file, index) {
            return (None, Vec::new(), Vec::new());
        }
        let (tree, found) = parse(sources, file);
        let imports = tree.items.iter().filter_map(import_path).collect();
        (Some(tree), imports, found)
    };
    let followed = follow_imports(sources, &given, library, &RULES, parse);
    gathered(followed, files.len())
}

fn import_path(item: &Item) -> Option<ImportPath> {
    let Item::Import(Import { path }) = item else { return None };
    Some(ImportPath { text: path.text.clone(), span: path.span })
}

/// Separates files with statements, which have trees, from files with properties.
fn gathered(followed: FollowedImports<Option<Tree>>, n_given: usize) -> Gathered {
    let FollowedImports { files, parsed, targets, diagnostics, .. } = followed;
    if parsed.len() < files.len() {
        // There are too many files, so none is parsed.
        return Gathered { files: files[..n_given].to_vec(), diagnostics, ..Gathered::default() };
    }
    let mut gathered = Gathered { diagnostics, ..Gathered::default() };
    // For each file, its index among the files with statements.
    let mut indices = Vec::with_capacity(files.len());
    for (file, tree) in files.into_iter().zip(parsed) {
        indices.push(tree.is_some().then_some(gathered.files.len()));
        match tree {
            Some(tree) => {
                gathered.files.push(file);
                gathered.trees.push(tree);
            }
            None => gathered.properties.push(file),
        }
    }
    let with_statements = targets.iter().zip(&indices).filter(|(_, index)| index.is_some());
    let of_file =
        |targets: &Vec<Option<usize>>| targets.iter().flatten().filter_map(|to| indices[*to]).collect();
    gathered.imports = with_statements.map(|(targets, _)| of_file(targets)).collect();
    gathered
}
