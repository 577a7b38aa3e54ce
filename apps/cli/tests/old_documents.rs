//! JSON documents that earlier versions wrote still fit the schemas that this version prints.
//!
//! `documents/make.sh` wrote them, with the program of the version that names their folder.

use std::fs;
use std::path::Path;

use masque_cli::{Context, Exit};
use masque_testkit::files_below;
use serde_json::Value;

use crate::json_schema::errors;
use crate::support::outcome;

/// The schema of the documents with this name, such as `masque.check/1`, and the word by which `masque schema` prints it.
const SCHEMAS: [(&str, &str); 7] = [
    ("masque.check/1", "check"),
    ("masque.bench/1", "bench"),
    ("masque.test/1", "test"),
    ("masque.why/1", "why"),
    ("masque.teams/1", "teams"),
    ("masque.graph/1", "export"),
    ("masque.broker/1", "broker"),
];

/// The schema that a document names.
fn schema(document: &Value) -> Value {
    let name = document["schema"].as_str().expect("a document names its schema");
    let (_, word) = SCHEMAS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}"));
    let (text, _) = outcome(&["schema", word], &Context::default());
    serde_json::from_str(&text).unwrap()
}

/// Where a document breaks its schema. The calls of a broker are checked one by one.
fn problems(document: &Value) -> Vec<String> {
    let schema = schema(document);
    let Some(calls) = document["calls"].as_array() else { return errors(&schema, document) };
    let mut problems = Vec::new();
    for call in calls {
        let method = call["method"].as_str().unwrap();
        let parts = [
            ("params", &schema["methods"][method]["params"]),
            ("result", &schema["methods"][method]["result"]),
            ("error", &schema["error"]),
        ];
        for (part, part_schema) in parts.into_iter().filter(|(part, _)| call.get(part).is_some()) {
            let mut rooted = part_schema.clone();
            rooted["$defs"] = schema["$defs"].clone();
            let found = errors(&rooted, &call[part]);
            problems.extend(found.into_iter().map(|problem| format!("{method} {part}: {problem}")));
        }
    }
    problems
}

/// The documents of all versions, each with its path.
fn documents() -> Vec<(String, Value)> {
    let files = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents"), &["json"]);
    let files = files.iter().filter(|path| !path.to_string_lossy().ends_with(".itf.json"));
    let read = |path: &Path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    files.map(|path| (path.display().to_string(), read(path))).collect()
}

#[test]
fn documents_of_earlier_versions_fit_the_schemas() {
    let documents = documents();
    assert!(documents.len() >= 19, "{}", documents.len());
    for (name, document) in &documents {
        assert_eq!(problems(document), [""; 0], "{name}");
    }
    for (name, _) in SCHEMAS {
        assert!(documents.iter().any(|(_, document)| document["schema"] == name), "a document of {name}");
    }
}

/// Traces of earlier versions, in JSON and in ITF, are still runs of their models.
#[test]
fn traces_of_earlier_versions_are_confirmed() {
    let cases = [
        (
            "../../models/ispl/bit_transmission_faulty2.ispl",
            "0.1.0/check-ispl.json",
            "3: confirmed, 2 states",
        ),
        ("../../models/ispl/bit_transmission_faulty2.ispl", "0.1.0/trace.itf.json", "confirmed, 2 states"),
        (
            "../../models/lcc/two_phase_commit.lcc",
            "0.1.0/check-stuck.json",
            "non_blocking: confirmed, 14 states",
        ),
    ];
    for (model, trace, expected) in cases {
        let (text, exit) =
            outcome(&["replay", model, &format!("tests/documents/{trace}")], &Context::default());
        assert!(exit == Exit::AllHold && text.contains(expected), "{trace}: {text}");
    }
}

/// The check can fail: a member with another type, a member that is missing, and one that is misspelt are noticed.
#[test]
fn documents_that_do_not_fit_are_noticed() {
    let find = |name: &str| documents().into_iter().find(|(path, _)| path.ends_with(name)).unwrap().1;
    let mut document = find("check-ispl.json");
    document["runs"][0]["properties"][0]["verdict"] = Value::from("perhaps");
    assert_ne!(problems(&document), [""; 0]);
    let mut document = find("bench.json");
    document["rows"][0]["repeats"] = Value::from("two");
    document["rows"][0]["file"] = Value::from(1);
    assert_ne!(problems(&document), [""; 0]);
    let mut document = find("test.json");
    document.as_object_mut().unwrap().remove("models");
    assert_ne!(problems(&document), [""; 0]);
    let mut document = find("broker.json");
    document["calls"][0]["params"]["flies"] = Value::from(1);
    assert_ne!(problems(&document), [""; 0]);
}
