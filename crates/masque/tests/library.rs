//! The library from the view of its users, and the errors it reports.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use masque::{BuildError, Check, Expr, Loader, Model, ModelBuilder, Problem, Verdict, WalkError, Why};

/// The problems of a model that a function builds.
fn problems(calls: impl FnOnce(&mut ModelBuilder)) -> Vec<Problem> {
    let mut builder = ModelBuilder::new();
    calls(&mut builder);
    match builder.build() {
        Err(BuildError::Problems(problems)) => problems,
        Err(BuildError::Model(error)) => panic!("{error}"),
        Ok(_) => Vec::new(),
    }
}

/// The codes of the errors that the checker finds in a model that a function builds.
fn codes(calls: impl FnOnce(&mut ModelBuilder)) -> Vec<&'static str> {
    let mut builder = ModelBuilder::new();
    calls(&mut builder);
    match builder.build() {
        Err(BuildError::Model(error)) => {
            assert!(!error.to_string().is_empty());
            error.messages.iter().filter(|m| m.severity == "error").map(|m| m.code).collect()
        }
        Err(BuildError::Problems(problems)) => panic!("{problems:?}"),
        Ok(_) => Vec::new(),
    }
}

#[test]
fn wrong_calls_are_refused() {
    let name = |name: &str| name.to_string();
    assert_eq!(problems(|_| {}), [Problem::NoAgents]);
    assert_eq!(problems(|b| _ = b.agent("two words")), [Problem::BadName(name("two words"))]);
    assert_eq!(problems(|b| _ = b.agent("")), [Problem::BadName(String::new())]);
    let twice = |b: &mut ModelBuilder| _ = (b.agent("A"), b.agent("A"));
    assert_eq!(problems(twice), [Problem::SameName(name("A"))]);
    let range = |b: &mut ModelBuilder| {
        let a = b.agent("A");
        b.range(&a, "n", 3, 2);
    };
    assert_eq!(problems(range), [Problem::EmptyRange(name("n"))]);
    let empty = |b: &mut ModelBuilder| {
        let a = b.agent("A");
        b.enumeration(&a, "x", [""; 0]);
    };
    assert_eq!(problems(empty), [Problem::NoValues(name("x"))]);
    let same_value = |b: &mut ModelBuilder| {
        let a = b.agent("A");
        b.enumeration(&a, "x", ["red", "red"]);
    };
    assert_eq!(problems(same_value), [Problem::SameValue(name("x"), name("red"))]);
    let injected = |b: &mut ModelBuilder| {
        let a = b.agent("A");
        let x = b.enumeration(&a, "x", ["red", "blue"]);
        b.initially(x.is("red; end InitStates"));
    };
    assert_eq!(problems(injected), [Problem::BadName(name("red; end InitStates"))]);
    let wrong_agent = |b: &mut ModelBuilder| {
        let (a, c) = (b.agent("A"), b.agent("C"));
        let go = b.action(&a, "go");
        b.may(&c, true, [&go]);
    };
    assert_eq!(problems(wrong_agent), [Problem::WrongAgent(name("go"), name("C"))]);
    let no_actions = |b: &mut ModelBuilder| {
        let a = b.agent("A");
        b.may(&a, true, []);
    };
    assert_eq!(problems(no_actions), [Problem::NoActions(name("A"))]);
    let hidden = |b: &mut ModelBuilder| {
        let a = b.agent("A");
        let x = b.boolean(&a, "x");
        b.seen_by_all(&x);
    };
    assert_eq!(problems(hidden), [Problem::NotOfEnvironment(name("A.x"))]);
    let no_members = |b: &mut ModelBuilder| {
        b.agent("A");
        b.group("g", []);
    };
    assert_eq!(problems(no_members), [Problem::EmptyGroup(name("g"))]);
    let mut other = ModelBuilder::new();
    let foreign = other.agent("Far");
    let far = other.boolean(&foreign, "x");
    let foreign_agent = |b: &mut ModelBuilder| {
        b.agent("A");
        b.boolean(&foreign, "y");
    };
    assert_eq!(problems(foreign_agent), [Problem::Foreign(name("Far"))]);
    let foreign_variable = |b: &mut ModelBuilder| {
        b.agent("A");
        b.initially(far.is(true));
    };
    assert_eq!(problems(foreign_variable), [Problem::Foreign(name("Far.x = true"))]);
}

/// Errors that only the checker finds refer to the generated text.
#[test]
fn wrong_models_are_refused() {
    let unknown = codes(|b| {
        b.agent("A");
        b.property("p", "EF lit");
    });
    assert_eq!(unknown, ["ispl/unknown-proposition"]);
    let syntax = codes(|b| {
        b.agent("A");
        b.property("p", "EF (");
    });
    assert!(!syntax.is_empty());
    let two = codes(|b| {
        let a = b.agent("A");
        let x = b.boolean(&a, "x");
        b.proposition("lit", x.expr());
        b.property("p", "EF lit; EF lit");
    });
    assert!(!two.is_empty(), "one property is one formula");
    let injected = codes(|b| {
        let a = b.agent("A");
        let x = b.boolean(&a, "x");
        b.proposition("lit", x.expr());
        b.fairness("lit; end Fairness Formulae EF lit");
    });
    assert!(!injected.is_empty(), "a formula cannot change the rest");
    let mismatch = codes(|b| {
        let a = b.agent("A");
        let x = b.boolean(&a, "x");
        b.initially(x.is(7));
    });
    assert!(!mismatch.is_empty());
}

#[test]
fn long_expressions_are_accepted() {
    let mut builder = ModelBuilder::new();
    let agent = builder.agent("A");
    let x = builder.boolean(&agent, "x");
    let mut chain = x.is(true);
    for _ in 0..20_000 {
        chain = chain & x.is(true);
    }
    builder.proposition("lit", chain);
    builder.initially(x.is(true));
    builder.property("p", "EF lit");
    assert!(builder.build().unwrap().check(&Check::new()).unwrap().all_hold());
    let mut deep = x.is(true);
    for _ in 0..5_000 {
        deep = !deep;
    }
    builder.proposition("deep", deep);
    assert!(matches!(builder.build(), Err(BuildError::Model(_))), "too deep is an error, not an overflow");
}

#[test]
fn norms_views_and_fairness_are_built() {
    let mut builder = ModelBuilder::new();
    let environment = builder.agent("Environment");
    let secret = builder.boolean(&environment, "secret");
    let flip = builder.action(&environment, "flip");
    builder.becomes(&secret, !secret.expr(), flip.performed());
    let (spy, guest) = (builder.agent("Spy"), builder.agent("Guest"));
    for agent in [&spy, &guest] {
        builder.boolean(agent, "own");
    }
    builder.seen_by(&secret, &spy);
    builder.incorrect_where(&spy, Expr::from(false));
    builder.proposition("secret", secret.expr());
    builder.group("both", [&spy, &guest]);
    builder.fairness("secret");
    builder.property("spy", "AG(secret -> K(Spy, secret))");
    builder.property("guest", "AG(secret -> K(Guest, secret))");
    builder.property("both", "AG(secret -> GK(both, secret))");
    builder.property("again", "AG AF secret");
    let report = builder.build().unwrap().check(&Check::new().show_all()).unwrap();
    let verdicts: Vec<&str> = report.properties.iter().map(|property| property.verdict.word()).collect();
    assert_eq!(verdicts, ["holds", "fails", "fails", "holds"]);
    assert!(report.json().contains("\"masque.check/1\"") && report.to_string().contains("guest"));
}

#[test]
fn limits_and_interrupts() {
    let text = "agent a is var n : 0..16777215; loop if n < 16777215 then n := n + 1 endloop
        property p: EF n = 16777215;";
    let model = Model::from_text("count.bdi", text).unwrap();
    let report = model.check(&Check::new().timeout(Duration::from_millis(50))).unwrap();
    assert_eq!(report.properties[0].verdict, Verdict::Unknown(Why::Timeout));
    let flag = Arc::new(AtomicBool::new(true));
    let report = model.check(&Check::new().interrupt(flag)).unwrap();
    assert_eq!(report.properties[0].verdict, Verdict::Unknown(Why::Interrupted));
}

#[test]
fn errors_are_messages_with_locations() {
    let error = Model::from_text("m.ispl", "Agent A\n  Actions = {go;\nend Agent").unwrap_err();
    assert_eq!(error.messages[0].severity, "error");
    assert_eq!(
        error.messages[0].place.as_ref().map(|(file, line, _)| (file.as_str(), *line)),
        Some(("m.ispl", 2))
    );
    assert!(error.to_string().contains("m.ispl:2"), "{error}");
    let error = Model::load("no/such/model.ispl").unwrap_err();
    assert_eq!(error.messages[0].code, "file/not-found");
    let error = Loader::new().parameter("N", 1).text("m.lcc", "a(hen, H) :: null. agent a(hen, h).");
    assert_eq!(error.unwrap_err().messages[0].code, "cli/wrong-language");
}

#[test]
fn walks_go_forward_and_back() {
    let mut builder = ModelBuilder::new();
    let lamp = builder.agent("Lamp");
    let lit = builder.boolean(&lamp, "lit");
    let (press, wait) = (builder.action(&lamp, "press"), builder.action(&lamp, "wait"));
    builder.may(&lamp, true, [&press, &wait]);
    builder.becomes(&lit, !lit.expr(), press.performed());
    builder.initially(lit.is(false));
    let model = builder.build().unwrap();
    let mut walk = model.walk().unwrap();
    assert_eq!(walk.state(), []);
    assert_eq!(walk.choices().len(), 1);
    assert_eq!(walk.choose(1), Err(WalkError::NoChoice(1)));
    walk.choose(0).unwrap();
    assert_eq!(walk.choices(), ["Lamp: press", "Lamp: wait"]);
    walk.choose(0).unwrap();
    assert_eq!(walk.state(), [("Lamp.lit".to_string(), "true".to_string())]);
    assert!(walk.back() && walk.back() && !walk.back());
    let bdi = Model::from_text("a.bdi", "agent a is init p := any; loop p := any endloop").unwrap();
    let mut walk = bdi.walk().unwrap();
    assert_eq!(walk.choices().len(), 2, "p may be true or false at first");
    walk.choose(1).unwrap();
    let n_choices = walk.choices().len();
    assert!(n_choices > 0 && walk.choose(n_choices).is_err() && !walk.state().is_empty());
}

/// A check decides the selected properties only; the model keeps all of them.
#[test]
fn properties_are_selected() {
    let text = "a(hen, H) :: null. agent a(hen, h). property x : tt ; property y : ff ; property z : tt ;";
    let model = Model::from_text("farm.lcc", text).unwrap();
    let names = |check: Check<'_>| {
        let report = model.check(&check).unwrap();
        report.properties.iter().map(|property| property.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(Check::new()), "x y z");
    assert_eq!(names(Check::new().only(["z", "1"])), "x z");
    assert_eq!(names(Check::new().only(["?"]).skip(["y"])), "x z");
    assert_eq!(names(Check::new().skip(["x", "2"])), "z");
    let error = model.check(&Check::new().only(["w"])).unwrap_err();
    assert_eq!(error.to_string(), "there is no property `w`");
    assert_eq!(model.properties().len(), 3);
}

/// Texts import texts that are given with them, and files below a root; files import files.
#[test]
fn models_of_several_files() {
    let agents = "Agent Lamp Vars: on : boolean; end Vars Actions = {switch};
        Protocol: Other : {switch}; end Protocol
        Evolution: on = ~on if Action = switch; end Evolution end Agent
        InitStates !Lamp.on; end InitStates";
    let main = "import \"parts/agents.ispl\"; Formulae EF Lamp.on; end Formulae";
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    std::fs::write(folder.path().join("parts/agents.ispl"), agents).unwrap();
    std::fs::write(folder.path().join("main.ispl"), main).unwrap();
    let models = [
        Loader::new().import("parts/agents.ispl", agents).text("main.ispl", main),
        Loader::new().import_root(folder.path()).text("main.ispl", main),
        Loader::new().load([folder.path().join("main.ispl")]),
    ];
    for model in models {
        let report = model.unwrap().check(&Check::new()).unwrap();
        assert!(report.all_hold());
    }
    let alone = Loader::new().text("main.ispl", main).unwrap_err();
    assert_eq!(alone.messages[0].code, "ispl/import-not-found");
    let outside = main.replace("parts/", "../");
    let refused = Loader::new().import_root(folder.path()).text("main.ispl", &outside).unwrap_err();
    assert_eq!(refused.messages[0].code, "file/outside-root");
}
