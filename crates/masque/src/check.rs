//! Checks and their results.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use masque_driver::trace::TraceAction;
use masque_driver::{self as driver, Count, Limits, Loaded, Progress, Run, Show, Verdict};
use masque_report::{
    EvidenceFile, EvidenceFormat, EvidenceView, RunView, Subject, Text, evidence_view, run_report,
};

use crate::{Engine, Model};

/// The limits and options of a check. By default there are no limits, and counterexamples are shown.
#[derive(Default)]
#[must_use = "a check does nothing until `Model::check` is called with it"]
pub struct Check<'p> {
    timeout: Option<Duration>,
    memory: Option<u64>,
    show: Show,
    only: Vec<String>,
    skip: Vec<String>,
    engine: Option<Engine>,
    counts_states: bool,
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

    /// Chooses the engine for interpreted systems, instead of the one of the loader. It changes time and memory, never a
    /// verdict.
    pub fn engine(mut self, engine: Engine) -> Check<'p> {
        self.engine = Some(engine);
        self
    }

    /// Counts all states of a protocol or a transition system, even if its properties do not need them.
    ///
    /// ```
    /// use masque::{Check, Model};
    /// let model = Model::from_text("lamp.aut", "des (0, 2, 2)\n(0, press, 1)\n(1, release, 0)\n")?;
    /// assert_eq!(model.check(&Check::new().count_states())?.states.unwrap().to_string(), "2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn count_states(mut self) -> Check<'p> {
        self.counts_states = true;
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

impl Check<'_> {
    /// The time limit.
    pub(crate) fn timeout_length(&self) -> Option<Duration> {
        self.timeout
    }

    /// The limits, from now on.
    pub(crate) fn limits(&self) -> Limits {
        Limits::new(self.timeout, self.memory, &self.interrupt)
    }

    /// Calls the function that receives progress, while a result is awaited.
    pub(crate) fn wait_a_little(&self) {
        if let Some(call) = &self.progress {
            call(Progress { decided: 0, total: 0, is_explored: false, reached: None });
        }
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
        let loaded = self.selected(check)?;
        let mut observe = |progress| {
            if let Some(call) = &check.progress {
                call(progress);
            }
        };
        let run = driver::check_showing(&loaded, check.show, &check.limits(), &mut observe);
        let run = run.map_err(|error| CheckError { message: error.to_string() })?;
        Ok(Report::new(loaded, run.unwrap_or_default()))
    }

    /// Whether the model is so small that checking it is short and needs little memory, unless its properties are very
    /// hard. A program with other tasks can check such models itself, and larger ones in another process.
    ///
    /// ```
    /// let model = masque::Model::from_text("lamp.aut", "des (0, 1, 2)\n(0, press, 1)\n")?;
    /// assert!(model.is_small(&masque::Check::new()));
    /// # Ok::<(), masque::LoadError>(())
    /// ```
    pub fn is_small(&self, check: &Check<'_>) -> bool {
        self.loaded.is_small(&check.limits())
    }

    /// The loaded model with the properties that a check selects, and with its engine.
    fn selected(&self, check: &Check<'_>) -> Result<Loaded, CheckError> {
        let is_whole = check.only.is_empty() && check.skip.is_empty();
        let mut loaded = match is_whole {
            true => self.loaded.clone(),
            false => {
                let refused = |refused: Vec<driver::Diagnostic>| CheckError {
                    message: refused
                        .iter()
                        .map(|found| found.message.as_str())
                        .collect::<Vec<_>>()
                        .join("; "),
                };
                self.loaded.selected(&check.only, &check.skip).map_err(refused)?
            }
        };
        let has_steps = matches!(loaded.model, Some(driver::Model::Lcc(_) | driver::Model::Aut(_)));
        loaded.request.work.explore |= check.counts_states && has_steps;
        if let Some(engine) = check.engine {
            loaded.request.work.engine = engine.choice();
            loaded.engine_options.choice = engine.choice();
        }
        Ok(loaded)
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
    loaded: Loaded,
    run: Run,
    json: OnceLock<String>,
}

impl Report {
    fn new(loaded: Loaded, run: Run) -> Report {
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
        Report {
            properties: results.collect(),
            states: run.states.clone(),
            findings: run.findings.iter().map(|finding| finding.diagnostic.message.clone()).collect(),
            json: OnceLock::new(),
            run,
            loaded,
        }
    }

    fn subject(&self) -> Subject<'_> {
        let run = self.loaded.model.is_some().then_some(&self.run);
        Subject { loaded: &self.loaded, run }
    }

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
        self.json.get_or_init(|| {
            let mut json = Vec::new();
            // Writing to a vector cannot fail.
            _ = masque_report::json(&mut json, vec![run_report(self.subject(), false)]);
            String::from_utf8_lossy(&json).into_owned()
        })
    }

    /// The evidence as a page for a browser, as `masque check --evidence FILE.html` writes it: of the property at a
    /// position, counted from 0, or of all properties.
    ///
    /// ```
    /// use masque::{Check, Model};
    /// let text = "agent a is loop p := any endloop property x initially: EF p; property y: AG p;";
    /// let report = Model::from_text("coin.bdi", text)?.check(&Check::new())?;
    /// assert!(report.html(Some(1)).starts_with("<!DOCTYPE html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn html(&self, property: Option<usize>) -> String {
        self.evidence_file(EvidenceFormat::Html, property)
    }

    /// The evidence as graphs for Graphviz: of the property at a position, counted from 0, or of all properties.
    pub fn dot(&self, property: Option<usize>) -> String {
        self.evidence_file(EvidenceFormat::Dot, property)
    }

    /// The walks in the evidence of the property at a position, counted from 0: counterexamples, witnesses and plays.
    ///
    /// ```
    /// use masque::{Check, Model};
    /// let text = "des (0, 2, 2)\n(0, press, 1)\n(1, release, 0)\n";
    /// let model = masque::Loader::new().property("AG <press>tt").text("lamp.aut", text)?;
    /// let walks = model.check(&Check::new())?.walks(0);
    /// assert_eq!(walks[0].steps[0].label, "press");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn walks(&self, property: usize) -> Vec<EvidenceWalk> {
        let view = evidence_view(self.subject(), property).ok().flatten().unwrap_or_default();
        let EvidenceView { states, runs, .. } = view;
        let walk = |run: RunView| {
            let labels = run.steps.into_iter().zip(run.run.steps);
            EvidenceWalk {
                name: run.name,
                states: run.states.iter().filter_map(|&state| states.get(state).cloned()).collect(),
                steps: labels
                    .map(|(label, step)| WalkStep {
                        label,
                        actions: match step.action {
                            TraceAction::Joint(actions) => actions,
                            _ => Vec::new(),
                        },
                    })
                    .collect(),
                back_to: run.back_to,
            }
        };
        runs.into_iter().map(walk).collect()
    }

    fn evidence_file(&self, format: EvidenceFormat, property: Option<usize>) -> String {
        let mut only = None;
        if let Some(position) = property {
            let mut run = self.run.clone();
            let others = run.decisions.iter_mut().enumerate().filter(|(index, _)| *index != position);
            others.for_each(|(_, decision)| decision.evidence = None);
            only = Some(run);
        }
        let mut file = EvidenceFile::new(format, Text::default());
        let subject = Subject { run: only.as_ref().or(self.subject().run), ..self.subject() };
        let mut out = Vec::new();
        // Writing to a vector cannot fail.
        _ = file.add(subject).and_then(|()| file.write(&mut out));
        String::from_utf8_lossy(&out).into_owned()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (subject, mut text) = (self.subject(), Vec::new());
        // Writing to a vector cannot fail.
        _ = Text::default().run(&mut text, &run_report(subject, false), subject, None);
        f.write_str(&String::from_utf8_lossy(&text))
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

/// A walk in the evidence of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceWalk {
    /// What the walk is, as a heading.
    pub name: String,
    /// Named values of its states.
    pub states: Vec<Vec<(String, String)>>,
    /// Steps: one from each state to the next, and for an infinite walk one from the last state back.
    pub steps: Vec<WalkStep>,
    /// For an infinite walk: index of the state that follows the last.
    pub back_to: Option<usize>,
}

/// A step of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkStep {
    /// What happens, as text.
    pub label: String,
    /// For an interpreted system: the agents that have actions, and their actions.
    pub actions: Vec<(String, String)>,
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
