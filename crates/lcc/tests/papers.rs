//! The sizes of models of `models/papers/orw06` for which the paper gives none.
//!
//! `masque test models/papers` compares everything else, verdicts, sizes and diagnostics, with the comments in the
//! models.

use masque_lcc::explore;
use masque_verdict::Budget;

#[test]
fn sizes_of_models_of_the_paper() {
    for (name, states, transitions) in [
        ("figure6", 19, 23),
        ("figure7_completed", 27, 28),
        ("figure7_stranger", 9, 8),
        ("table1", 8, 12),
        ("table1_repaired", 4, 4),
    ] {
        let opened = crate::support::open_model(&format!("../papers/orw06/{name}.lcc"));
        let mut system = opened.system.unwrap_or_else(|| panic!("{name}: {:?}", opened.diagnostics));
        let counts = explore(&mut system, &Budget::unlimited()).unwrap();
        assert_eq!((counts.states, counts.transitions), (states, transitions), "{name}");
    }
}
