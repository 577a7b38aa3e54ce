//! All labels of the engine against the truth definition, for several layouts and sizes of tables.

use std::rc::Rc;

use masque_model::semantics::{explore as explore_slowly, truth_set};
use masque_verdict::Budget;

use crate::atoms::Atoms;
use crate::fragment;
use crate::jobs::Jobs;
use crate::label::{Compiled, Labeller};
use crate::labelling::Labelling;
use crate::steps::{Steps, Tuning};
use crate::tests::{explore_all, load};

/// Words of few bits make states of several words; with 0 table bits there are no lookup tables.
const TUNINGS: [Tuning; 4] = [
    Tuning { word_bits: 64, table_bits: 10, slow_table_bits: 32 },
    Tuning { word_bits: 64, table_bits: 0, slow_table_bits: 0 },
    Tuning { word_bits: 8, table_bits: 0, slow_table_bits: 0 },
    Tuning { word_bits: 3, table_bits: 6, slow_table_bits: 12 },
];

#[test]
fn labelled_sets_are_the_truth_sets() {
    let budget = Budget::unlimited();
    let mut n_sets = 0;
    for seed in 10_000..10_300 {
        let text = masque_testkit::random_model(seed);
        let system = load(&text);
        let Some(structure) = explore_slowly(&system, 400) else { continue };
        let is_path = system.formulas.path_formulas();
        for tuning in TUNINGS {
            let steps = Rc::new(Steps::new(&system, tuning));
            let with_graph = seed % 2 == 0 || fragment::needs_transitions(&system);
            let space = explore_all(&system, &steps, with_graph, &Jobs::new(None), &budget).unwrap();
            assert_eq!(space.n_states(), structure.n_states(), "seed {seed}, {tuning:?}");
            let atoms = Rc::new(Atoms::new(&system, &steps.layout));
            let mut labeller = Labeller::new(&system, Compiled { steps, atoms }, space, Jobs::new(None));
            for formula in system.formulas.ids().filter(|f| !is_path[f.index()]) {
                let expected = truth_set(&structure, &system, formula);
                let found = labeller.truth(formula, &budget).ok().map(|set| {
                    let mut truth = vec![false; structure.n_states()];
                    for index in set.iter() {
                        let state = labeller.steps.layout.unpack(&system, labeller.space.store.row(index));
                        truth[structure.index_of(&state).unwrap()] = true;
                    }
                    truth
                });
                assert_eq!(found, expected, "seed {seed}, {tuning:?}: {}", system.formula_text(formula));
                n_sets += 1;
            }
        }
    }
    assert!(n_sets > 10_000, "{n_sets}");
}
