//! Every code has a section in `docs/diagnostics-mu.md`, whose examples trigger exactly that code, and a
//! snapshot of its rendering.

use masque_mu::{Graph, NESTING_LIMIT, read_aut, read_properties};
use masque_testkit::{
    DiagnosticsPage, Rendered, code_blocks, codes_in_sources, rendered, suggestions_without_fix,
};
use masque_text::{Diagnostic, Sources};

/// Examples that are too long for the page.
fn long_examples(code: &str) -> Option<String> {
    match code {
        "mu/too-deep" => Some(format!("deep : {}tt;\n", "!".repeat(NESTING_LIMIT as usize + 1))),
        "mu/too-many-errors" => Some("bad : AG ->;\n".repeat(30)),
        _ => None,
    }
}

fn page() -> DiagnosticsPage<'static> {
    DiagnosticsPage::new(include_str!("../../../docs/diagnostics-mu.md"))
}

fn aut(text: &str) -> (Option<Graph>, Vec<Rendered>) {
    let mut sources = Sources::default();
    let file = sources.add("example.aut", text).unwrap();
    let (graph, diagnostics) = read_aut(&sources, sources.span(file));
    (graph, rendered(&sources, diagnostics))
}

fn properties(text: &str) -> Vec<Rendered> {
    let (sources, found) = read(text);
    rendered(&sources, found)
}

fn read(text: &str) -> (Sources, Vec<Diagnostic>) {
    let mut graph = aut(code_blocks(page().introduction, "aut")[0]).0.unwrap();
    let mut sources = Sources::default();
    let file = sources.add("example.mu", text).unwrap();
    let (_, diagnostics) = read_properties(&sources, sources.span(file), &mut graph);
    (sources, diagnostics)
}

#[test]
fn each_example_triggers_its_code() {
    let all = page().check_examples(
        |section| {
            let mut found: Vec<_> = code_blocks(section.text, "mu").into_iter().map(properties).collect();
            found.extend(code_blocks(section.text, "aut").into_iter().map(|text| aut(text).1));
            found.extend(long_examples(section.code).map(|text| {
                let mut found = properties(&text);
                found.retain(|(diagnostic, _)| diagnostic.code == section.code);
                found
            }));
            found
        },
        |section| code_blocks(section.text, "mu-good").into_iter().map(properties).collect(),
    );
    insta::assert_snapshot!("renderings", all);
}

#[test]
fn the_page_has_all_codes_and_no_others() {
    let codes = codes_in_sources(env!("CARGO_MANIFEST_DIR"), "mu/");
    assert!(codes.len() >= 15, "{codes:?}");
    page().check_codes("mu/", &codes);
    for section in page().sections {
        let has_example = ["mu", "aut"].iter().any(|mark| !code_blocks(section.text, mark).is_empty());
        assert_ne!(has_example, long_examples(section.code).is_some(), "example of {}", section.code);
    }
}

/// Each suggestion in a diagnostic is a fix, and the text with the fix is better.
#[test]
fn suggestions_are_fixes() {
    let mut without_fix: Vec<String> = Vec::new();
    for section in page().sections {
        for text in code_blocks(section.text, "mu").into_iter().map(String::from) {
            without_fix.extend(suggestions_without_fix(&text, read));
        }
    }
    without_fix.sort_unstable();
    without_fix.dedup();
    assert_eq!(without_fix, [""; 0], "{without_fix:#?}");
}
