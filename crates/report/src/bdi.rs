//! BDI files in the report: worlds, and explanations that lead through worlds.

use std::fmt;

use masque_driver::bdi::explanation::{Explanation, Removal, RemovalReason, Shape, Statement};
use masque_driver::bdi::model::State;
use masque_driver::bdi::outcome::{Status, WorldResult};
use masque_driver::bdi::plan::{OwnPart, PlannedPath, WorldId};
use masque_driver::{Count, Parts, Worlds};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::Entries;

/// Largest integer that every JSON parser represents exactly.
const MAX_EXACT_JSON_INTEGER: u64 = 1 << 53;

/// A number of states: a JSON number, or beyond 2^53 a decimal string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CountReport {
    /// A number that every JSON parser represents exactly.
    Number(u64),
    /// A larger number, in decimal.
    Decimal(String),
}

impl From<&Count> for CountReport {
    fn from(count: &Count) -> Self {
        match count.to_u64() {
            Some(number) if number <= MAX_EXACT_JSON_INTEGER => CountReport::Number(number),
            _ => CountReport::Decimal(count.to_string()),
        }
    }
}

impl fmt::Display for CountReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CountReport::Number(number) => write!(f, "{number}"),
            CountReport::Decimal(decimal) => write!(f, "{decimal}"),
        }
    }
}

/// A world and the numbers of its states: `built = bad + dead + unreachable + final`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorldReport {
    /// Program of the world: an agent, or a view.
    pub program: String,
    /// `ok`, `removed (no initial state)` or `removed (not total)`.
    #[serde(serialize_with = "serialize_status")]
    #[schemars(with = "String")]
    pub status: Status,
    /// Number of states that the program reaches.
    pub built: CountReport,
    /// Number of incoherent states.
    pub bad: CountReport,
    /// Number of other states without a future.
    pub dead: CountReport,
    /// Number of states that could be reached only through removed states.
    pub unreachable: CountReport,
    /// Number of states that remain.
    #[serde(rename = "final")]
    pub kept: CountReport,
    /// Number of initial states that remain.
    pub initial: CountReport,
    /// Explicit attitudes.
    pub explicit: Vec<String>,
    /// Reasons for which states are incoherent.
    pub removed: Vec<RemovalReport>,
    /// Worlds that this one is a sub-world of, each by its shortest path. A path that is not the shortest to its world
    /// lists the shortest first. Null if `masque worlds` did not compare the worlds.
    pub subworld_of: Option<Vec<String>>,
}

/// Why states of a world are incoherent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemovalReport {
    /// Missing attitude, or the edge on which no state is accessible.
    pub attitude: String,
    /// `implied` or `nothing accessible`.
    #[serde(serialize_with = "serialize_why")]
    #[schemars(with = "String")]
    pub why: RemovalReason,
    /// Number of these states.
    pub states: CountReport,
    /// Path to the first of them.
    pub example: Vec<StateReport>,
}

fn serialize_status<S: Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.text())
}

fn serialize_why<S: Serializer>(why: &RemovalReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(why_word(*why))
}

pub(crate) fn why_word(why: RemovalReason) -> &'static str {
    match why {
        RemovalReason::Lacks(_) => "implied",
        RemovalReason::NothingAccessible(_) => "nothing accessible",
    }
}

/// A state of a world.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StateReport {
    /// Program point.
    pub point: u32,
    /// Action that was performed last.
    pub action: Option<String>,
    /// Variables and explicit attitudes with their values.
    pub values: Entries<String>,
}

/// A part of an explanation: a path in a world, and the parts that explain its last state.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplanationReport {
    /// World, named by the path to it.
    pub world: String,
    /// `path`, `lasso` or `jump`.
    pub kind: String,
    /// Formula that the path shows: about its first state, or for a jump and for the whole explanation about
    /// its last state.
    pub formula: String,
    /// The formula as written, where the property has it.
    pub text: String,
    /// Truth value of the formula there.
    pub holds: bool,
    /// States of the path.
    pub states: Vec<StateReport>,
    /// For a lasso: index of the state that follows the last.
    pub back_to: Option<usize>,
    /// For a jump: the edge, as in `B(rcv)`.
    pub edge: Option<String>,
    /// For a jump: the explicit attitudes that were true at its source.
    pub asserted: Vec<String>,
    /// For a jump of an agent to its own world, with `option self = paper`: the part of its state that is the same as at
    /// its source, `variables` or `action`.
    pub same: Option<String>,
    /// For a property about sub-worlds: the difference between the worlds, in words.
    pub difference: Option<String>,
    /// Parts that explain the last state.
    pub next: Vec<ExplanationReport>,
}

impl StateReport {
    fn new(worlds: &Worlds, world: WorldId, state: &State) -> Self {
        let model = &worlds.programs;
        let vars = &model.program(worlds.plan.worlds[world.index()].program).vars;
        let values = vars.iter().map(|var| model.var(*var)).zip(&state.values);
        StateReport {
            point: state.point.0,
            action: state.action.map(|action| model.actions[action.index()].name.clone()),
            values: values.map(|(var, value)| (var.name.as_str(), var.domain.text(*value))).collect(),
        }
    }

    fn list(worlds: &Worlds, world: WorldId, states: &[State]) -> Vec<Self> {
        states.iter().map(|state| StateReport::new(worlds, world, state)).collect()
    }
}

/// Returns the part of its own state that is the same for an agent at the source of a jump and at its end, in one word.
fn same_part(worlds: &Worlds, jump: &Explanation, above: &Explanation) -> Option<&'static str> {
    let Shape::Jump { edge, .. } = jump.shape else { return None };
    // Sub-worlds are compared from states of two worlds.
    if above.world != jump.world || above.difference.is_some() {
        return None;
    }
    let source = match above.shape {
        Shape::Lasso { .. } => above.states.first(),
        _ => above.states.last(),
    };
    match worlds.plan.own_part(&worlds.programs, jump.world, edge)? {
        OwnPart::Variables => Some("variables"),
        OwnPart::Action => source?.action.map(|_| "action"),
    }
}

impl ExplanationReport {
    /// Converts the explanation of a property.
    pub(crate) fn new(worlds: &Worlds, explanation: &Explanation) -> Self {
        let model = &worlds.programs;
        let written = match explanation.statement {
            Statement::Property(index) => model.wording.parts(Some(model.properties[index].written)),
            Statement::Formula(_) => Parts::default(),
        };
        ExplanationReport::part(worlds, &written, explanation, None)
    }

    fn part(
        worlds: &Worlds,
        written: &Parts<'_>,
        explanation: &Explanation,
        above: Option<&Explanation>,
    ) -> Self {
        let model = &worlds.programs;
        let text = match explanation.statement {
            Statement::Property(index) => Some(model.written_text(&model.properties[index])),
            Statement::Formula(formula) => written.text(formula.index()),
        };
        let formula = model.statement_text(explanation.statement);
        let (kind, back_to, edge, asserted) = match &explanation.shape {
            Shape::Path => ("path", None, None, &[][..]),
            Shape::Lasso { back_to } => ("lasso", Some(*back_to), None, &[][..]),
            Shape::Jump { edge, asserted } => ("jump", None, Some(model.edge_text(*edge)), &asserted[..]),
        };
        ExplanationReport {
            world: model.path_text(&explanation.path),
            kind: kind.to_string(),
            text: text.unwrap_or_else(|| formula.clone()),
            formula,
            holds: explanation.holds,
            states: StateReport::list(worlds, explanation.world, &explanation.states),
            back_to,
            edge,
            asserted: asserted.iter().map(|var| model.var(*var).name.clone()).collect(),
            same: above.and_then(|above| same_part(worlds, explanation, above)).map(str::to_string),
            difference: explanation.difference.and_then(|difference| match explanation.statement {
                Statement::Property(index) => Some(model.difference_text(index, difference)),
                Statement::Formula(_) => None,
            }),
            next: explanation
                .next
                .iter()
                .map(|next| ExplanationReport::part(worlds, written, next, Some(explanation)))
                .collect(),
        }
    }
}

impl RemovalReport {
    fn new(worlds: &Worlds, world: WorldId, removal: &Removal) -> Self {
        RemovalReport {
            attitude: worlds.programs.removal_text(removal.reason),
            why: removal.reason,
            states: (&removal.n_states).into(),
            example: StateReport::list(worlds, world, &removal.example),
        }
    }
}

impl WorldReport {
    fn new(worlds: &Worlds, path: &PlannedPath, world: &WorldResult) -> Self {
        let id = path.world;
        let shortest = |id: WorldId| worlds.plan.name(id).to_string();
        let own = Some(shortest(id)).filter(|name| *name != path.text);
        let others = world.subworld_of.as_ref();
        let model = &worlds.programs;
        let program = model.program(worlds.plan.worlds[id.index()].program);
        let explicit = program.vars.iter().map(|var| model.var(*var)).filter(|var| var.attitude.is_some());
        WorldReport {
            program: program.name.clone(),
            status: world.status,
            built: (&world.built).into(),
            bad: (&world.bad).into(),
            dead: (&world.dead).into(),
            unreachable: (&world.unreachable).into(),
            kept: (&world.kept).into(),
            initial: (&world.initial).into(),
            explicit: explicit.map(|var| var.name.clone()).collect(),
            removed: world.removed.iter().map(|removal| RemovalReport::new(worlds, id, removal)).collect(),
            subworld_of: others
                .map(|others| own.into_iter().chain(others.iter().map(|id| shortest(*id))).collect()),
        }
    }
}

/// Reports the worlds by the paths to them, parents first.
pub(crate) fn world_reports(worlds: &Worlds, results: &[WorldResult]) -> Entries<WorldReport> {
    let paths = worlds.plan.paths.iter();
    let report = |path: &PlannedPath| WorldReport::new(worlds, path, &results[path.world.index()]);
    paths.map(|path| (path.text.as_str(), report(path))).collect()
}
