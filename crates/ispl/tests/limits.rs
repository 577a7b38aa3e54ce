//! Limits on checking a file that is already parsed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use masque_ispl::{Options, check, parse};
use masque_text::{ReadLimit, ReadLimits, Sources};

fn model(lines: &str, formulas: &str) -> String {
    format!(
        "Agent A Vars: x : 0..3; end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
         Evolution: {lines} end Evolution end Agent Evaluation p if A.x = 1; end Evaluation
         InitStates A.x = 0; end InitStates Formulae {formulas}; end Formulae"
    )
}

/// Checks a text and cancels between parsing and checking, if `is_cancelled`. Returns whether there is a system, and
/// the limit that was exceeded.
fn checked(text: &str, is_cancelled: bool) -> (bool, Option<ReadLimit>) {
    let flag = Arc::new(AtomicBool::new(false));
    let mut sources = Sources::with_limits(ReadLimits::default().with_cancel(Arc::clone(&flag)));
    let file = sources.add("m.ispl", text).unwrap();
    let (mut tree, diagnostics) = parse(&sources, file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    flag.store(is_cancelled, Ordering::Relaxed);
    let checked = check(&sources, &mut tree, &Options::default());
    (checked.system.is_some(), sources.limits().exceeded())
}

#[test]
fn checking_stops() {
    let lines: String = (0..40_000).map(|i| format!("x = {} if x + {i} = {};\n", i % 4, i + 1)).collect();
    let conjunction = vec!["A.x = 1"; 60_000].join(" and ");
    let formulas = vec!["AG EF p"; 40_000].join("; ");
    for (name, text) in [
        ("lines", model(&lines, "p")),
        ("condition", model(&format!("x = 1 if {};", conjunction.replace("A.", "")), "p")),
        ("conjunction", model("", &conjunction)),
        ("formulas", model("", &formulas)),
    ] {
        assert_eq!(checked(&text, false), (true, None), "{name}");
        assert_eq!(checked(&text, true), (false, Some(ReadLimit::Cancelled)), "{name}");
    }
}
