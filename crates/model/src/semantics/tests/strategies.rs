//! The goals that groups can enforce.

use super::games::Game;
use super::worlds::*;
use super::*;

const ALONE: GroupId = GroupId(0);
const PAIR: GroupId = GroupId(1);
const ALL: GroupId = GroupId(2);
const FULL: [&[i64]; 2] = [&[0, 1, 2, 3], &[0, 1, 2, 3]];

fn enforces(group: GroupId, strategies: Strategies, path: Make) -> Make {
    unary(path, move |f| Formula::Enforces(group, strategies, f))
}

fn can(group: GroupId, path: Make) -> Make {
    enforces(group, Strategies::Perfect, path)
}

/// At 0 alice decides: left to 1, right to 2 or 3, as bob chooses. 1 loops. At 2 they get to 1 with equal
/// actions, and alice's right with bob's left leads to 0; alice's left with bob's right has no step. 3 is
/// a dead end.
const CHOICE: Game<'static> = Game {
    n: 4,
    moves: &[
        (0, 0, 0, 1),
        (0, 0, 1, 1),
        (0, 1, 0, 2),
        (0, 1, 1, 3),
        (1, 0, 0, 1),
        (1, 0, 1, 1),
        (1, 1, 0, 1),
        (1, 1, 1, 1),
        (2, 0, 0, 1),
        (2, 1, 1, 1),
        (2, 1, 0, 0),
    ],
    initial: &[0],
    views: FULL,
};

#[rustfmt::skip]
#[test]
fn perfect_information() {
    let check = |p: &[i64], q: &[i64], formula: Make, expected: &[i64], because: &str| {
        let found = true_at(&mut CHOICE.system(p, q), &formula);
        assert_eq!(found, Some(expected.to_vec()), "{because}");
    };
    //     p holds in   q holds in   formula                            true at      because
    check(&[1],         &[],         can(ALONE, next(p())),             &[0, 1],     "left at 0; at 2 bob can prevent it");
    check(&[0, 1],      &[],         can(ALONE, next(p())),             &[0, 1, 2],  "right at 2 leads to 0 or 1");
    check(&[2],         &[],         can(ALONE, next(p())),             &[],         "right at 0: bob may choose 3");
    check(&[2],         &[],         can(PAIR, next(p())),              &[0],        "together they can");
    check(&[0,1,2,3],   &[],         can(PAIR, next(p())),              &[0, 1, 2],  "a dead end enforces nothing");
    check(&[0,1,2,3],   &[],         can(ALONE, next(p())),             &[0, 1, 2],  "at 2 right always leads somewhere, left does not");
    check(&[1],         &[],         can(ALONE, finally(p())),          &[0, 1, 2],  "from 2 right, then left");
    check(&[3],         &[],         can(ALONE, finally(p())),          &[3],        "bob need not go to 3");
    check(&[3],         &[],         can(PAIR, finally(p())),           &[0, 2, 3],  "they can");
    check(&[0, 1],      &[],         can(ALONE, globally(p())),         &[0, 1],     "left at 0, and stay");
    check(&[0,1,2,3],   &[],         can(PAIR, globally(p())),          &[0, 1, 2],  "3 ends");
    check(&[0],         &[1],        can(ALONE, until(p(), q())),       &[0, 1],     "left at once");
    check(&[2],         &[0],        can(ALONE, until(p(), q())),       &[0],        "bob may choose 1 from 2");
    check(&[2],         &[0, 1],     can(ALONE, until(p(), q())),       &[0, 1, 2],  "either is enough");
    check(&[1],         &[],         can(ALONE, weak_until(p(), q())),  &[1],        "p is always true at 1");
    check(&[0, 3],      &[],         can(ALONE, weak_until(p(), q())),  &[],         "always needs a step: 3 ends, 0 cannot stay");
    check(&[],          &[1],        can(ALONE, release(p(), q())),     &[1],        "q is always true");
    check(&[3],         &[3],        can(ALONE, release(p(), q())),     &[3],        "released at once, no step needed");
    check(&[3],         &[],         can(ALL, finally(p())),            &[0, 2, 3],  "with the Environment on their side");
}

#[rustfmt::skip]
#[test]
fn dead_ends_that_stutter() {
    let check = |p: &[i64], formula: Make, expected: &[i64], because: &str| {
        let mut system = CHOICE.system(p, &[]);
        system.meaning.deadlock = Deadlock::Stutter;
        assert_eq!(true_at(&mut system, &formula), Some(expected.to_vec()), "{because}");
    };
    //     p holds in   formula                     true at      because
    check(&[3],         can(ALONE, next(p())),      &[3],        "the loop is the only move of 3");
    check(&[1],         can(ALONE, next(p())),      &[0, 1],     "2 has moves; those that lead nowhere are no loops");
    check(&[3],         can(ALONE, globally(p())),  &[3],        "always");
}

/// Alice and bob see nothing. They want to be in 1; at 0 alice must go left, at 2 right.
const BLIND: Game<'static> = Game {
    n: 4,
    moves: &[
        (0, 0, 0, 1),
        (0, 0, 1, 1),
        (0, 1, 0, 3),
        (0, 1, 1, 3),
        (1, 0, 0, 1),
        (1, 0, 1, 1),
        (1, 1, 0, 1),
        (1, 1, 1, 1),
        (2, 0, 0, 3),
        (2, 0, 1, 3),
        (2, 1, 0, 1),
        (2, 1, 1, 1),
        (3, 0, 0, 3),
        (3, 0, 1, 3),
        (3, 1, 0, 3),
        (3, 1, 1, 3),
    ],
    initial: &[0, 2],
    views: [&[0, 1, 0, 1], &[0, 1, 2, 1]],
};

#[rustfmt::skip]
#[test]
fn uniform_strategies() {
    use Strategies::*;
    let check = |group, strategies, expected: &[i64], because: &str| {
        let found = true_at(&mut BLIND.system(&[1], &[]), &enforces(group, strategies, finally(p())));
        assert_eq!(found, Some(expected.to_vec()), "{because}");
    };
    //    group   strategies        true at      because
    check(ALONE,  Perfect,          &[0, 1, 2],  "left at 0, right at 2");
    check(ALONE,  UniformObjective, &[0, 1, 2],  "one action is right for each, taken alone");
    check(ALONE,  UniformJoint,     &[],         "she cannot distinguish 0 from 2, nor 1 from 3, where she has lost");
    check(ALONE,  Uniform,          &[],         "likewise");
    check(PAIR,   UniformJoint,     &[0, 2],     "together they can distinguish 0 from 2, but not 1 from 3");
    check(PAIR,   Uniform,          &[],         "alice cannot distinguish 0 from 2");
}

/// If every agent sees everything, all strategies are uniform; so the fixpoints, with fairness and
/// without, are checked by trying every strategy.
#[test]
fn fixpoints_against_all_strategies() {
    let mut random = 99u64;
    let mut dice = |sides: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % sides
    };
    let mut tally = [0; 2];
    for round in 0..150 {
        let mut moves = Vec::new();
        for from in 0..4 {
            for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let n_targets = [0, 1, 1, 1, 1, 2][dice(6) as usize];
                moves.extend((0..n_targets).map(|_| (from, x, y, dice(4) as i64)));
            }
        }
        let game = Game { n: 4, moves: &moves, initial: &[0, 1, 2, 3], views: FULL };
        let mut some_worlds = || (0..4).filter(|_| dice(2) == 1).collect::<Vec<i64>>();
        let (p_set, q_set, c, d) = (some_worlds(), some_worlds(), some_worlds(), some_worlds());
        let mut system = game.system(&p_set, &q_set);
        if round % 3 == 0 {
            system.meaning.deadlock = Deadlock::Stutter;
        }
        if round % 2 == 0 {
            for set in [c, d] {
                let condition = system.is_one_of(VarId(0), &set);
                let constraint = system.formulas.add(Formula::Condition(condition));
                system.fairness.push(constraint);
            }
        }
        let paths: [fn() -> Make; 6] = [
            || next(p()),
            || finally(p()),
            || globally(p()),
            || until(p(), q()),
            || weak_until(p(), q()),
            || release(p(), q()),
        ];
        for path in paths {
            for group in [ALONE, PAIR] {
                let fixpoints = true_at(&mut system, &can(group, path()));
                let tried = true_at(&mut system, &enforces(group, Strategies::UniformObjective, path()));
                assert_eq!(fixpoints, tried, "round {round}");
                tally[usize::from(fixpoints.is_some_and(|worlds| worlds.contains(&0)))] += 1;
            }
        }
    }
    assert!(tally.iter().all(|&n| n > 200), "the samples are not trivial: {tally:?}");
}
