//! Fuzzing, bounded: 200 000 broken models in every test run.
//!
//! Each input is one of a few small seeds after a handful of random changes to its tokens or its
//! bytes. Nothing may panic, every message must point into the text, and what is still correct
//! must format well. An input is its number, so a failure can be run again:
//! `SEEDS=0..1000000 cargo test --release -p masque-ispl --test all fuzz` runs more inputs, and those of the other
//! languages can be run in the same way. `fuzz/` does the same without a bound, guided by coverage.

use crate::support::survives;
use masque_ispl::testing::pieces;
use masque_testkit::{Breaker, seeds};

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

const LIKE: [&[&str]; 7] = [
    &["and", "or", "->", "<->", "|", "&", "^", "+", "-", "*", "/", "mod", "=", "<>", "<", ">=", "U"],
    &["AG", "EF", "AX", "!", "~", "-", "E", "LTL"],
    &["K", "GK", "DK", "GCK", "O", "E", "sum", "count", "forall", "exists", "min", "next"],
    &["0", "1", "2", "3", "5"],
    &["true", "false", "boolean", "p", "x", "N", "X", "U", "end", "Other", "Environment"],
    &["(", "(!", "((", "-(", "(- -", "(x and ", "AG(", "K(A, "],
    &["}", "}-- after\n", ", x}", ", x[i in 1..2]}"],
];

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

#[test]
fn nothing_panics() {
    let breaker =
        Breaker { seeds: &SEEDS, pieces, words: &WORDS, like: &LIKE, around: &AROUND, comment: "--" };
    let numbers = seeds("0..200000");
    let n_correct = breaker.run(numbers.clone(), survives);
    // Fuzzing the formatter needs inputs that it accepts.
    assert!(n_correct > (numbers.end - numbers.start) / 10);
}
