//! The play to show: the shortest that the winner can force.
//!
//! Among all plays in her region by which the winner wins, the shortest that ends where the loser is
//! beaten, or in a loop, is shown. The loser's side conditions that can be seen in the state itself
//! (`p` in `p && <a>X`) are passed over; where the loser has a choice of steps, one play no longer tells
//! the story, and it ends there.

use std::collections::VecDeque;

use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::game::NONE;
use crate::pulse::Pulse;
use crate::region::{Freedom, Region};

/// So many moves are looked at for the shortest loop; after that the shortest found so far is taken.
const LOOP_EFFORT: usize = 2_000_000;

/// A play as places of the region.
pub(crate) struct Route {
    pub(crate) places: Vec<usize>,
    /// For a lasso, where the play goes after its last place.
    pub(crate) returns_to: Option<usize>,
    pub(crate) is_closed: bool,
}

impl Route {
    /// For each place of the play, the next one.
    pub(crate) fn successors(&self) -> FxHashMap<usize, usize> {
        let back = self.returns_to.and_then(|turn| self.places.get(turn));
        let next = self.places.iter().skip(1).chain(back);
        self.places.iter().copied().zip(next.copied()).collect()
    }
}

impl Region<'_> {
    /// The moves that a play to show may take.
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
    pub(crate) fn route(&self, budget: &Budget) -> Result<Route, Stop> {
        let mut pulse = Pulse::new(budget);
        let shown = (0..self.len()).map(|i| pulse.beat().map(|()| self.shown_moves(i)));
        let shown: Vec<Vec<usize>> = shown.collect::<Result<_, Stop>>()?;
        let search = Search { region: self, shown: &shown };
        let mut unlimited = usize::MAX;
        let tree = search.from(0, NONE, &mut unlimited, &mut pulse)?;
        let nearest = |closed: bool| {
            let ends = (0..shown.len()).filter(|&i| shown[i].is_empty() && self.is_end(i) == closed);
            ends.filter(|&i| tree.distance[i] != NONE).min_by_key(|&i| (tree.distance[i], i))
        };
        let (end, open) = (nearest(true), nearest(false));
        // A choice of steps at once tells nothing, if there is anything else to tell.
        let later = open.filter(|&open| tree.distance[open] > 0);
        let far = |end: Option<usize>| end.map_or(NONE, |end| tree.distance[end]);
        let lasso = search.lasso(&tree, far(end).min(far(later).saturating_add(1)), &mut pulse)?;
        let shortest = if far(end) <= far(later) { end.or(open) } else { later };
        Ok(match (lasso, shortest) {
            // A variable that is its own body: the play goes round on the spot.
            (Some((stem, cycle)), _) if !stem.last().into_iter().chain(&cycle).any(|&i| self.is_modal(i)) => {
                Route { places: stem, returns_to: None, is_closed: true }
            }
            (Some((stem, cycle)), _) => {
                let mut places = stem;
                let returns_to = Some(places.len() - 1);
                places.extend(&cycle);
                Route { places, returns_to, is_closed: true }
            }
            (None, Some(end)) => {
                Route { places: tree.path(end), returns_to: None, is_closed: self.is_end(end) }
            }
            (None, None) => Route { places: vec![0], returns_to: None, is_closed: false },
        })
    }
}

/// Breadth-first search along shown moves, where only transitions count as steps.
struct Search<'s, 'f> {
    region: &'s Region<'f>,
    shown: &'s [Vec<usize>],
}

/// A path up to the first place of a loop, and the rest of the loop.
type Lasso = (Vec<usize>, Vec<usize>);

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

impl Search<'_, '_> {
    /// Distances below `limit`, as long as there is `effort` left.
    fn from(
        &self,
        start: usize,
        limit: u32,
        effort: &mut usize,
        pulse: &mut Pulse<'_>,
    ) -> Result<Tree, Stop> {
        let n = self.shown.len();
        let mut tree = Tree { distance: vec![NONE; n], parent: vec![NONE; n], visited: Vec::new() };
        let mut is_done = vec![false; n];
        let mut queue = VecDeque::from([start]);
        tree.distance[start] = 0;
        while let Some(i) = queue.pop_front() {
            pulse.beat()?;
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
        Ok(tree)
    }

    /// The shortest path to a loop and around it, if shorter than `limit`: the path up to the first
    /// place of the loop, and the rest of the loop.
    fn lasso(&self, tree: &Tree, limit: u32, pulse: &mut Pulse<'_>) -> Result<Option<Lasso>, Stop> {
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
            let around = self.from(entry, limit - stem, &mut effort, pulse)?;
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
        Ok(best)
    }
}
