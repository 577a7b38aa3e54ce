//! Annotations in the log of GitHub Actions: `::error file=..,line=..,title=..::message`.
//!
//! [GitHub] shows them at the lines of a pull request. The syntax is that of its workflow commands.
//!
//! [GitHub]: https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions

use std::io::{self, Write};

use crate::SpanReport;
use crate::ci::{Problem, ProblemLevel, first_lines};

/// Maximum number of lines of evidence in an annotation.
const MAX_LINES: usize = 40;

/// An annotation of a file.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// Severity.
    pub level: ProblemLevel,
    /// Part of the text that it is about. Its file is relative to the repository, or absolute.
    pub place: Option<SpanReport>,
    /// Title, in one line.
    pub title: String,
    /// Text, of one or several lines.
    pub message: String,
}

impl Annotation {
    /// The annotation about a problem. Files are named by `file_name`; a text that is no file gets no place.
    pub fn new(problem: &Problem, file_name: impl Fn(&str) -> String) -> Annotation {
        let place = problem.spans.first().filter(|span| !span.file.starts_with('<'));
        let details = first_lines(&problem.details, MAX_LINES);
        let gap = if details.is_empty() { "" } else { "\n" };
        Annotation {
            level: problem.level,
            place: place.map(|span| SpanReport { file: file_name(&span.file), ..span.clone() }),
            title: problem.code.clone(),
            message: format!("{}{gap}{details}", problem.summary),
        }
    }

    /// Writes the annotation in one line.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let command = match self.level {
            ProblemLevel::Error => "error",
            ProblemLevel::Warning => "warning",
            ProblemLevel::Note => "notice",
        };
        let mut properties: Vec<(&str, String)> = Vec::new();
        if let Some(SpanReport { file, start, end, .. }) = &self.place {
            properties.push(("file", file.clone()));
            properties.push(("line", start.line.to_string()));
            properties.push(("endLine", end.line.to_string()));
            // Columns are allowed only within one line, and the end is the last column, not the one after it.
            if start.line == end.line {
                properties.push(("col", start.column.to_string()));
                properties.push(("endColumn", end.column.saturating_sub(1).max(start.column).to_string()));
            }
        }
        properties.push(("title", self.title.clone()));
        let properties: Vec<String> =
            properties.iter().map(|(name, value)| format!("{name}={}", escaped_property(value))).collect();
        writeln!(out, "::{command} {}::{}", properties.join(","), escaped(&self.message))
    }
}

/// A message with the escapes of workflow commands.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property with the escapes of workflow commands.
fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlaceReport;

    fn written(annotation: &Annotation) -> String {
        let mut out = Vec::new();
        annotation.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_escaped() {
        let at = |line, column| PlaceReport { line, column };
        let place = |start, end| {
            Some(SpanReport { file: "a,b:c%.ispl".into(), start, end, label: None, primary: true })
        };
        let annotation = Annotation {
            level: ProblemLevel::Error,
            place: place(at(3, 5), at(3, 9)),
            title: "50%, yes: no".into(),
            message: "100% sure, or: not\r\n::warning::second".into(),
        };
        let properties = "file=a%2Cb%3Ac%25.ispl,line=3,endLine=3,col=5,endColumn=8,title=50%25%2C yes%3A no";
        let message = "100%25 sure, or: not%0D%0A::warning::second";
        assert_eq!(written(&annotation), format!("::error {properties}::{message}\n"));
        let lines = Annotation { place: place(at(3, 5), at(4, 1)), level: ProblemLevel::Note, ..annotation };
        assert!(written(&lines).starts_with("::notice file=a%2Cb%3Ac%25.ispl,line=3,endLine=4,title="));
        let nowhere = Annotation { place: None, ..lines };
        assert!(written(&nowhere).starts_with("::notice title=50%25"));
    }
}
