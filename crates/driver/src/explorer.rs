//! Models as states and labelled steps, found one by one: for walks, and for graphs that other programs
//! read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use masque_lcc::{Event, System};
use masque_mu::{
    Completeness, Graph, LabelId, Lts, Play, Space, StartingAt, StateId, Vocabulary, explain, read_formula,
    shown,
};
use masque_text::Sources;
use masque_verdict::{Budget, Verdict, Why};

use crate::check::{Limits, Shown};
use crate::graph::{Cut, MOST_EDGES};
use crate::languages::aut::labelled_run;
use crate::load::{Loaded, Model};
use crate::worker::on_large_stack;
use crate::world_explorer::WorldExplorer;
use crate::{Refused, file};

/// A step from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happens, as formulas of the language see it.
    pub label: String,
    /// What happens, for protocols.
    pub event: Option<Event>,
    /// The state that it leads to.
    pub to: usize,
}

/// The steps of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The steps, in a fixed order.
    pub steps: Vec<Step>,
    /// The bound of the model beyond which there may be more.
    pub cut: Option<&'static str>,
}

/// The answer to a formula at a state.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Whether it is true.
    pub verdict: Verdict,
    /// A run that shows it, if one does.
    pub shown: Option<Shown>,
}

/// A model whose states are found one by one. A state is a number that the model gives it.
pub trait Explorer {
    /// The initial states.
    fn initial(&mut self) -> Vec<usize>;

    /// The steps of a state.
    fn steps(&mut self, state: usize) -> Steps;

    /// What a state is made of, by name.
    fn values(&self, state: usize) -> Vec<(String, String)>;

    /// Why nothing can happen at a state, or that it is a proper end.
    fn end(&mut self, state: usize) -> Vec<String>;

    /// Decides a formula at a state. The error says what is wrong with the formula.
    fn ask(&mut self, state: usize, formula: &str, limits: &Limits) -> Result<Asked, Box<Refused>>;
}

impl Loaded {
    /// The model as states and labelled steps; none for interpreted systems, which have joint actions
    /// instead (see [`Simulation`](crate::Simulation) and [`graph`](crate::graph())). Of worlds at most
    /// `most` states are listed.
    ///
    /// # Errors
    ///
    /// If the worlds of a BDI file cannot be built within the limits.
    pub fn explorer(&self, most: usize, limits: &Limits) -> Result<Option<Box<dyn Explorer>>, Why> {
        Ok(match &self.model {
            Some(Model::Lcc(instance)) => Some(Box::new(instance.system.clone())),
            Some(Model::Aut(instance)) => Some(Box::new(instance.graph.clone())),
            Some(Model::Bdi(worlds)) => Some(Box::new(WorldExplorer::new(self, worlds, most, limits)?)),
            Some(Model::Ispl(_)) | None => None,
        })
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

    fn ask(&mut self, state: usize, formula: &str, limits: &Limits) -> Result<Asked, Box<Refused>> {
        ask_at(self, state, formula, limits, |system, play| Shown::Trace(Box::new(system.trace(play))))
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
        match self.is_stuck(StateId(state as u32)) {
            true => vec!["the state has no transitions".to_string()],
            false => Vec::new(),
        }
    }

    fn ask(&mut self, state: usize, formula: &str, limits: &Limits) -> Result<Asked, Box<Refused>> {
        ask_at(self, state, formula, limits, |graph, play| Shown::Run(Box::new(labelled_run(graph, play))))
    }
}

/// The steps of a state, each once, with what `describe` says about their labels.
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
) -> Result<Asked, Box<Refused>> {
    let mut sources = Sources::default();
    let Ok(file) = sources.add("<formula>", formula) else {
        return Err(Refused { sources, diagnostics: vec![file::too_large("<formula>")] }.into());
    };
    let (formula, diagnostics) = read_formula(&sources, sources.span(file), lts);
    let Some(formula) = formula else { return Err(Refused { sources, diagnostics }.into()) };
    let (lts, start) = (lts.clone(), StateId(state as u32));
    let answer = on_large_stack(limits, move |budget: &Budget| {
        let mut space = Space::new(StartingAt { lts, start });
        let answer = explain(&mut space, &formula, budget);
        let holds = answer.verdict == Verdict::Holds;
        let play = answer.evidence.and_then(|evidence| shown(evidence, holds));
        let play = play.filter(|play| !play.steps.is_empty());
        Ok(Asked { verdict: answer.verdict, shown: play.map(|play| show(&mut space.lts().lts, &play)) })
    });
    Ok(answer.unwrap_or_else(|why| Asked { verdict: Verdict::Unknown(why), shown: None }))
}

/// A part of the graph of a model's states: numbered breadth first, the initial ones before all others.
#[derive(Clone, Debug)]
pub struct StateGraph {
    /// What each state is made of.
    pub states: Vec<Vec<(String, String)>>,
    /// The first this many are initial.
    pub n_initial: usize,
    /// Whether all successors of a state are here.
    pub expanded: Vec<bool>,
    /// From a state to a state, with the labels of the steps between them.
    pub edges: BTreeMap<(usize, usize), Vec<String>>,
    /// Why it is not all, if it is not.
    pub cut: Option<Cut>,
}

/// Explores at most `most` states.
pub fn state_graph(explorer: &mut dyn Explorer, most: usize, limits: &Limits) -> StateGraph {
    let budget = limits.budget().with_cancel(Arc::clone(&limits.interrupt));
    let mut found = explorer.initial();
    let is_all = found.len() <= most;
    found.truncate(most);
    let mut numbers: HashMap<usize, usize> = found.iter().enumerate().map(|(n, &state)| (state, n)).collect();
    let (mut expanded, mut edges, mut n_edges) = (Vec::new(), BTreeMap::<_, Vec<String>>::new(), 0);
    let n_initial = found.len();
    let mut cut = (!is_all).then_some(Cut::States);
    while let Some(&state) = found.get(expanded.len()) {
        if let Err(stop) = budget.check() {
            cut = Some(Cut::Stopped(stop.why));
            break;
        }
        let from = expanded.len();
        let Steps { steps, cut: bound } = explorer.steps(state);
        let mut is_complete = bound.is_none();
        for Step { label, to, .. } in steps {
            let number = match numbers.get(&to) {
                Some(&number) => number,
                None if found.len() == most => {
                    cut = Some(Cut::States);
                    is_complete = false;
                    continue;
                }
                None => {
                    numbers.insert(to, found.len());
                    found.push(to);
                    found.len() - 1
                }
            };
            if n_edges == MOST_EDGES {
                cut = Some(Cut::Edges);
                is_complete = false;
                break;
            }
            n_edges += 1;
            edges.entry((from, number)).or_default().push(label);
        }
        if let Some(bound) = bound {
            cut.get_or_insert(if found.len() >= most { Cut::States } else { Cut::Bound(bound) });
        }
        expanded.push(is_complete);
        if n_edges == MOST_EDGES {
            break;
        }
    }
    expanded.resize(found.len(), false);
    let states = found.iter().map(|&state| explorer.values(state)).collect();
    StateGraph { states, n_initial, expanded, edges, cut }
}
