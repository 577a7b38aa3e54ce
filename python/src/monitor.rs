//! Monitors of protocols and interpreted systems.

use std::sync::Arc;
use std::time::Duration;

use masque::{Check, Monitor, MonitorError, MonitorLine, MonitorSetup, monitor_text};
use pyo3::prelude::*;

use crate::errors::{check_error, load_error};
use crate::model::NativeModel;
use crate::waiting::{CallLimits, run};

/// A line of the result: as JSON, and as the command line prints it.
type LineParts = (String, String);
/// A name with its status and the reason if that is unknown.
type Named = (String, &'static str, Option<String>);
/// An obligation: its name, who owes what, values of its variables, and its status.
type Owed = (String, String, Vec<(String, String)>, &'static str);
/// Goals, other properties, obligations, number of possible states, and why there may be more.
type StatusParts = (Vec<Named>, Vec<Named>, Vec<Owed>, u64, Option<String>);

/// What is asked of a monitor.
#[derive(FromPyObject)]
pub(crate) struct Watching {
    #[pyo3(item)]
    observe: Vec<String>,
    #[pyo3(item)]
    unseen: Option<String>,
    #[pyo3(item)]
    viewer: Option<String>,
    #[pyo3(item)]
    map: Option<String>,
    #[pyo3(item)]
    map_text: Option<String>,
    #[pyo3(item)]
    enforce: bool,
    #[pyo3(item)]
    allow_unknown: bool,
    #[pyo3(item)]
    sessions: Option<usize>,
    #[pyo3(item)]
    idle: Option<f64>,
}

impl Watching {
    fn setup(self) -> Result<MonitorSetup, MonitorError> {
        let mut setup = MonitorSetup::new();
        for pattern in &self.observe {
            setup = setup.observe(pattern);
        }
        if let Some(condition) = &self.unseen {
            setup = setup.unseen(condition);
        }
        if let Some(agent) = &self.viewer {
            setup = setup.viewer(agent);
        }
        if let Some(text) = &self.map_text {
            setup = setup.map_text("map.toml", text);
        }
        if let Some(name) = &self.map {
            setup = setup.map(name)?;
        }
        if self.enforce {
            setup = setup.enforce(self.allow_unknown);
        }
        if let Some(max) = self.sessions {
            setup = setup.sessions(max);
        }
        // A time that is no duration is too long to end.
        if let Some(idle) = self.idle.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            setup = setup.idle(idle);
        }
        Ok(setup)
    }
}

/// A monitor. A thread has its sessions, so it cannot be used after a fork.
#[pyclass(name = "Monitor", module = "masque_mc._native", frozen)]
pub(crate) struct NativeMonitor {
    monitor: Arc<Monitor>,
    limits: CallLimits,
}

fn raise(py: Python<'_>, error: &MonitorError) -> PyErr {
    match error {
        MonitorError::Invalid(error) => load_error(py, error),
        other => check_error(py, other.to_string()),
    }
}

fn line_parts(line: &MonitorLine) -> LineParts {
    let mut json = Vec::new();
    // Writing to a vector cannot fail.
    _ = line.write_json(&mut json);
    (String::from_utf8_lossy(&json).trim_end().to_string(), monitor_text(line))
}

impl NativeMonitor {
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&Monitor, &Check<'_>) -> Result<T, MonitorError> + Send,
    ) -> PyResult<T> {
        let monitor = Arc::clone(&self.monitor);
        let answer = run(py, self.limits, None, move |check| question(&monitor, &check))?;
        answer.map_err(|error| raise(py, &error))
    }
}

#[pymethods]
impl NativeMonitor {
    #[staticmethod]
    fn open(
        py: Python<'_>,
        model: &NativeModel,
        watching: Watching,
        timeout: Option<f64>,
        memory: Option<u64>,
    ) -> PyResult<NativeMonitor> {
        let (model, limits) = (model.copy(), CallLimits { timeout, memory });
        let opened = run(py, limits, None, move |check| model.monitor(&watching.setup()?, &check))?;
        let monitor = Arc::new(opened.map_err(|error| raise(py, &error))?);
        Ok(NativeMonitor { monitor, limits })
    }

    fn start(&self, py: Python<'_>) -> PyResult<LineParts> {
        self.ask(py, |monitor, check| Ok(line_parts(&MonitorLine::Start(monitor.start(check)?))))
    }

    fn observe(&self, py: Python<'_>, records: Vec<String>) -> PyResult<Vec<LineParts>> {
        self.ask(py, move |monitor, check| {
            Ok(monitor.observe(records, check)?.iter().map(line_parts).collect())
        })
    }

    fn observe_one(&self, py: Python<'_>, record: &str) -> PyResult<Vec<LineParts>> {
        self.ask(py, |monitor, check| {
            Ok(monitor.observe_one(record, check)?.iter().map(line_parts).collect())
        })
    }

    fn may(&self, py: Python<'_>, record: &str) -> PyResult<LineParts> {
        self.ask(py, |monitor, check| {
            let event = monitor.may(record, check)?;
            Ok(line_parts(&MonitorLine::Event(Box::new(event))))
        })
    }

    /// What is known in a session; none if it is closed.
    fn status(&self, py: Python<'_>, session: Option<&str>) -> PyResult<Option<StatusParts>> {
        let status = self.ask(py, |monitor, check| monitor.status(session, check))?;
        Ok(status.map(|status| {
            let goals = status.goals.into_iter().map(|goal| (goal.goal, goal.status, goal.reason));
            let facts = status.facts.into_iter().map(|fact| (fact.property, fact.truth, fact.reason));
            let owed = status.obligations.into_iter();
            let owed = owed.map(|owed| (owed.obligation, owed.owes, owed.bindings.0, owed.status));
            (goals.collect(), facts.collect(), owed.collect(), status.states, status.unknown)
        }))
    }

    fn open_sessions(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        self.ask(py, |monitor, check| monitor.open_sessions(check))
    }

    fn end(&self, py: Python<'_>, session: Option<&str>) -> PyResult<Option<LineParts>> {
        self.ask(py, |monitor, check| Ok(monitor.end(session, check)?.as_ref().map(line_parts)))
    }

    fn close(&self, py: Python<'_>) -> PyResult<Vec<LineParts>> {
        self.ask(py, |monitor, check| Ok(monitor.close(check)?.iter().map(line_parts).collect()))
    }

    fn summary(&self, py: Python<'_>) -> PyResult<LineParts> {
        self.ask(py, |monitor, check| Ok(line_parts(&MonitorLine::Summary(monitor.summary(check)?))))
    }

    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, |monitor, check| monitor.html(check))
    }
}
