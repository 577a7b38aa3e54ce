//! The explicit list of states that a group may pass on its way to a goal.
//!
//! If there are at most some ten thousand, a search for uniform strategies is faster on this list than on
//! diagrams. A winning strategy never leaves the states that the group wins with perfect information, so
//! moves that may leave them are not followed. Successors come from the diagram of the relation, copied
//! into a plain table once: with the bits of a state fixed, its paths are the moves.

use rustc_hash::FxHashMap;

use masque_model::{AgentId, VarId};
use masque_verdict::{ANY_ACTION, View};

use crate::encode::Encoder;
use crate::space::{Bit, Limited, Set, Table};

/// Maximum number of states in an arena; in tests very few, so that tests also cover larger games.
const MAX_STATES: usize = if cfg!(test) { 6 } else { 1 << 15 };
/// Maximum number of bits of all states together.
const MAX_BITS: usize = 1 << 24;
/// Maximum number of moves and targets of moves together.
const MAX_TARGETS: usize = 1 << 20;

/// Index of the state that stands for all states in which the group has lost.
pub(crate) const LOST: u32 = 0;

/// The game of a group, as tables; the same for all questions about one goal.
pub(crate) struct Board {
    /// The transition relation with the members' actions.
    pub(crate) relation: Table,
    /// The actions that the members may choose.
    pub(crate) may: Table,
    /// The choices of the members after which the other agents can make the group lose at once.
    pub(crate) spoiled: Table,
    /// The states in which the goal is reached.
    pub(crate) done: Table,
    /// The dead ends that loop.
    pub(crate) looping: Table,
    /// Whether only the first step counts.
    pub(crate) is_one_step: bool,
    pub(crate) members: Vec<AgentId>,
    /// For each member the bits of its action; empty if it has no choice that matters.
    pub(crate) action_bits: Vec<Vec<Bit>>,
}

/// A game on an explicit list of states.
#[derive(Default)]
pub(crate) struct Arena {
    /// The bits of each state; empty for [`LOST`].
    pub(crate) states: Vec<Vec<bool>>,
    /// Number of start states: states 1 to `n_from`.
    pub(crate) n_from: usize,
    /// Index of each start state by its bits.
    from: FxHashMap<Vec<bool>, u32>,
    pub(crate) is_done: Vec<bool>,
    pub(crate) moves: Vec<Move>,
    /// Index of each state's first move, followed by the number of all moves.
    begins: Vec<u32>,
    /// The moves that may lead into each state.
    pub(crate) into: Vec<Vec<u32>>,
    /// For each state the view of each member.
    pub(crate) views: Vec<Vec<View>>,
    /// For each view the actions among which there is a choice, in increasing order.
    pub(crate) options: Vec<Vec<u32>>,
}

/// A joint choice of the members in a state.
pub(crate) struct Move {
    /// Index of the state.
    pub(crate) owner: u32,
    /// The action of each member.
    pub(crate) actions: Vec<u32>,
    /// Indices of the possible successors, in increasing order.
    pub(crate) targets: Vec<u32>,
}

impl Arena {
    /// Explores the game from some start states; returns `None` if it is too large.
    pub(crate) fn new(encoder: &Encoder<'_>, board: &Board, from: &Set) -> Limited<Option<Arena>> {
        let mut builder = Builder::new(encoder, board);
        let current = builder.current.clone();
        let Some(from) = Table::new(from).valuations(&builder.fixed, &current, builder.max_states) else {
            return Ok(None);
        };
        for row in from {
            // If only the first step counts, the same state after a step is another state of the game:
            // there it matters whether the goal is reached.
            let state = builder.add(row.clone(), !board.is_one_step);
            builder.arena.from.insert(row, state);
        }
        builder.arena.n_from = builder.arena.states.len() - 1;
        let mut next = 1;
        while next < builder.arena.states.len() {
            encoder.space.check()?;
            let is_source = !board.is_one_step || next <= builder.arena.n_from;
            if !builder.expand(next, is_source) {
                return Ok(None);
            }
            next += 1;
        }
        Ok(Some(builder.finish()))
    }

    /// Returns the indices of some start states; `None` if not all of them are start states.
    pub(crate) fn start_indices(&self, encoder: &Encoder<'_>, states: &Set) -> Option<Vec<u32>> {
        let mut bits: Vec<Bit> = encoder.layout.current_bits().collect();
        bits.sort_unstable_by_key(|&bit| encoder.space.level(bit));
        let fixed = vec![None; encoder.space.n_bits() as usize];
        let rows = Table::new(states).valuations(&fixed, &bits, self.n_from)?;
        rows.iter().map(|row| self.from.get(row).copied()).collect()
    }

    /// Returns the indices of the moves of a state.
    pub(crate) fn moves(&self, state: usize) -> std::ops::Range<u32> {
        self.begins[state]..self.begins[state + 1]
    }
}

struct Builder<'a> {
    board: &'a Board,
    arena: Arena,
    /// Index of each state by its bits.
    indices: FxHashMap<Vec<bool>, u32>,
    max_states: usize,
    n_targets: usize,
    /// The current bits from the top of the order down.
    current: Vec<Bit>,
    /// The bits of the members' actions from the top of the order down.
    own: Vec<Bit>,
    /// The next bits from the top of the order down.
    next: Vec<Bit>,
    /// For each current bit the index of its next bit in `next`; `None` if it is frozen.
    next_of: Vec<Option<usize>>,
    /// For each member the indices of its action's bits in `own`, most significant first.
    action_bits: Vec<Vec<usize>>,
    /// For each member the indices in `current` of the bits it sees.
    seen: Vec<Vec<usize>>,
    /// The values of the bits that are known while a state is expanded.
    fixed: Vec<Option<bool>>,
}

impl<'a> Builder<'a> {
    fn new(encoder: &Encoder<'_>, board: &'a Board) -> Builder<'a> {
        let (layout, space) = (&encoder.layout, &encoder.space);
        let sorted = |mut bits: Vec<Bit>| {
            bits.sort_unstable_by_key(|&bit| space.level(bit));
            bits
        };
        let current = sorted(layout.current_bits().collect());
        let next = sorted(layout.variables.iter().flat_map(|v| v.next.iter().copied()).collect());
        let own = sorted(board.action_bits.concat());
        let indices = |bits: &[Bit]| (0..).zip(bits).map(|(i, &bit)| (bit, i)).collect::<FxHashMap<_, _>>();
        let (current_at, next_at, own_at) = (indices(&current), indices(&next), indices(&own));
        let at_own = |bits: &Vec<Bit>| bits.iter().map(|bit| own_at[bit]).collect();
        let mut next_of = vec![None; current.len()];
        for v in &layout.variables {
            for (now, then) in v.current.iter().zip(&v.next) {
                next_of[current_at[now]] = next_at.get(then).copied();
            }
        }
        let sees = |agent: &AgentId| {
            let bits = |v: &VarId| layout.variables[v.index()].current.iter();
            let seen = encoder.system.agent(*agent).sees.iter().flat_map(bits);
            seen.map(|bit| current_at[bit]).collect::<Vec<usize>>()
        };
        Builder {
            board,
            arena: Arena {
                states: vec![Vec::new()],
                is_done: vec![false],
                begins: vec![0, 0],
                views: vec![Vec::new()],
                ..Arena::default()
            },
            indices: FxHashMap::default(),
            max_states: MAX_STATES.min(MAX_BITS / current.len().max(1)),
            n_targets: 0,
            action_bits: board.action_bits.iter().map(at_own).collect(),
            seen: board.members.iter().map(sees).collect(),
            current,
            own,
            next,
            next_of,
            fixed: vec![None; space.n_bits() as usize],
        }
    }

    /// Adds a state, and returns its index. `is_indexed`: whether it is found again by its bits.
    fn add(&mut self, row: Vec<bool>, is_indexed: bool) -> u32 {
        let index = self.arena.states.len() as u32;
        if is_indexed {
            self.indices.insert(row.clone(), index);
        }
        self.arena.states.push(row);
        index
    }

    /// Adds the moves of a state. Returns whether the arena is still within its limits.
    fn expand(&mut self, state: usize, is_source: bool) -> bool {
        let row = self.arena.states[state].clone();
        for (&bit, &value) in self.current.iter().zip(&row) {
            self.fixed[bit as usize] = Some(value);
        }
        let board = self.board;
        let is_done = board.done.contains(&self.fixed) && !(board.is_one_step && is_source);
        self.arena.is_done.push(is_done);
        let mut fits = true;
        if is_source && !is_done {
            fits = self.add_moves(state as u32, &row);
        }
        self.arena.begins.push(self.arena.moves.len() as u32);
        fits && self.arena.states.len() <= self.max_states && self.n_targets <= MAX_TARGETS
    }

    /// Adds the moves of a state whose bits are in `row` and in `fixed`; `false` if there are too many.
    fn add_moves(&mut self, owner: u32, row: &[bool]) -> bool {
        let board = self.board;
        if board.looping.contains(&self.fixed) {
            let target = self.index_of(row.to_vec());
            let actions = vec![ANY_ACTION; board.members.len()];
            self.arena.moves.push(Move { owner, actions, targets: vec![target] });
            return true;
        }
        let Some(choices) = board.may.valuations(&self.fixed, &self.own, MAX_TARGETS) else { return false };
        for choice in choices {
            self.own.iter().zip(&choice).for_each(|(&bit, &value)| self.fixed[bit as usize] = Some(value));
            let targets = if board.spoiled.contains(&self.fixed) {
                Some(Vec::new())
            } else {
                board.relation.valuations(&self.fixed, &self.next, MAX_TARGETS)
            };
            self.own.iter().for_each(|&bit| self.fixed[bit as usize] = None);
            let Some(targets) = targets else { return false };
            self.n_targets += 1 + targets.len();
            if self.n_targets > MAX_TARGETS {
                return false;
            }
            let code = |bits: &Vec<usize>| {
                if bits.is_empty() {
                    ANY_ACTION
                } else {
                    bits.iter().fold(0, |code, &i| code << 1 | u32::from(choice[i]))
                }
            };
            let actions = self.action_bits.iter().map(code).collect();
            let mut targets: Vec<u32> = targets.iter().map(|next| self.target(row, next)).collect();
            targets.sort_unstable();
            targets.dedup();
            // There is no step, or the group loses at once.
            if targets.is_empty() {
                targets.push(LOST);
            }
            self.arena.moves.push(Move { owner, actions, targets });
        }
        true
    }

    fn target(&mut self, row: &[bool], next: &[bool]) -> u32 {
        let then = row.iter().zip(&self.next_of).map(|(&value, next_of)| next_of.map_or(value, |i| next[i]));
        let then = then.collect();
        self.index_of(then)
    }

    /// Returns the index of a state; adds the state if it is new.
    fn index_of(&mut self, row: Vec<bool>) -> u32 {
        match self.indices.get(&row) {
            Some(&index) => index,
            None => self.add(row, true),
        }
    }

    /// Adds the views of all states, and what depends on them.
    fn finish(mut self) -> Arena {
        let mut view_ids: FxHashMap<(usize, Vec<bool>), View> = FxHashMap::default();
        let mut arena = std::mem::take(&mut self.arena);
        for row in &arena.states[1..] {
            let mut views = Vec::with_capacity(self.seen.len());
            for (member, seen) in self.seen.iter().enumerate() {
                let key = (member, seen.iter().map(|&i| row[i]).collect());
                let fresh = view_ids.len() as View;
                views.push(*view_ids.entry(key).or_insert(fresh));
            }
            arena.views.push(views);
        }
        arena.options = vec![Vec::new(); view_ids.len()];
        arena.into = vec![Vec::new(); arena.states.len()];
        for (index, choice) in arena.moves.iter().enumerate() {
            choice.targets.iter().for_each(|&target| arena.into[target as usize].push(index as u32));
            for (&view, &action) in arena.views[choice.owner as usize].iter().zip(&choice.actions) {
                if action != ANY_ACTION {
                    arena.options[view as usize].push(action);
                }
            }
        }
        for options in &mut arena.options {
            options.sort_unstable();
            options.dedup();
        }
        arena
    }
}
