//! How formulas of the mu-calculus are parsed.

use crate::support::{check_twice, system};

/// Propositions `p` and `q`.
const MODEL: &str = "
Agent Alice
  Vars: x : 0..3; end Vars
  Actions = {go, stop};
  Protocol: Other : {go, stop}; end Protocol
  Evolution: x = 1 if Action = go; end Evolution
end Agent
Agent Bob
  Vars: z : boolean; end Vars
  Actions = {go, U};
  Protocol: Other : {go}; end Protocol
  Evolution: end Evolution
end Agent
Evaluation p if Alice.x = 1; q if Bob.z; end Evaluation
InitStates Alice.x = 0; end InitStates
Groups g = {Alice, Bob}; end Groups
Formulae FORMULA; end Formulae
";

/// Returns the formula as the checked model prints it, or the code of an error.
fn formula(text: &str) -> String {
    let system = system(&MODEL.replace("FORMULA", text));
    system.map_or_else(|code| code.to_string(), |s| s.formula_text(s.properties[0].formula))
}

/// Checks how formulas are parsed.
fn check_formulas_twice(table: &[(&str, &str, &str)]) {
    check_twice(table, formula);
}

#[rustfmt::skip]
#[test]
fn fixpoints() {
    check_formulas_twice(&[
        ("mu Z. p or EX Z",              "mu Z.(p or EX(Z))",                 "as far to the right as possible"),
        ("p and nu Z. q and AX Z",       "p and (nu Z.(q and AX(Z)))",        "also under another operator"),
        ("(mu Z. EX Z) and p",           "(mu Z.(EX(Z))) and p",              "brackets end it"),
        ("!mu Z. Z or p",                "!(mu Z.(Z or p))",                  "after `!`, too"),
        ("nu Y. mu Z. EX(p and Y or Z)", "nu Y.(mu Z.(EX((p and Y) or Z)))",  "nested"),
        ("mu mu. p or EX mu",            "mu mu.(p or EX(mu))",               "any word is a name"),
        ("mu Z. K(Alice, p or Z)",       "mu Z.(K(Alice, p or Z))",           "under knowledge"),
        ("mu Z. <g>X (p or Z)",          "mu Z.(<g>X(p or Z))",               "under coalitions"),
        ("mu Z. !(Z -> p)",              "mu Z.(!(Z -> p))",                  "two negations cancel"),
        ("mu Z. !Z",                     "ispl/negative-fixpoint",            "an odd number of negations"),
        ("mu Z. Z -> p",                 "ispl/negative-fixpoint",            "the left side of an implication"),
        ("mu Z. p -> Z -> Z",            "ispl/negative-fixpoint",            "each left side of a chain"),
        ("mu Z. p -> q -> Z",            "mu Z.(p -> (q -> Z))",              "but not the last"),
        ("mu Z. Z <-> p",                "ispl/negative-fixpoint",            "an equivalence is both"),
        ("p <-> mu Z. EX Z",             "p <-> (mu Z.(EX(Z)))",              "negations are counted from the fixpoint"),
        ("!mu Z. EX Z",                  "!(mu Z.(EX(Z)))",                   "not from the root of the formula"),
        ("nu Y. !mu Z. EX(Z or !Y)",     "nu Y.(!(mu Z.(EX(Z or !Y))))",      "each by itself"),
        ("nu Y. !mu Z. EX(Z or Y)",      "ispl/negative-fixpoint",            "each by itself"),
        ("mu Z. nu Z. EX Z",             "ispl/shadowed-fixpoint",            "the inner one would hide the outer one"),
        ("(mu Z. EX Z) or nu Z. EX Z",   "(mu Z.(EX(Z))) or (nu Z.(EX(Z)))",  "not nested"),
        ("mu p. EX p",                   "ispl/ambiguous-name",               "there is a proposition `p`"),
        ("EX Z",                         "ispl/unknown-proposition",          "no fixpoint binds it"),
        ("(mu Z. EX Z) or Z",            "ispl/unknown-proposition",          "outside the fixpoint"),
        ("mu Z. Z = true",               "ispl/unknown-name",                 "it is not a value"),
        ("LTL mu Z. X Z",                "ispl/wrong-logic",                  "not in path formulas"),
        ("CTL* E mu Z. X Z",             "ispl/wrong-logic",                  "not in path formulas"),
    ]);
}

#[rustfmt::skip]
#[test]
fn labelled_steps() {
    check_formulas_twice(&[
        ("EX{Alice.Action = go} p",                 "EX{Alice.Action = go}(p)",                              "some step in which she goes"),
        ("AX{Alice.Action <> go} p and q",          "AX{!(Alice.Action = go)}(p) and q",                     "the shortest operand"),
        ("EX{Alice.Action=go and Bob.Action=U}p",   "EX{(Alice.Action = go and Bob.Action = U)}(p)",         "together"),
        ("EX{true} EX{Alice.x = 1} p",              "EX{true}(EX{Alice.x = 1}(p))",                          "any condition"),
        ("EX{p} <g>X q",                            "EX{Alice.x = 1}(<g>X(q))",                              "a proposition is its condition"),
        ("mu Z. p or EX{Bob.Action = go} Z",        "mu Z.(p or EX{Bob.Action = go}(Z))",                    "in a fixpoint"),
        ("EX{Alice.Action = fly} p",                "ispl/unknown-action",                                   "she cannot"),
        ("EX{Action = go} p",                       "ispl/unknown-name",                                     "the agent is missing"),
        ("EX{} p",                                  "ispl/unexpected-token",                                 "no condition"),
        ("EG{true} p",                              "ispl/unexpected-token",                                 "only next"),
        ("LTL EX{true} p",                          "ispl/wrong-logic",                                      "not in path formulas"),
        ("AG (Alice.Action = go)",                  "ispl/action-outside-evolution",                         "not about a step"),
    ]);
}
