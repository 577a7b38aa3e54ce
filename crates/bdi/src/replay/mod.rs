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

use crate::model::{Edge, Formula, FormulaId, Model, Question};
use crate::plan::{Plan, WorldId};
use crate::symbolic::{Explanation, Removal, Shape, StateText};
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
    let refuse = |flaw| Err(refusal(explanation, flaw));
    let path = model.path_text(&property.path);
    if (&explanation.world, &explanation.formula) != (&path, &property.text) || explanation.holds {
        return refuse(Flaw::Stranger);
    }
    if explanation.kind != Shape::Path || !is_plain(explanation) {
        return refuse(Flaw::Form);
    }
    let world = plan.properties[index];
    let places = replay.walk(world, explanation)?;
    let Some(last) = places.last() else { return refuse(Flaw::Form) };
    if !replay.is_initial(world, &places[0]) || property.initially && !replay.is_initial(world, last) {
        return refuse(Flaw::NotInitial);
    }
    match property.question {
        Question::Formula(formula) => {
            let claim = Claim { world, path: &path, place: last, formula, holds: false };
            replay.confirm(&claim, explanation, places.len() - 1)
        }
        _ if explanation.next.is_empty() => Ok(()),
        _ => refuse(Flaw::Stranger),
    }
}

/// Confirms the way to a state that was removed; why it had to be is trusted.
pub fn replay_removal(model: &Model, plan: &Plan, world: WorldId, removal: &Removal) -> Result<(), Refusal> {
    let replay = Replay { model, plan };
    let refuse =
        |flaw| Err(Refusal { world: plan.name(world).to_owned(), formula: removal.attitude.clone(), flaw });
    let places = match replay.walk_states(world, &removal.example) {
        Ok(places) => places,
        Err(flaw) => return refuse(flaw),
    };
    let Some(last) = places.last() else { return refuse(Flaw::Form) };
    if !replay.is_initial(world, &places[0]) {
        return refuse(Flaw::NotInitial);
    }
    let vars = &replay.program(world).vars;
    let lacked = vars.iter().find(|var| model.var(**var).name == removal.attitude);
    match lacked {
        Some(&var) if replay.label(world, last, var) == Some(true) => refuse(Flaw::Value(places.len() - 1)),
        _ => Ok(()),
    }
}

fn refusal(part: &Explanation, flaw: Flaw) -> Refusal {
    Refusal { world: part.world.clone(), formula: part.formula.clone(), flaw }
}

/// Neither a lasso nor a jump.
fn is_plain(part: &Explanation) -> bool {
    part.back_to.is_none() && part.edge.is_none() && part.asserted.is_empty()
}

/// A formula in a state of a world, as a part says.
struct Claim<'c> {
    world: WorldId,
    /// The way to the world.
    path: &'c str,
    place: &'c Place,
    formula: FormulaId,
    holds: bool,
}

/// What is replayed on.
struct Replay<'m> {
    model: &'m Model,
    plan: &'m Plan,
}

impl Replay<'_> {
    /// The states of a part, each a step after the one before.
    fn walk(&self, world: WorldId, part: &Explanation) -> Result<Vec<Place>, Refusal> {
        self.walk_states(world, &part.states).map_err(|flaw| refusal(part, flaw))
    }

    fn walk_states(&self, world: WorldId, states: &[StateText]) -> Result<Vec<Place>, Flaw> {
        let mut places: Vec<Place> = Vec::new();
        for (at, state) in states.iter().enumerate() {
            let place = self.place(world, state).ok_or(Flaw::NoState(at))?;
            if let Some(before) = places.last()
                && !self.may_step(world, before, &place)
            {
                return Err(Flaw::NoStep(at - 1));
            }
            places.push(place);
        }
        Ok(places)
    }

    /// A claim about state `at` of a part, with the parts below that explain it: each is true and
    /// about something the claim rests on, and together they do not contradict the claim.
    fn confirm(&self, claim: &Claim<'_>, part: &Explanation, at: usize) -> Result<(), Refusal> {
        let grounds = self.grounds(claim);
        let mut facts = Facts::default();
        for below in &part.next {
            let found = grounds.iter().find(|ground| self.is_about(below, **ground));
            let Some(&(formula, holds)) = found else { return Err(refusal(below, Flaw::Stranger)) };
            let ground = Claim { formula, holds, ..*claim };
            if !self.may_be(&ground, &Facts::default()) {
                return Err(refusal(part, Flaw::Value(at)));
            }
            self.part(&ground, below)?;
            facts.insert(formula, holds);
        }
        match self.may_be(claim, &facts) {
            true => Ok(()),
            false => Err(refusal(part, Flaw::Value(at))),
        }
    }

    /// Whether a part says that it is the witness for a formula's value. A jump names the argument.
    fn is_about(&self, part: &Explanation, (formula, holds): (FormulaId, bool)) -> bool {
        let is_formula = |id| self.model.formula_text(id) == part.formula;
        match *self.model.formula(formula) {
            Formula::Attitude { edge, arg, .. } => {
                part.edge.as_ref() == Some(&self.model.edge_text(edge)) && !part.holds && is_formula(arg)
            }
            _ => part.edge.is_none() && part.holds == holds && is_formula(formula),
        }
    }

    /// Whether nothing that is decided in the state contradicts a claim.
    fn may_be(&self, claim: &Claim<'_>, facts: &Facts) -> bool {
        self.value(claim.world, claim.place, facts, claim.formula) != Some(!claim.holds)
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
        if let Formula::Attitude { edge, arg, .. } = *self.model.formula(claim.formula) {
            return self.jump(claim, part, edge, arg);
        }
        let refuse = |flaw| Err(refusal(part, flaw));
        if part.world != claim.path {
            return refuse(Flaw::Stranger);
        }
        let places = self.walk(claim.world, part)?;
        let Some(last) = places.last() else { return refuse(Flaw::Form) };
        if places[0] != *claim.place {
            return refuse(Flaw::ElsewhereFrom);
        }
        let n_steps = places.len() - 1;
        // What holds before the last state, and what in it; the last of these is explained below.
        let (through, to) = match (self.model.formula(claim.formula), part.kind) {
            (Formula::Ex(f) | Formula::Ax(f), Shape::Path) if n_steps == 1 => (None, vec![*f]),
            (Formula::Ef(f) | Formula::Ag(f), Shape::Path) => (None, vec![*f]),
            (Formula::Eu(f, g) | Formula::Ar(f, g), Shape::Path) => (Some(*f), vec![*g]),
            (Formula::Er(f, g) | Formula::Au(f, g), Shape::Path) => (Some(*g), vec![*f, *g]),
            (Formula::Eg(f) | Formula::Af(f), Shape::Lasso) => return self.lasso(claim, part, &places, *f),
            (Formula::Er(_, g) | Formula::Au(_, g), Shape::Lasso) => {
                return self.lasso(claim, part, &places, *g);
            }
            _ => return refuse(Flaw::Form),
        };
        if !is_plain(part) {
            return refuse(Flaw::Form);
        }
        if let Some(through) = through {
            self.along(claim, part, &places[..n_steps], through)?;
        }
        for &formula in &to {
            if !self.may_be(&Claim { place: last, formula, ..*claim }, &Facts::default()) {
                return refuse(Flaw::Value(n_steps));
            }
        }
        match to.last() {
            Some(&formula) => self.confirm(&Claim { place: last, formula, ..*claim }, part, n_steps),
            None => refuse(Flaw::Form),
        }
    }

    /// A formula has the claimed value in all these states.
    fn along(
        &self,
        claim: &Claim<'_>,
        part: &Explanation,
        places: &[Place],
        formula: FormulaId,
    ) -> Result<(), Refusal> {
        for (at, place) in places.iter().enumerate() {
            if !self.may_be(&Claim { place, formula, ..*claim }, &Facts::default()) {
                return Err(refusal(part, Flaw::Value(at)));
            }
        }
        Ok(())
    }

    /// A path that closes, with a formula all along; what is below explains it in the first state.
    fn lasso(
        &self,
        claim: &Claim<'_>,
        part: &Explanation,
        places: &[Place],
        formula: FormulaId,
    ) -> Result<(), Refusal> {
        let refuse = |flaw| Err(refusal(part, flaw));
        let (Some(last), Some(back_to)) = (places.last(), part.back_to) else { return refuse(Flaw::Form) };
        if part.edge.is_some() || !part.asserted.is_empty() {
            return refuse(Flaw::Form);
        }
        match places.get(back_to) {
            Some(first) if self.may_step(claim.world, last, first) => {}
            _ => return refuse(Flaw::NoLoop),
        }
        self.along(claim, part, places, formula)?;
        for &condition in &self.program(claim.world).fair {
            let meets = |place| self.value(claim.world, place, &Facts::default(), condition) != Some(false);
            if !places[back_to..].iter().any(meets) {
                return refuse(Flaw::Unfair);
            }
        }
        self.confirm(&Claim { formula, ..*claim }, part, 0)
    }

    /// A state of the world below that is reached there and agrees with every attitude that is true
    /// here, but not with the argument.
    fn jump(&self, claim: &Claim<'_>, part: &Explanation, edge: Edge, arg: FormulaId) -> Result<(), Refusal> {
        let refuse = |flaw| Err(refusal(part, flaw));
        let path = format!("{}.{}", claim.path, self.model.edge_text(edge));
        if part.kind != Shape::Jump || part.back_to.is_some() {
            return refuse(Flaw::Form);
        }
        let Some(&child) = self.plan.worlds[claim.world.index()].children.get(&edge) else {
            return refuse(Flaw::Stranger);
        };
        if part.world != path {
            return refuse(Flaw::Stranger);
        }
        let places = self.walk(child, part)?;
        let Some(last) = places.last() else { return refuse(Flaw::Form) };
        if !self.is_initial(child, &places[0]) {
            return refuse(Flaw::NotInitial);
        }
        let mut asserted = Vec::new();
        for &var in &self.program(claim.world).vars {
            let Some(attitude) = self.model.var(var).attitude else { continue };
            if attitude.edge != edge || self.label(claim.world, claim.place, var) != Some(true) {
                continue;
            }
            asserted.push(self.model.var(var).name.as_str());
            if self.value(child, last, &Facts::default(), attitude.arg) == Some(false) {
                return refuse(Flaw::Inaccessible);
            }
        }
        if part.asserted != asserted {
            return refuse(Flaw::Asserted);
        }
        let below = Claim { world: child, path: &path, place: last, formula: arg, holds: false };
        self.confirm(&below, part, places.len() - 1)
    }
}
