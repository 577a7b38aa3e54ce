//! A walk through an interpreted system along joint actions, computed by the reference semantics.

use std::sync::Arc;

use masque_model::steps::{
    JointAction, More, Moves, Product, State, Successors, first_initial_states, joint_choices,
};
use masque_model::{ActionId, AgentId, Count, System};
use masque_verdict::Path;

use crate::ask::initial_states;
use crate::{EngineOptions, Limits, Why};

/// Maximum number of choices listed.
pub const MAX_LISTED_CHOICES: usize = 36;
/// Maximum number of successors listed per joint action.
pub const MAX_LISTED_SUCCESSORS: usize = 12;
/// Number of random joint actions that a random step tries before it takes the first listed one that has a
/// successor.
const MAX_RANDOM_TRIES: usize = 100;

/// A path from an initial state, and the possible next steps.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The system.
    pub system: Arc<System>,
    /// The initial states to choose from.
    pub initial: Vec<State>,
    /// The number of all initial states if `initial` may be incomplete: a number, `more` or `perhaps more`.
    pub n_initial: Option<String>,
    /// The path so far; empty before an initial state is chosen.
    path: Path,
    /// Agents whose action is fixed in the listed joint actions.
    fixed: Vec<(AgentId, ActionId)>,
}

/// The joint actions that are possible in a state.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The first [`MAX_LISTED_CHOICES`] joint actions, each with its successors.
    pub listed: Vec<(JointAction, Successors)>,
    /// The number of all joint actions.
    pub count: Count,
    /// Agents that have more than one action to choose from here.
    pub choosing: Vec<AgentId>,
}

impl Simulation {
    /// A walk whose first choice is an initial state. An engine searches for initial states only if
    /// enumerating values finds none.
    ///
    /// # Errors
    ///
    /// If the engine hits a limit.
    pub fn new(system: &Arc<System>, options: &EngineOptions, limits: &Limits) -> Result<Simulation, Why> {
        let (initial, n_initial) = match first_initial_states(system, MAX_LISTED_CHOICES) {
            (initial, More::No) => (initial, None),
            (initial, More::Yes) => (initial, Some("more".to_string())),
            (initial, More::Unknown) if !initial.is_empty() => (initial, Some("perhaps more".to_string())),
            _ => {
                let (initial, count) = initial_states(system, MAX_LISTED_CHOICES, options, limits)?;
                let n_initial = (count != initial.len().into()).then(|| count.to_string());
                (initial, n_initial)
            }
        };
        let path = Path { states: Vec::new(), actions: Vec::new() };
        Ok(Simulation { system: Arc::clone(system), initial, n_initial, path, fixed: Vec::new() })
    }

    /// The path so far.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The current state; none before an initial one is chosen.
    pub fn state(&self) -> Option<&State> {
        self.path.states.last()
    }

    /// Begins in an initial state, given by its index. Returns false if there is no such state or the walk has
    /// already begun.
    pub fn begin(&mut self, index: usize) -> bool {
        match self.initial.get(index) {
            Some(state) if self.path.states.is_empty() => {
                self.path.states.push(state.clone());
                true
            }
            _ => false,
        }
    }

    /// The joint actions that are possible in the current state; none before an initial state is chosen.
    pub fn choices(&self) -> Option<Choices> {
        let state = self.state()?;
        let all = joint_choices(&self.system, state);
        let has_choice = |agent: &AgentId| all.lists[agent.index()].len() > 1;
        let choosing = self.system.agent_ids().filter(has_choice).collect();
        let product = self.restricted(all);
        let moves = Moves::new(&self.system);
        let listed = product.iter().take(MAX_LISTED_CHOICES);
        Some(Choices {
            listed: listed.map(|joint| (joint.clone(), moves.successors(state, &joint))).collect(),
            count: product.count(),
            choosing,
        })
    }

    fn restricted(&self, mut all: Product<ActionId>) -> Product<ActionId> {
        for &(agent, action) in &self.fixed {
            all.lists[agent.index()].retain(|enabled| *enabled == action);
        }
        all
    }

    /// Restricts the listed joint actions to those in which these agents perform these actions, until the next
    /// step.
    pub fn fix(&mut self, fixed: Vec<(AgentId, ActionId)>) {
        self.fixed = fixed;
    }

    /// Takes a step.
    pub fn step(&mut self, joint: JointAction, next: State) {
        self.path.actions.push(joint);
        self.path.states.push(next);
        self.fixed.clear();
    }

    /// Keeps only the last step of the path, so that a long walk needs no more memory than a short one.
    pub fn forget_past(&mut self) {
        let n_old = self.path.states.len().saturating_sub(2);
        self.path.states.drain(..n_old);
        self.path.actions.drain(..n_old);
    }

    /// Goes back this many steps. Going back from the first state returns to the choice of an initial state.
    /// Returns false, and stays, if the path is shorter.
    pub fn back(&mut self, n_steps: usize) -> bool {
        let Some(left) = self.path.states.len().checked_sub(n_steps) else { return false };
        self.path.states.truncate(left);
        self.path.actions.truncate(left.saturating_sub(1));
        self.fixed.clear();
        true
    }

    /// Takes a random step, or chooses a random initial state. `roll(n)` returns a number below n. Returns
    /// false if no step is possible.
    pub fn random_step(&mut self, roll: &mut dyn FnMut(usize) -> usize) -> bool {
        let Some(state) = self.state().cloned() else {
            let n_initial = self.initial.len();
            return n_initial > 0 && self.begin(roll(n_initial));
        };
        let all = joint_choices(&self.system, &state);
        if all.is_empty() {
            return false;
        }
        let system = Arc::clone(&self.system);
        let moves = Moves::new(&system);
        for _ in 0..MAX_RANDOM_TRIES {
            let joint: JointAction = all.lists.iter().map(|list| list[roll(list.len())]).collect();
            if let Some(next) = moves.successors(&state, &joint).pick(&mut *roll) {
                self.step(joint, next);
                return true;
            }
        }
        let leads_on = |joint: JointAction| {
            let next = moves.successors(&state, &joint).pick(&mut *roll)?;
            Some((joint, next))
        };
        // Nearly all joint actions overflow, so take the first listed one that does not.
        let found = all.iter().take(MAX_LISTED_CHOICES).find_map(leads_on);
        found.map(|(joint, next)| self.step(joint, next)).is_some()
    }
}
