//! What earlier checks found out about a formula, for checks to come.
//!
//! The truth of a part of a formula in a state depends on the states that can be reached from there
//! and on nothing else. So it stands as long as no transition of any of these has changed, wherever
//! a check begins.

use masque_verdict::Budget;

use crate::check::{Answer, run};
use crate::formula::{Formula, NodeId};
use crate::game::Game;
use crate::{Lts, Space, StateId};

/// The truth of parts of one formula in states, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// For each node and state: 0 not known, 1 false, 2 true.
    values: Vec<Vec<u8>>,
}

impl Known {
    /// Nothing is known yet.
    pub fn new() -> Known {
        Known::default()
    }

    /// The truth of a part of the formula in a state, if it is known.
    pub fn value(&self, state: StateId, node: NodeId) -> Option<bool> {
        match self.values.get(node.index())?.get(state.index())? {
            0 => None,
            value => Some(*value == 2),
        }
    }

    /// Forgets what is known of some states.
    pub fn forget(&mut self, is_gone: &[bool]) {
        for values in &mut self.values {
            let gone = values.iter_mut().zip(is_gone).filter(|(_, is_gone)| **is_gone);
            gone.for_each(|(value, _)| *value = 0);
        }
    }

    /// The bytes this takes.
    pub fn bytes(&self) -> u64 {
        self.values.iter().map(|values| values.capacity() as u64).sum()
    }

    /// Enters all that a game has decided.
    pub(crate) fn learn(&mut self, game: &Game<'_>) {
        for spot in &game.positions {
            let Some(value) = spot.value else { continue };
            if self.values.len() <= spot.node.index() {
                self.values.resize(spot.node.index() + 1, Vec::new());
            }
            let values = &mut self.values[spot.node.index()];
            if values.len() <= spot.state.index() {
                values.resize(spot.state.index() + 1, 0);
            }
            values[spot.state.index()] = 1 + u8::from(value);
        }
    }
}

/// Decides a formula in the initial state, given what is known of it, and adds to that.
///
/// The verdict is that of [`crate::check`]; what was looked at is what this check had to look at.
///
/// ```
/// use masque_mu::{Graph, Known, Space, StateId, read_formula, recheck};
/// use masque_text::Sources;
/// use masque_verdict::{Budget, Verdict};
///
/// let mut graph = Graph::new();
/// let states = [(); 4].map(|()| graph.state());
/// states.windows(2).for_each(|pair| graph.transition(pair[0], "on", pair[1]));
/// let mut sources = Sources::default();
/// let file = sources.add("formula", "EF <stop>tt").unwrap();
/// let formula = read_formula(&sources, sources.span(file), &mut graph).0.unwrap();
/// let (mut space, mut known) = (Space::new(&mut graph), Known::new());
/// let budget = Budget::unlimited();
/// let first = recheck(&mut space, &formula, &mut known, &budget);
/// assert_eq!((first.verdict, first.states), (Verdict::Fails, 4));
/// assert_eq!(known.value(states[2], formula.root()), Some(false));
/// assert_eq!(recheck(&mut space, &formula, &mut known, &budget).states, 1);
/// ```
pub fn recheck<L: Lts>(
    space: &mut Space<L>,
    formula: &Formula,
    known: &mut Known,
    budget: &Budget,
) -> Answer {
    run(space, formula, budget, false, Some(known))
}

/// Decides a formula and shows why, as [`crate::explain`] does, and adds to what is known. What is
/// known already does not help here: a strategy needs all of its moves.
pub fn reexplain<L: Lts>(
    space: &mut Space<L>,
    formula: &Formula,
    known: &mut Known,
    budget: &Budget,
) -> Answer {
    run(space, formula, budget, true, Some(known))
}
