//! Knowledge and norms.

use super::worlds::*;
use super::*;

/// 0 → 1 → 2, which loops, and an unreachable 3. Alice confuses 0, 1, 3; bob confuses 1, 2.
/// Alice is red at 1, bob at 0.
const CHAIN: Worlds<'static> = Worlds {
    n: 4,
    edges: &[(0, 1), (1, 2), (2, 2)],
    initial: &[0],
    alice: &[0, 0, 1, 0],
    bob: &[0, 1, 1, 2],
    alice_red: &[1],
    bob_red: &[0],
};

#[track_caller]
fn check<const P: usize, const N: usize>(p: [i64; P], formula: Make, expected: [i64; N], because: &str) {
    let found = true_at(&mut CHAIN.system(&p, &[]), &formula);
    assert_eq!(found, Some(expected.to_vec()), "{because}");
}

fn knows(agent: AgentId, f: Make) -> Make {
    unary(f, move |f| Formula::Knows(agent, f))
}

#[rustfmt::skip]
#[test]
fn knowledge_on_the_chain() {
    let everyone = |f| unary(f, |f| Formula::EveryoneKnows(BOTH, f));
    let together = |f| unary(f, |f| Formula::DistributedKnowledge(BOTH, f));
    let common   = |f| unary(f, |f| Formula::CommonKnowledge(BOTH, f));
    //    p holds in   formula                       true at      because
    check([0, 1],      knows(ALICE, p()),            [0, 1],      "of 0, 1, 3 only 0 and 1 are reachable");
    check([0],         knows(ALICE, p()),            [],          "0 looks like 1 to her");
    check([2],         knows(ALICE, p()),            [2],         "she distinguishes 2 from the rest");
    check([0, 1],      knows(BOB, p()),              [0],         "1 looks like 2 to him");
    check([0, 1],      knows(BOB, knows(ALICE, p())),[0],         "in 2 alice does not know p");
    check([0, 1],      everyone(p()),                [0],         "alice at 0 and 1, bob at 0");
    check([0, 1, 2],   everyone(p()),                [0, 1, 2],   "p is true everywhere");
    check([1],         together(p()),                [1],         "only 1 looks like 1 to both");
    check([0, 2],      together(p()),                [0, 2],      "together they distinguish all worlds");
    check([0, 1],      common(p()),                  [],          "0 ~alice 1 ~bob 2, and p is false in 2");
    check([0, 1, 2],   common(p()),                  [0, 1, 2],   "p is true in every reachable world");
}

#[rustfmt::skip]
#[test]
fn norms_on_the_chain() {
    let green = |i| leaf(Formula::Green(i));
    let red   = |i| leaf(Formula::Red(i));
    let ought = |i: AgentId, f| unary(f, move |f| Formula::Correct(i, f));
    let under = |i: AgentId, group: GroupId, f| unary(f, move |f| Formula::KnowsUnder(i, group, f));
    //    p holds in   formula                       true at      because
    check([],          green(ALICE),                 [0, 2],      "red at 1");
    check([],          red(ALICE),                   [1],         "red at 1");
    check([0, 2],      ought(ALICE, p()),            [0, 1, 2],   "p at all green states, true in all states");
    check([0],         ought(ALICE, p()),            [],          "2 is green and violates p");
    check([1, 2],      ought(BOB, p()),              [0, 1, 2],   "green for bob are 1 and 2");
    check([0],         under(ALICE, ONLY_ALICE, p()),[0, 1],      "if she is correct, 0 or 1 must be 0");
    check([1],         under(ALICE, ONLY_ALICE, p()),[],          "0 is green");
    check([],          under(ALICE, BOTH, p()),      [0, 1],      "neither 0 nor 1 is green for both");
    check([2],         under(BOB, ONLY_ALICE, p()),  [1, 2],      "bob rules out 1, where alice is red");
}

#[test]
fn everything_is_green_without_red_states() {
    let mut system = CHAIN.system(&[], &[]);
    system.agents[ALICE.index()].red = None;
    assert_eq!(true_at(&mut system, &leaf(Formula::Green(ALICE))), Some(vec![0, 1, 2]));
}
