//! Requests about names.

use crate::support::{COIN, Editor, GREETING, LIGHT, PROPERTIES, position};
use serde_json::{Value, json};

const REQUEST_FAILED: i32 = -32803;

/// An editor with one document.
fn editor(name: &str, text: &str) -> Editor {
    let mut editor = Editor::new(&[]);
    editor.open(name, text);
    editor
}

fn starts(locations: &Value) -> Vec<Value> {
    locations.as_array().unwrap().iter().map(|found| found["range"]["start"].clone()).collect()
}

#[test]
fn hover_shows_declarations_operators_and_nothing_else() {
    for text in [LIGHT.to_string(), LIGHT.replace('\n', "\r\n")] {
        let mut editor = editor("a.ispl", &text);
        let hover = editor.request("textDocument/hover", editor.at("a.ispl", &text, "Light.on", 7)).unwrap();
        let shown = hover["contents"]["value"].as_str().unwrap();
        assert!(shown.contains("on : boolean") && shown.contains("bit"), "{shown}");
        let hover = editor.request("textDocument/hover", editor.at("a.ispl", &text, "EF Light", 1)).unwrap();
        assert!(hover["contents"]["value"].as_str().unwrap().contains("On some path"));
        let hover = editor.request("textDocument/hover", editor.at("a.ispl", &text, "Übung", 2)).unwrap();
        assert_eq!(hover, Value::Null);
    }
    let mut lcc = editor("a.lcc", GREETING);
    let hover = lcc.request("textDocument/hover", lcc.at("a.lcc", GREETING, "=>", 1)).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("sends the message"), "{hover}");
    let mut mu = editor("a.mu", PROPERTIES);
    let hover = mu.request("textDocument/hover", mu.at("a.mu", PROPERTIES, "nu Z", 0)).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("greatest set"));
    let mut bdi = editor("a.bdi", COIN);
    let hover = bdi.request("textDocument/hover", bdi.at("a.bdi", COIN, "any", 3)).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("chosen freely"));
}

#[test]
fn definitions_references_and_highlights() {
    let mut editor = editor("a.ispl", LIGHT);
    let at = editor.at("a.ispl", LIGHT, "Action = switch", 10);
    let declared = position(LIGHT, LIGHT.find("switch}").unwrap());
    for method in ["definition", "declaration"] {
        let found = editor.request(&format!("textDocument/{method}"), at.clone()).unwrap();
        assert_eq!((&found["uri"], &found["range"]["start"]), (&editor.uri("a.ispl"), &declared));
    }
    let mut params = at.clone();
    params["context"] = json!({"includeDeclaration": true});
    let all: Vec<Value> = LIGHT.match_indices("switch").map(|(offset, _)| position(LIGHT, offset)).collect();
    assert_eq!(starts(&editor.request("textDocument/references", params.clone()).unwrap()), all);
    params["context"] = json!({"includeDeclaration": false});
    assert_eq!(starts(&editor.request("textDocument/references", params).unwrap()), all[1..]);
    let highlights = editor.request("textDocument/documentHighlight", at).unwrap();
    assert_eq!(starts(&highlights), all);
    assert_eq!(highlights[0]["kind"], 3, "the declaration writes");
}

#[test]
fn renaming_changes_all_occurrences_in_all_files() {
    let part = &LIGHT[..LIGHT.find("Formulae").unwrap()];
    let main = "import \"light.ispl\";\nFormulae\n  EF Light.on;\nend Formulae\n";
    let other = "import \"light.ispl\";\nFormulae\n  AG Light.on;\nend Formulae\n";
    let mut editor = Editor::new(&[("light.ispl", part), ("main.ispl", main), ("other.ispl", other)]);
    editor.open("light.ispl", part);
    let at = editor.at("light.ispl", part, "on : boolean", 1);
    let prepared = editor.request("textDocument/prepareRename", at.clone()).unwrap();
    assert_eq!(prepared["placeholder"], "on");
    let mut params = at;
    params["newName"] = json!("bright");
    let edit = editor.request("textDocument/rename", params).unwrap();
    let count = |name: &str| edit["changes"][editor.uri(name).as_str().unwrap()].as_array().unwrap().len();
    let in_part = ["on : boolean", "on = ~on", "~on", "Light.on = true", "Light.on;"].len();
    assert_eq!((count("light.ispl"), count("main.ispl"), count("other.ispl")), (in_part, 1, 1));
}

#[rustfmt::skip]
#[test]
fn renaming_refuses_what_is_no_name_or_is_taken() {
    let mut editor = editor("a.ispl", LIGHT);
    for (new, is_accepted) in [
        ("bright", true), ("on", true), ("lit", false), ("", false), ("1on", false), ("a b", false), ("end", false), ("Other", false),
        ("é", false), ("Light", false), ("switch", false),
    ] {
        let mut params = editor.at("a.ispl", LIGHT, "on : boolean", 0);
        params["newName"] = json!(new);
        let result = editor.request("textDocument/rename", params);
        assert_eq!(result.is_ok(), is_accepted, "{new}");
        if !is_accepted {
            assert_eq!(result, Err(REQUEST_FAILED));
        }
    }
    let at = editor.at("a.ispl", LIGHT, "Übung", 0);
    assert_eq!(editor.request("textDocument/prepareRename", at), Err(REQUEST_FAILED));
}

#[test]
fn outlines_of_documents_and_of_the_workspace() {
    let mut editor = Editor::new(&[("saved.ispl", &LIGHT.replace("Light", "Lamp"))]);
    editor.open("a.ispl", LIGHT);
    let params = json!({"textDocument": {"uri": editor.uri("a.ispl")}});
    let symbols = editor.request("textDocument/documentSymbol", params.clone()).unwrap();
    let names = |symbols: &Value| -> Vec<Value> {
        symbols.as_array().unwrap().iter().map(|symbol| symbol["name"].clone()).collect()
    };
    assert_eq!(names(&symbols), ["Light", "lit"]);
    assert_eq!(names(&symbols[0]["children"]), ["on", "switch"]);
    let found = editor.request("workspace/symbol", json!({"query": "lamp"})).unwrap();
    assert_eq!(
        (found.as_array().unwrap().len(), &found[0]["location"]["uri"]),
        (1, &editor.uri("saved.ispl"))
    );
    let folds = editor.request("textDocument/foldingRange", params).unwrap();
    assert!(
        folds.as_array().unwrap().iter().all(|fold| fold["startLine"].as_u64() < fold["endLine"].as_u64())
    );
    let mut comments = self::editor("a.lcc", "% one\n% two\n/* three\nfour */\nagent a(b, c).");
    let params = json!({"textDocument": {"uri": comments.uri("a.lcc")}});
    let folds = comments.request("textDocument/foldingRange", params).unwrap();
    assert_eq!(folds, json!([{"startLine": 0, "endLine": 3, "kind": "comment"}]));
}

/// Tokens as absolute places: line, character, length and type.
fn tokens(editor: &mut Editor, name: &str) -> Vec<(u64, u64, u64, u64)> {
    let params = json!({"textDocument": {"uri": editor.uri(name)}});
    let data = editor.request("textDocument/semanticTokens/full", params).unwrap()["data"].clone();
    let numbers: Vec<u64> = data.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
    let (mut line, mut character) = (0, 0);
    let absolute = |token: &[u64]| {
        character = if token[0] == 0 { character + token[1] } else { token[1] };
        line += token[0];
        (line, character, token[2], token[3])
    };
    numbers.chunks(5).map(absolute).collect()
}

#[test]
fn semantic_tokens_of_all_languages() {
    const KEYWORD: u64 = 8;
    const COMMENT: u64 = 9;
    for (name, text) in [("a.ispl", LIGHT), ("a.bdi", COIN), ("a.lcc", GREETING), ("a.mu", PROPERTIES)] {
        for text in [text.to_string(), text.replace('\n', "\r\n"), text[..text.len() / 2].to_string()] {
            let text = if text.is_char_boundary(text.len()) { text } else { continue };
            let mut editor = editor(name, &text);
            let found = tokens(&mut editor, name);
            let comment = text.lines().next().unwrap().encode_utf16().count() as u64;
            assert_eq!(found[0], (0, 0, comment, COMMENT), "{name}");
            assert!(found.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1)), "{name}");
            assert!(name == "a.mu" || found.iter().any(|token| token.3 == KEYWORD), "{name}");
        }
    }
    // `Light` is a class, and its declaration is marked.
    let mut editor = editor("a.ispl", LIGHT);
    assert!(tokens(&mut editor, "a.ispl").contains(&(1, 6, 5, 0)));
}

#[test]
fn signatures_of_operators() {
    let text = LIGHT.replace("AG Light.on", "AG K(Light, Li");
    let mut editor = editor("a.ispl", &text);
    let help =
        editor.request("textDocument/signatureHelp", editor.at("a.ispl", &text, "Light, Li", 9)).unwrap();
    assert_eq!(help["signatures"][0]["label"], "K(agent, phi)");
    assert_eq!(help["activeParameter"], 1);
    let outside = editor.at("a.ispl", &text, "EF Light", 2);
    assert_eq!(editor.request("textDocument/signatureHelp", outside).unwrap(), Value::Null);
}

#[test]
fn an_import_leads_to_its_file() {
    let mut editor = Editor::new(&[("light.ispl", LIGHT)]);
    let text = "import \"light.ispl\";";
    editor.open("main.ispl", text);
    let found = editor.request("textDocument/definition", editor.at("main.ispl", text, "light", 2)).unwrap();
    assert_eq!(found["uri"], editor.uri("light.ispl"));
}

/// Names of the other languages are found, and renamed with all their occurrences.
#[test]
fn names_of_the_other_languages() {
    for (name, text, word, n_uses) in [
        ("a.bdi", COIN, "p := any", 2),
        ("a.lcc", GREETING, "hello =>", 3),
        ("a.mu", PROPERTIES, "Z. [-]", 2),
    ] {
        let mut editor = editor(name, text);
        let mut params = editor.at(name, text, word, 0);
        let found = editor.request("textDocument/definition", params.clone()).unwrap();
        assert_eq!(found["range"]["start"], params["position"], "{name}");
        params["newName"] = json!(if name == "a.mu" { "Y" } else { "fresh" });
        let edit = editor.request("textDocument/rename", params).unwrap();
        let changes = edit["changes"][editor.uri(name).as_str().unwrap()].as_array().unwrap();
        assert_eq!(changes.len(), n_uses, "{name}");
    }
}
