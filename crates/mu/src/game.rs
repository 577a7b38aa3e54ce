//! A formula on a transition system as a game, built on demand. [EJ91, Stirling95]
//!
//! A position is a state and a node of the formula. At a disjunction or a diamond the *verifier*
//! moves, at a conjunction or a box the *refuter*; at a variable there is one move, to the body of
//! its equation. Who cannot move has lost; atoms and constants are won or lost at once. A position
//! is true if the verifier wins from it. This is the boolean equation system of the formula
//! [Mader97], position = or/and of its moves, seen from the other side.
//!
//! Values go from a position back to those that move to it as soon as they are known, along lists
//! of dependencies: each move is looked at once when it is made and once when its value is known
//! [LS98, Andersen94].

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Stop, Why};
use rustc_hash::FxBuildHasher;

use crate::formula::{Formula, Node, NodeId};
use crate::tree::Modality;
use crate::{Lts, Space, StateId};

/// A position of the game.
pub(crate) type Position = u32;

/// No position, no move.
pub(crate) const NONE: u32 = u32::MAX;

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) state: StateId,
    pub(crate) node: NodeId,
    /// Its truth, once known.
    pub(crate) value: Option<bool>,
    /// Whether the verifier moves here.
    pub(crate) is_any: bool,
    pub(crate) is_expanded: bool,
    /// Whether it has moves that lie beyond a bound.
    pub(crate) is_cut: bool,
    /// Whether it may still matter for the root, as far as is known.
    pub(crate) is_live: bool,
    /// The moves, in `Game::moves`.
    begin: u32,
    count: u32,
    /// How many moves are not decided against the one who moves.
    pub(crate) open: u32,
    /// The move that decided it in favour of the one who moves; none if a leaf did.
    pub(crate) witness: Position,
    /// The first of the moves that lead here, in `Game::back`.
    back: u32,
}

/// The part of the game that was explored.
#[derive(Debug)]
pub(crate) struct Game<'f> {
    pub(crate) formula: &'f Formula,
    pub(crate) positions: Vec<Spot>,
    index: HashTable<Position>,
    moves: Vec<Position>,
    /// For each move: who makes it, and the next move to the same position.
    back: Vec<(Position, u32)>,
    /// Positions without moves yet that must have some, nearest first.
    pub(crate) queue: VecDeque<Position>,
    /// The same for positions whose moves stay in the state.
    local: Vec<Position>,
    /// Positions whose value is known, but not yet by those that move to them.
    decided: Vec<Position>,
    /// The states that have a position, and how many these are.
    seen: Vec<bool>,
    pub(crate) n_states: u64,
    pub(crate) n_expanded: usize,
}

impl<'f> Game<'f> {
    pub(crate) fn new(formula: &'f Formula) -> Self {
        Game {
            formula,
            positions: Vec::new(),
            index: HashTable::new(),
            moves: Vec::new(),
            back: Vec::new(),
            queue: VecDeque::new(),
            local: Vec::new(),
            decided: Vec::new(),
            seen: Vec::new(),
            n_states: 0,
            n_expanded: 0,
        }
    }

    pub(crate) fn at(&self, position: Position) -> &Spot {
        &self.positions[position as usize]
    }

    pub(crate) fn value(&self, position: Position) -> Option<bool> {
        self.at(position).value
    }

    /// The moves of an expanded position, without doubles.
    pub(crate) fn moves(&self, position: Position) -> &[Position] {
        let entry = self.at(position);
        &self.moves[entry.begin as usize..(entry.begin + entry.count) as usize]
    }

    /// The positions that move to `position`.
    pub(crate) fn predecessors(&self, position: Position) -> impl Iterator<Item = Position> + '_ {
        let mut next = self.at(position).back;
        std::iter::from_fn(move || {
            let (from, following) = *self.back.get(next as usize)?;
            next = following;
            Some(from)
        })
    }

    /// The position of a state and a node, new or not.
    pub(crate) fn position<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        state: StateId,
        node: NodeId,
    ) -> Result<Position, Stop> {
        let hash = |state: StateId, node: NodeId| FxBuildHasher.hash_one((state, node));
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
        let is_any = matches!(
            self.formula.node(node),
            Node::Or(_) | Node::Variable(_) | Node::Modal(Modality::Diamond, ..)
        );
        let is_modal = matches!(self.formula.node(node), Node::Modal(..));
        self.positions.push(Spot {
            state,
            node,
            value,
            is_any,
            is_expanded: false,
            is_cut: false,
            is_live: true,
            begin: 0,
            count: 0,
            open: 0,
            witness: NONE,
            back: NONE,
        });
        if value.is_none() {
            if is_modal { self.queue.push_back(position) } else { self.local.push(position) }
        }
        self.see(state);
        Ok(position)
    }

    /// Counts a state.
    fn see(&mut self, state: StateId) {
        if self.seen.len() <= state.index() {
            self.seen.resize(state.index() + 1, false);
        }
        self.n_states += u64::from(!std::mem::replace(&mut self.seen[state.index()], true));
    }

    /// The next position that needs moves: those in states at hand first, then the nearest.
    ///
    /// A position that only decided ones move to is left out; [`Game::wake`] brings it back.
    pub(crate) fn next(&mut self, root: Position) -> Option<Position> {
        loop {
            let position = self.local.pop().or_else(|| self.queue.pop_front())?;
            let entry = self.at(position);
            if entry.value.is_some() || entry.is_expanded || !entry.is_live {
                continue;
            }
            if position == root || self.predecessors(position).any(|p| self.value(p).is_none()) {
                return Some(position);
            }
            self.positions[position as usize].is_live = false;
        }
    }

    /// Finds the moves of a position, and hands on what is decided by them.
    ///
    /// Moves to atoms and constants are not entered: one that is worth it decides the position, and
    /// the others might as well not be there.
    pub(crate) fn expand<L: Lts>(&mut self, space: &mut Space<L>, position: Position) -> Result<(), Stop> {
        let Spot { state, node, is_any, .. } = *self.at(position);
        let formula = self.formula;
        let begin = self.moves.len();
        match formula.node(node) {
            Node::Constant(_) | Node::Atom(..) => return Ok(()),
            Node::Variable(equation) => {
                let body = formula.equation(*equation).body;
                let by_leaf = self.enter(space, state, body, begin, is_any)?;
                return self.link(position, begin, false, by_leaf);
            }
            Node::And(operands) | Node::Or(operands) => {
                // Leaves first: one that decides saves all the others.
                for leaves in [true, false] {
                    for &operand in operands.iter().filter(|operand| is_leaf(formula, **operand) == leaves) {
                        if self.enter(space, state, operand, begin, is_any)? {
                            return self.link(position, begin, false, true);
                        }
                    }
                }
            }
            Node::Modal(_, action, inner) => {
                space.expand(state)?;
                for i in 0..space.transitions(state).len() {
                    let (label, to) = space.transitions(state)[i];
                    if space.is_in(formula, *action, label) && self.enter(space, to, *inner, begin, is_any)? {
                        return self.link(position, begin, false, true);
                    }
                }
            }
        }
        let is_cut = matches!(formula.node(node), Node::Modal(..)) && space.cut(state).is_some();
        self.link(position, begin, is_cut, false)
    }

    /// Enters a move, or says that it leads to a leaf which decides; then no move is entered.
    fn enter<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        state: StateId,
        node: NodeId,
        begin: usize,
        is_any: bool,
    ) -> Result<bool, Stop> {
        match leaf(self.formula, space, state, node) {
            Some(value) => {
                self.see(state);
                if value == is_any {
                    self.moves.truncate(begin);
                }
                Ok(value == is_any)
            }
            None => {
                let target = self.position(space, state, node)?;
                self.moves.push(target);
                Ok(false)
            }
        }
    }

    /// Enters the new moves of a position and decides it, if they do.
    fn link(&mut self, position: Position, begin: usize, is_cut: bool, by_leaf: bool) -> Result<(), Stop> {
        forget_doubles(&mut self.moves, begin);
        let end = u32::try_from(self.moves.len()).ok().filter(|&end| end != NONE);
        let end = end.ok_or(Stop::from(Why::Memory))?;
        let is_any = self.at(position).is_any;
        let (mut open, mut witness) = (0, NONE);
        for i in begin..end as usize {
            let target = self.moves[i];
            self.back
                .push((position, std::mem::replace(&mut self.positions[target as usize].back, i as u32)));
            match self.value(target) {
                Some(value) if value == is_any && witness == NONE => witness = target,
                Some(value) => open += u32::from(value == is_any),
                None => {
                    open += 1;
                    self.wake(target);
                }
            }
        }
        let entry = &mut self.positions[position as usize];
        (entry.begin, entry.count) = (begin as u32, end - begin as u32);
        (entry.is_expanded, entry.is_cut, entry.open) = (true, is_cut, open);
        self.n_expanded += 1;
        if witness != NONE || by_leaf {
            self.decide(position, is_any, witness);
        } else if open == 0 && !is_cut {
            self.decide(position, !is_any, NONE);
        }
        self.propagate();
        Ok(())
    }

    /// Something that matters moves to `position` again: so does all that it depends on.
    fn wake(&mut self, position: Position) {
        let mut todo = vec![position];
        while let Some(position) = todo.pop() {
            let entry = &mut self.positions[position as usize];
            if entry.is_live || entry.value.is_some() {
                continue;
            }
            entry.is_live = true;
            if entry.is_expanded {
                todo.extend_from_slice(
                    &self.moves[entry.begin as usize..(entry.begin + entry.count) as usize],
                );
            } else {
                self.queue.push_back(position);
            }
        }
    }

    /// Gives a position its value; those that move to it learn of it in [`Game::propagate`].
    pub(crate) fn decide(&mut self, position: Position, value: bool, witness: Position) {
        let entry = &mut self.positions[position as usize];
        debug_assert!(entry.value.is_none());
        (entry.value, entry.witness) = (Some(value), witness);
        self.decided.push(position);
    }

    /// Tells all positions that move to a decided one.
    pub(crate) fn propagate(&mut self) {
        while let Some(target) = self.decided.pop() {
            let value = self.value(target);
            let mut next = self.at(target).back;
            while let Some(&(from, following)) = self.back.get(next as usize) {
                next = following;
                let entry = &mut self.positions[from as usize];
                if entry.value.is_some() || !entry.is_expanded {
                    continue;
                }
                if value == Some(entry.is_any) {
                    let value = entry.is_any;
                    self.decide(from, value, target);
                } else {
                    entry.open -= 1;
                    if entry.open == 0 && !entry.is_cut {
                        let value = !entry.is_any;
                        self.decide(from, value, NONE);
                    }
                }
            }
        }
    }

    /// The bytes held, with what is needed now and then to settle the game.
    pub(crate) fn bytes(&self) -> u64 {
        const TO_SETTLE: usize = 24;
        let spots = self.positions.capacity() * (size_of::<Spot>() + size_of::<u32>() + 2);
        let positions = spots + self.positions.len() * TO_SETTLE;
        let moves = self.moves.capacity() * size_of::<Position>();
        let back = self.back.capacity() * size_of::<(Position, u32)>();
        (positions + moves + back + self.queue.capacity() * size_of::<Position>() + self.seen.capacity())
            as u64
    }
}

/// Whether a node is an atom or a constant.
pub(crate) fn is_leaf(formula: &Formula, node: NodeId) -> bool {
    matches!(formula.node(node), Node::Constant(_) | Node::Atom(..))
}

/// The truth of an atom or a constant in a state.
pub(crate) fn leaf<L: Lts>(
    formula: &Formula,
    space: &mut Space<L>,
    state: StateId,
    node: NodeId,
) -> Option<bool> {
    match formula.node(node) {
        Node::Constant(value) => Some(*value),
        Node::Atom(atom, expected) => Some(space.holds(state, *atom) == *expected),
        _ => None,
    }
}

/// Removes moves that were entered before, from `begin` on. Their order stays.
///
/// Counting parallel moves apart would let one value count twice.
fn forget_doubles(moves: &mut Vec<Position>, begin: usize) {
    if moves.len() - begin <= 16 {
        let mut end = begin;
        for i in begin..moves.len() {
            let this = moves[i];
            if !moves[begin..end].contains(&this) {
                moves[end] = this;
                end += 1;
            }
        }
        moves.truncate(end);
        return;
    }
    let mut seen = rustc_hash::FxHashSet::default();
    let mut end = begin;
    for i in begin..moves.len() {
        if seen.insert(moves[i]) {
            moves[end] = moves[i];
            end += 1;
        }
    }
    moves.truncate(end);
}
