//! Completion: what may stand at a position, by the section around it and the tokens before it.

use masque_text::{Completion, Declaration, NameIndex, NameKind, Sources, Span};

use super::Before;
use super::operators::OPERATORS;
use crate::lexer::{Token, Tokens};
use crate::parser::{AFTER_AGENTS, OF_AGENT};

/// Maximum number of tokens of an index that is skipped.
const MAX_INDEX_TOKENS: usize = 64;

/// Returns what may be inserted at a position. If a word is half typed there, the completions are those at its
/// beginning; the caller selects the ones that match it.
///
/// ```
/// use masque_text::{NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let text = "Agent A Vars: x : {low, high}; end Vars Protocol: x = l";
/// let file = sources.add("half.ispl", text).unwrap();
/// let index = masque_ispl::names(&mut sources, file, &NoFiles);
/// let found = masque_ispl::completions(&index, &sources, text.len() as u32);
/// assert!(found.iter().any(|completion| completion.text == "low"));
/// ```
pub fn completions(index: &NameIndex, sources: &Sources, position: u32) -> Vec<Completion> {
    let before = Before::new(sources, position);
    if before.is_comment {
        return Vec::new();
    }
    let n_tokens = before.n_complete;
    Completer { index, sources, tokens: &before.tokens, n_tokens }.all(position)
}

struct Completer<'t> {
    index: &'t NameIndex,
    sources: &'t Sources,
    tokens: &'t Tokens<'t>,
    /// Number of tokens before the position, without a word that is half typed.
    n_tokens: usize,
}

impl<'t> Completer<'t> {
    fn all(&self, position: u32) -> Vec<Completion> {
        let (heading, owner) = self.section(position);
        if self.word_back(1) == "end" {
            let heading = if heading.is_empty() { "Agent" } else { heading };
            return vec![Completion::keyword(heading, "the end of the section")];
        }
        match self.kind_back(1) {
            Token::Dot => return self.members(heading),
            Token::Equal | Token::Unequal => {
                if let Some(values) = self.values(heading, owner) {
                    return values;
                }
            }
            Token::DotDot => return self.index.completions(&[NameKind::Parameter, NameKind::Index]),
            _ => {}
        }
        if let Some(listed) = self.listed(heading, owner) {
            return listed;
        }
        if self.is_statement_start() {
            return self.statement(heading, owner);
        }
        if matches!(heading, "Vars" | "Obsvars") {
            let mut found = vec![Completion::keyword("boolean", "true or false")];
            found.extend(self.index.completions(&[NameKind::Parameter]));
            return found;
        }
        let mut found = self.expression(heading, owner);
        let words: &[&str] = if heading == "Formulae" || heading == "Fairness" { &[] } else { &["if"] };
        found.extend(words.iter().map(|word| Completion::keyword(word, "begins the condition")));
        found
    }

    /// Returns the heading of the section and its agent. After an `end`, that is what is around the section.
    fn section(&self, position: u32) -> (&'static str, Option<u32>) {
        let is_after_end = self.word_back(2) == "end";
        let mut around: Vec<_> = self
            .index
            .sections
            .iter()
            .filter(|section| section.span.start <= position && position <= section.span.end)
            .collect();
        // White space after the last token of an unfinished section belongs to it.
        if around.is_empty()
            && let Some(last) = self.n_tokens.checked_sub(1)
        {
            let end = self.tokens.span(last).end;
            around = self
                .index
                .sections
                .iter()
                .filter(|section| section.span.start < end && end <= section.span.end)
                .collect();
        }
        if is_after_end {
            let name = self.word_back(1);
            if let Some(closed) = around.iter().rposition(|section| section.heading == name) {
                around.truncate(closed);
            }
        }
        around.last().map_or(("", None), |section| (section.heading, section.owner))
    }

    fn kind_back(&self, back: usize) -> Token {
        self.n_tokens.checked_sub(back).map_or(Token::End, |token| self.tokens.kind(token))
    }

    fn word_back(&self, back: usize) -> &'t str {
        if self.kind_back(back) == Token::Word { self.tokens.text(self.n_tokens - back) } else { "" }
    }

    /// Returns the index of the word that ends before a token, perhaps with indexes in brackets.
    fn name_before(&self, end: usize) -> Option<usize> {
        let mut token = end.checked_sub(1)?;
        if self.tokens.kind(token) == Token::CloseBracket {
            let first = token.saturating_sub(MAX_INDEX_TOKENS);
            token = (first..token).rev().find(|open| self.tokens.kind(*open) == Token::OpenBracket)?;
            token = token.checked_sub(1)?;
        }
        (self.tokens.kind(token) == Token::Word).then_some(token)
    }

    fn agent(&self, name: &str) -> Option<u32> {
        let is_agent = |one: &Declaration| one.kind == NameKind::Agent && one.name == name;
        self.index.declarations.iter().position(is_agent).map(|place| place as u32)
    }

    fn names_of(&self, agent: Option<u32>, kind: NameKind) -> Vec<Completion> {
        let Some(agent) = agent else { return Vec::new() };
        let own = self.index.children(Some(agent)).filter(|(_, one)| one.kind == kind);
        own.map(|(_, one)| Completion::name(one)).collect()
    }

    /// Completes `Agent.`.
    fn members(&self, heading: &str) -> Vec<Completion> {
        let name = self.name_before(self.n_tokens - 1).map_or("", |token| self.tokens.text(token));
        let agent = self.agent(name);
        let mut found = self.names_of(agent, NameKind::Variable);
        if agent.is_some() {
            match heading {
                "Evolution" | "Ev" => {
                    found.push(Completion::keyword("Action", "the agent's action in this step"))
                }
                "Formulae" | "Fairness" => {
                    found.push(Completion::keyword("Action", "the agent's action, in `EX{ }` and `AX{ }`"));
                    found.push(Completion::keyword("GreenStates", "the agent behaves correctly"));
                    found.push(Completion::keyword("RedStates", "the agent does not behave correctly"));
                }
                _ => {}
            }
        }
        found
    }

    /// Completes the right-hand side of a comparison or an assignment.
    fn values(&self, heading: &str, owner: Option<u32>) -> Option<Vec<Completion>> {
        let word = self.name_before(self.n_tokens - 1)?;
        if heading == "Groups"
            || matches!(self.tokens.text(word), "Actions" | "Lobsvars" | "Lstate" | "Lgreen")
        {
            return None;
        }
        let agent = match word.checked_sub(1) {
            Some(dot) if self.tokens.kind(dot) == Token::Dot => {
                self.name_before(dot).and_then(|agent| self.agent(self.tokens.text(agent)))
            }
            _ => owner,
        };
        let name = self.tokens.text(word);
        if name == "Action" {
            return Some(self.names_of(agent, NameKind::Action));
        }
        let is_variable = |one: &Declaration| one.kind == NameKind::Variable && one.name == name;
        let (_, variable) = self.index.children(Some(agent?)).find(|(_, one)| is_variable(one))?;
        let mut found = self.values_in(variable.whole);
        if self.sources.slice(variable.whole).contains("boolean") {
            found.extend(["true", "false"].map(|word| Completion::keyword(word, "")));
        }
        found.extend(self.names_of(owner, NameKind::Variable));
        found.extend(self.index.completions(&[NameKind::Parameter]));
        Some(found)
    }

    /// Returns the values in the declaration of a variable.
    fn values_in(&self, whole: Span) -> Vec<Completion> {
        let first = self.index.uses.partition_point(|name| name.span.start < whole.start);
        let inside = self.index.uses[first..].iter().take_while(|name| name.span.end <= whole.end);
        let values =
            inside.map(|name| self.index.declaration(*name)).filter(|one| one.kind == NameKind::Value);
        values.map(Completion::name).collect()
    }

    /// Completes a name in braces, between `<` and `>`, or as the first argument of an operator of knowledge.
    fn listed(&self, heading: &str, owner: Option<u32>) -> Option<Vec<Completion>> {
        let is_formula = matches!(heading, "Formulae" | "Fairness");
        let agents = || self.index.completions(&[NameKind::Agent, NameKind::Group]);
        if is_formula {
            let is_knowledge =
                matches!(self.word_back(2), "K" | "GK" | "DK" | "GCK" | "O" | "KH" | "D" | "C");
            let is_coalition =
                self.kind_back(1) == Token::Less && !matches!(self.kind_back(2), Token::Word | Token::Number);
            if self.kind_back(1) == Token::Open && is_knowledge || is_coalition {
                return Some(agents());
            }
        }
        let first = self.n_tokens.saturating_sub(MAX_INDEX_TOKENS);
        let is_edge = |kind| matches!(kind, Token::OpenBrace | Token::CloseBrace | Token::Semicolon);
        let edge = (first..self.n_tokens).rev().find(|token| is_edge(self.tokens.kind(*token)))?;
        if self.tokens.kind(edge) != Token::OpenBrace {
            return None;
        }
        match heading {
            "Protocol" => Some(self.names_of(owner, NameKind::Action)),
            "Groups" => Some(self.index.completions(&[NameKind::Agent])),
            "Lobsvars" => Some(self.names_of(self.agent("Environment"), NameKind::Variable)),
            "Lgreen" => Some(self.names_of(owner, NameKind::Value)),
            "Actions" | "Lstate" | "Vars" | "Obsvars" => Some(Vec::new()),
            // `{` of `EX{ }` begins a condition.
            _ if is_formula && !matches!(self.tokens.text(edge.saturating_sub(1)), "EX" | "AX") => {
                Some(agents())
            }
            _ => None,
        }
    }

    fn is_statement_start(&self) -> bool {
        let is_heading =
            |word: &str| OF_AGENT.contains(&word) || AFTER_AGENTS.contains(&word) || word == "Ev";
        match self.kind_back(1) {
            Token::End | Token::Semicolon => true,
            Token::Colon => is_heading(self.word_back(2)),
            Token::Word => is_heading(self.word_back(1)) || matches!(self.word_back(2), "Agent" | "end"),
            Token::CloseBracket => false,
            _ => false,
        }
    }

    /// Completes the beginning of a statement or section.
    fn statement(&self, heading: &'static str, owner: Option<u32>) -> Vec<Completion> {
        let mut found = match heading {
            "" => top_level(),
            "Agent" => agent_sections(),
            "Protocol" => {
                let mut found = self.expression(heading, owner);
                found.push(Completion::keyword("Other", "all local states that no line above covers"));
                found
            }
            "Evolution" => self.names_of(owner, NameKind::Variable),
            "Ev" => self.names_of(owner, NameKind::Value),
            "Vars" | "Obsvars" | "Evaluation" | "Groups" => Vec::new(),
            _ => self.expression(heading, owner),
        };
        if !matches!(heading, "" | "Actions" | "Lobsvars" | "Lstate" | "Lgreen") {
            found.push(Completion::keyword(&format!("end {heading}"), "ends the section"));
        }
        found
    }

    /// Completes a condition or a formula.
    fn expression(&self, heading: &str, owner: Option<u32>) -> Vec<Completion> {
        let mut found = Vec::new();
        let is_formula = matches!(heading, "Formulae" | "Fairness");
        if is_formula {
            found.extend(self.index.completions(&[
                NameKind::Proposition,
                NameKind::Fixpoint,
                NameKind::Group,
            ]));
            let operators =
                OPERATORS.iter().filter(|one| one.word.starts_with(|c: char| c.is_ascii_alphabetic()));
            found.extend(operators.map(|one| Completion::keyword(one.word, one.meaning)));
        } else {
            found.extend(self.names_of(owner, NameKind::Variable));
            if matches!(heading, "Evolution" | "Ev") {
                found.push(Completion::keyword("Action", "the agent's action in this step"));
            }
            let words = ["and", "or", "not", "forall", "exists", "sum", "count"];
            let meaning = |word: &str| super::operators::find(word).map_or("", |one| one.meaning);
            found.extend(words.map(|word| Completion::keyword(word, meaning(word))));
        }
        found.extend(["true", "false"].map(|word| Completion::keyword(word, "")));
        found.extend(self.index.completions(&[NameKind::Agent, NameKind::Parameter, NameKind::Index]));
        found
    }
}

/// The sections of a file.
fn top_level() -> Vec<Completion> {
    let mut found = vec![
        Completion::keyword("param", "a parameter of the model"),
        Completion::keyword("import", "another file of the model"),
        Completion::keyword("Semantics", "MultiAssignment or SingleAssignment"),
        Completion::snippet(
            "Agent ${1:Name}\n  Vars:\n    $0\n  end Vars\n  Actions = {${2:none}};\n  Protocol:\n    Other : {${2:none}};\n  \
             end Protocol\n  Evolution:\n  end Evolution\nend Agent",
            "an agent with its sections",
        ),
    ];
    found.push(Completion::keyword("Agent", "an agent"));
    found.extend(AFTER_AGENTS.map(|word| Completion::keyword(word, "a section of the file")));
    found.extend(
        AFTER_AGENTS
            .map(|word| Completion::snippet(format!("{word}\n  $0\nend {word}"), "the whole section")),
    );
    found
}

/// The sections of an agent.
fn agent_sections() -> Vec<Completion> {
    let mut found: Vec<Completion> =
        OF_AGENT.iter().map(|word| Completion::keyword(word, "a section of the agent")).collect();
    for word in ["Vars", "Obsvars", "RedStates", "Protocol", "Evolution"] {
        found.push(Completion::snippet(format!("{word}:\n  $0\nend {word}"), "the whole section"));
    }
    for word in ["Actions", "Lobsvars"] {
        found.push(Completion::snippet(format!("{word} = {{$0}};"), "the whole section"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use masque_text::NoFiles;

    const MODEL: &str = "param N = 2;
Agent Environment Vars: light : {red, green}; end Vars Actions = {tick}; Protocol: Other : {tick}; end Protocol
Evolution: light = red if Action = tick; end Evolution end Agent
Agent Alice Lobsvars = {light}; Vars: x : {low, high}; on : boolean; end Vars Actions = {go, stay};
Protocol: x = low : {go}; Other : {stay}; end Protocol
Evolution: x = high if Action = go; @EVOLUTION
end Evolution
@AGENT
end Agent
Evaluation p if Alice.x = low; @EVALUATION
end Evaluation
InitStates Alice.x = low; end InitStates
Groups g = {Alice}; end Groups
Formulae AG p; @FORMULAE
end Formulae
@TOP
";

    /// The completions where a half-typed text ends that stands in one of the places of the model.
    fn offered(place: &str, typed: &str) -> Vec<String> {
        let marked = MODEL.replace(place, &format!("{typed}|"));
        let clean = |text: &str| {
            ["@EVOLUTION", "@AGENT", "@EVALUATION", "@FORMULAE", "@TOP"]
                .iter()
                .fold(text.to_string(), |text, mark| text.replace(mark, ""))
        };
        let marked = clean(&marked);
        let position = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let mut sources = Sources::default();
        let file = sources.add("half.ispl", text).unwrap();
        let index = crate::names(&mut sources, file, &NoFiles);
        completions(&index, &sources, position as u32).into_iter().map(|one| one.text).collect()
    }

    #[track_caller]
    fn check(place: &str, typed: &str, wanted: &[&str], unwanted: &[&str]) {
        let found = offered(place, typed);
        for word in wanted {
            assert!(found.iter().any(|one| one == word), "{word} is missing after {typed:?}: {found:?}");
        }
        for word in unwanted {
            assert!(!found.iter().any(|one| one == word), "{word} is offered after {typed:?}: {found:?}");
        }
    }

    #[test]
    fn completions_know_their_section() {
        check("@EVOLUTION", "", &["x", "on", "end Evolution"], &["light", "p", "AG"]);
        check("@EVOLUTION", "x = ", &["low", "high"], &["red", "go"]);
        check("@EVOLUTION", "x = hi", &["low", "high"], &["red", "go"]);
        check("@EVOLUTION", "on = ", &["true", "false"], &["red", "low"]);
        check("@EVOLUTION", "x = low if Action = ", &["go", "stay"], &["tick", "low"]);
        check("@EVOLUTION", "x = low if Environment.Action = t", &["tick"], &["go"]);
        check("@EVOLUTION", "x = low if Environment.", &["light", "Action"], &["x"]);
        check("@EVOLUTION", "x = low if Environment.light = ", &["red", "green"], &["low"]);
        check("@EVOLUTION", "x = low if ", &["x", "Action", "Environment", "N"], &["p", "K"]);
        check("@AGENT", "", &["RedStates", "Vars", "end Agent"], &["Formulae", "x"]);
        check("@AGENT", "Protocol: x = low : {", &["go", "stay"], &["tick", "x"]);
        check("@AGENT", "RedStates: x = ", &["low", "high"], &["red"]);
        check("@EVALUATION", "q if Alice.", &["x", "on"], &["light"]);
        check("@EVALUATION", "q if ", &["Alice", "Environment"], &["x", "light"]);
        check("@FORMULAE", "", &["p", "AG", "K", "end Formulae"], &["go", "low"]);
        check("@FORMULAE", "AG (p -> K(", &["Alice", "g"], &["p", "AG"]);
        check("@FORMULAE", "<", &["Alice", "g"], &["p"]);
        check("@FORMULAE", "EF Alice.x = ", &["low", "high"], &["red"]);
        check("@FORMULAE", "EF Alice.", &["x", "GreenStates"], &["light"]);
        check("@TOP", "", &["Agent", "Fairness", "param"], &["Vars", "x"]);
        assert!(offered("@FORMULAE", "-- a comment about ").is_empty());
    }
}
