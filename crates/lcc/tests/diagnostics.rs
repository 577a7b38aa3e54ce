//! `docs/diagnostics-lcc.md`: each code, with an example that triggers it and nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use masque_lcc::{Candidate, Parts, Question, Request, Role, Session, Setup, Text, Update, open, teams};
use masque_text::{Diagnostic, Sources, render};
use masque_verdict::Budget;

const PAGE: &str = include_str!("../../../docs/diagnostics-lcc.md");

/// Codes whose examples would be too large for a page.
const TOO_MUCH: [&str; 3] = ["lcc/too-large", "lcc/too-many-files", "lcc/too-many-teams"];

/// Codes whose examples are long; they are made here.
fn long_examples() -> Vec<(&'static str, String)> {
    let deep = format!("a(hen, H) :: {}null{}.\nagent a(hen, h).", "(".repeat(300), ")".repeat(300));
    vec![("lcc/too-deep", deep), ("lcc/too-many-errors", "common p(.\n".repeat(30))]
}

fn sections() -> Vec<(&'static str, &'static str)> {
    PAGE.split("\n## ").skip(1).filter_map(|section| section.split_once('\n')).collect()
}

fn blocks(text: &str) -> Vec<&str> {
    text.split("```lcc\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// What sessions are asked in a text, behind `>`.
fn sessions(text: &str) -> Vec<&str> {
    text.split("```session\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// What is said of a session that is opened with the first lines of a text and asked the others.
fn ask(text: &str) -> (Vec<Diagnostic>, String) {
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
    let draw = |sources: &Sources, found: Vec<Diagnostic>| {
        let drawn = found.iter().map(|diagnostic| render(sources, diagnostic, false)).collect();
        (found, drawn)
    };
    if matches!(words[0].0, "role" | "candidate") {
        let candidate = |statements| Candidate { name: "hal".to_string(), statements, cost: 0 };
        let candidates = all("candidate").into_iter().map(candidate).collect();
        let roles = vec![Role { name: "helper".to_string(), candidates }];
        let refused =
            teams(&Request { setup, roles, ..Request::default() }, &Budget::unlimited()).unwrap_err();
        return draw(&refused.sources, refused.diagnostics);
    }
    let mut session = Session::open(setup).unwrap();
    let found = match words[0].0 {
        "place" => session.place(&words[0].1).map(drop),
        "check" => {
            let question = Question::Property(words[0].1.clone());
            session.check(&question, false, &Budget::unlimited()).map(drop)
        }
        _ => session.update(&Update { add: all("add"), remove: all("remove") }).map(drop),
    };
    draw(session.sources(), found.unwrap_err())
}

/// The files of an example: one, or several that begin with `// file: NAME`.
fn files(text: &str) -> Vec<(&str, &str)> {
    match text.strip_prefix("// file: ") {
        Some(text) => text.split("// file: ").filter_map(|file| file.split_once('\n')).collect(),
        None => vec![("example.lcc", text)],
    }
}

fn diagnose(text: &str) -> (Vec<Diagnostic>, String) {
    let mut sources = Sources::default();
    let files = files(text).into_iter().map(|(name, text)| sources.add(name, text).unwrap()).collect();
    let found = open(&mut sources, &Parts { files, ..Parts::default() }).diagnostics;
    let drawn = found.iter().map(|diagnostic| render(&sources, diagnostic, false)).collect();
    (found, drawn)
}

#[test]
fn each_example_triggers_its_code() {
    let (mut all, mut wrong) = (String::new(), String::new());
    for (code, text) in sections() {
        let long = long_examples().into_iter().filter(|(of, _)| *of == code).map(|(_, text)| text);
        for block in blocks(text).into_iter().map(str::to_string).chain(long) {
            let (mut found, mut drawn) = diagnose(&block);
            if code == "lcc/too-many-errors" {
                (found, drawn) = (found.split_off(20), drawn.split_off(drawn.find(code).unwrap() - 6));
            }
            if found.len() != 1 || found[0].code != code {
                wrong += &format!("{code}:\n{drawn}in\n{block}\n");
            }
            if block.len() < 1000 {
                all += &format!("{drawn}\n");
            }
        }
        for block in sessions(text) {
            let (found, drawn) = ask(block);
            if found.len() != 1 || found[0].code != code {
                wrong += &format!("{code}:\n{drawn}in\n{block}\n");
            }
            all += &format!("{drawn}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    insta::assert_snapshot!("renderings", all);
}

#[test]
fn the_page_has_all_codes_and_no_others() {
    let mut codes = BTreeSet::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
    let of_page: Vec<&str> = sections().into_iter().map(|(code, _)| code).collect();
    assert_eq!(of_page.iter().map(|code| code.to_string()).collect::<BTreeSet<_>>(), codes);
    assert!(of_page.is_sorted(), "{of_page:?}");
    let long = long_examples();
    for (code, text) in sections() {
        let has_example = !blocks(text).is_empty()
            || !sessions(text).is_empty()
            || long.iter().any(|(of, _)| *of == code)
            || TOO_MUCH.contains(&code);
        assert!(has_example, "{code}");
        assert!(
            text.trim_start().lines().next().is_some_and(
                |line| line.ends_with(['.', ',']) || line.chars().next().is_some_and(char::is_uppercase)
            ),
            "{code}"
        );
    }
}

fn collect(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, codes);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let after = text.split("\"lcc/").skip(1);
            codes.extend(after.map(|rest| format!("lcc/{}", rest.split('"').next().unwrap())));
        }
    }
}
