//! How much smaller reduced systems are, to the state.

mod support;

use masque_lcc::{Reduced, Reductions, explore};
use masque_mu::{Space, check};
use masque_verdict::{Budget, Verdict};
use support::{lock, read};

/// The states of the whole space, and those looked at with reductions.
fn states(text: &str, formula: &str, which: Reductions) -> (u64, u64) {
    let (mut system, formulas) = read(text, &[formula]);
    let mut reduced = Reduced::by(which, &mut system, &formulas[0]).unwrap();
    let answer = check(&mut Space::new(&mut reduced), &formulas[0], &Budget::unlimited());
    assert_eq!(answer.verdict, Verdict::Holds, "{formula}");
    let (mut system, _) = read(text, &[]);
    (explore(&mut system, &Budget::unlimited()).unwrap().states, answer.states)
}

/// Clients that are alike: it matters how many wait, not who.
#[test]
fn clients_of_a_lock_are_counted_not_told_apart() {
    let alike = Reductions { eager: false, symmetry: true };
    let both = Reductions::default();
    let found: Vec<_> = (2..=6)
        .map(|n| {
            let text = lock(n);
            let (whole, reduced) = states(&text, "AG !deadlock", alike);
            let (_, smallest) = states(&text, "AG !deadlock", both);
            (n, whole, reduced, smallest)
        })
        .collect();
    // Clients; all states; clients alike; and they send at once.
    let expected =
        [(2, 39, 21, 15), (3, 162, 40, 22), (4, 621, 65, 29), (5, 2268, 96, 36), (6, 8019, 133, 43)];
    assert_eq!(found, expected);
}

/// Whoever is named is not exchanged, and the others still are.
#[test]
fn a_named_client_stands_apart() {
    let alike = Reductions { eager: false, symmetry: true };
    let (whole, unnamed) = states(&lock(5), "EF final", alike);
    let (_, named) = states(&lock(5), "AG (done(c1) || EF done(c1))", alike);
    assert!(unnamed < named && named < whole, "{unnamed} {named} {whole}");
}

/// The travel example with five airlines: properties 1 as printed and 2, and paying again and again.
#[test]
fn quotes_come_in_one_order() {
    let found: Vec<_> = TRAVEL
        .iter()
        .map(|formula| {
            let (mut system, mut sources) = support::travel(5, &[("cap", "40"), ("psize", "5000")]);
            let file = sources.add("formula", formula.to_string()).unwrap();
            let read = masque_mu::read_formula(&sources, sources.span(file), &mut system).0.unwrap();
            let mut reduced = Reduced::new(&mut system, &read).unwrap();
            check(&mut Space::new(&mut reduced), &read, &Budget::unlimited()).states
        })
        .collect();
    // Of 1381 states.
    assert_eq!(found, [504, 253, 504]);
}

/// Some properties of the travel example with other shapes than AG, EF, AF and EG.
const TRAVEL: [&str; 3] = [
    "nu Z. [-]Z && [out(vacation_details(_,_,_))](mu Y. <->tt && [in(available_flights(_))]Y)",
    "mu Z. <#(query(HD,-,-))>tt || (<->tt && [-]Z)",
    "nu X. mu Y. <out(payment(_))>X || <-out(payment(_))>Y",
];
