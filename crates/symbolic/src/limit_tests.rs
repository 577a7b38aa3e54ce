//! Tests of what happens when an arena, a turn, a cluster or a set between rounds of events exceeds its
//! size limit. In tests these limits are very low.

use masque_explicit::Explicit;
use masque_model::Deadlock;
use masque_testkit::{load, random_fixpoint_model, random_game_model};
use masque_verdict::{Budget, Engine, Show, Verdict};

use crate::engine::{Order, Reorder, Symbolic};

/// Returns a random model with an agent whose lines each update one or two variables, and an agent that
/// moves in every step.
fn asynchronous_model(seed: u64) -> String {
    let mut rng = fastrand::Rng::with_seed(seed);
    let n = rng.usize(4..8);
    let literal = |rng: &mut fastrand::Rng| {
        let value = if rng.bool() { "true" } else { "false" };
        format!("x{} = {value}", rng.usize(0..n))
    };
    let mut lines = String::new();
    for i in 0..n {
        for value in ["true", "false"].iter().take(rng.usize(1..3)) {
            let also =
                if rng.u8(0..6) == 0 { format!(" and x{} = {value}", (i + 1) % n) } else { String::new() };
            let asked = match rng.u8(0..4) {
                0 => format!(" and B.Action = {}", if rng.bool() { "go" } else { "stay" }),
                1 => format!(" and Action = {}", if rng.bool() { "one" } else { "two" }),
                _ => String::new(),
            };
            let (a, b) = (literal(&mut rng), literal(&mut rng));
            let joint = if rng.bool() { "and" } else { "or" };
            lines += &format!("    x{i} = {value}{also} if ({a} {joint} {b}){asked};\n");
        }
    }
    let vars: String = (0..n).map(|i| format!("    x{i} : boolean;\n")).collect();
    let initial: Vec<String> =
        (0..n).step_by(rng.usize(1..3)).map(|i| format!("A.x{i} = {}", rng.bool())).collect();
    let initial = initial.join(" and ");
    let moves =
        if rng.bool() { "d = false if d = true and Action = go;" } else { "d = true if A.Action = one;" };
    format!(
        "Agent A\n  Vars:\n{vars}  end Vars\n  Actions = {{ one, two }};\n  Protocol:\n    {}: {{ one }};\n    \
         Other : {{ one, two }};\n  end Protocol\n  Evolution:\n{lines}  end Evolution\nend Agent\n\
         Agent B\n  Vars:\n    d : boolean;\n  end Vars\n  Actions = {{ go, stay }};\n  Protocol:\n    \
         d = true : {{ go }};\n    Other : {{ go, stay }};\n  end Protocol\n  Evolution:\n    {moves}\n  \
         end Evolution\nend Agent\nEvaluation\n  p if A.x0 = true;\n  q if A.x1 = true and A.x2 = false;\n  \
         r if B.d = true;\nend Evaluation\nInitStates\n  {initial};\nend InitStates\nGroups\n  g = {{ A }};\n  \
         h = {{ B }};\n  all = {{ A, B }};\n  end Groups\nFormulae\n  AG EF p;\n  EF (q and r);\n  AG (p -> AF q);\n  \
         E(p U q);\n  EG !q;\n  K(B, EF p);\n  <g> F q;\n  <h> G !q;\n  <all> X p;\n  AX p;\nend Formulae\n",
        literal(&mut rng)
    )
}

#[test]
fn asynchronous_updates_agree_with_the_explicit_engine() {
    let budget = Budget::unlimited();
    let (mut n_split, mut n_holds, mut n_fails) = (0, 0, 0);
    for seed in 0..400 {
        let text = asynchronous_model(seed);
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let system = load(&text, deadlock).unwrap();
        let mut symbolic = Symbolic { evidence: Show::None, ..Symbolic::default() };
        if seed % 4 == 1 {
            symbolic.order = Order::Declared;
            symbolic.reorder = Reorder::Eager;
        }
        let explicit = Explicit { evidence: Show::None, ..Explicit::default() };
        let mut symbolic = symbolic.encode(&system, &budget).unwrap();
        let mut explicit = explicit.encode(&system, &budget).unwrap();
        let figures = symbolic.stats().figures;
        n_split += usize::from(figures.iter().any(|(name, n)| name == "events" && *n > 1));
        let (found, expected) = (symbolic.facts(&budget).unwrap(), explicit.facts(&budget).unwrap());
        assert_eq!(found.states, expected.states, "seed {seed}:\n{text}");
        for property in &system.properties {
            let (found, expected) = (symbolic.decide(property, &budget), explicit.decide(property, &budget));
            assert_eq!(found.verdict, expected.verdict, "seed {seed}, {}:\n{text}", property.name);
            n_holds += usize::from(found.verdict == Verdict::Holds);
            n_fails += usize::from(found.verdict == Verdict::Fails);
        }
    }
    assert!(n_split >= 200, "{n_split} are split into events");
    assert!(n_holds >= 400 && n_fails >= 400, "{n_holds} hold, {n_fails} fail");
}

#[test]
fn games_beyond_the_limits_agree_with_the_explicit_engine() {
    let budget = Budget::unlimited();
    let (mut n_holds, mut n_fails) = (0, 0);
    for seed in 0..800 {
        let text = if seed % 4 == 3 { random_fixpoint_model(seed) } else { random_game_model(seed) };
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let system = load(&text, deadlock).unwrap();
        let symbolic = Symbolic { evidence: Show::None, ..Symbolic::default() };
        let explicit = Explicit { evidence: Show::None, ..Explicit::default() };
        let mut symbolic = symbolic.encode(&system, &budget).unwrap();
        let mut explicit = explicit.encode(&system, &budget).unwrap();
        for property in &system.properties {
            let (found, expected) = (symbolic.decide(property, &budget), explicit.decide(property, &budget));
            assert_eq!(found.verdict, expected.verdict, "seed {seed}, {}:\n{text}", property.name);
            n_holds += usize::from(found.verdict == Verdict::Holds);
            n_fails += usize::from(found.verdict == Verdict::Fails);
        }
    }
    assert!(n_holds >= 600 && n_fails >= 600, "{n_holds} hold, {n_fails} fail");
}
