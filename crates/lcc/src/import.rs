//! `import "rules.pol".`: a file names what belongs to it, so that one file can stand for an instance.
//!
//! The files that are given are read first, in their order, then the imported ones in the order in which
//! they are met. Every file is read once, however often it is imported.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use masque_text::{Diagnostic, FileId, Severity, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::parser::parse;
use crate::tree::{Import, Item, Tree};

/// Maximum number of files of one instance.
const MAX_FILES: usize = 1_000;
/// Maximum number of imports reported as failed; later imports are not followed.
const MAX_FAILED: usize = 20;
/// Maximum number of imports shown for one cycle.
const MAX_SHOWN_IMPORTS: usize = 6;

/// Where imported files come from.
///
/// Paths are relative to the folder of the importing file, joined with the path of that folder.
pub trait Library: fmt::Debug + Send + Sync {
    /// The identity of a file: paths with the same identity name the same file.
    fn identity(&self, path: &Path) -> PathBuf;

    /// The text of a file, or a diagnostic that says why there is none. The caller adds the place of
    /// the import to it.
    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>>;
}

/// A library without files: imports find only the texts that are given with them, by name.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Library for NoFiles {
    fn identity(&self, path: &Path) -> PathBuf {
        without_dots(path)
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        let message = format!("no text is called `{}`, and no files are read here", path.display());
        let diagnostic = Diagnostic::nowhere(Severity::Error, "lcc/import-not-found", message);
        Err(diagnostic.hint("give the imported text together with the one that imports it").into())
    }
}

/// A path without `.` and, as far as names precede them, without `..`; the disk is not consulted.
///
/// ```
/// use std::path::Path;
/// assert_eq!(masque_lcc::without_dots(Path::new("a/./b/../c")), Path::new("a/c"));
/// assert_eq!(masque_lcc::without_dots(Path::new("a/../../c")), Path::new("../c"));
/// ```
pub fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(clean.components().next_back(), Some(Component::Normal(_))) => {
                clean.pop();
            }
            _ => clean.push(component),
        }
    }
    clean
}

/// All files of an instance, read.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Files with statements.
    pub(crate) files: Vec<FileId>,
    /// Their trees, in the same order.
    pub(crate) trees: Vec<Tree>,
    /// Files with properties.
    pub(crate) properties: Vec<FileId>,
    /// For each file with statements the files with statements that it imports, by position.
    pub(crate) imports: Vec<Vec<usize>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads files with statements, and everything that they import.
pub(crate) fn gather(
    sources: &mut Sources,
    (files, properties): (&[FileId], &[FileId]),
    library: &dyn Library,
) -> Gathered {
    let gathered = Gathered { files: files.to_vec(), properties: properties.to_vec(), ..Gathered::default() };
    let mut gathering = Gathering {
        library,
        sources,
        gathered,
        known: FxHashMap::default(),
        edges: Vec::new(),
        failed: FxHashSet::default(),
        has_given_up: false,
    };
    gathering.all();
    let Gathering { sources, mut gathered, edges, .. } = gathering;
    gathered.diagnostics.extend(cycle(sources, &gathered.files, &edges));
    let targets = |edges: &Vec<Edge>| edges.iter().map(|edge| edge.to).collect();
    gathered.imports = edges.iter().map(targets).collect();
    gathered
}

/// An import of a file with statements: which one, and where it is written.
struct Edge {
    to: usize,
    span: Span,
}

/// A file that has been read or is about to be.
#[derive(Clone, Copy)]
enum Known {
    /// A file with statements, by position.
    Statements(usize),
    Properties,
}

struct Gathering<'s> {
    library: &'s dyn Library,
    sources: &'s mut Sources,
    gathered: Gathered,
    /// By identity.
    known: FxHashMap<PathBuf, Known>,
    /// For each file that has been read its imports.
    edges: Vec<Vec<Edge>>,
    /// Identities of files that cannot be had.
    failed: FxHashSet<PathBuf>,
    has_given_up: bool,
}

impl Gathering<'_> {
    fn all(&mut self) {
        if let Some(file) = self.gathered.files.get(MAX_FILES) {
            self.gathered.diagnostics.push(too_many_files(self.sources.span(*file).slice(0, 0)));
            return;
        }
        for (at, file) in self.gathered.files.iter().enumerate() {
            let identity = self.library.identity(Path::new(self.sources.name(*file)));
            self.known.entry(identity).or_insert(Known::Statements(at));
        }
        for file in &self.gathered.properties {
            let identity = self.library.identity(Path::new(self.sources.name(*file)));
            self.known.entry(identity).or_insert(Known::Properties);
        }
        let mut at = 0;
        while let Some(file) = self.gathered.files.get(at).copied() {
            let (tree, found) = parse(self.sources, file);
            self.gathered.diagnostics.extend(found);
            let folder =
                Path::new(self.sources.name(file)).parent().map(Path::to_path_buf).unwrap_or_default();
            let mut edges = Vec::new();
            for item in &tree.items {
                if let Item::Import(import) = item
                    && let Some(Known::Statements(to)) = self.import(&folder, import)
                {
                    edges.push(Edge { to, span: import.path.span });
                }
            }
            self.edges.push(edges);
            self.gathered.trees.push(tree);
            at += 1;
        }
    }

    /// The imported file; none if it cannot be had.
    fn import(&mut self, folder: &Path, Import { path }: &Import) -> Option<Known> {
        let place = folder.join(&path.text);
        let identity = self.library.identity(&place);
        if let Some(known) = self.known.get(&identity) {
            return Some(*known);
        }
        if self.has_given_up || self.failed.contains(&identity) {
            return None;
        }
        match self.read(&place, path.span) {
            Ok(known) => {
                self.known.insert(identity, known);
                Some(known)
            }
            Err(diagnostic) => {
                self.gathered.diagnostics.push(*diagnostic);
                self.failed.insert(identity);
                self.has_given_up |= self.failed.len() >= MAX_FAILED;
                None
            }
        }
    }

    fn read(&mut self, place: &Path, span: Span) -> Result<Known, Box<Diagnostic>> {
        let n_files = self.gathered.files.len() + self.gathered.properties.len();
        if n_files >= MAX_FILES {
            self.has_given_up = true;
            return Err(too_many_files(span).label("this import would add one more").into());
        }
        let text = self.library.read(place).map_err(|diagnostic| at(*diagnostic, span))?;
        let name = place.display().to_string();
        let file = self.sources.add(name, text).map_err(|_| {
            let message = "the files of the instance are too large together";
            Diagnostic::error("file/too-large", span, message).label("imported here")
        })?;
        if place.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mu")) {
            self.gathered.properties.push(file);
            return Ok(Known::Properties);
        }
        self.gathered.files.push(file);
        Ok(Known::Statements(self.gathered.files.len() - 1))
    }
}

fn too_many_files(span: Span) -> Diagnostic {
    let message = format!("an instance has at most {MAX_FILES} files");
    Diagnostic::error("lcc/too-many-files", span, message).hint("put several files into one")
}

/// A diagnostic about an imported file, at its import.
fn at(diagnostic: Diagnostic, span: Span) -> Box<Diagnostic> {
    let Diagnostic { code, message, help, .. } = diagnostic;
    Diagnostic::error(code, span, message).label("imported here").help(help).into()
}

/// The first cycle of imports.
fn cycle(sources: &Sources, files: &[FileId], edges: &[Vec<Edge>]) -> Option<Diagnostic> {
    let mut is_done = vec![false; edges.len()];
    let mut place_on_path = vec![None; edges.len()];
    for root in 0..edges.len() {
        if is_done[root] {
            continue;
        }
        // The files on the path, each with the number of imports that have been followed.
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        place_on_path[root] = Some(0);
        while let Some((file, followed)) = path.last_mut() {
            let Some(edge) = edges[*file].get(*followed) else {
                is_done[*file] = true;
                place_on_path[*file] = None;
                path.pop();
                continue;
            };
            *followed += 1;
            if is_done[edge.to] {
                continue;
            }
            if let Some(place) = place_on_path[edge.to] {
                let spans = path[place..].iter().map(|(file, followed)| edges[*file][followed - 1].span);
                return Some(cycle_found(sources, files[edge.to], &spans.collect::<Vec<_>>()));
            }
            place_on_path[edge.to] = Some(path.len());
            path.push((edge.to, 0));
        }
    }
    None
}

/// The imports that lead from a file back to itself.
fn cycle_found(sources: &Sources, first: FileId, imports: &[Span]) -> Diagnostic {
    let name = |span: &Span| format!("`{}`", sources.name(sources.file_of(*span)));
    let mut names: Vec<String> = imports.iter().map(name).collect();
    if names.len() > MAX_SHOWN_IMPORTS {
        let n_left_out = names.len() - MAX_SHOWN_IMPORTS;
        names.truncate(MAX_SHOWN_IMPORTS);
        names.push(format!("{n_left_out} more"));
    }
    names.push(format!("`{}`", sources.name(first)));
    let message = format!("these files import each other in a cycle: {}", names.join(" → "));
    let (message, (closing, others)) = match imports {
        [only] => (format!("`{}` imports itself", sources.name(first)), (only, &[][..])),
        [others @ .., closing] => (message, (closing, others)),
        [] => return Diagnostic::nowhere(Severity::Error, "lcc/import-cycle", message),
    };
    let mut diagnostic =
        Diagnostic::error("lcc/import-cycle", *closing, message).label("this import closes the cycle");
    for span in others.iter().take(MAX_SHOWN_IMPORTS) {
        diagnostic = diagnostic.also(*span, "imported here");
    }
    diagnostic.hint("remove one of these imports: a file need not import what imports it")
}
