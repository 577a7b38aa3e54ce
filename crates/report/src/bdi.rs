//! BDI files in the report: worlds, verdicts, and explanations that go through worlds.

use masque_driver::{self as driver, Explanation, Removal, Shape, StateText};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Entries;

/// Numbers up to this are exact in every reader of JSON.
const LARGEST_EXACT: u64 = 1 << 53;

/// A number of states: a JSON number, or beyond 2^53 a decimal string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CountReport {
    /// A number that every reader of JSON keeps exact.
    Number(u64),
    /// A larger one, in decimal.
    Decimal(String),
}

impl From<&String> for CountReport {
    fn from(decimal: &String) -> Self {
        match decimal.parse() {
            Ok(number) if number <= LARGEST_EXACT => CountReport::Number(number),
            _ => CountReport::Decimal(decimal.clone()),
        }
    }
}

/// A world and what became of it: `built = bad + dead + unreachable + final`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorldReport {
    /// The program: an agent, or a view.
    pub program: String,
    /// `ok`, `removed (no initial state)` or `removed (not total)`.
    pub status: String,
    /// States that the program reaches.
    pub built: CountReport,
    /// Incoherent states.
    pub bad: CountReport,
    /// Other states without a future.
    pub dead: CountReport,
    /// States that can no longer be reached.
    pub unreachable: CountReport,
    /// States that remain.
    #[serde(rename = "final")]
    pub kept: CountReport,
    /// Initial states that remain.
    pub initial: CountReport,
    /// The explicit attitudes.
    pub explicit: Vec<String>,
    /// Why states are incoherent.
    pub removed: Vec<RemovalReport>,
}

/// Why states of a world are incoherent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemovalReport {
    /// The attitude that is lacking, or the edge on which nothing is accessible.
    pub attitude: String,
    /// `implied` or `nothing accessible`.
    pub why: String,
    /// How many states there are.
    pub states: CountReport,
    /// The way to the first of them.
    pub example: Vec<StateReport>,
}

/// A state of a world.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StateReport {
    /// The point of the program.
    pub point: u32,
    /// The action just performed.
    pub action: Option<String>,
    /// Variables and explicit attitudes with their values.
    pub values: Entries<String>,
}

/// A part of an explanation: a path in a world, and what explains its last state.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplanationReport {
    /// The world, by the way to it.
    pub world: String,
    /// `path`, `lasso` or `jump`.
    pub kind: String,
    /// What the path shows of its first state; of a jump, and of the whole, of its last.
    pub formula: String,
    /// Whether that is true or false there.
    pub holds: bool,
    /// The states.
    pub states: Vec<StateReport>,
    /// Of a lasso: the state that follows the last, from 0.
    pub back_to: Option<usize>,
    /// Of a jump: the edge, as in `B(rcv)`.
    pub edge: Option<String>,
    /// Of a jump: the explicit attitudes that were true where it began.
    pub asserted: Vec<String>,
    /// What explains the last state.
    pub next: Vec<ExplanationReport>,
}

impl From<&StateText> for StateReport {
    fn from(state: &StateText) -> Self {
        let values = state.values.iter().cloned().collect();
        StateReport { point: state.point, action: state.action.clone(), values }
    }
}

impl From<&Explanation> for ExplanationReport {
    fn from(explanation: &Explanation) -> Self {
        let kind = match explanation.kind {
            Shape::Path => "path",
            Shape::Lasso => "lasso",
            Shape::Jump => "jump",
        };
        ExplanationReport {
            world: explanation.world.clone(),
            kind: kind.to_string(),
            formula: explanation.formula.clone(),
            holds: explanation.holds,
            states: explanation.states.iter().map(StateReport::from).collect(),
            back_to: explanation.back_to,
            edge: explanation.edge.clone(),
            asserted: explanation.asserted.clone(),
            next: explanation.next.iter().map(ExplanationReport::from).collect(),
        }
    }
}

impl From<&driver::WorldReport> for WorldReport {
    fn from(world: &driver::WorldReport) -> Self {
        let removal = |removal: &Removal| RemovalReport {
            attitude: removal.attitude.clone(),
            why: removal.why.to_string(),
            states: (&removal.states).into(),
            example: removal.example.iter().map(StateReport::from).collect(),
        };
        WorldReport {
            program: world.program.clone(),
            status: world.status.to_string(),
            built: (&world.built).into(),
            bad: (&world.bad).into(),
            dead: (&world.dead).into(),
            unreachable: (&world.unreachable).into(),
            kept: (&world.kept).into(),
            initial: (&world.initial).into(),
            explicit: world.explicit.clone(),
            removed: world.removed.iter().map(removal).collect(),
        }
    }
}
