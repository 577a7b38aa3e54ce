//! `docs/diagnostics-lcc.md`: each code, with an example that triggers it and nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use masque_lcc::{Parts, open};
use masque_text::{Diagnostic, Sources, render};

const PAGE: &str = include_str!("../../../docs/diagnostics-lcc.md");

/// Codes whose examples are long; they are made here.
fn long_examples() -> Vec<(&'static str, String)> {
    let deep = format!("a(hen, H) :: {}null{}.\nagent a(hen, h).", "(".repeat(300), ")".repeat(300));
    vec![("lcc/too-deep", deep)]
}

fn sections() -> Vec<(&'static str, &'static str)> {
    PAGE.split("\n## ").skip(1).filter_map(|section| section.split_once('\n')).collect()
}

fn blocks(text: &str) -> Vec<&str> {
    text.split("```lcc\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn diagnose(text: &str) -> (Vec<Diagnostic>, String) {
    let mut sources = Sources::default();
    let files = vec![sources.add("example.lcc", text).unwrap()];
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
            let (found, drawn) = diagnose(&block);
            if found.len() != 1 || found[0].code != code {
                wrong += &format!("{code}:\n{drawn}in\n{block}\n");
            }
            if block.len() < 1000 {
                all += &format!("{drawn}\n");
            }
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
        let has_example = !blocks(text).is_empty() || long.iter().any(|(of, _)| *of == code);
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
