//! A race: the engines run side by side, each in its own process, and the first complete result is used.
//!
//! Which engine suits a model cannot be known beforehand, and only ending its process stops an engine that
//! is building a decision diagram. So each engine gets a process, a *contender*: the `masque` executable,
//! with the task on its standard input. It sends what it finds at once, in a form that refers to the checked
//! system by its ids. The same text gives the same system, so the ids mean the same in both processes. All
//! engines agree on facts, verdicts and evidence, so the report does not depend on the winner.
//!
//! A result is complete if every property that some engine supports is decided. The first contender with a
//! complete result ends the race. If there is none, each property gets the result of a contender that decided
//! it. A contender that panics leaves the race, and its messages are discarded. If a contender withholds
//! evidence, the race waits for the others; if none has better evidence, the verdict stands without. If the
//! operating system kills a contender, most likely for its memory use, its messages so far are used.

mod children;
mod runner;
#[cfg(test)]
mod tests;

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use masque_model::System;
use masque_verdict::{Facts, Stop, Unsupported, Verdict, Why};

pub use runner::run_contender;

use crate::Loaded;
use crate::check::{Limits, Progress, Run};
use crate::decide::{Decided, Message, is_refused};
use crate::engines::{EXPLICIT, EngineChoice, EngineOptions, Order, SYMBOLIC, choose};
use crate::helper_thread::{MAX_STOP_DELAY, POLL_INTERVAL};
use crate::sent_model::SentModel;
use crate::supervise::Gathered;
use children::{Children, Ending, Program, Received};
use serde::{Deserialize, Serialize};

/// The command that a contender is started with.
const CONTENDER_COMMAND: &str = "contender";

/// The task of a contender. It is sent as one line of JSON; both ends are the same program.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Task {
    model: SentModel,
    options: EngineOptions,
    timeout: Option<Duration>,
    memory: Option<u64>,
}

/// A line of JSON from a contender.
#[derive(Debug, Serialize, Deserialize)]
enum Output {
    Message(Box<Message>),
    /// The contender has finished its task.
    End,
}

/// Decides all properties of a loaded model by a race of `masque` processes, which call [`run_contender`].
/// All have the same deadline; the memory limit is divided evenly among them, and each loads the model again.
///
/// # Errors
///
/// If no process can be started.
///
/// # Panics
///
/// If all contenders panicked.
pub(crate) fn race(loaded: &Loaded, limits: &Limits, observe: &mut dyn FnMut(Progress)) -> io::Result<Run> {
    let path = match &loaded.request.work.program {
        Some(path) => path.clone(),
        None => std::env::current_exe()?,
    };
    race_of(&Program { path, args: vec![CONTENDER_COMMAND.to_string()] }, loaded, limits, observe)
}

/// A race whose contenders are processes of this program.
fn race_of(
    program: &Program,
    loaded: &Loaded,
    limits: &Limits,
    observe: &mut dyn FnMut(Progress),
) -> io::Result<Run> {
    let start = Instant::now();
    let (Some(system), Some(model)) = (loaded.system(), SentModel::new(loaded, &loaded.request)) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no model to send"));
    };
    let options = &loaded.engine_options;
    let timeout = limits.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let tasks = tasks(&Task { model, options: options.clone(), timeout, memory: limits.allowed_memory() });
    let mut contenders: Vec<Contender> =
        tasks.iter().map(|_| Contender { gathered: Gathered::new(system), ending: None }).collect();
    let (sender, received) = channel();
    let mut children = Children::start(program, tasks, system.properties.len(), &sender)?;
    drop(sender);
    let unsupported = unsupported(options, system);
    let is_supported: Vec<bool> = (0..system.properties.len())
        .map(|index| !unsupported.iter().any(|(other, _)| *other == index))
        .collect();
    let mut watch = Watch { limits, why: None };
    let winner = loop {
        match received.recv_timeout(POLL_INTERVAL) {
            Ok((number, Received::Message(message))) => contenders[number].gathered.receive(*message),
            Ok((number, Received::End { is_finished })) => {
                let ending = if is_finished { Ending::Finished } else { children.ending(number) };
                contenders[number].ending = Some(ending);
                if ending == Ending::Finished && contenders[number].is_complete(system, &is_supported) {
                    break Some(number);
                }
                if contenders.iter().all(|contender| contender.ending.is_some()) {
                    break None;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break None,
        }
        if watch.is_over() {
            break None;
        }
        observe(progress(&contenders, system));
    };
    children.stop();
    assert!(
        !contenders.iter().all(|contender| contender.ending == Some(Ending::Bug)),
        "all engines of a race ended with a bug"
    );
    let mut gathered = combine(contenders, winner, watch.why, system);
    for (index, lacking) in unsupported {
        gathered.unsupported.extend(lacking.map(|unsupported| (index, unsupported)));
        gathered.decided[index] = Some(Decided::unknown(Why::Unsupported));
    }
    Ok(gathered.finish(system, start))
}

/// The messages of one contender so far, and how it ended, if it has.
struct Contender {
    gathered: Gathered,
    ending: Option<Ending>,
}

impl Contender {
    /// Whether every supported property has a final result, or the model is refused.
    fn is_complete(&self, system: &System, is_supported: &[bool]) -> bool {
        let mut decided = self.gathered.decided.iter().zip(is_supported);
        let is_refused = |facts: &Facts| is_refused(system, facts);
        self.gathered.facts.as_ref().is_some_and(is_refused)
            || decided.all(|(decided, is_supported)| !is_supported || decided.as_ref().is_some_and(is_final))
    }
}

/// Whether every engine would give the same result. If evidence is withheld, another engine may have some.
fn is_final(decided: &Decided) -> bool {
    decided.withheld.is_none()
        && matches!(
            decided.outcome.verdict,
            Verdict::Holds | Verdict::Fails | Verdict::Unknown(Why::NoFairPath)
        )
}

/// Watches the deadline and the interrupt flag.
struct Watch<'a> {
    limits: &'a Limits,
    why: Option<Why>,
}

impl Watch<'_> {
    /// Whether to stop waiting, and if so, records why.
    fn is_over(&mut self) -> bool {
        // Contenders check the deadline themselves and then send their results.
        let last_moment = self.limits.deadline.and_then(|deadline| deadline.checked_add(MAX_STOP_DELAY));
        if self.limits.interrupt.load(Ordering::Relaxed) {
            self.why = Some(Why::Interrupted);
        } else if last_moment.is_some_and(|moment| Instant::now() >= moment) {
            self.why = Some(Why::Timeout);
        }
        self.why.is_some()
    }
}

/// The tasks of the contenders: each engine, and with three or more threads the symbolic engine again with
/// another variable order. The explicit engine gets the remaining threads; the others have one each.
fn tasks(common: &Task) -> Vec<Task> {
    let options = &common.options;
    let n_threads = options.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let second = match options.order {
        Order::Automatic | Order::Given(_) => Order::Declared,
        Order::Declared => Order::Automatic,
    };
    let mut engines = vec![(EXPLICIT, Order::Automatic), (SYMBOLIC, options.order.clone())];
    if n_threads > 2 {
        engines.push((SYMBOLIC, second));
    }
    let n_contenders = engines.len();
    let task = |(engine, order): (&'static str, Order)| {
        let jobs = if engine == EXPLICIT {
            NonZeroUsize::new(n_threads + 1 - n_contenders.min(n_threads))
        } else {
            Some(NonZeroUsize::MIN)
        };
        let choice = EngineChoice::Named(engine);
        Task {
            options: EngineOptions { choice, order, jobs, ..options.clone() },
            memory: common.memory.map(|memory| memory / n_contenders as u64),
            ..common.clone()
        }
    };
    engines.into_iter().map(task).collect()
}

/// The properties that no engine supports, by index, and what is missing.
fn unsupported(options: &EngineOptions, system: &Arc<System>) -> Vec<(usize, Option<Unsupported>)> {
    let candidates = options.candidates();
    let lacking = |(index, property)| Some((index, choose(&candidates, system, property).err()?));
    system.properties.iter().enumerate().filter_map(lacking).collect()
}

fn progress(contenders: &[Contender], system: &System) -> Progress {
    Progress {
        decided: contenders.iter().map(|contender| contender.gathered.n_decided).max().unwrap_or(0),
        total: system.properties.len(),
        is_explored: contenders.iter().any(|contender| contender.gathered.facts.is_some()),
        reached: None,
    }
}

/// The result of the race: the winner's, or for each property the best of all contenders.
fn combine(
    mut contenders: Vec<Contender>,
    winner: Option<usize>,
    why: Option<Why>,
    system: &System,
) -> Gathered {
    if let Some(winner) = winner {
        return contenders.swap_remove(winner).gathered;
    }
    let is_sound = |contender: &Contender| contender.ending != Some(Ending::Bug);
    let was_killed = contenders.iter().any(|contender| contender.ending == Some(Ending::Killed));
    let mut best = Gathered::new(system);
    let mut stops: Vec<Stop> = why.map(Stop::from).into_iter().collect();
    for contender in contenders.into_iter().filter(is_sound) {
        let gathered = contender.gathered;
        stops.extend(gathered.stopped);
        if best.facts.is_none() {
            (best.facts, best.bugs) = (gathered.facts, gathered.bugs);
        }
        best.costs.extend(gathered.costs);
        for (index, decided) in gathered.decided.into_iter().enumerate() {
            let is_better = match (&best.decided[index], &decided) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(known), Some(new)) => !is_final(known) && is_final(new),
            };
            if is_better {
                best.decided[index] = decided;
                best.vacuous.retain(|(of, _)| *of != index);
                best.vacuous.extend(gathered.vacuous.iter().filter(|(of, _)| *of == index).cloned());
            }
        }
    }
    best.vacuous.sort_by_key(|(index, _)| *index);
    // A process that the operating system kills most likely ran out of memory.
    stops.extend(was_killed.then(|| Stop::from(Why::Memory)));
    let states = stops.iter().filter_map(|stop| stop.states).max();
    best.stopped = stops.first().map(|stop| Stop { states, ..*stop });
    best
}
