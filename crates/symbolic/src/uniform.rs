//! Imperfect information: uniform strategies, found by search. [Schobbens04]
//!
//! A uniform strategy chooses an action for each *view*: a member of the group and what it sees. One
//! strategy must win from all states in question at once. What the group wins with perfect
//! information is an upper bound. If few states can be met inside it from those in question, they are
//! listed in an [arena](crate::arena), in which a [search](masque_verdict::find_uniform_strategy)
//! learns from its conflicts.
//!
//! Else, and with fairness, the search is on diagrams and learns nothing. It fixes the action of one
//! view after the other, among those that can be met from the states in question; at each node the
//! game is solved with perfect information but what is fixed so far, and the node is left when the
//! group loses. Where no view that can be met has a choice left, what is fixed is a strategy, and it
//! wins.

use masque_model::{ActionId, AgentId, Deadlock, Formula, Strategies, VarId};
use masque_verdict::{Stop, UniformAim, Why};

use crate::arena::{Arena, Board};
use crate::check::Checker;
use crate::fixpoint::reach;
use crate::moves::Coalition;
use crate::reach::least_and_singleton;
use crate::search::Search;
use crate::space::{Bit, Cube, Limited, Set, Table};
use crate::stages::Event;
use crate::strategic::Goal;

/// A group, and the kind of strategies that count.
#[derive(Clone, Copy)]
pub(crate) struct UniformGroup<'a> {
    pub(crate) members: &'a [AgentId],
    pub(crate) strategies: Strategies,
}

/// Steps with the actions of a group left in.
struct OwnSteps {
    relation: Event,
    /// Bits of the members' actions.
    own: Cube,
}

/// Of which states the truth is wanted.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// All.
    All,
    /// Of these; others may be missing from the answer.
    Among(&'a Set),
    /// Whether it is true in all of these; if not, any may be missing from the answer.
    Every(&'a Set),
}

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
    /// question, given where it is reached with perfect information.
    pub(crate) fn enforces_uniformly(
        &mut self,
        uniform_group: UniformGroup<'_>,
        goal: &Goal<'_>,
        upper: &Set,
        wanted: Wanted<'_>,
    ) -> Limited<Set> {
        let UniformGroup { members, strategies } = uniform_group;
        let group = self.coalition(members)?;
        let mut truth = self.encoder.space.none();
        let mut open = self.answered(uniform_group, upper)?;
        match wanted {
            Wanted::All => {}
            Wanted::Among(states) => open = self.encoder.space.and(&open, states)?,
            Wanted::Every(states) if self.encoder.space.is_subset(states, &open)? => open = states.clone(),
            Wanted::Every(_) => return Ok(truth),
        }
        if open.is_empty() {
            return Ok(truth);
        }
        let steps = self.steps_keeping(members)?;
        let board = match self.constraints().is_empty() {
            true => Some(self.board(&group, goal, &steps.relation, upper)?),
            false => None,
        };
        // One arena for all questions, or one for each.
        let all = self.question(uniform_group, &open)?;
        let arena = match &board {
            Some(board) => Arena::new(&self.encoder, board, &all)?,
            None => None,
        };
        while !open.is_empty() {
            let (_, state) = least_and_singleton(&self.encoder, &open)?;
            let question = self.question(uniform_group, &state)?;
            // States that all members see alike have the same question.
            let alike = match strategies {
                Strategies::UniformObjective => state,
                _ => self.confused(members, &state)?,
            };
            let rest = self.encoder.space.minus(&open, &alike)?;
            let own_arena = match (&arena, &board) {
                (None, Some(board)) => Arena::new(&self.encoder, board, &question)?,
                _ => None,
            };
            let win = match arena.as_ref().or(own_arena.as_ref()) {
                Some(arena) => self.found_in(arena, goal, &question, !rest.is_empty())?,
                None => self.strategy(&group, goal, &steps, &question)?,
            };
            open = match win {
                None if matches!(wanted, Wanted::Every(_)) => return Ok(truth),
                None => rest,
                Some(win) => {
                    let answered = self.answered(uniform_group, &win)?;
                    let space = &self.encoder.space;
                    truth = space.or(&truth, &space.or(&answered, &alike)?)?;
                    space.minus(&rest, &answered)?
                }
            };
        }
        Ok(truth)
    }

    /// What the moves of a group lead to.
    fn board(
        &mut self,
        group: &Coalition<'_>,
        goal: &Goal<'_>,
        steps: &Event,
        upper: &Set,
    ) -> Limited<Board> {
        let is_one_step = matches!(goal.path, Formula::Next(_));
        let done = match goal.path {
            Formula::Next(_) => goal.phi.clone(),
            _ => self.done(goal)?,
        };
        let good = if is_one_step { done.clone() } else { self.encoder.space.or(upper, &done)? };
        let spoiled = self.spoiled_choices(group, &good)?;
        let space = &self.encoder.space;
        let looping = match self.system.meaning.deadlock {
            Deadlock::Stutter => space.minus(self.domain(), &self.live)?,
            Deadlock::Finite | Deadlock::Error => space.none(),
        };
        let may = self.encoder.balanced(group.choices.iter().flatten().cloned().collect(), true)?;
        let bits = |(agent, may): (&AgentId, &Option<Set>)| match may {
            Some(_) => self.encoder.layout.actions[agent.index()].clone(),
            None => Vec::new(),
        };
        Ok(Board {
            relation: Table::new(&steps.relation(&self.encoder)?),
            may: Table::new(&may),
            spoiled: Table::new(&spoiled),
            done: Table::new(&done),
            looping: Table::new(&looping),
            is_one_step,
            members: group.members.to_vec(),
            action_bits: group.members.iter().zip(&group.choices).map(bits).collect(),
        })
    }

    /// Where a uniform strategy wins that wins from all of these states of an arena, if there is one.
    /// Unless all of where it wins is of interest, that may be these states only.
    fn found_in(
        &mut self,
        arena: &Arena,
        goal: &Goal<'_>,
        question: &Set,
        is_all_of_interest: bool,
    ) -> Limited<Option<Set>> {
        let aim = match goal.path {
            Formula::Globally(_) | Formula::WeakUntil(..) | Formula::Release(..) => UniformAim::Stay,
            _ => UniformAim::Reach,
        };
        let from = arena.in_question(&self.encoder, question).ok_or(Stop::from(Why::Unsupported))?;
        let mut search = Search { arena, aim, space: &self.encoder.space };
        let Some(wins) = search.run(&from)? else { return Ok(None) };
        if !is_all_of_interest {
            return Ok(Some(question.clone()));
        }
        // Of a step only the first states were played.
        let n_played = match goal.path {
            Formula::Next(_) => 1 + arena.n_from,
            _ => arena.states.len(),
        };
        let won = (1..n_played).filter(|&state| wins[state]).map(|state| &arena.states[state][..]);
        self.listed(won).map(Some)
    }

    /// A set of states, each given by its bits from the top of the order down.
    fn listed<'r>(&self, rows: impl Iterator<Item = &'r [bool]>) -> Limited<Set> {
        let space = &self.encoder.space;
        let mut bits: Vec<Bit> = self.encoder.layout.current_bits().collect();
        bits.sort_unstable_by_key(|&bit| space.level(bit));
        let state = |row: &[bool]| {
            let literals = bits.iter().zip(row).rev();
            literals
                .into_iter()
                .try_fold(space.all(), |set, (&bit, &value)| space.and(&space.bit(bit, value)?, &set))
        };
        let states = rows.map(state).collect::<Limited<Vec<_>>>()?;
        self.encoder.balanced(states, false)
    }

    /// Where nothing is left to do for a goal, without fairness and but for `X`.
    fn done(&self, goal: &Goal<'_>) -> Limited<Set> {
        let space = &self.encoder.space;
        Ok(match goal.path {
            Formula::Finally(_) => goal.phi.clone(),
            Formula::Until(..) | Formula::WeakUntil(..) => goal.psi.clone(),
            Formula::Release(..) => space.and(&goal.phi, &goal.psi)?,
            _ => space.none(),
        })
    }

    /// The states in question for some states.
    fn question(&mut self, uniform_group: UniformGroup<'_>, states: &Set) -> Limited<Set> {
        let members = uniform_group.members;
        match uniform_group.strategies {
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
    fn answered(&mut self, uniform_group: UniformGroup<'_>, win: &Set) -> Limited<Set> {
        let lost = self.outside(win)?;
        let lost = self.question(uniform_group, &lost)?;
        self.outside(&lost)
    }

    /// The transition relation with the actions of some agents left in.
    fn steps_keeping(&mut self, members: &[AgentId]) -> Limited<OwnSteps> {
        let encoder = &mut self.encoder;
        let parts = encoder.parts()?;
        let relation = encoder.merge_keeping(parts, members)?;
        let relation = encoder.space.and(&relation, &self.relation.alive)?;
        let changing: Vec<VarId> =
            encoder.system.variable_ids().filter(|&v| !encoder.layout.is_frozen(v)).collect();
        let bits = members.iter().flat_map(|agent| encoder.layout.actions[agent.index()].iter().copied());
        let own = encoder.space.cube(bits)?;
        Ok(OwnSteps { relation: Event::new(encoder, relation, &changing)?, own })
    }

    /// Where a uniform strategy wins that wins from all of these states, if there is one.
    fn strategy(
        &mut self,
        group: &Coalition<'_>,
        goal: &Goal<'_>,
        steps: &OwnSteps,
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
                let is_action = self
                    .encoder
                    .space
                    .has_code(&self.encoder.layout.actions[agent.index()], action.0.into())?;
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
                let is_action = self.encoder.space.has_code(&bits, action as u64)?;
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
        steps: &OwnSteps,
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
                let here = self.encoder.space.has_code(bits, action.into())?;
                let here = space.and_exists(may, &here, &cube)?;
                twice = space.or(&twice, &space.and(&once, &here)?)?;
                once = space.or(&once, &here)?;
                enabled.push((ActionId(action), here));
            }
            let open = space.and(&met, &twice)?;
            if !open.is_empty() {
                let (_, state) = least_and_singleton(&self.encoder, &open)?;
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
        own_steps: &OwnSteps,
        from: &Set,
    ) -> Limited<Set> {
        let OwnSteps { relation: steps, own } = own_steps;
        let encoder = &self.encoder;
        let space = &encoder.space;
        let one_step = self.constraints().is_empty() && matches!(goal.path, Formula::Next(_));
        let done = if self.constraints().is_empty() { self.done(goal)? } else { space.none() };
        let met = space.minus(from, &done)?;
        if one_step {
            return Ok(met);
        }
        let may = encoder.balanced(group.choices.iter().flatten().cloned().collect(), true)?;
        let unfinished = space.minus(self.domain(), &done)?;
        reach(space, &met, &unfinished, |frontier| {
            let chosen = space.and(frontier, &may)?;
            space.exists(&steps.post(encoder, &chosen)?, own)
        })
    }
}
