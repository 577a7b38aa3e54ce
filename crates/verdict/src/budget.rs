//! Limits on time, memory and states, and cancellation. All are cooperative: engines check them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use masque_model::steps::Limit;
use masque_text::{MemoryShare, ReadLimit, ReadLimits};
use serde::{Deserialize, Serialize};

use crate::{Meter, Why};

/// Limits of one check. The default is unlimited; a clone shares the cancel flag and the meter.
///
/// An engine calls [`Budget::check`] every few thousand steps. Where its data grow, it passes the number
/// of states and bytes it holds to [`Budget::check_states`] and [`Budget::check_memory`]. When a limit is
/// exceeded, these return a [`Stop`], which the engine returns to its caller.
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
    /// Limit on the number of checks.
    steps: Option<Steps>,
    /// Limit on the work, in units of the engine.
    work: Option<Steps>,
    /// Limit on the bytes of an engine's data.
    memory: Option<u64>,
    /// Memory that this check shares with other tasks.
    share: Option<Arc<MemoryShare>>,
    /// Limit on the number of states.
    states: Option<u64>,
    cancelled: Arc<AtomicBool>,
    /// Cancel flags of the budgets from which this one was branched.
    above: Vec<Arc<AtomicBool>>,
    meter: Meter,
}

/// A counter with a limit.
#[derive(Clone, Debug)]
struct Steps {
    /// Count so far; clones and shares of a budget count together.
    taken: Arc<AtomicU64>,
    /// Count at which the budget is used up.
    most: u64,
}

impl Steps {
    fn left(&self) -> u64 {
        self.most.saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// Adds `n` to the count and returns true, unless the limit is reached. A failed call is not counted,
    /// so a budget that shares its counter with others never uses more than its own share.
    fn take(&self, n: u64) -> bool {
        let count = |taken: u64| (taken < self.most).then_some(taken + n);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).is_ok()
    }
}

impl Budget {
    /// A budget that only [`Budget::cancel`] ends.
    #[must_use]
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// Sets a deadline.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Budget {
        self.deadline = Some(deadline);
        self
    }

    /// Sets a deadline this long from now. A time beyond the range of the clock is no limit.
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

    /// Stops with [`Why::Timeout`] after this much work, in units that the engine chooses.
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

    /// Returns one of `n` equal shares of the remaining time and checks. Memory and states are not
    /// divided, because they are released when a property is decided. The share of a budget without a
    /// deadline has none either.
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

    /// Limits the engine's own data, in bytes.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Budget {
        self.memory = Some(bytes);
        self
    }

    /// Takes the bytes of an engine's data from memory that this check shares with other tasks.
    #[must_use]
    pub fn with_share(mut self, share: Arc<MemoryShare>) -> Budget {
        self.share = Some(share);
        self
    }

    /// The same limits on time, memory and cancellation, for reading texts.
    pub fn read_limits(&self) -> ReadLimits {
        let mut limits =
            ReadLimits::default().with_deadline(self.deadline).with_cancel(Arc::clone(&self.cancelled));
        if let Some(bytes) = self.memory {
            limits = limits.with_memory(bytes);
        }
        match &self.share {
            Some(share) => limits.with_share(Arc::clone(share)),
            None => limits,
        }
    }

    /// Limits the number of states.
    #[must_use]
    pub fn with_states(mut self, states: u64) -> Budget {
        self.states = Some(states);
        self
    }

    /// Stops when this flag becomes true.
    #[must_use]
    pub fn with_cancel(mut self, cancelled: Arc<AtomicBool>) -> Budget {
        self.cancelled = cancelled;
        self
    }

    /// Sets the meter to which engines report how many states they have found.
    #[must_use]
    pub fn with_meter(mut self, meter: Meter) -> Budget {
        self.meter = meter;
        self
    }

    /// The meter to which engines report how many states they have found.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns the same budget with a cancel flag of its own, for one of several threads of a check.
    /// Cancelling the check stops all of them; cancelling a branch stops only that thread.
    ///
    /// ```
    /// use masque_verdict::Budget;
    /// let check = Budget::default();
    /// let (one, other) = (check.branch(), check.branch());
    /// one.cancel();
    /// assert!(one.check().is_err() && other.check().is_ok() && check.check().is_ok());
    /// check.cancel();
    /// assert!(other.check().is_err());
    /// ```
    #[must_use]
    pub fn branch(&self) -> Budget {
        let mut branch = Budget { cancelled: Arc::default(), ..self.clone() };
        branch.above.push(Arc::clone(&self.cancelled));
        branch
    }

    /// The deadline, if there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Limit on the bytes of an engine's data.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Limit on the number of states.
    pub fn states(&self) -> Option<u64> {
        self.states
    }

    /// Makes every later check of this budget, its clones and its branches fail.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns an error if the budget is cancelled, or if its deadline or its number of checks is exceeded.
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

    /// Counts work that an engine has done, in units of its choice.
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

    /// Number of remaining checks, if it is limited.
    pub fn steps_left(&self) -> Option<u64> {
        self.steps.as_ref().map(Steps::left)
    }

    /// Returns an error if this number of bytes exceeds the limit, or what is left of the shared memory.
    pub fn check_memory(&self, bytes: u64) -> Result<(), Stop> {
        let is_over = self.memory.is_some_and(|limit| bytes > limit);
        // The number may be that of a part of the data, so it does not reduce what is held.
        let is_shared = self.share.as_ref().is_none_or(|share| bytes <= share.held() || share.hold(bytes));
        if is_over || !is_shared { Err(Why::Memory.into()) } else { Ok(()) }
    }

    /// Returns an error if this number of states exceeds the limit.
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

/// Why a check ended early, and how far it had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Limit that was exceeded.
    pub why: Why,
    /// Number of reachable states found so far, a lower bound; `None` if the engine does not count single
    /// states.
    pub states: Option<u64>,
    /// Bytes that the engine's data took at that point, if known.
    pub bytes: Option<u64>,
}

impl Stop {
    /// Adds the number of states found so far.
    pub fn after_states(mut self, states: u64) -> Stop {
        self.states = Some(states);
        self
    }

    /// Adds the number of bytes that the engine's data took.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Stop {
        self.bytes = Some(bytes);
        self
    }
}

impl From<ReadLimit> for Stop {
    fn from(limit: ReadLimit) -> Stop {
        match limit {
            ReadLimit::Time => Why::Timeout.into(),
            ReadLimit::Memory => Why::Memory.into(),
            ReadLimit::Cancelled => Why::Interrupted.into(),
        }
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
    fn a_stop_reports_the_states_found() {
        let stop = Stop::from(Why::Memory).after_states(12);
        assert_eq!(stop.to_string(), "memory after 12 states");
        assert_eq!(Outcome::from(stop).verdict.to_string(), "unknown(memory)");
    }
}
