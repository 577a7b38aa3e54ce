//! Limits on time, memory and states, and cancellation: all cooperative.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use masque_model::steps::Limit;
use serde::{Deserialize, Serialize};

use crate::{Meter, Why};

/// What a run may use. The default is unlimited; a clone shares the cancel flag and the meter.
///
/// An engine calls [`Budget::check`] every few thousand steps of whatever it does, and tells the
/// states and bytes it holds to [`Budget::check_states`] and [`Budget::check_memory`] where they
/// grow. Each answers with the [`Stop`] that the engine then hands on.
///
/// ```
/// use masque_verdict::{Budget, Why};
/// let budget = Budget::default().with_states(10);
/// assert_eq!(budget.check_states(11).map_err(|stop| stop.why), Err(Why::States));
/// assert_eq!(budget.check(), Ok(()));
/// budget.cancel();
/// assert_eq!(budget.check().map_err(|stop| stop.why), Err(Why::Interrupted));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Budget {
    deadline: Option<Instant>,
    steps: Option<Steps>,
    work: Option<Steps>,
    memory: Option<u64>,
    states: Option<u64>,
    cancelled: Arc<AtomicBool>,
    /// The flags of the budgets that this one has branched off from.
    above: Vec<Arc<AtomicBool>>,
    meter: Meter,
}

/// A deadline in checks instead of seconds.
#[derive(Clone, Debug)]
struct Steps {
    /// Number of checks so far; clones and shares of a budget count together.
    taken: Arc<AtomicU64>,
    /// Number of checks after which the budget is used up.
    most: u64,
}

impl Steps {
    fn left(&self) -> u64 {
        self.most.saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// Counts a check, unless none is left. A check that fails is not counted, so a budget that shares
    /// its steps with others never takes more than its own.
    fn take(&self, n: u64) -> bool {
        let count = |taken: u64| (taken < self.most).then_some(taken + n);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).is_ok()
    }
}

impl Budget {
    /// Nothing but [`Budget::cancel`] stops the run.
    #[must_use]
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// Stops at an instant.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Budget {
        self.deadline = Some(deadline);
        self
    }

    /// Stops after a time from now; a time beyond the clock's range is no limit.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Budget {
        self.deadline = Instant::now().checked_add(timeout);
        self
    }

    /// Stops after this many calls of [`Budget::check`], with [`Why::Timeout`]: a clock that counts work
    /// instead of measuring time, so that a test gives the same result on every machine.
    #[must_use]
    pub fn with_steps(mut self, most: u64) -> Budget {
        self.steps = Some(Steps { taken: Arc::default(), most });
        self
    }

    /// Stops after so much work, in the units that an engine counts in, with [`Why::Timeout`].
    ///
    /// ```
    /// use masque_verdict::Budget;
    /// let budget = Budget::default().with_work(100);
    /// assert!(budget.spend(60).is_ok() && budget.spend(60).is_ok() && budget.spend(1).is_err());
    /// assert!(Budget::default().spend(u64::MAX).is_ok());
    /// ```
    #[must_use]
    pub fn with_work(mut self, most: u64) -> Budget {
        self.work = Some(Steps { taken: Arc::default(), most });
        self
    }

    /// One of `n` equal shares of the time (and of the steps) that are left. Memory and states are not
    /// divided: they are free again once a property is decided. A budget without a deadline is its own
    /// share.
    ///
    /// ```
    /// use masque_verdict::Budget;
    /// let budget = Budget::default().with_steps(10);
    /// let share = budget.share(5);
    /// assert_eq!([share.check(), share.check()], [Ok(()); 2]);
    /// assert!(share.check().is_err() && !budget.is_over());
    /// assert_eq!(budget.steps_left(), Some(8));
    /// ```
    pub fn share(&self, n: usize) -> Budget {
        let n = n.max(1);
        let mut share = self.clone();
        if let Some(deadline) = self.deadline {
            let now = Instant::now();
            let left = deadline.saturating_duration_since(now);
            share.deadline = Some(now + left / u32::try_from(n).unwrap_or(u32::MAX));
        }
        if let Some(steps) = &mut share.steps {
            steps.most -= steps.left() - steps.left() / n as u64;
        }
        share
    }

    /// Stops when the engine's own data exceed so many bytes.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Budget {
        self.memory = Some(bytes);
        self
    }

    /// Stops when there are more than so many states.
    #[must_use]
    pub fn with_states(mut self, states: u64) -> Budget {
        self.states = Some(states);
        self
    }

    /// Stops when the flag becomes true.
    #[must_use]
    pub fn with_cancel(mut self, cancelled: Arc<AtomicBool>) -> Budget {
        self.cancelled = cancelled;
        self
    }

    /// Tells what is found to this meter.
    #[must_use]
    pub fn with_meter(mut self, meter: Meter) -> Budget {
        self.meter = meter;
        self
    }

    /// Where to tell what is found.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The same budget with a cancel flag of its own, for one of several workers on a run: what
    /// cancels the run stops the worker, and the worker can be stopped alone.
    ///
    /// ```
    /// use masque_verdict::Budget;
    /// let run = Budget::default();
    /// let (one, other) = (run.branch(), run.branch());
    /// one.cancel();
    /// assert!(one.check().is_err() && other.check().is_ok() && run.check().is_ok());
    /// run.cancel();
    /// assert!(other.check().is_err());
    /// ```
    #[must_use]
    pub fn branch(&self) -> Budget {
        let mut branch = Budget { cancelled: Arc::default(), ..self.clone() };
        branch.above.push(Arc::clone(&self.cancelled));
        branch
    }

    /// The instant at which the run stops.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The bytes an engine may hold.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// The states there may be.
    pub fn states(&self) -> Option<u64> {
        self.states
    }

    /// Stops the run, and all that share the flag, at their next check.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run may go on: it is not cancelled, and the deadline has not passed.
    pub fn check(&self) -> Result<(), Stop> {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if is_set(&self.cancelled) || self.above.iter().any(is_set) {
            return Err(Why::Interrupted.into());
        }
        let has_steps = self.steps.as_ref().is_none_or(|steps| steps.take(1));
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Why::Timeout.into()),
            _ if !has_steps => Err(Why::Timeout.into()),
            _ => Ok(()),
        }
    }

    /// Counts work that an engine has done, in units of its own.
    pub fn spend(&self, units: u64) -> Result<(), Stop> {
        match &self.work {
            Some(work) if !work.take(units) => Err(Why::Timeout.into()),
            _ => Ok(()),
        }
    }

    /// Whether [`Budget::check`] would fail now. Counts no step.
    pub fn is_over(&self) -> bool {
        let has_no_steps = self.steps.as_ref().is_some_and(|steps| steps.left() == 0);
        has_no_steps || Budget { steps: None, ..self.clone() }.check().is_err()
    }

    /// Number of checks left, if they are limited.
    pub fn steps_left(&self) -> Option<u64> {
        self.steps.as_ref().map(Steps::left)
    }

    /// Whether an engine may hold so many bytes.
    pub fn check_memory(&self, bytes: u64) -> Result<(), Stop> {
        match self.memory {
            Some(limit) if bytes > limit => Err(Why::Memory.into()),
            _ => Ok(()),
        }
    }

    /// Whether there may be so many states.
    pub fn check_states(&self, states: u64) -> Result<(), Stop> {
        match self.states {
            Some(limit) if states > limit => Err(Why::States.into()),
            _ => Ok(()),
        }
    }
}

impl Limit for Budget {
    type Stop = Stop;

    fn check(&self) -> Result<(), Stop> {
        Budget::check(self)
    }
}

/// Why a run ended early, and what it had found by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Which limit was hit.
    pub why: Why,
    /// The reachable states found so far, if the engine counts them one by one: a lower bound.
    pub states: Option<u64>,
    /// The bytes held at that point, if known.
    pub bytes: Option<u64>,
}

impl Stop {
    /// Adds the number of states found so far.
    pub fn after_states(mut self, states: u64) -> Stop {
        self.states = Some(states);
        self
    }

    /// Adds the bytes held.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Stop {
        self.bytes = Some(bytes);
        self
    }
}

impl From<Why> for Stop {
    fn from(why: Why) -> Stop {
        Stop { why, states: None, bytes: None }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.states {
            None => write!(f, "{}", self.why),
            Some(states) => write!(f, "{} after {states} states", self.why),
        }
    }
}

impl std::error::Error for Stop {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    #[test]
    fn a_stop_says_how_far_it_came() {
        let stop = Stop::from(Why::Memory).after_states(12);
        assert_eq!(stop.to_string(), "memory after 12 states");
        assert_eq!(Outcome::from(stop).verdict.to_string(), "unknown(memory)");
    }
}
