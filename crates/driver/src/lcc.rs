//! LCC files: protocol, team, rules and properties, several files as one instance.
//!
//! As for ISPL, files become something whatever is wrong with them. The work is in `lcc_check`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use masque_lcc::{Given, Library, NoFiles, Opened, Parts, System};
use masque_mu::tree::{Name, Named};
use masque_mu::{Property, parse_formula, resolve};
use masque_text::{Diagnostic, Sources, TooLarge};

use crate::file;
use crate::imports::{Disk, Roots};

pub use crate::lcc_check::{Answer, Run, Wanted, check};
pub use crate::lcc_each::{Each, each};
pub use masque_lcc::{Counts, Deed, End, Event, Trace, chart};

/// What is asked of the files besides their text.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// `NAME=VALUE` texts that take the place of the files' options.
    pub options: Vec<String>,
    /// More formulas of the mu-calculus.
    pub properties: Vec<String>,
    /// Folders that imports are read from, if not from the whole disk.
    pub import_roots: Vec<PathBuf>,
}

impl Request {
    /// Where imports of files are read from.
    pub(crate) fn library(&self) -> Result<Box<dyn Library>, Box<Diagnostic>> {
        if self.import_roots.is_empty() {
            return Ok(Box::new(Disk));
        }
        match Roots::new(&self.import_roots, file::MAX_BYTES) {
            Ok(roots) => Ok(Box::new(roots)),
            Err(error) => {
                let message = format!("the folder for imports cannot be used: {}", file::reason(&error));
                Err(file::error("file/unreadable", message).into())
            }
        }
    }
}

/// What became of the files.
#[derive(Debug)]
pub struct Loaded {
    /// All texts that diagnostics point at.
    pub sources: Sources,
    /// The files' names: protocols and rules, then properties; of each kind first those that were given,
    /// then those that were imported.
    pub names: Vec<String>,
    /// What is to be checked, unless there are errors.
    pub instance: Option<Instance>,
    /// The options in force that are not at their default.
    pub options: Vec<(&'static str, String)>,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// How long it took.
    pub time: Duration,
}

/// A protocol with its team, and what is asked of it.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What may happen, discovered while it is checked.
    pub system: System,
    /// The properties, in the order of the report.
    pub properties: Vec<Property>,
}

/// Whether a file is part of an LCC instance, by its name.
pub fn is_lcc(path: &Path) -> bool {
    is_protocol(path) || is_properties(path)
}

/// Whether a file holds properties, by its name.
pub fn is_properties(path: &Path) -> bool {
    has_extension(path, "mu")
}

/// Whether a file is laid out as a protocol or rules, by its name.
pub(crate) fn is_protocol(path: &Path) -> bool {
    has_extension(path, "lcc") || has_extension(path, "pol")
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// Reads and checks files as one instance: protocols and rules, and files of properties. A file
/// that cannot be read is one with a diagnostic.
pub fn load(files: &[PathBuf], properties: &[PathBuf], request: &Request) -> Loaded {
    let start = Instant::now();
    let mut loaded = Loaded::new();
    let library = match request.library() {
        Ok(library) => library,
        Err(diagnostic) => {
            loaded.diagnostics.push(*diagnostic);
            return loaded;
        }
    };
    let mut texts = |files: &[PathBuf]| -> Vec<(String, String)> {
        let (mut texts, mut seen) = (Vec::new(), BTreeSet::new());
        for path in files {
            // A file that is named twice is read once, as one that is imported twice.
            if !seen.insert(library.identity(path)) {
                continue;
            }
            let name = file::display_name(path);
            loaded.names.push(name.clone());
            match file::read(path) {
                Err(diagnostic) => loaded.diagnostics.push(*diagnostic),
                Ok(text) => texts.push((name, text)),
            }
        }
        texts
    };
    let (protocols, properties) = (texts(files), texts(properties));
    // What could not be read would be missed everywhere else: one mistake would look like ten.
    if !loaded.has_errors() {
        loaded.read((protocols, properties), request, &*library);
    }
    loaded.time = start.elapsed();
    loaded
}

/// Checks one text that has been read already; it can import nothing.
///
/// ```
/// let text = "a(hen, H) :: null. agent a(hen, h). property ends : AF final ;";
/// let loaded = masque_driver::lcc::load_text("farm.lcc", text, &Default::default());
/// assert_eq!(loaded.instance.map(|instance| instance.properties.len()), Some(1));
/// ```
pub fn load_text(name: &str, text: &str, request: &Request) -> Loaded {
    let start = Instant::now();
    let mut loaded = Loaded::new();
    loaded.names.push(name.to_string());
    loaded.read((vec![(name.to_string(), text.to_string())], Vec::new()), request, &NoFiles);
    loaded.time = start.elapsed();
    loaded
}

/// Texts with their names: protocols and rules, and properties.
type Texts = (Vec<(String, String)>, Vec<(String, String)>);

impl Loaded {
    fn new() -> Loaded {
        Loaded {
            sources: Sources::default(),
            names: Vec::new(),
            instance: None,
            options: Vec::new(),
            diagnostics: Vec::new(),
            time: Duration::ZERO,
        }
    }

    /// Whether anything is wrong with the files, so that there is nothing to check.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The name of the run: its first file, and how many there are.
    pub fn name(&self) -> String {
        match self.names.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
        }
    }

    fn read(&mut self, (files, properties): Texts, request: &Request, library: &dyn Library) {
        if files.is_empty() {
            let message = "there are properties, but no protocol that they speak of".to_string();
            let help = "name the protocol and its team, too: `masque check protocol.lcc travel.mu`";
            self.diagnostics.push(file::error("cli/no-protocol", message).hint(help));
            return;
        }
        if self.open((files, properties), request, library).is_err() {
            let message = "the files are too large together".to_string();
            self.diagnostics.push(file::error("file/too-large", message));
        }
    }

    /// Fails if the texts outgrow the sources.
    fn open(
        &mut self,
        (files, properties): Texts,
        request: &Request,
        library: &dyn Library,
    ) -> Result<(), TooLarge> {
        let mut parts = Parts::default();
        for (name, text) in files {
            parts.files.push(self.sources.add(name, text)?);
        }
        for (name, text) in properties {
            parts.properties.push(self.sources.add(name, text)?);
        }
        for text in &request.options {
            let given = self.sources.add("<--option>", text.as_str())?;
            let span = self.sources.span(given);
            match text.split_once('=') {
                Some((name, value)) => {
                    let (name, value) = (name.trim().to_string(), value.trim().to_string());
                    parts.options.push(Given { name, value, span });
                }
                None => {
                    let message = format!("`{text}` is not of the form `NAME=VALUE`");
                    let diagnostic = Diagnostic::error("cli/bad-option", span, message);
                    self.diagnostics.push(diagnostic.hint("for example `--option comm=sync`"));
                }
            }
        }
        let Opened { system, mut properties, diagnostics, files, property_files, .. } =
            masque_lcc::open_with(&mut self.sources, &parts, library);
        self.diagnostics.extend(diagnostics);
        let all = files.iter().chain(&property_files);
        self.names = all.map(|file| self.sources.name(*file).to_string()).collect();
        let Some(mut system) = system else { return Ok(()) };
        for text in &request.properties {
            let file = self.sources.add("<--property>", text.as_str())?;
            let span = self.sources.span(file);
            let (phi, found) = parse_formula(&self.sources, span);
            self.diagnostics.extend(found);
            let Some(phi) = phi else { continue };
            let (formula, found) = resolve(&phi, &mut system);
            self.diagnostics.extend(found);
            if formula.is_some() {
                self.diagnostics.extend(system.name_warnings(&phi));
            }
            // Without a name of its own it has its position, or the next number that is no name.
            let is_taken = |name: &String| properties.iter().any(|p| p.source.name.text == *name);
            let mut numbers = (properties.len() + 1..).map(|number| number.to_string());
            let name = Name { text: numbers.find(|name| !is_taken(name)).unwrap_or_default(), span };
            properties.extend(formula.map(|formula| Property { source: Named { name, phi }, formula }));
        }
        self.options = system.options().changed();
        if !self.has_errors() {
            self.instance = Some(Instance { system, properties });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a(hen, H) :: null. agent a(hen, h). option cap = 3. property ends : AF final ;";

    fn codes(option: &str, property: &str) -> Vec<&'static str> {
        let list = |text: &str| if text.is_empty() { vec![] } else { vec![text.to_string()] };
        let request = Request { options: list(option), properties: list(property), ..Request::default() };
        load_text("a.lcc", TEXT, &request).diagnostics.iter().map(|d| d.code).collect()
    }

    #[rustfmt::skip]
    #[test]
    fn what_comes_from_outside_is_checked() {
        let rows: [(&str, &str, &[&str]); 6] = [
            ("",           "EF final",   &[]),
            ("cap=4",      "",           &[]),
            ("cap",        "",           &["cli/bad-option"]),
            ("cpa=4",      "",           &["lcc/unknown-option"]),
            ("cap=many",   "",           &["lcc/option-value"]),
            ("",           "mu X. !X",   &["mu/negative-variable"]),
        ];
        for (option, property, expected) in rows {
            assert_eq!(codes(option, property), expected, "{option} {property}");
        }
    }

    #[test]
    fn options_from_outside_win() {
        let request = Request { options: vec!["cap=4".to_string()], ..Request::default() };
        assert_eq!(load_text("a.lcc", TEXT, &request).options, [("cap", "4".to_string())]);
    }

    #[test]
    fn a_formula_without_a_name_has_its_position() {
        let request = Request { properties: vec!["EF final".to_string()], ..Request::default() };
        let properties = load_text("a.lcc", TEXT, &request).instance.unwrap().properties;
        let names: Vec<&str> = properties.iter().map(|p| p.source.name.text.as_str()).collect();
        assert_eq!(names, ["ends", "2"]);
    }

    /// A property of the file may have a number as its name.
    #[test]
    fn a_position_that_is_a_name_is_not_given_again() {
        let text = "a(hen, H) :: null. agent a(hen, h). property 2 : AF final ;";
        let request = Request { properties: vec!["tt".to_string(), "ff".to_string()], ..Request::default() };
        let properties = load_text("a.lcc", text, &request).instance.unwrap().properties;
        let names: Vec<&str> = properties.iter().map(|p| p.source.name.text.as_str()).collect();
        assert_eq!(names, ["2", "3", "4"]);
    }

    #[test]
    fn properties_need_a_protocol() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mu");
        std::fs::write(&path, "p : tt ;").unwrap();
        let loaded = load(&[], &[path], &Request::default());
        assert_eq!(loaded.diagnostics[0].code, "cli/no-protocol");
    }
}
