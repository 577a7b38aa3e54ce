//! The interface for front ends: load files, check the model, read the results, and walk through a model
//! step by step.
//!
//! Files become a [`Loaded`] even if they have errors; its diagnostics describe the errors. If there is a
//! [`Model`], [`check()`] decides its properties on a helper thread and returns within the limits, with the
//! verdicts known by then. These steps are the same for all languages; `languages` has the parts that differ.
//!
//! ```
//! use masque_driver::{Limits, Request, check, load_text};
//!
//! let text = "agent a is loop p := any endloop property possible initially: EF p;";
//! let loaded = load_text("coin.bdi", text, &Request::default());
//! let run = check(&loaded, &Limits::default(), &mut |_| {}).unwrap().unwrap();
//! assert_eq!(run.decisions[0].verdict.word(), "holds");
//! ```
//!
//! | file | does |
//! |---|---|
//! | `language` | the languages, and how a file's language is recognised |
//! | `request` | the request of a user, in the user's words |
//! | `log_conditions` | conditions of an ISPL model that the records of a log refer to |
//! | `option_table` | the languages of each option |
//! | `runs` | grouping of the files of a command line into runs |
//! | `load`, `file`, `imports` | files become a checked model |
//! | `reading`, `model_bytes` | limits on reading; the memory of a model |
//! | `languages` | reading and checking, as far as they differ between languages |
//! | `expectations`, `test_files`, `test_run`, `test_pool` | expected results in comments; the models of a folder; their tests |
//! | `property`, `property_places`, `select` | properties as reports show them, and where they are written; properties and agents by name |
//! | `define`, `order`, `variables`, `parallel` | texts of options: `-D`, `--order`, `--split` |
//! | `check` | checks and their results, in any language |
//! | `small` | whether a model is small enough to be checked in any process |
//! | `helper_thread` | work on a helper thread, with a deadline |
//! | `supervise`, `decide`, `compare`, `findings` | checks of interpreted systems: facts, verdicts, vacuity |
//! | `engines`, `portfolio` | the engines, and the choice among them |
//! | `race`, `cluster` | checks by several processes |
//! | `protocol_files`, `teams` | the files of a protocol for `agent`, `state` and `teams`; the search for teams |
//! | `ask`, `simulate`, `graph`, `explorer`, `world_explorer`, `random` | questions about single states, walks, reachable graphs, random steps |
//! | `warm` | a model that stays loaded and answers many questions about single states |
//! | `trace` | runs in files of other programs, and their replay |
//! | `editor` | loading and formatting of texts that an editor holds |
//! | `definition` | verdicts by the definition, for tests of other programs |
//! | `format`, `explain` | the standard layout of files; the page of a diagnostic's code |
#![forbid(unsafe_code)]

mod ask;
mod check;
pub mod cluster;
mod compare;
mod decide;
mod define;
mod definition;
mod editor;
mod engines;
mod expectations;
mod explain;
mod explorer;
mod file;
mod findings;
mod format;
mod graph;
mod helper_thread;
mod imports;
mod language;
mod languages;
mod load;
mod log_conditions;
mod many_diagnostics;
mod model_bytes;
mod option_table;
mod order;
mod parallel;
mod portfolio;
mod property;
mod property_places;
mod protocol_files;
mod race;
mod random;
mod reading;
mod request;
mod runs;
mod select;
mod sent_model;
mod simulate;
mod small;
mod stopped;
mod supervise;
mod teams;
mod test_files;
mod test_pool;
mod test_run;
pub mod trace;
mod variables;
pub mod warm;
mod watched_files;
mod world_explorer;

pub use ask::{Truth, alike, truth_at};
pub use check::{
    Certified, Decision, Details, Limits, Progress, Run, Shown, SystemDetails, check, check_showing,
};
pub use compare::{CrossCheck, Disagreement};
pub use decide::{Cost, MAX_REPORTED_SUBFORMULAS};
pub use define::{MAX_SWEEP_ROWS, Refused, Sweep, SweepRow, sweep};
pub use definition::ByDefinition;
pub use editor::{format_text, load_from_library};
pub use engines::{AnyEngine, EngineChoice, EngineOptions, Order, Parallel, Reorder, SplitStrategy, engines};
pub use expectations::{
    Expectation, Expectations, ExpectedCode, ExpectedCount, ExpectedVerdict, Quantity, expectations,
};
pub use explain::{codes, explain, similar_code};
pub use explorer::{
    Explorer, RemovedGraph, RemovedNode, StateGraph, StateVerdict, Step, StepPath, Steps, state_graph,
};
pub use file::MAX_BYTES;
pub use findings::Finding;
pub use format::{Formatted, format_file, replace_file};
pub use graph::{Cut, Graph, MAX_GRAPH_EDGES, PartialGraph, View, diagram, graph};
pub use imports::{Disk, Roots};
pub use language::{Language, is_properties};
pub use languages::aut::{Instance as Transitions, LabelledPath};
pub use languages::bdi::Worlds;
pub use languages::lcc::{Instance as Protocol, ProtocolDetails};
pub use load::{Loaded, Model, load, load_text, load_texts, load_within, not_loaded};
pub use log_conditions::LogConditions;
pub use masque_bdi as bdi;
pub use masque_lcc as lcc;
pub use masque_lcc::{
    Counts, End, Event, EventAction, Question, Row as ChartRow, Team, TeamSelection, Teams, Trace, chart,
};
pub use masque_memory::{own_process, peak_resident_bytes};
pub use masque_model::steps::{Neighbourhood, Successors};
pub use masque_model::{
    ActionId, AgentId, At, Count, Deadlock, Expr, ExprId, Formula, FormulaId, Overflow, Parts, Property,
    Strategies, System, VarId,
};
pub use masque_symbolic::{Diagram, DiagramBit, DiagramNode, ONE};
pub use masque_text::{Diagnostic, Severity, Sources};
pub use masque_verdict::{
    Because, Chain, DecidedBy, DiagramPhase, DiagramProgress, Evidence, EvidencePath, Extent, Found,
    GroupStrategy, Initially, JointAction, Link, NotShownReason, Outcome, Path, PathReason, Possibility,
    Reached, Reason, ReasonId, Response, Responses, Row, Show, State, StateId, Subformula, UnfoldedClaim,
    Unfolding, Verdict, Why, subformulas,
};
pub use option_table::wrong_language;
pub use order::OrderChoice;
pub use parallel::ParallelChoice;
pub use property::PropertyText;
pub use protocol_files::{RefusedFiles, protocol_setup};
pub use race::run_contender;
pub use random::RandomChoices;
pub use reading::{Unread, read_text_within};
pub use request::{Request, Work};
pub use runs::{RunFiles, runs};
pub use select::{Unmatched, agent as find_agent, unmatched_everywhere};
pub use simulate::{Choices, MAX_LISTED_CHOICES, MAX_LISTED_SUCCESSORS, Simulation};
pub use supervise::check as check_system;
pub use teams::{CandidateFiles, TeamSearch, find_teams};
pub use test_files::{LeftOut, TestFiles, test_files};
pub use test_pool::{TestPool, TestProgress};
pub use test_run::{
    Agreement, Comparison, TestRequest, TestStatus, TestSubject, Tested, read_expect_file, test_loaded,
    test_model,
};
