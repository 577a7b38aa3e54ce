//! Growth of loading: texts of every language load in time nearly linear in their size, and so does checking a long
//! conjunction.
//!
//! `cargo test --release -p masque-driver --test all growth -- --ignored --nocapture` prints the exponents.
#![cfg(target_os = "linux")]

use std::fs;

use masque_driver::{Limits, Request, check, load_text};
use mimalloc::MiMalloc;

/// The allocator of the program for all but large blocks. The one of the C library returns smaller blocks, too, to the
/// system and fetches them again, page by page, so that growing tables take a time that the program does not take.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// A family of texts: its name, the file name that shows the language, the text of a size, and a small size.
type Family = (&'static str, &'static str, fn(usize) -> String, usize);

const FAMILIES: [Family; 34] = [
    (
        "LCC owners and common rules",
        "m.lcc",
        |n| lcc(each(n, |i| format!("know o{i}: f. common p{i} <- q."))),
        500,
    ),
    ("LCC chain of negations", "m.lcc", |n| lcc(each(n, |i| format!("common p{i} <- not p{}.", i + 1))), 500),
    ("LCC clauses", "m.lcc", |n| lcc(each(n, |i| format!("a(r{i}, A) :: m => a(y, B)."))), 500),
    ("LCC clauses of one role", "m.lcc", |n| lcc(each(n, |i| format!("a(r, A) :: m{i} => a(y, B)."))), 500),
    ("LCC or", "m.lcc", |n| lcc(chain(n, " or ")), 500),
    ("LCC then", "m.lcc", |n| lcc(chain(n, " then ")), 500),
    ("LCC par", "m.lcc", |n| lcc(chain(n, " par ")), 500),
    ("LCC facts", "m.lcc", |n| lcc(each(n, |i| format!("common f(c{i}, {i})."))), 500),
    ("LCC agents", "m.lcc", |n| lcc(each(n, |i| format!("agent a(x, c{i})."))), 500),
    ("LCC properties", "m.lcc", |n| lcc(each(n, |i| format!("property q{i} : AG EF <in(m)>tt ;"))), 500),
    (
        "LCC constraints",
        "m.lcc",
        |n| lcc(format!("common p <- {}.", joined(n, " and ", |i| format!("q{i}(a)")))),
        500,
    ),
    ("ISPL p and p", "m.ispl", |n| ispl("", &joined(n, " and ", |_| "p".into())), 2000),
    ("ISPL p or q", "m.ispl", |n| ispl("", &joined(n, " or ", |i| format!("A.x = {}", i % 4))), 2000),
    ("ISPL implications", "m.ispl", |n| ispl("", &joined(n, " -> ", |_| "p".into())), 2000),
    (
        "ISPL mixed bit operators",
        "m.ispl",
        |n| {
            ispl(
                &format!(
                    "x = 1 if {} = true;",
                    joined(n, " ^ ", |i| format!("b{}", if i % 3 == 0 { " | b" } else { "" }))
                ),
                "p",
            )
        },
        1000,
    ),
    (
        "ISPL lines",
        "m.ispl",
        |n| ispl(&each(n, |i| format!("x = {} if x = {};", i % 4, (i + 1) % 4)), "p"),
        1000,
    ),
    (
        "ISPL distinct lines",
        "m.ispl",
        |n| ispl(&each(n, |i| format!("x = {} if x + {i} = {};", i % 4, i + 1)), "p"),
        1000,
    ),
    (
        "ISPL formulas",
        "m.ispl",
        |n| ispl("", &joined(n, "; ", |i| format!("AG(A.x = {} -> EF p)", i % 4))),
        1000,
    ),
    ("ISPL labelled formulas", "m.ispl", |n| ispl("", &joined(n, "; ", |i| format!("f{i} : EF p"))), 1000),
    ("ISPL unknown names", "m.ispl", |n| ispl(&each(n, |i| format!("x = y{i} if z{i};")), "p"), 1000),
    ("ISPL agents", "m.ispl", |n| agents(n), 500),
    ("ISPL variables", "m.ispl", |n| variables(n), 500),
    ("ISPL family", "m.ispl", |n| family(n), 500),
    ("BDI agents", "m.bdi", |n| each(n, |i| format!("agent a{i} is loop p := !q; do act(p) endloop")), 500),
    ("BDI assignments of a step", "m.bdi", |n| bdi(&joined(n, ", ", |i| format!("x{i} := any"))), 500),
    ("BDI statements", "m.bdi", |n| bdi(&joined(n, "; ", |i| format!("do act{i}(p)"))), 500),
    ("BDI conditions", "m.bdi", |n| bdi(&joined(n, "; ", |i| format!("if p & x{i} then q := !p"))), 500),
    (
        "BDI conjunction",
        "m.bdi",
        |n| bdi("p := any") + &format!("property r: {};", joined(n, " & ", |_| "p".into())),
        1000,
    ),
    ("BDI properties", "m.bdi", |n| bdi("p := any") + &each(n, |i| format!("property r{i}: AG EF p;")), 1000),
    (
        "BDI values",
        "m.bdi",
        |n| format!("agent a is var v : {{{}}}; loop v := any endloop", joined(n, ", ", |i| format!("w{i}"))),
        1000,
    ),
    (
        "BDI unknown names",
        "m.bdi",
        |n| {
            format!(
                "agent a is var {}; loop {} endloop",
                joined(n, ", ", |i| format!("v{i}")),
                joined(n, "; ", |i| format!("u{i} := any"))
            )
        },
        500,
    ),
    (
        "AUT transitions",
        "m.aut",
        |n| format!("des (0, {n}, {n})\n") + &each(n, |i| format!("({i}, a, {})\n", i * 7 % n)),
        2000,
    ),
    ("AUT labels", "m.aut", |n| format!("des (0, {n}, 1)\n") + &each(n, |i| format!("(0, l{i}, 0)\n")), 2000),
    (
        "mu conjunction",
        "m.lcc",
        |n| lcc(format!("property q : {} ;", joined(n, " && ", |_| "<in(m)>tt".into()))),
        1000,
    ),
];

fn joined(n: usize, with: &str, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(with)
}

fn each(n: usize, item: impl Fn(usize) -> String) -> String {
    (0..n).map(|i| item(i) + "\n").collect()
}

fn chain(n: usize, with: &str) -> String {
    format!("a(z, A) :: {}.", joined(n, with, |i| format!("m{i} => a(y, B)")))
}

fn lcc(statements: String) -> String {
    let protocol = "a(x, A) :: m => a(y, B). a(y, B) :: m <= a(x, A). agent a(x, a1). agent a(y, b1).\n";
    protocol.to_string() + &statements
}

fn ispl(lines: &str, formulas: &str) -> String {
    format!(
        "Agent A Vars: x : 0..3; b : boolean; end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
         Evolution: {lines} end Evolution end Agent Evaluation p if A.x = 1; end Evaluation
         InitStates A.x = 0 and !A.b; end InitStates Formulae {formulas}; end Formulae"
    )
}

fn agents(n: usize) -> String {
    let agent = |i| {
        format!(
            "Agent A{i} Vars: x : boolean; end Vars Actions = {{a, b}}; Protocol: Other : {{a, b}}; end Protocol
             Evolution: x = true if Action = a; end Evolution end Agent"
        )
    };
    let initial = joined(n, " and ", |i| format!("!A{i}.x"));
    let propositions = each(n, |i| format!("p{i} if A{i}.x;"));
    let formulas = each(n, |i| format!("AG(p{i} -> K(A{i}, p{i}));"));
    each(n, agent)
        + &format!(
            "Evaluation {propositions} end Evaluation InitStates {initial}; end InitStates
             Formulae {formulas} end Formulae"
        )
}

fn variables(n: usize) -> String {
    let variables = each(n, |i| format!("x{i} : 0..3;"));
    let lines = each(n, |i| format!("x{i} = x{} if x{i} = 0;", (i + 1) % n));
    let initial = joined(n, " and ", |i| format!("A.x{i} = 0"));
    format!(
        "Agent A Vars: {variables} end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
         Evolution: {lines} end Evolution end Agent Evaluation p if A.x0 = 1; end Evaluation
         InitStates {initial}; end InitStates Formulae AG p; end Formulae"
    )
}

fn family(n: usize) -> String {
    format!(
        "Agent A[i in 1..{n}] Vars: x : boolean; end Vars Actions = {{a, b}}; Protocol: Other : {{a, b}}; end Protocol
         Evolution: x = true if Action = a; end Evolution end Agent
         Evaluation for i in 1..{n} {{ p[i] if A[i].x; }} end Evaluation
         InitStates forall(i in 1..{n} : !A[i].x); end InitStates
         Formulae for i in 1..{n} {{ AG(p[i] -> K(A[i], p[i])); }} end Formulae"
    )
}

fn bdi(statements: &str) -> String {
    format!("agent a is loop {statements} endloop ")
}

/// CPU time of this thread in nanoseconds.
fn cpu_nanos() -> u64 {
    // The system updates the time when it schedules.
    std::thread::yield_now();
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse().unwrap()
}

/// The least CPU time of several attempts to load a text, in nanoseconds.
fn loading_nanos((family, name, text, _): &Family, n: usize, n_attempts: usize) -> u64 {
    let text = text(n);
    let attempt = |_| {
        let start = cpu_nanos();
        let loaded = load_text(name, &text, &Request::default());
        let nanos = cpu_nanos() - start;
        assert_eq!(
            loaded.has_errors(),
            family.contains("unknown"),
            "{family}: {:?}",
            loaded.diagnostics.first()
        );
        nanos
    };
    (0..n_attempts).map(attempt).min().unwrap()
}

/// From a size to 16 times this size, the time of a quadratic algorithm grows 256 times. The test allows 10 times
/// the growth of a linear algorithm.
#[test]
fn loading_is_not_quadratic() {
    for family in &FAMILIES {
        let n = 2 * family.3;
        let (small, large) = (loading_nanos(family, n, 3), loading_nanos(family, 16 * n, 2));
        let growth = large as f64 / small as f64;
        assert!(growth < 160.0, "{}: {growth:.1} times from {n} to {}", family.0, 16 * n);
    }
}

/// CPU time of all threads in milliseconds.
fn process_millis() -> u64 {
    const MILLIS_PER_TICK: u64 = 10;
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    [11, 12].iter().map(|&field| fields[field].parse::<u64>().unwrap()).sum::<u64>() * MILLIS_PER_TICK
}

/// CPU time to check a conjunction of n equal conjuncts, in milliseconds.
fn checking_millis(n: usize) -> u64 {
    let loaded = load_text(
        "m.ispl",
        &ispl("x = 1 if x = 0;", &joined(n, " and ", |_| "p".into())),
        &Request::default(),
    );
    let start = process_millis();
    let run = check(&loaded, &Limits::default(), &mut |_| ()).unwrap().unwrap();
    assert_eq!(run.decisions[0].verdict.word(), "fails");
    process_millis() - start
}

/// Prints the exponent of each family between sizes: log2 of the growth when the size doubles.
#[test]
#[ignore = "measures for minutes"]
fn exponents() {
    let report = |name: &str, n: usize, times: Vec<f64>| {
        let exponents: Vec<String> =
            times.windows(2).map(|pair| format!("{:.2}", (pair[1] / pair[0]).log2())).collect();
        let overall = (times[times.len() - 1] / times[0]).log2() / (times.len() - 1) as f64;
        println!(
            "{name:32} n = {n:6}: {overall:.2}   ({})   {:.1} ms at 8 n",
            exponents.join(", "),
            times[3]
        );
        overall
    };
    let mut worst: f64 = 0.0;
    for family in &FAMILIES {
        let n = 16 * family.3;
        let times = [1, 2, 4, 8].map(|factor| loading_nanos(family, factor * n, 5) as f64 / 1e6);
        worst = worst.max(report(family.0, n, times.to_vec()));
    }
    let n = 40_000;
    let times = [1, 2, 4, 8].map(|factor| checking_millis(factor * n).max(1) as f64);
    worst = worst.max(report("ISPL p and p, checked", n, times.to_vec()));
    println!("largest exponent: {worst:.2}");
}
