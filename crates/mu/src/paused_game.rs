//! Keeps the game of a formula between checks.
//!
//! The truth of a part of a formula in a state depends only on the states that are reachable from it. So
//! when the transitions of some states change, the game stays valid except for the following:
//!
//! ```text
//! positions in changed states           are expanded again
//! positions in states that lead there   keep their moves, but lose their values, unless they have no moves:
//!                                       then the transitions and atoms of the state have decided them
//! all others                            stay as they are
//! ```
//!
//! The initial state may change too: positions do not depend on it.

use hashbrown::HashTable;
use masque_verdict::{Budget, Verdict};

use crate::bound_response::check_bound_response;
use crate::check::{Outcome, run};
use crate::formula::Formula;
use crate::game::{Game, NONE, Position, PositionEntry, Stage, hash, is_leaf};
use crate::moves::Moves;
use crate::{Lts, Space, StateId};

/// The game of one formula on a system, kept between checks. The default is an empty game.
#[derive(Debug, Default)]
pub struct PausedGame {
    /// Positions of the last check.
    positions: Vec<PositionEntry>,
    index: HashTable<Position>,
    moves: Moves,
    is_counted: Vec<bool>,
    n_states: u64,
    is_state_expanded: Vec<bool>,
    n_expanded_states: u64,
    n_expanded: usize,
    /// States that have changed since the last check.
    changed: Vec<StateId>,
    /// For each state, whether a changed state could be reached from it.
    leads: Vec<bool>,
}

impl PausedGame {
    /// Records that the transitions of some states have changed. For each state `leads` says whether a
    /// changed state could be reached from it along the old transitions ([`Space::leading_to`]).
    pub fn revise(&mut self, changed: &[StateId], leads: &[bool]) {
        if self.positions.is_empty() {
            return;
        }
        self.changed.extend_from_slice(changed);
        self.leads.resize(self.leads.len().max(leads.len()), false);
        self.leads.iter_mut().zip(leads).for_each(|(known, leads)| *known |= leads);
    }

    /// Returns the truth value of the formula in a state, if earlier checks have decided it.
    pub fn value(&self, formula: &Formula, state: StateId) -> Option<bool> {
        if !self.changed.is_empty() || formula.is_bound_response() {
            return None;
        }
        let is_root = |position: &Position| {
            let entry = &self.positions[*position as usize];
            (entry.state, entry.node) == (state, formula.root())
        };
        let position = self.index.find(hash(state, formula.root()), is_root)?;
        self.positions[*position as usize].value
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> u64 {
        let positions = self.positions.capacity() * size_of::<PositionEntry>();
        let index = self.index.capacity() * (size_of::<Position>() + 1);
        (positions
            + index
            + self.moves.bytes()
            + self.is_counted.capacity()
            + self.is_state_expanded.capacity()) as u64
    }

    /// Continues the game.
    pub(crate) fn resume<'f>(&mut self, formula: &'f Formula) -> Game<'f> {
        let standing = std::mem::take(self);
        let (changed, leads) = (standing.changed, standing.leads);
        let mut game = Game::new(formula);
        (game.positions, game.index, game.moves) = (standing.positions, standing.index, standing.moves);
        (game.is_counted, game.n_states) = (standing.is_counted, standing.n_states);
        (game.is_state_expanded, game.n_expanded_states) =
            (standing.is_state_expanded, standing.n_expanded_states);
        game.n_expanded = standing.n_expanded;
        if !changed.is_empty() {
            forget(&mut game, &changed, &leads);
        }
        // The positions that the root depends on are marked live when the root is known.
        game.positions.iter_mut().for_each(|entry| entry.is_live = false);
        game
    }

    /// Stores a game.
    pub(crate) fn pause(&mut self, game: Game<'_>) {
        let Game { positions, index, moves, is_counted, n_states, .. } = game;
        let (is_state_expanded, n_expanded_states, n_expanded) =
            (game.is_state_expanded, game.n_expanded_states, game.n_expanded);
        let (changed, leads) = (Vec::new(), Vec::new());
        *self = PausedGame {
            positions,
            index,
            moves,
            is_counted,
            n_states,
            is_state_expanded,
            n_expanded_states,
            n_expanded,
            changed,
            leads,
        };
    }
}

/// Removes values that are no longer valid, and propagates those that are decided anyway.
fn forget(game: &mut Game<'_>, changed: &[StateId], leads: &[bool]) {
    let mut is_changed = vec![false; leads.len()];
    changed.iter().for_each(|state| is_changed[state.index()] = true);
    let is = |states: &[bool], state: StateId| states.get(state.index()) == Some(&true);
    let mut open: Vec<Position> = Vec::new();
    let mut moves = Moves::default();
    game.positions.iter_mut().for_each(|entry| entry.back = NONE);
    for position in 0..game.positions.len() as Position {
        let PositionEntry { state, node, list, .. } = *game.at(position);
        let targets = game.moves.targets(list);
        let entry = &mut game.positions[position as usize];
        if is(&is_changed, state) && !is_leaf(game.formula, node) {
            game.n_expanded -= usize::from(entry.is_expanded());
            (entry.value, entry.stage, entry.list, entry.open_or_witness) = (None, Stage::New, NONE, NONE);
            continue;
        }
        if is(leads, state) && entry.is_expanded() && !targets.is_empty() {
            entry.value = None;
            open.push(position);
        }
        let positions = &mut game.positions;
        let back = |to: Position, new: u32| std::mem::replace(&mut positions[to as usize].back, new);
        // There were at least as many moves before, so the indices suffice.
        game.positions[position as usize].list = moves.push(position, targets, back).unwrap_or(NONE);
    }
    game.moves = moves;
    // Compute all counts before any value is set: each value then counts once.
    let mut decided = Vec::new();
    for position in open {
        let (is_any, is_cut) = (game.at(position).is_any, game.at(position).is_cut());
        let values = || game.moves(position).iter().map(|target| (*target, game.value(*target)));
        let n_open = values().filter(|(_, value)| *value != Some(!is_any)).count() as u32;
        let witness = values().find(|(_, value)| *value == Some(is_any));
        match witness {
            Some((target, _)) => decided.push((position, is_any, target)),
            None if n_open == 0 && !is_cut => decided.push((position, !is_any, NONE)),
            None => {}
        }
        game.positions[position as usize].open_or_witness = n_open;
    }
    for (position, value, witness) in decided {
        if game.value(position).is_none() {
            game.decide(position, value, witness);
        }
    }
    game.propagate();
}

/// Decides a formula in the initial state, with the game of earlier checks, and stores the game; returns
/// evidence if `evidence` is true.
///
/// Verdict and evidence are as valid as those of [`crate::check`] and [`crate::explain`]. The numbers of
/// states and positions include those of earlier checks.
///
/// ```
/// use masque_mu::{Graph, Space, PausedGame, read_formula, recheck};
/// use masque_text::Sources;
/// use masque_verdict::{Budget, Verdict};
///
/// let mut graph = Graph::new();
/// let states = [(); 4].map(|()| graph.state());
/// states.windows(2).for_each(|pair| graph.transition(pair[0], "on", pair[1]));
/// let mut sources = Sources::default();
/// let file = sources.add("formula", "EF <stop>tt").unwrap();
/// let formula = read_formula(&sources, sources.span(file), &mut graph).0.unwrap();
/// let (mut space, mut standing) = (Space::new(graph), PausedGame::default());
/// let budget = Budget::unlimited();
/// let first = recheck(&mut space, &formula, &mut standing, false, &budget);
/// assert_eq!(first.verdict, Verdict::Fails);
///
/// // The last state gets a transition.
/// standing.revise(&states[3..], &space.leading_to(&states[3..]));
/// space.forget(states[3]);
/// space.lts().transition(states[3], "stop", states[0]);
/// let second = recheck(&mut space, &formula, &mut standing, true, &budget);
/// assert_eq!(second.evidence.unwrap().play.steps.len(), 4);
/// assert_eq!(space.n_expansions(), 5);
/// ```
pub fn recheck<L: Lts>(
    space: &mut Space<L>,
    formula: &Formula,
    standing: &mut PausedGame,
    evidence: bool,
    budget: &Budget,
) -> Outcome {
    // The truth values of such a formula belong to states of another system.
    if let Some(response) = formula.response() {
        return check_bound_response(space, formula, response, budget, evidence);
    }
    let is_new = standing.positions.is_empty();
    let mut game = standing.resume(formula);
    let mut answer = run(&mut game, space, budget, evidence);
    // The bound also counts states that earlier checks have expanded. If they leave too few, start again with
    // a new game. A game that has reached the bound is of no use to a later check and is not stored.
    if game.is_at_bound(space) && matches!(answer.verdict, Verdict::Unknown(_)) {
        if !is_new {
            game = Game::new(formula);
            answer = run(&mut game, space, budget, evidence);
        }
        if game.is_at_bound(space) {
            return answer;
        }
    }
    standing.pause(game);
    answer
}
