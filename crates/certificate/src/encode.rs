//! The transition relation as parts: one for each agent's protocol, and one for what each agent
//! (MultiAssignment) or each variable (SingleAssignment) does in a step. `model::semantics::step`, as sets.

use std::rc::Rc;
use std::time::Instant;

use masque_model::{Agent, AgentId, Assignment, ExprId, Protocol, System, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::format::{Certificate, Place};
use crate::kernel::{Diagrams, Limit, Limited, Set};
use crate::values::{Levels, Values};

/// Maximum number of nodes of parts that are merged.
const MAX_MERGED_NODES: usize = 1500;

/// A conjunct of the transition relation: a part or several merged ones, with the levels that it mentions.
#[derive(Clone, Debug)]
pub(crate) struct Conjunct {
    pub(crate) relation: Set,
    pub(crate) support: Vec<u32>,
}

/// A part of the transition relation.
#[derive(Debug)]
pub(crate) struct Part {
    /// The name by which certificates refer to it.
    pub(crate) name: String,
    pub(crate) conjunct: Conjunct,
    /// Whether it restricts actions rather than next values.
    pub(crate) is_protocol: bool,
    /// The states and actions without next value; empty for protocols.
    pub(crate) stuck: Set,
}

/// A system as sets.
pub(crate) struct Encoded<'s> {
    pub(crate) values: Values<'s>,
    pub(crate) parts: Vec<Part>,
    /// The conjuncts in the order in which they are applied for successors and for predecessors.
    pub(crate) forward: Rc<[Conjunct]>,
    pub(crate) backward: Rc<[Conjunct]>,
    /// The codes that stand for states.
    pub(crate) valid: Set,
    pub(crate) initial: Set,
    /// States and joint actions at which some enabled line assigns a value outside its variable's domain.
    pub(crate) overflow: Set,
    /// Levels of current values that steps change.
    pub(crate) changing: Vec<u32>,
    /// For each place of the order, the level of the bit.
    pub(crate) level_of_place: Vec<u32>,
}

/// Why a system could not be encoded.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The certificate does not fit the model.
    Mistake(String),
    /// A limit.
    Limit(Limit),
}

impl From<Limit> for Refusal {
    fn from(limit: Limit) -> Refusal {
        Refusal::Limit(limit)
    }
}

/// A line as a choice of an agent or of one variable.
struct Choice<'s> {
    condition: ExprId,
    assignments: &'s [(VarId, ExprId)],
}

impl<'s> Encoded<'s> {
    /// Encodes a system in the order of a certificate.
    pub(crate) fn new(
        system: &'s System,
        certificate: &Certificate,
        max_bytes: u64,
        deadline: Option<Instant>,
    ) -> Result<Encoded<'s>, Refusal> {
        let assigned: FxHashSet<VarId> = system
            .agents
            .iter()
            .flat_map(|agent| &agent.evolution)
            .flat_map(|line| line.assignments.iter().map(|(v, _)| *v))
            .collect();
        let (levels, level_of_place) = levels(system, &certificate.order)?;
        let changing: Vec<u32> = system
            .variable_ids()
            .filter(|v| assigned.contains(v))
            .flat_map(|v| levels.variables[v.index()].clone())
            .collect();
        let mut moves = vec![false; 2 * certificate.order.len()];
        changing.iter().for_each(|level| moves[*level as usize] = true);
        let mut diagrams = Diagrams::new(moves, max_bytes, deadline);
        let nothing = diagrams.constant(false);
        let mut encoded = Encoded {
            values: Values::new(system, diagrams, levels),
            parts: Vec::new(),
            forward: Rc::default(),
            backward: Rc::default(),
            valid: nothing.clone(),
            initial: nothing.clone(),
            overflow: nothing,
            changing,
            level_of_place,
        };
        encoded.valid = encoded.valid_codes()?;
        let initial = encoded.values.condition(system.initial)?;
        encoded.initial = encoded.values.diagrams.and(&initial, &encoded.valid.clone())?;
        for agent in system.agent_ids() {
            encoded.protocol(agent)?;
        }
        for agent in &system.agents {
            encoded.updates(agent, &assigned)?;
        }
        encoded.values.forget();
        encoded.forward = encoded.in_order(&certificate.forward)?;
        encoded.backward = encoded.in_order(&certificate.backward)?;
        Ok(encoded)
    }

    /// Returns the parts in an order, those that are not named last. Neighbours with few nodes are merged, so that
    /// fewer operations walk over the set whose image is computed.
    fn in_order(&mut self, names: &[String]) -> Result<Rc<[Conjunct]>, Refusal> {
        let index: FxHashMap<&str, usize> =
            self.parts.iter().enumerate().map(|(index, part)| (part.name.as_str(), index)).collect();
        let mut is_left = vec![true; self.parts.len()];
        let mut order = Vec::new();
        for name in names {
            match index.get(name.as_str()) {
                Some(&part) if std::mem::take(&mut is_left[part]) => order.push(part),
                _ => return Err(Refusal::Mistake(format!("no part `{name}` is left to apply"))),
            }
        }
        order.extend((0..is_left.len()).filter(|part| is_left[*part]));
        let mut conjuncts: Vec<Conjunct> = Vec::new();
        for part in order {
            let next = self.parts[part].conjunct.clone();
            if let Some(last) = conjuncts.last_mut() {
                let relation = self.values.diagrams.and(&last.relation, &next.relation)?;
                let (support, n_nodes) = self.values.diagrams.support(&relation);
                if n_nodes <= MAX_MERGED_NODES {
                    *last = Conjunct { relation, support };
                    continue;
                }
            }
            conjuncts.push(next);
        }
        Ok(conjuncts.into())
    }

    fn valid_codes(&mut self) -> Limited<Set> {
        let system = self.values.system;
        let mut valid = self.values.diagrams.constant(true);
        for v in system.variable_ids().collect::<Vec<_>>().into_iter().rev() {
            let levels = self.values.levels.variables[v.index()].clone();
            let codes = self.codes_below(&levels, system.variable(v).domain.size())?;
            valid = self.values.diagrams.and(&codes, &valid)?;
        }
        Ok(valid)
    }

    /// Returns where the code at some levels is less than a number.
    fn codes_below(&mut self, levels: &[u32], number: u128) -> Limited<Set> {
        let diagrams = &mut self.values.diagrams;
        if number >> levels.len() != 0 {
            return Ok(diagrams.constant(true));
        }
        // Whether the lower bits are less than those of the number, for the bits seen so far.
        let mut below = diagrams.constant(false);
        for (power, &level) in levels.iter().enumerate() {
            let is_zero = diagrams.literals(&[(level, false)])?;
            below = match number >> power & 1 {
                1 => diagrams.or(&is_zero, &below)?,
                _ => diagrams.and(&is_zero, &below)?,
            };
        }
        Ok(below)
    }

    /// The part `protocol AGENT`: the actions that an agent may perform.
    fn protocol(&mut self, id: AgentId) -> Limited<()> {
        let system = self.values.system;
        let agent = system.agent(id);
        let n_actions = agent.actions.len() as u32;
        let mut enabled: Vec<Vec<Set>> = vec![Vec::new(); agent.actions.len()];
        match &agent.protocol {
            Protocol::Unconstrained => {
                enabled.iter_mut().for_each(|sets| sets.push(self.values.diagrams.constant(true)));
            }
            Protocol::Lines { lines, other } => {
                let mut conditions = Vec::new();
                for line in lines {
                    let condition = self.values.condition(line.condition)?;
                    line.actions.iter().for_each(|a| enabled[a.0 as usize].push(condition.clone()));
                    conditions.push(condition);
                }
                let some = self.values.diagrams.union(conditions)?;
                let none = self.values.diagrams.not(&some);
                other.iter().flatten().for_each(|a| enabled[a.0 as usize].push(none.clone()));
            }
        }
        let mut choices = Vec::new();
        for (action, sets) in (0..n_actions).zip(enabled) {
            let (where_enabled, is_action) =
                (self.values.diagrams.union(sets)?, self.values.action_is(id, action)?);
            choices.push(self.values.diagrams.and(&where_enabled, &is_action)?);
        }
        let relation = self.values.diagrams.union(choices)?;
        self.add(format!("protocol {}", agent.name), relation, None)
    }

    fn add(&mut self, name: String, relation: Set, next: Option<&[u32]>) -> Limited<()> {
        let diagrams = &mut self.values.diagrams;
        let stuck = match next {
            None => diagrams.constant(false),
            Some(next) => {
                let moving = diagrams.exists(&relation, next)?;
                diagrams.not(&moving)
            }
        };
        let support = diagrams.support(&relation).0;
        let conjunct = Conjunct { relation, support };
        self.parts.push(Part { name, conjunct, is_protocol: next.is_none(), stuck });
        Ok(())
    }

    /// The parts `update AGENT` or `update VARIABLE`: one of the enabled lines is taken; if there is none, the
    /// values are kept.
    fn updates(&mut self, agent: &'s Agent, assigned: &FxHashSet<VarId>) -> Result<(), Refusal> {
        let system = self.values.system;
        if agent.evolution.iter().any(|l| l.assignments.iter().any(|(v, _)| !agent.variables.contains(v))) {
            return Err(Refusal::Mistake(format!("agent `{}` assigns a variable of another", agent.name)));
        }
        let changing: Vec<VarId> =
            agent.variables.iter().copied().filter(|variable| assigned.contains(variable)).collect();
        match system.meaning.assignment {
            _ if changing.is_empty() => Ok(()),
            Assignment::Multi => {
                let lines: Vec<Choice<'_>> = (agent.evolution.iter())
                    .map(|l| Choice { condition: l.condition, assignments: &l.assignments })
                    .collect();
                Ok(self.update(format!("update {}", agent.name), &changing, &lines)?)
            }
            Assignment::Single => {
                for &v in &changing {
                    let lines: Vec<Choice<'_>> = (agent.evolution.iter())
                        .flat_map(|l| l.assignments.iter().map(|a| (l.condition, a)))
                        .filter(|(_, (target, _))| *target == v)
                        .map(|(condition, a)| Choice { condition, assignments: std::slice::from_ref(a) })
                        .collect();
                    self.update(format!("update {}", system.full_name(v)), &[v], &lines)?;
                }
                Ok(())
            }
        }
    }

    fn update(&mut self, name: String, variables: &[VarId], lines: &[Choice<'_>]) -> Limited<()> {
        let mut choices = Vec::new();
        let mut conditions = Vec::new();
        for line in lines {
            let condition = self.values.condition(line.condition)?;
            let (mut relation, mut fits) = (condition.clone(), condition.clone());
            for &v in variables {
                let next = match line.assignments.iter().find(|(target, _)| *target == v) {
                    Some((_, expr)) => self.next_is(v, *expr)?,
                    None => self.keeps(v)?,
                };
                let next_levels = self.next_levels(&[v]);
                let defined = self.values.diagrams.exists(&next, &next_levels)?;
                fits = self.values.diagrams.and(&fits, &defined)?;
                relation = self.values.diagrams.and(&relation, &next)?;
            }
            let removed = self.values.diagrams.minus(&condition, &fits)?;
            self.overflow = self.values.diagrams.or(&self.overflow.clone(), &removed)?;
            conditions.push(condition);
            choices.push(relation);
        }
        let some = self.values.diagrams.union(conditions)?;
        let mut idle = self.values.diagrams.not(&some);
        for &v in variables {
            let keeps = self.keeps(v)?;
            idle = self.values.diagrams.and(&idle, &keeps)?;
        }
        choices.push(idle);
        let relation = self.values.diagrams.union(choices)?;
        let next = self.next_levels(variables);
        self.add(name, relation, Some(&next))
    }

    fn next_levels(&self, variables: &[VarId]) -> Vec<u32> {
        variables
            .iter()
            .flat_map(|v| &self.values.levels.variables[v.index()])
            .map(|level| level + 1)
            .collect()
    }

    /// The next value of a variable is its current one.
    fn keeps(&mut self, v: VarId) -> Limited<Set> {
        let mut keeps = self.values.diagrams.constant(true);
        let levels = self.values.levels.variables[v.index()].clone();
        for level in levels {
            let both = self.values.diagrams.literals(&[(level, true), (level + 1, true)])?;
            let neither = self.values.diagrams.literals(&[(level, false), (level + 1, false)])?;
            let same = self.values.diagrams.or(&both, &neither)?;
            keeps = self.values.diagrams.and(&keeps, &same)?;
        }
        Ok(keeps)
    }

    /// The next value of a variable is that of an expression. Nothing is related where the expression has no
    /// value in the domain of the variable.
    fn next_is(&mut self, v: VarId, expr: ExprId) -> Limited<Set> {
        let value = self.values.value(expr)?;
        let mut found = Vec::new();
        for (value, set) in value {
            if let Some(value) = value.as_integer()
                && let Some(next) = self.values.variable_is(v, value, 1)?
            {
                found.push(self.values.diagrams.and(&set, &next)?);
            }
        }
        self.values.diagrams.union(found)
    }
}

/// Returns the levels of all bits, two for each place of the order, and the level of each place.
fn levels(system: &System, order: &[Place]) -> Result<(Levels, Vec<u32>), Refusal> {
    let n_bits = |size: u128| (128 - (size.max(1) - 1).leading_zeros()) as usize;
    const FREE: u32 = u32::MAX;
    let mut levels = Levels {
        variables: system.variables.iter().map(|v| vec![FREE; n_bits(v.domain.size())]).collect(),
        actions: system.agents.iter().map(|a| vec![FREE; n_bits(a.actions.len() as u128)]).collect(),
    };
    let variables: FxHashMap<String, usize> =
        system.variable_ids().map(|v| (system.full_name(v), v.index())).collect();
    let agents: FxHashMap<&str, usize> =
        system.agents.iter().enumerate().map(|(index, agent)| (agent.name.as_str(), index)).collect();
    let mut level_of_place = Vec::new();
    for (place, Place { is_action, name, power }) in order.iter().enumerate() {
        let bits = match is_action {
            true => agents.get(name.as_str()).map(|&agent| &mut levels.actions[agent]),
            false => variables.get(name).map(|&v| &mut levels.variables[v]),
        };
        match bits.and_then(|bits| bits.get_mut(*power as usize)) {
            Some(bit) if *bit == FREE => *bit = 2 * place as u32,
            _ => return Err(Refusal::Mistake(format!("`{name}` has no bit {power}, or it has two places"))),
        }
        level_of_place.push(2 * place as u32);
    }
    if levels.variables.iter().chain(&levels.actions).flatten().any(|level| *level == FREE) {
        return Err(Refusal::Mistake("some bit has no place in the order".to_string()));
    }
    Ok((levels, level_of_place))
}
