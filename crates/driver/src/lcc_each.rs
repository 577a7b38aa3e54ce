//! `--each`: every LCC file that declares a team is a run of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use masque_lcc::{Standing, survey};
use masque_text::{Diagnostic, Severity, Sources};

use crate::file;
use crate::lcc::{Request, is_properties};

/// Maximum number of files that the note names.
const MAX_NAMED: usize = 20;

/// LCC files as runs of their own.
#[derive(Clone, Debug, Default)]
pub struct Each {
    /// Files that are each a run, with their imports.
    pub runs: Vec<PathBuf>,
    /// A note about the files that are no part of any run, if there are such files.
    pub left_out: Option<Diagnostic>,
}

/// What became of one file.
struct Surveyed<'f> {
    path: &'f PathBuf,
    identity: PathBuf,
    standing: Standing,
    /// Identities of the files that it imports, directly or not.
    imports: BTreeSet<PathBuf>,
}

/// Sorts files into those that are checked by themselves and those that are not. Files of properties are
/// passed over: they apply to every run.
///
/// A file is a run if it declares a team, by itself or by what it imports. But a team whose roles have no
/// clauses there is part of the file that imports it, if one does.
pub fn each(files: &[PathBuf], request: &Request) -> Each {
    let mut seen = BTreeSet::new();
    let protocols = files.iter().filter(|path| !is_properties(path));
    let all: Vec<Surveyed<'_>> = protocols
        .map(|path| surveyed(path, request))
        .filter(|surveyed| seen.insert(surveyed.identity.clone()))
        .collect();
    let is_imported = |identity: &PathBuf| all.iter().any(|other| other.imports.contains(identity));
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for Surveyed { path, identity, standing, .. } in &all {
        match standing {
            Standing::NoTeam if is_imported(identity) => {}
            Standing::NoTeam => left_out.push(file::display_name(path)),
            Standing::NoClause if is_imported(identity) => {}
            Standing::NoClause | Standing::Broken | Standing::Whole => runs.push((*path).clone()),
        }
    }
    Each { runs, left_out: (!left_out.is_empty()).then(|| note(left_out)) }
}

fn surveyed<'f>(path: &'f PathBuf, request: &Request) -> Surveyed<'f> {
    let broken = |identity| Surveyed { path, identity, standing: Standing::Broken, imports: BTreeSet::new() };
    let Ok(library) = request.library() else { return broken(path.clone()) };
    let identity = library.identity(path);
    let Ok(text) = file::read(path) else { return broken(identity) };
    let mut sources = Sources::default();
    let Ok(file) = sources.add(file::display_name(path), text) else { return broken(identity) };
    let (standing, files) = survey(&mut sources, file, &*library);
    let identities = files.iter().skip(1).map(|file| library.identity(Path::new(sources.name(*file))));
    Surveyed { path, identity, standing, imports: identities.collect() }
}

fn note(mut names: Vec<String>) -> Diagnostic {
    let n_files = names.len();
    if n_files > MAX_NAMED {
        names.truncate(MAX_NAMED);
        names.push(format!("{} more", n_files - MAX_NAMED));
    }
    let declare = if n_files == 1 { "it declares" } else { "they declare" };
    let message = format!("left out, because {declare} no team: {}", names.join(", "));
    let diagnostic = Diagnostic::nowhere(Severity::Note, "cli/left-out", message);
    diagnostic
        .hint("to make such a file part of a run, name it in the file it belongs to: `import \"FILE\".`")
}
