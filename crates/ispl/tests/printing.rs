//! Printed formulas: a formula of a checked model that is printed and parsed again in the same model is
//! the same tree. So is the text of a property as its author wrote it, and the text of each of its parts.

use masque_ispl::{Options, check, parse, parse_property};
use masque_model::{Formula, FormulaId, Strategies, System};
use masque_testkit::{FORMULA_MODEL, GENERATORS, random_formulas, seeds};
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
    check_written(model, formulas, strategies, &once);
    ids.len()
}

/// For each formula, whether it has a meaning alone: it is no path formula and has no variable of a fixpoint.
fn closed_state_formulas(system: &System) -> Vec<bool> {
    let mut is_alone: Vec<bool> = system.formulas.path_formulas().iter().map(|is_path| !is_path).collect();
    let mut has_variable = vec![false; system.formulas.len()];
    for id in system.formulas.ids() {
        let mut has = matches!(system.formulas.get(id), Formula::Bound(_));
        system.formulas.each_operand(id, |operand| has |= has_variable[operand.index()]);
        has_variable[id.index()] = has;
        is_alone[id.index()] &= !has;
    }
    is_alone
}

/// Parses the properties as written, and each of their parts that is a state formula.
#[track_caller]
fn check_written(model: &str, formulas: &[String], strategies: Option<Strategies>, once: &System) {
    let mut written: Vec<(FormulaId, String)> = Vec::new();
    let is_alone = closed_state_formulas(once);
    for property in &once.properties {
        written.push((property.formula, once.property_text(property)));
        let (parts, logic) = (once.written_parts(property.formula), once.formula_text(property.formula));
        // Parts of path formulas may be path formulas, which have no meaning alone.
        if !logic.starts_with("CTL*") {
            let parts = once.formulas.ids().filter_map(|id| Some((id, parts.text(id.index())?)));
            written.extend(parts.filter(|(id, _)| is_alone[id.index()]));
        }
    }
    let all = formulas.iter().cloned().chain(written.iter().map(|(_, text)| text.clone()));
    let twice = load(model, &all.collect::<Vec<_>>(), strategies);
    let (_, second) = twice.properties.split_at(once.properties.len());
    let folded = folded(&twice);
    for ((id, text), read) in written.iter().zip(second) {
        let [expected, found] = [*id, read.formula].map(|id| folded[id.index()].as_str());
        assert_eq!(found, expected, "`{text}` of {formulas:?}");
    }
}

/// For each formula a text without constants in conjunctions, disjunctions and negations. The checker removes
/// those that come from conditions on indexes, and keeps those that are written.
fn folded(system: &System) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for id in system.formulas.ids() {
        let join = |list: &[FormulaId], neutral: &str, absorbing: &str| {
            let parts: Vec<&str> = list.iter().map(|f| texts[f.index()].as_str()).collect();
            if parts.contains(&absorbing) {
                return absorbing.to_string();
            }
            match parts.into_iter().filter(|part| *part != neutral).collect::<Vec<_>>()[..] {
                [] => neutral.to_string(),
                [only] => only.to_string(),
                ref parts => format!("({})", parts.join(if neutral == "true" { " and " } else { " or " })),
            }
        };
        texts.push(match system.formulas.get(id) {
            Formula::Bool(value) => value.to_string(),
            Formula::And(list) => join(list, "true", "false"),
            Formula::Or(list) => join(list, "false", "true"),
            Formula::Not(f) => match texts[f.index()].as_str() {
                "true" => "false".to_string(),
                "false" => "true".to_string(),
                text => format!("!{text}"),
            },
            formula => {
                let mut text = format!("{formula:?}");
                system
                    .formulas
                    .each_operand(id, |f| text = text.replace(&format!("{f:?}"), &texts[f.index()]));
                text
            }
        });
    }
    texts
}

/// 50 formulas per seed: `SEEDS=0..2000 cargo test --release -p masque-ispl --test all printing`.
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
    let mut n = 0;
    for seed in seeds("0..20") {
        for make in GENERATORS {
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
