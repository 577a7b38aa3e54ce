//! The examples of the language guides have no errors, and their properties have the verdicts that comments expect.

use masque_driver::{Limits, Loaded, Request, TestRequest, TestStatus, Tested, load, load_text, test_loaded};
use masque_model::semantics::holds;
use masque_testkit::{code_blocks, example_files};
use masque_text::render;
use masque_verdict::Verdict;

/// Loads an example: one text, or several files that begin with `// file: NAME`, of which the first imports others.
fn loaded(name: &str, text: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let files = example_files(text, "// file: ", name);
    for (name, text) in &files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    load(&[folder.path().join(files[0].0)], &Request::default())
}

/// Tests an example; panics if it has errors or another result than expected. Returns the number of results.
#[track_caller]
fn check(name: &str, text: &str, is_strict: bool) -> usize {
    let loaded = loaded(name, text);
    let drawn: String =
        loaded.diagnostics.iter().map(|found| render(&loaded.sources, found, false)).collect();
    assert!(loaded.model.is_some(), "{drawn}");
    let test = TestRequest { is_strict, ..TestRequest::default() };
    let tested = test_loaded(loaded, &test, &Limits::default()).unwrap();
    let Tested { loaded, comparisons, errors, .. } = &tested;
    let drawn: String = errors.iter().map(|found| render(&loaded.sources, found, false)).collect();
    assert!(drawn.is_empty(), "{drawn}");
    assert!(tested.status() <= TestStatus::AsExpected, "{text}\n{comparisons:#?}");
    tested.comparisons.len()
}

#[test]
fn bdi_examples_have_their_verdicts() {
    let blocks = code_blocks(include_str!("../../../docs/bdi.md"), "bdi");
    assert!(blocks.len() >= 9, "the fences of the guide are found");
    let has_properties = |text: &str| text.contains("\nproperty ") || text.contains("\ncheck ");
    let n_results: usize = blocks.iter().map(|text| check("guide.bdi", text, has_properties(text))).sum();
    assert!(n_results >= 20, "{n_results}");
}

#[test]
fn lcc_examples_have_their_verdicts() {
    let blocks = code_blocks(include_str!("../../../docs/lcc.md"), "lcc");
    assert!(blocks.len() >= 7, "the fences of the guide are found");
    for block in &blocks {
        let diagnostics = load_text("guide.lcc", block, &Request::default()).diagnostics;
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
    }
    let n_results: usize = blocks.iter().map(|text| check("guide.lcc", text, false)).sum();
    assert!(n_results >= 12, "{n_results}");
}

/// The models on the page on logics, and those of the language guide that have verdicts: the verdicts are also those
/// of the definition.
#[test]
fn ispl_examples_have_their_verdicts() {
    let logics = code_blocks(include_str!("../../../docs/logics.md"), "ispl");
    let guide = code_blocks(include_str!("../../../docs/ispl.md"), "ispl");
    let with_verdicts = guide.into_iter().filter(|text| text.contains("-- expect:"));
    let testing = code_blocks(include_str!("../../../docs/testing.md"), "ispl");
    assert_eq!(testing.len(), 1);
    let mut n_formulas = 0;
    for text in logics.into_iter().chain(testing).chain(with_verdicts) {
        n_formulas += check("guide.ispl", text, true);
        let loaded = load_text("guide.ispl", text, &Request::default());
        let system = loaded.system().unwrap();
        let expected = masque_driver::expectations(&loaded).verdicts;
        for (property, expected) in system.properties.iter().zip(expected) {
            let verdict = Verdict::from(holds(system, property));
            let formula = system.formula_text(property.formula);
            assert!(expected.as_ref().unwrap().value.accepts(verdict), "{formula}, by the definition");
        }
    }
    assert!(n_formulas >= 45, "the models of the page are found");
}
