//! Confirms explanations before they are reported: step by step, from the programs and the semantics,
//! without sets of states and without the engine that made them.
//!
//! The value of a formula is computed as far as a single state decides it ([`local`]): booleans,
//! comparisons, actions, explicit attitudes. A step is confirmed from the program at its state ([`steps`]).
//! A part must not contradict these values, and it must have the form that its formula requires: where a
//! path begins and ends, what holds along it, that a loop closes and satisfies the fairness conditions,
//! that a jump leads to a state in which no true attitude is violated.
//!
//! **Trusted**, because it depends on whole worlds, which only the engine knows:
//!
//! * that the states of a path were not removed, nor their world;
//! * the value of a temporal formula, or of an attitude read through its accessible states, where no
//!   part explains it: also in a test or on a right side in a program (then any outcome is allowed),
//!   along a path, as a fairness condition, and as the argument of an attitude that a jump must satisfy;
//! * that the last state of a finite path, where there are fairness conditions, starts a fair path;
//! * that nothing is accessible, or that realism is violated, if a check says so;
//! * that a world does not have a state or a step, or that a state below is not accessible from it, where two worlds
//!   are compared.

mod difference;
mod local;
mod steps;

use std::fmt;

use rustc_hash::FxHashSet;

use crate::explanation::{Explanation, Removal, RemovalReason, Shape, Statement};
use crate::model::{Edge, Formula, FormulaId, Model, Question, State, VarId, WorldPath};
use crate::plan::{OwnPart, Plan, WorldId};
use local::Facts;
use steps::ReplayState;

/// Reason why a part of an explanation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The part does not explain anything that the part above claims.
    Unrelated,
    /// The part does not have the form that its formula requires.
    WrongForm,
    /// The state with this index is not a state of the program.
    NotAState(usize),
    /// The part does not begin in an initial state.
    NotInitial,
    /// The part does not begin in the state that it explains.
    WrongStart,
    /// The program takes no step from the state with this index to the next.
    NoStep(usize),
    /// No step leads from the last state to the beginning of the loop.
    NoLoop,
    /// The loop does not satisfy a fairness condition.
    Unfair,
    /// A formula does not have the claimed value in the state with this index.
    WrongValue(usize),
    /// The listed attitudes are not those that are true where the jump begins.
    WrongAttitudes,
    /// The jump ends in a state that violates a true attitude.
    Inaccessible,
}

/// Refusal of an explanation: a bug in the engine that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// World of the part.
    pub world: String,
    /// Formula of the part.
    pub formula: String,
    /// Reason for the refusal.
    pub flaw: Flaw,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`, for `{}`: ", self.world, self.formula)?;
        match self.flaw {
            Flaw::Unrelated => write!(f, "the part does not explain anything that is claimed"),
            Flaw::WrongForm => write!(f, "the part does not have the form that the formula requires"),
            Flaw::NotAState(at) => write!(f, "state {at} is not a state of the program"),
            Flaw::NotInitial => write!(f, "state 0 is not initial"),
            Flaw::WrongStart => write!(f, "state 0 is not the one that is explained"),
            Flaw::NoStep(at) => write!(f, "there is no step from state {at} to the next"),
            Flaw::NoLoop => write!(f, "the loop does not close"),
            Flaw::Unfair => write!(f, "the loop is not fair"),
            Flaw::WrongValue(at) => write!(f, "in state {at} a formula does not have the claimed value"),
            Flaw::WrongAttitudes => write!(f, "the attitudes listed are not those that are true"),
            Flaw::Inaccessible => write!(f, "the state is not accessible"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Confirms the explanation why a property fails.
pub fn replay(model: &Model, plan: &Plan, index: usize, explanation: &Explanation) -> Result<(), Refusal> {
    let replay = Replay { model, plan };
    let property = &model.properties[index];
    let refuse = |flaw| Err(replay.refusal(explanation, flaw));
    let (world, path) = (plan.properties[index], &property.path);
    let is_about = explanation.statement == Statement::Property(index) && !explanation.holds;
    if !is_about || (explanation.world, &explanation.path) != (world, path) {
        return refuse(Flaw::Unrelated);
    }
    if explanation.shape != Shape::Path {
        return refuse(Flaw::WrongForm);
    }
    let (first, last) = replay.walk(explanation)?;
    if !replay.is_initial(world, first) || property.initially && !replay.is_initial(world, last) {
        return refuse(Flaw::NotInitial);
    }
    match property.question {
        Question::Formula(formula) => {
            let claim = Claim { world, path, state: last, formula, holds: false };
            replay.confirm(&claim, explanation, explanation.states.len() - 1)
        }
        Question::Subworld(_) => replay.difference(index, explanation),
        _ if explanation.next.is_empty() => Ok(()),
        _ => refuse(Flaw::Unrelated),
    }
}

/// Confirms the path to a removed state; the reason for its removal is trusted.
pub fn replay_removal(model: &Model, plan: &Plan, world: WorldId, removal: &Removal) -> Result<(), Refusal> {
    let replay = Replay { model, plan };
    let refuse = |flaw| {
        let formula = model.removal_text(removal.reason);
        Refusal { world: plan.name(world).to_owned(), formula, flaw }
    };
    let (first, last) = replay.walk_states(world, &removal.example).map_err(refuse)?;
    if !replay.is_initial(world, first) {
        return Err(refuse(Flaw::NotInitial));
    }
    match removal.reason {
        RemovalReason::Lacks(var) if replay.label(world, ReplayState::shown(last), var) == Some(true) => {
            Err(refuse(Flaw::WrongValue(removal.example.len() - 1)))
        }
        _ => Ok(()),
    }
}

/// The value of a formula in a state of a world, as a part claims it.
struct Claim<'c> {
    world: WorldId,
    /// Root and edges that lead to the world.
    path: &'c WorldPath,
    state: &'c State,
    formula: FormulaId,
    holds: bool,
}

/// Replays explanations on a model.
struct Replay<'m> {
    model: &'m Model,
    plan: &'m Plan,
}

impl Replay<'_> {
    fn refusal(&self, part: &Explanation, flaw: Flaw) -> Refusal {
        let world = self.model.path_text(&part.path);
        Refusal { world, formula: self.model.statement_text(part.statement), flaw }
    }

    /// Confirms that the states of a part are a path; returns the first and the last of them.
    fn walk<'e>(&self, part: &'e Explanation) -> Result<(&'e State, &'e State), Refusal> {
        self.walk_states(part.world, &part.states).map_err(|flaw| self.refusal(part, flaw))
    }

    fn walk_states<'e>(&self, world: WorldId, states: &'e [State]) -> Result<(&'e State, &'e State), Flaw> {
        for (at, state) in states.iter().enumerate() {
            if !self.is_state(world, state) {
                return Err(Flaw::NotAState(at));
            }
            if at > 0 && !self.may_step(world, ReplayState::shown(&states[at - 1]), state) {
                return Err(Flaw::NoStep(at - 1));
            }
        }
        states.first().zip(states.last()).ok_or(Flaw::WrongForm)
    }

    /// Confirms a claim about state `at` of a part, with the parts below that explain it: each is true and
    /// about a formula that the claim depends on, and together they do not contradict the claim.
    fn confirm(&self, claim: &Claim<'_>, part: &Explanation, at: usize) -> Result<(), Refusal> {
        let grounds = self.grounds(claim);
        let mut facts = Facts::default();
        for below in &part.next {
            let found = grounds.iter().find(|&&(formula, holds)| self.is_about(below, formula, holds));
            let Some(&(formula, holds)) = found else { return Err(self.refusal(below, Flaw::Unrelated)) };
            let ground = Claim { formula, holds, ..*claim };
            if !self.may_be(&ground, &Facts::default()) {
                return Err(self.refusal(part, Flaw::WrongValue(at)));
            }
            self.part(&ground, below)?;
            facts.insert(formula, holds);
        }
        if self.may_be(claim, &facts) { Ok(()) } else { Err(self.refusal(part, Flaw::WrongValue(at))) }
    }

    /// Whether a part claims to be the witness for the value of a formula. A jump names the argument.
    fn is_about(&self, part: &Explanation, formula: FormulaId, holds: bool) -> bool {
        let is_about = |id, holds| part.statement == Statement::Formula(id) && part.holds == holds;
        match (self.model.formula(formula), &part.shape) {
            (Formula::Attitude { edge, arg, .. }, Shape::Jump { edge: taken, .. }) => {
                taken == edge && is_about(*arg, false)
            }
            (Formula::Attitude { .. }, _) | (_, Shape::Jump { .. }) => false,
            _ => is_about(formula, holds),
        }
    }

    /// Whether a claim does not contradict the values that its state decides.
    fn may_be(&self, claim: &Claim<'_>, facts: &Facts) -> bool {
        self.value(claim.world, ReplayState::shown(claim.state), facts, claim.formula) != Some(!claim.holds)
    }

    /// Returns the formulas with their values that a claim may depend on in its own state and that a part can
    /// show: those inside boolean operators, and inside a path operator that is satisfied at once.
    fn grounds(&self, claim: &Claim<'_>) -> Vec<(FormulaId, bool)> {
        let mut grounds = Vec::new();
        let mut seen = FxHashSet::default();
        let mut open = vec![(claim.formula, claim.holds)];
        while let Some((id, holds)) = open.pop() {
            if !seen.insert((id, holds)) {
                continue;
            }
            match (self.model.formula(id), holds) {
                (Formula::Not(f), _) => open.push((*f, !holds)),
                (Formula::And(parts) | Formula::Or(parts), _) => {
                    open.extend(parts.iter().map(|part| (*part, holds)));
                }
                (Formula::Iff(f, g), _) => {
                    open.extend([(*f, true), (*f, false), (*g, true), (*g, false)]);
                }
                (Formula::Ef(f), true) | (Formula::Ag(f), false) => {
                    grounds.push((id, holds));
                    open.push((*f, holds));
                }
                (Formula::Eu(_, g) | Formula::Er(_, g), true)
                | (Formula::Au(_, g) | Formula::Ar(_, g), false) => {
                    grounds.push((id, holds));
                    open.push((*g, holds));
                }
                (Formula::Ex(_) | Formula::Eg(_), true)
                | (Formula::Ax(_) | Formula::Af(_) | Formula::Attitude { .. }, false) => {
                    grounds.push((id, holds));
                }
                _ => {}
            }
        }
        grounds
    }

    /// Confirms a part as the witness of a claim.
    fn part(&self, claim: &Claim<'_>, part: &Explanation) -> Result<(), Refusal> {
        let refuse = |flaw| Err(self.refusal(part, flaw));
        let formula = self.model.formula(claim.formula);
        if let (Formula::Attitude { edge, .. }, Shape::Jump { asserted, .. }) = (formula, &part.shape) {
            return self.jump(claim, part, *edge, asserted);
        }
        if (part.world, &part.path) != (claim.world, claim.path) {
            return refuse(Flaw::Unrelated);
        }
        let (first, last) = self.walk(part)?;
        if first != claim.state {
            return refuse(Flaw::WrongStart);
        }
        let n_steps = part.states.len() - 1;
        // The formula that holds before the last state, and those that hold in it; the last is explained below.
        let (through, to) = match (formula, &part.shape) {
            (Formula::Ex(f) | Formula::Ax(f), Shape::Path) if n_steps == 1 => (None, vec![*f]),
            (Formula::Ef(f) | Formula::Ag(f), Shape::Path) => (None, vec![*f]),
            (Formula::Eu(f, g) | Formula::Ar(f, g), Shape::Path) => (Some(*f), vec![*g]),
            (Formula::Er(f, g) | Formula::Au(f, g), Shape::Path) => (Some(*g), vec![*f, *g]),
            (
                Formula::Eg(f) | Formula::Af(f) | Formula::Er(_, f) | Formula::Au(_, f),
                Shape::Lasso { back_to },
            ) => return self.lasso(claim, part, *back_to, *f),
            _ => return refuse(Flaw::WrongForm),
        };
        if let Some(through) = through {
            self.along(claim, part, &part.states[..n_steps], through)?;
        }
        for &formula in &to {
            if !self.may_be(&Claim { state: last, formula, ..*claim }, &Facts::default()) {
                return refuse(Flaw::WrongValue(n_steps));
            }
        }
        match to.last() {
            Some(&formula) => self.confirm(&Claim { state: last, formula, ..*claim }, part, n_steps),
            None => refuse(Flaw::WrongForm),
        }
    }

    /// Confirms that a formula has the claimed value in all these states.
    fn along(
        &self,
        claim: &Claim<'_>,
        part: &Explanation,
        states: &[State],
        formula: FormulaId,
    ) -> Result<(), Refusal> {
        for (at, state) in states.iter().enumerate() {
            if !self.may_be(&Claim { state, formula, ..*claim }, &Facts::default()) {
                return Err(self.refusal(part, Flaw::WrongValue(at)));
            }
        }
        Ok(())
    }

    /// Confirms a lasso along which a formula holds; the parts below explain it in the first state.
    fn lasso(
        &self,
        claim: &Claim<'_>,
        part: &Explanation,
        back_to: usize,
        formula: FormulaId,
    ) -> Result<(), Refusal> {
        let refuse = |flaw| Err(self.refusal(part, flaw));
        let Some(last) = part.states.last() else { return refuse(Flaw::WrongForm) };
        match part.states.get(back_to) {
            Some(first) if self.may_step(claim.world, ReplayState::shown(last), first) => {}
            _ => return refuse(Flaw::NoLoop),
        }
        self.along(claim, part, &part.states, formula)?;
        for &condition in &self.program(claim.world).fair {
            let is_met_in = |state| {
                self.value(claim.world, ReplayState::shown(state), &Facts::default(), condition)
                    != Some(false)
            };
            if !part.states[back_to..].iter().any(is_met_in) {
                return refuse(Flaw::Unfair);
            }
        }
        self.confirm(&Claim { formula, ..*claim }, part, 0)
    }

    /// Confirms a state of the world below that is reachable there and satisfies every attitude that is true
    /// here, but not the argument.
    fn jump(
        &self,
        claim: &Claim<'_>,
        part: &Explanation,
        edge: Edge,
        listed: &[VarId],
    ) -> Result<(), Refusal> {
        let refuse = |flaw| Err(self.refusal(part, flaw));
        let Formula::Attitude { arg, .. } = *self.model.formula(claim.formula) else {
            return refuse(Flaw::WrongForm);
        };
        let child = self.plan.child(claim.world, edge);
        let mut path = claim.path.clone();
        path.edges.push(edge);
        if Some(part.world) != child || part.path != path {
            return refuse(Flaw::Unrelated);
        }
        let (first, last) = self.walk(part)?;
        if !self.is_initial(part.world, first) {
            return refuse(Flaw::NotInitial);
        }
        if !self.knows_itself(claim.world, edge, claim.state, last) {
            return refuse(Flaw::Inaccessible);
        }
        let mut asserted = Vec::new();
        for &var in &self.program(claim.world).vars {
            let Some(attitude) = self.model.var(var).attitude else { continue };
            let here = ReplayState::shown(claim.state);
            if attitude.edge != edge || self.label(claim.world, here, var) != Some(true) {
                continue;
            }
            asserted.push(var);
            if self.value(part.world, ReplayState::shown(last), &Facts::default(), attitude.arg)
                == Some(false)
            {
                return refuse(Flaw::Inaccessible);
            }
        }
        if listed != asserted {
            return refuse(Flaw::WrongAttitudes);
        }
        let below = Claim { world: part.world, path: &path, state: last, formula: arg, holds: false };
        self.confirm(&below, part, part.states.len() - 1)
    }

    /// Whether a state may be accessible on an edge as far as an agent knows itself, if the edge leads to the world
    /// itself: the same attitudes of the edge are true in both states and, with `option self = paper`, the part of the
    /// agent's own state that it has attitudes about is the same.
    fn knows_itself(&self, world: WorldId, edge: Edge, here: &State, there: &State) -> bool {
        if !self.plan.is_knotted(world, edge) {
            return true;
        }
        let part = self.plan.own_part(self.model, world, edge);
        let is_known = |var: VarId| {
            part == Some(OwnPart::Variables)
                || self.model.var(var).attitude.is_some_and(|attitude| attitude.edge == edge)
        };
        let is_same = |(&var, (here, there)): (&VarId, (&i64, &i64))| here == there || !is_known(var);
        let values = here.values.iter().zip(&there.values);
        self.program(world).vars.iter().zip(values).all(is_same)
            && (part != Some(OwnPart::Action) || here.action.is_none() || here.action == there.action)
    }
}
