//! The models of the gallery have the results that their comments expect, with every engine.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use masque_driver::{
    Agreement, EngineChoice, EngineOptions, Language, Limits, Request, Show, TestPool, TestRequest,
    TestStatus, Verdict, Why, check_system, engines, expectations, load, test_files,
};

/// The files of each model below `models`.
fn models() -> Vec<Vec<PathBuf>> {
    let found = test_files(&["../../models".into()], &Request::default(), &Limits::default()).unwrap();
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    found.models
}

/// `masque test --strict models/` passes.
#[test]
fn every_result_is_as_expected() {
    let pool = TestPool {
        test: TestRequest { is_strict: true, ..TestRequest::default() },
        jobs: NonZeroUsize::new(2).unwrap(),
        ..TestPool::default()
    };
    let (models, mut n_results, mut wrong) = (models(), [0; 4], String::new());
    let mut done = |_, tested: Option<masque_driver::Tested>| {
        let tested = tested.unwrap();
        let (name, language) = (tested.loaded.name(), tested.loaded.language.unwrap());
        n_results[language as usize] += tested.comparisons.len();
        if tested.status() != TestStatus::AsExpected {
            wrong += &format!("{name}: {:?}\n", tested.status());
        }
        tested.errors.iter().for_each(|error| wrong += &format!("{name}: {}\n", error.message));
        for comparison in tested.comparisons.iter().filter(|found| found.agreement != Agreement::AsExpected) {
            wrong += &format!("{name}: expected {}, found {}\n", comparison.expected, comparison.found);
        }
        Ok(())
    };
    pool.run(&models, &mut done, &mut |_| {}).unwrap();
    assert!(wrong.is_empty(), "{wrong}");
    let [ispl, bdi, lcc, _] = n_results;
    assert!(models.len() >= 80 && ispl >= 150 && bdi >= 45 && lcc >= 200, "{} {n_results:?}", models.len());
}

/// Every engine finds the expected verdicts of ISPL models, with evidence that replays.
#[test]
fn every_engine_finds_the_expected_verdicts() {
    let (mut n_decided, mut undecided) = (0, Vec::new());
    for files in models() {
        if Language::of_path(&files[0]) != Some(Language::Ispl) {
            continue;
        }
        let loaded = load(&files, &Request::default());
        let Some(system) = loaded.system() else {
            // Models of mistakes, ours and those of the papers, have an expected error.
            let folders = ["../../models/regress", "../../models/papers"];
            assert!(
                folders.iter().any(|folder| files[0].starts_with(Path::new(folder))),
                "{}",
                loaded.name()
            );
            continue;
        };
        let expected = expectations(&loaded).verdicts;
        for engine in engines() {
            let options =
                EngineOptions { evidence: Show::Failed, ..EngineChoice::Named(engine.name()).into() };
            let run = check_system(system, &options, &Limits::default(), &mut |_| {});
            assert_eq!(run.decisions.len(), expected.len(), "{}", loaded.name());
            for ((property, decided), expected) in system.properties.iter().zip(&run.decisions).zip(&expected)
            {
                let place = format!("{} property {} by {}", loaded.name(), property.name, engine.name());
                if decided.verdict == Verdict::Unknown(Why::Unsupported) {
                    undecided.push(place);
                    continue;
                }
                let expected = expected.as_ref().unwrap_or_else(|| panic!("{place}: no expectation")).value;
                assert!(
                    expected.accepts(decided.verdict),
                    "{place}: {} instead of {expected}",
                    decided.verdict
                );
                assert_eq!(decided.evidence.is_some(), decided.verdict == Verdict::Fails, "{place}");
                assert_eq!(decided.withheld, None, "{place}");
                n_decided += 1;
            }
        }
    }
    println!("{n_decided} verdicts as expected, {} not supported:", undecided.len());
    undecided.iter().for_each(|place| println!("  {place}"));
    assert!(n_decided >= 300, "{n_decided}");
}
