//! Tools for the tests of all crates: random models, the harness of differential tests, broken texts,
//! shrinking, shuffling.
//!
//! Models are generated as text, so that one model exercises everything from the lexer to the
//! evidence, and so that a failing one is already the file for `models/regress/`.
//!
//! ```
//! let text = masque_testkit::random_model(7);
//! assert_eq!(text, masque_testkit::random_model(7), "a seed determines the model");
//! let small = masque_testkit::shrink(&text, |text| text.contains("Formulae"));
//! assert_eq!(small.lines().count(), 1);
//! ```
#![forbid(unsafe_code)]

mod broken;
mod compare;
mod differential;
mod early;
mod evidence;
mod fixes;
mod language;
mod load;
mod markdown;
mod modules;
mod page;
mod random;
mod shrink;
mod shuffle;
mod structure;

pub use broken::{Breaker, approximate_tokens, assert_points_into};
pub use compare::{
    at_initial_and_reachable, compare_facts, compare_outcomes, compare_remarks, encode, state_formulas,
};
pub use differential::{Deadlocks, Generator, Tally, differential, seeds};
pub use early::check_early_verdicts;
pub use evidence::Reference;
pub use fixes::suggestions_without_fix;
pub use language::{LanguageUnderTest, without_white_space};
pub use load::{load, one_agent, system};
pub use markdown::{Fence, Link, MarkdownPage};
pub use modules::{OpenFiles, TextLibrary, example_files, split_into_modules, write_files};
pub use page::{
    DiagnosticsPage, Rendered, Section, all_text, code_blocks, codes_in_sources, files_below, rendered,
};
pub use random::{
    FORMULA_MODEL, GENERATORS, random_determined_model, random_fair_game_model, random_fixpoint_model,
    random_formulas, random_game_model, random_model, random_old_model, random_parameterised_model,
    random_path_model, random_recurring_model,
};
pub use shrink::shrink;
pub use shuffle::shuffle;
pub use structure::structure;
