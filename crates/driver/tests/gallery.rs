//! The models of the gallery: every engine finds the verdict that the file announces for each formula.

use std::fs;
use std::path::{Path, PathBuf};

use masque_driver::{EngineChoice, Limits, Loaded, Request, Verdict, Why, check_system, engines, load};
use masque_testkit::{Expected, expectations};

/// The model files below a folder, in the order of their names.
fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            // Regression models have their whole reports as snapshots, and some have errors.
            if !path.ends_with("regress") {
                models(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "ispl") && !is_module(&path) {
            found.push(path);
        }
    }
}

/// Whether a file is a part of the model `main.ispl` in the same folder.
fn is_module(path: &Path) -> bool {
    !path.ends_with("main.ispl") && path.with_file_name("main.ispl").exists()
}

/// The verdicts announced in a file, one per property.
fn announced(path: &Path, loaded: &Loaded) -> Vec<Expected> {
    let system = loaded.system().unwrap_or_else(|| panic!("{}: {:?}", loaded.name(), loaded.diagnostics));
    let text = fs::read_to_string(path).unwrap();
    // The file is the first source, so spans are byte offsets into it.
    let spans: Vec<_> =
        system.properties.iter().map(|p| p.span.start as usize..p.span.end as usize).collect();
    let found = expectations(&text, &spans).into_iter().zip(&system.properties);
    let verdict = |(found, property): (Option<masque_testkit::Expectation>, &masque_driver::Property)| {
        found
            .unwrap_or_else(|| panic!("{}: property {} has no `-- expect:`", loaded.name(), property.name))
            .verdict
    };
    found.map(verdict).collect()
}

#[test]
fn every_verdict_is_as_announced() {
    let mut files = Vec::new();
    models(Path::new("../../models"), &mut files);
    let (mut n_decided, mut undecided) = (0, Vec::new());
    for path in &files {
        let loaded = load(&[path], &Request::default());
        let announced = announced(path, &loaded);
        let Some(system) = loaded.system() else { unreachable!("announced() has refused it") };
        for engine in engines() {
            let run = check_system(
                system,
                &EngineChoice::Named(engine.name()).into(),
                &Limits::default(),
                &mut |_| {},
            );
            assert_eq!(run.decisions.len(), announced.len(), "{}", loaded.name());
            for ((property, decided), expected) in
                system.properties.iter().zip(&run.decisions).zip(&announced)
            {
                let place = format!("{} property {} by {}", loaded.name(), property.name, engine.name());
                let found = match decided.verdict {
                    Verdict::Holds => Expected::Holds,
                    Verdict::Fails => Expected::Fails,
                    Verdict::Unknown(Why::Unsupported) => {
                        undecided.push(place);
                        continue;
                    }
                    Verdict::Unknown(why) => Expected::Unknown(why.word().to_string()),
                };
                assert_eq!(found, *expected, "{place}");
                n_decided += 1;
            }
        }
    }
    println!(
        "{} models, {n_decided} verdicts as announced, {} not yet decided:",
        files.len(),
        undecided.len()
    );
    undecided.iter().for_each(|place| println!("  {place}"));
    assert!(files.len() >= 11 && n_decided >= 50, "the gallery is there");
}
