//! Canonical paths: of all that are asked about the shortest, and of these the least.
//!
//! A search backwards from where the path ends, layer by layer, gives each state its distance; then
//! every walk down the distances is a shortest path, and taking the least state at each step gives
//! the least. Paths from the initial states need no such search over all states: the layers of
//! exploration are distances already, and it is enough to mark, layer by layer, where shortest paths
//! to the targets run.

use masque_explicit::parts::{Bitset, Labelling, StoredStates, Successors, is_same};
use masque_model::Deadlock;
use masque_verdict::{Budget, By, Length, Part, Route, Stop};

use crate::explore::Space;
use crate::graph::Place;
use crate::net::{Outbox, STATES_PER_ROUND, STATES_PER_SHORT_STRIDE, Task};
use crate::shard::Shard;
use crate::store::owner;

/// No distance.
const FAR: u32 = u32::MAX;

/// What leads from state to state.
enum Edges {
    Transitions,
    /// What each member of a group sees: states that look alike are confused.
    Confusion(Vec<Vec<u64>>),
}

impl Shard<'_> {
    /// The rows of the canonical path of a route.
    pub(crate) fn path(&mut self, route: &Route, budget: &Budget) -> Result<Option<Vec<Vec<u64>>>, Stop> {
        let to = self.region(&route.to, budget)?;
        if !self.net.any(!to.is_empty())? {
            return Ok(None);
        }
        let is_plain = route.from == [Part::Initial] && route.through.is_empty();
        if is_plain && route.by == By::Steps && route.length == Length::Any {
            return self.path_from_initial(&to);
        }
        let (from, through) = (self.region(&route.from, budget)?, self.region(&route.through, budget)?);
        let edges = match route.by {
            By::Steps => Edges::Transitions,
            By::Confusion(group) => Edges::Confusion(self.masks(group)),
        };
        self.check_bytes(self.n_states() as u64 * 4)?;
        self.shortest(&from, &through, &to, route.length, &edges)
    }

    /// The least of the shortest walks along the edges.
    fn shortest(
        &mut self,
        from: &Bitset,
        through: &Bitset,
        to: &Bitset,
        length: Length,
        edges: &Edges,
    ) -> Result<Option<Vec<Vec<u64>>>, Stop> {
        let mut distances = vec![FAR; self.n_states()];
        to.iter().for_each(|state| distances[state] = 0);
        if length == Length::Any {
            let at_once = to.clone().and(from);
            if let Some(row) = self.least(&at_once)? {
                return Ok(Some(vec![row]));
            }
        }
        let mut layer = to.clone();
        let mut distance = 0;
        let mut hits = Bitset::empty(self.n_states());
        loop {
            let before = self.before(&layer, edges)?.and(through);
            distance += 1;
            hits = hits.or(&before.clone().and(from));
            if self.net.any(!hits.is_empty())? {
                break;
            }
            layer = before.filter(|state| distances[state] == FAR);
            layer.iter().for_each(|state| distances[state] = distance);
            if length == Length::One || !self.net.any(!layer.is_empty())? {
                return Ok(None);
            }
        }
        let mut chosen: Vec<Vec<u64>> = self.least(&hits)?.into_iter().collect();
        for distance in (0..distance).rev() {
            let Some(last) = chosen.last().cloned() else { return Ok(None) };
            let next = match edges {
                Edges::Transitions => self.least_successor(&last, |state, _| distances[state] == distance)?,
                Edges::Confusion(masks) => {
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

    /// The states from which an edge leads into a set.
    fn before(&mut self, states: &Bitset, edges: &Edges) -> Result<Bitset, Stop> {
        match edges {
            Edges::Transitions => {
                let mut before = Bitset::empty(self.n_states());
                self.each_source(states, |source| _ = before.insert(source))?;
                Ok(before)
            }
            Edges::Confusion(masks) => self.confused(masks, states),
        }
    }

    /// The least row of a set, of all workers' parts of it.
    pub(crate) fn least(&mut self, states: &Bitset) -> Result<Option<Vec<u64>>, Stop> {
        let store = &self.space.store;
        let here = states.iter().map(|state| store.row(state)).min().map(<[u64]>::to_vec);
        self.net.least(here)
    }

    /// The rows of the least of the shortest paths from an initial state to a state of `targets`.
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

    /// The states on shortest paths to the targets in layer `last`.
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
            self.net.run(&mut task)?;
        }
        Ok(marked)
    }

    /// The least successor of a row, of those that `admits` takes where they are kept.
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

    /// The rows of the first `most` states of a set, and how many there are in all.
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

/// Marks the states of a layer from which a step leads to a marked one of the next layer; by
/// expanding them, where no transitions are stored.
struct Marking<'a> {
    me: usize,
    peers: usize,
    space: &'a Space,
    successors: Successors<'a>,
    marked: &'a mut Bitset,
    /// The next layer.
    layer: std::ops::Range<usize>,
    /// Where this layer ends.
    end: usize,
    next: usize,
    until: usize,
    /// States of other workers that lead on.
    found: Vec<Place>,
}

impl Task for Marking<'_> {
    fn begin(&mut self) {
        self.until = self.end.min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let width = self.space.store.width();
        // An answer has the length of a question, so that records need no tags: its row is of no use.
        let nothing = vec![0; width];
        for place in self.found.drain(..) {
            out.send_two(place.worker(), &nothing, &[ANSWER | u64::from(place.number())]);
        }
        let end = self.until.min(self.next + STATES_PER_SHORT_STRIDE);
        while self.next < end {
            let number = self.next;
            let mut leads_on = false;
            self.successors.expand(self.space.store.row(number), |row| {
                match owner(row, self.peers) {
                    to if to != self.me => out.send_two(to, row, &[number as u64]),
                    _ => leads_on |= is_marked(self.space, &self.layer, self.marked, row),
                }
                Ok(())
            })?;
            if leads_on {
                self.marked.insert(number);
            }
            self.next += 1;
        }
        Ok(self.next < self.until)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        let width = self.space.store.width();
        for record in words.chunks_exact(width + 1) {
            let (row, number) = (&record[..width], record[width]);
            if number & ANSWER != 0 {
                self.marked.insert(number as u32 as usize);
            } else if is_marked(self.space, &self.layer, self.marked, row) {
                self.found.push(Place::new(from, number as u32));
            }
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.end - self.next + self.found.len()) as u64]
    }
}

/// In the last word of a record: a state of yours leads on.
const ANSWER: u64 = 1 << 32;

fn is_marked(space: &Space, layer: &std::ops::Range<usize>, marked: &Bitset, row: &[u64]) -> bool {
    let number = space.store.find(row).map(|number| number as usize);
    number.is_some_and(|number| layer.contains(&number) && marked.contains(number))
}

/// Sends rows to where they are kept, and keeps the least of those that are admitted.
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
        let Some(number) = self.space.store.find(row) else { return };
        if (self.admits)(number as usize, self.space) && self.least.as_deref().is_none_or(|least| row < least)
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
