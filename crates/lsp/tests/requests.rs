//! Every request that the server announces has an answer, whatever is in the document and whatever happens to its file.

use serde_json::{Value, json};

use crate::support::{COIN, Editor, GREETING, LIGHT, PROPERTIES, position};

const INVALID_PARAMS: i32 = -32602;
const REQUEST_FAILED: i32 = -32803;

/// The capabilities of the server, and the requests that each of them stands for.
#[rustfmt::skip]
const REQUESTS: [(&str, &[&str]); 18] = [
    ("hoverProvider",                   &["textDocument/hover"]),
    ("definitionProvider",              &["textDocument/definition"]),
    ("declarationProvider",             &["textDocument/declaration"]),
    ("referencesProvider",              &["textDocument/references"]),
    ("documentHighlightProvider",       &["textDocument/documentHighlight"]),
    ("renameProvider",                  &["textDocument/prepareRename", "textDocument/rename"]),
    ("documentSymbolProvider",          &["textDocument/documentSymbol"]),
    ("workspaceSymbolProvider",         &["workspace/symbol"]),
    ("foldingRangeProvider",            &["textDocument/foldingRange"]),
    ("semanticTokensProvider",          &["textDocument/semanticTokens/full"]),
    ("completionProvider",              &["textDocument/completion"]),
    ("signatureHelpProvider",           &["textDocument/signatureHelp"]),
    ("documentFormattingProvider",      &["textDocument/formatting"]),
    ("documentRangeFormattingProvider", &["textDocument/rangeFormatting"]),
    ("codeLensProvider",                &["textDocument/codeLens"]),
    ("codeActionProvider",              &["textDocument/codeAction"]),
    ("inlayHintProvider",               &["textDocument/inlayHint"]),
    ("diagnosticProvider",              &["textDocument/diagnostic"]),
];

const LANGUAGES: [(&str, &str); 4] = [("ispl", LIGHT), ("bdi", COIN), ("lcc", GREETING), ("mu", PROPERTIES)];

/// Capabilities of a client that asks for everything.
fn capabilities() -> Value {
    json!({
        "textDocument": {"diagnostic": {}, "inlayHint": {}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
    })
}

fn editor(files: &[(&str, &str)]) -> Editor {
    Editor::with(files, capabilities(), |_| {})
}

/// Sends every request about a document, at a position. Formatting and renaming may be refused; everything else has a
/// result.
#[track_caller]
fn ask_everything(editor: &mut Editor, name: &str, at: &Value) {
    for method in REQUESTS.iter().flat_map(|(_, methods)| *methods) {
        let range = json!({"start": at, "end": {"line": at["line"].as_u64().unwrap() + 2, "character": 9}});
        let params = json!({
            "textDocument": {"uri": editor.uri(name)}, "position": at, "newName": "x", "range": range, "query": "l",
            "context": {"includeDeclaration": true, "diagnostics": []},
            "options": {"tabSize": 2, "insertSpaces": true},
        });
        let may_be_refused = method.contains("ormatting") || method.contains("ename");
        match editor.request(method, params) {
            Ok(_) => {}
            Err(code) => assert!(may_be_refused && code == REQUEST_FAILED, "{method} on {name}: {code}"),
        }
    }
    for command in masque_lsp::COMMANDS.iter().filter(|command| **command != "masque.cancel") {
        let argument = json!({"uri": editor.uri(name), "property": "1"});
        let params = json!({"command": command, "arguments": [argument]});
        assert_eq!(editor.request("workspace/executeCommand", params), Err(REQUEST_FAILED), "no program");
    }
    let cancel = json!({"command": "masque.cancel", "arguments": [{"uri": editor.uri(name)}]});
    assert!(editor.request("workspace/executeCommand", cancel).is_ok());
    let logged = editor.all("window/logMessage");
    assert!(logged.is_empty(), "{name}: {logged:?}");
}

/// The offsets of a text at which requests are made: all starts of characters of a short text, some of a long one.
fn offsets(text: &str, n: usize) -> impl Iterator<Item = usize> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let step = starts.len().div_ceil(n);
    let last = starts.last().copied();
    starts.into_iter().step_by(step).chain(last)
}

#[test]
fn the_table_has_all_that_is_announced() {
    let mut editor = editor(&[]);
    let mut announced = editor.capabilities.clone();
    let announced = announced.as_object_mut().unwrap();
    for other in ["positionEncoding", "textDocumentSync", "executeCommandProvider", "workspace"] {
        announced.remove(other).unwrap();
    }
    let names: Vec<&String> = announced.keys().collect();
    let mut known: Vec<&str> = REQUESTS.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(names, known);
    assert_eq!(editor.request("textDocument/unheard", json!({})), Err(-32601));
}

/// Good, broken and half-typed documents with comments of two UTF-16 units, and with both kinds of line ends.
#[test]
fn documents_of_all_languages() {
    for (ending, good) in LANGUAGES {
        let name = format!("a.{ending}");
        let middle = good.char_indices().nth(good.chars().count() * 2 / 3).unwrap().0;
        let broken = good.replace([';', ':'], " ");
        let noise = good.replace([' '], " ( é😀 ");
        for text in [good, &good[..middle], &broken, &noise] {
            for text in [text.to_string(), text.replace('\n', "\r\n")] {
                let mut editor = editor(&[]);
                editor.open(&name, &text);
                for offset in offsets(&text, 12) {
                    ask_everything(&mut editor, &name, &position(&text, offset));
                }
                // Inside of a pair of UTF-16 units, behind the end of a line, and behind the end of the text.
                let pair = text.lines().next().unwrap().split('😀').next().unwrap().encode_utf16().count();
                for (line, character) in
                    [(0, pair as u64 + 1), (1, 9_999), (9_999_u64, 3), (u32::MAX as u64 - 2, u32::MAX.into())]
                {
                    ask_everything(&mut editor, &name, &json!({"line": line, "character": character}));
                }
            }
        }
    }
}

/// A file that is not on the disk, disappears, becomes a folder, is closed, is empty, or is no text.
#[test]
fn files_of_all_languages() {
    let at = json!({"line": 1, "character": 7});
    for (ending, good) in LANGUAGES {
        let name = |stem: &str| format!("{stem}.{ending}");
        let (gone, folder) = (name("gone"), name("folder"));
        let inside = format!("{folder}/x.txt");
        let mut editor =
            editor(&[(&name("disk"), good), (&gone, good), (&inside, ""), (&name("closed"), good)]);
        let texts = [
            (gone.clone(), good),
            (folder.clone(), good),
            (name("disk"), good),
            (name("unsaved"), good),
            (name("empty"), ""),
            (name("binary"), "\u{0}\u{1}\u{fffd}\u{feff}"),
            (format!("notes-{ending}.txt"), "no model at all"),
            (name("closed"), good),
        ];
        for (name, text) in &texts {
            editor.open(name, text);
        }
        let closed = json!({"textDocument": {"uri": editor.uri(&name("closed"))}});
        editor.notify("textDocument/didClose", closed);
        editor.settle();
        std::fs::remove_file(editor.folder.join(&gone)).unwrap();
        let disk = editor.folder.join(name("disk"));
        std::fs::remove_file(&disk).unwrap();
        std::fs::create_dir(&disk).unwrap();
        // Before and after the server notices.
        for _ in 0..2 {
            for (name, _) in &texts {
                ask_everything(&mut editor, name, &at);
            }
            ask_everything(&mut editor, &name("never-opened"), &at);
            editor.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
            editor.settle();
        }
    }
}

#[test]
fn wrong_parameters_are_refused() {
    let mut editor = editor(&[]);
    editor.open("a.ispl", LIGHT);
    for method in
        REQUESTS.iter().flat_map(|(_, methods)| *methods).filter(|method| **method != "workspace/symbol")
    {
        for params in [Value::Null, json!([]), json!({"textDocument": 7})] {
            assert_eq!(editor.request(method, params), Err(INVALID_PARAMS), "{method}");
        }
    }
    let bad = json!({"command": "masque.check", "arguments": []});
    assert_eq!(editor.request("workspace/executeCommand", bad), Err(INVALID_PARAMS));
    let bad = json!({"command": "masque.nothing", "arguments": [{"uri": editor.uri("a.ispl")}]});
    assert_eq!(editor.request("workspace/executeCommand", bad), Err(INVALID_PARAMS));
}

fn asked(editor: &mut Editor, name: &str, known: Option<&str>) -> Value {
    let params = json!({"textDocument": {"uri": editor.uri(name)}, "previousResultId": known});
    editor.request("textDocument/diagnostic", params).unwrap()
}

/// A client that asks gets the diagnostics that are sent to other clients, and a request to ask again.
#[test]
fn diagnostics_are_answers_for_clients_that_ask() {
    for (ending, good) in LANGUAGES {
        let name = format!("a.{ending}");
        let text = good.replace([';', '.'], " ");
        let mut pushed = Editor::new(&[]);
        pushed.open(&name, &text);
        let mut editor = editor(&[]);
        editor.open(&name, &text);
        assert!(editor.all("textDocument/publishDiagnostics").is_empty());
        assert!(!editor.all("workspace/diagnostic/refresh").is_empty());
        let found = asked(&mut editor, &name, None);
        assert_eq!(found["kind"], "full");
        let plain = |all: &[Value]| -> Vec<Value> {
            all.iter().map(|one| json!([one["code"], one["range"], one["message"]])).collect()
        };
        assert_eq!(plain(found["items"].as_array().unwrap()), plain(&pushed.diagnostics(&name)), "{name}");
        assert!(!pushed.diagnostics(&name).is_empty(), "{name}");
        let known = found["resultId"].as_str().unwrap();
        let again = asked(&mut editor, &name, Some(known));
        assert_eq!(again, json!({"kind": "unchanged", "resultId": known}));
        editor.replace(&name, good);
        assert_eq!(asked(&mut editor, &name, Some(known))["items"], json!([]), "{name}");
        assert_eq!(asked(&mut editor, "closed.ispl", None)["items"], json!([]));
    }
}

/// A question about a text that is not analysed yet waits, and can be cancelled.
#[test]
fn a_question_waits_for_the_newest_text() {
    let mut editor = editor(&[]);
    editor.open("a.bdi", COIN);
    editor.change("a.bdi", json!([{"text": COIN.replace("EF p", "EF q")}]));
    let params = json!({"textDocument": {"uri": editor.uri("a.bdi")}});
    let (first, second) =
        (editor.begin("textDocument/diagnostic", &params), editor.begin("textDocument/diagnostic", &params));
    assert!(editor.answer(first).is_none() && editor.answer(second).is_none());
    editor.notify("$/cancelRequest", json!({"id": second}));
    assert_eq!(editor.answer(second), Some(Err(-32800)));
    editor.settle();
    let found = editor.answer(first).unwrap().unwrap();
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    // A question that waits at the end is cancelled.
    editor.change("a.bdi", json!([{"text": COIN}]));
    let last = editor.begin("textDocument/diagnostic", &params);
    editor.request("shutdown", Value::Null).unwrap();
    assert_eq!(editor.answer(last), Some(Err(-32800)));
}
