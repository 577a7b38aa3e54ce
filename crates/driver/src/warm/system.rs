//! An interpreted system that stays encoded.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use masque_evidence::explain_at;
use masque_model::steps::{
    JointAction, More, Moves, Product, State, first_initial_states, first_initial_states_with, joint_choices,
};
use masque_model::{ActionId, AgentId, At, FormulaId, Property, System};
use masque_verdict::{
    Budget, Early, Encoded, Literal, Oracle, Outcome, Path, PathLength, RegionPart, Route, StepKind, Stop,
    Verdict, Why, outside_logic, subformulas,
};

use super::resident::{Question, Resident};
use super::{
    Answer, Asked, Listed, MAX_KNOWN_STATES, MAX_LISTED_INDEX, PageRange, PartTruth, Unanswered, WarmGraph,
    WarmStep, WarmSteps, WarmWalk, cut_text,
};
use crate::check::Limits;
use crate::decide::{ReplayedOutcome, replayed};
use crate::load::Loaded;
use crate::trace::{TraceAction, TraceRun, TraceState, TraceValue};
use crate::{EngineOptions, Refused, Request, Truth};

/// Maximum number of formulas, besides the properties, that are encoded together. The oldest is dropped.
const MAX_KEPT_FORMULAS: usize = 24;
/// Number of random joint actions that a random step tries before it takes the first one that has a successor.
const MAX_RANDOM_TRIES: usize = 100;
/// Maximum number of joint actions that are tried to find a step of a given run.
const MAX_TRIED_JOINT_ACTIONS: usize = 1000;
/// The message about a number that is not that of a state.
const NO_STATE: Unanswered = Unanswered::Impossible("there is no state with this number");

/// A question to the encoding, or to the reason why there is none.
type Ask = Box<dyn FnOnce(&System, Result<&mut dyn Encoded, Stop>, &Budget) + Send>;

/// A system, its encodings, and the states that have numbers.
pub(super) struct WarmSystem {
    loaded: Rc<Loaded>,
    system: Arc<System>,
    states: Vec<State>,
    numbers: HashMap<State, usize>,
    /// The system as it was loaded.
    plain: KeptEncoding,
    /// The system with formulas that were asked for, which are its last properties.
    with_formulas: Option<(Vec<String>, KeptEncoding)>,
}

/// A system and the thread that keeps its encoding.
struct KeptEncoding {
    system: Arc<System>,
    options: EngineOptions,
    resident: Resident<Ask>,
}

impl KeptEncoding {
    fn new(system: &Arc<System>, options: &EngineOptions) -> KeptEncoding {
        KeptEncoding { system: Arc::clone(system), options: options.clone(), resident: Resident::new() }
    }

    /// Asks the encoding, which is made first if there is none.
    fn ask<T: Send + 'static>(
        &mut self,
        limits: &Limits,
        ask: impl FnOnce(&System, &mut dyn Oracle, &Budget) -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, Why> {
        let (system, options) = (Arc::clone(&self.system), self.options.clone());
        let serve = move |questions: &Receiver<Question<Ask>>| serve(&system, &options, questions);
        self.resident.ask(limits, serve, |answer| {
            Box::new(move |system, encoded, budget| {
                let answered = match encoded.map(|encoded| encoded.oracle()) {
                    Ok(Some(oracle)) => ask(system, oracle, budget),
                    Ok(None) => Err(Why::Unsupported.into()),
                    Err(stop) => Err(stop),
                };
                // Sending fails if the receiver is gone.
                _ = answer.send(answered);
            })
        })
    }
}

/// Encodes a system within the budget of the first question, and answers this and all further questions. If a limit
/// stops the encoding, the next question tries again.
fn serve(system: &System, options: &EngineOptions, questions: &Receiver<Question<Ask>>) {
    let Ok((mut ask, mut budget)) = questions.recv() else { return };
    let encoded = match options.portfolio() {
        Some(portfolio) => {
            portfolio.explore(system, &[], &mut Early::deaf(), &budget).map(|explored| explored.encoded)
        }
        None => match options.candidates().first() {
            Some(engine) => engine.encode(system, &budget),
            None => Err(Why::Unsupported.into()),
        },
    };
    let mut encoded = match encoded {
        Ok(encoded) => encoded,
        Err(stop) => return ask(system, Err(stop), &budget),
    };
    loop {
        ask(system, Ok(&mut *encoded), &budget);
        match questions.recv() {
            Ok(next) => (ask, budget) = next,
            Err(_) => return,
        }
    }
}

impl WarmSystem {
    pub(super) fn new(loaded: &Rc<Loaded>, system: &Arc<System>) -> WarmSystem {
        WarmSystem {
            loaded: Rc::clone(loaded),
            system: Arc::clone(system),
            states: Vec::new(),
            numbers: HashMap::new(),
            plain: KeptEncoding::new(system, &loaded.engine_options),
            with_formulas: None,
        }
    }

    /// The number of a state, which is a new one if the state is new.
    fn number(&mut self, state: State) -> Answer<usize> {
        if let Some(&number) = self.numbers.get(&state) {
            return Ok(number);
        }
        if self.states.len() >= MAX_KNOWN_STATES {
            return Err(Unanswered::Stopped(Why::States));
        }
        self.numbers.insert(state.clone(), self.states.len());
        self.states.push(state);
        Ok(self.states.len() - 1)
    }

    fn numbers(&mut self, states: Vec<State>) -> Answer<Vec<usize>> {
        states.into_iter().map(|state| self.number(state)).collect()
    }

    fn state(&self, number: usize) -> Answer<&State> {
        self.states.get(number).ok_or(NO_STATE)
    }

    pub(super) fn values(&self, state: usize) -> Vec<(String, String)> {
        let values = self.states.get(state).into_iter().flatten();
        let named = self.system.variable_ids().zip(values);
        named.map(|(id, &value)| (self.system.full_name(id), self.system.value_text(id, value))).collect()
    }

    pub(super) fn find(&mut self, values: &[(String, String)]) -> Answer<Option<usize>> {
        let written = |value: &String| TraceValue::Written(value.clone());
        let values = values.iter().map(|(name, value)| (name.clone(), written(value))).collect();
        let given = TraceState { values, ..TraceState::default() };
        let state: Option<State> = wanted_values(&self.system, &given).into_iter().collect();
        state.map(|state| self.number(state)).transpose()
    }

    pub(super) fn initial(&mut self, page: PageRange, limits: &Limits) -> Answer<Listed<usize>> {
        let end = page.end();
        let (states, has_more, count) = match first_initial_states(&self.system, end) {
            (states, More::No) => (states.clone(), false, Some(states.len().to_string())),
            (states, More::Yes) => (states, true, None),
            (states, More::Unknown) if !states.is_empty() && page.offset == 0 => (states, true, None),
            _ => {
                let ask = move |_: &System, oracle: &mut dyn Oracle, budget: &Budget| {
                    oracle.first(&[RegionPart::Initial], end, budget)
                };
                let (states, count) = self.plain.ask(limits, ask)?;
                let has_more = count != states.len().into();
                (states, has_more, Some(count.to_string()))
            }
        };
        let items = self.numbers(states.into_iter().skip(page.offset).collect())?;
        Ok(Listed { items, has_more, count })
    }

    pub(super) fn steps(
        &mut self,
        state: usize,
        fixed: &[(String, String)],
        page: PageRange,
    ) -> Answer<WarmSteps> {
        let (system, state) = (Arc::clone(&self.system), self.state(state)?.clone());
        let all = joint_choices(&system, &state);
        let names = |(agent, actions): (AgentId, &Vec<ActionId>)| {
            let named = |action: &ActionId| system.agent(agent).actions[action.index()].name.clone();
            (system.agent(agent).name.clone(), actions.iter().map(named).collect::<Vec<String>>())
        };
        let agents: Vec<_> = system.agent_ids().zip(&all.lists).map(names).collect();
        let is_dead_end = all.is_empty();
        let chosen = restricted(&system, all, fixed)
            .ok_or(Unanswered::Impossible("the model has no such agent or action"))?;
        let moves = Moves::new(&system);
        // If nearly all joint actions overflow, only some of them are tried.
        let joints = chosen.iter().take(page.end().max(MAX_LISTED_INDEX));
        let mut taken = joints.flat_map(|joint| {
            let successors: Vec<State> = moves.successors(&state, &joint).iter().take(page.end()).collect();
            successors.into_iter().map(move |next| (joint.clone(), next))
        });
        let listed: Vec<(JointAction, State)> = taken.by_ref().take(page.end()).skip(page.offset).collect();
        let has_more = taken.next().is_some();
        let mut items = Vec::new();
        for (joint, next) in listed {
            let to = self.number(next)?;
            items.push(step(&system, &joint, to));
        }
        let mut end = Vec::new();
        if items.is_empty() && page.offset == 0 && fixed.is_empty() {
            end.push(if is_dead_end {
                "no joint action is possible in this state".to_string()
            } else {
                "every joint action would give a variable a value outside its range".to_string()
            });
        }
        let count = Some(chosen.count().to_string());
        Ok(WarmSteps { steps: Listed { items, has_more, count }, agents, end, cut: None })
    }

    pub(super) fn random_step(
        &mut self,
        state: usize,
        roll: &mut dyn FnMut(usize) -> usize,
    ) -> Answer<Option<WarmStep>> {
        let (system, state) = (Arc::clone(&self.system), self.state(state)?.clone());
        let all = joint_choices(&system, &state);
        if all.is_empty() {
            return Ok(None);
        }
        let moves = Moves::new(&system);
        let mut found = None;
        for _ in 0..MAX_RANDOM_TRIES {
            let joint: JointAction = all.lists.iter().map(|list| list[roll(list.len())]).collect();
            if let Some(next) = moves.successors(&state, &joint).pick(&mut *roll) {
                found = Some((joint, next));
                break;
            }
        }
        // If nearly all joint actions overflow, the first one that does not is taken.
        let found = found.or_else(|| {
            all.iter().take(MAX_TRIED_JOINT_ACTIONS).find_map(|joint| {
                let next = moves.successors(&state, &joint).pick(&mut *roll)?;
                Some((joint, next))
            })
        });
        let Some((joint, next)) = found else { return Ok(None) };
        let to = self.number(next)?;
        Ok(Some(step(&system, &joint, to)))
    }

    /// The encoding of the system that has a formula, and the formula.
    fn encoding(&mut self, asked: &Asked, limits: &Limits) -> Answer<(&mut KeptEncoding, FormulaId)> {
        let text = match asked {
            Asked::Property(index) => {
                let property = self.system.properties.get(*index);
                let formula =
                    property.ok_or(Unanswered::Impossible("there is no property with this number"))?;
                return Ok((&mut self.plain, formula.formula));
            }
            Asked::Formula(text) => text.trim().to_string(),
        };
        let mut kept = self.with_formulas.take();
        let is_kept = kept.as_ref().is_some_and(|(texts, _)| texts.contains(&text));
        if !is_kept {
            let mut texts = kept.as_ref().map(|(texts, _)| texts.clone()).unwrap_or_default();
            texts.push(text.clone());
            if texts.len() > MAX_KEPT_FORMULAS {
                texts.remove(0);
            }
            match self.loaded_with(&texts, limits) {
                // The formulas that were asked for before stay encoded.
                Err(unanswered) => {
                    self.with_formulas = kept;
                    return Err(unanswered);
                }
                Ok(encoding) => kept = Some((texts, encoding)),
            }
        }
        let (texts, encoding) = self.with_formulas.insert(kept.ok_or(Unanswered::Stopped(Why::NoModel))?);
        let position = texts.iter().position(|kept| *kept == text).unwrap_or_default();
        let properties = &encoding.system.properties;
        let first = properties.len().saturating_sub(texts.len());
        let formula = properties.get(first + position).ok_or(Unanswered::Stopped(Why::NoModel))?.formula;
        Ok((encoding, formula))
    }

    /// The system with formulas as its last properties.
    fn loaded_with(&self, texts: &[String], limits: &Limits) -> Answer<KeptEncoding> {
        let request = Request {
            properties: texts.to_vec(),
            only: Vec::new(),
            skip: Vec::new(),
            ..self.loaded.request.clone()
        };
        // Only the last formula can have errors, and its messages should not mention the others.
        let alone = Request { properties: texts.last().cloned().into_iter().collect(), ..request.clone() };
        let asked = self.loaded.again_within(&alone, limits);
        if let Some(why) = asked.stopped {
            return Err(why.into());
        }
        if asked.system().is_none() {
            let Loaded { sources, diagnostics, .. } = asked;
            return Err(Box::new(Refused { sources, diagnostics }).into());
        }
        let asked = if texts.len() == 1 { asked } else { self.loaded.again_within(&request, limits) };
        let system = asked.system().ok_or(asked.stopped.unwrap_or(Why::NoModel))?;
        Ok(KeptEncoding::new(system, &asked.engine_options))
    }

    pub(super) fn truth(
        &mut self,
        asked: &Asked,
        state: usize,
        max_parts: usize,
        limits: &Limits,
    ) -> Answer<Vec<PartTruth>> {
        let state = self.state(state)?.clone();
        let (encoding, formula) = self.encoding(asked, limits)?;
        let system = Arc::clone(&encoding.system);
        let (parts, _) = subformulas(&system.formulas, formula, max_parts);
        let formulas: Vec<FormulaId> = parts.iter().map(|part| part.formula).collect();
        let truths = encoding.ask(limits, move |system, oracle, budget| {
            let in_domain = is_in_domain(oracle, &state, budget)?;
            let truth = |formula: FormulaId| match in_domain {
                true => truth_here(system, oracle, formula, &state, budget),
                false => Err(Why::NoFairPath.into()),
            };
            Ok(formulas.into_iter().map(truth).collect::<Vec<Result<bool, Stop>>>())
        })?;
        let written = system.written_parts(formula);
        let part = |(part, truth): (masque_verdict::Subformula, Result<bool, Stop>)| PartTruth {
            text: system.part_text(&written, part.formula),
            depth: part.depth,
            is_repeated: part.is_repeated,
            holds: truth.as_ref().ok().copied(),
            why: truth.err().map(|stop| stop.why.word().to_string()),
        };
        Ok(parts.into_iter().zip(truths).map(part).collect())
    }

    pub(super) fn truth_at_each(
        &mut self,
        asked: &Asked,
        states: &[usize],
        limits: &Limits,
    ) -> Answer<Vec<Option<bool>>> {
        let states: Vec<State> = states.iter().map(|&n| self.state(n).cloned()).collect::<Answer<_>>()?;
        let (encoding, formula) = self.encoding(asked, limits)?;
        Ok(encoding.ask(limits, move |system, oracle, budget| {
            let truth = |state: &State| {
                if !is_in_domain(oracle, state, budget)? {
                    return Ok(None);
                }
                match truth_here(system, oracle, formula, state, budget) {
                    Ok(holds) => Ok(Some(holds)),
                    Err(stop) if stop.why == Why::Unsupported => Ok(None),
                    Err(stop) => Err(stop),
                }
            };
            states.iter().map(truth).collect()
        })?)
    }

    pub(super) fn states_where(
        &mut self,
        asked: Option<&Asked>,
        page: PageRange,
        limits: &Limits,
    ) -> Answer<Listed<usize>> {
        let (encoding, formula) = match asked {
            None => (&mut self.plain, None),
            Some(asked) => {
                let (encoding, formula) = self.encoding(asked, limits)?;
                (encoding, Some(formula))
            }
        };
        let end = page.end();
        let (states, count) = encoding.ask(limits, move |system, oracle, budget| {
            if formula.is_some_and(|formula| outside_logic(&system.formulas, formula).is_some()) {
                return Err(Why::Unsupported.into());
            }
            let literal = |formula| RegionPart::Literal(Literal { formula, holds: true });
            let region: Vec<RegionPart> = formula.map(literal).into_iter().collect();
            oracle.first(&region, end, budget)
        })?;
        self.page(states, count, page)
    }

    /// A page of states, of which there are `count` in all.
    fn page(
        &mut self,
        states: Vec<State>,
        count: masque_model::Count,
        page: PageRange,
    ) -> Answer<Listed<usize>> {
        let has_more = count != states.len().into();
        let items = self.numbers(states.into_iter().skip(page.offset).collect())?;
        Ok(Listed { items, has_more, count: Some(count.to_string()) })
    }

    pub(super) fn alike(
        &mut self,
        agents: &[String],
        state: usize,
        page: PageRange,
        limits: &Limits,
    ) -> Answer<Listed<usize>> {
        let id = |name: &String| self.system.agent_ids().find(|id| self.system.agent(*id).name == *name);
        let agents: Option<Vec<AgentId>> = agents.iter().map(id).collect();
        let agents = agents.ok_or(Unanswered::Impossible("the model has no such agent"))?;
        let region = [RegionPart::Alike(agents, self.state(state)?.clone())];
        let end = page.end();
        let ask =
            move |_: &System, oracle: &mut dyn Oracle, budget: &Budget| oracle.first(&region, end, budget);
        let (states, count) = self.plain.ask(limits, ask)?;
        self.page(states, count, page)
    }

    pub(super) fn path_to(
        &mut self,
        asked: &Asked,
        from: Option<usize>,
        limits: &Limits,
    ) -> Answer<Option<WarmWalk>> {
        let from = match from {
            None => vec![RegionPart::Initial],
            Some(state) => vec![RegionPart::Is(self.state(state)?.clone())],
        };
        let (encoding, formula) = self.encoding(asked, limits)?;
        let found = encoding.ask(limits, move |system, oracle, budget| {
            if outside_logic(&system.formulas, formula).is_some() {
                return Err(Why::Unsupported.into());
            }
            let to = vec![RegionPart::Literal(Literal { formula, holds: true })];
            let (by, length) = (StepKind::Steps, PathLength::Any);
            let Some(states) = oracle.path(&Route { from, through: Vec::new(), to, by, length }, budget)?
            else {
                return Ok(None);
            };
            let moves = Moves::new(system);
            let action = |pair: &[State]| moves.least_joint_action(&pair[0], &pair[1], budget);
            let actions = states.windows(2).map(action).collect::<Result<Vec<_>, Stop>>()?;
            Ok(Some((states, actions)))
        })?;
        let Some((states, actions)) = found else { return Ok(None) };
        let system = Arc::clone(&self.system);
        let numbers = self.numbers(states)?;
        let step = |(action, &to): (Option<JointAction>, &usize)| match action {
            Some(joint) => step(&system, &joint, to),
            None => WarmStep { action: TraceAction::Stutter, text: "no action".to_string(), event: None, to },
        };
        let steps = actions.into_iter().zip(&numbers[1..]).map(step).collect();
        Ok(Some(WarmWalk { start: numbers[0], steps }))
    }

    pub(super) fn explain(
        &mut self,
        asked: &Asked,
        walk: &WarmWalk,
        limits: &Limits,
    ) -> Answer<(Arc<System>, Truth)> {
        let path = self.path(walk)?;
        let (encoding, formula) = self.encoding(asked, limits)?;
        let system = Arc::clone(&encoding.system);
        let truth = encoding.ask(limits, move |system, oracle, budget| {
            let state = path.states.last().ok_or(Stop::from(Why::Unsupported))?;
            if !is_in_domain(oracle, state, budget)? {
                return Err(Why::NoFairPath.into());
            }
            let holds = truth_here(system, oracle, formula, state, budget)?;
            // If the budget ends here, the evidence is missing, but the truth value is known.
            let evidence =
                explain_at(oracle, system, Literal { formula, holds }, &path, budget).ok().flatten();
            let outcome = Outcome { verdict: Verdict::from(holds), evidence };
            let property = Property::new("asked", formula, At::Reachable, Default::default());
            let ReplayedOutcome { outcome, withheld } = replayed(system, &property, outcome);
            Ok(Truth { holds, evidence: outcome.evidence, withheld })
        })?;
        Ok((system, truth))
    }

    /// A walk as a path. A step of a dead end to itself has no joint action, so it ends the path.
    fn path(&self, walk: &WarmWalk) -> Answer<Path> {
        let mut path = Path { states: vec![self.state(walk.start)?.clone()], actions: Vec::new() };
        for step in &walk.steps {
            let Some(joint) = joint_action(&self.system, &step.action) else { break };
            path.actions.push(joint);
            path.states.push(self.state(step.to)?.clone());
        }
        Ok(path)
    }

    pub(super) fn graph(&mut self, max_states: usize, limits: &Limits) -> Answer<WarmGraph> {
        let graph = crate::graph::graph(&self.system, max_states, &self.loaded.engine_options, limits)?;
        let system = Arc::clone(&self.system);
        let states = self.numbers(graph.states)?;
        let label = |joint: &JointAction| joint_text(&system, joint);
        let edges = graph.edges.into_iter();
        let edges =
            edges.map(|((from, to), joints)| (from, to, joints.iter().map(label).collect())).collect();
        let cut = graph.cut.map(cut_text);
        Ok(WarmGraph { states, n_initial: graph.n_initial, expanded: graph.expanded, edges, cut })
    }

    pub(super) fn follow(&mut self, run: &TraceRun) -> Answer<Option<(WarmWalk, Option<&'static str>)>> {
        let system = Arc::clone(&self.system);
        let Some(first) = run.states.first() else { return Ok(None) };
        let wanted = wanted_values(&system, first);
        let Some(mut state) = first_initial_states_with(&system, &wanted, 1).0.pop() else { return Ok(None) };
        let mut walk = WarmWalk { start: self.number(state.clone())?, steps: Vec::new() };
        let moves = Moves::new(&system);
        for (given, next) in run.steps.iter().zip(run.states.iter().skip(1)) {
            let fixed: Vec<(String, String)> = match &given.action {
                TraceAction::Joint(joint) => joint.clone(),
                _ => Vec::new(),
            };
            let Some(chosen) = restricted(&system, joint_choices(&system, &state), &fixed) else {
                return Ok(Some((walk, Some("the model has no such agent or action"))));
            };
            let wanted = wanted_values(&system, next);
            let found = chosen.iter().take(MAX_TRIED_JOINT_ACTIONS).find_map(|joint| {
                let mut successors = moves.successors(&state, &joint);
                successors.restrict(&wanted);
                let next = successors.iter().next()?;
                Some((joint, next))
            });
            let Some((joint, next)) = found else {
                return Ok(Some((walk, Some("no step leads to its next state"))));
            };
            state = next;
            let to = self.number(state.clone())?;
            walk.steps.push(step(&system, &joint, to));
        }
        Ok(Some((walk, None)))
    }
}

/// Whether a state is one that formulas have a meaning at: reachable, and on a fair path.
fn is_in_domain(oracle: &mut dyn Oracle, state: &State, budget: &Budget) -> Result<bool, Stop> {
    Ok(oracle.least(&[RegionPart::Is(state.clone())], budget)?.is_some())
}

/// The truth of a formula at a state. A part with a variable that a fixpoint outside binds has no truth of its own.
fn truth_here(
    system: &System,
    oracle: &mut dyn Oracle,
    formula: FormulaId,
    state: &State,
    budget: &Budget,
) -> Result<bool, Stop> {
    if outside_logic(&system.formulas, formula).is_some() {
        return Err(Why::Unsupported.into());
    }
    oracle.is_true(formula, state, budget)
}

/// The actions of the agents that have actions.
fn named_joint(system: &System, joint: &JointAction) -> Vec<(String, String)> {
    let named = (system.agents.iter().zip(joint))
        .map(|(agent, action)| (agent.name.clone(), agent.actions[action.index()].name.clone()));
    named.filter(|(_, action)| !action.is_empty()).collect()
}

/// The joint action as text: the action of each agent.
fn joint_text(system: &System, joint: &JointAction) -> String {
    let named = named_joint(system, joint).into_iter();
    named.map(|(agent, action)| format!("{agent}: {action}")).collect::<Vec<_>>().join(", ")
}

fn step(system: &System, joint: &JointAction, to: usize) -> WarmStep {
    let text = joint_text(system, joint);
    WarmStep { action: TraceAction::Joint(named_joint(system, joint)), text, event: None, to }
}

/// The joint action in which agents perform these actions; agents that are not named have no action to choose.
fn joint_action(system: &System, action: &TraceAction) -> Option<JointAction> {
    let TraceAction::Joint(named) = action else { return None };
    let of_agent = |agent: &masque_model::Agent| {
        let action = named.iter().find(|(name, _)| *name == agent.name).map_or("", |(_, action)| action);
        agent.actions.iter().position(|known| known.name == action).map(|index| ActionId(index as u32))
    };
    system.agents.iter().map(of_agent).collect()
}

/// The choices in which agents perform given actions; none if the model does not have them.
fn restricted(
    system: &System,
    mut all: Product<ActionId>,
    fixed: &[(String, String)],
) -> Option<Product<ActionId>> {
    for (agent, action) in fixed {
        let agent = system.agent_ids().find(|id| system.agent(*id).name == *agent)?;
        let index = system.agent(agent).actions.iter().position(|known| known.name == *action)?;
        all.lists[agent.index()].retain(|enabled| enabled.index() == index);
    }
    Some(all)
}

/// The values that a state of a run gives to the variables. A value that is not in the range of its variable, and a
/// variable that the model does not have, are ignored.
fn wanted_values(system: &System, given: &TraceState) -> Vec<Option<i64>> {
    let texts: HashMap<&str, String> =
        given.values.iter().map(|(name, value)| (name.as_str(), value.text())).collect();
    let wanted = |id: masque_model::VarId| {
        let text = texts.get(system.full_name(id).as_str())?;
        let domain = &system.variable(id).domain;
        let n_values = u64::try_from(domain.size()).unwrap_or(u64::MAX);
        match text.parse::<i64>() {
            Ok(value) if domain.contains(value) && system.value_text(id, value) == *text => Some(value),
            // Words are the values of enumerations and booleans, which are few.
            _ => (0..n_values.min(MAX_NAMED_VALUES))
                .map(|code| domain.value(code))
                .find(|&value| system.value_text(id, value) == *text),
        }
    };
    system.variable_ids().map(wanted).collect()
}

/// Maximum number of values of a variable that are compared with a word.
const MAX_NAMED_VALUES: u64 = 1 << 16;
