//! The README's examples: they print what it says.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The text blocks of the README whose first line begins like this, without that line if it is a
/// command.
fn blocks(beginning: &str) -> Vec<String> {
    let readme = fs::read_to_string("../../README.md").unwrap();
    let blocks = readme.split("\n```").skip(1).step_by(2).filter_map(|b| b.split_once('\n'));
    let found = blocks.filter(|(_, text)| text.starts_with(beginning));
    found.map(|(_, text)| text.to_string() + "\n").collect()
}

fn masque(args: &[&str], folder: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_masque")).args(args).current_dir(folder).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_print_what_the_readme_says() {
    let folder = tempfile::tempdir().unwrap();
    let models = blocks("-- ");
    fs::write(folder.path().join("lamps.ispl"), &models[0]).unwrap();
    assert_eq!(masque(&["fmt", "--check", "lamps.ispl"], folder.path()), "", "in the usual layout");
    let examples = blocks("$ masque check ");
    assert_eq!((models.len(), examples.len()), (1, 2));
    for example in examples {
        let (command, expected) = example.split_once('\n').unwrap();
        let file = command.split_whitespace().last().unwrap();
        let place = if file.contains('/') { Path::new("../..") } else { folder.path() };
        assert_eq!(masque(&["check", file], place), expected, "{command}");
    }
}
