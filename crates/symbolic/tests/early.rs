//! Verdicts reported during exploration, in quick mode: the engine does not count states one by one.

use masque_symbolic::Symbolic;
use masque_testkit::{check_early_verdicts, seeds};
use masque_verdict::Show;

#[test]
fn early_verdicts_are_right() {
    let engine = Symbolic { evidence: Show::All, ..Symbolic::default() };
    let tally = check_early_verdicts(&engine, &[], 0..60);
    tally.assert_at_least(&[("systems", 200), ("early", 500), ("evidence", 100)]);
}

/// For long tests: `SEEDS=FROM..TO cargo test --release at_length`.
#[test]
fn early_verdicts_are_right_at_length() {
    let engine = Symbolic { evidence: Show::All, ..Symbolic::default() };
    check_early_verdicts(&engine, &[], seeds("100000..100003"));
}
