//! Broken texts: whatever is read, nothing panics, errors are few, and a file without errors runs.

use crate::support::random;
use crate::survives::survives;
use fastrand::Rng;
use masque_bdi::{format, parse, parse_property, run};
use masque_testkit::{Breaker, approximate_tokens};
use masque_text::{Diagnostic, Sources, render};
use masque_verdict::Budget;

/// What is put between and in place of the tokens of a text.
#[rustfmt::skip]
const WORDS: [&str; 42] = [
    "agent", "view", "loop", "endloop", "if", "then", "else", "do", "{", "}", "(", ")", ";", "|", ":=", ",",
    "any", "B(", "I(b,", "init", "is", "property", "option", "check", "in", "AF", "E[", "U", "]",
    "forall x in AP :", "999999999999", "-", "..", "/*", "//", "é", "fair", "var", "bdi", "=", "top", "mas",
];

/// A text with some of its characters, words or lines changed.
fn broken(text: &str, rng: &mut Rng) -> String {
    let mut pieces: Vec<String> = text.split_inclusive([' ', '\n']).map(String::from).collect();
    for _ in 0..1 + rng.usize(..3) {
        let at = rng.usize(..pieces.len());
        match rng.u32(..5) {
            0 => _ = pieces.remove(at),
            1 => pieces.insert(at, format!("{} ", WORDS[rng.usize(..WORDS.len())])),
            2 => pieces[at] = format!("{} ", WORDS[rng.usize(..WORDS.len())]),
            3 => {
                let other = rng.usize(..pieces.len());
                pieces.swap(at, other);
            }
            _ => pieces.truncate(at.max(1)),
        }
        if pieces.is_empty() {
            return String::new();
        }
    }
    pieces.concat()
}

#[test]
fn broken_files_are_reported() {
    let (mut n_broken, mut n_good) = (0, 0);
    for seed in 70_000..73_000 {
        let (text, options) = random::system(seed);
        let mut rng = Rng::with_seed(seed);
        let text = broken(&text, &mut rng);
        let read = crate::support::read(&text, &options);
        let drawn = read.drawn();
        let errors: Vec<&Diagnostic> = read.diagnostics.iter().filter(|d| d.is_error()).collect();
        assert_eq!(read.model.is_none(), !errors.is_empty(), "seed {seed}\n{text}\n{drawn}");
        let mut places: Vec<_> = errors
            .iter()
            .map(|d| (d.code, &d.message, d.primary.as_ref()))
            .map(|(c, m, p)| (c, m, p.map(|l| l.span)))
            .collect();
        places.sort();
        let n_errors = places.len();
        places.dedup();
        assert_eq!(places.len(), n_errors, "seed {seed}: said twice\n{drawn}");
        match &read.model {
            None => n_broken += 1,
            Some((model, plan)) => {
                let run = run(model, plan, masque_verdict::Show::Failed, &Budget::default(), &mut |_, _| {});
                let refused = run.diagnostics.iter().any(Diagnostic::is_error);
                assert_eq!(run.properties.len(), if refused { 0 } else { model.properties.len() });
                n_good += 1;
            }
        }
        let mut sources = Sources::default();
        let file = sources.add("test.bdi", text.as_str()).unwrap();
        if let Ok(formatted) = format(&sources, file) {
            let file = sources.add("again.bdi", formatted.as_str()).unwrap();
            assert_eq!(format(&sources, file).as_ref(), Ok(&formatted), "seed {seed}\n{text}");
        }
    }
    assert!(n_broken > 1000 && n_good > 100, "{n_broken} {n_good}");
}

/// All kinds of items, and most operators.
const ALL: &str = "\
option condition2 = infer; top a; mas = a || b;
agent a is var n : -1..7, m : {idle, busy}; bdi B(b, p & !q), D(a, AF p);
  init forall x in AP : x := false; n := 0;
  loop if B(b, p) & n < 3 then { do go; n := n + 1 } else if D(a, AF p) then m := busy else skip; p := any, q := p endloop
agent b is loop { p := true } | { do wait; q := any } endloop
view b in a is loop p := any endloop
property one in a: AG (p -> EF B(b, p | q)) & !E[p U q];
property two initially in a.B(b): A[p U AX q] <-> m = busy;
check serial B(b) in a; check realism weak b in a;
";

/// Texts of every kind, some that are shipped and some small ones.
const SEEDS: [&str; 4] = [
    ALL,
    include_str!("../../../models/bdi/robot.bdi"),
    "agent a is loop p := any, B(a, p) := p endloop property q in a: EF B(a, p);",
    include_str!("conformance/ex09_views.bdi"),
];

const LIKE: [&[&str]; 6] = [
    &["&", "|", "->", "<->", "=", "<", "!="],
    &["AG", "EF", "AX", "EX", "AF", "EG", "!"],
    &["B", "D", "I", "PB"],
    &["p", "q", "n", "m", "x", "true", "false", "any", "0", "3"],
    &["skip", "p := any", "{}", "do go"],
    &["(", "((", "(!", "(p & "],
];

const AROUND: [(&str, &str); 7] = [
    ("(", ")"),
    ("{", "}"),
    ("!", ""),
    ("AX ", ""),
    ("B(a, ", ")"),
    ("loop ", " endloop"),
    ("if p then ", ""),
];

/// Changes to tokens and bytes, more of them than can be run, with no panic while reading.
#[test]
fn nothing_panics() {
    let pieces = approximate_tokens;
    let breaker =
        Breaker { seeds: &SEEDS, pieces, words: &WORDS, like: &LIKE, around: &AROUND, comment: "//" };
    let broken: Vec<_> = SEEDS.iter().filter(|seed| !survives(seed)).collect();
    assert!(broken.is_empty(), "broken already: {broken:?}");
    breaker.nothing_panics("0..30000", 10, survives);
}

/// Odd but legal, or plainly wrong: each is read to its end.
#[test]
fn edges_of_the_language() {
    let texts = [
        "",
        "agent",
        "agent a is",
        "agent a is ;",
        "agent a is {}",
        "agent a is loop endloop",
        "agent a is loop {} | {} endloop",
        "agent a is loop loop endloop endloop",
        "agent a is if true then {}",
        "agent a is var n : 3..3; loop n := any endloop property p: n = 3;",
        "property : ;",
        "agent a is x := x",
        "agent a is loop if x then {} else {} endloop property p: EG !x;",
        "mas = ;",
        "\u{feff}agent a is",
        "agent a is B(a, p) := true",
        "agent a is B(a, B(a, p)) := true; p := any",
        "view a in a is",
        "/*",
        "//",
        "agent a is bdi B(a, true); loop skip endloop view a in a is loop skip endloop property p: B(a, true);",
        "agent a is fair := any, fair(x) := true",
        "agent a is fair (x); x := any",
        "agent a is check := any; top := any",
        "agent a is var B, E, U; B := any; E := any, U := B",
    ];
    for text in texts {
        let read = crate::support::read(text, &[]);
        read.drawn();
        if let Some((model, plan)) = &read.model {
            run(model, plan, masque_verdict::Show::Failed, &Budget::default(), &mut |_, _| {});
        }
    }
    let (mut sources, file) = (Sources::default(), "agent a is p := any");
    let file = sources.add("a.bdi", file).unwrap();
    let (mut tree, _) = parse(&sources, file);
    for text in ["", ":", "a :", "a : p q", "a.B( : p", "p &", "initially a : p", "top : p;", "a.B(a) : p"] {
        let more = sources.add("--property", text).unwrap();
        for diagnostic in parse_property(&sources, more, &mut tree) {
            render(&sources, &diagnostic, false);
        }
    }
    assert_eq!(tree.properties.len(), 3);
}

/// Deep nesting of every kind ends in a message, not in an overflow of the stack.
#[test]
fn deep_nesting_is_refused() {
    let n = 100_000;
    for (open, close) in [("(", ")"), ("!", ""), ("AX ", ""), ("B(a, ", ")"), ("E[p U ", "]"), ("f(", ")")] {
        let text = format!("agent a is p := any property q: {}p{};", open.repeat(n), close.repeat(n));
        let read = crate::support::read(&text, &[]);
        assert_eq!(read.diagnostics[0].code, "bdi/too-deep", "{open}");
    }
    for (open, close) in [("{", "}"), ("loop ", " endloop"), ("if p then ", "")] {
        let text = format!("agent a is {} p := any {}", open.repeat(n), close.repeat(n));
        assert_eq!(crate::support::read(&text, &[]).diagnostics[0].code, "bdi/too-deep", "{open}");
    }
}
