//! Reading of any text, however broken.
#![allow(dead_code, reason = "a fuzz target uses one of the functions")]

use masque_mu::{
    Graph, Space, decide_all, format, parse_formula, parse_properties, read_aut, read_formula,
    read_properties,
};
use masque_testkit::{LanguageUnderTest, assert_points_into};
use masque_text::{Sources, render};
use masque_verdict::{Budget, Show};

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

/// Reads any text as an `.aut` file, and checks properties on the result. Returns whether the text is correct.
pub(crate) fn survives_as_graph(text: &str) -> bool {
    let mut sources = Sources::default();
    let file = sources.add("fuzz.aut", text).unwrap();
    let (graph, diagnostics) = read_aut(&sources, sources.span(file));
    assert_points_into(&sources, file, "mu/", &diagnostics);
    diagnostics.iter().take(2).for_each(|diagnostic| drop(render(&sources, diagnostic, false)));
    let Some(mut graph) = graph else { return false };
    let file = sources.add("p.mu", "p : AG EF <a>tt ; q : nu X. mu Y. <a>X || <->Y ;").unwrap();
    let (properties, _) = read_properties(&sources, sources.span(file), &mut graph);
    let mut space = Space::new(&mut graph);
    let budget = Budget::default();
    let decided =
        decide_all(&mut space, &properties, Show::All, &budget, &mut |_, _, _| None, &mut |_, _, _| ());
    assert!(decided.iter().all(|decided| decided.withheld.is_none()), "evidence does not replay: {text}");
    true
}
