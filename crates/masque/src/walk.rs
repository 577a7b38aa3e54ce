//! Steps through a model.

use std::fmt;

use masque_driver::{Limits, Model as AnyModel, Simulation, StepPath};
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
    route: Route,
}

enum Route {
    /// Joint actions of an interpreted system.
    Joint(Box<Simulation>),
    /// Labelled steps of a model in another language.
    Steps(StepPath),
}

impl Model {
    /// Begins a walk. In an interpreted system the first choice is an initial state; in other models only if
    /// there are several.
    ///
    /// # Errors
    ///
    /// If there is no initial state, or if the worlds of a BDI file cannot be built.
    pub fn walk(&self) -> Result<Walk, WalkError> {
        let model = self.loaded.model.as_ref().ok_or(WalkError::NoWalk)?;
        if let AnyModel::Ispl(system) = model {
            let simulation = Simulation::new(system, &self.loaded.engine_options, &Limits::default());
            let simulation = simulation.map_err(|_| WalkError::NoInitialState)?;
            if simulation.initial.is_empty() {
                return Err(WalkError::NoInitialState);
            }
            return Ok(Walk { route: Route::Joint(Box::new(simulation)) });
        }
        let explorer = self.loaded.explorer(MAX_LISTED_STATES, &Limits::default());
        let explorer = explorer.ok().flatten().ok_or(WalkError::NoWalk)?;
        let path = StepPath::new(explorer).ok_or(WalkError::NoInitialState)?;
        Ok(Walk { route: Route::Steps(path) })
    }
}

impl Walk {
    /// The choices here, in order: initial states at first, then steps.
    pub fn choices(&mut self) -> Vec<String> {
        match &mut self.route {
            Route::Joint(simulation) => match simulation.choices() {
                None => {
                    let system = &simulation.system;
                    simulation.initial.iter().map(|state| values_text(state_values(system, state))).collect()
                }
                Some(choices) => {
                    let one = choices.listed.iter().flat_map(|(joint, successors)| {
                        successors.iter().take(MAX_SUCCESSORS).map(move |_| joint)
                    });
                    one.map(|joint| joint_text(&simulation.system, joint)).collect()
                }
            },
            Route::Steps(path) => path.steps(values_text).steps.into_iter().map(|step| step.label).collect(),
        }
    }

    /// Takes the choice at a position, counted from 0.
    ///
    /// # Errors
    ///
    /// If there is no such choice.
    pub fn choose(&mut self, position: usize) -> Result<(), WalkError> {
        match &mut self.route {
            Route::Joint(simulation) => match simulation.choices() {
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
            Route::Steps(path) => {
                let step = path.steps(values_text).steps.into_iter().nth(position);
                path.take(step.ok_or(WalkError::NoChoice(position))?);
                Ok(())
            }
        }
    }

    /// Goes back one step. Returns false at the beginning of the walk.
    pub fn back(&mut self) -> bool {
        match &mut self.route {
            Route::Joint(simulation) => simulation.state().is_some() && simulation.back(1),
            Route::Steps(path) => path.back(1),
        }
    }

    /// The values of the current state, by name; none before an initial state is chosen.
    pub fn state(&self) -> Vec<(String, String)> {
        match &self.route {
            Route::Joint(simulation) => {
                let state = simulation.state().into_iter();
                state.flat_map(|state| state_values(&simulation.system, state)).collect()
            }
            Route::Steps(path) => path.state().map(|state| path.values(state)).unwrap_or_default(),
        }
    }
}

fn values_text(values: Vec<(String, String)>) -> String {
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

/// Why a walk cannot begin, or cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The model has no initial state.
    NoInitialState,
    /// The states of the model could not be computed.
    NoWalk,
    /// There is no choice at this position.
    NoChoice(usize),
}

impl fmt::Display for WalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalkError::NoInitialState => f.write_str("the model has no initial state"),
            WalkError::NoWalk => f.write_str("the states of the model could not be computed"),
            WalkError::NoChoice(position) => write!(f, "there is no choice at position {position}"),
        }
    }
}

impl std::error::Error for WalkError {}
