//! The states that synthesis removes, listed with their reasons. [BB04 §4, Figure 2]

use masque_model::Count;
use masque_symbolic::space::{Limited, Set};
use masque_verdict::Budget;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Engine;
use super::graph::WorldGraph;
use crate::explanation::RemovalReason;
use crate::model::{ActionId, Model, State};
use crate::outcome::Status;
use crate::plan::WorldId;

/// Reason why a state is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyRemoved {
    /// The state is incoherent, for each of these reasons.
    Incoherent(Vec<RemovalReason>),
    /// Every path from the state reaches an incoherent state.
    NoFuture {
        /// Number of steps within which every path reaches one.
        n_steps: usize,
    },
    /// Every path to the state leads through removed states.
    Unreachable,
    /// The world of the state was removed, for the reason in this status.
    World(Status),
}

/// A state that synthesis removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedState {
    /// World of the state.
    pub world: WorldId,
    /// The state, with the values of defined attitudes.
    pub state: State,
    /// Whether its program can start in it.
    pub is_initial: bool,
    /// Reason for the removal.
    pub why: WhyRemoved,
}

/// States that synthesis removes from the worlds of a graph. Their numbers follow those of the kept states.
#[derive(Clone, Debug, Default)]
pub struct RemovedStates {
    /// The first of them, in the order of the worlds.
    pub states: Vec<RemovedState>,
    /// Steps of the program from or to a listed removed state: numbers of both states, and the action.
    pub steps: Vec<(usize, Option<ActionId>, usize)>,
    /// Worlds that lost states, parents first.
    pub worlds: Vec<LossyWorld>,
}

/// A world from which states were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossyWorld {
    /// The world.
    pub world: WorldId,
    /// Number of removed states.
    pub n_removed: Count,
    /// Number of states that the program reaches, removed or not.
    pub n_built: Count,
}

impl Model {
    /// Returns why a state was removed, a line for each reason.
    pub fn why_removed_text(&self, why: &WhyRemoved) -> Vec<String> {
        let of_reason = |reason: &RemovalReason| {
            let what = self.removal_text(*reason);
            match reason {
                RemovalReason::Lacks(_) => {
                    format!("it lacks {what}, whose argument holds in all accessible states")
                }
                RemovalReason::NothingAccessible(_) => format!("no state is accessible on {what}"),
            }
        };
        match why {
            WhyRemoved::Incoherent(reasons) => reasons.iter().map(of_reason).collect(),
            WhyRemoved::NoFuture { n_steps: 1 } => {
                vec!["every step leads to an incoherent state".to_string()]
            }
            WhyRemoved::NoFuture { n_steps } => {
                vec![format!("every path reaches an incoherent state within {n_steps} steps")]
            }
            WhyRemoved::Unreachable => vec!["every path to it leads through removed states".to_string()],
            WhyRemoved::World(Status::NotTotal) => {
                vec!["its world is removed: a state has no successor".to_string()]
            }
            WhyRemoved::World(_) => vec!["its world is removed: no initial state is left".to_string()],
        }
    }
}

impl Engine<'_> {
    /// Returns the states that were removed from a world and from all worlds below it: their numbers, and at most
    /// `max_listed` of them with their steps from and to the states of a graph of these worlds.
    pub fn removed_states(
        &mut self,
        top: WorldId,
        graph: &WorldGraph,
        max_listed: usize,
        budget: &Budget,
    ) -> Limited<RemovedStates> {
        self.set_budget(budget);
        let mut found = RemovedStates::default();
        let mut listed = ListedStates::default();
        for (number, (world, state)) in graph.states.iter().enumerate() {
            let alone = self.singleton(*world, state)?;
            listed.add(self, number, *world, state.clone(), &alone)?;
        }
        let mut alone = Vec::new();
        for world in self.worlds_below(top) {
            let (built, kept) = (self.world(world).built.clone(), self.world(world).kept.clone());
            let mut left = self.space.minus(&built, &kept)?;
            if left.is_empty() {
                continue;
            }
            let (n_removed, n_built) = (self.count(world, &left)?, self.count(world, &built)?);
            found.worlds.push(LossyWorld { world, n_removed, n_built });
            let mut of_world = Vec::new();
            while !left.is_empty() && found.states.len() + of_world.len() < max_listed {
                budget.check()?;
                let (state, one) = self.least(world, &left)?;
                left = self.space.minus(&left, &one)?;
                let number = graph.states.len() + found.states.len() + of_world.len();
                let defined = self.with_definitions(world, vec![(state, one.clone())])?;
                for state in defined {
                    listed.add(self, number, world, state.clone(), &one)?;
                    of_world.push((state, one.clone()));
                }
            }
            let reasons = self.why_removed(world, &of_world, budget)?;
            for ((state, one), why) in of_world.into_iter().zip(reasons) {
                let is_initial = self.space.is_subset(&one, &self.world(world).initial)?;
                found.states.push(RemovedState { world, state, is_initial, why });
                alone.push(one);
            }
        }
        let n_kept = graph.states.len();
        for (nth, one) in alone.iter().enumerate() {
            budget.check()?;
            let (number, world) = (n_kept + nth, found.states[nth].world);
            let next = self.post(&self.world(world).transitions, one)?;
            for to in listed.numbers(self, world, next)? {
                found.steps.push((number, listed.states[to].action, to));
            }
            let before = self.pre(&self.world(world).transitions, one)?;
            let kept = self.space.and(&before, &self.world(world).kept)?;
            for from in listed.numbers(self, world, kept)? {
                found.steps.push((from, found.states[nth].state.action, number));
            }
        }
        found.steps.sort_unstable();
        Ok(found)
    }

    /// Returns a world and all worlds below it, parents first.
    fn worlds_below(&self, top: WorldId) -> Vec<WorldId> {
        let (mut found, mut seen) = (vec![top], FxHashSet::from_iter([top]));
        let mut next = 0;
        while let Some(world) = found.get(next).copied() {
            let children = self.plan.worlds[world.index()].children.values();
            found.extend(children.copied().filter(|child| seen.insert(*child)));
            next += 1;
        }
        found
    }

    /// Returns why states of a world were removed, in the order of the states.
    fn why_removed(&self, id: WorldId, states: &[(State, Set)], budget: &Budget) -> Limited<Vec<WhyRemoved>> {
        let world = self.world(id);
        let mut reasons = Vec::new();
        for (_, alone) in states {
            let mut of_state = Vec::new();
            for (reason, set) in &world.reasons {
                if self.space.is_subset(alone, set)? {
                    of_state.push(*reason);
                }
            }
            reasons.push(match (of_state.is_empty(), world.status) {
                (false, _) => WhyRemoved::Incoherent(of_state),
                (true, Status::Ok) => WhyRemoved::Unreachable,
                (true, status) => WhyRemoved::World(status),
            });
        }
        // νZ. K ∧ EX Z once more, to see in which round each state is lost.
        let mut open: Vec<usize> = Vec::new();
        for (index, (_, alone)) in states.iter().enumerate() {
            if self.space.intersects(alone, &world.dead)? {
                open.push(index);
            }
        }
        let mut inside = self.space.minus(&world.built, &world.bad)?;
        for n_steps in 1.. {
            if open.is_empty() {
                break;
            }
            budget.check()?;
            inside = self.space.and(&inside, &self.pre(&world.transitions, &inside)?)?;
            let mut still_open = Vec::new();
            for index in open {
                if self.space.intersects(&states[index].1, &inside)? {
                    still_open.push(index);
                } else {
                    reasons[index] = WhyRemoved::NoFuture { n_steps };
                }
            }
            open = still_open;
        }
        Ok(reasons)
    }
}

/// Numbers of listed states.
#[derive(Default)]
struct ListedStates {
    /// The states by number.
    states: Vec<State>,
    /// The listed states of each world.
    sets: FxHashMap<WorldId, Set>,
    /// Numbers of states whose defined attitudes are left blank.
    numbers: FxHashMap<(WorldId, State), usize>,
}

impl ListedStates {
    fn add(
        &mut self,
        engine: &Engine<'_>,
        number: usize,
        world: WorldId,
        state: State,
        alone: &Set,
    ) -> Limited<()> {
        debug_assert_eq!(number, self.states.len());
        let (blank, _) = engine.least(world, alone)?;
        self.numbers.insert((world, blank), number);
        self.states.push(state);
        let listed = self.sets.entry(world).or_insert_with(|| engine.space.none());
        *listed = engine.space.or(listed, alone)?;
        Ok(())
    }

    /// Returns the numbers of the listed states in a set of states of a world.
    fn numbers(&self, engine: &Engine<'_>, world: WorldId, set: Set) -> Limited<Vec<usize>> {
        let Some(listed) = self.sets.get(&world) else { return Ok(Vec::new()) };
        let mut left = engine.space.and(&set, listed)?;
        let mut numbers = Vec::new();
        while !left.is_empty() {
            let (state, alone) = engine.least(world, &left)?;
            left = engine.space.minus(&left, &alone)?;
            numbers.extend(self.numbers.get(&(world, state)));
        }
        Ok(numbers)
    }
}
