//! The items of a file: agents, views, properties, options.

use masque_text::{Diagnostic, ImportPath, Parsed, Reported, Span};

use super::Parser;
use crate::lexer::{Token, is_reserved};
use crate::tree::{
    Agent, BdiDecl, Body, Name, Op, OptionDecl, Path, Property, Question, QuestionText, Realism, Tree, Type,
    VarDecl, View,
};

impl Parser<'_> {
    /// Reads items up to the next import, which is returned, or to the end of the file.
    pub(super) fn file(&mut self, tree: &mut Tree) -> Option<ImportPath> {
        while self.kind() != Token::End {
            let start = self.position;
            let result = if self.word() == "import" {
                self.import().map(Some)
            } else {
                self.item(tree).map(|()| None)
            };
            match result {
                Ok(None) => {}
                Ok(import) => return import,
                Err(Reported) => self.recover(start),
            }
        }
        None
    }

    /// Reads the properties and checks of a file that has nothing else.
    pub(super) fn properties(&mut self, tree: &mut Tree) {
        while self.kind() != Token::End {
            let start = self.position;
            let result = match self.word() {
                "property" => self.property(),
                "check" => self.check(),
                _ => Err(self.expected("`property NAME : FORMULA;` or `check`")),
            };
            match result {
                Ok(property) => tree.properties.push(property),
                Err(Reported) => self.recover(start),
            }
        }
    }

    /// Reads `import "agents.bdi";`.
    fn import(&mut self) -> Parsed<ImportPath> {
        self.advance();
        if self.kind() != Token::Quoted {
            return Err(self.expected("the path of a file in quotes, as in `import \"agents.bdi\";`"));
        }
        let span = self.advance();
        let text = self.text_of(span).trim_matches('"').to_string();
        self.semicolon("`;`")?;
        Ok(ImportPath { text, span })
    }

    fn item(&mut self, tree: &mut Tree) -> Parsed<()> {
        match self.word() {
            "agent" => {
                let agent = self.agent()?;
                tree.agents.push(agent);
            }
            "view" => {
                let view = self.view()?;
                tree.views.push(view);
            }
            "mas" => {
                let start = self.position;
                self.advance();
                self.expect(Token::Equal, "`=`")?;
                let mut names = vec![self.name("an agent")?];
                while self.eat(Token::Parallel) {
                    names.push(self.name("an agent")?);
                }
                // The paper has no `;` here.
                if self.kind() != Token::End && !self.at_item() {
                    self.semicolon("`||` or `;`")?;
                }
                tree.mas.push((names, self.span_from(start)));
            }
            "top" => {
                self.advance();
                tree.tops.push(self.name("an agent")?);
                self.semicolon("`;`")?;
            }
            "option" => {
                self.advance();
                let name = self.name("an option")?;
                self.expect(Token::Equal, "`=`")?;
                let value = match self.kind() {
                    Token::Number | Token::Word => {
                        let text = self.text_of(self.span()).to_string();
                        Name { text, span: self.advance() }
                    }
                    _ => return Err(self.expected("a word or a number")),
                };
                self.semicolon("`;`")?;
                tree.options.push(OptionDecl { name, value });
            }
            "property" => {
                let property = self.property()?;
                tree.properties.push(property);
            }
            "check" if self.kind_ahead(1) == Token::Word => {
                let check = self.check()?;
                tree.properties.push(check);
            }
            _ => {
                let what = "`agent`, `view`, `mas`, `top`, `option`, `property`, `check` or `import`";
                return Err(self.expected(what));
            }
        }
        Ok(())
    }

    /// Reads the `;` after an item. If it is missing and the next item begins, reports it and continues.
    fn semicolon(&mut self, what: &str) -> Parsed<()> {
        if self.eat(Token::Semicolon) {
            return Ok(());
        }
        if self.kind() != Token::End && !self.at_item() {
            return Err(self.expected(what));
        }
        let after = self.last_span().after();
        let diagnostic = Diagnostic::error("bdi/missing-semicolon", after, "a `;` is missing");
        self.error(diagnostic.label("expected `;` here").fix("insert `;`", after, ";"));
        Ok(())
    }

    fn agent(&mut self) -> Parsed<Agent> {
        self.advance();
        let name = self.name("the name of an agent")?;
        self.expect_word("is")?;
        Ok(Agent { name, body: self.body()? })
    }

    fn view(&mut self) -> Parsed<View> {
        let start = self.position;
        self.advance();
        let (op, agent) = match self.attitude_ahead() {
            Some((_, false)) => {
                let (op, agent) = self.edge()?;
                (Some(op), agent)
            }
            _ => (None, self.name("an agent, or an attitude such as `B(a)`")?),
        };
        self.expect_word("in")?;
        let observer = self.name("the agent whose view it is")?;
        let span = self.span_from(start);
        self.expect_word("is")?;
        Ok(View { op, agent, observer, body: self.body()?, span })
    }

    fn body(&mut self) -> Parsed<Body> {
        let mut body = Body::default();
        loop {
            match self.word() {
                "var" => {
                    self.advance();
                    body.has_vars = true;
                    body.vars.extend(self.list(Parser::var_decl)?);
                    self.expect(Token::Semicolon, "`,` or `;`")?;
                }
                "bdi" => {
                    self.advance();
                    body.bdis.extend(self.list(Parser::bdi_decl)?);
                    self.expect(Token::Semicolon, "`,` or `;`")?;
                }
                "fair" if self.at_fairness() => {
                    self.advance();
                    body.fair.push(self.formula()?);
                    self.expect(Token::Semicolon, "`;`")?;
                }
                _ => break,
            }
        }
        if self.eat_word("init") {
            self.is_in_init = true;
            let init = self.assigns();
            self.is_in_init = false;
            body.init = init?;
            self.eat(Token::Semicolon);
        }
        body.program = self.program()?;
        if self.kind() != Token::End && !self.at_item() {
            return Err(self.expected("`;`, `|` or the next agent"));
        }
        Ok(body)
    }

    /// Whether `fair f` stands here and not an assignment to a variable named `fair`.
    fn at_fairness(&self) -> bool {
        match self.kind_ahead(1) {
            Token::Word | Token::Not | Token::Number | Token::Minus => true,
            Token::Verum | Token::Falsum => true,
            Token::Open => {
                let mut open = 0usize;
                for ahead in 1.. {
                    match self.kind_ahead(ahead) {
                        Token::Open => open += 1,
                        Token::Close => open -= 1,
                        Token::End => return false,
                        _ => {}
                    }
                    if open == 0 {
                        return self.kind_ahead(ahead + 1) != Token::Assign;
                    }
                }
                false
            }
            _ => false,
        }
    }

    /// `one, one, ..`
    pub(super) fn list<T>(&mut self, one: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![one(self)?];
        while self.eat(Token::Comma) {
            items.push(one(self)?);
        }
        Ok(items)
    }

    fn bdi_decl(&mut self) -> Parsed<BdiDecl> {
        let atom = self.explicit_attitude()?;
        let definition = if self.eat(Token::Equal) { Some(self.formula()?) } else { None };
        Ok(BdiDecl { atom, definition })
    }

    fn var_decl(&mut self) -> Parsed<VarDecl> {
        let term = self.term("a variable")?;
        let kind = match (self.eat(Token::Colon), self.kind()) {
            (false, _) => Type::Bool,
            (true, Token::OpenBrace) => {
                self.advance();
                let names = self.list(|parser| parser.name("a value"))?;
                self.expect(Token::CloseBrace, "`,` or `}`")?;
                Type::Enum(names)
            }
            (true, Token::Number | Token::Minus) => {
                let start = self.position;
                let low = self.integer()?;
                self.expect(Token::DotDot, "`..`")?;
                let high = self.integer()?;
                Type::Range(low, high, self.span_from(start))
            }
            _ => return Err(self.expected("a range such as `0..7` or values such as `{idle, busy}`")),
        };
        Ok(VarDecl { term, kind })
    }

    fn integer(&mut self) -> Parsed<i64> {
        let is_negative = self.eat(Token::Minus);
        if self.kind() != Token::Number {
            return Err(self.expected("a number"));
        }
        let value = self.number()?;
        Ok(if is_negative { -value } else { value })
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Parsed<i64> {
        let span = self.clipped(self.span());
        match self.text_of(self.span()).parse::<i32>() {
            Ok(value) => {
                self.advance();
                Ok(i64::from(value))
            }
            Err(_) => {
                let message = format!("numbers are at most {}", i32::MAX);
                Err(self.error(Diagnostic::error("bdi/number-too-large", span, message)))
            }
        }
    }

    fn property(&mut self) -> Parsed<Property> {
        let start = self.position;
        self.advance();
        let name = Some(self.name("the name of a property")?);
        let initially = self.eat_word("initially");
        let path = if self.eat_word("in") { Some(self.path()?) } else { None };
        if path.is_some() && self.word() == "initially" {
            return Err(self.expected_with("`.` or `:`", Some("`initially` stands before `in`".to_string())));
        }
        self.expect(Token::Colon, if path.is_none() { "`initially`, `in` or `:`" } else { "`.` or `:`" })?;
        let (question, question_span) = self.formula_or_subworld()?;
        let (text, question_span) = self.written(question_span);
        let span = self.span_from(start);
        self.semicolon("`;`")?;
        Ok(Property { name, initially, path, question, text, question_span, span })
    }

    /// `FORMULA`, or `PATH : FORMULA`, and then the end.
    pub(super) fn bare_property(&mut self) -> Parsed<Property> {
        let start = self.position;
        let is_of_path = |kind| matches!(kind, Token::Word | Token::Dot | Token::Open | Token::Close);
        let after = (0..).find(|&ahead| !is_of_path(self.kind_ahead(ahead))).unwrap_or_default();
        let has_path = self.kind_ahead(after) == Token::Colon;
        let initially = self.eat_word("initially");
        let mut path = None;
        if has_path {
            path = Some(self.path()?);
            self.expect(Token::Colon, "`.` or `:`")?;
        }
        let (question, question_span) = self.formula_or_subworld()?;
        let (text, question_span) = self.written(question_span);
        let span: Span = self.span_from(start);
        self.eat(Token::Semicolon);
        if self.kind() != Token::End {
            return Err(self.expected("the end of the formula"));
        }
        Ok(Property { name: None, initially, path, question, text, question_span, span })
    }

    /// Reads a formula, or `subworld(v, w)` if that is all; returns also its location.
    fn formula_or_subworld(&mut self) -> Parsed<(Question, Span)> {
        if !self.at_subworld() {
            let formula = self.formula()?;
            let span = formula.span;
            return Ok((Question::Formula(formula), span));
        }
        let start = self.position;
        self.advance();
        self.expect(Token::Open, "`(`")?;
        let first = self.path()?;
        self.expect(Token::Comma, "`.` or `,`")?;
        let second = self.path()?;
        self.expect(Token::Close, "`.` or `)`")?;
        Ok((Question::Subworld(first, second), self.span_from(start)))
    }

    /// Whether `subworld(v, w)` stands here. Every path is made of words, dots and brackets; a term of this name
    /// with other arguments, or in a longer formula, is a term.
    fn at_subworld(&self) -> bool {
        if self.word() != "subworld" || self.kind_ahead(1) != Token::Open {
            return false;
        }
        let (mut open, mut n_commas) = (0usize, 0);
        for ahead in 1.. {
            match self.kind_ahead(ahead) {
                Token::Open => open += 1,
                Token::Close => open -= 1,
                Token::Comma if open == 1 => n_commas += 1,
                Token::Word | Token::Dot => {}
                _ => return false,
            }
            if open == 0 {
                let after = self.kind_ahead(ahead + 1);
                return n_commas == 1 && matches!(after, Token::Semicolon | Token::End);
            }
        }
        false
    }

    /// The text at a span, and the span.
    fn written(&self, span: Span) -> (QuestionText, Span) {
        (QuestionText(self.tokens.slice(span).to_string()), span)
    }

    /// `top.B(a).D(b)`
    fn path(&mut self) -> Parsed<Path> {
        let start = self.position;
        let root = if self.eat_word("top") { None } else { Some(self.name("`top` or an agent")?) };
        let mut steps = Vec::new();
        while self.eat(Token::Dot) {
            steps.push(self.edge()?);
        }
        Ok(Path { root, steps, span: self.span_from(start) })
    }

    /// `B(a)` or `B_a`
    fn edge(&mut self) -> Parsed<(Op, Name)> {
        if let (Some((op, false)), true) = (self.subscripted_word(0), self.kind_ahead(1) != Token::Open) {
            let agent = self.subscript();
            self.rewrite(self.last_span(), format!("{}({})", op.name(), agent.text));
            return Ok((op, agent));
        }
        let op = self.op()?;
        self.expect(Token::Open, "`(`")?;
        let agent = self.name("an agent")?;
        self.expect(Token::Close, "`)`")?;
        Ok((op, agent))
    }

    fn check(&mut self) -> Parsed<Property> {
        let start = self.position;
        self.advance();
        let question_start = self.position;
        let question = match self.word() {
            word @ ("serial" | "introspection") => {
                self.advance();
                let (op, agent) = self.edge()?;
                if word == "serial" {
                    Question::Serial(op, agent)
                } else {
                    Question::Introspection(op, agent)
                }
            }
            "realism" => {
                self.advance();
                let realism = match self.word() {
                    "strong" => Realism::Strong,
                    "plain" => Realism::Plain,
                    "weak" => Realism::Weak,
                    _ => return Err(self.expected("`strong`, `plain` or `weak`")),
                };
                self.advance();
                Question::Realism(realism, self.name("an agent")?)
            }
            "subworld" => {
                self.advance();
                let first = self.path()?;
                self.expect_word("in")?;
                Question::Subworld(first, self.path()?)
            }
            word => {
                let help = is_reserved(word).then(|| "`check` is followed by what is checked".to_string());
                let what = "`serial`, `introspection`, `realism` or `subworld`";
                return Err(self.expected_with(what, help));
            }
        };
        let (text, question_span) = self.written(self.span_from(question_start));
        let is_about_state = !matches!(question, Question::Subworld(..));
        let path = if is_about_state && self.eat_word("in") { Some(self.path()?) } else { None };
        let span = self.span_from(start);
        self.semicolon(if is_about_state { "`in` or `;`" } else { "`.` or `;`" })?;
        Ok(Property { name: None, initially: false, path, question, text, question_span, span })
    }
}
