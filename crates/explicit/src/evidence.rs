//! The oracle for evidence.
//!
//! A path is found by a breadth-first search backwards from its end, layer by layer, until a
//! layer meets its start; then every walk down the layers is a shortest path, and taking the
//! least state at each step gives the least.

use std::rc::Rc;

use masque_model::{Count, Deadlock, FormulaId, GroupId};
use masque_verdict::{Bounds, Budget, Oracle, PathLength, RegionPart, Route, State, StepKind, Stop, Why};

use crate::bitset::Bitset;
use crate::knowledge::Classes;
use crate::label::Labeller;
use crate::labelling::{Labelling, StoredStates};
use crate::paths::least_shortest;
use crate::successors::Stepper;
use crate::temporal::Clock;

impl Oracle for Labeller<'_> {
    fn is_true(&mut self, formula: FormulaId, state: &State, budget: &Budget) -> Result<bool, Stop> {
        let index = self.state_index(state).ok_or(Stop::from(Why::Unsupported))?;
        if let Some(Bounds { surely, possibly }) = self.partial_bounds(formula, budget)? {
            let (surely, possibly) = (surely.contains(index), possibly.contains(index));
            return if surely == possibly { Ok(surely) } else { Err(Why::Unsupported.into()) };
        }
        let mut one = Bitset::empty(self.space.n_states());
        one.insert(index);
        Ok(self.truth_among(formula, &one, budget)?.contains(index))
    }

    fn is_dead_end(&mut self, state: &State, budget: &Budget) -> Result<bool, Stop> {
        let index = self.state_index(state).ok_or(Stop::from(Why::Unsupported))?;
        let row = self.space.store.row(index);
        Ok(Stepper::new(&self.steps, budget).expand(row, |_| Ok(()))?.is_dead)
    }

    fn least(&mut self, region: &[RegionPart], budget: &Budget) -> Result<Option<State>, Stop> {
        let states = self.region(region, budget)?;
        let least = states.iter().min_by_key(|&state| self.space.store.row(state));
        Ok(least.map(|state| self.state(state as u32)))
    }

    fn first(
        &mut self,
        region: &[RegionPart],
        most: usize,
        budget: &Budget,
    ) -> Result<(Vec<State>, Count), Stop> {
        let states = self.region(region, budget)?;
        let mut indices: Vec<usize> = states.iter().collect();
        let n_states = indices.len();
        let by_row = |a: &usize, b: &usize| self.space.store.row(*a).cmp(self.space.store.row(*b));
        if most < n_states {
            indices.select_nth_unstable_by(most, by_row);
            indices.truncate(most);
        }
        indices.sort_unstable_by(by_row);
        let first = indices.into_iter().map(|state| self.state(state as u32)).collect();
        Ok((first, n_states.into()))
    }

    fn path(&mut self, route: &Route, budget: &Budget) -> Result<Option<Vec<State>>, Stop> {
        let to = self.region(&route.to, budget)?;
        if to.is_empty() {
            return Ok(None);
        }
        // From any initial state through any states: the layers of exploration are the distances.
        let is_plain = route.from == [RegionPart::Initial] && route.through.is_empty();
        let chosen = if is_plain && route.by == StepKind::Steps && route.length == PathLength::Any {
            least_shortest(&self.steps, &self.space, &to, budget)?
        } else {
            let (from, through) = (self.region(&route.from, budget)?, self.region(&route.through, budget)?);
            self.check_memory(self.space.n_states() as u64 * 5, budget)?;
            let step = self.path_step(route.by, budget)?;
            self.shortest(&from, &through, &to, route.length, &step, budget)?
        };
        Ok(chosen.map(|states| states.into_iter().map(|state| self.state(state)).collect()))
    }
}

/// Relation between consecutive states of a path.
enum PathStep {
    Transition,
    /// Some member of a group cannot distinguish the two states: the classes of each member.
    Confusion(Vec<Rc<Classes>>),
}

impl Labeller<'_> {
    /// Returns the index of a state, if it is reachable.
    pub(crate) fn state_index(&self, state: &State) -> Option<usize> {
        let row = self.steps.layout.pack(self.system, state)?;
        self.space.store.find(&row).map(|index| index as usize)
    }

    fn state(&self, index: u32) -> State {
        self.steps.layout.unpack(self.system, self.space.store.row(index as usize))
    }

    /// Computes `νZ. R ∩ post(Z)`: counts the predecessors of each state of `R` in `R`, and removes,
    /// repeatedly, the states that have none left.
    pub(crate) fn recurrent_states(&mut self, inside: Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        self.graph(budget)?;
        self.check_memory(self.space.n_states() as u64 * 5, budget)?;
        let graph = self.space.graph.as_ref().ok_or(Stop::from(Why::Unsupported))?;
        let mut n_before = vec![0_u32; self.space.n_states()];
        let mut clock = Clock::new(budget);
        let mut removed = Vec::new();
        for state in inside.iter() {
            clock.tick()?;
            let before = graph.predecessors(state).iter().filter(|&&s| inside.contains(s as usize));
            n_before[state] = before.count() as u32;
            if n_before[state] == 0 {
                removed.push(state as u32);
            }
        }
        let mut recurrent = inside.clone();
        let mut stepper = Stepper::new(&self.steps, budget);
        while let Some(state) = removed.pop() {
            clock.tick()?;
            recurrent.remove(state as usize);
            for next in self.successors(state, &mut stepper)? {
                if inside.contains(next as usize) {
                    n_before[next as usize] -= 1;
                    if n_before[next as usize] == 0 {
                        removed.push(next);
                    }
                }
            }
        }
        Ok(recurrent)
    }

    /// Returns the successors of a state, each once.
    fn successors(&self, state: u32, stepper: &mut Stepper<'_>) -> Result<Vec<u32>, Stop> {
        let mut found = Vec::new();
        if state as usize >= self.space.n_expanded {
            return Ok(found);
        }
        let expansion = stepper.expand(self.space.store.row(state as usize), |row| {
            found.extend(self.space.store.find(row));
            Ok(())
        })?;
        if expansion.is_dead && self.system.meaning.deadlock == Deadlock::Stutter {
            found.push(state);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn path_step(&mut self, by: StepKind, budget: &Budget) -> Result<PathStep, Stop> {
        match by {
            StepKind::Steps => {
                self.graph(budget)?;
                Ok(PathStep::Transition)
            }
            StepKind::Confusion(group) => Ok(PathStep::Confusion(self.classes(group, budget)?)),
        }
    }

    fn classes(&mut self, group: GroupId, budget: &Budget) -> Result<Vec<Rc<Classes>>, Stop> {
        let agents = &self.system.groups[group.index()].agents;
        let mut classes: Vec<Rc<Classes>> = Vec::new();
        for &agent in agents {
            let held: u64 = classes.iter().map(|classes| classes.bytes()).sum();
            self.check_memory(held, budget)?;
            classes.push(self.view(&[agent], budget)?);
        }
        Ok(classes)
    }

    /// Returns the least of the shortest paths.
    fn shortest(
        &self,
        from: &Bitset,
        through: &Bitset,
        to: &Bitset,
        length: PathLength,
        step: &PathStep,
        budget: &Budget,
    ) -> Result<Option<Vec<u32>>, Stop> {
        let mut layers: Vec<Vec<u32>> = vec![to.iter().map(|state| state as u32).collect()];
        let mut visited = to.clone();
        let mut hits: Vec<u32> = match length {
            PathLength::Some | PathLength::One => Vec::new(),
            PathLength::Any => {
                layers[0].iter().copied().filter(|&state| from.contains(state as usize)).collect()
            }
        };
        let ends_at_once = !hits.is_empty();
        let mut clock = Clock::new(budget);
        while hits.is_empty() {
            let mut layer = Vec::new();
            self.each_before(&layers[layers.len() - 1], step, through, &mut clock, |state| {
                if from.contains(state as usize) {
                    hits.push(state);
                }
                if visited.insert(state as usize) {
                    layer.push(state);
                }
            })?;
            if hits.is_empty() {
                if layer.is_empty() || length == PathLength::One {
                    return Ok(None);
                }
                layer.sort_unstable();
                layers.push(layer);
            }
        }
        let least = |states: &[u32]| {
            let least = states.iter().min_by_key(|&&state| self.space.store.row(state as usize));
            least.copied().ok_or(Stop::from(Why::Unsupported))
        };
        let mut chosen = vec![least(&hits)?];
        if ends_at_once {
            return Ok(Some(chosen));
        }
        let mut stepper = Stepper::new(&self.steps, budget);
        for layer in layers.iter().rev() {
            let state = chosen[chosen.len() - 1];
            let candidates: Vec<u32> = match step {
                PathStep::Transition => {
                    let successors = self.successors(state, &mut stepper)?;
                    successors.into_iter().filter(|next| layer.binary_search(next).is_ok()).collect()
                }
                PathStep::Confusion(classes) => {
                    let same = |a: u32, b: u32| {
                        classes.iter().any(|classes| classes.of(a as usize) == classes.of(b as usize))
                    };
                    layer.iter().copied().filter(|&next| same(state, next)).collect()
                }
            };
            chosen.push(least(&candidates)?);
        }
        Ok(Some(chosen))
    }

    /// Calls `found` for the states of `through` from which a step leads into a layer; a state may be found
    /// twice.
    fn each_before(
        &self,
        layer: &[u32],
        step: &PathStep,
        through: &Bitset,
        clock: &mut Clock<'_>,
        mut found: impl FnMut(u32),
    ) -> Result<(), Stop> {
        match step {
            PathStep::Transition => {
                let graph = self.space.graph.as_ref().ok_or(Stop::from(Why::Unsupported))?;
                for &state in layer {
                    clock.tick()?;
                    let before = graph.predecessors(state as usize).iter();
                    before.copied().filter(|&s| through.contains(s as usize)).for_each(&mut found);
                }
            }
            PathStep::Confusion(classes) => {
                for classes in classes {
                    let mut touched = Bitset::empty(self.space.n_states());
                    layer.iter().for_each(|&s| _ = touched.insert(classes.of(s as usize) as usize));
                    for state in through.iter() {
                        clock.tick()?;
                        if touched.contains(classes.of(state) as usize) {
                            found(state as u32);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
