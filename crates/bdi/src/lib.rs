//! BDI_CTL: agents with beliefs, desires and intentions. \[BB04\]
//!
//! Each agent has a small program, which makes a finite world. An attitude such as `B(j, p)` is a
//! variable of the program; its meaning is a picture of `j`, a world one level below. States whose
//! attitudes contradict the pictures are removed; then formulas of CTL with `B`, `D` and `I` are
//! checked. `docs/bdi.md` tells the language and how it reads the paper.
//!
//! ```text
//! text ─ parse ─▶ Tree ─ check ─▶ Model, Plan ─ run ─▶ worlds, verdicts, explanations
//! ```
//!
//! | file | does |
//! |---|---|
//! | `lexer`, `parser`, `tree`, `print`, `format` | the text |
//! | `check`, `model`, `model_text`, `options` | names, types, static rules |
//! | `plan` | which worlds there are and in which order they are built |
//! | `reference` | the meaning, transcribed: explicit, slow, trusted |
//! | `symbolic` | the same on decision diagrams, and explanations |
//! | `replay` | explanations confirmed, before anyone sees them |
//! | `outcome`, `explanation`, `messages`, `run` | what is found, in terms of the model |
#![forbid(unsafe_code)]

mod check;
pub mod explanation;
mod format;
mod lexer;
mod messages;
pub mod model;
mod model_text;
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

pub use check::{Checked, DEEPEST_NESTING, Override, check};
pub use format::format;
#[doc(hidden)]
pub use messages::findings;
pub use parser::{NESTING_LIMIT, parse, parse_property};
#[doc(hidden)]
pub use print::formula_text;
pub use run::{Run, run};
