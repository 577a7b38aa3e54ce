//! Parity games, by Zielonka's recursive algorithm. [Zielonka98, McNaughton93]
//!
//! Two players move a token along edges for ever; the largest priority that recurs decides, even for
//! one player and odd for the other. Every vertex is won by one of them, with moves that depend on
//! the vertex only.
//!
//! ```text
//! solve(G):  p = largest priority, a its player
//!            A = attr_a({v | priority(v) = p});  solve(G - A)
//!            if the other player wins nothing there, a wins G
//!            else B = attr_other(what she wins there); she wins B; solve(G - B)
//! ```
//!
//! Differs from the paper: the second call is a loop, so recursion is as deep as there are
//! priorities.

use masque_verdict::{Budget, Stop};

use crate::pulse::Pulse;

/// A game in which every vertex has an edge. Edges are not doubled.
#[derive(Debug, Default)]
pub(crate) struct Parity {
    /// Whether the even player moves here.
    pub(crate) is_even: Vec<bool>,
    pub(crate) priority: Vec<u32>,
    pub(crate) edges: Edges,
}

/// Lists of vertices, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    ends: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    /// The list of the next vertex.
    pub(crate) fn push(&mut self, targets: impl IntoIterator<Item = u32>) {
        self.targets.extend(targets);
        // The moves of a game are fewer than 2^32.
        self.ends.push(self.targets.len() as u32);
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn range(&self, vertex: usize) -> std::ops::Range<usize> {
        let begin = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[vertex] as usize
    }

    fn of(&self, vertex: usize) -> &[u32] {
        &self.targets[self.range(vertex)]
    }

    /// The same edges, turned round.
    fn reversed(&self) -> Edges {
        let mut ends = vec![0; self.len()];
        self.targets.iter().for_each(|&to| ends[to as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // Where each list begins; it moves to the end while the list is filled.
            sum += std::mem::replace(end, sum);
        }
        let mut targets = vec![0; self.targets.len()];
        for from in 0..self.len() {
            for &to in self.of(from) {
                targets[ends[to as usize] as usize] = from as u32;
                ends[to as usize] += 1;
            }
        }
        Edges { ends, targets }
    }
}

/// Who wins each vertex (true: the even player), and the winner's move where she moves.
#[derive(Debug)]
pub(crate) struct Won {
    pub(crate) by_even: Vec<bool>,
    pub(crate) strategy: Vec<u32>,
}

struct Solver<'g> {
    game: &'g Parity,
    back: Edges,
    /// Each vertex of the game at hand has the number of that game here.
    region: Vec<u32>,
    /// How many edges of a vertex lead outside the attractor; scratch.
    outside: Vec<u32>,
    by_even: Vec<bool>,
    strategy: Vec<u32>,
    budget: &'g Budget,
}

/// A vertex of no game any more.
const GONE: u32 = u32::MAX;

/// Solves a game.
pub(crate) fn solve(game: &Parity, budget: &Budget) -> Result<Won, Stop> {
    let n = game.edges.len();
    let mut solver = Solver {
        game,
        back: game.edges.reversed(),
        region: vec![0; n],
        outside: vec![0; n],
        by_even: vec![false; n],
        strategy: vec![GONE; n],
        budget,
    };
    solver.region(0, (0..n as u32).collect())?;
    Ok(Won { by_even: solver.by_even, strategy: solver.strategy })
}

impl Solver<'_> {
    /// Solves the game number `depth`, which has these vertices.
    fn region(&mut self, depth: u32, mut vertices: Vec<u32>) -> Result<(), Stop> {
        while let Some(highest) = vertices.iter().map(|&v| self.game.priority[v as usize]).max() {
            self.budget.check()?;
            let even = highest.is_multiple_of(2);
            let at_highest = vertices.iter().copied().filter(|&v| self.game.priority[v as usize] == highest);
            let (targets, attracted) = {
                let targets: Vec<u32> = at_highest.collect();
                let attracted = self.attract(depth, even, &targets)?;
                (targets, attracted)
            };
            // What is attracted is marked by a game of no number.
            self.assign(&attracted, GONE);
            let outside = vertices.iter().copied().filter(|&v| self.region[v as usize] == depth);
            let rest: Vec<u32> = outside.collect();
            self.assign(&attracted, depth);
            drop(attracted);
            self.assign(&rest, depth + 1);
            self.region(depth + 1, rest.clone())?;
            self.assign(&rest, depth);
            let lost: Vec<u32> = rest.into_iter().filter(|&v| self.by_even[v as usize] != even).collect();
            if lost.is_empty() {
                vertices.iter().for_each(|&v| self.by_even[v as usize] = even);
                for target in targets {
                    // She is free where the priority is the highest, as long as she stays.
                    let stays = |to: &&u32| self.region[**to as usize] == depth;
                    let first = self.game.edges.of(target as usize).iter().find(stays);
                    self.strategy[target as usize] = first.copied().unwrap_or(GONE);
                }
                return Ok(());
            }
            let gone = self.attract(depth, !even, &lost)?;
            gone.iter().for_each(|&v| self.by_even[v as usize] = !even);
            self.assign(&gone, GONE);
            vertices.retain(|&v| self.region[v as usize] == depth);
        }
        Ok(())
    }

    fn assign(&mut self, vertices: &[u32], region: u32) {
        vertices.iter().for_each(|&v| self.region[v as usize] = region);
    }

    /// The vertices of a game from which a player can force the token to `targets`, and her moves.
    fn attract(&mut self, depth: u32, even: bool, targets: &[u32]) -> Result<Vec<u32>, Stop> {
        const IN: u32 = u32::MAX;
        let mut attracted = targets.to_vec();
        let mut touched = targets.to_vec();
        targets.iter().for_each(|&v| self.outside[v as usize] = IN);
        let mut done = 0;
        let mut pulse = Pulse::new(self.budget);
        while let Some(&to) = attracted.get(done) {
            pulse.beat()?;
            done += 1;
            for i in self.back.range(to as usize) {
                let from = self.back.targets[i] as usize;
                if self.region[from] != depth || self.outside[from] == IN {
                    continue;
                }
                if self.game.is_even[from] == even {
                    self.strategy[from] = to;
                } else {
                    if self.outside[from] == 0 {
                        let inside = |t: &&u32| self.region[**t as usize] == depth;
                        self.outside[from] = self.game.edges.of(from).iter().filter(inside).count() as u32;
                        touched.push(from as u32);
                    }
                    self.outside[from] -= 1;
                    if self.outside[from] > 0 {
                        continue;
                    }
                }
                self.outside[from] = IN;
                touched.push(from as u32);
                attracted.push(from as u32);
            }
        }
        touched.iter().for_each(|&v| self.outside[v as usize] = 0);
        Ok(attracted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a player's moves keep every cycle good for her, by looking at all cycles' priorities.
    fn is_winning(game: &Parity, won: &Won, even: bool) -> bool {
        let n = game.edges.len();
        let moves = |v: usize| -> Vec<usize> {
            match game.is_even[v] == even {
                true => vec![won.strategy[v] as usize],
                false => game.edges.of(v).iter().map(|&t| t as usize).collect(),
            }
        };
        let hers: Vec<usize> = (0..n).filter(|&v| won.by_even[v] == even).collect();
        let stays = hers.iter().all(|&v| moves(v).iter().all(|&t| won.by_even[t] == even));
        // A bad cycle returns to a vertex of a bad priority through smaller ones.
        let bad = |&v: &usize| game.priority[v].is_multiple_of(2) != even;
        let returns = |v: usize| {
            let mut seen = vec![false; n];
            let mut todo = moves(v);
            while let Some(t) = todo.pop() {
                if t == v {
                    return true;
                }
                if game.priority[t] <= game.priority[v] && !std::mem::replace(&mut seen[t], true) {
                    todo.extend(moves(t));
                }
            }
            false
        };
        stays && !hers.iter().copied().filter(bad).any(returns)
    }

    #[test]
    fn both_players_win_where_they_are_said_to() {
        for seed in 0..3000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let n = random.usize(1..14);
            let mut game = Parity::default();
            for _ in 0..n {
                game.is_even.push(random.bool());
                game.priority.push(random.u32(0..5));
                let mut edges: Vec<u32> = (0..random.usize(1..4)).map(|_| random.u32(0..n as u32)).collect();
                edges.sort_unstable();
                edges.dedup();
                game.edges.push(edges);
            }
            let won = solve(&game, &Budget::unlimited()).unwrap();
            assert!(is_winning(&game, &won, true), "even, seed {seed}: {game:?} {won:?}");
            assert!(is_winning(&game, &won, false), "odd, seed {seed}: {game:?} {won:?}");
        }
    }
}
