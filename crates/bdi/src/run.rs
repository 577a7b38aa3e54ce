//! Checks a model and returns plain data for front ends.

use std::time::{Duration, Instant};

use masque_symbolic::space::in_growing_stores;
use masque_text::Diagnostic;
use masque_verdict::{Budget, DiagramPhase, Show, Verdict, Why, run_in_shares};

use crate::explanation::{Explanation, Removal};
use crate::messages::{findings, fixed_attitude, out_of_range};
use crate::model::Model;
use crate::outcome::{Failure, PropertyResult, Status, WorldResult};
use crate::plan::{Plan, WorldId};
use crate::replay::{replay, replay_removal};
use crate::symbolic::{Engine, EngineOptions};

/// Result of checking a model.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The worlds of the plan; `None` if a limit was hit before all were built.
    pub worlds: Option<Vec<WorldResult>>,
    /// Results of the properties; empty if a diagnostic is an error.
    pub properties: Vec<PropertyResult>,
    /// Errors, warnings and notes about worlds and properties.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of bits that encode all programs.
    pub bits: u32,
    /// Peak number of nodes of decision diagrams.
    pub peak_nodes: usize,
    /// Peak memory of decision diagrams, in bytes.
    pub peak_bytes: u64,
    /// Time for building the worlds.
    pub building: Duration,
    /// Time for deciding the properties.
    pub deciding: Duration,
    /// Bugs in Masque besides withheld explanations: paths to removed states that do not replay and are
    /// left out.
    pub bugs: Vec<String>,
}

/// Builds the worlds, decides the properties and, unless `show` is [`Show::None`], explains those that
/// fail. Calls `decided` with each result as soon as it is known.
///
/// Every explanation in the result was replayed. One that does not replay is left out and the result
/// says why: that is a bug in Masque, but no reason to doubt the verdict.
///
/// ```
/// use masque_bdi::{check, parse, run};
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let text = "
///     agent a is init B(b, p) := any; loop skip endloop
///     agent b is init p := any; loop skip endloop
///     property open: !B(b, p);
/// ";
/// let file = sources.add("tiny.bdi", text).unwrap();
/// let (tree, _) = parse(&sources, file);
/// let (model, plan) = check(&tree, &[]).model.unwrap();
/// let run = run(&model, &plan, Default::default(), &Default::default(), &mut |_, _| {});
/// assert_eq!(run.properties[0].verdict.word(), "fails");
/// assert_eq!(run.worlds.unwrap()[1].kept.to_string(), "2");
/// ```
pub fn run(
    model: &Model,
    plan: &Plan,
    show: Show,
    budget: &Budget,
    decided: &mut dyn FnMut(usize, &PropertyResult),
) -> Run {
    run_with(model, plan, RunOptions { show, ..RunOptions::default() }, budget, decided)
}

/// What a run does besides deciding the properties.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Which verdicts are explained.
    pub show: Show,
    /// Whether to find out which worlds are sub-worlds of which.
    pub lists_subworlds: bool,
}

/// Does what [`run`] does, and what the options ask for.
pub fn run_with(
    model: &Model,
    plan: &Plan,
    options: RunOptions,
    budget: &Budget,
    decided: &mut dyn FnMut(usize, &PropertyResult),
) -> Run {
    let is_out_of_memory =
        |run: &Run| run.properties.iter().any(|property| property.verdict == Verdict::Unknown(Why::Memory));
    in_growing_stores(1, budget, is_out_of_memory, |budget| run_within(model, plan, options, budget, decided))
}

/// Maximum number of worlds that are compared with each other.
const MAX_COMPARED_WORLDS: usize = 64;

/// Finds out which worlds are sub-worlds of which; does nothing if there are too many worlds or a limit is reached.
fn list_subworlds(plan: &Plan, engine: &mut Engine<'_>, worlds: &mut [WorldResult]) {
    let listed: Vec<WorldId> = plan.worlds_by_path().collect();
    if listed.len() > MAX_COMPARED_WORLDS {
        return;
    }
    let has_states: Vec<bool> = worlds.iter().map(|world| world.status == Status::Ok).collect();
    for &inner in listed.iter().filter(|world| has_states[world.index()]) {
        let mut outer = listed.clone();
        outer.retain(|world| *world != inner && has_states[world.index()]);
        let mut found = Vec::new();
        for outer in outer {
            match engine.is_subworld(inner, outer) {
                Ok(true) => found.push(outer),
                Ok(false) => {}
                Err(_) => return,
            }
        }
        worlds[inner.index()].subworld_of = Some(found);
    }
}

/// Does what [`run`] does, in a store that has the memory of this budget.
fn run_within(
    model: &Model,
    plan: &Plan,
    options: RunOptions,
    budget: &Budget,
    decided: &mut dyn FnMut(usize, &PropertyResult),
) -> Run {
    let RunOptions { show, lists_subworlds } = options;
    let start = Instant::now();
    budget.meter().begin(DiagramPhase::Exploring);
    let compared = EngineOptions { compares_all: lists_subworlds, ..EngineOptions::default() };
    let mut engine = match Engine::with_options(model, plan, compared, budget) {
        Ok(engine) => engine,
        Err(failure) => return failed(model, plan, &failure, decided),
    };
    let mut run = Run { building: start.elapsed(), ..Run::default() };
    // All properties use the same worlds; the rest of the time is shared among the properties.
    run.properties = undecided(model, Why::Timeout);
    run_in_shares(model.properties.len(), budget, |index, share| {
        share.meter().begin(DiagramPhase::Deciding);
        engine.set_budget(share);
        let mut result = engine.decide(index);
        // Keep an earlier verdict without an explanation rather than replace it by `unknown`.
        if run.properties[index].verdict == Verdict::Fails && result.verdict != Verdict::Fails {
            return true;
        }
        // If a limit stops the explanation, the verdict is reported without one.
        let evidence = match result.verdict {
            Verdict::Fails if show != Show::None => engine.explain(index).unwrap_or_default(),
            _ => None,
        };
        let is_finished = match result.verdict {
            Verdict::Unknown(why) => why != Why::Timeout,
            Verdict::Fails => evidence.is_some() || show == Show::None || !share.is_over(),
            Verdict::Holds => true,
        };
        confirm(model, plan, index, evidence, &mut result);
        decided(index, &result);
        run.properties[index] = result;
        is_finished
    });
    engine.set_budget(budget);
    run.deciding = start.elapsed() - run.building;
    let results = (0..plan.worlds.len() as u32).map(|world| engine.world_result(WorldId(world)));
    if let Ok(mut worlds) = results.collect::<Result<Vec<_>, _>>() {
        run.diagnostics = findings(model, plan, &worlds, &run.properties);
        run.diagnostics.extend(notes(model, plan, &mut engine));
        for (index, world) in worlds.iter_mut().enumerate() {
            world.removed = removals(model, plan, &mut engine, WorldId(index as u32), &mut run.bugs);
        }
        if lists_subworlds {
            list_subworlds(plan, &mut engine, &mut worlds);
        }
        run.worlds = Some(worlds);
    }
    (run.bits, run.peak_nodes, run.peak_bytes) = engine.size();
    run
}

/// Replays an explanation and adds it to the result, or the reason why it is refused.
fn confirm(
    model: &Model,
    plan: &Plan,
    index: usize,
    evidence: Option<Explanation>,
    result: &mut PropertyResult,
) {
    let Some(evidence) = evidence else { return };
    match replay(model, plan, index, &evidence) {
        Ok(()) => result.evidence = Some(evidence),
        Err(refusal) => result.withheld = Some(refusal.to_string()),
    }
}

/// Returns results that say that no property is decided.
fn undecided(model: &Model, why: Why) -> Vec<PropertyResult> {
    vec![PropertyResult::undecided(Verdict::Unknown(why)); model.properties.len()]
}

/// Returns the result if the worlds cannot be built: a limit leaves every property undecided, and an
/// assignment outside the range of its variable is an error.
fn failed(
    model: &Model,
    plan: &Plan,
    failure: &Failure,
    decided: &mut dyn FnMut(usize, &PropertyResult),
) -> Run {
    let mut run = Run::default();
    run.diagnostics.extend(out_of_range(model, plan, failure));
    if let Failure::Stop(stop) = failure {
        run.properties = undecided(model, stop.why);
        run.properties.iter().enumerate().for_each(|(index, result)| decided(index, result));
    }
    run
}

/// Returns notes on explicit attitudes that never change, once for each world.
fn notes(model: &Model, plan: &Plan, engine: &mut Engine<'_>) -> Vec<Diagnostic> {
    let mut notes = Vec::new();
    for world in plan.worlds_by_path() {
        for (var, fixed) in engine.fixed_attitudes(world).unwrap_or_default() {
            notes.push(fixed_attitude(model, plan.name(world), var, fixed));
        }
    }
    notes
}

/// Returns why states of a world were removed. A path that does not replay is left out and reported as a bug.
fn removals(
    model: &Model,
    plan: &Plan,
    engine: &mut Engine<'_>,
    world: WorldId,
    bugs: &mut Vec<String>,
) -> Vec<Removal> {
    let mut removals = engine.removals(world).unwrap_or_default();
    for removal in &mut removals {
        if let Err(refusal) = replay_removal(model, plan, world, removal) {
            bugs.push(format!("the path to a removed state does not replay: {refusal}"));
            removal.example.clear();
        }
    }
    removals
}

#[cfg(test)]
mod tests {
    use masque_text::Sources;

    use super::*;
    use crate::{check, parse};

    #[test]
    fn evidence_that_does_not_replay_is_withheld() {
        let mut sources = Sources::default();
        let text = "agent a is init p := true; loop skip endloop property never: !p;";
        let file = sources.add("bug.bdi", text).unwrap();
        let (model, plan) = check(&parse(&sources, file).0, &[]).model.unwrap();
        let mut run = run(&model, &plan, Show::Failed, &Budget::default(), &mut |_, _| {});
        let mut evidence = run.properties.remove(0).evidence.unwrap();
        evidence.states[0].values[0] = 0;
        let mut result = PropertyResult::undecided(Verdict::Fails);
        confirm(&model, &plan, 0, Some(evidence), &mut result);
        assert_eq!((result.verdict, &result.evidence), (Verdict::Fails, &None));
        let refusal = result.withheld.unwrap();
        assert!(refusal.starts_with("in `a`, for `!p`: state 0"), "{refusal}");
    }
}
