//! States of a picture are grouped by what the world above sees of them. That changes the cost and nothing else.

use crate::support::random;
use masque_bdi::plan::WorldId;
use masque_bdi::symbolic::{Engine, EngineOptions};
use masque_testkit::seeds;
use masque_verdict::Budget;

const SEPARATE: EngineOptions =
    EngineOptions { compares_all: false, keeps_values: false, separates_states: true };

/// Worlds, verdicts, explanations and removed states are the same with and without groups, and those of the reference.
/// `SEEDS=0..10000 cargo test --release -p masque-bdi --test all groups`.
#[test]
fn results_are_the_same_with_and_without_groups() {
    let (mut n_systems, mut n_explained) = (0, 0);
    for seed in seeds("60000..60400") {
        let (text, options) = random::system(seed);
        let read = crate::support::read(&text, &options);
        let Some((model, plan)) = &read.model else { continue };
        let what = format!("seed {seed}, options {options:?}\n{text}");
        let found = crate::support::by_engine(model, plan);
        assert_eq!(found, crate::support::by_reference(model, plan), "{what}");
        let Ok((worlds, properties)) = found else { continue };
        let mut grouped = Engine::new(model, plan, &Budget::default()).unwrap();
        let mut separate = Engine::with_options(model, plan, SEPARATE, &Budget::default()).unwrap();
        for (index, world) in worlds.iter().enumerate() {
            let id = WorldId(index as u32);
            assert_eq!(*world, separate.world_result(id).unwrap(), "{what}");
            assert_eq!(grouped.removals(id), separate.removals(id), "{what}");
            assert_eq!(grouped.fixed_attitudes(id), separate.fixed_attitudes(id), "{what}");
        }
        for (index, property) in properties.iter().enumerate() {
            assert_eq!(*property, separate.decide(index), "{what}");
        }
        let explained = crate::support::explanations(&mut grouped, model);
        assert_eq!(explained, crate::support::explanations(&mut separate, model), "{what}");
        n_systems += 1;
        n_explained += explained.len();
    }
    eprintln!("{n_systems} systems, {n_explained} explanations");
    assert!(n_systems > 250 && n_explained > n_systems / 2);
}

/// `a` rules out places of `b` one by one: any subset of the places may be left, but `b` has few groups of states.
fn places(n: usize) -> String {
    let list = |one: &dyn Fn(usize) -> String| (0..n).map(one).collect::<Vec<_>>().join(", ");
    let beliefs = list(&|place| format!("B(b, at != {place}) := false"));
    let choices: Vec<String> = (0..n).map(|place| format!("{{ B(b, at != {place}) := any }}")).collect();
    format!(
        "agent a is\n  init {beliefs};\n  loop {} endloop\n\
         agent b is\n  var at : 0..{n}, steps : 0..7;\n  init at := any;\n  loop\n    at := any;\n    \
         if steps < 7 then steps := steps + 1 else steps := 0\n  endloop\n\
         property open: B(b, at != 0) -> PB(b, at = 1);\n",
        choices.join(" | ")
    )
}

#[test]
fn grouping_pays_where_arguments_exclude_each_other() {
    let nodes = |options: EngineOptions, n: usize| {
        let (model, plan) = crate::support::model(&places(n), &[]);
        let mut engine = Engine::with_options(&model, &plan, options, &Budget::default()).unwrap();
        let verdict = engine.decide(0).verdict;
        (verdict, engine.size().1)
    };
    for n in [6, 10, 12] {
        let (verdict, grouped) = nodes(EngineOptions::default(), n);
        let (same, separate) = nodes(SEPARATE, n);
        eprintln!("{n} places: {grouped} nodes with groups, {separate} without");
        assert_eq!(verdict, same);
        assert!(n < 12 || grouped * 4 < separate, "{grouped} and {separate} nodes");
    }
}
