//! What a claim means: which paths, states, strategies and operands its formula is about.
//!
//! Evidence consists of claims ([`Evidence`](crate::Evidence)). The code that builds it and the code that
//! replays it share one thing only: the definition of what a claim of each form requires. It is given
//! here, by the form of the formula alone; nothing here searches for anything.
//!
//! | module | the claim is about |
//! |---|---|
//! | `local` | one state: propositions, conditions, green, red, fairness constraints |
//! | `connective` | the operands of a connective |
//! | `temporal` | a path that is a witness or counterexample for a path quantifier of CTL |
//! | `path_formula` | an infinite path on which a path formula is true or false |
//! | `knowledge` | states that agents cannot distinguish, or that norms admit |
//! | `coalition` | what a group of agents enforces |
//! | `fixpoint` | the parts of a fixpoint, and what its variables stand for |
//! | `not_shown` | a claim that evidence of this form cannot show |

mod coalition;
mod connective;
mod fixpoint;
mod knowledge;
mod local;
mod not_shown;
mod path_formula;
mod temporal;

pub use coalition::{CoalitionGoal, GoalKind, GroupChoice, chosen_in, group_choices};
pub use connective::Needs;
pub use fixpoint::{Unfolds, can_unfold, scope_of, unfolded_once};
pub use knowledge::{KnowledgeScope, looks_same};
pub use local::{constraints_at, has_local_fairness, local_formulas, local_truth};
pub use not_shown::why_not_shown;
pub use path_formula::{path_of, state_parts};
pub use temporal::PathGoal;
