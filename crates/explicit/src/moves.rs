//! The moves of a group at a state, and their targets.
//!
//! A *move* is a choice of one action for each member. Its targets are the successors for all choices of
//! the other agents, which are combined as in exploration and not enumerated. Only if
//! some choice overflows are the others' choices examined one by one, because one of them may have no
//! successor.

use masque_model::{AgentId, Deadlock, System};
use masque_verdict::{ANY_ACTION, Budget, Stop};

use crate::steps::Steps;
use crate::successors::{MoveList, Stepper};

/// Lists the moves of a group at one state after the other.
pub struct Mover<'a> {
    steps: &'a Steps<'a>,
    stepper: Stepper<'a>,
    members: Vec<u32>,
    others: Vec<u32>,
    stutters: bool,
    /// The moves at the current state.
    listed: MoveList,
}

/// A move of a group at a state.
#[derive(Debug)]
pub struct Move<'m> {
    /// An action for each member.
    pub(crate) actions: &'m [u32],
    /// Whether the move has a successor for every choice of the other agents.
    pub is_total: bool,
    /// The rows to which it may lead, concatenated. A row may occur twice.
    pub targets: &'m [u64],
}

impl<'a> Mover<'a> {
    pub(crate) fn new(
        system: &System,
        steps: &'a Steps<'a>,
        members: &[AgentId],
        budget: &'a Budget,
    ) -> Mover<'a> {
        let is_member = |agent: &u32| members.contains(&AgentId(*agent));
        Mover {
            steps,
            stepper: Stepper::new(steps, budget),
            members: members.iter().map(|agent| agent.0).collect(),
            others: (0..system.agents.len() as u32).filter(|agent| !is_member(agent)).collect(),
            stutters: system.meaning.deadlock == Deadlock::Stutter,
            listed: MoveList::default(),
        }
    }

    /// Calls `found` for each move at a packed state.
    pub fn each_move(
        &mut self,
        row: &[u64],
        mut found: impl FnMut(Move<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut listed = std::mem::take(&mut self.listed);
        self.stepper.list_moves(row, &self.members, &mut listed)?;
        if self.stutters && listed.targets.is_empty() {
            // No joint action has a successor: the self-loop is the only move.
            let actions = vec![ANY_ACTION; self.members.len()];
            return found(Move { actions: &actions, is_total: true, targets: row });
        }
        let mut begin = 0;
        for (index, &(end, may_overflow)) in listed.ends.iter().enumerate() {
            let actions = &listed.actions[index * self.members.len()..][..self.members.len()];
            let is_total = !may_overflow || self.is_total(row, actions)?;
            found(Move { actions, is_total, targets: &listed.targets[begin..end] })?;
            begin = end;
        }
        self.listed = listed;
        Ok(())
    }

    /// Whether the members' actions have a successor for every choice of the other agents.
    fn is_total(&mut self, row: &[u64], actions: &[u32]) -> Result<bool, Stop> {
        let Mover { steps, stepper, members, others, .. } = self;
        let enabled: Vec<Vec<u32>> = stepper.enabled_actions(row);
        // If no unit reads an agent's action, one of its actions is enough.
        let options = |&agent: &u32| {
            let actions = &enabled[agent as usize][..];
            if steps.is_read[agent as usize] { actions } else { &actions[..1] }
        };
        let theirs: Vec<&[u32]> = others.iter().map(options).collect();
        hold(stepper, members, actions);
        let mut is_total = true;
        let mut completion = Odometer::new(&theirs);
        while let (true, Some(completed)) = (is_total, completion.next()) {
            hold(stepper, others, &completed);
            is_total = !stepper.expand(row, |_| Ok(()))?.is_dead;
        }
        members.iter().chain(others.iter()).for_each(|&agent| stepper.only(agent as usize, None));
        Ok(is_total)
    }
}

/// Restricts agents to one action each.
fn hold(stepper: &mut Stepper<'_>, agents: &[u32], actions: &[u32]) {
    agents.iter().zip(actions).for_each(|(&agent, &action)| stepper.only(agent as usize, Some(action)));
}

/// Enumerates all ways to choose one element of each list; the last list varies fastest.
pub(crate) struct Odometer<'a> {
    lists: &'a [&'a [u32]],
    /// Indices of the next choice; `None` after the last.
    positions: Option<Vec<usize>>,
}

impl<'a> Odometer<'a> {
    pub(crate) fn new(lists: &'a [&'a [u32]]) -> Odometer<'a> {
        let is_possible = lists.iter().all(|list| !list.is_empty());
        Odometer { lists, positions: is_possible.then(|| vec![0; lists.len()]) }
    }

    pub(crate) fn next(&mut self) -> Option<Vec<u32>> {
        let positions = self.positions.as_mut()?;
        let chosen = positions.iter().zip(self.lists).map(|(&position, list)| list[position]).collect();
        let last = positions.iter().zip(self.lists).rposition(|(&position, list)| position + 1 < list.len());
        match last {
            Some(last) => {
                positions[last] += 1;
                positions[last + 1..].fill(0);
            }
            None => self.positions = None,
        }
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_choose() {
        let all = |lists: &[&[u32]]| {
            let mut odometer = Odometer::new(lists);
            std::iter::from_fn(|| odometer.next()).collect::<Vec<_>>()
        };
        assert_eq!(all(&[&[1, 2], &[3]]), [[1, 3], [2, 3]]);
        assert_eq!(all(&[&[1, 2], &[3, 4]]), [[1, 3], [1, 4], [2, 3], [2, 4]]);
        assert_eq!(all(&[]), [[0_u32; 0]]);
        assert_eq!(all(&[&[1], &[]]), Vec::<Vec<u32>>::new());
    }
}
