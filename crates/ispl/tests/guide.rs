//! The examples of the language guide are checked, and so are its tables.

use masque_ispl::{Model, Options, check, parse_model};
use masque_model::System;
use masque_testkit::{TextLibrary, code_blocks, example_files};
use masque_text::{Sources, render};

const GUIDE: &str = include_str!("../../../docs/ispl.md");

fn blocks(mark: &str) -> Vec<&'static str> {
    code_blocks(GUIDE, mark)
}

/// A whole model as it is; a list of formulas in place of those of the first model, which for this
/// gets propositions `p`, `q` and `r`.
fn whole(block: &str) -> String {
    if block.contains("end Agent") {
        return block.to_string();
    }
    let first = blocks("ispl")[0];
    let (model, _) = first.split_once("Formulae\n").unwrap();
    let model = model.replace("Evaluation\n  ", "Evaluation\n  p if true; q if true; r if true;\n  ");
    format!("{model}Formulae\n{block}end Formulae\n")
}

/// The checked model, or the messages.
fn system(text: &str) -> Result<System, String> {
    let mut sources = Sources::default();
    let files = example_files(text, "-- file: ", "guide.ispl");
    let file = sources.add(files[0].0, files[0].1).unwrap();
    let Model { mut tree, mut diagnostics, .. } = parse_model(&mut sources, file, &TextLibrary::new(&files));
    let mut system = None;
    if !diagnostics.iter().any(|d| d.is_error()) {
        let checked = check(&sources, &mut tree, &Options::default());
        diagnostics.extend(checked.diagnostics);
        system = checked.system;
    }
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).collect();
    let messages: String = errors.iter().map(|d| render(&sources, d, false)).collect();
    system.filter(|_| errors.is_empty()).ok_or(messages)
}

#[test]
fn examples_check() {
    let examples = blocks("ispl");
    assert!(examples.len() >= 8, "the fences of the guide are found");
    for block in examples {
        if let Err(messages) = system(&whole(block)) {
            panic!("{block}\n{messages}");
        }
    }
}

/// The formula as the checked model writes it.
fn formula(text: &str) -> String {
    match system(&whole(&format!("{text};\n"))) {
        Ok(system) => system.formula_text(system.properties[0].formula),
        Err(messages) => panic!("`{text}`\n{messages}"),
    }
}

/// Rows `| written | read as |` say the same thing twice.
#[test]
fn tables_say_how_formulas_are_read() {
    let mut n_rows = 0;
    for table in GUIDE.split("\n| written | read as |\n|---|---|\n").skip(1) {
        for row in table.lines().take_while(|line| line.starts_with('|')) {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [written, reading] = cells[..] else { panic!("{row}") };
            let [written, reading] = [written, reading].map(|cell| cell.trim_matches('`'));
            assert_eq!(formula(written), formula(reading), "{row}");
            n_rows += 1;
        }
    }
    assert!(n_rows >= 20, "the tables of the guide are found");
}
