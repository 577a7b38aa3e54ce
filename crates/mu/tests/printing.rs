//! Any formula, printed and parsed again, gives the same tree.

use crate::support::trees::Maker;
use fastrand::Rng;
use masque_mu::parse_formula;
use masque_testkit::{seeds, structure};
use masque_text::Sources;

/// 100 formulas per seed: `SEEDS=0..1000 cargo test --release -p masque-mu --test all printing`.
#[test]
fn random_trees_read_back() {
    for seed in seeds("0..20") {
        let mut maker = Maker { random: Rng::with_seed(seed) };
        for _ in 0..100 {
            let depth = maker.random.u32(1..6);
            let phi = maker.phi(depth);
            let printed = phi.to_string();
            let mut sources = Sources::default();
            let file = sources.add("formula", printed.as_str()).unwrap();
            let (again, diagnostics) = parse_formula(&sources, sources.span(file));
            assert!(diagnostics.is_empty(), "{printed}: {diagnostics:?}");
            assert_eq!(structure(&again.unwrap()), structure(&phi), "{printed}");
        }
    }
}
