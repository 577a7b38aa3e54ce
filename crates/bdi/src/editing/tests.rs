//! Completion in half-typed systems: the place of `@` is replaced by a text, whose end is the position.

use masque_text::{NoFiles, Sources};

use super::{OPERATORS, completions, keywords};

const MODEL: &str = "
@TOP
agent one is
  var x : {low, high}, on;
  bdi B(two, y);
  @DECLARATIONS
  init on := true;
  loop
    do send(x);
    @PROGRAM
  endloop
view B(two) in one is
  var y, z; loop do receive; y := any endloop
agent two is
  var w : 0..3;
  loop do take; w := any endloop
mas = one || two;
property first in one: AG on;
@ITEM
";

/// The completions where a text ends that stands in one of the places of the model.
fn offered(place: &str, typed: &str) -> Vec<String> {
    let mut text = MODEL.replace(place, &format!("{typed}|"));
    for other in ["@TOP", "@DECLARATIONS", "@PROGRAM", "@ITEM"] {
        text = text.replace(other, "");
    }
    // The position is a bar that the typed text does not have.
    let position = text.find(&format!("{typed}|")).unwrap() + typed.len();
    text.remove(position);
    let mut sources = Sources::default();
    let file = sources.add("half.bdi", text).unwrap();
    let index = crate::names(&mut sources, file, &NoFiles);
    completions(&index, &sources, position as u32).into_iter().map(|one| one.text).collect()
}

#[track_caller]
fn check(place: &str, typed: &str, wanted: &[&str], unwanted: &[&str]) {
    let found = offered(place, typed);
    for word in wanted {
        assert!(found.iter().any(|one| one == word), "{word} is missing after {typed:?}: {found:?}");
    }
    for word in unwanted {
        assert!(!found.iter().any(|one| one == word), "{word} is offered after {typed:?}: {found:?}");
    }
}

#[test]
fn items_and_their_headings() {
    check("@TOP", "", &["agent", "property", "option", "import"], &["loop", "x", "AG"]);
    check("@TOP", "option ", &["delay", "totality"], &["x", "agent"]);
    check("@TOP", "option delay = ", &["all", "none", "send"], &["trim", "agent"]);
    check("@TOP", "option totality = t", &["trim", "strict"], &["all"]);
    check("@TOP", "top ", &["one", "two"], &["x", "agent"]);
    check("@ITEM", "", &["agent", "check", "property"], &["endloop", "x"]);
    check("@ITEM", "mas = one || ", &["one", "two"], &["x", "agent"]);
    check("@ITEM", "agent three ", &["is"], &["x", "agent"]);
    check("@ITEM", "view ", &["one", "B", "I"], &["PB", "x", "agent"]);
    check("@ITEM", "view B(", &["one", "two"], &["x", "B"]);
    check("@ITEM", "view B(two) ", &["in"], &["is", "one"]);
    check("@ITEM", "view B(two) in ", &["one"], &["in", "top"]);
    check("@ITEM", "view B(two) in one ", &["is"], &["in", "one"]);
    check("@ITEM", "check ", &["serial", "subworld"], &["B", "x"]);
    check("@ITEM", "check serial ", &["B", "D", "I"], &["one", "serial"]);
    check("@ITEM", "check serial B(", &["two"], &["B", "x"]);
    check("@ITEM", "check realism ", &["strong", "weak"], &["one"]);
    check("@ITEM", "check realism weak ", &["one"], &["strong"]);
    check("@ITEM", "check subworld ", &["one", "top"], &["B"]);
    check("@ITEM", "check subworld top.", &["B", "D"], &["top", "one"]);
    check("@ITEM", "check subworld top in ", &["one", "top"], &["B"]);
}

#[test]
fn programs() {
    check("@DECLARATIONS", "", &["var", "fair", "init", "do"], &["agent", "AG"]);
    check("@DECLARATIONS", "var q : {", &[], &["x", "var"]);
    check("@DECLARATIONS", "bdi ", &["B", "D"], &["x", "var"]);
    check("@DECLARATIONS", "bdi B(", &["two"], &["x", "B"]);
    check("@DECLARATIONS", "bdi B(two, ", &["y", "z"], &["x", "w", "one"]);
    check("@DECLARATIONS", "fair ", &["x", "on"], &["y", "loop"]);
    check("@PROGRAM", "", &["x", "on", "do", "if", "endloop", "B"], &["y", "w", "AG", "agent"]);
    check("@PROGRAM", "x := ", &["low", "high", "any"], &["endloop", "y"]);
    check("@PROGRAM", "x := l", &["low", "high"], &["y"]);
    check("@PROGRAM", "on := ", &["true", "any", "on", "B"], &["low", "y"]);
    check("@PROGRAM", "on := true, ", &["x", "on"], &["any", "endloop"]);
    check("@PROGRAM", "do ", &["send", "read"], &["receive", "take", "x"]);
    check("@PROGRAM", "if ", &["x", "on", "B", "AG"], &["skip", "y"]);
    check("@PROGRAM", "if x = ", &["low", "high"], &["on", "y"]);
    check("@PROGRAM", "if on ", &["then"], &["x", "else"]);
    check("@PROGRAM", "if on | ", &["x", "on"], &["skip"]);
    check("@PROGRAM", "if on then ", &["skip", "x", "do"], &["AG"]);
    check("@PROGRAM", "if on then skip ", &["else", "endloop"], &["x", "agent"]);
    check("@PROGRAM", "skip | ", &["skip", "x", "do"], &["AG"]);
    check("@PROGRAM", "(do send(on)) | (", &["skip", "do"], &["AG"]);
    check("@PROGRAM", "on := (x = low | ", &["on", "AG"], &["skip"]);
    check("@PROGRAM", "if B(", &["one", "two"], &["x", "B"]);
    check("@PROGRAM", "B(two, y & ", &["y", "z"], &["x", "w", "skip"]);
    check("@PROGRAM", "B(two, y) := ", &["true", "on"], &["y", "skip"]);
    check("@PROGRAM", "forall a ", &["in"], &["AP", "x"]);
    check("@PROGRAM", "forall a in ", &["AP"], &["x"]);
    check("@PROGRAM", "// a comment about ", &[], &["x"]);
    check("@PROGRAM", "/* a comment\n about ", &[], &["x", "do"]);
}

#[test]
fn formulas_of_properties() {
    check("@ITEM", "property p ", &["in", "initially"], &["x", "AG"]);
    check("@ITEM", "property p initially ", &["in"], &["initially"]);
    check("@ITEM", "property p in ", &["top", "one", "two"], &["x"]);
    check("@ITEM", "property p in one.", &["B", "I"], &["x", "one"]);
    check("@ITEM", "property p: ", &["x", "on", "AG", "subworld", "blind", "PB"], &["w", "y", "skip", "any"]);
    check("@ITEM", "property p in two: ", &["w"], &["x", "y"]);
    check("@ITEM", "property p in top.B(two): ", &["y", "z"], &["x", "w"]);
    check("@ITEM", "property p: AG B(", &["one", "two"], &["x"]);
    check("@ITEM", "property p: AG B(two, ", &["y", "z"], &["x", "w"]);
    check("@ITEM", "property p: AG D(two, ", &["w"], &["x", "y"]);
    check("@ITEM", "property p: AG B_two ", &["y"], &["x", "w"]);
    check("@ITEM", "property p: B(two, y) & x = ", &["low", "high"], &["y"]);
    check("@ITEM", "property p: E[on ", &["U", "R", "W"], &["x"]);
    check("@ITEM", "property p: do ", &["send"], &["x", "take"]);
    check("@ITEM", "property p: blind ", &["I"], &["x", "B"]);
    check("@ITEM", "property p: persistent I(two, w = 1) ", &["unless"], &["x"]);
    check("@ITEM", "property p: subworld(", &["top", "one"], &["x"]);
}

/// Only the text shortly before the position is read, also of a long program.
#[test]
fn long_programs() {
    let typed = format!("{}x := ", "do send(on);\n".repeat(1_000));
    check("@PROGRAM", &typed, &["low", "high"], &["y"]);
    check("@PROGRAM", &"do send(on);\n".repeat(1_000), &["x", "do", "endloop"], &["AG", "is"]);
}

/// Each prefix of a model has an answer at its end.
#[test]
fn every_prefix_of_a_model_has_an_answer() {
    let text = MODEL.replace(['@'], "");
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        let mut sources = Sources::default();
        let file = sources.add("half.bdi", text[..end].to_string()).unwrap();
        let index = crate::names(&mut sources, file, &NoFiles);
        completions(&index, &sources, end as u32);
    }
}

#[test]
fn words_are_listed_once() {
    let mut words: Vec<&str> = keywords().collect();
    let n_words = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), n_words);
    let mut signs: Vec<&str> = OPERATORS.iter().map(|one| one.word).collect();
    signs.sort_unstable();
    signs.dedup();
    assert_eq!(signs.len(), OPERATORS.len());
}
