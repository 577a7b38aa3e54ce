//! Any text is accepted or refused quickly, without a panic, and with the right code.
//!
//! Tests run on threads with a stack of 2 MB, so deep recursion would make them fail.

use masque_ispl::{Checked, Define, NESTING_LIMIT, Options, check, parse};
use masque_model::System;
use masque_text::{Diagnostic, Sources, render};

/// A model without errors and warnings. The tables below list changes to it.
const MODEL: &str = "
Agent Environment
  Obsvars: rain : boolean; end Obsvars
  Vars: coin : {heads, tails}; end Vars
end Agent
Agent Alice
  Lobsvars = {coin};
  Vars: x : 0..3; b : boolean; c : {red, green}; end Vars
  RedStates: x = 3; end RedStates
  Actions = {go, stop};
  Protocol: Environment.rain = false : {go}; Other : {stop}; end Protocol
  Evolution: x = x + 1 if x < 3 and Action = go; b = ~b if Action = stop; end Evolution
end Agent
Agent Bob
  Vars: y : 0..1; end Vars
  Actions = {go};
  Protocol: Other : {go}; end Protocol
  Evolution: y = 1 - y if Alice.Action = go; end Evolution
end Agent
Evaluation p if Alice.x = 3; q if Alice.b and Alice.c = red; r if Bob.y = 1 and Environment.coin = heads; end Evaluation
InitStates Alice.x = 0 and Environment.coin = heads; end InitStates
Groups g = {Alice, Bob}; end Groups
Formulae AG (p -> K(Bob, q)); end Formulae
";

/// A model with parameters.
const SIZED: &str = "
param N = 3;
param M;
Agent Environment
  Vars: coin[i in 1..N] : boolean; end Vars
end Agent
Agent Crypt[i in 1..N]
  Lobsvars = {coin[i], coin[prev(i, N)]};
  Vars: t : 0..M; end Vars
  Actions = {say, hush};
  Protocol: Environment.coin[i] : {say}; Other : {hush}; end Protocol
  Evolution: t = 1 if Action = say and t <= M; end Evolution
end Agent
Evaluation for i in 1..N { paid[i] if Crypt[i].t = 1; } end Evaluation
InitStates forall(i in 1..N : Crypt[i].t = 0); end InitStates
Groups all = {Crypt[i in 1..N]}; end Groups
Formulae for i in 1..N { AG (paid[i] -> K(Crypt[i], paid[i])); } end Formulae
";

/// Parses and checks a text. Returns the model, if there is one, and all diagnostics.
fn read(text: &str, defines: &[(&str, i64)]) -> (Option<System>, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let file = sources.add("bad.ispl", text).unwrap();
    let given = sources.add("-D", " ").unwrap();
    let span = sources.span(given);
    let defines =
        defines.iter().map(|&(name, value)| Define { name: name.to_string(), value, span }).collect();
    let (mut tree, mut diagnostics) = parse(&sources, file);
    let mut model = None;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let options = Options { defines, ..Options::default() };
        let Checked { system, diagnostics: more, .. } = check(&sources, &mut tree, &options);
        (model, diagnostics) = (system, [diagnostics, more].concat());
    }
    assert_eq!(model.is_none(), diagnostics.iter().any(Diagnostic::is_error), "a model or an error");
    for diagnostic in &diagnostics {
        let size = diagnostic.message.len() + diagnostic.help.as_ref().map_or(0, String::len);
        assert!(size < 2_000, "{}: a message of {size} bytes", diagnostic.code);
    }
    if let Some(first) = diagnostics.first() {
        let drawn = render(&sources, first, false);
        assert!(drawn.len() < 10_000, "{}: drawn with {} bytes", first.code, drawn.len());
    }
    (model, diagnostics)
}

fn codes(text: &str) -> Vec<&'static str> {
    read(text, &[]).1.iter().map(|d| d.code).collect()
}

/// Replaces the only occurrence of `old` in `text` by `new`.
fn changed(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "`{old}` occurs once in the model");
    text.replace(old, new)
}

/// Checks that each change, which makes one mistake, produces exactly one message.
fn check_changes(changes: &[(&str, &str, &str, &str)]) {
    assert_eq!(codes(MODEL), [""; 0]);
    for (old, new, code, because) in changes {
        assert_eq!(codes(&changed(MODEL, old, new)), [*code], "`{new}` for `{old}`: {because}");
    }
}

#[rustfmt::skip]
#[test]
fn unknown_names() {
    check_changes(&[
        // in the model                becomes                      gives                       because
        ("x < 3 and",                  "z < 3 and",                 "ispl/unknown-name",        "Alice has no z"),
        ("x = x + 1 if",               "z = x + 1 if",              "ispl/unknown-variable",    "only variables are assigned"),
        ("x = x + 1 if",               "x = z + 1 if",              "ispl/unknown-name",        "there is no z to add, either"),
        ("Action = go; b",             "Action = run; b",           "ispl/unknown-action",      "Alice cannot run"),
        ("Alice.Action = go",          "Alice.Action = hop",        "ispl/unknown-action",      "another agent's action is looked up there"),
        ("Alice.Action = go",          "Carol.Action = go",         "ispl/unknown-agent",       "there is no Carol"),
        (": {go}; Other : {stop}",     ": {run}; Other : {stop}",   "ispl/unknown-action",      "Alice cannot run"),
        ("Environment.rain = false",   "Environment.snow = false",  "ispl/unknown-variable",    "the Environment has no snow"),
        ("Lobsvars = {coin}",          "Lobsvars = {die}",          "ispl/unknown-variable",    "the Environment has no die"),
        ("p if Alice.x",               "p if Alice.z",              "ispl/unknown-variable",    "Alice has no z"),
        ("p if Alice.x",               "p if Carol.x",              "ispl/unknown-agent",       "there is no Carol"),
        ("p if Alice.x",               "p if x",                    "ispl/unknown-name",        "variables need their agent here"),
        ("Alice.c = red",              "Alice.c = blue",            "ispl/unknown-value",       "c is red or green"),
        ("coin = heads; end InitStates", "coin = head; end InitStates",               "ispl/unknown-value",       "coin is heads or tails"),
        ("g = {Alice, Bob}",           "g = {Alice, Carol}",        "ispl/unknown-agent",       "there is no Carol"),
        ("AG (p ->",                   "AG (pp ->",                 "ispl/unknown-proposition", "Evaluation has no pp"),
        ("K(Bob, q)",                  "K(Carol, q)",               "ispl/unknown-agent",       "there is no Carol"),
        ("K(Bob, q)",                  "GK(h, q)",                  "ispl/unknown-group",       "there is no group h"),
        ("K(Bob, q)",                  "KK(Bob, q)",                "ispl/unknown-function",    "there is no KK"),
        ("K(Bob, q)",                  "K(Bob, Bob.z = 1)",         "ispl/unknown-variable",    "Bob has no z"),
        ("K(Bob, q)",                  "K(Bob, z = 1)",             "ispl/unknown-name",        "z is not a proposition"),
    ]);
}

#[rustfmt::skip]
#[test]
fn wrong_types() {
    check_changes(&[
        // in the model                becomes                      gives                       because
        ("x < 3 and",                  "x and",                     "ispl/not-a-condition",     "a number is not a condition"),
        ("x < 3 and",                  "x = b and",                 "ispl/type-mismatch",       "a number is not a boolean"),
        ("x < 3 and",                  "b < true and",              "ispl/type-mismatch",       "booleans have no order"),
        ("x < 3 and",                  "c > red and",               "ispl/type-mismatch",       "enumerations have no order"),
        ("x < 3 and",                  "c = 1 and",                 "ispl/type-mismatch",       "a value is not a number"),
        ("x < 3 and",                  "c = Environment.coin and",  "ispl/incomparable-values", "red is not a value of coin"),
        ("x < 3 and",                  "x & b and",                 "ispl/not-a-condition",     "bit operators are for booleans"),
        ("x < 3 and",                  "-b < 3 and",                "ispl/not-a-number",        "booleans have no sign"),
        ("x < 3 and",                  "c + 1 < 3 and",             "ispl/not-a-number",        "red is not a number"),
        ("x < 3 and",                  "0 < x < 3 and",             "ispl/comparison-chain",    "is it (0 < x) < 3?"),
        ("x = x + 1 if",               "x = true if",               "ispl/type-mismatch",       "x is a number"),
        ("x = x + 1 if",               "x = red if",                "ispl/unknown-name",        "red is not a value of x"),
        ("b = ~b if",                  "b = x if",                  "ispl/type-mismatch",       "b is a boolean"),
        ("b = ~b if",                  "c = Environment.coin if",   "ispl/values-not-contained","c is never heads"),
        ("b = ~b if",                  "b if",                      "ispl/not-an-assignment",   "what should b become?"),
        ("b = ~b if",                  "b = ~b and b = b if",       "ispl/assigned-twice",      "which one?"),
        ("b = ~b if",                  "Environment.rain = b if",   "ispl/foreign-assignment",  "only the Environment may assign it"),
        ("b = ~b if",                  "b = Environment.Action if", "ispl/action-alone",        "an action is not a value"),
        ("Environment.rain = false",   "Action = go",               "ispl/action-outside-evolution", "a protocol chooses the action"),
        ("Environment.rain = false",   "Bob.y = 1",                 "ispl/foreign-variable",    "Alice does not see Bob's variables"),
        ("Lobsvars = {coin};",         "RedStates: Environment.coin = heads; end RedStates", "ispl/duplicate-section", "there is another RedStates"),
        ("AG (p ->",                   "AG (Alice.x ->",            "ispl/not-a-condition",     "a number is not a formula"),
        ("AG (p ->",                   "AG (1 ->",                  "ispl/not-a-formula",       "a number is not a formula"),
        ("AG (p ->",                   "AG (p | q ->",              "ispl/not-a-formula",       "formulas have `or`"),
        ("K(Bob, q)",                  "K(g, q)",                   "ispl/not-an-agent",        "K is for one agent"),
        ("K(Bob, q)",                  "F q",                       "ispl/wrong-logic",         "on which paths?"),
        ("AG (p",                      "LTL AG (p",                 "ispl/wrong-logic",         "LTL has no quantifiers"),
        ("AG (p",                      "CTL* G (p",                 "ispl/not-a-state-formula", "on which paths?"),
    ]);
}

#[rustfmt::skip]
#[test]
fn empty_and_duplicate_declarations() {
    check_changes(&[
        // in the model                becomes                      gives                       because
        ("x : 0..3;",                  "x : 3..0;",                 "ispl/empty-range",         "lo > hi"),
        ("c : {red, green};",          "c : {};",                   "ispl/empty-enumeration",   "c would have no value"),
        ("g = {Alice, Bob}",           "g = {}",                    "ispl/empty-group",         "a group has a member"),
        ("K(Bob, q)",                  "DK({}, q)",                 "ispl/empty-group",         "a group has a member"),
        (": {go}; Other : {stop}",     ": {}; Other : {stop}",      "ispl/no-actions",          "Alice needs an action"),
        ("RedStates: x = 3;",          "RedStates: x >= 0 or b;",   "ispl/no-green-state",      "x >= 0 everywhere"),
        ("RedStates: x = 3;",          "RedStates: b or !b;",       "ispl/no-green-state",      "one of both is true"),
        ("InitStates Alice.x = 0 and Environment.coin = heads;", "InitStates", "ispl/missing-condition", "which states?"),
        ("x : 0..3;",                  "x : 0..3; x : boolean;",    "ispl/duplicate-variable",  "x twice"),
        ("coin : {heads, tails};",     "coin : {heads, tails}; rain : boolean;", "ispl/duplicate-variable", "Obsvars count too"),
        ("{red, green}",               "{red, green, red}",         "ispl/duplicate-value",     "red twice"),
        ("{go, stop};",                "{go, stop, go};",           "ispl/duplicate-action",    "go twice"),
        ("Other : {stop};",            "Other : {stop}; Other : {go};", "ispl/duplicate-other", "Other twice"),
        ("Other : {stop};",            "Other : {stop}; b : {go};", "ispl/other-not-last",      "Other is last"),
        ("p if Alice.x = 3;",          "p if Alice.x = 3; p if Alice.b;", "ispl/duplicate-proposition", "p twice"),
        ("g = {Alice, Bob};",          "g = {Alice, Bob}; g = {Bob};", "ispl/duplicate-group",  "g twice"),
    ]);
    for section in ["Lobsvars = {coin};", "Actions = {go, stop};", "RedStates: x = 3; end RedStates"] {
        let text = changed(MODEL, section, &format!("{section} {section}"));
        assert_eq!(codes(&text), ["ispl/duplicate-section"], "{section}");
    }
    for name in ["Evaluation", "InitStates", "Groups", "Formulae"] {
        let (begin, end) = (MODEL.find(&format!("\n{name} ")).unwrap(), format!("end {name}\n"));
        let section = &MODEL[begin..MODEL.find(&end).unwrap() + end.len()];
        assert_eq!(codes(&format!("{MODEL}{section}")), ["ispl/duplicate-section"], "{name}");
    }
}

#[test]
fn missing_sections() {
    let section = |text: &str, name: &str| {
        let begin = text.find(&format!("{name}: ")).or(text.find(&format!("\n{name} "))).unwrap();
        let end = format!("end {name}\n");
        text[begin..begin + text[begin..].find(&end).unwrap() + end.len()].to_string()
    };
    let bob = &MODEL[MODEL.find("Agent Bob").unwrap()..];
    for name in ["Vars", "Protocol", "Evolution"] {
        let without = bob.replacen(&section(bob, name), "", 1);
        let found = codes(&MODEL.replace(bob, &without));
        assert_eq!(found, ["ispl/missing-section"], "an agent has {name}");
    }
    assert_eq!(codes(&changed(MODEL, "  Actions = {go};\n", "")), ["ispl/missing-section"]);
    let without = MODEL.replacen(&section(MODEL, "InitStates"), "\n", 1);
    assert_eq!(codes(&without)[0], "ispl/missing-section", "a file has InitStates");
    for name in ["Groups", "Formulae"] {
        let text = MODEL.replacen(&section(MODEL, name), "\n", 1);
        assert!(read(&text, &[]).0.is_some(), "{name} is optional");
    }
}

#[test]
fn evaluation_is_optional() {
    let begin = MODEL.find("Evaluation").unwrap();
    let end = MODEL.find("end Evaluation\n").unwrap() + "end Evaluation\n".len();
    let formulas = |text: &str, formula: &str| text.replace("AG (p -> K(Bob, q));", formula);
    for (section, codes_without) in
        [("", vec!["ispl/no-evaluation"]), ("Evaluation end Evaluation\n", vec![])]
    {
        let text = [&MODEL[..begin], section, &MODEL[end..]].concat();
        // Every variable is read, so that there are no other warnings.
        let good = "AG (Alice.x = 3 -> K(Bob, Alice.b and Alice.c = red or Bob.y = 1 and Environment.coin = heads));";
        let (system, found) = read(&formulas(&text, good), &[]);
        assert!(system.is_some(), "{found:?}");
        assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), codes_without, "{section}");
        let (system, found) = read(&formulas(&text, "AG true;"), &[]);
        assert!(system.is_some(), "{found:?}");
        let (system, found) = read(&text, &[]);
        assert!(system.is_none());
        let unknown: Vec<_> = found.iter().filter(|d| d.is_error()).collect();
        assert_eq!(unknown.iter().map(|d| d.code).collect::<Vec<_>>(), ["ispl/unknown-proposition"; 2]);
        let label = &unknown[0].primary.as_ref().unwrap().text;
        let expected = if section.is_empty() { "there is no Evaluation" } else { "Evaluation is empty" };
        assert_eq!(label, expected);
    }
}

#[rustfmt::skip]
#[test]
fn logics_that_are_not_decided() {
    for (formula, code, because) in [
        ("<<x>> (Alice, x) F p;",                 "ispl/strategy-logic", "some strategy"),
        ("[[x]] <<y>> (Alice, x) (Bob, y) G p;",  "ispl/strategy-logic", "all strategies"),
        ("#PR [[e]] (Environment, e) F p;",       "ispl/strategy-logic", "the kind of strategies"),
        ("AG <<x>> (Alice, x) X p;",              "ispl/strategy-logic", "under a temporal operator"),
        ("AG [[x]] (Alice, x) X p;",              "ispl/strategy-logic", "under a temporal operator"),
        ("p and !<<x>> (Alice, x) X p;",          "ispl/strategy-logic", "under connectives"),
        ("K(Bob, <<x>> (Alice, x) X p);",         "ispl/strategy-logic", "under knowledge"),
        ("<<Alice, Bob>> F p;",                   "ispl/strategy-logic", "a group in double brackets"),
        ("LTL F <<x>> (Alice, x) X p;",           "ispl/strategy-logic", "in a path formula"),
        ("<<",                                    "ispl/strategy-logic", "truncated"),
        ("<g>G F p;",                             "ispl/atl-star",       "two temporal operators"),
        ("<g>(F p and G q);",                     "ispl/atl-star",       "a path formula in brackets"),
        ("<g>(p U X q);",                         "ispl/atl-star",       "in an operand of `U`"),
        ("<g>F <Alice>(p U G q);",                "ispl/atl-star",       "in the goal inside"),
        ("<g>F p and G q;",                       "ispl/wrong-logic",    "not in the goal"),
    ] {
        let found = codes(&changed(MODEL, "AG (p -> K(Bob, q));", formula));
        assert_eq!(found.first(), Some(&code), "{because}: {formula}");
        assert!(formula == "<<" || found.len() == 1, "{formula}: {found:?}");
    }
    let typed = MODEL.replace("  Actions", "  StrType:\n    Ir;\n  end StrType\n  Actions").replace("Formulae", "Formulae_ast");
    assert_eq!(codes(&typed), ["ispl/atl-star"], "sections of ATL*, reported once");
}

#[rustfmt::skip]
#[test]
fn texts_that_are_not_models() {
    for (text, code, because) in [
        ("",                                   "ispl/no-model",             "an empty file"),
        (" \n\t\r\n",                          "ispl/no-model",             "only white space"),
        ("-- a comment",                       "ispl/no-model",             "only a comment"),
        ("param N = 3;",                       "ispl/no-model",             "only a parameter"),
        ("Formulae AG p; end Formulae",        "ispl/no-model",             "only formulas"),
        ("Agent",                              "ispl/unexpected-token",     "truncated after a word"),
        ("Agent A",                            "ispl/wrong-end",            "truncated after a heading"),
        ("Agent A Vars: x : 0..",              "ispl/unexpected-token",     "truncated in a declaration"),
        ("}",                                  "ispl/unexpected-token",     "an unmatched brace"),
        ("{\"agents\": []}",                   "ispl/unexpected-token",     "JSON"),
        ("<html>",                             "ispl/unexpected-token",     "HTML"),
        ("#!/bin/sh",                          "ispl/unexpected-character", "a script"),
        ("Ägent",                              "ispl/unexpected-character", "a letter beyond ASCII"),
        ("\u{feff}Agent",                      "ispl/unexpected-character", "a byte order mark"),
        ("\0\0\0",                             "ispl/unexpected-character", "zeros"),
    ] {
        assert_eq!(codes(text).first(), Some(&code), "{because}");
    }
}

#[rustfmt::skip]
#[test]
fn parameters_and_indexes() {
    let with = |old: &str, new: &str, defines: &[(&str, i64)]| -> Vec<&'static str> {
        read(&changed(SIZED, old, new), defines).1.iter().map(|d| d.code).collect()
    };
    assert_eq!(with("N = 3", "N = 3", &[("M", 2)]), [""; 0]);
    let m = ("M", 2);
    for (old, new, defines, code, because) in [
        // in the model         becomes                 given            gives                       because
        ("N = 3",               "N = 3",                &[][..],         "ispl/missing-parameter",   "M has no default"),
        ("N = 3",               "N = 3",                &[m, ("K", 1)],  "ispl/unknown-parameter",   "the file has no K"),
        ("Vars: coin[i in 1..N]", "Vars: coin[i in 1..0]", &[m],         "ispl/empty-array",         "no coins, and other errors would be consequences"),
        ("Crypt[i in 1..N]\n",  "Crypt[i in 1..N - 3]\n", &[m],         "ispl/empty-array",         "no agents, and other errors would be consequences"),
        ("param M;",            "param M; param M;",    &[m],            "ispl/duplicate-parameter", "M twice"),
        ("param M;",            "param M = K;",         &[],             "ispl/not-constant",        "there is no K"),
        ("param M;",            "param M = 1 mod 0;",   &[],             "ispl/bad-index",           "no remainder"),
        ("{coin[i], coin",      "{coin[i], coin[i + 1], coin",   &[m],            "ispl/index-out-of-range",  "coin[4]"),
        ("prev(i, N)",          "prev(i, 0)",           &[m],            "ispl/bad-index",           "no ring of size 0"),
        ("prev(i, N)",          "prev(i)",              &[m],            "ispl/wrong-arguments",     "a ring of which size?"),
        ("{coin[i], coin",      "{coin[i], coin, coin", &[m],            "ispl/wrong-index-count",   "which coin?"),
        ("{coin[i], coin",      "{coin[i], coin[t], coin", &[m],         "ispl/not-constant",        "t changes"),
        ("t : 0..M",            "t : 1..M - 2",         &[m],            "ispl/empty-range",         "1..0"),
        ("t : 0..M",            "t : 0..L",             &[m],            "ispl/not-constant",        "there is no L, but t is declared"),
        ("coin[i in 1..N]",     "coin[i in 1..L]",      &[m],            "ispl/not-constant",        "there is no L, and other errors would be consequences"),
        ("Crypt[i].t = 0",      "Crypt[i + 1].t = 0",   &[m],            "ispl/index-out-of-range",  "Crypt[4]"),
        ("Crypt[i].t = 0",      "Crypt.t = 0",          &[m],            "ispl/wrong-index-count",   "whose t?"),
        ("Crypt[i].t = 0",      "Crypt[i, i].t = 0",    &[m],            "ispl/index-out-of-range",  "a family, not a table"),
        ("{Crypt[i in 1..N]}",  "{Crypt[i in 0..N]}",   &[m],            "ispl/index-out-of-range",  "Crypt[0]"),
        ("{Crypt[i in 1..N]}",  "{Crypt[i in N..1]}",   &[m],            "ispl/empty-group",         "an empty range"),
        ("Crypt[i], paid[i]",   "Crypt[i], pays[i]",    &[m],            "ispl/unknown-proposition", "misspelt"),
        ("Crypt[i], paid[i]",   "Crypt[i], paid[0]",    &[m],            "ispl/index-out-of-range",  "paid[0]"),
        ("Crypt[i], paid[i]",   "Crypt[i], paid",       &[m],            "ispl/wrong-index-count",   "who paid?"),
        ("for i in 1..N { AG",  "for i in 1..N { for i in 1..N { AG true; } AG", &[m], "ispl/duplicate-index", "which i?"),
    ] {
        assert_eq!(with(old, new, defines), [code], "`{new}` for `{old}`: {because}");
    }
    assert_eq!(with("N = 3", "N = 3", &[m, ("N", 0)]), ["ispl/empty-array"; 2], "no coins and no Crypts");
}

#[rustfmt::skip]
#[test]
fn numbers_beyond_64_bits() {
    check_changes(&[
        // in the model     becomes                                    gives                        because
        ("x : 0..3;",       "x : 0..9223372036854775808;",             "ispl/number-too-large",     "2^63"),
        ("x : 0..3;",       "x : -9223372036854775809..3;",            "ispl/number-too-large",     "-2^63 - 1"),
        ("x < 3 and",       "x < 99999999999999999999999999999 and",   "ispl/number-too-large",     "in a condition"),
        ("x = x + 1 if",    "x = 99999999999999999999999999999 if",    "ispl/number-too-large",     "in an assignment"),
        ("AG (p ->",        "AG (Bob.y < 99999999999999999999 ->",     "ispl/number-too-large",     "in a formula"),
        ("x < 3 and",       "x + 9223372036854775807 > 0 and",         "ispl/arithmetic-too-large", "a sum that may not fit"),
        ("x < 3 and",       "x * 9223372036854775807 > 0 and",         "ispl/arithmetic-too-large", "a product that may not fit"),
        ("x : 0..3;",       "x : 0..9223372036854775807 + 1;",         "ispl/bad-index",            "a bound that does not fit"),
        ("x : 0..3;",       "x : 0..- -9223372036854775808;",          "ispl/bad-index",            "another bound that does not fit"),
    ]);
    let wide = changed(MODEL, "x : 0..3;", "x : -9223372036854775808..9223372036854775807;");
    assert!(codes(&wide).contains(&"ispl/arithmetic-too-large"), "x + 1 may not fit");
    let wide = changed(&wide, "x = x + 1 if x < 3", "x = 1 if x < 3");
    assert!(read(&wide, &[]).0.is_some(), "all of 64 bits is a range: {:?}", codes(&wide));
}

#[test]
fn nesting_is_accepted_up_to_the_limit() {
    let formula = |text: &str| changed(MODEL, "AG (p -> K(Bob, q))", text);
    let condition = |text: &str| changed(MODEL, "Alice.b and", &format!("{text} and"));
    let nested = |open: &str, inner: &str, close: &str, n: usize| {
        let open: String = (0..n).map(|i| open.replace('#', &i.to_string())).collect();
        format!("{open}{inner}{}", close.repeat(n))
    };
    let deep = 100_000;
    let fits = NESTING_LIMIT as usize / 2 - 2;
    for (open, inner, close) in [
        ("(", "p", ")"),
        ("!", "p", ""),
        ("! ( ", "p", ")"),
        ("K(Bob, ", "p", ")"),
        ("KH(Bob, g, ", "p", ")"),
        ("AG ", "p", ""),
        ("E(p U ", "p", ")"),
        ("<g> X ", "p", ""),
        ("<g>(p U ", "p", ")"),
        ("p -> (", "p", ")"),
        ("forall(i# in 1..1 : ", "p", ")"),
        ("(", "Bob.y = 1", ")"),
    ] {
        let name = format!("{open}..{close}");
        assert_eq!(codes(&formula(&nested(open, inner, close, deep))), ["ispl/too-deep"], "{name}");
        assert_eq!(codes(&formula(&nested(open, "", "", deep))), ["ispl/too-deep"], "{name}, not closed");
        let text = formula(&nested(open, inner, close, fits));
        assert!(read(&text, &[]).0.is_some(), "{name}: {:?}", codes(&text));
    }
    for (open, inner, close) in [("LTL X ", "p", ""), ("LTL !(", "p", ")"), ("CTL* A(F ", "p", ")")] {
        let (logic, open) = open.split_once(' ').unwrap();
        let text = |n| formula(&format!("{logic} {}", nested(open, inner, close, n)));
        let text = |n| if logic == "LTL" { text(n) } else { text(n).replacen("CTL* ", "CTL* A ", 1) };
        assert_eq!(codes(&text(deep)), ["ispl/too-deep"], "{logic} {open}");
        assert!(read(&text(fits / 2), &[]).0.is_some(), "{logic} {open}");
    }
    for (open, inner, close) in [
        ("(", "Alice.b", ")"),
        ("!", "Alice.b", ""),
        ("~", "Alice.b", ""),
        ("(true & ", "Alice.b", ")"),
        ("exists(i# in 1..1 : ", "Alice.b", ")"),
    ] {
        let name = format!("{open}..{close}");
        assert_eq!(codes(&condition(&nested(open, inner, close, deep))), ["ispl/too-deep"], "{name}");
        assert!(read(&condition(&nested(open, inner, close, fits)), &[]).0.is_some(), "{name}");
    }
    for (open, inner, close) in [
        ("- ", "Bob.y", ""),
        ("(1 + ", "Bob.y", ")"),
        ("min(1, ", "1", ")"),
        ("sum(i# in 1..1 : ", "Bob.y", ")"),
        ("x[", "1", "]"),
    ] {
        let text = condition(&format!("0 = {}", nested(open, inner, close, deep)));
        assert_eq!(codes(&text), ["ispl/too-deep"], "{open}..{close}");
    }
}

#[test]
fn deep_loops_are_refused() {
    let text = |n: usize, close: usize| {
        let open: String = (0..n).map(|i| format!("for i{i} in 1..1 {{ ")).collect();
        changed(MODEL, "AG (p -> K(Bob, q));", &format!("{open}AG p;{}", " }".repeat(close)))
    };
    assert_eq!(codes(&text(100_000, 100_000)), ["ispl/too-deep"]);
    assert_eq!(codes(&text(100_000, 0))[0], "ispl/too-deep");
    assert!(read(&text(NESTING_LIMIT as usize - 2, NESTING_LIMIT as usize - 2), &[]).0.is_some());
}

#[rustfmt::skip]
#[test]
fn loops_with_too_many_iterations_are_refused() {
    check_changes(&[
        // in the model         becomes                                               gives                   because
        ("AG (p -> K(Bob, q));", "for i in 1..1000000000000000 { AG p; }",             "ispl/too-many-rounds", "formulas"),
        ("x : 0..3;",           "x : 0..3; a[i in 1..1000000000000000] : boolean;",   "ispl/too-many-rounds", "variables"),
        ("Agent Bob",           "Agent Carol[i in 0..1000000000000000] Vars: end Vars Actions = {a}; Protocol: end Protocol Evolution: end Evolution end Agent Agent Bob",
                                                                                      "ispl/too-many-rounds", "agents"),
        ("{go, stop};",         "{go, stop, a[i in 1..1000000000000000]};",           "ispl/too-many-rounds", "actions"),
        ("{red, green}",        "{red, green, v[i in -1000000000000000..0]}",         "ispl/too-many-rounds", "values"),
        ("x < 3 and",           "sum(i in 1..1000000000000000 : x) > 0 and",          "ispl/too-many-rounds", "a sum"),
        ("x < 3 and",           "exists(i in 1..1000000000000000 where i = 0 : b) and", "ispl/too-many-rounds", "no value satisfies `where`"),
        ("p if Alice.x",        "w[i in 1..9223372036854775807] if Alice.b; p if Alice.x", "ispl/too-many-rounds", "propositions"),
        ("x < 3 and",           "count(i in -9223372036854775808..9223372036854775807 : b) > 0 and",
                                                                                      "ispl/too-many-rounds", "all of 64 bits"),
        ("x < 3 and",           "exists(i in 1..100000 : exists(j in 1..1000000000 : b)) and",
                                                                                      "ispl/too-many-rounds", "a loop in a loop"),
    ][..]);
}

/// Chains of 100 000 operands are parsed, checked and printed without recursion.
#[test]
fn flat_chains_may_be_long() {
    let n = 100_000;
    let chain = |operand: &str, signs: &[&str]| -> String {
        let mut text = operand.to_string();
        for i in 0..n {
            text += &format!(" {} {operand}", signs[i % signs.len()]);
        }
        text
    };
    for signs in
        [&["or"][..], &["and"], &["->"], &["<->"], &["|"], &["&"], &["^"], &["|", "^"], &["and", "or"]]
    {
        let text = changed(MODEL, "Alice.b and", &format!("({}) and", chain("Alice.b", signs)));
        let (system, found) = read(&text, &[]);
        let system = system.unwrap_or_else(|| panic!("{signs:?}: {found:?}"));
        assert!(system.expr_text(system.propositions[1].condition).len() > n, "{signs:?}");
    }
    for signs in [&["+"][..], &["-"], &["+", "-"], &["*", "/"], &["+", "*"]] {
        let text =
            changed(MODEL, "Alice.x = 3", &format!("{} = 3", chain("1", signs).replacen('1', "Alice.x", 1)));
        let (system, found) = read(&text, &[]);
        let system = system.unwrap_or_else(|| panic!("{signs:?}: {found:?}"));
        assert!(system.expr_text(system.propositions[0].condition).contains("Alice.x"), "{signs:?}");
    }
    for (logic, signs) in [
        ("", &["or"][..]),
        ("", &["and"]),
        ("", &["->"]),
        ("", &["<->"]),
        ("LTL", &["U"]),
        ("LTL", &["W", "R"]),
        ("LTL", &["and", "or", "->"]),
        ("CTL* A X", &["or"]),
    ] {
        let text = changed(MODEL, "AG (p -> K(Bob, q))", &format!("{logic} {}", chain("p", signs)));
        let (system, found) = read(&text, &[]);
        let system = system.unwrap_or_else(|| panic!("{logic} {signs:?}: {}", found[0].message));
        assert!(system.formula_text(system.properties[0].formula).len() > n, "{logic} {signs:?}");
    }
}

/// The lints evaluate expressions of up to 2000 subexpressions recursively; these must fit the stack.
#[test]
fn lints_do_not_overflow_the_stack() {
    for n in [500, 900, 1_990, 2_100] {
        let chain: String = (0..n).map(|i| if i % 2 == 0 { " | b" } else { " ^ b" }).collect();
        let text = changed(MODEL, "x < 3 and", &format!("(b{chain}) and"));
        assert!(read(&text, &[]).0.is_some(), "{n}");
        let chain: String = (0..n).map(|i| if i % 2 == 0 { " * 1" } else { " / 1" }).collect();
        let text = changed(MODEL, "x < 3 and", &format!("x{chain} < 3 and"));
        assert!(read(&text, &[]).0.is_some(), "{n}");
    }
}

#[test]
fn several_errors_are_all_reported() {
    let text = MODEL
        .replace("x : 0..3;", "x : 0...3;")
        .replace("Other : {stop};", "Other {stop};")
        .replace("x < 3 and", "x < and")
        .replace("p if Alice.x = 3;", "p Alice.x = 3;")
        .replace("AG (p ->", "AG (p -> ->");
    let lines: Vec<usize> = {
        let mut sources = Sources::default();
        let file = sources.add("bad.ispl", text).unwrap();
        let (_, diagnostics) = parse(&sources, file);
        diagnostics.iter().map(|d| sources.locate(d.primary.as_ref().unwrap().span).0.line as usize).collect()
    };
    assert_eq!(lines, [8, 11, 12, 20, 23], "one error in each of five sections");

    let text = MODEL
        .replace("b : boolean;", "b : boolean; b : 0..1;")
        .replace("c : {red, green};", "c : {};")
        .replace(": {go}; Other : {stop}", ": {run}; Other : {stop}")
        .replace("x < 3 and", "xx < 3 and")
        .replace("Bob.y = 1 and", "Bob.z = 1 and")
        .replace("g = {Alice, Bob};", "g = {};")
        .replace("K(Bob, q)", "K(Carol, GK(g, qq))");
    assert_eq!(
        codes(&text),
        [
            "ispl/duplicate-variable",
            "ispl/empty-enumeration",
            "ispl/unknown-action",
            "ispl/unknown-name",
            "ispl/unknown-variable",
            "ispl/empty-group",
            "ispl/unknown-agent",
            "ispl/unknown-proposition",
        ]
    );
}

#[test]
fn an_error_after_many_warnings_is_still_an_error() {
    let warnings: String = (0..150).map(|i| format!("w{i} if Alice.x = 9; ")).collect();
    let warned = changed(MODEL, "p if", &format!("{warnings} p if"));
    let (system, found) = read(&warned, &[]);
    assert!(system.is_some() && found.len() == 101, "100 warnings, and the number of the others");
    let text = changed(&warned, "InitStates Alice.x", "InitStates Alice.xx");
    let (system, found) = read(&text, &[]);
    assert!(system.is_none() && found.iter().any(|d| d.code == "ispl/unknown-variable"));
}

#[test]
fn the_number_of_errors_is_limited() {
    let syntax = changed(MODEL, "p if", &"p of true; ".repeat(1_000));
    let found = codes(&syntax);
    assert_eq!((found.len(), found.last()), (21, Some(&"ispl/too-many-errors")));
    let names: String = (0..1_000).map(|i| format!("w{i} if Alice.z{i} = 9; ")).collect();
    let found = codes(&changed(MODEL, "p if", &format!("{names} p if")));
    assert_eq!((found.len(), found.last()), (101, Some(&"ispl/too-many-errors")));
}

/// Fifty megabytes of garbage give one message, or a few inside a section, within seconds.
#[test]
fn garbage_is_refused_quickly() {
    const SIZE: usize = 50_000_000;
    let mut random = fastrand::Rng::with_seed(2);
    let ascii: String = (0..SIZE).map(|_| char::from(random.u8(b' '..=b'~'))).collect();
    for (garbage, code) in [
        (ascii, ""),
        ("a".repeat(SIZE), "ispl/name-too-long"),
        ("(".repeat(SIZE), "ispl/unexpected-token"),
        ("$".repeat(SIZE), "ispl/unexpected-character"),
    ] {
        let found = codes(&garbage);
        assert!(found.len() <= 21 && (code.is_empty() || found == [code]), "{found:?}");
    }
    // A megabyte of garbage in place of a formula, a declaration, a condition or an enumeration.
    let size = SIZE / 50;
    for garbage in [
        "a",
        "(",
        "!",
        "1",
        "$",
        "{",
        "}",
        "end ",
        "Agent ",
        "for i in 1..2 { ",
        "p or ",
        "p;",
        "\n",
        ";",
        "é",
    ] {
        let garbage = garbage.repeat(size / garbage.len());
        for old in ["AG (p -> K(Bob, q));", "x : 0..3;", "Alice.x = 0 and", "{red, green}"] {
            let found = codes(&changed(MODEL, old, &garbage));
            assert!(found.len() <= 101, "{} messages", found.len());
        }
    }
}

/// A missing word, number or sign gives at most one error.
#[test]
fn a_missing_token_is_one_error() {
    let mut tokens = Vec::new();
    let mut rest = MODEL;
    while let Some(first) = rest.chars().next() {
        let end = if first.is_ascii_alphanumeric() {
            rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())
        } else {
            1 + usize::from(rest.starts_with("..") || rest.starts_with("->"))
        };
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    let mut cascades = String::new();
    for i in (0..tokens.len()).filter(|i| !tokens[*i].trim().is_empty()) {
        let found = read(&[&tokens[..i], &tokens[i + 1..]].concat().concat(), &[]).1;
        let errors: Vec<&str> = found.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
        if errors.len() > 1 {
            let before = tokens[i.saturating_sub(8)..i].concat();
            cascades += &format!("`{}` is missing after `{before}`: {errors:?}\n", tokens[i]);
        }
    }
    assert!(cascades.is_empty(), "{cascades}");
}
