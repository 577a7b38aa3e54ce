//! Booleans and the branching-time operators, at dead ends too.

use super::worlds::*;
use super::*;
use crate::semantics::Truth::{self, *};

/// 0 branches to 1 and 3; 1 leads to 2, which loops; 3 is a dead end; 4 is not reachable.
const FORK: Worlds<'static> = Worlds {
    n: 5,
    edges: &[(0, 1), (1, 2), (2, 2), (0, 3), (4, 0)],
    initial: &[0],
    alice: &[],
    bob: &[],
    alice_red: &[],
    bob_red: &[],
};

#[track_caller]
fn check<const P: usize, const Q: usize, const N: usize>(
    p: [i64; P],
    q: [i64; Q],
    formula: Make,
    expected: [i64; N],
    because: &str,
) {
    let found = true_at(&mut FORK.system(&p, &q), &formula);
    assert_eq!(found, Some(expected.to_vec()), "{because}");
}

#[rustfmt::skip]
#[test]
fn booleans_on_the_fork() {
    let constant = |b| leaf(Formula::Bool(b));
    //    p holds in  q holds in  formula                              true at         because
    check([],         [],         constant(true),                      [0, 1, 2, 3],   "4 is not reachable");
    check([],         [],         constant(false),                     [],             "nowhere");
    check([0, 4],     [],         p(),                                 [0],            "4 is not reachable");
    check([0, 4],     [],         not(p()),                            [1, 2, 3],      "the complement is inside G");
    check([0, 1],     [1, 2],     junction(true, vec![p(), q()]),      [1],            "both");
    check([],         [],         junction(true, vec![]),              [0, 1, 2, 3],   "no conjunct is violated");
    check([0, 1],     [1, 2],     junction(false, vec![p(), q()]),     [0, 1, 2],      "either");
    check([],         [],         junction(false, vec![]),             [],             "no disjunct is met");
    check([0, 1],     [1, 2],     binary(p(), q(), Formula::Implies),  [1, 2, 3],      "false only at 0");
    check([0, 1],     [1, 2],     binary(p(), q(), Formula::Iff),      [1, 3],         "both at 1, neither at 3");
}

fn junction(is_and: bool, parts: Vec<Make>) -> Make {
    Box::new(move |pool| {
        let ids: Vec<FormulaId> = parts.iter().map(|part| part(pool)).collect();
        pool.add(if is_and { Formula::And(&ids) } else { Formula::Or(&ids) })
    })
}

#[rustfmt::skip]
#[test]
fn temporal_operators_on_the_fork() {
    //    p holds in     q     formula                    true at         because
    check([3],           [],   some(next(p())),           [0],            "0 → 3");
    check([0, 1, 2, 3],  [],   some(next(p())),           [0, 1, 2],      "a dead end has no next");
    check([1],           [],   all(next(p())),            [3],            "0 may go to 3; the dead end goes nowhere");
    check([1, 3],        [],   all(next(p())),            [0, 3],         "both successors of 0");
    check([3],           [],   some(finally(p())),        [0, 3],         "a finite path meets it");
    check([4],           [],   some(finally(p())),        [],             "4 is not reachable");
    check([0, 1, 2, 3],  [],   some(globally(p())),       [0, 1, 2],      "the dead end is on no infinite path");
    check([0, 3],        [],   some(globally(p())),       [],             "the path 0 3 ends");
    check([1, 2],        [],   some(globally(p())),       [1, 2],         "p is false at 0");
    check([2],           [],   all(finally(p())),         [0, 1, 2, 3],   "every infinite path reaches 2");
    check([],            [],   all(finally(p())),         [3],            "AF false is true at a dead end");
    check([1, 2],        [],   all(globally(p())),        [1, 2],         "0 violates it itself");
    check([0, 1, 2],     [],   all(globally(p())),        [1, 2],         "0 → 3, finite paths count");
    check([3],           [],   all(globally(p())),        [3],            "nothing comes after 3");
}

#[rustfmt::skip]
#[test]
fn until_weak_until_and_release_on_the_fork() {
    //    p holds in     q holds in     formula                        true at         because
    check([0, 1],        [2],           some(until(p(), q())),         [0, 1, 2],      "0 1 2");
    check([1],           [2],           some(until(p(), q())),         [1, 2],         "p is false at 0");
    check([0],           [3],           some(until(p(), q())),         [0, 3],         "a finite path is enough");
    check([0, 1, 2],     [],            some(until(p(), q())),         [],             "q is never true");
    check([0, 1],        [2],           all(until(p(), q())),          [1, 2],         "0 → 3, where neither holds");
    check([0, 1, 3],     [2],           all(until(p(), q())),          [0, 1, 2, 3],   "at the dead end p is enough");
    check([0, 1, 2],     [3],           all(until(p(), q())),          [3],            "0 1 2 2 .. never meets q");
    check([0, 1, 2],     [],            some(weak_until(p(), q())),    [0, 1, 2],      "p is always true");
    check([0, 3],        [],            some(weak_until(p(), q())),    [],             "p always needs an infinite path");
    check([0],           [3],           some(weak_until(p(), q())),    [0, 3],         "q becomes true");
    check([0, 1, 3],     [2],           all(weak_until(p(), q())),     [0, 1, 2, 3],   "0 1 2 meets q, 0 3 ends in p");
    check([0, 1, 2],     [],            all(weak_until(p(), q())),     [1, 2],         "0 → 3, where neither holds");
    check([3],           [],            all(weak_until(p(), q())),     [3],            "p until the end");
    check([1],           [0, 1],        some(release(p(), q())),       [0, 1],         "q up to and including p");
    check([3],           [0, 3],        some(release(p(), q())),       [0, 3],         "a finite path is enough");
    check([],            [0, 3],        some(release(p(), q())),       [],             "q always needs an infinite path");
    check([],            [1, 2],        some(release(p(), q())),       [1, 2],         "q is always true");
    check([1],           [0],           some(release(p(), q())),       [],             "p must become true while q holds");
    check([],            [0, 1, 2, 3],  all(release(p(), q())),        [0, 1, 2, 3],   "q everywhere, to the dead end");
    check([],            [1, 2],        all(release(p(), q())),        [1, 2],         "q is always true");
    check([0],           [0],           all(release(p(), q())),        [0],            "p releases q at once");
}

#[test]
fn release_is_the_dual_of_until_and_weak_until_of_strong() {
    for sets in 0..1u32 << 8 {
        let set =
            |from: u32| (0..4).filter(|i| sets >> (from + i) & 1 == 1).map(i64::from).collect::<Vec<_>>();
        let mut system = FORK.system(&set(0), &set(4));
        let mut same = |f: Make, g: Make| assert_eq!(true_at(&mut system, &f), true_at(&mut system, &g));
        same(some(release(p(), q())), not(all(until(not(p()), not(q())))));
        same(all(release(p(), q())), not(some(until(not(p()), not(q())))));
        let either = || junction(false, vec![p(), q()]);
        same(all(weak_until(p(), q())), all(release(q(), either())));
        same(some(weak_until(p(), q())), some(release(q(), either())));
    }
}

#[rustfmt::skip]
#[test]
fn stuttering_closes_dead_ends() {
    let check = |p: &[i64], formula: Make, expected: &[i64], because: &str| {
        let mut system = FORK.system(p, &[]);
        system.meaning.deadlock = Deadlock::Stutter;
        assert_eq!(true_at(&mut system, &formula), Some(expected.to_vec()), "{because}");
    };
    //     p holds in   formula               true at      because
    check(&[3],         some(next(p())),      &[0, 3],     "3 → 3 is added");
    check(&[1],         all(next(p())),       &[],         "3 → 3 violates it");
    check(&[0, 3],      some(globally(p())),  &[0, 3],     "0 3 3 ..");
    check(&[],          all(finally(p())),    &[],         "every state has a path");
}

#[rustfmt::skip]
#[test]
fn verdicts() {
    let check = |formula: Make, at, expected: Truth, because: &str| {
        assert_eq!(verdict(&mut FORK.system(&[0, 1, 2], &[]), &formula, at), expected, "{because}");
    };
    //    formula                  at              expected      because
    check(p(),                     At::Initial,    Holds,        "p at 0");
    check(p(),                     At::Reachable,  Fails,        "not p at 3");
    check(all(globally(p())),      At::Initial,    Fails,        "0 → 3");
    check(some(globally(p())),     At::Initial,    Holds,        "0 1 2 2 ..");
    check(next(p()),               At::Initial,    Unsupported,  "a path formula is not a state formula");
    check(some(p()),               At::Initial,    Unsupported,  "E of a state formula is CTL*");
    check(not(some(p())),          At::Initial,    Unsupported,  "inside another operator too");
}
