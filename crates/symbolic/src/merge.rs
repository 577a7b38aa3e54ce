//! How parts are put together.
//!
//! Pairwise in the order of the variables, quantifying an agent's action as soon as no other part
//! mentions it. Where everything moves in every step the one relation that is left is mostly far
//! smaller than what comes up on the way. Where it is not, two neighbours that would make something
//! out of proportion are left apart, and the relation is a list of clusters, applied one after
//! another ([`stages`](crate::stages)). [RAPBB95]

use masque_model::AgentId;

use crate::encode::Encoder;
use crate::parts::Part;
use crate::space::{Cube, Limited, Set};

/// Two clusters are put together if that makes at most so many nodes, or so many times those of the
/// two; in tests hardly any are.
const SMALL: usize = if cfg!(test) { 8 } else { 2_000 };
const LOOSE: usize = if cfg!(test) { 1 } else { 4 };
/// Steps that putting them together may take, for each node that it may have.
pub(crate) const STEPS_PER_NODE: u64 = 16;

/// A part on its way to a cluster.
struct Growing {
    part: Part,
    size: usize,
    /// Whether it has met a neighbour that it does not go together with.
    is_done: bool,
}

/// Who mentions the actions of each agent.
struct Uses(Vec<u32>);

impl Uses {
    fn new(encoder: &Encoder<'_>, parts: &[Part], kept: &[AgentId]) -> Uses {
        let mut uses = vec![0; encoder.system.agents.len()];
        let mentioned = parts.iter().flat_map(|part| &part.actions);
        mentioned.chain(kept).for_each(|agent| uses[agent.index()] += 1);
        Uses(uses)
    }

    /// The agents that only these two mention, or only the first; and those that others mention, too.
    fn split(&self, a: &Part, b: Option<&Part>) -> (Vec<AgentId>, Vec<AgentId>) {
        let others = b.map_or(&[][..], |b| &b.actions);
        let is_new = |agent: &&AgentId| !a.actions.contains(agent);
        let all = a.actions.iter().chain(others.iter().filter(is_new)).copied();
        all.partition(|agent| {
            let both = a.actions.contains(agent) && others.contains(agent);
            self.0[agent.index()] == 1 + u32::from(both)
        })
    }

    /// Two parts have become one.
    fn join(&mut self, a: &Part, b: &Part) {
        a.actions
            .iter()
            .filter(|agent| b.actions.contains(agent))
            .for_each(|agent| self.0[agent.index()] -= 1);
    }
}

impl Encoder<'_> {
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
        let mut uses = Uses::new(self, &parts, kept);
        let most_steps = (most as u64).saturating_mul(STEPS_PER_NODE);
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
                let joined = match most {
                    usize::MAX => Some(self.joined(a, Some(b), &uses)?),
                    _ => self.space.within(most_steps, || self.joined(a, Some(b), &uses))?,
                };
                let Some(joined) = joined else { return Ok(None) };
                uses.join(a, b);
                merged.push(joined);
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

    /// Clusters whose conjunction is that of all parts, actions quantified as they become local, but
    /// for those of some agents: one, unless that would be out of proportion.
    pub(crate) fn merge(&self, mut parts: Vec<Part>, kept: &[AgentId]) -> Limited<Vec<Part>> {
        parts.sort_by_key(|part| part.level);
        let mut uses = Uses::new(self, &parts, kept);
        let mut clusters = Vec::with_capacity(parts.len());
        for part in &parts {
            // Actions that only one part mentions are local from the start.
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
            self.mind_size(clusters.iter().map(|cluster| cluster.size).sum())?;
            if clusters.len() == n_before {
                break;
            }
        }
        Ok(clusters.into_iter().map(|cluster| cluster.part).collect())
    }

    /// Two neighbours as one, or as they are.
    fn pair(
        &self,
        mut a: Growing,
        mut b: Growing,
        uses: &mut Uses,
        merged: &mut Vec<Growing>,
    ) -> Limited<()> {
        let most = SMALL.max((a.size + b.size) * LOOSE);
        let steps = most as u64 * STEPS_PER_NODE;
        let joined = self.space.within(steps, || {
            let part = self.joined(&a.part, Some(&b.part), uses)?;
            Ok((self.space.size(&part.relation), part))
        })?;
        match joined {
            Some((size, part)) if size <= most => {
                uses.join(&a.part, &b.part);
                merged.push(Growing { part, size, is_done: false });
            }
            _ => {
                // The larger one has found its limit; the other may yet go with its other neighbour.
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

    /// One part, or two conjoined, without the actions nobody else mentions.
    fn joined(&self, a: &Part, b: Option<&Part>, uses: &Uses) -> Limited<Part> {
        let (local, shared) = uses.split(a, b);
        let cube = self.action_cube(&local)?;
        let all = self.space.all();
        let relation = self.space.and_exists(&a.relation, b.map_or(&all, |b| &b.relation), &cube)?;
        let variables = [&a.variables[..], b.map_or(&[], |b| &b.variables[..])].concat();
        Ok(Part { relation, actions: shared, variables, level: a.level })
    }

    /// The bits of some agents' actions.
    fn action_cube(&self, agents: &[AgentId]) -> Limited<Cube> {
        self.space.cube(agents.iter().flat_map(|agent| self.layout.actions[agent.index()].iter().copied()))
    }
}
