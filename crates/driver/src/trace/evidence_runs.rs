//! The runs that evidence contains.
//!
//! Evidence in JSON may be a tree: a path, and at its states further paths, other states that agents cannot
//! distinguish, tables of strategies. A run begins in an initial state and follows the paths of the tree as
//! far as they continue one another. Everything that is not part of a run is counted, so that it can be
//! reported.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::json_node::{Fault, Node, Place};
use super::{
    ACTION_VARIABLE, POINT_VARIABLE, STATE_VARIABLE, TraceAction, TraceRun, TraceState, TraceStep, TraceValue,
};

/// Maximum number of runs that are made from the evidence for one property.
const MAX_RUNS: usize = 200;
/// Maximum number of states in all runs made from the evidence for one property.
const MAX_STATES_IN_RUNS: usize = 1_000_000;

/// The runs that evidence contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceRuns {
    /// The runs; the first leads to the state that decides the property.
    pub runs: Vec<TraceRun>,
    /// The parts of the evidence that are not runs.
    pub left_out: LeftOut,
}

/// Numbers of parts of evidence that are not runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Statements that agents cannot distinguish two states.
    pub knowledge: usize,
    /// Tables of strategies, or of responses to a group.
    pub strategies: usize,
    /// Unfolded fixpoints.
    pub fixpoints: usize,
    /// Statements about all paths, all states or all strategies, which evidence does not show.
    pub not_shown: usize,
    /// Jumps from a state of a BDI world to a state that is accessible from it.
    pub jumps: usize,
    /// Runs beyond the maximum number.
    pub runs: usize,
}

impl LeftOut {
    /// The parts in words, each with its number; empty if nothing is left out.
    pub fn words(&self) -> Vec<String> {
        let parts = [
            (
                self.knowledge,
                "statement that agents cannot distinguish two states",
                "statements that agents cannot distinguish two states",
            ),
            (self.strategies, "table of a strategy or of responses", "tables of strategies or responses"),
            (self.fixpoints, "unfolded fixpoint", "unfolded fixpoints"),
            (self.jumps, "jump to an accessible state", "jumps to accessible states"),
            (self.not_shown, "statement that no run shows", "statements that no run shows"),
            (self.runs, "further run", "further runs"),
        ];
        let text = |(n, one, many): (usize, &str, &str)| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        };
        parts.into_iter().filter_map(text).collect()
    }
}

/// Returns the runs that evidence contains, as `evidence` of a property in `masque.check/1`.
///
/// # Errors
///
/// A message if this is not the evidence of any language.
pub fn evidence_runs(evidence: &Value) -> Result<EvidenceRuns, String> {
    read_evidence(&Node::root(evidence)).map_err(|fault| format!("{}: {}", fault.place, fault.message))
}

/// Reads the evidence of any language.
pub(crate) fn read_evidence(evidence: &Node<'_>) -> Result<EvidenceRuns, Fault> {
    if evidence.field("reasons").is_some() {
        Reasons::new(evidence)?.collect()
    } else if evidence.field("world").is_some() {
        let mut worlds = WorldParts::default();
        worlds.part(evidence, None)?;
        Ok(finished(worlds.runs, worlds.left_out))
    } else if evidence.field("events").is_some() {
        Ok(finished(vec![events(evidence)?], LeftOut::default()))
    } else if evidence.field("labels").is_some() {
        Ok(finished(vec![labels(evidence)?], LeftOut::default()))
    } else {
        let message = "this is not the evidence of an ISPL, BDI, LCC or AUT model";
        Err(Fault::new(evidence.place.clone(), message))
    }
}

/// Drops runs that another run contains from its beginning, and those beyond the maximum number.
fn finished(all: Vec<TraceRun>, mut left_out: LeftOut) -> EvidenceRuns {
    let is_part = |one: &TraceRun, other: &TraceRun| {
        one.world == other.world
            && (one.back_to.is_none()
                || (one.back_to, one.states.len()) == (other.back_to, other.states.len()))
            && one.states.len() <= other.states.len()
            && one.states.iter().zip(&other.states).all(|(a, b)| a.values == b.values)
            && one.steps.iter().zip(&other.steps).all(|(a, b)| a.action == b.action)
    };
    let mut runs: Vec<TraceRun> = Vec::new();
    for run in all {
        if runs.iter().any(|other| is_part(&run, other)) {
            continue;
        }
        if runs.len() == MAX_RUNS {
            left_out.runs += 1;
            continue;
        }
        // A run that continues an earlier one takes its place.
        match runs.iter().position(|other| is_part(other, &run)) {
            Some(index) => runs[index] = run,
            None => runs.push(run),
        }
    }
    EvidenceRuns { runs, left_out }
}

/// A path of states, given by their indices in the evidence.
#[derive(Clone, Debug, Default)]
struct IndexedPath {
    states: Vec<usize>,
    steps: Vec<TraceStep>,
    back_to: Option<usize>,
}

/// The first states of a path, up to the state of a claim. Many claims share a long path.
#[derive(Clone)]
struct Prefix {
    path: Rc<IndexedPath>,
    n_states: usize,
}

impl Prefix {
    /// The whole path.
    fn all(path: IndexedPath) -> Prefix {
        Prefix { n_states: path.states.len(), path: Rc::new(path) }
    }
}

/// A claim that is still to be visited, at the end of a prefix.
enum Claim {
    Reason(usize),
    /// A vertex of the unfolded fixpoint of a reason.
    Vertex(usize, usize),
}

/// The evidence about an interpreted system.
struct Reasons<'v> {
    evidence: Node<'v>,
    states: Vec<TraceState>,
    reasons: Vec<Node<'v>>,
    open: Vec<(Claim, Prefix)>,
    seen: BTreeSet<(usize, Option<usize>)>,
    runs: Vec<TraceRun>,
    n_states: usize,
    left_out: LeftOut,
}

impl<'v> Reasons<'v> {
    fn new(evidence: &Node<'v>) -> Result<Reasons<'v>, Fault> {
        let state = |node: Node<'v>| {
            let values = node.texts()?.into_iter();
            let values = values.map(|(name, value)| (name, TraceValue::Written(value))).collect();
            Ok(TraceState { place: node.place, values })
        };
        let states =
            evidence.need("states")?.items()?.into_iter().map(state).collect::<Result<_, Fault>>()?;
        Ok(Reasons {
            evidence: evidence.clone(),
            states,
            reasons: evidence.need("reasons")?.items()?,
            open: Vec::new(),
            seen: BTreeSet::new(),
            runs: Vec::new(),
            n_states: 0,
            left_out: LeftOut::default(),
        })
    }

    fn collect(mut self) -> Result<EvidenceRuns, Fault> {
        let start = self.path(&self.evidence.need("start")?)?;
        self.emit(&start)?;
        self.open.push((Claim::Reason(0), Prefix::all(start)));
        // Each claim is visited once, because evidence shares parts and a damaged file may have cycles.
        while let Some((claim, path)) = self.open.pop() {
            let is_new = match claim {
                Claim::Reason(reason) => self.seen.insert((reason, None)),
                Claim::Vertex(reason, vertex) => self.seen.insert((reason, Some(vertex))),
            };
            match claim {
                _ if !is_new => {}
                Claim::Reason(reason) => self.visit(reason, &path)?,
                Claim::Vertex(reason, vertex) => self.visit_vertex(reason, vertex, &path)?,
            }
        }
        Ok(finished(self.runs, self.left_out))
    }

    /// Visits a reason whose claim is about the last state of a path.
    fn visit(&mut self, index: usize, path: &Prefix) -> Result<(), Fault> {
        let Some(reason) = self.reasons.get(index).cloned() else {
            return Err(Fault::new(
                self.evidence.place.field("reasons"),
                format!("there is no reason {index}"),
            ));
        };
        let because = reason.need("because")?;
        let kind = because.need("kind")?;
        match kind.text()? {
            "here" => {}
            "operands" | "dead-end" => self.push_all(&because.need("reasons")?, path)?,
            "run" => {
                let run = self.joined(path, &because.need("run")?)?;
                self.emit(&run)?;
                let (first, run) = (path.n_states, Prefix::all(run));
                for claim in because.need("claims")?.items()?.iter().rev() {
                    let position = claim.need("position")?.index(run.n_states + 1 - first)?;
                    let reason = claim.need("reason")?.index(self.reasons.len())?;
                    let path = Rc::clone(&run.path);
                    self.open.push((Claim::Reason(reason), Prefix { path, n_states: first + position }));
                }
            }
            "possible" => {
                self.left_out.knowledge += 1;
                self.push_possible(&because, "reason", path, Claim::Reason)?;
            }
            "chain" => {
                self.left_out.knowledge += 1;
                let mut last = path.clone();
                for link in because.need("links")?.items()? {
                    last = Prefix::all(self.path(&link.need("path")?)?);
                    self.emit(&last.path)?;
                }
                let reason = because.need("reason")?.index(self.reasons.len())?;
                self.open.push((Claim::Reason(reason), last));
            }
            "strategy" | "answers" => {
                self.left_out.strategies += 1;
                let start = match because.field("path") {
                    Some(other) => Prefix::all(self.path(&other)?),
                    None => path.clone(),
                };
                // With uniform strategies the play may begin at another state, without a path to it.
                match self.joined(&start, &because.need("play")?) {
                    Ok(play) => self.emit(&play)?,
                    Err(_) => self.left_out.runs += 1,
                }
            }
            "unfolded" => {
                self.left_out.fixpoints += 1;
                self.open.push((Claim::Vertex(index, 0), path.clone()));
            }
            "not-shown" => self.left_out.not_shown += 1,
            other => {
                return Err(Fault::new(kind.place.clone(), format!("there is no kind of reason `{other}`")));
            }
        }
        Ok(())
    }

    /// Visits a vertex of an unfolded fixpoint whose claim is about the last state of a path.
    fn visit_vertex(&mut self, reason: usize, vertex: usize, path: &Prefix) -> Result<(), Fault> {
        let nodes = self.reasons[reason].need("because")?.need("nodes")?;
        let n_nodes = nodes.len()?;
        let Some(node) = nodes.item(vertex) else { return Ok(()) };
        let by = node.need("by")?;
        let kind = by.need("kind")?;
        match kind.text()? {
            "reason" => {
                let next = by.need("reason")?.index(self.reasons.len())?;
                self.open.push((Claim::Reason(next), path.clone()));
            }
            "nodes" => {
                for next in by.need("nodes")?.items()?.iter().rev() {
                    self.open.push((Claim::Vertex(reason, next.index(n_nodes)?), path.clone()));
                }
            }
            "steps" => {
                for step in by.need("steps")?.items()?.iter().rev() {
                    let next = step.need("node")?.index(n_nodes)?;
                    let Some(target) = nodes.item(next) else { continue };
                    let mut longer = path.path.until(path.n_states);
                    longer.states.push(target.need("state")?.index(self.states.len())?);
                    longer.steps.push(joint_step(&step.place.field("actions"), step.value.get("actions"))?);
                    self.emit(&longer)?;
                    self.open.push((Claim::Vertex(reason, next), Prefix::all(longer)));
                }
            }
            "possible" => {
                self.left_out.knowledge += 1;
                self.push_possible(&by, "node", path, |next| Claim::Vertex(reason, next))?;
            }
            "alike" => self.left_out.knowledge += 1,
            other => {
                return Err(Fault::new(kind.place.clone(), format!("there is no kind of support `{other}`")));
            }
        }
        Ok(())
    }

    /// Continues with the claim in a field, at the end of the path to an indistinguishable state.
    fn push_possible(
        &mut self,
        by: &Node<'_>,
        field: &str,
        path: &Prefix,
        claim: impl Fn(usize) -> Claim,
    ) -> Result<(), Fault> {
        let next = by.need(field)?.index(usize::MAX)?;
        let path = match by.field("path") {
            Some(other) => Prefix::all(self.path(&other)?),
            None => path.clone(),
        };
        if by.field("path").is_some() {
            self.emit(&path.path)?;
        }
        self.open.push((claim(next), path));
        Ok(())
    }

    fn push_all(&mut self, reasons: &Node<'_>, path: &Prefix) -> Result<(), Fault> {
        for reason in reasons.items()?.iter().rev() {
            self.open.push((Claim::Reason(reason.index(self.reasons.len())?), path.clone()));
        }
        Ok(())
    }

    /// Reads a path.
    fn path(&self, node: &Node<'_>) -> Result<IndexedPath, Fault> {
        let index = |item: Node<'_>| item.index(self.states.len());
        let states: Vec<usize> =
            node.need("states")?.items()?.into_iter().map(index).collect::<Result<_, _>>()?;
        let actions = node.need("actions")?;
        let steps = actions.items()?.into_iter().map(|item| joint_step(&item.place, Some(item.value)));
        let steps: Vec<TraceStep> = steps.collect::<Result<_, _>>()?;
        let back_to = node.field("loop").map(|back| back.index(states.len())).transpose()?;
        check_lengths(&node.place, states.len(), steps.len(), back_to)?;
        Ok(IndexedPath { states, steps, back_to })
    }

    /// A path followed by another, which begins where the first ends.
    fn joined(&self, first: &Prefix, second: &Node<'_>) -> Result<IndexedPath, Fault> {
        let first = first.path.until(first.n_states);
        let next = self.path(second)?;
        if first.states.last() != next.states.first() {
            let message = "this path does not begin at the state of its claim";
            return Err(Fault::new(second.place.clone(), message));
        }
        let offset = first.states.len() - 1;
        Ok(IndexedPath {
            states: first.states.iter().chain(&next.states[1..]).copied().collect(),
            steps: first.steps.iter().chain(&next.steps).cloned().collect(),
            back_to: next.back_to.map(|back| back + offset),
        })
    }

    /// Adds a path as a run.
    fn emit(&mut self, path: &IndexedPath) -> Result<(), Fault> {
        self.n_states += path.states.len();
        if self.n_states > MAX_STATES_IN_RUNS {
            let message = format!("the runs of this evidence have more than {MAX_STATES_IN_RUNS} states");
            return Err(Fault::new(self.evidence.place.clone(), message));
        }
        let states = path.states.iter().map(|&state| self.states[state].clone()).collect();
        self.runs.push(TraceRun { world: None, states, steps: path.steps.clone(), back_to: path.back_to });
        Ok(())
    }
}

impl IndexedPath {
    /// The first `n_states` states, without a loop.
    fn until(&self, n_states: usize) -> IndexedPath {
        let n_states = n_states.clamp(1, self.states.len());
        let (states, steps) = (self.states[..n_states].to_vec(), self.steps[..n_states - 1].to_vec());
        IndexedPath { states, steps, back_to: None }
    }
}

/// Reads the actions of a step; null is the step of a dead end to itself.
pub(crate) fn joint_step(place: &Place, actions: Option<&Value>) -> Result<TraceStep, Fault> {
    let action = match actions {
        None | Some(Value::Null) => TraceAction::Stutter,
        Some(value) => TraceAction::Joint(Node { value, place: place.clone() }.texts()?),
    };
    Ok(TraceStep { place: place.clone(), action })
}

/// Refuses a path without states, or with too many or too few steps.
pub(crate) fn check_lengths(
    place: &Place,
    n_states: usize,
    n_steps: usize,
    back_to: Option<usize>,
) -> Result<(), Fault> {
    if n_states == 0 {
        return Err(Fault::new(place.clone(), "this path has no states"));
    }
    let n_needed = if back_to.is_some() { n_states } else { n_states - 1 };
    if n_steps != n_needed {
        let message = format!("a path of {n_states} states needs {n_needed} steps here and has {n_steps}");
        return Err(Fault::new(place.clone(), message));
    }
    Ok(())
}

/// Steps that the file does not describe.
pub(crate) fn steps_not_given(place: &Place, n_states: usize, back_to: Option<usize>) -> Vec<TraceStep> {
    let n_steps = if back_to.is_some() { n_states } else { n_states.saturating_sub(1) };
    vec![TraceStep { place: place.clone(), action: TraceAction::NotGiven }; n_steps]
}

/// The parts of an explanation of a BDI file.
#[derive(Default)]
struct WorldParts {
    runs: Vec<TraceRun>,
    left_out: LeftOut,
}

impl WorldParts {
    /// Adds a part and those below it. `before` is the run that leads to its first state, if there is one.
    fn part(&mut self, part: &Node<'_>, before: Option<&TraceRun>) -> Result<(), Fault> {
        let kind = part.need("kind")?;
        let (kind, is_jump) = (kind.text()?, kind.text()? == "jump");
        self.left_out.jumps += usize::from(is_jump);
        let world = part.need("world")?.text()?.to_string();
        let own = part.need("states")?;
        let own: Vec<TraceState> =
            own.items()?.into_iter().map(|state| world_state(&state)).collect::<Result<_, Fault>>()?;
        let back_to = part.field("back_to").map(|back| back.index(own.len())).transpose()?;
        let before = before.filter(|_| !is_jump);
        let offset = before.map_or(0, |run| run.states.len() - 1);
        let mut states = before.map_or(Vec::new(), |run| run.states.clone());
        states.truncate(offset);
        states.extend(own);
        let back_to = back_to.map(|back| back + offset);
        check_lengths(&part.place, states.len(), states.len() - usize::from(back_to.is_none()), back_to)?;
        let steps = steps_not_given(&part.place, states.len(), back_to);
        let run = TraceRun { world: Some(world), states, steps, back_to };
        // Parts below explain the last state; those of a lasso the first.
        let explained = if kind == "lasso" { offset } else { run.states.len() - 1 };
        let prefix = TraceRun {
            states: run.states[..=explained].to_vec(),
            steps: steps_not_given(&part.place, explained + 1, None),
            back_to: None,
            world: run.world.clone(),
        };
        self.runs.push(run);
        for next in part.field("next").map_or(Ok(Vec::new()), |next| next.items())? {
            self.part(&next, Some(&prefix))?;
        }
        Ok(())
    }
}

/// Reads a state of a BDI world.
fn world_state(node: &Node<'_>) -> Result<TraceState, Fault> {
    let point = node.need("point")?;
    let point = point.value.as_u64().ok_or_else(|| point.expected("a number"))?;
    let action = node.field("action").map_or(Ok(""), |action| action.text())?;
    let mut values = vec![
        (POINT_VARIABLE.to_string(), TraceValue::Integer(point.to_string())),
        (ACTION_VARIABLE.to_string(), TraceValue::Text(action.to_string())),
    ];
    let named = node.need("values")?.texts()?.into_iter();
    values.extend(named.map(|(name, value)| (name, TraceValue::Written(value))));
    Ok(TraceState { place: node.place.field("values"), values })
}

/// Reads the trace of a protocol. It has no states, only the labels of its events.
fn events(node: &Node<'_>) -> Result<TraceRun, Fault> {
    let events = node.need("events")?.items()?;
    let step = |event: &Node<'_>| {
        let label = event.need("label")?;
        let action = TraceAction::Label(label.text()?.to_string());
        Ok(TraceStep { place: label.place, action })
    };
    let steps: Vec<TraceStep> = events.iter().map(step).collect::<Result<_, Fault>>()?;
    let back_to = node.field("back_to").map(|back| back.index(events.len())).transpose()?;
    let n_states = steps.len() + usize::from(back_to.is_none());
    let states = vec![TraceState { place: node.place.clone(), values: Vec::new() }; n_states];
    Ok(TraceRun { world: None, states, steps, back_to })
}

/// Reads a path of a transition system.
fn labels(node: &Node<'_>) -> Result<TraceRun, Fault> {
    let state = |item: Node<'_>| {
        let number = item.value.as_u64().ok_or_else(|| item.expected("the number of a state"))?;
        let values = vec![(STATE_VARIABLE.to_string(), TraceValue::Integer(number.to_string()))];
        Ok(TraceState { place: item.place, values })
    };
    let states: Vec<TraceState> =
        node.need("states")?.items()?.into_iter().map(state).collect::<Result<_, Fault>>()?;
    let step = |item: Node<'_>| {
        let action = TraceAction::Label(item.text()?.to_string());
        Ok(TraceStep { place: item.place, action })
    };
    let steps: Vec<TraceStep> =
        node.need("labels")?.items()?.into_iter().map(step).collect::<Result<_, Fault>>()?;
    let back_to = node.field("loop").map(|back| back.index(states.len())).transpose()?;
    check_lengths(&node.place, states.len(), steps.len(), back_to)?;
    Ok(TraceRun { world: None, states, steps, back_to })
}
