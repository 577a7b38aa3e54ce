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
const SCHEMAS: [(&str, &str); 8] = [
    ("masque.check/1", "check"),
    ("masque.bench/1", "bench"),
    ("masque.test/1", "test"),
    ("masque.why/1", "why"),
    ("masque.teams/1", "teams"),
    ("masque.graph/1", "export"),
    ("masque.monitor/1", "monitor"),
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

/// The documents of all versions with this ending, each with its path and its text.
fn texts(ending: &str) -> Vec<(String, String)> {
    let files = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents"), &[ending]);
    let read = |path: &Path| (path.display().to_string(), fs::read_to_string(path).unwrap());
    files.iter().map(|path| read(path)).collect()
}

/// The documents of all versions that are one JSON value, each with its path. ITF has a schema of its own.
fn documents() -> Vec<(String, Value)> {
    let files = texts("json").into_iter().filter(|(path, _)| !path.ends_with(".itf.json"));
    files.map(|(path, text)| (path, serde_json::from_str(&text).unwrap())).collect()
}

#[test]
fn documents_of_earlier_versions_fit_the_schemas() {
    let documents = documents();
    assert!(documents.len() >= 19, "{}", documents.len());
    for (name, document) in &documents {
        assert_eq!(problems(document), [""; 0], "{name}");
    }
    let reports: Vec<(String, Vec<Value>)> = texts("jsonl")
        .into_iter()
        .map(|(name, text)| {
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            (name, lines.collect())
        })
        .collect();
    for (name, lines) in &reports {
        let schema = schema(&lines[0]);
        assert!(lines.len() >= 4, "{name}");
        for line in lines {
            assert_eq!(errors(&schema, line), [""; 0], "{name}: {line}");
        }
    }
    for (name, _) in SCHEMAS {
        let first_lines = reports.iter().map(|(_, lines)| &lines[0]);
        let mut all = documents.iter().map(|(_, document)| document).chain(first_lines);
        assert!(all.any(|document| document["schema"] == name), "a document of {name}");
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

/// Certificates of earlier versions are still confirmed, and are refused after a change.
#[test]
fn certificates_of_earlier_versions_are_confirmed() {
    let model = "tests/documents/inputs/lamps.ispl";
    let certificates = texts("certificate");
    assert!(certificates.len() >= 7, "{}", certificates.len());
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in &certificates {
        let (shown, exit) = outcome(&["certify", model, path], &Context::default());
        assert!(exit == Exit::AllHold && shown.contains(": confirmed: "), "{path}: {shown}");
        let verdicts = [("verdict holds", "verdict fails"), ("verdict fails", "verdict holds")];
        let (old, new) = verdicts.into_iter().find(|(old, _)| text.contains(old)).unwrap();
        let changed = folder.path().join("changed.certificate");
        fs::write(&changed, text.replacen(old, new, 1)).unwrap();
        let (shown, exit) = outcome(&["certify", model, changed.to_str().unwrap()], &Context::default());
        assert!(exit != Exit::AllHold, "{path}: {shown}");
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
