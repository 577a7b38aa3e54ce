//! Random edits of the models of the gallery: no panic, and in the end the diagnostics of a fresh server.
//!
//! `EDITS=100` sets the number of edits of each file; `cargo test` makes a few.

use std::path::{Path, PathBuf};

use crate::support::{Editor, position};
use masque_driver::Language;
use serde_json::{Value, json};

/// Number of edits of each file, unless the environment sets it.
const N_EDITS: usize = 4;
/// Number of edits of a file between two comparisons with a fresh server.
const N_BETWEEN: usize = 25;

fn gallery() -> Vec<PathBuf> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let (mut files, mut folders) = (Vec::new(), vec![models]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if Language::of_path(&path).is_some_and(|language| language != Language::Aut)
                && entry.metadata().unwrap().len() < 100_000
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A random change of a text, as the protocol sends it, and the text after it.
fn edit(random: &mut fastrand::Rng, text: &str, original: &str) -> (Value, String) {
    const PIECES: [&str; 16] = [
        "(",
        ")",
        ";",
        "end",
        "\n",
        "\r\n",
        "é",
        "😀",
        " ",
        "Agent x",
        "AG ",
        "\"",
        "--",
        "/*",
        "=>",
        "import \"x\"",
    ];
    if random.u8(..20) == 0 {
        let cut = boundary(random, original);
        let whole = if random.bool() { original.to_string() } else { original[..cut].to_string() };
        return (json!({"text": whole}), whole);
    }
    let (a, b) = (boundary(random, text), boundary(random, text));
    let from = a.min(b);
    // Most deletions are short.
    let to =
        if random.u8(..4) == 0 { a.max(b) } else { floor(text, (from + random.usize(..9)).min(text.len())) };
    let (from, to) = if random.bool() { (from, from) } else { (from, to.max(from)) };
    let new = match random.u8(..3) {
        0 => String::new(),
        1 => (*random.choice(&PIECES).unwrap()).to_string(),
        _ => {
            let start = boundary(random, original);
            original[start..floor(original, (start + 20).min(original.len()))].to_string()
        }
    };
    let change = json!({"range": {"start": position(text, from), "end": position(text, to)}, "text": new});
    // Positions of the test know `\n` only, so a lone `\r` must not come into being.
    let result = format!("{}{new}{}", &text[..from], &text[to..]);
    if result.replace("\r\n", "").contains('\r') {
        return (json!({"text": text}), text.to_string());
    }
    (change, result)
}

fn floor(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn boundary(random: &mut fastrand::Rng, text: &str) -> usize {
    floor(text, random.usize(..=text.len()))
}

#[test]
fn random_edits_end_in_the_same_diagnostics() {
    let n_edits = std::env::var("EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(N_EDITS);
    let mut n_all = 0;
    for (seed, path) in gallery().into_iter().enumerate() {
        let original = std::fs::read_to_string(&path).unwrap().replace('\r', "");
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let mut random = fastrand::Rng::with_seed(seed as u64);
        let mut editor = Editor::new(&[]);
        editor.open(&name, &original);
        let (mut text, mut version) = (original.clone(), 1);
        for at in 1..=n_edits {
            n_all += 1;
            if random.u8(..10) == 0 {
                // A version that is too old is ignored.
                let old = random.i32(-3..=version);
                editor.change_as(&name, old, json!([{"text": "Agent"}]));
            }
            let (change, after) = edit(&mut random, &text, &original);
            version += random.i32(1..=3);
            editor.change_as(&name, version, json!([change]));
            text = after;
            // Some changes come before the last one is analysed.
            if random.bool() {
                editor.settle();
            }
            some_request(&mut random, &mut editor, &name, &text);
            if at % N_BETWEEN == 0 || at == n_edits {
                editor.settle();
                let mut fresh = Editor::new(&[]);
                fresh.open(&name, &text);
                let (found, expected) = (places(&editor, &name), places(&fresh, &name));
                assert_eq!(found, expected, "{} after {at} edits:\n{text}", path.display());
            }
        }
    }
    println!("{n_all} edits");
}

/// Codes, ranges and messages. Pages lie in different folders.
fn places(editor: &Editor, name: &str) -> Vec<(Value, Value, String)> {
    let folder = editor.folder.display().to_string();
    let place = |found: &Value| {
        let message = found["message"].as_str().unwrap().replace(&folder, "");
        (found["code"].clone(), found["range"].clone(), message)
    };
    editor.diagnostics(name).iter().map(place).collect()
}

/// Sends a request about a random position; it must have an answer.
fn some_request(random: &mut fastrand::Rng, editor: &mut Editor, name: &str, text: &str) {
    const METHODS: [&str; 14] = [
        "hover",
        "definition",
        "references",
        "documentHighlight",
        "prepareRename",
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "completion",
        "signatureHelp",
        "formatting",
        "codeLens",
        "codeAction",
        "inlayHint",
    ];
    let method = random.choice(METHODS).unwrap();
    let offset = boundary(random, text);
    let at = position(text, offset);
    let params = json!({
        "textDocument": {"uri": editor.uri(name)}, "position": at, "range": {"start": at, "end": at},
        "context": {"includeDeclaration": true, "diagnostics": []}, "options": {"tabSize": 2, "insertSpaces": true},
    });
    const INTERNAL_ERROR: i32 = -32603;
    let answer = editor.request(&format!("textDocument/{method}"), params);
    assert_ne!(answer, Err(INTERNAL_ERROR), "{method} at {offset} of {name}:\n{text}");
}
