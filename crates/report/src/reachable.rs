//! Graphs of states: `masque.graph/1`, DOT and Aldebaran.

use std::io::{self, Write};

use masque_driver::{AgentId, Cut, Graph, Loaded, StateGraph, System};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Entries;
use crate::check::write_json;
use crate::dot::quoted;
use crate::path::{action_text, assignment, cut_list, doing, values};
use crate::wording::plural;

/// The name and version of the format.
pub const GRAPH_SCHEMA: &str = "masque.graph/1";

/// Of the values of a state so many are drawn.
const MOST_VALUES: usize = 16;
/// Of the ways from one state to another so many are drawn.
const MOST_LABELS: usize = 4;

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
    /// The agent whose view it is; null for the graph itself.
    pub view: Option<String>,
    /// The states, or the classes of states that look the same to the agent. Elsewhere one is its
    /// position here.
    pub nodes: Vec<NodeReport>,
    /// The ways between them.
    pub edges: Vec<EdgeReport>,
    /// Why this is a part of the graph only; null if it is all.
    pub cut: Option<String>,
}

/// A state, or a class of states.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NodeReport {
    /// The values of all variables, or of those that the agent sees.
    pub values: Entries<String>,
    /// Whether it is, or has, an initial state.
    pub initial: bool,
    /// How many states of the graph it stands for.
    pub states: usize,
    /// Whether all that follows on it is here.
    pub expanded: bool,
}

/// One or more ways from a node to a node.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EdgeReport {
    /// From where.
    pub from: usize,
    /// To where.
    pub to: usize,
    /// For each way what each agent does, or what the agent does whose view it is. None for the step
    /// of a dead end to itself that `--deadlock stutter` adds.
    pub actions: Vec<Entries<String>>,
    /// For protocols and transition systems, instead of actions: the label of each way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl EdgeReport {
    /// The ways as text.
    fn texts(&self) -> Vec<String> {
        if self.labels.is_empty() {
            self.actions.iter().map(joint_text).collect()
        } else {
            self.labels.clone()
        }
    }
}

impl GraphReport {
    /// The graph, or what an agent sees of it.
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
            cut: graph.cut.map(|cut| why_cut(cut, graph.states.len())),
        }
    }

    /// The graph of a model whose states are found one by one.
    pub fn of_states(loaded: &Loaded, graph: StateGraph) -> Self {
        let StateGraph { states, n_initial, expanded, edges, cut } = graph;
        let n_states = states.len();
        let nodes =
            states.into_iter().zip(expanded).enumerate().map(|(number, (values, expanded))| NodeReport {
                values: values.into_iter().collect(),
                initial: number < n_initial,
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
            cut: cut.map(|cut| why_cut(cut, n_states)),
        }
    }

    /// As JSON.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        write_json(out, self)
    }

    /// For Graphviz. Initial states are bold; those of which some successor is missing are dashed.
    pub fn dot(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(cut) = &self.cut {
            writeln!(out, "// {cut}")?;
        }
        writeln!(out, "digraph {} {{", quoted(&self.file))?;
        writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];")?;
        writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
        for (number, node) in self.nodes.iter().enumerate() {
            let mut lines = cut_list(node.values.0.iter().map(assignment).collect(), MOST_VALUES);
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
            let label = quoted(&cut_list(edge.texts(), MOST_LABELS).join("\n"));
            writeln!(out, "  {} -> {} [label={label}];", edge.from, edge.to)?;
        }
        writeln!(out, "}}")
    }

    /// In the format of Aldebaran, as CADP and mCRL2 read it. It has one initial state: where the
    /// model has several, another is put before them, with a step called `start` to each. It has no
    /// comments.
    pub fn aut(&self, out: &mut dyn Write) -> io::Result<()> {
        let initial: Vec<usize> = (0..self.nodes.len()).filter(|&n| self.nodes[n].initial).collect();
        let (first, shift) = match initial[..] {
            [only] => (only, 0),
            _ => (0, 1),
        };
        let n_ways: usize =
            self.edges.iter().map(|edge| edge.actions.len().max(edge.labels.len()).max(1)).sum();
        let n_starts = if shift == 1 { initial.len() } else { 0 };
        writeln!(out, "des ({first}, {}, {})", n_ways + n_starts, self.nodes.len() + shift)?;
        for start in initial.iter().take(n_starts) {
            writeln!(out, "(0, \"start\", {})", start + shift)?;
        }
        for edge in &self.edges {
            let mut texts = edge.texts();
            if texts.is_empty() {
                texts.push(NOBODY.to_string());
            }
            for text in texts {
                writeln!(out, "({}, {}, {})", edge.from + shift, quoted(&text), edge.to + shift)?;
            }
        }
        Ok(())
    }
}

const NOBODY: &str = "nobody acts";

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
        Cut::Edges => format!("cut: only {} steps are shown, and there are more", masque_driver::MOST_EDGES),
        Cut::Bound(bound) => format!("cut: the bound `{bound}` of the model leaves states out"),
        Cut::Stopped(why) => format!("cut: stopped after {n_states} states ({})", why.word()),
    }
}

fn joint_text(actions: &Entries<String>) -> String {
    let named = actions.0.iter().filter(|(_, action)| !action.is_empty());
    let text: Vec<String> = named.map(action_text).collect();
    if text.is_empty() { NOBODY.to_string() } else { text.join(", ") }
}
