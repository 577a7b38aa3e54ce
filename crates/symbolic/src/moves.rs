//! Steps with the actions left in: who can make what happen.
//!
//! The relation of [`relation`](crate::relation) forgets actions as soon as it can. Where they
//! matter, the parts it was made of are applied to a set one after another: each next value belongs
//! to one part, so it is gone when its part has been applied, and no whole relation is built. Mostly
//! [`turns`](crate::turns) are better.

use std::sync::Arc;

use masque_model::{AgentId, Deadlock, ExprId};
use rustc_hash::FxHashSet;

use crate::check::Checker;
use crate::encode::Encoder;
use crate::parts::Part;
use crate::space::{Bit, Cube, Limited, Renaming, Set};

/// How the system moves, part by part.
pub(crate) struct Moves {
    parts: Vec<Change>,
    /// Where each agent's action is one it may choose, for agents whose choice somebody asks about.
    protocols: Vec<Option<Set>>,
    to_next: Renaming,
}

/// A group, and among which actions each member chooses.
#[derive(Clone)]
pub(crate) struct Coalition<'a> {
    pub(crate) members: &'a [AgentId],
    /// For each member where its action is one it may choose; none if it has no choice that matters.
    pub(crate) choices: Vec<Option<Set>>,
}

/// A part that changes variables.
struct Change {
    part: Part,
    next: Cube,
    /// Where the part has no next values: every choice overflows.
    stuck: Set,
}

impl Moves {
    pub(crate) fn new(encoder: &mut Encoder<'_>) -> Limited<Moves> {
        let mut protocols = vec![None; encoder.system.agents.len()];
        let mut parts = Vec::new();
        let mut all = encoder.parts()?;
        all.sort_by_key(|part| part.level);
        for part in all {
            if part.variables.is_empty() {
                part.actions.iter().for_each(|agent| protocols[agent.index()] = Some(part.relation.clone()));
                continue;
            }
            let bits = part.variables.iter().flat_map(|v| &encoder.layout.variables[v.index()].next);
            let next = encoder.space.cube(bits.copied())?;
            let fits = encoder.space.exists(&part.relation, &next)?;
            parts.push(Change { stuck: encoder.space.not(&fits)?, next, part });
        }
        let pairs = encoder.layout.variables.iter();
        let pairs = pairs.flat_map(|v| v.current.iter().copied().zip(v.next.iter().copied()));
        let to_next = encoder.space.renaming(pairs.collect::<Vec<_>>())?;
        Ok(Moves { parts, protocols, to_next })
    }

    /// Where, and with which actions of those who are `kept`, the others have actions that meet the
    /// condition and make a step into a set possible.
    fn leading_into(
        &self,
        encoder: &Encoder<'_>,
        set: &Set,
        condition: &Set,
        kept: &[AgentId],
    ) -> Limited<Set> {
        let space = &encoder.space;
        let mut before = space.rename(set, &self.to_next)?;
        let mut uses = vec![0_u32; self.protocols.len()];
        for change in &self.parts {
            change.part.actions.iter().for_each(|agent| uses[agent.index()] += 1);
        }
        before = space.and(&before, condition)?;
        for change in &self.parts {
            before = space.and_exists(&before, &change.part.relation, &change.next)?;
            for &agent in &change.part.actions {
                uses[agent.index()] -= 1;
                if uses[agent.index()] == 0 && !kept.contains(&agent) {
                    before = self.choose(encoder, &before, agent)?;
                }
            }
        }
        self.choose_all(encoder, before, kept)
    }

    /// Where, and with which actions of those who are `kept`, the others have actions that no step
    /// follows.
    pub(crate) fn stuck(&self, encoder: &Encoder<'_>, kept: &[AgentId]) -> Limited<Set> {
        let mut sets = Vec::new();
        for change in self.parts.iter().filter(|change| !change.stuck.is_empty()) {
            sets.push(self.choose_all(encoder, change.stuck.clone(), kept)?);
        }
        encoder.balanced(sets, false)
    }

    /// As [`stuck`](Self::stuck), where the action of one agent is this one.
    pub(crate) fn stuck_in(&self, encoder: &Encoder<'_>, is_action: &Set, kept: &[AgentId]) -> Limited<Set> {
        let mut sets = Vec::new();
        for change in self.parts.iter().filter(|change| !change.stuck.is_empty()) {
            let stuck = encoder.space.restrict(&change.stuck, is_action)?;
            if !stuck.is_empty() {
                sets.push(self.choose_all(encoder, stuck, kept)?);
            }
        }
        encoder.balanced(sets, false)
    }

    /// Whether an agent has a choice that somebody asks about.
    pub(crate) fn has_choice(&self, agent: AgentId) -> bool {
        self.protocols[agent.index()].is_some()
    }

    /// Some action that the agent's protocol enables does it.
    fn choose(&self, encoder: &Encoder<'_>, set: &Set, agent: AgentId) -> Limited<Set> {
        choose(encoder, set, agent, self.protocols[agent.index()].as_ref())
    }

    /// As [`choose`](Self::choose), for all who are not kept and whose action still matters.
    pub(crate) fn choose_all(&self, encoder: &Encoder<'_>, mut set: Set, kept: &[AgentId]) -> Limited<Set> {
        for agent in acting_agents(encoder, &set).into_iter().filter(|agent| !kept.contains(agent)) {
            set = self.choose(encoder, &set, agent)?;
        }
        Ok(set)
    }
}

/// Agents whose actions a set depends on.
pub(crate) fn acting_agents(encoder: &Encoder<'_>, set: &Set) -> Vec<AgentId> {
    let support: FxHashSet<Bit> = encoder.space.support(set).into_iter().collect();
    let matters =
        |agent: &AgentId| encoder.layout.actions[agent.index()].iter().any(|bit| support.contains(bit));
    encoder.system.agent_ids().filter(matters).collect()
}

/// Some action does it, of those that the agent may choose.
pub(crate) fn choose(encoder: &Encoder<'_>, set: &Set, agent: AgentId, may: Option<&Set>) -> Limited<Set> {
    let bits = &encoder.layout.actions[agent.index()];
    match may {
        None => Ok(set.clone()),
        Some(may) => encoder.space.and_exists(set, may, &encoder.space.cube(bits.iter().copied())?),
    }
}

impl Coalition<'_> {
    /// Whether nobody in it has a choice that matters.
    pub(crate) fn is_idle(&self) -> bool {
        self.choices.iter().all(Option::is_none)
    }

    /// The members, but for one who has chosen, have actions that do it.
    pub(crate) fn choose(&self, encoder: &Encoder<'_>, set: &Set, but: Option<AgentId>) -> Limited<Set> {
        let mut members = self.members.iter().zip(&self.choices).filter(|(agent, _)| Some(**agent) != but);
        members.try_fold(set.clone(), |set, (&agent, may)| choose(encoder, &set, agent, may.as_ref()))
    }
}

impl Checker<'_> {
    /// A group whose members may choose whatever their protocols enable.
    pub(crate) fn coalition<'a>(&mut self, members: &'a [AgentId]) -> Limited<Coalition<'a>> {
        let moves = self.moves()?;
        let choices = members.iter().map(|agent| moves.protocols[agent.index()].clone()).collect();
        Ok(Coalition { members, choices })
    }

    /// How the system moves; computed once.
    pub(crate) fn moves(&mut self) -> Limited<Arc<Moves>> {
        if let Some(moves) = &self.moves {
            return Ok(Arc::clone(moves));
        }
        let moves = Arc::new(Moves::new(&mut self.encoder)?);
        self.moves = Some(Arc::clone(&moves));
        Ok(moves)
    }

    /// `EX{c} φ`: some step with `c` leads to `φ`.
    ///
    /// The loop that `stutter` adds to a dead end is nobody's action.
    pub(crate) fn exists_step(&mut self, condition: ExprId, phi: &Set) -> Limited<Set> {
        let moves = self.moves()?;
        let condition = self.encoder.condition(condition)?;
        let targets = self.encoder.space.and(phi, self.domain())?;
        let before = match self.turns_into(&targets, &condition)? {
            Some(before) => before,
            None => moves.leading_into(&self.encoder, &targets, &condition, &[])?,
        };
        self.encoder.space.and(&before, &self.relation.alive)
    }

    /// `<Γ>X Z`: the members have actions such that, whatever the others do, a step follows and
    /// leads into `Z`.
    ///
    /// ```text
    /// s ∈ pre(Z)   iff   for some a ∈ P_Γ(s), for all b ∈ P_rest(s):  ∅ ≠ step(s, (a, b)) ⊆ Z
    /// ```
    pub(crate) fn enforce_next(&mut self, group: &Coalition<'_>, z: &Set) -> Limited<Set> {
        let safe = match self.players(group)? {
            Some(players) => players.enforcing(&self.encoder, z)?,
            None => {
                let spoiled = self.spoiled_choices(group, z)?;
                group.choose(&self.encoder, &self.encoder.space.not(&spoiled)?, None)?
            }
        };
        self.with_loops(safe, z)
    }

    /// Where, and with which actions of the members, the others have actions that lead out of `Z` or
    /// that no step follows.
    pub(crate) fn spoiled_choices(&mut self, group: &Coalition<'_>, z: &Set) -> Limited<Set> {
        if self.relation.scheduler.is_none()
            && let Some(players) = self.players(group)?
        {
            return players.spoiled_in(&self.encoder, 0, &self.encoder.space.not(z)?);
        }
        let moves = self.moves()?;
        let Checker { encoder, reachable, .. } = self;
        let space = &encoder.space;
        let outside = space.minus(reachable, z)?;
        let spoiled = moves.leading_into(encoder, &outside, &space.all(), group.members)?;
        space.or(&spoiled, &moves.stuck(encoder, group.members)?)
    }

    /// The others' step: whatever the members choose, some outcome leads into `Z`.
    ///
    /// ```text
    /// s ∈ opp(Z)   iff   P_Γ(s) ≠ ∅, and for all a ∈ P_Γ(s), for some b ∈ P_rest(s):  step(s, (a, b)) ∩ Z ≠ ∅
    /// ```
    ///
    /// Against a group that has no choice this is any step.
    pub(crate) fn spoil_next(&mut self, group: &Coalition<'_>, z: &Set) -> Limited<Set> {
        if group.is_idle() {
            let before = self.exists_next(z)?;
            return self.encoder.space.and(&before, self.domain());
        }
        let avoided = match self.players(group)? {
            Some(players) => players.avoiding(&self.encoder, z)?,
            None => {
                let moves = self.moves()?;
                let Checker { encoder, .. } = self;
                let space = &encoder.space;
                let into = moves.leading_into(encoder, z, &space.all(), group.members)?;
                group.choose(encoder, &space.not(&into)?, None)?
            }
        };
        let before = self.encoder.space.not(&avoided)?;
        self.with_loops(before, z)
    }

    /// Only where everybody has an action is there a step. Under `stutter` the loop is the only move
    /// of a dead end, for every group.
    fn with_loops(&self, set: Set, z: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let moving = space.and(&set, &self.relation.alive)?;
        let set = match self.system.meaning.deadlock {
            Deadlock::Stutter => {
                let moving = space.and(&moving, &self.live)?;
                space.or(&moving, &space.minus(z, &self.live)?)?
            }
            Deadlock::Finite | Deadlock::Error => moving,
        };
        space.and(&set, self.domain())
    }
}
