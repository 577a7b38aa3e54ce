//! The exact numbers of states of reduced systems.

use crate::support::{lock, read};
use masque_lcc::{Reduced, Reductions, explore};
use masque_mu::{Space, check};
use masque_verdict::{Budget, Verdict};

/// Returns the number of states of the whole space, and of those visited with reductions.
fn states(text: &str, formula: &str, reductions: Reductions) -> (u64, u64) {
    let (mut system, formulas) = read(text, &[formula]);
    let mut reduced = Reduced::with(reductions, &mut system, &formulas[0]).unwrap();
    let answer = check(&mut Space::new(&mut reduced), &formulas[0], &Budget::unlimited());
    assert_eq!(answer.verdict, Verdict::Holds, "{formula}");
    let (mut system, _) = read(text, &[]);
    (explore(&mut system, &Budget::unlimited()).unwrap().states, answer.states)
}

/// Interchangeable clients are merged: only the number of waiting clients matters.
#[test]
fn interchangeable_clients_are_merged() {
    let symmetric = Reductions { eager: false, symmetry: true };
    let both = Reductions::default();
    let found: Vec<_> = (2..=6)
        .map(|n| {
            let text = lock(n);
            let (whole, reduced) = states(&text, "AG !deadlock", symmetric);
            let (_, smallest) = states(&text, "AG !deadlock", both);
            (n, whole, reduced, smallest)
        })
        .collect();
    // Clients; all states; states with symmetry; states with both reductions.
    let expected =
        [(2, 39, 21, 15), (3, 162, 40, 22), (4, 621, 65, 29), (5, 2268, 96, 36), (6, 8019, 133, 43)];
    assert_eq!(found, expected);
}

/// A client that the formula names is not merged with the others, which are still merged.
#[test]
fn a_named_client_is_not_merged() {
    let symmetric = Reductions { eager: false, symmetry: true };
    let (whole, unnamed) = states(&lock(5), "EF final", symmetric);
    let (_, named) = states(&lock(5), "AG (done(c1) || EF done(c1))", symmetric);
    assert!(unnamed < named && named < whole, "{unnamed} {named} {whole}");
}

/// The travel example with five airlines: property 1 as printed, property 2, and infinitely many payments.
#[test]
fn airlines_answer_in_one_order() {
    let found: Vec<_> = TRAVEL
        .iter()
        .map(|formula| {
            let (mut system, mut sources) = crate::support::travel(5, &[("cap", "40"), ("psize", "5000")]);
            let file = sources.add("formula", formula.to_string()).unwrap();
            let read = masque_mu::read_formula(&sources, sources.span(file), &mut system).0.unwrap();
            let mut reduced = Reduced::new(&mut system, &read).unwrap();
            check(&mut Space::new(&mut reduced), &read, &Budget::unlimited()).states
        })
        .collect();
    // The whole space has 1381 states.
    assert_eq!(found, [504, 253, 504]);
}

/// Some properties of the travel example with other shapes than AG, EF, AF and EG.
const TRAVEL: [&str; 3] = [
    "nu Z. [-]Z && [out(vacation_details(_,_,_))](mu Y. <->tt && [in(available_flights(_))]Y)",
    "mu Z. <#(query(HD,-,-))>tt || (<->tt && [-]Z)",
    "nu X. mu Y. <out(payment(_))>X || <-out(payment(_))>Y",
];
