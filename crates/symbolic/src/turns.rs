//! Steps with the actions of some agents left in, put together as the relation is.
//!
//! Where one agent chooses who moves, each of its actions is a *turn*, on the few variables that it
//! changes, so that images are local. What a group can do in one turn or another is a union if the
//! scheduler is a member, and then the turns are chained in a least fixpoint, as the events of the
//! relation are: `<sched>F in1` on 200 trains takes 0.2 s, and part by part
//! ([`moves`](crate::moves)) 8.6 s. Where there is no scheduler there is one turn, of the reachable
//! states only, or in clusters if it would be too large.

use std::sync::Arc;

use masque_model::AgentId;

use crate::check::Checker;
use crate::encode::Encoder;
use crate::moves::{Coalition, Moves};
use crate::space::{Bit, Limited, Set};
use crate::stages::Event;

/// The steps of a system, one turn for each action of its scheduler, or one for all.
pub(crate) struct Turns {
    scheduler: Option<AgentId>,
    turns: Vec<Turn>,
    /// For each turn the next states, the actions of some agents left in.
    events: Arc<Vec<Event>>,
}

/// What happens when the scheduler performs an action.
struct Turn {
    /// Its action is this one; everywhere if there is no scheduler.
    is_action: Set,
    /// Where, and with which actions of those who are left in, the others have actions that no step
    /// follows.
    stuck: Set,
}

/// A group in a system with turns.
pub(crate) struct Players<'a> {
    group: &'a Coalition<'a>,
    turns: Arc<Turns>,
    /// Where the scheduler may choose each of its actions, if it is a member.
    may: Option<Vec<Set>>,
}

impl Checker<'_> {
    /// The steps turn by turn with the actions of some agents left in, unless that is too large.
    fn turns(&mut self, kept: &[AgentId]) -> Limited<Option<Arc<Turns>>> {
        let scheduler = self.relation.scheduler;
        let moves = self.moves()?;
        let mut kept: Vec<AgentId> = kept
            .iter()
            .copied()
            .filter(|&agent| Some(agent) != scheduler && moves.has_choice(agent))
            .collect();
        kept.sort_unstable();
        if let Some(turns) = self.turns.get(&kept) {
            return Ok(turns.clone());
        }
        let events = match scheduler {
            _ if kept.is_empty() && (scheduler.is_some() || self.relation.events.len() == 1) => {
                Some(Arc::clone(&self.relation.events))
            }
            Some(scheduler) => {
                let parts = self.encoder.parts()?;
                self.encoder.events_of(scheduler, &parts, &kept)?.map(Arc::new)
            }
            None => Some(Arc::new(vec![self.whole_turn(&kept)?])),
        };
        let turns = match events {
            Some(events) => Some(Arc::new(Turns::new(&mut self.encoder, scheduler, events, &moves, &kept)?)),
            None => None,
        };
        self.turns.insert(kept, turns.clone());
        Ok(turns)
    }

    /// All steps with the actions of some agents left in.
    fn whole_turn(&mut self, kept: &[AgentId]) -> Limited<Event> {
        let encoder = &mut self.encoder;
        let parts = encoder.parts()?;
        let event = Event::of_clusters(encoder, encoder.merge(parts, kept)?, kept)?;
        let settled = match &self.relation.states {
            Some(states) => event.at(encoder, states, encoder.space.steps())?,
            None => None,
        };
        Ok(settled.unwrap_or(event))
    }

    /// A group as it plays in turns, unless they are too large.
    pub(crate) fn players<'a>(&mut self, group: &'a Coalition<'a>) -> Limited<Option<Players<'a>>> {
        let Some(turns) = self.turns(group.members)? else { return Ok(None) };
        let space = &self.encoder.space;
        let position = group.members.iter().position(|&agent| Some(agent) == turns.scheduler);
        let own = position.and_then(|position| group.choices[position].as_ref());
        let may = match own {
            Some(own) => {
                let may = turns.turns.iter().map(|turn| space.restrict(own, &turn.is_action));
                Some(may.collect::<Limited<Vec<_>>>()?)
            }
            None => None,
        };
        Ok(Some(Players { group, turns, may }))
    }

    /// Where a step meets a condition on states and actions and leads into a set; none if
    /// the turns are too large.
    pub(crate) fn turns_into(&mut self, set: &Set, condition: &Set) -> Limited<Option<Set>> {
        let support: rustc_hash::FxHashSet<Bit> = self.encoder.space.support(condition).into_iter().collect();
        let asked = |agent: &AgentId| {
            self.encoder.layout.actions[agent.index()].iter().any(|bit| support.contains(bit))
        };
        let asked: Vec<AgentId> = self.system.agent_ids().filter(asked).collect();
        let Some(turns) = self.turns(&asked)? else { return Ok(None) };
        let moves = self.moves()?;
        let space = &self.encoder.space;
        let mut sets = Vec::new();
        for (turn, event) in turns.turns.iter().zip(turns.events.iter()) {
            let condition = space.restrict(condition, &turn.is_action)?;
            if !condition.is_empty() {
                let before = space.and(&event.pre(&self.encoder, set)?, &condition)?;
                sets.push(moves.choose_all(&self.encoder, before, &[])?);
            }
        }
        self.encoder.balanced(sets, false).map(Some)
    }
}

impl Turns {
    fn new(
        encoder: &mut Encoder<'_>,
        scheduler: Option<AgentId>,
        events: Arc<Vec<Event>>,
        moves: &Moves,
        kept: &[AgentId],
    ) -> Limited<Turns> {
        let Some(agent) = scheduler else {
            let (is_action, stuck) = (encoder.space.all(), moves.stuck(encoder, kept)?);
            return Ok(Turns { scheduler, turns: vec![Turn { is_action, stuck }], events });
        };
        let enabled = encoder.choice(agent)?.enabled;
        let mut turns = Vec::with_capacity(enabled.len());
        for (action, enabled) in enabled.iter().enumerate() {
            let bits = &encoder.layout.actions[agent.index()];
            let is_action = encoder.space.has_code(bits, action as u64)?;
            let stuck = moves.stuck_in(encoder, &is_action, kept)?;
            let stuck = encoder.space.and(&stuck, enabled)?;
            turns.push(Turn { is_action, stuck });
        }
        Ok(Turns { scheduler, turns, events })
    }
}

impl Players<'_> {
    /// Whether what the group can do is what it can do in one turn or another.
    pub(crate) fn choose_turns(&self) -> bool {
        self.may.is_some()
    }

    /// How many turns there are.
    pub(crate) fn n_turns(&self) -> usize {
        self.turns.turns.len()
    }

    /// With which actions in a turn the others can leave a set, or see to it that there is no step.
    pub(crate) fn spoiled_in(&self, encoder: &Encoder<'_>, turn: usize, outside: &Set) -> Limited<Set> {
        let leaving = self.turns.events[turn].pre(encoder, outside)?;
        encoder.space.or(&leaving, &self.turns.turns[turn].stuck)
    }

    /// Where the group may choose a turn and has actions in it outside of some.
    pub(crate) fn chosen_in(&self, encoder: &Encoder<'_>, turn: usize, spoiled: &Set) -> Limited<Set> {
        let safe = encoder.space.not(spoiled)?;
        let safe = match &self.may {
            Some(may) => encoder.space.and(&safe, &may[turn])?,
            None => safe,
        };
        self.group.choose(encoder, &safe, self.turns.scheduler)
    }

    /// Where the group has actions, in some turn or whatever the turn is, such that a step follows
    /// and leads into a set.
    pub(crate) fn enforcing(&self, encoder: &Encoder<'_>, z: &Set) -> Limited<Set> {
        let space = &encoder.space;
        let outside = space.not(z)?;
        let spoiled = (0..self.n_turns()).map(|turn| self.spoiled_in(encoder, turn, &outside));
        let spoiled = spoiled.collect::<Limited<Vec<_>>>()?;
        if self.choose_turns() {
            let safe = spoiled.iter().enumerate().map(|(turn, set)| self.chosen_in(encoder, turn, set));
            return encoder.balanced(safe.collect::<Limited<Vec<_>>>()?, false);
        }
        let spoiled = encoder.balanced(spoiled, false)?;
        self.group.choose(encoder, &space.not(&spoiled)?, None)
    }

    /// Where the group has actions, in some turn or whatever the turn is, such that no step leads
    /// into a set.
    pub(crate) fn avoiding(&self, encoder: &Encoder<'_>, z: &Set) -> Limited<Set> {
        let space = &encoder.space;
        let into = self.turns.events.iter().map(|event| event.pre(encoder, z));
        let into = into.collect::<Limited<Vec<_>>>()?;
        if self.choose_turns() {
            let safe = into.iter().enumerate().map(|(turn, set)| self.chosen_in(encoder, turn, set));
            return encoder.balanced(safe.collect::<Limited<Vec<_>>>()?, false);
        }
        let into = encoder.balanced(into, false)?;
        self.group.choose(encoder, &space.not(&into)?, None)
    }
}
