//! The files in `models/papers/bb04`: the engine and the reference find the verdicts that their comments expect.

mod support;

use std::path::{Path, PathBuf};

use masque_bdi::{check, comments, parse_system};
use masque_testkit::files_below;
use masque_text::{Diagnostic, Library, Sources, without_dots};
use support::{by_engine, by_reference};

/// The files of the disk.
#[derive(Debug)]
struct Folder;

impl Library for Folder {
    fn identity(&self, path: &Path) -> PathBuf {
        without_dots(path)
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        Ok(std::fs::read_to_string(path).unwrap())
    }
}

/// The examples of three sections have the verdicts that they expect.
#[test]
fn examples_of_the_guide() {
    let guide = include_str!("../../../docs/bdi.md");
    let verdicts = |heading: &str| -> Vec<String> {
        let (_, section) = guide.split_once(heading).unwrap();
        let text = masque_testkit::code_blocks(section, "bdi")[0];
        let (model, plan) = support::model(text, &[]);
        let (_, found) = by_engine(&model, &plan).unwrap();
        found.iter().map(|result| result.verdict.to_string()).collect()
    };
    assert_eq!(verdicts("### The notation of the paper"), ["holds", "holds"]);
    let own = verdicts("### Attitudes of an agent about itself");
    assert_eq!(own, ["holds", "holds", "fails", "holds", "holds"]);
    let paper = verdicts("### Own variables as beliefs and actions as intentions");
    assert_eq!(paper, ["holds", "holds", "holds", "holds", "fails", "fails"]);
}

#[test]
fn verdicts_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/papers/bb04");
    let (mut n_verdicts, mut wrong) = (0, String::new());
    for path in files_below(&folder, &["bdi"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut sources = Sources::default();
        let file = sources.add(path.to_str().unwrap(), text).unwrap();
        let system = parse_system(&mut sources, file, &Folder);
        let checked = check(&system.tree, &[]);
        let found: Vec<_> = system.diagnostics.iter().chain(&checked.diagnostics).collect();
        let Some((model, plan)) = &checked.model else {
            wrong += &format!("{}: {found:?}\n", path.display());
            continue;
        };
        let (_, by_engine) = by_engine(model, plan).unwrap();
        let (_, by_reference) = by_reference(model, plan).unwrap();
        assert_eq!(by_engine, by_reference, "{}", path.display());
        let spans: Vec<_> = system.files.iter().flat_map(|file| comments(&sources, *file)).collect();
        for (property, result) in model.properties.iter().zip(&by_engine) {
            let next = spans.iter().find(|span| span.start >= property.span.end);
            let expected = next.and_then(|span| sources.slice(*span).split_once("expect: "));
            let expected = expected.map_or("nothing", |(_, expected)| expected.trim());
            n_verdicts += 1;
            if result.verdict.to_string() != expected {
                wrong += &format!(
                    "{} {}: {} expected {expected}\n",
                    path.display(),
                    property.name,
                    result.verdict
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_verdicts >= 30, "{n_verdicts}");
}
