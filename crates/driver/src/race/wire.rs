//! What the processes of a race say to each other: one JSON value in a line.
//!
//! This is no format of ours for others: both ends are the same program.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::Duration;

use masque_model::VarId;
use masque_verdict::{Evidence, Facts, Outcome, Phase, Show, Stats, Stop, Vacuous, Verdict, Why};
use serde::{Deserialize, Serialize};

use crate::Request;
use crate::decide::{Cost, Decided, Event};
use crate::engines::{EngineChoice, EngineOptions, NAMES, Order, Reorder};

/// What a lane is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) request: Request,
    pub(super) evidence: Show,
    pub(super) quick: bool,
    pub(super) engine: String,
    pub(super) order: WireOrder,
    pub(super) may_reorder: bool,
    pub(super) jobs: Option<NonZeroUsize>,
    pub(super) timeout: Option<Duration>,
    pub(super) memory: Option<u64>,
}

impl Task {
    /// What all lanes have in common.
    pub(super) fn new(name: &str, text: &str, request: Request, options: &EngineOptions) -> Task {
        Task {
            name: name.to_string(),
            text: text.to_string(),
            request,
            evidence: options.evidence,
            quick: options.quick,
            engine: String::new(),
            order: WireOrder::Automatic,
            may_reorder: true,
            jobs: None,
            timeout: None,
            memory: None,
        }
    }

    pub(super) fn options(&self) -> Option<EngineOptions> {
        Some(EngineOptions {
            choice: EngineChoice::Named(engine(&self.engine)?),
            order: match &self.order {
                WireOrder::Automatic => Order::Automatic,
                WireOrder::Declared => Order::Declared,
                WireOrder::Given(variables) => Order::Given(variables.clone()),
            },
            reorder: if self.may_reorder { Reorder::Auto } else { Reorder::Never },
            jobs: self.jobs,
            evidence: self.evidence,
            quick: self.quick,
            ..EngineOptions::default()
        })
    }
}

/// [`Order`], to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum WireOrder {
    Automatic,
    Declared,
    Given(Vec<VarId>),
}

impl From<Order> for WireOrder {
    fn from(order: Order) -> WireOrder {
        match order {
            Order::Automatic => WireOrder::Automatic,
            Order::Declared => WireOrder::Declared,
            Order::Given(variables) => WireOrder::Given(variables),
        }
    }
}

/// What a lane tells.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum News {
    Facts(Facts),
    Stopped {
        why: String,
        states: Option<u64>,
        bytes: Option<u64>,
    },
    Decided {
        place: usize,
        verdict: String,
        evidence: Option<Evidence>,
        withheld: Option<String>,
        engine: Option<String>,
        time: Duration,
    },
    Bug(String),
    Vacuous(usize, Vec<Vacuous>),
    Remarks(usize, Vec<String>),
    Cost {
        engine: String,
        costs: Costs,
    },
    /// All has been told.
    End,
}

/// [`Stats`], to be sent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Costs {
    phases: Vec<(String, Duration)>,
    states: Option<u64>,
    transitions: Option<u64>,
    bytes: u64,
    figures: Vec<(String, u64)>,
    notes: Vec<String>,
}

impl News {
    /// What there is to tell of an event. What no engine of a lane supports, the other side knows.
    pub(super) fn of(event: Event) -> Option<News> {
        Some(match event {
            Event::Facts(facts) => News::Facts(facts),
            Event::Stopped(Stop { why, states, bytes }) => {
                News::Stopped { why: why.word().to_string(), states, bytes }
            }
            Event::Bug(bug) => News::Bug(bug),
            Event::Decided(place, Decided { outcome, withheld, engine, time, .. }) => News::Decided {
                place,
                verdict: outcome.verdict.reason().unwrap_or(outcome.verdict.word()).to_string(),
                evidence: outcome.evidence,
                withheld,
                engine: engine.map(str::to_string),
                time,
            },
            Event::Vacuous(place, vacuous) => News::Vacuous(place, vacuous),
            Event::Remarks(place, remarks) => News::Remarks(place, remarks),
            Event::Cost(Cost { engine, stats }) => {
                let phases = stats.phases.iter().map(|phase| (phase.name.to_string(), phase.time)).collect();
                let figures =
                    stats.figures.iter().map(|(name, figure)| (name.to_string(), *figure)).collect();
                let Stats { states, transitions, bytes, notes, .. } = stats;
                let costs = Costs { phases, states, transitions, bytes, figures, notes };
                News::Cost { engine: engine.to_string(), costs }
            }
            Event::Chosen(_) | Event::Unsupported(..) | Event::Extent(..) | Event::Compared(_) => {
                return None;
            }
        })
    }

    /// The event again, in a system with so many properties; none if this cannot be one.
    pub(super) fn event(self, n_properties: usize) -> Option<Event> {
        Some(match self {
            News::Facts(facts) => Event::Facts(facts),
            News::Stopped { why, states, bytes } => {
                Event::Stopped(Stop { why: reason(&why)?, states, bytes })
            }
            News::Bug(bug) => Event::Bug(bug),
            News::Decided { place, verdict, evidence, withheld, engine: name, time } => {
                let verdict = match verdict.as_str() {
                    "holds" => Verdict::Holds,
                    "fails" => Verdict::Fails,
                    why => Verdict::Unknown(reason(why)?),
                };
                let engine = name.as_deref().and_then(engine);
                let outcome = Outcome { verdict, evidence };
                let decided = Decided { outcome, withheld, remarks: Vec::new(), engine, time };
                Event::Decided(in_range(place, n_properties)?, decided)
            }
            News::Vacuous(place, vacuous) => Event::Vacuous(in_range(place, n_properties)?, vacuous),
            News::Remarks(place, remarks) => Event::Remarks(in_range(place, n_properties)?, remarks),
            News::Cost { engine: name, costs } => {
                let Costs { phases, states, transitions, bytes, figures, notes } = costs;
                let phase = |(name, time): (String, Duration)| Phase { name: interned(name), time };
                let figure = |(name, figure): (String, u64)| (interned(name), figure);
                let stats = Stats {
                    phases: phases.into_iter().map(phase).collect(),
                    states,
                    transitions,
                    bytes,
                    figures: figures.into_iter().map(figure).collect(),
                    notes,
                };
                Event::Cost(Cost { engine: engine(&name)?, stats })
            }
            News::End => return None,
        })
    }
}

fn in_range(place: usize, n_properties: usize) -> Option<usize> {
    (place < n_properties).then_some(place)
}

fn engine(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|known| *known == name)
}

/// The reasons that engines of interpreted systems give, by their words.
fn reason(word: &str) -> Option<Why> {
    let all = [Why::Timeout, Why::Memory, Why::States, Why::Interrupted, Why::Unsupported, Why::NoFairPath];
    all.into_iter().find(|why| why.word() == word)
}

/// The names of phases and figures are a few dozen words of the program; each is kept once.
fn interned(word: String) -> &'static str {
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut words = WORDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = words.get(word.as_str()) {
        return known;
    }
    let word: &'static str = word.leak();
    words.insert(word);
    word
}
