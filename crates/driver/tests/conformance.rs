//! The BDI files of `crates/bdi/tests/conformance` have the results that their comments expect, by the engine and by the
//! reference implementation.

use std::path::PathBuf;

use masque_bdi::reference::Reference;
use masque_driver::{
    ExpectedCount, Limits, Model, Quantity, Request, TestRequest, TestStatus, expectations, load, test_files,
    test_model,
};

#[test]
fn the_engine_and_the_reference_conform() {
    let folder = PathBuf::from("../bdi/tests/conformance");
    let found = test_files(&[folder], &Request::default(), &Limits::default()).unwrap();
    let test = TestRequest { is_strict: true, ..TestRequest::default() };
    let (mut n_verdicts, mut n_counts) = (0, 0);
    for files in found.models {
        let tested = test_model(&files, &test, &Limits::default()).unwrap();
        assert_eq!(tested.status(), TestStatus::AsExpected, "{files:?} {:#?}", tested.comparisons);
        let loaded = load(&files, &Request::default());
        let Some(Model::Bdi(worlds)) = &loaded.model else { continue };
        let expected = expectations(&loaded);
        let mut reference = Reference::new(&worlds.programs, &worlds.plan).unwrap();
        let properties =
            (0..expected.verdicts.len()).map(|index| reference.property(index)).collect::<Vec<_>>();
        for (result, expected) in properties.iter().zip(&expected.verdicts) {
            let expected = expected.as_ref().unwrap().value;
            assert!(expected.accepts(result.verdict), "{files:?}: {} instead of {expected}", result.verdict);
            n_verdicts += 1;
        }
        for ExpectedCount { quantity, number } in expected.counts.iter().map(|count| &count.value) {
            let Quantity::WorldStates(path) = quantity else { panic!("{files:?}: {quantity}") };
            let planned = worlds.plan.paths.iter().find(|planned| planned.text == *path).unwrap();
            assert_eq!(reference.world_result(planned.world).kept.to_string(), *number, "{files:?}: {path}");
            n_counts += 1;
        }
    }
    assert!(n_verdicts >= 40 && n_counts >= 35, "{n_verdicts} {n_counts}");
}
