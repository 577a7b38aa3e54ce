//! The names that records may use.

use masque_model::{ActionId, AgentId, Domain, Expr, ExprId, PropositionId, System, VarId};
use masque_text::{did_you_mean, first_names};
use rustc_hash::{FxHashMap, FxHashSet};

use super::IsplObservation;

/// Name by which a record refers to the action of an agent: `Alice.Action`.
const ACTION: &str = "Action";

/// Maximum number of names that an error lists.
const MAX_LISTED_NAMES: usize = 8;

/// The names of a system that records may use, by name.
///
/// In the view of one agent, these are the variables that it sees, its own action, and propositions on what it sees.
#[derive(Clone, Debug)]
pub struct Vocabulary<'s> {
    system: &'s System,
    viewer: Option<AgentId>,
    columns: FxHashMap<String, Column>,
}

/// What a column of a log contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The action of an agent in the step: `Alice.Action`.
    Action(AgentId),
    /// The value of a variable after the step: `Alice.card`.
    Variable(VarId),
    /// The truth of a proposition after the step.
    Proposition(PropositionId),
}

/// One entry of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// The agent performs the action.
    Action(AgentId, ActionId),
    /// The variable has the value.
    Value(VarId, i64),
    /// The proposition is true, or false.
    Proposition(PropositionId, bool),
}

/// An entry that has no meaning in the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEntry {
    /// What is wrong.
    pub message: String,
    /// What would be accepted.
    pub help: Option<String>,
}

impl std::fmt::Display for BadEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl std::error::Error for BadEntry {}

impl<'s> Vocabulary<'s> {
    /// Collects the names of a system, for logs of the whole system or for logs in the view of one agent.
    pub fn new(system: &'s System, viewer: Option<AgentId>) -> Vocabulary<'s> {
        let mut columns = FxHashMap::default();
        for id in system.agent_ids() {
            columns.insert(format!("{}.{ACTION}", system.agent(id).name), Column::Action(id));
        }
        for id in system.variable_ids() {
            columns.insert(without_spaces(&system.full_name(id)), Column::Variable(id));
        }
        for (index, proposition) in system.propositions.iter().enumerate() {
            let id = PropositionId(index as u32);
            columns.insert(without_spaces(&proposition.name), Column::Proposition(id));
        }
        Vocabulary { system, viewer, columns }
    }

    /// Returns the agent with a name.
    pub fn agent(&self, name: &str) -> Result<AgentId, BadEntry> {
        let names = || self.system.agents.iter().map(|agent| agent.name.as_str());
        let found = self.system.agent_ids().find(|&id| self.system.agent(id).name == name);
        found.ok_or_else(|| BadEntry {
            message: format!("there is no agent `{name}`"),
            help: near_or_listed("the agents are", name, names()),
        })
    }

    /// Returns what a column of the log contains, by its name: `Alice.Action`, `Alice.card`, or a proposition.
    pub fn column(&self, name: &str) -> Result<Column, BadEntry> {
        let found = self.columns.get(name).or_else(|| self.columns.get(&without_spaces(name)));
        let column = *found.ok_or_else(|| self.unknown_column(name))?;
        self.check_view(column, name)?;
        Ok(column)
    }

    /// Resolves an entry: the name of a column, and the name of an action, a value or a truth value.
    pub fn entry(&self, name: &str, value: &str) -> Result<Entry, BadEntry> {
        Ok(match self.column(name)? {
            Column::Action(agent) => Entry::Action(agent, self.action(agent, value)?),
            Column::Variable(variable) => Entry::Value(variable, self.value(variable, value)?),
            Column::Proposition(proposition) => {
                let holds = value.trim().parse().map_err(|_| BadEntry {
                    message: format!("proposition `{name}` has no value `{value}`"),
                    help: Some("its values are true and false".to_string()),
                })?;
                Entry::Proposition(proposition, holds)
            }
        })
    }

    /// Resolves all entries of a record.
    pub fn observation<'e>(
        &self,
        entries: impl IntoIterator<Item = (&'e str, &'e str)>,
    ) -> Result<IsplObservation, BadEntry> {
        entries.into_iter().map(|(name, value)| self.entry(name, value)).collect()
    }

    /// Returns the variables that the viewing agent sees and that a record does not mention. With such gaps, a log
    /// shows only a part of the agent's view: it may know more than what is certain.
    pub fn gaps(&self, observation: &IsplObservation) -> Vec<String> {
        let Some(viewer) = self.viewer else { return Vec::new() };
        let mentioned: FxHashSet<VarId> = observation.values.iter().map(|(variable, _)| *variable).collect();
        let seen = self.system.agent(viewer).sees.iter();
        seen.filter(|variable| !mentioned.contains(variable)).map(|&v| self.system.full_name(v)).collect()
    }

    /// Returns the text of an entry: `Alice.card = ace`.
    pub fn text(&self, entry: Entry) -> String {
        entry_text(self.system, entry)
    }

    fn action(&self, agent: AgentId, name: &str) -> Result<ActionId, BadEntry> {
        let Agent { name: owner, actions } = Agent::of(self.system, agent);
        let found = actions.iter().position(|action| *action == name);
        let Some(index) = found else {
            return Err(BadEntry {
                message: format!("agent `{owner}` has no action `{name}`"),
                help: near_or_listed("its actions are", name, actions.iter().copied()),
            });
        };
        Ok(ActionId(index as u32))
    }

    fn value(&self, variable: VarId, text: &str) -> Result<i64, BadEntry> {
        let domain = &self.system.variable(variable).domain;
        let parsed = match domain {
            Domain::Boolean => text.trim().parse().ok().map(|value: bool| i64::from(value)),
            Domain::Integers(..) => text.trim().parse().ok(),
            Domain::Values(values) => {
                let found = values.iter().find(|symbol| self.system.symbols[symbol.index()] == text);
                found.map(|symbol| i64::from(symbol.0))
            }
        };
        parsed.filter(|&value| domain.contains(value)).ok_or_else(|| {
            let help = match domain {
                Domain::Boolean => Some("its values are true and false".to_string()),
                Domain::Integers(lo, hi) => Some(format!("its values are {lo}..{hi}")),
                Domain::Values(values) => {
                    let names = values.iter().map(|symbol| self.system.symbols[symbol.index()].as_str());
                    near_or_listed("its values are", text, names)
                }
            };
            let message = format!("variable `{}` has no value `{text}`", self.system.full_name(variable));
            BadEntry { message, help }
        })
    }

    fn unknown_column(&self, name: &str) -> BadEntry {
        let all = || {
            let mut names: Vec<&str> = self.columns.keys().map(String::as_str).collect();
            names.sort_unstable();
            names
        };
        let Some((owner, part)) = name.rsplit_once('.') else {
            let propositions = self.system.propositions.iter().map(|p| p.name.as_str());
            let help = did_you_mean(name, propositions).or_else(|| did_you_mean(name, all()));
            let expected = || "expected `Agent.variable`, `Agent.Action` or a proposition".to_string();
            let message = format!("there is no proposition `{name}`");
            return BadEntry { message, help: help.or_else(|| Some(expected())) };
        };
        let owner = match self.agent(owner) {
            Ok(owner) => owner,
            Err(unknown) => return unknown,
        };
        let own = self.system.agent(owner).variables.iter();
        let mut names: Vec<&str> = own.map(|&v| self.system.variable(v).name.as_str()).collect();
        names.push(ACTION);
        BadEntry {
            message: format!("agent `{}` has no variable `{part}`", self.system.agent(owner).name),
            help: near_or_listed("a log may mention its", part, names.into_iter()),
        }
    }

    /// Checks that the viewing agent sees what a column contains.
    fn check_view(&self, column: Column, name: &str) -> Result<(), BadEntry> {
        let Some(viewer) = self.viewer else { return Ok(()) };
        let sees = &self.system.agent(viewer).sees;
        let hidden = match column {
            Column::Action(agent) => (agent != viewer).then(|| "the actions of other agents".to_string()),
            Column::Variable(variable) => (!sees.contains(&variable)).then(|| format!("`{name}`")),
            Column::Proposition(proposition) => {
                let read =
                    variables_read(self.system, self.system.propositions[proposition.index()].condition);
                let hidden = read.into_iter().find(|variable| !sees.contains(variable));
                hidden.map(|variable| {
                    format!("`{}`, on which `{name}` depends", self.system.full_name(variable))
                })
            }
        };
        let Some(hidden) = hidden else { return Ok(()) };
        let viewer = &self.system.agent(viewer).name;
        let seen = sees.iter().map(|&variable| self.system.full_name(variable));
        let seen: Vec<String> = seen.chain([format!("{viewer}.{ACTION}")]).collect();
        Err(BadEntry {
            message: format!("agent `{viewer}` does not see {hidden}"),
            help: Some(format!("its view has {}", listed(seen.iter().map(String::as_str)))),
        })
    }
}

/// The name of an agent and of its actions.
struct Agent<'s> {
    name: &'s str,
    actions: Vec<&'s str>,
}

impl Agent<'_> {
    fn of(system: &System, id: AgentId) -> Agent<'_> {
        let agent = system.agent(id);
        Agent {
            name: &agent.name,
            actions: agent.actions.iter().map(|action| action.name.as_str()).collect(),
        }
    }
}

/// Returns the text of an entry: `Alice.card = ace`, or `!lit` for a proposition that is false.
pub(super) fn entry_text(system: &System, entry: Entry) -> String {
    match entry {
        Entry::Action(agent, action) => {
            let agent = system.agent(agent);
            format!("{}.{ACTION} = {}", agent.name, agent.actions[action.index()].name)
        }
        Entry::Value(variable, value) => {
            format!("{} = {}", system.full_name(variable), system.value_text(variable, value))
        }
        Entry::Proposition(proposition, holds) => {
            let name = &system.propositions[proposition.index()].name;
            if holds { name.clone() } else { format!("!{name}") }
        }
    }
}

/// Returns the variables that a condition reads.
fn variables_read(system: &System, condition: ExprId) -> Vec<VarId> {
    let mut seen: FxHashSet<ExprId> = [condition].into_iter().collect();
    let mut open = vec![condition];
    let mut variables = Vec::new();
    while let Some(id) = open.pop() {
        match system.exprs.get(id) {
            Expr::Variable(variable) => variables.push(variable),
            _ => system.exprs.each_operand(id, |operand| {
                if seen.insert(operand) {
                    open.push(operand);
                }
            }),
        }
    }
    variables.sort_unstable();
    variables
}

/// Returns the name that is nearest to a misspelt one, or else the first of all names.
fn near_or_listed<'n>(
    what: &str,
    used: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Option<String> {
    let near = did_you_mean(used, names.clone());
    near.or_else(|| Some(format!("{what} {}", listed(names))))
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    first_names(&names, MAX_LISTED_NAMES)
}

fn without_spaces(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}
