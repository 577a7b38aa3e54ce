//! The truth definition, transcribed: the reference that every engine must agree with.
//!
//! It is slow, explicit and trusted. A state is a vector of numbers, a set of states a vector of booleans,
//! and each operator is computed directly by its definition in `docs/ispl.md`, with no step that would
//! need a proof of its own. It is fast enough for systems of a few thousand states: the random ones of
//! the tests, and the small files of the gallery.
//!
//! | file | defines |
//! |---|---|
//! | `ratio`, `value` | the value of an expression in a state |
//! | `step` | protocols, joint actions, evolution, overflow |
//! | `explore` | initial states, reachability, deadlock |
//! | `truth` | the operators of CTL, knowledge and norms, and the verdict |
//! | `paths` | LTL and CTL* |
//! | `strategies` | ATL |
//! | `fixpoints` | the mu-calculus |
//! | `strict` | the strict reading of formulas |
//!
//! ```
//! use masque_model::semantics::Ratio;
//! let half = Ratio::integer(1).divide(Ratio::integer(2));
//! assert!(half.is_some_and(|half| half < Ratio::integer(1) && half.as_integer().is_none()));
//! assert_eq!(half.and_then(|half| half.divide(Ratio::integer(0))), None);
//! ```

mod explore;
mod fixpoints;
mod paths;
mod ratio;
mod step;
mod strategies;
mod strict;
mod truth;
mod value;

#[cfg(test)]
mod tests;

pub use explore::{Structure, explore, initial_states};
pub use ratio::Ratio;
pub use step::{StepOutcome, enabled_actions, joint_actions, step};
pub use strict::strict_truth_set;
pub use truth::{Truth, domain, holds, holds_in, truth_set, truth_sets};
pub use value::{is_green, is_true, value};

pub use crate::steps::State;
