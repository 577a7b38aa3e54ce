//! Steps through a model.

use std::fmt;

use masque_driver::{Explorer, Limits, Model as AnyModel, Simulation, State, Step, System};
use masque_report::{joint_text, state_values};

use crate::Model;

/// A walk through a model, from an initial state.
///
/// ```
/// let text = "des (0, 2, 2)\n(0, press, 1)\n(1, release, 0)\n";
/// let model = masque::Model::from_text("lamp.aut", text)?;
/// let mut walk = model.walk()?;
/// assert_eq!(walk.choices(), ["press"]);
/// walk.choose(0)?;
/// assert_eq!(walk.state(), [("state".to_string(), "1".to_string())]);
/// assert!(walk.back());
/// assert!(walk.choose(7).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Walk {
    kind: Kind,
}

enum Kind {
    Joint(Box<Simulation>),
    /// If there are several initial states, the first step chooses one.
    Steps {
        explorer: Box<dyn Explorer>,
        initial: Vec<usize>,
        taken: Vec<Step>,
    },
}

/// The current state of a walk along labelled steps, unless it is yet to be chosen.
fn current(initial: &[usize], taken: &[Step]) -> Option<usize> {
    match (taken.last(), initial) {
        (Some(step), _) => Some(step.to),
        (None, [only]) => Some(*only),
        (None, _) => None,
    }
}

/// The steps of the current state, or the choice of an initial one.
fn steps(explorer: &mut dyn Explorer, initial: &[usize], taken: &[Step]) -> Vec<Step> {
    if let Some(state) = current(initial, taken) {
        return explorer.steps(state).steps;
    }
    let describe = |&to: &usize| {
        let values = explorer.values(to);
        let label: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        Step { label: label.join(", "), event: None, to }
    };
    initial.iter().map(describe).collect()
}

impl Model {
    /// Begins a walk. In an interpreted system an initial state is chosen first.
    ///
    /// # Errors
    ///
    /// If there is no initial state, or if the worlds of a BDI file cannot be built.
    pub fn walk(&self) -> Result<Walk, WalkError> {
        let model = self.loaded.model.as_ref().ok_or(WalkError::NoWalk)?;
        if let AnyModel::Ispl(system) = model {
            let simulation = Simulation::new(system, &self.loaded.engine_options, &Limits::default());
            let simulation = simulation.map_err(|_| WalkError::NoInitialState)?;
            return match simulation.initial.is_empty() {
                true => Err(WalkError::NoInitialState),
                false => Ok(Walk { kind: Kind::Joint(Box::new(simulation)) }),
            };
        }
        let explorer = self.loaded.explorer(MAX_LISTED_STATES, &Limits::default());
        let mut explorer = explorer.ok().flatten().ok_or(WalkError::NoWalk)?;
        let initial = explorer.initial();
        match initial.is_empty() {
            true => Err(WalkError::NoInitialState),
            false => Ok(Walk { kind: Kind::Steps { explorer, initial, taken: Vec::new() } }),
        }
    }
}

impl Walk {
    /// What can be chosen here, by position: initial states at first, then steps.
    pub fn choices(&mut self) -> Vec<String> {
        match &mut self.kind {
            Kind::Joint(simulation) => match simulation.choices() {
                None => {
                    let system = &simulation.system;
                    simulation.initial.iter().map(|state| initial_text(system, state)).collect()
                }
                Some(choices) => {
                    let one = choices.listed.iter().flat_map(|(joint, successors)| {
                        successors.iter().take(MAX_SUCCESSORS).map(move |_| joint)
                    });
                    one.map(|joint| joint_text(&simulation.system, joint)).collect()
                }
            },
            Kind::Steps { explorer, initial, taken } => {
                steps(&mut **explorer, initial, taken).into_iter().map(|step| step.label).collect()
            }
        }
    }

    /// Takes the choice at a position.
    ///
    /// # Errors
    ///
    /// If there is no such choice.
    pub fn choose(&mut self, position: usize) -> Result<(), WalkError> {
        match &mut self.kind {
            Kind::Joint(simulation) => match simulation.choices() {
                None if simulation.begin(position) => Ok(()),
                None => Err(WalkError::NoChoice(position)),
                Some(choices) => {
                    let mut all = choices.listed.iter().flat_map(|(joint, successors)| {
                        successors.iter().take(MAX_SUCCESSORS).map(move |next| (joint, next))
                    });
                    let (joint, next) = all.nth(position).ok_or(WalkError::NoChoice(position))?;
                    let joint = joint.clone();
                    simulation.step(joint, next);
                    Ok(())
                }
            },
            Kind::Steps { explorer, initial, taken } => {
                let step = steps(&mut **explorer, initial, taken).into_iter().nth(position);
                taken.push(step.ok_or(WalkError::NoChoice(position))?);
                Ok(())
            }
        }
    }

    /// Goes back one step. False at the beginning.
    pub fn back(&mut self) -> bool {
        match &mut self.kind {
            Kind::Joint(simulation) => simulation.state().is_some() && simulation.back(1),
            Kind::Steps { taken, .. } => taken.pop().is_some(),
        }
    }

    /// The values of the current state, by name; none before an initial state is chosen.
    pub fn state(&self) -> Vec<(String, String)> {
        match &self.kind {
            Kind::Joint(simulation) => {
                let state = simulation.state().into_iter();
                state.flat_map(|state| state_values(&simulation.system, state)).collect()
            }
            Kind::Steps { explorer, initial, taken } => {
                let state = current(initial, taken).into_iter();
                state.flat_map(|state| explorer.values(state)).collect()
            }
        }
    }
}

fn initial_text(system: &System, state: &State) -> String {
    let values = state_values(system, state);
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Maximum number of states of BDI worlds that a walk lists before it begins.
const MAX_LISTED_STATES: usize = 20_000;

/// Maximum number of successors listed per joint action.
const MAX_SUCCESSORS: usize = 12;

impl fmt::Debug for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("state", &self.state()).finish()
    }
}

/// Why a walk cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// There is no initial state.
    NoInitialState,
    /// The states could not be found.
    NoWalk,
    /// There is no choice at this position.
    NoChoice(usize),
}

impl fmt::Display for WalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalkError::NoInitialState => f.write_str("there is no initial state"),
            WalkError::NoWalk => f.write_str("the states could not be found"),
            WalkError::NoChoice(position) => write!(f, "there is no choice at position {position}"),
        }
    }
}

impl std::error::Error for WalkError {}
