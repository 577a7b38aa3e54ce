//! The mu-calculus: compared with CTL, with alternation, and with conditions on actions.

use super::games::Game;
use super::worlds::*;
use super::*;

fn bound(name: &'static str) -> Make {
    Box::new(move |pool| {
        let z = pool.fixpoint(name);
        pool.add(Formula::Bound(z))
    })
}

fn fixpoint(name: &'static str, body: Make, is_least: bool) -> Make {
    Box::new(move |pool| {
        let (z, body) = (pool.fixpoint(name), body(pool));
        pool.add(if is_least { Formula::Least(z, body) } else { Formula::Greatest(z, body) })
    })
}

fn mu(name: &'static str, body: Make) -> Make {
    fixpoint(name, body, true)
}

fn nu(name: &'static str, body: Make) -> Make {
    fixpoint(name, body, false)
}

/// 0 branches to 1 and 3; 1 and 2 are a cycle, and 2 loops; 3 is a dead end.
const FORK: Worlds<'static> = Worlds {
    n: 4,
    edges: &[(0, 1), (1, 2), (2, 2), (2, 1), (0, 3)],
    initial: &[0],
    alice: &[0, 1, 0, 1],
    bob: &[],
    alice_red: &[],
    bob_red: &[],
};

#[test]
fn operators_of_ctl_as_fixpoints() {
    for sets in 0..1u32 << 8 {
        let set =
            |from: u32| (0..4).filter(|i| sets >> (from + i) & 1 == 1).map(i64::from).collect::<Vec<_>>();
        let mut system = FORK.system(&set(0), &set(4));
        let mut same =
            |f: Make, g: Make| assert_eq!(true_at(&mut system, &f), true_at(&mut system, &g), "{sets:b}");
        let (z, ex, ax) = (|| bound("Z"), |f| some(next(f)), |f| all(next(f)));
        same(mu("Z", or(p(), ex(z()))), some(finally(p())));
        same(nu("Z", and(p(), ax(z()))), all(globally(p())));
        same(nu("Z", and(p(), ex(z()))), some(globally(p())));
        same(mu("Z", or(p(), ax(z()))), all(finally(p())));
        same(mu("Z", or(q(), and(p(), ex(z())))), some(until(p(), q())));
        same(not(nu("Z", not(and(p(), not(ax(z())))))), mu("Z", not(not(and(p(), some(next(z())))))));
        // With alternation: infinitely often, and eventually always.
        let infinitely_often = nu("Y", mu("Z", ex(or(and(p(), bound("Y")), z()))));
        same(infinitely_often, some_infinite(globally(finally(p()))));
        let eventually_always = mu("Y", or(nu("Z", and(p(), ex(z()))), ex(bound("Y"))));
        same(eventually_always, some_infinite(finally(globally(p()))));
        // Common knowledge, and knowledge inside a fixpoint.
        let alice = |f| unary(f, |f| Formula::Knows(ALICE, f));
        same(nu("Z", alice(and(p(), z()))), unary(p(), |f| Formula::CommonKnowledge(ONLY_ALICE, f)));
    }
}

#[test]
fn fixpoints_that_may_not_exist_are_unsupported() {
    let mut system = FORK.system(&[0], &[]);
    assert_eq!(true_at(&mut system, &mu("Z", not(bound("Z")))), None, "not monotone");
    assert_eq!(true_at(&mut system, &bound("Z")), None, "no fixpoint binds it");
    assert_eq!(true_at(&mut system, &mu("Z", or(p(), nu("Z", bound("Z"))))), None, "bound twice");
    assert_eq!(true_at(&mut system, &mu("Z", or(p(), bound("Z")))), Some(vec![0]));
}

#[test]
fn steps_with_conditions_on_actions() {
    // At 0 alice's left leads to 1 and her right to 2, for both actions of bob; 1 has no step.
    let moves = [(0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 0, 2), (0, 1, 1, 2), (2, 0, 0, 0), (2, 1, 1, 2)];
    let game = Game { n: 3, moves: &moves, initial: &[0], views: [&[], &[]] };
    let alice = |action: u32| (AgentId(1), ActionId(action));
    let bob = |action: u32| (AgentId(2), ActionId(action));
    type Who = (AgentId, ActionId);
    let check = |p: &[i64], who: &[Who], is_some: bool, expected: &[i64], because: &str| {
        for deadlock in [Deadlock::Finite, Deadlock::Stutter] {
            let mut system = game.system(p, &[]);
            system.meaning.deadlock = deadlock;
            let parts = who.iter().map(|&(agent, action)| system.exprs.action_is(agent, action)).collect();
            let condition = system.exprs.and(parts);
            let step = move |f| {
                if is_some { Formula::ExistsStep(condition, f) } else { Formula::ForallStep(condition, f) }
            };
            let formula = unary(super::worlds::p(), step);
            assert_eq!(true_at(&mut system, &formula), Some(expected.to_vec()), "{because}");
        }
    };
    check(&[1], &[alice(0)], true, &[0], "left at 0");
    check(&[1], &[alice(1)], true, &[], "right does not lead to 1");
    check(&[1], &[alice(0)], false, &[0, 1], "left at 0 always does, and 1 has no step, looped or not");
    check(&[0], &[alice(0), bob(0)], true, &[2], "both left at 2");
    check(&[0], &[alice(0), bob(1)], true, &[], "that leads nowhere");
    check(&[0], &[alice(0), bob(1)], false, &[1, 2], "at 2 that leads nowhere, at 0 to 1");
    check(&[0, 2], &[], true, &[0, 2], "any step");
}
