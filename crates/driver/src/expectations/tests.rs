use crate::{Request, load_text};

use super::*;

/// An ISPL file with these lines of formulas.
fn ispl(formulas: &str) -> String {
    format!(
        "Agent A
  Vars: n : 0..3; end Vars
  Actions = {{go}};
  Protocol: Other : {{go}}; end Protocol
  Evolution: n = n + 1 if n < 3; end Evolution
end Agent
Evaluation p if A.n >= 0; q if A.n = 3; end Evaluation
InitStates A.n = 0; end InitStates
Formulae
{formulas}
end Formulae"
    )
}

/// The expectations of a text: one word per property, then numbers, codes, and the codes of errors.
fn found(name: &str, text: &str) -> String {
    let loaded = load_text(name, text, &Request::default());
    assert!(loaded.model.is_some(), "{text}\n{:?}", loaded.diagnostics);
    let found = expectations(&loaded);
    let verdict = |expected: &Option<Expectation<ExpectedVerdict>>| match expected {
        None => "-".to_string(),
        Some(Expectation { value, source, .. }) => match source {
            None => value.to_string(),
            Some(source) => format!("{value}<{source}>"),
        },
    };
    let mut words: Vec<String> = found.verdicts.iter().map(verdict).collect();
    words.extend(found.counts.iter().map(|count| format!("{}={}", count.value.quantity, count.value.number)));
    words
        .extend(found.codes.iter().map(|code| format!("{}:{}", code.value.severity.name(), code.value.code)));
    words.extend(found.diagnostics.iter().map(|diagnostic| format!("!{}", diagnostic.code)));
    words.join(" ")
}

#[rustfmt::skip]
#[test]
fn expectations_of_formulas() {
    let check = |formulas: &str, expected: &str| assert_eq!(found("a.ispl", &ispl(formulas)), expected, "{formulas}");
    // After the formula, before it, or inside it.
    check("AG p; -- expect: holds, [X §1]",                         "holds<[X §1]>");
    check("AG p;-- expect:fails",                                   "fails");
    check("AG p; ---- expect: holds",                               "holds");
    check("AG p; -- expect: unknown(no-fair-path), [us]",           "unknown(no-fair-path)<[us]>");
    check("AG p; -- expect: unknown",                               "unknown");
    check("AG p; -- expect: unknown( timeout )",                    "unknown(timeout)");
    check("AG p; -- expect: holds,",                                "holds");
    check("-- expect: holds\n  AG p;\n",                            "holds");
    check("-- expect: holds\r\n  AG p; \r\n",                       "holds");
    check("-- expect: holds\n-- in words\n\nAG p;",                 "holds");
    check("-- expect: holds\n name :\n AG p;",                      "holds");
    check("AG -- expect: holds\n p;",                               "holds");
    check("EF q; -- expect: holds\nAG p;",                          "holds -");
    check("EF q; -- expect: holds\n-- expect: fails\nAG p;",        "holds fails");
    check("EF q; AG p; -- expect: holds",                           "- holds");
    check("-- expect: holds\nEF q; AG p; -- expect: fails",         "holds fails");
    check("-- expect: holds\nEF q; AG p;",                          "holds -");
    check("EF q\n  or AG p; -- expect: holds",                      "holds");
    check("weekend :\n-- expect: fails\nEF q;",                     "fails");
    // Instances of one formula share an expectation; a formula without instances has none.
    check("for i in 1..2 { AG A.n < i; } -- expect: holds",         "holds holds");
    check("-- expect: holds\nfor i in 1..2 { AG A.n < i; }",        "holds holds");
    check("for i in 1..2 {\n-- expect: holds\nAG A.n < i; EF q; }", "holds - holds -");
    check("for i in 2..1 { AG A.n < i; -- expect: holds\n } AG p;", "-");
    check("for i in 2..1 { AG A.n < i; } -- expect: holds\nAG p;",  "-");
    // By name; a comment beside a formula is above a pattern.
    check("-- expect a: holds, [1]\n-- expect b: fails\na : AG p; b : EF q; c : p;", "holds<[1]> fails -");
    check("-- expect *: holds\na : AG p; b : EF q; -- expect: fails",           "holds fails");
    check("-- expect *: holds\n-- expect b: fails\na : AG p; b : EF q;",         "holds fails");
    check("AG p;\n-- expect 1: fails",                                          "fails");
    check("for i in 1..2 { a[i] : AG A.n < i; } -- expect a[2]: fails\n-- expect a: holds", "holds fails !test/contradiction");
    check("for i in 1..2 { for j in 1..1 { a : A.n < i; } }\n-- expect a[i=2, j=1]: fails", "- fails");
    // Numbers and diagnostics.
    check("AG p; -- expect states: 4\n-- expect transitions: 007, counted",      "- states=4 transitions=7");
    check("-- expect warning: ispl/deadlock\n-- expect note: ispl/vacuous",      "warning:ispl/deadlock note:ispl/vacuous");
    check("states : AG p; -- expect states: holds\n-- expect states: 4",         "holds states=4");
    // Prose is no expectation.
    check("AG p; -- so we expect: holds",                           "-");
    check("AG p; -- expect that it holds",                          "-");
    check("AG p; -- expect the following: holds",                   "-");
    check("AG p; -- expectations: see below",                       "-");
    check("AG p; -- explain: holds",                                "-");
}

#[rustfmt::skip]
#[test]
fn mistakes_in_expectations() {
    let check = |formulas: &str, expected: &str| assert_eq!(found("a.ispl", &ispl(formulas)), expected, "{formulas}");
    check("AG p; -- expect: hold",                       "- !test/unknown-verdict");
    check("AG p; -- expect:",                            "- !test/unknown-verdict");
    check("AG p; -- expect: , [X]",                      "- !test/unknown-verdict");
    check("AG p; -- expect: holds [X]",                  "- !test/unknown-verdict");
    check("AG p; -- expect: true",                       "- !test/unknown-verdict");
    check("AG p; -- expect: unknown (timeout)",          "- !test/unknown-verdict");
    check("AG p; -- expect: unknown(fate)",              "- !test/unknown-reason");
    check("AG p; -- expect: unknown()",                  "- !test/unknown-reason");
    check("AG p; -- expect holds",                       "- !test/bad-expectation");
    check("AG p; -- expected: holds",                    "- !test/bad-expectation");
    check("AG p; -- Expect: holds",                      "- !test/bad-expectation");
    check("AG p; -- expcet: holds",                      "- !test/bad-expectation");
    check("-- expect states: many",                      "!test/bad-expectation");
    check("-- expect states: -4",                        "!test/bad-expectation");
    check("-- expect states:",                           "!test/bad-expectation");
    check("-- expect error: ispl/no-such-code",          "!test/unknown-code");
    check("-- expect: holds",                            "!test/no-property");
    check("AG p;\n-- expect: holds",                     "- !test/no-property");
    check("a : AG p; -- expect b: holds",                "- !test/no-property");
    check("-- expect: holds\nAG p; -- expect: fails",    "holds !test/contradiction");
    check("-- expect: holds\nAG p; -- expect: holds",    "holds");
    check("AG p; -- expect: unknown\n-- expect 1: unknown(memory)", "unknown !test/contradiction");
    check("-- expect states: 4\n-- expect states: 5",    "states=4 !test/contradiction");
    check("-- expect states: 4\n-- expect states: 04",   "states=4");
    check("AG p; -- expect: holds\n-- expect error: ispl/overflow", "holds error:ispl/overflow !test/contradiction");
}

/// An expectation before the section of formulas, or in another section, belongs to no formula.
#[test]
fn expectations_far_from_formulas() {
    let text = ispl("AG p;");
    let before = text.replace("Evaluation p", "-- expect: holds\nEvaluation p");
    assert_eq!(found("a.ispl", &before), "- !test/no-property");
    let in_section = text.replace("end Agent", "-- expect: holds\nend Agent");
    assert_eq!(found("a.ispl", &in_section), "- !test/no-property");
    let before_section = text.replace("Formulae\n", "-- expect: holds\nFormulae\n");
    assert_eq!(found("a.ispl", &before_section), "holds");
}

#[rustfmt::skip]
#[test]
fn comment_signs_of_all_languages() {
    let check = |name: &str, text: &str, expected: &str| assert_eq!(found(name, text), expected, "{text}");
    let bdi = "agent a is loop p := any endloop\n";
    check("a.bdi", &format!("{bdi}property x: EF p; // expect: holds"),               "holds");
    check("a.bdi", &format!("{bdi}// expect: fails, so\nproperty x\n : AG p;"),       "fails<so>");
    check("a.bdi", &format!("{bdi}property x initially:\n EF p; /* expect: holds */"), "holds");
    check("a.bdi", &format!("{bdi}/* A story.\n * expect: holds\n */\nproperty x: EF p;"), "holds");
    check("a.bdi", &format!("{bdi}/* expect: holds */ property x: EF p;"),            "holds");
    check("a.bdi", &format!("{bdi}// expect: holds\nproperty\n  x: EF p;"),           "holds");
    check("a.bdi", &format!("// expect: holds\n{bdi}property x: EF p;"),              "- !test/no-property");
    check("a.bdi", &format!("{bdi}property x: EF p; -- expect: holds").replace("--", "//"), "holds");
    check("a.bdi", &format!("{bdi}// expect states[a]: 2\nproperty x: EF p;"),        "- states[a]=2");
    let lcc = "a(hen, H) :: null.\nagent a(hen, h).\n";
    check("a.lcc", &format!("{lcc}property x : AF final ; // expect: holds"),         "holds");
    check("a.lcc", &format!("{lcc}% expect: holds\nproperty x : AF final ;"),         "holds");
    check("a.lcc", &format!("{lcc}property x : AF final ; % expect: holds"),          "holds");
    check("a.lcc", &format!("{lcc}// expect: holds\nproperty x :\n  AF final ;"),     "holds");
    check("a.lcc", &format!("{lcc}// expect: holds\ncommon b.\nproperty x : tt ;"),   "- !test/no-property");
    check("a.lcc", &format!("{lcc}property x : tt ; property y : ff ; // expect: fails"), "- fails");
    check("a.lcc", &format!("{lcc}know h: says('// expect: holds').\nproperty x : tt ;"), "-");
    let rule = "a(hen, H) :: null <- lay.\nagent a(hen, h). choice h: lay/0.\n";
    check("a.lcc", &format!("{rule}rule h: (h, _, !lay) after #(lay). // expect: holds"), "holds");
    check("a.lcc", &format!("{rule}// expect: fails\nrule h: (h, _, !lay) after #(lay)."), "fails");
    check("a.lcc", &format!("{rule}rule h: (h, _, !lay) after #(lay). // expect obligation_*: fails"), "fails");
}

/// Properties of a transition system are in a file of their own.
#[test]
fn comments_of_property_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let model = write("a.aut", "des (0, 1, 2)\n(0, \"// expect: holds\", 1)\n");
    let text = "// expect: holds\na : tt ;\nb : /* expect: fails */ ff ; c : tt ; % expect: unknown\n// expect states: 2\n";
    let properties = write("a.mu", text);
    let loaded = crate::load(&[model, properties], &Request::default());
    let found = expectations(&loaded);
    let verdicts: Vec<String> =
        found.verdicts.iter().flatten().map(|found| found.value.to_string()).collect();
    assert_eq!(verdicts, ["holds", "fails", "unknown"], "{:?}", found.diagnostics);
    assert_eq!((found.counts.len(), found.diagnostics.len()), (1, 0));
}

/// An expectation by name in the importing file has priority over the one beside the imported property.
#[test]
fn the_importing_file_has_priority() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("wishes.mu", "a : tt ; // expect: holds\nb : tt ; // expect: holds\nc : tt ; // expect: holds\n");
    let team = "import \"wishes.mu\". a(hen, H) :: null. agent a(hen, h).\n";
    write("team.lcc", &format!("{team}// expect a: fails\n// expect states: 1\n// expect ?: unknown\n"));
    write("both.lcc", "import \"team.lcc\".\n// expect b: fails\n// expect a: holds\n// expect states: 2\n");
    let verdicts = |name: &str| {
        let found = expectations(&crate::load(&[folder.path().join(name)], &Request::default()));
        assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
        let verdicts = found.verdicts.iter().flatten().map(|found| found.value.to_string());
        format!("{} {}", verdicts.collect::<Vec<_>>().join(" "), found.counts[0].value.number)
    };
    assert_eq!(verdicts("team.lcc"), "fails unknown unknown 1");
    assert_eq!(verdicts("both.lcc"), "holds fails unknown 2");
}

#[test]
fn expected_verdicts_accept() {
    use ExpectedVerdict::{Fails, Holds, Unknown};
    let timeout = Verdict::Unknown(Why::Timeout);
    let fair = Verdict::Unknown(Why::NoFairPath);
    assert!(Holds.accepts(Verdict::Holds) && !Holds.accepts(Verdict::Fails) && !Fails.accepts(timeout));
    assert!(Unknown(None).accepts(timeout) && Unknown(Some(Why::Timeout)).accepts(timeout));
    assert!(!Unknown(Some(Why::Memory)).accepts(timeout) && !Unknown(None).accepts(Verdict::Holds));
    assert!(
        Holds.is_left_open_by(timeout)
            && !Holds.is_left_open_by(fair)
            && !Holds.is_left_open_by(Verdict::Fails)
    );
    assert!(
        !Unknown(None).is_left_open_by(timeout) && Unknown(Some(Why::NoFairPath)).is_left_open_by(timeout)
    );
}

/// A random file in one of three languages, and the expectations that its author has in mind, as [`found`] writes them.
fn random_file(random: &mut fastrand::Rng) -> (&'static str, String, String) {
    let language = random.usize(0..3);
    let name = ["a.ispl", "a.bdi", "a.lcc"][language];
    let signs: &[(&str, &str)] = [
        &[("--", ""), ("----", "")][..],
        &[("//", ""), ("/*", "*/")],
        &[("//", ""), ("%", ""), ("/*", "*/")],
    ][language];
    let (mut text, mut words, mut named) = (String::new(), Vec::new(), Vec::new());
    for _ in 0..random.usize(1..7) {
        let verdict = ["holds", "fails", "unknown", "unknown(no-model)"][random.usize(0..4)];
        let source = ["", ", [X: §1, 2]", ", -- // so"][random.usize(0..3)];
        let word = match source {
            "" => verdict.to_string(),
            source => format!("{verdict}<{}>", &source[2..]),
        };
        let (sign, end) = signs[random.usize(0..signs.len())];
        let comment = format!("{sign} expect: {verdict}{source} {end}").trim_end().to_string();
        let prose = format!("{sign} we expect: much {end}").trim_end().to_string();
        let (kind, colon) = (random.usize(0..7), [":", " :", " : "][random.usize(0..3)]);
        let mut formula = |gap: &str| {
            named.push(format!("n{}", named.len()));
            let name = named.last().unwrap();
            match language {
                0 => format!("{name}{colon} AG{gap} p;"),
                1 => format!("property {name}{colon} EF{gap} p;"),
                _ => format!("property {name}{colon} AG{gap} !deadlock ;"),
            }
        };
        let none = "-".to_string();
        match kind {
            0 => {
                text += &format!("{}\n", formula(""));
                words.push(none);
            }
            1 => {
                text += &format!("  {}  {comment}\n{prose}\n", formula(""));
                words.push(word);
            }
            2 => {
                text += &format!("{comment}\n{prose}\n\n  {}\n", formula(""));
                words.push(word);
            }
            3 => {
                text += &format!("{} {} {comment}\n", formula(""), formula(""));
                words.extend([none, word]);
            }
            4 => {
                text += &format!("\t{comment}\r\n{} {}\n", formula(""), formula(""));
                words.extend([word, none]);
            }
            5 => {
                text += &format!("{}\n", formula(&format!(" {comment}\n ")));
                words.push(word);
            }
            _ => {
                let formula = formula("");
                let by_name = comment.replace("expect:", &format!("expect n{}:", words.len()));
                text += &format!("{by_name}\n{formula}\n");
                words.push(word);
            }
        }
    }
    if random.bool() {
        let (sign, end) = signs[random.usize(0..signs.len())];
        text += &format!("{sign} expect states: 0{} {end}\n", random.u8(1..9));
        words.push(format!(
            "states={}",
            text.trim_end().trim_end_matches("*/").trim().chars().last().unwrap()
        ));
    }
    let text = match language {
        0 => ispl(&text),
        1 => format!("agent a is loop p := any endloop\n{text}"),
        _ => format!("a(hen, H) :: null.\nagent a(hen, h).\n{text}"),
    };
    (name, text, words.join(" "))
}

/// What is read is what was written, in several hundred files.
#[test]
fn random_files_are_read_as_meant() {
    for seed in 0..400 {
        let (name, text, expected) = random_file(&mut fastrand::Rng::with_seed(seed));
        assert_eq!(found(name, &text), expected, "{seed}\n{text}");
    }
}

/// No text makes the reader panic, however damaged; expectations point into the text.
#[test]
fn damaged_files_are_read() {
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (name, text, _) = random_file(&mut random);
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(0..=characters.len());
            match random.usize(0..4) {
                0 => drop(characters.drain(at..characters.len().min(at + 1))),
                1 => characters
                    .insert(at, ['\n', '/', '*', '-', 'é', ';', ':', '\'', '[', '%'][random.usize(0..10)]),
                2 => characters.truncate(at),
                _ => drop(characters.splice(at..at, "// expect n[: \u{301}\n expect x".chars())),
            }
        }
        let text: String = characters.into_iter().collect();
        let loaded = load_text(name, &text, &Request::default());
        let found = expectations(&loaded);
        let spans = found.verdicts.iter().flatten().map(|found| found.span);
        for span in
            spans.chain(found.diagnostics.iter().filter_map(|found| Some(found.primary.as_ref()?.span)))
        {
            assert!(loaded.sources.slice(span).len() <= text.len(), "{seed}");
        }
    }
}
