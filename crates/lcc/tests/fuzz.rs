//! Fuzzing, bounded: broken protocols, teams, policies and property statements.
//!
//! `fuzz/` does the same without a bound, guided by coverage.

use crate::survives::survives;
use masque_testkit::{Breaker, approximate_tokens};

/// All kinds of statements, and most operators.
const ALL: &str = "\
r(buyer, initial, 1, 2) r(seller, necessary)
a(buyer, B) :: ask(X) => a(seller, S) <- want(X) and X \\= 'X.509' then
  ( price(X, P) <= a(seller, S) then { a(payer(P), B) :: pay(P) => a(seller, S) <- P =< 10 and (B, S, +pay(P)) }
    or sold(X) <- no(X) <= a(seller, S) par null <- not rich(B) ).
a(seller, S) :: ask(X) <= a(buyer, B) then (price(X, 3) => a(buyer, B) or no(X) => a(buyer, B)) then a(seller, S).
agent a(buyer, b). server a(seller, s).
common cheap(X) <- cost(X, C), C < 2 * (3 + 4) mod 5 - 1.
know b : want([book, \"pen\" | T]). rule s : (b, s, +pay(_)) <- cheap(book) ; true.
rule s : (b, s, -ask(pen)). enforced by s : (b, s, -ask(X.509)) ← p(−). s : (b, s, +ask(v.1.2b)). rule s : (s, b, !price(_, _)) after in(ask(_)) until out(no(_)).
choice b : want/1. option mailbox = fifo. now a(seller, s) :: nil. mail a(buyer, b) -> a(seller, s) : ask(book).
property fed : nu Z. [-]Z && <-* . in(price(_, _))@b>tt ;
";

/// Not much, so that changes hit what matters.
const TINY: &str = "a(hen, H) :: egg(1) => a(farmer, F) <- warm(H) then null.
a(farmer, F) :: egg(N) <= a(hen, H). agent a(hen, h). agent a(farmer, f). common warm(_).";

const SEEDS: [&str; 4] = [ALL, TINY, include_str!("../../../models/lcc/contract_net.lcc"), ALL];

#[rustfmt::skip]
const WORDS: [&str; 79] = [
    "a", "r", "agent", "server", "common", "know", "rule", "choice", "option", "now", "mail", "property", "then", "or",
    "par", "and", "not", "null", "nil", "is", "mod", "after", "until", "enforced", "by", "X.509", "s: (", ".5", "in", "out", "X", "_", "_y", "book", "tt",
    "'q", "'X.509'", "\"r0\"", "0", "1.5", "99999999999999999999", "(", ")", "[", "]", "{", "}", ",", ".", ":", "::", "=>",
    "<=", "<-", "<--", "->", "/\\", "&&", "\\/", "||", ";", "~", "!", "\\+", "=", "\\=", "==", "<", ">", "=<", "+", "-",
    "*", "/", "|", "@", "#", "é", "/*",
];

const LIKE: [&[&str]; 6] = [
    &["then", "or", "par"],
    &["=>", "<="],
    &["+", "-", "*", "/", "mod", "=", "\\=", "<", ">", "=<", "is"],
    &["1", "2", "3", "10", "X", "B", "S", "_", "book", "[]", "[X | Y]", "'X.509'"],
    &["null", "a(buyer, B)", "m => a(seller, S)"],
    &["(", "((", "(not ", "(- "],
];

const AROUND: [(&str, &str); 6] =
    [("(", ")"), ("[", "]"), ("{ a(r, X) :: ", "}"), ("not ", ""), ("- ", ""), ("f(", ")")];

#[test]
fn nothing_panics() {
    let pieces = approximate_tokens;
    let breaker =
        Breaker { seeds: &SEEDS, pieces, words: &WORDS, like: &LIKE, around: &AROUND, comment: "//" };
    assert!(SEEDS.iter().all(|seed| survives(seed)), "a seed is broken already");
    breaker.nothing_panics("0..20000", 10, survives);
}
