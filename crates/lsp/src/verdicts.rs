//! Verdicts of the last check of each model, and how editors show them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gen_lsp_types as lsp;
use serde_json::Value;

use crate::analysis::{PropertyPlace, SOURCE};
use crate::findings::Finding;

/// Code of a diagnostic that shows a verdict.
pub(crate) const VERDICT_CODE: &str = "verdict";
/// Maximum number of characters of a formula in a message.
const MAX_FORMULA_CHARS: usize = 80;

/// The verdict on one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PropertyVerdict {
    /// Name, or position from 1.
    pub(crate) name: String,
    /// `holds`, `fails` or `unknown`.
    pub(crate) verdict: String,
    /// Reason for `unknown`.
    pub(crate) reason: Option<String>,
    /// Formula as written, on one line.
    pub(crate) text: String,
    /// Warnings about the verdict.
    pub(crate) remarks: Vec<String>,
    /// At how many states it is true, such as `12 of 40 states`.
    pub(crate) states: Option<String>,
}

impl PropertyVerdict {
    /// Reads the verdict of a report of `masque check --format json`.
    fn read(report: &Value) -> Option<PropertyVerdict> {
        let text = |name: &str| report.get(name).and_then(Value::as_str).map(str::to_string);
        let remarks = report.get("remarks").and_then(Value::as_array).into_iter().flatten();
        let count = |name: &str| report.get(name).and_then(count);
        let states = count("satisfied").zip(count("of")).map(|(some, all)| format!("{some} of {all} states"));
        Some(PropertyVerdict {
            name: text("name")?,
            verdict: text("verdict")?,
            reason: text("reason"),
            text: text("text").unwrap_or_default(),
            remarks: remarks.filter_map(Value::as_str).map(str::to_string).collect(),
            states,
        })
    }

    /// The verdict in words, such as `unknown: timeout`.
    pub(crate) fn words(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.verdict),
            None => self.verdict.clone(),
        }
    }

    /// The formula, shortened.
    pub(crate) fn short_text(&self) -> String {
        match self.text.char_indices().nth(MAX_FORMULA_CHARS) {
            Some((end, _)) => format!("{}..", &self.text[..end]),
            None => self.text.clone(),
        }
    }
}

/// A count of a report: a number as text, or an object with it.
fn count(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(fields) => fields
            .get("count")
            .or_else(|| fields.get("exact"))
            .or_else(|| fields.get("about"))
            .and_then(count),
        _ => None,
    }
}

/// The verdicts on the properties of a report, and its errors.
pub(crate) fn read_report(report: &Value) -> Option<(Vec<PropertyVerdict>, Vec<String>)> {
    let run = report.get("run").or_else(|| report.get("runs")?.get(0))?;
    let properties = run.get("properties")?.as_array()?.iter().filter_map(PropertyVerdict::read).collect();
    let is_error = |diagnostic: &&Value| diagnostic.get("severity").and_then(Value::as_str) == Some("error");
    let errors = run.get("diagnostics").and_then(Value::as_array).into_iter().flatten().filter(is_error);
    let message = |diagnostic: &Value| Some(diagnostic.get("message")?.as_str()?.to_string());
    Some((properties, errors.filter_map(message).collect()))
}

/// At how many states each property is true, from a report of `masque why --format json`.
pub(crate) fn read_extents(report: &Value) -> Vec<Option<String>> {
    let states = |property: &Value| {
        let whole = property.get("parts")?.get(0)?;
        let number = |name: &str| whole.get(name).and_then(Value::as_str);
        Some(format!("{} of {} states", number("states")?, number("of_states")?))
    };
    report.get("parts").and_then(Value::as_array).into_iter().flatten().map(states).collect()
}

/// The verdicts on a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdicts {
    /// Verdicts by the positions of the properties, from 1.
    pub(crate) by_position: BTreeMap<usize, PropertyVerdict>,
    /// Whether the texts are still those that were checked.
    pub(crate) is_current: bool,
    /// Messages about the behaviour, from the last check.
    pub(crate) findings: Vec<Finding>,
    /// Page with the evidence of the last check.
    pub(crate) page: Option<PathBuf>,
}

impl Verdicts {
    /// The verdicts on the properties of a place.
    pub(crate) fn at<'v>(&'v self, place: &'v PropertyPlace) -> impl Iterator<Item = &'v PropertyVerdict> {
        place.positions.iter().filter_map(|position| self.by_position.get(position))
    }

    /// One line about the properties of a place: `holds`, or `holds for 2 of 3`.
    pub(crate) fn line(&self, place: &PropertyPlace) -> Option<String> {
        let verdicts: Vec<&PropertyVerdict> = self.at(place).collect();
        let first = verdicts.first()?;
        let n_holding = verdicts.iter().filter(|verdict| verdict.verdict == "holds").count();
        let line = if verdicts.iter().all(|verdict| verdict.words() == first.words()) {
            first.words()
        } else {
            format!("holds for {n_holding} of {}", verdicts.len())
        };
        Some(if self.is_current { line } else { format!("{line} before the last change") })
    }

    /// The inlay hint behind a property.
    pub(crate) fn hint(&self, place: &PropertyPlace) -> Option<lsp::InlayHint> {
        let tooltips: Vec<String> = self.at(place).map(tooltip).collect();
        Some(lsp::InlayHint {
            position: place.range.end,
            label: lsp::Label::String(self.line(place)?),
            tooltip: Some(lsp::Tooltip::String(tooltips.join("\n"))),
            padding_left: Some(true),
            kind: None,
            text_edits: None,
            padding_right: None,
            data: None,
        })
    }

    /// The verdict as a diagnostic, for clients without inlay hints.
    pub(crate) fn diagnostic(&self, place: &PropertyPlace) -> Option<lsp::Diagnostic> {
        let line = self.line(place)?;
        Some(lsp::Diagnostic {
            range: place.range,
            severity: Some(lsp::DiagnosticSeverity::Information),
            code: Some(lsp::Code::String(VERDICT_CODE.to_string())),
            source: Some(SOURCE.to_string()),
            message: lsp::Message::String(line),
            ..lsp::Diagnostic::default()
        })
    }

    /// Lines about a property for hover.
    pub(crate) fn hover(&self, place: &PropertyPlace) -> Option<String> {
        let all: Vec<String> = self.at(place).map(tooltip).collect();
        let outdated = if self.is_current { "" } else { "\n\nThe text has changed since the check." };
        (!all.is_empty()).then(|| format!("{}{outdated}", all.join("\n\n")))
    }

    /// One line about a whole check.
    pub(crate) fn summary(checked: &[&PropertyVerdict]) -> String {
        let with = |word: &str| checked.iter().filter(|verdict| verdict.verdict == word).collect::<Vec<_>>();
        let n_holding = with("holds").len();
        let noun = if checked.len() == 1 { "property holds" } else { "properties hold" };
        let mut line = format!("{n_holding} of {} {noun}", checked.len());
        for word in ["fails", "unknown"] {
            let texts: Vec<String> = with(word).iter().take(3).map(|verdict| verdict.short_text()).collect();
            if !texts.is_empty() {
                let more = if with(word).len() > 3 { ", .." } else { "" };
                line.push_str(&format!("; {word}: {}{more}", texts.join(", ")));
            }
        }
        line
    }
}

fn tooltip(verdict: &PropertyVerdict) -> String {
    let states = verdict.states.as_ref().map(|states| format!("; true at {states}")).unwrap_or_default();
    let remarks: String = verdict.remarks.iter().map(|remark| format!("; {remark}")).collect();
    format!("{}: {}{states}{remarks}", verdict.short_text(), verdict.words())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reports_are_read() {
        let report = json!({"runs": [{"properties": [
            {"name": "1", "verdict": "holds", "text": "AG p"},
            {"name": "2", "verdict": "unknown", "reason": "timeout", "text": "EF q"}],
            "diagnostics": [{"severity": "error", "message": "no"}, {"severity": "note", "message": "x"}]}]});
        let (verdicts, errors) = read_report(&report).unwrap();
        assert_eq!((verdicts.len(), errors), (2, vec!["no".to_string()]));
        assert_eq!(verdicts[1].words(), "unknown: timeout");
        let all: Vec<&PropertyVerdict> = verdicts.iter().collect();
        assert_eq!(Verdicts::summary(&all), "1 of 2 properties hold; unknown: EF q");
        let place = PropertyPlace { file: "a".into(), range: lsp::Range::default(), positions: vec![1, 2] };
        let by_position = (1..).zip(verdicts).collect();
        let verdicts = Verdicts { by_position, is_current: true, ..Verdicts::default() };
        assert_eq!(verdicts.line(&place).unwrap(), "holds for 1 of 2");
        assert_eq!(read_report(&json!({"runs": []})), None);
    }

    #[test]
    fn extents_are_read() {
        let report = json!({"parts": [{"property": "1", "parts": [{"states": "3", "of_states": "8"}]}, {"parts": []}]});
        assert_eq!(read_extents(&report), [Some("3 of 8 states".to_string()), None]);
    }
}
