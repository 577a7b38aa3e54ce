//! Follows a run through a model.
//!
//! A file may leave out variables and actions, so after each state of the run there may be several states in
//! which the model can be. All of them are tracked. The run leaves the model at the first step after which
//! none is left. If it has a loop, there must be a state at the beginning of the loop from which the model
//! can follow the loop forever: with complete states, the last step leads back to the same state.

use std::collections::{BTreeMap, BTreeSet};

use masque_verdict::{Stop, Why};

/// Maximum number of states that are tracked, in all positions of a run together.
const MAX_TRACKED_STATES: usize = 1 << 20;
/// Maximum number of states whose possible steps are listed when a run leaves the model.
pub(super) const MAX_DEPARTING_STATES: usize = 16;
/// Maximum number of alternatives that are listed when a run leaves the model.
pub(super) const MAX_ALTERNATIVES: usize = 3;

/// The result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The model has such a run. Each state has the values of all variables, as the language writes them.
    Confirmed(Vec<Vec<(String, String)>>),
    /// The run leaves the model.
    Refused(Box<Departure>),
    /// A limit was hit before the end.
    Stopped {
        /// The limit.
        why: Why,
        /// Number of states of the run that were followed.
        n_followed: usize,
    },
}

/// Where a run leaves the model, and what was possible there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Index of the step: 0 if the first state is not initial, `k` for the step from state `k - 1` to state `k`,
    /// and the number of states for the step back to the beginning of the loop.
    pub step: usize,
    /// For the step back to the beginning of a loop: index of that state.
    pub back_to: Option<usize>,
    /// Why the step is not possible, if there is a reason besides the values of the next state.
    pub reason: Option<String>,
    /// What was possible: for ISPL the enabled actions of each agent, otherwise labels of steps.
    pub enabled: Vec<String>,
    /// The possible steps whose next states are nearest to that of the run, nearest first.
    pub alternatives: Vec<Alternative>,
}

/// A possible step, or an initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alternative {
    /// Variables whose values differ from the run.
    pub differences: Vec<Difference>,
    /// The actions or the label of the step; empty for an initial state.
    pub action: String,
}

/// A variable whose value differs between the model and the run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Name of the variable.
    pub variable: String,
    /// Value in the model.
    pub possible: String,
    /// Value in the run.
    pub given: String,
}

/// A model on which a run with given states and steps is followed.
pub(super) trait Walk {
    /// A state of the model.
    type State: Clone + Ord;

    /// The initial states that fit state 0 of the run.
    fn start(&mut self) -> Result<Vec<Self::State>, Stop>;

    /// The states that fit state `to` of the run and to which step `step` of the run may lead.
    fn follow(&mut self, from: &Self::State, step: usize, to: usize) -> Result<Vec<Self::State>, Stop>;

    /// What is possible instead of the step to state `to` of the run, from states in which the model may be.
    /// Without such states, what is possible initially.
    fn possible(&mut self, from: &[Self::State], step: usize, to: usize) -> Result<Departure, Stop>;

    /// The values of all variables.
    fn values(&self, state: &Self::State) -> Vec<(String, String)>;
}

/// The states in which the model may be at one position of the run, each with one that leads to it.
type Layer<S> = BTreeMap<S, Option<S>>;

/// Follows a run of `n_states` states.
pub(super) fn track<W: Walk>(walk: &mut W, n_states: usize, back_to: Option<usize>) -> Replayed {
    let mut tracker = Tracker { walk, n_tracked: 0 };
    let mut n_followed = 0;
    tracker
        .run(n_states, back_to, &mut n_followed)
        .unwrap_or_else(|stop| Replayed::Stopped { why: stop.why, n_followed })
}

struct Tracker<'w, W> {
    walk: &'w mut W,
    n_tracked: usize,
}

impl<W: Walk> Tracker<'_, W> {
    fn run(
        &mut self,
        n_states: usize,
        back_to: Option<usize>,
        n_followed: &mut usize,
    ) -> Result<Replayed, Stop> {
        let first: Layer<W::State> = self.walk.start()?.into_iter().map(|state| (state, None)).collect();
        if first.is_empty() {
            return self.refused(&Layer::new(), 0, 0, None);
        }
        let mut layers = vec![first];
        for to in 1..n_states {
            *n_followed = to;
            let next = self.next(&layers[to - 1], to - 1, to)?;
            if next.is_empty() {
                return self.refused(&layers[to - 1], to, to, None);
            }
            layers.push(next);
        }
        *n_followed = n_states;
        let last = &layers[n_states - 1];
        let Some(start) = back_to else {
            let path = last.keys().next().map(|state| path_to(&layers, state.clone()));
            return Ok(self.confirmed(path.unwrap_or_default()));
        };
        match self.lasso(&layers, start)? {
            Some(path) => Ok(self.confirmed(path)),
            None => self.refused(last, n_states, start, Some(start)),
        }
    }

    fn confirmed(&self, path: Vec<W::State>) -> Replayed {
        Replayed::Confirmed(path.iter().map(|state| self.walk.values(state)).collect())
    }

    fn refused(
        &mut self,
        from: &Layer<W::State>,
        step: usize,
        to: usize,
        back_to: Option<usize>,
    ) -> Result<Replayed, Stop> {
        let from: Vec<W::State> = from.keys().take(MAX_DEPARTING_STATES).cloned().collect();
        let mut departure = self.walk.possible(&from, step.saturating_sub(1), to)?;
        departure.alternatives.sort_by_key(|alternative| alternative.differences.len());
        departure.alternatives.dedup();
        departure.alternatives.truncate(MAX_ALTERNATIVES);
        Ok(Replayed::Refused(Box::new(Departure { step, back_to, ..departure })))
    }

    /// The states to which a step of the run leads from the states of a layer.
    fn next(&mut self, from: &Layer<W::State>, step: usize, to: usize) -> Result<Layer<W::State>, Stop> {
        let mut next = Layer::new();
        for state in from.keys() {
            for reached in self.walk.follow(state, step, to)? {
                self.n_tracked += 1;
                if self.n_tracked > MAX_TRACKED_STATES {
                    return Err(Why::States.into());
                }
                next.entry(reached).or_insert_with(|| Some(state.clone()));
            }
        }
        Ok(next)
    }

    /// A path along which the model can follow the loop from state `start` of the run forever.
    ///
    /// The states of the model at the beginning of the loop are the vertices of a graph, in which one iteration
    /// of the loop is an edge. The model can follow the loop forever iff the graph has a cycle.
    fn lasso(&mut self, layers: &[Layer<W::State>], start: usize) -> Result<Option<Vec<W::State>>, Stop> {
        let mut edges: BTreeMap<W::State, BTreeSet<W::State>> = BTreeMap::new();
        let mut open: Vec<W::State> = layers[start].keys().rev().cloned().collect();
        while let Some(head) = open.pop() {
            if edges.contains_key(&head) {
                continue;
            }
            let iteration = self.iteration(layers, start, &head)?;
            let last = &iteration[iteration.len() - 1];
            let again = self.next(last, layers.len() - 1, start)?;
            if layers[start].contains_key(&head)
                && let Some(Some(end)) = again.get(&head)
            {
                // One iteration suffices, so the run itself is a lasso of the model.
                let mut path = path_to(&layers[..=start], head.clone());
                path.extend(path_to(&iteration, end.clone()).into_iter().skip(1));
                return Ok(Some(path));
            }
            open.extend(again.keys().rev().cloned());
            edges.insert(head, again.into_keys().collect());
        }
        let has_cycle = !without_dead_ends(edges).is_empty();
        let last = layers[layers.len() - 1].keys().next();
        Ok(last.filter(|_| has_cycle).map(|state| path_to(layers, state.clone())))
    }

    /// The layers of one iteration of a loop that begins in a state.
    fn iteration(
        &mut self,
        layers: &[Layer<W::State>],
        start: usize,
        head: &W::State,
    ) -> Result<Vec<Layer<W::State>>, Stop> {
        let mut iteration = vec![Layer::from([(head.clone(), None)])];
        for to in start + 1..layers.len() {
            iteration.push(self.next(&iteration[to - start - 1], to - 1, to)?);
        }
        Ok(iteration)
    }
}

/// The part of a graph in which every vertex has a successor.
fn without_dead_ends<S: Ord + Clone>(mut edges: BTreeMap<S, BTreeSet<S>>) -> BTreeMap<S, BTreeSet<S>> {
    loop {
        let dead: Vec<S> =
            edges.iter().filter(|(_, next)| next.is_empty()).map(|(vertex, _)| vertex.clone()).collect();
        if dead.is_empty() {
            return edges;
        }
        for vertex in &dead {
            edges.remove(vertex);
        }
        edges.values_mut().for_each(|next| dead.iter().for_each(|vertex| _ = next.remove(vertex)));
    }
}

/// The path of states that leads to a state of the last layer.
fn path_to<S: Ord + Clone>(layers: &[Layer<S>], last: S) -> Vec<S> {
    let mut path = vec![last];
    for layer in layers.iter().rev() {
        let before = path.last().and_then(|state| layer.get(state)).cloned().flatten();
        path.extend(before);
    }
    path.reverse();
    path
}
