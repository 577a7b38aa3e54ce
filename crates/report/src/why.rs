//! Why a property came out as it did: how widely it and its parts are true, and what shows it.
//! Schema `masque.why/1`.

use std::io::{self, Write};

use masque_driver::{At, Count, Extent, MOST_PARTS, Subformula, System, SystemDetails, Verdict, subformulas};
use schemars::JsonSchema;
use serde::Serialize;

use crate::check::write_json;
use crate::text::summary;
use crate::{Detail, PropertyReport, RunReport, Subject, Text, run_report};

/// The name and version of the format.
pub const WHY_SCHEMA: &str = "masque.why/1";

/// Of the parts of a property so many are shown as text; all are with `-v`.
const MOST_SHOWN: usize = 40;
/// A formula is cut to this many characters as text.
const LONG: usize = 100;
/// Parts that stand deeper are shown no further to the right.
const DEEP: usize = 16;

/// What `masque why --format json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "masque.why/1")]
pub struct WhyReport {
    /// The name of this format: `masque.why/1`.
    #[schemars(extend("const" = WHY_SCHEMA))]
    pub schema: &'static str,
    /// The file and its verdicts, as in `masque.check/1`; with evidence for those that hold, too.
    pub run: RunReport,
    /// For each of the run's properties, in its order, what it is made of.
    pub parts: Vec<PropertyParts>,
}

/// What a property is made of.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PropertyParts {
    /// The property's name.
    pub property: String,
    /// The formula itself, then the state formulas inside it, each before its operands.
    pub parts: Vec<PartReport>,
    /// Whether these are all; a very large formula is cut.
    pub complete: bool,
}

/// How widely a formula is true. The states that count are the reachable ones, and with fairness
/// constraints those of them that start a fair path.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartReport {
    /// The formula, fully bracketed.
    pub formula: String,
    /// How many of the formulas listed before it stand around it.
    pub depth: usize,
    /// Whether it stands further up already; then its operands are not listed again.
    pub repeated: bool,
    /// In how many states it is true, in decimal; null if no engine could tell within the limits.
    pub states: Option<String>,
    /// Of how many.
    pub of_states: Option<String>,
    /// In how many initial states it is true.
    pub initial: Option<String>,
    /// Of how many.
    pub of_initial: Option<String>,
    /// `all`, `some` or `none`: at which initial states it is true.
    pub initially: Option<String>,
}

/// The report on one file.
pub fn why_report(subject: Subject<'_>) -> WhyReport {
    let details = subject.run.filter(|run| !run.decisions.is_empty()).and_then(|run| run.system_details());
    let parts = match (subject.loaded.system(), details) {
        (Some(system), Some(details)) => {
            let of = |property: &masque_driver::Property| {
                let (parts, complete) = subformulas(&system.formulas, property.formula, MOST_PARTS);
                let parts = parts.into_iter().map(|part| part_report(system, details, part)).collect();
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
    /// The report of `masque why`: for each property its parts, the reasons in words, and the runs
    /// that they speak of.
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
        let most = if self.detail == Detail::Verbose { usize::MAX } else { MOST_SHOWN };
        let rows: Vec<(String, &str, String)> = parts.iter().take(most).map(row).collect();
        let width = rows.iter().map(|(states, ..)| states.len()).max().unwrap_or_default().max(7);
        writeln!(out, "  {:>width$}  initially", "true in")?;
        for (states, initially, formula) in rows {
            writeln!(out, "  {states:>width$}  {initially:9}  {formula}")?;
        }
        match parts.len().saturating_sub(most) {
            0 if *complete => Ok(()),
            0 => writeln!(out, "  and more parts"),
            n if *complete => writeln!(out, "  and {n} more parts (-v shows them)"),
            n => writeln!(out, "  and more than {n} more parts (-v shows some)"),
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
            _ => Ok(()),
        }
    }
}

/// A line of the table: in how many states, at which initial ones, and the formula.
fn row(part: &PartReport) -> (String, &str, String) {
    let states = match (&part.states, &part.of_states) {
        (Some(states), Some(of_states)) => format!("{states} of {of_states}"),
        _ => "unknown".to_string(),
    };
    let indent = "  ".repeat(part.depth.min(DEEP));
    let again = if part.repeated { "  (as above)" } else { "" };
    (
        states,
        part.initially.as_deref().unwrap_or("unknown"),
        format!("{indent}{}{again}", short(&part.formula)),
    )
}

/// The beginning of a formula.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(LONG) {
        None => text.to_string(),
        Some((end, _)) => format!("{} ..", &text[..end]),
    }
}
