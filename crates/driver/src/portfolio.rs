//! Alternation of the explicit and the symbolic engine with growing budgets.
//!
//! Neither engine is better for all models, and only running them shows which one suits a model. Each turn
//! costs less than the next, so the total cost stays within a small factor of the better engine. Budgets
//! count states, bytes and steps instead of time, so a check takes the same course on every machine.

use std::num::NonZeroUsize;

use masque_explicit::{BoundedExplicit, StoppedExploration};
use masque_model::{Formula, System};
use masque_verdict::{Budget, Early, Encoded, Show, Stop, Verdict, Why};

use crate::engines::{AnyEngine, EXPLICIT};

/// A turn of each engine.
#[derive(Clone)]
struct Turn {
    /// Maximum number of stored states.
    states: u64,
    /// Maximum bytes for the stored states.
    bytes: u64,
    /// Maximum budget steps of the explicit engine.
    stored_steps: u64,
    /// Maximum diagram steps of the symbolic engine to explore, and again to decide the properties; `None`
    /// in the last turn.
    drawn_steps: Option<u64>,
}

/// The turns, each with larger limits than the one before. A diagram step costs about as much as two or three
/// successors.
const TURNS: [Turn; 4] = [
    Turn { states: 512, bytes: 4 << 20, stored_steps: 40, drawn_steps: Some(300_000) },
    Turn { states: 30_000, bytes: 32 << 20, stored_steps: 800, drawn_steps: Some(2_400_000) },
    Turn { states: 150_000, bytes: 128 << 20, stored_steps: 4000, drawn_steps: Some(10_000_000) },
    Turn { states: 2_000_000, bytes: 512 << 20, stored_steps: 10_000, drawn_steps: None },
];

/// Bits per state above which the maximum number of states is reduced in proportion.
const USUAL_BITS: u64 = 512;

/// Factor by which the next turn's maximum must exceed an estimated number of states for a good chance.
const MARGIN: f64 = 2.0;

/// The same if there are games: solving them takes longer than exploring.
const GAMES_MARGIN: f64 = 4.0;

/// Successors of a state, on average, from which on games take far longer than exploring.
const MANY_SUCCESSORS: u64 = 64;

/// Successors that the explicit engine computes in a budget step.
const SUCCESSORS_PER_STEP: u64 = 4096;

/// Factor by which an estimated number of states may exceed the next turn's maximum, or the previous
/// estimate: estimates that keep growing are unreliable.
const ESTIMATE_TOLERANCE: f64 = 10.0;

/// Bits per state up to which the first turn stores a state for each expression of the model: that takes less
/// time than reading the model did.
const BITS_PER_EXPRESSION: u64 = 64;

/// Least number of bits that a state counts for.
const MIN_COUNTED_BITS: u64 = 32;

/// Expressions of the model for each budget step of the first turn.
const EXPRESSIONS_PER_STEP: u64 = 250;

/// Bytes that the first turn may use for each expression of the model.
const BYTES_PER_EXPRESSION: u64 = 512;

/// Where the explicit engine is likely to find all states, the symbolic engine gets a diagram step for this
/// many successors that the explicit engine would compute. Then it costs half as much, at most.
const SUCCESSORS_PER_TRIED_STEP: f64 = 6.0;

/// Least number of such diagram steps for which the symbolic engine is worth a try.
const MIN_TRIED_STEPS: u64 = 16_000;

/// Prospect that the explicit engine finds all states in its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chance {
    /// Likely: the symbolic engine gets only a fraction of what that will cost.
    Good,
    /// Possible.
    Some,
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
    /// Number of threads; one per processor if there is none.
    pub(crate) jobs: Option<NonZeroUsize>,
    /// The symbolic engine.
    pub(crate) diagrams: AnyEngine,
}

/// A completely explored system.
pub(crate) struct Explored<'s> {
    /// Name of the engine that explored it.
    pub(crate) engine: &'static str,
    pub(crate) encoded: Box<dyn Encoded + 's>,
    /// Reason shown by `-v`.
    pub(crate) reason: String,
}

impl Portfolio {
    /// Explores a system with the engine that first finds all states and, if that is the symbolic one,
    /// decides these properties within its steps.
    pub(crate) fn explore<'s>(
        &self,
        system: &'s System,
        properties: &[usize],
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Explored<'s>, Stop> {
        let has_games = has_games(system);
        let mut chance = Chance::Some;
        let mut n_seen = 0;
        let mut likely_before = f64::INFINITY;
        let mut drawn: Option<Box<dyn Encoded + 's>> = None;
        let mut tried_steps = 0;
        // The largest number of states that was found to be too small.
        let mut exceeded = 0;
        let turns = turns(system);
        for (index, turn) in turns.iter().enumerate() {
            if chance != Chance::None && turn.states > exceeded {
                match self.explore_stored(turn, system, early, budget) {
                    Ok(encoded) => {
                        let n_states = encoded.stats().states.unwrap_or(0);
                        let are_few = if n_states == 1 { "state is few" } else { "states are few" };
                        let reason = format!("explicit: {n_states} {are_few}");
                        return Ok(Explored { engine: EXPLICIT, encoded, reason });
                    }
                    Err((unfinished, n_steps)) => {
                        early.enough()?;
                        budget.check()?;
                        n_seen = n_seen.max(unfinished.stop.states.unwrap_or(0));
                        if unfinished.stop.why == Why::States {
                            exceeded = turn.states;
                        }
                        let margin = margin(has_games, unfinished.stop, n_steps);
                        chance = turns
                            .get(index + 1)
                            .map_or(Chance::None, |next| Chance::new(margin, turn, next, unfinished));
                        if let Some(likely) = unfinished.likely_states {
                            if likely > likely_before * ESTIMATE_TOLERANCE {
                                chance = Chance::None;
                            }
                            likely_before = likely;
                            tried_steps = tried_drawn_steps(likely, unfinished.stop, n_steps);
                        }
                    }
                }
            }
            if chance == Chance::Good && tried_steps < MIN_TRIED_STEPS {
                continue;
            }
            let steps = match chance {
                Chance::Good => turn.drawn_steps.map(|_| tried_steps),
                Chance::Some => turn.drawn_steps,
                Chance::None => None,
            };
            let allowance = || match steps {
                None => budget.clone(),
                Some(steps) => budget.branch().with_work(steps),
            };
            let explored = match drawn.take() {
                Some(encoded) => Ok(encoded),
                None => self.diagrams.explore(system, early, &allowance()),
            };
            match explored {
                Ok(mut encoded) => {
                    let allowance = allowance();
                    let open: Vec<usize> = early.open().collect();
                    let mut asked =
                        properties.iter().filter(|index| !early.is_quick() || open.contains(index));
                    let is_decided = |&index: &usize| {
                        let verdict = encoded.verdict(&system.properties[index], &allowance);
                        !matches!(verdict, Verdict::Unknown(Why::Timeout))
                    };
                    if steps.is_none() || asked.all(is_decided) {
                        let reason = format!("{}: more than {n_seen} states", self.diagrams.name());
                        return Ok(Explored { engine: self.diagrams.name(), encoded, reason });
                    }
                    drawn = Some(encoded);
                }
                Err(stop) if steps.is_none() => return Err(stop),
                Err(_) => early.enough()?,
            }
            budget.check()?;
        }
        // Not reached: the symbolic engine has no step limit in the last turn.
        Err(Why::Timeout.into())
    }

    /// Runs the explicit engine for one turn. If it stops early, the budget steps it took are returned, too.
    fn explore_stored<'s>(
        &self,
        turn: &Turn,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, (StoppedExploration, u64)> {
        // Several threads pay off only in the largest turn.
        let jobs = if turn.drawn_steps.is_none() { self.jobs } else { Some(NonZeroUsize::MIN) };
        turn.explore_stored(self.evidence, jobs, system, early, budget)
    }
}

/// Whether the explicit engine finds all states of a system in its first turn.
pub(crate) fn is_small(system: &System, budget: &Budget) -> bool {
    let [first, ..] = &turns(system);
    first.explore_stored(Show::None, Some(NonZeroUsize::MIN), system, &mut Early::deaf(), budget).is_ok()
}

impl Turn {
    /// Runs the explicit engine within the limits of this turn. If it stops early, the budget steps it took are
    /// returned, too.
    fn explore_stored<'s>(
        &self,
        evidence: Show,
        jobs: Option<NonZeroUsize>,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, (StoppedExploration, u64)> {
        let memory = budget.memory().map_or(self.bytes, |memory| self.bytes.min(memory / MEMORY_SHARE));
        // Successors of wide states are slower to compute.
        let max_states = self.states * USUAL_BITS / system.bits().max(USUAL_BITS);
        let scout = BoundedExplicit { evidence, jobs, max_states };
        let allowance = budget.branch().with_memory(memory).with_steps(self.stored_steps);
        scout.explore(system, early, &allowance).map_err(|unfinished| {
            (unfinished, self.stored_steps.saturating_sub(allowance.steps_left().unwrap_or(0)))
        })
    }
}

impl Chance {
    /// The prospect after an unfinished turn; it is never good without a margin.
    fn new(margin: Option<f64>, turn: &Turn, next: &Turn, unfinished: StoppedExploration) -> Chance {
        // If the steps ran out first, they will again.
        let most = match unfinished.stop.states {
            Some(n_seen) if unfinished.stop.why == Why::Timeout => {
                next.states.min(n_seen * next.stored_steps / turn.stored_steps)
            }
            _ => next.states,
        } as f64;
        match unfinished.likely_states {
            None => Chance::Some,
            Some(likely) if margin.is_some_and(|margin| likely * margin <= most) => Chance::Good,
            Some(likely) if likely <= most * ESTIMATE_TOLERANCE => Chance::Some,
            Some(_) => Chance::None,
        }
    }
}

/// Returns the turns for a system. The first one allows more if the system is large: reading it took longer.
fn turns(system: &System) -> [Turn; 4] {
    let size = system.exprs.len() as u64;
    let mut turns = TURNS;
    let [first, second, ..] = &mut turns;
    let n_states = size * BITS_PER_EXPRESSION / system.bits().max(MIN_COUNTED_BITS);
    first.states = n_states.clamp(first.states, second.states);
    first.stored_steps = (size / EXPRESSIONS_PER_STEP).clamp(first.stored_steps, second.stored_steps);
    first.bytes = (size * BYTES_PER_EXPRESSION).clamp(first.bytes, second.bytes);
    turns
}

/// Returns the diagram steps that are worth a try where the explicit engine will probably find all states,
/// `likely` in number, in its next turn.
fn tried_drawn_steps(likely: f64, stop: Stop, n_steps: u64) -> u64 {
    let n_seen = stop.states.unwrap_or(0).max(1) as f64;
    let n_successors = likely / n_seen * (n_steps * SUCCESSORS_PER_STEP) as f64;
    (n_successors / SUCCESSORS_PER_TRIED_STEP) as u64
}

/// Margin for a good chance; none if solving games may take far longer than exploring.
fn margin(has_games: bool, stop: Stop, n_steps: u64) -> Option<f64> {
    let are_many = n_steps * SUCCESSORS_PER_STEP >= stop.states.unwrap_or(0) * MANY_SUCCESSORS;
    match has_games {
        true => (!are_many).then_some(GAMES_MARGIN),
        false => Some(MARGIN),
    }
}

/// Whether some property has an operator about what a group can enforce.
fn has_games(system: &System) -> bool {
    system.formulas.ids().any(|id| matches!(system.formulas.get(id), Formula::Enforces(..)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prospect_follows_states_steps_and_games() {
        let [turn, next, ..] = &TURNS;
        let (usual, games, costly) = (Some(MARGIN), Some(GAMES_MARGIN), None);
        let after = |margin, why, n_seen, likely_states| {
            let stop = Stop { why, states: Some(n_seen), bytes: None };
            Chance::new(margin, turn, next, StoppedExploration { stop, likely_states })
        };
        let half = Some(next.states as f64 / 2.0);
        assert_eq!(after(usual, Why::States, 512, None), Chance::Some);
        assert_eq!(after(usual, Why::States, 512, half), Chance::Good);
        assert_eq!(after(games, Why::States, 512, half), Chance::Some, "games need a larger margin");
        assert_eq!(after(usual, Why::States, 512, Some(next.states as f64 * 5.0)), Chance::Some);
        assert_eq!(after(usual, Why::States, 512, Some(next.states as f64 * 20.0)), Chance::None);
        // Steps for 10 states allow 200 in the next turn.
        assert_eq!(after(usual, Why::Timeout, 10, Some(100.0)), Chance::Good);
        assert_eq!(after(costly, Why::Timeout, 10, Some(20.0)), Chance::Some, "games on expensive states");
        assert_eq!(after(usual, Why::Timeout, 10, half), Chance::None);
    }

    #[test]
    fn games_on_states_with_many_successors_are_costly() {
        let stop = Stop { why: Why::States, states: Some(512), bytes: None };
        assert_eq!(margin(true, stop, 8), None);
        assert_eq!(margin(true, stop, 7), Some(GAMES_MARGIN));
        assert_eq!(margin(false, stop, 8), Some(MARGIN));
    }

    #[test]
    fn large_models_are_explored_further_before_the_first_diagrams() {
        let load = |n: u32| {
            let lines: String = (0..n).map(|i| format!("n = {} if n = {i};\n", (i + 1) % n)).collect();
            let text = format!(
                "Agent A Vars: n : 0..{}; end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
                 Evolution: {lines} end Evolution end Agent
                 Evaluation p if A.n = 0; end Evaluation InitStates A.n = 0; end InitStates
                 Formulae EF p; end Formulae",
                n - 1
            );
            masque_testkit::load(&text, masque_model::Deadlock::Finite).unwrap()
        };
        let limits = |turn: &Turn| (turn.states, turn.stored_steps, turn.bytes);
        let [small, ..] = turns(&load(10));
        assert_eq!(limits(&small), limits(&TURNS[0]));
        let large = load(15_000);
        let size = large.exprs.len() as u64;
        let [first, second, ..] = turns(&large);
        assert_eq!(limits(&first), (TURNS[1].states, size / 250, size * 512));
        assert!(first.stored_steps > TURNS[0].stored_steps && first.bytes > TURNS[0].bytes);
        assert_eq!(limits(&second), limits(&TURNS[1]));
    }

    #[test]
    fn tries_cost_a_fraction_of_what_storing_all_states_would_cost() {
        let stop = Stop { why: Why::States, states: Some(500), bytes: None };
        // 10 steps for 500 states are 82 successors per state.
        assert_eq!(tried_drawn_steps(5000.0, stop, 10), 10 * 10 * SUCCESSORS_PER_STEP / 6);
        assert!(tried_drawn_steps(1000.0, stop, 1) < MIN_TRIED_STEPS);
    }

    #[test]
    fn each_turn_allows_more_than_the_one_before() {
        for pair in TURNS.windows(2) {
            assert!(pair[0].states < pair[1].states && pair[0].stored_steps < pair[1].stored_steps);
            assert!(pair[0].bytes < pair[1].bytes && pair[0].drawn_steps.is_some());
        }
        assert!(TURNS[TURNS.len() - 1].drawn_steps.is_none());
    }
}
