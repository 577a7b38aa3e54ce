//! Every diagnostic code has a section in `docs/diagnostics-bdi.md`, whose example triggers just
//! that code, and a snapshot of how it is drawn.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use masque_bdi::run;
use masque_text::{Diagnostic, Severity, render};
use masque_verdict::Budget;

const PAGE: &str = include_str!("../../../docs/diagnostics-bdi.md");

/// Examples too long for the page.
fn long_examples() -> [(&'static str, String); 3] {
    let (open, close) = ("(".repeat(300), ")".repeat(300));
    [
        ("bdi/name-too-long", format!("property p in b: {};\n", "p".repeat(300))),
        ("bdi/too-deep", format!("property p in b: {open}p{close};\n")),
        ("bdi/too-many-errors", "property p in b: ->;\n".repeat(30)),
    ]
}

fn sections() -> Vec<(&'static str, &'static str)> {
    PAGE.split("\n## ").skip(1).map(|part| part.split_once('\n').unwrap()).collect()
}

/// The code blocks of a text that are marked with this word.
fn blocks<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let fence = format!("```{mark}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// A whole file as it is; anything else behind the standing one.
fn whole(block: &str) -> String {
    let standing = blocks(PAGE.split("\n## ").next().unwrap(), "bdi")[0];
    if block.starts_with("agent") { block.to_string() } else { format!("{standing}\n{block}") }
}

/// What reading, checking and running say of a text.
fn diagnose(text: &str) -> Vec<(Diagnostic, String)> {
    let mut read = support::read(text, &[]);
    if let Some((model, plan)) = &read.model {
        let run = run(model, plan, masque_verdict::Show::Failed, &Budget::default(), &mut |_, _| {});
        read.diagnostics.extend(run.diagnostics);
    }
    let drawn = |d: &Diagnostic| render(&read.sources, d, false);
    read.diagnostics.iter().map(|d| (d.clone(), drawn(d))).collect()
}

fn drawn(found: &[(Diagnostic, String)]) -> String {
    found.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn the_standing_file_is_above_reproach() {
    let found = diagnose(&whole(""));
    assert!(found.is_empty(), "{}", drawn(&found));
}

#[test]
fn each_example_triggers_its_code() {
    let (mut all, mut wrong) = (String::new(), String::new());
    for (code, text) in sections() {
        let long = long_examples();
        let long = long.iter().filter(|(c, _)| *c == code).map(|(_, text)| whole(text));
        let short = blocks(text, "bdi").into_iter().map(whole);
        let files = blocks(text, "bdi-whole").into_iter().map(String::from);
        let mut n_examples = 0;
        for text in short.chain(files).chain(long) {
            n_examples += 1;
            let mut found = diagnose(&text);
            if code == "bdi/too-many-errors" {
                found.retain(|(d, _)| d.code == code);
            }
            // Notes may accompany a warning.
            let worst = found.iter().map(|(d, _)| d.severity).min().unwrap_or(Severity::Note);
            found.retain(|(d, _)| d.severity == worst || d.code == code);
            if found.len() != 1 || found[0].0.code != code {
                wrong += &format!("{code} finds {}:\n{}in\n{text}\n", found.len(), drawn(&found));
            }
            all += &drawn(&found);
            all += "\n";
        }
        assert_eq!(n_examples, 1, "{code} has one example");
        for block in blocks(text, "bdi-good") {
            let found = diagnose(&whole(block));
            if found.iter().any(|(d, _)| d.severity != Severity::Note) {
                wrong += &format!("the good one of {code}:\n{}", drawn(&found));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    insta::assert_snapshot!("renderings", all);
}

#[test]
fn the_page_has_all_codes_and_no_others() {
    let mut codes = BTreeSet::new();
    collect_codes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
    assert!(codes.len() >= 40, "{codes:?}");
    let sections = sections();
    let of_page: BTreeSet<String> = sections.iter().map(|(code, _)| code.to_string()).collect();
    assert_eq!(of_page, codes);
    assert!(sections.is_sorted_by_key(|(code, _)| *code));
    for (code, text) in sections {
        let summary = text.trim_start().lines().next().unwrap_or_default();
        assert!(summary.ends_with('.') && !summary.starts_with("```"), "{code} begins with a sentence");
    }
}

/// The codes in the sources under a directory: texts that begin with `"bdi/`.
fn collect_codes(directory: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_codes(&path, codes);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let after = text.split("\"bdi/").skip(1);
            codes.extend(after.map(|rest| format!("bdi/{}", rest.split('"').next().unwrap())));
        }
    }
}
