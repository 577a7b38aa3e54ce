//! Changed certificates: the checker refuses exactly what the table on explicit sets refuses, and what is accepted
//! is true.

use masque_certificate::Certificate;
use masque_certificate::Failure;
use masque_certificate::format::{Claim, Ref};
use masque_model::semantics::{Truth, holds};
use masque_model::{Property, System};
use masque_proof::to_text;
use masque_testkit::{Deadlocks, GENERATORS, Tally, differential, seeds};

use crate::common::{certificate, check, engines};
use crate::explicit_table::{Sets, Table, proves};

/// Maximum number of valuations of a system, because the explicit table is slow.
const MAX_STATES: usize = 150;
/// Number of changes per certificate.
const N_CHANGES: u32 = 3;

#[test]
fn changed_certificates_are_refused_or_still_proofs() {
    let tally = differential(&GENERATORS, seeds("0..60"), Deadlocks::StutterEvery(3), compare);
    tally.assert_at_least(&[("exact", 1500), ("refused", 1500), ("still a proof", 150)]);
}

fn compare(system: System, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let Some(table) = Table::new(&system, MAX_STATES) else { return Ok(()) };
    let mut random = fastrand::Rng::with_seed(seed);
    for (name, mut engine) in engines(&system)? {
        for property in &system.properties {
            let Some((_, Ok(text))) = certificate(&mut *engine, property) else { continue };
            let exact = Certificate::parse(&text).map_err(|mistake| format!("{mistake:?}"))?;
            let formula = system.formula_text(property.formula);
            proves(&table, &exact, (property.formula, property.at))
                .map_err(|row| format!("{name}, {formula}: the explicit table refuses {row}\n{text}"))?;
            tally.count("exact");
            for _ in 0..N_CHANGES {
                let changed = change(&exact, &mut random);
                let verdict = settle(&table, property, &exact, &changed)
                    .map_err(|what| format!("{name}, {formula}: {what}\n{}", to_text(&changed)))?;
                tally.count(verdict);
            }
        }
    }
    Ok(())
}

/// Compares the checker with the explicit table on a changed certificate, and both with the truth.
fn settle(
    table: &Table<'_>,
    property: &Property,
    exact: &Certificate,
    changed: &Certificate,
) -> Result<&'static str, String> {
    let Ok(read) = Certificate::parse(&to_text(changed)) else { return Ok("no certificate any more") };
    if meaning(table, exact) == meaning(table, &read) {
        return Ok("same meaning");
    }
    let expected = proves(table, &read, (property.formula, property.at));
    match (check(table.system, property, &to_text(&read)), expected) {
        (Ok(()), Ok(())) => {
            let is_true = holds(table.system, property);
            let claimed = if read.holds { Truth::Holds } else { Truth::Fails };
            if is_true == claimed { Ok("still a proof") } else { Err(format!("accepted, but {is_true:?}")) }
        }
        (Err(Failure::Refused { .. } | Failure::Input(_)), Err(_)) => Ok("refused"),
        (found, expected) => Err(format!("checker: {found:?}, explicit table: {expected:?}")),
    }
}

/// All sets of a certificate, in order.
fn meaning(table: &Table<'_>, certificate: &Certificate) -> (Vec<Vec<bool>>, String) {
    let sets = Sets::new(table, certificate);
    let mut refs: Vec<Ref> = certificate.inv.into_iter().chain(certificate.reached.clone()).collect();
    let mut shape = format!("{:?} {:?}", certificate.root, certificate.holds);
    for claim in certificate.claims.iter().chain(&certificate.fair) {
        let mut claim = claim.clone();
        refs.extend(refs_of(&mut claim).into_iter().map(|set| *set));
        refs_of(&mut claim).into_iter().for_each(|set| *set = Ref::ALL);
        shape += &format!("{claim:?}");
    }
    (refs.into_iter().map(|set| sets.get(set)).collect(), shape)
}

fn refs_of(claim: &mut Claim) -> Vec<&mut Ref> {
    let Claim { set, layers, recur, stages, pieces, .. } = claim;
    let mut refs: Vec<&mut Ref> = set.iter_mut().chain(layers).chain(recur.iter_mut().flatten()).collect();
    refs.extend(stages.iter_mut().flat_map(|(_, p, v)| [p, v]));
    for piece in pieces {
        refs.extend(piece.set.iter_mut().chain(&mut piece.layers).chain(&mut piece.part));
        refs.extend(piece.choices.iter_mut().map(|(.., states)| states));
    }
    refs
}

/// Changes one node, edge, layer, set, claim or the verdict.
fn change(exact: &Certificate, random: &mut fastrand::Rng) -> Certificate {
    let mut changed = exact.clone();
    let n_nodes = changed.nodes.len();
    let other_ref = |random: &mut fastrand::Rng, old: Ref, n: usize| match random.u8(0..4) {
        0 => old.complement(),
        1 => Ref(random.u32(0..2)),
        _ => Ref(random.u32(0..2 * n as u32 + 2)),
    };
    let kind = random.u8(0..10);
    if kind < 3 && n_nodes > 0 {
        let index = random.usize(0..n_nodes);
        let mut node = changed.nodes[index];
        match kind {
            0 => node.low = other_ref(random, node.low, index),
            1 => node.high = other_ref(random, node.high, index),
            _ => (node.low, node.high) = (node.high, node.low),
        }
        changed.nodes[index] = node;
        return changed;
    }
    match kind {
        3 => changed.inv = changed.inv.map(|inv| other_ref(random, inv, n_nodes)),
        4 if !changed.reached.is_empty() => {
            let index = random.usize(0..changed.reached.len());
            match random.bool() {
                true => _ = changed.reached.remove(index),
                false => changed.reached[index] = other_ref(random, changed.reached[index], n_nodes),
            }
        }
        5 => changed.holds = !changed.holds,
        6 if !changed.claims.is_empty() => {
            // A layer or stage is lost.
            let index = random.usize(0..changed.claims.len());
            let claim = &mut changed.claims[index];
            match random.u8(0..4) {
                0 => _ = claim.layers.pop(),
                1 => _ = claim.stages.pop(),
                2 => _ = claim.recur.pop(),
                _ if !claim.layers.is_empty() => claim.layers.reverse(),
                _ => _ = claim.of.pop(),
            }
        }
        _ => {
            let claims = changed.claims.iter_mut().chain(&mut changed.fair);
            let mut refs: Vec<&mut Ref> = claims.flat_map(refs_of).collect();
            if !refs.is_empty() {
                let index = random.usize(0..refs.len());
                *refs[index] = other_ref(random, *refs[index], n_nodes);
            }
        }
    }
    changed
}
