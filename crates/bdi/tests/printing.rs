//! Printed formulas parse to the same tree: formulas as they are written (`formula_text`), and checked
//! formulas (`Model::formula_text`), which explanations show.

use crate::support::formulas::expression;
use crate::support::random;
use fastrand::Rng;
use masque_bdi::model::{FormulaId, Model, Question};
use masque_bdi::tree::{Expr, Question as Asked};
use masque_bdi::{check, formula_text, parse, parse_property};
use masque_testkit::{seeds, structure};
use masque_text::{Diagnostic, Sources};

/// Parses a formula.
#[track_caller]
fn tree(text: &str) -> Expr {
    let mut sources = Sources::default();
    let empty = sources.add("empty.bdi", "").unwrap();
    let (mut tree, _) = parse(&sources, empty);
    let file = sources.add("<--property>", text).unwrap();
    let errors = parse_property(&sources, file, &mut tree);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    match tree.properties.pop().unwrap().question {
        Asked::Formula(expr) => expr,
        _ => panic!("no formula: {text}"),
    }
}

#[track_caller]
fn check_text(text: &str) {
    let first = tree(text);
    let printed = formula_text(&first);
    let second = tree(&printed);
    assert_eq!(structure(&first), structure(&second), "{text}\nprinted {printed}");
    assert_eq!(formula_text(&second), printed);
}

/// 100 formulas per seed: `SEEDS=0..1000 cargo test --release -p masque-bdi --test all printing`.
#[test]
fn written_formulas_read_back() {
    for seed in seeds("0..20") {
        let mut random = Rng::with_seed(seed);
        for _ in 0..100 {
            let depth = random.u32(1..5);
            check_text(&expression(&mut random, depth));
        }
    }
}

/// Loads a system with additional properties of the form `PATH : FORMULA`; returns its errors if it has some.
fn load(text: &str, options: &[(String, String)], more: &[String]) -> Result<Model, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let file = sources.add("test.bdi", text).unwrap();
    let (mut tree, mut found) = parse(&sources, file);
    for property in more {
        let file = sources.add("<--property>", property.as_str()).unwrap();
        found.extend(parse_property(&sources, file, &mut tree));
    }
    let overrides = crate::support::overrides(options, &mut sources);
    let checked = check(&tree, &overrides);
    found.extend(checked.diagnostics);
    found.retain(Diagnostic::is_error);
    if found.is_empty() { Ok(checked.model.unwrap().0) } else { Err(found) }
}

/// Returns the formulas of the properties, each with the path of its world.
fn formulas(model: &Model) -> Vec<(String, FormulaId)> {
    let asked = model.properties.iter().filter_map(|property| match property.question {
        Question::Formula(formula) => Some((model.path_text(&property.path), formula)),
        _ => None,
    });
    asked.collect()
}

/// Prints the checked formulas of a system and parses them again in their worlds; returns their number.
#[track_caller]
fn check_system(text: &str, options: &[(String, String)]) -> usize {
    // A few random systems need more nesting than their options allow.
    let Ok(model) = load(text, options, &[]) else { return 0 };
    let first = formulas(&model);
    let printed: Vec<String> =
        first.iter().map(|(world, id)| format!("{world} : {}", model.formula_text(*id))).collect();
    let again = load(text, options, &printed).unwrap_or_else(|e| panic!("{e:?}\n{printed:?}\n{text}"));
    let second = formulas(&again).split_off(first.len());
    for ((a, b), printed) in first.iter().zip(&second).zip(&printed) {
        let read = again.formula_text(b.1);
        assert_eq!(a, b, "printed {printed}\nread as {read}\n{text}");
    }
    first.len()
}

#[test]
fn checked_formulas_read_back() {
    let mut n = 0;
    for seed in seeds("0..200") {
        let (text, options) = random::system(seed);
        n += check_system(&text, &options);
    }
    println!("{n} formulas of random systems");
}

/// Each of these was once printed incorrectly.
#[test]
fn formulas_with_necessary_brackets() {
    let table = [
        ("(!p) < q", "(!p) < q"),
        ("!(p < q)", "!(p < q)"),
        ("(EX p) + 1 = 2", "(EX p) + 1 = 2"),
        ("1 - (do f) = 2", "1 - (do f) = 2"),
        ("(p -> q) -> r", "(p -> q) -> r"),
        ("p -> (q -> r)", "p -> (q -> r)"),
        ("x - (y - z) = -(-1)", "x - (y - z) = -(-1)"),
    ];
    for (written, printed) in table {
        assert_eq!(formula_text(&tree(written)), printed);
        check_text(written);
    }
}

/// An explicit attitude is a variable; an equivalent attitude with another text is not.
#[test]
fn explicit_attitudes_stay_explicit() {
    let text =
        "agent a is bdi B(b, x -> y), B(b, !x | y); loop B(b, x -> y) := any, B(b, !x | y) := true endloop
        agent b is var x, y; loop x := any endloop
        agent c is bdi B(b, !x | y); loop B(b, !x | y) := any endloop
        property one in a: B(b, x -> y);
        property two in a: B(b, !x | y) & B(b, x <-> y <-> x);
        property three in c: B(b, x -> y) | B(b, !x | y);
        property four in c: AG PB(b, x & !y);";
    assert_eq!(check_system(text, &[]), 4);
}
