//! The report of `masque why`: the number of states at which a property and each of its parts are true,
//! and the evidence. Schema `masque.why/1`.

use std::io::{self, Write};

use masque_driver::{
    At, Count, Extent, MAX_REPORTED_SUBFORMULAS, Subformula, System, SystemDetails, Verdict, subformulas,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::check::write_json;
use crate::summary::summary;
use crate::wording::shortened;
use crate::{Detail, PropertyReport, RunReport, Subject, Text, run_report};

/// The name and version of the format.
pub const WHY_SCHEMA: &str = "masque.why/1";

/// Maximum number of parts of a property in the text report without `-v`.
const MAX_SHOWN_PARTS: usize = 40;
/// Maximum number of characters of a formula in the text report.
const MAX_FORMULA_CHARS: usize = 100;
/// Maximum number of levels by which a part is indented.
const MAX_INDENT: usize = 16;

/// What `masque why --format json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "masque.why/1")]
pub struct WhyReport {
    /// The name of this format: `masque.why/1`.
    #[schemars(extend("const" = WHY_SCHEMA))]
    pub schema: &'static str,
    /// The file and its verdicts, as in `masque.check/1`, with evidence also for properties that hold.
    pub run: RunReport,
    /// Parts of each property, in the order of the properties.
    pub parts: Vec<PropertyParts>,
}

/// The parts of a property.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PropertyParts {
    /// Name of the property.
    pub property: String,
    /// The formula itself, then the state formulas inside it, each before its operands.
    pub parts: Vec<PartReport>,
    /// Whether these are all parts; the list of a very large formula is cut.
    pub complete: bool,
}

/// The number of states at which a formula is true. Only reachable states count, and with fairness
/// constraints only those at which a fair path starts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartReport {
    /// Formula, fully parenthesized.
    pub formula: String,
    /// The formula as written in the file, where the property has it.
    pub text: String,
    /// Number of listed formulas that contain this one.
    pub depth: usize,
    /// Whether the same formula is listed before; then its operands are not listed again.
    pub repeated: bool,
    /// Number of states at which it is true, in decimal; null if no engine could compute it within the
    /// limits.
    pub states: Option<String>,
    /// Number of all states.
    pub of_states: Option<String>,
    /// Number of initial states at which it is true.
    pub initial: Option<String>,
    /// Number of all initial states.
    pub of_initial: Option<String>,
    /// `all`, `some` or `none`: at which initial states it is true.
    pub initially: Option<String>,
}

/// Builds the report on one file.
pub fn why_report(subject: Subject<'_>) -> WhyReport {
    let details = subject.run.filter(|run| !run.decisions.is_empty()).and_then(|run| run.system_details());
    let parts = match (subject.loaded.system(), details) {
        (Some(system), Some(details)) => {
            let of = |property: &masque_driver::Property| {
                let (parts, complete) =
                    subformulas(&system.formulas, property.formula, MAX_REPORTED_SUBFORMULAS);
                let written = system.written_parts(property.formula);
                let report = |part: Subformula| PartReport {
                    text: system.part_text(&written, part.formula),
                    ..part_report(system, details, part)
                };
                let parts = parts.into_iter().map(report).collect();
                PropertyParts { property: property.title.clone(), parts, complete }
            };
            system.properties.iter().map(of).collect()
        }
        _ => Vec::new(),
    };
    WhyReport { schema: WHY_SCHEMA, run: run_report(subject, false), parts }
}

fn part_report(system: &System, details: &SystemDetails, part: Subformula) -> PartReport {
    let extent = details.extents.get(&part.formula);
    let number = |of: fn(&Extent) -> &Count| extent.map(|extent| of(extent).to_string());
    PartReport {
        formula: system.formula_text(part.formula),
        text: String::new(),
        depth: part.depth,
        repeated: part.is_repeated,
        states: number(|extent| &extent.states),
        of_states: number(|extent| &extent.of_states),
        initial: number(|extent| &extent.initial),
        of_initial: number(|extent| &extent.of_initial),
        initially: extent.map(|extent| extent.initially().word().to_string()),
    }
}

/// Writes the report as one JSON object.
pub fn why_json(out: &mut dyn Write, report: &WhyReport) -> io::Result<()> {
    write_json(out, report)
}

impl Text {
    /// Writes the report of `masque why`: for each property its parts and the evidence.
    pub fn why(self, out: &mut dyn Write, report: &WhyReport, subject: Subject<'_>) -> io::Result<()> {
        for (position, property) in report.run.properties.iter().enumerate() {
            self.properties(out, std::slice::from_ref(property))?;
            if self.detail > Detail::Quiet {
                report.parts.get(position).map_or(Ok(()), |parts| self.parts(out, parts))?;
                self.reasons(out, property, position, subject)?;
                writeln!(out)?;
            }
        }
        self.all_diagnostics(out, subject)?;
        if self.detail > Detail::Quiet {
            writeln!(out, "{}: {}", subject.loaded.name(), summary(&report.run, subject.loaded))?;
        }
        Ok(())
    }

    fn parts(
        self,
        out: &mut dyn Write,
        PropertyParts { parts, complete, .. }: &PropertyParts,
    ) -> io::Result<()> {
        let limit = if self.full || self.detail == Detail::Verbose { usize::MAX } else { MAX_SHOWN_PARTS };
        let is_parsed = self.detail == Detail::Verbose;
        let rows: Vec<(String, &str, String)> =
            parts.iter().take(limit).map(|part| row(part, is_parsed)).collect();
        let width = rows.iter().map(|(states, ..)| states.len()).max().unwrap_or_default().max(7);
        writeln!(out, "  {:>width$}  initially", "true in")?;
        for (states, initially, formula) in rows {
            writeln!(out, "  {states:>width$}  {initially:9}  {formula}")?;
        }
        match parts.len().saturating_sub(limit) {
            0 if *complete => Ok(()),
            0 => writeln!(out, "  and more parts"),
            n if *complete => writeln!(out, "  and {n} more parts (--full shows them)"),
            n => writeln!(out, "  and more than {n} more parts (--full shows some)"),
        }
    }

    fn reasons(
        self,
        out: &mut dyn Write,
        property: &PropertyReport,
        position: usize,
        Subject { loaded, run }: Subject<'_>,
    ) -> io::Result<()> {
        match run.and_then(|run| run.decisions.get(position)) {
            Some(decision) if decision.evidence.is_some() => {
                self.property_evidence(out, loaded.model.as_ref(), &property.title, decision)
            }
            _ if property.verdict == Verdict::Holds => {
                let states = if property.at == At::Initial { "initial states" } else { "states" };
                writeln!(out, "\n{} holds: it is true at all {states}", property.title)
            }
            Some(decision) if decision.verdict == Verdict::Fails && decision.withheld.is_none() => {
                let state = if property.at == At::Initial { "an initial state" } else { "a state" };
                writeln!(out, "\n{} fails: it is false at {state}, and no step shows why", property.title)
            }
            _ => Ok(()),
        }
    }
}

/// A row of the table: the number of states, the initial states, and the formula, as parsed or as written.
fn row(part: &PartReport, is_parsed: bool) -> (String, &str, String) {
    let states = match (&part.states, &part.of_states) {
        (Some(states), Some(of_states)) => format!("{states} of {of_states}"),
        _ => "unknown".to_string(),
    };
    let formula = if is_parsed { &part.formula } else { &part.text };
    let indent = "  ".repeat(part.depth.min(MAX_INDENT));
    let again = if part.repeated { "  (as above)" } else { "" };
    (
        states,
        part.initially.as_deref().unwrap_or("unknown"),
        format!("{indent}{}{again}", shortened(formula.clone(), MAX_FORMULA_CHARS)),
    )
}
