//! Monitors: records of what agents do are compared with a model while they arrive.

use std::fmt;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use masque_driver::{
    self as driver, Diagnostic, Limits, Loaded, LogConditions, Request, Severity, Sources, Why,
};
use masque_monitor::ispl::{IsplModel, IsplOptions, NotOpened, Vocabulary};
use masque_monitor::lcc::{Bounds, LccModel, ProtocolParts, obligations};
use masque_monitor::map::{Map, Order, READY_MAPS, no_map, read_map};
use masque_monitor::record::{DEFAULT_LINE_BYTES, Line, LineContent};
use masque_monitor::{
    Enforcement, Intake, Item, SessionLimits, Sessions, Status, Watched, WatchedProtocol, WatchedSystem,
};
use masque_report::{
    FactReport, GoalReport, MonitorEvent, MonitorHost, MonitorLine, MonitorLog, MonitorPage, MonitorStart,
    MonitorSummary, MonitorText, ObligationReport, Text,
};
use masque_verdict::{Budget, Stop};

use crate::states::received_within;
use crate::{Check, LoadError, Model};

/// Stack size in bytes of the thread that judges records, because terms may be deeply nested.
const STACK_BYTES: usize = 64 << 20;
/// Number of events of a session that are kept for its chart.
const MAX_CHART_EVENTS: usize = 60;
/// Default of the maximum number of open sessions.
const MAX_OPEN_SESSIONS: usize = 100_000;

type Task = Box<dyn FnOnce(&mut dyn Follower) + Send>;

/// What is monitored, and how. By default each record is a record without a map, and the observable steps of a protocol
/// are the messages that are sent.
#[derive(Clone, Debug, Default)]
#[must_use = "a setup does nothing until `Model::monitor` is called with it"]
pub struct MonitorSetup {
    observable: Vec<String>,
    unseen: Option<String>,
    viewer: Option<String>,
    map: Option<(String, String)>,
    enforcement: Option<Enforcement>,
    max_sessions: Option<usize>,
    idle: Option<Duration>,
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
    fn nowhere(diagnostic: Diagnostic) -> MonitorError {
        MonitorError::Invalid(LoadError::new(&Sources::default(), &[diagnostic]))
    }

    fn invalid(sources: &Sources, diagnostics: &[Diagnostic]) -> MonitorError {
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

/// The limits of a call, and the lines of its result.
struct Host {
    timeout: Option<Duration>,
    limits: Limits,
    start: Instant,
    lines: Vec<MonitorLine>,
}

impl Host {
    fn new(check: &Check<'_>) -> Host {
        let (timeout, limits) = (check.timeout_length(), check.limits());
        Host { timeout, limits, start: Instant::now(), lines: Vec::new() }
    }

    fn is_interrupted(&self) -> bool {
        self.limits.interrupt.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl MonitorHost for Host {
    fn budget(&mut self) -> Budget {
        let mut budget = Budget::unlimited().with_cancel(Arc::clone(&self.limits.interrupt));
        if let Some(timeout) = self.timeout {
            budget = budget.with_timeout(timeout);
        }
        match self.limits.memory {
            Some(bytes) => budget.with_memory(bytes),
            None => budget,
        }
    }

    fn elapsed(&self) -> i128 {
        self.start.elapsed().as_nanos() as i128
    }

    fn emit(&mut self, line: MonitorLine) {
        self.lines.push(line);
    }
}

/// What is kept beside the sessions.
struct Kept {
    start: MonitorStart,
    /// The sessions that were closed.
    page: MonitorPage,
    n_lines: u64,
}

/// A log that is followed, for a model in either language.
trait Follower {
    fn kept(&self) -> &Kept;
    fn judge(&mut self, record: String, host: &mut Host);
    fn judge_one(&mut self, record: String, host: &mut Host) -> Result<(), String>;
    fn preview(&mut self, record: String, budget: &Budget) -> Result<MonitorEvent, String>;
    fn status(&mut self, key: &Option<String>, budget: &Budget) -> Result<Option<Status>, Stop>;
    fn open_keys(&mut self) -> Vec<Option<String>>;
    fn end(&mut self, key: &Option<String>, host: &mut Host);
    fn finish(&mut self, host: &mut Host);
    fn summary(&self) -> MonitorSummary;
    fn page(&mut self, budget: &Budget) -> MonitorPage;
}

/// The event of a record that the map does not use.
fn ignored(line: &Line) -> MonitorEvent {
    MonitorEvent::not_judged(line.number, &None, &Default::default(), "ignored", None)
}

struct Following<'s, W: Watched> {
    log: MonitorLog<'s, W>,
    kept: Kept,
}

impl<W: Watched> Following<'_, W> {
    /// Adds the lines of a call to the page.
    fn keep(&mut self, host: &Host) {
        host.lines.iter().for_each(|line| self.kept.page.add(line));
    }

    /// The only event of a line; none if the map uses none.
    fn only_event(&mut self, line: &Line) -> Result<Option<Item>, String> {
        let (mut items, _) = self.log.intake().observations(line).map_err(|bad| bad.message)?;
        match items.len() {
            0 => Ok(None),
            1 if items[0].observed.event.is_none() => {
                Err("the record ends its session, so there is no event to judge".to_string())
            }
            1 => Ok(items.pop()),
            n => Err(format!("the map makes {n} events of this record; expected one")),
        }
    }

    fn line(&self, record: String) -> Line {
        let content = match record.len() {
            0..=DEFAULT_LINE_BYTES => LineContent::Text(record),
            _ => LineContent::TooLong(DEFAULT_LINE_BYTES),
        };
        Line { number: self.kept.n_lines + 1, content }
    }
}

impl<W: Watched> Follower for Following<'_, W> {
    fn kept(&self) -> &Kept {
        &self.kept
    }

    fn judge(&mut self, record: String, host: &mut Host) {
        let n_before = host.lines.len();
        let line = self.line(record);
        self.kept.n_lines += 1;
        self.log.line(&line, host);
        host.lines[n_before..].iter().for_each(|line| self.kept.page.add(line));
    }

    fn judge_one(&mut self, record: String, host: &mut Host) -> Result<(), String> {
        let line = self.line(record.clone());
        if self.log.intake().is_ordering() {
            return Err("the map puts events in order, so this one would wait for earlier ones".to_string());
        }
        let is_ignored = self.only_event(&line)?.is_none();
        self.judge(record, host);
        // A monitor that enforces has an event for each record.
        if is_ignored && host.lines.is_empty() {
            host.emit(MonitorLine::Event(Box::new(ignored(&line))));
        }
        Ok(())
    }

    fn preview(&mut self, record: String, budget: &Budget) -> Result<MonitorEvent, String> {
        let line = self.line(record);
        match self.only_event(&line)? {
            Some(item) => self.log.preview(&item, budget),
            None => Ok(ignored(&line)),
        }
    }

    fn status(&mut self, key: &Option<String>, budget: &Budget) -> Result<Option<Status>, Stop> {
        self.log.sessions().status(key, budget)
    }

    fn open_keys(&mut self) -> Vec<Option<String>> {
        self.log.sessions().open_keys().cloned().collect()
    }

    fn end(&mut self, key: &Option<String>, host: &mut Host) {
        self.log.end(key, host);
        self.keep(host);
    }

    fn finish(&mut self, host: &mut Host) {
        let is_interrupted = host.is_interrupted();
        self.log.finish(is_interrupted, host);
        self.keep(host);
    }

    fn summary(&self) -> MonitorSummary {
        self.log.summary()
    }

    fn page(&mut self, budget: &Budget) -> MonitorPage {
        let mut page = self.kept.page.clone();
        for key in self.open_keys() {
            if let Some(session) = self.log.session_so_far(&key, budget) {
                page.add(&MonitorLine::Session(session));
            }
        }
        page.add(&MonitorLine::Summary(self.log.summary()));
        page
    }
}

/// Opens a model and its sessions, and performs tasks on them until there are no more.
fn open_and_serve(
    loaded: Loaded,
    setup: &MonitorSetup,
    host: Host,
    opened: &Sender<Result<(), MonitorError>>,
    tasks: &Receiver<Task>,
) -> Result<(), MonitorError> {
    match &loaded.model {
        Some(driver::Model::Lcc(_)) => follow_protocol(loaded, setup, host, opened, tasks),
        Some(driver::Model::Ispl(_)) => follow_system(&loaded, setup, host, opened, tasks),
        _ => {
            let message = "only LCC protocols and ISPL models are monitored: BDI files and transition systems have no \
                           agents whose steps a log could describe";
            Err(MonitorError::Impossible(message.to_string()))
        }
    }
}

fn follow_protocol(
    loaded: Loaded,
    setup: &MonitorSetup,
    host: Host,
    opened: &Sender<Result<(), MonitorError>>,
    tasks: &Receiver<Task>,
) -> Result<(), MonitorError> {
    if setup.viewer.is_some() || setup.unseen.is_some() {
        let message = "the view of an agent and a condition on unseen steps are for ISPL models; patterns of observable \
                       steps say which steps of a protocol a log has";
        return Err(MonitorError::Impossible(message.to_string()));
    }
    let Loaded { mut sources, names, model, .. } = loaded;
    let Some(driver::Model::Lcc(instance)) = model else { return Err(MonitorError::Ended) };
    let map = read(setup, &mut sources)?;
    let mut observable = Vec::new();
    for pattern in &setup.observable {
        let file = sources.add("<observe>", pattern.as_str()).map_err(|_| too_large())?;
        observable.push(sources.span(file));
    }
    if observable.is_empty() {
        observable.extend(map.iter().flat_map(|map| map.observable.iter().copied()));
    }
    let obligations = obligations(&instance.trees);
    let parts = ProtocolParts {
        system: instance.system,
        properties: &instance.properties,
        obligations: &obligations,
    };
    let model = LccModel::of(&sources, parts, &observable, Bounds::default())
        .map_err(|found| MonitorError::invalid(&sources, &found))?;
    let opening = Opening { setup, names, map, sources: &sources, host };
    opening.serve(WatchedProtocol(model), opened, tasks)
}

fn follow_system(
    loaded: &Loaded,
    setup: &MonitorSetup,
    mut host: Host,
    opened: &Sender<Result<(), MonitorError>>,
    tasks: &Receiver<Task>,
) -> Result<(), MonitorError> {
    if !setup.observable.is_empty() {
        let message = "patterns of observable steps are for protocols; a condition on unseen steps says which steps of \
                       an ISPL model have no record";
        return Err(MonitorError::Impossible(message.to_string()));
    }
    let mut sources = loaded.sources.clone();
    let map = read(setup, &mut sources)?;
    // The conditions of the log belong to the system, so it is loaded again if there are any.
    let log = map.clone().unwrap_or_default();
    let log = LogConditions { unseen: setup.unseen.clone().or(log.unseen), named: log.conditions };
    let again = (log != LogConditions::default())
        .then(|| loaded.again_within(&Request { log, ..loaded.request.clone() }, &host.limits));
    let loaded = again.as_ref().unwrap_or(loaded);
    let Some(system) = loaded.system() else {
        return Err(match loaded.stopped {
            Some(why) => MonitorError::Stopped(why),
            None => MonitorError::invalid(&loaded.sources, &loaded.diagnostics),
        });
    };
    let viewer = setup.viewer.as_ref().map(|name| driver::find_agent(system, name)).transpose();
    let viewer = viewer.map_err(|diagnostic| MonitorError::nowhere(*diagnostic))?;
    let options = IsplOptions { viewer, unseen: loaded.unseen, ..IsplOptions::default() };
    let model = IsplModel::open(system, &options, &host.budget()).map_err(|error| match error {
        NotOpened::Stopped(stop) => MonitorError::Stopped(stop.why),
        NotOpened::Refused(message) => MonitorError::Impossible(message),
    })?;
    let watched = WatchedSystem::new(model, Vocabulary::new(system, viewer));
    let opening = Opening { setup, names: loaded.names.clone(), map, sources: &loaded.sources, host };
    opening.serve(watched, opened, tasks)
}

/// What a log is opened with, besides the model.
struct Opening<'a> {
    setup: &'a MonitorSetup,
    names: Vec<String>,
    map: Option<Map>,
    sources: &'a Sources,
    host: Host,
}

impl Opening<'_> {
    fn serve<W: Watched>(
        mut self,
        watched: W,
        opened: &Sender<Result<(), MonitorError>>,
        tasks: &Receiver<Task>,
    ) -> Result<(), MonitorError> {
        let MonitorSetup { enforcement, max_sessions, idle, viewer, map, .. } = self.setup;
        let limits = SessionLimits {
            open: max_sessions.unwrap_or(MAX_OPEN_SESSIONS),
            history: MAX_CHART_EVENTS,
            keeps_interrupted: true,
            ..SessionLimits::default()
        };
        let intake = Intake::new(self.map, W::FORM, false);
        let sessions = Sessions::new(watched, limits, *enforcement);
        let mut log = MonitorLog::new(intake, sessions, *enforcement, self.sources).with_idle(*idle, false);
        let start = MonitorStart {
            files: self.names,
            log: "log".to_string(),
            map: map.as_ref().map(|(name, _)| name.clone()),
            agent: viewer.clone(),
            enforce: enforcement.is_some(),
            ..MonitorStart::default()
        };
        log.begin(start, &mut self.host)?;
        let Some(MonitorLine::Start(start)) = self.host.lines.pop() else { return Err(MonitorError::Ended) };
        let mut page = MonitorPage::default();
        page.add(&MonitorLine::Start(start.clone()));
        let mut following = Following { log, kept: Kept { start, page, n_lines: 0 } };
        // Sending fails if the caller has stopped waiting.
        _ = opened.send(Ok(()));
        tasks.iter().for_each(|task| task(&mut following));
        Ok(())
    }
}

/// Reads the map of a setup, whose text is added to the sources.
fn read(setup: &MonitorSetup, sources: &mut Sources) -> Result<Option<Map>, MonitorError> {
    let Some((name, text)) = &setup.map else { return Ok(None) };
    let file = sources.add(name.as_str(), text.as_str()).map_err(|_| too_large())?;
    let (map, found) = read_map(sources, file);
    if found.iter().any(Diagnostic::is_error) {
        return Err(MonitorError::invalid(sources, &found));
    }
    if setup.enforcement.is_some() && map.order != Order::Arrival {
        let message = "a monitor that enforces decides each record when it arrives, and the map waits for earlier ones; \
                       remove `order = \"time\"` from the map";
        return Err(MonitorError::Impossible(message.to_string()));
    }
    Ok(Some(map))
}

fn too_large() -> MonitorError {
    let message = "the texts together are larger than 4 GB";
    MonitorError::nowhere(Diagnostic::nowhere(Severity::Error, "file/too-large", message))
}
