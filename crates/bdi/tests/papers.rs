//! The files in `models/papers/bb04`: the engine and the reference agree on them.

use std::path::Path;

use crate::support::{by_engine, by_reference};
use masque_bdi::{check, parse_system};
use masque_testkit::{OpenFiles, files_below};
use masque_text::Sources;

/// The examples of three sections have the verdicts that they expect.
#[test]
fn examples_of_the_guide() {
    let guide = include_str!("../../../docs/bdi.md");
    let verdicts = |heading: &str| -> Vec<String> {
        let (_, section) = guide.split_once(heading).unwrap();
        let text = masque_testkit::code_blocks(section, "bdi")[0];
        let (model, plan) = crate::support::model(text, &[]);
        let (_, found) = by_engine(&model, &plan).unwrap();
        found.iter().map(|result| result.verdict.to_string()).collect()
    };
    assert_eq!(verdicts("### The notation of the paper"), ["holds", "holds"]);
    let own = verdicts("### Attitudes of an agent about itself");
    assert_eq!(own, ["holds", "holds", "fails", "holds", "holds"]);
    let paper = verdicts("### Own variables as beliefs and actions as intentions");
    assert_eq!(paper, ["holds", "holds", "holds", "holds", "fails", "fails"]);
}

/// The tests of the driver compare the verdicts with the expectations in the files.
#[test]
fn the_engine_agrees_with_the_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/papers/bb04");
    let mut n_verdicts = 0;
    for path in files_below(&folder, &["bdi"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut sources = Sources::default();
        let file = sources.add(path.to_str().unwrap(), text).unwrap();
        let system = parse_system(&mut sources, file, &OpenFiles::default());
        let (model, plan) = check(&system.tree, &[]).model.unwrap();
        let (_, by_engine) = by_engine(&model, &plan).unwrap();
        let (_, by_reference) = by_reference(&model, &plan).unwrap();
        assert_eq!(by_engine, by_reference, "{}", path.display());
        n_verdicts += by_engine.len();
    }
    assert!(n_verdicts >= 30, "{n_verdicts}");
}
