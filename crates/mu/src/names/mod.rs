//! Names of a property file for editors: properties, variables of fixpoints, and the words that the model's language
//! gives a meaning: labels, messages, roles, predicates and atoms, which are declared by their first use.
//!
//! The index is read from the tokens. Brackets and `;` give the scopes of variables, so an error in one property
//! leaves the names of the others.

mod primitive;

use masque_text::{
    Declaration, FileId, Library, NameIndex, NameKind, NameUse, Section, Sources, Span, on_one_line,
};
use rustc_hash::FxHashMap;

use crate::lexer::{Token, Tokens};
use crate::parser::{NESTING_LIMIT, RESERVED, is_variable};

/// Maximum number of bytes of a property that is shown on one line.
const MAX_SHOWN_BYTES: usize = 160;

/// Finds the names of a property file. Property files have no imports, so no library is read.
///
/// ```
/// use masque_text::{NoFiles, NameKind, Sources};
///
/// let mut sources = Sources::default();
/// let text = "broken : AG <go> ;\nloop : nu X. <go>X || [stop]ff ;\n";
/// let file = sources.add("tiny.mu", text).unwrap();
/// let index = masque_mu::names(&mut sources, file, &NoFiles);
/// let go = index.at(text.rfind("go").unwrap() as u32).unwrap();
/// assert_eq!(index.declaration(go).kind, NameKind::Action);
/// assert_eq!(index.uses_of(go.declaration).count(), 2);
/// ```
pub fn names(sources: &mut Sources, file: FileId, _library: &dyn Library) -> NameIndex {
    let tokens = Tokens::new(sources.text(file), sources.span(file).start);
    let mut reader = Reader {
        tokens: &tokens,
        index: NameIndex::default(),
        known: FxHashMap::default(),
        fixpoints: Vec::new(),
        brackets: Vec::new(),
        property: None,
    };
    let mut at = 0;
    while at < tokens.len() {
        at = reader.property(at);
    }
    let mut index = reader.index;
    index.sort();
    index
}

/// What an open bracket contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    /// A formula. The number of variables in scope before it is restored after it.
    Formula(usize),
    /// Steps: the inside of a modality, of `inev( )` and `resp( )`, and brackets in them.
    Steps,
}

struct Reader<'t> {
    tokens: &'t Tokens<'t>,
    index: NameIndex,
    /// Declarations of names that are declared by their first use, and of properties.
    known: FxHashMap<(NameKind, &'t str), u32>,
    /// Variables of fixpoints in scope, innermost last.
    fixpoints: Vec<(&'t str, u32)>,
    /// Open brackets, outermost first.
    brackets: Vec<Bracket>,
    /// The current property.
    property: Option<u32>,
}

impl<'t> Reader<'t> {
    fn declare(&mut self, kind: NameKind, at: usize, whole: Span) -> u32 {
        let span = self.tokens.span(at);
        self.index.declarations.push(Declaration {
            name: self.tokens.text(at).to_string(),
            kind,
            span,
            whole,
            parent: if kind == NameKind::Fixpoint { self.property } else { None },
            text: self.one_line(whole),
            details: Vec::new(),
        });
        let declaration = self.index.declarations.len() as u32 - 1;
        self.index.uses.push(NameUse { span, declaration });
        declaration
    }

    fn one_line(&self, span: Span) -> String {
        let text = self.tokens.slice(span);
        let short = &text[..text.floor_char_boundary(MAX_SHOWN_BYTES)];
        let line = on_one_line::<Token>(short);
        if short.len() < text.len() { format!("{line} ..") } else { line }
    }

    /// Adds the use of a name; its first use declares it.
    fn mention(&mut self, kind: NameKind, at: usize) {
        let (text, span) = (self.tokens.text(at), self.tokens.span(at));
        match self.known.get(&(kind, text)) {
            Some(&declaration) => self.index.uses.push(NameUse { span, declaration }),
            None => {
                let declaration = self.declare(kind, at, span);
                self.known.insert((kind, text), declaration);
            }
        }
    }

    /// Reads a property, good or broken, and returns the index of the token after it.
    fn property(&mut self, start: usize) -> usize {
        let tokens = self.tokens;
        let end = self.end_of_property(start);
        let is_named = matches!(tokens.kind(start), Token::Word | Token::Number)
            && tokens.kind(start + 1) == Token::Colon;
        let last =
            if tokens.kind(end - 1) == Token::Semicolon && end - 1 > start { end - 2 } else { end - 1 };
        let whole = tokens.span(start).to(tokens.span(last));
        self.property = None;
        if is_named {
            let key = (NameKind::Property, tokens.text(start));
            let declaration = match self.known.get(&key) {
                Some(&first) => {
                    self.index.uses.push(NameUse { span: tokens.span(start), declaration: first });
                    first
                }
                None => self.declare(NameKind::Property, start, whole),
            };
            self.known.insert(key, declaration);
            self.property = Some(declaration);
            let span = tokens.span(start).to(tokens.span(end - 1));
            self.index.sections.push(Section { heading: "property", span, owner: Some(declaration) });
        }
        let mut at = if is_named { start + 2 } else { start };
        while at < end {
            at = self.token(at, end);
        }
        self.fixpoints.clear();
        self.brackets.clear();
        end
    }

    /// Returns the index of the token after the next `;`, or of what looks like the next property.
    fn end_of_property(&self, start: usize) -> usize {
        let begins_property = |at: usize| {
            self.tokens.kind(at) == Token::Word
                && self.tokens.kind(at + 1) == Token::Colon
                && self.tokens.gap(at).contains('\n')
        };
        let mut at = start;
        loop {
            match self.tokens.kind(at) {
                Token::End => return at,
                Token::Semicolon => return at + 1,
                _ if at > start && begins_property(at) => return at,
                _ => at += 1,
            }
        }
    }

    /// Reads one token, or a word with its argument. Returns the index of the next token.
    fn token(&mut self, at: usize, end: usize) -> usize {
        let in_steps = self.brackets.last() == Some(&Bracket::Steps);
        match self.tokens.kind(at) {
            Token::Open if in_steps => self.brackets.push(Bracket::Steps),
            Token::Open => self.brackets.push(Bracket::Formula(self.fixpoints.len())),
            Token::Less | Token::OpenBracket => self.brackets.push(Bracket::Steps),
            Token::Close | Token::CloseBracket => self.close(),
            Token::Greater if in_steps => self.close(),
            Token::Word | Token::Quoted | Token::Hash if in_steps => return self.pattern(at, end),
            Token::Mu | Token::Nu => return self.fixpoint(at),
            Token::Word => return self.word(at, end),
            _ => {}
        }
        at + 1
    }

    fn close(&mut self) {
        if let Some(Bracket::Formula(n_variables)) = self.brackets.pop() {
            self.fixpoints.truncate(n_variables);
        }
    }

    /// Reads `mu X.`, whose variable is in scope up to the end of the bracket around it.
    fn fixpoint(&mut self, at: usize) -> usize {
        let name = at + 1;
        if self.tokens.kind(name) != Token::Word || !is_variable(self.tokens.text(name)) {
            return at + 1;
        }
        let whole = self.tokens.span(at).to(self.tokens.span(name));
        let declaration = self.declare(NameKind::Fixpoint, name, whole);
        let is_least = matches!(self.tokens.text(at), "mu" | "μ");
        let kind = if is_least { "least" } else { "greatest" };
        self.index.declarations[declaration as usize].details =
            vec![format!("Variable of a {kind} fixpoint.")];
        self.fixpoints.push((self.tokens.text(name), declaration));
        name + 1
    }

    /// Reads a word of a formula: an operator, a variable, or an atom of the language of the model.
    fn word(&mut self, at: usize, end: usize) -> usize {
        let text = self.tokens.text(at);
        match text {
            "mu" | "nu" => self.fixpoint(at),
            "inev" | "resp" if self.tokens.kind(at + 1) == Token::Open => {
                self.brackets.push(Bracket::Steps);
                at + 2
            }
            _ if RESERVED.contains(&text) => at + 1,
            _ if is_variable(text) => {
                if let Some(&(_, declaration)) =
                    self.fixpoints.iter().rev().take(NESTING_LIMIT as usize).find(|(name, _)| *name == text)
                {
                    self.index.uses.push(NameUse { span: self.tokens.span(at), declaration });
                }
                at + 1
            }
            _ => self.atom(at, end),
        }
    }
}
