//! The engine contract: what an engine is asked, what it may answer, and how its answers are
//! confirmed.
//!
//! An [`Engine`] encodes a checked system once; the [`Encoded`] system then tells its [`Facts`] and
//! decides properties, each with a [`Verdict`] and, where there is something to show, [`Evidence`].
//! Evidence speaks of the checked system only, and [`replay`] confirms it there with no help from
//! the engine. Whatever an engine does, it does within a [`Budget`]; running out of it is the answer
//! [`Verdict::Unknown`], never a guess.
//!
//! | file | defines |
//! |---|---|
//! | `outcome` | verdicts and why one may be missing |
//! | `budget` | limits, and what is left when one is hit |
//! | `meter` | how far the search for states has come |
//! | `engine` | the traits that engines implement |
//! | `early`, `sight`, `hunted` | verdicts given while states are still being explored |
//! | `facts` | what is known of a system besides verdicts |
//! | `path` | paths |
//! | `evidence` | reasons for claims |
//! | `oracle` | what evidence asks of an engine |
//! | [`claims`] | what a claim means, by the form of its formula |
//! | `rank` | how much of a claim can be shown |
//! | `explain`, `logics`, `start`, `lasso` | from a verdict to its evidence |
//! | `branching` | path formulas that CTL can say |
//! | `buchi`, `runs` | infinite runs that path formulas ask for |
//! | `game`, `rounds`, `strategies` | strategies that coalitions ask for |
//! | `answers` | what the others do where there is none |
//! | `unfold`, `parity` | fixpoints, unfolded as often as is needed |
//! | `truth_on_run`, `replay`, `enforced`, `answered`, `unfolded`, `shape`, `refusal` | evidence confirmed by the definition, or refused |
//! | `extent` | in how many states a formula and its parts are true |
//! | `vacuity` | implications that never apply |
//! | `shares` | equal shares of the time for several properties |
//! | `remarks` | properties that hold for the wrong reason |
//! | `ahead` | which labels are still of use |
#![forbid(unsafe_code)]

mod ahead;
mod answered;
mod answers;
mod branching;
mod buchi;
mod budget;
pub mod claims;
mod components;
mod early;
mod enforced;
mod engine;
mod evidence;
mod explain;
mod extent;
mod facts;
mod fragment;
mod game;
mod hunted;
mod lasso;
mod logics;
mod meter;
mod oracle;
mod outcome;
mod parity;
mod path;
mod rank;
mod refusal;
mod remarks;
mod replay;
mod rounds;
mod runs;
mod shape;
mod shares;
mod sight;
mod start;
mod strategies;
mod truth_on_run;
mod unfold;
mod unfolded;
mod vacuity;

pub use ahead::Ahead;
pub use branching::{Branch, Branching};
pub use buchi::{Automaton, Cover};
pub use budget::{Budget, Stop};
pub use early::Early;
pub use engine::{Encoded, Engine, Phase, Show, Stats, Unsupported};
pub use evidence::{
    Answer, Answers, Because, Chain, Evidence, Link, Missing, Node, Possibility, Reason, ReasonId, Row, Run,
    Showing, Stage, StateId, Strategy, Support, Unfolding,
};
pub use explain::{MOST_REASONS, explain, explain_at};
pub use extent::{Extent, Initially, Subformula, subformulas};
pub use facts::{Facts, FairInitial, OverflowAt, least_overflow};
pub use fragment::{inside_logic, outside_ctl, outside_logic};
pub use hunted::explain_found;
pub use masque_model::steps::{JointAction, Moves, State, compare_states, leads_to, least_joint_action};
pub use meter::{Found, Meter};
pub use oracle::{By, Length, Literal, Oracle, Part, Route};
pub use outcome::{Outcome, Verdict, Why};
pub use path::Path;
pub use refusal::{Fault, ReplayError, Trusted};
pub use remarks::remarks;
pub use replay::{replay, replay_path};
pub use shares::in_shares;
pub use sight::{Bounds, Hunt, Look, Noted, Sight, hunts, is_condition, is_hunt};
pub use vacuity::{Vacuous, vacuous_antecedents};
