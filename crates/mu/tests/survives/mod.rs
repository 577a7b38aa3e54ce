//! Reading of any text, however broken.

use masque_mu::{Graph, format, parse_formula, parse_properties, read_aut, read_formula, read_properties};
use masque_testkit::LanguageUnderTest;

/// Reads any text as properties, as a formula and as an `.aut` file, and formats it. A formula prints as
/// text that is read as the same formula. Returns whether the text is syntactically correct as
/// properties.
pub(crate) fn survives(text: &str) -> bool {
    LanguageUnderTest { prefix: "mu/", format }.survives(text, |sources, file| {
        let (span, mut graph) = (sources.span(file), Graph::new());
        let mut further = read_properties(sources, span, &mut graph).1;
        further.extend(read_formula(sources, span, &mut graph).1);
        further.extend(read_aut(sources, span).1);
        if let (Some(phi), _) = parse_formula(sources, span) {
            let printed = phi.to_string();
            let again = sources.add("printed", printed.as_str()).unwrap();
            let (again, _) = parse_formula(sources, sources.span(again));
            assert_eq!(again.map(|phi| phi.to_string()), Some(printed));
        }
        (parse_properties(sources, span).1, further)
    })
}
