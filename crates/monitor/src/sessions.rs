//! One monitor for each session of a log.
//!
//! A session is opened by its first observation. It is closed, and its monitor dropped, when no further step is
//! possible, when the log says that it ends, when it is idle, or after a violation. Open sessions and the keys of
//! closed ones are bounded, so memory does not grow with the number of sessions that a log has.

use std::collections::{BTreeMap, HashMap, VecDeque};

use masque_verdict::{Budget, Stop};

use crate::map::{ObservedEvent, RecordForm};
use crate::{Closing, EventVerdict, Judgement, Monitor, Status};

/// Number of open sessions beyond which events are not kept for charts.
const MAX_OPEN_WITH_HISTORY: usize = 10_000;

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
}

impl Default for SessionLimits {
    fn default() -> SessionLimits {
        SessionLimits { open: 100_000, remembered: 100_000, history: 0 }
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
    /// Why sessions were closed, and their keys in the order in which they were.
    closed: HashMap<Option<String>, Closed>,
    closed_order: VecDeque<Option<String>>,
    n_opened: u64,
}

struct Open<M> {
    monitor: M,
    last_use: u64,
    /// Time of the last observation, as the caller counts it.
    seen_at: i128,
    history: History,
    /// Number of observations that were added to the log.
    n_events: u64,
}

/// How observations are denied before they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enforcement {
    /// Whether observations of which it is not known whether they are possible are allowed.
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

/// Why a closed session refuses later observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closed {
    Over,
    Violated,
    Stopped,
}

/// The first and the last events of a session.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Events, the oldest first.
    pub events: VecDeque<ObservedEvent>,
    /// Number of events before these.
    pub n_dropped: u64,
}

/// What an observation does to its session.
#[derive(Clone, Debug)]
pub struct SessionStep {
    /// Whether the observation opened the session.
    pub is_new: bool,
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
    /// The session was violated before, or a limit was exceeded, so the observation was not judged.
    AfterViolation,
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
            closed: HashMap::new(),
            closed_order: VecDeque::new(),
            n_opened: 0,
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

    /// Judges an observation in its session. `now` is the time by which idle sessions are found.
    pub fn observe(
        &mut self,
        key: &Option<String>,
        event: &ObservedEvent,
        now: i128,
        budget: &Budget,
    ) -> SessionStep {
        let plain = |outcome| SessionStep { is_new: false, outcome, closed: None };
        match self.closed.get(key) {
            Some(Closed::Over) => {
                if self.enforcement.is_none() {
                    self.remember(key, Closed::Violated);
                }
                return plain(StepOutcome::AfterEnd);
            }
            Some(Closed::Violated | Closed::Stopped) => return plain(StepOutcome::AfterViolation),
            None => {}
        }
        let is_new = !self.open.contains_key(key);
        if is_new && let Err(stop) = self.open_session(key, now, budget) {
            return plain(StepOutcome::Stopped(stop));
        }
        self.touch(key, now);
        let outcome = self.judge(key, event, budget);
        let closed = self.close_after(key, &outcome, budget);
        SessionStep { is_new, outcome, closed }
    }

    /// Ends a session because the log says so.
    pub fn end(&mut self, key: &Option<String>, budget: &Budget) -> SessionStep {
        let closed = self.close(key, CloseReason::Ended, budget);
        // The key may be used again for another session.
        self.forget(key);
        SessionStep { is_new: false, outcome: StepOutcome::Ended, closed }
    }

    /// Closes a session that is beyond the limit, if there is one.
    pub fn close_excess(&mut self, budget: &Budget) -> Option<ClosedSession> {
        if self.open.len() <= self.limits.open {
            return None;
        }
        let key = self.by_use.values().next()?.clone();
        self.close(&key, CloseReason::TooMany, budget)
    }

    /// Closes a session in which nothing was observed since a time, if there is one.
    pub fn close_idle(&mut self, since: i128, budget: &Budget) -> Option<ClosedSession> {
        let key = self.by_use.values().next()?.clone();
        if self.open.get(&key)?.seen_at >= since {
            return None;
        }
        self.close(&key, CloseReason::Idle, budget)
    }

    /// Closes a session because the log ends, if one is open; the one that was used first.
    pub fn close_next(&mut self, budget: &Budget) -> Option<ClosedSession> {
        let key = self.by_use.values().next()?.clone();
        self.close(&key, CloseReason::LogEnd, budget)
    }

    fn open_session(&mut self, key: &Option<String>, now: i128, budget: &Budget) -> Result<(), Stop> {
        let monitor = self.watched.open(budget)?;
        self.n_opened += 1;
        self.n_uses += 1;
        self.by_use.insert(self.n_uses, key.clone());
        let open =
            Open { monitor, last_use: self.n_uses, seen_at: now, history: History::default(), n_events: 0 };
        self.open.insert(key.clone(), open);
        Ok(())
    }

    fn touch(&mut self, key: &Option<String>, now: i128) {
        if let Some(open) = self.open.get_mut(key) {
            self.by_use.remove(&open.last_use);
            self.n_uses += 1;
            (open.last_use, open.seen_at) = (self.n_uses, now);
            self.by_use.insert(self.n_uses, key.clone());
        }
    }

    fn judge(&mut self, key: &Option<String>, event: &ObservedEvent, budget: &Budget) -> StepOutcome {
        let n_open = self.open.len();
        let Some(open) = self.open.get_mut(key) else { return StepOutcome::AfterEnd };
        let observation = match self.watched.observation(event) {
            Ok(observation) => observation,
            Err(message) => return StepOutcome::Unreadable(message),
        };
        let judged = match self.enforcement {
            Some(enforcement) => enforcement.observe(&mut open.monitor, &observation, budget),
            None => open.monitor.observe(&observation, budget),
        };
        let is_denied = match &judged {
            Ok(judgement) => self.enforcement.is_some_and(|enforcement| !enforcement.allows(judgement)),
            Err(_) => true,
        };
        if !is_denied {
            open.n_events += 1;
            // With very many open sessions, their events would need too much memory.
            open.history.add(event, if n_open <= MAX_OPEN_WITH_HISTORY { self.limits.history } else { 0 });
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
            // What is denied has not happened, so the session goes on.
            StepOutcome::Stopped(_)
                if self.enforcement.is_none_or(|enforcement| enforcement.allows_unknown) =>
            {
                let closed = self.close(key, CloseReason::Stopped, budget);
                self.remember(key, Closed::Stopped);
                return closed;
            }
            _ => return None,
        };
        match judgement.event {
            EventVerdict::Violated(_) if self.enforcement.is_none() => {
                let closed = self.close(key, CloseReason::Violated, budget);
                self.remember(key, Closed::Violated);
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
                self.remember(key, Closed::Over);
                closed
            }
        }
    }

    fn close(&mut self, key: &Option<String>, reason: CloseReason, budget: &Budget) -> Option<ClosedSession> {
        let mut open = self.open.remove(key)?;
        self.by_use.remove(&open.last_use);
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

    fn remember(&mut self, key: &Option<String>, why: Closed) {
        if self.closed.insert(key.clone(), why).is_none() {
            self.closed_order.push_back(key.clone());
        }
        while self.closed_order.len() > self.limits.remembered {
            if let Some(oldest) = self.closed_order.pop_front() {
                self.closed.remove(&oldest);
            }
        }
    }

    fn forget(&mut self, key: &Option<String>) {
        if self.closed.remove(key).is_some() {
            self.closed_order.retain(|closed| closed != key);
        }
    }
}

impl History {
    fn add(&mut self, event: &ObservedEvent, max: usize) {
        if max == 0 {
            self.n_dropped += 1;
            return;
        }
        if self.events.len() >= max {
            self.events.pop_front();
            self.n_dropped += 1;
        }
        self.events.push_back(event.clone());
    }
}

#[cfg(test)]
mod tests;
