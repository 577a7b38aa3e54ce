//! The reachable graph of a model, explored state by state up to a maximum number of states.
//!
//! [`GraphBuilder`] numbers states breadth first and decides where a graph is cut, for interpreted systems
//! (here) and for models with labelled steps (`explorer`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use masque_model::steps::{JointAction, More, Moves, State, first_initial_states, joint_choices};
use masque_model::{ActionId, AgentId, Deadlock, System};
use masque_symbolic::{Diagram, Symbolic};
use masque_verdict::{Budget, Stop, Why};

use crate::ask::initial_states;
use crate::helper_thread::on_large_stack;
use crate::{EngineOptions, Limits};

/// Maximum number of steps between states in a graph. A graph with more is cut.
pub const MAX_GRAPH_EDGES: usize = 1 << 20;

/// A part of a reachable graph: states numbered breadth first, the initial states before all others.
#[derive(Clone, Debug)]
pub struct PartialGraph<S, L> {
    /// The states.
    pub states: Vec<S>,
    /// Number of initial states, which are the first ones.
    pub n_initial: usize,
    /// Whether all successors of a state are in the graph, per state.
    pub expanded: Vec<bool>,
    /// Labels of the steps from one state to another, by the indices of the two states.
    pub edges: BTreeMap<(usize, usize), Vec<L>>,
    /// Why the graph is incomplete, if it is.
    pub cut: Option<Cut>,
}

/// The graph of an interpreted system. The joint actions of an edge increase; the edge of a deadlock to
/// itself that `--deadlock stutter` adds has none.
pub type Graph = PartialGraph<State, JointAction>;

/// Why a graph is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// There are more states than requested.
    States,
    /// There are more steps than [`MAX_GRAPH_EDGES`].
    Edges,
    /// A bound in the model, with this name, was reached.
    Bound(&'static str),
    /// A limit was hit.
    Stopped(Why),
}

/// A graph whose states are expanded one after another, in the order in which they are found.
pub(crate) struct GraphBuilder<S, L> {
    pub(crate) graph: PartialGraph<S, L>,
    indices: HashMap<S, usize>,
    n_edges: usize,
    max_states: usize,
    /// Whether all successors of the current state are in the graph so far.
    is_complete: bool,
}

impl<S: Clone + Eq + Hash, L> GraphBuilder<S, L> {
    /// A graph of the first initial states; `has_more` says whether the model has others.
    pub(crate) fn new(initial: Vec<S>, has_more: bool, max_states: usize) -> GraphBuilder<S, L> {
        let indices = initial.iter().cloned().enumerate().map(|(index, state)| (state, index)).collect();
        let graph = PartialGraph {
            n_initial: initial.len(),
            states: initial,
            expanded: Vec::new(),
            edges: BTreeMap::new(),
            cut: has_more.then_some(Cut::States),
        };
        GraphBuilder { graph, indices, n_edges: 0, max_states, is_complete: true }
    }

    /// The state to expand next.
    pub(crate) fn current(&self) -> Option<S> {
        self.graph.states.get(self.graph.expanded.len()).cloned()
    }

    /// Whether the graph has the maximum number of states.
    pub(crate) fn is_full(&self) -> bool {
        self.graph.states.len() >= self.max_states
    }

    /// Adds a step of the current state, unless the graph is full and the successor is new. Returns false if
    /// there are too many edges: then the graph is finished.
    pub(crate) fn add_step(&mut self, to: S, label: L) -> bool {
        let index = match self.indices.get(&to) {
            Some(&index) => index,
            None if self.is_full() => {
                self.graph.cut = Some(Cut::States);
                self.is_complete = false;
                return true;
            }
            None => {
                self.indices.insert(to.clone(), self.graph.states.len());
                self.graph.states.push(to);
                self.graph.states.len() - 1
            }
        };
        if self.n_edges == MAX_GRAPH_EDGES {
            self.graph.cut = Some(Cut::Edges);
            return false;
        }
        self.n_edges += 1;
        self.graph.edges.entry((self.graph.expanded.len(), index)).or_default().push(label);
        true
    }

    /// Records that the steps of the current state have been added; `is_complete` says whether the caller knew
    /// all of them.
    pub(crate) fn end_state(&mut self, is_complete: bool) {
        self.graph.expanded.push(is_complete && self.is_complete);
        self.is_complete = true;
    }

    /// The finished graph. States that were not expanded are marked so.
    pub(crate) fn finish(mut self) -> PartialGraph<S, L> {
        self.graph.expanded.resize(self.graph.states.len(), false);
        self.graph
    }
}

/// An agent's view of a graph: states that look the same to the agent are merged into a class.
#[derive(Clone, Debug)]
pub struct View {
    /// The first state of each class. What the agent sees is the same in all of them.
    pub states: Vec<State>,
    /// Number of states of the graph, per class.
    pub sizes: Vec<usize>,
    /// Whether a class contains an initial state, per class.
    pub initial: Vec<bool>,
    /// Whether the graph has all successors of all states of a class, per class.
    pub expanded: Vec<bool>,
    /// The agent's actions in the steps from one class to another, by the indices of the two classes.
    pub edges: BTreeMap<(usize, usize), BTreeSet<ActionId>>,
}

/// Explores at most `max_states` states of an interpreted system.
///
/// # Errors
///
/// If the initial states cannot be found within the limits, or if the user interrupts.
pub fn graph(
    system: &Arc<System>,
    max_states: usize,
    options: &EngineOptions,
    limits: &Limits,
) -> Result<Graph, Why> {
    let (initial, has_more) = match first_initial_states(system, max_states) {
        (initial, More::No) => (initial, false),
        (initial, More::Yes) => (initial, true),
        (_, More::Unknown) => {
            let (initial, count) = initial_states(system, max_states, options, limits)?;
            let has_more = count != initial.len().into();
            (initial, has_more)
        }
    };
    let mut builder = GraphBuilder::new(initial, has_more, max_states);
    let budget = limits.cancellable_budget();
    match expand(&mut builder, system, &budget) {
        Err(stop) if stop.why == Why::Interrupted => return Err(stop.why),
        Err(stop) => builder.graph.cut = Some(Cut::Stopped(stop.why)),
        Ok(()) => {}
    }
    Ok(builder.finish())
}

/// Expands the states of a graph until all are expanded or the graph has too many edges.
fn expand(
    builder: &mut GraphBuilder<State, JointAction>,
    system: &System,
    budget: &Budget,
) -> Result<(), Stop> {
    let moves = Moves::new(system);
    let state_bytes = 2 * (8 * system.variables.len() as u64 + 48);
    let edge_bytes = 4 * system.agents.len() as u64 + 64;
    while let Some(state) = builder.current() {
        let n_states = builder.graph.states.len() as u64;
        budget.check_memory(n_states * state_bytes + builder.n_edges as u64 * edge_bytes)?;
        let mut is_deadlock = true;
        for joint in joint_choices(system, &state).iter() {
            budget.check()?;
            for next in moves.successors(&state, &joint).iter() {
                is_deadlock = false;
                if !builder.add_step(next, joint.clone()) {
                    return Ok(());
                }
            }
        }
        if is_deadlock && system.meaning.deadlock == Deadlock::Stutter {
            let index = builder.graph.expanded.len();
            builder.graph.edges.insert((index, index), Vec::new());
        }
        builder.end_state(true);
    }
    Ok(())
}

impl Graph {
    /// The graph as an agent sees it.
    ///
    /// ```text
    /// [s] = {t | l_i(t) = l_i(s)}      [s] -a-> [t]   iff   some s' ∈ [s], t' ∈ [t] and joint
    ///                                                      action with a_i = a have s' -> t'
    /// ```
    pub fn view(&self, system: &System, agent: AgentId) -> View {
        let mut view = View {
            states: Vec::new(),
            sizes: Vec::new(),
            initial: Vec::new(),
            expanded: Vec::new(),
            edges: BTreeMap::new(),
        };
        let mut classes: HashMap<Vec<i64>, usize> = HashMap::new();
        let mut class_of = Vec::with_capacity(self.states.len());
        for (index, state) in self.states.iter().enumerate() {
            let seen: Vec<i64> = system.agent(agent).sees.iter().map(|v| state[v.index()]).collect();
            let class = *classes.entry(seen).or_insert_with(|| {
                view.states.push(state.clone());
                view.sizes.push(0);
                view.initial.push(false);
                view.expanded.push(true);
                view.states.len() - 1
            });
            view.sizes[class] += 1;
            view.initial[class] |= index < self.n_initial;
            view.expanded[class] &= self.expanded[index];
            class_of.push(class);
        }
        for (&(from, to), joints) in &self.edges {
            let actions = view.edges.entry((class_of[from], class_of[to])).or_default();
            actions.extend(joints.iter().map(|joint| joint[agent.index()]));
        }
        view
    }
}

/// Computes the reachable states as a decision diagram.
pub fn diagram(system: &Arc<System>, options: &EngineOptions, limits: &Limits) -> Result<Diagram, Why> {
    let symbolic = Symbolic { order: options.order.clone(), reorder: options.reorder, ..Symbolic::default() };
    let system = Arc::clone(system);
    on_large_stack(limits, move |budget| symbolic.reachable_diagram(&system, budget))
}
