//! The play to show: the shortest that the winner can force.
//!
//! Among the winning plays in the region, this module selects the shortest that ends where the loser has
//! lost, or in a loop. Alternatives of the loser that are decided in the state itself (`p` in `p && <a>X`)
//! are skipped. Where the loser has a choice of steps, a single play is not conclusive, and it ends there.

use std::collections::VecDeque;

use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::game::NONE;
use crate::region::{Freedom, Region};
use crate::ticker::Ticker;

/// Maximum number of moves that the search for the shortest loop visits; then the shortest found so far is
/// used.
const MAX_LOOP_SEARCH_MOVES: usize = 2_000_000;

/// A play as positions of the region, by index.
pub(crate) struct Route {
    pub(crate) positions: Vec<usize>,
    /// For a lasso, the index in `positions` that follows the last.
    pub(crate) returns_to: Option<usize>,
    /// Whether the play is forced to its end; if not, the loser has a choice of steps there.
    pub(crate) is_closed: bool,
}

impl Route {
    /// Returns the next position for each position of the play.
    pub(crate) fn successors(&self) -> FxHashMap<usize, usize> {
        let back = self.returns_to.and_then(|turn| self.positions.get(turn));
        let next = self.positions.iter().skip(1).chain(back);
        self.positions.iter().copied().zip(next.copied()).collect()
    }
}

impl Region<'_> {
    /// Returns the moves that a play to show may take.
    fn shown_moves(&self, i: usize) -> Vec<usize> {
        if self.winner_moves(i) {
            return match self.freedom(i) {
                Freedom::Free => self.moves(i).collect(),
                Freedom::Fixed => self.decisive(i).into_iter().collect(),
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
        if !self.is_modal(i) {
            moves.into_iter().filter(|&next| !self.is_flat[next]).collect()
        } else if moves.len() == 1 {
            moves
        } else {
            Vec::new()
        }
    }

    /// Whether a play that has no moves to show here is decided: the loser has no choice of steps.
    fn is_end(&self, i: usize) -> bool {
        self.winner_moves(i) || !self.is_modal(i) || self.moves(i).next().is_none()
    }

    /// Returns the play to show.
    pub(crate) fn route(&self, budget: &Budget) -> Result<Route, Stop> {
        let mut ticker = Ticker::new(budget);
        let shown = (0..self.len()).map(|i| ticker.tick().map(|()| self.shown_moves(i)));
        let shown: Vec<Vec<usize>> = shown.collect::<Result<_, Stop>>()?;
        let search = PlaySearch { region: self, shown: &shown };
        let mut unlimited = usize::MAX;
        let paths = search.paths_from(0, NONE, &mut unlimited, &mut ticker)?;
        let nearest = |closed: bool| {
            let ends = (0..shown.len()).filter(|&i| shown[i].is_empty() && self.is_end(i) == closed);
            ends.filter(|&i| paths.distance[i] != NONE).min_by_key(|&i| (paths.distance[i], i))
        };
        let (end, open) = (nearest(true), nearest(false));
        // A play without steps that ends in a choice of the loser is the last resort.
        let later = open.filter(|&open| paths.distance[open] > 0);
        let far = |end: Option<usize>| end.map_or(NONE, |end| paths.distance[end]);
        let lasso = search.lasso(&paths, far(end).min(far(later).saturating_add(1)), &mut ticker)?;
        let shortest = if far(end) <= far(later) { end.or(open) } else { later };
        Ok(match (lasso, shortest) {
            // A variable that is its own body: the loop has no steps.
            (Some((stem, cycle)), _) if !stem.last().into_iter().chain(&cycle).any(|&i| self.is_modal(i)) => {
                Route { positions: stem, returns_to: None, is_closed: true }
            }
            (Some((stem, cycle)), _) => {
                let mut positions = stem;
                let returns_to = Some(positions.len() - 1);
                positions.extend(&cycle);
                Route { positions, returns_to, is_closed: true }
            }
            (None, Some(end)) => {
                Route { positions: paths.path(end), returns_to: None, is_closed: self.is_end(end) }
            }
            (None, None) => Route { positions: vec![0], returns_to: None, is_closed: false },
        })
    }
}

/// Breadth-first search along the moves to show, where only transitions count as steps.
struct PlaySearch<'s, 'f> {
    region: &'s Region<'f>,
    shown: &'s [Vec<usize>],
}

/// A path up to the first position of a loop, and the rest of the loop.
type Lasso = (Vec<usize>, Vec<usize>);

/// Shortest paths from one position.
struct ShortestPaths {
    distance: Vec<u32>,
    parent: Vec<u32>,
    /// Positions in the order of their distance.
    visited: Vec<usize>,
}

impl ShortestPaths {
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

impl PlaySearch<'_, '_> {
    /// Returns shortest paths shorter than `limit`; visits at most `moves_left` moves, which it decreases.
    fn paths_from(
        &self,
        start: usize,
        limit: u32,
        moves_left: &mut usize,
        ticker: &mut Ticker<'_>,
    ) -> Result<ShortestPaths, Stop> {
        let n = self.shown.len();
        let mut paths = ShortestPaths { distance: vec![NONE; n], parent: vec![NONE; n], visited: Vec::new() };
        let mut is_done = vec![false; n];
        let mut queue = VecDeque::from([start]);
        paths.distance[start] = 0;
        while let Some(i) = queue.pop_front() {
            ticker.tick()?;
            if std::mem::replace(&mut is_done[i], true) {
                continue;
            }
            paths.visited.push(i);
            let step = u32::from(self.region.is_modal(i));
            let next_distance = paths.distance[i] + step;
            if next_distance >= limit || *moves_left == 0 {
                continue;
            }
            for &next in &self.shown[i] {
                *moves_left = moves_left.saturating_sub(1);
                if next_distance < paths.distance[next] {
                    (paths.distance[next], paths.parent[next]) = (next_distance, i as u32);
                    if step == 1 { queue.push_back(next) } else { queue.push_front(next) }
                }
            }
        }
        Ok(paths)
    }

    /// Returns the shortest path to a loop and around it, if it is shorter than `limit`.
    fn lasso(
        &self,
        paths: &ShortestPaths,
        limit: u32,
        ticker: &mut Ticker<'_>,
    ) -> Result<Option<Lasso>, Stop> {
        let mut best = None;
        let mut limit = limit;
        let mut moves_left = MAX_LOOP_SEARCH_MOVES;
        for &entry in &paths.visited {
            let stem = paths.distance[entry];
            if stem >= limit || moves_left == 0 {
                break;
            }
            // The shortest loop through `entry` ends with a move back to it.
            moves_left = moves_left.saturating_sub(self.shown.len());
            let around = self.paths_from(entry, limit - stem, &mut moves_left, ticker)?;
            let closing = around.visited.iter().copied().filter(|&i| self.shown[i].contains(&entry));
            let length = |i: usize| around.distance[i] + u32::from(self.region.is_modal(i));
            let Some(last) = closing.min_by_key(|&i| length(i)) else { continue };
            if stem + length(last) < limit {
                limit = stem + length(last);
                let mut cycle = around.path(last);
                cycle.remove(0);
                best = Some((paths.path(entry), cycle));
            }
        }
        Ok(best)
    }
}
