//! Diagnostics of good, broken and half-typed documents.

use crate::support::{COIN, Editor, GREETING, LIGHT, PROPERTIES, position};
use serde_json::{Value, json};

/// The part of a text that a range covers, by UTF-16 units.
fn covered<'t>(text: &'t str, range: &Value) -> &'t str {
    let offset = |at: &Value| {
        (0..=text.len())
            .find(|offset| text.is_char_boundary(*offset) && position(text, *offset) == *at)
            .unwrap()
    };
    &text[offset(&range["start"])..offset(&range["end"])]
}

#[rustfmt::skip]
#[test]
fn good_broken_and_half_typed_documents_of_all_languages() {
    //     file         text                                                        codes
    check("a.ispl",     LIGHT,                                                      &[]);
    check("b.ispl",     &LIGHT.replace("on = ~on", "off = ~on"),                    &["ispl/unknown-variable"]);
    check("c.ispl",     &LIGHT[..LIGHT.find("Evolution").unwrap()],                 &["ispl/"]);
    check("a.bdi",      COIN,                                                       &[]);
    check("b.bdi",      &COIN.replace("EF p", "EF q"),                              &["bdi/"]);
    check("c.bdi",      &COIN[..COIN.find("endloop").unwrap()],                     &["bdi/"]);
    check("a.lcc",      GREETING,                                                   &[]);
    check("b.lcc",      &GREETING.replace("hello =>", "hello = >"),                 &["lcc/"]);
    check("c.lcc",      &GREETING[..GREETING.find("=>").unwrap()],                  &["lcc/"]);
    check("a.mu",       PROPERTIES,                                                 &[]);
    check("b.mu",       &PROPERTIES.replace("nu Z.", "nu Z"),                       &["mu/"]);
    check("c.mu",       "safe : ",                                                  &["mu/"]);
}

fn check(name: &str, text: &str, expected: &[&str]) {
    for text in [text.to_string(), text.replace('\n', "\r\n")] {
        let mut editor = Editor::new(&[]);
        editor.open(name, &text);
        let codes = editor.codes(name);
        let errors: Vec<&String> = editor
            .diagnostics(name)
            .iter()
            .zip(&codes)
            .filter(|(found, _)| found["severity"] == 1)
            .map(|(_, code)| code)
            .collect();
        assert_eq!(errors.is_empty(), expected.is_empty(), "{name}: {codes:?}");
        for prefix in expected {
            assert!(errors[0].starts_with(prefix), "{name}: {errors:?}");
        }
    }
}

#[test]
fn a_diagnostic_has_everything() {
    let mut editor = Editor::new(&[]);
    let text =
        LIGHT.replace("on : boolean;", "é : boolean; on : boolean;").replace("é : boolean; ", "/* no */ ");
    editor.open("a.ispl", &text);
    assert!(!editor.codes("a.ispl").is_empty());
    let text = LIGHT.replace("EF Light.on", "EF Light.onn");
    editor.replace("a.ispl", &text);
    let found = editor.diagnostics("a.ispl").remove(0);
    assert_eq!(found["source"], "masque");
    assert_eq!(found["severity"], 1);
    let page = found["codeDescription"]["href"].as_str().unwrap().trim_start_matches("file://").to_string();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(masque_driver::explain(found["code"].as_str().unwrap()).unwrap()));
    assert!(covered(&text, &found["range"]).contains("onn"), "{found}");
    assert!(found["message"].as_str().unwrap().contains("help: did you mean `on`?"), "{found}");
    let related = found["relatedInformation"].as_array().cloned().unwrap_or_default();
    assert!(related.iter().all(|place| place["location"]["uri"] == editor.uri("a.ispl")));
}

/// Positions count UTF-16 units, even behind signs of two units on the same line.
#[test]
fn positions_behind_wide_signs() {
    let mut editor = Editor::new(&[]);
    let text = "/* 😀é */ agent a is loop p := any endloop property possible initially: EF q;";
    editor.open("a.bdi", text);
    let found = editor.diagnostics("a.bdi").remove(0);
    assert_eq!(covered(text, &found["range"]), "q");
}

#[test]
fn changes_are_incremental_and_versions_only_grow() {
    let mut editor = Editor::new(&[]);
    editor.open("a.bdi", COIN);
    let start = position(COIN, COIN.find("EF p").unwrap() + 3);
    let end = position(COIN, COIN.find("EF p").unwrap() + 4);
    editor.change("a.bdi", json!([{"range": {"start": start, "end": end}, "text": "q"}]));
    // Two changes before the first is analysed: only the newest text counts.
    editor.change("a.bdi", json!([{"range": {"start": start, "end": end}, "text": "pq"}, {"range": {"start": end, "end": end}, "text": ""}]));
    editor.settle();
    let found = editor.diagnostics("a.bdi");
    assert!(found[0]["message"].as_str().unwrap().contains(" pq "), "{found:?}");
    editor.change_as("a.bdi", 2, json!([{"text": COIN}]));
    editor.settle();
    assert_eq!(editor.diagnostics("a.bdi"), found, "an old version is ignored");
    assert!(editor.all("window/logMessage")[0]["message"].as_str().unwrap().contains("version 2"));
    editor.change_as("a.bdi", 9, json!([{"text": COIN}]));
    editor.settle();
    assert!(editor.diagnostics("a.bdi").is_empty());
    let last = editor.all("textDocument/publishDiagnostics").pop().unwrap();
    assert_eq!(last["version"], 9);
}

const MAIN: &str = "import \"parts/light.ispl\";\nFormulae\n  EF Light.on;\nend Formulae\n";

/// A part is analysed with its importer, whether either of them is saved or only open.
#[test]
fn a_part_belongs_to_its_importer() {
    let part = &LIGHT[..LIGHT.find("Formulae").unwrap()];
    let mut editor = Editor::new(&[("main.ispl", MAIN), ("parts/light.ispl", part)]);
    editor.open("parts/light.ispl", part);
    assert_eq!(editor.codes("parts/light.ispl"), [""; 0]);
    // A mistake in the part is reported there; one that it causes in the importer is reported in the importer.
    let renamed = part.replace(" on ", " off ").replace("~on", "~off").replace(".on", ".off");
    editor.replace("parts/light.ispl", &renamed);
    assert!(editor.codes("parts/light.ispl").is_empty(), "{:?}", editor.diagnostics("parts/light.ispl"));
    assert_eq!(editor.codes("main.ispl").len(), 1, "{:?}", editor.received);
    editor.open("main.ispl", &MAIN.replace(".on", ".off"));
    assert!(editor.codes("main.ispl").is_empty());
    // Without the importer, the part has no properties and is its own model.
    editor.replace("main.ispl", "Agent");
    assert!(!editor.codes("main.ispl").is_empty());
    let uri = editor.uri("main.ispl");
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    editor.settle();
    // The file on the disk counts again.
    assert_eq!(editor.codes("main.ispl"), ["ispl/unknown-variable"]);
}

#[test]
fn diagnostics_disappear_with_the_document() {
    let mut editor = Editor::new(&[]);
    editor.open("a.ispl", "Agent");
    assert!(!editor.codes("a.ispl").is_empty());
    let uri = editor.uri("a.ispl");
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    editor.settle();
    assert!(editor.codes("a.ispl").is_empty());
}

/// A model that takes too long or needs too much memory has a warning, and the server goes on.
#[test]
fn loading_is_limited() {
    let mut editor = Editor::new(&[]);
    let settings = json!({"masque": {"load": {"memoryLimit": 1}}});
    editor.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    let variables: String = (0..60_000).map(|at| format!("v{at} : boolean;\n")).collect();
    editor.open("large.ispl", &LIGHT.replace("on : boolean;", &format!("on : boolean;\n{variables}")));
    assert_eq!(editor.codes("large.ispl"), ["load/stopped"]);
    editor.open("a.bdi", COIN);
    assert_eq!(editor.codes("a.bdi"), [""; 0]);
}

/// Several models show the same mistake of a shared part once.
#[test]
fn a_shared_part_has_each_diagnostic_once() {
    let part = LIGHT[..LIGHT.find("Formulae").unwrap()].replace("~on", "~onn");
    let mut editor =
        Editor::new(&[("one.ispl", &MAIN.replace("parts/", "")), ("two.ispl", &MAIN.replace("parts/", ""))]);
    editor.open("light.ispl", &part);
    assert_eq!(editor.codes("light.ispl").len(), 1);
}
