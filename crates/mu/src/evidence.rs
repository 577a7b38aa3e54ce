//! Evidence: how the winner of the game wins, and one play to show.
//!
//! The evidence graph has, from the root on, one move where the winner moves and all moves where the
//! loser does. That is a proof which [`Evidence::replay`] checks on the system with no help from the
//! solver. A play through it is what people look at: the path to a deadlock, the loop that never
//! answers.

use crate::formula::{Formula, Node, NodeId};
use crate::game::{Game, NONE, Position};
use crate::play::{Region, Route};
use crate::tree::Modality;
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

/// The evidence for a decided root.
pub(crate) fn evidence<L: Lts + ?Sized>(
    game: &Game<'_>,
    space: &mut Space<'_, L>,
    root: Position,
) -> Option<Evidence> {
    let holds = game.value(root)?;
    let region = Region::new(game, root, holds);
    let route = region.route();
    let mut writer = Writer {
        game,
        space,
        holds,
        places: Vec::new(),
        place_of: vec![NONE; game.positions.len()],
        todo: Vec::new(),
    };
    writer.strategy(root, &region, &route);
    let play = writer.play(&route);
    Some(Evidence { holds, places: writer.places, play })
}

struct Writer<'w, 'f, 'l, L: ?Sized> {
    game: &'w Game<'f>,
    space: &'w mut Space<'l, L>,
    holds: bool,
    places: Vec<Place>,
    place_of: Vec<u32>,
    todo: Vec<Position>,
}

impl<L: Lts + ?Sized> Writer<'_, '_, '_, L> {
    /// Writes all places that the strategy leads to, nearest first.
    fn strategy(&mut self, root: Position, region: &Region<'_, '_>, route: &Route) {
        self.place(root);
        let on_play = route.successors();
        let mut done = 0;
        while let Some(&position) = self.todo.get(done) {
            let moves = match self.game.at(position).is_any == self.holds {
                true => {
                    let choice = on_play.get(&position).copied().or_else(|| region.choice(position));
                    self.winner_moves(position, choice)
                }
                false => self.loser_moves(position),
            };
            self.places[done].moves = moves;
            done += 1;
        }
    }

    /// The number of a position's place, new or not.
    fn place(&mut self, position: Position) -> u32 {
        if self.place_of[position as usize] == NONE {
            self.place_of[position as usize] = self.places.len() as u32;
            let entry = self.game.at(position);
            self.places.push(Place { state: entry.state, node: entry.node, moves: Vec::new() });
            self.todo.push(position);
        }
        self.place_of[position as usize]
    }

    fn winner_moves(&mut self, position: Position, choice: Option<Position>) -> Vec<Move> {
        let Some(target) = choice else { return Vec::new() };
        let label = self.label(position, target);
        vec![Move { label, to: self.place(target) }]
    }

    /// The first label that takes a modal position to another.
    fn label(&mut self, position: Position, target: Position) -> Option<LabelId> {
        let (entry, to) = (self.game.at(position), self.game.at(target).state);
        let Node::Modal(_, action, _) = self.game.formula.node(entry.node) else { return None };
        let transitions = self.space.transitions(entry.state).to_vec();
        let mut found = transitions.into_iter().filter(|(_, state)| *state == to);
        found.find(|(label, _)| self.space.is_in(self.game.formula, *action, *label)).map(|(label, _)| label)
    }

    fn loser_moves(&mut self, position: Position) -> Vec<Move> {
        let game = self.game;
        let entry = game.at(position);
        let Node::Modal(_, action, _) = game.formula.node(entry.node) else {
            return game.moves(position).iter().map(|&to| Move { label: None, to: self.place(to) }).collect();
        };
        let mut moves = Vec::new();
        for i in 0..self.space.transitions(entry.state).len() {
            let (label, to) = self.space.transitions(entry.state)[i];
            if !self.space.is_in(game.formula, *action, label) {
                continue;
            }
            let target = game.moves(position).iter().find(|&&target| game.at(target).state == to);
            if let Some(&target) = target {
                moves.push(Move { label: Some(label), to: self.place(target) });
            }
        }
        moves
    }

    /// The play in terms of places and steps.
    fn play(&mut self, route: &Route) -> Play {
        let turns: Vec<u32> = route.positions.iter().map(|&p| self.place_of[p as usize]).collect();
        let start = self.game.at(route.positions[0]).state;
        let (mut steps, mut loop_at) = (Vec::new(), None);
        for (i, &from) in route.positions.iter().enumerate() {
            if route.returns_to == Some(i) {
                loop_at = Some(steps.len());
            }
            let next = route.positions.get(i + 1).or_else(|| route.positions.get(route.returns_to?));
            let Some(&to) = next else { break };
            if let Some(label) = self.label(from, to) {
                steps.push(Step { label, to: self.game.at(to).state });
            }
        }
        Play { turns, returns_to: route.returns_to, start, steps, loop_at, is_closed: route.is_closed }
    }
}

/// Who moves at a node: the verifier at `||`, `<>` and variables, the refuter at `&&` and `[]`.
pub(crate) fn verifier_moves(formula: &Formula, node: NodeId) -> bool {
    matches!(formula.node(node), Node::Or(_) | Node::Variable(_) | Node::Modal(Modality::Diamond, ..))
}
