//! Checks every model with properties against the expected verdicts in its comments.

mod support;

use std::collections::BTreeMap;

use masque_lcc::{InstanceInput, check_all, open};
use masque_mu::Space;
use masque_text::{Sources, render};
use masque_verdict::{Budget, Show};
use support::models;

/// The expected verdicts in comments, by the name of the property that follows.
fn expected(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut verdict: Option<String> = None;
    for line in text.lines().map(str::trim) {
        if let Some(word) = line.strip_prefix("// expect:") {
            verdict = Some(word.trim().to_string());
        } else if !line.starts_with("//") && !line.is_empty() {
            let line = line.strip_prefix("property ").unwrap_or(line);
            if let (Some(word), Some((name, _))) = (verdict.take(), line.split_once(':')) {
                all.insert(name.trim().to_string(), word);
            }
        }
    }
    all
}

#[track_caller]
fn check(files: &[&str], properties: &[&str]) -> usize {
    let mut sources = Sources::default();
    let mut wanted = BTreeMap::new();
    let mut add = |file: &str| {
        let text = std::fs::read_to_string(models().join(file)).unwrap();
        wanted.extend(expected(&text));
        sources.add(file, text).unwrap()
    };
    let files_added = files.iter().map(|file| add(file)).collect();
    let properties = properties.iter().map(|file| add(file)).collect();
    let parts = InstanceInput { files: files_added, properties, options: Vec::new() };
    let opened = open(&mut sources, &parts);
    let drawn: String = opened.diagnostics.iter().map(|d| render(&sources, d, false)).collect();
    assert!(opened.diagnostics.is_empty(), "{drawn}");
    let mut system = opened.system.unwrap();
    let checked = check_all(&mut system, &opened.properties, Show::All, &Budget::unlimited(), &mut |_, _| {});
    let mut wrong = String::new();
    for (property, checked) in opened.properties.iter().zip(&checked) {
        let name = &property.source.name.text;
        let want = if name.starts_with("obligation") {
            "holds"
        } else {
            wanted.get(name).unwrap_or_else(|| panic!("{files:?}: {name} has no expected verdict"))
        };
        let whole = masque_mu::check(&mut Space::new(&mut system), &property.formula, &Budget::unlimited());
        if checked.verdict.word() != want || whole.verdict.word() != want {
            wrong += &format!("{name}: {}, whole {}, expected {want}\n", checked.verdict, whole.verdict);
        }
    }
    assert!(wrong.is_empty(), "{files:?}\n{wrong}");
    opened.properties.len()
}

#[test]
fn models_have_their_expected_verdicts() {
    let mut n_models = 0;
    let mut names: Vec<String> =
        std::fs::read_dir(models()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    for name in names.iter().filter(|name| name.ends_with(".lcc")) {
        let text = std::fs::read_to_string(models().join(name)).unwrap();
        if text.contains("\nproperty ") {
            assert!(check(&[name], &[]) > 0);
            n_models += 1;
        }
    }
    assert!(n_models >= 4, "{n_models}");
}

#[test]
fn the_travel_example_has_its_expected_verdicts() {
    let team = ["travel_team.lcc", "rules.pol", "f_member.lcc", "f_customer.lcc", "f_pgp.lcc", "f_x509.lcc"];
    let files: Vec<&str> = std::iter::once("travel.lcc").chain(team).collect();
    assert_eq!(check(&files, &["travel.mu"]), 11);
}
