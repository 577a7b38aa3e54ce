//! Parses the state of an interaction as the tuple `(I, M, A, R, (P_F, P_S, K))`. [ORW06 §4.2]
//!
//! ```text
//! tuple      (id, message, agent, role, ({clauses}, {state}, {knowledge}))
//! message    null  |  M <= a(role, id)
//! clauses    a(Role, Id) :: proc.  ..
//! state      a(role, id) :: rest.  ..   mail a(r, i) -> a(s, j) : M.  ..   due(id, n, n) rule ..  ..
//! knowledge  fact.  ..   choice p/n.  ..
//! ```

use masque_text::{Cursor, Diagnostic, FileId, Parsed, ReadLimits, Sources};

use super::Parser;
use crate::lexer::Token;
use crate::tree::{Agent, Due, Item, Mail, Tuple};

/// Estimated bytes of a statement in a tuple, besides its tokens.
const BYTES_PER_ITEM: u64 = 3 * size_of::<Item>() as u64;

/// Whether a text is a tuple: statements never begin with a bracket.
pub(crate) fn is_tuple(sources: &Sources, file: FileId) -> bool {
    let parser = Parser { cursor: Cursor::of(sources, sources.span(file)) };
    parser.cursor.kind() == Token::Open
}

/// Parses a text that is one tuple. Diagnostics are errors.
pub(crate) fn parse_tuple(sources: &Sources, file: FileId) -> Result<Tuple, Vec<Diagnostic>> {
    let mut parser = Parser { cursor: Cursor::of(sources, sources.span(file)) };
    let tuple = parser.tuple(sources.limits());
    let mut diagnostics = parser.cursor.into_diagnostics();
    diagnostics.retain(Diagnostic::is_error);
    match tuple {
        Ok(tuple) if diagnostics.is_empty() => Ok(tuple),
        _ => Err(diagnostics),
    }
}

impl Parser<'_> {
    fn tuple(&mut self, limits: &ReadLimits) -> Parsed<Tuple> {
        let start = self.position;
        self.expect(Token::Open, "`(` and the id of the interaction")?;
        let interaction = self.nested(Self::term)?;
        self.expect(Token::Comma, "`,` and the message, or `null`")?;
        let sent = self.sent_message()?;
        self.expect(Token::Comma, "`,` and the id of the receiver")?;
        let id = self.nested(Self::term)?;
        self.expect(Token::Comma, "`,` and the role of the receiver")?;
        let role = self.nested(Self::term)?;
        let to = Agent { span: id.span.to(role.span), role, id };
        let message_span = self.span_from(start);
        self.expect(Token::Comma, "`,` and the protocol, `({clauses}, {state}, {knowledge})`")?;
        self.expect(Token::Open, "`(` and the clauses of the protocol in braces")?;
        let (framework, framework_span) = self.set(limits, Self::framework_clause)?;
        self.expect(Token::Comma, "`,` and the state in braces")?;
        let (statements, _) = self.set(limits, Self::state_statement)?;
        let (mut state, mut due) = (Vec::new(), Vec::new());
        for statement in statements {
            match statement {
                StateStatement::Item(item) => state.push(item),
                StateStatement::Due(one) => due.push(one),
            }
        }
        self.expect(Token::Comma, "`,` and the common knowledge in braces")?;
        let (knowledge, knowledge_span) = self.set(limits, Self::common_statement)?;
        self.expect(Token::Close, "`)` at the end of the protocol")?;
        self.expect(Token::Close, "`)` at the end of the tuple")?;
        self.eat(Token::Stop);
        if self.kind() != Token::End {
            return Err(self.expected("the end of the text: a text has one tuple"));
        }
        let message = sent.map(|(message, from)| Mail { from, to: to.clone(), message, span: message_span });
        Ok(Tuple {
            interaction,
            message,
            to,
            framework,
            state,
            due,
            knowledge,
            framework_span,
            knowledge_span,
        })
    }

    /// Parses `null`, or a message and its sender.
    fn sent_message(&mut self) -> Parsed<Option<(crate::tree::Term, Agent)>> {
        if self.word() == "null" && self.kind_ahead(1) == Token::Comma {
            self.advance();
            return Ok(None);
        }
        let message = self.nested(Self::term)?;
        self.expect(Token::Receives, "`<=` and the sender, as in `offer(10) <= a(buyer, ben)`")?;
        Ok(Some((message, self.agent()?)))
    }

    /// Parses statements in braces, each with its full stop. Also returns the location of the set.
    fn set<T>(
        &mut self,
        limits: &ReadLimits,
        statement: fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<(Vec<T>, masque_text::Span)> {
        let start = self.position;
        self.expect(Token::OpenBrace, "`{`")?;
        let mut items = Vec::new();
        // Messages about brackets concern one statement.
        let before = self.start;
        while self.kind() != Token::CloseBrace {
            self.start = self.position;
            items.push(statement(self)?);
            if !limits.charge(BYTES_PER_ITEM) {
                break;
            }
        }
        self.start = before;
        self.expect(Token::CloseBrace, "a statement or `}`")?;
        Ok((items, self.span_from(start)))
    }

    fn framework_clause(&mut self) -> Parsed<Item> {
        if self.word() != "a" || self.kind_ahead(1) != Token::Open {
            return Err(self.expected("a clause `a(Role, Id) :: ..` or `}`"));
        }
        let clause = self.clause()?;
        self.expect(Token::Stop, "`.` after the clause")?;
        Ok(Item::Clause(clause))
    }

    fn state_statement(&mut self) -> Parsed<StateStatement> {
        if self.word() == "mail" {
            return Ok(StateStatement::Item(self.statement(None)?));
        }
        if self.word() == "due" && self.kind_ahead(1) == Token::Open {
            return Ok(StateStatement::Due(self.due()?));
        }
        if self.word() != "a" || self.kind_ahead(1) != Token::Open {
            return Err(self.expected("`a(role, id) :: rest.`, `mail ..`, `due(..) rule ..` or `}`"));
        }
        let clause = self.now()?;
        self.expect(Token::Stop, "`.` after the rest of a clause")?;
        Ok(StateStatement::Item(Item::Now(clause)))
    }

    /// Parses `due(id, triggered, met) rule id: (S, O, !act) after P until Q.`
    fn due(&mut self) -> Parsed<Due> {
        let start = self.position;
        self.advance();
        self.advance();
        let agent = self.name("the id of an agent")?;
        self.expect(Token::Comma, "`,` and the number of events that triggered the obligation")?;
        let triggered = self.count("the number of events that triggered the obligation")?;
        self.expect(Token::Comma, "`,` and the number of these after which it was met")?;
        let met = self.count("the number of events after which the obligation was met")?;
        self.expect(Token::Close, "`)` and the rule")?;
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let rule_start = self.position;
        let item = self.statement(None)?;
        let Item::Obligation(obligation) = item else {
            let span = self.span_from(rule_start);
            let diagnostic = Diagnostic::error("lcc/no-obligation", span, "this is not an obligation").hint(
                "a `due` statement repeats an obligation: `due(ben, 1, 0) rule hd: (S, O, !act) after P.`",
            );
            return Err(self.error(diagnostic));
        };
        let span = self.span_from(start);
        Ok(Due { agent, triggered: number(triggered), met: number(met), obligation, span })
    }

    fn common_statement(&mut self) -> Parsed<Item> {
        if self.word() == "choice" && matches!(self.kind_ahead(1), Token::Word | Token::Quoted) {
            return self.statement(None);
        }
        let start = self.position;
        self.fact(start, None)
    }
}

/// A statement of P_S.
enum StateStatement {
    Item(Item),
    Due(Due),
}
