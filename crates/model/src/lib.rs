//! Interpreted systems, formulas and properties, and their semantics.
//!
//! A [`System`] is a checked model: names are dense ids, domains are finite, and the variables that each
//! agent sees are explicit. Engines read it; nothing in it refers to a source language. Spans are kept
//! for reports only.
//!
//! | module | defines |
//! |---|---|
//! | `system` | agents, variables, protocols, evolution, properties: the [`System`] |
//! | `expr`, `formula`, `fixpoint` | expressions and formulas, each stored once (`pool`) |
//! | `count` | exact numbers of states |
//! | `green` | whether an agent has a green local state |
//! | `print` | formulas and expressions as text |
//! | `strict` | formulas that are false where a property holds vacuously |
//! | [`semantics`] | the truth definition, transcribed from the papers: slow |
//! | [`steps`] | single steps by the definition: checks them, and lists joint actions and successors |
#![forbid(unsafe_code)]

mod count;
mod expr;
mod fixpoint;
mod formula;
mod green;
mod pool;
mod print;
pub mod semantics;
mod size;
pub mod steps;
mod strict;
mod system;
mod wording;

pub use count::{Count, NotDecimal};
pub use expr::{Expr, ExprId, ExprWith, Exprs, Relation};
pub use fixpoint::Fixpoints;
pub use formula::{FixpointId, Formula, FormulaId, FormulaWith, Formulas, Paths, Strategies};
pub use size::ModelSize;
pub use strict::{Reading, Readings, Suspect, Vacuity};
pub use system::{
    Action, ActionId, Agent, AgentId, Assignment, Assignments, At, Deadlock, Domain, Group, GroupId, Line,
    Meaning, Overflow, Property, Proposition, PropositionId, Protocol, ProtocolLine, SymbolId, System, VarId,
    Variable,
};
pub use wording::{Parts, SentenceId, Splitter, Wording};
