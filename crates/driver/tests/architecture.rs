//! ARCHITECTURE.md names files, modules and functions that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use masque_testkit::files_below;

/// Lower-case names in backticks that are no modules: functions, options, verdicts, external crates.
const OTHER_NAMES: [&str; 52] = [
    "alike",
    "anstream",
    "anstyle",
    "anyhow",
    "axum",
    "check_memory",
    "chrono",
    "clap",
    "clap_complete",
    "clap_mangen",
    "criterion",
    "cross_check",
    "extents",
    "fastrand",
    "format_file",
    "gallery",
    "getrandom",
    "hashbrown",
    "hmac",
    "holds",
    "hyper",
    "indicatif",
    "insta",
    "libc",
    "logos",
    "maturin",
    "maud",
    "mimalloc",
    "nix",
    "notify",
    "plotters",
    "rayon",
    "reedline",
    "replace_file",
    "rmcp",
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
    "toml",
    "truth_at",
    "unknown",
    "unsafe",
    "unwrap",
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
    ["crates", "apps", "docs", "models", "editors", "python"].iter().for_each(|folder| {
        names.insert(folder.to_string());
        names_below(&Path::new("../..").join(folder), &mut names);
    });
    // The table of steps names functions, which the next test checks.
    let (before, after) = page.split_once("| step |").unwrap();
    let page = format!("{before}{}", after.split_once("\n\n").unwrap().1);
    let text: String = page.split("```").step_by(2).collect();
    for quoted in text.split('`').skip(1).step_by(2) {
        let is_path = ["crates/", "apps/", "docs/", "models/", "editors/", "python/"]
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

/// The Rust files below `crates` and `apps` that are not tests: their paths and texts.
fn sources() -> Vec<(String, String)> {
    let all = ["crates", "apps"].map(|folder| files_below(&Path::new("../..").join(folder), &["rs"]));
    let texts =
        all.into_iter().flatten().map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap()));
    let is_other =
        |path: &str| ["/tests/", "/benches/", "/examples/"].iter().any(|folder| path.contains(folder));
    texts.filter(|(path, _)| !is_other(path)).collect()
}

/// The texts of the functions that a name such as `masque_lcc::open_with` or `Text::run` can mean: from `fn` to
/// the next line that begins with a closing brace in the same column.
fn bodies<'f>(files: &'f [(String, String)], name: &str) -> Vec<&'f str> {
    let segments: Vec<&str> = name.split("::").collect();
    let (function, scope) = segments.split_last().unwrap();
    let is_type = |segment: &&&str| segment.starts_with(char::is_uppercase);
    let is_in_scope = |path: &str, text: &str| {
        let parts: Vec<&str> = path.split(['/', '.']).collect();
        scope.iter().all(|segment| match is_type(&segment) {
            true => text.lines().any(|line| {
                let is_block = ["impl", "pub trait"].iter().any(|start| line.starts_with(start));
                is_block && words(line).any(|word| word == *segment)
            }),
            false => parts.contains(&segment.trim_start_matches("masque_")),
        })
    };
    let mut found = Vec::new();
    for (_, text) in files.iter().filter(|(path, text)| is_in_scope(path, text)) {
        for (start, _) in text.match_indices(&format!("fn {function}")) {
            let rest = &text[start + 3 + function.len()..];
            let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
            let indent = text[line..].len() - text[line..].trim_start().len();
            let end = format!("\n{}}}", " ".repeat(indent));
            if rest.starts_with(['(', '<']) {
                found.push(&rest[..rest.find(&end).unwrap_or(rest.len())]);
            }
        }
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The table of steps from `main` to the verdict: all functions exist, and each is called by the function before
/// the arrow, or by one above it in the same column.
#[test]
fn every_step_of_the_table_calls_the_next() {
    let page = fs::read_to_string("../../ARCHITECTURE.md").unwrap();
    let table = page.split("| step |").nth(1).unwrap().split("\n\n").next().unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(2).map(|line| line.split('|').skip(2).collect()).collect();
    assert!(rows.len() > 10);
    let files = sources();
    let calls = |caller: &str, callee: &str| {
        let last = callee.rsplit("::").next().unwrap();
        bodies(&files, caller).iter().any(|body| words(body).any(|word| word == last))
    };
    for column in 0..4 {
        let mut above: Vec<&str> = Vec::new();
        for row in &rows {
            let cell = if row[column].trim().starts_with("the same") {
                (0..column)
                    .rev()
                    .map(|left| row[left])
                    .find(|cell| !cell.trim().starts_with("the same"))
                    .unwrap()
            } else {
                row[column]
            };
            for chain in cell.split(';') {
                let mut callers: Vec<&str> = above.clone();
                for step in chain.split('→') {
                    // Other names in backticks are files and traits.
                    let is_function = |name: &&str| {
                        !name.contains('.')
                            && name.ends_with(|c: char| c.is_lowercase())
                            && !name.rsplit("::").next().unwrap().starts_with(char::is_uppercase)
                    };
                    let names: Vec<&str> = step.split('`').skip(1).step_by(2).filter(is_function).collect();
                    assert!(!names.is_empty(), "a step without a function: {step}");
                    for name in &names {
                        assert!(!bodies(&files, name).is_empty(), "there is no function {name}");
                        let is_called =
                            callers.is_empty() || callers.iter().any(|caller| calls(caller, name));
                        assert!(is_called, "no function of {callers:?} calls {name}");
                    }
                    above.extend(&names);
                    callers = names;
                }
            }
        }
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

/// The packages that a section of a manifest names, such as `dependencies` or `dev-dependencies`.
fn dependencies(manifest: &str, section: &str) -> BTreeSet<String> {
    let mut is_inside = false;
    let mut names = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            is_inside = header == section
                || header.starts_with("target.") && header.ends_with(&format!(".{section}"));
        } else if is_inside && line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            names.extend(line.split(['.', ' ', '=']).next().map(str::to_string));
        }
    }
    names
}

/// The manifest of each package, by the name that ARCHITECTURE.md uses.
fn manifests() -> BTreeMap<String, String> {
    let root = Path::new("../..");
    let folders = ["crates", "apps"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let packages = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let packages = packages.chain([root.join("docs"), root.join("models")]);
    let manifest = |path: std::path::PathBuf| {
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let name =
            manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).unwrap();
        (name.trim_start_matches("masque-").to_string(), manifest)
    };
    packages.map(manifest).collect()
}

/// The cells of the table of ARCHITECTURE.md that begins with this line.
fn table<'p>(page: &'p str, heading: &str) -> Vec<Vec<&'p str>> {
    let (_, rows) = page.split_once(heading).unwrap();
    let rows = rows.lines().skip(1).take_while(|line| line.starts_with('|'));
    rows.skip(1).map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The names in backticks.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

#[test]
fn the_table_of_crates_is_that_of_the_manifests() {
    let page = fs::read_to_string("../../ARCHITECTURE.md").unwrap();
    let mut above = BTreeSet::new();
    let mut manifests = manifests();
    for row in table(&page, "| crate | uses |") {
        // What follows `only` or stands in brackets is a remark.
        let without_modules: String = row[1].split(['(', ')']).step_by(2).collect();
        let (uses, _) = without_modules.split_once("; ").unwrap_or((&without_modules, ""));
        let expected = match uses.split_once("all of the above except") {
            Some((_, exceptions)) => &above - &quoted(exceptions),
            None => quoted(uses),
        };
        for name in quoted(row[0]) {
            let manifest = manifests.remove(&name).unwrap_or_else(|| panic!("there is no crate {name}"));
            let found = dependencies(&manifest, "dependencies");
            let ours = found.iter().filter_map(|name| name.strip_prefix("masque-").map(str::to_string));
            assert_eq!(ours.collect::<BTreeSet<_>>(), expected, "{name}");
            above.insert(name);
        }
    }
    assert!(manifests.is_empty(), "the table does not name {:?}", manifests.keys());
}

#[test]
fn the_table_of_dependencies_is_that_of_the_manifests() {
    let page = fs::read_to_string("../../ARCHITECTURE.md").unwrap();
    let manifests = manifests();
    let users = |section: &str, name: &str| -> BTreeSet<String> {
        let uses = |(_, manifest): &(&String, &String)| dependencies(manifest, section).contains(name);
        manifests.iter().filter(uses).map(|(package, _)| package.clone()).collect()
    };
    let mut listed = BTreeSet::new();
    for row in table(&page, "| crate | licence | used by | why |") {
        for name in quoted(row[0]).into_iter().filter(|name| !name.starts_with('=')) {
            let found = users("dependencies", &name);
            if matches!(row[2], "tests" | "benches") {
                let only_testkit = found.iter().all(|package| package == "testkit");
                assert!(only_testkit && !users("dev-dependencies", &name).is_empty(), "{name}: {found:?}");
            } else {
                let expected: BTreeSet<String> = row[2].split(", ").map(str::to_string).collect();
                assert_eq!(found, expected, "{name}");
            }
            listed.insert(name);
        }
    }
    for manifest in manifests.values() {
        let used = &dependencies(manifest, "dependencies") | &dependencies(manifest, "dev-dependencies");
        let missing: Vec<_> =
            used.into_iter().filter(|name| !name.starts_with("masque-") && !listed.contains(name)).collect();
        assert!(missing.is_empty(), "the table of dependencies does not have {missing:?}");
    }
}
