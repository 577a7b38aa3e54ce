//! Completion in property files and in formulas: what may stand at a position, by the brackets around it.

use masque_text::{Completion, NameIndex, NameKind, Sources, TextBefore};

use super::operators::{OPERATORS, words};
use crate::lexer::Token;
use crate::parser::RESERVED;

/// Returns what may be inserted at a position of a property file: names of steps inside a modality, operators and
/// variables elsewhere. The caller selects those that match a half-typed word.
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
    let before = TextBefore::new(sources, position);
    if before.is_comment {
        return Vec::new();
    }
    let first = (0..before.n_complete)
        .rev()
        .find(|token| before.tokens.kind(*token) == Token::Semicolon)
        .map_or(0, |last| last + 1);
    let is_begun = |token: usize| before.tokens.kind(token) == Token::Colon;
    match (first..before.n_complete).find(|token| is_begun(*token)) {
        Some(colon) => {
            Completer { index, before: &before, first: colon + 1, is_pattern: false }.all(position)
        }
        None if first == before.n_complete => {
            vec![Completion::snippet("${1:name} : ${2:AG !deadlock} ;", "a property")]
        }
        None => Vec::new(),
    }
}

/// Returns what may be inserted at a position of a formula that begins at another position, in a file of any language.
pub fn formula_completions(
    index: &NameIndex,
    sources: &Sources,
    start: u32,
    position: u32,
) -> Vec<Completion> {
    completions_from(index, sources, start..position, false)
}

/// Returns what may be inserted at a position of an action pattern that begins at another position.
pub fn pattern_completions(
    index: &NameIndex,
    sources: &Sources,
    start: u32,
    position: u32,
) -> Vec<Completion> {
    completions_from(index, sources, start..position, true)
}

fn completions_from(
    index: &NameIndex,
    sources: &Sources,
    text: std::ops::Range<u32>,
    is_pattern: bool,
) -> Vec<Completion> {
    let before: TextBefore<'_, Token> = TextBefore::new(sources, text.end);
    let first = before.tokens.at(text.start).min(before.n_complete);
    if before.is_comment {
        return Vec::new();
    }
    Completer { index, before: &before, first, is_pattern }.all(text.end)
}

/// A bracket that is open at the position, with the number of commas after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open<'t> {
    /// Brackets around a formula.
    Formula,
    /// `<` or `[` of a modality, and brackets inside that are no arguments.
    Steps,
    /// The argument of a word: `in`, `at` or any other; `#` for `#(`.
    Call(&'t str, usize),
}

struct Completer<'t> {
    index: &'t NameIndex,
    before: &'t TextBefore<'t, Token>,
    /// Index of the first token of the formula.
    first: usize,
    /// Whether it is an action pattern and not a formula.
    is_pattern: bool,
}

impl<'t> Completer<'t> {
    fn all(&self, position: u32) -> Vec<Completion> {
        let open = self.open_brackets();
        let is_peer = open.len() > 1 && self.is_agent_of(open[open.len() - 2]);
        match open.last() {
            Some(Open::Call("in" | "out", 0)) => self.index.completions(&[NameKind::Message]),
            Some(Open::Call("in" | "out", 1)) => {
                vec![Completion::snippet("a(${1:role}, ${2:id})", "the other agent")]
            }
            Some(Open::Call("#", _)) => self.index.completions(&[NameKind::Predicate]),
            Some(Open::Call("a", 0)) if is_peer => self.index.completions(&[NameKind::Role]),
            Some(Open::Call("at", 1)) => self.index.completions(&[NameKind::Role]),
            Some(Open::Call("a" | "at" | "done" | "idle", _)) => self.index.completions(&[NameKind::Agent]),
            Some(Open::Call("inev" | "resp", _) | Open::Steps) => self.steps(),
            Some(Open::Call(..)) => self.index.completions(&[NameKind::Agent, NameKind::Value]),
            None if self.is_pattern => self.steps(),
            Some(Open::Formula) | None => self.subformula(position),
        }
    }

    /// Whether an agent stands in this bracket: the second argument of `in` and `out`.
    fn is_agent_of(&self, open: Open<'_>) -> bool {
        matches!(open, Open::Call("in" | "out", 1))
    }

    /// Returns the brackets that are open at the position, the outermost first.
    fn open_brackets(&self) -> Vec<Open<'t>> {
        let mut open: Vec<Open<'t>> = Vec::new();
        for token in self.first..self.before.n_complete {
            let is_in_formula = match open.last() {
                None => !self.is_pattern,
                Some(open) => *open == Open::Formula,
            };
            match self.before.tokens.kind(token) {
                Token::Less | Token::OpenBracket if is_in_formula => open.push(Open::Steps),
                Token::OpenBrace | Token::OpenBracket => open.push(Open::Steps),
                Token::Open => {
                    let word = if token > self.first { self.before.word(token - 1) } else { "" };
                    let is_hash = token > self.first && self.before.tokens.kind(token - 1) == Token::Hash;
                    let is_call =
                        !word.is_empty() && (matches!(word, "inev" | "resp") || !RESERVED.contains(&word));
                    open.push(match () {
                        () if is_hash => Open::Call("#", 0),
                        () if is_call => Open::Call(word, 0),
                        () if is_in_formula => Open::Formula,
                        () => Open::Steps,
                    });
                }
                Token::Close | Token::CloseBracket | Token::CloseBrace => _ = open.pop(),
                Token::Greater if open.last() == Some(&Open::Steps) => _ = open.pop(),
                Token::Comma => {
                    if let Some(Open::Call(_, n_commas)) = open.last_mut() {
                        *n_commas += 1;
                    }
                }
                _ => {}
            }
        }
        open
    }

    /// Whether the model is a protocol, whose steps are messages and facts.
    fn is_protocol(&self) -> bool {
        self.index
            .declarations
            .iter()
            .any(|one| matches!(one.kind, NameKind::Message | NameKind::Role | NameKind::Predicate))
    }

    fn steps(&self) -> Vec<Completion> {
        if self.before.kind_back(1) == Token::At {
            return self.index.completions(&[NameKind::Agent]);
        }
        let mut found = self.index.completions(&[NameKind::Action]);
        let is_protocol = self.is_protocol();
        if is_protocol || found.is_empty() {
            found.push(Completion::keyword("in", "`in(message)`: an agent receives the message"));
            found.push(Completion::keyword("out", "`out(message)`: an agent sends the message"));
            found.push(Completion::keyword("#", "a step of one agent; `#(p)`: with this literal"));
        }
        found.push(Completion::keyword("tau", "a step that no agent observes"));
        found.push(Completion::keyword("-", "any step"));
        found
    }

    fn subformula(&self, position: u32) -> Vec<Completion> {
        if matches!(self.before.word_back(1), "mu" | "nu") || self.before.n_complete < self.first {
            return Vec::new();
        }
        if self.is_after_operand() {
            return words(&["and", "or"]);
        }
        let is_prefix = |word: &str| !matches!(word, "and" | "or") && word.starts_with(char::is_alphabetic);
        let found = OPERATORS.iter().filter(|one| is_prefix(one.word));
        let mut found: Vec<Completion> =
            found.map(|one| Completion::keyword(one.word, one.meaning)).collect();
        found.push(Completion::keyword("final", "the state is final"));
        if self.is_protocol() {
            found.push(Completion::keyword("done", "`done(id)`: the agent has finished"));
            found.push(Completion::keyword("idle", "`idle(id)`: the server is in its first process"));
            found.push(Completion::keyword("at", "`at(id, role)`: the agent is in the role"));
        }
        // Variables are in scope in their property only.
        let property = self.index.section_at(position).and_then(|section| section.owner);
        let own = self.index.children(property).filter(|(_, one)| one.kind == NameKind::Fixpoint);
        found.extend(own.map(|(_, one)| Completion::name(one)));
        found.extend(self.index.completions(&[NameKind::Proposition]));
        found
    }

    /// Whether an operand may end with the last token.
    fn is_after_operand(&self) -> bool {
        if self.before.n_complete <= self.first {
            return false;
        }
        match self.before.kind_back(1) {
            Token::Word => {
                let word = self.before.word_back(1);
                !RESERVED.contains(&word) || matches!(word, "tt" | "ff" | "true" | "false" | "deadlock")
            }
            // `]` and `>` end modalities.
            Token::Number | Token::Quoted | Token::Close => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use masque_text::{NoFiles, Sources};

    use super::*;

    const OTHERS: &str =
        "live : nu X. <go>X && [stop]ff && lit ;\nsent : <out(ask(_), a(seller, _))>tt && at(bob, buyer) ;\n";

    #[track_caller]
    fn check(others: &str, typed: &str, wanted: &[&str], unwanted: &[&str]) {
        let mut sources = Sources::default();
        let text = format!("{others}{typed}");
        let file = sources.add("half.mu", text.clone()).unwrap();
        let index = crate::names(&mut sources, file, &NoFiles);
        let found: Vec<String> =
            completions(&index, &sources, text.len() as u32).into_iter().map(|one| one.text).collect();
        for word in wanted {
            assert!(found.iter().any(|one| one == word), "{word} is missing after {typed:?}: {found:?}");
        }
        for word in unwanted {
            assert!(!found.iter().any(|one| one == word), "{word} is offered after {typed:?}: {found:?}");
        }
    }

    #[test]
    fn completions_know_the_brackets_around_them() {
        check(OTHERS, "", &["${1:name} : ${2:AG !deadlock} ;"], &["AG", "go"]);
        check(OTHERS, "next ", &[], &["AG", "go"]);
        check(OTHERS, "next : ", &["AG", "mu", "not", "lit", "final", "at"], &["go", "X", "and"]);
        check(OTHERS, "next : <", &["go", "stop", "tau", "in"], &["AG", "lit"]);
        check(OTHERS, "next : [{go, ", &["go", "stop", "tau"], &["AG", "lit"]);
        check(OTHERS, "next : [-]", &["AG", "lit"], &["go", "and"]);
        check(OTHERS, "next : <-* . go>tt ", &["and", "or"], &["AG", "go"]);
        check(OTHERS, "next : lit -> ", &["AG", "lit"], &["go", "and"]);
        check(OTHERS, "next : nu ", &[], &["AG", "X"]);
        check(OTHERS, "next : nu Y. (", &["Y", "AG"], &["X", "go"]);
        check(OTHERS, "next : inev(", &["go", "out"], &["AG", "lit"]);
        check(OTHERS, "next : <out(", &["ask"], &["go", "seller"]);
        check(OTHERS, "next : <out(ask(_), ", &["a(${1:role}, ${2:id})"], &["ask", "seller"]);
        check(OTHERS, "next : <out(ask(_), a(", &["seller"], &["ask", "go"]);
        check(OTHERS, "next : at(bob, ", &["buyer", "seller"], &["ask"]);
        check(OTHERS, "next : % a comment about ", &[], &["AG"]);
        check("", "next : <", &["tau", "out"], &["AG"]);
        check("one : <go>tt ;\n", "next : <", &["go", "tau"], &["out", "in"]);
    }

    #[test]
    fn a_formula_in_a_file_of_another_language() {
        let mut sources = Sources::default();
        let text = "live : [go]ff ; agent a(x, y). property p : AG <";
        let file = sources.add("half.mu", text).unwrap();
        let index = crate::names(&mut sources, file, &NoFiles);
        let start = text.rfind("AG").unwrap() as u32;
        let offered = |end: u32| formula_completions(&index, &sources, start, end);
        assert!(offered(text.len() as u32).iter().any(|one| one.text == "go"));
        assert!(offered(start).iter().any(|one| one.text == "AG"));
    }
}
