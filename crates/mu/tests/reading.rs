//! Parsing and printing of formulas, also of very long, deeply nested and random texts.

use fastrand::Rng;
use masque_mu::{NESTING_LIMIT, parse_formula, parse_properties};
use masque_text::{Diagnostic, Sources, render};

/// Parses a formula and prints it; returns the first message if there are errors.
fn printed(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("formula", text).unwrap();
    match parse_formula(&sources, sources.span(file)) {
        (Some(phi), _) => phi.to_string(),
        (None, diagnostics) => diagnostics[0].message.clone(),
    }
}

/// Other languages begin a property with a keyword; a file of mu-calculus properties does not.
#[test]
fn a_keyword_before_the_name_is_explained() {
    let help = |text: &str| {
        let mut sources = Sources::default();
        let file = sources.add("f.mu", text).unwrap();
        parse_properties(&sources, sources.span(file)).1[0].help.clone()
    };
    let expected = "a property begins with its name, without a keyword: `name : formula ;`";
    assert_eq!(help("property p : tt;").as_deref(), Some(expected));
    assert_eq!(help("p q : tt;"), None);
}

#[rustfmt::skip]
#[test]
fn formulas_are_read_by_precedence() {
    let table = [
        // written                                    printed
        ("a && b || c -> d",                          "a && b || c -> d"),
        ("(a && (b || c))",                           "a && (b || c)"),
        ("(a -> b) -> c",                             "(a -> b) -> c"),
        ("a -> (b -> c)",                             "a -> (b -> c)"),
        ("a -> b -> c",                               "a -> b -> c"),
        ("!a && b",                                   "!a && b"),
        ("!(a && b)",                                 "!(a && b)"),
        ("<a>p && q",                                 "<a>p && q"),
        ("<a>(p && q)",                               "<a>(p && q)"),
        ("mu X. p || <->X",                           "mu X. p || <->X"),
        ("p || mu X. q && [-]X || r",                 "p || (mu X. q && [-]X || r)"),
        ("(mu X. <a>X) && p",                         "(mu X. <a>X) && p"),
        ("[a]mu X. <a>X && p",                        "[a](mu X. <a>X && p)"),
        ("AG EF final",                               "AG EF final"),
        ("AG p -> q",                                 "AG p -> q"),
        ("AG !deadlock and not p or ~q",              "AG !deadlock && !p || !q"),
        ("true /\\ false \\/ tt",                     "tt && ff || tt"),
        ("¬p ∧ μX. νY. ≤",                            "`≤` is not part of the language"),
        ("νZ. [−]Z ∧ (μY. ⟨−⟩tt ∧ [−in(m)]Y)",        "nu Z. [-]Z && (mu Y. <->tt && [-in(m)]Y)"),
        ("⟨−* . {a, b}⟩tt ∨ 〈a〉ff",                    "<-* . {a, b}>tt || <a>ff"),
        ("μX. <a>X ∨ ¬p → νY.[b]Y",                   "mu X. <a>X || !p -> (nu Y. [b]Y)"),
        ("<->tt->tt",                                 "<->tt -> tt"),
        ("<-*.in(x)>tt",                              "<-* . in(x)>tt"),
        ("<(-in(x))* . in(y)>tt",                     "<-in(x)* . in(y)>tt"),
        ("[(a|b).c+|(d.e)*]ff",                       "[(a | b) . c+ | (d . e)*]ff"),
        ("<a*+*>tt",                                  "<a*>tt"),
        ("<-{a,-b,{c}}>tt",                           "<-{a, -b, {c}}>tt"),
        ("<--a>tt",                                   "<--a>tt"),
        ("<-(a)>tt",                                  "<-a>tt"),
        ("inev({in(ok), in(quit)})",                  "inev({in(ok), in(quit)})"),
        ("resp(out(pay(_)),{in(a),in(b)})",           "resp(out(pay(_)), {in(a), in(b)})"),
        ("<#(query(HD,-,-))>tt",                      "<#(query(HD,-,-))>tt"),
        ("<# . #(not p(_))@w . #>tt",                 "<# . #(not p(_))@w . #>tt"),
        ("<in(f([a,b|T], \"x)\"), a(r(_),_))@a(b,c)>tt", "<in(f([a,b|T], \"x)\"), a(r(_),_))@a(b,c)>tt"),
        ("at(c, second) && done(c) && idle('X.509')", "at(c, second) && done(c) && idle('X.509')"),
        ("<'any text' | \"SEND !1\">tt",              "<'any text' | \"SEND !1\">tt"),
        ("p /* why */ && // because\n q % so",        "p && q"),
        ("p;",                                        "p"),
    ];
    for (text, expected) in table {
        assert_eq!(printed(text), expected, "{text}");
    }
}

/// The published properties of the travel agency are parsed and printed unchanged.
#[test]
fn published_properties_are_read() {
    for text in [
        "nu Z. [-]Z && [out(vacation_details(_,_,_), a(travel_agent(_,_,_),_))]\
         ((mu Y. <->tt && [in(available_flights(_), a(travel_agent(_,_,_),_))]Y) && \
         (mu X. <->tt && [in(available_hotels(_), a(travel_agent(_,_,_),_))]X))",
        "mu Z. <#(query(HD,-,-))>tt || <->tt && [-]Z",
        "inev({in(confirm_booking(_,_)), in(quit)})",
        "AG EF final",
        "nu X. mu Y. <out(payment(_))>X || <-out(payment(_))>Y",
        "[-* . #(encrypt(des))]ff",
        "[-in(available_hotels(_))* . out(payment(_))]ff",
        "resp(out(payment(_)), {in(confirm_booking(_,_)), in(fail_payment(_,_))})",
        "<-* . in(tell(p(a)))@p1>tt",
        "inev(in(excuse, a(worker, w))@b)",
        "<-* . #(not skilled(w))@w>tt",
        "EF at(c, second)",
        "EF <#(read(file))>tt",
        "AF done(c)",
    ] {
        assert_eq!(printed(text), text);
    }
}

#[rustfmt::skip]
#[test]
fn each_error_gets_one_message() {
    let table = [
        ("",                   "expected a formula, found the end of the text"),
        ("p &&",               "expected a formula, found the end of the text"),
        ("p q",                "expected the end of the formula, found `q`"),
        ("<a||b>tt",           "expected `>`, found `||`"),
        ("<a p",               "expected `>`, found `p`"),
        ("[a)p",               "expected `]`, found `)`"),
        ("<>p",                "expected an action pattern, found `>`"),
        ("<{}>p",              "expected an action pattern, found `}`"),
        ("<a**b>p",            "expected `>`, found `b`"),
        ("<-(a|b)>p",          "expected `)`: only a single pattern has a complement, found `|`"),
        ("in(f(x]",            "expected `)`, found `]`"),
        ("<in(x>p",            "expected `)`, found the end of the text"),
        ("<in(x)@>p",          "expected who acts, as in `out(ask)@c1`, found `>`"),
        ("mu X p",             "expected `.` after the variable, found `p`"),
        ("mu x. p",            "`x` cannot be a variable"),
        ("mu AG. p",           "`AG` cannot be a variable"),
        ("inev p",             "expected `(` after `inev`, found `p`"),
        ("inev(a.b)",          "expected `)`, found `.`"),
        ("resp(a)",            "expected `,` and what must follow, as in `resp(ask, answer)`, found `)`"),
        ("p = q",              "`=` is not part of the language"),
    ];
    for (text, expected) in table {
        assert_eq!(printed(text), expected, "{text}");
        let mut sources = Sources::default();
        let file = sources.add("formula", text).unwrap();
        assert_eq!(parse_formula(&sources, sources.span(file)).1.len(), 1, "{text}");
    }
}

#[test]
fn an_error_does_not_affect_other_properties() {
    let text = "one : AG p;\ntwo : <a>;\nthree : p q\nfour : tt;\nfive : [a;\n: ff;\nsix : ff;";
    let mut sources = Sources::default();
    let file = sources.add("file", text).unwrap();
    let (properties, diagnostics) = parse_properties(&sources, sources.span(file));
    let names: Vec<&str> = properties.iter().map(|p| p.name.text.as_str()).collect();
    assert_eq!(names, ["one", "four", "six"]);
    assert_eq!(diagnostics.len(), 4);
}

#[test]
fn printing_and_reading_again_changes_nothing() {
    for seed in 0..3000 {
        let mut random = Rng::with_seed(seed);
        let text = if seed % 2 == 0 {
            crate::support::formula(&mut random)
        } else {
            crate::support::alternating(&mut random)
        };
        let once = printed(&text);
        assert_eq!(printed(&once), once, "seed {seed}: {text}");
        // The printed formula resolves to the same nodes.
        let mut graph = crate::support::graph(&mut random, 3, false);
        let (written, again) =
            (crate::support::read(&text, &mut graph).1, crate::support::read(&once, &mut graph).1);
        assert_eq!(written.nodes(), again.nodes(), "seed {seed}: {text}");
    }
}

#[test]
fn long_chains_are_accepted_and_deep_nesting_is_an_error() {
    let n = 20_000;
    for (text, is_good) in [
        (vec!["p"; n].join(" && "), true),
        (vec!["p"; n].join(" -> "), true),
        (format!("<{}>tt", vec!["a*"; n].join(" . ")), true),
        (format!("<{}>tt", vec!["a"; n].join(" | ")), true),
        (format!("<in({}x{})>tt", "f(".repeat(n), ")".repeat(n)), true),
        ("(".repeat(n), false),
        ("<".to_string() + &"(".repeat(n), false),
        ("<a>".repeat(n) + "p", false),
        ("<".to_string() + &"-".repeat(n) + "a>p", false),
        ("mu X. ".repeat(n) + "X", false),
        ("!".repeat(NESTING_LIMIT as usize - 1) + "p", true),
    ] {
        let mut sources = Sources::default();
        let file = sources.add("formula", text.as_str()).unwrap();
        let (phi, diagnostics) = parse_formula(&sources, sources.span(file));
        let start: String = text.chars().take(20).collect();
        match phi {
            Some(phi) => {
                assert!(is_good, "{start}");
                let mut graph = crate::support::graph(&mut Rng::with_seed(0), 3, false);
                masque_mu::resolve(&phi, &mut graph).0.expect("no errors");
            }
            None => {
                assert!(!is_good, "{start}: {diagnostics:?}");
                assert_eq!(diagnostics[0].code, "mu/too-deep", "{start}");
            }
        }
    }
}

/// Random sequences of tokens give diagnostics that can be rendered, and no panic.
#[test]
fn nothing_panics() {
    let pieces = [
        "mu", "nu", "X", "Y", ".", "<", ">", "[", "]", "(", ")", "{", "}", "-", "->", "&&", "||", "|", "*",
        "+", "!", "AG", "EF", "inev", "resp", ",", ";", ":", "p", "in(x)", "#", "@", "'", "\"", "é", "tt",
        "deadlock", "/*", "//", "\n", "μ", "1", "\u{0}",
    ];
    let mut n_errors = 0;
    for seed in 0..20_000 {
        let mut random = Rng::with_seed(seed);
        let text: Vec<&str> =
            (0..random.usize(0..25)).map(|_| pieces[random.usize(0..pieces.len())]).collect();
        let text = text.join(if random.bool() { " " } else { "" });
        let mut sources = Sources::default();
        let file = sources.add("file", text.as_str()).unwrap();
        let mut graph = crate::support::graph(&mut random, 3, false);
        let (_, mut diagnostics) = masque_mu::read_formula(&sources, sources.span(file), &mut graph);
        diagnostics.extend(masque_mu::read_properties(&sources, sources.span(file), &mut graph).1);
        diagnostics.extend(masque_mu::read_aut(&sources, sources.span(file)).1);
        n_errors += diagnostics.iter().filter(|d| Diagnostic::is_error(d)).count();
        for diagnostic in diagnostics.iter().take(2) {
            render(&sources, diagnostic, false);
        }
    }
    assert!(n_errors > 20_000);
}
