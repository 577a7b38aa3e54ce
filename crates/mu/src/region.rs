//! Where the winner of a game wins, and how she must play there.
//!
//! Everything the winner wins is her *region*. Where a level of the formula is in her favour, she may
//! go anywhere in the region: staying for ever wins. Where it is not, she must get on, and *ranks*
//! say how: the number of steps to where she has won, or may stay. On a mixed level she follows the
//! strategy that the parity game gave her.
//!
//! The region has a place for everything that evidence speaks of, also for what the game passes over.

use std::collections::VecDeque;

use masque_verdict::{Budget, Stop};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::formula::{Formula, Node, NodeId};
use crate::game::{Game, NONE, Position, is_leaf, leaf, verifier_moves};
use crate::levels::Level;
use crate::near::Part;
use crate::pulse::Pulse;
use crate::tree::Sign;
use crate::{Lts, Space, StateId};

/// Where the winner wins, and how. A copy of that part of the game, with the leaves.
pub(crate) struct Region<'f> {
    formula: &'f Formula,
    holds: bool,
    /// The root first.
    spots: Vec<Spot>,
    pub(crate) rank: Vec<u32>,
    /// When a rank was found; moves of equal rank go to places ranked before.
    pub(crate) order: Vec<u32>,
    /// Whether the place is decided in the state itself.
    pub(crate) is_flat: Vec<bool>,
}

/// A position that the winner wins.
pub(crate) struct Spot {
    pub(crate) state: StateId,
    pub(crate) node: NodeId,
    /// The moves inside the region, by place.
    pub(crate) moves: Vec<u32>,
    /// The winner's move by which the position was decided, by place.
    witness: Option<u32>,
}

/// How the winner must play at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freedom {
    /// She may go anywhere in the region.
    Free,
    /// She must come nearer.
    Ranked,
    /// She follows the strategy of the parity game.
    Fixed,
}

/// Copies the region out of a game.
struct Copier<'g, 'f, 's, L> {
    game: &'g Game<'f>,
    space: &'s mut Space<L>,
    holds: bool,
    spots: Vec<Spot>,
    /// What each place is a copy of; [`NONE`] for what the game does not store.
    positions: Vec<Position>,
    place_of: Vec<u32>,
    /// The places of leaves and of modalities that were passed over.
    others: FxHashMap<(StateId, NodeId), u32>,
}

impl<L: Lts> Copier<'_, '_, '_, L> {
    fn place(&mut self, position: Position) -> u32 {
        if self.place_of[position as usize] == NONE {
            self.place_of[position as usize] = self.spots.len() as u32;
            let spot = self.game.at(position);
            self.push(spot.state, spot.node, position);
        }
        self.place_of[position as usize]
    }

    /// The place of what the game does not store.
    fn other(&mut self, state: StateId, node: NodeId) -> u32 {
        let next = self.spots.len() as u32;
        let place = *self.others.entry((state, node)).or_insert(next);
        if place == next {
            self.push(state, node, NONE);
        }
        place
    }

    fn push(&mut self, state: StateId, node: NodeId, position: Position) {
        self.spots.push(Spot { state, node, moves: Vec::new(), witness: None });
        self.positions.push(position);
    }

    /// Finds the moves of a place, with those that the game does not store.
    fn connect(&mut self, i: usize) {
        let (game, position) = (self.game, self.positions[i]);
        let Spot { state, node, .. } = self.spots[i];
        let witness = if position == NONE { NONE } else { game.at(position).witness() };
        let mut moves: Vec<u32> = Vec::new();
        match game.formula.node(node) {
            Node::Constant(_) | Node::Atom(..) => {}
            Node::Variable(equation) => {
                moves.extend(self.target(state, game.formula.equation(*equation).body));
                self.spots[i].witness = moves.first().copied();
            }
            Node::And(operands) | Node::Or(operands) => {
                // What decided it without a move is among the parts that the game does not store.
                for &operand in operands {
                    let part = game.near.part(game.formula, node, operand);
                    let place = match part {
                        Part::Leaf | Part::Apart => self.target(state, operand),
                        Part::Glance | Part::Steps(..) => {
                            let is_won = self.is_won(state, operand);
                            is_won.then(|| self.other(state, operand))
                        }
                    };
                    let is_decisive = match part {
                        Part::Leaf | Part::Glance => witness == NONE,
                        Part::Apart => game.find(state, operand) == Some(witness),
                        Part::Steps(..) => witness != NONE && self.leads_to(state, operand, witness),
                    };
                    if self.spots[i].witness.is_none() && is_decisive {
                        self.spots[i].witness = place;
                    }
                    moves.extend(place);
                }
            }
            Node::Modal(..) => {
                for (to, inner) in self.steps(state, node) {
                    moves.extend(self.target(to, inner));
                }
                // What was passed over is on no mixed level: there all moves in the region are good.
                self.spots[i].witness = match (position, witness) {
                    (NONE, _) => moves.first().copied(),
                    (_, NONE) => None,
                    (_, witness) => Some(self.place(witness)),
                };
            }
        }
        let mut seen = FxHashSet::default();
        moves.retain(|&place| seen.insert(place));
        self.spots[i].moves = moves;
    }

    /// The place of a position or leaf that the winner wins.
    fn target(&mut self, state: StateId, node: NodeId) -> Option<u32> {
        if is_leaf(self.game.formula, node) {
            let is_won = leaf(self.game.formula, self.space, state, node) == Some(self.holds);
            return is_won.then(|| self.other(state, node));
        }
        let position = self.game.find(state, node)?;
        (self.game.value(position) == Some(self.holds)).then(|| self.place(position))
    }

    /// The steps of a modality.
    fn steps(&mut self, state: StateId, modal: NodeId) -> Vec<(StateId, NodeId)> {
        let Node::Modal(_, action, inner) = self.game.formula.node(modal) else { return Vec::new() };
        let n = self.space.transitions(state).len();
        let mut steps = Vec::new();
        for i in 0..n {
            let (label, to) = self.space.transitions(state)[i];
            if self.space.is_in(self.game.formula, *action, label) {
                steps.push((to, *inner));
            }
        }
        steps
    }

    /// Whether a modality that was passed over has a step to a position.
    fn leads_to(&mut self, state: StateId, modal: NodeId, position: Position) -> bool {
        let spot = self.game.at(position);
        self.steps(state, modal).contains(&(spot.state, spot.node))
    }

    /// Whether the winner wins a modality that was passed over, as far as the game was explored.
    fn is_won(&mut self, state: StateId, modal: NodeId) -> bool {
        let (game, holds) = (self.game, self.holds);
        if !self.space.is_expanded(state) {
            return false;
        }
        let steps = self.steps(state, modal);
        let mut won = steps.into_iter().map(|(to, inner)| match is_leaf(game.formula, inner) {
            true => leaf(game.formula, self.space, to, inner) == Some(holds),
            false => game.find(to, inner).is_some_and(|position| game.value(position) == Some(holds)),
        });
        match verifier_moves(game.formula, modal) == holds {
            true => won.any(|won| won),
            false => won.all(|won| won) && self.space.cut(state).is_none(),
        }
    }
}

impl<'f> Region<'f> {
    pub(crate) fn new<L: Lts>(
        game: &Game<'f>,
        space: &mut Space<L>,
        root: Position,
        holds: bool,
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let place_of = vec![NONE; game.positions.len()];
        let (spots, positions, others) = (Vec::new(), Vec::new(), FxHashMap::default());
        let mut copier = Copier { game, space, holds, spots, positions, place_of, others };
        copier.place(root);
        let mut done = 0;
        let mut pulse = Pulse::new(budget);
        while done < copier.spots.len() {
            pulse.beat()?;
            copier.connect(done);
            done += 1;
        }
        let spots = copier.spots;
        let n = spots.len();
        let (rank, order, is_flat) = (vec![NONE; n], vec![NONE; n], vec![false; n]);
        let mut region = Region { formula: game.formula, holds, spots, rank, order, is_flat };
        region.rank(&mut pulse)?;
        Ok(region)
    }

    pub(crate) fn spot(&self, i: usize) -> &Spot {
        &self.spots[i]
    }

    pub(crate) fn len(&self) -> usize {
        self.spots.len()
    }

    pub(crate) fn freedom(&self, i: usize) -> Freedom {
        match self.formula.levels()[self.formula.level_of(self.spots[i].node) as usize] {
            Level::Mixed => Freedom::Fixed,
            Level::Uniform(sign) if (sign == Sign::Nu) == self.holds => Freedom::Free,
            Level::Uniform(_) | Level::Acyclic => Freedom::Ranked,
        }
    }

    pub(crate) fn is_modal(&self, i: usize) -> bool {
        matches!(self.formula.node(self.spots[i].node), Node::Modal(..))
    }

    /// Whether the winner moves at a place.
    pub(crate) fn winner_moves(&self, i: usize) -> bool {
        verifier_moves(self.formula, self.spots[i].node) == self.holds
    }

    pub(crate) fn moves(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.spots[i].moves.iter().map(|&place| place as usize)
    }

    /// Ranks by increasing number of steps. Where the winner moves, one ranked move is enough; where
    /// the loser does, all are needed, and the last one counts. [Knuth77]
    fn rank(&mut self, pulse: &mut Pulse<'_>) -> Result<(), Stop> {
        let n = self.spots.len();
        let mut back = vec![Vec::new(); n];
        let mut open: Vec<u32> = (0..n).map(|i| self.moves(i).count() as u32).collect();
        let mut queue = VecDeque::new();
        for (i, &n_moves) in open.iter().enumerate() {
            // At the ends, and wherever the winner need not hurry, there is nothing left to do.
            if n_moves == 0 || self.freedom(i) != Freedom::Ranked {
                queue.push_back((i, 0));
            } else {
                self.moves(i).for_each(|target| back[target].push(i));
            }
        }
        let mut n_ranked = 0;
        while let Some((i, rank)) = queue.pop_front() {
            pulse.beat()?;
            if self.rank[i] != NONE {
                continue;
            }
            (self.rank[i], self.order[i]) = (rank, n_ranked);
            n_ranked += 1;
            self.is_flat[i] = self.flat(i);
            for &from in &back[i] {
                open[from] -= 1;
                if self.rank[from] == NONE && (self.winner_moves(from) || open[from] == 0) {
                    match self.is_modal(from) {
                        true => queue.push_back((from, rank + 1)),
                        false => queue.push_front((from, rank)),
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a position that is being ranked is decided without a step.
    fn flat(&self, i: usize) -> bool {
        let mut moves = self.moves(i).peekable();
        if moves.peek().is_none() {
            return true;
        }
        if self.is_modal(i) || self.freedom(i) != Freedom::Ranked {
            return false;
        }
        match self.winner_moves(i) {
            true => self.nearest(i).is_some_and(|next| self.is_flat[next]),
            false => moves.all(|next| self.is_flat[next]),
        }
    }

    /// The move that was ranked first.
    fn nearest(&self, i: usize) -> Option<usize> {
        self.moves(i).min_by_key(|&next| self.order[next])
    }

    /// The winner's move at a place.
    pub(crate) fn choice(&self, i: usize) -> Option<usize> {
        match self.freedom(i) {
            Freedom::Ranked => self.nearest(i),
            Freedom::Free | Freedom::Fixed => self.decisive(i),
        }
    }

    /// The move that decided a place, or a leaf that did.
    pub(crate) fn decisive(&self, i: usize) -> Option<usize> {
        let leaf = || self.moves(i).find(|&next| is_leaf(self.formula, self.spots[next].node));
        self.spots[i].witness.map(|place| place as usize).or_else(leaf)
    }
}
