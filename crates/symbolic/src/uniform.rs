//! Imperfect information: uniform strategies, found by search. [Schobbens04]
//!
//! A uniform strategy chooses an action for each *view*: a member of the group and what it sees. One
//! strategy must win from all states in question at once. What the group wins with perfect
//! information is an upper bound. A search fixes the action of one view after the other, among those
//! that can be met from the states in question; at each node the game is solved with perfect
//! information but what is fixed so far, and the node is left when the group loses. Where no view
//! that can be met has a choice left, what is fixed is a strategy, and it wins.

use masque_model::{ActionId, AgentId, Formula, Strategies, VarId};

use crate::check::Checker;
use crate::moves::Coalition;
use crate::reach::{least, singleton};
use crate::relation::Event;
use crate::space::{Cube, Limited, Set};
use crate::strategic::Goal;

/// A view that the search has fixed.
struct Level {
    /// What the members might choose before.
    choices: Vec<Option<Set>>,
    /// Which member.
    member: usize,
    /// The states that it sees so.
    view: Set,
    /// The actions still to try, the next one last.
    options: Vec<ActionId>,
}

impl Checker<'_> {
    /// The states for which one tuple of uniform strategies reaches the goal from all states in
    /// question.
    pub(crate) fn enforces_uniformly(
        &mut self,
        members: &[AgentId],
        strategies: Strategies,
        goal: &Goal<'_>,
    ) -> Limited<Set> {
        let group = self.coalition(members)?;
        let steps = self.steps_keeping(members)?;
        let upper = self.enforced(&group, goal)?;
        let mut truth = self.encoder.space.none();
        let mut open = self.answered(members, strategies, &upper)?;
        while !open.is_empty() {
            let state = least(&self.encoder, &open)?;
            let state = singleton(&self.encoder, &state)?;
            let question = self.question(members, strategies, &state)?;
            match self.strategy(&group, goal, &steps, &question)? {
                Some(win) => {
                    let answered = self.answered(members, strategies, &win)?;
                    truth = self.encoder.space.or(&truth, &answered)?;
                    open = self.encoder.space.minus(&open, &answered)?;
                }
                // States that all members see alike have the same question.
                None => {
                    let alike = match strategies {
                        Strategies::UniformObjective => state,
                        _ => self.confused(members, &state)?,
                    };
                    open = self.encoder.space.minus(&open, &alike)?;
                }
            }
        }
        Ok(truth)
    }

    /// The states in question for some states.
    fn question(&mut self, members: &[AgentId], strategies: Strategies, states: &Set) -> Limited<Set> {
        match strategies {
            Strategies::Perfect | Strategies::UniformObjective => Ok(states.clone()),
            Strategies::UniformJoint => self.confused(members, states),
            Strategies::Uniform => {
                let confused = members.iter().map(|&i| self.confused(&[i], states));
                let confused = confused.collect::<Limited<Vec<_>>>()?;
                self.encoder.balanced(confused, false)
            }
        }
    }

    /// The states all of whose questions are inside a set.
    fn answered(&mut self, members: &[AgentId], strategies: Strategies, win: &Set) -> Limited<Set> {
        let lost = self.outside(win)?;
        let lost = self.question(members, strategies, &lost)?;
        self.outside(&lost)
    }

    /// The transition relation with the actions of some agents left in.
    fn steps_keeping(&mut self, members: &[AgentId]) -> Limited<(Event, Cube)> {
        let encoder = &mut self.encoder;
        let parts = encoder.parts()?;
        let relation = encoder.merge_keeping(parts, members)?;
        let relation = encoder.space.and(&relation, &self.relation.alive)?;
        let changing: Vec<VarId> =
            encoder.system.variable_ids().filter(|&v| !encoder.layout.is_frozen(v)).collect();
        let bits = members.iter().flat_map(|agent| encoder.layout.actions[agent.index()].iter().copied());
        let own = encoder.space.cube(bits)?;
        Ok((Event::new(encoder, relation, &changing)?, own))
    }

    /// Where a uniform strategy wins that wins from all of these states, if there is one.
    fn strategy(
        &mut self,
        group: &Coalition<'_>,
        goal: &Goal<'_>,
        steps: &(Event, Cube),
        from: &Set,
    ) -> Limited<Option<Set>> {
        let mut group = group.clone();
        let mut levels: Vec<Level> = Vec::new();
        loop {
            let win = self.enforced(&group, goal)?;
            if self.encoder.space.is_subset(from, &win)? {
                match self.undecided(&group, goal, steps, from)? {
                    None => return self.wins(&group, goal).map(Some),
                    Some((member, view, options)) => {
                        levels.push(Level { choices: group.choices.clone(), member, view, options });
                    }
                }
            }
            // The next action of the last view that has one left.
            loop {
                let Some(level) = levels.last_mut() else { return Ok(None) };
                group.choices.clone_from(&level.choices);
                let Some(action) = level.options.pop() else {
                    levels.pop();
                    continue;
                };
                let (member, view) = (level.member, level.view.clone());
                let agent = group.members[member];
                let space = &self.encoder.space;
                let is_action =
                    self.encoder.has_code(&self.encoder.layout.actions[agent.index()], action.0.into())?;
                let follows = space.or(&space.not(&view)?, &is_action)?;
                if let Some(may) = &mut group.choices[member] {
                    *may = space.and(may, &follows)?;
                }
                break;
            }
        }
    }

    /// Where what is fixed wins, if all other views do the first thing they may.
    fn wins(&mut self, group: &Coalition<'_>, goal: &Goal<'_>) -> Limited<Set> {
        let mut whole = group.clone();
        for (&agent, may) in group.members.iter().zip(&mut whole.choices) {
            let Some(may) = may else { continue };
            let space = &self.encoder.space;
            let bits = self.encoder.layout.actions[agent.index()].clone();
            let cube = space.cube(bits.iter().copied())?;
            let (mut decided, mut first) = (space.none(), space.none());
            for action in 0..self.system.agent(agent).actions.len() {
                let is_action = self.encoder.has_code(&bits, action as u64)?;
                let here = space.and(may, &is_action)?;
                first = space.or(&first, &space.minus(&here, &decided)?)?;
                decided = space.or(&decided, &space.exists(&here, &cube)?)?;
            }
            *may = first;
        }
        self.enforced(&whole, goal)
    }

    /// A member, a view of it that can be met with a choice left, and its actions there, the first
    /// last.
    fn undecided(
        &mut self,
        group: &Coalition<'_>,
        goal: &Goal<'_>,
        steps: &(Event, Cube),
        from: &Set,
    ) -> Limited<Option<(usize, Set, Vec<ActionId>)>> {
        let met = self.met(group, goal, steps, from)?;
        for (member, (&agent, may)) in group.members.iter().zip(&group.choices).enumerate() {
            let Some(may) = may else { continue };
            let space = &self.encoder.space;
            let bits = &self.encoder.layout.actions[agent.index()];
            let cube = space.cube(bits.iter().copied())?;
            let (mut once, mut twice) = (space.none(), space.none());
            let mut enabled = Vec::new();
            for action in 0..self.system.agent(agent).actions.len() as u32 {
                let here = self.encoder.has_code(bits, action.into())?;
                let here = space.and_exists(may, &here, &cube)?;
                twice = space.or(&twice, &space.and(&once, &here)?)?;
                once = space.or(&once, &here)?;
                enabled.push((ActionId(action), here));
            }
            let open = space.and(&met, &twice)?;
            if !open.is_empty() {
                let state = singleton(&self.encoder, &least(&self.encoder, &open)?)?;
                let mut options = Vec::new();
                for (action, here) in enabled.into_iter().rev() {
                    if self.encoder.space.intersects(&state, &here)? {
                        options.push(action);
                    }
                }
                return Ok(Some((member, self.confused(&[agent], &state)?, options)));
            }
        }
        Ok(None)
    }

    /// The states that can be met from some states with what the members may choose, as long as
    /// there is something left to do.
    fn met(
        &mut self,
        group: &Coalition<'_>,
        goal: &Goal<'_>,
        (steps, own): &(Event, Cube),
        from: &Set,
    ) -> Limited<Set> {
        let encoder = &self.encoder;
        let space = &encoder.space;
        let (done, one_step) = match goal.path {
            _ if !self.constraints().is_empty() => (space.none(), false),
            Formula::Next(_) => (space.none(), true),
            Formula::Finally(_) => (goal.phi.clone(), false),
            Formula::Until(..) | Formula::WeakUntil(..) => (goal.psi.clone(), false),
            Formula::Release(..) => (space.and(&goal.phi, &goal.psi)?, false),
            _ => (space.none(), false),
        };
        let mut met = space.minus(from, &done)?;
        if one_step {
            return Ok(met);
        }
        let may = encoder.balanced(group.choices.iter().flatten().cloned().collect(), true)?;
        let mut frontier = met.clone();
        while !frontier.is_empty() {
            let chosen = space.and(&frontier, &may)?;
            let next = space.exists(&steps.post(encoder, &chosen)?, own)?;
            let next = space.minus(&space.and(&next, self.domain())?, &done)?;
            frontier = space.minus(&next, &met)?;
            met = space.or(&met, &frontier)?;
        }
        Ok(met)
    }
}
