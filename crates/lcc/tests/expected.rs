//! The models of `models/lcc/expected`: what their comments cannot expect, and the definition of the mu-calculus.
//!
//! `masque test models/lcc` compares states, transitions, verdicts and warnings with the comments. The numbers of
//! deadlocks and final states, conflicts between rules and constraints without facts are results of `--explore`;
//! comments expect results of a check, so these are listed here.

use crate::support::{instances, travel};
use masque_lcc::explore;
use masque_mu::{Space, explain, naive};
use masque_verdict::{Budget, Verdict};

/// Name, deadlocks, final states, conflicts and unknown constraints of a model.
type Findings = (&'static str, u64, u64, &'static [&'static str], &'static [&'static str]);

/// Deadlocks, final states, conflicts and constraints without facts of each model.
#[rustfmt::skip]
const FINDINGS: [Findings; 20] = [
    ("m01_value",             1, 1, &[],                       &[]),
    ("m02_or",                1, 1, &[],                       &[]),
    ("m03_par",               0, 1, &[],                       &[]),
    ("m03_par_sync",          0, 1, &[],                       &[]),
    ("m04_recursion",         0, 1, &[],                       &[]),
    ("m05_constraint",        1, 0, &[],                       &["w: skilled/1"]),
    ("m06_conflict",          1, 0, &["(r,_0,±read(file))"],   &[]),
    ("m06_conflict_permit",   0, 1, &["(r,_0,±read(file))"],   &[]),
    ("m07_common",            0, 1, &[],                       &["p: secret/1"]),
    ("m10_guards",            1, 1, &[],                       &[]),
    ("m10_guards_fig9",       1, 1, &[],                       &[]),
    ("t01_ok",                0, 1, &[],                       &[]),
    ("t02_not_syta",          2, 0, &[],                       &[]),
    ("t03_not_card_customer", 2, 0, &[],                       &[]),
    ("t06_only_rule1",        2, 0, &[],                       &[]),
    ("t08_blacklist_deny",    2, 0, &["(ta,hd,±access)"],      &[]),
    ("t09_blacklist_permit",  0, 1, &["(ta,hd,±access)"],      &[]),
    ("t10_no_retry",          0, 1, &[],                       &[]),
    ("t11_paper_brackets",    2, 1, &[],                       &[]),
    ("t14_ok_sync",           0, 1, &[],                       &[]),
];

#[test]
fn findings_are_as_expected() {
    let all = instances();
    assert_eq!(all.len(), FINDINGS.len());
    for (instance, (name, deadlocks, finals, conflicts, unknown)) in all.into_iter().zip(FINDINGS) {
        assert_eq!(instance.name, name);
        let mut system = instance.opened.system.unwrap();
        let counts = explore(&mut system, &Budget::unlimited()).unwrap();
        assert_eq!((counts.deadlocks, counts.finals, counts.cut), (deadlocks, finals, None), "{name}");
        assert_eq!(system.conflicts(), conflicts, "{name}");
        assert_eq!(system.unknown_constraints(), unknown, "{name}");
    }
}

/// Verdicts of the solver, with replayed evidence, are those of the truth definition.
#[test]
fn verdicts_are_as_defined() {
    let mut n_verdicts = 0;
    for instance in instances() {
        let mut system = instance.opened.system.unwrap();
        for property in &instance.opened.properties {
            let answer = explain(&mut Space::new(&mut system), &property.formula, &Budget::unlimited());
            let by_definition = naive::holds(&mut system, &property.source.phi, true).unwrap();
            let place = format!("{}: {}", instance.name, property.source.name.text);
            assert_eq!(answer.verdict, Verdict::from(by_definition), "{place}");
            assert!(answer.evidence.is_some(), "{place}");
            n_verdicts += 1;
        }
    }
    assert!(n_verdicts >= 140, "{n_verdicts}");
}

#[test]
fn the_travel_example_has_the_expected_sizes() {
    // The last row uses the rules of Figure 9 as printed.
    let rows = [
        (2, "lcc", 160, 234),
        (3, "lcc", 297, 536),
        (4, "lcc", 596, 1_450),
        (5, "lcc", 1_381, 4_524),
        (6, "lcc", 3_624, 15_050),
        (2, "fig9", 279, 585),
    ];
    for (n_airlines, guards, states, transitions) in rows {
        let (mut system, _) = travel(n_airlines, &[("guards", guards)]);
        let counts = explore(&mut system, &Budget::unlimited()).unwrap();
        assert_eq!((counts.states, counts.transitions), (states, transitions), "{n_airlines} {guards}");
        assert_eq!(counts.cut, None);
    }
}

/// The lints report missing brackets in the paper's protocol, and intended mistakes in other models. No property has a
/// name that does not exist.
#[test]
fn lints_of_the_models() {
    let mut found: Vec<String> = Vec::new();
    for instance in instances() {
        for diagnostic in &instance.opened.diagnostics {
            found.push(format!("{}: {}: {}", instance.name, diagnostic.code, diagnostic.message));
        }
    }
    found.sort();
    insta::assert_snapshot!("lints", found.join("\n"));
}

/// Numbers of situations that depend on a predicate or an action.
#[test]
fn situations_record_what_they_consulted() {
    let (mut system, _) = travel(2, &[]);
    explore(&mut system, &Budget::unlimited()).unwrap();
    let rows = [("access", 0, 2), ("blacklisted", 1, 0), ("member", 2, 2), ("member", 3, 0), ("valid", 1, 1)];
    for (name, arity, n) in rows {
        assert_eq!(
            system.n_dependent_situations(name, arity),
            n,
            "{name}/{arity} of {}",
            system.n_situations()
        );
    }
}
