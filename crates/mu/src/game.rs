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

use crate::formula::{ActionId, Formula, Node, NodeId};
use crate::moves::{List, Moves};
use crate::near::{Near, Part, glance};
use crate::tree::Modality;
use crate::{Lts, Space, StateId};

/// A position of the game.
pub(crate) type Position = u32;

/// No position, no move.
pub(crate) const NONE: u32 = u32::MAX;

/// How far a position was looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It has no moves yet.
    New,
    /// It has all its moves.
    Whole,
    /// It has moves that lie beyond a bound.
    Cut,
}

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) state: StateId,
    pub(crate) node: NodeId,
    /// Its truth, once known.
    pub(crate) value: Option<bool>,
    /// Whether the verifier moves here.
    pub(crate) is_any: bool,
    pub(crate) stage: Stage,
    /// Whether it may still matter for the root, as far as is known.
    pub(crate) is_live: bool,
    /// The moves, in `Game::moves`.
    pub(crate) list: List,
    /// Before it is decided, how many moves are not decided against the one who moves; then the
    /// move that decided it.
    pub(crate) open_or_witness: u32,
    /// The last of the moves that lead here.
    pub(crate) back: u32,
}

impl Spot {
    pub(crate) fn is_expanded(&self) -> bool {
        self.stage != Stage::New
    }

    /// Whether it has moves that lie beyond a bound.
    pub(crate) fn is_cut(&self) -> bool {
        self.stage == Stage::Cut
    }

    /// How many moves of an undecided position are not decided against the one who moves.
    pub(crate) fn open(&self) -> u32 {
        debug_assert!(self.value.is_none());
        self.open_or_witness
    }

    /// The move that decided a position in favour of the one who moves; none if a leaf did.
    pub(crate) fn witness(&self) -> Position {
        debug_assert!(self.value.is_some());
        self.open_or_witness
    }
}

/// The part of the game that was explored.
#[derive(Debug)]
pub(crate) struct Game<'f> {
    pub(crate) formula: &'f Formula,
    pub(crate) near: Near,
    pub(crate) positions: Vec<Spot>,
    pub(crate) index: HashTable<Position>,
    pub(crate) moves: Moves,
    /// The moves being entered.
    entered: Vec<Position>,
    /// Positions without moves yet that must have some, nearest first.
    pub(crate) queue: VecDeque<Position>,
    /// The same for positions whose moves are known without another state.
    local: Vec<Position>,
    /// Positions whose value is known, but not yet by those that move to them.
    decided: Vec<Position>,
    /// The states that have a position, and how many these are.
    pub(crate) seen: Vec<bool>,
    pub(crate) n_states: u64,
    /// The states whose transitions this game has looked into, and their number.
    pub(crate) looked_into: Vec<bool>,
    pub(crate) n_looked_into: u64,
    pub(crate) n_expanded: usize,
}

impl<'f> Game<'f> {
    pub(crate) fn new(formula: &'f Formula) -> Self {
        Game {
            formula,
            near: Near::new(formula),
            positions: Vec::new(),
            index: HashTable::new(),
            moves: Moves::new(),
            entered: Vec::new(),
            queue: VecDeque::new(),
            local: Vec::new(),
            decided: Vec::new(),
            seen: Vec::new(),
            n_states: 0,
            looked_into: Vec::new(),
            n_looked_into: 0,
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
        self.moves.targets(self.at(position).list)
    }

    /// The positions that move to `position`.
    pub(crate) fn predecessors(&self, position: Position) -> impl Iterator<Item = Position> + '_ {
        let mut next = self.at(position).back;
        std::iter::from_fn(move || {
            let (from, following) = self.moves.back(next)?;
            next = following;
            Some(from)
        })
    }

    /// The position of a state and a node, if there is one.
    pub(crate) fn find(&self, state: StateId, node: NodeId) -> Option<Position> {
        let is_it = |p: &Position| (self.at(*p).state, self.at(*p).node) == (state, node);
        self.index.find(hash(state, node), is_it).copied()
    }

    /// The first position of a game.
    pub(crate) fn root<L: Lts>(&mut self, space: &mut Space<L>, state: StateId) -> Result<Position, Stop> {
        self.position(space, state, self.formula.root(), false)
    }

    /// The position of a state and a node, new or not; `is_here` if the state's transitions are
    /// being looked at.
    fn position<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        state: StateId,
        node: NodeId,
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
        self.positions.push(Spot {
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
            let is_local = is_here || !self.near.needs_step(node);
            if is_local { self.local.push(position) } else { self.queue.push_back(position) }
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

    /// Looks into a state, if the bound `states` allows: whether its transitions may be used.
    ///
    /// What other games have explored does not count, so a game decides the same alone and after others.
    fn look_into<L: Lts>(&mut self, space: &mut Space<L>, state: StateId) -> Result<bool, Stop> {
        if !self.has_looked_into(state) {
            if self.is_at_bound(space) {
                return Ok(false);
            }
            if self.looked_into.len() <= state.index() {
                self.looked_into.resize(state.index() + 1, false);
            }
            self.looked_into[state.index()] = true;
            self.n_looked_into += 1;
        }
        space.expand(state)?;
        Ok(true)
    }

    fn has_looked_into(&self, state: StateId) -> bool {
        self.looked_into.get(state.index()) == Some(&true)
    }

    /// Whether as many states were looked into as one check may.
    pub(crate) fn is_at_bound<L: Lts>(&self, space: &Space<L>) -> bool {
        self.n_looked_into >= space.system().most_states()
    }

    /// The bound that cuts off a position of this state, if one does.
    pub(crate) fn cut<L: Lts>(&self, space: &Space<L>, state: StateId) -> Option<&'static str> {
        if self.has_looked_into(state) { space.cut(state) } else { Some("states") }
    }

    /// The next position that needs moves: those in states at hand first, then the nearest.
    ///
    /// A position that only decided ones move to is left out; [`Game::wake`] brings it back.
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

    /// Finds the moves of a position, and hands on what is decided by them.
    ///
    /// Moves to atoms and constants are not entered: one that is worth it decides the position, and
    /// the others might as well not be there. Nor are operands that [`Near`] passes over.
    pub(crate) fn expand<L: Lts>(&mut self, space: &mut Space<L>, position: Position) -> Result<(), Stop> {
        let Spot { state, node, .. } = *self.at(position);
        let formula = self.formula;
        self.entered.clear();
        let mut is_cut = false;
        let by_leaf = match formula.node(node) {
            Node::Constant(_) | Node::Atom(..) => return Ok(()),
            Node::Variable(equation) => {
                let body = formula.equation(*equation).body;
                self.enter(space, position, state, body)?
            }
            Node::And(operands) | Node::Or(operands) => {
                self.enter_operands(space, position, operands, &mut is_cut)?
            }
            Node::Modal(_, action, inner) => {
                self.enter_steps(space, position, *action, *inner, &mut is_cut)?
            }
        };
        self.link(position, is_cut, by_leaf)
    }

    /// Enters operands, those first that may decide and save all the others. Says whether one did.
    fn enter_operands<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        position: Position,
        operands: &[NodeId],
        is_cut: &mut bool,
    ) -> Result<bool, Stop> {
        let Spot { state, node, is_any, .. } = *self.at(position);
        let formula = self.formula;
        if operands.iter().any(|&operand| leaf(formula, space, state, operand) == Some(is_any)) {
            return Ok(true);
        }
        let is_seen = !self.near.needs_step(node) || self.look_into(space, state)?;
        *is_cut |= !is_seen;
        for &operand in operands {
            if !is_seen || self.near.part(formula, node, operand) != Part::Glance {
                continue;
            }
            match glance(formula, space, state, operand, &mut |to| self.see(to)) {
                Some(value) if value == is_any => return Ok(true),
                Some(_) => {}
                None => *is_cut = true,
            }
        }
        for &operand in operands {
            match self.near.part(formula, node, operand) {
                Part::Leaf | Part::Glance => {}
                Part::Steps(action, inner) => {
                    // The target may be a leaf only if it is no step's: those are glanced at.
                    self.enter_steps(space, position, action, inner, is_cut)?;
                }
                Part::Apart => {
                    self.enter(space, position, state, operand)?;
                }
            }
        }
        Ok(false)
    }

    /// Enters the steps with a label in a set. Says whether one leads to a leaf that decides.
    fn enter_steps<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        position: Position,
        action: ActionId,
        inner: NodeId,
        is_cut: &mut bool,
    ) -> Result<bool, Stop> {
        let state = self.at(position).state;
        if !self.look_into(space, state)? {
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

    /// Enters a move, or says that it leads to a leaf which decides.
    fn enter<L: Lts>(
        &mut self,
        space: &mut Space<L>,
        from: Position,
        state: StateId,
        node: NodeId,
    ) -> Result<bool, Stop> {
        let Spot { state: here, node: own, is_any, .. } = *self.at(from);
        if let Some(value) = leaf(self.formula, space, state, node) {
            self.see(state);
            return Ok(value == is_any);
        }
        // An operand of what needs the state's transitions may have them at once.
        let is_operand = matches!(self.formula.node(own), Node::And(_) | Node::Or(_));
        let is_here = is_operand && state == here && self.near.needs_step(own);
        let target = self.position(space, state, node, is_here)?;
        self.entered.push(target);
        Ok(false)
    }

    /// Keeps the moves that were entered and decides the position, if they do.
    fn link(&mut self, position: Position, is_cut: bool, by_leaf: bool) -> Result<(), Stop> {
        if by_leaf {
            self.entered.clear();
        }
        forget_doubles(&mut self.entered);
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
                    self.wake(target);
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

    /// Something that matters moves to `position` again: so does all that it depends on.
    pub(crate) fn wake(&mut self, position: Position) {
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

    /// Gives a position its value; those that move to it learn of it in [`Game::propagate`].
    pub(crate) fn decide(&mut self, position: Position, value: bool, witness: Position) {
        let entry = &mut self.positions[position as usize];
        debug_assert!(entry.value.is_none());
        (entry.value, entry.open_or_witness) = (Some(value), witness);
        self.decided.push(position);
    }

    /// Tells all positions that move to a decided one.
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

    /// The bytes held, with what is needed now and then to settle the game.
    pub(crate) fn bytes(&self) -> u64 {
        const TO_SETTLE: usize = 24;
        let index = self.index.capacity() * (size_of::<Position>() + 1);
        let positions = self.positions.capacity() * size_of::<Spot>() + self.positions.len() * TO_SETTLE;
        let queue = self.queue.capacity() * size_of::<Position>();
        (index + positions + self.moves.bytes() + queue + self.seen.capacity() + self.looked_into.capacity())
            as u64
    }
}

fn hash(state: StateId, node: NodeId) -> u64 {
    FxBuildHasher.hash_one((state, node))
}

/// Who moves at a node: the verifier at `||`, `<>` and variables, the refuter at `&&` and `[]`.
pub(crate) fn verifier_moves(formula: &Formula, node: NodeId) -> bool {
    matches!(formula.node(node), Node::Or(_) | Node::Variable(_) | Node::Modal(Modality::Diamond, ..))
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

/// Removes moves that were entered before. Their order stays.
///
/// Counting parallel moves apart would let one value count twice.
fn forget_doubles(moves: &mut Vec<Position>) {
    if moves.len() <= 16 {
        let mut end = 0;
        for i in 0..moves.len() {
            let this = moves[i];
            if !moves[..end].contains(&this) {
                moves[end] = this;
                end += 1;
            }
        }
        moves.truncate(end);
        return;
    }
    let mut seen = rustc_hash::FxHashSet::default();
    moves.retain(|&target| seen.insert(target));
}
