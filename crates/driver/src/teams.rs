//! Finds teams among candidates that files describe: `masque teams`. [ORW06 §2]

use std::path::PathBuf;

use masque_lcc::{Candidate, Question, Role, TeamSelection, Teams};

use crate::check::Limits;
use crate::protocol_files::{RefusedFiles, protocol_setup, read_text};

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

/// Reads the files and searches for teams. The name of a candidate is that of its file, without the extension.
///
/// # Errors
///
/// If a file cannot be read or has errors, or if a limit is exceeded before the first team is known.
pub fn find_teams(search: &TeamSearch, limits: &Limits) -> Result<Teams, Box<RefusedFiles>> {
    let setup = protocol_setup("teams", &search.files, &search.property_files, &search.options, limits)?;
    let mut roles = Vec::new();
    for role in &search.roles {
        let mut candidates = Vec::new();
        for (path, cost) in &role.candidates {
            let statements = read_text(path, limits)?.text;
            let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            candidates.push(Candidate { name, statements, cost: *cost });
        }
        roles.push(Role { name: role.name.clone(), candidates });
    }
    let budget = limits.cancellable_budget();
    let request =
        masque_lcc::Request { setup, roles, questions: search.questions.clone(), want: search.want };
    Ok(masque_lcc::teams(&request, &budget)?)
}
