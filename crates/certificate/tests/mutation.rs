//! Changed certificates: the checker refuses exactly what the table on explicit sets refuses, and what is accepted
//! is true.

use masque_certificate::Certificate;
use masque_certificate::Failure;
use masque_certificate::format::{Claim, Ref};
use masque_model::semantics::{Truth, holds};
use masque_model::{Property, System};
use masque_proof::to_text;
use masque_testkit::{Deadlocks, GENERATORS, Tally, differential, random_game_model, seeds};

use crate::common::{add_uniform_properties, certificate, check, engines, with_errors};
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

/// As above, with many uniform strategies.
#[test]
fn changed_uniform_strategies() {
    let tally = differential(
        &[random_game_model],
        seeds("0..12"),
        Deadlocks::StutterEvery(3),
        |mut system, seed, tally| {
            add_uniform_properties(&mut system, seed);
            compare(system, seed, tally)
        },
    );
    tally.assert_at_least(&[
        ("exact, with pieces", 60),
        ("refused, with pieces", 60),
        ("still a proof, with pieces", 5),
    ]);
}

/// As above, where dead ends, overflows or both are errors.
#[test]
fn changed_certificates_without_errors() {
    let tally =
        differential(&GENERATORS, seeds("0..8"), Deadlocks::StutterEvery(u64::MAX), |system, seed, tally| {
            match with_errors(system, seed) {
                None | Some((_, true)) => Ok(()),
                Some((system, false)) => compare(system, seed, tally),
            }
        });
    tally.assert_at_least(&[("exact", 30), ("refused", 30)]);
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
            let has_pieces = exact.claims.iter().any(|claim| !claim.pieces.is_empty());
            tally.count("exact");
            if has_pieces {
                tally.count("exact, with pieces");
            }
            for _ in 0..N_CHANGES {
                let changed = change(&exact, &mut random);
                let verdict = settle(&table, property, &exact, &changed)
                    .map_err(|what| format!("{name}, {formula}: {what}\n{}", to_text(&changed)))?;
                tally.count(verdict);
                if has_pieces {
                    tally.count(format!("{verdict}, with pieces"));
                }
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
            let is_true = match holds(table.system, property) {
                Truth::Holds => true,
                Truth::Fails => false,
                // Too many strategies to try: what the table has accepted before.
                _ => exact.holds,
            };
            if is_true == read.holds { Ok("still a proof") } else { Err("accepted, but wrong".to_string()) }
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

/// Changes a piece of a uniform strategy other than in its sets; returns whether there is one.
fn change_piece(claims: &mut [Claim], random: &mut fastrand::Rng) -> bool {
    let pieces: Vec<(usize, usize)> = (claims.iter().enumerate())
        .flat_map(|(claim, content)| (0..content.pieces.len()).map(move |piece| (claim, piece)))
        .collect();
    let Some(&(claim, index)) = random.choice(&pieces) else { return false };
    let piece = &mut claims[claim].pieces[index];
    let choice = random.usize(0..piece.choices.len().max(1));
    let kind = random.u8(0..6);
    match (kind, piece.choices.get_mut(choice)) {
        (0, _) => _ = claims[claim].pieces.remove(index),
        (1, Some(_)) => _ = piece.choices.remove(choice),
        (2, Some((member, ..))) => *member = random.usize(0..3),
        (3, Some((_, action, _))) => *action = random.u32(0..3),
        (4, Some((member, _, states))) => {
            let more = (*member, random.u32(0..3), *states);
            piece.choices.push(more);
        }
        _ => piece.layers.reverse(),
    }
    true
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
    if random.u8(0..4) == 0 && change_piece(&mut changed.claims, random) {
        return changed;
    }
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
