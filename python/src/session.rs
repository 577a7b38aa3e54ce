//! Sessions of LCC protocols.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use masque::{LoadError, Verdict, message_chart};
use masque_driver::{Limits, protocol_setup};
use masque_lcc::{
    Budget, CannotAdvance, EventSelector, PossibleEvent, Question, Refused, Session, Setup, Text, Trace,
    Update,
};
use pyo3::prelude::*;

use crate::errors::{MessageParts, check_error, load_error, message_parts};
use crate::waiting::{CallLimits, run_within};

/// A possible event: its number, its label, and what remains afterwards.
type Move = (usize, String, Vec<String>);

/// A trace: labels of its events, where it loops, how it ends, and why agents are stuck.
type TraceParts = (Vec<String>, Option<usize>, String, Vec<String>);

/// The answer to a question: the verdict, its reason, remarks, and a trace if there is one.
#[pyclass(name = "Answer", module = "masque_mc._native", frozen)]
pub(crate) struct NativeAnswer {
    name: String,
    verdict: Verdict,
    remarks: Vec<String>,
    trace: Option<Trace>,
}

#[pymethods]
impl NativeAnswer {
    fn name(&self) -> &str {
        &self.name
    }

    fn verdict(&self) -> &'static str {
        self.verdict.word()
    }

    fn reason(&self) -> Option<String> {
        match self.verdict {
            Verdict::Unknown(why) => Some(why.word().to_string()),
            _ => None,
        }
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// The labels of the events of the trace, and how it ends.
    fn trace(&self) -> Option<TraceParts> {
        let trace = self.trace.as_ref()?;
        let labels = trace.events.iter().map(|event| event.label.clone()).collect();
        Some((labels, trace.loop_at, trace.end.word().to_string(), trace.blame.clone()))
    }

    /// The trace as a message chart in SVG.
    fn chart(&self) -> Option<String> {
        self.trace.as_ref().map(|trace| message_chart(trace, &self.name))
    }
}

/// Time between two attempts to lock a session that another thread uses.
const LOCK_INTERVAL: Duration = Duration::from_millis(1);

/// A session. Questions and changes are performed one after another.
#[pyclass(name = "Session", module = "masque_mc._native", frozen)]
pub(crate) struct NativeSession {
    shared: Arc<Shared>,
}

/// A session that several threads may use, also after a fork.
struct Shared {
    session: Mutex<Session>,
    /// Id of the process in which the session was locked last.
    locked_in: AtomicU32,
}

impl Shared {
    /// Locks the session within a budget. If another thread used it while the process forked, that thread does not exist
    /// in the child, so the session stays locked there.
    fn lock(&self, budget: &Budget) -> Result<MutexGuard<'_, Session>, Failure> {
        let process = std::process::id();
        loop {
            let session = match self.session.try_lock() {
                Ok(session) => session,
                Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
                Err(TryLockError::WouldBlock) if self.locked_in.load(Ordering::Relaxed) != process => {
                    let message =
                        "another thread used the session while the process forked; open it again here";
                    return Err(Failure::Other(message.to_string()));
                }
                Err(TryLockError::WouldBlock) => {
                    budget.check().map_err(stopped)?;
                    thread::sleep(LOCK_INTERVAL);
                    continue;
                }
            };
            self.locked_in.store(process, Ordering::Relaxed);
            return Ok(session);
        }
    }
}

fn stopped(stop: impl std::fmt::Display) -> Failure {
    Failure::Other(format!("the session was stopped: {stop}"))
}

/// The error of a session, with its messages.
enum Failure {
    Messages(LoadError),
    Other(String),
}

fn refused(session: &Session, refused: Refused) -> Failure {
    match refused {
        Refused::Invalid(diagnostics) => Failure::Messages(LoadError::new(session.sources(), &diagnostics)),
        Refused::Stopped(stop) => stopped(stop),
    }
}

fn listed(moves: Vec<PossibleEvent>) -> Vec<Move> {
    moves.into_iter().map(|found| (found.number, found.event.label, found.then)).collect()
}

impl NativeSession {
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        limits: CallLimits,
        work: impl FnOnce(&mut Session, &Budget) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let shared = Arc::clone(&self.shared);
        let done = run_within(py, limits, move |budget| work(&mut *shared.lock(budget)?, budget))?;
        done.map_err(|failure| match failure {
            Failure::Messages(error) => load_error(py, &error),
            Failure::Other(message) => check_error(py, message),
        })
    }
}

#[pymethods]
impl NativeSession {
    /// Opens a session from files, and from named texts of statements and of properties. Files import files, texts
    /// other texts.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        files: Vec<(String, String)>,
        properties: Vec<(String, String)>,
        options: Vec<(String, String)>,
    ) -> PyResult<NativeSession> {
        let texts = |named: Vec<(String, String)>| {
            named.into_iter().map(|(name, text)| Text { name, text }).collect::<Vec<Text>>()
        };
        let (files, properties) = (texts(files), texts(properties));
        let opened = run_within(py, CallLimits::default(), move |budget| {
            let mut setup = Setup { options, ..Setup::default() };
            if !paths.is_empty() {
                let read = protocol_setup("Session", &paths, &[], &setup.options, &Limits::default());
                setup = read.map_err(|refused| LoadError::new(&refused.sources, &refused.diagnostics))?;
            }
            setup.files.extend(files);
            setup.properties.extend(properties);
            Session::open_within(&setup, budget)
                .map_err(|refused| LoadError::new(&refused.sources, &refused.diagnostics))
        })?;
        let session = Mutex::new(opened.map_err(|error| load_error(py, &error))?);
        let shared = Shared { session, locked_in: AtomicU32::new(std::process::id()) };
        Ok(NativeSession { shared: Arc::new(shared) })
    }

    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<MessageParts>> {
        let error = self.ask(py, CallLimits::default(), |session, _| {
            Ok(LoadError::new(session.sources(), session.warnings()))
        })?;
        Ok(error.messages.iter().map(message_parts).collect())
    }

    fn properties(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.ask(py, CallLimits::default(), |session, _| {
            let properties = session.properties().into_iter();
            Ok(properties.map(|property| (property.name, property.formula)).collect())
        })
    }

    fn team(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.ask(py, CallLimits::default(), |session, _| Ok(session.team()))
    }

    /// The current state as statements, and whether it is final.
    fn state(&self, py: Python<'_>) -> PyResult<(Vec<String>, bool)> {
        self.ask(py, CallLimits::default(), |session, _| Ok((session.state(), session.is_final())))
    }

    /// Why each agent is stuck.
    fn blame(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.ask(py, CallLimits::default(), |session, budget| {
            session.blame_within(budget).map_err(|stop| Failure::Other(stop.to_string()))
        })
    }

    #[pyo3(signature = (question, is_formula, evidence, timeout, memory))]
    fn check(
        &self,
        py: Python<'_>,
        question: String,
        is_formula: bool,
        evidence: bool,
        timeout: Option<f64>,
        memory: Option<u64>,
    ) -> PyResult<NativeAnswer> {
        let asked = match is_formula {
            true => Question::Formula(question),
            false => Question::Property(question),
        };
        self.ask(py, CallLimits { timeout, memory }, move |session, budget| {
            let reply = session.check(&asked, evidence, budget);
            let reply = reply.map_err(|found| refused(session, Refused::Invalid(found)))?;
            Ok(NativeAnswer {
                name: reply.name,
                verdict: reply.checked.verdict,
                remarks: reply.remarks,
                trace: reply.checked.trace,
            })
        })
    }

    /// Adds and removes statements. Returns the numbers of both.
    fn update(&self, py: Python<'_>, add: Vec<String>, remove: Vec<String>) -> PyResult<(usize, usize)> {
        self.ask(py, CallLimits::default(), move |session, budget| {
            let update = Update { add, remove };
            match session.update_within(&update, budget) {
                Ok(summary) => Ok((summary.added, summary.removed)),
                Err(found) => Err(refused(session, found)),
            }
        })
    }

    /// The possible events, and the name of the bound that hides others.
    fn moves(&self, py: Python<'_>) -> PyResult<(Vec<Move>, Option<String>)> {
        self.ask(py, CallLimits::default(), |session, budget| {
            let found = session.possible_events_within(budget);
            let found = found.map_err(|stop| Failure::Other(stop.to_string()))?;
            Ok((listed(found.next), found.cut.map(str::to_string)))
        })
    }

    /// Advances by the event with a number, a label, or that matches a pattern. Returns its label.
    fn advance(&self, py: Python<'_>, kind: &str, value: String) -> PyResult<String> {
        let selector = match kind {
            "number" => EventSelector::Index(value.parse().unwrap_or(usize::MAX)),
            "label" => EventSelector::Label(value),
            _ => EventSelector::Pattern(value),
        };
        self.ask(py, CallLimits::default(), move |session, budget| {
            match session.advance_within(&selector, budget) {
                Ok(event) => Ok(event.label),
                Err(CannotAdvance::Unreadable(found)) => Err(refused(session, Refused::Invalid(found))),
                Err(error) => Err(Failure::Other(error.to_string())),
            }
        })
    }
}
