//! Every code in the sources has a page, and every page has a code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use masque_testkit::files_below;

const GROUPS: [&str; 12] = [
    "bdi/", "check/", "cli/", "cluster/", "file/", "ispl/", "lcc/", "load/", "monitor/", "mu/", "test/",
    "trace/",
];

/// What stands in quotes and looks like a code.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    // Tests at the end of a file may use codes that are none.
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| line.split('"'));
    code.filter(|word| {
        GROUPS.iter().any(|group| word.starts_with(group) && word.len() > group.len())
            && word.chars().all(|c| c.is_ascii_lowercase() || "/-".contains(c))
    })
}

#[test]
fn every_code_has_a_page() {
    let all = ["../../crates", "../../apps"].map(|folder| files_below(Path::new(folder), &["rs"]));
    let is_test = |path: &PathBuf| {
        path.ends_with("tests.rs") || path.iter().any(|folder| folder == "tests" || folder == "benches")
    };
    let files = all.into_iter().flatten().filter(|path| !is_test(path));
    let texts: Vec<String> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let used: BTreeSet<&str> = texts.iter().flat_map(|text| codes(text)).collect();
    let explained: BTreeSet<&str> = masque_driver::codes().map(|(code, _)| code).collect();
    let missing: Vec<_> = used.difference(&explained).collect();
    let needless: Vec<_> = explained.difference(&used).collect();
    assert!(missing.is_empty(), "without a section in docs/diagnostics.md: {missing:?}");
    assert!(needless.is_empty(), "explained but never used: {needless:?}");
    assert!(used.len() >= 40);
}
