//! Scopes, declarations and sections in small files. `tests/name_index.rs` has the shipped models.

use masque_text::{NameIndex, NameKind, NoFiles, Sources};

use super::names;

fn index(text: &str) -> NameIndex {
    let mut sources = Sources::default();
    let file = sources.add("test.lcc", text).unwrap();
    names(&mut sources, file, &NoFiles)
}

/// Returns kind, location of the declaration and number of uses of the name at the nth occurrence of a word.
fn at(text: &str, word: &str, nth: usize) -> Option<(NameKind, usize, usize)> {
    let index = index(text);
    let position = text.match_indices(word).nth(nth).unwrap().0;
    let found = index.uses.iter().find(|name| name.span.start as usize == position)?;
    let declaration = index.declaration(*found);
    Some((declaration.kind, declaration.span.start as usize, index.uses_of(found.declaration).count()))
}

const TEXT: &str = "agent a(buyer, ben). agent a(seller(5), sue).
    a(buyer, B) :: offer(P) => a(seller(_), S) <- price(P) then (ok <= a(seller(_), S) or deal(ben) <= a(_, S)).
    a(seller(M), S) :: offer(P) <= a(buyer, B) then ok => a(buyer, B) <- P >= M and 'fair deal'(P, cash).
    know ben: price(X) <- X = 5 or listed(X, ben). common 'fair deal'(_, cash). common listed(5, ben).
    rule sue: (self, B, +send(ok)) <- client(B). know sue: client(ben).
    rule sue: (self, _, !send(ok)) after in(offer(_))@sue.
    property done : nu Z. (AF (done(ben) && at(sue, seller(_))) || mu Z. <out(offer(P), a(seller(_), sue))@ben>Z) && Z ;
    choice sue: mood/0.";

#[test]
fn names_have_their_kind_and_declaration() {
    use NameKind::{Agent, Fixpoint, Index, Message, Predicate, Property, Role, Value};
    let position = |word: &str, nth: usize| TEXT.match_indices(word).nth(nth).unwrap().0;
    // The clause declares a role, not the team before it.
    assert_eq!(at(TEXT, "buyer", 0), Some((Role, position("buyer", 1), 4)));
    assert_eq!(at(TEXT, "seller", 2), Some((Role, position("a(seller(M)", 0) + 2, 6)));
    // An agent as an argument is that agent.
    assert_eq!(at(TEXT, "ben", 0), Some((Agent, position("ben", 0), 8)));
    assert_eq!(at(TEXT, "sue", 1).unwrap().0, Agent);
    assert_eq!(at(TEXT, "offer", 3), Some((Message, position("offer", 0), 4)));
    assert_eq!(at(TEXT, "ok", 2).unwrap().0, Message);
    assert_eq!(at(TEXT, "price", 0), Some((Predicate, position("price", 1), 2)));
    // Quotes are not part of a name.
    assert_eq!(at(TEXT, "fair deal", 0), Some((Predicate, position("fair deal", 1), 2)));
    assert_eq!(at(TEXT, "cash", 1), Some((Value, position("cash", 0), 2)));
    assert_eq!(at(TEXT, "mood", 0).unwrap().0, Predicate);
    assert_eq!(at(TEXT, "done", 0).unwrap().0, Property);
    // Variables belong to their statement, and to one pattern of a formula.
    assert_eq!(at(TEXT, "P)", 0), Some((Index, position("P)", 0), 2)));
    assert_eq!(at(TEXT, "P)", 2), Some((Index, position("P)", 2), 3)));
    assert_eq!(at(TEXT, "P), a(seller(_), sue))", 0).unwrap().2, 1);
    // The inner fixpoint shadows the outer one.
    assert_eq!(at(TEXT, "Z", 0), Some((Fixpoint, position("Z", 0), 2)));
    assert_eq!(at(TEXT, "Z", 2), Some((Fixpoint, position("Z", 1), 2)));
    // `self`, keywords and numbers are no names.
    for (word, nth) in [("self", 0), ("send", 0), ("5", 0), ("agent", 0), ("done", 1), ("in(", 0)] {
        assert_eq!(at(TEXT, word, nth), None, "{word}");
    }
}

#[test]
fn what_an_editor_shows() {
    let index = index(TEXT);
    let shown = |name: &str, kind: NameKind| {
        let found = index.declarations.iter().find(|one| one.name == name && one.kind == kind).unwrap();
        format!("{} | {}", found.text, found.details.join(" | "))
    };
    assert_eq!(
        shown("seller", NameKind::Role),
        "a(seller(M), S) | a role with one clause | number of arguments: 1 | agents that start in it: sue"
    );
    assert_eq!(
        shown("ben", NameKind::Agent),
        "agent a(buyer, ben). | an agent that starts in role buyer | number of its facts: 1"
    );
    assert_eq!(
        shown("offer", NameKind::Message),
        "offer(P) => a(seller(_), S) | number of arguments: 1 | sent in role buyer | received in role seller"
    );
    assert_eq!(
        shown("client", NameKind::Predicate),
        "know sue: client(ben). | number of arguments: 1 | number of facts: 1, known to sue"
    );
    let variable = index.declarations.iter().find(|one| one.name == "M").unwrap();
    let parent = &index.declarations[variable.parent.unwrap() as usize];
    assert_eq!((parent.name.as_str(), parent.kind), ("seller", NameKind::Role));
}

#[test]
fn sections_cover_half_typed_statements() {
    let text = "agent a(buyer, ben).\na(buyer, B) :: offer( then\nknow ben: pri\ncommon q.\nproperty p : AG [\n\
                a(seller, S) :: null.\nnow a(seller, S) :: {a(seller, S) :: null}.\nenforced by hd:\n(A, _, +q).";
    let index = index(text);
    let sections: Vec<(&str, &str)> = index
        .sections
        .iter()
        .map(|section| (section.heading, &text[section.span.start as usize..section.span.end as usize]))
        .collect();
    assert_eq!(
        sections,
        [
            ("agent", "agent a(buyer, ben)."),
            ("clause", "a(buyer, B) :: offer( then"),
            ("know", "know ben: pri"),
            ("common", "common q."),
            ("property", "property p : AG ["),
            ("clause", "a(seller, S) :: null."),
            ("now", "now a(seller, S) :: {a(seller, S) :: null}."),
            ("enforced", "enforced by hd:\n(A, _, +q)."),
        ]
    );
    // The statements after the broken ones have their names.
    assert!(index.declarations.iter().any(|one| one.name == "seller" && one.kind == NameKind::Role));
    assert!(index.declarations.iter().any(|one| one.name == "q"));
}
