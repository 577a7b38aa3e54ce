//! Canonical paths: the least of the shortest paths between two sets of states.
//!
//! A backward search from the end of the path, layer by layer, gives each state its distance; then
//! every walk along decreasing distances is a shortest path, and taking the least state at each step
//! gives the least. Paths from the initial states need no such search over all states: the layers of
//! exploration are distances already, and it is enough to mark, layer by layer, the states on shortest
//! paths to the targets.

use masque_explicit::parts::{Bitset, Labelling, StoredStates, Successors, is_same};
use masque_model::Deadlock;
use masque_verdict::{Budget, PathLength, RegionPart, Route, StepKind, Stop};

use crate::explore::Space;
use crate::graph::StateRef;
use crate::net::{ANSWER_FLAG, Outbox, STATES_PER_ROUND, STATES_PER_SHORT_STRIDE, Task};
use crate::shard::Shard;
use crate::store::owner;

/// Distance of a state that was not reached.
const UNREACHED: u32 = u32::MAX;

/// Relation between consecutive states of a path.
enum PathStep {
    Transition,
    /// Some member of a group cannot distinguish the two states: the visible bits of each member.
    Confusion(Vec<Vec<u64>>),
}

impl Shard<'_> {
    /// Returns the rows of the canonical path of a route.
    pub(crate) fn path(&mut self, route: &Route, budget: &Budget) -> Result<Option<Vec<Vec<u64>>>, Stop> {
        let to = self.region(&route.to, budget)?;
        if !self.net.any(!to.is_empty())? {
            return Ok(None);
        }
        let is_plain = route.from == [RegionPart::Initial] && route.through.is_empty();
        if is_plain && route.by == StepKind::Steps && route.length == PathLength::Any {
            return self.path_from_initial(&to);
        }
        let (from, through) = (self.region(&route.from, budget)?, self.region(&route.through, budget)?);
        let step = match route.by {
            StepKind::Steps => PathStep::Transition,
            StepKind::Confusion(group) => PathStep::Confusion(self.masks(group)),
        };
        self.check_bytes(self.n_states() as u64 * 4)?;
        self.shortest(&from, &through, &to, route.length, &step)
    }

    /// Returns the least of the shortest paths.
    fn shortest(
        &mut self,
        from: &Bitset,
        through: &Bitset,
        to: &Bitset,
        length: PathLength,
        step: &PathStep,
    ) -> Result<Option<Vec<Vec<u64>>>, Stop> {
        let mut distances = vec![UNREACHED; self.n_states()];
        to.iter().for_each(|state| distances[state] = 0);
        if length == PathLength::Any {
            let at_once = to.clone().and(from);
            if let Some(row) = self.least(&at_once)? {
                return Ok(Some(vec![row]));
            }
        }
        let mut layer = to.clone();
        let mut distance = 0;
        let mut hits = Bitset::empty(self.n_states());
        loop {
            let before = self.before(&layer, step)?.and(through);
            distance += 1;
            hits = hits.or(&before.clone().and(from));
            if self.net.any(!hits.is_empty())? {
                break;
            }
            layer = before.filter(|state| distances[state] == UNREACHED);
            layer.iter().for_each(|state| distances[state] = distance);
            if length == PathLength::One || !self.net.any(!layer.is_empty())? {
                return Ok(None);
            }
        }
        let mut chosen: Vec<Vec<u64>> = self.least(&hits)?.into_iter().collect();
        for distance in (0..distance).rev() {
            let Some(last) = chosen.last().cloned() else { return Ok(None) };
            let next = match step {
                PathStep::Transition => {
                    self.least_successor(&last, |state, _| distances[state] == distance)?
                }
                PathStep::Confusion(masks) => {
                    let store = &self.space.store;
                    let alike = |row: &[u64]| masks.iter().any(|mask| is_same(&last, row, mask));
                    let here = (0..store.len()).filter(|&state| distances[state] == distance);
                    let least = here.map(|state| store.row(state)).filter(|row| alike(row)).min();
                    let least = least.map(<[u64]>::to_vec);
                    self.net.least(least)?
                }
            };
            let Some(next) = next else { return Ok(None) };
            chosen.push(next);
        }
        Ok(Some(chosen))
    }

    /// Returns the states from which a step leads into a set.
    fn before(&mut self, states: &Bitset, step: &PathStep) -> Result<Bitset, Stop> {
        match step {
            PathStep::Transition => {
                let mut before = Bitset::empty(self.n_states());
                self.each_source(states, |source| _ = before.insert(source))?;
                Ok(before)
            }
            PathStep::Confusion(masks) => self.confused(masks, states),
        }
    }

    /// Returns the least row of a set over all workers.
    pub(crate) fn least(&mut self, states: &Bitset) -> Result<Option<Vec<u64>>, Stop> {
        let store = &self.space.store;
        let here = states.iter().map(|state| store.row(state)).min().map(<[u64]>::to_vec);
        self.net.least(here)
    }

    /// Returns the rows of the least of the shortest paths from an initial state to a state of `targets`.
    pub(crate) fn path_from_initial(&mut self, targets: &Bitset) -> Result<Option<Vec<Vec<u64>>>, Stop> {
        let here = targets.iter().next().map(|state| self.space.layer_of(state as u32) as u64);
        let nearest = self.net.gather(here.into_iter().collect())?.into_iter().flatten().min();
        let Some(last) = nearest else { return Ok(None) };
        let marked = self.mark_layers(targets, last as usize)?;
        let first = Bitset::first(self.space.n_initial(), self.n_states()).and(&marked);
        let mut chosen: Vec<Vec<u64>> = self.least(&first)?.into_iter().collect();
        for layer in 1..=last as usize {
            let Some(from) = chosen.last().cloned() else { return Ok(None) };
            let is_next =
                |state: usize, space: &Space| marked.contains(state) && space.layer(layer).contains(&state);
            let Some(next) = self.least_successor(&from, is_next)? else { return Ok(None) };
            chosen.push(next);
        }
        Ok(Some(chosen))
    }

    /// Returns the states on shortest paths to the targets in layer `last`.
    fn mark_layers(&mut self, targets: &Bitset, last: usize) -> Result<Bitset, Stop> {
        let mut marked = Bitset::empty(self.n_states());
        let in_last = self.space.layer(last).filter(|&state| targets.contains(state));
        in_last.for_each(|state| _ = marked.insert(state));
        for layer in (0..last).rev() {
            let (here, next) = (self.space.layer(layer), self.space.layer(layer + 1));
            if self.space.graph.is_some() {
                let ahead = Bitset::full(self.n_states())
                    .filter(|state| next.contains(&state) && marked.contains(state));
                self.each_source(&ahead, |source| {
                    if here.contains(&source) {
                        marked.insert(source);
                    }
                })?;
                continue;
            }
            let budget: Budget = self.net.budget.clone();
            let mut task = Marking {
                me: self.net.index(),
                peers: self.net.peers(),
                space: &self.space,
                successors: self.machine.successors(&budget),
                marked: &mut marked,
                layer: next,
                end: here.end,
                next: here.start,
                until: here.start,
                found: Vec::new(),
            };
            self.net.run_until_quiet(&mut task)?;
        }
        Ok(marked)
    }

    /// Returns the least successor of a row that `admits` accepts; it is called at the worker that keeps the
    /// successor.
    fn least_successor(
        &mut self,
        row: &[u64],
        admits: impl Fn(usize, &Space) -> bool,
    ) -> Result<Option<Vec<u64>>, Stop> {
        let budget: Budget = self.net.budget.clone();
        let mut rows = Vec::new();
        if owner(row, self.net.peers()) == self.net.index() {
            let mut successors = self.machine.successors(&budget);
            let expansion = successors.expand(row, |next| {
                rows.push(next.to_vec());
                Ok(())
            })?;
            if expansion.is_dead && self.system.meaning.deadlock == Deadlock::Stutter {
                rows.push(row.to_vec());
            }
        }
        let (me, peers) = (self.net.index(), self.net.peers());
        let mut task = LeastOf { me, peers, space: &self.space, rows, admits, least: None };
        self.net.round(&mut task)?;
        let least = task.least;
        self.net.least(least)
    }

    /// Returns the rows of the first `most` states of a set, and the number of all its states.
    pub(crate) fn first(&mut self, states: &Bitset, most: usize) -> Result<(Vec<Vec<u64>>, u64), Stop> {
        let store = &self.space.store;
        let mut rows: Vec<&[u64]> = states.iter().map(|state| store.row(state)).collect();
        let n_here = rows.len() as u64;
        if most < rows.len() {
            rows.select_nth_unstable(most);
            rows.truncate(most);
        }
        let words = [n_here].into_iter().chain(rows.concat()).collect();
        let width = store.width();
        let gathered = self.net.gather(words)?;
        let n_states = gathered.iter().filter_map(|words| words.first()).sum();
        let mut all: Vec<Vec<u64>> = Vec::new();
        for words in &gathered {
            all.extend(words.get(1..).unwrap_or_default().chunks_exact(width).map(<[u64]>::to_vec));
        }
        all.sort_unstable();
        all.truncate(most);
        Ok((all, n_states))
    }
}

/// Marks the states of a layer with a successor that is a marked state of the next layer, by expanding
/// them. Used when no transitions are stored.
struct Marking<'a> {
    me: usize,
    peers: usize,
    space: &'a Space,
    successors: Successors<'a>,
    marked: &'a mut Bitset,
    /// States of the next layer.
    layer: std::ops::Range<usize>,
    /// End of this layer.
    end: usize,
    next: usize,
    until: usize,
    /// States of other workers with a marked successor here.
    found: Vec<StateRef>,
}

impl Task for Marking<'_> {
    fn begin(&mut self) {
        self.until = self.end.min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let width = self.space.store.width();
        let padding = vec![0; width];
        for state in self.found.drain(..) {
            out.send_two(state.worker(), &padding, &[ANSWER_FLAG | u64::from(state.index())]);
        }
        let end = self.until.min(self.next + STATES_PER_SHORT_STRIDE);
        while self.next < end {
            let state = self.next;
            let mut has_marked_successor = false;
            self.successors.expand(self.space.store.row(state), |row| {
                match owner(row, self.peers) {
                    to if to != self.me => out.send_two(to, row, &[state as u64]),
                    _ => has_marked_successor |= is_marked(self.space, &self.layer, self.marked, row),
                }
                Ok(())
            })?;
            if has_marked_successor {
                self.marked.insert(state);
            }
            self.next += 1;
        }
        Ok(self.next < self.until)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        let width = self.space.store.width();
        for record in words.chunks_exact(width + 1) {
            let (row, state) = (&record[..width], record[width]);
            if state & ANSWER_FLAG != 0 {
                self.marked.insert(state as u32 as usize);
            } else if is_marked(self.space, &self.layer, self.marked, row) {
                self.found.push(StateRef::new(from, state as u32));
            }
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.end - self.next + self.found.len()) as u64]
    }
}

fn is_marked(space: &Space, layer: &std::ops::Range<usize>, marked: &Bitset, row: &[u64]) -> bool {
    let state = space.store.find(row).map(|state| state as usize);
    state.is_some_and(|state| layer.contains(&state) && marked.contains(state))
}

/// Sends rows to the workers that keep them, and finds the least of those that are admitted.
struct LeastOf<'a, F> {
    me: usize,
    peers: usize,
    space: &'a Space,
    rows: Vec<Vec<u64>>,
    admits: F,
    least: Option<Vec<u64>>,
}

impl<F: Fn(usize, &Space) -> bool> LeastOf<'_, F> {
    fn look_at(&mut self, row: &[u64]) {
        let Some(state) = self.space.store.find(row) else { return };
        if (self.admits)(state as usize, self.space) && self.least.as_deref().is_none_or(|least| row < least)
        {
            self.least = Some(row.to_vec());
        }
    }
}

impl<F: Fn(usize, &Space) -> bool> Task for LeastOf<'_, F> {
    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        for row in std::mem::take(&mut self.rows) {
            match owner(&row, self.peers) {
                to if to != self.me => out.send(to, &row),
                _ => self.look_at(&row),
            }
        }
        Ok(false)
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        words.chunks_exact(self.space.store.width()).for_each(|row| self.look_at(row));
        Ok(())
    }
}
