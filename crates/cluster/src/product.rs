//! LTL and CTL*: the paths of the system that an automaton accepts. [VW86; CGP99 §9]
//!
//! The vertices of the product are pairs of a state and a state of the automaton, a *cover*. A pair is kept
//! by the worker that keeps the state. A message contains the index of a predecessor and the cover of its
//! successor; the worker that keeps the predecessor finds the covers before it.

use masque_explicit::parts::{Bitset, StoredStates};
use masque_verdict::{Automaton, Cover, Stop, Why};

use crate::backwards::{Vertex, backwards, each_source};
use crate::graph::Graph;
use crate::net::Net;
use crate::shard::Shard;

impl Shard<'_> {
    /// Computes the states at which an infinite path starts that the automaton accepts.
    pub(crate) fn accepted_paths(
        &mut self,
        automaton: &Automaton,
        meeting: Vec<Bitset>,
        constraints: &[Bitset],
    ) -> Result<Bitset, Stop> {
        self.make_graph()?;
        let n_states = self.n_states();
        // A counter and several sets per pair; a worklist holds a pair at most once.
        self.check_bytes((n_states * automaton.covers.len()) as u64 * 13)?;
        let graph = self.space.graph.as_ref().ok_or(Stop::from(Why::Unsupported))?;
        let mut product = Product { net: &mut self.net, graph, automaton, constraints };
        let fair = product.fair(Pairs(meeting))?;
        let mut starts = Bitset::empty(n_states);
        for &cover in &automaton.initial {
            starts = starts.or(&fair.0[cover as usize]);
        }
        Ok(starts)
    }
}

/// A set of pairs: the states of each cover.
#[derive(Clone)]
struct Pairs(Vec<Bitset>);

impl Pairs {
    fn contains(&self, Pair { state, cover }: Pair) -> bool {
        self.0[cover as usize].contains(state as usize)
    }

    /// Returns whether the pair is new.
    fn insert(&mut self, Pair { state, cover }: Pair) -> bool {
        self.0[cover as usize].insert(state as usize)
    }

    fn remove(&mut self, Pair { state, cover }: Pair) {
        self.0[cover as usize].remove(state as usize);
    }

    fn count(&self) -> usize {
        self.0.iter().map(Bitset::count).sum()
    }

    fn iter(&self) -> impl Iterator<Item = Pair> + '_ {
        let covers = (0..).zip(&self.0);
        covers.flat_map(|(cover, states)| states.iter().map(move |state| Pair { state: state as u32, cover }))
    }
}

/// A state and a cover.
#[derive(Clone, Copy)]
struct Pair {
    state: u32,
    cover: u32,
}

impl Vertex for Pair {
    fn state(self) -> u32 {
        self.state
    }

    fn source(self, index: u32) -> Pair {
        Pair { state: index, ..self }
    }

    fn word(self) -> u64 {
        u64::from(self.cover) << 32 | u64::from(self.state)
    }

    fn from_word(word: u64) -> Pair {
        Pair { state: word as u32, cover: (word >> 32) as u32 }
    }
}

/// The product of the transitions and an automaton.
struct Product<'a> {
    net: &'a mut Net,
    graph: &'a Graph,
    automaton: &'a Automaton,
    /// The states at which each fairness constraint is true.
    constraints: &'a [Bitset],
}

impl Product<'_> {
    /// Computes the pairs at which an infinite path starts that stays in a set and meets every constraint
    /// infinitely often: those of the automaton, by which no until is postponed forever, and fairness.
    ///
    /// ```text
    /// νZ. Z ∧ ⋀_c EX E(Z U (Z ∧ c))     [EL86 §3]
    /// ```
    ///
    /// As for `EG` under fairness, pairs without an infinite path in `Z` are removed before each iteration.
    fn fair(&mut self, pairs: Pairs) -> Result<Pairs, Stop> {
        let mut z = self.stays_in(pairs)?;
        let n_constraints = self.automaton.n_promises + self.constraints.len();
        loop {
            let n_before = z.count();
            for constraint in 0..n_constraints {
                let goal = self.meeting(&z, constraint);
                let reaching = self.reaching(&z, &goal)?;
                z = self.before(&reaching, z)?;
            }
            if !self.net.any(z.count() != n_before)? {
                return Ok(z);
            }
            z = self.stays_in(z)?;
        }
    }

    /// Returns the pairs of a set that meet a constraint. The constraints of the automaton come first.
    fn meeting(&self, pairs: &Pairs, constraint: usize) -> Pairs {
        let Automaton { covers, n_promises, .. } = self.automaton;
        let of_cover = |(states, cover): (&Bitset, &Cover)| match constraint.checked_sub(*n_promises) {
            Some(fairness) => states.clone().and(&self.constraints[fairness]),
            None if cover.promises.contains(&(constraint as u32)) => states.clone().minus(states),
            None => states.clone(),
        };
        Pairs(pairs.0.iter().zip(covers).map(of_cover).collect())
    }

    /// `E(Z U goal)`, where the goal is inside `Z`.
    fn reaching(&mut self, z: &Pairs, goal: &Pairs) -> Result<Pairs, Stop> {
        let mut reached = goal.clone();
        let predecessors = &self.automaton.predecessors;
        backwards(self.net, self.graph, goal.iter(), |Pair { state, cover }, open| {
            let before = predecessors[cover as usize].iter().map(|&cover| Pair { state, cover });
            open.extend(before.filter(|&pair| z.contains(pair) && reached.insert(pair)));
        })?;
        Ok(reached)
    }

    /// `Z ∧ EX φ`
    fn before(&mut self, phi: &Pairs, z: Pairs) -> Result<Pairs, Stop> {
        let mut found = Pairs(vec![Bitset::empty(self.graph.n_states()); z.0.len()]);
        self.each_source(phi, |pair| {
            if z.contains(pair) {
                found.insert(pair);
            }
        })?;
        Ok(found)
    }

    /// Computes the pairs with an infinite path in the set: counts the successors of each pair in the set,
    /// and removes, repeatedly, the pairs that have none left.
    fn stays_in(&mut self, pairs: Pairs) -> Result<Pairs, Stop> {
        let n_states = self.graph.n_states();
        let index = |Pair { state, cover }: Pair| cover as usize * n_states + state as usize;
        let mut n_successors = vec![0_u32; n_states * pairs.0.len()];
        self.each_source(&pairs, |pair| n_successors[index(pair)] += 1)?;
        let removed = |(cover, states): (u32, &Bitset)| {
            states.filter(|state| n_successors[index(Pair { state: state as u32, cover })] == 0)
        };
        let removed = Pairs((0..).zip(&pairs.0).map(removed).collect());
        let mut stays = pairs;
        removed.iter().for_each(|pair| stays.remove(pair));
        let predecessors = &self.automaton.predecessors;
        backwards(self.net, self.graph, removed.iter(), |Pair { state, cover }, open| {
            for &cover in &predecessors[cover as usize] {
                let pair = Pair { state, cover };
                n_successors[index(pair)] -= 1;
                if n_successors[index(pair)] == 0 && stays.contains(pair) {
                    stays.remove(pair);
                    open.push(pair);
                }
            }
        })?;
        Ok(stays)
    }

    /// Calls `found` for each predecessor of each pair of a set, at the worker that keeps the predecessor.
    fn each_source(&mut self, pairs: &Pairs, mut found: impl FnMut(Pair)) -> Result<(), Stop> {
        for (states, before) in pairs.0.iter().zip(&self.automaton.predecessors) {
            each_source(self.net, self.graph, states, |state| {
                before.iter().for_each(|&cover| found(Pair { state: state as u32, cover }));
            })?;
        }
        Ok(())
    }
}
