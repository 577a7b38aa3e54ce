//! Completion: what may stand at a position, by the item around it and the tokens before it.

use masque_text::{Completion, NameIndex, NameKind, Section, Sources, TextBefore};

use super::operators::words;
use crate::check::option_values;
use crate::lexer::{Token, is_reserved};
use crate::parser::operator;

/// The attitudes that can be written, without the duals.
pub(super) const ATTITUDES: [&str; 3] = ["B", "D", "I"];

/// Returns what may be inserted at a position. If a word is half typed there, the completions are those at its
/// beginning; the caller selects the ones that match it.
///
/// ```
/// use masque_text::{NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let text = "agent a is var x : {low, high}; loop x := l";
/// let file = sources.add("half.bdi", text).unwrap();
/// let index = masque_bdi::names(&mut sources, file, &NoFiles);
/// let found = masque_bdi::completions(&index, &sources, text.len() as u32);
/// assert!(found.iter().any(|completion| completion.text == "low"));
/// ```
pub fn completions(index: &NameIndex, sources: &Sources, position: u32) -> Vec<Completion> {
    let before = TextBefore::new(sources, position);
    if before.is_comment || before.kind_back(1) == Token::Unclosed {
        return Vec::new();
    }
    Completer { index, before: &before }.all()
}

/// What the completions of a position are found from.
#[derive(Clone, Copy)]
pub(super) struct Completer<'t> {
    pub(super) index: &'t NameIndex,
    pub(super) before: &'t TextBefore<'t, Token>,
}

/// The item around a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Heading of the item; no text between items.
    pub(super) item: &'static str,
    /// Heading of the section of a program that the last token belongs to; no text before the first one.
    pub(super) part: &'static str,
    /// The agent, the view or the property.
    pub(super) owner: Option<u32>,
    /// Index of the first token of the item.
    pub(super) first: usize,
    /// Index of the first token of the section of a program.
    pub(super) part_first: usize,
    /// Whether the item is long, and its beginning is not among the tokens.
    pub(super) is_cut: bool,
}

impl Place {
    fn at(item: &'static str, first: usize) -> Place {
        Place { item, part: "", owner: None, first, part_first: first, is_cut: false }
    }
}

impl<'t> Completer<'t> {
    fn all(&self) -> Vec<Completion> {
        let place = self.place();
        let is_program = matches!(place.item, "agent" | "view");
        if !is_program && self.kind(1) == Token::Semicolon {
            return items();
        }
        match (place.item, self.word(1)) {
            ("agent" | "view", _) if place.is_cut || self.find("is", place.first).is_some() => {
                self.in_program(place)
            }
            ("agent", "agent") => Vec::new(),
            ("agent", _) => words(&["is"]),
            ("view", _) => self.view(place),
            ("mas", "") => self.agents(),
            ("mas", last) if last != "mas" => items(),
            ("top", "top") => self.agents(),
            ("option", "option") => words(&option_values(None)),
            ("option", "") => {
                let found = words(&option_values(Some(self.word(2))));
                let is_action = self.word(2) == "delay";
                let actions =
                    if is_action { self.index.completions(&[NameKind::Action]) } else { Vec::new() };
                found.into_iter().chain(actions).collect()
            }
            ("property", _) => self.property(place),
            ("check", _) => self.check(place),
            ("mas" | "top" | "option" | "import", _) => Vec::new(),
            _ => items(),
        }
    }

    /// Finds the item and the section that the last complete token belongs to. An item may be half typed.
    fn place(&self) -> Place {
        let Some(at) = self.before.n_complete.checked_sub(1) else { return Place::at("", 0) };
        let is_end = at == 0 || self.kind(2) == Token::Semicolon || self.word(2) == "endloop";
        // A heading without the word that must follow it is no section yet.
        if let Some(heading) = ["check", "top"].into_iter().find(|word| is_end && self.word(1) == *word) {
            return Place::at(heading, at);
        }
        let last = self.before.tokens.span(at);
        let contains = |section: &&Section| section.span.start <= last.start && last.end <= section.span.end;
        let mut around = self.index.sections.iter().filter(contains);
        let Some(item) = around.next() else { return Place::at("", at + 1) };
        let first = |section: &Section| self.before.tokens.at(section.span.start);
        // A section of a program lies inside its item.
        let (part, part_first) = around.next_back().map_or(("", at + 1), |part| (part.heading, first(part)));
        let is_cut = item.span.start < self.before.tokens.base();
        Place { part, part_first, owner: item.owner, is_cut, ..Place::at(item.heading, first(item)) }
    }

    pub(super) fn kind(&self, back: usize) -> Token {
        self.before.kind_back(back)
    }

    pub(super) fn word(&self, back: usize) -> &'t str {
        self.before.word_back(back)
    }

    /// Returns the index of the first token at or after another one that is this word.
    pub(super) fn find(&self, word: &str, first: usize) -> Option<usize> {
        (first..self.before.n_complete).find(|token| self.before.word(*token) == word)
    }

    pub(super) fn agents(&self) -> Vec<Completion> {
        self.index.completions(&[NameKind::Agent])
    }

    /// Whether the last token is the bracket of `B(`, or `B(a`, without the comma, is before the position.
    pub(super) fn is_in_attitude_agent(&self) -> bool {
        self.kind(1) == Token::Open && operator(self.word(2)).is_some()
    }

    /// Completes the heading of a view: `view B(b) in a is`.
    fn view(&self, place: Place) -> Vec<Completion> {
        match self.word(1) {
            "view" => self.agents().into_iter().chain(words(&ATTITUDES)).collect(),
            "in" => self.agents(),
            _ if self.kind(1) == Token::Open => self.agents(),
            _ if self.find("in", place.first).is_some() => words(&["is"]),
            _ if self.kind(2) == Token::Open => Vec::new(),
            _ => words(&["in"]),
        }
    }

    /// Completes `top.B(a).D(b)` after its root, and the root after these words.
    fn path(&self, before_root: &[&str]) -> Option<Vec<Completion>> {
        if before_root.contains(&self.word(1)) {
            return Some(self.agents().into_iter().chain(words(&["top"])).collect());
        }
        if self.kind(1) == Token::Dot {
            return Some(words(&ATTITUDES));
        }
        self.is_in_attitude_agent().then(|| self.agents())
    }

    fn property(&self, place: Place) -> Vec<Completion> {
        let tokens = place.first..self.before.n_complete;
        let colon = tokens.clone().find(|token| self.before.tokens.kind(*token) == Token::Colon);
        let Some(colon) = colon else {
            if let Some(found) = self.path(&["in"]) {
                return found;
            }
            return match self.before.n_complete - place.first {
                1 => Vec::new(),
                2 => words(&["initially", "in"]),
                _ if self.word(1) == "initially" => words(&["in"]),
                _ => Vec::new(),
            };
        };
        if self.before.word(colon + 1) == "subworld" {
            let is_root = matches!(self.kind(1), Token::Open | Token::Comma) && !self.is_in_attitude_agent();
            let root = || self.agents().into_iter().chain(words(&["top"])).collect();
            return if is_root { root() } else { self.path(&[]).unwrap_or_default() };
        }
        let mut found = self.formula(self.world(place.first, colon), colon + 1);
        if colon + 1 == self.before.n_complete {
            found.push(Completion::keyword(
                "subworld",
                "`subworld(v, w)`: the world v is a part of the world w",
            ));
        }
        found
    }

    fn check(&self, place: Place) -> Vec<Completion> {
        if let Some(found) = self.path(&["subworld", "in"]) {
            return found;
        }
        match self.word(1) {
            "check" => words(&["serial", "introspection", "realism", "subworld"]),
            "serial" | "introspection" => words(&ATTITUDES),
            "realism" => words(&["strong", "plain", "weak"]),
            "strong" | "plain" | "weak" => self.agents(),
            // An agent or the end of an attitude or path.
            _ if matches!(self.kind(1), Token::Word | Token::Close)
                && !ATTITUDES.contains(&self.word(1))
                && self.kind(2) != Token::Open
                && self.find("in", place.first).is_none() =>
            {
                words(&["in"])
            }
            _ => Vec::new(),
        }
    }

    /// Whether an operand may end with the last token.
    pub(super) fn is_after_operand(&self) -> bool {
        match self.kind(1) {
            Token::Word => {
                let word = self.word(1);
                let is_operator = matches!(word, "not" | "unless" | "U" | "R" | "W" | "in");
                matches!(word, "true" | "false" | "any") || !is_reserved(word) && !is_operator
            }
            Token::Number | Token::Close | Token::CloseBracket | Token::CloseBrace => true,
            Token::Verum | Token::Falsum => true,
            _ => false,
        }
    }
}

/// The beginnings of items.
pub(super) fn items() -> Vec<Completion> {
    let mut found = vec![
        Completion::keyword("agent", "the program of an agent"),
        Completion::keyword("view", "the program by which an agent pictures another one"),
        Completion::keyword("mas", "the agents of the system"),
        Completion::keyword("top", "the agent whose world is the top world"),
        Completion::keyword("option", "how the system is read"),
        Completion::keyword("property", "a formula to check"),
        Completion::keyword("check", "a question about attitudes"),
        Completion::keyword("import", "another file of the model"),
    ];
    let snippets = [
        (
            "agent ${1:name} is\n  var ${2:x};\n  init ${2:x} := false;\n  loop\n    $0\n  endloop",
            "a program",
        ),
        ("view B(${1:other}) in ${2:agent} is\n  $0", "a picture of another agent"),
        ("property ${1:name}: ${2:AG true};", "a formula to check"),
    ];
    found.extend(snippets.map(|(text, detail)| Completion::snippet(text, detail)));
    found
}
