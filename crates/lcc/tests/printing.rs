//! Printed formulas about protocols, including those made from obligations, parse as the same tree and
//! resolve to the same patterns.

use fastrand::Rng;
use masque_lcc::{InstanceInput, System, open};
use masque_mu::tree::Phi;
use masque_mu::{Formula, parse_formula, resolve};
use masque_testkit::{seeds, structure};
use masque_text::{Diagnostic, Sources};

#[track_caller]
fn read(text: &str, system: &mut System) -> (Phi, Formula) {
    let mut sources = Sources::default();
    let file = sources.add("formula", text).unwrap();
    let (phi, mut found) = parse_formula(&sources, sources.span(file));
    let (formula, more) = phi.as_ref().map(|phi| resolve(phi, system)).unwrap_or_default();
    found.extend(more);
    found.retain(Diagnostic::is_error);
    assert!(found.is_empty(), "{text}: {found:?}");
    (phi.unwrap(), formula.unwrap())
}

#[track_caller]
fn check(phi: &Phi, formula: &Formula, system: &mut System) {
    let printed = phi.to_string();
    let (again, meaning) = read(&printed, system);
    assert_eq!(structure(&again), structure(phi), "{printed}");
    assert_eq!(format!("{meaning:?}"), format!("{formula:?}"), "{printed}");
}

/// A team whose members have names that need quotes.
const TEAM: &str = "
    a(r0, x) :: m0 => a(r1, y).
    a(r1, y) :: m0 <= a(r0, x).
    agent a(r0, x).  agent a(r1, y).  agent a(r0, 'X.509').  agent a(r0, 'or').  agent a(r1, 7).
    agent a(r1, \"it's\").  agent a(r0, '_x').  agent a(r0, a).";

/// 20 formulas per seed: `SEEDS=0..5000 cargo test --release -p masque-lcc --test all printing`.
#[test]
fn printed_formulas_parse_as_the_same_tree() {
    let mut sources = Sources::default();
    let files = vec![sources.add("team.lcc", TEAM).unwrap()];
    let mut system = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() }).system.unwrap();
    for seed in seeds("0..20") {
        for n in 0..20 {
            let text = crate::random::formula(20 * seed + n);
            let (phi, formula) = read(&text, &mut system);
            check(&phi, &formula, &mut system);
        }
    }
}

fn term(random: &mut Rng, depth: u32) -> String {
    const LEAVES: [&str; 20] = [
        "c",
        "'or'",
        "'X'",
        "\"it's\"",
        "''",
        "'_x'",
        "X",
        "Y",
        "_",
        "7",
        "-7",
        "-(7)",
        "0.5",
        "-1.0",
        "x",
        "mod",
        "100000000000000000000000.0",
        "0.0000000001",
        "-9223372036854775808",
        "'a b'",
    ];
    if depth == 0 {
        return LEAVES[random.usize(..LEAVES.len())].to_string();
    }
    let part = |random: &mut Rng| term(random, depth - 1);
    match random.u8(..6) {
        0 => part(random),
        1 => format!("f({}, {})", part(random), part(random)),
        2 => format!("'Not plain'({})", part(random)),
        3 => format!("[{}, {} | {}]", part(random), part(random), part(random)),
        4 => format!("-({})", part(random)),
        _ => {
            let op = ["+", "-", "*", "/", "mod"][random.usize(..5)];
            format!("({}) {op} ({})", part(random), part(random))
        }
    }
}

/// The formula made from an obligation can be parsed again.
#[test]
fn formulas_of_obligations_parse_as_the_same_tree() {
    for seed in seeds("0..20") {
        let mut random = Rng::with_seed(seed);
        let mut text = TEAM.to_string();
        for _ in 0..5 {
            let subject =
                ["x", "'X.509'", "'or'", "7", "\"it's\"", "'_x'", "_", "S", "a", "self"][random.usize(..10)];
            let depth = random.u32(..3);
            let (argument, until) = (term(&mut random, depth), term(&mut random, 1));
            text += &format!("rule x: ({subject}, _, !act({argument})) after in(m0)@y until out({until}).\n");
        }
        let mut sources = Sources::default();
        let files = vec![sources.add("team.lcc", text.clone()).unwrap()];
        let mut opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
        opened.diagnostics.retain(Diagnostic::is_error);
        assert!(opened.diagnostics.is_empty(), "{:?}\n{text}", opened.diagnostics);
        let mut system = opened.system.unwrap();
        assert_eq!(opened.properties.len(), 5);
        for property in &opened.properties {
            check(&property.source.phi, &property.formula, &mut system);
        }
    }
}
