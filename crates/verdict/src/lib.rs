//! The engine contract: what an engine is asked, what it may answer, and what its answers mean.
//!
//! An [`Engine`] encodes a checked system once. The [`Encoded`] system then reports its [`Facts`] and
//! decides properties, each with a [`Verdict`] and, where possible, [`Evidence`] for it. An engine does all
//! of its work within a [`Budget`]; when that runs out, the verdict is [`Verdict::Unknown`], never a
//! guess.
//!
//! Evidence refers to the checked system only. This crate defines its data types and what its claims
//! mean. The crate `masque-evidence` builds evidence by asking the engine's [`Oracle`], and
//! `masque-replay` confirms it with no help from the engine.
//!
//! | module | defines |
//! |---|---|
//! | `outcome` | verdicts, and reasons for `Unknown` |
//! | `budget` | limits on time, memory and states; cancellation |
//! | `meter` | number of states found so far, for progress messages |
//! | `engine` | the traits that engines implement |
//! | `early`, `partial_truth` | verdicts given while states are still being explored |
//! | `facts` | state count, deadlock, overflow and fairness of a system |
//! | `path` | finite paths from an initial state |
//! | `evidence` | reasons for claims: the data types |
//! | [`claims`] | what a claim means, by the form of its formula |
//! | `oracle` | the questions that the search for evidence asks an engine |
//! | `fragment` | which formulas belong to which logic |
//! | `branching` | path formulas that CTL can express |
//! | `buchi` | automata for the other path formulas |
//! | `certificate` | which verdict a certificate is wanted for, and why there is none |
//! | `extent` | number of states at which a formula or subformula is true |
//! | `vacuity` | implications whose antecedent is never true |
//! | `remarks` | warnings about properties that hold vacuously |
//! | `shares` | equal shares of the time limit for several properties |
//! | `pending_properties` | labels that undecided properties still need |
//! | `uniform_search` | search for uniform strategies, for engines that list states |
#![forbid(unsafe_code)]

mod branching;
mod buchi;
mod budget;
mod certificate;
pub mod claims;
mod early;
mod engine;
mod evidence;
mod extent;
mod facts;
mod fragment;
mod meter;
mod oracle;
mod outcome;
mod partial_truth;
mod path;
mod pending_properties;
mod remarks;
mod shares;
mod uniform_search;
mod vacuity;

pub use branching::{Branch, Branching};
pub use buchi::{Automaton, Cover};
pub use budget::{Budget, Stop};
pub use certificate::{CertificateRequest, NotCertified};
pub use early::Early;
pub use engine::{Encoded, Engine, Phase, Show, Stats, Unsupported};
pub use evidence::{
    Because, Chain, DecidedBy, Evidence, EvidencePath, GroupStrategy, Link, NotShownReason, PathReason,
    Possibility, Reason, ReasonId, Response, Responses, Row, Stage, StateId, UnfoldedClaim, Unfolding,
};
pub use extent::{Extent, Initially, Subformula, subformulas};
pub use facts::{Facts, FairInitial, OverflowAt, least_overflow};
pub use fragment::{inside_logic, outside_ctl, outside_logic};
pub use masque_model::steps::{JointAction, Moves, State, compare_states, leads_to, least_joint_action};
pub use meter::{DiagramPhase, DiagramProgress, Found, Meter, Reached};
pub use oracle::{Literal, Oracle, PathLength, RegionPart, Route, StepKind};
pub use outcome::{Outcome, Verdict, Why};
pub use partial_truth::{
    Bounds, BoundsCache, DecidingState, ExploredStates, PartialEvaluator, deciding_states,
    is_decided_by_one_path,
};
pub use path::Path;
pub use pending_properties::PendingProperties;
pub use remarks::remarks;
pub use shares::run_in_shares;
pub use uniform_search::{ANY_ACTION, FixedActions, UniformAim, UniformGame, View, find_uniform_strategy};
pub use vacuity::{Vacuous, vacuous_antecedents};
