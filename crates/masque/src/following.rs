//! The thread of a monitor: it opens the model, keeps its sessions, and performs tasks on them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use masque_driver::{self as driver, Diagnostic, Limits, Loaded, LogConditions, Request, Severity, Sources};
use masque_monitor::ispl::{IsplModel, IsplOptions, NotOpened, Vocabulary};
use masque_monitor::lcc::{Bounds, LccModel, ProtocolParts, obligations};
use masque_monitor::map::{Map, Order, read_map};
use masque_monitor::record::{DEFAULT_LINE_BYTES, Line, LineContent};
use masque_monitor::{
    Intake, IntakeOptions, Item, SessionLimits, Sessions, Status, Watched, WatchedProtocol, WatchedSystem,
};
use masque_report::{
    MonitorEvent, MonitorHost, MonitorLine, MonitorLog, MonitorPage, MonitorStart, MonitorSummary,
};
use masque_verdict::{Budget, Stop};

use crate::Check;
use crate::monitor::{MonitorError, MonitorSetup};

/// Number of events of a session that are kept for its chart.
const MAX_CHART_EVENTS: usize = 60;
/// Default of the maximum number of open sessions.
const MAX_OPEN_SESSIONS: usize = 100_000;

/// A question to the sessions, or a change of them.
pub(crate) type Task = Box<dyn FnOnce(&mut dyn Follower) + Send>;

/// The limits of a call, and the lines of its result.
pub(crate) struct Host {
    timeout: Option<Duration>,
    limits: Limits,
    pub(crate) lines: Vec<MonitorLine>,
}

impl Host {
    pub(crate) fn new(check: &Check<'_>) -> Host {
        let (timeout, limits) = (check.timeout_length(), check.limits());
        Host { timeout, limits, lines: Vec::new() }
    }

    /// Whether the user interrupts.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.limits.interrupt.load(Ordering::Relaxed)
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

    fn arrival(&self) -> Instant {
        Instant::now()
    }

    fn emit(&mut self, line: MonitorLine) {
        self.lines.push(line);
    }
}

/// What is kept beside the sessions.
pub(crate) struct Kept {
    pub(crate) start: MonitorStart,
    /// The sessions that were closed.
    page: MonitorPage,
    n_lines: u64,
}

/// A log that is followed, for a model in either language.
pub(crate) trait Follower {
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
pub(crate) fn open_and_serve(
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
        let options = IntakeOptions { decides: enforcement.is_some(), ..IntakeOptions::default() };
        let intake = Intake::new(self.map, W::FORM, options);
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
