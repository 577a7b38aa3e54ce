//! Transition systems in the Aldebaran format, with mu-calculus properties.

use std::time::Instant;

use masque_mu::{Decided, Graph, Play, Property, Space, decide_all, read_aut, read_properties};
use masque_text::TooLarge;
use masque_verdict::{Budget, Phase, Show, Stats};

use super::formulas::add_formulas;
use super::lcc::LOCAL;
use crate::check::{Certified, Decision, Details, Run, Shown};
use crate::decide::Cost;
use crate::load::{Loaded, Model};
use crate::sent_model::NamedText;

/// A transition system and its properties.
#[derive(Clone, Debug)]
pub struct Instance {
    /// States and transitions.
    pub graph: Graph,
    /// The properties, in the order of the report.
    pub properties: Vec<Property>,
}

/// A path of a transition system that shows a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledPath {
    /// The states, by their numbers in the file. There is one more than there are labels, unless the path is a
    /// lasso.
    pub states: Vec<u64>,
    /// The labels of the transitions between the states.
    pub labels: Vec<String>,
    /// For a lasso: the index of the state that follows the last one.
    pub back_to: Option<usize>,
    /// Whether the last state has no transition.
    pub is_stuck: bool,
}

/// Reads a transition system and the files with its properties. Fails if the texts are too large together.
pub(crate) fn read(
    loaded: &mut Loaded,
    model: NamedText,
    property_files: Vec<NamedText>,
) -> Result<(), TooLarge> {
    let (name, text) = model;
    let file = loaded.sources.add(name, text)?;
    loaded.texts.files = vec![file];
    let (graph, diagnostics) = read_aut(&loaded.sources, loaded.sources.span(file));
    loaded.diagnostics.extend(diagnostics);
    let Some(mut graph) = graph else { return Ok(()) };
    let mut properties = Vec::new();
    for (name, text) in property_files {
        let file = loaded.sources.add(name, text)?;
        let (more, diagnostics) = read_properties(&loaded.sources, loaded.sources.span(file), &mut graph);
        loaded.diagnostics.extend(diagnostics);
        properties.extend(more);
    }
    add_formulas(loaded, &mut graph, &mut properties, |_, _| Vec::new())?;
    if !loaded.has_errors() {
        loaded.model = Some(Model::Aut(Box::new(Instance { graph, properties })));
    }
    Ok(())
}

/// Counts the reachable states and transitions, and decides the properties.
pub(crate) fn work(
    instance: Instance,
    show: Show,
    budget: &Budget,
    report: &mut dyn FnMut(usize, Decision),
) -> Run {
    let Instance { mut graph, properties } = instance;
    let start = Instant::now();
    let (states, transitions) = graph.reachable();
    let mut space = Space::new(&mut graph);
    let mut on_verdict = |space: &mut Space<&mut Graph>, index: usize, decided: &Decided| {
        report(index, decision(space.lts(), decided));
    };
    let decided = decide_all(&mut space, &properties, show, budget, &mut |_, _, _| None, &mut on_verdict);
    drop(space);
    let time = start.elapsed();
    let stats = Stats {
        states: Some(graph.n_states() as u64),
        transitions: Some(graph.n_transitions() as u64),
        phases: vec![Phase { name: "properties".into(), time }],
        ..Stats::default()
    };
    Run {
        states: Some(states.into()),
        transitions: Some(transitions.into()),
        decisions: decided.iter().map(|decided| decision(&mut graph, decided)).collect(),
        costs: vec![Cost { engine: LOCAL.into(), stats }],
        details: Details::Aut,
        time,
        ..Run::default()
    }
}

fn decision(graph: &mut Graph, decided: &Decided) -> Decision {
    let is_shown = |play: &&Play| !play.steps.is_empty() || graph.is_stuck(play.start);
    let play = decided.play.as_ref().filter(is_shown);
    Decision {
        verdict: decided.verdict,
        evidence: play.map(|play| Shown::Run(Box::new(labelled_run(graph, play)))),
        withheld: decided.withheld.clone(),
        certified: Certified::default(),
        engine: Some(LOCAL.into()),
        time: decided.time,
        ..Decision::default()
    }
}

pub(crate) fn labelled_run(graph: &Graph, play: &Play) -> LabelledPath {
    let states = std::iter::once(play.start).chain(play.steps.iter().map(|step| step.to));
    // The last step of a lasso leads back to a state that is already in the list.
    let n_states = play.steps.len() + usize::from(play.loop_at.is_none());
    LabelledPath {
        states: states.take(n_states).map(|state| graph.number(state)).collect(),
        labels: play.steps.iter().map(|step| graph.label(step.label).to_string()).collect(),
        back_to: play.loop_at,
        is_stuck: play.loop_at.is_none() && graph.is_stuck(play.end()),
    }
}
