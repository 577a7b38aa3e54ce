//! Parsing: the meaning of statements, diagnostics about mistakes, and large inputs.

use std::collections::BTreeMap;

use masque_lcc::{InstanceInput, explore, format, open};
use masque_mu::Lts;
use masque_text::{Diagnostic, Sources};
use masque_verdict::Budget;

/// Returns the diagnostics about a text, and its initial state if it has no errors.
fn read(text: &str) -> (Vec<Diagnostic>, Option<String>) {
    let mut sources = Sources::default();
    let files = vec![sources.add("text.lcc", text).unwrap()];
    let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
    let state = opened.system.map(|mut system| {
        let initial = system.initial();
        system.state_text(initial)
    });
    (opened.diagnostics, state)
}

fn codes(text: &str) -> Vec<&'static str> {
    read(text).0.iter().map(|diagnostic| diagnostic.code).collect()
}

/// Checks the process of a text as part of a state, where `now` puts it into a frame.
#[track_caller]
fn check_process(process: &str, meaning: &str) {
    let (diagnostics, state) = read(&format!("a(r, I) :: null. a(s, I) :: null. now a(r, i) :: {process}."));
    let errors: Vec<_> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    assert!(errors.is_empty(), "{process}: {errors:?}");
    assert_eq!(state.unwrap().split(" | ").next(), Some(meaning), "{process}");
}

#[rustfmt::skip]
#[test]
fn processes_mean_what_the_definition_says() {
    // Precedence: `<-`, then `then`, then `par`, then `or`.
    check_process("null then null or null par null", "{r: ((null then null) or (null par null))}");
    check_process("null <- p then null", "{r: (null <- p then null)}");
    check_process("null <- p and q or null", "{r: (null <- (p and q) or null)}");
    check_process("null <- p \\/ q and r", "{r: null <- (p or (q and r))}");
    check_process("null <- (p or q) and r", "{r: null <- ((p or q) and r)}");
    // Terms.
    check_process("m(X, _, X, _) => a(s, 'J')", "{r: m(_0,_1,_0,_2) => a(s,'J')}");
    check_process("m([a, b|T], []) => a(s, \"r0\")", "{r: m([a,b|_0],[]) => a(s,r0)}");
    check_process("f() => a(s, j) <- X is 1 + 2 * -3", "{r: f => a(s,j) <- _0 is (1+(2*-3))}");
    check_process("null <- _findPeers(r, L) and R = null and a(b)", "{r: null <- (_findPeers(r,_0) and (_1 = null and a(b)))}");
    check_process("null <- not not p(1.50) and X != Y", "{r: null <- (not not p(1.5) and _0 \\== _1)}");
    check_process("null <- (A, B, +act(X)) and not (A, b, -go)", "{r: null <- ((_0,_1,+act(_2)) and not (_0,b,-go))}");
    // A name with a full stop and a digit is a constant.
    check_process("m(X.509, X) => a(v1.2, J) <- X = t.1.3z(X)", "{r: m('X.509',_0) => a('v1.2',_1) <- _0 = 't.1.3z'(_0)}");
    // Postconditions, and the arrows of OpenKnowledge and of the paper.
    check_process("seen(X) <-- m(X) <= a(s, J)", "{r: m(_0) <= a(s,_1) <- seen(_0)}");
    check_process("not p and X = 1 <- m(X) <= a(s, J)", "{r: m(_0) <= a(s,_1) <- (not p and _0 = 1)}");
    check_process("m ⇒ a(s, J) ← p ∧ ¬ q then n ⇐ a(s, J)", "{r: (m => a(s,_0) <- (p and not q) then n <= a(s,_0))}");
    check_process("(m => a(s, J)) <- p", "{r: m => a(s,_0) <- p}");
    // Run-time states: a nested frame, and a role call, which has no frame.
    check_process("{a(s, i) :: null} then null", "{r: ({s: null} then null)}");
    check_process("a(s, i)", "a(s,i)");
}

#[test]
fn several_first_roles_run_in_parallel() {
    let text = "a(r(X), I) :: null. a(s, I) :: null. agent a(r(X), i). agent a(s, i). server a(r(Y), j).
        mail a(s, i) -> a(r(_), j) : hello(Z).";
    let (diagnostics, state) = read(text);
    assert!(diagnostics.is_empty());
    let want = "(a(r(_0),i) par a(s,i)) ; a(r(_0),j) | a(s,i) -> a(r(_0),j) : hello(_1)";
    assert_eq!(state.as_deref(), Some(want));
}

/// Each mistake causes one diagnostic, and the following statements are parsed.
#[test]
fn each_mistake_causes_one_diagnostic() {
    let rest = "a(r, I) :: null. agent a(r, i).";
    for (mistake, code) in [
        ("a(x, I) :: ( null then null", "lcc/unbalanced"),
        ("a(x, I) :: null then m(f(X => a(r, J).", "lcc/syntax"),
        ("a(x, I) :: null ) then null.", "lcc/unbalanced"),
        ("a(x, I) :: m <= a(r).", "lcc/syntax"),
        ("a(x, I) : null.", "lcc/syntax"),
        ("a(x, I) :: X .509 => a(r, J).", "lcc/syntax"),
        ("a(x, I) :: null <- X <= 3.", "lcc/no-constraint"),
        ("agnet a(r, j).", "lcc/syntax"),
        ("rule boss (A, B, +c).", "lcc/syntax"),
        ("rule boss: (A, B, c).", "lcc/syntax"),
        ("know i: .", "lcc/syntax"),
        ("choice willing.", "lcc/syntax"),
        ("property p : AF final", "lcc/syntax"),
        ("/* no end", "lcc/unclosed"),
    ] {
        let found = codes(&format!("{rest}\n{mistake}\n"));
        assert_eq!(found, [code], "{mistake}");
        let (found, state) = read(&format!("{rest}\n{mistake}\n{rest}"));
        assert!(!found.is_empty() && state.is_none(), "{mistake}");
    }
}

/// Shuffled pieces of correct texts never cause a panic; instances without errors are explored.
#[test]
fn broken_texts_never_panic() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut seen = BTreeMap::new();
    for seed in 0..1_500 {
        let text = crate::random::instance(seed);
        let mut pieces: Vec<&str> = text.split_inclusive([' ', '(', ')', ',', '.']).collect();
        for _ in 0..rng.usize(1..4) {
            let (index, other) = (rng.usize(0..pieces.len()), rng.usize(0..pieces.len()));
            match rng.u32(0..3) {
                0 => pieces.swap(index, other),
                1 => drop(pieces.remove(index)),
                _ => pieces.insert(
                    index,
                    ["(", ")", " :: ", "é", "'", " <- ", ".", "{", "/*", "-"][rng.usize(0..10)],
                ),
            }
        }
        let text = pieces.concat();
        let mut sources = Sources::default();
        let file = sources.add("text.lcc", text.as_str()).unwrap();
        let opened = open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() });
        opened.diagnostics.iter().for_each(|diagnostic| *seen.entry(diagnostic.code).or_insert(0) += 1);
        let _ = format(&sources, file);
        if let Some(mut system) = opened.system {
            let _ = explore(&mut system, &Budget::unlimited().with_states(20));
        }
    }
    assert!(seen.len() > 8, "{seen:?}");
}

/// Long chains and deep terms do not overflow the call stack.
#[test]
fn large_inputs_do_not_overflow_the_stack() {
    let many = |op: &str| vec!["null"; 20_000].join(&format!(" {op} "));
    for op in ["then", "or", "par"] {
        let text = format!("a(r, I) :: {}. agent a(r, i). option psize = 1000000.", many(op));
        let (diagnostics, state) = read(&text);
        assert!(diagnostics.is_empty() && state.is_some(), "{op}");
        let mut sources = Sources::default();
        let files = vec![sources.add("long.lcc", text).unwrap()];
        let mut system =
            open(&mut sources, &InstanceInput { files, ..InstanceInput::default() }).system.unwrap();
        let _ = explore(&mut system, &Budget::unlimited().with_states(3));
    }
    let list = vec!["x"; 50_000].join(", ");
    let facts = format!("know i: all([{list}]). know i: in(X, [X|_]). know i: in(X, [_|T]) <- in(X, T).");
    for (constraint, cut) in [
        ("all(L) and in(X, L)", Some("sld")),
        ("all([x|_])", None),
        ("left(z)", Some("sld")),
        ("not left(z)", Some("sld")),
    ] {
        let text = format!(
            "a(r, I) :: null <- {constraint}. agent a(r, i). {facts} know i: left(X) <- left(f(X, X))."
        );
        let mut sources = Sources::default();
        let files = vec![sources.add("long.lcc", text).unwrap()];
        let mut system =
            open(&mut sources, &InstanceInput { files, ..InstanceInput::default() }).system.unwrap();
        let counts = explore(&mut system, &Budget::unlimited()).unwrap();
        assert_eq!(counts.cut, cut, "{constraint}");
    }
    // An infinite counter exceeds the bound on states only. The successor of the last expanded state is
    // counted, too.
    let endless = "a(r(N), I) :: null <- M is N + 1 then a(s(M), I). a(s(N), I) :: null then a(r(N), I).";
    let mut sources = Sources::default();
    let text = format!("{endless} agent a(r(0), i). option states = 500.");
    let files = vec![sources.add("endless.lcc", text).unwrap()];
    let mut system = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() }).system.unwrap();
    let counts = explore(&mut system, &Budget::unlimited()).unwrap();
    assert_eq!((counts.cut, counts.states), (Some("states"), 501));
    for (clause, cut) in [
        ("a(r(X), I) :: a(r(f(X)), I) or null.", "unfold"),
        ("a(r(X), I) :: null then a(r(f(X)), I).", "psize"),
        ("a(r(X), I) :: (null then a(r(X), I)) then null.", "psize"),
        ("a(r(X), I) :: m(X) => a(r(_), i) then a(r(X), I).", "cap"),
        ("a(r(X), I) :: m(X) => a(r(_), i) then m(Y) <= a(r(_), _) then a(r(f(Y)), I).", "depth"),
    ] {
        let mut sources = Sources::default();
        let files = vec![sources.add("grows.lcc", format!("{clause} agent a(r(c), i).")).unwrap()];
        let mut system =
            open(&mut sources, &InstanceInput { files, ..InstanceInput::default() }).system.unwrap();
        let counts = explore(&mut system, &Budget::unlimited().with_states(5_000)).unwrap();
        assert_eq!(counts.cut, Some(cut), "{clause}");
    }
}

/// The forms of rules mean the same: `rule` and the enforcer, the enforcer in front, and a heading. A heading
/// is for rules up to the next heading or another kind of statement.
#[test]
fn rules_have_three_forms() {
    let around = |rules: &str| {
        format!(
            "a(r, I) :: null <- go(X.509) then null <- go('X.509').  agent a(r, i).  common go(X.509).
            common fit(i). {rules}"
        )
    };
    let forms = [
        "rule e: (S, _, +go(_)) <- (S, self, +in). rule f: (_, e, +in) <- fit(i). rule e: (_, _, -go(far)).",
        "e: (S, _, +go(_)) <- (S, self, +in). f: (_, e, +in) <- fit(i). 'e': (_, _, -go(far)).",
        "enforced by f: (_, e, +in) <- fit(i). enforced by e: (S, _, +go(_)) <- (S, self, +in). (_, _, -go(far)).",
        "enforced by e: (S, _, +go(_)) <- (S, self, +in). f: (_, e, +in) <- fit(i). (_, _, -go(far)).",
    ];
    for form in forms {
        let text = around(form);
        assert_eq!(codes(&text), [] as [&str; 0], "{text}");
        let mut sources = Sources::default();
        let files = vec![sources.add("text.lcc", text).unwrap()];
        let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
        let counts = explore(&mut opened.system.unwrap(), &Budget::unlimited()).unwrap();
        assert_eq!((counts.states, counts.finals), (3, 1), "{form}");
    }
    let after = around("enforced by e: (_, _, -go(far)). common x. (_, _, -go(far)). enforced e: common y.");
    assert_eq!(codes(&after).iter().filter(|code| **code == "lcc/no-enforcer").count(), 1);
    assert!(codes(&after).contains(&"lcc/syntax"));
}

/// Texts that were accepted before names could contain full stops mean the same.
#[test]
fn full_stops_end_statements() {
    let text = "a(r, I) :: null <- p.agent a(r, i).common p.common q.choice w/0.option cap = 3.";
    assert_eq!(codes(text), codes(&text.replace('.', ".\n")));
    assert!(read(text).1.is_some());
}
