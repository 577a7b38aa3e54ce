//! The operators of BDI: one line of meaning and the parameters of each, for hover, completion and signature help.

use masque_text::{Completion, Operator};

/// The operators of formulas and programs. Words come before signs.
pub static OPERATORS: [Operator; 42] = [
    Operator::new(
        "B",
        "B(agent, phi)",
        &["agent", "phi"],
        "The agent is believed to satisfy phi: phi is true in the picture that this program has of it.",
    ),
    Operator::new(
        "D",
        "D(agent, phi)",
        &["agent", "phi"],
        "phi is desired of the agent: it is true in the picture of what this program desires.",
    ),
    Operator::new(
        "I",
        "I(agent, phi)",
        &["agent", "phi"],
        "phi is intended of the agent: it is true in the picture of what this program intends.",
    ),
    Operator::new(
        "PB",
        "PB(agent, phi)",
        &["agent", "phi"],
        "phi is compatible with the beliefs: `!B(agent, !phi)`.",
    ),
    Operator::new(
        "PD",
        "PD(agent, phi)",
        &["agent", "phi"],
        "phi is compatible with the desires: `!D(agent, !phi)`.",
    ),
    Operator::new(
        "PI",
        "PI(agent, phi)",
        &["agent", "phi"],
        "phi is compatible with the intentions: `!I(agent, !phi)`.",
    ),
    Operator::new("AG", "AG phi", &["phi"], "On all paths, phi is true at every state."),
    Operator::new("AF", "AF phi", &["phi"], "On all paths, phi is true at some state."),
    Operator::new("AX", "AX phi", &["phi"], "After every step, phi is true."),
    Operator::new("EG", "EG phi", &["phi"], "On some path, phi is true at every state."),
    Operator::new("EF", "EF phi", &["phi"], "On some path, phi is true at some state."),
    Operator::new("EX", "EX phi", &["phi"], "After some step, phi is true."),
    Operator::new(
        "A",
        "A[phi U psi]",
        &["phi U psi"],
        "On all paths: phi until psi; `W` and `R` are allowed, too.",
    ),
    Operator::new(
        "E",
        "E[phi U psi]",
        &["phi U psi"],
        "On some path: phi until psi; `W` and `R` are allowed, too.",
    ),
    Operator::new("X", "∀X phi", &["phi"], "phi is true after the next step of the path, after `∀` or `∃`."),
    Operator::new("F", "∀F phi", &["phi"], "phi is true at some state of the path, after `∀` or `∃`."),
    Operator::new("G", "∀G phi", &["phi"], "phi is true at every state of the path, after `∀` or `∃`."),
    Operator::new("U", "phi U psi", &["phi", "psi"], "psi becomes true, and phi is true until then."),
    Operator::new("W", "phi W psi", &["phi", "psi"], "phi is true until psi, or always."),
    Operator::new(
        "R",
        "phi R psi",
        &["phi", "psi"],
        "psi is true up to and including the moment at which phi becomes true, or always.",
    ),
    Operator::new(
        "blind",
        "blind I(agent, AF phi)",
        &["agent", "phi"],
        "The intention is kept until the goal is believed to be achieved.",
    ),
    Operator::new(
        "single_minded",
        "single_minded I(agent, AF phi)",
        &["agent", "phi"],
        "The intention is kept until the goal is believed to be achieved or impossible.",
    ),
    Operator::new(
        "open_minded",
        "open_minded I(agent, AF phi)",
        &["agent", "phi"],
        "The intention is kept until the goal is believed to be achieved, or is no longer desired.",
    ),
    Operator::new(
        "persistent",
        "persistent I(agent, phi) unless psi",
        &["agent", "phi", "psi"],
        "The intention is kept until psi is true.",
    ),
    Operator::new("not", "not phi", &["phi"], "phi is false."),
    Operator::new(
        "do",
        "do action",
        &["action"],
        "Performs an action; in a formula: the last step was this action.",
    ),
    Operator::new("any", "x := any", &[], "Any value of the domain, chosen freely."),
    Operator::new(
        "forall",
        "forall x in AP : x := e",
        &["x", "e"],
        "Assigns to each boolean variable of the program.",
    ),
    Operator::new("!", "!phi", &["phi"], "phi is false."),
    Operator::new("&", "phi & psi", &["phi", "psi"], "Both are true."),
    Operator::new(
        "|",
        "phi | psi",
        &["phi", "psi"],
        "At least one is true. Between statements: one of them is chosen freely.",
    ),
    Operator::new("->", "phi -> psi", &["phi", "psi"], "If phi is true, psi is, too."),
    Operator::new("<->", "phi <-> psi", &["phi", "psi"], "Both are true, or both are false."),
    Operator::new(":=", "x := e", &["x", "e"], "The variable has this value after the step."),
    Operator::new("||", "a || b", &["a", "b"], "The agents of the system, the top world first."),
    Operator::new("=", "a = b", &["a", "b"], "The values are equal."),
    Operator::new("!=", "a != b", &["a", "b"], "The values differ."),
    Operator::new("<=", "a <= b", &["a", "b"], "At most."),
    Operator::new(">=", "a >= b", &["a", "b"], "At least."),
    Operator::new("<", "a < b", &["a", "b"], "Less than."),
    Operator::new(">", "a > b", &["a", "b"], "Greater than."),
    Operator::new("..", "lo..hi", &["lo", "hi"], "The numbers from lo to hi."),
];

/// Returns completions for words, with the meanings of those that are operators.
pub(super) fn words(words: &[&str]) -> Vec<Completion> {
    let meaning = |word: &str| OPERATORS.iter().find(|one| one.word == word).map_or("", |one| one.meaning);
    words.iter().map(|word| Completion::keyword(word, meaning(word))).collect()
}
