//! The states of a model: lists of states, steps, the truth of formulas at states, and what agents can tell apart.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use masque_driver::trace::TraceAction;
use masque_driver::warm::{Answer, Asked, Listed, MAX_KNOWN_STATES, PageRange, Unanswered, WarmModel};
use masque_driver::{Limits, Loaded, Why};

use crate::{Check, LoadError, Model};

/// Maximum index of a state in a list. States beyond it are counted, but not listed.
pub const MAX_LISTED_STATES: usize = MAX_KNOWN_STATES;

/// Maximum number of states of BDI worlds that are listed.
const MAX_WORLD_STATES: usize = 20_000;
/// Stack size of the thread that keeps the model, in bytes.
const STACK_BYTES: usize = 32 << 20;
/// Time between two calls of the function that receives progress.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The error about a state that no question has returned.
const NO_STATE: StatesError = StatesError::Impossible("there is no state with this number");

type Task = Box<dyn FnOnce(&mut WarmModel) + Send>;

/// The states of a model. States have numbers, which are given out by the questions that return states.
///
/// A thread keeps the model and what is known about it, so further questions are answered faster. It ends when the
/// value is dropped.
///
/// ```
/// use masque::{Check, Model};
/// let text = "
///     Agent Environment
///       Vars: coin : {heads, tails}; end Vars
///       Actions = {none};
///       Protocol: Other : {none}; end Protocol
///       Evolution: coin = tails if coin = heads; end Evolution
///     end Agent
///     Agent Alice
///       Vars: seen : boolean; end Vars
///       Actions = {look, wait};
///       Protocol: Other : {look, wait}; end Protocol
///       Evolution: seen = true if Action = look; end Evolution
///     end Agent
///     InitStates Alice.seen = false; end InitStates";
/// let check = Check::new();
/// let states = Model::from_text("coin.ispl", text)?.states(&check)?;
/// let all = states.listed(None, 0..100, &check)?;
/// assert_eq!((all.states.len(), all.count.as_deref()), (3, Some("3")));
///
/// let heads = states.listed(Some("Environment.coin = heads"), 0..1, &check)?;
/// let state = heads.states[0];
/// assert_eq!(states.values(state)?[0], ("Environment.coin".to_string(), "heads".to_string()));
/// assert_eq!(states.is_true("K(Alice, Environment.coin = heads)", state, &check)?, Some(false));
/// assert_eq!(states.indistinguishable(&["Alice"], state, 0..100, &check)?.count.as_deref(), Some("2"));
/// assert_eq!(states.steps(state, 0..100, &check)?.steps.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct States {
    tasks: Mutex<Sender<Task>>,
}

/// A list of states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateList {
    /// Numbers of the states.
    pub states: Vec<usize>,
    /// Whether there are, or may be, further states.
    pub has_more: bool,
    /// The exact number of all states, in decimal, if it is known.
    pub count: Option<String>,
}

/// The steps from a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepList {
    /// Steps, in a fixed order.
    pub steps: Vec<StateStep>,
    /// Whether there are, or may be, further steps.
    pub has_more: bool,
    /// Reasons why there is no step, if there is none.
    pub end: Vec<String>,
}

/// A step from a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateStep {
    /// What happens, as text.
    pub label: String,
    /// For an interpreted system: the agents that have actions, and their actions.
    pub actions: Vec<(String, String)>,
    /// Number of the state after the step.
    pub to: usize,
}

/// Why a question about states has no answer.
#[derive(Clone, Debug)]
pub enum StatesError {
    /// A limit was hit, or the model cannot answer.
    Stopped(Why),
    /// The formula has errors.
    Formula(LoadError),
    /// The question makes no sense for this model: a sentence.
    Impossible(&'static str),
    /// The thread that keeps the model has ended, or could not be started.
    Ended,
}

impl fmt::Display for StatesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatesError::Stopped(why) => write!(f, "the question has no answer: {why}"),
            StatesError::Formula(error) => error.fmt(f),
            StatesError::Impossible(message) => f.write_str(message),
            StatesError::Ended => f.write_str("the thread that keeps the model has ended"),
        }
    }
}

impl std::error::Error for StatesError {}

impl From<Unanswered> for StatesError {
    fn from(unanswered: Unanswered) -> StatesError {
        match unanswered {
            Unanswered::Stopped(why) => StatesError::Stopped(why),
            Unanswered::Refused(refused) => {
                // Notes are about the model, which was loaded without errors before.
                let mut errors = refused.diagnostics;
                errors.retain(masque_driver::Diagnostic::is_error);
                StatesError::Formula(LoadError::new(&refused.sources, &errors))
            }
            Unanswered::Impossible(message) => StatesError::Impossible(message),
        }
    }
}

impl Model {
    /// Begins to ask about states. The limits, the flag and the function of the check are used as in a check.
    ///
    /// # Errors
    ///
    /// If the worlds of a BDI file cannot be built within the limits, or no thread can be started.
    pub fn states(&self, check: &Check<'_>) -> Result<States, StatesError> {
        let (tasks, received) = channel();
        let (opened, is_open) = channel();
        let (loaded, limits) = (self.loaded.clone(), check.limits());
        let serve = move || serve(loaded, &limits, &opened, &received);
        let thread = Builder::new().name("masque-states".to_string()).stack_size(STACK_BYTES).spawn(serve);
        thread.map_err(|_| StatesError::Ended)?;
        received_within(&is_open, check).ok_or(StatesError::Ended)??;
        Ok(States { tasks: Mutex::new(tasks) })
    }
}

/// Keeps a model and performs tasks on it until there are no more.
fn serve(loaded: Loaded, limits: &Limits, opened: &Sender<Result<(), StatesError>>, tasks: &Receiver<Task>) {
    let opening = WarmModel::new(Rc::new(loaded), MAX_WORLD_STATES, limits);
    let result = match opening {
        Ok(Some(model)) => {
            let mut model = model.with_max_listed(MAX_LISTED_STATES);
            // Sending fails if the caller has stopped waiting.
            _ = opened.send(Ok(()));
            return tasks.iter().for_each(|task| task(&mut model));
        }
        Ok(None) => Err(StatesError::Impossible("the model has no states")),
        Err(why) => Err(StatesError::Stopped(why)),
    };
    _ = opened.send(result);
}

/// Waits for an answer, and calls the function of the check in between. None if there will be no answer.
pub(crate) fn received_within<T>(answers: &Receiver<T>, check: &Check<'_>) -> Option<T> {
    loop {
        match answers.recv_timeout(POLL_INTERVAL) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Timeout) => check.wait_a_little(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn page(range: std::ops::Range<usize>) -> PageRange {
    PageRange { offset: range.start, limit: range.end.saturating_sub(range.start) }
}

fn listed(Listed { items, has_more, count }: Listed<usize>) -> StateList {
    StateList { states: items, has_more, count }
}

impl States {
    fn ask<T: Send + 'static>(
        &self,
        check: &Check<'_>,
        question: impl FnOnce(&mut WarmModel, &Limits) -> Answer<T> + Send + 'static,
    ) -> Result<T, StatesError> {
        let (sender, answers) = channel();
        let limits = check.limits();
        let task: Task = Box::new(move |model| _ = sender.send(question(model, &limits)));
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.send(task).map_err(|_| StatesError::Ended)?;
        drop(tasks);
        Ok(received_within(&answers, check).ok_or(StatesError::Ended)??)
    }

    /// The initial states.
    ///
    /// # Errors
    ///
    /// If a limit is hit.
    pub fn initial(
        &self,
        range: std::ops::Range<usize>,
        check: &Check<'_>,
    ) -> Result<StateList, StatesError> {
        self.ask(check, move |model, limits| model.initial(page(range), limits).map(listed))
    }

    /// The reachable states at which a formula is true, or all reachable states. With fairness constraints, only states
    /// on a fair path count. Positions from [`MAX_LISTED_STATES`] are not listed.
    ///
    /// # Errors
    ///
    /// If the formula has errors, or a limit is hit.
    pub fn listed(
        &self,
        formula: Option<&str>,
        range: std::ops::Range<usize>,
        check: &Check<'_>,
    ) -> Result<StateList, StatesError> {
        let asked = formula.map(|formula| Asked::Formula(formula.to_string()));
        self.ask(check, move |model, limits| {
            model.states_where(asked.as_ref(), page(range), limits).map(listed)
        })
    }

    /// The named values of a state.
    ///
    /// # Errors
    ///
    /// If there is no such state.
    pub fn values(&self, state: usize) -> Result<Vec<(String, String)>, StatesError> {
        let values = self.ask(&Check::new(), move |model, _| Ok(model.values(state)))?;
        if values.is_empty() { Err(NO_STATE) } else { Ok(values) }
    }

    /// The named values of several states.
    ///
    /// # Errors
    ///
    /// If the thread that keeps the model has ended.
    pub fn values_of(&self, states: Vec<usize>) -> Result<Vec<Vec<(String, String)>>, StatesError> {
        self.ask(&Check::new(), move |model, _| {
            Ok(states.into_iter().map(|state| model.values(state)).collect())
        })
    }

    /// The steps from a state.
    ///
    /// # Errors
    ///
    /// If there is no such state, or too many states are known.
    pub fn steps(
        &self,
        state: usize,
        range: std::ops::Range<usize>,
        check: &Check<'_>,
    ) -> Result<StepList, StatesError> {
        self.ask(check, move |model, _| {
            let found = model.steps(state, &[], page(range))?;
            let step = |step: masque_driver::warm::WarmStep| StateStep {
                label: step.text,
                actions: match step.action {
                    TraceAction::Joint(actions) => actions,
                    _ => Vec::new(),
                },
                to: step.to,
            };
            let has_more = found.steps.has_more || found.cut.is_some();
            Ok(StepList {
                steps: found.steps.items.into_iter().map(step).collect(),
                has_more,
                end: found.end,
            })
        })
    }

    /// Whether a formula is true at a state; none if that is not known, or the formula has no meaning there.
    ///
    /// # Errors
    ///
    /// If the formula has errors, there is no such state, or a limit is hit.
    pub fn is_true(
        &self,
        formula: &str,
        state: usize,
        check: &Check<'_>,
    ) -> Result<Option<bool>, StatesError> {
        let asked = Asked::Formula(formula.to_string());
        self.ask(check, move |model, limits| {
            Ok(model.truth_at_each(&asked, &[state], limits)?.first().copied().flatten())
        })
    }

    /// The reachable states that agents, combining what they see, cannot distinguish from a state, which is one of them.
    ///
    /// # Errors
    ///
    /// If the model has no such agents or no views of agents, there is no such state, or a limit is hit.
    pub fn indistinguishable(
        &self,
        agents: &[&str],
        state: usize,
        range: std::ops::Range<usize>,
        check: &Check<'_>,
    ) -> Result<StateList, StatesError> {
        let agents: Vec<String> = agents.iter().map(|agent| (*agent).to_string()).collect();
        self.ask(check, move |model, limits| model.alike(&agents, state, page(range), limits).map(listed))
    }

    /// The state with these values; none if a variable has no value. The state of an interpreted system need not be
    /// reachable.
    ///
    /// # Errors
    ///
    /// If states of the model are not found by their values.
    pub fn find(&self, values: HashMap<String, String>) -> Result<Option<usize>, StatesError> {
        self.ask(&Check::new(), move |model, _| model.find(&values.into_iter().collect::<Vec<_>>()))
    }
}
