//! Names in items that could not be parsed, found token by token.
//!
//! Brackets and operators such as `B(a, ..)` decide which program a name belongs to, as in the tree. Names that no
//! program declares are left alone, so a guess is never wrong about a name that the checker would resolve.

use masque_text::Span;

use super::items::{Item, ItemKind, body_start, name_at};
use super::scopes::{Key, ProgramIndex, Scopes, Signature};
use crate::lexer::{Token, Tokens, is_reserved};
use crate::parser::operator;
use crate::tree::{Name, Op};

/// Returns the heading of a view, from the tree or from its tokens.
pub(super) fn view_heading(tokens: &Tokens<'_>, item: &Item, scopes: &Scopes<'_>) -> Option<Signature> {
    if let Some(view) = item.in_tree.map(|at| &scopes.tree.views[at]) {
        return Some(Signature { op: view.op, agent: view.agent.clone(), observer: view.observer.clone() });
    }
    let reader = Reader { tokens, end: item.end };
    let (op, agent, after) = match reader.edge(item.first + 1) {
        Some((op, agent, after)) => (Some(op), agent, after),
        None => (None, name_at(tokens, item.first + 1)?, item.first + 2),
    };
    let observer = name_at(tokens, after + 1).filter(|_| reader.text(after) == "in")?;
    Some(Signature { op, agent, observer })
}

/// Declares the names of a broken agent or view.
pub(super) fn declare_names<'t>(scopes: &mut Scopes<'t>, item: &Item, tokens: &Tokens<'t>) {
    let Some(&program) = scopes.of_broken.get(&item.span.start).filter(|_| item.is_broken) else { return };
    let reader = Reader { tokens, end: item.end };
    for index in (item.first..item.end).filter(|&index| reader.text(index) == "var") {
        scopes.programs[program].is_open = false;
        reader.variables(scopes, program, index + 1);
    }
    let mut scan = Scan::new(scopes, reader, Some(program));
    scan.declares = true;
    scan.run(body_start(tokens, item));
}

/// Adds the uses of names in a broken item.
pub(super) fn use_names<'t>(scopes: &mut Scopes<'t>, item: &Item, tokens: &Tokens<'t>) {
    let reader = Reader { tokens, end: item.end };
    let (program, from) = match item.kind {
        ItemKind::Agent => (scopes.of_broken.get(&item.span.start).copied(), body_start(tokens, item)),
        ItemKind::View => (scopes.of_broken.get(&item.span.start).copied(), item.first + 1),
        ItemKind::Property | ItemKind::Check => {
            let named = usize::from(item.kind == ItemKind::Property);
            (reader.world(scopes, item.first), item.first + 1 + named)
        }
        _ => (None, item.first + 1),
    };
    Scan::new(scopes, reader, program).run(from.min(item.end));
}

/// Tokens up to the end of an item.
#[derive(Clone, Copy)]
struct Reader<'a, 't> {
    tokens: &'a Tokens<'t>,
    end: usize,
}

impl Reader<'_, '_> {
    fn kind(&self, index: usize) -> Token {
        if index < self.end { self.tokens.kind(index) } else { Token::End }
    }

    fn text(&self, index: usize) -> &str {
        if index < self.end { self.tokens.text(index) } else { "" }
    }

    /// Reads `B(a` or `B_a`: operator, agent, and the index after it and its `)`.
    fn edge(&self, index: usize) -> Option<(Op, Name, usize)> {
        if let (Some((op, _)), Token::Open) = (operator(self.text(index)), self.kind(index + 1)) {
            let agent = name_at(self.tokens, index + 2).filter(|_| index + 2 < self.end)?;
            let after = index + 3 + usize::from(self.kind(index + 3) == Token::Close);
            return Some((op, agent, after));
        }
        let (op, agent) = self.subscript(index)?;
        Some((op, agent, index + 1))
    }

    /// Reads `B_a`.
    fn subscript(&self, index: usize) -> Option<(Op, Name)> {
        let word = self.text(index);
        let (letters, agent) = word.split_once('_').filter(|(_, agent)| !agent.is_empty())?;
        let (op, _) = operator(letters)?;
        let span = self.tokens.span(index).slice(letters.len() as u32 + 1, word.len() as u32);
        Some((op, Name { text: agent.to_string(), span }))
    }

    /// Returns the program of the world that a property or a check names, or of the top world.
    fn world(&self, scopes: &Scopes<'_>, first: usize) -> Option<ProgramIndex> {
        let ends = |kind| matches!(kind, Token::Colon | Token::Semicolon);
        let heading = (first..self.end).take_while(|&index| !ends(self.kind(index)));
        let Some(at) = heading.into_iter().find(|&index| self.text(index) == "in") else {
            return scopes.top;
        };
        let mut program = match self.text(at + 1) {
            "top" => scopes.top,
            root => scopes.program_of(root),
        };
        let mut at = at + 2;
        while self.kind(at) == Token::Dot {
            let Some((op, agent, after)) = self.edge(at + 1) else { break };
            program = program.and_then(|program| scopes.child(program, op, &agent.text));
            at = after;
        }
        program
    }

    /// Declares the variables and values of a `var` line that may be broken.
    fn variables(&self, scopes: &mut Scopes<'_>, program: ProgramIndex, from: usize) {
        let (mut depth, mut is_type) = (0usize, false);
        for index in from..self.end {
            match self.kind(index) {
                Token::Semicolon => return,
                Token::Colon => is_type = true,
                Token::Comma if depth == 0 => is_type = false,
                Token::Open | Token::OpenBrace => depth += 1,
                Token::Close | Token::CloseBrace => depth = depth.saturating_sub(1),
                Token::Word if is_reserved(self.text(index)) => return,
                _ => {}
            }
            let Some(name) = name_at(self.tokens, index) else { continue };
            let (key, whole, text) = match (depth, is_type) {
                (0, false) => {
                    let has_args = self.kind(index + 1) == Token::Open;
                    let whole = self.variable_span(index);
                    let text = super::scopes::one_line(self.tokens.slice(whole));
                    (Key::Variable(name.text.clone(), has_args), whole, text)
                }
                (1, true) => (Key::Value(name.text.clone()), name.span, format!("{} : value", name.text)),
                _ => continue,
            };
            scopes.declare_in(program, key, &name, whole, text);
        }
    }

    /// Returns the location of a declared variable with its type.
    fn variable_span(&self, index: usize) -> Span {
        let mut depth = 0usize;
        let is_end = |&at: &usize| {
            match self.kind(at) {
                Token::Open | Token::OpenBrace => depth += 1,
                Token::Close | Token::CloseBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            matches!(self.kind(at), Token::Semicolon | Token::End)
                || self.kind(at) == Token::Comma && depth == 0
        };
        let after = (index + 1..=self.end).find(is_end).unwrap_or(index + 1);
        self.tokens.span(index).to(self.tokens.span(after - 1))
    }
}

/// End of a part of a formula that is about another program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The bracket that is opened at this depth is closed.
    Depth(usize),
    /// One operand was read.
    Operand,
}

/// A part of a formula with names of its own.
#[derive(Clone, Copy)]
struct Inner {
    /// Program that the names belong to.
    program: Option<ProgramIndex>,
    until: Until,
}

/// Words that are no names where a formula or a statement is expected, although they are not reserved.
const NO_NAMES: [&str; 15] = [
    "in",
    "AP",
    "not",
    "unless",
    "U",
    "R",
    "W",
    "E",
    "A",
    "fair",
    "blind",
    "single_minded",
    "open_minded",
    "persistent",
    "is",
];

/// A pass over the tokens of a broken item.
struct Scan<'s, 'a, 't> {
    scopes: &'s mut Scopes<'t>,
    reader: Reader<'a, 't>,
    /// Program of the item.
    program: Option<ProgramIndex>,
    /// Attitudes and arguments around the current token.
    inner: Vec<Inner>,
    depth: usize,
    /// Name that a `forall` binds up to the end of its statement, and its declaration.
    bound: Option<(String, Option<u32>)>,
    /// Whether names are declared and not used.
    declares: bool,
}

impl<'s, 'a, 't> Scan<'s, 'a, 't> {
    fn new(
        scopes: &'s mut Scopes<'t>,
        reader: Reader<'a, 't>,
        program: Option<ProgramIndex>,
    ) -> Scan<'s, 'a, 't> {
        Scan { scopes, reader, program, inner: Vec::new(), depth: 0, bound: None, declares: false }
    }

    fn run(&mut self, from: usize) {
        let mut index = from;
        while index < self.reader.end {
            match self.reader.kind(index) {
                Token::Open | Token::OpenBrace | Token::OpenBracket => {
                    self.depth += 1;
                    self.open_operands();
                }
                Token::Close | Token::CloseBrace | Token::CloseBracket => self.close(),
                // No attitude goes on after these, even if a bracket is missing.
                Token::Semicolon => {
                    self.bound = None;
                    self.inner.clear();
                }
                Token::Assign => self.inner.clear(),
                Token::Word => index = self.word(index),
                _ => {}
            }
            index += 1;
        }
    }

    /// The program that names belong to.
    fn program(&self) -> Option<ProgramIndex> {
        self.inner.last().map_or(self.program, |inner| inner.program)
    }

    /// The program by which the agent of the current program pictures another agent.
    fn child(&self, op: Op, agent: &Name) -> Option<ProgramIndex> {
        self.program().and_then(|program| self.scopes.child(program, op, &agent.text))
    }

    /// Operands that begin with this bracket end with it.
    fn open_operands(&mut self) {
        let depth = self.depth;
        for inner in self.inner.iter_mut().rev().take_while(|inner| inner.until == Until::Operand) {
            inner.until = Until::Depth(depth);
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let depth = self.depth;
        self.inner.retain(|inner| matches!(inner.until, Until::Depth(open) if open <= depth));
    }

    /// Reads a word; returns the index of its last token.
    fn word(&mut self, index: usize) -> usize {
        let word = self.reader.text(index).to_string();
        let is_call = self.reader.kind(index + 1) == Token::Open;
        match word.as_str() {
            "do" => return self.action(index),
            "forall" => return self.forall(index),
            "if" | "then" | "else" | "loop" | "endloop" | "init" | "bdi" | "var" => self.inner.clear(),
            _ => {}
        }
        if is_reserved(&word) {
            return index;
        }
        if let (Some((op, agent, _)), true) = (self.reader.edge(index), operator(&word).is_some()) {
            self.use_agent(&agent);
            let program = self.child(op, &agent);
            self.depth += 1;
            self.open_operands();
            self.inner.push(Inner { program, until: Until::Depth(self.depth) });
            return index + 2;
        }
        if let Some((op, agent)) = self.reader.subscript(index)
            && self.scopes.agents.contains_key(&agent.text)
            && !self.is_variable(&word, is_call)
        {
            self.use_agent(&agent);
            let before = index.checked_sub(1).map_or("", |before| self.reader.text(before));
            if !matches!(before, "." | "view") {
                let program = self.child(op, &agent);
                self.inner.push(Inner { program, until: Until::Operand });
            }
            return index;
        }
        self.name(index, is_call);
        let program = self.program();
        self.inner.retain(|inner| is_call || inner.until != Until::Operand);
        if is_call {
            self.depth += 1;
            self.open_operands();
            self.inner.push(Inner { program, until: Until::Depth(self.depth) });
            return index + 1;
        }
        index
    }

    fn is_variable(&self, word: &str, has_args: bool) -> bool {
        let key = Key::Variable(word.to_string(), has_args);
        self.program().is_some_and(|program| self.scopes.programs[program].names.contains_key(&key))
    }

    fn use_agent(&mut self, name: &Name) {
        if !self.declares {
            self.scopes.use_agent(name);
        }
    }

    /// Reads `do a`. The arguments of `read` are variables.
    fn action(&mut self, index: usize) -> usize {
        let name = name_at(self.reader.tokens, index + 1).filter(|_| index + 1 < self.reader.end);
        let (Some(name), Some(program)) = (name, self.program()) else { return index };
        if name.text == "read" {
            return index + 1;
        }
        let key = Key::Action(name.text.clone());
        if self.declares && self.inner.is_empty() {
            let text = format!("do {}", name.text);
            self.scopes.declare_in(program, key, &name, name.span, text);
        } else if let Some(&action) = self.scopes.programs[program].names.get(&key)
            && !self.declares
        {
            self.scopes.add_use(name.span, action);
        }
        if self.reader.kind(index + 2) == Token::Open {
            self.depth += 1;
            self.open_operands();
            self.inner.push(Inner { program: Some(program), until: Until::Depth(self.depth) });
            return index + 2;
        }
        index + 1
    }

    /// Reads `forall x in AP : x`.
    fn forall(&mut self, index: usize) -> usize {
        let Some(name) = name_at(self.reader.tokens, index + 1).filter(|_| index + 1 < self.reader.end)
        else {
            return index;
        };
        let declared = (!self.declares).then(|| self.scopes.declare_index(self.program, &name, name.span));
        self.bound = Some((name.text, declared));
        // `in AP` has no names.
        if self.reader.text(index + 3) == "AP" { index + 3 } else { index + 1 }
    }

    fn name(&mut self, index: usize, has_args: bool) {
        let Some(name) = name_at(self.reader.tokens, index) else { return };
        if let Some((bound, declared)) = &self.bound
            && *bound == name.text
            && !has_args
            && self.inner.is_empty()
        {
            if let Some(declared) = *declared {
                self.scopes.add_use(name.span, declared);
            }
            return;
        }
        if self.declares {
            return self.declare(&name, has_args);
        }
        let names = self.program().map(|program| &self.scopes.programs[program].names);
        let found = names.and_then(|names| {
            let variable = names.get(&Key::Variable(name.text.clone(), has_args));
            variable.or_else(|| names.get(&Key::Value(name.text.clone())).filter(|_| !has_args)).copied()
        });
        match found {
            Some(found) => self.scopes.add_use(name.span, found),
            None if !has_args => _ = self.scopes.use_agent(&name),
            None => {}
        }
    }

    /// Declares a variable of a program that declares none.
    fn declare(&mut self, name: &Name, has_args: bool) {
        let Some(program) = self.program.filter(|_| self.inner.is_empty()) else { return };
        let is_word = NO_NAMES.contains(&name.text.as_str()) || self.scopes.agents.contains_key(&name.text);
        if self.scopes.programs[program].is_open && !is_word {
            let key = Key::Variable(name.text.clone(), has_args);
            let text = format!("{} : boolean", name.text);
            self.scopes.declare_in(program, key, name, name.span, text);
        }
    }
}
