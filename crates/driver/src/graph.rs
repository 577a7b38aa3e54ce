//! The reachable graph, state by state and by the definition, as far as a bound admits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use masque_model::steps::{JointAction, More, Moves, State, first_initial_states, joint_choices};
use masque_model::{ActionId, AgentId, Deadlock, System};
use masque_symbolic::{Diagram, Symbolic};
use masque_verdict::{Budget, Stop, Why};

use crate::ask::initial_states;
use crate::worker::on_large_stack;
use crate::{EngineOptions, Limits};

/// So many ways from state to state are kept; a graph with more is cut.
pub const MOST_EDGES: usize = 1 << 20;

/// A part of the reachable graph: states numbered breadth first, the initial ones before all others.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The states.
    pub states: Vec<State>,
    /// The first so many are initial.
    pub n_initial: usize,
    /// Whether all successors of a state are here.
    pub expanded: Vec<bool>,
    /// From a state to a state, with the joint actions that lead there in increasing order; none of
    /// them for the step of a dead end to itself that `stutter` adds.
    pub edges: BTreeMap<(usize, usize), Vec<JointAction>>,
    /// Why it is not all, if it is not.
    pub cut: Option<Cut>,
}

/// Why a graph is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// There are more states than asked for.
    States,
    /// There are more ways from state to state than [`MOST_EDGES`].
    Edges,
    /// The model itself has a bound, of this name.
    Bound(&'static str),
    /// A limit was hit.
    Stopped(Why),
}

/// What an agent sees of a graph: states that look the same to it are one.
#[derive(Clone, Debug)]
pub struct View {
    /// A state of each class, the first; what the agent sees is the same in all.
    pub states: Vec<State>,
    /// How many states of the graph are in each class.
    pub sizes: Vec<usize>,
    /// Which classes have an initial state.
    pub initial: Vec<bool>,
    /// Of which classes all successors of all states are here.
    pub expanded: Vec<bool>,
    /// From class to class, with what the agent does.
    pub edges: BTreeMap<(usize, usize), BTreeSet<ActionId>>,
}

/// Explores at most `most` states.
pub fn graph(
    system: &Arc<System>,
    most: usize,
    options: &EngineOptions,
    limits: &Limits,
) -> Result<Graph, Why> {
    let (initial, is_all) = match first_initial_states(system, most) {
        (initial, More::No) => (initial, true),
        (initial, More::Yes) => (initial, false),
        (_, More::Unknown) => {
            let (initial, count) = initial_states(system, most, options, limits)?;
            let is_all = count == initial.len().into();
            (initial, is_all)
        }
    };
    let mut graph = Graph {
        n_initial: initial.len(),
        states: initial,
        expanded: Vec::new(),
        edges: BTreeMap::new(),
        cut: (!is_all).then_some(Cut::States),
    };
    let budget = limits.budget().with_cancel(Arc::clone(&limits.interrupt));
    if let Err(stop) = graph.expand(system, most, &budget) {
        graph.cut = Some(Cut::Stopped(stop.why));
    }
    graph.expanded.resize(graph.states.len(), false);
    Ok(graph)
}

impl Graph {
    fn expand(&mut self, system: &System, most: usize, budget: &Budget) -> Result<(), Stop> {
        let moves = Moves::new(system);
        let mut numbers: HashMap<State, usize> =
            self.states.iter().enumerate().map(|(number, state)| (state.clone(), number)).collect();
        let state_bytes = 2 * (8 * system.variables.len() as u64 + 48);
        let edge_bytes = 4 * system.agents.len() as u64 + 64;
        let mut n_edges = 0;
        while let Some(state) = self.states.get(self.expanded.len()).cloned() {
            let from = self.expanded.len();
            let mut is_complete = true;
            budget.check_memory(self.states.len() as u64 * state_bytes + n_edges as u64 * edge_bytes)?;
            let mut is_dead = true;
            for joint in joint_choices(system, &state).iter() {
                budget.check()?;
                for next in moves.successors(&state, &joint).iter() {
                    is_dead = false;
                    let number = match numbers.get(&next) {
                        Some(&number) => number,
                        None if self.states.len() == most => {
                            self.cut = Some(Cut::States);
                            is_complete = false;
                            continue;
                        }
                        None => {
                            numbers.insert(next.clone(), self.states.len());
                            self.states.push(next);
                            self.states.len() - 1
                        }
                    };
                    if n_edges == MOST_EDGES {
                        self.cut = Some(Cut::Edges);
                        return Ok(());
                    }
                    n_edges += 1;
                    self.edges.entry((from, number)).or_default().push(joint.clone());
                }
            }
            if is_dead && system.meaning.deadlock == Deadlock::Stutter {
                self.edges.insert((from, from), Vec::new());
            }
            self.expanded.push(is_complete);
        }
        Ok(())
    }

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
        let mut numbers: HashMap<Vec<i64>, usize> = HashMap::new();
        let mut class_of = Vec::with_capacity(self.states.len());
        for (number, state) in self.states.iter().enumerate() {
            let seen: Vec<i64> = system.agent(agent).sees.iter().map(|v| state[v.index()]).collect();
            let class = *numbers.entry(seen).or_insert_with(|| {
                view.states.push(state.clone());
                view.sizes.push(0);
                view.initial.push(false);
                view.expanded.push(true);
                view.states.len() - 1
            });
            view.sizes[class] += 1;
            view.initial[class] |= number < self.n_initial;
            view.expanded[class] &= self.expanded[number];
            class_of.push(class);
        }
        for (&(from, to), joints) in &self.edges {
            let actions = view.edges.entry((class_of[from], class_of[to])).or_default();
            actions.extend(joints.iter().map(|joint| joint[agent.index()]));
        }
        view
    }
}

/// The reachable states as a decision diagram.
pub fn diagram(system: &Arc<System>, options: &EngineOptions, limits: &Limits) -> Result<Diagram, Why> {
    let symbolic = Symbolic { order: options.order.clone(), reorder: options.reorder, ..Symbolic::default() };
    let system = Arc::clone(system);
    on_large_stack(limits, move |budget| symbolic.reachable_diagram(&system, budget))
}
