//! What earlier checks of a formula found out, for checks to come.
//!
//! The truth of a part of a formula in a state depends on the states that can be reached from there
//! and on nothing else. So when some states have other transitions than before, the game stands but
//! for this:
//!
//! ```text
//! positions in these states          are looked into again
//! positions in states leading there  have their moves, but no value, unless they have no moves: then
//!                                    the state's own transitions and atoms have decided them
//! all others                         are as they were
//! ```
//!
//! Where a check begins does not matter: a position is a position of every check.

use hashbrown::HashTable;
use masque_verdict::{Budget, Verdict};

use crate::check::{Answer, run};
use crate::formula::Formula;
use crate::game::{Game, NONE, Position, Spot, Stage, is_leaf};
use crate::moves::Moves;
use crate::{Lts, Space, StateId};

/// What is known of one formula on a system. The default is nothing.
#[derive(Debug, Default)]
pub struct Standing {
    /// The game as the last check left it.
    positions: Vec<Spot>,
    index: HashTable<Position>,
    moves: Moves,
    seen: Vec<bool>,
    n_states: u64,
    looked_into: Vec<bool>,
    n_looked_into: u64,
    n_expanded: usize,
    /// The states that have changed since.
    changed: Vec<StateId>,
    /// For each state, whether one of these could be reached from it.
    leads: Vec<bool>,
}

impl Standing {
    /// Some states have other transitions than before, and for each state `leads` says whether one
    /// of these could be reached from it, along the transitions as they were ([`Space::leading_to`]).
    pub fn revise(&mut self, changed: &[StateId], leads: &[bool]) {
        if self.positions.is_empty() {
            return;
        }
        self.changed.extend_from_slice(changed);
        self.leads.resize(self.leads.len().max(leads.len()), false);
        self.leads.iter_mut().zip(leads).for_each(|(known, leads)| *known |= leads);
    }

    /// The bytes this takes.
    pub fn bytes(&self) -> u64 {
        let positions = self.positions.capacity() * size_of::<Spot>();
        let index = self.index.capacity() * (size_of::<Position>() + 1);
        (positions + index + self.moves.bytes() + self.seen.capacity() + self.looked_into.capacity()) as u64
    }

    /// The game goes on.
    pub(crate) fn resume<'f>(&mut self, formula: &'f Formula) -> Game<'f> {
        let standing = std::mem::take(self);
        let (changed, leads) = (standing.changed, standing.leads);
        let mut game = Game::new(formula);
        (game.positions, game.index, game.moves) = (standing.positions, standing.index, standing.moves);
        (game.seen, game.n_states) = (standing.seen, standing.n_states);
        (game.looked_into, game.n_looked_into) = (standing.looked_into, standing.n_looked_into);
        game.n_expanded = standing.n_expanded;
        if !changed.is_empty() {
            forget(&mut game, &changed, &leads);
        }
        // Whatever matters is woken when the root is known.
        game.positions.iter_mut().for_each(|spot| spot.is_live = false);
        game
    }

    /// The game is over for now.
    pub(crate) fn pause(&mut self, game: Game<'_>) {
        let Game { positions, index, moves, seen, n_states, .. } = game;
        let (looked_into, n_looked_into, n_expanded) =
            (game.looked_into, game.n_looked_into, game.n_expanded);
        let (changed, leads) = (Vec::new(), Vec::new());
        *self = Standing {
            positions,
            index,
            moves,
            seen,
            n_states,
            looked_into,
            n_looked_into,
            n_expanded,
            changed,
            leads,
        };
    }
}

/// Takes back what no longer stands, and hands on what is decided all the same.
fn forget(game: &mut Game<'_>, changed: &[StateId], leads: &[bool]) {
    let mut is_changed = vec![false; leads.len()];
    changed.iter().for_each(|state| is_changed[state.index()] = true);
    let is = |states: &[bool], state: StateId| states.get(state.index()) == Some(&true);
    let mut open: Vec<Position> = Vec::new();
    let mut moves = Moves::default();
    game.positions.iter_mut().for_each(|spot| spot.back = NONE);
    for position in 0..game.positions.len() as Position {
        let Spot { state, node, list, .. } = *game.at(position);
        let targets = game.moves.targets(list);
        let spot = &mut game.positions[position as usize];
        if is(&is_changed, state) && !is_leaf(game.formula, node) {
            game.n_expanded -= usize::from(spot.is_expanded());
            (spot.value, spot.stage, spot.list, spot.open_or_witness) = (None, Stage::New, NONE, NONE);
            continue;
        }
        if is(leads, state) && spot.is_expanded() && !targets.is_empty() {
            spot.value = None;
            open.push(position);
        }
        let positions = &mut game.positions;
        let back = |to: Position, new: u32| std::mem::replace(&mut positions[to as usize].back, new);
        // There was room for all of these before.
        game.positions[position as usize].list = moves.push(position, targets, back).unwrap_or(NONE);
    }
    game.moves = moves;
    // All counts before the first value: each value then counts once.
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

/// Decides a formula in the initial state, given what stands of it, and adds to that; with evidence,
/// if it is wanted.
///
/// Verdict and evidence are as good as those of [`crate::check`] and [`crate::explain`]. What was
/// looked at is what this check and those before it looked at together.
///
/// ```
/// use masque_mu::{Graph, Space, Standing, read_formula, recheck};
/// use masque_text::Sources;
/// use masque_verdict::{Budget, Verdict};
///
/// let mut graph = Graph::new();
/// let states = [(); 4].map(|()| graph.state());
/// states.windows(2).for_each(|pair| graph.transition(pair[0], "on", pair[1]));
/// let mut sources = Sources::default();
/// let file = sources.add("formula", "EF <stop>tt").unwrap();
/// let formula = read_formula(&sources, sources.span(file), &mut graph).0.unwrap();
/// let (mut space, mut standing) = (Space::new(graph), Standing::default());
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
/// assert_eq!(space.n_asked(), 5);
/// ```
pub fn recheck<L: Lts>(
    space: &mut Space<L>,
    formula: &Formula,
    standing: &mut Standing,
    evidence: bool,
    budget: &Budget,
) -> Answer {
    let is_new = standing.positions.is_empty();
    let mut game = standing.resume(formula);
    let mut answer = run(&mut game, space, budget, evidence);
    // The bound counts what earlier checks have looked into, too. If that leaves too little, what stands
    // is given up; and a game that has met the bound is of no use to a later check.
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
