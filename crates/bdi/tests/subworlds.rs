//! Sub-worlds: the engine against the transcription of Definition 2 on random systems, and cases decided by hand.

use crate::support::random;
use fastrand::Rng;
use masque_bdi::explanation::Difference;
use masque_bdi::model::{Model, Question};
use masque_bdi::plan::{Plan, WorldId};
use masque_bdi::reference::Reference;
use masque_bdi::replay::replay;
use masque_bdi::run;
use masque_bdi::symbolic::{Engine, EngineOptions};
use masque_testkit::seeds;
use masque_verdict::{Budget, Show};

/// Returns a random system with a view that differs little from the program of its agent, and questions about
/// sub-worlds.
fn system(seed: u64) -> (String, Vec<(String, String)>) {
    let (mut text, options) = random::system(seed);
    let mut random = Rng::with_seed(seed ^ 0x5eed);
    text.truncate(text.find("property ").unwrap());
    if !text.contains("view ") && random.bool() {
        let (pictured, observer) = if random.bool() { ("b", "a") } else { ("c", "a") };
        let from = text.find(&format!("agent {pictured} is\n")).unwrap();
        let body = text[from..].split_once('\n').unwrap().1;
        let body = body.split("agent ").next().unwrap().to_string();
        let body = match random.u32(..6) {
            0 => body.replacen("x := any", "x := true", 1),
            1 => body.replacen("x := true", "x := any", 1),
            2 => body.replacen("skip", "x := true", 1),
            3 => body.replacen("var x", "var more, x", 1),
            4 => body.replacen("0..2", "0..3", 1),
            _ => body,
        };
        text += &format!("view {pictured} in {observer} is\n{body}");
    }
    let worlds = ["a", "b", "c", "a.B(b)", "a.D(b)", "a.B(c)", "b.B(c)", "top"];
    let mut pick = || worlds[random.usize(..worlds.len())];
    for index in 0..4 {
        text += &format!("property s{index}: subworld({}, {});\n", pick(), pick());
    }
    text += &format!("check subworld {} in {};\n", pick(), pick());
    (text, options)
}

#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    holds: usize,
    fails: usize,
    distinct_holds: usize,
    differences: [usize; 5],
    listed: usize,
}

/// Compares the list of all pairs of worlds.
fn compare_all(model: &Model, plan: &Plan, reference: &mut Reference<'_>, what: &str) -> usize {
    let options = EngineOptions { compares_all: true, ..EngineOptions::default() };
    let mut engine = Engine::with_options(model, plan, options, &Budget::default()).unwrap();
    let worlds: Vec<WorldId> = (0..plan.worlds.len() as u32).map(WorldId).collect();
    let has_states = |world: &&WorldId| reference.world(**world).kept.contains(&true);
    let worlds: Vec<WorldId> = worlds.iter().filter(has_states).copied().collect();
    let mut n = 0;
    for (&v, &w) in worlds.iter().flat_map(|v| worlds.iter().map(move |w| (v, w))) {
        let is_subworld = reference.is_subworld(v, w);
        assert_eq!(engine.is_subworld(v, w).unwrap(), is_subworld, "{v:?} {w:?} {what}");
        n += usize::from(is_subworld && v != w);
    }
    n
}

/// `SEEDS=0..10000 cargo test --release -p masque-bdi --test all subworlds`.
#[test]
fn the_engine_agrees_with_the_definition() {
    let mut tally = Tally::default();
    for seed in seeds("0..400") {
        let (text, options) = system(seed);
        let read = crate::support::read(&text, &options);
        let Some((model, plan)) = &read.model else {
            let is_bound = read.diagnostics.iter().any(|d| d.code == "bdi/nesting-bound");
            assert!(is_bound, "seed {seed}\n{text}\n{}", read.drawn());
            continue;
        };
        let what = format!("seed {seed}, options {options:?}\n{text}");
        let found = crate::support::by_engine(model, plan);
        assert_eq!(found, crate::support::by_reference(model, plan), "{what}");
        let Ok((_, properties)) = found else { continue };
        let mut reference = Reference::new(model, plan).unwrap();
        tally.listed += compare_all(model, plan, &mut reference, &what);
        tally.systems += 1;
        let mut engine = Engine::new(model, plan, &Budget::default()).unwrap();
        for (index, property) in properties.iter().enumerate() {
            let outer = plan.outer_worlds[index].unwrap();
            match property.verdict.word() {
                "holds" => {
                    tally.holds += 1;
                    tally.distinct_holds += usize::from(outer != plan.properties[index]);
                }
                "fails" => {
                    tally.fails += 1;
                    let explanation = engine.explain(index).unwrap().unwrap();
                    assert_eq!(replay(model, plan, index, &explanation), Ok(()), "{explanation:#?}\n{what}");
                    let kind = match explanation.difference.unwrap() {
                        Difference::State => 0,
                        Difference::Initial => 1,
                        Difference::Label(_) => 2,
                        Difference::Step => 3,
                        Difference::Accessible { .. } => 4,
                    };
                    tally.differences[kind] += 1;
                }
                _ => {}
            }
        }
    }
    eprintln!("{tally:?}");
    assert!(tally.systems >= 300 && tally.holds >= 200 && tally.fails >= 200, "{tally:?}");
    assert!(tally.distinct_holds >= 5 && tally.listed >= 20, "{tally:?}");
    let [states, _, _, steps, access] = tally.differences;
    assert!(states >= 50 && steps >= 5 && access >= 5, "{tally:?}");
}

/// Returns verdicts and differences of the properties of a file, in order.
fn found(text: &str) -> String {
    let (model, plan) = crate::support::model(text, &[]);
    let run = run(&model, &plan, Show::Failed, &Budget::default(), &mut |_, _| {});
    let one = |(index, property): (usize, &masque_bdi::outcome::PropertyResult)| {
        assert!(property.withheld.is_none(), "{:?}", property.withheld);
        let difference = property.evidence.as_ref().and_then(|evidence| evidence.difference);
        match difference {
            Some(difference) => format!("{}: {}", property.verdict, model.difference_text(index, difference)),
            None => property.verdict.to_string(),
        }
    };
    run.properties.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
}

const PICTURES: &str = "
    agent a is loop skip endloop
    agent b is var p, q; init p := any; loop p := any endloop
    view B(b) in a is var p, q; init p := true; loop skip endloop
    view D(b) in a is var p; init p := any; loop { p := any } | skip endloop
    view I(b) in a is var p, q; init p := any; p := !p; loop p := any endloop
    ";

#[test]
fn fewer_paths() {
    let text = format!(
        "{PICTURES}
        property fewer: subworld(a.B(b), b);
        property more: subworld(b, a.B(b));
        property lacks_q: subworld(a.D(b), b);
        check subworld b in a.D(b);
        property start: subworld(a.I(b), b);
        property itself: subworld(top, a);"
    );
    assert_eq!(found(&text), "holds\nfails: a.B(b) does not have the last state\nholds\nholds\nholds\nholds");
}

#[test]
fn steps_initial_states_and_accessible_states() {
    let text = "
        agent a is loop skip endloop
        agent b is var p; init p := any; loop p := any endloop
        view B(b) in a is var p; init p := false; loop p := any endloop
        view D(b) in a is var p; init p := any; bdi B(c, x); loop p := any endloop
        agent c is var x; init x := any; loop x := any endloop
        property smaller: subworld(a.B(b), b);
        property start: subworld(b, a.B(b));
        property steps: subworld(b, a.I(b));
        property linked: subworld(a.D(b), b);
        property not_linked: subworld(b, a.D(b));
        view I(b) in a is var p; init p := any; loop p := !p endloop";
    let text = text.replace("init p := any; bdi B(c, x);", "bdi B(c, x); init p := any;");
    assert_eq!(
        found(&text),
        "holds\n\
         fails: in a.B(b) this state is not initial\n\
         fails: a.I(b) does not have the last step\n\
         fails: B(c) leads to a state that is not accessible in b\n\
         fails: B(c) leads in a.D(b) to a state that is not accessible here"
    );
}

/// A variable of this name is still a variable.
#[test]
fn a_variable_may_have_this_name() {
    let text = "agent a is init subworld(a, b) := true; loop skip endloop agent b is loop skip endloop
        property variable: subworld(a, b);
        property both in a: subworld(a, b) & true;";
    let (model, _) = crate::support::model(text, &[]);
    assert!(model.properties.iter().all(|property| matches!(property.question, Question::Formula(_))));
}

#[test]
fn questions_about_two_worlds_have_no_world_of_their_own() {
    for heading in ["s initially", "s in a", "s initially in b"] {
        let text = format!("agent a is loop skip endloop\nproperty {heading}: subworld(a, a);");
        let read = crate::support::read(&text, &[]);
        let codes: Vec<&str> = read.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        let expected = if heading.ends_with('b') { "bdi/unknown-agent" } else { "bdi/subworld-of-states" };
        assert_eq!(codes, [expected], "{text}");
    }
}
