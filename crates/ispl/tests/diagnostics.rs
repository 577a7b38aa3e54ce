//! Every diagnostic code has a section in `docs/diagnostics.md`, whose example triggers just that
//! code, and a snapshot of how it is drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use masque_ispl::{Define, Options, check, parse};
use masque_text::{Diagnostic, Sources, render};

const PAGE: &str = include_str!("../../../docs/diagnostics.md");

/// Codes that need the state space: the driver finds them.
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

/// Examples too long for the page.
fn long_examples() -> [(&'static str, String); 3] {
    let (open, close) = ("(".repeat(600), ")".repeat(600));
    [
        ("ispl/name-too-long", format!("Formulae\n  AG {};\nend Formulae\n", "done".repeat(100))),
        ("ispl/too-deep", format!("Formulae\n  AG {open}done{close};\nend Formulae\n")),
        ("ispl/too-many-errors", format!("Formulae\n{}end Formulae\n", "  AG ->;\n".repeat(30))),
    ]
}

const OF_FILE: [&str; 6] = ["Semantics", "Evaluation", "InitStates", "Groups", "Fairness", "Formulae"];
const OF_AGENT: [&str; 7] = ["Lobsvars", "Obsvars", "Vars", "RedStates", "Actions", "Protocol", "Evolution"];

/// A `## code` of the page.
struct Section {
    code: &'static str,
    text: &'static str,
}

fn page() -> (&'static str, Vec<Section>) {
    let mut parts = PAGE.split("\n## ");
    let introduction = parts.next().unwrap();
    let sections = parts.map(|part| {
        let (code, text) = part.split_once('\n').unwrap();
        Section { code, text }
    });
    (introduction, sections.collect())
}

/// The code blocks of a text that are marked with this word.
fn blocks<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let fence = format!("```{mark}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// A whole file as it is; a fragment in its place in the standing model.
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
    let standing = blocks(page().0, "ispl")[0];
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

/// What parsing and, if that went well, checking say of a text, drawn for people.
fn diagnose(text: &str, code: &str) -> Vec<(Diagnostic, String)> {
    let mut sources = Sources::default();
    let file = sources.add("example.ispl", text).unwrap();
    let (mut tree, mut diagnostics) = parse(&sources, file);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let mut options = Options::default();
        if code == "ispl/unknown-parameter" {
            let given = sources.add("-D", "M=3").unwrap();
            let span = sources.span(given);
            options.defines.push(Define { name: "M".to_string(), value: 3, span });
        }
        diagnostics.extend(check(&sources, &mut tree, &options).diagnostics);
    }
    diagnostics.into_iter().map(|d| (d.clone(), render(&sources, &d, false))).collect()
}

#[test]
fn the_standing_model_is_above_reproach() {
    let found = diagnose(blocks(page().0, "ispl")[0], "");
    assert!(found.is_empty(), "{}", drawn(&found));
}

#[test]
fn each_example_triggers_its_code() {
    let mut all = String::new();
    let mut wrong = String::new();
    for Section { code, text } in page().1 {
        for block in blocks(text, "ispl") {
            let text = in_the_standing_model(block);
            let found = diagnose(&text, code);
            if found.len() != 1 || found[0].0.code != code {
                wrong += &format!("{code} finds {}:\n{}in\n{text}\n", found.len(), drawn(&found));
            }
            all += &drawn(&found);
            all += "\n";
        }
        for (_, block) in long_examples().iter().filter(|(c, _)| *c == code) {
            let mut found = diagnose(&in_the_standing_model(block), code);
            found.retain(|(d, _)| d.code == code);
            assert_eq!(found.len(), 1, "{code}");
            all += &drawn(&found);
            all += "\n";
        }
        for block in blocks(text, "ispl-good") {
            let found = diagnose(&in_the_standing_model(block), "");
            if !found.is_empty() {
                wrong += &format!("the good one of {code}:\n{}", drawn(&found));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    insta::assert_snapshot!("renderings", all);
}

fn drawn(found: &[(Diagnostic, String)]) -> String {
    found.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn the_page_has_all_codes_and_no_others() {
    let mut codes = BTreeSet::new();
    collect_codes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
    assert!(codes.len() >= 40, "{codes:?}");
    codes.extend(OF_DRIVER.map(String::from));
    let (sections, long) = (page().1, long_examples());
    let of_page: BTreeSet<String> =
        sections.iter().map(|s| s.code.to_string()).filter(|code| code.starts_with("ispl/")).collect();
    assert_eq!(of_page, codes);
    for Section { code, text } in &sections {
        let summary = text.trim_start().lines().next().unwrap_or_default();
        assert!(summary.ends_with('.') && !summary.starts_with("```"), "{code} begins with a sentence");
        let needs_example =
            code.starts_with("ispl/") && !OF_DRIVER.contains(code) && long.iter().all(|(c, _)| c != code);
        assert_eq!(needs_example, !blocks(text, "ispl").is_empty(), "example of {code}");
    }
}

#[test]
fn the_page_is_sorted() {
    let codes: Vec<&str> = page().1.iter().map(|s| s.code).collect();
    assert!(codes.is_sorted(), "{codes:?}");
}

/// The codes in the sources under a directory: texts that begin with `"ispl/`.
fn collect_codes(directory: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_codes(&path, codes);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let after = text.split("\"ispl/").skip(1);
            codes.extend(after.map(|rest| format!("ispl/{}", rest.split('"').next().unwrap())));
        }
    }
}
