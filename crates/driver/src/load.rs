//! From a path to a checked model.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use masque_ispl::Options;
use masque_model::{At, Deadlock, Overflow, Strategies, System};
use masque_text::{Diagnostic, FileId, Sources};
use serde::{Deserialize, Serialize};

use crate::{define, file};

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Interpreted systems, in either dialect.
    Ispl,
}

impl Language {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Language::Ispl => "ispl",
        }
    }

    /// By extension, if it says so; what cannot be read has no content to go by.
    fn of_path(path: &Path) -> Option<Language> {
        path.extension().is_some_and(|e| e.eq_ignore_ascii_case("ispl")).then_some(Language::Ispl)
    }

    /// By content: there is one language so far, whatever the extension.
    fn of_text(_text: &str) -> Language {
        Language::Ispl
    }
}

/// What is asked of a file besides its text. The default asks nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Request {
    /// `NAME=VALUE` texts.
    pub defines: Vec<String>,
    /// More formulas, in the syntax of the file's Formulae section.
    pub properties: Vec<String>,
    /// Where properties must be true, if not where the language says.
    pub at: Option<At>,
    /// What a state without successors means.
    pub deadlock: Option<Deadlock>,
    /// What an overflow means.
    pub overflow: Option<Overflow>,
    /// Strategies of coalitions that do not name theirs.
    pub strategies: Option<Strategies>,
}

impl Request {
    /// The options given that change the meaning of the file, by name, as reports show them.
    pub fn options(&self) -> Vec<(&'static str, &'static str)> {
        let deadlock = self.deadlock.map(Request::deadlock_word);
        let overflow = self.overflow.map(Request::overflow_word);
        let all = [
            ("at", self.at.map(At::name)),
            ("deadlock", deadlock),
            ("overflow", overflow),
            ("strategies", self.strategies.map(Strategies::name)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    pub(crate) fn deadlock_word(deadlock: Deadlock) -> &'static str {
        match deadlock {
            Deadlock::Finite => "finite",
            Deadlock::Stutter => "stutter",
            Deadlock::Error => "error",
        }
    }

    pub(crate) fn overflow_word(overflow: Overflow) -> &'static str {
        match overflow {
            Overflow::Drop => "drop",
            Overflow::Error => "error",
        }
    }
}

/// What became of a file.
#[derive(Debug)]
pub struct Loaded {
    /// All texts that diagnostics point at.
    pub sources: Sources,
    /// The file's name as it was given.
    pub name: String,
    /// Its language, if that could be told.
    pub language: Option<Language>,
    /// Its parameters with the values used, in the order of the text.
    pub parameters: Vec<(String, i64)>,
    /// The model, unless there are errors.
    pub system: Option<Arc<System>>,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// How long it took.
    pub time: Duration,
    /// The file's own text among the sources.
    file: Option<FileId>,
}

/// Reads, parses and checks a file. A file that cannot be read is one with a diagnostic; the path
/// `-` is standard input.
pub fn load(path: &Path, request: &Request) -> Loaded {
    let start = Instant::now();
    let mut loaded = Loaded::new(file::display_name(path), Language::of_path(path));
    match file::read(path) {
        Err(diagnostic) => loaded.diagnostics.push(*diagnostic),
        Ok(text) => loaded.read(text, request),
    }
    loaded.time = start.elapsed();
    loaded
}

/// Parses and checks a text that has been read already.
///
/// ```
/// let loaded = masque_driver::load_text("empty.ispl", "-- no model", &Default::default());
/// assert!(loaded.has_errors());
/// ```
pub fn load_text(name: &str, text: &str, request: &Request) -> Loaded {
    let start = Instant::now();
    let mut loaded = Loaded::new(name.to_string(), Language::of_path(Path::new(name)));
    loaded.read(text.to_string(), request);
    loaded.time = start.elapsed();
    loaded
}

impl Loaded {
    fn new(name: String, language: Option<Language>) -> Loaded {
        Loaded {
            sources: Sources::default(),
            name,
            language,
            parameters: Vec::new(),
            system: None,
            diagnostics: Vec::new(),
            time: Duration::ZERO,
            file: None,
        }
    }

    /// Whether anything is wrong with the file, so that there is no model.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The file's own text, if it could be read.
    pub(crate) fn text(&self) -> Option<&str> {
        self.file.map(|file| self.sources.text(file))
    }

    /// The same text once more, with another request.
    pub fn again(&self, request: &Request) -> Loaded {
        match self.file {
            None => Loaded::new(self.name.clone(), self.language),
            Some(file) => load_text(&self.name, self.sources.text(file), request),
        }
    }

    fn read(&mut self, text: String, request: &Request) {
        self.language = self.language.or(Some(Language::of_text(&text)));
        let Ok(file) = self.sources.add(self.name.as_str(), text) else {
            self.diagnostics.push(file::too_large(&self.name));
            return;
        };
        self.file = Some(file);
        if self.ispl(file, request).is_none() {
            let message = "the texts of the options `-D` and `--property` are too large".to_string();
            self.diagnostics.push(file::error("file/too-large", message));
        }
    }

    /// ISPL: parse all texts; check only what has no syntax errors, because a declaration that could
    /// not be read would be missed everywhere else. `None` if the texts outgrow the sources.
    fn ispl(&mut self, file: FileId, request: &Request) -> Option<()> {
        let (mut tree, diagnostics) = masque_ispl::parse(&self.sources, file);
        self.diagnostics = diagnostics;
        let (defines, diagnostics) = define::read(&request.defines, &mut self.sources).ok()?;
        self.diagnostics.extend(diagnostics);
        for property in &request.properties {
            let file = self.sources.add("<--property>", property.as_str()).ok()?;
            self.diagnostics.extend(masque_ispl::parse_property(&self.sources, file, &mut tree));
        }
        if self.has_errors() {
            return Some(());
        }
        let options = Options {
            defines,
            at: request.at,
            deadlock: request.deadlock,
            overflow: request.overflow,
            strategies: request.strategies,
        };
        let checked = masque_ispl::check(&self.sources, &mut tree, &options);
        self.diagnostics.extend(checked.diagnostics);
        self.parameters = checked.parameters;
        self.system = checked.system.map(|mut system| {
            system.add_strict_readings();
            Arc::new(system)
        });
        Some(())
    }
}
