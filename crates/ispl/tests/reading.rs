//! How formulas and conditions are parsed: the written text, and the text that the checked model prints.

use masque_ispl::{Dialect, Options, check, parse};
use masque_model::{At, Strategies, System};
use masque_text::Sources;

use crate::support::{check_twice, sees, system};

/// Propositions `p q r s`, and some with the names of keywords.
const MODEL: &str = "
Agent Environment
  Obsvars: light : boolean; end Obsvars
  Vars: coin : {heads, tails}; end Vars
end Agent
Agent Alice
  Lobsvars = {coin};
  Vars:
    x : 0..3; y : -2..2; b : boolean; d : boolean; e : boolean;
    c : {red, green}; f : {red, green, blue}; h : {heads, tails};
    suit : {A, K, Q}; X : 0..1; heads : boolean;
  end Vars
  RedStates: CONDITION; end RedStates
  Actions = {go, stop, X, end, Action};
  Protocol: Other : {go, stop}; end Protocol
  Evolution: x = 1 if EVOLUTION; end Evolution
end Agent
Agent Bob
  Vars: z : boolean; end Vars
  Actions = {go, U};
  Protocol: Other : {go}; end Protocol
  Evolution: end Evolution
end Agent
Evaluation
  p if Alice.x = 1; q if Alice.b; r if Alice.d; s if Bob.z;
  F if Alice.x = 2; G if Alice.x = 3; U if Alice.y = 1; X if Alice.y = 2; A if Alice.e; K if Alice.c = red;
  end if Alice.y = 0; Agent if Alice.y = -1; Action if Alice.y < 0; LTL if Bob.z; for if Bob.z;
end Evaluation
InitStates Environment.light; end InitStates
Groups g = {Alice, Bob}; one = {Bob}; end Groups
Formulae FORMULA; end Formulae
";

fn model(condition: &str, evolution: &str, formula: &str) -> Result<System, &'static str> {
    let text = MODEL.replace("CONDITION", condition).replace("EVOLUTION", evolution);
    system(&text.replace("FORMULA", formula))
}

/// Returns the formula as the checked model prints it, or the code of an error.
fn formula(text: &str) -> String {
    model("b", "true", text).map_or_else(|code| code.to_string(), |s| s.formula_text(s.properties[0].formula))
}

/// Checks that each formula is parsed as the second text, or refused with that code, and that the printed text is
/// parsed as itself.
fn check_formulas_twice(table: &[(&str, &str, &str)]) {
    check_twice(table, formula);
}

/// Checks that each condition of Alice's RedStates is parsed as the second text, or refused with that
/// code.
fn check_conditions(table: &[(&str, &str, &str)]) {
    for (condition, reading, because) in table {
        let read = model(condition, "true", "p").map(|s| s.expr_text(s.agents[1].red.unwrap()));
        assert_eq!(read.as_deref().unwrap_or_else(|code| code), *reading, "`{condition}`: {because}");
    }
}

/// Returns the codes of the warnings about a formula.
fn warnings(formula: &str) -> Vec<&'static str> {
    let text = MODEL.replace("CONDITION", "b").replace("EVOLUTION", "true").replace("FORMULA", formula);
    let mut sources = Sources::default();
    let file = sources.add("reading.ispl", text).unwrap();
    parse(&sources, file).1.iter().map(|d| d.code).collect()
}

#[rustfmt::skip]
#[test]
fn state_formulas() {
    check_formulas_twice(&[
        ("p <-> q -> r",         "p <-> (q -> r)",            "`<->` is loosest"),
        ("p -> q <-> r",         "(p -> q) <-> r",            "`<->` is loosest"),
        ("p <-> q <-> r",        "(p <-> q) <-> r",           "and groups to the left"),
        ("p -> q -> r",          "p -> (q -> r)",             "`->` groups to the right"),
        ("(p -> q) -> r",        "(p -> q) -> r",             "unless brackets say otherwise"),
        ("p or q -> r",          "(p or q) -> r",             "`or` before `->`"),
        ("p or q and r",         "p or (q and r)",            "`and` before `or`"),
        ("p and q or r and s",   "(p and q) or (r and s)",    "on both sides"),
        ("p and q and r",        "p and q and r",             "a flat chain"),
        ("! p and q",            "!p and q",                  "`!` takes the shortest operand"),
        ("! ! p",                "!!p",                       "and nests"),
        ("AG p and q",           "AG(p) and q",               "so does AG"),
        ("AG p -> q",            "AG(p) -> q",                "so does AG"),
        ("AG (p -> q)",          "AG(p -> q)",                "brackets"),
        ("AG EF p and q",        "AG(EF(p)) and q",           "unary operators nest"),
        ("! AG p",               "!AG(p)",                    "`!` and AG are on one level"),
        ("AG ! p",               "AG(!p)",                    "and nest as written"),
        ("AG ! EX p or q",       "AG(!EX(p)) or q",           "three of them"),
        ("AX p -> EX q -> AF r", "AX(p) -> (EX(q) -> AF(r))", "all the unary ones"),
        ("EG p <-> ! AF ! p",    "EG(p) <-> !AF(!p)",         "all the unary ones"),
        ("E(p U q)",             "E(p U q)",                  "until"),
        ("A(p U q) and r",       "A(p U q) and r",            "its brackets are the operator's"),
        ("E(p W q)",             "E(p W q)",                  "weak until"),
        ("A(p R q)",             "A(p R q)",                  "release"),
        ("E(p and q U r)",       "E((p and q) U r)",          "here `U` is the loosest"),
        ("E(p U q or r)",        "E(p U (q or r))",           "on both sides"),
        ("A(p -> q U r <-> s)",  "A((p -> q) U (r <-> s))",   "looser even than `<->`"),
        ("E(! p U q)",           "E((!p) U q)",                 "`!` does not apply to this `U`"),
        ("E(AG p U A(q R r))",   "E(AG(p) U A(q R r))",       "state formulas inside"),
        ("true -> false",        "true -> false",             "constants"),
        ("p U q",                "ispl/unexpected-token",     "`U` needs a quantifier"),
        ("F p",                  "ispl/wrong-logic",          "so does F"),
        ("A F p",                "ispl/wrong-logic",          "written AF"),
        ("E p",                  "ispl/wrong-logic",          "a temporal operator is missing"),
        ("A(p)",                 "ispl/unexpected-token",     "a temporal operator is missing"),
        ("E(p U q U r)",         "ispl/unexpected-token",     "one `U` for one quantifier"),
        ("K(Alice, G p)",        "ispl/wrong-logic",          "also under K"),
    ]);
}

#[rustfmt::skip]
#[test]
fn coalitions() {
    check_formulas_twice(&[
        ("<g> X p and q",                 "<g>X(p) and q",                 "the shortest operand"),
        ("<g> F p -> <one> G q",          "<g>F(p) -> <one>G(q)",          "the shortest operand"),
        ("<g>(p U q)",                    "<g>(p U q)",                    "until"),
        ("<g>(p and q U r)",              "<g>((p and q) U r)",            "here `U` is the loosest"),
        ("<g>(p W q)",                    "<g>(p W q)",                    "weak until"),
        ("<g>(p R q)",                    "<g>(p R q)",                    "release"),
        ("! <g> X ! p",                   "!<g>X(!p)",                     "nests as written"),
        ("AG <g> F p",                    "AG(<g>F(p))",                   "nests as written"),
        ("<g> X <one> X p",               "<g>X(<one>X(p))",               "nests as written"),
        ("<Alice> F p",                   "<Alice>F(p)",                   "an agent is a group of one"),
        ("<{Bob, Alice}> F p",            "<{Alice, Bob}>F(p)",            "a set, in the order of the file"),
        ("<{Bob, Bob}> F p",              "<{Bob}>F(p)",                   "a set has no doubles"),
        ("<Environment> F p",             "<Environment>F(p)",             "the Environment is an agent"),
        ("<g, uniform> F p",              "<g, uniform>F(p)",              "strategies"),
        ("<g, uniform-joint> F p",        "<g, uniform-joint>F(p)",        "strategies"),
        ("<g, uniform-objective>(p U q)", "<g, uniform-objective>(p U q)", "strategies"),
        ("<g, perfect> F p",              "<g>F(p)",                       "perfect information is the default"),
        ("<{Alice}, uniform> X p",        "<{Alice}, uniform>X(p)",        "strategies of a set"),
        ("<g> p",                         "ispl/unexpected-token",         "X, F, G or U"),
        ("<g>(p)",                        "ispl/unexpected-token",         "X, F, G or U"),
        ("<Alice, Bob> F p",              "ispl/unexpected-token",         "a set has braces"),
        ("<h> F p",                       "ispl/unknown-group",            "there is no h"),
        ("LTL F <g> X p",                 "ispl/wrong-logic",              "no coalitions in LTL"),
        ("CTL* A F <g> X p",              "ispl/wrong-logic",              "nor in CTL*"),
    ]);
    let options = Options { strategies: Some(Strategies::Uniform), ..Options::default() };
    let text = MODEL.replace("CONDITION", "b").replace("EVOLUTION", "true");
    let text = text.replace("FORMULA", "<g> F p and <g, uniform-joint> F p");
    let mut sources = Sources::default();
    let file = sources.add("reading.ispl", text).unwrap();
    let system = check(&sources, &mut parse(&sources, file).0, &options).system.unwrap();
    assert_eq!(
        system.formula_text(system.properties[0].formula),
        "<g, uniform>F(p) and <g, uniform-joint>F(p)",
        "--strategies is for coalitions that name none"
    );
}

#[rustfmt::skip]
#[test]
fn knowledge() {
    check_formulas_twice(&[
        ("K(Alice, p)",                "K(Alice, p)",                "one agent"),
        ("K({Alice}, p)",              "K(Alice, p)",                "a set of one"),
        ("K(one, p)",                  "K(Bob, p)",                  "a group of one"),
        ("K(Environment, p)",          "K(Environment, p)",          "the Environment"),
        ("K(g, p)",                    "ispl/not-an-agent",          "a group of two"),
        ("O(Alice, p)",                "O(Alice, p)",                "where Alice is correct"),
        ("KH(Alice, Bob, p)",          "KH(Alice, Bob, p)",          "one agent assumed correct"),
        ("KH(Alice, g, p)",            "KH(Alice, g, p)",            "a group"),
        ("KH(Alice, {Bob, Alice}, p)", "KH(Alice, {Alice, Bob}, p)", "a set"),
        ("KH(g, Alice, p)",            "ispl/not-an-agent",          "one agent knows"),
        ("GK(g, p)",                   "GK(g, p)",                   "everyone knows"),
        ("E(g, p)",                    "GK(g, p)",                   "the papers' name for it"),
        ("E({Alice, Bob}, p)",         "GK({Alice, Bob}, p)",        "the papers' name for it"),
        ("DK(g, p)",                   "DK(g, p)",                   "distributed knowledge"),
        ("D(g, p)",                    "DK(g, p)",                   "the papers' name for it"),
        ("GCK(g, p)",                  "GCK(g, p)",                  "common knowledge"),
        ("C({Alice, Bob}, p)",         "GCK({Alice, Bob}, p)",       "the papers' name for it"),
        ("DK(Alice, p)",               "DK(Alice, p)",               "an agent is a group of one"),
        ("K(Alice, p) and q",          "K(Alice, p) and q",          "its brackets are the operator's"),
        ("K(Alice, p and q -> r)",     "K(Alice, (p and q) -> r)",   "anything inside"),
        ("K(Alice, AG !K(Bob, p))",    "K(Alice, AG(!K(Bob, p)))",   "and again"),
        ("Alice.GreenStates -> p",     "Alice.GreenStates -> p",     "where RedStates is false"),
        ("! Bob.RedStates",            "!Bob.RedStates",             "and where it is true"),
        ("K(Alice p)",                 "ispl/unexpected-token",      "the comma"),
        ("K(Alice)",                   "ispl/unexpected-token",      "the formula is missing"),
        ("KH(Alice, p)",               "ispl/unexpected-token",      "the second agent is missing"),
    ]);
}

#[rustfmt::skip]
#[test]
fn path_formulas() {
    check_formulas_twice(&[
        ("LTL F p and q",              "CTL* A(F(p) and q)",                "F takes the shortest operand"),
        ("LTL F (p and q)",            "CTL* A(F(p and q))",                "brackets"),
        ("LTL ! p U q",                "CTL* A(!(p U q))",                  "`!` applies to the whole `U`"),
        ("LTL X p U q",                "CTL* A(X(p) U q)",                  "X does not"),
        ("LTL X ! p U q",              "CTL* A(X(!(p U q)))",               "`!` does, also under X"),
        ("LTL ! X p U q",              "CTL* A(!(X(p) U q))",               "`!` applies to the whole `U`, X does not"),
        ("LTL p U q U r",              "CTL* A((p U q) U r)",               "to the left, as in MCMAS"),
        ("LTL p U (q U r)",            "CTL* A(p U (q U r))",               "unless brackets say otherwise"),
        ("LTL p U q W r R s",          "CTL* A(((p U q) W r) R s)",         "U, W and R on one level"),
        ("LTL p and q U r",            "CTL* A(p and (q U r))",             "here `U` is tighter than `and`"),
        ("LTL p U q or r",             "CTL* A((p U q) or r)",              "and than `or`"),
        ("LTL p U q -> r U s",         "CTL* A((p U q) -> (r U s))",        "and than `->`"),
        ("LTL ! p and q",              "CTL* A(!p and q)",                  "`!` is tighter than `and`"),
        ("LTL p -> q -> r",            "CTL* A(p -> (q -> r))",             "to the right"),
        ("LTL p <-> F q -> G r",       "CTL* A(p <-> (F(q) -> G(r)))",      "`<->` is loosest"),
        ("LTL G F p -> G F q",         "CTL* A(G(F(p)) -> G(F(q)))",        "unary operators nest"),
        ("LTL F G p",                  "CTL* A(F(G(p)))",                   "under the implicit A"),
        ("LTL p",                      "CTL* A(p)",                         "a path's first state"),
        ("LTL K(Alice, p) U q",        "CTL* A(K(Alice, p) U q)",           "K is as tight as brackets"),
        ("LTL G (p -> K(Alice, F q))", "CTL* A(G(p -> K(Alice, A(F(q)))))", "K has an implicit A on its argument"),
        ("LTL G K(Alice, p)",          "CTL* A(G(K(Alice, p)))",            "no A if the argument is not a path formula"),
        ("LTL GCK(g, ! F p)",          "CTL* A(GCK(g, A(!F(p))))",          "the A is before the whole argument"),
        ("LTL O(Alice, p or X q)",     "CTL* A(O(Alice, A(p or X(q))))",    "also under O"),
        ("LTL KH(Alice, g, p U q)",    "CTL* A(KH(Alice, g, A(p U q)))",    "and KH"),
        ("LTL A F p",                  "ispl/wrong-logic",                  "LTL has no quantifiers"),
        ("LTL AF p",                   "ispl/wrong-logic",                  "LTL has no quantifiers"),
        ("LTL E(p U q)",               "ispl/wrong-logic",                  "LTL has no quantifiers"),
        ("CTL* A G p",                 "CTL* A(G(p))",                      "quantifiers"),
        ("CTL* AG p",                  "CTL* A(G(p))",                      "AG is A G"),
        ("CTL* A (E F p and G q)",     "CTL* A(E(F(p)) and G(q))",          "E F p and G q is (E F p) and (G q)"),
        ("CTL* E F p and G q",         "ispl/not-a-state-formula",          "so that G q is about no path"),
        ("CTL* E (F p and G q)",       "CTL* E(F(p) and G(q))",             "brackets"),
        ("CTL* E p U q",               "ispl/not-a-state-formula",          "(E p) U q"),
        ("CTL* E (p U q)",             "CTL* E(p U q)",                     "brackets"),
        ("CTL* A (p and q U r)",       "CTL* A(p and (q U r))",             "as in LTL, not as in CTL"),
        ("CTL* ! E X ! p",             "CTL* !E(X(!p))",                    "unary operators nest"),
        ("CTL* E F A G p",             "CTL* E(F(A(G(p))))",                "quantifiers anywhere"),
        ("CTL* K(Alice, F p)",         "CTL* K(Alice, A(F(p)))",            "the implicit A makes a state formula"),
        ("CTL* A F p -> K(Bob, X q)",  "CTL* A(F(p)) -> K(Bob, A(X(q)))",   "on both sides"),
        ("CTL* F p",                   "ispl/not-a-state-formula",          "F is about no path"),
        ("CTL* p U q",                 "ispl/not-a-state-formula",          "U is about no path"),
        ("CTL* ! X p",                 "ispl/not-a-state-formula",          "X is about no path"),
        ("CTL* p -> G q",              "ispl/not-a-state-formula",          "G is about no path"),
        ("CTL* p and q",               "p and q",                           "no path is spoken of"),
        ("CTL* E(g, p)",               "GK(g, p)",                          "the papers' GK"),
    ]);
}

#[rustfmt::skip]
#[test]
fn unbracketed_until() {
    for (formula, codes, because) in [
        ("LTL p U q U r",        &["ispl/unbracketed-until"][..],   "the left or the right?"),
        ("LTL (p U q) U r",      &[],                               "said"),
        ("LTL p U (q U r)",      &[],                               "said"),
        ("LTL ! p U q",          &["ispl/negated-until"],           "what is negated?"),
        ("LTL !(p U q)",         &[],                               "said"),
        ("LTL (!p) U q",         &[],                               "said"),
        ("LTL X ! p U q",        &["ispl/negated-until"],           "also under another operator"),
        ("LTL p and q U r",      &["ispl/until-binds-tighter"],     "CTL reads it the other way"),
        ("LTL p U q or r",       &["ispl/until-binds-tighter"],     "CTL reads it the other way"),
        ("LTL p U q -> r",       &["ispl/until-binds-tighter"],     "CTL reads it the other way"),
        ("LTL (p U q) -> r",     &[],                               "said"),
        ("LTL p and (q U r)",    &[],                               "said"),
        ("CTL* A (p and q U r)", &["ispl/until-binds-tighter"],     "as in LTL"),
        ("LTL F p U q",          &[],                               "F is tight in every logic"),
        ("E(p and q U r)",       &[],                               "CTL: `U` is loosest"),
        ("E(! p U q)",           &[],                               "CTL: `U` is loosest"),
        ("<g>(! p and q U r)",   &[],                               "ATL: `U` is loosest"),
    ] {
        assert_eq!(warnings(formula), codes, "`{formula}`: {because}");
    }
}

#[rustfmt::skip]
#[test]
fn conditions_in_formulas() {
    check_formulas_twice(&[
        ("AG Alice.x < 3",                "AG(Alice.x < 3)",                  "a comparison is an atom"),
        ("AG Alice.x + 1 = Alice.y -> p", "AG((Alice.x + 1) = Alice.y) -> p", "with arithmetic inside"),
        ("! Alice.x = 1",                 "!(Alice.x = 1)",                   "`!` takes a whole comparison"),
        ("LTL Alice.x = 1 U Alice.b",     "CTL* A((Alice.x = 1) U Alice.b)",  "U is looser than a comparison"),
        ("EF Environment.coin = tails",   "EF(Environment.coin = tails)",     "hidden or not"),
        ("Bob.z",                         "Bob.z",                            "a boolean variable"),
        ("Bob.z = false",                 "Bob.z = false",                    "compared"),
        ("q = r",                         "Alice.b = Alice.d",                "propositions are booleans"),
        ("Alice.heads",                   "Alice.heads",                      "a variable named like a value"),
        ("Alice.x",                       "ispl/not-a-condition",             "a number is no formula"),
        ("x = 1",                         "ispl/unknown-name",                "whose x?"),
        ("Alice.x = 1 = true",            "ispl/comparison-chain",            "no chains"),
        ("(Alice.x = 1) = true",          "Alice.x = 1",                      "brackets"),
        ("p | q",                         "ispl/not-a-formula",               "formulas have `or`"),
        ("(p | q) = true",                "(Alice.x = 1 or Alice.b) = true",  "inside a comparison it is a condition"),
        ("(AG p) = true",                 "ispl/not-a-condition",             "but not a formula"),
        ("Alice.Action = go",             "ispl/action-outside-evolution",    "a state has no actions"),
    ]);
}

/// Brackets stand wherever the text would otherwise be read as something else.
#[rustfmt::skip]
#[test]
fn texts_say_how_they_were_read() {
    check_formulas_twice(&[
        ("LTL (! p) U q", "CTL* A((!p) U q)",        "without brackets it reads as !(p U q)"),
        ("p = q",         "(Alice.x = 1) = Alice.b", "comparisons do not chain"),
    ]);
    check_conditions(&[
        ("(x < y) = b",                  "(Alice.x < Alice.y) = Alice.b",       "comparisons do not chain"),
        ("count(i in 1..2 : x = i) = 1", "count(Alice.x = 1, Alice.x = 2) = 1", "conditions counted"),
        ("count(x = 1, b, y < 2) = 1",   "count(Alice.x = 1, Alice.b, Alice.y < 2) = 1", "or listed"),
    ]);
}

#[rustfmt::skip]
#[test]
fn keywords_are_contextual() {
    check_formulas_twice(&[
        ("F",            "F",                     "a proposition"),
        ("AG F",         "AG(F)",                 "after an operator"),
        ("F and G",      "F and G",               "before an operator"),
        ("AF F -> EG G", "AF(F) -> EG(G)",        "beside the real ones"),
        ("E(F U G)",     "E(F U G)",              "in an until"),
        ("E(U U U)",     "E(U U U)",              "three of them"),
        ("LTL F F",      "CTL* A(F(F))",          "the last is a name"),
        ("LTL F U G",    "CTL* A(F U G)",         "only one reading goes on"),
        ("LTL G F U G",  "CTL* A(G(F) U G)",      "here too"),
        ("LTL X X X",    "CTL* A(X(X(X)))",       "the last is a name"),
        ("LTL U U U",    "CTL* A(U U U)",         "the middle is the operator"),
        ("A -> K",       "A -> K",                "not before a bracket"),
        ("K(Alice, K)",  "K(Alice, K)",           "before and not before a bracket"),
        ("end or Agent", "end or Agent",          "words of sections"),
        ("AG Action",    "AG(Action)",            "a proposition"),
        ("LTL",          "LTL",                   "nothing follows that it could apply to"),
        ("LTL -> p",     "LTL -> p",              "nor here"),
        ("LTL LTL",      "CTL* A(LTL)",           "the second is a name"),
        ("for -> p",     "for -> p",              "no `in` follows"),
        ("F(p)",         "ispl/wrong-logic",      "before a bracket it is the operator"),
        ("true and if",  "ispl/unexpected-token", "`if` is never a name"),
    ]);
    check_conditions(&[
        ("suit = K",              "Alice.suit = K",                      "a value"),
        ("suit = A or suit <> Q", "(Alice.suit = A or Alice.suit <> Q)", "values"),
        ("X = 1",                 "Alice.X = 1",                         "a variable"),
    ]);
    for (text, reading) in [
        ("Action = X",             "Alice.Action = X"),
        ("Action = end",           "Alice.Action = end"),
        ("Action = Action",        "Alice.Action = Action"),
        ("Action <> go",           "!(Alice.Action = go)"),
        ("go = Action",            "Alice.Action = go"),
        ("Alice.Action = X and X = 1", "(Alice.Action = X and Alice.X = 1)"),
        ("Bob.Action = U",         "Bob.Action = U"),
    ] {
        let system = model("b", text, "p").unwrap_or_else(|code| panic!("{text}: {code}"));
        assert_eq!(system.expr_text(system.agents[1].evolution[0].condition), reading, "{text}");
    }
}

#[rustfmt::skip]
#[test]
fn conditions() {
    check_conditions(&[
        ("b or d and e",           "(Alice.b or (Alice.d and Alice.e))",    "`and` before `or`"),
        ("! b and d",              "(!(Alice.b) and Alice.d)",              "`!` before `and`"),
        ("! x = 1 and d",          "(!(Alice.x = 1) and Alice.d)",          "`!` after comparisons"),
        ("b and d and e",          "(Alice.b and Alice.d and Alice.e)",     "a flat chain"),
        ("b -> d -> e",            "(!(Alice.b) or !(Alice.d) or Alice.e)", "to the right"),
        ("b <-> d",                "!((Alice.b ^ Alice.d))",                "both or neither"),
        ("b = true",               "Alice.b",                               "a boolean is its own condition"),
        ("b = false or b <> true", "(!(Alice.b) or !(Alice.b))",            "its opposite"),
        ("b = d",                  "Alice.b = Alice.d",                     "booleans compared"),
        ("b & d = e",              "(Alice.b and Alice.d) = Alice.e",       "bit operators before comparisons"),
        ("b = d | e",              "Alice.b = (Alice.d or Alice.e)",        "on both sides"),
        ("b | d & e",              "(Alice.b or (Alice.d and Alice.e))",    "`&` before `|`"),
        ("b ^ d & e",              "(Alice.b ^ (Alice.d and Alice.e))",     "`&` before `^`"),
        ("b | d ^ e",              "((Alice.b or Alice.d) ^ Alice.e)",      "`|` and `^` from the left"),
        ("b ^ d | e",              "((Alice.b ^ Alice.d) or Alice.e)",      "`|` and `^` from the left"),
        ("~ b & d",                "(!(Alice.b) and Alice.d)",              "`~` is tightest"),
        ("b & x = 1",              "ispl/type-mismatch",                    "(b & x) = 1"),
        ("x + 2 * y = 3",          "(Alice.x + (Alice.y * 2)) = 3",         "`*` before `+`"),
        ("(x + 1) * y = 3",        "((Alice.x + 1) * Alice.y) = 3",         "brackets"),
        ("x - y - 1 = 0",          "(Alice.x + -(Alice.y) + -1) = 0",       "`-` from the left"),
        ("- x + y = 0",            "(-(Alice.x) + Alice.y) = 0",            "a sign is tighter than `+`"),
        ("- x * y = 0",            "(-(Alice.x) * Alice.y) = 0",            "and than `*`"),
        ("x / 2 / 2 = 1",          "((Alice.x / 2) / 2) = 1",               "`/` from the left"),
        ("x mod 2 * y = 1",        "((Alice.x mod 2) * Alice.y) = 1",       "`mod` binds like `*`"),
        ("x + y mod 2 = 1",        "(Alice.x + (Alice.y mod 2)) = 1",       "`mod` binds like `*`"),
        ("-1 mod 3 = x",           "2 = Alice.x",                           "Euclidean"),
        ("x + 1 + 2 = 3",          "(Alice.x + 3) = 3",                     "constants are added up"),
        ("2 < 1",                  "false",                                 "and compared"),
        ("x != 1",                 "Alice.x <> 1",                          "two ways to write it"),
        ("0 <= x and x >= 1 or x > y and y < 0",
            "((0 <= Alice.x and Alice.x >= 1) or (Alice.x > Alice.y and Alice.y < 0))", "all relations"),
        ("x < y < 2",   "ispl/comparison-chain", "no chains"),
        ("x",           "ispl/not-a-condition",  "a number"),
        ("K(Alice, b)", "ispl/not-a-condition",  "a formula"),
        ("AG b",        "ispl/not-a-condition",  "a formula"),
        ("b U d",       "ispl/unexpected-token", "a formula"),
    ]);
}

#[rustfmt::skip]
#[test]
fn types_and_scope() {
    check_conditions(&[
        ("c = red",                  "Alice.c = red",                 "a variable and a value"),
        ("red = c",                  "red = Alice.c",                 "or the other way round"),
        ("c = blue",                 "ispl/unknown-value",            "not one of its values"),
        ("c = f",                    "Alice.c = Alice.f",             "one set inside the other"),
        ("f <> c",                   "Alice.f <> Alice.c",            "one set inside the other"),
        ("c = suit",                 "ispl/incomparable-values",      "neither inside the other"),
        ("h = Environment.coin",     "Alice.h = Environment.coin",    "equal sets of two declarations"),
        ("c < red",                  "ispl/type-mismatch",            "no order"),
        ("c < f",                    "ispl/type-mismatch",            "no order"),
        ("b < d",                    "ispl/type-mismatch",            "no order"),
        ("b = 1",                    "ispl/type-mismatch",            "a boolean is not a number"),
        ("x = true",                 "ispl/type-mismatch",            "a number is not a boolean"),
        ("x + b = 1",                "ispl/not-a-number",             "a boolean is not a number"),
        ("heads",                    "Alice.heads",                   "a variable before a value"),
        ("h = heads",                "ispl/type-mismatch",            "also where a value is possible"),
        ("h = tails",                "Alice.h = tails",               "no such variable"),
        ("red = green",              "ispl/unknown-name",             "values of what?"),
        ("Alice.x = 1",              "Alice.x = 1",                   "its own variable, by full name"),
        ("Environment.light",        "Environment.light",             "Obsvars are for all"),
        ("Environment.coin = heads", "ispl/type-mismatch",            "heads is Alice's boolean"),
        ("Environment.coin = tails", "Environment.coin = tails",      "in Lobsvars"),
        ("Bob.z",                    "ispl/foreign-variable",         "another agent's"),
        ("Action = go",              "ispl/action-outside-evolution", "RedStates is about a state"),
        ("Carol.z",                  "ispl/unknown-agent",            "there is no Carol"),
        ("Environment.die = 1",      "ispl/unknown-variable",         "there is no die"),
        ("x / 0 = 1",                "(Alice.x / 0) = 1",             "false, with a warning"),
        ("x > 4",                    "Alice.x > 4",                   "false, with a warning"),
    ]);
    for (text, reading) in [
        ("Environment.coin = tails",       Ok("Environment.coin = tails")),
        ("Bob.Action = go",                Ok("Bob.Action = go")),
        ("Bob.z",                          Err("ispl/foreign-variable")),
        ("Bob.Action = stop",              Err("ispl/unknown-action")),
        ("Bob.Action = Alice.Action",      Err("ispl/action-alone")),
        ("Environment.Action = go",        Err("ispl/unknown-action")),
    ] {
        let read = model("b", text, "p").map(|s| s.expr_text(s.agents[1].evolution[0].condition));
        assert_eq!(read.as_deref(), reading.as_ref().copied(), "{text}");
    }
}

/// Names of sections can be names of agents, variables, actions, propositions and groups.
#[test]
fn names_of_sections_are_names() {
    let text = "
        Agent Groups
          Vars: Vars : boolean; Protocol : 0..1; end : boolean; Actions : {Groups, Agent}; end Vars
          Actions = {Evolution, end};
          Protocol: Vars : {Evolution}; Protocol = 1 : {end}; end : {end}; Other : {end}; end Protocol
          Evolution: Vars = end if Actions = Agent and Action = Evolution; end = Vars if Action = end; end Evolution
        end Agent
        Agent Agent
          Vars: end Vars Actions = {Agent}; Protocol: Other : {Agent}; end Protocol Evolution: end Evolution
        end Agent Agent Evaluation
          Vars: end Vars Actions = {Agent}; Protocol: Other : {Agent}; end Protocol Evolution: end Evolution
        end Agent
        Evaluation
          Groups if Groups.Vars; InitStates if Groups.end; Formulae if Groups.Actions = Groups;
          end if Groups.Protocol = 0; Agent if true; Evaluation if false;
        end Evaluation
        InitStates Groups.end; end InitStates
        Groups Groups = {Groups, Agent}; Formulae = {Evaluation}; end Groups
        Formulae
          Groups -> InitStates; end; Formulae or Agent; K(Agent, Agent); <Formulae> F Evaluation;
        end Formulae";
    let system = system(text).unwrap_or_else(|code| panic!("{code}"));
    let texts: Vec<_> = system.properties.iter().map(|p| system.formula_text(p.formula)).collect();
    assert_eq!(
        texts,
        ["Groups -> InitStates", "end", "Formulae or Agent", "K(Agent, Agent)", "<Formulae>F(Evaluation)"]
    );
}

#[test]
fn views() {
    let system = model("b", "true", "p").unwrap();
    assert_eq!(sees(&system, 0), ["Environment.light", "Environment.coin"]);
    let own = ["x", "y", "b", "d", "e", "c", "f", "h", "suit", "X", "heads"];
    let expected: Vec<String> = ["Environment.light".to_string(), "Environment.coin".to_string()]
        .into_iter()
        .chain(own.map(|v| format!("Alice.{v}")))
        .collect();
    assert_eq!(sees(&system, 1), expected, "her own, Obsvars and Lobsvars");
    assert_eq!(sees(&system, 2), ["Environment.light", "Bob.z"], "his own and Obsvars");
}

/// A model in the dialect of [ECAI04] and [JAL05]: a local state for each agent, the Environment last.
const PAPERS: &str = "
Agent Sender
  Lstate = {s0, s1, s0ack};
  Lgreen = {s0, s0ack};
  Action = {send, rest};
  Protocol: s0: {send}; s1: {send, rest}; s0ack: {rest}; end Protocol
  Ev: s0ack if ((Lstate=s0) and (Receiver.Action=sendack) and (Environment.Lstate=up) and (Action=send));
      s1 if Lstate=s0 and Receiver.Lstate=done and Environment.Action=drop;
  end Ev
end Agent
Agent Receiver
  Lstate = {empty, done};
  Action = {sendack, rest};
  Protocol: empty: {rest}; done: {sendack, rest}; end Protocol
  Ev: done if Lstate=empty and Sender.Action=send and Environment.Action=pass; end Ev
end Agent
Agent Environment
  Lstate = {up, down};
  Action = {pass, drop};
  Protocol: up: {pass, drop}; down: {drop}; end Protocol
  Ev: down if Action=drop; end Ev
end Agent
Evaluation
  ack if (Sender.Lstate=s0ack);
  got if Receiver.Lstate=done or (Sender.Lstate=s0ack);
end Evaluation
InitStates (Sender.Lstate=s0) and Receiver.Lstate=empty and Environment.Lstate=up; end InitStates
Groups both = {Sender, Receiver}; end Groups
Formulae
  AG(ack -> K(Sender, got));
  AG(ack -> KH(Sender, Receiver, got));
  E(both, got) -> C(both, got) or D(both, got);
  O(Sender, ack);
end Formulae
";

#[test]
fn the_dialect_of_the_papers() {
    let mut sources = Sources::default();
    let file = sources.add("papers.ispl", PAPERS).unwrap();
    let (mut tree, errors) = parse(&sources, file);
    assert_eq!((errors.len(), tree.dialect()), (0, Dialect::Papers));
    let checked = check(&sources, &mut tree, &Options::default());
    let codes: Vec<_> = checked.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["ispl/reads-local-state"], "ECAI allows what JAL does not");
    let system = checked.system.unwrap();
    let texts: Vec<_> = system.properties.iter().map(|p| system.formula_text(p.formula)).collect();
    assert_eq!(
        texts,
        [
            "AG(ack -> K(Sender, got))",
            "AG(ack -> KH(Sender, Receiver, got))",
            "GK(both, got) -> (GCK(both, got) or DK(both, got))",
            "O(Sender, ack)",
        ]
    );
    assert!(system.properties.iter().all(|p| p.at == At::Reachable), "true at every reachable state");
    let sender = &system.agents[0];
    assert_eq!(
        system.expr_text(sender.red.unwrap()),
        "!((Sender.Lstate = s0 or Sender.Lstate = s0ack))",
        "what is not green"
    );
    assert!(system.agents[1].red.is_none(), "all green by default");
    assert_eq!(sees(&system, 0), ["Sender.Lstate"], "an agent sees its own local state only");
    assert_eq!(sees(&system, 2), ["Environment.Lstate"]);
    let (target, value) = sender.evolution[0].assignments[0];
    assert_eq!((system.full_name(target), system.expr_text(value)), ("Sender.Lstate".into(), "s0ack".into()));
    assert_eq!(
        system.expr_text(sender.evolution[0].condition),
        "(Sender.Lstate = s0 and Receiver.Action = sendack and Environment.Lstate = up and Sender.Action = send)"
    );
    assert_eq!(
        system.expr_text(system.propositions[1].condition),
        "(Receiver.Lstate = done or Sender.Lstate = s0ack)"
    );
}

#[rustfmt::skip]
#[test]
fn mistakes_in_the_dialect_of_the_papers() {
    for (old, new, code, because) in [
        ("Lgreen = {s0, s0ack}",  "Lgreen = {s0, s9}",         "ispl/unknown-value",   "no local state"),
        ("s0: {send};",           "s9: {send};",               "ispl/unknown-value",   "no local state"),
        ("Ev: s0ack if",          "Ev: s9 if",                 "ispl/unknown-value",   "no local state"),
        ("Ev: down if Action",    "Ev: Lstate = down if Action", "",                   "also accepted"),
        ("Lgreen = {s0, s0ack};", "Vars: x : boolean; end Vars", "ispl/mixed-dialects", "no variables here"),
        ("Lgreen = {s0, s0ack};", "Lobsvars = {};",            "ispl/mixed-dialects",  "nor views"),
        ("Lstate = {up, down};",  "",                          "ispl/missing-section", "also for the Environment"),
        ("Environment.Lstate=up)","Environment.mood=up)",      "ispl/unknown-variable", "one variable per agent"),
    ] {
        assert_eq!(PAPERS.matches(old).count(), 1, "{old}");
        let found = system(&PAPERS.replace(old, new)).map_or_else(|code| code, |_| "");
        assert_eq!(found, code, "`{new}` for `{old}`: {because}");
    }
}
