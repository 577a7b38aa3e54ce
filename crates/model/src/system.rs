//! Interpreted systems: agents with local states, actions, protocols and evolution.

use std::sync::Arc;

use masque_text::Span;
use serde::{Deserialize, Serialize};

use crate::{Expr, ExprId, Exprs, FormulaId, Formulas, Parts, Readings, SentenceId, Strategies, Wording};

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
    /// Returns the number of values.
    pub fn size(&self) -> u128 {
        match self {
            Domain::Boolean => 2,
            Domain::Integers(lo, hi) => (i128::from(*hi) - i128::from(*lo) + 1) as u128,
            Domain::Values(values) => values.len() as u128,
        }
    }

    /// Returns the number of bits of a code for one value.
    pub fn bits(&self) -> u32 {
        128 - (self.size() - 1).leading_zeros()
    }

    /// Returns the value with a code in `0..size`, in the order of declaration.
    pub fn value(&self, code: u64) -> i64 {
        match self {
            Domain::Boolean => code as i64,
            Domain::Integers(lo, _) => lo.wrapping_add(code as i64),
            Domain::Values(values) => i64::from(values[code as usize].0),
        }
    }

    /// Returns the code of a value, if it belongs to the domain.
    pub fn code(&self, value: i64) -> Option<u64> {
        match self {
            Domain::Boolean => (0..2).contains(&value).then_some(value as u64),
            Domain::Integers(lo, hi) => (*lo..=*hi).contains(&value).then(|| value.wrapping_sub(*lo) as u64),
            Domain::Values(values) => {
                let is_value = |v: &SymbolId| i64::from(v.0) == value;
                // Symbols that first occur in this domain have consecutive numbers, so no search is needed.
                let guess = usize::try_from(value - i64::from(values[0].0)).ok();
                let index = guess.filter(|&index| values.get(index).is_some_and(is_value));
                index.or_else(|| values.iter().position(is_value)).map(|index| index as u64)
            }
        }
    }

    /// Returns whether the value belongs to the domain.
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
    /// The values it may have.
    pub domain: Domain,
    /// Span of its declaration.
    pub span: Span,
}

/// An action of an agent.
#[derive(Clone, Debug)]
pub struct Action {
    /// The name; empty for the only action of an Environment that declares no actions.
    pub name: String,
}

/// The actions an agent may perform where a condition is true.
#[derive(Clone, Debug)]
pub struct ProtocolLine {
    /// A condition on the variables that the agent sees.
    pub condition: ExprId,
    /// The actions the agent may perform.
    pub actions: Vec<ActionId>,
    /// Span of the line.
    pub span: Span,
}

/// The actions an agent may perform.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// All actions in all states.
    Unconstrained,
    /// The actions of all lines whose condition is true; `other` where there is no such line.
    Lines {
        /// The lines in the order of the text, which has no meaning.
        lines: Vec<ProtocolLine>,
        /// The actions where no line applies; none if `None`.
        other: Option<Vec<ActionId>>,
    },
}

/// The assignments of one evolution line.
pub type Assignments = Vec<(VarId, ExprId)>;

/// An evolution line: one way in which an agent's variables may change.
#[derive(Clone, Debug)]
pub struct Line {
    /// The assignments, at most one for each variable; the other variables keep their values.
    pub assignments: Assignments,
    /// A condition on the old state and the joint action.
    pub condition: ExprId,
    /// Span of the line.
    pub span: Span,
}

/// An agent; the Environment is one too.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The name, `Crypt[7]` for a member of a family.
    pub name: String,
    /// The variables it declares.
    pub variables: Vec<VarId>,
    /// The variables it sees, in increasing order. It cannot distinguish states that agree on these.
    pub sees: Vec<VarId>,
    /// Its actions, at least one.
    pub actions: Vec<Action>,
    /// The actions it may perform in each state.
    pub protocol: Protocol,
    /// The lines by which its variables change.
    pub evolution: Vec<Line>,
    /// The condition under which its local state violates its norms; never if `None`.
    pub red: Option<ExprId>,
    /// Span of its declaration.
    pub span: Span,
}

/// A set of agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The text that denotes it in formulas: its name, an agent's name, or a set in braces.
    pub name: String,
    /// The members in increasing order, at least one.
    pub agents: Vec<AgentId>,
}

/// A named condition on states.
#[derive(Clone, Debug)]
pub struct Proposition {
    /// The name, `paid[3]` for an element of a family.
    pub name: String,
    /// The condition.
    pub condition: ExprId,
    /// Span of its definition.
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

/// The meaning of states without successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Deadlock {
    /// Paths end there.
    Finite,
    /// They get a transition to themselves.
    Stutter,
    /// They are errors in the model.
    Error,
}

impl Deadlock {
    /// All values.
    pub const ALL: [Deadlock; 3] = [Deadlock::Finite, Deadlock::Stutter, Deadlock::Error];

    /// Returns the name used by `--deadlock` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Deadlock::Finite => "finite",
            Deadlock::Stutter => "stutter",
            Deadlock::Error => "error",
        }
    }
}

/// The meaning of a choice that assigns a value outside its variable's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Overflow {
    /// The choice is removed.
    Drop,
    /// The choice is an error in the model.
    Error,
}

impl Overflow {
    /// All values.
    pub const ALL: [Overflow; 2] = [Overflow::Drop, Overflow::Error];

    /// Returns the name used by `--overflow` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Overflow::Drop => "drop",
            Overflow::Error => "error",
        }
    }
}

/// The options that change the transition relation, besides the text of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Meaning {
    /// How evolution lines combine.
    pub assignment: Assignment,
    /// The meaning of states without successors.
    pub deadlock: Deadlock,
    /// The meaning of overflows.
    pub overflow: Overflow,
}

/// The states in which a property must be true for the model to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum At {
    /// All initial states.
    Initial,
    /// All reachable states.
    Reachable,
}

impl At {
    /// All values.
    pub const ALL: [At; 2] = [At::Initial, At::Reachable];

    /// Returns the word used by `--at` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            At::Initial => "initial",
            At::Reachable => "reachable",
        }
    }
}

/// A property to be decided.
#[derive(Clone, Debug)]
pub struct Property {
    /// The name, or the number of the property from 1. Only instances of one formula in a loop share a
    /// name.
    pub name: String,
    /// The unique name shown to users: `safe[i=2]` where instances share the name `safe`.
    pub title: String,
    /// Values of the loop variables, outermost first; empty outside loops.
    pub index: Vec<(String, i64)>,
    /// The state formula.
    pub formula: FormulaId,
    /// The states in which the formula must be true.
    pub at: At,
    /// Span of the formula.
    pub span: Span,
    /// The formula as written, in [`System::wording`], if it was read from a text.
    pub written: Option<SentenceId>,
    /// `forall` and `exists`, if such an aggregate in the formula ranges over an empty set.
    pub empty_aggregates: Vec<&'static str>,
}

impl Property {
    /// Makes a property outside loops.
    pub fn new(name: impl Into<String>, formula: FormulaId, at: At, span: Span) -> Property {
        let name = name.into();
        let title = name.clone();
        Property {
            title,
            name,
            index: Vec::new(),
            formula,
            at,
            span,
            written: None,
            empty_aggregates: Vec::new(),
        }
    }
}

/// A checked model.
#[derive(Clone, Debug)]
pub struct System {
    /// The agents in the order of the text.
    pub agents: Vec<Agent>,
    /// The Environment, if one is declared.
    pub environment: Option<AgentId>,
    /// The variables: one slot of a state each.
    pub variables: Vec<Variable>,
    /// Names of enumeration values.
    pub symbols: Vec<String>,
    /// All conditions and right-hand sides.
    pub exprs: Exprs,
    /// The condition on initial states.
    pub initial: ExprId,
    /// Named conditions.
    pub propositions: Vec<Proposition>,
    /// Named groups, and the sets used in formulas.
    pub groups: Vec<Group>,
    /// The formulas of all properties and fairness constraints.
    pub formulas: Formulas,
    /// The fairness constraints: each must be true infinitely often on a fair path.
    pub fairness: Vec<FormulaId>,
    /// The properties to be decided.
    pub properties: Vec<Property>,
    /// Options that change the transition relation.
    pub meaning: Meaning,
    /// The strategies of coalitions in which the text names none. Unless this is `Perfect`, the printed
    /// formulas name the strategies of all coalitions.
    pub default_strategies: Strategies,
    /// Span of InitStates, for reports.
    pub initial_span: Span,
    /// The strict readings of the properties, if they were added.
    pub readings: Readings,
    /// The properties as written.
    pub wording: Wording,
}

impl System {
    /// Makes a system without agents and variables, in which every state is initial.
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
            wording: Wording::default(),
        }
    }

    /// Returns the agent with an id.
    pub fn agent(&self, id: AgentId) -> &Agent {
        &self.agents[id.index()]
    }

    /// Returns the variable with an id.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    /// Returns the ids of all variables.
    pub fn variable_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len() as u32).map(VarId)
    }

    /// Returns the ids of all agents.
    pub fn agent_ids(&self) -> impl Iterator<Item = AgentId> + use<> {
        (0..self.agents.len() as u32).map(AgentId)
    }

    /// Returns the number of bits of a state in which every variable has its own code.
    pub fn bits(&self) -> u64 {
        self.variables.iter().map(|v| u64::from(v.domain.bits())).sum()
    }

    /// Returns a variable's name with its agent: `Environment.coin[3]`.
    pub fn full_name(&self, id: VarId) -> String {
        let variable = self.variable(id);
        format!("{}.{}", self.agent(variable.owner).name, variable.name)
    }

    /// Returns a value of a variable as written in the language.
    pub fn value_text(&self, id: VarId, value: i64) -> String {
        match &self.variable(id).domain {
            Domain::Boolean => (value != 0).to_string(),
            Domain::Integers(..) => value.to_string(),
            Domain::Values(_) => self.symbols[value as usize].clone(),
        }
    }

    /// Returns a property as its author wrote it, or else as text that reads back as the same formula.
    pub fn property_text(&self, property: &Property) -> String {
        let written = property.written.and_then(|id| self.wording.property(id));
        written.unwrap_or_else(|| self.formula_text(property.formula))
    }

    /// Returns the texts of the parts of the first property with this formula.
    pub fn written_parts(&self, formula: FormulaId) -> Parts<'_> {
        let property = self.properties.iter().find(|property| property.formula == formula);
        self.wording.parts(property.and_then(|property| property.written))
    }

    /// Returns a part of a property as its author wrote it, or else as text that reads back as the same formula.
    pub fn part_text(&self, parts: &Parts<'_>, formula: FormulaId) -> String {
        parts.text(formula.index()).unwrap_or_else(|| self.formula_text(formula))
    }

    /// Returns the id of a group; adds it if it is new.
    pub fn intern_group(&mut self, group: Group) -> GroupId {
        let index = self.groups.iter().position(|g| *g == group).unwrap_or_else(|| {
            self.groups.push(group);
            self.groups.len() - 1
        });
        GroupId(index as u32)
    }

    /// Returns whether an expression is a truth value.
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
