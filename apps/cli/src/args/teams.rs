//! Arguments of `teams`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use masque_driver::{CandidateFiles, TeamSelection};

use crate::values::{bytes, duration, setting, word};

/// Arguments of `teams`.
#[derive(Clone, Debug, Args)]
#[command(after_help = TEAMS_EXAMPLES)]
pub struct TeamsArgs {
    /// The LCC files of the instance without the candidates: protocol, other agents, rules (.lcc, .pol) and
    /// properties (.mu).
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// A role to fill, and the files of its candidates, the preferred one first. `FILE:COST` gives a candidate
    /// a cost. Repeat the option for further roles.
    #[arg(long = "role", value_name = "NAME=FILE,..", required = true, value_parser = role, help_heading = "Teams")]
    pub roles: Vec<CandidateFiles>,
    /// Which teams are searched for.
    #[arg(long, value_name = "WHICH", value_parser = word(WANT), default_value = "first", help_heading = "Teams")]
    pub want: TeamSelection,
    /// Require a property of the files by its name, the most important first [default: all properties].
    #[arg(long = "only", value_name = "NAME", help_heading = "Properties")]
    pub only: Vec<String>,
    /// Require an additional formula of the mu-calculus; properties of the files only if --only names them.
    #[arg(long = "property", value_name = "FORMULA", help_heading = "Properties")]
    pub properties: Vec<String>,
    /// File with further properties, with any extension.
    #[arg(long = "properties", value_name = "FILE", help_heading = "Properties")]
    pub property_files: Vec<PathBuf>,
    /// Set an option; this overrides the option in the files.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = setting, help_heading = "Model")]
    pub options: Vec<(String, String)>,
    /// Time limit, such as 500ms, 1s or 2m.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,
    /// Memory limit, with a unit, such as 100M or 2G.
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    pub memory: Option<u64>,
    /// Format of the output.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: TeamsFormat,
}

/// Formats of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TeamsFormat {
    /// For reading.
    Text,
    /// One JSON object, `masque.teams/1`.
    Json,
}

const WANT: super::options::Words<TeamSelection> = &[
    ("first", TeamSelection::First, "The first team for which all properties hold"),
    ("all", TeamSelection::All, "All teams; the first that works is chosen"),
    ("best", TeamSelection::Best, "The team with the best verdicts, then the cheapest"),
];

const TEAMS_EXAMPLES: &str = "\
Examples:
  masque teams shop.lcc --role seller=sam.lcc,sue.lcc
  masque teams shop.lcc rules.pol --properties wishes.mu --role seller=sam.lcc:5,sue.lcc:3 --want best
  masque teams shop.lcc --role seller=sam.lcc --role bank=visa.lcc,amex.lcc --property 'AF final'

Exit codes: 0 a team was found for which all properties hold, 1 there is none, 2 bad input,
3 none was found, and some verdicts are unknown or some teams were not checked.";

/// Reads `NAME=FILE,..`, where a file may be followed by `:COST`.
fn role(text: &str) -> Result<CandidateFiles, String> {
    let Some((name, files)) =
        text.split_once('=').filter(|(name, files)| !name.is_empty() && !files.is_empty())
    else {
        return Err("expected NAME=FILE,.. such as seller=sam.lcc,sue.lcc".to_string());
    };
    let mut candidates = Vec::new();
    for file in files.split(',') {
        let (path, cost) = match file.rsplit_once(':') {
            Some((path, cost)) if !cost.is_empty() && cost.bytes().all(|byte| byte.is_ascii_digit()) => (
                path,
                cost.parse().map_err(|_| format!("the cost {cost} is too large: at most {}", u32::MAX))?,
            ),
            _ => (file, 0),
        };
        if path.is_empty() {
            return Err("a file of a candidate is missing".to_string());
        }
        candidates.push((PathBuf::from(path), cost));
    }
    Ok(CandidateFiles { name: name.to_string(), candidates })
}
