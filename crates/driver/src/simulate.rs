//! A walk through a system, step by step, by the definition.

use std::sync::Arc;

use masque_model::steps::{
    JointAction, More, Moves, Product, State, Successors, first_initial_states, joint_choices,
};
use masque_model::{ActionId, AgentId, Count, System};
use masque_verdict::Path;

use crate::ask::initial_states;
use crate::{EngineOptions, Limits, Why};

/// So many choices are listed.
pub const MOST_CHOICES: usize = 36;
/// Of the states that one joint action leads to so many are listed.
pub const MOST_SUCCESSORS: usize = 12;
/// A random step tries so many joint actions before it takes the first that leads on.
const MOST_ROLLS: usize = 100;

/// A run from an initial state, and what may come next.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The system.
    pub system: Arc<System>,
    /// The initial states to choose from.
    pub initial: Vec<State>,
    /// How many initial states there are, if these may not be all: a number, `more` or `perhaps more`.
    pub n_initial: Option<String>,
    /// The run so far; empty before an initial state is chosen.
    path: Path,
    /// Agents that are to perform this action, as far as they may.
    fixed: Vec<(AgentId, ActionId)>,
}

/// What may be done in a state.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The first joint actions, each with where it leads.
    pub listed: Vec<(JointAction, Successors)>,
    /// The number of joint actions.
    pub count: Count,
    /// Agents that have more than one action to choose from here.
    pub choosing: Vec<AgentId>,
}

impl Simulation {
    /// At the start, where an initial state is to be chosen. An engine is asked for initial states
    /// only if trying values one after another finds none.
    pub fn new(system: &Arc<System>, options: &EngineOptions, limits: &Limits) -> Result<Simulation, Why> {
        let (initial, n_initial) = match first_initial_states(system, MOST_CHOICES) {
            (initial, More::No) => (initial, None),
            (initial, More::Yes) => (initial, Some("more".to_string())),
            (initial, More::Unknown) if !initial.is_empty() => (initial, Some("perhaps more".to_string())),
            _ => {
                let (initial, count) = initial_states(system, MOST_CHOICES, options, limits)?;
                let n_initial = (count != initial.len().into()).then(|| count.to_string());
                (initial, n_initial)
            }
        };
        let path = Path { states: Vec::new(), actions: Vec::new() };
        Ok(Simulation { system: Arc::clone(system), initial, n_initial, path, fixed: Vec::new() })
    }

    /// The run so far.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The current state; none before an initial one is chosen.
    pub fn state(&self) -> Option<&State> {
        self.path.states.last()
    }

    /// Begins in an initial state, by its place in the list from 0.
    pub fn begin(&mut self, position: usize) -> bool {
        let Some(state) = self.initial.get(position).filter(|_| self.path.states.is_empty()) else {
            return false;
        };
        self.path.states.push(state.clone());
        true
    }

    /// What may be done here.
    pub fn choices(&self) -> Option<Choices> {
        let state = self.state()?;
        let all = joint_choices(&self.system, state);
        let has_choice = |agent: &AgentId| all.lists[agent.index()].len() > 1;
        let choosing = self.system.agent_ids().filter(has_choice).collect();
        let product = self.restricted(all);
        let moves = Moves::new(&self.system);
        let listed = product.iter().take(MOST_CHOICES);
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

    /// From now on only joint actions in which these agents do this are listed.
    pub fn fix(&mut self, fixed: Vec<(AgentId, ActionId)>) {
        self.fixed = fixed;
    }

    /// Takes a step.
    pub fn step(&mut self, joint: JointAction, next: State) {
        self.path.actions.push(joint);
        self.path.states.push(next);
        self.fixed.clear();
    }

    /// Goes back so many steps; before the first state an initial one is to be chosen. Says whether
    /// there were so many.
    pub fn back(&mut self, n_steps: usize) -> bool {
        let Some(left) = self.path.states.len().checked_sub(n_steps) else { return false };
        self.path.states.truncate(left);
        self.path.actions.truncate(left.saturating_sub(1));
        self.fixed.clear();
        true
    }

    /// Takes a step at random, or begins; `roll(n)` is a number below n. False where nothing leads
    /// on.
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
        for _ in 0..MOST_ROLLS {
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
        // Nearly all joint actions overflow: the first of the listed ones that does not.
        let found = all.iter().take(MOST_CHOICES).find_map(leads_on);
        found.map(|(joint, next)| self.step(joint, next)).is_some()
    }
}
