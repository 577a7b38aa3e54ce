//! ARCHITECTURE.md names files and modules that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Lower-case names in backticks that are no modules: functions, options, verdicts, external crates.
const OTHER_NAMES: [&str; 54] = [
    "alike",
    "anstream",
    "anstyle",
    "anyhow",
    "axum",
    "check_memory",
    "check_showing",
    "chrono",
    "clap",
    "clap_complete",
    "clap_mangen",
    "criterion",
    "cross_check",
    "extents",
    "fastrand",
    "format_file",
    "getrandom",
    "hashbrown",
    "hmac",
    "holds",
    "hyper",
    "in_time",
    "indicatif",
    "insta",
    "labelled_run",
    "libc",
    "logos",
    "maud",
    "mimalloc",
    "nix",
    "notify",
    "plotters",
    "rayon",
    "read_properties",
    "reedline",
    "replace_file",
    "report_all",
    "roxmltree",
    "rustix",
    "rustyline",
    "schemars",
    "serde",
    "serde_json",
    "states",
    "sweep",
    "tempfile",
    "terminal_size",
    "timely",
    "tokio",
    "truth_at",
    "unknown",
    "unsafe",
    "unwrap",
    "write_explanation",
];

fn names_below(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        names.insert(path.file_stem().unwrap().to_string_lossy().into_owned());
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            names_below(&path, names);
        }
    }
}

#[test]
fn every_module_and_path_exists() {
    let page = fs::read_to_string("../../ARCHITECTURE.md").unwrap();
    let mut names = BTreeSet::new();
    ["crates", "apps", "docs", "models", "editors"].iter().for_each(|folder| {
        names_below(&Path::new("../..").join(folder), &mut names);
    });
    let text: String = page.split("```").step_by(2).collect();
    for quoted in text.split('`').skip(1).step_by(2) {
        let is_path = ["crates/", "apps/", "docs/", "models/", "editors/"]
            .iter()
            .any(|folder| quoted.starts_with(folder));
        if is_path && !quoted.contains('*') {
            assert!(Path::new("../..").join(quoted).exists(), "there is no {quoted}");
        }
        let is_module = quoted.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let is_known = names.contains(quoted) || OTHER_NAMES.contains(&quoted);
        assert!(!is_module || is_known, "there is no module {quoted}");
    }
}

/// A test file that no test program names would never run: most crates list their programs (`autotests = false`).
#[test]
fn every_test_file_is_run() {
    let folders = ["crates", "apps"].map(|folder| fs::read_dir(Path::new("../..").join(folder)).unwrap());
    for package in folders.into_iter().flatten().map(|entry| entry.unwrap().path()) {
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
        let tests = package.join("tests");
        if !manifest.contains("autotests = false") || !tests.exists() {
            continue;
        }
        let mut files = BTreeSet::new();
        for path in fs::read_dir(&tests).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "rs") {
                files.insert(path.file_stem().unwrap().to_string_lossy().into_owned());
            }
        }
        let programs =
            manifest.lines().filter_map(|line| line.strip_prefix("path = \"tests/")?.strip_suffix(".rs\""));
        for program in programs {
            assert!(files.remove(program), "{} has no test program {program}", package.display());
            let text = fs::read_to_string(tests.join(program).with_extension("rs")).unwrap();
            for module in text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')) {
                files.remove(module);
            }
        }
        assert!(files.is_empty(), "{}: no test program has the modules {files:?}", package.display());
    }
}
