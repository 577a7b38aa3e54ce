//! Certificates of verdicts that are wrong because of a bug in the engine: none is confirmed.
//!
//! Runs with `--features planted-bugs` only: `SEEDS=0..3000 cargo test -p masque-symbolic --features planted-bugs
//! --test all planted`.

use std::time::{Duration, Instant};

use masque_certificate::{Certificate, Limits, confirm};
use masque_model::System;
use masque_model::semantics::{explore, holds_in};
use masque_symbolic::Symbolic;
use masque_symbolic::planted::{Bug, plant};
use masque_testkit::{Deadlocks, Tally, differential, random_fixpoint_model, random_model, seeds};
use masque_verdict::{Budget, CertificateRequest, Engine, Show, Verdict};

/// Maximum number of states of a system, because the reference is slow.
const MAX_STATES: usize = 400;

#[test]
fn a_forgotten_successor() {
    run(|_| Bug::ForgottenSuccessor);
}

#[test]
fn a_hidden_bit_that_is_kept() {
    run(|_| Bug::KeptHiddenBit);
}

#[test]
fn a_cache_that_is_sometimes_wrong() {
    run(|seed| Bug::WrongCache(100 + (seed * 37 % 2000) as u32));
}

fn run(bug: fn(u64) -> Bug) {
    let generators = [random_model, random_fixpoint_model];
    let tally =
        differential(&generators, seeds("0..150"), Deadlocks::StutterEvery(3), |system, seed, tally| {
            let found = refused(&system, bug(seed), tally);
            plant(None);
            found
        });
    tally.assert_at_least(&[("wrong verdicts", 10)]);
}

fn refused(system: &System, bug: Bug, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    // With a wrong cache, a fixpoint may never be reached.
    let budget = Budget::unlimited().with_deadline(Instant::now() + Duration::from_secs(2));
    plant(Some(bug));
    let engine = Symbolic { evidence: Show::None, ..Symbolic::default() };
    let Ok(mut encoded) = engine.encode(system, &budget) else {
        tally.count("not encoded");
        return Ok(());
    };
    for property in &system.properties {
        let verdict = encoded.verdict(property, &budget);
        let expected = Verdict::from(holds_in(&structure, system, property));
        if verdict == expected || !matches!(verdict, Verdict::Holds | Verdict::Fails) {
            continue;
        }
        tally.count("wrong verdicts");
        let holds = verdict == Verdict::Holds;
        let request = CertificateRequest { property, holds, model: "0", parameters: &[] };
        match encoded.certificate(&request, &budget) {
            Err(why) => tally.count(format!("not written: {why}")),
            Ok(text) => {
                let certificate = Certificate::parse(&text).map_err(|mistake| format!("{mistake:?}"))?;
                match confirm(system, (property.formula, property.at), &certificate, Limits::default()) {
                    Ok(()) => return Err(format!("confirmed: {}", system.formula_text(property.formula))),
                    Err(_) => tally.count("refused"),
                }
            }
        }
    }
    Ok(())
}
