//! Worlds in which alice and bob act, as a system.

use super::*;

/// Worlds `0..n`; a joint action without a move has no successor.
pub(super) struct Game<'a> {
    pub(super) n: i64,
    /// World, alice's action, bob's action, and the successor. Several moves are a choice.
    pub(super) moves: &'a [(i64, u32, u32, i64)],
    pub(super) initial: &'a [i64],
    /// What alice sees of each world, and what bob sees.
    pub(super) views: [&'a [i64]; 2],
}

impl Game<'_> {
    /// The Environment is in a world and has one action; alice and bob have two each, always
    /// enabled. Propositions 0 and 1 are p and q. Groups: alice, both, all with the Environment.
    pub(super) fn system(&self, p: &[i64], q: &[i64]) -> System {
        let mut s = empty(Assignment::Multi);
        let environment = s.add_agent("Environment", &["go"]);
        s.environment = Some(environment);
        let players = [s.add_agent("alice", &["l", "r"]), s.add_agent("bob", &["l", "r"])];
        let world = s.add_variable(environment, "world", Domain::Integers(0, self.n - 1));
        let views = [(); 2].map(|()| s.add_variable(environment, "view", Domain::Integers(0, self.n)));
        for (player, view) in players.iter().zip(views) {
            s.agents[player.index()].sees = vec![view];
        }
        for from in 0..self.n {
            for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let targets: Vec<i64> =
                    self.moves.iter().filter(|m| (m.0, m.1, m.2) == (from, x, y)).map(|m| m.3).collect();
                // A world that does not exist: the only choice is removed.
                let targets = if targets.is_empty() { vec![self.n] } else { targets };
                for to in targets {
                    let parts = vec![
                        s.is(world, from),
                        s.exprs.action_is(players[0], ActionId(x)),
                        s.exprs.action_is(players[1], ActionId(y)),
                    ];
                    let condition = s.exprs.and(parts);
                    let mut assignments = vec![(world, s.exprs.number(to))];
                    for (view, seen) in views.iter().zip(self.views) {
                        let seen = seen.get(to as usize).copied().unwrap_or(0);
                        assignments.push((*view, s.exprs.number(seen)));
                    }
                    s.add_line(environment, &assignments, condition);
                }
            }
        }
        let mut starts = Vec::new();
        for &start in self.initial {
            let mut parts = vec![s.is(world, start)];
            for (view, seen) in views.iter().zip(self.views) {
                parts.push(s.is(*view, seen.get(start as usize).copied().unwrap_or(0)));
            }
            starts.push(s.exprs.and(parts));
        }
        s.initial = s.exprs.or(starts);
        for (name, set) in [("p", p), ("q", q)] {
            let condition = s.is_one_of(world, set);
            s.propositions.push(Proposition { name: name.to_string(), condition, span: Span::default() });
        }
        let groups: [(&str, &[u32]); 3] = [("alice", &[1]), ("both", &[1, 2]), ("all", &[0, 1, 2])];
        for (name, agents) in groups {
            let agents = agents.iter().map(|&i| AgentId(i)).collect();
            s.groups.push(Group { name: name.to_string(), agents });
        }
        s
    }
}
