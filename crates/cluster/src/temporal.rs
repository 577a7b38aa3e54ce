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
    /// Strongly connected components, which the engine on one machine uses, have no good distributed
    /// algorithm; the fixpoint of Emerson and Lei needs nothing but searches backwards. Before each
    /// round of it, states that no infinite path of `Z` leaves are removed: that is cheap, and saves
    /// a round for each state of a long tail.
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

    /// Count for each state of `φ` its successors in `φ`, remove the states that have none, and each
    /// that is left with none by that.
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

    /// Calls `found`, where it is kept, for each predecessor of each state of a set: as often as it
    /// is one.
    pub(crate) fn each_source(&mut self, states: &Bitset, found: impl FnMut(usize)) -> Result<(), Stop> {
        self.make_graph()?;
        let (graph, net) = parts(self)?;
        each_source(net, graph, states, found)
    }

    /// Searches backwards from a set of states: `take` says, of each predecessor found, whether to go
    /// on from there.
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
