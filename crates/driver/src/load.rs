//! Loading: files in any language become a model that can be checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use masque_model::System;
use masque_text::{Diagnostic, FileId, ReadLimits, Sources};
use masque_verdict::Why;
use serde::{Deserialize, Serialize};

use crate::check::Limits;
use crate::engines::EngineOptions;
use crate::language::{Known, recognise};
use crate::languages::{aut, bdi, ispl, lcc};
use crate::select::Unmatched;
use crate::{Language, Request, file, model_bytes, option_table, reading};

/// The result of loading the files of one run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// All texts that diagnostics point into.
    pub sources: Sources,
    /// The names of the files as the user gave them; files of properties last.
    pub names: Vec<String>,
    /// The language; none if a file could not be read and its name does not show the language.
    pub language: Option<Language>,
    /// The parameters with their values, in the order of the text.
    pub parameters: Vec<(String, i64)>,
    /// The options that change the meaning of the model, unless they have their default values.
    pub options: Vec<(&'static str, String)>,
    /// The model, unless there are errors.
    pub model: Option<Model>,
    /// The request that was loaded with the files.
    pub request: Request,
    /// Options of the engines for interpreted systems, with all names resolved.
    pub engine_options: EngineOptions,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// Names in `only` and `skip` of the request that select no property, if it is for several models.
    pub unmatched: Vec<Unmatched>,
    /// Time that loading took.
    pub time: Duration,
    /// Why loading stopped early, if it did. Then there is no model.
    pub stopped: Option<Why>,
    /// Estimate of the memory that the texts and the model need, in bytes.
    pub bytes: u64,
    /// The first file among the sources.
    pub(crate) first: Option<FileId>,
}

/// A model that can be checked, in the form of its language.
#[derive(Clone, Debug)]
pub enum Model {
    /// An interpreted system.
    Ispl(Arc<System>),
    /// Programs of agents and their worlds.
    Bdi(Arc<bdi::Worlds>),
    /// A protocol with its team.
    Lcc(Box<lcc::Instance>),
    /// A transition system.
    Aut(Box<aut::Instance>),
}

/// A text with its name.
pub(crate) type NamedText = (String, String);

/// A model that is one text, and what is asked of it, as it is sent to another `masque` process. The other
/// process loads the text itself, so no engine's data structure is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentModel {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) request: Request,
}

impl SentModel {
    /// The model of a loaded file; none if the file could not be read.
    pub(crate) fn new(loaded: &Loaded) -> Option<SentModel> {
        let text = loaded.text()?.to_string();
        Some(SentModel { name: loaded.name(), text, request: loaded.request.clone() })
    }

    /// Loads the model in the process that received it.
    pub(crate) fn load(&self) -> Loaded {
        load_text(&self.name, &self.text, &self.request)
    }

    /// Loads the model within limits.
    pub(crate) fn load_within(self, limits: &Limits) -> Loaded {
        Input::Text((self.name, self.text)).load_within(&self.request, limits)
    }
}

/// What a model is loaded from.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// The files of one run.
    Files(Vec<PathBuf>),
    /// A text with its name.
    Text(NamedText),
}

impl Input {
    fn files<P: AsRef<Path>>(files: &[P]) -> Input {
        Input::Files(files.iter().map(|path| path.as_ref().to_path_buf()).collect())
    }

    fn text(name: &str, text: &str) -> Input {
        Input::Text((name.to_string(), text.to_string()))
    }

    /// The names of the files or the text, as reports show them.
    fn names(&self) -> Vec<String> {
        match self {
            Input::Files(files) => files.iter().map(|path| file::display_name(path)).collect(),
            Input::Text((name, _)) => vec![name.clone()],
        }
    }

    /// The language that the names show.
    fn language(&self) -> Option<Language> {
        match self {
            Input::Files(files) => language_of(files),
            Input::Text((name, _)) => Language::of_path(Path::new(name)),
        }
    }

    fn load(self, request: &Request, limits: ReadLimits) -> Loaded {
        let start = Instant::now();
        let mut loaded = Loaded::new(self.language(), request, limits);
        match self {
            Input::Files(files) => loaded.load_files(&files),
            Input::Text((name, text)) => {
                loaded.names.push(name);
                loaded.read_text(text);
            }
        }
        loaded.bytes = model_bytes::of(&loaded);
        loaded.time = start.elapsed();
        loaded
    }

    /// Loads a model within limits.
    pub(crate) fn load_within(self, request: &Request, limits: &Limits) -> Loaded {
        let start = Instant::now();
        let (input, wanted) = (self.clone(), request.clone());
        match reading::within(limits, move |reading| Box::new(input.load(&wanted, reading))) {
            Ok(mut loaded) => {
                loaded.sources.lift_limits();
                *loaded
            }
            Err(why) => Loaded { time: start.elapsed(), ..Loaded::stopped(&self, request, why) },
        }
    }
}

/// Reads, parses and checks the files of one run: a single file, the files of a protocol, or a transition
/// system with its properties. A file that cannot be read becomes a diagnostic. The path `-` is standard input.
///
/// ```
/// let loaded = masque_driver::load(&["no/such/file.ispl"], &Default::default());
/// assert!(loaded.model.is_none());
/// assert_eq!(loaded.diagnostics[0].code, "file/not-found");
/// ```
pub fn load<P: AsRef<Path>>(files: &[P], request: &Request) -> Loaded {
    Input::files(files).load(request, ReadLimits::default())
}

/// Does what [`load`] does, within limits. If one is exceeded, or if the user interrupts, there is no model, and the
/// warning `load/stopped` gives the reason.
pub fn load_within<P: AsRef<Path>>(files: &[P], request: &Request, limits: &Limits) -> Loaded {
    Input::files(files).load_within(request, limits)
}

/// The result of loading files, if it had to stop before it began.
pub fn not_loaded<P: AsRef<Path>>(files: &[P], request: &Request, why: Why) -> Loaded {
    Loaded::stopped(&Input::files(files), request, why)
}

/// Parses and checks a text. Its language follows from the name, or else from the text. The text cannot import
/// files.
///
/// ```
/// let loaded = masque_driver::load_text("empty.ispl", "-- no model", &Default::default());
/// assert!(loaded.has_errors());
/// ```
pub fn load_text(name: &str, text: &str, request: &Request) -> Loaded {
    Input::text(name, text).load(request, ReadLimits::default())
}

/// The language that the names of files show.
fn language_of(files: &[PathBuf]) -> Option<Language> {
    let named = files.iter().find(|path| !crate::is_properties(path)).or(files.first());
    named.and_then(|path| Language::of_path(path))
}

impl Loaded {
    fn new(language: Option<Language>, request: &Request, limits: ReadLimits) -> Loaded {
        Loaded {
            sources: Sources::with_limits(limits),
            names: Vec::new(),
            language,
            parameters: Vec::new(),
            options: Vec::new(),
            model: None,
            request: request.clone(),
            engine_options: EngineOptions::default(),
            diagnostics: Vec::new(),
            unmatched: Vec::new(),
            time: Duration::ZERO,
            stopped: None,
            bytes: 0,
            first: None,
        }
    }

    /// The result of loading that had to stop.
    fn stopped(input: &Input, request: &Request, why: Why) -> Loaded {
        let mut loaded = Loaded::new(input.language(), request, ReadLimits::default());
        loaded.names = input.names();
        loaded.diagnostics = vec![reading::stopped(why)];
        loaded.stopped = Some(why);
        loaded
    }

    fn load_files(&mut self, files: &[PathBuf]) {
        match (self.language, files) {
            (Some(Language::Lcc | Language::Aut), _) => self.read_files(files),
            (_, [path]) => {
                self.names.push(file::display_name(path));
                match file::read_within(path, self.sources.limits()) {
                    Err(diagnostic) => self.diagnostics.push(*diagnostic),
                    Ok(text) => self.read_text(text),
                }
            }
            _ => self.mixed(files),
        }
    }

    /// The name of the run: its first file, and the number of further files.
    pub fn name(&self) -> String {
        match self.names.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
        }
    }

    /// Whether there are errors, so that there is no model.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The interpreted system, if the model is one.
    pub fn system(&self) -> Option<&Arc<System>> {
        match &self.model {
            Some(Model::Ispl(system)) => Some(system),
            _ => None,
        }
    }

    /// The text of the first file, if it could be read.
    pub(crate) fn text(&self) -> Option<&str> {
        self.first.map(|file| self.sources.text(file))
    }

    /// Loads the same text again with another request, within limits, for models that are one file.
    pub fn again_within(&self, request: &Request, limits: &Limits) -> Loaded {
        match self.text() {
            None => Loaded::new(self.language, request, ReadLimits::default()),
            Some(text) => Input::text(&self.name(), text).load_within(request, limits),
        }
    }

    /// Adds diagnostics, and drops the model if one of them is an error.
    pub fn refuse(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.diagnostics.extend(diagnostics);
        if self.has_errors() {
            self.model = None;
        }
    }

    /// Reads one text in the language that its name or its words show, or else as ISPL.
    fn read_text(&mut self, text: String) {
        let language = self.language.or(Language::of_text(&text)).unwrap_or(Language::Ispl);
        self.language = Some(language);
        let name = self.name();
        match language {
            Language::Ispl | Language::Bdi => self.read_single(text, language),
            Language::Lcc | Language::Aut => {
                let files = self.request.property_files.clone();
                let properties = lcc::read_once(&files, &masque_lcc::NoFiles, self);
                let read = match language {
                    _ if self.has_errors() => Ok(()),
                    Language::Aut => aut::read(self, (name, text), properties),
                    _ => lcc::read(self, vec![(name, text)], properties, &masque_lcc::NoFiles),
                };
                self.refuse(read.err().map(|_| file::too_large_together()));
            }
        }
        self.name_language();
        self.finish();
    }

    fn read_single(&mut self, text: String, language: Language) {
        let name = self.name();
        let Ok(file) = self.sources.add(name.as_str(), text) else {
            self.diagnostics.push(file::too_large(&name));
            return;
        };
        self.first = Some(file);
        let is_read = match language {
            Language::Bdi => bdi::read(self, file),
            _ => ispl::read(self, file),
        };
        if is_read.is_err() {
            let message = "the texts of the options and properties given are too large".to_string();
            self.diagnostics.push(file::error("file/too-large", message));
        }
    }

    /// Reads the files of a protocol, or a transition system with its property files.
    fn read_files(&mut self, files: &[PathBuf]) {
        let (properties, models): (Vec<_>, Vec<_>) =
            files.iter().cloned().partition(|path| crate::is_properties(path));
        let is_foreign = |path: &PathBuf| Language::of_path(path) != self.language;
        let is_graph = self.language == Some(Language::Aut);
        if models.iter().any(is_foreign) || (is_graph && models.len() != 1) {
            return self.mixed(files);
        }
        let library = match lcc::library(&self.request, self.sources.limits()) {
            Ok(library) => library,
            Err(diagnostic) => return self.diagnostics.push(*diagnostic),
        };
        let properties = [properties, self.request.property_files.clone()].concat();
        let mut texts = |files: &[PathBuf]| lcc::read_once(files, &*library, self);
        let (mut models, properties) = (texts(&models), texts(&properties));
        // A file that could not be read would cause further errors wherever its names are used.
        if !self.has_errors() {
            let read = match models.pop() {
                Some(model) if is_graph => aut::read(self, model, properties),
                last => {
                    models.extend(last);
                    lcc::read(self, models, properties, &*library)
                }
            };
            self.refuse(read.err().map(|_| file::too_large_together()));
            self.name_language();
        }
        self.finish();
    }

    /// Refuses options that the language does not have, and keeps only the requested properties.
    fn finish(&mut self) {
        let misplaced = self.language.and_then(|language| option_table::misplaced(&self.request, language));
        self.refuse(misplaced);
        self.select();
    }

    /// If a text has errors and its words show another language, replaces the errors by one that says so.
    fn name_language(&mut self) {
        if !self.has_errors() {
            return;
        }
        let Some(known) = self.text().and_then(recognise) else { return };
        let language = self.language.unwrap_or(Language::Ispl);
        if known == Known::Ours(language) {
            return;
        }
        let message =
            format!("`{}` is not {} but looks like {}", self.name(), language.title(), known.title());
        let help = match known {
            Known::Ours(other) => {
                format!("a file whose name ends in `.{}` is read as {}", other.name(), other.title())
            }
            Known::Foreign(_) => {
                "masque reads ISPL (.ispl), BDI programs (.bdi), LCC protocols (.lcc, .pol, .mu) \
                                  and transition systems (.aut)"
                    .to_string()
            }
        };
        self.diagnostics = vec![file::error("file/wrong-language", message).hint(help)];
    }

    fn mixed(&mut self, files: &[PathBuf]) {
        self.names = files.iter().map(|path| file::display_name(path)).collect();
        let message = "these files do not form one model".to_string();
        let help = "a model is one ISPL, BDI or AUT file, or the LCC files of one protocol; properties (.mu) go \
                    with a protocol or with an AUT file";
        self.diagnostics.push(file::error("cli/mixed-languages", message).hint(help));
    }
}
