//! The states that a group may meet on its way to a goal, one by one.
//!
//! Where they are few, a search for uniform strategies is better off with a table of them than with
//! diagrams. A strategy that wins never leaves what the group wins with perfect information, so of
//! the moves that may, none is followed. Successors come from the diagram of the relation, copied
//! into a plain table once: with the bits of a state fixed, its paths are the moves.

use rustc_hash::FxHashMap;

use masque_model::{AgentId, VarId};
use masque_verdict::{ANY_ACTION, View};

use crate::encode::Encoder;
use crate::space::{Bit, Limited, Set, Table};

/// So many states are looked at one by one, a few in tests.
const MOST_STATES: usize = if cfg!(test) { 6 } else { 1 << 15 };
/// They have so many bits together.
const MOST_BITS: usize = 1 << 24;
/// So many moves and targets of moves are.
const MOST_TARGETS: usize = 1 << 20;

/// All that is lost is this one state.
pub(crate) const LOST: u32 = 0;

/// What the moves of a group lead to; the same for all questions about one goal.
pub(crate) struct Board {
    /// Steps, the members' actions left in.
    pub(crate) relation: Table,
    /// What the members may choose.
    pub(crate) may: Table,
    /// With which choices the others can see to it that the group loses at once.
    pub(crate) spoiled: Table,
    /// Where nothing is left to do.
    pub(crate) done: Table,
    /// Dead ends that loop.
    pub(crate) looping: Table,
    /// Whether only the first step counts.
    pub(crate) is_one_step: bool,
    pub(crate) members: Vec<AgentId>,
    /// For each member the bits of its action; none if it has no choice that matters.
    pub(crate) action_bits: Vec<Vec<Bit>>,
}

/// A game on some states.
#[derive(Default)]
pub(crate) struct Arena {
    /// The bits of each state; none for [`LOST`].
    pub(crate) states: Vec<Vec<bool>>,
    /// How many of them, after [`LOST`], are those that may be in question, and which.
    pub(crate) n_from: usize,
    from: FxHashMap<Vec<bool>, u32>,
    pub(crate) is_done: Vec<bool>,
    pub(crate) moves: Vec<Move>,
    /// Where each state's moves begin, and at last their number.
    begins: Vec<u32>,
    /// The moves that may lead into each state.
    pub(crate) into: Vec<Vec<u32>>,
    /// For each state the view of each member.
    pub(crate) views: Vec<Vec<View>>,
    /// For each view the actions among which there is a choice, in increasing order.
    pub(crate) options: Vec<Vec<u32>>,
}

/// One action for each member.
pub(crate) struct Move {
    pub(crate) owner: u32,
    pub(crate) actions: Vec<u32>,
    /// Where it may lead, in increasing order.
    pub(crate) targets: Vec<u32>,
}

impl Arena {
    /// What can be met from some states; none if that is too much.
    pub(crate) fn new(encoder: &Encoder<'_>, board: &Board, from: &Set) -> Limited<Option<Arena>> {
        let mut builder = Builder::new(encoder, board);
        let current = builder.current.clone();
        let Some(from) = Table::new(from).valuations(&builder.fixed, &current, builder.most_states) else {
            return Ok(None);
        };
        for row in from {
            // The same state may be met again after a step, when it is judged by another measure.
            let known = (!board.is_one_step).then(|| row.clone());
            let state = builder.add(known, row.clone());
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

    /// The numbers of some states that may be in question; none if others are among them.
    pub(crate) fn in_question(&self, encoder: &Encoder<'_>, states: &Set) -> Option<Vec<u32>> {
        let mut bits: Vec<Bit> = encoder.layout.current_bits().collect();
        bits.sort_unstable_by_key(|&bit| encoder.space.level(bit));
        let fixed = vec![None; encoder.space.n_bits() as usize];
        let rows = Table::new(states).valuations(&fixed, &bits, self.n_from)?;
        rows.iter().map(|row| self.from.get(row).copied()).collect()
    }

    /// The moves of a state.
    pub(crate) fn moves(&self, state: usize) -> std::ops::Range<u32> {
        self.begins[state]..self.begins[state + 1]
    }
}

struct Builder<'a> {
    board: &'a Board,
    arena: Arena,
    places: FxHashMap<Vec<bool>, u32>,
    most_states: usize,
    n_targets: usize,
    /// The current bits from the top of the order down.
    current: Vec<Bit>,
    /// The same for the members' actions.
    own: Vec<Bit>,
    /// The same for next bits, and for each current bit the position of its next one; none if it is
    /// frozen.
    next: Vec<Bit>,
    next_of: Vec<Option<usize>>,
    /// For each member the positions of its action's bits, most significant first.
    action_bits: Vec<Vec<usize>>,
    /// For each member the positions of the bits it sees.
    seen: Vec<Vec<usize>>,
    /// The bits that are known while a state is expanded.
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
        let positions = |bits: &[Bit]| (0..).zip(bits).map(|(i, &bit)| (bit, i)).collect::<FxHashMap<_, _>>();
        let (current_at, next_at, own_at) = (positions(&current), positions(&next), positions(&own));
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
            places: FxHashMap::default(),
            most_states: MOST_STATES.min(MOST_BITS / current.len().max(1)),
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

    /// A new state, to be found again under a name.
    fn add(&mut self, name: Option<Vec<bool>>, row: Vec<bool>) -> u32 {
        let number = self.arena.states.len() as u32;
        if let Some(name) = name {
            self.places.insert(name, number);
        }
        self.arena.states.push(row);
        number
    }

    /// Finds the moves of the next state; false if there are too many.
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
        fits && self.arena.states.len() <= self.most_states && self.n_targets <= MOST_TARGETS
    }

    fn add_moves(&mut self, owner: u32, row: &[bool]) -> bool {
        let board = self.board;
        if board.looping.contains(&self.fixed) {
            let target = self.place(row.to_vec());
            let actions = vec![ANY_ACTION; board.members.len()];
            self.arena.moves.push(Move { owner, actions, targets: vec![target] });
            return true;
        }
        let Some(choices) = board.may.valuations(&self.fixed, &self.own, MOST_TARGETS) else { return false };
        for choice in choices {
            self.own.iter().zip(&choice).for_each(|(&bit, &value)| self.fixed[bit as usize] = Some(value));
            let targets = if board.spoiled.contains(&self.fixed) {
                Some(Vec::new())
            } else {
                board.relation.valuations(&self.fixed, &self.next, MOST_TARGETS)
            };
            self.own.iter().for_each(|&bit| self.fixed[bit as usize] = None);
            let Some(targets) = targets else { return false };
            self.n_targets += 1 + targets.len();
            if self.n_targets > MOST_TARGETS {
                return false;
            }
            let code = |bits: &Vec<usize>| match bits.is_empty() {
                true => ANY_ACTION,
                false => bits.iter().fold(0, |code, &i| code << 1 | u32::from(choice[i])),
            };
            let actions = self.action_bits.iter().map(code).collect();
            let mut targets: Vec<u32> = targets.iter().map(|next| self.target(row, next)).collect();
            targets.sort_unstable();
            targets.dedup();
            // No step, or one that is lost.
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
        self.place(then)
    }

    fn place(&mut self, row: Vec<bool>) -> u32 {
        match self.places.get(&row) {
            Some(&place) => place,
            None => self.add(Some(row.clone()), row),
        }
    }

    fn finish(mut self) -> Arena {
        let mut numbers: FxHashMap<(usize, Vec<bool>), View> = FxHashMap::default();
        let mut arena = std::mem::take(&mut self.arena);
        for row in &arena.states[1..] {
            let mut views = Vec::with_capacity(self.seen.len());
            for (member, seen) in self.seen.iter().enumerate() {
                let key = (member, seen.iter().map(|&i| row[i]).collect());
                let fresh = numbers.len() as View;
                views.push(*numbers.entry(key).or_insert(fresh));
            }
            arena.views.push(views);
        }
        arena.options = vec![Vec::new(); numbers.len()];
        arena.into = vec![Vec::new(); arena.states.len()];
        for (number, at) in arena.moves.iter().enumerate() {
            at.targets.iter().for_each(|&target| arena.into[target as usize].push(number as u32));
            for (&view, &action) in arena.views[at.owner as usize].iter().zip(&at.actions) {
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
