//! Messages of a check about the behaviour of a model, such as a deadlock, as diagnostics.
//!
//! They appear beside the diagnostics of the text until the text changes.

use std::path::{Path, PathBuf};

use gen_lsp_types as lsp;
use serde_json::Value;

use crate::analysis::{FoundFix, SOURCE};
use crate::lines::{Encoding, LineStarts};

/// A message of a report, whose place counts characters from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) code: String,
    severity: String,
    message: String,
    help: Option<String>,
    /// Name of the file, and its lines and columns.
    place: Option<(String, [u64; 4])>,
}

/// The warnings of a report about the behaviour; messages about the text are known from loading.
pub(crate) fn read_findings(report: &Value) -> Vec<Finding> {
    const BEHAVIOUR: [&str; 4] = ["ispl/deadlock", "ispl/overflow", "ispl/partly-fair", "ispl/no-fair-path"];
    let run = report.get("run").or_else(|| report.get("runs")?.get(0));
    let all = run.and_then(|run| run.get("diagnostics")).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Finding::read).filter(|finding| BEHAVIOUR.contains(&finding.code.as_str())).collect()
}

impl Finding {
    fn read(report: &Value) -> Option<Finding> {
        let text = |name: &str| report.get(name).and_then(Value::as_str).map(str::to_string);
        let span = report.get("spans").and_then(|spans| spans.get(0));
        let place = span.and_then(|span| {
            let number = |path: &str| span.pointer(path).and_then(Value::as_u64).filter(|number| *number > 0);
            let (from, to) = (
                (number("/start/line")?, number("/start/column")?),
                (number("/end/line")?, number("/end/column")?),
            );
            Some((span.get("file")?.as_str()?.to_string(), [from.0, from.1, to.0, to.1]))
        });
        Some(Finding {
            code: text("code")?,
            severity: text("severity")?,
            message: text("message")?,
            help: text("help"),
            place,
        })
    }

    /// The file of the message, among the files of the model; its first file if there is no place.
    pub(crate) fn file(&self, root: &Path, files: &[PathBuf]) -> PathBuf {
        let found = self.place.as_ref().and_then(|(name, _)| files.iter().find(|file| file.ends_with(name)));
        found.cloned().unwrap_or_else(|| root.to_path_buf())
    }

    /// The diagnostic in a text.
    pub(crate) fn diagnostic(&self, text: &str, lines: &LineStarts, encoding: Encoding) -> lsp::Diagnostic {
        let range = self.bytes(text, lines).map(|(from, to)| lines.range(text, from, to, encoding));
        let help = self.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let severity = match self.severity.as_str() {
            "error" => lsp::DiagnosticSeverity::Error,
            "warning" => lsp::DiagnosticSeverity::Warning,
            _ => lsp::DiagnosticSeverity::Information,
        };
        lsp::Diagnostic {
            range: range.unwrap_or_default(),
            severity: Some(severity),
            code: Some(lsp::Code::String(self.code.clone())),
            source: Some(SOURCE.to_string()),
            message: lsp::Message::String(format!("{}{help}", self.message)),
            ..lsp::Diagnostic::default()
        }
    }

    /// The bytes of the place.
    fn bytes(&self, text: &str, lines: &LineStarts) -> Option<(usize, usize)> {
        let (_, [line, column, end_line, end_column]) = self.place.as_ref()?;
        let offset = |line: u64, column: u64| {
            let (start, end) = lines.line(text, line as usize - 1)?;
            let inside =
                text[start..end].char_indices().nth(column as usize - 1).map_or(end - start, |(at, _)| at);
            Some(start + inside)
        };
        Some((offset(*line, *column)?, offset(*end_line, *end_column)?))
    }

    /// For an agent without an action: a line `Other` with all its actions, at the end of its protocol.
    pub(crate) fn fix(
        &self,
        file: &Path,
        text: &str,
        lines: &LineStarts,
        encoding: Encoding,
    ) -> Option<FoundFix> {
        if self.code != "ispl/deadlock" {
            return None;
        }
        let (from, _) = self.bytes(text, lines)?;
        let (at, new_text) = masque_ispl::other_line(text, from)?;
        let edit = lsp::TextEdit { range: lines.range(text, at, at, encoding), new_text };
        Some(FoundFix {
            title: "add `Other` with all actions".to_string(),
            edits: vec![(file.to_path_buf(), edit)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_deadlock_has_a_place_and_a_fix() {
        let span =
            json!({"file": "a.ispl", "start": {"line": 2, "column": 7}, "end": {"line": 2, "column": 8}});
        let report = json!({"runs": [{"diagnostics": [
            {"code": "ispl/deadlock", "severity": "warning", "message": "stuck", "help": "h", "spans": [span]},
            {"code": "ispl/unused", "severity": "warning", "message": "known", "spans": []}]}]});
        let found = read_findings(&report).remove(0);
        let text =
            "-- é\nAgent A\n  Actions = {go, stay};\n  Protocol:\n    x : {go};\n  end Protocol\nend Agent\n";
        let lines = LineStarts::new(text);
        let diagnostic = found.diagnostic(text, &lines, Encoding::Utf16);
        assert_eq!(diagnostic.range.start, lsp::Position { line: 1, character: 6 });
        let fix = found.fix(Path::new("a.ispl"), text, &lines, Encoding::Utf16).unwrap();
        assert_eq!(fix.edits[0].1.new_text, "  Other : {go, stay};\n  ");
        assert_eq!(fix.edits[0].1.range.start, lsp::Position { line: 5, character: 2 });
        let with_other = text.replace("x : {go}", "Other : {go}");
        assert_eq!(
            found.fix(Path::new("a.ispl"), &with_other, &LineStarts::new(&with_other), Encoding::Utf16),
            None
        );
        let files = [PathBuf::from("/m/a.ispl")];
        assert_eq!(found.file(Path::new("/m/main.ispl"), &files), files[0]);
    }
}
