//! The files in `conformance`: worlds, warnings and errors, and verdicts with other options than the default, as their
//! `.expected.json` say.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::support::{Results, by_engine, by_reference};
use masque_bdi::findings;
use masque_bdi::model::Model;
use masque_bdi::outcome::{Failure, PropertyResult};
use masque_bdi::plan::Plan;
use masque_text::Severity;
use masque_verdict::{Verdict, Why};
use serde_json::Value;

/// Builds the worlds and decides the properties.
type Decide = fn(&Model, &Plan) -> Result<Results, Failure>;

/// Returns the differences between a run and its expected results.
fn differences(text: &str, run: &Value, decide: Decide) -> Vec<String> {
    let options: Vec<(String, String)> = run["options"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().map_or(value.to_string(), str::to_string)))
        .collect();
    let read = crate::support::read(text, &options);
    if let Some(error) = run["error"].as_str() {
        let is_found = read.diagnostics.iter().any(|d| d.is_error() && d.message.contains(error));
        return if is_found { Vec::new() } else { vec![format!("no error `{error}`:\n{}", read.drawn())] };
    }
    let Some((model, plan)) = &read.model else { return vec![read.drawn()] };
    let (worlds, properties) = decide(model, plan).unwrap();
    let mut wrong = Vec::new();
    for (path, expected) in run["worlds"].as_object().unwrap() {
        let Some(planned) = plan.paths.iter().find(|p| p.text == *path) else {
            wrong.push(format!("no world {path}"));
            continue;
        };
        let world = &worlds[planned.world.index()];
        for (field, value) in expected.as_object().unwrap() {
            let found = match field.as_str() {
                "built" => world.built.to_string(),
                "bad" => world.bad.to_string(),
                "dead" => world.dead.to_string(),
                "final" => world.kept.to_string(),
                "status" => world.status.text().to_string(),
                other => panic!("unknown field {other}"),
            };
            let value = value.as_str().map_or(value.to_string(), str::to_string);
            if found != value {
                wrong.push(format!("{path}: {field} is {found}, expected {value}"));
            }
        }
    }
    let verdicts: BTreeMap<&str, &PropertyResult> =
        model.properties.iter().map(|p| p.name.as_str()).zip(&properties).collect();
    for (name, expected) in run["properties"].as_object().into_iter().flatten() {
        let found = match verdicts[name.as_str()].verdict {
            Verdict::Holds => "true",
            Verdict::Fails => "false",
            Verdict::Unknown(Why::NoModel) => "no-model",
            Verdict::Unknown(_) => "unknown",
        };
        if expected != found {
            wrong.push(format!("property {name} is {found}, expected {expected}"));
        }
    }
    let found = findings(model, plan, &worlds, &properties);
    let warnings: Vec<&str> = read
        .diagnostics
        .iter()
        .chain(&found)
        .filter(|d| d.severity == Severity::Warning)
        .map(|d| d.message.as_str())
        .collect();
    let expected = run["warnings"].as_array().unwrap();
    for warning in expected.iter().map(|w| w.as_str().unwrap()) {
        if !warnings.iter().any(|found| found.contains(warning)) {
            wrong.push(format!("no warning `{warning}` among {warnings:?}"));
        }
    }
    if expected.is_empty() && !warnings.is_empty() {
        wrong.push(format!("warnings {warnings:?}"));
    }
    wrong
}

fn conforms(decide: Decide) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut n_runs = 0;
    let mut wrong = String::new();
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "bdi")) {
        let text = fs::read_to_string(file).unwrap();
        let expected = fs::read_to_string(file.with_extension("expected.json")).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        for run in expected["runs"].as_array().unwrap() {
            n_runs += 1;
            for difference in differences(&text, run, decide) {
                wrong += &format!("{} with {}: {difference}\n", file.display(), run["options"]);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_runs >= 25, "only {n_runs} runs found");
}

#[test]
fn the_engine_conforms() {
    conforms(by_engine);
}

#[test]
fn the_reference_conforms() {
    conforms(by_reference);
}
