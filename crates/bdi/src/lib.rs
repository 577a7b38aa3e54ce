//! BDI_CTL: agents with beliefs, desires and intentions. \[BB04\]
//!
//! The program of each agent generates a finite world, a Kripke structure. An attitude such as
//! `B(j, p)` is a variable of the program; its meaning is the agent's picture of `j`, a world one
//! level below. Synthesis removes states whose attitudes contradict these pictures; then formulas of
//! CTL with `B`, `D` and `I` are checked. `docs/bdi.md` describes the language and how we read the paper.
//!
//! ```text
//! text ─ parse ─▶ Tree ─ check ─▶ Model, Plan ─ run ─▶ worlds, verdicts, explanations
//! ```
//!
//! | file | does |
//! |---|---|
//! | `lexer`, `parser`, `tree`, `print`, `format` | the source text and its syntax tree |
//! | `check`, `model`, `model_text`, `options` | names, types, static rules |
//! | `plan` | the worlds and the order in which they are built |
//! | `reference` | the semantics, transcribed: explicit and slow, for tests |
//! | `symbolic` | the same on decision diagrams, and explanations |
//! | `replay` | confirms explanations before they are reported |
//! | `names`, `editing` | names, completions and operators for editors, also of broken files |
//! | `outcome`, `explanation`, `messages`, `run` | results in terms of the model |
#![forbid(unsafe_code)]

mod check;
mod editing;
pub mod explanation;
mod format;
mod lexer;
mod messages;
pub mod model;
mod model_text;
mod names;
mod options;
pub mod outcome;
mod parser;
pub mod plan;
mod print;
#[doc(hidden)]
pub mod reference;
pub mod replay;
mod run;
pub mod symbolic;
pub mod tree;

pub use check::{Checked, MAX_NESTING, check, check_within};
pub use editing::{OPERATORS, completions, keywords};
pub use format::format;
pub use lexer::comments;
#[doc(hidden)]
pub use messages::findings;
pub use names::{names, system_names};
pub use parser::{NESTING_LIMIT, System, parse, parse_properties, parse_property, parse_system};
#[doc(hidden)]
pub use print::formula_text;
pub use run::{Run, RunOptions, run, run_with};
