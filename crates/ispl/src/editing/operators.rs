//! The operators of ISPL: one line of meaning and the parameters of each, for hover, completion and signature help.

use masque_text::{NameIndex, Operator, OperatorCall, Sources, Span};

use super::Before;
use crate::lexer::Token;

/// The operators of formulas and conditions. Words come before signs.
pub static OPERATORS: [Operator; 52] = [
    Operator::new(
        "K",
        "K(agent, phi)",
        &["agent", "phi"],
        "The agent knows phi: phi is true at all states that it cannot distinguish from this one.",
    ),
    Operator::new("GK", "GK(group, phi)", &["group", "phi"], "Everyone in the group knows phi."),
    Operator::new(
        "DK",
        "DK(group, phi)",
        &["group", "phi"],
        "The group knows phi together, from what all its members see.",
    ),
    Operator::new(
        "GCK",
        "GCK(group, phi)",
        &["group", "phi"],
        "It is common knowledge in the group: everyone knows phi, everyone knows that, and so on.",
    ),
    Operator::new(
        "D",
        "D(group, phi)",
        &["group", "phi"],
        "The group knows phi together (the papers' `DK`).",
    ),
    Operator::new(
        "C",
        "C(group, phi)",
        &["group", "phi"],
        "It is common knowledge in the group (the papers' `GCK`).",
    ),
    Operator::new(
        "O",
        "O(agent, phi)",
        &["agent", "phi"],
        "phi is true at all states at which the agent is green: it behaves correctly.",
    ),
    Operator::new(
        "KH",
        "KH(agent, group, phi)",
        &["agent", "group", "phi"],
        "The agent knows phi on the assumption that all agents of the group are green.",
    ),
    Operator::new("AG", "AG phi", &["phi"], "On all paths, phi is true at every state."),
    Operator::new("AF", "AF phi", &["phi"], "On all paths, phi is true at some state."),
    Operator::new(
        "AX",
        "AX phi",
        &["phi"],
        "After every step, phi is true; `AX{c} phi`: after every step with c.",
    ),
    Operator::new("EG", "EG phi", &["phi"], "On some path, phi is true at every state."),
    Operator::new("EF", "EF phi", &["phi"], "On some path, phi is true at some state."),
    Operator::new(
        "EX",
        "EX phi",
        &["phi"],
        "After some step, phi is true; `EX{c} phi`: after some step with c.",
    ),
    Operator::new(
        "A",
        "A(phi U psi)",
        &["phi U psi"],
        "On all paths: phi until psi; `W` and `R` are allowed, too.",
    ),
    Operator::new(
        "E",
        "E(phi U psi)",
        &["phi U psi"],
        "On some path: phi until psi; `W` and `R` are allowed, too.",
    ),
    Operator::new("X", "X phi", &["phi"], "phi is true after the next step of the path."),
    Operator::new("F", "F phi", &["phi"], "phi is true at some state of the path."),
    Operator::new("G", "G phi", &["phi"], "phi is true at every state of the path."),
    Operator::new("U", "phi U psi", &["phi", "psi"], "psi becomes true, and phi is true until then."),
    Operator::new("W", "phi W psi", &["phi", "psi"], "phi is true until psi, or always."),
    Operator::new(
        "R",
        "phi R psi",
        &["phi", "psi"],
        "psi is true up to and including the moment at which phi becomes true, or always.",
    ),
    Operator::new("LTL", "LTL phi", &["phi"], "The path formula phi is true of all infinite paths."),
    Operator::new(
        "CTL",
        "CTL* phi",
        &["phi"],
        "A formula of CTL*: path quantifiers and temporal operators in any order.",
    ),
    Operator::new("mu", "mu Z. phi", &["Z", "phi"], "The least set Z of states with Z = phi."),
    Operator::new("nu", "nu Z. phi", &["Z", "phi"], "The greatest set Z of states with Z = phi."),
    Operator::new(
        "forall",
        "forall(i in lo..hi : phi)",
        &["i in lo..hi : phi"],
        "phi is true for every i of the range.",
    ),
    Operator::new(
        "exists",
        "exists(i in lo..hi : phi)",
        &["i in lo..hi : phi"],
        "phi is true for some i of the range.",
    ),
    Operator::new(
        "sum",
        "sum(i in lo..hi : e)",
        &["i in lo..hi : e"],
        "The sum of the values of e for all i of the range.",
    ),
    Operator::new(
        "count",
        "count(c, d, ..)",
        &["c", "d, .."],
        "The number of conditions that are true; `count(i in lo..hi : c)` counts over a range.",
    ),
    Operator::new("min", "min(a, b)", &["a", "b"], "The least of these numbers."),
    Operator::new("max", "max(a, b)", &["a", "b"], "The greatest of these numbers."),
    Operator::new(
        "prev",
        "prev(i, N)",
        &["i", "N"],
        "The index before i in the ring 1..N; before 1 comes N.",
    ),
    Operator::new("next", "next(i, N)", &["i", "N"], "The index after i in the ring 1..N; after N comes 1."),
    Operator::new("mod", "a mod b", &["a", "b"], "The remainder of a divided by b, which is never negative."),
    Operator::new("and", "phi and psi", &["phi", "psi"], "Both are true. In Evolution it joins assignments."),
    Operator::new("or", "phi or psi", &["phi", "psi"], "At least one is true."),
    Operator::new("not", "not phi", &["phi"], "phi is false."),
    Operator::new("!", "!phi", &["phi"], "phi is false."),
    Operator::new("->", "phi -> psi", &["phi", "psi"], "If phi is true, psi is, too."),
    Operator::new("<->", "phi <-> psi", &["phi", "psi"], "Both are true or both are false."),
    Operator::new("~", "~b", &["b"], "The negation of a boolean."),
    Operator::new("&", "a & b", &["a", "b"], "Both booleans are true."),
    Operator::new("|", "a | b", &["a", "b"], "At least one of the booleans is true."),
    Operator::new("^", "a ^ b", &["a", "b"], "Exactly one of the booleans is true."),
    Operator::new("/", "a / b", &["a", "b"], "The exact quotient, which is not rounded."),
    Operator::new("*", "a * b", &["a", "b"], "The product."),
    Operator::new("+", "a + b", &["a", "b"], "The sum."),
    Operator::new("-", "a - b", &["a", "b"], "The difference."),
    Operator::new("<>", "a <> b", &["a", "b"], "The values differ."),
    Operator::new("!=", "a != b", &["a", "b"], "The values differ."),
    Operator::new(
        "<",
        "<group>F phi",
        &["group", "phi"],
        "The group can enforce the goal: `X phi`, `F phi`, `G phi` or `(phi U psi)`. Between numbers: less than.",
    ),
];

/// Returns the operator with this word or sign.
pub(super) fn find(word: &str) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| operator.word == word)
}

/// Returns the operator at a position, unless a name of the model stands there.
pub fn operator_at(index: &NameIndex, sources: &Sources, position: u32) -> Option<&'static Operator> {
    if index.at(position).is_some() {
        return None;
    }
    // The end of the token at the position lies at most a few bytes after it.
    let file = sources.file_of(Span { start: position, end: position });
    let (text, base) = (sources.text(file), sources.span(file).start);
    let start = (position - base) as usize;
    let rest = text.get(start..)?;
    let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let signs = rest.find(|c: char| !"<>=!-".contains(c)).unwrap_or(rest.len()).min(3);
    let length = word.max(signs).max(usize::from(rest.starts_with(['~', '&', '|', '^', '/', '*', '+'])));
    let before = Before::new(sources, position + length as u32);
    let tokens = &before.tokens;
    let token = (0..tokens.len()).rev().find(|token| tokens.span(*token).start <= position)?;
    (position <= tokens.span(token).end && !before.is_comment).then(|| find(tokens.text(token)))?
}

/// Returns the operator whose brackets are open at a position, and which of its parameters stands there.
pub fn signature(sources: &Sources, position: u32) -> Option<OperatorCall> {
    let before = Before::new(sources, position);
    let tokens = &before.tokens;
    let (mut depth, mut parameter) = (0u32, 0);
    for index in (0..tokens.len()).rev() {
        match tokens.kind(index) {
            Token::Close | Token::CloseBrace | Token::CloseBracket => depth += 1,
            Token::OpenBrace | Token::OpenBracket => {
                // An open brace or bracket around the position: its commas do not count.
                if depth == 0 {
                    parameter = 0;
                }
                depth = depth.saturating_sub(1);
            }
            Token::Open if depth > 0 => depth -= 1,
            Token::Open => {
                let word = index.checked_sub(1).map_or("", |word| tokens.text(word));
                let operator = find(word).filter(|operator| operator.form.contains('('));
                match operator {
                    Some(operator) => return Some(OperatorCall { operator, parameter }),
                    None => parameter = 0,
                }
            }
            Token::Comma if depth == 0 => parameter += 1,
            Token::Semicolon => return None,
            _ => {}
        }
    }
    None
}
