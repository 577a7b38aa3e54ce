//! Certificates of verdicts that are wrong because of a bug in the engine: none is confirmed.
//!
//! Runs with `--features planted-bugs` only: `SEEDS=0..3000 cargo test -p masque-symbolic --features planted-bugs
//! --test all planted`.

use std::fs;
use std::time::{Duration, Instant};

use masque_certificate::{Certificate, Failure, Limits, confirm};
use masque_explicit::Explicit;
use masque_model::semantics::{explore, holds_in};
use masque_model::{Deadlock, Property, System};
use masque_symbolic::Symbolic;
use masque_symbolic::planted::{Bug, lookups, plant};
use masque_testkit::{Deadlocks, Tally, differential, load, random_fixpoint_model, random_model, seeds};
use masque_verdict::{Budget, CertificateRequest, Encoded, Engine, Show, Verdict};

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
    run(|seed| Bug::WrongCache { period: 100 + (seed * 37 % 2000) as u32, offset: 0 });
}

/// Larger models: the file, its parameter, and whether the explicit engine confirms the verdicts.
const LARGE: [(&str, &str, &str, bool); 6] = [
    ("muddy_children", "N = 3", "N = 30", false),
    ("go_back_n", "M = 2", "M = 2", true),
    ("horse_race", "N = 3", "N = 5", true),
    ("dining_cryptographers", "N = 3", "N = 250", false),
    ("trains", "N = 3", "N = 100", false),
    ("go_back_n", "M = 2", "M = 3", true),
];
/// Number of lookups of which one gets a wrong answer.
const RARE: u32 = 1_000_000;
/// Time for the verdicts of a large model, and for each certificate.
const LARGE_TIME: Duration = Duration::from_secs(60);

/// The cache answers wrongly once in a million lookups, each time at other places.
#[test]
fn a_cache_that_is_wrong_once_in_a_million_steps() {
    let mut tally = Tally::default();
    for (name, from, to, is_confirmed) in LARGE {
        let text = fs::read_to_string(format!("../../models/ispl/{name}.ispl")).unwrap();
        let text = text.replace(&format!("param {from};"), &format!("param {to};"));
        assert!(text.contains(to), "{name} has no parameter {from}");
        let system = load(&text, Deadlock::Finite).unwrap();
        let expected = verdicts(&Symbolic { evidence: Show::None, ..Symbolic::default() }, &system);
        if is_confirmed {
            assert_eq!(
                expected,
                verdicts(&Explicit { evidence: Show::None, ..Explicit::default() }, &system)
            );
        }
        for seed in seeds("0..3") {
            let offset = fastrand::Rng::with_seed(seed).u32(0..RARE);
            rarely_wrong(&system, &expected, offset, &mut tally).unwrap();
            let lookups = lookups().saturating_sub(offset.into());
            plant(None);
            tally.add("lookups", lookups as usize);
        }
        println!("{name} {to}: {tally:?}");
    }
    tally.assert_at_least(&[("runs", 6)]);
}

fn verdicts(engine: &dyn Engine, system: &System) -> Vec<Verdict> {
    let mut encoded = engine.encode(system, &Budget::unlimited()).unwrap();
    system.properties.iter().map(|property| encoded.verdict(property, &Budget::unlimited())).collect()
}

fn rarely_wrong(system: &System, expected: &[Verdict], offset: u32, tally: &mut Tally) -> Result<(), String> {
    let limited = || Budget::unlimited().with_deadline(Instant::now() + LARGE_TIME);
    plant(Some(Bug::WrongCache { period: RARE, offset }));
    tally.count("runs");
    let budget = limited();
    let Ok(mut encoded) = (Symbolic { evidence: Show::None, ..Symbolic::default() }).encode(system, &budget)
    else {
        tally.count("not encoded");
        return Ok(());
    };
    let wrong: Vec<(&Property, Verdict)> = (system.properties.iter().zip(expected))
        .map(|(property, expected)| (property, encoded.verdict(property, &budget), expected))
        .filter(|(_, verdict, expected)| verdict != *expected)
        .filter(|(_, verdict, _)| matches!(verdict, Verdict::Holds | Verdict::Fails))
        .map(|(property, verdict, _)| (property, verdict))
        .collect();
    if !wrong.is_empty() {
        tally.count("runs with wrong verdicts");
    }
    let before = tally.get("refused");
    for (property, verdict) in wrong {
        certificate_is_refused(system, &mut *encoded, (property, verdict), &limited(), tally)?;
    }
    if tally.get("refused") > before {
        tally.count("runs with refused certificates");
    }
    Ok(())
}

/// Writes the certificate of a wrong verdict, if the engine can, and checks that it is refused.
fn certificate_is_refused(
    system: &System,
    encoded: &mut dyn Encoded,
    (property, verdict): (&Property, Verdict),
    budget: &Budget,
    tally: &mut Tally,
) -> Result<(), String> {
    tally.count("wrong verdicts");
    let holds = verdict == Verdict::Holds;
    let request = CertificateRequest { property, holds, model: "0", parameters: &[] };
    let text = match encoded.certificate(&request, budget) {
        Ok(text) => text,
        Err(why) => {
            tally.count(format!("not written: {why}"));
            return Ok(());
        }
    };
    let certificate = Certificate::parse(&text).map_err(|mistake| format!("{mistake:?}"))?;
    match confirm(system, (property.formula, property.at), &certificate, Limits::default()) {
        Ok(()) => Err(format!("confirmed: {}", system.formula_text(property.formula))),
        Err(Failure::Refused { .. }) => {
            tally.count("refused");
            Ok(())
        }
        Err(other) => {
            tally.count(format!("not confirmed: {other}"));
            Ok(())
        }
    }
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
        certificate_is_refused(system, &mut *encoded, (property, verdict), &budget, tally)?;
    }
    Ok(())
}
