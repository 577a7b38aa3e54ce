//! One monitor for each session of a log.
//!
//! A session is opened by its first observation. It is closed, and its monitor dropped, when no further step is
//! possible, when the log says that it ends, when it is idle, or after a violation. Open sessions and the keys of
//! closed ones are bounded, so memory does not grow with the number of sessions that a log has.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use masque_verdict::{Budget, Stop, Why};

use crate::history::History;
use crate::map::{ObservedEvent, RecordForm};
use crate::record::Time;
use crate::{Closing, EventVerdict, Judgement, Monitor, Status};

/// Maximum size in bytes of the events that all open sessions keep for charts.
const MAX_HISTORY_BYTES: usize = 64 << 20;

/// A model whose sessions are watched.
pub trait Watched {
    /// The monitor of one session.
    type Monitor: Monitor;

    /// What records without a map describe.
    const FORM: RecordForm;

    /// Opens the monitor of a new session.
    ///
    /// # Errors
    ///
    /// If a limit is exceeded.
    fn open(&mut self, budget: &Budget) -> Result<Self::Monitor, Stop>;

    /// The observation that a record describes.
    ///
    /// # Errors
    ///
    /// If the record uses names or texts that the model does not have; the message says what would be accepted.
    fn observation(
        &mut self,
        event: &ObservedEvent,
    ) -> Result<<Self::Monitor as Monitor>::Observation, String>;

    /// What weakens the judgements so far, if anything does.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// Limits on sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Maximum number of open sessions. Beyond it the one that was idle for the longest time is dropped.
    pub open: usize,
    /// Maximum number of closed sessions whose keys are remembered, so that later observations are recognised.
    pub remembered: usize,
    /// Maximum number of events of each session that are kept for its chart; 0 keeps none.
    pub history: usize,
    /// Whether a session goes on after an observation that the user interrupted, because the caller repeats it.
    pub keeps_interrupted: bool,
}

impl Default for SessionLimits {
    fn default() -> SessionLimits {
        SessionLimits { open: 100_000, remembered: 100_000, history: 0, keeps_interrupted: false }
    }
}

/// All sessions of a log.
pub struct Sessions<W: Watched> {
    watched: W,
    limits: SessionLimits,
    /// Which observations are denied, after which the session goes on.
    enforcement: Option<Enforcement>,
    open: HashMap<Option<String>, Open<W::Monitor>>,
    /// Open sessions by their last use.
    by_use: BTreeMap<u64, Option<String>>,
    n_uses: u64,
    /// Open sessions whose last observation has a time: that time, and the last use.
    by_time: BTreeSet<(Time, u64)>,
    /// Why sessions were closed that refuse later observations, with their places in the order of closing.
    closed: HashMap<Option<String>, (u64, CloseReason)>,
    closed_order: BTreeMap<u64, Option<String>>,
    n_closed: u64,
    /// Whether a session about which nothing is known any more is not remembered.
    has_forgotten: bool,
    n_opened: u64,
    /// Size in bytes of the events that are kept for charts.
    history_bytes: usize,
}

struct Open<M> {
    monitor: M,
    last_use: u64,
    /// When the last observation was made.
    seen: Seen,
    history: History,
    /// Number of observations that were added to the log.
    n_events: u64,
}

/// When an observation was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The time in its record, if it has one.
    pub time: Option<Time>,
    /// The time at which the record arrived.
    pub arrival: Instant,
}

/// How observations are denied before they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enforcement {
    /// Whether observations are allowed that may or may not be possible.
    pub allows_unknown: bool,
}

impl Enforcement {
    /// Whether an observation is allowed.
    pub fn allows(self, judgement: &Judgement) -> bool {
        match judgement.event {
            EventVerdict::Possible => true,
            EventVerdict::Violated(_) => false,
            EventVerdict::Unknown(_) => self.allows_unknown,
        }
    }

    /// Adds an observation to the log if it is allowed.
    fn observe<M: Monitor>(
        self,
        monitor: &mut M,
        observation: &M::Observation,
        budget: &Budget,
    ) -> Result<Judgement, Stop> {
        let preview = monitor.preview(observation, budget)?;
        if self.allows(&preview.judgement) {
            return monitor.observe(observation, budget);
        }
        Ok(preview.judgement)
    }
}

/// Why a session is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// No further step is possible.
    Over,
    /// The log says that it ends.
    Ended,
    /// Nothing was observed for a long time.
    Idle,
    /// An observation was impossible.
    Violated,
    /// The log ends.
    LogEnd,
    /// A limit was exceeded, so an event is missing in what was judged.
    Stopped,
    /// Too many sessions were open. What would have been left at its end is unknown.
    TooMany,
}

impl CloseReason {
    /// What becomes of an observation after a session that refuses it was closed.
    fn refusal(self) -> StepOutcome {
        match self {
            CloseReason::Over => StepOutcome::AfterEnd,
            CloseReason::Violated => StepOutcome::AfterViolation,
            reason => StepOutcome::AfterStop(reason),
        }
    }
}

/// What an observation does to its session.
#[derive(Clone, Debug)]
pub struct SessionStep {
    /// The judgement, or why there is none.
    pub outcome: StepOutcome,
    /// The session, if the observation closed it.
    pub closed: Option<ClosedSession>,
}

/// The result of an observation.
#[derive(Clone, Debug)]
pub enum StepOutcome {
    /// The observation was judged.
    Judged(Judgement),
    /// The session was over: no step was possible.
    AfterEnd,
    /// The session was violated before, so the observation was not judged.
    AfterViolation,
    /// The session was closed before, for a reason after which nothing is known about it.
    AfterStop(CloseReason),
    /// The record does not fit the model: what is wrong, and what would be accepted.
    Unreadable(String),
    /// A limit was exceeded.
    Stopped(Stop),
    /// The log says that the session ends.
    Ended,
}

/// A session that was closed.
#[derive(Clone, Debug)]
pub struct ClosedSession {
    /// Key of the session.
    pub key: Option<String>,
    /// Why it was closed.
    pub reason: CloseReason,
    /// What is left at its end; none after a violation, or with the limit that prevented it from being computed.
    pub closing: Result<Closing, Option<Stop>>,
    /// Its last events.
    pub history: History,
    /// Number of its events.
    pub n_events: u64,
}

impl<W: Watched> Sessions<W> {
    /// No sessions yet.
    pub fn new(watched: W, limits: SessionLimits, enforcement: Option<Enforcement>) -> Sessions<W> {
        Sessions {
            watched,
            limits,
            enforcement,
            open: HashMap::new(),
            by_use: BTreeMap::new(),
            n_uses: 0,
            by_time: BTreeSet::new(),
            closed: HashMap::new(),
            closed_order: BTreeMap::new(),
            n_closed: 0,
            has_forgotten: false,
            n_opened: 0,
            history_bytes: 0,
        }
    }

    /// What is known before the first observation.
    ///
    /// # Errors
    ///
    /// If a limit is exceeded.
    pub fn initial_status(&mut self, budget: &Budget) -> Result<Status, Stop> {
        self.watched.open(budget)?.status(budget)
    }

    /// What weakens the judgements so far, if anything does.
    pub fn remark(&self) -> Option<String> {
        if self.has_forgotten {
            let n = self.limits.remembered;
            return Some(format!(
                "only the last {n} closed sessions are remembered; a later event of another one begins a new session"
            ));
        }
        self.watched.remark()
    }

    /// Number of sessions that are open now.
    pub fn n_open(&self) -> usize {
        self.open.len()
    }

    /// Number of sessions that were opened so far.
    pub fn n_opened(&self) -> u64 {
        self.n_opened
    }

    /// Keys of the open sessions; the one that was used last is the last.
    pub fn open_keys(&self) -> impl Iterator<Item = &Option<String>> {
        self.by_use.values()
    }

    /// What is known in a session; for one without observations, what is known before the first. None if the session is
    /// closed, and its key remembered.
    ///
    /// # Errors
    ///
    /// If a limit is exceeded.
    pub fn status(&mut self, key: &Option<String>, budget: &Budget) -> Result<Option<Status>, Stop> {
        if self.closed.contains_key(key) {
            return Ok(None);
        }
        match self.open.get_mut(key) {
            Some(open) => open.monitor.status(budget).map(Some),
            None => self.initial_status(budget).map(Some),
        }
    }

    /// Judges an observation in its session, without adding it to the log and without opening or closing a session.
    pub fn preview(&mut self, key: &Option<String>, event: &ObservedEvent, budget: &Budget) -> StepOutcome {
        let observation = match self.watched.observation(event) {
            Ok(observation) => observation,
            Err(message) => return StepOutcome::Unreadable(message),
        };
        if let Some((_, reason)) = self.closed.get(key) {
            return reason.refusal();
        }
        let previewed = match self.open.get_mut(key) {
            Some(open) => open.monitor.preview(&observation, budget),
            None => self.watched.open(budget).and_then(|mut monitor| monitor.preview(&observation, budget)),
        };
        previewed.map_or_else(StepOutcome::Stopped, |preview| StepOutcome::Judged(preview.judgement))
    }

    /// An open session as it would be closed if the log ended here.
    pub fn so_far(&mut self, key: &Option<String>, budget: &Budget) -> Option<ClosedSession> {
        let open = self.open.get_mut(key)?;
        Some(ClosedSession {
            key: key.clone(),
            reason: CloseReason::LogEnd,
            closing: open.monitor.close(budget).map_err(Some),
            history: open.history.clone(),
            n_events: open.n_events,
        })
    }

    /// Judges an observation in its session.
    pub fn observe(
        &mut self,
        key: &Option<String>,
        event: &ObservedEvent,
        seen: Seen,
        budget: &Budget,
    ) -> SessionStep {
        let plain = |outcome| SessionStep { outcome, closed: None };
        // A record that cannot be read opens no session.
        let observation = match self.watched.observation(event) {
            Ok(observation) => observation,
            Err(message) => return plain(StepOutcome::Unreadable(message)),
        };
        if let Some(&(_, reason)) = self.closed.get(key) {
            if reason == CloseReason::Over && self.enforcement.is_none() {
                self.remember(key, CloseReason::Violated);
            }
            return plain(reason.refusal());
        }
        if !self.open.contains_key(key)
            && let Err(stop) = self.open_session(key, seen, budget)
        {
            return plain(StepOutcome::Stopped(stop));
        }
        self.touch(key, seen);
        let outcome = self.judge(key, event, &observation, budget);
        let closed = self.close_after(key, &outcome, budget);
        SessionStep { outcome, closed }
    }

    /// Ends a session because the log says so.
    pub fn end(&mut self, key: &Option<String>, budget: &Budget) -> SessionStep {
        let closed = self.close(key, CloseReason::Ended, budget);
        // The key may be used again for another session.
        self.forget(key);
        SessionStep { outcome: StepOutcome::Ended, closed }
    }

    /// Closes a session that is beyond the limit, if there is one. Later observations of it are not judged.
    pub fn close_excess(&mut self, budget: &Budget) -> Option<ClosedSession> {
        if self.open.len() <= self.limits.open {
            return None;
        }
        let key = self.by_use.values().next()?.clone();
        let closed = self.close(&key, CloseReason::TooMany, budget);
        self.remember(&key, CloseReason::TooMany);
        closed
    }

    /// Closes a session whose last observation has an earlier time than this, if there is one.
    pub fn close_before(&mut self, time: Time, budget: &Budget) -> Option<ClosedSession> {
        let (oldest, last_use) = *self.by_time.first()?;
        if oldest >= time {
            return None;
        }
        let key = self.by_use.get(&last_use)?.clone();
        self.close(&key, CloseReason::Idle, budget)
    }

    /// Closes a session whose last observation arrived before this, if there is one.
    pub fn close_quiet(&mut self, since: Instant, budget: &Budget) -> Option<ClosedSession> {
        let key = self.by_use.values().next()?.clone();
        if self.open.get(&key)?.seen.arrival >= since {
            return None;
        }
        self.close(&key, CloseReason::Idle, budget)
    }

    /// Closes a session because the log ends, if one is open; the one that was used first.
    pub fn close_next(&mut self, budget: &Budget) -> Option<ClosedSession> {
        let key = self.by_use.values().next()?.clone();
        self.close(&key, CloseReason::LogEnd, budget)
    }

    fn open_session(&mut self, key: &Option<String>, seen: Seen, budget: &Budget) -> Result<(), Stop> {
        let monitor = self.watched.open(budget)?;
        self.n_opened += 1;
        let open = Open { monitor, last_use: 0, seen, history: History::default(), n_events: 0 };
        self.open.insert(key.clone(), open);
        Ok(())
    }

    fn touch(&mut self, key: &Option<String>, seen: Seen) {
        let Some(open) = self.open.get_mut(key) else { return };
        let key = self.by_use.remove(&open.last_use).unwrap_or_else(|| key.clone());
        self.by_time.extend(seen.time.map(|time| (time, self.n_uses + 1)));
        if let Some(time) = open.seen.time {
            self.by_time.remove(&(time, open.last_use));
        }
        self.n_uses += 1;
        (open.last_use, open.seen) = (self.n_uses, seen);
        self.by_use.insert(self.n_uses, key);
    }

    fn judge(
        &mut self,
        key: &Option<String>,
        event: &ObservedEvent,
        observation: &<W::Monitor as Monitor>::Observation,
        budget: &Budget,
    ) -> StepOutcome {
        let Some(open) = self.open.get_mut(key) else { return StepOutcome::AfterEnd };
        let judged = match self.enforcement {
            Some(enforcement) => enforcement.observe(&mut open.monitor, observation, budget),
            None => open.monitor.observe(observation, budget),
        };
        let is_denied = match &judged {
            Ok(judgement) => self.enforcement.is_some_and(|enforcement| !enforcement.allows(judgement)),
            Err(_) => true,
        };
        if !is_denied {
            open.n_events += 1;
            self.history_bytes -= open.history.bytes();
            let is_full = self.history_bytes >= MAX_HISTORY_BYTES;
            open.history.add(event, if is_full { 0 } else { self.limits.history });
            self.history_bytes += open.history.bytes();
        }
        judged.map_or_else(StepOutcome::Stopped, StepOutcome::Judged)
    }

    fn close_after(
        &mut self,
        key: &Option<String>,
        outcome: &StepOutcome,
        budget: &Budget,
    ) -> Option<ClosedSession> {
        let judgement = match outcome {
            StepOutcome::Judged(judgement) => judgement,
            StepOutcome::Stopped(stop) if self.limits.keeps_interrupted && stop.why == Why::Interrupted => {
                return None;
            }
            // What is denied has not happened, so the session goes on.
            StepOutcome::Stopped(_)
                if self.enforcement.is_none_or(|enforcement| enforcement.allows_unknown) =>
            {
                let closed = self.close(key, CloseReason::Stopped, budget);
                self.remember(key, CloseReason::Stopped);
                return closed;
            }
            _ => return None,
        };
        match judgement.event {
            EventVerdict::Violated(_) if self.enforcement.is_none() => {
                let closed = self.close(key, CloseReason::Violated, budget);
                self.remember(key, CloseReason::Violated);
                closed
            }
            EventVerdict::Violated(_) | EventVerdict::Unknown(_) => None,
            EventVerdict::Possible => {
                let open = self.open.get_mut(key)?;
                // Beyond a limit it is not known whether the session is over, so it stays open.
                if !open.monitor.is_over(budget).unwrap_or(false) {
                    return None;
                }
                let closed = self.close(key, CloseReason::Over, budget);
                self.remember(key, CloseReason::Over);
                closed
            }
        }
    }

    fn close(&mut self, key: &Option<String>, reason: CloseReason, budget: &Budget) -> Option<ClosedSession> {
        let mut open = self.open.remove(key)?;
        self.by_use.remove(&open.last_use);
        if let Some(time) = open.seen.time {
            self.by_time.remove(&(time, open.last_use));
        }
        self.history_bytes -= open.history.bytes();
        let closing = match reason {
            CloseReason::Violated | CloseReason::Stopped | CloseReason::TooMany => Err(None),
            _ => open.monitor.close(budget).map_err(Some),
        };
        Some(ClosedSession {
            key: key.clone(),
            reason,
            closing,
            history: open.history,
            n_events: open.n_events,
        })
    }

    fn remember(&mut self, key: &Option<String>, why: CloseReason) {
        self.forget(key);
        self.n_closed += 1;
        self.closed.insert(key.clone(), (self.n_closed, why));
        self.closed_order.insert(self.n_closed, key.clone());
        while self.closed.len() > self.limits.remembered {
            let Some((_, oldest)) = self.closed_order.pop_first() else { break };
            let why = self.closed.remove(&oldest).map(|(_, why)| why);
            self.has_forgotten |= matches!(why, Some(CloseReason::TooMany | CloseReason::Stopped));
        }
    }

    fn forget(&mut self, key: &Option<String>) {
        if let Some((place, _)) = self.closed.remove(key) {
            self.closed_order.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests;
