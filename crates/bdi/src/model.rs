//! A checked file: names are ids, programs are graphs of points, formulas know their program.

use masque_text::Span;
use rustc_hash::FxHashMap;

use crate::tree::{Op, Realism, Rel};

pub use crate::options::{Condition2, Delay, Options, Totality};

masque_text::ids! {
    /// An agent.
    AgentId,
    /// A program: an agent's own, or a view of one.
    ProgramId,
    /// A variable of a program: plain or an explicit attitude.
    VarId,
    /// An action of a program.
    ActionId,
    /// A formula.
    FormulaId,
    /// An arithmetic expression.
    ExprId,
    /// A point of a program.
    PointId
}

/// An attitude about an agent: where one goes down from a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Which attitude.
    pub op: Op,
    /// About whom.
    pub agent: AgentId,
}

/// The values of a variable. Codes count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// False (0) and true (1).
    Bool,
    /// `low..=high`; codes count from `low`.
    Range(i64, i64),
    /// Named values, coded in order.
    Enum(Vec<String>),
}

impl Domain {
    /// The least and greatest value as numbers; names count from 0.
    pub fn bounds(&self) -> (i64, i64) {
        match self {
            Domain::Bool => (0, 1),
            Domain::Range(low, high) => (*low, *high),
            Domain::Enum(names) => (0, names.len() as i64 - 1),
        }
    }

    /// How many values there are.
    pub fn size(&self) -> u64 {
        let (low, high) = self.bounds();
        (high - low) as u64 + 1
    }

    /// A value as the language writes it.
    pub fn text(&self, value: i64) -> String {
        match self {
            Domain::Bool => (value != 0).to_string(),
            Domain::Range(..) => value.to_string(),
            Domain::Enum(names) => names.get(value as usize).cloned().unwrap_or_default(),
        }
    }
}

/// What makes a variable an explicit attitude.
#[derive(Clone, Copy, Debug)]
pub struct Attitude {
    /// About whom.
    pub edge: Edge,
    /// Of what: a formula of the program that the edge leads to.
    pub arg: FormulaId,
}

/// A variable of a program.
#[derive(Clone, Debug)]
pub struct Var {
    /// The program.
    pub program: ProgramId,
    /// The canonical text.
    pub name: String,
    /// The values.
    pub domain: Domain,
    /// Set for an explicit attitude.
    pub attitude: Option<Attitude>,
    /// Set for an attitude that is a function of others.
    pub definition: Option<FormulaId>,
    /// Where it is first named.
    pub span: Span,
}

/// An action of a program.
#[derive(Clone, Debug)]
pub struct Action {
    /// The canonical text.
    pub name: String,
    /// The functor, by which `option delay` names it.
    pub functor: String,
    /// The program.
    pub program: ProgramId,
    /// Whether some step performs it.
    pub occurs: bool,
}

/// The right side of an assignment.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// Any value of the target.
    Any,
    /// A static formula.
    Formula(FormulaId),
    /// A number.
    Expr(ExprId),
}

/// `var := value`
#[derive(Clone, Copy, Debug)]
pub struct Assign {
    /// What is assigned.
    pub var: VarId,
    /// What it becomes.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// A statement that takes a step. `assigns` has each variable at most once.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is performed.
    pub action: Option<ActionId>,
    /// What changes, all at once.
    pub assigns: Vec<Assign>,
}

/// A point of a program. [`Point::Step`] takes time, the others but [`Point::End`] do not.
#[derive(Clone, Debug)]
pub enum Point {
    /// The end of the program: time passes here.
    End,
    /// A loop, which is never left.
    Loop(PointId),
    /// A test.
    If(FormulaId, PointId, PointId),
    /// A choice.
    Choice(Vec<PointId>),
    /// A step, and what follows.
    Step(Step, PointId),
}

/// A program: an agent's own, or a view of one.
#[derive(Clone, Debug)]
pub struct Program {
    /// For messages: `rcv`, or `view B(rcv) in snd`.
    pub name: String,
    /// Whose picture it is.
    pub agent: AgentId,
    /// Its variables, explicit attitudes after the plain ones.
    pub vars: Vec<VarId>,
    /// Its actions.
    pub actions: Vec<ActionId>,
    /// Initial values; what is not assigned is false, or the least value.
    pub init: Vec<Assign>,
    /// Its points.
    pub points: Vec<Point>,
    /// Where it begins.
    pub entry: PointId,
    /// What must hold again and again on the paths that count.
    pub fair: Vec<FormulaId>,
    /// Its heading.
    pub span: Span,
}

/// A formula of one program. Temporal operators are read in the program's world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// True or false.
    Constant(bool),
    /// A boolean variable that is no attitude.
    Var(VarId),
    /// A comparison of numbers.
    Compare(Rel, ExprId, ExprId),
    /// The action just performed.
    Do(ActionId),
    /// Negation.
    Not(FormulaId),
    /// Conjunction.
    And(Vec<FormulaId>),
    /// Disjunction.
    Or(Vec<FormulaId>),
    /// Equivalence of two.
    Iff(FormulaId, FormulaId),
    /// On some path, next.
    Ex(FormulaId),
    /// On some path, always.
    Eg(FormulaId),
    /// On some path, the first until the second.
    Eu(FormulaId, FormulaId),
    /// On all paths, the first until the second.
    Au(FormulaId, FormulaId),
    /// On some path, the first releases the second.
    Er(FormulaId, FormulaId),
    /// On all paths, the first releases the second.
    Ar(FormulaId, FormulaId),
    /// On all paths, next.
    Ax(FormulaId),
    /// On all paths, always.
    Ag(FormulaId),
    /// On some path, eventually.
    Ef(FormulaId),
    /// On all paths, eventually.
    Af(FormulaId),
    /// An attitude: the argument is a formula of the program that the edge leads to.
    Attitude {
        /// About whom.
        edge: Edge,
        /// Of what.
        arg: FormulaId,
        /// The variable, if the program has this attitude explicitly.
        explicit: Option<VarId>,
    },
}

/// An arithmetic expression of one program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A number.
    Number(i64),
    /// A variable's value.
    Var(VarId),
    /// A sum, each with whether it is subtracted.
    Sum(Vec<(bool, ExprId)>),
}

/// What a property asks of a world.
#[derive(Clone, Debug)]
pub enum Question {
    /// A formula.
    Formula(FormulaId),
    /// That some state is accessible on the edge.
    Serial(Edge),
    /// How believed, desired and intended relate.
    Realism(Realism, AgentId),
}

impl Question {
    /// Returns the edges whose accessible states the question compares.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        match *self {
            Question::Formula(_) => Vec::new(),
            Question::Serial(edge) => vec![edge],
            Question::Realism(_, agent) => Op::ALL.map(|op| Edge { op, agent }).to_vec(),
        }
    }
}

/// A world by the way to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorldPath {
    /// The agent at the root.
    pub root: AgentId,
    /// The way down.
    pub edges: Vec<Edge>,
}

/// What an implication at the top of a property asks first.
#[derive(Clone, Copy, Debug)]
pub struct Antecedent {
    /// The condition.
    pub formula: FormulaId,
    /// Whether it is asked in all states, as the implication stands under `AG`.
    pub is_everywhere: bool,
}

/// A property of a world.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name, or for a check or a formula of the command line its position from 1.
    pub name: String,
    /// The text of what is asked.
    pub text: String,
    /// Whether only initial states count.
    pub initially: bool,
    /// In which world.
    pub path: WorldPath,
    /// What is asked.
    pub question: Question,
    /// What an implication at the top asks first.
    pub antecedent: Option<Antecedent>,
    /// Where it stands.
    pub span: Span,
}

/// A state of a world: where control is, the value of each variable of the program, the action
/// just performed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The point.
    pub point: PointId,
    /// The values, in the order of the program's variables; 0 for defined attitudes.
    pub values: Vec<i64>,
    /// The action.
    pub action: Option<ActionId>,
}

/// An agent.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Its own program.
    pub program: ProgramId,
}

/// A declared view.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// For one attitude only.
    pub op: Option<Op>,
    /// Who is pictured.
    pub agent: AgentId,
    /// By whom.
    pub observer: AgentId,
    /// How.
    pub program: ProgramId,
}

/// A checked file.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The agents, in file order.
    pub agents: Vec<Agent>,
    /// The declared views.
    pub views: Vec<View>,
    /// All programs: agents' first, then views'.
    pub programs: Vec<Program>,
    /// All variables.
    pub vars: Vec<Var>,
    /// All actions.
    pub actions: Vec<Action>,
    /// All formulas; a formula's parts come before it.
    pub formulas: Vec<Formula>,
    /// All arithmetic expressions.
    pub exprs: Vec<Expr>,
    /// Attitudes that are not explicit, in programs that have explicit ones: a text that was written
    /// for each. Another text for the same formula might be the name of an explicit attitude.
    pub spellings: FxHashMap<FormulaId, String>,
    /// Properties and checks.
    pub properties: Vec<Property>,
    /// The agents of the system, in the order of `mas`.
    pub mas: Vec<AgentId>,
    /// The agent whose world is the top one.
    pub top: Option<AgentId>,
    /// Options.
    pub options: Options,
}

impl Model {
    /// A formula.
    pub fn formula(&self, id: FormulaId) -> &Formula {
        &self.formulas[id.index()]
    }

    /// A program.
    pub fn program(&self, id: ProgramId) -> &Program {
        &self.programs[id.index()]
    }

    /// A variable.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    /// The program by which an observer with this program pictures an agent: the view of this
    /// attitude, else the view of the agent, else the agent's own program.
    pub fn child(&self, program: ProgramId, edge: Edge) -> ProgramId {
        let observer = self.program(program).agent;
        let of = |op: Option<Op>| {
            let is_it = |v: &&View| v.observer == observer && v.agent == edge.agent && v.op == op;
            self.views.iter().find(is_it).map(|view| view.program)
        };
        of(Some(edge.op)).or_else(|| of(None)).unwrap_or(self.agents[edge.agent.index()].program)
    }

    /// The explicit attitudes of a program by edge, edges in order of their first attitude.
    pub fn edges(&self, program: ProgramId) -> Vec<(Edge, Vec<VarId>)> {
        let mut edges: Vec<(Edge, Vec<VarId>)> = Vec::new();
        for &var in &self.program(program).vars {
            let Some(attitude) = self.var(var).attitude else { continue };
            match edges.iter_mut().find(|(edge, _)| *edge == attitude.edge) {
                Some((_, vars)) => vars.push(var),
                None => edges.push((attitude.edge, vec![var])),
            }
        }
        edges
    }

    /// Returns the state that initial assignments start from: every variable is false or least.
    pub(crate) fn blank_state(&self, program: ProgramId) -> State {
        let program = self.program(program);
        let values = program.vars.iter().map(|&var| self.var(var).domain.bounds().0).collect();
        State { point: program.entry, values, action: None }
    }

    /// Whether a step with this action may be delayed.
    pub(crate) fn may_delay(&self, action: Option<ActionId>) -> bool {
        action.is_some_and(|action| self.options.may_delay(&self.actions[action.index()]))
    }

    /// Returns the index of a variable in the states of its program.
    pub(crate) fn slot(&self, var: VarId) -> Option<usize> {
        self.program(self.var(var).program).vars.iter().position(|v| *v == var)
    }

    /// `B(rcv)`
    pub fn edge_text(&self, edge: Edge) -> String {
        format!("{}({})", edge.op.name(), self.agents[edge.agent.index()].name)
    }

    /// `protocol.B(snd)`
    pub fn path_text(&self, path: &WorldPath) -> String {
        let mut text = self.agents[path.root.index()].name.clone();
        for &edge in &path.edges {
            text.push('.');
            text.push_str(&self.edge_text(edge));
        }
        text
    }

    /// The static formulas of a program: conditions, right sides, definitions and fairness.
    pub fn static_formulas(&self, program: ProgramId) -> Vec<FormulaId> {
        let program = self.program(program);
        let mut formulas = Vec::new();
        let assigned = |assigns: &[Assign], formulas: &mut Vec<FormulaId>| {
            formulas.extend(assigns.iter().filter_map(|assign| match assign.value {
                Value::Formula(formula) => Some(formula),
                _ => None,
            }));
        };
        for point in &program.points {
            match point {
                Point::If(condition, ..) => formulas.push(*condition),
                Point::Step(step, _) => assigned(&step.assigns, &mut formulas),
                _ => {}
            }
        }
        assigned(&program.init, &mut formulas);
        formulas.extend(program.vars.iter().filter_map(|&var| self.var(var).definition));
        formulas.extend(&program.fair);
        formulas
    }

    /// The attitudes in a formula that belong to its own world, not those in their arguments.
    pub fn attitudes(&self, formula: FormulaId) -> Vec<FormulaId> {
        let mut found = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![formula];
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.formula(id) {
                Formula::Attitude { .. } => found.push(id),
                formula => open.extend(formula.parts()),
            }
        }
        found.sort_unstable();
        found
    }
}

impl Formula {
    /// The formulas directly inside, in the same world; none for an attitude.
    pub fn parts(&self) -> Vec<FormulaId> {
        match self {
            Formula::Constant(_) | Formula::Var(_) | Formula::Compare(..) | Formula::Do(_) => Vec::new(),
            Formula::Attitude { .. } => Vec::new(),
            Formula::And(parts) | Formula::Or(parts) => parts.clone(),
            Formula::Not(f) | Formula::Ex(f) | Formula::Eg(f) | Formula::Ax(f) => vec![*f],
            Formula::Ag(f) | Formula::Ef(f) | Formula::Af(f) => vec![*f],
            Formula::Iff(f, g) | Formula::Eu(f, g) | Formula::Au(f, g) => vec![*f, *g],
            Formula::Er(f, g) | Formula::Ar(f, g) => vec![*f, *g],
        }
    }
}
