//! The harness of differential tests: it generates random models, compares two implementations on
//! each, and shrinks a model on which they differ.

use std::collections::BTreeMap;
use std::ops::Range;

use masque_model::{Deadlock, System};

use crate::{load, shrink};

/// Returns the seeds of a random test: the environment variable `SEEDS=FROM..TO`, or else `default`.
///
/// # Panics
/// If `SEEDS` is not of that form.
///
/// ```
/// assert!(!masque_testkit::seeds("0..20").is_empty());
/// ```
pub fn seeds(default: &str) -> Range<u64> {
    let seeds = std::env::var("SEEDS").unwrap_or(default.to_string());
    let bounds = seeds.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    bounds.unwrap_or_else(|| panic!("SEEDS={seeds} is not of the form FROM..TO"))
}

/// Function from a seed to the text of a random model.
pub type Generator = fn(u64) -> String;

/// Semantics of deadlock states under which a differential test loads its models.
#[derive(Clone, Copy, Debug)]
pub enum Deadlocks {
    /// Each model twice, once under each semantics.
    Both,
    /// Each model once: `Stutter` if the seed is a multiple of this number, `Finite` otherwise.
    StutterEvery(u64),
}

impl Deadlocks {
    fn of(self, seed: u64) -> &'static [Deadlock] {
        match self {
            Deadlocks::Both => &[Deadlock::Finite, Deadlock::Stutter],
            Deadlocks::StutterEvery(n) if seed.is_multiple_of(n) => &[Deadlock::Stutter],
            Deadlocks::StutterEvery(_) => &[Deadlock::Finite],
        }
    }
}

/// Calls `compare` on the random models of all generators and seeds, and returns what it counted.
///
/// `compare` gets the system, its seed, and the tally; it returns the difference that it found, if any.
///
/// # Panics
/// If a model is not valid or `compare` finds a difference. The message contains the shrunk model.
///
/// ```
/// use masque_testkit::{Deadlocks, differential, random_model};
/// let tally = differential(&[random_model], 0..3, Deadlocks::Both, |system, _, tally| {
///     tally.count("systems");
///     if system.properties.is_empty() { Err("no property".to_string()) } else { Ok(()) }
/// });
/// tally.assert_at_least(&[("systems", 6)]);
/// ```
pub fn differential(
    generators: &[Generator],
    seeds: Range<u64>,
    deadlocks: Deadlocks,
    compare: impl Fn(System, u64, &mut Tally) -> Result<(), String>,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        for generate in generators {
            let text = generate(seed);
            for &deadlock in deadlocks.of(seed) {
                let system =
                    load(&text, deadlock).unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
                let Err(difference) = compare(system, seed, &mut tally) else { continue };
                let differs = |text: &str| compare(load(text, deadlock)?, seed, &mut Tally::default()).err();
                let small = shrink(&text, |text| differs(text).is_some());
                let difference = differs(&small).unwrap_or(difference);
                panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{small}");
            }
        }
    }
    println!("{tally:?}");
    tally
}

/// Named counts of what a test compared.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<String, usize>);

impl Tally {
    /// Adds 1 to a count; a count starts at 0.
    pub fn count(&mut self, name: impl Into<String>) {
        self.add(name, 1);
    }

    /// Adds `n` to a count.
    pub fn add(&mut self, name: impl Into<String>, n: usize) {
        *self.0.entry(name.into()).or_default() += n;
    }

    /// Returns a count.
    pub fn get(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Asserts lower bounds of counts, so that a test cannot pass because it compared nothing.
    ///
    /// # Panics
    /// If a count is below its bound.
    #[track_caller]
    pub fn assert_at_least(&self, bounds: &[(&str, usize)]) {
        for (name, bound) in bounds {
            assert!(self.get(name) >= *bound, "at least {bound} {name} expected: {self:?}");
        }
    }
}
