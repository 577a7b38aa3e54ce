//! Reading what a certificate is about: the model, with its imports, and the formula.

use std::fs;
use std::path::{Path, PathBuf};

use masque_certificate::{Certificate, digest};
use masque_ispl::{Define, Options};
use masque_model::{At, Deadlock, Overflow, Strategies, System};
use masque_text::{Diagnostic, FILE_NOT_FOUND, Library, Severity, Sources, render};

/// Maximum size of a file of a model, in bytes.
const MAX_MODEL_BYTES: u64 = 256 << 20;

/// A model that was read for a certificate, with the formula as its last property.
pub(crate) struct Read {
    /// The system.
    pub(crate) system: System,
    /// Title of the property of the model that has this formula, if one has.
    pub(crate) title: Option<String>,
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
pub(crate) fn read_file(path: &Path, max_bytes: u64) -> Result<String, String> {
    let name = path.display();
    let metadata = fs::metadata(path).map_err(|error| format!("cannot read `{name}`: {error}"))?;
    if !metadata.is_file() || metadata.len() > max_bytes {
        return Err(format!("`{name}` is not a file of at most {max_bytes} bytes"));
    }
    fs::read_to_string(path).map_err(|error| format!("cannot read `{name}`: {error}"))
}

/// Reads the model of a certificate from a file, with the options and the formula of the certificate. Fails if the
/// texts are not those for which the certificate was written.
pub(crate) fn read_model(path: &Path, certificate: &Certificate) -> Result<Read, String> {
    let mut sources = Sources::default();
    let text = read_file(path, MAX_MODEL_BYTES)?;
    let too_large = |_| "the model is too large".to_string();
    let file = sources.add(path.display().to_string(), text).map_err(too_large)?;
    let mut model = masque_ispl::parse_model(&mut sources, file, &Disk);
    let found = digest(model.files.iter().map(|file| sources.text(*file)));
    if found != certificate.model {
        return Err(format!("the certificate was written for another model than `{}`", path.display()));
    }
    let property = sources.add("<formula>", certificate.formula.as_str()).map_err(too_large)?;
    let mut diagnostics = std::mem::take(&mut model.diagnostics);
    diagnostics.extend(masque_ispl::parse_property(&sources, property, &mut model.tree));
    let options = options(certificate)?;
    let mut system = None;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let checked = masque_ispl::check(&sources, &mut model.tree, &options);
        diagnostics.extend(checked.diagnostics);
        system = checked.system;
    }
    let Some(system) = system else {
        let error = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        return Err(
            error.map_or("the model is not valid".to_string(), |error| render(&sources, error, false))
        );
    };
    let title = title(&system, certificate);
    Ok(Read { system, title })
}

/// Returns the title of the first property of the model that has the formula of the certificate, which is the
/// last property.
fn title(system: &System, certificate: &Certificate) -> Option<String> {
    let (last, others) = system.properties.split_last()?;
    let same = |property: &&masque_model::Property| property.formula == last.formula;
    let named = others.iter().filter(same).find(|property| property.title == certificate.title);
    named.or(others.iter().find(same)).map(|property| property.title.clone())
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
        at: Some(one_of([At::Initial, At::Reachable], At::name, at)?),
        deadlock: Some(one_of(
            [Deadlock::Finite, Deadlock::Stutter, Deadlock::Error],
            Deadlock::name,
            deadlock,
        )?),
        overflow: Some(one_of([Overflow::Drop, Overflow::Error], Overflow::name, overflow)?),
        strategies: Some(one_of(
            [
                Strategies::Perfect,
                Strategies::Uniform,
                Strategies::UniformJoint,
                Strategies::UniformObjective,
            ],
            Strategies::name,
            strategies,
        )?),
    })
}

fn one_of<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    text: &str,
) -> Result<T, String> {
    let found = all.into_iter().find(|value| name(*value) == text);
    found.ok_or_else(|| format!("`{text}` is not one of {}", all.map(name).join(", ")))
}
