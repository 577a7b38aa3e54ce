//! Reports as JUnit XML, by the schema `junit-10.xsd` of the xUnit plugin of Jenkins, which describes the format
//! of Apache Ant as Jenkins, GitLab and others read it.
//!
//! A model is a test suite and a property a test case. A property that fails is a failure. A property that is
//! unknown is an error and not skipped, because most readers take skipped tests for success. An error of a file is
//! a test case of its own. Warnings and notes are the output of the suite.

use std::fmt::Write as _;
use std::io::{self, Write};

use masque_driver::Verdict;
use masque_text::is_printable;

use crate::PropertyReport;
use crate::ci::{CiProperty, CiRun, ProblemLevel, verdict_sentence};

/// Writes the checks of a command as one document.
pub fn junit(out: &mut dyn Write, runs: &[CiRun]) -> io::Result<()> {
    let suites: Vec<Suite> = runs.iter().map(Suite::new).collect();
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut xml = Xml::default();
    xml.text += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let attributes = [
        ("name", "masque".to_string()),
        ("tests", sum(|suite| suite.cases.len()).to_string()),
        ("failures", sum(|suite| suite.count(Outcome::is_failure)).to_string()),
        ("errors", sum(|suite| suite.count(Outcome::is_error)).to_string()),
    ];
    xml.element("testsuites", &attributes, |xml| suites.iter().for_each(|suite| suite.write(xml)));
    out.write_all(xml.text.as_bytes())
}

/// The test suite of a model.
struct Suite<'r> {
    run: &'r CiRun,
    name: String,
    cases: Vec<Case>,
    /// Warnings and notes.
    output: String,
}

/// A test case.
struct Case {
    name: String,
    outcome: Outcome,
    /// Remarks on the verdict.
    output: String,
    /// Time in seconds, if it was requested.
    seconds: Option<f64>,
}

enum Outcome {
    Success,
    Failure(Report),
    Error(Report),
}

/// Content of a failure or an error.
struct Report {
    /// Code of the diagnostic, or verdict.
    kind: String,
    message: String,
    text: String,
}

impl Outcome {
    fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failure(_))
    }

    fn is_error(&self) -> bool {
        matches!(self, Outcome::Error(_))
    }
}

impl<'r> Suite<'r> {
    fn new(run: &'r CiRun) -> Suite<'r> {
        let mut suite = Suite { run, name: run.name(), cases: Vec::new(), output: String::new() };
        for (diagnostic, text) in run.report.diagnostics.iter().zip(&run.rendered) {
            let is_stop = diagnostic.code == "load/stopped";
            if run.level(diagnostic) > ProblemLevel::Error && !is_stop {
                suite.output += &format!("{}\n", text.trim_end());
                continue;
            }
            let (code, message) = (&diagnostic.code, &diagnostic.message);
            let report = Report { kind: code.clone(), message: message.clone(), text: text.clone() };
            let name = format!("{}[{code}]", diagnostic.severity);
            let (output, seconds) = (String::new(), None);
            suite.cases.push(Case { name, outcome: Outcome::Error(report), output, seconds });
        }
        let times =
            run.report.stats.iter().flat_map(|stats| stats.properties.iter().map(|p| Some(p.seconds)));
        let properties =
            run.report.properties.iter().zip(&run.properties).zip(times.chain(std::iter::repeat(None)));
        suite.cases.extend(properties.map(|((property, ci), seconds)| case(property, ci, seconds)));
        suite
    }

    fn count(&self, is_counted: fn(&Outcome) -> bool) -> usize {
        self.cases.iter().filter(|case| is_counted(&case.outcome)).count()
    }

    fn write(&self, xml: &mut Xml) {
        let mut attributes = vec![
            ("name", self.name.clone()),
            ("tests", self.cases.len().to_string()),
            ("failures", self.count(Outcome::is_failure).to_string()),
            ("errors", self.count(Outcome::is_error).to_string()),
            ("skipped", "0".to_string()),
        ];
        attributes.extend(self.run.report.files.first().map(|file| ("file", file.clone())));
        attributes.extend(self.run.report.stats.as_ref().map(|stats| ("time", seconds(stats.check_seconds))));
        xml.element("testsuite", &attributes, |xml| {
            self.write_facts(xml);
            self.cases.iter().for_each(|case| case.write(xml, &self.name));
            if !self.output.is_empty() {
                xml.leaf("system-out", &[], &self.output);
            }
        });
    }

    /// Writes the language, the parameters and the options of the model.
    fn write_facts(&self, xml: &mut Xml) {
        let report = &self.run.report;
        let mut facts: Vec<(String, String)> = Vec::new();
        facts.extend(report.language.iter().map(|language| ("language".to_string(), language.clone())));
        facts.push(("engine".to_string(), report.engine.clone()));
        facts.extend(report.states.iter().map(|states| ("states".to_string(), states.clone())));
        let parameters = report.parameters.0.iter();
        facts.extend(parameters.map(|(name, value)| (format!("parameter {name}"), value.to_string())));
        let options = report.options.0.iter();
        facts.extend(options.map(|(name, value)| (format!("option {name}"), value.clone())));
        xml.element("properties", &[], |xml| {
            for (name, value) in facts {
                xml.leaf("property", &[("name", name), ("value", value)], "");
            }
        });
    }
}

/// The test case of a property.
fn case(property: &PropertyReport, ci: &CiProperty, seconds: Option<f64>) -> Case {
    let report = || {
        let place = ci.place.as_ref().map(|p| format!("{}:{}:{}", p.file, p.start.line, p.start.column));
        let lines = [Some(verdict_sentence(property)), place, Some(ci.evidence.clone())];
        let lines: Vec<String> = lines.into_iter().flatten().filter(|line| !line.is_empty()).collect();
        Report {
            kind: property.verdict.to_string(),
            message: verdict_sentence(property),
            text: lines.join("\n"),
        }
    };
    let outcome = match property.verdict {
        Verdict::Holds => Outcome::Success,
        Verdict::Fails => Outcome::Failure(report()),
        Verdict::Unknown(_) => Outcome::Error(report()),
    };
    let remarks = property.remarks.iter().map(|remark| format!("note: {remark}\n"));
    Case { name: property.title.clone(), outcome, output: remarks.collect(), seconds }
}

impl Case {
    fn write(&self, xml: &mut Xml, suite: &str) {
        let mut attributes = vec![("name", self.name.clone()), ("classname", suite.to_string())];
        attributes.extend(self.seconds.map(|time| ("time", seconds(time))));
        let report = match &self.outcome {
            Outcome::Success => None,
            Outcome::Failure(report) => Some(("failure", report)),
            Outcome::Error(report) => Some(("error", report)),
        };
        if report.is_none() && self.output.is_empty() {
            return xml.leaf("testcase", &attributes, "");
        }
        xml.element("testcase", &attributes, |xml| {
            if let Some((name, Report { kind, message, text })) = report {
                xml.leaf(name, &[("type", kind.clone()), ("message", message.clone())], text);
            }
            if !self.output.is_empty() {
                xml.leaf("system-out", &[], &self.output);
            }
        });
    }
}

/// A time in the form that the schema wants.
fn seconds(time: f64) -> String {
    format!("{time:.3}")
}

/// A document that is being written.
#[derive(Default)]
struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    /// Writes an element with other elements in it.
    fn element(&mut self, name: &str, attributes: &[(&str, String)], content: impl FnOnce(&mut Xml)) {
        self.open(name, attributes);
        self.text += ">\n";
        self.depth += 1;
        content(self);
        self.depth -= 1;
        _ = writeln!(self.text, "{:1$}</{name}>", "", 2 * self.depth);
    }

    /// Writes an element that contains only text.
    fn leaf(&mut self, name: &str, attributes: &[(&str, String)], text: &str) {
        self.open(name, attributes);
        if text.is_empty() {
            self.text += "/>\n";
        } else {
            _ = writeln!(self.text, ">{}</{name}>", escaped(text, false));
        }
    }

    fn open(&mut self, name: &str, attributes: &[(&str, String)]) {
        _ = write!(self.text, "{:1$}<{name}", "", 2 * self.depth);
        for (name, value) in attributes {
            _ = write!(self.text, " {name}=\"{}\"", escaped(value, true));
        }
    }
}

/// Text of an XML document. Characters that XML 1.0 does not allow are written as in text reports, `\u{1b}`;
/// others that control a terminal are character references. Readers replace line breaks in attributes by spaces
/// unless they are references too.
fn escaped(text: &str, is_attribute: bool) -> String {
    let mut xml = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => xml += "&amp;",
            '<' => xml += "&lt;",
            '>' => xml += "&gt;",
            '"' => xml += "&quot;",
            '\n' | '\t' if !is_attribute => xml.push(c),
            _ if !is_allowed(c) => xml.extend(c.escape_default()),
            _ if !is_printable(c) => {
                _ = write!(xml, "&#x{:X};", u32::from(c));
            }
            _ => xml.push(c),
        }
    }
    xml
}

/// Whether XML 1.0 allows a character (section 2.2 of the recommendation).
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn every_character_becomes_xml() {
        for (text, content, attribute) in [
            ("a < b && \"c\" > ]]>", "a &lt; b &amp;&amp; &quot;c&quot; &gt; ]]&gt;", "a &lt; b &amp;&amp; &quot;c&quot; &gt; ]]&gt;"),
            ("1\n\t2\r",             "1\n\t2&#xD;",                      "1&#xA;&#x9;2&#xD;"),
            ("\u{1b}[2J\0\u{b}",     r"\u{1b}[2J\u{0}\u{b}",             r"\u{1b}[2J\u{0}\u{b}"),
            ("\u{ffff}\u{202e}\u{85}", r"\u{ffff}&#x202E;&#x85;",        r"\u{ffff}&#x202E;&#x85;"),
            ("é ∧ 𝒜",                "é ∧ 𝒜",                            "é ∧ 𝒜"),
        ] {
            assert_eq!(escaped(text, false), content);
            assert_eq!(escaped(text, true), attribute);
        }
    }
}
