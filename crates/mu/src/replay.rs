//! Evidence checked on the system, with nothing but the formula and the contract of [`Lts`].
//!
//! It proves the verdict if every move is one of the game, the winner has a move wherever she must,
//! the loser's moves are all there, and no loop is the loser's.

use std::fmt;

use masque_graph::Components;
use masque_verdict::{Budget, Stop};

use crate::evidence::{Evidence, Move, Place};
use crate::formula::{Action, ActionId, Formula, Node};
use crate::game::verifier_moves;
use crate::pulse::Pulse;
use crate::{Completeness, LabelId, Lts, StateId};

/// What is wrong with evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// The place where it is wrong, by number.
    pub place: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at place {} of the evidence", self.what, self.place)
    }
}

impl std::error::Error for ReplayError {}

impl Evidence {
    /// Whether this proves its verdict of the formula on the system, and its play follows it.
    pub fn replay<L: Lts + ?Sized>(&self, lts: &mut L, formula: &Formula) -> Result<(), ReplayError> {
        let replayed = self.replay_within(lts, formula, &Budget::unlimited());
        replayed.unwrap_or(Err(ReplayError { place: 0, what: "the replay was stopped" }))
    }

    /// The same within limits.
    pub(crate) fn replay_within<L: Lts + ?Sized>(
        &self,
        lts: &mut L,
        formula: &Formula,
        budget: &Budget,
    ) -> Result<Result<(), ReplayError>, Stop> {
        let wrong = |place: usize, what: &'static str| ReplayError { place, what };
        let begins = self.places.first().map(|place| (place.state, place.node));
        if begins != Some((lts.initial(), formula.root())) {
            return Ok(Err(wrong(0, "it does not begin with the initial state and the formula")));
        }
        let mut pulse = Pulse::new(budget);
        for (i, place) in self.places.iter().enumerate() {
            pulse.beat()?;
            if let Err(what) = self.replay_place(lts, formula, place) {
                return Ok(Err(wrong(i, what)));
            }
        }
        budget.check()?;
        Ok(self.replay_loops(formula).and_then(|()| self.replay_play()))
    }

    fn replay_place<L: Lts + ?Sized>(
        &self,
        lts: &mut L,
        formula: &Formula,
        place: &Place,
    ) -> Result<(), &'static str> {
        let legal = match formula.node(place.node) {
            Node::Constant(value) => return self.replay_leaf(place, *value),
            Node::Atom(atom, expected) => {
                let value = lts.holds(place.state, *atom) == *expected;
                return self.replay_leaf(place, value);
            }
            Node::Variable(equation) => vec![(None, place.state, formula.equation(*equation).body)],
            Node::And(operands) | Node::Or(operands) => {
                operands.iter().map(|&operand| (None, place.state, operand)).collect()
            }
            Node::Modal(_, action, inner) => {
                let (steps, complete) = steps(lts, formula, place.state, *action);
                if verifier_moves(formula, place.node) != self.holds && complete != Completeness::Complete {
                    return Err("the loser may have moves beyond a bound");
                }
                steps.into_iter().map(|(label, to)| (Some(label), to, *inner)).collect()
            }
        };
        let made = place.moves.iter().map(|&Move { label, to }| {
            let target = self.places.get(to as usize).ok_or("a move leads nowhere")?;
            Ok((label, target.state, target.node))
        });
        let made = made.collect::<Result<Vec<_>, &'static str>>()?;
        if !made.iter().all(|one| legal.contains(one)) {
            return Err("a move is none of the game");
        }
        let complete = match verifier_moves(formula, place.node) == self.holds {
            true => made.len() == 1,
            false => legal.iter().all(|one| made.contains(one)),
        };
        if complete { Ok(()) } else { Err("a move is missing") }
    }

    fn replay_leaf(&self, place: &Place, value: bool) -> Result<(), &'static str> {
        match value == self.holds && place.moves.is_empty() {
            true => Ok(()),
            false => Err("the loser wins"),
        }
    }

    /// A loop belongs to the player of the largest priority on it.
    fn replay_loops(&self, formula: &Formula) -> Result<(), ReplayError> {
        let edges: Vec<Vec<u32>> =
            self.places.iter().map(|place| place.moves.iter().map(|one| one.to).collect()).collect();
        let priority: Vec<u32> = self.places.iter().map(|place| formula.priority(place.node)).collect();
        let mut of_loser: Vec<u32> =
            priority.iter().copied().filter(|p| p.is_multiple_of(2) != self.holds).collect();
        of_loser.sort_unstable();
        of_loser.dedup();
        let mut components = Components::new(edges.len());
        for bad in of_loser {
            let part: Vec<u32> =
                (0..edges.len() as u32).filter(|&place| priority[place as usize] <= bad).collect();
            for component in components.of(&edges, &part) {
                let found = component.iter().find(|&&place| priority[place as usize] == bad);
                let Some(&place) = found else { continue };
                if component.len() > 1 || edges[place as usize].contains(&place) {
                    return Err(ReplayError { place: place as usize, what: "the loser wins a loop" });
                }
            }
        }
        Ok(())
    }

    fn replay_play(&self) -> Result<(), ReplayError> {
        let play = &self.play;
        let wrong = |place: u32| ReplayError { place: place as usize, what: "the play leaves the evidence" };
        if play.turns.first() != Some(&0) || self.places[0].state != play.start {
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
            let moves = self.places.get(from as usize).map_or(&[][..], |place| &place.moves);
            let made = moves.iter().find(|one| one.to == to).ok_or(wrong(from))?;
            let state = self.places[to as usize].state;
            steps.extend(made.label.map(|label| crate::Step { label, to: state }));
        }
        match steps == play.steps && loop_at == play.loop_at {
            true => Ok(()),
            false => Err(wrong(0)),
        }
    }
}

/// The transitions of a state whose labels are in a set.
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
