//! Parses statements.

use masque_text::{Diagnostic, Parsed, ReadLimits, Reported, Span, did_you_mean};

use super::Parser;
use super::constraint::Context;
use super::recover::{ROLE_KINDS, STATEMENTS, at_boundary, at_statement, begins_rule, innermost_open};
use crate::lexer::Token;
use crate::tree::{
    Choice, Clause, Constraint, Fact, Import, Item, Mail, Member, Name, Obligation, Proc, ProcKind,
    PropertyText, RoleDecl, Rule, Setting, Term, TermKind, Tree,
};

/// Estimated bytes of a statement, besides its tokens. A list that grows has up to three times its size.
const BYTES_PER_ITEM: u64 = 3 * size_of::<Item>() as u64;

impl Parser<'_> {
    /// Parses a whole file.
    pub(super) fn file(&mut self, limits: &ReadLimits) -> Tree {
        let mut tree = Tree::default();
        // The enforcer that a heading names for the rules below it.
        let mut enforcer = None;
        while self.kind() != Token::End {
            self.start = self.position;
            if self.word() == "enforced" && self.kind_ahead(1) != Token::Colon {
                match self.heading() {
                    Ok((named, span)) if limits.charge(BYTES_PER_ITEM) => {
                        enforcer = Some(named);
                        tree.headings.push(span);
                    }
                    Ok(_) => break,
                    Err(Reported) => self.recover(),
                }
                continue;
            }
            let item = self.statement(enforcer.as_ref());
            if !matches!(item, Ok(Item::Rule(_) | Item::Obligation(_)) | Err(Reported)) {
                enforcer = None;
            }
            match item {
                Ok(item) if limits.charge(BYTES_PER_ITEM) => tree.items.push(item),
                // The caller discards the tree.
                Ok(_) => break,
                Err(Reported) => self.recover(),
            }
        }
        tree
    }

    /// Parses a heading `enforced by id:` of rules.
    fn heading(&mut self) -> Parsed<(Term, Span)> {
        let start = self.position;
        self.advance();
        if !self.eat_word("by") {
            return Err(self.expected("`by`, as in `enforced by hd:`"));
        }
        let enforcer = self.owner()?;
        Ok((enforcer, self.span_from(start)))
    }

    /// Parses a statement. `heading` is the enforcer of rules without one of their own.
    pub(super) fn statement(&mut self, heading: Option<&Term>) -> Parsed<Item> {
        let start = self.position;
        if begins_rule(self, start) {
            let enforcer = self.owner()?;
            return self.rule(start, enforcer);
        }
        if self.kind() == Token::Open {
            return match heading {
                Some(enforcer) => self.rule(start, enforcer.clone()),
                None => Err(self.no_enforcer()),
            };
        }
        match self.word() {
            "a" if self.kind_ahead(1) == Token::Open => {
                let clause = self.clause()?;
                self.end_of_clause()?;
                Ok(Item::Clause(clause))
            }
            "r" if self.kind_ahead(1) == Token::Open => self.role_declaration(),
            "agent" | "server" => {
                let is_server = self.word() == "server";
                self.advance();
                let agent = self.agent()?;
                self.stop()?;
                Ok(Item::Member(Member { agent, is_server, span: self.span_from(start) }))
            }
            "common" => {
                self.advance();
                self.fact(start, None)
            }
            "know" => {
                self.advance();
                let owner = self.owner()?;
                self.fact(start, Some(owner))
            }
            "rule" => {
                self.advance();
                let enforcer = self.owner()?;
                self.rule(start, enforcer)
            }
            "choice" => {
                self.advance();
                self.choice(start)
            }
            "now" => {
                self.advance();
                let clause = self.now()?;
                self.stop()?;
                Ok(Item::Now(clause))
            }
            "mail" => {
                self.advance();
                let from = self.agent()?;
                self.expect(Token::To, "`->` and the receiver")?;
                let to = self.agent()?;
                self.expect(Token::Colon, "`:` and the message")?;
                let message = self.term()?;
                self.stop()?;
                Ok(Item::Mail(Mail { from, to, message, span: self.span_from(start) }))
            }
            "option" => {
                self.advance();
                self.setting()
            }
            "property" => {
                self.advance();
                self.property()
            }
            "import" => {
                self.advance();
                self.import()
            }
            word => Err(self.no_statement(word)),
        }
    }

    fn no_statement(&mut self, word: &str) -> Reported {
        let what = "a clause `a(Role, Id) :: ..` or a statement";
        match did_you_mean(word, STATEMENTS) {
            Some(help) => self.expected_with(what, Some(help)),
            None => self.expected(what),
        }
    }

    pub(super) fn clause(&mut self) -> Parsed<Clause> {
        let start = self.position;
        let head = self.agent()?;
        self.expect(Token::Defines, "`::`")?;
        let body = self.process()?;
        Ok(Clause { head, body, span: self.span_from(start) })
    }

    /// Parses what remains of a clause; `nil` if nothing remains.
    pub(super) fn now(&mut self) -> Parsed<Clause> {
        let start = self.position;
        let head = self.agent()?;
        self.expect(Token::Defines, "`::`")?;
        let is_all = matches!(self.kind_ahead(1), Token::Stop | Token::End);
        let body = if self.word() == "nil" && is_all {
            Proc { kind: ProcKind::Nil, span: self.advance() }
        } else {
            self.process()?
        };
        Ok(Clause { head, body, span: self.span_from(start) })
    }

    /// Parses the full stop after a clause, which may be missing where another statement begins.
    fn end_of_clause(&mut self) -> Parsed<()> {
        if self.eat(Token::Stop) || at_boundary(self) {
            return Ok(());
        }
        Err(self.expected("`then`, `par`, `or` or the end of the clause"))
    }

    /// Parses the full stop after any other statement.
    fn stop(&mut self) -> Parsed<()> {
        if self.eat(Token::Stop) {
            return Ok(());
        }
        if !at_boundary(self) || innermost_open(self).is_some() {
            return Err(self.expected("`.`"));
        }
        let after = self.last_span().after();
        self.error(
            Diagnostic::error("lcc/missing-stop", after, "a full stop is missing")
                .label("expected `.` here")
                .hint("only clauses may omit it")
                .fix("insert `.`", after, "."),
        );
        Ok(())
    }

    /// Parses `id:` before a fact or rule.
    fn owner(&mut self) -> Parsed<Term> {
        let name = self.name("the id of an agent")?;
        self.expect(Token::Colon, "`:`")?;
        Ok(Term { kind: TermKind::App(name.text, Vec::new()), span: name.span })
    }

    pub(super) fn fact(&mut self, start: usize, owner: Option<Term>) -> Parsed<Item> {
        let head = self.term()?;
        if !matches!(head.kind, TermKind::App(..)) {
            let text = self.text_of(head.span);
            let diagnostic = Diagnostic::error("lcc/no-fact", head.span, format!("`{text}` is not a fact"))
                .hint("a fact is a name with arguments, such as `member(ta, syta)`");
            return Err(self.error(diagnostic));
        }
        let body = self.body()?;
        self.stop()?;
        Ok(Item::Fact(Fact { owner, head, body, span: self.span_from(start) }))
    }

    fn body(&mut self) -> Parsed<Option<Constraint>> {
        if self.eat(Token::If) { Ok(Some(self.constraint(Context::Body)?)) } else { Ok(None) }
    }

    /// Reports a rule without an enforcer.
    fn no_enforcer(&mut self) -> Reported {
        let diagnostic = Diagnostic::error(
            "lcc/no-enforcer",
            self.span(),
            "nothing names the enforcer of this rule",
        )
        .label("a rule begins here")
        .hint("write the enforcer in front, `hd: (S, O, +act).`, or above several rules, `enforced by hd:`");
        self.error(diagnostic)
    }

    /// Parses `(S, O, +act) <- B.` or `(S, O, !act) after P until Q.`
    fn rule(&mut self, start: usize, enforcer: Term) -> Parsed<Item> {
        self.expect(Token::Open, "`(subject, object, +action)`")?;
        let subject = self.nested(Self::term)?;
        self.expect(Token::Comma, "`,` and the object")?;
        let object = self.nested(Self::term)?;
        self.expect(Token::Comma, "`,` and the action with its sign")?;
        let sign = self.kind();
        if !matches!(sign, Token::Plus | Token::Minus | Token::Not) {
            return Err(self.expected("`+`, `-` or `!` and the action"));
        }
        self.advance();
        let action = self.nested(Self::term)?;
        if !matches!(action.kind, TermKind::App(..)) {
            let diagnostic =
                Diagnostic::error("lcc/rule-action", action.span, "the action of a rule must have a name")
                    .hint("name what is permitted or forbidden, as in `+query(D, _, _)`");
            return Err(self.error(diagnostic));
        }
        self.expect(Token::Close, "`)`")?;
        if sign == Token::Not {
            return self.obligation(start, [enforcer, subject, object, action]);
        }
        let body = self.body()?;
        self.stop()?;
        let permits = sign == Token::Plus;
        let span = self.span_from(start);
        Ok(Item::Rule(Rule { enforcer, subject, object, permits, action, body, span }))
    }

    fn obligation(&mut self, start: usize, parties: [Term; 4]) -> Parsed<Item> {
        let [enforcer, subject, object, action] = parties;
        if !self.eat_word("after") {
            return Err(self.expected("`after` and an action pattern"));
        }
        let after = self.pattern_text()?;
        let until = if self.eat_word("until") { Some(self.pattern_text()?) } else { None };
        self.stop()?;
        let span = self.span_from(start);
        Ok(Item::Obligation(Obligation { enforcer, subject, object, action, after, until, span }))
    }

    /// Skips an action pattern, up to `until` or the full stop, and returns its span.
    fn pattern_text(&mut self) -> Parsed<Span> {
        let start = self.position;
        while !at_boundary(self) && self.word() != "until" {
            self.advance();
        }
        if self.position == start {
            Err(self.expected("an action pattern such as `in(order(_))`"))
        } else {
            Ok(self.span_from(start))
        }
    }

    /// Parses `[id:] p/n.`
    fn choice(&mut self, start: usize) -> Parsed<Item> {
        let owner = if self.kind_ahead(1) == Token::Colon { Some(self.owner()?) } else { None };
        let name = self.name("the name of a predicate")?;
        self.expect(Token::Slash, "`/` and the number of arguments")?;
        let arity = self.count("the number of arguments")?;
        self.stop()?;
        Ok(Item::Choice(Choice { owner, name, arity: arity as usize, span: self.span_from(start) }))
    }

    /// Parses a number.
    pub(super) fn count(&mut self, what: &str) -> Parsed<u64> {
        match self.text_of(self.span()).parse::<u32>() {
            Ok(value) if self.kind() == Token::Number => {
                self.advance();
                Ok(u64::from(value))
            }
            _ => Err(self.expected(what)),
        }
    }

    fn setting(&mut self) -> Parsed<Item> {
        let name = self.name("the name of an option")?;
        self.expect(Token::Equal, "`=` and a value")?;
        let value = match self.kind() {
            Token::Number => {
                let span = self.advance();
                Name { text: self.text_of(span).to_string(), span }
            }
            _ => self.name("a value")?,
        };
        self.stop()?;
        Ok(Item::Setting(Setting { name, value }))
    }

    /// Parses `"rules.pol".` after `import`.
    fn import(&mut self) -> Parsed<Item> {
        if self.kind() != Token::Quoted {
            return Err(self.expected("the path of a file in quotes, as in `import \"rules.pol\".`"));
        }
        let path = self.name("the path of a file")?;
        self.stop()?;
        Ok(Item::Import(Import { path }))
    }

    /// Parses `r(Role, kind, Min, Max)`.
    fn role_declaration(&mut self) -> Parsed<Item> {
        let start = self.position;
        self.advance();
        self.advance();
        let role = self.nested(Self::term)?;
        self.expect(Token::Comma, "`,` and the kind of role")?;
        let kind = self.name("the kind of role")?;
        if !ROLE_KINDS.contains(&kind.text.as_str()) {
            let message = format!("there is no kind of role `{}`", kind.text);
            let help = did_you_mean(&kind.text, ROLE_KINDS)
                .unwrap_or(format!("the kinds are {}", ROLE_KINDS.join(", ")));
            return Err(self.error(Diagnostic::error("lcc/role-kind", kind.span, message).hint(help)));
        }
        let mut bounds = [None, None];
        for bound in &mut bounds {
            if self.eat(Token::Comma) {
                *bound = Some(self.count("a number of agents")?);
            }
        }
        self.expect(Token::Close, "`,` or `)`")?;
        let span = self.span_from(start);
        self.eat(Token::Stop);
        Ok(Item::Role(RoleDecl { role, kind, min: bounds[0], max: bounds[1], span }))
    }

    /// Parses `name : formula ;`, without parsing the formula.
    fn property(&mut self) -> Parsed<Item> {
        if !matches!(self.kind(), Token::Word | Token::Variable | Token::Number) {
            return Err(self.expected("the name of a property"));
        }
        let span = self.advance();
        let name = Name { text: self.text_of(span).to_string(), span };
        self.expect(Token::Colon, "`:` and a formula")?;
        let start = self.position;
        // A formula has no statement in it, so the semicolon is missing where one begins.
        let is_role = |parser: &Self| parser.word() == "r";
        while !matches!(self.kind(), Token::Semicolon | Token::End)
            && (is_role(self) || !at_statement(self, self.position))
        {
            self.advance();
        }
        if self.position == start {
            return Err(self.expected("a formula"));
        }
        let formula = self.span_from(start);
        self.expect(Token::Semicolon, "`;` at the end of the formula")?;
        Ok(Item::Property(PropertyText { name, formula }))
    }
}
