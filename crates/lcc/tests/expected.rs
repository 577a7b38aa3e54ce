//! Compares counts, findings and verdicts with every `models/lcc/*.expected.json`.

mod support;

use masque_lcc::{Counts, explore};
use masque_mu::{Space, explain, naive, parse_formula, resolve};
use masque_verdict::{Budget, Verdict};
use support::{expectations, load, travel};

#[test]
fn counts_and_findings_are_as_expected() {
    let mut wrong = String::new();
    let all = expectations();
    assert!(all.len() >= 19, "{}", all.len());
    for expected in &all {
        let (mut system, _) = load(&expected.files, &expected.options);
        let counts = explore(&mut system, &Budget::unlimited()).unwrap();
        let want = Counts {
            states: expected.json["states"].as_u64().unwrap(),
            transitions: expected.json["transitions"].as_u64().unwrap(),
            deadlocks: expected.json["deadlocks"].as_u64().unwrap(),
            finals: expected.json["finals"].as_u64().unwrap(),
            cut: None,
        };
        if counts != want {
            wrong += &format!("{}: {counts:?}, expected {want:?}\n", expected.name);
        }
        for (name, found) in
            [("conflicts", system.conflicts()), ("unknown_constraints", system.unknown_constraints())]
        {
            let want: Vec<String> = serde_json::from_value(expected.json[name].clone()).unwrap();
            if found != want {
                wrong += &format!("{}: {name} {found:?}, expected {want:?}\n", expected.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Verdicts of the solver, with replayed evidence, and of the truth definition.
#[test]
fn verdicts_are_as_expected() {
    let mut n_verdicts = 0;
    for expected in expectations() {
        let (mut system, mut sources) = load(&expected.files, &expected.options);
        for (name, property) in expected.json["properties"].as_object().unwrap() {
            let text = property["formula"].as_str().unwrap();
            let file = sources.add(name.clone(), text).unwrap();
            let (phi, diagnostics) = parse_formula(&sources, sources.span(file));
            assert!(diagnostics.is_empty(), "{}: {name}: {diagnostics:?}", expected.name);
            let (formula, diagnostics) = resolve(phi.as_ref().unwrap(), &mut system);
            assert!(diagnostics.is_empty(), "{}: {name}: {diagnostics:?}", expected.name);
            let answer = explain(&mut Space::new(&mut system), &formula.unwrap(), &Budget::unlimited());
            let want = property["verdict"] == "true";
            assert_eq!(answer.verdict, Verdict::from(want), "{}: {name}", expected.name);
            assert!(answer.evidence.is_some(), "{}: {name}", expected.name);
            let by_definition = naive::holds(&mut system, phi.as_ref().unwrap(), true);
            assert_eq!(by_definition, Ok(want), "{}: {name}", expected.name);
            n_verdicts += 1;
        }
    }
    assert!(n_verdicts >= 140, "{n_verdicts}");
}

#[test]
fn the_travel_example_has_the_expected_sizes() {
    // The last row uses the rules of Figure 9 as printed.
    let rows = [
        (2, "lcc", 160, 234),
        (3, "lcc", 297, 536),
        (4, "lcc", 596, 1_450),
        (5, "lcc", 1_381, 4_524),
        (6, "lcc", 3_624, 15_050),
        (2, "fig9", 279, 585),
    ];
    for (n_airlines, guards, states, transitions) in rows {
        let (mut system, _) = travel(n_airlines, &[("guards", guards)]);
        let counts = explore(&mut system, &Budget::unlimited()).unwrap();
        assert_eq!((counts.states, counts.transitions), (states, transitions), "{n_airlines} {guards}");
        assert_eq!(counts.cut, None);
    }
}

/// The lints report missing brackets in the paper's protocol, and intended mistakes in other models.
#[test]
fn lints_of_the_models() {
    let mut found: Vec<String> = Vec::new();
    for expected in expectations() {
        for diagnostic in support::diagnose(&expected.files) {
            found.push(format!("{}: {}: {}", expected.name, diagnostic.code, diagnostic.message));
        }
    }
    found.sort();
    insta::assert_snapshot!("lints", found.join("\n"));
}

/// Numbers of situations that depend on a predicate or an action.
#[test]
fn situations_record_what_they_consulted() {
    let (mut system, _) = travel(2, &[]);
    explore(&mut system, &Budget::unlimited()).unwrap();
    let rows = [("access", 0, 2), ("blacklisted", 1, 0), ("member", 2, 2), ("member", 3, 0), ("valid", 1, 1)];
    for (name, arity, n) in rows {
        assert_eq!(
            system.n_dependent_situations(name, arity),
            n,
            "{name}/{arity} of {}",
            system.n_situations()
        );
    }
}

/// No property of the models has a name that does not exist.
#[test]
fn properties_of_the_models_have_no_unknown_names() {
    let mut found = String::new();
    for expected in expectations() {
        let (system, mut sources) = load(&expected.files, &expected.options);
        for (name, property) in expected.json["properties"].as_object().unwrap() {
            let file = sources.add(name.clone(), property["formula"].as_str().unwrap()).unwrap();
            let (phi, _) = parse_formula(&sources, sources.span(file));
            for warning in system.name_warnings(&phi.unwrap()) {
                found += &format!("{}: {name}: {}\n", expected.name, warning.message);
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}
