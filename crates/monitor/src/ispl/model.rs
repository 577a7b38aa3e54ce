//! Opening a model for monitoring.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::rc::Rc;

use masque_model::{AgentId, ExprId, System};
use masque_symbolic::Symbolic;
use masque_verdict::{Budget, Stop, Why};

use super::diagrams::Diagrams;
use super::monitor::IsplMonitor;
use super::sets::StateSets;
use super::stored::Stored;
use super::tracker::Shared;

/// Default number of states up to which they are stored.
const MAX_STORED_STATES: u64 = 200_000;

/// Maximum memory for stored states as long as diagrams have not been tried, in bytes.
const MAX_STORED_BYTES: u64 = 512 << 20;
/// The same as a divisor of the memory limit.
const STORED_MEMORY_SHARE: u64 = 4;
/// The same for time: a divisor of the time limit.
const STORED_TIME_SHARE: usize = 2;

/// How a model is monitored.
#[derive(Clone, Debug)]
pub struct IsplOptions {
    /// Indices of the properties to judge; all if there is none.
    pub properties: Option<Vec<usize>>,
    /// Steps that may happen without a record: those with this condition on the state before the step and on the joint
    /// action. Without it, each step has a record.
    pub unseen: Option<ExprId>,
    /// The agent whose view the logs are; none if they describe the whole system.
    pub viewer: Option<AgentId>,
    /// How sets of states are represented.
    pub store: StateStore,
    /// Number of threads; one per processor if there is none.
    pub jobs: Option<NonZeroUsize>,
    /// The symbolic engine.
    pub symbolic: Symbolic,
}

impl Default for IsplOptions {
    fn default() -> IsplOptions {
        IsplOptions {
            properties: None,
            unseen: None,
            viewer: None,
            store: StateStore::Auto { max_stored: MAX_STORED_STATES },
            jobs: None,
            symbolic: Symbolic::default(),
        }
    }
}

/// How sets of states are represented. This changes only time and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateStore {
    /// Stored states if there are at most this many and a part of the budget suffices, otherwise diagrams; if these do not
    /// fit into memory, stored states again.
    Auto {
        /// Maximum number of states that are stored at first.
        max_stored: u64,
    },
    /// Stored states.
    Stored,
    /// Diagrams.
    Diagrams,
}

/// Why a model cannot be monitored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOpened {
    /// A limit was reached, or no fair path starts at an initial state.
    Stopped(Stop),
    /// The model or the options do not allow monitoring; the message says why.
    Refused(String),
}

impl From<Stop> for NotOpened {
    fn from(stop: Stop) -> NotOpened {
        NotOpened::Stopped(stop)
    }
}

/// A model whose states are explored and whose properties are labelled, for any number of logs.
#[derive(Clone)]
pub struct IsplModel<'s>(pub(super) Engine<'s>);

/// The sets of a model in one of the two representations.
#[derive(Clone)]
pub(super) enum Engine<'s> {
    Stored(Rc<RefCell<Shared<'s, Stored<'s>>>>),
    Diagrams(Rc<RefCell<Shared<'s, Diagrams<'s>>>>),
}

impl<'s> IsplModel<'s> {
    /// Explores a system and computes where its properties are true.
    ///
    /// A property that the budget does not suffice for is unknown in all judgements. Operations on diagrams recurse over
    /// the bits of a state, so models with thousands of bits need a thread with a large stack, as for a check.
    pub fn open(
        system: &'s System,
        options: &IsplOptions,
        budget: &Budget,
    ) -> Result<IsplModel<'s>, NotOpened> {
        if let (Some(viewer), Some(_)) = (options.viewer, options.unseen) {
            let viewer = &system.agent(viewer).name;
            return Err(NotOpened::Refused(format!(
                "a log in the view of `{viewer}` has a record for each step: it cannot have unseen steps"
            )));
        }
        let opening = Opening { system, options, budget };
        match options.store {
            StateStore::Stored => opening.stored(u64::MAX, budget).map(|(model, _)| model),
            StateStore::Diagrams => opening.diagrams(),
            StateStore::Auto { max_stored } => opening.either(max_stored),
        }
    }

    /// Begins a log.
    pub fn monitor(&self) -> IsplMonitor<'s> {
        IsplMonitor::new(&self.0)
    }

    /// Whether the states are stored; otherwise they are diagrams.
    pub fn is_stored(&self) -> bool {
        matches!(self.0, Engine::Stored(_))
    }
}

/// An attempt to open a model.
struct Opening<'a, 's> {
    system: &'s System,
    options: &'a IsplOptions,
    budget: &'a Budget,
}

impl<'s> Opening<'_, 's> {
    /// Opens a model with stored states. Returns also whether some property lacked the time or the memory.
    fn stored(&self, max_states: u64, budget: &Budget) -> Result<(IsplModel<'s>, bool), NotOpened> {
        let stored = Stored::explore(self.system, max_states, self.options.jobs, budget)?;
        let shared = self.shared(stored, budget)?;
        let lacks_budget = shared.borrow().has_undecided(Why::is_limit);
        Ok((IsplModel(Engine::Stored(shared)), lacks_budget))
    }

    fn diagrams(&self) -> Result<IsplModel<'s>, NotOpened> {
        let diagrams = Diagrams::explore(&self.options.symbolic, self.system, self.budget)?;
        Ok(IsplModel(Engine::Diagrams(self.shared(diagrams, self.budget)?)))
    }

    /// Opens a model with stored states if there are at most this many and a part of the budget suffices, otherwise with
    /// diagrams; if these do not fit into memory, with stored states again.
    fn either(&self, max_stored: u64) -> Result<IsplModel<'s>, NotOpened> {
        let bytes = self.budget.memory().map_or(MAX_STORED_BYTES, |limit| limit / STORED_MEMORY_SHARE);
        let part = self.budget.share(STORED_TIME_SHARE).with_memory(bytes.min(MAX_STORED_BYTES));
        match self.stored(max_stored, &part) {
            Ok((model, false)) => return Ok(model),
            Ok((_, true)) => {}
            Err(NotOpened::Stopped(stop)) if stop.why.is_limit() => {}
            Err(refusal) => return Err(refusal),
        }
        self.budget.check()?;
        match self.diagrams() {
            Err(NotOpened::Stopped(Stop { why: Why::Memory, .. })) => {
                self.stored(u64::MAX, self.budget).map(|(model, _)| model)
            }
            opened => opened,
        }
    }

    fn shared<S: StateSets>(
        &self,
        sets: S,
        budget: &Budget,
    ) -> Result<Rc<RefCell<Shared<'s, S>>>, NotOpened> {
        let Opening { system, options, .. } = self;
        let all: Vec<usize> = (0..system.properties.len()).collect();
        let properties = options.properties.as_ref().unwrap_or(&all);
        let shared = Shared::new(system, sets, properties, options.unseen, budget)?;
        if !shared.has_no_run() {
            return Ok(Rc::new(RefCell::new(shared)));
        }
        if system.fairness.is_empty() {
            let message = "no state satisfies InitStates, so there is no run to compare with a log";
            return Err(NotOpened::Refused(message.to_string()));
        }
        Err(NotOpened::Stopped(Why::NoFairPath.into()))
    }
}
