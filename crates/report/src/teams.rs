//! The result of `masque teams`, as text and as data (schema `masque.teams/1`).

use std::io::{self, Write};

use masque_driver::{Team, Teams};
use schemars::JsonSchema;
use serde::Serialize;

use crate::check::write_json;
use crate::{DiagnosticReport, Text, TraceReport};

/// Name of the schema.
pub const TEAMS_SCHEMA: &str = "masque.teams/1";

/// The teams that were checked, and the chosen one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "masque.teams/1")]
pub struct TeamsReport {
    /// Name of the schema.
    #[schemars(extend("const" = TEAMS_SCHEMA))]
    pub schema: &'static str,
    /// The properties that were checked for each team.
    pub properties: Vec<String>,
    /// The teams that were checked; the candidates of the last role vary fastest.
    pub teams: Vec<TeamReport>,
    /// Index of the chosen team: the first for which all properties hold, or the best; null if there is none.
    pub chosen: Option<usize>,
    /// The limit that was hit before all teams were checked: `timeout`, `memory`, ..
    pub stopped: Option<String>,
    /// Warnings and notes about the files.
    pub diagnostics: Vec<DiagnosticReport>,
}

/// A team and its verdicts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TeamReport {
    /// For each role, the name of its candidate.
    pub candidates: Vec<String>,
    /// Total cost of the candidates.
    pub cost: u64,
    /// Whether all properties hold.
    pub works: bool,
    /// One verdict per property.
    pub verdicts: Vec<TeamVerdictReport>,
    /// If a property fails: the shortest explanation.
    pub weakness: Option<TeamFailureReport>,
}

/// A verdict and, if it is unknown, why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TeamVerdictReport {
    /// `holds`, `fails` or `unknown`.
    #[schemars(extend("enum" = ["holds", "fails", "unknown"]))]
    pub verdict: String,
    /// Why it is unknown.
    pub reason: Option<String>,
}

/// Why a team fails.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TeamFailureReport {
    /// A property that fails.
    pub property: String,
    /// A trace that shows it.
    pub evidence: Option<TraceReport>,
    /// The agents and rules that cause it.
    pub blame: Vec<String>,
}

impl From<&Team> for TeamReport {
    fn from(team: &Team) -> TeamReport {
        let verdict = |verdict: &masque_driver::Verdict| TeamVerdictReport {
            verdict: verdict.word().to_string(),
            reason: verdict.reason().map(str::to_string),
        };
        TeamReport {
            candidates: team.names.clone(),
            cost: team.cost,
            works: team.works(),
            verdicts: team.verdicts.iter().map(verdict).collect(),
            weakness: team.weakness.as_ref().map(|weakness| TeamFailureReport {
                property: weakness.property.clone(),
                evidence: weakness.trace.as_ref().map(TraceReport::from),
                blame: weakness.blame.clone(),
            }),
        }
    }
}

/// Writes the result as JSON.
pub fn teams_json(out: &mut dyn Write, found: &Teams) -> io::Result<()> {
    let report = |diagnostic| DiagnosticReport::new(&found.sources, diagnostic);
    write_json(
        out,
        &TeamsReport {
            schema: TEAMS_SCHEMA,
            properties: found.properties.clone(),
            teams: found.teams.iter().map(TeamReport::from).collect(),
            chosen: found.chosen,
            stopped: found.stopped.map(|stop| stop.why.to_string()),
            diagnostics: found.warnings.iter().map(report).collect(),
        },
    )
}

impl Text {
    /// Writes the teams that were checked, what fails and who is stuck at which rule, and the chosen team.
    pub fn teams(self, out: &mut dyn Write, found: &Teams) -> io::Result<()> {
        self.diagnostics(out, &found.sources, &found.warnings)?;
        for team in &found.teams {
            let word = if team.works() { "works" } else { "fails" };
            let is_open = !team.works() && team.weakness.is_none();
            writeln!(out, "{}  {}", if is_open { "unknown" } else { word }, team.names.join(", "))?;
            let verdicts = found.properties.iter().zip(&team.verdicts);
            for (property, verdict) in verdicts.filter(|(_, verdict)| verdict.word() != "holds") {
                writeln!(out, "  {verdict}: {property}")?;
            }
            for reason in team.weakness.iter().flat_map(|weakness| &weakness.blame) {
                writeln!(out, "  stuck: {reason}")?;
            }
        }
        if let Some(stop) = found.stopped {
            writeln!(out, "stopped: {}; later teams were not checked", stop.why)?;
        }
        match found.chosen.and_then(|index| found.teams.get(index)) {
            Some(team) if team.works() => writeln!(out, "chosen: {}", team.names.join(", ")),
            Some(team) => writeln!(out, "best: {}; no team satisfies all properties", team.names.join(", ")),
            None => writeln!(out, "no team satisfies all properties"),
        }
    }
}
