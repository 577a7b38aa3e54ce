//! Merges the parts of the relation into clusters, if possible into one.
//!
//! Parts are conjoined pairwise in the order of the variables, and an agent's action is quantified as
//! soon as no other part mentions it. Where all agents move in every step, the single relation at the
//! end is usually far smaller than the intermediate results. Where it is not, two neighbours whose
//! conjunction would have too many nodes stay separate, and the relation is a list of clusters, applied
//! one after another ([`stages`](crate::stages)). [RAPBB95]

use masque_model::AgentId;

use crate::encode::Encoder;
use crate::parts::Part;
use crate::space::{Cube, Limited, Set};

/// Number of nodes up to which two clusters are always merged; in tests hardly any are.
const MIN_NODE_LIMIT: usize = if cfg!(test) { 8 } else { 2_000 };
/// Two clusters are also merged if the result has at most this many times the nodes of both.
const MAX_GROWTH_FACTOR: usize = if cfg!(test) { 1 } else { 4 };
/// Steps that merging may take per node that the result may have.
pub(crate) const STEPS_PER_NODE: u64 = 16;

/// A cluster that may still be merged with its neighbours.
struct Growing {
    part: Part,
    /// Number of nodes of its relation.
    size: usize,
    /// Whether merging it with a neighbour has failed.
    is_done: bool,
}

/// For each agent, the number of parts that mention its action.
struct Uses(Vec<u32>);

impl Uses {
    fn new(encoder: &Encoder<'_>, parts: &[Part], kept: &[AgentId]) -> Uses {
        let mut uses = vec![0; encoder.system.agents.len()];
        let mentioned = parts.iter().flat_map(|part| &part.actions);
        mentioned.chain(kept).for_each(|agent| uses[agent.index()] += 1);
        Uses(uses)
    }

    /// Splits the agents that two parts, or one, mention: those that no other part mentions, and those
    /// that others mention too.
    fn split(&self, a: &Part, b: Option<&Part>) -> (Vec<AgentId>, Vec<AgentId>) {
        let others = b.map_or(&[][..], |b| &b.actions);
        let is_new = |agent: &&AgentId| !a.actions.contains(agent);
        let all = a.actions.iter().chain(others.iter().filter(is_new)).copied();
        all.partition(|agent| {
            let both = a.actions.contains(agent) && others.contains(agent);
            self.0[agent.index()] == 1 + u32::from(both)
        })
    }

    /// Updates the counts when two parts become one.
    fn join(&mut self, a: &Part, b: &Part) {
        a.actions
            .iter()
            .filter(|agent| b.actions.contains(agent))
            .for_each(|agent| self.0[agent.index()] -= 1);
    }
}

impl Encoder<'_> {
    /// Computes the conjunction of all parts. Actions are quantified, except those of the `kept` agents.
    pub(crate) fn merge_keeping(&self, parts: Vec<Part>, kept: &[AgentId]) -> Limited<Set> {
        let merged = self.merge_within(parts, kept, usize::MAX)?;
        Ok(merged.unwrap_or_else(|| self.space.none()))
    }

    /// As [`merge_keeping`](Self::merge_keeping), but returns `None` if an intermediate result has more
    /// than `max_nodes` nodes.
    pub(crate) fn merge_within(
        &self,
        mut parts: Vec<Part>,
        kept: &[AgentId],
        max_nodes: usize,
    ) -> Limited<Option<Set>> {
        parts.sort_by_key(|part| part.level);
        let mut uses = Uses::new(self, &parts, kept);
        let max_steps = (max_nodes as u64).saturating_mul(STEPS_PER_NODE);
        for part in &mut parts {
            *part = self.joined(part, None, &uses)?;
        }
        while parts.len() > 1 {
            let mut merged = Vec::with_capacity(parts.len().div_ceil(2));
            for pair in parts.chunks(2) {
                let [a, b] = pair else {
                    merged.extend_from_slice(pair);
                    break;
                };
                let joined = match max_nodes {
                    usize::MAX => Some(self.joined(a, Some(b), &uses)?),
                    _ => self.space.within_steps(max_steps, || self.joined(a, Some(b), &uses))?,
                };
                let Some(joined) = joined else { return Ok(None) };
                uses.join(a, b);
                merged.push(joined);
            }
            parts = merged;
            let size = parts.iter().map(|part| self.space.size(&part.relation)).sum();
            if size > max_nodes {
                return Ok(None);
            }
            self.check_node_limit(size)?;
        }
        Ok(Some(parts.pop().map_or_else(|| self.space.all(), |part| part.relation)))
    }

    /// Merges all parts into clusters with the same conjunction: into one, unless it would have too many
    /// nodes. Actions are quantified as soon as no other part mentions them, except those of the `kept`
    /// agents.
    pub(crate) fn merge(&self, mut parts: Vec<Part>, kept: &[AgentId]) -> Limited<Vec<Part>> {
        parts.sort_by_key(|part| part.level);
        let mut uses = Uses::new(self, &parts, kept);
        let mut clusters = Vec::with_capacity(parts.len());
        for part in &parts {
            // An action that only one part mentions is quantified at once.
            let part = self.joined(part, None, &uses)?;
            let size = self.space.size(&part.relation);
            clusters.push(Growing { part, size, is_done: false });
        }
        loop {
            let n_before = clusters.len();
            let mut merged = Vec::with_capacity(n_before);
            let mut rest = clusters.into_iter().peekable();
            while let Some(a) = rest.next() {
                match rest.next_if(|b| !a.is_done && !b.is_done) {
                    Some(b) => self.pair(a, b, &mut uses, &mut merged)?,
                    None => merged.push(a),
                }
            }
            clusters = merged;
            self.check_node_limit(clusters.iter().map(|cluster| cluster.size).sum())?;
            if clusters.len() == n_before {
                break;
            }
        }
        Ok(clusters.into_iter().map(|cluster| cluster.part).collect())
    }

    /// Adds two neighbours to `merged`: as one cluster, or as they are if that would have too many nodes.
    fn pair(
        &self,
        mut a: Growing,
        mut b: Growing,
        uses: &mut Uses,
        merged: &mut Vec<Growing>,
    ) -> Limited<()> {
        let max_nodes = MIN_NODE_LIMIT.max((a.size + b.size) * MAX_GROWTH_FACTOR);
        let max_steps = max_nodes as u64 * STEPS_PER_NODE;
        let joined = self.space.within_steps(max_steps, || {
            let part = self.joined(&a.part, Some(&b.part), uses)?;
            Ok((self.space.size(&part.relation), part))
        })?;
        match joined {
            Some((size, part)) if size <= max_nodes => {
                uses.join(&a.part, &b.part);
                merged.push(Growing { part, size, is_done: false });
            }
            _ => {
                // The larger one is done; the smaller one may still be merged with its other neighbour.
                if a.size >= b.size {
                    a.is_done = true
                } else {
                    b.is_done = true
                }
                merged.extend([a, b]);
            }
        }
        Ok(())
    }

    /// Returns one part, or the conjunction of two, with the actions quantified that no other part
    /// mentions.
    fn joined(&self, a: &Part, b: Option<&Part>, uses: &Uses) -> Limited<Part> {
        let (local, shared) = uses.split(a, b);
        let cube = self.action_cube(&local)?;
        let all = self.space.all();
        let relation = self.space.and_exists(&a.relation, b.map_or(&all, |b| &b.relation), &cube)?;
        let variables = [&a.variables[..], b.map_or(&[], |b| &b.variables[..])].concat();
        Ok(Part { relation, actions: shared, variables, level: a.level })
    }

    /// Returns the cube of some agents' action bits.
    fn action_cube(&self, agents: &[AgentId]) -> Limited<Cube> {
        self.space.cube(agents.iter().flat_map(|agent| self.layout.actions[agent.index()].iter().copied()))
    }
}
