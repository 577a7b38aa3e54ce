//! Checks and their results.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use masque_driver::{self as driver, Count, Limits, Progress, Show, Verdict};
use masque_report::{Subject, Text, run_report};

use crate::Model;

/// The limits and options of a check. By default there are no limits, and counterexamples are shown.
#[derive(Default)]
#[must_use = "a check does nothing until `Model::check` is called with it"]
pub struct Check<'p> {
    timeout: Option<Duration>,
    memory: Option<u64>,
    show: Show,
    only: Vec<String>,
    skip: Vec<String>,
    interrupt: Arc<AtomicBool>,
    progress: Option<Box<dyn Fn(Progress) + 'p>>,
}

impl<'p> Check<'p> {
    /// A check without limits.
    pub fn new() -> Check<'p> {
        Check::default()
    }

    /// Sets a time limit. Properties that are not decided by then are unknown.
    pub fn timeout(mut self, timeout: Duration) -> Check<'p> {
        self.timeout = Some(timeout);
        self
    }

    /// Sets a limit in bytes on the engine's data.
    pub fn memory(mut self, bytes: u64) -> Check<'p> {
        self.memory = Some(bytes);
        self
    }

    /// Also shows witnesses of properties that hold, where a path or state shows it.
    pub fn show_all(mut self) -> Check<'p> {
        self.show = Show::All;
        self
    }

    /// Shows no evidence, only verdicts.
    pub fn show_nothing(mut self) -> Check<'p> {
        self.show = Show::None;
        self
    }

    /// Decides only these properties: names, positions from 1, patterns with `*` and `?`, or the label of a formula
    /// in a `for`, as `masque check --only` does.
    ///
    /// ```
    /// use masque::{Check, Model};
    /// let text = "agent a is loop p := any endloop property x: EF p; property y: AG p;";
    /// let model = Model::from_text("coin.bdi", text)?;
    /// assert!(model.check(&Check::new().only(["x"]))?.all_hold());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Check<'p> {
        self.only.extend(names.into_iter().map(|name| name.as_ref().to_string()));
        self
    }

    /// Does not decide these properties, even if [`Check::only`] selects them.
    pub fn skip<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Check<'p> {
        self.skip.extend(names.into_iter().map(|name| name.as_ref().to_string()));
        self
    }

    /// Stops soon after the flag becomes true.
    pub fn interrupt(mut self, flag: Arc<AtomicBool>) -> Check<'p> {
        self.interrupt = flag;
        self
    }

    /// Calls a function after each verdict, and many times a second in between.
    pub fn on_progress(mut self, call: impl Fn(Progress) + 'p) -> Check<'p> {
        self.progress = Some(Box::new(call));
        self
    }
}

impl fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Check { timeout, memory, show, .. } = self;
        f.debug_struct("Check").field("timeout", timeout).field("memory", memory).field("show", show).finish()
    }
}

impl Model {
    /// Decides all properties, or those that the check selects.
    ///
    /// # Errors
    ///
    /// If the check cannot be started, or names a property that does not exist.
    pub fn check(&self, check: &Check<'_>) -> Result<Report, CheckError> {
        let limits = Limits::new(check.timeout, check.memory, &check.interrupt);
        let mut observe = |progress| {
            if let Some(call) = &check.progress {
                call(progress);
            }
        };
        let selected;
        let loaded = if check.only.is_empty() && check.skip.is_empty() {
            &self.loaded
        } else {
            selected = self.loaded.selected(&check.only, &check.skip).map_err(|refused| CheckError {
                message: refused.iter().map(|found| found.message.as_str()).collect::<Vec<_>>().join("; "),
            })?;
            &selected
        };
        let run = driver::check_showing(loaded, check.show, &limits, &mut observe);
        let run = run.map_err(|error| CheckError { message: error.to_string() })?;
        let subject = Subject { loaded, run: run.as_ref() };
        let data = run_report(subject, false);
        let mut text = Vec::new();
        // Writing to a vector cannot fail.
        _ = Text::default().run(&mut text, &data, subject, None);
        let mut json = Vec::new();
        _ = masque_report::json(&mut json, vec![data]);
        let run = run.unwrap_or_default();
        let results = loaded.model.iter().flat_map(|model| {
            model.properties().into_iter().zip(&run.decisions).map(move |(property, decision)| {
                let text = |shown| Text::default().evidence_text(model, shown);
                PropertyResult {
                    name: property.title,
                    formula: property.formula,
                    verdict: decision.verdict,
                    remarks: decision.remarks.clone(),
                    evidence: decision.evidence.as_ref().map(|shown| Evidence { text: text(shown) }),
                }
            })
        });
        Ok(Report {
            properties: results.collect(),
            states: run.states.clone(),
            findings: run.findings.iter().map(|finding| finding.diagnostic.message.clone()).collect(),
            text: String::from_utf8_lossy(&text).into_owned(),
            json: String::from_utf8_lossy(&json).into_owned(),
        })
    }
}

/// The results of a check. Displayed as the command line prints them.
#[derive(Clone, Debug)]
#[must_use]
pub struct Report {
    /// One per property, in the order of the text; none if the findings include an error.
    pub properties: Vec<PropertyResult>,
    /// The number of reachable states, if they were counted.
    pub states: Option<Count>,
    /// Deadlocks, overflows and other findings, one sentence each.
    pub findings: Vec<String>,
    text: String,
    json: String,
}

impl Report {
    /// The result of a property, by its name.
    pub fn property(&self, name: &str) -> Option<&PropertyResult> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Whether every property holds.
    pub fn all_hold(&self) -> bool {
        self.properties.iter().all(|property| property.verdict == Verdict::Holds)
    }

    /// The report `masque.check/1` as JSON.
    pub fn json(&self) -> &str {
        &self.json
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The result of one property.
#[derive(Clone, Debug)]
pub struct PropertyResult {
    /// Name of the property, or its position from 1.
    pub name: String,
    /// The formula as it was read.
    pub formula: String,
    /// Whether the property holds.
    pub verdict: Verdict,
    /// Remarks on the verdict, for example that the property holds for a trivial reason.
    pub remarks: Vec<String>,
    /// Counterexample or witness, if it was requested and exists.
    pub evidence: Option<Evidence>,
}

/// Evidence for a verdict: a counterexample or a witness, which has been replayed on the model. Displayed as the
/// command line prints it; [`Report::json`] has it as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    text: String,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a check could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    message: String,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CheckError {}
