//! Builds the evidence for a verdict.
//!
//! Evidence consists of reasons for claims ([`masque_verdict::Evidence`]). This crate builds it for all
//! engines: [`explain`] walks the formula, claim by claim, and asks the engine five kinds of questions
//! through the [`Oracle`] trait. Infinite paths for path formulas, strategies, responses of the opponents
//! and unfolded fixpoints are searched for near the state, with the steps that the definition gives
//! ([`Neighbourhood`](masque_model::steps::Neighbourhood)), within limits on the number of states. So all
//! engines give the same evidence.
//!
//! What a claim means is defined in [`masque_verdict::claims`]. The crate `masque-replay` confirms
//! evidence; it shares these definitions with this crate, but no other code.
//!
//! | module | does |
//! |---|---|
//! | `explain` | walks the formula and gives each claim a reason |
//! | `beyond_ctl` | turns the results of the searches below into reasons |
//! | `found_path` | evidence from a path that an engine found while exploring |
//! | `start` | chooses the state at which the property is evaluated |
//! | `rank` | determines how much of a claim can be shown, by its form |
//! | `lasso` | finds infinite paths for `EG` and similar operators |
//! | `product` | finds infinite paths on which a path formula is true |
//! | `game` | explores the game of a group against the other agents near a state |
//! | `rounds`, `strategies` | solves such a game, and finds a strategy for a group that wins |
//! | `responses` | finds the responses of the others to a group that does not win |
//! | `fixpoints` | chooses the claims that decide a fixpoint, by a parity game |
//!
//! [`Oracle`]: masque_verdict::Oracle
#![forbid(unsafe_code)]

mod beyond_ctl;
mod explain;
mod fixpoints;
mod found_path;
mod game;
mod lasso;
mod product;
mod rank;
mod responses;
mod rounds;
mod start;
mod strategies;

pub use explain::{MAX_REASONS, explain, explain_at};
pub use found_path::explain_found;
