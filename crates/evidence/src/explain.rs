//! Builds evidence by walking the formula from the top, claim by claim. An [`Oracle`] finds the states and
//! paths. If a claim has several possible reasons, the choice is determined:
//!
//! | claim | chosen reason |
//! |---|---|
//! | decided by any one of several operands | a local one, otherwise the one of which most can be shown, otherwise the first |
//! | a group can enforce a goal | the strategy that `strategies` finds, which tries everything in order |
//! | a group cannot enforce a goal | the responses of the others that `responses` finds, likewise |
//! | some path has a form | the least shortest finite path; if there is none, a loop as in `lasso` |
//! | not known | the state of the claim if the operand is false there, otherwise the possible state nearest to an initial state, along the least path; for the first agent possible |
//! | not common knowledge | the least shortest chain; each link with the first agent that cannot distinguish the states |
//!
//! The initial state is the one from which the path that follows is shortest, otherwise the least.
//!
//! To keep evidence readable and cheap, at most [`MAX_REASONS`] claims that are not local get a reason.
//! Claims nearer to the property come first, and claims along a path come after those that its end needs.

use std::collections::{HashMap, VecDeque};

use masque_model::semantics::is_green;
use masque_model::{AgentId, Deadlock, Formula, FormulaId, GroupId, Property, System};
use masque_verdict::claims::{
    CoalitionGoal, KnowledgeScope, Needs, PathGoal, local_truth, looks_same, path_of, why_not_shown,
};
use masque_verdict::{
    Because, Budget, Chain, Evidence, EvidencePath, Link, Literal, Moves, NotShownReason, Oracle, Path,
    PathLength, PathReason, Possibility, Reason, ReasonId, RegionPart, Route, State, StateId, StepKind, Stop,
};

use crate::lasso::{self, Lasso};
use crate::rank::{Rank, Ranks};

/// Maximum number of claims that get a reason, not counting local claims.
pub const MAX_REASONS: usize = 200;

/// Builds the evidence for a property that holds (`holds`) or fails. Returns `None` for one that holds if
/// no part of it can be shown.
///
/// A property that fails is evaluated at a state where it is false: an initial one, or a reachable one if
/// the property must be true there and all initial states satisfy it. One that holds is evaluated at an
/// initial state.
pub fn explain(
    oracle: &mut dyn Oracle,
    system: &System,
    property: &Property,
    holds: bool,
    budget: &Budget,
) -> Result<Option<Evidence>, Stop> {
    let ranks = Ranks::new(system, property.formula);
    let literal = Literal { formula: property.formula, holds };
    if holds && matches!(ranks.of(literal), Rank::Here | Rank::Nothing) {
        return Ok(None);
    }
    let mut explainer = Explainer::new(oracle, system, ranks, budget);
    let Some(start) = explainer.start(literal, property.at)? else { return Ok(None) };
    let start = explainer.finite_run(start)?;
    let Some(state) = start.last() else { return Ok(None) };
    explainer.claim(literal, state);
    explainer.close()?;
    let Explainer { states, reasons, .. } = explainer;
    let shows = |reason: &Reason| {
        !matches!(reason.because, Because::Here | Because::Operands(_) | Because::NotShown(_))
    };
    Ok((!holds || reasons.iter().any(shows)).then_some(Evidence { states, start, reasons }))
}

/// Builds the evidence that `literal` is true at the end of a path from an initial state. Replay accepts it
/// for a property about all reachable states.
pub fn explain_at(
    oracle: &mut dyn Oracle,
    system: &System,
    literal: Literal,
    path: &Path,
    budget: &Budget,
) -> Result<Option<Evidence>, Stop> {
    let ranks = Ranks::new(system, literal.formula);
    let mut explainer = Explainer::new(oracle, system, ranks, budget);
    let states: Vec<StateId> = path.states.iter().map(|state| explainer.state(state.clone())).collect();
    let Some(&last) = states.last() else { return Ok(None) };
    explainer.claim(literal, last);
    explainer.close()?;
    let Explainer { states: all, reasons, .. } = explainer;
    let actions = path.actions.iter().cloned().map(Some).collect();
    Ok(Some(Evidence { states: all, start: EvidencePath { states, actions, back_to: None }, reasons }))
}

/// Evidence under construction.
pub(crate) struct Explainer<'a> {
    pub(crate) oracle: &'a mut dyn Oracle,
    pub(crate) system: &'a System,
    pub(crate) budget: &'a Budget,
    pub(crate) ranks: Ranks,
    moves: Moves<'a>,
    pub(crate) states: Vec<State>,
    state_ids: HashMap<State, StateId>,
    reasons: Vec<Reason>,
    reason_ids: HashMap<(Literal, StateId), ReasonId>,
    /// Claims that need a reason, in order.
    open: VecDeque<ReasonId>,
    /// Claims along paths, which get a reason when no others are open.
    along: VecDeque<ReasonId>,
    /// Path found together with the initial state, and the claim that it shows.
    pub(crate) first_run: Option<(Literal, Vec<State>)>,
}

impl<'a> Explainer<'a> {
    fn new(
        oracle: &'a mut dyn Oracle,
        system: &'a System,
        ranks: Ranks,
        budget: &'a Budget,
    ) -> Explainer<'a> {
        Explainer {
            oracle,
            system,
            budget,
            ranks,
            moves: Moves::new(system),
            states: Vec::new(),
            state_ids: HashMap::new(),
            reasons: Vec::new(),
            reason_ids: HashMap::new(),
            open: VecDeque::new(),
            along: VecDeque::new(),
            first_run: None,
        }
    }
}

impl Explainer<'_> {
    /// Returns the index of the claim's reason, which is added if it is new. A local claim is complete at
    /// once; any other is put into the queue.
    pub(crate) fn claim(&mut self, literal: Literal, state: StateId) -> ReasonId {
        if let Some(&known) = self.reason_ids.get(&(literal, state)) {
            return known;
        }
        let id = ReasonId(self.reasons.len() as u32);
        let Literal { formula, holds } = literal;
        let because = if self.ranks.is_local(formula) {
            Because::Here
        } else {
            self.open.push_back(id);
            Because::NotShown(NotShownReason::TooMuch)
        };
        self.reasons.push(Reason { formula, holds, state, because });
        self.reason_ids.insert((literal, state), id);
        id
    }

    /// Adds claims about the states of a path before its end, or of a path with a loop. They get reasons
    /// after the other claims.
    pub(crate) fn claims_along(
        &mut self,
        literals: &[Literal],
        states: &[StateId],
    ) -> Vec<(usize, ReasonId)> {
        let open = std::mem::take(&mut self.open);
        let mut claims = Vec::new();
        for (position, &at) in states.iter().enumerate() {
            claims.extend(literals.iter().map(|&literal| (position, self.claim(literal, at))));
        }
        self.along.extend(std::mem::replace(&mut self.open, open));
        claims
    }

    /// Finds reasons for all open claims, and for the claims that these reasons add, up to the limit.
    fn close(&mut self) -> Result<(), Stop> {
        let mut n_found = 0;
        while let Some(id) = self.open.pop_front().or_else(|| self.along.pop_front()) {
            let Reason { formula, holds, state, .. } = self.reasons[id.index()];
            let literal = Literal { formula, holds };
            n_found += 1;
            if n_found <= MAX_REASONS {
                self.reasons[id.index()].because = self.because(literal, state)?;
            } else if let Some(missing) = why_not_shown(self.system, literal) {
                self.reasons[id.index()].because = Because::NotShown(missing);
            }
        }
        Ok(())
    }

    /// Why a formula that is not local is true or false at a state.
    fn because(&mut self, literal: Literal, at: StateId) -> Result<Because, Stop> {
        let state = self.states[at.index()].clone();
        if let Some(needs) = Needs::of(&self.system.formulas, literal) {
            let operands = self.deciding(needs, &state)?;
            return Ok(Because::Operands(self.claims(&operands, at)));
        }
        if let Some(goal) = PathGoal::of(&self.system.formulas, literal.formula) {
            return if goal.holds == literal.holds {
                self.run(literal, &goal, &state)
            } else {
                self.refute(&goal, at, &state)
            };
        }
        if let Some((path, truth)) = path_of(&self.system.formulas, literal.formula)
            && truth == literal.holds
        {
            let Some(lasso) = self.path_run(path, truth, &state)? else {
                return Ok(Because::NotShown(NotShownReason::TooMuch));
            };
            return self.showing_path(path, lasso);
        }
        if let Some(goal) = CoalitionGoal::of(self.system, literal.formula)
            && why_not_shown(self.system, literal).is_none()
        {
            return if literal.holds {
                self.enforcing(&goal, &state)
            } else {
                self.preventing(&goal, at, &state)
            };
        }
        match self.system.formulas.get(literal.formula) {
            Formula::ExistsStep(condition, operand) | Formula::ForallStep(condition, operand)
                if why_not_shown(self.system, literal).is_none() =>
            {
                let operand = Literal { formula: operand, holds: literal.holds };
                return self.step(condition, operand, &state);
            }
            Formula::ExistsStep(..) | Formula::ForallStep(..) => return self.no_step(&state),
            Formula::Least(..) | Formula::Greatest(..) if why_not_shown(self.system, literal).is_none() => {
                return self.unfolding(literal, &state);
            }
            _ => {}
        }
        match KnowledgeScope::of(self.system, literal.formula) {
            Some((KnowledgeScope::Views { views, green }, operand)) if !literal.holds => {
                self.possible(views, green, operand, at, &state)
            }
            Some((KnowledgeScope::Chain(group), operand)) if !literal.holds => {
                self.chain(group, operand, at, &state)
            }
            _ => {
                Ok(Because::NotShown(why_not_shown(self.system, literal).unwrap_or(NotShownReason::TooMuch)))
            }
        }
    }

    fn claims(&mut self, literals: &[Literal], at: StateId) -> Vec<ReasonId> {
        literals.iter().map(|&literal| self.claim(literal, at)).collect()
    }

    /// Whether a literal is true at a state.
    pub(crate) fn is_true(&mut self, literal: Literal, state: &State) -> Result<bool, Stop> {
        let truth = if self.ranks.is_local(literal.formula) {
            local_truth(self.system, literal.formula, state).unwrap_or(false)
        } else {
            self.oracle.is_true(literal.formula, state, self.budget)?
        };
        Ok(truth == literal.holds)
    }

    /// The first literal that is true at a state. Local literals come first, then those of which most can
    /// be shown.
    pub(crate) fn first_true(
        &mut self,
        literals: &[Literal],
        state: &State,
    ) -> Result<Option<Literal>, Stop> {
        // The search for the initial state has already excluded the literals before this one.
        if let Some((literal, run)) = &self.first_run
            && run.first() == Some(state)
            && literals.contains(literal)
        {
            return Ok(Some(*literal));
        }
        for literal in self.by_rank(literals) {
            if self.is_true(literal, state)? {
                return Ok(Some(literal));
            }
        }
        Ok(None)
    }

    pub(crate) fn by_rank(&self, literals: &[Literal]) -> Vec<Literal> {
        let mut literals = literals.to_vec();
        literals.sort_by_key(|&literal| self.ranks.of(literal));
        literals
    }

    /// The operands that decide a connective.
    fn deciding(&mut self, needs: Needs, state: &State) -> Result<Vec<Literal>, Stop> {
        Ok(match needs {
            Needs::All(list) => list,
            Needs::One(list) => self.first_true(&list, state)?.into_iter().collect(),
            Needs::Same(f, g, same) => {
                let holds = self.is_true(Literal { formula: f, holds: true }, state)?;
                let other = Literal { formula: g, holds: holds == same };
                if f == g { vec![other] } else { vec![Literal { formula: f, holds }, other] }
            }
        })
    }

    /// A path that has the form of the goal.
    fn run(&mut self, literal: Literal, goal: &PathGoal, state: &State) -> Result<Because, Stop> {
        let finite = match self.first_run.take_if(|(of, run)| *of == literal && run.first() == Some(state)) {
            Some((_, run)) => Some(run),
            None => self.finite(goal, &[RegionPart::Is(state.clone())])?,
        };
        if let Some(states) = finite {
            let run = self.finite_run(states)?;
            return Ok(Because::Path(self.showing_finite(goal, run)));
        }
        let Some(stay) = &goal.forever else { return Ok(Because::NotShown(NotShownReason::TooMuch)) };
        // If the goal has no other form, the formula itself is true exactly where such a path starts.
        let inside = match &goal.until {
            None => RegionPart::Literal(literal),
            Some(_) => RegionPart::Forever(stay.clone()),
        };
        let lasso = lasso::lasso(self, inside, state)?;
        let fair = lasso.fair.clone();
        let run = self.infinite_run(lasso)?;
        let claims = self.claims_along(stay, &run.states);
        Ok(Because::Path(PathReason { run, claims, fair }))
    }

    /// An infinite path, each step with the least joint action.
    pub(crate) fn infinite_run(&mut self, lasso: Lasso) -> Result<EvidencePath, Stop> {
        let back_to = lasso.states.get(lasso.back_to).cloned();
        let states: Vec<State> = lasso.states.into_iter().chain(back_to).collect();
        let mut run = self.finite_run(states)?;
        run.states.pop();
        run.back_to = Some(lasso.back_to);
        Ok(run)
    }

    /// The least shortest finite path from a region that has the form of a goal.
    pub(crate) fn finite(
        &mut self,
        goal: &PathGoal,
        from: &[RegionPart],
    ) -> Result<Option<Vec<State>>, Stop> {
        let route = |through: &[Literal], to: &[Literal], length| (region(through), region(to), length);
        let (through, to, length) = match (&goal.next, &goal.until) {
            (Some(next), _) => route(&[], next, PathLength::One),
            (None, Some((through, to))) => route(through, to, PathLength::Any),
            (None, None) => return Ok(None),
        };
        self.path(&Route { from: from.to_vec(), through, to, by: StepKind::Steps, length })
    }

    pub(crate) fn path(&mut self, route: &Route) -> Result<Option<Vec<State>>, Stop> {
        self.oracle.path(route, self.budget)
    }

    /// Adds the claims about the states of a finite path.
    fn showing_finite(&mut self, goal: &PathGoal, run: EvidencePath) -> PathReason {
        let none = Vec::new();
        let (through, to) = match (&goal.next, &goal.until) {
            (Some(next), _) => (&none, next),
            (None, Some((through, to))) => (through, to),
            (None, None) => (&none, &none),
        };
        let last = run.states.len() - 1;
        let at_last: Vec<_> =
            to.iter().map(|&literal| (last, self.claim(literal, run.states[last]))).collect();
        let mut claims = self.claims_along(through, &run.states[..last]);
        claims.extend(at_last);
        PathReason { run, claims, fair: Vec::new() }
    }

    /// Why no path has the form of the goal, if the state itself excludes it.
    fn refute(&mut self, goal: &PathGoal, at: StateId, state: &State) -> Result<Because, Stop> {
        let ends = self.system.meaning.deadlock != Deadlock::Stutter;
        let is_dead_end = ends && self.oracle.is_dead_end(state, self.budget)?;
        let Some(lists) = goal.refuted_by(is_dead_end) else {
            return Ok(Because::NotShown(NotShownReason::AllPaths));
        };
        let mut found: Vec<Literal> = Vec::new();
        for list in lists {
            let negated: Vec<Literal> = list.iter().map(|literal| literal.negated()).collect();
            if negated.iter().any(|literal| found.contains(literal)) {
                continue;
            }
            match self.first_true(&negated, state)? {
                Some(literal) => found.push(literal),
                None => return Ok(Because::NotShown(NotShownReason::AllPaths)),
            }
        }
        let claims = self.claims(&found, at);
        Ok(if is_dead_end { Because::DeadEnd(claims) } else { Because::Operands(claims) })
    }

    /// A state that one of the views cannot distinguish from this one, where the operand is false and the
    /// agents of `green` are green.
    fn possible(
        &mut self,
        views: Vec<Vec<AgentId>>,
        green: Vec<AgentId>,
        operand: FormulaId,
        at: StateId,
        state: &State,
    ) -> Result<Because, Stop> {
        let literal = Literal { formula: operand, holds: false };
        let is_here = green.iter().all(|&agent| is_green(self.system, agent, state));
        if is_here && self.is_true(literal, state)? {
            let view = views.into_iter().next().unwrap_or_default();
            let reason = self.claim(literal, at);
            return Ok(Because::Possible(Possibility { view, green, state: at, path: None, reason }));
        }
        for view in views {
            let mut to = vec![RegionPart::Alike(view.clone(), state.clone()), RegionPart::Literal(literal)];
            to.extend(green.iter().map(|&agent| RegionPart::Green(agent)));
            if let Some(path) = self.path_to(&to)? {
                let path = self.finite_run(path)?;
                let Some(other) = path.last() else { continue };
                let reason = self.claim(literal, other);
                return Ok(Because::Possible(Possibility {
                    view,
                    green,
                    state: other,
                    path: Some(path),
                    reason,
                }));
            }
        }
        Ok(Because::NotShown(NotShownReason::TooMuch))
    }

    /// The least shortest path from an initial state to a region.
    pub(crate) fn path_to(&mut self, to: &[RegionPart]) -> Result<Option<Vec<State>>, Stop> {
        let (from, to) = (vec![RegionPart::Initial], to.to_vec());
        self.path(&Route { from, through: Vec::new(), to, by: StepKind::Steps, length: PathLength::Any })
    }

    /// A chain of pairwise indistinguishable states to one where the operand is false.
    fn chain(
        &mut self,
        group: GroupId,
        operand: FormulaId,
        at: StateId,
        state: &State,
    ) -> Result<Because, Stop> {
        let literal = Literal { formula: operand, holds: false };
        let (from, to) = (vec![RegionPart::Is(state.clone())], vec![RegionPart::Literal(literal)]);
        let (through, by) = (Vec::new(), StepKind::Confusion(group));
        let Some(states) = self.path(&Route { from, through, to, by, length: PathLength::Any })? else {
            return Ok(Because::NotShown(NotShownReason::TooMuch));
        };
        let agents = &self.system.groups[group.index()].agents;
        let mut links = Vec::new();
        let mut end = at;
        for pair in states.windows(2) {
            let looks_same = |agent: &&AgentId| looks_same(self.system, **agent, &pair[0], &pair[1]);
            let Some(&agent) = agents.iter().find(looks_same) else { continue };
            let Some(path) = self.path_to(&[RegionPart::Is(pair[1].clone())])? else { continue };
            let path = self.finite_run(path)?;
            end = path.last().unwrap_or(end);
            links.push(Link { agent, state: end, path });
        }
        Ok(Because::Chain(Chain { links, reason: self.claim(literal, end) }))
    }

    pub(crate) fn state(&mut self, state: State) -> StateId {
        let next = StateId(self.states.len() as u32);
        let states = &mut self.states;
        *self.state_ids.entry(state).or_insert_with_key(|state| {
            states.push(state.clone());
            next
        })
    }

    /// A path along these states, each step with the least joint action. A step that no joint action makes
    /// gets none: it is the loop of a dead end, or an error of the engine, which replay detects.
    pub(crate) fn finite_run(&mut self, states: Vec<State>) -> Result<EvidencePath, Stop> {
        let mut actions = Vec::with_capacity(states.len().saturating_sub(1));
        for step in states.windows(2) {
            actions.push(self.moves.least_joint_action(&step[0], &step[1], self.budget)?);
        }
        let states = states.into_iter().map(|state| self.state(state)).collect();
        Ok(EvidencePath { states, actions, back_to: None })
    }
}

fn region(literals: &[Literal]) -> Vec<RegionPart> {
    literals.iter().map(|&literal| RegionPart::Literal(literal)).collect()
}
