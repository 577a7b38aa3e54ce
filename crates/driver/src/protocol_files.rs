//! The files of a protocol for the commands that work on protocols only: `agent`, `state` and `teams`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use masque_lcc::{RefusedTexts, RefusedTuple, Setup, Text};
use masque_text::{Diagnostic, Sources};
use masque_verdict::{Stop, Why};

use crate::check::Limits;
use crate::file;
use crate::imports::Disk;
use crate::language::{Language, is_properties, name_language};
use crate::option_table::wrong_language;
use crate::reading::{Unread, read_text_within};

/// Why files of a protocol cannot be used: errors in them, or a limit that was exceeded before all were read.
#[derive(Debug)]
pub struct RefusedFiles {
    /// The texts that the diagnostics refer to.
    pub sources: Sources,
    /// Errors, and warnings found before them.
    pub diagnostics: Vec<Diagnostic>,
    /// The limit, if one was exceeded.
    pub stopped: Option<Why>,
}

impl RefusedFiles {
    /// The texts have errors. If they are in another language, that is the only error.
    fn new(sources: Sources, errors: Vec<Diagnostic>, stopped: Option<Stop>) -> RefusedFiles {
        let diagnostics = name_language(&sources, errors, Language::Lcc);
        RefusedFiles { sources, diagnostics, stopped: stopped.map(|stop| stop.why) }
    }

    fn nowhere(diagnostic: Option<Diagnostic>, stopped: Option<Why>) -> Box<RefusedFiles> {
        let diagnostics = diagnostic.into_iter().collect();
        Box::new(RefusedFiles { sources: Sources::default(), diagnostics, stopped })
    }
}

impl From<Box<RefusedTexts>> for Box<RefusedFiles> {
    fn from(refused: Box<RefusedTexts>) -> Box<RefusedFiles> {
        let RefusedTexts { sources, diagnostics, stopped } = *refused;
        RefusedFiles::new(sources, diagnostics, stopped).into()
    }
}

impl From<RefusedTuple> for RefusedFiles {
    fn from(refused: RefusedTuple) -> RefusedFiles {
        let RefusedTuple { sources, diagnostics, stopped } = refused;
        RefusedFiles::new(sources, diagnostics, stopped)
    }
}

/// Reads the files of a protocol for a command. Files whose names end in `.mu`, and `property_files`, hold properties.
///
/// # Errors
///
/// If a file belongs to another language or cannot be read, or if a limit is exceeded.
pub fn protocol_setup(
    command: &str,
    files: &[PathBuf],
    property_files: &[PathBuf],
    options: &[(String, String)],
    limits: &Limits,
) -> Result<Setup, Box<RefusedFiles>> {
    let is_foreign = |path: &PathBuf| Language::of_path(path).is_some_and(|known| known != Language::Lcc);
    if files.iter().any(is_foreign) {
        let help = "`masque check`, `why`, `simulate` and `export` are commands for all languages";
        return Err(RefusedFiles::nowhere(Some(wrong_language(command, &[Language::Lcc], help)), None));
    }
    let (properties, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.iter().partition(|path| is_properties(path));
    let all = |paths: Vec<&PathBuf>| {
        paths.into_iter().map(|path| read_text(path, limits)).collect::<Result<_, _>>()
    };
    Ok(Setup {
        files: all(files)?,
        properties: all(properties.into_iter().chain(property_files).collect())?,
        options: options.to_vec(),
        library: Some(Arc::new(Disk::default())),
        ..Setup::default()
    })
}

/// Reads a file as a text with its path as its name.
pub(crate) fn read_text(path: &Path, limits: &Limits) -> Result<Text, Box<RefusedFiles>> {
    let name = path.display().to_string();
    match read_text_within(path, file::MAX_BYTES, limits) {
        Ok(text) => Ok(Text::new(name, text)),
        Err(Unread::Refused(diagnostic)) => Err(RefusedFiles::nowhere(Some(*diagnostic), None)),
        Err(Unread::Stopped(why)) => Err(RefusedFiles::nowhere(None, Some(why))),
    }
}
