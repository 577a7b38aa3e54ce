//! Explanations, confirmed before anyone sees them: step by step, from the programs and the
//! definition, with no sets of states and no help from the engine that made them.
//!
//! A formula has a value in a state as far as that state alone decides it ([`local`]): booleans,
//! comparisons, actions, explicit attitudes. A step is confirmed from the program at that state
//! ([`steps`]). What a part says must not contradict what is decided, and what it shows must be what
//! its formula asks for: where a path begins and ends, what holds along it, that a loop closes and
//! meets the fairness conditions, that a jump goes to a state in which no true attitude is violated.
//!
//! **Trusted**, because it speaks of whole worlds and only the engine knows them:
//!
//! * that the states of a path were not removed, nor their world;
//! * the value of a temporal formula, or of an attitude read through its accessible states, where no
//!   part explains it: also in a test or on a right side in a program (then any outcome is allowed),
//!   along a path, as a fairness condition, and as the argument of an attitude that a jump respects;
//! * that the last state of a finite path, where there are fairness conditions, starts a fair path;
//! * that nothing is accessible, or realism is violated, where a check says so.

mod local;
mod steps;

use std::fmt;

use rustc_hash::FxHashSet;

use crate::explanation::{Explanation, Removal, RemovalReason, Shape, Statement};
use crate::model::{Edge, Formula, FormulaId, Model, Question, State, VarId, WorldPath};
use crate::plan::{Plan, WorldId};
use local::Facts;
use steps::Place;

/// What is wrong with a part of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It explains nothing that is claimed where it stands.
    Stranger,
    /// It has not the form that its formula asks for.
    Form,
    /// This state is no state of the program.
    NoState(usize),
    /// It does not begin in an initial state.
    NotInitial,
    /// It does not begin in the state that it explains.
    ElsewhereFrom,
    /// The program takes no step from this state to the next.
    NoStep(usize),
    /// The last state does not lead back to where the loop begins.
    NoLoop,
    /// The loop never meets a fairness condition.
    Unfair,
    /// In this state a formula has another value than is claimed.
    Value(usize),
    /// It lists other attitudes than are true where the jump begins.
    Asserted,
    /// The jump ends in a state that violates a true attitude.
    Inaccessible,
}

/// An explanation that is not true: a bug of the engine that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The world of the part.
    pub world: String,
    /// The formula of the part.
    pub formula: String,
    /// What is wrong with it.
    pub flaw: Flaw,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`, of `{}`: ", self.world, self.formula)?;
        match self.flaw {
            Flaw::Stranger => write!(f, "the part explains nothing that is claimed"),
            Flaw::Form => write!(f, "the part has not the form that the formula asks for"),
            Flaw::NoState(at) => write!(f, "state {at} is no state of the program"),
            Flaw::NotInitial => write!(f, "state 0 is not initial"),
            Flaw::ElsewhereFrom => write!(f, "state 0 is not the one that is explained"),
            Flaw::NoStep(at) => write!(f, "there is no step from state {at} to the next"),
            Flaw::NoLoop => write!(f, "the loop does not close"),
            Flaw::Unfair => write!(f, "the loop is not fair"),
            Flaw::Value(at) => write!(f, "in state {at} a formula has another value than is claimed"),
            Flaw::Asserted => write!(f, "the attitudes listed are not those that are true"),
            Flaw::Inaccessible => write!(f, "the state is not accessible"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Confirms why a property fails.
pub fn replay(model: &Model, plan: &Plan, index: usize, explanation: &Explanation) -> Result<(), Refusal> {
    let replay = Replay { model, plan };
    let property = &model.properties[index];
    let refuse = |flaw| Err(replay.refusal(explanation, flaw));
    let (world, path) = (plan.properties[index], &property.path);
    let is_about = explanation.statement == Statement::Property(index) && !explanation.holds;
    if !is_about || (explanation.world, &explanation.path) != (world, path) {
        return refuse(Flaw::Stranger);
    }
    if explanation.shape != Shape::Path {
        return refuse(Flaw::Form);
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
        _ if explanation.next.is_empty() => Ok(()),
        _ => refuse(Flaw::Stranger),
    }
}

/// Confirms the way to a state that was removed; why it had to be is trusted.
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
        RemovalReason::Lacks(var) if replay.label(world, Place::shown(last), var) == Some(true) => {
            Err(refuse(Flaw::Value(removal.example.len() - 1)))
        }
        _ => Ok(()),
    }
}

/// A formula in a state of a world, as a part says.
struct Claim<'c> {
    world: WorldId,
    /// The way to the world.
    path: &'c WorldPath,
    state: &'c State,
    formula: FormulaId,
    holds: bool,
}

/// What is replayed on.
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
                return Err(Flaw::NoState(at));
            }
            if at > 0 && !self.may_step(world, Place::shown(&states[at - 1]), state) {
                return Err(Flaw::NoStep(at - 1));
            }
        }
        states.first().zip(states.last()).ok_or(Flaw::Form)
    }

    /// A claim about state `at` of a part, with the parts below that explain it: each is true and
    /// about something the claim rests on, and together they do not contradict the claim.
    fn confirm(&self, claim: &Claim<'_>, part: &Explanation, at: usize) -> Result<(), Refusal> {
        let grounds = self.grounds(claim);
        let mut facts = Facts::default();
        for below in &part.next {
            let found = grounds.iter().find(|ground| self.is_about(below, **ground));
            let Some(&(formula, holds)) = found else { return Err(self.refusal(below, Flaw::Stranger)) };
            let ground = Claim { formula, holds, ..*claim };
            if !self.may_be(&ground, &Facts::default()) {
                return Err(self.refusal(part, Flaw::Value(at)));
            }
            self.part(&ground, below)?;
            facts.insert(formula, holds);
        }
        match self.may_be(claim, &facts) {
            true => Ok(()),
            false => Err(self.refusal(part, Flaw::Value(at))),
        }
    }

    /// Whether a part says that it is the witness for a formula's value. A jump names the argument.
    fn is_about(&self, part: &Explanation, (formula, holds): (FormulaId, bool)) -> bool {
        let is_about = |id, holds| part.statement == Statement::Formula(id) && part.holds == holds;
        match (self.model.formula(formula), &part.shape) {
            (Formula::Attitude { edge, arg, .. }, Shape::Jump { edge: taken, .. }) => {
                taken == edge && is_about(*arg, false)
            }
            (Formula::Attitude { .. }, _) | (_, Shape::Jump { .. }) => false,
            _ => is_about(formula, holds),
        }
    }

    /// Whether nothing that is decided in the state contradicts a claim.
    fn may_be(&self, claim: &Claim<'_>, facts: &Facts) -> bool {
        self.value(claim.world, Place::shown(claim.state), facts, claim.formula) != Some(!claim.holds)
    }

    /// What a claim may rest on in its own state and a part can show: what is inside negations and
    /// junctions, and inside a path operator that is fulfilled at once.
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

    /// One part, as the witness of a claim.
    fn part(&self, claim: &Claim<'_>, part: &Explanation) -> Result<(), Refusal> {
        let refuse = |flaw| Err(self.refusal(part, flaw));
        let formula = self.model.formula(claim.formula);
        if let (Formula::Attitude { edge, .. }, Shape::Jump { asserted, .. }) = (formula, &part.shape) {
            return self.jump(claim, part, *edge, asserted);
        }
        if (part.world, &part.path) != (claim.world, claim.path) {
            return refuse(Flaw::Stranger);
        }
        let (first, last) = self.walk(part)?;
        if first != claim.state {
            return refuse(Flaw::ElsewhereFrom);
        }
        let n_steps = part.states.len() - 1;
        // What holds before the last state, and what in it; the last of these is explained below.
        let (through, to) = match (formula, &part.shape) {
            (Formula::Ex(f) | Formula::Ax(f), Shape::Path) if n_steps == 1 => (None, vec![*f]),
            (Formula::Ef(f) | Formula::Ag(f), Shape::Path) => (None, vec![*f]),
            (Formula::Eu(f, g) | Formula::Ar(f, g), Shape::Path) => (Some(*f), vec![*g]),
            (Formula::Er(f, g) | Formula::Au(f, g), Shape::Path) => (Some(*g), vec![*f, *g]),
            (
                Formula::Eg(f) | Formula::Af(f) | Formula::Er(_, f) | Formula::Au(_, f),
                Shape::Lasso { back_to },
            ) => return self.lasso(claim, part, *back_to, *f),
            _ => return refuse(Flaw::Form),
        };
        if let Some(through) = through {
            self.along(claim, part, &part.states[..n_steps], through)?;
        }
        for &formula in &to {
            if !self.may_be(&Claim { state: last, formula, ..*claim }, &Facts::default()) {
                return refuse(Flaw::Value(n_steps));
            }
        }
        match to.last() {
            Some(&formula) => self.confirm(&Claim { state: last, formula, ..*claim }, part, n_steps),
            None => refuse(Flaw::Form),
        }
    }

    /// A formula has the claimed value in all these states.
    fn along(
        &self,
        claim: &Claim<'_>,
        part: &Explanation,
        states: &[State],
        formula: FormulaId,
    ) -> Result<(), Refusal> {
        for (at, state) in states.iter().enumerate() {
            if !self.may_be(&Claim { state, formula, ..*claim }, &Facts::default()) {
                return Err(self.refusal(part, Flaw::Value(at)));
            }
        }
        Ok(())
    }

    /// A path that closes, with a formula all along; what is below explains it in the first state.
    fn lasso(
        &self,
        claim: &Claim<'_>,
        part: &Explanation,
        back_to: usize,
        formula: FormulaId,
    ) -> Result<(), Refusal> {
        let refuse = |flaw| Err(self.refusal(part, flaw));
        let Some(last) = part.states.last() else { return refuse(Flaw::Form) };
        match part.states.get(back_to) {
            Some(first) if self.may_step(claim.world, Place::shown(last), first) => {}
            _ => return refuse(Flaw::NoLoop),
        }
        self.along(claim, part, &part.states, formula)?;
        for &condition in &self.program(claim.world).fair {
            let meets = |state| {
                self.value(claim.world, Place::shown(state), &Facts::default(), condition) != Some(false)
            };
            if !part.states[back_to..].iter().any(meets) {
                return refuse(Flaw::Unfair);
            }
        }
        self.confirm(&Claim { formula, ..*claim }, part, 0)
    }

    /// A state of the world below that is reached there and agrees with every attitude that is true
    /// here, but not with the argument.
    fn jump(
        &self,
        claim: &Claim<'_>,
        part: &Explanation,
        edge: Edge,
        listed: &[VarId],
    ) -> Result<(), Refusal> {
        let refuse = |flaw| Err(self.refusal(part, flaw));
        let Formula::Attitude { arg, .. } = *self.model.formula(claim.formula) else {
            return refuse(Flaw::Form);
        };
        let child = self.plan.child(claim.world, edge);
        let mut path = claim.path.clone();
        path.edges.push(edge);
        if Some(part.world) != child || part.path != path {
            return refuse(Flaw::Stranger);
        }
        let (first, last) = self.walk(part)?;
        if !self.is_initial(part.world, first) {
            return refuse(Flaw::NotInitial);
        }
        let mut asserted = Vec::new();
        for &var in &self.program(claim.world).vars {
            let Some(attitude) = self.model.var(var).attitude else { continue };
            let here = Place::shown(claim.state);
            if attitude.edge != edge || self.label(claim.world, here, var) != Some(true) {
                continue;
            }
            asserted.push(var);
            if self.value(part.world, Place::shown(last), &Facts::default(), attitude.arg) == Some(false) {
                return refuse(Flaw::Inaccessible);
            }
        }
        if listed != asserted {
            return refuse(Flaw::Asserted);
        }
        let below = Claim { world: part.world, path: &path, state: last, formula: arg, holds: false };
        self.confirm(&below, part, part.states.len() - 1)
    }
}
