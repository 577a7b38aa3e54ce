//! The reports on the models of the gallery.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn reports_on_the_gallery() {
    let root = Path::new("../..");
    let mut names: Vec<String> = (fs::read_dir(root.join("models/ispl")).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".ispl").map(str::to_string))
        .collect();
    names.sort();
    for name in names {
        let file = format!("models/ispl/{name}.ispl");
        let output = Command::new(env!("CARGO_BIN_EXE_masque"))
            .args(["check", &file])
            .current_dir(root)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let exit = output.status.code().unwrap();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, format!("{text}[exit {exit}]\n"));
        });
    }
}
