//! Compiled expressions, and the search for initial states, against the truth definition.

use std::collections::BTreeSet;

use fastrand::Rng;
use masque_model::semantics::{Ratio, initial_states, is_true, value};
use masque_model::{ActionId, AgentId, Domain, ExprId, Relation, System, VarId};
use masque_verdict::Budget;

use crate::code::Memory;
use crate::compile::Compiler;
use crate::initial::each_initial_state;
use crate::layout::Layout;
use crate::tests::load;

/// Returns a system with an agent `A` that has these variables and three actions, and an agent `B` with one
/// action.
fn system(variables: &str) -> System {
    load(&format!(
        "Agent A Vars: {variables} end Vars Actions = {{a, b, c}};
         Protocol: Other : {{a, b, c}}; end Protocol Evolution: end Evolution end Agent
         Agent B Vars: dummy : boolean; end Vars Actions = {{d}};
         Protocol: Other : {{d}}; end Protocol Evolution: end Evolution end Agent
         Evaluation end Evaluation InitStates !B.dummy; end InitStates Formulae end Formulae"
    ))
}

/// Returns a system with domains below and above every size limit of the compiler.
fn many_kinds() -> System {
    let long: Vec<String> = (0..1500).map(|i| format!("v{i}")).collect();
    let backwards: Vec<String> = long.iter().rev().take(1200).cloned().collect();
    system(&format!(
        "p : boolean; q : boolean; r : boolean; x0 : 0..1; x1 : 0..1; x2 : 0..1; x3 : 0..1; one : 5..5;
         y : -3..4; z : 0..6; h : 0..99; t : -700..4000;
         s : {{red, green, blue}}; w : {{blue, red}}; l : {{{}}}; m : {{{}}};",
        long.join(", "),
        backwards.join(", ")
    ))
}

/// Generates random expressions over a system's variables; each may become part of later ones.
struct Generator<'a> {
    rng: &'a mut Rng,
    booleans: Vec<ExprId>,
    numbers: Vec<ExprId>,
    enumerations: Vec<(VarId, ExprId)>,
}

const RELATIONS: [Relation; 6] = [
    Relation::Equal,
    Relation::Unequal,
    Relation::Less,
    Relation::AtMost,
    Relation::Greater,
    Relation::AtLeast,
];

impl<'a> Generator<'a> {
    fn new(system: &mut System, rng: &'a mut Rng, with_actions: bool) -> Generator<'a> {
        let mut generator =
            Generator { rng, booleans: Vec::new(), numbers: Vec::new(), enumerations: Vec::new() };
        for variable in system.variable_ids() {
            let expr = system.exprs.variable(variable);
            match system.variable(variable).domain {
                Domain::Boolean => generator.booleans.push(expr),
                Domain::Integers(..) => generator.numbers.push(expr),
                Domain::Values(_) => generator.enumerations.push((variable, expr)),
            }
        }
        if with_actions {
            generator.booleans.extend((0..3).map(|a| system.exprs.action_is(AgentId(0), ActionId(a))));
            generator.booleans.push(system.exprs.action_is(AgentId(1), ActionId(0)));
        }
        generator
    }

    fn some<T: Copy>(&mut self, items: &[T]) -> T {
        // Prefer recent expressions, so that expressions grow.
        let n = items.len();
        let from = if self.rng.bool() { n.saturating_sub(6) } else { 0 };
        items[self.rng.usize(from..n)]
    }

    fn boolean(&mut self) -> ExprId {
        let booleans = std::mem::take(&mut self.booleans);
        let one = self.some(&booleans);
        self.booleans = booleans;
        one
    }

    fn number(&mut self) -> ExprId {
        let numbers = std::mem::take(&mut self.numbers);
        let one = self.some(&numbers);
        self.numbers = numbers;
        one
    }

    fn list(&mut self, one: fn(&mut Self) -> ExprId) -> Vec<ExprId> {
        (0..self.rng.usize(2..6)).map(|_| one(self)).collect()
    }

    /// Adds a number. Products and quotients have only variables as operands, so that values fit 64 bits.
    fn add_number(&mut self, system: &mut System) {
        let constant = system.exprs.number(self.rng.i64(-4..8));
        let simple = self.numbers[self.rng.usize(0..9.min(self.numbers.len()))];
        let other = if self.rng.bool() { constant } else { self.numbers[self.rng.usize(0..9)] };
        let made = match self.rng.u32(0..8) {
            0 | 1 => system.exprs.sum(vec![simple, other]),
            2 => {
                let mut list = self.numbers[..8].to_vec();
                self.rng.shuffle(&mut list);
                list.truncate(self.rng.usize(2..8));
                let condition = self.boolean();
                list.push(condition);
                system.exprs.sum(list)
            }
            3 => system.exprs.product(vec![simple, other]),
            4 => system.exprs.negate(simple),
            5 => system.exprs.divide(simple, other),
            6 => system.exprs.modulo(simple, other),
            _ => system.exprs.modulo(other, simple),
        };
        self.numbers.push(made);
    }

    /// Adds a condition.
    fn add_boolean(&mut self, system: &mut System) -> ExprId {
        let relation = RELATIONS[self.rng.usize(0..6)];
        let equality = RELATIONS[self.rng.usize(0..2)];
        let made = match self.rng.u32(0..12) {
            0 | 1 => system.exprs.and(self.list(Self::boolean)),
            2 | 3 => system.exprs.or(self.list(Self::boolean)),
            4 => system.exprs.xor(self.list(Self::boolean)),
            5 => system.exprs.not(self.boolean()),
            6 => {
                let constant = system.exprs.number(self.rng.i64(-5..9));
                let number = self.number();
                if self.rng.bool() {
                    system.exprs.compare(relation, number, constant)
                } else {
                    system.exprs.compare(relation, constant, number)
                }
            }
            7 => {
                let (left, right) = (self.number(), self.number());
                system.exprs.compare(relation, left, right)
            }
            8 => {
                // `n = c or n = c' or ..`
                let number = self.number();
                let equations = (0..self.rng.usize(2..5)).map(|_| {
                    let constant = system.exprs.number(self.rng.i64(-3..7));
                    system.exprs.compare(Relation::Equal, number, constant)
                });
                let equations = equations.collect();
                system.exprs.or(equations)
            }
            9 => {
                let (left, right) = (self.boolean(), self.boolean());
                system.exprs.compare(equality, left, right)
            }
            _ => {
                let (variable, left) = self.enumerations[self.rng.usize(0..self.enumerations.len())];
                let right = if self.rng.bool() {
                    let size = system.variable(variable).domain.size() as u64;
                    let value = system.variable(variable).domain.value(self.rng.u64(0..size));
                    system.exprs.symbol(masque_model::SymbolId(value as u32))
                } else {
                    self.enumerations[self.rng.usize(0..self.enumerations.len())].1
                };
                system.exprs.compare(equality, left, right)
            }
        };
        self.booleans.push(made);
        made
    }
}

impl Generator<'_> {
    /// Adds a disjunction of conjunctions that compare the same variables with constants, and have the same
    /// further condition or none.
    fn add_table(&mut self, system: &mut System) -> ExprId {
        let narrow: Vec<VarId> =
            system.variable_ids().filter(|&v| system.variable(v).domain.size() <= 100).collect();
        let compared: Vec<VarId> = (0..self.rng.usize(1..5)).map(|_| self.some(&narrow)).collect();
        let further = self.rng.bool().then(|| self.boolean());
        let mut rows = Vec::new();
        for _ in 0..self.rng.usize(2..9) {
            let mut row: Vec<ExprId> = further.into_iter().collect();
            for &variable in &compared {
                let domain = &system.variable(variable).domain;
                let value = domain.value(self.rng.u64(0..domain.size() as u64));
                let constant = match domain {
                    Domain::Boolean => system.exprs.bool(value == 1),
                    Domain::Integers(..) => system.exprs.number(value),
                    Domain::Values(_) => system.exprs.symbol(masque_model::SymbolId(value as u32)),
                };
                let variable = system.exprs.variable(variable);
                row.push(system.exprs.compare(Relation::Equal, variable, constant));
            }
            rows.push(system.exprs.and(row));
        }
        system.exprs.or(rows)
    }
}

/// Returns a random row, its values, and a joint action.
fn random_row(system: &System, layout: &Layout, rng: &mut Rng) -> (Vec<u64>, Vec<i64>, Vec<ActionId>) {
    let mut row = vec![0; layout.n_row_words];
    for variable in system.variable_ids() {
        let size = system.variable(variable).domain.size() as u64;
        // The least, the greatest and other values all occur.
        let code = match rng.u32(0..4) {
            0 => 0,
            1 => size - 1,
            _ => rng.u64(0..size),
        };
        layout.variable(variable).set(&mut row, code);
    }
    let joint = vec![ActionId(rng.u32(0..3)), ActionId(0)];
    layout.action(AgentId(0)).set(&mut row, u64::from(joint[0].0));
    let state = layout.unpack(system, &row);
    (row, state, joint)
}

#[test]
fn compiled_conditions_and_assignments() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let mut system = many_kinds();
        let mut generator = Generator::new(&mut system, &mut rng, true);
        let mut conditions = Vec::new();
        for _ in 0..40 {
            generator.add_number(&mut system);
            conditions.push(generator.add_boolean(&mut system));
            conditions.push(generator.add_table(&mut system));
        }
        let numbers = generator.numbers.clone();
        let enumerations = generator.enumerations.clone();
        let layout = Layout::new(&system, if seed % 2 == 0 { 64 } else { 11 });
        let mut assignments: Vec<(VarId, ExprId)> = Vec::new();
        for target in system.variable_ids() {
            let sources: Vec<ExprId> = match system.variable(target).domain {
                Domain::Boolean => conditions.clone(),
                Domain::Integers(..) => numbers.clone(),
                Domain::Values(_) => enumerations.iter().map(|e| e.1).collect(),
            };
            assignments.extend((0..8).map(|_| (target, sources[rng.usize(0..sources.len())])));
        }
        let roots: Vec<ExprId> = conditions.iter().copied().chain(assignments.iter().map(|a| a.1)).collect();
        let mut compiler = Compiler::new(&system, &layout, &roots);
        let programs: Vec<_> = conditions.iter().map(|&c| compiler.condition(c)).collect();
        let guards: Vec<_> = conditions.iter().map(|&c| compiler.guard(c)).collect();
        let sources: Vec<_> = assignments.iter().map(|&(target, e)| compiler.source(target, e)).collect();
        let code = compiler.code;
        let mut memory = Memory::new(&code);
        let (mut row, mut state, mut joint) = random_row(&system, &layout, &mut rng);
        for round in 0..90 {
            // In two of three rounds only the actions change.
            if round % 3 == 0 {
                (row, state, joint) = random_row(&system, &layout, &mut rng);
                memory.change_state();
            } else {
                joint[0] = ActionId(rng.u32(0..3));
                layout.action(AgentId(0)).set(&mut row, u64::from(joint[0].0));
                memory.change_actions();
            }
            for ((&condition, program), guard) in conditions.iter().zip(&programs).zip(&guards) {
                let expected = is_true(&system, condition, &state, &joint);
                let found = code.is_true(program, &layout, &row, &mut memory);
                assert_eq!(found, expected, "seed {seed}: {} in {state:?}", system.expr_text(condition));
                let guarded = guard.as_ref().is_some_and(|guard| {
                    guard.key.iter().all(|&(word, mask, value)| row[word as usize] & mask == value)
                        && code.is_true(&guard.rest, &layout, &row, &mut memory)
                });
                assert_eq!(guarded, expected, "seed {seed}: {} in {state:?}", system.expr_text(condition));
            }
            for (&(target, expr), source) in assignments.iter().zip(&sources) {
                let expected = value(&system, expr, &state, &joint)
                    .and_then(Ratio::as_integer)
                    .and_then(|value| system.variable(target).domain.code(value));
                let found = code.assigned(source, &layout, &row, &mut memory);
                assert_eq!(found, expected, "seed {seed}: {} in {state:?}", system.expr_text(expr));
            }
        }
    }
}

/// Returns the initial states that the search finds; each must be found once.
fn found_initial_states(system: &System) -> BTreeSet<Vec<i64>> {
    let layout = Layout::new(system, 64);
    let mut found = BTreeSet::new();
    let budget = Budget::unlimited().with_timeout(std::time::Duration::from_secs(20));
    each_initial_state(system, &layout, &budget, |row| {
        assert!(found.insert(layout.unpack(system, row)), "found twice");
        Ok(())
    })
    .unwrap_or_else(|stop| panic!("{stop}: {}", system.expr_text(system.initial)));
    found
}

#[test]
fn initial_states_of_random_conditions() {
    for seed in 0..150 {
        let mut rng = Rng::with_seed(seed);
        let mut system = system(
            "x0 : 0..1; x1 : 0..1; y : -1..2; one : 5..5; z : 0..2; k : 1..2; h : 0..69;
             q : boolean; s : {red, green, blue}; w : {blue, red};",
        );
        let mut generator = Generator::new(&mut system, &mut rng, false);
        generator.numbers.extend_from_within(..3);
        let mut conditions = Vec::new();
        for _ in 0..12 {
            generator.add_number(&mut system);
            conditions.push(generator.add_boolean(&mut system));
        }
        let n_conjuncts = rng.usize(1..5);
        rng.shuffle(&mut conditions);
        conditions.truncate(n_conjuncts);
        let narrow = system.exprs.variable(VarId(6));
        let bound = system.exprs.number(rng.i64(1..70));
        conditions.push(system.exprs.compare(RELATIONS[rng.usize(0..6)], narrow, bound));
        system.initial = system.exprs.and(conditions);
        let text = system.expr_text(system.initial);
        let Some(expected) = initial_states(&system, 200_000) else { continue };
        let expected: BTreeSet<Vec<i64>> = expected.into_iter().collect();
        assert!(found_initial_states(&system) == expected, "seed {seed}: {text}");
    }
}

/// Conditions on domains that are too large to be enumerated.
#[rustfmt::skip]
#[test]
fn initial_states_of_large_domains() {
    let check = |variables: &str, condition: &str, n_expected: usize| {
        let text = format!(
            "Agent A Vars: {variables} end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
             Evolution: end Evolution end Agent Evaluation end Evaluation
             InitStates {condition}; end InitStates Formulae end Formulae");
        assert_eq!(found_initial_states(&load(&text)).len(), n_expected, "{condition}");
    };
    const BIG: &str = "x : 0..1000000000000; y : -1000000000000..1000000000000;";
    //    variables                          condition                                                  states
    check(BIG,                               "A.x = 7 and A.y = -7",                                    1);
    check(BIG,                               "A.x + A.y = 2000000000000",                               1);
    check(BIG,                               "A.x + A.y <= -999999999998",                              6);
    check(BIG,                               "A.x = A.y and A.x < 5",                                   5);
    check(BIG,                               "A.x < 3 and !(A.y < 10) and !(A.y > 12)",                 9);
    check(BIG,                               "(A.x = 1 or A.x = 5) and (A.y = 2 or A.y = 3 or A.y = 2)", 4);
    check(BIG,                               "A.x / 2 = 3 and A.y = A.x / 4",                           0);
    check(BIG,                               "A.x / 2 = 4 and A.y = A.x / 4",                           1);
    check("x : 0..1000000000;",              "A.x * A.x = 1522756",                                     1);
    check("x : -1000000000..1000000000;",    "A.x * A.x = 1522756 or A.x * 3 = 8",                      2);
    check("x : -9223372036854775807..9223372036854775807;", "A.x = -9223372036854775807 or A.x > 9223372036854775805", 3);
    check("a : 0..9; b : 0..9; c : 0..9;",   "A.a + A.b + A.c = 3",                                     10);
    check("a : boolean; b : boolean; c : boolean;", "(A.a ^ A.b ^ A.c) = true",                         4);
    check("a : boolean; b : boolean;",       "A.a and !A.a",                                            0);
    check("a : boolean; b : boolean;",       "A.a or !A.a",                                             4);
}
