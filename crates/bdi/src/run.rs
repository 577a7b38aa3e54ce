//! Checking a model: what a front end needs, as plain data.

use std::time::{Duration, Instant};

use masque_text::Diagnostic;
use masque_verdict::{Budget, Show, Verdict, Why, in_shares};

use crate::explanation::{Explanation, Removal};
use crate::messages::{findings, fixed_attitude, out_of_range};
use crate::model::Model;
use crate::outcome::{Failure, PropertyResult, WorldResult};
use crate::plan::{Plan, WorldId};
use crate::replay::{replay, replay_removal};
use crate::symbolic::Engine;

/// What checking a model found.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The worlds of the plan; `None` if a limit was hit before all were built.
    pub worlds: Option<Vec<WorldResult>>,
    /// The answers; none if a diagnostic is an error.
    pub properties: Vec<PropertyResult>,
    /// What was found besides verdicts.
    pub diagnostics: Vec<Diagnostic>,
    /// The bits of all programs together.
    pub bits: u32,
    /// The most nodes of decision diagrams at a time.
    pub peak_nodes: usize,
    /// The bytes that they took.
    pub peak_bytes: u64,
    /// How long building the worlds took.
    pub building: Duration,
    /// How long deciding the properties took.
    pub deciding: Duration,
    /// Bugs of ours besides withheld explanations: ways to removed states that do not replay, and so
    /// are left out.
    pub bugs: Vec<String>,
}

/// Builds the worlds, decides the properties and, unless nothing is to be shown, explains those that fail.
/// `decided` gets each answer as soon as it is known.
///
/// What is shown has been replayed. What does not replay is left out, and the report says why: that
/// is a bug here, and no reason to doubt the verdict.
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
    let start = Instant::now();
    let mut engine = match Engine::new(model, plan, budget) {
        Ok(engine) => engine,
        Err(failure) => return failed(model, plan, &failure, decided),
    };
    let mut run = Run { building: start.elapsed(), ..Run::default() };
    // The worlds are for all properties; after them each has its share of the time.
    run.properties = undecided(model, Why::Timeout);
    in_shares(model.properties.len(), budget, |index, share| {
        engine.set_budget(share);
        let mut result = engine.property(index);
        // A verdict without an explanation is better than none.
        if run.properties[index].verdict == Verdict::Fails && result.verdict != Verdict::Fails {
            return true;
        }
        // Without the means to explain, the verdict stands alone.
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

/// Results for all properties if none is decided.
fn undecided(model: &Model, why: Why) -> Vec<PropertyResult> {
    vec![PropertyResult::undecided(Verdict::Unknown(why)); model.properties.len()]
}

/// A limit leaves every property undecided; a range that is left is an error.
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

/// Explicit attitudes that never change, once for each world.
fn notes(model: &Model, plan: &Plan, engine: &mut Engine<'_>) -> Vec<Diagnostic> {
    let mut notes = Vec::new();
    for world in plan.worlds_by_path() {
        for (var, fixed) in engine.fixed_attitudes(world).unwrap_or_default() {
            notes.push(fixed_attitude(model, plan.name(world), var, fixed));
        }
    }
    notes
}

/// Why states of a world were removed. A path that does not replay is left out and reported as a bug.
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
            bugs.push(format!("the way to a removed state does not replay: {refusal}"));
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
        assert!(refusal.starts_with("in `a`, of `!p`: state 0"), "{refusal}");
    }
}
