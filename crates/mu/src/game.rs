//! A formula on a transition system as a game, built on demand. [EJ91, Stirling95]
//!
//! The paper computes a greatest fixpoint as the negation of a least one [ORW06 §6.2, Fig. 12], which excludes
//! formulas with alternation. A game treats both alike.
//!
//! A position is a pair of a state and a node of the formula. At a disjunction or a diamond the *verifier*
//! moves, at a conjunction or a box the *refuter*; at a variable there is one move, to the body of its
//! equation. A player who cannot move has lost; atoms and constants are won or lost at once. A position is
//! true if the verifier wins from it. This is the boolean equation system of the formula [Mader97], in
//! which a position is the disjunction or conjunction of its moves, as a game.
//!
//! Values are propagated from a position to its predecessors as soon as they are known, along lists of
//! dependencies: each move is visited once when it is made and once when its value is known [LS98,
//! Andersen94].

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Stop, Why};
use rustc_hash::FxBuildHasher;

use crate::dedup::remove_duplicates;
use crate::formula::{ActionId, Formula, FormulaNode, FormulaNodeId};
use crate::inlining::{Inlining, OperandRole, modal_leaf_truth};
use crate::moves::{List, Moves};
use crate::tree::Modality;
use crate::{Lts, Space, StateId};

/// A position of the game: an index into [`Game::positions`].
pub(crate) type Position = u32;

/// The index that stands for no position and no move.
pub(crate) const NONE: u32 = u32::MAX;

/// State of expansion of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its moves are not known yet.
    New,
    /// All its moves are known.
    Whole,
    /// It has moves beyond a bound, which are not known.
    Cut,
}

/// State, node, value and moves of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PositionEntry {
    pub(crate) state: StateId,
    pub(crate) node: FormulaNodeId,
    /// Truth value, if it is known.
    pub(crate) value: Option<bool>,
    /// Whether the verifier moves here.
    pub(crate) is_any: bool,
    pub(crate) stage: Stage,
    /// Whether the root may still depend on it.
    pub(crate) is_live: bool,
    /// List of its moves, in [`Game::moves`].
    pub(crate) list: List,
    /// Before the position is decided, the number of moves that are not decided against the player who moves;
    /// afterwards the move that decided it.
    pub(crate) open_or_witness: u32,
    /// Index of the last move that leads here.
    pub(crate) back: u32,
}

impl PositionEntry {
    pub(crate) fn is_expanded(&self) -> bool {
        self.stage != Stage::New
    }

    /// Whether it has moves beyond a bound.
    pub(crate) fn is_cut(&self) -> bool {
        self.stage == Stage::Cut
    }

    /// Returns the number of moves of an undecided position that are not decided against the player who moves.
    pub(crate) fn open(&self) -> u32 {
        debug_assert!(self.value.is_none());
        self.open_or_witness
    }

    /// Returns the move that decided a position in favour of the player who moves; [`NONE`] if a leaf did.
    pub(crate) fn witness(&self) -> Position {
        debug_assert!(self.value.is_some());
        self.open_or_witness
    }
}

/// The explored part of the game.
#[derive(Debug)]
pub(crate) struct Game<'f> {
    pub(crate) formula: &'f Formula,
    pub(crate) inlining: Inlining,
    pub(crate) positions: Vec<PositionEntry>,
    pub(crate) index: HashTable<Position>,
    pub(crate) moves: Moves,
    /// Moves of the position that is being expanded.
    entered: Vec<Position>,
    /// Positions to expand, in breadth-first order.
    pub(crate) queue: VecDeque<Position>,
    /// Positions to expand whose moves are known without expanding another state.
    local: Vec<Position>,
    /// Decided positions whose value was not propagated yet.
    decided: Vec<Position>,
    /// States that have a position or were visited, and their number.
    pub(crate) is_counted: Vec<bool>,
    pub(crate) n_states: u64,
    /// States that this game has expanded, and their number.
    pub(crate) is_state_expanded: Vec<bool>,
    pub(crate) n_expanded_states: u64,
    /// Number of expanded positions.
    pub(crate) n_expanded: usize,
}

impl<'f> Game<'f> {
    pub(crate) fn new(formula: &'f Formula) -> Self {
        Game {
            formula,
            inlining: Inlining::new(formula),
            positions: Vec::new(),
            index: HashTable::new(),
            moves: Moves::new(),
            entered: Vec::new(),
            queue: VecDeque::new(),
            local: Vec::new(),
            decided: Vec::new(),
            is_counted: Vec::new(),
            n_states: 0,
            is_state_expanded: Vec::new(),
            n_expanded_states: 0,
            n_expanded: 0,
        }
    }

    pub(crate) fn at(&self, position: Position) -> &PositionEntry {
        &self.positions[position as usize]
    }

    pub(crate) fn value(&self, position: Position) -> Option<bool> {
        self.at(position).value
    }

    /// Returns the moves of an expanded position, without duplicates.
    pub(crate) fn moves(&self, position: Position) -> &[Position] {
        self.moves.targets(self.at(position).list)
    }

    /// Returns the positions that move to `position`.
    pub(crate) fn predecessors(&self, position: Position) -> impl Iterator<Item = Position> + '_ {
        let mut next = self.at(position).back;
        std::iter::from_fn(move || {
            let (from, following) = self.moves.back(next)?;
            next = following;
            Some(from)
        })
    }

    /// Returns the position of a state and a node, if there is one.
    pub(crate) fn find(&self, state: StateId, node: FormulaNodeId) -> Option<Position> {
        let is_wanted = |p: &Position| (self.at(*p).state, self.at(*p).node) == (state, node);
        self.index.find(hash(state, node), is_wanted).copied()
    }

    /// Returns the position of the whole formula in a state.
    pub(crate) fn root<L: Lts>(&mut self, space: &mut Space<L>, state: StateId) -> Result<Position, Stop> {
        self.position(space, state, self.formula.root(), false)
    }

    /// Returns the position of a state and a node, which is added if it is new. `is_here`: the state is
    /// expanded.
    fn position<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        state: StateId,
        node: FormulaNodeId,
        is_here: bool,
    ) -> Result<Position, Stop> {
        let positions = &self.positions;
        let key = |p: &Position| (positions[*p as usize].state, positions[*p as usize].node);
        let found = self.index.entry(
            hash(state, node),
            |p| key(p) == (state, node),
            |p| {
                let (state, node) = key(p);
                hash(state, node)
            },
        );
        let vacant = match found {
            Entry::Occupied(entry) => return Ok(*entry.get()),
            Entry::Vacant(entry) => entry,
        };
        let position = u32::try_from(positions.len()).ok().filter(|&p| p != NONE);
        let position = position.ok_or(Stop::from(Why::Memory))?;
        vacant.insert(position);
        let value = leaf(self.formula, space, state, node);
        self.positions.push(PositionEntry {
            state,
            node,
            value,
            is_any: verifier_moves(self.formula, node),
            stage: Stage::New,
            is_live: true,
            list: NONE,
            open_or_witness: NONE,
            back: NONE,
        });
        if value.is_none() {
            let is_local = is_here || !self.inlining.needs_step(node);
            if is_local { self.local.push(position) } else { self.queue.push_back(position) }
        }
        self.count_state(state);
        Ok(position)
    }

    /// Counts a state, unless it is counted already.
    fn count_state(&mut self, state: StateId) {
        if self.is_counted.len() <= state.index() {
            self.is_counted.resize(state.index() + 1, false);
        }
        self.n_states += u64::from(!std::mem::replace(&mut self.is_counted[state.index()], true));
    }

    /// Expands a state if the bound `states` allows it; returns whether its transitions may be used.
    ///
    /// States that other games have expanded do not count, so earlier checks do not change a verdict.
    fn expand_state<L: Lts>(&mut self, space: &mut Space<L>, state: StateId) -> Result<bool, Stop> {
        if !self.has_expanded(state) {
            if self.is_at_bound(space) {
                return Ok(false);
            }
            if self.is_state_expanded.len() <= state.index() {
                self.is_state_expanded.resize(state.index() + 1, false);
            }
            self.is_state_expanded[state.index()] = true;
            self.n_expanded_states += 1;
        }
        space.expand(state)?;
        Ok(true)
    }

    fn has_expanded(&self, state: StateId) -> bool {
        self.is_state_expanded.get(state.index()) == Some(&true)
    }

    /// Whether as many states are expanded as the bound `states` allows.
    pub(crate) fn is_at_bound<L: Lts>(&self, space: &Space<L>) -> bool {
        self.n_expanded_states >= space.system().max_states()
    }

    /// Returns the bound that cuts off transitions of a state, if there is one.
    pub(crate) fn cut<L: Lts>(&self, space: &Space<L>, state: StateId) -> Option<&'static str> {
        if self.has_expanded(state) { space.cut(state) } else { Some("states") }
    }

    /// Returns the next position to expand: first those in expanded states, then the nearest.
    ///
    /// A position without an undecided predecessor is skipped; [`Game::mark_live`] queues it again.
    pub(crate) fn next(&mut self, root: Position) -> Option<Position> {
        loop {
            let position = self.local.pop().or_else(|| self.queue.pop_front())?;
            let entry = self.at(position);
            if entry.value.is_some() || entry.is_expanded() || !entry.is_live {
                continue;
            }
            if position == root || self.predecessors(position).any(|p| self.value(p).is_none()) {
                return Some(position);
            }
            self.positions[position as usize].is_live = false;
        }
    }

    /// Finds the moves of a position, and propagates the values that they decide.
    ///
    /// Moves to atoms and constants are not stored: a leaf in favour of the player who moves decides the
    /// position, and other leaves do not matter. Operands that [`Inlining`] inlines are not stored either.
    pub(crate) fn expand<L: Lts>(&mut self, space: &mut Space<L>, position: Position) -> Result<(), Stop> {
        let PositionEntry { state, node, .. } = *self.at(position);
        let formula = self.formula;
        self.entered.clear();
        let mut is_cut = false;
        let by_leaf = match formula.node(node) {
            FormulaNode::Constant(_) | FormulaNode::Atom(..) => return Ok(()),
            FormulaNode::Variable(equation) => {
                let body = formula.equation(*equation).body;
                self.enter(space, position, state, body)?
            }
            FormulaNode::And(operands) | FormulaNode::Or(operands) => {
                self.enter_operands(space, position, operands, &mut is_cut)?
            }
            FormulaNode::Modal(_, action, inner) => {
                self.enter_steps(space, position, *action, *inner, &mut is_cut)?
            }
        };
        self.link(position, is_cut, by_leaf)
    }

    /// Enters the operands, first those that may decide the position at once. Returns whether one did.
    fn enter_operands<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        position: Position,
        operands: &[FormulaNodeId],
        is_cut: &mut bool,
    ) -> Result<bool, Stop> {
        let PositionEntry { state, node, is_any, .. } = *self.at(position);
        let formula = self.formula;
        if operands.iter().any(|&operand| leaf(formula, space, state, operand) == Some(is_any)) {
            return Ok(true);
        }
        let is_seen = !self.inlining.needs_step(node) || self.expand_state(space, state)?;
        *is_cut |= !is_seen;
        for &operand in operands {
            if !is_seen || self.inlining.role(formula, node, operand) != OperandRole::ModalLeaf {
                continue;
            }
            match modal_leaf_truth(formula, space, state, operand, &mut |to| self.count_state(to)) {
                Some(value) if value == is_any => return Ok(true),
                Some(_) => {}
                None => *is_cut = true,
            }
        }
        for &operand in operands {
            match self.inlining.role(formula, node, operand) {
                OperandRole::Leaf | OperandRole::ModalLeaf => {}
                OperandRole::Steps(action, inner) => {
                    // The targets are not leaves: modalities on leaves are evaluated above.
                    self.enter_steps(space, position, action, inner, is_cut)?;
                }
                OperandRole::Stored => {
                    self.enter(space, position, state, operand)?;
                }
            }
        }
        Ok(false)
    }

    /// Enters the transitions with a label in a set. Returns whether one leads to a leaf that decides.
    fn enter_steps<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        position: Position,
        action: ActionId,
        inner: FormulaNodeId,
        is_cut: &mut bool,
    ) -> Result<bool, Stop> {
        let state = self.at(position).state;
        if !self.expand_state(space, state)? {
            *is_cut = true;
            return Ok(false);
        }
        for i in 0..space.transitions(state).len() {
            let (label, to) = space.transitions(state)[i];
            if space.is_in(self.formula, action, label) && self.enter(space, position, to, inner)? {
                return Ok(true);
            }
        }
        *is_cut |= space.cut(state).is_some();
        Ok(false)
    }

    /// Enters a move. Returns whether it leads to a leaf that decides the position.
    fn enter<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        from: Position,
        state: StateId,
        node: FormulaNodeId,
    ) -> Result<bool, Stop> {
        let PositionEntry { state: here, node: own, is_any, .. } = *self.at(from);
        if let Some(value) = leaf(self.formula, space, state, node) {
            self.count_state(state);
            return Ok(value == is_any);
        }
        // The state is expanded if the node of `from` needs its transitions.
        let is_operand = matches!(self.formula.node(own), FormulaNode::And(_) | FormulaNode::Or(_));
        let is_here = is_operand && state == here && self.inlining.needs_step(own);
        let target = self.position(space, state, node, is_here)?;
        self.entered.push(target);
        Ok(false)
    }

    /// Stores the moves that were entered, and decides the position if they do.
    fn link(&mut self, position: Position, is_cut: bool, by_leaf: bool) -> Result<(), Stop> {
        if by_leaf {
            self.entered.clear();
        }
        // A duplicate move would let one value count twice.
        remove_duplicates(&mut self.entered, 0);
        let positions = &mut self.positions;
        let back = |to: Position, new: u32| std::mem::replace(&mut positions[to as usize].back, new);
        let list = self.moves.push(position, &self.entered, back).ok_or(Stop::from(Why::Memory))?;
        let is_any = self.at(position).is_any;
        let (mut open, mut witness) = (0, NONE);
        for i in 0..self.entered.len() {
            let target = self.entered[i];
            match self.value(target) {
                Some(value) if value == is_any && witness == NONE => witness = target,
                Some(value) => open += u32::from(value == is_any),
                None => {
                    open += 1;
                    self.mark_live(target);
                }
            }
        }
        let entry = &mut self.positions[position as usize];
        entry.stage = if is_cut { Stage::Cut } else { Stage::Whole };
        (entry.list, entry.open_or_witness) = (list, open);
        self.n_expanded += 1;
        if witness != NONE || by_leaf {
            self.decide(position, is_any, witness);
        } else if open == 0 && !is_cut {
            self.decide(position, !is_any, NONE);
        }
        self.propagate();
        Ok(())
    }

    /// Marks a position, and all undecided positions that it depends on, as live again.
    pub(crate) fn mark_live(&mut self, position: Position) {
        if self.at(position).is_live {
            return;
        }
        let mut todo = vec![position];
        while let Some(position) = todo.pop() {
            let entry = &mut self.positions[position as usize];
            if entry.is_live || entry.value.is_some() {
                continue;
            }
            entry.is_live = true;
            if entry.is_expanded() {
                todo.extend_from_slice(self.moves.targets(entry.list));
            } else {
                self.queue.push_back(position);
            }
        }
    }

    /// Sets the value of a position; [`Game::propagate`] passes it to the predecessors.
    pub(crate) fn decide(&mut self, position: Position, value: bool, witness: Position) {
        let entry = &mut self.positions[position as usize];
        debug_assert!(entry.value.is_none());
        (entry.value, entry.open_or_witness) = (Some(value), witness);
        self.decided.push(position);
    }

    /// Propagates the values of decided positions to their predecessors.
    pub(crate) fn propagate(&mut self) {
        while let Some(target) = self.decided.pop() {
            let value = self.value(target);
            let mut next = self.at(target).back;
            while let Some((from, following)) = self.moves.back(next) {
                next = following;
                let entry = &mut self.positions[from as usize];
                if entry.value.is_some() || !entry.is_expanded() {
                    continue;
                }
                if value == Some(entry.is_any) {
                    let value = entry.is_any;
                    self.decide(from, value, target);
                } else {
                    entry.open_or_witness -= 1;
                    if entry.open_or_witness == 0 && !entry.is_cut() {
                        let value = !entry.is_any;
                        self.decide(from, value, NONE);
                    }
                }
            }
        }
    }

    /// Returns the memory of the game in bytes, including what [`crate::settle`] needs temporarily.
    pub(crate) fn bytes(&self) -> u64 {
        const SETTLE_BYTES_PER_POSITION: usize = 24;
        let index = self.index.capacity() * (size_of::<Position>() + 1);
        let positions = self.positions.capacity() * size_of::<PositionEntry>()
            + self.positions.len() * SETTLE_BYTES_PER_POSITION;
        let queue = self.queue.capacity() * size_of::<Position>();
        (index
            + positions
            + self.moves.bytes()
            + queue
            + self.is_counted.capacity()
            + self.is_state_expanded.capacity()) as u64
    }
}

pub(crate) fn hash(state: StateId, node: FormulaNodeId) -> u64 {
    FxBuildHasher.hash_one((state, node))
}

/// Whether the verifier moves at a node: at `||`, `<>` and variables; the refuter moves at `&&` and `[]`.
pub(crate) fn verifier_moves(formula: &Formula, node: FormulaNodeId) -> bool {
    matches!(
        formula.node(node),
        FormulaNode::Or(_) | FormulaNode::Variable(_) | FormulaNode::Modal(Modality::Diamond, ..)
    )
}

/// Whether a node is an atom or a constant.
pub(crate) fn is_leaf(formula: &Formula, node: FormulaNodeId) -> bool {
    matches!(formula.node(node), FormulaNode::Constant(_) | FormulaNode::Atom(..))
}

/// Returns the truth of an atom or a constant in a state; `None` for other nodes.
pub(crate) fn leaf<L: Lts>(
    formula: &Formula,
    space: &mut Space<L>,
    state: StateId,
    node: FormulaNodeId,
) -> Option<bool> {
    match formula.node(node) {
        FormulaNode::Constant(value) => Some(*value),
        FormulaNode::Atom(atom, expected) => Some(space.holds(state, *atom) == *expected),
        _ => None,
    }
}
