//! Completion in programs: declarations, statements and assignments.

use masque_text::{Completion, NameKind};

use super::complete::{ATTITUDES, Completer, Place, items};
use super::operators::words;
use crate::lexer::Token;
use crate::parser::operator;

impl Completer<'_> {
    /// Completes the program of an agent or a view after its `is`.
    pub(super) fn in_program(&self, place: Place) -> Vec<Completion> {
        let program = place.owner;
        let is = self.find("is", place.first).unwrap_or(place.first);
        let is_start = self.word(1) == "is";
        let is_after_declarations =
            self.kind(1) == Token::Semicolon && matches!(place.part, "var" | "bdi" | "fair");
        if is_start || is_after_declarations {
            let mut found = words(&["var", "bdi", "fair", "init"]);
            found.extend(self.statement(program));
            return found;
        }
        match place.part {
            // Names that are declared here.
            "var" => Vec::new(),
            "bdi" if self.word(1) == "bdi" || self.is_list_comma() => words(&ATTITUDES),
            "bdi" | "fair" => self.formula(program, place.part_first + 1),
            "init" if self.word(1) == "init" || self.is_list_comma() => self.targets(program),
            "init" if self.kind(1) == Token::Semicolon => self.statement(program),
            _ => self.in_statements(program, is, place.is_cut),
        }
    }

    /// Whether the last token is a comma outside of all brackets, as in `x := e, y := f`.
    fn is_list_comma(&self) -> bool {
        self.kind(1) == Token::Comma && self.open_bracket(self.before.n_complete).is_none()
    }

    /// Returns the index of the innermost bracket that is open at a token of the statement or block.
    pub(super) fn open_bracket(&self, end: usize) -> Option<usize> {
        let mut depth = 0usize;
        for token in (0..end).rev() {
            match self.before.tokens.kind(token) {
                Token::Close | Token::CloseBracket => depth += 1,
                Token::Open | Token::OpenBracket if depth == 0 => return Some(token),
                Token::Open | Token::OpenBracket => depth -= 1,
                Token::Semicolon | Token::OpenBrace | Token::CloseBrace if depth == 0 => return None,
                _ if depth == 0 && matches!(self.before.word(token), "loop" | "then" | "else" | "is") => {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// Whether a statement begins at a token.
    fn begins_statement(&self, mut end: usize) -> bool {
        while let Some(last) = end.checked_sub(1) {
            match self.before.tokens.kind(last) {
                Token::Semicolon | Token::OpenBrace => return true,
                // A block may be in round brackets.
                Token::Open => end = last,
                // A choice of statements or a disjunction, as the statement before it shows.
                Token::Bar => match self.edge(last) {
                    Some(edge) if self.before.tokens.kind(edge) == Token::Open => end = edge,
                    Some(edge) => return self.before.word(edge) != "if",
                    None => return true,
                },
                _ => return matches!(self.before.word(last), "loop" | "then" | "else" | "is"),
            }
        }
        false
    }

    /// Returns the index of the token before which the part of a statement begins that goes on at a token: the open
    /// bracket around it, or the word or sign that the part follows.
    fn edge(&self, end: usize) -> Option<usize> {
        let mut depth = 0usize;
        for token in (0..end).rev() {
            match self.before.tokens.kind(token) {
                Token::Close | Token::CloseBracket | Token::CloseBrace => depth += 1,
                Token::Open | Token::OpenBracket | Token::OpenBrace if depth == 0 => return Some(token),
                Token::Open | Token::OpenBracket | Token::OpenBrace => depth -= 1,
                Token::Semicolon | Token::Assign if depth == 0 => return Some(token),
                _ if depth == 0
                    && matches!(self.before.word(token), "if" | "then" | "else" | "loop" | "is" | "init") =>
                {
                    return Some(token);
                }
                _ => {}
            }
        }
        None
    }

    fn in_statements(&self, program: Option<u32>, is: usize, is_cut: bool) -> Vec<Completion> {
        let end = self.before.n_complete;
        // The beginning of a long program may have any loops.
        let is_in_loop = is_cut || self.n_open_loops(is) > 0;
        if self.is_in_attitude_agent() {
            return self.agents();
        }
        if self.begins_statement(end) {
            let mut found = self.statement(program);
            found.extend(words(if is_in_loop { &["endloop"] } else { &[] }));
            // The program may end here.
            if !is_in_loop && self.kind(1) == Token::Semicolon && self.edge(end - 1).is_some() {
                found.extend(items());
            }
            return found;
        }
        if self.is_list_comma() {
            return self.targets(program);
        }
        match self.word(1) {
            "do" => return self.actions(program),
            "forall" => return Vec::new(),
            "in" => return words(&["AP"]),
            _ if self.word(2) == "forall" => return words(&["in"]),
            _ => {}
        }
        if self.kind(1) == Token::Assign {
            return self.assigned(program);
        }
        if !self.is_after_operand() && self.word(1) != "endloop" && self.word(1) != "skip" {
            return self.formula(program, is + 1);
        }
        let edge = self.edge(end).map_or("", |edge| self.before.word(edge));
        if edge == "if" {
            return words(&["then"]);
        }
        if let Some(found) = self.after_operand() {
            return found;
        }
        if is_in_loop {
            return words(&["else", "endloop"]);
        }
        words(&["else"]).into_iter().chain(items()).collect()
    }

    fn n_open_loops(&self, is: usize) -> usize {
        let mut n_open = 0usize;
        for token in is..self.before.n_complete {
            match self.before.word(token) {
                "loop" => n_open += 1,
                "endloop" => n_open = n_open.saturating_sub(1),
                _ => {}
            }
        }
        n_open
    }

    /// The beginnings of statements.
    fn statement(&self, program: Option<u32>) -> Vec<Completion> {
        let mut found = self.targets(program);
        found.push(Completion::keyword("do", "performs an action"));
        found.push(Completion::keyword("if", "a test, which takes no time"));
        found.push(Completion::keyword("loop", "repeats statements forever"));
        found.push(Completion::keyword("skip", "a step that changes nothing"));
        found.push(Completion::snippet("if ${1:condition} then ${2:skip} else ${3:skip}", "a test"));
        found.push(Completion::snippet("loop\n  $0\nendloop", "repeats statements forever"));
        found
    }

    /// What can be assigned to.
    fn targets(&self, program: Option<u32>) -> Vec<Completion> {
        let mut found = self.own_names(program, NameKind::Variable);
        found.extend(words(&ATTITUDES));
        found.extend(words(&["forall"]));
        found
    }

    fn actions(&self, program: Option<u32>) -> Vec<Completion> {
        let mut found = self.own_names(program, NameKind::Action);
        found.push(Completion::keyword("read", "`read(x, y)`: each variable gets any value"));
        found
    }

    /// The right-hand side of an assignment.
    fn assigned(&self, program: Option<u32>) -> Vec<Completion> {
        let values = self.values(program, self.before.n_complete - 1);
        let is_enumeration = !values.is_empty();
        let mut found = values;
        found.extend(words(&["any"]));
        if !is_enumeration {
            found.extend(self.operands(program));
        } else {
            found.extend(self.own_names(program, NameKind::Variable));
        }
        found
    }

    /// Returns the names of one kind that a program declares.
    pub(super) fn own_names(&self, program: Option<u32>, kind: NameKind) -> Vec<Completion> {
        let Some(program) = program else { return Vec::new() };
        let own = self.index.children(Some(program)).filter(|(_, one)| one.kind == kind);
        own.map(|(_, one)| Completion::name(one)).collect()
    }

    /// Returns the values of the variable before a token, which is `=`, `:=` or another comparison.
    pub(super) fn values(&self, program: Option<u32>, sign: usize) -> Vec<Completion> {
        let (Some(program), Some(name)) = (program, sign.checked_sub(1)) else { return Vec::new() };
        let (name, own) = (self.before.word(name), || self.index.children(Some(program)));
        let is_variable = |one: &masque_text::Declaration| one.kind == NameKind::Variable && one.name == name;
        let Some((_, variable)) = own().find(|(_, one)| is_variable(one)) else { return Vec::new() };
        let is_value_of = |one: &masque_text::Declaration| {
            let is_inside = variable.whole.start <= one.span.start && one.span.end <= variable.whole.end;
            one.kind == NameKind::Value && is_inside
        };
        own().filter(|(_, one)| is_value_of(one)).map(|(_, one)| Completion::name(one)).collect()
    }

    /// Returns the attitude whose brackets open at a token: its letters and its agent.
    pub(super) fn attitude_at(&self, open: usize) -> Option<(&'static str, &str)> {
        let (op, _) = operator(self.before.word(open.checked_sub(1)?))?;
        let agent = self.before.word(open + 1);
        (!agent.is_empty()).then_some((op.name(), agent))
    }
}
