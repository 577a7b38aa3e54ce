//! Unions of many conjunctions of literals.
//!
//! Models translated from tables have thousands of lines like `cards = c7 if cards = c3 and
//! player.Action = swap`. If the sets of such lines are built one by one and united pairwise, almost
//! all nodes made in between are dead at the end. Here the lines are sorted by their literals, in the
//! order of the bits, and the union is built from the bottom up: a node is made only where lines
//! differ.

use masque_model::{Expr, ExprId, Relation, VarId};
use rustc_hash::FxHashMap;

use crate::encode::Encoder;
use crate::space::{Level, Limited, Set, Space};

/// A conjunction of literals in increasing order. A literal is twice the level of its bit, plus one if
/// the bit is 1. No level occurs twice.
pub(crate) type Cube = Vec<u32>;

/// Minimum number of conjunctions; fewer are united pairwise. In tests 1, because random models are small.
pub(crate) const MIN_CUBES: usize = if cfg!(test) { 1 } else { 4 };

/// Computes the union of some conjunctions.
pub(crate) fn union(encoder: &Encoder<'_>, mut cubes: Vec<Cube>) -> Limited<Set> {
    cubes.sort_unstable();
    cubes.dedup();
    union_below(encoder, &cubes, 0)
}

/// Computes the union of sorted conjunctions that have the same first `depth` literals, without these.
fn union_below(encoder: &Encoder<'_>, cubes: &[Cube], depth: usize) -> Limited<Set> {
    let space = &encoder.space;
    match cubes {
        [] => return Ok(space.none()),
        [one] => return literals(space, &one[depth..]),
        // The first one has no more literals, so it contains the others.
        [first, ..] if first.len() == depth => return Ok(space.all()),
        _ => {}
    }
    let mut sets = Vec::new();
    let mut rest = cubes;
    while let Some(first) = rest.first() {
        let top = first[depth] | 1;
        let (with_bit, without) = rest.split_at(rest.partition_point(|cube| cube[depth] <= top));
        let (zeros, ones) = with_bit.split_at(with_bit.partition_point(|cube| cube[depth] < top));
        let low = union_below(encoder, zeros, depth + 1)?;
        let high = union_below(encoder, ones, depth + 1)?;
        sets.push(space.branch(space.bit_at(Level(top / 2)), &high, &low)?);
        rest = without;
    }
    encoder.balanced(sets, false)
}

fn literals(space: &Space, cube: &[u32]) -> Limited<Set> {
    space.literals(cube.iter().map(|literal| (space.bit_at(Level(literal / 2)), literal % 2 == 1)))
}

/// The lines of an agent or a variable, grouped into tables where possible.
#[derive(Default)]
pub(crate) struct Tables {
    /// For each table, the states and actions in which some line is enabled.
    pub(crate) enabled: Vec<Set>,
    /// For each table, the relation of its enabled lines.
    pub(crate) choices: Vec<Set>,
    /// The indices of the lines that are in no table, in increasing order.
    pub(crate) others: Vec<usize>,
}

/// A condition, and the values that are assigned where it is true.
type Line<'l> = (ExprId, &'l [(VarId, ExprId)]);

/// The literals of a line: its index, the literals of its condition, and these with those of its effect.
type Row = (usize, Cube, Cube);

impl Encoder<'_> {
    /// Groups lines that differ in constants only: they assign constants to the same variables, and their
    /// conditions are equal except for literals.
    pub(crate) fn tables(&mut self, variables: &[VarId], lines: &[Line<'_>]) -> Limited<Tables> {
        let mut found = Tables::default();
        if lines.len() < MIN_CUBES {
            found.others = (0..lines.len()).collect();
            return Ok(found);
        }
        let mut tables: FxHashMap<(Vec<VarId>, Vec<ExprId>), Vec<Row>> = FxHashMap::default();
        for (index, (condition, assignments)) in lines.iter().enumerate() {
            // A line that contradicts itself is never enabled.
            let Some((cube, rest)) = self.literals_of(*condition)? else { continue };
            match self.effect(variables, assignments, cube.clone()) {
                Some((whole, kept)) => tables.entry((kept, rest)).or_default().push((index, cube, whole)),
                None => found.others.push(index),
            }
        }
        for ((kept, rest), rows) in tables {
            if rows.len() < MIN_CUBES {
                found.others.extend(rows.into_iter().map(|(index, ..)| index));
                continue;
            }
            let (conditions, wholes) = rows.into_iter().map(|(_, cube, whole)| (cube, whole)).unzip();
            let rest = rest.into_iter().map(|id| self.condition(id)).collect::<Limited<Vec<_>>>()?;
            let rest = self.balanced(rest, true)?;
            let enabled = union(self, conditions)?;
            found.enabled.push(self.space.and(&enabled, &rest)?);
            let mut choices = vec![union(self, wholes)?, rest];
            for v in kept {
                choices.push(self.keeps(v)?);
            }
            found.choices.push(self.balanced(choices, true)?);
        }
        found.others.sort_unstable();
        Ok(found)
    }

    /// Adds the assignments of a line to the literals of its condition. Returns them with the variables
    /// that the line does not assign; `None` if it assigns anything but constants of the domain.
    fn effect(
        &self,
        variables: &[VarId],
        assignments: &[(VarId, ExprId)],
        mut cube: Cube,
    ) -> Option<(Cube, Vec<VarId>)> {
        let mut kept = Vec::new();
        for &v in variables {
            match assignments.iter().find(|(target, _)| *target == v) {
                None => kept.push(v),
                Some((_, value)) => {
                    let code = self.code_of(v, self.system.exprs.get(*value))?;
                    self.add_code(&mut cube, &self.layout.variables[v.index()].next, code);
                }
            }
        }
        Some((normal(cube)?, kept))
    }

    /// Splits a condition into literals and the rest: conditions that must also be true. Returns `None` if
    /// the literals contradict each other.
    pub(crate) fn literals_of(&mut self, condition: ExprId) -> Limited<Option<(Cube, Vec<ExprId>)>> {
        let mut cube = Cube::new();
        let mut rest = Vec::new();
        let mut open = vec![condition];
        while let Some(id) = open.pop() {
            let system = self.system;
            match system.exprs.get(id) {
                Expr::And(list) => open.extend(list),
                Expr::ActionIs(agent, action) if !self.is_determined(agent)? => {
                    self.add_code(&mut cube, &self.layout.actions[agent.index()], action.0.into());
                }
                Expr::Variable(v) => self.add_value(&mut cube, v, 1),
                Expr::Not(a) => match system.exprs.get(a) {
                    Expr::Variable(v) => self.add_value(&mut cube, v, 0),
                    _ => rest.push(id),
                },
                Expr::Compare(Relation::Equal, a, b) => {
                    let constant = match (system.exprs.get(a), system.exprs.get(b)) {
                        (Expr::Variable(v), constant) | (constant, Expr::Variable(v)) => {
                            self.code_of(v, constant).map(|code| (v, code))
                        }
                        _ => None,
                    };
                    match constant {
                        Some((v, code)) => self.add_value(&mut cube, v, code),
                        None => rest.push(id),
                    }
                }
                _ => rest.push(id),
            }
        }
        rest.sort_unstable();
        rest.dedup();
        Ok(normal(cube).map(|cube| (cube, rest)))
    }

    /// Returns the code of a constant in a variable's domain.
    pub(crate) fn code_of(&self, v: VarId, constant: Expr<'_>) -> Option<u64> {
        let domain = &self.system.variable(v).domain;
        match constant {
            Expr::Number(n) => domain.code(n),
            Expr::Symbol(s) => domain.code(s.0.into()),
            Expr::Bool(value) => Some(value.into()),
            _ => None,
        }
    }

    /// Adds the literals of a variable's current code.
    fn add_value(&self, cube: &mut Cube, v: VarId, code: u64) {
        self.add_code(cube, &self.layout.variables[v.index()].current, code);
    }

    /// Adds the literals of a code in a vector of bits, most significant first.
    pub(crate) fn add_code(&self, cube: &mut Cube, bits: &[u32], code: u64) {
        let literals = bits.iter().rev().enumerate();
        cube.extend(literals.map(|(i, &bit)| self.space.level(bit).0 * 2 + u32::from(code >> i & 1 == 1)));
    }
}

/// Sorts literals and removes duplicates; returns `None` if two contradict each other.
pub(crate) fn normal(mut cube: Cube) -> Option<Cube> {
    cube.sort_unstable();
    cube.dedup();
    let is_consistent = cube.windows(2).all(|pair| pair[0] / 2 != pair[1] / 2);
    is_consistent.then_some(cube)
}

#[cfg(test)]
mod tests {
    use masque_explicit::Explicit;
    use masque_model::{Deadlock, System};
    use masque_testkit::{load, random_model};
    use masque_verdict::{Budget, Engine, Facts, Outcome, Show};

    use super::*;
    use crate::encode::GrowthPolicy;
    use crate::engine::Symbolic;
    use crate::layout::Layout;
    use crate::order;

    fn results(engine: &dyn Engine, system: &System) -> (Facts, Vec<Outcome>) {
        let budget = Budget::unlimited();
        let mut encoded = engine.encode(system, &budget).unwrap();
        let facts = encoded.facts(&budget).unwrap();
        (facts, system.properties.iter().map(|property| encoded.decide(property, &budget)).collect())
    }

    #[test]
    fn models_with_tables_agree_with_the_explicit_engine() {
        for seed in 0..400 {
            let system = load(&random_model(seed), Deadlock::Finite).unwrap();
            let symbolic = Symbolic { evidence: Show::None, ..Symbolic::default() };
            let explicit = Explicit { evidence: Show::None, jobs: None };
            assert_eq!(results(&symbolic, &system), results(&explicit, &system), "seed {seed}");
        }
    }

    #[test]
    fn unions_of_random_conjunctions() {
        let system = load(&random_model(1), Deadlock::Finite).unwrap();
        let items = order::declared(&system);
        let layout = Layout::new(&system, &items);
        let n_bits = 8;
        for seed in 0..300 {
            let mut random = fastrand::Rng::with_seed(seed);
            let space = Space::new(n_bits.max(layout.n_bits), &Budget::unlimited()).unwrap();
            let encoder = Encoder::new(&system, Layout::new(&system, &items), space, GrowthPolicy::Ignore);
            let cubes: Vec<Cube> = (0..random.usize(0..20))
                .filter_map(|_| normal((0..random.usize(0..9)).map(|_| random.u32(0..2 * n_bits)).collect()))
                .collect();
            let sets = cubes.iter().map(|cube| literals(&encoder.space, cube).unwrap()).collect();
            assert!(union(&encoder, cubes).unwrap() == encoder.balanced(sets, false).unwrap(), "{seed}");
        }
    }
}
