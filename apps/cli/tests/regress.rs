//! The regression folder: one minimal file per defect that was fixed, with its whole report as a snapshot.
//!
//! A file is checked with `masque check FILE`. If its comments contain lines such as
//! `run: check a.lcc b.lcc --each`, these command lines run instead, inside `models/regress`, in the order
//! of the text. Files in subfolders are parts of other files and do not run by themselves.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Paths of the files to run, relative to the folder, sorted by name.
fn names(folder: &Path) -> Vec<String> {
    let is_model = |name: &str| [".ispl", ".bdi", ".lcc"].iter().any(|ending| name.ends_with(ending));
    let mut names: Vec<String> = (fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| is_model(name))
        .collect();
    names.sort();
    names
}

/// Command lines in the comments of a model, as lists of words.
fn command_lines(name: &str, text: &str) -> Vec<Vec<String>> {
    let words = |line: &str| line.split_whitespace().map(str::to_string).collect();
    let marked = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let comment = line.strip_prefix("--").or_else(|| line.strip_prefix("//"))?;
        comment.trim_start().strip_prefix("run: ")
    });
    let lines: Vec<Vec<String>> = marked.map(words).collect();
    if lines.is_empty() { vec![vec!["check".to_string(), name.to_string()]] } else { lines }
}

#[test]
fn every_defect_stays_fixed() {
    let folder = Path::new("../../models/regress");
    let names = names(folder);
    assert!(names.len() >= 20, "{} files", names.len());
    for name in names {
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        let mut shown = String::new();
        for words in command_lines(&name, &text) {
            let output =
                Command::new(env!("CARGO_BIN_EXE_masque")).args(&words).current_dir(folder).output().unwrap();
            let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
            let exit = output.status.code().unwrap();
            shown += &format!("$ masque {}\n{out}{err}[exit {exit}]\n", words.join(" "));
        }
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name.as_str(), shown);
        });
    }
}
