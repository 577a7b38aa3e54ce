//! The files that name the version of Masque name the same one.

use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

/// The text between a prefix and the next quotation mark, at each place where the prefix occurs.
fn quoted<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(prefix).skip(1).map(|rest| rest.split('"').next().unwrap_or_default())
}

/// The versions of our own packages in a lock file of cargo. Packages that are not released have version 0.0.0.
fn locked(text: &str) -> impl Iterator<Item = &str> {
    let packages = text.split("\n[[package]]\n").filter(|package| {
        let name = quoted(package, "name = \"").next().unwrap_or_default();
        name == "masque" || name.starts_with("masque-")
    });
    packages
        .filter_map(|package| quoted(package, "\nversion = \"").next())
        .filter(|version| *version != "0.0.0")
}

#[test]
fn manifests_and_lock_files_have_the_version() {
    let workspace = read("Cargo.toml");
    for line in workspace.lines().filter(|line| line.starts_with("masque-") && line.contains("version")) {
        assert_eq!(quoted(line, "version = \"").next(), Some(VERSION), "{line}");
    }
    for name in ["Cargo.lock", "fuzz/Cargo.lock", "python/Cargo.lock"] {
        let text = read(name);
        let versions: Vec<_> = locked(&text).collect();
        assert!(
            versions.len() >= 10 && versions.iter().all(|version| *version == VERSION),
            "{name}: {versions:?}"
        );
    }
    assert_eq!(quoted(&read("python/Cargo.toml"), "\nversion = \"").next(), Some(VERSION));
    assert_eq!(quoted(&read("editors/vscode/package.json"), "\"version\": \"").next(), Some(VERSION));
    let lock = read("editors/vscode/package-lock.json");
    assert_eq!(quoted(&lock, "\"version\": \"").take(2).collect::<Vec<_>>(), [VERSION, VERSION]);
    let other = "\n[[package]]\nname = \"masque-text\"\nversion = \"9.9.9\"\n\n[[package]]\nname = \"mask\"\nversion = \"1.0.0\"\n";
    assert_eq!(locked(other).collect::<Vec<_>>(), ["9.9.9"]);
}

/// `## [0.2.0] - 2026-11-19`: the first section of the changelog is about this version or about the next one.
#[test]
fn the_version_has_a_dated_section_and_documents() {
    let changelog = read("CHANGELOG.md");
    let heading =
        changelog.lines().find(|line| line.starts_with(&format!("## [{VERSION}] - "))).unwrap_or_default();
    let date: Vec<_> = heading.rsplit(' ').next().unwrap_or_default().split('-').map(str::len).collect();
    let documents = Path::new(ROOT).join("apps/cli/tests/documents").join(VERSION);
    assert!(
        documents.exists(),
        "`documents/make.sh` writes what this version prints: {}",
        documents.display()
    );
    assert_eq!(date, [4, 2, 2], "a heading such as `## [{VERSION}] - 2026-11-19`: {heading}");
}
