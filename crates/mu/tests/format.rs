//! The formatter of property files changes white space and signs only, and formatting twice changes
//! nothing.

use fastrand::Rng;
use masque_mu::{format, parse_properties};
use masque_testkit::{LanguageUnderTest, without_white_space};
use masque_text::Sources;

const MU: LanguageUnderTest = LanguageUnderTest { prefix: "mu/", format };

fn formatted(text: &str) -> String {
    MU.formatted(text)
}

/// The properties of a text, as they are read.
fn read(text: &str) -> Vec<(String, String)> {
    let mut sources = Sources::default();
    let file = sources.add("x.mu", text).unwrap();
    let (properties, diagnostics) = parse_properties(&sources, sources.span(file));
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    properties.iter().map(|property| (property.name.text.clone(), property.phi.to_string())).collect()
}

#[track_caller]
fn check(text: &str) {
    MU.formats_well(text, |text| (without_white_space(text), read(text)));
}

/// A file of random properties, with random white space, blank lines and comments.
fn file(random: &mut Rng) -> String {
    let mut text = String::new();
    for name in 0..random.usize(1..6) {
        let formula =
            if random.bool() { crate::support::formula(random) } else { crate::support::alternating(random) };
        for _ in 0..random.usize(0..3) {
            text += ["\n", "\n\n\n", "// one line\n", "/* two\n   lines */\n", "% a 'quote\n"]
                [random.usize(0..5)];
        }
        text += &format!("p{name} :{formula} && {} ", crate::support::formula(random));
        if random.u8(0..5) == 0 {
            let at = text.rfind(' ').unwrap();
            text.insert_str(at, [" // in it \n ", " /* in it */ "][random.usize(0..2)]);
        }
        text += [";", ";\n", " ; // behind it\n", ";/* and\n more */", ";\n\n\n"][random.usize(0..5)];
        // Any blank may be a line's end.
        if random.bool() {
            text = text.replace(" && ", "\n   && ");
        }
    }
    text
}

#[test]
fn random_files_keep_their_meaning() {
    for seed in 0..3_000 {
        check(&file(&mut Rng::with_seed(seed)));
    }
}

#[test]
fn random_trees_keep_their_tokens() {
    for seed in 0..300 {
        let mut maker = crate::support::trees::Maker { random: Rng::with_seed(seed) };
        let properties = (0..5).map(|n| format!("p{n} : {} ;\n", maker.phi(5)));
        check(&properties.collect::<String>());
    }
}

#[rustfmt::skip]
#[test]
fn layout() {
    let table = [
        // written                                formatted
        ("p:tt;",                                 "p : tt ;\n"),
        ("p:a∧b∨¬c→d;",                           "p : a && b || !c -> d ;\n"),
        ("p:a and b or not c->~d;",               "p : a and b or not c -> !d ;\n"),
        ("p:μX.νY.(<a>X)||[-]Y;",                 "p : mu X. nu Y. (<a>X) || [-]Y ;\n"),
        ("p:< - * .  a|(b . c) + >tt->tt;",       "p : <-* . a | (b . c)+>tt -> tt ;\n"),
        ("p:<- ( a ) >tt;",                       "p : <-(a)>tt ;\n"),
        ("p:<-{a,-b , {c}}>tt;",                  "p : <-{a, -b, {c}}>tt ;\n"),
        ("p:inev ( { in(a), b } );",              "p : inev({in(a), b}) ;\n"),
        ("p:resp(-(a),b)||AG EF final;",          "p : resp(-(a), b) || AG EF final ;\n"),
        ("p:<in(f(  1,\n  2))@a(b,\n\n c)>at(x,  y);",
                                                  "p : <in(f(  1, 2))@a(b, c)>at(x,  y) ;\n"),
        ("1:tt;2 : ff ;\n\n\n\n3:tt;",            "1 : tt ;\n2 : ff ;\n\n3 : tt ;\n"),
        ("// a\n\n\n// b\np:tt;//c\n//d",         "// a\n\n// b\np : tt ;  //c\n//d\n"),
        ("/* a */p:tt;/*b*/q:tt;",                "/* a */ p : tt ;  /*b*/\nq : tt ;\n"),
        ("p  :  tt // it is   \n  && /* so */ tt;",
                                                  "p  :  tt // it is\n  && /* so */ tt;\n"),
    ];
    for (text, expected) in table {
        assert_eq!(formatted(text), expected, "{text}");
        assert_eq!(formatted(expected), expected, "{text}: again");
    }
}

#[test]
fn long_lines_break() {
    let travel = include_str!("../../../models/lcc/travel.mu");
    check(travel);
    let chain = (0..30).map(|n| format!("at(agent_{n}, waiting)")).collect::<Vec<_>>();
    let long = format!(
        "chain:{};\na_name_of_some_length:AG({}->AF<{}>tt);",
        chain[..6].join("||"),
        chain[..5].join("&&"),
        chain[..7].join("|")
    );
    check(&long);
    insta::assert_snapshot!("long_lines", formatted(travel) + "----\n" + &formatted(&long));
}

/// Formulas of the greatest depth, and of a great length.
#[test]
fn extremes() {
    let n = 120;
    check(&format!("p : {}tt{} ;", "(tt && <a>".repeat(n), ")".repeat(n)));
    check(&format!("p : {}tt ;", "mu X. ".repeat(200)));
    check(&format!("p : tt{} ;", " && <a>tt".repeat(20_000)));
}
