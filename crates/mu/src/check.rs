//! Checks a formula: explores the game breadth first and stops when the root is decided.
//!
//! Values are propagated backwards during exploration (`game`). Each time the explored part has doubled,
//! it is also solved as a whole (`settle`), so that cycles in it may decide the root before everything is
//! explored. For alternation-free formulas the total time stays linear in the explored part.

use masque_verdict::{Budget, Found, Stop, Verdict, Why};

use crate::bound_response::check_bound_response;
use crate::evidence::{Evidence, evidence};
use crate::formula::Formula;
use crate::game::{Game, Position};
use crate::settle::{reach, settle};
use crate::{Lts, Space};

/// Number of expanded positions at which the explored part is first solved as a whole.
const FIRST_SETTLE_SIZE: usize = 32;
/// Number of expanded positions between checks of time and memory.
const POSITIONS_PER_CHECK: usize = 256;

/// Outcome of a check.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether the initial state satisfies the formula.
    pub verdict: Verdict,
    /// Number of states that were visited, expanded or not.
    pub states: u64,
    /// Number of positions: pairs of a state and a node of the formula.
    pub positions: u64,
    /// Evidence for the verdict, if it was requested, there is a verdict, and the budget allows it.
    pub evidence: Option<Evidence>,
    /// Reason why evidence is withheld: it does not replay on the system. That is a bug in Masque.
    pub withheld: Option<String>,
}

/// Decides a formula in the initial state.
///
/// The verdict is [`Verdict::Unknown`] if a limit of the budget is reached or if it depends on
/// transitions beyond a bound of the system; it is never a guess.
///
/// The verdict does not depend on earlier checks in the same space: bounds and limits count the states of
/// this check only. If the states of earlier checks leave too little memory, the space drops them.
pub fn check<L: Lts>(space: &mut Space<L>, formula: &Formula, budget: &Budget) -> Outcome {
    run_new(space, formula, budget, false)
}

/// Decides a formula and returns evidence, which was replayed on the system or else is withheld.
pub fn explain<L: Lts>(space: &mut Space<L>, formula: &Formula, budget: &Budget) -> Outcome {
    run_new(space, formula, budget, true)
}

/// Decides a formula, with all the memory of the budget if necessary.
///
/// States of earlier checks in the space count against the memory limit. So a check that runs out of
/// memory in a space that was not empty starts again in an empty space.
fn run_new<L: Lts>(
    space: &mut Space<L>,
    formula: &Formula,
    budget: &Budget,
    wants_evidence: bool,
) -> Outcome {
    if let Some(response) = formula.response() {
        return check_bound_response(space, formula, response, budget, wants_evidence);
    }
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
) -> Outcome {
    let formula = game.formula;
    let state = space.initial();
    let (root, stop) = match game.root(space, state) {
        Ok(root) => {
            game.mark_live(root);
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
    // When the time is over, only the verdict is reported.
    let shown = if wants_evidence && budget.check().is_ok() { value } else { None };
    let found = shown.and_then(|holds| evidence(game, space, root, holds, budget).ok());
    let (evidence, withheld) = match found.map(|found| confirmed(found, space, formula, budget)) {
        Some(Ok(evidence)) => (evidence, None),
        Some(Err(refused)) => (None, Some(refused)),
        None => (None, None),
    };
    let positions = game.positions.len() as u64;
    Outcome { verdict, states: game.n_states, positions, evidence, withheld }
}

/// Returns the evidence if it replays, and `None` if the budget ends first. The error says why the evidence
/// is refused.
fn confirmed<L: Lts>(
    evidence: Evidence,
    space: &mut Space<L>,
    formula: &Formula,
    budget: &Budget,
) -> Result<Option<Evidence>, String> {
    match evidence.replay_within(space.lts(), formula, budget) {
        Err(_) => Ok(None),
        // The system listed only a part of its transitions, so the replay says nothing.
        Ok(_) if space.system().stopped().is_some() => Ok(None),
        Ok(Ok(())) => Ok(Some(evidence)),
        Ok(Err(refused)) => Err(refused.to_string()),
    }
}

/// Explores until the root is decided, everything is explored, or a limit is reached.
fn explore<L: Lts>(
    game: &mut Game<'_>,
    space: &mut Space<L>,
    root: Position,
    budget: &Budget,
) -> Result<(), Stop> {
    let mut settle_at = FIRST_SETTLE_SIZE.max(game.n_expanded * 2);
    let stop = loop {
        if game.value(root).is_some() {
            return Ok(());
        }
        let mut limits = Ok(());
        if game.n_expanded.is_multiple_of(POSITIONS_PER_CHECK) {
            budget.meter().found(Found { states: game.n_states, layer: 0, workers: 1 });
            limits = budget.check().and_then(|()| check_memory(game, space, budget));
        }
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
    // The explored part may still decide the root. After a timeout or cancellation there is no time to try.
    if matches!(stop.why, Why::States | Why::Memory) {
        settle(game, root, budget)?;
    }
    Err(stop.after_states(game.n_states))
}

/// Checks the memory of the game, of the explored part of the system, and of the system itself.
fn check_memory<L: Lts>(game: &Game<'_>, space: &Space<L>, budget: &Budget) -> Result<(), Stop> {
    budget.check_memory(game.bytes() + space.bytes() + space.system().bytes())
}

/// Returns the bound that cuts off the nearest position on which the root depends. There is one if
/// everything is explored and the root is not decided.
fn nearest_cut<L: Lts>(game: &Game<'_>, space: &Space<L>, root: Position) -> &'static str {
    let reached = reach(game, root).into_iter();
    let mut cuts = reached.filter(|&position| game.at(position).is_cut());
    cuts.find_map(|position| game.cut(space, game.at(position).state)).unwrap_or_default()
}
