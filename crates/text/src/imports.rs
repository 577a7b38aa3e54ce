//! Imports: which files a model consists of, for every language with `import "FILE"`.
//!
//! [`follow_imports`] reads the given files and all files that they import, each once, and refuses cycles. The
//! given files come first, in their order, then the imported files in the order in which the imports are found.
//! [`in_text_order`] puts each imported file in the place of its first import.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Diagnostic, FileId, Severity, Sources, Span};

/// Maximum number of files of one model.
pub const MAX_FILES: usize = 1_000;
/// Maximum number of imports reported as failed; later imports are not followed.
const MAX_FAILED: usize = 20;
/// Maximum number of imports shown for one cycle.
const MAX_SHOWN_IMPORTS: usize = 6;
/// Estimate of the memory for one import, in bytes.
const BYTES_PER_IMPORT: u64 = 256;

/// The code with which a [`Library`] reports a file that does not exist. It is replaced by the code of the
/// language that imports the file.
pub const FILE_NOT_FOUND: &str = "file/not-found";

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
        let diagnostic = Diagnostic::nowhere(Severity::Error, FILE_NOT_FOUND, message);
        Err(diagnostic.hint("give the imported text together with the one that imports it").into())
    }
}

/// Removes `.` from a path, and each `..` that follows a name or the root. Does not access the file system.
///
/// ```
/// use std::path::Path;
/// assert_eq!(masque_text::without_dots(Path::new("a/./b/../c")), Path::new("a/c"));
/// assert_eq!(masque_text::without_dots(Path::new("a/../../c")), Path::new("../c"));
/// assert_eq!(masque_text::without_dots(Path::new("/../c")), Path::new("/c"));
/// ```
pub fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(clean.components().next_back(), Some(Component::Normal(_))) => {
                clean.pop();
            }
            Component::ParentDir if clean.has_root() => {}
            _ => clean.push(component),
        }
    }
    clean
}

/// The codes and words of one language in messages about imports.
#[derive(Clone, Copy, Debug)]
pub struct ImportRules {
    /// Code of an imported file that does not exist.
    pub not_found: &'static str,
    /// Code of files that import each other in a cycle.
    pub cycle: &'static str,
    /// Code of a model with more than [`MAX_FILES`] files.
    pub too_many_files: &'static str,
    /// Code of an import of a file in another language.
    pub wrong_language: &'static str,
    /// What the files form together, with its article: `a model`.
    pub whole: &'static str,
    /// Name of the language in sentences.
    pub language: &'static str,
    /// Endings of the names of files in other languages.
    pub foreign_endings: &'static [&'static str],
}

/// The path of an import, as it is written.
#[derive(Clone, Debug)]
pub struct ImportPath {
    /// The path, without quotes.
    pub text: String,
    /// Location of the path, with its quotes.
    pub span: Span,
}

/// A parsed file: what the parser made of it, its imports, and diagnostics.
pub type ParsedFile<P> = (P, Vec<ImportPath>, Vec<Diagnostic>);

/// A model that may be divided into files, parsed with all imported files.
#[derive(Debug)]
pub struct JoinedFiles<T> {
    /// The syntax tree of all files.
    pub tree: T,
    /// The file of the model, then the imported files in the order in which the imports are found.
    pub files: Vec<FileId>,
    /// Every imported path, joined with the folder of the importing file, and the index of its file.
    pub imports: Vec<(String, usize)>,
    /// Syntax errors, and errors about imports.
    pub diagnostics: Vec<Diagnostic>,
}

/// The files of a model, parsed.
#[derive(Debug)]
pub struct FollowedImports<P> {
    /// All files: the given ones, then the imported ones.
    pub files: Vec<FileId>,
    /// What the parser made of each file. Empty if there are too many given files.
    pub parsed: Vec<P>,
    /// For each file and each of its imports, the index of the imported file; `None` if it cannot be read.
    pub targets: Vec<Vec<Option<usize>>>,
    /// Every imported path, joined with the folder of the importing file, and the index of the file that it
    /// names, in the order in which the paths are found.
    pub paths: Vec<(String, usize)>,
    /// Diagnostics of the parser, and about imports.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the given files and all files that they import. `parse` is called once for each file, with its index.
///
/// ```
/// use masque_text::{ImportPath, ImportRules, NoFiles, Sources, follow_imports};
///
/// const RULES: ImportRules = ImportRules {
///     not_found: "toy/import-not-found",
///     cycle: "toy/import-cycle",
///     too_many_files: "toy/too-many-files",
///     wrong_language: "toy/import-language",
///     whole: "a toy",
///     language: "Toy",
///     foreign_endings: &[],
/// };
/// let mut sources = Sources::default();
/// let file = sources.add("a.toy", "b.toy").unwrap();
/// // The whole text is the path of an import.
/// let followed = follow_imports(&mut sources, &[file], &NoFiles, &RULES, |sources, file, _| {
///     let text = sources.text(file).to_string();
///     ((), vec![ImportPath { text, span: sources.span(file) }], Vec::new())
/// });
/// assert_eq!(followed.diagnostics[0].code, "toy/import-not-found");
/// ```
pub fn follow_imports<P>(
    sources: &mut Sources,
    given: &[FileId],
    library: &dyn Library,
    rules: &ImportRules,
    mut parse: impl FnMut(&Sources, FileId, usize) -> ParsedFile<P>,
) -> FollowedImports<P> {
    let mut follower = Follower {
        library,
        rules,
        sources,
        files: given.to_vec(),
        known: FxHashMap::default(),
        identities: FxHashMap::default(),
        paths: Vec::new(),
        failed: FxHashSet::default(),
        follows_imports: true,
        diagnostics: Vec::new(),
    };
    let (mut parsed, mut edges) = (Vec::new(), Vec::new());
    if let Some(file) = given.get(MAX_FILES) {
        let span = follower.sources.span(*file).slice(0, 0);
        follower.diagnostics.push(too_many_files(rules, span));
    } else {
        follower.know_given();
        while let Some(file) = follower.files.get(parsed.len()).copied() {
            let (tree, imports, found) = parse(follower.sources, file, parsed.len());
            follower.diagnostics.extend(found);
            edges.push(follower.imports_of(file, imports));
            parsed.push(tree);
        }
    }
    let Follower { sources, files, paths, mut diagnostics, .. } = follower;
    diagnostics.extend(cycle(sources, rules, &files, &edges));
    let targets = edges.iter().map(|edges| edges.iter().map(|edge| edge.to).collect()).collect();
    FollowedImports { files, parsed, targets, paths, diagnostics }
}

/// Puts the pieces of all files into one sequence. The pieces of a file are the parts before, between and after
/// its imports. The first import of a file is replaced by the pieces of that file; later imports add nothing.
///
/// ```
/// // File 0 imports file 1 and then file 2, and file 1 imports file 2.
/// let pieces = vec![vec!["a", "b", "c"], vec!["d", "e"], vec!["f"]];
/// let targets = [vec![Some(1), Some(2)], vec![Some(2)], vec![]];
/// assert_eq!(masque_text::in_text_order(pieces, &targets), ["a", "d", "f", "e", "b", "c"]);
/// ```
pub fn in_text_order<T>(pieces: Vec<Vec<T>>, targets: &[Vec<Option<usize>>]) -> Vec<T> {
    let mut is_placed = vec![false; pieces.len()];
    let mut files: Vec<_> = pieces
        .into_iter()
        .zip(targets)
        .map(|(pieces, targets)| (pieces.into_iter(), targets.iter()))
        .collect();
    let (mut ordered, mut open) = (Vec::new(), vec![0]);
    while let Some((pieces, targets)) = open.last().and_then(|file: &usize| files.get_mut(*file)) {
        let Some(piece) = pieces.next() else {
            open.pop();
            continue;
        };
        ordered.push(piece);
        if let Some(target) = targets.next().copied().flatten()
            && target != 0
            && !std::mem::replace(&mut is_placed[target], true)
        {
            open.push(target);
        }
    }
    ordered
}

/// An import.
struct Edge {
    /// Index of the imported file, if it can be read.
    to: Option<usize>,
    /// Location of the path in the import.
    span: Span,
}

struct Follower<'s> {
    library: &'s dyn Library,
    rules: &'s ImportRules,
    sources: &'s mut Sources,
    /// Files that have been parsed, and then those that are to be parsed.
    files: Vec<FileId>,
    /// Indices of the files by identity.
    known: FxHashMap<PathBuf, usize>,
    /// Identities of the paths so far: a path that is imported many times is looked up once.
    identities: FxHashMap<PathBuf, PathBuf>,
    paths: Vec<(String, usize)>,
    /// Identities of files that cannot be read.
    failed: FxHashSet<PathBuf>,
    /// Whether further imports are followed: not after too many failures or files.
    follows_imports: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Follower<'_> {
    fn know_given(&mut self) {
        for (index, file) in self.files.iter().enumerate() {
            let identity = self.library.identity(Path::new(self.sources.name(*file)));
            self.known.entry(identity).or_insert(index);
        }
    }

    fn imports_of(&mut self, file: FileId, imports: Vec<ImportPath>) -> Vec<Edge> {
        let folder = Path::new(self.sources.name(file)).parent().map(Path::to_path_buf).unwrap_or_default();
        let edge = |import: ImportPath| Edge { to: self.import(&folder, &import), span: import.span };
        imports.into_iter().map(edge).collect()
    }

    /// Returns the index of the imported file; `None` if it cannot be read.
    fn import(&mut self, folder: &Path, import: &ImportPath) -> Option<usize> {
        if !self.sources.limits().charge(BYTES_PER_IMPORT) {
            return None; // The caller discards the result.
        }
        let path = folder.join(&import.text);
        let (identity, is_new_path) = match self.identities.get(&path) {
            Some(identity) => (identity.clone(), false),
            None => (self.library.identity(&path), true),
        };
        let found = match self.known.get(&identity) {
            Some(known) => Some(*known),
            None => self.first_import(&path, &identity, import.span),
        };
        if is_new_path {
            self.paths.extend(found.map(|index| (path.display().to_string(), index)));
            self.identities.insert(path, identity);
        }
        found
    }

    fn first_import(&mut self, path: &Path, identity: &Path, span: Span) -> Option<usize> {
        if !self.follows_imports || self.failed.contains(identity) {
            return None;
        }
        match self.read(path, span) {
            Ok(index) => {
                self.known.insert(identity.to_path_buf(), index);
                Some(index)
            }
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                self.failed.insert(identity.to_path_buf());
                self.follows_imports &= self.failed.len() < MAX_FAILED;
                None
            }
        }
    }

    fn read(&mut self, path: &Path, span: Span) -> Result<usize, Box<Diagnostic>> {
        if self.files.len() >= MAX_FILES {
            self.follows_imports = false;
            return Err(too_many_files(self.rules, span).label("this import would add one more").into());
        }
        self.check_language(path, span)?;
        let text = self.library.read(path).map_err(|diagnostic| self.at_import(*diagnostic, span))?;
        let name = path.display().to_string();
        let file = self.sources.add(name, text).map_err(|_| {
            let message = "the files are too large together";
            Diagnostic::error("file/too-large", span, message).label("imported here")
        })?;
        self.files.push(file);
        Ok(self.files.len() - 1)
    }

    fn check_language(&self, path: &Path, span: Span) -> Result<(), Box<Diagnostic>> {
        let ImportRules { wrong_language, language, foreign_endings, .. } = self.rules;
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let Some(ending) = ending.filter(|ending| foreign_endings.contains(&ending.as_str())) else {
            return Ok(());
        };
        let message = format!("a file in {language} cannot import a `.{ending}` file");
        let diagnostic = Diagnostic::error(wrong_language, span, message).label("a file in another language");
        Err(diagnostic.hint(format!("imported files are written in {language}, too")).into())
    }

    /// Moves a diagnostic about an imported file to the location of the import.
    fn at_import(&self, diagnostic: Diagnostic, span: Span) -> Box<Diagnostic> {
        let Diagnostic { code, message, help, .. } = diagnostic;
        let code = if code == FILE_NOT_FOUND { self.rules.not_found } else { code };
        Diagnostic::error(code, span, message).label("imported here").help(help).into()
    }
}

fn too_many_files(rules: &ImportRules, span: Span) -> Diagnostic {
    let message = format!("{} has at most {MAX_FILES} files", rules.whole);
    Diagnostic::error(rules.too_many_files, span, message).hint("put several files into one")
}

/// Reports the first cycle of imports, if there is one.
fn cycle(
    sources: &Sources,
    rules: &ImportRules,
    files: &[FileId],
    edges: &[Vec<Edge>],
) -> Option<Diagnostic> {
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
            let Some(to) = edge.to.filter(|to| !is_done[*to]) else { continue };
            if let Some(start) = index_on_path[to] {
                let spans = path[start..].iter().map(|(file, followed)| edges[*file][followed - 1].span);
                return Some(cycle_diagnostic(sources, rules, files[to], &spans.collect::<Vec<_>>()));
            }
            index_on_path[to] = Some(path.len());
            path.push((to, 0));
        }
    }
    None
}

/// Describes the imports that lead from a file back to itself.
fn cycle_diagnostic(sources: &Sources, rules: &ImportRules, first: FileId, imports: &[Span]) -> Diagnostic {
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
        [] => return Diagnostic::nowhere(Severity::Error, rules.cycle, message),
    };
    let mut diagnostic =
        Diagnostic::error(rules.cycle, *closing, message).label("this import closes the cycle");
    for span in others.iter().take(MAX_SHOWN_IMPORTS) {
        diagnostic = diagnostic.also(*span, "imported here");
    }
    diagnostic.hint("remove one of these imports: a file need not import what imports it")
}
