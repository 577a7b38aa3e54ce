//! Stored states: a set of possible states is a list of indices.

use std::num::NonZeroUsize;
use std::rc::Rc;

use masque_explicit::LabelledStates;
use masque_explicit::parts::Bitset;
use masque_model::steps::SelectedSteps;
use masque_model::{ActionId, AgentId, ExprId, FormulaId, System, VarId, semantics};
use masque_verdict::{Budget, State, Stop};
use rustc_hash::FxHashMap;

use super::sets::StateSets;

/// Maximum number of states in the lists of known successors. All lists are dropped when there are as many.
const MAX_KNOWN_SUCCESSORS: usize = 1 << 20;

/// Number of states in an image, with repetitions, from which on repetitions are removed before more are added.
const MIN_STATES_TO_MERGE: usize = 1 << 16;

/// Maximum number of different selections of steps for which successors are kept.
const MAX_KNOWN_SELECTIONS: usize = 4096;

/// Number of states between two checks of the budget.
const STATES_PER_CHECK: usize = 4096;

/// The stored states of a system.
pub(super) struct Stored<'s> {
    system: &'s System,
    states: LabelledStates<'s>,
    domain: Rc<Bitset>,
    /// Numbers of the selections of steps for which successors are known.
    selections: FxHashMap<SelectedSteps, u32>,
    /// Successors in `D`, by selection and state. Many logs pass through the same states.
    known: FxHashMap<(u32, u32), Box<[u32]>>,
    /// Number of states in the lists of known successors.
    n_known: usize,
}

impl<'s> Stored<'s> {
    /// Explores a system with at most this number of states.
    pub(super) fn explore(
        system: &'s System,
        max_states: u64,
        jobs: Option<NonZeroUsize>,
        budget: &Budget,
    ) -> Result<Stored<'s>, Stop> {
        let mut states = LabelledStates::explore(system, max_states, jobs, budget)?;
        let domain = states.domain(budget)?;
        let (selections, known) = (FxHashMap::default(), FxHashMap::default());
        Ok(Stored { system, states, domain, selections, known, n_known: 0 })
    }

    /// Returns the number of a selection, for which successors may be known.
    fn selection(&mut self, selected: &SelectedSteps) -> u32 {
        if let Some(&number) = self.selections.get(selected) {
            return number;
        }
        if self.selections.len() == MAX_KNOWN_SELECTIONS {
            self.forget();
        }
        let number = self.selections.len() as u32;
        self.selections.insert(selected.clone(), number);
        number
    }

    /// Drops all known successors.
    fn forget(&mut self) {
        self.selections.clear();
        self.known.clear();
        self.n_known = 0;
    }
}

impl StateSets for Stored<'_> {
    /// Indices in increasing order.
    type Set = Rc<[u32]>;
    type Truth = Rc<Bitset>;

    fn initial(&mut self, budget: &Budget) -> Result<Self::Set, Stop> {
        Ok(self.states.initial(budget)?.iter().map(|state| state as u32).collect())
    }

    fn truth(&mut self, formula: FormulaId, budget: &Budget) -> Result<Self::Truth, Stop> {
        self.states.truth(formula, budget)
    }

    fn where_true(&mut self, condition: ExprId, budget: &Budget) -> Result<Self::Truth, Stop> {
        self.states.where_true(condition, budget).map(Rc::new)
    }

    fn complement(&mut self, truth: &Self::Truth, _: &Budget) -> Result<Self::Truth, Stop> {
        Ok(Rc::new((*self.domain).clone().minus(truth)))
    }

    fn can_reach(
        &mut self,
        through: &Self::Truth,
        targets: &Self::Truth,
        budget: &Budget,
    ) -> Result<Self::Truth, Stop> {
        self.states.can_reach(through, targets, budget).map(Rc::new)
    }

    fn domain(&mut self, _: &Budget) -> Result<Self::Truth, Stop> {
        Ok(Rc::clone(&self.domain))
    }

    fn dead_ends(&mut self, budget: &Budget) -> Result<Self::Truth, Stop> {
        self.states.dead_ends(budget).map(Rc::new)
    }

    fn both(&mut self, a: &Self::Truth, b: &Self::Truth, _: &Budget) -> Result<Self::Truth, Stop> {
        Ok(Rc::new((**a).clone().and(b)))
    }

    fn image(
        &mut self,
        set: &Self::Set,
        selected: &SelectedSteps,
        budget: &Budget,
    ) -> Result<Self::Set, Stop> {
        budget.check()?;
        if self.n_known >= MAX_KNOWN_SUCCESSORS {
            self.forget();
        }
        let selection = self.selection(selected);
        let (mut image, mut merge_at) = (Vec::new(), MIN_STATES_TO_MERGE);
        let is_known = |state: &u32| self.known.contains_key(&(selection, *state));
        let (known, new): (Vec<u32>, Vec<u32>) = set.iter().partition(|state| is_known(state));
        known.iter().for_each(|&state| image.extend_from_slice(&self.known[&(selection, state)]));
        let Stored { states, domain, known, n_known, .. } = self;
        states.each_successors(&new, selected, budget, |state, successors| {
            let inside = successors.iter().copied().filter(|&next| domain.contains(next as usize));
            let successors: Box<[u32]> = inside.collect();
            image.extend_from_slice(&successors);
            if image.len() >= merge_at {
                sort(&mut image);
                merge_at = MIN_STATES_TO_MERGE.max(2 * image.len());
            }
            if *n_known < MAX_KNOWN_SUCCESSORS {
                *n_known += successors.len() + 1;
                known.insert((selection, state), successors);
            }
        })?;
        sort(&mut image);
        Ok(image.into())
    }

    fn leaves_domain(
        &mut self,
        set: &Self::Set,
        selected: &SelectedSteps,
        budget: &Budget,
    ) -> Result<bool, Stop> {
        let mut leaves = false;
        let Stored { states, domain, .. } = self;
        states.each_successors(set, selected, budget, |_, successors| {
            leaves |= successors.iter().any(|&next| !domain.contains(next as usize));
        })?;
        Ok(leaves)
    }

    fn filter(
        &mut self,
        set: &Self::Set,
        truth: &Self::Truth,
        holds: bool,
        _: &Budget,
    ) -> Result<Self::Set, Stop> {
        Ok(set.iter().copied().filter(|&state| truth.contains(state as usize) == holds).collect())
    }

    fn with_value(
        &mut self,
        set: &Self::Set,
        variable: VarId,
        value: i64,
        _: &Budget,
    ) -> Result<Self::Set, Stop> {
        Ok(set.iter().copied().filter(|&state| self.states.value(state, variable) == value).collect())
    }

    fn enabling(
        &mut self,
        set: &Self::Set,
        agent: AgentId,
        action: ActionId,
        budget: &Budget,
    ) -> Result<Self::Set, Stop> {
        let mut enabling = Vec::new();
        for (count, &state) in set.iter().enumerate() {
            if count % STATES_PER_CHECK == 0 {
                budget.check()?;
            }
            let values = self.states.state(state);
            if semantics::enabled_actions(self.system, agent, &values).contains(&action) {
                enabling.push(state);
            }
        }
        Ok(enabling.into())
    }

    fn union(&mut self, a: &Self::Set, b: &Self::Set, _: &Budget) -> Result<Self::Set, Stop> {
        let mut union: Vec<u32> = a.iter().chain(b.iter()).copied().collect();
        sort(&mut union);
        Ok(union.into())
    }

    fn minus(&mut self, a: &Self::Set, b: &Self::Set, _: &Budget) -> Result<Self::Set, Stop> {
        Ok(a.iter().copied().filter(|state| b.binary_search(state).is_err()).collect())
    }

    fn is_empty(&self, set: &Self::Set) -> bool {
        set.is_empty()
    }

    fn count(&self, set: &Self::Set) -> u64 {
        set.len() as u64
    }

    fn least(&mut self, set: &Self::Set, _: &Budget) -> Result<Option<State>, Stop> {
        let least = set.iter().copied().min_by(|&a, &b| self.states.compare(a, b));
        Ok(least.map(|state| self.states.state(state)))
    }

    fn first(&mut self, set: &Self::Set, max: usize, _: &Budget) -> Result<Vec<State>, Stop> {
        let mut states = set.to_vec();
        states.sort_unstable_by(|&a, &b| self.states.compare(a, b));
        Ok(states.into_iter().take(max).map(|state| self.states.state(state)).collect())
    }
}

/// Sorts states and removes repetitions.
fn sort(states: &mut Vec<u32>) {
    states.sort_unstable();
    states.dedup();
}
