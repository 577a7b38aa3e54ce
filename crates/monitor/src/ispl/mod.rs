//! Monitoring interpreted systems: the states that are possible after a log of records.
//!
//! A record says in part which actions a step had, and which values the state after it has ([`IsplObservation`]). A
//! [`Vocabulary`] resolves the names in records. [`IsplModel::open`] explores a system and computes where its
//! properties are true, once; each [`IsplMonitor`] then follows one log, and all share these sets.
//!
//! ```
//! use masque_monitor::Monitor;
//! use masque_monitor::ispl::{IsplModel, IsplOptions, Vocabulary};
//! use masque_monitor::{EventVerdict, GoalStatus};
//! use masque_verdict::Budget;
//!
//! let system = masque_testkit::system("
//!     Agent Light
//!       Vars: on : boolean; broken : boolean; end Vars
//!       Actions = {wait, switch};
//!       Protocol: Other : {wait, switch}; end Protocol
//!       Evolution:
//!         on = ~on if Action = switch and broken = false;
//!         broken = true if Action = switch;
//!       end Evolution
//!     end Agent
//!     Evaluation lit if Light.on; end Evaluation
//!     InitStates !Light.on and !Light.broken; end InitStates
//!     Formulae EF lit; end Formulae");
//! let budget = Budget::unlimited();
//! let model = IsplModel::open(&system, &IsplOptions::default(), &budget).unwrap();
//! let mut log = model.monitor();
//! let vocabulary = Vocabulary::new(&system, None);
//!
//! let record = vocabulary.observation([("Light.Action", "switch"), ("Light.on", "false")]).unwrap();
//! let judgement = log.observe(&record, &budget).unwrap();
//! assert_eq!(judgement.event, EventVerdict::Possible);
//! assert_eq!(judgement.goals[0].status, GoalStatus::Lost);
//!
//! let mistake = vocabulary.observation([("Light.Action", "swich")]).unwrap_err();
//! assert_eq!(mistake.message, "agent `Light` has no action `swich`");
//! assert_eq!(mistake.help.as_deref(), Some("did you mean `switch`?"));
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | `vocabulary` | resolves the names of agents, actions, variables and propositions in records |
//! | `observation` | a record with all names resolved |
//! | `goal` | which formulas are goals |
//! | `goal_runs` | the runs on which goals were reached |
//! | `sets` | what a monitor needs of an engine |
//! | `stored`, `diagrams` | the two implementations: stored states, and decision diagrams |
//! | `tracker` | the possible states of one log, and what is true in them |
//! | `instead` | what was possible instead of a violating record |
//! | `model` | opens a model, and chooses the implementation |
//! | `monitor` | the monitor of one log |

mod diagrams;
mod goal;
mod goal_runs;
mod instead;
mod model;
mod monitor;
mod observation;
mod sets;
mod stored;
mod tracker;
mod vocabulary;

pub use goal::{Goal, goal_of};
pub use model::{IsplModel, IsplOptions, NotOpened, StateStore};
pub use monitor::IsplMonitor;
pub use observation::IsplObservation;
pub use vocabulary::{BadEntry, Column, Entry, Vocabulary};
