//! Each formula on the page on logics has the verdict that is given beside it, by the engine and by the
//! definition. So do the models of the language guide that have verdicts.

use masque_explicit::Explicit;
use masque_ispl::{Options, check, parse};
use masque_model::semantics::holds;
use masque_replay::replay;
use masque_testkit::{Expected, expectations};
use masque_text::{Sources, render};
use masque_verdict::{Budget, Engine, Show, Verdict};

const LOGICS: &str = include_str!("../../../docs/logics.md");
const LANGUAGE: &str = include_str!("../../../docs/ispl.md");

#[test]
fn examples_are_right() {
    let mut n_formulas = 0;
    let blocks =
        |page: &'static str| page.split("\n```ispl\n").skip(1).map(|b| b.split("```").next().unwrap());
    let with_verdicts = blocks(LANGUAGE).filter(|text| text.contains("-- expect:"));
    for text in blocks(LOGICS).chain(with_verdicts) {
        let mut sources = Sources::default();
        let file = sources.add("logics.md", text).unwrap();
        let (mut tree, mut diagnostics) = parse(&sources, file);
        let checked = check(&sources, &mut tree, &Options::default());
        diagnostics.extend(checked.diagnostics);
        let messages: String = diagnostics.iter().map(|d| render(&sources, d, false)).collect();
        let system = checked.system.unwrap_or_else(|| panic!("{messages}"));
        let budget = Budget::unlimited();
        let mut encoded = Explicit { evidence: Show::All, jobs: None }.encode(&system, &budget).unwrap();
        // The file is the first source, so spans are its bytes.
        let spans: Vec<_> =
            system.properties.iter().map(|p| p.span.start as usize..p.span.end as usize).collect();
        for (property, expectation) in system.properties.iter().zip(expectations(text, &spans)) {
            let formula = system.formula_text(property.formula);
            let expected = match expectation.unwrap_or_else(|| panic!("no verdict: {formula}")).verdict {
                Expected::Holds => Verdict::Holds,
                Expected::Fails => Verdict::Fails,
                Expected::Unknown(reason) => panic!("{formula} is unknown: {reason}"),
            };
            assert_eq!(Verdict::from(holds(&system, property)), expected, "{formula}, by the definition");
            let outcome = encoded.decide(property, &budget);
            assert_eq!(outcome.verdict, expected, "{formula}, by the engine");
            if let Some(evidence) = &outcome.evidence {
                assert!(replay(&system, property, expected == Verdict::Holds, evidence).is_ok(), "{formula}");
            }
            n_formulas += 1;
        }
    }
    assert!(n_formulas >= 45, "the models of the page are found");
}
