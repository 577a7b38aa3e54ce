//! What `teams` takes and gives.

use std::collections::BTreeMap;

use masque_report::{DiagnosticReport, TraceReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::{Allowed, File, OptionValue, each_once};

/// Parameters of `teams`: an instance without those who are wanted, and who could be.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TeamsParams")]
pub(crate) struct Teams {
    /// Protocol, the rest of the team, knowledge, rules and properties.
    pub files: Vec<File>,
    /// Properties, as in `.mu` files.
    #[serde(default)]
    pub properties: Vec<File>,
    /// Options that take the place of those in the files.
    #[serde(default, deserialize_with = "each_once")]
    pub options: BTreeMap<String, OptionValue>,
    /// The roles that are to be filled.
    pub roles: Vec<Role>,
    /// What a team must satisfy, the most important first; all properties if there is none.
    #[serde(default)]
    pub questions: Vec<Question>,
    /// Which teams are wanted.
    #[serde(default)]
    pub want: Want,
    /// What may be used.
    #[serde(default)]
    pub limits: Allowed,
}

/// A role and those who could play it, the favourites first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Role {
    /// What it is called.
    pub name: String,
    /// Who could play it.
    pub candidates: Vec<Candidate>,
}

/// Somebody who could play a role.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Candidate {
    /// What the answer calls it.
    pub name: String,
    /// What it brings: its `agent` or `server` statement, what it knows, its rules.
    pub statements: String,
    /// What it costs, for `best`.
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

/// Which teams are wanted.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Want {
    /// The first for which all properties hold; later ones are not looked at.
    #[default]
    First,
    /// All.
    All,
    /// The one for which the most important properties hold, then the cheapest.
    Best,
}

/// Result of `teams`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TeamsResult")]
pub(crate) struct Found {
    /// What was asked of each team.
    pub properties: Vec<String>,
    /// The teams that were looked at; the candidates of the last role change fastest.
    pub teams: Vec<Team>,
    /// The place of the wanted one among them: the first that works, or the best; null if there is
    /// none.
    pub chosen: Option<usize>,
    /// The limit that was hit before all teams were looked at: `timeout`, `memory`, ..
    pub stopped: Option<String>,
    /// Warnings and notes about the texts, the candidates and the formulas.
    pub diagnostics: Vec<DiagnosticReport>,
}

/// A team and what became of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Team {
    /// For each role, the name of its candidate.
    pub candidates: Vec<String>,
    /// What they cost together.
    pub cost: u64,
    /// Whether all properties hold.
    pub works: bool,
    /// For each property.
    pub verdicts: Vec<VerdictReport>,
    /// If a property fails: the shortest reason.
    pub weakness: Option<Weakness>,
}

/// A verdict and, if it is unknown, why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct VerdictReport {
    /// `holds`, `fails` or `unknown`.
    #[schemars(extend("enum" = ["holds", "fails", "unknown"]))]
    pub verdict: String,
    /// Why it is unknown.
    pub reason: Option<String>,
}

/// Why a team fails.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Weakness {
    /// A property that fails.
    pub property: String,
    /// A run that shows it.
    pub evidence: Option<TraceReport>,
    /// Which agent, which rule.
    pub blame: Vec<String>,
}
