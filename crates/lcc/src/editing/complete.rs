//! Completion: what may stand at a position, by the statement around it and the tokens before it.

use masque_text::{Completion, NameIndex, NameKind, Sources, TextBefore};

use super::context::{Begun, Open, open_brackets, statement};
use super::operators::words;
use crate::lexer::Token;
use crate::options::option_values;
use crate::parser::{ROLE_KINDS, STATEMENTS};

/// Returns what may be inserted at a position. If a word is half typed there, the completions are those at its
/// beginning; the caller selects the ones that match it.
///
/// ```
/// use masque_text::{NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let text = "a(hen, H) :: egg => a(farmer, F).  a(farmer, F) :: egg <= a(h";
/// let file = sources.add("half.lcc", text).unwrap();
/// let index = masque_lcc::names(&mut sources, file, &NoFiles);
/// let found = masque_lcc::completions(&index, &sources, text.len() as u32);
/// assert!(found.iter().any(|completion| completion.text == "hen"));
/// ```
pub fn completions(index: &NameIndex, sources: &Sources, position: u32) -> Vec<Completion> {
    let before = TextBefore::new(sources, position);
    if before.is_comment || before.kind_back(1) == Token::Unclosed {
        return Vec::new();
    }
    let Some(begun) = statement(index, sources, &before) else { return statements() };
    let open = open_brackets(&before, begun.first);
    Completer { index, sources, before: &before, begun, open }.all(position)
}

/// What the completions of a position are found from.
pub(super) struct Completer<'t> {
    pub(super) index: &'t NameIndex,
    pub(super) sources: &'t Sources,
    pub(super) before: &'t TextBefore<'t, Token>,
    pub(super) begun: Begun,
    /// The open brackets, the outermost first.
    pub(super) open: Vec<Open<'t>>,
}

impl<'t> Completer<'t> {
    fn all(&self, position: u32) -> Vec<Completion> {
        match self.begun.heading {
            "property" => self.property(position),
            "option" => self.option(),
            "import" => Vec::new(),
            "r" => self.role_declaration(),
            "clause" | "now" => self.clause(),
            "agent" | "server" => self.arguments().unwrap_or_else(|| self.agent_after(self.begun.heading)),
            "mail" => self.mail(),
            "know" | "common" => self.fact(),
            "choice" => self.choice(),
            "rule" | "enforced" => self.rule(),
            // The first word of a statement may be a name.
            _ => statements(),
        }
    }

    pub(super) fn kind(&self, back: usize) -> Token {
        self.before.kind_back(back)
    }

    pub(super) fn word(&self, back: usize) -> &'t str {
        self.before.word_back(back)
    }

    /// Returns the index of the first token of a kind in the statement.
    pub(super) fn find(&self, kind: Token) -> Option<usize> {
        (self.begun.first..self.before.n_complete).find(|token| self.before.tokens.kind(*token) == kind)
    }

    pub(super) fn names(&self, kinds: &[NameKind]) -> Vec<Completion> {
        self.index.completions(kinds)
    }

    /// The snippet of an agent expression, if the last token is this word.
    fn agent_after(&self, word: &str) -> Vec<Completion> {
        if self.word(1) == word { agent() } else { Vec::new() }
    }

    fn property(&self, position: u32) -> Vec<Completion> {
        match self.find(Token::Colon) {
            Some(colon) => {
                let start = self.before.tokens.span(colon).end;
                masque_mu::formula_completions(self.index, self.sources, start, position)
            }
            None if self.begun.is_cut => {
                let start = self.before.tokens.base();
                masque_mu::formula_completions(self.index, self.sources, start, position)
            }
            None => Vec::new(),
        }
    }

    fn option(&self) -> Vec<Completion> {
        match self.kind(1) {
            Token::Equal => words(&option_values(Some(self.word(2)))),
            _ if self.word(1) == "option" => words(&option_values(None)),
            _ => Vec::new(),
        }
    }

    /// Completes `r(role, kind, min, max)`.
    fn role_declaration(&self) -> Vec<Completion> {
        match self.open.last() {
            Some(Open::Call("r", 0)) => self.names(&[NameKind::Role]),
            Some(Open::Call("r", 1)) => words(&ROLE_KINDS),
            _ => Vec::new(),
        }
    }

    /// Completes `mail a(role, id) -> a(role, id): message.`
    fn mail(&self) -> Vec<Completion> {
        if let Some(found) = self.arguments() {
            return found;
        }
        match self.kind(1) {
            Token::To => agent(),
            Token::Colon => self.names(&[NameKind::Message]),
            _ => self.agent_after("mail"),
        }
    }

    /// Completes a clause: `a(role, id) :: process`.
    fn clause(&self) -> Vec<Completion> {
        if let Some(defines) = self.find(Token::Defines) {
            return self.process(defines + 1);
        }
        if self.begun.is_cut {
            return self.process(self.begun.first);
        }
        self.arguments().unwrap_or_else(|| self.agent_after("now"))
    }

    /// Completes `know id: fact <- body.` and `common fact <- body.`
    fn fact(&self) -> Vec<Completion> {
        if self.word(1) == "know" {
            return self.names(&[NameKind::Agent]);
        }
        if self.find(Token::If).is_some() {
            return self.constraint(true);
        }
        if let Some(found) = self.arguments() {
            return found;
        }
        let is_start = self.kind(1) == Token::Colon || self.word(1) == "common";
        if is_start { self.names(&[NameKind::Predicate]) } else { Vec::new() }
    }

    /// Completes `choice id: predicate/n.`
    fn choice(&self) -> Vec<Completion> {
        match self.kind(1) {
            Token::Colon => self.names(&[NameKind::Predicate]),
            _ if self.word(1) == "choice" => self.names(&[NameKind::Agent, NameKind::Predicate]),
            _ => Vec::new(),
        }
    }

    /// Returns the variables of the statement before the position.
    pub(super) fn variables(&self) -> Vec<Completion> {
        let mut found: Vec<Completion> = Vec::new();
        for token in self.begun.first..self.before.n_complete {
            let text = self.before.tokens.text(token);
            let is_variable = self.before.tokens.kind(token) == Token::Variable && text != "_";
            if is_variable && !found.iter().any(|one| one.text == text) {
                let (kind, detail) = (masque_text::CompletionKind::Name(NameKind::Index), String::new());
                found.push(Completion { text: text.to_string(), kind, detail });
            }
        }
        found
    }
}

/// An agent expression.
pub(super) fn agent() -> Vec<Completion> {
    vec![
        Completion::snippet("a(${1:role}, ${2:Id})", "an agent in a role"),
        Completion::keyword("a", "`a(role, id)`: an agent in a role"),
    ]
}

/// The beginnings of statements.
fn statements() -> Vec<Completion> {
    let mut found = words(&STATEMENTS);
    let snippets = [
        ("a(${1:role}, ${2:Id}) ::\n  $0.", "the clause of a role"),
        ("agent a(${1:role}, ${2:id}).", "an agent of the team"),
        ("know ${1:id}: ${2:fact}.", "a fact that one agent knows"),
        ("rule ${1:enforcer}: (${2:Subject}, ${3:_}, +${4:action}) <- ${5:condition}.", "a rule"),
        ("property ${1:name} : ${2:AG !deadlock} ;", "a formula to check"),
    ];
    found.extend(snippets.map(|(text, detail)| Completion::snippet(text, detail)));
    found
}
