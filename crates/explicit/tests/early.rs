//! Verdicts reported during exploration, under limits that stop it early.

use masque_explicit::Explicit;
use masque_testkit::{check_early_verdicts, seeds};
use masque_verdict::Show;

const ENGINE: Explicit = Explicit { evidence: Show::All, jobs: None };
const LIMITS: [u64; 6] = [1, 2, 4, 8, 16, 64];

#[test]
fn early_verdicts_are_right() {
    let tally = check_early_verdicts(&ENGINE, &LIMITS, 0..350);
    tally.assert_at_least(&[("systems", 500), ("early", 20_000), ("evidence", 10_000)]);
}

/// For long tests: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn early_verdicts_are_right_at_length() {
    check_early_verdicts(&ENGINE, &LIMITS, seeds("100000..100010"));
}
