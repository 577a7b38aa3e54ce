//! The transition relation: parts, and how they are put together.
//!
//! Each agent (MultiAssignment) or variable (SingleAssignment) contributes a part that relates its
//! next values to the current state and the joint action. Putting them together pairwise in the
//! order of the variables, quantifying an agent's action as soon as no other part mentions it, gives
//! one relation that is far smaller than what comes up on the way.

use std::cell::OnceCell;
use std::sync::Arc;

use masque_model::{Agent, AgentId, Assignment, ExprId, Formula, System, VarId};

use crate::clusters::clusters;
use crate::cubes::Tables;
use crate::encode::{Choice, Encoder};
use crate::layout::actions_read;
use crate::space::{Bit, Cube, Limited, Renaming, Set};

/// How some variables change in a step.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) relation: Set,
    /// The agents whose action bits it mentions.
    pub(crate) actions: Vec<AgentId>,
    /// The variables whose next values it determines; none for a protocol.
    pub(crate) variables: Vec<VarId>,
    /// Where the part stands in the order.
    pub(crate) level: Bit,
}

/// The transition relation, ready for images: the union of its events.
pub(crate) struct Relation {
    /// One that changes everything, or one for each action of the scheduler.
    pub(crate) events: Arc<Vec<Event>>,
    /// Several events put together, once an image is asked for.
    clusters: OnceCell<Vec<Event>>,
    /// The agent that chooses who moves.
    pub(crate) scheduler: Option<AgentId>,
    /// Where every agent has an action.
    pub(crate) alive: Set,
}

/// A relation on some variables; the others keep their values.
pub(crate) struct Event {
    pub(crate) relation: Set,
    pub(crate) variables: Vec<VarId>,
    current: Cube,
    next: Cube,
    to_current: Renaming,
    to_next: Renaming,
}

impl Event {
    pub(crate) fn new(encoder: &Encoder<'_>, relation: Set, variables: &[VarId]) -> Limited<Event> {
        let changing: Vec<(Bit, Bit)> = variables
            .iter()
            .map(|v| &encoder.layout.variables[v.index()])
            .flat_map(|v| v.current.iter().copied().zip(v.next.iter().copied()))
            .collect();
        let space = &encoder.space;
        Ok(Event {
            relation,
            variables: variables.to_vec(),
            current: space.cube(changing.iter().map(|(current, _)| *current))?,
            next: space.cube(changing.iter().map(|(_, next)| *next))?,
            to_current: space.renaming(changing.iter().map(|&(current, next)| (next, current)))?,
            to_next: space.renaming(changing.iter().copied())?,
        })
    }

    /// The successors of a set.
    pub(crate) fn post(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let next = encoder.space.and_exists(&self.relation, states, &self.current)?;
        encoder.space.rename(&next, &self.to_current)
    }

    /// The predecessors of a set.
    pub(crate) fn pre(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let next = encoder.space.rename(states, &self.to_next)?;
        encoder.space.and_exists(&self.relation, &next, &self.next)
    }
}

impl Relation {
    pub(crate) fn new(encoder: &mut Encoder<'_>) -> Limited<Relation> {
        let alive = encoder.alive()?;
        let parts = encoder.parts()?;
        if let Some((scheduler, events)) = encoder.scheduled(&parts)? {
            return Ok(Relation::from_events(events, Some(scheduler), alive));
        }
        let changing: Vec<VarId> =
            encoder.system.variable_ids().filter(|&v| !encoder.layout.is_frozen(v)).collect();
        let whole = encoder.merge(parts)?;
        Ok(Relation::from_events(vec![Event::new(encoder, whole, &changing)?], None, alive))
    }

    fn from_events(events: Vec<Event>, scheduler: Option<AgentId>, alive: Set) -> Relation {
        Relation { events: Arc::new(events), clusters: OnceCell::new(), scheduler, alive }
    }

    /// What to take an image with.
    fn whole(&self, encoder: &Encoder<'_>) -> Limited<&[Event]> {
        if self.events.len() == 1 {
            return Ok(&self.events);
        }
        if let Some(clusters) = self.clusters.get() {
            return Ok(clusters);
        }
        let clusters = clusters(encoder, &self.events)?;
        Ok(self.clusters.get_or_init(|| clusters))
    }

    /// The nodes of all events' diagrams.
    pub(crate) fn size(&self, encoder: &Encoder<'_>) -> usize {
        self.events.iter().map(|event| encoder.space.size(&event.relation)).sum()
    }

    /// The nodes of the largest event's diagram.
    pub(crate) fn largest(&self, encoder: &Encoder<'_>) -> usize {
        self.events.iter().map(|event| encoder.space.size(&event.relation)).max().unwrap_or(0)
    }

    /// The successors of a set.
    pub(crate) fn post(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let states = encoder.space.and(states, &self.alive)?;
        let images = self.whole(encoder)?.iter().map(|event| event.post(encoder, &states));
        encoder.balanced(images.collect::<Limited<Vec<_>>>()?, false)
    }

    /// The predecessors of a set.
    pub(crate) fn pre(&self, encoder: &Encoder<'_>, states: &Set) -> Limited<Set> {
        let images = self.whole(encoder)?.iter().map(|event| event.pre(encoder, states));
        let union = encoder.balanced(images.collect::<Limited<Vec<_>>>()?, false)?;
        encoder.space.and(&union, &self.alive)
    }

    /// The states with a successor.
    pub(crate) fn live(&self, encoder: &Encoder<'_>) -> Limited<Set> {
        let sets = self.events.iter().map(|event| encoder.space.exists(&event.relation, &event.next));
        let union = encoder.balanced(sets.collect::<Limited<Vec<_>>>()?, false)?;
        encoder.space.and(&union, &self.alive)
    }

    /// All that can be reached from a set: with several events each is applied to what the others
    /// have just found. Without this chaining, events cost far more than one whole relation.
    pub(crate) fn chain_forward(
        &self,
        encoder: &Encoder<'_>,
        from: &Set,
        on_round: impl FnMut(&Set) -> Limited<()>,
    ) -> Limited<(Set, u32)> {
        let step = |event: &Event, reached: &Set| {
            let states = encoder.space.and(reached, &self.alive)?;
            event.post(encoder, &states)
        };
        self.chain(encoder, from, step, on_round)
    }

    /// All from which a set can be reached inside `inside`.
    pub(crate) fn chain_backward(&self, encoder: &Encoder<'_>, from: &Set, inside: &Set) -> Limited<Set> {
        let inside = encoder.space.and(inside, &self.alive)?;
        let step = |event: &Event, reached: &Set| {
            let before = event.pre(encoder, reached)?;
            encoder.space.and(&before, &inside)
        };
        let (reached, _) = self.chain(encoder, from, step, |_| Ok(()))?;
        Ok(reached)
    }

    fn chain(
        &self,
        encoder: &Encoder<'_>,
        from: &Set,
        step: impl Fn(&Event, &Set) -> Limited<Set>,
        mut on_round: impl FnMut(&Set) -> Limited<()>,
    ) -> Limited<(Set, u32)> {
        let mut reached = from.clone();
        let mut n_rounds = 0;
        loop {
            n_rounds += 1;
            let before = reached.clone();
            for event in self.events.iter() {
                let image = step(event, &reached)?;
                reached = encoder.space.or(&reached, &image)?;
            }
            if reached == before {
                return Ok((reached, n_rounds));
            }
            on_round(&reached)?;
        }
    }
}

impl Encoder<'_> {
    /// Where every agent has an action.
    fn alive(&mut self) -> Limited<Set> {
        let mut sets = Vec::new();
        for agent in self.system.agent_ids() {
            let enabled = self.choice(agent)?.enabled;
            sets.push(self.balanced(enabled, false)?);
        }
        sets.retain(|set| !set.is_all());
        self.balanced(sets, true)
    }

    /// All parts, and the protocols of agents that have a choice somebody asks about. They are kept
    /// if a formula asks for the actions of a step.
    pub(crate) fn parts(&mut self) -> Limited<Vec<Part>> {
        if let Some(parts) = &self.parts {
            return Ok(parts.clone());
        }
        let parts = self.new_parts()?;
        if asks_for_actions(self.system) {
            self.parts = Some(parts.clone());
        }
        Ok(parts)
    }

    fn new_parts(&mut self) -> Limited<Vec<Part>> {
        let system = self.system;
        let mut parts = Vec::new();
        for agent in &system.agents {
            match system.meaning.assignment {
                Assignment::Multi => {
                    let lines: Vec<(ExprId, &[(VarId, ExprId)])> =
                        agent.evolution.iter().map(|l| (l.condition, &l.assignments[..])).collect();
                    parts.extend(self.part(&self.changing(agent), &lines)?);
                }
                Assignment::Single => {
                    for v in self.changing(agent) {
                        let lines: Vec<(ExprId, &[(VarId, ExprId)])> = agent
                            .evolution
                            .iter()
                            .flat_map(|l| {
                                l.assignments.iter().map(|a| (l.condition, std::slice::from_ref(a)))
                            })
                            .filter(|(_, a)| a[0].0 == v)
                            .collect();
                        parts.extend(self.part(&[v], &lines)?);
                    }
                }
            }
        }
        let read = actions_read(system);
        for agent in system.agent_ids().filter(|a| !read[a.index()].is_empty()) {
            let choice = self.choice(agent)?;
            if choice.is_determined {
                continue;
            }
            let relation = self.protocol(agent, &choice)?;
            let level = self.layout.actions[agent.index()].first().copied().unwrap_or(0);
            parts.push(Part { relation, actions: vec![agent], variables: Vec::new(), level });
        }
        Ok(parts)
    }

    /// Where an agent's action is one that its protocol enables.
    pub(crate) fn protocol(&self, agent: AgentId, choice: &Choice) -> Limited<Set> {
        let mut sets = Vec::new();
        for (action, enabled) in choice.enabled.iter().enumerate() {
            let is_action = self.has_code(&self.layout.actions[agent.index()], action as u64)?;
            sets.push(self.space.and(&is_action, enabled)?);
        }
        self.balanced(sets, false)
    }

    fn changing(&self, agent: &Agent) -> Vec<VarId> {
        agent.variables.iter().copied().filter(|&v| !self.layout.is_frozen(v)).collect()
    }

    /// One of the enabled lines is taken; if none is enabled, the variables keep their values.
    ///
    /// A line whose value lies outside its variable's domain relates to no next value, which is
    /// what an overflow means: the choice is gone, and if all are, so is the step.
    fn part(&mut self, variables: &[VarId], lines: &[(ExprId, &[(VarId, ExprId)])]) -> Limited<Option<Part>> {
        if variables.is_empty() {
            return Ok(None);
        }
        let Tables { mut enabled, mut choices, others } = self.tables(variables, lines)?;
        for (condition, assignments) in others.into_iter().map(|line| lines[line]) {
            let condition = self.condition(condition)?;
            let mut effects = vec![condition.clone()];
            for &v in variables {
                let assigned = assignments.iter().find(|(target, _)| *target == v);
                effects.push(match assigned {
                    Some((_, value)) => self.next_is(v, *value)?,
                    None => self.keeps(v)?,
                });
            }
            enabled.push(condition);
            choices.push(self.balanced(effects, true)?);
        }
        let any = self.balanced(enabled, false)?;
        let mut idle = vec![self.space.not(&any)?];
        for &v in variables {
            idle.push(self.keeps(v)?);
        }
        choices.push(self.balanced(idle, true)?);
        let relation = self.balanced(choices, false)?;
        let system = self.system;
        let support: rustc_hash::FxHashSet<Bit> = self.space.support(&relation).into_iter().collect();
        let actions = system
            .agent_ids()
            .filter(|agent| self.layout.actions[agent.index()].iter().any(|bit| support.contains(bit)))
            .collect();
        let first_bits = variables.iter().filter_map(|v| self.layout.variables[v.index()].current.first());
        let level = first_bits.copied().min().unwrap_or(0);
        Ok(Some(Part { relation, actions, variables: variables.to_vec(), level }))
    }

    pub(crate) fn keeps(&self, v: VarId) -> Limited<Set> {
        let bits = &self.layout.variables[v.index()];
        self.equal_bits(&bits.current, &bits.next)
    }

    /// Where the next value of a variable is the value of an expression now.
    fn next_is(&mut self, v: VarId, value: ExprId) -> Limited<Set> {
        use masque_model::{Domain, Expr};
        let next = self.layout.variables[v.index()].next.clone();
        match self.system.exprs.get(value) {
            Expr::Number(n) => self.has_value(v, &next, n),
            Expr::Symbol(s) => self.has_value(v, &next, s.0.into()),
            Expr::Variable(w) if self.system.variable(w).domain == self.system.variable(v).domain => {
                self.variable_is(v, &next, w, &self.layout.variables[w.index()].current.clone())
            }
            Expr::Variable(w) if matches!(self.system.variable(w).domain, Domain::Values(_)) => {
                self.variable_is(v, &next, w, &self.layout.variables[w.index()].current.clone())
            }
            _ if self.system.is_boolean(value) => {
                let value = self.condition(value)?;
                self.space.iff(&self.space.bit(next[0], true)?, &value)
            }
            _ => self.next_is_number(v, &next, value),
        }
    }

    /// The conjunction of all parts, actions quantified as they become local.
    pub(crate) fn merge(&self, parts: Vec<Part>) -> Limited<Set> {
        self.merge_keeping(parts, &[])
    }

    /// The conjunction of all parts, actions quantified as they become local, but for those of some
    /// agents.
    pub(crate) fn merge_keeping(&self, parts: Vec<Part>, kept: &[AgentId]) -> Limited<Set> {
        let merged = self.merge_within(parts, kept, usize::MAX)?;
        Ok(merged.unwrap_or_else(|| self.space.none()))
    }

    /// The same, unless it has more nodes than that on the way.
    pub(crate) fn merge_within(
        &self,
        mut parts: Vec<Part>,
        kept: &[AgentId],
        most: usize,
    ) -> Limited<Option<Set>> {
        parts.sort_by_key(|part| part.level);
        let mut uses = vec![0u32; self.system.agents.len()];
        for part in &parts {
            part.actions.iter().for_each(|a| uses[a.index()] += 1);
        }
        kept.iter().for_each(|a| uses[a.index()] += 1);
        // Actions that only one part mentions are local from the start.
        for part in &mut parts {
            *part = self.joined(part, None, &mut uses)?;
        }
        while parts.len() > 1 {
            let mut merged = Vec::with_capacity(parts.len().div_ceil(2));
            for pair in parts.chunks(2) {
                merged.push(match pair {
                    [a, b] => self.joined(a, Some(b), &mut uses)?,
                    _ => pair[0].clone(),
                });
            }
            parts = merged;
            let size = parts.iter().map(|part| self.space.size(&part.relation)).sum();
            if size > most {
                return Ok(None);
            }
            self.mind_size(size)?;
        }
        Ok(Some(parts.pop().map_or_else(|| self.space.all(), |part| part.relation)))
    }

    /// One part, or two conjoined, without the actions nobody else mentions.
    fn joined(&self, a: &Part, b: Option<&Part>, uses: &mut [u32]) -> Limited<Part> {
        let mut actions = a.actions.clone();
        if let Some(b) = b {
            for &agent in &b.actions {
                match actions.contains(&agent) {
                    true => uses[agent.index()] -= 1,
                    false => actions.push(agent),
                }
            }
        }
        let (local, shared): (Vec<AgentId>, Vec<AgentId>) =
            actions.into_iter().partition(|agent| uses[agent.index()] == 1);
        let bits = local.iter().flat_map(|agent| self.layout.actions[agent.index()].iter().copied());
        let cube = self.space.cube(bits)?;
        let all = self.space.all();
        let relation = self.space.and_exists(&a.relation, b.map_or(&all, |b| &b.relation), &cube)?;
        let variables = [&a.variables[..], b.map_or(&[], |b| &b.variables[..])].concat();
        Ok(Part { relation, actions: shared, variables, level: a.level })
    }
}

/// Whether some formula asks what can be done, or by which actions.
fn asks_for_actions(system: &System) -> bool {
    system.formulas.ids().any(|id| {
        matches!(
            system.formulas.get(id),
            Formula::Enforces(..) | Formula::ExistsStep(..) | Formula::ForallStep(..)
        )
    })
}
