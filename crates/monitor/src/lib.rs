//! Monitoring: what may be true after a log of observations.
//!
//! An observation describes a step of the agents in part; other steps may happen unseen. After a log, the *possible
//! states* are the ends of all runs whose observable part matches it. A [`Monitor`] keeps them for one log. The
//! definitions are in `docs/monitor.md`.
//!
//! | module | purpose |
//! |---|---|
//! | [`ispl`] | interpreted systems: the states that are possible after a log of records |
//! | [`lcc`] | monitors of LCC protocols |
//! | `judgement` | what an observation changes: possible or violated, goals, facts, obligations |
//! | [`record`] | lines of a log, JSON values, times |
//! | [`map`] | maps: how a record becomes observations |
//! | `intake`, `order` | from lines to observations, in the order in which they are used |
//! | `watched` | protocols and interpreted systems whose sessions are watched |
//! | `sessions` | one monitor for each session of a log |
//! | `history` | the last events of a session, for its chart |
#![forbid(unsafe_code)]

mod history;
mod intake;
pub mod ispl;
mod judgement;
pub mod lcc;
pub mod map;
mod order;
pub mod record;
mod sessions;
mod watched;

use masque_verdict::{Budget, Stop};

pub use history::History;
pub use intake::{BadLine, Intake, IntakeCounts, IntakeOptions, Intaken, Item};
pub use judgement::{
    Closing, EventVerdict, FactChange, GoalChange, GoalStatus, InstanceChange, InstanceStatus, Judgement,
    ObligationInstance, Preview, Reason, Status, Truth, Violation,
};
pub use order::InOrder;
pub use sessions::{
    CloseReason, ClosedSession, Enforcement, Seen, SessionLimits, SessionStep, Sessions, StepOutcome, Watched,
};
pub use watched::{WatchedProtocol, WatchedSystem, event_text};

/// The possible states after the observations of one log, for a model in one language.
///
/// `Observation` is the language's description of an event. A monitor never guesses: what a bound hides is
/// `Unknown`, with the reason. A [`Stop`] is a limit of the budget; the call changed nothing and may be repeated.
pub trait Monitor {
    /// A partial description of a step.
    type Observation;

    /// Adds an observation to the log, unless it is impossible.
    ///
    /// After a violation or a stop, the possible states are those before the observation. An observation of which a
    /// bound hides whether it is possible is added; ask for a preview first if it should not be.
    fn observe(&mut self, observation: &Self::Observation, budget: &Budget) -> Result<Judgement, Stop>;

    /// Judges an observation as [`Monitor::observe`] does, without adding it to the log.
    fn preview(&mut self, observation: &Self::Observation, budget: &Budget) -> Result<Preview, Stop>;

    /// Returns what is known now: goals, facts and obligations. Before the first observation, this is what is known
    /// of the initial states.
    fn status(&mut self, budget: &Budget) -> Result<Status, Stop>;

    /// Whether no further step is possible in any possible state, so that the log is complete.
    fn is_over(&mut self, budget: &Budget) -> Result<bool, Stop>;

    /// Returns what is left if the log ends here: what is open, what was never reached. The log may continue.
    fn close(&mut self, budget: &Budget) -> Result<Closing, Stop>;
}
