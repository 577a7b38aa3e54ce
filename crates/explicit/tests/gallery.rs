//! The files of `models/ispl`: each verdict is the expected one, and the evidence of each failure replays.

use std::fs;
use std::path::Path;

use masque_explicit::Explicit;
use masque_ispl::{Options, check, parse};
use masque_replay::replay;
use masque_testkit::{Expected, expectations};
use masque_text::Sources;
use masque_verdict::{Budget, Engine, Verdict, Why};

#[test]
fn verdicts_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/ispl");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ispl"));
    paths.sort();
    let mut n_decided = 0;
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let mut sources = Sources::default();
        let file = sources.add(path.display().to_string(), text.clone()).unwrap();
        let (mut tree, _) = parse(&sources, file);
        let system = check(&sources, &mut tree, &Options::default()).system.expect("a valid model");
        let budget = Budget::unlimited();
        let mut encoded = Explicit::default().encode(&system, &budget).unwrap();
        let base = sources.span(file).start;
        let spans: Vec<_> = system
            .properties
            .iter()
            .map(|p| (p.span.start - base) as usize..(p.span.end - base) as usize)
            .collect();
        for (property, expectation) in system.properties.iter().zip(expectations(&text, &spans)) {
            let outcome = encoded.decide(property, &budget);
            let name = format!("{}: {}", path.display(), system.formula_text(property.formula));
            if Explicit::default().supports(&system, property).is_err() {
                assert_eq!(outcome.verdict, Verdict::Unknown(Why::Unsupported), "{name}");
                continue;
            }
            let expected = match expectation.unwrap_or_else(|| panic!("no expectation: {name}")).verdict {
                Expected::Holds => "holds".to_string(),
                Expected::Fails => "fails".to_string(),
                Expected::Unknown(reason) => format!("unknown({reason})"),
            };
            assert_eq!(outcome.verdict.to_string(), expected, "{name}");
            assert_eq!(outcome.evidence.is_some(), outcome.verdict == Verdict::Fails, "{name}");
            if let Some(evidence) = &outcome.evidence {
                let holds = outcome.verdict == Verdict::Holds;
                assert!(replay(&system, property, holds, evidence).is_ok(), "{name}");
            }
            n_decided += 1;
        }
    }
    assert!(n_decided >= 40, "{n_decided}");
}
