//! The text of `--split`: variables, families and formulas, and what is wrong with others.

use masque_ispl::{Options, SplitClasses, check, parse, parse_split};
use masque_model::System;
use masque_text::Sources;

const MODEL: &str = "
    param N = 3;
    Agent Crypt[i in 1..N]
      Vars: payer : boolean; coin[j in 0..1] : boolean; see : {none, same}; end Vars
      Actions = {go}; Protocol: Other : {go}; end Protocol
      Evolution: payer = true if Action = go; end Evolution
    end Agent
    Agent Host
      Vars: x : 0..9; end Vars
      Actions = {go}; Protocol: Other : {go}; end Protocol
      Evolution: x = 1 if Action = go; end Evolution
    end Agent
    Evaluation paid[i in 1..N] if Crypt[i].payer; end Evaluation
    InitStates true; end InitStates
    Formulae AG paid[1]; end Formulae";

/// Reads a text of `--split`. Returns the classes, or the codes and messages of the errors.
fn read(text: &str) -> Result<(System, SplitClasses), Vec<String>> {
    let mut sources = Sources::default();
    let file = sources.add("dc.ispl", MODEL).unwrap();
    let (mut tree, errors) = parse(&sources, file);
    assert!(errors.is_empty());
    let split = sources.add("<--split>", text).unwrap();
    let mut found = parse_split(&sources, split, &mut tree);
    if found.is_empty() {
        let checked = check(&sources, &mut tree, &Options::default());
        if let Some(system) = checked.system {
            return Ok((system, checked.split));
        }
        found = checked.diagnostics.into_iter().filter(|d| d.is_error()).collect();
    }
    let in_option = |d: &masque_text::Diagnostic| {
        d.primary.as_ref().is_some_and(|p| sources.file_of(p.span) == sources.file_of(sources.span(split)))
    };
    assert!(found.iter().all(in_option), "{text}: {found:?}");
    let help = |d: &masque_text::Diagnostic| d.help.clone().unwrap_or_default();
    Err(found.iter().map(|d| format!("{}: {} / {}", d.code, d.message, help(d))).collect())
}

#[rustfmt::skip]
#[test]
fn variables_and_formulas() {
    let check = |text: &str, variables: &str, formulas: &[&str]| {
        let (system, classes) = read(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        let names: Vec<String> = classes.variables.iter().map(|&v| system.full_name(v)).collect();
        assert_eq!(names.join(" "), variables, "{text}");
        let texts: Vec<String> = classes.formulas.iter().map(|&f| system.expr_text(f)).collect();
        assert_eq!(texts, formulas, "{text}");
    };
    let payers = "Crypt[1].payer Crypt[2].payer Crypt[3].payer";
    check("",                                     "",                                          &[]);
    check(" , ;",                                 "",                                          &[]);
    check("Host.x",                               "Host.x",                                    &[]);
    check("Crypt[2].payer,Host.x; Crypt[2].payer", "Crypt[2].payer Host.x",                    &[]);
    check("Crypt[*].payer",                       payers,                                      &[]);
    check("Crypt[1..3].payer",                    payers,                                      &[]);
    check("Crypt[1..N].payer",                    payers,                                      &[]);
    check("Crypt[i in 1..N].payer",               payers,                                      &[]);
    check("Crypt[i in 1..N where i <> 2].payer",  "Crypt[1].payer Crypt[3].payer",             &[]);
    check("Crypt[N - 1..N].payer",                "Crypt[2].payer Crypt[3].payer",             &[]);
    check("Crypt[2].coin[*]",                     "Crypt[2].coin[0] Crypt[2].coin[1]",         &[]);
    check("Crypt[i in 1..2].coin[2 - i]",         "Crypt[1].coin[1] Crypt[2].coin[0]",         &[]);
    check("Host.x = 1; Host.x = 2",               "",                                          &["Host.x = 1", "Host.x = 2"]);
    check("paid[1]",                              "",                                          &["Crypt[1].payer"]);
    check("Host.x > 3 and paid[2], Crypt[1].see", "Crypt[1].see",                              &["(Host.x > 3 and Crypt[2].payer)"]);
    check("exists(i in 1..2 : paid[i])",          "",                                          &["(Crypt[1].payer or Crypt[2].payer)"]);
}

#[rustfmt::skip]
#[test]
fn what_is_wrong() {
    let check = |text: &str, code: &str, words: &str| {
        let Err(errors) = read(text) else { panic!("{text} is accepted") };
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert!(errors[0].starts_with(code) && errors[0].contains(words), "{text}: {}", errors[0]);
    };
    check("Crypt[1].paier",          "cli/unknown-variable",   "did you mean `Crypt[1].payer`?");
    check("Crypt[*].paier",          "cli/unknown-variable",   "did you mean `Crypt[*].payer`?");
    check("Crypt[1..9].payer",       "cli/unknown-variable",   "no variable `Crypt[1..9].payer` has the index 4");
    check("Crypt[7..9].payer",       "cli/unknown-variable",   "no variable has an index in this range");
    check("Crypt.payer",             "cli/unknown-variable",   "there is no variable `Crypt.payer`");
    check("Crypt[*]",                "ispl/unexpected-token",  "`.` and a variable of this agent");
    check("Crypt[1..M].payer",       "ispl/not-constant",      "`M` is not a parameter");
    check("Crypt[N in 1..2].payer",  "ispl/duplicate-index",   "`N` is already a parameter");
    check("Crypt[1].paier or true",  "ispl/unknown-variable",  "did you mean `payer`?");
    check("payed[1]",                "ispl/unknown-name",      "there is no proposition or variable `payed[1]`");
    check("Host.x + 1",              "ispl/",                  "");
    check("Host.x = 1 Host.x = 2",   "ispl/unexpected-token",  "an operator, `;` or the end");
    check("K(Host, Host.x = 1)",     "ispl/not-a-condition",   "`K`");
    check("Crypt[1..",               "ispl/unexpected-token",  "");
    check("Crypt[",                  "ispl/unexpected-token",  "");
    check("Host.",                   "ispl/unexpected-token",  "");
}
