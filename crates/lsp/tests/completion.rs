//! Completion of words and names, and the words that all editors colour.

use std::collections::BTreeSet;

use masque_text::Operator;
use serde_json::{Value, json};

use crate::support::{COIN, Editor, GREETING, LIGHT, PROPERTIES, position};

fn labels(editor: &mut Editor, params: Value) -> Vec<String> {
    let items = editor.request("textDocument/completion", params).unwrap();
    items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_string()).collect()
}

#[test]
fn completion_knows_the_section() {
    let mut editor = Editor::new(&[("parts/light.ispl", LIGHT), ("note.bdi", COIN)]);
    let text = LIGHT.replace("Other : {switch}", "Other : {sw}").replace("EF Light.on", "EF Light.o");
    editor.open("a.ispl", &text);
    let in_protocol = editor.at("a.ispl", &text, "{sw}", 3);
    let found = labels(&mut editor, in_protocol);
    assert_eq!(found, ["switch"]);
    let member = editor.at("a.ispl", &text, "Light.o;", 7);
    assert_eq!(labels(&mut editor, member), ["on", "Action", "GreenStates", "RedStates"]);
    let comment = editor.at("a.ispl", &text, "mit", 2);
    assert!(labels(&mut editor, comment).is_empty());
    let text = "import \"pa";
    editor.replace("a.ispl", text);
    let import = editor.at("a.ispl", text, "pa", 2);
    assert_eq!(labels(&mut editor, import), ["parts/light.ispl"]);
}

/// A text is typed at the end of a document, whose comment has characters of two UTF-16 units.
#[test]
fn completion_in_the_other_languages() {
    #[rustfmt::skip]
    let cases = [
        ("a.bdi", COIN,       "\r\n",                        "property", "endloop"),
        ("a.bdi", COIN,       "\nproperty q in ",            "a",        "p"),
        ("a.bdi", COIN,       "\nproperty q: AG ",           "p",        "a"),
        ("a.bdi", COIN,       "\nagent b is loop ",          "endloop",  "p"),
        ("a.bdi", COIN,       "\nagent b is loop /* é */ sk", "skip",    "AG"),
        ("a.lcc", GREETING,   "\r\nkn",                      "know",     "hello"),
        ("a.lcc", GREETING,   "\nagent a(gre",               "greeter",  "g1"),
        ("a.lcc", GREETING,   "\na(x, X) :: hello => a(guest, ", "h1",   "guest"),
        ("a.lcc", GREETING,   "\nproperty p : <out(",        "hello",    "AG"),
        ("a.mu",  PROPERTIES, "live : nu Y. <go>",           "inev",     "go"),
        ("a.mu",  PROPERTIES, "one : <go>tt ;\ntwo : <",     "go",       "AG"),
    ];
    for (name, start, typed, wanted, unwanted) in cases {
        let text = format!("{start}{typed}");
        let mut editor = Editor::new(&[]);
        editor.open(name, &text);
        let place = position(&text, text.len());
        let at = json!({"textDocument": {"uri": editor.uri(name)}, "position": place});
        let found = labels(&mut editor, at);
        assert!(found.iter().any(|label| label == wanted), "{wanted} after {typed:?}: {found:?}");
        assert!(!found.iter().any(|label| label == unwanted), "{unwanted} after {typed:?}: {found:?}");
    }
}

/// The server colours the words of `editors/keywords.json`, from which the plain syntax files of the editors are made.
#[test]
fn all_editors_have_the_same_words() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/keywords.json");
    let list: Value = serde_json::from_str(&std::fs::read_to_string(list).unwrap()).unwrap();
    let check = |language: &str, keywords: Vec<&str>, operators: &[Operator]| {
        let classes = ["keyword", "operator", "modality", "function", "constant", "type"];
        let listed = classes.iter().flat_map(|class| list[language][*class].as_array().unwrap());
        let listed: BTreeSet<&str> = listed.map(|word| word.as_str().unwrap()).collect();
        let is_word = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic());
        let known = operators.iter().map(|one| one.word).chain(keywords).filter(is_word);
        assert_eq!(known.collect::<BTreeSet<&str>>(), listed, "{language}");
    };
    check("ispl", masque_ispl::KEYWORDS.to_vec(), &masque_ispl::OPERATORS);
    check("bdi", masque_bdi::keywords().collect(), &masque_bdi::OPERATORS);
    check("lcc", masque_lcc::keywords().collect(), &masque_lcc::OPERATORS);
    check("mu", masque_mu::keywords().collect(), &masque_mu::OPERATORS);
}
