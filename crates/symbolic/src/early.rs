//! Verdicts during exploration.
//!
//! After each image one intersection per property decides an `AG φ` or `EF φ` whose `φ` is a condition on
//! states. Other formulas are evaluated after 1, 2, 4, .. images, with a small fraction of the steps that
//! the exploration has taken.

use masque_evidence::explain_found;
use masque_model::{AgentId, At, Deadlock, ExprId, Formula, FormulaId, GroupId, System};
use masque_verdict::{
    BoundsCache, Budget, DecidingState, Early, Evidence, ExploredStates, Outcome, PartialEvaluator, Show,
    Stop, Verdict, Why, deciding_states,
};
use rustc_hash::FxHashMap;

use crate::encode::Encoder;
use crate::engine::NAME;
use crate::fixpoint::{globally, iterate, reach};
use crate::knowledge::Projections;
use crate::reach::{Reached, path_to};
use crate::relation::Relation;
use crate::space::{Limited, Set};
use crate::world::has_one;

/// Binary logarithm of the exploration's diagram steps that allow an evaluation one budget step.
const LOG_STEPS_PER_BUDGET_STEP: u32 = 21;
/// The same in quick mode, which always allows one budget step more.
const QUICK_LOG_STEPS_PER_BUDGET_STEP: u32 = 18;

/// Maximum diagram steps for encoding the conditions of one property.
const MAX_CONDITION_STEPS: u64 = 1 << 17;

/// Receiver of early verdicts, with the options of the engine.
pub(crate) struct EarlyReceiver<'w, 'e> {
    pub(crate) evidence: Show,
    pub(crate) early: &'w mut Early<'e>,
    pub(crate) budget: &'w Budget,
}

/// Evaluation of properties during one exploration.
pub(crate) struct EarlyEvaluation<'l, 'w, 'e, 's> {
    receiver: &'l mut EarlyReceiver<'w, 'e>,
    system: &'s System,
    relation: &'l Relation,
    initial: &'l Set,
    has_one_initial: bool,
    /// Sets of states that decide a property as soon as one of them is reached.
    deciding: Vec<DecidingStates>,
    /// Properties that are evaluated after 1, 2, 4, .. images.
    others: Vec<usize>,
    /// Sets of the conditions in these properties.
    conditions: FxHashMap<ExprId, Set>,
    n_steps: u32,
}

/// Set of states that decide a property.
#[derive(Clone)]
struct DecidingStates {
    /// Index of the property.
    index: usize,
    states: Set,
    verdict: bool,
}

impl<'w, 'e> EarlyReceiver<'w, 'e> {
    /// Prepares the evaluation and examines the initial states.
    pub(crate) fn begin<'l, 's>(
        &'l mut self,
        encoder: &mut Encoder<'s>,
        relation: &'l Relation,
        initial: &'l Set,
    ) -> Limited<EarlyEvaluation<'l, 'w, 'e, 's>> {
        let system = encoder.system;
        let has_one_initial = self.early.is_listening() && has_one(encoder, initial);
        let mut evaluation = EarlyEvaluation {
            receiver: self,
            system,
            relation,
            initial,
            has_one_initial,
            deciding: Vec::new(),
            others: Vec::new(),
            conditions: FxHashMap::default(),
            n_steps: 0,
        };
        for index in evaluation.receiver.early.open() {
            // Conditions whose diagrams are too large are not searched for.
            encoder.space.set_budget(&evaluation.receiver.budget.branch().with_work(MAX_CONDITION_STEPS));
            if evaluation.prepare(encoder, index).is_err() {
                evaluation.deciding.retain(|deciding| deciding.index != index);
            }
            encoder.space.set_budget(evaluation.receiver.budget);
        }
        let size = 0;
        evaluation.step(encoder, &Reached { states: initial, new: initial, is_layer: true, size })?;
        evaluation.n_steps = 0;
        Ok(evaluation)
    }
}

impl<'s> EarlyEvaluation<'_, '_, '_, 's> {
    /// Encodes the conditions of a property.
    fn prepare(&mut self, encoder: &mut Encoder<'s>, index: usize) -> Limited<()> {
        let formulas = &self.system.formulas;
        let formula = self.system.properties[index].formula;
        let mut is_decided_by_states = self.system.fairness.is_empty();
        for DecidingState { formula, holds, verdict } in deciding_states(formulas, formula) {
            let at = self.system.properties[index].at;
            let decides =
                !verdict || (self.has_one_initial && at == At::Initial && is_single(self.system, index));
            if self.system.fairness.is_empty() && formulas.is_local(formula) && decides {
                let set = condition(encoder, formula)?;
                let states = if holds { set } else { encoder.space.not(&set)? };
                self.deciding.push(DecidingStates { index, states, verdict });
            } else {
                is_decided_by_states = false;
            }
        }
        if (is_decided_by_states && is_single(self.system, index)) || !is_supported(self.system, formula) {
            return Ok(());
        }
        for condition in conditions(self.system, formula) {
            let set = encoder.condition(condition)?;
            self.conditions.insert(condition, set);
        }
        self.others.push(index);
        Ok(())
    }

    /// Evaluates properties after an image.
    pub(crate) fn step(&mut self, encoder: &Encoder<'s>, reached: &Reached<'_>) -> Limited<()> {
        self.n_steps += 1;
        let mut found = Vec::new();
        for deciding in &self.deciding {
            if encoder.space.intersects(reached.new, &deciding.states)? {
                found.push(deciding.clone());
            }
        }
        for DecidingStates { index, states, verdict } in found {
            // One image may decide a property twice.
            if self.deciding.iter().any(|deciding| deciding.index == index) {
                self.report(encoder, index, verdict, Some(&states))?;
            }
        }
        let allowance = if self.receiver.early.is_quick() {
            (encoder.space.steps() >> QUICK_LOG_STEPS_PER_BUDGET_STEP) + 1
        } else {
            encoder.space.steps() >> LOG_STEPS_PER_BUDGET_STEP
        };
        if self.n_steps.is_power_of_two() && allowance > 0 && !self.others.is_empty() {
            encoder.space.set_budget(&self.receiver.budget.branch().with_steps(allowance));
            let read = self.evaluate_others(encoder, reached);
            encoder.space.set_budget(self.receiver.budget);
            for (index, verdict) in read {
                self.report(encoder, index, verdict, None)?;
            }
        }
        self.receiver.early.enough()
    }

    /// Evaluates the other properties until the budget ends.
    fn evaluate_others(&mut self, encoder: &Encoder<'s>, reached: &Reached<'_>) -> Vec<(usize, bool)> {
        let mut found = Vec::new();
        let Ok(explored) = ReachedPart::new(self, encoder, reached) else { return found };
        let mut look = PartialEvaluator { system: self.system, explored };
        for &index in &self.others {
            match look.verdict(&self.system.properties[index]) {
                Ok(Some(verdict)) => found.push((index, verdict)),
                Ok(None) => {}
                Err(_) => break,
            }
        }
        found
    }

    /// Reports a verdict, with a path to a deciding state if one is known.
    fn report(
        &mut self,
        encoder: &Encoder<'s>,
        index: usize,
        holds: bool,
        states: Option<&Set>,
    ) -> Limited<()> {
        self.others.retain(|&other| other != index);
        self.deciding.retain(|deciding| deciding.index != index);
        let mut outcome = Outcome::from(Verdict::from(holds));
        if let Some(states) = states
            && self.receiver.evidence.wanted(outcome.verdict).is_some()
        {
            outcome.evidence = self.evidence(encoder, index, holds, states)?;
        }
        self.receiver.early.decided(index, NAME, outcome);
        Ok(())
    }

    /// Returns evidence: a path to one of the deciding states.
    fn evidence(
        &self,
        encoder: &Encoder<'s>,
        index: usize,
        holds: bool,
        states: &Set,
    ) -> Limited<Option<Evidence>> {
        let budget = self.receiver.budget;
        let path = path_to(encoder, self.relation, self.initial, states, budget)?;
        let Some(path) = path else { return Ok(None) };
        explain_found(self.system, &self.system.properties[index], holds, path.states, budget)
    }
}

/// Returns whether a property is not a conjunction, so that a single state can confirm it.
fn is_single(system: &System, index: usize) -> bool {
    !matches!(system.formulas.get(system.properties[index].formula), Formula::And(_))
}

/// Returns whether a formula can be evaluated on a part of the states: it is in CTL with knowledge and
/// norms.
fn is_supported(system: &System, formula: FormulaId) -> bool {
    use masque_model::Paths;
    let is_beyond = matches!(
        system.formulas.get(formula),
        Formula::Exists(Paths::Infinite, _)
            | Formula::Forall(Paths::Infinite, _)
            | Formula::Enforces(..)
            | Formula::ExistsStep(..)
            | Formula::ForallStep(..)
            | Formula::Least(..)
            | Formula::Greatest(..)
    );
    !is_beyond && system.formulas.operands(formula).into_iter().all(|operand| is_supported(system, operand))
}

/// Returns the conditions in a formula and in the fairness constraints.
fn conditions(system: &System, formula: FormulaId) -> Vec<ExprId> {
    let mut found: Vec<ExprId> = system.agents.iter().filter_map(|agent| agent.red).collect();
    let mut open: Vec<FormulaId> = system.fairness.iter().copied().chain([formula]).collect();
    while let Some(id) = open.pop() {
        match system.formulas.get(id) {
            Formula::Proposition(p) => found.push(system.propositions[p.index()].condition),
            Formula::Condition(condition) => found.push(condition),
            _ => system.formulas.each_operand(id, |operand| open.push(operand)),
        }
    }
    found
}

/// Computes where a formula without temporal and epistemic operators is true.
fn condition(encoder: &mut Encoder<'_>, formula: FormulaId) -> Limited<Set> {
    let system = encoder.system;
    let operands = |encoder: &mut Encoder<'_>| {
        let operands = system.formulas.operands(formula);
        operands.into_iter().map(|operand| condition(encoder, operand)).collect::<Limited<Vec<Set>>>()
    };
    let red = |encoder: &mut Encoder<'_>, agent: AgentId| match system.agent(agent).red {
        None => Ok(encoder.space.none()),
        Some(red) => encoder.condition(red),
    };
    match system.formulas.get(formula) {
        Formula::Bool(value) => Ok(encoder.space.constant(value)),
        Formula::Proposition(p) => encoder.condition(system.propositions[p.index()].condition),
        Formula::Condition(condition) => encoder.condition(condition),
        Formula::Red(agent) => red(encoder, agent),
        Formula::Green(agent) => {
            let red = red(encoder, agent)?;
            encoder.space.not(&red)
        }
        Formula::Not(f) => {
            let phi = condition(encoder, f)?;
            encoder.space.not(&phi)
        }
        Formula::And(_) => {
            let sets = operands(encoder)?;
            encoder.balanced(sets, true)
        }
        Formula::Or(_) => {
            let sets = operands(encoder)?;
            encoder.balanced(sets, false)
        }
        Formula::Implies(f, g) => {
            let (phi, psi) = (condition(encoder, f)?, condition(encoder, g)?);
            let not_phi = encoder.space.not(&phi)?;
            encoder.space.or(&not_phi, &psi)
        }
        Formula::Iff(f, g) => {
            let (phi, psi) = (condition(encoder, f)?, condition(encoder, g)?);
            encoder.space.iff(&phi, &psi)
        }
        _ => Err(Why::Unsupported.into()),
    }
}

/// Part of the reachable states. A set stands for its intersection with this part.
struct ReachedPart<'p, 's> {
    system: &'s System,
    encoder: &'p Encoder<'s>,
    relation: &'p Relation,
    conditions: &'p FxHashMap<ExprId, Set>,
    initial: &'p Set,
    has_one_initial: bool,
    seen: &'p Set,
    /// States whose transitions are used.
    expanded: Set,
    open: Set,
    /// States with a successor; needed only if deadlock states loop.
    live: Option<Set>,
    projections: Projections,
    noted: BoundsCache<Set>,
}

impl<'p, 's> ReachedPart<'p, 's> {
    fn new(
        evaluation: &'p EarlyEvaluation<'_, '_, '_, 's>,
        encoder: &'p Encoder<'s>,
        reached: &Reached<'p>,
    ) -> Limited<ReachedPart<'p, 's>> {
        let space = &encoder.space;
        let (expanded, open) = if reached.is_layer {
            (space.minus(reached.states, reached.new)?, reached.new.clone())
        } else {
            // Chaining events does not show which states are expanded.
            (reached.states.clone(), reached.states.clone())
        };
        let live = match evaluation.system.meaning.deadlock {
            Deadlock::Stutter => Some(evaluation.relation.live(encoder)?),
            Deadlock::Finite | Deadlock::Error => None,
        };
        Ok(ReachedPart {
            system: evaluation.system,
            encoder,
            relation: evaluation.relation,
            conditions: &evaluation.conditions,
            initial: evaluation.initial,
            has_one_initial: evaluation.has_one_initial,
            seen: reached.states,
            expanded,
            open,
            live,
            projections: Projections::default(),
            noted: BoundsCache::default(),
        })
    }

    /// Returns the expanded states with a successor in a set; deadlock states may loop.
    fn before(&self, set: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let targets = space.and(set, self.seen)?;
        let mut before = self.relation.pre(self.encoder, &targets)?;
        if let Some(live) = &self.live {
            before = space.or(&before, &space.minus(&targets, live)?)?;
        }
        space.and(&before, &self.expanded)
    }
}

impl ExploredStates for ReachedPart<'_, '_> {
    type Set = Set;

    fn bounds_cache(&mut self) -> &mut BoundsCache<Set> {
        &mut self.noted
    }

    fn constant(&mut self, value: bool) -> Set {
        self.encoder.space.constant(value)
    }

    fn not(&mut self, set: &Set) -> Result<Set, Stop> {
        self.encoder.space.not(set)
    }

    fn and(&mut self, a: &Set, b: &Set) -> Result<Set, Stop> {
        self.encoder.space.and(a, b)
    }

    fn or(&mut self, a: &Set, b: &Set) -> Result<Set, Stop> {
        self.encoder.space.or(a, b)
    }

    fn is_empty(&mut self, set: &Set) -> Result<bool, Stop> {
        Ok(!self.encoder.space.intersects(set, self.seen)?)
    }

    fn initial(&mut self) -> Set {
        self.initial.clone()
    }

    fn has_one_initial(&mut self) -> Result<bool, Stop> {
        Ok(self.has_one_initial)
    }

    fn open(&mut self) -> Result<Set, Stop> {
        Ok(self.open.clone())
    }

    fn where_true(&mut self, condition: ExprId) -> Result<Set, Stop> {
        self.conditions.get(&condition).cloned().ok_or(Stop::from(Why::Unsupported))
    }

    fn green(&mut self, agent: AgentId) -> Result<Set, Stop> {
        match self.system.agent(agent).red {
            None => Ok(self.encoder.space.all()),
            Some(red) => {
                let red = self.where_true(red)?;
                self.encoder.space.not(&red)
            }
        }
    }

    fn exists_next(&mut self, phi: &Set) -> Result<Set, Stop> {
        self.before(phi)
    }

    fn exists_until(&mut self, phi: &Set, psi: &Set) -> Result<Set, Stop> {
        let space = &self.encoder.space;
        let (inside, goal) = (space.and(phi, self.seen)?, space.and(psi, self.seen)?);
        reach(space, &goal, &inside, |z| self.before(z))
    }

    fn exists_globally(&mut self, phi: &Set, constraints: &[Set]) -> Result<Set, Stop> {
        let space = &self.encoder.space;
        let phi = space.and(phi, self.seen)?;
        let before = |z: &Set| self.before(z);
        globally(space, &phi, constraints, before, |_, goal| reach(space, goal, &phi, before))
    }

    fn confused(&mut self, agents: &[AgentId], set: &Set) -> Result<Set, Stop> {
        let hidden = self.projections.hidden_cube(self.encoder, agents)?;
        let set = self.encoder.space.and(set, self.seen)?;
        self.encoder.space.exists(&set, &hidden)
    }

    fn confused_by_chains(&mut self, group: GroupId, set: &Set, inside: &Set) -> Result<Set, Stop> {
        let inside = self.encoder.space.and(inside, self.seen)?;
        let reached = self.encoder.space.and(set, &inside)?;
        iterate(reached, |reached| {
            let mut reached = reached.clone();
            for &agent in &self.system.groups[group.index()].agents {
                let confused = self.confused(&[agent], &reached)?;
                let confused = self.encoder.space.and(&confused, &inside)?;
                reached = self.encoder.space.or(&reached, &confused)?;
            }
            Ok(reached)
        })
    }
}
