//! Monitors of LCC protocols.
//!
//! | file | defines |
//! |---|---|
//! | `observation` | observations as patterns on labels |
//! | `goals`, `spec` | which properties are goals; what is monitored |
//! | `history`, `belief` | what is remembered of a run; sets of possible runs |
//! | `engine` | the possible runs after an observation |
//! | `truths`, `summary` | the truth of formulas in states, and what it says about goals and properties |
//! | `violation` | what was possible instead of an impossible observation |
//! | `model` | the model that sessions share, and their monitors |
//! | `interner` | values that are stored once each |

mod belief;
mod engine;
mod goals;
mod history;
mod interner;
mod model;
mod observation;
mod spec;
mod summary;
mod truths;
mod violation;

pub use goals::goals;
pub use model::{LccModel, LccMonitor, ProtocolParts, obligations};
pub use observation::Observation;
pub use spec::Bounds;
