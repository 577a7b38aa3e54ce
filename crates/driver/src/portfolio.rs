//! Alternation of the explicit and the symbolic engine with growing budgets.
//!
//! Neither engine is better for all models, and only running them shows which one suits a model. Each turn
//! costs less than the next, so the total cost stays within a small factor of the better engine. Budgets
//! count states, bytes and steps instead of time, so a check takes the same course on every machine.

use std::num::NonZeroUsize;

use masque_explicit::Scout;
use masque_model::{Formula, System};
use masque_verdict::{Budget, Early, Encoded, Show, Stop, Why};

use crate::engines::{AnyEngine, EXPLICIT};

/// A turn of each engine.
struct Turn {
    /// Maximum number of stored states.
    states: u64,
    /// Maximum bytes for the stored states.
    bytes: u64,
    /// Maximum budget steps of the explicit engine, each about 4096 successors.
    stored_steps: u64,
    /// Maximum diagram steps of the symbolic engine; `None` in the last turn.
    drawn_steps: Option<u64>,
}

const TURNS: [Turn; 3] = [
    Turn { states: 512, bytes: 4 << 20, stored_steps: 8, drawn_steps: Some(600_000) },
    Turn { states: 100_000, bytes: 64 << 20, stored_steps: 400, drawn_steps: Some(16_000_000) },
    Turn { states: 2_000_000, bytes: 512 << 20, stored_steps: 8000, drawn_steps: None },
];

/// Factor on the diagram steps if the explicit engine ran out of steps rather than states.
const SLOW_STATES_FACTOR: u64 = 8;

/// Bits per state above which the maximum number of states is reduced in proportion.
const USUAL_BITS: u64 = 512;

/// Factor by which an estimated number of states may exceed the next turn's maximum.
const ESTIMATE_TOLERANCE: f64 = 10.0;

/// Prospect that the explicit engine finds all states in its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chance {
    /// Likely: the symbolic engine is skipped in this turn.
    Good,
    /// Possible.
    Some,
    /// Possible, but each state is expensive.
    Slow,
    /// Unlikely: the explicit engine is not tried again.
    None,
}

/// Divisor of the memory limit for stored states.
const MEMORY_SHARE: u64 = 10;

/// Two engines that take turns.
#[derive(Clone)]
pub(crate) struct Portfolio {
    /// Which verdicts get evidence.
    pub(crate) evidence: Show,
    /// How many threads may work at once.
    pub(crate) jobs: Option<NonZeroUsize>,
    /// The engine on diagrams.
    pub(crate) diagrams: AnyEngine,
}

/// A completely explored system.
pub(crate) struct Ended<'s> {
    /// Name of the engine that explored it.
    pub(crate) engine: &'static str,
    pub(crate) encoded: Box<dyn Encoded + 's>,
    /// Reason shown by `-v`.
    pub(crate) reason: String,
}

impl Portfolio {
    /// Explores a system with the engine that finishes first.
    pub(crate) fn explore<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Ended<'s>, Stop> {
        let mut chance = Chance::Some;
        let mut n_seen = 0;
        for turn in &TURNS {
            if chance != Chance::None {
                match self.stored(turn, system, early, budget) {
                    Ok(encoded) => {
                        let n_states = encoded.stats().states.unwrap_or(0);
                        let are_few = if n_states == 1 { "state is few" } else { "states are few" };
                        let reason = format!("explicit: {n_states} {are_few}");
                        return Ok(Ended { engine: EXPLICIT, encoded, reason });
                    }
                    Err((stop, next)) => {
                        early.enough()?;
                        budget.check()?;
                        n_seen = n_seen.max(stop.states.unwrap_or(0));
                        chance = next;
                    }
                }
            }
            if chance == Chance::Good {
                continue;
            }
            let more = if chance == Chance::Slow { SLOW_STATES_FACTOR } else { 1 };
            let steps = turn.drawn_steps.map(|steps| steps * more).filter(|_| chance != Chance::None);
            match self.diagrams(steps, system, early, budget) {
                Ok(encoded) => {
                    let reason = format!("{}: more than {n_seen} states", self.diagrams.name());
                    return Ok(Ended { engine: self.diagrams.name(), encoded, reason });
                }
                Err(stop) if steps.is_none() => return Err(stop),
                Err(_) => {
                    early.enough()?;
                    budget.check()?;
                }
            }
        }
        // Not reached: the symbolic engine has no step limit in the last turn.
        Err(Why::Timeout.into())
    }

    /// Runs the explicit engine for one turn. If it does not finish, returns the limit and its prospects.
    fn stored<'s>(
        &self,
        turn: &Turn,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, (Stop, Chance)> {
        let memory = budget.memory().map_or(turn.bytes, |memory| turn.bytes.min(memory / MEMORY_SHARE));
        // Several threads pay off only in the largest turn.
        let jobs = if turn.drawn_steps.is_none() { self.jobs } else { Some(NonZeroUsize::MIN) };
        // Successors of wide states are slower to compute.
        let most_states = turn.states * USUAL_BITS / system.bits().max(USUAL_BITS);
        let scout = Scout { evidence: self.evidence, jobs, most_states };
        let allowance = budget.branch().with_memory(memory).with_steps(turn.stored_steps);
        scout.explore(system, early, &allowance).map_err(|unfinished| {
            let next = TURNS.iter().find(|other| other.states > turn.states).map(|next| next.states as f64);
            let chance = match (next, unfinished.likely_states) {
                (None, _) => Chance::None,
                (Some(_), None) if unfinished.stop.why == Why::Timeout => Chance::Slow,
                (Some(_), None) => Chance::Some,
                // Solving games on stored states may take far longer than exploring.
                (Some(most), Some(likely)) if likely * 2.0 <= most && !has_games(system) => Chance::Good,
                (Some(most), Some(likely)) if likely <= most * ESTIMATE_TOLERANCE => Chance::Some,
                _ => Chance::None,
            };
            (unfinished.stop, chance)
        })
    }

    fn diagrams<'s>(
        &self,
        steps: Option<u64>,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        match steps {
            None => self.diagrams.explore(system, early, budget),
            Some(steps) => self.diagrams.explore(system, early, &budget.branch().with_work(steps)),
        }
    }
}

/// Whether some property asks what a group can enforce.
fn has_games(system: &System) -> bool {
    system.formulas.ids().any(|id| matches!(system.formulas.get(id), Formula::Enforces(..)))
}
