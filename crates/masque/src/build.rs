//! Interpreted systems built in code.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Expr, LoadError, Loader, Model};

/// The id of the builder that an agent, variable or action belongs to.
pub(crate) type Origin = u64;

/// Builds an interpreted system: agents with variables, actions, protocols and evolution.
///
/// Nothing is checked until [`ModelBuilder::build`], which returns all problems at once. Variables of the
/// agent `Environment` are hidden from the others unless they are [seen](ModelBuilder::seen_by_all).
///
/// ```
/// use masque::{Check, ModelBuilder};
///
/// let mut builder = ModelBuilder::new();
/// let environment = builder.agent("Environment");
/// let coin = builder.enumeration(&environment, "coin", ["heads", "tails"]);
/// let alice = builder.agent("Alice");
/// let seen = builder.enumeration(&alice, "seen", ["nothing", "heads", "tails"]);
/// for side in ["heads", "tails"] {
///     let show = builder.action(&environment, &format!("show_{side}"));
///     builder.may(&environment, coin.is(side), [&show]);
///     builder.becomes(&seen, side, show.performed());
/// }
/// builder.initially(seen.is("nothing"));
/// builder.proposition("heads", coin.is("heads"));
/// builder.property("learns", "AX(heads -> K(Alice, heads))");
/// builder.property("knows", "heads -> K(Alice, heads)");
///
/// let report = builder.build()?.check(&Check::new())?;
/// assert_eq!(report.property("learns").unwrap().verdict.word(), "holds");
/// assert_eq!(report.property("knows").unwrap().verdict.word(), "fails");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ModelBuilder {
    origin: Origin,
    agents: Vec<AgentParts>,
    initially: Vec<Expr>,
    propositions: Vec<(String, Expr)>,
    groups: Vec<(String, Vec<Agent>)>,
    fairness: Vec<String>,
    properties: Vec<(String, String)>,
    problems: Vec<Problem>,
}

/// An agent of a model that is being built.
#[derive(Clone, Debug)]
pub struct Agent {
    origin: Origin,
    number: usize,
    name: String,
}

/// A variable of a model that is being built.
#[derive(Clone, Debug)]
pub struct Variable {
    pub(crate) origin: Origin,
    agent: usize,
    name: String,
    pub(crate) full_name: String,
}

/// An action of a model that is being built.
#[derive(Clone, Debug)]
pub struct Action {
    pub(crate) origin: Origin,
    agent: usize,
    pub(crate) agent_name: String,
    pub(crate) name: String,
}

#[derive(Debug)]
struct AgentParts {
    name: String,
    variables: Vec<VariableParts>,
    actions: Vec<String>,
    protocol: Vec<(Expr, Vec<String>)>,
    evolution: Vec<(String, Expr, Expr)>,
    /// Variables of the Environment that this agent sees.
    sees: Vec<String>,
    red: Option<Expr>,
}

#[derive(Debug)]
struct VariableParts {
    name: String,
    domain: String,
    is_seen_by_all: bool,
}

/// An error in a model that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A name that is not a word of letters, digits and underscores that begins with a letter.
    BadName(String),
    /// Two agents, two variables or two actions of an agent, or two propositions or groups, have the same name.
    SameName(String),
    /// A range whose end comes before its beginning, by the name of its variable.
    EmptyRange(String),
    /// An enumeration without values, by the name of its variable.
    NoValues(String),
    /// An enumeration that names a value twice: the variable and the value.
    SameValue(String, String),
    /// An agent, a variable or an action of another builder, by its name.
    Foreign(String),
    /// An action of one agent in the protocol of another: the action and the agent.
    WrongAgent(String, String),
    /// A protocol line without actions, by the name of the agent.
    NoActions(String),
    /// A variable of another agent than the Environment, which cannot be shown to others.
    NotOfEnvironment(String),
    /// There is no agent.
    NoAgents,
    /// A group without members, by its name.
    EmptyGroup(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::BadName(name) => write!(
                f,
                "`{name}` is not a name: a name has letters, digits and underscores, and begins with a letter"
            ),
            Problem::SameName(name) => write!(f, "the name `{name}` is used twice"),
            Problem::EmptyRange(name) => write!(f, "the range of `{name}` ends before it begins"),
            Problem::NoValues(name) => write!(f, "the enumeration `{name}` has no values"),
            Problem::SameValue(name, value) => write!(f, "the enumeration `{name}` names `{value}` twice"),
            Problem::Foreign(name) => write!(f, "`{name}` belongs to another builder"),
            Problem::WrongAgent(action, agent) => write!(f, "`{action}` is not an action of `{agent}`"),
            Problem::NoActions(agent) => write!(f, "a protocol line of `{agent}` has no actions"),
            Problem::NotOfEnvironment(name) => {
                write!(
                    f,
                    "`{name}` is not a variable of the Environment, so it cannot be shown to other agents"
                )
            }
            Problem::NoAgents => f.write_str("the model has no agents"),
            Problem::EmptyGroup(name) => write!(f, "the group `{name}` has no members"),
        }
    }
}

/// Why a model could not be built.
#[derive(Clone, Debug)]
pub enum BuildError {
    /// Errors in calls of the builder, in the order of the calls.
    Problems(Vec<Problem>),
    /// Errors that the checker found in the ISPL text of the model.
    Model(LoadError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Model(error) => error.fmt(f),
            BuildError::Problems(problems) => {
                let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Whether a text is a name.
pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Default for ModelBuilder {
    fn default() -> ModelBuilder {
        ModelBuilder::new()
    }
}

impl ModelBuilder {
    /// A model without agents.
    pub fn new() -> ModelBuilder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ModelBuilder {
            origin: NEXT.fetch_add(1, Ordering::Relaxed),
            agents: Vec::new(),
            initially: Vec::new(),
            propositions: Vec::new(),
            groups: Vec::new(),
            fairness: Vec::new(),
            properties: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn name(&mut self, name: &str, is_taken: bool) {
        if !is_word(name) {
            self.problems.push(Problem::BadName(name.to_string()));
        } else if is_taken {
            self.problems.push(Problem::SameName(name.to_string()));
        }
    }

    fn check_expr(&mut self, expr: &Expr) {
        if expr.origins.iter().any(|origin| *origin != self.origin) {
            self.problems.push(Problem::Foreign(expr.text.clone()));
        }
        self.problems.extend(expr.wrong_values.iter().cloned().map(Problem::BadName));
    }

    /// The parts of an agent of this builder.
    fn parts(&mut self, origin: Origin, number: usize, name: &str) -> Option<&mut AgentParts> {
        if origin != self.origin {
            self.problems.push(Problem::Foreign(name.to_string()));
            return None;
        }
        self.agents.get_mut(number)
    }

    /// Adds an agent. The one called `Environment` may have variables that others see.
    pub fn agent(&mut self, name: &str) -> Agent {
        let is_taken = self.agents.iter().any(|agent| agent.name == name);
        self.name(name, is_taken);
        self.agents.push(AgentParts {
            name: name.to_string(),
            variables: Vec::new(),
            actions: Vec::new(),
            protocol: Vec::new(),
            evolution: Vec::new(),
            sees: Vec::new(),
            red: None,
        });
        Agent { origin: self.origin, number: self.agents.len() - 1, name: name.to_string() }
    }

    fn variable(&mut self, agent: &Agent, name: &str, domain: String) -> Variable {
        let mut is_taken = false;
        if let Some(parts) = self.parts(agent.origin, agent.number, &agent.name) {
            is_taken = parts.variables.iter().any(|variable| variable.name == name);
            parts.variables.push(VariableParts { name: name.to_string(), domain, is_seen_by_all: false });
        }
        self.name(name, is_taken);
        let full_name = format!("{}.{name}", agent.name);
        Variable { origin: agent.origin, agent: agent.number, name: name.to_string(), full_name }
    }

    /// Adds a boolean variable.
    pub fn boolean(&mut self, agent: &Agent, name: &str) -> Variable {
        self.variable(agent, name, "boolean".to_string())
    }

    /// Adds a variable whose values are the numbers from `first` to `last`.
    pub fn range(&mut self, agent: &Agent, name: &str, first: i64, last: i64) -> Variable {
        if first > last {
            self.problems.push(Problem::EmptyRange(name.to_string()));
        }
        self.variable(agent, name, format!("{first}..{last}"))
    }

    /// Adds a variable whose values have names.
    pub fn enumeration<N: AsRef<str>>(
        &mut self,
        agent: &Agent,
        name: &str,
        values: impl IntoIterator<Item = N>,
    ) -> Variable {
        let mut names: Vec<String> = Vec::new();
        for value in values {
            let value = value.as_ref().to_string();
            if names.contains(&value) {
                self.problems.push(Problem::SameValue(name.to_string(), value.clone()));
            }
            self.name(&value, false);
            names.push(value);
        }
        if names.is_empty() {
            self.problems.push(Problem::NoValues(name.to_string()));
        }
        self.variable(agent, name, format!("{{{}}}", names.join(", ")))
    }

    fn of_environment(&mut self, variable: &Variable) -> Option<&mut VariableParts> {
        let name = &variable.full_name;
        if self.parts(variable.origin, variable.agent, name)?.name != "Environment" {
            self.problems.push(Problem::NotOfEnvironment(name.clone()));
            return None;
        }
        let parts = self.parts(variable.origin, variable.agent, name)?;
        parts.variables.iter_mut().find(|other| other.name == variable.name)
    }

    /// Shows a variable of the Environment to all agents.
    pub fn seen_by_all(&mut self, variable: &Variable) {
        if let Some(parts) = self.of_environment(variable) {
            parts.is_seen_by_all = true;
        }
    }

    /// Shows a variable of the Environment to one agent.
    pub fn seen_by(&mut self, variable: &Variable, agent: &Agent) {
        if self.of_environment(variable).is_some()
            && let Some(parts) = self.parts(agent.origin, agent.number, &agent.name)
        {
            parts.sees.push(variable.name.clone());
        }
    }

    /// Adds an action. An agent without actions has one that changes nothing, called `none`.
    pub fn action(&mut self, agent: &Agent, name: &str) -> Action {
        let mut is_taken = false;
        if let Some(parts) = self.parts(agent.origin, agent.number, &agent.name) {
            is_taken = parts.actions.iter().any(|action| action == name);
            parts.actions.push(name.to_string());
        }
        self.name(name, is_taken);
        let agent_name = agent.name.clone();
        Action { origin: agent.origin, agent: agent.number, agent_name, name: name.to_string() }
    }

    /// Lets an agent perform actions where a condition over what it sees is true. Where no condition is
    /// true, the agent may perform all its actions.
    pub fn may<'a>(
        &mut self,
        agent: &Agent,
        condition: impl Into<Expr>,
        actions: impl IntoIterator<Item = &'a Action>,
    ) {
        let condition = condition.into();
        self.check_expr(&condition);
        let mut names = Vec::new();
        for action in actions {
            if action.origin != self.origin {
                self.problems.push(Problem::Foreign(action.name.clone()));
            } else if action.agent != agent.number {
                self.problems.push(Problem::WrongAgent(action.name.clone(), agent.name.clone()));
            }
            names.push(action.name.clone());
        }
        if names.is_empty() {
            self.problems.push(Problem::NoActions(agent.name.clone()));
        }
        if let Some(parts) = self.parts(agent.origin, agent.number, &agent.name) {
            parts.protocol.push((condition, names));
        }
    }

    /// Makes a variable take a value in steps where a condition over what its agent sees and over the
    /// actions of all agents is true. Where no condition is true, variables keep their values.
    pub fn becomes(&mut self, variable: &Variable, value: impl Into<Expr>, condition: impl Into<Expr>) {
        let (value, condition) = (value.into(), condition.into());
        self.check_expr(&value);
        self.check_expr(&condition);
        if let Some(parts) = self.parts(variable.origin, variable.agent, &variable.full_name) {
            parts.evolution.push((variable.name.clone(), value, condition));
        }
    }

    /// Defines the states at which an agent does not behave correctly (`O`, `KH`).
    pub fn incorrect_where(&mut self, agent: &Agent, condition: impl Into<Expr>) {
        let condition = condition.into();
        self.check_expr(&condition);
        if let Some(parts) = self.parts(agent.origin, agent.number, &agent.name) {
            parts.red = Some(match parts.red.take() {
                None => condition,
                Some(before) => before | condition,
            });
        }
    }

    /// Restricts the initial states. Several conditions must all be true.
    pub fn initially(&mut self, condition: impl Into<Expr>) {
        let condition = condition.into();
        self.check_expr(&condition);
        self.initially.push(condition);
    }

    /// Names a condition, for use in formulas.
    pub fn proposition(&mut self, name: &str, condition: impl Into<Expr>) {
        let condition = condition.into();
        self.check_expr(&condition);
        let is_taken = self.propositions.iter().any(|(other, _)| other == name);
        self.name(name, is_taken);
        self.propositions.push((name.to_string(), condition));
    }

    /// Names a group of agents, for use in formulas.
    pub fn group<'a>(&mut self, name: &str, agents: impl IntoIterator<Item = &'a Agent>) {
        let agents: Vec<Agent> = agents.into_iter().cloned().collect();
        let foreign = agents.iter().filter(|agent| agent.origin != self.origin);
        self.problems.extend(foreign.map(|agent| Problem::Foreign(agent.name.clone())));
        if agents.is_empty() {
            self.problems.push(Problem::EmptyGroup(name.to_string()));
        }
        let is_taken = self.groups.iter().any(|(other, _)| other == name);
        self.name(name, is_taken);
        self.groups.push((name.to_string(), agents));
    }

    /// Adds a fairness constraint: only paths on which the formula is true infinitely often are considered.
    pub fn fairness(&mut self, formula: &str) {
        self.fairness.push(formula.to_string());
    }

    /// Adds a property, in the syntax of ISPL's Formulae section.
    pub fn property(&mut self, name: &str, formula: &str) {
        self.name(name, false);
        self.properties.push((name.to_string(), formula.to_string()));
    }

    /// The model as an ISPL text, without its properties.
    pub fn ispl(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        _ = self.write(&mut text);
        text
    }

    /// Checks the model.
    ///
    /// # Errors
    ///
    /// If a call of the builder or the model has errors.
    pub fn build(&self) -> Result<Model, BuildError> {
        let mut problems = self.problems.clone();
        if self.agents.is_empty() {
            problems.push(Problem::NoAgents);
        }
        if !problems.is_empty() {
            return Err(BuildError::Problems(problems));
        }
        // Formulas are texts. Each is parsed separately, so that it cannot change the rest of the model.
        let mut loader = Loader::new();
        for (name, formula) in &self.properties {
            loader = loader.property(&format!("{name}: {formula}"));
        }
        for formula in &self.fairness {
            Loader::new()
                .property(formula)
                .text("built.ispl", &self.ispl_without_fairness())
                .map_err(BuildError::Model)?;
        }
        loader.text("built.ispl", &self.ispl()).map_err(BuildError::Model)
    }

    fn ispl_without_fairness(&self) -> String {
        let mut text = String::new();
        _ = self.write_model(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        self.write_model(text)?;
        if !self.fairness.is_empty() {
            writeln!(text, "Fairness")?;
            self.fairness.iter().try_for_each(|formula| writeln!(text, "  {formula};"))?;
            writeln!(text, "end Fairness")?;
        }
        Ok(())
    }

    fn write_model(&self, text: &mut String) -> fmt::Result {
        for agent in &self.agents {
            agent.write(text)?;
        }
        if !self.propositions.is_empty() {
            writeln!(text, "Evaluation")?;
            for (name, condition) in &self.propositions {
                writeln!(text, "  {name} if {};", condition.text)?;
            }
            writeln!(text, "end Evaluation")?;
        }
        let conditions: Vec<String> =
            self.initially.iter().map(|condition| format!("({})", condition.text)).collect();
        let conditions = if conditions.is_empty() { "true".to_string() } else { conditions.join(" and ") };
        writeln!(text, "InitStates\n  {conditions};\nend InitStates")?;
        if !self.groups.is_empty() {
            writeln!(text, "Groups")?;
            for (name, agents) in &self.groups {
                let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
                writeln!(text, "  {name} = {{{}}};", names.join(", "))?;
            }
            writeln!(text, "end Groups")?;
        }
        Ok(())
    }
}

impl AgentParts {
    fn write(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "Agent {}", self.name)?;
        if !self.sees.is_empty() {
            writeln!(text, "  Lobsvars = {{{}}};", self.sees.join(", "))?;
        }
        for (section, is_seen) in [("Obsvars", true), ("Vars", false)] {
            let variables: Vec<&VariableParts> =
                self.variables.iter().filter(|variable| variable.is_seen_by_all == is_seen).collect();
            if !variables.is_empty() || !is_seen {
                writeln!(text, "  {section}:")?;
                for VariableParts { name, domain, .. } in variables {
                    writeln!(text, "    {name} : {domain};")?;
                }
                writeln!(text, "  end {section}")?;
            }
        }
        if let Some(red) = &self.red {
            writeln!(text, "  RedStates:\n    {};\n  end RedStates", red.text)?;
        }
        let all = if self.actions.is_empty() { "none".to_string() } else { self.actions.join(", ") };
        writeln!(text, "  Actions = {{{all}}};\n  Protocol:")?;
        for (condition, actions) in &self.protocol {
            writeln!(text, "    ({}) : {{{}}};", condition.text, actions.join(", "))?;
        }
        writeln!(text, "    Other : {{{all}}};\n  end Protocol\n  Evolution:")?;
        for (name, value, condition) in &self.evolution {
            writeln!(text, "    {name} = {} if {};", value.text, condition.text)?;
        }
        writeln!(text, "  end Evolution\nend Agent")
    }
}
