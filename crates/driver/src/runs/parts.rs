//! ISPL and BDI files that are parts of other files of the same command line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use masque_text::{FileId, Library, ReadLimits, Sources};

use crate::imports::library;
use crate::{Language, Request, file};

/// The languages in which every file is a run of its own, unless another one imports it.
const LANGUAGES: [Language; 2] = [Language::Ispl, Language::Bdi];

/// Whether there are several files in one of these languages.
pub(super) fn may_import_each_other(files: &[PathBuf]) -> bool {
    LANGUAGES.iter().any(|language| of_language(files, *language).len() > 1)
}

/// The files that are only parts of models, and that another of the files imports, directly or indirectly.
pub(super) fn imported_parts(files: &[PathBuf], request: &Request, limits: &ReadLimits) -> BTreeSet<PathBuf> {
    let mut parts = BTreeSet::new();
    let Ok(library) = library(&request.import_roots, limits) else { return parts };
    for language in LANGUAGES {
        let files = of_language(files, language);
        // Most files import nothing; then their texts need not be parsed twice.
        if files.len() > 1 && files.iter().any(|path| has_import(path, limits)) {
            parts.extend(parts_of(&files, language, &*library, limits));
        }
    }
    parts
}

/// The files in a language, without standard input, which can be read only once.
fn of_language(files: &[PathBuf], language: Language) -> Vec<&PathBuf> {
    files.iter().filter(|path| Language::of_path(path) == Some(language) && !file::is_stdin(path)).collect()
}

fn has_import(path: &Path, limits: &ReadLimits) -> bool {
    let is_import = |line: &str| line.trim_start().starts_with("import") && line.contains('"');
    file::read_within(path, limits).is_ok_and(|text| text.lines().any(is_import))
}

/// A file and its imports.
struct Surveyed {
    path: PathBuf,
    identity: PathBuf,
    /// Whether the file with its imports is only a part of a model.
    is_part: bool,
    /// Identities of the files that it imports, directly or indirectly.
    imports: BTreeSet<PathBuf>,
}

fn parts_of(
    files: &[&PathBuf],
    language: Language,
    library: &dyn Library,
    limits: &ReadLimits,
) -> Vec<PathBuf> {
    let all: Vec<Surveyed> =
        files.iter().filter_map(|path| surveyed(path, language, library, limits)).collect();
    // Files that import each other are an error, which each of them reports.
    let is_imported = |part: &Surveyed| {
        all.iter()
            .any(|other| other.imports.contains(&part.identity) && !part.imports.contains(&other.identity))
    };
    all.iter().filter(|file| file.is_part && is_imported(file)).map(|part| part.path.clone()).collect()
}

fn surveyed(path: &Path, language: Language, library: &dyn Library, limits: &ReadLimits) -> Option<Surveyed> {
    let text = file::read_within(path, limits).ok()?;
    let mut sources = Sources::with_limits(limits.clone());
    let file = sources.add(file::display_name(path), text).ok()?;
    let (is_part, files) = survey(&mut sources, file, language, library);
    let identity = |file: &FileId| library.identity(Path::new(sources.name(*file)));
    let imports = files.iter().skip(1).map(identity).collect();
    Some(Surveyed { path: path.to_path_buf(), identity: library.identity(path), is_part, imports })
}

/// Whether a file with its imports is only a part of a model, and these files.
fn survey(
    sources: &mut Sources,
    file: FileId,
    language: Language,
    library: &dyn Library,
) -> (bool, Vec<FileId>) {
    if language == Language::Bdi {
        let system = masque_bdi::parse_system(sources, file, library);
        (system.tree.is_part(), system.files)
    } else {
        let model = masque_ispl::parse_model(sources, file, library);
        (model.tree.is_part(), model.files)
    }
}
