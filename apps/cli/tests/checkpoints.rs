//! Checkpoints of distributed checks: damage, other checks in the same directory, and directories of others.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::spread::*;

/// The files of a directory with their content.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
}

/// Runs a check that must be refused with one line and exit code 3.
fn refusal(args: &[&str]) -> String {
    let output = output(args);
    let said = text(&output.stderr);
    assert_eq!((said.lines().count(), output.status.code()), (1, Some(3)), "{said}");
    said
}

/// Whatever is changed in the manifest, and whichever part is missing: the check is refused, and no file is
/// removed.
#[test]
fn a_damaged_checkpoint_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 8);
    let path = folder.path().join("checkpoint");
    let directory = path.display().to_string();
    let spread = ["check", &model, "--format", "json", "--processes", "2", "--checkpoint", &directory];
    let expected = report(&[&spread[..], &["--checkpoint-every", "0s"]].concat());
    let manifest = path.join("manifest.json");
    let whole = fs::read_to_string(&manifest).unwrap();
    let value: serde_json::Value = serde_json::from_str(&whole).unwrap();
    let states = format!("\"states\":{}", value["states"]);
    let labels = format!("\"labels\":{}", value["labels"]);
    let none = whole.replace(&states, "\"states\":[]").replace(&labels, "\"labels\":null");
    let resume = [&spread[..], &["--resume"]].concat();
    for damaged in [none, whole.replace("\"whole\":true", "\"whole\":false"), String::new()] {
        assert_ne!(damaged, whole);
        fs::write(&manifest, &damaged).unwrap();
        let before = files(&path);
        // With and without `--resume`: nothing that may be of use is removed.
        for args in [&resume[..], &spread[..]] {
            let said = refusal(args);
            assert!(said.contains("cannot be read: its manifest is damaged"), "{said}");
            assert!(files(&path) == before, "{damaged}");
        }
    }
    fs::write(&manifest, &whole).unwrap();
    // A part is missing, and one is there that the manifest does not list.
    let number = value["states"][0].to_string();
    let part = path.join(format!("states-1-{number}.part"));
    let content = fs::read(&part).unwrap();
    fs::remove_file(&part).unwrap();
    fs::write(path.join("states-0-9999.part"), "text").unwrap();
    let before = files(&path);
    let said = refusal(&resume);
    assert!(said.contains("cannot be read: No such file"), "{said}");
    assert!(files(&path) == before);
    fs::write(&part, content).unwrap();
    assert!(report(&resume) == expected);
    assert!(!path.join("states-0-9999.part").exists());
}

#[test]
fn a_second_check_in_the_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 22);
    let path = folder.path().join("checkpoint");
    let directory = path.display().to_string();
    let spread =
        ["check", &model, "--processes", "2", "--checkpoint", &directory, "--checkpoint-every", "0s"];
    let child = masque(&spread).spawn().unwrap();
    wait_for("a checkpoint", || path.join("manifest.json").exists());
    for more in [&[][..], &["--resume"]] {
        let said = refusal(&[&spread[..], more].concat());
        assert!(said.ends_with("is used by another check\n"), "{said}");
    }
    signal("INT", &[child.id().into()]);
    let (said, errors, code) = finish(child);
    // The first check has noticed nothing.
    assert!(errors.is_empty() && matches!(code, 1 | 3), "{code}, {errors}: {said}");
    assert!(said.contains("unknown(interrupted)"), "{said}");
}

/// A worker obeys its supervisor, which may be elsewhere; but not about files that are not of a checkpoint.
#[test]
fn a_directory_with_other_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 4);
    let path = folder.path().join("home");
    fs::create_dir(&path).unwrap();
    for name in ["states-0-1.part", "labels-1-2.part", "manifest.json", "notes.txt"] {
        fs::write(path.join(name), "{\"important\": true}").unwrap();
    }
    let before = files(&path);
    let directory = path.display().to_string();
    for more in [&[][..], &["--resume"]] {
        let args = ["check", &model, "--processes", "2", "--checkpoint", &directory];
        let said = refusal(&[&args[..], more].concat());
        assert!(said.contains("contains other files and no checkpoint"), "{said}");
        assert!(files(&path) == before);
    }
}
