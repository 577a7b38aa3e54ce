//! The notation of the paper: signs, subscripts, `; else`. Each text means the same as its ASCII form, and the
//! formatter writes that form.

use masque_bdi::{format, parse};
use masque_testkit::structure;
use masque_text::Sources;

/// Parses a text without errors; returns the structure of its tree and the codes of its notes.
#[track_caller]
fn read(text: &str) -> (String, Vec<&'static str>) {
    let mut sources = Sources::default();
    let file = sources.add("test.bdi", text).unwrap();
    let (tree, found) = parse(&sources, file);
    assert!(found.iter().all(|found| !found.is_error()), "{text}\n{found:?}");
    (structure(&tree), found.iter().map(|found| found.code).collect())
}

/// The formatter's text.
#[track_caller]
fn formatted(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("test.bdi", text).unwrap();
    format(&sources, file).unwrap_or_else(|found| panic!("{text}\n{found:?}"))
}

/// Asserts that a formula of a system with agents `a` and `b` is written as `ascii`.
#[track_caller]
fn check(formula: &str, ascii: &str) {
    let system = |formula: &str| format!("agent a is skip\nagent b is skip\nproperty f: {formula};\n");
    assert_eq!(read(&system(formula)).0, read(&system(ascii)).0, "{formula}");
    assert_eq!(formatted(&system(formula)), system(ascii), "{formula}");
}

#[rustfmt::skip]
#[test]
fn formulas() {
    for (formula, ascii) in [
        ("¬p ∧ q ∨ r",              "!p & q | r"),
        ("p ⊃ q → r ⇒ s",           "p -> q -> r -> s"),
        ("p ↔ q ⇔ r ≡ ⊤",           "p <-> q <-> r <-> true"),
        ("n ≤ 1 ∧ n ≥ 0 ∧ n ≠ 2",   "n <= 1 & n >= 0 & n != 2"),
        ("∃X p",                    "EX p"),
        ("∀F ∃G ¬p",                "AF EG !p"),
        ("∃(p U q)",                "E[p U q]"),
        ("∀[p R q]",                "A[p R q]"),
        ("∃ p U q",                 "E[p U q]"),
        ("∃¬p U ∃(p U q)",          "E[!p U E[p U q]]"),
        ("E(p U q)",                "E[p U q]"),
        ("A(p & (q | r) W E(x))",   "A[p & (q | r) W E(x)]"),
        ("E(p, U)",                 "E(p, U)"),
        ("E(U)",                    "E(U)"),
        ("B_a p",                   "B(a, p)"),
        ("B_a ¬p ∨ D_b ∀F do x",    "B(a, !p) | D(b, AF do x)"),
        ("B_a(p ∨ q)",              "B(a, p | q)"),
        ("B_a B_b (p)",             "B(a, B(b, p))"),
        ("¬PB_a(p ∧ B_b q)",        "!PB(a, p & B(b, q))"),
        ("B_c(p)",                  "B_c(p)"),
        ("B_a & B_b",               "B_a & B_b"),
        ("E[B_a U B_b]",            "E[B_a U B_b]"),
        ("B_a = 1",                 "B_a = 1"),
        ("f(B_a p, ¬q)",            "f(B(a, p), !q)"),
        ("blind I_a ∀F p",          "blind I(a, AF p)"),
        ("blind I_a(AF p | q) ∧ r", "blind I(a, AF p | q) & r"),
        ("single_minded I_a AF B_b p", "single_minded I(a, AF B(b, p))"),
        ("persistent I_a p unless B_b q", "persistent I(a, p) unless B(b, q)"),
        ("persistent I_a(p) unless q", "persistent I(a, p) unless q"),
        ("subworld(a.B_b, top.D_a.I_b)", "subworld(a.B(b), top.D(a).I(b))"),
    ] {
        check(formula, ascii);
    }
}

/// Asserts that an item of a system with agents `a` and `b` is written as `ascii`.
#[track_caller]
fn check_item(item: &str, ascii: &str) {
    let system = |item: &str| format!("agent a is skip\nagent b is skip\n{item}\n");
    assert_eq!(read(&system(item)).0, read(&system(ascii)).0, "{item}");
    assert_eq!(formatted(&system(item)), formatted(&system(ascii)), "{item}");
    assert!(formatted(&system(item)).lines().count() <= 4, "{item}");
}

#[rustfmt::skip]
#[test]
fn subscripts_of_views_and_paths() {
    for (item, ascii) in [
        ("view B_a in b is skip",                 "view B(a) in b is skip"),
        ("view D_b in a is loop p := any endloop", "view D(b) in a is loop p := any endloop"),
        ("property f in a.B_b: p;",               "property f in a.B(b): p;"),
        ("property f initially in top.B_b.I_a: p;", "property f initially in top.B(b).I(a): p;"),
        ("check serial B_a in b.D_b;",            "check serial B(a) in b.D(b);"),
        ("check introspection I_b in b;",         "check introspection I(b) in b;"),
        ("check subworld a.B_b in b;",            "check subworld a.B(b) in b;"),
        ("check subworld top in b.B_a;",          "check subworld top in b.B(a);"),
    ] {
        check_item(item, ascii);
    }
}

/// A name with an underscore is an agent's name where an agent has it, and `PB_a` is no edge.
#[test]
fn names_of_agents_come_first() {
    let text = "agent a is skip agent B_a is skip view B_a in a is skip";
    assert!(read(text).0.contains("op: None"), "{}", read(text).0);
    let mut sources = Sources::default();
    let file = sources.add("test.bdi", "agent a is skip property f in a.PB_a: p;").unwrap();
    let found = parse(&sources, file).1;
    assert_eq!((found.len(), found[0].code), (1, "bdi/unexpected-token"), "{found:?}");
}

/// Asserts that two programs of an agent are the same, and returns the number of notes about `; else`.
#[track_caller]
fn same(program: &str, braces: &str) -> usize {
    let system = |program: &str| format!("agent a is\n{program}\nagent b is skip");
    let (left, notes) = read(&system(program));
    assert_eq!(left, read(&system(braces)).0, "{program}");
    assert!(notes.iter().all(|code| *code == "bdi/else-after-semicolon"), "{notes:?}");
    assert_eq!(read(&formatted(&system(program))).0, left, "{program}");
    notes.len()
}

#[rustfmt::skip]
#[test]
fn else_after_a_semicolon() {
    for (program, braces, n_notes) in [
        ("if p then x; else y", Some("if p then x else { y }"), 1),
        ("if p then x; y; else z", Some("if p then { x; y } else { z }"), 1),
        ("w; if p then x; y; else if q then z; w;", Some("w; if p then { x; y } else if q then { z; w }"), 1),
        ("if p then x; else if q then y; else z; w", Some("if p then x else if q then { y } else { z; w }"), 1),
        ("if p then if q then x; y; else z", Some("if p then if q then { x; y } else { z }"), 1),
        ("if p then if q then x; else y; else z", Some("if p then if q then x else { y } else { z }"), 2),
        ("loop if p then x; y; else z endloop; w", Some("loop if p then { x; y } else { z } endloop; w"), 1),
        ("{ if p then x; y }; z", None, 0),
        ("if p then x else y; z", None, 0),
        ("if p then x; y else z; w", Some("if p then { x; y } else { z; w }"), 1),
        ("v | if p then x; y; else z", Some("v | if p then { x; y } else { z }"), 1),
    ] {
        let step = |text: &str| {
            let words = text.split(' ').map(|word| {
                let name = word.trim_end_matches(';');
                let is_step = matches!(name, "v" | "w" | "x" | "y" | "z");
                if is_step { word.replacen(name, &format!("{name} := true"), 1) } else { word.to_string() }
            });
            words.collect::<Vec<_>>().join(" ")
        };
        let program = step(program);
        let braces = braces.map_or(program.clone(), step);
        assert_eq!(same(&program, &braces), n_notes, "{program}");
    }
}

#[test]
fn an_else_without_an_if() {
    for program in ["x := true; else y := true", "{ if p then x := true }; else y := true"] {
        let mut sources = Sources::default();
        let file = sources.add("test.bdi", format!("agent a is {program}")).unwrap();
        let found = parse(&sources, file).1;
        assert_eq!((found.len(), found[0].code), (1, "bdi/unexpected-token"), "{program}");
        assert!(found[0].help.as_deref().unwrap().contains("no `if` is open"), "{found:?}");
    }
}

/// Names with an underscore stay names where they were names before.
#[test]
fn names_stay_names() {
    let program = "init p := B_b q := true; B_b := any; if B_b then skip; var_B_b := B_b";
    assert!(read(&format!("agent a is {program}\nagent b is skip")).0.matches("Attitude").count() == 0);
    let declared = "agent a is var B_b(p), p; loop B_b(p) := any endloop agent b is p := true";
    assert!(read(declared).0.matches("Attitude").count() == 0);
}

#[test]
fn all_variables() {
    assert_eq!(
        same(
            "init ∀p ∈ AP : p := false loop x := true endloop",
            "init forall p in AP : p := false loop x := true endloop"
        ),
        0
    );
}
