//! The index of names: every use has the name of its declaration, renaming a property or a variable leaves the
//! formulas as they were, and a syntax error hides no names of other properties.

use std::path::Path;

use fastrand::Rng;
use masque_mu::{names, parse_properties};
use masque_testkit::{files_below, seeds};
use masque_text::{NameIndex, NameKind, NoFiles, Sources};

/// A name that no file contains, in the form of a variable.
const FRESH: &str = "Zqfresh";

const FILE: &str = "safe : AG !deadlock ; // the first
loop : nu X. (mu Y. <go . (stop | go)*>X || [-go]Y) && <tau>X ;
nested : mu X. <go>X || (nu X. [stop]X && <go>(X)) || [-]X ;
asks : [out(ask(_), a(seller, _))@c1] inev(in(offer(P), a(buyer(_), _))) && !lit ;
rule : <#(price(_))>tt -> resp(in(ask(_)), {go, 'a label'}) && AG at(c1, seller) ;
";

fn index(text: &str) -> (Sources, NameIndex) {
    let mut sources = Sources::default();
    let file = sources.add("test.mu", text).unwrap();
    let index = names(&mut sources, file, &NoFiles);
    for name in &index.uses {
        assert_eq!(sources.slice(name.span), index.declaration(*name).name);
    }
    for (place, declaration) in index.declarations.iter().enumerate() {
        assert_eq!(index.at(declaration.span.start).map(|name| name.declaration), Some(place as u32));
    }
    (sources, index)
}

fn formulas(text: &str) -> (Vec<String>, usize) {
    let mut sources = Sources::default();
    let file = sources.add("test.mu", text).unwrap();
    let (properties, diagnostics) = parse_properties(&sources, sources.span(file));
    (properties.iter().map(|one| format!("{} : {}", one.name.text, one.phi)).collect(), diagnostics.len())
}

fn check_renaming(text: &str) {
    let (_, found) = index(text);
    let before = formulas(text);
    for (place, declaration) in found.declarations.iter().enumerate() {
        let mut renamed = text.to_string();
        for span in found.uses_of(place as u32).collect::<Vec<_>>().into_iter().rev() {
            renamed.replace_range(span.start as usize..span.end as usize, FRESH);
        }
        let (after, n_errors) = formulas(&renamed);
        let back: Vec<String> = after.iter().map(|text| text.replace(FRESH, &declaration.name)).collect();
        assert_eq!((back, n_errors), before, "{declaration:?}");
    }
}

#[test]
fn names_have_their_kinds_and_scopes() {
    let (_, found) = index(FILE);
    let uses = |kind: NameKind, name: &str| -> Vec<usize> {
        let all = found.declarations.iter().enumerate();
        let matching = all.filter(|(_, one)| one.kind == kind && one.name == name);
        matching.map(|(place, _)| found.uses_of(place as u32).count()).collect()
    };
    assert_eq!(uses(NameKind::Property, "loop"), [1]);
    assert_eq!(uses(NameKind::Fixpoint, "X"), [3, 3, 3]);
    assert_eq!(uses(NameKind::Fixpoint, "Y"), [2]);
    assert_eq!(uses(NameKind::Action, "go"), [6]);
    assert_eq!(uses(NameKind::Action, "stop"), [2]);
    assert_eq!(uses(NameKind::Action, "'a label'"), [1]);
    assert_eq!(uses(NameKind::Action, "tau"), [0; 0]);
    assert_eq!(uses(NameKind::Message, "ask"), [2]);
    assert_eq!(uses(NameKind::Message, "offer"), [1]);
    assert_eq!(uses(NameKind::Role, "seller"), [2]);
    assert_eq!(uses(NameKind::Role, "buyer"), [1]);
    assert_eq!(uses(NameKind::Predicate, "price"), [1]);
    assert_eq!(uses(NameKind::Proposition, "lit"), [1]);
    assert_eq!(found.sections.len(), 5);
}

#[test]
fn renaming_leaves_the_formulas() {
    check_renaming(FILE);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    for path in files_below(&root, &["mu"]) {
        check_renaming(&std::fs::read_to_string(path).unwrap());
    }
}

#[test]
fn a_broken_property_hides_no_other_names() {
    for (at, _) in FILE.char_indices() {
        let end = FILE[at..].find([';', '\n']).map_or(FILE.len(), |end| at + end);
        let line = FILE[..at].rfind('\n').map_or(0, |start| start + 1);
        if FILE[line..at].contains("//") {
            continue;
        }
        let (_, found) = index(&format!("{}{}", &FILE[..at], &FILE[end..]));
        for (name, start) in FILE.lines().map(|line| (line.split_once(' ').unwrap().0, line.as_ptr())) {
            let start = start as usize - FILE.as_ptr() as usize;
            if start != line {
                let is_found =
                    |one: &masque_text::Declaration| one.kind == NameKind::Property && one.name == name;
                assert!(found.declarations.iter().any(is_found), "{name} after a cut at {at}");
            }
        }
    }
}

#[test]
fn random_deletions_do_not_panic() {
    for seed in seeds("0..500") {
        let (mut text, mut rng) = (FILE.to_string(), Rng::with_seed(seed));
        for _ in 0..rng.usize(1..5) {
            let from = rng.usize(..text.len());
            let to = (from + rng.usize(1..30)).min(text.len());
            let insert = ["", "(", ")", ">", ";", "mu X.", "ü"][rng.usize(..7)];
            text.replace_range(text.floor_char_boundary(from)..text.ceil_char_boundary(to), insert);
        }
        index(&text);
    }
}
