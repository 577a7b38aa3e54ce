//! Parity games, by Zielonka's recursive algorithm. [Zielonka98, McNaughton93]
//!
//! Two players move a token along edges forever. The largest priority that recurs decides: if it is even,
//! the even player wins, else the odd player. Every vertex is won by one of them, with moves that depend
//! on the vertex only.
//!
//! ```text
//! solve(G):  p = largest priority, a its player
//!            A = attr_a({v | priority(v) = p});  solve(G - A)
//!            if the other player wins nothing there, a wins G
//!            else B = attr_other(what the other wins there); the other wins B; solve(G - B)
//! ```
//!
//! Differs from the paper: the second call is a loop, so the depth of the recursion is at most the number
//! of priorities.

/// Number of attracted vertices between two calls of `check`.
const STEPS_BETWEEN_CHECKS: u32 = 4096;

/// A game in which every vertex has an edge.
///
/// ```
/// use masque_graph::{ParityGame, solve};
/// let mut game = ParityGame::default();
/// // The even player stays at 0, or goes to 1, where the odd player stays.
/// game.push(true, 2, [0, 1]);
/// game.push(false, 1, [1]);
/// let solution = solve(&game, || Ok::<(), ()>(())).unwrap();
/// assert_eq!(solution.by_even, [true, false]);
/// assert_eq!(solution.strategy[0], 0);
/// ```
#[derive(Debug, Default)]
pub struct ParityGame {
    /// For each vertex, whether the even player moves there.
    is_even: Vec<bool>,
    priority: Vec<u32>,
    edges: Edges,
}

impl ParityGame {
    /// Adds the next vertex: whether the even player moves there, its priority, and the targets of its
    /// edges, at least one.
    pub fn push(&mut self, is_even: bool, priority: u32, targets: impl IntoIterator<Item = u32>) {
        self.is_even.push(is_even);
        self.priority.push(priority);
        self.edges.push(targets);
    }
}

/// Lists of vertices in one array.
#[derive(Debug, Default)]
struct Edges {
    ends: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    /// Adds the list of the next vertex.
    fn push(&mut self, targets: impl IntoIterator<Item = u32>) {
        self.targets.extend(targets);
        // A game has fewer than 2^32 edges.
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

    /// Returns the reversed edges.
    fn reversed(&self) -> Edges {
        let mut ends = vec![0; self.len()];
        self.targets.iter().for_each(|&to| ends[to as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // First the start of each list, which becomes its end while the list is filled.
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

/// The solution of a game.
#[derive(Debug)]
pub struct Solution {
    /// For each vertex, whether the even player wins there.
    pub by_even: Vec<bool>,
    /// For each vertex at which its winner moves, the target of the winner's move. Other entries have no
    /// meaning.
    pub strategy: Vec<u32>,
}

struct Solver<'g, F> {
    game: &'g ParityGame,
    /// The reversed edges.
    back: Edges,
    /// For each vertex, the recursion depth of the smallest subgame that contains it, or [`GONE`].
    region: Vec<u32>,
    /// For each vertex, the number of its edges that lead outside the attractor being computed, else 0.
    outside: Vec<u32>,
    by_even: Vec<bool>,
    strategy: Vec<u32>,
    /// Stops the solver by an error.
    check: F,
}

/// Region of a vertex that is in no subgame any more.
const GONE: u32 = u32::MAX;

/// Solves a game. `check` is called repeatedly, and stops the solver by an error.
///
/// Vertices and edges are processed in order, so the same game always has the same solution. Among the
/// moves into an attractor, one with a shortest way to its target is chosen.
pub fn solve<E>(game: &ParityGame, check: impl FnMut() -> Result<(), E>) -> Result<Solution, E> {
    let n = game.edges.len();
    let mut solver = Solver {
        game,
        back: game.edges.reversed(),
        region: vec![0; n],
        outside: vec![0; n],
        by_even: vec![false; n],
        strategy: vec![GONE; n],
        check,
    };
    solver.region(0, (0..n as u32).collect())?;
    Ok(Solution { by_even: solver.by_even, strategy: solver.strategy })
}

impl<E, F: FnMut() -> Result<(), E>> Solver<'_, F> {
    /// Solves the subgame at a recursion depth, which has these vertices.
    fn region(&mut self, depth: u32, mut vertices: Vec<u32>) -> Result<(), E> {
        while let Some(highest) = vertices.iter().map(|&v| self.game.priority[v as usize]).max() {
            (self.check)()?;
            let even = highest.is_multiple_of(2);
            let at_highest = vertices.iter().copied().filter(|&v| self.game.priority[v as usize] == highest);
            let targets: Vec<u32> = at_highest.collect();
            let attracted = self.attract(depth, even, &targets)?;
            // The attracted vertices are marked while the others are collected.
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
                    // Where the priority is the highest, any move inside the subgame wins.
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

    /// Computes the vertices of a subgame from which a player can force the token to `targets`, and sets
    /// the player's moves.
    fn attract(&mut self, depth: u32, even: bool, targets: &[u32]) -> Result<Vec<u32>, E> {
        const ATTRACTED: u32 = u32::MAX;
        let mut attracted = targets.to_vec();
        let mut touched = targets.to_vec();
        targets.iter().for_each(|&v| self.outside[v as usize] = ATTRACTED);
        let mut done = 0;
        let mut n_left = STEPS_BETWEEN_CHECKS;
        while let Some(&to) = attracted.get(done) {
            n_left -= 1;
            if n_left == 0 {
                n_left = STEPS_BETWEEN_CHECKS;
                (self.check)()?;
            }
            done += 1;
            for i in self.back.range(to as usize) {
                let from = self.back.targets[i] as usize;
                if self.region[from] != depth || self.outside[from] == ATTRACTED {
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
                self.outside[from] = ATTRACTED;
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

    /// Returns whether a player's moves win: they stay in the winning region, and every cycle there has a
    /// largest priority of the player's parity.
    fn is_winning(game: &ParityGame, won: &Solution, even: bool) -> bool {
        let n = game.edges.len();
        let moves = |v: usize| -> Vec<usize> {
            if game.is_even[v] == even {
                vec![won.strategy[v] as usize]
            } else {
                game.edges.of(v).iter().map(|&t| t as usize).collect()
            }
        };
        let region: Vec<usize> = (0..n).filter(|&v| won.by_even[v] == even).collect();
        let stays = region.iter().all(|&v| moves(v).iter().all(|&t| won.by_even[t] == even));
        // A lost cycle returns to a vertex with a priority of the wrong parity through smaller priorities.
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
        stays && !region.iter().copied().filter(bad).any(returns)
    }

    #[test]
    fn strategies_win_in_both_regions() {
        for seed in 0..3000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let n = random.usize(1..14);
            let mut game = ParityGame::default();
            for _ in 0..n {
                let (is_even, priority) = (random.bool(), random.u32(0..5));
                let mut edges: Vec<u32> = (0..random.usize(1..4)).map(|_| random.u32(0..n as u32)).collect();
                edges.sort_unstable();
                edges.dedup();
                game.push(is_even, priority, edges);
            }
            let won = solve(&game, || Ok::<(), ()>(())).unwrap();
            assert!(is_winning(&game, &won, true), "even, seed {seed}: {game:?} {won:?}");
            assert!(is_winning(&game, &won, false), "odd, seed {seed}: {game:?} {won:?}");
        }
    }

    /// Compares the solver with the definition: tries all memoryless strategies of the even player.
    #[test]
    fn small_games_agree_with_the_definition() {
        for seed in 0..2000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let n = random.usize(2..7);
            let mut game = ParityGame::default();
            for _ in 0..n {
                let targets: Vec<u32> = (0..random.usize(1..3)).map(|_| random.u32(0..n as u32)).collect();
                game.push(random.bool(), random.u32(0..4), targets);
            }
            let solution = solve(&game, || Ok::<(), ()>(())).unwrap();
            let mut by_even = vec![false; n];
            for ways in 0..1 << n {
                let moves = |v: usize| match (game.edges.of(v), game.is_even[v]) {
                    (targets, true) => vec![targets[(ways >> v & 1) % targets.len()]],
                    (targets, false) => targets.to_vec(),
                };
                let moves: Vec<Vec<u32>> = (0..n).map(moves).collect();
                (0..n).for_each(|v| by_even[v] |= all_cycles_are_even(&game, &moves, v));
            }
            assert_eq!(solution.by_even, by_even, "seed {seed}: {game:?}");
        }
    }

    /// Returns whether every reachable cycle has an even largest priority.
    fn all_cycles_are_even(game: &ParityGame, moves: &[Vec<u32>], from: usize) -> bool {
        let reach = |from: usize, highest: u32| {
            let mut seen = vec![false; moves.len()];
            let mut open = vec![from];
            while let Some(v) = open.pop() {
                for &to in moves[v].iter().filter(|&&to| game.priority[to as usize] <= highest) {
                    if !std::mem::replace(&mut seen[to as usize], true) {
                        open.push(to as usize);
                    }
                }
            }
            seen
        };
        let mut seen = reach(from, u32::MAX);
        seen[from] = true;
        let is_odd = |&v: &usize| seen[v] && !game.priority[v].is_multiple_of(2);
        !(0..moves.len()).filter(is_odd).any(|v| reach(v, game.priority[v])[v])
    }
}
