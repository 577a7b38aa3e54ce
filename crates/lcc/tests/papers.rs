//! The models of `models/papers/orw06`: sizes, verdicts and diagnostics.
//! `masque test models/papers` compares them with the comments in the models.

mod support;

use masque_lcc::{OpenedInstance, explore};
use masque_mu::{Space, explain};
use masque_verdict::{Budget, Verdict};

/// Name, states, transitions, and the properties that hold and that fail.
type Claims = (&'static str, u64, u64, &'static [&'static str], &'static [&'static str]);

#[rustfmt::skip]
const CLAIMS: [Claims; 8] = [
    ("figure11",          4, 5, &["first_step", "then_an_answer", "retry_or_quit"], &[]),
    ("figure6",           19, 23, &["finishes", "disjunction"], &[]),
    ("figure7_completed", 27, 28, &["property1_printed", "property1", "property2"], &["deadlock_free"]),
    ("figure7_stranger",  9, 8, &["property1_printed"], &["property1", "property2", "deadlock_free"]),
    ("figure9_guards",    3, 3, &["two_steps", "one_step"], &["not_shown"]),
    ("figure9_tau",       3, 2, &["exchange", "only_tau"], &[]),
    ("table1",            8, 12, &["member_queries", "x509", "another_encryption"], &["stranger_queries", "another_certificate", "customer_pays"]),
    ("table1_repaired",   4, 4, &["openpgp", "customer_pays"], &["another_encryption", "stranger_pays"]),
];

#[test]
fn models_of_the_paper_have_its_verdicts() {
    for (name, states, transitions, hold, fail) in CLAIMS {
        let OpenedInstance { system, properties, diagnostics, .. } =
            support::open_model(&format!("../papers/orw06/{name}.lcc"));
        let mut system = system.unwrap_or_else(|| panic!("{name}: {diagnostics:?}"));
        let counts = explore(&mut system, &Budget::unlimited()).unwrap();
        assert_eq!((counts.states, counts.transitions), (states, transitions), "{name}");
        let mut n_verdicts = 0;
        for property in &properties {
            let answer = explain(&mut Space::new(&mut system), &property.formula, &Budget::unlimited());
            let title = property.source.name.text.as_str();
            let expected = if hold.contains(&title) { Verdict::Holds } else { Verdict::Fails };
            assert_eq!(answer.verdict, expected, "{name}: {title}");
            n_verdicts += usize::from(hold.contains(&title) || fail.contains(&title));
        }
        assert_eq!((n_verdicts, properties.len()), (hold.len() + fail.len(), n_verdicts), "{name}");
    }
}

/// Figure 7 omits roles, and one of its brackets is misplaced.
#[test]
fn the_figure_as_printed_is_incomplete() {
    let opened = support::open_model("../papers/orw06/figure7.lcc");
    assert!(opened.system.is_none());
    let codes: Vec<&str> = opened.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert!(codes.contains(&"lcc/no-clause") && codes.contains(&"lcc/mixed-or"), "{codes:?}");
}
