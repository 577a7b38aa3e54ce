//! LTL and CTL*: by hand, compared with CTL, and compared with the definition on a single path.

use super::worlds::*;
use super::*;

/// 0 branches to 1 and 3; 1 leads to 2, which loops; 3 is a dead end; 2 goes back to 1 as well.
const FORK: Worlds<'static> = Worlds {
    n: 4,
    edges: &[(0, 1), (1, 2), (2, 2), (2, 1), (0, 3)],
    initial: &[0],
    alice: &[],
    bob: &[],
    alice_red: &[],
    bob_red: &[],
};

#[rustfmt::skip]
#[test]
fn path_formulas_on_the_fork() {
    let check = |p: &[i64], q: &[i64], formula: Make, expected: &[i64], because: &str| {
        let found = true_at(&mut FORK.system(p, q), &formula);
        assert_eq!(found, Some(expected.to_vec()), "{because}");
    };
    let (e, a) = (some_infinite, all_infinite);
    //     p holds in   q holds in   formula                                              true at         because
    check(&[3],         &[],         e(finally(p())),                                     &[],            "the path 0 3 is not infinite");
    check(&[0, 3],      &[],         e(p()),                                              &[0],           "no path starts at 3");
    check(&[],          &[],         a(p()),                                              &[3],           "vacuously, and only there");
    check(&[1],         &[],         a(next(p())),                                        &[0, 3],        "0 3 does not count");
    check(&[1],         &[],         e(globally(finally(p()))),                           &[0, 1, 2],     "1 2 1 2 ..");
    check(&[1],         &[],         a(globally(finally(p()))),                           &[3],           "2 2 2 ..");
    check(&[2],         &[],         a(finally(globally(p()))),                           &[3],           "1 2 1 2 ..");
    check(&[2],         &[],         e(finally(globally(p()))),                           &[0, 1, 2],     "2 2 2 ..");
    check(&[1],         &[2],        e(and(finally(p()), globally(or(p(), q())))),        &[1, 2],        "0 is neither");
    check(&[1],         &[2],        e(and(globally(finally(p())), globally(finally(q())))), &[0, 1, 2],  "both recur on 1 2 1 2 ..");
    check(&[1],         &[],         e(finally(and(p(), next(next(p()))))),               &[0, 1, 2],     "1 2 1");
    check(&[1],         &[],         e(finally(and(p(), next(p())))),                     &[],            "no step from 1 to 1");
    check(&[0, 1],      &[2],        e(until(p(), globally(q()))),                        &[0, 1, 2],     "0 1 2 2 ..");
    check(&[0, 1],      &[2],        a(until(p(), globally(q()))),                        &[3],           "2 may go back to 1");
    check(&[2],         &[],         e(weak_until(p(), next(next(p())))),                 &[0, 1, 2],     "0 1 2: at once");
    check(&[1, 2],      &[2],        a(release(q(), p())),                                &[1, 2, 3],     "p up to and including 2");
    check(&[1, 2],      &[],         a(release(q(), p())),                                &[1, 2, 3],     "p is always true");
    check(&[],          &[],         a(not(finally(p()))),                                &[0, 1, 2, 3],  "p is nowhere");
    check(&[1],         &[],         e(not(finally(p()))),                                &[2],           "2 2 2 ..");
    check(&[1],         &[],         a(finally(e(next(next(p()))))),                      &[0, 1, 2, 3],  "a state formula inside: from 1 by 1 2 1");
    check(&[1],         &[],         e(binary(finally(p()), globally(p()), Formula::Iff)), &[2],           "neither on 2 2 2 ..; 1 cannot stay");
    check(&[1],         &[],         e(binary(finally(p()), globally(p()), Formula::Implies)), &[2],       "likewise");
}

/// The worlds EXIT of `fairness.rs`; the constraint is q.
#[rustfmt::skip]
#[test]
fn fair_paths_only() {
    let check = |recurs: &[i64], p: &[i64], formula: Make, expected: &[i64], because: &str| {
        let worlds = Worlds { n: 3, edges: &[(0, 0), (0, 1), (1, 1), (0, 2)], ..FORK };
        let mut system = worlds.system(p, recurs);
        system.fairness = vec![system.formulas.add(Formula::Proposition(PropositionId(1)))];
        assert_eq!(true_at(&mut system, &formula), Some(expected.to_vec()), "{because}");
    };
    let (e, a) = (some_infinite, all_infinite);
    //     recurs   p holds in   formula                       true at   because
    check(&[1],     &[1],        a(finally(globally(p()))),    &[0, 1],  "0 0 0 .. is not fair");
    check(&[1],     &[0],        e(globally(p())),             &[],      "0 0 0 .. is not fair");
    check(&[0],     &[0],        a(globally(p())),             &[0],     "there is no other fair path; 1 is not fair");
    check(&[1],     &[0],        e(and(p(), next(p()))),       &[0],     "0 0 1 1 ..");
    check(&[1],     &[2],        e(finally(p())),              &[],      "2 is on no fair path");
}

/// Where no path ends, CTL and CTL* agree.
#[test]
fn ctl_star_agrees_with_ctl_where_no_path_ends() {
    for sets in 0..1u32 << 6 {
        let set =
            |from: u32| (0..3).filter(|i| sets >> (from + i) & 1 == 1).map(i64::from).collect::<Vec<_>>();
        for constraint in [None, Some(vec![0, 2])] {
            let worlds = Worlds { n: 3, edges: &[(0, 1), (1, 2), (2, 2), (0, 0), (2, 0)], ..FORK };
            let mut system = worlds.system(&set(0), &set(3));
            if let Some(worlds) = &constraint {
                let condition = system.is_one_of(VarId(0), worlds);
                system.fairness = vec![system.formulas.add(Formula::Condition(condition))];
            }
            let mut same = |path: fn() -> Make| {
                for (ctl, star) in
                    [(some as fn(Make) -> Make, some_infinite as fn(Make) -> Make), (all, all_infinite)]
                {
                    assert_eq!(
                        true_at(&mut system, &ctl(path())),
                        true_at(&mut system, &star(path())),
                        "{sets:b}"
                    );
                }
            };
            same(|| next(p()));
            same(|| finally(p()));
            same(|| globally(p()));
            same(|| until(p(), q()));
            same(|| weak_until(p(), q()));
            same(|| release(p(), q()));
        }
    }
}

/// A path formula whose truth on a lasso is computed by the definition.
enum PathFormula {
    P,
    Q,
    Not(Box<PathFormula>),
    And(Box<PathFormula>, Box<PathFormula>),
    Next(Box<PathFormula>),
    Finally(Box<PathFormula>),
    Globally(Box<PathFormula>),
    Until(Box<PathFormula>, Box<PathFormula>),
    WeakUntil(Box<PathFormula>, Box<PathFormula>),
    Release(Box<PathFormula>, Box<PathFormula>),
}

impl PathFormula {
    fn random(dice: &mut impl FnMut(usize) -> usize, depth: usize) -> Box<PathFormula> {
        if depth == 0 {
            return Box::new([PathFormula::P, PathFormula::Q][dice(2)].copy());
        }
        let mut part = || PathFormula::random(dice, depth - 1);
        let (left, right) = (part(), part());
        Box::new(match dice(9) {
            0 => PathFormula::P,
            1 => PathFormula::Not(left),
            2 => PathFormula::And(left, right),
            3 => PathFormula::Next(left),
            4 => PathFormula::Finally(left),
            5 => PathFormula::Globally(left),
            6 => PathFormula::Until(left, right),
            7 => PathFormula::WeakUntil(left, right),
            _ => PathFormula::Release(left, right),
        })
    }

    fn copy(&self) -> PathFormula {
        if matches!(self, PathFormula::P) { PathFormula::P } else { PathFormula::Q }
    }

    fn make(&self) -> Make {
        match self {
            PathFormula::P => p(),
            PathFormula::Q => q(),
            PathFormula::Not(f) => not(f.make()),
            PathFormula::And(f, g) => and(f.make(), g.make()),
            PathFormula::Next(f) => next(f.make()),
            PathFormula::Finally(f) => finally(f.make()),
            PathFormula::Globally(f) => globally(f.make()),
            PathFormula::Until(f, g) => until(f.make(), g.make()),
            PathFormula::WeakUntil(f, g) => weak_until(f.make(), g.make()),
            PathFormula::Release(f, g) => release(f.make(), g.make()),
        }
    }

    /// Returns the truth at a state of the path 0 1 .. n-1 that goes back to `back`. Operators need to look
    /// at most `n` steps ahead: later states have occurred before.
    fn is_true(&self, at: usize, lasso: &Lasso) -> bool {
        let state =
            |i: usize| if i < lasso.n { i } else { lasso.back + (i - lasso.back) % (lasso.n - lasso.back) };
        let after = |f: &PathFormula, i: usize| f.is_true(state(at + i), lasso);
        let n = lasso.n;
        match self {
            PathFormula::P => lasso.p[at],
            PathFormula::Q => lasso.q[at],
            PathFormula::Not(f) => !after(f, 0),
            PathFormula::And(f, g) => after(f, 0) && after(g, 0),
            PathFormula::Next(f) => after(f, 1),
            PathFormula::Finally(f) => (0..=n).any(|i| after(f, i)),
            PathFormula::Globally(f) => (0..=n).all(|i| after(f, i)),
            PathFormula::Until(f, g) => (0..=n).any(|i| after(g, i) && (0..i).all(|j| after(f, j))),
            PathFormula::WeakUntil(f, g) => {
                (0..=n).all(|i| after(f, i)) || (0..=n).any(|i| after(g, i) && (0..i).all(|j| after(f, j)))
            }
            PathFormula::Release(f, g) => (0..=n).all(|i| after(g, i) || (0..i).any(|j| after(f, j))),
        }
    }
}

struct Lasso {
    n: usize,
    back: usize,
    p: Vec<bool>,
    q: Vec<bool>,
}

/// On a graph that is one path, `E φ` and `A φ` are both the truth of `φ` on it.
#[test]
fn quantifiers_on_a_single_path() {
    let mut random = 4711u64;
    let mut dice = |sides: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize % sides
    };
    let mut n_true = 0;
    for _ in 0..400 {
        let n = 1 + dice(4);
        let back = dice(n);
        let (p_at, q_at) = ((0..n).map(|_| dice(2) == 1).collect(), (0..n).map(|_| dice(2) == 1).collect());
        let lasso = Lasso { n, back, p: p_at, q: q_at };
        let formula = PathFormula::random(&mut dice, 3);
        let mut edges: Vec<(i64, i64)> = (1..n as i64).map(|i| (i - 1, i)).collect();
        edges.push((n as i64 - 1, back as i64));
        let worlds = Worlds { n: n as i64, edges: &edges, initial: &[0], ..FORK };
        let among = |set: &[bool]| (0..n as i64).filter(|&i| set[i as usize]).collect::<Vec<_>>();
        let mut system = worlds.system(&among(&lasso.p), &among(&lasso.q));
        let expected: Vec<i64> = (0..n as i64).filter(|&i| formula.is_true(i as usize, &lasso)).collect();
        n_true += usize::from(expected.contains(&0));
        for quantified in [some_infinite(formula.make()), all_infinite(formula.make())] {
            assert_eq!(true_at(&mut system, &quantified), Some(expected.clone()));
        }
    }
    assert!((100..300).contains(&n_true), "the samples are not trivial: {n_true}");
}
