//! Every verdict on random systems has a certificate that is confirmed, and no certificate proves the opposite.

use masque_certificate::{Certificate, Failure};
use masque_model::System;
use masque_proof::to_text;
use masque_testkit::{Deadlocks, GENERATORS, Tally, differential, seeds};
use masque_verdict::NotCertified;

use crate::common::{certificate, check, engines};

#[test]
fn verdicts_of_both_engines_are_confirmed() {
    let tally = differential(&GENERATORS, seeds("0..60"), Deadlocks::StutterEvery(3), confirmed);
    tally.assert_at_least(&[("confirmed", 1500), ("confirmed holds", 500), ("confirmed fails", 500)]);
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
