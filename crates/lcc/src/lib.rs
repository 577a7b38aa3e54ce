//! LCC protocols under deontic policies, as transition systems that are discovered while they are
//! checked. \[ORW06\]
//!
//! ```text
//! files ─ parse ─▶ tree ─ lower ─▶ Program ─▶ System ─ mu ─▶ verdict, play ─▶ Trace ─▶ Chart
//!          stratify, lint: diagnostics        an Lts           evidence         blame
//! ```
//!
//! | file | defines |
//! |---|---|
//! | `lexer`, `parser`, `tree`, `format` | files as text |
//! | `mail` | the order of the messages under way |
//! | `import`, `instance`, `lower`, `program`, `options` | several files as one checked instance |
//! | `stratify`, `related`, `lint`, `names` | what is wrong, or probably not meant |
//! | `symbol`, `term`, `print`, `statement` | hash-consed terms: processes, messages and labels too |
//! | `resolve`, `arith` | the resolver: constraints, knowledge, policies |
//! | `step`, `situations` | what one agent can do, found once |
//! | `obligation` | obligations as properties |
//! | `handshake`, `system`, `store`, `vocabulary`, `show` | the system of all agents, and what formulas say of it |
//! | `session`, `entry`, `teams` | checking while agents interact, and finding agents that can |
//! | `explore`, `check` | counting, checking |
//! | `reduce`, `eager`, `observed`, `symmetry` | the same verdict from fewer states |
//! | `trace`, `chart`, `blame` | runs for people, and why agents are stuck |
//! | `reference` | the definition transcribed: slow, plain, and what the rest is measured against |
#![forbid(unsafe_code)]

mod arith;
mod blame;
mod chart;
mod check;
mod eager;
mod entry;
mod explore;
mod format;
mod handshake;
mod import;
mod instance;
mod lexer;
mod lint;
mod lower;
mod mail;
mod names;
mod obligation;
mod observed;
mod options;
mod parser;
mod print;
mod program;
mod reduce;
pub mod reference;
mod related;
mod resolve;
mod session;
mod show;
mod situations;
mod statement;
mod step;
mod store;
mod stratify;
mod symbol;
mod symmetry;
mod system;
mod teams;
mod term;
mod trace;
pub mod tree;
mod vocabulary;

pub use chart::{Chart, Row, chart};
pub use check::{Checked, check_all, in_reduced};
pub use explore::{Counts, explore};
pub use format::format;
pub use import::{Library, NoFiles, without_dots};
pub use instance::{Given, Opened, Parts, open, open_with};
pub use options::{BadOption, Comm, Conflict, Guards, Options, Roles};
pub use parser::{NESTING_LIMIT, parse};
pub use reduce::{Reduced, Reductions};
pub use related::{Standing, survey};
pub use session::{
    CannotAdvance, Happened, Kind, Like, Limits, Moves, Next, Question, Refused, Reply, Session, Setup,
    Stated, Text, Update, Updated, Work,
};
pub use system::System;
pub use teams::{Candidate, Request, Role, Team, Teams, Want, Weakness, teams};
pub use trace::{Deed, End, Event, Trace};
