//! Every code has a section in `docs/diagnostics-mu.md`, whose examples trigger just that code, and
//! a snapshot of how it is drawn.

use std::collections::BTreeSet;
use std::path::Path;

use masque_mu::{Graph, NESTING_LIMIT, read_aut, read_properties};
use masque_text::{Diagnostic, Sources, render};

const PAGE: &str = include_str!("../../../docs/diagnostics-mu.md");

/// Examples too long for the page.
fn long_examples() -> [(&'static str, String); 2] {
    let deep = "!".repeat(NESTING_LIMIT as usize + 1);
    [("mu/too-deep", format!("deep : {deep}tt;\n")), ("mu/too-many-errors", "bad : AG ->;\n".repeat(30))]
}

/// The introduction and the sections `## code` of the page.
fn page() -> (&'static str, Vec<(&'static str, &'static str)>) {
    let mut parts = PAGE.split("\n## ");
    let introduction = parts.next().unwrap();
    (introduction, parts.map(|part| part.split_once('\n').unwrap()).collect())
}

/// The code blocks of a text that are marked with this word.
fn blocks<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let fence = format!("```{mark}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn aut(text: &str) -> (Option<Graph>, Vec<(Diagnostic, String)>) {
    let mut sources = Sources::default();
    let file = sources.add("example.aut", text).unwrap();
    let (graph, diagnostics) = read_aut(&sources, sources.span(file));
    (graph, draw(&sources, diagnostics))
}

fn properties(text: &str) -> Vec<(Diagnostic, String)> {
    let mut graph = aut(blocks(page().0, "aut")[0]).0.unwrap();
    let mut sources = Sources::default();
    let file = sources.add("example.mu", text).unwrap();
    let (_, diagnostics) = read_properties(&sources, sources.span(file), &mut graph);
    draw(&sources, diagnostics)
}

fn draw(sources: &Sources, diagnostics: Vec<Diagnostic>) -> Vec<(Diagnostic, String)> {
    diagnostics.into_iter().map(|d| (d.clone(), render(sources, &d, false))).collect()
}

fn drawn(found: &[(Diagnostic, String)]) -> String {
    found.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn each_example_triggers_its_code() {
    let (mut all, mut wrong) = (String::new(), String::new());
    for (code, text) in page().1 {
        let examples = blocks(text, "mu").into_iter().map(properties);
        for found in examples.chain(blocks(text, "aut").into_iter().map(|text| aut(text).1)) {
            if found.len() != 1 || found[0].0.code != code {
                wrong += &format!("{code} finds {}:\n{}", found.len(), drawn(&found));
            }
            all += &(drawn(&found) + "\n");
        }
        for (_, text) in long_examples().iter().filter(|(long, _)| *long == code) {
            let mut found = properties(text);
            found.retain(|(d, _)| d.code == code);
            assert_eq!(found.len(), 1, "{code}");
            all += &(drawn(&found) + "\n");
        }
        for text in blocks(text, "mu-good") {
            let found = properties(text);
            if !found.is_empty() {
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
    assert!(codes.len() >= 15, "{codes:?}");
    let sections = page().1;
    let of_page: Vec<String> = sections.iter().map(|(code, _)| code.to_string()).collect();
    assert!(of_page.is_sorted(), "{of_page:?}");
    assert_eq!(of_page.into_iter().collect::<BTreeSet<_>>(), codes);
    for (code, text) in sections {
        let summary = text.trim_start().lines().next().unwrap_or_default();
        assert!(summary.ends_with('.'), "{code} begins with a sentence");
        let has_example = !blocks(text, "mu").is_empty() || !blocks(text, "aut").is_empty();
        let is_long = long_examples().iter().any(|(long, _)| *long == code);
        assert_ne!(has_example, is_long, "example of {code}");
    }
}

/// The codes in the sources under a directory: texts that begin with `"mu/`.
fn collect_codes(directory: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_codes(&path, codes);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let after = text.split("\"mu/").skip(1);
            codes.extend(after.map(|rest| format!("mu/{}", rest.split('"').next().unwrap())));
        }
    }
}
