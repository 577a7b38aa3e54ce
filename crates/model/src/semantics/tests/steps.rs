//! Values, protocols, evolution, overflow and exploration.

use super::*;
use crate::semantics::{
    Ratio, StepOutcome, enabled_actions, explore, initial_states, is_true, joint_actions, step, value,
};

const A: AgentId = AgentId(0);
const X: VarId = VarId(0);
const Y: VarId = VarId(1);

/// One agent with one action and two variables x, y : -1..3.
fn counter(assignment: Assignment) -> System {
    let mut s = empty(assignment);
    s.add_agent("A", &["act"]);
    s.add_variable(A, "x", Domain::Integers(-1, 3));
    s.add_variable(A, "y", Domain::Integers(-1, 3));
    s
}

/// Helpers for expressions.
impl System {
    fn plus(&mut self, variable: VarId, number: i64) -> ExprId {
        let operands = vec![self.exprs.variable(variable), self.exprs.number(number)];
        self.exprs.sum(operands)
    }

    fn over(&mut self, numerator: VarId, denominator: VarId) -> ExprId {
        let (a, b) = (self.exprs.variable(numerator), self.exprs.variable(denominator));
        self.exprs.divide(a, b)
    }
}

#[rustfmt::skip]
#[test]
fn arithmetic() {
    let mut s = counter(Assignment::Multi);
    let (x, y) = (s.exprs.variable(X), s.exprs.variable(Y));
    let (sum, product) = (s.exprs.sum(vec![x, y, x]), s.exprs.product(vec![x, y]));
    let (minus, quotient, modulo) = (s.exprs.negate(x), s.exprs.divide(x, y), s.exprs.modulo(x, y));
    let (of_fraction, times) = (s.exprs.modulo(quotient, y), s.exprs.product(vec![quotient, y]));
    let flag = s.is(X, 3);
    let flags = s.exprs.sum(vec![flag, flag, x]);
    let check = |expr, state: [i64; 2], expected: Option<i64>, because: &str| {
        assert_eq!(value(&s, expr, &state, &[]), expected.map(Ratio::integer), "{because}");
    };
    //    expr         x, y      value     because
    check(sum,         [2, 3],   Some(7),  "2 + 3 + 2");
    check(product,     [-1, 3],  Some(-3), "-1 * 3");
    check(minus,       [3, 0],   Some(-3), "- 3");
    check(quotient,    [2, -1],  Some(-2), "2 / -1");
    check(quotient,    [2, 0],   None,     "division by zero");
    check(modulo,      [-1, 3],  Some(2),  "Euclidean");
    check(modulo,      [2, 0],   None,     "mod 0");
    check(of_fraction, [1, 2],   None,     "1/2 mod 2");
    check(times,       [1, 3],   Some(1),  "exact: 1/3 * 3");
    check(times,       [1, 0],   None,     "a product with an operand without a value has no value");
    check(flags,       [3, 0],   Some(5),  "booleans count 0 and 1");
}

#[rustfmt::skip]
#[test]
fn conditions() {
    use Relation::*;
    let mut s = counter(Assignment::Multi);
    let (x, y, one) = (s.exprs.variable(X), s.exprs.variable(Y), s.exprs.number(1));
    let half = s.over(X, Y);
    let mut compare = |relation, a, b| s.exprs.compare(relation, a, b);
    let (more, equal, unequal) = (compare(Greater, half, one), compare(Equal, half, half), compare(Unequal, half, one));
    let (less, at_most, at_least) = (compare(Less, x, y), compare(AtMost, x, y), compare(AtLeast, x, y));
    let not_more = s.exprs.not(more);
    let (and, or, xor) = (s.exprs.and(vec![less, more]), s.exprs.or(vec![less, more]), s.exprs.xor(vec![less, at_most, unequal]));
    let check = |expr, state: [i64; 2], expected, because: &str| {
        assert_eq!(is_true(&s, expr, &state, &[]), expected, "{because}");
    };
    //    expr        x, y      true    because
    check(more,       [3, 2],   true,   "3/2 > 1, division is exact");
    check(more,       [3, 0],   false,  "a comparison with an operand without a value is false");
    check(not_more,   [3, 0],   true,   "its negation is true");
    check(equal,      [3, 0],   false,  "even with itself");
    check(unequal,    [3, 0],   false,  "and <> too");
    check(unequal,    [3, 2],   true,   "3/2 <> 1");
    check(less,       [1, 2],   true,   "1 < 2");
    check(at_most,    [2, 2],   true,   "2 <= 2");
    check(at_least,   [1, 2],   false,  "1 >= 2");
    check(and,        [1, 2],   false,  "1/2 > 1 is false");
    check(or,         [1, 2],   true,   "1 < 2");
    check(xor,        [1, 2],   true,   "three of three");
    check(xor,        [2, 2],   true,   "one of three");
    check(xor,        [1, 0],   false,  "none of three");
}

#[test]
fn enumerations_compare_by_symbol() {
    let mut s = empty(Assignment::Multi);
    s.symbols = ["red", "green", "blue"].map(str::to_string).to_vec();
    s.add_agent("A", &["act"]);
    s.add_variable(A, "u", Domain::Values([SymbolId(2), SymbolId(0)].into()));
    s.add_variable(A, "v", Domain::Values([SymbolId(0), SymbolId(1)].into()));
    let (u, v) = (s.exprs.variable(X), s.exprs.variable(Y));
    s.initial = s.exprs.compare(Relation::Unequal, u, v);
    let expected = [[2, 0], [2, 1], [0, 1]].map(|s| s.to_vec()).to_vec();
    assert_eq!(initial_states(&s, 10), Some(expected), "in the order of declaration: blue before red");
    // v = u: blue is not a value of v, so that choice is removed.
    let always = s.exprs.bool(true);
    s.add_line(A, &[(Y, u)], always);
    assert_eq!(
        step(&s, &[0, 1], &[ActionId(0)]),
        StepOutcome { successors: vec![vec![0, 0]], overflow: false }
    );
    assert_eq!(step(&s, &[2, 1], &[ActionId(0)]), StepOutcome { successors: vec![], overflow: true });
}

#[test]
fn protocols() {
    let mut s = counter(Assignment::Multi);
    s.agents[0].actions = ["a", "b", "c"].map(|a| Action { name: a.to_string() }).to_vec();
    let [a, b, c] = [0, 1, 2].map(ActionId);
    let (one, small) = (s.is(X, 1), s.is_one_of(X, &[0, 1]));
    let enabled = |s: &System, x| enabled_actions(s, A, &[x, 0]);
    assert_eq!(enabled(&s, 3), [a, b, c], "no protocol: all");
    s.set_protocol(A, &[(one, &[c, a]), (small, &[b, a])], None);
    assert_eq!(enabled(&s, 1), [a, b, c], "the union of both lines");
    assert_eq!(enabled(&s, 0), [a, b], "the second line only");
    assert_eq!(enabled(&s, 3), [], "no line, no Other");
    s.set_protocol(A, &[(one, &[a])], Some(&[c]));
    assert_eq!(enabled(&s, 1), [a], "Other does not apply where a line does");
    assert_eq!(enabled(&s, 3), [c], "Other");
    let second = s.add_agent("B", &["u", "v"]);
    assert_eq!(joint_actions(&s, &[1, 0]), [[a, a], [a, b]], "every combination");
    s.set_protocol(second, &[], None);
    assert_eq!(joint_actions(&s, &[1, 0]), Vec::<Vec<ActionId>>::new(), "B has no action");
}

#[track_caller]
fn check_step<const N: usize>(
    s: &System,
    state: [i64; 2],
    successors: [[i64; 2]; N],
    overflow: bool,
    because: &str,
) {
    let successors = successors.map(|s| s.to_vec()).to_vec();
    assert_eq!(step(s, &state, &[ActionId(0)]), StepOutcome { successors, overflow }, "{because}");
}

/// `x = x + 1 if x < 3; y = y + 2 if x < 3; y = 0 if x = 3;`
fn lines(assignment: Assignment) -> System {
    let mut s = counter(assignment);
    let (below, at_top) = (s.is_one_of(X, &[-1, 0, 1, 2]), s.is(X, 3));
    let (more, two_more, zero) = (s.plus(X, 1), s.plus(Y, 2), s.exprs.number(0));
    s.add_line(A, &[(X, more)], below);
    s.add_line(A, &[(Y, two_more)], below);
    s.add_line(A, &[(Y, zero)], at_top);
    s
}

#[rustfmt::skip]
#[test]
fn multi_assignment_takes_one_line_single_assignment_one_per_variable() {
    let (multi, single) = (lines(Assignment::Multi), lines(Assignment::Single));
    //          system    x, y       successors          overflow  because
    check_step(&multi,    [0, 0],    [[0, 2], [1, 0]],   false,    "one of the two lines; the other variable is kept");
    check_step(&single,   [0, 0],    [[1, 2]],           false,    "each variable takes its line");
    check_step(&multi,    [3, 2],    [[3, 0]],           false,    "the only enabled line");
    check_step(&single,   [3, 2],    [[3, 0]],           false,    "x has no enabled line and is kept");
    check_step(&multi,    [0, 2],    [[1, 2]],           true,     "y = 4 is removed, x = 1 remains");
    check_step(&single,   [0, 2],    [],                 true,     "all of y's choices are removed: no successor");
}

#[rustfmt::skip]
#[test]
fn several_lines_for_one_variable() {
    let build = |assignment| {
        let mut s = counter(assignment);
        let always = s.exprs.bool(true);
        for value in [2, 4] {
            let value = s.exprs.number(value);
            s.add_line(A, &[(X, value)], always);
        }
        let quotient = s.over(X, Y);
        let never = s.is(X, 3);
        s.add_line(A, &[(Y, quotient)], never);
        s
    };
    let (multi, single) = (build(Assignment::Multi), build(Assignment::Single));
    //          system    x, y       successors          overflow  because
    check_step(&multi,    [0, 0],    [[2, 0]],           true,     "x = 4 is removed");
    check_step(&single,   [0, 0],    [[2, 0]],           true,     "x = 4 is removed");
    check_step(&multi,    [3, 1],    [[2, 1], [3, 3]],   true,     "x = 2, or y = 3/1");
    check_step(&single,   [3, 1],    [[2, 3]],           true,     "x = 2 and y = 3/1");
    check_step(&multi,    [3, 2],    [[2, 2]],           true,     "y = 3/2 is a fraction");
    check_step(&single,   [3, 2],    [],                 true,     "y had no other choice");
    check_step(&multi,    [3, 0],    [[2, 0]],           true,     "y = 3/0 has no value");
    check_step(&single,   [3, 0],    [],                 true,     "y had no other choice");
}

#[test]
fn one_line_with_two_assignments_is_removed_as_a_whole() {
    let mut s = counter(Assignment::Multi);
    let (always, more, zero) = (s.exprs.bool(true), s.plus(X, 1), s.exprs.number(0));
    s.add_line(A, &[(Y, zero), (X, more)], always);
    check_step(&s, [2, 2], [[3, 0]], false, "both at once");
    check_step(&s, [3, 2], [], true, "x = 4 takes y = 0 with it");
}

#[test]
fn agents_evolve_at_once_and_read_all_actions() {
    let mut s = counter(Assignment::Multi);
    let b = s.add_agent("B", &["copy", "stay"]);
    let z = s.add_variable(b, "z", Domain::Integers(-1, 3));
    let copies = s.exprs.action_is(b, ActionId(0));
    let (more, old) = (s.plus(X, 1), s.exprs.variable(X));
    s.add_line(A, &[(X, more)], copies);
    s.add_line(b, &[(z, old)], copies);
    let to = |joint: [u32; 2]| step(&s, &[1, 0, 3], &joint.map(ActionId)).successors;
    assert_eq!(to([0, 0]), [[2, 0, 1]], "z gets the old x");
    assert_eq!(to([0, 1]), [[1, 0, 3]], "no line is enabled: all is kept");
}

#[test]
fn exploration_is_breadth_first_from_the_initial_states() {
    let mut s = lines(Assignment::Multi);
    s.initial = s.is_one_of(X, &[3, 2]);
    let top = s.is(Y, 3);
    s.initial = s.exprs.and(vec![s.initial, top]);
    let structure = explore(&s, 100).expect("small");
    assert_eq!(structure.states, [[2, 3], [3, 3], [3, 0]]);
    assert_eq!(structure.initial, [true, true, false]);
    assert_eq!(structure.successors, [vec![1], vec![2], vec![2]]);
    assert_eq!(structure.deadlocked, [false; 3]);
    assert_eq!(structure.overflowing, [true, false, false], "at 2 3, y = 5 is removed");
    assert_eq!(structure.index_of(&[3, 0]), Some(2));
    assert_eq!(structure.index_of(&[0, 0]), None);
    assert!(explore(&s, 3).is_some() && explore(&s, 2).is_none() && explore(&s, 1).is_none());
}

#[test]
fn deadlock_by_protocol_and_by_overflow() {
    let mut s = lines(Assignment::Single);
    let (start, gap) = (s.is_one_of(X, &[0, 3]), s.is(X, 3));
    let two = s.is(Y, 2);
    s.initial = s.exprs.and(vec![start, two]);
    s.set_protocol(A, &[], Some(&[ActionId(0)]));
    let structure = explore(&s, 100).expect("small");
    assert_eq!(structure.states, [[0, 2], [3, 2], [3, 0]]);
    assert_eq!(structure.deadlocked, [true, false, false], "at 0 2, y = 4 has no successor");
    let not_at_the_gap = s.exprs.not(gap);
    s.set_protocol(A, &[(not_at_the_gap, &[ActionId(0)])], None);
    let structure = explore(&s, 100).expect("small");
    assert_eq!(structure.states, [[0, 2], [3, 2]]);
    assert_eq!(structure.deadlocked, [true, true], "no action at x = 3");
    assert_eq!(structure.overflowing, [true, false]);
    assert_eq!(structure.successors, [vec![], Vec::<usize>::new()]);
    s.meaning.deadlock = Deadlock::Error;
    assert_eq!(explore(&s, 100).expect("small").successors, structure.successors, "as Finite");
    s.meaning.deadlock = Deadlock::Stutter;
    let stuttering = explore(&s, 100).expect("small");
    assert_eq!(stuttering.successors, [vec![0], vec![1]]);
    assert_eq!(stuttering.deadlocked, [true, true], "still reported");
}

#[test]
fn initial_states_are_all_that_satisfy_the_condition() {
    let mut s = counter(Assignment::Multi);
    assert_eq!(initial_states(&s, 25).map(|states| states.len()), Some(25), "all are unconstrained");
    assert_eq!(initial_states(&s, 24), None);
    let (x, y) = (s.exprs.variable(X), s.exprs.variable(Y));
    let (less, low) = (s.exprs.compare(Relation::Less, x, y), s.is_one_of(Y, &[0, 1]));
    s.initial = s.exprs.and(vec![less, low]);
    let expected = [[-1, 0], [-1, 1], [0, 1]].map(|s| s.to_vec()).to_vec();
    assert_eq!(initial_states(&s, 25), Some(expected));
    s.initial = s.exprs.bool(false);
    assert_eq!(initial_states(&s, 25), Some(vec![]));
}
