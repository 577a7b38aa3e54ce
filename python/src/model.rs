//! Loading and checking, and the results of a check.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use masque::{Engine, LoadError, Loader, Model, Report};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{MessageParts, check_error, load_error, message_parts};
use crate::states::NativeStates;
use crate::waiting::{CallLimits, run};

/// Names with values.
type Named = Vec<(String, String)>;
/// A walk as Python receives it.
type WalkParts = (String, Vec<Named>, Vec<(String, Named)>, Option<usize>);

/// What is asked of a model when it is loaded, besides its texts.
#[derive(FromPyObject)]
pub(crate) struct Request {
    #[pyo3(item)]
    parameters: Vec<(String, i64)>,
    #[pyo3(item)]
    options: Vec<(String, String)>,
    #[pyo3(item)]
    properties: Vec<String>,
    #[pyo3(item)]
    property_files: Vec<String>,
}

/// What is asked of a check, besides its limits.
#[derive(FromPyObject)]
pub(crate) struct Asked {
    #[pyo3(item)]
    only: Vec<String>,
    #[pyo3(item)]
    skip: Vec<String>,
    #[pyo3(item)]
    show: String,
    #[pyo3(item)]
    engine: Option<String>,
    #[pyo3(item)]
    count: bool,
}

impl Request {
    fn loader(&self) -> Loader {
        let mut loader = Loader::new();
        for (name, value) in &self.parameters {
            loader = loader.parameter(name, *value);
        }
        for (name, value) in &self.options {
            loader = loader.option(name, value);
        }
        for formula in &self.properties {
            loader = loader.property(formula);
        }
        for path in &self.property_files {
            loader = loader.properties_from(path);
        }
        loader
    }
}

/// The engine with a name; none for the one that a check chooses.
fn engine_of(name: Option<&str>) -> PyResult<Option<Engine>> {
    match name {
        None => Ok(None),
        Some("auto") => Ok(Some(Engine::Auto)),
        Some("explicit") => Ok(Some(Engine::Explicit)),
        Some("symbolic") => Ok(Some(Engine::Symbolic)),
        Some(other) => Err(PyValueError::new_err(format!(
            "there is no engine `{other}`; use auto, explicit or symbolic"
        ))),
    }
}

/// A loaded model.
#[pyclass(name = "Model", module = "masque_mc._native", frozen)]
pub(crate) struct NativeModel {
    /// Each call works on a copy, because the model cannot be shared by threads.
    model: Mutex<Model>,
    /// Whether the model is small, once this is known.
    is_small: OnceLock<bool>,
}

fn loaded(py: Python<'_>, load: impl FnOnce() -> Result<Model, LoadError> + Send) -> PyResult<NativeModel> {
    let model = run(py, CallLimits::default(), None, |_| load())?;
    let model = model.map_err(|error| load_error(py, &error))?;
    Ok(NativeModel { model: Mutex::new(model), is_small: OnceLock::new() })
}

/// Loads the files of one model.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, files: Vec<String>, request: Request) -> PyResult<NativeModel> {
    let loader = request.loader();
    loaded(py, move || loader.load(files))
}

/// Loads a text, which may import the others by their names.
#[pyfunction]
pub(crate) fn loads(
    py: Python<'_>,
    name: String,
    text: String,
    imports: Vec<(String, String)>,
    request: Request,
) -> PyResult<NativeModel> {
    let mut loader = request.loader();
    for (name, text) in &imports {
        loader = loader.import(name, text);
    }
    loaded(py, move || loader.text(&name, &text))
}

impl NativeModel {
    /// A copy of the model.
    pub(crate) fn copy(&self) -> Model {
        self.model().clone()
    }

    /// The model, for a short time: a thread that waits for the lock has the interpreter lock.
    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl NativeModel {
    fn name(&self) -> String {
        self.model().name()
    }

    fn language(&self) -> &'static str {
        self.model().language()
    }

    fn properties(&self) -> Vec<String> {
        self.model().properties()
    }

    fn agents(&self) -> Vec<String> {
        self.model().agents()
    }

    fn messages(&self) -> Vec<MessageParts> {
        self.model().messages().iter().map(message_parts).collect()
    }

    fn texts(&self) -> Vec<(String, String)> {
        self.model().texts()
    }

    /// Whether the model can be checked in this process.
    fn is_small(&self, py: Python<'_>) -> PyResult<bool> {
        if let Some(known) = self.is_small.get() {
            return Ok(*known);
        }
        let model = self.copy();
        let found = run(py, CallLimits::default(), None, move |check| model.is_small(&check))?;
        Ok(*self.is_small.get_or_init(|| found))
    }

    #[pyo3(signature = (asked, timeout, memory, progress))]
    fn check(
        &self,
        py: Python<'_>,
        asked: Asked,
        timeout: Option<f64>,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<NativeReport> {
        let model = self.copy();
        let engine = engine_of(asked.engine.as_deref())?;
        let report = run(py, CallLimits { timeout, memory }, progress.as_ref(), move |check| {
            let check = check.only(asked.only).skip(asked.skip);
            let check = if asked.count { check.count_states() } else { check };
            let check = match engine {
                None => check,
                Some(engine) => check.engine(engine),
            };
            let check = match asked.show.as_str() {
                "all" => check.show_all(),
                "none" => check.show_nothing(),
                _ => check,
            };
            let start = Instant::now();
            model.check(&check).map(|report| (report, start.elapsed()))
        })?;
        let (report, time) = report.map_err(|error| check_error(py, error.to_string()))?;
        Ok(NativeReport { report: Mutex::new(report), time })
    }

    fn states(&self, py: Python<'_>, timeout: Option<f64>, memory: Option<u64>) -> PyResult<NativeStates> {
        let model = self.copy();
        NativeStates::open(py, model, CallLimits { timeout, memory })
    }

    /// States and verdicts by the truth definition.
    fn by_definition(
        &self,
        py: Python<'_>,
        max_states: usize,
    ) -> PyResult<Option<(usize, Vec<Option<bool>>)>> {
        let model = self.copy();
        let found = run(py, CallLimits::default(), None, move |_| model.by_definition(max_states))?;
        Ok(found.map(|found| (found.states, found.verdicts)))
    }
}

/// Declares that all memory of this process is the memory of a check.
#[pyfunction]
pub(crate) fn own_process() {
    masque::own_process();
}

/// The results of a check.
#[pyclass(name = "Report", module = "masque_mc._native", frozen)]
pub(crate) struct NativeReport {
    report: Mutex<Report>,
    /// Time of the call of the library, without the conversions around it.
    time: Duration,
}

impl NativeReport {
    /// The report, for a short time: a thread that waits for the lock has the interpreter lock.
    fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl NativeReport {
    /// Seconds that the call of the library took. What else a check takes is the cost of calling it from Python.
    fn library_seconds(&self) -> f64 {
        self.time.as_secs_f64()
    }

    /// The report `masque.check/1`.
    fn json(&self) -> String {
        self.report().json().to_string()
    }

    /// The report as the command line prints it.
    fn text(&self) -> String {
        self.report().to_string()
    }

    /// The evidence of each property as text.
    fn evidence_texts(&self) -> Vec<Option<String>> {
        let report = self.report();
        report.properties.iter().map(|property| property.evidence.as_ref().map(ToString::to_string)).collect()
    }

    /// The walks in the evidence of a property: name, states, steps (label, actions), and where it loops.
    fn walks(&self, property: usize) -> Vec<WalkParts> {
        let walks = self.report().walks(property).into_iter();
        walks
            .map(|walk| {
                let steps = walk.steps.into_iter().map(|step| (step.label, step.actions)).collect();
                (walk.name, walk.states, steps, walk.back_to)
            })
            .collect()
    }

    fn html(&self, py: Python<'_>, property: Option<usize>) -> String {
        let report = self.report().clone();
        py.detach(move || report.html(property))
    }

    fn dot(&self, py: Python<'_>, property: Option<usize>) -> String {
        let report = self.report().clone();
        py.detach(move || report.dot(property))
    }
}
