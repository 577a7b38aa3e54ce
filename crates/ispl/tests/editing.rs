//! Operators, signatures, coloured words and completions, on good and on half-typed files.

use masque_ispl::{OPERATORS, completions, highlights, names, operator_at, signature};
use masque_text::{FileId, HighlightKind, NameIndex, NameKind, NoFiles, Sources};

const MODEL: &str = "Agent A Vars: x : 0..3; end Vars Actions = {go}; -- über
Protocol: x = 1 : {go}; Other : {go}; end Protocol Evolution: x = 2 if Action = go; end Evolution end Agent
Evaluation p if A.x > 1; end Evaluation InitStates A.x = 0; end InitStates Groups g = {A}; end Groups
Formulae AG (p -> K(A, KH(A, g, p and !p))); GCK({A, A}, p) or mu Z. p or EX Z; end Formulae
";

fn index(text: &str) -> (Sources, FileId, NameIndex) {
    let mut sources = Sources::default();
    let file = sources.add("test.ispl", text).unwrap();
    let index = names(&mut sources, file, &NoFiles);
    (sources, file, index)
}

fn place(text: &str) -> u32 {
    MODEL.find(text).unwrap() as u32
}

#[test]
fn each_operator_has_one_entry_with_its_parameters() {
    for (position, operator) in OPERATORS.iter().enumerate() {
        assert!(!OPERATORS[..position].iter().any(|other| other.word == operator.word), "{}", operator.word);
        assert!(operator.form.contains(operator.word), "{}", operator.form);
        assert!(operator.meaning.ends_with('.') && !operator.meaning.contains('\n'), "{}", operator.meaning);
        let mut rest = operator.form;
        for parameter in operator.parameters {
            let at = rest.find(parameter).unwrap_or_else(|| panic!("{parameter} in {}", operator.form));
            rest = &rest[at + parameter.len()..];
        }
    }
}

#[test]
fn operators_are_found_where_no_name_stands() {
    let (sources, _, index) = index(MODEL);
    let word = |at: u32| operator_at(&index, &sources, at).map(|operator| operator.word);
    assert_eq!(word(place("AG (p")), Some("AG"));
    assert_eq!(word(place("G (p")), Some("AG"), "in the middle of the word");
    assert_eq!(word(place("-> K")), Some("->"));
    assert_eq!(word(place("KH(")), Some("KH"));
    assert_eq!(word(place("mu Z")), Some("mu"));
    assert_eq!(word(place("p -> K")), None);
    assert_eq!(word(place("über")), None);
}

#[test]
fn a_signature_knows_the_parameter() {
    let (sources, ..) = index(MODEL);
    let at = |at: u32| signature(&sources, at).map(|call| (call.operator.word, call.parameter));
    assert_eq!(at(place("A, KH(")), Some(("K", 0)));
    assert_eq!(at(place("KH(A")), Some(("K", 1)));
    assert_eq!(at(place("p and !p")), Some(("KH", 2)));
    assert_eq!(at(place("A}, p) or")), Some(("GCK", 0)));
    assert_eq!(at(place(", p) or") + 2), Some(("GCK", 1)));
    assert_eq!(at(place("mu Z")), None);
    assert_eq!(at(place("x : 0..3")), None);
}

#[test]
fn words_have_their_colours() {
    let (sources, file, index) = index(MODEL);
    let found = highlights(&index, &sources, file);
    assert!(found.is_sorted_by_key(|one| one.span));
    assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start), "no overlaps");
    let kind =
        |at: u32| found.iter().find(|one| one.span.start == at).map(|one| (one.kind, one.is_declaration));
    assert_eq!(kind(0), Some((HighlightKind::Keyword, false)));
    assert_eq!(kind(place("x : 0")), Some((HighlightKind::Name(NameKind::Variable), true)));
    assert_eq!(kind(place("x = 2")), Some((HighlightKind::Name(NameKind::Variable), false)));
    assert_eq!(kind(place("3; end")), Some((HighlightKind::Number, false)));
    assert_eq!(kind(place("-- über")), Some((HighlightKind::Comment, false)));
    assert_eq!(kind(place("AG (p")), Some((HighlightKind::Operator, false)));
    assert_eq!(kind(place("go}; --")), Some((HighlightKind::Name(NameKind::Action), true)));
}

#[test]
fn every_position_of_every_prefix_has_an_answer() {
    for end in (0..=MODEL.len()).filter(|end| MODEL.is_char_boundary(*end)) {
        let (sources, file, index) = index(&MODEL[..end]);
        highlights(&index, &sources, file);
        for position in [0, end as u32 / 2, end as u32] {
            completions(&index, &sources, position);
            operator_at(&index, &sources, position);
            signature(&sources, position);
        }
    }
}
