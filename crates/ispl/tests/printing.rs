//! Printed formulas: a formula of a checked model that is printed and parsed again in the same model is
//! the same tree.

use masque_ispl::{Options, check, parse, parse_property};
use masque_model::{FormulaId, Strategies, System};
use masque_testkit::{
    FORMULA_MODEL, random_fixpoint_model, random_formulas, random_game_model, random_model, random_old_model,
    random_parameterised_model, random_path_model, seeds,
};
use masque_text::{Diagnostic, Sources};

/// Loads a model with additional formulas.
#[track_caller]
fn load(model: &str, formulas: &[String], strategies: Option<Strategies>) -> System {
    let mut sources = Sources::default();
    let file = sources.add("test.ispl", model).unwrap();
    let (mut tree, mut errors) = parse(&sources, file);
    for formula in formulas {
        let file = sources.add("<--property>", formula.as_str()).unwrap();
        errors.extend(parse_property(&sources, file, &mut tree));
    }
    let checked = check(&sources, &mut tree, &Options { strategies, ..Options::default() });
    errors.extend(checked.diagnostics);
    errors.retain(Diagnostic::is_error);
    if let Some(error) = errors.first() {
        let location = error.primary.as_ref().map(|p| sources.slice(p.span));
        panic!("{}: {} at {location:?} in\n{}", error.code, error.message, formulas.join("\n"));
    }
    checked.system.unwrap()
}

fn texts(system: &System, formulas: &[FormulaId]) -> Vec<String> {
    formulas.iter().map(|&formula| system.formula_text(formula)).collect()
}

/// Prints all properties of a model with additional formulas, and parses them again. Returns their
/// number.
#[track_caller]
fn check_model(model: &str, formulas: &[String], strategies: Option<Strategies>) -> usize {
    let once = load(model, formulas, strategies);
    let ids: Vec<FormulaId> = once.properties.iter().map(|property| property.formula).collect();
    let printed = texts(&once, &ids);
    let all: Vec<String> = formulas.iter().chain(&printed).cloned().collect();
    // The same texts come first, so they get the same ids.
    let twice = load(model, &all, strategies);
    let (first, second) = twice.properties.split_at(ids.len());
    for (i, (a, b)) in first.iter().zip(second).enumerate() {
        assert_eq!(ids[i], a.formula, "reading is deterministic");
        let read = twice.formula_text(b.formula);
        assert_eq!(a.formula, b.formula, "{:?}\nprinted {}\nread as {read}", formulas.get(i), printed[i]);
    }
    ids.len()
}

/// 50 formulas per seed: `SEEDS=0..2000 cargo test --release -p masque-ispl --test printing`.
#[test]
fn printed_random_formulas_are_parsed_as_the_same() {
    let mut n = 0;
    for seed in seeds("0..20") {
        let strategies = [None, Some(Strategies::Uniform)][seed as usize % 2];
        n += check_model(FORMULA_MODEL, &random_formulas(seed, 50), strategies);
    }
    println!("{n} formulas about one model");
}

#[test]
fn printed_formulas_of_random_models_are_parsed_as_the_same() {
    let makers = [
        random_model,
        random_old_model,
        random_parameterised_model,
        random_path_model,
        random_game_model,
        random_fixpoint_model,
    ];
    let mut n = 0;
    for seed in seeds("0..20") {
        for make in makers {
            n += check_model(&make(seed), &[], None);
        }
    }
    println!("{n} formulas of random models");
}

/// Each of these formulas was once printed as another formula, or as text that cannot be parsed.
#[rustfmt::skip]
#[test]
fn printed_texts() {
    let table = [
        // written                                              printed
        ("A((Environment.b = false) U p)",                      "A((Environment.b = false) U p)"),
        ("(!Environment.b) = Cell[1].b",                        "(!(Environment.b)) = Cell[1].b"),
        ("(Environment.b and Cell[1].b) = true",                "(Environment.b and Cell[1].b) = true"),
        ("((Environment.b = Cell[1].b) = true)",                "Environment.b = Cell[1].b"),
        ("EX{(!Environment.b) ^ Cell[1].b} p",                  "EX{((!(Environment.b)) ^ Cell[1].b)}(p)"),
        ("!(Environment.n = 1)",                                "!(Environment.n = 1)"),
        ("count(i in 1..2 : Cell[i].b) = 1",                    "count(Cell[1].b, Cell[2].b) = 1"),
        ("count(i in 1..1 : Cell[i].b) = 1",                    "count(Cell[1].b) = 1"),
        ("sum(i in 1..1 : Cell[i].c) = 1",                      "(Cell[1].c + 0) = 1"),
        ("Environment.n * 1 = 1",                               "(Environment.n * 1) = 1"),
        ("Environment.n - (E.m[1] - -1) = -(-E.m[2])",          "(Environment.n + -((E.m[1] + 1))) = -(-(E.m[2]))"),
        ("red = false",                                         "(Environment.v = red) = false"),
        ("green_odd = true",                                    "Odd.GreenStates = true"),
        ("LTL (Environment.n = -1) U -2 < Environment.n",       "CTL* A((Environment.n = -1) U (-2 < Environment.n))"),
        ("<g, perfect>X p",                                     "<g>X(p)"),
        ("E.z * 9223372036854775807 * 5 = 0",                   "(E.z * 9223372036854775807 * 5) = 0"),
    ];
    for (written, printed) in table {
        let system = load(FORMULA_MODEL, &[written.to_string()], None);
        assert_eq!(system.formula_text(system.properties[0].formula), printed, "{written}");
        check_model(FORMULA_MODEL, &[written.to_string()], None);
    }
    let system = load(FORMULA_MODEL, &["<g, perfect>X p".to_string()], Some(Strategies::Uniform));
    assert_eq!(system.formula_text(system.properties[0].formula), "<g, perfect>X(p)");
}
