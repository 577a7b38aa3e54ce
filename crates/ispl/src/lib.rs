//! ISPL, the Interpreted Systems Programming Language: from text to a checked model.
//!
//! [`parse_model`] reads a file and its imports into a [`Tree`] ([`parse`] reads the file alone), [`check()`] expands parameters, resolves names, checks types
//! and lowers the tree to a [`System`](masque_model::System), and [`format()`] lays out a file. Parsing
//! and checking return what they could make of the text together with all diagnostics. Nothing here
//! panics on user input, and no engine is used.
//!
//! Three layers of the language are read: files for MCMAS 1.x, the dialect of the papers of 2004 and
//! 2005 ([`Dialect::Papers`]), and additions of Masque, above all parameters and families of agents.
//! The page `docs/ispl.md` describes the language.
//!
//! ```
//! use masque_ispl::{Options, check, parse};
//! use masque_text::Sources;
//!
//! let text = "
//!     param N = 2;
//!     Agent Lamp[i in 1..N]
//!       Vars: on : boolean; end Vars
//!       Actions = {switch, wait};
//!       Protocol: Other : {switch, wait}; end Protocol
//!       Evolution: on = ~on if Action = switch; end Evolution
//!     end Agent
//!     InitStates forall(i in 1..N : !Lamp[i].on); end InitStates
//!     Formulae EF forall(i in 1..N : Lamp[i].on); end Formulae";
//! let mut sources = Sources::default();
//! let file = sources.add("lamps.ispl", text).unwrap();
//! let (mut tree, errors) = parse(&sources, file);
//! assert!(errors.is_empty());
//!
//! let checked = check(&sources, &mut tree, &Options::default());
//! let system = checked.system.expect("the model has no errors");
//! assert_eq!(system.agents.len(), 2);
//! assert_eq!(checked.parameters, [("N".to_string(), 2)]);
//! ```
//!
//! | module | does |
//! |---|---|
//! | `lexer` | divides the text into tokens and comments |
//! | `parser` | parses by recursive descent, and continues after a syntax error |
//! | `tree` | defines the syntax tree |
//! | `check` | expands parameters, resolves names, checks types, lowers to `masque-model`, lints |
//! | `names` | finds what names stand for, in files with syntax errors too, for editors |
//! | `editing` | completions, operators with their meanings, and coloured words, for editors |
//! | `format` | formats a file, from its tokens and the outline of its sections |
#![forbid(unsafe_code)]

mod check;
mod editing;
mod format;
mod lexer;
mod names;
mod parser;
#[doc(hidden)]
pub mod testing;
mod tree;

pub use check::{Checked, Define, Options, SplitClasses, check};
pub use editing::{KEYWORDS, OPERATORS, completions, highlights, operator_at, other_line, signature};
pub use format::format;
pub use lexer::comments;
pub use names::names;
pub use parser::{
    ConditionScope, Model, NESTING_LIMIT, parse, parse_condition, parse_model, parse_properties,
    parse_property, parse_split,
};
pub use tree::{Dialect, Tree};
