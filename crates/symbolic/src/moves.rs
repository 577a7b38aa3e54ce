//! Steps with actions: what agents and groups can enforce in one step.
//!
//! The relation of [`relation`](crate::relation) quantifies actions as early as possible. Where actions
//! matter, its parts are applied to a set one after another: each next value belongs to one part and is
//! quantified when this part has been applied, so the whole relation is never built. Usually
//! [`turns`](crate::turns) are faster; this is what is done without them.

use std::sync::Arc;

use masque_model::{AgentId, Deadlock, ExprId};

use crate::check::Checker;
use crate::encode::Encoder;
use crate::parts::Part;
use crate::space::{Cube, Limited, Renaming, Set};

/// The transition relation, part by part.
pub(crate) struct Moves {
    parts: Vec<Change>,
    /// For each agent the states and actions that its protocol enables; `None` if the agent has no choice
    /// or no condition reads its action.
    protocols: Vec<Option<Set>>,
    to_next: Renaming,
}

/// A group, and the actions among which each member chooses.
#[derive(Clone)]
pub(crate) struct Coalition<'a> {
    pub(crate) members: &'a [AgentId],
    /// For each member the states and actions that it may choose; `None` if it has no choice that
    /// matters.
    pub(crate) choices: Vec<Option<Set>>,
}

/// A part that changes variables.
struct Change {
    part: Part,
    next: Cube,
    /// The states and actions for which the part has no next values: every enabled line overflows.
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
        let to_next = encoder.space.renaming(pairs.collect::<Vec<_>>());
        Ok(Moves { parts, protocols, to_next })
    }

    /// Returns the states and actions of the `kept` agents for which the other agents have actions that
    /// meet the condition and allow a step into a set.
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

    /// Returns the states and actions of the `kept` agents for which the other agents have actions
    /// without a step.
    pub(crate) fn stuck(&self, encoder: &Encoder<'_>, kept: &[AgentId]) -> Limited<Set> {
        let mut sets = Vec::new();
        for change in self.parts.iter().filter(|change| !change.stuck.is_empty()) {
            sets.push(self.choose_all(encoder, change.stuck.clone(), kept)?);
        }
        encoder.balanced(sets, false)
    }

    /// As [`stuck`](Self::stuck), restricted to one action of one agent.
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

    /// Returns the states and actions of a set in which an agent's protocol enables its action.
    pub(crate) fn where_enabled(&self, encoder: &Encoder<'_>, set: &Set, agent: AgentId) -> Limited<Set> {
        match &self.protocols[agent.index()] {
            None => Ok(set.clone()),
            Some(protocol) => encoder.space.and(set, protocol),
        }
    }

    /// Returns whether an agent has a choice that matters.
    pub(crate) fn has_choice(&self, agent: AgentId) -> bool {
        self.protocols[agent.index()].is_some()
    }

    /// Quantifies the agent's action: for some action that its protocol enables, the set is true.
    fn choose(&self, encoder: &Encoder<'_>, set: &Set, agent: AgentId) -> Limited<Set> {
        choose(encoder, set, agent, self.protocols[agent.index()].as_ref())
    }

    /// As [`choose`](Self::choose), for all agents that are not kept and whose action the set depends on.
    pub(crate) fn choose_all(&self, encoder: &Encoder<'_>, mut set: Set, kept: &[AgentId]) -> Limited<Set> {
        for agent in encoder.acting_agents(&set).into_iter().filter(|agent| !kept.contains(agent)) {
            set = self.choose(encoder, &set, agent)?;
        }
        Ok(set)
    }
}

/// Quantifies an agent's action: for some action that the agent may choose, the set is true.
pub(crate) fn choose(encoder: &Encoder<'_>, set: &Set, agent: AgentId, may: Option<&Set>) -> Limited<Set> {
    let bits = &encoder.layout.actions[agent.index()];
    match may {
        None => Ok(set.clone()),
        Some(may) => encoder.space.and_exists(set, may, &encoder.space.cube(bits.iter().copied())?),
    }
}

impl Coalition<'_> {
    /// Returns whether no member has a choice that matters.
    pub(crate) fn is_idle(&self) -> bool {
        self.choices.iter().all(Option::is_none)
    }

    /// Quantifies the actions of all members except one that has already chosen.
    pub(crate) fn choose(&self, encoder: &Encoder<'_>, set: &Set, except: Option<AgentId>) -> Limited<Set> {
        let mut members = self.members.iter().zip(&self.choices).filter(|(agent, _)| Some(**agent) != except);
        members.try_fold(set.clone(), |set, (&agent, may)| choose(encoder, &set, agent, may.as_ref()))
    }
}

impl Checker<'_> {
    /// Returns a group whose members may choose all actions that their protocols enable.
    pub(crate) fn coalition<'a>(&mut self, members: &'a [AgentId]) -> Limited<Coalition<'a>> {
        let moves = self.moves()?;
        let choices = members.iter().map(|agent| moves.protocols[agent.index()].clone()).collect();
        Ok(Coalition { members, choices })
    }

    /// Returns the relation part by part; computed once.
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
    /// The loop that `stutter` adds to a dead end is not a step of any agent.
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

    /// `<Γ>X Z`: the members have actions such that, for all actions of the others, there is a step and
    /// every step leads into `Z`.
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

    /// Returns the states and actions of the members for which the others have actions that lead out of
    /// `Z` or have no step.
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

    /// The step of the opponents: for every choice of the members, some outcome leads into `Z`.
    ///
    /// ```text
    /// s ∈ opp(Z)   iff   P_Γ(s) ≠ ∅, and for all a ∈ P_Γ(s), for some b ∈ P_rest(s):  step(s, (a, b)) ∩ Z ≠ ∅
    /// ```
    ///
    /// Against a group that has no choice this is `EX Z`.
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

    /// Restricts a set of predecessors of `z` to states in which every agent has an action. Under
    /// `stutter`, adds the dead ends in `z`: the loop is their only move, for every group.
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
