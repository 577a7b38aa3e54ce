//! Reasons for claims of the logics beyond CTL: path formulas, coalitions, steps by what agents do,
//! fixpoints. What is shown is found elsewhere (`runs`, `strategies`, `answers`, `unfold`); here it
//! becomes a reason, with the claims that it makes.

use masque_model::semantics::is_true;
use masque_model::steps::{Neighbourhood, Step};
use masque_model::{Deadlock, ExprId, FormulaId, Strategies};
use masque_verdict::claims::{CoalitionGoal, state_parts};
use masque_verdict::{
    Answer, Answers, Because, Literal, Missing, Node, Part, Row, Run, Showing, State, StateId, Stop,
    Strategy, Support, Unfolding,
};

use crate::answers::NoReply;
use crate::explain::Explainer;
use crate::fixpoints::{How, Shown};
use crate::lasso::Lasso;
use crate::strategies::Play;

impl Explainer<'_> {
    /// A strategy, with what must be claimed where it leads.
    pub(crate) fn enforcing(&mut self, goal: &CoalitionGoal, state: &State) -> Result<Because, Stop> {
        let too_much = Ok(Because::NotShown(Missing::TooMuch));
        let Some(from) = self.in_question(goal, state)? else { return too_much };
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
        let (play, unmet) = (self.played(plan.play), plan.unmet);
        Ok(Because::Strategy(Strategy { from, rows, claims, play, unmet }))
    }

    fn played(&mut self, (states, actions, back_to): Play) -> Run {
        let states = states.into_iter().map(|state| self.state(state)).collect();
        Run { states, actions, back_to }
    }

    /// What the others do against it, with what must be claimed where that leads.
    pub(crate) fn spoiling(
        &mut self,
        goal: &CoalitionGoal,
        at: StateId,
        state: &State,
    ) -> Result<Because, Stop> {
        let too_much = Ok(Because::NotShown(Missing::TooMuch));
        let Some(question) = self.in_question(goal, state)? else { return too_much };
        let reply = match self.answers(goal, &question)? {
            Ok(reply) => reply,
            Err(NoReply::Won) if goal.strategies != Strategies::Perfect => {
                return Ok(Because::NotShown(Missing::Strategies));
            }
            Err(_) => return too_much,
        };
        let path = match reply.from {
            0 => None,
            from => match self.path_to(&[Part::Is(question[from].clone())])? {
                Some(path) => Some(self.finite_run(path)?),
                None => return too_much,
            },
        };
        let from = path.as_ref().and_then(Run::last).unwrap_or(at);
        let mut claims = Vec::new();
        for (state, is_violated) in reply.visited {
            let lists = match is_violated {
                true => goal.violated_by(),
                false => goal.end.iter().map(Vec::as_slice).collect(),
            };
            let mut found: Vec<Literal> = Vec::new();
            for list in lists {
                let negated: Vec<Literal> = list.iter().map(|literal| literal.negated()).collect();
                if !negated.iter().any(|literal| found.contains(literal)) {
                    found.extend(self.first_so(&negated, &state)?);
                }
            }
            let state = self.state(state);
            claims.extend(self.claims_along(&found, &[state]).into_iter().map(|(_, reason)| reason));
        }
        let rows = reply.rows.into_iter().map(|row| Answer {
            state: self.state(row.state),
            stage: row.stage,
            actions: row.actions,
            joint: row.joint,
            next: row.next.map(|next| self.state(next)),
        });
        let rows = rows.collect();
        let play = self.played(reply.play);
        Ok(Because::Answers(Answers { from, path, rows, claims, play, fair: reply.fair }))
    }

    /// A step with a condition to a state where a literal is so: the least such state, by the least
    /// joint action.
    pub(crate) fn step(
        &mut self,
        condition: ExprId,
        literal: Literal,
        state: &State,
    ) -> Result<Because, Stop> {
        let mut nearby = Neighbourhood::new(self.system);
        let here = nearby.number(state.clone());
        let (Some(steps), Some(successors)) = (nearby.steps(here), nearby.successors(here)) else {
            return Ok(Because::NotShown(Missing::TooMuch));
        };
        for target in successors {
            let leads = |step: &&Step| {
                let may = step.joint.as_ref().is_some_and(|j| is_true(self.system, condition, state, j));
                may && step.targets.contains(&target)
            };
            let Some(Step { joint, .. }) = steps.iter().find(leads) else { continue };
            let next = nearby.state(target).clone();
            if self.is_inside(&next)? && self.is_so(literal, &next)? {
                let states = vec![self.state(state.clone()), self.state(next)];
                let claims = vec![(1, self.claim(literal, states[1]))];
                let run = Run { states, actions: vec![joint.clone()], back_to: None };
                return Ok(Because::Run(Showing { run, claims, fair: Vec::new() }));
            }
        }
        Ok(Because::NotShown(Missing::TooMuch))
    }

    /// That no step with a condition leads anywhere, if that shows at the state itself.
    pub(crate) fn no_step(&mut self, state: &State) -> Result<Because, Stop> {
        let ends = self.system.meaning.deadlock != Deadlock::Stutter;
        Ok(match ends && self.oracle.is_dead_end(state, self.budget)? {
            true => Because::DeadEnd(Vec::new()),
            false => Because::NotShown(Missing::AllPaths),
        })
    }

    /// A fixpoint, unfolded as often as is needed.
    pub(crate) fn unfolding(&mut self, literal: Literal, state: &State) -> Result<Because, Stop> {
        let Some(shown) = self.unfold(literal, state)? else {
            return Ok(Because::NotShown(Missing::TooMuch));
        };
        let states: Vec<State> = shown.iter().map(|shown| shown.state.clone()).collect();
        let mut nodes = Vec::new();
        for Shown { claim, state, how } in shown {
            let (Literal { formula, holds }, state) = (claim.literal, self.state(state));
            let by = match how {
                How::Closed => Support::Reason(self.claims_along(&[claim.literal], &[state])[0].1),
                How::Nodes(list) => Support::Nodes(list),
                How::Steps(list) => Support::Steps(list),
                How::Alike(list) => Support::Alike(list),
                How::Possible(view, node) => {
                    let is_here = states[node] == self.states[state.index()];
                    let path = match is_here {
                        true => None,
                        false => self.path_to(&[Part::Is(states[node].clone())])?,
                    };
                    let path = path.map(|path| self.finite_run(path)).transpose()?;
                    Support::Possible { view, path, node }
                }
            };
            nodes.push(Node { formula, holds, state, scope: claim.scope, by });
        }
        Ok(Because::Unfolded(Unfolding { nodes }))
    }

    /// What must be claimed on a run of a path formula: each of its state formulas, true or false, at
    /// each position.
    pub(crate) fn showing_path(&mut self, path: FormulaId, lasso: Lasso) -> Result<Because, Stop> {
        let parts = state_parts(&self.system.formulas, path);
        let (states, fair) = (lasso.states.clone(), lasso.fair.clone());
        let run = self.infinite_run(lasso)?;
        let mut claims = Vec::new();
        for (position, state) in states.iter().enumerate() {
            let mut literals = Vec::new();
            for &formula in &parts {
                let holds = self.is_so(Literal { formula, holds: true }, state)?;
                literals.push(Literal { formula, holds });
            }
            let here = self.claims_along(&literals, &run.states[position..=position]);
            claims.extend(here.into_iter().map(|(_, reason)| (position, reason)));
        }
        Ok(Because::Run(Showing { run, claims, fair }))
    }
}
