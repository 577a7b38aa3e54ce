//! Games in which the greatest thing that recurs decides, solved by recursion. [Zielonka98]
//!
//! One player, the *prover*, wants to come to an end that is hers, or to go on for ever so that the
//! greatest rank that recurs is good. The recursion takes away what is attracted to the nodes of
//! greatest rank, solves the rest, and gives what the opponent wins there to the opponent. It is as
//! deep as there are ranks.

/// A node of a game.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// Whether the prover chooses where to go on, or her opponent.
    pub(crate) is_hers: bool,
    /// The greater, the more it counts that this recurs.
    pub(crate) rank: u32,
    /// Whether that is good for the prover.
    pub(crate) is_good: bool,
    /// Where to go on, at least one.
    pub(crate) next: Vec<usize>,
}

/// For each node whether the prover wins from there, and where she goes on from nodes that are hers.
pub(crate) struct Winning {
    pub(crate) is_won: Vec<bool>,
    pub(crate) choice: Vec<Option<usize>>,
}

/// Who wins where, and how. Everything is taken in order: the same game has the same answer.
pub(crate) fn solve(game: &[Position]) -> Winning {
    let mut before = vec![Vec::new(); game.len()];
    for (node, position) in game.iter().enumerate() {
        position.next.iter().for_each(|&next| before[next].push(node));
    }
    let mut solver = Solver { game, before, choice: vec![None; game.len()] };
    let mut is_won = vec![false; game.len()];
    let all: Vec<usize> = (0..game.len()).collect();
    solver.solve(&all, &mut is_won);
    Winning { is_won, choice: solver.choice }
}

struct Solver<'g> {
    game: &'g [Position],
    before: Vec<Vec<usize>>,
    /// Where the prover goes on, from the nodes that are known to be won.
    choice: Vec<Option<usize>>,
}

impl Solver<'_> {
    /// Settles the nodes of a part of the game in which everybody can always go on.
    fn solve(&mut self, part: &[usize], is_won: &mut [bool]) {
        let mut left = part.to_vec();
        while let Some(greatest) = left.iter().map(|&node| self.game[node].rank).max() {
            // Nodes of one rank are good or bad; where both occur, the bad ones count less.
            let is_good =
                left.iter().any(|&node| self.game[node].rank == greatest && self.game[node].is_good);
            let heads: Vec<usize> = left
                .iter()
                .copied()
                .filter(|&node| self.game[node].rank == greatest && self.game[node].is_good == is_good)
                .collect();
            let inside = self.marked(&left);
            let near = self.attracted(&heads, &inside, is_good);
            let is_near = self.marked(&near);
            let rest: Vec<usize> = left.iter().copied().filter(|&node| !is_near[node]).collect();
            self.solve(&rest, is_won);
            let lost: Vec<usize> = rest.into_iter().filter(|&node| is_won[node] != is_good).collect();
            if lost.is_empty() {
                left.iter().for_each(|&node| is_won[node] = is_good);
                if is_good {
                    // From the heads any way will do that stays here.
                    for &node in heads.iter().filter(|&&node| self.game[node].is_hers) {
                        self.choice[node] = self.game[node].next.iter().copied().find(|&next| inside[next]);
                    }
                }
                return;
            }
            let taken = self.attracted(&lost, &inside, !is_good);
            taken.iter().for_each(|&node| is_won[node] = !is_good);
            let is_taken = self.marked(&taken);
            left.retain(|&node| !is_taken[node]);
        }
    }

    fn marked(&self, nodes: &[usize]) -> Vec<bool> {
        let mut marked = vec![false; self.game.len()];
        nodes.iter().for_each(|&node| marked[node] = true);
        marked
    }

    /// The nodes from which one side can force the play to some nodes; the prover's choices on the
    /// way are noted, shortest ways first.
    fn attracted(&mut self, to: &[usize], inside: &[bool], by_prover: bool) -> Vec<usize> {
        let mut is_in = self.marked(to);
        let mut n_open: Vec<usize> = (self.game.iter())
            .map(|position| position.next.iter().filter(|&&next| inside[next]).count())
            .collect();
        let mut found = to.to_vec();
        let mut at = 0;
        while let Some(&node) = found.get(at) {
            at += 1;
            for place in 0..self.before[node].len() {
                let earlier = self.before[node][place];
                if !inside[earlier] || is_in[earlier] {
                    continue;
                }
                n_open[earlier] -= 1;
                let chooses = self.game[earlier].is_hers == by_prover;
                if !chooses && n_open[earlier] > 0 {
                    continue;
                }
                is_in[earlier] = true;
                found.push(earlier);
                if by_prover && self.game[earlier].is_hers {
                    self.choice[earlier] = Some(node);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(is_hers: bool, rank: u32, is_good: bool, next: &[usize]) -> Position {
        Position { is_hers, rank, is_good, next: next.to_vec() }
    }

    #[test]
    fn what_recurs_decides() {
        let won = |game: &[Position]| solve(game).is_won;
        // A circle of a good and a bad node: the greater rank decides.
        let circle = |good, bad| [position(true, good, true, &[1]), position(true, bad, false, &[0])];
        assert_eq!(won(&circle(2, 1)), [true, true]);
        assert_eq!(won(&circle(1, 2)), [false, false]);
        // She chooses between a bad loop and an end that is hers.
        let choice = |is_hers| {
            [
                position(is_hers, 0, true, &[1, 2]),
                position(true, 1, false, &[0]),
                position(true, 0, true, &[2]),
            ]
        };
        assert_eq!(won(&choice(true)), [true, true, true]);
        assert_eq!(solve(&choice(true)).choice[0], Some(2));
        assert_eq!(won(&choice(false)), [false, false, true]);
    }

    /// Against the definition: every way of choosing is tried for her, and then for the other.
    #[test]
    fn small_games_by_trial() {
        let mut seed = 7_u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for number in 0..2000 {
            let n = 2 + random(5);
            let game: Vec<Position> = (0..n)
                .map(|_| {
                    let rank = random(4) as u32;
                    let next = (0..1 + random(2)).map(|_| random(n)).collect();
                    Position { is_hers: random(2) == 0, rank, is_good: rank.is_multiple_of(2), next }
                })
                .collect();
            let found = solve(&game);
            let mut is_won = vec![false; n];
            for ways in 0..1 << n {
                let fixed = |node: usize| {
                    let Position { is_hers, next, .. } = &game[node];
                    if *is_hers { vec![next[(ways >> node & 1) % next.len()]] } else { next.clone() }
                };
                let edges: Vec<Vec<usize>> = (0..n).map(fixed).collect();
                (0..n).for_each(|node| is_won[node] |= is_safe(&game, &edges, node));
            }
            assert_eq!(found.is_won, is_won, "game {number}: {game:?}");
            let fixed = |node: usize| match (game[node].is_hers, found.choice[node]) {
                (true, Some(choice)) if is_won[node] => vec![choice],
                _ => game[node].next.clone(),
            };
            let edges: Vec<Vec<usize>> = (0..n).map(fixed).collect();
            for node in (0..n).filter(|&node| is_won[node]) {
                assert!(is_safe(&game, &edges, node), "game {number}: {game:?}, {:?}", found.choice);
            }
        }
    }

    /// Whether no circle that can be reached has a bad node as its greatest.
    fn is_safe(game: &[Position], edges: &[Vec<usize>], from: usize) -> bool {
        let reach = |from: usize, most: u32| {
            let mut seen = vec![false; game.len()];
            let mut open = vec![from];
            while let Some(node) = open.pop() {
                for &next in edges[node].iter().filter(|&&next| game[next].rank <= most) {
                    if !std::mem::replace(&mut seen[next], true) {
                        open.push(next);
                    }
                }
            }
            seen
        };
        let mut seen = reach(from, u32::MAX);
        seen[from] = true;
        (0..game.len())
            .filter(|&node| seen[node] && !game[node].is_good)
            .all(|node| !reach(node, game[node].rank)[node])
    }
}
