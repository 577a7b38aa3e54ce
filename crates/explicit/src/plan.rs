//! Order of the agents' choices in the search for successors, such that independent choices are not
//! multiplied.
//!
//! In a given state some agents have one enabled action and some, `N`, have several. A unit that
//! reads no action of `N` does not depend on the choices of `N`. The other units connect the agents that
//! they read; if that leaves several components, the successors are the product of the results of the
//! components:
//!
//! ```text
//! ⋃_{α, β} X(α) × Y(β)  =  ⋃_α X(α)  ×  ⋃_β Y(β)
//! ```
//!
//! In a connected component the agent that most units read chooses first; each of its choices
//! settles some units and leaves components again. So a scheduler with `n` actions and `m`
//! processes of two actions each costs `n (1 + 2m)` evaluations, not `n 2^m`. And because most units
//! distinguish only few of the scheduler's actions, even that is mostly done once for all actions
//! that a unit does not test. A plan depends only on `N` and is made once for each.

/// A plan for one set `N` of agents that have a choice.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The units that read no choice.
    pub(crate) settled: Vec<u32>,
    /// Independent choices.
    pub(crate) components: Vec<Component>,
}

/// One agent's choice and everything that depends on it.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) agent: u32,
    /// The units that are settled once this agent and those above it have chosen, each with the
    /// actions of this agent that it tests, in increasing order.
    pub(crate) settled: Vec<(u32, Box<[u32]>)>,
    /// The same by action: pairs of an action and the index in `settled` of a unit that tests it.
    by_action: Vec<(u32, u32)>,
    /// All units that depend on this choice, settled by it or below.
    pub(crate) units: Vec<u32>,
    /// The choices below, independent of each other given this one.
    pub(crate) components: Vec<Component>,
}

impl Component {
    /// Returns the indices in `settled` of the units that test an action.
    pub(crate) fn testing(&self, action: u32) -> impl Iterator<Item = u32> + '_ {
        let begin = self.by_action.partition_point(|pair| pair.0 < action);
        self.by_action[begin..].iter().take_while(move |pair| pair.0 == action).map(|pair| pair.1)
    }
}

impl Plan {
    /// Creates a plan for the agents `choosing`, in increasing order; `tests` has the actions that each
    /// unit tests, as pairs of agent and action in increasing order.
    pub(crate) fn new<'u>(choosing: &[u32], tests: impl Iterator<Item = &'u [(u32, u32)]>) -> Plan {
        let (settled, open) = open(choosing, tests);
        Plan { settled, components: components(open) }
    }
}

/// A plan in which the members of a group choose first, one after the other.
#[derive(Debug)]
pub(crate) struct GroupPlan {
    /// The units that read no choice.
    pub(crate) settled: Vec<u32>,
    /// Choices of others that no unit connects to a member's.
    pub(crate) free: Vec<Component>,
    /// The members' choices, without components below.
    pub(crate) members: Vec<Component>,
    /// The choices of others after all members have chosen.
    pub(crate) others: Vec<Component>,
}

impl GroupPlan {
    /// Creates a plan for the agents `choosing`. `members` is the part of them that chooses first, in the
    /// order in which they choose.
    pub(crate) fn new<'u>(
        members: &[u32],
        choosing: &[u32],
        tests: impl Iterator<Item = &'u [(u32, u32)]>,
    ) -> GroupPlan {
        let (settled, open) = open(choosing, tests);
        let reads_member = |o: &Open<'_>| o.reads.iter().any(|agent| members.contains(agent));
        let (led, free): (Vec<_>, Vec<_>) =
            connected(open).into_iter().partition(|units| units.iter().any(reads_member));
        let mut led: Vec<Open<'_>> = led.into_iter().flatten().collect();
        let mut levels = Vec::new();
        for &agent in members {
            let (level, rest) = chosen(agent, led);
            levels.push(level);
            led = rest;
        }
        let free = free.into_iter().map(component).collect();
        GroupPlan { settled, free, members: levels, others: components(led) }
    }
}

/// The units that read no choice, and the others.
fn open<'u>(choosing: &[u32], tests: impl Iterator<Item = &'u [(u32, u32)]>) -> (Vec<u32>, Vec<Open<'u>>) {
    let mut settled = Vec::new();
    let mut open = Vec::new();
    for (unit, tests) in (0..).zip(tests) {
        let mut reads: Vec<u32> =
            tests.iter().map(|test| test.0).filter(|a| choosing.binary_search(a).is_ok()).collect();
        reads.dedup();
        if reads.is_empty() {
            settled.push(unit);
        } else {
            open.push(Open { unit, reads, tests });
        }
    }
    (settled, open)
}

/// A unit and the agents that it reads and that have not yet chosen, at least one.
struct Open<'u> {
    unit: u32,
    reads: Vec<u32>,
    tests: &'u [(u32, u32)],
}

fn components(open: Vec<Open<'_>>) -> Vec<Component> {
    connected(open).into_iter().map(component).collect()
}

fn component(open: Vec<Open<'_>>) -> Component {
    let mut n_readers: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
    for agent in open.iter().flat_map(|o| &o.reads) {
        *n_readers.entry(*agent).or_default() += 1;
    }
    let most = n_readers.values().copied().max().unwrap_or(0);
    let agent = n_readers.iter().find(|(_, n)| **n == most).map_or(0, |(agent, _)| *agent);
    let (component, rest) = chosen(agent, open);
    Component { components: components(rest), ..component }
}

/// Returns an agent's choice without the components below it, and the units that are still open.
fn chosen(agent: u32, open: Vec<Open<'_>>) -> (Component, Vec<Open<'_>>) {
    let units = open.iter().map(|o| o.unit).collect();
    let mut settled = Vec::new();
    let mut by_action = Vec::new();
    let mut rest = Vec::new();
    for mut o in open {
        o.reads.retain(|&a| a != agent);
        if o.reads.is_empty() {
            let actions: Box<[u32]> =
                o.tests.iter().filter(|test| test.0 == agent).map(|test| test.1).collect();
            by_action.extend(actions.iter().map(|&action| (action, settled.len() as u32)));
            settled.push((o.unit, actions));
        } else {
            rest.push(o);
        }
    }
    by_action.sort_unstable();
    (Component { agent, settled, units, by_action, components: Vec::new() }, rest)
}

/// Splits units into sets that share no agent, directly or indirectly.
fn connected(open: Vec<Open<'_>>) -> Vec<Vec<Open<'_>>> {
    let mut sets: Vec<(Vec<u32>, Vec<Open<'_>>)> = Vec::new();
    for o in open {
        let mut merged = (o.reads.clone(), vec![o]);
        let (touching, apart): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|(agents, _)| agents.iter().any(|a| merged.0.contains(a)));
        sets = apart;
        for (agents, units) in touching {
            merged.0.extend(agents);
            merged.1.extend(units);
        }
        merged.0.sort_unstable();
        merged.0.dedup();
        merged.1.sort_by_key(|o| o.unit);
        sets.push(merged);
    }
    sets.sort_by_key(|(agents, _)| agents.first().copied());
    sets.into_iter().map(|(_, units)| units).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `agent(settled units | components)`
    fn show(components: &[Component]) -> String {
        let units = |c: &Component| c.settled.iter().map(|(unit, _)| *unit).collect::<Vec<_>>();
        let one = |c: &Component| format!("{}({:?} | {})", c.agent, units(c), show(&c.components));
        components.iter().map(one).collect::<Vec<_>>().join(" x ")
    }

    /// Agent 0 leads: unit 1 ties agent 1 to it, so unit 0 must wait for agent 1; agent 2 is free.
    #[test]
    fn members_choose_first() {
        let tests: [&[(u32, u32)]; 5] = [&[(1, 7)], &[(0, 7), (1, 7)], &[(2, 7)], &[(0, 7)], &[]];
        let led = GroupPlan::new(&[0], &[0, 1, 2], tests.into_iter());
        assert_eq!(led.settled, [4]);
        assert_eq!(show(&led.free), "2([2] | )");
        assert_eq!(show(&led.members), "0([3] | )");
        assert_eq!(show(&led.others), "1([0, 1] | )");
    }

    /// Units test action 7 of each agent they read.
    #[rustfmt::skip]
    #[test]
    fn plans() {
        let check = |choosing: &[u32], reads: &[&[u32]], expected: (&[u32], &str), because: &str| {
            let tests: Vec<Vec<(u32, u32)>> = reads.iter().map(|r| r.iter().map(|&a| (a, 7)).collect()).collect();
            let plan = Plan::new(choosing, tests.iter().map(|t| &t[..]));
            assert_eq!((&plan.settled[..], &show(&plan.components)[..]), expected, "{because}");
        };
        //    choosing agents   what units read                   expected                                             because
        check(&[],              &[&[0], &[0, 1]],                 (&[0, 1], ""),                                       "no agent has a choice");
        check(&[0, 1],          &[&[0], &[1], &[2]],              (&[2], "0([0] | ) x 1([1] | )"),                     "two independent choices");
        check(&[0, 1, 2],       &[&[0, 1], &[0, 2], &[0]],        (&[], "0([2] | 1([0] | ) x 2([1] | ))"),             "a scheduler, then its processes");
        check(&[0, 1, 2],       &[&[0, 1, 2]],                    (&[], "0([] | 1([] | 2([0] | )))"),                  "one unit reads all");
    }
}
