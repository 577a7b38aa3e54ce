//! Models as states and labelled steps that are found one by one, for walks and for exported graphs.

use std::collections::{BTreeMap, HashMap};

use masque_lcc::{Event, Standing, System, Trace};
use masque_mu::{
    Completeness, Graph, LabelId, Lts, Play, Space, StartingAt, StateId, Vocabulary, explain, read_formula,
    shown,
};
use masque_text::Sources;
use masque_verdict::{Budget, Verdict, Why};

use crate::check::{Limits, Shown};
use crate::graph::{Cut, GraphBuilder, PartialGraph};
use crate::helper_thread::on_large_stack;
use crate::languages::aut::labelled_run;
use crate::load::{Loaded, Model};
use crate::world_explorer::{ListedStates, WorldExplorer};
use crate::{Refused, file};

/// A step from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The label of the step, as formulas of the language refer to it.
    pub label: String,
    /// The event of a protocol.
    pub event: Option<Event>,
    /// The state after the step.
    pub to: usize,
}

/// The steps of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The steps, in a fixed order.
    pub steps: Vec<Step>,
    /// Name of the bound in the model that was reached, if there may be more steps.
    pub cut: Option<&'static str>,
}

/// The truth of a formula at a state.
#[derive(Clone, Debug)]
pub struct StateVerdict {
    /// Whether the formula is true.
    pub verdict: Verdict,
    /// A path that shows it, if there is one.
    pub shown: Option<Shown>,
}

/// A model whose states are found one by one. States are numbers that the model assigns.
pub trait Explorer {
    /// The initial states.
    fn initial(&mut self) -> Vec<usize>;

    /// The steps of a state.
    fn steps(&mut self, state: usize) -> Steps;

    /// The named values of a state.
    fn values(&self, state: usize) -> Vec<(String, String)>;

    /// Reasons why a state has no steps: a deadlock, or a proper end.
    fn end(&mut self, state: usize) -> Vec<String>;

    /// Decides a formula at a state.
    ///
    /// # Errors
    ///
    /// If the formula has errors.
    fn ask(&mut self, state: usize, formula: &str, limits: &Limits) -> Result<StateVerdict, Box<Refused>>;

    /// Decides a formula at a state, and at other states if that costs little more. Returns the states with their
    /// verdicts.
    ///
    /// # Errors
    ///
    /// If the formula has errors.
    fn ask_many(
        &mut self,
        state: usize,
        formula: &str,
        limits: &Limits,
    ) -> Result<Vec<(usize, Verdict)>, Box<Refused>> {
        Ok(vec![(state, self.ask(state, formula, limits)?.verdict)])
    }

    /// The steps from a state as a trace of a protocol; none for models without messages.
    fn trace(&mut self, _start: usize, _steps: &[Step]) -> Option<Trace> {
        None
    }

    /// What each agent of a protocol is doing in a state; empty for other models.
    fn standings(&mut self, _state: usize) -> Vec<Standing> {
        Vec::new()
    }

    /// States that do not belong to the model because the synthesis of BDI worlds removes them.
    fn removed(&self) -> RemovedGraph {
        RemovedGraph::default()
    }
}

/// A state that synthesis removes from a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedNode {
    /// The named values of the state.
    pub values: Vec<(String, String)>,
    /// Whether its program can start in it.
    pub is_initial: bool,
    /// Reasons for the removal, one for each line.
    pub why: Vec<String>,
}

/// States that synthesis removes, with their steps. The numbers of the states follow those of the model's states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedGraph {
    /// The states that are listed.
    pub states: Vec<RemovedNode>,
    /// Number of the first of them.
    pub first: usize,
    /// Labels of the steps from or to such a state, by the numbers of the two states.
    pub edges: BTreeMap<(usize, usize), Vec<String>>,
    /// For each world that lost states, a sentence with their number.
    pub summary: Vec<String>,
}

impl RemovedGraph {
    /// Renumbers the states of the model as they are numbered in a graph; drops steps to states that it lacks.
    fn renumbered(mut self, states: &[usize]) -> RemovedGraph {
        let numbers: HashMap<usize, usize> = states.iter().copied().zip(0..).collect();
        let first = std::mem::replace(&mut self.first, states.len());
        let number = |state: usize| match state.checked_sub(first) {
            Some(nth) => Some(states.len() + nth),
            None => numbers.get(&state).copied(),
        };
        let edges = std::mem::take(&mut self.edges).into_iter();
        self.edges =
            edges.filter_map(|((from, to), labels)| Some(((number(from)?, number(to)?), labels))).collect();
        self
    }
}

impl Loaded {
    /// The model as states and labelled steps; none for interpreted systems, which have joint actions
    /// instead (see [`Simulation`](crate::Simulation) and [`graph`](crate::graph())). For a BDI file, at most
    /// `max_states` states of its worlds are listed.
    ///
    /// # Errors
    ///
    /// If the worlds of a BDI file cannot be built within the limits.
    pub fn explorer(&self, max_states: usize, limits: &Limits) -> Result<Option<Box<dyn Explorer>>, Why> {
        self.explorer_with_removed(max_states, None, limits)
    }

    /// Does what [`Loaded::explorer`] does. For a BDI file, the explorer also lists states that synthesis removes
    /// ([`Explorer::removed`]), at most `max_removed`; `None` does not look for them.
    ///
    /// # Errors
    ///
    /// If the worlds of a BDI file cannot be built within the limits.
    pub fn explorer_with_removed(
        &self,
        max_states: usize,
        max_removed: Option<usize>,
        limits: &Limits,
    ) -> Result<Option<Box<dyn Explorer>>, Why> {
        Ok(match &self.model {
            Some(Model::Lcc(instance)) => Some(Box::new(instance.system.clone())),
            Some(Model::Aut(instance)) => Some(Box::new(instance.graph.clone())),
            Some(Model::Bdi(worlds)) => {
                let listed = ListedStates { max_states, max_removed };
                Some(Box::new(WorldExplorer::new(self, worlds, listed, limits)?))
            }
            Some(Model::Ispl(_)) | None => None,
        })
    }
}

/// A path along labelled steps. If the model has several initial states, the first step chooses one.
pub struct StepPath {
    explorer: Box<dyn Explorer>,
    initial: Vec<usize>,
    taken: Vec<Step>,
    /// Number of steps before those in `taken`.
    n_forgotten: usize,
}

impl StepPath {
    /// A path of no steps; none if the model has no initial state.
    pub fn new(mut explorer: Box<dyn Explorer>) -> Option<StepPath> {
        let initial = explorer.initial();
        (!initial.is_empty()).then_some(StepPath { explorer, initial, taken: Vec::new(), n_forgotten: 0 })
    }

    /// The model.
    pub fn explorer(&mut self) -> &mut dyn Explorer {
        &mut *self.explorer
    }

    /// The steps taken so far, without those that were forgotten.
    pub fn taken(&self) -> &[Step] {
        &self.taken
    }

    /// Number of steps taken so far.
    pub fn n_taken(&self) -> usize {
        self.n_forgotten + self.taken.len()
    }

    /// Keeps only the last step, so that a long walk needs no more memory than a short one.
    pub fn forget_past(&mut self) {
        let n_old = self.taken.len().saturating_sub(1);
        self.taken.drain(..n_old);
        self.n_forgotten += n_old;
    }

    /// The current state; none before one of several initial states is chosen.
    pub fn state(&self) -> Option<usize> {
        match (self.taken.last(), &self.initial[..]) {
            (Some(step), _) => Some(step.to),
            (None, [only]) => Some(*only),
            (None, _) => None,
        }
    }

    /// The named values of a state.
    pub fn values(&self, state: usize) -> Vec<(String, String)> {
        self.explorer.values(state)
    }

    /// The steps of the current state, or one step to each initial state, with a label that `describe` makes
    /// from the state's values.
    pub fn steps(&mut self, describe: impl Fn(Vec<(String, String)>) -> String) -> Steps {
        if let Some(state) = self.state() {
            return self.explorer.steps(state);
        }
        let step = |&to: &usize| Step { label: describe(self.explorer.values(to)), event: None, to };
        Steps { steps: self.initial.iter().map(step).collect(), cut: None }
    }

    /// Takes a step.
    pub fn take(&mut self, step: Step) {
        self.taken.push(step);
    }

    /// Goes back this many steps. Returns false, and stays, if fewer have been taken.
    pub fn back(&mut self, n_steps: usize) -> bool {
        let left = self.taken.len().checked_sub(n_steps);
        left.map(|left| self.taken.truncate(left)).is_some()
    }
}

impl Explorer for System {
    fn initial(&mut self) -> Vec<usize> {
        vec![Lts::initial(self).index()]
    }

    fn steps(&mut self, state: usize) -> Steps {
        labelled_steps(self, state, |system, label| (system.label_text(label), Some(system.event(label))))
    }

    fn values(&self, state: usize) -> Vec<(String, String)> {
        self.state_parts(StateId(state as u32))
    }

    fn end(&mut self, state: usize) -> Vec<String> {
        let state = StateId(state as u32);
        match (self.is_final(state), self.is_stuck(state)) {
            (true, _) => vec!["every agent has finished".to_string()],
            (false, true) => self.blame(state),
            (false, false) => Vec::new(),
        }
    }

    fn ask(&mut self, state: usize, formula: &str, limits: &Limits) -> Result<StateVerdict, Box<Refused>> {
        ask_at(self, state, formula, limits, |system, play| Shown::Trace(Box::new(system.trace(play))))
    }

    fn trace(&mut self, start: usize, steps: &[Step]) -> Option<Trace> {
        let (turns, returns_to, loop_at) = (Vec::new(), None, None);
        let start = StateId(start as u32);
        let mut play = Play { turns, returns_to, start, steps: Vec::new(), loop_at, is_closed: false };
        for step in steps {
            let (from, mut found) = (play.end(), Vec::new());
            self.successors(from, &mut |label, to| found.push((label, to)));
            let is_same = |(label, to): &&(LabelId, StateId)| {
                to.index() == step.to && self.label_text(*label) == step.label
            };
            let &(label, to) = found.iter().find(is_same)?;
            play.steps.push(masque_mu::Step { label, to });
        }
        Some(System::trace(self, &play))
    }

    fn standings(&mut self, state: usize) -> Vec<Standing> {
        System::standings(self, StateId(state as u32))
    }
}

impl Explorer for Graph {
    fn initial(&mut self) -> Vec<usize> {
        vec![Lts::initial(self).index()]
    }

    fn steps(&mut self, state: usize) -> Steps {
        labelled_steps(self, state, |graph, label| (graph.label(label).to_string(), None))
    }

    fn values(&self, state: usize) -> Vec<(String, String)> {
        vec![("state".to_string(), self.number(StateId(state as u32)).to_string())]
    }

    fn end(&mut self, state: usize) -> Vec<String> {
        if self.is_stuck(StateId(state as u32)) {
            vec!["the state has no transitions".to_string()]
        } else {
            Vec::new()
        }
    }

    fn ask(&mut self, state: usize, formula: &str, limits: &Limits) -> Result<StateVerdict, Box<Refused>> {
        ask_at(self, state, formula, limits, |graph, play| Shown::Run(Box::new(labelled_run(graph, play))))
    }
}

/// The steps of a state, each once. `describe` returns the text and the event of a label.
fn labelled_steps<L: Lts>(
    lts: &mut L,
    state: usize,
    describe: impl Fn(&L, LabelId) -> (String, Option<Event>),
) -> Steps {
    let mut found: Vec<(LabelId, StateId)> = Vec::new();
    let complete = lts.successors(StateId(state as u32), &mut |label, to| {
        if !found.contains(&(label, to)) {
            found.push((label, to));
        }
    });
    let step = |(label, to): (LabelId, StateId)| {
        let (label, event) = describe(lts, label);
        Step { label, event, to: to.index() }
    };
    let cut = match complete {
        Completeness::Complete => None,
        Completeness::Cut(bound) => Some(bound),
    };
    Steps { steps: found.into_iter().map(step).collect(), cut }
}

/// Decides a formula at a state, on a thread with a large stack.
fn ask_at<L: Lts + Vocabulary + Clone + Send + 'static>(
    lts: &mut L,
    state: usize,
    formula: &str,
    limits: &Limits,
    show: fn(&mut L, &Play) -> Shown,
) -> Result<StateVerdict, Box<Refused>> {
    let mut sources = Sources::default();
    let Ok(file) = sources.add("<formula>", formula) else {
        return Err(Refused { sources, diagnostics: vec![file::too_large("<formula>")] }.into());
    };
    let (formula, diagnostics) = read_formula(&sources, sources.span(file), lts);
    let Some(formula) = formula else { return Err(Refused { sources, diagnostics }.into()) };
    let (lts, start) = (lts.clone(), StateId(state as u32));
    let found = on_large_stack(limits, move |budget: &Budget| {
        let mut space = Space::new(StartingAt { lts, start });
        let explained = explain(&mut space, &formula, budget);
        let verdict = explained.verdict;
        let play = explained.evidence.and_then(|evidence| shown(evidence, verdict == Verdict::Holds));
        let play = play.filter(|play| !play.steps.is_empty());
        Ok(StateVerdict { verdict, shown: play.map(|play| show(&mut space.lts().lts, &play)) })
    });
    Ok(found.unwrap_or_else(|why| StateVerdict { verdict: Verdict::Unknown(why), shown: None }))
}

/// The graph of a model with labelled steps; a state is given by its named values.
pub type StateGraph = PartialGraph<Vec<(String, String)>, String>;

/// Explores at most `max_states` states; a state of the graph is its number. If a limit is hit, the graph is
/// incomplete; the only error is an interrupt by the user.
pub(crate) fn explored(
    explorer: &mut dyn Explorer,
    max_states: usize,
    limits: &Limits,
) -> Result<PartialGraph<usize, String>, Why> {
    let budget = limits.cancellable_budget();
    let mut initial = explorer.initial();
    let has_more = initial.len() > max_states;
    initial.truncate(max_states);
    let mut builder = GraphBuilder::new(initial, has_more, max_states);
    'states: while let Some(state) = builder.current() {
        match budget.check() {
            Err(stop) if stop.why == Why::Interrupted => return Err(stop.why),
            Err(stop) => {
                builder.graph.cut = Some(Cut::Stopped(stop.why));
                break;
            }
            Ok(()) => {}
        }
        let Steps { steps, cut: bound } = explorer.steps(state);
        for Step { label, to, .. } in steps {
            if !builder.add_step(to, label) {
                break 'states;
            }
        }
        if let Some(bound) = bound {
            let cut = if builder.is_full() { Cut::States } else { Cut::Bound(bound) };
            builder.graph.cut.get_or_insert(cut);
        }
        builder.end_state(bound.is_none());
    }
    Ok(builder.finish())
}

/// Explores at most `max_states` states. Returns also the removed states that the explorer lists; their numbers
/// follow those of the graph.
///
/// # Errors
///
/// If the user interrupts. If a limit is hit, the graph is incomplete.
pub fn state_graph(
    explorer: &mut dyn Explorer,
    max_states: usize,
    limits: &Limits,
) -> Result<(StateGraph, RemovedGraph), Why> {
    let PartialGraph { states, n_initial, expanded, edges, cut } = explored(explorer, max_states, limits)?;
    let removed = explorer.removed().renumbered(&states);
    let states = states.iter().map(|&state| explorer.values(state)).collect();
    Ok((PartialGraph { states, n_initial, expanded, edges, cut }, removed))
}
