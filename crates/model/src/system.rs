//! Interpreted systems: agents with local states, actions, protocols and evolution.

use std::sync::Arc;

use masque_text::Span;
use serde::{Deserialize, Serialize};

use crate::{Expr, ExprId, Exprs, FormulaId, Formulas, Readings, Strategies};

masque_text::ids! {
    /// An agent of [`System::agents`]; the Environment is one of them.
    #[derive(Serialize, Deserialize)]
    AgentId,
    /// An action in its agent's [`Agent::actions`].
    #[derive(Serialize, Deserialize)]
    ActionId,
    /// A variable of [`System::variables`]: one slot of a state.
    #[derive(Serialize, Deserialize)]
    VarId,
    /// A value name of [`System::symbols`], shared by all enumerations that use the name.
    #[derive(Serialize, Deserialize)]
    SymbolId,
    /// A proposition of [`System::propositions`].
    #[derive(Serialize, Deserialize)]
    PropositionId,
    /// A group of [`System::groups`].
    #[derive(Serialize, Deserialize)]
    GroupId,
}

/// The values a variable may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// `false` and `true`, as 0 and 1.
    Boolean,
    /// `lo..hi`, both included.
    Integers(i64, i64),
    /// An enumeration; a value is the number of its symbol.
    Values(Arc<[SymbolId]>),
}

impl Domain {
    /// How many values there are.
    pub fn size(&self) -> u128 {
        match self {
            Domain::Boolean => 2,
            Domain::Integers(lo, hi) => (i128::from(*hi) - i128::from(*lo) + 1) as u128,
            Domain::Values(values) => values.len() as u128,
        }
    }

    /// The bits that a code for one value needs.
    pub fn bits(&self) -> u32 {
        128 - (self.size() - 1).leading_zeros()
    }

    /// The value behind a code in `0..size`, in the order of declaration.
    pub fn value(&self, code: u64) -> i64 {
        match self {
            Domain::Boolean => code as i64,
            Domain::Integers(lo, _) => lo.wrapping_add(code as i64),
            Domain::Values(values) => i64::from(values[code as usize].0),
        }
    }

    /// The code of a value, if it belongs to the domain.
    pub fn code(&self, value: i64) -> Option<u64> {
        match self {
            Domain::Boolean => (0..2).contains(&value).then_some(value as u64),
            Domain::Integers(lo, hi) => (*lo..=*hi).contains(&value).then(|| value.wrapping_sub(*lo) as u64),
            Domain::Values(values) => {
                let is_value = |v: &SymbolId| i64::from(v.0) == value;
                // Names that stand here first are numbered in a row: no need to look through all.
                let guess = usize::try_from(value - i64::from(values[0].0)).ok();
                let position = guess.filter(|&at| values.get(at).is_some_and(is_value));
                position.or_else(|| values.iter().position(is_value)).map(|position| position as u64)
            }
        }
    }

    /// Whether the value belongs to the domain.
    pub fn contains(&self, value: i64) -> bool {
        self.code(value).is_some()
    }
}

/// A variable: one slot of every state.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name without its agent, `coin[3]` for an element of an array.
    pub name: String,
    /// The agent that declares it.
    pub owner: AgentId,
    /// Its values.
    pub domain: Domain,
    /// Where it is declared.
    pub span: Span,
}

/// An action of an agent.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name; empty for the one action of an Environment that declares none.
    pub name: String,
}

/// The actions an agent may perform where a condition holds.
#[derive(Clone, Debug)]
pub struct ProtocolLine {
    /// Over what the agent sees.
    pub condition: ExprId,
    /// What it may do.
    pub actions: Vec<ActionId>,
    /// Where the line stands.
    pub span: Span,
}

/// Which actions an agent may perform.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// Any action, anywhere.
    Unconstrained,
    /// The union over the lines whose condition holds; `other` where none does.
    Lines {
        /// In the order of the text, which has no meaning.
        lines: Vec<ProtocolLine>,
        /// What applies where no line does; nothing if `None`.
        other: Option<Vec<ActionId>>,
    },
}

/// The assignments of one evolution line.
pub type Assignments = Vec<(VarId, ExprId)>;

/// One way an agent's variables may change.
#[derive(Clone, Debug)]
pub struct Line {
    /// The variables assigned, each once; the others keep their values.
    pub assignments: Assignments,
    /// Over the old state and the joint action.
    pub condition: ExprId,
    /// Where the line stands.
    pub span: Span,
}

/// One agent; the Environment is one too.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The name, `Crypt[7]` for a member of a family.
    pub name: String,
    /// The variables it declares.
    pub variables: Vec<VarId>,
    /// What it sees, in increasing order: two states that agree here are the same to it.
    pub sees: Vec<VarId>,
    /// At least one.
    pub actions: Vec<Action>,
    /// Which actions it may perform.
    pub protocol: Protocol,
    /// How its variables change.
    pub evolution: Vec<Line>,
    /// Where its local state violates its norms; nowhere if `None`.
    pub red: Option<ExprId>,
    /// Where it is declared.
    pub span: Span,
}

/// A set of agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// How formulas call it: its name, an agent's name, or a set in braces.
    pub name: String,
    /// In increasing order, at least one.
    pub agents: Vec<AgentId>,
}

/// A named condition on states.
#[derive(Clone, Debug)]
pub struct Proposition {
    /// Its name, `paid[3]` for an element of a family.
    pub name: String,
    /// Where it is true.
    pub condition: ExprId,
    /// Where it is defined.
    pub span: Span,
}

/// How evolution lines combine in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Assignment {
    /// Exactly one of the enabled lines of an agent is taken.
    Multi,
    /// Each variable takes one of its enabled lines, independently of the others.
    Single,
}

/// What happens at states without successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Deadlock {
    /// They end their paths.
    Finite,
    /// They get a transition to themselves.
    Stutter,
    /// They are an error in the model.
    Error,
}

impl Deadlock {
    /// The name used by `--deadlock` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Deadlock::Finite => "finite",
            Deadlock::Stutter => "stutter",
            Deadlock::Error => "error",
        }
    }
}

/// What happens to a choice that assigns a value outside its variable's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Overflow {
    /// The choice is removed.
    Drop,
    /// It is an error in the model.
    Error,
}

impl Overflow {
    /// The name used by `--overflow` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Overflow::Drop => "drop",
            Overflow::Error => "error",
        }
    }
}

/// Whatever changes the transition relation besides the text of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Meaning {
    /// How evolution lines combine.
    pub assignment: Assignment,
    /// What a state without successors means.
    pub deadlock: Deadlock,
    /// What an overflow means.
    pub overflow: Overflow,
}

/// Where a property must be true for the model to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum At {
    /// At all initial states.
    Initial,
    /// At all reachable states.
    Reachable,
}

impl At {
    /// The word used by `--at` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            At::Initial => "initial",
            At::Reachable => "reachable",
        }
    }
}

/// A question about the system.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name, or its position from 1. Only instances of one formula in a loop may share a name.
    pub name: String,
    /// The name for people, which no other property has: `safe[i=2]` where instances share `safe`.
    pub title: String,
    /// Values of the loop variables, outermost first; empty outside loops.
    pub index: Vec<(String, i64)>,
    /// A state formula.
    pub formula: FormulaId,
    /// Where it must be true.
    pub at: At,
    /// Where it is written.
    pub span: Span,
    /// `forall` and `exists`, if one in it ranges over nothing.
    pub empty_aggregates: Vec<&'static str>,
}

impl Property {
    /// A property that no loop made.
    pub fn new(name: impl Into<String>, formula: FormulaId, at: At, span: Span) -> Property {
        let name = name.into();
        let title = name.clone();
        Property { title, name, index: Vec::new(), formula, at, span, empty_aggregates: Vec::new() }
    }
}

/// A checked model.
#[derive(Clone, Debug)]
pub struct System {
    /// The agents in the order of the text.
    pub agents: Vec<Agent>,
    /// The Environment, if one is declared.
    pub environment: Option<AgentId>,
    /// The slots of a state.
    pub variables: Vec<Variable>,
    /// Names of enumeration values.
    pub symbols: Vec<String>,
    /// All conditions and right-hand sides.
    pub exprs: Exprs,
    /// Where a run may begin.
    pub initial: ExprId,
    /// Named conditions.
    pub propositions: Vec<Proposition>,
    /// Named groups, and the sets used in formulas.
    pub groups: Vec<Group>,
    /// All properties' and fairness constraints' formulas.
    pub formulas: Formulas,
    /// Each must be true infinitely often on a fair path.
    pub fairness: Vec<FormulaId>,
    /// The questions.
    pub properties: Vec<Property>,
    /// Options that change the transition relation.
    pub meaning: Meaning,
    /// Strategies of coalitions that name none; if these are not the usual ones, all are printed.
    pub default_strategies: Strategies,
    /// Where InitStates stands, for reports.
    pub initial_span: Span,
    /// The strict readings of the properties, if they were added.
    pub readings: Readings,
}

impl System {
    /// A system without agents and variables, of which every state is initial.
    pub fn new(meaning: Meaning) -> System {
        let mut exprs = Exprs::default();
        let initial = exprs.bool(true);
        System {
            agents: Vec::new(),
            environment: None,
            variables: Vec::new(),
            symbols: Vec::new(),
            exprs,
            initial,
            propositions: Vec::new(),
            groups: Vec::new(),
            formulas: Formulas::default(),
            fairness: Vec::new(),
            properties: Vec::new(),
            meaning,
            default_strategies: Strategies::Perfect,
            initial_span: Span::default(),
            readings: Readings::default(),
        }
    }

    /// The agent behind an id.
    pub fn agent(&self, id: AgentId) -> &Agent {
        &self.agents[id.index()]
    }

    /// The variable behind an id.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    /// All variables' ids.
    pub fn variable_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len() as u32).map(VarId)
    }

    /// All agents' ids.
    pub fn agent_ids(&self) -> impl Iterator<Item = AgentId> + use<> {
        (0..self.agents.len() as u32).map(AgentId)
    }

    /// The bits of one state when every variable has a code of its own.
    pub fn bits(&self) -> u64 {
        self.variables.iter().map(|v| u64::from(v.domain.bits())).sum()
    }

    /// A variable's name with its agent: `Environment.coin[3]`.
    pub fn full_name(&self, id: VarId) -> String {
        let variable = self.variable(id);
        format!("{}.{}", self.agent(variable.owner).name, variable.name)
    }

    /// A value of a variable as the language writes it.
    pub fn value_text(&self, id: VarId, value: i64) -> String {
        match &self.variable(id).domain {
            Domain::Boolean => (value != 0).to_string(),
            Domain::Integers(..) => value.to_string(),
            Domain::Values(_) => self.symbols[value as usize].clone(),
        }
    }

    /// The id of a group, new or not.
    pub fn intern_group(&mut self, group: Group) -> GroupId {
        let position = self.groups.iter().position(|g| *g == group).unwrap_or_else(|| {
            self.groups.push(group);
            self.groups.len() - 1
        });
        GroupId(position as u32)
    }

    /// Whether an expression is a truth value.
    pub fn is_boolean(&self, id: ExprId) -> bool {
        match self.exprs.get(id) {
            Expr::Variable(v) => self.variable(v).domain == Domain::Boolean,
            Expr::Bool(_)
            | Expr::ActionIs(..)
            | Expr::Not(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Xor(_)
            | Expr::Compare(..) => true,
            _ => false,
        }
    }
}
