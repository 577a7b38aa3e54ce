//! Systems that are graphs of worlds, and formulas about them.

use super::*;
use crate::semantics::{Structure, Truth, domain, explore, holds, truth_set};

pub(super) const ALICE: AgentId = AgentId(1);
pub(super) const BOB: AgentId = AgentId(2);
pub(super) const ONLY_ALICE: GroupId = GroupId(0);
pub(super) const BOTH: GroupId = GroupId(1);

/// Worlds `0..n` with these edges only: a world without edges is a dead end.
#[derive(Clone, Copy, Default)]
pub(super) struct Worlds<'a> {
    pub(super) n: i64,
    pub(super) edges: &'a [(i64, i64)],
    pub(super) initial: &'a [i64],
    /// What alice sees of each world; if empty, she sees nothing.
    pub(super) alice: &'a [i64],
    /// What bob sees of each world; if empty, he sees nothing.
    pub(super) bob: &'a [i64],
    pub(super) alice_red: &'a [i64],
    pub(super) bob_red: &'a [i64],
}

impl Worlds<'_> {
    /// The Environment is in a world; alice and bob only watch. Propositions 0 and 1 are p and q.
    pub(super) fn system(&self, p: &[i64], q: &[i64]) -> System {
        let mut s = empty(Assignment::Multi);
        let environment = s.add_agent("Environment", &["go"]);
        s.environment = Some(environment);
        s.add_agent("alice", &["watch"]);
        s.add_agent("bob", &["watch"]);
        let world = s.add_variable(environment, "world", Domain::Integers(0, self.n - 1));
        // The views belong to the Environment, which moves them along with the world.
        let views = [self.alice, self.bob].map(|view| {
            let variable = s.add_variable(environment, "view", Domain::Integers(0, self.n));
            let seen = move |world: i64| view.get(world as usize).copied().unwrap_or(0);
            (variable, seen)
        });
        s.agents[ALICE.index()].sees = vec![views[0].0];
        s.agents[BOB.index()].sees = vec![views[1].0];
        for &(from, to) in self.edges {
            let mut assignments = vec![(world, s.exprs.number(to))];
            for (variable, seen) in &views {
                assignments.push((*variable, s.exprs.number(seen(to))));
            }
            let condition = s.is(world, from);
            s.add_line(environment, &assignments, condition);
        }
        let sources: Vec<i64> = self.edges.iter().map(|&(from, _)| from).collect();
        let can_go = s.is_one_of(world, &sources);
        s.set_protocol(environment, &[(can_go, &[ActionId(0)])], None);
        let mut starts = Vec::new();
        for &start in self.initial {
            let mut parts = vec![s.is(world, start)];
            for (variable, seen) in &views {
                parts.push(s.is(*variable, seen(start)));
            }
            starts.push(s.exprs.and(parts));
        }
        s.initial = s.exprs.or(starts);
        s.agents[ALICE.index()].red = Some(s.is_one_of(world, self.alice_red));
        s.agents[BOB.index()].red = Some(s.is_one_of(world, self.bob_red));
        for (name, set) in [("p", p), ("q", q)] {
            let condition = s.is_one_of(world, set);
            s.propositions.push(Proposition { name: name.to_string(), condition, span: Span::default() });
        }
        s.groups.push(Group { name: "alice".to_string(), agents: vec![ALICE] });
        s.groups.push(Group { name: "both".to_string(), agents: vec![ALICE, BOB] });
        s
    }
}

/// A function that adds a formula to a pool.
pub(super) type Make = Box<dyn Fn(&mut Formulas) -> FormulaId>;

pub(super) fn p() -> Make {
    Box::new(|pool| pool.add(Formula::Proposition(PropositionId(0))))
}

pub(super) fn q() -> Make {
    Box::new(|pool| pool.add(Formula::Proposition(PropositionId(1))))
}

pub(super) fn leaf(formula: Formula<'static>) -> Make {
    Box::new(move |pool| pool.add(formula))
}

pub(super) fn unary(f: Make, node: impl Fn(FormulaId) -> Formula<'static> + 'static) -> Make {
    Box::new(move |pool| {
        let operand = f(pool);
        pool.add(node(operand))
    })
}

pub(super) fn binary(f: Make, g: Make, node: fn(FormulaId, FormulaId) -> Formula<'static>) -> Make {
    Box::new(move |pool| {
        let (left, right) = (f(pool), g(pool));
        pool.add(node(left, right))
    })
}

pub(super) fn not(f: Make) -> Make {
    unary(f, Formula::Not)
}

/// `E` of a path formula.
pub(super) fn some(path: Make) -> Make {
    unary(path, |f| Formula::Exists(Paths::Ctl, f))
}

/// `A` of a path formula.
pub(super) fn all(path: Make) -> Make {
    unary(path, |f| Formula::Forall(Paths::Ctl, f))
}

/// `E` of a path formula, over infinite paths.
pub(super) fn some_infinite(path: Make) -> Make {
    unary(path, |f| Formula::Exists(Paths::Infinite, f))
}

/// `A` of a path formula, over infinite paths.
pub(super) fn all_infinite(path: Make) -> Make {
    unary(path, |f| Formula::Forall(Paths::Infinite, f))
}

pub(super) fn and(f: Make, g: Make) -> Make {
    binary_with(f, g, |pool, f, g| pool.add(Formula::And(&[f, g])))
}

pub(super) fn or(f: Make, g: Make) -> Make {
    binary_with(f, g, |pool, f, g| pool.add(Formula::Or(&[f, g])))
}

fn binary_with(f: Make, g: Make, node: fn(&mut Formulas, FormulaId, FormulaId) -> FormulaId) -> Make {
    Box::new(move |pool| {
        let (left, right) = (f(pool), g(pool));
        node(pool, left, right)
    })
}

pub(super) fn next(f: Make) -> Make {
    unary(f, Formula::Next)
}

pub(super) fn finally(f: Make) -> Make {
    unary(f, Formula::Finally)
}

pub(super) fn globally(f: Make) -> Make {
    unary(f, Formula::Globally)
}

pub(super) fn until(f: Make, g: Make) -> Make {
    binary(f, g, Formula::Until)
}

pub(super) fn weak_until(f: Make, g: Make) -> Make {
    binary(f, g, Formula::WeakUntil)
}

pub(super) fn release(f: Make, g: Make) -> Make {
    binary(f, g, Formula::Release)
}

fn worlds_of(structure: &Structure, set: &[bool]) -> Vec<i64> {
    let states = structure.states.iter().zip(set);
    let mut worlds: Vec<i64> = states.filter(|&(_, &is_in)| is_in).map(|(state, _)| state[0]).collect();
    worlds.sort();
    worlds
}

/// Returns the worlds at which a formula is true.
pub(super) fn true_at(system: &mut System, formula: &Make) -> Option<Vec<i64>> {
    let formula = formula(&mut system.formulas);
    let structure = explore(system, 1000).expect("small");
    Some(worlds_of(&structure, &truth_set(&structure, system, formula)?))
}

/// Returns the worlds that operators range over.
pub(super) fn domain_of(system: &System) -> Option<Vec<i64>> {
    let structure = explore(system, 1000).expect("small");
    Some(worlds_of(&structure, &domain(&structure, system)?))
}

/// Returns the verdict on a formula.
pub(super) fn verdict(system: &mut System, formula: &Make, at: At) -> Truth {
    let formula = formula(&mut system.formulas);
    holds(system, &Property::new("1", formula, at, Span::default()))
}
