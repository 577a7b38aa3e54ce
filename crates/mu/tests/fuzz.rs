//! Fuzzing, bounded: broken property files, formulas and `.aut` files.
//!
//! `fuzz/` does the same without a bound, guided by coverage.

mod survives;

use masque_testkit::{Breaker, approximate_tokens};
use survives::survives;

const N_INPUTS: u64 = 40_000;

const PROPERTIES: &str = "\
safe : AG !deadlock && (p || \u{ac}q) -> EF final ;
live : nu X. [-]X && mu Y. <->tt && [-{in(a), out(b(_, 'c d'))@me}]Y ;
path : <(a | b)* . -c+ . #(d, [e])>(AF p or EG q and not AX EX tt) -> ff ;
inev : inev(in(a)) \u{2227} resp(out(a), in(b)) ;
";

const FORMULA: &str = "nu X. [-]X && (mu Y. <a>tt || <- . b*>Y) -> !p";

const AUT: &str = "des (0, 3, 3)\n(0, \"a\", 1)\n(1, tau, 2)\n(2, b(\"c\", 1), 0)\n";

const SEEDS: [&str; 4] = [PROPERTIES, include_str!("../../../models/lcc/travel.mu"), FORMULA, AUT];

#[rustfmt::skip]
const WORDS: [&str; 55] = [
    "mu", "nu", "X", "Y", "tt", "ff", "true", "false", "and", "or", "not", "inev", "resp", "deadlock", "AG", "EF", "AF",
    "EG", "AX", "EX", "des", "tau", "p", "in(x)", "0", "1", "18446744073709551616", "(", ")", "[", "]", "{", "}", "<", ">",
    "-", "->", "&&", "||", "|", ".", "*", "+", "!", "#", "@", ",", ":", ";", "'", "\"", "\u{e9}", "/*", "\u{3bc}", "\u{27e8}",
];

const LIKE: [&[&str]; 6] = [
    &["&&", "||", "->", "and", "or"],
    &["AG", "EF", "AF", "EG", "AX", "EX", "not", "!"],
    &["mu", "nu"],
    &["p", "q", "tt", "ff", "final", "deadlock", "X", "Y", "(p)", "in(a)"],
    &["0", "1", "2", "3"],
    &["(", "((", "(!", "(AG "],
];

const AROUND: [(&str, &str); 7] =
    [("(", ")"), ("[", "]"), ("<", ">"), ("{", "}"), ("!", ""), ("mu X. ", ""), ("<a>", "")];

#[test]
fn nothing_panics() {
    let breaker = Breaker {
        seeds: &SEEDS,
        pieces: approximate_tokens,
        words: &WORDS,
        like: &LIKE,
        around: &AROUND,
        comment: "//",
    };
    assert!(SEEDS[..2].iter().all(|seed| survives(seed)), "a seed is broken already");
    let n_correct = breaker.run(N_INPUTS, survives);
    println!("{n_correct} of {N_INPUTS} inputs are syntactically correct");
    assert!(n_correct > N_INPUTS / 20, "{n_correct}");
}
