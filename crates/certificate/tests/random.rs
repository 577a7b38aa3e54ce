//! Every verdict on random systems has a certificate that is confirmed, and no certificate proves the opposite.

use masque_certificate::{Certificate, Failure};
use masque_model::System;
use masque_proof::to_text;
use masque_testkit::{Deadlocks, GENERATORS, Tally, differential, random_game_model, random_model, seeds};
use masque_verdict::NotCertified;

use crate::common::{add_uniform_properties, certificate, check, engines, with_errors};

#[test]
fn verdicts_of_both_engines_are_confirmed() {
    let tally = differential(&GENERATORS, seeds("0..60"), Deadlocks::StutterEvery(3), confirmed);
    tally.assert_at_least(&[("confirmed", 1500), ("confirmed holds", 500), ("confirmed fails", 500)]);
}

#[test]
fn uniform_strategies_are_confirmed() {
    let generators = [random_game_model, random_model];
    let tally =
        differential(&generators, seeds("0..40"), Deadlocks::StutterEvery(3), |mut system, seed, tally| {
            add_uniform_properties(&mut system, seed);
            confirmed(system, seed, tally)
        });
    tally.assert_at_least(&[("with uniform strategies", 200), ("with several pieces", 5)]);
}

#[test]
fn dead_ends_and_overflows_that_are_errors_are_refused() {
    let tally = differential(
        &GENERATORS,
        seeds("0..40"),
        Deadlocks::StutterEvery(u64::MAX),
        |system, seed, tally| {
            let Some((system, is_violated)) = with_errors(system, seed) else { return Ok(()) };
            if !is_violated {
                return confirmed(system, seed, tally);
            }
            for (name, mut engine) in engines(&system)? {
                for property in &system.properties {
                    let Some((_, Ok(text))) = certificate(&mut *engine, property) else { continue };
                    match check(&system, property, &text) {
                        Err(Failure::Refused { condition, .. }) if condition.starts_with("--") => {
                            tally.count(condition);
                        }
                        other => return Err(format!("{name}: an error is accepted: {other:?}\n{text}")),
                    }
                }
            }
            Ok(())
        },
    );
    tally.assert_at_least(&[
        ("confirmed", 100),
        ("--deadlock error: Inv has no dead end", 100),
        ("--overflow error: Inv has no overflowing step", 20),
    ]);
}

fn confirmed(system: System, _: u64, tally: &mut Tally) -> Result<(), String> {
    for (name, mut engine) in engines(&system)? {
        for property in &system.properties {
            let Some((holds, written)) = certificate(&mut *engine, property) else { continue };
            let formula = system.formula_text(property.formula);
            let text = match written {
                Ok(text) => text,
                Err(NotCertified::Uncovered(what)) => {
                    tally.count(format!("not covered: {what}"));
                    continue;
                }
                Err(why) => return Err(format!("{name}, {formula}: {why}")),
            };
            check(&system, property, &text)
                .map_err(|failure| format!("{name}, {formula}: {failure}\n{text}"))?;
            tally.count("confirmed");
            tally.count(if holds { "confirmed holds" } else { "confirmed fails" });
            let read = Certificate::parse(&text).map_err(|mistake| format!("{mistake:?}"))?;
            let n_pieces = read.claims.iter().map(|claim| claim.pieces.len()).max().unwrap_or(0);
            if n_pieces > 0 {
                tally.count("with uniform strategies");
                tally.count(format!("with uniform strategies, {name}"));
            }
            if n_pieces > 1 {
                tally.count("with several pieces");
            }
            if to_text(&read) != text {
                return Err(format!("{name}, {formula}: reads back as another text"));
            }
            let relabelled = to_text(&Certificate { holds: !holds, ..read });
            match check(&system, property, &relabelled) {
                Err(Failure::Refused { .. }) => tally.count("relabelled"),
                other => return Err(format!("{name}, {formula}: relabelled gives {other:?}\n{relabelled}")),
            }
        }
    }
    Ok(())
}

/// The counter takes 51 values, but that 5 is reachable is enough to show what the observer does not know.
#[test]
fn layers_of_reachable_states_end_where_no_claim_needs_more() {
    let text = "
        Agent Environment Vars: n : 0..50; end Vars Actions = {a}; Protocol: Other : {a}; end Protocol
          Evolution: n = n + 1 if n < 50; end Evolution end Agent
        Agent Observer Vars: x : boolean; end Vars Actions = {a}; Protocol: Other : {a}; end Protocol
          Evolution: x = x if x; end Evolution end Agent
        Evaluation late if Environment.n >= 5; end Evaluation
        InitStates Environment.n = 0 and Observer.x = false; end InitStates
        Formulae AG !K(Observer, !late); AG K(Observer, Environment.n < 60); EF late; end Formulae";
    let system = masque_testkit::system(text);
    for (name, mut engine) in engines(&system).unwrap() {
        let layers = system.properties.iter().map(|property| {
            let (holds, text) = certificate(&mut *engine, property).unwrap();
            let text = text.unwrap();
            assert_eq!((holds, check(&system, property, &text)), (true, Ok(())), "{name}");
            Certificate::parse(&text).unwrap().reached.len()
        });
        assert_eq!(layers.collect::<Vec<_>>(), [6, 0, 0], "{name}");
    }
}
