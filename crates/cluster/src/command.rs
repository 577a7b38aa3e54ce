//! What the supervising process asks of its workers, and what they answer.
//!
//! Every command goes to all workers, which carry it out together. All give the same answer, each
//! with what it has cost. States travel as the model writes them, formulas as their positions in the
//! model, which all have read from the same text.

use masque_model::{AgentId, At, FormulaId, GroupId, System};
use masque_verdict::{By, Length, Literal, Part, Route, State, Stop, Why};
use serde::{Deserialize, Serialize};

use crate::net;

/// What all workers are to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Find the reachable states, or go on from what is stored.
    Explore {
        /// Whether transitions are to be stored.
        transitions: bool,
        /// The most states there may be.
        most_states: Option<u64>,
        /// States that decide a property: as soon as one is found, exploring pauses.
        hunted: Vec<WireHunt>,
    },
    /// Tell the nearest deadlock and the nearest overflow.
    Facts,
    /// Tell how many initial states there are.
    Initial,
    /// Decide a formula.
    Verdict {
        formula: usize,
        at_initial: bool,
    },
    /// Is a formula true at some state?
    Somewhere(usize),
    /// In how many states is it true?
    Extent(usize),
    /// The questions of an oracle.
    IsTrue(usize, State),
    IsDeadEnd(State),
    Least(Vec<WirePart>),
    First(Vec<WirePart>, usize),
    Path(WireRoute),
    /// Store what is known, if storing was asked for.
    Store,
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Explored {
        states: u64,
    },
    /// Exploring pauses: a state was found that the hunt at this position is for, and the path to it.
    Found {
        hunt: usize,
        path: Vec<State>,
    },
    Facts {
        deadlock: Option<Vec<State>>,
        overflow: Option<Vec<State>>,
    },
    Initial {
        all: u64,
        fair: u64,
    },
    Truth(bool),
    NoFairPath,
    Extent {
        states: u64,
        of_states: u64,
        initial: u64,
        of_initial: u64,
    },
    State(Option<State>),
    States(Vec<State>, u64),
    Path(Option<Vec<State>>),
}

/// What a worker has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Costs {
    pub(crate) states: u64,
    pub(crate) transitions: Option<u64>,
    pub(crate) bytes: u64,
    /// Words sent to other workers.
    pub(crate) words: u64,
    /// The most memory that the process has had, if the worker is one.
    pub(crate) resident: u64,
    /// The milliseconds that its threads have worked, if the worker is one.
    pub(crate) busy: u64,
}

/// A worker's answer, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reply {
    Answer(Answer, Costs),
    /// A limit was hit.
    Stopped {
        code: u64,
        states: Option<u64>,
    },
    /// Something is wrong with this worker's surroundings.
    Failed(String),
}

impl Reply {
    pub(crate) fn stopped(stop: Stop) -> Reply {
        Reply::Stopped { code: net::code(stop), states: stop.states }
    }

    /// The limit that a code stands for.
    pub(crate) fn stop(code: u64, states: Option<u64>) -> Stop {
        Stop { why: net::why(code).unwrap_or(Why::Workers), states, bytes: None }
    }
}

/// [`masque_verdict::Hunt`], with a position for the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireHunt {
    pub(crate) formula: usize,
    pub(crate) holds: bool,
    /// Whether it decides nothing if there are several initial states.
    pub(crate) from_one: bool,
}

/// [`Part`], with positions for ids.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum WirePart {
    Initial,
    Is(State),
    Literal(usize, bool),
    Green(u32),
    Alike(Vec<u32>, State),
    Constraint(usize),
    Forever(Vec<(usize, bool)>),
    Recurrent(Vec<WirePart>),
}

/// [`Route`], with positions for ids.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WireRoute {
    from: Vec<WirePart>,
    through: Vec<WirePart>,
    to: Vec<WirePart>,
    /// The group whose confusion leads from state to state; none for transitions.
    group: Option<u32>,
    length: WireLength,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum WireLength {
    Any,
    Some,
    One,
}

fn pair(literal: Literal) -> (usize, bool) {
    (literal.formula.index(), literal.holds)
}

/// Parts as they travel.
pub(crate) fn parts(region: &[Part]) -> Vec<WirePart> {
    let part = |part: &Part| match part {
        Part::Initial => WirePart::Initial,
        Part::Is(state) => WirePart::Is(state.clone()),
        Part::Literal(literal) => WirePart::Literal(literal.formula.index(), literal.holds),
        Part::Green(agent) => WirePart::Green(agent.0),
        Part::Alike(agents, state) => {
            WirePart::Alike(agents.iter().map(|agent| agent.0).collect(), state.clone())
        }
        Part::Constraint(number) => WirePart::Constraint(*number),
        Part::Forever(literals) => WirePart::Forever(literals.iter().map(|&l| pair(l)).collect()),
        Part::Recurrent(inside) => WirePart::Recurrent(parts(inside)),
    };
    region.iter().map(part).collect()
}

/// A route as it travels.
pub(crate) fn route(route: &Route<'_>) -> WireRoute {
    WireRoute {
        from: parts(route.from),
        through: parts(route.through),
        to: parts(route.to),
        group: match route.by {
            By::Steps => None,
            By::Confusion(group) => Some(group.0),
        },
        length: match route.length {
            Length::Any => WireLength::Any,
            Length::Some => WireLength::Some,
            Length::One => WireLength::One,
        },
    }
}

/// Turns what has travelled back into what it means in a system.
pub(crate) struct Reader<'s>(pub(crate) &'s System);

impl Reader<'_> {
    /// A formula of the system; one that it does not have is not supported.
    pub(crate) fn formula(&self, position: usize) -> Result<FormulaId, Stop> {
        self.0.formulas.ids().nth(position).ok_or(Stop::from(Why::Unsupported))
    }

    pub(crate) fn parts(&self, region: &[WirePart]) -> Result<Vec<Part>, Stop> {
        let literal = |&(position, holds): &(usize, bool)| {
            self.formula(position).map(|formula| Literal { formula, holds })
        };
        let part = |part: &WirePart| {
            Ok(match part {
                WirePart::Initial => Part::Initial,
                WirePart::Is(state) => Part::Is(state.clone()),
                WirePart::Literal(position, holds) => Part::Literal(literal(&(*position, *holds))?),
                WirePart::Green(agent) => Part::Green(AgentId(*agent)),
                WirePart::Alike(agents, state) => {
                    Part::Alike(agents.iter().map(|&agent| AgentId(agent)).collect(), state.clone())
                }
                WirePart::Constraint(number) => Part::Constraint(*number),
                WirePart::Forever(literals) => {
                    Part::Forever(literals.iter().map(literal).collect::<Result<_, _>>()?)
                }
                WirePart::Recurrent(inside) => Part::Recurrent(self.parts(inside)?),
            })
        };
        region.iter().map(part).collect()
    }

    /// Calls `with` on a route.
    pub(crate) fn route<T>(
        &self,
        wire: &WireRoute,
        with: impl FnOnce(&Route<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (from, through, to) =
            (self.parts(&wire.from)?, self.parts(&wire.through)?, self.parts(&wire.to)?);
        let by = wire.group.map_or(By::Steps, |group| By::Confusion(GroupId(group)));
        let length = match wire.length {
            WireLength::Any => Length::Any,
            WireLength::Some => Length::Some,
            WireLength::One => Length::One,
        };
        with(&Route { from: &from, through: &through, to: &to, by, length })
    }
}

/// Where a property is asked, as it travels.
pub(crate) fn at_initial(at: At) -> bool {
    at == At::Initial
}
