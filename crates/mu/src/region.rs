//! The winning region of the winner of a game, and how the winner plays there.
//!
//! The *region* is the set of positions from which the winner wins. On a level whose sign favours the
//! winner, every move within the region is good, because staying forever wins. On other levels the winner
//! must make progress, measured by *ranks*: the number of steps to a position that is won or where the
//! winner may stay. On a mixed level the winner follows the strategy from the parity game.
//!
//! The region contains everything that evidence mentions, including operands that the game inlines.

use std::collections::VecDeque;

use masque_verdict::{Budget, Stop};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::formula::{Formula, FormulaNode, FormulaNodeId};
use crate::game::{Game, NONE, Position, is_leaf, leaf, verifier_moves};
use crate::inlining::OperandRole;
use crate::levels::Level;
use crate::ticker::Ticker;
use crate::tree::Sign;
use crate::{Lts, Space, StateId};

/// The winning region: a copy of that part of the game, with leaves and inlined operands.
pub(crate) struct Region<'f> {
    formula: &'f Formula,
    holds: bool,
    /// Positions; the root is the first.
    positions: Vec<RegionPosition>,
    /// Number of steps to a position that is won or where the winner may stay.
    pub(crate) rank: Vec<u32>,
    /// Order in which ranks were found; a move between equal ranks must go to a smaller number.
    pub(crate) order: Vec<u32>,
    /// Whether a position is decided without a step.
    pub(crate) is_flat: Vec<bool>,
}

/// A position that the winner wins.
pub(crate) struct RegionPosition {
    pub(crate) state: StateId,
    pub(crate) node: FormulaNodeId,
    /// Moves within the region, by index.
    pub(crate) moves: Vec<u32>,
    /// Move of the winner that decided the position, by index.
    witness: Option<u32>,
}

/// Constraint on the moves of the winner at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freedom {
    /// Every move within the region is good.
    Free,
    /// The rank must decrease.
    Ranked,
    /// The winner follows the strategy of the parity game.
    Fixed,
}

/// Copies the region out of a game.
struct Copier<'g, 'f, 's, L> {
    game: &'g Game<'f>,
    space: &'s mut Space<L>,
    holds: bool,
    positions: Vec<RegionPosition>,
    /// Position in the game of each position of the region; [`NONE`] if the game does not store it.
    game_positions: Vec<Position>,
    /// Index in the region of each position of the game, or [`NONE`].
    index_of: Vec<u32>,
    /// Indices of leaves and of inlined modalities.
    others: FxHashMap<(StateId, FormulaNodeId), u32>,
}

impl<L: Lts> Copier<'_, '_, '_, L> {
    /// Returns the index of a position of the game, which is added if it is new.
    fn add(&mut self, position: Position) -> u32 {
        if self.index_of[position as usize] == NONE {
            self.index_of[position as usize] = self.positions.len() as u32;
            let entry = self.game.at(position);
            self.push(entry.state, entry.node, position);
        }
        self.index_of[position as usize]
    }

    /// Returns the index of a position that the game does not store, which is added if it is new.
    fn add_unstored(&mut self, state: StateId, node: FormulaNodeId) -> u32 {
        let next = self.positions.len() as u32;
        let index = *self.others.entry((state, node)).or_insert(next);
        if index == next {
            self.push(state, node, NONE);
        }
        index
    }

    fn push(&mut self, state: StateId, node: FormulaNodeId, position: Position) {
        self.positions.push(RegionPosition { state, node, moves: Vec::new(), witness: None });
        self.game_positions.push(position);
    }

    /// Finds the moves of a position, including those that the game does not store.
    fn connect(&mut self, i: usize) {
        let (game, position) = (self.game, self.game_positions[i]);
        let RegionPosition { state, node, .. } = self.positions[i];
        let witness = if position == NONE { NONE } else { game.at(position).witness() };
        let mut moves: Vec<u32> = Vec::new();
        match game.formula.node(node) {
            FormulaNode::Constant(_) | FormulaNode::Atom(..) => {}
            FormulaNode::Variable(equation) => {
                moves.extend(self.target(state, game.formula.equation(*equation).body));
                self.positions[i].witness = moves.first().copied();
            }
            FormulaNode::And(operands) | FormulaNode::Or(operands) => {
                // If no stored move decided the position, an operand that the game does not store did.
                for &operand in operands {
                    let role = game.inlining.role(game.formula, node, operand);
                    let index = match role {
                        OperandRole::Leaf | OperandRole::Stored => self.target(state, operand),
                        OperandRole::ModalLeaf | OperandRole::Steps(..) => {
                            let is_won = self.is_won(state, operand);
                            is_won.then(|| self.add_unstored(state, operand))
                        }
                    };
                    let is_decisive = match role {
                        OperandRole::Leaf | OperandRole::ModalLeaf => witness == NONE,
                        OperandRole::Stored => game.find(state, operand) == Some(witness),
                        OperandRole::Steps(..) => witness != NONE && self.leads_to(state, operand, witness),
                    };
                    if self.positions[i].witness.is_none() && is_decisive {
                        self.positions[i].witness = index;
                    }
                    moves.extend(index);
                }
            }
            FormulaNode::Modal(..) => {
                for (to, inner) in self.steps(state, node) {
                    moves.extend(self.target(to, inner));
                }
                // An inlined modality is not on a mixed level, so every move within the region is good.
                self.positions[i].witness = match (position, witness) {
                    (NONE, _) => moves.first().copied(),
                    (_, NONE) => None,
                    (_, witness) => Some(self.add(witness)),
                };
            }
        }
        let mut seen = FxHashSet::default();
        moves.retain(|&index| seen.insert(index));
        self.positions[i].moves = moves;
    }

    /// Returns the index of a position or leaf, if the winner wins it.
    fn target(&mut self, state: StateId, node: FormulaNodeId) -> Option<u32> {
        if is_leaf(self.game.formula, node) {
            let is_won = leaf(self.game.formula, self.space, state, node) == Some(self.holds);
            return is_won.then(|| self.add_unstored(state, node));
        }
        let position = self.game.find(state, node)?;
        (self.game.value(position) == Some(self.holds)).then(|| self.add(position))
    }

    /// Returns the targets of the steps of a modality.
    fn steps(&mut self, state: StateId, modal: FormulaNodeId) -> Vec<(StateId, FormulaNodeId)> {
        let FormulaNode::Modal(_, action, inner) = self.game.formula.node(modal) else { return Vec::new() };
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

    /// Whether an inlined modality has a step to a position.
    fn leads_to(&mut self, state: StateId, modal: FormulaNodeId, position: Position) -> bool {
        let entry = self.game.at(position);
        self.steps(state, modal).contains(&(entry.state, entry.node))
    }

    /// Whether the winner wins an inlined modality, as far as the game was explored.
    fn is_won(&mut self, state: StateId, modal: FormulaNodeId) -> bool {
        let (game, holds) = (self.game, self.holds);
        if !self.space.is_expanded(state) {
            return false;
        }
        let steps = self.steps(state, modal);
        let mut won = steps.into_iter().map(|(to, inner)| {
            if is_leaf(game.formula, inner) {
                leaf(game.formula, self.space, to, inner) == Some(holds)
            } else {
                game.find(to, inner).is_some_and(|position| game.value(position) == Some(holds))
            }
        });
        if verifier_moves(game.formula, modal) == holds {
            won.any(|won| won)
        } else {
            won.all(|won| won) && self.space.cut(state).is_none()
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
        let index_of = vec![NONE; game.positions.len()];
        let (positions, game_positions, others) = (Vec::new(), Vec::new(), FxHashMap::default());
        let mut copier = Copier { game, space, holds, positions, game_positions, index_of, others };
        copier.add(root);
        let mut done = 0;
        let mut ticker = Ticker::new(budget);
        while done < copier.positions.len() {
            ticker.tick()?;
            copier.connect(done);
            done += 1;
        }
        let positions = copier.positions;
        let n = positions.len();
        let (rank, order, is_flat) = (vec![NONE; n], vec![NONE; n], vec![false; n]);
        let mut region = Region { formula: game.formula, holds, positions, rank, order, is_flat };
        region.rank(&mut ticker)?;
        Ok(region)
    }

    pub(crate) fn position(&self, i: usize) -> &RegionPosition {
        &self.positions[i]
    }

    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(crate) fn freedom(&self, i: usize) -> Freedom {
        match self.formula.levels()[self.formula.level_of(self.positions[i].node) as usize] {
            Level::Mixed => Freedom::Fixed,
            Level::Uniform(sign) if (sign == Sign::Nu) == self.holds => Freedom::Free,
            Level::Uniform(_) | Level::Acyclic => Freedom::Ranked,
        }
    }

    pub(crate) fn is_modal(&self, i: usize) -> bool {
        matches!(self.formula.node(self.positions[i].node), FormulaNode::Modal(..))
    }

    /// Whether the winner moves at a position.
    pub(crate) fn winner_moves(&self, i: usize) -> bool {
        verifier_moves(self.formula, self.positions[i].node) == self.holds
    }

    pub(crate) fn moves(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.positions[i].moves.iter().map(|&index| index as usize)
    }

    /// Computes ranks by increasing number of steps. A position of the winner needs one ranked move; a
    /// position of the loser needs all moves ranked, and the last one counts. [Knuth77]
    fn rank(&mut self, ticker: &mut Ticker<'_>) -> Result<(), Stop> {
        let n = self.positions.len();
        let mut back = vec![Vec::new(); n];
        let mut open: Vec<u32> = (0..n).map(|i| self.moves(i).count() as u32).collect();
        let mut queue = VecDeque::new();
        for (i, &n_moves) in open.iter().enumerate() {
            // Ends, and positions where the winner need not make progress, have rank 0.
            if n_moves == 0 || self.freedom(i) != Freedom::Ranked {
                queue.push_back((i, 0));
            } else {
                self.moves(i).for_each(|target| back[target].push(i));
            }
        }
        let mut n_ranked = 0;
        while let Some((i, rank)) = queue.pop_front() {
            ticker.tick()?;
            if self.rank[i] != NONE {
                continue;
            }
            (self.rank[i], self.order[i]) = (rank, n_ranked);
            n_ranked += 1;
            self.is_flat[i] = self.flat(i);
            for &from in &back[i] {
                open[from] -= 1;
                if self.rank[from] == NONE && (self.winner_moves(from) || open[from] == 0) {
                    if self.is_modal(from) {
                        queue.push_back((from, rank + 1));
                    } else {
                        queue.push_front((from, rank));
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
        if self.winner_moves(i) {
            self.nearest(i).is_some_and(|next| self.is_flat[next])
        } else {
            moves.all(|next| self.is_flat[next])
        }
    }

    /// Returns the move whose target was ranked first.
    fn nearest(&self, i: usize) -> Option<usize> {
        self.moves(i).min_by_key(|&next| self.order[next])
    }

    /// Returns the move of the winner at a position.
    pub(crate) fn choice(&self, i: usize) -> Option<usize> {
        match self.freedom(i) {
            Freedom::Ranked => self.nearest(i),
            Freedom::Free | Freedom::Fixed => self.decisive(i),
        }
    }

    /// Returns the move that decided a position, or a leaf that did.
    pub(crate) fn decisive(&self, i: usize) -> Option<usize> {
        let leaf = || self.moves(i).find(|&next| is_leaf(self.formula, self.positions[next].node));
        self.positions[i].witness.map(|index| index as usize).or_else(leaf)
    }
}
