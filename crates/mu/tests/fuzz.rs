//! Fuzzing, bounded: broken property files, formulas and `.aut` files.
//!
//! `fuzz/` does the same without a bound, guided by coverage.

use crate::survives::{survives, survives_as_graph};
use masque_testkit::{Breaker, approximate_tokens, seeds};

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
    let pieces = approximate_tokens;
    let breaker =
        Breaker { seeds: &SEEDS, pieces, words: &WORDS, like: &LIKE, around: &AROUND, comment: "//" };
    assert!(SEEDS[..2].iter().all(|seed| survives(seed)), "a seed is broken already");
    breaker.nothing_panics("0..40000", 20, survives);
}

const GRAPHS: [&str; 3] = [
    AUT,
    "des (1, 2, 2)\n(1, i, 0)\n(0, \"i\", 1)\n",
    "des (0, 6, 4)\n(0, a, 1)\n(0, a, 2)\n(1, b, 3)\n(2, c, 3)\n(3, a, 3)\n(3, \"a, b\", 0)\n",
];

const NUMBERS: [&[&str]; 2] = [&["0", "1", "2", "3", "4"], &["a", "b", "c", "tau", "i", "\"a\""]];

#[test]
fn graphs_do_not_panic() {
    let breaker = Breaker {
        seeds: &GRAPHS,
        pieces: lines_and_numbers,
        words: &[
            "des",
            "(",
            ")",
            ",",
            "\n",
            "\"",
            "0",
            "7",
            "-1",
            "18446744073709551615",
            "18446744073709551616",
            "a",
        ],
        like: &NUMBERS,
        around: &[("(", ")"), ("\"", "\""), ("\n", "\n")],
        comment: "//",
    };
    assert!(GRAPHS.iter().all(|seed| survives_as_graph(seed)), "a seed is broken already");
    let numbers = seeds("0..40000");
    let n_correct = breaker.run(numbers.clone(), survives_as_graph);
    // Line breaks matter in this format, so most changes of white space are errors.
    assert!(n_correct > (numbers.end - numbers.start) / 50, "{n_correct}");
}

/// The tokens of a text, with line breaks, which matter in this format.
fn lines_and_numbers(text: &str) -> Vec<&str> {
    text.split_inclusive('\n')
        .flat_map(|line| {
            let end = line.find('\n').map(|at| &line[at..]);
            approximate_tokens(line.trim_end()).into_iter().chain(end)
        })
        .collect()
}
