//! The play to show: the shortest that the winner can force.
//!
//! Everything the winner wins is her *region*. Where a level of the formula is in her favour, she may
//! go anywhere in the region: staying for ever wins. Where it is not, she must get on, and *ranks*
//! say how: the number of steps to where she has won, or may stay. On a mixed level she follows the
//! strategy that the parity game gave her.
//!
//! Among all plays that keep to this, the shortest that ends where the loser is beaten, or in a loop,
//! is shown. The loser's side conditions that can be seen in the state itself (`p` in `p && <a>X`)
//! are passed over; where the loser has a choice of steps, one play no longer tells the story, and it
//! ends there.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::formula::Node;
use crate::game::{Game, NONE, Position};
use crate::levels::Level;
use crate::tree::Sign;

/// So many moves are looked at for the shortest loop; after that the shortest found so far is taken.
const LOOP_EFFORT: usize = 2_000_000;

/// Where the winner wins, and how.
pub(crate) struct Region<'g, 'f> {
    game: &'g Game<'f>,
    holds: bool,
    /// Its positions, the root first.
    positions: Vec<Position>,
    /// The place of each position in `positions`, or [`NONE`].
    place: Vec<u32>,
    rank: Vec<u32>,
    /// When a rank was found; moves of equal rank go to positions ranked before.
    order: Vec<u32>,
    /// Whether the position is decided in the state itself.
    is_flat: Vec<bool>,
}

/// A play as positions.
pub(crate) struct Route {
    pub(crate) positions: Vec<Position>,
    /// For a lasso, where the play goes after its last position.
    pub(crate) returns_to: Option<usize>,
    pub(crate) is_closed: bool,
}

impl Route {
    /// For each position of the play, the next one.
    pub(crate) fn successors(&self) -> FxHashMap<Position, Position> {
        let back = self.returns_to.and_then(|turn| self.positions.get(turn));
        let next = self.positions.iter().skip(1).chain(back);
        self.positions.iter().copied().zip(next.copied()).collect()
    }
}

/// How the winner must play at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Freedom {
    /// She may go anywhere in the region.
    Free,
    /// She must come nearer.
    Ranked,
    /// She follows the strategy of the parity game.
    Fixed,
}

impl<'g, 'f> Region<'g, 'f> {
    pub(crate) fn new(game: &'g Game<'f>, root: Position, holds: bool) -> Self {
        let mut place = vec![NONE; game.positions.len()];
        let mut positions = vec![root];
        place[root as usize] = 0;
        let mut done = 0;
        while let Some(&position) = positions.get(done) {
            done += 1;
            for &target in game.moves(position) {
                if game.value(target) == Some(holds) && place[target as usize] == NONE {
                    place[target as usize] = positions.len() as u32;
                    positions.push(target);
                }
            }
        }
        let n = positions.len();
        let (rank, order, is_flat) = (vec![NONE; n], vec![NONE; n], vec![false; n]);
        let mut region = Region { game, holds, positions, place, rank, order, is_flat };
        region.rank();
        region
    }

    fn freedom(&self, i: usize) -> Freedom {
        let node = self.game.at(self.positions[i]).node;
        match self.game.formula.levels()[self.game.formula.level_of(node) as usize] {
            Level::Mixed => Freedom::Fixed,
            Level::Uniform(sign) if (sign == Sign::Nu) == self.holds => Freedom::Free,
            Level::Uniform(_) | Level::Acyclic => Freedom::Ranked,
        }
    }

    fn is_modal(&self, i: usize) -> bool {
        matches!(self.game.formula.node(self.game.at(self.positions[i]).node), Node::Modal(..))
    }

    fn winner_moves(&self, i: usize) -> bool {
        self.game.at(self.positions[i]).is_any == self.holds
    }

    /// The moves of a position inside the region.
    fn moves(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let places = self.game.moves(self.positions[i]).iter().map(|&target| self.place[target as usize]);
        places.filter(|&place| place != NONE).map(|place| place as usize)
    }

    /// Ranks by increasing number of steps. Where the winner moves, one ranked move is enough; where
    /// the loser does, all are needed, and the last one counts. [Knuth77]
    fn rank(&mut self) {
        let n = self.positions.len();
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

    /// The winner's move at a position.
    pub(crate) fn choice(&self, position: Position) -> Option<Position> {
        let i = self.place[position as usize] as usize;
        match self.freedom(i) {
            Freedom::Ranked => self.nearest(i).map(|next| self.positions[next]),
            Freedom::Free | Freedom::Fixed => {
                Some(self.game.at(position).witness).filter(|&witness| witness != NONE)
            }
        }
    }

    /// The moves that a play to show may take.
    fn shown_moves(&self, i: usize) -> Vec<usize> {
        if self.winner_moves(i) {
            return match self.freedom(i) {
                Freedom::Free => self.moves(i).collect(),
                Freedom::Fixed => {
                    let witness = self.game.at(self.positions[i]).witness;
                    self.place.get(witness as usize).map(|&place| place as usize).into_iter().collect()
                }
                Freedom::Ranked => {
                    let step = u32::from(self.is_modal(i));
                    let nearer = |next: &usize| {
                        self.order[*next] < self.order[i] && self.rank[*next] + step == self.rank[i]
                    };
                    self.moves(i).filter(nearer).collect()
                }
            };
        }
        let moves: Vec<usize> = self.moves(i).collect();
        match self.is_modal(i) {
            true if moves.len() == 1 => moves,
            true => Vec::new(),
            false => moves.into_iter().filter(|&next| !self.is_flat[next]).collect(),
        }
    }

    /// Whether a play that cannot go on here has come to its end.
    fn is_end(&self, i: usize) -> bool {
        self.winner_moves(i) || !self.is_modal(i) || self.moves(i).next().is_none()
    }

    /// The play to show.
    pub(crate) fn route(&self) -> Route {
        let shown: Vec<Vec<usize>> = (0..self.positions.len()).map(|i| self.shown_moves(i)).collect();
        let search = Search { region: self, shown: &shown };
        let mut unlimited = usize::MAX;
        let tree = search.from(0, NONE, &mut unlimited);
        let nearest = |closed: bool| {
            let ends = (0..shown.len()).filter(|&i| shown[i].is_empty() && self.is_end(i) == closed);
            ends.filter(|&i| tree.distance[i] != NONE).min_by_key(|&i| (tree.distance[i], i))
        };
        let (end, open) = (nearest(true), nearest(false));
        // A choice of steps at once tells nothing, if there is anything else to tell.
        let later = open.filter(|&open| tree.distance[open] > 0);
        let far = |end: Option<usize>| end.map_or(NONE, |end| tree.distance[end]);
        let lasso = search.lasso(&tree, far(end).min(far(later).saturating_add(1)));
        let shortest = if far(end) <= far(later) { end.or(open) } else { later };
        match (lasso, shortest) {
            // A variable that is its own body: the play goes round on the spot.
            (Some((stem, cycle)), _) if !stem.last().into_iter().chain(&cycle).any(|&i| self.is_modal(i)) => {
                self.route_of(stem, None, true)
            }
            (Some((stem, cycle)), _) => {
                let mut places = stem;
                let returns_to = Some(places.len() - 1);
                places.extend(&cycle);
                self.route_of(places, returns_to, true)
            }
            (None, Some(end)) => self.route_of(tree.path(end), None, self.is_end(end)),
            (None, None) => self.route_of(vec![0], None, false),
        }
    }

    fn route_of(&self, places: Vec<usize>, returns_to: Option<usize>, is_closed: bool) -> Route {
        let positions = places.into_iter().map(|i| self.positions[i]).collect();
        Route { positions, returns_to, is_closed }
    }
}

/// Breadth-first search along shown moves, where only transitions count as steps.
struct Search<'s, 'g, 'f> {
    region: &'s Region<'g, 'f>,
    shown: &'s [Vec<usize>],
}

/// Shortest paths from one place.
struct Tree {
    distance: Vec<u32>,
    parent: Vec<u32>,
    /// The places in the order of their distance.
    visited: Vec<usize>,
}

impl Tree {
    fn path(&self, to: usize) -> Vec<usize> {
        let mut path = vec![to];
        let mut at = to;
        while self.parent[at] != NONE {
            at = self.parent[at] as usize;
            path.push(at);
        }
        path.reverse();
        path
    }
}

impl Search<'_, '_, '_> {
    /// Distances below `limit`, as long as there is `effort` left.
    fn from(&self, start: usize, limit: u32, effort: &mut usize) -> Tree {
        let n = self.shown.len();
        let mut tree = Tree { distance: vec![NONE; n], parent: vec![NONE; n], visited: Vec::new() };
        let mut is_done = vec![false; n];
        let mut queue = VecDeque::from([start]);
        tree.distance[start] = 0;
        while let Some(i) = queue.pop_front() {
            if std::mem::replace(&mut is_done[i], true) {
                continue;
            }
            tree.visited.push(i);
            let step = u32::from(self.region.is_modal(i));
            let next_distance = tree.distance[i] + step;
            if next_distance >= limit || *effort == 0 {
                continue;
            }
            for &next in &self.shown[i] {
                *effort = effort.saturating_sub(1);
                if next_distance < tree.distance[next] {
                    (tree.distance[next], tree.parent[next]) = (next_distance, i as u32);
                    if step == 1 { queue.push_back(next) } else { queue.push_front(next) }
                }
            }
        }
        tree
    }

    /// The shortest path to a loop and around it, if shorter than `limit`: the path up to the first
    /// place of the loop, and the rest of the loop.
    fn lasso(&self, tree: &Tree, limit: u32) -> Option<(Vec<usize>, Vec<usize>)> {
        let mut best = None;
        let mut limit = limit;
        let mut effort = LOOP_EFFORT;
        for &entry in &tree.visited {
            let stem = tree.distance[entry];
            if stem >= limit || effort == 0 {
                break;
            }
            // The cheapest loop through `entry` ends with a move back to it.
            effort = effort.saturating_sub(self.shown.len());
            let around = self.from(entry, limit - stem, &mut effort);
            let closing = around.visited.iter().copied().filter(|&i| self.shown[i].contains(&entry));
            let length = |i: usize| around.distance[i] + u32::from(self.region.is_modal(i));
            let Some(last) = closing.min_by_key(|&i| length(i)) else { continue };
            if stem + length(last) < limit {
                limit = stem + length(last);
                let mut cycle = around.path(last);
                cycle.remove(0);
                best = Some((tree.path(entry), cycle));
            }
        }
        best
    }
}
