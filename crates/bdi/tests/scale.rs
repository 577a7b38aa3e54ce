//! Families of growing size: numbers of states are right, and nothing enumerates sets of attitudes.

#[allow(dead_code, unreachable_pub, reason = "the example measures all of them")]
#[path = "../examples/scale/families.rs"]
mod families;

use std::time::{Duration, Instant};

use masque_bdi::Run;
use masque_bdi::plan::Plan;
use masque_verdict::{Budget, Show};

/// Checks a file. A check that takes a minute enumerates sets, on any machine.
fn checked(text: &str) -> (Run, Plan) {
    let start = Instant::now();
    let (model, plan) = crate::support::model(text, &[]);
    let run = masque_bdi::run(&model, &plan, Show::Failed, &Budget::default(), &mut |_, _| {});
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    (run, plan)
}

fn kept((run, plan): &(Run, Plan), path: &str) -> u64 {
    let world = plan.paths.iter().find(|p| p.text == path).unwrap().world;
    run.worlds.as_ref().unwrap()[world.index()].kept.to_u64().unwrap()
}

fn verdicts((run, _): &(Run, Plan)) -> Vec<&str> {
    run.properties.iter().map(|property| property.verdict.word()).collect()
}

#[test]
fn twenty_attitudes_of_one_edge() {
    let run = checked(&families::attitudes(20));
    // After reading, any variables with any old beliefs; after the beliefs are assigned, one state per
    // valuation of the variables.
    assert_eq!(kept(&run, "a"), (1 << 40) + (1 << 20));
    assert_eq!(kept(&run, "a.B(b)"), 2 << 20);
    assert_eq!(verdicts(&run), ["holds", "holds", "holds", "holds", "fails"]);
}

#[test]
fn attitudes_that_imply_others() {
    let run = checked(&families::entangled(20));
    // Of the four values of B(b, y0) and B(b, y0 | y1) one is incoherent.
    assert_eq!(kept(&run, "a"), 3 << 19);
    assert_eq!(verdicts(&run), ["holds", "holds"]);
}

#[test]
fn a_chain_of_six_worlds() {
    let run = checked(&families::chain(6, 20));
    let path = "w0.B(w1).B(w2).B(w3).B(w4).B(w5)";
    assert_eq!(kept(&run, path), 1 << 20);
    assert_eq!(kept(&run, "w0"), 1 << 40);
}

#[test]
fn a_million_states() {
    let run = checked(&families::grid(100));
    assert_eq!(kept(&run, "a"), 1_000_000);
    assert_eq!(verdicts(&run), ["holds", "holds", "fails"]);
}

/// Deeply nested worlds and long chains of operands and alternatives do not overflow the stack.
#[test]
fn long_and_deep_files() {
    let chain = families::chain(400, 1).replace("x1 & x2", "x1").replace("x2 & x1", "x1");
    let chain = chain.split("property").next().unwrap();
    let run = checked(chain);
    assert_eq!(run.0.worlds.unwrap().len(), 400);
    let many: Vec<String> = (0..3000).map(|i| format!("p{}", i % 50)).collect();
    let text = format!(
        "agent a is\n  loop {} endloop\nproperty p: {};\nproperty q: {};\n",
        many.iter().take(50).map(|p| format!("{p} := any")).collect::<Vec<_>>().join(" | "),
        many.join(" & "),
        many.join(" -> ")
    );
    // The last operand of the implication is also one of its antecedents.
    assert_eq!(verdicts(&checked(&text)), ["fails", "holds"]);
    let ifs: String = (0..1000).map(|i| format!("if p{} then p0 := any else ", i % 50)).collect();
    let text = format!("agent a is\n  loop {ifs} p1 := any; p2 := any endloop\nproperty p: EF p0;\n");
    assert_eq!(verdicts(&checked(&text)).len(), 1);
}
