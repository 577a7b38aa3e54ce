//! Graphs of states: `masque.graph/1`, DOT and Aldebaran.

use std::io::{self, Write};

use masque_driver::{AgentId, Cut, Graph, Loaded, RemovedGraph, StateGraph, System};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Entries;
use crate::check::write_json;
use crate::graph_dot::quoted;
use crate::path::{action_text, assignment, cut_list, doing, values};
use crate::wording::plural;

/// The name and version of the format.
pub const GRAPH_SCHEMA: &str = "masque.graph/1";

/// Maximum number of values in the label of a state.
const MAX_SHOWN_VALUES: usize = 16;
/// Maximum number of actions or labels at an edge.
const MAX_SHOWN_LABELS: usize = 4;

/// What `masque export --format json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "masque.graph/1")]
pub struct GraphReport {
    /// The name of this format: `masque.graph/1`.
    #[schemars(extend("const" = GRAPH_SCHEMA))]
    pub schema: &'static str,
    /// The file, as it was named.
    pub file: String,
    /// The file's parameters with the values used.
    pub parameters: Entries<i64>,
    /// Agent whose view of the graph this is; null for the graph itself.
    pub view: Option<String>,
    /// States, or classes of states that the agent cannot distinguish. Elsewhere a node is an index in this
    /// list.
    pub nodes: Vec<NodeReport>,
    /// Edges between the nodes.
    pub edges: Vec<EdgeReport>,
    /// For BDI files: the states that synthesis removes, which are no part of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<RemovedReport>,
    /// Why this is only a part of the graph; null if it is the whole graph.
    pub cut: Option<String>,
}

/// A state, or a class of states.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NodeReport {
    /// Values of all variables, or of those that the agent sees.
    pub values: Entries<String>,
    /// Whether the state is initial, or the class contains an initial state.
    pub initial: bool,
    /// Number of states of the graph that the node represents.
    pub states: usize,
    /// Whether all successors are part of the graph.
    pub expanded: bool,
}

/// One or more transitions from a node to a node.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EdgeReport {
    /// Source node.
    pub from: usize,
    /// Target node.
    pub to: usize,
    /// For each transition, the action of each agent, or of the agent whose view it is. Empty for the step
    /// of a dead end to itself that `--deadlock stutter` adds.
    pub actions: Vec<Entries<String>>,
    /// For protocols and transition systems, instead of actions: the label of each transition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// The states that synthesis removes from the worlds of a BDI file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemovedReport {
    /// Removed states. Their numbers in `edges` follow those of the nodes of the graph.
    pub nodes: Vec<RemovedNodeReport>,
    /// Steps from or to a removed state.
    pub edges: Vec<EdgeReport>,
    /// Sentences that say how many states of each world are removed, and how many are listed if not all.
    pub summary: Vec<String>,
}

/// A state that synthesis removes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemovedNodeReport {
    /// Values of all variables.
    pub values: Entries<String>,
    /// Whether the program of its world can start in it.
    pub initial: bool,
    /// Reasons for the removal.
    pub why: Vec<String>,
}

impl RemovedReport {
    /// Reports removed states; `None` if there are none.
    fn new(removed: RemovedGraph) -> Option<RemovedReport> {
        let RemovedGraph { states, edges, summary, .. } = removed;
        let nodes = states.into_iter().map(|node| RemovedNodeReport {
            values: node.values.into_iter().collect(),
            initial: node.is_initial,
            why: node.why,
        });
        let edge = |((from, to), labels)| EdgeReport { from, to, actions: Vec::new(), labels };
        let (nodes, edges) = (nodes.collect(), edges.into_iter().map(edge).collect());
        (!summary.is_empty()).then_some(RemovedReport { nodes, edges, summary })
    }

    /// Writes the states and their steps for Graphviz, grey and dashed; `first` is the number of the first state.
    fn dot(&self, out: &mut dyn Write, first: usize) -> io::Result<()> {
        writeln!(out, "  label={};", quoted(&self.summary.join("\n")))?;
        for (number, node) in (first..).zip(&self.nodes) {
            let mut lines = cut_list(node.values.0.iter().map(assignment).collect(), MAX_SHOWN_VALUES);
            lines.extend(node.why.iter().map(|why| format!("removed: {why}")));
            let style = if node.initial { "bold,dashed,filled" } else { "dashed,filled" };
            let label = quoted(&lines.join("\n"));
            writeln!(out, "  {number} [label={label}, style=\"{style}\", {REMOVED_COLOURS}];")?;
        }
        for edge in &self.edges {
            let label = quoted(&cut_list(edge.texts(), MAX_SHOWN_LABELS).join("\n"));
            writeln!(
                out,
                "  {} -> {} [label={label}, style=dashed, color=grey50, fontcolor=grey30];",
                edge.from, edge.to
            )?;
        }
        Ok(())
    }
}

/// Colours of a removed state for Graphviz.
const REMOVED_COLOURS: &str = "color=grey50, fillcolor=grey90, fontcolor=grey30";

impl EdgeReport {
    /// The transitions as text.
    fn texts(&self) -> Vec<String> {
        if self.labels.is_empty() {
            self.actions.iter().map(joint_text).collect()
        } else {
            self.labels.clone()
        }
    }
}

impl GraphReport {
    /// Reports the graph, or an agent's view of it.
    pub fn new(loaded: &Loaded, system: &System, graph: &Graph, view: Option<AgentId>) -> Self {
        let (nodes, edges) = match view {
            None => plain(system, graph),
            Some(agent) => seen(system, graph, agent),
        };
        GraphReport {
            schema: GRAPH_SCHEMA,
            file: loaded.name(),
            parameters: loaded.parameters.iter().cloned().collect(),
            view: view.map(|agent| system.agent(agent).name.clone()),
            nodes,
            edges,
            removed: None,
            cut: graph.cut.map(|cut| why_cut(cut, graph.states.len())),
        }
    }

    /// Reports the graph of a protocol, of a transition system or of the worlds of a BDI file, with the states that
    /// synthesis removes from these worlds.
    pub fn of_states(loaded: &Loaded, graph: StateGraph, removed: RemovedGraph) -> Self {
        let StateGraph { states, n_initial, expanded, edges, cut } = graph;
        let n_states = states.len();
        let nodes =
            states.into_iter().zip(expanded).enumerate().map(|(index, (values, expanded))| NodeReport {
                values: values.into_iter().collect(),
                initial: index < n_initial,
                states: 1,
                expanded,
            });
        let edge = |((from, to), labels)| EdgeReport { from, to, actions: Vec::new(), labels };
        GraphReport {
            schema: GRAPH_SCHEMA,
            file: loaded.name(),
            parameters: loaded.parameters.iter().cloned().collect(),
            view: None,
            nodes: nodes.collect(),
            edges: edges.into_iter().map(edge).collect(),
            removed: RemovedReport::new(removed),
            cut: cut.map(|cut| why_cut(cut, n_states)),
        }
    }

    /// Writes the graph as JSON.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        write_json(out, self)
    }

    /// Writes the graph for Graphviz. Initial states are bold; states with missing successors are dashed; removed
    /// states are dashed and grey.
    pub fn dot(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(cut) = &self.cut {
            writeln!(out, "// {cut}")?;
        }
        writeln!(out, "digraph {} {{", quoted(&self.file))?;
        writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];")?;
        writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
        for (number, node) in self.nodes.iter().enumerate() {
            let mut lines = cut_list(node.values.0.iter().map(assignment).collect(), MAX_SHOWN_VALUES);
            if self.view.is_some() {
                lines.push(format!("({})", plural(node.states, "state", "states")));
            }
            let style = match (node.initial, node.expanded) {
                (true, true) => ", style=bold",
                (true, false) => ", style=\"bold,dashed\"",
                (false, true) => "",
                (false, false) => ", style=dashed",
            };
            writeln!(out, "  {number} [label={}{style}];", quoted(&lines.join("\n")))?;
        }
        for edge in &self.edges {
            let label = quoted(&cut_list(edge.texts(), MAX_SHOWN_LABELS).join("\n"));
            writeln!(out, "  {} -> {} [label={label}];", edge.from, edge.to)?;
        }
        if let Some(removed) = &self.removed {
            removed.dot(out, self.nodes.len())?;
        }
        writeln!(out, "}}")
    }

    /// Writes the graph in the format of Aldebaran, which CADP and mCRL2 read. The format has exactly one
    /// initial state: if the model does not, a new initial state gets a transition `start` to each initial
    /// state of the model. The format has no comments. Removed states are left out.
    pub fn aut(&self, out: &mut dyn Write) -> io::Result<()> {
        let initial: Vec<usize> = (0..self.nodes.len()).filter(|&n| self.nodes[n].initial).collect();
        let (first, shift) = match initial[..] {
            [only] => (only, 0),
            _ => (0, 1),
        };
        let n_transitions: usize =
            self.edges.iter().map(|edge| edge.actions.len().max(edge.labels.len()).max(1)).sum();
        let n_starts = if shift == 1 { initial.len() } else { 0 };
        writeln!(out, "des ({first}, {}, {})", n_transitions + n_starts, self.nodes.len() + shift)?;
        for start in initial.iter().take(n_starts) {
            writeln!(out, "(0, \"start\", {})", start + shift)?;
        }
        for edge in &self.edges {
            let mut texts = edge.texts();
            if texts.is_empty() {
                texts.push(NO_AGENT_ACTS.to_string());
            }
            for text in texts {
                writeln!(out, "({}, {}, {})", edge.from + shift, quoted(&text), edge.to + shift)?;
            }
        }
        Ok(())
    }
}

/// Label of the step of a dead end to itself.
const NO_AGENT_ACTS: &str = "no agent acts";

fn plain(system: &System, graph: &Graph) -> (Vec<NodeReport>, Vec<EdgeReport>) {
    let node = |(number, state)| NodeReport {
        values: values(system, state),
        initial: number < graph.n_initial,
        states: 1,
        expanded: graph.expanded[number],
    };
    let edge = |(&(from, to), joints): (&(usize, usize), &Vec<_>)| EdgeReport {
        from,
        to,
        actions: joints.iter().map(|joint| doing(system, joint)).collect(),
        labels: Vec::new(),
    };
    (graph.states.iter().enumerate().map(node).collect(), graph.edges.iter().map(edge).collect())
}

fn seen(system: &System, graph: &Graph, agent: AgentId) -> (Vec<NodeReport>, Vec<EdgeReport>) {
    let view = graph.view(system, agent);
    let sees = &system.agent(agent).sees;
    let nodes = view.states.iter().enumerate().map(|(class, state)| NodeReport {
        values: sees
            .iter()
            .map(|v| (system.full_name(*v), system.value_text(*v, state[v.index()])))
            .collect(),
        initial: view.initial[class],
        states: view.sizes[class],
        expanded: view.expanded[class],
    });
    let name = &system.agent(agent).name;
    let actions = &system.agent(agent).actions;
    let edges = view.edges.iter().map(|(&(from, to), done)| EdgeReport {
        from,
        to,
        actions: done
            .iter()
            .map(|action| [(name.clone(), actions[action.index()].name.clone())].into_iter().collect())
            .collect(),
        labels: Vec::new(),
    });
    (nodes.collect(), edges.collect())
}

fn why_cut(cut: Cut, n_states: usize) -> String {
    match cut {
        Cut::States => format!("cut: only {n_states} states are shown, and there are more"),
        Cut::Edges => {
            format!("cut: only {} steps are shown, and there are more", masque_driver::MAX_GRAPH_EDGES)
        }
        Cut::Bound(bound) => format!("cut: the bound `{bound}` of the model leaves states out"),
        Cut::Stopped(why) => format!("cut: stopped after {n_states} states ({})", why.word()),
    }
}

fn joint_text(actions: &Entries<String>) -> String {
    let named = actions.0.iter().filter(|(_, action)| !action.is_empty());
    let text: Vec<String> = named.map(action_text).collect();
    if text.is_empty() { NO_AGENT_ACTS.to_string() } else { text.join(", ") }
}
