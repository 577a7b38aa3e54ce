//! Options that change what a file means.

use crate::model::Action;

/// Treatment of states without a remaining successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Totality {
    /// Remove these states.
    #[default]
    Trim,
    /// Remove the whole world.
    Strict,
}

/// Treatment of a false explicit attitude whose argument holds in all accessible states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Condition2 {
    /// The state is incoherent and is removed.
    #[default]
    Remove,
    /// Nothing: explicit attitudes are a base from which others are inferred.
    Infer,
}

/// Actions that may be delayed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Delay {
    /// No action.
    #[default]
    None,
    /// All actions.
    All,
    /// Actions with this functor.
    Functor(String),
}

/// Attitudes that an agent has about itself. [BB04 Fig. 1]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SelfAttitudes {
    /// Only the explicit ones, and those that follow from them.
    #[default]
    Explicit,
    /// Also the belief that its variables and attitudes are as they are, and the intention to do what it does.
    Paper,
}

/// Options that change what a file means.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Treatment of states without a remaining successor.
    pub totality: Totality,
    /// Treatment of incoherent states.
    pub condition2: Condition2,
    /// Whether states from which nothing is accessible are removed.
    pub consistency: bool,
    /// Actions that may be delayed.
    pub delay: Delay,
    /// Maximum nesting depth of worlds; `None` for no bound.
    pub nesting: Option<u32>,
    /// Attitudes that an agent has about itself.
    pub self_attitudes: SelfAttitudes,
}

impl Options {
    /// Returns names and values of the options that differ from their defaults.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let mut entries = Vec::new();
        if self.totality == Totality::Strict {
            entries.push(("totality", "strict".to_string()));
        }
        if self.condition2 == Condition2::Infer {
            entries.push(("condition2", "infer".to_string()));
        }
        if self.consistency {
            entries.push(("consistency", "on".to_string()));
        }
        match &self.delay {
            Delay::None => {}
            Delay::All => entries.push(("delay", "all".to_string())),
            Delay::Functor(name) => entries.push(("delay", name.clone())),
        }
        if let Some(bound) = self.nesting {
            entries.push(("nesting", bound.to_string()));
        }
        if self.self_attitudes == SelfAttitudes::Paper {
            entries.push(("self", "paper".to_string()));
        }
        entries
    }

    /// Whether an action may be delayed.
    pub fn may_delay(&self, action: &Action) -> bool {
        match &self.delay {
            Delay::None => false,
            Delay::All => true,
            Delay::Functor(functor) => action.functor == *functor,
        }
    }
}
