//! Fairness: the fair states, and the states and paths that operators range over.

use super::worlds::*;
use super::*;
use crate::semantics::Truth::{self, *};

/// 0 loops, branches to 1, which loops, and to 2, a dead end. Alice sees nothing.
/// She is red at 1.
const EXIT: Worlds<'static> = Worlds {
    n: 3,
    edges: &[(0, 0), (0, 1), (1, 1), (0, 2)],
    initial: &[0],
    alice: &[],
    bob: &[],
    alice_red: &[1],
    bob_red: &[],
};

/// The q-states must recur.
#[track_caller]
fn check<const P: usize, const Q: usize, const N: usize>(
    q: [i64; Q],
    p: [i64; P],
    formula: Make,
    expected: [i64; N],
    because: &str,
) {
    let mut system = EXIT.system(&p, &q);
    system.fairness = vec![system.formulas.add(Formula::Proposition(PropositionId(1)))];
    assert_eq!(true_at(&mut system, &formula), Some(expected.to_vec()), "{because}");
}

#[rustfmt::skip]
#[test]
fn operators_range_over_fair_paths_and_states() {
    let constant = |b| leaf(Formula::Bool(b));
    let knows    = |f| unary(f, |f| Formula::Knows(ALICE, f));
    let everyone = |f| unary(f, |f| Formula::EveryoneKnows(BOTH, f));
    let together = |f| unary(f, |f| Formula::DistributedKnowledge(BOTH, f));
    let common   = |f| unary(f, |f| Formula::CommonKnowledge(BOTH, f));
    let ought    = |f| unary(f, |f| Formula::Correct(ALICE, f));
    let under    = |f| unary(f, |f| Formula::KnowsUnder(BOB, ONLY_ALICE, f));
    //    recurs    p holds in   formula                      true at   because
    check([1],      [],          constant(true),              [0, 1],   "no path starts at 2");
    check([0],      [],          constant(true),              [0],      "from 1 there is no way back");
    check([1],      [0],         not(p()),                    [1],      "the complement is inside the fair states");
    check([1],      [2],         some(next(p())),             [],       "the step to 2 is on no fair path");
    check([1],      [0, 1],      all(next(p())),              [0, 1],   "fair paths do not step to 2");
    check([1],      [2],         some(finally(p())),          [],       "fair paths do not meet 2");
    check([1],      [1],         all(finally(p())),           [0, 1],   "0 0 0 .. is not fair");
    check([1],      [0],         some(globally(p())),         [],       "0 0 0 .. is not fair");
    check([0],      [0],         some(globally(p())),         [0],      "here it is");
    check([1],      [0, 1],      all(globally(p())),          [0, 1],   "2 is on no fair path");
    check([1],      [0],         some(until(p(), q())),       [0, 1],   "0 1");
    check([1],      [0],         all(until(p(), q())),        [0, 1],   "a step to 2 does not count against it");
    check([1],      [0],         some(weak_until(p(), constant(false))), [], "0 0 0 .. is not fair");
    check([1],      [0],         all(weak_until(p(), q())),   [0, 1],   "likewise");
    check([1],      [0, 1],      some(release(constant(false), p())), [0, 1], "0 1 1 ..");
    check([1],      [0, 1],      all(release(constant(false), p())),  [0, 1], "2 is on no fair path");
    check([1],      [0, 1],      knows(p()),                  [0, 1],   "2 is not fair, so not possible for alice");
    check([1],      [0],         knows(p()),                  [],       "0 looks like 1");
    check([1],      [0, 1],      everyone(p()),               [0, 1],   "as K");
    check([1],      [0, 1],      together(p()),               [0, 1],   "as K");
    check([1],      [0, 1],      common(p()),                 [0, 1],   "as K");
    check([1],      [0],         ought(p()),                  [0, 1],   "2 is green but not fair");
    check([1],      [0],         under(p()),                  [0, 1],   "2 is green but not fair");
}

#[test]
fn constraints_are_evaluated_without_fairness() {
    let mut system = EXIT.system(&[2], &[]);
    let constraint = some(next(p())); // True at 0, thanks to the dead end.
    system.fairness = vec![constraint(&mut system.formulas)];
    assert_eq!(domain_of(&system), Some(vec![0]), "0 0 0 .. is the only fair path");
    // Under fairness the same formula is false there.
    assert_eq!(true_at(&mut system, &constraint), Some(vec![]));
}

#[test]
fn without_constraints_dead_ends_stay() {
    let mut system = EXIT.system(&[0], &[]);
    assert_eq!(domain_of(&system), Some(vec![0, 1, 2]));
    system.fairness = vec![system.formulas.add(Formula::Bool(true))];
    assert_eq!(domain_of(&system), Some(vec![0, 1]), "the constraint true requires infinite paths");
}

#[rustfmt::skip]
#[test]
fn verdicts_under_fairness() {
    let check = |initial: &[i64], recurring: [&[i64]; 2], at, expected: Truth, because: &str| {
        let worlds = Worlds { initial, ..EXIT };
        let mut system = worlds.system(recurring[0], recurring[1]);
        system.fairness = [0, 1].map(|i| system.formulas.add(Formula::Proposition(PropositionId(i)))).to_vec();
        let world = VarId(0);
        let is_one = system.is(world, 1);
        let formula = leaf(Formula::Condition(is_one));
        assert_eq!(verdict(&mut system, &formula, at), expected, "{because}");
    };
    //    initial   recurring       at              expected     because
    check(&[0],     [&[0], &[1]],   At::Initial,    NoFairPath,  "0 and 1 cannot both recur");
    check(&[0],     [&[0], &[1]],   At::Reachable,  NoFairPath,  "at reachable too");
    check(&[0],     [&[1], &[1]],   At::Initial,    Fails,       "0 is fair, and is not 1");
    check(&[1, 2],  [&[1], &[1]],   At::Initial,    Holds,       "2 is not fair, so it does not count");
    check(&[1, 2],  [&[1], &[1]],   At::Reachable,  Holds,       "2 is not fair, so it does not count");
    check(&[0],     [&[1], &[1]],   At::Reachable,  Fails,       "0 is fair, and is not 1");
    check(&[2],     [&[1], &[1]],   At::Initial,    NoFairPath,  "the only initial state is a dead end");
}

#[test]
fn path_formulas_as_constraints_are_unsupported() {
    let mut system = EXIT.system(&[0], &[]);
    let constraint = finally(p());
    system.fairness = vec![constraint(&mut system.formulas)];
    assert_eq!(verdict(&mut system, &p(), At::Initial), Unsupported);
}

/// Compares `EG φ` under fairness with its definition by lassos: from the state, inside φ, some state is
/// reachable that lies on a closed walk inside φ through a state of every constraint.
#[test]
fn fair_paths_are_lassos() {
    const N: usize = 6;
    let mut random = 12345u64;
    let mut chance = |percent: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % 100 < percent
    };
    let mut n_fair = 0;
    for _ in 0..300 {
        let mut edges: Vec<(i64, i64)> = Vec::new();
        for i in 0..N as i64 {
            edges.extend((0..N as i64).filter(|_| chance(25)).map(|j| (i, j)));
        }
        let mut some_worlds = || (0..N as i64).filter(|_| chance(60)).collect::<Vec<_>>();
        let (p_set, c, d) = (some_worlds(), some_worlds(), some_worlds());
        let worlds = Worlds { n: N as i64, edges: &edges, initial: &[0, 1, 2, 3, 4, 5], ..EXIT };
        let mut system = worlds.system(&p_set, &c);
        let is_d = system.is_one_of(VarId(0), &d);
        system.fairness = vec![
            system.formulas.add(Formula::Proposition(PropositionId(1))),
            system.formulas.add(Formula::Condition(is_d)),
        ];
        // reach[i][j]: a walk of at least one step from i to j inside p.
        let inside = |i: usize| p_set.contains(&(i as i64));
        let mut reach = [[false; N]; N];
        for &(i, j) in &edges {
            reach[i as usize][j as usize] = inside(i as usize) && inside(j as usize);
        }
        for k in 0..N {
            for i in 0..N {
                for j in 0..N {
                    reach[i][j] |= reach[i][k] && reach[k][j];
                }
            }
        }
        let through =
            |set: &[i64], k: usize| set.iter().any(|&c| reach[k][c as usize] && reach[c as usize][k]);
        let is_fair = |&i: &i64| (0..N).any(|k| reach[i as usize][k] && through(&c, k) && through(&d, k));
        let expected: Vec<i64> = (0..N as i64).filter(is_fair).collect();
        n_fair += expected.len();
        assert_eq!(true_at(&mut system, &some(globally(p()))), Some(expected));
    }
    assert!((100..1700).contains(&n_fair), "the samples are not trivial: {n_fair}");
}
