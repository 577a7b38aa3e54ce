//! BDI files on the command line: what is printed, exit codes, and the report as JSON.

use std::fs;
use std::path::{Path, PathBuf};

use masque_cli::{Context, Exit};
use serde_json::Value;

fn masque(words: &[&str]) -> (String, Exit) {
    crate::support::outcome(words, &Context::default())
}

fn model(name: &str) -> String {
    format!("../../models/bdi/{name}.bdi")
}

#[test]
fn check_reports_verdicts_and_reasons() {
    let (text, exit) = masque(&["check", &model("robot")]);
    insta::assert_snapshot!("check_robot", text);
    assert_eq!(exit, Exit::SomeFail);
    let (text, exit) = masque(&["check", &model("sally_anne")]);
    insta::assert_snapshot!("check_sally_anne", text);
    assert_eq!(exit, Exit::SomeFail);
    assert_eq!(masque(&["check", &model("news_repaired")]).1, Exit::AllHold);
}

#[test]
fn worlds_are_shown() {
    for (name, format) in [("news_literal", "text"), ("news_figure2", "dot"), ("sally_anne", "text")] {
        let (text, exit) = masque(&["worlds", &model(name), "--format", format]);
        insta::assert_snapshot!(format!("worlds_{name}"), text);
        assert_eq!(exit, Exit::AllHold);
    }
    let json: Value =
        serde_json::from_str(&masque(&["worlds", &model("robot"), "--format", "json"]).0).unwrap();
    assert_eq!(json["runs"][0]["worlds"]["robot"]["status"], "ok");
}

#[test]
fn times_only_when_asked_for() {
    let (text, _) = masque(&["check", &model("news_repaired"), "--stats"]);
    assert!(text.contains("checked in") && text.contains("peak nodes"), "{text}");
    assert!(!masque(&["check", &model("news_repaired")]).0.contains("checked in"));
}

/// Errors are reported, with the right exit code.
#[test]
fn exit_codes() {
    let news = model("news_literal");
    let cases: [(&[&str], Exit, &str); 15] = [
        (&["check", &news], Exit::SomeFail, "unknown(no-model)"),
        (&["check", &news, "--deny", "warnings"], Exit::BadInput, "protocol: world removed"),
        (&["check", &news, "--option", "condition2=infer"], Exit::SomeFail, "P2_init"),
        (&["check", &news, "--option", "condition2=perhaps"], Exit::BadInput, "bdi/bad-option"),
        (&["check", &news, "--option", "infer"], Exit::BadInput, "cli/bad-option"),
        (&["check", &news, "--at", "initial"], Exit::BadInput, "cli/wrong-language"),
        (&["check", &news, "--engine", "explicit"], Exit::BadInput, "`--engine` is an option for ISPL files"),
        (&["check", &news, "--order", "declared"], Exit::BadInput, "`--order` is an option for ISPL files"),
        (&["check", &news, "--reorder", "never"], Exit::BadInput, "`--reorder` is an option for ISPL files"),
        (&["check", &news, "--order", "auto", "--reorder", "auto"], Exit::SomeFail, "unknown(no-model)"),
        (&["worlds", &news, "--order", "declared"], Exit::BadInput, "cli/wrong-language"),
        (&["worlds", &news, "--reorder", "never"], Exit::BadInput, "cli/wrong-language"),
        (&["check", "tests/models/light.ispl", "--option", "a=b"], Exit::BadInput, "cli/wrong-language"),
        (&["check", "no_such.bdi"], Exit::BadInput, "file/not-found"),
        (&["worlds", &news, "--option", "nesting=0"], Exit::BadInput, "below the nesting bound"),
    ];
    for (words, expected, text) in cases {
        let (found, exit) = masque(words);
        assert_eq!(exit, expected, "{words:?}\n{found}");
        assert!(found.contains(text), "{words:?}\n{found}");
    }
    let repaired = model("news_repaired");
    let more = ["check", &repaired, "--property", "snd : AG !B(rcv, p)"];
    assert_eq!(masque(&more).1, Exit::SomeFail);
}

#[test]
fn no_model_is_inconclusive_and_never_holds() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gone.bdi");
    let text = "agent a is init B(b, p) := false; loop skip endloop
        agent b is init p := true; loop skip endloop
        property anything: true;";
    fs::write(&file, text).unwrap();
    let (text, exit) = masque(&["check", file.to_str().unwrap()]);
    assert!(text.contains("unknown(no-model)"), "{text}");
    assert_eq!(exit, Exit::Inconclusive);
}

/// The report has what the expected files of the language say: worlds, verdicts, warnings, errors.
#[test]
fn the_report_conforms() {
    let folder = Path::new("../../crates/bdi/tests/conformance");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "bdi"));
    assert!(files.len() >= 12);
    for file in files {
        let expected = fs::read_to_string(file.with_extension("expected.json")).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        for run in expected["runs"].as_array().unwrap() {
            let mut words = vec!["check".to_string(), file.display().to_string(), "--format".to_string()];
            words.push("json".to_string());
            for (name, value) in run["options"].as_object().unwrap() {
                let value = value.as_str().map_or(value.to_string(), str::to_string);
                words.extend(["--option".to_string(), format!("{name}={value}")]);
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let report: Value = serde_json::from_str(&masque(&words).0).unwrap();
            let found = &report["runs"][0];
            let messages = |severity: &str| -> Vec<String> {
                let all = found["diagnostics"].as_array().unwrap().iter();
                all.filter(|d| d["severity"] == severity).map(|d| d["message"].to_string()).collect()
            };
            if let Some(error) = run["error"].as_str() {
                assert!(messages("error").iter().any(|m| m.contains(error)), "{words:?}");
                continue;
            }
            for (path, fields) in run["worlds"].as_object().unwrap() {
                for (field, value) in fields.as_object().unwrap() {
                    assert_eq!(found["worlds"][path][field], *value, "{words:?}: {path} {field}");
                }
            }
            for (name, verdict) in run["properties"].as_object().into_iter().flatten() {
                let mut properties = found["properties"].as_array().unwrap().iter();
                let property = properties.find(|p| p["name"] == *name).unwrap();
                let expected = match verdict.as_str().unwrap() {
                    "true" => ("holds", Value::Null),
                    "false" => ("fails", Value::Null),
                    reason => ("unknown", reason.into()),
                };
                assert_eq!((property["verdict"].as_str().unwrap(), property["reason"].clone()), expected);
            }
            let (warnings, wanted) = (messages("warning"), run["warnings"].as_array().unwrap());
            assert!(!wanted.is_empty() || warnings.is_empty(), "{words:?}: {warnings:?}");
            for warning in wanted.iter().map(|w| w.as_str().unwrap()) {
                assert!(warnings.iter().any(|w| w.contains(warning)), "{words:?}: {warning}");
            }
        }
    }
}

#[test]
fn fmt_knows_the_language() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.bdi");
    fs::write(&file, "agent a is\nloop p:=any endloop\n").unwrap();
    let path = file.to_str().unwrap();
    assert_eq!(masque(&["fmt", "--check", path]).1, Exit::SomeFail);
    assert_eq!(masque(&["fmt", path]).1, Exit::AllHold);
    assert_eq!(fs::read_to_string(&file).unwrap(), "agent a is\n  loop p := any endloop\n");
}
