//! Completion in property files, and the operators with their meanings.

use masque_text::{Completion, NameIndex, NameKind, Operator, Sources, Span};

use crate::lexer::{Token, Tokens};

/// The operators of the mu-calculus.
pub static OPERATORS: [Operator; 19] = [
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
    Operator::new("<", "<R>phi", &["R", "phi"], "Some path in R leads to a state with phi."),
    Operator::new("[", "[R]phi", &["R", "phi"], "All paths in R lead to states with phi."),
    Operator::new("!", "!phi", &["phi"], "phi is false."),
    Operator::new("&&", "phi && psi", &["phi", "psi"], "Both are true."),
    Operator::new("||", "phi || psi", &["phi", "psi"], "At least one is true."),
    Operator::new("->", "phi -> psi", &["phi", "psi"], "If phi is true, psi is, too."),
];

/// Returns what may be inserted at a position: names of steps inside a modality, operators and variables elsewhere. The
/// caller selects those that match a half-typed word.
///
/// ```
/// use masque_text::{NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let text = "loop : nu X. <go>X ;\nnext : <";
/// let file = sources.add("half.mu", text).unwrap();
/// let index = masque_mu::names(&mut sources, file, &NoFiles);
/// let found = masque_mu::completions(&index, &sources, text.len() as u32);
/// assert!(found.iter().any(|completion| completion.text == "go"));
/// ```
pub fn completions(index: &NameIndex, sources: &Sources, position: u32) -> Vec<Completion> {
    let file = sources.file_of(Span { start: position, end: position });
    let tokens = Tokens::before(sources, file, position);
    let mut in_steps = false;
    for token in 0..tokens.len() {
        match tokens.kind(token) {
            Token::Less | Token::OpenBracket => in_steps = true,
            Token::Greater | Token::CloseBracket | Token::Semicolon => in_steps = false,
            _ => {}
        }
    }
    if in_steps {
        let mut found = index.completions(&[NameKind::Action, NameKind::Message, NameKind::Predicate]);
        found.push(Completion::keyword("tau", "a step that no agent observes"));
        found.push(Completion::keyword("-", "any step"));
        return found;
    }
    let is_start = tokens.is_empty() || tokens.kind(tokens.len() - 1) == Token::Semicolon;
    if is_start {
        return vec![Completion::snippet("${1:name} : ${2:AG !deadlock} ;", "a property")];
    }
    let words = OPERATORS.iter().filter(|one| one.word.starts_with(|c: char| c.is_ascii_alphabetic()));
    let mut found: Vec<Completion> = words.map(|one| Completion::keyword(one.word, one.meaning)).collect();
    found.push(Completion::keyword("final", "the state is final"));
    // Variables are in scope in their property only.
    let property = index.section_at(position).and_then(|section| section.owner);
    let own = index.children(property).filter(|(_, one)| one.kind == NameKind::Fixpoint);
    found.extend(own.map(|(_, one)| Completion::name(one)));
    found.extend(index.completions(&[NameKind::Proposition]));
    found
}
