//! Names in statements with a syntax error, which are not in the tree. What a word means follows from the section
//! and from the tokens beside it.

use masque_text::{NameKind, Span};

use super::bodies::Place;
use super::{Indexer, New, Table};
use crate::lexer::{Token, Tokens};
use crate::parser::{AFTER_AGENTS, OF_AGENT};
use crate::tree::{List, Ref, Symbol};

/// Words that are never names in a broken statement.
const NO_NAMES: [&str; 12] =
    ["and", "or", "if", "true", "false", "not", "in", "where", "for", "end", "mod", "boolean"];

/// Maximum number of tokens of an index that is skipped.
const MAX_INDEX_TOKENS: usize = 64;
/// Maximum number of index variables in scope in a broken statement.
const MAX_INDEXES: usize = 32;

/// A statement with a syntax error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Broken {
    span: Span,
    /// Heading of the section around it, or the empty text.
    heading: &'static str,
    /// Scope of the agent around it.
    scope: Option<usize>,
}

/// A word in a broken statement.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// Index of its token.
    index: usize,
    in_braces: bool,
    /// Index of the last `:` before it.
    colon: Option<usize>,
}

impl Indexer<'_> {
    /// Declares what broken statements declare. Returns these statements.
    pub(super) fn declare_broken(&mut self) -> Vec<Broken> {
        let tree = self.tree;
        // A broken loop contains its broken statements.
        let mut spans = tree.broken.clone();
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        spans.dedup_by(|inner, outer| inner.start < outer.end);
        let broken: Vec<Broken> = spans.iter().map(|span| self.place_of(*span)).collect();
        for statement in &broken {
            let tokens = Tokens::new(self.sources.slice(statement.span), statement.span.start);
            self.declarations_in(*statement, &tokens);
        }
        broken
    }

    /// Finds the section and the agent of a broken statement.
    fn place_of(&self, span: Span) -> Broken {
        let sections = &self.index.sections;
        let after = sections.partition_point(|section| section.span.start <= span.start);
        let mut found = Broken { span, heading: "", scope: None };
        for section in sections[..after].iter().rev() {
            if section.span.start <= span.start && span.end <= section.span.end {
                let owner = section.owner.map(|owner| &self.index.declarations[owner as usize].name);
                found.heading = section.heading;
                found.scope = owner.and_then(|name| self.agents.get(&self.names.find(name)?).copied());
                break;
            }
            if section.heading == "Agent" {
                break;
            }
        }
        if matches!(found.heading, "" | "Agent") {
            found.heading = self.closed_section(span).unwrap_or(found.heading);
        }
        found
    }

    /// Returns the heading that statements without one miss: the name after their `end`.
    fn closed_section(&self, span: Span) -> Option<&'static str> {
        let mut words = self.sources.slice(span).rsplit(|c: char| !c.is_ascii_alphanumeric());
        let mut words = words.by_ref().filter(|word| !word.is_empty());
        let (name, end) = (words.next()?, words.next()?);
        let known = OF_AGENT.into_iter().chain(AFTER_AGENTS).find(|heading| *heading == name);
        known.filter(|_| end == "end")
    }

    fn declarations_in(&mut self, statement: Broken, tokens: &Tokens<'_>) {
        let (mut depth, mut colon) = (0u32, None);
        for index in 0..tokens.len() {
            match tokens.kind(index) {
                Token::OpenBrace => depth += 1,
                Token::CloseBrace => depth = depth.saturating_sub(1),
                Token::Colon => colon = Some(index),
                Token::Word if !NO_NAMES.contains(&tokens.text(index)) => {
                    let word = Word { index, in_braces: depth > 0, colon };
                    self.declaration_at(statement, tokens, word);
                }
                _ => {}
            }
        }
    }

    /// Declares the word at a token, if its section and the tokens beside it say that it is a declaration.
    fn declaration_at(&mut self, statement: Broken, tokens: &Tokens<'_>, word: Word) {
        let Broken { span: whole, heading, scope } = statement;
        let Word { index, in_braces, colon } = word;
        let next = tokens.kind(index + 1);
        let is_family = index == 0 && next == Token::OpenBracket;
        let is_listed = in_braces
            && matches!(tokens.kind(index.wrapping_sub(1)), Token::OpenBrace | Token::Comma)
            && index > 0;
        let before = |word: &str| index > 0 && tokens.text(index - 1) == word;
        let table = match (heading, scope) {
            ("Vars" | "Obsvars", Some(scope)) if !in_braces && (next == Token::Colon || is_family) => {
                Table::Variables(scope)
            }
            ("Vars" | "Obsvars", Some(scope)) if is_listed => {
                return self.broken_value(scope, tokens, index, colon);
            }
            ("Actions", Some(scope)) if is_listed => Table::Actions(scope),
            ("Lstate", Some(scope)) if is_listed => {
                let parent = Some(self.scopes[scope].declaration);
                let name = self.names.to_mut().intern(tokens.text(index));
                let states = match self.scopes[scope].local_states {
                    Some(states) => states,
                    None => self.enumerations.add(Vec::new(), whole, parent),
                };
                self.scopes[scope].local_states = Some(states);
                return self.enumerations.extend(states, name, tokens.span(index));
            }
            ("Evaluation", _) if is_family || tokens.text(index + 1) == "if" => Table::Propositions,
            ("Groups", _) if !in_braces && (is_family || next == Token::Equal) => Table::Groups,
            ("Formulae" | "Fairness", _) if !in_braces && index == 0 && next == Token::Colon => {
                Table::Properties
            }
            ("", _) if before("param") => Table::Parameters,
            _ => return,
        };
        let name = self.names.to_mut().intern(tokens.text(index));
        let parent = scope.map(|scope| self.scopes[scope].declaration);
        self.declare_in(table, New { name, at: tokens.span(index), whole, parent });
    }

    /// Declares a value of the variable that is declared last before it in the same statement.
    fn broken_value(&mut self, scope: usize, tokens: &Tokens<'_>, index: usize, colon: Option<usize>) {
        let Some(variable) = colon.and_then(|colon| self.name_ending_at(tokens, colon)) else { return };
        let Some(&declaration) = self.scopes[scope].variables.get(&variable) else { return };
        let values = match self.variable_enums.get(&declaration) {
            Some(values) => *values,
            None => {
                let whole = self.index.declarations[declaration as usize].whole;
                let values = self.enumerations.add(Vec::new(), whole, Some(declaration));
                self.variable_enums.insert(declaration, values);
                values
            }
        };
        let name = self.names.to_mut().intern(tokens.text(index));
        if !self.enumerations.has(values, name) {
            self.enumerations.extend(values, name, tokens.span(index));
        }
    }

    /// Returns the name whose last token, perhaps a `]`, stands just before a token.
    fn name_ending_at(&self, tokens: &Tokens<'_>, end: usize) -> Option<Symbol> {
        let word = word_before(tokens, end)?;
        self.names.find(tokens.text(word))
    }

    /// Adds the uses of names in broken statements.
    pub(super) fn broken_uses(&mut self, broken: &[Broken]) {
        for statement in broken {
            let tokens = Tokens::new(self.sources.slice(statement.span), statement.span.start);
            let outer = statement.scope.map_or_else(Vec::new, |scope| self.scopes[scope].indexes.clone());
            self.indexes = outer;
            let mut depth = 0u32;
            for index in 0..tokens.len() {
                match tokens.kind(index) {
                    Token::OpenBrace => depth += 1,
                    Token::CloseBrace => depth = depth.saturating_sub(1),
                    Token::Word => self.broken_use(*statement, &tokens, index, depth > 0),
                    _ => {}
                }
            }
            self.indexes.clear();
        }
    }

    fn broken_use(&mut self, statement: Broken, tokens: &Tokens<'_>, index: usize, in_braces: bool) {
        let (text, at) = (tokens.text(index), tokens.span(index));
        if NO_NAMES.contains(&text) {
            return;
        }
        if tokens.text(index + 1) == "in" && tokens.kind(index + 1) == Token::Word {
            return self.broken_index(statement, tokens, index);
        }
        let Some(name) = self.names.find(text) else { return };
        let before = if index == 0 { Token::End } else { tokens.kind(index - 1) };
        if before == Token::Dot {
            let owner = self.name_ending_at(tokens, index - 1).and_then(|agent| self.agents.get(&agent));
            let variable = owner.and_then(|scope| self.scopes[*scope].variables.get(&name).copied());
            return variable.into_iter().for_each(|variable| self.use_at(variable, name, at));
        }
        if tokens.kind(index + 1) == Token::Dot && self.agent_name(name, at).is_some() {
            return;
        }
        if let Token::Equal | Token::Unequal = before {
            let other = self.compared(statement, tokens, index - 1);
            match other {
                Some(Compared::Action(owner)) => return self.action(owner, name, at),
                Some(Compared::Values(values)) if self.enumerations.has(values, name) => {
                    return self.enumerations.add_use(values, name, at);
                }
                _ => {}
            }
        }
        match (statement.heading, statement.scope) {
            ("Protocol", Some(scope)) if in_braces => self.action(scope, name, at),
            ("Actions", Some(scope)) => self.action(scope, name, at),
            ("Lgreen", Some(scope)) => self.local_state(scope, name, at),
            ("Lobsvars", Some(_)) => {
                let seen =
                    self.environment.and_then(|scope| self.scopes[scope].variables.get(&name).copied());
                seen.into_iter().for_each(|seen| self.use_at(seen, name, at));
            }
            ("Groups", _) if in_braces => _ = self.agent_name(name, at),
            ("Formulae" | "Fairness", _) => self.broken_formula_name(name, at, before, in_braces),
            (_, scope) => {
                let place = scope.map_or(Place::Global, Place::Agent);
                self.plain_name(Ref { name, indexes: List::EMPTY }, at, place, None);
            }
        }
    }

    /// Adds the use of a name in a broken formula: where agents may stand it is a group or an agent.
    fn broken_formula_name(&mut self, name: Symbol, at: Span, before: Token, in_braces: bool) {
        let group = self.groups.get(&name).copied();
        if in_braces || matches!(before, Token::Less | Token::Open) {
            if let Some(group) = group {
                return self.use_at(group, name, at);
            }
            if self.agent_name(name, at).is_some() {
                return;
            }
        }
        self.plain_name(Ref { name, indexes: List::EMPTY }, at, Place::Formula, None);
    }

    /// Declares the index variable of a broken loop or family. It is in scope up to the end of the statement.
    fn broken_index(&mut self, statement: Broken, tokens: &Tokens<'_>, index: usize) {
        let name = self.names.to_mut().intern(tokens.text(index));
        let at = tokens.span(index);
        let parent = statement.scope.map(|scope| self.scopes[scope].declaration);
        let whole = at.to(tokens.span(index + 1));
        let declaration = self.declare(NameKind::Index, New { name, at, whole, parent });
        if self.indexes.len() >= MAX_INDEXES {
            self.indexes.remove(0);
        }
        self.indexes.push((name, declaration));
    }

    /// Returns what the left-hand side of a comparison is, given the token of its sign.
    fn compared(&self, statement: Broken, tokens: &Tokens<'_>, sign: usize) -> Option<Compared> {
        let word = word_before(tokens, sign)?;
        let name = self.names.find(tokens.text(word))?;
        let scope = if word > 0 && tokens.kind(word - 1) == Token::Dot {
            *self.agents.get(&self.name_ending_at(tokens, word - 1)?)?
        } else {
            statement.scope?
        };
        if Some(name) == self.word_action && !self.scopes[scope].variables.contains_key(&name) {
            return Some(Compared::Action(scope));
        }
        self.enumeration_in(scope, name).map(Compared::Values)
    }
}

/// The left-hand side of a comparison.
enum Compared {
    /// The action of the agent with this scope.
    Action(usize),
    /// A variable of this enumeration.
    Values(u32),
}

/// Returns the token of the word that ends just before a token, perhaps with indexes in brackets.
fn word_before(tokens: &Tokens<'_>, end: usize) -> Option<usize> {
    let mut at = end.checked_sub(1)?;
    if tokens.kind(at) == Token::CloseBracket {
        let first = at.saturating_sub(MAX_INDEX_TOKENS);
        at = (first..at).rev().find(|before| tokens.kind(*before) == Token::OpenBracket)?;
        at = at.checked_sub(1)?;
    }
    (tokens.kind(at) == Token::Word).then_some(at)
}
