//! Finds teams among candidates that files describe: `masque teams`. [ORW06 §2]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use masque_lcc::{Candidate, Question, RefusedTexts, Role, Setup, TeamSelection, Teams, Text};
use masque_text::{Diagnostic, Sources};
use masque_verdict::Why;

use crate::check::Limits;
use crate::file;
use crate::imports::Disk;
use crate::language::is_properties;
use crate::reading::{Unread, read_text_within};

/// A search for teams among candidates.
#[derive(Clone, Debug, Default)]
pub struct TeamSearch {
    /// The files of the instance without its candidates: protocol, rules, properties.
    pub files: Vec<PathBuf>,
    /// Further files of properties.
    pub property_files: Vec<PathBuf>,
    /// Options by name and value.
    pub options: Vec<(String, String)>,
    /// The roles to fill.
    pub roles: Vec<CandidateFiles>,
    /// What a team must satisfy, the most important first: names of properties, or other formulas. Empty means all
    /// properties of the files.
    pub questions: Vec<Question>,
    /// Which teams are searched for.
    pub want: TeamSelection,
}

/// A role and the files of its candidates, each with the cost of the candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CandidateFiles {
    /// Name of the role in messages.
    pub name: String,
    /// The files, in the order in which they are tried.
    pub candidates: Vec<(PathBuf, u32)>,
}

/// Why there is no result: errors in the texts, or a limit that was exceeded before all of them were read.
#[derive(Debug)]
pub struct NoTeams {
    /// The texts that the diagnostics refer to.
    pub sources: Sources,
    /// Errors, and warnings found before them.
    pub diagnostics: Vec<Diagnostic>,
    /// The limit, if one was exceeded.
    pub stopped: Option<Why>,
}

/// Reads the files and searches for teams. The name of a candidate is that of its file, without the extension.
///
/// # Errors
///
/// If a file cannot be read or has errors, or if a limit is exceeded before the first team is known.
pub fn find_teams(search: &TeamSearch, limits: &Limits) -> Result<Teams, Box<NoTeams>> {
    let (properties, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        search.files.iter().partition(|path| is_properties(path));
    let mut roles = Vec::new();
    for role in &search.roles {
        let mut candidates = Vec::new();
        for (path, cost) in &role.candidates {
            let statements = read(path, limits)?.text;
            let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            candidates.push(Candidate { name, statements, cost: *cost });
        }
        roles.push(Role { name: role.name.clone(), candidates });
    }
    let all =
        |paths: Vec<&PathBuf>| paths.into_iter().map(|path| read(path, limits)).collect::<Result<_, _>>();
    let setup = Setup {
        files: all(files)?,
        properties: all(properties.into_iter().chain(&search.property_files).collect())?,
        options: search.options.clone(),
        library: Some(Arc::new(Disk::default())),
        ..Setup::default()
    };
    let budget = limits.budget().with_cancel(Arc::clone(&limits.interrupt));
    let request =
        masque_lcc::Request { setup, roles, questions: search.questions.clone(), want: search.want };
    masque_lcc::teams(&request, &budget).map_err(|refused| refused_texts(*refused).into())
}

/// Reads a file as a text with its path as its name.
fn read(path: &Path, limits: &Limits) -> Result<Text, Box<NoTeams>> {
    let name = path.display().to_string();
    match read_text_within(path, file::MAX_BYTES, limits) {
        Ok(text) => Ok(Text::new(name, text)),
        Err(Unread::Refused(diagnostic)) => {
            let no_team =
                NoTeams { sources: Sources::default(), diagnostics: vec![*diagnostic], stopped: None };
            Err(no_team.into())
        }
        Err(Unread::Stopped(why)) => {
            let (sources, diagnostics) = (Sources::default(), Vec::new());
            Err(NoTeams { sources, diagnostics, stopped: Some(why) }.into())
        }
    }
}

/// Returns the diagnostics of texts that were refused.
fn refused_texts(refused: RefusedTexts) -> NoTeams {
    let RefusedTexts { sources, diagnostics, stopped, .. } = refused;
    NoTeams { sources, diagnostics, stopped: stopped.map(|stop| stop.why) }
}
