//! Systems of few states, each for one rule of the semantics.

use std::time::{Duration, Instant};

use masque_explicit::Explicit;
use masque_model::{Deadlock, System};
use masque_replay::replay;
use masque_testkit::{load, one_agent, system};
use masque_verdict::{Because, Budget, Engine, PathReason, Show, Verdict, Why, vacuous_antecedents};

/// Returns the verdicts of a system's properties in order, as text.
fn verdicts(system: &System) -> String {
    let budget = Budget::unlimited();
    let mut encoded = Explicit { evidence: Show::All, jobs: None }.encode(system, &budget).unwrap();
    let mut words = Vec::new();
    for property in &system.properties {
        let outcome = encoded.decide(property, &budget);
        if let Some(evidence) = &outcome.evidence {
            let holds = outcome.verdict == Verdict::Holds;
            assert!(replay(system, property, holds, evidence).is_ok());
        }
        words.push(outcome.verdict.to_string());
    }
    words.join(" ")
}

/// Number of reachable states, and lengths of the paths to the nearest deadlock and overflow.
#[rustfmt::skip]
#[test]
fn states_deadlocks_and_overflows() {
    let check = |semantics: &str, variables: &str, protocol: &str, evolution: &str, expected: (&str, Option<usize>, Option<usize>), because: &str| {
        let system = system(&one_agent(semantics, variables, protocol, evolution, "A.x = 0"));
        let facts = Explicit::default().encode(&system, &Budget::unlimited()).unwrap().facts(&Budget::unlimited()).unwrap();
        let deadlock = facts.deadlock.map(|path| path.actions.len());
        let overflow = facts.overflow.map(|overflow| overflow.path.actions.len());
        assert_eq!((facts.states.to_string().as_str(), deadlock, overflow), expected, "{because}");
    };
    //    mode  variables            protocol              evolution                                            states  deadlock  overflow   because
    check("MA", "x : 0..3;",         "",                   "x = x + 1 if x < 3;",                               ("4",   None,     None),    "it counts up and stays");
    check("MA", "x : 0..3;",         "",                   "x = x + 1 if true;",                                ("4",   Some(3),  Some(3)), "the only choice overflows at 3");
    check("MA", "x : 0..3;",         "",                   "x = x + 1 if true; x = 0 if x = 3;",                ("4",   None,     Some(3)), "another choice is left at 3");
    check("MA", "x : 0..3;",         "x < 3 : {a};",       "x = x + 1 if x < 3;",                               ("4",   Some(3),  None),    "no action at 3");
    check("MA", "x : 0..9;",         "",                   "x = x + 1 if Action = a and x < 9; x = 0 if Action = b;", ("10", None, None),    "a counts, b resets");
    check("MA", "x : 0..3;",         "",                   "x = (x + 1) / 2 if x < 3;",                         ("1",   Some(0),  Some(0)), "one half is not an integer");
    check("MA", "x : 0..3;",         "",                   "x = 4 / x if true;",                                ("1",   Some(0),  Some(0)), "a division by zero has no value");
    check("MA", "x : 0..3;",         "",                   "x = 1 if 4 / x = 1;",                               ("1",   None,     None),    "a comparison without a value is false");
    check("MA", "x : 0..3; y : 0..3;", "",                 "x = 1 and y = 1 if x = 0; x = 2 if x = 0;",         ("9",   None,     None),    "one line per step: (0,y) to (1,1) or (2,y)");
    check("SA", "x : 0..2; y : 0..1;", "",                 "x = 1 if x = 0; x = 2 if x = 0; y = 1 if x = 0;",   ("4",   None,     None),    "each variable by itself");
    check("SA", "x : 0..2; y : 0..1;", "",                 "x = 1 if x = 0; y = y + 1 if true;",                ("3",   Some(0),  Some(0)), "y overflows at 1: then x cannot move either");
    check("MA", "x : 0..0;",         "",                   "x = x + 1 if true;",                                ("1",   Some(0),  Some(0)), "a variable with a single value");
    check("MA", "x : 0..5000;",      "",                   "x = x * x + 1 if x * x < 5000;",                    ("6",   None,     None),    "0, 1, 2, 5, 26, 677");
}

/// `x` counts to 2, where there is a deadlock.
#[rustfmt::skip]
#[test]
fn deadlock_semantics() {
    let text = |formula: &str| {
        one_agent("MA", "x : 0..2;", "x < 2 : {a};", "x = x + 1 if true;", "A.x = 0")
            .replace("Formulae end", &format!("Formulae {formula}; end"))
            .replace("Evaluation end", "Evaluation two if A.x = 2; end")
    };
    let check = |formula: &str, finite: &str, stutter: &str| {
        for (deadlock, expected) in [(Deadlock::Finite, finite), (Deadlock::Error, finite), (Deadlock::Stutter, stutter)] {
            assert_eq!(verdicts(&load(&text(formula), deadlock).unwrap()), expected, "{formula}, {deadlock:?}");
        }
    };
    //    formula           finite    stutter
    check("EF two",         "holds",  "holds");
    check("EG true",        "fails",  "holds");
    check("AF false",       "holds",  "fails");
    check("AG EX true",     "fails",  "holds");
    check("AG(two -> AX false)", "holds", "fails");
    check("EF EG two",      "fails",  "holds");
    check("E(!two W two)",  "holds",  "holds");
    check("A(false R !two)", "fails", "fails");
}

#[test]
fn other_logics() {
    let text = one_agent("MA", "x : 0..2;", "", "x = 1 if true;", "A.x = 0").replace(
        "Formulae end Formulae",
        "Groups g = {A}; end Groups Formulae LTL G F one; CTL* A F one; <g>F one; AG(one -> <g>X one); EF one; mu Z. EX Z; nu Z. EX{A.Action = a} Z; end Formulae",
    );
    let system = system(&text.replace("Evaluation end", "Evaluation one if A.x = 1; end"));
    assert_eq!(verdicts(&system), "holds holds holds holds holds fails holds");
    assert!(system.properties.iter().all(|p| Explicit::default().supports(&system, p).is_ok()));
}

/// Differences to MCMAS 1.3.0, which crashes on an ATL until, lets a joint action without a successor win,
/// and reads `E (F p and G q)` as `E F (p and G q)`.
#[test]
fn where_mcmas_is_wrong() {
    // x grows with a and stays with b, but at 2 action a overflows and has no successor.
    let text = |formula: &str| {
        one_agent("MA", "x : 0..2;", "", "x = x + 1 if Action = a; x = x if Action = b;", "A.x = 0")
            .replace("Evaluation end", "Evaluation zero if A.x = 0; one if A.x = 1; two if A.x = 2; end")
            .replace("Formulae end", &format!("Formulae {formula}; end"))
    };
    let check = |formula: &str, expected: &str, because: &str| {
        assert_eq!(verdicts(&system(&text(formula))), expected, "{formula}: {because}");
    };
    check("<A>(zero U one)", "holds", "a step with a");
    check("<A>(zero U two)", "fails", "1 is between");
    check("<A>(zero or one U two)", "holds", "two steps with a");
    check("AG(two -> <A>X two)", "holds", "by b");
    check("EF(two and <A>X zero)", "fails", "a has no successor at 2, which does not make it win");
    check("EF(two and <A>X false)", "fails", "false cannot be enforced");
    check("CTL* E(F one and G !two)", "holds", "on one path: 0 1 1 ..");
    check("CTL* E(F two and G !two)", "fails", "not on one path");
    check("CTL* E F(two and G !two)", "fails", "two contradicts G !two");
    check("CTL* (E F two) and (E G !two)", "holds", "on two paths");
}

/// At a deadlock a group enforces no `X`, because there is no next state.
#[rustfmt::skip]
#[test]
fn deadlocks_and_groups() {
    let text = |formula: &str| {
        one_agent("MA", "x : 0..1;", "x = 0 : {a};", "x = 1 if true;", "A.x = 0")
            .replace("Evaluation end", "Evaluation one if A.x = 1; end")
            .replace("Formulae end", &format!("Formulae {formula}; end"))
    };
    let check = |formula: &str, finite: &str, stutter: &str| {
        for (deadlock, expected) in [(Deadlock::Finite, finite), (Deadlock::Stutter, stutter)] {
            assert_eq!(verdicts(&load(&text(formula), deadlock).unwrap()), expected, "{formula}, {deadlock:?}");
        }
    };
    //    formula                    finite    stutter
    check("<A>X one",                "holds",  "holds");
    check("EF(one and <A>X true)",   "fails",  "holds");
    check("EF(one and <A>X one)",    "fails",  "holds");
    check("EF(one and <A>X !one)",   "fails",  "fails");
    check("<A>G true",               "fails",  "holds");
    check("<A>F one",                "holds",  "holds");
    check("EF <A, uniform>G one",    "fails",  "holds");
    check("LTL F one",               "holds",  "holds");
    check("CTL* E F one",            "fails",  "holds");
}

/// The path is the least of the shortest ones: first by states, then by actions.
#[test]
fn evidence_is_canonical() {
    let text = one_agent(
        "MA",
        "x : 0..9; y : {late, early};",
        "",
        "x = x + 1 if Action = b and x < 9; x = x + 2 if x < 8; y = early if Action = a;",
        "A.x = 0",
    )
    .replace("Evaluation end", "Evaluation five if A.x = 5; end")
    .replace("Formulae end", "Formulae AG !five; end");
    let system = system(&text);
    let budget = Budget::unlimited();
    let mut encoded = Explicit::default().encode(&system, &budget).unwrap();
    let evidence = encoded.decide(&system.properties[0], &budget).evidence.expect("evidence");
    let Because::Path(PathReason { run, .. }) = &evidence.root().because else { panic!("no run") };
    let early = i64::from(masque_model::SymbolId(1).0);
    let late = 0;
    assert_eq!(system.symbols, ["late", "early"]);
    let states: Vec<_> = run.states.iter().map(|&state| evidence.state(state)).collect();
    assert_eq!(states, [&[0, late], &[1, late], &[3, late], &[5, late]]);
    assert_ne!(early, late);
    // A step by two does not need `b`, so it has the least action, `a`.
    let actions: Vec<u32> = run.actions.iter().flatten().map(|joint| joint[0].0).collect();
    assert_eq!(actions, [1, 0, 0]);
}

/// Two initial states overflow. The search finds the greater one first, because it branches on
/// `y`, which has fewer values; the path must still begin at the least.
#[test]
fn the_least_of_several_overflows() {
    let text = one_agent(
        "MA",
        "x : 0..3; y : boolean; z : 0..1;",
        "",
        "z = z + 1 if true;",
        "A.z = 1 and (A.x = 0 and A.y or A.x = 1 and !A.y)",
    );
    let system = system(&text);
    let budget = Budget::unlimited();
    let facts = Explicit::default().encode(&system, &budget).unwrap().facts(&budget).unwrap();
    let states = facts.overflow.map(|overflow| overflow.path.states);
    assert_eq!(states, Some(vec![vec![0, 1, 1]]));
    assert_eq!(facts.deadlock.map(|path| path.states), Some(vec![vec![0, 1, 1]]));
}

/// Each limit gives the verdict `unknown`, or a `Stop` with the number of states found.
#[test]
fn limits_give_unknown() {
    let text = one_agent("MA", "x : 0..99999;", "", "x = x + 1 if x < 99999;", "A.x = 0")
        .replace("Evaluation end", "Evaluation end_ if A.x = 99999; end")
        .replace("Formulae end", "Formulae AF end_; end");
    let system = system(&text);
    let engine = Explicit::default();
    let stop = |budget: Budget| engine.encode(&system, &budget).err().expect("a limit");
    let states = stop(Budget::unlimited().with_states(50_000));
    assert!(
        states.why == Why::States && states.states.is_some_and(|n| (50_001..60_000).contains(&n)),
        "{states}"
    );
    assert_eq!(stop(Budget::unlimited().with_memory(100_000)).why, Why::Memory);
    assert_eq!(stop(Budget::unlimited().with_timeout(Duration::ZERO)).why, Why::Timeout);
    let cancelled = Budget::unlimited();
    cancelled.cancel();
    assert_eq!(stop(cancelled.clone()).why, Why::Interrupted);
    // The explored states stay usable when a later question runs out of budget.
    let mut encoded = engine.encode(&system, &Budget::unlimited()).unwrap();
    let property = &system.properties[0];
    assert_eq!(encoded.decide(property, &cancelled).verdict, Verdict::Unknown(Why::Interrupted));
    let little = Budget::unlimited().with_memory(1000);
    assert_eq!(encoded.decide(property, &little).verdict, Verdict::Unknown(Why::Memory));
    assert_eq!(encoded.decide(property, &Budget::unlimited()).verdict, Verdict::Holds);
    assert_eq!(encoded.stats().states, Some(100_000));
}

/// Returns a system of `n` agents with two actions each and this evolution; `{i}` is the agent's number.
fn many_agents(n: usize, evolution: &str) -> System {
    let agent = |i: usize| {
        format!(
            "Agent A{i} Vars: x : 0..3; end Vars Actions = {{a, b}}; Protocol: Other : {{a, b}}; end Protocol
             Evolution: {} end Evolution end Agent\n",
            evolution.replace("{i}", &i.to_string())
        )
    };
    let initial: Vec<String> = (1..=n).map(|i| format!("A{i}.x = 0")).collect();
    system(&format!(
        "{} Evaluation end Evaluation InitStates {}; end InitStates Formulae end Formulae",
        (1..=n).map(agent).collect::<String>(),
        initial.join(" and ")
    ))
}

/// Choices without effect, or with the same effect, are not multiplied.
#[rustfmt::skip]
#[test]
fn independent_choices() {
    let check = |n: usize, evolution: &str, expected: &str| {
        let system = many_agents(n, evolution);
        let facts = Explicit::default().encode(&system, &Budget::unlimited()).unwrap().facts(&Budget::unlimited());
        assert_eq!(facts.unwrap().states.to_string(), expected, "{evolution}");
    };
    //    agents  evolution                                              states
    check(60,     "x = 1 if x = 0;",                                     "2");
    check(60,     "x = 1 if x = 0 and (Action = a or Action = b);",      "2");
    check(60,     "x = 1 if x = 0 and Action = a; x = 1 if Action = b;", "2");
    check(10,     "x = 1 if x = 0 and Action = a;",                      "1024");
    check(40,     "x = 2 if x < 2 and A1.Action = a; x = 1 if x = 0 and A1.Action = b;", "3");
}

/// One state with 2^50 successors, and 4^40 initial states: limits stop both.
#[test]
fn limits_stop_huge_expansions() {
    let start = Instant::now();
    let budget = || Budget::unlimited().with_timeout(Duration::from_millis(200)).with_memory(400_000_000);
    let wide = many_agents(50, "x = 1 if Action = a;");
    let stop = Explicit::default().encode(&wide, &budget()).err().expect("a limit");
    assert!(matches!(stop.why, Why::Timeout | Why::Memory), "{stop}");
    let tied = many_agents(50, "x = 1 if A1.Action = a and A2.Action = a and Action = a;");
    let stop = Explicit::default().encode(&tied, &budget()).err().expect("a limit");
    assert!(matches!(stop.why, Why::Timeout | Why::Memory), "{stop}");
    let mut free = many_agents(40, "x = 1 if Action = a;");
    free.initial = free.exprs.bool(true);
    let stop = Explicit::default().encode(&free, &budget()).err().expect("a limit");
    assert!(matches!(stop.why, Why::Timeout | Why::Memory), "{stop}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn vacuous_implications() {
    let text = one_agent("MA", "x : 0..3;", "", "x = 1 if true;", "A.x = 0")
        .replace("Evaluation end", "Evaluation one if A.x = 1; two if A.x = 2; end")
        .replace("Formulae end", "Formulae AG(two -> one); AG((one -> !two) and (EF two -> two)); end");
    let system = system(&text);
    let budget = Budget::unlimited();
    let mut encoded = Explicit::default().encode(&system, &budget).unwrap();
    let mut antecedents = |property: usize| -> Vec<String> {
        let vacuous = vacuous_antecedents(&mut *encoded, &system, &system.properties[property], &budget);
        vacuous.unwrap().iter().map(|v| system.formula_text(v.antecedent)).collect()
    };
    assert_eq!(antecedents(0), ["two"]);
    assert_eq!(antecedents(1), ["EF(two)"]);
}

#[test]
fn no_initial_state() {
    let mut system = system(&one_agent("MA", "x : 0..3;", "", "x = 1 if true;", "A.x = 0"));
    system.initial = system.exprs.bool(false);
    let facts =
        Explicit::default().encode(&system, &Budget::unlimited()).unwrap().facts(&Budget::unlimited());
    let facts = facts.unwrap();
    assert!(facts.no_initial_state && facts.states.is_zero() && facts.deadlock.is_none());
}
