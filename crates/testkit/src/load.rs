//! From a text to a system, for tests that are about the system.

use masque_ispl::{Options, check, parse};
use masque_model::{Deadlock, System};
use masque_text::Sources;

/// The system of a text, if it is valid.
///
/// ```
/// use masque_model::Deadlock;
/// let system = masque_testkit::load(&masque_testkit::random_model(7), Deadlock::Finite);
/// assert!(system.is_some_and(|system| !system.properties.is_empty()));
/// ```
pub fn load(text: &str, deadlock: Deadlock) -> Option<System> {
    let mut sources = Sources::default();
    let file = sources.add("test.ispl", text).ok()?;
    let (mut tree, errors) = parse(&sources, file);
    if !errors.is_empty() {
        return None;
    }
    let options = Options { deadlock: Some(deadlock), ..Options::default() };
    check(&sources, &mut tree, &options).system
}
