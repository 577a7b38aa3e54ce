//! Compares the symbolic engine with the reference on random systems of three agents.

use crate::support::{OwnSystem, by_engine, by_reference, confirm, each_own_system, random};
use masque_bdi::model::{Condition2, Model};
use masque_bdi::plan::{Plan, WorldId};
use masque_bdi::reference::Reference;

/// Asserts that in a kept state an explicit attitude is true iff its argument holds in all accessible
/// states, if incoherent states are removed. Returns the number of attitudes and states checked.
fn assert_labels_match_truth(reference: &mut Reference<'_>, model: &Model, plan: &Plan, what: &str) -> usize {
    let mut n_checked = 0;
    for (index, planned) in plan.worlds.iter().enumerate() {
        if planned.is_leaf || model.options.condition2 == Condition2::Infer {
            continue;
        }
        let world = WorldId(index as u32);
        let built = reference.world(world).clone();
        for state in built.states.iter().zip(&built.kept).filter(|(_, kept)| **kept).map(|(state, _)| state) {
            for &var in &model.program(planned.program).vars {
                let Some(attitude) = model.var(var).attitude else { continue };
                let label = reference.label(world, state, var);
                let meaning = reference.holds_in_accessible(world, state, attitude.edge, attitude.arg);
                assert_eq!(label, meaning, "{what}: {} in {state:?}", model.var(var).name);
                n_checked += 1;
            }
        }
    }
    n_checked
}

/// Numbers of cases, so that the test fails if it no longer covers them.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    refused: usize,
    overflows: usize,
    removed: usize,
    pruned: usize,
    inconsistent: usize,
    labels: usize,
    holds: usize,
    fails: usize,
}

fn compare(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let (text, options) = random::system(seed);
        let read = crate::support::read(&text, &options);
        let what = format!("seed {seed}, options {options:?}\n{text}");
        let Some((model, plan)) = &read.model else {
            let is_bound = read.diagnostics.iter().any(|d| d.code == "bdi/nesting-bound");
            assert!(is_bound, "{what}\n{}", read.drawn());
            tally.refused += 1;
            continue;
        };
        let found = by_engine(model, plan);
        assert_eq!(found, by_reference(model, plan), "{what}");
        let Ok((worlds, properties)) = found else {
            tally.overflows += 1;
            continue;
        };
        let mut reference = Reference::new(model, plan).unwrap();
        tally.labels += assert_labels_match_truth(&mut reference, model, plan, &what);
        tally.systems += 1;
        tally.removed += worlds.iter().filter(|w| w.kept.is_zero()).count();
        tally.pruned += worlds.iter().filter(|w| !w.bad.is_zero() && !w.kept.is_zero()).count();
        tally.inconsistent += worlds.iter().filter(|w| !w.inconsistent.is_empty()).count();
        tally.holds += properties.iter().filter(|p| p.verdict.word() == "holds").count();
        tally.fails += properties.iter().filter(|p| p.verdict.word() == "fails").count();
    }
    tally
}

/// Attitudes of agents about themselves: `SEEDS=0..10000 cargo test -p masque-bdi --test all differential::own`.
#[test]
fn own_attitudes_agree_with_the_reference() {
    let (mut n_systems, mut n_knotted, mut n_pruned) = (0, 0, 0);
    each_own_system("0..800", random::self_system, |model, plan, OwnSystem { what, worlds, .. }| {
        let mut reference = Reference::new(model, plan).unwrap();
        assert_labels_match_truth(&mut reference, model, plan, what);
        confirm(model, plan, what);
        n_systems += 1;
        for (index, planned) in plan.worlds.iter().enumerate() {
            if planned.children.values().any(|child| child.index() == index) {
                n_knotted += 1;
                n_pruned += usize::from(!worlds[index].bad.is_zero());
            }
        }
    });
    println!("{n_systems} systems, {n_knotted} worlds with a self-view, {n_pruned} of them pruned");
    let is_default = std::env::var_os("SEEDS").is_none();
    assert!(
        !is_default || n_systems >= 250 && n_knotted >= 400 && n_pruned >= 100,
        "{n_systems} {n_knotted}"
    );
}

#[test]
fn the_engine_agrees_with_the_reference() {
    let tally = compare(0..4000);
    eprintln!("{tally:?}");
    assert!(tally.systems >= 3000, "{tally:?}");
    assert!(tally.overflows >= 20 && tally.removed >= 200 && tally.pruned >= 200, "{tally:?}");
    assert!(tally.inconsistent >= 50 && tally.labels >= 10_000, "{tally:?}");
    assert!(tally.holds >= 2000 && tally.fails >= 2000, "{tally:?}");
}
