//! The formatter: snapshots of a few files, and what must hold for every file.

use std::fs;
use std::path::Path;

use crate::support::{formats_well, formatted};
use fastrand::Rng;
use masque_ispl::NESTING_LIMIT;
use masque_ispl::testing::pieces;
use masque_testkit::{
    FORMULA_MODEL, files_below, random_formulas, random_model, random_old_model, random_parameterised_model,
};

/// The files of `tests/inputs`, laid out as badly as their authors could.
#[test]
fn snapshots() {
    for name in ["parameterised", "papers", "operators", "long", "comments", "generated"] {
        let path = format!("{}/tests/inputs/{name}.ispl", env!("CARGO_MANIFEST_DIR"));
        let text = formats_well(&fs::read_to_string(path).unwrap());
        insta::assert_snapshot!(name, text);
    }
}

/// What the layout of small texts is, one rule each.
#[rustfmt::skip]
#[test]
fn rules() {
    let check = |text: &str, expected: &str| assert_eq!(formats_well(text), expected);
    check("", "");
    check("  \r\n\t\n", "");
    check("\n\n--x \r\n\r\n\r\n--y", "--x\n\n--y\n");
    check("param N=3;param M;\r\n\r\n\r\nparam P=-N*2;", "param N = 3;\nparam M;\n\nparam P = -N * 2;\n");
    check("Semantics=SA;Groups end Groups", "Semantics = SA;\n\nGroups\nend Groups\n");
    check("Groups\n\n g={};\n\n\n h={a};\n\nend Groups\nSemantics=SA;",
          "Groups\n  g = {};\n\n  h = {a};\nend Groups\n\nSemantics = SA;\n");
    // A comment keeps its line; one that goes on below another keeps its column.
    check("param N; -- a\n         -- b\n    -- c\nparam M;", "param N; -- a\n         -- b\n-- c\nparam M;\n");
    check("param N\n--a\n;", "param N\n  --a\n  ;\n");
    // The blank line between sections goes where its author would have put it.
    check("Groups end Groups\n--a\nFairness end Fairness", "Groups\nend Groups\n\n--a\nFairness\nend Fairness\n");
    check("Groups end Groups\n--a\n\nFairness end Fairness", "Groups\nend Groups\n--a\n\nFairness\nend Fairness\n");
    // Two signs are not to become a comment.
    check("param N=- - 1-(-1)- -1;", "param N = - -1 - (-1) - -1;\n");
    check("Evaluation for i in 0..N- -1{p[i] if x;}end Evaluation",
          "Evaluation\n  for i in 0..N- -1 {\n    p[i] if x;\n  }\nend Evaluation\n");
}

#[test]
fn the_gallery() {
    let models = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models"), &["ispl"]);
    assert!(models.len() >= 10);
    for path in models {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("-- expect error: ispl/unexpected-token") {
            continue; // Only a text without syntax errors can be formatted.
        }
        let text = formats_well(&text);
        // Comments are not broken.
        let is_short = |line: &str| line.split("--").next().unwrap_or("").trim_end().len() <= 100;
        assert!(text.lines().all(is_short), "a long line in {}", path.display());
    }
}

#[test]
fn random_models() {
    for seed in 0..300 {
        for text in [random_model(seed), random_old_model(seed), random_parameterised_model(seed)] {
            let mut rng = Rng::with_seed(seed);
            formats_well(&text);
            formats_well(&respaced(&text, &mut rng, true));
            // Without comments and blank lines the tokens alone decide.
            let first = formatted(&respaced(&text, &mut rng, false));
            assert_eq!(first, formatted(&respaced(&text, &mut rng, false)));
        }
    }
}

/// Formulas of all logics, and as few blanks between their tokens as can be.
#[test]
fn random_formulas_keep_their_tokens() {
    for seed in 0..100 {
        let formulas = random_formulas(seed, 20).join(";\n");
        let text = FORMULA_MODEL.replace("Formulae end", &format!("Formulae {formulas}; end"));
        let mut rng = Rng::with_seed(seed);
        formats_well(&text);
        assert_eq!(formatted(&text), formatted(&respaced(&formatted(&text), &mut rng, false)));
    }
}

/// The tokens of a text with other white space between them, and with other comments or none.
fn respaced(text: &str, rng: &mut Rng, with_comments: bool) -> String {
    let spaces = [" ", "\n", "  \t", " \r\n "];
    let comments = ["-- beside\n", "\n-- below\n\n", "\n\n\n--é\n", "-- two\n  -- lines\n", "--\n"];
    let mut result = String::new();
    for piece in pieces(text).into_iter().filter(|piece| !piece.starts_with("--")) {
        result.push_str(piece);
        result.push_str(spaces[rng.usize(..spaces.len())]);
        if with_comments && rng.u8(..) < 20 {
            result.push_str(comments[rng.usize(..comments.len())]);
        }
    }
    result
}

/// Nesting at its limit: neither the stack nor the indentation grows out of bounds.
#[test]
fn deep_nesting() {
    let n = NESTING_LIMIT as usize / 2 - 1;
    let cases = [
        format!("{}p{}", "AG(".repeat(n), ")".repeat(n)),
        format!("{}p{}", "!(q and ".repeat(n), ")".repeat(n)),
        format!("{}p{}", "K(a, q -> ".repeat(n), ")".repeat(n)),
        format!("{}p{}", "E(p and q or r U ".repeat(n), ")".repeat(n)),
        format!("{}p", "!AG ".repeat(n)),
        format!("{}p{}", "(".repeat(2 * n), " or q)".repeat(2 * n)),
    ];
    for formula in cases {
        let text = formats_well(&format!("Formulae {formula}; end Formulae"));
        let longest = text.lines().map(str::len).max();
        assert!(longest <= Some(100), "{longest:?}\n{text}");
    }
    let loops = format!("Evaluation {}p if q;{} end Evaluation", "for i in 1..2 { ".repeat(n), "}".repeat(n));
    formats_well(&loops);
}

/// Long chains and lists are filled: the number of lines is in proportion to the text.
#[test]
fn long_chains() {
    let names: Vec<String> = (0..20_000).map(|i| format!("name{i}")).collect();
    for (before, separator, after) in [
        ("Groups g = {", ", ", "}; end Groups"),
        ("InitStates ", " and ", "; end InitStates"),
        ("InitStates x = ", " + ", "; end InitStates"),
        ("Evaluation p if !(", " or ", "); end Evaluation"),
        ("Formulae K({", ",", "}, p); end Formulae"),
        ("param N = min(", ",", ");"),
    ] {
        let text = format!("{before}{}{after}", names.join(separator));
        let lines: Vec<usize> = formats_well(&text).lines().map(str::len).collect();
        assert!(lines.len() < text.len() / 75, "{} lines", lines.len());
        assert!(lines.iter().all(|&length| length <= 100));
    }
}

/// Syntax errors come back as they are; warnings are no reason not to format.
#[test]
fn errors_and_warnings() {
    let (sources, file) =
        crate::support::ISPL.source("Groups g = {a; end Groups\nFormulae LTL !p U q; end Formulae");
    let errors = masque_ispl::format(&sources, file).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].code, "ispl/unexpected-token");
    formats_well("Formulae LTL !p U q; end Formulae");
}
