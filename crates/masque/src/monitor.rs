//! Monitors: records of what agents do are compared with a model while they arrive.

use std::fmt;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use masque_driver::{self as driver, Diagnostic, Limits, Sources, Why};
use masque_monitor::map::{READY_MAPS, no_map};
use masque_monitor::{Enforcement, Status};
use masque_report::{
    FactReport, GoalReport, MonitorEvent, MonitorHost, MonitorLine, MonitorStart, MonitorSummary,
    MonitorText, ObligationReport, Text,
};
use masque_verdict::Stop;

use crate::following::{Follower, Host, Task, open_and_serve};
use crate::states::received_within;
use crate::{Check, LoadError, Model};

/// Stack size in bytes of the thread that judges records, because terms may be deeply nested.
const STACK_BYTES: usize = 64 << 20;

/// What is monitored, and how. By default each record is a record without a map, and the observable steps of a protocol
/// are the messages that are sent.
#[derive(Clone, Debug, Default)]
#[must_use = "a setup does nothing until `Model::monitor` is called with it"]
pub struct MonitorSetup {
    pub(crate) observable: Vec<String>,
    pub(crate) unseen: Option<String>,
    pub(crate) viewer: Option<String>,
    pub(crate) map: Option<(String, String)>,
    pub(crate) enforcement: Option<Enforcement>,
    pub(crate) max_sessions: Option<usize>,
    pub(crate) idle: Option<Duration>,
}

impl MonitorSetup {
    /// The defaults.
    pub fn new() -> MonitorSetup {
        MonitorSetup::default()
    }

    /// Adds a pattern of observable steps of a protocol, as in formulas: `out(_)`, `#(edit(_))`.
    pub fn observe(mut self, pattern: &str) -> MonitorSetup {
        self.observable.push(pattern.to_string());
        self
    }

    /// Says which steps of an interpreted system may have no record: a condition on the state before the step and on
    /// the joint action.
    pub fn unseen(mut self, condition: &str) -> MonitorSetup {
        self.unseen = Some(condition.to_string());
        self
    }

    /// The records are what this agent of an interpreted system sees.
    pub fn viewer(mut self, agent: &str) -> MonitorSetup {
        self.viewer = Some(agent.to_string());
        self
    }

    /// Reads records with a map, which is given as text; its name is for messages.
    pub fn map_text(mut self, name: &str, text: &str) -> MonitorSetup {
        self.map = Some((name.to_string(), text.to_string()));
        self
    }

    /// Reads records with a map that is part of Masque, such as `otel-genai`, or in a file.
    ///
    /// # Errors
    ///
    /// If there is no such map, or the file cannot be read.
    pub fn map(self, name: &str) -> Result<MonitorSetup, MonitorError> {
        if let Some(map) = READY_MAPS.iter().find(|map| map.name == name) {
            return Ok(self.map_text(&format!("{}.toml", map.name), map.text));
        }
        if !name.contains(['.', '/', '\\']) && !Path::new(name).exists() {
            return Err(MonitorError::nowhere(no_map(name)));
        }
        match driver::read_text_within(Path::new(name), driver::MAX_BYTES, &Limits::default()) {
            Ok(text) => Ok(self.map_text(name, &text)),
            Err(driver::Unread::Refused(diagnostic)) => Err(MonitorError::nowhere(*diagnostic)),
            Err(driver::Unread::Stopped(why)) => Err(MonitorError::Stopped(why)),
        }
    }

    /// Judges records before they happen: what is not possible is denied, and its session goes on. `allows_unknown`:
    /// what is not known to be possible is allowed.
    pub fn enforce(mut self, allows_unknown: bool) -> MonitorSetup {
        self.enforcement = Some(Enforcement { allows_unknown });
        self
    }

    /// Limits the number of open sessions. Beyond it, the one that was idle for the longest time is dropped.
    pub fn sessions(mut self, max: usize) -> MonitorSetup {
        self.max_sessions = Some(max.max(1));
        self
    }

    /// Closes sessions in which nothing was observed for this time, by the times of the records.
    pub fn idle(mut self, time: Duration) -> MonitorSetup {
        self.idle = Some(time);
        self
    }
}

/// Why there is no monitor or no answer.
#[derive(Clone, Debug)]
pub enum MonitorError {
    /// The map, a pattern or a condition has errors.
    Invalid(LoadError),
    /// A limit was hit.
    Stopped(Why),
    /// The question makes no sense for this model or record: a sentence.
    Impossible(String),
    /// The thread of the monitor has ended, or could not be started.
    Ended,
}

impl MonitorError {
    pub(crate) fn nowhere(diagnostic: Diagnostic) -> MonitorError {
        MonitorError::Invalid(LoadError::new(&Sources::default(), &[diagnostic]))
    }

    pub(crate) fn invalid(sources: &Sources, diagnostics: &[Diagnostic]) -> MonitorError {
        MonitorError::Invalid(LoadError::new(sources, diagnostics))
    }
}

impl fmt::Display for MonitorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MonitorError::Invalid(error) => error.fmt(f),
            MonitorError::Stopped(why) => write!(f, "the monitor has no answer: {why}"),
            MonitorError::Impossible(message) => f.write_str(message),
            MonitorError::Ended => f.write_str("the thread of the monitor has ended"),
        }
    }
}

impl std::error::Error for MonitorError {}

impl From<Stop> for MonitorError {
    fn from(stop: Stop) -> MonitorError {
        MonitorError::Stopped(stop.why)
    }
}

/// What is known in a session.
#[derive(Clone, Debug)]
pub struct MonitorStatus {
    /// All goals with their status.
    pub goals: Vec<GoalReport>,
    /// All other properties with their truth.
    pub facts: Vec<FactReport>,
    /// Obligations that are owed or perhaps owed.
    pub obligations: Vec<ObligationReport>,
    /// Number of possible states.
    pub states: u64,
    /// Why there may be more possible states.
    pub unknown: Option<String>,
}

impl From<Status> for MonitorStatus {
    fn from(status: Status) -> MonitorStatus {
        MonitorStatus {
            goals: status.goals.iter().map(GoalReport::from).collect(),
            facts: status.facts.iter().map(FactReport::from).collect(),
            obligations: status.obligations.iter().map(ObligationReport::from).collect(),
            states: status.n_states,
            unknown: status.unknown,
        }
    }
}

/// Compares records with a model while they arrive, as `masque monitor` does. A record is a JSON object; records with the
/// same key `session` belong together.
///
/// A thread keeps the model and its sessions. It ends when the value is dropped. Limits on time count for each record.
///
/// ```
/// use masque::{Check, Model, MonitorLine, MonitorSetup};
/// let text = "
///     a(hen, H) :: ( egg(1) => a(farmer, f) or cluck => a(farmer, f) ).
///     a(farmer, F) :: ( egg(_) <= a(hen, _) or cluck <= a(hen, _) ).
///     agent a(hen, h).  agent a(farmer, f).  property fed : <-* . in(egg(1))>tt ;";
/// let check = Check::new();
/// let monitor = Model::from_text("farm.lcc", text)?.monitor(&MonitorSetup::new(), &check)?;
///
/// let may = monitor.may(r#"{"from": "h", "message": "egg(2)"}"#, &check)?;
/// assert_eq!((may.verdict, may.instead.len()), ("violated", 2));
/// let lines = monitor.observe([r#"{"from": "h", "message": "cluck"}"#], &check)?;
/// let MonitorLine::Event(event) = &lines[0] else { panic!() };
/// assert_eq!((event.verdict, event.goals[0].status), ("possible", "lost"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Monitor {
    tasks: Mutex<Sender<Task>>,
}

impl Model {
    /// Begins to monitor an ISPL model or an LCC protocol: explores the model, and computes where its properties are true.
    ///
    /// # Errors
    ///
    /// If the model has another language, the setup does not fit it, or a limit is exceeded.
    pub fn monitor(&self, setup: &MonitorSetup, check: &Check<'_>) -> Result<Monitor, MonitorError> {
        let (tasks, received) = channel();
        let (opened, is_open) = channel();
        let host = Host::new(check);
        let (loaded, setup) = (self.loaded.clone(), setup.clone());
        let serve = move || {
            if let Err(error) = open_and_serve(loaded, &setup, host, &opened, &received) {
                // Sending fails if the caller has stopped waiting.
                _ = opened.send(Err(error));
            }
        };
        let thread = Builder::new().name("masque-monitor".to_string()).stack_size(STACK_BYTES).spawn(serve);
        thread.map_err(|_| MonitorError::Ended)?;
        received_within(&is_open, check).ok_or(MonitorError::Ended)??;
        Ok(Monitor { tasks: Mutex::new(tasks) })
    }
}

impl Monitor {
    fn ask<T: Send + 'static>(
        &self,
        check: &Check<'_>,
        question: impl FnOnce(&mut dyn Follower, Host) -> Result<T, MonitorError> + Send + 'static,
    ) -> Result<T, MonitorError> {
        let (sender, answers) = channel();
        let host = Host::new(check);
        let task: Task = Box::new(move |follower| _ = sender.send(question(follower, host)));
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.send(task).map_err(|_| MonitorError::Ended)?;
        drop(tasks);
        received_within(&answers, check).ok_or(MonitorError::Ended)?
    }

    /// What is monitored, and what is known before the first record: the line `start` of the result.
    ///
    /// # Errors
    ///
    /// If the thread of the monitor has ended.
    pub fn start(&self, check: &Check<'_>) -> Result<MonitorStart, MonitorError> {
        self.ask(check, |follower, _| Ok(follower.kept().start.clone()))
    }

    /// Judges records, each a JSON object as text. Returns a line for each event, session that is closed, and record
    /// that cannot be used. If the user interrupts, the record that was being judged is `unknown`, its session goes on
    /// without it, and the records after it are not used.
    ///
    /// # Errors
    ///
    /// If the thread of the monitor has ended.
    pub fn observe<R: Into<String>>(
        &self,
        records: impl IntoIterator<Item = R>,
        check: &Check<'_>,
    ) -> Result<Vec<MonitorLine>, MonitorError> {
        let records: Vec<String> = records.into_iter().map(Into::into).collect();
        self.ask(check, move |follower, mut host| {
            for record in records {
                follower.judge(record, &mut host);
                if host.is_interrupted() {
                    break;
                }
            }
            Ok(host.lines)
        })
    }

    /// Judges a record that describes one event, or none that the map uses. Returns the lines of [`Monitor::observe`], and
    /// the event `ignored` if the map uses none.
    ///
    /// # Errors
    ///
    /// If the record cannot be used or describes several events, or if the map puts events in order, so that this one waits.
    pub fn observe_one(&self, record: &str, check: &Check<'_>) -> Result<Vec<MonitorLine>, MonitorError> {
        let record = record.to_string();
        self.ask(check, move |follower, mut host| {
            follower.judge_one(record, &mut host).map_err(MonitorError::Impossible)?;
            Ok(host.lines)
        })
    }

    /// Judges a record as [`Monitor::observe_one`] would now, without adding it to its log.
    ///
    /// # Errors
    ///
    /// If the record cannot be used or describes several events.
    pub fn may(&self, record: &str, check: &Check<'_>) -> Result<MonitorEvent, MonitorError> {
        let record = record.to_string();
        self.ask(check, move |follower, mut host| {
            let budget = host.budget();
            follower.preview(record, &budget).map_err(MonitorError::Impossible)
        })
    }

    /// What is known in a session; for one without records, what is known before the first. None if the session is
    /// closed.
    ///
    /// # Errors
    ///
    /// If a limit is hit.
    pub fn status(
        &self,
        session: Option<&str>,
        check: &Check<'_>,
    ) -> Result<Option<MonitorStatus>, MonitorError> {
        let key = session.map(str::to_string);
        self.ask(check, move |follower, mut host| {
            Ok(follower.status(&key, &host.budget())?.map(MonitorStatus::from))
        })
    }

    /// The keys of the open sessions; the one that was used last is the last.
    ///
    /// # Errors
    ///
    /// If the thread of the monitor has ended.
    pub fn open_sessions(&self, check: &Check<'_>) -> Result<Vec<Option<String>>, MonitorError> {
        self.ask(check, |follower, _| Ok(follower.open_keys()))
    }

    /// Ends a session. Returns the line that says what is left; none if it is not open.
    ///
    /// # Errors
    ///
    /// If the thread of the monitor has ended.
    pub fn end(&self, session: Option<&str>, check: &Check<'_>) -> Result<Option<MonitorLine>, MonitorError> {
        let key = session.map(str::to_string);
        self.ask(check, move |follower, mut host| {
            follower.end(&key, &mut host);
            Ok(host.lines.pop())
        })
    }

    /// Ends the log: closes all sessions. Returns a line for each, and the summary at last.
    ///
    /// # Errors
    ///
    /// If the thread of the monitor has ended.
    pub fn close(&self, check: &Check<'_>) -> Result<Vec<MonitorLine>, MonitorError> {
        self.ask(check, |follower, mut host| {
            follower.finish(&mut host);
            Ok(host.lines)
        })
    }

    /// The numbers so far.
    ///
    /// # Errors
    ///
    /// If the thread of the monitor has ended.
    pub fn summary(&self, check: &Check<'_>) -> Result<MonitorSummary, MonitorError> {
        self.ask(check, |follower, _| Ok(follower.summary()))
    }

    /// The result so far as a page for a browser, open sessions included.
    ///
    /// # Errors
    ///
    /// If the thread of the monitor has ended.
    pub fn html(&self, check: &Check<'_>) -> Result<String, MonitorError> {
        self.ask(check, |follower, mut host| Ok(follower.page(&host.budget()).html()))
    }
}

/// A line of a result as `masque monitor -v` prints it.
pub fn monitor_text(line: &MonitorLine) -> String {
    let detail = masque_report::Detail::Verbose;
    let mut text = MonitorText::new(Text { detail, ..Text::default() }).with_log("log");
    let mut out = Vec::new();
    // Writing to a vector cannot fail.
    _ = text.write(&mut out, line);
    String::from_utf8_lossy(&out).trim_end().to_string()
}
