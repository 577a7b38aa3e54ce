//! Formatting of files in the standard layout.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use masque_text::{Diagnostic, ReadLimits, Sources};

use crate::check::Limits;
use crate::language::name_language;
use crate::option_table::wrong_language;
use crate::{Language, Why, file, is_properties, reading};

/// The result of formatting a file.
#[derive(Debug)]
pub struct Formatted {
    /// The text that diagnostics point into.
    pub sources: Sources,
    /// The file's name as the user gave it.
    pub name: String,
    /// The formatted text, or the errors that prevent formatting.
    pub text: Result<String, Vec<Diagnostic>>,
    /// Whether the formatted text differs from the text of the file.
    pub is_changed: bool,
    /// Why formatting stopped early, if it did.
    pub stopped: Option<Why>,
}

/// Formats a file without writing to it. The path `-` is standard input. The language follows from the file's name,
/// or else from the text, as when the file is checked. If a limit is exceeded, or if the user
/// interrupts, the only diagnostic is the warning `load/stopped`.
pub fn format_file(path: &Path, limits: &Limits) -> Formatted {
    let for_work = path.to_path_buf();
    reading::within(limits, move |reading| format_within(&for_work, reading)).unwrap_or_else(|why| {
        Formatted {
            sources: Sources::default(),
            name: file::display_name(path),
            text: Err(vec![reading::stopped(why)]),
            is_changed: false,
            stopped: Some(why),
        }
    })
}

fn format_within(path: &Path, limits: ReadLimits) -> Formatted {
    let mut sources = Sources::with_limits(limits);
    let name = file::display_name(path);
    let result = file::read_within(path, sources.limits())
        .and_then(|text| sources.add(name.as_str(), text).map_err(|_| file::too_large(&name).into()))
        .map_err(|diagnostic| vec![*diagnostic])
        .and_then(|file| {
            let language = Language::of_path(path).or_else(|| Language::of_text(sources.text(file)));
            let language = language.unwrap_or(Language::Ispl);
            let format = match language {
                Language::Ispl => masque_ispl::format,
                Language::Bdi => masque_bdi::format,
                Language::Lcc if is_properties(path) => masque_mu::format,
                Language::Lcc => masque_lcc::format,
                Language::Aut => {
                    let languages = [Language::Ispl, Language::Bdi, Language::Lcc];
                    let help = "AUT files have a fixed layout: one transition per line";
                    return Err(vec![wrong_language("fmt", &languages, help)]);
                }
            };
            match format(&sources, file) {
                Ok(text) => Ok((file, text)),
                Err(errors) => Err(name_language(&sources, errors, language)),
            }
        });
    let is_changed = matches!(&result, Ok((file, text)) if sources.text(*file) != text);
    Formatted { text: result.map(|(_, text)| text), sources, name, is_changed, stopped: None }
}

/// Replaces the text of a file atomically: a reader sees either the old text or the new one, and a failure
/// leaves the old one. Symbolic links and permissions are kept.
pub fn replace_file(path: &Path, text: &str) -> Result<(), Box<Diagnostic>> {
    replace(path, text).map_err(|e| {
        let message = format!("`{}` cannot be written: {}", path.display(), file::reason(&e));
        file::error("file/unwritable", message).into()
    })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let permissions = fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let mut temporary = tempfile::Builder::new().prefix(".masque-").tempfile_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().set_permissions(permissions)?;
    temporary.as_file().sync_all()?;
    temporary.persist(&path)?;
    Ok(())
}
