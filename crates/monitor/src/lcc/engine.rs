//! The runs that are possible after an observation: all sessions of a model share what is computed here.
//!
//! ```text
//! pairs after the log ── observable steps that match ──▶ pairs ── unobservable steps, repeatedly ──▶ pairs
//! ```
//!
//! A set of pairs (a *belief*) is stored once, and so is the belief to which an observation leads from it. So in
//! most sessions of a protocol an observation costs a look into a table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use masque_lcc::{System, Transplant};
use masque_mu::{LabelId, Lts, Space, StateId};
use masque_verdict::{Budget, Stop};
use rustc_hash::{FxHashMap, FxHashSet};

use super::belief::{Belief, BeliefId, Census, Ended, HistoryId, Pair, Successor, census};
use super::history::{Due, History, Instance, Reached};
use super::interner::Interner;
use super::observation::Observation;
use super::spec::{GoalTarget, Spec};
use super::summary::Summary;
use super::truths::{Answer, Question};

/// Number of runs between two checks of the budget.
const RUNS_PER_CHECK: usize = 64;
/// Maximum number of observations whose result is remembered.
const MAX_REMEMBERED: usize = 1 << 16;

/// The name of the bound on instances per run, and that on runs.
const INSTANCES: &str = "instances";
const RUNS: &str = "runs";

/// Combines two bounds: the first by name, so that the order in which they are found does not matter.
pub(super) fn least_cut(one: Option<&'static str>, other: Option<&'static str>) -> Option<&'static str> {
    one.into_iter().chain(other).min()
}

/// What is computed for all sessions.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) spec: Arc<Spec>,
    pub(super) space: Space<System>,
    /// The system without any states but the initial one.
    pristine: System,
    questions: Vec<Question>,
    pub(super) histories: Interner<History>,
    beliefs: Interner<Belief>,
    initial: Option<BeliefId>,
    /// For each label: 0 if not known, 1 if it is not observable, 2 if it is.
    is_observable: Vec<u8>,
    /// What each label does to each history; `None` beyond the bound on instances.
    steps: FxHashMap<(HistoryId, LabelId), Option<HistoryId>>,
    successors: FxHashMap<(BeliefId, Box<str>), Arc<Successor>>,
    successor_bytes: usize,
    pub(super) summaries: FxHashMap<BeliefId, Arc<Summary>>,
    pub(super) summary_bytes: usize,
}

impl Engine {
    pub(super) fn new(mut system: System, spec: Arc<Spec>, questions: Vec<Question>) -> Engine {
        // The system may be that of a session which has explored it.
        system.forget();
        Engine {
            spec,
            pristine: system.clone(),
            space: Space::new(system),
            questions,
            histories: Interner::default(),
            beliefs: Interner::default(),
            initial: None,
            is_observable: Vec::new(),
            steps: FxHashMap::default(),
            successors: FxHashMap::default(),
            successor_bytes: 0,
            summaries: FxHashMap::default(),
            summary_bytes: 0,
        }
    }

    pub(super) fn belief(&self, id: BeliefId) -> &Belief {
        self.beliefs.get(id)
    }

    /// Whether the formula of a question is true in a state.
    pub(super) fn answer(
        &mut self,
        question: usize,
        state: StateId,
        budget: &Budget,
    ) -> Result<Answer, Stop> {
        self.questions[question].answer(&mut self.space, state, budget)
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let tables = self.histories.bytes() + self.beliefs.bytes() + self.is_observable.capacity();
        let steps = self.steps.capacity() * (size_of::<((HistoryId, LabelId), Option<HistoryId>)>() + 1);
        let results = self.successor_bytes + self.summary_bytes;
        let questions: u64 = self.questions.iter().map(Question::bytes).sum();
        self.space.bytes() + self.space.system().bytes() + questions + (tables + steps + results) as u64
    }

    /// Checks time and memory.
    fn check(&self, budget: &Budget) -> Result<(), Stop> {
        budget.check()?;
        budget.check_memory(self.bytes())
    }

    /// The belief before the first observation.
    pub(super) fn initial(&mut self, budget: &Budget) -> Result<BeliefId, Stop> {
        if let Some(known) = self.initial {
            return Ok(known);
        }
        self.check(budget)?;
        let first = self.pristine.initial();
        let reached = vec![Reached::No; self.spec.goals.len()].into();
        let history = self.history(History { reached, dues: Box::default() });
        let history = self.arrive(history, first, budget)?;
        let (pairs, cut) = self.close(vec![(first, history)], None, budget)?;
        let (belief, _) = self.intern_belief(&BTreeMap::new(), pairs, cut);
        self.initial = Some(belief);
        Ok(belief)
    }

    /// The belief after an observation, or none.
    pub(super) fn after(
        &mut self,
        belief: BeliefId,
        observation: &Observation,
        budget: &Budget,
    ) -> Result<Arc<Successor>, Stop> {
        let key = (belief, observation.key().into());
        if let Some(known) = self.successors.get(&key) {
            return Ok(Arc::clone(known));
        }
        self.check(budget)?;
        let successor = Arc::new(self.find_after(belief, observation, budget)?);
        if self.successors.len() >= MAX_REMEMBERED {
            self.successors.clear();
            self.successor_bytes = 0;
        }
        self.successor_bytes += 2 * size_of::<(BeliefId, Box<str>, Arc<Successor>, Successor)>()
            + key.1.len()
            + successor.ended.len() * size_of::<(Instance, Ended)>();
        self.successors.insert(key, Arc::clone(&successor));
        Ok(successor)
    }

    fn find_after(
        &mut self,
        belief: BeliefId,
        observation: &Observation,
        budget: &Budget,
    ) -> Result<Successor, Stop> {
        let Belief { pairs, cut } = self.beliefs.get(belief).clone();
        let instances = self.matching(&pairs, observation, budget)?;
        let (mut seeds, mut hidden) = (Vec::new(), None);
        let mut seen = FxHashSet::default();
        for &(state, history) in &pairs {
            for index in 0..self.space.transitions(state).len() {
                let (label, to) = self.space.transitions(state)[index];
                for instance in instances.get(&label).into_iter().flatten() {
                    match self.follow(history, *instance, to, budget)? {
                        Some(next) => {
                            if seen.insert((to, next)) {
                                seeds.push((to, next));
                            }
                        }
                        None => hidden = Some(INSTANCES),
                    }
                }
            }
        }
        let cut = least_cut(cut, hidden);
        if seeds.is_empty() && cut.is_none() {
            return Ok(Successor { belief: None, ended: Vec::new() });
        }
        let before = self.census(&pairs);
        let (pairs, cut) = self.close(seeds, cut, budget)?;
        let (belief, ended) = self.intern_belief(&before, pairs, cut);
        Ok(Successor { belief: Some(belief), ended })
    }

    /// Returns the observable labels of the steps from these pairs that match an observation, with their instances.
    fn matching(
        &mut self,
        pairs: &[Pair],
        observation: &Observation,
        budget: &Budget,
    ) -> Result<FxHashMap<LabelId, Vec<LabelId>>, Stop> {
        let labels = self.labels(pairs, true, budget)?;
        let mut instances: FxHashMap<LabelId, Vec<LabelId>> = FxHashMap::default();
        for (index, instance) in self.space.lts().event_instances(observation.pattern(), &labels) {
            instances.entry(labels[index]).or_default().push(instance);
        }
        Ok(instances)
    }

    /// Returns the labels of the steps from these pairs that are observable, or of those that are not, each once.
    pub(super) fn labels(
        &mut self,
        pairs: &[Pair],
        is_observable: bool,
        budget: &Budget,
    ) -> Result<Vec<LabelId>, Stop> {
        let (mut labels, mut seen) = (Vec::new(), FxHashSet::default());
        let mut last = None;
        for &(state, _) in pairs.iter() {
            if last.replace(state) == Some(state) {
                continue;
            }
            self.expand(state, budget)?;
            for index in 0..self.space.transitions(state).len() {
                let (label, _) = self.space.transitions(state)[index];
                if self.is_observable(label) == is_observable && seen.insert(label) {
                    labels.push(label);
                }
            }
        }
        Ok(labels)
    }

    /// Finds the transitions of a state.
    fn expand(&mut self, state: StateId, budget: &Budget) -> Result<(), Stop> {
        if self.space.is_expanded(state) {
            return Ok(());
        }
        self.space.lts().set_budget(budget);
        let expanded = self.space.expand(state);
        self.space.lts().set_budget(&Budget::unlimited());
        expanded
    }

    fn is_observable(&mut self, label: LabelId) -> bool {
        if self.is_observable.len() <= label.index() {
            self.is_observable.resize(label.index() + 1, 0);
        }
        if self.is_observable[label.index()] == 0 {
            let is_in = self.spec.observable.contains(self.space.lts(), label);
            self.is_observable[label.index()] = 1 + u8::from(is_in);
        }
        self.is_observable[label.index()] == 2
    }

    /// Adds the pairs that unobservable steps lead to, nearest first. Beyond the bound on runs, the pairs after more
    /// steps are left out.
    fn close(
        &mut self,
        seeds: Vec<Pair>,
        mut cut: Option<&'static str>,
        budget: &Budget,
    ) -> Result<(Vec<Pair>, Option<&'static str>), Stop> {
        let max_runs = self.spec.bounds.runs;
        let mut seen: FxHashSet<Pair> = seeds.iter().copied().collect();
        let mut pairs = seeds;
        if pairs.len() > max_runs {
            return Ok((Vec::new(), least_cut(cut, Some(RUNS))));
        }
        let (mut done, mut layer_end) = (0, pairs.len());
        while let Some(&(state, history)) = pairs.get(done) {
            if done == layer_end {
                layer_end = pairs.len();
            }
            if done.is_multiple_of(RUNS_PER_CHECK) {
                self.check(budget)?;
            }
            done += 1;
            self.expand(state, budget)?;
            cut = least_cut(cut, self.space.cut(state));
            for index in 0..self.space.transitions(state).len() {
                let (label, to) = self.space.transitions(state)[index];
                if self.is_observable(label) {
                    continue;
                }
                match self.follow(history, label, to, budget)? {
                    None => cut = least_cut(cut, Some(INSTANCES)),
                    Some(next) => {
                        if seen.insert((to, next)) {
                            pairs.push((to, next));
                        }
                    }
                }
            }
            if pairs.len() > max_runs {
                pairs.truncate(layer_end);
                return Ok((pairs, least_cut(cut, Some(RUNS))));
            }
        }
        Ok((pairs, cut))
    }

    /// Continues a run by a step to a state. `None` if it then has too many instances.
    fn follow(
        &mut self,
        history: HistoryId,
        label: LabelId,
        to: StateId,
        budget: &Budget,
    ) -> Result<Option<HistoryId>, Stop> {
        let stepped = match self.steps.get(&(history, label)) {
            Some(known) => *known,
            None => {
                let stepped = self.step(history, label);
                self.steps.insert((history, label), stepped);
                stepped
            }
        };
        stepped.map(|history| self.arrive(history, to, budget)).transpose()
    }

    /// Adds what a step does: goals that it reaches, instances that it ends, then instances that it makes due.
    fn step(&mut self, history: HistoryId, label: LabelId) -> Option<HistoryId> {
        let spec = Arc::clone(&self.spec);
        let mut history = self.histories.get(history).clone();
        let system = self.space.lts();
        for (goal, reached) in spec.goals.iter().zip(&mut history.reached) {
            if let GoalTarget::Step(labels) = &goal.target
                && *reached != Reached::Yes
                && labels.contains(system, label)
            {
                *reached = Reached::Yes;
            }
        }
        let mut dues: BTreeMap<Instance, Due> = history.dues.iter().copied().collect();
        for ((obligation, binding), due) in dues.iter_mut().filter(|(_, due)| **due == Due::Owed) {
            let obligation = &spec.obligations[*obligation as usize];
            if obligation.is_met(system, *binding, label) {
                *due = Due::Met;
            } else if obligation.is_discharged(system, *binding, label) {
                *due = Due::Discharged;
            }
        }
        for (index, obligation) in spec.obligations.iter().enumerate() {
            for binding in obligation.triggered(system, label) {
                dues.insert((index as u32, binding), Due::Owed);
            }
        }
        if dues.len() > spec.bounds.instances {
            return None;
        }
        history.dues = dues.into_iter().collect();
        Some(self.history(history))
    }

    /// Adds the goals that a state reaches.
    fn arrive(&mut self, history: HistoryId, state: StateId, budget: &Budget) -> Result<HistoryId, Stop> {
        let spec = Arc::clone(&self.spec);
        let mut found: Vec<(usize, Reached)> = Vec::new();
        for (index, goal) in spec.goals.iter().enumerate() {
            let GoalTarget::State(question) = goal.target else { continue };
            let before = self.histories.get(history).reached[index];
            if before == Reached::Yes {
                continue;
            }
            let now = match self.answer(question, state, budget)? {
                Answer::True => Reached::Yes,
                Answer::Unknown(_) => Reached::Maybe,
                Answer::False => Reached::No,
            };
            if now > before {
                found.push((index, now));
            }
        }
        if found.is_empty() {
            return Ok(history);
        }
        let mut history = self.histories.get(history).clone();
        found.into_iter().for_each(|(index, reached)| history.reached[index] = reached);
        Ok(self.history(history))
    }

    fn history(&mut self, history: History) -> HistoryId {
        let bytes = history.heap_bytes();
        self.histories.number(history, bytes)
    }

    fn census(&self, pairs: &[Pair]) -> BTreeMap<Instance, Census> {
        census(&self.histories, pairs)
    }

    /// Forgets the instances that no run owes any more, and stores the belief. Returns how these instances ended, which
    /// is not known if a bound hides runs.
    fn intern_belief(
        &mut self,
        before: &BTreeMap<Instance, Census>,
        pairs: Vec<Pair>,
        cut: Option<&'static str>,
    ) -> (BeliefId, Vec<(Instance, Ended)>) {
        let now = self.census(&pairs);
        let mut kept: FxHashMap<HistoryId, HistoryId> = FxHashMap::default();
        let mut normal: Vec<Pair> = Vec::with_capacity(pairs.len());
        for (state, id) in pairs {
            let next = match kept.get(&id) {
                Some(next) => *next,
                None => {
                    let mut history = self.histories.get(id).clone();
                    let is_owed = |(instance, _): &&(Instance, Due)| now[instance].owed > 0;
                    history.dues = history.dues.iter().filter(is_owed).copied().collect();
                    let next = self.history(history);
                    kept.insert(id, next);
                    next
                }
            };
            normal.push((state, next));
        }
        normal.sort_unstable();
        normal.dedup();
        let known = before.keys().chain(now.keys()).collect::<BTreeSet<_>>();
        let mut ended = Vec::new();
        for instance in known.into_iter().filter(|_| cut.is_none()) {
            let census = now.get(instance).copied().unwrap_or_default();
            if census.owed == 0 {
                ended.push((*instance, census.ended()));
            }
        }
        let belief = Belief { pairs: normal.into(), cut };
        let bytes = belief.heap_bytes();
        (self.beliefs.number(belief, bytes), ended)
    }

    /// Whether no step is possible after a belief.
    pub(super) fn is_over(&mut self, belief: BeliefId, budget: &Budget) -> Result<bool, Stop> {
        if self.belief(belief).cut.is_some() {
            return Ok(false);
        }
        for index in 0..self.belief(belief).pairs.len() {
            let (state, _) = self.belief(belief).pairs[index];
            self.expand(state, budget)?;
            if !self.space.transitions(state).is_empty() || self.space.cut(state).is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Discards all states and results except the given beliefs, and renumbers these.
    pub(super) fn rebuild(
        &mut self,
        beliefs: impl Iterator<Item = BeliefId>,
    ) -> FxHashMap<BeliefId, BeliefId> {
        let old_space = std::mem::replace(&mut self.space, Space::new(self.pristine.clone()));
        let old_histories = std::mem::take(&mut self.histories);
        let old_beliefs = std::mem::take(&mut self.beliefs);
        self.questions.iter_mut().for_each(Question::forget);
        (self.initial, self.is_observable, self.steps) = (None, Vec::new(), FxHashMap::default());
        (self.successors, self.successor_bytes) = (FxHashMap::default(), 0);
        (self.summaries, self.summary_bytes) = (FxHashMap::default(), 0);
        let mut transplant = Transplant::new(old_space.system());
        let mut moved: FxHashMap<BeliefId, BeliefId> = FxHashMap::default();
        for id in beliefs {
            if moved.contains_key(&id) {
                continue;
            }
            let Belief { pairs, cut } = old_beliefs.get(id);
            let mut copies: Vec<Pair> = Vec::with_capacity(pairs.len());
            for (state, history) in pairs {
                let state = transplant.state(self.space.lts(), *state);
                let mut history = old_histories.get(*history).clone();
                for ((_, binding), _) in &mut history.dues {
                    *binding = transplant.binding(self.space.lts(), *binding);
                }
                history.dues.sort_unstable();
                copies.push((state, self.history(history)));
            }
            copies.sort_unstable();
            let belief = Belief { pairs: copies.into(), cut: *cut };
            let bytes = belief.heap_bytes();
            moved.insert(id, self.beliefs.number(belief, bytes));
        }
        moved
    }

    pub(super) fn n_beliefs(&self) -> usize {
        self.beliefs.len()
    }
}
