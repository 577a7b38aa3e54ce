//! Reads the files of an instance and the files that they import with `import "rules.pol".`.
//!
//! The given files come first, in their order, then the imported files in the order in which the imports
//! are found. Every file is read once, even if several files import it.

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

/// The source of imported files.
///
/// Paths are relative to the folder of the importing file, joined with the path of that folder.
pub trait Library: fmt::Debug + Send + Sync {
    /// Returns the identity of a file: paths with the same identity name the same file.
    fn identity(&self, path: &Path) -> PathBuf;

    /// Returns the text of a file, or a diagnostic that says why it cannot be read. The caller adds the
    /// location of the import to the diagnostic.
    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>>;
}

/// A library without files: an import can only name one of the given texts.
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

/// Removes `.` from a path, and each `..` that follows a name. Does not access the file system.
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
    let gathered = Gathered { files: files.to_vec(), properties: properties.to_vec(), ..Gathered::default() };
    let mut gathering = Gathering {
        library,
        sources,
        gathered,
        known: FxHashMap::default(),
        edges: Vec::new(),
        failed: FxHashSet::default(),
        follows_imports: true,
    };
    gathering.read_all();
    let Gathering { sources, mut gathered, edges, .. } = gathering;
    gathered.diagnostics.extend(cycle(sources, &gathered.files, &edges));
    let targets = |edges: &Vec<Edge>| edges.iter().map(|edge| edge.to).collect();
    gathered.imports = edges.iter().map(targets).collect();
    gathered
}

/// An import of a file with statements.
struct Edge {
    /// Index of the imported file.
    to: usize,
    /// Location of the path in the import.
    span: Span,
}

/// A file that has been read or is queued for reading.
#[derive(Clone, Copy)]
enum KnownFile {
    /// Index of a file with statements.
    Statements(usize),
    Properties,
}

struct Gathering<'s> {
    library: &'s dyn Library,
    sources: &'s mut Sources,
    gathered: Gathered,
    /// Files by identity.
    known: FxHashMap<PathBuf, KnownFile>,
    /// For each file that has been read, its imports.
    edges: Vec<Vec<Edge>>,
    /// Identities of files that cannot be read.
    failed: FxHashSet<PathBuf>,
    /// Whether further imports are followed: not after too many failures or files.
    follows_imports: bool,
}

impl Gathering<'_> {
    fn read_all(&mut self) {
        if let Some(file) = self.gathered.files.get(MAX_FILES) {
            self.gathered.diagnostics.push(too_many_files(self.sources.span(*file).slice(0, 0)));
            return;
        }
        for (index, file) in self.gathered.files.iter().enumerate() {
            let identity = self.library.identity(Path::new(self.sources.name(*file)));
            self.known.entry(identity).or_insert(KnownFile::Statements(index));
        }
        for file in &self.gathered.properties {
            let identity = self.library.identity(Path::new(self.sources.name(*file)));
            self.known.entry(identity).or_insert(KnownFile::Properties);
        }
        let mut index = 0;
        while let Some(file) = self.gathered.files.get(index).copied() {
            let (tree, found) = parse(self.sources, file);
            self.gathered.diagnostics.extend(found);
            let folder =
                Path::new(self.sources.name(file)).parent().map(Path::to_path_buf).unwrap_or_default();
            let mut edges = Vec::new();
            for item in &tree.items {
                if let Item::Import(import) = item
                    && let Some(KnownFile::Statements(to)) = self.import(&folder, import)
                {
                    edges.push(Edge { to, span: import.path.span });
                }
            }
            self.edges.push(edges);
            self.gathered.trees.push(tree);
            index += 1;
        }
    }

    /// Returns the imported file; `None` if it cannot be read.
    fn import(&mut self, folder: &Path, Import { path }: &Import) -> Option<KnownFile> {
        let file_path = folder.join(&path.text);
        let identity = self.library.identity(&file_path);
        if let Some(known) = self.known.get(&identity) {
            return Some(*known);
        }
        if !self.follows_imports || self.failed.contains(&identity) {
            return None;
        }
        match self.read(&file_path, path.span) {
            Ok(known) => {
                self.known.insert(identity, known);
                Some(known)
            }
            Err(diagnostic) => {
                self.gathered.diagnostics.push(*diagnostic);
                self.failed.insert(identity);
                self.follows_imports &= self.failed.len() < MAX_FAILED;
                None
            }
        }
    }

    fn read(&mut self, path: &Path, span: Span) -> Result<KnownFile, Box<Diagnostic>> {
        let n_files = self.gathered.files.len() + self.gathered.properties.len();
        if n_files >= MAX_FILES {
            self.follows_imports = false;
            return Err(too_many_files(span).label("this import would add one more").into());
        }
        let text = self.library.read(path).map_err(|diagnostic| at_import(*diagnostic, span))?;
        let name = path.display().to_string();
        let file = self.sources.add(name, text).map_err(|_| {
            let message = "the files of the instance are too large together";
            Diagnostic::error("file/too-large", span, message).label("imported here")
        })?;
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mu")) {
            self.gathered.properties.push(file);
            return Ok(KnownFile::Properties);
        }
        self.gathered.files.push(file);
        Ok(KnownFile::Statements(self.gathered.files.len() - 1))
    }
}

fn too_many_files(span: Span) -> Diagnostic {
    let message = format!("an instance has at most {MAX_FILES} files");
    Diagnostic::error("lcc/too-many-files", span, message).hint("put several files into one")
}

/// Moves a diagnostic about an imported file to the location of the import.
fn at_import(diagnostic: Diagnostic, span: Span) -> Box<Diagnostic> {
    let Diagnostic { code, message, help, .. } = diagnostic;
    Diagnostic::error(code, span, message).label("imported here").help(help).into()
}

/// Reports the first cycle of imports, if there is one.
fn cycle(sources: &Sources, files: &[FileId], edges: &[Vec<Edge>]) -> Option<Diagnostic> {
    let mut is_done = vec![false; edges.len()];
    let mut index_on_path = vec![None; edges.len()];
    for root in 0..edges.len() {
        if is_done[root] {
            continue;
        }
        // The files on the path, each with the number of its imports that have been followed.
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        index_on_path[root] = Some(0);
        while let Some((file, followed)) = path.last_mut() {
            let Some(edge) = edges[*file].get(*followed) else {
                is_done[*file] = true;
                index_on_path[*file] = None;
                path.pop();
                continue;
            };
            *followed += 1;
            if is_done[edge.to] {
                continue;
            }
            if let Some(start) = index_on_path[edge.to] {
                let spans = path[start..].iter().map(|(file, followed)| edges[*file][followed - 1].span);
                return Some(cycle_diagnostic(sources, files[edge.to], &spans.collect::<Vec<_>>()));
            }
            index_on_path[edge.to] = Some(path.len());
            path.push((edge.to, 0));
        }
    }
    None
}

/// Describes the imports that lead from a file back to itself.
fn cycle_diagnostic(sources: &Sources, first: FileId, imports: &[Span]) -> Diagnostic {
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
