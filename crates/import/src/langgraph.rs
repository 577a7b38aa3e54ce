//! Graphs of the langgraph package, as `graph.get_graph().to_json()` exports them.
//!
//! ```json
//! {"nodes": [{"id": "__start__"}, ..], "edges": [{"source": "a", "target": "b", "conditional": true, "data": ".."}, ..]}
//! ```
//!
//! Each node becomes a role. A node takes a message `run` from any node with an edge to it, hands over along its edges,
//! and waits for the next message. Of several conditional edges one is taken; all others are.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::Refused;
use crate::json::read;
use crate::names::{Names, brief, shown};
use crate::skeleton::{Property, Skeleton};

/// Maximum number of nodes, and of edges.
const MAX_PARTS: usize = 2_000;
/// Maximum number of characters of a label in a comment.
const MAX_LABEL_CHARS: usize = 60;
/// The node at which a run begins.
const START: &str = "__start__";
/// The node at which a run ends.
const END: &str = "__end__";

#[derive(Deserialize)]
struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

#[derive(Deserialize)]
struct Node {
    id: Id,
}

/// The id of a node; graphs of the underlying package number nodes without names.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Name(String),
    Number(u64),
}

#[derive(Deserialize)]
struct Edge {
    source: Id,
    target: Id,
    #[serde(default)]
    conditional: bool,
    #[serde(default)]
    data: Value,
}

impl Id {
    fn text(&self) -> String {
        match self {
            Id::Name(name) => name.clone(),
            Id::Number(number) => number.to_string(),
        }
    }
}

/// A node with its edges, by indices.
#[derive(Default)]
struct Step {
    foreign: String,
    name: String,
    /// The nodes that may hand over to this one.
    from: BTreeSet<usize>,
    /// The nodes that this one hands over to, always.
    to: Vec<usize>,
    /// The nodes of which one is chosen, with the labels of the edges.
    one_of: Vec<(usize, Option<String>)>,
}

impl Step {
    /// The nodes of which one is chosen, each once. It makes no difference to choose a node that this one hands over
    /// to always, because a node runs once then, too; so there is no choice if all are such nodes.
    fn options(&self) -> Vec<usize> {
        let mut options: Vec<usize> = Vec::new();
        for (target, _) in &self.one_of {
            if !options.contains(target) {
                options.push(*target);
            }
        }
        if options.iter().all(|target| self.to.contains(target)) { Vec::new() } else { options }
    }
}

/// Makes a skeleton from the text of a file.
///
/// # Errors
///
/// If the text is no graph of this format.
pub fn langgraph(file: &str, text: &str) -> Result<Skeleton, Refused> {
    let graph: Graph = read(file, text, "a graph as `json.dumps(app.get_graph().to_json())` writes it")?;
    let (steps, unreachable) = reachable(steps(file, graph)?);
    let mut skeleton = Skeleton {
        origin: "a graph of langgraph",
        names: steps.iter().map(|step| (step.name.clone(), step.foreign.clone())).collect(),
        ..Skeleton::default()
    };
    for step in &steps {
        skeleton.clauses.push(clause(step, &steps));
        let kind = if step.foreign == START { "agent" } else { "server" };
        skeleton.team.push(format!("{kind} a({0}, {0}).", step.name));
    }
    skeleton.n_choices = steps.iter().filter(|step| step.options().len() > 1).count();
    skeleton.properties = Property::usual().to_vec();
    for step in steps.iter().filter(|step| step.foreign != START) {
        let formula = format!("<-* . in(run)@{}>tt", step.name);
        skeleton.properties.push(Property::new(
            "This node can be reached.",
            format!("reached_{}", step.name),
            formula,
        ));
    }
    skeleton.assumptions = assumptions(&steps);
    for step in unreachable.iter().filter(|step| step.foreign != END) {
        skeleton.names.push((step.name.clone(), step.foreign.clone()));
        skeleton.assumptions.push(format!("{} is left out: no path from the start leads to it.", step.name));
    }
    Ok(skeleton)
}

/// The nodes that a run can reach, with their edges among each other, and the others.
fn reachable(mut steps: Vec<Step>) -> (Vec<Step>, Vec<Step>) {
    let mut is_reached = vec![false; steps.len()];
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        if !std::mem::replace(&mut is_reached[index], true) {
            open.extend(steps[index].to.iter().chain(steps[index].one_of.iter().map(|(target, _)| target)));
        }
    }
    // The targets of a reachable node are reachable, so only sources are removed.
    let mut new_index = Vec::new();
    for index in 0..steps.len() {
        new_index.push(is_reached[..index].iter().filter(|is_reached| **is_reached).count());
    }
    for (step, _) in steps.iter_mut().zip(&is_reached).filter(|(_, is_reached)| **is_reached) {
        let from = step.from.iter().filter(|source| is_reached[**source]);
        step.from = from.map(|source| new_index[*source]).collect();
        step.to.iter_mut().for_each(|target| *target = new_index[*target]);
        step.one_of.iter_mut().for_each(|(target, _)| *target = new_index[*target]);
    }
    let (inside, outside): (Vec<_>, Vec<_>) =
        steps.into_iter().zip(is_reached).partition(|(_, is_reached)| *is_reached);
    let nodes = |pairs: Vec<(Step, bool)>| pairs.into_iter().map(|(step, _)| step).collect();
    (nodes(inside), nodes(outside))
}

/// The nodes with their edges. The start is the first.
fn steps(file: &str, graph: Graph) -> Result<Vec<Step>, Refused> {
    if graph.nodes.len() > MAX_PARTS || graph.edges.len() > MAX_PARTS {
        let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
        return Err(Refused(format!(
            "{file}: {nodes} nodes and {edges} edges are too many; the maximum is {MAX_PARTS} of each"
        )));
    }
    let (mut steps, indices) = nodes(file, &graph.nodes)?;
    for (number, edge) in graph.edges.iter().enumerate() {
        let find = |end: &Id, which: &str| {
            let id = end.text();
            indices.get(&id).copied().ok_or_else(|| {
                Refused(format!(
                    "{file}: edges[{number}].{which} is {}, which is the id of no node",
                    shown(&id)
                ))
            })
        };
        let (source, target) = (find(&edge.source, "source")?, find(&edge.target, "target")?);
        if target == 0 {
            return Err(Refused(format!("{file}: edges[{number}] leads to `{START}`; a run begins there")));
        }
        steps[target].from.insert(source);
        let step = &mut steps[source];
        if edge.conditional {
            step.one_of.push((target, edge.data.as_str().map(str::to_string)));
        } else if !step.to.contains(&target) {
            step.to.push(target);
        }
    }
    Ok(steps)
}

/// The nodes without edges, and their indices by id.
fn nodes(file: &str, nodes: &[Node]) -> Result<(Vec<Step>, BTreeMap<String, usize>), Refused> {
    let mut ids: Vec<String> = nodes.iter().map(|node| node.id.text()).collect();
    if !ids.iter().any(|id| id == START) {
        return Err(Refused(format!("{file}: the graph has no node `{START}`, at which a run begins")));
    }
    ids.sort_by_key(|id| id != START);
    let mut names = Names::default();
    let mut steps: Vec<Step> = Vec::new();
    let mut indices = BTreeMap::new();
    for id in ids {
        let wanted = match id.as_str() {
            START => "start",
            END => "finish",
            other => other,
        };
        if indices.insert(id.clone(), steps.len()).is_some() {
            return Err(Refused(format!("{file}: two nodes have the id {}", shown(&id))));
        }
        steps.push(Step { name: names.give(wanted), foreign: id, ..Step::default() });
    }
    Ok((steps, indices))
}

/// What a node does.
fn clause(step: &Step, steps: &[Step]) -> String {
    let name = &step.name;
    let send = |target: usize| format!("run => a({0}, {0})", steps[target].name);
    let mut parts: Vec<String> = Vec::new();
    if step.foreign != START {
        let from: Vec<String> =
            step.from.iter().map(|&source| format!("run <= a({0}, {0})", steps[source].name)).collect();
        parts.push(match from.len() {
            1 => from.join(""),
            _ => format!("( {} )", from.join(" or ")),
        });
    }
    parts.extend(step.to.iter().map(|&target| send(target)));
    // A node that gets its message in any case gets no second one.
    let (always, others): (Vec<usize>, Vec<usize>) =
        step.options().into_iter().partition(|target| step.to.contains(target));
    let mut options: Vec<String> = others.into_iter().map(send).collect();
    if !always.is_empty() {
        options.push("null".to_string());
    }
    match options.len() {
        0 => {}
        1 => parts.extend(options),
        _ => parts.push(format!("( {} )", options.join(" or "))),
    }
    let is_start = step.foreign == START;
    if !is_start {
        parts.push(format!("a({name}, Self)"));
    } else if parts.is_empty() {
        parts.push("null".to_string());
    }
    format!("a({name}, Self) ::\n  {}.", parts.join(" then\n  "))
}

/// What the graph does not say.
fn assumptions(steps: &[Step]) -> Vec<String> {
    let mut all = vec![
        "A node ends its work. What it computes is left out: state, messages, retries and interrupts."
            .to_string(),
        "A node that runs twice at the same time runs once after the other.".to_string(),
    ];
    for (index, step) in steps.iter().enumerate() {
        let name = &step.name;
        let options = step.options();
        if options.len() > 1 {
            let mut labels = String::new();
            for (target, label) in &step.one_of {
                if let Some(label) = label {
                    labels.push_str(&format!(
                        "; \"{}\" leads to {}",
                        brief(label, MAX_LABEL_CHARS),
                        steps[*target].name
                    ));
                }
            }
            all.push(format!(
                "{name} chooses exactly one of {} nodes along its conditional edges, and any of them is possible{labels}.",
                options.len()
            ));
        }
        if let [target] = options[..] {
            all.push(format!(
                "{name} always takes its conditional edge, which leads only to {}.",
                steps[target].name
            ));
        }
        if step.to.len() + usize::from(!options.is_empty()) > 1 {
            all.push(format!("{name} hands over to several nodes, which then run in any order."));
        }
        let n_fixed = step.from.iter().filter(|source| steps[**source].to.contains(&index)).count();
        if n_fixed > 1 && step.foreign != END {
            all.push(format!(
                "{name} runs once for each of the {n_fixed} nodes that lead to it, also where the graph waits for all of them."
            ));
        }
        let is_last = step.to.is_empty() && step.one_of.is_empty();
        if is_last && step.foreign != END {
            all.push(format!("{name} has no outgoing edge: its branch ends there."));
        }
    }
    all
}
