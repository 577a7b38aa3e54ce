//! Steps that keep the actions of some agents, merged in the same way as the relation.
//!
//! If one agent, the scheduler, chooses who moves, each of its actions is a *turn*: a relation on the few
//! variables that it changes, so that images are local. If the scheduler is a member of a group, what the
//! group can do is the union over the turns, and the turns are chained in a least fixpoint, as the events
//! of the relation are: `<sched>F in1` on 200 trains takes 0.2 s, and part by part
//! ([`moves`](crate::moves)) 8.6 s. Without a scheduler there is one turn, restricted to the reachable
//! states, or in clusters if it would be too large.

use std::sync::Arc;

use masque_model::AgentId;

use crate::check::Checker;
use crate::encode::Encoder;
use crate::moves::{Coalition, Moves};
use crate::space::{Limited, Set};
use crate::stages::Event;

/// The steps of a system: one turn for each action of its scheduler, or one turn without a scheduler.
pub(crate) struct Turns {
    scheduler: Option<AgentId>,
    turns: Vec<Turn>,
    /// For each turn its relation, which keeps the actions of some agents.
    events: Arc<Vec<Event>>,
}

/// One action of the scheduler.
struct Turn {
    /// The valuations in which the scheduler performs this action; all if there is no scheduler.
    is_action: Set,
    /// The states and actions of the kept agents in which the other agents have actions without a step.
    stuck: Set,
}

/// A group in a system with turns.
pub(crate) struct Players<'a> {
    group: &'a Coalition<'a>,
    turns: Arc<Turns>,
    /// For each turn the states in which the scheduler may choose it, if the scheduler is a member.
    may: Option<Vec<Set>>,
}

impl Checker<'_> {
    /// Returns the turns that keep the actions of some agents; `None` if the scheduler's actions change
    /// too much of the system.
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

    /// Returns all steps as one turn that keeps the actions of some agents.
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

    /// Prepares a group for playing in turns; `None` if there are no turns.
    pub(crate) fn players<'a>(&mut self, group: &'a Coalition<'a>) -> Limited<Option<Players<'a>>> {
        let Some(turns) = self.turns(group.members)? else { return Ok(None) };
        let space = &self.encoder.space;
        let index = group.members.iter().position(|&agent| Some(agent) == turns.scheduler);
        let own = index.and_then(|index| group.choices[index].as_ref());
        let may = match own {
            Some(own) => {
                let may = turns.turns.iter().map(|turn| space.restrict(own, &turn.is_action));
                Some(may.collect::<Limited<Vec<_>>>()?)
            }
            None => None,
        };
        Ok(Some(Players { group, turns, may }))
    }

    /// Returns the states from which a step that meets a condition on states and actions leads into a
    /// set; `None` if there are no turns.
    pub(crate) fn turns_into(&mut self, set: &Set, condition: &Set) -> Limited<Option<Set>> {
        let kept = self.encoder.acting_agents(condition);
        let Some(turns) = self.turns(&kept)? else { return Ok(None) };
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

    /// Returns the successors of a set of states with actions of the `kept` agents, which remain in the result except
    /// for the scheduler's; `None` if there are no turns.
    pub(crate) fn turns_from(&mut self, from: &Set, kept: &[AgentId]) -> Limited<Option<Set>> {
        let Some(turns) = self.turns(kept)? else { return Ok(None) };
        let mut sets = Vec::new();
        for (turn, event) in turns.turns.iter().zip(turns.events.iter()) {
            let from = self.encoder.space.restrict(from, &turn.is_action)?;
            sets.push(event.post(&self.encoder, &from)?);
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
    /// Returns whether the group chooses the turns, because the scheduler is a member.
    pub(crate) fn choose_turns(&self) -> bool {
        self.may.is_some()
    }

    /// Returns the number of turns.
    pub(crate) fn n_turns(&self) -> usize {
        self.turns.turns.len()
    }

    /// Returns the states and actions of the group in a turn with which the other agents can move into
    /// `outside`, or prevent a step.
    pub(crate) fn spoiled_in(&self, encoder: &Encoder<'_>, turn: usize, outside: &Set) -> Limited<Set> {
        let leaving = self.turns.events[turn].pre(encoder, outside)?;
        encoder.space.or(&leaving, &self.turns.turns[turn].stuck)
    }

    /// Returns the states in which the group may choose a turn and has actions in it that are not
    /// `spoiled`.
    pub(crate) fn chosen_in(&self, encoder: &Encoder<'_>, turn: usize, spoiled: &Set) -> Limited<Set> {
        let safe = encoder.space.not(spoiled)?;
        let safe = match &self.may {
            Some(may) => encoder.space.and(&safe, &may[turn])?,
            None => safe,
        };
        self.group.choose(encoder, &safe, self.turns.scheduler)
    }

    /// Returns the states in which the group has actions such that there is a step and every step leads
    /// into `z`: in some turn if the group chooses turns, else in every turn.
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

    /// Returns the states in which the group has actions such that no step leads into `z`: in some turn
    /// if the group chooses turns, else in every turn.
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
