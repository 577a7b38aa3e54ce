//! LTL and CTL* on the dining cryptographers: twelve with the symbolic engine, eight also with the explicit
//! one.
//!
//! One cryptographer pays or none does, all toss coins and speak, and from then on either `odd` or `even` is
//! true: the parity of the number of differences. Work is counted in steps of operations on diagrams.

use std::fs;

use masque_explicit::Explicit;
use masque_model::{Deadlock, System};
use masque_symbolic::Symbolic;
use masque_testkit::load;
use masque_verdict::{Budget, Engine, Show, Verdict};

/// Formulas, their verdicts, and the reasons.
#[rustfmt::skip]
const FORMULAS: [(&str, Verdict, &str); 14] = [
    ("LTL G F (odd or even)", Verdict::Holds, "the parity is announced and stays"),
    ("LTL F G odd or F G even", Verdict::Holds, "it does not change"),
    ("LTL F G odd", Verdict::Fails, "a cryptographer may have paid or not"),
    ("LTL G(odd -> G odd) and G(even -> G even) and F(odd or even) and G F true", Verdict::Holds, "the same"),
    ("LTL ((!odd) and !even) U ((odd and G !even) or (even and G !odd))", Verdict::Holds, "one or the other"),
    ("LTL ((!even) U (odd and ((!even) U K(DinCrypt1, c1paid or !c1paid)))) or F even", Verdict::Holds, "a tautology is known"),
    ("LTL G((odd and !c1paid) -> X F K(DinCrypt1, !c1paid)) and G F(c1paid -> K(DinCrypt1, c1paid))", Verdict::Holds, "a cryptographer knows whether it has paid"),
    ("LTL F K(DinCrypt2, c1paid) or F G !K(DinCrypt2, c1paid)", Verdict::Holds, "it is never known, so always not known"),
    ("LTL c1paid -> F G K(DinCrypt2, c1paid or c3paid) or F G K(DinCrypt2, c1paid)", Verdict::Fails, "another one may have paid"),
    ("LTL (G F odd and F G even) -> G X X F(c1paid U (odd W even))", Verdict::Holds, "never both"),
    ("CTL* A(F(odd or even) and (G F odd -> F G odd) and (G F even -> F G even) and (((!odd) and !even) U (odd or even)))", Verdict::Holds, "nothing changes after the announcement"),
    ("CTL* A G(even -> A G F GCK(g1, !c1paid)) and A G E F E G(odd or even)", Verdict::Holds, "even makes it common knowledge that none has paid"),
    ("CTL* A((!odd) U (K(DinCrypt1, odd) or G F even)) and A G(odd -> A G F K(DinCrypt2, odd))", Verdict::Holds, "the announcement is observed"),
    ("CTL* E(F G odd and F K(DinCrypt1, c2paid)) or E(X X X odd and G F !odd)", Verdict::Fails, "no payer is revealed"),
];

fn system(path: &str) -> System {
    let text = fs::read_to_string(path).unwrap();
    let (model, _) = text.split_once("Formulae").unwrap();
    let formulas: String = FORMULAS.iter().map(|(formula, ..)| format!("  {formula};\n")).collect();
    load(&format!("{model}Formulae\n{formulas}end Formulae\n"), Deadlock::Finite).unwrap()
}

/// Decides all formulas; returns the number of diagram steps.
fn check(engine: &dyn Engine, system: &System) -> u64 {
    let budget = Budget::unlimited();
    let mut encoded = engine.encode(system, &budget).unwrap();
    for (property, (formula, expected, because)) in system.properties.iter().zip(FORMULAS) {
        assert_eq!(encoded.decide(property, &budget).verdict, expected, "{formula}: {because}");
    }
    let figures = encoded.stats().figures;
    figures.iter().find(|(name, _)| *name == "diagram steps").map_or(0, |&(_, steps)| steps)
}

#[test]
fn eight() {
    let system = system("../../models/scale/dc_8_sum.ispl");
    check(&Explicit { evidence: Show::None, ..Explicit::default() }, &system);
    check(&Symbolic { evidence: Show::None, ..Symbolic::default() }, &system);
}

/// 212 992 states, 146 bits.
#[test]
fn twelve() {
    let engine = Symbolic { evidence: Show::None, ..Symbolic::default() };
    let work = check(&engine, &system("tests/models/dc_12_sum.ispl"));
    assert!(work < 5_000_000, "{work} steps");
}
