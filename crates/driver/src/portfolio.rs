//! Stored states and diagrams take turns, each with a larger allowance than before.
//!
//! Which of the two is better for a model shows only when they are used: a few hundred states are stored
//! before the first diagram is drawn, and a space that grows without end fits into a small diagram or
//! nowhere. So a turn that ends without a result costs less than the next one, and what is lost is
//! about what the better engine takes. Allowances are counted in states, bytes and steps, not in time:
//! a check goes the same way on every machine.

use std::num::NonZeroUsize;

use masque_explicit::Scout;
use masque_model::{Formula, System};
use masque_verdict::{Budget, Early, Encoded, Show, Stop, Why};

use crate::engines::{AnyEngine, EXPLICIT};

/// A turn of each engine.
struct Turn {
    /// So many states may be stored.
    states: u64,
    /// They may take so many bytes.
    bytes: u64,
    /// Finding them may take so many steps, each some thousand successors.
    stored_steps: u64,
    /// The diagrams may take so many steps; no limit in the last turn.
    drawn_steps: Option<u64>,
}

const TURNS: [Turn; 3] = [
    Turn { states: 512, bytes: 4 << 20, stored_steps: 8, drawn_steps: Some(600_000) },
    Turn { states: 100_000, bytes: 64 << 20, stored_steps: 400, drawn_steps: Some(16_000_000) },
    Turn { states: 2_000_000, bytes: 512 << 20, stored_steps: 8000, drawn_steps: None },
];

/// Where stored states are slow, the diagrams may take so many times as many steps.
const MUCH_MORE: u64 = 8;

/// States of so many bits take no longer than others.
const USUAL_BITS: u64 = 512;

/// A forecast may be wrong by so much.
const FAR_OFF: f64 = 10.0;

/// What the chances are that a next turn of stored states sees everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chance {
    /// So good that it comes before the diagrams.
    Good,
    Some,
    /// There is one, but each state takes long.
    Slow,
    None,
}

/// Of the memory that a check may use, stored states get one part in so many.
const SHARE: u64 = 10;

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

/// What came of it.
pub(crate) struct Ended<'s> {
    /// The name of the engine that has explored everything.
    pub(crate) engine: &'static str,
    pub(crate) encoded: Box<dyn Encoded + 's>,
    /// Why it was this one.
    pub(crate) reason: String,
}

impl Portfolio {
    /// Explores a system; whichever engine gets to the end answers.
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
            let more = if chance == Chance::Slow { MUCH_MORE } else { 1 };
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
        // The last turn of the diagrams has no limit of its own.
        Err(Why::Timeout.into())
    }

    /// Stores states for a turn. If that does not suffice: why, and what the chances are in the next.
    fn stored<'s>(
        &self,
        turn: &Turn,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, (Stop, Chance)> {
        let memory = budget.memory().map_or(turn.bytes, |memory| turn.bytes.min(memory / SHARE));
        // Threads pay once there is enough to do.
        let jobs = if turn.drawn_steps.is_none() { self.jobs } else { Some(NonZeroUsize::MIN) };
        // A state of many bits takes longer to find.
        let most_states = turn.states * USUAL_BITS / system.bits().max(USUAL_BITS);
        let scout = Scout { evidence: self.evidence, jobs, most_states };
        let allowance = budget.branch().with_memory(memory).with_steps(turn.stored_steps);
        scout.explore(system, early, &allowance).map_err(|unfinished| {
            let next = TURNS.iter().find(|other| other.states > turn.states).map(|next| next.states as f64);
            let chance = match (next, unfinished.likely_states) {
                (None, _) => Chance::None,
                (Some(_), None) if unfinished.stop.why == Why::Timeout => Chance::Slow,
                (Some(_), None) => Chance::Some,
                // Games on stored states may take far longer than finding these.
                (Some(most), Some(likely)) if likely * 2.0 <= most && !has_games(system) => Chance::Good,
                (Some(most), Some(likely)) if likely <= most * FAR_OFF => Chance::Some,
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
