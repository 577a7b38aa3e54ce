//! The sections of a file and of an agent.

use masque_model::Assignment;
use masque_text::{Diagnostic, ImportPath, Parsed, ReadLimits, Reported, Span};

use super::{Mode, Parser};
use crate::lexer::Token;
use crate::tree::{
    Agent, Definition, FormulaLine, Group, Import, Item, Line, Logic, Param, ProtocolLine, Section, Sections,
    Type, Variable,
};

/// Headings at the top level of a file.
const TOP_LEVEL_HEADINGS: [&str; 8] =
    ["param", "Semantics", "Agent", "Evaluation", "InitStates", "Groups", "Fairness", "Formulae"];
/// Headings of the sections after the agents.
pub(crate) const AFTER_AGENTS: [&str; 5] = ["Evaluation", "InitStates", "Groups", "Fairness", "Formulae"];
/// Headings of the sections of an agent.
pub(crate) const OF_AGENT: [&str; 9] =
    ["Lobsvars", "Obsvars", "Vars", "RedStates", "Actions", "Protocol", "Evolution", "Lstate", "Lgreen"];

/// Estimated bytes of an import and the sections before it. They are copied when files are joined.
const BYTES_PER_PIECE: u64 = 3 * size_of::<(Sections, Import)>() as u64;

/// Adds a section to a file or an agent. A second one of its name, which is an error, continues the first, so that
/// editors know the names in both. Returns the heading of the first.
fn put<T>(slot: &mut Option<Section<Vec<T>>>, section: Section<Vec<T>>) -> Option<Span> {
    match slot {
        Some(first) => {
            first.items.extend(section.items);
            Some(first.heading)
        }
        None => {
            *slot = Some(section);
            None
        }
    }
}

impl Parser<'_> {
    /// Parses the whole file, or up to the import at which a limit is exceeded; then the caller discards the tree.
    pub(super) fn file(&mut self, limits: &ReadLimits) {
        let mut n_pieces = 0;
        while self.kind() != Token::End {
            let before = self.position;
            if self.top_level().is_err() {
                self.skip_to_section();
                self.add_broken(before);
            }
            if self.position == before {
                self.advance();
            }
            if self.pieces.len() > n_pieces && !limits.charge(BYTES_PER_PIECE) {
                return;
            }
            n_pieces = self.pieces.len();
        }
    }

    fn skip_to_section(&mut self) {
        while self.kind() != Token::End
            && !(TOP_LEVEL_HEADINGS.contains(&self.word()) && self.kind_ahead(1) != Token::Semicolon)
            && !self.is_import(self.position)
        {
            if self.at_end() {
                self.advance(); // The name after `end` is not a heading.
            }
            self.advance();
        }
    }

    fn top_level(&mut self) -> Parsed<()> {
        let start = self.position;
        match self.word() {
            "import" => {
                let import = self.import()?;
                self.pieces.push((std::mem::take(&mut self.sections), import));
            }
            "param" => {
                let param = self.param()?;
                self.sections.params.push(param);
            }
            "Semantics" => {
                let section = self.semantics()?;
                self.sections.semantics = Some(section);
                self.once("Semantics", start);
            }
            "Agent" => {
                let agent = self.agent()?;
                self.sections.agents.push(agent);
            }
            "Evaluation" => {
                let section = self.section("Evaluation", Self::definition);
                put(&mut self.sections.evaluation, section);
                self.once("Evaluation", start);
            }
            "InitStates" => {
                let section = self.condition_section("InitStates");
                let earlier = self.sections.init_states.replace(section);
                self.tree.broken.extend(earlier.map(|earlier| earlier.span));
                self.once("InitStates", start);
            }
            "Groups" => {
                let section = self.section("Groups", Self::group);
                put(&mut self.sections.groups, section);
                self.once("Groups", start);
            }
            "Fairness" => {
                let section = self.section("Fairness", |p| p.formula_statement(true));
                put(&mut self.sections.fairness, section);
                self.once("Fairness", start);
            }
            "Formulae" => {
                let section = self.section("Formulae", |p| p.formula_statement(true));
                put(&mut self.sections.formulae, section);
                self.once("Formulae", start);
            }
            "Formulae_ast" => return self.atl_star_section("`Formulae_ast` holds path goals of coalitions"),
            word => {
                let known = TOP_LEVEL_HEADINGS.into_iter().chain(["import"]);
                let help = masque_text::did_you_mean(word, known);
                return Err(self.expected_with(
                    "a section: `Agent`, `Evaluation`, `InitStates`, `Groups`, `Fairness` or `Formulae`",
                    help,
                ));
            }
        }
        Ok(())
    }

    /// Reports the section of the file that was just read at `start` if it is the second one of its name.
    fn once(&mut self, name: &'static str, start: usize) {
        let earlier = self.headings.iter().find(|heading| heading.0 == name).map(|heading| heading.1);
        match earlier {
            Some(earlier) => self.second_section(name, start, earlier),
            None => {
                let span = self.tokens.span(start);
                self.headings.push((name, span));
            }
        }
    }

    fn second_section(&mut self, name: &str, start: usize, earlier: Span) {
        let message = format!("there is a second `{name}` section");
        let span = self.tokens.span(start);
        self.error(
            Diagnostic::error("ispl/duplicate-section", span, message).also(earlier, "the first one is here"),
        );
    }

    /// Parses `import "agents.ispl";`.
    fn import(&mut self) -> Parsed<Import> {
        let start = self.position;
        self.advance();
        if self.kind() != Token::Quoted {
            return Err(self.expected("the path of a file in quotes, as in `import \"agents.ispl\";`"));
        }
        let span = self.advance();
        let text = self.text_of(span).trim_matches('"').to_string();
        self.expect_semicolon("`;`")?;
        Ok(Import { path: ImportPath { text, span }, span: self.span_from(start) })
    }

    /// Parses the lines of a Formulae section, with or without its heading and end.
    pub(super) fn properties(&mut self) -> Vec<Item<FormulaLine>> {
        let line = |parser: &mut Self| parser.formula_statement(true);
        let has_heading = self.word() == "Formulae"
            && (self.is_file_heading(self.position)
                || self.is_stray_name(self.position)
                || self.kind_ahead(1) == Token::Colon);
        let items = if has_heading { self.section("Formulae", line).items } else { self.items(line) };
        if self.kind() != Token::End {
            let what = if has_heading { "the end of the file" } else { "a formula, or the end of the file" };
            self.expected(what);
        }
        items
    }

    /// Parses `param N = 3;`.
    fn param(&mut self) -> Parsed<Param> {
        let start = self.position;
        self.advance();
        let (name, name_span) = self.name("the name of a parameter")?;
        let value = if self.eat(Token::Equal) { Some(self.index_expr()?) } else { None };
        self.expect_semicolon("`;`")?;
        Ok(Param { name, name_span, value, span: self.span_from(start) })
    }

    /// Parses `Semantics = SA;`.
    fn semantics(&mut self) -> Parsed<Section<Assignment>> {
        let start = self.position;
        let heading = self.advance();
        self.expect(Token::Equal, "`=`")?;
        let items = match self.word() {
            "MultiAssignment" | "MA" => Assignment::Multi,
            "SingleAssignment" | "SA" => Assignment::Single,
            _ => return Err(self.expected("`MultiAssignment` (`MA`) or `SingleAssignment` (`SA`)")),
        };
        self.advance();
        self.expect_semicolon("`;`")?;
        self.add_to_outline("Semantics", start);
        Ok(Section { items, heading, span: self.span_from(start) })
    }

    /// Parses `Name` items `end Name`. A colon after the heading is accepted in every section.
    fn section<T>(&mut self, name: &'static str, one: fn(&mut Self) -> Parsed<T>) -> Section<Vec<Item<T>>> {
        let start = self.position;
        let heading = self.advance();
        self.eat(Token::Colon);
        let depth = std::mem::take(&mut self.depth);
        let items = self.items(one);
        self.depth = depth;
        self.close(name, heading);
        self.add_to_outline(name, start);
        Section { items, heading, span: self.span_from(start) }
    }

    /// Parses `Name (condition ;)? end Name`.
    fn condition_section(&mut self, name: &'static str) -> Section<Option<crate::tree::ExprId>> {
        let start = self.position;
        let heading = self.advance();
        self.eat(Token::Colon);
        let begin = self.position;
        let mut items = None;
        if !self.at_end() && self.kind() != Token::End {
            let condition = self.condition().and_then(|condition| {
                self.expect_semicolon("an operator or `;`")?;
                Ok(condition)
            });
            match condition {
                Ok(condition) => items = Some(condition),
                Err(Reported) => {
                    self.recover(begin);
                    self.add_broken(begin);
                    items = Some(self.add(crate::tree::Kind::Error, heading));
                }
            }
            if !self.at_end()
                && self.kind() != Token::End
                && !self.is_heading(self.position)
                && !self.is_stray_name(self.position)
            {
                let help = "only one condition is allowed here; join several with `and`".to_string();
                self.expected_with(&format!("`end {name}`"), Some(help));
                while !self.at_end() && !self.at_agent() && self.kind() != Token::End {
                    self.advance();
                }
            }
        }
        self.close(name, heading);
        self.add_to_outline(name, start);
        Section { items, heading, span: self.span_from(start) }
    }

    /// Parses `p if condition;`.
    fn definition(&mut self) -> Parsed<Definition> {
        let start = self.position;
        let pattern = self.pattern("the name of a proposition")?;
        if !self.eat_word("if") {
            return Err(self.expected("`if`"));
        }
        let condition = self.condition()?;
        self.expect_semicolon("an operator or `;`")?;
        Ok(Definition { pattern, condition, span: self.span_from(start) })
    }

    /// Parses `g = { a, b };`.
    fn group(&mut self) -> Parsed<Group> {
        let start = self.position;
        let pattern = self.pattern("the name of a group")?;
        self.expect(Token::Equal, "`=`")?;
        let members = self.braces("an agent")?;
        self.expect_semicolon("`;`")?;
        Ok(Group { pattern, members, span: self.span_from(start) })
    }

    /// Parses `name : LTL phi ;`; the name and the logic are optional.
    pub(super) fn formula_statement(&mut self, is_statement: bool) -> Parsed<FormulaLine> {
        let start = self.position;
        let label = if self.kind() == Token::Word && self.label_ahead() {
            let pattern = self.pattern("the name of a property")?;
            self.expect(Token::Colon, "`:`")?;
            Some(pattern)
        } else {
            None
        };
        let formula_start = self.position;
        let logic = match self.word() {
            "LTL" if self.begins_formula(1) || self.coalition_ahead(1) => Logic::Ltl,
            "CTL" if self.kind_ahead(1) == Token::Star => Logic::CtlStar,
            _ => Logic::State,
        };
        let mode = match logic {
            Logic::State => Mode::State,
            Logic::Ltl => Mode::Path { quantifiers: false },
            Logic::CtlStar => Mode::Path { quantifiers: true },
        };
        self.position += match logic {
            Logic::State => 0,
            Logic::Ltl => 1,
            Logic::CtlStar => 2,
        };
        let formula = self.formula(mode)?;
        let (span, formula_span) = (self.span_from(start), self.span_from(formula_start));
        if is_statement {
            if self.kind() != Token::Semicolon && matches!(self.word(), "U" | "W" | "R") {
                return Err(
                    self.expected("an operator or `;` (`U` is allowed in `E( )`, `A( )`, or after `LTL`)")
                );
            }
            self.expect_semicolon("an operator or `;`")?;
        } else {
            self.eat(Token::Semicolon);
            if self.kind() != Token::End {
                return Err(self.expected("an operator or the end of the formula"));
            }
        }
        Ok(FormulaLine { label, logic, formula, formula_span, span })
    }

    /// Returns whether a label follows: `name :` or `name[..] :`.
    fn label_ahead(&self) -> bool {
        match self.kind_ahead(1) {
            Token::Colon => true,
            Token::OpenBracket => {
                let mut ahead = 2;
                while !matches!(
                    self.kind_ahead(ahead),
                    Token::CloseBracket | Token::Semicolon | Token::End | Token::OpenBracket
                ) {
                    ahead += 1;
                }
                self.kind_ahead(ahead) == Token::CloseBracket && self.kind_ahead(ahead + 1) == Token::Colon
            }
            _ => false,
        }
    }

    fn begins_formula(&self, ahead: usize) -> bool {
        match self.kind_ahead(ahead) {
            Token::Word => !super::is_infix(self.word_ahead(ahead)),
            Token::Open | Token::Not | Token::Number | Token::Tilde => true,
            _ => false,
        }
    }
}

/// Agents.
impl Parser<'_> {
    fn agent(&mut self) -> Parsed<Agent> {
        let start = self.position;
        self.advance();
        let pattern = self.pattern("the name of an agent")?;
        let heading = self.span_from(start);
        let mut agent = Agent {
            pattern,
            lobsvars: None,
            obsvars: None,
            vars: None,
            red_states: None,
            actions: None,
            protocol: None,
            evolution: None,
            lstate: None,
            lgreen: None,
            heading,
            span: heading,
        };
        while self.kind() != Token::End
            && !self.at_end()
            && !self.at_agent()
            && !self.is_file_heading(self.position)
        {
            let before = self.position;
            if self.agent_section(&mut agent).is_err() {
                self.skip_to_agent_section();
                self.add_broken(before);
                if let Some(heading) = OF_AGENT.into_iter().find(|name| *name == self.word_at(before)) {
                    self.add_to_outline(heading, before);
                }
            }
            if self.position == before {
                self.advance();
            }
        }
        self.close("Agent", heading);
        self.add_to_outline("Agent", start);
        agent.span = self.span_from(start);
        Ok(agent)
    }

    fn skip_to_agent_section(&mut self) {
        while self.kind() != Token::End
            && !self.is_heading(self.position)
            && !self.at_end()
            && !self.at_agent()
        {
            self.advance();
        }
        // Skip the end of the section with the error.
        if self.at_end() && self.word_ahead(1) != "Agent" {
            self.advance();
            self.advance();
        }
    }

    fn agent_section(&mut self, agent: &mut Agent) -> Parsed<()> {
        let start = self.position;
        let word = self.word();
        let earlier = match word {
            "Lobsvars" => {
                self.set_section("a variable of the Environment").map(|s| put(&mut agent.lobsvars, s))?
            }
            "Actions" | "Action" => self.set_section("an action").map(|s| put(&mut agent.actions, s))?,
            "Lstate" => self.set_section("a local state").map(|s| put(&mut agent.lstate, s))?,
            "Lgreen" => self.set_section("a local state").map(|s| put(&mut agent.lgreen, s))?,
            "Obsvars" => put(&mut agent.obsvars, self.section("Obsvars", Self::variable)),
            "Vars" => put(&mut agent.vars, self.section("Vars", Self::variable)),
            "RedStates" => agent.red_states.replace(self.condition_section("RedStates")).map(|s| s.heading),
            "Protocol" => put(&mut agent.protocol, self.section("Protocol", Self::protocol_line)),
            "Evolution" => put(&mut agent.evolution, self.section("Evolution", Self::evolution_line)),
            "Ev" => put(&mut agent.evolution, self.section("Ev", Self::evolution_line)),
            "StrType" => {
                return self.atl_star_section("`StrType` says what the strategies of an agent depend on");
            }
            _ => {
                let help = masque_text::did_you_mean(word, OF_AGENT);
                return Err(self.expected_with(
                    "a section of the agent: `Vars`, `Actions`, `Protocol`, `Evolution`, .., or `end Agent`",
                    help,
                ));
            }
        };
        if let Some(earlier) = earlier {
            self.second_section(word, start, earlier);
        }
        Ok(())
    }

    /// Parses `Name = { a, b };`.
    fn set_section(&mut self, what: &str) -> Parsed<Section<Vec<crate::tree::Pattern>>> {
        let start = self.position;
        let heading = self.advance();
        self.expect(Token::Equal, "`=`")?;
        let items = self.braces(what)?;
        self.expect_semicolon("`;`")?;
        let name = OF_AGENT.into_iter().find(|name| *name == self.word_at(start));
        self.add_to_outline(name.unwrap_or("Actions"), start);
        Ok(Section { items, heading, span: self.span_from(start) })
    }

    /// Parses `x : boolean;`, `x : 0..3;` or `x : {a, b};`.
    fn variable(&mut self) -> Parsed<Variable> {
        let start = self.position;
        let pattern = self.pattern("the name of a variable")?;
        self.expect(Token::Colon, "`:`")?;
        let is_bound = matches!(
            self.kind_ahead(1),
            Token::DotDot | Token::Plus | Token::Minus | Token::Star | Token::Slash
        );
        let ty = if self.word() == "boolean" && !is_bound {
            self.advance();
            Type::Boolean
        } else if self.kind() == Token::OpenBrace {
            Type::Enumeration(self.braces("a value")?)
        } else if self.kind() == Token::Word && self.kind_ahead(1) == Token::Semicolon {
            let help = match self.word() {
                "bool" | "Bool" => Some("write `boolean`".to_string()),
                word => masque_text::did_you_mean(word, ["boolean"]),
            };
            return Err(self.expected_with("`boolean`, a range `lo..hi`, or values in braces", help));
        } else if matches!(self.kind(), Token::Number | Token::Minus | Token::Word | Token::Open) {
            let lo = self.index_expr()?;
            self.expect(Token::DotDot, "`boolean`, a range `lo..hi`, or values in braces")?;
            Type::Range(lo, self.index_expr()?)
        } else {
            return Err(self.expected("`boolean`, a range `lo..hi`, or values in braces"));
        };
        self.expect_semicolon("`;`")?;
        Ok(Variable { pattern, ty, span: self.span_from(start) })
    }

    /// Parses `condition : { a, b };` or `Other : { a };`.
    fn protocol_line(&mut self) -> Parsed<ProtocolLine> {
        let start = self.position;
        let is_other = self.word() == "Other" && self.kind_ahead(1) == Token::Colon;
        let condition = self.condition()?;
        self.expect(Token::Colon, "an operator or `:`")?;
        let actions = self.braces("an action")?;
        self.expect_semicolon("`;`")?;
        Ok(ProtocolLine { condition, is_other, actions, span: self.span_from(start) })
    }

    /// Parses `x = 1 and y = 2 if condition;` or `state if condition;`.
    fn evolution_line(&mut self) -> Parsed<Line> {
        let start = self.position;
        if self.word() == "if" {
            return Err(self.expected("an assignment `variable = value` before `if`"));
        }
        let effect = self.condition()?;
        if !self.eat_word("if") {
            return Err(self.expected("`and` or `if`"));
        }
        let condition = self.condition()?;
        self.expect_semicolon("an operator or `;`")?;
        Ok(Line { effect, condition, span: self.span_from(start) })
    }
}
