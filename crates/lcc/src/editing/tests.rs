//! Completion in half-typed files: a text is typed behind some statements.

use masque_text::{NoFiles, Sources};

use super::{OPERATORS, completions, keywords};

const OTHERS: &str = "
a(buyer(Item), B) ::
  ask(Item) => a(seller, S) then
  ( price(Item, P) <= a(seller, S) then pay(P) => a(seller, S) <- rich(P)
    or
    null <- bored ).
a(seller, S) ::
  ask(Item) <= a(buyer(_), B) then price(Item, 3) => a(buyer(_), B) <- stock(Item, 3).
agent a(buyer(tea), bob).
agent a(seller, sue).
know sue: stock(tea, 3).
common rich(3).
choice bob: bored/0.
rule sue: (A, _, +pay(X)) <- trusted(A).
property paid : EF done(bob) ;
";

/// The completions at the end of a text behind other statements.
fn offered(typed: &str) -> Vec<String> {
    let text = format!("{OTHERS}{typed}");
    let position = text.len() as u32;
    let mut sources = Sources::default();
    let file = sources.add("half.lcc", format!("{text}\nagent a(seller, sam).\n")).unwrap();
    let index = crate::names(&mut sources, file, &NoFiles);
    completions(&index, &sources, position).into_iter().map(|one| one.text).collect()
}

#[track_caller]
fn check(typed: &str, wanted: &[&str], unwanted: &[&str]) {
    let found = offered(typed);
    for word in wanted {
        assert!(found.iter().any(|one| one == word), "{word} is missing after {typed:?}: {found:?}");
    }
    for word in unwanted {
        assert!(!found.iter().any(|one| one == word), "{word} is offered after {typed:?}: {found:?}");
    }
}

const AGENT: &str = "a(${1:role}, ${2:Id})";

#[test]
fn statements_and_the_team() {
    check("", &["agent", "know", "property", "rule"], &["then", "ask", "sue"]);
    check("pro", &["property"], &["then", "ask"]);
    check("agent ", &[AGENT], &["sue", "know"]);
    check("agent a(", &["seller", "buyer"], &["sue", "ask"]);
    check("agent a(seller, ", &["sue", "bob"], &["seller", "ask"]);
    check("agent a(buyer(", &["tea", "sue"], &["seller", "ask"]);
    check("know ", &["sue", "bob"], &["stock", "seller"]);
    check("know sue: ", &["stock", "rich", "trusted"], &["sue", "ask"]);
    check("know sue: stock(", &["tea"], &["rich", "ask"]);
    check("know sue: stock(X, 3) <- ", &["rich", "not", "X"], &["ask", "then"]);
    check("know sue: stock(X, 3) <- rich(X) ", &["and", "or"], &["then", "rich"]);
    check("common ", &["rich", "stock"], &["sue", "ask"]);
    check("choice ", &["bob", "bored"], &["ask"]);
    check("choice bob: ", &["bored"], &["bob"]);
    check("option ", &["comm", "cap"], &["sync", "agent"]);
    check("option comm = ", &["sync", "mailbox"], &["comm", "lcc"]);
    check("mail ", &[AGENT], &["ask"]);
    check("mail a(seller, sue) -> ", &[AGENT], &["ask"]);
    check("mail a(seller, sue) -> a(buyer(tea), bob): ", &["ask", "price"], &["sue"]);
    check("r(", &["seller", "buyer"], &["initial"]);
    check("r(seller, ", &["initial", "optional"], &["seller"]);
    check("// a comment about ", &[], &["agent"]);
    check("/* a comment\n about ", &[], &["agent"]);
}

#[test]
fn processes_and_constraints() {
    check("a(", &["seller", "buyer"], &["ask", "sue"]);
    check("a(broker, B) :: ", &["ask", "null", AGENT], &["rich", "then", "agent"]);
    check("a(broker, B) :: as", &["ask"], &["rich", "then"]);
    check("a(broker, B) :: ask(X) ", &["then"], &["sue", "ask"]);
    check("a(broker, B) :: ask(", &["tea", "B"], &["ask", "seller"]);
    check("a(broker, B) :: ask(X) => ", &[AGENT], &["seller", "ask"]);
    check("a(broker, B) :: ask(X) => a(", &["seller", "buyer"], &["ask", "sue"]);
    check("a(broker, B) :: ask(X) => a(seller, ", &["sue", "B", "X"], &["seller"]);
    check("a(broker, B) :: ask(X) => a(seller, S) ", &["then", "par", "or"], &["and", "ask"]);
    check("a(broker, B) :: ask(X) => a(seller, S) then ", &["ask", "price", "null"], &["then", "rich"]);
    check("a(broker, B) :: (ask(X) => a(seller, S) or ", &["ask", "null"], &["then", "rich"]);
    check("a(broker, B) :: ( ", &["ask", "null"], &["then", "rich"]);
    check("a(broker, B) :: null <- ", &["rich", "stock", "not"], &["ask", "null"]);
    check("a(broker, B) :: null <- not ", &["rich"], &["ask", "null"]);
    check("a(broker, B) :: null <- (", &["rich"], &["ask", "null"]);
    check("a(broker, B) :: null <- rich(3) ", &["and", "then"], &["rich", "ask"]);
    check("a(broker, B) :: null <- rich(3) and ", &["rich", "stock"], &["ask", "then"]);
    check("a(broker, B) :: null <- B = ", &["B", "tea", "sue"], &["rich", "ask"]);
    check("a(broker, B) :: null <- rich(3) then ", &["ask", "null"], &["rich"]);
    check("a(broker, B) :: null\nagent ", &[AGENT], &["then"]);
    check("now ", &[AGENT], &["ask"]);
    check("now a(seller, sue) :: ", &["ask", "null"], &["rich"]);
}

#[test]
fn rules_and_properties() {
    check("rule ", &["sue", "bob"], &["rich", "rule"]);
    check("enforced ", &["by"], &["sue"]);
    check("enforced by ", &["sue"], &["by", "rich"]);
    check("rule sue: (", &["bob", "self"], &["rich", "ask"]);
    check("sue: (A, ", &["bob", "self", "A"], &["rich", "ask"]);
    check("rule sue: (A, _, +", &["pay", "rich", "ask"], &["bob"]);
    check("rule sue: (A, _, +pay(X)) <- ", &["trusted", "not", "A", "X"], &["ask", "after"]);
    check("rule sue: (A, _, !pay(X)) ", &["after"], &["rich", "until"]);
    check("rule sue: (A, _, !pay(X)) after ", &["in", "out", "tau"], &["rich", "until"]);
    check("rule sue: (A, _, !pay(X)) after in(", &["ask", "price"], &["rich"]);
    check("rule sue: (A, _, !pay(X)) after in(ask(_)) ", &["until"], &["rich"]);
    check("property ", &[], &["paid", "AG"]);
    check("property p : ", &["AG", "mu", "done", "final"], &["ask", "agent"]);
    check("property p : AG <", &["in", "out", "tau"], &["AG", "rich"]);
    check("property p : AG <in(", &["ask", "pay"], &["AG", "rich"]);
    check("property p : AG <in(ask(_), a(", &["seller"], &["ask"]);
    check("property p : AG <#(", &["rich", "stock"], &["ask"]);
    check("property p : AG done(", &["bob", "sue"], &["ask"]);
    check("property p : nu Z. [-]Z ;\n", &["agent", "property"], &["AG", "then"]);
}

/// Only the text shortly before the position is read, also of a long clause.
#[test]
fn long_clauses() {
    let steps = "ask(X) => a(seller, S) then\n".repeat(1_000);
    check(&format!("a(broker, B) ::\n{steps}"), &["ask", "null"], &["then", "rich", "agent"]);
    check(&format!("a(broker, B) ::\n{steps} null <- "), &["rich", "stock"], &["ask", "agent"]);
}

/// Each prefix of a file has an answer at its end.
#[test]
fn every_prefix_of_a_file_has_an_answer() {
    for end in (0..=OTHERS.len()).filter(|end| OTHERS.is_char_boundary(*end)) {
        let mut sources = Sources::default();
        let file = sources.add("half.lcc", OTHERS[..end].to_string()).unwrap();
        let index = crate::names(&mut sources, file, &NoFiles);
        completions(&index, &sources, end as u32);
    }
}

#[test]
fn words_are_listed_once() {
    let mut words: Vec<&str> = keywords().collect();
    let n_words = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), n_words);
    let mut signs: Vec<&str> = OPERATORS.iter().map(|one| one.word).collect();
    signs.sort_unstable();
    signs.dedup();
    assert_eq!(signs.len(), OPERATORS.len());
}
