//! Formatting, fixes, lenses, commands and their results, with a stand-in for the program that checks.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::support::{COIN, Editor, GREETING, LIGHT, PROPERTIES, position};
use serde_json::{Value, json};

const REQUEST_FAILED: i32 = -32803;

/// A report with one property that holds and one that fails.
const REPORT: &str = r#"{"schema": "masque.check/1", "runs": [{"diagnostics": [], "properties": [
  {"name": "1", "verdict": "holds", "text": "EF Light.on"}, {"name": "2", "verdict": "fails", "text": "AG Light.on"}]}]}"#;
const EXTENTS: &str = r#"{"parts": [{"parts": [{"states": "2", "of_states": "2"}]}, {"parts": [{"states": "0", "of_states": "2"}]}]}"#;

/// A shell script that the server runs instead of `masque`.
fn script(folder: &std::path::Path, text: &str) -> PathBuf {
    let path = folder.join("program");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// An editor whose server runs a script, with a document that has two properties.
fn editor(program: &str, capabilities: Value) -> (Editor, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let program = script(folder.path(), program);
    let mut editor = Editor::with(&[], capabilities, |config| config.program = Some(program));
    editor.open("a.ispl", LIGHT);
    (editor, folder)
}

fn answering() -> String {
    format!("case \"$1\" in check) cat <<'X'\n{REPORT}\nX\n;; why) cat <<'X'\n{EXTENTS}\nX\n;; esac")
}

fn execute(editor: &mut Editor, command: &str, property: Option<&str>) -> Result<Value, i32> {
    let argument = json!({"uri": editor.uri("a.ispl"), "property": property});
    editor.request("workspace/executeCommand", json!({"command": command, "arguments": [argument]}))
}

fn of_document(editor: &Editor) -> Value {
    json!({"textDocument": {"uri": editor.uri("a.ispl")}})
}

fn titles(values: &Value) -> Vec<String> {
    let title =
        |value: &Value| value["command"]["title"].as_str().or(value["title"].as_str()).unwrap().to_string();
    values.as_array().unwrap().iter().map(title).collect()
}

const LENSES: [&str; 7] = [
    "check all",
    "check",
    "why",
    "simulate from the counterexample",
    "check",
    "why",
    "simulate from the counterexample",
];

#[test]
fn verdicts_appear_everywhere() {
    let capabilities = json!({"textDocument": {"inlayHint": {}}, "window": {"workDoneProgress": true}, "workspace": {"inlayHint": {"refreshSupport": true}, "codeLens": {"refreshSupport": true}}});
    let (mut editor, _folder) = editor(&answering(), capabilities);
    let params = of_document(&editor);
    let lenses = editor.request("textDocument/codeLens", params.clone()).unwrap();
    assert_eq!(titles(&lenses), LENSES);
    assert_eq!(lenses[1]["range"]["start"], position(LIGHT, LIGHT.find("EF").unwrap()));
    assert_eq!(execute(&mut editor, "masque.checkAll", None), Ok(json!({"started": true})));
    editor.settle();
    let shown = editor.all("window/showMessage").remove(0);
    assert_eq!(shown, json!({"type": 3, "message": "a.ispl: 1 of 2 properties hold; fails: AG Light.on"}));
    let verdicts = editor.all("masque/verdicts").pop().unwrap();
    assert_eq!(verdicts["properties"][1]["verdict"], "fails");
    assert_eq!(verdicts["properties"][1]["states"], "0 of 2 states");
    let mut range = params.clone();
    range["range"] = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let hints = editor.request("textDocument/inlayHint", range.clone()).unwrap();
    assert_eq!((&hints[0]["label"], &hints[1]["label"]), (&json!("holds"), &json!("fails")));
    let hover = editor.request("textDocument/hover", editor.at("a.ispl", LIGHT, "AG Light", 4)).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("fails; true at 0 of 2 states"), "{hover}");
    let lenses = titles(&editor.request("textDocument/codeLens", params.clone()).unwrap());
    assert_eq!(
        lenses,
        ["check all", "check (holds)", "why", "check (fails)", "why", "simulate from the counterexample"]
    );
    assert_eq!(editor.all("$/progress").len(), 2, "{:?}", editor.received);
    assert!(!editor.all("workspace/inlayHint/refresh").is_empty());
    assert!(editor.codes("a.ispl").is_empty(), "verdicts are hints, not diagnostics");
    // A change makes the verdicts old.
    editor.change("a.ispl", json!([{"range": {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 3}}, "text": "x"}]));
    editor.settle();
    let hints = editor.request("textDocument/inlayHint", range).unwrap();
    assert_eq!(hints[0]["label"], "holds before the last change");
}

#[test]
fn clients_without_hints_get_diagnostics() {
    let (mut editor, _folder) = editor(&answering(), json!({}));
    execute(&mut editor, "masque.checkAll", None).unwrap();
    editor.settle();
    let found = editor.diagnostics("a.ispl");
    assert_eq!(
        (&found[1]["code"], &found[1]["message"], &found[1]["severity"]),
        (&json!("verdict"), &json!("fails"), &json!(3))
    );
}

/// Every lens is a code action, too.
#[test]
fn lenses_are_actions() {
    let (mut editor, _folder) = editor(&answering(), json!({}));
    let mut params = of_document(&editor);
    let at = position(LIGHT, LIGHT.find("AG Light").unwrap() + 2);
    params["range"] = json!({"start": at, "end": at});
    params["context"] = json!({"diagnostics": []});
    let actions = editor.request("textDocument/codeAction", params.clone()).unwrap();
    assert_eq!(titles(&actions), ["check", "why", "simulate from the counterexample", "check all"]);
    let argument = actions[0]["command"]["arguments"][0].clone();
    assert_eq!(argument["property"], "2");
    let run = json!({"command": "masque.check", "arguments": [argument]});
    assert!(editor.request("workspace/executeCommand", run).is_ok());
    editor.settle();
    params["context"] = json!({"diagnostics": [], "only": ["quickfix"]});
    assert_eq!(editor.request("textDocument/codeAction", params).unwrap(), json!([]));
}

/// The child gets the texts of the documents, and the properties and limits that were asked for.
#[test]
fn the_child_gets_the_unsaved_text() {
    let program = format!("cat a.ispl > \"$0.text\"; echo \"$@\" > \"$0.$1.arguments\"; {}", answering());
    let (mut editor, folder) = editor(&program, json!({}));
    let settings = json!({"masque": {"check": {"timeLimit": 5, "memoryLimit": 77, "engine": "explicit"}}});
    editor.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    execute(&mut editor, "masque.why", Some("2")).unwrap();
    editor.settle();
    assert_eq!(std::fs::read_to_string(folder.path().join("program.text")).unwrap(), LIGHT);
    let arguments = std::fs::read_to_string(folder.path().join("program.check.arguments")).unwrap();
    for part in
        ["--only=2", "--evidence=all", "--timeout=5000ms", "--memory=77M", "--engine=explicit", "-- a.ispl"]
    {
        assert!(arguments.contains(part), "{arguments}");
    }
}

#[rustfmt::skip]
#[test]
fn failures_are_messages() {
    //     program                                                    message                                     type
    check("kill -SEGV $$",                                           "the check ended with signal: 11",           1);
    check("echo 'error: no such engine' >&2; exit 2",                "no such engine",                            1);
    check("echo '{}'",                                               "the check ended with",                      1);
    check("echo '{\"runs\": [{\"properties\": [], \"diagnostics\": [{\"severity\": \"error\", \"message\": \"bad\"}]}]}'", "the model has errors: bad", 2);
}

fn check(program: &str, message: &str, kind: u32) {
    let (mut editor, _folder) = editor(program, json!({}));
    execute(&mut editor, "masque.checkAll", None).unwrap();
    editor.settle();
    let shown = editor.all("window/showMessage");
    assert_eq!(shown.len(), 1, "{program}: {shown:?}");
    assert!(shown[0]["message"].as_str().unwrap().contains(message), "{shown:?}");
    assert_eq!(shown[0]["type"], kind);
    assert!(editor.request("textDocument/hover", editor.at("a.ispl", LIGHT, "on", 0)).is_ok());
}

#[test]
fn a_missing_program_is_a_message() {
    let mut editor = Editor::with(&[], json!({}), |config| config.program = Some("/no/such/program".into()));
    editor.open("a.ispl", LIGHT);
    execute(&mut editor, "masque.checkAll", None).unwrap();
    editor.settle();
    assert!(editor.all("window/showMessage")[0]["message"].as_str().unwrap().contains("cannot start"));
    let mut without = Editor::new(&[]);
    without.open("a.ispl", LIGHT);
    assert_eq!(execute(&mut without, "masque.checkAll", None), Err(REQUEST_FAILED));
}

/// A check ends soon after its time limit, or when it is cancelled, and leaves no process.
#[test]
fn checks_are_limited_and_can_be_cancelled() {
    let (mut editor, folder) = editor("echo $$ > \"$0.pid\"; exec sleep 60", json!({}));
    let settings = json!({"masque": {"check": {"timeLimit": 0.1}}});
    editor.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    let start = Instant::now();
    execute(&mut editor, "masque.checkAll", None).unwrap();
    editor.settle();
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(editor.all("window/showMessage")[0]["message"].as_str().unwrap().contains("time limit"));
    let is_gone = || {
        let id = std::fs::read_to_string(folder.path().join("program.pid")).unwrap();
        !PathBuf::from(format!("/proc/{}", id.trim())).exists()
    };
    assert!(is_gone());
    // A task that was cancelled before it ran, by the user and by a newer check of the same model.
    execute(&mut editor, "masque.checkAll", None).unwrap();
    let tasks: Vec<_> = std::iter::from_fn(|| editor.server.next_task()).collect();
    assert_eq!(execute(&mut editor, "masque.cancel", None), Ok(json!({"cancelled": true})));
    let start = Instant::now();
    for task in tasks {
        task.run(&mut |done| _ = editor.server.finish(done));
    }
    assert!(start.elapsed() < Duration::from_secs(5) && is_gone());
    assert!(!editor.server.has_running_checks());
}

/// Applies the edits of a fix to a text.
fn apply(text: &str, edits: &Value) -> String {
    let offset = |at: &Value| {
        (0..=text.len())
            .find(|offset| text.is_char_boundary(*offset) && position(text, *offset) == *at)
            .unwrap()
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            (
                offset(&edit["range"]["start"]),
                offset(&edit["range"]["end"]),
                edit["newText"].as_str().unwrap(),
            )
        })
        .collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.0));
    let mut result = text.to_string();
    for (from, to, new) in edits {
        result.replace_range(from..to, new);
    }
    result
}

/// The fixes of the first diagnostic of a document, applied.
fn fixed(name: &str, text: &str) -> (Vec<String>, String, Vec<String>) {
    let mut editor = Editor::new(&[]);
    editor.open(name, text);
    let before = editor.codes(name);
    let range = editor.diagnostics(name).first().map(|found| found["range"].clone()).unwrap_or_default();
    let uri = editor.uri(name);
    let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": [], "only": ["quickfix"]}});
    let actions = editor.request("textDocument/codeAction", params).unwrap();
    let edits = &actions[0]["edit"]["changes"][uri.as_str().unwrap()];
    assert!(edits.is_array(), "{name}: {:?} has no fix", editor.diagnostics(name));
    let text = apply(text, edits);
    editor.replace(name, &text);
    (before, text, editor.codes(name))
}

/// Each fix removes the diagnostic.
#[rustfmt::skip]
#[test]
fn fixes_remove_diagnostics() {
    let closed = "agent a is var p; loop p := any endloop\nproperty possible initially: EF p;\n";
    let cases = [
        // Misspelt names and words.
        ("a.ispl", LIGHT.replace("AG Light.on", "AG Light.onn")),
        ("a.ispl", LIGHT.replace("AG Light.on", "AG Lihgt.on")),
        ("a.ispl", LIGHT.replace("Action = switch", "Action = swich")),
        ("a.ispl", LIGHT.replace("Protocol:", "Protocl:")),
        ("a.bdi",  COIN.replace("EF p", "EF pp")),
        ("a.bdi",  COIN.replace("property", "agent b is loop q := any endloop mas = aa || b; property").replace("agent a", "agent abc").replace("aa", "abd")),
        ("a.lcc",  GREETING.replace("agent a(guest", "agnet a(guest")),
        // Signs of other notations.
        ("a.ispl", LIGHT.replace("AG Light.on", "AG (lit => lit)")),
        ("a.ispl", LIGHT.replace("AG Light.on", "AG (lit && lit)")),
        ("a.ispl", LIGHT.replace("AG Light.on", "AG (lit∧lit)")),
        ("a.ispl", LIGHT.replace("AG Light.on", "AG (lit → lit)")),
        ("a.ispl", LIGHT.replace("on : boolean", "on : bool")),
        ("a.bdi",  COIN.replace("EF p", "EF (p => p)")),
        ("a.bdi",  COIN.replace("EF p", "EF (p and p)")),
        ("a.bdi",  COIN.replace("EF p", "EF (p && p)")),
        ("a.bdi",  COIN.replace("EF p", "EF ~p")),
        ("a.mu",   PROPERTIES.replace("[-]Z &&", "[-]Z =>")),
        ("a.mu",   PROPERTIES.replace("[-]Z &&", "[-]Z &")),
        ("a.mu",   PROPERTIES.replace("nu Z. [-]Z", "nu z. [-]z")),
        // What is missing at an end.
        ("a.bdi",  COIN.replace("EF p;", "EF p\nproperty never: AG !p;")),
        ("a.bdi",  COIN.replace("EF p;", "EF p; /* open\n")),
        ("a.lcc",  GREETING.replace("agent a(guest, h1).", "agent a(guest, h1)")),
        ("a.lcc",  GREETING.replace("hello => a(guest, h1).", "hello => a(guest, h1.")),
        // A missing or wrong `end`.
        ("a.ispl", LIGHT.replace("  end Vars\n", "")),
        ("a.ispl", LIGHT.replace("  end Vars\n", "  Vars\n")),
        ("a.ispl", LIGHT.replace("  end Vars\n", "  end\n")),
        ("a.ispl", LIGHT.replace("  end Protocol\n", "  end Protokoll\n")),
        ("a.ispl", LIGHT.replace("  end Evolution\n", "")),
        // A variable without a declaration.
        ("a.ispl", LIGHT.replace("on = ~on", "bright = ~on")),
        ("a.bdi",  closed.replace("p := any endloop", "other := any endloop")),
    ];
    for (name, text) in cases {
        let (before, text, after) = fixed(name, &text);
        let count = |codes: &[String]| codes.iter().filter(|code| **code == before[0]).count();
        assert!(count(&after) < count(&before), "{name}: {before:?} -> {after:?}\n{text}");
    }
}

/// A deadlock that a check has found is a warning, and its fix adds `Other`.
#[test]
fn a_deadlock_can_be_fixed() {
    let text = LIGHT.replace("Other : {switch}", "on : {switch}");
    let span = r#"{"file": "a.ispl", "start": {"line": 2, "column": 7}, "end": {"line": 2, "column": 12}, "primary": true}"#;
    let report = format!(
        r#"{{"runs": [{{"properties": [{{"name": "1", "verdict": "fails", "text": "x"}}], "diagnostics": [{{"code": "ispl/deadlock", "severity": "warning", "message": "stuck", "spans": [{span}]}}]}}]}}"#
    );
    let (mut editor, _folder) =
        editor(&format!("cat <<'X'\n{report}\nX"), json!({"textDocument": {"inlayHint": {}}}));
    editor.replace("a.ispl", &text);
    execute(&mut editor, "masque.checkAll", None).unwrap();
    editor.settle();
    assert_eq!(editor.codes("a.ispl"), ["ispl/deadlock"]);
    let range = editor.diagnostics("a.ispl")[0]["range"].clone();
    let uri = editor.uri("a.ispl");
    let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": [], "only": ["quickfix"]}});
    let actions = editor.request("textDocument/codeAction", params).unwrap();
    let fixed = apply(&text, &actions[0]["edit"]["changes"][uri.as_str().unwrap()]);
    assert!(fixed.contains("    on : {switch};\n    Other : {switch};\n  end Protocol"), "{fixed}");
    editor.replace("a.ispl", &fixed);
    assert!(editor.codes("a.ispl").is_empty(), "the text has changed: {:?}", editor.diagnostics("a.ispl"));
}

#[test]
fn formatting_of_documents_and_ranges() {
    for (name, text) in [("a.ispl", LIGHT), ("a.bdi", COIN), ("a.lcc", GREETING), ("a.mu", PROPERTIES)] {
        for text in [text.to_string(), text.replace('\n', "\r\n")] {
            let untidy = text.replace(" :", "  :").replace("= ", "=  ");
            let mut editor = Editor::new(&[]);
            editor.open(name, &untidy);
            let params = json!({"textDocument": {"uri": editor.uri(name)}, "options": {"tabSize": 2, "insertSpaces": true}});
            let edits = editor.request("textDocument/formatting", params.clone()).unwrap();
            let formatted = apply(&untidy, &edits);
            assert_eq!(formatted.contains("\r\n"), text.contains("\r\n"), "{name}");
            assert!(!formatted.replace("\r\n", "").contains('\r'));
            editor.replace(name, &formatted);
            assert_eq!(editor.request("textDocument/formatting", params).unwrap(), json!([]), "{name}");
        }
    }
    let untidy = LIGHT.replace("on : boolean", "on   :   boolean").replace("EF Light", "EF    Light");
    let mut editor = Editor::new(&[]);
    editor.open("a.ispl", &untidy);
    let line = position(&untidy, untidy.find("boolean").unwrap())["line"].clone();
    let range = json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 5}});
    let params = json!({"textDocument": {"uri": editor.uri("a.ispl")}, "range": range, "options": {"tabSize": 2, "insertSpaces": true}});
    let edits = editor.request("textDocument/rangeFormatting", params).unwrap();
    let formatted = apply(&untidy, &edits);
    assert!(formatted.contains("on : boolean") && formatted.contains("EF    Light"), "{formatted}");
    editor.replace("a.ispl", "Agent Light");
    let params = json!({"textDocument": {"uri": editor.uri("a.ispl")}, "options": {"tabSize": 2, "insertSpaces": true}});
    assert_eq!(editor.request("textDocument/formatting", params), Err(REQUEST_FAILED));
}
