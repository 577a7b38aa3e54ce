//! Reading what a certificate is about: the model, with its imports, and the formula.

use std::fs;
use std::path::{Path, PathBuf};

use masque_certificate::{Certificate, digest};
use masque_ispl::{Define, Options};
use masque_model::{At, Deadlock, FormulaId, Overflow, Strategies, System};
use masque_text::{Diagnostic, FILE_NOT_FOUND, Library, Severity, Sources, render};

/// Maximum size of a file of a model, in bytes.
const MAX_MODEL_BYTES: u64 = 256 << 20;

/// A model that was read for a certificate.
pub(crate) struct Read {
    /// The system.
    pub(crate) system: System,
    /// The file of the model.
    pub(crate) model: PathBuf,
    /// The formula of the certificate, and where it must be true.
    pub(crate) property: (FormulaId, At),
    /// What the report calls the property.
    pub(crate) title: String,
}

/// All files of the disk.
#[derive(Debug)]
struct Disk;

impl Library for Disk {
    fn identity(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        read_file(path, MAX_MODEL_BYTES)
            .map_err(|what| Diagnostic::nowhere(Severity::Error, FILE_NOT_FOUND, what).into())
    }
}

/// Reads a regular text file of limited size.
fn read_file(path: &Path, max_bytes: u64) -> Result<String, String> {
    let name = path.display();
    let metadata = fs::metadata(path).map_err(|error| format!("cannot read `{name}`: {error}"))?;
    if !metadata.is_file() || metadata.len() > max_bytes {
        return Err(format!("`{name}` is not a file of at most {max_bytes} bytes"));
    }
    fs::read_to_string(path).map_err(|error| format!("cannot read `{name}`: {error}"))
}

pub(crate) fn read_certificate(path: &Path, max_bytes: u64) -> Result<Certificate, String> {
    let text = read_file(path, max_bytes)?;
    Certificate::parse(&text).map_err(|mistake| format!("line {}: {}", mistake.line, mistake.what))
}

/// Reads the model for which a certificate was written, if it is among some files, with the options and the
/// formula of the certificate.
pub(crate) fn read_model(models: &[&PathBuf], certificate: &Certificate) -> Result<Read, String> {
    let mut errors = Vec::new();
    for model in models {
        match read(model, certificate) {
            Ok(read) => return Ok(read),
            Err(what) => errors.push(what),
        }
    }
    Err(errors.join("\n"))
}

fn read(path: &Path, certificate: &Certificate) -> Result<Read, String> {
    let mut sources = Sources::default();
    let text = read_file(path, MAX_MODEL_BYTES)?;
    let too_large = |_| "the model is too large".to_string();
    let file = sources.add(path.display().to_string(), text).map_err(too_large)?;
    let mut model = masque_ispl::parse_model(&mut sources, file, &Disk);
    let found = digest(model.files.iter().map(|file| sources.text(*file)));
    if found != certificate.model {
        return Err(format!("the certificate was written for another model than `{}`", path.display()));
    }
    let formula = sources.add("<formula>", certificate.formula.as_str()).map_err(too_large)?;
    let mut diagnostics = std::mem::take(&mut model.diagnostics);
    diagnostics.extend(masque_ispl::parse_property(&sources, formula, &mut model.tree));
    let mut system = None;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let checked = masque_ispl::check(&sources, &mut model.tree, &options(certificate)?);
        diagnostics.extend(checked.diagnostics);
        system = checked.system;
    }
    let Some(system) = system else {
        let error = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let text = error.map(|error| render(&sources, error, false));
        return Err(text.unwrap_or("the model is not valid".to_string()));
    };
    // The formula of the certificate is the last property; one of the model that is the same has a title.
    let (last, others) = system.properties.split_last().ok_or("the certificate has no formula")?;
    let same = || others.iter().filter(|property| property.formula == last.formula);
    let named = same().find(|property| property.title == certificate.title).or(same().next());
    let title = named.map(|property| format!("property {}", property.title));
    let title = title.unwrap_or("a formula that is not in the model".to_string());
    Ok(Read { property: (last.formula, last.at), model: path.to_path_buf(), title, system })
}

fn options(certificate: &Certificate) -> Result<Options, String> {
    let [at, deadlock, overflow, strategies] = &certificate.options;
    let mut defines = Vec::new();
    for parameter in &certificate.parameters {
        let define = parameter.split_once('=').and_then(|(name, value)| {
            Some(Define {
                name: name.to_string(),
                value: value.parse().ok()?,
                span: masque_text::Span::default(),
            })
        });
        defines.push(define.ok_or(format!("`{parameter}` is not of the form NAME=VALUE"))?);
    }
    Ok(Options {
        defines,
        at: Some(one_of(&At::ALL, At::name, at)?),
        deadlock: Some(one_of(&Deadlock::ALL, Deadlock::name, deadlock)?),
        overflow: Some(one_of(&Overflow::ALL, Overflow::name, overflow)?),
        strategies: Some(one_of(&Strategies::ALL, Strategies::name, strategies)?),
    })
}

fn one_of<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, String> {
    let names = || all.iter().map(|value| name(*value));
    match names().position(|name| name == text) {
        Some(place) => Ok(all[place]),
        None => Err(format!("`{text}` is not one of {}", names().collect::<Vec<_>>().join(", "))),
    }
}
