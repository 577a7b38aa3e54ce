//! Every code has a section in `docs/diagnostics.md`, whose example triggers exactly that code, and a
//! snapshot of its rendering.

use std::collections::BTreeMap;

use masque_ispl::{Define, Model, Options, check, parse_model};
use masque_testkit::{
    DiagnosticsPage, Rendered, Section, TextLibrary, all_text, code_blocks, codes_in_sources, example_files,
    rendered, suggestions_without_fix,
};
use masque_text::{Diagnostic, Sources};

/// Codes that need the state space. The driver reports them.
const OF_DRIVER: [&str; 8] = [
    "ispl/deadlock",
    "ispl/no-fair-path",
    "ispl/no-initial-state",
    "ispl/not-counted",
    "ispl/overflow",
    "ispl/partly-fair",
    "ispl/unsupported",
    "ispl/vacuous",
];

/// Examples that are too long for the page.
fn long_example(code: &str) -> Option<String> {
    let (open, close) = ("(".repeat(600), ")".repeat(600));
    match code {
        "ispl/name-too-long" => Some(format!("Formulae\n  AG {};\nend Formulae\n", "done".repeat(100))),
        "ispl/too-deep" => Some(format!("Formulae\n  AG {open}done{close};\nend Formulae\n")),
        "ispl/too-many-files" => {
            let imports: String = (0..1000).map(|n| format!("import \"{n}.ispl\";\n")).collect();
            let files: String = (0..1000).map(|n| format!("-- file: {n}.ispl\nparam N{n};\n")).collect();
            Some(format!("-- file: main.ispl\n{imports}{files}"))
        }
        "ispl/too-many-errors" => Some(format!("Formulae\n{}end Formulae\n", "  AG ->;\n".repeat(30))),
        _ => None,
    }
}

const OF_FILE: [&str; 6] = ["Semantics", "Evaluation", "InitStates", "Groups", "Fairness", "Formulae"];
const OF_AGENT: [&str; 7] = ["Lobsvars", "Obsvars", "Vars", "RedStates", "Actions", "Protocol", "Evolution"];

fn page() -> DiagnosticsPage<'static> {
    DiagnosticsPage::new(include_str!("../../../docs/diagnostics.md"))
}

/// A whole file as it is; a fragment in place of the same sections of the model of the introduction.
fn in_the_standing_model(block: &str) -> String {
    let begin = block.lines().next().and_then(heading);
    let Some(begin) = begin else { return block.to_string() };
    // Each section of the fragment reaches to the next heading.
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    let mut current = begin;
    for line in block.lines() {
        current = heading(line).unwrap_or(current);
        *sections.entry(current).or_default() += &format!("{line}\n");
    }
    let standing = code_blocks(page().introduction, "ispl")[0];
    let (before, rest) = standing.split_once("Agent Alice\n").unwrap();
    let (alice, rest) = rest.split_once("end Agent\n").unwrap();
    let (bob, after) = rest.split_once("end Agent\n").unwrap();
    let (of_agent, of_file) = sections.into_iter().partition(|(name, _)| OF_AGENT.contains(name));
    let (alice, after) = (replace(alice, of_agent), replace(after, of_file));
    format!("{before}Agent Alice\n{alice}end Agent\n{bob}end Agent\n{after}")
}

/// The section that begins with this line.
fn heading(line: &str) -> Option<&'static str> {
    let word = line.split([' ', ':']).next()?;
    OF_AGENT.iter().chain(&OF_FILE).find(|name| **name == word).copied()
}

/// The text with some of its sections replaced, and those added that it does not have.
fn replace(text: &str, mut by: BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    let mut is_replaced = false;
    for line in text.lines() {
        if let Some(name) = heading(line.trim_start()) {
            let section = by.remove(name);
            is_replaced = section.is_some();
            out += &section.unwrap_or_default();
        }
        if !is_replaced {
            out += &format!("{line}\n");
        }
    }
    out + &by.into_values().collect::<String>()
}

/// The diagnostics of parsing a text and, if it has no errors, of checking it.
fn diagnose(text: &str, code: &str) -> Vec<Rendered> {
    let (sources, found) = read(text, code);
    rendered(&sources, found)
}

fn read(text: &str, code: &str) -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let files = example_files(text, "-- file: ", "example.ispl");
    let file = sources.add(files[0].0, files[0].1).unwrap();
    let Model { mut tree, mut diagnostics, .. } = parse_model(&mut sources, file, &TextLibrary::new(&files));
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let mut options = Options::default();
        if code == "ispl/unknown-parameter" {
            let given = sources.add("-D", "M=3").unwrap();
            let span = sources.span(given);
            options.defines.push(Define { name: "M".to_string(), value: 3, span });
        }
        diagnostics.extend(check(&sources, &mut tree, &options).diagnostics);
    }
    (sources, diagnostics)
}

#[test]
fn the_model_of_the_introduction_has_no_diagnostics() {
    let found = diagnose(code_blocks(page().introduction, "ispl")[0], "");
    assert!(found.is_empty(), "{}", all_text(&found));
}

#[test]
fn each_example_triggers_its_code() {
    let all = page().check_examples(
        |Section { code, text }| {
            let blocks = code_blocks(text, "ispl").into_iter();
            let mut found: Vec<_> =
                blocks.map(|block| diagnose(&in_the_standing_model(block), code)).collect();
            found.extend(long_example(code).map(|block| {
                let mut found = diagnose(&in_the_standing_model(&block), code);
                found.retain(|(diagnostic, _)| diagnostic.code == code);
                found
            }));
            found
        },
        |section| {
            let blocks = code_blocks(section.text, "ispl-good").into_iter();
            blocks.map(|block| diagnose(&in_the_standing_model(block), "")).collect()
        },
    );
    insta::assert_snapshot!("renderings", all);
}

#[test]
fn the_page_has_all_codes_and_no_others() {
    let mut codes = codes_in_sources(env!("CARGO_MANIFEST_DIR"), "ispl/");
    assert!(codes.len() >= 40, "{codes:?}");
    codes.extend(OF_DRIVER.map(String::from));
    page().check_codes("ispl/", &codes);
    for Section { code, text } in page().sections {
        let needs_example =
            code.starts_with("ispl/") && !OF_DRIVER.contains(&code) && long_example(code).is_none();
        assert_eq!(needs_example, !code_blocks(text, "ispl").is_empty(), "example of {code}");
    }
}

/// Help lines that show a form, or leave a choice.
const FORMS: [&str; 5] = [
    "ispl/comparison-chain: write `a < b and b < c`, or use brackets to compare truth values",
    "ispl/empty-range: a range is written `lo..hi` with lo at most hi",
    "ispl/negated-until: write `(!a) U b` or `!(a U b)`",
    "ispl/wrong-arguments: write `next(i, N)`",
    "ispl/wrong-logic: write `AF` or `EF`, or begin the formula with `LTL` or `CTL*`",
];

/// Each suggestion in a diagnostic is a fix, and the text with the fix is better.
#[test]
fn suggestions_are_fixes() {
    let mut without_fix: Vec<String> = Vec::new();
    for section in page().sections {
        for text in code_blocks(section.text, "ispl").into_iter().map(in_the_standing_model) {
            without_fix.extend(suggestions_without_fix(&text, |text| read(text, section.code)));
        }
    }
    without_fix.sort_unstable();
    without_fix.dedup();
    assert_eq!(without_fix, FORMS, "{without_fix:#?}");
}
