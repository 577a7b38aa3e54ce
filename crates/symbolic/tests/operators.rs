//! Path operators under fairness, and path operators inside fairness constraints, one test each.
//!
//! The verdicts are derived by hand from the fair paths of graphs of two to four states; the truth
//! definition and both engines must agree with them. Constraints are evaluated without fairness.

use masque_explicit::Explicit;
use masque_model::semantics::{explore, holds_in};
use masque_model::{Deadlock, System};
use masque_symbolic::{Order, Reorder, Symbolic};
use masque_testkit::load;
use masque_verdict::{Budget, Engine, Verdict};
use masque_verdict::{Verdict::*, Why};

/// A graph of states `a`, `b`, `c`, `d` with these edges and initial state `a`. Each state has a proposition
/// of its name that is true only there.
struct Graph(&'static [&'static str]);

const STATES: [&str; 4] = ["a", "b", "c", "d"];

impl Graph {
    /// Returns the graph as a model: one agent, with an action for each state it may go to. A state without
    /// an outgoing edge is a deadlock.
    fn model(&self, fairness: &str, formula: &str) -> String {
        let lines = |line: &dyn Fn(&str) -> String| STATES.map(line).concat();
        let protocol = lines(&|from| {
            let targets = self.0.iter().filter_map(|edge| edge.strip_prefix(from)?.strip_prefix("->"));
            let actions: Vec<String> = targets.map(|to| format!("to_{to}")).collect();
            if actions.is_empty() {
                String::new()
            } else {
                format!("at = in_{from} : {{{}}};\n", actions.join(", "))
            }
        });
        let evolution = lines(&|to| format!("at = in_{to} if Action = to_{to};\n"));
        let propositions = lines(&|name| format!("{name} if Walker.at = in_{name};\n"));
        format!(
            "Agent Walker
               Vars: at : {{in_a, in_b, in_c, in_d}}; end Vars
               Actions = {{to_a, to_b, to_c, to_d}};
               Protocol: {protocol} end Protocol
               Evolution: {evolution} end Evolution
             end Agent
             Evaluation {propositions} end Evaluation
             InitStates Walker.at = in_a; end InitStates
             Fairness {fairness} end Fairness
             Formulae {formula}; end Formulae"
        )
    }

    /// Asserts that the definition and all engines give the expected verdict for a formula at `a`.
    #[track_caller]
    fn check(&self, fairness: &str, formula: &str, expected: Verdict, because: &str) {
        let text = self.model(fairness, formula);
        let system = load(&text, Deadlock::Finite).unwrap_or_else(|| panic!("not valid:\n{text}"));
        let structure = explore(&system, 10).expect("four states at most");
        let defined = Verdict::from(holds_in(&structure, &system, &system.properties[0]));
        assert_eq!(defined, expected, "the definition on {formula} under {fairness:?}: {because}");
        let sifted = Symbolic {
            order: Order::Declared,
            reorder: Reorder::Eager,
            evidence: masque_verdict::Show::All,
            ..Symbolic::default()
        };
        let engines: [&dyn Engine; 3] = [&Explicit::default(), &Symbolic::default(), &sifted];
        for engine in engines {
            let found = decide(engine, &system);
            assert_eq!(found, expected, "{} on {formula} under {fairness:?}: {because}", engine.name());
        }
    }
}

fn decide(engine: &dyn Engine, system: &System) -> Verdict {
    let budget = Budget::unlimited();
    engine.encode(system, &budget).unwrap().decide(&system.properties[0], &budget).verdict
}

#[rustfmt::skip]
#[test]
fn until_ignores_steps_to_unfair_states() {
    let trap = Graph(&["a->b", "a->c", "b->b", "c->c"]);
    //         fairness   formula       expected   because
    trap.check("",        "A(a U b)",   Fails,     "a c c ..");
    trap.check("b;",      "A(a U b)",   Holds,     "no fair path visits c: a b b .. is the only one");
    trap.check("c;",      "A(a U b)",   Fails,     "now a c c .. is the only one");
    let dead = Graph(&["a->b", "a->c", "b->b"]);
    dead.check("b;",      "A(a U b)",   Holds,     "c is a deadlock: no infinite path visits it");
    let detour = Graph(&["a->b", "a->c", "b->b", "c->b"]);
    detour.check("b;",    "A(a U b)",   Fails,     "a c b b .. is fair, and a is false at c");
    detour.check("b;",    "A((a or c) U b)", Holds, "that path, and a b b ..");
}

#[rustfmt::skip]
#[test]
fn until_under_fairness() {
    let wait = Graph(&["a->a", "a->b", "b->b"]);
    //         fairness    formula       expected                    because
    wait.check("",         "A(a U b)",   Fails,                      "a a a .. never visits b");
    wait.check("b;",       "A(a U b)",   Holds,                      "a a a .. is not fair");
    wait.check("a;",       "A(a U b)",   Fails,                      "a a a .. is the only fair path");
    wait.check("a; b;",    "A(a U b)",   Unknown(Why::NoFairPath),   "a is not reachable from b");
    let ring = Graph(&["a->a", "a->b", "b->a"]);
    ring.check("a; b;",    "A(a U b)",   Holds,                      "fair paths visit b infinitely often");
    ring.check("a;",       "A(a U b)",   Fails,                      "a a a .. is fair");
}

#[rustfmt::skip]
#[test]
fn finally_under_fairness() {
    let wait = Graph(&["a->a", "a->b", "b->b", "b->c"]);
    //         fairness   formula         expected   because
    wait.check("",        "AF b",         Fails,     "a a a ..");
    wait.check("b;",      "AF b",         Holds,     "a a a .. is not fair");
    wait.check("b;",      "AF c",         Fails,     "a b b ..; c is a deadlock, on no fair path");
    wait.check("a;",      "AF b",         Fails,     "a a a .. is fair");
    wait.check("!a;",     "AF AG b",      Holds,     "once in b, c is not on a fair path");
}

#[rustfmt::skip]
#[test]
fn globally_under_fairness() {
    let star = Graph(&["a->b", "b->a", "a->c", "c->a", "c->d", "d->d"]);
    //         fairness       formula             expected   because
    star.check("",            "EG(a or b)",       Holds,     "a b a b ..");
    star.check("c;",          "EG(a or b)",       Fails,     "c must recur");
    star.check("b; c;",       "EG !d",            Holds,     "a b a c a b ..");
    star.check("b; c;",       "EG(a or c)",       Fails,     "b must recur");
    star.check("b; d;",       "EG !d",            Unknown(Why::NoFairPath), "b is not reachable from d");
    star.check("d;",          "EG !d",            Fails,     "d must recur");
    star.check("d;",          "EG !b",            Holds,     "a c d d ..");
}

#[rustfmt::skip]
#[test]
fn finally_inside_a_constraint() {
    // The successor of b is c; from a some path never visits c. So AF c is true at b and c.
    let lane = Graph(&["a->a", "a->b", "b->c", "c->b"]);
    //         fairness          formula         expected   because
    lane.check("AF c;",          "AF b",         Holds,     "a a a .. is not fair: AF c is false at a");
    lane.check("EF c;",          "AF b",         Fails,     "EF c is true at a, so a a a .. is fair");
    lane.check("!AF c;",         "AG a",         Holds,     "a a a .. is the only fair path");
    // AF b is false at a: a a a .. is a path. That it is not fair does not matter inside a constraint.
    let ring = Graph(&["a->a", "a->b", "b->a"]);
    ring.check("b; !AF b;",      "AF b",         Holds,     "a b a b .. is fair, a a a .. is not");
    ring.check("b; !AF b;",      "EX a",         Holds,     "a a b a b .. is fair");
    ring.check("b; AF b;",       "EG a",         Fails,     "b must recur");
}

#[rustfmt::skip]
#[test]
fn globally_inside_a_constraint() {
    // EG a is true at a, because of a a a .., and false at b.
    let wait = Graph(&["a->a", "a->b", "b->b"]);
    //         fairness          formula         expected   because
    wait.check("",               "AG a",         Fails,     "a b b ..");
    wait.check("EG a;",          "AG a",         Holds,     "a a a .. is the only fair path");
    wait.check("!EG a;",         "AF b",         Holds,     "b must recur");
    wait.check("EG true;",       "AF b",         Fails,     "the constraint is true at all states");
    wait.check("EG b;",          "AF b",         Holds,     "EG b is true at b only");
    // Inside a constraint EG a needs no fair path: none stays in a.
    let ring = Graph(&["a->a", "a->b", "b->a"]);
    ring.check("b; EG a;",       "AF b",         Holds,     "a b a b .. is fair");
    ring.check("b; EG a;",       "EG a",         Fails,     "as a property, under fairness, it is false");
}

#[rustfmt::skip]
#[test]
fn until_inside_a_constraint() {
    // A(a U b) is false at a, because of a a a .., and true at b.
    let wait = Graph(&["a->a", "a->b", "b->b"]);
    //         fairness          formula         expected   because
    wait.check("A(a U b);",      "AF b",         Holds,     "b must recur");
    wait.check("E(a U b);",      "AF b",         Fails,     "E(a U b) is true at a, so a a a .. is fair");
    wait.check("!A(a U b);",     "AG a",         Holds,     "a must recur");
    // Inside a constraint A(a U b) is about all paths, a a a .. included.
    let ring = Graph(&["a->a", "a->b", "b->a"]);
    ring.check("b; !A(a U b);",  "A(a U b)",     Holds,     "a b a b .. is fair; a a a .. is not");
    ring.check("!A(a U b);",     "A(a U b)",     Fails,     "a a a .. is fair");
}
