//! The models of [KLQ10 §5] in `models/papers/klq10`: their numbers of states, parts and verdicts, in parts and
//! as a whole.
//!
//! `cargo test --release -p masque-symbolic --test all klq10 -- --ignored --nocapture` prints the diagram steps of
//! the whole and of parts in several orders (docs/parallel.md, "When it pays").

use std::fs;

use masque_model::{Deadlock, System};
use masque_symbolic::{Order, Parallel, Reorder, SplitStrategy, Symbolic};
use masque_testkit::load;
use masque_verdict::{Budget, Encoded, Engine};

/// Returns a model of the paper with a value of its parameter `N`.
fn model(name: &str, n: u32) -> System {
    let path = format!("{}/../../models/papers/klq10/{name}.ispl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    let start = text.find("\nparam N = ").unwrap() + 1;
    let end = start + text[start..].find(';').unwrap();
    let text = format!("{}param N = {n}{}", &text[..start], &text[end..]);
    load(&text, Deadlock::Finite).unwrap()
}

fn figure(encoded: &dyn Encoded, name: &str) -> Option<u64> {
    encoded.stats().figures.into_iter().find(|(figure, _)| figure == name).map(|(_, value)| value)
}

#[rustfmt::skip]
#[test]
fn states_parts_and_verdicts() {
    //     model                   N   states       parts  verdicts
    check("dining_cryptographers", 3,  "128",       4,     "holds");
    check("dining_cryptographers", 10, "45056",     11,    "holds");
    check("dining_cryptographers", 14, "983040",    15,    "holds");
    check("cards",                 4,  "54",        4,     "holds");
    check("cards",                 6,  "1640",      6,     "holds");
    check("nspk",                  2,  "2117",      3,     "fails holds fails holds");
    check("nspk",                  3,  "79895",     4,     "fails holds fails holds fails holds");
    check("muddy_children",        3,  "32",        8,     "holds");
    check("muddy_children",        20, "22020096",  8,     "holds");
}

/// Checks a model as a whole, and with all strategies.
fn check(name: &str, n: u32, states: &str, n_parts: u64, verdicts: &str) {
    let system = model(name, n);
    let strategies = [SplitStrategy::Simple, SplitStrategy::Merge, SplitStrategy::Full, SplitStrategy::Semi];
    let options = strategies.map(|strategy| Some(Parallel::new(strategy, 2)));
    for parallel in [None].into_iter().chain(options) {
        let engine = Symbolic { parallel: parallel.clone(), ..Symbolic::default() };
        let budget = Budget::unlimited();
        let mut encoded = engine.encode(&system, &budget).unwrap();
        let case = format!("{name} {n} {parallel:?}");
        assert_eq!(encoded.facts(&budget).unwrap().states.to_string(), states, "{case}");
        let decide = |p| encoded.decide(p, &budget).verdict.to_string();
        assert_eq!(system.properties.iter().map(decide).collect::<Vec<_>>().join(" "), verdicts, "{case}");
        if let Some(parallel) = parallel {
            let note = format!("split by the disjuncts of InitStates ({n_parts} classes)");
            assert!(encoded.stats().notes.contains(&note), "{case}: {:?}", encoded.stats().notes);
            if matches!(parallel.strategy, SplitStrategy::Merge | SplitStrategy::Full) {
                assert_eq!(figure(&*encoded, "parts"), Some(n_parts), "{case}");
            }
        }
    }
}

/// `SplitStrategy::Auto` splits where diagrams grow in an order that must not be changed, and nowhere else.
#[test]
fn auto_splits_in_a_bad_order() {
    let system = model("muddy_children", 15);
    for (order, reorder, is_split) in
        [(Order::Declared, Reorder::Never, true), (Order::Automatic, Reorder::Auto, false)]
    {
        let parallel = Some(Parallel::new(SplitStrategy::Auto, 2));
        let engine = Symbolic { parallel, order, reorder, ..Symbolic::default() };
        let encoded = engine.encode(&system, &Budget::unlimited()).unwrap();
        let notes = encoded.stats().notes;
        assert_eq!(notes.iter().any(|note| note.starts_with("split by")), is_split, "{notes:?}");
    }
}
