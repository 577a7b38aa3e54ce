//! Loading models, for the tests of this crate.
#![allow(dead_code, reason = "each test file uses some of it")]

use masque_model::{Deadlock, System};
pub(crate) use masque_testkit::load;

/// The system of a text that is valid.
#[track_caller]
pub(crate) fn system(text: &str) -> System {
    load(text, Deadlock::Finite).unwrap_or_else(|| panic!("not valid:\n{text}"))
}

/// One agent `A` with actions `a` and `b`, both always enabled unless a protocol is given.
pub(crate) fn one_agent(
    semantics: &str,
    variables: &str,
    protocol: &str,
    evolution: &str,
    initial: &str,
) -> String {
    let protocol = if protocol.is_empty() { "Other : {a, b};" } else { protocol };
    format!(
        "Semantics = {semantics};
         Agent A
           Vars: {variables} end Vars
           Actions = {{a, b}};
           Protocol: {protocol} end Protocol
           Evolution: {evolution} end Evolution
         end Agent
         Evaluation end Evaluation
         InitStates {initial}; end InitStates
         Formulae end Formulae"
    )
}
