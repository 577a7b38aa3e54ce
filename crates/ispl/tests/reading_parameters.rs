//! How parameterised models are checked: parameters, loops, arrays, families.

use masque_model::System;

use crate::support::{sees, system};

/// A model with parameters, arrays and families.
const SIZED: &str = "
param N = 3;
param M = 2 * N;
Semantics = SA;
Agent Environment
  Vars:
    coin[i in 1..N] : {head, tail};
    cell[i in 1..2, j in 0..i] : 0..i + j;
    for i in 1..N where i <> 2 { odd[i] : boolean; }
    total : 0..M;
  end Vars
  Evolution:
    for i in 1..N { coin[i] = coin[next(i, N)] if Crypt[i].Action = say[i]; }
    total = sum(i in 2..N : cell[1, 1] * i) mod 2 if true;
  end Evolution
end Agent
Agent Crypt[i in 1..N]
  Lobsvars = {coin[i], coin[prev(i, N)], cell[j in 1..2, 1]};
  Vars: t : 0..i; end Vars
  Actions = {say[j in 1..N], hush};
  Protocol:
    for j in 1..N where j <> i { t = min(j, i) : {say[j], hush}; }
    Other : {say[j in 1..N]};
  end Protocol
  Evolution: t = max(i - 1, 0) if Action = say[i]; end Evolution
end Agent
Evaluation
  for i in 1..N { paid[i] if Crypt[i].t = 1; }
  same[i in 1..N, j in i..N] if Crypt[i].t = Crypt[j].t;
  all if forall(i in 1..N : Crypt[i].t = i);
end Evaluation
InitStates CONDITION; end InitStates
Groups all = {Crypt[i in 1..N]}; rest[i in 1..N] = {Crypt[j in 1..N where j <> i]}; end Groups
Formulae FORMULA; end Formulae
";

fn sized(condition: &str, formula: &str) -> Result<System, &'static str> {
    let text = SIZED.replace("CONDITION", condition);
    // A loop does not end with a semicolon.
    let end = if formula.ends_with('}') { "FORMULA;" } else { "FORMULA" };
    system(&text.replace(end, formula))
}

#[rustfmt::skip]
#[test]
fn formulas_with_indexes() {
    for (formula, readings, because) in [
        ("for i in 1..N { EF paid[i]; }",        &["EF(paid[1])", "EF(paid[2])", "EF(paid[3])"][..], "one for each"),
        ("for i in 2..1 { EF paid[i]; } AG all", &["AG(all)"],                    "an empty range has no instances"),
        ("for i in 1..N where i mod 2 = 1 { EF paid[i]; }", &["EF(paid[1])", "EF(paid[3])"], "where"),
        ("for i in 1..2 { for j in i..2 { EF same[i, j]; } }", &["EF(same[1,1])", "EF(same[1,2])", "EF(same[2,2])"], "loops in loops"),
        ("EF paid[N - 1]",                       &["EF(paid[2])"],                "an index is computed"),
        ("EF paid[next(N, N)]",                  &["EF(paid[1])"],                "after the last comes the first"),
        ("EF paid[prev(1, N)]",                  &["EF(paid[3])"],                "before the first comes the last"),
        ("EF paid[next(1, N)]",                  &["EF(paid[2])"],                "otherwise the next"),
        ("EF paid[-1 mod N]",                    &["EF(paid[2])"],                "Euclidean"),
        ("EF paid[min(5, 2, 3)]",                &["EF(paid[2])"],                "min of many"),
        ("AG forall(i in 1..N : paid[i])",       &["AG(paid[1] and paid[2] and paid[3])"], "forall is `and`"),
        ("AG exists(i in 1..2 : paid[i])",       &["AG(paid[1] or paid[2])"],     "exists is `or`"),
        ("AG forall(i in 1..0 : paid[i])",       &["AG(true)"],                   "true for an empty range"),
        ("AG exists(i in 1..0 : paid[i])",       &["AG(false)"],                  "false for an empty range"),
        ("for i in 1..1 { AG exists(j in 1..N : j <> i and paid[j]); }", &["AG(paid[2] or paid[3])"], "conditions on indexes are decided"),
        ("for i in 1..1 { AG exists(j in 1..N where j <> i : paid[j]); }", &["AG(paid[2] or paid[3])"], "or expressed with where"),
        ("AG count(i in 1..N : paid[i]) = 1",    &["AG(count(Crypt[1].t = 1, Crypt[2].t = 1, Crypt[3].t = 1) = 1)"], "count of propositions"),
        ("AG sum(i in 1..2 : Crypt[i].t) < M",   &["AG((Crypt[1].t + Crypt[2].t) < 6)"], "sum of variables"),
        ("AG sum(i in 1..0 : Crypt[i].t) = 0",   &["AG(true)"],                   "an empty sum is 0"),
        ("K(Crypt[2], paid[1])",                 &["K(Crypt[2], paid[1])"],       "a member of a family"),
        ("for i in 1..2 { K(Crypt[i], paid[i]); }", &["K(Crypt[1], paid[1])", "K(Crypt[2], paid[2])"], "each of them"),
        ("GK(all, all)",                         &["GK(all, all)"],               "a group and a proposition of one name"),
        ("DK({Crypt[i in 2..N]}, all)",          &["DK({Crypt[2], Crypt[3]}, all)"], "a family in braces"),
        ("<rest[1]> F all",                      &["<rest[1]>F(all)"],            "a family of groups"),
        ("<Crypt[1], uniform> X all",            &["<Crypt[1], uniform>X(all)"],  "a member as a group"),
        ("LTL G forall(i in 1..2 : F paid[i])",  &["CTL* A(G(F(paid[1]) and F(paid[2])))"], "path formulas too"),
        ("CTL* exists(i in 1..2 : F paid[i])",   &["ispl/not-a-state-formula"],   "no path quantifier"),
        ("w[1] : EF all",                        &["EF(all)"],                    "with a name"),
        ("paid[4]",                              &["ispl/index-out-of-range"],    "only three"),
        ("paid[0]",                              &["ispl/index-out-of-range"],    "from 1"),
        ("paid",                                 &["ispl/wrong-index-count"],     "the index is missing"),
        ("paid[1, 1]",                           &["ispl/index-out-of-range"],    "one index"),
        ("paid[1 mod 0]",                        &["ispl/bad-index"],             "no remainder"),
        ("paid[i]",                              &["ispl/not-constant"],          "what is i?"),
        ("i = 1",                                &["ispl/unknown-name"],          "what is i?"),
        ("N",                                    &["ispl/not-a-formula"],         "a number"),
        ("N = 3",                                &["true"],                       "decided at once"),
        ("for N in 1..2 { all; }",               &["ispl/duplicate-index"],       "N is a parameter"),
    ] {
        let read: Vec<String> = match sized("true", formula) {
            Ok(system) => system.properties.iter().map(|p| system.formula_text(p.formula)).collect(),
            Err(code) => vec![code.to_string()],
        };
        assert_eq!(read, readings, "`{formula}`: {because}");
    }
    let names = |formula| -> Vec<String> {
        sized("true", formula).unwrap().properties.iter().map(|p| p.name.clone()).collect()
    };
    assert_eq!(names("EF all; w : EF all; for i in 1..2 { w[i] : EF paid[i]; }"), ["1", "w", "w[1]", "w[2]"]);
}

#[rustfmt::skip]
#[test]
fn conditions_with_indexes() {
    for (condition, reading, because) in [
        ("Environment.coin[2] = head",                                 "Environment.coin[2] = head",                "an element"),
        ("Environment.cell[2, 0] = 1",                                 "Environment.cell[2,0] = 1",                 "of a table"),
        ("Environment.cell[1, 2] = 1",                                 "ispl/index-out-of-range",                   "with rows of different lengths"),
        ("Environment.odd[3]",                                         "Environment.odd[3]",                        "declared in a loop"),
        ("Environment.odd[2]",                                         "ispl/index-out-of-range",                   "where excludes it"),
        ("Environment.coin = head",                                    "ispl/wrong-index-count",                    "which coin?"),
        ("Environment.coin[1][2] = head",                              "ispl/unexpected-token",                     "written [1, 2]"),
        ("Crypt[N].t = N",                                             "Crypt[3].t = 3",                            "parameters are numbers"),
        ("Crypt[4].t = 0",                                             "ispl/index-out-of-range",                   "only three"),
        ("Crypt.t = 0",                                                "ispl/wrong-index-count",                    "the index is missing"),
        ("forall(i in 1..2 : Crypt[i].t = i)",                         "(Crypt[1].t = 1 and Crypt[2].t = 2)",       "for each"),
        ("exists(i in 1..2 : Crypt[i].t > i - 1)",                     "(Crypt[1].t > 0 or Crypt[2].t > 1)",        "for some"),
        ("exists(i in 1..N where i > 1 and !(i = 3) : Crypt[i].t = 0)", "Crypt[2].t = 0",                            "conditions on indexes"),
        ("forall(i in 1..0 : false)",                                  "true",                                      "true for an empty range"),
        ("count(i in 1..2 : Crypt[i].t = 0) > 1",                      "count(Crypt[1].t = 0, Crypt[2].t = 0) > 1",     "how many"),
        ("count(i in 1..0 : true) = 0",                                "true",                                      "none"),
        ("sum(i in 2..3 : i * Crypt[i].t) = 3",                        "((Crypt[2].t * 2) + (Crypt[3].t * 3)) = 3", "weighted; constants come last"),
        ("sum(i in 2..3 : sum(j in 1..2 : Crypt[j].t * i)) = 3",
            "(((Crypt[1].t * 2) + (Crypt[2].t * 2)) + ((Crypt[1].t * 3) + (Crypt[2].t * 3))) = 3", "sums in sums"),
        ("Crypt[1].t = -1 mod N",                         "Crypt[1].t = 2",    "Euclidean"),
        ("Environment.coin[Crypt[1].t] = head",           "ispl/not-constant", "an index does not change"),
        ("forall(i in 1..Crypt[1].t : true)",             "ispl/not-constant", "nor does a range"),
        ("exists(i in 1..2 where Crypt[1].t = 1 : true)", "ispl/not-constant", "nor does where"),
        ("min(Crypt[1].t, 2) = 1",                        "ispl/not-constant", "min is for indexes"),
    ] {
        let read = sized(condition, "all").map(|s| s.expr_text(s.initial));
        assert_eq!(read.as_deref().unwrap_or_else(|code| code), reading, "`{condition}`: {because}");
    }
}

#[test]
fn families_and_arrays() {
    let system = sized("true", "all").unwrap();
    let variables: Vec<_> = system.variable_ids().map(|v| system.full_name(v)).collect();
    assert_eq!(
        variables,
        [
            "Environment.coin[1]",
            "Environment.coin[2]",
            "Environment.coin[3]",
            "Environment.cell[1,0]",
            "Environment.cell[1,1]",
            "Environment.cell[2,0]",
            "Environment.cell[2,1]",
            "Environment.cell[2,2]",
            "Environment.odd[1]",
            "Environment.odd[3]",
            "Environment.total",
            "Crypt[1].t",
            "Crypt[2].t",
            "Crypt[3].t",
        ]
    );
    let size = |name: &str| system.variables[variables.iter().position(|v| v == name).unwrap()].domain.size();
    assert_eq!((size("Environment.cell[2,1]"), size("Environment.total"), size("Crypt[3].t")), (4, 7, 4));
    let names: Vec<_> = system.agents.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["Environment", "Crypt[1]", "Crypt[2]", "Crypt[3]"]);
    assert_eq!(
        sees(&system, 1),
        [
            "Environment.coin[1]",
            "Environment.coin[3]",
            "Environment.cell[1,1]",
            "Environment.cell[2,1]",
            "Crypt[1].t"
        ],
        "its own coin and that of its neighbour"
    );
    let lines: Vec<_> = system.agents[0]
        .evolution
        .iter()
        .map(|line| {
            let (variable, value) = line.assignments[0];
            let (value, condition) = (system.expr_text(value), system.expr_text(line.condition));
            format!("{} = {value} if {condition}", system.full_name(variable))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "Environment.coin[1] = Environment.coin[2] if Crypt[1].Action = say[1]",
            "Environment.coin[2] = Environment.coin[3] if Crypt[2].Action = say[2]",
            "Environment.coin[3] = Environment.coin[1] if Crypt[3].Action = say[3]",
            "Environment.total = (((Environment.cell[1,1] * 2) + (Environment.cell[1,1] * 3)) mod 2) if true",
        ]
    );
    let masque_model::Protocol::Lines { lines, other } = &system.agents[2].protocol else { panic!() };
    let conditions: Vec<_> = lines.iter().map(|line| system.expr_text(line.condition)).collect();
    assert_eq!(conditions, ["Crypt[2].t = 1", "Crypt[2].t = 2"], "j = 1 and j = 3");
    assert_eq!((lines[1].actions.len(), other.as_ref().unwrap().len()), (2, 3), "say[3] and hush; say[1..3]");
    let groups: Vec<_> = system.groups.iter().map(|g| (g.name.as_str(), g.agents.len())).collect();
    assert_eq!(groups, [("all", 3), ("rest[1]", 2), ("rest[2]", 2), ("rest[3]", 2)]);
}
