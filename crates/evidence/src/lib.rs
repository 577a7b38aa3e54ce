//! From a verdict to the evidence that shows it.
//!
//! Evidence is a tree of reasons for claims ([`masque_verdict::Evidence`]). It is built here, once
//! for all engines: [`explain`] walks the formula, claim by claim, and asks the engine five kinds of
//! questions through the [`Oracle`] trait. Infinite runs, strategies, the answers of the opponents
//! and unfolded fixpoints are searched for near the state by the definition
//! ([`Neighbourhood`](masque_model::steps::Neighbourhood)), within limits that count steps. So all
//! engines show the same evidence.
//!
//! What a claim means is defined in [`masque_verdict::claims`]. The crate `masque-replay` confirms
//! evidence; it shares these definitions with this crate, and no code.
//!
//! | module | does |
//! |---|---|
//! | `explain` | walks the formula and gives each claim a reason |
//! | `beyond_ctl` | turns what the searches below find into reasons |
//! | `found_path` | evidence from a path that an engine found while exploring |
//! | `start` | chooses the state at which the property is looked at |
//! | `rank` | says how much of a claim can be shown, by its form |
//! | `lasso` | infinite runs that `EG` and its like ask for |
//! | `runs` | infinite runs on which a path formula is true |
//! | `game` | the game of a group against the others near a state |
//! | `rounds`, `strategies` | who wins such a game, and the strategy shown for a group that wins |
//! | `answers` | the answers of the others, shown for a group that does not win |
//! | `fixpoints` | the claims that decide a fixpoint, chosen by a parity game |
//!
//! [`Oracle`]: masque_verdict::Oracle
#![forbid(unsafe_code)]

mod answers;
mod beyond_ctl;
mod explain;
mod fixpoints;
mod found_path;
mod game;
mod lasso;
mod rank;
mod rounds;
mod runs;
mod start;
mod strategies;

pub use explain::{MOST_REASONS, explain, explain_at};
pub use found_path::explain_found;
