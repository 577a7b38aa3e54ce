//! Every code has a section in `docs/diagnostics-lcc.md`, whose examples trigger exactly that code, and a
//! snapshot of its rendering.

use masque_lcc::{
    AgentSetup, AgentSide, Candidate, InstanceInput, Question, Request, Role, Session, Setup, Text, Update,
    open, teams,
};
use masque_testkit::{
    DiagnosticsPage, Rendered, code_blocks, codes_in_sources, rendered, suggestions_without_fix,
};
use masque_text::{Diagnostic, Sources};
use masque_verdict::Budget;

/// Codes whose examples would be too large for a test.
const WITHOUT_EXAMPLE: [&str; 4] =
    ["lcc/too-large", "lcc/too-many-files", "lcc/too-many-obligations", "lcc/too-many-teams"];

fn page() -> DiagnosticsPage<'static> {
    DiagnosticsPage::new(include_str!("../../../docs/diagnostics-lcc.md"))
}

/// Examples that are too long for the page.
fn long_example(code: &str) -> Option<String> {
    match code {
        "lcc/too-deep" => {
            Some(format!("a(hen, H) :: {}null{}.\nagent a(hen, h).", "(".repeat(300), ")".repeat(300)))
        }
        "lcc/too-many-errors" => Some("common p(.\n".repeat(30)),
        _ => None,
    }
}

/// The diagnostics of a session that is opened with the lines of a text and asked those that begin
/// with `>`.
fn ask(text: &str) -> Vec<Rendered> {
    let (asked, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('>'));
    let setup = Setup { files: vec![Text::new("example.lcc", lines.join("\n"))], ..Setup::default() };
    let words: Vec<(&str, String)> = asked
        .iter()
        .map(|line| line.trim_start_matches(['>', ' ']).split_once(' ').unwrap_or(("role", "")))
        .map(|(word, rest)| (word, rest.to_string()))
        .collect();
    let all = |wanted: &str| -> Vec<String> {
        words.iter().filter(|(word, _)| *word == wanted).map(|(_, rest)| rest.clone()).collect()
    };
    if matches!(words[0].0, "role" | "candidate") {
        let candidate = |statements| Candidate { name: "hal".to_string(), statements, cost: 0 };
        let candidates = all("candidate").into_iter().map(candidate).collect();
        let roles = vec![Role { name: "helper".to_string(), candidates }];
        let refused =
            teams(&Request { setup, roles, ..Request::default() }, &Budget::unlimited()).unwrap_err();
        return rendered(&refused.sources, refused.diagnostics);
    }
    if words[0].0 == "agent" {
        let (id, tuple) = words[0].1.split_once(' ').unwrap();
        let setup = AgentSetup { id: id.to_string(), setup, max_steps: 9, properties: Vec::new() };
        let refused = AgentSide::open(setup).and_then(|mut side| match tuple {
            "start" => side.start("i", &Budget::unlimited()),
            tuple => side.receive(tuple, &Budget::unlimited()),
        });
        let refused = refused.unwrap_err();
        return rendered(&refused.sources, refused.diagnostics);
    }
    let mut session = Session::open(setup).unwrap();
    let found = match words[0].0 {
        "place" => {
            let (last, first) = words.split_last().unwrap();
            first.iter().for_each(|(_, text)| session.place(text).unwrap());
            session.place(&last.1)
        }
        "check" => {
            let question = Question::Property(words[0].1.clone());
            session.check(&question, false, &Budget::unlimited()).map(drop)
        }
        _ => session.update(&Update { add: all("add"), remove: all("remove") }).map(drop),
    };
    rendered(session.sources(), found.unwrap_err())
}

/// The files of an example: one, or several that begin with `// file: NAME`.
fn files(text: &str) -> Vec<(&str, &str)> {
    match text.strip_prefix("// file: ") {
        Some(text) => text.split("// file: ").filter_map(|file| file.split_once('\n')).collect(),
        None => vec![("example.lcc", text)],
    }
}

fn diagnose(text: &str) -> Vec<Rendered> {
    let (sources, found) = opened(text);
    rendered(&sources, found)
}

fn opened(text: &str) -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let files = files(text).into_iter().map(|(name, text)| sources.add(name, text).unwrap()).collect();
    let found = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() }).diagnostics;
    (sources, found)
}

#[test]
fn each_example_triggers_its_code() {
    let all = page().check_examples(
        |section| {
            let mut found: Vec<_> = code_blocks(section.text, "lcc").into_iter().map(diagnose).collect();
            found.extend(long_example(section.code).map(|text| {
                let mut found = diagnose(&text);
                found.retain(|(diagnostic, _)| diagnostic.code == section.code);
                found
            }));
            found.extend(code_blocks(section.text, "session").into_iter().map(ask));
            found
        },
        |_| Vec::new(),
    );
    insta::assert_snapshot!("renderings", all);
}

#[test]
fn the_page_has_all_codes_and_no_others() {
    page().check_codes("lcc/", &codes_in_sources(env!("CARGO_MANIFEST_DIR"), "lcc/"));
    for section in page().sections {
        let has_example = ["lcc", "session"].iter().any(|mark| !code_blocks(section.text, mark).is_empty())
            || long_example(section.code).is_some()
            || WITHOUT_EXAMPLE.contains(&section.code);
        assert!(has_example, "{}", section.code);
    }
}

/// Help lines that show a form, or leave a choice.
const FORMS: [&str; 3] = [
    "lcc/guarded-group: write `null <- constraint then ( .. )`",
    "lcc/obligation-message: write `!send(corn)` or `!receive(corn)`",
    "lcc/shared-variable: write `X` in `after`, which gives variables their values, or `_` in both places",
];

/// Each suggestion in a diagnostic is a fix, and the text with the fix is better.
#[test]
fn suggestions_are_fixes() {
    let mut without_fix: Vec<String> = Vec::new();
    for section in page().sections {
        for text in code_blocks(section.text, "lcc").into_iter().map(String::from) {
            without_fix.extend(suggestions_without_fix(&text, opened));
        }
    }
    without_fix.sort_unstable();
    without_fix.dedup();
    assert_eq!(without_fix, FORMS, "{without_fix:#?}");
}
