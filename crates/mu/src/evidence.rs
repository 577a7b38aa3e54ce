//! Evidence: a winning strategy, and one play to show.
//!
//! The evidence is a graph that has, from the root on, one move at positions of the winner and all moves
//! at positions of the loser. This is a proof, which [`Evidence::replay`] checks on the system without the
//! solver. Reports show one play through it: the path to a deadlock, or the loop without a response.

use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::formula::{Formula, FormulaNode, FormulaNodeId};
use crate::game::{Game, NONE, Position};
use crate::play::Route;
use crate::region::Region;
use crate::ticker::Ticker;
use crate::{LabelId, Lts, Space, StateId};

/// Evidence for a verdict: a winning strategy, and one play that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Whether the formula holds.
    pub holds: bool,
    /// Positions that the strategy leads to; the first is the initial state with the formula.
    pub positions: Vec<EvidencePosition>,
    /// A play to show; it has no steps if the loser has a choice of steps at the beginning.
    pub play: Play,
}

impl Evidence {
    /// Whether the play takes all transitions of the evidence, so that it shows the verdict by itself.
    pub fn is_single_path(&self) -> bool {
        let mut from = self.play.start;
        let mut passed = Vec::new();
        for step in &self.play.steps {
            passed.push((from, step.label, step.to));
            from = step.to;
        }
        passed.sort_unstable();
        passed.dedup();
        passed == self.transitions()
    }

    /// Returns the transitions of the evidence, which are the part of the system that shows the verdict,
    /// sorted and without duplicates.
    pub fn transitions(&self) -> Vec<(StateId, LabelId, StateId)> {
        let of_position = |position: &EvidencePosition| {
            let step =
                |one: &Move| Some((position.state, one.label?, self.positions.get(one.to as usize)?.state));
            position.moves.iter().filter_map(step).collect::<Vec<_>>()
        };
        let mut found: Vec<_> = self.positions.iter().flat_map(of_position).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A state, a node of the formula, and the moves that the evidence needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidencePosition {
    /// State.
    pub state: StateId,
    /// Node of the formula that is true or false in the state.
    pub node: FormulaNodeId,
    /// One move if the winner moves, and all moves if the loser does.
    pub moves: Vec<Move>,
}

/// A move from one position to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Label of the transition; `None` if the move stays in the state.
    pub label: Option<LabelId>,
    /// Target, by its index in [`Evidence::positions`].
    pub to: u32,
}

/// One play through the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// Indices in [`Evidence::positions`] of its positions; the first is 0.
    pub turns: Vec<u32>,
    /// For a lasso: the index in `turns` to which the play returns after the last one.
    pub returns_to: Option<usize>,
    /// State in which it starts.
    pub start: StateId,
    /// Transitions of the play. The last one of a lasso closes the loop.
    pub steps: Vec<Step>,
    /// For a lasso: the number of steps before the loop.
    pub loop_at: Option<usize>,
    /// Whether the play is forced to its end; if not, the loser has a choice of steps there.
    pub is_closed: bool,
}

impl Play {
    /// Returns the state after the last step.
    pub fn end(&self) -> StateId {
        self.steps.last().map_or(self.start, |step| step.to)
    }
}

/// A transition of a play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its label.
    pub label: LabelId,
    /// The state it leads to.
    pub to: StateId,
}

/// Returns the evidence for the value of the root.
pub(crate) fn evidence<L: Lts>(
    game: &Game<'_>,
    space: &mut Space<L>,
    root: Position,
    holds: bool,
    budget: &Budget,
) -> Result<Evidence, Stop> {
    let region = Region::new(game, space, root, holds, budget)?;
    let route = region.route(budget)?;
    let (positions, todo, index_of) = (Vec::new(), Vec::new(), vec![NONE; region.len()]);
    let mut writer = Writer { formula: game.formula, space, region: &region, positions, index_of, todo };
    writer.strategy(&route, budget)?;
    let play = writer.play(&route);
    Ok(Evidence { holds, positions: writer.positions, play })
}

/// Copies the part of a region that a strategy leads to.
struct Writer<'w, 'f, L> {
    formula: &'f Formula,
    space: &'w mut Space<L>,
    region: &'w Region<'f>,
    positions: Vec<EvidencePosition>,
    /// For each position of the region, its index in `positions`, or [`NONE`].
    index_of: Vec<u32>,
    todo: Vec<usize>,
}

impl<L: Lts> Writer<'_, '_, L> {
    /// Adds all positions that the strategy leads to, nearest first.
    fn strategy(&mut self, route: &Route, budget: &Budget) -> Result<(), Stop> {
        let mut ticker = Ticker::new(budget);
        self.position(0);
        let on_play = route.successors();
        let mut done = 0;
        while let Some(&i) = self.todo.get(done) {
            ticker.tick()?;
            self.positions[done].moves = if self.region.winner_moves(i) {
                let choice = on_play.get(&i).copied().or_else(|| self.region.choice(i));
                choice.map(|to| self.winner_move(i, to)).into_iter().collect()
            } else {
                self.loser_moves(i)
            };
            done += 1;
        }
        Ok(())
    }

    /// Returns the index of a position, which is added if it is new.
    fn position(&mut self, i: usize) -> u32 {
        if self.index_of[i] == NONE {
            self.index_of[i] = self.positions.len() as u32;
            let entry = self.region.position(i);
            self.positions.push(EvidencePosition { state: entry.state, node: entry.node, moves: Vec::new() });
            self.todo.push(i);
        }
        self.index_of[i]
    }

    fn winner_move(&mut self, from: usize, to: usize) -> Move {
        Move { label: self.label(from, to), to: self.position(to) }
    }

    /// Returns the first label of a step from one position to another; `None` if the move is not a step.
    fn label(&mut self, from: usize, to: usize) -> Option<LabelId> {
        let (entry, to) = (self.region.position(from), self.region.position(to).state);
        let FormulaNode::Modal(_, action, _) = self.formula.node(entry.node) else { return None };
        let n = self.space.transitions(entry.state).len();
        let mut labels = (0..n).filter_map(|i| {
            let (label, state) = self.space.transitions(entry.state)[i];
            (state == to && self.space.is_in(self.formula, *action, label)).then_some(label)
        });
        labels.next()
    }

    /// Returns all moves of the loser, with all labels of each step.
    fn loser_moves(&mut self, i: usize) -> Vec<Move> {
        let region = self.region;
        let entry = region.position(i);
        let targets = entry.moves.iter().map(|&index| index as usize);
        let FormulaNode::Modal(_, action, _) = self.formula.node(entry.node) else {
            return targets.map(|to| Move { label: None, to: self.position(to) }).collect();
        };
        let by_state: FxHashMap<StateId, usize> = targets.map(|to| (region.position(to).state, to)).collect();
        let mut moves = Vec::new();
        for j in 0..self.space.transitions(entry.state).len() {
            let (label, to) = self.space.transitions(entry.state)[j];
            let Some(&to) = by_state.get(&to) else { continue };
            if self.space.is_in(self.formula, *action, label) {
                moves.push(Move { label: Some(label), to: self.position(to) });
            }
        }
        moves
    }

    /// Returns the play in terms of evidence positions and steps.
    fn play(&mut self, route: &Route) -> Play {
        let turns: Vec<u32> = route.positions.iter().map(|&i| self.index_of[i]).collect();
        let (mut steps, mut loop_at) = (Vec::new(), None);
        for (i, &from) in route.positions.iter().enumerate() {
            if route.returns_to == Some(i) {
                loop_at = Some(steps.len());
            }
            let next = route.positions.get(i + 1).or_else(|| route.positions.get(route.returns_to?));
            let Some(&to) = next else { break };
            if let Some(label) = self.label(from, to) {
                steps.push(Step { label, to: self.region.position(to).state });
            }
        }
        let start = self.region.position(0).state;
        Play { turns, returns_to: route.returns_to, start, steps, loop_at, is_closed: route.is_closed }
    }
}
