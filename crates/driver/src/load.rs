//! Loading: files in any language become a model that can be checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use masque_model::{ExprId, System};
use masque_text::{Diagnostic, FileId, Library, ReadLimits, Severity, Sources, TooLarge};
use masque_verdict::Why;

use crate::check::Limits;
use crate::editor::read_properties_alone;
use crate::engines::EngineOptions;
use crate::language::other_language;
use crate::languages::{aut, bdi, ispl, lcc};
use crate::select::Unmatched;
use crate::sent_model::{ModelTexts, NamedText, SentModel};
use crate::{Language, Request, file, imports, many_diagnostics, model_bytes, option_table, reading};

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
    /// Condition of an ISPL model on steps that may happen without a record of a log, if the request has one.
    pub unseen: Option<ExprId>,
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
    /// The texts of the model among the sources.
    pub(crate) texts: ModelTexts,
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

/// What a model is loaded from, with the request.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// The files of one run.
    Files(Vec<PathBuf>, Request),
    /// Texts.
    Texts(SentModel),
    /// One file, which a library supplies with its imports.
    Library(PathBuf, Arc<dyn Library>, Request),
}

impl Input {
    fn files<P: AsRef<Path>>(files: &[P], request: &Request) -> Input {
        Input::Files(files.iter().map(|path| path.as_ref().to_path_buf()).collect(), request.clone())
    }

    fn request(&self) -> &Request {
        match self {
            Input::Files(_, request) | Input::Library(_, _, request) => request,
            Input::Texts(texts) => &texts.request,
        }
    }

    /// The names of the files or the text, as reports show them.
    fn names(&self) -> Vec<String> {
        match self {
            Input::Files(files, _) => files.iter().map(|path| file::display_name(path)).collect(),
            Input::Texts(texts) => vec![texts.name().to_string()],
            Input::Library(path, ..) => vec![file::display_name(path)],
        }
    }

    /// The language that the names show.
    fn language(&self) -> Option<Language> {
        match self {
            Input::Files(files, _) => language_of(files),
            Input::Texts(texts) => Language::of_path(Path::new(texts.name())),
            Input::Library(path, ..) => Language::of_path(path),
        }
    }

    pub(crate) fn load(self, limits: ReadLimits) -> Loaded {
        let start = Instant::now();
        let mut loaded = Loaded::new(self.language(), self.request(), limits);
        match self {
            Input::Files(files, _) => loaded.load_files(&files),
            Input::Library(path, library, _) => loaded.load_from(&path, &*library),
            Input::Texts(texts) => match texts.open(loaded.sources.limits()) {
                Err(diagnostic) => loaded.diagnostics.push(*diagnostic),
                Ok(((name, text), library, properties)) => {
                    loaded.names.push(name);
                    loaded.read_text(text, &library, properties);
                }
            },
        }
        many_diagnostics::shorten(&mut loaded.diagnostics);
        loaded.bytes = model_bytes::of(&loaded);
        loaded.time = start.elapsed();
        loaded
    }

    /// Loads a model within limits.
    pub(crate) fn load_within(self, limits: &Limits) -> Loaded {
        let start = Instant::now();
        let input = self.clone();
        match reading::within(limits, move |reading| Box::new(input.load(reading))) {
            Ok(mut loaded) => {
                loaded.sources.lift_limits();
                *loaded
            }
            Err(why) => Loaded { time: start.elapsed(), ..Loaded::stopped(&self, why) },
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
    Input::files(files, request).load(ReadLimits::default())
}

/// Does what [`load`] does, within limits. If one is exceeded, or if the user interrupts, there is no model, and the
/// warning `load/stopped` gives the reason.
pub fn load_within<P: AsRef<Path>>(files: &[P], request: &Request, limits: &Limits) -> Loaded {
    Input::files(files, request).load_within(limits)
}

/// The result of loading files, if it had to stop before it began.
pub fn not_loaded<P: AsRef<Path>>(files: &[P], request: &Request, why: Why) -> Loaded {
    Loaded::stopped(&Input::files(files, request), why)
}

/// Parses and checks a text. Its language follows from the name, or else from the text. The text can import files
/// only below the import roots of the request.
///
/// ```
/// let loaded = masque_driver::load_text("empty.ispl", "-- no model", &Default::default());
/// assert!(loaded.has_errors());
/// ```
pub fn load_text(name: &str, text: &str, request: &Request) -> Loaded {
    load_texts(&[(name, text)], request)
}

/// Does what [`load_text`] does with the first of the texts, each given with its name. It may import the others by
/// name, and they each other.
///
/// ```
/// let texts = [
///     ("main.bdi", "import \"coin.bdi\"; property possible initially: EF p;"),
///     ("coin.bdi", "agent a is loop p := any endloop"),
/// ];
/// let loaded = masque_driver::load_texts(&texts, &Default::default());
/// assert!(loaded.model.is_some());
/// ```
pub fn load_texts(texts: &[(&str, &str)], request: &Request) -> Loaded {
    SentModel::of_texts(texts, request).load()
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
            unseen: None,
            request: request.clone(),
            engine_options: EngineOptions::default(),
            diagnostics: Vec::new(),
            unmatched: Vec::new(),
            time: Duration::ZERO,
            stopped: None,
            bytes: 0,
            texts: ModelTexts::default(),
        }
    }

    /// The result of loading that had to stop.
    fn stopped(input: &Input, why: Why) -> Loaded {
        let mut loaded = Loaded::new(input.language(), input.request(), ReadLimits::default());
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
                let limits = self.sources.limits();
                let read = imports::library(&self.request.import_roots, limits)
                    .and_then(|library| Ok((file::read_within(path, limits)?, library)));
                match read {
                    Err(diagnostic) => self.diagnostics.push(*diagnostic),
                    Ok((text, library)) => self.read_text(text, &*library, Vec::new()),
                }
            }
            _ => self.mixed(files),
        }
    }

    /// Loads a file that a library supplies. Its name is the whole path, so that imports are found.
    fn load_from(&mut self, path: &Path, library: &dyn Library) {
        self.names.push(path.display().to_string());
        match library.read(path) {
            Err(diagnostic) => self.diagnostics.push(*diagnostic),
            Ok(text) if text.trim().is_empty() => {
                self.diagnostics
                    .push(file::error("file/empty", format!("`{}` is empty", file::display_name(path))));
            }
            Ok(text) if crate::is_properties(path) => {
                let read = read_properties_alone(self, text);
                self.refuse(read.err().map(|_| file::too_large_together()));
            }
            Ok(text) => self.read_text(text, library, Vec::new()),
        }
    }

    /// The name of the run: its first file, and the number of further files.
    pub fn name(&self) -> String {
        masque_text::first_and_others(&self.names)
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
        self.texts.files.first().map(|file| self.sources.text(*file))
    }

    /// Loads the same texts again with another request, within limits, for ISPL and BDI models.
    pub fn again_within(&self, request: &Request, limits: &Limits) -> Loaded {
        match SentModel::new(self, request) {
            None => Loaded::new(self.language, request, ReadLimits::default()),
            Some(texts) => texts.load_within(limits),
        }
    }

    /// Adds diagnostics, and drops the model if one of them is an error.
    pub fn refuse(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.diagnostics.extend(diagnostics);
        if self.has_errors() {
            self.model = None;
        }
    }

    /// Reads one text in the language that its name or its words show, or else as ISPL, with given texts of
    /// properties and the property files of the request.
    fn read_text(&mut self, text: String, library: &dyn Library, mut properties: Vec<NamedText>) {
        let language = self.language.or(Language::of_text(&text)).unwrap_or(Language::Ispl);
        self.language = Some(language);
        let name = self.name();
        let files = self.request.property_files.clone();
        properties.extend(lcc::read_once(&files, library, self));
        if !self.has_errors() {
            let model = (name, text);
            let read = match language {
                Language::Ispl => ispl::read(self, model, properties, library),
                Language::Bdi => bdi::read(self, model, properties, library),
                Language::Aut => aut::read(self, model, properties),
                Language::Lcc => lcc::read(self, vec![model], properties, library),
            };
            self.refuse(read.err().map(|_| file::too_large_together()));
        }
        self.name_language();
        self.finish();
    }

    /// Adds the texts of a model and of its properties to the sources. Returns the file of the model.
    pub(crate) fn add_texts(
        &mut self,
        (name, text): NamedText,
        properties: Vec<NamedText>,
    ) -> Result<FileId, TooLarge> {
        let file = self.sources.add(name, text)?;
        let properties = properties.into_iter().map(|(name, text)| self.sources.add(name, text));
        self.texts.properties = properties.collect::<Result<_, _>>()?;
        self.texts.files = vec![file];
        Ok(file)
    }

    /// Notes which files a model consists of, once its imports are known.
    pub(crate) fn set_files(&mut self, files: Vec<FileId>, imports: Vec<(String, usize)>) {
        (self.texts.files, self.texts.imports) = (files, imports);
        let all = self.texts.files.iter().chain(&self.texts.properties);
        self.names = all.map(|file| self.sources.name(*file).to_string()).collect();
    }

    /// If a file is only a part of a model, and an agent or parameter is missing, adds a note that says so, unless an
    /// error does.
    pub(crate) fn note_part(&mut self, is_part: bool) {
        const SAY_SO: [&str; 3] = ["ispl/no-model", "ispl/missing-section", "bdi/no-agent"];
        const OF_PARTS: [&str; 4] =
            ["ispl/unknown-agent", "ispl/not-constant", "ispl/missing-parameter", "bdi/unknown-agent"];
        let has = |codes: &[&str]| self.diagnostics.iter().any(|found| codes.contains(&found.code));
        if !is_part || has(&SAY_SO) || !has(&OF_PARTS) {
            return;
        }
        let name = self.names.first().map_or("", String::as_str);
        let message = format!("`{name}` has no properties and may be a part of a model");
        let note = Diagnostic::nowhere(Severity::Note, "file/part", message);
        self.diagnostics.push(note.hint("check the file that imports it"));
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
        let library = match imports::library(&self.request.import_roots, self.sources.limits()) {
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
        let language = self.language.unwrap_or(Language::Ispl);
        let other = self.text().and_then(|text| other_language(&self.name(), text, language));
        if let Some(error) = other {
            self.diagnostics = vec![error];
        }
    }

    fn mixed(&mut self, files: &[PathBuf]) {
        self.names = files.iter().map(|path| file::display_name(path)).collect();
        let message = "these files do not form one model".to_string();
        let help = "a model is one ISPL, BDI or AUT file, or the LCC files of one protocol; properties (.mu) go \
                    with a protocol or with an AUT file";
        self.diagnostics.push(file::error("cli/mixed-languages", message).hint(help));
    }
}
