//! What a group can choose at each state, and where each choice may lead.
//!
//! A *move* is a choice of one action for each member. Its targets are all successors, whatever the
//! others do; they are found by one expansion with the members' actions fixed, so that the others'
//! choices are combined as exploration combines them, and not listed. Only where some choice
//! overflows are the others' completions looked at one by one: one of them may lead nowhere.

use masque_model::{AgentId, Deadlock, System};
use masque_verdict::{Budget, Stop, Why};

use crate::bitset::Bitset;
use crate::explore::Space;
use crate::steps::Steps;
use crate::successors::Stepper;

/// The moves of a group at all states.
#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) members: Vec<AgentId>,
    /// Where each state's moves begin, and at last their number.
    begins: Vec<u32>,
    /// The state of each move.
    owners: Vec<u32>,
    /// The actions of each move, one per member; [`ANY`] if the move does not depend on them.
    actions: Vec<u32>,
    /// Where each move's targets begin, and at last their number.
    target_begins: Vec<u32>,
    targets: Vec<u32>,
    /// The moves to which every completion by the others has a successor.
    total: Bitset,
    /// Where the moves into each state begin, and at last their number.
    into_begins: Vec<u32>,
    into: Vec<u32>,
}

/// Stands for every action: the loop of a dead end is the only move there is.
pub(crate) const ANY: u32 = u32::MAX;

impl Game {
    pub(crate) fn new(
        system: &System,
        steps: &Steps<'_>,
        space: &Space,
        members: &[AgentId],
        budget: &Budget,
    ) -> Result<Game, Stop> {
        let mut builder = Builder {
            steps,
            space,
            members,
            stepper: Stepper::new(steps, budget),
            begins: vec![0],
            owners: Vec::new(),
            actions: Vec::new(),
            target_begins: vec![0],
            targets: Vec::new(),
            totals: Vec::new(),
        };
        let stutters = system.meaning.deadlock == Deadlock::Stutter;
        for state in 0..space.n_states() {
            if state % 1024 == 0 {
                budget.check()?;
                budget.check_memory(space.bytes() + builder.bytes())?;
            }
            builder.state(state, stutters)?;
        }
        let held = space.bytes() + builder.bytes();
        budget.check_memory(held + builder.targets.len() as u64 * 4)?;
        Ok(builder.finish())
    }

    pub(crate) fn n_states(&self) -> usize {
        self.begins.len() - 1
    }

    pub(crate) fn n_moves(&self) -> usize {
        self.owners.len()
    }

    /// The moves of a state.
    pub(crate) fn moves(&self, state: usize) -> std::ops::Range<u32> {
        self.begins[state]..self.begins[state + 1]
    }

    /// The state of a move.
    pub(crate) fn owner(&self, at: u32) -> u32 {
        self.owners[at as usize]
    }

    /// The actions of a move, one per member.
    pub(crate) fn actions(&self, at: u32) -> &[u32] {
        &self.actions[at as usize * self.members.len()..][..self.members.len()]
    }

    /// Where a move may lead, in increasing order.
    pub(crate) fn targets(&self, at: u32) -> &[u32] {
        let (begin, end) = (self.target_begins[at as usize], self.target_begins[at as usize + 1]);
        &self.targets[begin as usize..end as usize]
    }

    /// Whether a step follows, whatever the others do.
    pub(crate) fn is_total(&self, at: u32) -> bool {
        self.total.contains(at as usize)
    }

    /// The moves that may lead into a state, in increasing order.
    pub(crate) fn into(&self, state: usize) -> &[u32] {
        &self.into[self.into_begins[state] as usize..self.into_begins[state + 1] as usize]
    }

    pub(crate) fn bytes(&self) -> u64 {
        let words = self.begins.len() + self.owners.len() + self.actions.len() + self.target_begins.len();
        (words + self.targets.len() * 2 + self.into_begins.len()) as u64 * 4 + self.total.bytes()
    }
}

/// A game in the making.
struct Builder<'a> {
    steps: &'a Steps<'a>,
    space: &'a Space,
    members: &'a [AgentId],
    stepper: Stepper<'a>,
    begins: Vec<u32>,
    owners: Vec<u32>,
    actions: Vec<u32>,
    target_begins: Vec<u32>,
    targets: Vec<u32>,
    totals: Vec<bool>,
}

impl Builder<'_> {
    /// Adds the moves of the next state.
    fn state(&mut self, state: usize, stutters: bool) -> Result<(), Stop> {
        let row = self.space.store.row(state);
        let enabled: Vec<Vec<u32>> = self.stepper.enabled_actions(row);
        let first_move = self.owners.len();
        if enabled.iter().all(|actions| !actions.is_empty()) {
            // An action that nothing reads may be any.
            let options = |agent: usize| match self.steps.is_read[agent] {
                true => &enabled[agent][..],
                false => &enabled[agent][..1],
            };
            let mine: Vec<&[u32]> = self.members.iter().map(|i| options(i.index())).collect();
            let others: Vec<usize> =
                (0..enabled.len()).filter(|&agent| !self.members.contains(&AgentId(agent as u32))).collect();
            let theirs: Vec<&[u32]> = others.iter().map(|&agent| options(agent)).collect();
            let mut choice = Odometer::new(&mine);
            while let Some(chosen) = choice.next() {
                for (i, &action) in self.members.iter().zip(&chosen) {
                    self.stepper.only(i.index(), Some(action));
                }
                let begin = self.targets.len();
                let (targets, store) = (&mut self.targets, &self.space.store);
                let expansion = self.stepper.expand(row, |next| {
                    targets.push(store.find(next).ok_or(Stop::from(Why::Unsupported))?);
                    Ok(())
                })?;
                let mut is_total = true;
                if expansion.overflows {
                    let mut completion = Odometer::new(&theirs);
                    while let (true, Some(completed)) = (is_total, completion.next()) {
                        for (&agent, &action) in others.iter().zip(&completed) {
                            self.stepper.only(agent, Some(action));
                        }
                        is_total = !self.stepper.expand(row, |_| Ok(()))?.is_dead;
                    }
                    others.iter().for_each(|&agent| self.stepper.only(agent, None));
                }
                sort_and_dedup_from(&mut self.targets, begin);
                self.actions.extend(&chosen);
                self.close_move(state, is_total)?;
            }
            self.members.iter().for_each(|i| self.stepper.only(i.index(), None));
        }
        let begin = self.target_begins[first_move] as usize;
        if stutters && self.targets.len() == begin {
            // No joint action leads anywhere: the loop is the only move.
            self.owners.truncate(first_move);
            self.totals.truncate(first_move);
            self.target_begins.truncate(first_move + 1);
            self.actions.truncate(first_move * self.members.len());
            self.targets.push(state as u32);
            self.actions.extend(self.members.iter().map(|_| ANY));
            self.close_move(state, true)?;
        }
        self.begins.push(self.owners.len() as u32);
        Ok(())
    }

    fn close_move(&mut self, state: usize, is_total: bool) -> Result<(), Stop> {
        self.owners.push(state as u32);
        self.totals.push(is_total);
        let end = u32::try_from(self.targets.len()).map_err(|_| Stop::from(Why::Memory))?;
        self.target_begins.push(end);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let words = self.begins.capacity()
            + self.owners.capacity()
            + self.actions.capacity()
            + self.targets.capacity();
        (words + self.target_begins.capacity()) as u64 * 4 + self.totals.capacity() as u64
    }

    fn finish(self) -> Game {
        let n_states = self.begins.len() - 1;
        let mut into_begins = vec![0_u32; n_states + 1];
        for &target in &self.targets {
            into_begins[target as usize + 1] += 1;
        }
        for state in 0..n_states {
            into_begins[state + 1] += into_begins[state];
        }
        let mut into = vec![0_u32; self.targets.len()];
        for at in 0..self.owners.len() {
            let range = self.target_begins[at] as usize..self.target_begins[at + 1] as usize;
            for &target in &self.targets[range] {
                let place = &mut into_begins[target as usize];
                into[*place as usize] = at as u32;
                *place += 1;
            }
        }
        // Each begin has moved to the next one's place.
        into_begins.rotate_right(1);
        into_begins[0] = 0;
        let total = Bitset::full(self.totals.len()).filter(|at| self.totals[at]);
        Game {
            members: self.members.to_vec(),
            begins: self.begins,
            owners: self.owners,
            actions: self.actions,
            target_begins: self.target_begins,
            targets: self.targets,
            total,
            into_begins,
            into,
        }
    }
}

/// All ways to choose one of each list, the last changing fastest.
pub(crate) struct Odometer<'a> {
    lists: &'a [&'a [u32]],
    /// The positions to come, none when all are done.
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

fn sort_and_dedup_from(list: &mut Vec<u32>, begin: usize) {
    list[begin..].sort_unstable();
    let mut kept = begin;
    for position in begin..list.len() {
        if position == begin || list[position] != list[kept - 1] {
            list[kept] = list[position];
            kept += 1;
        }
    }
    list.truncate(kept);
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
