//! Checking a formula: explore nearest first, decide as soon as possible, stop when the root is
//! decided.
//!
//! Values are handed back while exploring (`game`). Each time the explored part has doubled it is
//! also solved as a whole (`settle`), so that cycles far from complete may decide the root; for
//! alternation-free formulas the time stays linear in the explored part.

use masque_verdict::{Budget, Stop, Verdict, Why};

use crate::evidence::{Evidence, evidence};
use crate::formula::Formula;
use crate::game::{Game, Position};
use crate::settle::{reach, settle};
use crate::{Lts, Space};

/// The explored part is first solved as a whole at this size.
const FIRST_SETTLE: usize = 32;
/// The clock is looked at once in so many positions.
const CHECK_EVERY: usize = 256;

/// What came of a check.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whether the initial state satisfies the formula.
    pub verdict: Verdict,
    /// How many states were looked at, discovered ones included.
    pub states: u64,
    /// How many pairs of a state and a part of the formula were looked at.
    pub positions: u64,
    /// What shows the verdict, if it was asked for, there is one, and the budget allows.
    pub evidence: Option<Evidence>,
    /// Why evidence is withheld: it does not replay on the system. That is a bug of ours.
    pub withheld: Option<String>,
}

/// Decides a formula in the initial state.
///
/// The answer is [`Verdict::Unknown`] if a limit of the budget is hit or if the verdict depends on
/// what lies beyond a bound of the system; it is never a guess.
///
/// The verdict does not depend on what was checked before in the same space: bounds and limits count
/// what this check looks at. Where what is known of the space leaves too little memory, it is forgotten.
pub fn check<L: Lts>(space: &mut Space<L>, formula: &Formula, budget: &Budget) -> Answer {
    run_new(space, formula, budget, false)
}

/// Decides a formula, and shows why. Evidence was replayed on the system, or is withheld.
pub fn explain<L: Lts>(space: &mut Space<L>, formula: &Formula, budget: &Budget) -> Answer {
    run_new(space, formula, budget, true)
}

/// Decides a formula, with all the memory of the budget if need be.
///
/// What earlier checks left in the space counts against the limit. So a check that runs out of memory in
/// a space that was not empty begins again in an empty one.
fn run_new<L: Lts>(space: &mut Space<L>, formula: &Formula, budget: &Budget, wants_evidence: bool) -> Answer {
    let was_empty = space.n_expanded() == 0;
    let answer = run(&mut Game::new(formula), space, budget, wants_evidence);
    if was_empty || answer.verdict != Verdict::Unknown(Why::Memory) {
        return answer;
    }
    space.drop_states();
    run(&mut Game::new(formula), space, budget, wants_evidence)
}

/// Decides the formula of a game in the initial state.
pub(crate) fn run<L: Lts>(
    game: &mut Game<'_>,
    space: &mut Space<L>,
    budget: &Budget,
    wants_evidence: bool,
) -> Answer {
    let formula = game.formula;
    let state = space.initial();
    let (root, stop) = match game.root(space, state) {
        Ok(root) => {
            game.wake(root);
            (root, explore(game, space, root, budget).err())
        }
        Err(stop) => (0, Some(stop)),
    };
    let value = game.positions.get(root as usize).and_then(|entry| entry.value);
    let verdict = match (value, stop) {
        (Some(value), _) => Verdict::from(value),
        (None, Some(stop)) => Verdict::Unknown(stop.why),
        (None, None) => Verdict::Unknown(Why::Bound(nearest_cut(game, space, root))),
    };
    // Whoever is out of time gets the verdict alone.
    let shown = value.filter(|_| wants_evidence && budget.check().is_ok());
    let found = shown.and_then(|holds| evidence(game, space, root, holds, budget).ok());
    let (evidence, withheld) = match found.map(|found| confirmed(found, space, formula, budget)) {
        Some(Ok(evidence)) => (evidence, None),
        Some(Err(refused)) => (None, Some(refused)),
        None => (None, None),
    };
    let positions = game.positions.len() as u64;
    Answer { verdict, states: game.n_states, positions, evidence, withheld }
}

/// Evidence that replays; none if the budget ends before that is known. The error says why it is
/// refused.
fn confirmed<L: Lts>(
    evidence: Evidence,
    space: &mut Space<L>,
    formula: &Formula,
    budget: &Budget,
) -> Result<Option<Evidence>, String> {
    match evidence.replay_within(space.lts(), formula, budget) {
        Err(_) => Ok(None),
        Ok(Ok(())) => Ok(Some(evidence)),
        Ok(Err(refused)) => Err(refused.to_string()),
    }
}

/// Explores until the root is decided, or nothing is left, or a limit is hit.
fn explore<L: Lts>(
    game: &mut Game<'_>,
    space: &mut Space<L>,
    root: Position,
    budget: &Budget,
) -> Result<(), Stop> {
    let mut settle_at = FIRST_SETTLE.max(game.n_expanded * 2);
    let stop = loop {
        if game.value(root).is_some() {
            return Ok(());
        }
        let limits = match game.n_expanded.is_multiple_of(CHECK_EVERY) {
            true => budget.check().and_then(|()| budget.check_memory(game.bytes() + space.bytes())),
            false => Ok(()),
        };
        let limits = limits.and_then(|()| budget.check_states(game.n_states));
        if let Err(stop) = limits {
            break stop;
        }
        let Some(position) = game.next(root) else { return settle(game, root, budget) };
        if let Err(stop) = game.expand(space, position) {
            break stop;
        }
        if game.n_expanded >= settle_at {
            settle_at = game.n_expanded * 2;
            settle(game, root, budget)?;
        }
    };
    // What is explored may decide the root all the same; but whoever waits has waited enough.
    if matches!(stop.why, Why::States | Why::Memory) {
        settle(game, root, budget)?;
    }
    Err(stop.after_states(game.n_states))
}

/// The bound that cut off the nearest position on which the root depends. There is one, if all was
/// explored and the root is not decided.
fn nearest_cut<L: Lts>(game: &Game<'_>, space: &Space<L>, root: Position) -> &'static str {
    let reached = reach(game, root).into_iter();
    let mut cuts = reached.filter(|&position| game.at(position).is_cut());
    cuts.find_map(|position| game.cut(space, game.at(position).state)).unwrap_or_default()
}
