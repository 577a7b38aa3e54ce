//! A race: the engines side by side, each in a process of its own, and the first answer is taken.
//!
//! Nobody knows beforehand which engine suits a model, and nothing can stop a decision diagram that
//! is being built but the end of its process. So each engine gets a process, a *lane*: the program
//! itself, with the task on its standard input. What it finds it tells at once, in a form that
//! speaks of the checked system by its ids; the same text makes the same system, so they mean the
//! same here. All engines agree on facts, verdicts and evidence, so the report is the same whoever
//! wins.
//!
//! An answer is complete if every property is decided that some engine supports. The first lane with
//! a complete answer ends the race. If there is none, what any lane has decided is decided. A lane
//! that panics is out of the race, and what it told before is not used; where evidence is withheld the
//! other lanes are waited for, and if none has better the verdict stands without. One that the system
//! has ended, for its memory most likely, was right so far.

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

pub use runner::lane;

use crate::check::{Limits, Progress, Run};
use crate::decide::{Decided, Event, is_refused};
use crate::engines::{EXPLICIT, EngineChoice, EngineOptions, Order, SYMBOLIC, choose};
use crate::supervise::Gathered;
use crate::worker::{GRACE, PULSE};
use crate::{Loaded, Request};
use children::{Children, Ending, Heard, Program};
use serde::{Deserialize, Serialize};

/// The command that a lane is started with.
const LANE: &str = "lane";

/// What a lane is to do. It is sent as one line of JSON: both ends are the same program.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Task {
    name: String,
    text: String,
    request: Request,
    options: EngineOptions,
    timeout: Option<Duration>,
    memory: Option<u64>,
}

/// What a lane says, one line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
enum News {
    Event(Box<Event>),
    /// All has been said.
    End,
}

/// Decides all properties of a loaded model by a race of processes: the `masque` executable, which calls
/// [`lane`]. The time is one for all; the memory is divided evenly, so that all together keep to the limit.
///
/// # Errors
///
/// If no process can be started.
///
/// # Panics
///
/// If all lanes did: their bug is handed on.
pub(crate) fn race(loaded: &Loaded, limits: &Limits, observe: &mut dyn FnMut(Progress)) -> io::Result<Run> {
    let path = match &loaded.request.work.program {
        Some(path) => path.clone(),
        None => std::env::current_exe()?,
    };
    race_of(&Program { path, args: vec![LANE.to_string()] }, loaded, limits, observe)
}

/// A race whose lanes are processes of this program.
fn race_of(
    program: &Program,
    loaded: &Loaded,
    limits: &Limits,
    observe: &mut dyn FnMut(Progress),
) -> io::Result<Run> {
    let start = Instant::now();
    let (Some(system), Some(text)) = (loaded.system(), loaded.text()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no text to send"));
    };
    let options = &loaded.engine_options;
    let common = Task {
        name: loaded.name(),
        text: text.to_string(),
        request: loaded.request.clone(),
        options: options.clone(),
        timeout: limits.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())),
        memory: limits.memory,
    };
    let tasks = tasks(limits, &common);
    let mut lanes: Vec<Lane> =
        tasks.iter().map(|_| Lane { gathered: Gathered::new(system), ending: None }).collect();
    let (sender, heard) = channel();
    let mut children = Children::start(program, tasks, system.properties.len(), &sender)?;
    drop(sender);
    let unsupported = unsupported(options, system);
    let is_open: Vec<bool> =
        (0..system.properties.len()).map(|p| !unsupported.iter().any(|(place, _)| *place == p)).collect();
    let mut watch = Watch { limits, why: None };
    let winner = loop {
        match heard.recv_timeout(PULSE) {
            Ok((number, Heard::Event(event))) => lanes[number].gathered.hear(*event),
            Ok((number, Heard::End(is_whole))) => {
                let ending = if is_whole { Ending::Whole } else { children.ending(number) };
                lanes[number].ending = Some(ending);
                if ending == Ending::Whole && lanes[number].is_complete(system, &is_open) {
                    break Some(number);
                }
                if lanes.iter().all(|lane| lane.ending.is_some()) {
                    break None;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break None,
        }
        if watch.is_over() {
            break None;
        }
        observe(progress(&lanes, system));
    };
    children.stop();
    assert!(
        !lanes.iter().all(|lane| lane.ending == Some(Ending::Bug)),
        "all engines of a race ended with a bug"
    );
    let mut gathered = combine(lanes, winner, watch.why, system);
    for (place, lacking) in unsupported {
        gathered.unsupported.extend(lacking.map(|unsupported| (place, unsupported)));
        gathered.decided[place] = Some(Decided::unknown(Why::Unsupported));
    }
    Ok(gathered.finish(system, start))
}

/// What one lane has told, and how it ended if it has.
struct Lane {
    gathered: Gathered,
    ending: Option<Ending>,
}

impl Lane {
    /// Whether all that can be decided is.
    fn is_complete(&self, system: &System, is_open: &[bool]) -> bool {
        let mut decided = self.gathered.decided.iter().zip(is_open);
        let is_refused = |facts: &Facts| is_refused(system, facts);
        self.gathered.facts.as_ref().is_some_and(is_refused)
            || decided.all(|(decided, is_open)| !is_open || decided.as_ref().is_some_and(is_final))
    }
}

/// Whether every engine would say the same. Where evidence is withheld, another engine may have some.
fn is_final(decided: &Decided) -> bool {
    decided.withheld.is_none()
        && matches!(
            decided.outcome.verdict,
            Verdict::Holds | Verdict::Fails | Verdict::Unknown(Why::NoFairPath)
        )
}

/// When to wait no longer.
struct Watch<'a> {
    limits: &'a Limits,
    why: Option<Why>,
}

impl Watch<'_> {
    fn is_over(&mut self) -> bool {
        // Lanes look at the clock themselves, and tell what they have; after a while they are late.
        let last_moment = self.limits.deadline.and_then(|deadline| deadline.checked_add(GRACE));
        if self.limits.interrupt.load(Ordering::Relaxed) {
            self.why = Some(Why::Interrupted);
        } else if last_moment.is_some_and(|moment| Instant::now() >= moment) {
            self.why = Some(Why::Timeout);
        }
        self.why.is_some()
    }
}

/// The lanes: every engine, and where there are three processors or more the symbolic one once more
/// with another order. The explicit engine gets the threads that remain, if several may work.
fn tasks(limits: &Limits, common: &Task) -> Vec<Task> {
    let options = &common.options;
    let n_threads = options.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let second = match options.order {
        Order::Automatic | Order::Given(_) => Order::Declared,
        Order::Declared => Order::Automatic,
    };
    let mut lanes = vec![(EXPLICIT, Order::Automatic), (SYMBOLIC, options.order.clone())];
    if n_threads > 2 {
        lanes.push((SYMBOLIC, second));
    }
    let n_lanes = lanes.len();
    let lane = |(engine, order): (&'static str, Order)| {
        // The explicit engine makes the most of threads; the others have one each.
        let jobs = match engine == EXPLICIT {
            true => NonZeroUsize::new(n_threads + 1 - n_lanes.min(n_threads)),
            false => Some(NonZeroUsize::MIN),
        };
        let choice = EngineChoice::Named(engine);
        Task {
            options: EngineOptions { choice, order, jobs, ..options.clone() },
            memory: limits.memory.map(|memory| memory / n_lanes as u64),
            ..common.clone()
        }
    };
    lanes.into_iter().map(lane).collect()
}

/// The properties that no engine supports, by position, and what is lacking.
fn unsupported(options: &EngineOptions, system: &Arc<System>) -> Vec<(usize, Option<Unsupported>)> {
    let candidates = options.candidates();
    let lacking = |(place, property)| Some((place, choose(&candidates, system, property).err()?));
    system.properties.iter().enumerate().filter_map(lacking).collect()
}

fn progress(lanes: &[Lane], system: &System) -> Progress {
    Progress {
        decided: lanes.iter().map(|lane| lane.gathered.n_decided).max().unwrap_or(0),
        total: system.properties.len(),
        is_explored: lanes.iter().any(|lane| lane.gathered.facts.is_some()),
        found: None,
    }
}

/// One answer of all lanes: the winner's, or the best of each.
fn combine(mut lanes: Vec<Lane>, winner: Option<usize>, why: Option<Why>, system: &System) -> Gathered {
    if let Some(winner) = winner {
        return lanes.swap_remove(winner).gathered;
    }
    let is_sound = |lane: &Lane| lane.ending != Some(Ending::Bug);
    let was_killed = lanes.iter().any(|lane| lane.ending == Some(Ending::Killed));
    let mut best = Gathered::new(system);
    let mut stops: Vec<Stop> = why.map(Stop::from).into_iter().collect();
    for lane in lanes.into_iter().filter(is_sound) {
        let told = lane.gathered;
        stops.extend(told.stopped);
        if best.facts.is_none() {
            (best.facts, best.bugs) = (told.facts, told.bugs);
        }
        best.costs.extend(told.costs);
        for (place, decided) in told.decided.into_iter().enumerate() {
            let is_better = match (&best.decided[place], &decided) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(known), Some(new)) => !is_final(known) && is_final(new),
            };
            if is_better {
                best.decided[place] = decided;
                best.vacuous.retain(|(of, _)| *of != place);
                best.vacuous.extend(told.vacuous.iter().filter(|(of, _)| *of == place).cloned());
            }
        }
    }
    best.vacuous.sort_by_key(|(place, _)| *place);
    // What a system ends, it ends for its memory most likely.
    stops.extend(was_killed.then(|| Stop::from(Why::Memory)));
    let states = stops.iter().filter_map(|stop| stop.states).max();
    best.stopped = stops.first().map(|stop| Stop { states, ..*stop });
    best
}
