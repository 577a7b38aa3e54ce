//! What a session is opened from: texts, options and limits; and why texts are refused.

use std::sync::Arc;

use masque_text::{Diagnostic, Library, NoFiles, OptionOverride, Severity, Sources};
use masque_verdict::Stop;

use crate::instance::InstanceInput;

/// A text, with the name that diagnostics show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Name of the text, such as a file name.
    pub name: String,
    /// The text itself.
    pub text: String,
}

impl Text {
    /// Makes a named text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Text {
        Text { name: name.into(), text: text.into() }
    }
}

/// Limits on what a session keeps between questions. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of states.
    pub states: Option<u64>,
    /// Maximum size in bytes.
    pub memory: Option<u64>,
}

/// The input from which a session is opened.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Texts with statements: protocol, team, knowledge, rules.
    pub files: Vec<Text>,
    /// Texts with properties, `name : formula ;` repeated.
    pub properties: Vec<Text>,
    /// Options by name and value, which override those in the texts.
    pub options: Vec<(String, String)>,
    /// Limits on what the session keeps.
    pub limits: Limits,
    /// Source of imported files that are not among the texts. `None`: such an import is an error.
    pub library: Option<Arc<dyn Library>>,
}

impl Setup {
    /// Returns the source of imported files.
    pub(crate) fn library(&self) -> &dyn Library {
        self.library.as_deref().unwrap_or(&NoFiles)
    }
}

/// The error if texts are not a valid instance.
#[derive(Debug)]
pub struct RefusedTexts {
    /// The texts that the diagnostics refer to.
    pub sources: Sources,
    /// Errors and warnings about the texts.
    pub diagnostics: Vec<Diagnostic>,
    /// The limit that was exceeded, if one was. Then the diagnostics are incomplete.
    pub stopped: Option<Stop>,
}

impl RefusedTexts {
    /// The error about texts that were read within the limits of their sources.
    pub(crate) fn new(sources: Sources, diagnostics: Vec<Diagnostic>) -> Box<RefusedTexts> {
        let stopped = sources.limits().exceeded().map(Stop::from);
        Box::new(RefusedTexts { sources, diagnostics, stopped })
    }
}

/// Adds the texts of a setup to the sources.
pub(crate) fn parts(sources: &mut Sources, setup: &Setup) -> Result<InstanceInput, Diagnostic> {
    let limits = sources.limits().clone();
    let mut add = |name: &str, text: &str| {
        limits.charge(text.len() as u64);
        sources.add(name, text).map_err(|_| too_large())
    };
    let mut parts = InstanceInput::default();
    for Text { name, text } in &setup.files {
        parts.files.push(add(name, text)?);
    }
    for Text { name, text } in &setup.properties {
        parts.properties.push(add(name, text)?);
    }
    for (name, value) in &setup.options {
        let file = sources.add("option", format!("{name}={value}")).map_err(|_| too_large())?;
        let span = sources.span(file);
        parts.options.push(OptionOverride { name: name.clone(), value: value.clone(), span });
    }
    Ok(parts)
}

/// Makes the diagnostic about texts that are together too large for positions of 32 bits.
pub(crate) fn too_large() -> Diagnostic {
    let message = "the texts of this session together are larger than 4 GB";
    Diagnostic::nowhere(Severity::Error, "lcc/too-large", message)
}
