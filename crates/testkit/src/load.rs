//! Loading of systems from text, for tests of the later stages.

use masque_ispl::{Options, check, parse};
use masque_model::{Deadlock, System};
use masque_text::{Diagnostic, Sources};

/// Loads the system of a text; returns `None` if it is not valid.
///
/// ```
/// use masque_model::Deadlock;
/// let system = masque_testkit::load(&masque_testkit::random_model(7), Deadlock::Finite);
/// assert!(system.is_some_and(|system| !system.properties.is_empty()));
/// ```
pub fn load(text: &str, deadlock: Deadlock) -> Option<System> {
    let mut sources = Sources::default();
    let file = sources.add("test.ispl", text).ok()?;
    let (mut tree, diagnostics) = parse(&sources, file);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    let options = Options { deadlock: Some(deadlock), ..Options::default() };
    check(&sources, &mut tree, &options).system
}

/// Loads the system of a valid text, in which paths end at deadlocks.
///
/// # Panics
/// If it is not valid.
///
/// ```
/// let text = masque_testkit::one_agent("MultiAssignment", "n : 0..2;", "", "n = 1 if n = 0;", "A.n = 0");
/// assert_eq!(masque_testkit::system(&text).agents.len(), 1);
/// ```
#[track_caller]
pub fn system(text: &str) -> System {
    load(text, Deadlock::Finite).unwrap_or_else(|| panic!("not valid:\n{text}"))
}

/// Returns a text with one agent `A` with actions `a` and `b`, both always enabled unless a protocol is
/// given; without propositions and formulas.
pub fn one_agent(semantics: &str, variables: &str, protocol: &str, evolution: &str, initial: &str) -> String {
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
