//! Checks a small model again and again in parts, with all strategies, numbers of workers and parts,
//! on stores of their own and on shared ones: no thread waits forever, and all verdicts are the same.
//!
//! ```text
//! cargo run --release -p masque-symbolic --example symbolic_stress -- 10000
//! ```

use std::process::ExitCode;

use masque_model::{Deadlock, System};
use masque_symbolic::{Parallel, SplitStrategy, Symbolic};
use masque_testkit::load;
use masque_verdict::{Budget, Engine, Facts, Outcome, Show, Stop};

const MODEL: &str = include_str!("../../../models/ispl/dining_cryptographers.ispl");
const STRATEGIES: [SplitStrategy; 4] =
    [SplitStrategy::Simple, SplitStrategy::Merge, SplitStrategy::Full, SplitStrategy::Semi];

fn main() -> ExitCode {
    let n_runs = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let Some(system) = load(MODEL, Deadlock::Finite) else { return ExitCode::FAILURE };
    let sequential = Symbolic { evidence: Show::All, ..Symbolic::default() };
    let expected = answers(&sequential, &system);
    for run in 0..n_runs {
        let mut parallel = Parallel::new(STRATEGIES[run % 4], 2 + run % 3);
        parallel.parts = Some(2 + run % 7);
        parallel.shared = run % 8 >= 4;
        let engine = Symbolic { parallel: Some(parallel), ..sequential.clone() };
        if answers(&engine, &system) != expected {
            eprintln!("run {run} differs: {engine:?}");
            return ExitCode::FAILURE;
        }
        if (run + 1) % 1_000 == 0 {
            println!("{} runs", run + 1);
        }
    }
    ExitCode::SUCCESS
}

fn answers(engine: &Symbolic, system: &System) -> Result<(Facts, Vec<Outcome>), Stop> {
    let budget = Budget::unlimited();
    let mut encoded = engine.encode(system, &budget)?;
    let facts = encoded.facts(&budget)?;
    Ok((facts, system.properties.iter().map(|property| encoded.decide(property, &budget)).collect()))
}
