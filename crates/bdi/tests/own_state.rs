//! `option self = paper`: own variables are beliefs, and `do` is an intention. [BB04 Fig. 1]

use crate::support::{OwnSystem, by_engine, by_reference, confirm, each_own_system, random};
use masque_bdi::explanation::{Explanation, Shape};
use masque_bdi::model::{Model, Question};
use masque_bdi::outcome::PropertyResult;
use masque_bdi::plan::{Plan, WorldId};
use masque_bdi::reference::Reference;
use masque_bdi::replay::{Flaw, replay};
use masque_bdi::symbolic::{Engine, EngineOptions};
use masque_verdict::Budget;

/// Numbers of cases, so that the test fails if it no longer covers them.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    /// Systems in which a belief or an intention about oneself leads to the world itself.
    own_edges: usize,
    /// Systems in which the option changes the states of a world.
    changed_worlds: usize,
    /// Systems in which the option changes a verdict.
    changed_verdicts: usize,
    explained: usize,
    /// Pairs of different worlds that were compared, and those of which one is a sub-world of the other.
    compared: usize,
    subworlds: usize,
}

/// Compares which worlds are sub-worlds of others.
fn compare_subworlds(model: &Model, plan: &Plan, what: &str, tally: &mut Tally) {
    let options = EngineOptions { compares_all: true, ..EngineOptions::default() };
    let mut engine = Engine::with_options(model, plan, options, &Budget::default()).unwrap();
    let mut reference = Reference::new(model, plan).unwrap();
    let worlds: Vec<WorldId> = (0..plan.worlds.len() as u32)
        .map(WorldId)
        .filter(|world| reference.world(*world).kept.contains(&true))
        .collect();
    for (&v, &w) in worlds.iter().flat_map(|v| worlds.iter().map(move |w| (v, w))).filter(|(v, w)| v != w) {
        let is_subworld = reference.is_subworld(v, w);
        assert_eq!(engine.is_subworld(v, w).unwrap(), is_subworld, "{v:?} {w:?} {what}");
        tally.compared += 1;
        tally.subworlds += usize::from(is_subworld);
    }
}

/// `SEEDS=0..10000 cargo test --release -p masque-bdi --test all own_state`.
#[test]
fn the_engine_agrees_with_the_reference() {
    let mut tally = Tally::default();
    each_own_system("0..600", random::paper_self_system, |model, plan, own| {
        let OwnSystem { text, options, read, what, worlds, properties } = own;
        tally.systems += 1;
        tally.explained += confirm(model, plan, what);
        compare_subworlds(model, plan, what, &mut tally);
        let has_own = (0..plan.worlds.len() as u32).map(WorldId).any(|world| {
            let mut edges = plan.worlds[world.index()].children.keys();
            edges.any(|edge| plan.own_part(model, world, *edge).is_some())
        });
        tally.own_edges += usize::from(has_own);
        let is_noted = read.diagnostics.iter().any(|d| d.code == "bdi/no-self-attitude");
        assert_eq!(is_noted, !has_own, "{what}");
        // The same system without the option.
        let (explicit, plan) = crate::support::model(text, &options[..options.len() - 1]);
        let Ok((other_worlds, other_properties)) = by_engine(&explicit, &plan) else { panic!("{what}") };
        assert!(has_own || (worlds, properties) == (&other_worlds, &other_properties), "{what}");
        let verdicts = |results: &[PropertyResult]| results.iter().map(|p| p.verdict).collect::<Vec<_>>();
        tally.changed_worlds += usize::from(*worlds != other_worlds);
        tally.changed_verdicts += usize::from(verdicts(properties) != verdicts(&other_properties));
    });
    eprintln!("{tally:?}");
    let is_default = std::env::var_os("SEEDS").is_none();
    assert!(!is_default || tally.systems >= 250 && tally.own_edges >= 250, "{tally:?}");
    assert!(tally.changed_verdicts * 4 >= tally.systems, "{tally:?}");
    assert!(tally.changed_worlds * 20 >= tally.systems, "{tally:?}");
    assert!(tally.explained >= tally.systems && tally.subworlds >= tally.systems / 20, "{tally:?}");
}

/// Returns the verdicts of the properties of a file, with the option and without it.
fn verdicts(text: &str) -> Vec<(String, [&'static str; 2])> {
    let [paper, explicit] = ["paper", "explicit"].map(|value| {
        let (model, plan) = crate::support::model(text, &[("self".to_string(), value.to_string())]);
        let found = by_engine(&model, &plan);
        assert_eq!(found, by_reference(&model, &plan), "{text}");
        confirm(&model, &plan, text);
        let (_, properties) = found.unwrap();
        let names = model.properties.iter().map(|property| property.name.clone());
        names.zip(properties.iter().map(|p| p.verdict.word())).collect::<Vec<_>>()
    });
    let both = paper.into_iter().zip(explicit);
    both.map(|((name, paper), (_, explicit))| (name, [paper, explicit])).collect()
}

/// Asserts verdicts with the option and without it.
#[track_caller]
fn check(text: &str, expected: &[(&str, [&str; 2])]) {
    let found = verdicts(text);
    let found: Vec<(&str, [&str; 2])> =
        found.iter().map(|(name, verdicts)| (name.as_str(), *verdicts)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn variables_are_beliefs_and_actions_are_intentions() {
    check(
        "agent a is
           var p, n : 0..3;
           init p := any, n := any;
           loop do work; p := any; do rest; n := any endloop
         property believes: p -> B(a, p);
         property believes_not: !p -> B(a, !p);
         property counts: n = 2 -> B(a, n = 2);
         property right: B(a, p) -> p;
         property intends: do work -> I(a, do work);
         property intends_nothing: !do work & !do rest -> !I(a, !do work);
         property known: I(a, do work) -> I(a, I(a, do work));
         property unknown: !I(a, do work) -> I(a, !I(a, do work));
         property open: !B(a, do work) & !B(a, !do work);
         property future: p -> B(a, EF !p);
         property desires: p -> D(a, p);
         property no_belief: I(a, p) -> false;",
        &[
            ("believes", ["holds", "fails"]),
            ("believes_not", ["holds", "fails"]),
            ("counts", ["holds", "fails"]),
            ("right", ["holds", "holds"]),
            ("intends", ["holds", "fails"]),
            ("intends_nothing", ["holds", "holds"]),
            ("known", ["holds", "holds"]),
            ("unknown", ["fails", "holds"]),
            ("open", ["holds", "holds"]),
            ("future", ["holds", "holds"]),
            ("desires", ["fails", "fails"]),
            ("no_belief", ["holds", "holds"]),
        ],
    );
}

/// `if φ then P` is `B_self φ ⇒ P`: the agent believes what it tests, also about its own attitudes.
#[test]
fn conditions_are_beliefs() {
    check(
        "agent a is
           var r;
           init B(b, q) := false, D(a, r) := false;
           loop B(b, q) := any, D(a, r) := any; if B(b, q) then r := true else r := false endloop
         agent b is init q := any; loop q := any endloop
         property tested in a: B(b, q) -> B(a, B(b, q));
         property not_tested in a: !B(b, q) -> B(a, !B(b, q));
         property desire in a: D(a, r) -> B(a, D(a, r));
         property introspective in a: B(a, r) -> B(a, B(a, r));
         property ignorant in a: !B(a, r) -> B(a, !B(a, r));",
        &[
            ("tested", ["holds", "fails"]),
            ("not_tested", ["holds", "fails"]),
            ("desire", ["holds", "fails"]),
            ("introspective", ["holds", "holds"]),
            ("ignorant", ["holds", "holds"]),
        ],
    );
}

/// An explicit belief about an own variable agrees with the variable, or nothing is accessible.
#[test]
fn explicit_beliefs_agree_with_variables() {
    check(
        "agent a is
           init B(a, p) := false;
           loop p := any, B(a, p) := any endloop
         property closed: p -> B(a, p);
         property right: B(a, p) -> p | B(a, false);
         check introspection B(a) in a;",
        &[("closed", ["holds", "fails"]), ("right", ["holds", "fails"]), ("3", ["holds", "holds"])],
    );
}

/// A view of an agent, and copies by `option nesting`, are no self-views.
#[test]
fn other_pictures_of_an_agent_do_not_change() {
    let text = "agent a is init p := any; loop p := any endloop
         view a in a is var p; init p := any; loop p := any endloop
         property pictured in a: p -> B(a, p);";
    check(text, &[("pictured", ["fails", "fails"])]);
    let text = "agent a is init p := any; loop p := any endloop
         option nesting = 1;
         property pictured in a: p -> B(a, p);";
    check(text, &[("pictured", ["fails", "fails"])]);
}

#[test]
fn a_note_says_that_the_option_changes_nothing() {
    let codes = |text: &str| -> Vec<&'static str> {
        crate::support::read(text, &[]).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    };
    let program = "agent a is init p := any; loop p := any endloop\n";
    assert_eq!(codes(&format!("{program}option self = paper;")), ["bdi/no-self-attitude"]);
    assert_eq!(codes(&format!("{program}option self = explicit;")), [""; 0]);
    assert_eq!(codes(&format!("{program}option self = paper; property q: B(a, p);")), [""; 0]);
    assert_eq!(
        codes(&format!("{program}option self = paper; property q: D(a, p);")),
        ["bdi/no-self-attitude"]
    );
    assert_eq!(codes(&format!("{program}option self = both;")), ["bdi/bad-option"]);
}

/// Large ranges keep few values under this option, too.
#[test]
fn a_large_range_costs_what_its_comparisons_cost() {
    let nodes = |high: u64| {
        let text = format!(
            "agent a is
               var x : 0..{high}, y : 0..{high};
               init x := any;
               loop x := any; y := x endloop
             option self = paper;
             property same: x = y -> B(a, x = y);
             property greater: x > 5 -> B(a, x > 5) & !B(a, x < 3);
             property differ: x != y -> B(a, x != y);"
        );
        let (model, plan) = crate::support::model(&text, &[]);
        assert!(matches!(model.properties[0].question, Question::Formula(_)));
        let mut engine = Engine::new(&model, &plan, &Budget::default()).unwrap();
        (0..3).for_each(|index| assert_eq!(engine.decide(index).verdict.word(), "holds", "{index}"));
        assert!(engine.merges_values());
        engine.size().1
    };
    let (few, many) = (nodes(20), nodes(1_000_000));
    eprintln!("{few} nodes, {many} nodes");
    assert!(many < 4 * few, "{many} nodes instead of {few}");
}

/// Explanations that jump to a state with another own variable or another action are refused.
#[test]
fn wrong_jumps_are_refused() {
    let text = "agent a is init p := any; loop do work; do rest; p := any endloop
        option self = paper;
        property believes: B(a, do work);
        property intends: do work -> I(a, p);";
    let (model, plan) = crate::support::model(text, &[]);
    let mut engine = Engine::new(&model, &plan, &Budget::default()).unwrap();
    let mut after = |index: usize, change: &dyn Fn(&mut Explanation)| {
        let mut whole = engine.explain(index).unwrap().unwrap();
        assert!(matches!(whole.next[0].shape, Shape::Jump { .. }), "{whole:#?}");
        assert_eq!(replay(&model, &plan, index, &whole), Ok(()), "{whole:#?}");
        change(&mut whole.next[0]);
        replay(&model, &plan, index, &whole).map_err(|refusal| refusal.flaw)
    };
    let change_variable = |jump: &mut Explanation| jump.states.iter_mut().for_each(|s| s.values[0] ^= 1);
    assert_eq!(after(0, &change_variable), Err(Flaw::Inaccessible));
    assert_eq!(after(1, &|jump| _ = jump.states.pop()), Err(Flaw::Inaccessible));
}
