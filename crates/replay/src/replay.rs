//! Replay: evidence confirmed on the checked system, with no help from an engine.
//!
//! Everything that can be looked up is looked up: that runs begin where they must and each step is
//! one of the system, that loops close and meet the fairness constraints, that agents see no
//! difference where they are said to see none, that propositions are true or false as claimed, and
//! that the claims made for a formula are those its meaning asks for. What cannot be looked up is
//! listed in the answer: claims that are not shown, and with fairness constraints that a fair run
//! goes on from the end of each finite one. So is a dead end with so many choices that trying all
//! would take too long.

use masque_model::semantics::{enabled_actions, is_green, is_true};
use masque_model::{
    AgentId, At, Deadlock, ExprId, Formula, FormulaId, GroupId, Property, Strategies, System, VarId,
};
use masque_verdict::claims::{
    CoalitionGoal, KnowledgeScope, Needs, RunGoal, local_formulas, local_truth, looks_same, path_of,
    state_parts, why_not_shown,
};
use masque_verdict::{
    Because, Chain, Evidence, JointAction, Literal, Missing, Moves, Path, Possibility, Reason, ReasonId, Run,
    Showing, State, StateId, Support,
};

use crate::answers;
use crate::fault::{Fault, ReplayError, Trusted};
use crate::fixpoint;
use crate::path_formula::truth_on_run;
use crate::strategy;
use crate::wellformed::Checked;

/// Confirms that a path starts in an initial state and that each step is one of the system.
pub fn replay_path(system: &System, path: &Path) -> Result<(), ReplayError> {
    let replayer = Replayer::new(system, &path.states)?;
    let states: Vec<&State> = path.states.iter().collect();
    replayer.is_initial(states.first().copied())?;
    replayer.steps(&states, path.actions.iter().map(Some))
}

/// Confirms the evidence for a property that holds (`holds`) or fails, from the definition alone,
/// and says what is taken on trust.
pub fn replay(
    system: &System,
    property: &Property,
    holds: bool,
    evidence: &Evidence,
) -> Result<Trusted, ReplayError> {
    let replayer = Replayer::new(system, &evidence.states)?;
    let evidence = Checked::new(evidence)?;
    let Evidence { start, reasons, .. } = evidence.0;
    replayer.run(evidence, start, true)?;
    let Some(root) = reasons.first() else { return Err(ReplayError::Shape) };
    let is_start = start.back_to.is_none()
        && start.last() == Some(root.state)
        && (property.at == At::Reachable || start.states.len() == 1);
    if (root.formula, root.holds) != (property.formula, holds) || !is_start {
        return Err(ReplayError::OtherProperty);
    }
    let mut trusted = Trusted::default();
    for (id, reason) in (0..).map(ReasonId).zip(reasons) {
        replayer.reason(evidence, id, reason, &mut trusted)?;
    }
    trusted.fair.sort_unstable();
    trusted.fair.dedup();
    trusted.constraints.sort_unstable();
    trusted.constraints.dedup();
    Ok(trusted)
}

/// Looks things up in a system.
struct Replayer<'s> {
    system: &'s System,
    moves: Moves<'s>,
    is_local: Vec<bool>,
}

impl<'s> Replayer<'s> {
    /// For these states, which must be states of the system.
    fn new(system: &'s System, states: &[State]) -> Result<Replayer<'s>, ReplayError> {
        for (position, state) in states.iter().enumerate() {
            if state.len() != system.variables.len() {
                return Err(ReplayError::Shape);
            }
            let outside = |v: &VarId| !system.variable(*v).domain.contains(state[v.index()]);
            if let Some(variable) = system.variable_ids().find(outside) {
                return Err(ReplayError::NotInDomain { state: position, variable });
            }
        }
        let is_local = local_formulas(&system.formulas);
        Ok(Replayer { system, moves: Moves::new(system), is_local })
    }

    fn is_initial(&self, state: Option<&State>) -> Result<(), ReplayError> {
        let state = state.ok_or(ReplayError::Shape)?;
        let is_initial = is_true(self.system, self.system.initial, state, &[]);
        if is_initial { Ok(()) } else { Err(ReplayError::NotInitial) }
    }

    /// Confirms a run, and that it begins in an initial state if it must.
    fn run(&self, evidence: Checked<'_>, run: &Run, from_initial: bool) -> Result<(), ReplayError> {
        let states = evidence.states(run);
        if from_initial {
            self.is_initial(states.first().copied())?;
        }
        self.steps(&states, run.actions.iter().map(Option::as_ref))
    }

    /// Confirms that each action leads from its state to the next.
    fn steps<'a>(
        &self,
        states: &[&State],
        actions: impl ExactSizeIterator<Item = Option<&'a JointAction>>,
    ) -> Result<(), ReplayError> {
        if states.len() != actions.len() + 1 {
            return Err(ReplayError::Shape);
        }
        for (step, joint) in actions.enumerate() {
            let (state, next) = (states[step], states[step + 1]);
            let Some(joint) = joint else {
                // Only what `stutter` adds needs nobody to act.
                let stays = self.system.meaning.deadlock == Deadlock::Stutter && state == next;
                match stays && self.moves.has_successor(state) != Some(true) {
                    true => continue,
                    false => return Err(ReplayError::NotASuccessor { step }),
                }
            };
            if joint.len() != self.system.agents.len() {
                return Err(ReplayError::Shape);
            }
            let is_idle = |i: &AgentId| !enabled_actions(self.system, *i, state).contains(&joint[i.index()]);
            if let Some(agent) = self.system.agent_ids().find(is_idle) {
                return Err(ReplayError::NotEnabled { step, agent });
            }
            if !self.moves.leads_to(state, joint, next) {
                return Err(ReplayError::NotASuccessor { step });
            }
        }
        Ok(())
    }

    /// Confirms that a reason shows its claim, given that those it refers to show theirs.
    fn reason(
        &self,
        evidence: Checked<'_>,
        id: ReasonId,
        reason: &Reason,
        trusted: &mut Trusted,
    ) -> Result<(), ReplayError> {
        let at = evidence.0.state(reason.state);
        let literal = Literal { formula: reason.formula, holds: reason.holds };
        let refuse = |fault| Err(ReplayError::Refused { reason: id, fault });
        let is_local = self.is_local[reason.formula.index()];
        let goal = RunGoal::of(&self.system.formulas, reason.formula);
        let scope = KnowledgeScope::of(self.system, reason.formula);
        let fault = match &reason.because {
            Because::Here if is_local => {
                (local_truth(self.system, reason.formula, at) != Some(reason.holds)).then_some(Fault::Truth)
            }
            _ if is_local => return refuse(Fault::Kind),
            Because::NotShown(missing) => {
                trusted.claims.push(id);
                let fits = match missing {
                    Missing::TooMuch => true,
                    Missing::Strategies => CoalitionGoal::of(self.system, reason.formula)
                        .is_some_and(|goal| !reason.holds && goal.strategies != Strategies::Perfect),
                    _ => why_not_shown(self.system, literal) == Some(*missing),
                };
                (!fits).then_some(Fault::Kind)
            }
            Because::Operands(list) => {
                let claims = evidence.claims_at(list, reason.state);
                match (claims, goal, Needs::of(&self.system.formulas, literal)) {
                    (None, ..) => Some(Fault::Claims),
                    (Some(claims), _, Some(needs)) => (!needs.are_met_by(&claims)).then_some(Fault::Claims),
                    (Some(claims), Some(goal), _) if goal.holds != reason.holds => {
                        (!goal.is_refuted_by(&claims, false)).then_some(Fault::Claims)
                    }
                    _ => Some(Fault::Kind),
                }
            }
            Because::DeadEnd(list) if steps_of(self.system, literal).is_some_and(|(.., one)| !one) => {
                let has_successor = self.moves.has_successor(at);
                if has_successor.is_none() {
                    trusted.dead_ends.push(reason.state);
                }
                let ends = self.system.meaning.deadlock != Deadlock::Stutter && has_successor != Some(true);
                match list.is_empty() {
                    true => (!ends).then_some(Fault::NotADeadEnd),
                    false => Some(Fault::Claims),
                }
            }
            Because::DeadEnd(list) => match (evidence.claims_at(list, reason.state), goal) {
                (Some(claims), Some(goal)) if goal.holds != reason.holds => {
                    let has_successor = self.moves.has_successor(at);
                    if has_successor.is_none() {
                        trusted.dead_ends.push(reason.state);
                    }
                    let ends =
                        self.system.meaning.deadlock != Deadlock::Stutter && has_successor != Some(true);
                    let is_refuted = goal.is_refuted_by(&claims, true);
                    (!is_refuted).then_some(Fault::Claims).or((!ends).then_some(Fault::NotADeadEnd))
                }
                (None, _) => Some(Fault::Claims),
                _ => Some(Fault::Kind),
            },
            Because::Run(showing) => match (goal, path_of(&self.system.formulas, reason.formula)) {
                (Some(goal), _) if goal.holds == reason.holds => {
                    self.run(evidence, &showing.run, false)?;
                    self.showing(evidence, reason, showing, &goal, trusted)
                }
                (_, Some((path, truth))) if truth == reason.holds => {
                    self.run(evidence, &showing.run, false)?;
                    self.showing_path(evidence, reason, showing, (path, truth), trusted)
                }
                _ => match steps_of(self.system, literal) {
                    Some((condition, operand, true)) => {
                        self.run(evidence, &showing.run, false)?;
                        self.step(evidence, reason, showing, (condition, operand), trusted)
                    }
                    _ => Some(Fault::Kind),
                },
            },
            Because::Unfolded(unfolding) if why_not_shown(self.system, literal).is_none() => {
                for node in &unfolding.nodes {
                    if let Support::Possible { path: Some(path), .. } = &node.by {
                        self.run(evidence, path, true)?;
                    }
                    _ = self.trust_fair(node.state, trusted);
                }
                match fixpoint::confirm(self.system, evidence.0, reason, unfolding) {
                    Ok(trusts) => {
                        trusted.questions.extend(trusts.then_some(id));
                        None
                    }
                    Err(fault) => Some(fault),
                }
            }
            Because::Unfolded(_) => Some(Fault::Kind),
            Because::Possible(possibility) => match scope {
                Some((KnowledgeScope::Views { views, green }, operand)) if !reason.holds => {
                    let operand = Literal { formula: operand, holds: false };
                    if let Some(path) = &possibility.path {
                        self.run(evidence, path, true)?;
                    }
                    let fits = views.contains(&possibility.view) && green == possibility.green;
                    let fault = self.possible(evidence, reason, possibility, operand, trusted);
                    if fits { fault } else { Some(Fault::Kind) }
                }
                _ => Some(Fault::Kind),
            },
            Because::Chain(chain) => match scope {
                Some((KnowledgeScope::Chain(group), operand)) if !reason.holds => {
                    let operand = Literal { formula: operand, holds: false };
                    for link in &chain.links {
                        self.run(evidence, &link.path, true)?;
                    }
                    self.chain(evidence, reason, chain, (group, operand), trusted)
                }
                _ => Some(Fault::Kind),
            },
            Because::Strategy(strategy) => match CoalitionGoal::of(self.system, reason.formula) {
                Some(goal) if reason.holds => {
                    self.run(evidence, &strategy.play, false)?;
                    // What is claimed of a state is claimed of one where a fair run starts.
                    let claimed = strategy.claims.iter().map(|&id| evidence.claim(id).1);
                    for state in strategy.from.iter().copied().chain(claimed) {
                        _ = self.trust_fair(state, trusted);
                    }
                    if strategy.from.len() > 1
                        || !matches!(goal.strategies, Strategies::Perfect | Strategies::UniformObjective)
                    {
                        trusted.questions.push(id);
                    }
                    strategy::confirm(self.system, evidence.0, reason, strategy, &goal)
                }
                _ => Some(Fault::Kind),
            },
            Because::Answers(answers) => match CoalitionGoal::of(self.system, reason.formula) {
                Some(goal) if !reason.holds => {
                    self.run(evidence, &answers.play, false)?;
                    if let Some(path) = &answers.path {
                        self.run(evidence, path, true)?;
                        _ = self.trust_fair(reason.state, trusted);
                    }
                    answers::confirm(self.system, evidence.0, reason, answers, &goal)
                }
                _ => Some(Fault::Kind),
            },
            Because::Here => Some(Fault::Kind),
        };
        fault.map_or(Ok(()), refuse)
    }

    /// Whether a run of the system does what the goal says.
    fn showing(
        &self,
        evidence: Checked<'_>,
        reason: &Reason,
        showing: &Showing,
        goal: &RunGoal,
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let Showing { run, claims, fair } = showing;
        let last = run.states.len() - 1;
        if run.states[0] != reason.state {
            return Some(Fault::Ends);
        }
        let none = Vec::new();
        let (before, at_last) = match (run.back_to, &goal.next, &goal.until, &goal.forever) {
            (Some(_), _, _, Some(stay)) => (stay, stay),
            (None, Some(next), ..) if last == 1 => (&none, next),
            (None, None, Some((through, to)), _) => (through, to),
            _ => return Some(Fault::Ends),
        };
        let needed = (0..=last).flat_map(|position| {
            let literals = if position == last { at_last } else { before };
            literals.iter().map(move |literal| (position, *literal))
        });
        let claimed = claims.iter().map(|&(position, id)| (position, evidence.claim(id)));
        let needed: Vec<_> = needed.map(|(position, l)| (position, (l, run.states[position]))).collect();
        if !claimed.eq(needed) {
            return Some(Fault::Claims);
        }
        match run.back_to {
            None => self.trust_fair(run.states[last], trusted).or(fair.first().map(|_| Fault::Unfair)),
            Some(begin) => self.is_fair(evidence, run, begin, fair, trusted),
        }
    }

    /// Whether a run is one step with a condition, to where the operand has the truth value of the
    /// whole.
    fn step(
        &self,
        evidence: Checked<'_>,
        reason: &Reason,
        showing: &Showing,
        (condition, operand): (ExprId, FormulaId),
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let Showing { run, claims, fair } = showing;
        let ([from, to], [Some(joint)], None) = (&run.states[..], &run.actions[..], run.back_to) else {
            return Some(Fault::Ends);
        };
        let here = evidence.0.state(*from);
        if *from != reason.state || !is_true(self.system, condition, here, joint) {
            return Some(Fault::Ends);
        }
        let operand = Literal { formula: operand, holds: reason.holds };
        let [(1, id)] = claims[..] else { return Some(Fault::Claims) };
        if evidence.claim(id) != (operand, *to) {
            return Some(Fault::Claims);
        }
        self.trust_fair(*to, trusted).or(fair.first().map(|_| Fault::Unfair))
    }

    /// Whether a path formula has a truth value on an infinite run, given the claims about its state
    /// formulas at all positions.
    fn showing_path(
        &self,
        evidence: Checked<'_>,
        reason: &Reason,
        showing: &Showing,
        (path, truth): (FormulaId, bool),
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let Showing { run, claims, fair } = showing;
        let Some(begin) = run.back_to.filter(|_| run.states[0] == reason.state) else {
            return Some(Fault::Ends);
        };
        let formulas = &self.system.formulas;
        let parts = state_parts(formulas, path);
        let n = run.states.len();
        let needed = (0..n).flat_map(|position| parts.iter().map(move |&part| (position, part)));
        let claimed: Vec<_> = claims.iter().map(|&(position, id)| (position, evidence.claim(id))).collect();
        let is_needed = |&(position, (literal, state)): &(usize, (Literal, StateId))| {
            (state == run.states[position]).then_some((position, literal.formula))
        };
        if !claimed.iter().map(is_needed).eq(needed.map(Some)) {
            return Some(Fault::Claims);
        }
        let values =
            claimed.iter().map(|(at, (literal, _))| ((literal.formula, *at), literal.holds)).collect();
        if truth_on_run(formulas, path, n, begin, &values) != Some(truth) {
            return Some(Fault::Truth);
        }
        self.is_fair(evidence, run, begin, fair, trusted)
    }

    /// With fairness constraints a fair run must go on from where a finite one ends.
    fn trust_fair(&self, state: StateId, trusted: &mut Trusted) -> Option<Fault> {
        if !self.system.fairness.is_empty() {
            trusted.fair.push(state);
        }
        None
    }

    /// Whether every fairness constraint is met on a loop.
    fn is_fair(
        &self,
        evidence: Checked<'_>,
        run: &Run,
        begin: usize,
        fair: &[usize],
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        if fair.len() != self.system.fairness.len() {
            return Some(Fault::Unfair);
        }
        for (number, (&constraint, &position)) in self.system.fairness.iter().zip(fair).enumerate() {
            let state = run.states[position];
            match local_truth(self.system, constraint, evidence.0.state(state)) {
                _ if position < begin => return Some(Fault::Unfair),
                Some(true) => {}
                Some(false) => return Some(Fault::Unfair),
                None => trusted.constraints.push((number, state)),
            }
        }
        None
    }

    /// Whether a state must be reckoned with where the claim is made.
    fn possible(
        &self,
        evidence: Checked<'_>,
        reason: &Reason,
        possibility: &Possibility,
        operand: Literal,
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let Possibility { view, green, state, path, reason: why } = possibility;
        let ends = match path {
            None => *state == reason.state,
            Some(path) => path.back_to.is_none() && path.last() == Some(*state),
        };
        let (here, there) = (evidence.0.state(reason.state), evidence.0.state(*state));
        if !ends {
            return Some(Fault::Ends);
        }
        if !view.iter().all(|&agent| looks_same(self.system, agent, here, there)) {
            return Some(Fault::Seen);
        }
        if !green.iter().all(|&agent| is_green(self.system, agent, there)) {
            return Some(Fault::Red);
        }
        if evidence.claim(*why) != (operand, *state) {
            return Some(Fault::Claims);
        }
        self.trust_fair(*state, trusted)
    }

    /// Whether a chain leads from the claim's state to one where the operand is false.
    fn chain(
        &self,
        evidence: Checked<'_>,
        reason: &Reason,
        chain: &Chain,
        (group, operand): (GroupId, Literal),
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let members = &self.system.groups[group.index()].agents;
        let mut at = reason.state;
        for link in &chain.links {
            if link.path.back_to.is_some() || link.path.last() != Some(link.state) {
                return Some(Fault::Ends);
            }
            let (here, there) = (evidence.0.state(at), evidence.0.state(link.state));
            if !members.contains(&link.agent) || !looks_same(self.system, link.agent, here, there) {
                return Some(Fault::Seen);
            }
            at = link.state;
            _ = self.trust_fair(at, trusted);
        }
        (evidence.claim(chain.reason) != (operand, at)).then_some(Fault::Claims)
    }
}

/// The condition and the operand of `EX{c}` or `AX{c}`, and whether one step shows the claim.
fn steps_of(system: &System, literal: Literal) -> Option<(ExprId, FormulaId, bool)> {
    match system.formulas.get(literal.formula) {
        Formula::ExistsStep(condition, operand) => Some((condition, operand, literal.holds)),
        Formula::ForallStep(condition, operand) => Some((condition, operand, !literal.holds)),
        _ => None,
    }
}
