//! Loading: files in any language become a model that can be checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_model::System;
use masque_text::{Diagnostic, FileId, ReadLimit, ReadLimits, Severity, Sources};
use masque_verdict::{Budget, Why};
use serde::{Deserialize, Serialize};

use crate::check::Limits;
use crate::engines::EngineOptions;
use crate::language::{Known, recognise};
use crate::languages::{aut, bdi, ispl, lcc};
use crate::{Language, Request, file, helper_thread, option_table};

/// The result of loading the files of one run.
#[derive(Debug)]
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
    /// Time that loading took.
    pub time: Duration,
    /// Why loading stopped early, if it did. Then there is no model.
    pub stopped: Option<Why>,
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
    let files: Vec<PathBuf> = files.iter().map(|path| path.as_ref().to_path_buf()).collect();
    load_files(&files, request, ReadLimits::default())
}

/// Does what [`load`] does, within limits. If one is exceeded, or if the user interrupts, there is no model, and the
/// warning `load/stopped` gives the reason.
pub fn load_within<P: AsRef<Path>>(files: &[P], request: &Request, limits: &Limits) -> Loaded {
    let start = Instant::now();
    let files: Vec<PathBuf> = files.iter().map(|path| path.as_ref().to_path_buf()).collect();
    let cancelled = Arc::new(AtomicBool::new(false));
    let mut reading =
        ReadLimits::default().with_deadline(limits.deadline).with_cancel(Arc::clone(&cancelled));
    if let Some(memory) = limits.allowed_memory() {
        reading = reading.with_memory(memory);
    }
    let budget = limits.budget().with_cancel(cancelled);
    let work = {
        let (files, request, reading) = (files.clone(), request.clone(), reading.clone());
        move |_: &Budget, sender: &Sender<Box<Loaded>>| {
            _ = sender.send(Box::new(load_files(&files, &request, reading)));
        }
    };
    let mut loaded = None;
    // A file that is not regular may block, and not every step of loading checks the limits: then the thread is
    // abandoned.
    let why =
        helper_thread::supervise(limits, &budget, work, &mut |received| loaded = loaded.take().or(received));
    let why = why.or(reading.exceeded().map(|limit| match limit {
        ReadLimit::Time => Why::Timeout,
        ReadLimit::Memory => Why::Memory,
        ReadLimit::Cancelled => Why::Interrupted,
    }));
    match (loaded, why) {
        (Some(mut loaded), None) => {
            loaded.sources.lift_limits();
            *loaded
        }
        (_, why) => {
            let mut stopped = Loaded::new(language_of(&files), request, ReadLimits::default());
            stopped.names = files.iter().map(|path| file::display_name(path)).collect();
            stopped.stop(why.unwrap_or(Why::Memory));
            stopped.time = start.elapsed();
            stopped
        }
    }
}

/// The language that the names of files show.
fn language_of(files: &[PathBuf]) -> Option<Language> {
    let named = files.iter().find(|path| !crate::is_properties(path)).or(files.first());
    named.and_then(|path| Language::of_path(path))
}

fn load_files(files: &[PathBuf], request: &Request, limits: ReadLimits) -> Loaded {
    let start = Instant::now();
    let mut loaded = Loaded::new(language_of(files), request, limits);
    match (loaded.language, files) {
        (Some(Language::Lcc | Language::Aut), _) => loaded.read_files(files),
        (_, [path]) => {
            loaded.names.push(file::display_name(path));
            match file::read_within(path, loaded.sources.limits()) {
                Err(diagnostic) => loaded.diagnostics.push(*diagnostic),
                Ok(text) => loaded.read_text(text),
            }
        }
        _ => loaded.mixed(files),
    }
    loaded.time = start.elapsed();
    loaded
}

/// Parses and checks a text. Its language follows from the name, or else from the text. The text cannot import
/// files.
///
/// ```
/// let loaded = masque_driver::load_text("empty.ispl", "-- no model", &Default::default());
/// assert!(loaded.has_errors());
/// ```
pub fn load_text(name: &str, text: &str, request: &Request) -> Loaded {
    let start = Instant::now();
    let mut loaded = Loaded::new(Language::of_path(Path::new(name)), request, ReadLimits::default());
    loaded.names.push(name.to_string());
    loaded.read_text(text.to_string());
    loaded.time = start.elapsed();
    loaded
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
            time: Duration::ZERO,
            stopped: None,
            first: None,
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

    /// Records that loading had to stop.
    fn stop(&mut self, why: Why) {
        let (message, help) = match why {
            Why::Memory => ("loading was stopped: the memory limit is exceeded", "raise `--memory`"),
            Why::Interrupted => ("loading was interrupted", "the file has no verdicts"),
            _ => ("loading was stopped: the time limit is exceeded", "raise `--timeout`"),
        };
        self.diagnostics = vec![Diagnostic::nowhere(Severity::Warning, "load/stopped", message).hint(help)];
        self.stopped = Some(why);
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

    /// Loads the same text again with another request, for models that are one file.
    pub fn again(&self, request: &Request) -> Loaded {
        match self.text() {
            None => Loaded::new(self.language, request, ReadLimits::default()),
            Some(text) => load_text(&self.name(), text, request),
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
        let library = match lcc::library(&self.request) {
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
        let kept = self.model.as_mut().map_or(Vec::new(), |model| model.keep(&self.request.only));
        self.refuse(kept);
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
