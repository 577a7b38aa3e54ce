//! Parameters and result of `teams`.

use std::collections::BTreeMap;

use masque_report::{DiagnosticReport, TeamReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::{Allowed, File, OptionValue, each_once};

/// Parameters of `teams`: an instance without some of its agents, and candidates for their roles.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TeamsParams")]
pub(crate) struct Teams {
    /// Protocol, the rest of the team, knowledge, rules and properties.
    pub files: Vec<File>,
    /// Properties, as in `.mu` files.
    #[serde(default)]
    pub properties: Vec<File>,
    /// Options that override those in the files.
    #[serde(default, deserialize_with = "each_once")]
    pub options: BTreeMap<String, OptionValue>,
    /// The roles to fill.
    pub roles: Vec<Role>,
    /// Properties that must hold for a team, the most important first; all properties if there are none.
    #[serde(default)]
    pub questions: Vec<Question>,
    /// Which teams are searched for.
    #[serde(default)]
    pub want: TeamSelection,
    /// Limits of the call.
    #[serde(default)]
    pub limits: Allowed,
}

/// A role and its candidates, in order of preference.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Role {
    /// Name of the role.
    pub name: String,
    /// The candidates.
    pub candidates: Vec<Candidate>,
}

/// A candidate for a role.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Candidate {
    /// Name of the candidate in the result.
    pub name: String,
    /// Its statements: the `agent` or `server` statement, its facts and its rules.
    pub statements: String,
    /// Cost of the candidate, for `best`.
    #[serde(default)]
    pub cost: u32,
}

/// A property or a formula.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(crate) enum Question {
    /// A property of the instance, by name.
    Property(String),
    /// A formula of the mu-calculus.
    Formula(String),
}

/// Which teams are searched for.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TeamSelection {
    /// The first team for which all properties hold; later ones are not checked.
    #[default]
    First,
    /// All teams.
    All,
    /// The team for which the most important properties hold; among several, the cheapest.
    Best,
}

/// Result of `teams`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TeamsResult")]
pub(crate) struct Found {
    /// The properties that were checked for each team.
    pub properties: Vec<String>,
    /// The teams that were checked; the candidates of the last role vary fastest.
    pub teams: Vec<TeamReport>,
    /// Index of the chosen team: the first for which all properties hold, or the best; null if there is none.
    pub chosen: Option<usize>,
    /// The limit that was hit before all teams were checked: `timeout`, `memory`, ..
    pub stopped: Option<String>,
    /// Warnings and notes about the texts, the candidates and the formulas.
    pub diagnostics: Vec<DiagnosticReport>,
}
