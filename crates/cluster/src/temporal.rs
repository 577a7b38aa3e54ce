//! The path operators, by worklists over stored predecessors. [CGP99 §4.1]

use masque_explicit::parts::{Bitset, StoredStates};
use masque_verdict::{Budget, Stop, Why};

use crate::backwards::{backwards, each_source};
use crate::graph::Graph;
use crate::net::Net;
use crate::shard::Shard;

impl Shard<'_> {
    /// `EG φ`: some infinite path, fair if there are constraints, stays in `φ`.
    ///
    /// ```text
    /// EG φ = νZ. φ ∧ EX Z                          without constraints
    /// EG φ = νZ. φ ∧ ⋀_c EX E(φ U (Z ∧ c))         with constraints c  [EL86 §3]
    /// ```
    ///
    /// Strongly connected components, which the explicit engine uses, have no good distributed algorithm;
    /// the fixpoint of Emerson and Lei needs only backward searches. Before each iteration, states without
    /// an infinite path in `Z` are removed: that is cheap, and saves an iteration for each state of a long
    /// tail.
    pub(crate) fn stays_in_fairly(
        &mut self,
        phi: &Bitset,
        constraints: &[Bitset],
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        let mut z = self.stays_in(phi)?;
        if constraints.is_empty() {
            return Ok(z);
        }
        loop {
            let n_before = z.count();
            for constraint in constraints {
                let goal = z.clone().and(constraint);
                let reaching = self.exists_until(&z, &goal, budget)?;
                z = self.exists_next(&reaching, &z, budget)?;
            }
            if !self.net.any(z.count() != n_before)? {
                return Ok(z);
            }
            z = self.stays_in(&z)?;
        }
    }

    /// Computes the states with an infinite path in `φ`: counts the successors of each state of `φ` in `φ`,
    /// and removes, repeatedly, the states that have none left.
    fn stays_in(&mut self, phi: &Bitset) -> Result<Bitset, Stop> {
        self.check_bytes(self.n_states() as u64 * 4)?;
        let mut n_successors = vec![0_u32; self.n_states()];
        self.each_source(phi, |source| n_successors[source] += 1)?;
        let removed = phi.filter(|state| n_successors[state] == 0);
        let mut stays = phi.clone().minus(&removed);
        self.backwards(&removed, |source| {
            let left = &mut n_successors[source];
            *left -= 1;
            let is_removed = *left == 0 && stays.contains(source);
            if is_removed {
                stays.remove(source);
            }
            is_removed
        })?;
        Ok(stays)
    }

    /// Calls `found` for each predecessor of each state of a set, at the worker that keeps the predecessor.
    pub(crate) fn each_source(&mut self, states: &Bitset, found: impl FnMut(usize)) -> Result<(), Stop> {
        self.make_graph()?;
        let (graph, net) = parts(self)?;
        each_source(net, graph, states, found)
    }

    /// Searches backwards from a set of states: `take` gets each predecessor and returns whether to visit it.
    pub(crate) fn backwards(
        &mut self,
        from: &Bitset,
        mut take: impl FnMut(usize) -> bool,
    ) -> Result<(), Stop> {
        self.make_graph()?;
        let (graph, net) = parts(self)?;
        backwards(net, graph, from.iter().map(|state| state as u32), |source: u32, open| {
            if take(source as usize) {
                open.push(source);
            }
        })
    }
}

fn parts<'a>(shard: &'a mut Shard<'_>) -> Result<(&'a Graph, &'a mut Net), Stop> {
    let graph = shard.space.graph.as_ref().ok_or(Stop::from(Why::Unsupported))?;
    Ok((graph, &mut shard.net))
}
