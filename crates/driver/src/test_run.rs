//! The test of one model: what its comments expect, compared with what a check finds.

use std::io;
use std::path::{Path, PathBuf};

use masque_text::{Diagnostic, Severity, Span, did_you_mean};
use masque_verdict::Show;

use crate::check::{Details, Limits, Run, check_showing};
use crate::expectations::{
    Expectation, Expectations, ExpectedCode, ExpectedCount, Quantity, expectations_with,
};
use crate::load::{Loaded, Model, load_within};
use crate::select::{Selection, Unmatched};
use crate::{Language, PropertyText, Request};

/// What is asked of every model that is tested.
#[derive(Clone, Debug, Default)]
pub struct TestRequest {
    /// The request for each model. `-D` is for ISPL files only and `--option` for BDI and LCC files only, so that
    /// models of all languages can be tested together.
    pub request: Request,
    /// Whether a model or a property without an expectation is an error.
    pub is_strict: bool,
    /// Name and text of a file of expectations, which have priority over those in the models.
    pub expect: Option<(String, String)>,
}

/// The result of testing one model.
#[derive(Debug)]
pub struct Tested {
    /// The model and its sources.
    pub loaded: Loaded,
    /// What was compared.
    pub comparisons: Vec<Comparison>,
    /// Errors in the files or in the expectations, but for expected ones.
    pub errors: Vec<Diagnostic>,
    /// Number of selected properties for which nothing is expected. They are not decided.
    pub n_properties_without: usize,
    /// Bugs in Masque that the check found.
    pub bugs: Vec<String>,
    /// Names in `--only` and `--skip` that the model does not have.
    pub unmatched: Vec<Unmatched>,
}

/// How a test ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestStatus {
    /// Nothing is expected, so nothing was compared.
    WithoutExpectations,
    /// All results are as expected.
    AsExpected,
    /// A limit stopped the check before all results were known, and none differs.
    Undecided,
    /// Some result differs.
    Differs,
    /// The files or the expectations have errors.
    Broken,
}

/// An expected and a found result.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What is compared.
    pub subject: TestSubject,
    /// The expected result.
    pub expected: String,
    /// Source of the expected result, or its reason.
    pub source: Option<String>,
    /// The result of the check.
    pub found: String,
    /// Whether they agree.
    pub agreement: Agreement,
    /// Span of the property, or of the expectation if it is about the whole model.
    pub span: Span,
    /// Span of the expectation.
    pub expected_at: Span,
}

/// Whether a result is as expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It is.
    AsExpected,
    /// A limit stopped the check, so it is not known.
    Undecided,
    /// It is not.
    Differs,
}

/// The subject of a comparison.
#[derive(Clone, Debug)]
pub enum TestSubject {
    /// The verdict of a property.
    Property(Box<PropertyText>),
    /// A number.
    Count(Quantity),
    /// A diagnostic.
    Diagnostic(ExpectedCode),
}

impl Tested {
    /// How the test ended.
    pub fn status(&self) -> TestStatus {
        let has = |agreement: Agreement| self.comparisons.iter().any(|found| found.agreement == agreement);
        match () {
            () if !self.errors.is_empty() => TestStatus::Broken,
            () if has(Agreement::Differs) => TestStatus::Differs,
            () if has(Agreement::Undecided) || self.loaded.stopped.is_some() => TestStatus::Undecided,
            () if self.comparisons.is_empty() => TestStatus::WithoutExpectations,
            () => TestStatus::AsExpected,
        }
    }
}

/// Loads and checks the files of one model, and compares the results with the expectations in its comments. Only
/// properties with an expectation are decided.
///
/// # Errors
///
/// If a process cannot be started.
pub fn test_model(files: &[PathBuf], test: &TestRequest, limits: &Limits) -> io::Result<Tested> {
    test_loaded(load_all_properties(files, &test.request, limits), test, limits)
}

/// Loads a model with all its properties and without the options of other languages.
fn load_all_properties(files: &[PathBuf], request: &Request, limits: &Limits) -> Loaded {
    let named =
        files.iter().find(|path| !crate::is_properties(path)).and_then(|path| Language::of_path(path));
    let loaded = load_within(files, &request_for(named, request), limits);
    // The language of standard input follows from its text.
    match loaded.language {
        Some(language) if named.is_none() && loaded.text().is_some() => {
            loaded.again_within(&request_for(Some(language), request), limits)
        }
        _ => loaded,
    }
}

/// Tests a model that has been loaded with all its properties.
///
/// # Errors
///
/// If a process cannot be started.
pub fn test_loaded(mut loaded: Loaded, test: &TestRequest, limits: &Limits) -> io::Result<Tested> {
    let separate = test.expect.clone().and_then(|(name, text)| loaded.sources.add(name, text).ok());
    let mut expected = expectations_with(&loaded, separate);
    let mut errors = std::mem::take(&mut expected.diagnostics);
    let unmatched = select(&mut loaded, &mut expected, &test.request);
    if test.is_strict && errors.is_empty() {
        errors.extend(without_expectation(&loaded, &expected, &test.request));
    }
    let n_properties_without = expected.verdicts.iter().filter(|verdict| verdict.is_none()).count();
    keep_expected(&mut loaded, &mut expected);
    let run = if loaded.model.is_some() && errors.is_empty() && !expected.is_empty() {
        loaded.request.work.explore = counts_states(&loaded, &expected);
        check_showing(&loaded, Show::None, limits, &mut |_| {})?
    } else {
        None
    };
    let mut tested =
        Tested { loaded, comparisons: Vec::new(), errors, n_properties_without, bugs: Vec::new(), unmatched };
    tested.compare(expected, run);
    Ok(tested)
}

/// The request for a model of one language: without the options of other languages, and with all properties, so
/// that each expectation finds its property. Without a language there are no options.
fn request_for(language: Option<Language>, request: &Request) -> Request {
    let mut request = Request { only: Vec::new(), skip: Vec::new(), ..request.clone() };
    if language != Some(Language::Ispl) {
        request.defines.clear();
        request.work.engine = Default::default();
        request.work.jobs = None;
    }
    if !matches!(language, Some(Language::Bdi | Language::Lcc)) {
        request.options.clear();
    }
    request
}

/// Keeps the properties that the request selects, and their expectations.
fn select(loaded: &mut Loaded, expected: &mut Expectations, request: &Request) -> Vec<Unmatched> {
    let Some(model) = &mut loaded.model else { return Vec::new() };
    let Selection { is_kept, unmatched } = Selection::new(&model.properties(), &request.only, &request.skip);
    model.retain(&is_kept);
    let mut marks = is_kept.into_iter();
    expected.verdicts.retain(|_| marks.next().unwrap_or(false));
    unmatched
}

/// Keeps the properties with an expectation: the others are not decided.
fn keep_expected(loaded: &mut Loaded, expected: &mut Expectations) {
    let Some(model) = &mut loaded.model else { return };
    let is_kept: Vec<bool> = expected.verdicts.iter().map(Option::is_some).collect();
    model.retain(&is_kept);
    expected.verdicts.retain(Option::is_some);
}

/// Whether states must be counted in addition to the check.
fn counts_states(loaded: &Loaded, expected: &Expectations) -> bool {
    !expected.counts.is_empty() && loaded.language == Some(Language::Lcc)
}

/// Errors about a model or properties without an expectation, for `--strict`.
fn without_expectation(loaded: &Loaded, expected: &Expectations, request: &Request) -> Vec<Diagnostic> {
    let code = "test/no-expectation";
    let Some(model) = &loaded.model else { return Vec::new() };
    let has_selection = !request.only.is_empty() || !request.skip.is_empty();
    if expected.is_empty() && !has_selection {
        let message = format!("`{}` has no expectation", loaded.name());
        let diagnostic = Diagnostic::nowhere(Severity::Error, code, message);
        return vec![
            diagnostic.hint("write `expect: holds` in a comment beside a property, or `expect states: 160`"),
        ];
    }
    let properties = model.properties().into_iter().zip(model.property_spans()).zip(&expected.verdicts);
    let missing = properties.filter(|(_, expected)| expected.is_none()).map(|((property, span), _)| {
        let message = format!("property {} has no expectation", property.title);
        Diagnostic::error(code, span, message).hint("write `expect: VERDICT` in a comment beside it")
    });
    missing.collect()
}

impl Tested {
    /// Compares what a check found with what is expected. There is no run if the model has errors.
    fn compare(&mut self, expected: Expectations, run: Option<Run>) {
        let findings = run.iter().flat_map(|run| &run.findings).map(|finding| &finding.diagnostic);
        let found: Vec<Diagnostic> = self.loaded.diagnostics.iter().chain(findings).cloned().collect();
        let is_unexpected = |found: &&Diagnostic| found.is_error() && !expected.expects_error(found.code);
        self.errors.extend(found.iter().filter(is_unexpected).cloned());
        if !self.errors.is_empty() || self.loaded.stopped.is_some() {
            return;
        }
        let has_errors = found.iter().any(Diagnostic::is_error);
        if let (Some(run), false) = (&run, has_errors) {
            self.compare_verdicts(&expected, run);
            for count in &expected.counts {
                match self.compare_count(count, run) {
                    Ok(comparison) => self.comparisons.push(comparison),
                    Err(diagnostic) => self.errors.push(*diagnostic),
                }
            }
        }
        let codes = expected.codes.iter().map(|expected| compare_code(expected, &found));
        self.comparisons.extend(codes);
        self.bugs = run.map(|run| run.bugs).unwrap_or_default();
    }

    fn compare_verdicts(&mut self, expected: &Expectations, run: &Run) {
        let Some(model) = &self.loaded.model else { return };
        let properties = model.properties().into_iter().zip(model.property_spans()).zip(&run.decisions);
        for (((property, span), decision), expected) in properties.zip(&expected.verdicts) {
            let Some(Expectation { value, source, span: expected_at }) = expected else { continue };
            let agreement = if value.accepts(decision.verdict) {
                Agreement::AsExpected
            } else if value.is_left_open_by(decision.verdict) {
                Agreement::Undecided
            } else {
                Agreement::Differs
            };
            self.comparisons.push(Comparison {
                subject: TestSubject::Property(Box::new(property)),
                expected: value.to_string(),
                source: source.clone(),
                found: decision.verdict.to_string(),
                agreement,
                span,
                expected_at: *expected_at,
            });
        }
    }

    fn compare_count(
        &self,
        expected: &Expectation<ExpectedCount>,
        run: &Run,
    ) -> Result<Comparison, Box<Diagnostic>> {
        let ExpectedCount { quantity, number } = &expected.value;
        let (found, agreement) = match count(&self.loaded, run, quantity, expected.span)? {
            Counted::Number(found) if found == *number => (found, Agreement::AsExpected),
            Counted::Number(found) => (found, Agreement::Differs),
            Counted::MoreThan(least, bound) => {
                (format!("at least {least}, up to the bound `{bound}`"), Agreement::Differs)
            }
            Counted::Stopped => ("not counted".to_string(), Agreement::Undecided),
        };
        Ok(Comparison {
            subject: TestSubject::Count(quantity.clone()),
            expected: number.clone(),
            source: expected.source.clone(),
            found,
            agreement,
            span: expected.span,
            expected_at: expected.span,
        })
    }
}

/// A number that a check may have found.
enum Counted {
    Number(String),
    /// The states within a bound of the model, and the name of the bound.
    MoreThan(u64, &'static str),
    /// A limit stopped the check.
    Stopped,
}

/// The number that a check found. It is an error if the language has no such number.
fn count(loaded: &Loaded, run: &Run, quantity: &Quantity, span: Span) -> Result<Counted, Box<Diagnostic>> {
    let refused = |message: String, help: String| {
        Box::new(Diagnostic::error("test/bad-expectation", span, message).hint(help))
    };
    if let Some(Model::Bdi(worlds)) = &loaded.model {
        let paths = worlds.plan.paths.iter().map(|path| path.text.as_str());
        let known = format!("the worlds are {}", crate::select::list(paths.clone()));
        let path = match quantity {
            Quantity::WorldStates(path) => path.as_str(),
            Quantity::States if worlds.plan.paths.len() == 1 => worlds.plan.paths[0].text.as_str(),
            _ => {
                let message = format!("a BDI file has no number of {quantity}, but one for each world");
                return Err(refused(message, format!("write `expect states[WORLD]: 160`; {known}")));
            }
        };
        let Some(planned) = worlds.plan.paths.iter().find(|planned| planned.text == path) else {
            let help = did_you_mean(path, paths).map_or(known.clone(), |guess| format!("{guess} {known}"));
            return Err(refused(format!("there is no world `{path}`"), help));
        };
        let Details::Bdi(Some(results)) = &run.details else { return Ok(Counted::Stopped) };
        let result = results.get(planned.world.index());
        return Ok(result.map_or(Counted::Stopped, |world| Counted::Number(world.kept.to_string())));
    }
    let title = loaded.language.unwrap_or(Language::Ispl).title();
    let number = match quantity {
        Quantity::States => &run.states,
        Quantity::Transitions if loaded.language != Some(Language::Ispl) => &run.transitions,
        Quantity::Transitions => {
            let message = format!("transitions of {title} files are not counted");
            return Err(refused(message, "write `expect states: 160`".to_string()));
        }
        Quantity::WorldStates(_) => {
            let message = format!("{title} files have no worlds");
            return Err(refused(message, "write `expect states: 160`".to_string()));
        }
    };
    let cut = match &run.details {
        Details::Lcc(details) => {
            details.counts.as_ref().and_then(|counts| Some((counts.states, counts.cut?)))
        }
        _ => None,
    };
    Ok(match (number, cut) {
        (Some(number), _) => Counted::Number(number.to_string()),
        (None, Some((least, bound))) => Counted::MoreThan(least, bound),
        (None, None) => Counted::Stopped,
    })
}

/// Compares the diagnostics of a model with an expected one.
fn compare_code(expected: &Expectation<ExpectedCode>, found: &[Diagnostic]) -> Comparison {
    let Expectation { value: ExpectedCode { severity, code }, source, span } = expected;
    let is_meant = |found: &&Diagnostic| found.severity == *severity && found.code == code;
    let meant = found.iter().find(is_meant);
    let others: Vec<&str> =
        found.iter().filter(|found| found.severity == *severity).map(|d| d.code).collect();
    let shown = match (meant, others.as_slice()) {
        (Some(found), _) => found.code.to_string(),
        (None, []) => format!("no {}", severity.name()),
        (None, others) => crate::select::list(others.iter().copied()),
    };
    Comparison {
        subject: TestSubject::Diagnostic(expected.value.clone()),
        expected: code.clone(),
        source: source.clone(),
        found: shown,
        agreement: if meant.is_some() { Agreement::AsExpected } else { Agreement::Differs },
        span: meant.and_then(|found| found.primary.as_ref()).map_or(*span, |label| label.span),
        expected_at: *span,
    }
}

/// Reads a file of expectations, within the limits of a text.
///
/// # Errors
///
/// If the file cannot be read.
pub fn read_expect_file(path: &Path, limits: &Limits) -> Result<(String, String), crate::Unread> {
    let text = crate::read_text_within(path, crate::MAX_BYTES, limits)?;
    Ok((crate::file::display_name(path), text))
}
