//! The operators of the mu-calculus: one line of meaning and the parameters of each, for hover, completion and
//! signature help.

use masque_text::{Completion, Operator};

/// The operators of the mu-calculus.
pub static OPERATORS: [Operator; 22] = [
    Operator::new("mu", "mu X. phi", &["X", "phi"], "The least set X of states with X = phi."),
    Operator::new("nu", "nu X. phi", &["X", "phi"], "The greatest set X of states with X = phi."),
    Operator::new("AG", "AG phi", &["phi"], "On all paths, phi is true at every state."),
    Operator::new("EF", "EF phi", &["phi"], "On some path, phi is true at some state."),
    Operator::new("AF", "AF phi", &["phi"], "On all maximal paths, phi is true at some state."),
    Operator::new("EG", "EG phi", &["phi"], "On some maximal path, phi is true at every state."),
    Operator::new("AX", "AX phi", &["phi"], "After every step, phi is true."),
    Operator::new("EX", "EX phi", &["phi"], "After some step, phi is true."),
    Operator::new("inev", "inev(P)", &["P"], "Every maximal path performs a step P."),
    Operator::new(
        "resp",
        "resp(P, Q)",
        &["P", "Q"],
        "After each step P, every maximal path performs a step Q.",
    ),
    Operator::new("deadlock", "deadlock", &[], "There is no transition, and the state is not final."),
    Operator::new("tt", "tt", &[], "True at every state."),
    Operator::new("ff", "ff", &[], "True at no state."),
    Operator::new("and", "phi and psi", &["phi", "psi"], "Both are true."),
    Operator::new("or", "phi or psi", &["phi", "psi"], "At least one is true."),
    Operator::new("not", "not phi", &["phi"], "phi is false."),
    Operator::new("<", "<R>phi", &["R", "phi"], "Some path in R leads to a state with phi."),
    Operator::new("[", "[R]phi", &["R", "phi"], "All paths in R lead to states with phi."),
    Operator::new("!", "!phi", &["phi"], "phi is false."),
    Operator::new("&&", "phi && psi", &["phi", "psi"], "Both are true."),
    Operator::new("||", "phi || psi", &["phi", "psi"], "At least one is true."),
    Operator::new("->", "phi -> psi", &["phi", "psi"], "If phi is true, psi is, too."),
];

/// Returns completions for words, with the meanings of those that are operators.
pub(super) fn words(words: &[&str]) -> Vec<Completion> {
    let meaning = |word: &str| OPERATORS.iter().find(|one| one.word == word).map_or("", |one| one.meaning);
    words.iter().map(|word| Completion::keyword(word, meaning(word))).collect()
}
