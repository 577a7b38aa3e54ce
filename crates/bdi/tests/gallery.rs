//! The gallery: every property of every file in `models/bdi` has the verdict written beside it.

mod support;

use std::fs;
use std::path::Path;

use masque_bdi::run;
use masque_verdict::{Budget, Show};

/// Returns the expected verdicts, in the order of the file.
fn expected(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.split_once("// expect: "))
        .map(|(_, verdict)| verdict.trim())
        .collect()
}

#[test]
fn verdicts_are_as_written() {
    let mut n_properties = 0;
    let mut wrong = String::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/bdi");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "bdi") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let (model, plan) = support::model(&text, &[]);
        let expected = expected(&text);
        assert_eq!(expected.len(), model.properties.len(), "{}: each property has a verdict", path.display());
        let run = run(&model, &plan, Show::Failed, &Budget::default(), &mut |_, _| {});
        for ((property, result), expected) in model.properties.iter().zip(&run.properties).zip(expected) {
            n_properties += 1;
            if result.verdict.to_string() != expected {
                wrong += &format!(
                    "{}: {} is {}, expected {expected}\n{:#?}\n",
                    path.display(),
                    property.name,
                    result.verdict,
                    result.evidence
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_properties >= 45, "{n_properties}");
}
