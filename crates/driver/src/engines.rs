//! The engines there are, and which of them is asked.

use masque_explicit::Explicit;
use masque_model::{Property, System};
use masque_symbolic::{Order, Reorder, Symbolic};
use masque_verdict::{Engine, Unsupported};

/// States of at most this many bits are explored one by one: below it that is done before the
/// first diagram is drawn.
const TINY: u64 = 14;

/// All engines.
pub fn engines() -> &'static [&'static dyn Engine] {
    &[
        &Explicit { evidence: true },
        &Symbolic { order: Order::Automatic, reorder: Reorder::Auto, evidence: true },
    ]
}

/// Which engine decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// For each property the first engine that supports it: explicit for tiny systems, else symbolic.
    #[default]
    Auto,
    /// This one only.
    Named(&'static str),
}

impl EngineChoice {
    /// All choices, by the names that `--engine` takes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once("auto").chain(engines().iter().map(|e| e.name()))
    }

    /// The choice of this name.
    pub fn from_name(name: &str) -> Option<EngineChoice> {
        match name {
            "auto" => Some(EngineChoice::Auto),
            _ => engines().iter().map(|e| e.name()).find(|n| *n == name).map(EngineChoice::Named),
        }
    }

    /// The name used by `--engine` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            EngineChoice::Auto => "auto",
            EngineChoice::Named(name) => name,
        }
    }

    /// The engines to choose from for a system, best first.
    pub(crate) fn candidates(self, system: &System) -> Vec<&'static dyn Engine> {
        let is_candidate = |name| self == EngineChoice::Auto || self == EngineChoice::Named(name);
        let mut candidates: Vec<_> = engines().iter().copied().filter(|e| is_candidate(e.name())).collect();
        if system.bits() > TINY {
            candidates.reverse();
        }
        candidates
    }
}

/// The first of the engines that supports a property, by position; what the last one lacks if none
/// does.
pub(crate) fn choose(
    candidates: &[&'static dyn Engine],
    system: &System,
    property: &Property,
) -> Result<usize, Option<Unsupported>> {
    let mut lacking = None;
    for (position, engine) in candidates.iter().enumerate() {
        match engine.supports(system, property) {
            Ok(()) => return Ok(position),
            Err(unsupported) => lacking = Some(unsupported),
        }
    }
    Err(lacking)
}
