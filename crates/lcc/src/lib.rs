//! LCC protocols under deontic policies, as transition systems that are discovered while they are
//! checked. \[ORW06\]
//!
//! Several files form one *instance*: a protocol (clauses for roles), a team of agents, what the agents know,
//! rules that permit, forbid or oblige actions, and properties. An instance is opened with [`open`] or
//! [`open_with`], and its properties are checked with [`check_all`]. A [`Session`] keeps an instance open
//! while agents interact, and [`teams()`] searches for agents that satisfy properties together.
//!
//! ```text
//! files ─ parse ─▶ tree ─ lower ─▶ Program ─▶ System ─ mu ─▶ verdict, play ─▶ Trace ─▶ Chart
//!          stratify, lint: diagnostics        an Lts           evidence         blame
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | `lexer`, `parser`, `tree`, `format` | parsing and formatting of files |
//! | `import`, `instance`, `lower`, `program`, `options` | several files as one checked instance |
//! | `name_index`, `editing` | names, completions and operators, for editors |
//! | `stratify`, `unrelated_files`, `lint`, `names` | errors, and warnings about probable mistakes |
//! | `symbol`, `term`, `print`, `statement_text` | hash-consed terms, including processes, messages and labels |
//! | `resolve`, `arith` | the resolver for constraints, knowledge and policies |
//! | `step`, `situations` | the steps of one agent, computed once per local situation |
//! | `obligation`, `bound_values` | obligations as properties, and the values of the variables they share |
//! | `handshake`, `mail_order`, `system`, `rows`, `vocabulary`, `state_text` | the transition system of all agents, and the patterns and atoms of formulas |
//! | `event_pattern`, `transplant` | observed events as patterns on labels, and states that move to another system |
//! | `session`, `entry`, `teams` | checking while agents interact, and the search for teams |
//! | `agent_side` | one agent's side of an interaction without a centre, and the obligations that are due |
//! | `explore`, `check` | counting states, and checking properties |
//! | `reduce`, `eager`, `observed`, `symmetry` | reductions: the same verdict from fewer states |
//! | `trace`, `chart`, `blame`, `obstacle`, `stuck_state` | runs as traces and charts, and why agents are stuck |
//! | [`mod@reference`] | the definition, transcribed directly; the tests compare the other modules with it |
#![forbid(unsafe_code)]

mod agent_side;
mod arith;
mod blame;
mod bound_values;
mod chart;
mod check;
mod eager;
mod editing;
mod entry;
mod event_pattern;
mod explore;
mod format;
mod handshake;
mod import;
mod instance;
mod lexer;
mod lint;
mod lower;
mod mail_order;
mod name_index;
mod names;
mod obligation;
mod observed;
mod obstacle;
mod options;
mod parser;
mod print;
mod program;
mod reduce;
pub mod reference;
mod resolve;
mod rows;
mod session;
mod situations;
mod state_text;
mod statement_text;
mod step;
mod stratify;
mod stuck_state;
mod symbol;
mod symmetry;
mod system;
mod teams;
mod term;
mod trace;
mod transplant;
pub mod tree;
mod unrelated_files;
mod vocabulary;
mod watch;

pub use agent_side::{AgentSetup, AgentSide, AgentStatus, Played, RefusedTuple};
pub use chart::{Chart, Row, chart};
pub use check::{Checked, check_all, check_reduced};
pub use editing::{OPERATORS, completions, keywords};
pub use event_pattern::{EventPattern, EventText, UnreadableEvent};
pub use explore::{Counts, explore};
pub use format::format;
pub use instance::{InstanceInput, OpenedInstance, open, open_with};
pub use lexer::comments;
pub use masque_text::{Library, NoFiles, without_dots};
pub use masque_verdict::Budget;
pub use name_index::names;
pub use obligation::FollowedObligation;
pub use options::{BadOption, Comm, Conflict, Guards, Options, Roles};
pub use parser::{NESTING_LIMIT, parse};
pub use print::{constant, decimal};
pub use reduce::{Reduced, Reductions};
pub use session::{
    CannotAdvance, EventDescription, EventKind, EventSelector, Limits, NamedFormula, PossibleEvent,
    PossibleEvents, Question, Refused, RefusedTexts, Reply, Session, Setup, Snapshot, Text, Update,
    UpdateSummary, Work,
};
pub use stuck_state::{Impediment, Standing};
pub use system::System;
pub use teams::{Candidate, Request, Role, Team, TeamFailure, TeamSelection, Teams, teams};
pub use trace::{End, Event, EventAction, Trace};
pub use transplant::Transplant;
pub use unrelated_files::{FileStatus, file_status};
