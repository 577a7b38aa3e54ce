//! Limits of the engine, and what it tells of its costs.

mod support;

use masque_cluster::{Cluster, Workers};
use masque_model::System;
use masque_verdict::{Budget, Engine, Verdict, Why};
use support::{one_agent, system};

/// A counter to 2000, and a dead end there.
fn counter() -> System {
    let evolution = "n = n + 1 if n < 2000;";
    let text = one_agent("MultiAssignment", "n : 0..2000;", "n < 2000 : {a};", evolution, "A.n = 0");
    let text = text.replace("Evaluation end", "Evaluation full if A.n = 2000; end");
    system(&text.replace("Formulae end", "Formulae AF full; EF(full and EX true); end"))
}

fn cluster() -> Cluster {
    Cluster::new(Workers::Threads(3))
}

#[test]
fn limits_are_hit_by_all_workers_together() {
    let system = counter();
    let cancelled = Budget::unlimited();
    cancelled.cancel();
    //  budget                                          why
    let cases = [
        (Budget::unlimited().with_states(100), Why::States),
        (Budget::unlimited().with_memory(1000), Why::Memory),
        (cancelled, Why::Interrupted),
        (Budget::unlimited().with_timeout(std::time::Duration::ZERO), Why::Timeout),
    ];
    for (budget, why) in cases {
        let cluster = cluster();
        let stop = cluster.encode(&system, &budget).err().unwrap();
        assert_eq!(stop.why, why);
        assert!(why != Why::States || stop.states.is_some_and(|n| (101..200).contains(&n)), "{stop:?}");
        assert_eq!(cluster.trouble().message(), None);
    }
}

#[test]
fn a_question_can_be_asked_again_after_a_limit() {
    let system = counter();
    let budget = Budget::unlimited();
    let mut encoded = cluster().encode(&system, &budget).unwrap();
    let over = Budget::unlimited();
    over.cancel();
    let stopped = encoded.decide(&system.properties[0], &over).verdict;
    assert_eq!(stopped, Verdict::Unknown(Why::Interrupted));
    let verdicts: Vec<Verdict> =
        system.properties.iter().map(|property| encoded.decide(property, &budget).verdict).collect();
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Fails]);
    let facts = encoded.facts(&budget).unwrap();
    assert_eq!((facts.states.as_str(), facts.deadlock.unwrap().states.len()), ("2001", 2001));
}

#[test]
fn costs_are_told() {
    let system = counter();
    let encoded = cluster().encode(&system, &Budget::unlimited()).unwrap();
    let stats = encoded.stats();
    assert_eq!((stats.states, stats.transitions), (Some(2001), Some(2000)));
    let figure = |name: &str| stats.figures.iter().find(|(found, _)| *found == name).unwrap().1;
    assert_eq!(figure("workers"), 3);
    let (most, fewest) = (figure("most states of a worker"), figure("fewest states of a worker"));
    assert!(most < 800 && fewest > 500 && most + fewest < 2001, "{most}, {fewest}");
    // About two of three successors are somebody else's: a row and a number each.
    assert!((2000..3400).contains(&figure("words sent")), "{}", figure("words sent"));
    assert!(stats.bytes > 0 && figure("most bytes of a worker") < stats.bytes);
}
