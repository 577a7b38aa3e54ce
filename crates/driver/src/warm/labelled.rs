//! A protocol, a transition system or the worlds of a BDI file, which stay loaded.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use masque_verdict::{Verdict, Why};

use super::formula_parts::{FormulaPart, formula_parts};
use super::{
    Answer, Asked, Listed, MAX_KNOWN_STATES, MAX_LISTED_INDEX, PageRange, PartTruth, Unanswered, WarmGraph,
    WarmStep, WarmSteps, WarmWalk, cut_text,
};
use crate::Trace;
use crate::check::Limits;
use crate::explorer::{Explorer, Step, explored};
use crate::load::{Loaded, Model};
use crate::property::PropertyText;
use crate::trace::{ACTION_VARIABLE, POINT_VARIABLE, TraceAction, TraceRun, TraceState};

/// Maximum number of states that a search for a path visits.
const MAX_SEARCHED_STATES: usize = 20_000;

/// Time after which no further part of a formula is checked.
const TIME_FOR_PARTS: Duration = Duration::from_secs(2);

/// Truth values at states, by the text of the formula.
type KnownTruths = HashMap<String, HashMap<usize, Verdict>>;

/// A model with labelled steps, and what is known about its states.
pub(super) struct WarmLabelled {
    loaded: Rc<Loaded>,
    explorer: Box<dyn Explorer>,
    properties: Vec<PropertyText>,
    known: KnownTruths,
    n_known: usize,
}

impl WarmLabelled {
    pub(super) fn new(loaded: &Rc<Loaded>, explorer: Box<dyn Explorer>) -> WarmLabelled {
        let properties = loaded.model.as_ref().map(Model::properties).unwrap_or_default();
        let (known, n_known) = (KnownTruths::new(), 0);
        WarmLabelled { loaded: Rc::clone(loaded), explorer, properties, known, n_known }
    }

    pub(super) fn initial(&mut self, page: PageRange) -> Listed<usize> {
        Listed::of_all(self.explorer.initial(), page)
    }

    pub(super) fn values(&self, state: usize) -> Vec<(String, String)> {
        self.explorer.values(state)
    }

    pub(super) fn steps(&mut self, state: usize, page: PageRange) -> Answer<WarmSteps> {
        self.check_number(state)?;
        let found = self.explorer.steps(state);
        let end = if found.steps.is_empty() { self.explorer.end(state) } else { Vec::new() };
        let steps = Listed::of_all(found.steps.into_iter().map(warm_step).collect(), page);
        Ok(WarmSteps { steps, agents: Vec::new(), end, cut: found.cut.map(str::to_string) })
    }

    /// Refuses a number that no question has returned.
    fn check_number(&self, state: usize) -> Answer<()> {
        match self.explorer.values(state).is_empty() {
            true => Err(Unanswered::Impossible("there is no state with this number")),
            false => Ok(()),
        }
    }

    pub(super) fn random_step(
        &mut self,
        state: usize,
        roll: &mut dyn FnMut(usize) -> usize,
    ) -> Answer<Option<WarmStep>> {
        self.check_number(state)?;
        let mut steps = self.explorer.steps(state).steps;
        if steps.is_empty() {
            return Ok(None);
        }
        let chosen = roll(steps.len()).min(steps.len() - 1);
        Ok(Some(warm_step(steps.swap_remove(chosen))))
    }

    /// The formula that is asked for, in a form that reads back as the same formula, and as written.
    fn formula(&self, asked: &Asked) -> Answer<(String, String)> {
        match asked {
            Asked::Formula(text) => Ok((text.trim().to_string(), text.trim().to_string())),
            Asked::Property(index) => {
                let property = self.properties.get(*index);
                let property =
                    property.ok_or(Unanswered::Impossible("there is no property with this number"))?;
                Ok((property.formula.clone(), property.text.clone()))
            }
        }
    }

    /// The truth of a formula at a state, followed by that of its parts, up to the first part that is not decided. Each
    /// part is checked by itself, so the parts have a time limit together.
    pub(super) fn truths(
        &mut self,
        asked: &Asked,
        state: usize,
        max_parts: usize,
        limits: &Limits,
    ) -> Answer<Vec<PartTruth>> {
        let mut truths = vec![self.truth(asked, state, limits)?];
        let Some(model) = self.loaded.model.as_ref().filter(|_| truths[0].holds.is_some()) else {
            return Ok(truths);
        };
        let (formula, _) = self.formula(asked)?;
        let parts = formula_parts(model, &formula, max_parts.saturating_sub(1));
        let start = Instant::now();
        for FormulaPart { text, depth, is_repeated } in parts {
            if start.elapsed() > TIME_FOR_PARTS {
                let why = Some(Why::Timeout.word().to_string());
                truths.push(PartTruth { text, depth, is_repeated, holds: None, why });
                break;
            }
            let truth = self.truth(&Asked::Formula(text), state, limits)?;
            let is_decided = truth.holds.is_some();
            truths.push(PartTruth { depth, is_repeated, ..truth });
            if !is_decided {
                break;
            }
        }
        Ok(truths)
    }

    pub(super) fn truth(&mut self, asked: &Asked, state: usize, limits: &Limits) -> Answer<PartTruth> {
        self.check_number(state)?;
        let (formula, text) = self.formula(asked)?;
        let part = |holds, why: Option<&str>| {
            let why = why.map(str::to_string);
            PartTruth { text, depth: 0, is_repeated: false, holds, why }
        };
        if let Asked::Property(index) = asked
            && self.is_of_another_world(*index, state)
        {
            return Ok(part(None, Some("another world")));
        }
        let verdict = self.verdict(&formula, state, limits)?;
        Ok(match verdict {
            Verdict::Holds => part(Some(true), None),
            Verdict::Fails => part(Some(false), None),
            Verdict::Unknown(why) => part(None, Some(why.word())),
        })
    }

    /// Whether a property of a BDI file is about another world than that of a state.
    fn is_of_another_world(&self, property: usize, state: usize) -> bool {
        let Some(Model::Bdi(worlds)) = &self.loaded.model else { return false };
        let world = worlds.plan.properties.get(property).map(|world| worlds.plan.name(*world).to_string());
        world != world_of(&self.explorer.values(state))
    }

    fn verdict(&mut self, formula: &str, state: usize, limits: &Limits) -> Answer<Verdict> {
        let known = self.known.get(formula).and_then(|known| known.get(&state));
        if let Some(&verdict) = known {
            return Ok(verdict);
        }
        let found = self.explorer.ask_many(state, formula, limits)?;
        let verdict = found.iter().find(|(number, _)| *number == state).map(|(_, verdict)| *verdict);
        let is_decided = |(_, verdict): &(usize, Verdict)| !matches!(verdict, Verdict::Unknown(_));
        let decided: Vec<_> = found.into_iter().filter(is_decided).collect();
        self.n_known += decided.len();
        if self.n_known > MAX_KNOWN_STATES {
            self.known.clear();
            self.n_known = decided.len();
        }
        self.known.entry(formula.to_string()).or_default().extend(decided);
        Ok(verdict.unwrap_or(Verdict::Unknown(Why::NoModel)))
    }

    /// The listed state of a BDI world that has these named values, if it is among the first
    /// [`MAX_SEARCHED_STATES`].
    pub(super) fn find(&mut self, values: &[(String, String)]) -> Answer<Option<usize>> {
        if !matches!(self.loaded.model, Some(Model::Bdi(_))) {
            let message = "states of this language are found by the steps that lead to them";
            return Err(Unanswered::Impossible(message));
        }
        let language = self.loaded.language;
        let mut found = self.explorer.initial();
        let mut seen: std::collections::HashSet<usize> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(&state) = found.get(next).filter(|_| next < MAX_SEARCHED_STATES) {
            let known = self.values(state);
            // A state that no action leads to has no value for its last action.
            let is_given = |(name, value): &(String, String)| {
                let found =
                    known.iter().find(|(known, _)| known == name || trace_name(language, known) == name);
                found.map_or(value.is_empty(), |(_, found)| found == value)
            };
            if values.iter().all(is_given) {
                return Ok(Some(state));
            }
            let steps = self.explorer.steps(state).steps;
            found.extend(steps.iter().map(|step| step.to).filter(|&to| seen.insert(to)));
            next += 1;
        }
        Ok(None)
    }

    pub(super) fn states_where(
        &mut self,
        asked: Option<&Asked>,
        page: PageRange,
        limits: &Limits,
    ) -> Answer<Listed<usize>> {
        let found = self.graph(page.end().max(MAX_LISTED_INDEX), limits)?;
        let mut states = Vec::new();
        for state in found.states {
            let is_listed = match asked {
                None => true,
                Some(asked) => match self.truth(asked, state, limits)? {
                    PartTruth { holds: None, why: Some(why), .. } if why != "another world" => {
                        return Err(Unanswered::Stopped(Why::Unsupported));
                    }
                    truth => truth.holds == Some(true),
                },
            };
            if is_listed {
                states.push(state);
            }
        }
        let listed = Listed::of_all(states, page);
        Ok(match found.cut {
            None => listed,
            Some(_) => Listed { has_more: true, count: None, ..listed },
        })
    }

    /// Searches breadth first, so that the path is a shortest one, and the first among these in the order of steps.
    pub(super) fn path_to(
        &mut self,
        asked: &Asked,
        from: Option<usize>,
        limits: &Limits,
    ) -> Answer<Option<WarmWalk>> {
        let start = match from {
            Some(state) => vec![state],
            None => self.explorer.initial(),
        };
        let budget = limits.cancellable_budget();
        // Each state that was found, with the state before it and the step.
        let mut found: Vec<(usize, Option<(usize, Step)>)> =
            start.iter().map(|&state| (state, None)).collect();
        let mut seen: std::collections::HashSet<usize> = start.into_iter().collect();
        let mut next = 0;
        while let Some(&(state, _)) = found.get(next) {
            budget.check().map_err(|stop| stop.why)?;
            match self.truth(asked, state, limits)? {
                PartTruth { holds: Some(true), .. } => return Ok(Some(walk_back(&found, next))),
                PartTruth { holds: None, why: Some(why), .. } if why != "another world" => {
                    return Err(Unanswered::Stopped(Why::Unsupported));
                }
                _ => {}
            }
            if found.len() >= MAX_SEARCHED_STATES {
                return Err(Unanswered::Stopped(Why::States));
            }
            let steps = self.explorer.steps(state);
            if let Some(bound) = steps.cut {
                return Err(Unanswered::Stopped(Why::Bound(bound)));
            }
            for step in steps.steps {
                if seen.insert(step.to) {
                    found.push((step.to, Some((next, step))));
                }
            }
            next += 1;
        }
        Ok(None)
    }

    pub(super) fn graph(&mut self, max_states: usize, limits: &Limits) -> Answer<WarmGraph> {
        let graph = explored(&mut *self.explorer, max_states, limits)?;
        let edges = graph.edges.into_iter().map(|((from, to), labels)| (from, to, labels)).collect();
        Ok(WarmGraph {
            states: graph.states,
            n_initial: graph.n_initial,
            expanded: graph.expanded,
            edges,
            cut: graph.cut.map(cut_text),
        })
    }

    pub(super) fn trace(&mut self, walk: &WarmWalk) -> Option<Trace> {
        let step = |step: &WarmStep| match &step.action {
            TraceAction::Label(label) => Some(Step { label: label.clone(), event: None, to: step.to }),
            _ => None,
        };
        let steps: Option<Vec<Step>> = walk.steps.iter().map(step).collect();
        self.explorer.trace(walk.start, &steps?)
    }

    pub(super) fn standings(&mut self, state: usize) -> Answer<Vec<masque_lcc::Standing>> {
        self.check_number(state)?;
        Ok(self.explorer.standings(state))
    }

    pub(super) fn follow(&mut self, run: &TraceRun) -> Answer<Option<(WarmWalk, Option<&'static str>)>> {
        let initial = self.explorer.initial();
        let Some(first) = run.states.first() else { return Ok(None) };
        let start = initial.iter().copied().find(|&state| fits(&self.values(state), first));
        // A trace of a protocol may leave out the values of its states.
        let Some(start) = start else { return Ok(None) };
        let mut walk = WarmWalk { start, steps: Vec::new() };
        for (given, next) in run.steps.iter().zip(run.states.iter().skip(1)) {
            let is_given = |step: &Step| match &given.action {
                TraceAction::Label(label) => step.label == *label,
                _ => true,
            };
            let steps = self.explorer.steps(walk.last()).steps;
            let mut steps = steps.into_iter().filter(is_given);
            let Some(step) = steps.find(|step| fits(&self.explorer.values(step.to), next)) else {
                return Ok(Some((walk, Some("no step leads to its next state"))));
            };
            walk.steps.push(warm_step(step));
        }
        Ok(Some((walk, None)))
    }
}

/// The walk from the first states of a search to the state with an index.
fn walk_back(found: &[(usize, Option<(usize, Step)>)], end: usize) -> WarmWalk {
    let (mut index, mut steps) = (end, Vec::new());
    while let Some((before, step)) = &found[index].1 {
        steps.push(warm_step(step.clone()));
        index = *before;
    }
    steps.reverse();
    WarmWalk { start: found[index].0, steps }
}

fn warm_step(Step { label, event, to }: Step) -> WarmStep {
    WarmStep { action: TraceAction::Label(label.clone()), text: label, event, to }
}

/// The world of a state of a BDI file, by its named values.
pub(super) fn world_of(values: &[(String, String)]) -> Option<String> {
    values.iter().find(|(name, _)| name == "world").map(|(_, world)| world.clone())
}

/// The name that a variable of a state has in traces.
pub(super) fn trace_name(language: Option<crate::Language>, name: &str) -> &str {
    match (language, name) {
        (Some(crate::Language::Bdi), "point") => POINT_VARIABLE,
        (Some(crate::Language::Bdi), "done") => ACTION_VARIABLE,
        _ => name,
    }
}

/// Whether named values are those that a state of a run gives. Names that the model does not have are ignored.
fn fits(values: &[(String, String)], given: &TraceState) -> bool {
    let has_name = |known: &str, name: &str| {
        known == name
            || (known == "point" && name == POINT_VARIABLE)
            || (known == "done" && name == ACTION_VARIABLE)
    };
    given.values.iter().all(|(name, value)| {
        let found = values.iter().find(|(known, _)| has_name(known, name));
        found.is_none_or(|(_, found)| *found == value.text())
    })
}
