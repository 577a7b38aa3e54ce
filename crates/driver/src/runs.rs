//! Grouping of the files of a command line into runs: a single file, the files of a protocol, or a transition
//! system with its properties.

mod parts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use masque_lcc::{FileStatus, file_status};
use masque_text::{Diagnostic, ReadLimits, Severity, Sources};

use crate::check::Limits;
use crate::imports::library;
use crate::{Language, Request, Why, file, is_properties, reading};

/// Maximum number of files that the note names.
const MAX_NAMED: usize = 20;

/// The files of one run.
#[derive(Clone, Debug)]
pub struct RunFiles {
    /// The files, including property files of a protocol or transition system.
    pub files: Vec<PathBuf>,
    /// A note about files that are part of no run.
    pub note: Option<Diagnostic>,
}

impl RunFiles {
    fn new(files: Vec<PathBuf>) -> RunFiles {
        RunFiles { files, note: None }
    }
}

/// Groups the files of a command line into runs, in the order of their first files, within limits. All LCC files together are
/// one run, or with `each` every LCC file that declares a team is one. Properties (`.mu`) belong to the
/// transition systems (`.aut`) if there are any, or else to the protocols. An ISPL or BDI file that is only a part of
/// a model is no run if another of the files imports it.
///
/// # Errors
///
/// Why reading the files had to stop. Files are read only with `each`, or if there are several ISPL or BDI files.
pub fn runs(files: &[PathBuf], each: bool, request: &Request, limits: &Limits) -> Result<Vec<RunFiles>, Why> {
    if !each && !parts::may_import_each_other(files) {
        return Ok(grouped(files, each, request, &ReadLimits::default()));
    }
    let (files, request) = (files.to_vec(), request.clone());
    reading::within(limits, move |reading| grouped(&files, each, &request, &reading))
}

fn grouped(files: &[PathBuf], each: bool, request: &Request, limits: &ReadLimits) -> Vec<RunFiles> {
    let of = |language: Language| {
        move |path: &&PathBuf| Language::of_path(path) == Some(language) && !is_properties(path)
    };
    let properties: Vec<PathBuf> = files.iter().filter(|path| is_properties(path)).cloned().collect();
    let protocols: Vec<PathBuf> = files.iter().filter(of(Language::Lcc)).cloned().collect();
    let has_graphs = files.iter().any(|path| of(Language::Aut)(&path));
    let mut of_lcc: Vec<RunFiles> = Vec::new();
    if each && !has_graphs {
        let (alone, note) = each_alone(&protocols, request, limits);
        of_lcc.extend(alone.into_iter().map(|file| RunFiles::new([vec![file], properties.clone()].concat())));
        if let Some(last) = of_lcc.last_mut() {
            last.note = note;
        }
    }
    // LCC files without any team become one run, whose error says so. Protocols together with a transition
    // system are an error that loading reports.
    if of_lcc.is_empty() && !(protocols.is_empty() && has_graphs) {
        let is_of_lcc = |path: &&PathBuf| Language::of_path(path) == Some(Language::Lcc);
        let is_mixed = |path: &&PathBuf| has_graphs && Language::of_path(path) == Some(Language::Aut);
        let together: Vec<PathBuf> =
            files.iter().filter(|path| is_of_lcc(path) || is_mixed(path)).cloned().collect();
        of_lcc.extend((!together.is_empty()).then(|| RunFiles::new(together)));
    }
    let mut of_lcc = of_lcc.into_iter().peekable();
    let mut runs = Vec::new();
    let parts = parts::imported_parts(files, request, limits);
    for path in files.iter().filter(|path| !parts.contains(*path)) {
        match Language::of_path(path) {
            Some(Language::Aut) if protocols.is_empty() => {
                runs.push(RunFiles::new([vec![path.clone()], properties.clone()].concat()));
            }
            Some(Language::Lcc | Language::Aut) => {
                runs.extend(of_lcc.next_if(|run| run.files.contains(path)));
            }
            _ => runs.push(RunFiles::new(vec![path.clone()])),
        }
    }
    runs
}

/// An LCC file and its imports.
pub(crate) struct Surveyed<'f> {
    pub(crate) path: &'f PathBuf,
    pub(crate) identity: PathBuf,
    pub(crate) standing: FileStatus,
    /// Identities of the files that it imports, directly or indirectly.
    pub(crate) imports: BTreeSet<PathBuf>,
}

/// Returns the LCC files that are runs of their own, and a note about the files that are part of no run.
///
/// A file is a run if it or a file it imports declares a team. Exception: if the roles of the team have no
/// clauses there and another file imports the file, it is part of that file's run.
fn each_alone(
    protocols: &[PathBuf],
    request: &Request,
    limits: &ReadLimits,
) -> (Vec<PathBuf>, Option<Diagnostic>) {
    let mut seen = BTreeSet::new();
    let all: Vec<Surveyed<'_>> = protocols
        .iter()
        .map(|path| surveyed(path, request, limits))
        .filter(|surveyed| seen.insert(surveyed.identity.clone()))
        .collect();
    let is_imported = |identity: &PathBuf| all.iter().any(|other| other.imports.contains(identity));
    let (mut alone, mut left_out) = (Vec::new(), Vec::new());
    for Surveyed { path, identity, standing, .. } in &all {
        match standing {
            FileStatus::NoTeam if is_imported(identity) => {}
            FileStatus::NoTeam => left_out.push(file::display_name(path)),
            FileStatus::NoClause if is_imported(identity) => {}
            FileStatus::NoClause | FileStatus::Broken | FileStatus::Whole => alone.push((*path).clone()),
        }
    }
    (alone, (!left_out.is_empty()).then(|| note(left_out)))
}

/// Reads an LCC file and its imports.
pub(crate) fn surveyed<'f>(path: &'f PathBuf, request: &Request, limits: &ReadLimits) -> Surveyed<'f> {
    let broken =
        |identity| Surveyed { path, identity, standing: FileStatus::Broken, imports: BTreeSet::new() };
    let Ok(library) = library(&request.import_roots, limits) else { return broken(path.clone()) };
    let identity = library.identity(path);
    let Ok(text) = file::read_within(path, limits) else { return broken(identity) };
    let mut sources = Sources::with_limits(limits.clone());
    let Ok(file) = sources.add(file::display_name(path), text) else { return broken(identity) };
    let (standing, files) = file_status(&mut sources, file, &*library);
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
    diagnostic.hint("to make such a file part of a run, import it in a file of that run: `import \"FILE\".`")
}
