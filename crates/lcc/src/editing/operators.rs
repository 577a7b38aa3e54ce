//! The operators of LCC: one line of meaning and the parameters of each, for hover, completion and signature help.

use masque_text::{Completion, Operator};

/// The operators of processes, constraints and statements. Words come before signs.
pub static OPERATORS: [Operator; 28] = [
    Operator::new(
        "then",
        "first then second",
        &["first", "second"],
        "The first part is completed before the second begins.",
    ),
    Operator::new("or", "first or second", &["first", "second"], "One of the parts is chosen."),
    Operator::new(
        "par",
        "first par second",
        &["first", "second"],
        "Both parts are completed, their steps in any order.",
    ),
    Operator::new("and", "c and d", &["c", "d"], "Both constraints are true."),
    Operator::new("not", "not c", &["c"], "The constraint cannot be proved."),
    Operator::new("is", "X is e", &["X", "e"], "X is the value of the expression."),
    Operator::new("mod", "a mod b", &["a", "b"], "The remainder of a divided by b."),
    Operator::new("a", "a(role, id)", &["role", "id"], "The agent with this id in this role."),
    Operator::new(
        "null",
        "null <- c",
        &["c"],
        "A step without a message, possible if the constraint is true.",
    ),
    Operator::new("know", "know id: fact.", &["id", "fact"], "A fact that one agent knows."),
    Operator::new("common", "common fact.", &["fact"], "A fact that all agents know."),
    Operator::new(
        "rule",
        "rule enforcer: (subject, object, +action) <- c.",
        &["subject", "object", "+action"],
        "The enforcer permits (`+`) or forbids (`-`) the action, or obliges to it (`!action .. after P`).",
    ),
    Operator::new(
        "choice",
        "choice id: predicate/n.",
        &["id", "predicate/n"],
        "The agent decides freely whether it is true.",
    ),
    Operator::new(
        "mail",
        "mail sender -> receiver: message.",
        &["sender", "receiver", "message"],
        "A message that is under way at the start.",
    ),
    Operator::new(
        "r",
        "r(role, kind, min, max)",
        &["role", "kind", "min", "max"],
        "Declares a role and how many agents are in it.",
    ),
    Operator::new(
        "::",
        "a(role, id) :: process.",
        &["role", "id", "process"],
        "The clause of a role: what an agent in the role does.",
    ),
    Operator::new(
        "=>",
        "message => a(role, id)",
        &["message", "role", "id"],
        "The agent sends the message to another agent.",
    ),
    Operator::new(
        "<=",
        "message <= a(role, id)",
        &["message", "role", "id"],
        "The agent receives the message from another agent.",
    ),
    Operator::new(
        "<-",
        "head <- constraint",
        &["head", "constraint"],
        "The step is possible, or the head is true, if the constraint is true.",
    ),
    Operator::new("=", "X = t", &["X", "t"], "The terms can be made equal."),
    Operator::new("\\=", "X \\= t", &["X", "t"], "The terms cannot be made equal."),
    Operator::new("==", "X == t", &["X", "t"], "The terms are the same."),
    Operator::new("\\==", "X \\== t", &["X", "t"], "The terms are not the same."),
    Operator::new("=<", "a =< b", &["a", "b"], "At most, between numbers."),
    Operator::new(">=", "a >= b", &["a", "b"], "At least, between numbers."),
    Operator::new("<", "a < b", &["a", "b"], "Less than, between numbers."),
    Operator::new(">", "a > b", &["a", "b"], "Greater than, between numbers."),
    Operator::new(
        "->",
        "sender -> receiver",
        &["sender", "receiver"],
        "The sender and the receiver of a message.",
    ),
];

/// Returns completions for words, with the meanings of those that are operators.
pub(super) fn words(words: &[&str]) -> Vec<Completion> {
    let meaning = |word: &str| OPERATORS.iter().find(|one| one.word == word).map_or("", |one| one.meaning);
    words.iter().map(|word| Completion::keyword(word, meaning(word))).collect()
}
