//! Compares the solver with the truth definition on thousands of random systems and formulas.

use crate::support::{LABELS, alternating, formula, graph, read};
use fastrand::Rng;
use masque_mu::{Graph, Lts, Space, StateId, check, explain, naive};
use masque_verdict::{Budget, Verdict, Why};

/// Returns the verdict of the definition; `None` if it depends on what lies beyond a bound.
fn expected(graph: &mut Graph, text: &str) -> Option<bool> {
    let (phi, _) = read(text, graph);
    let worst = naive::holds(graph, &phi, false).unwrap();
    let best = naive::holds(graph, &phi, true).unwrap();
    assert!(!worst || best, "{text} is not monotone in what lies beyond");
    (worst == best).then_some(worst)
}

/// Checks one formula on one graph: the solver must decide what the definition decides, with evidence.
fn agree(graph: &mut Graph, text: &str, seed: u64) -> Verdict {
    let expected = expected(graph, text);
    let (_, formula) = read(text, graph);
    let original = graph.clone();
    let answer = explain(&mut Space::new(&mut *graph), &formula, &Budget::unlimited());
    let found = match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Fails => Some(false),
        Verdict::Unknown(why) => {
            assert!(matches!(why, Why::Bound("cap" | "depth" | "psize")), "seed {seed}: {why:?}");
            None
        }
    };
    assert_eq!(found, expected, "seed {seed}: {text} on\n{original:#?}");
    match (found, &answer.evidence) {
        (Some(holds), Some(evidence)) => {
            assert_eq!(evidence.holds, holds);
            assert_eq!(evidence.replay(graph, &formula), Ok(()), "seed {seed}: {text}");
        }
        (None, None) => {}
        _ => panic!("seed {seed}: evidence exactly if there is a verdict"),
    }
    answer.verdict
}

#[test]
fn the_solver_decides_what_the_definition_decides() {
    let mut count = [0; 2];
    for seed in 0..6000 {
        let mut random = Rng::with_seed(seed);
        let mut graph = graph(&mut random, 9, false);
        let verdict = agree(&mut graph, &formula(&mut random), seed);
        count[usize::from(verdict == Verdict::Holds)] += 1;
    }
    assert!(count.iter().all(|&n| n > 2000), "both verdicts occur: {count:?}");
}

#[test]
fn the_same_with_alternation() {
    let mut by_depth = [0; 5];
    for seed in 0..6000 {
        let mut random = Rng::with_seed(5_000_000 + seed);
        let mut graph = graph(&mut random, 8, seed % 4 == 0);
        let text = alternating(&mut random);
        agree(&mut graph, &text, seed);
        let (_, formula) = read(&text, &mut graph);
        let depth = formula.equations().iter().map(|e| e.priority).max().unwrap_or(0);
        by_depth[depth.min(4) as usize] += 1;
    }
    assert!(by_depth[1..].iter().all(|&n| n > 100), "all depths of alternation occur: {by_depth:?}");
}

/// Large enough that the explored part is solved, and positions are dropped, several times.
#[test]
fn the_same_on_larger_systems() {
    for seed in 0..600 {
        let mut random = Rng::with_seed(4_000_000 + seed);
        let mut graph = graph(&mut random, 60, seed % 2 == 0);
        let text = if seed % 3 == 0 { alternating(&mut random) } else { formula(&mut random) };
        agree(&mut graph, &text, seed);
    }
}

#[test]
fn verdicts_under_bounds_are_as_defined() {
    let mut n_unknown = 0;
    let n = 5000;
    for seed in 0..n {
        let mut random = Rng::with_seed(1_000_000 + seed);
        let mut graph = graph(&mut random, 9, true);
        let text = formula(&mut random);
        n_unknown += u64::from(matches!(agree(&mut graph, &text, seed), Verdict::Unknown(_)));
    }
    assert!((n / 20..n / 2).contains(&n_unknown), "{n_unknown} of {n} unknown");
}

/// A verdict under bounds holds for every system that is the same up to the bounds.
#[test]
fn a_decided_verdict_survives_every_completion() {
    let mut n_decided = 0;
    for seed in 0..1500 {
        let mut random = Rng::with_seed(2_000_000 + seed);
        let mut graph = graph(&mut random, 7, true);
        let text = formula(&mut random);
        let (_, formula) = read(&text, &mut graph);
        let verdict = check(&mut Space::new(&mut graph), &formula, &Budget::unlimited()).verdict;
        if let Verdict::Unknown(_) = verdict {
            continue;
        }
        n_decided += 1;
        for _ in 0..4 {
            let mut complete = completion(&graph, &mut random);
            let (phi, _) = read(&text, &mut complete);
            let truth = naive::holds(&mut complete, &phi, false).unwrap();
            assert_eq!(verdict, Verdict::from(truth), "seed {seed}: {text} on {graph:#?}, {complete:#?}");
        }
    }
    assert!(n_decided > 500);
}

/// Returns the system with random transitions, and perhaps new states, beyond its bounds.
fn completion(cut: &Graph, random: &mut Rng) -> Graph {
    let mut graph = Graph::new();
    let n = cut.n_states();
    let n_more = random.usize(0..3);
    let states: Vec<StateId> = (0..n + n_more).map(|_| graph.state()).collect();
    let mut copy = cut.clone();
    for &from in &states {
        let mut is_open = from.index() >= n;
        if !is_open {
            let mut steps = Vec::new();
            let complete = copy.successors(from, &mut |label, to| steps.push((label, to)));
            steps.iter().for_each(|&(label, to)| graph.transition(from, cut.label(label), to));
            is_open = complete != masque_mu::Completeness::Complete;
            for atom in crate::support::ATOMS {
                let (_, formula) = read(atom, &mut copy);
                if copy.holds(from, formula.atoms()[0]) {
                    graph.mark(from, atom);
                }
            }
        }
        for _ in 0..if is_open { random.usize(0..4) } else { 0 } {
            graph.transition(from, LABELS[random.usize(0..3)], states[random.usize(0..states.len())]);
        }
    }
    let unreachable = graph.state();
    crate::support::ATOMS.iter().for_each(|atom| graph.mark(unreachable, atom));
    graph
}

/// Formulas checked one after the other in one space have the same results as in spaces of their own.
#[test]
fn sharing_a_space_does_not_change_results() {
    for seed in 0..300 {
        let mut random = Rng::with_seed(3_000_000 + seed);
        let mut graph = graph(&mut random, 9, seed % 2 == 0);
        let formulas: Vec<_> = (0..5).map(|_| read(&formula(&mut random), &mut graph).1).collect();
        let alone: Vec<_> = formulas
            .iter()
            .map(|formula| explain(&mut Space::new(&mut graph), formula, &Budget::unlimited()))
            .collect();
        let mut space = Space::new(&mut graph);
        for (formula, alone) in formulas.iter().zip(alone).rev() {
            let shared = explain(&mut space, formula, &Budget::unlimited());
            assert_eq!(shared.verdict, alone.verdict);
            assert_eq!((shared.states, shared.positions), (alone.states, alone.positions));
            assert_eq!(shared.evidence, alone.evidence);
        }
    }
}
