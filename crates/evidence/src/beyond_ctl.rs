//! Reasons for claims of the logics beyond CTL: path formulas, coalitions, labelled steps, fixpoints. The
//! modules `product`, `strategies`, `responses` and `fixpoints` search for the evidence; this module turns
//! the results into reasons and adds the claims that they need.

use masque_model::semantics::is_true;
use masque_model::steps::{Neighbourhood, Step};
use masque_model::{Deadlock, ExprId, FormulaId, Strategies};
use masque_verdict::claims::{CoalitionGoal, state_parts};
use masque_verdict::{
    Because, DecidedBy, EvidencePath, GroupStrategy, Literal, NotShownReason, PathReason, RegionPart,
    Response, Responses, Row, State, StateId, Stop, UnfoldedClaim, Unfolding,
};

use crate::explain::Explainer;
use crate::fixpoints::{How, Shown};
use crate::lasso::Lasso;
use crate::responses::NoResponse;
use crate::strategies::Play;

impl Explainer<'_> {
    /// Finds a strategy, and adds the claims about the states to which it may lead.
    pub(crate) fn enforcing(&mut self, goal: &CoalitionGoal, state: &State) -> Result<Because, Stop> {
        let too_much = Ok(Because::NotShown(NotShownReason::TooMuch));
        let Some(from) = self.states_to_win(goal, state)? else { return too_much };
        let Some(plan) = self.strategy(goal, &from)? else { return too_much };
        let none = Vec::new();
        let mut claims = Vec::new();
        for (state, is_end) in plan.visited {
            let literals = if is_end { goal.end.as_ref().unwrap_or(&none) } else { &goal.before };
            let state = self.state(state);
            claims.extend(self.claims_along(literals, &[state]).into_iter().map(|(_, reason)| reason));
        }
        let rows = plan.rows.into_iter().map(|(agents, state, actions)| {
            let state = self.state(state);
            Row { sees: goal.sees(self.system, &agents), agents, state, actions }
        });
        let rows = rows.collect();
        let from = from.into_iter().map(|state| self.state(state)).collect();
        let (play, unmet) = (self.play_run(plan.play), plan.unmet);
        Ok(Because::Strategy(GroupStrategy { from, rows, claims, play, unmet }))
    }

    fn play_run(&mut self, (states, actions, back_to): Play) -> EvidencePath {
        let states = states.into_iter().map(|state| self.state(state)).collect();
        EvidencePath { states, actions, back_to }
    }

    /// Finds responses of the others, and adds the claims about the states to which they may lead.
    pub(crate) fn preventing(
        &mut self,
        goal: &CoalitionGoal,
        at: StateId,
        state: &State,
    ) -> Result<Because, Stop> {
        let too_much = Ok(Because::NotShown(NotShownReason::TooMuch));
        let Some(states) = self.states_to_win(goal, state)? else { return too_much };
        let found = match self.responses(goal, &states)? {
            Ok(found) => found,
            Err(NoResponse::Won) if goal.strategies != Strategies::Perfect => {
                return Ok(Because::NotShown(NotShownReason::Strategies));
            }
            Err(_) => return too_much,
        };
        let path = match found.from {
            0 => None,
            from => match self.path_to(&[RegionPart::Is(states[from].clone())])? {
                Some(path) => Some(self.finite_run(path)?),
                None => return too_much,
            },
        };
        let from = path.as_ref().and_then(EvidencePath::last).unwrap_or(at);
        let mut claims = Vec::new();
        for (state, is_violated) in found.visited {
            let lists =
                if is_violated { goal.violated_by() } else { goal.end.iter().map(Vec::as_slice).collect() };
            let mut literals: Vec<Literal> = Vec::new();
            for list in lists {
                let negated: Vec<Literal> = list.iter().map(|literal| literal.negated()).collect();
                if !negated.iter().any(|literal| literals.contains(literal)) {
                    literals.extend(self.first_true(&negated, &state)?);
                }
            }
            let state = self.state(state);
            claims.extend(self.claims_along(&literals, &[state]).into_iter().map(|(_, reason)| reason));
        }
        let rows = found.rows.into_iter().map(|row| Response {
            state: self.state(row.state),
            stage: row.stage,
            actions: row.actions,
            joint: row.joint,
            next: row.next.map(|next| self.state(next)),
        });
        let rows = rows.collect();
        let play = self.play_run(found.play);
        Ok(Because::Responses(Responses { from, path, rows, claims, play, fair: found.fair }))
    }

    /// A step that satisfies a condition and leads to a state where a literal is true: the least such state,
    /// with the least joint action.
    pub(crate) fn step(
        &mut self,
        condition: ExprId,
        literal: Literal,
        state: &State,
    ) -> Result<Because, Stop> {
        let mut nearby = Neighbourhood::new(self.system);
        let here = nearby.number(state.clone());
        let (Some(steps), Some(successors)) = (nearby.steps(here), nearby.successors(here)) else {
            return Ok(Because::NotShown(NotShownReason::TooMuch));
        };
        for target in successors {
            let leads = |step: &&Step| {
                let may = step.joint.as_ref().is_some_and(|j| is_true(self.system, condition, state, j));
                may && step.targets.contains(&target)
            };
            let Some(Step { joint, .. }) = steps.iter().find(leads) else { continue };
            let next = nearby.state(target).clone();
            if self.is_inside(&next)? && self.is_true(literal, &next)? {
                let states = vec![self.state(state.clone()), self.state(next)];
                let claims = vec![(1, self.claim(literal, states[1]))];
                let run = EvidencePath { states, actions: vec![joint.clone()], back_to: None };
                return Ok(Because::Path(PathReason { run, claims, fair: Vec::new() }));
            }
        }
        Ok(Because::NotShown(NotShownReason::TooMuch))
    }

    /// The reason for a claim about all labelled steps: only a dead end shows it.
    pub(crate) fn no_step(&mut self, state: &State) -> Result<Because, Stop> {
        let ends = self.system.meaning.deadlock != Deadlock::Stutter;
        Ok(if ends && self.oracle.is_dead_end(state, self.budget)? {
            Because::DeadEnd(Vec::new())
        } else {
            Because::NotShown(NotShownReason::AllPaths)
        })
    }

    /// A fixpoint, unfolded as often as needed.
    pub(crate) fn unfolding(&mut self, literal: Literal, state: &State) -> Result<Because, Stop> {
        let Some(shown) = self.unfold(literal, state)? else {
            return Ok(Because::NotShown(NotShownReason::TooMuch));
        };
        let states: Vec<State> = shown.iter().map(|shown| shown.state.clone()).collect();
        let mut nodes = Vec::new();
        for Shown { claim, state, how } in shown {
            let (Literal { formula, holds }, state) = (claim.literal, self.state(state));
            let by = match how {
                How::Closed => DecidedBy::Reason(self.claims_along(&[claim.literal], &[state])[0].1),
                How::Nodes(list) => DecidedBy::Nodes(list),
                How::Steps(list) => DecidedBy::Steps(list),
                How::Alike(list) => DecidedBy::Alike(list),
                How::Possible(view, node) => {
                    let is_here = states[node] == self.states[state.index()];
                    let path =
                        if is_here { None } else { self.path_to(&[RegionPart::Is(states[node].clone())])? };
                    let path = path.map(|path| self.finite_run(path)).transpose()?;
                    DecidedBy::Possible { view, path, node }
                }
            };
            nodes.push(UnfoldedClaim { formula, holds, state, scope: claim.scope, by });
        }
        Ok(Because::Unfolded(Unfolding { nodes }))
    }

    /// Adds the claims for a path on which a path formula has a truth value: whether each of its state
    /// formulas is true or false, at each position.
    pub(crate) fn showing_path(&mut self, path: FormulaId, lasso: Lasso) -> Result<Because, Stop> {
        let parts = state_parts(&self.system.formulas, path);
        let (states, fair) = (lasso.states.clone(), lasso.fair.clone());
        let run = self.infinite_run(lasso)?;
        let mut claims = Vec::new();
        for (position, state) in states.iter().enumerate() {
            let mut literals = Vec::new();
            for &formula in &parts {
                let holds = self.is_true(Literal { formula, holds: true }, state)?;
                literals.push(Literal { formula, holds });
            }
            let here = self.claims_along(&literals, &run.states[position..=position]);
            claims.extend(here.into_iter().map(|(_, reason)| (position, reason)));
        }
        Ok(Because::Path(PathReason { run, claims, fair }))
    }
}
