//! The models below files and folders: which files of a project are models of their own, for `masque test`.
//!
//! An AUT file is a model. An ISPL or BDI file is a model unless another file imports it. An LCC file is a model if
//! it has a team, of its own or imported, and no other file imports it; the others are parts of models. A file of properties (`.mu`) belongs to the AUT or LCC
//! model with the same name in the same folder, or is imported; one that is named on the command line and has no
//! such partner belongs to all AUT models, or else to all LCC models.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use masque_lcc::FileStatus;
use masque_text::{Diagnostic, ReadLimits};
use masque_verdict::Why;

use crate::check::Limits;
use crate::load::load_within;
use crate::runs::{Surveyed, surveyed};
use crate::{Language, Request, file, is_properties, reading};

/// Why a file that another one imports is no model.
const IMPORTED: &str = "another file imports it";

/// The models below some files and folders.
#[derive(Clone, Debug, Default)]
pub struct TestFiles {
    /// The files of each model, in the order of the paths.
    pub models: Vec<Vec<PathBuf>>,
    /// Files that are no models of their own, with the reason.
    pub left_out: Vec<LeftOut>,
    /// Errors about paths that cannot be read.
    pub errors: Vec<Diagnostic>,
}

/// A file that is not a model of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the file.
    pub name: String,
    /// Why it is no model.
    pub why: &'static str,
    /// Whether the user named the file itself, and not a folder.
    pub is_named: bool,
}

/// Finds the models below some files and folders, in the order of the paths and by name. Hidden files and folders
/// are skipped, and a file that is found twice counts once.
///
/// # Errors
///
/// Why the search had to stop: the user interrupted, or a limit on reading LCC files was exceeded.
pub fn test_files(paths: &[PathBuf], request: &Request, limits: &Limits) -> Result<TestFiles, Why> {
    let mut walk = Walk { limits, seen: BTreeSet::new(), files: Vec::new(), errors: Vec::new() };
    for path in paths {
        walk.visit(path)?;
    }
    let (files, errors) = (walk.files, walk.errors);
    let modules = modules(&files, request, limits)?;
    let request = request.clone();
    let grouped =
        reading::within(limits, move |reading| Grouping::new(&files, modules, &request, &reading).models())?;
    Ok(TestFiles { errors, ..grouped })
}

/// An ISPL or BDI file with imports, and the files that it imports, all by their canonical paths.
#[derive(Clone, Debug)]
struct Module {
    identity: PathBuf,
    imports: BTreeSet<PathBuf>,
}

/// The ISPL and BDI files with imports.
fn modules(files: &[FoundFile], request: &Request, limits: &Limits) -> Result<Vec<Module>, Why> {
    let request = Request { import_roots: request.import_roots.clone(), ..Request::default() };
    let mut modules = Vec::new();
    for FoundFile { path, .. } in files {
        let has_modules = matches!(Language::of_path(path), Some(Language::Ispl | Language::Bdi));
        if !has_modules || is_stream(path) {
            continue;
        }
        let text = match crate::read_text_within(path, crate::MAX_BYTES, limits) {
            Ok(text) => text,
            Err(crate::Unread::Stopped(why)) => return Err(why),
            Err(_) => continue,
        };
        if text.contains("import") {
            let loaded = load_within(&[path], &request, limits);
            let names = loaded.texts.files.iter().skip(1).map(|file| loaded.sources.name(*file));
            let imports = names.map(|name| canonical(Path::new(name))).collect();
            modules.push(Module { identity: canonical(path), imports });
        }
    }
    Ok(modules)
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Whether a path is standard input, a pipe or a device. Its text can be read once only, by the test itself.
fn is_stream(path: &Path) -> bool {
    file::is_stdin(path) || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// A file that was found, and whether the user named it.
#[derive(Clone, Debug)]
struct FoundFile {
    path: PathBuf,
    is_named: bool,
}

/// A walk through folders.
struct Walk<'l> {
    limits: &'l Limits,
    /// Canonical paths of the files and folders found so far, so that links lead nowhere twice.
    seen: BTreeSet<PathBuf>,
    files: Vec<FoundFile>,
    errors: Vec<Diagnostic>,
}

impl Walk<'_> {
    /// Visits a path that the user gave.
    fn visit(&mut self, path: &Path) -> Result<(), Why> {
        if path.is_dir() {
            return self.folder(path);
        }
        // A path that cannot be read is an error of loading, with a hint at a similar name.
        if file::is_stdin(path) || self.is_new(path) {
            self.files.push(FoundFile { path: path.to_path_buf(), is_named: true });
        }
        Ok(())
    }

    /// Visits all files of a folder and of the folders in it.
    fn folder(&mut self, folder: &Path) -> Result<(), Why> {
        let mut waiting = vec![folder.to_path_buf()];
        while let Some(path) = waiting.pop() {
            self.limits_allow()?;
            if path.is_dir() {
                if self.is_new(&path) {
                    waiting.extend(self.entries(&path).into_iter().rev());
                }
            } else if Language::of_path(&path).is_some() && !is_stream(&path) && self.is_new(&path) {
                self.files.push(FoundFile { path, is_named: false });
            }
        }
        Ok(())
    }

    fn limits_allow(&self) -> Result<(), Why> {
        if self.limits.interrupt.load(Ordering::Relaxed) { Err(Why::Interrupted) } else { Ok(()) }
    }

    /// Whether a path leads to a file or folder that has not been found yet.
    fn is_new(&mut self, path: &Path) -> bool {
        self.seen.insert(canonical(path))
    }

    /// The visible entries of a folder, by name.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let name = file::display_name(folder);
                let message = format!("the folder `{name}` cannot be read: {}", file::reason(&error));
                self.errors.push(file::error("file/unreadable", message));
                return Vec::new();
            }
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names.filter(|name| !name.as_encoded_bytes().starts_with(b".")).collect();
        names.sort();
        let is_here = folder == Path::new(".");
        names.into_iter().map(|name| if is_here { PathBuf::from(name) } else { folder.join(name) }).collect()
    }
}

/// The files that were found, with what is known about the LCC files and about imports.
struct Grouping<'f> {
    files: &'f [FoundFile],
    modules: Vec<Module>,
    surveyed: Vec<Surveyed<'f>>,
}

impl<'f> Grouping<'f> {
    fn new(
        files: &'f [FoundFile],
        modules: Vec<Module>,
        request: &Request,
        limits: &ReadLimits,
    ) -> Grouping<'f> {
        let is_protocol =
            |path: &PathBuf| Language::of_path(path) == Some(Language::Lcc) && !is_properties(path);
        let protocols = files.iter().map(|file| &file.path);
        let protocols = protocols.filter(|path| is_protocol(path) && !is_stream(path));
        let surveyed = protocols.map(|path| surveyed(path, request, limits)).collect();
        Grouping { files, modules, surveyed }
    }

    fn models(&self) -> TestFiles {
        let mut found = TestFiles::default();
        for FoundFile { path, is_named } in self.files {
            let model = match Language::of_path(path) {
                _ if is_properties(path) => match self.why_no_owner(path) {
                    None => continue,
                    Some(why) => Err(why),
                },
                Some(Language::Lcc) => self.protocol(path),
                Some(Language::Aut) => Ok([vec![path.clone()], self.properties_of(path)].concat()),
                _ if self.is_part(path) => Err(IMPORTED),
                _ => Ok(vec![path.clone()]),
            };
            match model {
                Ok(files) => found.models.push(files),
                Err(why) => {
                    let name = file::display_name(path);
                    found.left_out.push(LeftOut { name, why, is_named: *is_named });
                }
            }
        }
        found
    }

    /// Whether an ISPL or BDI file is part of another model. Files that import each other in a cycle are models with
    /// an error.
    fn is_part(&self, path: &Path) -> bool {
        let identity = canonical(path);
        let own =
            self.modules.iter().find(|module| module.identity == identity).map(|module| &module.imports);
        self.modules.iter().any(|other| {
            other.imports.contains(&identity) && !own.is_some_and(|own| own.contains(&other.identity))
        })
    }

    /// The files of the model that an LCC file is, or why it is part of another model.
    fn protocol(&self, path: &PathBuf) -> Result<Vec<PathBuf>, &'static str> {
        let Some(this) = self.surveyed.iter().find(|surveyed| surveyed.path == path) else {
            return Ok(vec![path.clone()]);
        };
        // Files that import each other in a cycle are models with an error.
        let imports_this = |other: &&Surveyed<'_>| {
            other.imports.contains(&this.identity) && !this.imports.contains(&other.identity)
        };
        match this.standing {
            _ if self.surveyed.iter().any(|other| imports_this(&other)) => Err(IMPORTED),
            FileStatus::NoTeam => Err("it declares no team"),
            FileStatus::Broken | FileStatus::NoClause | FileStatus::Whole => {
                Ok([vec![path.clone()], self.properties_of(path)].concat())
            }
        }
    }

    /// The files of properties that belong to a model.
    fn properties_of(&self, model: &Path) -> Vec<PathBuf> {
        let language = Language::of_path(model);
        let belongs = |found: &&FoundFile| {
            let path = &found.path;
            is_properties(path)
                && !self.is_imported(path)
                && match self.partner(path) {
                    Some(partner) => partner == model,
                    None => found.is_named && Some(self.common_language()) == language,
                }
        };
        self.files.iter().filter(belongs).map(|found| found.path.clone()).collect()
    }

    /// The model with the same name as a file of properties, in the same folder.
    fn partner(&self, properties: &Path) -> Option<&Path> {
        let has_name = |language: Language| {
            let is_meant = |path: &&PathBuf| {
                Language::of_path(path) == Some(language)
                    && !is_properties(path)
                    && path.with_extension("") == properties.with_extension("")
            };
            self.files.iter().map(|found| &found.path).find(is_meant).map(PathBuf::as_path)
        };
        has_name(Language::Aut).or_else(|| has_name(Language::Lcc))
    }

    /// The language of models that files of properties without a partner belong to.
    fn common_language(&self) -> Language {
        let is_graph = |found: &FoundFile| Language::of_path(&found.path) == Some(Language::Aut);
        if self.files.iter().any(is_graph) { Language::Aut } else { Language::Lcc }
    }

    fn is_imported(&self, path: &Path) -> bool {
        let identity = canonical(path);
        self.surveyed.iter().any(|surveyed| surveyed.imports.contains(&identity))
    }

    /// Why a file of properties belongs to no model, if it does not.
    fn why_no_owner(&self, path: &PathBuf) -> Option<&'static str> {
        let is_owned = |model: &FoundFile| {
            !is_properties(&model.path)
                && matches!(Language::of_path(&model.path), Some(Language::Aut | Language::Lcc))
                && self.properties_of(&model.path).contains(path)
        };
        if self.is_imported(path) || self.files.iter().any(is_owned) {
            return None;
        }
        Some("no model has the same name, and no file imports it")
    }
}
