//! The worlds of a BDI file as states, with steps inside a world and accessibility between worlds.

use std::collections::BTreeMap;
use std::sync::Arc;

use masque_bdi::model::{ActionId, State};
use masque_bdi::outcome::Failure;
use masque_bdi::plan::{Plan, WorldId};
use masque_bdi::symbolic::{Engine, Link, LossyWorld, RemovedState, RemovedStates, WorldGraph};
use masque_symbolic::space::in_growing_stores;
use masque_verdict::{Budget, Stop, Verdict, Why};

use crate::Refused;
use crate::check::Limits;
use crate::explorer::{Explorer, RemovedGraph, RemovedNode, StateVerdict, Step, Steps};
use crate::helper_thread::on_large_stack;
use crate::languages::bdi::Worlds;
use crate::load::{Loaded, Model};
use crate::request::Request;
use crate::sent_model::SentModel;

/// The label of a step that performs no action.
const SILENT_STEP: &str = "step";

/// The worlds of a BDI file, listed state by state.
pub(crate) struct WorldExplorer {
    worlds: Arc<Worlds>,
    graph: WorldGraph,
    /// States that synthesis removes; empty if they were not asked for.
    removed: RemovedStates,
    /// The file and the request, which are loaded again for each formula.
    model: SentModel,
}

/// Numbers of states that an explorer lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedStates {
    /// Maximum number of states, removed ones included.
    pub(crate) max_states: usize,
    /// Maximum number of removed states; `None` if they are not looked for.
    pub(crate) max_removed: Option<usize>,
}

impl WorldExplorer {
    pub(crate) fn new(
        loaded: &Loaded,
        worlds: &Arc<Worlds>,
        listed: ListedStates,
        limits: &Limits,
    ) -> Result<WorldExplorer, Why> {
        let ListedStates { max_states, max_removed } = listed;
        let on_thread = Arc::clone(worlds);
        let (graph, removed) = on_large_stack(limits, move |budget| {
            let Worlds { programs, plan } = &*on_thread;
            in_growing_stores(1, budget, is_out_of_memory, |budget| {
                let mut engine = Engine::with_all_values(programs, plan, budget).map_err(stop)?;
                let Some(top) = plan.paths.first() else {
                    return Ok((WorldGraph::default(), RemovedStates::default()));
                };
                let graph = engine.graph(top.world, max_states, budget)?;
                let removed = match max_removed {
                    Some(max) => {
                        let max = max.min(max_states - graph.states.len());
                        engine.removed_states(top.world, &graph, max, budget)?
                    }
                    None => RemovedStates::default(),
                };
                Ok((graph, removed))
            })
        })?;
        let model = SentModel::new(loaded, &loaded.request).ok_or(Why::NoModel)?;
        Ok(WorldExplorer { worlds: Arc::clone(worlds), graph, removed, model })
    }

    /// The world, the point of its program, the action just performed, and the values of the variables.
    fn state_values(&self, world: WorldId, state: &State) -> Vec<(String, String)> {
        let Worlds { programs, plan } = &*self.worlds;
        let vars = &programs.program(plan.worlds[world.index()].program).vars;
        let values = vars.iter().map(|var| programs.var(*var)).zip(&state.values);
        let mut parts = vec![("world".to_string(), plan.name(world).to_string())];
        parts.push(("point".to_string(), state.point.0.to_string()));
        let action = state.action.map(|action| programs.actions[action.index()].name.clone());
        parts.extend(action.map(|action| ("done".to_string(), action)));
        parts.extend(values.map(|(var, value)| (var.name.clone(), var.domain.text(*value))));
        parts
    }

    /// The label of a step with an action.
    fn step_label(&self, action: Option<ActionId>) -> String {
        action.map_or(SILENT_STEP.to_string(), |action| {
            self.worlds.programs.actions[action.index()].name.clone()
        })
    }
}

pub(crate) fn is_out_of_memory<T>(result: &Result<T, Stop>) -> bool {
    matches!(result, Err(Stop { why: Why::Memory, .. }))
}

/// Says how many states a world lost.
fn summary(plan: &Plan, lossy: &LossyWorld) -> String {
    let LossyWorld { world, n_removed, n_built } = lossy;
    let verb = if n_removed.is_one() { "is" } else { "are" };
    format!("{n_removed} of {n_built} states of {} {verb} removed", plan.name(*world))
}

/// Builds the worlds of a file.
pub(crate) fn build<'m>(worlds: &'m Worlds, budget: &Budget) -> Result<Engine<'m>, Stop> {
    Engine::with_all_values(&worlds.programs, &worlds.plan, budget).map_err(stop)
}

/// Why the worlds could not be built. A value outside its range is an error that `check` reports.
fn stop(failure: Failure) -> Stop {
    match failure {
        Failure::Stop(stop) => stop,
        Failure::OutOfRange { .. } => Why::NoModel.into(),
    }
}

impl Explorer for WorldExplorer {
    fn initial(&mut self) -> Vec<usize> {
        (0..self.graph.n_initial).collect()
    }

    fn steps(&mut self, state: usize) -> Steps {
        let programs = &self.worlds.programs;
        let step = |&(link, to): &(Link, usize)| {
            let label = match link {
                Link::Step(action) => self.step_label(action),
                Link::Access(edge) => programs.edge_text(edge),
            };
            Step { label, event: None, to }
        };
        let links = self.graph.links.get(state).map_or(&[][..], Vec::as_slice);
        let is_complete = self.graph.is_expanded.get(state).copied().unwrap_or(false);
        Steps { steps: links.iter().map(step).collect(), cut: (!is_complete).then_some("states") }
    }

    fn values(&self, state: usize) -> Vec<(String, String)> {
        let listed = self.graph.states.get(state);
        listed.map_or(Vec::new(), |(world, state)| self.state_values(*world, state))
    }

    fn removed(&self) -> RemovedGraph {
        let Worlds { programs, plan } = &*self.worlds;
        let node = |removed: &RemovedState| RemovedNode {
            values: self.state_values(removed.world, &removed.state),
            is_initial: removed.is_initial,
            why: programs.why_removed_text(&removed.why),
        };
        let mut edges: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        for &(from, action, to) in &self.removed.steps {
            edges.entry((from, to)).or_default().push(self.step_label(action));
        }
        let mut summary: Vec<String> = self.removed.worlds.iter().map(|lossy| summary(plan, lossy)).collect();
        let n_listed = self.removed.states.len();
        let mut n_removed = self.removed.worlds.iter().map(|lossy| lossy.n_removed.to_u64());
        let n_removed = n_removed.try_fold(0u64, |sum, one| sum.checked_add(one?));
        if n_removed != Some(n_listed as u64) {
            summary.push(match n_listed {
                0 => "the removed states are not listed".to_string(),
                1 => "1 of the removed states is listed".to_string(),
                n => format!("{n} of the removed states are listed"),
            });
        }
        let states = self.removed.states.iter().map(node).collect();
        RemovedGraph { states, first: self.graph.states.len(), edges, summary }
    }

    fn end(&mut self, _: usize) -> Vec<String> {
        Vec::new()
    }

    fn ask(&mut self, state: usize, formula: &str, limits: &Limits) -> Result<StateVerdict, Box<Refused>> {
        let found = self.decide(&[state], formula, limits)?;
        let verdict = found.first().map_or(Verdict::Unknown(Why::NoModel), |(_, verdict)| *verdict);
        Ok(StateVerdict { verdict, shown: None })
    }

    /// Decides a formula at all listed states of a world, because most of the time goes into building the worlds.
    fn ask_many(
        &mut self,
        state: usize,
        formula: &str,
        limits: &Limits,
    ) -> Result<Vec<(usize, Verdict)>, Box<Refused>> {
        let Some(&(world, _)) = self.graph.states.get(state) else { return Ok(Vec::new()) };
        let states = (0..self.graph.states.len()).filter(|&other| self.graph.states[other].0 == world);
        self.decide(&states.collect::<Vec<usize>>(), formula, limits)
    }
}

impl WorldExplorer {
    /// Decides a formula that is read as a property of the file, at states of one world. States that are not listed
    /// are left out.
    fn decide(
        &mut self,
        states: &[usize],
        formula: &str,
        limits: &Limits,
    ) -> Result<Vec<(usize, Verdict)>, Box<Refused>> {
        let listed = |&number: &usize| Some((number, self.graph.states.get(number)?.clone()));
        let states: Vec<(usize, (WorldId, State))> = states.iter().filter_map(listed).collect();
        let Some((_, (world, _))) = states.first() else { return Ok(Vec::new()) };
        let property = format!("{} : {formula}", self.worlds.plan.name(*world));
        let unknown = |why| states.iter().map(|(number, _)| (*number, Verdict::Unknown(why))).collect();
        let request = Request { properties: vec![property], ..self.model.request.clone() };
        let loaded = self.model.with_request(request).load_within(limits);
        if let Some(why) = loaded.stopped {
            return Ok(unknown(why));
        }
        let Some(Model::Bdi(worlds)) = &loaded.model else {
            return Err(Refused { sources: loaded.sources, diagnostics: loaded.diagnostics }.into());
        };
        let (worlds, asked) = (Arc::clone(worlds), states.clone());
        let truths = on_large_stack(limits, move |budget| {
            let Worlds { programs, plan } = &*worlds;
            in_growing_stores(1, budget, is_out_of_memory, |budget| {
                let mut engine = Engine::with_all_values(programs, plan, budget).map_err(stop)?;
                let index = programs.properties.len() - 1;
                let truth = |(number, (_, state)): &(usize, (WorldId, State))| {
                    Ok((*number, Verdict::from(engine.truth_at(index, state)?)))
                };
                asked.iter().map(truth).collect::<Result<Vec<_>, Stop>>()
            })
        });
        Ok(truths.unwrap_or_else(unknown))
    }
}
