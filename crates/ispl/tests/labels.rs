//! Names of properties: all different, except for instances of one formula in a loop.

use masque_ispl::{Options, check, parse, parse_property};
use masque_testkit::FORMULA_MODEL;
use masque_text::{Diagnostic, Sources};

/// Returns name, title and index values of each property, or the codes of the errors.
fn titles(formulas: &str, properties: &[&str]) -> Result<Vec<String>, Vec<&'static str>> {
    let mut sources = Sources::default();
    let text = FORMULA_MODEL.replace("Formulae end", &format!("Formulae {formulas} end"));
    let file = sources.add("test.ispl", text).unwrap();
    let (mut tree, mut found) = parse(&sources, file);
    for property in properties {
        let file = sources.add("<--property>", *property).unwrap();
        found.extend(parse_property(&sources, file, &mut tree));
    }
    let checked = check(&sources, &mut tree, &Options::default());
    found.extend(checked.diagnostics);
    found.retain(Diagnostic::is_error);
    let codes: Vec<&'static str> = found.iter().map(|diagnostic| diagnostic.code).collect();
    let system = checked.system.ok_or(codes)?;
    let shown = system.properties.iter().map(|property| {
        let index: Vec<String> =
            property.index.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {} {}", property.name, property.title, index.join(",")).trim_end().to_string()
    });
    Ok(shown.collect())
}

#[rustfmt::skip]
#[test]
fn names_and_titles() {
    let table: [(&str, &[&str], &[&str], &str); 7] = [
        ("p; s : q; p;",                                &[],        &["1 1", "s s", "3 3"],                                 "a number or a label"),
        ("s : q;",                                      &["p", "t : p"], &["s s", "2 2", "t t"],                            "given by --property"),
        ("for i in 1..2 { s : at[i]; }",                &[],        &["s s[i=1] i=1", "s s[i=2] i=2"],                      "a shared label"),
        ("for i in 1..2 { s[i] : at[i]; }",             &[],        &["s[1] s[1] i=1", "s[2] s[2] i=2"],                    "a label with an index"),
        ("for i in 1..2 { at[i]; }",                    &[],        &["1 1 i=1", "2 2 i=2"],                                "without a label"),
        ("for i in 1..1 { s : at[i]; }",                &[],        &["s s i=1"],                                           "a single instance"),
        ("for i in 1..1 { for j in 1..2 { s[i] : at[j]; } }", &[],  &["s[1] s[1][i=1,j=1] i=1,j=1", "s[1] s[1][i=1,j=2] i=1,j=2"], "two loops"),
    ];
    for (formulas, properties, expected, because) in table {
        assert_eq!(titles(formulas, properties).unwrap(), expected, "{because}");
    }
}

#[rustfmt::skip]
#[test]
fn two_formulas_with_one_name_are_an_error() {
    let table: [(&str, &[&str], &str); 5] = [
        ("s : p; s : q;",                               &[],        "in a file"),
        ("s : p; s : p;",                               &[],        "even if the formula is the same"),
        ("s : p;",                                      &["s : q"], "given by --property"),
        ("s[2] : p; for i in 1..2 { s[i] : q; }",       &[],        "with an instance of a loop"),
        ("for i in 1..2 { s : p; s : q; }",             &[],        "inside a loop"),
    ];
    for (formulas, properties, because) in table {
        assert_eq!(titles(formulas, properties), Err(vec!["ispl/duplicate-label"]), "{because}");
    }
}
