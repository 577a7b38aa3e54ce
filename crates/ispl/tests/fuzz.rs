//! Fuzzing, bounded: 200 000 broken models in every test run.
//!
//! Each input is one of a few small seeds after a handful of random changes to its tokens or its
//! bytes. Nothing may panic, every message must point into the text, and what is still correct
//! must format well. An input is its number, so a failure can be run again; `fuzz/` does the same
//! without a bound, guided by coverage.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;
use masque_ispl::testing::pieces;
use support::survives;

const N_INPUTS: u64 = 200_000;
const N_THREADS: u64 = 2;

/// All sections of ISPL 1.x, and most operators.
const MODERN: &str = "\
Semantics = SA;
Agent Environment Obsvars: o : boolean; end Obsvars Vars: x : {r, g}; end Vars RedStates: x = r; end RedStates
Actions = {t, n}; Protocol: x = r : {t}; Other : {t, n}; end Protocol
Evolution: x = g if Action = t and !(A.Action = up); o = true if x = g; end Evolution end Agent
Agent A Lobsvars = {x}; Vars: c : -1..3; b : boolean; end Vars Actions = {up, X};
Protocol: c < 3 and Environment.x = r : {up}; b | ~b ^ b & b = true : {X, up}; Other : {X}; end Protocol
Evolution: (c = c + 1 * 2 - 1) and b = false if Action = up or c >= 2 / 1; end Evolution end Agent
Evaluation p if A.c <> 3; q if Environment.x = r; end Evaluation
InitStates A.c = -1 and (Environment.x = g or !A.b); end InitStates
Groups g1 = {A, Environment}; end Groups Fairness p; end Fairness
Formulae AG(p -> K(A, q)) and !EF q; E(p U q or p); <g1>X p <-> <g1, uniform>(p U q); GCK(g1, DK(g1, p)) or O(A, q);
LTL G(p -> F !q U p); CTL* A(F p and E G q); name : A.RedStates; end Formulae
";

/// The same kind of model without much in it, so that changes hit what matters.
const TINY: &str = "Agent A Vars: x : 0..2; end Vars Actions = {a}; Protocol: Other : {a}; end Protocol
Evolution: x = x + 1 if x < 2; end Evolution end Agent
Evaluation p if A.x = 1; end Evaluation InitStates A.x = 0; end InitStates Formulae AF p; end Formulae -- end";

/// The 2004/05 dialect.
const PAPERS: &str = "\
Agent S Lstate = {s0, s1}; Lgreen = {s0}; Action = {a, b};
Protocol: s0: {a}; s1: {a, b}; end Protocol
Ev: s1 if ((Lstate=s0) and (R.Action=b)); s0 if Action = a and R.Lstate = r0; end Ev end Agent
Agent R Lstate = {r0}; Action = {b}; Protocol: r0: {b}; end Protocol Ev: end Ev end Agent
Evaluation p if (S.Lstate=s0) or R.Lstate=r0; end Evaluation
InitStates S.Lstate=s0 and R.Lstate=r0; end InitStates Groups g = {S, R}; end Groups
Formulae AG(p -> KH(S, R, p)); E(g, p) or C(g, D(g, p)); end Formulae
";

/// Parameters, families, aggregates; comments here and there.
const FAMILIES: &str = "\
param N = 3; -- how many
param M = N * 2 - 1;
Agent Environment
  Vars: coin[i in 1..N] : {head, tail}; m[i in 0..1, j in 0..1 where i <> j] : 0..N; end Vars
  Actions = {none, go[i in 1..N]}; Protocol: Other : {none}; end Protocol
  Evolution:
    for i in 1..N { coin[i] = head if C[i].Action = a and i mod 2 = 0; -- even
      for j in i..N where j > i { m[0, 1] = sum(k in 1..N where k <> i : k) if coin[i] = coin[j]; } }
  end Evolution
end Agent
Agent C[i in 1..N] Lobsvars = {coin[i], coin[prev(i, N)]};
  Vars: v : boolean; end Vars Actions = {a};
  Protocol: v and Environment.coin[next(i, N)] = head : {a}; Other : {a}; end Protocol Evolution: end Evolution
end Agent
Evaluation for i in 1..N { p[i] if C[i].v; } many if count(i in 1..N : C[i].v) >= max(1, M - 4); end Evaluation
InitStates forall(i in 1..N : !C[i].v); end InitStates
Groups all = {C[i in 1..N]}; end Groups
Formulae for i in 1..N { know[i] : AG(p[i] -> K(C[i], exists(j in 1..N : j <> i and p[j]))); } <{C[1]}>F many; end Formulae
";

const SEEDS: [&str; 5] = [MODERN, TINY, PAPERS, FAMILIES, TINY];

/// What is put between and in place of the tokens of a seed.
#[rustfmt::skip]
const WORDS: [&str; 111] = [
    "Semantics", "MultiAssignment", "SA", "Agent", "Environment", "Obsvars", "Lobsvars", "Vars", "boolean", "true",
    "false", "RedStates", "GreenStates", "Actions", "Action", "Protocol", "Other", "Evolution", "Evaluation",
    "InitStates", "Groups", "Fairness", "Formulae", "end", "if", "and", "or", "LTL", "CTL", "AG", "EG", "AX", "EX",
    "AF", "EF", "A", "E", "X", "F", "G", "U", "W", "R", "K", "GK", "GCK", "DK", "O", "KH", "C", "D", "Lstate", "Lgreen",
    "Ev", "param", "for", "in", "where", "mod", "min", "max", "prev", "next", "sum", "count", "forall", "exists",
    "uniform", "joint", "N", "i", "p", "x",
    "(", ")", "{", "}", "[", "]", "<", ">", "<=", ">=", "<>", "!=", "=", "->", "<->", "!", ":", ",", ".", ";", "..",
    "-", "+", "*", "/", "&", "|", "~", "^", "$", "é", "--\n", "-- note\n",
    "0", "1", "2", "3", "18446744073709551616",
];

#[test]
fn nothing_panics() {
    let n_correct = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..N_THREADS {
            let n_correct = &n_correct;
            scope.spawn(move || {
                for number in (thread..N_INPUTS).step_by(N_THREADS as usize) {
                    let current = Current { number, text: input(number) };
                    if survives(&current.text) {
                        n_correct.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    // Fuzzing the formatter needs inputs that it accepts.
    let n_correct = n_correct.into_inner();
    println!("{n_correct} of {N_INPUTS} inputs are syntactically correct");
    assert!(n_correct > N_INPUTS as usize / 10);
}

/// The input at hand, shown if it makes its thread panic.
struct Current {
    number: u64,
    text: String,
}

impl Drop for Current {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("fuzz input {}:\n{}\n{:?}", self.number, self.text, self.text);
        }
    }
}

/// The input of a number.
fn input(number: u64) -> String {
    let rng = &mut Rng::with_seed(number);
    let seed = SEEDS[rng.usize(..SEEDS.len())];
    let n_changes = 1 + rng.usize(..4);
    if rng.u8(..4) == 0 {
        let mut bytes = seed.as_bytes().to_vec();
        for _ in 0..n_changes {
            change_bytes(&mut bytes, rng);
        }
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut tokens = pieces(seed);
    // Half of the time tokens are replaced by their like, which often leaves a correct text.
    let is_gentle = rng.bool();
    for _ in 0..n_changes {
        match is_gentle {
            true => replace_by_its_like(&mut tokens, rng),
            false => change_tokens(&mut tokens, rng),
        }
    }
    write(&tokens, rng)
}

/// Tokens as text, with random white space.
fn write(tokens: &[&str], rng: &mut Rng) -> String {
    let mut text = String::new();
    for token in tokens {
        text.push_str(token);
        let is_comment = token.starts_with("--");
        text.push_str(match rng.u8(..) {
            0..4 => "\r\n",
            4..8 => "\n\n\n",
            8..24 => "\n",
            24..26 => "-- a comment\n",
            _ if is_comment => "\n",
            26..30 => "\t  ",
            // Two tokens may become one.
            30 => "",
            _ => " ",
        });
    }
    text
}

fn replace_by_its_like(tokens: &mut [&str], rng: &mut Rng) {
    const LIKE: [&[&str]; 7] = [
        &["and", "or", "->", "<->", "|", "&", "^", "+", "-", "*", "/", "mod", "=", "<>", "<", ">=", "U"],
        &["AG", "EF", "AX", "!", "~", "-", "E", "LTL"],
        &["K", "GK", "DK", "GCK", "O", "E", "sum", "count", "forall", "exists", "min", "next"],
        &["0", "1", "2", "3", "5"],
        &["true", "false", "boolean", "p", "x", "N", "X", "U", "end", "Other", "Environment"],
        &["(", "(!", "((", "-(", "(- -", "(x and ", "AG(", "K(A, "],
        &["}", "}-- after\n", ", x}", ", x[i in 1..2]}"],
    ];
    // Some token near a random place is like something.
    let start = rng.usize(..tokens.len());
    for token in &mut tokens[start..] {
        if let Some(like) = LIKE.iter().find(|like| like.contains(token)) {
            *token = like[rng.usize(..like.len())];
            return;
        }
    }
}

fn change_tokens(tokens: &mut Vec<&str>, rng: &mut Rng) {
    let at = rng.usize(..=tokens.len());
    let end = (at + 1 + rng.usize(..6)).min(tokens.len());
    match rng.u8(..10) {
        _ if at >= end => tokens.push(WORDS[rng.usize(..WORDS.len())]),
        0 => drop(tokens.remove(at)),
        1 => drop(tokens.drain(at..end)),
        2 => tokens.insert(at, tokens[at]),
        3 => tokens.splice(at..at, tokens[at..end].to_vec()).for_each(drop),
        4 => {
            let other = rng.usize(..tokens.len());
            tokens.swap(at, other);
        }
        5 => tokens.insert(at, WORDS[rng.usize(..WORDS.len())]),
        6 => tokens[at] = WORDS[rng.usize(..WORDS.len())],
        7 if rng.u8(..4) == 0 => tokens.truncate(at),
        7 => {
            let other = pieces(SEEDS[rng.usize(..SEEDS.len())]);
            let from = rng.usize(..other.len());
            let to = (from + rng.usize(..12)).min(other.len());
            tokens.splice(at..at, other[from..to].iter().copied());
        }
        _ => nest(tokens, at, end, rng),
    }
}

/// Puts brackets or operators around some tokens, mostly a few, sometimes far too many.
fn nest(tokens: &mut Vec<&str>, at: usize, end: usize, rng: &mut Rng) {
    const AROUND: [(&str, &str); 9] = [
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
        ("!", ""),
        ("- ", ""),
        ("AG(", ")"),
        ("K(A, p -> ", ")"),
        // Loops of one round, or else nesting them is exponential for good reasons.
        ("for i in 1..1 {", "}"),
        ("exists(i in 1..1 : ", " or x)"),
    ];
    let (before, after) = AROUND[rng.usize(..AROUND.len())];
    let depth = if rng.u8(..) == 0 { 300 + rng.usize(..400) } else { 1 + rng.usize(..3) };
    tokens.splice(end..end, std::iter::repeat_n(after, depth));
    tokens.splice(at..at, std::iter::repeat_n(before, depth));
}

fn change_bytes(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.usize(..=bytes.len());
    let end = (at + 1 + rng.usize(..20)).min(bytes.len());
    match rng.u8(..8) {
        _ if at >= end => bytes.push(rng.u8(..)),
        0 => drop(bytes.remove(at)),
        1 => drop(bytes.drain(at..end)),
        2 => bytes.insert(at, rng.u8(..)),
        3 => bytes[at] = rng.u8(..),
        4 => bytes[at] ^= 1 << rng.u8(..8),
        5 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
        6 if rng.u8(..4) == 0 => bytes.truncate(at),
        6 => drop(bytes.splice(at..at, *b"--")),
        _ => {
            const ODD: [&str; 8] = ["é", "\u{feff}", "\0", "\r", "\n", "∧", "\u{2028}", "🂡"];
            drop(bytes.splice(at..at, ODD[rng.usize(..ODD.len())].bytes()));
        }
    }
}
