//! Evidence: how the winner of the game wins, and one play to show.
//!
//! The evidence graph has, from the root on, one move where the winner moves and all moves where the
//! loser does. That is a proof which [`Evidence::replay`] checks on the system with no help from the
//! solver. A play through it is what people look at: the path to a deadlock, the loop that never
//! answers.

use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::formula::{Formula, Node, NodeId};
use crate::game::{Game, NONE, Position};
use crate::play::Route;
use crate::pulse::Pulse;
use crate::region::Region;
use crate::{LabelId, Lts, Space, StateId};

/// What shows a verdict: a winning strategy, and one play that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Whether the formula holds.
    pub holds: bool,
    /// The positions that the strategy leads to; the first is the initial state with the formula.
    pub places: Vec<Place>,
    /// A play to show; empty if the loser has a choice of steps at once.
    pub play: Play,
}

impl Evidence {
    /// Whether the play passes all that the evidence speaks of, so that it shows the verdict alone.
    pub fn is_one_run(&self) -> bool {
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

    /// The transitions that the evidence speaks of: the part of the system that shows the verdict.
    /// Sorted, without doubles.
    pub fn transitions(&self) -> Vec<(StateId, LabelId, StateId)> {
        let of_place = |place: &Place| {
            let step = |one: &Move| Some((place.state, one.label?, self.places.get(one.to as usize)?.state));
            place.moves.iter().filter_map(step).collect::<Vec<_>>()
        };
        let mut found: Vec<_> = self.places.iter().flat_map(of_place).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A state, a part of the formula, and the moves from there that the evidence needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The state.
    pub state: StateId,
    /// The part of the formula that is true there, or false.
    pub node: NodeId,
    /// One move where the winner moves, and all moves where the loser does.
    pub moves: Vec<Move>,
}

/// A move from one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The label of the transition, if the move is one.
    pub label: Option<LabelId>,
    /// The place it leads to, by its number in [`Evidence::places`].
    pub to: u32,
}

/// One play through the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// The places it passes, the first of the evidence first.
    pub turns: Vec<u32>,
    /// For a lasso: the turn to which the play returns after the last one.
    pub returns_to: Option<usize>,
    /// The state it starts in.
    pub start: StateId,
    /// The transitions it takes. A lasso's last one leads back into the loop.
    pub steps: Vec<Step>,
    /// For a lasso: how many steps lie before the loop.
    pub loop_at: Option<usize>,
    /// Whether the play is forced to its end; if not, the loser has a choice of steps there.
    pub is_closed: bool,
}

impl Play {
    /// The state in which it ends, or in which it has gone round once.
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

/// The evidence for a root that is decided so.
pub(crate) fn evidence<L: Lts>(
    game: &Game<'_>,
    space: &mut Space<L>,
    root: Position,
    holds: bool,
    budget: &Budget,
) -> Result<Evidence, Stop> {
    let region = Region::new(game, space, root, holds, budget)?;
    let route = region.route(budget)?;
    let (places, todo, number) = (Vec::new(), Vec::new(), vec![NONE; region.len()]);
    let mut writer = Writer { formula: game.formula, space, region: &region, places, number, todo };
    writer.strategy(&route, budget)?;
    let play = writer.play(&route);
    Ok(Evidence { holds, places: writer.places, play })
}

/// Writes down the part of a region that a strategy leads to.
struct Writer<'w, 'f, L> {
    formula: &'f Formula,
    space: &'w mut Space<L>,
    region: &'w Region<'f>,
    places: Vec<Place>,
    /// For each place of the region, its number in `places`.
    number: Vec<u32>,
    todo: Vec<usize>,
}

impl<L: Lts> Writer<'_, '_, L> {
    /// Writes all places that the strategy leads to, nearest first.
    fn strategy(&mut self, route: &Route, budget: &Budget) -> Result<(), Stop> {
        let mut pulse = Pulse::new(budget);
        self.place(0);
        let on_play = route.successors();
        let mut done = 0;
        while let Some(&i) = self.todo.get(done) {
            pulse.beat()?;
            self.places[done].moves = if self.region.winner_moves(i) {
                let choice = on_play.get(&i).copied().or_else(|| self.region.choice(i));
                choice.map(|to| self.winner_move(i, to)).into_iter().collect()
            } else {
                self.loser_moves(i)
            };
            done += 1;
        }
        Ok(())
    }

    /// The number of a place, new or not.
    fn place(&mut self, i: usize) -> u32 {
        if self.number[i] == NONE {
            self.number[i] = self.places.len() as u32;
            let spot = self.region.spot(i);
            self.places.push(Place { state: spot.state, node: spot.node, moves: Vec::new() });
            self.todo.push(i);
        }
        self.number[i]
    }

    fn winner_move(&mut self, from: usize, to: usize) -> Move {
        Move { label: self.label(from, to), to: self.place(to) }
    }

    /// The first label that takes one place to another, if it takes a step.
    fn label(&mut self, from: usize, to: usize) -> Option<LabelId> {
        let (spot, to) = (self.region.spot(from), self.region.spot(to).state);
        let Node::Modal(_, action, _) = self.formula.node(spot.node) else { return None };
        let n = self.space.transitions(spot.state).len();
        let mut labels = (0..n).filter_map(|i| {
            let (label, state) = self.space.transitions(spot.state)[i];
            (state == to && self.space.is_in(self.formula, *action, label)).then_some(label)
        });
        labels.next()
    }

    /// All moves, and of a step all labels.
    fn loser_moves(&mut self, i: usize) -> Vec<Move> {
        let region = self.region;
        let spot = region.spot(i);
        let targets = spot.moves.iter().map(|&place| place as usize);
        let Node::Modal(_, action, _) = self.formula.node(spot.node) else {
            return targets.map(|to| Move { label: None, to: self.place(to) }).collect();
        };
        let by_state: FxHashMap<StateId, usize> = targets.map(|to| (region.spot(to).state, to)).collect();
        let mut moves = Vec::new();
        for j in 0..self.space.transitions(spot.state).len() {
            let (label, to) = self.space.transitions(spot.state)[j];
            if let Some(&to) = by_state.get(&to).filter(|_| self.space.is_in(self.formula, *action, label)) {
                moves.push(Move { label: Some(label), to: self.place(to) });
            }
        }
        moves
    }

    /// The play in terms of places and steps.
    fn play(&mut self, route: &Route) -> Play {
        let turns: Vec<u32> = route.places.iter().map(|&i| self.number[i]).collect();
        let (mut steps, mut loop_at) = (Vec::new(), None);
        for (i, &from) in route.places.iter().enumerate() {
            if route.returns_to == Some(i) {
                loop_at = Some(steps.len());
            }
            let next = route.places.get(i + 1).or_else(|| route.places.get(route.returns_to?));
            let Some(&to) = next else { break };
            if let Some(label) = self.label(from, to) {
                steps.push(Step { label, to: self.region.spot(to).state });
            }
        }
        let start = self.region.spot(0).state;
        Play { turns, returns_to: route.returns_to, start, steps, loop_at, is_closed: route.is_closed }
    }
}
