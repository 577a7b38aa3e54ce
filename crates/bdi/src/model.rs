//! A checked file: names are ids, programs are graphs of points, each formula belongs to a program.

use masque_model::{SentenceId, Wording};
use masque_text::Span;
use rustc_hash::FxHashMap;

use crate::tree::{Op, Realism, Rel};

pub use crate::options::{Condition2, Delay, Options, SelfAttitudes, Totality};

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

/// An attitude about an agent: the label of an edge from a world to the world below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Belief, desire or intention.
    pub op: Op,
    /// Agent that the attitude is about.
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
    /// Returns the least and the greatest value as numbers; names count from 0.
    pub fn bounds(&self) -> (i64, i64) {
        match self {
            Domain::Bool => (0, 1),
            Domain::Range(low, high) => (*low, *high),
            Domain::Enum(names) => (0, names.len() as i64 - 1),
        }
    }

    /// Returns the number of values.
    pub fn size(&self) -> u64 {
        let (low, high) = self.bounds();
        (high - low) as u64 + 1
    }

    /// Returns a value as the language writes it.
    pub fn text(&self, value: i64) -> String {
        match self {
            Domain::Bool => (value != 0).to_string(),
            Domain::Range(..) => value.to_string(),
            Domain::Enum(names) => names.get(value as usize).cloned().unwrap_or_default(),
        }
    }
}

/// Edge and argument of an explicit attitude.
#[derive(Clone, Copy, Debug)]
pub struct Attitude {
    /// Edge of the attitude.
    pub edge: Edge,
    /// Argument: a formula of the program that the edge leads to.
    pub arg: FormulaId,
}

/// A variable of a program.
#[derive(Clone, Debug)]
pub struct Var {
    /// Program that the variable belongs to.
    pub program: ProgramId,
    /// Canonical text.
    pub name: String,
    /// Values of the variable.
    pub domain: Domain,
    /// Edge and argument of an explicit attitude; `None` for other variables.
    pub attitude: Option<Attitude>,
    /// Definition of an attitude that is a function of other variables.
    pub definition: Option<FormulaId>,
    /// Span of its first mention.
    pub span: Span,
}

/// An action of a program.
#[derive(Clone, Debug)]
pub struct Action {
    /// Canonical text.
    pub name: String,
    /// Functor, by which `option delay` names it.
    pub functor: String,
    /// Program that the action belongs to.
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
    /// Variable that is assigned.
    pub var: VarId,
    /// New value.
    pub value: Value,
    /// Span of the assignment.
    pub span: Span,
}

/// A statement that takes a step. `assigns` has each variable at most once.
#[derive(Clone, Debug)]
pub struct Step {
    /// Action that is performed.
    pub action: Option<ActionId>,
    /// Assignments, which take effect at the same time.
    pub assigns: Vec<Assign>,
}

/// A point of a program. Time passes at [`Point::Step`] and [`Point::End`], not at the others.
#[derive(Clone, Debug)]
pub enum Point {
    /// The end of the program: the state stays the same.
    End,
    /// The head of a loop, which is never left; the point of its body.
    Loop(PointId),
    /// A test: condition, point if it is true, point if it is false.
    If(FormulaId, PointId, PointId),
    /// A nondeterministic choice.
    Choice(Vec<PointId>),
    /// A step and the point after it.
    Step(Step, PointId),
}

/// A program: an agent's own, or a view of one.
#[derive(Clone, Debug)]
pub struct Program {
    /// For messages: `rcv`, or `view B(rcv) in snd`.
    pub name: String,
    /// Agent that the program describes.
    pub agent: AgentId,
    /// Variables, explicit attitudes after the plain ones.
    pub vars: Vec<VarId>,
    /// Actions.
    pub actions: Vec<ActionId>,
    /// Initial assignments; other variables start as false or with their least value.
    pub init: Vec<Assign>,
    /// Points, indexed by [`PointId`].
    pub points: Vec<Point>,
    /// Point at which the program begins.
    pub entry: PointId,
    /// Fairness conditions: path quantifiers range over paths on which each holds infinitely often.
    pub fair: Vec<FormulaId>,
    /// Span of its heading.
    pub span: Span,
}

/// A formula of one program. Temporal operators are read in the program's world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// True or false.
    Constant(bool),
    /// A boolean variable that is not an attitude.
    Var(VarId),
    /// A comparison of numbers.
    Compare(Rel, ExprId, ExprId),
    /// Whether the last step performed this action.
    Do(ActionId),
    /// Negation.
    Not(FormulaId),
    /// Conjunction.
    And(Vec<FormulaId>),
    /// Disjunction.
    Or(Vec<FormulaId>),
    /// Equivalence.
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
        /// Edge of the attitude.
        edge: Edge,
        /// Argument.
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
    /// A sum: each item with whether it is subtracted.
    Sum(Vec<(bool, ExprId)>),
}

/// The statement of a property about a world.
#[derive(Clone, Debug)]
pub enum Question {
    /// The formula is true.
    Formula(FormulaId),
    /// Some state is accessible on the edge.
    Serial(Edge),
    /// The states accessible by belief, desire and intention about an agent are related in this way.
    Realism(Realism, AgentId),
    /// The world of the property is a sub-world of this world.
    Subworld(WorldPath),
}

impl Question {
    /// Returns the edges whose accessible states the question compares.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        match *self {
            Question::Formula(_) | Question::Subworld(_) => Vec::new(),
            Question::Serial(edge) => vec![edge],
            Question::Realism(_, agent) => Op::ALL.map(|op| Edge { op, agent }).to_vec(),
        }
    }
}

/// A world, given by the edges that lead to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorldPath {
    /// Agent at the root.
    pub root: AgentId,
    /// Edges from the root down to the world.
    pub edges: Vec<Edge>,
}

/// The antecedent of a property that is an implication.
#[derive(Clone, Copy, Debug)]
pub struct Antecedent {
    /// Formula of the antecedent.
    pub formula: FormulaId,
    /// Whether the implication must hold in all states, because it stands under `AG`.
    pub is_everywhere: bool,
}

/// A property of a world.
#[derive(Clone, Debug)]
pub struct Property {
    /// Name; for a check and for a formula of the command line, its number from 1.
    pub name: String,
    /// Text of the question, printed so that it reads back as the same question.
    pub text: String,
    /// The question as written, in [`Model::wording`].
    pub written: SentenceId,
    /// Whether the property is required of initial states only.
    pub initially: bool,
    /// World of the property.
    pub path: WorldPath,
    /// Statement of the property.
    pub question: Question,
    /// Antecedent, if the property is an implication, perhaps under `AG`.
    pub antecedent: Option<Antecedent>,
    /// Span of the name, or of the whole property if it has none.
    pub span: Span,
}

/// A state of a world: the point of control, the value of each variable of the program, and the action
/// of the last step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// Point of control.
    pub point: PointId,
    /// Values, in the order of the program's variables; 0 for defined attitudes.
    pub values: Vec<i64>,
    /// Action of the last step, if it performed one.
    pub action: Option<ActionId>,
}

/// An agent.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Program of the agent itself.
    pub program: ProgramId,
}

/// A declared view.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Attitude that the view is restricted to; `None` for all three.
    pub op: Option<Op>,
    /// Agent that is pictured.
    pub agent: AgentId,
    /// Agent whose view it is.
    pub observer: AgentId,
    /// Program by which the observer pictures the agent.
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
    /// For attitudes that are not explicit, in programs that have explicit ones, a text as written in
    /// the file. Another text for the same formula might be the name of an explicit attitude.
    pub spellings: FxHashMap<FormulaId, String>,
    /// Span of the first mention of each attitude in the conditions, right sides and definitions of a program.
    pub attitude_spans: FxHashMap<(ProgramId, FormulaId), Span>,
    /// Properties and checks.
    pub properties: Vec<Property>,
    /// The properties as written.
    pub wording: Wording,
    /// The agents of the system, in the order of `mas`.
    pub mas: Vec<AgentId>,
    /// Agent whose world is the top world.
    pub top: Option<AgentId>,
    /// Options.
    pub options: Options,
}

impl Model {
    /// Returns a formula.
    pub fn formula(&self, id: FormulaId) -> &Formula {
        &self.formulas[id.index()]
    }

    /// Returns a program.
    pub fn program(&self, id: ProgramId) -> &Program {
        &self.programs[id.index()]
    }

    /// Returns a variable.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    /// Returns the program by which an observer with this program pictures an agent: the view of this
    /// attitude, else the view of the agent, else the agent's own program.
    pub fn child(&self, program: ProgramId, edge: Edge) -> ProgramId {
        let observer = self.program(program).agent;
        let of = |op: Option<Op>| {
            let is_wanted = |v: &&View| v.observer == observer && v.agent == edge.agent && v.op == op;
            self.views.iter().find(is_wanted).map(|view| view.program)
        };
        of(Some(edge.op)).or_else(|| of(None)).unwrap_or(self.agents[edge.agent.index()].program)
    }

    /// Returns the explicit attitudes of a program by edge, edges in the order of their first attitude.
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

    /// Returns an edge as text: `B(rcv)`.
    pub fn edge_text(&self, edge: Edge) -> String {
        format!("{}({})", edge.op.name(), self.agents[edge.agent.index()].name)
    }

    /// Returns a path as text: `protocol.B(snd)`.
    pub fn path_text(&self, path: &WorldPath) -> String {
        let mut text = self.agents[path.root.index()].name.clone();
        for &edge in &path.edges {
            text.push('.');
            text.push_str(&self.edge_text(edge));
        }
        text
    }

    /// Returns the formulas in a program: conditions, right sides, definitions and fairness conditions.
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

    /// Whether a formula has no temporal operators outside attitudes.
    pub fn is_static(&self, formula: FormulaId) -> bool {
        let mut is_static = true;
        self.each_part(formula, |part| {
            is_static &= !self.formula(part).is_temporal();
            is_static
        });
        is_static
    }

    /// Calls `visit` for a formula and its subformulas, each once. The parts of a formula for which it returns false
    /// are left out, unless they are parts of another one.
    pub fn each_part(&self, root: FormulaId, mut visit: impl FnMut(FormulaId) -> bool) {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![root];
        while let Some(part) = open.pop() {
            if seen.insert(part) && visit(part) {
                open.extend(self.formula(part).parts());
            }
        }
    }

    /// Returns the attitudes in a formula, without those in the arguments of attitudes.
    pub fn attitudes(&self, formula: FormulaId) -> Vec<FormulaId> {
        let mut found = Vec::new();
        self.each_part(formula, |part| {
            let is_attitude = matches!(self.formula(part), Formula::Attitude { .. });
            found.extend(is_attitude.then_some(part));
            !is_attitude
        });
        found.sort_unstable();
        found
    }
}

impl Formula {
    /// Whether the outermost operator is temporal.
    fn is_temporal(&self) -> bool {
        use Formula::*;
        matches!(self, Ex(_) | Eg(_) | Eu(..) | Au(..) | Er(..) | Ar(..) | Ax(_) | Ag(_) | Ef(_) | Af(_))
    }

    /// Returns the operands in the same world; none for an attitude.
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
