//! Limits of the engine, and its statistics.

use std::time::Duration;

use masque_cluster::{Cluster, Workers};
use masque_model::System;
use masque_testkit::{one_agent, system};
use masque_verdict::{Budget, Encoded, Engine, Verdict, Why};

/// A counter to 2000, with a deadlock at the end.
fn counter() -> System {
    let evolution = "n = n + 1 if n < 2000;";
    let text = one_agent("MultiAssignment", "n : 0..2000;", "n < 2000 : {a};", evolution, "A.n = 0");
    let text = text.replace("Evaluation end", "Evaluation full if A.n = 2000; end");
    system(&text.replace("Formulae end", "Formulae AF full; EF(full and EX true); end"))
}

/// Two agents with a counter each, and formulas of every logic.
fn counters() -> System {
    let agent = |name: &str| {
        format!(
            "Agent {name}
               Vars: n : 0..31; end Vars
               Actions = {{go, stay}};
               Protocol: Other : {{go, stay}}; end Protocol
               Evolution: n = n + 1 if Action = go and n < 31; end Evolution
             end Agent"
        )
    };
    let (a, b) = (agent("A"), agent("B"));
    system(&format!(
        "{a} {b}
         Evaluation half if A.n = 31; done if A.n = 31 and B.n = 31; end Evaluation
         InitStates A.n = 0 and B.n = 0; end InitStates
         Groups both = {{A, B}}; end Groups
         Formulae
           AG EF done;
           LTL F(half and !done) -> F G half;
           CTL* K(A, A G !done);
           <A>F half;
           <B>G !done;
           <A, uniform>F half;
           <both, uniform-joint>F done;
           nu Z. mu Y. done and EX Z or EX{{A.Action = go and B.Action = go}} Y;
           GCK(both, EF done);
         end Formulae"
    ))
}

fn verdicts(encoded: &mut dyn Encoded, system: &System, budget: &Budget) -> Vec<Verdict> {
    system.properties.iter().map(|property| encoded.decide(property, budget).verdict).collect()
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
        (Budget::unlimited().with_timeout(Duration::ZERO), Why::Timeout),
    ];
    for (budget, why) in cases {
        let cluster = cluster();
        let stop = cluster.encode(&system, &budget).err().unwrap();
        assert_eq!(stop.why, why);
        assert!(why != Why::States || stop.states.is_some_and(|n| (101..200).contains(&n)), "{stop:?}");
        assert_eq!(cluster.failure().message(), None);
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
    assert_eq!((facts.states.to_string().as_str(), facts.deadlock.unwrap().states.len()), ("2001", 2001));
}

/// The memory limit is hit by different workers, within or between rounds. All workers must continue
/// together.
#[test]
fn under_any_memory_limit_a_verdict_is_right_or_unknown() {
    let system = counters();
    let expected = verdicts(
        &mut *cluster().encode(&system, &Budget::unlimited()).unwrap(),
        &system,
        &Budget::unlimited(),
    );
    assert!(expected.contains(&Verdict::Holds) && expected.contains(&Verdict::Fails), "{expected:?}");
    let (mut n_partly, mut n_right) = (0, 0);
    for kilobytes in (20..400).step_by(8) {
        let budget = Budget::unlimited().with_memory(kilobytes << 10);
        let Ok(mut encoded) = cluster().encode(&system, &budget) else { continue };
        let found = verdicts(&mut *encoded, &system, &budget);
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found == expected || *found == Verdict::Unknown(Why::Memory), "{kilobytes} kB: {found}");
        }
        let n_unknown = found.iter().filter(|verdict| **verdict == Verdict::Unknown(Why::Memory)).count();
        n_partly += usize::from(n_unknown > 0 && n_unknown < found.len());
        n_right += usize::from(n_unknown == 0);
    }
    assert!(n_partly >= 5 && n_right >= 5, "{n_partly}, {n_right}");
}

/// Workers that were interrupted at any moment answer the next question.
#[test]
fn questions_can_be_asked_again_after_an_interrupt() {
    let system = counters();
    let mut encoded = cluster().encode(&system, &Budget::unlimited()).unwrap();
    let expected = verdicts(&mut *encoded, &system, &Budget::unlimited());
    for microseconds in (0..10_000).step_by(250) {
        let mut encoded = cluster().encode(&system, &Budget::unlimited()).unwrap();
        let budget = Budget::unlimited();
        let interrupt = budget.clone();
        let user = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(microseconds));
            interrupt.cancel();
        });
        let stopped = verdicts(&mut *encoded, &system, &budget);
        user.join().unwrap();
        let found = verdicts(&mut *encoded, &system, &Budget::unlimited());
        assert_eq!(found, expected, "{microseconds} µs");
        for (stopped, expected) in stopped.iter().zip(&expected) {
            assert!(stopped == expected || *stopped == Verdict::Unknown(Why::Interrupted), "{stopped}");
        }
    }
}

#[test]
fn statistics_count_states_and_messages() {
    let system = counter();
    let encoded = cluster().encode(&system, &Budget::unlimited()).unwrap();
    let stats = encoded.stats();
    assert_eq!((stats.states, stats.transitions), (Some(2001), Some(2000)));
    let figure = |name: &str| stats.figures.iter().find(|(found, _)| *found == name).unwrap().1;
    assert_eq!(figure("workers"), 3);
    let (most, fewest) = (figure("most states of a worker"), figure("fewest states of a worker"));
    assert!(most < 800 && fewest > 500 && most + fewest < 2001, "{most}, {fewest}");
    // About two of three successors are kept by another worker: a row and an index each.
    assert!((2000..3400).contains(&figure("words sent")), "{}", figure("words sent"));
    assert!(stats.bytes > 0 && figure("most bytes of a worker") < stats.bytes);
}
