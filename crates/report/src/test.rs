//! The report of `masque test` as data (schema `masque.test/1`) and as text.

use std::io::{self, Write};

use anstyle::AnsiColor;
use masque_driver::{Agreement, Comparison, LeftOut, Sources, TestStatus, TestSubject, Tested};
use schemars::JsonSchema;
use serde::Serialize;

use crate::check::write_json;
use crate::lines::{Lines, PLAIN, STRONG};
use crate::wording::{nonzero, plural};
use crate::{Detail, DiagnosticReport, Entries, PlaceReport, Text};

/// The name and version of the format.
pub const TEST_SCHEMA: &str = "masque.test/1";

/// What `masque test --format json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "masque.test/1")]
pub struct TestReport {
    /// The name of this format: `masque.test/1`.
    #[schemars(extend("const" = TEST_SCHEMA))]
    pub schema: &'static str,
    /// The models that were tested, in the order of the paths.
    pub models: Vec<ModelTestReport>,
    /// Files that are no models of their own.
    pub left_out: Vec<LeftOutReport>,
    /// Errors that are not about one model.
    pub errors: Vec<DiagnosticReport>,
    /// Numbers of models and results.
    pub summary: TestSummary,
}

/// The test of one model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelTestReport {
    /// The files of the model, those of its properties last.
    pub files: Vec<String>,
    /// `ispl`, `bdi`, `lcc` or `aut`; null if the file could not be read and its name does not show the
    /// language.
    pub language: Option<String>,
    /// Parameters of the file with the values used.
    pub parameters: Entries<i64>,
    /// `as-expected`, `differs`, `undecided` (a limit stopped the check), `broken` (the files or the expectations
    /// have errors) or `without-expectations`.
    #[schemars(extend("enum" = ["as-expected", "differs", "undecided", "broken", "without-expectations"]))]
    pub status: &'static str,
    /// Expected and found results.
    pub results: Vec<ResultReport>,
    /// Number of properties for which nothing is expected; they were not decided.
    pub properties_without_expectation: usize,
    /// Errors in the files or in the expectations, but for expected ones.
    pub errors: Vec<DiagnosticReport>,
    /// Name of the model in text reports.
    #[serde(skip)]
    pub name: String,
}

/// An expected and a found result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResultReport {
    /// `verdict`, `count` or `diagnostic`.
    #[schemars(extend("enum" = ["verdict", "count", "diagnostic"]))]
    pub kind: &'static str,
    /// Name of the property; `states`, `states[WORLD]` or `transitions`; or `error`, `warning` or `note`.
    pub name: String,
    /// For an instance of a formula in a `for`: the values of the loop variables, outermost first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<Entries<i64>>,
    /// Unique name in text reports.
    #[serde(skip)]
    pub title: String,
    /// The expected verdict, number or code.
    pub expected: String,
    /// Source of the expected result, or its reason, as the comment gives it.
    pub source: Option<String>,
    /// The verdict, number or code that was found.
    pub found: String,
    /// `as-expected`, `differs`, or `undecided` if a limit stopped the check.
    #[schemars(extend("enum" = ["as-expected", "differs", "undecided"]))]
    pub outcome: &'static str,
    /// Place of the property or diagnostic, or of the expectation if it is about the whole model.
    pub place: FilePlaceReport,
    /// Place of the expectation.
    pub expected_at: FilePlaceReport,
}

/// A position in a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FilePlaceReport {
    /// Name of the file.
    pub file: String,
    /// Line and column.
    #[serde(flatten)]
    pub place: PlaceReport,
}

/// A file that is no model of its own.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeftOutReport {
    /// Name of the file.
    pub file: String,
    /// Why it is no model.
    pub why: String,
}

/// Numbers of models and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestSummary {
    /// Number of models.
    pub models: u64,
    /// Number of models whose results are all as expected.
    pub as_expected: u64,
    /// Number of models with a result that differs.
    pub differ: u64,
    /// Number of models without a difference whose check was stopped by a limit.
    pub undecided: u64,
    /// Number of models with errors in the files or expectations.
    pub broken: u64,
    /// Number of models without expectations.
    pub without_expectations: u64,
    /// Number of models that were not tested because the user interrupted.
    pub not_tested: u64,
    /// Number of results that were compared.
    pub results: u64,
    /// Number of these that differ.
    pub results_that_differ: u64,
}

impl ModelTestReport {
    /// Reports the test of a model.
    pub fn new(tested: &Tested) -> ModelTestReport {
        let sources = &tested.loaded.sources;
        ModelTestReport {
            files: tested.loaded.names.clone(),
            language: tested.loaded.language.map(|language| language.name().to_string()),
            parameters: tested.loaded.parameters.iter().cloned().collect(),
            status: status_word(tested.status()),
            results: tested.comparisons.iter().map(|found| ResultReport::new(sources, found)).collect(),
            properties_without_expectation: tested.n_properties_without,
            errors: tested.errors.iter().map(|error| DiagnosticReport::new(sources, error)).collect(),
            name: tested.loaded.name(),
        }
    }

    fn n_results(&self, outcome: &str) -> u64 {
        self.results.iter().filter(|result| result.outcome == outcome).count() as u64
    }
}

fn status_word(status: TestStatus) -> &'static str {
    match status {
        TestStatus::AsExpected => "as-expected",
        TestStatus::Differs => "differs",
        TestStatus::Undecided => "undecided",
        TestStatus::Broken => "broken",
        TestStatus::WithoutExpectations => "without-expectations",
    }
}

impl ResultReport {
    fn new(sources: &Sources, found: &Comparison) -> ResultReport {
        let place = |span| FilePlaceReport {
            file: sources.name(sources.file_of(span)).to_string(),
            place: sources.locate(span).0.into(),
        };
        let (kind, name, title, index) = match &found.subject {
            TestSubject::Property(property) => {
                let index = property.index.iter().cloned().collect();
                let index = (!property.index.is_empty()).then_some(index);
                ("verdict", property.name.clone(), format!("property {}", property.title), index)
            }
            TestSubject::Count(quantity) => ("count", quantity.to_string(), quantity.to_string(), None),
            TestSubject::Diagnostic(code) => {
                let word = code.severity.name().to_string();
                ("diagnostic", word.clone(), word, None)
            }
        };
        ResultReport {
            kind,
            name,
            index,
            title,
            expected: found.expected.clone(),
            source: found.source.clone(),
            found: found.found.clone(),
            outcome: match found.agreement {
                Agreement::AsExpected => "as-expected",
                Agreement::Differs => "differs",
                Agreement::Undecided => "undecided",
            },
            place: place(found.span),
            expected_at: place(found.expected_at),
        }
    }

    /// `models/a.ispl:40:3: property safe: expected holds, found fails`.
    fn line(&self) -> String {
        let FilePlaceReport { file, place: PlaceReport { line, column } } = &self.place;
        let source = self.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
        let ResultReport { title, expected, found, .. } = self;
        format!("{file}:{line}:{column}: {title}: expected {expected}{source}, found {found}")
    }
}

impl TestReport {
    /// A report without models.
    pub fn new(left_out: &[LeftOut]) -> TestReport {
        let left_out = left_out
            .iter()
            .map(|left_out| LeftOutReport { file: left_out.name.clone(), why: left_out.why.to_string() });
        TestReport {
            schema: TEST_SCHEMA,
            models: Vec::new(),
            left_out: left_out.collect(),
            errors: Vec::new(),
            summary: TestSummary::default(),
        }
    }

    /// Adds the test of a model.
    pub fn add(&mut self, model: ModelTestReport) {
        let summary = &mut self.summary;
        summary.models += 1;
        *match model.status {
            "as-expected" => &mut summary.as_expected,
            "differs" => &mut summary.differ,
            "undecided" => &mut summary.undecided,
            "broken" => &mut summary.broken,
            _ => &mut summary.without_expectations,
        } += 1;
        summary.results += model.results.len() as u64;
        summary.results_that_differ += model.n_results("differs");
        self.models.push(model);
    }

    /// Counts a model that was not tested.
    pub fn add_not_tested(&mut self) {
        self.summary.models += 1;
        self.summary.not_tested += 1;
    }

    /// Writes the report as one JSON object.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        write_json(out, self)
    }
}

impl Text {
    /// Writes the test of one model: what differs, and errors. With `-v`, also that a model is as expected.
    pub fn model_test(
        self,
        out: &mut dyn Write,
        report: &ModelTestReport,
        tested: &Tested,
    ) -> io::Result<()> {
        let n_results = report.results.len();
        let (n_differ, n_undecided) = (report.n_results("differs"), report.n_results("undecided"));
        let (style, head) = match report.status {
            "broken" => {
                self.diagnostics(out, &tested.loaded.sources, &tested.errors)?;
                (AnsiColor::Red.on_default().bold(), plural(report.errors.len(), "error", "errors"))
            }
            "differs" => {
                let verb = if n_differ == 1 { "differs" } else { "differ" };
                let head = format!("{n_differ} of {} {verb}", plural(n_results, "result", "results"));
                (AnsiColor::Red.on_default().bold(), head)
            }
            "undecided" if n_results == 0 => {
                (AnsiColor::Yellow.on_default(), "not loaded within the limits".into())
            }
            "undecided" => {
                let verb = if n_undecided == 1 { "is" } else { "are" };
                let head =
                    format!("{n_undecided} of {} {verb} not decided", plural(n_results, "result", "results"));
                (AnsiColor::Yellow.on_default(), head)
            }
            "as-expected" => {
                let head = format!("as expected ({})", plural(n_results, "result", "results"));
                (AnsiColor::Green.on_default(), head)
            }
            _ => (PLAIN, "no expectations".to_string()),
        };
        let is_fine = matches!(report.status, "as-expected" | "without-expectations");
        if is_fine && self.detail < Detail::Verbose {
            return Ok(());
        }
        let mut lines = Lines { out, width: self.width, color: self.color };
        lines.line(&[(STRONG, format!("{}: ", report.name)), (style, head)])?;
        let is_shown =
            |result: &&ResultReport| result.outcome != "as-expected" || self.detail == Detail::Verbose;
        for result in report.results.iter().filter(is_shown) {
            writeln!(lines.out, "  {}", result.line())?;
        }
        Ok(())
    }

    /// Writes the summary of all tests.
    pub fn test_summary(self, out: &mut dyn Write, report: &TestReport) -> io::Result<()> {
        if self.detail == Detail::Quiet {
            return Ok(());
        }
        let TestSummary { models, as_expected, differ, undecided, broken, .. } = report.summary;
        let TestSummary { without_expectations, not_tested, results, results_that_differ, .. } =
            report.summary;
        let mut parts = nonzero(&[
            (as_expected, "as expected", "as expected"),
            (differ, "differs", "differ"),
            (undecided, "not decided", "not decided"),
            (broken, "with errors", "with errors"),
            (without_expectations, "without expectations", "without expectations"),
            (not_tested, "not tested, because of an interrupt", "not tested, because of an interrupt"),
        ]);
        let mut compared = plural(results, "result", "results");
        if results_that_differ > 0 {
            let verb = if results_that_differ == 1 { "differs" } else { "differ" };
            compared += &format!(", of which {results_that_differ} {verb}");
        }
        parts.push(compared);
        let all = plural(models, "model", "models");
        writeln!(out, "{all}: {}", parts.join("; "))
    }
}
