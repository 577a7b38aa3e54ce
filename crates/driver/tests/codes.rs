//! Every code in the sources has a page, and every page has a code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const GROUPS: [&str; 11] =
    ["bdi/", "check/", "cli/", "cluster/", "file/", "ispl/", "lcc/", "load/", "mu/", "test/", "trace/"];

/// The Rust files below a folder that are part of a library or program.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["tests", "target"].contains(&name.as_str()) {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

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
    let mut files = Vec::new();
    sources(Path::new("../../crates"), &mut files);
    sources(Path::new("../../apps"), &mut files);
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let used: BTreeSet<&str> = texts.iter().flat_map(|text| codes(text)).collect();
    let explained: BTreeSet<&str> = masque_driver::codes().map(|(code, _)| code).collect();
    let missing: Vec<_> = used.difference(&explained).collect();
    let needless: Vec<_> = explained.difference(&used).collect();
    assert!(missing.is_empty(), "without a section in docs/diagnostics.md: {missing:?}");
    assert!(needless.is_empty(), "explained but never used: {needless:?}");
    assert!(used.len() >= 40);
}
