//! Replays evidence on the system, using only the formula and the interface [`Lts`].
//!
//! Evidence proves the verdict if every move is legal, the winner has a move at each of its positions, all
//! moves of the loser are present, and the loser wins no loop.

use std::fmt;

use masque_graph::Components;
use masque_verdict::{Budget, Stop};

use crate::evidence::{Evidence, EvidencePosition, Move};
use crate::formula::{Action, ActionId, Formula, FormulaNode};
use crate::game::verifier_moves;
use crate::ticker::Ticker;
use crate::{Completeness, LabelId, Lts, StateId};

/// Reason why evidence is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// Index of the position at which the evidence is wrong.
    pub position: usize,
    /// Description of the error.
    pub what: &'static str,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at position {} of the evidence", self.what, self.position)
    }
}

impl std::error::Error for ReplayError {}

impl Evidence {
    /// Confirms that the evidence proves its verdict on the system, and that its play follows the evidence.
    pub fn replay<L: Lts + ?Sized>(&self, lts: &mut L, formula: &Formula) -> Result<(), ReplayError> {
        let replayed = self.replay_within(lts, formula, &Budget::unlimited());
        replayed.unwrap_or(Err(ReplayError { position: 0, what: "the replay was stopped" }))
    }

    /// Does the same within a budget.
    pub(crate) fn replay_within<L: Lts + ?Sized>(
        &self,
        lts: &mut L,
        formula: &Formula,
        budget: &Budget,
    ) -> Result<Result<(), ReplayError>, Stop> {
        let wrong = |position: usize, what: &'static str| ReplayError { position, what };
        let begins = self.positions.first().map(|position| (position.state, position.node));
        if begins != Some((lts.initial(), formula.root())) {
            return Ok(Err(wrong(0, "the evidence does not begin with the initial state and the formula")));
        }
        let mut ticker = Ticker::new(budget);
        for (i, position) in self.positions.iter().enumerate() {
            ticker.tick()?;
            if let Err(what) = self.replay_position(lts, formula, position) {
                return Ok(Err(wrong(i, what)));
            }
        }
        budget.check()?;
        Ok(self.replay_loops(formula).and_then(|()| self.replay_play()))
    }

    fn replay_position<L: Lts + ?Sized>(
        &self,
        lts: &mut L,
        formula: &Formula,
        position: &EvidencePosition,
    ) -> Result<(), &'static str> {
        let legal = match formula.node(position.node) {
            FormulaNode::Constant(value) => return self.replay_leaf(position, *value),
            FormulaNode::Atom(atom, expected) => {
                let value = lts.holds(position.state, *atom) == *expected;
                return self.replay_leaf(position, value);
            }
            FormulaNode::Variable(equation) => vec![(None, position.state, formula.equation(*equation).body)],
            FormulaNode::And(operands) | FormulaNode::Or(operands) => {
                operands.iter().map(|&operand| (None, position.state, operand)).collect()
            }
            FormulaNode::Modal(_, action, inner) => {
                let (steps, complete) = steps(lts, formula, position.state, *action);
                if verifier_moves(formula, position.node) != self.holds && complete != Completeness::Complete
                {
                    return Err("the loser may have moves beyond a bound");
                }
                steps.into_iter().map(|(label, to)| (Some(label), to, *inner)).collect()
            }
        };
        let made = position.moves.iter().map(|&Move { label, to }| {
            let target = self.positions.get(to as usize).ok_or("a move leads nowhere")?;
            Ok((label, target.state, target.node))
        });
        let made = made.collect::<Result<Vec<_>, &'static str>>()?;
        if !made.iter().all(|one| legal.contains(one)) {
            return Err("a move is not legal");
        }
        let complete = if verifier_moves(formula, position.node) == self.holds {
            made.len() == 1
        } else {
            legal.iter().all(|one| made.contains(one))
        };
        if complete { Ok(()) } else { Err("a move is missing") }
    }

    fn replay_leaf(&self, position: &EvidencePosition, value: bool) -> Result<(), &'static str> {
        if value == self.holds && position.moves.is_empty() { Ok(()) } else { Err("the loser wins") }
    }

    /// Confirms that the winner wins every loop: the largest priority on a loop decides it.
    fn replay_loops(&self, formula: &Formula) -> Result<(), ReplayError> {
        let edges: Vec<Vec<u32>> =
            self.positions.iter().map(|position| position.moves.iter().map(|one| one.to).collect()).collect();
        let priority: Vec<u32> =
            self.positions.iter().map(|position| formula.priority(position.node)).collect();
        let mut of_loser: Vec<u32> =
            priority.iter().copied().filter(|p| p.is_multiple_of(2) != self.holds).collect();
        of_loser.sort_unstable();
        of_loser.dedup();
        let mut components = Components::new(edges.len());
        for bad in of_loser {
            let part: Vec<u32> =
                (0..edges.len() as u32).filter(|&position| priority[position as usize] <= bad).collect();
            for component in components.of(&edges, &part) {
                let found = component.iter().find(|&&position| priority[position as usize] == bad);
                let Some(&position) = found else { continue };
                if component.len() > 1 || edges[position as usize].contains(&position) {
                    return Err(ReplayError { position: position as usize, what: "the loser wins a loop" });
                }
            }
        }
        Ok(())
    }

    fn replay_play(&self) -> Result<(), ReplayError> {
        let play = &self.play;
        let wrong =
            |position: u32| ReplayError { position: position as usize, what: "the play leaves the evidence" };
        if play.turns.first() != Some(&0) || self.positions[0].state != play.start {
            return Err(wrong(0));
        }
        let back = play.returns_to.and_then(|turn| play.turns.get(turn));
        let mut steps = Vec::new();
        let mut loop_at = None;
        for (i, &from) in play.turns.iter().enumerate() {
            if play.returns_to == Some(i) {
                loop_at = Some(steps.len());
            }
            let Some(&to) = play.turns.get(i + 1).or(back) else { break };
            let moves = self.positions.get(from as usize).map_or(&[][..], |position| &position.moves);
            let made = moves.iter().find(|one| one.to == to).ok_or(wrong(from))?;
            let state = self.positions[to as usize].state;
            steps.extend(made.label.map(|label| crate::Step { label, to: state }));
        }
        if steps == play.steps && loop_at == play.loop_at { Ok(()) } else { Err(wrong(0)) }
    }
}

/// Returns the transitions of a state whose labels are in a set.
fn steps<L: Lts + ?Sized>(
    lts: &mut L,
    formula: &Formula,
    state: StateId,
    action: ActionId,
) -> (Vec<(LabelId, StateId)>, Completeness) {
    let mut found = Vec::new();
    let complete = lts.successors(state, &mut |label, to| found.push((label, to)));
    found.retain(|(label, _)| is_in(lts, formula, action, *label));
    (found, complete)
}

fn is_in<L: Lts + ?Sized>(lts: &mut L, formula: &Formula, action: ActionId, label: LabelId) -> bool {
    match formula.action(action) {
        Action::Any => true,
        Action::Is(pattern) => lts.matches(label, *pattern),
        Action::Not(inner) => !is_in(lts, formula, *inner, label),
        Action::Either(actions) => actions.iter().any(|&action| is_in(lts, formula, action, label)),
    }
}
