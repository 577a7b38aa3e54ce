//! Every code has a section in `docs/diagnostics-bdi.md`, whose example triggers exactly that code, and a
//! snapshot of its rendering.

use masque_bdi::run;
use masque_testkit::{
    DiagnosticsPage, Rendered, all_text, code_blocks, codes_in_sources, rendered, suggestions_without_fix,
};
use masque_text::{Diagnostic, Severity, Sources};
use masque_verdict::{Budget, Show};

/// Examples that are too long for the page.
fn long_example(code: &str) -> Option<String> {
    let (open, close) = ("(".repeat(300), ")".repeat(300));
    match code {
        "bdi/name-too-long" => Some(format!("property p in b: {};\n", "p".repeat(300))),
        "bdi/too-deep" => Some(format!("property p in b: {open}p{close};\n")),
        "bdi/too-many-files" => {
            let imports: String = (0..1000).map(|n| format!("import \"{n}.bdi\";\n")).collect();
            let files: String = (0..1000).map(|n| format!("// file: {n}.bdi\nmas = a;\n")).collect();
            Some(format!("// file: main.bdi\n{imports}{files}"))
        }
        "bdi/too-many-errors" => Some("property p in b: ->;\n".repeat(30)),
        _ => None,
    }
}

fn page() -> DiagnosticsPage<'static> {
    DiagnosticsPage::new(include_str!("../../../docs/diagnostics-bdi.md"))
}

/// A whole file as it is; other text after the file of the introduction.
fn whole(block: &str) -> String {
    let standing = code_blocks(page().introduction, "bdi")[0];
    let is_whole = block.starts_with("agent") || block.starts_with("// file: ");
    if is_whole { block.to_string() } else { format!("{standing}\n{block}") }
}

/// The diagnostics of reading, checking and running a text.
fn diagnose(text: &str) -> Vec<Rendered> {
    let (sources, found) = read_and_run(text);
    rendered(&sources, found)
}

fn read_and_run(text: &str) -> (Sources, Vec<Diagnostic>) {
    let mut read = crate::support::read(text, &[]);
    if let Some((model, plan)) = &read.model {
        let run = run(model, plan, Show::Failed, &Budget::default(), &mut |_, _| {});
        read.diagnostics.extend(run.diagnostics);
    }
    (read.sources, read.diagnostics)
}

/// The diagnostics of an example of a code, without the notes that accompany a warning.
fn diagnose_example(text: &str, code: &str) -> Vec<Rendered> {
    let mut found = diagnose(text);
    if code == "bdi/too-many-errors" {
        found.retain(|(diagnostic, _)| diagnostic.code == code);
    }
    let worst = found.iter().map(|(diagnostic, _)| diagnostic.severity).min().unwrap_or(Severity::Note);
    found.retain(|(diagnostic, _)| diagnostic.severity == worst || diagnostic.code == code);
    found
}

/// The examples of a section.
fn examples(code: &str, text: &str) -> Vec<String> {
    let short = code_blocks(text, "bdi").into_iter().map(whole);
    let files = code_blocks(text, "bdi-whole").into_iter().map(String::from);
    short.chain(files).chain(long_example(code).map(|text| whole(&text))).collect()
}

#[test]
fn the_file_of_the_introduction_has_no_diagnostics() {
    let found = diagnose(&whole(""));
    assert!(found.is_empty(), "{}", all_text(&found));
}

#[test]
fn each_example_triggers_its_code() {
    let all = page().check_examples(
        |section| {
            let examples = examples(section.code, section.text);
            examples.iter().map(|text| diagnose_example(text, section.code)).collect()
        },
        |section| {
            let mut found: Vec<_> = code_blocks(section.text, "bdi-good")
                .into_iter()
                .map(|text| diagnose(&whole(text)))
                .collect();
            found.iter_mut().for_each(|found| found.retain(|(d, _)| d.severity != Severity::Note));
            found
        },
    );
    insta::assert_snapshot!("renderings", all);
}

#[test]
fn the_page_has_all_codes_and_no_others() {
    let codes = codes_in_sources(env!("CARGO_MANIFEST_DIR"), "bdi/");
    assert!(codes.len() >= 40, "{codes:?}");
    page().check_codes("bdi/", &codes);
    for section in page().sections {
        assert_eq!(examples(section.code, section.text).len(), 1, "{} has one example", section.code);
    }
}

/// Each suggestion in a diagnostic is a fix, and the text with the fix is better.
#[test]
fn suggestions_are_fixes() {
    let mut without_fix: Vec<String> = Vec::new();
    for section in page().sections {
        for text in examples(section.code, section.text) {
            without_fix.extend(suggestions_without_fix(&text, read_and_run));
        }
    }
    without_fix.sort_unstable();
    without_fix.dedup();
    // This help line shows a form.
    assert_eq!(without_fix, ["bdi/read-target: write `do read(p, q)`"], "{without_fix:#?}");
}
