//! Models, and how they are loaded.

use std::fmt;
use std::path::Path;

use masque_driver::{
    self as driver, ByDefinition, Diagnostic, EngineChoice, Loaded, Request, Severity, Sources,
};
use masque_report::Text;

/// A model that can be checked, in any language of Masque.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) loaded: Loaded,
}

impl Model {
    /// Loads a file. The extension of its name gives the language.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or has errors.
    pub fn load(path: impl AsRef<Path>) -> Result<Model, LoadError> {
        Loader::new().load([path])
    }

    /// Loads a text. The extension of the name gives the language; without one, the words of the text do.
    ///
    /// # Errors
    ///
    /// If the text has errors.
    pub fn from_text(name: &str, text: &str) -> Result<Model, LoadError> {
        Loader::new().text(name, text)
    }

    pub(crate) fn of(loaded: Loaded) -> Result<Model, LoadError> {
        match loaded.model {
            Some(_) => Ok(Model { loaded }),
            None => Err(LoadError::new(&loaded.sources, &loaded.diagnostics)),
        }
    }

    /// The name of the first file, and the number of further files.
    pub fn name(&self) -> String {
        self.loaded.name()
    }

    /// The language: `ispl`, `bdi`, `lcc` or `aut`.
    pub fn language(&self) -> &'static str {
        self.loaded.language.map_or("unknown", driver::Language::name)
    }

    /// The names of the properties, in the order of the text.
    pub fn properties(&self) -> Vec<String> {
        let properties = self.loaded.model.as_ref().map(driver::Model::properties);
        properties.unwrap_or_default().into_iter().map(|property| property.title).collect()
    }

    /// The names of the agents, in the order of the text; none for a transition system.
    ///
    /// ```
    /// let text = "agent a is loop p := any endloop agent b is loop q := any endloop";
    /// assert_eq!(masque::Model::from_text("two.bdi", text)?.agents(), ["a", "b"]);
    /// # Ok::<(), masque::LoadError>(())
    /// ```
    pub fn agents(&self) -> Vec<String> {
        match &self.loaded.model {
            Some(driver::Model::Ispl(system)) => {
                system.agents.iter().map(|agent| agent.name.clone()).collect()
            }
            Some(driver::Model::Bdi(worlds)) => {
                worlds.programs.agents.iter().map(|agent| agent.name.clone()).collect()
            }
            Some(driver::Model::Lcc(instance)) => instance.system.team(),
            Some(driver::Model::Aut(_)) | None => Vec::new(),
        }
    }

    /// All texts that the model was loaded from, each with its name: files, imports, properties.
    pub fn texts(&self) -> Vec<(String, String)> {
        self.loaded
            .sources
            .files()
            .map(|file| {
                (self.loaded.sources.name(file).to_string(), self.loaded.sources.text(file).to_string())
            })
            .collect()
    }

    /// The number of reachable states and the verdicts of an interpreted system by the truth definition, without an
    /// engine; none for other models and if there are more than `max_states` states. This is slow, and meant for tests.
    ///
    /// ```
    /// let text = "Agent A Vars: x : boolean; end Vars Actions = {a}; Protocol: Other : {a}; end Protocol
    ///     Evolution: x = true if Action = a; end Evolution end Agent
    ///     InitStates A.x = false; end InitStates Formulae AF A.x; end Formulae";
    /// let found = masque::Model::from_text("x.ispl", text)?.by_definition(100).unwrap();
    /// assert_eq!((found.states, found.verdicts), (2, vec![Some(true)]));
    /// # Ok::<(), masque::LoadError>(())
    /// ```
    pub fn by_definition(&self, max_states: usize) -> Option<ByDefinition> {
        self.loaded.by_definition(max_states)
    }

    /// Warnings and notes about the model.
    pub fn messages(&self) -> Vec<Message> {
        messages(&self.loaded.sources, &self.loaded.diagnostics)
    }
}

/// Loads models with parameters, options and further properties.
///
/// ```
/// let text = "
///     param N = 2;
///     Agent Counter
///       Vars: n : 0..N; end Vars
///       Actions = {tick};
///       Protocol: Other : {tick}; end Protocol
///       Evolution: n = n + 1 if n < N; end Evolution
///     end Agent
///     InitStates Counter.n = 0; end InitStates";
/// let model = masque::Loader::new().parameter("N", 9).property("EF Counter.n = 9").text("c.ispl", text)?;
/// assert!(model.check(&masque::Check::new())?.all_hold());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a loader does nothing until `load` or `text` is called"]
pub struct Loader {
    request: Request,
    /// Texts that can be imported, with their names.
    imports: Vec<(String, String)>,
}

impl Loader {
    /// A loader without parameters, options and further properties.
    pub fn new() -> Loader {
        Loader::default()
    }

    /// Sets a parameter of an ISPL file.
    pub fn parameter(mut self, name: &str, value: i64) -> Loader {
        self.request.defines.push(format!("{name}={value}"));
        self
    }

    /// Sets an option of a BDI or LCC file; this overrides the option in the file.
    pub fn option(mut self, name: &str, value: &str) -> Loader {
        self.request.options.push(format!("{name}={value}"));
        self
    }

    /// Adds a formula, in the language of the model.
    pub fn property(mut self, formula: &str) -> Loader {
        self.request.properties.push(formula.to_string());
        self
    }

    /// Adds a file of properties: in the mu-calculus for LCC and AUT files, otherwise in the language of the model.
    pub fn properties_from(mut self, path: impl AsRef<Path>) -> Loader {
        self.request.property_files.push(path.as_ref().to_path_buf());
        self
    }

    /// Adds a text that the text of [`Loader::text`] can import by this name.
    ///
    /// ```
    /// let agents = "agent a is loop p := any endloop";
    /// let main = "import \"agents.bdi\"; property possible initially: EF p;";
    /// let model = masque::Loader::new().import("agents.bdi", agents).text("main.bdi", main)?;
    /// assert!(model.check(&masque::Check::new())?.all_hold());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn import(mut self, name: &str, text: &str) -> Loader {
        self.imports.push((name.to_string(), text.to_string()));
        self
    }

    /// Allows imports from files below this folder, and from nowhere else. Without it, a file imports any file, and
    /// a text no files.
    pub fn import_root(mut self, folder: impl AsRef<Path>) -> Loader {
        self.request.import_roots.push(folder.as_ref().to_path_buf());
        self
    }

    /// Keeps only the properties with these names or positions.
    pub fn only<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Loader {
        self.request.only.extend(names.into_iter().map(|name| name.as_ref().to_string()));
        self
    }

    /// Chooses the engine for interpreted systems. It changes time and memory, never a verdict.
    pub fn engine(mut self, engine: Engine) -> Loader {
        self.request.work.engine = engine.choice();
        self
    }

    /// Loads a file, or the files of one protocol.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or has errors, or if the files are not one model.
    pub fn load<P: AsRef<Path>>(self, files: impl IntoIterator<Item = P>) -> Result<Model, LoadError> {
        let files: Vec<P> = files.into_iter().collect();
        Model::of(driver::load(&files, &self.request))
    }

    /// Loads a text.
    ///
    /// # Errors
    ///
    /// If the text has errors.
    pub fn text(self, name: &str, text: &str) -> Result<Model, LoadError> {
        let imports = self.imports.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let texts: Vec<(&str, &str)> = std::iter::once((name, text)).chain(imports).collect();
        Model::of(driver::load_texts(&texts, &self.request))
    }
}

/// Engines for interpreted systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The explicit and the symbolic engine in turns, until one has explored the whole system.
    #[default]
    Auto,
    /// The engine that stores every reachable state.
    Explicit,
    /// The engine that represents sets of states as decision diagrams.
    Symbolic,
}

impl Engine {
    pub(crate) fn choice(self) -> EngineChoice {
        match self {
            Engine::Auto => EngineChoice::Auto,
            Engine::Explicit => EngineChoice::Named("explicit"),
            Engine::Symbolic => EngineChoice::Named("symbolic"),
        }
    }
}

/// A message about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// A stable code, such as `ispl/unknown-action`; `masque explain CODE` prints its page.
    pub code: &'static str,
    /// The message, in one sentence.
    pub text: String,
    /// A hint at what the author may have meant, or how to fix it.
    pub help: Option<String>,
    /// The location of the message: file, and line and column from 1.
    pub place: Option<(String, u32, u32)>,
}

fn messages(sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<Message> {
    let message = |diagnostic: &Diagnostic| {
        let place = diagnostic.primary.as_ref().map(|label| {
            let file = sources.name(sources.file_of(label.span)).to_string();
            let (start, _) = sources.locate(label.span);
            (file, start.line, start.column)
        });
        Message {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            code: diagnostic.code,
            text: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            place,
        }
    };
    diagnostics.iter().map(message).collect()
}

/// The errors in the files of a model. Displayed as the command line prints them, with the text and a caret.
#[derive(Clone, Debug)]
pub struct LoadError {
    /// All messages, errors among them.
    pub messages: Vec<Message>,
    drawn: String,
}

impl LoadError {
    /// The error with these diagnostics about these texts.
    pub fn new(sources: &Sources, diagnostics: &[Diagnostic]) -> LoadError {
        let mut drawn = Vec::new();
        // Writing to a vector cannot fail.
        _ = Text::default().diagnostics(&mut drawn, sources, diagnostics);
        let drawn = String::from_utf8_lossy(&drawn).trim_end().to_string();
        LoadError { messages: messages(sources, diagnostics), drawn }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.drawn)
    }
}

impl std::error::Error for LoadError {}
