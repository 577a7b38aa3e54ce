//! The path operators, by worklists over stored predecessors. [CGP99 §4.1]
//!
//! A worklist is spread over the workers: what leads to a state of mine from a state of yours is
//! sent to you as your state's number. Each worker follows what it can by itself; a round ends where
//! all must hear from others, and the search ends with a round in which nobody has sent anything.

use masque_explicit::parts::Bitset;
use masque_verdict::{Stop, Why};

use crate::graph::{Graph, Place};
use crate::net::{Net, Outbox, Task};
use crate::shard::Shard;

/// States looked at between two looks at what has come in.
const STRIDE: usize = 4096;
/// States looked at by a worker in a round.
const ROUND: usize = 1 << 16;

impl Shard<'_> {
    /// `EX φ`: some successor satisfies `φ`.
    ///
    /// ```text
    /// ⟦EX φ⟧ = {s ∈ D | s → t for some t ∈ ⟦φ⟧}
    /// ```
    ///
    /// False at a dead end. Under fairness `t ∈ D` makes a path through `t` fair.
    pub(crate) fn exists_next(&mut self, phi: &Bitset, domain: &Bitset) -> Result<Bitset, Stop> {
        let mut before = Bitset::empty(self.n_states());
        self.each_source(phi, |source| {
            before.insert(source);
        })?;
        Ok(before.and(domain))
    }

    /// `E(φ U ψ) = μZ. ψ ∨ (φ ∧ EX Z)`, by searching backwards from `ψ` through `φ`.
    ///
    /// A finite path will do. Under fairness `ψ ⊆ D`, and steps before a fair path keep it fair.
    pub(crate) fn exists_until(&mut self, phi: &Bitset, psi: &Bitset) -> Result<Bitset, Stop> {
        let open: Vec<u32> = psi.iter().map(|state| state as u32).collect();
        let mut reached = psi.clone();
        self.backwards(open, |source| phi.contains(source) && reached.insert(source))?;
        Ok(reached)
    }

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
    pub(crate) fn exists_globally_fair(
        &mut self,
        phi: &Bitset,
        constraints: &[Bitset],
    ) -> Result<Bitset, Stop> {
        let mut z = self.stays_in(phi)?;
        if constraints.is_empty() {
            return Ok(z);
        }
        loop {
            let n_before = z.count();
            for constraint in constraints {
                let goal = z.clone().and(constraint);
                let reaching = self.exists_until(&z, &goal)?;
                z = self.exists_next(&reaching, &z)?;
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
        self.check_memory(self.n_states() as u64 * 4)?;
        let mut n_successors = vec![0_u32; self.n_states()];
        self.each_source(phi, |source| n_successors[source] += 1)?;
        let mut stays = phi.clone();
        let mut removed: Vec<u32> = Vec::new();
        for state in phi.iter().filter(|&state| n_successors[state] == 0) {
            stays.remove(state);
            removed.push(state as u32);
        }
        self.backwards(removed, |source| {
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
        let mut task = EachSource { graph, states, found, me: net.index(), next: 0, until: 0 };
        net.work_off(&mut task)
    }

    /// Searches backwards from the states `open`: `take` says, of each predecessor found, whether to
    /// go on from there.
    pub(crate) fn backwards(&mut self, open: Vec<u32>, take: impl FnMut(usize) -> bool) -> Result<(), Stop> {
        self.make_graph()?;
        let (graph, net) = parts(self)?;
        let me = net.index();
        net.run(&mut Backwards { graph, open, take, me, n_looked: 0 })
    }
}

fn parts<'a>(shard: &'a mut Shard<'_>) -> Result<(&'a Graph, &'a mut Net), Stop> {
    let graph = shard.space.graph.as_ref().ok_or(Stop::from(Why::Unsupported))?;
    Ok((graph, &mut shard.net))
}

/// One step back from a set.
struct EachSource<'a, F> {
    graph: &'a Graph,
    states: &'a Bitset,
    found: F,
    me: usize,
    next: usize,
    until: usize,
}

impl<F: FnMut(usize)> Task for EachSource<'_, F> {
    fn begin(&mut self) {
        self.until = self.graph.n_states().min(self.next + ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let end = self.until.min(self.next + STRIDE);
        for state in (self.next..end).filter(|&state| self.states.contains(state)) {
            for source in self.graph.predecessors(state) {
                if source.worker() == self.me {
                    (self.found)(source.number() as usize);
                } else {
                    send(out, source);
                }
            }
        }
        self.next = end;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        words.iter().for_each(|&number| (self.found)(number as usize));
        Ok(())
    }

    /// The states not looked at yet.
    fn vote(&self) -> Vec<u64> {
        vec![(self.graph.n_states() - self.next) as u64]
    }
}

/// A search backwards.
struct Backwards<'a, F> {
    graph: &'a Graph,
    open: Vec<u32>,
    take: F,
    me: usize,
    /// In this round.
    n_looked: usize,
}

impl<F: FnMut(usize) -> bool> Task for Backwards<'_, F> {
    fn begin(&mut self) {
        self.n_looked = 0;
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        if self.n_looked >= ROUND {
            return Ok(false);
        }
        for _ in 0..STRIDE {
            let Some(state) = self.open.pop() else { return Ok(false) };
            self.n_looked += 1;
            for source in self.graph.predecessors(state as usize) {
                if source.worker() != self.me {
                    send(out, source);
                } else if (self.take)(source.number() as usize) {
                    self.open.push(source.number());
                }
            }
        }
        Ok(!self.open.is_empty())
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        for &number in words {
            if (self.take)(number as usize) {
                self.open.push(number as u32);
            }
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![self.open.len() as u64]
    }
}

fn send(out: &mut Outbox, place: Place) {
    out.send(place.worker(), &[u64::from(place.number())]);
}
