//! Limits on checking a file that is already parsed: programs, properties and the plan of worlds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use masque_bdi::{check_within, parse};
use masque_text::{ReadLimit, ReadLimits, Sources};

/// Checks a text within limits. Returns whether there is a model, and the limit that was exceeded.
fn checked(text: &str, limits: &ReadLimits) -> (bool, Option<ReadLimit>) {
    let mut sources = Sources::default();
    let file = sources.add("m.bdi", text).unwrap();
    let (tree, diagnostics) = parse(&sources, file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    (check_within(&tree, &[], limits).model.is_some(), limits.exceeded())
}

/// Files whose checking takes work of different kinds.
fn files() -> [(&'static str, String); 3] {
    let joined = |n: usize, with: &str, item: &dyn Fn(usize) -> String| {
        (0..n).map(item).collect::<Vec<_>>().join(with)
    };
    let statements = joined(10_000, "; ", &|i| format!("do act{i}(p)"));
    let formulas = joined(20_000, "\n", &|i| format!("property q{i}: AG (EF p & x{});", i % 10));
    let atoms = joined(10, "; ", &|i| format!("x{i} := any"));
    let agents =
        joined(5_000, "\n", &|i| format!("agent a{i} is loop B(a{}, p) := any; p := any endloop", i + 1));
    [
        ("statements", format!("agent a is loop {statements} endloop")),
        ("formulas", format!("agent a is loop {atoms}; p := any endloop\n{formulas}")),
        ("worlds", format!("{agents}\nagent a5000 is loop p := any endloop")),
    ]
}

#[test]
fn checking_stops() {
    for (name, text) in &files() {
        assert_eq!(checked(text, &ReadLimits::default()), (true, None), "{name}");
        let small = ReadLimits::default().with_memory(1 << 20);
        assert_eq!(checked(text, &small), (false, Some(ReadLimit::Memory)), "{name}");
        let cancelled = ReadLimits::default().with_cancel(Arc::new(AtomicBool::new(true)));
        assert_eq!(checked(text, &cancelled), (false, Some(ReadLimit::Cancelled)), "{name}");
    }
}
