//! The transition relation as parts: one for each agent's protocol, and one for what each agent
//! (MultiAssignment) or each variable (SingleAssignment) does in a step. `model::semantics::step`, as sets.

use std::time::Instant;

use masque_model::{Agent, AgentId, Assignment, ExprId, Protocol, System, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::confirm::Failure;
use crate::format::{Certificate, Place};
use crate::kernel::{Diagrams, Set};
use crate::values::{Levels, Values};

/// Maximum number of nodes of parts that are merged.
const MAX_MERGED_NODES: usize = 1500;

/// A conjunct of the transition relation: a part or several merged ones, with the levels that it mentions.
#[derive(Clone)]
pub(crate) struct Conjunct {
    pub(crate) relation: Set,
    pub(crate) support: Vec<u32>,
}

/// A system as sets.
pub(crate) struct Encoded<'s> {
    pub(crate) values: Values<'s>,
    /// For each agent the actions that it may perform.
    pub(crate) protocols: Vec<Conjunct>,
    /// How steps change variables.
    pub(crate) updates: Vec<Conjunct>,
    /// For each update the states and joint actions without next value.
    pub(crate) stuck: Vec<Set>,
    /// The conjuncts in the order in which they are applied for successors and for predecessors.
    pub(crate) forward: Vec<Conjunct>,
    pub(crate) backward: Vec<Conjunct>,
    /// The codes that stand for states.
    pub(crate) valid: Set,
    pub(crate) initial: Set,
    /// States and joint actions at which some enabled line assigns a value outside its variable's domain.
    pub(crate) overflow: Set,
    /// Levels of current values that steps change.
    pub(crate) changing: Vec<u32>,
}

/// A condition, and the assignments that are made where it is true.
type Line<'s> = (ExprId, &'s [(VarId, ExprId)]);

impl<'s> Encoded<'s> {
    /// Encodes a system in the order of a certificate.
    pub(crate) fn new(
        system: &'s System,
        certificate: &Certificate,
        max_bytes: u64,
        deadline: Option<Instant>,
    ) -> Result<Encoded<'s>, Failure> {
        let lines = system.agents.iter().flat_map(|agent| &agent.evolution);
        let assigned: FxHashSet<VarId> = lines.flat_map(|l| l.assignments.iter().map(|(v, _)| *v)).collect();
        let levels = levels(system, &certificate.order)?;
        let changing: Vec<u32> = (system.variable_ids().filter(|v| assigned.contains(v)))
            .flat_map(|v| levels.variables[v.index()].clone())
            .collect();
        let mut moves = vec![false; 2 * certificate.order.len()];
        changing.iter().for_each(|level| moves[*level as usize] = true);
        let diagrams = Diagrams::new(moves, max_bytes, deadline);
        let values = Values::new(system, diagrams.clone(), levels);
        let valid = valid_codes(&values);
        let mut encoded = Encoded {
            initial: values.condition(system.initial).and(&valid),
            protocols: system.agent_ids().map(|agent| conjunct(protocol(&values, agent))).collect(),
            updates: Vec::new(),
            stuck: Vec::new(),
            forward: Vec::new(),
            backward: Vec::new(),
            valid,
            overflow: diagrams.constant(false),
            changing,
            values,
        };
        let mut names: Vec<String> =
            system.agents.iter().map(|agent| format!("protocol {}", agent.name)).collect();
        for agent in &system.agents {
            encoded.updates(agent, &assigned, &mut names)?;
        }
        encoded.values.forget();
        encoded.forward = encoded.in_order(&names, &certificate.forward)?;
        encoded.backward = encoded.in_order(&names, &certificate.backward)?;
        Ok(encoded)
    }

    /// Returns the parts in an order, those that are not named last. Neighbours with few nodes are merged, so that
    /// fewer operations walk over the set whose image is computed.
    fn in_order(&self, names: &[String], order: &[String]) -> Result<Vec<Conjunct>, Failure> {
        let parts = self.protocols.iter().chain(&self.updates);
        let mut left: FxHashMap<&String, (usize, &Conjunct)> = names.iter().zip(parts.enumerate()).collect();
        if left.len() < names.len() {
            return Err(Failure::Input("two agents or two variables have the same name".to_string()));
        }
        let mut sorted = Vec::new();
        for name in order {
            let part = left.remove(name);
            sorted.push(part.ok_or_else(|| Failure::Input(format!("no part `{name}` is left to apply")))?);
        }
        let n_named = sorted.len();
        sorted.extend(left.into_values());
        sorted[n_named..].sort_by_key(|(index, _)| *index);
        let mut conjuncts: Vec<Conjunct> = Vec::new();
        for (_, next) in sorted {
            if let Some(last) = conjuncts.last_mut() {
                let relation = last.relation.and(&next.relation);
                let (support, n_nodes) = relation.support();
                if n_nodes <= MAX_MERGED_NODES {
                    *last = Conjunct { relation, support };
                    continue;
                }
            }
            conjuncts.push(next.clone());
        }
        Ok(conjuncts)
    }

    /// The parts `update AGENT` or `update VARIABLE`: one of the enabled lines is taken; if there is none, the
    /// values are kept.
    fn updates(
        &mut self,
        agent: &'s Agent,
        assigned: &FxHashSet<VarId>,
        names: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let lines: Vec<Line<'s>> =
            agent.evolution.iter().map(|l| (l.condition, &l.assignments[..])).collect();
        let assignments = || lines.iter().flat_map(|(c, list)| list.iter().map(move |a| (*c, a)));
        if assignments().any(|(_, (v, _))| !agent.variables.contains(v)) {
            return Err(Failure::Input(format!("agent `{}` assigns a variable of another", agent.name)));
        }
        let changing: Vec<VarId> = agent.variables.iter().copied().filter(|v| assigned.contains(v)).collect();
        match self.values.system.meaning.assignment {
            _ if changing.is_empty() => {}
            Assignment::Multi => {
                names.push(format!("update {}", agent.name));
                self.update(&changing, &lines);
            }
            Assignment::Single => {
                for v in changing {
                    let own = assignments().filter(|(_, (target, _))| *target == v);
                    names.push(format!("update {}", self.values.system.full_name(v)));
                    self.update(&[v], &own.map(|(c, a)| (c, std::slice::from_ref(a))).collect::<Vec<_>>());
                }
            }
        }
        Ok(())
    }

    fn update(&mut self, variables: &[VarId], lines: &[Line<'s>]) {
        let diagrams = self.values.diagrams.clone();
        let (mut choices, mut conditions) = (Vec::new(), Vec::new());
        for (condition, assignments) in lines {
            let condition = self.values.condition(*condition);
            let (mut relation, mut fits) = (condition.clone(), condition.clone());
            for &v in variables {
                let next = match assignments.iter().find(|(target, _)| *target == v) {
                    Some((_, expr)) => self.assigns(v, *expr),
                    None => self.keeps(v),
                };
                fits = fits.and(&next.exists(self.next_levels(&[v])));
                relation = relation.and(&next);
            }
            self.overflow = self.overflow.or(&condition.minus(&fits));
            conditions.push(condition);
            choices.push(relation);
        }
        let idle = diagrams.union(conditions).not();
        choices.push(variables.iter().fold(idle, |idle, v| idle.and(&self.keeps(*v))));
        let relation = diagrams.union(choices);
        self.stuck.push(relation.exists(self.next_levels(variables)).not());
        self.updates.push(conjunct(relation));
    }

    fn next_levels(&self, variables: &[VarId]) -> Vec<u32> {
        let levels = variables.iter().flat_map(|v| &self.values.levels.variables[v.index()]);
        levels.map(|level| level + 1).collect()
    }

    /// The next value of a variable is its current one.
    fn keeps(&self, v: VarId) -> Set {
        let diagrams = &self.values.diagrams;
        self.values.levels.variables[v.index()].iter().fold(diagrams.constant(true), |keeps, &level| {
            let is_both = |value| diagrams.literals([(level, value), (level + 1, value)]);
            keeps.and(&is_both(true).or(&is_both(false)))
        })
    }

    /// The next value of a variable is that of an expression. Nothing is related where the expression has no
    /// value in the domain of the variable.
    fn assigns(&self, v: VarId, expr: ExprId) -> Set {
        let value = self.values.value(expr);
        let related = value.iter().filter_map(|(value, set)| {
            let next = self.values.next_is(v, value.as_integer()?)?;
            Some(set.and(&next))
        });
        self.values.diagrams.union(related)
    }
}

fn conjunct(relation: Set) -> Conjunct {
    let (support, _) = relation.support();
    Conjunct { relation, support }
}

/// The part `protocol AGENT`: the actions that an agent may perform.
fn protocol(values: &Values<'_>, id: AgentId) -> Set {
    let agent = values.system.agent(id);
    let some_of = |actions: &mut dyn Iterator<Item = u32>| {
        values.diagrams.union(actions.map(|action| values.action_is(id, action)))
    };
    match &agent.protocol {
        Protocol::Unconstrained => some_of(&mut (0..agent.actions.len() as u32)),
        Protocol::Lines { lines, other } => {
            let conditions: Vec<Set> = lines.iter().map(|line| values.condition(line.condition)).collect();
            let choices = lines.iter().zip(&conditions).map(|(line, condition)| {
                condition.and(&some_of(&mut line.actions.iter().map(|action| action.0)))
            });
            let chosen = values.diagrams.union(choices);
            let others = some_of(&mut other.iter().flatten().map(|action| action.0));
            chosen.or(&others.minus(&values.diagrams.union(conditions)))
        }
    }
}

/// Returns where every code stands for a value.
fn valid_codes(values: &Values<'_>) -> Set {
    values.system.variable_ids().fold(values.diagrams.constant(true), |valid, v| {
        let n_values = values.system.variable(v).domain.size();
        valid.and(&codes_below(&values.diagrams, &values.levels.variables[v.index()], n_values))
    })
}

/// Returns where the code at some levels is less than a number.
fn codes_below(diagrams: &Diagrams, levels: &[u32], number: u128) -> Set {
    if number >> levels.len() != 0 {
        return diagrams.constant(true);
    }
    // Whether the lower bits are less than those of the number, for the bits seen so far.
    (0..).zip(levels).fold(diagrams.constant(false), |below, (power, &level)| {
        let is_zero = diagrams.literals([(level, false)]);
        if number >> power & 1 == 1 { is_zero.or(&below) } else { is_zero.and(&below) }
    })
}

/// Returns the levels of all bits: two for each place of the order, the second one for the next value.
fn levels(system: &System, order: &[Place]) -> Result<Levels, Failure> {
    const FREE: u32 = u32::MAX;
    let n_bits = |size: u128| (128 - (size.max(1) - 1).leading_zeros()) as usize;
    let mut levels = Levels {
        variables: system.variables.iter().map(|v| vec![FREE; n_bits(v.domain.size())]).collect(),
        actions: system.agents.iter().map(|a| vec![FREE; n_bits(a.actions.len() as u128)]).collect(),
    };
    let variables = system.variable_ids().map(|v| (false, system.full_name(v)));
    let agents = system.agents.iter().map(|agent| (true, agent.name.clone()));
    let all = levels.variables.iter_mut().chain(&mut levels.actions);
    let mut bits: FxHashMap<(bool, String), &mut Vec<u32>> = variables.chain(agents).zip(all).collect();
    for (place, Place { is_action, name, power }) in (0_u32..).zip(order) {
        let bits = bits.get_mut(&(*is_action, name.clone()));
        match bits.and_then(|bits| bits.get_mut(*power as usize)) {
            Some(bit) if *bit == FREE => *bit = 2 * place,
            _ => return Err(Failure::Input(format!("`{name}` has no bit {power}, or it has two places"))),
        }
    }
    if levels.variables.iter().chain(&levels.actions).flatten().any(|level| *level == FREE) {
        return Err(Failure::Input("some bit has no place in the order".to_string()));
    }
    Ok(levels)
}
